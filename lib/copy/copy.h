/*
 * Copies: the choice of the driver that does one, and how it addresses each end.
 */
#ifndef CX_COPY_COPY_H
#define CX_COPY_COPY_H

#include "copy/route.h"

typedef struct cx_copy_end {
    cx_pointer_view view;
    bool device; /* addressed as device memory; else as host memory */
} cx_copy_end;

typedef struct cx_copy_plan {
    cx_copy_end destination, source;
    const cx_pointer_view *end; /* memory whose driver does the copy; NULL: the host can */
    bool peers;                 /* both are device memory, of two different devices */
    bool devices;               /* both are device memory, of one driver or of two */
    bool across;                /* of two drivers: one of them sees the other end as host memory */
} cx_copy_plan;

/* A region that was checked: no sum of its own overflows. Plain bytes are one row. */
typedef struct cx_copy_box {
    unsigned char *destination;
    const unsigned char *source;
    size_t destination_pitch, destination_rows; /* rows from slice to slice */
    size_t source_pitch, source_rows;
    size_t width, height, depth;
} cx_copy_box;

static inline unsigned char *cx_copy_destination_row(const cx_copy_box *box, size_t y, size_t z)
{
    return box->destination + (z * box->destination_rows + y) * box->destination_pitch;
}

static inline const unsigned char *cx_copy_source_row(const cx_copy_box *box, size_t y, size_t z)
{
    return box->source + (z * box->source_rows + y) * box->source_pitch;
}

/* The first and last byte that a copy reads and writes. */
typedef struct cx_copy_extent {
    const void *destination, *source;
    size_t destination_bytes, source_bytes;
} cx_copy_extent;

/* CTXRT_ERROR_INVALID_ARGUMENT if `kind` contradicts the memory, or the copy goes beyond ctxrt's
 * blocks; `call` is the caller, for the message. */
ctxrt_status cx_copy_plan_make(const char *call, const cx_copy_extent *extent, ctxrt_copy_kind kind,
                               cx_copy_plan *out_plan);

/* Refuses NULL, and ranges that wrap around, in the name of `call`. */
ctxrt_status cx_copy_check_range(const char *call, const char *noun, const void *pointer,
                                 size_t size_bytes);

/* Begins a route for the plan's copy in the order of `stream`; after success, end it with
 * cx_route_end. */
ctxrt_status cx_copy_begin(const cx_copy_plan *plan, ctxrt_stream *stream, cx_route *out_route);

/* Announces the memory of a copy that is about to be submitted: cx_route_touch. */
void cx_copy_touch(const cx_copy_plan *plan, cx_route *route);

/* The host copies by itself, what a plan without an `end` says. CTXRT_ERROR_CONTEXT_DESTROYED: a
 * reset has ended one of the ends. */
ctxrt_status cx_copy_on_host(const cx_copy_plan *plan, const cx_copy_box *shape);

/* Copies plain bytes by the plan, in the order of `stream`; `call` is the caller, for messages. */
ctxrt_status cx_copy_run(const char *call, const cx_copy_plan *plan, void *destination,
                         const void *source, size_t size_bytes, ctxrt_stream *stream, bool wait);

/*
 * Puts a copy between devices that the driver of `stream` cannot do alone into the order of
 * `stream`, while the caller goes on (copy_across.c). *out_taken: false if it is no such copy, or
 * the stream captures and its driver can do the copy by itself. After an error the destination may
 * have been written to, but the copy no longer touches memory of the other driver.
 * CTXRT_ERROR_NOT_SUPPORTED if the stream captures; the capture goes on.
 */
ctxrt_status cx_copy_across(const char *call, const cx_copy_plan *plan, const cx_copy_box *box,
                            ctxrt_stream *stream, bool *out_taken);

#endif
