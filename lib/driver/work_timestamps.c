#include "driver/work_timestamps.h"

#include <stdatomic.h>

__attribute__((tls_model("initial-exec"))) _Thread_local uint64_t cx_work_timestamps_ticket;

static _Atomic(cx_work_timestamps_watcher *) watching;

void cx_work_timestamps_watch(cx_work_timestamps_watcher *watcher)
{
    atomic_store(&watching, watcher);
}

cx_work_timestamps_watcher *cx_work_timestamps_watched(void)
{
    return atomic_load_explicit(&watching, memory_order_acquire);
}
