#include "emu/memory/pool.h"

#include "emu/memory/allocation.h"
#include "emu/device/sticky.h"

static cx_emu_handles handles = {.slot_bytes = sizeof(cx_emu_pool)};
static size_t count; /* of the user's */
static cx_emu_pool *all;

struct cx_emu_pool_place {
    cx_emu_pool *fallback; /* the default pool */
    cx_emu_pool *current;
};

/* For pinned memory, then for managed memory: no place, the host, its NUMA node, and the devices by
 * ordinal. */
enum { NO_PLACE, HOST, NUMA_NODE, FIRST_DEVICE, PLACES = FIRST_DEVICE + CX_EMU_DEVICES_MAX };
static cx_emu_pool_place places[2 * PLACES];

static void close_pool(cx_emu_pool *pool)
{
    *(pool->previous != NULL ? &pool->previous->next : &all) = pool->next;
    if (pool->next != NULL)
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
    if (pool->device != NULL)
        pool->device->kept_bytes += bytes;
}

static void release(cx_emu_pool *pool, uint64_t bytes)
{
    pool->kept_bytes -= bytes;
    if (pool->device != NULL)
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
    for (cx_emu_pool *each = all; each != NULL; each = each->next)
        if (each->device == device)
            release(each, each->kept_bytes);
    return true;
}

/* ---- places ---- */

/* The index of a location, or -1: pools have no such place. */
static int place_index(const cxu_mem_location *location)
{
    switch (location->type) {
    case CXU_MEM_LOCATION_TYPE_INVALID:
        return NO_PLACE;
    case CXU_MEM_LOCATION_TYPE_HOST:
        return HOST;
    case CXU_MEM_LOCATION_TYPE_HOST_NUMA:
        return location->id == 0 ? NUMA_NODE : -1;
    case CXU_MEM_LOCATION_TYPE_DEVICE:
        return cx_emu_device_find(location->id) != NULL ? FIRST_DEVICE + location->id : -1;
    default:
        return -1;
    }
}

cx_emu_pool_place *cx_emu_pool_place_find(cxu_mem_allocation_type type,
                                          const cxu_mem_location *location)
{
    bool managed = type == CXU_MEM_ALLOCATION_TYPE_MANAGED;
    int index = place_index(location);

    if (index < 0 || (!managed && (index == NO_PLACE || type != CXU_MEM_ALLOCATION_TYPE_PINNED)))
        return NULL;
    return &places[managed ? PLACES + index : index];
}

/* The other way round: the properties of a place's default pool. */
static cxu_mem_pool_properties properties_of(const cx_emu_pool_place *place)
{
    int index = (int)(place - places) % PLACES;
    cxu_mem_pool_properties properties = {
        .type = place - places < PLACES ? CXU_MEM_ALLOCATION_TYPE_PINNED
                                        : CXU_MEM_ALLOCATION_TYPE_MANAGED,
    };

    if (index == HOST)
        properties.location.type = CXU_MEM_LOCATION_TYPE_HOST;
    else if (index == NUMA_NODE)
        properties.location.type = CXU_MEM_LOCATION_TYPE_HOST_NUMA;
    else if (index >= FIRST_DEVICE)
        properties.location =
            (cxu_mem_location){CXU_MEM_LOCATION_TYPE_DEVICE, index - FIRST_DEVICE};
    return properties;
}

cx_emu_pool_place *cx_emu_pool_place_of_device(const cx_emu_device *device)
{
    const cxu_mem_location location = {CXU_MEM_LOCATION_TYPE_DEVICE, device->ordinal};

    return cx_emu_pool_place_find(CXU_MEM_ALLOCATION_TYPE_PINNED, &location);
}

/* ---- making and destroying ---- */

static cxu_result open_pool(const cxu_mem_pool_properties *properties, cx_emu_pool **out_pool)
{
    cx_emu_pool *pool = cx_emu_handle_take(&handles);
    if (pool == NULL)
        return CXU_OUT_OF_MEMORY;
    pool->properties = *properties;
    for (int i = 0; i < CX_EMU_POOL_SETTINGS; i++)
        pool->settings[i] = 1;
    if (properties->type == CXU_MEM_ALLOCATION_TYPE_PINNED &&
        properties->location.type == CXU_MEM_LOCATION_TYPE_DEVICE) {
        pool->device = cx_emu_device_find(properties->location.id);
        pool->access[pool->device->ordinal] = CXU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    }
    pool->next = all;
    if (all != NULL)
        all->previous = pool;
    all = pool;
    *out_pool = pool;
    return CXU_SUCCESS;
}

cxu_result cx_emu_pool_create(const cxu_mem_pool_properties *properties, cx_emu_pool **out_pool)
{
    cxu_result result = open_pool(properties, out_pool);
    count += result == CXU_SUCCESS;
    return result;
}

