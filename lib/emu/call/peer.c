#include "emu/call/peer.h"

#include "emu/device/device.h"
#include "emu/base/state.h"

#define NONE (-1)

static int find_peer(const cx_emu_context *context, const cx_emu_context *peer)
{
    for (int i = 0; i < context->peer_count; i++)
        if (context->peers[i] == peer && context->peer_ids[i] == cx_emu_context_id(peer))
            return i;
    return NONE;
}

static void drop_peer(cx_emu_context *context, int index)
{
    int last = --context->peer_count;
    cx_emu_changes++;
    context->peers[index] = context->peers[last];
    context->peer_ids[index] = context->peer_ids[last];
}

/* Access ended with the destroyed context. */
static void drop_dead(cx_emu_context *context)
{
    for (int i = context->peer_count - 1; i >= 0; i--)
        if (cx_emu_context_id(context->peers[i]) != context->peer_ids[i])
            drop_peer(context, i);
}

bool cx_emu_peer_enabled(const cx_emu_context *context, const cx_emu_context *peer)
{
    return find_peer(context, peer) != NONE;
}

static cxu_result find_pair(CUcontext peer_handle, cx_emu_context **out_context,
                            cx_emu_context **out_peer)
{
    cxu_result result = cx_emu_context_current(out_context);
    if (result != CXU_SUCCESS)
        return result;
    return cx_emu_context_find(peer_handle, out_peer) == CXU_SUCCESS ? CXU_SUCCESS
                                                                     : CXU_INVALID_CONTEXT;
}

static cxu_result enable_peer(CUcontext peer_handle)
{
    cx_emu_context *context, *peer;
    cxu_result result = find_pair(peer_handle, &context, &peer);
    if (result != CXU_SUCCESS)
        return result;
    if (peer == context || !cx_emu_device_peer(context->device, peer->device))
        return CXU_PEER_ACCESS_UNSUPPORTED;
    if (cx_emu_peer_enabled(context, peer))
        return CXU_PEER_ACCESS_ALREADY_ENABLED;
    drop_dead(context);
    if (context->peer_count == CX_EMU_PEERS_MAX)
        return CXU_TOO_MANY_PEERS;
    context->peers[context->peer_count] = peer;
    context->peer_ids[context->peer_count] = cx_emu_context_id(peer);
    context->peer_count++;
    return CXU_SUCCESS;
}

static cxu_result disable_peer(CUcontext peer_handle)
{
    cx_emu_context *context, *peer;
    cxu_result result = find_pair(peer_handle, &context, &peer);
    if (result != CXU_SUCCESS)
        return result;
    int index = find_peer(context, peer);
    if (index == NONE)
        return CXU_PEER_ACCESS_NOT_ENABLED;
    drop_peer(context, index);
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_ctx_enable_peer_access(CUcontext peer, unsigned int flags)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (flags != 0)
        return cx_emu_refuse(CXU_INVALID_VALUE, "the flags have to be 0");
    cx_lock_enter(&cx_emu_lock);
    result = enable_peer(peer);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_ctx_disable_peer_access(CUcontext peer)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = disable_peer(peer);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_device_can_access_peer(int *out_can, CUdevice device, CUdevice peer)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_can == NULL)
        return CXU_INVALID_VALUE;
    const cx_emu_device *from = cx_emu_device_find(device);
    const cx_emu_device *to = cx_emu_device_find(peer);
    if (from == NULL || to == NULL)
        return CXU_INVALID_DEVICE;
    *out_can = cx_emu_device_peer(from, to);
    return CXU_SUCCESS;
}

/* As for two boards on one PCIe bus: direct access, no atomics, no arrays. */
cxu_result cx_emu_call_device_get_p2p_attribute(int *out_value, cxu_p2p_attribute attribute,
                                                CUdevice source, CUdevice destination)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_value == NULL)
        return CXU_INVALID_VALUE;
    const cx_emu_device *from = cx_emu_device_find(source);
    const cx_emu_device *to = cx_emu_device_find(destination);
    if (from == NULL || to == NULL || from == to)
        return CXU_INVALID_DEVICE;

    switch (attribute) {
    case CXU_P2P_ACCESS_SUPPORTED:
        *out_value = cx_emu_device_peer(from, to);
        return CXU_SUCCESS;
    case CXU_P2P_PERFORMANCE_RANK:
    case CXU_P2P_NATIVE_ATOMIC_SUPPORTED:
    case CXU_P2P_CUDA_ARRAY_ACCESS_SUPPORTED:
    case CXU_P2P_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED:
        *out_value = 0;
        return CXU_SUCCESS;
    }
    return CXU_INVALID_VALUE;
}
