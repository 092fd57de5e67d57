#include "runtime/driver.h"

#include "base/fork.h"
#include "base/log.h"
#include "config.h"
#include "runtime/origin.h"

#include <stdatomic.h>
#include <stdlib.h>

typedef struct primary {
    _Atomic(CUcontext) context; /* NULL: never retained */
    _Atomic bool is_active;     /* false once it is reset, until it is retained again */
} primary;

cx_lock cx_cudart_lock = CX_LOCK_INIT(CUDART);
static cx_driver driver;
static cx_driver_table per_thread_table;
static cxr_error refusal;
static primary *primaries;
static _Atomic bool is_open;
static _Atomic unsigned int resets;

__attribute__((visibility("default"))) const char ctxrtRuntimeLibrary[] = PACKAGE_STRING;

/* ---- opening ---- */

/* The thread's call began when no stand-in was there to be told. */
static void name_call(void)
{
    const cx_cudart_call *call = cx_cudart_thread_get()->call;
    cx_cudart_origin_set(call != NULL ? &call->origin : NULL);
}

static cxr_error open_locked(void)
{
    if (refusal != CXR_SUCCESS)
        return refusal;
    if (driver.library == NULL && !cx_driver_open(NULL, &driver)) {
        cx_log(CTXRT_LOG_WARNING, "cudart: there is no driver: %s", driver.reason);
        return refusal = CXR_INSUFFICIENT_DRIVER;
    }
    /* Within one major version each runtime runs over each driver. */
    if (driver.version / 1000 < cx_cudart_version / 1000) {
        cx_log(CTXRT_LOG_WARNING,
               "cudart: %s is of CUDA %d.%d, older than this library's %d.%d: use a driver of CUDA "
               "%d, as `ctxrt run --cuda %d' does, or build the program with an older toolkit",
               driver.path, driver.version / 1000, driver.version % 1000 / 10,
               cx_cudart_version / 1000, cx_cudart_version % 1000 / 10, cx_cudart_version / 1000,
               cx_cudart_version / 1000);
        return refusal = CXR_INSUFFICIENT_DRIVER;
    }
    cx_cudart_origin_open(&driver);
    name_call();
    cxr_error error = (cxr_error)driver.table.init(0);
    if (error == CXR_SUCCESS)
        error = (cxr_error)driver.table.device_get_count(&driver.device_count);
    if (error != CXR_SUCCESS)
        return error;
    primaries = calloc((size_t)driver.device_count + 1, sizeof *primaries);
    if (primaries == NULL)
        return CXR_MEMORY_ALLOCATION;
    cx_driver_fill_per_thread(&driver, &per_thread_table);
    atomic_store(&is_open, true);
    return CXR_SUCCESS;
}

cxr_error cx_cudart_use_driver(const cx_driver_table **out_table)
{
    if (!atomic_load_explicit(&is_open, memory_order_acquire)) {
        cx_lock_enter(&cx_cudart_lock);
        cxr_error error = atomic_load(&is_open) ? CXR_SUCCESS : open_locked();
        cx_lock_leave(&cx_cudart_lock);
        if (error != CXR_SUCCESS)
            return error;
        name_call();
    }
    const cx_cudart_call *call = cx_cudart_thread_get()->call;
    *out_table = call != NULL && call->per_thread ? &per_thread_table : &driver.table;
    return CXR_SUCCESS;
}

const cx_driver *cx_cudart_driver(void)
{
    return &driver;
}

bool cx_cudart_has_device(int device)
{
    return device >= 0 && device < driver.device_count;
}

int cx_cudart_device_count(void)
{
    return driver.device_count;
}

/* The child has no driver: it answers so to each call, and the lock may be another thread's. */
static void begin_child(void)
{
    cx_lock_init(&cx_cudart_lock, CX_RANK_CUDART);
}

CX_FORK_CONSTRUCTOR static void watch_forks(void)
{
    static cx_fork_hook hook = {.rank = CX_RANK_CUDART, .in_child = begin_child};
    cx_fork_watch(&hook);
}

/* ---- contexts ---- */

/* After a reset the context keeps its handle, and the reference that was taken before: retaining it
 * makes it usable again, also for other threads, and is given back. */
static cxr_error retain_locked(int device, primary *self)
{
    CUcontext context;
    cxr_error error = (cxr_error)driver.table.primary_retain(&context, device);
    if (error != CXR_SUCCESS)
        return error;
    if (atomic_load(&self->context) != NULL)
        (void)driver.table.primary_release(device);
    atomic_store(&self->context, context);
    atomic_store(&self->is_active, true);
    return CXR_SUCCESS;
}

