/*
 * A caching allocator's memory: heaps of segments that the driver gave, and the threads' caches.
 *
 * The stream of a piece is the one that was current in the frame it was allocated in. When it is
 * freed, work submitted to that stream may still use it: it is given out again at once for the same
 * stream, and for another one after the work that was submitted before it was freed is done. Uses
 * by other streams are for the caller to record.
 *
 * Allocations and frees enter the context (context/use.h) and do what they can inside the section.
 * Calls of the driver are made outside of it, with the context pinned.
 *
 * Locks: "thread caches" (which caches and thread caches there are), then "cache" of each cache
 * (heap and streams). Neither is held across a call of a driver. "range", before both, is:
 * cache_map.c says why.
 */
#ifndef CX_MEMORY_CACHE_H
#define CX_MEMORY_CACHE_H

#include "alloc/amount.h"
#include "alloc/heap.h"
#include "context/stack.h"
#include "context/use.h"
#include "memory/block.h"
#include "memory/mapped_range.h"
#include "memory/thread_cache.h"
#include <uthash.h>

/* The memory of one epoch of a context: a reset ends it. */
typedef struct cx_region {
    cx_heap heap;
    struct cx_cache *cache;
    uint32_t epoch; /* of the context */
    /* of a cache that maps its memory: made with the first; locks "range" and "cache" to change
     * it */
    bool has_range;
    cx_mapped_range range;
    struct cx_region *past;
    /* of one whose epoch has ended; lock "thread caches" */
    bool is_past;
    uint64_t left; /* pieces that users have still */
} cx_region;

/* A stream that pieces are freed for. Its id is the owner of their ranges. Lock "cache", but for
 * what is atomic. */
typedef struct cx_cache_stream {
    const ctxrt_stream *stream; /* the handle; NULL: the id is unused */
    uint32_t id;
    CUstream native;
    bool foreign; /* other code's, which may be destroyed unseen: an event behind every free */
    bool closed;  /* destroyed: the event is behind all of its work */
    bool over;    /* destroyed, and all of its work is done */
    bool asked;   /* some thread asks the driver about it */
    CUevent event;         /* NULL: none yet */
    uint64_t gives;        /* ranges freed for it */
    uint64_t marked_gives; /* as many when the event was recorded */
    uint64_t taken; /* pieces outside of the heap, and places that are being mapped for it */
    cx_magazines *magazines; /* of the threads that allocate for it */
    /* Pieces that threads freed which do not allocate for it, linked by their nodes. Any thread
     * takes all at once. 0: none. */
    _Atomic uint32_t returned;
    _Atomic uint64_t returned_units; /* about as many; small pieces count for more */
    struct cx_cache_stream *next; /* with an unused id */
    UT_hash_handle hh;            /* key: stream, while it is not closed */
} cx_cache_stream;

#define CX_CACHE_STREAM_FIRST 1 /* 0 is nobody */

typedef enum cx_shortage {
    CX_SHORTAGE_NONE,
    CX_SHORTAGE_COMING, /* large pieces go back to the heap, where they join their neighbours */
    CX_SHORTAGE_HERE, /* threads keep little, and pieces are no larger than was asked for */
    CX_SHORTAGE_SPENT /* the driver refused more: threads keep nothing */
} cx_shortage;

/* What left the heap, what the driver gave, and what lies free in between. */
typedef struct cx_cache_amounts {
    ctxrt_allocator_amount allocated, reserved, inactive;
} cx_cache_amounts;

