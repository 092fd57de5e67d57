#include "work/stream.h"

#include "base/cancel.h"
#include "base/error.h"
#include "base/handle.h"
#include "context/named.h"
#include "context/observer.h"
#include "layer/names.h"
#include <stdio.h>

cx_pool cx_streams = CX_POOL_INIT("stream", CX_STREAM_POOL_KIND, cx_stream);

/* ---- names, for layers ---- */

typedef struct wanted_stream {
    CUstream native;
    const cx_stream *found;
} wanted_stream;

static bool look_at_stream(void *object, void *argument)
{
    wanted_stream *wanted = argument;
    const cx_stream *stream = object;
    if (atomic_load(&stream->native) == wanted->native)
        wanted->found = stream;
    return wanted->found == NULL;
}

static bool name_stream(cx_handle_kind kind, uintptr_t handle, char *text, size_t size)
{
    static const char *const kinds[] = {
        [CX_STREAM_CREATED] = "a created stream",
        [CX_STREAM_WRAPPED] = "a stream of other code",
        [CX_STREAM_DEFAULT] = "the default stream of a thread",
    };
    wanted_stream wanted = {.native = (CUstream)handle};
    if (kind != CX_HANDLE_STREAM)
        return false;
    if (!cx_pool_each_tried(&cx_streams, look_at_stream, &wanted) || wanted.found == NULL)
        return false;
    snprintf(text, size, "%s", kinds[atomic_load(&wanted.found->kind)]);
    return true;
}

static void add_layer_names(void)
{
    static const cx_layer_names names = {NULL, name_stream};
    cx_layer_names_add(&names);
}

/* ---- making and destroying ---- */

static ctxrt_status create_native(const cx_driver *driver, unsigned int flags, int priority,
                                  CUstream *out_native)
{
    int least, greatest;
    if (priority == 0 || driver->missing[CX_SLOT_stream_create_with_priority] ||
        driver->missing[CX_SLOT_ctx_get_stream_priority_range])
        return CX_DRIVER_CALL(driver, stream_create, (out_native, flags));
    ctxrt_status status =
        CX_DRIVER_CALL(driver, ctx_get_stream_priority_range, (&least, &greatest));
    if (status != CTXRT_SUCCESS)
        return status;
    if (priority > least)
        priority = least;
    if (priority < greatest)
        priority = greatest;
    return CX_DRIVER_CALL(driver, stream_create_with_priority, (out_native, flags, priority));
}

static ctxrt_status take_slot(const cx_context *context, cx_stream **out_stream)
{
    *out_stream = cx_pool_take(&cx_streams);
    return *out_stream != NULL ? CTXRT_SUCCESS
                               : cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for a stream in %s",
                                          cx_context_text(context));
}

static ctxrt_stream *publish_stream(cx_stream *stream, cx_context *context, CUstream native,
                                    cx_stream_kind kind)
{
    atomic_store_explicit(&stream->native, native, memory_order_relaxed);
    atomic_store_explicit(&stream->context, context, memory_order_relaxed);
    atomic_store_explicit(&stream->epoch, atomic_load(&context->epoch), memory_order_relaxed);
    atomic_store_explicit(&stream->kind, (int)kind, memory_order_relaxed);
    if (kind != CX_STREAM_DEFAULT)
        cx_context_object_add(context, CX_OBJECT_STREAM);
    return cx_pool_publish(&cx_streams, stream);
}

ctxrt_status cx_stream_make(cx_context *context, cx_stream_kind kind, unsigned int flags,
                            int priority, ctxrt_stream **out_stream)
{
    cx_stream *stream;
    CUstream native;
    ctxrt_status status = take_slot(context, &stream);
    if (status != CTXRT_SUCCESS)
        return status;
    add_layer_names();
    status = create_native(context->driver, flags, priority, &native);
    if (status != CTXRT_SUCCESS) {
        cx_pool_put_back(&cx_streams, stream);
        return status;
    }
    *out_stream = publish_stream(stream, context, native, kind);
    return CTXRT_SUCCESS;
}

static ctxrt_status check_new(const char *call, unsigned int flags, ctxrt_stream *const *out_stream)
{
    if (out_stream == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "%s: out_stream is NULL", call);
    if (flags > CTXRT_STREAM_NON_BLOCKING)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "%s: there are no flags %#x", call, flags);
    return CTXRT_SUCCESS;
}

ctxrt_status ctxrt_stream_create(unsigned int flags, int priority, ctxrt_stream **out_stream)
{
    cx_thread *thread;
    cx_frame *frame;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    status = check_new("ctxrt_stream_create", flags, out_stream);
    if (status == CTXRT_SUCCESS)
        status = cx_stack_enter(&thread, &frame);
    if (status == CTXRT_SUCCESS)
        status = cx_context_enter(cx_frame_context(frame));
    if (status != CTXRT_SUCCESS)
        return status;
    status =
        cx_stream_make(cx_frame_context(frame), CX_STREAM_CREATED, flags, priority, out_stream);
    cx_section_leave();
    return status;
}

