/*
 * Contexts whose work is timed by events: each one's clock, its spare events, and its work that is
 * not over. A clock is an event of which the host's time is known.
 */
#ifndef CX_LAYER_TRACE_CLOCK_H
#define CX_LAYER_TRACE_CLOCK_H

#include "layer/trace/events.h"

struct cx_trace_timed {
    cx_work_timestamps timing; /* until the work is over, without the times of its begin and end */
    struct cx_trace_clock *clock;
    uint64_t life; /* of the clock, when the work was taken */
    CUstream stream;
    CUevent began, ended;
    struct cx_trace_timed *prev, *next;
};

typedef struct cx_trace_clock cx_trace_clock;

/* The clock of the current context `context`, made on its first work. NULL: it cannot be timed. */
cx_trace_clock *cx_trace_clock_of(const cx_driver_table *driver, CUcontext context);

/* Work with two events of the clock's context, which is current. NULL: it cannot be timed. */
cx_trace_timed *cx_trace_clock_take(const cx_driver_table *driver, cx_trace_clock *clock);

/* The work was not submitted; its events are spare again. */
void cx_trace_clock_drop(cx_trace_timed *timed);

/* The work was submitted: it waits for its end. True now and then when much waits: it is time to
 * look. */
bool cx_trace_clock_keep(cx_trace_timed *timed);

/* Tells the times of work that is over. */
void cx_trace_clock_look(const cx_driver_table *driver, cx_trace_clock *clock,
                         cx_work_timestamps_watcher *tell);

/* Each clock, one after the other; NULL behind the last. Only contexts' ends remove clocks. */
cx_trace_clock *cx_trace_clock_next(const cx_trace_clock *after);
CUcontext cx_trace_clock_context(const cx_trace_clock *clock);
bool cx_trace_clock_is_primary(const cx_trace_clock *clock, CUdevice device);

/* Its context ends, and the events with it: the times of work that is not over stay unknown. */
void cx_trace_clock_end(cx_trace_clock *clock);

#endif