typedef struct cx_cache {
    cx_allocator *allocator;
    cx_context *context;
    bool host_accessible;
    bool mapped; /* its memory is mapped, not allocated */
    bool pinned; /* host memory: pinned.c. No stream's, in no thread cache */
    pthread_mutex_t lock;    /* "cache": the heap and the streams */
    pthread_cond_t answered; /* a thread no longer asks about a stream, or about deferred frees */
    cx_region *region;
    cx_region *spare; /* for a reset; NULL: there was no memory for one */
    cx_cache_amounts amounts;
    /* By their ids; a thread that has a piece of a stream reads its entry without the lock, so
     * tables that were outgrown stay. */
    _Atomic(cx_cache_stream **) streams;
    uint32_t stream_count, stream_capacity;
    cx_cache_stream *by_handle; /* a hash */
    cx_cache_stream *unused;
    uint32_t next_asked; /* the id that a look at some streams begins with */
    struct cx_old_table *old_tables;
    cx_cache_stream nobody; /* id 0 */
    /* pieces whose free waits for recorded streams, linked by their nodes: cache_defer.c; lock
     * "cache" */
    uint32_t deferred;
    bool settling; /* a thread looks through them */
    _Atomic uint64_t reserved_bytes;
    _Atomic int shortage; /* cx_shortage */
    cx_keep keep;
    _Atomic bool keeps_large; /* some thread may */
    _Atomic uint32_t magazines; /* of all threads and streams */
    _Atomic bool dense; /* mapped memory: blocks are placed so that chunks stay free */
    pthread_mutex_t range_lock; /* "range": what is mapped where, and the two below */
    /* of the device, by the last look at it and what was mapped since */
    uint64_t left_bytes;
    uint64_t left_at_look;
    /* lock "thread caches" */
    cx_thread_cache *thread_caches;
    struct cx_cache *next, **link;
    uint64_t number; /* of later caches it is higher */
    int finders;     /* threads that found it without having memory of it */
    /* What threads told, and what threads did that are gone or have no cache. */
    cx_thread_statistics gone;
    _Atomic int64_t told_bytes, told_count, peak_bytes, peak_count;
    _Atomic uint64_t failures, misses, retries, growths;
    /* misses that were refused; requests that the device had no memory for */
    _Atomic uint64_t misses_unserved, refusals;
    _Atomic uint64_t peak_reserved_bytes;
} cx_cache;

/* A live piece as a block. */
static inline cx_block cx_piece_block(uint32_t index)
{
    const cx_region *region = cx_piece_region(index);
    const cx_piece *piece = cx_piece_at(index);
    return (cx_block){
        .pointer = atomic_load_explicit(&piece->pointer, memory_order_relaxed),
        .size_bytes = cx_piece_size(piece),
        .context = region->cache->context,
        .epoch = region->epoch,
        .allocator = region->cache->allocator,
        .piece = index,
    };
}

/* ---- cache.c ---- */

ctxrt_status cx_cache_open(cx_allocator *allocator, cx_cache **out_cache);

/* Nothing of it is live. With `native` the segments go back to the driver, unless they are gone;
 * else they are gone with the context. */
void cx_cache_close(cx_cache *cache, bool native);

ctxrt_status cx_cache_alloc(cx_cache *cache, const cx_allocation *request, cx_block *out_block);
/* A piece without a count. */
ctxrt_status cx_cache_free(cx_cache *cache, const cx_block *block);
uint64_t cx_cache_trim(cx_cache *cache);

/* CX_SHORTAGE_HERE leaves it CX_SHORTAGE_SPENT. */
void cx_cache_set_shortage(cx_cache *cache, cx_shortage shortage);

/* After what is held, or how many magazines there are, has changed: what each may keep. */
void cx_cache_set_keep(cx_cache *cache);

/* A piece for a stream out of what is free, or the driver's; counts a miss. Neither looks into the
 * thread's cache nor counts the piece. Outside of sections, with the context pinned. */
ctxrt_status cx_cache_serve(cx_cache *cache, uint32_t id, size_t size_bytes, uint32_t *out_piece);

/* A piece out of what is free in the heap, or 0. Makes no driver call. */
uint32_t cx_cache_take(cx_cache *cache, uint32_t id, uint32_t units);

/* For magazines that have no such piece: one of those that other threads freed, or of the heap. */
cx_kept_piece cx_cache_refill(cx_cache *cache, cx_magazines *magazines, uint32_t units);

/* Keeps a free piece for which the magazines' own put found no room; what does not fit goes to the
 * heap. */
void cx_cache_put_over(cx_cache *cache, cx_magazines *magazines, cx_kept_piece piece);

/* Puts a piece back into its heap; lock "cache" held. Every piece comes back this way. */
void cx_cache_give(cx_cache *cache, uint32_t piece);

/* Puts what threads freed for a stream without allocating for it back into the heap; lock "cache"
 * held. */
