/*
 * Waits with a time limit. No driver has one: a thread queries the work, and lets time pass before
 * it queries again.
 */
#ifndef CX_WORK_TIMED_WAIT_H
#define CX_WORK_TIMED_WAIT_H

#include <ctxrt/status.h>
#include <stdbool.h>
#include <stdint.h>

/* Calls `look` with the object until it fails, tells that the work is done, or the time is over:
 * then *out_done is false. Outside of sections. */
ctxrt_status cx_timed_wait(uint64_t timeout_ms,
                           ctxrt_status (*look)(const void *object, bool *out_done),
                           const void *object, bool *out_done);

#endif
