/*
 * Memory that the embedded driver knows: device, pinned, managed and registered memory, found by
 * any address inside it. All functions: lock held.
 *
 * Calls no longer find a freed allocation. A free in stream order takes effect for work when the
 * stream gets there. The allocation stays until the last piece of work that names it is done, but
 * work that begins after the free has taken effect fails (cx_emu_allocation_gone).
 */
#ifndef CX_EMU_ALLOCATION_H
#define CX_EMU_ALLOCATION_H

#include "driver/access_log.h"
#include "emu/base/context_record.h"
#include "emu/memory/arena.h"
#include "emu/memory/mem_advice.h"
#include <bsd/sys/tree.h>
#include <stddef.h>

typedef enum cx_emu_memory_kind {
    CX_EMU_MEMORY_DEVICE,     /* cuMemAlloc, cuMemAllocPitch */
    CX_EMU_MEMORY_ASYNC,      /* cuMemAllocAsync: survives its context (C3) */
    CX_EMU_MEMORY_PINNED,     /* cuMemAllocHost, cuMemHostAlloc, and pools of the host */
    CX_EMU_MEMORY_MANAGED,    /* cuMemAllocManaged, and pools of managed memory */
    CX_EMU_MEMORY_REGISTERED, /* cuMemHostRegister: the user's own pages */
    CX_EMU_MEMORY_MAPPED,     /* cuMemMap: one mapping (mapping.h) */
    CX_EMU_MEMORY_SHARED,     /* cuIpcOpenMemHandle, cuMemPoolImportPointer (shared.h) */
    CX_EMU_MEMORY_KINDS
} cx_emu_memory_kind;

struct cx_emu_pool;

/* The functions of the files that keep more of some memory, or that wait for work. */
typedef struct cx_emu_memory_hooks {
    /* Frees the part of a kind's own file, at the end of an allocation. NULL: there is none. */
    void (*dispose[CX_EMU_MEMORY_KINDS])(cx_emu_allocation *allocation);
    void (*leave_pool)(struct cx_emu_pool *pool, size_t bytes);
    bool (*reclaim)(cx_emu_device *device); /* pools give up kept memory; false: they have none */
    void (*wait_unused)(cx_emu_allocation *allocation);          /* by work; the lock is released */
    void (*wait_unreached)(const cx_emu_allocation *allocation); /* by running work; so is it */
} cx_emu_memory_hooks;

/* Sets them, before the first allocation; the struct stays where it is. */
void cx_emu_allocation_set_hooks(const cx_emu_memory_hooks *all);

/* Sets the bytes that a GPU may hold at most, if its quota is not less. */
void cx_emu_allocation_set_limit(size_t bytes);

/* In `flags`: memory of the host whose pages other processes can map. */
enum { CX_EMU_SHAREABLE = 1 << 16 };

struct cx_emu_allocation {
    uintptr_t address;     /* the user's address */
    size_t bytes;          /* the size that the user asked for */
    size_t reserved_bytes; /* the size that it takes */
    unsigned char
        *mapped; /* the same bytes for the driver; equals address if the host may touch them */
    cx_emu_memory_kind kind;
    unsigned int flags;
    uint64_t buffer_id; /* never used twice */
    cx_emu_device *device;
    cx_emu_context *context; /* owner; NULL for CX_EMU_MEMORY_MAPPED and memory of pools */
    uint64_t context_id;
    int users;        /* pieces of work in flight that use it */
    int reached;      /* those of them that run without the lock */
    bool freed;       /* by the user or with its context; disposed of once `users` is 0 */
    bool hidden;      /* kernels that look for it no longer find it */
    bool gone;        /* queued work that names it fails */
    bool sync_memops; /* CU_POINTER_ATTRIBUTE_SYNC_MEMOPS */
    bool of_module;   /* variables of a module: it goes with the module, and no user frees it */
    bool of_array;    /* no address of the user's is in it */
    cx_emu_mem_advices advices;     /* of CX_EMU_MEMORY_MANAGED */
    struct cx_emu_pool *pool;       /* the pool that it is of, or NULL */
    struct cx_emu_block *block;     /* of CX_EMU_MEMORY_ASYNC that graphs allocate, else NULL */
    const unsigned char *opened_to; /* whether each device reaches such a block; or NULL */
    struct cx_emu_mapping *mapping; /* of CX_EMU_MEMORY_MAPPED, else NULL */
    struct cx_emu_shared *shared;   /* of CX_EMU_MEMORY_SHARED, else NULL */
    struct cx_emu_allocation *previous, *next; /* in context->allocations */
    struct cx_ptx_written *written; /* ptx/written.h; NULL: nobody wants to know, or cannot */
    struct cx_ptx_written *held;    /* of a heap of kernels: the bytes that malloc has given out */

