#include "copy/cross_copy.h"

#include "base/cancel.h"
#include "base/error.h"
#include "context/observer.h"
#include "copy/staging.h"
#include "memory/cache.h"
#include "memory/cross_driver_copies.h"
#include "memory/memory.h"
#include "work/relaxed_capture.h"

#define CROSS_COPY_POOL_KIND 0x41

static cx_pool pool = CX_POOL_INIT("copy under way", CROSS_COPY_POOL_KIND, cx_cross_copy);

/* Lock "cross-driver copies". */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static cx_cross_copy *under_way;

/* ---- host functions ---- */

/* Lock held. A handle is stale once the copy it named has gone. */
static cx_cross_copy *find_locked(const void *handle)
{
    cx_cross_copy *cross_copy = cx_pool_find(&pool, handle);
    return cross_copy != NULL && !cross_copy->over ? cross_copy : NULL;
}

static cx_cross_copy *enter_part(const void *handle)
{
    cx_lock_enter(&cx_cross_copies_lock);
    cx_cross_copy *cross_copy = find_locked(handle);
    if (cross_copy != NULL)
        cross_copy->running = true;
    cx_lock_leave(&cx_cross_copies_lock);
    return cross_copy;
}

static void leave_part(cx_cross_copy *cross_copy, ctxrt_status status)
{
    cx_lock_enter(&cx_cross_copies_lock);
    cross_copy->running = false;
    cross_copy->next++;
    if (status != CTXRT_SUCCESS || cross_copy->next == cross_copy->count)
        cross_copy->over = true;
    pthread_cond_broadcast(&changed);
    cx_lock_leave(&cx_cross_copies_lock);
}

/* Under some schedules this is a user's thread: its last error stays. */
static void do_part(void *handle)
{
    cx_error_saved saved;
    int cancel = cx_cancel_hold();
    cx_cross_copy *cross_copy = enter_part(handle);
    if (cross_copy != NULL) {
        cx_error_save(&saved);
        ctxrt_status status = cross_copy->part(cross_copy);
        if (status != CTXRT_SUCCESS) {
            cx_context_defer_error(cross_copy->target.context);
            cx_error_restore(&saved);
        }
        leave_part(cross_copy, status);
    }
    cx_cancel_restore(cancel);
}

/* ---- waiting ---- */

/* Lock held. A running part is short: it waits for no other work. */
static void cancel_locked(cx_cross_copy *cross_copy)
{
    cross_copy->over = true;
    cross_copy->watchers++;
    while (cross_copy->running)
        cx_lock_wait(&cx_cross_copies_lock, &changed);
    cross_copy->watchers--;
    pthread_cond_broadcast(&changed);
}

static cxu_result ask_driver(const cx_cross_copy *cross_copy, bool wait)
{
    const cx_driver *driver = cross_copy->target.driver;
    if (!cx_context_holds_what_is_of(cross_copy->target.context, cross_copy->epoch))
        return CXU_CONTEXT_IS_DESTROYED;
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(driver);
    cxu_result result = wait ? driver->table.event_synchronize(cross_copy->done)
                             : driver->table.event_query(cross_copy->done);
    cx_relaxed_capture_end(&relaxed);
    return result;
}

/* Lock held. If the driver says anything but NOT_READY, no host function runs any more: after an
 * error none is called. */
static cxu_result ask_locked(cx_cross_copy *cross_copy, bool wait)
{
    cxu_result result = CXU_NOT_READY;
    cross_copy->watchers++;
    while (wait && !cross_copy->submitted && !cross_copy->over)
        cx_lock_wait(&cx_cross_copies_lock, &changed);
    if (cross_copy->submitted && !cross_copy->over) {
        cx_lock_leave(&cx_cross_copies_lock);
        result = ask_driver(cross_copy, wait);
        cx_lock_enter(&cx_cross_copies_lock);
    }
    cross_copy->watchers--;
    if (result != CXU_NOT_READY || cross_copy->over)
        cancel_locked(cross_copy);
    return cross_copy->over && result == CXU_NOT_READY ? CXU_SUCCESS : result;
}

static cxu_result ask_copy(const void *handle, bool wait)
{
    int cancel = cx_cancel_hold();
    cx_lock_enter(&cx_cross_copies_lock);
    cx_cross_copy *cross_copy = find_locked(handle);
    cxu_result result = cross_copy != NULL ? ask_locked(cross_copy, wait) : CXU_SUCCESS;
    cx_lock_leave(&cx_cross_copies_lock);
    cx_cancel_restore(cancel);
    return result;
}

