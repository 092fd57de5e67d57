/* Launches as before CUDA 4: a function keeps the shape of its blocks and its arguments. */
#include "emu/device/device.h"
#include "emu/module/launch.h"
#include "emu/module/module.h"
#include "emu/base/state.h"
#include "emu/module/texture_reference.h"
#include <stdlib.h>
#include <string.h>

#define ARGUMENTS_MAX 32764

/* The module frees them. */
typedef struct cx_emu_old_launch {
    uint32_t block[3];
    unsigned int shared_bytes, argument_bytes;
    unsigned char arguments[ARGUMENTS_MAX];
} cx_emu_old_launch;

static cxu_result find_settings(CUfunction handle, cx_emu_function **out_function,
                                cx_emu_old_launch **out_settings)
{
    cx_emu_function *function;
    cxu_result result = cx_emu_function_find(handle, &function);

    if (result != CXU_SUCCESS)
        return result;
    if (function->old_launch == NULL) {
        function->old_launch = calloc(1, sizeof *function->old_launch);
        if (function->old_launch == NULL)
            return CXU_OUT_OF_MEMORY;
        memcpy(function->old_launch->block, (const uint32_t[]){1, 1, 1},
               sizeof function->old_launch->block);
    }
    *out_function = function;
    *out_settings = function->old_launch;
    return CXU_SUCCESS;
}

/* ---- settings ---- */

cxu_result cx_emu_call_func_set_block_shape(CUfunction handle, int x, int y, int z)
{
    /* Negative sizes are beyond each limit. */
    const uint32_t block[3] = {(uint32_t)x, (uint32_t)y, (uint32_t)z};
    cx_emu_function *function;
    cx_emu_old_launch *settings;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = find_settings(handle, &function, &settings);
    if (result == CXU_SUCCESS &&
        !cx_emu_launch_block_valid(function->module->context->device, block))
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS)
        memcpy(settings->block, block, sizeof block);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_func_set_shared_size(CUfunction handle, unsigned int bytes)
{
    cx_emu_function *function;
    cx_emu_old_launch *settings;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = find_settings(handle, &function, &settings);
    if (result == CXU_SUCCESS && bytes > cx_emu_function_dynamic_limit(function))
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS)
        settings->shared_bytes = bytes;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* The kernel says how much it reads, but it must not be less than this. */
cxu_result cx_emu_call_param_set_size(CUfunction handle, unsigned int bytes)
{
    cx_emu_function *function;
    cx_emu_old_launch *settings;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = find_settings(handle, &function, &settings);
    if (result == CXU_SUCCESS && bytes > ARGUMENTS_MAX)
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS)
        settings->argument_bytes = bytes;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

static cxu_result set_argument(CUfunction handle, int offset, const void *source, size_t bytes)
{
    cx_emu_function *function;
    cx_emu_old_launch *settings;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = find_settings(handle, &function, &settings);
    if (result == CXU_SUCCESS && (source == NULL || offset < 0 || offset > ARGUMENTS_MAX ||
                                  bytes > (size_t)(ARGUMENTS_MAX - offset)))
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS)
        memcpy(settings->arguments + offset, source, bytes);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_param_set_int(CUfunction handle, int offset, unsigned int value)
{
    return set_argument(handle, offset, &value, sizeof value);
}

cxu_result cx_emu_call_param_set_float(CUfunction handle, int offset, float value)
{
    return set_argument(handle, offset, &value, sizeof value);
}

cxu_result cx_emu_call_param_set_bytes(CUfunction handle, int offset, void *source,
                                       unsigned int bytes)
{
    return set_argument(handle, offset, source, bytes);
}

/* The references of a module are there for each of its kernels, so there is nothing to set. */
cxu_result cx_emu_call_param_set_texture(CUfunction handle, int unit, CUtexref texture)
{
    const int any_unit = -1; /* CU_PARAM_TR_DEFAULT */
    cx_emu_texture_reference *reference;
    cx_emu_function *function;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_function_find(handle, &function);
    if (result == CXU_SUCCESS)
        result = cx_emu_texture_reference_find(texture, false, &reference);
    if (result == CXU_SUCCESS && (unit != any_unit || reference->module != function->module))
        result = CXU_INVALID_VALUE;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* ---- launches ---- */

static cxu_result copy_settings(CUfunction handle, cx_emu_old_launch *out_settings)
{
    cx_emu_function *function;
    cx_emu_old_launch *settings;
    cxu_result result;

    cx_lock_enter(&cx_emu_lock);
    result = find_settings(handle, &function, &settings);
    if (result == CXU_SUCCESS &&
        settings->argument_bytes > cx_emu_function_describe(function).parameter_bytes)
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS)
        *out_settings = *settings;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

static cxu_result launch_with(const cx_emu_old_launch *settings, CUfunction function, int width,
                              int height, CUstream stream)
{
    size_t bytes = ARGUMENTS_MAX;
    void *extra[] = {(void *)CXU_LAUNCH_PARAM_BUFFER_POINTER, (void *)settings->arguments,
                     (void *)CXU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, (void *)CXU_LAUNCH_PARAM_END};

    return cx_emu_call_launch_kernel(function, (unsigned int)width, (unsigned int)height, 1,
                                     settings->block[0], settings->block[1], settings->block[2],
                                     settings->shared_bytes, stream, NULL, extra);
}

cxu_result cx_emu_call_launch_grid_async(CUfunction function, int width, int height,
                                         CUstream stream)
{
    cx_emu_old_launch *settings;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    settings = malloc(sizeof *settings);
    if (settings == NULL)
        return CXU_OUT_OF_MEMORY;
    result = copy_settings(function, settings);
    if (result == CXU_SUCCESS && (width <= 0 || height <= 0))
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS)
        result = launch_with(settings, function, width, height, stream);
    free(settings);
    return result;
}

cxu_result cx_emu_call_launch_grid(CUfunction function, int width, int height)
{
    return cx_emu_call_launch_grid_async(function, width, height, NULL);
}

cxu_result cx_emu_call_launch_once(CUfunction function)
{
    return cx_emu_call_launch_grid_async(function, 1, 1, NULL);
}
