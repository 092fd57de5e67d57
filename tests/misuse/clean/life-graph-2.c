/* SPDX-License-Identifier: MIT */
/*
 * A program destroys the executable form of its graph before it makes a new one after each
 * change.
 */
#include "misuse.h"

static CUgraph graph;
static CUgraphExec executable;

NAMED void build(void)
{
    if (executable != NULL)
        MUST(cuGraphExecDestroy(executable));
    MUST(cuGraphInstantiate(&executable, graph, 0));
}

NAMED void add_step(void)
{
    CUgraphNode node;
    MUST(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    build();
}

int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuGraphCreate(&graph, 0));
    for (int i = 0; i < 3; i++) {
        add_step();
        MUST(cuGraphLaunch(executable, NULL));
    }
    MUST(cuCtxSynchronize());
    MUST(cuGraphExecDestroy(executable));
    MUST(cuGraphDestroy(graph));
    MUST(cuCtxDestroy(context));
    return 0;
}
