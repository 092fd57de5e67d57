/* Launches of kernels. */
#include "base/error.h"
#include "context/context_guard.h"
#include "work/kernel.h"
#include "work/work.h"
#include <limits.h>
#include <stdio.h>

/* ---- checking the request ---- */

static bool any_zero(const unsigned int size[3])
{
    return size[0] == 0 || size[1] == 0 || size[2] == 0;
}

static bool has_cluster(const ctxrt_launch_config *config)
{
    return (config->cluster[0] | config->cluster[1] | config->cluster[2]) != 0;
}

static ctxrt_status zero_dimension(const char *what, const unsigned int size[3])
{
    return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                    "ctxrt_launch: a dimension of the %s is 0: %u x %u x %u", what, size[0],
                    size[1], size[2]);
}

static ctxrt_status check_cluster(const ctxrt_launch_config *config)
{
    const unsigned int *cluster = config->cluster, *grid = config->grid;
    if (!has_cluster(config))
        return CTXRT_SUCCESS;
    if (any_zero(cluster))
        return zero_dimension("cluster", cluster);
    for (int i = 0; i < 3; i++)
        if (grid[i] % cluster[i] != 0)
            return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                            "ctxrt_launch: a cluster of %u x %u x %u blocks does not divide a grid "
                            "of %u x %u x %u",
                            cluster[0], cluster[1], cluster[2], grid[0], grid[1], grid[2]);
    return CTXRT_SUCCESS;
}

static ctxrt_status check_config(const ctxrt_launch_config *config)
{
    if (config == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_launch: config is NULL");
    if (config->struct_size != sizeof *config)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "ctxrt_launch: struct_size is %zu, not %zu: start from "
                        "CTXRT_LAUNCH_CONFIG_INIT",
                        config->struct_size, sizeof *config);
    if (any_zero(config->grid))
        return zero_dimension("grid", config->grid);
    if (any_zero(config->block))
        return zero_dimension("block", config->block);
    if (config->shared_bytes > UINT_MAX)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "ctxrt_launch: no block has %zu bytes of shared memory",
                        config->shared_bytes);
    if (config->cooperative != 0 && config->cooperative != 1)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "ctxrt_launch: cooperative is %d, not 0 or 1",
                        config->cooperative);
    return check_cluster(config);
}

static ctxrt_status check_arguments(const cx_kernel *kernel, void **arguments, size_t count)
{
    int wanted = kernel->parameter_count;
    if (wanted != CX_PARAMETERS_UNKNOWN && count != (size_t)wanted)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "the kernel '%.200s' has %d parameter%s, and %zu argument%s given",
                        kernel->name, wanted, wanted == 1 ? "" : "s", count,
                        count == 1 ? " is" : "s are");
    if (count != 0 && arguments == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_launch: arguments is NULL");
    for (size_t i = 0; i < count; i++)
        if (arguments[i] == NULL)
            return cx_error(CTXRT_ERROR_NULL_POINTER,
                            "argument %zu of %zu of the kernel '%.200s' is NULL", i + 1, count,
                            kernel->name);
    return CTXRT_SUCCESS;
}

static ctxrt_status check_stream(const cx_kernel *kernel, const ctxrt_stream *handle,
                                 const cx_stream_target *target)
{
    const cx_context *context = cx_kernel_context(kernel);
    if (target->context == context)
        return CTXRT_SUCCESS;
    return cx_error(CTXRT_ERROR_WRONG_CONTEXT, "the kernel '%.200s' is of %s, and the %s is of %s",
                    kernel->name, cx_context_text(context),
                    handle == NULL || handle == CTXRT_STREAM_LEGACY ? "top frame" : "stream",
                    cx_context_text(target->context));
}

/* ---- which limit a launch is over ---- */

typedef struct limits {
    const cx_driver *driver;
    CUdevice device;
    CUfunction function;
} limits;

/* UINT_MAX where the driver does not tell. */
static unsigned int device_limit(const limits *of, cxu_device_attribute attribute)
{
    int value;
    return of->driver->table.device_get_attribute(&value, attribute, of->device) == CXU_SUCCESS
               ? (unsigned int)value
               : UINT_MAX;
}

static unsigned int kernel_limit(const limits *of, cxu_func_attribute attribute)
{
    int value;
    return of->driver->table.func_get_attribute(&value, attribute, of->function) == CXU_SUCCESS
               ? (unsigned int)value
               : UINT_MAX;
}

static bool tell_dimensions(const limits *of, const char *what, const unsigned int size[3],
                            cxu_device_attribute first, char *text, size_t text_size)
{
    unsigned int most[3];
    bool over = false;
    for (int i = 0; i < 3; i++) {
        most[i] = device_limit(of, (cxu_device_attribute)((int)first + i));
        over = over || size[i] > most[i];
    }
    if (over)
        snprintf(text, text_size, "; the device's limit is a %s of %u x %u x %u", what, most[0],
                 most[1], most[2]);
    return over;
}

