/* Attributes of streams: state, which nothing here depends on but the priority. */
#include "emu/device/device.h"
#include "emu/base/state.h"
#include "emu/schedule/stream.h"

#include <string.h>

static cxu_result read_attribute(const cx_emu_stream *stream, cxu_launch_attribute_id attribute,
                                 cxu_launch_attribute_value *out_value)
{
    const cx_emu_stream_attributes *own = &stream->attributes;

    switch (attribute) {
    case CXU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        out_value->window = own->window;
        return CXU_SUCCESS;
    case CXU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        out_value->number = own->policy != 0 ? own->policy : -1;
        return CXU_SUCCESS;
    case CXU_LAUNCH_ATTRIBUTE_PRIORITY:
        out_value->number = stream->priority;
        return CXU_SUCCESS;
    case CXU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        memcpy(out_value->bytes, own->domain_map, sizeof own->domain_map);
        return CXU_SUCCESS;
    case CXU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        out_value->number = own->domain;
        return CXU_SUCCESS;
    default:
        return CXU_INVALID_VALUE;
    }
}

static bool valid_ratio(float ratio)
{
    return ratio >= 0.0f && ratio <= 1.0f;
}

static int clamped_priority(int priority)
{
    if (priority < CX_EMU_PRIORITY_GREATEST)
        return CX_EMU_PRIORITY_GREATEST;
    return priority > CX_EMU_PRIORITY_LEAST ? CX_EMU_PRIORITY_LEAST : priority;
}

static cxu_result write_attribute(cx_emu_stream *stream, cxu_launch_attribute_id attribute,
                                  const cxu_launch_attribute_value *value)
{
    cx_emu_stream_attributes *own = &stream->attributes;

    switch (attribute) {
    case CXU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        if (!valid_ratio(value->window.hit_ratio))
            return CXU_INVALID_VALUE;
        own->window = value->window;
        return CXU_SUCCESS;
    case CXU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        if (value->number < CXU_SYNC_POLICY_AUTO || value->number > CXU_SYNC_POLICY_BLOCKING_SYNC)
            return CXU_INVALID_VALUE;
        own->policy = value->number;
        return CXU_SUCCESS;
    case CXU_LAUNCH_ATTRIBUTE_PRIORITY:
        stream->priority = clamped_priority(value->number);
        return CXU_SUCCESS;
    case CXU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP: /* the device has one domain */
        if (value->bytes[0] != 0 || value->bytes[1] != 0)
            return CXU_INVALID_VALUE;
        return CXU_SUCCESS;
    case CXU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        if (value->number != 0 && value->number != 1)
            return CXU_INVALID_VALUE;
        own->domain = value->number;
        return CXU_SUCCESS;
    default:
        return CXU_INVALID_VALUE;
    }
}

cxu_result cx_emu_call_stream_get_attribute(CUstream handle, cxu_launch_attribute_id attribute,
                                            cxu_launch_attribute_value *out_value)
{
    cx_emu_stream *stream;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_value == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_stream_find(handle, &stream);
    if (result == CXU_SUCCESS)
        result = read_attribute(stream, attribute, out_value);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_stream_set_attribute(CUstream handle, cxu_launch_attribute_id attribute,
                                            const cxu_launch_attribute_value *value)
{
    cx_emu_stream *stream;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (value == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_stream_find(handle, &stream);
    if (result == CXU_SUCCESS)
        result = write_attribute(stream, attribute, value);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_stream_copy_attributes(CUstream destination, CUstream source)
{
    cx_emu_stream *to, *from;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_stream_find(destination, &to);
    if (result == CXU_SUCCESS)
        result = cx_emu_stream_find(source, &from);
    if (result == CXU_SUCCESS && to->context != from->context)
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS) {
        to->attributes = from->attributes;
        to->priority = from->priority;
    }
    cx_lock_leave(&cx_emu_lock);
    return result;
}
