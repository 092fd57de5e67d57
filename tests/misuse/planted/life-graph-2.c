/* SPDX-License-Identifier: MIT */
/*
 * A program makes its graph executable anew after each change and keeps the last executable form
 * only.
 *
 * options: --leaks
 * expect: LIFE-GRAPH
 * at: build
 * origin: made build
 * says: executable graph 1 of GPU 0
 */
#include "misuse.h"

static CUgraph graph;
static CUgraphExec executable;

NAMED void build(void)
{
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
