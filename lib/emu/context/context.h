/*
 * Emulated contexts and the per-thread stacks of them.
 *
 * A CUcontext is the address of a cx_emu_context. Contexts live in slots that are never unmapped,
 * so a handle can be checked safely after its context is gone; slots are reused (rule C4), ids
 * never.
 */
#ifndef CX_EMU_CONTEXT_H
#define CX_EMU_CONTEXT_H

#include "driver/cuda_abi.h"
#include "emu/context/patience.h"
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
    cx_emu_patience patience; /* of that thread */
    /* A green context's slot names its primary, in which calls work while that has this id. */
    struct cx_emu_context *base;
    uint64_t base_id;
    struct cx_emu_green *green;
    cx_emu_device *device;
    unsigned int flags;        /* of a primary, also while it is inactive (P6) */
    unsigned int attach_count; /* cuCtxAttach, cuCtxDetach */
    size_t limits[CX_EMU_LIMITS];
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
    struct cx_emu_heap *heap; /* of its kernels, or NULL (heap.h) */
    struct cx_emu_context *next_free; /* while the slot is unused */
} cx_emu_context;

/* The id of the live context in a slot, 0 if there is none. It stays while the lock is held. */
static inline uint64_t cx_emu_context_id(const cx_emu_context *context)
{
    return atomic_load_explicit(&context->live_id, memory_order_acquire);
}

/*
 * The calling thread's current context, for a call that uses it. CXU_INVALID_CONTEXT if there is
 * none, CXU_CONTEXT_IS_DESTROYED if it was destroyed or reset, the error that made it useless. Lock
 * held: it stays alive until the lock is released; after a wait, compare cx_emu_context_id() with
 * its earlier value.
 */
cxu_result cx_emu_context_current(cx_emu_context **out_context);

/* Checks that there is a usable current context. Takes the lock. */
cxu_result cx_emu_context_check_current(void);

/* Finds the live context of a handle, for a call that uses it. CXU_INVALID_CONTEXT if it is none or
 * was destroyed, CXU_CONTEXT_IS_DESTROYED if it is an inactive primary, or the error that made it
 * useless. Lock held. */
cxu_result cx_emu_context_find(CUcontext handle, cx_emu_context **out_context);

/* As cx_emu_context_find; NULL is the current context. Lock held. */
cxu_result cx_emu_context_find_or_current(CUcontext handle, cx_emu_context **out_context);

/* As cx_emu_context_find_or_current, for a call that only names the context or ends it: it may be
 * useless. Lock held. */
cxu_result cx_emu_context_identify(CUcontext handle, cx_emu_context **out_context);

/* True if cuCtxCreate accepts the flags. */
bool cx_emu_context_flags_valid(unsigned int flags);

/*
 * Opens a context in a slot: gives it an id, its defaults, its legacy stream and its share of the
 * device's memory, which a close gives back. False: out of memory. Lock held.
 */
bool cx_emu_context_open(cx_emu_context *context, cx_emu_device *device, unsigned int flags);

/*
 * Closes a live context: from now on no call can use it. Waits for its pending work with the lock
 * released, or ends it (patience.h), then frees its streams, events and memory (C3). Lock held.
 */
void cx_emu_context_close(cx_emu_context *context);

/* Makes a slot stand for a green context of an open primary; takes its handle away; and ends it.
 * Lock held. */
void cx_emu_context_open_green(cx_emu_context *context, cx_emu_context *primary,
                               struct cx_emu_green *green);
void cx_emu_context_hide_green(cx_emu_context *context);
void cx_emu_context_close_green(cx_emu_context *context);

/* Waits until another thread has finished a close; the lock is released meanwhile. */
void cx_emu_context_wait_closed(cx_emu_context *context);

/* The number of contexts that are open or closing. Lock held. */
int cx_emu_context_count(void);

static inline CUcontext cx_emu_context_handle(cx_emu_context *context)
{
    return (CUcontext)(void *)context;
}

#endif
