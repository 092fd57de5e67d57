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

enum { HELD_MOST = 32 };

typedef struct held_lock {
    const void *key;
    cx_lock_rank rank;
} held_lock;

static _Thread_local held_lock held[HELD_MOST]; /* in the order in which they were taken */
static _Thread_local int held_count;

/* The program's own handlers may take locks, so none is run. */
static _Noreturn void stop(const char *what, const char *name, const char *other)
{
    fprintf(stderr, "ctxrt: a thread %s \"%s\"%s%s%s\n", what, name,
            other != NULL ? " while it holds \"" : "", other != NULL ? other : "",
            other != NULL ? "\": docs/architecture.md has the lock order" : "");
    abort();
}

bool cx_lock_is_held(const void *key)
{
    for (int i = 0; i < held_count; i++)
        if (held[i].key == key)
            return true;
    return false;
}

void cx_lock_expect(const void *key, cx_lock_rank rank)
{
    for (int i = 0; i < held_count; i++)
        if (held[i].key == key || held[i].rank >= rank)
            stop("takes", names[rank], names[held[i].rank]);
}

void cx_lock_note(const void *key, cx_lock_rank rank)
{
    if (held_count == HELD_MOST)
        stop("holds too many locks and takes", names[rank], NULL);
    held[held_count++] = (held_lock){key, rank};
}

void cx_lock_forget(const void *key)
{
    int at = held_count - 1;
    while (at >= 0 && held[at].key != key)
        at--;
    if (at < 0)
        stop("leaves a lock that it does not hold:", "?", NULL);
    held_count--;
    for (; at < held_count; at++)
        held[at] = held[at + 1];
}

void cx_lock_expect_latest(const void *key)
{
    const held_lock *own = NULL;
    for (int i = 0; i < held_count; i++)
        if (held[i].key == key)
            own = &held[i];
    if (own == NULL)
        stop("waits without the lock of its condition:", "?", NULL);
    for (int i = 0; i < held_count; i++)
        if (&held[i] != own && held[i].rank >= own->rank)
            stop("waits for", names[own->rank], names[held[i].rank]);
}

#endif
