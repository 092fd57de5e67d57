/* Operators for tests: each counts its calls and its end, and leaves its number in a list when its
 * turn comes. */
#ifndef CX_TEST_OPERATORS_H
#define CX_TEST_OPERATORS_H

#include "place.h"

enum { TURNS_MAX = 64 };

typedef struct turns {
    pthread_mutex_t lock;
    int numbers[TURNS_MAX];
    int count;
} turns;

typedef struct step {
    int number;
    turns *order;
    atomic_int calls, ends;
} step;

static inline void turns_take(turns *self, int number)
{
    pthread_mutex_lock(&self->lock);
    if (self->count < TURNS_MAX)
        self->numbers[self->count++] = number;
    pthread_mutex_unlock(&self->lock);
}

static inline void step_takes_its_turn(void *argument)
{
    const step *self = argument;
    turns_take(self->order, self->number);
}

/* Can be captured: takes its turn in the stream. */
static inline ctxrt_status step_submit(void *argument)
{
    step *self = argument;
    atomic_fetch_add(&self->calls, 1);
    return ctxrt_stream_add_host_function(NULL, step_takes_its_turn, self);
}

/* Cannot: waits for what came before, and takes its turn on the host. */
static inline ctxrt_status step_wait_and_do(void *argument)
{
    step *self = argument;
    atomic_fetch_add(&self->calls, 1);
    ctxrt_status status = ctxrt_stream_synchronize(NULL);
    if (status == CTXRT_SUCCESS)
        step_takes_its_turn(self);
    return status;
}

static inline void step_end(void *argument)
{
    step *self = argument;
    atomic_fetch_add(&self->ends, 1);
}

static inline ctxrt_operator operator_of(step *self, ctxrt_status (*run)(void *), int capturable)
{
    return (ctxrt_operator){sizeof(ctxrt_operator), "step", run, step_end, self, capturable};
}

static inline void submit_captured(step *self)
{
    ctxrt_operator operation = operator_of(self, step_submit, 1);
    cx_assert_ok(ctxrt_operator_submit(&operation));
}

static inline void submit_called(step *self)
{
    ctxrt_operator operation = operator_of(self, step_wait_and_do, 0);
    cx_assert_ok(ctxrt_operator_submit(&operation));
}

static inline void submit_plain(ctxrt_status (*run)(void *), void *user_data, int capturable)
{
    const ctxrt_operator operation = {sizeof operation, "plain", run, NULL, user_data, capturable};
    cx_assert_ok(ctxrt_operator_submit(&operation));
}

static inline ctxrt_graph *stop_recording(void)
{
    ctxrt_graph *graph;
    cx_assert_ok(ctxrt_recording_stop(&graph));
    return graph;
}

static inline int is_recording(void)
{
    int active = -1;
    cx_assert_ok(ctxrt_recording_active(&active));
    return active;
}

static inline size_t bytes_in_use(void)
{
    ctxrt_allocator_figures figures;
    cx_assert_ok(ctxrt_allocator_statistics(NULL, &figures));
    return figures.current_bytes;
}

static inline void assert_says(const char *wanted)
{
    ck_assert_msg(strstr(ctxrt_last_error()->message, wanted) != NULL, "\"%s\" is not in: %s",
                  wanted, ctxrt_last_error()->message);
}

#endif
