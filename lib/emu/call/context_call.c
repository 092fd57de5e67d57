#include "emu/context/context.h"

#include "emu/graph/capture.h"
#include "emu/device/device.h"
#include "emu/schedule/green.h"
#include "emu/base/slot.h"
#include "emu/context/stack.h"
#include "emu/base/state.h"
#include "emu/device/sticky.h"
#include "emu/report/not_supported.h"
#include "emu/schedule/work.h"

#define API_VERSION 3020

static cxu_result create_locked(cx_emu_device *device, unsigned int flags, cx_emu_entry *out_entry)
{
    if (!cx_emu_stack_reserve())
        return CXU_OUT_OF_MEMORY;
    cx_emu_context *context = cx_emu_slot_take();
    if (context == NULL)
        return CXU_OUT_OF_MEMORY;
    if (!cx_emu_context_open(context, device, flags)) {
        cx_emu_slot_give(context);
        return CXU_OUT_OF_MEMORY;
    }
    *out_entry = (cx_emu_entry){context, cx_emu_context_id(context)};
    return CXU_SUCCESS;
}

static cxu_result create_context(CUcontext *out_context, unsigned int flags, CUdevice ordinal)
{
    if (out_context == NULL || !cx_emu_context_flags_valid(flags))
        return CXU_INVALID_VALUE;
    cx_emu_device *device = cx_emu_device_find(ordinal);
    if (device == NULL)
        return CXU_INVALID_DEVICE;

    cx_emu_entry entry;
    cx_lock_enter(&cx_emu_lock);
    cxu_result result = cx_emu_device_error(device);
    if (result == CXU_SUCCESS)
        result = create_locked(device, flags, &entry);
    cx_lock_leave(&cx_emu_lock);
    if (result != CXU_SUCCESS)
        return result;
    cx_emu_stack_push(entry);
    *out_context = cx_emu_context_handle(entry.context);
    return CXU_SUCCESS;
}

/* Affinities need a multi-process service; there is none. */
static cxu_result check_affinities(const cxu_exec_affinity *affinities, int count)
{
    if (count < 0 || (count > 0 && affinities == NULL))
        return CXU_INVALID_VALUE;
    return count == 0 ? CXU_SUCCESS : CXU_UNSUPPORTED_EXEC_AFFINITY;
}

cxu_result cx_emu_call_ctx_create_v2(CUcontext *out_context, unsigned int flags, CUdevice device)
{
    cxu_result result = cx_emu_enter();
    return result == CXU_SUCCESS ? create_context(out_context, flags, device) : result;
}

cxu_result cx_emu_call_ctx_create_v3(CUcontext *out_context, cxu_exec_affinity *affinities,
                                     int count, unsigned int flags, CUdevice device)
{
    cxu_result result = cx_emu_enter();
    if (result == CXU_SUCCESS)
        result = check_affinities(affinities, count);
    return result == CXU_SUCCESS ? create_context(out_context, flags, device) : result;
}

cxu_result cx_emu_call_ctx_create_v4(CUcontext *out_context, cxu_ctx_create_params *params,
                                     unsigned int flags, CUdevice device)
{
    cxu_result result = cx_emu_enter();
    if (result == CXU_SUCCESS && params != NULL) {
        if (params->cig != NULL)
            return cx_emu_not_supported("cuCtxCreate_v4", "CUDA in graphics");
        /* cuda.h asks for one of the two; NVIDIA's samples give a zeroed struct, which works. */
        if (params->affinity_count == 0 && params->affinities != NULL)
            return CXU_INVALID_VALUE;
        result = check_affinities(params->affinities, params->affinity_count);
    }
    return result == CXU_SUCCESS ? create_context(out_context, flags, device) : result;
}

/* Finds a live context of cuCtxCreate: a primary one ends only by release or reset (C5). */
static cxu_result find_ordinary(CUcontext handle, cx_emu_context **out_context)
{
    cx_emu_context *context;
    if (handle == NULL || cx_emu_context_identify(handle, &context) != CXU_SUCCESS ||
        context->primary)
        return CXU_INVALID_CONTEXT;
    *out_context = context;
    return CXU_SUCCESS;
}

static void destroy_context(cx_emu_context *context)
{
    cx_emu_stack_drop((cx_emu_entry){context, cx_emu_context_id(context)});
    cx_emu_context_close(context);
    cx_emu_slot_give(context);
}

cxu_result cx_emu_call_ctx_destroy(CUcontext handle)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    cx_emu_context *context;
    cx_lock_enter(&cx_emu_lock);
    result = find_ordinary(handle, &context);
    if (result == CXU_SUCCESS)
        destroy_context(context);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_ctx_attach(CUcontext *out_context, unsigned int flags)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_context == NULL || flags != 0)
        return CXU_INVALID_VALUE;
    cx_emu_context *context;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_context_current(&context);
    if (result == CXU_SUCCESS && context->primary)
        result = CXU_INVALID_CONTEXT;
    if (result == CXU_SUCCESS)
        context->attach_count++;
    cx_lock_leave(&cx_emu_lock);
    if (result == CXU_SUCCESS)
        *out_context = cx_emu_context_handle(context);
    return result;
}

