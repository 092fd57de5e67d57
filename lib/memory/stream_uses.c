#include "memory/stream_uses.h"

#include "base/error.h"
#include "context/context_guard.h"
#include "memory/cross_driver_copies.h"
#include "memory/peer_use.h"
#include "work/relaxed_capture.h"
#include "work/stream.h"
#include "work/work.h"
#include <stdlib.h>

static cx_stream_use *find_use(cx_stream_uses *list, const ctxrt_stream *stream,
                               const cx_context *context)
{
    cx_stream_use *use = atomic_load(list);
    /* The legacy stream has one handle for all contexts. */
    while (use != NULL && (use->stream != stream || use->context != context ||
                           use->epoch != atomic_load(&context->epoch)))
        use = use->next;
    return use;
}

static void add_use(cx_stream_uses *list, cx_stream_use *use)
{
    use->next = atomic_load(list);
    while (!atomic_compare_exchange_weak(list, &use->next, use))
        ;
}

static ctxrt_status record_event(const cx_stream_use *use, const cx_stream_target *target)
{
    return CX_DRIVER_CALL(target->driver, event_record, (use->event, target->native));
}

/* An event can be recorded only by streams of the context that it was created in (T1). */
static ctxrt_status make_and_record(cx_stream_use *use, const cx_stream_target *target)
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

