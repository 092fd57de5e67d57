#include "copy/staging.h"

#include "base/error.h"
#include "context/context_guard.h"
#include "work/relaxed_capture.h"
#include <stdlib.h>

typedef struct lane {
    const cx_context *context;
    uint32_t epoch;
    CUstream native;
    struct lane *next;
} lane;

cx_lock cx_cross_copies_lock = CX_LOCK_INIT(CROSS_DRIVER_COPIES);
static cx_staging *stagings;
static lane *lanes;

/* ---- pinned memory ---- */

static bool is_of(const cx_staging *staging, const cx_context *context)
{
    return staging->context == context && staging->epoch == atomic_load(&context->epoch);
}

static cx_staging *take_of_stream(const cx_context *context, const ctxrt_stream *stream)
{
    cx_lock_enter(&cx_cross_copies_lock);
    cx_staging *staging = stagings;
    while (staging != NULL &&
           (staging->taken || staging->stream != stream || !is_of(staging, context)))
        staging = staging->next;
    if (staging != NULL)
        staging->taken = true;
    cx_lock_leave(&cx_cross_copies_lock);
    return staging;
}

/* Takes the next free one behind `before`, maybe only to check it. */
static cx_staging *take_next(const cx_context *context, const cx_staging *before)
{
    cx_lock_enter(&cx_cross_copies_lock);
    cx_staging *staging = before != NULL ? before->next : stagings;
    while (staging != NULL && (staging->taken || !is_of(staging, context)))
        staging = staging->next;
    if (staging != NULL)
        staging->taken = true;
    cx_lock_leave(&cx_cross_copies_lock);
    return staging;
}

static void put_back(cx_staging *staging, const ctxrt_stream *stream)
{
    cx_lock_enter(&cx_cross_copies_lock);
    staging->stream = stream;
    staging->taken = false;
    cx_lock_leave(&cx_cross_copies_lock);
}

static cx_staging *take_idle(const cx_context *context)
{
    cx_staging *staging = take_next(context, NULL);
    while (staging != NULL && context->driver->table.event_query(staging->used) != CXU_SUCCESS) {
        cx_staging *looked_at = staging;
        staging = take_next(context, looked_at);
        put_back(looked_at, looked_at->stream);
    }
    return staging;
}

static ctxrt_status fill_in(cx_staging *staging)
{
    void *pinned;
    const cx_driver *driver = staging->context->driver;
    ctxrt_status status = CX_DRIVER_CALL(driver, mem_host_alloc, (&pinned, CX_STAGING_BYTES, 0));
    if (status != CTXRT_SUCCESS)
        return status;
    status = CX_DRIVER_CALL(driver, event_create, (&staging->used, CXU_EVENT_DISABLE_TIMING));
    if (status != CTXRT_SUCCESS)
        (void)driver->table.mem_free_host(pinned);
    staging->pinned = pinned;
    return status;
}

