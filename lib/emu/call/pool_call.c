/* Calls on memory pools (T14, T15, T18). */
#include "emu/graph/capture.h"
#include "emu/memory/pool.h"
#include "emu/base/state.h"
#include "emu/device/sticky.h"
#include "emu/report/not_supported.h"

#include <string.h>

/* ---- the pools of a place ---- */

typedef cxu_result (*pool_of)(cx_emu_pool_place *place, cx_emu_pool **out_pool);

/* `device`: the one that must not be lost, or NULL. */
static cxu_result get_pool(CUmemoryPool *out_pool, cx_emu_pool_place *place,
                           const cx_emu_device *device, pool_of find)
{
    cx_emu_pool *pool;
    cxu_result result = CXU_SUCCESS;

    cx_lock_enter(&cx_emu_lock);
    if (device != NULL)
        result = cx_emu_device_error(device);
    if (result == CXU_SUCCESS)
        result = find(place, &pool);
    if (result == CXU_SUCCESS)
        *out_pool = cx_emu_pool_handle(pool);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

static cxu_result get_pool_of_device(CUmemoryPool *out_pool, CUdevice ordinal, pool_of find)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_pool == NULL)
        return CXU_INVALID_VALUE;
    const cx_emu_device *device = cx_emu_device_find(ordinal);
    if (device == NULL)
        return CXU_INVALID_DEVICE;
    return get_pool(out_pool, cx_emu_pool_place_of_device(device), device, find);
}

cxu_result cx_emu_call_device_get_default_mem_pool(CUmemoryPool *out_pool, CUdevice device)
{
    return get_pool_of_device(out_pool, device, cx_emu_pool_default);
}

cxu_result cx_emu_call_device_get_mem_pool(CUmemoryPool *out_pool, CUdevice device)
{
    return get_pool_of_device(out_pool, device, cx_emu_pool_current);
}

/* An imported pool cannot be a current one. */
static bool of_place(const cx_emu_pool *pool, cxu_mem_allocation_type type,
                     const cxu_mem_location *location)
{
    return !pool->imported && pool->properties.type == type &&
           pool->properties.location.type == location->type &&
           (location->type == CXU_MEM_LOCATION_TYPE_HOST ||
            location->type == CXU_MEM_LOCATION_TYPE_INVALID ||
            pool->properties.location.id == location->id);
}

/* A pool of the NUMA node can be a device's current one, as its own pools can. */
static bool suits_device(const cx_emu_pool *pool, const cx_emu_device *device)
{
    const cxu_mem_location node = {CXU_MEM_LOCATION_TYPE_HOST_NUMA, 0};

    return (pool->device == device && !pool->imported) ||
           of_place(pool, CXU_MEM_ALLOCATION_TYPE_PINNED, &node);
}

cxu_result cx_emu_call_device_set_mem_pool(CUdevice ordinal, CUmemoryPool handle)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    const cx_emu_device *device = cx_emu_device_find(ordinal);
    if (device == NULL)
        return CXU_INVALID_DEVICE;
    cx_emu_pool *pool;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_pool_find(handle, &pool);
    if (result == CXU_SUCCESS && !suits_device(pool, device))
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS)
        cx_emu_pool_make_current(cx_emu_pool_place_of_device(device), pool);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* ---- by location, since CUDA 13.0 ---- */

static cxu_result find_place(const char *call, const cxu_mem_location *location,
                             cxu_mem_allocation_type type, cx_emu_pool_place **out_place)
{
    *out_place = location != NULL ? cx_emu_pool_place_find(type, location) : NULL;
    if (*out_place == NULL)
        return CXU_INVALID_VALUE;
    if (type == CXU_MEM_ALLOCATION_TYPE_MANAGED && !cx_emu_managed_access_is_concurrent())
        return cx_emu_not_supported(call, "managed memory without concurrent access");
    return CXU_SUCCESS;
}

