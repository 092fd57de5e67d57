/* The calls that launch kernels. */
#include "emu/capture.h"
#include "emu/launch.h"
#include "emu/operation.h"
#include "emu/state.h"
#include "emu/stream.h"

static cxu_result capture_launch(cx_emu_stream *stream, const cx_emu_launch *launch)
{
    const cx_emu_operation operation = {.type = CXU_GRAPH_NODE_TYPE_KERNEL,
                                        .of.kernel = *launch};

    return cx_emu_capture_add(stream, &operation);
}

/* An invalid launch is refused when it is captured, as it is when it is made. */
static cxu_result submit_launch(cx_emu_stream *stream, const cx_emu_launch *launch)
{
    cx_emu_run run;
    cx_emu_work_request request;
    cxu_result result = cx_emu_launch_request(launch, &run, &request);

    if (result != CXU_SUCCESS)
        return result;
    return stream->branch ? capture_launch(stream, launch)
                          : cx_emu_work_submit(stream, &request, NULL);
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
    pthread_mutex_lock(&cx_emu_lock);
    result = launch_locked(what, function, stream, parameters, extra);
    pthread_mutex_unlock(&cx_emu_lock);
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
