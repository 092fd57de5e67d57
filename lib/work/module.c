#include "work/module.h"

#include "base/cancel.h"
#include "base/error.h"
#include "base/handle.h"
#include "base/log.h"
#include "context/context_guard.h"
#include "context/named.h"
#include "context/stack.h"
#include "work/image.h"
#include "work/kernel.h"
#include "work/relaxed_capture.h"
#include <string.h>

cx_pool cx_modules = CX_POOL_INIT("module", 9, cx_module);

/* ---- the compiler's log ---- */

#define COMPILER_BYTES 4096

typedef struct compiler_log {
    char text[COMPILER_BYTES];
    cxu_jit_option options[2];
    void *values[2];
} compiler_log;

static void start_log(compiler_log *log)
{
    log->text[0] = '\0';
    log->options[0] = CXU_JIT_ERROR_LOG_BUFFER;
    log->values[0] = log->text;
    log->options[1] = CXU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES;
    log->values[1] = (void *)(uintptr_t)sizeof log->text;
}

static void write_log(compiler_log *log)
{
    char *rest, *line = strtok_r(log->text, "\n", &rest);
    for (; line != NULL; line = strtok_r(NULL, "\n", &rest))
        cx_log(CTXRT_LOG_INFO, "compiler: %s", line);
}

static ctxrt_status explain_load(const cx_driver *driver, const cx_image *image, cxu_result result,
                                 compiler_log *log)
{
    if (driver->missing[CX_SLOT_module_load_data_ex])
        return cx_driver_error(driver, CX_SLOT_module_load_data_ex, result);
    log->text[sizeof log->text - 1] = '\0';
    const char *name = cx_driver_result_name(driver, result);
    ctxrt_status status = cx_error_driver_call(
        cx_driver_status(result), cx_symbols[CX_SLOT_module_load_data_ex].symbol, (int)result, name,
        "%s could not be loaded: %s, %d (%s)%s%.*s", image->what, name, (int)result,
        cx_driver_result_text(driver, result), log->text[0] != '\0' ? ": " : "",
        (int)strcspn(log->text, "\n"), log->text);
    write_log(log);
    return status;
}

/* ---- loading ---- */

/* Excluded from the thread's captures: operators may load what they need when they are first
 * called. */
static ctxrt_status load_native(const cx_driver *driver, const cx_image *image,
                                CUmodule *out_native)
{
    compiler_log log;
    start_log(&log);
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(driver);
    cxu_result result =
        driver->table.module_load_data_ex(out_native, image->start, 2, log.options, log.values);
    cx_relaxed_capture_end(&relaxed);
    return result == CXU_SUCCESS ? CTXRT_SUCCESS : explain_load(driver, image, result, &log);
}

static ctxrt_status take_slot(const cx_context *context, cx_module **out_module)
{
    cx_module *module = cx_pool_take(&cx_modules);
    if (module == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for a module in %s",
                        cx_context_text(context));
    cx_lock_init(&module->lock, CX_RANK_MODULE);
    module->kernels = NULL;
    *out_module = module;
    return CTXRT_SUCCESS;
}

static void put_back(cx_module *module)
{
    cx_lock_destroy(&module->lock);
    cx_pool_put_back(&cx_modules, module);
}

/* The context is pinned. */
static ctxrt_status make_module(cx_context *context, uint32_t epoch, const cx_image *image,
                                ctxrt_module **out_module)
{
    cx_module *module = NULL;
    ctxrt_status status = take_slot(context, &module);
    if (status != CTXRT_SUCCESS)
        return status;
    module->context = context;
    module->epoch = epoch;
    status = load_native(context->driver, image, &module->native);
    if (status != CTXRT_SUCCESS) {
        put_back(module);
        return cx_context_map_error(context, "module", status);
    }
    cx_context_object_add(context, CX_OBJECT_MODULE);
    ctxrt_module *handle = cx_pool_publish(&cx_modules, module);
    cx_count_start(&module->count, handle);
    *out_module = handle;
    return CTXRT_SUCCESS;
}

static ctxrt_status load_image(const cx_image *image, ctxrt_module **out_module)
{
    cx_thread *thread;
    cx_frame *frame;
    ctxrt_status status = cx_stack_enter(&thread, &frame);
    if (status == CTXRT_SUCCESS)
        status = cx_context_enter(cx_frame_context(frame));
    if (status != CTXRT_SUCCESS)
        return status;
    cx_context *context = cx_frame_context(frame);
    uint32_t epoch = atomic_load(&context->epoch);
    cx_context_pin(context);
    cx_section_leave();
    status = make_module(context, epoch, image, out_module);
    cx_context_unpin(context);
    return status;
}