static cxu_result detach_context(CUcontext handle)
{
    cx_emu_context *context, *current;
    cxu_result result = find_ordinary(handle, &context);
    if (result != CXU_SUCCESS)
        return result;
    if (cx_emu_context_identify(NULL, &current) != CXU_SUCCESS || current != context)
        return CXU_INVALID_CONTEXT;
    if (--context->attach_count == 0)
        destroy_context(context);
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_ctx_detach(CUcontext context)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = detach_context(context);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* The device of a primary is known in any state (Q2). Takes no lock: the ordinal is read before the
 * id, and if the id is still the entry's, the slot held that context all the time. */
static cxu_result give_device(cx_emu_entry entry, CUdevice *out_device)
{
    int ordinal = atomic_load_explicit(&entry.context->ordinal, memory_order_acquire);
    if (!entry.context->primary && !cx_emu_entry_usable(&entry))
        return CXU_CONTEXT_IS_DESTROYED;
    *out_device = ordinal;
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_ctx_get_device(CUdevice *out_device)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_device == NULL)
        return CXU_INVALID_VALUE;
    const cx_emu_entry *top = cx_emu_stack_top();
    return top != NULL ? give_device(*top, out_device) : CXU_INVALID_CONTEXT;
}

cxu_result cx_emu_call_ctx_get_device_v2(CUdevice *out_device, CUcontext handle)
{
    if (handle == NULL)
        return cx_emu_call_ctx_get_device(out_device);
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_device == NULL)
        return CXU_INVALID_VALUE;
    cx_emu_entry entry;
    result = cx_emu_entry_make(handle, &entry);
    return result == CXU_SUCCESS ? give_device(entry, out_device) : result;
}

cxu_result cx_emu_call_ctx_get_flags(unsigned int *out_flags)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_flags == NULL)
        return CXU_INVALID_VALUE;
    cx_emu_context *context;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_context_current(&context);
    if (result == CXU_SUCCESS)
        *out_flags = context->flags;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_ctx_set_flags(unsigned int flags)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (!cx_emu_context_flags_valid(flags))
        return CXU_INVALID_VALUE;
    cx_emu_context *context;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_context_current(&context);
    if (result == CXU_SUCCESS)
        context->flags = (flags & ~(unsigned int)CXU_CTX_MAP_HOST) |
                         (context->flags & CXU_CTX_MAP_HOST);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_ctx_get_id(CUcontext handle, unsigned long long *out_id)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_id == NULL)
        return CXU_INVALID_VALUE;
    cx_emu_context *context;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_context_identify(handle, &context);
    if (result == CXU_SUCCESS) {
        const cx_emu_green *green = cx_emu_green_of(handle);
        *out_id = cx_emu_context_id(green != NULL ? green->context : context);
    }
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_ctx_get_api_version(CUcontext handle, unsigned int *out_version)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_version == NULL)
        return CXU_INVALID_VALUE;
    cx_emu_context *context;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_context_identify(handle, &context);
    cx_lock_leave(&cx_emu_lock);
    if (result == CXU_SUCCESS)
        *out_version = API_VERSION;
    return result;
}

static cxu_result synchronize_context(CUcontext handle)
{
    cx_emu_context *context;
    cxu_result result = cx_emu_context_find_or_current(handle, &context);
    if (result != CXU_SUCCESS)
        return result;
    result = cx_emu_capture_check_context_wait(context);
    if (result != CXU_SUCCESS)
        return result;
    cx_emu_green *green = cx_emu_green_of(handle);
    if (green != NULL)
        return cx_emu_green_wait(green);
    uint64_t id = cx_emu_context_id(context);
    cx_emu_work_wait_context(context);
    return cx_emu_context_id(context) == id ? cx_emu_context_error(context)
                                            : CXU_CONTEXT_IS_DESTROYED;
}

cxu_result cx_emu_call_ctx_synchronize_v2(CUcontext context)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = synchronize_context(context);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_ctx_synchronize(void)
{
    return cx_emu_call_ctx_synchronize_v2(NULL);
}

/* ---- execution affinity: contexts have all multiprocessors ---- */

cxu_result cx_emu_call_device_get_exec_affinity_support(int *out_supported,
                                                        cxu_exec_affinity_type type,
                                                        CUdevice device)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_supported == NULL || type != CXU_EXEC_AFFINITY_TYPE_SM_COUNT)
        return CXU_INVALID_VALUE;
    if (cx_emu_device_find(device) == NULL)
        return CXU_INVALID_DEVICE;
    *out_supported = 0;
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_ctx_get_exec_affinity(cxu_exec_affinity *out_affinity,
                                             cxu_exec_affinity_type type)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_affinity == NULL)
        return CXU_INVALID_VALUE;
    if (type != CXU_EXEC_AFFINITY_TYPE_SM_COUNT)
        return CXU_UNSUPPORTED_EXEC_AFFINITY;
    cx_emu_context *context;
    int count = 0;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_context_current(&context);
    if (result == CXU_SUCCESS)
        cx_emu_attribute(context->device, CXU_ATTRIBUTE_MULTIPROCESSOR_COUNT, &count);
    cx_lock_leave(&cx_emu_lock);
    if (result == CXU_SUCCESS)
        *out_affinity = (cxu_exec_affinity){.type = CXU_EXEC_AFFINITY_TYPE_SM_COUNT,
                                            .value.multiprocessors.count = (unsigned int)count};
    return result;
}
