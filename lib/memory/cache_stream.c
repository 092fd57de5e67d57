/* Streams that blocks are freed for, and the reuse of their memory by other streams. */
#include "base/error.h"
#include "context/context_guard.h"
#include "memory/cache.h"
#include "work/capture_gate.h"
#include "work/relaxed_capture.h"
#include "work/stream.h"
#include <stdlib.h>

/* A look at some streams checks and queries this many. */
#define STREAMS_LOOKED_AT 64
#define STREAMS_ASKED 16

/* ---- ids ---- */

/* Lock held, unless no other thread has the cache. NULL: no memory. */
static cx_cache_stream *add_id(cx_cache *cache)
{
    uint32_t id = cache->stream_count, chunk = cx_cache_stream_chunk(id);
    if (chunk == CX_CACHE_STREAM_CHUNKS)
        return NULL;
    if (atomic_load(&cache->streams[chunk]) == NULL)
        atomic_store_explicit(&cache->streams[chunk],
                              calloc(cx_cache_stream_chunk_size(chunk), sizeof(cx_cache_stream)),
                              memory_order_release);
    if (atomic_load(&cache->streams[chunk]) == NULL)
        return NULL;
    cx_cache_stream *stream = cx_cache_stream_at(cache, id);
    stream->cache = cache;
    stream->id = id;
    cx_lock_init(&stream->lock, CX_RANK_MAGAZINE);
    cache->stream_count++;
    return stream;
}

/* A cache that is used again has its records. */
bool cx_cache_open_streams(cx_cache *cache)
{
    if (cache->stream_count == 0 && add_id(cache) == NULL)
        return false;
    cx_cache_stream *nobody = cx_cache_stream_at(cache, 0);
    nobody->gives = nobody->taken = 0;
    return true;
}

/* Lock held. NULL: no memory. */
static cx_cache_stream *take_unused(cx_cache *cache)
{
    cx_cache_stream *stream = cache->unused;
    if (stream == NULL)
        return add_id(cache);
    cache->unused = stream->next;
    return stream;
}

/* Lock held. Keeps the event. */
static void put_unused(cx_cache *cache, cx_cache_stream *stream)
{
    atomic_store(&stream->stream, NULL);
    stream->closed = stream->over = stream->asked = false;
    stream->gives = stream->taken = 0;
    stream->next = cache->unused;
    cache->unused = stream;
}

static void destroy_event(const cx_cache *cache, CUevent event)
{
    if (event != NULL)
        (void)cache->context->driver->table.event_destroy(event);
}

void cx_cache_stream_forget_lists(cx_cache *cache, const cx_cache_stream *stream)
{
    cx_heap *heap = &cache->heap;
    if (stream->taken == 0 && cx_heap_owned_units(heap, stream->id) == 0)
        cx_heap_forget(heap, stream->id);
}

/* An event that is left is destroyed with the streams, or recorded again for the id's next
 * stream. */
void cx_cache_stream_settle(cx_cache *cache, cx_cache_stream *stream)
{
    cx_heap *heap = &cache->heap;
    if (!stream->closed || stream->asked || stream->taken != 0)
        return;
    if (cx_heap_owned_units(heap, stream->id) != 0 &&
        (!stream->over || !cx_heap_move(heap, stream->id, 0)))
        return;
    cx_heap_forget(heap, stream->id);
    put_unused(cache, stream);
}

/* Lock held. */
static cx_cache_stream *find_stream(cx_cache *cache, const ctxrt_stream *stream)
{
    cx_cache_stream *found;
    HASH_FIND_PTR(cache->by_handle, &stream, found);
    return found;
}

/* Lock held. NULL: out of memory. The event belongs to the context; any of its streams may record
 * it. */
static cx_cache_stream *add_stream(cx_cache *cache, const ctxrt_stream *handle, CUstream native,
                                   bool foreign)
{
    bool added = true;
    cx_cache_stream *stream = take_unused(cache);
    if (stream == NULL)
        return NULL;
    stream->native = native;
    stream->foreign = foreign;
    stream->plain = !foreign && cache->allocator->options.release_threshold_bytes == 0;
    stream->recorded_gives = UINT64_MAX;
    atomic_store(&stream->stream, handle);
    HASH_ADD_PTR(cache->by_handle, stream, stream);
    if (added)
        return stream;
    put_unused(cache, stream);
    return NULL;
}

