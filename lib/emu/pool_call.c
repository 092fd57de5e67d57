/* Calls on memory pools (T14, T15). */
#include "emu/capture.h"
#include "emu/pool.h"
#include "emu/state.h"
#include "emu/sticky.h"

#include <string.h>

/* ---- a device's pools ---- */

typedef cxu_result (*pool_of)(cx_emu_device *device, cx_emu_pool **out_pool);

static cxu_result get_pool(CUmemoryPool *out_pool, CUdevice ordinal, pool_of find)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_pool == NULL)
        return CXU_INVALID_VALUE;
    cx_emu_device *device = cx_emu_device_find(ordinal);
    if (device == NULL)
        return CXU_INVALID_DEVICE;
    cx_emu_pool *pool;
    pthread_mutex_lock(&cx_emu_lock);
    result = cx_emu_device_error(device);
    if (result == CXU_SUCCESS)
        result = find(device, &pool);
    if (result == CXU_SUCCESS)
        *out_pool = cx_emu_pool_handle(pool);
    pthread_mutex_unlock(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_device_get_default_mem_pool(CUmemoryPool *out_pool, CUdevice device)
{
    return get_pool(out_pool, device, cx_emu_pool_default);
}

cxu_result cx_emu_call_device_get_mem_pool(CUmemoryPool *out_pool, CUdevice device)
{
    return get_pool(out_pool, device, cx_emu_pool_current);
}

cxu_result cx_emu_call_device_set_mem_pool(CUdevice ordinal, CUmemoryPool handle)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    cx_emu_device *device = cx_emu_device_find(ordinal);
    if (device == NULL)
        return CXU_INVALID_DEVICE;
    cx_emu_pool *pool;
    pthread_mutex_lock(&cx_emu_lock);
    result = cx_emu_pool_find(handle, &pool);
    if (result == CXU_SUCCESS && pool->device != device)
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS)
        device->pool = pool;
    pthread_mutex_unlock(&cx_emu_lock);
    return result;
}

/* ---- the current pool by location, since CUDA 13.0 ---- */

static cxu_result find_place(const char *call, const cxu_mem_location *location,
                             cxu_mem_allocation_type type, CUdevice *out_ordinal)
{
    if (location == NULL)
        return CXU_INVALID_VALUE;
    /* Such a pool may have no location. */
    if (type == CXU_MEM_ALLOCATION_TYPE_MANAGED)
        return cx_emu_not_supported(call, "a pool of managed memory");
    if (location->type < CXU_MEM_LOCATION_TYPE_DEVICE ||
        location->type > CXU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT)
        return CXU_INVALID_VALUE;
    if (type != CXU_MEM_ALLOCATION_TYPE_PINNED)
        return CXU_INVALID_VALUE;
    if (location->type != CXU_MEM_LOCATION_TYPE_DEVICE)
        return cx_emu_not_supported(call, "memory of the host");
    *out_ordinal = location->id;
    return cx_emu_device_find(location->id) != NULL ? CXU_SUCCESS : CXU_INVALID_VALUE;
}

static cxu_result get_pool_of(const char *call, CUmemoryPool *out_pool,
                              const cxu_mem_location *location, cxu_mem_allocation_type type,
                              pool_of find)
{
    CUdevice ordinal;
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_pool == NULL)
        return CXU_INVALID_VALUE;
    result = find_place(call, location, type, &ordinal);
    return result == CXU_SUCCESS ? get_pool(out_pool, ordinal, find) : result;
}

cxu_result cx_emu_call_mem_get_default_mem_pool(CUmemoryPool *out_pool, cxu_mem_location *location,
                                                cxu_mem_allocation_type type)
{
    return get_pool_of("cuMemGetDefaultMemPool", out_pool, location, type, cx_emu_pool_default);
}

cxu_result cx_emu_call_mem_get_mem_pool(CUmemoryPool *out_pool, cxu_mem_location *location,
                                        cxu_mem_allocation_type type)
{
    return get_pool_of("cuMemGetMemPool", out_pool, location, type, cx_emu_pool_current);
}

cxu_result cx_emu_call_mem_set_mem_pool(cxu_mem_location *location, cxu_mem_allocation_type type,
                                        CUmemoryPool pool)
{
    CUdevice ordinal;
    cxu_result result = cx_emu_enter();
    if (result == CXU_SUCCESS)
        result = find_place("cuMemSetMemPool", location, type, &ordinal);
    return result == CXU_SUCCESS ? cx_emu_call_device_set_mem_pool(ordinal, pool) : result;
}

