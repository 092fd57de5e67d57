/* The calls that launch kernels. */
#include "emu/base/state.h"
#include "emu/context/output.h"
#include "emu/device/device.h"
#include "emu/graph/capture.h"
#include "emu/graph/node_params.h"
#include "emu/module/launch.h"
#include "emu/module/loading.h"
#include "emu/report/not_supported.h"
#include "emu/schedule/stream.h"

#include <stdlib.h>
#include <string.h>

/* What a launch records: its events, which the user names by attributes. */
typedef struct launch_records {
    CUevent events[CX_EMU_RECORDED_EVENTS];
    size_t count;
} launch_records;

/* The events are triggered once the kernel is done, which is never too early. */
static cxu_result find_records(const launch_records *records, const cx_emu_stream *stream,
                               cx_emu_event **out_events)
{
    cxu_result result = CXU_SUCCESS;

    for (size_t i = 0; result == CXU_SUCCESS && i < records->count; i++) {
        result = cx_emu_event_find(records->events[i], &out_events[i]);
        if (result != CXU_SUCCESS)
            return result;
        if (out_events[i]->context != stream->context)
            return CXU_INVALID_HANDLE;
        if (!(out_events[i]->flags & CXU_EVENT_DISABLE_TIMING) ||
            (out_events[i]->flags & CXU_EVENT_INTERPROCESS) || out_events[i]->shared != NULL)
            return CXU_INVALID_VALUE;
    }
    return result;
}

static cxu_result submit_launch(cx_emu_stream *stream, const cx_emu_launch *launch,
                                const launch_records *records)
{
    const cx_emu_node_params node_params = {.type = CXU_GRAPH_NODE_TYPE_KERNEL,
                                            .of.kernel = *launch};
    cx_emu_event *events[CX_EMU_RECORDED_EVENTS];
    cxu_result result = find_records(records, stream, events);

    return result == CXU_SUCCESS
               ? cx_emu_node_params_submit_recorded(stream, &node_params, events, records->count)
               : result;
}

/* The stream may be gone afterwards. */
static void begin_loading(const cx_emu_stream *stream, const cx_emu_launch *launch)
{
    cx_emu_function *function;

    if (stream->branch == NULL && cx_emu_function_find(launch->function, &function) == CXU_SUCCESS)
        cx_emu_loading_begin(function);
}

/* The stream decides the context. A kernel of a library may have to be loaded there first, with the
 * lock released, so the stream is looked up again. */
static cxu_result launch_locked(cx_emu_launch *launch, CUfunction function, CUstream handle,
                                void **parameters, void **extra, const launch_records *records)
{
    cx_emu_stream *stream;
    cxu_result result = cx_emu_stream_find(handle, &stream);

    if (result == CXU_SUCCESS)
        result = cx_emu_capture_check(stream);
    if (result == CXU_SUCCESS)
        result = cx_emu_launch_take(launch, stream->context, function, parameters, extra);
    if (result != CXU_SUCCESS)
        return result;
    begin_loading(stream, launch);
    result = cx_emu_stream_find(handle, &stream);
    if (result == CXU_SUCCESS)
        result = submit_launch(stream, launch, records);
    cx_emu_arguments_drop(launch->arguments);
    return result;
}

static cxu_result launch_recorded(cx_emu_launch *what, CUfunction function, CUstream stream,
                                  void **parameters, void **extra, const launch_records *records)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (function == NULL)
        return CXU_INVALID_HANDLE;
    cx_emu_output_show();
    cx_lock_enter(&cx_emu_lock);
    result = launch_locked(what, function, stream, parameters, extra, records);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

static cxu_result launch_function(cx_emu_launch *what, CUfunction function, CUstream stream,
                                  void **parameters, void **extra)
{
    const launch_records none = {.count = 0};

    return launch_recorded(what, function, stream, parameters, extra, &none);
}

cxu_result cx_emu_call_launch_kernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                     unsigned int grid_z, unsigned int block_x,
                                     unsigned int block_y, unsigned int block_z,
                                     unsigned int shared_bytes, CUstream stream, void **parameters,
                                     void **extra)
{
    cx_emu_launch what = {.grid = {grid_x, grid_y, grid_z},
                          .block = {block_x, block_y, block_z},
                          .shared_bytes = shared_bytes};

    return launch_function(&what, function, stream, parameters, extra);
}

