/*
 * Copies: which driver does one, and as what it addresses each end.
 */
#ifndef CX_MEMORY_COPY_H
#define CX_MEMORY_COPY_H

#include "memory/route.h"

typedef struct cx_copy_end {
    cx_pointer_view view;
    bool device; /* addressed as memory of a device; else as host memory */
} cx_copy_end;

typedef struct cx_copy_plan {
    cx_copy_end destination, source;
    const cx_pointer_view *end; /* memory whose driver does the copy; NULL: the host can */
    bool peers;                 /* both are memory of devices, of two different ones */
    /* the source is memory of a device, but to the driver that copies it is host memory */
    bool strange;
} cx_copy_plan;

/* CTXRT_ERROR_INVALID_ARGUMENT if `kind` contradicts what the drivers know. */
ctxrt_status cx_copy_plan_make(const void *destination, const void *source, ctxrt_copy_kind kind,
                               cx_copy_plan *out_plan);

/* A NULL, or a range that wraps around: refused in the name of `call`. */
ctxrt_status cx_copy_check_range(const char *call, const char *noun, const void *pointer,
                                 size_t size_bytes);

/* Begins a route for the plan's copy in the order of `stream`, to be ended with cx_route_end if it
 * succeeds. */
ctxrt_status cx_copy_begin(const cx_copy_plan *plan, ctxrt_stream *stream, cx_route *out_route);

/* Says what a copy touches that is about to be submitted: cx_route_touch. */
void cx_copy_touch(const cx_copy_plan *plan, cx_route *route, const void *destination,
                   const void *source);

/* Submits a copy of plain bytes to the route. */
ctxrt_status cx_copy_submit(const cx_copy_plan *plan, const cx_route *route, void *destination,
                            const void *source, size_t size_bytes);

/* Copies plain bytes as the plan says, in the order of `stream`. */
ctxrt_status cx_copy_run(const cx_copy_plan *plan, void *destination, const void *source,
                         size_t size_bytes, ctxrt_stream *stream, bool wait);

#endif
