#include "base/cancel.h"
#include "emu/base/state.h"
#include "emu/context/context.h"
#include "emu/device/device.h"
#include "emu/graph/capture.h"
#include "emu/memory/allocation.h"
#include "emu/memory/reservation.h"
#include "emu/report/not_supported.h"

#include <sys/mman.h>
#include <unistd.h>

#define HOST_ALLOC_FLAGS \
    (CXU_MEMHOSTALLOC_PORTABLE | CXU_MEMHOSTALLOC_DEVICEMAP | CXU_MEMHOSTALLOC_WRITECOMBINED)
#define HOST_REGISTER_FLAGS                                                                        \
    (CXU_MEMHOSTREGISTER_PORTABLE | CXU_MEMHOSTREGISTER_DEVICEMAP | CXU_MEMHOSTREGISTER_IOMEMORY | \
     CXU_MEMHOSTREGISTER_READ_ONLY)

/* Allocates pinned or managed memory in the current context. Lock held. */
static cxu_result allocate_host(cx_emu_memory_kind kind, size_t bytes, unsigned int flags,
                                bool valid, uintptr_t *out_address)
{
    cx_emu_context *context;
    cx_emu_allocation *allocation;
    cxu_result result = cx_emu_context_current(&context);
    if (result != CXU_SUCCESS)
        return result;
    if (!valid || (bytes == 0 && kind != CX_EMU_MEMORY_PINNED))
        return CXU_INVALID_VALUE;
    result = cx_emu_capture_check_unsafe();
    if (result != CXU_SUCCESS)
        return result;
    if (bytes == 0) {
        *out_address = 0;
        return CXU_SUCCESS;
    }
    result = cx_emu_allocation_create(context->device, context, kind, bytes, flags, &allocation);
    if (result == CXU_SUCCESS)
        *out_address = allocation->address;
    return result;
}

static cxu_result allocate_pinned(void **out_pointer, size_t bytes, unsigned int flags)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    uintptr_t address;
    bool valid = out_pointer != NULL && (flags & ~(unsigned int)HOST_ALLOC_FLAGS) == 0;
    cx_lock_enter(&cx_emu_lock);
    result = allocate_host(CX_EMU_MEMORY_PINNED, bytes, flags, valid, &address);
    cx_lock_leave(&cx_emu_lock);
    if (result == CXU_SUCCESS)
        *out_pointer = (void *)address;
    return result;
}

cxu_result cx_emu_call_mem_alloc_host(void **out_pointer, size_t bytes)
{
    return allocate_pinned(out_pointer, bytes, 0);
}

cxu_result cx_emu_call_mem_host_alloc(void **out_pointer, size_t bytes, unsigned int flags)
{
    return allocate_pinned(out_pointer, bytes, flags);
}

cxu_result cx_emu_call_mem_alloc_managed(CUdeviceptr *out_pointer, size_t bytes, unsigned int flags)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    uintptr_t address;
    bool valid =
        out_pointer != NULL && (flags == CXU_MEM_ATTACH_GLOBAL || flags == CXU_MEM_ATTACH_HOST);
    cx_lock_enter(&cx_emu_lock);
    result = allocate_host(CX_EMU_MEMORY_MANAGED, bytes, flags, valid, &address);
    cx_lock_leave(&cx_emu_lock);
    if (result == CXU_SUCCESS)
        *out_pointer = address;
    return result;
}

/* `unknown`: there is no memory of the driver at all. */
static cxu_result find_kind(const void *pointer, cx_emu_memory_kind kind, cxu_result unknown,
                            cx_emu_allocation **out_allocation)
{
    cxu_result result;

    *out_allocation = cx_emu_allocation_at_start((uintptr_t)pointer);
    if (*out_allocation == NULL || (*out_allocation)->kind != kind ||
        (*out_allocation)->pool != NULL)
        return cx_emu_allocation_find((uintptr_t)pointer, 1) != NULL ? CXU_INVALID_VALUE : unknown;
    result = cx_emu_allocation_error(*out_allocation);
    return result == CXU_SUCCESS ? cx_emu_capture_check_unsafe() : result;
}

/* Frees or unregisters memory of one kind that starts at `pointer`, once no work uses it. During a
 * wait for kernels another thread may free it, or its context may become useless. */
static cxu_result free_kind(void *pointer, cx_emu_memory_kind kind, cxu_result unknown)
{
    cx_emu_allocation *allocation;
    cxu_result result;

    cx_lock_enter(&cx_emu_lock);
    result = find_kind(pointer, kind, unknown, &allocation);
    if (result == CXU_SUCCESS) {
        cx_emu_work_wait_kernels(NULL);
        result = find_kind(pointer, kind, unknown, &allocation);
    }
    if (result == CXU_SUCCESS)
        cx_emu_allocation_free_and_wait(allocation);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_mem_free_host(void *pointer)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS || pointer == NULL)
        return result;
    return free_kind(pointer, CX_EMU_MEMORY_PINNED, CXU_INVALID_VALUE);
}

