#include "driver/access_log.h"

#include <stdatomic.h>

_Thread_local uint64_t cx_access_log_ticket;
_Thread_local uint32_t cx_access_log_place;
_Thread_local uint64_t cx_access_log_turn = UINT64_MAX;
_Thread_local cx_access_log_unwritten cx_access_log_copied;
_Thread_local bool cx_access_log_driver_thread;
_Thread_local bool cx_access_log_withdrawn;

static _Atomic(const cx_access_log_watcher *) watching;

void cx_access_log_watch(const cx_access_log_watcher *watcher)
{
    atomic_store(&watching, watcher);
}

const cx_access_log_watcher *cx_access_log_watched(void)
{
    return atomic_load_explicit(&watching, memory_order_acquire);
}

bool cx_access_log_wants_hazards(void)
{
    const cx_access_log_watcher *watcher = cx_access_log_watched();

    return watcher != NULL && watcher->hazard != NULL;
}

bool cx_access_log_wants_starts(void)
{
    const cx_access_log_watcher *watcher = cx_access_log_watched();

    return watcher != NULL && watcher->starts != NULL;
}
