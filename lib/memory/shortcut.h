/*
 * The shortcut: a piece for the frame's stream out of the thread's stash or its heap, and back
 * again, where nothing is out of the ordinary. Whoever is refused goes the long way, by block.h,
 * which refuses nothing that can be done; nothing has changed.
 */
#ifndef CX_MEMORY_SHORTCUT_H
#define CX_MEMORY_SHORTCUT_H

#include "memory/cache.h"
#include "memory/private_pool.h"

static inline bool cx_shortcut_is_open(void)
{
    return __builtin_expect(atomic_load_explicit(&cx_current_phase, memory_order_acquire) ==
                                    CX_PHASE_RUNNING &&
                                cx_thread_current != NULL && cx_private_pools == NULL,
                            1);
}

/* What a limit and a trace want is for the long way. */
static inline bool cx_shortcut_is_plain(const cx_cache *cache)
{
    const cx_allocator *allocator = cache->allocator;
    return atomic_load_explicit(&allocator->figures.limit_bytes, memory_order_relaxed) == 0 &&
           atomic_load_explicit(&allocator->trace.recording, memory_order_relaxed) == NULL;
}

/* In the stash. */
static inline bool cx_shortcut_serves(const cx_stash *stash, const cx_frame *frame)
{
    return stash->recent != NULL && stash->recent_context == cx_frame_context(frame) &&
           stash->recent_allocator ==
               atomic_load_explicit(&frame->allocator, memory_order_relaxed) &&
           stash->recent->stream == frame->current_stream;
}

/* In the stash, whose magazines have no such piece: one of the heap. */
__attribute__((noinline)) static cx_taken cx_shortcut_ask_heap(const cx_stash *stash,
                                                               uint32_t units)
{
    cx_cache *cache = atomic_load_explicit(&stash->cache, memory_order_relaxed);
    uint32_t index = cx_cache_take(cache, stash->recent->owner, units);
    if (index == 0)
        return (cx_taken){0};
    return (cx_taken){cx_piece_at(index)->node.units,
                      {index, cx_piece_generation(cx_piece_head_at(index))}};
}

/* In the stash. The piece, begun; 0: none. */
static inline uint32_t cx_shortcut_take(cx_stash *stash, size_t size_bytes,
                                        uint32_t *out_generation)
{
    cx_cache *cache = atomic_load_explicit(&stash->cache, memory_order_relaxed);
    uint32_t units = (uint32_t)((size_bytes + CX_FIT_UNIT_BYTES - 1) >> CX_FIT_UNIT_BITS);
    if (!cx_shortcut_is_plain(cache))
        return 0;
    cx_taken taken = cx_magazines_take(stash->recent, units, cx_cache_slack(cache, units));
    if (__builtin_expect(taken.units == 0, 0)) {
        taken = cx_shortcut_ask_heap(stash, units);
        if (taken.units == 0)
            return 0;
    }
    const cx_piece_start start = {size_bytes, taken.units - units, stash->stamp,
                                  taken.slot.generation + 1};
    cx_piece_begin(cx_piece_head_at(taken.slot.piece), &start);
    cx_tally *tally = &stash->tally;
    cx_tally_served(cache, tally, cx_tally_add(&tally->allocated_bytes, size_bytes),
                    cx_tally_add(&tally->allocated_count, 1));
    *out_generation = start.generation;
    return taken.slot.piece;
}

/* A piece of the calling thread's frame; 0: go the long way. */
static inline uint32_t cx_shortcut_alloc(size_t size_bytes, uint32_t *out_generation)
{
    uint32_t index = 0;
    if (!cx_shortcut_is_open() ||
        __builtin_expect(size_bytes - 1 >= (size_t)CX_MAGAZINE_UNITS_MAX << CX_FIT_UNIT_BITS, 0))
        return 0;
    cx_stash *stash = cx_thread_current->stashes;
    const cx_frame *frame = cx_thread_top(cx_thread_current);
    if (stash == NULL || frame == NULL || !cx_frame_is_current(frame) || !cx_stash_enter(stash))
        return 0;
    if (__builtin_expect(cx_shortcut_serves(stash, frame), 1))
        index = cx_shortcut_take(stash, size_bytes, out_generation);
    cx_stash_leave(stash);
    return index;
}

