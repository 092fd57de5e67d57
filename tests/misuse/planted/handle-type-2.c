/* SPDX-License-Identifier: MIT */
/*
 * A program keeps its graph in an untyped field and launches that, instead of the executable
 * graph made of it.
 *
 * expect: HANDLE-TYPE
 * at: launch
 * origin: made build
 * says: graph 1 of GPU 0 belongs to context 1 of GPU 0
 */
#include "misuse.h"

typedef struct plan {
    void *graph, *executable;
} plan;

NAMED void build(plan *self)
{
    CUgraph graph;
    CUgraphExec executable;
    CUgraphNode node;
    MUST(cuGraphCreate(&graph, 0));
    MUST(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    MUST(cuGraphInstantiate(&executable, graph, 0));
    *self = (plan){graph, executable};
}

NAMED int launch(const plan *self)
{
    return cuGraphLaunch((CUgraphExec)self->graph, NULL) == CUDA_SUCCESS;
}

int main(void)
{
    CUcontext context;
    plan one;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    build(&one);
    puts(launch(&one) ? "launched" : "not launched");
    MUST(cuCtxSynchronize());
    MUST(cuGraphExecDestroy(one.executable));
    MUST(cuGraphDestroy(one.graph));
    MUST(cuCtxDestroy(context));
    return 0;
}
