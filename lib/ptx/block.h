/* Blocks of a grid. */
#ifndef CX_PTX_BLOCK_H
#define CX_PTX_BLOCK_H

#include "ptx/grid.h"
#include "ptx/room.h"

/* Takes the memory of blocks that run one after the other. NULL: the room only counts. */
void cx_ptx_block_take(const cx_ptx_grid *grid, cx_ptx_room *room, cx_ptx_block *block);

void cx_ptx_block_begin(const cx_ptx_grid *grid, cx_ptx_block *block, const uint32_t index[3]);

/* Gives each warp a turn; true if anything happened. */
bool cx_ptx_block_turn(cx_ptx_grid *grid, cx_ptx_block *block);

/* Lets lanes go on that wait where their warp meets; true if there were any. */
bool cx_ptx_block_part(const cx_ptx_grid *grid, cx_ptx_block *block);

/* Fails the block's first thread that has not ended. */
void cx_ptx_block_fail(cx_ptx_grid *grid, const cx_ptx_block *block, cx_ptx_outcome outcome);

/* Ends the grid's run if it shall stop. */
void cx_ptx_block_check(cx_ptx_grid *grid, const cx_ptx_block *block);

#endif
