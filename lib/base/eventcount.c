#include "base/eventcount.h"

#include "base/cancel.h"

void cx_eventcount_wait(cx_eventcount *self, bool (*is_so)(const void *object),
                        const void *object)
{
    int cancel = cx_cancel_hold();
    atomic_fetch_add(&self->sleepers, 1);
    pthread_mutex_lock(&self->lock);
    while (!is_so(object))
        pthread_cond_wait(&self->changed, &self->lock);
    pthread_mutex_unlock(&self->lock);
    atomic_fetch_sub(&self->sleepers, 1);
    cx_cancel_restore(cancel);
}

void cx_eventcount_wake_slowly(cx_eventcount *self)
{
    int cancel = cx_cancel_hold();
    pthread_mutex_lock(&self->lock);
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
    cx_cancel_restore(cancel);
}
