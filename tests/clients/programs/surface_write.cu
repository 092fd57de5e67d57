/* Surfaces: kernels write an array of two channels, read it shifted, and write a layered one;
 * writes outside are dropped. */
#include "program.cuh"

enum { WIDTH = 40, HEIGHT = 24, LAYERS = 3 };

__global__ void write(cudaSurfaceObject_t to)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    surf2Dwrite(make_short2((short)x, (short)y), to, x * (int)sizeof(short2), y,
                cudaBoundaryModeZero);
}

__global__ void shift(cudaSurfaceObject_t from, cudaSurfaceObject_t to)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= WIDTH)
        return;
    short2 value =
        surf2Dread<short2>(from, (x + 3) * (int)sizeof(short2), y, cudaBoundaryModeClamp);
    for (int layer = 0; layer < LAYERS; layer++)
        surf2DLayeredwrite(value.x * 100 + value.y * 10 + layer, to, x * (int)sizeof(int), y,
                           layer);
}

static cudaSurfaceObject_t surface_of(cudaArray_t array)
{
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t surface;
    MUST(cudaCreateSurfaceObject(&surface, &resource));
    return surface;
}

int main()
{
    cudaArray_t pairs, layers;
    cudaChannelFormatDesc two = cudaCreateChannelDesc<short2>(), one = cudaCreateChannelDesc<int>();
    MUST(cudaMallocArray(&pairs, &two, WIDTH, HEIGHT, cudaArraySurfaceLoadStore));
    MUST(cudaMalloc3DArray(&layers, &one, make_cudaExtent(WIDTH, HEIGHT, LAYERS),
                           cudaArrayLayered | cudaArraySurfaceLoadStore));
    cudaSurfaceObject_t from = surface_of(pairs), to = surface_of(layers);
    write<<<dim3(2, HEIGHT), 32>>>(from); /* 64 threads for 40 columns */
    LAUNCHED();
    shift<<<dim3(2, HEIGHT), 32>>>(from, to);
    LAUNCHED();
    std::vector<int> found(WIDTH * HEIGHT * LAYERS), expected;
    cudaMemcpy3DParms copy{};
    copy.srcArray = layers;
    copy.dstPtr = make_cudaPitchedPtr(found.data(), WIDTH * sizeof(int), WIDTH, HEIGHT);
    copy.extent = make_cudaExtent(WIDTH, HEIGHT, LAYERS);
    copy.kind = cudaMemcpyDeviceToHost;
    MUST(cudaMemcpy3D(&copy));
    for (int layer = 0; layer < LAYERS; layer++)
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                expected.push_back(std::min(x + 3, WIDTH - 1) * 100 + y * 10 + layer);
    same(found, expected, "values of layers");
    MUST(cudaDestroySurfaceObject(from));
    MUST(cudaDestroySurfaceObject(to));
    MUST(cudaFreeArray(pairs));
    MUST(cudaFreeArray(layers));
    return 0;
}
