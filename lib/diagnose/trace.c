#include "diagnose/watch.h"

#include "base/cancel.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/option.h"
#include "diagnose/origin.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH_USUAL ((size_t)1 << 20)
#define LENGTH_MOST ((size_t)1 << 28)

static cx_lock trace_lock = CX_LOCK_INIT(TRACE);

void cx_trace_record(cx_trace *trace, void *pointer, size_t size_bytes, bool is_free)
{
    const void *place = is_free ? NULL : cx_place_here();
    cx_lock_enter(&trace_lock);
    if (trace->recording)
        trace->ring[trace->next++ & (trace->length - 1)] = (cx_trace_operation){
            .pointer = pointer, .bytes = size_bytes, .is_free = is_free, .place = place};
    cx_lock_leave(&trace_lock);
}

cx_trace_operation *cx_trace_take(const cx_trace *trace, size_t *out_count)
{
    cx_trace_operation *operations = NULL;
    cx_lock_enter(&trace_lock);
    size_t count = trace->next < trace->length ? trace->next : trace->length;
    if (trace->ring != NULL)
        operations = calloc(count + 1, sizeof *operations);
    for (size_t i = 0; operations != NULL && i < count; i++)
        operations[i] = trace->ring[(trace->next - count + i) & (trace->length - 1)];
    cx_lock_leave(&trace_lock);
    *out_count = operations != NULL ? count : trace->ring != NULL;
    return operations;
}

/* ---- starting and stopping: with the lock ---- */

static bool start_trace(cx_allocator *allocator, size_t operations)
{
    cx_trace *trace = &allocator->watch->trace;
    size_t length = 2;
    while (length < operations)
        length *= 2;
    if (trace->ring == NULL || trace->length != length) {
        cx_trace_operation *ring = calloc(length, sizeof *ring);
        if (ring == NULL)
            return false;
        free(trace->ring);
        trace->ring = ring;
        trace->length = length;
    }
    trace->next = 0;
    trace->recording = true;
    atomic_store(&allocator->watched, true);
    return true;
}

static void stop_trace(cx_allocator *allocator)
{
    atomic_store(&allocator->watched, false);
    allocator->watch->trace.recording = false;
}

/* ---- CTXRT_ALLOCATOR_TRACE ---- */

static const char *wanted_path;
static int files;

/* Once for each allocator. */
static void write_file(cx_trace *trace)
{
    char path[PATH_MAX];
    size_t count;
    cx_lock_enter(&trace_lock);
    int number = trace->file;
    trace->file = 0;
    cx_lock_leave(&trace_lock);
    if (number == 0)
        return;
    cx_trace_operation *operations = cx_trace_take(trace, &count);
    snprintf(path, sizeof path, number == 1 ? "%s" : "%s.%d", wanted_path, number);
    FILE *file = operations != NULL ? fopen(path, "we") : NULL;
    bool written = file != NULL && cx_trace_write_lines(file, operations, count);
    if (file != NULL && fclose(file) != 0)
        written = false;
    if (!written)
        cx_log(CTXRT_LOG_WARNING, "the trace of an allocator could not be written to %s: %s", path,
               strerror(errno));
    free(operations);
}

static bool write_one(void *allocator, void *argument)
{
    (void)argument;
    write_file(&((const cx_allocator *)allocator)->watch->trace);
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
    bool started = start_trace(allocator, LENGTH_USUAL);
    if (started)
        allocator->watch->trace.file = ++files;
    cx_lock_leave(&trace_lock);
    if (!started)
        cx_log(CTXRT_LOG_WARNING, "no memory for the trace of an allocator");
    cx_cancel_restore(cancel);
}

void cx_trace_end(cx_allocator *allocator)
{
    int cancel = cx_cancel_hold();
    cx_trace *trace = &allocator->watch->trace;
    write_file(trace);
    cx_lock_enter(&trace_lock);
    stop_trace(allocator);
    free(trace->ring);
    trace->ring = NULL;
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
    cx_lock_enter(&trace_lock);
    stop_trace(allocator);
    cx_lock_leave(&trace_lock);
    return status;
}

static ctxrt_status write_trace(const cx_trace *trace, FILE *file)
{
    size_t count;
    cx_trace_operation *operations = cx_trace_take(trace, &count);
    if (operations == NULL)
        return count == 0
                   ? cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "no trace of the allocator was started")
                   : cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory to write a trace");
    errno = 0;
    bool written = cx_trace_write_lines(file, operations, count) && fflush(file) == 0;
    int reason = errno;
    free(operations);
    return written
               ? CTXRT_SUCCESS
               : cx_error(reason == ENOMEM ? CTXRT_ERROR_OUT_OF_MEMORY : CTXRT_ERROR_SYSTEM,
                          "ctxrt_allocator_trace_write: the file could not be written: %s",
                          reason != 0 ? strerror(reason) : "it took only a part");
}

ctxrt_status ctxrt_allocator_trace_write(ctxrt_allocator *handle, FILE *file)
{
    cx_allocator *allocator;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (file == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_allocator_trace_write: file is NULL");
    status = cx_allocator_resolve(handle, &allocator);
    if (status != CTXRT_SUCCESS)
        return status;
    int cancel = cx_cancel_hold();
    status = write_trace(&allocator->watch->trace, file);
    cx_cancel_restore(cancel);
    return status;
}
