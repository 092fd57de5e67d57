#include "layer/count/region.h"

#include "base/cancel.h"
#include "base/clock.h"
#include "base/fork.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/option.h"
#include "layer/names.h"
#include "layer/process_file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Changed under "process file". */
static cx_count_region *_Atomic region;
static atomic_bool of_parent; /* until the first call in the child of a fork */
static char folder[PATH_MAX];

/* NULL with errno: it cannot be made. */
static cx_count_region *map_file(void)
{
    cx_process_file file;
    if (!cx_process_file_make(&file, folder, ""))
        return NULL;
    int error = cx_process_file_reserve(&file, 0, sizeof(cx_count_region));
    cx_count_region *mapped = NULL;
    if (error == 0) {
        mapped = cx_process_file_map(&file, 0, sizeof *mapped, NULL);
        error = errno;
    }
    if (mapped == NULL)
        cx_process_file_empty(&file);
    errno = error;
    return mapped;
}

static cx_count_region *make_region(int32_t parent)
{
    cx_count_region *made = map_file();
    if (made == NULL)
        return NULL;
    made->version = CX_COUNT_VERSION;
    made->slots = CX_SLOT_COUNT;
    made->pid = (int32_t)getpid();
    made->forked_from = parent;
    made->host_devices = cx_layer_gpu(0) < 0 ? 1 : 0;
    made->begun = cx_clock_ns();
    cx_process_file_program(made->program, sizeof made->program);
    __atomic_store_n(&made->magic, CX_COUNT_MAGIC, __ATOMIC_RELEASE);
    return made;
}

/* ---- forks ---- */

static void begin_in_child(void)
{
    if (atomic_load(&region) != NULL)
        atomic_store(&of_parent, true);
}

CX_FORK_CONSTRUCTOR static void watch_forks(void)
{
    static cx_fork_hook hook = {.rank = CX_RANK_PROCESS_FILE, .in_child = begin_in_child};
    cx_fork_watch(&hook);
}

/* The parent's stays mapped for a call that was under way in the fork; it is small. */
static void begin_region_of_child(void)
{
    int cancel = cx_cancel_hold();
    cx_lock_enter(&cx_process_file_lock);
    if (atomic_load(&of_parent)) {
        cx_count_region *made = make_region(atomic_load(&region)->pid);
        if (made == NULL)
            cx_log(CTXRT_LOG_WARNING, "count: no file in %s: %s: process %ld is not counted",
                   folder, strerror(errno), (long)getpid());
        atomic_store(&region, made);
        atomic_store(&of_parent, false);
    }
    cx_lock_leave(&cx_process_file_lock);
    cx_cancel_restore(cancel);
}

cx_count_region *cx_count_region_here(void)
{
    if (__builtin_expect(atomic_load_explicit(&of_parent, memory_order_relaxed), 0))
        begin_region_of_child();
    return atomic_load_explicit(&region, memory_order_acquire);
}

bool cx_count_open(void)
{
    const char *told = cx_option("CTXRT_REPORT_FOLDER");
    if (told == NULL) {
        errno = ENOENT;
        return false;
    }
    int cancel = cx_cancel_hold();
    cx_count_region *made = realpath(told, folder) != NULL ? make_region(0) : NULL;
    cx_cancel_restore(cancel);
    if (made == NULL)
        return false;
    atomic_store(&region, made);
    return true;
}
