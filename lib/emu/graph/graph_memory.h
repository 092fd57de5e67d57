/*
 * Memory of graphs: a node allocates a block, whose address stays the same, each time the graph is
 * launched; a node of this graph or of another one frees it, or the program does. All functions:
 * lock "emu.state" held.
 *
 * The block is there as long as nodes that allocate it are, or as it is allocated. It is charged to
 * its device from the beginning.
 */
#ifndef CX_EMU_GRAPH_MEMORY_H
#define CX_EMU_GRAPH_MEMORY_H

#include "emu/device/device.h"
#include <stdbool.h>

typedef struct cx_emu_graph cx_emu_graph;

typedef struct cx_emu_block {
    int references; /* of nodes, and one while it is allocated */
    bool allocated; /* by a launch, as the program made the calls */
    bool reserved;  /* for graphs, since the first launch; until a trim */
    struct cx_emu_allocation *memory;
    cxu_mem_alloc_node_params params; /* as the user gave them; with copies of lists */
    unsigned char access[CX_EMU_DEVICES_MAX]; /* cxu_mem_access_flags, by ordinal */
    struct cx_emu_block *previous, *next;     /* all of them */
} cx_emu_block;

/* Makes a block with one reference. CXU_INVALID_VALUE: wrong properties; CXU_NOT_SUPPORTED,
 * CXU_OUT_OF_MEMORY. */
cxu_result cx_emu_block_create(const char *call, const cxu_mem_alloc_node_params *params,
                               cx_emu_block **out_block);

void cx_emu_block_retain(cx_emu_block *block);
void cx_emu_block_drop(cx_emu_block *block);

/* The block at an address, allocated or not; or NULL. */
cx_emu_block *cx_emu_block_at(CUdeviceptr address);

/* The program frees an allocated block. CXU_INVALID_VALUE: no launch has allocated it. */
cxu_result cx_emu_block_free(cx_emu_block *block);

/* The same in stream order. Errors of cx_emu_work_submit_locked_call too. */
cxu_result cx_emu_block_free_in_stream(cx_emu_block *block, CUstream stream);

/* Looks whether a launch may allocate and free the blocks of the graph. CXU_INVALID_VALUE: a block
 * is allocated still, unless it is freed for that, or is to be freed and is not allocated. */
cxu_result cx_emu_graph_memory_check(const cx_emu_graph *graph, bool free_first);

/* A launch that may has been submitted: allocates and frees them, in the order of the calls. */
void cx_emu_graph_memory_launched(const cx_emu_graph *graph);

#endif
