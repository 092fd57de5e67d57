#include "memory/mapped_range.h"

#include <stdlib.h>

static cxu_mem_properties properties_of(const cx_mapped_range *range)
{
    return (cxu_mem_properties){.type = CXU_MEM_ALLOCATION_TYPE_PINNED,
                                .handle_types = range->exportable
                                                    ? CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
                                                    : CXU_MEM_HANDLE_TYPE_NONE,
                                .location = {CXU_MEM_LOCATION_TYPE_DEVICE, range->device}};
}

/* The first and last chunk of a part, which is not empty. */
static size_t first_of(const cx_mapped_range *range, size_t offset)
{
    return offset / range->chunk_bytes;
}

static size_t end_of(const cx_mapped_range *range, size_t offset, size_t bytes)
{
    return (offset + bytes - 1) / range->chunk_bytes + 1;
}

static CUdeviceptr address_of(const cx_mapped_range *range, size_t chunk)
{
    return range->address + chunk * range->chunk_bytes;
}

static bool is_mapped(const cx_mapped_range *range, size_t chunk)
{
    return range->chunks[chunk].mapped;
}

static bool has_attribute(const cx_driver *driver, CUdevice device, cxu_device_attribute attribute)
{
    int value = 0;
    return driver->table.device_get_attribute(&value, attribute, device) == CXU_SUCCESS &&
           value != 0;
}

