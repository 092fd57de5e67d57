/*
 * What the drivers know of an address.
 */
#ifndef CX_MEMORY_PLACE_H
#define CX_MEMORY_PLACE_H

#include "device/device.h"
#include <ctxrt/memory.h>

typedef struct cx_place {
    cx_device *device; /* NULL: no driver knows the address; it is taken for ordinary host memory */
    ctxrt_memory_kind kind;
    uintptr_t base;
    size_t size_bytes; /* of the allocation */
} cx_place;

/* Asks every loaded driver. The runtime runs. */
cx_place cx_place_of(const void *pointer);

/* Whether the host may touch it. */
static inline bool cx_place_host(const cx_place *place)
{
    return place->device == NULL || place->kind != CTXRT_MEMORY_DEVICE || place->device->host_accessible;
}

/* Refuses [pointer, pointer + size) if it wraps around or leaves the allocation that `pointer` lies in.
 * `what` names the argument. */
ctxrt_status cx_place_check(const cx_place *place, const void *pointer, size_t size_bytes, const char *what);

#endif
