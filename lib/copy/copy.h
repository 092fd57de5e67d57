/*
 * Copies: the choice of the driver that does one, how it addresses each end, and its calls.
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

/* Rows of bytes at one end of a copy. */
typedef struct cx_copy_rows {
    unsigned char *begin; /* of a source: only read */
    size_t pitch, rows;   /* bytes from row to row, rows from slice to slice */
} cx_copy_rows;

/* A region that was checked: no sum of its own overflows. Plain bytes are one row. */
typedef struct cx_copy_box {
    cx_copy_rows destination, source;
    size_t width, height, depth;
} cx_copy_box;

static inline cx_copy_box cx_copy_box_of_bytes(void *destination, const void *source, size_t bytes)
{
    return (cx_copy_box){.destination = {destination, bytes, 1},
                         .source = {(unsigned char *)(uintptr_t)source, bytes, 1},
                         .width = bytes,
                         .height = 1,
                         .depth = 1};
}

static inline unsigned char *cx_copy_row(const cx_copy_rows *end, size_t y, size_t z)
{
    return end->begin + (z * end->rows + y) * end->pitch;
}

/* The bytes from the first to the last one at an end. */
static inline size_t cx_copy_extent(const cx_copy_box *box, const cx_copy_rows *end)
{
    return ((box->depth - 1) * end->rows + box->height - 1) * end->pitch + box->width;
}

/* CTXRT_ERROR_INVALID_ARGUMENT if `kind` contradicts the memory, or the copy goes beyond ctxrt's
 * blocks; `call` is the caller, for the message. */
ctxrt_status cx_copy_plan_make(const char *call, const cx_copy_box *box, ctxrt_copy_kind kind,
                               cx_copy_plan *out_plan);

/* Refuses NULL, and ranges that wrap around, in the name of `call`. */
ctxrt_status cx_copy_check_range(const char *call, const char *noun, const void *pointer,
                                 size_t size_bytes);

/* Copies by the plan, in the order of `stream`; `call` is the caller, for messages. */
ctxrt_status cx_copy_run(const char *call, const cx_copy_plan *plan, const cx_copy_box *box,
                         ctxrt_stream *stream, bool wait);

/* ---- submit.c ---- */

/* Submits a copy to a stream of the plan's driver. */
ctxrt_status cx_copy_submit(const cx_copy_plan *plan, const cx_stream_target *target,
                            const cx_copy_box *box);

/* The host copies by itself. */
void cx_copy_box_on_host(const cx_copy_box *box);

/* ---- copy_across.c ---- */

/*
 * Puts a copy between devices that the driver of `stream` cannot do alone into the order of
 * `stream`, while the caller goes on. *out_taken: false if it is no such copy, or the stream
 * captures and its driver can do the copy by itself. After an error the destination may have been
 * written to, but the copy no longer touches memory of the other driver.
 * CTXRT_ERROR_NOT_SUPPORTED if the stream captures; the capture goes on.
 */
ctxrt_status cx_copy_across(const char *call, const cx_copy_plan *plan, const cx_copy_box *box,
                            ctxrt_stream *stream, bool *out_taken);

#endif
