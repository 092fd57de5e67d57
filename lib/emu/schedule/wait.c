/* Threads that wait for work. */
#include "base/cancel.h"
#include "base/log.h"
#include "emu/schedule/green.h"
#include "emu/context/output.h"
#include "emu/schedule/schedule.h"
#include "emu/base/state.h"
#include "emu/device/sticky.h"
#include "emu/schedule/stream.h"
#include "emu/schedule/work.h"

#include <time.h>
#include <unistd.h>

#define POLL_US_MAX 500u
#define RETRY_NS 10000000
#define NS_OF_A_SECOND 1000000000

/* A waiting thread; on its stack. */
typedef struct wait {
    bool (*over)(const void *subject);
    const void *subject;
    bool ended;
    cx_emu_context *closing; /* whose end this is; or NULL */
    pthread_cond_t wake;
    struct wait *previous, *next;
} wait;

static wait *waits;
static int wait_count;

void cx_emu_work_end_waits(void)
{
    for (wait *each = waits, *next; each != NULL; each = next) {
        next = each->next;
        if (!each->over(each->subject))
            continue;
        *(each->previous != NULL ? &each->previous->next : &waits) = each->next;
        if (each->next != NULL)
            each->next->previous = each->previous;
        wait_count--;
        each->ended = true;
        pthread_cond_signal(&each->wake);
    }
}

int cx_emu_work_waits(void)
{
    return wait_count;
}

/* Until the wait has ended, or it is time to look again for threads that work has not found. */
static void wait_for_wake(wait *own)
{
    struct timespec until;

    if (cx_emu_schedule_complete() && own->closing == NULL) {
        cx_lock_wait(&cx_emu_lock, &own->wake);
        return;
    }
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += RETRY_NS;
    until.tv_sec += until.tv_nsec / NS_OF_A_SECOND;
    until.tv_nsec %= NS_OF_A_SECOND;
    (void)cx_lock_wait_until(&cx_emu_lock, &own->wake, &until);
}

static void unlink_dependency(cx_emu_dependency *link)
{
    cx_emu_dependency **place = &link->before->successors;

    while (*place != link)
        place = &(*place)->next;
    *place = link->next;
    link->before = NULL;
    if (--link->after->unfinished == 0)
        cx_emu_schedule_ready(link->after);
}

/* Pieces that it waits for are older, and known already. */
static bool is_held(const cx_emu_work *work, const cx_emu_context *context)
{
    if (work->done || work->context == context)
        return false;
    if (work->unfinished == 0)
        return work->kind == CX_EMU_WORK_KERNEL;
    for (size_t i = 0; i < work->dependency_count; i++)
        if (work->dependencies[i].before != NULL && work->dependencies[i].before->held)
            return true;
    return false;
}

/* The work of a context that ends waits no more for kernels of other contexts that still run: it
 * ends without running. */
static void cut_loose(cx_emu_context *context)
{
    bool cut = false;

    for (cx_emu_work *each = cx_emu_work_oldest(); each != NULL; each = each->younger) {
        each->held = is_held(each, context);
        for (size_t i = 0; each->context == context && i < each->dependency_count; i++) {
            if (each->dependencies[i].before == NULL || !each->dependencies[i].before->held)
                continue;
            cx_emu_context_abandon(context);
            unlink_dependency(&each->dependencies[i]);
            cut = true;
        }
    }
    if (cut)
        cx_log(CTXRT_LOG_WARNING, "embedded driver: a context ends without its work that waits for "
               "a kernel of another context");
    cx_emu_work_run_locked();
}

/* The awaited work has been demanded. The end of a context has a deadline
 * (teardown_deadline.h). */
static void wait_for_end(bool (*over)(const void *subject), const void *subject,
                         cx_emu_context *closing)
{
    wait own = {.over = over, .subject = subject, .closing = closing};

    cx_emu_work_run_locked();
    if (over(subject))
        return;
    pthread_cond_init(&own.wake, NULL);
    own.next = waits;
    if (waits != NULL)
        waits->previous = &own;
    waits = &own;
    wait_count++;
    cx_emu_schedule_wake();
    int cancel = cx_cancel_hold();
    while (!own.ended) {
        wait_for_wake(&own);
        if (closing != NULL && !own.ended &&
            cx_emu_teardown_deadline_is_over(&closing->teardown_deadline))
            cut_loose(closing);
    }
    cx_cancel_restore(cancel);
    pthread_cond_destroy(&own.wake);
}

