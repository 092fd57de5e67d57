/*
 * Deferred frees: freed blocks that recorded streams may still use. They become free when those are
 * done. The allocator counts them as freed at once; only a request that would fail otherwise waits
 * for them.
 */
#include "base/error.h"
#include "memory/cache.h"

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

ctxrt_status cx_cache_defer(cx_cache *cache, uint32_t index, bool *out_deferred)
{
    bool done;
    ctxrt_status status = cx_stream_uses_let_go(&cx_cache_block_at(index)->uses, false, &done);
    done &= is_own_stream_done(cache, index, true);
    *out_deferred = !done;
    if (done)
        return status;
    cx_lock_enter(&cache->lock);
    push_deferred(cache, index);
    cx_lock_leave(&cache->lock);
    return status;
}

/* One thread at a time goes through them: a context does not end while another thread queries one
 * of its events. */
static bool begin_settling(cx_cache *cache, bool must)
{
    cx_lock_enter(&cache->lock);
    while (must && cache->settling)
        cx_lock_wait(&cache->lock, &cache->answered);
    bool begun = !cache->settling;
    cache->settling = true;
    cx_lock_leave(&cache->lock);
    return begun;
}

static void end_settling(cx_cache *cache)
{
    cx_lock_enter(&cache->lock);
    cache->settling = false;
    pthread_cond_broadcast(&cache->answered);
    cx_lock_leave(&cache->lock);
}

static uint32_t take_all(cx_cache *cache)
{
    cx_lock_enter(&cache->lock);
    uint32_t first = cache->deferred;
    cache->deferred = 0;
    cx_lock_leave(&cache->lock);
    return first;
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

static void settle_deferred(cx_cache *cache, uint32_t index, bool done)
{
    cx_lock_enter(&cache->lock);
    if (done)
        cx_cache_give(cache, index);
    else
        push_deferred(cache, index);
    cx_lock_leave(&cache->lock);
}

/* Drops events of `context`, if that is not NULL; with `wait`, waits for all. */
static bool look_through(cx_cache *cache, const cx_context *context, bool wait)
{
    bool any = false;
    uint32_t next;
    for (uint32_t index = take_all(cache); index != 0; index = next) {
        cx_stream_uses *uses = &cx_cache_block_at(index)->uses;
        next = cx_cache_block_at(index)->node.next;
        if (context != NULL)
            finish_uses(uses, context);
        bool done = let_go(uses, wait) && is_own_stream_done(cache, index, wait);
        any |= done;
        settle_deferred(cache, index, done);
    }
    return any;
}

bool cx_cache_free_deferred(cx_cache *cache, bool wait)
{
    cx_lock_enter(&cache->lock);
    bool none = cache->deferred == 0;
    cx_lock_leave(&cache->lock);
    if (none || !begin_settling(cache, wait))
        return false;
    bool any = look_through(cache, NULL, wait);
    end_settling(cache);
    return any;
}

void cx_cache_drop_deferred(cx_cache *cache)
{
    uint32_t next;
    (void)begin_settling(cache, true);
    for (uint32_t index = take_all(cache); index != 0; index = next) {
        next = cx_cache_block_at(index)->node.next;
        finish_uses(&cx_cache_block_at(index)->uses, NULL);
        settle_deferred(cache, index, true);
    }
    end_settling(cache);
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
        (void)begin_settling(cache, true);
        (void)look_through(cache, context, false);
        end_settling(cache);
        cx_context_unpin(cache->context);
    }
}
