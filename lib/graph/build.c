/* Turns recordings into sequences: runs of capturable operators are captured, once. */
#include "base/error.h"
#include "graph/recording.h"
#include "work/stream.h"

/* The operators run in a frame above the recording's, for which the pool is open as well. It has
 * its own stream: other threads may use the legacy stream, which a capture of the thread's default
 * stream would forbid. */
typedef struct stage {
    cx_recording *recording;
    cx_thread *thread;
    ctxrt_scope scope;
    ctxrt_stream *stream;
    cx_stream_target target;
} stage;

static ctxrt_status enter_stage(stage *self)
{
    cx_recording *recording = self->recording;
    ctxrt_allocator *allocator = atomic_load(&cx_thread_top(self->thread)->allocator);
    ctxrt_status status =
        ctxrt_scope_enter_context(cx_context_handle(recording->context), &self->scope);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_thread_top(self->thread)->token = recording->token;
    status = ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &self->stream);
    if (status == CTXRT_SUCCESS)
        status = cx_stream_resolve_handle(self->stream, &self->target);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_frame_set_stream(self->stream);
    self->recording->use.capture = self->stream;
    return status == CTXRT_SUCCESS ? ctxrt_frame_set_allocator(allocator) : status;
}

/* The first error stays. */
static ctxrt_status leave_stage(stage *self, ctxrt_status status)
{
    cx_error_saved saved;
    cx_error_save(&saved);
    self->recording->use.capture = NULL;
    ctxrt_status left = ctxrt_scope_leave(&self->scope);
    if (status == CTXRT_SUCCESS) {
        status = left;
        cx_error_save(&saved);
    }
    ctxrt_status destroyed = ctxrt_stream_destroy(self->stream);
    if (status == CTXRT_SUCCESS)
        return destroyed;
    cx_error_restore(&saved);
    return status;
}

/* ---- captures ---- */

static bool can_capture(const cx_driver *driver)
{
    return !driver->missing[CX_SLOT_stream_begin_capture] &&
           !driver->missing[CX_SLOT_stream_end_capture] &&
           !driver->missing[CX_SLOT_stream_is_capturing] && !driver->missing[CX_SLOT_graph_launch];
}

/* Keeps a reset by another thread from ending the stage's stream during a call with it; balanced by
 * cx_context_unpin. Operators run without it, since they may wait for work. */
static ctxrt_status pin_stage(const stage *self)
{
    return cx_context_pin_epoch(self->target.context, self->target.epoch)
               ? CTXRT_SUCCESS
               : cx_error(CTXRT_ERROR_CONTEXT_DESTROYED,
                          "the recording is over: %s was reset while it was stopped",
                          cx_context_text(self->target.context));
}

static ctxrt_status check_capture(const stage *self, const cx_operator *called, size_t number)
{
    cxu_stream_capture_status state = CXU_STREAM_CAPTURE_STATUS_ACTIVE;
    ctxrt_status status = pin_stage(self);
    if (status != CTXRT_SUCCESS)
        return status;
    status =
        CX_DRIVER_CALL(self->target.driver, stream_is_capturing, (self->target.native, &state));
    cx_context_unpin(self->target.context);
    if (status == CTXRT_SUCCESS && state != CXU_STREAM_CAPTURE_STATUS_ACTIVE)
        return cx_error(
            CTXRT_ERROR_DRIVER,
            "%s cannot be captured: it made a call that a capture does not allow; an operator that "
            "waits, or works on the host, must not be declared capturable",
            cx_operator_text(called, number).text);
    return status;
}

static ctxrt_status run_operators(const stage *self, const cx_graph_piece *piece)
{
    ctxrt_status status = CTXRT_SUCCESS;
    for (size_t i = piece->first; i < piece->first + piece->count && status == CTXRT_SUCCESS; i++) {
        const cx_operator *called = &self->recording->operators[i];
        status = cx_operator_run(self->thread, called, i + 1);
        if (status == CTXRT_SUCCESS)
            status = check_capture(self, called, i + 1);
    }
    return status;
}