static void wait_until(bool (*over)(const void *subject), const void *subject)
{
    wait_for_end(over, subject, NULL);
}

static bool work_done(const void *subject)
{
    return ((const cx_emu_work *)subject)->done;
}

/* Returns the error after a wait for work of this context, in the generation that `opening`
 * names. */
static cxu_result error_after(cx_emu_context *context, uint64_t opening)
{
    return cx_emu_context_opened(context, opening) ? cx_emu_context_error(context) : CXU_SUCCESS;
}

cxu_result cx_emu_work_wait(cx_emu_work *work)
{
    cx_emu_context *context = work->context;
    uint64_t opening = work->opening;

    cx_emu_schedule_demand(work);
    wait_until(work_done, work);
    if (context == NULL)
        return CXU_SUCCESS;
    cx_emu_output_flush(context);
    return error_after(context, opening);
}

void cx_emu_work_wait_outside(bool (*over)(const void *subject), const void *subject)
{
    useconds_t pause = 1;
    int cancel = cx_cancel_hold();

    wait_count++;
    for (cx_emu_work *each = cx_emu_work_oldest(); each != NULL; each = each->younger)
        cx_emu_schedule_demand(each);
    cx_emu_work_run_locked();
    cx_emu_schedule_wake();
    while (!over(subject)) {
        cx_lock_leave(&cx_emu_lock);
        usleep(pause);
        pause = pause < POLL_US_MAX ? 2 * pause : POLL_US_MAX;
        cx_lock_enter(&cx_emu_lock);
    }
    wait_count--;
    cx_cancel_restore(cancel);
}

void cx_emu_work_poll_outside(void)
{
    cx_emu_work *work = cx_emu_work_oldest();

    while (work != NULL && work->done)
        work = work->younger;
    if (work != NULL)
        cx_emu_work_poll(work);
}

bool cx_emu_work_poll(cx_emu_work *work)
{
    bool done = work->done;

    if (done)
        return true;
    cx_emu_work_retain(work);
    cx_emu_schedule_step(work);
    cx_emu_work_drop(work);
    return false;
}

/* The streams of one generation of a context, up to a point in the order of submission. */
typedef struct extent {
    const cx_emu_context *context;
    const cx_emu_stream *legacy; /* its slot may be read even if the context is closed meanwhile */
    uint64_t opening;
    uint64_t sequence;
    bool blocking_only;
} extent;

static extent extent_of(const cx_emu_context *context, const cx_emu_stream *legacy)
{
    return (extent){context, legacy, legacy->opening, cx_emu_work_latest(), false};
}

static bool has_stream(const extent *part, const cx_emu_stream *stream)
{
    return stream->opening == part->opening &&
           (!part->blocking_only || cx_emu_stream_blocking(stream));
}

static bool is_busy(const extent *part, const cx_emu_stream *stream)
{
    return stream->head != NULL && stream->head->sequence <= part->sequence &&
           has_stream(part, stream);
}

/* The oldest unfinished piece of the first stream that has one, or NULL. */
static cx_emu_work *unfinished_work(const extent *part)
{
    if (is_busy(part, part->legacy))
        return part->legacy->head;
    for (const cx_emu_stream *each = part->context->streams; each != NULL; each = each->next)
        if (is_busy(part, each))
            return each->head;
    return NULL;
}

static bool extent_done(const void *subject)
{
    return unfinished_work(subject) == NULL;
}

static void demand_extent(const extent *part)
{
    if (part->legacy->tail != NULL)
        cx_emu_schedule_demand(part->legacy->tail);
    for (cx_emu_stream *each = part->context->streams; each != NULL; each = each->next)
        if (each->tail != NULL && has_stream(part, each))
            cx_emu_schedule_demand(each->tail);
}

/* A record behind all work of a green context that is part of this one, or NULL. */
static cx_emu_work *unfinished_record(const extent *part)
{
    for (const cx_emu_stream *each = part->context->streams; each != NULL; each = each->next) {
        cx_emu_work *whole =
            each->green != NULL && each->green->stream == each ? each->green->whole : NULL;

        if (whole != NULL && !whole->done && whole->sequence <= part->sequence)
            return whole;
    }
    return NULL;
}

static void wait_for_records(const extent *part, cx_emu_context *closing)
{
    cx_emu_work *record;

    while ((record = unfinished_record(part)) != NULL) {
        cx_emu_work_retain(record);
        cx_emu_schedule_demand(record);
        wait_for_end(work_done, record, closing);
        cx_emu_work_drop(record);
    }
}

