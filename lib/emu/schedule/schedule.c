#include "emu/schedule/schedule.h"
#include "base/cancel.h"
#include "base/log.h"
#include "base/option.h"
#include "base/thread.h"
#include "emu/schedule/shared_event.h"
#include "emu/base/state.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CALLS_MAX 4  /* pieces that move bytes at the same time */
#define HOSTS_MAX 60 /* user functions and kernels that run or block at the same time */
#define WORKERS_MAX (CALLS_MAX + HOSTS_MAX)
#define IDLE_SECONDS 1

typedef enum mode { MODE_THREADS, MODE_LAZY, MODE_RANDOM } mode;

typedef struct choice {
    mode mode;
    uint64_t seed;
} choice;

typedef struct queue {
    cx_emu_work *first, *last;
    int length;
} queue;

typedef struct worker {
    pthread_t thread;
    bool used; /* this worker is in use */
    bool busy;
    bool leaving;
} worker;

static mode current_mode;
static uint64_t random_state;

static queue calls, hosts, locked;
static int calls_running, hosts_running;
static cx_emu_work *granted; /* a host function that a query allowed to run */

static worker workers[WORKERS_MAX];
static int worker_count; /* without those that are leaving */
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static bool exit_registered;
static pid_t owner;

/* ---- the choice of a schedule ---- */

static bool parse_schedule(const char *text, choice *out_choice)
{
    static const char random[] = "random:";
    int seed;

    *out_choice = (choice){MODE_THREADS, 0};
    if (text == NULL || !strcmp(text, "threads"))
        return true;
    if (!strcmp(text, "lazy")) {
        out_choice->mode = MODE_LAZY;
        return true;
    }
    if (strncmp(text, random, sizeof random - 1) ||
        !cx_parse_int(text + sizeof random - 1, 0, INT_MAX, &seed))
        return false;
    *out_choice = (choice){MODE_RANDOM, (uint64_t)seed};
    return true;
}

bool cx_emu_schedule_valid(void)
{
    choice unused;

    return parse_schedule(cx_option("CTXRT_EMU_SCHEDULE"), &unused);
}

bool cx_emu_schedule_choose(void)
{
    choice found;

    if (!parse_schedule(cx_option("CTXRT_EMU_SCHEDULE"), &found))
        return false;
    current_mode = found.mode;
    random_state = found.seed;
    return true;
}

bool cx_emu_schedule_lazy(void)
{
    return current_mode == MODE_LAZY;
}

bool cx_emu_schedule_wants_lazy(void)
{
    choice found;

    return parse_schedule(cx_option("CTXRT_EMU_SCHEDULE"), &found) && found.mode == MODE_LAZY;
}

/* splitmix64: any seed works, even 0. */
static uint64_t next_random(void)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* True for work that may run for long, or wait for other work: it neither runs on the submitting
 * thread, nor takes a place among pieces that move bytes. */
static bool takes_long(cx_emu_work_kind kind)
{
    return kind == CX_EMU_WORK_HOST || kind == CX_EMU_WORK_KERNEL || kind == CX_EMU_WORK_WAIT;
}

bool cx_emu_schedule_at_once(const cx_emu_work_request *request)
{
    if (takes_long(request->kind))
        return false;
    switch (current_mode) {
    case MODE_LAZY:
        return request->waited;
    case MODE_RANDOM:
        return false;
    default:
        return request->waited || request->cost_bytes <= CX_EMU_TINY_BYTES;
    }
}

/* ---- queues ---- */

static void append_work(queue *to, cx_emu_work *work)
{
    work->next_queued = NULL;
    *(to->last != NULL ? &to->last->next_queued : &to->first) = work;
    to->last = work;
    to->length++;
}

static cx_emu_work *take_at(queue *from, int index)
{
    cx_emu_work *before = NULL, *work = from->first;

    for (; index > 0; index--) {
        before = work;
        work = work->next_queued;
    }
    *(before != NULL ? &before->next_queued : &from->first) = work->next_queued;
    if (work->next_queued == NULL)
        from->last = before;
    from->length--;
    return work;
}

cx_emu_work *cx_emu_schedule_take_locked(void)
{
    return locked.first != NULL ? take_at(&locked, 0) : NULL;
}

/* Pieces that wait for a value come last, in turn. */
static cx_emu_work *take_youngest(void)
{
    int index = 0, found = 0;
    uint64_t youngest = 0;

    for (const cx_emu_work *each = calls.first; each != NULL; each = each->next_queued, index++)
        if (!each->again && each->sequence > youngest) {
            youngest = each->sequence;
            found = index;
        }
    return take_at(&calls, found);
}