void cx_cache_take_returned(cx_cache *cache, cx_cache_stream *stream);

/* The stream that a piece is of; NULL: it was destroyed. */
const ctxrt_stream *cx_cache_stream_of(cx_cache *cache, uint32_t piece);

/* The thread ends. Makes no driver call: what it freed is behind its streams' work, as ever. */
void cx_caches_leave_thread(cx_thread *thread);

/* The epoch of the cache's region has ended, and `next` takes its place. It stays, with a piece
 * left for the caller, until users have freed all that they had of it. Locks "thread caches" and
 * "range" held. */
void cx_cache_make_past(cx_cache *cache, cx_region *next);

/* A user frees a piece of a region; NULL: the caller gives up its piece of one that is past.
 * Whether that was the last of a past one, which the caller closes. */
bool cx_region_let_go(cx_cache *cache, cx_region *region, const cx_block *block);

/* Lock "thread caches". */
void cx_caches_hold(void);
void cx_caches_let_go(void);

/* After a reset of the context: all memory is gone. */
void cx_caches_forget(cx_context *context);

/* Adds the memory of a context that its caches gave out. */
void cx_caches_count(const cx_context *context, cx_context_memory *sum);

/* How much larger than asked for a piece may be: an eighth where it is small, nothing where memory
 * is short. */
static inline uint32_t cx_cache_slack(const cx_cache *cache, uint32_t units)
{
    int shortage = atomic_load_explicit(&cache->shortage, memory_order_relaxed);
    if (__builtin_expect(shortage >= CX_SHORTAGE_HERE, 0))
        return 0;
    return units >> (3 + 2 * (units > (1u << 20) >> CX_FIT_UNIT_BITS));
}

/* After a segment came (bytes > 0) or went; lock "cache" held. */
void cx_cache_note_segment(cx_cache *cache, int64_t bytes);

/* After memory was mapped or unmapped: so much is now. Lock "cache" held. */
void cx_cache_note_mapped(cx_cache *cache, uint64_t bytes);

/* Counts a free, as the thread's or, where that keeps nothing, as that of threads that are gone. */
void cx_cache_count_freed(cx_cache *cache, cx_thread_cache *self, size_t size_bytes);

/* ---- cache_figures.c ---- */

/* Pieces that are not freed. */
uint64_t cx_cache_live(cx_cache *cache);
void cx_cache_figures(cx_cache *cache, ctxrt_allocator_figures *out_figures);

/* What a thread allocates or frees before it tells the others: this part of what all have, and at
 * least so much. */
#define CX_TELL_PART 128
#define CX_TELL_BYTES ((int64_t)1 << 20)
#define CX_TELL_COUNT 256

/* Remembers that a thread has more than ever since it told the cache; tells it in time. */
void cx_statistics_raise(cx_cache *cache, cx_thread_statistics *own, int64_t bytes, int64_t count);

/* Tells the cache what a thread has, for the peaks. */
void cx_statistics_tell(cx_cache *cache, cx_thread_statistics *own, int64_t bytes, int64_t count);

static inline uint64_t cx_statistics_read(const _Atomic uint64_t *figure)
{
    return atomic_load_explicit(figure, memory_order_relaxed);
}

static inline int64_t cx_statistics_read_signed(const _Atomic int64_t *figure)
{
    return atomic_load_explicit(figure, memory_order_relaxed);
}

/* With what was allocated by now, which is counted apart: before the memory is there, where a limit
 * is set. */
static inline void cx_statistics_served(cx_cache *cache, cx_thread_statistics *own,
                                        uint64_t allocated_bytes, uint64_t allocated_count)
{
    int64_t bytes = (int64_t)(allocated_bytes - cx_statistics_read(&own->freed_bytes));
    int64_t count = (int64_t)(allocated_count - cx_statistics_read(&own->freed_count));
    if (__builtin_expect(((cx_statistics_read_signed(&own->high_bytes) - bytes) |
                          (cx_statistics_read_signed(&own->high_count) - count)) < 0,
                         0))
        cx_statistics_raise(cache, own, bytes, count);
}

