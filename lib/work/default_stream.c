#include "work/default_stream.h"

#include "base/error.h"
#include "base/lock.h"
#include "base/log.h"
#include "context/observer.h"
#include <string.h>

/* Lock "default streams": guards the idle lists of all contexts, and the set of live default
 * streams. After "contexts", "device" and "threads", before "pool". */
static cx_lock lock = CX_LOCK_INIT(DEFAULT_STREAMS);

/* ---- the end of a context ---- */

typedef struct ending {
    cx_context *context;
    cx_stream *retired;
} ending;

static bool retire_default(void *object, void *argument)
{
    cx_stream *stream = object;
    ending *end = argument;
    const ctxrt_stream *handle = cx_pool_handle(&cx_streams, stream);
    if (atomic_load(&stream->kind) == CX_STREAM_DEFAULT &&
        atomic_load(&stream->context) == end->context &&
        cx_pool_retire(&cx_streams, handle) != NULL) {
        stream->next = end->retired;
        end->retired = stream;
    }
    return true;
}

/* Makes all default streams of the context stale, idle or owned by threads. */
static cx_stream *retire_all(cx_context *context)
{
    ending end = {.context = context};
    cx_lock_enter(&lock);
    context->idle_streams = NULL;
    cx_pool_each(&cx_streams, retire_default, &end);
    cx_lock_leave(&lock);
    return end.retired;
}

static void close_streams(cx_context *context)
{
    const cx_driver *driver = context->driver;
    cx_stream *next;
    for (cx_stream *stream = retire_all(context); stream != NULL; stream = next) {
        next = stream->next;
        cxu_result result = driver->table.stream_destroy(atomic_load(&stream->native));
        if (result != CXU_SUCCESS)
            cx_log(CTXRT_LOG_WARNING, "a default stream of %s could not be destroyed: %s",
                   cx_context_text(context), cx_driver_result_name(driver, result));
        cx_pool_put_back(&cx_streams, stream);
    }
}

static void forget_streams(cx_context *context, bool for_good)
{
    (void)for_good;
    cx_stream *next;
    for (cx_stream *stream = retire_all(context); stream != NULL; stream = next) {
        next = stream->next;
        cx_pool_put_back(&cx_streams, stream);
    }
}

/* ---- idle streams ---- */

static ctxrt_stream *take_idle(cx_context *context)
{
    ctxrt_stream *handle = NULL;
    cx_lock_enter(&lock);
    cx_stream *stream = context->idle_streams;
    if (stream != NULL) {
        context->idle_streams = stream->next;
        handle = cx_pool_handle(&cx_streams, stream);
    }
    cx_lock_leave(&lock);
    return handle;
}

void cx_default_stream_put_back(const ctxrt_stream *handle)
{
    cx_lock_enter(&lock);
    cx_stream *stream = cx_pool_find(&cx_streams, handle);
    if (stream != NULL) {
        cx_context *context = atomic_load(&stream->context);
        stream->next = context->idle_streams;
        context->idle_streams = stream;
    }
    cx_lock_leave(&lock);
}

static void leave_thread(cx_thread *thread)
{
    for (size_t i = 0; i < thread->default_stream_count; i++)
        cx_default_stream_put_back(thread->default_streams[i].stream);
    thread->default_stream_count = 0;
}

/* ---- a thread's streams ---- */

static cx_default_stream *find_entry(const cx_thread *thread, const cx_context *context)
{
    for (size_t i = 0; i < thread->default_stream_count; i++)
        if (thread->default_streams[i].context == context)
            return &thread->default_streams[i];
    return NULL;
}

static ctxrt_status add_entry(cx_thread *thread, cx_context *context, cx_default_stream **out_entry)
{
    ctxrt_status status = cx_thread_reserve_default_stream(thread);
    if (status != CTXRT_SUCCESS)
        return status;
    *out_entry = &thread->default_streams[thread->default_stream_count++];
    **out_entry = (cx_default_stream){.context = context};
    return CTXRT_SUCCESS;
}

static const cx_observer observer = {
    .context_closes = close_streams,
    .context_is_empty = forget_streams,
    .thread_ends = leave_thread,
};

static ctxrt_status obtain_stream(cx_context *context, ctxrt_stream **out_stream)
{
    ctxrt_stream *idle = take_idle(context);
    if (idle != NULL) {
        *out_stream = idle;
        return CTXRT_SUCCESS;
    }
    cx_observe(CX_OBSERVED_BY_WORK, &observer);
    return cx_stream_make(context, CX_STREAM_DEFAULT, CXU_STREAM_DEFAULT, 0, out_stream);
}

