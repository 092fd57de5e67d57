/*
 * A caching allocator's memory: a heap of segments from the driver, and magazines of free blocks.
 *
 * The stream of a block is the one that was current in the frame of its allocation. When the block
 * is freed, earlier work of that stream may still use it: the same stream may get it again at once,
 * another stream once that work is done. The caller records uses by other streams.
 *
 * A freed block goes into the magazine of its stream, which serves that stream's next requests;
 * what a magazine may not keep goes to the heap, whose ranges belong to the stream until its work
 * is done.
 *
 * A reset of the context ends the heap's segments. Blocks that users still have are gone then
 * (CX_CACHE_BLOCK_GONE): only their records stay until they are freed.
 *
 * Allocations and frees enter the context (context/use.h) and do what they can inside the section.
 * Calls of the driver are made outside of it, with the context pinned.
 *
 * Locks: "caches" (the list of caches), "range" (cache_map.c), "magazine" of each stream, then
 * "cache" of each cache (heap and streams). Only "range" is held across a driver call.
 */
#ifndef CX_MEMORY_CACHE_H
#define CX_MEMORY_CACHE_H

#include "alloc/amount.h"
#include "alloc/heap.h"
#include "base/hash.h"
#include "base/lock.h"
#include "context/stack.h"
#include "context/use.h"
#include "memory/block.h"
#include "memory/cache_block.h"
#include "memory/magazine.h"
#include "memory/mapped_range.h"

/* A stream that blocks are freed for. Its id is the owner of their ranges. Records are used again,
 * and never freed: a thread looks at the one of its last request, and at that of any block. Lock
 * "cache", but for fields with another lock and for atomic ones. */
typedef struct cx_cache_stream {
    struct cx_cache *cache; /* as `id`, for good */
    uint32_t id;
    cx_lock lock;          /* "magazine" */
    cx_magazine *magazine; /* NULL: none; lock "magazine" */
    _Atomic(const ctxrt_stream *) stream; /* the handle; NULL: the id is unused */
    CUstream native;
    bool plain;   /* a free only puts the block into the magazine or the heap */
    bool foreign; /* other code's, which may be destroyed without a call of ours: an event follows
                   * every free */
    bool closed;  /* destroyed: the event is behind all of its work; changed under both locks */
    bool over;    /* destroyed, and all of its work is done */
    bool asked;   /* a thread is querying the driver about it */
    CUevent event;         /* NULL: none yet */
    uint64_t gives;        /* ranges freed for it */
    uint64_t recorded_gives; /* as many when the event was recorded */
    uint64_t taken; /* blocks outside of the heap, and places that are being mapped for it */
    struct cx_cache_stream *next;    /* the next unused id */
    UT_hash_handle hh;               /* key: stream, until it is closed */
} cx_cache_stream;

#define CX_CACHE_STREAM_FIRST 1 /* 0: unowned */
#define CX_CACHE_STREAM_CHUNKS 24

/* A cache has at most this many magazines. When another stream wants one, all are emptied. */
#define CX_CACHE_MAGAZINES_MAX 256

typedef enum cx_shortage {
    CX_SHORTAGE_NONE,
    CX_SHORTAGE_COMING, /* large blocks return to the heap, where they merge with their
                         * neighbours */
    CX_SHORTAGE_HERE,   /* magazines keep little, and blocks are no larger than requested */
    CX_SHORTAGE_SPENT   /* the driver refused more: magazines keep nothing */
} cx_shortage;

/* The memory outside of the heap, the memory from the driver, and the free memory in between. */
typedef struct cx_cache_amounts {
    ctxrt_allocator_amount allocated, reserved, inactive;
} cx_cache_amounts;

/* Used again and never freed, with its streams: readers of the pointer table may look at the atomic
 * fields when its allocator is gone. */
