/* Calls about functions: their properties, and their occupancy. */
#include "emu/device/device.h"
#include "emu/module/module.h"
#include "emu/base/state.h"

#define CLUSTER_POLICIES_LAST 2

/* ---- attributes ---- */

/* The kernel's own size is fixed. */
static int cluster_of(const cx_emu_function *function, int dimension)
{
    cx_ptx_kernel_info kernel = cx_emu_function_describe(function);

    return kernel.cluster[0] ? (int)kernel.cluster[dimension] : function->cluster[dimension];
}

static cxu_result read_attribute(const cx_emu_function *function, cxu_func_attribute attribute,
                                 int *out_value)
{
    if (cx_emu_function_fact(function, attribute, out_value))
        return CXU_SUCCESS;
    switch (attribute) {
    case CXU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CXU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CXU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        *out_value = cluster_of(function, attribute - CXU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
        return CXU_SUCCESS;
    case CXU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        *out_value = function->non_portable_clusters;
        return CXU_SUCCESS;
    case CXU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        *out_value = function->cluster_policy;
        return CXU_SUCCESS;
    case CXU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *out_value = (int)cx_emu_function_dynamic_limit(function);
        return CXU_SUCCESS;
    case CXU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *out_value = function->carveout;
        return CXU_SUCCESS;
    default:
        return CXU_INVALID_VALUE;
    }
}

cxu_result cx_emu_call_func_get_attribute(int *out_value, cxu_func_attribute attribute,
                                          CUfunction handle)
{
    cx_emu_function *function;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_value == NULL || handle == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_function_find(handle, &function);
    if (result == CXU_SUCCESS)
        result = read_attribute(function, attribute, out_value);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

static cxu_result set_dynamic_limit(cx_emu_function *function, int value)
{
    size_t fixed = cx_emu_function_describe(function).shared_bytes;
    int most = cx_emu_attribute_value(function->module->context->device,
                                      CXU_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);

    if (value < 0 || (size_t)value + fixed > (size_t)most)
        return CXU_INVALID_VALUE;
    function->max_dynamic_bytes = value;
    return CXU_SUCCESS;
}

static cxu_result write_attribute(cx_emu_function *function, cxu_func_attribute attribute,
                                  int value)
{
    switch (attribute) {
    case CXU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        return set_dynamic_limit(function, value);
    case CXU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < -1 || value > 100)
            return CXU_INVALID_VALUE;
        function->carveout = value;
        return CXU_SUCCESS;
    case CXU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CXU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CXU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        if (cx_emu_function_describe(function).cluster[0])
            return CXU_NOT_PERMITTED;
        if (value < 0)
            return CXU_INVALID_VALUE;
        function->cluster[attribute - CXU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH] = value;
        return CXU_SUCCESS;
    case CXU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        function->non_portable_clusters = value != 0;
        return CXU_SUCCESS;
    case CXU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        if (value < 0 || value > CLUSTER_POLICIES_LAST)
            return CXU_INVALID_VALUE;
        function->cluster_policy = value;
        return CXU_SUCCESS;
    default:
        return CXU_INVALID_VALUE;
    }
}

cxu_result cx_emu_call_func_set_attribute(CUfunction handle, cxu_func_attribute attribute,
                                          int value)
{
    cx_emu_function *function;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_function_find(handle, &function);
    if (result == CXU_SUCCESS)
        result = write_attribute(function, attribute, value);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* A hint, without effect here. */
cxu_result cx_emu_call_func_set_cache_config(CUfunction handle, cxu_func_cache config)
{
    cx_emu_function *function;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if ((unsigned int)config > CXU_FUNC_CACHE_PREFER_EQUAL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_function_find(handle, &function);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* A hint too; the context's own setting has the same values. */
cxu_result cx_emu_call_func_set_shared_mem_config(CUfunction handle, cxu_shared_config config)
{
    cx_emu_function *function;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if ((unsigned int)config > CXU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_function_find(handle, &function);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_func_get_module(CUmodule *out_module, CUfunction handle)
{
    cx_emu_function *function;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_module == NULL || handle == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_function_find(handle, &function);
    if (result == CXU_SUCCESS)
        *out_module = cx_emu_module_handle(function->module);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_func_get_name(const char **out_name, CUfunction handle)
{
    cx_emu_function *function;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_name == NULL || handle == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_function_find(handle, &function);
    if (result == CXU_SUCCESS)
        *out_name = cx_emu_function_describe(function).name;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_func_get_param_info(CUfunction handle, size_t index, size_t *out_offset,
                                           size_t *out_bytes)
{
    cx_emu_function *function;
    cx_ptx_kernel_info kernel;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_offset == NULL || handle == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_function_find(handle, &function);
    if (result == CXU_SUCCESS) {
        kernel = cx_emu_function_describe(function);
        if (index >= kernel.parameter_count)
            result = CXU_INVALID_VALUE;
    }
    if (result == CXU_SUCCESS) {
        *out_offset = kernel.parameters[index].offset;
        if (out_bytes != NULL)
            *out_bytes = kernel.parameters[index].bytes;
    }
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_func_get_param_count(CUfunction handle, size_t *out_count)
{
    cx_emu_function *function;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_count == NULL || handle == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_function_find(handle, &function);
    if (result == CXU_SUCCESS)
        *out_count = cx_emu_function_describe(function).parameter_count;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_kernel_get_attribute(int *out_value, cxu_func_attribute attribute,
                                            CUkernel handle, CUdevice device)
{
    cx_emu_kernel *kernel;
    cx_emu_function *function;
    const cx_emu_device *found = cx_emu_device_find(device);
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_value == NULL)
        return CXU_INVALID_VALUE;
    if (found == NULL)
        return CXU_INVALID_DEVICE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_kernel_find(handle, &kernel);
    /* All devices are alike: an active primary context stands for all. */
    if (result == CXU_SUCCESS)
        result = cx_emu_context_id(found->primary) != 0
                     ? cx_emu_kernel_instance(kernel, found->primary, &function)
                     : CXU_CONTEXT_IS_DESTROYED;
    if (result == CXU_SUCCESS)
        result = read_attribute(function, attribute, out_value);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_kernel_set_attribute(cxu_func_attribute attribute, int value,
                                            CUkernel handle, CUdevice device)
{
    cx_emu_kernel *kernel;
    cx_emu_function *function;
    const cx_emu_device *found = cx_emu_device_find(device);
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_kernel_find(handle, &kernel);
    if (result == CXU_SUCCESS && found == NULL)
        result = CXU_INVALID_DEVICE;
    if (result == CXU_SUCCESS)
        result = cx_emu_context_id(found->primary) != 0
                     ? cx_emu_kernel_instance(kernel, found->primary, &function)
                     : CXU_CONTEXT_IS_DESTROYED;
    if (result == CXU_SUCCESS)
        result = write_attribute(function, attribute, value);
    cx_lock_leave(&cx_emu_lock);
    return result;
}