cxr_error cx_cudart_primary(int device, CUcontext *out_context)
{
    if (!cx_cudart_has_device(device))
        return CXR_INVALID_DEVICE;
    primary *self = &primaries[device];
    if (!atomic_load_explicit(&self->is_active, memory_order_acquire)) {
        cx_lock_enter(&cx_cudart_lock);
        cxr_error error = atomic_load(&self->is_active) ? CXR_SUCCESS : retain_locked(device, self);
        cx_lock_leave(&cx_cudart_lock);
        if (error != CXR_SUCCESS)
            return error;
    }
    *out_context = atomic_load_explicit(&self->context, memory_order_relaxed);
    return CXR_SUCCESS;
}

static cxr_error make_current(cx_cudart_thread *thread)
{
    CUcontext context;
    cxr_error error = cx_cudart_primary(thread->device, &context);
    if (error == CXR_SUCCESS)
        error = (cxr_error)driver.table.ctx_set_current(context);
    if (error != CXR_SUCCESS)
        return error;
    thread->context = thread->current = context;
    thread->must_switch = false;
    return CXR_SUCCESS;
}

/* A primary context that other code made current begins anew after a reset, too. */
static cxr_error use_current(CUcontext current)
{
    for (int device = 0; device < driver.device_count; device++)
        if (atomic_load_explicit(&primaries[device].context, memory_order_relaxed) == current)
            return cx_cudart_primary(device, &current);
    return CXR_SUCCESS;
}

cxr_error cx_cudart_use_context(const cx_driver_table **out_table)
{
    cxr_error error = cx_cudart_use_driver(out_table);
    if (error != CXR_SUCCESS)
        return error;

    cx_cudart_thread *thread = cx_cudart_thread_get();
    if (thread->must_switch)
        return make_current(thread);
    CUcontext current;
    error = cx_cudart_get_current(&current);
    if (error != CXR_SUCCESS)
        return error;
    if (current == NULL)
        return make_current(thread);
    thread->current = current;
    if (current == thread->context)
        return cx_cudart_primary(thread->device, &current);
    return use_current(current);
}

cxr_error cx_cudart_current_device(int *out_device, bool is_asked)
{
    const cx_driver_table *table;
    cx_cudart_thread *thread = cx_cudart_thread_get();
    cxr_error error = cx_cudart_use_driver(&table);
    if (error != CXR_SUCCESS)
        return error;
    CUcontext current = NULL;
    if (!thread->must_switch)
        error = is_asked ? (cxr_error)table->ctx_get_current(&current)
                         : cx_cudart_get_current(&current);
    if (error == CXR_SUCCESS && current != NULL && current != thread->context)
        return (cxr_error)table->ctx_get_device(out_device);
    *out_device = thread->device;
    return error;
}

cxr_error cx_cudart_set_device(int device, bool now)
{
    const cx_driver_table *table;
    cx_cudart_thread *thread = cx_cudart_thread_get();
    cxr_error error = cx_cudart_use_driver(&table);
    if (error != CXR_SUCCESS)
        return error;
    if (!cx_cudart_has_device(device))
        return CXR_INVALID_DEVICE;
    thread->device = device;
    thread->must_switch = true;
    return now ? make_current(thread) : CXR_SUCCESS;
}

/* One that other code alone has retained is kept from now on, so that it is known again. */
static cxr_error keep_locked(int device, primary *self)
{
    unsigned int flags;
    int is_active = 0;
    if (atomic_load(&self->context) != NULL)
        return CXR_SUCCESS;
    cxr_error error = (cxr_error)driver.table.primary_get_state(device, &flags, &is_active);
    return error == CXR_SUCCESS && is_active ? retain_locked(device, self) : error;
}

cxr_error cx_cudart_reset(int device)
{
    cx_lock_enter(&cx_cudart_lock);
    cxr_error error = keep_locked(device, &primaries[device]);
    if (error == CXR_SUCCESS)
        error = (cxr_error)driver.table.primary_reset(device);
    atomic_store(&primaries[device].is_active, false);
    atomic_fetch_add(&resets, 1);
    cx_lock_leave(&cx_cudart_lock);
    return error;
}

unsigned int cx_cudart_resets(void)
{
    return atomic_load_explicit(&resets, memory_order_acquire);
}
