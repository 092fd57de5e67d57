#include "layer/trace/file.h"

#include "base/clock.h"
#include "base/fork.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/option.h"
#include "layer/names.h"
#include "layer/process_file.h"
#include "layer/trace/thread.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void (*cx_trace_file_forked)(void);

/* Changed under "process file"; taking a chunk needs no lock. */
static cx_trace_head *_Atomic head;
static atomic_bool of_parent; /* the head is the parent's, until the first call in the child */
static atomic_bool full;      /* there was no room */
static char folder[PATH_MAX];
static cx_process_file file;

/* ---- the head ---- */

static void *map_part(uint64_t offset)
{
    int error = cx_process_file_reserve(&file, offset, CX_TRACE_CHUNK_BYTES);
    if (error != 0) {
        errno = error;
        return NULL;
    }
    void *mapped = cx_process_file_map(&file, offset, CX_TRACE_CHUNK_BYTES, NULL);
#ifdef MADV_POPULATE_WRITE /* faults one by one are slower */
    if (mapped != NULL)
        (void)madvise(mapped, CX_TRACE_CHUNK_BYTES, MADV_POPULATE_WRITE);
#endif
    return mapped;
}

static void fill_head(cx_trace_head *to, int32_t parent)
{
    to->version = CX_TRACE_VERSION;
    to->pid = (int32_t)getpid();
    to->forked_from = parent;
    to->host_devices = cx_layer_gpu(0) < 0 ? 1 : 0;
    to->begun = cx_clock_ns();
    cx_process_file_program(to->program, sizeof to->program);
    __atomic_store_n(&to->magic, CX_TRACE_MAGIC, __ATOMIC_RELEASE);
}

/* NULL with errno: it cannot be made. */
static cx_trace_head *make_file(int32_t parent)
{
    if (!cx_process_file_make(&file, folder, "ctxrt-trace."))
        return NULL;
    cx_trace_head *made = map_part(0);
    if (made == NULL)
        cx_process_file_empty(&file);
    else
        fill_head(made, parent);
    return made;
}

/* ---- forks ---- */

static void begin_in_child(void)
{
    if (atomic_load(&head) == NULL)
        return;
    atomic_store(&of_parent, true);
    atomic_store(&full, false);
    if (cx_trace_file_forked != NULL)
        cx_trace_file_forked();
}

CX_FORK_CONSTRUCTOR static void watch_forks(void)
{
    static cx_fork_hook hook = {.rank = CX_RANK_PROCESS_FILE, .in_child = begin_in_child};
    cx_fork_watch(&hook);
}

static void say_that_it_is_full(void)
{
    int error = errno;
    if (!atomic_exchange(&full, true))
        cx_log(CTXRT_LOG_ERROR, "trace: no room in %s: %s: what follows is not recorded", folder,
               strerror(error));
}

/* The child's own head; the mapping of the parent's ends. */
static void begin_file_of_child(void)
{
    cx_lock_enter(&cx_process_file_lock);
    cx_trace_head *old = atomic_load(&head);
    if (atomic_load(&of_parent)) {
        cx_trace_head *made = make_file(old->pid);
        if (made != NULL) {
            atomic_store(&head, made);
            (void)munmap(old, CX_TRACE_CHUNK_BYTES);
            atomic_store(&of_parent, false);
        } else {
            say_that_it_is_full();
        }
    }
    cx_lock_leave(&cx_process_file_lock);
}

bool cx_trace_file_open(void)
{
    const char *told = cx_option("CTXRT_TRACE_FOLDER");
    if (realpath(told != NULL ? told : ".", folder) == NULL)
        return false;
    cx_trace_head *made = make_file(0);
    if (made == NULL)
        return false;
    atomic_store(&head, made);
    return true;
}

/* ---- chunks ---- */

cx_trace_chunk *cx_trace_file_map(void)
{
    if (atomic_load(&full))
        return NULL;
    if (atomic_load(&of_parent))
        begin_file_of_child();
    if (atomic_load(&full))
        return NULL;
    uint64_t number = atomic_fetch_add(&atomic_load(&head)->chunks, 1);
    void *chunk = map_part((number + 1) * CX_TRACE_CHUNK_BYTES);
    if (chunk == NULL)
        say_that_it_is_full();
    return chunk;
}

void cx_trace_file_unmap(cx_trace_chunk *chunk)
{
    (void)munmap(chunk, CX_TRACE_CHUNK_BYTES);
}

void cx_trace_file_lose(void)
{
    if (!atomic_load(&of_parent))
        atomic_fetch_add(&atomic_load(&head)->lost, 1);
}

uint32_t cx_trace_file_thread(void)
{
    return atomic_fetch_add(&atomic_load(&head)->threads, 1) + 1;
}
