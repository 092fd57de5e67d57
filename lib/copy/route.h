/*
 * The stream that a copy or a fill runs on: the given one; or, if the memory belongs to another
 * driver or is mapped and out of reach of the stream's device, one in a context of the memory's
 * own, after the given stream's work. That one neither waits for the context's other streams nor
 * ends their captures.
 */
#ifndef CX_COPY_ROUTE_H
#define CX_COPY_ROUTE_H

#include "context/context_guard.h"
#include "memory/pointer.h"
#include "work/stream.h"

/* The contexts that a call works in: none of them is reset or ended before cx_copy_unpin, nor does
 * the access to mapped memory end that the call relies on. */
typedef struct cx_copy_pins {
    cx_context *contexts[3];
    int count;
    cx_context *reached[3];
    int reached_count;
    bool entered; /* in a section, instead of pins */
    int cancel;
} cx_copy_pins;

/* Resolves the stream argument as cx_work_begin does, and pins its context and those of the ends;
 * NULL: no such end. CTXRT_ERROR_CONTEXT_DESTROYED: a reset has ended one of the ends since it was
 * looked up. On failure nothing is pinned. */
ctxrt_status cx_copy_pin(const ctxrt_stream *stream, const cx_pointer_view *destination,
                         const cx_pointer_view *source, cx_stream_target *out_target,
                         cx_copy_pins *out_pins);
/* Pins the contexts of ends where the host itself touches `bytes`, in no stream's order. For as few
 * as the host touches in a microsecond it enters a section instead, so that nothing is counted. */
ctxrt_status cx_copy_pin_ends(const cx_pointer_view *destination, const cx_pointer_view *source,
                              size_t bytes, cx_copy_pins *out_pins);
void cx_copy_unpin(const cx_copy_pins *pins);

typedef struct cx_route {
    cx_stream_target target;
    cx_context_guard guard;
    cx_copy_pins pins;
    ctxrt_memory *touched[2]; /* pinned memory of ctxrt's, with a count; NULL: none */
    bool gate_entered; /* no capture begins in the stream before the work's events are recorded */
    bool wait; /* nothing else orders later work: the work must be done before the call returns */
} cx_route;

/* Begins work of `stream` that touches the two ends (NULL: none). `end`: memory whose driver must
 * do the work; NULL: any driver. Until cx_route_end the route's context is current at its driver,
 * and no reset ends that context or the memory. */
ctxrt_status cx_route_begin(ctxrt_stream *stream, const cx_pointer_view *end,
                            const cx_pointer_view *destination, const cx_pointer_view *source,
                            cx_route *out_route);

/* The same for work in a context of the memory's own, whatever the stream's device could do. */
ctxrt_status cx_route_begin_at(ctxrt_stream *stream, const cx_pointer_view *end,
                               cx_route *out_route);

/* Called right before the work is submitted: ctxrt's pinned memory at the ends (NULL: no end) is
 * not handed out again before the work is done. No wait may follow: captures of the stream are held
 * off. */
void cx_route_touch(cx_route *route, const cx_pointer_view *destination,
                    const cx_pointer_view *source);

/* Passes on the status of the submission; after a success it waits if the route or the caller
 * must. Otherwise it records the uses of memory of other contexts (memory/peer_use.h). */
ctxrt_status cx_route_end(cx_route *route, ctxrt_status status, bool wait);

/* For work of the host alone, which needs no device: false if `stream` is NULL and nothing is
 * current, so that there is no order to keep. Keeps the last error. */
bool cx_route_wanted(const ctxrt_stream *stream);

#endif