cxu_result cx_emu_call_launch_cooperative_kernel(CUfunction function, unsigned int grid_x,
                                                 unsigned int grid_y, unsigned int grid_z,
                                                 unsigned int block_x, unsigned int block_y,
                                                 unsigned int block_z, unsigned int shared_bytes,
                                                 CUstream stream, void **parameters)
{
    cx_emu_launch what = {.grid = {grid_x, grid_y, grid_z},
                          .block = {block_x, block_y, block_z},
                          .shared_bytes = shared_bytes,
                          .cooperative = true};

    return launch_function(&what, function, stream, parameters, NULL);
}

/* ---- on several devices at once ---- */

#define MULTI_DEVICE_FLAGS 3 /* without the waits before or after */

static bool same_shape(const cxu_launch_params *one, const cxu_launch_params *other)
{
    return one->grid_x == other->grid_x && one->grid_y == other->grid_y &&
           one->grid_z == other->grid_z && one->block_x == other->block_x &&
           one->block_y == other->block_y && one->block_z == other->block_z &&
           one->shared_bytes == other->shared_bytes;
}

/* Each in a stream of its own device, which is not a default stream. */
static cxu_result check_launches(const cxu_launch_params *launches, unsigned int count)
{
    cx_emu_stream *stream;
    const cx_emu_device *devices[CX_EMU_DEVICES_MAX];
    cx_emu_function *function;
    cxu_result result;

    for (unsigned int i = 0; i < count; i++) {
        result = cx_emu_is_kernel(launches[i].function)
                     ? CXU_SUCCESS
                     : cx_emu_function_find(launches[i].function, &function);
        if (result != CXU_SUCCESS)
            return result;
        if (launches[i].stream == NULL || launches[i].stream == CXU_STREAM_LEGACY ||
            launches[i].stream == CXU_STREAM_PER_THREAD || !same_shape(&launches[0], &launches[i]))
            return CXU_INVALID_VALUE;
        result = cx_emu_stream_find(launches[i].stream, &stream);
        if (result != CXU_SUCCESS)
            return result;
        devices[i] = stream->context->device;
        for (unsigned int j = 0; j < i; j++)
            if (devices[j] == devices[i])
                return CXU_INVALID_DEVICE;
    }
    return CXU_SUCCESS;
}

/* A launch on one of the devices. */
typedef struct part {
    cx_emu_launch launch;
    cx_emu_run run;
} part;

/* Kernels of libraries may have to be loaded, with the lock released. */
static cxu_result take_parts(const cxu_launch_params *launches, unsigned int count, part *parts)
{
    cx_emu_stream *stream;
    cxu_result result = CXU_SUCCESS;

    for (unsigned int i = 0; result == CXU_SUCCESS && i < count; i++) {
        const cxu_launch_params *each = &launches[i];
        parts[i].launch = (cx_emu_launch){.grid = {each->grid_x, each->grid_y, each->grid_z},
                                          .block = {each->block_x, each->block_y, each->block_z},
                                          .shared_bytes = each->shared_bytes,
                                          .cooperative = true};
        result = cx_emu_stream_find(each->stream, &stream);
        if (result == CXU_SUCCESS)
            result = cx_emu_capture_check(stream);
        if (result == CXU_SUCCESS)
            result = cx_emu_launch_take(&parts[i].launch, stream->context, each->function,
                                        each->parameters, NULL);
    }
    return result;
}

static cxu_result submit_parts(const cxu_launch_params *launches, unsigned int count, part *parts)
{
    cx_emu_stream *streams[CX_EMU_DEVICES_MAX];
    cx_emu_work_request requests[CX_EMU_DEVICES_MAX];
    cx_emu_work *works[CX_EMU_DEVICES_MAX];
    const launch_records none = {.count = 0};
    cxu_result result = CXU_SUCCESS;
    bool captures = false;

    for (unsigned int i = 0; result == CXU_SUCCESS && i < count; i++) {
        result = cx_emu_stream_find(launches[i].stream, &streams[i]);
        if (result == CXU_SUCCESS)
            result = cx_emu_launch_request(&parts[i].launch, &parts[i].run, &requests[i]);
        captures = captures || (result == CXU_SUCCESS && streams[i]->branch != NULL);
    }
    if (result != CXU_SUCCESS || !captures)
        return result != CXU_SUCCESS ? result
                                     : cx_emu_work_submit_each(streams, requests, count, works);
    for (unsigned int i = 0; result == CXU_SUCCESS && i < count; i++)
        result = submit_launch(streams[i], &parts[i].launch, &none);
    return result;
}

