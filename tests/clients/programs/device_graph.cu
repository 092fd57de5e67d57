/* A graph that is launched by a kernel of another one, fire and forget, and as a tail. */
// nvcc: -rdc=true
#include "program.cuh"

__device__ cudaGraphExec_t second;

__global__ void add(int *value, int by)
{
    atomicAdd(value, by);
}

__global__ void launch_second(int *value)
{
    atomicAdd(value, 1);
    cudaGraphLaunch(second, cudaStreamGraphTailLaunch);
}

static cudaGraph_t graph_of(void (*kernel)(int *), int *value, int by)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    MUST(cudaStreamCreate(&stream));
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    if (kernel != NULL)
        kernel<<<1, 1, 0, stream>>>(value);
    else
        add<<<1, 1, 0, stream>>>(value, by);
    LAUNCHED();
    MUST(cudaStreamEndCapture(stream, &graph));
    MUST(cudaStreamDestroy(stream));
    return graph;
}

int main()
{
    on_device<int> value(1);
    cudaGraph_t outer = graph_of(launch_second, value, 0), inner = graph_of(NULL, value, 100);
    cudaGraphExec_t outer_program, inner_program;
    MUST(cudaGraphInstantiate(&outer_program, outer, cudaGraphInstantiateFlagDeviceLaunch));
    MUST(cudaGraphInstantiate(&inner_program, inner, cudaGraphInstantiateFlagDeviceLaunch));
    MUST(cudaGraphUpload(inner_program, 0));
    MUST(cudaMemcpyToSymbol(second, &inner_program, sizeof inner_program));
    for (int i = 1; i <= 3; i++) {
        MUST(cudaGraphLaunch(outer_program, 0));
        MUST(cudaDeviceSynchronize());
        same(value.read(), {101 * i}, "value");
    }
    MUST(cudaGraphExecDestroy(outer_program));
    MUST(cudaGraphExecDestroy(inner_program));
    MUST(cudaGraphDestroy(outer));
    MUST(cudaGraphDestroy(inner));
    return 0;
}