static cx_emu_work *take_any(void)
{
    return take_at(&calls, (int)(next_random() % (uint64_t)calls.length));
}

static bool is_idle(void)
{
    return granted == NULL && calls_running + hosts_running == 0;
}

/* For schedules that run one piece at a time. */
static cx_emu_work *take_next(void)
{
    cx_emu_work *work = granted;

    if (work != NULL) {
        granted = NULL;
        return work;
    }
    if (calls.length == 0 || !is_idle())
        return NULL;
    if (current_mode == MODE_LAZY)
        return take_youngest();
    return cx_emu_work_waits() > 0 || cx_emu_shared_records_pending() ? take_any() : NULL;
}

static cx_emu_work *take_work(void)
{
    if (current_mode != MODE_THREADS)
        return take_next();
    if (calls.first != NULL && calls_running < CALLS_MAX)
        return take_at(&calls, 0);
    if (hosts.first != NULL && hosts_running < HOSTS_MAX)
        return take_at(&hosts, 0);
    return NULL;
}

/* ---- workers ---- */

/* False: nothing was to do for a while. */
static bool wait_for_work(void)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += IDLE_SECONDS;
    return cx_lock_wait_until(&cx_emu_lock, &wake, &until);
}

/* The state of the process is that of its main thread: a zombie, once that has left. */
bool cx_emu_main_has_left(void)
{
    char text[256] = "";
    FILE *file = fopen("/proc/self/stat", "r");
    const char *name_end;

    if (file == NULL)
        return false;
    if (fgets(text, sizeof text, file) == NULL)
        text[0] = '\0';
    fclose(file);
    name_end = strrchr(text, ')');
    return name_end != NULL && strncmp(name_end, ") Z", 3) == 0;
}

/* A process whose main thread has left by pthread_exit ends when all other threads have: workers
 * must not keep it. Otherwise they stay, so that no call fails for lack of a new one. */
static bool leave_idle(worker *self)
{
    if (!cx_emu_main_has_left())
        return false;
    self->leaving = true;
    worker_count--;
    pthread_detach(self->thread);
    return true;
}

static void *work_on(void *argument)
{
    worker *self = argument;
    bool waited_long = false;

    cx_access_log_driver_thread = true;
    if (cx_access_log_wants_starts())
        cx_thread_take_faults();
    cx_lock_enter(&cx_emu_lock);
    while (!self->leaving) {
        cx_emu_work *work = take_work();
        int *running;

        if (work == NULL && waited_long && leave_idle(self))
            break;
        if (work == NULL) {
            waited_long = !wait_for_work();
            continue;
        }
        waited_long = false;
        running = takes_long(work->kind) ? &hosts_running : &calls_running;
        ++*running;
        self->busy = true;
        cx_emu_work_run(work);
        self->busy = false;
        --*running;
    }
    self->used = false;
    cx_lock_leave(&cx_emu_lock);
    return NULL;
}

/* At exit, and when the library is unloaded: idle workers end. If work is queued they go on: a
 * later exit handler may join a thread that waits for it. Busy workers are left alone: the user's
 * function in them may never return. */
static void stop_workers(void)
{
    pthread_t idle[WORKERS_MAX];
    int idle_count = 0;

    if (getpid() != owner)
        return;
    cx_lock_enter(&cx_emu_lock);
    if (calls.length + hosts.length > 0) {
        cx_lock_leave(&cx_emu_lock);
        return;
    }
    for (worker *each = workers; each < workers + WORKERS_MAX; each++) {
        if (!each->used || each->leaving)
            continue;
        each->leaving = true;
        if (each->busy)
            pthread_detach(each->thread);
        else
            idle[idle_count++] = each->thread;
    }
    worker_count = 0;
    pthread_cond_broadcast(&wake);
    cx_lock_leave(&cx_emu_lock);
    int cancel = cx_cancel_hold();
    for (int i = 0; i < idle_count; i++)
        pthread_join(idle[i], NULL);
    cx_cancel_restore(cancel);
}

static worker *free_worker(void)
{
    for (worker *each = workers; each < workers + WORKERS_MAX; each++)
        if (!each->used)
            return each;
    return NULL;
}

static bool register_exit(void)
{
    if (!exit_registered) {
        owner = getpid();
        exit_registered = atexit(stop_workers) == 0;
    }
    return exit_registered;
}