ctxrt_status ctxrt_stream_create_on(ctxrt_context *context, unsigned int flags, int priority,
                                    ctxrt_stream **out_stream)
{
    cx_named_context named;
    ctxrt_status status = check_new("ctxrt_stream_create_on", flags, out_stream);
    if (status == CTXRT_SUCCESS)
        status = cx_named_context_enter("ctxrt_stream_create_on", context, &named);
    if (status != CTXRT_SUCCESS)
        return status;
    status = cx_stream_make(named.context, CX_STREAM_CREATED, flags, priority, out_stream);
    status = cx_context_map_error(named.context, "context", status);
    cx_named_context_leave(&named);
    return status;
}

static ctxrt_status no_such_stream(const ctxrt_stream *handle)
{
    return cx_handle_error("stream", handle, "it was destroyed, or never was one");
}

static ctxrt_status check_no_frame_uses(const ctxrt_stream *handle)
{
    int number, level;
    if (cx_threads_use_stream(handle, &number, &level))
        return number == 0
                   ? cx_error(CTXRT_ERROR_IN_USE,
                              "the stream is in use: it is the current stream of a detached frame")
                   : cx_error(
                         CTXRT_ERROR_IN_USE,
                         "the stream is in use: it is the current stream of frame %d of thread %d",
                         level, number);
    return CTXRT_SUCCESS;
}

static ctxrt_status check_owned(const ctxrt_stream *handle)
{
    if (handle == CTXRT_STREAM_LEGACY)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "the legacy stream is the driver's: it goes with its "
                        "context");
    const cx_stream *stream = cx_pool_find(&cx_streams, handle);
    if (stream == NULL)
        return no_such_stream(handle);
    if (atomic_load(&stream->kind) == CX_STREAM_DEFAULT)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "the stream is a thread's default stream, which goes with its context");
    return CTXRT_SUCCESS;
}

static ctxrt_status destroy_native(const cx_driver *driver, CUstream native)
{
    cxu_result result = driver->table.stream_destroy(native);
    /* Other code destroyed or reset the context, and the stream with it. */
    if (result == CXU_CONTEXT_IS_DESTROYED || result == CXU_INVALID_CONTEXT ||
        result == CXU_INVALID_HANDLE)
        return CTXRT_SUCCESS;
    return cx_driver_check(driver, CX_SLOT_stream_destroy, result);
}

/* Makes an unused stream stale and pins its context. The sections are closed. If the context is
 * being reset, sets *out_resetting and does nothing. */
static ctxrt_status retire_stream(const ctxrt_stream *handle, cx_stream **out_stream,
                                  const cx_context **out_resetting)
{
    *out_resetting = NULL;
    ctxrt_status status = check_owned(handle);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_stream *stream = cx_pool_find(&cx_streams, handle);
    cx_context *context = atomic_load(&stream->context);
    if (cx_context_is_resetting(context)) {
        *out_resetting = context;
        return CTXRT_SUCCESS;
    }
    status = check_no_frame_uses(handle);
    if (status != CTXRT_SUCCESS)
        return status;
    (void)cx_pool_retire(&cx_streams, handle);
    cx_context_pin(context);
    *out_stream = stream;
    return CTXRT_SUCCESS;
}

static ctxrt_status retire_unless_used(const ctxrt_stream *handle, cx_stream **out_stream)
{
    for (;;) {
        const cx_context *resetting;
        cx_sections_close();
        ctxrt_status status = retire_stream(handle, out_stream, &resetting);
        cx_sections_open();
        if (resetting == NULL)
            return status;
        (void)cx_context_wait(resetting);
    }
}

/* The stream is retired and its context pinned. */
static ctxrt_status end_stream(cx_stream *stream, const ctxrt_stream *handle)
{
    ctxrt_status status = CTXRT_SUCCESS;
    cx_context *context = atomic_load(&stream->context);
    if (cx_context_holds_what_is_of(context, atomic_load(&stream->epoch))) {
        CX_OBSERVERS_CALL(stream_closes, context, handle);
        if (atomic_load(&stream->kind) == CX_STREAM_CREATED)
            status = destroy_native(context->driver, atomic_load(&stream->native));
    }
    cx_context_object_drop(context, CX_OBJECT_STREAM);
    cx_pool_put_back(&cx_streams, stream);
    cx_context_unpin(context);
    return status;
}

