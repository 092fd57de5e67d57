/* Layered and cube textures, borders and mirrored edges, and four neighbours at once. */
#include "program.cuh"

enum { SIDE = 8, LAYERS = 6 };

__global__ void layers(cudaTextureObject_t texture, float *values)
{
    int i = (blockIdx.x * SIDE + threadIdx.y) * SIDE + threadIdx.x;
    values[i] = tex2DLayered<float>(texture, ((int)threadIdx.x - 2 + 0.5f) / SIDE,
                                    (threadIdx.y + 0.5f) / SIDE, (int)blockIdx.x);
}

__global__ void faces(cudaTextureObject_t texture, float *values)
{
    const float3 ways[6] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    float3 way = ways[threadIdx.x];
    values[threadIdx.x] = texCubemap<float>(texture, way.x, way.y, way.z);
}

static std::vector<float> sampled(unsigned flags, cudaTextureAddressMode edge,
                                  const std::vector<float> &image)
{
    cudaArray_t array;
    cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
    MUST(cudaMalloc3DArray(&array, &floats, make_cudaExtent(SIDE, SIDE, LAYERS), flags));
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr((void *)image.data(), SIDE * sizeof(float), SIDE, SIDE);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(SIDE, SIDE, LAYERS);
    copy.kind = cudaMemcpyHostToDevice;
    MUST(cudaMemcpy3D(&copy));
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how{};
    how.addressMode[0] = how.addressMode[1] = edge;
    how.normalizedCoords = 1;
    how.borderColor[0] = 9;
    cudaTextureObject_t texture;
    MUST(cudaCreateTextureObject(&texture, &resource, &how, NULL));
    bool cube = flags == cudaArrayCubemap;
    on_device<float> values(cube ? LAYERS : image.size());
    if (cube)
        faces<<<1, 6>>>(texture, values);
    else
        layers<<<LAYERS, dim3(SIDE, SIDE)>>>(texture, values);
    LAUNCHED();
    MUST(cudaDeviceSynchronize());
    MUST(cudaDestroyTextureObject(texture));
    MUST(cudaFreeArray(array));
    return values.read();
}

int main()
{
    std::vector<float> image = random_numbers(87).floats(SIDE * SIDE * LAYERS), border, wrapped,
                       mirrored, middles;
    for (int i = 0; i < SIDE * SIDE * LAYERS; i++) {
        int x = i % SIDE - 2, row = i / SIDE * SIDE;
        border.push_back(x < 0 ? 0 : image[row + x]);
        wrapped.push_back(image[row + (x + SIDE) % SIDE]);
        mirrored.push_back(image[row + (x < 0 ? -1 - x : x)]);
    }
    for (int face = 0; face < 6; face++)
        middles.push_back(image[face * SIDE * SIDE + SIDE / 2 * SIDE + SIDE / 2]);
    same(sampled(cudaArrayLayered, cudaAddressModeWrap, image), wrapped, "wrapped");
    same(sampled(cudaArrayLayered, cudaAddressModeMirror, image), mirrored, "mirrored");
    for (float &value : border)
        value = value == 0 ? 9 : value;
    same(sampled(cudaArrayLayered, cudaAddressModeBorder, image), border, "with a border");
    same(sampled(cudaArrayCubemap, cudaAddressModeClamp, image), middles, "middles of faces");
    return 0;
}
