/* What devices need their primary contexts for: memory figures and peer access. */
#include "base/error.h"
#include "context/excursion.h"
#include "context/stack.h"

ctxrt_status ctxrt_device_memory_info(ctxrt_device id, size_t *out_free_bytes,
                                      size_t *out_total_bytes)
{
    cx_device *device;
    cx_context *context;
    cx_excursion excursion;
    size_t free_bytes, total_bytes;
    if (out_free_bytes == NULL && out_total_bytes == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER,
                        "ctxrt_device_memory_info: both out-parameters are NULL");
    ctxrt_status status = cx_runtime_enter();
    if (status == CTXRT_SUCCESS)
        status = cx_device_find(id, &device);
    if (status == CTXRT_SUCCESS)
        status = cx_context_primary(device, &context);
    if (status == CTXRT_SUCCESS)
        status = cx_excursion_begin(context, &excursion);
    if (status != CTXRT_SUCCESS)
        return status;
    status = CX_DRIVER_CALL(device->driver, mem_get_info, (&free_bytes, &total_bytes));
    cx_excursion_end(&excursion);
    if (status != CTXRT_SUCCESS)
        return status;
    if (out_free_bytes != NULL)
        *out_free_bytes = free_bytes;
    if (out_total_bytes != NULL)
        *out_total_bytes = total_bytes;
    return CTXRT_SUCCESS;
}

/* The top frame's context and the peer's primary context, which must be of one driver. */
static ctxrt_status find_pair(ctxrt_device peer_id, cx_context **out_context, cx_context **out_peer)
{
    cx_thread *thread;
    cx_frame *frame;
    cx_device *peer;
    ctxrt_status status = cx_stack_enter(&thread, &frame);
    if (status == CTXRT_SUCCESS)
        status = cx_device_find(peer_id, &peer);
    if (status != CTXRT_SUCCESS)
        return status;
    *out_context = cx_frame_context(frame);
    if (peer->driver != (*out_context)->driver)
        return cx_error(CTXRT_ERROR_NOT_SUPPORTED,
                        "%s and %s have different drivers and no peer access",
                        cx_context_text(*out_context), cx_device_text(peer_id));
    if (peer == (*out_context)->device)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "%s is the current device: it is no peer of its own",
                        cx_device_text(peer_id));
    return cx_context_primary(peer, out_peer);
}

/* The statuses that ctxrt_device_enable_peer and _disable_peer promise, in place of
 * ERROR_DRIVER. */
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

static _Atomic(cx_context_peer *) teller;

void cx_context_on_peer(cx_context_peer *peer)
{
    atomic_store(&teller, peer);
}

/* Whether it is the first or the last. What other code enabled was not counted. */
static bool count_peer(_Atomic uint16_t *count, bool more)
{
    uint16_t seen = atomic_load(count);
    while ((more || seen > 0) &&
           !atomic_compare_exchange_weak(count, &seen, (uint16_t)(more ? seen + 1 : seen - 1)))
        ;
    return seen == (more ? 0 : 1);
}

/* Counted first: memory that is mapped from then on is reached as well. The other way round, it is
 * not any more. */
static cxu_result tell(cx_context *peer, const cx_context *context, bool reaches)
{
    CUdevice device = context->device != NULL ? context->device->native : CX_CONTEXT_PEERS;
    if (device < 0 || device >= CX_CONTEXT_PEERS)
        return CXU_SUCCESS;
    cx_context_peer *told = atomic_load(&teller);
    bool changes = count_peer(&peer->reached_by[device], reaches);
    return told != NULL && changes ? told(peer, device, reaches) : CXU_SUCCESS;
}

static ctxrt_status reach(cx_context *context, cx_context *peer)
{
    cxu_result result = tell(peer, context, true);
    if (result == CXU_SUCCESS)
        return CTXRT_SUCCESS;
    (void)tell(peer, context, false);
    (void)context->driver->table.ctx_disable_peer_access(peer->native);
    return cx_driver_error(context->driver, CX_SLOT_mem_set_access, result);
}

ctxrt_status ctxrt_device_enable_peer(ctxrt_device peer_id)
{
    cx_context *context, *peer;
    ctxrt_status status = find_pair(peer_id, &context, &peer);
    if (status != CTXRT_SUCCESS)
        return status;
    status = peer_status(context->driver, CX_SLOT_ctx_enable_peer_access,
                         context->driver->table.ctx_enable_peer_access(peer->native, 0), peer_id);
    return status == CTXRT_SUCCESS ? reach(context, peer) : status;
}

ctxrt_status ctxrt_device_disable_peer(ctxrt_device peer_id)
{
    cx_context *context, *peer;
    ctxrt_status status = find_pair(peer_id, &context, &peer);
    if (status != CTXRT_SUCCESS)
        return status;
    status = peer_status(context->driver, CX_SLOT_ctx_disable_peer_access,
                         context->driver->table.ctx_disable_peer_access(peer->native), peer_id);
    if (status != CTXRT_SUCCESS)
        return status;
    cxu_result result = tell(peer, context, false);
    return result == CXU_SUCCESS ? status
                                 : cx_driver_error(context->driver, CX_SLOT_mem_set_access, result);
}