static void wait_for_all(cx_emu_context *context, cx_emu_stream *legacy, cx_emu_context *closing)
{
    extent part = extent_of(context, legacy);
    cx_emu_work *whole = context->whole;

    if (whole != NULL) {
        cx_emu_work_retain(whole);
        cx_emu_schedule_demand(whole);
    }
    demand_extent(&part);
    wait_for_end(extent_done, &part, closing);
    if (whole != NULL) {
        wait_for_end(work_done, whole, closing);
        cx_emu_work_drop(whole);
    }
    wait_for_records(&part, closing);
    cx_emu_output_flush(context);
}

void cx_emu_work_wait_context(cx_emu_context *context)
{
    if (context->legacy != NULL)
        wait_for_all(context, context->legacy, NULL);
}

static bool nothing_runs(const void *subject)
{
    return ((const cx_emu_context *)subject)->running == 0;
}

void cx_emu_work_wait_closing(cx_emu_context *context, cx_emu_stream *legacy)
{
    wait_for_all(context, legacy, context);
    wait_until(nothing_runs, context);
    if (context->whole != NULL)
        cx_emu_work_drop(context->whole);
    context->whole = NULL;
}

/* The pieces that a synchronisation with the legacy stream waits for (T11). */
static extent extent_of_legacy(const cx_emu_stream *legacy)
{
    extent part = extent_of(legacy->context, legacy);

    part.blocking_only = true;
    return part;
}

cxu_result cx_emu_work_wait_stream(cx_emu_stream *stream)
{
    cx_emu_context *context = stream->context;
    uint64_t opening = stream->opening;
    cx_emu_work *work = stream->tail;
    cxu_result result = CXU_SUCCESS;

    if (stream == context->legacy) {
        extent part = extent_of_legacy(stream);

        demand_extent(&part);
        wait_until(extent_done, &part);
        cx_emu_output_flush(context);
        result = error_after(context, opening);
    } else if (work == NULL) {
        cx_emu_output_flush(context);
    } else {
        cx_emu_work_retain(work);
        result = cx_emu_work_wait(work);
        cx_emu_work_drop(work);
    }
    return result;
}

bool cx_emu_work_poll_stream(cx_emu_stream *stream)
{
    cx_emu_work *work = stream->tail;

    if (stream == stream->context->legacy) {
        extent part = extent_of_legacy(stream);

        work = unfinished_work(&part);
    }
    return work == NULL || cx_emu_work_poll(work);
}

static bool work_uses(const cx_emu_work *work, const cx_emu_allocation *allocation)
{
    for (int i = 0; i < CX_EMU_WORK_USES; i++)
        if (cx_emu_allocation_used_by(allocation, work->uses[i]))
            return true;
    return false;
}

static bool allocation_unused(const void *subject)
{
    return ((const cx_emu_allocation *)subject)->users == 0;
}

void cx_emu_work_wait_allocation(cx_emu_allocation *allocation)
{
    while (allocation->users > 0) {
        for (cx_emu_work *each = cx_emu_work_oldest(); each != NULL; each = each->younger)
            if (!each->done && work_uses(each, allocation))
                cx_emu_schedule_demand(each);
        wait_until(allocation_unused, allocation);
    }
}

static bool allocation_unreached(const void *subject)
{
    return ((const cx_emu_allocation *)subject)->reached == 0;
}

void cx_emu_work_wait_unreached(const cx_emu_allocation *allocation)
{
    wait_until(allocation_unreached, allocation);
}

static bool work_reaches(const cx_emu_work *work, const cx_emu_device *device)
{
    return device == NULL || work->context->device == device || work->context->peer_count > 0;
}

static cx_emu_work *next_kernel(const cx_emu_device *device, uint64_t latest)
{
    cx_emu_work *each = cx_emu_work_oldest();

    for (; each != NULL && each->sequence <= latest; each = each->younger)
        if (each->kind == CX_EMU_WORK_KERNEL && !each->done && each->context != NULL &&
            work_reaches(each, device))
            return each;
    return NULL;
}

void cx_emu_work_wait_kernels(const cx_emu_device *device)
{
    uint64_t latest = cx_emu_work_latest();
    cx_emu_work *work;

    while (cx_emu_work_kernels() && (work = next_kernel(device, latest)) != NULL) {
        cx_emu_work_retain(work);
        cx_emu_schedule_demand(work);
        wait_until(work_done, work);
        cx_emu_work_drop(work);
    }
}
