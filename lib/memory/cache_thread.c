/* Thread caches: making and emptying them, and summing up their statistics. */
#include "base/error.h"
#include "base/lock.h"
#include "memory/cache.h"

#include <stdlib.h>
#include <string.h>

/* Lock "thread caches": guards the list of caches, their thread caches and spare generations. After
 * "threads" and "context", before "cache". */
static cx_lock lock = CX_LOCK_INIT(THREAD_CACHES);
static pthread_cond_t found_no_more = PTHREAD_COND_INITIALIZER;
static cx_cache *caches;

void cx_cache_enlist(cx_cache *cache)
{
    static uint64_t last_number;
    cx_lock_enter(&lock);
    cache->number = ++last_number;
    cache->next = caches;
    cache->link = &caches;
    if (caches != NULL)
        caches->link = &cache->next;
    caches = cache;
    cx_lock_leave(&lock);
}

void cx_caches_each(void (*visit)(cx_cache *cache, void *argument), void *argument)
{
    cx_lock_enter(&lock);
    for (cx_cache *cache = caches; cache != NULL; cache = cache->next)
        visit(cache, argument);
    cx_lock_leave(&lock);
}

cx_cache *cx_caches_next(cx_cache *before)
{
    cx_cache *found = NULL;
    uint64_t number = before != NULL ? before->number : 0;
    cx_lock_enter(&lock);
    for (cx_cache *cache = caches; cache != NULL; cache = cache->next)
        if (cache->number > number && (found == NULL || cache->number < found->number))
            found = cache;
    if (found != NULL)
        found->finders++;
    if (before != NULL && --before->finders == 0)
        pthread_cond_broadcast(&found_no_more);
    cx_lock_leave(&lock);
    return found;
}

/* ---- emptying: with the sections closed, or by the thread itself ---- */

static void drop_magazines(cx_cache *cache, cx_magazines *magazines)
{
    cx_thread_cache *self = magazines->thread_cache;
    cx_magazines **memo = &self->by_id[magazines->id % CX_THREAD_CACHE_STREAMS];
    if (*memo == magazines)
        *memo = NULL;
    if (self->recent == magazines)
        self->recent = NULL;
    *magazines->link = magazines->next;
    if (magazines->next != NULL)
        magazines->next->link = magazines->link;
    if (cache != NULL)
        atomic_fetch_sub(&cache->magazines, 1);
    cx_magazines_free(magazines);
}

static void drop_all(cx_cache *cache, cx_thread_cache *self)
{
    while (self->all != NULL)
        drop_magazines(cache, self->all);
}

/* Lock "cache" held. */
static void give_large(cx_cache *cache, cx_magazines *magazines)
{
    if (magazines->large.units != 0)
        cx_cache_give(cache, magazines->large.cached);
    magazines->large.units = 0;
}

/* Gives the blocks back to the heap and frees the magazines: an empty one is larger than many a
 * block, and its thread may never use the stream again. Lock "cache" held. */
static void end_magazines(cx_cache *cache, cx_magazines *magazines)
{
    uint32_t blocks[CX_MAGAZINE_BLOCKS];
    for (uint32_t class = 0; class < CX_MAGAZINE_CLASSES; class++)
        for (uint32_t i = cx_magazines_empty(magazines, class, blocks); i-- > 0;)
            cx_cache_give(cache, blocks[i]);
    give_large(cache, magazines);
    *magazines->link_of_stream = magazines->next_of_stream;
    if (magazines->next_of_stream != NULL)
        magazines->next_of_stream->link_of_stream = magazines->link_of_stream;
    drop_magazines(cache, magazines);
}

/* True if the thread cache's blocks belong to the heap: not if their epoch has ended. A new
 * generation may have the address of one that is gone. */
static bool keeps_of(const cx_cache *cache, const cx_thread_cache *self)
{
    return self->generation == cache->generation && self->epoch == cache->generation->epoch;
}

static void empty_cache(cx_cache *cache, const cx_thread_cache *self,
                        void (*give)(cx_cache *cache, cx_magazines *magazines))
{
    cx_magazines *next;
    cx_lock_enter(&cache->lock);
    for (cx_magazines *own = keeps_of(cache, self) ? self->all : NULL; own != NULL; own = next) {
        next = own->next;
        give(cache, own);
    }
    cx_lock_leave(&cache->lock);
}

