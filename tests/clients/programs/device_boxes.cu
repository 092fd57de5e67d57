/* Kernels that copy and fill boxes, and ask for limits. */
// nvcc: -rdc=true
#include "program.cuh"

enum { PITCH = 32, ROWS = 6, SLICES = 3, BYTES = PITCH * ROWS * SLICES };

__global__ void copy_box(unsigned char *to, unsigned char *from, int *errors)
{
    cudaMemcpy3DParms box = {};
    box.srcPtr = {from, PITCH, PITCH, ROWS};
    box.srcPos = {3, 1, 1};
    box.dstPtr = {to, PITCH, PITCH, ROWS};
    box.dstPos = {5, 2, 0};
    box.extent = {7, 3, 2};
    box.kind = cudaMemcpyDeviceToDevice;
    errors[0] = cudaMemcpy3DAsync(&box, 0);
    box.srcArray = (cudaArray_t)from;
    errors[1] = cudaMemcpy3DAsync(&box, 0);
}

__global__ void fill_box(unsigned char *to, int *errors)
{
    cudaPitchedPtr pitched = {to + 2, PITCH, PITCH, ROWS};
    errors[0] = cudaMemset3DAsync(pitched, 0x15, {4, 2, 3}, 0);
}

__global__ void ask(size_t *heap, int *errors)
{
    cudaFuncCache cache = cudaFuncCachePreferL1;
    errors[0] = cudaDeviceGetLimit(heap, cudaLimitMallocHeapSize);
    errors[1] = cudaDeviceGetCacheConfig(&cache);
    errors[2] = cache;
}

int main()
{
    std::vector<unsigned char> from(BYTES), expected(BYTES, 0);
    for (int i = 0; i < BYTES; i++)
        from[i] = (unsigned char)(i * 7);
    on_device<unsigned char> source(from), target(BYTES);
    on_device<int> errors(3);
    on_device<size_t> heap(1);

    copy_box<<<1, 1>>>(target, source, errors);
    LAUNCHED();
    MUST(cudaDeviceSynchronize());
    for (int z = 0; z < 2; z++)
        for (int y = 0; y < 3; y++)
            for (int x = 0; x < 7; x++)
                expected[(z * ROWS + y + 2) * PITCH + x + 5] = from[((z + 1) * ROWS + y + 1) * PITCH + x + 3];
    same(target.read(), expected, "copied box");
    same(errors.read(), {cudaSuccess, cudaErrorInvalidValue, 0}, "errors of the copies");

    fill_box<<<1, 1>>>(target, errors);
    LAUNCHED();
    MUST(cudaDeviceSynchronize());
    for (int z = 0; z < 3; z++)
        for (int y = 0; y < 2; y++)
            for (int x = 0; x < 4; x++)
                expected[(z * ROWS + y) * PITCH + x + 2] = 0x15;
    same(target.read(), expected, "filled box");

    size_t limit;
    MUST(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
    ask<<<1, 1>>>(heap, errors);
    LAUNCHED();
    MUST(cudaDeviceSynchronize());
    same(heap.read(), {limit}, "limit");
    same(errors.read(), {0, 0, 0}, "errors of the questions");
    return 0;
}
