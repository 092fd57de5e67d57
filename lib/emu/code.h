/*
 * Code for GPUs: PTX that was read, counted, since what runs outlives its module.
 */
#ifndef CX_EMU_CODE_H
#define CX_EMU_CODE_H

#include "driver/cuda_abi.h"
#include "ptx/ptx.h"

typedef struct cx_emu_code {
    int references; /* guarded by "emu.state" */
    cx_ptx_module *ptx;
} cx_emu_code;

/* What the user's options of loading ask for. */
typedef struct cx_emu_code_options {
    unsigned int count;
    const cxu_jit_option *options;
    void **values;
    unsigned int error_capacity; /* of the user's buffer, once the logs are begun */
} cx_emu_code_options;

#define CX_EMU_TARGET_MAX 75 /* the compute capability of the emulated GPUs */

typedef struct cx_emu_text {
    const char *text;
    size_t length;
    char *unpacked; /* the same, if it was unpacked; else NULL, and it is a part of the image */
} cx_emu_text;

void cx_emu_text_free(const cx_emu_text *text);

/*
 * Reads an image: PTX as text, or a fat binary with PTX. The caller has the one reference. Takes no
 * lock. What is wrong goes to the log, and to the buffers of the options.
 *
 * CXU_INVALID_PTX, CXU_UNSUPPORTED_PTX_VERSION; CXU_INVALID_IMAGE: none of these;
 * CXU_NO_BINARY_FOR_GPU: machine code without PTX; CXU_NOT_SUPPORTED: PTX that is not known here,
 * or compressed in a way that ctxrt was built without; CXU_OUT_OF_MEMORY.
 */
cxu_result cx_emu_code_load(const void *image, const cx_emu_code_options *options,
                            cx_emu_code **out_code);

/* The same from a file. CXU_FILE_NOT_FOUND, CXU_INVALID_IMAGE: it cannot be read. */
cxu_result cx_emu_code_load_file(const char *path, const cx_emu_code_options *options,
                                 cx_emu_code **out_code);

/* ---- the same in parts ---- */

/* The sizes of the options' buffers become what is in them: nothing so far. */
void cx_emu_code_begin_logs(cx_emu_code_options *options);

/* Says what is wrong to the log, and to the options' buffer for errors. */
__attribute__((format(printf, 2, 3))) void
cx_emu_code_complain(const cx_emu_code_options *options, const char *format, ...);

cxu_result cx_emu_code_compile(const cx_emu_text *text, const cx_emu_code_options *options,
                               cx_emu_code **out_code);

cxu_result cx_emu_code_result(cx_ptx_status status);

/* ---- life ---- */

/* Lock held. */
void cx_emu_code_retain(cx_emu_code *code);
void cx_emu_code_drop(cx_emu_code *code); /* NULL is harmless */

#endif