typedef struct cx_cache {
    cx_allocator *allocator;
    _Atomic(cx_context *) context;
    _Atomic bool pinned; /* host memory: pinned.c. Unowned, and in no magazine */
    _Atomic uint32_t epoch; /* of the context, when its segments came */
    bool host_accessible;
    _Atomic bool mapped;     /* its memory is mapped, not allocated */
    cx_lock lock;            /* "cache": the heap and the streams */
    pthread_cond_t answered; /* a thread no longer queries a stream, or deferred frees */
    cx_heap heap;
    cx_cache_amounts amounts;
    /* By id: 8 streams, 8 more, and then as many as before in each. A thread that has a block of a
     * stream takes no lock to find it. */
    _Atomic(cx_cache_stream *) streams[CX_CACHE_STREAM_CHUNKS];
    uint32_t stream_count;
    cx_cache_stream *by_handle; /* a hash */
    cx_cache_stream *unused;
    uint32_t next_asked; /* the id at which the next look at some streams begins */
    /* blocks whose free waits for recorded streams, linked by their nodes: cache_free.c; lock
     * "cache" */
    uint32_t deferred;
    bool settling; /* a thread is going through them */
    /* units of blocks whose address is owed, linked likewise: cache_withhold.c; lock "cache" */
    uint32_t withheld;
    _Atomic uint32_t withholdings; /* so far */
    _Atomic uint64_t reserved_bytes;
    _Atomic int shortage; /* cx_shortage */
    cx_keep keep;
    _Atomic bool keeps_large;   /* some magazine may have a large block */
    _Atomic uint32_t magazines; /* of all streams */
    _Atomic bool dense; /* mapped memory: blocks are placed so that chunks stay free */
    cx_lock range_lock; /* "range": the mappings, and the fields below */
    bool has_range;     /* made with the first block; changed under both locks */
    cx_mapped_range range;
    /* left on the device, by the last query and what was mapped since */
    uint64_t left_bytes;
    uint64_t left_at_look;
    /* lock "caches" */
    struct cx_cache *next, **link;
    uint64_t number; /* later caches have higher numbers */
    int finders;     /* threads that found it without having memory of it */
    _Atomic uint64_t misses, retries;
    /* refused misses; requests for which the device had no memory */
    _Atomic uint64_t misses_unserved, refusals;
    _Atomic uint64_t peak_reserved_bytes;
} cx_cache;

/* The cache of a block that is or was one. */
static inline cx_cache *cx_cache_of(uint32_t index)
{
    return cx_cache_block_user(index);
}

/* A cached block as a cx_block. The order of the two looks tells a block of an ended epoch from
 * others, also during a reset. */
static inline cx_block cx_cache_block_as_block(uint32_t index)
{
    const cx_cache *cache = cx_cache_of(index);
    const cx_cache_block *cached = cx_cache_block_at(index);
    uint32_t epoch = atomic_load_explicit(&cache->epoch, memory_order_acquire);
    if (cx_cache_block_is_gone(cached))
        epoch = cached->node.offset_units;
    return (cx_block){
        .pointer = atomic_load_explicit(&cached->pointer, memory_order_relaxed),
        .size_bytes = cx_cache_block_size(cached),
        .context = cache->context,
        .epoch = epoch,
        .allocator = cache->allocator,
        .cached = index,
    };
}

/* ---- cache.c ---- */

ctxrt_status cx_cache_open(cx_allocator *allocator, cx_cache **out_cache);

/* Closes the cache; none of its memory is live. With `native` the segments go back to the driver,
 * unless they are gone; otherwise they went with the context. */
void cx_cache_close(cx_cache *cache, bool native);

/* Frees a block without a count of users. Does not count it. */
ctxrt_status cx_cache_free(cx_cache *cache, uint32_t index);
uint64_t cx_cache_trim(cx_cache *cache);

/* Gives the cache the context's present epoch. In a section, so the context is not being reset. A
 * cache that was made during a reset, or just before it, has the epoch of that time. */
void cx_cache_sync_epoch(cx_cache *cache);