/* The last that is done for a piece: once it is counted, the allocator may go. */
static inline void cx_statistics_freed(cx_cache *cache, cx_thread_statistics *own,
                                       size_t size_bytes)
{
    uint64_t freed_bytes = cx_statistics_read(&own->freed_bytes) + size_bytes;
    uint64_t freed_count = cx_statistics_read(&own->freed_count) + 1;
    int64_t bytes = (int64_t)(cx_statistics_read(&own->allocated_bytes) - freed_bytes);
    int64_t count = (int64_t)(cx_statistics_read(&own->allocated_count) - freed_count);
    if (__builtin_expect(((bytes - own->low_bytes) | (count - own->low_count)) < 0, 0))
        cx_statistics_tell(cache, own, bytes, count);
    atomic_store_explicit(&own->freed_bytes, freed_bytes, memory_order_relaxed);
    atomic_store_explicit(&own->freed_count, freed_count, memory_order_release);
}

/* ---- cache_thread.c: what threads keep ---- */

/* The calling thread's cache, in the context's epoch of now; made on first use. In a section of the
 * context. NULL: no memory for it. */
cx_thread_cache *cx_cache_of_thread(cx_cache *cache, cx_thread *thread);

/* Makes the magazines of a stream the thread cache's recent ones. In a section. */
ctxrt_status cx_cache_select(cx_cache *cache, cx_thread_cache *self, const cx_allocation *request);

/* Empties the caches of all threads into the heap, and frees their magazines. Closes the
 * sections. */
void cx_cache_flush(cx_cache *cache);

/* Gives the large piece of each magazines back to the heap. Closes the sections. */
void cx_cache_flush_large(cx_cache *cache);

/* As cx_cache_flush for one stream, whose magazines go. */
void cx_cache_flush_stream(cx_cache *cache, cx_cache_stream *stream);

/* Before the cache goes: detaches the threads' caches. */
void cx_cache_detach_threads(cx_cache *cache);

/* Calls visit for each cache, with the lock "thread caches" held. */
void cx_caches_each(void (*visit)(cx_cache *cache, void *argument), void *argument);
void cx_cache_enlist(cx_cache *cache);

/* The caches one after the other, from NULL to NULL, without a lock: each stays until the next is
 * asked for. */
cx_cache *cx_caches_next(cx_cache *cache);

typedef struct cx_totals {
    uint64_t allocated_bytes, freed_bytes, allocated_count, freed_count;
    int64_t high_bytes, high_count;
} cx_totals;

/* Frees are read first: what is live is never too little. */
void cx_cache_sum(cx_cache *cache, cx_totals *out_totals);

/* Counts a request if no limit forbids it. Of several threads at once none passes a limit
 * together. */
bool cx_cache_count_within_limit(cx_cache *cache, cx_thread_cache *self, size_t size_bytes);

/* ---- cache_stream.c: streams ---- */

/* Of a new cache. False: no memory. */
bool cx_cache_open_streams(cx_cache *cache);

/* The stream of a handle; lock "cache" not held. NULL with the error recorded. */
cx_cache_stream *cx_cache_stream_find(cx_cache *cache, const ctxrt_stream *stream);

/* The stream that a piece is of, which the calling thread has. */
static inline cx_cache_stream *cx_cache_stream_at(cx_cache *cache, uint32_t id)
{
    return atomic_load_explicit(&cache->streams, memory_order_acquire)[id];
}

/* A destroyed stream whose work is done, and of which no piece is left, is forgotten. Lock "cache"
 * held. */
void cx_cache_stream_settle(cx_cache *cache, cx_cache_stream *stream);

/* Frees the lists of a stream's free memory if it has none, and no piece of it will come back. Lock
 * "cache" held. */
void cx_cache_stream_forget_lists(cx_cache *cache, const cx_cache_stream *stream);

/* After a range was freed for a stream of other code: an event behind the work before it. */
void cx_cache_mark_foreign(cx_cache *cache, uint32_t id);

typedef enum cx_reclaim {
    CX_RECLAIM_SOME, /* looks at a few streams */
    CX_RECLAIM_ALL,
    CX_RECLAIM_WAIT /* waits until their work is done */
} cx_reclaim;

/* Makes what is free for other streams everyone's where their work is done. Whether anything
 * was. */
bool cx_cache_reclaim(cx_cache *cache, uint32_t id, cx_reclaim how);

