#include "memory/mapped_range.h"

#include <stdlib.h>

static cxu_mem_properties properties_of(CUdevice device)
{
    return (cxu_mem_properties){.type = CXU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {CXU_MEM_LOCATION_TYPE_DEVICE, device}};
}

/* The chunks of a part, which is not empty. */
static size_t first_of(const cx_mapped_range *range, size_t offset)
{
    return offset / range->chunk_bytes;
}

static size_t behind(const cx_mapped_range *range, size_t offset, size_t bytes)
{
    return (offset + bytes - 1) / range->chunk_bytes + 1;
}

static CUdeviceptr address_of(const cx_mapped_range *range, size_t chunk)
{
    return range->address + chunk * range->chunk_bytes;
}

static cxu_result granularity(const cx_driver *driver, CUdevice device, size_t *out_bytes)
{
    int supported = 0;
    cxu_mem_properties properties = properties_of(device);
    cxu_result result = driver->table.device_get_attribute(
        &supported, CXU_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED, device);
    if (result != CXU_SUCCESS || !supported)
        return CXU_NOT_SUPPORTED;
    return driver->table.mem_get_allocation_granularity(out_bytes, &properties,
                                                        CXU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
}

cxu_result cx_mapped_range_open(cx_mapped_range *range, const cx_driver *driver, CUdevice device, size_t bytes)
{
    size_t chunk_bytes;
    CUdeviceptr address;
    cxu_result result = granularity(driver, device, &chunk_bytes);
    if (result != CXU_SUCCESS)
        return result;
    size_t count = bytes / chunk_bytes + (bytes % chunk_bytes != 0);
    cx_mapped_chunk *chunks = calloc(count, sizeof *chunks);
    if (chunks == NULL)
        return CXU_OUT_OF_MEMORY;
    result = driver->table.mem_address_reserve(&address, count * chunk_bytes, chunk_bytes, 0, 0);
    if (result != CXU_SUCCESS) {
        free(chunks);
        return result;
    }
    *range = (cx_mapped_range){.driver = driver,
                               .device = device,
                               .address = (uintptr_t)address,
                               .bytes = count * chunk_bytes,
                               .chunk_bytes = chunk_bytes,
                               .chunks = chunks};
    return CXU_SUCCESS;
}

static void drop_chunk(cx_mapped_range *range, size_t chunk)
{
    const cx_driver_table *table = &range->driver->table;
    (void)table->mem_unmap(address_of(range, chunk), range->chunk_bytes);
    (void)table->mem_release(range->chunks[chunk].handle);
    range->chunks[chunk] = (cx_mapped_chunk){0};
    range->mapped_bytes -= range->chunk_bytes;
}

static cxu_result add_chunk(cx_mapped_range *range, size_t chunk)
{
    const cx_driver_table *table = &range->driver->table;
    CUmemGenericAllocationHandle handle;
    cxu_mem_properties properties = properties_of(range->device);
    cxu_result result = table->mem_create(&handle, range->chunk_bytes, &properties, 0);
    if (result != CXU_SUCCESS)
        return result;
    result = table->mem_map(address_of(range, chunk), range->chunk_bytes, 0, handle, 0);
    if (result != CXU_SUCCESS) {
        (void)table->mem_release(handle);
        return result;
    }
    range->chunks[chunk] = (cx_mapped_chunk){handle, true};
    range->mapped_bytes += range->chunk_bytes;
    return CXU_SUCCESS;
}

void cx_mapped_range_close(cx_mapped_range *range)
{
    for (size_t chunk = 0; chunk < range->bytes / range->chunk_bytes; chunk++)
        if (range->chunks[chunk].handle != 0)
            drop_chunk(range, chunk);
    (void)range->driver->table.mem_address_free(range->address, range->bytes);
    free(range->chunks);
    range->chunks = NULL;
}

size_t cx_mapped_range_lacks(const cx_mapped_range *range, size_t offset, size_t bytes)
{
    size_t lacking = 0;
    for (size_t chunk = first_of(range, offset); chunk < behind(range, offset, bytes); chunk++)
        lacking += range->chunks[chunk].handle == 0;
    return lacking * range->chunk_bytes;
}

bool cx_mapped_range_has(const cx_mapped_range *range, size_t offset, size_t bytes)
{
    return cx_mapped_range_lacks(range, offset, bytes) == 0;
}

static cxu_result open_to(const cx_mapped_range *range, size_t first, size_t end, CUdevice device)
{
    cxu_mem_access access = {{CXU_MEM_LOCATION_TYPE_DEVICE, device}, CXU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    return range->driver->table.mem_set_access(address_of(range, first), (end - first) * range->chunk_bytes, &access, 1);
}

/* For the device, and all that share it. */
static cxu_result open_to_all(const cx_mapped_range *range, size_t first, size_t end)
{
    cxu_mem_access accesses[CX_MAPPED_RANGE_PEERS + 1];
    for (int i = 0; i <= range->peer_count; i++)
        accesses[i] = (cxu_mem_access){
            {CXU_MEM_LOCATION_TYPE_DEVICE, i == 0 ? range->device : range->peers[i - 1]},
            CXU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    return range->driver->table.mem_set_access(address_of(range, first), (end - first) * range->chunk_bytes,
                                               accesses, (size_t)range->peer_count + 1);
}

/* The end of the row of chunks that are mapped, or are not, as `chunk` is. */
static size_t row_end(const cx_mapped_range *range, size_t chunk, size_t end)
{
    bool mapped = range->chunks[chunk].handle != 0;
    while (chunk < end && (range->chunks[chunk].handle != 0) == mapped)
        chunk++;
    return chunk;
}

static cxu_result map_row(cx_mapped_range *range, size_t first, size_t end)
{
    for (size_t chunk = first; chunk < end; chunk++) {
        cxu_result result = add_chunk(range, chunk);
        if (result != CXU_SUCCESS)
            return result;
    }
    return open_to_all(range, first, end);
}

/* What was mapped just now stays, or goes again. */
static void settle(cx_mapped_range *range, size_t first, size_t end, bool stays)
{
    for (size_t chunk = first; chunk < end; chunk++) {
        if (range->chunks[chunk].fresh && !stays)
            drop_chunk(range, chunk);
        range->chunks[chunk].fresh = false;
    }
}

cxu_result cx_mapped_range_map(cx_mapped_range *range, size_t offset, size_t bytes)
{
    size_t first = first_of(range, offset), end = behind(range, offset, bytes), next;
    cxu_result result = CXU_SUCCESS;
    for (size_t chunk = first; chunk < end && result == CXU_SUCCESS; chunk = next) {
        next = row_end(range, chunk, end);
        if (range->chunks[chunk].handle == 0)
            result = map_row(range, chunk, next);
    }
    settle(range, first, end, result == CXU_SUCCESS);
    return result;
}

size_t cx_mapped_range_unmap(cx_mapped_range *range, size_t offset, size_t bytes, size_t wanted_bytes)
{
    size_t unmapped = 0;
    size_t end = (offset + bytes) / range->chunk_bytes;
    for (size_t chunk = (offset + range->chunk_bytes - 1) / range->chunk_bytes; chunk < end && unmapped < wanted_bytes;
         chunk++) {
        if (range->chunks[chunk].handle == 0)
            continue;
        drop_chunk(range, chunk);
        unmapped += range->chunk_bytes;
    }
    return unmapped;
}

static bool shares(const cx_mapped_range *range, CUdevice peer)
{
    for (int i = 0; i < range->peer_count; i++)
        if (range->peers[i] == peer)
            return true;
    return peer == range->device;
}

cxu_result cx_mapped_range_share(cx_mapped_range *range, CUdevice peer)
{
    size_t count = range->bytes / range->chunk_bytes;
    if (shares(range, peer))
        return CXU_SUCCESS;
    if (range->peer_count == CX_MAPPED_RANGE_PEERS)
        return CXU_TOO_MANY_PEERS;
    for (size_t chunk = 0; chunk < count; chunk = row_end(range, chunk, count)) {
        if (range->chunks[chunk].handle == 0)
            continue;
        cxu_result result = open_to(range, chunk, row_end(range, chunk, count), peer);
        if (result != CXU_SUCCESS)
            return result;
    }
    range->peers[range->peer_count++] = peer;
    return CXU_SUCCESS;
}
