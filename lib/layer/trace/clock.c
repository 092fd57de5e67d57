#include "layer/trace/clock.h"

#include "base/clock.h"
#include "base/fork.h"
#include "base/lock.h"
#include "layer/trace/file.h"
#include "layer/trace/thread.h"

#include <stdlib.h>
#include <utlist.h>

enum { SPARE = 64, LOOK_MOST = 16, MANY = 64 };

/* A clock is never freed. After its context has ended, the next context with the same handle uses
 * the clock again. */
struct cx_trace_clock {
    CUcontext context;
    CUdevice device;
    bool primary, ended;
    uint64_t life; /* how many contexts of this handle have ended */
    CUstream stream;  /* on which the base is recorded, without work of the program */
    CUevent base;     /* happened at the host's time base_ns */
    uint64_t base_ns;
    CUevent spare[SPARE];
    unsigned spare_count;
    cx_trace_timed *waiting; /* in the order in which they were submitted */
    unsigned waiting_count;
    struct cx_trace_clock *next;
};

/* "trace clocks": the list, and what is in its clocks. Of the driver's calls only those that do not
 * wait are made under it. */
static cx_lock lock = CX_LOCK_INIT(TRACE_CLOCKS);
static cx_trace_clock *clocks;

/* ---- clocks ---- */

static cx_trace_clock *find(CUcontext context)
{
    cx_trace_clock *clock = clocks;
    while (clock != NULL && clock->context != context)
        clock = clock->next;
    return clock;
}

/* A retain of an active primary context changes nothing but its count. */
static bool is_primary(const cx_driver_table *driver, CUcontext context, CUdevice device)
{
    unsigned int flags;
    int active;
    CUcontext primary;
    if (driver->primary_get_state(device, &flags, &active) != CXU_SUCCESS || !active ||
        driver->primary_retain(&primary, device) != CXU_SUCCESS)
        return false;
    (void)driver->primary_release(device);
    return primary == context;
}

/* The host's time of an event on a stream without work lies between these two readings. */
static bool set_base(const cx_driver_table *driver, cx_trace_clock *clock)
{
    if (driver->stream_create(&clock->stream, CXU_STREAM_NON_BLOCKING) != CXU_SUCCESS)
        return false;
    if (driver->event_create(&clock->base, 0) == CXU_SUCCESS) {
        uint64_t before = cx_clock_ns();
        if (driver->event_record(clock->base, clock->stream) == CXU_SUCCESS &&
            driver->event_synchronize(clock->base) == CXU_SUCCESS) {
            clock->base_ns = before + (cx_clock_ns() - before) / 2;
            return true;
        }
        (void)driver->event_destroy(clock->base);
    }
    (void)driver->stream_destroy(clock->stream);
    return false;
}

/* Another thread may have made one meanwhile: the first one stays. */
static cx_trace_clock *enter(const cx_trace_clock *made)
{
    cx_lock_enter(&lock);
    cx_trace_clock *clock = find(made->context);
    if (clock == NULL && (clock = calloc(1, sizeof *clock)) != NULL) {
        clock->context = made->context;
        clock->ended = true;
        LL_PREPEND(clocks, clock);
    }
    if (clock != NULL && clock->ended) {
        clock->ended = false;
        clock->device = made->device;
        clock->primary = made->primary;
        clock->stream = made->stream;
        clock->base = made->base;
        clock->base_ns = made->base_ns;
    }
    cx_lock_leave(&lock);
    return clock;
}

cx_trace_clock *cx_trace_clock_of(const cx_driver_table *driver, CUcontext context)
{
    cx_trace_clock made = {.context = context};
    cx_lock_enter(&lock);
    cx_trace_clock *clock = find(context);
    bool is_there = clock != NULL && !clock->ended;
    cx_lock_leave(&lock);
    if (is_there)
        return clock;
    if (driver->ctx_get_device(&made.device) != CXU_SUCCESS || !set_base(driver, &made))
        return NULL;
    made.primary = is_primary(driver, context, made.device);
    clock = enter(&made);
    if (clock == NULL)
        cx_trace_file_lose();
    if (clock == NULL || clock->base != made.base) {
        (void)driver->event_destroy(made.base);
        (void)driver->stream_destroy(made.stream);
    }
    return clock;
}

cx_trace_clock *cx_trace_clock_next(const cx_trace_clock *after)
{
    cx_lock_enter(&lock);
    cx_trace_clock *clock = after != NULL ? after->next : clocks;
    while (clock != NULL && clock->ended)
        clock = clock->next;
    cx_lock_leave(&lock);
    return clock;
}

CUcontext cx_trace_clock_context(const cx_trace_clock *clock)
{
    return clock->context;
}

bool cx_trace_clock_is_primary(const cx_trace_clock *clock, CUdevice device)
{
    return clock->primary && clock->device == device;
}

/* ---- events ---- */

static bool take_event(const cx_driver_table *driver, cx_trace_clock *clock, CUevent *out_event)
{
    cx_lock_enter(&lock);
    bool spare = clock->spare_count > 0;
    if (spare)
        *out_event = clock->spare[--clock->spare_count];
    cx_lock_leave(&lock);
    return spare || driver->event_create(out_event, 0) == CXU_SUCCESS;
}

/* Lock held. True while the context of the work is there. */
static bool lives(const cx_trace_timed *timed)
{
    return !timed->clock->ended && timed->clock->life == timed->life;
}

