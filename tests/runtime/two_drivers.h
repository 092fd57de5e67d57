/*
 * A thread's frames over two drivers, the embedded one for the CPU and the stand-in libcuda for the
 * GPUs, and a model of them that knows one rule: each driver's stack is the subsequence of our
 * frames that are its.
 */
#ifndef CX_TEST_TWO_DRIVERS_H
#define CX_TEST_TWO_DRIVERS_H

#include "driver/driver.h"
#include "fixture.h"
#include "test.h"

#include <stdbool.h>

enum { ON_CPU, ON_GPU, ON_OTHER_GPU, PLACES };
enum { TWO_DRIVERS = 2, ENTRIES_MAX = 24 };

typedef enum step_kind { STEP_SET, STEP_PUSH, STEP_SCOPE, STEP_POP, STEP_LEAVE } step_kind;

typedef struct step {
    step_kind kind;
    int place; /* of set, push and scope */
} step;

typedef struct two_frame {
    int place;
    ctxrt_frame_origin origin;
} two_frame;

typedef struct two_stacks {
    two_frame frames[ENTRIES_MAX];
    int depth;
    ctxrt_scope scopes[ENTRIES_MAX]; /* open ones, innermost last */
    int scope_count;
} two_stacks;

/* Starts the runtime with the two drivers. False, with the reason of the second, if it could not be
 * had. */
bool two_drivers_start(ctxrt_foreign_policy foreign, const char **out_reason);

/* Retains the places' primaries, whose natives are then known, and gives them back. */
void two_drivers_hold(void);
void two_drivers_let_go(void);

ctxrt_device two_drivers_device(int place);
int two_drivers_of(int place);
struct CUctx_st *two_drivers_native(int place);

/* Makes the call. */
ctxrt_status two_stacks_call(two_stacks *self, step next);

/* What the call must answer, and what comes of it in the model. */
ctxrt_status two_stacks_model(two_stacks *self, step next);

/* NULL, or how the thread's frames and the two drivers' stacks differ from the model. Makes no call
 * of ctxrt that would settle anything. */
const char *two_stacks_difference(const two_stacks *self);

/* NULL, or how what ctxrt says is current differs from the model. */
const char *two_stacks_wrong_device(const two_stacks *self);

/* Takes everything off again, looking after each step. NULL, or the difference. */
const char *two_stacks_unwind(two_stacks *self);

/* A driver's whole stack, from its bottom; it is as it was afterwards. */
int two_drivers_read(int driver, struct CUctx_st *out_entries[ENTRIES_MAX]);

#endif
