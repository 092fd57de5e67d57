/* Starts threads of ours. */
#ifndef CX_BASE_THREAD_H
#define CX_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>

/* pthread_create, with all signals blocked in the new thread: the user's signal handlers run only
 * on the user's threads. Returns 0 or an error number. */
static inline int cx_thread_start(pthread_t *out_thread, const pthread_attr_t *attributes,
                                  void *(*run)(void *argument), void *argument)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(out_thread, attributes, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

/* For a thread of ours that may touch memory which a handler of ours keeps closed: the handler runs
 * on the thread, too. */
static inline void cx_thread_take_faults(void)
{
    sigset_t faults;
    sigemptyset(&faults);
    sigaddset(&faults, SIGSEGV);
    pthread_sigmask(SIG_UNBLOCK, &faults, NULL);
}

#endif
