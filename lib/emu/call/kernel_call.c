/* Calls about the kernels of libraries, and about loaded code. */
#include "emu/base/state.h"
#include "emu/device/device.h"
#include "emu/module/loading.h"
#include "emu/module/module.h"

/* ---- the contents of a library ---- */

cxu_result cx_emu_call_library_get_kernel_count(unsigned int *out_count, CUlibrary handle)
{
    cx_emu_library *library;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_count == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_library_find(handle, &library);
    if (result == CXU_SUCCESS)
        *out_count = (unsigned int)library->kernel_count;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_library_enumerate_kernels(CUkernel *out_kernels, unsigned int count,
                                                 CUlibrary handle)
{
    cx_emu_library *library;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_kernels == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_library_find(handle, &library);
    for (size_t i = 0; result == CXU_SUCCESS && i < count && i < library->kernel_count; i++)
        out_kernels[i] = (CUkernel)(void *)library->kernels[i];
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* The emulated GPUs have no addresses of functions that the host shares. */
cxu_result cx_emu_call_library_get_unified_function(void **out_function, CUlibrary handle,
                                                    const char *name)
{
    cx_emu_library *library;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_function == NULL || name == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_library_find(handle, &library);
    cx_lock_leave(&cx_emu_lock);
    return result == CXU_SUCCESS ? CXU_INVALID_VALUE : result;
}

/* ---- kernels ---- */

cxu_result cx_emu_call_kernel_get_library(CUlibrary *out_library, CUkernel handle)
{
    cx_emu_kernel *kernel;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_library == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_kernel_find(handle, &kernel);
    if (result == CXU_SUCCESS)
        *out_library = kernel->library->name;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* The calls since CUDA 12.3 tell no handle at all from a wrong one. */
static cxu_result describe_kernel(CUkernel handle, cx_ptx_kernel_info *out_info)
{
    cx_emu_kernel *kernel;
    cxu_result result = handle != NULL ? cx_emu_kernel_find(handle, &kernel) : CXU_INVALID_VALUE;

    if (result == CXU_SUCCESS) {
        const cx_ptx_module *ptx = kernel->library->code->ptx;

        *out_info = cx_ptx_kernel_describe(ptx, cx_ptx_kernel_at(ptx, kernel->index));
    }
    return result;
}

cxu_result cx_emu_call_kernel_get_name(const char **out_name, CUkernel handle)
{
    cx_ptx_kernel_info info;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_name == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = describe_kernel(handle, &info);
    if (result == CXU_SUCCESS)
        *out_name = info.name;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_kernel_get_param_info(CUkernel handle, size_t index, size_t *out_offset,
                                             size_t *out_bytes)
{
    cx_ptx_kernel_info info;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_offset == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = describe_kernel(handle, &info);
    if (result == CXU_SUCCESS && index >= info.parameter_count)
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS) {
        *out_offset = info.parameters[index].offset;
        if (out_bytes != NULL)
            *out_bytes = info.parameters[index].bytes;
    }
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_kernel_get_param_count(CUkernel handle, size_t *out_count)
{
    cx_ptx_kernel_info info;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_count == NULL || handle == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = describe_kernel(handle, &info);
    if (result == CXU_SUCCESS)
        *out_count = info.parameter_count;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* A wish, which nothing here depends on. */
cxu_result cx_emu_call_kernel_set_cache_config(CUkernel handle, cxu_func_cache config,
                                               CUdevice device)
{
    cx_emu_kernel *kernel;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if ((unsigned int)config > CXU_FUNC_CACHE_PREFER_EQUAL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_kernel_find(handle, &kernel);
    cx_lock_leave(&cx_emu_lock);
    if (result == CXU_SUCCESS && cx_emu_device_find(device) == NULL)
        result = CXU_INVALID_DEVICE;
    return result;
}

/* ---- loading ---- */

cxu_result cx_emu_call_module_get_loading_mode(cxu_module_loading_mode *out_mode)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_mode == NULL)
        return CXU_INVALID_VALUE;
    *out_mode = cx_emu_loads_eagerly() ? CXU_MODULE_EAGER_LOADING : CXU_MODULE_LAZY_LOADING;
    return CXU_SUCCESS;
}

static cxu_result find_own_function(CUfunction handle, cx_emu_function **out_function)
{
    return handle != NULL ? cx_emu_function_find(handle, out_function) : CXU_INVALID_VALUE;
}

cxu_result cx_emu_call_func_load(CUfunction handle)
{
    cx_emu_function *function;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = find_own_function(handle, &function);
    if (result == CXU_SUCCESS) {
        cx_emu_loading_begin(function);
        result = find_own_function(handle, &function);
    }
    if (result == CXU_SUCCESS)
        function->loaded = true;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_func_is_loaded(cxu_function_loading_state *out_state, CUfunction handle)
{
    cx_emu_function *function;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_state == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = find_own_function(handle, &function);
    if (result == CXU_SUCCESS)
        *out_state = function->loaded ? CXU_FUNCTION_LOADING_STATE_LOADED
                                      : CXU_FUNCTION_LOADING_STATE_UNLOADED;
    cx_lock_leave(&cx_emu_lock);
    return result;
}
