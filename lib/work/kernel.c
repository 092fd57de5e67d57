#include "work/kernel.h"

#include "base/cancel.h"
#include "base/error.h"
#include "base/handle.h"
#include "base/spelling.h"
#include "context/context_guard.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cx_pool kernels = CX_POOL_INIT("kernel", 10, cx_kernel);

/* ---- making and finding ---- */

static ctxrt_status count_parameters(const cx_driver *driver, CUfunction native, int *out_count)
{
    size_t offset, count = 0;
    cxu_result result;
    if (driver->missing[CX_SLOT_func_get_param_info]) {
        *out_count = CX_PARAMETERS_UNKNOWN;
        return CTXRT_SUCCESS;
    }
    while ((result = driver->table.func_get_param_info(native, count, &offset, NULL)) ==
           CXU_SUCCESS)
        count++;
    if (result != CXU_INVALID_VALUE) /* no such parameter */
        return cx_driver_error(driver, CX_SLOT_func_get_param_info, result);
    *out_count = (int)count;
    return CTXRT_SUCCESS;
}

/* ---- which kernel was meant ---- */

enum { KERNELS_TOLD = 256 };

/* True if the kernel is a C++ function called `name`: the length of the name stands before it. */
static bool is_mangled(const char *kernel, const char *name)
{
    char part[224];
    snprintf(part, sizeof part, "%zu%.200s", strlen(name), name);
    if (strncmp(kernel, "_Z", 2) != 0)
        return false;
    for (const char *at = strstr(kernel, part); at != NULL; at = strstr(at + 1, part))
        if (at[-1] < '0' || at[-1] > '9') /* else the length is longer */
            return true;
    return false;
}

static void tell_nearest(const cx_driver *driver, const CUfunction *functions, unsigned int count,
                         const char *name, char *text, size_t size)
{
    const char *nearest = NULL;
    for (unsigned int i = 0; i < count; i++) {
        const char *each;
        if (driver->table.func_get_name(&each, functions[i]) != CXU_SUCCESS || each == NULL)
            continue;
        if (is_mangled(each, name)) {
            snprintf(text, size,
                     "; C++ calls it '%.120s': ask for that name, or declare the kernel extern "
                     "\"C\"",
                     each);
            return;
        }
        if (nearest == NULL ||
            cx_spelling_distance(each, name) < cx_spelling_distance(nearest, name))
            nearest = each;
    }
    if (nearest != NULL)
        snprintf(text, size, "; the nearest of its kernels is '%.120s'", nearest);
}

/* The module's context is current. Drivers before CUDA 12.4 do not tell. */
static void tell_kernels(const cx_module *module, const char *name, char *text, size_t size)
{
    const cx_driver *driver = module->context->driver;
    CUfunction functions[KERNELS_TOLD];
    unsigned int count = 0;
    text[0] = '\0';
    if (driver->table.module_get_function_count(&count, module->native) != CXU_SUCCESS)
        return;
    if (count > KERNELS_TOLD)
        count = KERNELS_TOLD;
    if (count != 0 &&
        driver->table.module_enumerate_functions(functions, count, module->native) == CXU_SUCCESS)
        tell_nearest(driver, functions, count, name, text, size);
}

static ctxrt_status kernel_not_found(const cx_module *module, cxu_result result, const char *name)
{
    char advice[224] = "";
    if (result == CXU_NOT_FOUND)
        tell_kernels(module, name, advice, sizeof advice);
    return cx_module_not_found(module, CX_SLOT_module_get_function, result, "kernel", name, advice);
}

/* ---- the driver's function ---- */

static ctxrt_status find_native(const cx_module *module, const char *name, CUfunction *out_native,
                                int *out_parameters)
{
    cx_context_guard guard;
    const cx_driver *driver = module->context->driver;
    ctxrt_status status = cx_context_guard_enter(module->context, &guard);
    if (status != CTXRT_SUCCESS)
        return cx_context_map_error(module->context, "kernel", status);
    cxu_result result = driver->table.module_get_function(out_native, module->native, name);
    status = result == CXU_SUCCESS
                 ? count_parameters(driver, *out_native, out_parameters)
                 : kernel_not_found(module, result, name);
    cx_context_guard_leave(&guard);
    return status;
}

