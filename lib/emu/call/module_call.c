/* Calls about modules and their functions. */
#include "emu/graph/capture.h"
#include "emu/module/module.h"
#include "emu/context/output.h"
#include "emu/base/state.h"

/* ---- loading ---- */

/* Called without the lock: the code was read without it, and another context may be current now. */
static cxu_result load_into_current(CUmodule *out_module, cx_emu_code *code)
{
    cx_emu_context *context;
    cx_emu_module *module;
    cxu_result result;

    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_context_current(&context);
    if (result == CXU_SUCCESS)
        result = cx_emu_module_create(context, code, NULL, &module);
    if (result == CXU_SUCCESS)
        *out_module = cx_emu_module_handle(module);
    cx_emu_code_drop(code);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* T9; and loading is not captured (G2). */
static cxu_result begin_load(void)
{
    cx_emu_context *context;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_emu_output_show();
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_context_current(&context);
    if (result == CXU_SUCCESS)
        result = cx_emu_capture_check_unsafe();
    cx_lock_leave(&cx_emu_lock);
    return result;
}

static cxu_result load_image(CUmodule *out_module, const void *image,
                             const cx_emu_jit_options *options)
{
    cx_emu_code *code;
    cxu_result result = begin_load();

    if (result != CXU_SUCCESS)
        return result;
    if (out_module == NULL || image == NULL ||
        (options->count > 0 && (options->options == NULL || options->values == NULL)))
        return CXU_INVALID_VALUE;
    result = cx_emu_code_load(image, options, &code);
    return result == CXU_SUCCESS ? load_into_current(out_module, code) : result;
}

cxu_result cx_emu_call_module_load_data(CUmodule *out_module, const void *image)
{
    return load_image(out_module, image, &(cx_emu_jit_options){0});
}

cxu_result cx_emu_call_module_load_data_ex(CUmodule *out_module, const void *image,
                                           unsigned int count, cxu_jit_option *options,
                                           void **values)
{
    return load_image(
        out_module, image,
        &(cx_emu_jit_options){.count = count, .options = options, .values = values});
}

cxu_result cx_emu_call_module_load_fat_binary(CUmodule *out_module, const void *image)
{
    return load_image(out_module, image, &(cx_emu_jit_options){0});
}

cxu_result cx_emu_call_module_load(CUmodule *out_module, const char *path)
{
    cx_emu_code *code;
    cxu_result result = begin_load();

    if (result != CXU_SUCCESS)
        return result;
    if (out_module == NULL || path == NULL || *path == '\0')
        return CXU_INVALID_VALUE;
    result = cx_emu_code_load_file(path, &(cx_emu_jit_options){0}, &code);
    return result == CXU_SUCCESS ? load_into_current(out_module, code) : result;
}

cxu_result cx_emu_call_module_unload(CUmodule handle)
{
    cx_emu_context *current;
    cx_emu_module *module;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_emu_output_show();
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_context_current(&current); /* T9: any context */
    if (result == CXU_SUCCESS)
        result = cx_emu_module_find(handle, &module);
    if (result == CXU_SUCCESS && module->library != NULL)
        result = CXU_NOT_PERMITTED;
    if (result == CXU_SUCCESS)
        result = cx_emu_capture_check_unsafe();
    if (result == CXU_SUCCESS)
        cx_emu_module_destroy(module);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* ---- contents ---- */

static cxu_result find_function(const cx_emu_module *module, const char *name,
                                CUfunction *out_function)
{
    const cx_ptx_function *kernel = cx_ptx_kernel_find(module->code->ptx, name);

    for (size_t i = 0; i < module->function_count; i++)
        if (module->functions[i]->kernel == kernel) {
            *out_function = cx_emu_function_handle(module->functions[i]);
            return CXU_SUCCESS;
        }
    return CXU_NOT_FOUND;
}

cxu_result cx_emu_call_module_get_function(CUfunction *out_function, CUmodule handle,
                                           const char *name)
{
    cx_emu_module *module;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_function == NULL || name == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_module_find(handle, &module);
    if (result == CXU_SUCCESS)
        result = *name != '\0' ? find_function(module, name, out_function) : CXU_INVALID_VALUE;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_module_get_function_count(unsigned int *out_count, CUmodule handle)
{
    cx_emu_module *module;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_count == NULL || handle == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_module_find(handle, &module);
    if (result == CXU_SUCCESS)
        *out_count = (unsigned int)module->function_count;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_module_enumerate_functions(CUfunction *out_functions, unsigned int count,
                                                  CUmodule handle)
{
    cx_emu_module *module;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_functions == NULL || handle == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_module_find(handle, &module);
    for (size_t i = 0; result == CXU_SUCCESS && i < count && i < module->function_count; i++)
        out_functions[i] = cx_emu_function_handle(module->functions[i]);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_module_get_global(CUdeviceptr *out_pointer, size_t *out_bytes,
                                         CUmodule handle, const char *name)
{
    cx_emu_module *module;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (name == NULL || (out_pointer == NULL && out_bytes == NULL))
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_module_find(handle, &module);
    if (result == CXU_SUCCESS)
        result = *name != '\0' ? cx_emu_module_variable(module, name, out_pointer, out_bytes)
                               : CXU_INVALID_VALUE;
    cx_lock_leave(&cx_emu_lock);
    return result;
}
