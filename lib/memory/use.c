#include "memory/use.h"

#include "base/error.h"
#include "context/context_guard.h"
#include "memory/across.h"
#include "work/relaxed_capture.h"
#include "work/stream.h"
#include "work/work.h"
#include <stdlib.h>

static cx_use *find_use(cx_use_list *list, const ctxrt_stream *stream, const cx_context *context)
{
    cx_use *use = atomic_load(list);
    /* The legacy stream has one handle for all contexts. */
    while (use != NULL && (use->stream != stream || use->context != context ||
                           use->epoch != atomic_load(&context->epoch)))
        use = use->next;
    return use;
}

static void add_use(cx_use_list *list, cx_use *use)
{
    use->next = atomic_load(list);
    while (!atomic_compare_exchange_weak(list, &use->next, use))
        ;
}

static ctxrt_status record_event(const cx_use *use, const cx_stream_target *target)
{
    return CX_DRIVER_CALL(target->driver, event_record, (use->event, target->native));
}

/* An event can be recorded only by streams of the context that it was created in (T1). */
static ctxrt_status make_and_record(cx_use *use, const cx_stream_target *target)
{
    cx_context_guard guard;
    ctxrt_status status = cx_context_guard_enter(target->context, &guard);
    if (status != CTXRT_SUCCESS)
        return status;
    status = CX_DRIVER_CALL(target->driver, event_create, (&use->event, CXU_EVENT_DISABLE_TIMING));
    if (status == CTXRT_SUCCESS) {
        status = record_event(use, target);
        if (status != CTXRT_SUCCESS)
            (void)target->driver->table.event_destroy(use->event);
    }
    cx_context_guard_leave(&guard);
    return status;
}

ctxrt_status cx_use_record_there(cx_use_list *list, const cx_stream_target *target)
{
    cx_use *use = find_use(list, target->stream, target->context);
    if (use != NULL)
        return record_event(use, target);
    use = malloc(sizeof *use);
    if (use == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory to record a stream");
    *use = (cx_use){.context = target->context, .stream = target->stream, .kept = true};
    use->epoch = target->epoch;
    ctxrt_status status = make_and_record(use, target);
    if (status != CTXRT_SUCCESS) {
        free(use);
        return status;
    }
    cx_context_object_add(target->context, CX_OBJECT_MEMORY);
    add_use(list, use);
    return CTXRT_SUCCESS;
}

ctxrt_status cx_use_record(cx_use_list *list, ctxrt_stream *stream)
{
    cx_stream_target target;
    ctxrt_status status = cx_work_begin(stream, &target);
    if (status != CTXRT_SUCCESS)
        return status;
    int cancel = cx_work_begin_wait(target.context);
    status = cx_use_record_there(list, &target);
    cx_work_end_wait(target.context, cancel);
    return status;
}

/* Reuses the entry of a finished copy. */
static bool reuse_entry(cx_use_list *list, const cx_context *context, void *cross_copy)
{
    for (cx_use *use = atomic_load(list); use != NULL; use = use->next) {
        void *before = atomic_load(&use->cross_copy);
        if (before != NULL && use->context == context && cx_across_is_over(before) &&
            atomic_compare_exchange_strong(&use->cross_copy, &before, cross_copy))
            return true;
    }
    return false;
}

ctxrt_status cx_use_add_cross_copy(cx_use_list *list, cx_context *context, void *cross_copy)
{
    if (reuse_entry(list, context, cross_copy))
        return CTXRT_SUCCESS;
    cx_use *use = malloc(sizeof *use);
    if (use == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory to record a copy");
    *use = (cx_use){.context = context, .cross_copy = cross_copy};
    add_use(list, use);
    return CTXRT_SUCCESS;
}

static void unkeep_context(cx_use *use)
{
    if (use->kept)
        cx_context_object_drop(use->context, CX_OBJECT_MEMORY);
    use->kept = false;
}

/* An event from before a reset is gone, and so is the work before it. */
static cxu_result query_use(const cx_use *use, bool wait)
{
    const cx_driver *driver = use->context->driver;
    const void *cross_copy = atomic_load(&use->cross_copy);
    if (cross_copy != NULL)
        return cx_across_ask(cross_copy, wait);
    if (!cx_context_holds_what_is_of(use->context, use->epoch))
        return CXU_CONTEXT_IS_DESTROYED;
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(driver);
    cxu_result result =
        wait ? driver->table.event_synchronize(use->event) : driver->table.event_query(use->event);
    cx_relaxed_capture_end(&relaxed);
    return result;
}

static bool is_gone(cxu_result result)
{
    return result == CXU_CONTEXT_IS_DESTROYED || result == CXU_INVALID_CONTEXT ||
           result == CXU_INVALID_HANDLE;
}

/* The error that the driver reported for the event. */
static ctxrt_status error_of(const cx_use *use, bool waited, cxu_result result)
{
    const cx_slot slot = waited ? CX_SLOT_event_synchronize : CX_SLOT_event_query;
    return is_gone(result) || result == CXU_NOT_READY
               ? CTXRT_SUCCESS
               : cx_driver_check(use->context->driver, slot, result);
}

/* A failed copy is over, too. */
static bool is_over(const cx_use *use, cxu_result result)
{
    const void *cross_copy = atomic_load(&use->cross_copy);
    return result == CXU_SUCCESS || is_gone(result) ||
           (result != CXU_NOT_READY && cross_copy != NULL && cx_across_is_over(cross_copy));
}

static void drop_use(cx_use *use, cxu_result result)
{
    if (!is_gone(result) && atomic_load(&use->cross_copy) == NULL)
        (void)use->context->driver->table.event_destroy(use->event);
    unkeep_context(use);
    free(use);
}

static ctxrt_status finish_use(cx_use *use)
{
    cxu_result result = query_use(use, true);
    ctxrt_status status = error_of(use, true, result);
    drop_use(use, result);
    return status;
}

ctxrt_status cx_use_finish(cx_use_list *list)
{
    ctxrt_status status = CTXRT_SUCCESS;
    cx_use *use = atomic_exchange(list, NULL);
    while (use != NULL) {
        cx_use *next = use->next;
        ctxrt_status one = finish_use(use);
        if (status == CTXRT_SUCCESS)
            status = one;
        use = next;
    }
    return status;
}

ctxrt_status cx_use_finish_before(cx_use_list *list, ctxrt_status (*next)(const void *object),
                                  const void *object)
{
    cx_error_saved saved;
    ctxrt_status waited = cx_use_finish(list);
    if (waited == CTXRT_SUCCESS)
        return next(object);
    cx_error_save(&saved);
    (void)next(object);
    cx_error_restore(&saved);
    return waited;
}

ctxrt_status cx_use_let_go(cx_use_list *list, bool wait, bool *out_done)
{
    ctxrt_status status = CTXRT_SUCCESS;
    cx_use *next, *left = NULL;
    for (cx_use *use = atomic_exchange(list, NULL); use != NULL; use = next) {
        next = use->next;
        cxu_result result = query_use(use, wait);
        ctxrt_status one = error_of(use, wait, result);
        status = status == CTXRT_SUCCESS ? one : status;
        if (is_over(use, result)) {
            drop_use(use, result);
            continue;
        }
        unkeep_context(use);
        use->next = left;
        left = use;
    }
    atomic_store(list, left);
    *out_done = left == NULL;
    return status;
}

bool cx_use_is_of(const cx_use_list *list, const cx_context *context)
{
    const cx_use *use = atomic_load(list);
    while (use != NULL && use->context != context)
        use = use->next;
    return use != NULL;
}
