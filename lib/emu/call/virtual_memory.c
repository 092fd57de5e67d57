/* Address ranges, memory without an address, and the mappings between them (V1 to V6). */
#include "emu/base/refusal.h"
#include "emu/memory/mapping.h"
#include "emu/base/state.h"
#include "emu/device/sticky.h"
#include "emu/report/not_supported.h"

#include <unistd.h>

static bool is_granular(uint64_t value)
{
    return value % CX_EMU_MEMORY_GRANULARITY == 0;
}

/* True if the end of the range does not wrap around. */
static bool range_valid(CUdeviceptr pointer, size_t bytes)
{
    CUdeviceptr end;
    return bytes > 0 && !__builtin_add_overflow(pointer, bytes, &end);
}

/* ---- address ranges ---- */

static bool reserve_valid(size_t bytes, size_t alignment_bytes, CUdeviceptr hint)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    return bytes > 0 && is_granular(bytes) && hint % page_bytes == 0 &&
           (alignment_bytes & (alignment_bytes - 1)) == 0;
}

cxu_result cx_emu_call_mem_address_reserve(CUdeviceptr *out_pointer, size_t bytes,
                                           size_t alignment_bytes, CUdeviceptr hint,
                                           unsigned long long flags)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_pointer == NULL || flags != 0 || !reserve_valid(bytes, alignment_bytes, hint))
        return cx_emu_refuse_numbers(CXU_INVALID_VALUE,
                                     "the size has to be a multiple of # bytes, and the alignment "
                                     "a power of two",
                                     CX_EMU_MEMORY_GRANULARITY, 0);
    if (alignment_bytes < CX_EMU_MEMORY_GRANULARITY)
        alignment_bytes = CX_EMU_MEMORY_GRANULARITY;
    cx_emu_reservation *reservation;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_reservation_create(bytes, alignment_bytes, (uintptr_t)hint,
                                       cx_emu_configuration()->host_access, &reservation);
    if (result == CXU_SUCCESS) {
        cx_emu_allocation_evict_stale(reservation->address, bytes);
        *out_pointer = reservation->address;
    }
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_mem_address_free(CUdeviceptr pointer, size_t bytes)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (!range_valid(pointer, bytes))
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    cx_emu_reservation *reservation = cx_emu_reservation_find((uintptr_t)pointer, bytes);
    if (reservation == NULL || reservation->address != pointer || reservation->bytes != bytes ||
        cx_emu_allocation_overlapping((uintptr_t)pointer, bytes) != NULL)
        result = cx_emu_refuse(CXU_INVALID_VALUE,
                               reservation != NULL && reservation->address == pointer &&
                                       reservation->bytes == bytes
                                   ? "memory is still mapped in the range"
                                   : "the range is not one that cuMemAddressReserve gave");
    else
        cx_emu_reservation_destroy(reservation);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* ---- memory ---- */

/* Finds the GPU that a location names. */
static cxu_result find_gpu(const char *call, const cxu_mem_location *location,
                           cx_emu_device **out_device)
{
    if (location->type < CXU_MEM_LOCATION_TYPE_DEVICE ||
        location->type > CXU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT)
        return CXU_INVALID_VALUE;
    if (location->type != CXU_MEM_LOCATION_TYPE_DEVICE)
        return cx_emu_not_supported(call, "memory of the host");
    cx_emu_device *device = cx_emu_device_find(location->id);
    if (device == NULL)
        return CXU_INVALID_VALUE;
    if (device->host)
        return cx_emu_not_supported(call, "the host device");
    *out_device = device;
    return CXU_SUCCESS;
}

static cxu_result check_properties(const char *call, const cxu_mem_properties *properties,
                                   cx_emu_device **out_device)
{
    unsigned int types = (unsigned int)properties->handle_types;
    const unsigned int windows = CXU_MEM_HANDLE_TYPE_WIN32 | CXU_MEM_HANDLE_TYPE_WIN32_KMT;
    if (properties->type != CXU_MEM_ALLOCATION_TYPE_PINNED || (types & windows) != 0)
        return CXU_INVALID_VALUE;
    if ((types & CXU_MEM_HANDLE_TYPE_FABRIC) != 0)
        return cx_emu_not_supported(call, "a handle type other than a file descriptor");
    if (properties->flags.gpu_direct_rdma != 0 || properties->flags.usage != 0)
        return cx_emu_not_supported(call, "memory for other devices or for sparse arrays");
    return find_gpu(call, &properties->location, out_device);
}