static bool tell_threads(const limits *of, const unsigned int block[3], char *text,
                         size_t text_size)
{
    unsigned long long threads = (unsigned long long)block[0] * block[1] * block[2];
    unsigned int device = device_limit(of, CXU_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    unsigned int kernel = kernel_limit(of, CXU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    if (threads <= device && threads <= kernel)
        return false;
    snprintf(text, text_size, "; the block has %llu threads, and the %s's limit is %u", threads,
             threads > device ? "device" : "kernel", threads > device ? device : kernel);
    return true;
}

/* Tells which limit the launch is over; else "". Most programs that are over one have too many
 * threads in a block, so that limit comes first. */
static void tell_limit(const limits *of, const ctxrt_launch_config *config, char *text,
                       size_t text_size)
{
    unsigned int shared = kernel_limit(of, CXU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    text[0] = '\0';
    if (!tell_threads(of, config->block, text, text_size) &&
        !tell_dimensions(of, "block", config->block, CXU_ATTRIBUTE_MAX_BLOCK_DIM_X, text,
                         text_size) &&
        !tell_dimensions(of, "grid", config->grid, CXU_ATTRIBUTE_MAX_GRID_DIM_X, text, text_size) &&
        config->shared_bytes > shared)
        snprintf(text, text_size, "; the kernel's limit of dynamic shared memory is %u bytes",
                 shared);
}

/* ---- the driver ---- */

static ctxrt_status launch_refused(const cx_kernel *kernel, const ctxrt_launch_config *config,
                                   cx_slot slot, cxu_result result)
{
    const cx_context *context = cx_kernel_context(kernel);
    const cx_driver *driver = context->driver;
    const char *name = cx_driver_result_name(driver, result);
    char limit[128] = "";
    if (driver->missing[slot])
        return cx_driver_error(driver, slot, result);
    if (result == CXU_INVALID_VALUE)
        tell_limit(&(limits){driver, context->device->native, kernel->native}, config, limit,
                   sizeof limit);
    return cx_error_driver_call(
        cx_driver_status(result), cx_symbols[slot].symbol, (int)result, name,
        "the kernel '%.200s' was not launched, grid %u x %u x %u, block %u x %u x %u, %zu bytes of "
        "shared memory: %s, %d (%s)%s",
        kernel->name, config->grid[0], config->grid[1], config->grid[2], config->block[0],
        config->block[1], config->block[2], config->shared_bytes, name, (int)result,
        cx_driver_result_text(driver, result), limit);
}

static cxu_result launch_clusters(const cx_kernel *kernel, const ctxrt_launch_config *config,
                                  CUstream stream, void **arguments)
{
    const unsigned int *grid = config->grid, *block = config->block, *size = config->cluster;
    cxu_launch_attribute attributes[] = {
        {.id = CXU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
         .value.cluster = {size[0], size[1], size[2]}},
        {.id = CXU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.number = 1},
    };
    const cxu_launch_config wanted = {
        .grid_x = grid[0],
        .grid_y = grid[1],
        .grid_z = grid[2],
        .block_x = block[0],
        .block_y = block[1],
        .block_z = block[2],
        .shared_bytes = (unsigned int)config->shared_bytes,
        .stream = stream,
        .attributes = attributes,
        .attribute_count = config->cooperative ? 2 : 1,
    };
    return cx_kernel_context(kernel)->driver->table.launch_kernel_ex(&wanted, kernel->native,
                                                                     arguments, NULL);
}

static ctxrt_status submit_launch(const cx_kernel *kernel, const ctxrt_launch_config *config,
                                  CUstream stream, void **arguments)
{
    const unsigned int *grid = config->grid, *block = config->block;
    const cx_driver_table *table = &cx_kernel_context(kernel)->driver->table;
    CUfunction function = kernel->native;
    unsigned int shared = (unsigned int)config->shared_bytes;
    cx_slot slot = has_cluster(config)   ? CX_SLOT_launch_kernel_ex
                   : config->cooperative ? CX_SLOT_launch_cooperative_kernel
                                         : CX_SLOT_launch_kernel;
    cxu_result result =
        has_cluster(config) ? launch_clusters(kernel, config, stream, arguments)
        : config->cooperative
            ? table->launch_cooperative_kernel(function, grid[0], grid[1], grid[2], block[0],
                                               block[1], block[2], shared, stream, arguments)
            : table->launch_kernel(function, grid[0], grid[1], grid[2], block[0], block[1],
                                   block[2], shared, stream, arguments, NULL);
    return result == CXU_SUCCESS ? CTXRT_SUCCESS : launch_refused(kernel, config, slot, result);
}

static ctxrt_status launch_there(const cx_kernel *kernel, const ctxrt_launch_config *config,
                                 const cx_stream_target *target, void **arguments)
{
    cx_context_guard guard;
    ctxrt_status status = cx_work_make_current(config->stream, target, &guard);
    if (status == CTXRT_SUCCESS) {
        status = submit_launch(kernel, config, target->native, arguments);
        cx_context_guard_leave(&guard);
    }
    return cx_context_map_error(target->context, "kernel", status);
}

/* In the section of the stream's work. */
static ctxrt_status find_and_launch(const ctxrt_launch_config *config, ctxrt_kernel *handle,
                                    const cx_stream_target *target, void **arguments, size_t count)
{
    cx_kernel *kernel;
    ctxrt_status status = cx_kernel_look(handle, &kernel);
    if (status == CTXRT_SUCCESS)
        status = check_arguments(kernel, arguments, count);
    if (status == CTXRT_SUCCESS)
        status = check_stream(kernel, config->stream, target);
    return status == CTXRT_SUCCESS ? launch_there(kernel, config, target, arguments) : status;
}

ctxrt_status ctxrt_launch(const ctxrt_launch_config *config, ctxrt_kernel *kernel, void **arguments,
                          size_t argument_count)
{
    cx_stream_target target;
    ctxrt_status status = cx_runtime_enter();
    if (status == CTXRT_SUCCESS)
        status = check_config(config);
    if (status == CTXRT_SUCCESS)
        status = cx_work_begin(config->stream, &target);
    if (status != CTXRT_SUCCESS)
        return status;
    status = find_and_launch(config, kernel, &target, arguments, argument_count);
    cx_work_end();
    return status;
}