cx_cache_stream *cx_cache_stream_find(cx_cache *cache, const ctxrt_stream *handle)
{
    cx_stream_target target;
    cx_lock_enter(&cache->lock);
    cx_cache_stream *stream = find_stream(cache, handle);
    cx_lock_leave(&cache->lock);
    if (stream != NULL)
        return stream;
    const cx_stream *record = cx_pool_find(&cx_streams, handle);
    bool foreign = record != NULL && atomic_load(&record->kind) == CX_STREAM_WRAPPED;
    if (cx_stream_resolve_handle(handle, &target) != CTXRT_SUCCESS)
        return NULL;
    cx_lock_enter(&cache->lock);
    stream = find_stream(cache, handle);
    if (stream == NULL)
        stream = add_stream(cache, handle, target.native, foreign);
    cx_lock_leave(&cache->lock);
    if (stream == NULL)
        (void)cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory to remember a stream of %s",
                       cx_context_text(cache->context));
    return stream;
}

const ctxrt_stream *cx_cache_stream_of(cx_cache *cache, uint32_t cached)
{
    cx_lock_enter(&cache->lock);
    const cx_cache_stream *stream =
        cx_cache_stream_at(cache, cx_cache_block_at(cached)->node.owner);
    const ctxrt_stream *handle = stream->closed ? NULL : stream->stream;
    cx_lock_leave(&cache->lock);
    return handle;
}

/* ---- events ---- */

/* NULL: it could not be created or recorded. */
static CUevent make_event(const cx_cache *cache, CUstream native)
{
    const cx_driver *driver = cache->context->driver;
    CUevent event;
    cx_context_guard guard;
    if (cx_context_guard_enter(cache->context, &guard) != CTXRT_SUCCESS)
        return NULL;
    if (driver->table.event_create(&event, CXU_EVENT_DISABLE_TIMING) != CXU_SUCCESS) {
        event = NULL;
    } else if (!cx_capture_gate_record(driver, native, event)) {
        (void)driver->table.event_destroy(event);
        event = NULL;
    }
    cx_context_guard_leave(&guard);
    return event;
}

/* Keeps other threads from querying the stream: until leave_gate all fields of its record but
 * `gives` and `taken` are the caller's. NULL: there is no such stream, or another thread is at it
 * and `must` is false. *out_gives: the ranges freed so far; other threads go on meanwhile. */
static cx_cache_stream *enter_gate(cx_cache *cache, uint32_t id, bool must, uint64_t *out_gives)
{
    cx_lock_enter(&cache->lock);
    cx_cache_stream *stream = cx_cache_stream_at(cache, id);
    while (must && stream->asked)
        cx_lock_wait(&cache->lock, &cache->answered);
    bool mine = stream->stream != NULL && !stream->asked;
    if (mine) {
        stream->asked = true;
        *out_gives = stream->gives;
    }
    cx_lock_leave(&cache->lock);
    return mine ? stream : NULL;
}

static void leave_gate(cx_cache_stream *stream)
{
    cx_cache *cache = stream->cache;
    cx_lock_enter(&cache->lock);
    stream->asked = false;
    cx_cache_stream_settle(cache, stream);
    pthread_cond_broadcast(&cache->answered);
    cx_lock_leave(&cache->lock);
}

/* A later event of a stream covers all work that an earlier one covers. After a failed record
 * neither the new nor the earlier event covers the work. */
static bool record_again(cx_cache_stream *stream, uint64_t gives)
{
    const cx_cache *cache = stream->cache;
    CUevent before = stream->event;
    if (before == NULL)
        stream->event = make_event(cache, stream->native);
    else if (!cx_capture_gate_record(cache->context->driver, stream->native, before))
        stream->event = NULL;
    if (stream->event == NULL)
        destroy_event(cache, before);
    else
        stream->recorded_gives = gives;
    return stream->event != NULL;
}

void cx_cache_record_foreign(cx_cache *cache, uint32_t id)
{
    uint64_t gives;
    cx_cache_stream *stream = enter_gate(cache, id, true, &gives);
    if (stream == NULL)
        return;
    /* A closed stream may be gone; its event is behind all of its work. */
    if (!stream->closed)
        (void)record_again(stream, gives);
    leave_gate(stream);
}

/* ---- reclaiming ---- */

/* The event already covers every free in a foreign stream, or in one that is gone. */
static bool is_recorded(const cx_cache_stream *stream, uint64_t gives)
{
    if (stream->event == NULL)
        return false;
    return stream->foreign || stream->closed ? stream->recorded_gives != UINT64_MAX
                                             : stream->recorded_gives == gives;
}

/* Ranges freed meanwhile may have work behind the event: then nothing becomes unowned yet. */
static bool give_to_all(cx_cache_stream *stream, uint64_t gives)
{
    cx_cache *cache = stream->cache;
    cx_lock_enter(&cache->lock);
    bool same = stream->foreign || stream->closed || stream->gives == gives;
    if (same && stream->closed)
        stream->over = true;
    bool moved = same && cx_heap_owned_units(&cache->heap, stream->id) != 0 &&
                 cx_heap_move(&cache->heap, stream->id, 0);
    cx_cache_stream_forget_lists(cache, stream);
    cx_lock_leave(&cache->lock);
    return moved;
}

