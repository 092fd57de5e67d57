#include "emu/pool.h"

#include "emu/allocation.h"
#include "emu/sticky.h"

static cx_emu_handles handles = {.slot_bytes = sizeof(cx_emu_pool)};
static size_t count; /* of the user's */

static void dispose_unused(cx_emu_pool *pool)
{
    if (pool->destroyed && pool->allocations == 0)
        cx_emu_handle_return(&handles, pool);
}

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
    count--;
    dispose_unused(pool);
}

void cx_emu_pool_close_default(cx_emu_device *device)
{
    if (device->default_pool != NULL)
        cx_emu_handle_return(&handles, device->default_pool);
    device->default_pool = device->pool = NULL;
}

bool cx_emu_pool_exists(void)
{
    return count > 0;
}

/* From here on the memory of an allocation is the pool's. */
static void take(cx_emu_pool *pool, cx_emu_allocation *allocation)
{
    allocation->pool = pool;
    pool->used_bytes += allocation->reserved_bytes;
    if (pool->used_bytes > pool->used_high)
        pool->used_high = pool->used_bytes;
    if (pool->used_bytes > pool->reserved_high)
        pool->reserved_high = pool->used_bytes;
}

static bool within_limit(const cx_emu_pool *pool, size_t bytes)
{
    return pool->max_bytes == 0 ||
           (pool->used_bytes <= pool->max_bytes && bytes <= pool->max_bytes - pool->used_bytes);
}

cxu_result cx_emu_pool_allocate(cx_emu_pool *pool, size_t bytes, CUdeviceptr *out_pointer)
{
    cx_emu_allocation *allocation;
    if (!within_limit(pool, bytes))
        return CXU_OUT_OF_MEMORY;
    /* Counted before it is there: others may destroy the pool during the wait. There from now on,
     * so any work that the stream gets from now on finds it. */
    pool->allocations++;
    cxu_result result = cx_emu_allocation_create(pool->device, NULL, CX_EMU_MEMORY_ASYNC, bytes, 0,
                                                 &allocation);
    if (result != CXU_SUCCESS) {
        pool->allocations--;
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
    dispose_unused(pool);
}
