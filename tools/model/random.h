/*
 * Random scenarios: legal and illegal steps of several threads, with the model's prediction of
 * each.
 */
#ifndef CX_MODEL_RANDOM_H
#define CX_MODEL_RANDOM_H

#include "model/model.h"

typedef struct cx_random_options {
    uint64_t seed;
    int steps;
    int devices;
    /* host functions that hold streams up: not for schedules that run one work item at a time */
    bool gates;
} cx_random_options;

/* The same options give the same scenario everywhere. NULL: out of memory. Adds to *coverage unless
 * that is NULL. */
cx_scenario *cx_random_scenario(const cx_random_options *options, cx_coverage *coverage);

/*
 * Predicts a scenario anew, with the steps in `keep`, by index of their line; NULL: all. Steps that
 * the model no longer predicts are left out. NULL: out of memory.
 */
cx_scenario *cx_model_retell(const cx_scenario *from, const bool *keep, cx_coverage *coverage);

/*
 * The shortest failing scenario that it finds by leaving out steps of a failing one. `fails` tells
 * whether one fails. The caller owns the result, and still owns `from`. NULL: out of memory.
 */
cx_scenario *cx_model_shrink(const cx_scenario *from,
                             bool (*fails)(const cx_scenario *scenario, void *argument),
                             void *argument);

#endif
