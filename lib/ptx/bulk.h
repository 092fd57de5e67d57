/* Bulk copies between global and shared memory: done at once, then told to a barrier. */
#ifndef CX_PTX_BULK_H
#define CX_PTX_BULK_H

#include "ptx/grid.h"

/* The mode of CX_PTX_BULK: how bytes that arrive join those that are there. */
#define CX_PTX_BULK_COPY UINT8_MAX /* else cx_ptx_atomic, of `type` */

/* The operands of CX_PTX_BULK: a and immediate, of `space`: where to; b, of the space `from`: where
 * from; c: bytes; e: the address of a barrier, or CX_PTX_NO_BARRIER; d: the ranks of blocks that
 * get a copy, or the bytes of each 16 that are copied. `align`: cx_ptx_bulk_mask. */
#define CX_PTX_NO_BARRIER UINT32_MAX

typedef enum cx_ptx_bulk_mask {
    CX_PTX_BULK_OF_NOTHING,
    CX_PTX_BULK_OF_BLOCKS,
    CX_PTX_BULK_OF_BYTES
} cx_ptx_bulk_mask;

/* Copies for a thread. False: it has failed. */
bool cx_ptx_bulk_do(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_thread *thread,
                    const cx_ptx_rows *rows, const cx_ptx_instruction *at);

#endif
