/*
 * Waits with a time limit. No driver has one: a thread queries the work, and lets time pass before
 * it queries again.
 */
#ifndef CX_WORK_TIMED_WAIT_H
#define CX_WORK_TIMED_WAIT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cx_timed_wait {
    uint64_t end_ns; /* of the monotonic clock; UINT64_MAX: never */
    unsigned int rounds;
    int cancel; /* the sleep is a cancellation point: held off from start to end */
} cx_timed_wait;

cx_timed_wait cx_timed_wait_start(uint64_t timeout_ms);
void cx_timed_wait_end(const cx_timed_wait *self);

/* Between two queries, outside of a section. False: the time was over already. */
bool cx_timed_wait_pause(cx_timed_wait *self);

#endif
