/* The memory that an instruction reaches. */
#ifndef CX_PTX_ADDRESS_RESOLVE_H
#define CX_PTX_ADDRESS_RESOLVE_H

#include "ptx/grid.h"

static inline bool cx_ptx_in_view(const cx_ptx_view *view, uint64_t address, unsigned bytes)
{
    return address - view->address < view->bytes &&
           view->bytes - (address - view->address) >= bytes;
}

/* The slow path, for memory outside the instruction's last view. `value`: what it stores, as of
 * cx_ptx_touch, if that may be global memory; NULL: it loads. Returns NULL if the thread failed. */
unsigned char *cx_ptx_resolve_slowly(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_thread *thread,
                                     const cx_ptx_instruction *at, uint64_t address,
                                     const void *value);

/* A load that sees what others store meanwhile: volatile, relaxed, acquire. */
bool cx_ptx_polls(const cx_ptx_instruction *at);

/* The view that holds a range of global memory, for a site of a watched grid; NULL: not all of it
 * may be used. */
const cx_ptx_view *cx_ptx_reach_range(cx_ptx_grid *grid, uint32_t site, uint64_t address,
                                      unsigned bytes);

/* The memory that an instruction reaches for all lanes alike. */
typedef struct cx_ptx_access {
    uint64_t begin, end; /* a lane's address less `begin` must be below `end` */
    uint64_t mask;       /* of addresses */
    uint64_t immediate;
    unsigned char *memory;
    uint32_t stride;   /* from a lane's own memory to that of the next one; 0: they share it */
    uint8_t unaligned; /* bits that an address must not have */
} cx_ptx_access;

/* Each lane has local memory of its own; `lanes` are the threads of the warp. */
static inline uint64_t cx_ptx_access_local(const cx_ptx_grid *grid, const cx_ptx_thread *lanes,
                                           cx_ptx_access *found)
{
    const size_t stride = grid->local_of_thread + CX_PTX_LOCAL_SPARE;

    if (stride > UINT32_MAX / CX_PTX_WARP_SIZE)
        return 0;
    found->memory = lanes->local;
    found->stride = (uint32_t)stride;
    return grid->local_of_thread;
}

/* `address`: of one of the lanes. It finds no read-only memory for an instruction that writes. */
static inline cx_ptx_access cx_ptx_access_begin(const cx_ptx_grid *grid, const cx_ptx_block *block,
                                                const cx_ptx_thread *lanes,
                                                const cx_ptx_instruction *at, uint64_t address,
                                                bool writes)
{
    cx_ptx_access found = {.mask = UINT32_MAX,
                           .immediate = (uint64_t)at->immediate,
                           .unaligned = (uint8_t)(at->align - 1u)};
    const cx_ptx_view *view;
    uint64_t bytes = 0;

    switch ((cx_ptx_space)at->space) {
    case CX_PTX_GENERIC:
        if ((address & CX_PTX_WINDOW_MASK) == CX_PTX_WINDOW_SHARED) {
            found.mask = UINT64_MAX;
            found.begin = CX_PTX_WINDOW_SHARED + block->shared_begin;
            found.memory = block->shared;
            bytes = grid->shared_bytes;
            break;
        }
        if ((address & CX_PTX_WINDOW_MASK) == CX_PTX_WINDOW_LOCAL) {
            found.mask = UINT64_MAX;
            found.begin = CX_PTX_WINDOW_LOCAL;
            bytes = cx_ptx_access_local(grid, lanes, &found);
            break;
        }
        /* fall through */
    case CX_PTX_GLOBAL:
        view = &grid->views[at->site];
        found.mask = UINT64_MAX;
        found.begin = view->address;
        found.memory = view->memory;
        bytes = writes && view->read_only ? 0 : view->bytes;
        break;
    case CX_PTX_SHARED:
        found.begin = block->shared_begin;
        found.memory = block->shared;
        bytes = grid->shared_bytes;
        break;
    case CX_PTX_LOCAL:
        bytes = cx_ptx_access_local(grid, lanes, &found);
        break;
    case CX_PTX_PARAMETER:
        found.memory = writes ? NULL : (unsigned char *)grid->parameters;
        bytes = writes ? 0 : grid->kernel->parameter_bytes;
        break;
    default:
        break;
    }
    found.end = bytes >= at->size ? bytes - at->size + 1 : 0;
    return found;
}

static inline unsigned char *cx_ptx_in_shared(const cx_ptx_grid *grid, const cx_ptx_block *block,
                                              uint64_t offset, unsigned bytes)
{
    return offset < grid->shared_bytes && grid->shared_bytes - offset >= bytes
               ? block->shared + offset
               : NULL;
}

/* Finds memory that all lanes share, at the lane's address; `base` is the address's register. NULL:
 * it lies elsewhere. */
static inline unsigned char *cx_ptx_resolve_shared(const cx_ptx_grid *grid,
                                                   const cx_ptx_block *block,
                                                   const cx_ptx_instruction *at, uint64_t base,
                                                   bool writes)
{
    uint64_t address = base + (uint64_t)at->immediate;
    const cx_ptx_view *view;

    if (address & (at->align - 1u))
        return NULL;
    switch ((cx_ptx_space)at->space) {
    case CX_PTX_GENERIC:
        if ((address & CX_PTX_WINDOW_MASK) == CX_PTX_WINDOW_SHARED) {
            address -= CX_PTX_WINDOW_SHARED + block->shared_begin;
            return cx_ptx_in_shared(grid, block, address, at->size);
        }
        /* fall through */
    case CX_PTX_GLOBAL:
        view = &grid->views[at->site];
        return cx_ptx_in_view(view, address, at->size) && !(writes && view->read_only)
                   ? view->memory + (address - view->address)
                   : NULL;
    case CX_PTX_SHARED:
        address = (address & UINT32_MAX) - block->shared_begin;
        return cx_ptx_in_shared(grid, block, address, at->size);
    default:
        return NULL;
    }
}

/* Reaches one lane's memory; `value` is as above. Returns NULL if the thread failed. */
static inline unsigned char *cx_ptx_resolve_lane(cx_ptx_grid *grid, cx_ptx_block *block,
                                                 cx_ptx_thread *thread,
                                                 const cx_ptx_instruction *at, uint64_t base,
                                                 const void *value)
{
    uint64_t address = base + (uint64_t)at->immediate;
    unsigned char *found = cx_ptx_resolve_shared(grid, block, at, base, value != NULL);

    if (found)
        return found;
    if (at->space != CX_PTX_GENERIC && at->space != CX_PTX_GLOBAL)
        address &= UINT32_MAX;
    if (at->space == CX_PTX_LOCAL && !(address & (at->align - 1u)) &&
        address + at->size <= grid->local_of_thread)
        return thread->local + address;
    return cx_ptx_resolve_slowly(grid, block, thread, at, address, value);
}

#endif
