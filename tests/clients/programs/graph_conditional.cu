/* Conditional nodes: a loop halves a number until it is 1 (Collatz), and a branch runs only for
 * some numbers. */
#include "program.cuh"

__global__ void collatz(unsigned *number, unsigned *steps, cudaGraphConditionalHandle again)
{
    if (*number != 1) {
        *number = *number % 2 == 0 ? *number / 2 : *number * 3 + 1;
        ++*steps;
    }
    cudaGraphSetConditional(again, *number != 1);
}

__global__ void decide(const unsigned *steps, cudaGraphConditionalHandle is_long)
{
    cudaGraphSetConditional(is_long, *steps > 50);
}

__global__ void count(unsigned *longs)
{
    ++*longs;
}

static cudaGraphNode_t add_kernel(cudaGraph_t graph, const cudaGraphNode_t *after, void *kernel,
                                  void **arguments)
{
    cudaKernelNodeParams parameters{};
    parameters.func = kernel;
    parameters.gridDim = parameters.blockDim = dim3(1);
    parameters.kernelParams = arguments;
    cudaGraphNode_t node;
    MUST(cudaGraphAddKernelNode(&node, graph, after, after != NULL, &parameters));
    return node;
}

static cudaGraphNode_t add_conditional(cudaGraph_t graph, const cudaGraphNode_t *after,
                                       cudaGraphConditionalHandle handle,
                                       cudaGraphConditionalNodeType type, cudaGraph_t *body)
{
    cudaGraphNodeParams parameters{};
    parameters.type = cudaGraphNodeTypeConditional;
    parameters.conditional.handle = handle;
    parameters.conditional.type = type;
    parameters.conditional.size = 1;
    cudaGraphNode_t node;
#if CUDART_VERSION >= 13000
    MUST(cudaGraphAddNode(&node, graph, after, NULL, after != NULL, &parameters));
#else
    MUST(cudaGraphAddNode(&node, graph, after, after != NULL, &parameters));
#endif
    *body = parameters.conditional.phGraph_out[0];
    return node;
}

int main()
{
    on_device<unsigned> numbers(3);
    unsigned *number = numbers, *steps = numbers + 1, *longs = numbers + 2;
    cudaGraph_t graph, loop, branch;
    cudaGraphConditionalHandle again, is_long;
    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphConditionalHandleCreate(&again, graph, 1, cudaGraphCondAssignDefault));
    MUST(cudaGraphConditionalHandleCreate(&is_long, graph, 0, cudaGraphCondAssignDefault));
    cudaGraphNode_t looped = add_conditional(graph, NULL, again, cudaGraphCondTypeWhile, &loop),
                    decided;
    void *of_step[] = {&number, &steps, &again}, *of_decision[] = {&steps, &is_long},
         *of_count[] = {&longs};
    add_kernel(loop, NULL, (void *)collatz, of_step);
    decided = add_kernel(graph, &looped, (void *)decide, of_decision);
    add_conditional(graph, &decided, is_long, cudaGraphCondTypeIf, &branch);
    add_kernel(branch, NULL, (void *)count, of_count);
    cudaGraphExec_t program;
    MUST(cudaGraphInstantiate(&program, graph, 0));
    unsigned long_ones = 0;
    for (unsigned start : {6u, 27u, 97u, 64u, 1u}) {
        unsigned expected = 0, first[2] = {start, 0};
        for (unsigned i = start; i != 1; i = i % 2 == 0 ? i / 2 : 3 * i + 1)
            expected++;
        long_ones += expected > 50;
        MUST(cudaMemcpy(numbers, first, sizeof first, cudaMemcpyHostToDevice));
        MUST(cudaGraphLaunch(program, 0));
        MUST(cudaStreamSynchronize(0));
        same(numbers.read(), {1, expected, long_ones}, "number, steps, long ones");
    }
    MUST(cudaGraphExecDestroy(program));
    MUST(cudaGraphDestroy(graph));
    return 0;
}