static ctxrt_status end_capture(const stage *self, const cx_graph_piece *piece, CUgraph *out_native)
{
    ctxrt_status status = pin_stage(self);
    if (status != CTXRT_SUCCESS)
        return status;
    status =
        CX_DRIVER_CALL(self->target.driver, stream_end_capture, (self->target.native, out_native));
    cx_context_unpin(self->target.context);
    if (status == CTXRT_SUCCESS)
        return status;
    const ctxrt_error *error = ctxrt_last_error();
    return cx_error_driver_call(status, error->driver_call, error->driver_result,
                                error->driver_result_name,
                                "the operators %zu to %zu could not be captured: %s",
                                piece->first + 1, piece->first + piece->count, error->message);
}

/* A failed capture is ended too, so that the thread is not left capturing. */
static void abandon_capture(const stage *self)
{
    CUgraph native = NULL;
    const cx_driver_table *table = &self->target.driver->table;
    if (!cx_context_pin_epoch(self->target.context, self->target.epoch))
        return;
    if (table->stream_end_capture(self->target.native, &native) == CXU_SUCCESS)
        (void)table->graph_destroy(native);
    cx_context_unpin(self->target.context);
}

static ctxrt_status capture_piece(const stage *self, cx_graph_piece *piece)
{
    CUgraph native = NULL;
    ctxrt_status status = pin_stage(self);
    if (status != CTXRT_SUCCESS)
        return status;
    status = CX_DRIVER_CALL(self->target.driver, stream_begin_capture,
                            (self->target.native, CXU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    cx_context_unpin(self->target.context);
    if (status != CTXRT_SUCCESS)
        return status;
    status = run_operators(self, piece);
    if (status == CTXRT_SUCCESS)
        status = end_capture(self, piece, &native);
    else
        abandon_capture(self);
    piece->native = native;
    return status;
}

/* ---- pieces ---- */

static cx_graph_piece next_piece(const cx_recording *recording, size_t first)
{
    const cx_operator *operators = recording->operators;
    cx_graph_piece piece = {.first = first, .count = 1};
    while (first + piece.count < recording->operator_count &&
           operators[first + piece.count].capturable == operators[first].capturable)
        piece.count++;
    return piece;
}

static ctxrt_status add_pieces(stage *self, cx_sequence *sequence)
{
    ctxrt_status status = CTXRT_SUCCESS;
    const cx_recording *recording = self->recording;
    for (size_t first = 0; first < recording->operator_count && status == CTXRT_SUCCESS;) {
        cx_graph_piece piece = next_piece(recording, first);
        first += piece.count;
        status = cx_sequence_reserve(sequence);
        if (status == CTXRT_SUCCESS && recording->operators[piece.first].capturable)
            status = capture_piece(self, &piece);
        if (status == CTXRT_SUCCESS)
            status = cx_sequence_put(sequence, piece);
    }
    return status;
}

/* Without captures in the driver, launches call all operators. */
static bool anything_to_capture(cx_recording *recording)
{
    bool possible = can_capture(recording->context->driver), any = false;
    for (size_t i = 0; i < recording->operator_count; i++) {
        recording->operators[i].capturable = recording->operators[i].capturable && possible;
        any = any || recording->operators[i].capturable;
    }
    return any;
}

ctxrt_status cx_recording_build(cx_thread *thread, cx_recording *recording,
                                cx_sequence **out_sequence)
{
    stage self = {.recording = recording, .thread = thread};
    cx_sequence *sequence;
    ctxrt_status status = cx_sequence_make(recording->context, recording->epoch, &sequence);
    if (status != CTXRT_SUCCESS)
        return status;
    if (anything_to_capture(recording)) {
        status = enter_stage(&self);
        if (status == CTXRT_SUCCESS)
            status = add_pieces(&self, sequence);
        status = leave_stage(&self, status);
    } else {
        status = add_pieces(&self, sequence);
    }
    if (status != CTXRT_SUCCESS) {
        cx_error_saved saved;
        cx_error_save(&saved);
        (void)cx_sequence_release(sequence);
        cx_error_restore(&saved);
        return cx_context_map_error(recording->context, "recording", status);
    }
    sequence->operators = recording->operators;
    sequence->operator_count = recording->operator_count;
    sequence->pool = recording->pool;
    recording->operators = NULL;
    recording->operator_count = 0;
    recording->pool = NULL;
    *out_sequence = sequence;
    return CTXRT_SUCCESS;
}
