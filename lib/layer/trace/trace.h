/*
 * The layer that traces: it records each call with its arguments, its result, its times and the
 * thread's current context, and the times of work where the driver tells them, in a file for `ctxrt
 * trace`. Nothing is dropped while there is room for the file.
 *
 * A thread writes into its own part of the file. The lock "process file" is taken where a thread
 * goes on to another part, and no driver is called under it; "trace clocks" is taken where events
 * time work.
 */
#ifndef CX_LAYER_TRACE_TRACE_H
#define CX_LAYER_TRACE_TRACE_H

#include "layer/layer.h"

/* Puts the layer in front of a table, for the rest of the process; again only if the driver is the
 * same one. `times_itself`: the driver tells the times of work (driver/work_timestamps.h), so that
 * events need not measure them. False with errno: there can be no file, and nothing is traced. */
bool cx_trace_put(const cx_driver_table *below, bool times_itself, cx_driver_table *out_table);

/* The calling thread enters or leaves a call of the CUDA Runtime API: cx_entry_origin_now has
 * changed. Its calls of the driver until the next change are that one's. */
void cx_trace_change_api(void);

#endif
