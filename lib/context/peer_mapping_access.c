#include "context/peer_mapping_access.h"

#include "base/eventcount.h"

static cx_eventcount left = CX_EVENTCOUNT_INIT;

/* The count comes before the look at open_to, and in cx_peer_mapping_close the store to open_to
 * before the look at the count; all are sequentially consistent. So either the call sees that the
 * access ends, or the end waits for the call. */
bool cx_peer_mapping_enter(cx_context *context, const cx_device *device)
{
    if (device == NULL || device->native < 0 || device->native >= CX_CONTEXT_PEERS)
        return false;
    atomic_fetch_add(&context->reaches, 1);
    if (atomic_load(&context->open_to[device->native]))
        return true;
    cx_peer_mapping_leave(context);
    return false;
}

void cx_peer_mapping_leave(cx_context *context)
{
    atomic_fetch_sub(&context->reaches, 1);
    cx_eventcount_wake(&left);
}

void cx_peer_mapping_open(cx_context *context, CUdevice device)
{
    atomic_store(&context->open_to[device], true);
}

static bool has_none(const void *context)
{
    return atomic_load(&((const cx_context *)context)->reaches) == 0;
}

void cx_peer_mapping_close(cx_context *context, CUdevice device)
{
    atomic_store(&context->open_to[device], false);
    cx_eventcount_wait(&left, has_none, context);
}
