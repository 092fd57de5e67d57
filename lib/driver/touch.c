#include "driver/touch.h"

#include <stdatomic.h>

_Thread_local uint64_t cx_touch_ticket;

static _Atomic(const cx_touch_watcher *) watching;

void cx_touch_watch(const cx_touch_watcher *watcher)
{
    atomic_store(&watching, watcher);
}

const cx_touch_watcher *cx_touch_watched(void)
{
    return atomic_load_explicit(&watching, memory_order_acquire);
}
