#include "emu/schedule.h"
#include "base/cancel.h"
#include "base/log.h"
#include "base/option.h"
#include "emu/state.h"
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CALLS_MAX 4  /* pieces that move bytes at the same time */
#define HOSTS_MAX 60 /* the user's functions that run, or block, at the same time */
#define WORKERS_MAX (CALLS_MAX + HOSTS_MAX)

typedef enum mode { MODE_UNKNOWN, MODE_THREADS, MODE_LAZY, MODE_RANDOM } mode;

typedef struct queue {
    cx_emu_work *first, *last;
    int length;
} queue;

typedef struct worker {
    pthread_t thread;
    bool used; /* the thread may look at this */
    bool busy;
    bool leaving;
} worker;

static mode current_mode;
static uint64_t random_state;

static queue calls, hosts, locked;
static int calls_running, hosts_running;
static int steps_granted; /* random: queries that let one piece run */

static worker workers[WORKERS_MAX];
static int worker_count; /* without those that leave */
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static bool exit_registered;
static pid_t owner;

/* ---- the choice of a schedule ---- */

static mode parse(const char *text)
{
    static const char random[] = "random:";
    int seed;

    if (!text || !strcmp(text, "threads"))
        return MODE_THREADS;
    if (!strcmp(text, "lazy"))
        return MODE_LAZY;
    if (!strncmp(text, random, sizeof random - 1) &&
        cx_parse_int(text + sizeof random - 1, 0, INT_MAX, &seed)) {
        random_state = (uint64_t)seed;
        return MODE_RANDOM;
    }
    cx_log(CTXRT_LOG_ERROR,
           "CTXRT_EMU_SCHEDULE=%s is none of threads, lazy, random:SEED; using threads", text);
    return MODE_THREADS;
}

static mode get_mode(void)
{
    if (current_mode == MODE_UNKNOWN)
        current_mode = parse(cx_option("CTXRT_EMU_SCHEDULE"));
    return current_mode;
}

/* splitmix64: any seed will do, 0 too. */
static uint64_t next_random(void)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

bool cx_emu_schedule_at_once(const cx_emu_work_request *request)
{
    if (request->kind == CX_EMU_WORK_HOST)
        return false;
    switch (get_mode()) {
    case MODE_LAZY:
        return request->waited;
    case MODE_RANDOM:
        return false;
    default:
        return request->waited || request->cost_bytes <= CX_EMU_TINY_BYTES;
    }
}

/* ---- queues ---- */

static void append(queue *to, cx_emu_work *work)
{
    work->next_queued = NULL;
    *(to->last ? &to->last->next_queued : &to->first) = work;
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
    *(before ? &before->next_queued : &from->first) = work->next_queued;
    if (!work->next_queued)
        from->last = before;
    from->length--;
    return work;
}

cx_emu_work *cx_emu_schedule_take_locked(void)
{
    return locked.first ? take_at(&locked, 0) : NULL;
}

static cx_emu_work *take_random(void)
{
    bool granted = steps_granted > 0;

    if (calls.length == 0 || calls_running + hosts_running > 0)
        return NULL;
    if (!granted && cx_emu_work_waits() == 0)
        return NULL;
    if (granted)
        steps_granted--;
    return take_at(&calls, (int)(next_random() % (uint64_t)calls.length));
}

static cx_emu_work *take(void)
{
    if (get_mode() == MODE_RANDOM)
        return take_random();
    if (calls.first && calls_running < CALLS_MAX)
        return take_at(&calls, 0);
    if (hosts.first && hosts_running < HOSTS_MAX)
        return take_at(&hosts, 0);
    return NULL;
}

/* ---- workers ---- */

static void *work_on(void *argument)
{
    worker *self = argument;

    pthread_mutex_lock(&cx_emu_lock);
    while (!self->leaving) {
        cx_emu_work *work = take();
        int *running;

        if (!work) {
            pthread_cond_wait(&wake, &cx_emu_lock);
            continue;
        }
        running = work->kind == CX_EMU_WORK_HOST ? &hosts_running : &calls_running;
        ++*running;
        self->busy = true;
        cx_emu_work_run(work);
        self->busy = false;
        --*running;
    }
    self->used = false;
    pthread_mutex_unlock(&cx_emu_lock);
    return NULL;
}

/* At exit, and when the library is unloaded: idle workers end, if there is nothing left for them to do: a thread
 * may be waiting for it that an exit handler joins. Busy ones are left to themselves; the user's function in them
 * may never return. */
static void stop(void)
{
    pthread_t idle[WORKERS_MAX];
    int idle_count = 0;

    if (getpid() != owner)
        return;
    pthread_mutex_lock(&cx_emu_lock);
    if (calls.length + hosts.length > 0) {
        pthread_mutex_unlock(&cx_emu_lock);
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
    pthread_mutex_unlock(&cx_emu_lock);
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
        exit_registered = atexit(stop) == 0;
    }
    return exit_registered;
}

static bool start_worker(void)
{
    worker *self = free_worker();
    sigset_t all, before;
    int failed;

    if (!self || !register_exit())
        return false;
    *self = (worker){.used = true};
    /* The user's signal handlers run on the user's threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&self->thread, NULL, work_on, self);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) {
        self->used = false;
        cx_log(CTXRT_LOG_ERROR, "no thread for the embedded driver's streams: %s",
               strerror(failed));
        return false;
    }
    worker_count++;
    return true;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int workers_wanted(void)
{
    if (get_mode() == MODE_RANDOM)
        return 1;
    return least(calls.length + calls_running, CALLS_MAX) +
           least(hosts.length + hosts_running, HOSTS_MAX);
}

bool cx_emu_schedule_open(void)
{
    return worker_count > 0 || start_worker();
}

static void enqueue(cx_emu_work *work)
{
    if (get_mode() == MODE_RANDOM) {
        append(&calls, work);
    } else if (work->kind == CX_EMU_WORK_LOCKED) {
        append(&locked, work);
        return;
    } else {
        append(work->kind == CX_EMU_WORK_HOST ? &hosts : &calls, work);
    }
    if (worker_count < workers_wanted())
        start_worker();
    pthread_cond_signal(&wake);
}

void cx_emu_schedule_ready(cx_emu_work *work)
{
    if (get_mode() != MODE_LAZY || work->demanded)
        enqueue(work);
}

void cx_emu_schedule_wake(bool query)
{
    if (get_mode() != MODE_RANDOM)
        return;
    if (query)
        steps_granted = 1;
    pthread_cond_signal(&wake);
}

/* ---- demand ---- */

static void push_if_idle(cx_emu_work **stack, cx_emu_work *work)
{
    if (!work || work->done || work->demanded)
        return;
    work->demanded = true;
    work->next_queued = *stack;
    *stack = work;
}

void cx_emu_schedule_demand(cx_emu_work *work)
{
    cx_emu_work *stack = NULL;

    if (get_mode() != MODE_LAZY)
        return;
    push_if_idle(&stack, work);
    while (stack) {
        cx_emu_work *top = stack;

        stack = top->next_queued;
        if (top->unfinished == 0)
            enqueue(top);
        else
            for (size_t i = 0; i < top->dependency_count; i++)
                push_if_idle(&stack, top->dependencies[i].before);
    }
}
