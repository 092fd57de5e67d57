/*
 * Pools of stream-ordered memory: each device's default one, and the user's own. All functions:
 * lock "emu.state" held.
 *
 * A pool counts its allocations. Freed memory stays in the pool up to the release threshold. It
 * returns to the device beyond that, when the pool is trimmed or destroyed, or before the device
 * would refuse memory.
 */
#ifndef CX_EMU_POOL_H
#define CX_EMU_POOL_H

#include "emu/device.h"
#include "emu/handle.h"

enum { CX_EMU_POOL_SETTINGS = 3 }; /* the three attributes that are switches */

typedef struct cx_emu_pool {
    cx_emu_handle_slot slot;
    cx_emu_device *device;
    bool destroyed;   /* the handle is stale; the pool goes with its last memory */
    size_t max_bytes; /* 0: no limit */
    size_t allocations;
    uint64_t used_bytes, used_high, reserved_high;
    uint64_t kept_bytes; /* freed, but not returned to the device yet */
    uint64_t release_threshold;
    int settings[CX_EMU_POOL_SETTINGS];
    unsigned char access[CX_EMU_DEVICES_MAX]; /* cxu_mem_access_flags, by ordinal */
    struct cx_emu_pool *previous, *next; /* all pools */
} cx_emu_pool;

/* CXU_OUT_OF_MEMORY. */
cxu_result cx_emu_pool_create(cx_emu_device *device, size_t max_bytes, cx_emu_pool **out_pool);

/* The device's default pool, made on first use. CXU_OUT_OF_MEMORY. */
cxu_result cx_emu_pool_default(cx_emu_device *device, cx_emu_pool **out_pool);

/* The pool of cuMemAllocAsync. CXU_OUT_OF_MEMORY. */
cxu_result cx_emu_pool_current(cx_emu_device *device, cx_emu_pool **out_pool);

/* Finds the pool of a handle, for a call that uses it. CXU_INVALID_VALUE; or the error of its
 * device. */
cxu_result cx_emu_pool_find(CUmemoryPool handle, cx_emu_pool **out_pool);

/* Destroys a pool other than a default one. If it is its device's current one, the default one
 * becomes current. */
void cx_emu_pool_destroy(cx_emu_pool *pool);

/* Frees the default pool of a device that goes. */
void cx_emu_pool_close_default(cx_emu_device *device);

/* True if the user has any. */
bool cx_emu_pool_exists(void);

/*
 * Allocates at once; the memory frees itself from the pool when it goes. Waits as
 * cx_emu_allocation_create does. CXU_OUT_OF_MEMORY: also beyond the pool's limit.
 */
cxu_result cx_emu_pool_allocate(cx_emu_pool *pool, size_t bytes, CUdeviceptr *out_pointer);

/* Returns kept memory until the pool has at most `reserved_bytes`, including memory in use. */
void cx_emu_pool_trim(cx_emu_pool *pool, uint64_t reserved_bytes);

/* Returns all kept memory of a device's pools to it. False: there was none. */
bool cx_emu_pools_release(cx_emu_device *device);

static inline uint64_t cx_emu_pool_reserved(const cx_emu_pool *pool)
{
    return pool->used_bytes + pool->kept_bytes;
}

/* Memory of the pool has gone; for allocation.c. */
void cx_emu_pool_give(cx_emu_pool *pool, size_t bytes);

static inline unsigned int cx_emu_pool_access(const cx_emu_pool *pool, const cx_emu_device *device)
{
    return pool->access[device->ordinal];
}

static inline CUmemoryPool cx_emu_pool_handle(cx_emu_pool *pool)
{
    return (CUmemoryPool)(void *)pool;
}

#endif
