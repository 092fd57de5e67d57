/* Frames of ctxrt and calls of the CUDA Runtime API in one thread: both see the driver's current
 * context, in whatever order they change it.
 *
 *     ctxrt nvcc -o runtime_mix runtime_mix.cu $(pkg-config --cflags --libs ctxrt)
 *     ctxrt run --devices 3 ./runtime_mix */
#include <ctxrt/ctxrt.h>
#include <cuda_runtime.h>

#include <stdio.h>
#include <stdlib.h>

static void must(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s\n", cudaGetErrorString(error));
    exit(1);
}

static void must(ctxrt_status status)
{
    if (status == CTXRT_SUCCESS)
        return;
    fprintf(stderr, "%s\n", ctxrt_last_error()->message);
    exit(1);
}

__global__ void answer(int *out, int device)
{
    *out = 42 + device;
}

/* A kernel of the runtime on whatever device is current, and what both sides say of it. */
static void tell(const char *where)
{
    int device, *on_gpu, value;
    ctxrt_device frame;
    must(cudaGetDevice(&device));
    must(ctxrt_device_get(&frame));
    must(cudaMalloc((void **)&on_gpu, sizeof value));
    answer<<<1, 1>>>(on_gpu, device);
    must(cudaMemcpy(&value, on_gpu, sizeof value, cudaMemcpyDeviceToHost));
    must(cudaFree(on_gpu));
    printf("%-38s runtime: device %d, ctxrt: device %d, kernel: %d\n", where, device, frame.index,
           value);
}

int main(void)
{
    ctxrt_scope scope = CTXRT_SCOPE_INIT;
    must(CTXRT_DEVICE_SET(CTXRT_CUDA(1)));
    tell("ctxrt_device_set(1)");
    must(cudaSetDevice(2));
    tell("cudaSetDevice(2)");
    must(CTXRT_SCOPE_ENTER(CTXRT_CUDA(0), &scope));
    tell("a scope of device 0");
    must(cudaSetDevice(1)); /* as code would that knows nothing of the scope */
    tell("cudaSetDevice(1) within the scope");
    if (ctxrt_scope_leave(&scope) != CTXRT_SUCCESS) /* it tells of the change, and undoes it */
        printf("%s\n", ctxrt_last_error()->message);
    tell("the scope has ended");
    return 0;
}
