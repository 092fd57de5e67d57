#include "emu/pool.h"

#include "emu/allocation.h"
#include "emu/sticky.h"

static cx_emu_handles handles = {.slot_bytes = sizeof(cx_emu_pool)};
static size_t count; /* of the user's */
static cx_emu_pool *all;

static void close_pool(cx_emu_pool *pool)
{
    *(pool->previous ? &pool->previous->next : &all) = pool->next;
    if (pool->next)
        pool->next->previous = pool->previous;
    cx_emu_handle_return(&handles, pool);
}

static void dispose_unused(cx_emu_pool *pool)
{
    if (pool->destroyed && pool->allocations == 0)
        close_pool(pool);
}

/* ---- kept memory ---- */

static void keep(cx_emu_pool *pool, uint64_t bytes)
{
    pool->kept_bytes += bytes;
    pool->device->kept_bytes += bytes;
}

static void release(cx_emu_pool *pool, uint64_t bytes)
{
    pool->kept_bytes -= bytes;
    pool->device->kept_bytes -= bytes;
}

void cx_emu_pool_trim(cx_emu_pool *pool, uint64_t reserved_bytes)
{
    uint64_t room = reserved_bytes > pool->used_bytes ? reserved_bytes - pool->used_bytes : 0;

    if (pool->kept_bytes > room)
        release(pool, pool->kept_bytes - room);
}

bool cx_emu_pools_release(cx_emu_device *device)
{
    if (device->kept_bytes == 0)
        return false;
    for (cx_emu_pool *each = all; each; each = each->next)
        if (each->device == device)
            release(each, each->kept_bytes);
    return true;
}

/* ---- making and destroying ---- */

static cxu_result open_pool(cx_emu_device *device, size_t max_bytes, cx_emu_pool **out_pool)
{
    cx_emu_pool *pool = cx_emu_handle_take(&handles);
    if (pool == NULL)
        return CXU_OUT_OF_MEMORY;
    pool->device = device;
    pool->max_bytes = max_bytes;
    for (int i = 0; i < CX_EMU_POOL_SETTINGS; i++)
        pool->settings[i] = 1;
    pool->access[device->ordinal] = CXU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    pool->next = all;
    if (all)
        all->previous = pool;
    all = pool;
    *out_pool = pool;
    return CXU_SUCCESS;
}

cxu_result cx_emu_pool_create(cx_emu_device *device, size_t max_bytes, cx_emu_pool **out_pool)
{
    cxu_result result = open_pool(device, max_bytes, out_pool);
    count += result == CXU_SUCCESS;
    return result;
}

cxu_result cx_emu_pool_default(cx_emu_device *device, cx_emu_pool **out_pool)
{
    cxu_result result =
        device->default_pool != NULL ? CXU_SUCCESS : open_pool(device, 0, &device->default_pool);
    if (result == CXU_SUCCESS)
        *out_pool = device->default_pool;
    return result;
}

cxu_result cx_emu_pool_current(cx_emu_device *device, cx_emu_pool **out_pool)
{
    if (device->pool == NULL)
        return cx_emu_pool_default(device, out_pool);
    *out_pool = device->pool;
    return CXU_SUCCESS;
}

cxu_result cx_emu_pool_find(CUmemoryPool handle, cx_emu_pool **out_pool)
{
    cx_emu_pool *pool = (cx_emu_pool *)(void *)handle;
    if (!cx_emu_handle_live(&handles, pool) || pool->destroyed)
        return CXU_INVALID_VALUE;
    *out_pool = pool;
    return cx_emu_device_error(pool->device);
}

void cx_emu_pool_destroy(cx_emu_pool *pool)
{
    if (pool->device->pool == pool)
        pool->device->pool = NULL;
    pool->destroyed = true;
    cx_emu_pool_trim(pool, 0);
    count--;
    dispose_unused(pool);
}

void cx_emu_pool_close_default(cx_emu_device *device)
{
    if (device->default_pool != NULL)
        close_pool(device->default_pool);
    device->default_pool = device->pool = NULL;
}

bool cx_emu_pool_exists(void)
{
    return count > 0;
}

/* Gives the allocation to the pool. */
static void take(cx_emu_pool *pool, cx_emu_allocation *allocation)
{
    allocation->pool = pool;
    pool->used_bytes += allocation->reserved_bytes;
    if (pool->used_bytes > pool->used_high)
        pool->used_high = pool->used_bytes;
    if (cx_emu_pool_reserved(pool) > pool->reserved_high)
        pool->reserved_high = cx_emu_pool_reserved(pool);
}

static bool within_limit(const cx_emu_pool *pool, size_t bytes)
{
    return pool->max_bytes == 0 ||
           (pool->used_bytes <= pool->max_bytes && bytes <= pool->max_bytes - pool->used_bytes);
}

cxu_result cx_emu_pool_allocate(cx_emu_pool *pool, size_t bytes, CUdeviceptr *out_pointer)
{
    cx_emu_allocation *allocation;
    uint64_t again = pool->kept_bytes; /* kept memory serves first */
    if (!within_limit(pool, bytes))
        return CXU_OUT_OF_MEMORY;
    if (again > bytes)
        again = bytes / CX_EMU_ALIGNMENT * CX_EMU_ALIGNMENT +
                (bytes % CX_EMU_ALIGNMENT ? CX_EMU_ALIGNMENT : 0);
    release(pool, again);
    /* Counted before it exists: other threads may destroy the pool during the wait. It exists
     * before any work that the stream gets from now on. */
    pool->allocations++;
    cxu_result result = cx_emu_allocation_create(pool->device, NULL, CX_EMU_MEMORY_ASYNC, bytes, 0,
                                                 &allocation);
    if (result != CXU_SUCCESS) {
        pool->allocations--;
        keep(pool, pool->destroyed ? 0 : again);
        dispose_unused(pool);
        return result;
    }
    take(pool, allocation);
    *out_pointer = allocation->address;
    return CXU_SUCCESS;
}

void cx_emu_pool_give(cx_emu_pool *pool, size_t bytes)
{
    pool->used_bytes -= bytes;
    pool->allocations--;
    if (!pool->destroyed) {
        keep(pool, bytes);
        cx_emu_pool_trim(pool, pool->release_threshold);
    }
    dispose_unused(pool);
}
