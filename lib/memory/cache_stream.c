/* Streams that pieces are freed for, and when another stream may have them. */
#include "base/error.h"
#include "context/excursion.h"
#include "memory/cache.h"
#include "work/asking.h"
#include "work/stream.h"
#include "work/uncaptured.h"
#include <sched.h>

/* ---- numbers ---- */

/* Lock held. */
static uint32_t find_owner(const cx_cache *cache, const ctxrt_stream *stream)
{
    for (uint32_t i = 1; i < cache->owner_count; i++)
        if (cache->owners[i].stream == stream)
            return i;
    return 0;
}

static void note_taken(uint32_t index, const cx_fit_node *node, void *argument)
{
    (void)index;
    ((bool *)argument)[node->owner] = true;
}

/* Lock held. The number of a stream that is gone, and that no range is freed for any more. */
static uint32_t find_unused(cx_cache *cache)
{
    bool taken[CX_FIT_OWNERS_MAX] = {false};
    cx_heap_each_taken(&cache->region->heap, note_taken, taken);
    for (uint32_t i = 1; i < cache->owner_count; i++)
        if (cache->owners[i].closed && !cache->owners[i].asked && !taken[i] &&
            cx_heap_owned_units(&cache->region->heap, i) == 0)
            return i;
    return 0;
}

/* Lock held. */
static uint32_t take_number(cx_cache *cache)
{
    for (uint32_t i = 1; i < cache->owner_count; i++)
        if (cache->owners[i].stream == NULL)
            return i;
    return cache->owner_count < CX_FIT_NOWHERE ? cache->owner_count++ : find_unused(cache);
}

static void destroy_mark(const cx_cache *cache, CUevent mark)
{
    if (mark != NULL)
        (void)cache->context->driver->table.event_destroy(mark);
}

uint32_t cx_cache_owner(cx_cache *cache, const ctxrt_stream *stream)
{
    cx_stream_target target;
    CUevent stale = NULL;
    const cx_stream *found = cx_pool_find(&cx_streams, stream);
    bool foreign = found != NULL && atomic_load(&found->kind) == CX_STREAM_WRAPPED;
    if (cx_stream_resolve_handle(stream, &target) != CTXRT_SUCCESS)
        return 0;
    pthread_mutex_lock(&cache->lock);
    uint32_t owner = find_owner(cache, stream);
    if (owner == 0) {
        owner = take_number(cache);
        if (owner != 0) {
            stale = cache->owners[owner].mark;
            cache->owners[owner] =
                (cx_owner){.stream = stream, .native = target.native, .foreign = foreign};
        }
    }
    pthread_mutex_unlock(&cache->lock);
    destroy_mark(cache, stale);
    if (owner == 0)
        (void)cx_error(CTXRT_ERROR_OUT_OF_MEMORY,
                       "memory of %s is in use in %d streams, and no other can have any",
                       cx_context_text(cache->context), CX_FIT_NOWHERE - 1);
    return owner;
}

const ctxrt_stream *cx_cache_stream_of(cx_cache *cache, uint32_t piece)
{
    pthread_mutex_lock(&cache->lock);
    const cx_owner *owner = &cache->owners[cx_piece_at(piece)->node.owner];
    const ctxrt_stream *stream = owner->closed ? NULL : owner->stream;
    pthread_mutex_unlock(&cache->lock);
    return stream;
}

/* ---- marks ---- */

/* NULL: it could not be made, or recorded. */
static CUevent make_mark(const cx_cache *cache, CUstream native)
{
    const cx_driver *driver = cache->context->driver;
    CUevent mark;
    cx_excursion excursion;
    if (cx_excursion_begin(cache->context, &excursion) != CTXRT_SUCCESS)
        return NULL;
    if (driver->table.event_create(&mark, CXU_EVENT_DISABLE_TIMING) != CXU_SUCCESS) {
        mark = NULL;
    } else if (!cx_asking_mark(driver, native, mark)) {
        (void)driver->table.event_destroy(mark);
        mark = NULL;
    }
    cx_excursion_end(&excursion);
    return mark;
}

