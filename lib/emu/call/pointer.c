#include "emu/base/state.h"
#include "emu/context/context.h"
#include "emu/device/device.h"
#include "emu/memory/allocation.h"
#include "emu/memory/mapping.h"
#include "emu/memory/pool.h"
#include "emu/memory/shared.h"

#include <string.h>

/* The types of attributes in cuPointerGetAttribute's documentation and in its callers: a boolean is
 * an unsigned int. */
typedef union attribute_value {
    unsigned int number;
    int ordinal;
    unsigned long long wide;
    size_t size;
    CUdeviceptr device_pointer;
    void *host_pointer;
    CUcontext context;
    CUmemoryPool pool;
} attribute_value;

enum { ACCESS_NONE = 0, ACCESS_READ_WRITE = 3 };

/* The device ordinal that the plural form reports for an unknown pointer (T7). */
#define UNKNOWN_ORDINAL (-2)

/* The facts that answer queries about a pointer. Lock held while it is used. */
typedef struct pointer_view {
    CUdeviceptr pointer;
    const cx_emu_allocation *allocation;   /* NULL: none there */
    const cx_emu_reservation *reservation; /* the one that contains the pointer, or NULL */
    const cx_emu_context *current;       /* NULL: none, or destroyed */
} pointer_view;

static pointer_view view_of(CUdeviceptr pointer)
{
    cx_emu_context *current;
    pointer_view view = {.pointer = pointer,
                         .allocation = cx_emu_allocation_find(pointer, 1),
                         .reservation = cx_emu_reservation_find(pointer, 1)};
    if (cx_emu_context_identify(NULL, &current) == CXU_SUCCESS)
        view.current = current;
    return view;
}

/* The number of bytes of an attribute; 0: no such attribute. */
static size_t attribute_bytes(cxu_pointer_attribute attribute)
{
    switch (attribute) {
    case CXU_POINTER_MEMORY_TYPE:
    case CXU_POINTER_SYNC_MEMOPS:
    case CXU_POINTER_IS_MANAGED:
    case CXU_POINTER_DEVICE_ORDINAL:
    case CXU_POINTER_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CXU_POINTER_MAPPED:
    case CXU_POINTER_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CXU_POINTER_ACCESS_FLAGS:
        return sizeof(unsigned int);
    case CXU_POINTER_CONTEXT:
    case CXU_POINTER_DEVICE_POINTER:
    case CXU_POINTER_HOST_POINTER:
    case CXU_POINTER_P2P_TOKENS:
    case CXU_POINTER_BUFFER_ID:
    case CXU_POINTER_RANGE_START_ADDR:
    case CXU_POINTER_RANGE_SIZE:
    case CXU_POINTER_ALLOWED_HANDLE_TYPES:
    case CXU_POINTER_MEMPOOL_HANDLE:
    case CXU_POINTER_MAPPING_SIZE:
    case CXU_POINTER_MAPPING_BASE_ADDR:
    case CXU_POINTER_MEMORY_BLOCK_ID:
        return 8;
    }
    return 0;
}

static cxu_memory_type memory_type(const cx_emu_allocation *allocation)
{
    switch (allocation->kind) {
    case CX_EMU_MEMORY_PINNED:
    case CX_EMU_MEMORY_REGISTERED:
        return CXU_MEMORYTYPE_HOST;
    case CX_EMU_MEMORY_SHARED:
        return allocation->shared->facts.host ? CXU_MEMORYTYPE_HOST : CXU_MEMORYTYPE_DEVICE;
    default:
        /* Managed memory too: the attribute distinguishes only host and device; IS_MANAGED tells
         * more. */
        return CXU_MEMORYTYPE_DEVICE;
    }
}

/* Attributes that depend on the current context. */
static unsigned int access_flags(const pointer_view *view)
{
    const cx_emu_allocation *allocation = view->allocation;
    if (allocation->mapping != NULL)
        return cx_emu_mapping_access(allocation->mapping, view->current->device);
    return cx_emu_allocation_reachable(allocation, view->current) ? ACCESS_READ_WRITE : ACCESS_NONE;
}

static cxu_result read_reach(const pointer_view *view, cxu_pointer_attribute attribute,
                             attribute_value *out_value)
{
    if (view->current == NULL)
        return CXU_INVALID_CONTEXT;
    if (attribute == CXU_POINTER_ACCESS_FLAGS)
        out_value->number = access_flags(view);
    else if (cx_emu_allocation_reachable(view->allocation, view->current))
        out_value->device_pointer = view->pointer;
    else
        return CXU_INVALID_VALUE;
    return CXU_SUCCESS;
}

