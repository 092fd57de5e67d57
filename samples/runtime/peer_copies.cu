/* Each GPU fills its own part, and hands it to the next one: cudaSetDevice, and copies between
 * devices.
 *
 *     ctxrt nvcc -o peer_copies peer_copies.cu && ctxrt run --devices 4 ./peer_copies */
#include <cuda_runtime.h>

#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 256, MOST = 8 };

static void must(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

__global__ void fill(int *part, int device)
{
    part[threadIdx.x] = 1000 * device + (int)threadIdx.x;
}

int main(void)
{
    int devices, *own[MOST], *received[MOST], part[COUNT];
    must(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
    if (devices > MOST)
        devices = MOST;

    /* What follows cudaSetDevice belongs to that device: memory, the default stream, kernels. */
    for (int device = 0; device < devices; device++) {
        must(cudaSetDevice(device), "cudaSetDevice");
        must(cudaMalloc((void **)&own[device], sizeof part), "cudaMalloc");
        must(cudaMalloc((void **)&received[device], sizeof part), "cudaMalloc");
        fill<<<1, COUNT>>>(own[device], device);
        must(cudaGetLastError(), "the launch");
    }
    for (int device = 0; device < devices; device++) {
        must(cudaSetDevice(device), "cudaSetDevice");
        must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }

    for (int device = 0; device < devices; device++) {
        int next = (device + 1) % devices;
        must(cudaMemcpyPeer(received[next], next, own[device], device, sizeof part), "the copy");
    }
    for (int device = 0; device < devices; device++) {
        int before = (device + devices - 1) % devices;
        must(cudaSetDevice(device), "cudaSetDevice");
        must(cudaMemcpy(part, received[device], sizeof part, cudaMemcpyDeviceToHost), "the result");
        printf("device %d has %d to %d, from device %d\n", device, part[0], part[COUNT - 1],
               before);
        must(cudaFree(own[device]), "cudaFree");
        must(cudaFree(received[device]), "cudaFree");
    }
    return 0;
}
