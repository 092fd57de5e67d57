#include "base/lock.h"

#include <stddef.h>

static const char *const names[CX_LOCK_RANKS] = {
#define CX_LOCK_ROW(rank, name) [CX_RANK_##rank] = name,
#include "base/locks.def"
};

const char *cx_lock_name(cx_lock_rank rank)
{
    return names[rank];
}

bool cx_lock_init_once(cx_lock *lock, cx_lock_rank rank)
{
    pthread_mutexattr_t attributes;
    if (pthread_mutexattr_init(&attributes) != 0)
        return false;
    cx_lock_init(lock, rank);
    bool made = pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK) == 0 &&
                pthread_mutex_init(&lock->mutex, &attributes) == 0;
    pthread_mutexattr_destroy(&attributes);
    return made;
}

#ifdef CX_LOCKS_CHECKED

#include <stdio.h>
#include <stdlib.h>

enum { HELD_MOST = 16 };

static _Thread_local const cx_lock *held[HELD_MOST]; /* in the order in which they were taken */
static _Thread_local unsigned held_count;

static _Noreturn void stop(const char *does, const cx_lock *lock, const cx_lock *other)
{
    fprintf(stderr, "ctxrt: a thread %s \"%s\"", does, names[lock->rank]);
    if (other != NULL)
        fprintf(stderr, " while it holds \"%s\": lib/base/locks.def has the order",
                names[other->rank]);
    fprintf(stderr, "\n");
    abort();
}

bool cx_lock_is_held(const cx_lock *lock)
{
    for (unsigned i = 0; i < held_count; i++)
        if (held[i] == lock)
            return true;
    return false;
}

void cx_lock_expect(const cx_lock *lock)
{
    if (lock->recursive && cx_lock_is_held(lock))
        return;
    for (unsigned i = 0; i < held_count; i++)
        if (held[i]->rank >= lock->rank)
            stop("takes", lock, held[i]);
}

void cx_lock_note(const cx_lock *lock)
{
    if (held_count == HELD_MOST)
        stop("holds too many locks to take", lock, NULL);
    held[held_count++] = lock;
}

void cx_lock_forget(const cx_lock *lock)
{
    unsigned at = held_count;
    while (at > 0 && held[at - 1] != lock)
        at--;
    if (at == 0)
        stop("leaves without having it", lock, NULL);
    for (held_count--; at <= held_count; at++)
        held[at - 1] = held[at];
}

void cx_lock_expect_latest(const cx_lock *lock)
{
    if (!cx_lock_is_held(lock))
        stop("waits without having it, for", lock, NULL);
    for (unsigned i = 0; i < held_count; i++)
        if (held[i] != lock && held[i]->rank >= lock->rank)
            stop("waits for", lock, held[i]);
}

#endif