/* Lock held, sections closed. */
static void empty_all(cx_cache *cache, void (*give)(cx_cache *cache, cx_magazines *magazines))
{
    for (cx_thread_cache *self = cache->thread_caches; self != NULL; self = self->next)
        empty_cache(cache, self, give);
}

static void give_returned(cx_cache *cache)
{
    cx_lock_enter(&cache->lock);
    for (uint32_t id = CX_CACHE_STREAM_FIRST; id < cache->stream_count; id++) {
        cx_cache_stream *stream = cx_cache_stream_at(cache, id);
        cx_cache_take_returned(cache, stream);
        cx_cache_stream_forget_lists(cache, stream);
    }
    cx_lock_leave(&cache->lock);
}

void cx_cache_flush(cx_cache *cache)
{
    cx_sections_close();
    cx_lock_enter(&lock);
    empty_all(cache, end_magazines);
    cx_lock_leave(&lock);
    give_returned(cache);
    cx_sections_open();
}

void cx_cache_flush_large(cx_cache *cache)
{
    cx_sections_close();
    cx_lock_enter(&lock);
    empty_all(cache, give_large);
    cx_lock_leave(&lock);
    cx_sections_open();
}

void cx_cache_flush_stream(cx_cache *cache, cx_cache_stream *stream)
{
    cx_lock_enter(&cache->lock);
    bool none = stream->magazines == NULL && atomic_load(&stream->returned) == 0;
    cx_lock_leave(&cache->lock);
    if (none)
        return;
    cx_sections_close();
    cx_lock_enter(&lock);
    cx_lock_enter(&cache->lock);
    while (stream->magazines != NULL)
        end_magazines(cache, stream->magazines);
    cx_cache_take_returned(cache, stream);
    cx_lock_leave(&cache->lock);
    cx_lock_leave(&lock);
    cx_sections_open();
}

/* ---- counting ---- */

static uint64_t load_figure(const _Atomic uint64_t *figure)
{
    return atomic_load_explicit(figure, memory_order_acquire);
}

static void add_allocated(const cx_thread_statistics *own, cx_totals *totals)
{
    int64_t high_bytes = cx_statistics_read_signed(&own->high_bytes) -
                         cx_statistics_read_signed(&own->flushed_bytes);
    int64_t high_count = cx_statistics_read_signed(&own->high_count) -
                         cx_statistics_read_signed(&own->flushed_count);
    totals->allocated_bytes += load_figure(&own->allocated_bytes);
    totals->allocated_count += load_figure(&own->allocated_count);
    if (high_bytes > totals->high_bytes)
        totals->high_bytes = high_bytes;
    if (high_count > totals->high_count)
        totals->high_count = high_count;
}

static void add_freed(const cx_thread_statistics *own, cx_totals *totals)
{
    totals->freed_count += load_figure(&own->freed_count);
    totals->freed_bytes += load_figure(&own->freed_bytes);
}

/* Lock held. */
static void sum_threads(cx_cache *cache, cx_totals *out_totals)
{
    *out_totals = (cx_totals){0};
    add_freed(&cache->gone, out_totals);
    for (cx_thread_cache *self = cache->thread_caches; self != NULL; self = self->next)
        add_freed(&self->statistics, out_totals);
    add_allocated(&cache->gone, out_totals);
    for (cx_thread_cache *self = cache->thread_caches; self != NULL; self = self->next)
        add_allocated(&self->statistics, out_totals);
}

void cx_cache_sum(cx_cache *cache, cx_totals *out_totals)
{
    cx_lock_enter(&lock);
    sum_threads(cache, out_totals);
    cx_lock_leave(&lock);
}

/* ---- memory of ended epochs ---- */

void cx_caches_lock(void)
{
    cx_lock_enter(&lock);
}

void cx_caches_unlock(void)
{
    cx_lock_leave(&lock);
}