static cxu_result get_pool_of_place(const char *call, CUmemoryPool *out_pool,
                                    const cxu_mem_location *location, cxu_mem_allocation_type type,
                                    pool_of find)
{
    cx_emu_pool_place *place;
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_pool == NULL)
        return CXU_INVALID_VALUE;
    result = find_place(call, location, type, &place);
    if (result != CXU_SUCCESS)
        return result;
    return get_pool(out_pool, place,
                    location->type == CXU_MEM_LOCATION_TYPE_DEVICE
                        ? cx_emu_device_find(location->id)
                        : NULL,
                    find);
}

cxu_result cx_emu_call_mem_get_default_mem_pool(CUmemoryPool *out_pool, cxu_mem_location *location,
                                                cxu_mem_allocation_type type)
{
    return get_pool_of_place("cuMemGetDefaultMemPool", out_pool, location, type,
                             cx_emu_pool_default);
}

cxu_result cx_emu_call_mem_get_mem_pool(CUmemoryPool *out_pool, cxu_mem_location *location,
                                        cxu_mem_allocation_type type)
{
    return get_pool_of_place("cuMemGetMemPool", out_pool, location, type, cx_emu_pool_current);
}

cxu_result cx_emu_call_mem_set_mem_pool(cxu_mem_location *location, cxu_mem_allocation_type type,
                                        CUmemoryPool handle)
{
    cx_emu_pool_place *place;
    cx_emu_pool *pool;
    cxu_result result = cx_emu_enter();
    if (result == CXU_SUCCESS)
        result = find_place("cuMemSetMemPool", location, type, &place);
    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_pool_find(handle, &pool);
    if (result == CXU_SUCCESS && !of_place(pool, type, location))
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS)
        cx_emu_pool_make_current(place, pool);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* ---- making and destroying ---- */

/* Pools of the host as a whole and of managed memory stay in their process. */
static cxu_result check_handle_types(const cxu_mem_pool_properties *properties)
{
    const cxu_mem_location *location = &properties->location;
    int types = 0;

    if (properties->handle_types == CXU_MEM_HANDLE_TYPE_NONE)
        return CXU_SUCCESS;
    if (properties->type == CXU_MEM_ALLOCATION_TYPE_MANAGED ||
        location->type == CXU_MEM_LOCATION_TYPE_HOST ||
        (unsigned int)properties->handle_types >= 2 * CXU_MEM_HANDLE_TYPE_FABRIC)
        return CXU_INVALID_VALUE;
    if (properties->handle_types != CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return cx_emu_not_supported("cuMemPoolCreate",
                                    "a handle type other than a file descriptor");
    if (location->type != CXU_MEM_LOCATION_TYPE_DEVICE)
        return CXU_SUCCESS;
    cx_emu_attribute(cx_emu_device_find(location->id),
                     CXU_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES, &types);
    return (types & (int)properties->handle_types) != 0 ? CXU_SUCCESS : CXU_INVALID_VALUE;
}

static cxu_result check_properties(const cxu_mem_pool_properties *properties)
{
    if (cx_emu_pool_place_find(properties->type, &properties->location) == NULL)
        return CXU_INVALID_VALUE;
    cxu_result result = check_handle_types(properties);
    if (result == CXU_SUCCESS && properties->usage != 0)
        return cx_emu_not_supported("cuMemPoolCreate", "a pool for decompression by hardware");
    return result;
}

static cxu_result create_pool(const cxu_mem_pool_properties *properties, cx_emu_pool **out_pool)
{
    cxu_result result = CXU_SUCCESS;

    if (properties->location.type == CXU_MEM_LOCATION_TYPE_DEVICE)
        result = cx_emu_device_error(cx_emu_device_find(properties->location.id));
    return result == CXU_SUCCESS ? cx_emu_pool_create(properties, out_pool) : result;
}

cxu_result cx_emu_call_mem_pool_create(CUmemoryPool *out_pool,
                                       const cxu_mem_pool_properties *properties)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_pool == NULL || properties == NULL)
        return CXU_INVALID_VALUE;
    result = check_properties(properties);
    if (result != CXU_SUCCESS)
        return result;
    cx_emu_pool *pool;
    cx_lock_enter(&cx_emu_lock);
    result = create_pool(properties, &pool);
    if (result == CXU_SUCCESS)
        *out_pool = cx_emu_pool_handle(pool);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_mem_pool_destroy(CUmemoryPool handle)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    cx_emu_pool *pool;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_pool_find(handle, &pool);
    if (result == CXU_SUCCESS && pool->is_default)
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS)
        cx_emu_pool_destroy(pool);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_mem_pool_trim_to(CUmemoryPool handle, size_t bytes)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    cx_emu_pool *pool;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_pool_find(handle, &pool);
    if (result == CXU_SUCCESS)
        cx_emu_pool_trim(pool, bytes);
    cx_lock_leave(&cx_emu_lock);
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
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_pool_find(handle, &pool);
    if (result == CXU_SUCCESS)
        result = cx_emu_capture_check_unsafe();
    if (result == CXU_SUCCESS)
        result = set_value(pool, attribute, given);
    cx_lock_leave(&cx_emu_lock);
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
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_pool_find(handle, &pool);
    if (result == CXU_SUCCESS)
        result = cx_emu_capture_check_unsafe();
    if (result == CXU_SUCCESS)
        found = get_value(pool, attribute);
    cx_lock_leave(&cx_emu_lock);
    if (result == CXU_SUCCESS)
        memcpy(out_value, &found, value_bytes(attribute));
    return result;
}

