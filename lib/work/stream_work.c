/* Calls that give work to a stream, wait for it, or say what the stream is. */
#include "base/error.h"
#include "work/capture_gate.h"
#include "work/event.h"
#include "work/timed_wait.h"
#include "work/work.h"

#include <stdlib.h>

/* ---- what a stream is ---- */

ctxrt_status ctxrt_stream_context(ctxrt_stream *stream, ctxrt_context **out_context)
{
    cx_stream_target target;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (out_context == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_stream_context: out_context is NULL");
    status = cx_work_begin(stream, &target);
    if (status != CTXRT_SUCCESS)
        return status;
    *out_context = cx_context_handle(target.context);
    cx_work_end();
    return CTXRT_SUCCESS;
}

ctxrt_status ctxrt_stream_native(ctxrt_stream *stream, CUstream *out_native)
{
    cx_stream_target target;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (out_native == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_stream_native: out_native is NULL");
    status = cx_work_begin(stream, &target);
    if (status != CTXRT_SUCCESS)
        return status;
    *out_native = target.native;
    cx_work_end();
    return CTXRT_SUCCESS;
}

/* ---- work ---- */

ctxrt_status ctxrt_stream_synchronize(ctxrt_stream *stream)
{
    cx_stream_target target;
    ctxrt_status status = cx_work_begin(stream, &target);
    if (status != CTXRT_SUCCESS)
        return status;
    int cancel = cx_work_begin_wait(target.context);
    status = CX_DRIVER_CALL(target.driver, stream_synchronize, (target.native));
    status = cx_context_waited(target.context, "stream", status);
    cx_work_end_wait(target.context, cancel);
    return status;
}

/* Unlike ctxrt_stream_query, records no error where the work is not done. */
static ctxrt_status look_at_work(const void *stream, bool *out_done)
{
    cx_stream_target target;
    ctxrt_status status = cx_work_begin(stream, &target);
    if (status != CTXRT_SUCCESS)
        return status;
    cxu_result result = target.driver->table.stream_query(target.native);
    *out_done = result != CXU_NOT_READY;
    if (*out_done)
        status = cx_context_waited(target.context, "stream",
                                   cx_driver_check(target.driver, CX_SLOT_stream_query, result));
    cx_work_end();
    return status;
}

ctxrt_status ctxrt_stream_synchronize_for(ctxrt_stream *stream, uint64_t timeout_ms)
{
    bool done;
    if (timeout_ms == UINT64_MAX)
        return ctxrt_stream_synchronize(stream);
    ctxrt_status status = cx_timed_wait(timeout_ms, look_at_work, stream, &done);
    if (status == CTXRT_SUCCESS && !done)
        status = cx_error(CTXRT_ERROR_NOT_READY,
                          "the work of the stream was not done within %llu ms",
                          (unsigned long long)timeout_ms);
    return status;
}

ctxrt_status ctxrt_stream_query(ctxrt_stream *stream)
{
    cx_stream_target target;
    ctxrt_status status = cx_work_begin(stream, &target);
    if (status != CTXRT_SUCCESS)
        return status;
    status = CX_DRIVER_CALL(target.driver, stream_query, (target.native));
    status = cx_context_waited(target.context, "stream", status);
    cx_work_end();
    return status;
}

/* A driver cannot wait for another driver's event, so the host waits. Leaves the section. */
static ctxrt_status wait_for(const cx_event_target *awaited)
{
    int cancel = cx_work_begin_wait(awaited->context);
    ctxrt_status status = CX_DRIVER_CALL(awaited->driver, event_synchronize, (awaited->native));
    status = cx_context_waited(awaited->context, "event", status);
    cx_work_end_wait(awaited->context, cancel);
    return status;
}

ctxrt_status ctxrt_stream_wait_event(ctxrt_stream *stream, ctxrt_event *event)
{
    cx_stream_target target;
    cx_event_target awaited;
    ctxrt_status status = cx_event_begin_work(event, &awaited, stream, &target);
    if (__builtin_expect(status != CTXRT_SUCCESS, 0))
        return status;
    if (__builtin_expect(awaited.driver != target.driver, 0))
        return wait_for(&awaited);
    status =
        cx_driver_check(target.driver, CX_SLOT_stream_wait_event,
                        cx_capture_gate_wait_event(target.driver, target.native, awaited.native));
    status = cx_context_map_error(awaited.context, "event",
                                  cx_context_map_error(target.context, "stream", status));
    cx_work_end();
    return status;
}

typedef struct host_call {
    void (*function)(void *);
    void *user_data;
} host_call;

/* A callback, unlike a host function, is also called after a failure. */
static void run_host_call(CUstream native, cxu_result result, void *argument)
{
    host_call call = *(host_call *)argument;
    (void)native;
    free(argument);
    if (result == CXU_SUCCESS)
        call.function(call.user_data);
}

static ctxrt_status add_callback(const cx_stream_target *target, void (*function)(void *),
                                 void *user_data)
{
    host_call *call = malloc(sizeof *call);
    if (call == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for a host function");
    *call = (host_call){function, user_data};
    ctxrt_status status = CX_DRIVER_CALL(target->driver, stream_add_callback,
                                         (target->native, run_host_call, call, 0));
    if (status != CTXRT_SUCCESS)
        free(call);
    return status;
}

ctxrt_status ctxrt_stream_add_host_function(ctxrt_stream *stream, void (*function)(void *),
                                            void *user_data)
{
    cx_stream_target target;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (function == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER,
                        "ctxrt_stream_add_host_function: function is NULL");
    status = cx_work_begin(stream, &target);
    if (status != CTXRT_SUCCESS)
        return status;
    status =
        target.driver->missing[CX_SLOT_launch_host_func]
            ? add_callback(&target, function, user_data)
            : CX_DRIVER_CALL(target.driver, launch_host_func, (target.native, function, user_data));
    status = cx_context_map_error(target.context, "stream", status);
    cx_work_end();
    return status;
}