static ctxrt_status renew_entry(cx_default_stream *entry)
{
    /* Read first, as in cx_stream_make. */
    uint32_t epoch = atomic_load(&entry->context->epoch);
    ctxrt_status status = obtain_stream(entry->context, &entry->stream);
    entry->epoch = epoch;
    entry->context_handle = cx_context_handle(entry->context);
    return status;
}

ctxrt_status cx_default_stream_get(cx_thread *thread, cx_context *context,
                                   ctxrt_stream **out_stream)
{
    ctxrt_status status = CTXRT_SUCCESS;
    cx_default_stream *entry = find_entry(thread, context);
    if (entry == NULL)
        status = add_entry(thread, context, &entry);
    /* The end or a reset of a context makes its streams stale, so a live stream belongs to this
     * context. */
    if (status == CTXRT_SUCCESS && cx_pool_find(&cx_streams, entry->stream) == NULL)
        status = renew_entry(entry);
    if (status == CTXRT_SUCCESS)
        *out_stream = entry->stream;
    return status;
}

const ctxrt_stream *cx_default_stream_find(const cx_thread *thread, const cx_context *context)
{
    const cx_default_stream *entry = find_entry(thread, context);
    return entry != NULL && cx_pool_find(&cx_streams, entry->stream) != NULL ? entry->stream : NULL;
}

/* ---- frames that go from thread to thread ---- */

/* True if the entry belongs to the context in its present epoch. */
static bool is_of(const cx_default_stream *entry, const cx_context *context)
{
    return entry->context == context && entry->context_handle == cx_context_handle(context) &&
           entry->epoch == atomic_load(&context->epoch);
}

ctxrt_stream *cx_default_stream_of_thread(const cx_thread *thread, const cx_context *context,
                                          const ctxrt_stream *stream)
{
    for (size_t i = 0; i < thread->default_stream_count; i++) {
        const cx_default_stream *entry = &thread->default_streams[i];
        if (is_of(entry, context) && (stream == NULL || entry->stream == stream))
            return entry->stream;
    }
    return NULL;
}

static void remove_entry(cx_thread *thread, size_t index)
{
    thread->default_stream_count--;
    memmove(&thread->default_streams[index], &thread->default_streams[index + 1],
            (thread->default_stream_count - index) * sizeof thread->default_streams[0]);
}

void cx_default_stream_give_up(cx_thread *thread, const cx_context *context,
                               const ctxrt_stream *stream)
{
    for (size_t i = thread->default_stream_count; i-- > 0;)
        if (thread->default_streams[i].stream == stream)
            remove_entry(thread, i);
    for (uint32_t i = 0; i < cx_thread_depth(thread); i++)
        if (cx_frame_context(&thread->frames[i]) == context)
            thread->frames[i].current_stream = NULL;
}

static bool is_of_a_frame(const cx_thread *thread, const ctxrt_stream *stream)
{
    for (uint32_t i = 0; i < cx_thread_depth(thread); i++)
        if (atomic_load_explicit(&thread->frames[i].stream, memory_order_relaxed) == stream)
            return true;
    return false;
}

/* Frames without their own stream use the first one of the context. */
static void put_back_unused(cx_thread *thread, const cx_context *context)
{
    const ctxrt_stream *first = cx_default_stream_of_thread(thread, context, NULL);
    for (size_t i = thread->default_stream_count; i-- > 0;) {
        const cx_default_stream *entry = &thread->default_streams[i];
        bool used = is_of(entry, context) &&
                    (entry->stream == first || is_of_a_frame(thread, entry->stream));
        if (entry->context != context || used)
            continue;
        cx_default_stream_put_back(entry->stream);
        remove_entry(thread, i);
    }
}

bool cx_default_stream_take_over(cx_thread *thread, cx_context *context, ctxrt_stream *stream)
{
    bool only = cx_default_stream_of_thread(thread, context, NULL) == NULL;
    put_back_unused(thread, context);
    thread->default_streams[thread->default_stream_count++] = (cx_default_stream){
        .context = context,
        .context_handle = cx_context_handle(context),
        .epoch = atomic_load(&context->epoch),
        .stream = stream,
    };
    return only;
}
