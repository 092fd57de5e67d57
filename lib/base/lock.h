/*
 * Locks with a rank, which says where each one stands in the lock order (locks.def): a thread takes
 * no lock while it holds one of its own or of a later rank. So no two threads wait for each other.
 *
 * A build with sanitizers or --enable-debug checks that at each step: it keeps the locks that each
 * thread holds, and stops the program with both names when a thread takes one out of order. Other
 * builds keep nothing: these are pthread's mutexes.
 */
#ifndef CX_BASE_LOCK_H
#define CX_BASE_LOCK_H

#include "config.h"

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

typedef enum cx_lock_rank {
#define CX_LOCK_ROW(rank, name) CX_RANK_##rank,
#include "base/locks.def"
    CX_LOCK_RANKS
} cx_lock_rank;

typedef struct cx_lock {
    pthread_mutex_t mutex;
#ifdef CX_LOCKS_CHECKED
    cx_lock_rank rank;
    bool recursive; /* its thread may take it again */
#endif
} cx_lock;

#ifdef CX_LOCKS_CHECKED
#define CX_LOCK_INIT(rank_) {.mutex = PTHREAD_MUTEX_INITIALIZER, .rank = CX_RANK_##rank_}
#define CX_LOCK_INIT_RECURSIVE(rank_) \
    {.mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, .rank = CX_RANK_##rank_, .recursive = true}

/* Stops the program unless the calling thread may take the lock now. */
void cx_lock_expect(const cx_lock *lock);

/* The thread has taken it, or leaves it. */
void cx_lock_note(const cx_lock *lock);
void cx_lock_forget(const cx_lock *lock);

/* Stops the program unless the thread holds it, and none of a later rank. */
void cx_lock_expect_latest(const cx_lock *lock);

bool cx_lock_is_held(const cx_lock *lock);
#else
#define CX_LOCK_INIT(rank_) {.mutex = PTHREAD_MUTEX_INITIALIZER}
#define CX_LOCK_INIT_RECURSIVE(rank_) {.mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP}

static inline void cx_lock_expect(const cx_lock *lock)
{
    (void)lock;
}

static inline void cx_lock_note(const cx_lock *lock)
{
    (void)lock;
}

static inline void cx_lock_forget(const cx_lock *lock)
{
    (void)lock;
}

static inline void cx_lock_expect_latest(const cx_lock *lock)
{
    (void)lock;
}
#endif

const char *cx_lock_name(cx_lock_rank rank);

/* For a lock in memory that is not static. */
static inline void cx_lock_init(cx_lock *lock, cx_lock_rank rank)
{
    (void)pthread_mutex_init(&lock->mutex, NULL);
#ifdef CX_LOCKS_CHECKED
    lock->rank = rank;
    lock->recursive = false;
#else
    (void)rank;
#endif
}

/* The same for cx_lock_enter_once. False: no memory. */
bool cx_lock_init_once(cx_lock *lock, cx_lock_rank rank);

static inline void cx_lock_destroy(cx_lock *lock)
{
    (void)pthread_mutex_destroy(&lock->mutex);
}

/* ---- taking and leaving ---- */

static inline void cx_lock_enter(cx_lock *lock)
{
    cx_lock_expect(lock);
    (void)pthread_mutex_lock(&lock->mutex);
    cx_lock_note(lock);
}

static inline void cx_lock_leave(cx_lock *lock)
{
    cx_lock_forget(lock);
    (void)pthread_mutex_unlock(&lock->mutex);
}

/* False: another thread has it. This may be out of order, since it does not wait; what the thread
 * takes next has to be in order. */
static inline bool cx_lock_try(cx_lock *lock)
{
    bool taken = pthread_mutex_trylock(&lock->mutex) == 0;
    if (taken)
        cx_lock_note(lock);
    return taken;
}

/* False: the calling thread has it already. */
static inline bool cx_lock_enter_once(cx_lock *lock)
{
#ifdef CX_LOCKS_CHECKED
    if (cx_lock_is_held(lock))
        return false;
#endif
    cx_lock_expect(lock);
    bool taken = pthread_mutex_lock(&lock->mutex) == 0;
    if (taken)
        cx_lock_note(lock);
    return taken;
}

/* ---- waiting ---- */

/* Leaves the lock, which is the latest that the thread holds, until the condition is signalled. */
static inline void cx_lock_wait(cx_lock *lock, pthread_cond_t *condition)
{
    cx_lock_expect_latest(lock);
    (void)pthread_cond_wait(condition, &lock->mutex);
}

/* The same until a time of the condition's clock; false: it has come. */
static inline bool cx_lock_wait_until(cx_lock *lock, pthread_cond_t *condition,
                                      const struct timespec *until)
{
    cx_lock_expect_latest(lock);
    return pthread_cond_timedwait(condition, &lock->mutex, until) == 0;
}

#endif
