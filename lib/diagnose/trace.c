#include "diagnose/watch.h"

#include "base/cancel.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/option.h"

#include <errno.h>
#include <execinfo.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH_USUAL ((size_t)1 << 20)
#define LENGTH_MOST ((size_t)1 << 28)
#define BEING_WRITTEN UINT64_MAX

typedef struct place {
    _Atomic uint64_t stamp; /* number of its operation, plus 1 */
    _Atomic(void *) pointer;
    _Atomic uint64_t size; /* twice the size, plus 1 for a free */
    _Atomic(const void *) caller;
} place;

struct cx_trace_ring {
    cx_trace_ring *older;
    uint64_t first; /* number of the first operation that counts */
    uint64_t mask;
    _Atomic uint64_t next;
    place places[];
};

/* Lock "trace": starting, stopping and writing. */
static cx_lock trace_lock = CX_LOCK_INIT(TRACE);

/* ---- callers ---- */

#define FRAMES 24

static struct {
    uintptr_t begin, end;
} own_code;

static int find_own_code(struct dl_phdr_info *object, size_t size, void *argument)
{
    (void)size, (void)argument;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t begin = object->dlpi_addr + part->p_vaddr, end = begin + part->p_memsz;
        if (part->p_type != PT_LOAD || (uintptr_t)&find_own_code < begin ||
            (uintptr_t)&find_own_code >= end)
            continue;
        own_code.begin = begin;
        own_code.end = end;
        return 1;
    }
    return 0;
}

static void look_for_own_code(void)
{
    (void)dl_iterate_phdr(find_own_code, NULL);
}

static bool is_own(const void *address)
{
    return (uintptr_t)address >= own_code.begin && (uintptr_t)address < own_code.end;
}

/* A sanitizer's frame may come before ours. */
const void *cx_trace_caller(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    void *frames[FRAMES];
    if (cx_thread_current != NULL && cx_thread_current->origin != NULL)
        return cx_thread_current->origin;
    pthread_once(&once, look_for_own_code);
    int count = backtrace(frames, FRAMES);
    int i = 0;
    while (i < count && !is_own(frames[i]))
        i++;
    while (i < count && is_own(frames[i]))
        i++;
    return i < count ? frames[i] : NULL;
}

/* If a thread finds the place in use, it is a whole ring ahead of another thread or behind it: one
 * of the two operations is lost. */
void cx_trace_record(cx_trace *trace, void *pointer, size_t size_bytes, bool is_free)
{
    cx_trace_ring *ring = atomic_load_explicit(&trace->recording, memory_order_acquire);
    if (ring == NULL)
        return;
    const void *caller = is_free ? NULL : cx_trace_caller();
    uint64_t number = atomic_fetch_add(&ring->next, 1);
    place *own = &ring->places[number & ring->mask];
    uint64_t before = atomic_exchange(&own->stamp, BEING_WRITTEN);
    if (before == BEING_WRITTEN)
        return;
    if (before > number) {
        atomic_store(&own->stamp, before);
        return;
    }
    /* release: a reader that sees one of the two also sees that the place is being written */
    atomic_store_explicit(&own->pointer, pointer, memory_order_release);
    atomic_store_explicit(&own->caller, caller, memory_order_release);
    atomic_store_explicit(&own->size, 2 * (uint64_t)size_bytes + is_free, memory_order_release);
    atomic_store_explicit(&own->stamp, number + 1, memory_order_release);
}

static bool read_place(const cx_trace_ring *ring, uint64_t number,
                       cx_trace_operation *out_operation)
{
    const place *from = &ring->places[number & ring->mask];
    if (atomic_load_explicit(&from->stamp, memory_order_acquire) != number + 1)
        return false;
    void *pointer = atomic_load_explicit(&from->pointer, memory_order_acquire);
    uint64_t size = atomic_load_explicit(&from->size, memory_order_acquire);
    const void *caller = atomic_load_explicit(&from->caller, memory_order_acquire);
    if (atomic_load_explicit(&from->stamp, memory_order_acquire) != number + 1)
        return false;
    *out_operation = (cx_trace_operation){
        .pointer = pointer, .bytes = size / 2, .is_free = size % 2 != 0, .place = caller};
    return true;
}

