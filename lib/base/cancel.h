/*
 * Holds off the cancellation of the calling thread while it holds a lock of ours and waits, does
 * I/O or calls out. Nothing of ours is unwound; a request takes effect at the caller's next
 * cancellation point.
 */
#ifndef CX_BASE_CANCEL_H
#define CX_BASE_CANCEL_H

#include <pthread.h>

/* Returns the argument of cx_cancel_restore. */
static inline int cx_cancel_hold(void)
{
    int state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    return state;
}

static inline void cx_cancel_restore(int state)
{
    pthread_setcancelstate(state, &state);
}

#endif