/* ---- access ---- */

static bool is_host(const cxu_mem_location *location)
{
    return location->type == CXU_MEM_LOCATION_TYPE_HOST ||
           (location->type == CXU_MEM_LOCATION_TYPE_HOST_NUMA && location->id == 0);
}

/* Access that is always there cannot be taken away: a device's to its own pools, the host's to its
 * memory, and all to managed memory. */
static cxu_result check_fixed(const cxu_mem_access *access, cxu_result refused)
{
    return access->flags == CXU_MEM_ACCESS_FLAGS_PROT_NONE ? refused : CXU_SUCCESS;
}

static cxu_result check_access(const cx_emu_pool *pool, const cxu_mem_access *access)
{
    const cx_emu_device *device;

    if (access->flags != CXU_MEM_ACCESS_FLAGS_PROT_NONE &&
        access->flags != CXU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return CXU_INVALID_VALUE;
    if (is_host(&access->location))
        return pool->device != NULL ? CXU_INVALID_VALUE : check_fixed(access, CXU_INVALID_VALUE);
    if (access->location.type != CXU_MEM_LOCATION_TYPE_DEVICE)
        return CXU_INVALID_VALUE;
    device = cx_emu_device_find(access->location.id);
    if (device == NULL)
        return CXU_INVALID_DEVICE;
    if (device == pool->device)
        return check_fixed(access, CXU_INVALID_DEVICE);
    if (cx_emu_pool_managed(pool))
        return check_fixed(access, CXU_INVALID_VALUE);
    return pool->device == NULL || cx_emu_device_peer(device, pool->device) ? CXU_SUCCESS
                                                                             : CXU_INVALID_DEVICE;
}

static cxu_result set_access(cx_emu_pool *pool, const cxu_mem_access *accesses, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cxu_result result = check_access(pool, &accesses[i]);
        if (result != CXU_SUCCESS)
            return result;
    }
    cx_emu_changes++;
    for (size_t i = 0; i < count; i++)
        if (!is_host(&accesses[i].location))
            pool->access[accesses[i].location.id] = (unsigned char)accesses[i].flags;
    return CXU_SUCCESS;
}

static unsigned int access_of(const cx_emu_pool *pool, const cxu_mem_location *location)
{
    return is_host(location) ? cx_emu_pool_host_access(pool)
                             : cx_emu_pool_access(pool, cx_emu_device_find(location->id));
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
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_pool_find(handle, &pool);
    if (result == CXU_SUCCESS)
        result = set_access(pool, accesses, count);
    cx_lock_leave(&cx_emu_lock);
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
    if (!is_host(location) && (location->type != CXU_MEM_LOCATION_TYPE_DEVICE ||
                               cx_emu_device_find(location->id) == NULL))
        return CXU_INVALID_VALUE;
    cx_emu_pool *pool;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_pool_find(handle, &pool);
    if (result == CXU_SUCCESS)
        *out_flags = (cxu_mem_access_flags)access_of(pool, location);
    cx_lock_leave(&cx_emu_lock);
    return result;
}