static cxu_result read_host_pointer(const pointer_view *view, attribute_value *out_value)
{
    if ((uintptr_t)view->allocation->mapped != view->allocation->address)
        return CXU_INVALID_VALUE;
    out_value->host_pointer = (void *)(uintptr_t)view->pointer;
    return CXU_SUCCESS;
}

static uint64_t block_id(const cx_emu_allocation *allocation)
{
    return allocation->mapping != NULL ? allocation->mapping->physical->id : allocation->buffer_id;
}

/* Reads an attribute of a reserved address, mapped or not; *out_value is zero before. */
static cxu_result read_reserved(const cx_emu_reservation *reservation,
                                cxu_pointer_attribute attribute, attribute_value *out_value)
{
    switch (attribute) {
    case CXU_POINTER_RANGE_START_ADDR:
        out_value->device_pointer = reservation->address;
        return CXU_SUCCESS;
    case CXU_POINTER_RANGE_SIZE:
        out_value->size = reservation->bytes;
        return CXU_SUCCESS;
    case CXU_POINTER_MAPPED:
        return CXU_SUCCESS;
    default:
        return CXU_INVALID_VALUE;
    }
}

/* Reads an attribute of known memory; *out_value is zero before, and stays zero on failure. */
static cxu_result read_memory(const pointer_view *view, cxu_pointer_attribute attribute,
                              attribute_value *out_value)
{
    const cx_emu_allocation *allocation = view->allocation;
    switch (attribute) {
    case CXU_POINTER_CONTEXT:
        /* NULL for memory without an owning context. */
        if (allocation->context != NULL)
            out_value->context = cx_emu_context_handle(allocation->context);
        return CXU_SUCCESS;
    case CXU_POINTER_MEMORY_TYPE:
        out_value->number = memory_type(allocation);
        return CXU_SUCCESS;
    case CXU_POINTER_DEVICE_POINTER:
    case CXU_POINTER_ACCESS_FLAGS:
        return read_reach(view, attribute, out_value);
    case CXU_POINTER_HOST_POINTER:
        return read_host_pointer(view, out_value);
    case CXU_POINTER_SYNC_MEMOPS:
        out_value->number = allocation->sync_memops;
        return CXU_SUCCESS;
    case CXU_POINTER_BUFFER_ID:
        out_value->wide = allocation->buffer_id;
        return CXU_SUCCESS;
    case CXU_POINTER_MEMORY_BLOCK_ID:
        out_value->wide = block_id(allocation);
        return CXU_SUCCESS;
    case CXU_POINTER_IS_MANAGED:
        out_value->number = allocation->kind == CX_EMU_MEMORY_MANAGED;
        return CXU_SUCCESS;
    case CXU_POINTER_DEVICE_ORDINAL:
        out_value->ordinal = allocation->device->ordinal;
        return CXU_SUCCESS;
    case CXU_POINTER_RANGE_START_ADDR:
    case CXU_POINTER_MAPPING_BASE_ADDR:
        out_value->device_pointer = allocation->address;
        return CXU_SUCCESS;
    case CXU_POINTER_RANGE_SIZE:
    case CXU_POINTER_MAPPING_SIZE:
        out_value->size = allocation->bytes;
        return CXU_SUCCESS;
    case CXU_POINTER_MAPPED:
        out_value->number = 1;
        return CXU_SUCCESS;
    case CXU_POINTER_MEMPOOL_HANDLE:
        if (allocation->pool != NULL)
            out_value->pool = cx_emu_pool_handle(allocation->pool);
        return CXU_SUCCESS;
    case CXU_POINTER_ALLOWED_HANDLE_TYPES:
        if (allocation->mapping != NULL)
            out_value->wide = allocation->mapping->physical->properties.handle_types;
        else if (allocation->pool != NULL)
            out_value->wide = allocation->pool->properties.handle_types;
        return CXU_SUCCESS;
    case CXU_POINTER_IS_LEGACY_CUDA_IPC_CAPABLE:
        out_value->number = allocation->kind == CX_EMU_MEMORY_DEVICE && !allocation->of_module &&
                            !allocation->device->host;
        return CXU_SUCCESS;
    case CXU_POINTER_IS_GPU_DIRECT_RDMA_CAPABLE:
        return CXU_SUCCESS;
    case CXU_POINTER_P2P_TOKENS:
        return CXU_NOT_SUPPORTED;
    }
    return CXU_INVALID_VALUE;
}