/* ---- making and destroying ---- */

static cxu_result check_properties(const cxu_mem_pool_properties *properties,
                                   cx_emu_device **out_device)
{
    if (properties->type != CXU_MEM_ALLOCATION_TYPE_PINNED ||
        properties->location.type < CXU_MEM_LOCATION_TYPE_DEVICE ||
        properties->location.type > CXU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT)
        return CXU_INVALID_VALUE;
    if (properties->location.type != CXU_MEM_LOCATION_TYPE_DEVICE)
        return cx_emu_not_supported("cuMemPoolCreate", "memory of the host");
    if (properties->handle_types != CXU_MEM_HANDLE_TYPE_NONE || properties->usage != 0)
        return cx_emu_not_supported("cuMemPoolCreate", "a pool for other processes or devices");
    *out_device = cx_emu_device_find(properties->location.id);
    return *out_device != NULL ? CXU_SUCCESS : CXU_INVALID_VALUE;
}

cxu_result cx_emu_call_mem_pool_create(CUmemoryPool *out_pool,
                                       const cxu_mem_pool_properties *properties)
{
    cx_emu_device *device = NULL;
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_pool == NULL || properties == NULL)
        return CXU_INVALID_VALUE;
    result = check_properties(properties, &device);
    if (result != CXU_SUCCESS)
        return result;
    cx_emu_pool *pool;
    pthread_mutex_lock(&cx_emu_lock);
    result = cx_emu_device_error(device);
    if (result == CXU_SUCCESS)
        result = cx_emu_pool_create(device, properties->max_bytes, &pool);
    if (result == CXU_SUCCESS)
        *out_pool = cx_emu_pool_handle(pool);
    pthread_mutex_unlock(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_mem_pool_destroy(CUmemoryPool handle)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    cx_emu_pool *pool;
    pthread_mutex_lock(&cx_emu_lock);
    result = cx_emu_pool_find(handle, &pool);
    if (result == CXU_SUCCESS && pool == pool->device->default_pool)
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS)
        cx_emu_pool_destroy(pool);
    pthread_mutex_unlock(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_mem_pool_trim_to(CUmemoryPool handle, size_t bytes)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    cx_emu_pool *pool;
    pthread_mutex_lock(&cx_emu_lock);
    result = cx_emu_pool_find(handle, &pool);
    if (result == CXU_SUCCESS)
        cx_emu_pool_trim(pool, bytes);
    pthread_mutex_unlock(&cx_emu_lock);
    return result;
}

/* ---- attributes ---- */

