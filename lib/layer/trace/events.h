/*
 * The times of work that a driver does not tell: with CTXRT_TRACE_EVENTS=1 the layer records an
 * event before and after each piece of work in its stream, and asks for their times once the work
 * is over. Work of captures is not timed, and no synchronous call: the host's times tell that one.
 *
 * The layer makes two events for each piece of work that is under way, and a stream for each
 * context. Its calls of the driver are made with a capture mode that hinders no capture.
 */
#ifndef CX_LAYER_TRACE_EVENTS_H
#define CX_LAYER_TRACE_EVENTS_H

#include "driver/work_timestamps.h"
#include "layer/layer.h"

#include <stdbool.h>

/* Work that a thread is about to submit. */
typedef struct cx_trace_timed cx_trace_timed;

/* Called when the layer is put. `tell` is called without locks. */
void cx_trace_events_begin(const cx_driver_table *driver, cx_work_timestamps_watcher *tell);

/* True if CTXRT_TRACE_EVENTS asks for them. */
bool cx_trace_events_wanted(void);

/* Before a call that may submit work, or that ends a context: what is not over then is not timed.
 * NULL: the call submits nothing that is timed. */
cx_trace_timed *cx_trace_events_before(const cx_layer_call *call, uint64_t ticket);

/* The ticket of the call that is timed. */
uint64_t cx_trace_events_ticket(const cx_trace_timed *timed);

/* After it. Tells the times of work that is over. */
void cx_trace_events_after(const cx_layer_call *call, cx_trace_timed *timed);

#endif
