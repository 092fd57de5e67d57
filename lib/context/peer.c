/* Peer access: the calls on devices that need primary contexts. */
#include "base/cancel.h"
#include "base/error.h"
#include "base/lock.h"
#include "context/context_guard.h"
#include "context/observer.h"
#include "context/peer_mapping_access.h"
#include "context/stack.h"

typedef struct pair {
    cx_context *context; /* the top frame's */
    cx_context *peer;    /* the peer's primary context */
} pair;

static ctxrt_status check_pair(const cx_context *context, const cx_device *peer)
{
    if (peer->driver != context->driver)
        return cx_error(CTXRT_ERROR_NOT_SUPPORTED,
                        "%s and %s have different drivers and no peer access",
                        cx_context_text(context), cx_device_text(peer->id));
    if (peer == context->device)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "%s is the current device: it is no peer of its own",
                        cx_device_text(peer->id));
    return CTXRT_SUCCESS;
}

/* Finds the top frame's context and the peer's primary context, which must be of one driver, and
 * pins both. */
static ctxrt_status pin_pair(ctxrt_device peer_id, pair *out_pair)
{
    cx_thread *thread;
    cx_frame *frame;
    cx_target target;
    ctxrt_status status = cx_stack_enter(&thread, &frame);
    if (status == CTXRT_SUCCESS)
        status = cx_device_find(peer_id, &target.device);
    if (status == CTXRT_SUCCESS)
        status = check_pair(cx_frame_context(frame), target.device);
    if (status == CTXRT_SUCCESS)
        status = cx_target_device(peer_id, &target);
    if (status != CTXRT_SUCCESS)
        return status;
    *out_pair = (pair){.context = cx_frame_context(frame)};
    do {
        status = cx_target_enter(&target);
        if (status != CTXRT_SUCCESS)
            return status;
        if (!cx_context_give_way(out_pair->context))
            break;
        cx_section_leave();
    } while (true);
    out_pair->peer = target.context;
    cx_context_pin(out_pair->context);
    cx_context_pin(out_pair->peer);
    cx_section_leave();
    return CTXRT_SUCCESS;
}

static void unpin_pair(const pair *self)
{
    cx_context_unpin(self->peer);
    cx_context_unpin(self->context);
}

/* Maps to the statuses that ctxrt_device_enable_peer and _disable_peer promise. */
static ctxrt_status peer_status(const cx_driver *driver, cx_slot slot, cxu_result result,
                                ctxrt_device peer)
{
    ctxrt_status status;
    const char *why;
    switch (result) {
    case CXU_SUCCESS:
        return CTXRT_SUCCESS;
    case CXU_PEER_ACCESS_ALREADY_ENABLED:
        status = CTXRT_ERROR_ALREADY;
        why = "is enabled already";
        break;
    case CXU_PEER_ACCESS_NOT_ENABLED:
        status = CTXRT_ERROR_INVALID_ARGUMENT;
        why = "is not enabled";
        break;
    case CXU_PEER_ACCESS_UNSUPPORTED:
        status = CTXRT_ERROR_NOT_SUPPORTED;
        why = "is not possible between these devices";
        break;
    default:
        return cx_driver_error(driver, slot, result);
    }
    return cx_error_driver_call(status, cx_symbols[slot].symbol, (int)result,
                                cx_result_name(result), "peer access to %s %s",
                                cx_device_text(peer), why);
}

/* Lock "peers": held while a device gets or loses access; before the locks of the observers. */
static cx_lock peers_lock = CX_LOCK_INIT(PEERS);

static cxu_result tell_observers(const cx_context *peer, CUdevice device, bool reaches)
{
    cxu_result first_error = CXU_SUCCESS;
    for (int i = 0; i < CX_OBSERVERS; i++) {
        const cx_observer *observer = cx_observer_at(i);
        if (observer == NULL || observer->peer_changes == NULL)
            continue;
        cxu_result result = observer->peer_changes(peer, device, reaches);
        if (first_error == CXU_SUCCESS)
            first_error = result;
    }
    return first_error;
}

/* The count comes first: memory that is mapped from now on is reached as well. */
static cxu_result begin_reach(cx_context *peer, CUdevice device)
{
    if (atomic_fetch_add(&peer->reached_by[device], 1) != 0)
        return CXU_SUCCESS;
    cxu_result result = tell_observers(peer, device, true);
    if (result == CXU_SUCCESS) {
        cx_peer_mapping_open(peer, device);
        return result;
    }
    atomic_fetch_sub(&peer->reached_by[device], 1);
    (void)tell_observers(peer, device, false);
    return result;
}

/* Calls do not rely on the access any more before it ends. What other code enabled was not
 * counted. */
static cxu_result end_reach(cx_context *peer, CUdevice device)
{
    if (atomic_load(&peer->reached_by[device]) == 0 ||
        atomic_fetch_sub(&peer->reached_by[device], 1) != 1)
        return CXU_SUCCESS;
    cx_peer_mapping_close(peer, device);
    return tell_observers(peer, device, false);
}

/* The driver's peer access does not cover mapped memory. */
static cxu_result change_reach(const pair *self, bool reaches)
{
    const cx_device *device = self->context->device;
    if (device == NULL || device->native < 0 || device->native >= CX_CONTEXT_PEERS)
        return CXU_SUCCESS;
    cx_lock_enter(&peers_lock);
    cxu_result result = (reaches ? begin_reach : end_reach)(self->peer, device->native);
    cx_lock_leave(&peers_lock);
    return result;
}

static ctxrt_status enable_peer(const pair *self, ctxrt_device peer_id)
{
    const cx_driver_table *table = &self->context->driver->table;
    ctxrt_status status =
        peer_status(self->context->driver, CX_SLOT_ctx_enable_peer_access,
                    table->ctx_enable_peer_access(self->peer->native, 0), peer_id);
    if (status != CTXRT_SUCCESS)
        return status;
    cxu_result result = change_reach(self, true);
    if (result == CXU_SUCCESS)
        return CTXRT_SUCCESS;
    (void)table->ctx_disable_peer_access(self->peer->native);
    return cx_driver_error(self->context->driver, CX_SLOT_mem_set_access, result);
}

static ctxrt_status disable_peer(const pair *self, ctxrt_device peer_id)
{
    const cx_driver *driver = self->context->driver;
    ctxrt_status status =
        peer_status(driver, CX_SLOT_ctx_disable_peer_access,
                    driver->table.ctx_disable_peer_access(self->peer->native), peer_id);
    if (status != CTXRT_SUCCESS)
        return status;
    return cx_driver_check(driver, CX_SLOT_mem_set_access, change_reach(self, false));
}

static ctxrt_status with_pair(ctxrt_device peer_id,
                              ctxrt_status (*call)(const pair *self, ctxrt_device peer_id))
{
    pair found;
    int cancel = cx_cancel_hold();
    ctxrt_status status = pin_pair(peer_id, &found);
    if (status == CTXRT_SUCCESS) {
        status = call(&found, peer_id);
        unpin_pair(&found);
    }
    cx_cancel_restore(cancel);
    return status;
}

ctxrt_status ctxrt_device_enable_peer(ctxrt_device peer_id)
{
    return with_pair(peer_id, enable_peer);
}

ctxrt_status ctxrt_device_disable_peer(ctxrt_device peer_id)
{
    return with_pair(peer_id, disable_peer);
}
