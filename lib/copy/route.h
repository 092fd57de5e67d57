/*
 * Where a copy or a fill runs: on the stream it was given, or, where the memory belongs to another
 * driver than that stream, or is mapped and out of its device's reach, after the stream's work in a
 * context of the memory's own.
 */
#ifndef CX_COPY_ROUTE_H
#define CX_COPY_ROUTE_H

#include "context/excursion.h"
#include "memory/pointer.h"
#include "work/stream.h"

typedef struct cx_route {
    cx_stream_target target;
    cx_excursion excursion;
    ctxrt_stream *stream;     /* that was asked for; NULL: the current one */
    ctxrt_memory *touched[2]; /* pinned memory of ctxrt's, with a count; NULL: none */
    bool asking; /* no capture begins in the stream before what is touched is marked */
    bool wait; /* nothing else orders what comes behind: it must be done before the call returns */
} cx_route;

/* `end`: memory whose driver is to do the work; NULL: any driver. Until cx_route_end the route's
 * context is current at its driver. */
ctxrt_status cx_route_begin(ctxrt_stream *stream, const cx_pointer_view *end, cx_route *out_route);

/* After a route began, before work is submitted: says that the work touches an address. Pinned
 * memory of ctxrt's is then given to nobody else before the work is done. At most twice. */
void cx_route_touch(cx_route *route, const cx_pointer_view *view);

/* Passes on the status of what was submitted; if that is a success, waits where the route or the
 * caller must. */
ctxrt_status cx_route_end(cx_route *route, ctxrt_status status, bool wait);

/* For work of the host alone, which needs no device: false if `stream` is NULL and nothing is
 * current, so that there is no order to keep. Leaves the last error alone. */
bool cx_route_wanted(const ctxrt_stream *stream);

#endif
