/*
 * Scenarios made up at random, legal and illegal steps of several threads, with what the model says
 * of each.
 */
#ifndef CX_MODEL_RANDOM_H
#define CX_MODEL_RANDOM_H

#include "model/model.h"

typedef struct cx_random_options {
    uint64_t seed;
    int steps;
    int devices;
    /* host functions that hold streams up: not for schedules that run one piece at a time */
    bool gates;
} cx_random_options;

/* The same for the same options, everywhere. NULL: out of memory. Adds to *coverage unless that is
 * NULL. */
cx_scenario *cx_random_scenario(const cx_random_options *options, cx_coverage *coverage);

/*
 * Tells the steps of a scenario again that are kept, by index of their line, with what the model
 * says of them now; steps of which it can say nothing any more are left out. `keep` NULL: all.
 * NULL: out of memory.
 */
cx_scenario *cx_model_retell(const cx_scenario *from, const bool *keep, cx_coverage *coverage);

/*
 * The shortest scenario that it finds by leaving steps out of one that fails. `fails` says whether
 * one does.
 * The caller owns what is returned, and still owns `from`. NULL: out of memory.
 */
cx_scenario *cx_model_shrink(const cx_scenario *from,
                             bool (*fails)(const cx_scenario *scenario, void *argument),
                             void *argument);

#endif
