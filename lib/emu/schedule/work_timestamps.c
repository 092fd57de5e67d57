#include "emu/schedule/work_timestamps.h"

#include "base/clock.h"
#include "driver/work_timestamps.h"

struct cx_emu_work_timestamps {
    cx_work_timestamps timing;
    bool placed;
};

static cx_timed_kind kind_of(const cx_emu_work_request *request)
{
    switch (request->kind) {
    case CX_EMU_WORK_CALL:
        return request->call != NULL ? CX_TIMED_MOVE : CX_TIMED_ORDER;
    case CX_EMU_WORK_HOST:
        return CX_TIMED_HOST;
    case CX_EMU_WORK_KERNEL:
        return CX_TIMED_KERNEL;
    case CX_EMU_WORK_WAIT:
        return CX_TIMED_WAIT;
    default:
        return CX_TIMED_ORDER;
    }
}

size_t cx_emu_work_timestamps_bytes(void)
{
    return cx_work_timestamps_watched() != NULL ? sizeof(cx_emu_work_timestamps) : 0;
}

cx_emu_work_timestamps *cx_emu_work_timestamps_begin(void *place,
                                                     const cx_emu_work_request *request)
{
    cx_emu_work_timestamps *self = place;

    self->timing.kind = kind_of(request);
    self->timing.ticket = cx_work_timestamps_ticket;
    self->timing.function = request->function;
    self->timing.submitted_ns = cx_clock_ns();
    return self;
}

static uint64_t handle_of(const cx_emu_stream *stream)
{
    if (stream->id == stream->opening)
        return (uintptr_t)CXU_STREAM_LEGACY;
    return stream->thread ? (uintptr_t)CXU_STREAM_PER_THREAD : (uintptr_t)stream;
}

void cx_emu_work_timestamps_place(cx_emu_work_timestamps *self, const cx_emu_stream *stream,
                                  const cx_emu_context *context)
{
    if (self == NULL)
        return;
    self->placed = true;
    self->timing.context = (uintptr_t)context;
    if (stream != NULL) {
        self->timing.stream_id = stream->id;
        self->timing.stream = handle_of(stream);
    }
}

void cx_emu_work_timestamps_run_at_once(cx_emu_work_timestamps *self)
{
    if (self != NULL)
        self->timing.began_ns = self->timing.submitted_ns;
}

void cx_emu_work_timestamps_run(cx_emu_work_timestamps *self)
{
    if (self != NULL && self->timing.began_ns == 0)
        self->timing.began_ns = cx_clock_ns();
}

void cx_emu_work_timestamps_end(cx_emu_work_timestamps *self, uint64_t now_ns)
{
    if (self == NULL || !self->placed)
        return;
    self->timing.ended_ns = now_ns;
    if (self->timing.began_ns == 0)
        self->timing.began_ns = now_ns;
    cx_work_timestamps_watched()(&self->timing);
}
