/*
 * Modules behind handles, and the kernels that were found in them.
 *
 * A module is counted: the user has one count until ctxrt_module_unload, each call that uses it
 * one until it returns, and each graph that has a kernel of it one. With the last the driver
 * unloads it. The handles go with the user's count.
 */
#ifndef CX_WORK_MODULE_H
#define CX_WORK_MODULE_H

#include "base/count.h"
#include "context/use.h"
#include <ctxrt/module.h>

typedef struct cx_kernel cx_kernel;

/* Counts as an object of its context. What is not the lock's does not change while there are
 * counts. */
typedef struct cx_module {
    cx_count count;
    CUmodule native;
    cx_context *context;
    uint32_t epoch;       /* the context's when it was loaded */
    pthread_mutex_t lock; /* "module": the list; held while the driver looks for a kernel */
    cx_kernel *kernels;   /* all that were found; they go with the module */
} cx_module;

/* A module with a count, for as long as it is used. */
typedef struct cx_module_use {
    cx_module *module;
    ctxrt_module *handle; /* what counts; it may be stale already */
} cx_module_use;

extern cx_pool cx_modules;

/* Whether there was still a count, and there is one more now. */
bool cx_module_retain(cx_module_use use);

/* Gives a count back. The driver's error, if it was the last one. */
ctxrt_status cx_module_release(cx_module_use use);

/* The same after a call; an error of the call stays. */
ctxrt_status cx_module_leave(cx_module_use use, ctxrt_status status);

/* CTXRT_ERROR_CONTEXT_DESTROYED after a reset; waits for one that is under way, where
 * cx_context_wait does. `noun`: "module", "kernel". */
ctxrt_status cx_module_check(const cx_module *module, const char *noun);

/* The same, and pins the context: for calls that may wait, or load code. */
ctxrt_status cx_module_pin(const cx_module *module, const char *noun);
void cx_module_unpin(const cx_module *module);

/* The live module of a handle, with a count. */
ctxrt_status cx_module_enter(ctxrt_module *handle, cx_module_use *out_use);

/* CTXRT_ERROR_INVALID_ARGUMENT if the driver found nothing, else what it says. `noun`: "kernel". */
ctxrt_status cx_module_not_found(const cx_module *module, cx_slot slot, cxu_result result,
                                 const char *noun, const char *name);

#endif
