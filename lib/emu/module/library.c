/* Libraries and their kernels, which belong to no context (T9). */
#include "emu/base/state.h"
#include "emu/context/context.h"
#include "emu/module/module.h"
#include <stdlib.h>

typedef struct named {
    cx_emu_handle_slot slot;
    cx_emu_library *library;
} named;

static cx_emu_handles names = {.slot_bytes = sizeof(named)};
static cx_emu_handles kernels = {.slot_bytes = sizeof(cx_emu_kernel)};
static cx_emu_library *all;

/* ---- handles ---- */

cxu_result cx_emu_library_find(CUlibrary handle, cx_emu_library **out_library)
{
    if (!cx_emu_handle_live(&names, handle))
        return CXU_INVALID_HANDLE;
    *out_library = ((const named *)(const void *)handle)->library;
    return CXU_SUCCESS;
}

bool cx_emu_library_live(const void *handle)
{
    return cx_emu_handle_live(&names, handle);
}

cxu_result cx_emu_kernel_find(CUkernel handle, cx_emu_kernel **out_kernel)
{
    if (!cx_emu_handle_live(&kernels, handle))
        return CXU_INVALID_HANDLE;
    *out_kernel = (cx_emu_kernel *)(void *)handle;
    return CXU_SUCCESS;
}

bool cx_emu_is_kernel(CUfunction handle)
{
    return cx_emu_handle_live(&kernels, handle);
}

/* ---- making and destroying ---- */

static void free_kernels(cx_emu_library *library)
{
    for (size_t i = 0; i < library->kernel_count; i++)
        if (library->kernels[i] != NULL)
            cx_emu_handle_return(&kernels, library->kernels[i]);
    free(library->kernels);
}

static bool make_kernels(cx_emu_library *library)
{
    size_t count = cx_ptx_kernel_count(library->code->ptx);

    library->kernels = calloc(count + 1, sizeof(cx_emu_kernel *));
    if (library->kernels == NULL)
        return false;
    library->kernel_count = count;
    for (size_t i = 0; i < count; i++) {
        cx_emu_kernel *kernel = cx_emu_handle_take(&kernels);

        if (kernel == NULL)
            return false;
        kernel->library = library;
        kernel->index = i;
        library->kernels[i] = kernel;
    }
    return true;
}

/* The library takes the code, or it is dropped. */
static cxu_result create_library(CUlibrary *out_library, cx_emu_code *code)
{
    cx_emu_library *library = calloc(1, sizeof *library);
    named *own = cx_emu_handle_take(&names);

    if (library == NULL || own == NULL)
        goto give_up;
    library->code = code;
    library->name = own;
    own->library = library;
    if (!make_kernels(library)) {
        free_kernels(library);
        goto give_up;
    }
    library->next = all;
    if (all != NULL)
        all->previous = library;
    all = library;
    *out_library = library->name;
    return CXU_SUCCESS;

give_up:
    if (own != NULL)
        cx_emu_handle_return(&names, own);
    free(library);
    cx_emu_code_drop(code);
    return CXU_OUT_OF_MEMORY;
}

static void destroy_library(cx_emu_library *library)
{
    *(library->previous != NULL ? &library->previous->next : &all) = library->next;
    if (library->next != NULL)
        library->next->previous = library->previous;
    cx_emu_library_release_instances(library);
    if (library->managed != NULL)
        cx_emu_allocation_free(library->managed);
    free_kernels(library);
    cx_emu_code_drop(library->code);
    cx_emu_handle_return(&names, library->name);
    free(library);
}