/* In the stash. Whether a piece of another home that is the caller's alone can be freed into it. */
static inline bool cx_shortcut_adopts(const cx_stash *stash, uint32_t index,
                                      const cx_piece_head *head)
{
    const cx_region *region = cx_fit_user(&cx_pieces, index);
    const cx_magazines *magazines = stash->recent;
    return magazines != NULL && magazines->owner == cx_piece_owner(head) && magazines->plain &&
           region->cache == atomic_load_explicit(&stash->cache, memory_order_relaxed) &&
           region->epoch ==
               atomic_load_explicit(&region->cache->context->epoch, memory_order_relaxed);
}

/* In the stash, which may have the piece: of this state, and nobody else can change that. */
static inline void cx_shortcut_put(cx_stash *stash, uint32_t index, cx_piece_head *head)
{
    cx_cache *cache = atomic_load_explicit(&stash->cache, memory_order_relaxed);
    uint32_t generation = cx_piece_generation(head), units = cx_piece_units(index, head);
    size_t size_bytes = cx_piece_size(head);
    cx_piece_end(head, generation);
    if (__builtin_expect(!cx_magazines_put(stash->recent, &cache->keep, units,
                                           (cx_magazine_slot){index, generation}), 0))
        cx_cache_put_over(cache, stash->recent, index, generation);
    cx_tally_freed(cache, &stash->tally, size_bytes);
}

/* In the stash, which it leaves. Frees the piece if it may be put there. */
static inline bool cx_shortcut_end(cx_stash *stash, uint32_t index, cx_piece_head *head, bool may)
{
    bool freed = __builtin_expect(
        may && cx_shortcut_is_plain(atomic_load_explicit(&stash->cache, memory_order_relaxed)), 1);
    if (freed)
        cx_shortcut_put(stash, index, head);
    cx_stash_leave(stash);
    return freed;
}

/* The calling thread's stash, entered; NULL: go the long way. */
static inline cx_stash *cx_shortcut_enter(void)
{
    cx_stash *stash = cx_shortcut_is_open() ? cx_thread_current->stashes : NULL;
    return stash != NULL && cx_stash_enter(stash) ? stash : NULL;
}

/* In the stash. Whether a live piece is of those that it takes without more ado. */
static inline bool cx_shortcut_has(const cx_stash *stash, const cx_piece_head *head)
{
    return cx_piece_stamp_of(head) ==
           atomic_load_explicit(&stash->free_stamp, memory_order_relaxed);
}

/* Frees the only count of a piece, of this state while it is live. False: go the long way. */
static inline bool cx_shortcut_free(uint32_t index, cx_piece_head *head, uint64_t state)
{
    cx_stash *stash = cx_shortcut_enter();
    if (stash == NULL)
        return false;
    uint64_t seen = atomic_load_explicit(&head->state, memory_order_relaxed);
    return cx_shortcut_end(stash, index, head,
                           (seen & ~CX_PIECE_SLACK_MASK) == state && cx_shortcut_has(stash, head));
}

/* Frees a live piece that is the caller's alone. False: go the long way. */
static inline bool cx_shortcut_free_own(uint32_t index, cx_piece_head *head)
{
    if ((atomic_load_explicit(&head->state, memory_order_relaxed) & CX_PIECE_USED) != 0)
        return false;
    cx_stash *stash = cx_shortcut_enter();
    return stash != NULL &&
           cx_shortcut_end(stash, index, head,
                           cx_shortcut_has(stash, head) || cx_shortcut_adopts(stash, index, head));
}

#endif
