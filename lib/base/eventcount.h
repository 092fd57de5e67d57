/*
 * An event count: threads sleep until an atomic variable, which other threads change without a
 * lock, is what they wait for.
 *
 * A thread changes the variable, sequentially consistent, and then calls cx_eventcount_wake, which
 * costs one load while no thread sleeps. A sleeper first counts itself in `sleepers` and then looks
 * at the variable. All four steps are sequentially consistent, so either the sleeper sees the
 * change, or the changing thread sees the sleeper and wakes it under the lock. A thread that
 * changes the variable by a weaker store calls cx_eventcount_wake_slowly in any case.
 */
#ifndef CX_BASE_EVENTCOUNT_H
#define CX_BASE_EVENTCOUNT_H

#include "base/lock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct cx_eventcount {
    cx_lock lock; /* "event count": for waiting only; innermost */
    pthread_cond_t changed;
    _Atomic int sleepers;
} cx_eventcount;

#define CX_EVENTCOUNT_INIT {CX_LOCK_INIT(EVENT_COUNT), PTHREAD_COND_INITIALIZER, 0}

/* Sleeps until `is_so(object)` is true; it must only look. Holds off cancellation meanwhile. */
void cx_eventcount_wait(cx_eventcount *self, bool (*is_so)(const void *object),
                        const void *object);

__attribute__((cold)) void cx_eventcount_wake_slowly(cx_eventcount *self);

/* Call after every change that a thread may wait for. */
static inline void cx_eventcount_wake(cx_eventcount *self)
{
    if (__builtin_expect(atomic_load(&self->sleepers) != 0, 0))
        cx_eventcount_wake_slowly(self);
}

#endif