    /* Private to allocation.c. */
    bool awaited;        /* freed, and a thread waits for `users` and then disposes of it */
    bool indexed;        /* in the index by address */
    cx_emu_range *range; /* NULL: the user's own memory, or a mapping */
    RB_ENTRY(cx_emu_allocation) by_address;
};

/* Memory that a piece of work uses: an allocation; if that is a mapping, also those that follow it
 * up to `end`. */
typedef struct cx_emu_use {
    cx_emu_allocation *allocation; /* NULL: nothing */
    uintptr_t end;
} cx_emu_use;

/* Begins to note which bytes of new device memory are written, if anybody watches kernels. */
void cx_emu_allocation_note_writes(cx_emu_allocation *allocation);

/* A call is about to write the bytes. */
void cx_emu_allocation_mark_written(const cx_emu_allocation *allocation, uintptr_t address,
                                    size_t bytes);

/* Counts bytes that nothing has written. */
void cx_emu_allocation_look(const cx_emu_allocation *allocation, uintptr_t address, size_t bytes,
                            cx_access_log_unwritten *found);

/* Others may write it who are not seen. */
void cx_emu_allocation_mark_all(const cx_emu_allocation *allocation);

/*
 * The allocation that holds all of [address, address + bytes), or NULL: unknown, freed, or the
 * range runs over its end. Lock held. If `bytes` is 0 the address must be inside, or at the end.
 * For adjacent mappings in one reservation, the first one.
 */
cx_emu_allocation *cx_emu_allocation_find(uintptr_t address, size_t bytes);

/* The same for work that runs now: a free in stream order may still be ahead of it. `latest` is
 * cx_emu_memory_latest() of when the work was queued: memory made since then is not what it named,
 * though it may have got the address. A kernel may have learnt of it: CX_EMU_MEMORY_ANY. */
cx_emu_allocation *cx_emu_allocation_find_for_work(uintptr_t address, size_t bytes,
                                                   uint64_t latest);
#define CX_EMU_MEMORY_ANY UINT64_MAX

/* The allocation that starts at `address`, or NULL: none, or freed. */
cx_emu_allocation *cx_emu_allocation_at_start(uintptr_t address);

/* The mapping that begins where `mapping` ends, in the same reservation, or NULL: none, or
 * freed. */
cx_emu_allocation *cx_emu_allocation_following(cx_emu_allocation *mapping);

/* The allocation with the next address, or NULL. */
cx_emu_allocation *cx_emu_allocation_next(cx_emu_allocation *allocation);

/* The allocation that holds the address, or else the one whose first or last byte is closest to it;
 * freed ones included. NULL: there is none. */
const cx_emu_allocation *cx_emu_allocation_nearest(uintptr_t address);

/* Any allocation with a byte in [address, address + bytes), freed ones included, or NULL; at least
 * one byte. */
cx_emu_allocation *cx_emu_allocation_overlapping(uintptr_t address, size_t bytes);

/* True if a byte is in addresses that ever held host memory of the driver's allocations, or at
 * which the driver itself reaches memory: no other code gets these. At least one byte. */
bool cx_emu_host_memory_overlaps(uintptr_t address, size_t bytes);

/* True if a byte is in addresses reserved for the memory of GPUs, taken or not. At least one
 * byte. */
bool cx_emu_gpu_memory_overlaps(uintptr_t address, size_t bytes);

/* True if the device has room for so many bytes more; pools give up their kept memory first. Lock
 * held. */
bool cx_emu_allocation_fits(cx_emu_device *device, size_t bytes);