/* The kernels do not wait for each other: PTX has no instruction for that. */
cxu_result cx_emu_call_launch_cooperative_kernel_multi_device(cxu_launch_params *launches,
                                                              unsigned int count,
                                                              unsigned int flags)
{
    part *parts;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (launches == NULL || count == 0 || count > (unsigned int)cx_emu_device_total() ||
        flags > MULTI_DEVICE_FLAGS)
        return CXU_INVALID_VALUE;
    cx_emu_output_show();
    parts = calloc(count, sizeof *parts);
    if (parts == NULL)
        return CXU_OUT_OF_MEMORY;
    cx_lock_enter(&cx_emu_lock);
    result = check_launches(launches, count);
    if (result == CXU_SUCCESS)
        result = take_parts(launches, count, parts);
    if (result == CXU_SUCCESS)
        result = submit_parts(launches, count, parts);
    for (unsigned int i = 0; i < count; i++)
        cx_emu_arguments_drop(parts[i].launch.arguments);
    cx_lock_leave(&cx_emu_lock);
    free(parts);
    return result;
}

/* Each kind of event once: the last one counts. */
static cxu_result read_record(const cxu_launch_attribute *attribute, CUevent *out_event)
{
    if (attribute->value.record.flags != CXU_EVENT_RECORD_DEFAULT)
        return CXU_INVALID_VALUE;
    *out_event = attribute->value.record.event;
    return *out_event != NULL ? CXU_SUCCESS : CXU_INVALID_HANDLE;
}

static cxu_result read_attribute(const cxu_launch_attribute *attribute, cx_emu_launch *what,
                                 CUevent *out_programmatic, CUevent *out_completion)
{
    switch (attribute->id) {
    case CXU_LAUNCH_ATTRIBUTE_IGNORE:
        return CXU_SUCCESS;
    case CXU_LAUNCH_ATTRIBUTE_PRIORITY:
        what->priority = attribute->value.number;
        return CXU_SUCCESS;
    case CXU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        what->cooperative = attribute->value.number != 0;
        return CXU_SUCCESS;
    case CXU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        memcpy(what->cluster, attribute->value.cluster, sizeof what->cluster);
        return CXU_SUCCESS;
    case CXU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
        if (attribute->value.number != 0)
            cx_emu_has_no_effect("the programmatic stream serialization of a launch");
        return CXU_SUCCESS;
    case CXU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        return read_record(attribute, out_programmatic);
    case CXU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        return read_record(attribute, out_completion);
    case CXU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        return attribute->value.device_node.updatable
                   ? cx_emu_not_supported("cuLaunchKernelEx", "a kernel node that kernels update")
                   : CXU_INVALID_VALUE;
    case CXU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY: /* of streams, not of launches */
        return CXU_INVALID_VALUE;
    default:
        return cx_emu_launch_is_hint(attribute->id)
                   ? cx_emu_launch_hint_set(&what->hints, attribute->id, &attribute->value)
                   : cx_emu_not_supported("cuLaunchKernelEx", "an attribute of a launch");
    }
}

/* Ignores performance hints; refuses attributes that change results. */
static cxu_result read_attributes(const cxu_launch_config *config, cx_emu_launch *what,
                                  launch_records *out_records)
{
    CUevent programmatic = NULL, completion = NULL;
    cxu_result result = CXU_SUCCESS;

    if (config->attribute_count > 0 && config->attributes == NULL)
        return CXU_INVALID_VALUE;
    for (unsigned int i = 0; result == CXU_SUCCESS && i < config->attribute_count; i++)
        result = read_attribute(&config->attributes[i], what, &programmatic, &completion);
    out_records->count = 0;
    if (programmatic != NULL)
        out_records->events[out_records->count++] = programmatic;
    if (completion != NULL)
        out_records->events[out_records->count++] = completion;
    return result;
}

cxu_result cx_emu_call_launch_kernel_ex(const cxu_launch_config *config, CUfunction function,
                                        void **parameters, void **extra)
{
    cx_emu_launch what;
    launch_records records;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (config == NULL)
        return CXU_INVALID_VALUE;
    what = (cx_emu_launch){.grid = {config->grid_x, config->grid_y, config->grid_z},
                           .block = {config->block_x, config->block_y, config->block_z},
                           .shared_bytes = config->shared_bytes};
    result = read_attributes(config, &what, &records);
    return result == CXU_SUCCESS
               ? launch_recorded(&what, function, config->stream, parameters, extra, &records)
               : result;
}
