/* Blocks of a grid. */
#ifndef CX_PTX_BLOCK_H
#define CX_PTX_BLOCK_H

#include "ptx/grid.h"

/* Allocates memory for blocks that run one after the other. False: out of memory. */
bool cx_ptx_block_allocate(const cx_ptx_grid *grid, cx_ptx_block *block);
void cx_ptx_block_free(cx_ptx_block *block);

/* Begins the block with that number; it is used until all of its threads have ended. */
void cx_ptx_block_begin(const cx_ptx_grid *grid, cx_ptx_block *block, uint64_t number);

/* Gives each warp a turn. */
void cx_ptx_block_turn(cx_ptx_grid *grid, cx_ptx_block *block);

#endif
