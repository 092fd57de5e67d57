#include "layer/trace/chunks.h"

#include "base/cancel.h"
#include "base/fork.h"
#include "base/lock.h"
#include "base/thread.h"
#include "layer/process_file.h"

#include <pthread.h>
#include <time.h>

enum { READY_MOST = 4, FULL_MOST = 64, IDLE_SECONDS = 1 };

typedef struct list {
    cx_trace_chunk *all[FULL_MOST];
    int count;
} list;

/* "process file" guards all of this. */
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static list ready, full;
static bool works;   /* there is a thread */
static bool refused; /* there can be none, or no room */

/* ---- the thread ---- */

/* It ends when nothing was to do for a while: a process whose main thread has ended goes on until
 * all threads have. */
static bool wait_for_work(void)
{
    struct timespec until;
    bool waits = true;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += IDLE_SECONDS;
    while (waits && full.count == 0 && (ready.count >= READY_MOST || refused))
        waits = cx_lock_wait_until(&cx_process_file_lock, &wake, &until);
    return waits;
}

static void unmap_full(void)
{
    cx_trace_chunk *chunk = full.all[--full.count];
    cx_lock_leave(&cx_process_file_lock);
    cx_trace_file_unmap(chunk);
    cx_lock_enter(&cx_process_file_lock);
}

static void map_ready(void)
{
    cx_lock_leave(&cx_process_file_lock);
    cx_trace_chunk *chunk = cx_trace_file_map();
    cx_lock_enter(&cx_process_file_lock);
    if (chunk != NULL)
        ready.all[ready.count++] = chunk;
    else
        refused = true;
}

static void *work(void *argument)
{
    (void)pthread_setname_np(pthread_self(), "ctxrt-trace");
    cx_lock_enter(&cx_process_file_lock);
    while (wait_for_work()) {
        if (full.count > 0)
            unmap_full();
        else
            map_ready();
    }
    works = false;
    cx_lock_leave(&cx_process_file_lock);
    return argument;
}

/* With the lock. */
static void wake_thread(void)
{
    pthread_t thread;
    if (works) {
        pthread_cond_signal(&wake);
        return;
    }
    if (refused)
        return;
    works = cx_thread_start(&thread, NULL, work, NULL) == 0;
    refused = !works;
    if (works)
        (void)pthread_detach(thread);
}

/* ---- forks ---- */

/* The chunks are the parent's, and so was the thread. */
static void begin_in_child(void)
{
    while (ready.count > 0)
        cx_trace_file_unmap(ready.all[--ready.count]);
    while (full.count > 0)
        cx_trace_file_unmap(full.all[--full.count]);
    works = refused = false;
    wake = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
}

CX_FORK_CONSTRUCTOR static void watch_forks(void)
{
    static cx_fork_hook hook = {.rank = CX_RANK_PROCESS_FILE, .in_child = begin_in_child};
    cx_fork_watch(&hook);
}

/* ---- the program's threads ---- */

cx_trace_chunk *cx_trace_chunk_take(void)
{
    int cancel = cx_cancel_hold();
    cx_lock_enter(&cx_process_file_lock);
    cx_trace_chunk *chunk = ready.count > 0 ? ready.all[--ready.count] : NULL;
    wake_thread();
    cx_lock_leave(&cx_process_file_lock);
    if (chunk == NULL)
        chunk = cx_trace_file_map();
    cx_cancel_restore(cancel);
    return chunk;
}

void cx_trace_chunk_leave(cx_trace_chunk *chunk)
{
    cx_lock_enter(&cx_process_file_lock);
    bool kept = works && full.count < FULL_MOST;
    if (kept)
        full.all[full.count++] = chunk;
    cx_lock_leave(&cx_process_file_lock);
    if (!kept)
        cx_trace_file_unmap(chunk);
}