/* The properties that were granted: not compression, a hint, nor handle types that are none. */
static cxu_mem_properties granted_properties(const cxu_mem_properties *wanted)
{
    unsigned int types = (unsigned int)wanted->handle_types;
    types &= CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return (cxu_mem_properties){.type = wanted->type,
                                .handle_types = (cxu_mem_handle_type)types,
                                .location = wanted->location};
}

cxu_result cx_emu_call_mem_create(CUmemGenericAllocationHandle *out_handle, size_t bytes,
                                  const cxu_mem_properties *properties, unsigned long long flags)
{
    cx_emu_device *device;
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_handle == NULL || properties == NULL || flags != 0 || bytes == 0 || !is_granular(bytes))
        return cx_emu_refuse_numbers(CXU_INVALID_VALUE,
                                     "# bytes are asked for, and the size has to be a multiple "
                                     "of #",
                                     bytes, CX_EMU_MEMORY_GRANULARITY);
    result = check_properties("cuMemCreate", properties, &device);
    if (result != CXU_SUCCESS)
        return result;
    cxu_mem_properties kept = granted_properties(properties);
    cx_emu_physical *physical;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_device_error(device);
    if (result == CXU_SUCCESS)
        result = cx_emu_physical_create(device, bytes, &kept, &physical);
    if (result == CXU_SUCCESS)
        *out_handle = cx_emu_physical_handle(physical);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* Finds the memory of a handle, for a call that uses it. Lock held. */
static cxu_result find_physical(CUmemGenericAllocationHandle handle, cx_emu_physical **out_physical)
{
    *out_physical = cx_emu_physical_find(handle);
    return *out_physical != NULL ? cx_emu_device_error((*out_physical)->device)
                                 : cx_emu_refuse(CXU_INVALID_VALUE,
                                                 "the handle is not one of cuMemCreate, or was "
                                                 "released");
}

cxu_result cx_emu_call_mem_release(CUmemGenericAllocationHandle handle)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    cx_emu_physical *physical;
    cx_lock_enter(&cx_emu_lock);
    result = find_physical(handle, &physical);
    if (result == CXU_SUCCESS)
        cx_emu_physical_release(physical);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* Finds the mapping of an address, for a call that uses it. Lock held. */
static cxu_result find_mapping(uintptr_t address, cx_emu_mapping **out_mapping)
{
    const cx_emu_allocation *found = cx_emu_allocation_find(address, 1);
    if (found == NULL || found->mapping == NULL)
        return CXU_INVALID_VALUE;
    *out_mapping = found->mapping;
    return cx_emu_allocation_error(found);
}

cxu_result cx_emu_call_mem_retain_allocation_handle(CUmemGenericAllocationHandle *out_handle,
                                                    void *address)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_handle == NULL)
        return CXU_INVALID_VALUE;
    cx_emu_mapping *mapping;
    cx_lock_enter(&cx_emu_lock);
    result = find_mapping((uintptr_t)address, &mapping);
    if (result == CXU_SUCCESS) {
        mapping->physical->handles++;
        *out_handle = cx_emu_physical_handle(mapping->physical);
    }
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_mem_get_allocation_granularity(size_t *out_bytes,
                                                      const cxu_mem_properties *properties,
                                                      cxu_mem_granularity option)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_bytes == NULL || properties == NULL ||
        (option != CXU_MEM_ALLOC_GRANULARITY_MINIMUM &&
         option != CXU_MEM_ALLOC_GRANULARITY_RECOMMENDED))
        return CXU_INVALID_VALUE;
    *out_bytes = CX_EMU_MEMORY_GRANULARITY;
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_mem_get_allocation_properties(cxu_mem_properties *out_properties,
                                                     CUmemGenericAllocationHandle handle)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_properties == NULL)
        return CXU_INVALID_VALUE;
    cx_emu_physical *physical;
    cx_lock_enter(&cx_emu_lock);
    result = find_physical(handle, &physical);
    if (result == CXU_SUCCESS)
        *out_properties = physical->properties;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* ---- mappings ---- */

static cxu_result map_range(CUdeviceptr pointer, size_t bytes, CUmemGenericAllocationHandle handle)
{
    cx_emu_physical *physical;
    cx_emu_reservation *reservation = cx_emu_reservation_find((uintptr_t)pointer, bytes);
    cxu_result result = find_physical(handle, &physical);
    if (result != CXU_SUCCESS)
        return result;
    if (reservation == NULL)
        return cx_emu_refuse(CXU_INVALID_VALUE, "the range is not reserved");
    if (bytes > physical->bytes)
        return cx_emu_refuse_numbers(CXU_INVALID_VALUE,
                                     "the range has # bytes, and the memory of the handle #", bytes,
                                     physical->bytes);
    if (cx_emu_allocation_overlapping((uintptr_t)pointer, bytes) != NULL)
        return cx_emu_refuse(CXU_INVALID_VALUE, "memory is mapped in the range already");
    return cx_emu_mapping_create(reservation, (uintptr_t)pointer, bytes, physical);
}

