#include "base/eventcount.h"

#include "base/cancel.h"

void cx_eventcount_wait(cx_eventcount *self, bool (*is_so)(const void *object),
                        const void *object)
{
    int cancel = cx_cancel_hold();
    atomic_fetch_add(&self->sleepers, 1);
    cx_lock_enter(&self->lock);
    while (!is_so(object))
        cx_lock_wait(&self->lock, &self->changed);
    cx_lock_leave(&self->lock);
    atomic_fetch_sub(&self->sleepers, 1);
    cx_cancel_restore(cancel);
}

void cx_eventcount_wake_slowly(cx_eventcount *self)
{
    int cancel = cx_cancel_hold();
    cx_lock_enter(&self->lock);
    pthread_cond_broadcast(&self->changed);
    cx_lock_leave(&self->lock);
    cx_cancel_restore(cancel);
}
