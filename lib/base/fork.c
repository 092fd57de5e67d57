#include "base/fork.h"

#include <pthread.h>
#include <stddef.h>

static cx_fork_hook *hooks; /* by rank */
static bool watched;

void cx_fork_watch(cx_fork_hook *hook)
{
    cx_fork_hook **link = &hooks;
    while (*link != NULL && (*link)->rank < hook->rank)
        link = &(*link)->next;
    hook->next = *link;
    *link = hook;
}

static void hold_locks(void)
{
    for (const cx_fork_hook *hook = hooks; hook != NULL; hook = hook->next)
        if (hook->lock != NULL)
            cx_lock_enter(hook->lock);
}

static void release_locks(void)
{
    for (const cx_fork_hook *hook = hooks; hook != NULL; hook = hook->next)
        if (hook->lock != NULL)
            cx_lock_leave(hook->lock);
}

static void begin_in_child(void)
{
    for (const cx_fork_hook *hook = hooks; hook != NULL; hook = hook->next)
        if (hook->in_child != NULL)
            hook->in_child();
    release_locks();
}

__attribute__((constructor)) static void watch_forks(void)
{
    watched = pthread_atfork(hold_locks, release_locks, begin_in_child) == 0;
}

bool cx_forks_are_watched(void)
{
    return watched;
}