static bool start_worker(void)
{
    worker *self = free_worker();
    int failed;

    if (self == NULL || !register_exit())
        return false;
    *self = (worker){.used = true};
    failed = cx_thread_start(&self->thread, NULL, work_on, self);
    if (failed) {
        self->used = false;
        return false;
    }
    worker_count++;
    return true;
}

static int smaller_of(int a, int b)
{
    return a < b ? a : b;
}

static int workers_wanted(void)
{
    if (current_mode != MODE_THREADS)
        return 1;
    return smaller_of(calls.length + calls_running, CALLS_MAX) +
           smaller_of(hosts.length + hosts_running, HOSTS_MAX);
}

static bool is_short_of_workers(void)
{
    return worker_count < workers_wanted();
}

static void wake_worker(void)
{
    if (is_short_of_workers())
        (void)start_worker();
    pthread_cond_signal(&wake);
}

bool cx_emu_schedule_complete(void)
{
    if (is_short_of_workers())
        wake_worker();
    return !is_short_of_workers();
}

bool cx_emu_schedule_open(const cx_emu_work_request *ready)
{
    int wanted = 1, before = worker_count;
    bool refused;

    /* One refusal is enough: another try would only hide it. */
    refused = !cx_emu_schedule_complete() && worker_count == before;
    if (ready != NULL && current_mode == MODE_THREADS) {
        const bool is_long = takes_long(ready->kind);
        wanted = smaller_of(calls.length + calls_running + !is_long, CALLS_MAX) +
                 smaller_of(hosts.length + hosts_running + is_long, HOSTS_MAX);
    }
    return worker_count >= wanted || (!refused && start_worker());
}

static void enqueue_work(cx_emu_work *work)
{
    if (work->kind == CX_EMU_WORK_LOCKED && current_mode != MODE_RANDOM) {
        append_work(&locked, work);
        return;
    }
    append_work(takes_long(work->kind) && current_mode == MODE_THREADS ? &hosts : &calls, work);
    wake_worker();
}

void cx_emu_schedule_ready(cx_emu_work *work)
{
    if (current_mode != MODE_LAZY || work->demanded)
        enqueue_work(work);
}

void cx_emu_schedule_wake(void)
{
    if (current_mode == MODE_RANDOM)
        wake_worker();
}

/* ---- demand ---- */

static void push_if_idle(cx_emu_work **stack, cx_emu_work *work)
{
    if (work == NULL || work->done || work->demanded)
        return;
    work->demanded = true;
    work->next_queued = *stack;
    *stack = work;
}

void cx_emu_schedule_demand(cx_emu_work *work)
{
    cx_emu_work *stack = NULL;

    if (current_mode != MODE_LAZY)
        return;
    push_if_idle(&stack, work);
    while (stack != NULL) {
        cx_emu_work *top = stack;

        stack = top->next_queued;
        if (top->unfinished == 0)
            enqueue_work(top);
        else
            for (size_t i = 0; i < top->dependency_count; i++)
                push_if_idle(&stack, top->dependencies[i].before);
    }
}

bool cx_emu_schedule_one_at_a_time(void)
{
    return current_mode != MODE_THREADS;
}

/* Any other piece may bring the value, so that all of them are demanded. */
void cx_emu_schedule_again(cx_emu_work *work)
{
    for (cx_emu_work *each = cx_emu_work_oldest(); each != NULL; each = each->younger)
        cx_emu_schedule_demand(each);
    enqueue_work(work);
}

/* ---- queries ---- */

/* A ready piece that `work` depends on; NULL if the work is already running. */
static cx_emu_work *take_needed(cx_emu_work *work)
{
    while (work->unfinished > 0) {
        size_t i = 0;

        while (work->dependencies[i].before == NULL)
            i++;
        work = work->dependencies[i].before;
    }
    if (work->demanded)
        return NULL;
    work->demanded = true;
    return work;
}

static cx_emu_work *take_for_query(cx_emu_work *work)
{
    if (current_mode == MODE_LAZY)
        return take_needed(work);
    return calls.length > 0 ? take_any() : NULL;
}

void cx_emu_schedule_step(cx_emu_work *work)
{
    cx_emu_work *next;

    (void)cx_emu_schedule_complete();
    if (current_mode == MODE_THREADS || !is_idle())
        return;
    next = take_for_query(work);
    if (next == NULL)
        return;
    if (takes_long(next->kind)) {
        granted = next;
        wake_worker();
        return;
    }
    calls_running++;
    cx_emu_work_run(next);
    calls_running--;
    wake_worker();
}