/* CX_SHORTAGE_HERE does not replace CX_SHORTAGE_SPENT. */
void cx_cache_set_shortage(cx_cache *cache, cx_shortage shortage);

/* Sets the magazines' limits, after a change of the held memory or of the number of magazines. */
void cx_cache_set_keep(cx_cache *cache);

/* Serves a request for a stream from free memory or the driver, and counts a miss. Does not look
 * into the magazine. Outside of sections, with the context pinned. */
ctxrt_status cx_cache_serve(cx_cache *cache, uint32_t id, size_t size_bytes, uint32_t *out_cached);

/* Takes a block from the heap, or returns 0. Makes no driver call. */
uint32_t cx_cache_take(cx_cache *cache, uint32_t id, uint32_t units);

/* Takes a block of the heap for a stream whose magazine has none, or returns 0. Lock "magazine"
 * held. */
uint32_t cx_cache_refill(cx_cache *cache, cx_cache_stream *stream, uint32_t units);

/* Keeps a free block for which the magazine had no room; what does not fit returns to the heap.
 * Lock "magazine" held. */
void cx_cache_put_over(cx_cache *cache, cx_cache_stream *stream, cx_kept_block cached);

/* Returns a block to its heap; lock "cache" held. The only way back. */
void cx_cache_give(cx_cache *cache, uint32_t cached);

/* Counts a block that leaves its heap, with the heap's free memory; lock "cache" held. */
void cx_cache_count_taken(cx_cache *cache, uint32_t index);

/* The stream of a block; NULL: it was destroyed. */
const ctxrt_stream *cx_cache_stream_of(cx_cache *cache, uint32_t cached);

/* Empties the magazine of a stream into the heap, and frees it; and those of all streams. */
void cx_cache_flush_stream(cx_cache *cache, cx_cache_stream *stream);
void cx_cache_flush(cx_cache *cache);

/* Returns the large block of each magazine to the heap. */
void cx_cache_flush_large(cx_cache *cache);

/* Called after a reset of the context: all memory is gone. */
void cx_caches_forget(cx_context *context);

/* The allowed excess over the requested size: an eighth for small blocks, nothing while memory is
 * short. */
static inline uint32_t cx_cache_slack(const cx_cache *cache, uint32_t units)
{
    int shortage = atomic_load_explicit(&cache->shortage, memory_order_relaxed);
    if (__builtin_expect(shortage >= CX_SHORTAGE_HERE, 0))
        return 0;
    return units >> (3 + 2 * (units > (1u << 20) >> CX_FIT_UNIT_BITS));
}

/* Takes a free block of the stream's magazine, or else of the heap; 0: none. Lock "magazine"
 * held. */
static inline uint32_t cx_cache_take_at_hand(cx_cache *cache, cx_cache_stream *stream,
                                             uint32_t units)
{
    cx_kept_block taken = {0};
    if (__builtin_expect(stream->magazine != NULL && units <= CX_MAGAZINE_UNITS_MAX, 1))
        taken = cx_magazine_take(stream->magazine, units, cx_cache_slack(cache, units));
    if (__builtin_expect(taken.units == 0, 0))
        taken.cached = cx_cache_refill(cache, stream, units);
    return taken.cached;
}

/* Puts a freed block into the stream's magazine, or to the heap. Lock "magazine" held. */
static inline void cx_cache_put_at_hand(cx_cache *cache, cx_cache_stream *stream, uint32_t index)
{
    const cx_kept_block freed = {cx_cache_block_at(index)->node.units, index};
    if (__builtin_expect(stream->magazine == NULL ||
                             !cx_magazine_put(stream->magazine, &cache->keep, freed),
                         0))
        cx_cache_put_over(cache, stream, freed);
}

/* Called after a segment came (bytes > 0) or went; lock "cache" held. */
void cx_cache_note_segment(cx_cache *cache, int64_t bytes);

/* Called after memory was mapped or unmapped: `bytes` are mapped now. Lock "cache" held. */
void cx_cache_note_mapped(cx_cache *cache, uint64_t bytes);

