/*
 * The access that another device has to a context's mapped memory, since a context of that device
 * enabled peer access. Work that relies on the access and its end exclude each other.
 */
#ifndef CX_CONTEXT_PEER_MAPPING_ACCESS_H
#define CX_CONTEXT_PEER_MAPPING_ACCESS_H

#include "context/context.h"

/* Begins a call whose work runs on `device` and uses mapped memory of the context; false: the
 * device has no access to all of that (NULL: no device). The context is pinned. Balanced by
 * cx_peer_mapping_leave, once the work needs no access any more, or was submitted. */
bool cx_peer_mapping_enter(cx_context *context, const cx_device *device);
void cx_peer_mapping_leave(cx_context *context);

/* The device has access to all of the context's mapped memory from now on. */
void cx_peer_mapping_open(cx_context *context, CUdevice device);

/* It will have none: waits for the calls that rely on it. No call that the thread is in does. */
void cx_peer_mapping_close(cx_context *context, CUdevice device);

#endif
