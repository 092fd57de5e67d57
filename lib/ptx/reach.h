/* The memory that an instruction reaches. */
#ifndef CX_PTX_REACH_H
#define CX_PTX_REACH_H

#include "ptx/grid.h"

static inline bool cx_ptx_in_view(const cx_ptx_view *view, uint64_t address, unsigned bytes)
{
    return address - view->address < view->bytes &&
           view->bytes - (address - view->address) >= bytes;
}

/* The slow path, for memory outside the instruction's last view. NULL: the thread has failed. */
unsigned char *cx_ptx_reach_slowly(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_thread *thread,
                                   const cx_ptx_instruction *at, uint64_t address, bool writes);

/* Read-only views are never used here by an instruction that writes. */
static inline unsigned char *cx_ptx_reach_memory(cx_ptx_grid *grid, cx_ptx_block *block,
                                                 cx_ptx_thread *thread,
                                                 const cx_ptx_instruction *at,
                                                 const cx_ptx_slot *slots, bool writes)
{
    uint64_t address = slots[at->a].u64 + (uint64_t)at->immediate;
    bool aligned = !(address & (at->align - 1u));
    const cx_ptx_view *view = &grid->views[at->site];

    switch ((cx_ptx_space)at->space) {
    case CX_PTX_GENERIC:
    case CX_PTX_GLOBAL:
        if (__builtin_expect(cx_ptx_in_view(view, address, at->size) && aligned &&
                                 !(writes && view->read_only),
                             1))
            return view->memory + (address - view->address);
        break;
    case CX_PTX_SHARED:
        address = (uint32_t)address;
        if (__builtin_expect(address + at->size <= grid->shared_bytes && aligned, 1))
            return block->shared + address;
        break;
    default:
        address = (uint32_t)address;
        break;
    }
    return cx_ptx_reach_slowly(grid, block, thread, at, address, writes);
}

#endif
