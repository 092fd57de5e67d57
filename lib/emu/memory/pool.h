/*
 * Pools of stream-ordered memory: the default one of each place, and the user's own. All functions:
 * lock "emu.state" held.
 *
 * A place is a device, the host, or the host's one NUMA node, each for pinned memory and for
 * managed memory, which may also prefer no place. A pool of a place other than a device's own
 * memory has no device.
 *
 * A pool counts its allocations. Freed memory stays in the pool up to the release threshold. It
 * returns to the device or the host beyond that, when the pool is trimmed or destroyed, or before
 * the device would refuse memory.
 */
#ifndef CX_EMU_POOL_H
#define CX_EMU_POOL_H

#include "emu/device/device.h"
#include "emu/base/handle.h"

enum { CX_EMU_POOL_SETTINGS = 3 }; /* the three attributes that are switches */

typedef struct cx_emu_pool {
    cx_emu_handle_slot slot;
    cxu_mem_pool_properties properties; /* max_bytes 0: no limit */
    cx_emu_device *device;              /* NULL: a pool of host or managed memory */
    bool is_default;
    bool imported;   /* of another process: it gives no memory of its own */
    uint64_t origin; /* what tells the pool from those of all processes; 0: not shared yet */
    bool destroyed; /* the handle is stale; the pool goes with its last memory */
    size_t allocations;
    uint64_t used_bytes, used_high, reserved_high;
    uint64_t kept_bytes; /* freed, but not returned to the device yet */
    uint64_t release_threshold;
    int settings[CX_EMU_POOL_SETTINGS];
    unsigned char access[CX_EMU_DEVICES_MAX]; /* cxu_mem_access_flags, by ordinal */
    struct cx_emu_pool *previous, *next; /* all pools */
} cx_emu_pool;

/* The pools of a place; NULL: not asked for yet, and the default one. */
typedef struct cx_emu_pool_place cx_emu_pool_place;

/* The place for memory of a type at a location, or NULL: there is none. Needs no lock. */
cx_emu_pool_place *cx_emu_pool_place_find(cxu_mem_allocation_type type,
                                          const cxu_mem_location *location);

cx_emu_pool_place *cx_emu_pool_place_of_device(const cx_emu_device *device);

/* Makes a pool of a place that exists. CXU_OUT_OF_MEMORY. */
cxu_result cx_emu_pool_create(const cxu_mem_pool_properties *properties, cx_emu_pool **out_pool);

/* The default pool of a place, made on first use. CXU_OUT_OF_MEMORY. */
cxu_result cx_emu_pool_default(cx_emu_pool_place *place, cx_emu_pool **out_pool);

/* The current pool of a place: for a device's own memory that of cuMemAllocAsync.
 * CXU_OUT_OF_MEMORY. */
cxu_result cx_emu_pool_current(cx_emu_pool_place *place, cx_emu_pool **out_pool);

void cx_emu_pool_make_current(cx_emu_pool_place *place, cx_emu_pool *pool);

/* Finds the pool of a handle, for a call that uses it. CXU_INVALID_VALUE; or the error of its
 * device. */
cxu_result cx_emu_pool_find(CUmemoryPool handle, cx_emu_pool **out_pool);

/* Destroys a pool other than a default one. Where it is the current one, the default one becomes
 * current. */
void cx_emu_pool_destroy(cx_emu_pool *pool);

/* Frees all default pools: the devices go. */
void cx_emu_pools_close_default(void);

/* True if the user has any. */
bool cx_emu_pool_exists(void);

/*
 * Allocates at once, from a pool that is not imported; the memory frees itself from the pool when
 * it goes. Host and managed memory belongs to `device`, the one of the stream. Waits as
 * cx_emu_allocation_create does. CXU_OUT_OF_MEMORY: also beyond the pool's limit.
 */
cxu_result cx_emu_pool_allocate(cx_emu_pool *pool, cx_emu_device *device, size_t bytes,
                                CUdeviceptr *out_pointer);

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

/* Takes memory that the caller imported; it frees itself from the pool when it goes. */
void cx_emu_pool_adopt(cx_emu_pool *pool, struct cx_emu_allocation *allocation);

static inline bool cx_emu_pool_managed(const cx_emu_pool *pool)
{
    return pool->properties.type == CXU_MEM_ALLOCATION_TYPE_MANAGED;
}

static inline bool cx_emu_pool_of_host(const cx_emu_pool *pool)
{
    return pool->device == NULL && !cx_emu_pool_managed(pool);
}

/* Every device reaches managed memory. */
static inline unsigned int cx_emu_pool_access(const cx_emu_pool *pool, const cx_emu_device *device)
{
    return cx_emu_pool_managed(pool) ? CXU_MEM_ACCESS_FLAGS_PROT_READWRITE
                                     : pool->access[device->ordinal];
}

/* The host's access. */
static inline unsigned int cx_emu_pool_host_access(const cx_emu_pool *pool)
{
    return pool->device != NULL ? CXU_MEM_ACCESS_FLAGS_PROT_NONE
                                : CXU_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

static inline CUmemoryPool cx_emu_pool_handle(cx_emu_pool *pool)
{
    return (CUmemoryPool)(void *)pool;
}

#endif