/* Lets nobody else ask the driver about an owner meanwhile: then its mark is the caller's. */
static bool begin_asking(cx_cache *cache, uint32_t owner, cx_owner *out_owner)
{
    pthread_mutex_lock(&cache->lock);
    cx_owner *found = &cache->owners[owner];
    bool mine = found->stream != NULL && !found->asked;
    if (mine) {
        found->asked = true;
        *out_owner = *found;
    }
    pthread_mutex_unlock(&cache->lock);
    return mine;
}

static void end_asking(cx_cache *cache, uint32_t owner, const cx_owner *seen)
{
    pthread_mutex_lock(&cache->lock);
    cache->owners[owner].mark = seen->mark;
    cache->owners[owner].marked_gives = seen->marked_gives;
    cache->owners[owner].asked = false;
    pthread_mutex_unlock(&cache->lock);
}

/* Marks are of the stream, so a later one is behind all work that an earlier one is behind. What
 * cannot be marked is behind no mark: not behind an earlier one either. */
static bool mark_again(cx_cache *cache, cx_owner *seen)
{
    CUevent before = seen->mark;
    if (before == NULL)
        seen->mark = make_mark(cache, seen->native);
    else if (!cx_asking_mark(cache->context->driver, seen->native, before))
        seen->mark = NULL;
    if (seen->mark == NULL)
        destroy_mark(cache, before);
    else
        seen->marked_gives = seen->gives;
    return seen->mark != NULL;
}

void cx_cache_mark_foreign(cx_cache *cache, uint32_t owner)
{
    cx_owner seen;
    while (!begin_asking(cache, owner, &seen))
        sched_yield();
    /* A stream that was closed is marked behind all of its work, and may be gone. */
    if (!seen.closed)
        (void)mark_again(cache, &seen);
    end_asking(cache, owner, &seen);
}

/* ---- reclaiming ---- */

/* What was freed for a stream of other code, or for one that is gone, is before its mark whenever
 * it was freed. */
static bool is_marked(const cx_owner *seen)
{
    return seen->mark != NULL &&
           (seen->foreign || seen->closed || seen->marked_gives == seen->gives);
}

/* Ranges freed meanwhile may have work behind the mark: then nothing is everyone's yet. */
static bool give_to_all(cx_cache *cache, uint32_t owner, const cx_owner *seen)
{
    pthread_mutex_lock(&cache->lock);
    const cx_owner *now = &cache->owners[owner];
    bool same =
        now->stream == seen->stream && (seen->foreign || seen->closed || now->gives == seen->gives);
    bool moved = same && cx_heap_move(&cache->region->heap, owner, 0);
    pthread_mutex_unlock(&cache->lock);
    return moved;
}

/* Waiting for a context ends the captures of its streams. */
static bool any_captures(cx_cache *cache)
{
    bool any = false;
    cx_owner seen;
    pthread_mutex_lock(&cache->lock);
    uint32_t count = cache->owner_count;
    pthread_mutex_unlock(&cache->lock);
    for (uint32_t other = 1; other < count && !any; other++) {
        if (!begin_asking(cache, other, &seen))
            continue;
        any = !seen.closed && !cx_uncaptured_may_ask(cache->context->driver, seen.native);
        end_asking(cache, other, &seen);
    }
    return any;
}

/* Its own stream cannot be asked: it is gone, and no mark could be left. */
static bool wait_for_context(cx_cache *cache)
{
    cx_excursion excursion;
    if (any_captures(cache) || cx_excursion_begin(cache->context, &excursion) != CTXRT_SUCCESS)
        return false;
    bool done = cache->context->driver->table.ctx_synchronize() == CXU_SUCCESS;
    cx_excursion_end(&excursion);
    return done;
}

/* An event recorded just now is not over yet, even in a stream that has nothing to do. */
static bool is_idle(const cx_driver *driver, CUstream native)
{
    if (!cx_asking_begin(driver, native))
        return false;
    cxu_result result = driver->table.stream_query(native);
    cx_asking_end(native);
    return result == CXU_SUCCESS;
}

static bool is_done(cx_cache *cache, cx_owner *seen, bool wait)
{
    const cx_driver *driver = cache->context->driver;
    if (!is_marked(seen)) {
        if (seen->closed)
            return wait && wait_for_context(cache);
        if (!seen->foreign && is_idle(driver, seen->native))
            return true;
        if ((seen->foreign && !wait) || !mark_again(cache, seen))
            return false;
    }
    return (wait ? driver->table.event_synchronize(seen->mark)
                 : driver->table.event_query(seen->mark)) == CXU_SUCCESS;
}