/* Reads an attribute of a pointer into a reservation: its range is the reservation; the mapping
 * there answers the rest. */
static cxu_result read_attribute(const pointer_view *view, cxu_pointer_attribute attribute,
                                 attribute_value *out_value)
{
    bool range =
        attribute == CXU_POINTER_RANGE_START_ADDR || attribute == CXU_POINTER_RANGE_SIZE;
    if (view->reservation != NULL && (range || view->allocation == NULL))
        return read_reserved(view->reservation, attribute, out_value);
    if (view->allocation != NULL)
        return read_memory(view, attribute, out_value);
    /* Addresses that the driver keeps are unmapped; others are unknown. */
    return attribute == CXU_POINTER_MAPPED && (cx_emu_host_memory_overlaps(view->pointer, 1) ||
                                               cx_emu_gpu_memory_overlaps(view->pointer, 1))
               ? CXU_SUCCESS
               : CXU_INVALID_VALUE;
}

/* The plural form's answer for an unknown pointer; *out_value is zero before. */
static void read_unknown(CUdeviceptr pointer, cxu_pointer_attribute attribute,
                         attribute_value *out_value)
{
    if (attribute == CXU_POINTER_HOST_POINTER)
        out_value->host_pointer = (void *)(uintptr_t)pointer;
    else if (attribute == CXU_POINTER_DEVICE_ORDINAL)
        out_value->ordinal = UNKNOWN_ORDINAL;
}

cxu_result cx_emu_call_pointer_get_attribute(void *out_value, cxu_pointer_attribute attribute,
                                             CUdeviceptr pointer)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_value == NULL || attribute_bytes(attribute) == 0)
        return CXU_INVALID_VALUE;
    attribute_value value = {0};
    cx_lock_enter(&cx_emu_lock);
    pointer_view view = view_of(pointer);
    result = read_attribute(&view, attribute, &value);
    cx_lock_leave(&cx_emu_lock);
    if (result == CXU_SUCCESS)
        memcpy(out_value, &value, attribute_bytes(attribute));
    return result;
}

static bool plural_valid(unsigned int count, const cxu_pointer_attribute *attributes,
                         void *const *values)
{
    if (count == 0 || attributes == NULL || values == NULL)
        return false;
    for (unsigned int i = 0; i < count; i++)
        if (values[i] == NULL || attribute_bytes(attributes[i]) == 0)
            return false;
    return true;
}

static bool plural_supported(unsigned int count, const cxu_pointer_attribute *attributes)
{
    for (unsigned int i = 0; i < count; i++)
        if (attributes[i] == CXU_POINTER_P2P_TOKENS)
            return false;
    return true;
}

cxu_result cx_emu_call_pointer_get_attributes(unsigned int count, cxu_pointer_attribute *attributes,
                                              void **out_values, CUdeviceptr pointer)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (!plural_valid(count, attributes, out_values))
        return CXU_INVALID_VALUE;
    if (!plural_supported(count, attributes))
        return CXU_NOT_SUPPORTED;
    cx_lock_enter(&cx_emu_lock);
    pointer_view view = view_of(pointer);
    for (unsigned int i = 0; i < count; i++) {
        attribute_value value = {0};
        /* An attribute without an answer stays zero here, where the singular form fails. */
        if (view.allocation == NULL && view.reservation == NULL)
            read_unknown(pointer, attributes[i], &value);
        else
            (void)read_attribute(&view, attributes[i], &value);
        memcpy(out_values[i], &value, attribute_bytes(attributes[i]));
    }
    cx_lock_leave(&cx_emu_lock);
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_pointer_set_attribute(const void *value, cxu_pointer_attribute attribute,
                                             CUdeviceptr pointer)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (value == NULL || attribute != CXU_POINTER_SYNC_MEMOPS)
        return CXU_INVALID_VALUE;
    unsigned int setting;
    memcpy(&setting, value, sizeof(setting));
    if (setting > 1)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    cx_emu_allocation *allocation = cx_emu_allocation_find(pointer, 1);
    if (allocation != NULL && allocation->kind != CX_EMU_MEMORY_REGISTERED)
        allocation->sync_memops = setting == 1;
    else
        result = CXU_INVALID_VALUE;
    cx_lock_leave(&cx_emu_lock);
    return result;
}
