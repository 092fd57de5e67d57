#include "emu/module/code.h"

#include <stdlib.h>

#define PTX_VERSION_MAX 90
#define PTX_TARGET_MAX 121

/* ---- PTX ---- */

cxu_result cx_emu_code_result(cx_ptx_status status)
{
    switch (status) {
    case CX_PTX_SUCCESS:
        return CXU_SUCCESS;
    case CX_PTX_INVALID:
        return CXU_INVALID_PTX;
    case CX_PTX_UNSUPPORTED:
        return CXU_NOT_SUPPORTED;
    default:
        return CXU_OUT_OF_MEMORY;
    }
}

static cxu_result check_versions(const cx_ptx_module *ptx, const cx_emu_jit_options *options)
{
    if (cx_ptx_version(ptx) > PTX_VERSION_MAX) {
        cx_emu_jit_complain(options, "PTX .version %d.%d is newer than %d.%d",
                            cx_ptx_version(ptx) / 10, cx_ptx_version(ptx) % 10,
                            PTX_VERSION_MAX / 10, PTX_VERSION_MAX % 10);
        return CXU_UNSUPPORTED_PTX_VERSION;
    }
    if (cx_ptx_target(ptx) > PTX_TARGET_MAX) {
        cx_emu_jit_complain(options, "PTX .target sm_%d is above sm_%d, the newest known",
                            cx_ptx_target(ptx), PTX_TARGET_MAX);
        return CXU_INVALID_PTX;
    }
    return CXU_SUCCESS;
}

cxu_result cx_emu_code_compile(const cx_emu_text *text, const cx_emu_jit_options *options,
                               cx_emu_code **out_code)
{
    cx_ptx_error error;
    cx_ptx_module *ptx;
    cx_emu_code *code;
    cx_ptx_status status = cx_ptx_load(text->text, text->length, &ptx, &error);
    cxu_result result;

    if (status != CX_PTX_SUCCESS) {
        if (status != CX_PTX_NO_MEMORY)
            cx_emu_jit_complain(options, "PTX, line %d: %s", error.line, error.message);
        return cx_emu_code_result(status);
    }
    result = check_versions(ptx, options);
    code = result == CXU_SUCCESS ? malloc(sizeof *code) : NULL;
    if (code == NULL) {
        cx_ptx_unload(ptx);
        return result == CXU_SUCCESS ? CXU_OUT_OF_MEMORY : result;
    }
    *code = (cx_emu_code){1, ptx, cx_emu_jit_registers(options)};
    *out_code = code;
    return CXU_SUCCESS;
}

void cx_emu_text_free(const cx_emu_text *text)
{
    free(text->unpacked);
}

cx_ptx_kernel_info cx_emu_code_describe(const cx_emu_code *code, const cx_ptx_function *kernel)
{
    cx_ptx_kernel_info info = cx_ptx_kernel_describe(code->ptx, kernel);

    if (code->max_registers > 0 && info.registers > code->max_registers)
        info.registers = code->max_registers;
    return info;
}

void cx_emu_code_inform(const cx_emu_code *code, const cx_emu_jit_options *options)
{
    if (!cx_emu_jit_is_verbose(options))
        return;
    for (size_t i = 0; i < cx_ptx_kernel_count(code->ptx); i++) {
        cx_ptx_kernel_info info = cx_emu_code_describe(code, cx_ptx_kernel_at(code->ptx, i));

        cx_emu_jit_inform(options,
                          "kernel '%s': %zu registers, %zu bytes of shared memory, %zu bytes of "
                          "local memory\n",
                          info.name, info.registers, info.shared_bytes, info.local_bytes);
    }
}

/* ---- counting ---- */

void cx_emu_code_retain(cx_emu_code *code)
{
    code->references++;
}

void cx_emu_code_drop(cx_emu_code *code)
{
    if (code == NULL || --code->references > 0)
        return;
    cx_ptx_unload(code->ptx);
    free(code);
}
