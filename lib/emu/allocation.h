/*
 * Memory that the embedded driver knows: device, pinned, managed and registered memory, found by
 * any address inside it. Everything here wants the lock held.
 *
 * An allocation that the user freed is found no more, but stays until the last piece of work that
 * uses it is done.
 */
#ifndef CX_EMU_ALLOCATION_H
#define CX_EMU_ALLOCATION_H

#include "emu/arena.h"
#include "emu/context.h"
#include <bsd/sys/tree.h>
#include <stddef.h>

typedef enum cx_emu_memory_kind {
    CX_EMU_MEMORY_DEVICE,    /* cuMemAlloc, cuMemAllocPitch */
    CX_EMU_MEMORY_ASYNC,     /* cuMemAllocAsync: survives its context (C3) */
    CX_EMU_MEMORY_PINNED,    /* cuMemAllocHost, cuMemHostAlloc */
    CX_EMU_MEMORY_MANAGED,   /* cuMemAllocManaged */
    CX_EMU_MEMORY_REGISTERED, /* cuMemHostRegister: the user's own pages */
    CX_EMU_MEMORY_MAPPED      /* cuMemMap: one mapping (mapping.h) */
} cx_emu_memory_kind;

struct cx_emu_allocation {
    uintptr_t address;     /* what the user sees */
    size_t bytes;          /* what the user asked for */
    size_t reserved_bytes; /* what it takes */
    unsigned char
        *mapped; /* where the driver reaches the same bytes; equals address where the host may */
    cx_emu_memory_kind kind;
    unsigned int flags;
    uint64_t buffer_id; /* never used twice */
    cx_emu_device *device;
    cx_emu_context *context; /* owner; NULL for CX_EMU_MEMORY_ASYNC and _MAPPED */
    uint64_t context_id;
    int users;        /* pieces of work in flight that use it */
    bool freed;       /* by the user or with its context; goes when `users` is 0 */
    bool sync_memops; /* CU_POINTER_ATTRIBUTE_SYNC_MEMOPS */
    bool of_module;   /* its variables: it goes with the module, and no user frees it */
    struct cx_emu_pool *pool; /* that memory of CX_EMU_MEMORY_ASYNC came from, else NULL */
    struct cx_emu_mapping *mapping; /* of CX_EMU_MEMORY_MAPPED, else NULL */
    struct cx_emu_allocation *previous, *next; /* in context->allocations */

    /* For allocation.c only. */
    bool awaited;        /* freed, and a thread waits for `users` and then disposes of it */
    bool indexed;        /* in the index by address */
    cx_emu_range *range; /* NULL: the memory is the user's, or a mapping */
    RB_ENTRY(cx_emu_allocation) by_address;
};

/* What a piece of work uses: an allocation, and if that is a mapping, those that follow it up to
 * `end`. */
typedef struct cx_emu_use {
    cx_emu_allocation *allocation; /* NULL: nothing */
    uintptr_t end;
} cx_emu_use;

/*
 * The allocation that holds all of [address, address + bytes), or NULL: unknown, freed, or the
 * range runs over its end. Lock held. `bytes` may be 0: then the address must lie inside, or at the
 * end. Of mappings that follow each other without a gap in one reservation, the first.
 */
cx_emu_allocation *cx_emu_allocation_find(uintptr_t address, size_t bytes);

/* The allocation that starts at `address`, or NULL: none, or freed. */
cx_emu_allocation *cx_emu_allocation_at_start(uintptr_t address);

/* The mapping that begins where `mapping` ends, in the same reservation, or NULL: none, or
 * freed. */
cx_emu_allocation *cx_emu_allocation_following(cx_emu_allocation *mapping);

/* Any allocation with a byte in [address, address + bytes), freed ones included, or NULL; at least
 * one byte. */
cx_emu_allocation *cx_emu_allocation_overlapping(uintptr_t address, size_t bytes);

/* Whether a byte is in addresses that hold memory of the host which the driver allocates, now or
 * ever: no other code gets them. At least one byte. */
bool cx_emu_host_memory_overlaps(uintptr_t address, size_t bytes);

/*
 * Allocates on a device. `owner` frees it when it is destroyed; NULL: nobody does. If there is no
 * room while freed memory of the device still awaits its work, waits for that with the lock
 * released, and tries again.
 *
 * CXU_OUT_OF_MEMORY: beyond the quota, or the host has none. CXU_CONTEXT_IS_DESTROYED: `owner` went
 * during the wait.
 */
cxu_result cx_emu_allocation_create(cx_emu_device *device, cx_emu_context *owner,
                                    cx_emu_memory_kind kind, size_t bytes, unsigned int flags,
                                    cx_emu_allocation **out_allocation);

/* Makes the user's own pages known; they overlap nothing known. CXU_OUT_OF_MEMORY. */
cxu_result cx_emu_allocation_register(cx_emu_context *owner, uintptr_t address, size_t bytes,
                                      unsigned int flags);

/* The host gave these addresses to somebody new. Registered memory there was freed by its owner
 * without a word, and its registration is void. */
void cx_emu_allocation_evict_stale(uintptr_t address, size_t bytes);

/* A number for memory that no other memory of the process ever gets. */
uint64_t cx_emu_memory_id(void);

/* Makes a mapping known, made by the caller with malloc: it goes like any allocation. */
void cx_emu_allocation_publish_mapping(cx_emu_allocation *mapping);

/* Waits, with the lock released meanwhile, until `bytes` more of the device's quota can be charged:
 * freed memory may still await its work. CXU_OUT_OF_MEMORY. */
cxu_result cx_emu_allocation_await_quota(cx_emu_device *device, size_t bytes);

/* Frees without waiting: it goes now, or with the last work that uses it. */
void cx_emu_allocation_free(cx_emu_allocation *allocation);

/* Frees in stream order, without waiting (T8, T12); found no more from now on. The errors of
 * cx_emu_work_submit_locked_call: nothing is freed. */
cxu_result cx_emu_allocation_free_in_stream(cx_emu_allocation *allocation, CUstream stream);

/* Frees, and returns when it is gone (T12). The lock is released meanwhile; nobody else can free
 * it again. */
void cx_emu_allocation_free_and_wait(cx_emu_allocation *allocation);

/* Work that is about to be queued uses the allocation: it stays until as many drops. Lock held. */
void cx_emu_allocation_use(cx_emu_use use);
void cx_emu_allocation_drop(cx_emu_use use);
bool cx_emu_allocation_used_by(const cx_emu_allocation *allocation, cx_emu_use use);

/* The error that made its context or its device useless (sticky.h), or CXU_SUCCESS. */
cxu_result cx_emu_allocation_error(const cx_emu_allocation *allocation);

/* Whether the memory is reachable for kernels and copies of a live context: host memory and managed
 * memory always, device memory on its own device and from peers with access. */
bool cx_emu_allocation_reachable(const cx_emu_allocation *allocation,
                                 const cx_emu_context *context);

/* Whether a copy or fill that `device` does may read or write what is used: false for mappings that
 * the device has no such access to (V5). */
bool cx_emu_allocation_accessible(cx_emu_use use, const cx_emu_device *device, bool writes);

/* Where the driver reads or writes `address`, which lies in `allocation`. */
static inline unsigned char *cx_emu_allocation_at(const cx_emu_allocation *allocation,
                                                  uintptr_t address)
{
    return allocation->mapped + (address - allocation->address);
}

/* Frees what a context owned (C3); all its work is done. Lock held. */
void cx_emu_allocations_release(cx_emu_context *context);

#endif