cxu_result cx_emu_pool_default(cx_emu_pool_place *place, cx_emu_pool **out_pool)
{
    if (place->fallback == NULL) {
        const cxu_mem_pool_properties properties = properties_of(place);
        cxu_result result = open_pool(&properties, &place->fallback);
        if (result != CXU_SUCCESS)
            return result;
        place->fallback->is_default = true;
    }
    *out_pool = place->fallback;
    return CXU_SUCCESS;
}

cxu_result cx_emu_pool_current(cx_emu_pool_place *place, cx_emu_pool **out_pool)
{
    if (place->current == NULL)
        return cx_emu_pool_default(place, out_pool);
    *out_pool = place->current;
    return CXU_SUCCESS;
}

void cx_emu_pool_make_current(cx_emu_pool_place *place, cx_emu_pool *pool)
{
    place->current = pool;
}

cxu_result cx_emu_pool_find(CUmemoryPool handle, cx_emu_pool **out_pool)
{
    cx_emu_pool *pool = (cx_emu_pool *)(void *)handle;
    if (!cx_emu_handle_live(&handles, pool) || pool->destroyed)
        return CXU_INVALID_VALUE;
    *out_pool = pool;
    return pool->device != NULL ? cx_emu_device_error(pool->device) : CXU_SUCCESS;
}

static void forget_current(const cx_emu_pool *pool)
{
    for (int i = 0; i < 2 * PLACES; i++)
        if (places[i].current == pool)
            places[i].current = NULL;
}

void cx_emu_pool_destroy(cx_emu_pool *pool)
{
    forget_current(pool);
    pool->destroyed = true;
    cx_emu_pool_trim(pool, 0);
    count--;
    dispose_unused(pool);
}

static void close_default(cx_emu_pool_place *place)
{
    if (place->fallback != NULL)
        close_pool(place->fallback);
    place->fallback = place->current = NULL;
}

void cx_emu_pools_close_default(void)
{
    for (int i = 0; i < 2 * PLACES; i++)
        close_default(&places[i]);
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
    size_t limit = pool->properties.max_bytes;

    return limit == 0 || (pool->used_bytes <= limit && bytes <= limit - pool->used_bytes);
}

static void prefer(cx_emu_mem_advice *advice, const void *location)
{
    advice->preferred = *(const cxu_mem_location *)location;
}

static cxu_result create_memory(const cx_emu_pool *pool, cx_emu_device *device, size_t bytes,
                                cx_emu_allocation **out_allocation)
{
    const cxu_mem_location *location = &pool->properties.location;
    cxu_result result;

    if (pool->device != NULL) {
        result = cx_emu_allocation_create(pool->device, NULL, CX_EMU_MEMORY_ASYNC, bytes, 0,
                                          out_allocation);
        if (result == CXU_SUCCESS)
            cx_emu_allocation_note_writes(*out_allocation);
        return result;
    }
    if (!cx_emu_pool_managed(pool))
        return cx_emu_allocation_create(
            device, NULL, CX_EMU_MEMORY_PINNED, bytes,
            pool->properties.handle_types != CXU_MEM_HANDLE_TYPE_NONE ? CX_EMU_SHAREABLE : 0,
            out_allocation);
    if (location->type == CXU_MEM_LOCATION_TYPE_DEVICE)
        device = cx_emu_device_find(location->id);
    result = cx_emu_allocation_create(device, NULL, CX_EMU_MEMORY_MANAGED, bytes,
                                      CXU_MEM_ATTACH_GLOBAL, out_allocation);
    if (result != CXU_SUCCESS || location->type == CXU_MEM_LOCATION_TYPE_INVALID)
        return result;
    result = cx_emu_mem_advices_split(&(*out_allocation)->advices, bytes, 0, bytes);
    if (result == CXU_SUCCESS)
        cx_emu_mem_advices_change(&(*out_allocation)->advices, 0, bytes, prefer, location);
    else
        cx_emu_allocation_free(*out_allocation);
    return result;
}

cxu_result cx_emu_pool_allocate(cx_emu_pool *pool, cx_emu_device *device, size_t bytes,
                                CUdeviceptr *out_pointer)
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
    cxu_result result = create_memory(pool, device, bytes, &allocation);
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

void cx_emu_pool_adopt(cx_emu_pool *pool, cx_emu_allocation *allocation)
{
    pool->allocations++;
    take(pool, allocation);
}

/* Memory that was imported is the other process's. */
void cx_emu_pool_give(cx_emu_pool *pool, size_t bytes)
{
    pool->used_bytes -= bytes;
    pool->allocations--;
    if (!pool->destroyed && !pool->imported) {
        keep(pool, bytes);
        cx_emu_pool_trim(pool, pool->release_threshold);
    }
    dispose_unused(pool);
}
