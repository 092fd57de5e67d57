/*
 * A caching allocator's memory: heaps of segments that the driver gave, and the threads' stashes.
 *
 * The stream of a piece is the one that was current in the frame it was allocated in. When it is
 * freed, work submitted to that stream may still use it: it is given out again at once for the same
 * stream, and for another one after the work that was submitted before it was freed is done. Uses
 * by other streams are for the caller to record.
 *
 * Locks: "stashes" (which caches and stashes there are; flushes), then "cache" of each cache (heap
 * and owners). Neither is held across a call of a driver. "range", before both, is: cache_map.c
 * says why.
 */
#ifndef CX_MEMORY_CACHE_H
#define CX_MEMORY_CACHE_H

#include "context/stack.h"
#include "alloc/amount.h"
#include "memory/block.h"
#include "alloc/heap.h"
#include "memory/home.h"
#include "memory/mapped_range.h"
#include "alloc/scarcity.h"
#include "memory/stash.h"

/* The memory of one life of a context: a reset ends it. */
typedef struct cx_region {
    cx_heap heap;
    struct cx_cache *cache;
    uint32_t epoch; /* of the context */
    /* of a cache that maps its memory: made with the first; locks "range" and "cache" to change
     * it */
    bool has_range;
    cx_mapped_range range;
    struct cx_region *past;
} cx_region;

/* A stream that pieces are freed for. Its number is the owner of their ranges. */
typedef struct cx_owner {
    const ctxrt_stream *stream; /* the handle; NULL: the number is unused */
    CUstream native;
    /* other code's stream, which may be destroyed unseen: marked at every free */
    bool foreign;
    bool closed;           /* destroyed: the mark is behind all of its work */
    bool asked;            /* some thread asks the driver about it */
    CUevent mark;          /* NULL: none yet */
    uint64_t gives;        /* ranges freed for it */
    uint64_t marked_gives; /* as many when the mark was recorded */
} cx_owner;

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
    bool mapped;          /* its memory is mapped, not allocated */
    bool pinned; /* host memory: pinned.c. No stream's, in no stash, counted by its allocator */
    pthread_mutex_t lock; /* "cache": the heap and the owners */
    cx_region *region;
    cx_region *spare; /* for a reset; NULL: there was no memory for one */
    cx_cache_amounts amounts;
    cx_owner *owners; /* CX_FIT_OWNERS_MAX, of which number 0 is nobody */
    uint32_t owner_count;
    /* pieces that wait for recorded streams, linked by their nodes: cache_park.c; lock "cache" */
    uint32_t parked;
    _Atomic bool unparking;
    _Atomic uint64_t reserved_bytes;
    _Atomic int shortage; /* cx_shortage */
    cx_keep keep;
    _Atomic uint32_t magazines; /* of all threads and streams */
    _Atomic bool dense; /* mapped memory: blocks are placed so that chunks stay free */
    _Atomic bool scarce; /* large mappings make way for single chunks */
    cx_scarcity scarcity; /* lock "cache" */
    bool loosens_again; /* memory was free whose work was not done; lock "cache" */
    pthread_mutex_t range_lock; /* "range": what is mapped where, and the three below */
    /* of the device, by the last look at it and what was mapped since */
    uint64_t left_bytes;
    uint64_t left_at_look;
    uint64_t mapping_bytes; /* of a large mapping; 0: single chunks are mapped from the start */
    /* lock "stashes" */
    cx_stash *stashes;
    const cx_region *life; /* of which pieces may have a home; NULL: between two */
    struct cx_cache *next, **link;
    uint64_t number; /* of later caches it is higher */
    _Atomic int pins; /* threads that found it without having memory of it */
    /* What threads told, and what threads did that are gone or have no stash. */
    cx_tally gone;
    _Atomic int64_t told_bytes, told_count, peak_bytes, peak_count;
    _Atomic uint64_t failures, misses, retries, growths;
    /* misses that were refused; requests that the device had no memory for */
    _Atomic uint64_t misses_unserved, refusals;
    _Atomic uint64_t peak_reserved_bytes;
} cx_cache;