/* ---- starting and stopping: with the lock ---- */

static size_t length_for(size_t operations)
{
    size_t length = 2;
    while (length < operations)
        length *= 2;
    return length;
}

/* Finds or makes an unused ring of at least this length. */
static cx_trace_ring *ring_for(cx_trace *trace, size_t length)
{
    cx_trace_ring *ring = trace->rings;
    if (ring != NULL && ring->mask + 1 == length)
        return ring;
    ring = calloc(1, sizeof *ring + length * sizeof(place));
    if (ring == NULL)
        return NULL;
    ring->mask = length - 1;
    ring->older = trace->rings;
    trace->rings = ring;
    return ring;
}

static bool start_trace(cx_allocator *allocator, size_t operations)
{
    cx_trace *trace = &allocator->watch->trace;
    cx_trace_ring *ring = ring_for(trace, length_for(operations));
    if (ring == NULL)
        return false;
    ring->first = atomic_load(&ring->next);
    atomic_store_explicit(&trace->recording, ring, memory_order_release);
    atomic_store(&allocator->watched, true);
    return true;
}

/* Copies the operations that the ring still holds; NULL: out of memory. */
static cx_trace_operation *take_operations(const cx_trace_ring *ring, size_t *out_count)
{
    uint64_t end = atomic_load(&ring->next);
    uint64_t begin = end - ring->first > ring->mask ? end - ring->mask - 1 : ring->first;
    size_t count = 0;
    cx_trace_operation *operations = calloc((size_t)(end - begin) + 1, sizeof *operations);
    for (uint64_t number = begin; operations != NULL && number < end; number++)
        if (read_place(ring, number, &operations[count]))
            count++;
    *out_count = count;
    return operations;
}

bool cx_trace_take(const cx_trace *trace, cx_trace_operation **out_operations, size_t *out_count)
{
    cx_lock_enter(&trace_lock);
    cx_trace_operation *operations =
        trace->rings != NULL ? take_operations(trace->rings, out_count) : NULL;
    cx_lock_leave(&trace_lock);
    if (operations != NULL)
        *out_operations = operations;
    return operations != NULL;
}

/* ---- CTXRT_ALLOCATOR_TRACE ---- */

static const char *wanted_path;
static int files;

static void write_file(cx_trace *trace)
{
    char path[PATH_MAX];
    size_t count = 0;
    int number = trace->file;
    cx_trace_operation *operations =
        trace->rings != NULL ? take_operations(trace->rings, &count) : NULL;
    snprintf(path, sizeof path, number == 1 ? "%s" : "%s.%d", wanted_path, number);
    FILE *file = operations != NULL ? fopen(path, "we") : NULL;
    bool written = file != NULL && cx_trace_write_lines(file, operations, count);
    if (file != NULL && fclose(file) != 0)
        written = false;
    if (!written)
        cx_log(CTXRT_LOG_WARNING, "the trace of an allocator could not be written to %s: %s", path,
               strerror(errno));
    free(operations);
    trace->file = 0;
}

static bool write_one(void *object, void *argument)
{
    cx_allocator *allocator = object;
    (void)argument;
    cx_lock_enter(&trace_lock);
    if (allocator->watch->trace.file != 0)
        write_file(&allocator->watch->trace);
    cx_lock_leave(&trace_lock);
    return true;
}

/* Writes the traces of remaining allocators. A forked child has its parent's, and leaves them
 * alone. */
static void write_rest(void)
{
    if (atomic_load(&cx_current_phase) != CX_PHASE_FORKED)
        cx_pool_each_held(&cx_allocators, write_one, NULL);
}

