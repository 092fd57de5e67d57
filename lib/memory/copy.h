/*
 * Copies: which way they go, and through which driver.
 */
#ifndef CX_MEMORY_COPY_H
#define CX_MEMORY_COPY_H

#include "memory/place.h"
#include "work/stream.h"

/* How a copy is done. */
typedef enum cx_route {
    CX_ROUTE_DRIVER, /* the stream's driver reaches both ends */
    CX_ROUTE_STAGED  /* the ends are of different drivers, or of another one than the stream's */
} cx_route;

/* Refuses a kind that is none, or that contradicts what the ends are. */
ctxrt_status cx_copy_check_kind(const cx_place *destination, const cx_place *source, ctxrt_copy_kind kind);

/* Whether the host can do it without any stream; else how `driver` can. */
bool cx_copy_host_only(const cx_place *destination, const cx_place *source, ctxrt_copy_kind kind);
cx_route cx_copy_route(const cx_place *destination, const cx_place *source, const cx_driver *driver);

/* Copies between any two ends and waits: each end through its own driver, by way of host memory where need
 * be. Work in streams is not waited for. */
ctxrt_status cx_copy_staged(void *destination, const cx_place *to, const void *source, const cx_place *from,
                            size_t size_bytes);

#endif
