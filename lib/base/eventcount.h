/*
 * An event count: threads sleep until an atomic variable, which other threads change without a
 * lock, is what they wait for.
 *
 * Whoever changes the variable does so by a read-modify-write and then calls cx_eventcount_wake,
 * which costs a load while no thread sleeps. All of it is sequentially consistent: either the
 * sleeper sees the change, or the other thread sees the sleeper.
 */
#ifndef CX_BASE_EVENTCOUNT_H
#define CX_BASE_EVENTCOUNT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct cx_eventcount {
    pthread_mutex_t lock; /* "event count": for waiting only; innermost */
    pthread_cond_t changed;
    _Atomic int sleepers;
} cx_eventcount;

#define CX_EVENTCOUNT_INIT {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0}

/* Sleeps until `is_so(object)`, which only looks. Holds off cancellation meanwhile. */
void cx_eventcount_wait(cx_eventcount *self, bool (*is_so)(const void *object),
                        const void *object);

__attribute__((cold)) void cx_eventcount_wake_slowly(cx_eventcount *self);

/* After every change that a thread may wait for. */
static inline void cx_eventcount_wake(cx_eventcount *self)
{
    if (__builtin_expect(atomic_load(&self->sleepers) != 0, 0))
        cx_eventcount_wake_slowly(self);
}

#endif