/* "module" held. */
static ctxrt_status make_kernel(cx_module_use use, const char *name, cx_kernel **out_kernel)
{
    cx_kernel *kernel = cx_pool_take(&kernels);
    char *copy = strdup(name);
    ctxrt_status status = CTXRT_ERROR_OUT_OF_MEMORY;
    if (kernel == NULL || copy == NULL)
        (void)cx_error(status, "no memory for a kernel in %s",
                       cx_context_text(use.module->context));
    else
        status = find_native(use.module, name, &kernel->native, &kernel->parameter_count);
    if (status != CTXRT_SUCCESS) {
        free(copy);
        if (kernel != NULL)
            cx_pool_put_back(&kernels, kernel);
        return status;
    }
    atomic_store_explicit(&kernel->module, use.module, memory_order_relaxed);
    atomic_store_explicit(&kernel->module_handle, use.handle, memory_order_relaxed);
    kernel->name = copy;
    kernel->next = use.module->kernels;
    use.module->kernels = kernel;
    cx_pool_publish(&kernels, kernel);
    *out_kernel = kernel;
    return CTXRT_SUCCESS;
}

/* "module" held. Fails once an unload has begun, which could not retire a later kernel. */
static ctxrt_status find_or_make(cx_module_use use, const char *name, cx_kernel **out_kernel)
{
    if (!cx_pool_is(use.module, use.handle))
        return cx_error(CTXRT_ERROR_INVALID_HANDLE, "the module is being unloaded");
    for (cx_kernel *each = use.module->kernels; each != NULL; each = each->next)
        if (strcmp(each->name, name) == 0) {
            *out_kernel = each;
            return CTXRT_SUCCESS;
        }
    return make_kernel(use, name, out_kernel);
}

ctxrt_status ctxrt_module_get_kernel(ctxrt_module *handle, const char *name,
                                     ctxrt_kernel **out_kernel)
{
    cx_module_use use;
    cx_kernel *kernel = NULL;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (name == NULL || out_kernel == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_module_get_kernel: %s is NULL",
                        name == NULL ? "name" : "out_kernel");
    status = cx_module_enter(handle, &use);
    if (status != CTXRT_SUCCESS)
        return status;
    int cancel = cx_cancel_hold();
    status = cx_module_pin(use.module, "module");
    if (status == CTXRT_SUCCESS) {
        cx_lock_enter(&use.module->lock);
        status = find_or_make(use, name, &kernel);
        if (status == CTXRT_SUCCESS)
            *out_kernel = cx_pool_handle(&kernels, kernel);
        cx_lock_leave(&use.module->lock);
        cx_module_unpin(use.module);
    }
    status = cx_module_leave(use, status);
    cx_cancel_restore(cancel);
    return status;
}

void cx_kernels_retire(cx_module *module)
{
    int cancel = cx_cancel_hold();
    cx_lock_enter(&module->lock);
    for (cx_kernel *each = module->kernels; each != NULL; each = each->next)
        (void)cx_pool_retire(&kernels, cx_pool_handle(&kernels, each));
    cx_lock_leave(&module->lock);
    cx_cancel_restore(cancel);
}

void cx_kernels_free(cx_kernel *first)
{
    for (cx_kernel *each = first, *next; each != NULL; each = next) {
        next = each->next;
        free(each->name);
        cx_pool_put_back(&kernels, each);
    }
}

/* ---- arguments ---- */

static ctxrt_status no_such_kernel(const ctxrt_kernel *handle)
{
    return cx_handle_error("kernel", handle, "its module was unloaded, or it never was one");
}

ctxrt_status cx_kernel_look(ctxrt_kernel *handle, cx_kernel **out_kernel)
{
    *out_kernel = cx_pool_find(&kernels, handle);
    if (*out_kernel == NULL)
        return no_such_kernel(handle);
    return cx_module_check(atomic_load_explicit(&(*out_kernel)->module, memory_order_relaxed),
                           "kernel");
}

/* The count belongs to the module that the slot names now; that is the kernel's own if the kernel
 * was not retired meanwhile. */
ctxrt_status cx_kernel_enter(ctxrt_kernel *handle, cx_kernel_use *out_use)
{
    cx_kernel *kernel = cx_pool_find(&kernels, handle);
    if (kernel == NULL)
        return no_such_kernel(handle);
    out_use->kernel = kernel;
    out_use->of.module = atomic_load_explicit(&kernel->module, memory_order_relaxed);
    out_use->of.handle = atomic_load_explicit(&kernel->module_handle, memory_order_relaxed);
    if (!cx_module_retain(out_use->of))
        return no_such_kernel(handle);
    ctxrt_status status = cx_pool_is(kernel, handle)
                              ? cx_module_check(out_use->of.module, "kernel")
                              : no_such_kernel(handle);
    return status == CTXRT_SUCCESS ? status : cx_module_leave(out_use->of, status);
}