static bool reclaim_one(cx_cache *cache, uint32_t owner, bool wait)
{
    cx_owner seen;
    if (!begin_asking(cache, owner, &seen))
        return false;
    bool done = is_done(cache, &seen, wait);
    end_asking(cache, owner, &seen);
    return done && give_to_all(cache, owner, &seen);
}

static bool has_something(cx_cache *cache, uint32_t owner)
{
    pthread_mutex_lock(&cache->lock);
    bool something =
        owner < cache->owner_count && cx_heap_owned_units(&cache->region->heap, owner) != 0;
    pthread_mutex_unlock(&cache->lock);
    return something;
}

bool cx_cache_reclaim(cx_cache *cache, uint32_t owner, bool wait)
{
    bool reclaimed = false;
    pthread_mutex_lock(&cache->lock);
    uint32_t count = cache->owner_count;
    pthread_mutex_unlock(&cache->lock);
    if (count <= 2 && owner != 0)
        return false;
    cx_uncaptured uncaptured = cx_uncaptured_begin(cache->context->driver);
    for (uint32_t other = 1; other < count; other++)
        if (other != owner && has_something(cache, other))
            reclaimed |= reclaim_one(cache, other, wait);
    cx_uncaptured_end(&uncaptured);
    return reclaimed;
}

/* A stream that is asked is not destroyed meanwhile. */
bool cx_cache_is_stream_done(cx_cache *cache, uint32_t owner, bool wait)
{
    cx_owner seen;
    const cx_driver *driver = cache->context->driver;
    cx_uncaptured uncaptured = cx_uncaptured_begin(driver);
    while (!begin_asking(cache, owner, &seen))
        sched_yield();
    bool done = seen.closed || is_idle(driver, seen.native);
    if (!done && wait)
        done = mark_again(cache, &seen) &&
               driver->table.event_synchronize(seen.mark) == CXU_SUCCESS;
    end_asking(cache, owner, &seen);
    cx_uncaptured_end(&uncaptured);
    return done;
}

/* ---- ends ---- */

typedef struct closing {
    const cx_context *context;
    const ctxrt_stream *stream;
    cx_cache *found;
} closing;

/* A pinned cache is not closed. */
static void find_cache(cx_cache *cache, void *argument)
{
    closing *search = argument;
    if (cache->context != search->context || search->found != NULL)
        return;
    pthread_mutex_lock(&cache->lock);
    uint32_t owner = find_owner(cache, search->stream);
    if (owner != 0 && !cache->owners[owner].closed) {
        search->found = cache;
        atomic_fetch_add(&cache->pins, 1);
    }
    pthread_mutex_unlock(&cache->lock);
}

/* The mark comes first: what is in the stashes then is before it. */
static void close_owner(cx_cache *cache, const ctxrt_stream *stream)
{
    cx_owner seen;
    pthread_mutex_lock(&cache->lock);
    uint32_t owner = find_owner(cache, stream);
    pthread_mutex_unlock(&cache->lock);
    if (owner == 0)
        return;
    while (!begin_asking(cache, owner, &seen))
        sched_yield();
    (void)mark_again(cache, &seen);
    end_asking(cache, owner, &seen);
    pthread_mutex_lock(&cache->lock);
    cache->owners[owner].closed = true;
    pthread_mutex_unlock(&cache->lock);
    cx_cache_flush(cache, owner);
}

void cx_caches_close_stream(const cx_context *context, const ctxrt_stream *stream)
{
    closing search = {.context = context, .stream = stream};
    for (cx_caches_each(find_cache, &search); search.found != NULL;
         cx_caches_each(find_cache, &search)) {
        close_owner(search.found, stream);
        atomic_fetch_sub(&search.found->pins, 1);
        search.found = NULL;
    }
}

void cx_cache_drop_owners(cx_cache *cache, bool native)
{
    for (uint32_t i = 1; i < cache->owner_count; i++)
        if (native)
            destroy_mark(cache, cache->owners[i].mark);
    cache->owner_count = 1;
}