/* ---- caches.c: the list of all caches ---- */

/* A cache to be used again, or a new one, zeroed; NULL: out of memory. */
cx_cache *cx_caches_take_record(void);
void cx_caches_enlist(cx_cache *cache);

/* Takes a cache out of the list, and waits for threads that found it there. */
void cx_caches_unlist(cx_cache *cache);
void cx_caches_put_record(cx_cache *cache);

/* Calls visit for each cache, with the lock "caches" held. */
void cx_caches_each(void (*visit)(cx_cache *cache, void *argument), void *argument);

/* Iterates over the caches, from NULL to NULL, without a lock: each stays until the next call. */
cx_cache *cx_caches_next(cx_cache *cache);

/* Adds the live memory of a context's caches. */
void cx_caches_count(const cx_context *context, cx_context_memory *sum);

/* ---- cache_stream.c: streams ---- */

/* For a new cache. False: out of memory. */
bool cx_cache_open_streams(cx_cache *cache);

/* The number of ids in use so far. */
uint32_t cx_cache_stream_count(cx_cache *cache);

/* Finds the stream of a handle; lock "cache" not held. NULL with the error recorded. */
cx_cache_stream *cx_cache_stream_find(cx_cache *cache, const ctxrt_stream *stream);

static inline uint32_t cx_cache_stream_chunk(uint32_t id)
{
    return 29 - (uint32_t)__builtin_clz(id | 4);
}

/* The number of streams in a chunk, which begins at a multiple of it. */
static inline uint32_t cx_cache_stream_chunk_size(uint32_t chunk)
{
    return chunk == 0 ? 8 : 4u << chunk;
}

/* The stream of a block that the calling thread has. */
static inline cx_cache_stream *cx_cache_stream_at(cx_cache *cache, uint32_t id)
{
    uint32_t chunk = cx_cache_stream_chunk(id);
    return &atomic_load_explicit(&cache->streams[chunk], memory_order_acquire)
        [id & (cx_cache_stream_chunk_size(chunk) - 1)];
}

/* Forgets a destroyed stream whose work is done, if none of its blocks is left. Lock "cache"
 * held. */
void cx_cache_stream_settle(cx_cache *cache, cx_cache_stream *stream);

/* Frees the lists of a stream's free memory if it has none, and no block of it will come back. Lock
 * "cache" held. */
void cx_cache_stream_forget_lists(cx_cache *cache, const cx_cache_stream *stream);

/* After a range was freed for a stream of other code: an event behind the work before it. */
void cx_cache_record_foreign(cx_cache *cache, uint32_t id);

typedef enum cx_reclaim {
    CX_RECLAIM_SOME, /* looks at a few streams */
    CX_RECLAIM_ALL,
    CX_RECLAIM_WAIT /* waits until their work is done */
} cx_reclaim;

/* Makes free memory of other streams unowned if their work is done. True if there was any. */
bool cx_cache_reclaim(cx_cache *cache, uint32_t id, cx_reclaim how);

/* True if the work of a stream is done; with `wait`, waits for it. False for a capturing stream,
 * which cannot be queried. For a closed one, waits for its event: true. */
bool cx_cache_is_stream_done(cx_cache *cache, uint32_t id, bool wait);

/* The thread ends: empties the magazines of its default streams, which may be idle for long. Makes
 * no driver call. */
void cx_caches_leave_thread(cx_thread *thread);

/* A stream of ctxrt's is about to be destroyed. Outside of sections. */
void cx_caches_close_stream(const cx_context *context, const ctxrt_stream *stream);

/* Waits for the work of all streams, before their memory is unmapped. No thread uses the cache. */
void cx_cache_await_streams(cx_cache *cache);

/* Forgets all streams; `native`: destroys their events. */
void cx_cache_drop_streams(cx_cache *cache, bool native);

/* ---- cache_free.c: deferred frees ---- */

