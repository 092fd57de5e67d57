/* Events shared between processes of one machine. */
#include "base/error.h"
#include "context/context_guard.h"
#include "work/event.h"
#include <string.h>

_Static_assert(sizeof(cxu_ipc_event_handle) == sizeof((ctxrt_exported_event *)0)->token,
               "the token holds the driver's");

ctxrt_status ctxrt_event_export(ctxrt_event *event, ctxrt_exported_event *out_exported)
{
    cx_event_target target;
    cxu_ipc_event_handle token;
    ctxrt_status status = cx_event_begin(event, &target);
    if (status != CTXRT_SUCCESS)
        return status;
    if (out_exported == NULL)
        status = cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_event_export: out_exported is NULL");
    if (status == CTXRT_SUCCESS)
        status = CX_DRIVER_CALL(target.driver, ipc_get_event_handle, (&token, target.native));
    cx_section_leave();
    if (status == CTXRT_ERROR_DRIVER && ctxrt_last_error()->driver_result == CXU_INVALID_VALUE)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "ctxrt_event_export: the event was made without CTXRT_EVENT_INTERPROCESS");
    if (status == CTXRT_SUCCESS)
        memcpy(out_exported->token, &token, sizeof token);
    return status;
}

/* In a section of the context. */
static ctxrt_status open_event(cx_context *context, const ctxrt_exported_event *exported,
                               ctxrt_event **out_event)
{
    cxu_ipc_event_handle token;
    CUevent native;
    memcpy(&token, exported->token, sizeof token);
    cxu_result result = context->driver->table.ipc_open_event_handle(&native, token);
    if (result == CXU_INVALID_HANDLE)
        return cx_error_driver_call(CTXRT_ERROR_INVALID_HANDLE,
                                    cx_symbols[CX_SLOT_ipc_open_event_handle].symbol, (int)result,
                                    cx_driver_result_name(context->driver, result),
                                    "ctxrt_event_import: no process has such an event");
    ctxrt_status status = cx_driver_check(context->driver, CX_SLOT_ipc_open_event_handle, result);
    if (status == CTXRT_SUCCESS)
        status = cx_event_make_of_native(context, native, out_event);
    return status;
}

ctxrt_status ctxrt_event_import(const ctxrt_exported_event *exported, ctxrt_event **out_event)
{
    cx_thread *thread;
    cx_frame *frame;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (exported == NULL || out_event == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_event_import: %s is NULL",
                        exported == NULL ? "exported" : "out_event");
    status = cx_stack_enter(&thread, &frame);
    if (status == CTXRT_SUCCESS)
        status = cx_context_enter(cx_frame_context(frame));
    if (status != CTXRT_SUCCESS)
        return status;
    status = open_event(cx_frame_context(frame), exported, out_event);
    cx_section_leave();
    return status;
}