cxu_result cx_emu_call_mem_map(CUdeviceptr pointer, size_t bytes, size_t offset,
                               CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (!range_valid(pointer, bytes) || !is_granular(pointer) || !is_granular(bytes) ||
        offset != 0 || flags != 0)
        return cx_emu_refuse_numbers(CXU_INVALID_VALUE,
                                     "address and size have to be multiples of # bytes, and offset "
                                     "and flags 0",
                                     CX_EMU_MEMORY_GRANULARITY, 0);
    cx_emu_refusal_begin();
    cx_lock_enter(&cx_emu_lock);
    result = map_range(pointer, bytes, handle);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* Finds the mappings that exactly make up a range, for a call that uses them. Lock held. */
static cxu_result find_whole(CUdeviceptr pointer, size_t bytes, cx_emu_allocation **out_first)
{
    if (!range_valid(pointer, bytes))
        return cx_emu_refuse(CXU_INVALID_VALUE, "the range is none");
    *out_first = cx_emu_mapping_whole((uintptr_t)pointer, bytes);
    return *out_first != NULL ? cx_emu_allocation_error(*out_first)
                              : cx_emu_refuse(CXU_INVALID_VALUE,
                                              "the range is not made up of whole mappings");
}

/* Unmapping where nothing is mapped does nothing. */
static bool is_unmapped(CUdeviceptr pointer, size_t bytes)
{
    return range_valid(pointer, bytes) && is_granular(pointer) && is_granular(bytes) &&
           cx_emu_reservation_find((uintptr_t)pointer, bytes) != NULL &&
           cx_emu_allocation_overlapping((uintptr_t)pointer, bytes) == NULL;
}

cxu_result cx_emu_call_mem_unmap(CUdeviceptr pointer, size_t bytes)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    cx_emu_allocation *first;
    cx_lock_enter(&cx_emu_lock);
    result = find_whole(pointer, bytes, &first);
    if (result == CXU_SUCCESS)
        cx_emu_mapping_remove(first, bytes);
    else if (is_unmapped(pointer, bytes))
        result = CXU_SUCCESS;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

static bool access_valid(cxu_mem_access_flags flags)
{
    return flags == CXU_MEM_ACCESS_FLAGS_PROT_NONE || flags == CXU_MEM_ACCESS_FLAGS_PROT_READ ||
           flags == CXU_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

static cxu_result check_accesses(const cxu_mem_access *accesses, size_t count)
{
    cx_emu_device *device;
    if (accesses == NULL || count == 0)
        return CXU_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        if (!access_valid(accesses[i].flags))
            return CXU_INVALID_VALUE;
        cxu_result result = find_gpu("cuMemSetAccess", &accesses[i].location, &device);
        if (result != CXU_SUCCESS)
            return result;
    }
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_mem_set_access(CUdeviceptr pointer, size_t bytes,
                                      const cxu_mem_access *accesses, size_t count)
{
    cxu_result result = cx_emu_enter();
    if (result == CXU_SUCCESS)
        result = check_accesses(accesses, count);
    if (result != CXU_SUCCESS)
        return result;
    cx_emu_allocation *first;
    cx_lock_enter(&cx_emu_lock);
    result = find_whole(pointer, bytes, &first);
    for (size_t i = 0; result == CXU_SUCCESS && i < count; i++)
        cx_emu_mapping_set_access(first, bytes, cx_emu_device_find(accesses[i].location.id),
                                  accesses[i].flags);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_mem_get_access(unsigned long long *out_flags,
                                      const cxu_mem_location *location, CUdeviceptr pointer)
{
    cx_emu_device *device;
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_flags == NULL || location == NULL)
        return CXU_INVALID_VALUE;
    result = find_gpu("cuMemGetAccess", location, &device);
    if (result != CXU_SUCCESS)
        return result;
    cx_emu_mapping *mapping;
    cx_lock_enter(&cx_emu_lock);
    result = find_mapping((uintptr_t)pointer, &mapping);
    if (result == CXU_SUCCESS)
        *out_flags = cx_emu_mapping_access(mapping, device);
    cx_lock_leave(&cx_emu_lock);
    return result;
}
