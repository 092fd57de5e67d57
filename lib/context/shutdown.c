/* Shutdown: the user's objects must be gone; ours are destroyed. */
#include "base/error.h"
#include "context/observer.h"
#include "context/record.h"
#include "context/thread.h"

static ctxrt_status check_device(cx_device *device)
{
    cx_context *context = atomic_load(&device->primary);
    return context != NULL ? cx_context_check_unused(context, 0) : CTXRT_SUCCESS;
}

static void check_unused(cx_device *device, void *argument)
{
    ctxrt_status *status = argument;
    if (*status == CTXRT_SUCCESS)
        *status = check_device(device);
}

static void release_device(cx_device *device, void *argument)
{
    ctxrt_status *status = argument;
    if (*status == CTXRT_SUCCESS)
        *status = cx_context_release_primary(device);
}

static bool has_objects(const cx_context *context)
{
    for (int kind = 0; kind < CX_OBJECT_KINDS; kind++)
        if (cx_context_objects(context, kind) != 0)
            return true;
    return false;
}

/* Finds a context other than the primary ones that ctxrt keeps itself. */
static bool find_other(void *object, void *argument)
{
    cx_context *context = object;
    cx_context **other = argument;
    if (context->kind == CX_CONTEXT_CREATED || atomic_load(&context->holds) != 0 ||
        (context->kind == CX_CONTEXT_FOREIGN && has_objects(context)))
        *other = context;
    return *other == NULL;
}

/* No frame or object refers to a foreign context now. Frees what ctxrt kept in it; its owner knows
 * nothing of that. */
static bool give_back_foreign(void *object, void *argument)
{
    cx_context *context = object;
    (void)argument;
    cx_error_saved saved;
    cx_error_save(&saved);
    if (context->kind == CX_CONTEXT_FOREIGN && cx_record_retire(context, 0) == CTXRT_SUCCESS)
        cx_record_end(context);
    cx_error_restore(&saved);
    return true;
}

static ctxrt_status check_nothing_left(void)
{
    size_t frames = cx_threads_frame_count();
    if (frames != 0)
        return cx_error(CTXRT_ERROR_IN_USE,
                        "%zu frame%s left on the threads' stacks; ctxrt_snapshot_write shows whose",
                        frames, frames == 1 ? " is" : "s are");
    int loose = atomic_load(&cx_loose_objects);
    if (loose != 0)
        return cx_error(CTXRT_ERROR_IN_USE,
                        "%d piece%s of host or wrapped memory %s left: release it first", loose,
                        loose == 1 ? "" : "s", loose == 1 ? "is" : "are");
    cx_context *other = NULL;
    cx_pool_each(&cx_contexts, find_other, &other);
    if (other != NULL)
        return cx_error(CTXRT_ERROR_IN_USE, "%s is left: destroy or release it",
                        cx_context_text(other));
    ctxrt_status status = CTXRT_SUCCESS;
    cx_devices_each(check_unused, &status);
    return status;
}

/* Checks again: another thread may have made something meanwhile. */
static ctxrt_status give_back(void)
{
    ctxrt_status status = cx_thread_register_once();
    if (status == CTXRT_SUCCESS)
        status = check_nothing_left();
    if (status == CTXRT_SUCCESS)
        cx_devices_each(release_device, &status);
    if (status != CTXRT_SUCCESS)
        return status;
    int cancel = cx_contexts_begin();
    cx_pool_each(&cx_contexts, give_back_foreign, NULL);
    cx_contexts_end(cancel);
    return CTXRT_SUCCESS;
}

ctxrt_status ctxrt_shutdown(void)
{
    static const cx_runtime_end end = {check_nothing_left, give_back};
    ctxrt_status status = cx_runtime_stop(&end);
    if (status == CTXRT_ERROR_IN_USE)
        CX_OBSERVERS_CALL(shutdown_is_refused);
    return status;
}