void cx_cache_make_past(cx_cache *cache, cx_cache_generation *next)
{
    cx_totals totals;
    cx_cache_generation *ended = cache->generation;
    ended->is_past = true;
    if (!cache->pinned) {
        sum_threads(cache, &totals);
        ended->left = totals.allocated_count - totals.freed_count + 1;
        for (const cx_cache_generation *past = ended->past; past != NULL; past = past->past)
            ended->left -= past->left;
    }
    next->past = ended;
    cx_lock_enter(&cache->lock);
    cache->generation = next;
    cx_lock_leave(&cache->lock);
}

void cx_cache_generation_hold(cx_cache_generation *generation)
{
    cx_lock_enter(&lock);
    generation->left++;
    cx_lock_leave(&lock);
}

bool cx_cache_generation_let_go(cx_cache *cache, cx_cache_generation *generation,
                                const cx_block *block)
{
    cx_lock_enter(&lock);
    if (block != NULL)
        cx_cache_count_freed(cache, NULL, block->size_bytes);
    bool last = (generation->is_past || cache->pinned) && --generation->left == 0;
    if (last) {
        cx_cache_generation **link = &cache->generation->past;
        while (*link != generation)
            link = &(*link)->past;
        *link = generation->past;
    }
    cx_lock_leave(&lock);
    return last;
}

void cx_caches_count(const cx_context *context, cx_context_memory *sum_of)
{
    cx_totals totals;
    cx_lock_enter(&lock);
    for (cx_cache *cache = caches; cache != NULL; cache = cache->next)
        /* The allocator counts memory that is pinned or has a guard. */
        if (cache->context == context && !cache->pinned &&
            atomic_load(&cache->allocator->guard) == NULL) {
            sum_threads(cache, &totals);
            sum_of->count += totals.allocated_count - totals.freed_count;
            sum_of->bytes += totals.allocated_bytes - totals.freed_bytes;
        }
    cx_lock_leave(&lock);
}

bool cx_cache_count_within_limit(cx_cache *cache, cx_thread_cache *self, size_t size_bytes)
{
    cx_totals totals;
    uint64_t used;
    cx_lock_enter(&lock);
    sum_threads(cache, &totals);
    uint64_t limit = atomic_load(&cache->allocator->figures.limit_bytes);
    bool fits =
        !__builtin_add_overflow(totals.allocated_bytes - totals.freed_bytes, size_bytes, &used) &&
        (limit == 0 || used <= limit);
    if (fits) {
        cx_statistics_add(&self->statistics.allocated_bytes, size_bytes);
        cx_statistics_add(&self->statistics.allocated_count, 1);
    }
    cx_lock_leave(&lock);
    return fits;
}

/* ---- making and detaching ---- */

/* Lock held. The thread's counts stay, with those of gone threads. */
static void detach_thread(cx_cache *cache, cx_thread_cache *self)
{
    cx_thread_statistics *own = &self->statistics, *gone = &cache->gone;
    cx_statistics_flush(
        cache, own, (int64_t)(load_figure(&own->allocated_bytes) - load_figure(&own->freed_bytes)),
        (int64_t)(load_figure(&own->allocated_count) - load_figure(&own->freed_count)));
    atomic_fetch_add(&gone->allocated_bytes, load_figure(&own->allocated_bytes));
    atomic_fetch_add(&gone->allocated_count, load_figure(&own->allocated_count));
    atomic_fetch_add(&gone->freed_bytes, load_figure(&own->freed_bytes));
    atomic_fetch_add(&gone->freed_count, load_figure(&own->freed_count));
    *self->link = self->next;
    if (self->next != NULL)
        self->next->link = self->link;
    atomic_store(&self->cache, NULL);
}

/* Threads drop their blocks themselves, when they use the thread cache for another cache. */
void cx_cache_detach_threads(cx_cache *cache)
{
    cx_lock_enter(&lock);
    while (cache->thread_caches != NULL)
        detach_thread(cache, cache->thread_caches);
    *cache->link = cache->next;
    if (cache->next != NULL)
        cache->next->link = cache->link;
    while (cache->finders != 0)
        cx_lock_wait(&lock, &found_no_more);
    cx_lock_leave(&lock);
}