ctxrt_status ctxrt_stream_destroy(ctxrt_stream *handle)
{
    cx_stream *stream = NULL;
    ctxrt_status status;
    if (!cx_runtime_enter_release(&status) || handle == NULL)
        return status;
    int cancel = cx_cancel_hold();
    status = retire_unless_used(handle, &stream);
    if (status == CTXRT_SUCCESS)
        status = end_stream(stream, handle);
    cx_cancel_restore(cancel);
    return status;
}

/* ---- arguments ---- */

cx_stream_target cx_stream_legacy_of(cx_context *context)
{
    return (cx_stream_target){.driver = context->driver,
                              .context = context,
                              .epoch = atomic_load(&context->epoch),
                              .stream = CTXRT_STREAM_LEGACY,
                              .native = CXU_STREAM_LEGACY};
}

static ctxrt_status resolve_legacy(cx_stream_target *out_target)
{
    cx_thread *thread;
    cx_frame *frame;
    ctxrt_status status = cx_stack_enter(&thread, &frame);
    if (status == CTXRT_SUCCESS)
        *out_target = cx_stream_legacy_of(cx_frame_context(frame));
    return status;
}

ctxrt_status cx_stream_resolve_slowly(const ctxrt_stream *handle, cx_stream_target *out_target)
{
    if (handle == CTXRT_STREAM_LEGACY)
        return resolve_legacy(out_target);
    const cx_stream *stream = cx_pool_find(&cx_streams, handle);
    if (stream == NULL)
        return no_such_stream(handle);
    const cx_context *context = atomic_load(&stream->context);
    if (cx_context_wait(context))
        return cx_stream_resolve_handle(handle, out_target);
    return cx_error(CTXRT_ERROR_CONTEXT_DESTROYED,
                    "the stream is gone: %s was reset after it was made", cx_context_text(context));
}

/* True for a stream of a green context of this primary context. */
static bool is_of_part(const cx_context *context, CUstream native)
{
    CUcontext primary;
    CUgreenCtx green;
    return !context->driver->missing[CX_SLOT_stream_get_ctx_v2] &&
           context->driver->table.stream_get_ctx_v2(native, &primary, &green) == CXU_SUCCESS &&
           primary == context->native;
}

static ctxrt_status check_belongs(const cx_context *context, CUstream native)
{
    CUcontext owner;
    if (context->driver->missing[CX_SLOT_stream_get_ctx])
        return CTXRT_SUCCESS;
    cxu_result result = context->driver->table.stream_get_ctx(native, &owner);
    if (result == CXU_INVALID_HANDLE || result == CXU_INVALID_CONTEXT)
        return cx_error(CTXRT_ERROR_INVALID_HANDLE, "the driver does not know a stream %p",
                        (void *)native);
    if (result != CXU_SUCCESS)
        return cx_driver_error(context->driver, CX_SLOT_stream_get_ctx, result);
    if (owner != context->native && !is_of_part(context, native))
        return cx_error(CTXRT_ERROR_WRONG_CONTEXT,
                        "the stream %p is not of the current context, %s", (void *)native,
                        cx_context_text(context));
    return CTXRT_SUCCESS;
}

ctxrt_status ctxrt_stream_from_native(CUstream native, ctxrt_stream **out_stream)
{
    cx_thread *thread;
    cx_frame *frame;
    cx_stream *stream;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (native == NULL || out_stream == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_stream_from_native: %s is NULL",
                        native == NULL ? "native" : "out_stream");
    if (native == CXU_STREAM_LEGACY || native == CXU_STREAM_PER_THREAD)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "the driver's legacy and per-thread streams are of no "
                        "one context: use CTXRT_STREAM_LEGACY or NULL");
    status = cx_stack_enter(&thread, &frame);
    if (status == CTXRT_SUCCESS)
        status = cx_context_enter(cx_frame_context(frame));
    if (status != CTXRT_SUCCESS)
        return status;
    cx_context *context = cx_frame_context(frame);
    status = check_belongs(context, native);
    if (status == CTXRT_SUCCESS)
        status = take_slot(context, &stream);
    if (status == CTXRT_SUCCESS)
        *out_stream = publish_stream(stream, context, native, CX_STREAM_WRAPPED);
    cx_section_leave();
    return status;
}

ctxrt_status cx_stream_is_capturing(const cx_stream_target *target, bool *out_capturing)
{
    cxu_stream_capture_status state = CXU_STREAM_CAPTURE_STATUS_NONE;
    *out_capturing = false;
    if (target->driver->missing[CX_SLOT_stream_is_capturing])
        return CTXRT_SUCCESS;
    ctxrt_status status =
        CX_DRIVER_CALL(target->driver, stream_is_capturing, (target->native, &state));
    *out_capturing = state != CXU_STREAM_CAPTURE_STATUS_NONE;
    return status;
}
