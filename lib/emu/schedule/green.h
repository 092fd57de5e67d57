/*
 * Green contexts: parts of a device's primary context with multiprocessors of their own.
 *
 * Each has two handles: CUgreenCtx, and the CUcontext that cuCtxFromGreenCtx gives. The latter is
 * a slot of its own, so that a stack tells it from the primary; calls that use it work in the
 * primary (cx_emu_context.base). Streams made while it is current, and its default stream, belong
 * to the green context. All functions: lock "emu.state" held.
 */
#ifndef CX_EMU_GREEN_H
#define CX_EMU_GREEN_H

#include "emu/schedule/stream.h"

/* Multiprocessors of a device: where they come from, and which they are. */
typedef struct cx_emu_sm_range {
    CUdevice device;
    unsigned int first, count;
    uint64_t split; /* the split that made it, never used twice; 0: it may be split */
} cx_emu_sm_range;

typedef struct cx_emu_green {
    cx_emu_handle_slot slot;
    cx_emu_context *context; /* the slot behind its CUcontext */
    cx_emu_sm_range range;
    cx_emu_stream *stream; /* its default stream; lives as long as the primary stays open */
    cx_emu_work *barrier;  /* all its later work waits for this piece; a reference, or NULL */
    cx_emu_work *whole;    /* the last record behind all its work; a reference, or NULL */
} cx_emu_green;

/* Finds a live green context. CXU_INVALID_CONTEXT; CXU_CONTEXT_IS_DESTROYED: its primary was
 * reset. */
cxu_result cx_emu_green_find(CUgreenCtx handle, cx_emu_green **out_green);

/* True for a handle that may be destroyed, whatever became of its primary. */
bool cx_emu_green_exists(CUgreenCtx handle);

/* The green context that a context handle stands for, NULL the current one; NULL: none. */
cx_emu_green *cx_emu_green_of(CUcontext handle);

static inline CUgreenCtx cx_emu_green_handle(cx_emu_green *green)
{
    return (CUgreenCtx)(void *)green;
}

/* Makes one and retains the primary context, which the caller found to be usable. CXU_OUT_OF_MEMORY
 * and the errors of cx_emu_primary_retain. */
cxu_result cx_emu_green_create(cx_emu_device *device, const cx_emu_sm_range *range,
                               cx_emu_green **out_green);

/* Waits for its work with the lock released, then ends it and releases the primary. */
void cx_emu_green_destroy(cx_emu_green *green);

/* Waits for its work. The error as of cx_emu_work_wait. */
cxu_result cx_emu_green_wait(cx_emu_green *green);

/* The piece, which was submitted behind all its work, is part of that. */
void cx_emu_green_add_record(cx_emu_green *green, cx_emu_work *record);

/* True if a stream of it captures; those captures are invalidated. */
bool cx_emu_green_refuse_captures(const cx_emu_green *green);

/* ---- resources (green_resource.c) ---- */

/* Makes the resource of the API for a range, which its private part holds. */
cxu_dev_resource cx_emu_resource_make(const cx_emu_sm_range *range);

/* Reads one. CXU_INVALID_RESOURCE_TYPE; CXU_INVALID_VALUE: this driver did not make it. */
cxu_result cx_emu_resource_read(const cxu_dev_resource *resource, cx_emu_sm_range *out_range);

/* The range of a descriptor, or NULL. */
const cx_emu_sm_range *cx_emu_resource_described(CUdevResourceDesc desc);

/* All multiprocessors of a device. */
cx_emu_sm_range cx_emu_resource_of_device(const cx_emu_device *device);

#endif