void cx_caches_leave_thread(cx_thread *thread)
{
    cx_thread_cache *next;
    cx_lock_enter(&lock);
    for (cx_thread_cache *self = thread->thread_caches; self != NULL; self = next) {
        next = self->next_of_thread;
        cx_cache *cache = atomic_load(&self->cache);
        if (cache != NULL)
            empty_cache(cache, self, end_magazines);
        drop_all(cache, self);
        if (cache != NULL)
            detach_thread(cache, self);
        free(self);
    }
    thread->thread_caches = NULL;
    cx_lock_leave(&lock);
}

/* Reuses a thread cache whose allocator is gone. */
static cx_thread_cache *take_idle(cx_thread *thread)
{
    for (cx_thread_cache *self = thread->thread_caches; self != NULL; self = self->next_of_thread)
        if (atomic_load(&self->cache) == NULL) {
            drop_all(NULL, self);
            return self;
        }
    cx_thread_cache *self = calloc(1, sizeof *self);
    if (self != NULL) {
        self->next_of_thread = thread->thread_caches;
        thread->thread_caches = self;
    }
    return self;
}

static void put_first(cx_thread *thread, cx_thread_cache *self)
{
    cx_thread_cache **link = (cx_thread_cache **)(void *)&thread->thread_caches;
    while (*link != self)
        link = &(*link)->next_of_thread;
    *link = self->next_of_thread;
    self->next_of_thread = thread->thread_caches;
    thread->thread_caches = self;
}

static cx_thread_cache *make_thread_cache(cx_cache *cache, cx_thread *thread)
{
    cx_thread_cache *self = take_idle(thread);
    if (self == NULL)
        return NULL;
    cx_lock_enter(&lock);
    self->statistics =
        (cx_thread_statistics){.low_bytes = -CX_FLUSH_BYTES, .low_count = -CX_FLUSH_COUNT};
    self->generation = NULL;
    self->next = cache->thread_caches;
    self->link = &cache->thread_caches;
    if (cache->thread_caches != NULL)
        cache->thread_caches->link = &self->next;
    cache->thread_caches = self;
    atomic_store(&self->cache, cache);
    cx_lock_leave(&lock);
    return self;
}

void cx_cache_sync_epoch(cx_cache *cache)
{
    cx_cache_generation *generation = cache->generation;
    uint32_t epoch = atomic_load(&cache->context->epoch);
    if (generation->epoch == epoch)
        return;
    cx_lock_enter(&cache->lock);
    if (generation->heap.segment_count == 0 && !generation->has_range)
        generation->epoch = epoch;
    cx_lock_leave(&cache->lock);
}

cx_thread_cache *cx_cache_of_thread(cx_cache *cache, cx_thread *thread)
{
    cx_thread_cache *self = thread->thread_caches;
    while (self != NULL && atomic_load_explicit(&self->cache, memory_order_relaxed) != cache)
        self = self->next_of_thread;
    if (self == NULL)
        self = make_thread_cache(cache, thread);
    if (self == NULL)
        return NULL;
    if (self != thread->thread_caches)
        put_first(thread, self);
    if (!keeps_of(cache, self)) {
        drop_all(cache, self);
        cx_cache_sync_epoch(cache);
        self->generation = cache->generation;
        self->epoch = cache->generation->epoch;
    }
    return self;
}

/* ---- streams ---- */

static void put_magazines_first(cx_thread_cache *self, cx_magazines *magazines)
{
    magazines->next = self->all;
    magazines->link = &self->all;
    if (magazines->next != NULL)
        magazines->next->link = &magazines->next;
    self->all = magazines;
}

/* The magazines that a thread has not used for the longest time, if it has as many as it may have;
 * or NULL. Its caches and the magazines of each are in the order of their last use. */
static cx_magazines *find_oldest(const cx_thread *thread)
{
    uint32_t count = 0;
    cx_magazines *last = NULL;
    for (const cx_thread_cache *self = thread->thread_caches; self != NULL;
         self = self->next_of_thread)
        for (cx_magazines *own = self->all; own != NULL; own = own->next, count++)
            last = own;
    return count >= CX_THREAD_MAGAZINES_MAX ? last : NULL;
}