static void read_option(void)
{
    const char *path = cx_option("CTXRT_ALLOCATOR_TRACE");
    wanted_path = path != NULL && atexit(write_rest) == 0 ? strdup(path) : NULL;
}

void cx_trace_begin(cx_allocator *allocator)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_option);
    if (wanted_path == NULL)
        return;
    int cancel = cx_cancel_hold();
    cx_lock_enter(&trace_lock);
    if (start_trace(allocator, LENGTH_USUAL))
        allocator->watch->trace.file = ++files;
    else
        cx_log(CTXRT_LOG_WARNING, "no memory for the trace of an allocator");
    cx_lock_leave(&trace_lock);
    cx_cancel_restore(cancel);
}

void cx_trace_end(cx_allocator *allocator)
{
    cx_trace *trace = &allocator->watch->trace;
    int cancel = cx_cancel_hold();
    cx_lock_enter(&trace_lock);
    atomic_store(&allocator->watched, false);
    atomic_store(&trace->recording, NULL);
    if (trace->file != 0)
        write_file(trace);
    while (trace->rings != NULL) {
        cx_trace_ring *ring = trace->rings;
        trace->rings = ring->older;
        free(ring);
    }
    cx_lock_leave(&trace_lock);
    cx_cancel_restore(cancel);
}

/* ---- public calls ---- */

ctxrt_status ctxrt_allocator_trace_start(ctxrt_allocator *handle, size_t operations)
{
    cx_allocator *allocator;
    ctxrt_status status = cx_allocator_resolve(handle, &allocator);
    if (status != CTXRT_SUCCESS)
        return status;
    if (operations > LENGTH_MOST)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "a trace keeps at most %zu operations, not %zu", LENGTH_MOST, operations);
    cx_lock_enter(&trace_lock);
    bool started = start_trace(allocator, operations != 0 ? operations : LENGTH_USUAL);
    cx_lock_leave(&trace_lock);
    return started ? CTXRT_SUCCESS
                   : cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for a trace of %zu operations",
                              operations);
}

ctxrt_status ctxrt_allocator_trace_stop(ctxrt_allocator *handle)
{
    cx_allocator *allocator;
    ctxrt_status status = cx_allocator_resolve(handle, &allocator);
    if (status != CTXRT_SUCCESS)
        return status;
    atomic_store(&allocator->watched, false);
    atomic_store(&allocator->watch->trace.recording, NULL);
    return status;
}

static ctxrt_status write_operations(cx_trace_operation *operations, size_t count, FILE *file)
{
    if (operations == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory to write a trace");
    errno = 0;
    if (cx_trace_write_lines(file, operations, count) && fflush(file) == 0)
        return CTXRT_SUCCESS;
    int reason = errno;
    return cx_error(reason == ENOMEM ? CTXRT_ERROR_OUT_OF_MEMORY : CTXRT_ERROR_SYSTEM,
                    "ctxrt_allocator_trace_write: the file could not be written: %s",
                    reason != 0 ? strerror(reason) : "it took only a part");
}

ctxrt_status ctxrt_allocator_trace_write(ctxrt_allocator *handle, FILE *file)
{
    cx_allocator *allocator;
    size_t count = 0;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (file == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_allocator_trace_write: file is NULL");
    status = cx_allocator_resolve(handle, &allocator);
    if (status != CTXRT_SUCCESS)
        return status;
    int cancel = cx_cancel_hold();
    cx_lock_enter(&trace_lock);
    const cx_trace_ring *ring = allocator->watch->trace.rings;
    cx_trace_operation *operations = ring != NULL ? take_operations(ring, &count) : NULL;
    cx_lock_leave(&trace_lock);
    status = ring != NULL
                 ? write_operations(operations, count, file)
                 : cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "no trace of the allocator was started");
    free(operations);
    cx_cancel_restore(cancel);
    return status;
}
