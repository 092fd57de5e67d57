#include "copy/staging.h"

#include "base/error.h"
#include "context/context_guard.h"
#include "work/relaxed_capture.h"
#include <stdlib.h>

cx_lock cx_cross_copies_lock = CX_LOCK_INIT(CROSS_DRIVER_COPIES);
static cx_staging *stagings;

/* ---- the list ---- */

static bool is_of(const cx_staging *staging, const cx_context *context)
{
    return staging->context == context && staging->epoch == atomic_load(&context->epoch);
}

/* Takes the first free memory behind `before` (NULL: of all), maybe only to look at it. `stream`:
 * that its work used last; NULL: any. */
static cx_staging *take_next(const cx_context *context, const ctxrt_stream *stream,
                             const cx_staging *before)
{
    cx_lock_enter(&cx_cross_copies_lock);
    cx_staging *staging = before != NULL ? before->next : stagings;
    while (staging != NULL && (staging->taken || !is_of(staging, context) ||
                               (stream != NULL && staging->stream != stream)))
        staging = staging->next;
    if (staging != NULL)
        staging->taken = true;
    cx_lock_leave(&cx_cross_copies_lock);
    return staging;
}

static void put_back(cx_staging *staging)
{
    cx_lock_enter(&cx_cross_copies_lock);
    staging->taken = false;
    cx_lock_leave(&cx_cross_copies_lock);
}

/* The same, of memory whose work is done. */
static cx_staging *take_idle(const cx_context *context, const cx_staging *before)
{
    cx_staging *staging = take_next(context, NULL, before);
    while (staging != NULL && context->driver->table.event_query(staging->used) != CXU_SUCCESS) {
        cx_staging *busy = staging;
        staging = take_next(context, NULL, busy);
        put_back(busy);
    }
    return staging;
}

/* Takes this one out of the list; NULL: any of the context. NULL: there is none. */
static cx_staging *unlink_staging(const cx_staging *which, const cx_context *context)
{
    cx_lock_enter(&cx_cross_copies_lock);
    cx_staging **link = &stagings;
    while (*link != NULL && (which != NULL ? *link != which : (*link)->context != context))
        link = &(*link)->next;
    cx_staging *found = *link;
    if (found != NULL)
        *link = found->next;
    cx_lock_leave(&cx_cross_copies_lock);
    return found;
}

static void destroy_staging(cx_staging *staging, bool native)
{
    const cx_driver_table *table = &staging->context->driver->table;
    if (native && staging->native != NULL)
        (void)table->stream_destroy(staging->native);
    if (native && staging->pinned != NULL) {
        (void)table->event_destroy(staging->used);
        (void)table->mem_free_host(staging->pinned);
    }
    free(staging);
}

static cx_staging *new_staging(const cx_context *context)
{
    cx_staging *staging = calloc(1, sizeof *staging);
    if (staging == NULL) {
        (void)cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory to stage a copy");
        return NULL;
    }
    staging->context = context;
    staging->epoch = atomic_load(&context->epoch);
    staging->taken = true;
    return staging;
}

static void enlist_locked(cx_staging *staging)
{
    staging->next = stagings;
    stagings = staging;
}

/* ---- pinned memory ---- */

static ctxrt_status make_pinned(const cx_context *context, cx_staging **out_staging)
{
    void *pinned;
    const cx_driver *driver = context->driver;
    cx_staging *staging = new_staging(context);
    if (staging == NULL)
        return CTXRT_ERROR_OUT_OF_MEMORY;
    ctxrt_status status = CX_DRIVER_CALL(driver, mem_host_alloc, (&pinned, CX_STAGING_BYTES, 0));
    if (status == CTXRT_SUCCESS) {
        status = CX_DRIVER_CALL(driver, event_create, (&staging->used, CXU_EVENT_DISABLE_TIMING));
        if (status != CTXRT_SUCCESS)
            (void)driver->table.mem_free_host(pinned);
    }
    if (status != CTXRT_SUCCESS) {
        free(staging);
        return status;
    }
    staging->pinned = pinned;
    cx_lock_enter(&cx_cross_copies_lock);
    enlist_locked(staging);
    cx_lock_leave(&cx_cross_copies_lock);
    *out_staging = staging;
    return status;
}

