/* A graph that allocates and frees: captured cudaMallocAsync, and memory that one graph leaves to
 * the stream. */
#include "program.cuh"

enum { COUNT = 512 };

__global__ void fill(int *values, const int *base)
{
    values[threadIdx.x] = (int)threadIdx.x * *base;
}

__global__ void sum(const int *values, long long *result)
{
    atomicAdd((unsigned long long *)result, (unsigned long long)values[threadIdx.x]);
}

int main()
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t program;
    MUST(cudaStreamCreate(&stream));
    {
        on_device<int> base(1);
        on_device<long long> result(1);
        int *room, *left;
        MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        MUST(cudaMallocAsync(&room, COUNT * sizeof *room, stream));
        MUST(cudaMallocAsync(&left, COUNT * sizeof *left, stream));
        fill<<<1, COUNT, 0, stream>>>(room, base);
        sum<<<1, COUNT, 0, stream>>>(room, result);
        LAUNCHED();
        MUST(cudaMemcpyAsync(left, room, COUNT * sizeof *room, cudaMemcpyDeviceToDevice, stream));
        MUST(cudaFreeAsync(room, stream));
        MUST(cudaStreamEndCapture(stream, &graph));
        MUST(cudaGraphInstantiate(&program, graph, 0));
        long long expected = 0;
        for (int round = 1; round <= 4; round++) {
            base.write({round});
            MUST(cudaDeviceSynchronize());
            MUST(cudaGraphLaunch(program, stream));
            std::vector<int> found(COUNT), values(COUNT);
            MUST(cudaMemcpyAsync(found.data(), left, COUNT * sizeof(int), cudaMemcpyDeviceToHost,
                                 stream));
            MUST(cudaFreeAsync(left, stream)); /* before the graph may allocate it again */
            MUST(cudaStreamSynchronize(stream));
            for (int i = 0; i < COUNT; i++) {
                values[i] = i * round;
                expected += values[i];
            }
            same(found, values, "values that the graph left");
            same(result.read(), {expected}, "sum");
        }
        MUST(cudaGraphExecDestroy(program));
        MUST(cudaGraphDestroy(graph));
        MUST(cudaDeviceGraphMemTrim(0));
    }
    MUST(cudaStreamDestroy(stream));
    return 0;
}