bool cx_kernels_exist(void)
{
    return cx_pool_live(&kernels) != 0;
}

typedef struct search {
    const cx_driver *driver;
    CUfunction native;
    cx_module_use found;
} search;

/* A visited kernel is not freed during the visit, nor is its module. */
static bool is_wanted(void *object, void *argument)
{
    cx_kernel *kernel = object;
    search *wanted = argument;
    cx_module_use use = {atomic_load_explicit(&kernel->module, memory_order_relaxed),
                         atomic_load_explicit(&kernel->module_handle, memory_order_relaxed)};
    if (kernel->native != wanted->native || use.module->context->driver != wanted->driver ||
        !cx_module_retain(use))
        return true;
    wanted->found = use;
    return false;
}

bool cx_kernel_retain_native(const cx_driver *driver, CUfunction native, cx_module_use *out_use)
{
    search wanted = {driver, native, {NULL, NULL}};
    cx_pool_each_held(&kernels, is_wanted, &wanted);
    *out_use = wanted.found;
    return wanted.found.module != NULL;
}

/* ---- queries ---- */

static ctxrt_status read_attribute(const cx_kernel_use *use, cxu_func_attribute which,
                                   int *out_value)
{
    return CX_DRIVER_CALL(use->of.module->context->driver, func_get_attribute,
                          (out_value, which, use->kernel->native));
}

static ctxrt_status read_attributes(const cx_kernel_use *use, ctxrt_kernel_info *info)
{
    int shared = 0, local = 0, constant = 0;
    ctxrt_status status = read_attribute(use, CXU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                                         &info->max_threads_per_block);
    if (status == CTXRT_SUCCESS)
        status = read_attribute(use, CXU_FUNC_ATTRIBUTE_NUM_REGS, &info->registers);
    if (status == CTXRT_SUCCESS)
        status = read_attribute(use, CXU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &shared);
    if (status == CTXRT_SUCCESS)
        status = read_attribute(use, CXU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &local);
    if (status == CTXRT_SUCCESS)
        status = read_attribute(use, CXU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, &constant);
    info->shared_bytes = (size_t)shared;
    info->local_bytes = (size_t)local;
    info->constant_bytes = (size_t)constant;
    return status;
}

static ctxrt_status describe_kernel(const cx_kernel_use *use, ctxrt_kernel_info *out_info)
{
    cx_context_guard guard;
    const cx_context *context = use->of.module->context;
    ctxrt_kernel_info info = {.name = use->kernel->name,
                              .parameter_count = use->kernel->parameter_count};
    ctxrt_status status = cx_context_guard_enter(context, &guard);
    if (status != CTXRT_SUCCESS)
        return cx_context_map_error(context, "kernel", status);
    status = cx_context_map_error(context, "kernel", read_attributes(use, &info));
    cx_context_guard_leave(&guard);
    if (status == CTXRT_SUCCESS)
        *out_info = info;
    return status;
}

ctxrt_status ctxrt_kernel_describe(ctxrt_kernel *handle, ctxrt_kernel_info *out_info)
{
    cx_kernel_use use;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (out_info == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_kernel_describe: out_info is NULL");
    status = cx_kernel_enter(handle, &use);
    if (status != CTXRT_SUCCESS)
        return status;
    int cancel = cx_cancel_hold();
    status = cx_module_pin(use.of.module, "kernel");
    if (status == CTXRT_SUCCESS) {
        status = describe_kernel(&use, out_info);
        cx_module_unpin(use.of.module);
    }
    status = cx_module_leave(use.of, status);
    cx_cancel_restore(cancel);
    return status;
}

ctxrt_status ctxrt_kernel_native(ctxrt_kernel *handle, CUfunction *out_native)
{
    cx_kernel_use use;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (out_native == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_kernel_native: out_native is NULL");
    status = cx_kernel_enter(handle, &use);
    if (status != CTXRT_SUCCESS)
        return status;
    *out_native = use.kernel->native;
    return cx_module_release(use.of);
}