/* Frees the blocks whose streams are done; with `wait`, waits for all. True if there were any. */
bool cx_cache_free_deferred(cx_cache *cache, bool wait);

/* For an ended epoch of the context: waits for streams of other contexts, and gives the blocks
 * back. */
void cx_cache_drop_deferred(cx_cache *cache);

/* Before a context ends: waits for its streams in all caches of other contexts where they were
 * recorded. */
void cx_caches_forget_uses_of(const cx_context *context);

/* ---- cache_withhold.c: addresses of raw pointers from before a reset ---- */

/* Withholds a block that leaves the heap while its address is owed, and takes others instead.
 * Returns one that is not, or 0: the heap has no other. Lock "cache" held. */
uint32_t cx_cache_pass_owed(cx_cache *cache, uint32_t index);

/* Returns to the heap what was withheld and is not owed any more; with `owed` all of it. True if
 * there was any. */
bool cx_cache_give_withheld(cx_cache *cache, bool owed);

/* ---- cache_map.c: mapped memory ---- */

/* Checks that a context's device has virtual memory; CTXRT_ERROR_NOT_SUPPORTED. */
ctxrt_status cx_cache_check_mapping(const cx_context *context);

/* Maps memory for a block, and takes it; *out_cached is 0 if it could not be taken.
 * CTXRT_ERROR_OUT_OF_MEMORY. */
ctxrt_status cx_cache_map(cx_cache *cache, uint32_t id, uint32_t units, uint32_t *out_cached);

/* Unmaps up to `wanted_bytes` of unowned memory; returns the bytes. */
uint64_t cx_cache_unmap(cx_cache *cache, uint64_t wanted_bytes);

/* Takes a range where few wholly free chunks are touched. 0 if dense placing is off; or with
 * *out_lacks, if that place lacks memory, or larger mappings must make way first. Lock "cache"
 * held. */
uint32_t cx_cache_place_locked(cx_cache *cache, uint32_t id, uint32_t units, bool *out_lacks);

/* Closes a range that the heap has no longer. No work uses its memory any more. Lock "range"
 * held. */
void cx_cache_close_range(cx_cache *cache);

/* Lets a device reach the mapped memory of a context's caches, now and later, or ends that. Returns
 * the first error. */
cxu_result cx_caches_share(const cx_context *context, CUdevice device, bool reaches);

/* ---- cache_grow.c: the driver ---- */

/* Counts memory that came from the driver. */
void cx_cache_count_reserved(cx_cache *cache, uint64_t bytes);

/* Takes a segment from the driver, and a block of `units` for the stream from it. */
ctxrt_status cx_cache_grow(cx_cache *cache, uint32_t id, uint32_t units, uint32_t *out_cached);

/* Takes a block from free memory, or returns 0. Lock held. */
uint32_t cx_cache_take_locked(cx_cache *cache, uint32_t id, uint32_t units);

/* Makes a taken range a block, or another of its size if its address is owed. 0: there is no other,
 * or no memory for its entry in the pointer table; the range is free again. Lock held. Every block
 * leaves its heap this way. */
uint32_t cx_cache_name_block(cx_cache *cache, uint32_t index);

/* Adds memory from the driver to the ranges, and removes it before it goes back. */
ctxrt_status cx_cache_enter_range(const cx_cache *cache, uintptr_t address, size_t size_bytes);
void cx_cache_leave_range(const cx_cache *cache, uintptr_t address);

/* Frees a segment; the context is current. */
void cx_cache_free_segment(const cx_cache *cache, uintptr_t address);

/* Frees wholly free segments; returns their bytes. */
uint64_t cx_cache_shrink(cx_cache *cache);

/* Frees wholly free segments while more is held than the allocator's options allow. */
void cx_cache_release_beyond(cx_cache *cache);

ctxrt_status cx_cache_out_of_memory(cx_cache *cache, size_t size_bytes, ctxrt_status cause);

#endif
