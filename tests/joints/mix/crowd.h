/* A run of the random mix: threads that do operations at random until they have done enough. */
#ifndef CX_JOINTS_CROWD_H
#define CX_JOINTS_CROWD_H

#include "world.h"

typedef struct run {
    uint64_t seed;
    int threads;
    long steps;     /* of each thread; 0: until `until_s` */
    double until_s; /* of CLOCK_MONOTONIC */
    bool faults;
    bool apart;   /* of the world */
    bool libcuda; /* that of CTXRT_LIBCUDA, not the embedded driver */
    void (*beside)(actor *self); /* one more operation, or NULL */
} run;

double now_s(void);

/* Starts the runtime, runs, ends everything and shuts down. False: something was wrong, and has
 * been printed. */
bool crowd_run(const run *how);

#endif