/* Whether the work of a stream is done; with `wait`, waits for it. Of a stream that captures
 * nobody knows: false. Of one that was closed its event is waited for: true. */
bool cx_cache_is_stream_done(cx_cache *cache, uint32_t id, bool wait);

/* Says that a stream of ctxrt's is about to be destroyed. Outside of sections. */
void cx_caches_close_stream(const cx_context *context, const ctxrt_stream *stream);

/* Forgets all streams; `native`: destroys their events. */
void cx_cache_drop_streams(cx_cache *cache, bool native);

/* Forgets them, and frees their records. */
void cx_cache_free_streams(cx_cache *cache);

/* ---- cache_defer.c: pieces that recorded streams use ---- */

/* Of a piece that is freed: defers that where a recorded stream's work is not done, or where the
 * host may write to it, and its own stream's is not. An error of earlier work is told. */
ctxrt_status cx_cache_defer(cx_cache *cache, uint32_t index, bool *out_deferred);

/* Frees those whose streams are done; with `wait`, waits for all. Whether there were any. */
bool cx_cache_free_deferred(cx_cache *cache, bool wait);

/* Of an epoch of the context that has ended: waits for the streams of others, and forgets the
 * pieces. */
void cx_cache_drop_deferred(cx_cache *cache);

/* Before a context ends: waits for its streams wherever they were recorded. */
void cx_caches_forget_uses_of(const cx_context *context);

/* ---- cache_map.c: memory that is mapped ---- */

/* Whether a context's device has virtual memory; CTXRT_ERROR_NOT_SUPPORTED. */
ctxrt_status cx_cache_check_mapping(const cx_context *context);

/* Maps memory for a piece, and takes that; CTXRT_ERROR_OUT_OF_MEMORY. */
ctxrt_status cx_cache_map(cx_cache *cache, uint32_t id, uint32_t units, uint32_t *out_piece);

/* Gives up to so many bytes of nobody's memory back to the driver: how many. */
uint64_t cx_cache_unmap(cx_cache *cache, uint64_t wanted_bytes);

/* Takes a range where few chunks are touched that are free so far; 0 if that is not to be done, or
 * if that place lacks memory, or large mappings are to make way first: *out_lacks. Lock "cache"
 * held. */
uint32_t cx_cache_place_locked(cx_cache *cache, uint32_t id, uint32_t units, bool *out_lacks);

/* No work uses its memory. */
void cx_region_close_range(cx_region *region);

/* Lets a device reach the memory of a context that its caches mapped and will map, or not any more.
 * The first error. */
cxu_result cx_caches_share(const cx_context *context, CUdevice device, bool reaches);

/* ---- cache_grow.c: the driver ---- */

/* Memory has come from the driver. */
void cx_cache_count_reserved(cx_cache *cache, uint64_t bytes);

/* Takes a segment from the driver, and a piece of so many units for the stream out of it. */
ctxrt_status cx_cache_grow(cx_cache *cache, uint32_t id, uint32_t units, uint32_t *out_piece);

/* A piece out of what is free, or 0. Lock held. */
uint32_t cx_cache_take_locked(cx_cache *cache, uint32_t id, uint32_t units);

/* A range that was taken is a piece now; false: no memory for its entry in the pointer table, and
 * the range is free again. Lock held. Every piece leaves its heap this way. */
bool cx_cache_name_piece(cx_cache *cache, uint32_t index);

/* Enters memory that the driver gave among the ranges, and takes it out before it goes back. */
ctxrt_status cx_cache_enter_range(const cx_cache *cache, uintptr_t address, size_t size_bytes);
void cx_region_leave_range(const cx_region *region, uintptr_t address);

/* Gives a segment back to the driver; the context is current. */
void cx_cache_free_segment(const cx_cache *cache, uintptr_t address);

/* Gives segments that are free altogether back: their bytes. */
uint64_t cx_cache_shrink(cx_cache *cache);

/* The same while more is held than the allocator's options say. */
void cx_cache_release_beyond(cx_cache *cache);

ctxrt_status cx_cache_out_of_memory(cx_cache *cache, size_t size_bytes, ctxrt_status cause);

#endif
