/*
 * Code for GPUs: parsed PTX, reference-counted, since running kernels outlive their module.
 */
#ifndef CX_EMU_CODE_H
#define CX_EMU_CODE_H

#include "emu/module/jit.h"
#include "ptx/ptx.h"

typedef struct cx_emu_code {
    int references; /* guarded by "emu.state" */
    cx_ptx_module *ptx;
    unsigned int max_registers; /* as the user asked; 0: any number */
} cx_emu_code;

typedef struct cx_emu_text {
    const char *text;
    size_t length;
    char *unpacked; /* the same, if it was unpacked; NULL: it is a part of the image */
} cx_emu_text;

void cx_emu_text_free(const cx_emu_text *text);

/*
 * Reads an image: PTX as text, or a fat binary with PTX. The caller has the one reference. Takes no
 * lock. Errors go to the log, and to the buffers of the options.
 *
 * CXU_INVALID_PTX, CXU_UNSUPPORTED_PTX_VERSION; CXU_INVALID_IMAGE: neither; CXU_NO_BINARY_FOR_GPU:
 * machine code without PTX; CXU_NOT_SUPPORTED: PTX that lib/ptx does not know, or a compression
 * that this build lacks; CXU_OUT_OF_MEMORY; errors of cx_emu_jit_check.
 */
cxu_result cx_emu_code_load(const void *image, const cx_emu_jit_options *options,
                            cx_emu_code **out_code);

/* Reads an image from a file. CXU_FILE_NOT_FOUND, CXU_INVALID_IMAGE: it cannot be read. */
cxu_result cx_emu_code_load_file(const char *path, const cx_emu_jit_options *options,
                                 cx_emu_code **out_code);

/* ---- the steps of loading ---- */

cxu_result cx_emu_code_compile(const cx_emu_text *text, const cx_emu_jit_options *options,
                               cx_emu_code **out_code);

cxu_result cx_emu_code_result(cx_ptx_status status);

/* A line for each kernel in the options' buffer for information, if the user wants it. */
void cx_emu_code_inform(const cx_emu_code *code, const cx_emu_jit_options *options);

/* ---- its kernels ---- */

cx_ptx_kernel_info cx_emu_code_describe(const cx_emu_code *code, const cx_ptx_function *kernel);

/* ---- counting ---- */

/* Lock held. */
void cx_emu_code_retain(cx_emu_code *code);
void cx_emu_code_drop(cx_emu_code *code); /* NULL is harmless */

#endif