static ctxrt_status make_staging(const cx_context *context, const ctxrt_stream *stream,
                                 cx_staging **out_staging)
{
    cx_staging *staging = malloc(sizeof *staging);
    if (staging == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory to stage a copy");
    *staging = (cx_staging){.context = context, .stream = stream, .taken = true};
    staging->epoch = atomic_load(&context->epoch);
    ctxrt_status status = fill_in(staging);
    if (status != CTXRT_SUCCESS) {
        free(staging);
        return status;
    }
    cx_lock_enter(&cx_cross_copies_lock);
    staging->next = stagings;
    stagings = staging;
    cx_lock_leave(&cx_cross_copies_lock);
    *out_staging = staging;
    return CTXRT_SUCCESS;
}

ctxrt_status cx_staging_take(const cx_stream_target *target, const ctxrt_stream *stream,
                             cx_staging **out_staging)
{
    ctxrt_status status = CTXRT_SUCCESS;
    cx_staging *staging = take_of_stream(target->context, stream);
    if (staging != NULL)
        status = CX_DRIVER_CALL(target->driver, stream_wait_event,
                                (target->native, staging->used, CXU_EVENT_WAIT_DEFAULT));
    else if ((staging = take_idle(target->context)) == NULL)
        return make_staging(target->context, stream, out_staging);
    if (status != CTXRT_SUCCESS) {
        put_back(staging, staging->stream);
        return status;
    }
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
        put_back(staging, staging->stream);
    return status;
}

/* ---- streams ---- */

static lane *find_lane(const cx_context *context)
{
    lane *found = lanes;
    while (found != NULL &&
           (found->context != context || found->epoch != atomic_load(&context->epoch)))
        found = found->next;
    return found;
}

/* If two threads made one, the first one's is kept. */
static CUstream keep_lane(lane *made)
{
    cx_lock_enter(&cx_cross_copies_lock);
    lane *kept = find_lane(made->context);
    if (kept == NULL) {
        made->next = lanes;
        lanes = kept = made;
    }
    CUstream native = kept->native;
    cx_lock_leave(&cx_cross_copies_lock);
    if (kept != made) {
        (void)made->context->driver->table.stream_destroy(made->native);
        free(made);
    }
    return native;
}

ctxrt_status cx_staging_stream(const cx_context *context, CUstream *out_stream)
{
    cx_lock_enter(&cx_cross_copies_lock);
    const lane *found = find_lane(context);
    CUstream native = found != NULL ? found->native : NULL;
    cx_lock_leave(&cx_cross_copies_lock);
    if (native == NULL) {
        lane *made = malloc(sizeof *made);
        if (made == NULL)
            return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for a stream that copies");
        *made = (lane){.context = context, .epoch = atomic_load(&context->epoch)};
        ctxrt_status status = CX_DRIVER_CALL(context->driver, stream_create,
                                             (&made->native, CXU_STREAM_NON_BLOCKING));
        if (status != CTXRT_SUCCESS) {
            free(made);
            return status;
        }
        native = keep_lane(made);
    }
    *out_stream = native;
    return CTXRT_SUCCESS;
}

/* ---- giving it back ---- */

static void unlink_taken(const cx_staging *staging)
{
    cx_lock_enter(&cx_cross_copies_lock);
    cx_staging **link = &stagings;
    while (*link != staging)
        link = &(*link)->next;
    *link = staging->next;
    cx_lock_leave(&cx_cross_copies_lock);
}

static void destroy_staging(cx_staging *staging, const cx_driver_table *table)
{
    if (table != NULL) {
        (void)table->event_destroy(staging->used);
        (void)table->mem_free_host(staging->pinned);
    }
    free(staging);
}

static uint64_t give_back_idle(const cx_context *context)
{
    uint64_t bytes = 0;
    const cx_driver_table *table = &context->driver->table;
    cx_staging *next = take_next(context, NULL);
    while (next != NULL) {
        cx_staging *staging = next;
        next = take_next(context, staging);
        if (table->event_query(staging->used) != CXU_SUCCESS) {
            put_back(staging, staging->stream);
            continue;
        }
        unlink_taken(staging);
        destroy_staging(staging, table);
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

/* ---- ends of contexts ---- */

static cx_staging *unlink_staging(const cx_context *context)
{
    cx_lock_enter(&cx_cross_copies_lock);
    cx_staging **link = &stagings;
    while (*link != NULL && (*link)->context != context)
        link = &(*link)->next;
    cx_staging *found = *link;
    if (found != NULL)
        *link = found->next;
    cx_lock_leave(&cx_cross_copies_lock);
    return found;
}

static lane *unlink_lane(const cx_context *context)
{
    cx_lock_enter(&cx_cross_copies_lock);
    lane **link = &lanes;
    while (*link != NULL && (*link)->context != context)
        link = &(*link)->next;
    lane *found = *link;
    if (found != NULL)
        *link = found->next;
    cx_lock_leave(&cx_cross_copies_lock);
    return found;
}

static void end_context(const cx_context *context, const cx_driver_table *table)
{
    cx_staging *staging;
    lane *stream;
    while ((staging = unlink_staging(context)) != NULL)
        destroy_staging(staging, table);
    while ((stream = unlink_lane(context)) != NULL) {
        if (table != NULL)
            (void)table->stream_destroy(stream->native);
        free(stream);
    }
}

void cx_staging_close(const cx_context *context)
{
    end_context(context, &context->driver->table);
}

void cx_staging_forget(const cx_context *context)
{
    end_context(context, NULL);
}
