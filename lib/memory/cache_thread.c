/* Threads' stashes: making them, emptying them, and summing up what they counted. */
#include "base/error.h"
#include "memory/cache.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* Lock "stashes": the caches, their stashes, and flushes. After "threads" and "context", before
 * "cache". */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cx_cache *caches;

void cx_home_share_slowly(uint32_t home)
{
    pthread_mutex_lock(&lock);
    cx_home_share(home);
    pthread_mutex_unlock(&lock);
}

void cx_cache_enlist(cx_cache *cache)
{
    static uint64_t last_number;
    pthread_mutex_lock(&lock);
    cache->number = ++last_number;
    cache->life = cache->region;
    cache->next = caches;
    cache->link = &caches;
    if (caches != NULL)
        caches->link = &cache->next;
    caches = cache;
    pthread_mutex_unlock(&lock);
}

void cx_caches_each(void (*visit)(cx_cache *cache, void *argument), void *argument)
{
    pthread_mutex_lock(&lock);
    for (cx_cache *cache = caches; cache != NULL; cache = cache->next)
        visit(cache, argument);
    pthread_mutex_unlock(&lock);
}

cx_cache *cx_caches_next(cx_cache *before)
{
    cx_cache *found = NULL;
    uint64_t number = before != NULL ? before->number : 0;
    pthread_mutex_lock(&lock);
    for (cx_cache *cache = caches; cache != NULL; cache = cache->next)
        if (cache->number > number && (found == NULL || cache->number < found->number))
            found = cache;
    if (found != NULL)
        atomic_fetch_add(&found->pins, 1);
    pthread_mutex_unlock(&lock);
    if (before != NULL)
        atomic_fetch_sub(&before->pins, 1);
    return found;
}

/* ---- emptying ---- */

static void free_magazines(cx_cache *cache, cx_magazines *magazines)
{
    while (magazines != NULL) {
        cx_magazines *next = magazines->next;
        cx_magazines_free(magazines);
        atomic_fetch_sub(&cache->magazines, 1);
        magazines = next;
    }
}

/* Of one stream, out of the stash: it is gone. */
static void remove_magazines(cx_cache *cache, cx_stash *stash, cx_magazines *magazines)
{
    cx_magazines **link = &stash->all;
    while (*link != magazines)
        link = &(*link)->next;
    *link = magazines->next;
    if (stash->recent == magazines) {
        stash->recent = NULL;
        atomic_store(&stash->free_stamp, CX_PIECE_NO_STAMP);
    }
    magazines->next = NULL;
    free_magazines(cache, magazines);
}

static void give(cx_cache *cache, const uint32_t *pieces, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        cx_cache_give(cache, pieces[i]);
}

static void give_magazines(cx_cache *cache, cx_magazines *magazines)
{
    uint32_t pieces[CX_MAGAZINE_PIECES], count;
    pthread_mutex_lock(&cache->lock);
    for (uint32_t class = 0; class < CX_MAGAZINE_CLASSES; class++)
        while ((count = cx_magazines_empty(magazines, class, pieces)) != 0)
            give(cache, pieces, count);
    pthread_mutex_unlock(&cache->lock);
}

static void give_outgoing(cx_cache *cache, cx_outgoing *outgoing)
{
    uint32_t pieces[CX_MAGAZINE_PIECES];
    pthread_mutex_lock(&cache->lock);
    give(cache, pieces, cx_outgoing_empty(outgoing, pieces));
    pthread_mutex_unlock(&cache->lock);
}

static void empty(cx_cache *cache, cx_stash *stash, uint32_t owner)
{
    cx_magazines *next;
    give_outgoing(cache, &stash->outgoing);
    for (cx_magazines *magazines = stash->all; magazines != NULL; magazines = next) {
        next = magazines->next;
        if (owner != 0 && magazines->owner != owner)
            continue;
        give_magazines(cache, magazines);
        if (owner != 0)
            remove_magazines(cache, stash, magazines);
    }
}

