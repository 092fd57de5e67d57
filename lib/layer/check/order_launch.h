/*
 * A launch of a graph, while its work is judged: its nodes, the events that they wait for and
 * record, and whether they tell the program. Every function needs the lock "check".
 */
#ifndef CX_LAYER_CHECK_ORDER_LAUNCH_H
#define CX_LAYER_CHECK_ORDER_LAUNCH_H

#include "layer/check/order_bytes.h"

typedef struct cx_order_launch {
    cx_order_graph *graph; /* a reference */
    struct cx_order_wait *waits;
    size_t wait_count, wait_capacity;
    struct cx_order_record *records;
    size_t record_count, record_capacity;
    size_t told_by; /* the last node that calls the program; SIZE_MAX: none does */
    bool unknown;   /* a node waits for a value in memory, or writes one */
} cx_order_launch;

/* Before the launch's own records. NULL: no memory. */
cx_order_launch *cx_order_launch_new(uintptr_t exec, const cx_access_log_graph *told);
void cx_order_launch_free(cx_order_launch *launch); /* NULL is harmless */

/* The next work of the launch's line is ordered after all that nodes wait for. */
void cx_order_launch_line_waits(const cx_order_launch *launch, int line);

/* The piece of a node, with a reference of the caller. `whole` is that of the launch. NULL: no
 * memory. */
cx_order_piece *cx_order_launch_piece(const cx_order_launch *launch, const cx_order_piece *whole,
                                      size_t node);

/* The clock of a node, which the caller frees. `clock` is that of the launch. NULL: no memory, or
 * `clock` is NULL. */
cx_stream_clock_kept *cx_order_launch_clock(const cx_order_launch *launch,
                                            const cx_stream_clock_kept *clock, size_t node);

/* The launch of the executable graph has been submitted: its events are recorded, and the host may
 * be told. */
void cx_order_launch_submitted(const cx_order_launch *launch, uintptr_t exec,
                               const cx_order_piece *whole, const cx_stream_clock_kept *clock);

#endif