/*
 * Allocates on a device. `owner` frees it when it is destroyed; NULL: no context does. If there is
 * no room while freed memory of the device still waits for its work, waits for that with the lock
 * released, and tries again.
 *
 * CXU_OUT_OF_MEMORY: beyond the quota, or the host has none. CXU_CONTEXT_IS_DESTROYED: `owner` was
 * destroyed during the wait.
 */
cxu_result cx_emu_allocation_create(cx_emu_device *device, cx_emu_context *owner,
                                    cx_emu_memory_kind kind, size_t bytes, unsigned int flags,
                                    cx_emu_allocation **out_allocation);

/* Registers the user's own pages, which overlap no known allocation. CXU_OUT_OF_MEMORY. */
cxu_result cx_emu_allocation_register(cx_emu_context *owner, uintptr_t address, size_t bytes,
                                      unsigned int flags);

/* The host has reused these addresses. Registered memory there was freed by its owner without a
 * call, and its registration is void. */
void cx_emu_allocation_evict_stale(uintptr_t address, size_t bytes);

/* A number that no other memory of the process ever gets, and the last such number. */
uint64_t cx_emu_memory_id(void);
uint64_t cx_emu_memory_latest(void);

/* Registers a mapping, which the caller made with malloc: it is freed like any allocation. */
void cx_emu_allocation_publish_mapping(cx_emu_allocation *mapping);

/* Registers memory of another process, which the caller made with malloc. */
void cx_emu_allocation_publish_shared(cx_emu_allocation *shared, cx_emu_context *owner);

/* Waits, with the lock released, until `bytes` more of the device's quota can be charged: freed
 * memory may still wait for its work. CXU_OUT_OF_MEMORY. */
cxu_result cx_emu_allocation_await_quota(cx_emu_device *device, size_t bytes);

/* Frees without waiting: queued work that names it fails. Variables of a module are the exception:
 * work that was given to a stream keeps them. */
void cx_emu_allocation_free(cx_emu_allocation *allocation);

/* Frees, and returns when the memory is gone (T12). The lock is released meanwhile; no other thread
 * can free it again. */
void cx_emu_allocation_free_and_wait(cx_emu_allocation *allocation);

/* Work that is about to be queued uses the allocation: it stays until as many drops. Lock held. */
void cx_emu_allocation_use(cx_emu_use use);
void cx_emu_allocation_drop(cx_emu_use use);
void cx_emu_allocation_drop_user(cx_emu_allocation *allocation); /* of this one alone */

/* A user begins (1) to run without the lock, or has ended (-1). */
static inline void cx_emu_allocation_reach(cx_emu_use use, int by)
{
    if (use.allocation != NULL)
        use.allocation->reached += by;
}

/* The first used allocation whose free has taken effect, or NULL: the work may run. */
const cx_emu_allocation *cx_emu_allocation_gone(cx_emu_use use);
bool cx_emu_allocation_used_by(const cx_emu_allocation *allocation, cx_emu_use use);

/* The error that made its context or its device useless (sticky.h), or CXU_SUCCESS. */
cxu_result cx_emu_allocation_error(const cx_emu_allocation *allocation);

/* True if kernels and fills of a live context can reach the memory: host memory and managed memory
 * always, device memory on its own device and from peers with access, and memory of a host pool if
 * the pool is open to the device. */
bool cx_emu_allocation_reachable(const cx_emu_allocation *allocation,
                                 const cx_emu_context *context);

/* True if a copy or fill on `device` may read or write the used memory: false for mappings to which
 * the device has no such access (V5). */
bool cx_emu_allocation_accessible(cx_emu_use use, const cx_emu_device *device, bool writes);

/* The driver's address for `address` in `allocation`. */
static inline unsigned char *cx_emu_allocation_at(const cx_emu_allocation *allocation,
                                                  uintptr_t address)
{
    return allocation->mapped + (address - allocation->address);
}

/* Zeroes the bytes [begin, end) of managed memory, and frees the pages that are whole among them.
 * Needs no lock, but a use. */
void cx_emu_allocation_clear(const cx_emu_allocation *allocation, size_t begin, size_t end);

/* Frees the allocations that a context owned (C3); all its work is done. Waits, with the lock
 * released, for work of others that runs in registered memory: those pages are the user's. */
void cx_emu_allocations_release(cx_emu_context *context);

#endif
