#include "memory/private_pool.h"

#include "base/error.h"
#include "memory/cache.h"
#include "memory/cross_driver_copies.h"
#include "memory/address_index.h"
#include "work/relaxed_capture.h"
#include <stdlib.h>
#include <string.h>

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
    cx_pooled **kept = last ? pool->kept : NULL;
    size_t kept_count = last ? pool->kept_count : 0;
    if (last) {
        pool->kept = NULL;
        pool->kept_count = 0;
        pool->kept_bytes = 0;
    }
    bool gone = last && pool->live_count == 0;
    cx_lock_leave(&pool->lock);
    for (size_t i = 0; i < kept_count; i++) {
        ctxrt_status given = give_back_relaxed(&kept[i]->block);
        status = status == CTXRT_SUCCESS ? given : status;
        free(kept[i]);
    }
    free(kept);
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

/* The place of the first one that is not smaller. */
static size_t place_of(const cx_private_pool *pool, size_t size_bytes)
{
    size_t low = 0, high = pool->kept_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pool->kept[middle]->block.size_bytes < size_bytes)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool reserve_kept(cx_private_pool *pool)
{
    size_t wanted = pool->kept_count + pool->live_count + 1;
    if (wanted <= pool->kept_capacity)
        return true;
    cx_pooled **grown = reallocarray(pool->kept, 2 * wanted, sizeof *grown);
    if (grown == NULL)
        return false;
    pool->kept = grown;
    pool->kept_capacity = 2 * wanted;
    return true;
}

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

/* The caller has made room. */
static void insert_kept(cx_private_pool *pool, cx_pooled *pooled)
{
    size_t place = place_of(pool, pooled->block.size_bytes);
    memmove(&pool->kept[place + 1], &pool->kept[place],
            (pool->kept_count - place) * sizeof(cx_pooled *));
    pool->kept[place] = pooled;
    pool->kept_count++;
    pool->kept_bytes += pooled->block.size_bytes;
    begin_reused(pooled, pooled->block.size_bytes);
}

static cx_pooled *take_out(cx_private_pool *pool, size_t place)
{
    cx_pooled *pooled = pool->kept[place];
    pool->kept_count--;
    pool->kept_bytes -= pooled->block.size_bytes;
    memmove(&pool->kept[place], &pool->kept[place + 1],
            (pool->kept_count - place) * sizeof(cx_pooled *));
    return pooled;
}

/* The best fit, if it is at most twice as large as requested. */
static cx_pooled *reuse_kept(cx_private_pool *pool, const cx_block *wanted,
                             const ctxrt_stream *stream)
{
    for (size_t i = place_of(pool, wanted->size_bytes); i < pool->kept_count; i++) {
        const cx_pooled *pooled = pool->kept[i];
        if (pooled->block.size_bytes - wanted->size_bytes > wanted->size_bytes)
            return NULL;
        if (pooled->stream == stream && pooled->block.context == wanted->context &&
            pooled->block.epoch == wanted->epoch && pooled->block.allocator == wanted->allocator)
            return take_out(pool, i);
    }
    return NULL;
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

/* Makes room before it takes memory: freeing it later must not fail. */
static ctxrt_status add_new(cx_private_pool *pool, const cx_block *wanted, ctxrt_stream *stream,
                            cx_pooled **out_pooled)
{
    cx_pooled *pooled = calloc(1, sizeof *pooled);
    if (pooled == NULL)
        return no_memory();
    pooled->pool = pool;
    pooled->block = *wanted;
    cx_lock_enter(&pool->lock);
    bool room = reserve_kept(pool);
    if (room)
        count_live(pool, pooled);
    cx_lock_leave(&pool->lock);
    ctxrt_status status = room ? take_relaxed(&pooled->block, stream) : no_memory();
    if (status == CTXRT_SUCCESS) {
        *out_pooled = pooled;
        return status;
    }
    cx_lock_enter(&pool->lock);
    if (room)
        (void)drop_live(pool, pooled);
    cx_lock_leave(&pool->lock);
    free(pooled);
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
    *pooled = (cx_pooled){pool, *block, stream_of(block, stream)};
    note_stream(use, stream);
    cx_lock_enter(&pool->lock);
    bool room = reserve_kept(pool);
    if (room)
        insert_kept(pool, pooled);
    cx_lock_leave(&pool->lock);
    if (room)
        return CTXRT_SUCCESS;
    free(pooled);
    return no_memory();
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
