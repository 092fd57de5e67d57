/*
 * Facts about an address, from ctxrt and the loaded drivers.
 */
#ifndef CX_MEMORY_POINTER_H
#define CX_MEMORY_POINTER_H

#include "memory/freed_ranges.h"
#include "memory/address_index.h"

typedef struct cx_pointer_view {
    cx_driver *driver;      /* NULL: no driver knows the address; it may be ordinary host memory */
    ctxrt_memory_kind kind; /* DEVICE, PINNED or MANAGED */
    cx_device *device;      /* NULL: none that ctxrt lists */
    CUcontext owner;        /* NULL: no context owns the memory */
    cx_pointer_block block; /* the block, if ctxrt has or had memory there */
    cx_freed_range past;    /* if block.state is CX_POINTER_PAST */
} cx_pointer_view;

/* Looks an address up in ctxrt's tables, and else asks the loaded drivers; needs no current
 * context. `bytes` from there on are about to be used. */
ctxrt_status cx_pointer_look(const void *pointer, size_t bytes, cx_pointer_view *out_view);

/* Refuses bytes that ctxrt freed, or that are beyond ctxrt's block there, in the name of `call`.
 * The driver judges memory of other code. `noun`: "source". */
ctxrt_status cx_pointer_check(const char *call, const char *noun, const void *pointer, size_t bytes,
                              const cx_pointer_view *view);

/* True if the host may touch the memory, as far as the drivers know. */
static inline bool cx_pointer_of_host(const cx_pointer_view *view)
{
    return view->driver == NULL || view->kind != CTXRT_MEMORY_DEVICE ||
           (view->device != NULL && view->device->host_accessible);
}

/* "memory of cuda:1", "pinned memory", ...: a constant, or in a thread-local buffer; for
 * messages. */
const char *cx_pointer_text(const cx_pointer_view *view);

/* A context of the driver that knows the address: the owner, or the device's primary context. */
ctxrt_status cx_pointer_context(const cx_pointer_view *view, cx_context **out_context);

#endif
