/* Launches of kernels. */
#include "base/error.h"
#include "context/context_guard.h"
#include "work/kernel.h"
#include "work/work.h"
#include <limits.h>

/* ---- checking the request ---- */

static bool any_zero(const unsigned int size[3])
{
    return size[0] == 0 || size[1] == 0 || size[2] == 0;
}

static ctxrt_status zero_dimension(const char *what, const unsigned int size[3])
{
    return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                    "ctxrt_launch: a dimension of the %s is 0: %u x %u x %u", what, size[0],
                    size[1], size[2]);
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
    return CTXRT_SUCCESS;
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

/* ---- the driver ---- */

static ctxrt_status launch_refused(const cx_kernel *kernel, const ctxrt_launch_config *config,
                                   cx_slot slot, cxu_result result)
{
    const cx_driver *driver = cx_kernel_context(kernel)->driver;
    const char *name = cx_driver_result_name(driver, result);
    if (driver->missing[slot])
        return cx_driver_error(driver, slot, result);
    return cx_error_driver_call(
        cx_driver_status(result), cx_symbols[slot].symbol, (int)result, name,
        "the kernel '%.200s' was not launched, grid %u x %u x %u, block %u x %u x %u, %zu bytes of "
        "shared memory: %s, %d (%s)",
        kernel->name, config->grid[0], config->grid[1], config->grid[2], config->block[0],
        config->block[1], config->block[2], config->shared_bytes, name, (int)result,
        cx_driver_result_text(driver, result));
}

static ctxrt_status submit_launch(const cx_kernel *kernel, const ctxrt_launch_config *config,
                                  CUstream stream, void **arguments)
{
    const unsigned int *grid = config->grid, *block = config->block;
    const cx_driver_table *table = &cx_kernel_context(kernel)->driver->table;
    CUfunction function = kernel->native;
    unsigned int shared = (unsigned int)config->shared_bytes;
    cx_slot slot =
        config->cooperative ? CX_SLOT_launch_cooperative_kernel : CX_SLOT_launch_kernel;
    cxu_result result =
        config->cooperative
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
