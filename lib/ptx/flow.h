/*
 * Control flow: what branches must know so that the lanes of a warp run together. In a branch:
 *
 *   site  the place in the code where its paths meet again: the immediate post-dominator;
 *         CX_PTX_NO_PLACE if that is the end of the function
 *   from  1 if it only jumps over instructions that any part of the lanes may do at once
 *   mode  of a branch back: cx_ptx_pace
 */
#ifndef CX_PTX_FLOW_H
#define CX_PTX_FLOW_H

#include "ptx/module.h"

#define CX_PTX_NO_PLACE UINT32_MAX

/* The purpose that a loop may have. */
typedef enum cx_ptx_pace {
    CX_PTX_PACE_WORKS,  /* it reads no memory and waits for nobody */
    CX_PTX_PACE_READS,  /* it may wait, which is unlikely */
    CX_PTX_PACE_WATCHES /* it reads what others may change meanwhile */
} cx_ptx_pace;

/* A function as blocks of instructions; the block behind the last one is the function's end. */
typedef struct cx_ptx_graph {
    const cx_ptx_module *module;
    size_t begin, end;  /* in the code */
    uint32_t *block_of; /* for each instruction, from `begin` on */
    uint32_t *last;     /* the last instruction of each block */
    uint32_t *first;
    uint32_t blocks;
    uint32_t *edges_to, *sources; /* of block b: sources from edges_to[b] to edges_to[b + 1] */
    uint32_t *order, *number;     /* blocks as found from the end, and the other way round */
    uint32_t reached;
    uint32_t *meets; /* the immediate post-dominator of each block */
} cx_ptx_graph;

/* Fills in the branches of all functions, and counts their registers. False: out of memory. */
bool cx_ptx_flow_find(cx_ptx_module *module);

#endif
