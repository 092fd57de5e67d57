#include "graph/order.h"

#include "base/cancel.h"
#include "base/error.h"
#include "context/context_guard.h"
#include "context/use.h"
#include "graph/ready.h"
#include "work/capture_gate.h"
#include "work/event.h"
#include "work/relaxed_capture.h"

/* ---- launches whose event was not recorded ---- */

/* The legacy stream has one handle for all contexts. */
static bool find_stream(const ctxrt_stream *stream, cx_context *context,
                        cx_stream_target *out_target)
{
    if (stream == CTXRT_STREAM_LEGACY) {
        *out_target = (cx_stream_target){.driver = context->driver,
                                         .context = context,
                                         .epoch = atomic_load(&context->epoch),
                                         .stream = CTXRT_STREAM_LEGACY,
                                         .native = CXU_STREAM_LEGACY};
        return true;
    }
    return cx_pool_find(&cx_streams, stream) != NULL &&
           cx_stream_resolve_handle(stream, out_target) == CTXRT_SUCCESS;
}

static bool record_again(cx_launch_order *order, cx_context *context)
{
    cx_stream_target target;
    cx_context_guard guard;
    if (!find_stream(order->unrecorded, context, &target) ||
        cx_context_guard_enter(context, &guard) != CTXRT_SUCCESS)
        return false;
    bool recorded = cx_capture_gate_record(target.driver, target.native, order->done);
    cx_context_guard_leave(&guard);
    return recorded;
}

/* Keeps the caller's last error, even if the second try fails. */
static bool record_again_quietly(cx_launch_order *order, cx_context *context)
{
    cx_error_saved saved;
    cx_error_save(&saved);
    bool recorded = record_again(order, context);
    cx_error_restore(&saved);
    return recorded;
}

static ctxrt_status settle_order(cx_launch_order *order, cx_sequence *sequence)
{
    ctxrt_status status = CTXRT_SUCCESS;
    if (order->unrecorded == NULL)
        return status;
    if (!record_again_quietly(order, sequence->context))
        status = cx_ready_wait_for_context(sequence->context);
    if (status == CTXRT_SUCCESS) {
        order->unrecorded = NULL;
        order->begun = true;
    }
    return status;
}

/* ---- launches ---- */

static ctxrt_status wait_for(const cx_stream_target *target, const CUevent *events, int count)
{
    ctxrt_status status = CTXRT_SUCCESS;
    for (int i = 0; i < count && status == CTXRT_SUCCESS; i++)
        status = CX_DRIVER_CALL(target->driver, stream_wait_event,
                                (target->native, events[i], CXU_EVENT_WAIT_DEFAULT));
    return status;
}

ctxrt_status cx_launch_order_begin(cx_launch_order *order, cx_sequence *sequence,
                                   const cx_stream_target *target)
{
    ctxrt_status status = CTXRT_SUCCESS;
    if (order->done == NULL)
        status = cx_event_make_native(target, &order->done);
    if (status == CTXRT_SUCCESS)
        status = settle_order(order, sequence);
    if (status == CTXRT_SUCCESS && !order->begun)
        status = cx_ready_settle(sequence);
    if (status != CTXRT_SUCCESS)
        return status;
    return order->begun ? wait_for(target, &order->done, 1)
                        : wait_for(target, sequence->ready, sequence->ready_count);
}

/* If another thread has begun a capture meanwhile, the event belongs to that and cannot be waited
 * for. */
ctxrt_status cx_launch_order_end(cx_launch_order *order, const cx_stream_target *target)
{
    ctxrt_status status = CTXRT_SUCCESS;
    bool recorded = cx_capture_gate_enter(target->driver, target->native);
    if (recorded) {
        status = CX_DRIVER_CALL(target->driver, event_record, (order->done, target->native));
        recorded =
            status == CTXRT_SUCCESS && cx_relaxed_capture_may_query(target->driver, target->native);
        cx_capture_gate_leave(target->native);
    }
    order->unrecorded = recorded ? NULL : target->stream;
    order->begun = order->begun || recorded;
    return status;
}

/* ---- the last launch ---- */

static ctxrt_status wait_for_last(cx_launch_order *order, cx_sequence *sequence)
{
    const cx_driver *driver = sequence->context->driver;
    ctxrt_status status = settle_order(order, sequence);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(driver);
    int cancel = cx_cancel_hold();
    status = CX_DRIVER_CALL(driver, event_synchronize, (order->done));
    cx_cancel_restore(cancel);
    cx_relaxed_capture_end(&relaxed);
    return status;
}

/* If the driver refuses a wait, tries another way: the memory is handed out next. */
static ctxrt_status wait_somehow(cx_launch_order *order, cx_sequence *sequence)
{
    cx_error_saved saved;
    ctxrt_status status = wait_for_last(order, sequence);
    if (status == CTXRT_SUCCESS)
        return status;
    cx_error_save(&saved);
    (void)cx_ready_wait_for_context(sequence->context);
    cx_error_restore(&saved);
    return status;
}

static bool is_gone(cxu_result result)
{
    return result == CXU_CONTEXT_IS_DESTROYED || result == CXU_INVALID_CONTEXT;
}

/* The event goes with its context, and so does the work it waits for. */
ctxrt_status cx_launch_order_finish(cx_launch_order *order, cx_sequence *sequence)
{
    const cx_driver *driver = sequence->context->driver;
    ctxrt_status status = CTXRT_SUCCESS;
    if (order->done == NULL || !cx_context_pin_what_is_of(sequence->context, sequence->epoch))
        return status;
    if (sequence->pool != NULL)
        status = wait_somehow(order, sequence);
    cxu_result result = driver->table.event_destroy(order->done);
    cx_context_unpin(sequence->context);
    if (is_gone(result)) /* other code has ended the context */
        result = CXU_SUCCESS;
    return status != CTXRT_SUCCESS ? status
                                   : cx_driver_check(driver, CX_SLOT_event_destroy, result);
}
