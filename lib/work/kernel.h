/*
 * Kernels behind handles. They belong to their modules.
 */
#ifndef CX_WORK_KERNEL_H
#define CX_WORK_KERNEL_H

#include "work/module.h"

#define CX_PARAMETERS_UNKNOWN (-1)

/* Who has a count of the module may read all of it. */
struct cx_kernel {
    _Atomic(cx_module *) module;
    _Atomic(ctxrt_module *) module_handle;
    CUfunction native;
    char *name;
    int parameter_count; /* or CX_PARAMETERS_UNKNOWN */
    cx_kernel *next;     /* of the module */
};

typedef struct cx_kernel_use {
    cx_kernel *kernel;
    cx_module_use of; /* what counts */
} cx_kernel_use;

/* The live kernel of a handle, with a count of its module. cx_module_leave gives that back. */
ctxrt_status cx_kernel_enter(ctxrt_kernel *handle, cx_kernel_use *out_use);

/* Whether there are any kernels at all. */
bool cx_kernels_exist(void);

/* The module of a function of a driver's, with a count; false: it is none of ctxrt's kernels. */
bool cx_kernel_retain_native(const cx_driver *driver, CUfunction native, cx_module_use *out_use);

/* Makes the handles of a module's kernels stale. */
void cx_kernels_retire(cx_module *module);

/* Frees kernels that were retired. */
void cx_kernels_free(cx_kernel *kernels);

#endif