uint32_t cx_cache_stream_count(cx_cache *cache)
{
    cx_lock_enter(&cache->lock);
    uint32_t count = cache->stream_count;
    cx_lock_leave(&cache->lock);
    return count;
}

/* Waiting for a context ends the captures of its streams. */
static bool any_captures(cx_cache *cache)
{
    bool any = false;
    uint64_t gives;
    uint32_t count = cx_cache_stream_count(cache);
    for (uint32_t id = CX_CACHE_STREAM_FIRST; id < count && !any; id++) {
        cx_cache_stream *stream = enter_gate(cache, id, false, &gives);
        if (stream == NULL)
            continue;
        any = !stream->closed &&
              !cx_relaxed_capture_may_query(cache->context->driver, stream->native);
        leave_gate(stream);
    }
    return any;
}

/* For a stream that is gone without an event. */
static bool wait_for_context(cx_cache *cache)
{
    cx_context_guard guard;
    if (any_captures(cache) || cx_context_guard_enter(cache->context, &guard) != CTXRT_SUCCESS)
        return false;
    bool done = cache->context->driver->table.ctx_synchronize() == CXU_SUCCESS;
    cx_context_guard_leave(&guard);
    return done;
}

/* An event recorded just now is never done, even in an idle stream, so the stream itself is
 * queried. */
static bool is_idle(const cx_driver *driver, CUstream native)
{
    if (!cx_capture_gate_enter(driver, native))
        return false;
    cxu_result result = driver->table.stream_query(native);
    cx_capture_gate_leave(native);
    return result == CXU_SUCCESS;
}

static bool is_done(cx_cache_stream *stream, uint64_t gives, bool wait)
{
    const cx_driver *driver = stream->cache->context->driver;
    if (stream->over)
        return true;
    if (!is_recorded(stream, gives)) {
        if (stream->closed)
            return wait && wait_for_context(stream->cache);
        if (!stream->foreign && is_idle(driver, stream->native))
            return true;
        if ((stream->foreign && !wait) || !record_again(stream, gives))
            return false;
    }
    return (wait ? driver->table.event_synchronize(stream->event)
                 : driver->table.event_query(stream->event)) == CXU_SUCCESS;
}

static bool reclaim_one(cx_cache *cache, uint32_t id, bool wait)
{
    uint64_t gives;
    cx_cache_stream *stream = enter_gate(cache, id, false, &gives);
    if (stream == NULL)
        return false;
    bool moved = is_done(stream, gives, wait) && give_to_all(stream, gives);
    leave_gate(stream);
    return moved;
}

/* True if the driver should be asked about a stream. Lock held. */
static bool is_worth_asking(cx_cache *cache, uint32_t id)
{
    const cx_cache_stream *stream = cx_cache_stream_at(cache, id);
    return stream->stream != NULL && (cx_heap_owned_units(&cache->heap, id) != 0 ||
                                      (stream->closed && !stream->over));
}

/* The next such id of at most `most` from *looked_at on; `count`: none. */
static uint32_t next_worth_asking(cx_cache *cache, uint32_t *looked_at, uint32_t most,
                                  uint32_t except)
{
    uint32_t found = 0;
    cx_lock_enter(&cache->lock);
    while (found == 0 && *looked_at < most) {
        if (cache->next_asked < CX_CACHE_STREAM_FIRST ||
            cache->next_asked >= cache->stream_count)
            cache->next_asked = CX_CACHE_STREAM_FIRST;
        uint32_t id = cache->next_asked++;
        (*looked_at)++;
        if (id < cache->stream_count && id != except && is_worth_asking(cache, id))
            found = id;
    }
    cx_lock_leave(&cache->lock);
    return found;
}

bool cx_cache_reclaim(cx_cache *cache, uint32_t id, cx_reclaim how)
{
    bool reclaimed = false;
    uint32_t other, looked_at = 0, asked = 0;
    uint32_t most = cx_cache_stream_count(cache) - CX_CACHE_STREAM_FIRST;
    if (most == 0 || (most == 1 && id != 0))
        return false;
    if (how == CX_RECLAIM_SOME && most > STREAMS_LOOKED_AT)
        most = STREAMS_LOOKED_AT;
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(cache->context->driver);
    while ((how != CX_RECLAIM_SOME || asked++ < STREAMS_ASKED) &&
           (other = next_worth_asking(cache, &looked_at, most, id)) != 0)
        reclaimed |= reclaim_one(cache, other, how == CX_RECLAIM_WAIT);
    cx_relaxed_capture_end(&relaxed);
    return reclaimed;
}