static bool is_switch(cxu_mem_pool_attribute attribute)
{
    return attribute >= CXU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
           attribute <= CXU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

/* The switches are ints, the others 64-bit numbers. */
static size_t value_bytes(cxu_mem_pool_attribute attribute)
{
    if (is_switch(attribute))
        return sizeof(int);
    return attribute >= CXU_MEMPOOL_ATTR_RELEASE_THRESHOLD &&
                   attribute <= CXU_MEMPOOL_ATTR_USED_MEM_HIGH
               ? sizeof(uint64_t)
               : 0;
}

typedef union pool_value {
    int number;
    uint64_t wide;
} pool_value;

/* Peaks may only be set to 0, which restarts them; current values cannot be set. */
static cxu_result set_value(cx_emu_pool *pool, cxu_mem_pool_attribute attribute, pool_value value)
{
    switch (attribute) {
    case CXU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        pool->release_threshold = value.wide;
        cx_emu_pool_trim(pool, value.wide);
        return CXU_SUCCESS;
    case CXU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CXU_MEMPOOL_ATTR_USED_MEM_HIGH:
        if (value.wide != 0)
            return CXU_INVALID_VALUE;
        if (attribute == CXU_MEMPOOL_ATTR_USED_MEM_HIGH)
            pool->used_high = pool->used_bytes;
        else
            pool->reserved_high = cx_emu_pool_reserved(pool);
        return CXU_SUCCESS;
    case CXU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    case CXU_MEMPOOL_ATTR_USED_MEM_CURRENT:
        return CXU_INVALID_VALUE;
    default:
        pool->settings[attribute - CXU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES] =
            value.number != 0;
        return CXU_SUCCESS;
    }
}

static pool_value get_value(const cx_emu_pool *pool, cxu_mem_pool_attribute attribute)
{
    switch (attribute) {
    case CXU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        return (pool_value){.wide = pool->release_threshold};
    case CXU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
        return (pool_value){.wide = cx_emu_pool_reserved(pool)};
    case CXU_MEMPOOL_ATTR_USED_MEM_CURRENT:
        return (pool_value){.wide = pool->used_bytes};
    case CXU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
        return (pool_value){.wide = pool->reserved_high};
    case CXU_MEMPOOL_ATTR_USED_MEM_HIGH:
        return (pool_value){.wide = pool->used_high};
    default:
        return (pool_value){
            .number = pool->settings[attribute - CXU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES]};
    }
}

cxu_result cx_emu_call_mem_pool_set_attribute(CUmemoryPool handle, cxu_mem_pool_attribute attribute,
                                              void *value)
{
    pool_value given = {.wide = 0};
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (value == NULL || value_bytes(attribute) == 0)
        return CXU_INVALID_VALUE;
    memcpy(&given, value, value_bytes(attribute));
    cx_emu_pool *pool;
    pthread_mutex_lock(&cx_emu_lock);
    result = cx_emu_pool_find(handle, &pool);
    if (result == CXU_SUCCESS)
        result = cx_emu_capture_check_unsafe();
    if (result == CXU_SUCCESS)
        result = set_value(pool, attribute, given);
    pthread_mutex_unlock(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_mem_pool_get_attribute(CUmemoryPool handle, cxu_mem_pool_attribute attribute,
                                              void *out_value)
{
    pool_value found = {.wide = 0};
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_value == NULL || value_bytes(attribute) == 0)
        return CXU_INVALID_VALUE;
    cx_emu_pool *pool;
    pthread_mutex_lock(&cx_emu_lock);
    result = cx_emu_pool_find(handle, &pool);
    if (result == CXU_SUCCESS)
        result = cx_emu_capture_check_unsafe();
    if (result == CXU_SUCCESS)
        found = get_value(pool, attribute);
    pthread_mutex_unlock(&cx_emu_lock);
    if (result == CXU_SUCCESS)
        memcpy(out_value, &found, value_bytes(attribute));
    return result;
}

/* ---- access ---- */

static cxu_result check_location(const cxu_mem_location *location)
{
    if (location->type != CXU_MEM_LOCATION_TYPE_DEVICE)
        return CXU_INVALID_VALUE;
    return cx_emu_device_find(location->id) != NULL ? CXU_SUCCESS : CXU_INVALID_DEVICE;
}

/* A pool's own device always has access, others if they are peers. */
static cxu_result check_access(const cx_emu_pool *pool, const cxu_mem_access *access)
{
    cxu_result result = check_location(&access->location);
    if (result != CXU_SUCCESS)
        return result;
    const cx_emu_device *device = cx_emu_device_find(access->location.id);
    if (access->flags != CXU_MEM_ACCESS_FLAGS_PROT_NONE &&
        access->flags != CXU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return CXU_INVALID_VALUE;
    if (device == pool->device)
        return access->flags == CXU_MEM_ACCESS_FLAGS_PROT_NONE ? CXU_INVALID_VALUE : CXU_SUCCESS;
    return cx_emu_device_peer(device, pool->device) ? CXU_SUCCESS : CXU_INVALID_DEVICE;
}

static cxu_result set_access(cx_emu_pool *pool, const cxu_mem_access *accesses, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cxu_result result = check_access(pool, &accesses[i]);
        if (result != CXU_SUCCESS)
            return result;
    }
    for (size_t i = 0; i < count; i++)
        pool->access[accesses[i].location.id] = (unsigned char)accesses[i].flags;
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_mem_pool_set_access(CUmemoryPool handle, const cxu_mem_access *accesses,
                                           size_t count)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (accesses == NULL || count == 0)
        return CXU_INVALID_VALUE;
    cx_emu_pool *pool;
    pthread_mutex_lock(&cx_emu_lock);
    result = cx_emu_pool_find(handle, &pool);
    if (result == CXU_SUCCESS)
        result = set_access(pool, accesses, count);
    pthread_mutex_unlock(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_mem_pool_get_access(cxu_mem_access_flags *out_flags, CUmemoryPool handle,
                                           cxu_mem_location *location)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_flags == NULL || location == NULL)
        return CXU_INVALID_VALUE;
    if (check_location(location) != CXU_SUCCESS)
        return CXU_INVALID_VALUE;
    cx_emu_pool *pool;
    pthread_mutex_lock(&cx_emu_lock);
    result = cx_emu_pool_find(handle, &pool);
    if (result == CXU_SUCCESS)
        *out_flags =
            (cxu_mem_access_flags)cx_emu_pool_access(pool, cx_emu_device_find(location->id));
    pthread_mutex_unlock(&cx_emu_lock);
    return result;
}