static ctxrt_status check_out(const char *call, const void *what, const char *name,
                              ctxrt_module *const *out_module)
{
    ctxrt_status status = cx_runtime_enter();
    if (status == CTXRT_SUCCESS && (what == NULL || out_module == NULL))
        return cx_error(CTXRT_ERROR_NULL_POINTER, "%s: %s is NULL", call,
                        what == NULL ? name : "out_module");
    return status;
}

ctxrt_status ctxrt_module_load(const void *start, size_t size_bytes, ctxrt_module **out_module)
{
    cx_image image;
    ctxrt_status status = check_out("ctxrt_module_load", start, "image", out_module);
    if (status == CTXRT_SUCCESS)
        status = cx_image_take(start, size_bytes, &image);
    if (status != CTXRT_SUCCESS)
        return status;
    int cancel = cx_cancel_hold();
    status = load_image(&image, out_module);
    cx_image_drop(&image);
    cx_cancel_restore(cancel);
    return status;
}

/* The section is left for the driver, which may compile: a reset waits for the pin. */
static ctxrt_status load_on(const ctxrt_context *handle, const cx_image *image,
                            ctxrt_module **out_module)
{
    cx_named_context named;
    ctxrt_status status = cx_named_context_enter("ctxrt_module_load_on", handle, &named);
    if (status != CTXRT_SUCCESS)
        return status;
    uint32_t epoch = atomic_load(&named.context->epoch);
    cx_context_pin(named.context);
    cx_section_leave();
    status = make_module(named.context, epoch, image, out_module);
    cx_context_guard_leave(&named.guard);
    cx_context_unpin(named.context);
    return status;
}

ctxrt_status ctxrt_module_load_on(ctxrt_context *context, const void *start, size_t size_bytes,
                                  ctxrt_module **out_module)
{
    cx_image image;
    ctxrt_status status = check_out("ctxrt_module_load_on", start, "image", out_module);
    if (status == CTXRT_SUCCESS)
        status = cx_image_take(start, size_bytes, &image);
    if (status != CTXRT_SUCCESS)
        return status;
    int cancel = cx_cancel_hold();
    status = load_on(context, &image, out_module);
    cx_image_drop(&image);
    cx_cancel_restore(cancel);
    return status;
}

ctxrt_status ctxrt_module_load_file(const char *path, ctxrt_module **out_module)
{
    cx_image image;
    ctxrt_status status = check_out("ctxrt_module_load_file", path, "path", out_module);
    if (status != CTXRT_SUCCESS)
        return status;
    int cancel = cx_cancel_hold();
    status = cx_image_read(path, &image);
    if (status == CTXRT_SUCCESS) {
        status = load_image(&image, out_module);
        cx_image_drop(&image);
    }
    cx_cancel_restore(cancel);
    return status;
}

/* ---- counts ---- */

static ctxrt_status unload_there(const cx_module *module)
{
    cx_context_guard guard;
    const cx_driver *driver = module->context->driver;
    ctxrt_status status = cx_context_guard_enter(module->context, &guard);
    if (status != CTXRT_SUCCESS)
        return status;
    cxu_result result = driver->table.module_unload(module->native);
    status = cx_driver_check(driver, CX_SLOT_module_unload, result);
    cx_context_guard_leave(&guard);
    return status;
}

/* Works in a section or with a pin too, where the thread cannot wait for a reset: the reset has
 * unloaded the module, or will. */
static ctxrt_status unload_native(const cx_module *module)
{
    cx_thread *thread;
    cx_context *context = module->context;
    ctxrt_status status = cx_thread_self(&thread);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_section_enter();
    while (cx_context_give_way(context))
        ;
    bool there = cx_context_holds_what_is_of(context, module->epoch);
    if (there)
        cx_context_pin(context);
    cx_section_leave();
    if (!there)
        return CTXRT_SUCCESS;
    status = unload_there(module);
    cx_context_unpin(context);
    return status;
}

static ctxrt_status end_module(cx_module *module)
{
    cx_context *context = module->context;
    ctxrt_status status = unload_native(module);
    cx_kernels_free(module->kernels);
    put_back(module);
    cx_context_object_drop(context, CX_OBJECT_MODULE);
    return status;
}

bool cx_module_retain(cx_module_use use)
{
    return cx_count_add(&use.module->count, use.handle) == CX_COUNT_DONE;
}

ctxrt_status cx_module_release(cx_module_use use)
{
    if (cx_count_drop(&use.module->count, use.handle) != CX_COUNT_LAST)
        return CTXRT_SUCCESS;
    int cancel = cx_cancel_hold();
    ctxrt_status status = end_module(use.module);
    cx_cancel_restore(cancel);
    return status;
}

ctxrt_status cx_module_leave(cx_module_use use, ctxrt_status status)
{
    cx_error_saved saved;
    if (status == CTXRT_SUCCESS)
        return cx_module_release(use);
    cx_error_save(&saved);
    (void)cx_module_release(use);
    cx_error_restore(&saved);
    return status;
}

