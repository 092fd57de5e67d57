/*
 * Memory that the embedded driver knows: device, pinned, managed and registered memory, found by any
 * address inside it.
 */
#ifndef CX_EMU_ALLOCATION_H
#define CX_EMU_ALLOCATION_H

#include "emu/context.h"
#include <stddef.h>

typedef enum cx_emu_memory_kind {
    CX_EMU_MEMORY_DEVICE,     /* cuMemAlloc, cuMemAllocPitch */
    CX_EMU_MEMORY_ASYNC,      /* cuMemAllocAsync: survives its context (C3) */
    CX_EMU_MEMORY_PINNED,     /* cuMemAllocHost, cuMemHostAlloc */
    CX_EMU_MEMORY_MANAGED,    /* cuMemAllocManaged */
    CX_EMU_MEMORY_REGISTERED  /* cuMemHostRegister: the user's own pages */
} cx_emu_memory_kind;

struct cx_emu_allocation {
    uintptr_t address; /* what the user sees */
    size_t bytes;      /* what the user asked for */
    size_t reserved_bytes; /* what it takes */
    unsigned char *mapped; /* where the driver reaches the same bytes; equals address where the host may */
    cx_emu_memory_kind kind;
    unsigned int flags;
    uint64_t buffer_id;    /* never used twice */
    cx_emu_device *device;
    cx_emu_context *context; /* owner; NULL for CX_EMU_MEMORY_ASYNC */
    uint64_t context_id;
    int users;  /* pieces of work in flight that use it */
    bool freed; /* freed by the user, waiting for `users` to reach 0 (ASYNC) */
    bool sync_memops; /* CU_POINTER_ATTRIBUTE_SYNC_MEMOPS */
    struct cx_emu_allocation *previous, *next; /* in context->allocations */
    /* the index by address follows in allocation.c */
};

/*
 * The allocation that holds all of [address, address + bytes), or NULL: unknown, freed, or the range
 * runs over its end. Lock held. `bytes` may be 0: then the address must lie inside, or at the end.
 */
cx_emu_allocation *cx_emu_allocation_find(uintptr_t address, size_t bytes);

/* Work that is about to be queued uses the allocation: it stays until as many drops. Lock held. */
void cx_emu_allocation_use(cx_emu_allocation *allocation);
void cx_emu_allocation_drop(cx_emu_allocation *allocation);

/* Where the driver reads or writes `address`, which lies in `allocation`. */
static inline unsigned char *cx_emu_allocation_at(const cx_emu_allocation *allocation, uintptr_t address)
{
    return allocation->mapped + (address - allocation->address);
}

/* Frees what a context owned (C3); all its work is done. Lock held. */
void cx_emu_allocations_release(cx_emu_context *context);

#endif
