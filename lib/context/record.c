#include "context/record.h"

#include "base/error.h"
#include "base/section.h"
#include "context/context_guard.h"
#include "context/layer_names.h"
#include "context/observer.h"
#include "context/use.h"

/* ---- beginning ---- */

ctxrt_status cx_record_take(cx_driver *driver, cx_device *device, CUcontext native,
                            cx_context_kind kind, cx_context **out_context)
{
    cx_context_add_layer_names();
    cx_context *context = cx_pool_take(&cx_contexts);
    if (context == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for a context");
    *context = (cx_context){
        .native = native,
        .driver = driver,
        .device = device,
        .kind = kind,
        .lock = CX_LOCK_INIT(CONTEXT),
    };
    cx_record_identify(context);
    *out_context = context;
    return CTXRT_SUCCESS;
}

/* ---- ending ---- */

ctxrt_status cx_record_close(cx_context *context, bool *out_lost)
{
    cx_context_guard guard;
    *out_lost = cx_context_lost(context);
    if (*out_lost) {
        cx_record_abandon(context);
        return CTXRT_SUCCESS;
    }
    ctxrt_status status = cx_context_guard_enter(context, &guard);
    if (status != CTXRT_SUCCESS)
        return status;
    CX_OBSERVERS_CALL(context_closes, context);
    cx_context_guard_leave(&guard);
    return CTXRT_SUCCESS;
}

void cx_record_end(cx_context *context)
{
    bool lost;
    cx_error_saved saved;
    cx_error_save(&saved);
    if (cx_record_close(context, &lost) != CTXRT_SUCCESS)
        cx_record_abandon(context);
    cx_error_restore(&saved);
    cx_pool_put_back(&cx_contexts, context);
}

void cx_record_restore(cx_context *context)
{
    cx_pool_revive(&cx_contexts, context);
    if (context->kind == CX_CONTEXT_PRIMARY)
        atomic_store(&context->device->primary, context);
}

void cx_record_abandon(cx_context *context)
{
    CX_OBSERVERS_CALL(context_is_empty, context, true);
}

void cx_record_forget(cx_context *context)
{
    CX_OBSERVERS_CALL(context_is_empty, context, false);
}

static const char *const object_nouns[CX_OBJECT_KINDS][2] = {
    [CX_OBJECT_STREAM] = {"stream", "streams"},
    [CX_OBJECT_EVENT] = {"event", "events"},
    [CX_OBJECT_MEMORY] = {"piece of memory", "pieces of memory"},
    [CX_OBJECT_ALLOCATOR] = {"allocator", "allocators"},
    [CX_OBJECT_DETACHED_FRAME] = {"detached frame", "detached frames"},
    [CX_OBJECT_MODULE] = {"module", "modules"},
    [CX_OBJECT_GRAPH] = {"graph", "graphs"},
    [CX_OBJECT_RECORDING] = {"recording", "recordings"},
};

ctxrt_status cx_context_check_unused(cx_context *context, int holds_allowed)
{
    int number, level;
    if (cx_threads_use_context(context, &number, &level))
        return cx_error(CTXRT_ERROR_IN_USE, "%s is in use: frame %d of thread %d refers to it",
                        cx_context_text(context), level, number);
    for (int kind = 0; kind < CX_OBJECT_KINDS; kind++) {
        int count = cx_context_objects(context, kind);
        if (count != 0)
            return cx_error(CTXRT_ERROR_IN_USE, "%s is in use: %d %s of it %s left",
                            cx_context_text(context), count, object_nouns[kind][count != 1],
                            count == 1 ? "is" : "are");
    }
    int holds = atomic_load(&context->holds);
    if (holds > holds_allowed)
        return cx_error(CTXRT_ERROR_IN_USE,
                        "%s is in use: %d hold%s of it not given back by ctxrt_context_release",
                        cx_context_text(context), holds - holds_allowed,
                        holds - holds_allowed == 1 ? " is" : "s are");
    return CTXRT_SUCCESS;
}

ctxrt_status cx_record_retire(cx_context *context, int holds_allowed)
{
    cx_device *device = context->device;
    cx_sections_close();
    ctxrt_status status = cx_context_check_unused(context, holds_allowed);
    if (status == CTXRT_SUCCESS) {
        if (device != NULL && atomic_load(&device->primary) == context)
            atomic_store(&device->primary, NULL);
        (void)cx_pool_retire(&cx_contexts, cx_context_handle(context));
    }
    cx_sections_open();
    if (status == CTXRT_SUCCESS)
        cx_context_wait_unpinned(context);
    return status;
}
