/* A mipmapped array: kernels make each level from the one before, and a texture reads levels and
 * between two. */
#include "program.cuh"

enum { SIDE = 32, LEVELS = 4 };

__global__ void halve(cudaTextureObject_t from, cudaSurfaceObject_t to)
{
    int x = threadIdx.x, y = threadIdx.y;
    float sum = 0;
    for (int i = 0; i < 4; i++)
        sum += tex2D<float>(from, 2 * x + i % 2 + 0.5f, 2 * y + i / 2 + 0.5f);
    surf2Dwrite(sum / 4, to, x * (int)sizeof(float), y);
}

__global__ void read(cudaTextureObject_t mipmap, float level, float *value)
{
    *value = tex2DLod<float>(mipmap, 0.3f, 0.6f, level);
}

int main()
{
    cudaMipmappedArray_t mipmap;
    cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
    MUST(cudaMallocMipmappedArray(&mipmap, &floats, make_cudaExtent(SIDE, SIDE, 0), LEVELS,
                                  cudaArraySurfaceLoadStore));
    cudaArray_t levels[LEVELS];
    for (unsigned i = 0; i < LEVELS; i++)
        MUST(cudaGetMipmappedArrayLevel(&levels[i], mipmap, i));
    std::vector<float> image = random_numbers(49).floats(SIDE * SIDE), picked;
    MUST(cudaMemcpy2DToArray(levels[0], 0, 0, image.data(), SIDE * sizeof(float),
                             SIDE * sizeof(float), SIDE, cudaMemcpyHostToDevice));
    for (int level = 0, side = SIDE; level < LEVELS; level++, side /= 2) {
        picked.push_back(image[(int)(0.6f * side) * side + (int)(0.3f * side)]);
        if (level == LEVELS - 1)
            break;
        cudaResourceDesc from{}, to{};
        from.resType = to.resType = cudaResourceTypeArray;
        from.res.array.array = levels[level];
        to.res.array.array = levels[level + 1];
        cudaTextureDesc how{};
        cudaTextureObject_t texture;
        cudaSurfaceObject_t surface;
        MUST(cudaCreateTextureObject(&texture, &from, &how, NULL));
        MUST(cudaCreateSurfaceObject(&surface, &to));
        halve<<<1, dim3(side / 2, side / 2)>>>(texture, surface);
        LAUNCHED();
        MUST(cudaDeviceSynchronize());
        MUST(cudaDestroyTextureObject(texture));
        MUST(cudaDestroySurfaceObject(surface));
        std::vector<float> next(side * side / 4);
        for (int i = 0; i < side * side; i++)
            next[i / side / 2 * (side / 2) + i % side / 2] += image[i] / 4;
        image = next;
    }
    cudaResourceDesc all{};
    all.resType = cudaResourceTypeMipmappedArray;
    all.res.mipmap.mipmap = mipmap;
    cudaTextureDesc how{};
    how.normalizedCoords = 1;
    how.mipmapFilterMode = cudaFilterModeLinear;
    how.maxMipmapLevelClamp = LEVELS - 1;
    cudaTextureObject_t texture;
    MUST(cudaCreateTextureObject(&texture, &all, &how, NULL));
    on_device<float> values(7);
    std::vector<float> expected;
    for (int i = 0; i < 7; i++) {
        read<<<1, 1>>>(texture, i / 2.f, values + i);
        LAUNCHED();
        expected.push_back(i % 2 == 0 ? picked[i / 2] : (picked[i / 2] + picked[i / 2 + 1]) / 2);
    }
    near(values.read(), expected, 1e-5, "levels and between");
    MUST(cudaDestroyTextureObject(texture));
    MUST(cudaFreeMipmappedArray(mipmap));
    return 0;
}