static ctxrt_status no_such_module(const ctxrt_module *handle)
{
    return cx_handle_error("module", handle, "it was unloaded, or never was one");
}

ctxrt_status cx_module_check(const cx_module *module, const char *noun)
{
    do {
        if (module->epoch == atomic_load(&module->context->epoch))
            return CTXRT_SUCCESS;
    } while (cx_context_wait(module->context));
    return cx_error(CTXRT_ERROR_CONTEXT_DESTROYED, "the %s is gone: %s was reset after it was made",
                    noun, cx_context_text(module->context));
}

ctxrt_status cx_module_pin(const cx_module *module, const char *noun)
{
    cx_thread *thread;
    ctxrt_status status = cx_thread_self(&thread);
    if (status == CTXRT_SUCCESS)
        status = cx_context_enter(module->context);
    if (status != CTXRT_SUCCESS)
        return status;
    status = cx_module_check(module, noun);
    if (status == CTXRT_SUCCESS)
        cx_context_pin(module->context);
    cx_section_leave();
    return status;
}

void cx_module_unpin(const cx_module *module)
{
    cx_context_unpin(module->context);
}

ctxrt_status cx_module_enter(ctxrt_module *handle, cx_module_use *out_use)
{
    *out_use = (cx_module_use){cx_pool_find(&cx_modules, handle), handle};
    if (out_use->module == NULL || !cx_module_retain(*out_use))
        return no_such_module(handle);
    /* A count may be a graph's: check that the user has not unloaded the module. */
    ctxrt_status status = cx_pool_is(out_use->module, handle)
                              ? cx_module_check(out_use->module, "module")
                              : no_such_module(handle);
    return status == CTXRT_SUCCESS ? status : cx_module_leave(*out_use, status);
}

ctxrt_status ctxrt_module_unload(ctxrt_module *handle)
{
    ctxrt_status status;
    if (!cx_runtime_enter_release(&status) || handle == NULL)
        return status;
    cx_module *module = cx_pool_retire(&cx_modules, handle);
    if (module == NULL)
        return no_such_module(handle);
    cx_kernels_retire(module);
    cx_sections_pass();
    return cx_module_release((cx_module_use){module, handle});
}

/* ---- globals and kernels ---- */

ctxrt_status cx_module_not_found(const cx_module *module, cx_slot slot, cxu_result result,
                                 const char *noun, const char *name, const char *advice)
{
    const cx_driver *driver = module->context->driver;
    if (result != CXU_NOT_FOUND)
        return cx_context_map_error(module->context, "module",
                                    cx_driver_error(driver, slot, result));
    return cx_error_driver_call(CTXRT_ERROR_INVALID_ARGUMENT, cx_symbols[slot].symbol, (int)result,
                                cx_driver_result_name(driver, result),
                                "the module in %s has no %s '%.200s'%s",
                                cx_context_text(module->context), noun, name, advice);
}

/* The context is pinned. */
static ctxrt_status find_global(const cx_module *module, const char *name, void **out_pointer,
                                size_t *out_size_bytes)
{
    cx_context_guard guard;
    CUdeviceptr pointer;
    size_t size_bytes;
    ctxrt_status status = cx_context_guard_enter(module->context, &guard);
    if (status != CTXRT_SUCCESS)
        return cx_context_map_error(module->context, "module", status);
    cxu_result result = module->context->driver->table.module_get_global(&pointer, &size_bytes,
                                                                         module->native, name);
    cx_context_guard_leave(&guard);
    if (result != CXU_SUCCESS)
        return cx_module_not_found(module, CX_SLOT_module_get_global, result, "variable", name, "");
    *out_pointer = (void *)(uintptr_t)pointer;
    if (out_size_bytes != NULL)
        *out_size_bytes = size_bytes;
    return CTXRT_SUCCESS;
}

ctxrt_status ctxrt_module_get_global(ctxrt_module *handle, const char *name, void **out_pointer,
                                     size_t *out_size_bytes)
{
    cx_module_use use;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (name == NULL || out_pointer == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_module_get_global: %s is NULL",
                        name == NULL ? "name" : "out_pointer");
    status = cx_module_enter(handle, &use);
    if (status != CTXRT_SUCCESS)
        return status;
    int cancel = cx_cancel_hold();
    status = cx_module_pin(use.module, "module");
    if (status == CTXRT_SUCCESS) {
        status = find_global(use.module, name, out_pointer, out_size_bytes);
        cx_module_unpin(use.module);
    }
    status = cx_module_leave(use, status);
    cx_cancel_restore(cancel);
    return status;
}

ctxrt_status ctxrt_module_native(ctxrt_module *handle, CUmodule *out_native)
{
    cx_module_use use;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (out_native == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_module_native: out_native is NULL");
    status = cx_module_enter(handle, &use);
    if (status != CTXRT_SUCCESS)
        return status;
    *out_native = use.module->native;
    return cx_module_release(use);
}
