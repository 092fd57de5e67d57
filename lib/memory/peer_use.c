#include "memory/peer_use.h"

#include "base/cancel.h"
#include "base/error.h"
#include "base/lock.h"
#include "context/use.h"
#include "memory/stream_uses.h"
#include "work/event.h"
#include "work/relaxed_capture.h"

#include <stdlib.h>

typedef struct cx_peer_use {
    const cx_context *owner;   /* of the memory */
    const cx_context *context; /* of the stream */
    uint32_t epoch;            /* of the stream's context */
    const ctxrt_stream *stream;
    CUevent event;
    bool awaited; /* a thread waits for the event, and then frees this */
    struct cx_peer_use *next;
} cx_peer_use;

/* Lock "peer uses": the list, the last recorded use first. No wait for work is made under it. */
static cx_lock lock = CX_LOCK_INIT(PEER_USES);
static pthread_cond_t freed = PTHREAD_COND_INITIALIZER;
static cx_peer_use *uses;

/* ---- recording; lock held ---- */

static cx_peer_use *take_out(cx_peer_use **link)
{
    cx_peer_use *use = *link;
    *link = use->next;
    return use;
}

static void put_first(cx_peer_use *use)
{
    use->next = uses;
    uses = use;
}

static bool is_by(const cx_peer_use *use, const cx_stream_target *target)
{
    return use->context == target->context && use->epoch == target->epoch && !use->awaited;
}

/* NULL: the stream has not used memory of the owner so far. */
static cx_peer_use *take_same(const cx_context *owner, const cx_stream_target *target)
{
    for (cx_peer_use **link = &uses; *link != NULL; link = &(*link)->next)
        if ((*link)->owner == owner && (*link)->stream == target->stream && is_by(*link, target))
            return take_out(link);
    return NULL;
}

static bool is_over(const cx_peer_use *use)
{
    return use->context->driver->table.event_query(use->event) != CXU_NOT_READY;
}

/* Frees the finished uses by the stream's context, but keeps one to be used again; NULL: none is
 * finished. Only uses by this context are looked at: the caller has pinned it, so their events are
 * there. */
static cx_peer_use *take_finished(const cx_stream_target *target)
{
    cx_peer_use *again = NULL;
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(target->driver);
    for (cx_peer_use **link = &uses; *link != NULL;) {
        if (!is_by(*link, target) || !is_over(*link)) {
            link = &(*link)->next;
            continue;
        }
        if (again != NULL) {
            (void)target->driver->table.event_destroy(again->event);
            free(again);
        }
        again = take_out(link);
    }
    cx_relaxed_capture_end(&relaxed);
    return again;
}

static ctxrt_status make_use(const cx_stream_target *target, cx_peer_use **out_use)
{
    cx_peer_use *use = take_finished(target);
    if (use != NULL) {
        *out_use = use;
        return CTXRT_SUCCESS;
    }
    use = calloc(1, sizeof *use);
    if (use == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory to record a use of memory");
    ctxrt_status status = cx_event_make_native(target, &use->event);
    if (status != CTXRT_SUCCESS)
        free(use);
    else
        *out_use = use;
    return status;
}

/* After a failed record the event covers neither the new nor the earlier work. */
static ctxrt_status record_use(const cx_context *owner, const cx_stream_target *target)
{
    cx_peer_use *use = take_same(owner, target);
    ctxrt_status status = use != NULL ? CTXRT_SUCCESS : make_use(target, &use);
    if (status != CTXRT_SUCCESS)
        return status;
    *use = (cx_peer_use){.owner = owner,
                         .context = target->context,
                         .epoch = target->epoch,
                         .stream = target->stream,
                         .event = use->event};
    status = CX_DRIVER_CALL(target->driver, event_record, (use->event, target->native));
    put_first(use);
    return status;
}

bool cx_peer_use_record(const cx_context *owner, const cx_stream_target *target)
{
    cx_error_saved saved;
    int cancel = cx_cancel_hold();
    cx_error_save(&saved);
    cx_lock_enter(&lock);
    ctxrt_status status = record_use(owner, target);
    cx_lock_leave(&lock);
    cx_error_restore(&saved);
    cx_cancel_restore(cancel);
    return status == CTXRT_SUCCESS;
}

/* ---- waiting ---- */

/* True while another thread resets the stream's context. */
static bool is_being_reset(const cx_peer_use *use)
{
    return atomic_load(&use->context->epoch) == use->epoch + 1 &&
           cx_context_is_resetting(use->context);
}

/* While another thread resets the stream's context, the event is there until the driver's reset,
 * which waits for the work itself. Two threads that each reset a context whose memory the other
 * context uses do not wait for each other: the driver's reset comes last. */
static void await_work(const cx_peer_use *use)
{
    const cx_driver *driver = use->context->driver;
    bool there = is_being_reset(use) || cx_context_holds_what_is_of(use->context, use->epoch);
    if (!there)
        return;
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(driver);
    cxu_result result = driver->table.event_synchronize(use->event);
    cx_relaxed_capture_end(&relaxed);
    if (cx_stream_uses_event_is_gone(result) && is_being_reset(use))
        (void)cx_context_wait(use->context);
}

static bool is_of_owner(const cx_peer_use *use, const cx_context *context)
{
    return use->owner == context;
}

static bool is_of_either(const cx_peer_use *use, const cx_context *context)
{
    return use->owner == context || use->context == context;
}

/* Lock held. */
static cx_peer_use *find_use(bool (*is)(const cx_peer_use *, const cx_context *),
                             const cx_context *context)
{
    cx_peer_use *use = uses;
    while (use != NULL && !is(use, context))
        use = use->next;
    return use;
}

/* Lock held. */
static void free_use(const cx_peer_use *use)
{
    cx_peer_use **link = &uses;
    while (*link != use)
        link = &(*link)->next;
    free(take_out(link));
    pthread_cond_broadcast(&freed);
}

/* Lock held, and released meanwhile. */
static void finish_use(cx_peer_use *use)
{
    use->awaited = true;
    cx_lock_leave(&lock);
    await_work(use);
    cx_stream_uses_destroy_event(use->context, use->epoch, use->event);
    cx_lock_enter(&lock);
    free_use(use);
}

static void finish_all(bool (*is)(const cx_peer_use *, const cx_context *),
                       const cx_context *context)
{
    cx_peer_use *use;
    int cancel = cx_cancel_hold();
    cx_lock_enter(&lock);
    while ((use = find_use(is, context)) != NULL)
        if (use->awaited)
            cx_lock_wait(&lock, &freed);
        else
            finish_use(use);
    cx_lock_leave(&lock);
    cx_cancel_restore(cancel);
}

void cx_peer_uses_await(const cx_context *owner)
{
    finish_all(is_of_owner, owner);
}

void cx_peer_uses_finish(const cx_context *context)
{
    finish_all(is_of_either, context);
}

void cx_peer_uses_forget(const cx_context *context)
{
    cx_peer_use **link = &uses;
    int cancel = cx_cancel_hold();
    cx_lock_enter(&lock);
    while (*link != NULL)
        if ((*link)->context == context && !(*link)->awaited)
            free(take_out(link));
        else
            link = &(*link)->next;
    cx_lock_leave(&lock);
    cx_cancel_restore(cancel);
}