/* In a section. The oldest ones may be of another cache, which the lock keeps from being closed. */
static void make_room(const cx_thread *thread)
{
    cx_magazines *oldest = find_oldest(thread);
    if (oldest == NULL)
        return;
    cx_lock_enter(&lock);
    cx_cache *cache = atomic_load(&oldest->thread_cache->cache);
    if (cache != NULL)
        cx_lock_enter(&cache->lock);
    if (cache != NULL && keeps_of(cache, oldest->thread_cache))
        end_magazines(cache, oldest);
    else
        drop_magazines(cache, oldest);
    if (cache != NULL)
        cx_lock_leave(&cache->lock);
    cx_lock_leave(&lock);
}

static cx_magazines *add_magazines(cx_cache *cache, cx_thread_cache *self, cx_cache_stream *stream)
{
    cx_magazines *made = cx_magazines_new();
    if (made == NULL)
        return NULL;
    made->stream = stream;
    made->handle = stream->stream;
    made->id = stream->id;
    bool plain = !stream->foreign && cache->allocator->options.release_threshold_bytes == 0;
    made->plain = plain && !cache->host_accessible;
    made->plain_when_idle = plain && cache->host_accessible;
    made->thread_cache = self;
    put_magazines_first(self, made);
    cx_lock_enter(&cache->lock);
    made->next_of_stream = stream->magazines;
    made->link_of_stream = &stream->magazines;
    if (made->next_of_stream != NULL)
        made->next_of_stream->link_of_stream = &made->next_of_stream;
    stream->magazines = made;
    cx_lock_leave(&cache->lock);
    atomic_fetch_add(&cache->magazines, 1);
    cx_cache_set_keep(cache);
    return made;
}

static void use_magazines(cx_thread_cache *self, cx_magazines *magazines)
{
    if (self->all != magazines) {
        *magazines->link = magazines->next;
        if (magazines->next != NULL)
            magazines->next->link = magazines->link;
        put_magazines_first(self, magazines);
    }
    self->by_id[magazines->id % CX_THREAD_CACHE_STREAMS] = magazines;
    self->recent = magazines;
}

static cx_magazines *find_magazines(cx_cache *cache, const cx_thread_cache *self,
                                    const cx_cache_stream *stream)
{
    cx_magazines *magazines = self->by_id[stream->id % CX_THREAD_CACHE_STREAMS];
    if (magazines != NULL && magazines->stream == stream)
        return magazines;
    cx_lock_enter(&cache->lock);
    magazines = stream->magazines;
    while (magazines != NULL && magazines->thread_cache != self)
        magazines = magazines->next_of_stream;
    cx_lock_leave(&cache->lock);
    return magazines;
}

/* True if the frame's allocator is the cache's: other calls name their allocator. */
static bool is_of_frame(const cx_cache *cache, const cx_frame *frame)
{
    const ctxrt_allocator *named = atomic_load_explicit(&frame->allocator, memory_order_relaxed);
    return cx_frame_context(frame) == cache->context &&
           cache->allocator == (named != NULL ? cx_pool_find(&cx_allocators, named)
                                              : atomic_load(&cache->context->allocator));
}

static void note_frame(cx_cache *cache, cx_thread_cache *self, const cx_allocation *request)
{
    const cx_frame *frame = cx_thread_top(request->thread);
    bool of_frame = frame != NULL && is_of_frame(cache, frame);
    self->recent_context = of_frame ? request->context : NULL;
    self->recent_allocator =
        of_frame ? atomic_load_explicit(&frame->allocator, memory_order_relaxed) : NULL;
}

ctxrt_status cx_cache_select(cx_cache *cache, cx_thread_cache *self, const cx_allocation *request)
{
    note_frame(cache, self, request);
    if (self->recent != NULL && self->recent->handle == request->stream)
        return CTXRT_SUCCESS;
    cx_cache_stream *stream = cx_cache_stream_find(cache, request->stream);
    if (stream == NULL)
        return ctxrt_last_error()->status;
    cx_magazines *magazines = find_magazines(cache, self, stream);
    if (magazines == NULL) {
        make_room(request->thread);
        magazines = add_magazines(cache, self, stream);
    }
    if (magazines == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for magazines");
    use_magazines(self, magazines);
    return CTXRT_SUCCESS;
}
