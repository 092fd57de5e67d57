/* A graph from the work of two streams, launched many times; then its parameters are updated from
 * another capture. */
#include "program.cuh"

enum { COUNT = 512 };

__global__ void add(int *values, int by)
{
    values[threadIdx.x] += by;
}

__global__ void add_arrays(int *values, const int *others)
{
    values[threadIdx.x] += others[threadIdx.x];
}

static cudaGraph_t capture(cudaStream_t main, cudaStream_t side, int *a, int *b, int by)
{
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    MUST(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    MUST(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    MUST(cudaStreamBeginCapture(main, cudaStreamCaptureModeGlobal));
    MUST(cudaEventRecord(fork, main));
    MUST(cudaStreamWaitEvent(side, fork, 0));
    add<<<1, COUNT, 0, main>>>(a, by);
    LAUNCHED();
    add<<<1, COUNT, 0, side>>>(b, 1);
    LAUNCHED();
    MUST(cudaEventRecord(join, side));
    MUST(cudaStreamWaitEvent(main, join, 0));
    add_arrays<<<1, COUNT, 0, main>>>(a, b);
    LAUNCHED();
    MUST(cudaStreamEndCapture(main, &graph));
    MUST(cudaEventDestroy(fork));
    MUST(cudaEventDestroy(join));
    return graph;
}

int main()
{
    cudaStream_t main, side;
    MUST(cudaStreamCreate(&main));
    MUST(cudaStreamCreate(&side));
    {
        on_device<int> a(COUNT), b(COUNT);
        cudaGraph_t graph = capture(main, side, a, b, 5), other = capture(main, side, a, b, 100);
        cudaGraphExec_t program;
        size_t nodes;
        MUST(cudaGraphGetNodes(graph, NULL, &nodes));
        HOLDS(nodes == 3);
        MUST(cudaGraphInstantiate(&program, graph, 0));
        for (int i = 0; i < 10; i++)
            MUST(cudaGraphLaunch(program, main));
        cudaGraphExecUpdateResultInfo info;
        MUST(cudaGraphExecUpdate(program, other, &info));
        HOLDS(info.result == cudaGraphExecUpdateSuccess);
        MUST(cudaGraphLaunch(program, main));
        MUST(cudaStreamSynchronize(main));
        same(a.read(), std::vector<int>(COUNT, 10 * 5 + 100 + 66), "sums");
        same(b.read(), std::vector<int>(COUNT, 11), "counts");
        MUST(cudaGraphExecDestroy(program));
        MUST(cudaGraphDestroy(graph));
        MUST(cudaGraphDestroy(other));
    }
    MUST(cudaStreamDestroy(main));
    MUST(cudaStreamDestroy(side));
    return 0;
}
