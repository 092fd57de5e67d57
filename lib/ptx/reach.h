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

/* An instruction's access to memory: the part of it that all lanes share. */
typedef struct cx_ptx_access {
    const cx_ptx_instruction *at;
    uint64_t begin, end; /* a lane's address less `begin` must be below `end` */
    uint64_t mask;       /* of addresses */
    uint64_t immediate;
    unsigned char *memory;
    uint32_t slot;
    uint8_t unaligned; /* bits that an address must not have */
    bool writes;
} cx_ptx_access;

/* Outside what it finds, or if it finds nothing, memory is reached slowly. Read-only views are not
 * found for an instruction that writes. */
static inline cx_ptx_access cx_ptx_access_begin(const cx_ptx_grid *grid,
                                                const cx_ptx_block *block,
                                                const cx_ptx_instruction *at, bool writes)
{
    cx_ptx_access found = {.at = at,
                           .mask = UINT32_MAX,
                           .immediate = (uint64_t)at->immediate,
                           .slot = at->a,
                           .unaligned = (uint8_t)(at->align - 1u),
                           .writes = writes};
    const cx_ptx_view *view;
    uint64_t bytes = 0;

    switch ((cx_ptx_space)at->space) {
    case CX_PTX_GENERIC:
    case CX_PTX_GLOBAL:
        view = &grid->views[at->site];
        found.mask = UINT64_MAX;
        found.begin = view->address;
        found.memory = view->memory;
        bytes = writes && view->read_only ? 0 : view->bytes;
        break;
    case CX_PTX_SHARED:
        found.memory = block->shared;
        bytes = grid->shared_bytes;
        break;
    default:
        break;
    }
    found.end = bytes >= at->size ? bytes - at->size + 1 : 0;
    return found;
}

/* Reaches a lane's memory. NULL: the thread has failed. */
static inline unsigned char *cx_ptx_access_reach(cx_ptx_access *self, cx_ptx_grid *grid,
                                                 cx_ptx_block *block, cx_ptx_thread *thread,
                                                 const cx_ptx_slot *slots)
{
    uint64_t address = (slots[self->slot].u64 + self->immediate) & self->mask;
    unsigned char *memory;

    if (__builtin_expect(address - self->begin < self->end && !(address & self->unaligned), 1))
        return self->memory + (address - self->begin);
    memory = cx_ptx_reach_slowly(grid, block, thread, self->at, address, self->writes);
    *self = cx_ptx_access_begin(grid, block, self->at, self->writes);
    return memory;
}

#endif