/* The stream is not closed. */
static bool wait_until_idle(cx_cache_stream *stream, uint64_t gives)
{
    const cx_driver *driver = stream->cache->context->driver;
    return is_idle(driver, stream->native) ||
           (record_again(stream, gives) &&
            driver->table.event_synchronize(stream->event) == CXU_SUCCESS);
}

/* A stream is not destroyed while it is queried. */
bool cx_cache_is_stream_done(cx_cache *cache, uint32_t id, bool wait)
{
    uint64_t gives;
    const cx_driver *driver = cache->context->driver;
    cx_cache_stream *stream = enter_gate(cache, id, true, &gives);
    if (stream == NULL)
        return true;
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(driver);
    bool done = stream->closed || (wait ? wait_until_idle(stream, gives)
                                        : is_idle(driver, stream->native));
    cx_relaxed_capture_end(&relaxed);
    leave_gate(stream);
    return done;
}

static void await_stream(cx_cache *cache, uint32_t id)
{
    uint64_t gives;
    cx_cache_stream *stream = enter_gate(cache, id, true, &gives);
    if (stream == NULL)
        return;
    (void)(stream->closed ? is_done(stream, gives, true) : wait_until_idle(stream, gives));
    leave_gate(stream);
}

void cx_cache_await_streams(cx_cache *cache)
{
    uint32_t count = cx_cache_stream_count(cache);
    for (uint32_t id = CX_CACHE_STREAM_FIRST; id < count; id++)
        await_stream(cache, id);
}

/* ---- ends ---- */

/* Other code may destroy its stream once all memory of it is freed: each free recorded the event.
 */
static bool is_covered(const cx_cache_stream *stream, uint64_t gives)
{
    cx_cache *cache = stream->cache;
    cx_lock_enter(&cache->lock);
    bool none = stream->taken == 0;
    cx_lock_leave(&cache->lock);
    return none && is_recorded(stream, gives);
}

/* From then on no block of the stream goes into its magazine. */
static void mark_closed(cx_cache_stream *stream, bool over)
{
    cx_cache *cache = stream->cache;
    cx_lock_enter(&stream->lock);
    cx_lock_enter(&cache->lock);
    stream->closed = true;
    stream->over = over;
    HASH_DEL(cache->by_handle, stream);
    cx_lock_leave(&cache->lock);
    cx_lock_leave(&stream->lock);
}

/* A stream whose work is done needs no event. */
static void close_stream(cx_cache *cache, uint32_t id)
{
    uint64_t gives;
    cx_cache_stream *stream = enter_gate(cache, id, true, &gives);
    if (stream == NULL)
        return;
    bool over = !stream->foreign && is_idle(cache->context->driver, stream->native);
    if (!over && !(stream->foreign && is_covered(stream, gives)))
        (void)record_again(stream, gives);
    mark_closed(stream, over);
    cx_cache_flush_stream(cache, stream);
    leave_gate(stream);
}

static void leave_streams(cx_cache *cache, void *argument)
{
    const cx_thread *thread = argument;
    for (size_t i = 0; i < thread->default_stream_count; i++) {
        cx_lock_enter(&cache->lock);
        cx_cache_stream *stream = find_stream(cache, thread->default_streams[i].stream);
        cx_lock_leave(&cache->lock);
        if (stream != NULL)
            cx_cache_flush_stream(cache, stream);
    }
}

/* A record stays whatever becomes of its stream. */
void cx_caches_leave_thread(cx_thread *thread)
{
    cx_caches_each(leave_streams, thread);
}

void cx_caches_close_stream(const cx_context *context, const ctxrt_stream *handle)
{
    for (cx_cache *cache = cx_caches_next(NULL); cache != NULL; cache = cx_caches_next(cache)) {
        if (cache->context != context)
            continue;
        cx_lock_enter(&cache->lock);
        const cx_cache_stream *stream = find_stream(cache, handle);
        uint32_t id = stream != NULL ? stream->id : 0;
        cx_lock_leave(&cache->lock);
        if (id != 0)
            close_stream(cache, id);
    }
}

void cx_cache_drop_streams(cx_cache *cache, bool native)
{
    cx_lock_enter(&cache->lock);
    HASH_CLEAR(hh, cache->by_handle);
    cache->unused = NULL;
    for (uint32_t id = cache->stream_count; id-- > CX_CACHE_STREAM_FIRST;) {
        cx_cache_stream *stream = cx_cache_stream_at(cache, id);
        if (native)
            destroy_event(cache, stream->event);
        stream->event = NULL;
        put_unused(cache, stream);
    }
    cx_lock_leave(&cache->lock);
}
