/*
 * Marks: the clocks of events. Every function needs the lock "check".
 */
#ifndef CX_LAYER_CHECK_ORDER_SYNC_H
#define CX_LAYER_CHECK_ORDER_SYNC_H

#include "layer/check/stream_clock.h"

/* Work whose order cannot be known is not judged: its lines have this capture. */
#define CX_ORDER_UNKNOWN UINT64_MAX

/* An event's last record, or an executable graph's last launch. */
typedef struct cx_order_mark {
    uintptr_t handle;
    cx_stream_clock_kept *clock; /* NULL: it is captured, or there was no memory */
    uint64_t capture;
    UT_hash_handle hh;
} cx_order_mark;

/* NULL: it has none. */
cx_order_mark *cx_order_mark_find(uintptr_t handle);

/* The clock of what a wait for the event is ordered after, which the caller frees: all work, if the
 * event is of another process. NULL: nothing, or no memory. */
cx_stream_clock_kept *cx_order_mark_clock(CUevent event);

/* Takes the clock. */
void cx_order_mark_set(uintptr_t handle, cx_stream_clock_kept *clock, uint64_t capture);

void cx_order_mark_end(uintptr_t handle);

/* Adds what the last launch of the executable graph was ordered after besides. */
void cx_order_mark_add(uintptr_t exec, const cx_stream_clock_kept *clock);

/* A launch was submitted of whose nodes the driver told nothing. If graphs have nodes that record
 * events or wait for them, any such launch may do either. */
void cx_order_graph_untold(int line);

/* True if an earlier launch was one. */
bool cx_order_graphs_are_untold(void);

#endif
