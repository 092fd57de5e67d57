/* Calls that share events between processes of one machine. */
#include "emu/base/state.h"
#include "emu/context/context.h"
#include "emu/device/device.h"
#include "emu/report/not_supported.h"
#include "emu/schedule/event.h"
#include "emu/schedule/stream.h"

#include <string.h>
#include <unistd.h>

/* Makes the event known outside, and says where. */
static cxu_result export_event(CUevent handle, cx_emu_shared_event_place *out_place)
{
    cx_emu_event *event;
    cxu_result result = cx_emu_event_find(handle, &event);

    if (result != CXU_SUCCESS)
        return result;
    if (!(event->flags & CXU_EVENT_INTERPROCESS))
        return CXU_INVALID_VALUE;
    result = cx_emu_event_share(event);
    if (result == CXU_SUCCESS && !cx_emu_shared_event_describe(event->shared, out_place))
        result = cx_emu_not_supported("cuIpcGetEventHandle",
                                      "an event whose file the program has closed");
    return result;
}

cxu_result cx_emu_call_ipc_get_event_handle(cxu_ipc_event_handle *out_handle, CUevent event)
{
    cx_emu_shared_event_place place;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_handle == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = export_event(event, &place);
    cx_lock_leave(&cx_emu_lock);
    if (result != CXU_SUCCESS)
        return result;
    memcpy(out_handle->bytes, &place, sizeof place);
    return CXU_SUCCESS;
}

/* The event's device, which this process may not see, must be that of the context or its peer. */
static bool reaches_board(const cx_emu_device *device, int board)
{
    if (device->board == board)
        return true;
    for (int i = 0; i < cx_emu_device_total(); i++)
        if (cx_emu_device_find(i)->board == board)
            return cx_emu_device_peer(device, cx_emu_device_find(i));
    return false;
}

static cxu_result adopt_event(cx_emu_context *context, cx_emu_shared_event *shared,
                              const cx_emu_shared_event_place *place, CUevent *out_event)
{
    cx_emu_event *event;

    if (place->where.process == (int32_t)getpid())
        return CXU_INVALID_CONTEXT;
    if (!reaches_board(context->device, cx_emu_shared_event_board(shared)))
        return CXU_PEER_ACCESS_UNSUPPORTED;
    event = cx_emu_event_adopt(context, shared);
    if (event == NULL)
        return CXU_OUT_OF_MEMORY;
    *out_event = (CUevent)(void *)event;
    return CXU_SUCCESS;
}

static cxu_result open_event(const cx_emu_shared_event_place *place, CUevent *out_event)
{
    cx_emu_shared_event *shared;
    cx_emu_context *context;
    cxu_result result = cx_emu_context_current(&context);

    if (result == CXU_SUCCESS)
        result = cx_emu_shared_event_open(place, &shared);
    if (result != CXU_SUCCESS)
        return result;
    result = adopt_event(context, shared, place, out_event);
    if (result != CXU_SUCCESS)
        cx_emu_shared_event_drop(shared);
    return result;
}

cxu_result cx_emu_call_ipc_open_event_handle(CUevent *out_event, cxu_ipc_event_handle handle)
{
    cx_emu_shared_event_place place;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_event == NULL)
        return CXU_INVALID_VALUE;
    memcpy(&place, handle.bytes, sizeof place);
    cx_lock_enter(&cx_emu_lock);
    result = open_event(&place, out_event);
    cx_lock_leave(&cx_emu_lock);
    return result;
}
