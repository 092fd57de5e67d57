/*
 * Forks. A child has the thread that forked and no other, so it finds a lock that another thread
 * held locked for ever, and what that one guards half changed. So a fork takes the locks whose
 * contents the child needs. It takes them by their ranks, whatever the order in which libraries are
 * loaded and layers are put: one handler does that for all rooms.
 *
 * Another copy of this code may be in the process, with a handler of its own: an interposer and the
 * stand-in behind it, or libctxrt on a stand-in. No order holds between the two. So a lock that a
 * thread holds while it calls a driver is not among these: the child makes it anew.
 */
#ifndef CX_BASE_FORK_H
#define CX_BASE_FORK_H

#include "base/lock.h"

#include <stdbool.h>

typedef struct cx_fork_hook {
    cx_lock_rank rank;
    cx_lock *lock;          /* held across the fork; NULL: none */
    void (*in_child)(void); /* called in the child while the locks are held; NULL: nothing to do */
    struct cx_fork_hook *next;
} cx_fork_hook;

/* Constructors that add hooks run before the handler is registered: no fork sees half of them. */
#define CX_FORK_CONSTRUCTOR __attribute__((constructor(1000)))

/* Adds a hook for good. Only from a CX_FORK_CONSTRUCTOR. */
void cx_fork_watch(cx_fork_hook *hook);

/* False: the handler could not be registered, for lack of memory. */
bool cx_forks_are_watched(void);

#endif
