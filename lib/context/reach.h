/*
 * Reach: the mapped memory of a context that another device has access to, since a context of that
 * device enabled peer access. Work that relies on it and the end of the access exclude each other.
 */
#ifndef CX_CONTEXT_REACH_H
#define CX_CONTEXT_REACH_H

#include "context/context.h"

/* Begins a call whose work runs on `device` and uses mapped memory of the context; false: the
 * device has no access to all of that (NULL: no device). The context is pinned. Balanced by
 * cx_reach_leave, once the work needs no access any more, or was submitted. */
bool cx_reach_enter(cx_context *context, const cx_device *device);
void cx_reach_leave(cx_context *context);

/* The device has access to all of the context's mapped memory from now on. */
void cx_reach_open(cx_context *context, CUdevice device);

/* It will have none: waits for the calls that rely on it. No call that the thread is in does. */
void cx_reach_close(cx_context *context, CUdevice device);

#endif
