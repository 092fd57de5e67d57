#include "emu/schedule/capture_check.h"
#include "emu/base/state.h"

cx_emu_capture *cx_emu_captures;

static uint64_t last_thread;

static CX_EMU_THREAD_LOCAL struct {
    uint64_t number; /* 0: the thread began no capture */
    cxu_stream_capture_mode mode;
} thread;

/* ---- checks at the beginning of calls ---- */

static bool takes_part(const cx_emu_capture *capture, const cx_emu_context *context,
                       bool blocking_only)
{
    for (const cx_emu_branch *each = capture->branches; each != NULL; each = each->next)
        if (each->stream != NULL && each->stream->context == context &&
            (!blocking_only || cx_emu_stream_blocking(each->stream)))
            return true;
    return false;
}

bool cx_emu_capture_conflicts(const cx_emu_stream *stream)
{
    if (stream != stream->context->legacy)
        return false;
    for (const cx_emu_capture *each = cx_emu_captures; each != NULL; each = each->next)
        if (takes_part(each, stream->context, true))
            return true;
    return false;
}

/* Invalidates the captures of the context's streams; true if there were any. */
static bool invalidate_context(const cx_emu_context *context, bool blocking_only)
{
    bool found = false;

    for (cx_emu_capture *each = cx_emu_captures; each != NULL; each = each->next)
        if (takes_part(each, context, blocking_only))
            found = each->invalidated = true;
    return found;
}

cxu_result cx_emu_capture_check_slowly(const cx_emu_stream *stream)
{
    if (stream == stream->context->legacy && invalidate_context(stream->context, true))
        return CXU_STREAM_CAPTURE_IMPLICIT;
    return stream->branch != NULL && stream->branch->capture->invalidated
               ? CXU_STREAM_CAPTURE_INVALIDATED
               : CXU_SUCCESS;
}

/* True if a capture forbids this thread unsafe calls. */
static bool capture_forbids(const cx_emu_capture *capture)
{
    if (thread.mode == CXU_STREAM_CAPTURE_MODE_RELAXED ||
        capture->mode == CXU_STREAM_CAPTURE_MODE_RELAXED)
        return false;
    if (capture->thread == thread.number)
        return true;
    return thread.mode == CXU_STREAM_CAPTURE_MODE_GLOBAL &&
           capture->mode == CXU_STREAM_CAPTURE_MODE_GLOBAL;
}

cxu_result cx_emu_capture_check_unsafe_slowly(void)
{
    cxu_result result = CXU_SUCCESS;

    for (cx_emu_capture *each = cx_emu_captures; each != NULL; each = each->next)
        if (capture_forbids(each)) {
            each->invalidated = true;
            result = CXU_STREAM_CAPTURE_UNSUPPORTED;
        }
    return result;
}

static const cx_emu_device *device_of(const cx_emu_capture *capture)
{
    return capture->origin != NULL ? capture->origin->context->device : NULL;
}

cxu_result cx_emu_capture_check_wait_slowly(const cx_emu_device *device)
{
    cxu_result result = CXU_SUCCESS;

    for (cx_emu_capture *each = cx_emu_captures; each != NULL; each = each->next)
        if (capture_forbids(each) && device_of(each) == device) {
            each->invalidated = true;
            result = CXU_STREAM_CAPTURE_UNSUPPORTED;
        }
    return result;
}

cxu_result cx_emu_capture_check_free_slowly(void)
{
    cxu_result result = CXU_SUCCESS;

    for (cx_emu_capture *each = cx_emu_captures; each != NULL; each = each->next)
        if (capture_forbids(each) && each->mode == CXU_STREAM_CAPTURE_MODE_GLOBAL) {
            each->invalidated = true;
            result = CXU_STREAM_CAPTURE_UNSUPPORTED;
        }
    return result;
}

cxu_result cx_emu_capture_check_synchronous_slowly(const cx_emu_stream *stream)
{
    cxu_result result = cx_emu_capture_check_slowly(stream);

    if (result != CXU_SUCCESS)
        return result;
    return stream->branch != NULL ? cx_emu_capture_refuse(stream) : CXU_SUCCESS;
}

cxu_result cx_emu_capture_check_context_wait_slowly(const cx_emu_context *context)
{
    bool found = false;

    for (cx_emu_capture *each = cx_emu_captures; each != NULL; each = each->next)
        if (each->thread == thread.number && takes_part(each, context, false))
            found = each->invalidated = true;
    cxu_result result = cx_emu_capture_check_wait_slowly(context->device);
    return found ? CXU_STREAM_CAPTURE_UNSUPPORTED : result;
}

cxu_result cx_emu_capture_check_context_slowly(const cx_emu_context *context)
{
    return invalidate_context(context, false) ? CXU_STREAM_CAPTURE_UNSUPPORTED : CXU_SUCCESS;
}

/* ---- refusals ---- */

cxu_result cx_emu_capture_refuse(const cx_emu_stream *stream)
{
    stream->branch->capture->invalidated = true;
    return CXU_STREAM_CAPTURE_UNSUPPORTED;
}

cxu_result cx_emu_capture_refuse_event(const cx_emu_event *event)
{
    if (event->captured_event != NULL)
        event->captured_event->capture->invalidated = true;
    return CXU_CAPTURED_EVENT;
}

void cx_emu_capture_forget_event(cx_emu_event *event)
{
    event->captured = false;
    if (event->captured_event != NULL)
        event->captured_event->capture->ends->event_leaves(event->captured_event);
}

void cx_emu_capture_leave(cx_emu_stream *stream)
{
    stream->branch->capture->ends->stream_leaves(stream);
}

/* ---- threads ---- */

uint64_t cx_emu_capture_thread(void)
{
    if (!thread.number)
        thread.number = ++last_thread;
    return thread.number;
}

cxu_result cx_emu_capture_exchange_mode(cxu_stream_capture_mode *mode)
{
    cxu_stream_capture_mode before = thread.mode;

    if ((unsigned int)*mode > CXU_STREAM_CAPTURE_MODE_RELAXED)
        return CXU_INVALID_VALUE;
    thread.mode = *mode;
    *mode = before;
    return CXU_SUCCESS;
}