static bool is_over(const void *handle)
{
    cx_lock_enter(&cx_cross_copies_lock);
    bool over = find_locked(handle) == NULL;
    cx_lock_leave(&cx_cross_copies_lock);
    return over;
}

/* Copies that touch some bytes, but for those in the order of `behind`; or that involve a
 * context. */
typedef struct search {
    uintptr_t start, end;
    const cx_stream_target *behind;
    const cx_context *context; /* NULL: by bytes */
} search;

static bool is_wanted(const cx_cross_copy *cross_copy, const search *wanted)
{
    const cx_stream_target *behind = wanted->behind, *own = &cross_copy->target;
    if (wanted->context != NULL && own->context == wanted->context)
        return true;
    if (behind != NULL && behind->context == own->context && behind->native == own->native)
        return false;
    for (int i = 0; i < 2; i++) {
        const cx_cross_copy_end *end = &cross_copy->ends[i];
        if (wanted->context != NULL ? end->context == wanted->context
                                    : end->start < wanted->end &&
                                          wanted->start < end->start + end->size_bytes)
            return true;
    }
    return false;
}

/* Lock held. The first one that is under way. */
static cx_cross_copy *find_wanted(const search *wanted)
{
    cx_cross_copy *cross_copy = under_way;
    while (cross_copy != NULL && (cross_copy->over || !is_wanted(cross_copy, wanted)))
        cross_copy = cross_copy->later;
    return cross_copy;
}

static void wait_for_all(const search *wanted)
{
    cx_cross_copy *cross_copy;
    int cancel = cx_cancel_hold();
    cx_lock_enter(&cx_cross_copies_lock);
    while ((cross_copy = find_wanted(wanted)) != NULL)
        (void)ask_locked(cross_copy, true);
    cx_lock_leave(&cx_cross_copies_lock);
    cx_cancel_restore(cancel);
}

static void leave_memory(const void *start, size_t size_bytes, const cx_stream_target *behind)
{
    wait_for_all(&(search){
        .start = (uintptr_t)start, .end = (uintptr_t)start + size_bytes, .behind = behind});
}

/* ---- finishing ---- */

static bool is_left(const cx_cross_copy *cross_copy)
{
    return cross_copy->over && cross_copy->submitted && !cross_copy->running &&
           cross_copy->watchers == 0;
}

static cx_cross_copy *unlink_left(void)
{
    cx_lock_enter(&cx_cross_copies_lock);
    cx_cross_copy **link = &under_way;
    while (*link != NULL && !is_left(*link))
        link = &(*link)->later;
    cx_cross_copy *left = *link;
    if (left != NULL)
        *link = left->later;
    cx_lock_leave(&cx_cross_copies_lock);
    return left;
}

/* Frees copies that are over; host functions make no driver call. */
static void sweep_copies(void)
{
    cx_cross_copy *left;
    while ((left = unlink_left()) != NULL) {
        cx_stream_uses_destroy_event(left->target.context, left->epoch, left->done);
        (void)cx_pool_retire(&pool, cx_pool_handle(&pool, left));
        cx_pool_put_back(&pool, left);
        atomic_fetch_sub(&cx_cross_copies_count, 1);
    }
}

/* Lock held. */
static bool anybody_watches(const cx_context *context)
{
    const cx_cross_copy *cross_copy = under_way;
    while (cross_copy != NULL && (cross_copy->target.context != context || is_left(cross_copy)))
        cross_copy = cross_copy->later;
    return cross_copy != NULL;
}

/* All copies are over. Once this returns no thread looks at one of the context. */
static void sweep_context(const cx_context *context)
{
    int cancel = cx_cancel_hold();
    cx_lock_enter(&cx_cross_copies_lock);
    while (anybody_watches(context))
        cx_lock_wait(&cx_cross_copies_lock, &changed);
    cx_lock_leave(&cx_cross_copies_lock);
    sweep_copies();
    cx_cancel_restore(cancel);
}

/* All copies are over. */
static void end_context(cx_context *context, bool native)
{
    sweep_context(context);
    cx_staging_end(context, native);
    cx_context_drop_deferred_error(context);
}

static void close_context(cx_context *context)
{
    wait_for_all(&(search){.context = context});
    end_context(context, true);
}

/* The reset destroys the copies' ends: ends these copies, and defers an error for the next call
 * that waits for their stream. */