/* Finds the pinned or registered memory that holds `host`, for a caller with a current context. */
static cxu_result find_host_memory(const void *host, const cx_emu_allocation **out_allocation)
{
    cx_emu_context *context;
    cxu_result result = cx_emu_context_current(&context);
    if (result != CXU_SUCCESS)
        return result;
    const cx_emu_allocation *allocation = cx_emu_allocation_find((uintptr_t)host, 1);
    if (allocation == NULL || allocation->pool != NULL ||
        (allocation->kind != CX_EMU_MEMORY_PINNED && allocation->kind != CX_EMU_MEMORY_REGISTERED))
        return cx_emu_refuse(CXU_INVALID_VALUE, "the address is neither pinned nor registered");
    *out_allocation = allocation;
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_mem_host_get_device_pointer(CUdeviceptr *out_pointer, void *host,
                                                   unsigned int flags)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    const cx_emu_allocation *allocation;
    cx_lock_enter(&cx_emu_lock);
    result = find_host_memory(host, &allocation);
    cx_lock_leave(&cx_emu_lock);
    if (result == CXU_SUCCESS && (out_pointer == NULL || flags != 0))
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS)
        *out_pointer = (uintptr_t)host;
    return result;
}

/* All of it is mapped, whether that was asked for or not. */
static unsigned int reported_flags(const cx_emu_allocation *allocation)
{
    unsigned int known =
        allocation->kind == CX_EMU_MEMORY_PINNED ? HOST_ALLOC_FLAGS : CXU_MEMHOSTREGISTER_PORTABLE;
    return (allocation->flags & known) | CXU_MEMHOSTALLOC_DEVICEMAP;
}

cxu_result cx_emu_call_mem_host_get_flags(unsigned int *out_flags, void *host)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    const cx_emu_allocation *allocation;
    cx_lock_enter(&cx_emu_lock);
    result = find_host_memory(host, &allocation);
    if (result == CXU_SUCCESS && out_flags == NULL)
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS)
        *out_flags = reported_flags(allocation);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* True if every page of the range is mapped; MS_ASYNC has no other effect. */
static bool pages_exist(uintptr_t address, size_t bytes)
{
    uintptr_t start = address & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
    int cancel = cx_cancel_hold();
    bool exist = msync((void *)start, bytes + (address - start), MS_ASYNC) == 0;
    cx_cancel_restore(cancel);
    return exist;
}

static cxu_result register_pages(uintptr_t address, size_t bytes, unsigned int flags)
{
    cx_emu_context *context;
    uintptr_t end;
    int read_only_supported = 0;
    cxu_result result = cx_emu_context_current(&context);
    if (result != CXU_SUCCESS)
        return result;
    if (address == 0 || bytes == 0 || __builtin_add_overflow(address, bytes, &end) ||
        (flags & ~(unsigned int)HOST_REGISTER_FLAGS) != 0)
        return cx_emu_refuse(CXU_INVALID_VALUE, "the range is empty, or there are no such flags");
    cx_emu_attribute(context->device, CXU_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED,
                     &read_only_supported);
    if ((flags & CXU_MEMHOSTREGISTER_READ_ONLY) != 0 && !read_only_supported)
        return CXU_NOT_SUPPORTED;
    const cx_emu_allocation *known = cx_emu_allocation_overlapping(address, bytes);
    if (known != NULL)
        return known->kind == CX_EMU_MEMORY_REGISTERED
                   ? cx_emu_refuse_numbers(CXU_HOST_MEMORY_ALREADY_REGISTERED,
                                           "# bytes from here on overlap # bytes that are "
                                           "registered",
                                           bytes, known->bytes)
                   : cx_emu_refuse(CXU_INVALID_VALUE,
                                   "the range overlaps memory that the driver allocated");
    if (cx_emu_reservation_overlapping(address, bytes) ||
        cx_emu_host_memory_overlaps(address, bytes) || !pages_exist(address, bytes))
        return cx_emu_refuse(CXU_INVALID_VALUE, "the range is not memory of the host throughout");
    result = cx_emu_capture_check_unsafe();
    if (result != CXU_SUCCESS)
        return result;
    return cx_emu_allocation_register(context, address, bytes, flags);
}

cxu_result cx_emu_call_mem_host_register(void *host, size_t bytes, unsigned int flags)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    /* There is no I/O memory here. */
    if ((flags & CXU_MEMHOSTREGISTER_IOMEMORY) != 0)
        return cx_emu_not_supported("cuMemHostRegister", "CU_MEMHOSTREGISTER_IOMEMORY");
    cx_lock_enter(&cx_emu_lock);
    result = register_pages((uintptr_t)host, bytes, flags);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_mem_host_unregister(void *host)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (host == NULL)
        return CXU_INVALID_VALUE;
    return free_kind(host, CX_EMU_MEMORY_REGISTERED, CXU_HOST_MEMORY_NOT_REGISTERED);
}
