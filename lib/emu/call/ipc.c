/* Calls that share device memory between processes of one machine. */
#include "driver/access_log.h"
#include "emu/base/state.h"
#include "emu/context/context.h"
#include "emu/device/device.h"
#include "emu/graph/capture.h"
#include "emu/memory/shared.h"
#include "emu/report/not_supported.h"

#include <string.h>
#include <unistd.h>

#define LAZY_ENABLE_PEER_ACCESS 1u

/* Memory of cuMemAlloc on a GPU can be exported; any address inside names all of it. */
static cxu_result find_exportable(CUdeviceptr pointer, const cx_emu_allocation **out_allocation)
{
    const cx_emu_allocation *allocation = cx_emu_allocation_find(pointer, 1);

    if (allocation == NULL || allocation->kind != CX_EMU_MEMORY_DEVICE || allocation->of_module)
        return cx_emu_refuse(CXU_INVALID_VALUE,
                             "only memory of cuMemAlloc can be shared by an IPC handle");
    if (allocation->device->host)
        return cx_emu_not_supported("cuIpcGetMemHandle", "memory of the host device");
    *out_allocation = allocation;
    return cx_emu_allocation_error(allocation);
}

static cxu_result describe(const cx_emu_allocation *allocation, cx_emu_shared_place *out_place)
{
    cxu_result result = cx_emu_shared_describe(allocation, 0, out_place);

    return result == CXU_NOT_SUPPORTED
               ? cx_emu_not_supported("cuIpcGetMemHandle",
                                      "memory whose file the program has closed")
               : result;
}

cxu_result cx_emu_call_ipc_get_mem_handle(cxu_ipc_mem_handle *out_handle, CUdeviceptr pointer)
{
    const cx_emu_allocation *allocation = NULL;
    cx_emu_shared_place place;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_handle == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = find_exportable(pointer, &allocation);
    if (result == CXU_SUCCESS)
        result = describe(allocation, &place);
    cx_lock_leave(&cx_emu_lock);
    if (result != CXU_SUCCESS)
        return result;
    memcpy(out_handle->bytes, &place, sizeof place);
    return CXU_SUCCESS;
}

/* Opening again in the same context counts, and gives the same address. */
static cxu_result open_again(cx_emu_shared *shared, const cx_emu_context *context)
{
    if (shared->allocation->context != context)
        return cx_emu_refuse(CXU_INVALID_HANDLE, "the memory is open in another context");
    shared->opened++;
    return CXU_SUCCESS;
}

/* Memory of a pool is imported into a pool, and no process opens its own. */
static cxu_result open_offer(const cx_emu_shared_offer *offer, cx_emu_context *context,
                             cx_emu_shared **out_shared)
{
    cx_emu_device *device;

    if (offer->facts.origin != 0 || offer->facts.host)
        return cx_emu_refuse(CXU_INVALID_HANDLE, "the handle is not one of cuIpcGetMemHandle");
    if (offer->place.where.process == (int32_t)getpid())
        return cx_emu_refuse(CXU_INVALID_CONTEXT,
                             "the handle comes from this process, which uses its own pointer");
    device = cx_emu_device_of_board(offer->facts.board);
    if (device == NULL)
        return CXU_INVALID_DEVICE;
    if (device != context->device && !cx_emu_device_peer(context->device, device))
        return CXU_PEER_ACCESS_UNSUPPORTED;
    return cx_emu_shared_open(offer, device, context, out_shared);
}

static cxu_result open_memory(const cx_emu_shared_place *place, cx_emu_shared **out_shared)
{
    cx_emu_shared_offer offer;
    cx_emu_context *context;
    cxu_result result = cx_emu_context_current(&context);

    if (result == CXU_SUCCESS)
        result = cx_emu_capture_check_unsafe();
    if (result != CXU_SUCCESS)
        return result;
    *out_shared = cx_emu_shared_find(place, NULL);
    if (*out_shared != NULL)
        return open_again(*out_shared, context);
    if (!cx_emu_shared_look(place, &offer))
        return cx_emu_refuse(CXU_INVALID_HANDLE,
                             "the memory of the handle is not there: it was freed, or its process "
                             "has ended");
    result = open_offer(&offer, context, out_shared);
    cx_emu_shared_offer_end(&offer);
    return result;
}

cxu_result cx_emu_call_ipc_open_mem_handle(CUdeviceptr *out_pointer, cxu_ipc_mem_handle handle,
                                           unsigned int flags)
{
    cx_emu_shared_place place;
    cx_emu_shared *shared = NULL;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_pointer == NULL || flags != LAZY_ENABLE_PEER_ACCESS)
        return cx_emu_refuse(CXU_INVALID_VALUE,
                             "the flags have to be CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS");
    memcpy(&place, handle.bytes, sizeof place);
    cx_lock_enter(&cx_emu_lock);
    result = open_memory(&place, &shared);
    if (result == CXU_SUCCESS)
        *out_pointer = shared->allocation->address;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

static cxu_result find_opened(CUdeviceptr pointer, cx_emu_allocation **out_allocation)
{
    cx_emu_context *context;
    cxu_result result = cx_emu_context_current(&context);

    if (result != CXU_SUCCESS)
        return result;
    *out_allocation = cx_emu_allocation_at_start(pointer);
    if (*out_allocation == NULL || (*out_allocation)->shared == NULL ||
        (*out_allocation)->context != context)
        return cx_emu_refuse(CXU_INVALID_VALUE,
                             "no IPC handle is open at this address in the current context");
    return cx_emu_capture_check_unsafe();
}

/* The last close waits for the work that uses the memory, as cuMemFree does. */
static cxu_result close_memory(CUdeviceptr pointer)
{
    cx_emu_allocation *allocation = NULL;
    cxu_result result = find_opened(pointer, &allocation);

    if (result == CXU_SUCCESS && allocation->shared->opened == 1) {
        cx_emu_work_wait_kernels(allocation->device);
        result = find_opened(pointer, &allocation);
    }
    if (result != CXU_SUCCESS)
        return result;
    if (cx_access_log_watched() != NULL)
        cx_access_log_withdrawn = cx_emu_shared_is_withdrawn(allocation->shared);
    if (--allocation->shared->opened == 0)
        cx_emu_allocation_free_and_wait(allocation);
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_ipc_close_mem_handle(CUdeviceptr pointer)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = close_memory(pointer);
    cx_lock_leave(&cx_emu_lock);
    return result;
}
