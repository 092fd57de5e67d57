/*
 * Emulated contexts and the per-thread stacks of them.
 *
 * A CUcontext is the address of a cx_emu_context. Contexts live in slots that are never unmapped, so a
 * handle can be looked at safely after its context is gone; slots are used again (rule C4), ids never.
 */
#ifndef CX_EMU_CONTEXT_H
#define CX_EMU_CONTEXT_H

#include "driver/cuda_abi.h"
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
    /* 0: no live context here (destroyed; or a primary that is inactive). Else the id of the live one.
     * Written under the lock, read without it by the stack. */
    _Atomic uint64_t live_id;
    bool primary;
    bool slot_used; /* the slot is taken: a live context, or a primary in any state */
    cx_emu_device *device;
    unsigned int flags;
    unsigned int attach_count; /* cuCtxAttach, cuCtxDetach */
    unsigned int api_version;
    size_t limits[CX_EMU_LIMITS];
    cxu_func_cache cache_config;
    cxu_shared_config shared_config;
    struct cx_emu_context *peers[CX_EMU_PEERS_MAX]; /* contexts whose memory this one may reach */
    uint64_t peer_ids[CX_EMU_PEERS_MAX];
    int peer_count;

    /* What the context owns; the rooms of memory and work keep these, under the lock. */
    cx_emu_allocation *allocations; /* doubly linked, allocation.h */
    cx_emu_stream *streams;         /* doubly linked, stream.h; the legacy stream is not in it */
    cx_emu_event *events;           /* doubly linked, event.h */
    cx_emu_stream *legacy;          /* made with the context, gone with it */
    struct cx_emu_context *next_free;
} cx_emu_context;

/*
 * The calling thread's current context. CXU_INVALID_CONTEXT if there is none,
 * CXU_CONTEXT_IS_DESTROYED if it was destroyed or reset. Lock held, so that it stays alive until the
 * lock is dropped.
 */
cxu_result cx_emu_context_current(cx_emu_context **out_context);

/* The live context of a handle, or CXU_INVALID_CONTEXT. Lock held. */
cxu_result cx_emu_context_find(CUcontext handle, cx_emu_context **out_context);

/* As cx_emu_context_find, with NULL standing for the current context. Lock held. */
cxu_result cx_emu_context_find_or_current(CUcontext handle, cx_emu_context **out_context);

static inline CUcontext cx_emu_context_handle(cx_emu_context *context)
{
    return (CUcontext)(void *)context;
}

#endif