static void leave_context(cx_context *context)
{
    cx_cross_copy *cross_copy;
    cx_error_saved saved;
    const search wanted = {.context = context};
    cx_error_save(&saved);
    int cancel = cx_cancel_hold();
    cx_lock_enter(&cx_cross_copies_lock);
    while ((cross_copy = find_wanted(&wanted)) != NULL) {
        if (cross_copy->target.context != context) {
            (void)cx_error(CTXRT_ERROR_CONTEXT_DESTROYED,
                           "%s was cut short: %s was reset", cross_copy->call,
                           cx_context_text(context));
            cx_context_defer_error(cross_copy->target.context);
        }
        cancel_locked(cross_copy);
    }
    cx_lock_leave(&cx_cross_copies_lock);
    cx_cancel_restore(cancel);
    cx_error_restore(&saved);
}

static void forget_context(cx_context *context, bool for_good)
{
    (void)for_good;
    leave_context(context);
    end_context(context, false);
}

static const cx_cross_copies_calls calls = {
    .leave = leave_memory,
    .ask = ask_copy,
    .is_over = is_over,
    .trim = cx_staging_trim,
};

static const cx_observer observer = {
    .context_closes = close_context,
    .context_is_empty = forget_context,
    .context_is_reset = leave_context,
};

static void watch_contexts(void)
{
    cx_cross_copies_install(&calls);
    cx_observe(CX_OBSERVED_BY_COPY, &observer);
}

void cx_cross_copy_watch_contexts(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_contexts);
}

/* ---- beginning ---- */

static uint32_t find_cached(const void *pointer)
{
    cx_pointer_block block;
    cx_pointers_find(pointer, &block);
    return block.state == CX_POINTER_LIVE ? block.cached : 0;
}

static ctxrt_status keep_memory(const cx_cross_copy *cross_copy, void *handle)
{
    ctxrt_status status = CTXRT_SUCCESS;
    for (int i = 0; i < 2 && status == CTXRT_SUCCESS; i++) {
        const cx_cross_copy_end *end = &cross_copy->ends[i];
        uint32_t cached = end->size_bytes != 0 ? find_cached((const void *)end->start) : 0;
        if (cached != 0)
            status = cx_memory_cross(cached, cross_copy->target.context, handle);
    }
    return status;
}

static void publish_copy(cx_cross_copy *cross_copy, const cx_cross_copy *model, CUevent done,
                         void **out_handle)
{
    cx_lock_enter(&cx_cross_copies_lock);
    *cross_copy = *model;
    cross_copy->done = done;
    cross_copy->later = under_way;
    under_way = cross_copy;
    *out_handle = cx_pool_publish(&pool, cross_copy);
    atomic_fetch_add(&cx_cross_copies_count, 1);
    cx_lock_leave(&cx_cross_copies_lock);
}

ctxrt_status cx_cross_copy_begin(const cx_cross_copy *model, cx_cross_copy **out_copy,
                                 void **out_handle)
{
    CUevent done;
    cx_cross_copy_watch_contexts();
    sweep_copies();
    cx_cross_copy *cross_copy = cx_pool_take(&pool);
    if (cross_copy == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "%s: no memory for a copy between two drivers",
                        model->call);
    ctxrt_status status =
        CX_DRIVER_CALL(model->target.driver, event_create, (&done, CXU_EVENT_DISABLE_TIMING));
    if (status != CTXRT_SUCCESS) {
        cx_pool_put_back(&pool, cross_copy);
        return status;
    }
    publish_copy(cross_copy, model, done, out_handle);
    status = keep_memory(cross_copy, *out_handle);
    if (status != CTXRT_SUCCESS)
        return cx_cross_copy_end_submission(cross_copy, status);
    *out_copy = cross_copy;
    return CTXRT_SUCCESS;
}

ctxrt_status cx_cross_copy_submit(const cx_cross_copy *cross_copy, void *handle)
{
    return CX_DRIVER_CALL(cross_copy->target.driver, launch_host_func,
                          (cross_copy->target.native, do_part, handle));
}

ctxrt_status cx_cross_copy_end_submission(cx_cross_copy *cross_copy, ctxrt_status status)
{
    if (status == CTXRT_SUCCESS)
        status = CX_DRIVER_CALL(cross_copy->target.driver, event_record,
                                (cross_copy->done, cross_copy->target.native));
    cx_lock_enter(&cx_cross_copies_lock);
    if (status != CTXRT_SUCCESS)
        cancel_locked(cross_copy);
    cross_copy->submitted = true;
    pthread_cond_broadcast(&changed);
    cx_lock_leave(&cx_cross_copies_lock);
    return status;
}
