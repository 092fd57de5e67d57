/*
 * The threads of the host that run a grid. The launching thread begins; if the grid lasts, others
 * help it, each with a cluster of blocks of its own. All launches of the process share the cores.
 */
#ifndef CX_PTX_WORKER_THREADS_H
#define CX_PTX_WORKER_THREADS_H

#include "base/lock.h"
#include "ptx/grid.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct cx_ptx_helper {
    struct cx_ptx_workers *workers;
    pthread_t thread;
    unsigned rank;     /* from 1: it leaves when the launch may have no more threads than that */
    bool joined;       /* it was never started, or is joined; the launching thread's */
    atomic_bool ended; /* written by the helper, at its end */
} cx_ptx_helper;

typedef struct cx_ptx_workers {
    cx_ptx_grid grid;        /* as it was before the first block; helpers copy it */
    uint64_t total;          /* clusters */
    unsigned cores;
    uint64_t look_ns;      /* when the launching thread looks for help again */
    _Atomic uint64_t next; /* the next cluster that nobody has taken */
    atomic_bool failed;    /* nobody takes one any more */

    cx_lock lock;           /* of what follows; held with no other lock */
    cx_ptx_outcome outcome; /* of the failed cluster with the lowest number */
    uint64_t failed_cluster;
    cx_ptx_fault fault;

    cx_ptx_helper helpers[]; /* cores - 1 */
} cx_ptx_workers;

/* Begins a launch by the calling thread; the workers is zeroes, with room for cores - 1 helpers. */
void cx_ptx_workers_begin(cx_ptx_workers *workers, const cx_ptx_grid *grid, uint64_t total,
                          unsigned cores);

/* Ends it: all helpers have left. */
void cx_ptx_workers_end(cx_ptx_workers *workers);

/* Takes the next cluster. False: there is none left, or another one has failed. */
bool cx_ptx_workers_take(cx_ptx_workers *workers, uint64_t *out_cluster);

/* Starts helpers if the launch has lasted for a while and clusters are left; by its thread only. */
void cx_ptx_workers_look(cx_ptx_workers *workers);

/* True if a helper of that rank is one too many, since other launches have begun. */
bool cx_ptx_workers_is_too_large(const cx_ptx_workers *workers, unsigned rank);

void cx_ptx_workers_fail(cx_ptx_workers *workers, uint64_t cluster, cx_ptx_outcome outcome,
                         const cx_ptx_fault *fault);

/* Runs clusters until none is left; run.c. */
void cx_ptx_help(cx_ptx_helper *helper);

#endif