ctxrt_status cx_staging_take(const cx_stream_target *target, const ctxrt_stream *stream,
                             cx_staging **out_staging)
{
    ctxrt_status status = CTXRT_SUCCESS;
    cx_staging *staging = take_next(target->context, stream, NULL);
    if (staging != NULL) {
        status = CX_DRIVER_CALL(target->driver, stream_wait_event,
                                (target->native, staging->used, CXU_EVENT_WAIT_DEFAULT));
        if (status != CTXRT_SUCCESS)
            put_back(staging);
    } else if ((staging = take_idle(target->context, NULL)) == NULL) {
        status = make_pinned(target->context, &staging);
    }
    if (status != CTXRT_SUCCESS)
        return status;
    cx_lock_enter(&cx_cross_copies_lock);
    staging->stream = stream;
    cx_lock_leave(&cx_cross_copies_lock);
    *out_staging = staging;
    return CTXRT_SUCCESS;
}

ctxrt_status cx_staging_give(cx_staging *staging, const cx_stream_target *target)
{
    ctxrt_status status =
        CX_DRIVER_CALL(target->driver, event_record, (staging->used, target->native));
    if (status == CTXRT_SUCCESS)
        put_back(staging);
    return status;
}

/* ---- streams ---- */

/* The context's stream; if it has none it gets `made`, unless that is NULL. */
static cx_staging *find_stream(const cx_context *context, cx_staging *made)
{
    cx_lock_enter(&cx_cross_copies_lock);
    cx_staging *found = stagings;
    while (found != NULL && (found->native == NULL || !is_of(found, context)))
        found = found->next;
    if (found == NULL && made != NULL)
        enlist_locked(found = made);
    cx_lock_leave(&cx_cross_copies_lock);
    return found;
}

/* If two threads make one, the first one's is kept. */
ctxrt_status cx_staging_stream(const cx_context *context, CUstream *out_stream)
{
    cx_staging *found = find_stream(context, NULL);
    if (found == NULL) {
        cx_staging *made = new_staging(context);
        if (made == NULL)
            return CTXRT_ERROR_OUT_OF_MEMORY;
        ctxrt_status status = CX_DRIVER_CALL(context->driver, stream_create,
                                             (&made->native, CXU_STREAM_NON_BLOCKING));
        if (status != CTXRT_SUCCESS) {
            free(made);
            return status;
        }
        found = find_stream(context, made);
        if (found != made)
            destroy_staging(made, true);
    }
    *out_stream = found->native;
    return CTXRT_SUCCESS;
}

/* ---- giving it back ---- */

static uint64_t give_back_idle(const cx_context *context)
{
    uint64_t bytes = 0;
    cx_staging *next, *staging = take_idle(context, NULL);
    for (; staging != NULL; staging = next) {
        next = take_idle(context, staging);
        destroy_staging(unlink_staging(staging, context), true);
        bytes += CX_STAGING_BYTES;
    }
    return bytes;
}

uint64_t cx_staging_trim(const cx_context *context)
{
    cx_context_guard guard;
    cx_error_saved saved;
    cx_error_save(&saved);
    bool current = cx_context_guard_enter(context, &guard) == CTXRT_SUCCESS;
    cx_error_restore(&saved);
    if (!current)
        return 0;
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(context->driver);
    uint64_t bytes = give_back_idle(context);
    cx_relaxed_capture_end(&relaxed);
    cx_context_guard_leave(&guard);
    return bytes;
}

void cx_staging_end(const cx_context *context, bool native)
{
    cx_staging *staging;
    while ((staging = unlink_staging(NULL, context)) != NULL)
        destroy_staging(staging, native);
}
