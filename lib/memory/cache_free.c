/*
 * Where a freed block goes. If streams that were recorded with it may still use it, its free is
 * deferred until they are done; only a request that would fail otherwise waits for that. Then it
 * goes into the magazine of its own stream, or to the heap, as that stream's. The allocator counts
 * it as freed at once.
 */
#include "memory/address_index.h"
#include "memory/cache.h"

#include "base/error.h"
#include "work/work.h"

/* ---- to the heap, or into the magazine ---- */

static void give_all(cx_cache *cache, const uint32_t *blocks, uint32_t count)
{
    if (count == 0)
        return;
    for (uint32_t i = 0; i < count; i++)
        __builtin_prefetch(cx_cache_block_at(blocks[i]), 1);
    cx_lock_enter(&cache->lock);
    for (uint32_t i = 0; i < count; i++)
        cx_cache_give(cache, blocks[i]);
    cx_lock_leave(&cache->lock);
}

/* NULL: out of memory, or there are too many. */
static cx_magazine *make_magazine(cx_cache *cache)
{
    if (atomic_load(&cache->magazines) >= CX_CACHE_MAGAZINES_MAX)
        return NULL;
    cx_magazine *magazine = cx_magazine_new();
    if (magazine != NULL) {
        atomic_fetch_add(&cache->magazines, 1);
        cx_cache_set_keep(cache);
    }
    return magazine;
}

/* Keeps the block as the magazine's large one: returns the one before. */
static cx_kept_block swap_large(cx_cache *cache, cx_magazine *magazine, cx_kept_block cached)
{
    const cx_kept_block before = magazine->large;
    magazine->large = cached;
    if (!atomic_load_explicit(&cache->keeps_large, memory_order_relaxed))
        atomic_store(&cache->keeps_large, true);
    return before;
}

void cx_cache_put_over(cx_cache *cache, cx_cache_stream *stream, cx_kept_block cached)
{
    uint32_t over[CX_MAGAZINE_BLOCKS + 1], count = 0;
    if (stream->magazine == NULL)
        stream->magazine = make_magazine(cache);
    cx_magazine *magazine = stream->magazine;
    if (magazine != NULL) {
        if (cached.units <= atomic_load_explicit(&cache->keep.units_each, memory_order_relaxed))
            count = cx_magazine_thin(magazine, cached.units, over);
        else if (atomic_load_explicit(&cache->keep.large, memory_order_relaxed))
            cached = swap_large(cache, magazine, cached);
    }
    if (cached.units != 0 &&
        (magazine == NULL || !cx_magazine_put(magazine, &cache->keep, cached)))
        over[count++] = cached.cached;
    give_all(cache, over, count);
}

uint32_t cx_cache_refill(cx_cache *cache, cx_cache_stream *stream, uint32_t units)
{
    uint32_t index = cx_cache_take(cache, stream->id, units);
    cx_magazine *magazine = stream->magazine;
    if (index == 0 && magazine != NULL && magazine->large.units != 0) {
        give_all(cache, &magazine->large.cached, 1);
        magazine->large.units = 0;
        index = cx_cache_take(cache, stream->id, units);
    }
    return index;
}

static void put_back(cx_cache *cache, uint32_t index)
{
    cx_cache_stream *stream = cx_cache_stream_at(cache, cx_cache_block_at(index)->node.owner);
    cx_lock_enter(&stream->lock);
    if (stream->closed || cache->pinned)
        give_all(cache, &index, 1);
    else
        cx_cache_put_at_hand(cache, stream, index);
    cx_lock_leave(&stream->lock);
}

/* ---- deferred frees ---- */

/* For its heap the block is still taken, so its link is ours. Lock "cache" held. */
static void push_deferred(cx_cache *cache, uint32_t index)
{
    cx_cache_block_at(index)->node.next = cache->deferred;
    cache->deferred = index;
}

/* Memory that the host may write to at once also waits for its own stream: no stream orders the
 * host behind earlier work. Pinned memory has none. */
static bool is_own_stream_done(cx_cache *cache, uint32_t index, bool wait)
{
    uint32_t id = cx_cache_block_at(index)->node.owner;
    return !cache->host_accessible || id == 0 || cx_cache_is_stream_done(cache, id, wait);
}

/* Defers a block's free if the work of a recorded stream is unfinished, or if the host may write to
 * the block and its own stream is unfinished. Returns errors of earlier work. */
static ctxrt_status defer_free(cx_cache *cache, uint32_t index, bool *out_deferred)
{
    bool done;
    ctxrt_status status = cx_stream_uses_let_go(&cx_cache_block_at(index)->uses, false, &done);
    *out_deferred = !is_own_stream_done(cache, index, true) || !done;
    if (*out_deferred) {
        cx_lock_enter(&cache->lock);
        push_deferred(cache, index);
        cx_lock_leave(&cache->lock);
    }
    return status;
}

/* The free already reported earlier errors. */
static bool let_go(cx_stream_uses *uses, bool wait)
{
    cx_error_saved saved;
    bool done;
    cx_error_save(&saved);
    (void)cx_stream_uses_let_go(uses, wait, &done);
    cx_error_restore(&saved);
    return done;
}

/* `context` NULL: of all contexts. */
static void finish_uses(cx_stream_uses *uses, const cx_context *context)
{
    cx_error_saved saved;
    cx_error_save(&saved);
    (void)(context != NULL ? cx_stream_uses_finish_of(uses, context) : cx_stream_uses_finish(uses));
    cx_error_restore(&saved);
}

/* What a look at the deferred frees waits for. */
typedef enum settling {
    SETTLE_DONE,    /* nothing: it frees the blocks whose streams are done */
    SETTLE_WAIT,    /* all streams */
    SETTLE_CONTEXT, /* the streams of one context, whose events it drops */
    SETTLE_END      /* all streams, whatever their errors: no event is left */
} settling;