/* Lock held. Afterwards no thread is in a stash of the cache, and none gets in. */
static void revoke(const cx_cache *cache)
{
    for (cx_stash *stash = cache->stashes; stash != NULL; stash = stash->next)
        atomic_store(&stash->revoked, true);
    cx_barrier_all();
    for (cx_stash *stash = cache->stashes; stash != NULL; stash = stash->next)
        while (atomic_load(&stash->busy))
            sched_yield();
}

void cx_cache_flush(cx_cache *cache, uint32_t owner)
{
    pthread_mutex_lock(&lock);
    revoke(cache);
    for (cx_stash *stash = cache->stashes; stash != NULL; stash = stash->next) {
        empty(cache, stash, owner);
        atomic_store(&stash->revoked, false);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- counting ---- */

static uint64_t load(const _Atomic uint64_t *figure)
{
    return atomic_load_explicit(figure, memory_order_acquire);
}

static void add_allocated(const cx_tally *tally, cx_totals *totals)
{
    int64_t high_bytes = cx_tally_read_signed(&tally->high_bytes) -
                         cx_tally_read_signed(&tally->told_bytes);
    int64_t high_count = cx_tally_read_signed(&tally->high_count) -
                         cx_tally_read_signed(&tally->told_count);
    totals->allocated_bytes += load(&tally->allocated_bytes);
    totals->allocated_count += load(&tally->allocated_count);
    if (high_bytes > totals->high_bytes)
        totals->high_bytes = high_bytes;
    if (high_count > totals->high_count)
        totals->high_count = high_count;
}

static void add_freed(const cx_tally *tally, cx_totals *totals)
{
    totals->freed_count += load(&tally->freed_count);
    totals->freed_bytes += load(&tally->freed_bytes);
}

/* Lock held. */
static void sum(cx_cache *cache, cx_totals *out_totals)
{
    *out_totals = (cx_totals){0};
    add_freed(&cache->gone, out_totals);
    for (cx_stash *stash = cache->stashes; stash != NULL; stash = stash->next)
        add_freed(&stash->tally, out_totals);
    add_allocated(&cache->gone, out_totals);
    for (cx_stash *stash = cache->stashes; stash != NULL; stash = stash->next)
        add_allocated(&stash->tally, out_totals);
}

void cx_cache_sum(cx_cache *cache, cx_totals *out_totals)
{
    pthread_mutex_lock(&lock);
    sum(cache, out_totals);
    pthread_mutex_unlock(&lock);
}

void cx_caches_count(const cx_context *context, cx_context_memory *sum_of)
{
    cx_totals totals;
    pthread_mutex_lock(&lock);
    for (cx_cache *cache = caches; cache != NULL; cache = cache->next)
        /* What has a guard, or is pinned, is counted by its allocator. */
        if (cache->context == context && !cache->pinned &&
            atomic_load(&cache->allocator->guard) == NULL) {
            sum(cache, &totals);
            sum_of->count += totals.allocated_count - totals.freed_count;
            sum_of->bytes += totals.allocated_bytes - totals.freed_bytes;
        }
    pthread_mutex_unlock(&lock);
}

bool cx_cache_count_within_limit(cx_cache *cache, cx_stash *stash, size_t size_bytes)
{
    cx_totals totals;
    uint64_t used;
    pthread_mutex_lock(&lock);
    sum(cache, &totals);
    uint64_t limit = atomic_load(&cache->allocator->figures.limit_bytes);
    bool fits =
        !__builtin_add_overflow(totals.allocated_bytes - totals.freed_bytes, size_bytes, &used) &&
        (limit == 0 || used <= limit);
    if (fits) {
        cx_tally_add(&stash->tally.allocated_bytes, size_bytes);
        cx_tally_add(&stash->tally.allocated_count, 1);
    }
    pthread_mutex_unlock(&lock);
    return fits;
}

/* ---- life ---- */

/* Lock held; by the stash's thread, or while it is out of it. */
static void stamp(cx_stash *stash)
{
    const cx_magazines *recent = stash->recent;
    uint32_t home = atomic_load(&stash->home);
    stash->stamp = cx_piece_stamp(recent != NULL ? recent->owner : 0, home);
    bool plain = recent != NULL && recent->plain && home != 0 && !atomic_load(&stash->shared);
    atomic_store(&stash->free_stamp, plain ? stash->stamp : CX_PIECE_NO_STAMP);
}

/* Lock held. What the thread counted stays, as that of one that is gone. */
static void detach(cx_cache *cache, cx_stash *stash)
{
    cx_tally *tally = &stash->tally, *gone = &cache->gone;
    cx_tally_tell(cache, tally,
                  (int64_t)(load(&tally->allocated_bytes) - load(&tally->freed_bytes)),
                  (int64_t)(load(&tally->allocated_count) - load(&tally->freed_count)));
    atomic_fetch_add(&gone->allocated_bytes, load(&tally->allocated_bytes));
    atomic_fetch_add(&gone->allocated_count, load(&tally->allocated_count));
    atomic_fetch_add(&gone->freed_bytes, load(&tally->freed_bytes));
    atomic_fetch_add(&gone->freed_count, load(&tally->freed_count));
    cx_home_release(stash);
    *stash->link = stash->next;
    if (stash->next != NULL)
        stash->next->link = stash->link;
    atomic_store(&stash->cache, NULL);
}

void cx_cache_drop_stashes(cx_cache *cache, bool for_good)
{
    cx_stash *next;
    pthread_mutex_lock(&lock);
    revoke(cache);
    cache->life = NULL;
    for (cx_stash *stash = cache->stashes; stash != NULL; stash = next) {
        next = stash->next;
        free_magazines(cache, stash->all);
        stash->all = stash->recent = NULL;
        stash->outgoing = (cx_outgoing){0};
        cx_home_release(stash);
        if (for_good)
            detach(cache, stash);
        atomic_store(&stash->revoked, false);
    }
    if (for_good) {
        *cache->link = cache->next;
        if (cache->next != NULL)
            cache->next->link = cache->link;
    }
    pthread_mutex_unlock(&lock);
    while (for_good && atomic_load(&cache->pins) != 0)
        sched_yield();
}

void cx_cache_begin_life(cx_cache *cache)
{
    pthread_mutex_lock(&lock);
    revoke(cache);
    cache->life = cache->region;
    for (cx_stash *stash = cache->stashes; stash != NULL; stash = stash->next) {
        cx_home_assign(stash, cache->life);
        stamp(stash);
        atomic_store(&stash->revoked, false);
    }
    pthread_mutex_unlock(&lock);
}

void cx_cache_end_homes(const cx_region *region)
{
    pthread_mutex_lock(&lock);
    cx_home_end(region);
    pthread_mutex_unlock(&lock);
}

/* Makes no driver call: what the thread freed is behind its streams' work, as ever. */
static void leave(cx_thread *thread)
{
    cx_stash *next;
    pthread_mutex_lock(&lock);
    for (cx_stash *stash = thread->stashes; stash != NULL; stash = next) {
        next = stash->next_of_thread;
        cx_cache *cache = atomic_load(&stash->cache);
        if (cache != NULL) {
            empty(cache, stash, 0);
            free_magazines(cache, stash->all);
            detach(cache, stash);
        }
        free(stash);
    }
    thread->stashes = NULL;
    pthread_mutex_unlock(&lock);
}

/* A stash of an allocator that is gone serves again. */
static cx_stash *take_stash(cx_thread *thread)
{
    for (cx_stash *stash = thread->stashes; stash != NULL; stash = stash->next_of_thread)
        if (atomic_load(&stash->cache) == NULL)
            return stash;
    cx_stash *stash = calloc(1, sizeof *stash);
    if (stash != NULL) {
        stash->next_of_thread = thread->stashes;
        thread->stashes = stash;
    }
    return stash;
}

static void put_first(cx_thread *thread, cx_stash *stash)
{
    cx_stash **link = (cx_stash **)(void *)&thread->stashes;
    while (*link != stash)
        link = &(*link)->next_of_thread;
    *link = stash->next_of_thread;
    stash->next_of_thread = thread->stashes;
    thread->stashes = stash;
}

static cx_stash *make_stash(cx_cache *cache, cx_thread *thread)
{
    cx_thread_on_exit(leave);
    cx_stash *stash = take_stash(thread);
    if (stash == NULL)
        return NULL;
    pthread_mutex_lock(&lock);
    stash->tally = (cx_tally){.low_bytes = -CX_TELL_BYTES, .low_count = -CX_TELL_COUNT};
    cx_home_assign(stash, cache->life);
    stamp(stash);
    stash->next = cache->stashes;
    stash->link = &cache->stashes;
    if (cache->stashes != NULL)
        cache->stashes->link = &stash->next;
    cache->stashes = stash;
    atomic_store(&stash->cache, cache);
    pthread_mutex_unlock(&lock);
    return stash;
}

cx_stash *cx_cache_stash_slowly(cx_cache *cache, cx_thread *thread)
{
    cx_stash *stash = thread->stashes;
    while (stash != NULL && atomic_load(&stash->cache) != cache)
        stash = stash->next_of_thread;
    if (stash == NULL)
        stash = make_stash(cache, thread);
    if (stash != NULL)
        put_first(thread, stash);
    return stash;
}

/* ---- streams ---- */

static cx_magazines *new_magazines(const cx_cache *cache, const ctxrt_stream *stream,
                                   uint32_t owner)
{
    cx_magazines *made = aligned_alloc(_Alignof(cx_magazines), sizeof *made);
    if (made != NULL) {
        memset(made, 0, offsetof(cx_magazines, classes));
        made->stream = stream;
        made->owner = owner;
        made->plain = !cache->owners[owner].foreign && !cache->host_accessible &&
                      cache->allocator->options.release_threshold_bytes == 0;
    }
    return made;
}

static ctxrt_status make_magazines(cx_cache *cache, const ctxrt_stream *stream,
                                   cx_magazines **out_magazines)
{
    uint32_t owner = cx_cache_owner(cache, stream);
    if (owner == 0)
        return ctxrt_last_error()->status;
    pthread_mutex_lock(&cache->lock);
    *out_magazines = new_magazines(cache, stream, owner);
    pthread_mutex_unlock(&cache->lock);
    return *out_magazines != NULL ? CTXRT_SUCCESS
                                  : cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for magazines");
}

static void add_magazines(cx_cache *cache, cx_stash *stash, cx_magazines *made)
{
    made->next = stash->all;
    stash->all = made;
    atomic_fetch_add(&cache->magazines, 1);
    cx_cache_set_keep(cache);
}

/* Whether the frame's allocator is the cache's: others ask for memory of allocators that they
 * name. */
static bool is_of_frame(const cx_cache *cache, const cx_frame *frame)
{
    const ctxrt_allocator *named = atomic_load_explicit(&frame->allocator, memory_order_relaxed);
    return cx_frame_context(frame) == cache->context &&
           cache->allocator == (named != NULL ? cx_pool_find(&cx_allocators, named)
                                              : atomic_load(&cache->context->allocator));
}

static bool select_known(cx_stash *stash, const cx_allocation *request)
{
    const cx_frame *frame = cx_thread_top(request->thread);
    bool of_frame = frame != NULL && is_of_frame(atomic_load(&stash->cache), frame);
    stash->recent_context = of_frame ? request->context : NULL;
    stash->recent_allocator =
        of_frame ? atomic_load_explicit(&frame->allocator, memory_order_relaxed) : NULL;
    for (cx_magazines *magazines = stash->all; magazines != NULL; magazines = magazines->next)
        if (magazines->stream == request->stream) {
            stash->recent = magazines;
            stamp(stash);
            return true;
        }
    return false;
}

/* The thread may not wait for a flush while it is in its stash, and may not touch it while it is
 * not: hence the lock, which flushes hold. */
ctxrt_status cx_cache_select(cx_cache *cache, cx_stash *stash, const cx_allocation *request)
{
    cx_magazines *made;
    pthread_mutex_lock(&lock);
    bool known = select_known(stash, request);
    pthread_mutex_unlock(&lock);
    if (known)
        return CTXRT_SUCCESS;
    ctxrt_status status = make_magazines(cache, request->stream, &made);
    if (status != CTXRT_SUCCESS)
        return status;
    pthread_mutex_lock(&lock);
    add_magazines(cache, stash, made);
    (void)select_known(stash, request);
    pthread_mutex_unlock(&lock);
    return CTXRT_SUCCESS;
}
