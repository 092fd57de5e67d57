#include "ptx/worker_threads.h"

#include "base/clock.h"
#include "base/thread.h"

/* A launch that takes less needs no help: starting a thread costs a part of that. */
#define PATIENCE_NS 200000

static _Atomic unsigned launches; /* that run */

/* The threads that the launch may have, its own one too. */
static unsigned share_of(const cx_ptx_workers *workers)
{
    unsigned running = atomic_load_explicit(&launches, memory_order_relaxed);
    unsigned share = running > 0 ? workers->cores / running : workers->cores;

    return share > 1 ? share : 1;
}

void cx_ptx_workers_begin(cx_ptx_workers *workers, const cx_ptx_grid *grid, uint64_t total,
                          unsigned cores)
{
    if (cores > 1)
        workers->grid = *grid;
    workers->total = total;
    workers->cores = cores;
    workers->look_ns = cores > 1 ? cx_clock_ns() + PATIENCE_NS : 0;
    workers->outcome = CX_PTX_DONE;
    cx_lock_init(&workers->lock, CX_RANK_WORKER_THREADS);
    for (unsigned i = 0; i + 1 < cores; i++)
        workers->helpers[i] = (cx_ptx_helper){.workers = workers, .rank = i + 1, .joined = true};
    atomic_fetch_add(&launches, 1);
}

void cx_ptx_workers_end(cx_ptx_workers *workers)
{
    for (unsigned i = 0; i + 1 < workers->cores; i++)
        if (!workers->helpers[i].joined)
            pthread_join(workers->helpers[i].thread, NULL);
    atomic_fetch_sub(&launches, 1);
    cx_lock_destroy(&workers->lock);
}

bool cx_ptx_workers_take(cx_ptx_workers *workers, uint64_t *out_cluster)
{
    if (atomic_load(&workers->failed))
        return false;
    *out_cluster = atomic_fetch_add(&workers->next, 1);
    return *out_cluster < workers->total;
}

static void *run_helper(void *argument)
{
    cx_ptx_helper *helper = argument;

    cx_ptx_help(helper);
    atomic_store(&helper->ended, true);
    return NULL;
}

static void start_helper(cx_ptx_helper *helper)
{
    if (!helper->joined && atomic_load(&helper->ended)) {
        pthread_join(helper->thread, NULL);
        helper->joined = true;
    }
    if (!helper->joined)
        return;
    atomic_store(&helper->ended, false);
    /* Without it, the others do its share. */
    helper->joined = cx_thread_start(&helper->thread, NULL, run_helper, helper) != 0;
}

void cx_ptx_workers_look(cx_ptx_workers *workers)
{
    uint64_t now;
    unsigned share;

    if (workers->cores < 2 || atomic_load(&workers->next) >= workers->total)
        return;
    now = cx_clock_ns();
    if (now < workers->look_ns)
        return;
    workers->look_ns = now + PATIENCE_NS;
    share = share_of(workers);
    for (unsigned rank = 1; rank < share; rank++)
        start_helper(&workers->helpers[rank - 1]);
}

bool cx_ptx_workers_is_too_large(const cx_ptx_workers *workers, unsigned rank)
{
    return rank >= share_of(workers);
}

void cx_ptx_workers_fail(cx_ptx_workers *workers, uint64_t cluster, cx_ptx_outcome outcome,
                         const cx_ptx_fault *fault)
{
    cx_lock_enter(&workers->lock);
    if (workers->outcome == CX_PTX_DONE || cluster < workers->failed_cluster) {
        workers->outcome = outcome;
        workers->failed_cluster = cluster;
        workers->fault = *fault;
    }
    cx_lock_leave(&workers->lock);
    atomic_store(&workers->failed, true);
}
