/* The calls that launch kernels. */
#include "emu/base/state.h"
#include "emu/context/output.h"
#include "emu/device/device.h"
#include "emu/graph/capture.h"
#include "emu/graph/operation.h"
#include "emu/module/launch.h"
#include "emu/module/loading.h"
#include "emu/report/not_supported.h"
#include "emu/schedule/stream.h"

#include <stdlib.h>
#include <string.h>

static cxu_result submit_launch(cx_emu_stream *stream, const cx_emu_launch *launch)
{
    const cx_emu_operation operation = {.type = CXU_GRAPH_NODE_TYPE_KERNEL, .of.kernel = *launch};

    return cx_emu_operation_submit(stream, &operation);
}

/* The stream may be gone afterwards. */
static void begin_loading(const cx_emu_stream *stream, const cx_emu_launch *launch)
{
    cx_emu_function *function;

    if (!stream->branch && cx_emu_function_find(launch->function, &function) == CXU_SUCCESS)
        cx_emu_loading_begin(function);
}

/* The stream decides the context. A kernel of a library may have to be loaded there first, with the
 * lock released, so the stream is looked up again. */
static cxu_result launch_locked(cx_emu_launch *launch, CUfunction function, CUstream handle,
                                void **parameters, void **extra)
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
        result = submit_launch(stream, launch);
    cx_emu_arguments_drop(launch->arguments);
    return result;
}

static cxu_result launch_function(cx_emu_launch *what, CUfunction function, CUstream stream,
                                  void **parameters, void **extra)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (!function)
        return CXU_INVALID_HANDLE;
    cx_emu_output_show();
    cx_lock_enter(&cx_emu_lock);
    result = launch_locked(what, function, stream, parameters, extra);
    cx_lock_leave(&cx_emu_lock);
    return result;
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
        if (!launches[i].stream || launches[i].stream == CXU_STREAM_LEGACY ||
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
    cxu_result result = CXU_SUCCESS;
    bool captures = false;

    for (unsigned int i = 0; result == CXU_SUCCESS && i < count; i++) {
        result = cx_emu_stream_find(launches[i].stream, &streams[i]);
        if (result == CXU_SUCCESS)
            result = cx_emu_launch_request(&parts[i].launch, &parts[i].run, &requests[i]);
        captures = captures || (result == CXU_SUCCESS && streams[i]->branch);
    }
    if (result != CXU_SUCCESS || !captures)
        return result != CXU_SUCCESS ? result
                                     : cx_emu_work_submit_each(streams, requests, count, works);
    for (unsigned int i = 0; result == CXU_SUCCESS && i < count; i++)
        result = submit_launch(streams[i], &parts[i].launch);
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
    if (!launches || count == 0 || count > (unsigned int)cx_emu_device_total() ||
        flags > MULTI_DEVICE_FLAGS)
        return CXU_INVALID_VALUE;
    cx_emu_output_show();
    parts = calloc(count, sizeof *parts);
    if (!parts)
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

/* Ignores performance hints; refuses attributes that change results. */
static cxu_result read_attributes(const cxu_launch_config *config, cx_emu_launch *what)
{
    if (config->attribute_count > 0 && !config->attributes)
        return CXU_INVALID_VALUE;
    for (unsigned int i = 0; i < config->attribute_count; i++) {
        const cxu_launch_attribute *attribute = &config->attributes[i];

        switch (attribute->id) {
        case CXU_LAUNCH_ATTRIBUTE_IGNORE:
            break;
        case CXU_LAUNCH_ATTRIBUTE_PRIORITY:
            what->priority = attribute->value.number;
            break;
        case CXU_LAUNCH_ATTRIBUTE_COOPERATIVE:
            what->cooperative = attribute->value.number != 0;
            break;
        case CXU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
            memcpy(what->cluster, attribute->value.cluster, sizeof what->cluster);
            break;
        case CXU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY: /* of streams, not of launches */
            return CXU_INVALID_VALUE;
        default:
            return cx_emu_not_supported("cuLaunchKernelEx", "an attribute of a launch");
        }
    }
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_launch_kernel_ex(const cxu_launch_config *config, CUfunction function,
                                        void **parameters, void **extra)
{
    cx_emu_launch what;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (!config)
        return CXU_INVALID_VALUE;
    what = (cx_emu_launch){.grid = {config->grid_x, config->grid_y, config->grid_z},
                           .block = {config->block_x, config->block_y, config->block_z},
                           .shared_bytes = config->shared_bytes};
    result = read_attributes(config, &what);
    return result == CXU_SUCCESS
               ? launch_function(&what, function, config->stream, parameters, extra)
               : result;
}
