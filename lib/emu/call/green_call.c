/* Calls about green contexts and their streams. */
#include "emu/device/device.h"
#include "emu/schedule/event.h"
#include "emu/schedule/green.h"
#include "emu/base/state.h"
#include "emu/device/sticky.h"

static cxu_result check_new(const CUgreenCtx *out_green, CUdevResourceDesc desc,
                            CUdevice ordinal, unsigned int flags,
                            const cx_emu_sm_range **out_range)
{
    if (out_green == NULL || flags != CXU_GREEN_CTX_DEFAULT_STREAM)
        return CXU_INVALID_VALUE;
    if (cx_emu_device_find(ordinal) == NULL)
        return CXU_INVALID_DEVICE;
    *out_range = cx_emu_resource_described(desc);
    return *out_range != NULL && (*out_range)->device == ordinal ? CXU_SUCCESS : CXU_INVALID_VALUE;
}

cxu_result cx_emu_call_green_ctx_create(CUgreenCtx *out_green, CUdevResourceDesc desc,
                                        CUdevice ordinal, unsigned int flags)
{
    const cx_emu_sm_range *range;
    cx_emu_green *green;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = check_new(out_green, desc, ordinal, flags, &range);
    if (result == CXU_SUCCESS)
        result = cx_emu_green_create(cx_emu_device_find(ordinal), range, &green);
    if (result == CXU_SUCCESS)
        *out_green = cx_emu_green_handle(green);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* A green context whose primary was reset can still be destroyed. */
cxu_result cx_emu_call_green_ctx_destroy(CUgreenCtx handle)
{
    cx_emu_green *green = (void *)handle;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_green_exists(handle) ? CXU_SUCCESS : CXU_INVALID_CONTEXT;
    if (result == CXU_SUCCESS)
        cx_emu_green_destroy(green);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_ctx_from_green_ctx(CUcontext *out_context, CUgreenCtx handle)
{
    cx_emu_green *green;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_context == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_green_find(handle, &green);
    if (result == CXU_SUCCESS)
        *out_context = cx_emu_context_handle(green->context);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* NULL is the green context that is current. */
cxu_result cx_emu_call_green_ctx_get_id(CUgreenCtx handle, unsigned long long *out_id)
{
    cx_emu_green *green;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_id == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    if (handle == NULL)
        handle = cx_emu_green_handle(cx_emu_green_of(NULL));
    result = cx_emu_green_find(handle, &green);
    if (result == CXU_SUCCESS)
        *out_id = cx_emu_context_id(green->context);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* ---- events ---- */

cxu_result cx_emu_call_green_ctx_record_event(CUgreenCtx handle, CUevent event)
{
    cx_emu_green *green;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_green_find(handle, &green);
    if (result == CXU_SUCCESS)
        result = cx_emu_event_record_green(event, green);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_green_ctx_wait_event(CUgreenCtx handle, CUevent event)
{
    cx_emu_green *green;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_green_find(handle, &green);
    if (result == CXU_SUCCESS)
        result = cx_emu_event_wait_green(event, green);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* ---- streams ---- */

cxu_result cx_emu_call_green_ctx_stream_create(CUstream *out_stream, CUgreenCtx handle,
                                               unsigned int flags, int priority)
{
    cx_emu_green *green;
    cx_emu_stream *stream;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_green_find(handle, &green);
    if (result == CXU_SUCCESS && (out_stream == NULL || flags != CXU_STREAM_NON_BLOCKING))
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS) {
        stream = cx_emu_stream_make(green->context->base, flags, priority);
        if (stream != NULL) {
            stream->green = green;
            *out_stream = (CUstream)(void *)stream;
        } else {
            result = CXU_OUT_OF_MEMORY;
        }
    }
    cx_lock_leave(&cx_emu_lock);
    return result;
}

static CUgreenCtx green_handle_of(const cx_emu_stream *stream)
{
    return stream->green != NULL ? cx_emu_green_handle(stream->green) : NULL;
}

cxu_result cx_emu_call_stream_get_green_ctx(CUstream handle, CUgreenCtx *out_green)
{
    cx_emu_stream *stream;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_green == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_stream_find(handle, &stream);
    if (result == CXU_SUCCESS)
        *out_green = green_handle_of(stream);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* Gives the primary context of a stream of a green context, and that. */
cxu_result cx_emu_call_stream_get_ctx_v2(CUstream handle, CUcontext *out_context,
                                         CUgreenCtx *out_green)
{
    cx_emu_stream *stream;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_context == NULL || out_green == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_stream_find(handle, &stream);
    if (result == CXU_SUCCESS) {
        *out_context = cx_emu_context_handle(stream->context);
        *out_green = green_handle_of(stream);
    }
    cx_lock_leave(&cx_emu_lock);
    return result;
}
