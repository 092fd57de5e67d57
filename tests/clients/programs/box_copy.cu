/* Three-dimensional copies: a box within pitched memory, and a texture of an array of three
 * dimensions. */
#include "program.cuh"

enum { WIDTH = 20, HEIGHT = 12, DEPTH = 8 };

__global__ void fetch(cudaTextureObject_t box, float *values)
{
    int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
    values[(z * HEIGHT + y) * WIDTH + x] = tex3D<float>(box, x + 0.5f, y + 0.5f, z + 0.5f);
}

__global__ void negate(cudaPitchedPtr memory)
{
    char *slice = (char *)memory.ptr + blockIdx.x * memory.pitch * memory.ysize;
    float *row = (float *)(slice + threadIdx.y * memory.pitch);
    row[threadIdx.x] = -row[threadIdx.x];
}

int main()
{
    std::vector<float> box = random_numbers(48).floats(WIDTH * HEIGHT * DEPTH), part(5 * 4 * 3),
                       expected;
    cudaExtent whole = make_cudaExtent(WIDTH * sizeof(float), HEIGHT, DEPTH);
    cudaPitchedPtr memory,
        here = make_cudaPitchedPtr(box.data(), WIDTH * sizeof(float), WIDTH, HEIGHT);
    MUST(cudaMalloc3D(&memory, whole));
    cudaMemcpy3DParms in{};
    in.srcPtr = here;
    in.dstPtr = memory;
    in.extent = whole;
    in.kind = cudaMemcpyHostToDevice;
    MUST(cudaMemcpy3D(&in));
    negate<<<DEPTH, dim3(WIDTH, HEIGHT)>>>(memory);
    LAUNCHED();

    cudaMemcpy3DParms out{};
    out.srcPtr = memory;
    out.srcPos = make_cudaPos(7 * sizeof(float), 2, 4);
    out.dstPtr = make_cudaPitchedPtr(part.data(), 5 * sizeof(float), 5, 4);
    out.extent = make_cudaExtent(5 * sizeof(float), 4, 3);
    out.kind = cudaMemcpyDeviceToHost;
    MUST(cudaMemcpy3D(&out));
    for (int z = 4; z < 7; z++)
        for (int y = 2; y < 6; y++)
            for (int x = 7; x < 12; x++)
                expected.push_back(-box[(z * HEIGHT + y) * WIDTH + x]);
    same(part, expected, "values of a box within");

    cudaArray_t array;
    cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
    MUST(cudaMalloc3DArray(&array, &floats, make_cudaExtent(WIDTH, HEIGHT, DEPTH)));
    cudaMemcpy3DParms across{};
    across.srcPtr = memory;
    across.dstArray = array;
    across.extent = make_cudaExtent(WIDTH, HEIGHT, DEPTH);
    across.kind = cudaMemcpyDeviceToDevice;
    MUST(cudaMemcpy3D(&across));
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how{};
    cudaTextureObject_t texture;
    MUST(cudaCreateTextureObject(&texture, &resource, &how, NULL));
    on_device<float> values(box.size());
    fetch<<<DEPTH, dim3(WIDTH, HEIGHT)>>>(texture, values);
    LAUNCHED();
    for (float &value : box)
        value = -value;
    same(values.read(), box, "values of the array");
    MUST(cudaDestroyTextureObject(texture));
    MUST(cudaFreeArray(array));
    MUST(cudaFree(memory.ptr));
    return 0;
}
