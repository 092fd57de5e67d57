#include "memory/private_pool.h"

#include "base/error.h"
#include "memory/cache.h"
#include "memory/cross_driver_copies.h"
#include "memory/address_index.h"
#include "work/relaxed_capture.h"
#include <stdlib.h>

_Thread_local cx_private_pool_use *cx_private_pools __attribute__((tls_model("initial-exec")));

/* ---- the allocator beneath ---- */

/* The memory belongs to the pool, not to a capture. */
static ctxrt_status take_relaxed(cx_block *block, ctxrt_stream *stream)
{
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(block->context->driver);
    ctxrt_status status = cx_block_take(block, stream);
    cx_relaxed_capture_end(&relaxed);
    return status;
}

static ctxrt_status give_back_relaxed(const cx_block *block)
{
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(block->context->driver);
    ctxrt_status status = cx_block_give_back(block);
    cx_relaxed_capture_end(&relaxed);
    return status;
}

/* ---- making and destroying ---- */

cx_private_pool *cx_private_pool_make(void)
{
    cx_private_pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL) {
        (void)cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for a private pool");
        return NULL;
    }
    cx_lock_init(&pool->lock, CX_RANK_PRIVATE_POOL);
    pool->owners = 1;
    return pool;
}

void cx_private_pool_retain(cx_private_pool *pool)
{
    cx_lock_enter(&pool->lock);
    pool->owners++;
    cx_lock_leave(&pool->lock);
}

/* Called once the pool has no owner, and no block that points to it. */
static void destroy_pool(cx_private_pool *pool)
{
    cx_lock_destroy(&pool->lock);
    free(pool);
}

ctxrt_status cx_private_pool_release(cx_private_pool *pool)
{
    ctxrt_status status = CTXRT_SUCCESS;
    cx_lock_enter(&pool->lock);
    bool last = --pool->owners == 0;
    cx_pooled *next, *kept = last ? pool->kept : NULL;
    if (last) {
        pool->kept = NULL;
        pool->kept_count = 0;
        pool->kept_bytes = 0;
    }
    bool gone = last && pool->live_count == 0;
    cx_lock_leave(&pool->lock);
    for (; kept != NULL; kept = next) {
        next = kept->next;
        ctxrt_status given = give_back_relaxed(&kept->block);
        status = status == CTXRT_SUCCESS ? given : status;
        free(kept);
    }
    if (gone)
        destroy_pool(pool);
    return status;
}

void cx_private_pool_open(cx_private_pool_use *use, cx_private_pool *pool, uint64_t token)
{
    *use = (cx_private_pool_use){.pool = pool, .token = token, .outer = cx_private_pools};
    cx_private_pools = use;
}

/* An ended thread has taken its list along. */
static void leave_thread(const cx_private_pool_use *use)
{
    cx_private_pool_use **link = &cx_private_pools;
    while (*link != NULL && *link != use)
        link = &(*link)->outer;
    if (*link != NULL)
        *link = use->outer;
}

void cx_private_pool_close(cx_private_pool_use *use)
{
    if (use->pool != NULL)
        leave_thread(use);
    use->pool = NULL;
}

void cx_private_pool_look(cx_private_pool *pool, cx_private_pool_figures *out_figures)
{
    cx_lock_enter(&pool->lock);
    *out_figures = (cx_private_pool_figures){pool->live_count, pool->live_bytes, pool->kept_count,
                                             pool->kept_bytes};
    cx_lock_leave(&pool->lock);
}

/* ---- kept blocks; lock held ---- */

/* Makes a block findable by its address, as a live block of its cache or of the direct source: with
 * the requested size, or all of it while it is kept. Pinned memory is never reused. */
static void begin_reused(const cx_pooled *pooled, size_t size_bytes)
{
    const cx_block *block = &pooled->block;
    uint32_t index = block->cached;
    if (index == 0 && block->allocator->kind == &cx_direct_allocator)
        cx_ranges_set_size(block->context, block->epoch, (uintptr_t)block->pointer, size_bytes);
    if (index != 0)
        cx_cache_block_begin_again(cx_cache_block_at(index), size_bytes);
}

static void insert_kept(cx_private_pool *pool, cx_pooled *pooled)
{
    pooled->next = pool->kept;
    pool->kept = pooled;
    pool->kept_count++;
    pool->kept_bytes += pooled->block.size_bytes;
    begin_reused(pooled, pooled->block.size_bytes);
}

/* Takes out the best fit, if it is at most twice as large as requested. */
static cx_pooled *reuse_kept(cx_private_pool *pool, const cx_block *wanted,
                             const ctxrt_stream *stream)
{
    cx_pooled **best = NULL;
    for (cx_pooled **link = &pool->kept; *link != NULL; link = &(*link)->next) {
        const cx_block *block = &(*link)->block;
        size_t beyond = block->size_bytes - wanted->size_bytes;
        if (block->size_bytes >= wanted->size_bytes && beyond <= wanted->size_bytes &&
            (best == NULL || block->size_bytes < (*best)->block.size_bytes) &&
            (*link)->stream == stream && block->context == wanted->context &&
            block->epoch == wanted->epoch && block->allocator == wanted->allocator)
            best = link;
    }
    if (best == NULL)
        return NULL;
    cx_pooled *pooled = *best;
    *best = pooled->next;
    pool->kept_count--;
    pool->kept_bytes -= pooled->block.size_bytes;
    return pooled;
}

