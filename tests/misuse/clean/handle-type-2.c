/* SPDX-License-Identifier: MIT */
/*
 * A program keeps its graphs in fields of their types, so that the compiler refuses the wrong
 * one.
 */
#include "misuse.h"

typedef struct plan {
    CUgraph graph;
    CUgraphExec executable;
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
    return cuGraphLaunch(self->executable, NULL) == CUDA_SUCCESS;
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