/* Lock held. What finds no place is left to the end of its context. */
static void give_event(cx_trace_timed *timed, CUevent event)
{
    if (lives(timed) && timed->clock->spare_count < SPARE)
        timed->clock->spare[timed->clock->spare_count++] = event;
}

cx_trace_timed *cx_trace_clock_take(const cx_driver_table *driver, cx_trace_clock *clock)
{
    cx_trace_timed *timed = calloc(1, sizeof *timed);
    if (timed == NULL) {
        cx_trace_file_lose();
        return NULL;
    }
    timed->clock = clock;
    cx_lock_enter(&lock);
    timed->life = clock->life;
    cx_lock_leave(&lock);
    if (take_event(driver, clock, &timed->began)) {
        if (take_event(driver, clock, &timed->ended))
            return timed;
        cx_lock_enter(&lock);
        give_event(timed, timed->began);
        cx_lock_leave(&lock);
    }
    free(timed);
    return NULL;
}

/* Lock held. */
static void put_back(cx_trace_timed *timed)
{
    give_event(timed, timed->began);
    give_event(timed, timed->ended);
    free(timed);
}

void cx_trace_clock_drop(cx_trace_timed *timed)
{
    cx_lock_enter(&lock);
    put_back(timed);
    cx_lock_leave(&lock);
}

bool cx_trace_clock_keep(cx_trace_timed *timed)
{
    cx_trace_clock *clock = timed->clock;
    cx_lock_enter(&lock);
    bool keeps = lives(timed);
    if (keeps) {
        DL_APPEND(clock->waiting, timed);
        clock->waiting_count++;
    } else {
        free(timed);
    }
    bool many = keeps && clock->waiting_count % MANY == 0;
    cx_lock_leave(&lock);
    return many;
}

/* ---- times ---- */

static bool time_of(const cx_driver_table *driver, const cx_trace_clock *clock, CUevent event,
                    uint64_t *out_ns)
{
    float ms;
    if (driver->event_elapsed_time(&ms, clock->base, event) != CXU_SUCCESS)
        return false;
    *out_ns = clock->base_ns + (uint64_t)(int64_t)((double)ms * 1e6);
    return true;
}

/* The clocks of host and device differ a little: no work begins before it was submitted. */
static bool read_times(const cx_driver_table *driver, cx_trace_timed *timed)
{
    cx_work_timestamps *timing = &timed->timing;
    if (!time_of(driver, timed->clock, timed->began, &timing->began_ns) ||
        !time_of(driver, timed->clock, timed->ended, &timing->ended_ns))
        return false;
    if (timing->began_ns < timing->submitted_ns)
        timing->began_ns = timing->submitted_ns;
    if (timing->ended_ns < timing->began_ns)
        timing->ended_ns = timing->began_ns;
    return true;
}

/* Work of one stream may be over before older work of another one. */
static cx_trace_timed *take_over(const cx_driver_table *driver, cx_trace_clock *clock)
{
    cx_trace_timed *over = NULL, *timed, *next;
    int under_way = 0;
    DL_FOREACH_SAFE(clock->waiting, timed, next)
    {
        if (under_way == LOOK_MOST)
            break;
        if (driver->event_query(timed->ended) == CXU_NOT_READY) {
            under_way++;
            continue;
        }
        DL_DELETE(clock->waiting, timed);
        clock->waiting_count--;
        DL_APPEND(over, timed);
        timed->timing.kind = read_times(driver, timed) ? timed->timing.kind : CX_TIMED_KINDS;
    }
    return over;
}

static void tell_and_put_back(cx_trace_timed *over, cx_work_timestamps_watcher *tell)
{
    cx_trace_timed *timed, *next;
    DL_FOREACH(over, timed)
    {
        if (timed->timing.kind != CX_TIMED_KINDS)
            tell(&timed->timing);
    }
    cx_lock_enter(&lock);
    DL_FOREACH_SAFE(over, timed, next)
    {
        put_back(timed);
    }
    cx_lock_leave(&lock);
}

void cx_trace_clock_look(const cx_driver_table *driver, cx_trace_clock *clock,
                         cx_work_timestamps_watcher *tell)
{
    cx_lock_enter(&lock);
    cx_trace_timed *over = clock->ended ? NULL : take_over(driver, clock);
    cx_lock_leave(&lock);
    tell_and_put_back(over, tell);
}

void cx_trace_clock_end(cx_trace_clock *clock)
{
    cx_trace_timed *timed, *next;
    cx_lock_enter(&lock);
    clock->ended = true;
    clock->life++;
    clock->spare_count = 0;
    DL_FOREACH_SAFE(clock->waiting, timed, next)
    {
        free(timed);
    }
    clock->waiting = NULL;
    clock->waiting_count = 0;
    cx_lock_leave(&lock);
}

/* ---- forks ---- */

/* The contexts are the parent's, and no call of the driver succeeds. A fork does not take the lock,
 * which threads hold while they call the driver. */
static void begin_in_child(void)
{
    cx_lock_init(&lock, CX_RANK_TRACE_CLOCKS);
    clocks = NULL;
}

CX_FORK_CONSTRUCTOR static void watch_forks(void)
{
    static cx_fork_hook hook = {.rank = CX_RANK_TRACE_CLOCKS, .in_child = begin_in_child};
    cx_fork_watch(&hook);
}