static void count_live(cx_private_pool *pool, const cx_pooled *pooled)
{
    pool->live_count++;
    pool->live_bytes += pooled->block.size_bytes;
}

/* True: the pool has no owner, and this was the last block that points to it. */
static bool drop_live(cx_private_pool *pool, const cx_pooled *pooled)
{
    pool->live_count--;
    pool->live_bytes -= pooled->block.size_bytes;
    return pool->owners == 0 && pool->live_count == 0;
}

/* ---- blocks ---- */

static ctxrt_status no_memory(void)
{
    return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for the record of a pooled block");
}

/* Makes the record before it takes memory: freeing it later must not fail. */
static ctxrt_status add_new(cx_private_pool *pool, const cx_block *wanted, ctxrt_stream *stream,
                            cx_pooled **out_pooled)
{
    cx_pooled *pooled = calloc(1, sizeof *pooled);
    if (pooled == NULL)
        return no_memory();
    pooled->pool = pool;
    pooled->block = *wanted;
    ctxrt_status status = take_relaxed(&pooled->block, stream);
    if (status != CTXRT_SUCCESS) {
        free(pooled);
        return status;
    }
    cx_lock_enter(&pool->lock);
    count_live(pool, pooled);
    cx_lock_leave(&pool->lock);
    *out_pooled = pooled;
    return status;
}

/* A stream that is not made yet (NULL) has no work, and captured work has not run. */
static void note_stream(cx_private_pool_use *use, const ctxrt_stream *stream)
{
    uint32_t i = 0;
    if (stream == NULL || stream == use->capture)
        return;
    while (i < use->stream_count && i < CX_PRIVATE_POOL_STREAMS_MAX && use->streams[i] != stream)
        i++;
    if (i < use->stream_count)
        return;
    if (i < CX_PRIVATE_POOL_STREAMS_MAX)
        use->streams[i] = stream;
    use->stream_count = i + 1;
}

ctxrt_status cx_private_pool_alloc(cx_private_pool_use *use, cx_block *block, ctxrt_stream *stream)
{
    ctxrt_status status = CTXRT_SUCCESS;
    cx_private_pool *pool = use->pool;
    const ctxrt_stream *served = stream == use->capture ? CX_PRIVATE_POOL_CAPTURE : stream;
    cx_lock_enter(&pool->lock);
    cx_pooled *pooled = reuse_kept(pool, block, served);
    if (pooled != NULL) {
        count_live(pool, pooled);
        begin_reused(pooled, block->size_bytes);
    }
    cx_lock_leave(&pool->lock);
    if (pooled == NULL)
        status = add_new(pool, block, stream, &pooled);
    if (status != CTXRT_SUCCESS)
        return status;
    note_stream(use, stream);
    pooled->stream = block->allocator->pinned == NULL ? served : NULL;
    block->pointer = pooled->block.pointer;
    block->pooled = pooled;
    return status;
}

ctxrt_status cx_private_pool_free(const cx_block *block)
{
    ctxrt_status status = CTXRT_SUCCESS;
    cx_pooled *pooled = block->pooled;
    cx_private_pool *pool = pooled->pool;
    cx_cross_copies_leave(block->pointer, block->size_bytes, NULL);
    cx_lock_enter(&pool->lock);
    bool gone = drop_live(pool, pooled);
    bool owned = pool->owners != 0;
    if (owned)
        insert_kept(pool, pooled);
    cx_lock_leave(&pool->lock);
    if (!owned) {
        status = give_back_relaxed(&pooled->block);
        free(pooled);
    }
    if (gone)
        destroy_pool(pool);
    return status;
}

/* The stream whose allocations an older block can serve: that of its allocation, if it is the
 * frame's. The host may still write to pinned memory when a graph that reads it runs. */
static const ctxrt_stream *stream_of(const cx_block *block, const ctxrt_stream *stream)
{
    if (block->allocator->pinned != NULL || block->cached == 0)
        return NULL;
    return cx_cache_stream_of(block->allocator->cache, block->cached) == stream ? stream : NULL;
}

ctxrt_status cx_private_pool_keep(cx_private_pool_use *use, const cx_block *block,
                                  const ctxrt_stream *stream)
{
    cx_private_pool *pool = use->pool;
    cx_pooled *pooled = calloc(1, sizeof *pooled);
    if (pooled == NULL)
        return no_memory();
    *pooled = (cx_pooled){
        .pool = pool, .block = *block, .stream = stream_of(block, stream)};
    note_stream(use, stream);
    cx_lock_enter(&pool->lock);
    insert_kept(pool, pooled);
    cx_lock_leave(&pool->lock);
    return CTXRT_SUCCESS;
}

void cx_private_pool_forget(const cx_block *block)
{
    cx_pooled *pooled = block->pooled;
    cx_private_pool *pool = pooled->pool;
    cx_lock_enter(&pool->lock);
    bool gone = drop_live(pool, pooled);
    cx_lock_leave(&pool->lock);
    cx_block_forget(&pooled->block);
    free(pooled);
    if (gone)
        destroy_pool(pool);
}