cxu_result cx_mapped_range_check(const cx_driver *driver, CUdevice device, size_t *out_step_bytes)
{
    size_t bytes;
    const cx_mapped_range range = {.device = device};
    cxu_mem_properties properties = properties_of(&range);
    if (!has_attribute(driver, device, CXU_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED))
        return CXU_NOT_SUPPORTED;
    cxu_result result = driver->table.mem_get_allocation_granularity(
        &bytes, &properties, CXU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
    if (result == CXU_SUCCESS && out_step_bytes != NULL)
        *out_step_bytes = bytes;
    return result;
}

cxu_result cx_mapped_range_open(cx_mapped_range *range, const cx_driver *driver, CUdevice device,
                                size_t bytes, size_t chunk_bytes)
{
    size_t step_bytes;
    CUdeviceptr address;
    cxu_result result = cx_mapped_range_check(driver, device, &step_bytes);
    if (result != CXU_SUCCESS)
        return result;
    chunk_bytes = chunk_bytes > step_bytes ? chunk_bytes - chunk_bytes % step_bytes : step_bytes;
    size_t count = bytes / chunk_bytes + (bytes % chunk_bytes != 0);
    cx_mapped_chunk *chunks = calloc(count, sizeof *chunks);
    if (chunks == NULL)
        return CXU_OUT_OF_MEMORY;
    result = driver->table.mem_address_reserve(&address, count * chunk_bytes, 0, 0, 0);
    if (result != CXU_SUCCESS) {
        free(chunks);
        return result;
    }
    *range = (cx_mapped_range){
        .driver = driver,
        .device = device,
        .address = (uintptr_t)address,
        .bytes = count * chunk_bytes,
        .chunk_bytes = chunk_bytes,
        .exportable = has_attribute(driver, device,
                                    CXU_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED),
        .chunks = chunks};
    return CXU_SUCCESS;
}

/* ---- memory ---- */

static void keep_spare(cx_mapped_range *range, CUmemGenericAllocationHandle handle)
{
    if (range->spare_count == range->spare_capacity) {
        size_t capacity = range->spare_capacity != 0 ? 2 * range->spare_capacity : 64;
        CUmemGenericAllocationHandle *grown = realloc(range->spare, capacity * sizeof *grown);
        if (grown == NULL) {
            (void)range->driver->table.mem_release(handle);
            return;
        }
        range->spare = grown;
        range->spare_capacity = capacity;
    }
    range->spare[range->spare_count++] = handle;
}

size_t cx_mapped_range_settle(cx_mapped_range *range)
{
    size_t bytes = range->spare_count * range->chunk_bytes;
    while (range->spare_count > 0)
        (void)range->driver->table.mem_release(range->spare[--range->spare_count]);
    return bytes;
}

/* A process may have fewer exportable allocations than others. */
static cxu_result get_memory(cx_mapped_range *range, CUmemGenericAllocationHandle *out_handle)
{
    const cx_driver_table *table = &range->driver->table;
    if (range->spare_count > 0) {
        *out_handle = range->spare[--range->spare_count];
        return CXU_SUCCESS;
    }
    cxu_mem_properties properties = properties_of(range);
    cxu_result result = table->mem_create(out_handle, range->chunk_bytes, &properties, 0);
    if (result == CXU_SUCCESS || !range->exportable)
        return result;
    properties.handle_types = CXU_MEM_HANDLE_TYPE_NONE;
    result = table->mem_create(out_handle, range->chunk_bytes, &properties, 0);
    range->exportable = result != CXU_SUCCESS;
    return result;
}

/* ---- mappings ---- */

static cxu_result map_chunk(cx_mapped_range *range, size_t chunk)
{
    CUmemGenericAllocationHandle handle;
    cxu_result result = get_memory(range, &handle);
    if (result != CXU_SUCCESS)
        return result;
    result =
        range->driver->table.mem_map(address_of(range, chunk), range->chunk_bytes, 0, handle, 0);
    if (result != CXU_SUCCESS) {
        keep_spare(range, handle);
        return result;
    }
    range->chunks[chunk] = (cx_mapped_chunk){handle, true};
    range->mapped_bytes += range->chunk_bytes;
    return CXU_SUCCESS;
}

/* Unmaps chunks that are all mapped. */
static void unmap_chunks(cx_mapped_range *range, size_t first, size_t end)
{
    (void)range->driver->table.mem_unmap(address_of(range, first),
                                         (end - first) * range->chunk_bytes);
    for (size_t chunk = first; chunk < end; chunk++) {
        keep_spare(range, range->chunks[chunk].handle);
        range->chunks[chunk] = (cx_mapped_chunk){0};
    }
    range->mapped_bytes -= (end - first) * range->chunk_bytes;
}

/* The end of the row of chunks that are mapped, or unmapped, like `chunk`. */
static size_t row_end(const cx_mapped_range *range, size_t chunk, size_t end)
{
    bool mapped = is_mapped(range, chunk);
    while (chunk < end && is_mapped(range, chunk) == mapped)
        chunk++;
    return chunk;
}

void cx_mapped_range_close(cx_mapped_range *range)
{
    size_t count = range->bytes / range->chunk_bytes;
    for (size_t chunk = 0, end; chunk < count; chunk = end) {
        end = row_end(range, chunk, count);
        if (is_mapped(range, chunk))
            unmap_chunks(range, chunk, end);
    }
    (void)cx_mapped_range_settle(range);
    (void)range->driver->table.mem_address_free(range->address, range->bytes);
    free(range->spare);
    free(range->chunks);
    range->spare = NULL;
    range->chunks = NULL;
}

size_t cx_mapped_range_lacks(const cx_mapped_range *range, size_t offset, size_t bytes)
{
    size_t lacking = 0;
    for (size_t chunk = first_of(range, offset); chunk < end_of(range, offset, bytes); chunk++)
        lacking += !is_mapped(range, chunk);
    return lacking * range->chunk_bytes;
}

/* ---- access ---- */

static cxu_result set_access(const cx_mapped_range *range, size_t first, size_t end,
                             CUdevice device, cxu_mem_access_flags flags)
{
    cxu_mem_access access = {{CXU_MEM_LOCATION_TYPE_DEVICE, device}, flags};
    return range->driver->table.mem_set_access(address_of(range, first),
                                               (end - first) * range->chunk_bytes, &access, 1);
}

/* Gives access to the device and to all that share the range. */
static cxu_result open_to_all(const cx_mapped_range *range, size_t first, size_t end)
{
    cxu_mem_access accesses[CX_MAPPED_RANGE_PEERS + 1];
    for (int i = 0; i <= range->peer_count; i++)
        accesses[i] = (cxu_mem_access){
            {CXU_MEM_LOCATION_TYPE_DEVICE, i == 0 ? range->device : range->peers[i - 1]},
            CXU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    return range->driver->table.mem_set_access(address_of(range, first),
                                               (end - first) * range->chunk_bytes, accesses,
                                               (size_t)range->peer_count + 1);
}

/* Sets the access of every row of mappings, up to the first error, or of all with `all`. */
static cxu_result set_access_everywhere(const cx_mapped_range *range, CUdevice device,
                                        cxu_mem_access_flags flags, bool all)
{
    size_t count = range->bytes / range->chunk_bytes;
    cxu_result first_error = CXU_SUCCESS;
    for (size_t chunk = 0, end; chunk < count; chunk = end) {
        end = row_end(range, chunk, count);
        if (!is_mapped(range, chunk))
            continue;
        cxu_result result = set_access(range, chunk, end, device, flags);
        if (first_error == CXU_SUCCESS)
            first_error = result;
        if (result != CXU_SUCCESS && !all)
            break;
    }
    return first_error;
}

static int find_peer(const cx_mapped_range *range, CUdevice peer)
{
    int i = 0;
    while (i < range->peer_count && range->peers[i] != peer)
        i++;
    return i;
}

cxu_result cx_mapped_range_share(cx_mapped_range *range, CUdevice peer)
{
    if (peer == range->device || find_peer(range, peer) != range->peer_count)
        return CXU_SUCCESS;
    if (range->peer_count == CX_MAPPED_RANGE_PEERS)
        return CXU_TOO_MANY_PEERS;
    cxu_result result =
        set_access_everywhere(range, peer, CXU_MEM_ACCESS_FLAGS_PROT_READWRITE, false);
    if (result == CXU_SUCCESS)
        range->peers[range->peer_count++] = peer;
    return result;
}

cxu_result cx_mapped_range_withdraw(cx_mapped_range *range, CUdevice peer)
{
    int i = find_peer(range, peer);
    if (i == range->peer_count)
        return CXU_SUCCESS;
    range->peers[i] = range->peers[--range->peer_count];
    return set_access_everywhere(range, peer, CXU_MEM_ACCESS_FLAGS_PROT_NONE, true);
}

/* ---- mapping ---- */

static cxu_result map_row(cx_mapped_range *range, size_t first, size_t end)
{
    size_t chunk = first;
    cxu_result result = CXU_SUCCESS;
    while (chunk < end && (result = map_chunk(range, chunk)) == CXU_SUCCESS)
        chunk++;
    if (result == CXU_SUCCESS)
        result = open_to_all(range, first, end);
    if (result != CXU_SUCCESS && chunk > first)
        unmap_chunks(range, first, chunk);
    return result;
}

/* Maps one row at a time: as many as a block touches. */
static cxu_result map_rows(cx_mapped_range *range, size_t chunk, size_t end)
{
    size_t first = chunk, next;
    while (first < end && is_mapped(range, first))
        first = row_end(range, first, end);
    if (first >= end)
        return CXU_SUCCESS;
    next = row_end(range, first, end);
    cxu_result result = map_row(range, first, next);
    if (result != CXU_SUCCESS)
        return result;
    result = map_rows(range, next, end);
    if (result != CXU_SUCCESS)
        unmap_chunks(range, first, next);
    return result;
}

cxu_result cx_mapped_range_map(cx_mapped_range *range, size_t offset, size_t bytes)
{
    return map_rows(range, first_of(range, offset), end_of(range, offset, bytes));
}

size_t cx_mapped_range_find(const cx_mapped_range *range, size_t offset, size_t bytes,
                            size_t wanted_bytes, size_t *out_offset)
{
    size_t chunk = (offset + range->chunk_bytes - 1) / range->chunk_bytes;
    size_t end = (offset + bytes) / range->chunk_bytes;
    while (chunk < end && !is_mapped(range, chunk))
        chunk++;
    size_t first = chunk;
    while (chunk < end && is_mapped(range, chunk) &&
           (chunk - first) * range->chunk_bytes < wanted_bytes)
        chunk++;
    *out_offset = first * range->chunk_bytes;
    return (chunk - first) * range->chunk_bytes;
}

void cx_mapped_range_unmap(cx_mapped_range *range, size_t offset, size_t bytes)
{
    unmap_chunks(range, first_of(range, offset), end_of(range, offset, bytes));
}
