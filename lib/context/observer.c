#include "context/observer.h"

static _Atomic(const cx_observer *) observers[CX_OBSERVERS];

void cx_observe(cx_observing_room room, const cx_observer *observer)
{
    atomic_store(&observers[room], observer);
}

const cx_observer *cx_observer_at(int room)
{
    return atomic_load(&observers[room]);
}
