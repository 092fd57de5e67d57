/*
 * The stand-in libcuda.so.1: the embedded driver behind the driver's binary interface, or a layer
 * in front of another libcuda, which CTXRT_STANDIN_LIBCUDA names.
 *
 * It is built twice from the same objects, as the export sets cuda-12 and cuda-13: the second has
 * cuCtxGetDevice_v2 and its like, which programs of the first would call with other arguments.
 * Calls that the embedded driver lacks are exported too: each says so once in the log and returns
 * CUDA_ERROR_NOT_SUPPORTED. In front of another library each jumps there.
 */
#ifndef CX_SHIM_SHIM_H
#define CX_SHIM_SHIM_H

#include "driver/table.h"
#include "layer/handshake.h"

/*
 * Exports `symbol`, which goes on in the function `target` of the same unit. Libraries that hook
 * calls write a jump over the first 13 bytes of an export, and some move what stood there: these
 * bytes are whole instructions which mean the same at any address. None reads the program counter.
 */
#if defined(__x86_64__)
#define CX_SHIM_EXPORT(symbol, target)                                                  \
    __asm__(".pushsection .text\n"                                                      \
            ".globl " #symbol "\n.type " #symbol ", @function\n.balign 16\n"            \
            #symbol ":\n.cfi_startproc\n"                                               \
            "push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_offset %rbp, -16\n"              \
            "mov %rsp, %rbp\n.cfi_def_cfa_register %rbp\n"                              \
            ".byte 0x48, 0x81, 0xec, 0, 0, 0, 0\n" /* sub $0, %rsp */                   \
            "push %rbp\npush %rbp\n"                                                    \
            "mov %rbp, %rsp\npop %rbp\n.cfi_def_cfa %rsp, 8\n.cfi_restore %rbp\n"       \
            "jmp " #target "\n.cfi_endproc\n"                                           \
            ".size " #symbol ", . - " #symbol "\n.popsection");
#else
#define CX_SHIM_EXPORT(symbol, target) \
    extern __typeof__(target) symbol __attribute__((alias(#target), visibility("default")));
#endif

/* The CUDA version of this export set: the result of cuDriverGetVersion, and the newest export. */
extern const int cx_shim_version;

/* The driver behind the exports. The first call chooses it; the embedded driver's cuInit reads the
 * configuration from the environment. */
const cx_driver_table *cx_shim_driver(void);

/* True if that is another library's, once it is chosen. */
bool cx_shim_is_in_front(void);

/* The answer to CX_HANDSHAKE_NAME. */
extern const cx_handshake cx_shim_handshake;

/* Leads each export without a row to the function that `find` gives, or where that is NULL to one
 * that returns NOT_SUPPORTED. */
typedef void *cx_shim_find_symbol(const char *symbol);
void cx_shim_fill_slots(cx_shim_find_symbol *find);

#endif
