/*
 * Modules behind handles, and the kernels found in them.
 *
 * A module is counted: the user has one count until ctxrt_module_unload, each call that uses it one
 * until it returns, and each graph that has a kernel of it one. With the last count the driver
 * unloads it. The handles go with the user's count. A launch takes no count: it finds its kernel in
 * a section, and the user's count is given back once the threads have left the sections in which
 * they found a handle live.
 */
#ifndef CX_WORK_MODULE_H
#define CX_WORK_MODULE_H

#include "base/count.h"
#include "base/lock.h"
#include "context/use.h"
#include <ctxrt/module.h>

typedef struct cx_kernel cx_kernel;

/* Counted as an object of its context. Fields that the lock does not guard are constant while there
 * are counts. */
typedef struct cx_module {
    cx_count count;
    CUmodule native;
    cx_context *context;
    uint32_t epoch;       /* of the context when the module was loaded */
    cx_lock lock;         /* "module": the list; held while the driver looks for a kernel */
    cx_kernel *kernels;   /* all kernels found so far; they go with the module */
} cx_module;

/* A module with a count, for the time it is used. */
typedef struct cx_module_use {
    cx_module *module;
    ctxrt_module *handle; /* names the counted object; it may be stale already */
} cx_module_use;

extern cx_pool cx_modules;

/* Adds a count. False: no count was left. */
bool cx_module_retain(cx_module_use use);

/* Gives a count back. With the last one it returns the driver's error. */
ctxrt_status cx_module_release(cx_module_use use);

/* Gives the count of a call back; an error of the call takes precedence. */
ctxrt_status cx_module_leave(cx_module_use use, ctxrt_status status);

/* CTXRT_ERROR_CONTEXT_DESTROYED after a reset. Waits for a reset in progress, as cx_context_wait
 * does. `noun`: "module", "kernel". */
ctxrt_status cx_module_check(const cx_module *module, const char *noun);

/* Checks and pins the context: for calls that may wait, or load code. */
ctxrt_status cx_module_pin(const cx_module *module, const char *noun);
void cx_module_unpin(const cx_module *module);

/* Finds the live module of a handle and takes a count. */
ctxrt_status cx_module_enter(ctxrt_module *handle, cx_module_use *out_use);

/* CTXRT_ERROR_INVALID_ARGUMENT if the driver found nothing, else its error. `noun`: "kernel".
 * `advice` ends the sentence. */
ctxrt_status cx_module_not_found(const cx_module *module, cx_slot slot, cxu_result result,
                                 const char *noun, const char *name, const char *advice);

#endif
