/*
 * What ctxrt and the loaded drivers know of an address.
 */
#ifndef CX_MEMORY_POINTER_H
#define CX_MEMORY_POINTER_H

#include "memory/past.h"
#include "memory/pointer_table.h"

typedef struct cx_pointer_view {
    cx_driver *driver;      /* NULL: no driver knows the address; it may be ordinary host memory */
    ctxrt_memory_kind kind; /* DEVICE, PINNED or MANAGED */
    cx_device *device;      /* NULL: none that ctxrt lists */
    CUcontext owner;        /* NULL: memory of no context */
    cx_pointer_block block; /* where ctxrt gave it out, or had it */
    cx_past past;           /* of block.state CX_POINTER_PAST */
} cx_pointer_view;

/* What ctxrt knows by itself, and else the loaded drivers say; needs no current context. `bytes`:
 * so many are to be used from there on. */
ctxrt_status cx_pointer_look(const void *pointer, size_t bytes, cx_pointer_view *out_view);

/* Refuses bytes that ctxrt freed, or that are beyond the memory which ctxrt gave out there, in the
 * name of `call`. Memory of other code is for its driver to judge. `noun`: "source". */
ctxrt_status cx_pointer_check(const char *call, const char *noun, const void *pointer, size_t bytes,
                              const cx_pointer_view *view);

/* Whether the host may touch it, as far as the drivers know. */
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