ctxrt_status cx_stream_uses_record_there(cx_stream_uses *list, const cx_stream_target *target)
{
    cx_stream_use *use = find_use(list, target->stream, target->context);
    if (use != NULL)
        return record_event(use, target);
    use = malloc(sizeof *use);
    if (use == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory to record a stream");
    *use = (cx_stream_use){.context = target->context, .stream = target->stream, .kept = true};
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

/* Both contexts are pinned. */
static void record_peer(const cx_context *owner, const cx_stream_target *target)
{
    if (cx_peer_use_record(owner, target))
        return;
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(target->driver);
    (void)target->driver->table.stream_synchronize(target->native);
    cx_relaxed_capture_end(&relaxed);
}

/* A reset that has begun already ends the memory without its record. */
ctxrt_status cx_stream_uses_record(const cx_used_memory *memory, ctxrt_stream *stream)
{
    cx_stream_target target;
    cx_context *owner = memory->context;
    ctxrt_status status = cx_work_begin(stream, &target);
    if (status != CTXRT_SUCCESS)
        return status;
    bool peer =
        owner != NULL && owner != target.context && atomic_load(&owner->epoch) == memory->epoch;
    if (peer)
        cx_context_pin(owner);
    int cancel = cx_work_begin_wait(target.context);
    status = cx_stream_uses_record_there(memory->uses, &target);
    if (status == CTXRT_SUCCESS && peer)
        record_peer(owner, &target);
    if (peer)
        cx_context_unpin(owner);
    cx_work_end_wait(target.context, cancel);
    return status;
}

/* Reuses the entry of a finished copy. */
static bool reuse_entry(cx_stream_uses *list, const cx_context *context, void *cross_copy)
{
    for (cx_stream_use *use = atomic_load(list); use != NULL; use = use->next) {
        void *before = atomic_load(&use->cross_copy);
        if (before != NULL && use->context == context && cx_cross_copies_is_over(before) &&
            atomic_compare_exchange_strong(&use->cross_copy, &before, cross_copy))
            return true;
    }
    return false;
}

ctxrt_status cx_stream_uses_add_cross_copy(cx_stream_uses *list, cx_context *context,
                                           void *cross_copy)
{
    if (reuse_entry(list, context, cross_copy))
        return CTXRT_SUCCESS;
    cx_stream_use *use = malloc(sizeof *use);
    if (use == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory to record a copy");
    *use = (cx_stream_use){.context = context, .cross_copy = cross_copy};
    add_use(list, use);
    return CTXRT_SUCCESS;
}

static void unkeep_context(cx_stream_use *use)
{
    if (use->kept)
        cx_context_object_drop(use->context, CX_OBJECT_MEMORY);
    use->kept = false;
}

bool cx_stream_uses_event_is_gone(cxu_result result)
{
    return result == CXU_CONTEXT_IS_DESTROYED || result == CXU_INVALID_CONTEXT ||
           result == CXU_INVALID_HANDLE;
}

void cx_stream_uses_destroy_event(const cx_context *context, uint32_t epoch, CUevent event)
{
    cx_thread *thread;
    cx_error_saved saved;
    cx_error_save(&saved);
    if (cx_thread_self(&thread) == CTXRT_SUCCESS) {
        cx_section_enter();
        if (cx_context_holds_what_is_of(context, epoch))
            (void)context->driver->table.event_destroy(event);
        cx_section_leave();
    }
    cx_error_restore(&saved);
}

static cxu_result ask_event(const cx_stream_use *use, bool wait)
{
    const cx_driver *driver = use->context->driver;
    if (!cx_context_holds_what_is_of(use->context, use->epoch))
        return CXU_CONTEXT_IS_DESTROYED;
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(driver);
    cxu_result result =
        wait ? driver->table.event_synchronize(use->event) : driver->table.event_query(use->event);
    cx_relaxed_capture_end(&relaxed);
    return result;
}

static bool is_being_reset(const cx_stream_use *use)
{
    return atomic_load(&use->context->epoch) == use->epoch + 1 &&
           cx_context_is_resetting(use->context);
}

/* An event from before a reset is gone, and so is the work before it; but until the reset is over
 * the work may still run. A thread that has pinned a context does not wait for that
 * (context/use.h), and takes the work for unfinished. */
static cxu_result query_use(const cx_stream_use *use, bool wait)
{
    const void *cross_copy = atomic_load(&use->cross_copy);
    if (cross_copy != NULL)
        return cx_cross_copies_ask(cross_copy, wait);
    for (;;) {
        cxu_result result = ask_event(use, wait);
        if (!cx_stream_uses_event_is_gone(result) || !is_being_reset(use))
            return result;
        if (!wait || !cx_context_wait(use->context))
            return CXU_NOT_READY;
    }
}

/* The error that the driver reported for the event. */
static ctxrt_status error_of(const cx_stream_use *use, bool waited, cxu_result result)
{
    const cx_slot slot = waited ? CX_SLOT_event_synchronize : CX_SLOT_event_query;
    return cx_stream_uses_event_is_gone(result) || result == CXU_NOT_READY
               ? CTXRT_SUCCESS
               : cx_driver_check(use->context->driver, slot, result);
}

/* A failed copy is over, too. */
static bool is_over(const cx_stream_use *use, cxu_result result)
{
    const void *cross_copy = atomic_load(&use->cross_copy);
    return result == CXU_SUCCESS || cx_stream_uses_event_is_gone(result) ||
           (result != CXU_NOT_READY && cross_copy != NULL && cx_cross_copies_is_over(cross_copy));
}

static void drop_use(cx_stream_use *use, cxu_result result)
{
    if (!cx_stream_uses_event_is_gone(result) && atomic_load(&use->cross_copy) == NULL)
        cx_stream_uses_destroy_event(use->context, use->epoch, use->event);
    unkeep_context(use);
    free(use);
}

static ctxrt_status finish_use(cx_stream_use *use)
{
    cxu_result result = query_use(use, true);
    ctxrt_status status = error_of(use, true, result);
    drop_use(use, result);
    return status;
}

ctxrt_status cx_stream_uses_finish(cx_stream_uses *list)
{
    ctxrt_status status = CTXRT_SUCCESS;
    cx_stream_use *use = atomic_exchange(list, NULL);
    while (use != NULL) {
        cx_stream_use *next = use->next;
        ctxrt_status one = finish_use(use);
        if (status == CTXRT_SUCCESS)
            status = one;
        use = next;
    }
    return status;
}

ctxrt_status cx_stream_uses_finish_before(cx_stream_uses *list,
                                          ctxrt_status (*next)(const void *object),
                                          const void *object)
{
    cx_error_saved saved;
    ctxrt_status waited = cx_stream_uses_finish(list);
    if (waited == CTXRT_SUCCESS)
        return next(object);
    cx_error_save(&saved);
    (void)next(object);
    cx_error_restore(&saved);
    return waited;
}

ctxrt_status cx_stream_uses_let_go(cx_stream_uses *list, bool wait, bool *out_done)
{
    ctxrt_status status = CTXRT_SUCCESS;
    cx_stream_use *next, *left = NULL;
    for (cx_stream_use *use = atomic_exchange(list, NULL); use != NULL; use = next) {
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

ctxrt_status cx_stream_uses_finish_of(cx_stream_uses *list, const cx_context *context)
{
    cx_stream_use *next, *left = NULL;
    cx_stream_uses of_context = NULL;
    for (cx_stream_use *use = atomic_exchange(list, NULL); use != NULL; use = next) {
        next = use->next;
        if (use->context == context) {
            add_use(&of_context, use);
            continue;
        }
        use->next = left;
        left = use;
    }
    atomic_store(list, left);
    return cx_stream_uses_finish(&of_context);
}