/* One thread at a time goes through them: a context does not end while another thread queries one
 * of its events. Returns the first; 0: there are none, or another thread is at it. */
static uint32_t begin_settling(cx_cache *cache, settling how)
{
    bool must = how == SETTLE_CONTEXT || how == SETTLE_END;
    cx_lock_enter(&cache->lock);
    while (cache->settling && (must || (how == SETTLE_WAIT && cache->deferred != 0)))
        cx_lock_wait(&cache->lock, &cache->answered);
    uint32_t first = cache->settling ? 0 : cache->deferred;
    if (first != 0) {
        cache->settling = true;
        cache->deferred = 0;
    }
    cx_lock_leave(&cache->lock);
    return first;
}

static void end_settling(cx_cache *cache)
{
    cx_lock_enter(&cache->lock);
    cache->settling = false;
    pthread_cond_broadcast(&cache->answered);
    cx_lock_leave(&cache->lock);
}

static bool is_settled(cx_cache *cache, uint32_t index, settling how, const cx_context *context)
{
    cx_stream_uses *uses = &cx_cache_block_at(index)->uses;
    if (how == SETTLE_CONTEXT || how == SETTLE_END)
        finish_uses(uses, context);
    return how == SETTLE_END || (let_go(uses, how == SETTLE_WAIT) &&
                                 is_own_stream_done(cache, index, how == SETTLE_WAIT));
}

/* True if there were any that are free now. */
static bool settle_deferred(cx_cache *cache, settling how, const cx_context *context)
{
    bool any = false;
    uint32_t next, first = begin_settling(cache, how);
    for (uint32_t index = first; index != 0; index = next) {
        next = cx_cache_block_at(index)->node.next;
        bool settled = is_settled(cache, index, how, context);
        any |= settled;
        cx_lock_enter(&cache->lock);
        if (settled)
            cx_cache_give(cache, index);
        else
            push_deferred(cache, index);
        cx_lock_leave(&cache->lock);
    }
    if (first != 0)
        end_settling(cache);
    return any;
}

bool cx_cache_free_deferred(cx_cache *cache, bool wait)
{
    return settle_deferred(cache, wait ? SETTLE_WAIT : SETTLE_DONE, NULL);
}

void cx_cache_drop_deferred(cx_cache *cache)
{
    (void)settle_deferred(cache, SETTLE_END, NULL);
}

/* ---- frees ---- */

/* In a section, which is left while the driver is asked, with the context pinned. */
static ctxrt_status free_cached(cx_cache *cache, uint32_t index)
{
    bool deferred = false;
    ctxrt_status status = CTXRT_SUCCESS;
    cx_cache_block *cached = cx_cache_block_at(index);
    bool waits = atomic_load_explicit(&cached->uses, memory_order_relaxed) != NULL ||
                 cache->host_accessible;
    if (__builtin_expect(cached->node.tag || waits, 0)) {
        cx_section_leave();
        if (cached->node.tag)
            cx_cache_record_foreign(cache, cached->node.owner);
        if (waits)
            status = defer_free(cache, index, &deferred);
        cx_section_enter();
    }
    if (!deferred)
        put_back(cache, index);
    return status;
}

/* The memory is gone, or goes now; or the thread has no memory for its record. */
static ctxrt_status free_outside(cx_cache *cache, uint32_t index)
{
    cx_cache_block *cached = cx_cache_block_at(index);
    ctxrt_status status = cx_stream_uses_finish(&cached->uses);
    cx_lock_enter(&cache->lock);
    if (cx_cache_block_is_gone(cached)) {
        atomic_fetch_and(&cached->state, ~(uint64_t)CX_CACHE_BLOCK_GONE);
        cx_pointers_leave(index); /* it is there still if the reset had no memory for a record */
        cx_heap_drop(&cache->heap, index);
    } else {
        cx_cache_give(cache, index);
    }
    cx_lock_leave(&cache->lock);
    return status;
}

ctxrt_status cx_cache_free(cx_cache *cache, uint32_t index)
{
    cx_thread *thread;
    cx_context *context = cache->context;
    cx_cache_block_clear(cx_cache_block_at(index));
    if (cx_thread_self(&thread) != CTXRT_SUCCESS || cx_context_enter(context) != CTXRT_SUCCESS)
        return free_outside(cache, index);
    if (cx_cache_block_is_gone(cx_cache_block_at(index))) {
        cx_section_leave();
        return free_outside(cache, index);
    }
    int cancel = cx_cancel_hold();
    cx_context_pin(context);
    ctxrt_status status = free_cached(cache, index);
    cx_section_leave();
    cx_cache_release_beyond(cache);
    cx_work_end_wait(context, cancel);
    return status;
}

/* ---- ends of contexts ---- */

/* False: another thread is resetting the context, and drops its deferred frees itself. The thread
 * that ends a context may have joined no section: it closes them instead. */
static bool pin_ending(cx_context *context)
{
    cx_sections_close();
    bool settled = !cx_context_is_resetting(context);
    if (settled)
        cx_context_pin(context);
    cx_sections_open();
    return settled;
}

/* The context's own caches drop their deferred frees when they close or forget their memory. */
void cx_caches_forget_uses_of(const cx_context *context)
{
    for (cx_cache *cache = cx_caches_next(NULL); cache != NULL; cache = cx_caches_next(cache)) {
        if (cache->context == context || !pin_ending(cache->context))
            continue;
        (void)settle_deferred(cache, SETTLE_CONTEXT, context);
        cx_context_unpin(cache->context);
    }
}
