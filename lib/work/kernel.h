/*
 * Kernels behind handles. They belong to their modules.
 */
#ifndef CX_WORK_KERNEL_H
#define CX_WORK_KERNEL_H

#include "work/module.h"

#define CX_PARAMETERS_UNKNOWN (-1)

/* Readable with a count of the module, or in the section in which the kernel was found live. */
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
    cx_module_use of; /* holds the count */
} cx_kernel_use;

/* In a section: finds the live kernel of a handle. Until the section is left neither the kernel nor
 * its module ends. */
ctxrt_status cx_kernel_look(ctxrt_kernel *handle, cx_kernel **out_kernel);

static inline cx_context *cx_kernel_context(const cx_kernel *kernel)
{
    return atomic_load_explicit(&kernel->module, memory_order_relaxed)->context;
}

/* Finds the live kernel of a handle and takes a count of its module. Balance with
 * cx_module_leave. */
ctxrt_status cx_kernel_enter(ctxrt_kernel *handle, cx_kernel_use *out_use);

/* True if there are any kernels. */
bool cx_kernels_exist(void);

/* Finds the module of a driver's function and takes a count. False: it is none of ctxrt's
 * kernels. */
bool cx_kernel_retain_native(const cx_driver *driver, CUfunction native, cx_module_use *out_use);

/* Makes the handles of a module's kernels stale. */
void cx_kernels_retire(cx_module *module);

/* Frees retired kernels. */
void cx_kernels_free(cx_kernel *kernels);

#endif
