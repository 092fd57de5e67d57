/*
 * Launches of kernels. All functions: lock "emu.state" held.
 */
#ifndef CX_EMU_LAUNCH_H
#define CX_EMU_LAUNCH_H

#include "emu/module.h"
#include "emu/work.h"

/* What a kernel is launched with: counted, and never changed. */
typedef struct cx_emu_arguments {
    int references;
    unsigned char *content;
    void **each; /* where each argument lies in `content`, for whoever asks a node */
} cx_emu_arguments;

void cx_emu_arguments_retain(cx_emu_arguments *arguments); /* NULL is harmless */
void cx_emu_arguments_drop(cx_emu_arguments *arguments);

/* What a launch is. Plain values, but for the arguments, which the owner of a copy retains. */
typedef struct cx_emu_launch {
    CUfunction function; /* looked for whenever it is to be launched; never a CUkernel */
    uint32_t grid[3], block[3];
    uint32_t shared_bytes;
    bool cooperative;
    cx_emu_arguments *arguments;
} cx_emu_launch;

/* What a piece of work takes that runs a kernel. */
typedef struct cx_emu_run {
    cx_emu_context *context;
    cx_emu_code *code;
    const cx_ptx_function *kernel;
    cx_emu_launch launch;
    const cx_emu_allocation *memory; /* of the module's variables, which the work uses; or NULL */
    cx_emu_use *uses;        /* memory that it has reached so far */
    size_t use_count, use_capacity;
} cx_emu_run;

/*
 * Fills in the arguments of a launch, which the caller drops, from what the user gave. The context
 * is that of the stream, or node.
 *
 * CXU_INVALID_HANDLE: no function, or one of another context. CXU_INVALID_VALUE: arguments are
 * missing, or come twice. CXU_OUT_OF_MEMORY.
 */
cxu_result cx_emu_launch_take(cx_emu_launch *launch, cx_emu_context *context, CUfunction function,
                              void **parameters, void **extra);

/*
 * The request for a piece of work that does it, in the function's context; its argument is
 * `out_run`. CXU_INVALID_HANDLE: the function is gone. CXU_INVALID_VALUE: dimensions or shared
 * memory that the device does not have; CXU_LAUNCH_OUT_OF_RESOURCES: more threads than the kernel
 * allows; CXU_COOPERATIVE_LAUNCH_TOO_LARGE.
 */
cxu_result cx_emu_launch_request(const cx_emu_launch *launch, cx_emu_run *out_run,
                                 cx_emu_work_request *out_request);

/* The context of the launch's function. CXU_INVALID_HANDLE. */
cxu_result cx_emu_launch_context(const cx_emu_launch *launch, cx_emu_context **out_context);

#endif
