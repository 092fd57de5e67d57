/*
 * The record of a context, which every folder of the driver adds its part to.
 *
 * A CUcontext is the address of a cx_emu_context. Contexts live in slots that are never unmapped,
 * so a handle can be checked safely after its context is gone; slots are reused (rule C4), ids
 * never.
 */
#ifndef CX_EMU_CONTEXT_RECORD_H
#define CX_EMU_CONTEXT_RECORD_H

#include "driver/cuda_abi.h"
#include "emu/base/teardown_deadline.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct cx_emu_device cx_emu_device;
typedef struct cx_emu_stream cx_emu_stream;
typedef struct cx_emu_event cx_emu_event;
typedef struct cx_emu_allocation cx_emu_allocation;

#define CX_EMU_LIMITS 10
#define CX_EMU_PEERS_MAX 64

typedef struct cx_emu_context {
    /* The id of the live context; 0: none (destroyed, or an inactive primary).
     * Written under the lock; the stack reads it without one. */
    _Atomic uint64_t live_id;
    _Atomic int ordinal; /* of the device; stays after the end, until the slot is reused */
    bool primary;        /* constant: the first slots belong to the primary contexts */
    bool closing;        /* not live any more; a thread waits for its work */
    cx_emu_teardown_deadline teardown_deadline; /* of that thread */
    /* A green context's slot names its primary, in which calls work while that has this id. */
    struct cx_emu_context *base;
    uint64_t base_id;
    struct cx_emu_green *green;
    cx_emu_device *device;
    unsigned int flags;        /* of a primary, also while it is inactive (P6) */
    unsigned int attach_count; /* cuCtxAttach, cuCtxDetach */
    size_t limits[CX_EMU_LIMITS];
    size_t output_asked; /* for, as CXU_LIMIT_PRINTF_FIFO_SIZE: the limit may be larger */
    bool limit_used[CX_EMU_LIMITS]; /* by a kernel that was launched: it stays as it is */
    cxu_func_cache cache_config;
    cxu_result error;      /* sticks (sticky.h) */
    cxu_result error_once; /* for the next call to report */
    /* contexts whose memory it may reach (peer.h) */
    struct cx_emu_context *peers[CX_EMU_PEERS_MAX];
    uint64_t peer_ids[CX_EMU_PEERS_MAX];
    int peer_count;

    /* The objects that the context owns; the files of memory and work keep these lists, under the
     * lock. */
    cx_emu_allocation *allocations; /* doubly linked, allocation.h */
    cx_emu_stream *streams;         /* doubly linked, stream.h; the legacy stream is not in it */
    cx_emu_event *events;           /* doubly linked, event.h */
    cx_emu_stream *legacy;          /* made and freed with the context */
    /* the latest piece that is behind all work and in no stream; counted */
    struct cx_emu_work *whole;
    int running; /* pieces that run in it, of whichever stream (work.h: doer) */
    struct cx_emu_output *output, *last_output; /* text of its kernels (output.h) */
    size_t output_bytes;
    struct cx_emu_heap *heap;         /* of its kernels, or NULL (heap.h) */
    struct cx_emu_context *next_free; /* while the slot is unused */
} cx_emu_context;

/* The id of the live context in a slot, 0 if there is none. It stays while the lock is held. */
static inline uint64_t cx_emu_context_id(const cx_emu_context *context)
{
    return atomic_load_explicit(&context->live_id, memory_order_acquire);
}

static inline CUcontext cx_emu_context_handle(cx_emu_context *context)
{
    return (CUcontext)(void *)context;
}

#endif