static cxu_result publish_library(CUlibrary *out_library, cx_emu_code *code)
{
    cxu_result result;

    cx_lock_enter(&cx_emu_lock);
    result = create_library(out_library, code);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

static bool options_valid(const CUlibrary *out_library, const void *what,
                          const cx_emu_jit_options *options)
{
    return out_library != NULL && what != NULL &&
           (options->count == 0 || (options->options != NULL && options->values != NULL));
}

cxu_result cx_emu_call_library_load_data(CUlibrary *out_library, const void *image,
                                         cxu_jit_option *jit_options, void **jit_values,
                                         unsigned int jit_count, cxu_library_option *options,
                                         void **values, unsigned int count)
{
    const cx_emu_jit_options jit = {
        .count = jit_count, .options = jit_options, .values = jit_values};
    cx_emu_code *code;
    cxu_result result = cx_emu_enter();

    (void)options, (void)values, (void)count;
    if (result != CXU_SUCCESS)
        return result;
    if (!options_valid(out_library, image, &jit))
        return CXU_INVALID_VALUE;
    result = cx_emu_code_load(image, &jit, &code);
    return result == CXU_SUCCESS ? publish_library(out_library, code) : result;
}

cxu_result cx_emu_call_library_load_from_file(CUlibrary *out_library, const char *path,
                                              cxu_jit_option *jit_options, void **jit_values,
                                              unsigned int jit_count, cxu_library_option *options,
                                              void **values, unsigned int count)
{
    const cx_emu_jit_options jit = {
        .count = jit_count, .options = jit_options, .values = jit_values};
    cx_emu_code *code;
    cxu_result result = cx_emu_enter();

    (void)options, (void)values, (void)count;
    if (result != CXU_SUCCESS)
        return result;
    if (!options_valid(out_library, path, &jit))
        return CXU_INVALID_VALUE;
    result = cx_emu_code_load_file(path, &jit, &code);
    return result == CXU_SUCCESS ? publish_library(out_library, code) : result;
}

cxu_result cx_emu_call_library_unload(CUlibrary handle)
{
    cx_emu_library *library;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_library_find(handle, &library);
    if (result == CXU_SUCCESS)
        destroy_library(library);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* ---- contents ---- */

cxu_result cx_emu_kernel_instance(cx_emu_kernel *kernel, cx_emu_context *context,
                                  cx_emu_function **out_function)
{
    size_t index = kernel->index;
    cx_emu_module *module;
    cxu_result result = cx_emu_library_instance(kernel->library, context, &module);

    if (result == CXU_SUCCESS)
        *out_function = module->functions[index];
    return result;
}

cxu_result cx_emu_function_or_kernel_find(CUfunction handle, cx_emu_function **out_function)
{
    cx_emu_kernel *kernel;
    cx_emu_context *context;
    cxu_result result;

    if (!cx_emu_is_kernel(handle))
        return cx_emu_function_find(handle, out_function);
    result = cx_emu_kernel_find((CUkernel)(void *)handle, &kernel);
    if (result == CXU_SUCCESS)
        result = cx_emu_context_current(&context);
    return result == CXU_SUCCESS ? cx_emu_kernel_instance(kernel, context, out_function) : result;
}

static cxu_result find_kernel(const cx_emu_library *library, const char *name, CUkernel *out_kernel)
{
    const cx_ptx_function *wanted = cx_ptx_kernel_find(library->code->ptx, name);

    for (size_t i = 0; i < library->kernel_count; i++)
        if (cx_ptx_kernel_at(library->code->ptx, i) == wanted) {
            *out_kernel = (CUkernel)(void *)library->kernels[i];
            return CXU_SUCCESS;
        }
    return CXU_NOT_FOUND;
}

cxu_result cx_emu_call_library_get_kernel(CUkernel *out_kernel, CUlibrary handle, const char *name)
{
    cx_emu_library *library;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_kernel == NULL || name == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_library_find(handle, &library);
    if (result == CXU_SUCCESS)
        result = find_kernel(library, name, out_kernel);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

static cxu_result current_instance(CUlibrary handle, cx_emu_module **out_module)
{
    cx_emu_library *library;
    cx_emu_context *context;
    cxu_result result = cx_emu_library_find(handle, &library);

    if (result == CXU_SUCCESS)
        result = cx_emu_context_current(&context);
    return result == CXU_SUCCESS ? cx_emu_library_instance(library, context, out_module) : result;
}

cxu_result cx_emu_call_library_get_module(CUmodule *out_module, CUlibrary handle)
{
    cx_emu_module *module;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_module == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = current_instance(handle, &module);
    if (result == CXU_SUCCESS)
        *out_module = cx_emu_module_handle(module);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_library_get_global(CUdeviceptr *out_pointer, size_t *out_bytes,
                                          CUlibrary handle, const char *name)
{
    cx_emu_module *module;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (name == NULL || (out_pointer == NULL && out_bytes == NULL))
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = current_instance(handle, &module);
    if (result == CXU_SUCCESS)
        result = cx_emu_module_variable(module, name, out_pointer, out_bytes);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* A managed variable is one for all contexts, which have it from the first instance on. */
cxu_result cx_emu_call_library_get_managed(CUdeviceptr *out_pointer, size_t *out_bytes,
                                           CUlibrary handle, const char *name)
{
    cx_emu_module *module;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (name == NULL || (out_pointer == NULL && out_bytes == NULL))
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = current_instance(handle, &module);
    if (result == CXU_SUCCESS)
        result = cx_emu_module_manages(module, name)
                     ? cx_emu_module_variable(module, name, out_pointer, out_bytes)
                     : CXU_NOT_FOUND;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_kernel_get_function(CUfunction *out_function, CUkernel handle)
{
    cx_emu_kernel *kernel;
    cx_emu_function *function;
    cx_emu_context *context;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_function == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_kernel_find(handle, &kernel);
    if (result == CXU_SUCCESS)
        result = cx_emu_context_current(&context);
    if (result == CXU_SUCCESS)
        result = cx_emu_kernel_instance(kernel, context, &function);
    if (result == CXU_SUCCESS)
        *out_function = cx_emu_function_handle(function);
    cx_lock_leave(&cx_emu_lock);
    return result;
}