/* A live piece as a block. */
static inline cx_block cx_piece_block(uint32_t index)
{
    const cx_region *region = cx_fit_user(&cx_pieces, index);
    const cx_piece *piece = cx_piece_at(index);
    return (cx_block){
        .pointer = atomic_load_explicit(&piece->pointer, memory_order_relaxed),
        .size_bytes = cx_piece_size(cx_piece_head_at(index)),
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
ctxrt_status cx_cache_free(cx_cache *cache, const cx_block *block);
uint64_t cx_cache_trim(cx_cache *cache);

/* CX_SHORTAGE_HERE leaves it CX_SHORTAGE_SPENT. */
void cx_cache_set_shortage(cx_cache *cache, cx_shortage shortage);

/* After what is held, or how many magazines there are, has changed: what each may keep. */
void cx_cache_set_keep(cx_cache *cache);

/* A piece for an owner out of what is free, or the driver's; counts a miss. Neither looks into
 * stashes nor counts the piece. */
ctxrt_status cx_cache_serve(cx_cache *cache, uint32_t owner, size_t size_bytes,
                            uint32_t *out_piece);

/* A piece out of what is free in the heap, or 0. Makes no driver call. */
uint32_t cx_cache_take(cx_cache *cache, uint32_t owner, uint32_t units);

/* Keeps a free piece; what then does not fit into the magazines goes to the heap. In the thread's
 * stash, for which the magazines' own put found no room. */
void cx_cache_put_over(cx_cache *cache, cx_magazines *magazines, uint32_t piece,
                       uint32_t generation);

/* Puts a piece back into its heap; lock "cache" held. */
void cx_cache_give(cx_cache *cache, uint32_t piece);

/* The stream that a piece is of; NULL: it was destroyed. */
const ctxrt_stream *cx_cache_stream_of(cx_cache *cache, uint32_t piece);

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
void cx_tally_raise(cx_cache *cache, cx_tally *tally, int64_t bytes, int64_t count);

/* Tells the cache what a thread has, for the peaks. */
void cx_tally_tell(cx_cache *cache, cx_tally *tally, int64_t bytes, int64_t count);

static inline uint64_t cx_tally_read(const _Atomic uint64_t *figure)
{
    return atomic_load_explicit(figure, memory_order_relaxed);
}

static inline int64_t cx_tally_read_signed(const _Atomic int64_t *figure)
{
    return atomic_load_explicit(figure, memory_order_relaxed);
}

/* With what was allocated by now, which is counted apart: before the memory is there, where a limit
 * is set. */
static inline void cx_tally_served(cx_cache *cache, cx_tally *tally, uint64_t allocated_bytes,
                                   uint64_t allocated_count)
{
    int64_t bytes = (int64_t)(allocated_bytes - cx_tally_read(&tally->freed_bytes));
    int64_t count = (int64_t)(allocated_count - cx_tally_read(&tally->freed_count));
    if (__builtin_expect(((cx_tally_read_signed(&tally->high_bytes) - bytes) |
                          (cx_tally_read_signed(&tally->high_count) - count)) < 0,
                         0))
        cx_tally_raise(cache, tally, bytes, count);
}

/* The last that is done for a piece, unless the thread is in its stash: once it is counted, the
 * allocator may go. */
static inline void cx_tally_freed(cx_cache *cache, cx_tally *tally, size_t size_bytes)
{
    uint64_t freed_bytes = cx_tally_read(&tally->freed_bytes) + size_bytes;
    uint64_t freed_count = cx_tally_read(&tally->freed_count) + 1;
    int64_t bytes = (int64_t)(cx_tally_read(&tally->allocated_bytes) - freed_bytes);
    int64_t count = (int64_t)(cx_tally_read(&tally->allocated_count) - freed_count);
    if (__builtin_expect(((bytes - tally->low_bytes) | (count - tally->low_count)) < 0, 0))
        cx_tally_tell(cache, tally, bytes, count);
    atomic_store_explicit(&tally->freed_bytes, freed_bytes, memory_order_relaxed);
    atomic_store_explicit(&tally->freed_count, freed_count, memory_order_release);
}

/* ---- cache_thread.c: stashes ---- */

/* The calling thread's stash, made on first use; NULL: no memory for it. */
cx_stash *cx_cache_stash_slowly(cx_cache *cache, cx_thread *thread);

static inline cx_stash *cx_cache_stash(cx_cache *cache, cx_thread *thread)
{
    cx_stash *stash = thread->stashes;
    if (__builtin_expect(
            stash != NULL && atomic_load_explicit(&stash->cache, memory_order_relaxed) == cache, 1))
        return stash;
    return cx_cache_stash_slowly(cache, thread);
}

/* Makes the magazines of the frame's stream the stash's recent ones. */
ctxrt_status cx_cache_select(cx_cache *cache, cx_stash *stash, const cx_allocation *request);

/* Empties the stashes of all threads into the heap; `owner` 0: of all streams. Those of one stream
 * are then freed. */
void cx_cache_flush(cx_cache *cache, uint32_t owner);

/* Drops what is in the stashes; for good: detaches them, too. Until cx_cache_begin_life no piece
 * gets a home. */
void cx_cache_drop_stashes(cx_cache *cache, bool for_good);
void cx_cache_begin_life(cx_cache *cache);

/* No piece of a region is live any more. */
void cx_cache_end_homes(const cx_region *region);

/* Calls visit for each cache, with the lock "stashes" held. */
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
bool cx_cache_count_within_limit(cx_cache *cache, cx_stash *stash, size_t size_bytes);

/* ---- cache_stream.c: owners ---- */

/* The number of a stream; lock "cache" not held. 0 with the error recorded. */
uint32_t cx_cache_owner(cx_cache *cache, const ctxrt_stream *stream);

/* After a range was freed for a stream of other code: marks the work before it. */
void cx_cache_mark_foreign(cx_cache *cache, uint32_t owner);

/* Makes what is free for other streams everyone's where their work is done; with `wait`, waits
 * until it is. Whether anything was. */
bool cx_cache_reclaim(cx_cache *cache, uint32_t owner, bool wait);

/* Whether the work of a stream is done; with `wait`, waits for it. Of a stream that captures
 * nobody knows: false. Of one that was closed it is its mark that is waited for: true. */
bool cx_cache_is_stream_done(cx_cache *cache, uint32_t owner, bool wait);

/* Says that a stream of ctxrt's is about to be destroyed. */
void cx_caches_close_stream(const cx_context *context, const ctxrt_stream *stream);

/* Destroys the marks. */
void cx_cache_drop_owners(cx_cache *cache, bool native);

/* ---- cache_park.c: pieces that recorded streams use ---- */

/* Of a piece that is freed: parks it where a recorded stream's work is not done, or where the
 * host may write to it, and its own stream's is not. An error of earlier work is told. */
ctxrt_status cx_cache_park(cx_cache *cache, uint32_t index, bool *out_parked);

/* Frees those whose streams are done; with `wait`, waits for all. Whether there were any. */
bool cx_cache_unpark(cx_cache *cache, bool wait);

/* Of a life of the context that has ended: waits for the streams of others, and forgets the
 * pieces. */
void cx_cache_drop_parked(cx_cache *cache);

/* Before a context ends: waits for its streams wherever they were recorded. */
void cx_caches_unpark_uses_of(const cx_context *context);

/* ---- cache_map.c: memory that is mapped ---- */

/* Whether a context's device has virtual memory; CTXRT_ERROR_NOT_SUPPORTED. */
ctxrt_status cx_cache_check_mapping(const cx_context *context);

/* Maps memory for a piece, and takes that; CTXRT_ERROR_OUT_OF_MEMORY. */
ctxrt_status cx_cache_map(cx_cache *cache, uint32_t owner, uint32_t units, uint32_t *out_piece);

/* Gives up to so many bytes of nobody's memory back to the driver: how many. */
uint64_t cx_cache_unmap(cx_cache *cache, uint64_t wanted_bytes);

/* Takes a range where few chunks are touched that are free so far; 0 if that is not to be done, or
 * if that place lacks memory, or large mappings are to make way first: *out_lacks. Lock "cache"
 * held. */
uint32_t cx_cache_place_locked(cx_cache *cache, uint32_t owner, uint32_t units, bool *out_lacks);

/* No work uses its memory. */
void cx_region_close_range(cx_region *region);

/* Lets a device reach the memory of a context that its caches mapped and will map, or not any more.
 * The first error. */
cxu_result cx_caches_share(const cx_context *context, CUdevice device, bool reaches);

/* ---- cache_grow.c: the driver ---- */

/* Memory has come from the driver. */
void cx_cache_count_reserved(cx_cache *cache, uint64_t bytes);

/* Takes a segment from the driver, and a piece of so many units for the owner out of it. */
ctxrt_status cx_cache_grow(cx_cache *cache, uint32_t owner, uint32_t units, uint32_t *out_piece);

/* A piece out of what is free, or 0. Lock held. */
uint32_t cx_cache_take_locked(cx_cache *cache, uint32_t owner, uint32_t units);

/* A range that was taken is a piece now; false: no memory for its entry in the pointer table, and
 * the range is free again. Lock held. */
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
