#include "ptx/crew.h"

#include "base/clock.h"
#include "base/thread.h"

/* A launch that takes less needs no help: starting a thread costs a part of that. */
#define PATIENCE_NS 200000

static _Atomic unsigned launches; /* that run */

/* The threads that the launch may have, its own one too. */
static unsigned share_of(const cx_ptx_crew *crew)
{
    unsigned running = atomic_load_explicit(&launches, memory_order_relaxed);
    unsigned share = running > 0 ? crew->cores / running : crew->cores;

    return share > 1 ? share : 1;
}

void cx_ptx_crew_begin(cx_ptx_crew *crew, const cx_ptx_grid *grid, uint64_t total, unsigned cores)
{
    if (cores > 1)
        crew->grid = *grid;
    crew->total = total;
    crew->cores = cores;
    crew->look_ns = cores > 1 ? cx_clock_ns() + PATIENCE_NS : 0;
    crew->outcome = CX_PTX_DONE;
    cx_lock_init(&crew->lock, CX_RANK_CREW);
    for (unsigned i = 0; i + 1 < cores; i++)
        crew->helpers[i] = (cx_ptx_helper){.crew = crew, .rank = i + 1, .joined = true};
    atomic_fetch_add(&launches, 1);
}

void cx_ptx_crew_end(cx_ptx_crew *crew)
{
    for (unsigned i = 0; i + 1 < crew->cores; i++)
        if (!crew->helpers[i].joined)
            pthread_join(crew->helpers[i].thread, NULL);
    atomic_fetch_sub(&launches, 1);
    cx_lock_destroy(&crew->lock);
}

bool cx_ptx_crew_take(cx_ptx_crew *crew, uint64_t *out_cluster)
{
    if (atomic_load(&crew->failed))
        return false;
    *out_cluster = atomic_fetch_add(&crew->next, 1);
    return *out_cluster < crew->total;
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

void cx_ptx_crew_look(cx_ptx_crew *crew)
{
    uint64_t now;
    unsigned share;

    if (crew->cores < 2 || atomic_load(&crew->next) >= crew->total)
        return;
    now = cx_clock_ns();
    if (now < crew->look_ns)
        return;
    crew->look_ns = now + PATIENCE_NS;
    share = share_of(crew);
    for (unsigned rank = 1; rank < share; rank++)
        start_helper(&crew->helpers[rank - 1]);
}

bool cx_ptx_crew_is_too_large(const cx_ptx_crew *crew, unsigned rank)
{
    return rank >= share_of(crew);
}

void cx_ptx_crew_fail(cx_ptx_crew *crew, uint64_t cluster, cx_ptx_outcome outcome,
                      const cx_ptx_fault *fault)
{
    cx_lock_enter(&crew->lock);
    if (crew->outcome == CX_PTX_DONE || cluster < crew->failed_cluster) {
        crew->outcome = outcome;
        crew->failed_cluster = cluster;
        crew->fault = *fault;
    }
    cx_lock_leave(&crew->lock);
    atomic_store(&crew->failed, true);
}
