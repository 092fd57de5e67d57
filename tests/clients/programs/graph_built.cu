/* A graph made node by node: copies, a fill, kernels, a child graph and a host function; then a
 * node is changed. */
#include "program.cuh"

enum { COUNT = 256 };

__global__ void multiply(int *values, int by)
{
    values[threadIdx.x] = values[threadIdx.x] * by + threadIdx.x % 4;
}

static void count_call(void *calls)
{
    ++*(int *)calls;
}

static cudaGraphNode_t add_kernel(cudaGraph_t graph, cudaGraphNode_t *after, size_t many,
                                  int *values, int by)
{
    void *arguments[] = {&values, &by};
    cudaKernelNodeParams parameters{};
    parameters.func = (void *)multiply;
    parameters.gridDim = dim3(1);
    parameters.blockDim = dim3(COUNT);
    parameters.kernelParams = arguments;
    cudaGraphNode_t node;
    MUST(cudaGraphAddKernelNode(&node, graph, after, many, &parameters));
    return node;
}

int main()
{
    int *there, calls = 0, by = 10;
    std::vector<int> values = random_numbers(58).ints(COUNT, 50), found(COUNT), expected(COUNT);
    MUST(cudaMalloc(&there, COUNT * sizeof(int)));
    cudaGraph_t graph, child;
    cudaGraphNode_t in, fill, kernel, inner, out, host;
    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphCreate(&child, 0));
    add_kernel(child, NULL, 0, there, 2);
    MUST(cudaGraphAddMemcpyNode1D(&in, graph, NULL, 0, there, values.data(), COUNT * sizeof(int),
                                  cudaMemcpyHostToDevice));
    cudaMemsetParams seven{};
    seven.dst = there + COUNT / 2;
    seven.value = 7;
    seven.elementSize = sizeof(int);
    seven.width = COUNT / 2;
    seven.height = 1;
    MUST(cudaGraphAddMemsetNode(&fill, graph, &in, 1, &seven));
    kernel = add_kernel(graph, &fill, 1, there, 3);
    MUST(cudaGraphAddChildGraphNode(&inner, graph, &kernel, 1, child));
    MUST(cudaGraphAddMemcpyNode1D(&out, graph, &inner, 1, found.data(), there, COUNT * sizeof(int),
                                  cudaMemcpyDeviceToHost));
    cudaHostNodeParams call{};
    call.fn = count_call;
    call.userData = &calls;
    MUST(cudaGraphAddHostNode(&host, graph, &out, 1, &call));

    cudaGraphExec_t program;
    MUST(cudaGraphInstantiate(&program, graph, 0));
    for (int factor : {3, 10}) {
        if (factor != 3) {
            void *arguments[] = {&there, &by};
            cudaKernelNodeParams parameters{};
            MUST(cudaGraphKernelNodeGetParams(kernel, &parameters));
            parameters.kernelParams = arguments;
            MUST(cudaGraphExecKernelNodeSetParams(program, kernel, &parameters));
        }
        MUST(cudaGraphLaunch(program, 0));
        MUST(cudaStreamSynchronize(0));
        for (int i = 0; i < COUNT; i++)
            expected[i] = ((i < COUNT / 2 ? values[i] : 7) * factor + i % 4) * 2 + i % 4;
        same(found, expected, "values");
    }
    HOLDS(calls == 2);
    MUST(cudaGraphExecDestroy(program));
    MUST(cudaGraphDestroy(graph));
    MUST(cudaGraphDestroy(child));
    MUST(cudaFree(there));
    return 0;
}
