/* Modules and libraries: what loading them needs (T9); there is no kernel that could be run. */
#include "emu/context.h"
#include "emu/state.h"

cxu_result cx_emu_call_module_load_data(CUmodule *out_module, const void *image)
{
    cxu_result result = cx_emu_enter();
    if (result == CXU_SUCCESS)
        result = cx_emu_context_check_current();
    if (result != CXU_SUCCESS)
        return result;
    if (out_module == NULL || image == NULL)
        return CXU_INVALID_VALUE;
    return cx_emu_not_supported("cuModuleLoadData", "code for GPUs");
}

cxu_result cx_emu_call_library_load_data(CUlibrary *out_library, const void *code,
                                         cxu_jit_option *jit_options, void **jit_values,
                                         unsigned int jit_count, cxu_library_option *options,
                                         void **values, unsigned int count)
{
    (void)jit_options, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_library == NULL || code == NULL)
        return CXU_INVALID_VALUE;
    return cx_emu_not_supported("cuLibraryLoadData", "code for GPUs");
}
