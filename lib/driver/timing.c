#include "driver/timing.h"

#include <stdatomic.h>

__attribute__((tls_model("initial-exec"))) _Thread_local uint64_t cx_timing_ticket;

static _Atomic(cx_timing_watcher *) watching;

void cx_timing_watch(cx_timing_watcher *watcher)
{
    atomic_store(&watching, watcher);
}

cx_timing_watcher *cx_timing_watched(void)
{
    return atomic_load_explicit(&watching, memory_order_acquire);
}
