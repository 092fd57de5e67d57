/*
 * The pointer table: the blocks that start at an address.
 *
 * A cache's block is in the table from when it leaves its heap until it returns, whatever it is
 * used for: CX_CACHE_BLOCK_RAW in its state means that it was handed out as a raw pointer. So
 * allocating and freeing a raw pointer do not change the table. Other memory has a record, which is
 * in the table while its raw pointer lives.
 *
 * Several entries may have one address: a custom allocator's slab and its first block, or pointers
 * from before and after a reset. Freeing an address frees memory from before a reset first, which
 * is gone anyway, and else the youngest block, which is the innermost one.
 *
 * A reader takes no lock for the start of a cache's block. It finds the block, reads its state and
 * then its address, and succeeds if the state is still the same, or by a compare-and-swap of it:
 * states have generations, so the block had this address all the time. Lock "pointers" is for all
 * else. No other lock is taken under it.
 */
#ifndef CX_MEMORY_POINTER_TABLE_H
#define CX_MEMORY_POINTER_TABLE_H

#include "memory/pointer_slots.h"
#include <ctxrt/memory.h>

/* A raw pointer taken out of the table: a cached block, or a record to be dropped with
 * cx_pointer_record_drop. */
typedef struct cx_pointer_taken {
    uint32_t cached; /* 0: a record */
    cx_pointer_record *record;
} cx_pointer_taken;

/* A call notes the memory that it hands out before the table has it as a raw pointer. After a reset
 * another thread that frees its own pointer with the same address may take out this one, so the
 * call may no longer look at the block or the record. */
typedef struct cx_pointer_new {
    void *pointer;
    const cx_context *context;
    uint32_t epoch;
    uint32_t entry; /* the low bits of its slot: a cached block, or CX_POINTER_IS_RECORD | index */
    const cx_allocator *allocator;
} cx_pointer_new;

typedef enum cx_pointer_state {
    CX_POINTER_UNKNOWN, /* ctxrt has no memory there */
    CX_POINTER_LIVE,
    CX_POINTER_CUSTOM, /* live, and a custom allocator's: its drivers know the memory */
    CX_POINTER_FREED,  /* ctxrt has the memory, but no user does */
    CX_POINTER_PAST    /* ctxrt had memory there: freed_ranges.h */
} cx_pointer_state;

/* The block at an address. */
typedef struct cx_pointer_block {
    cx_pointer_state state;
    uintptr_t begin;
    size_t size_bytes; /* 0: unknown by now */
    cx_context *context;
    uint32_t epoch; /* of the context when the memory was allocated */
    bool stays;     /* outlives a reset */
    ctxrt_memory_kind kind;
    bool mapped;    /* reachable only for devices that it is mapped for */
    uint32_t cached; /* 0: none */
    uint32_t generation;
} cx_pointer_block;

/* A block leaves its heap. False: no memory for the entry. Lock "cache" held. */
bool cx_pointers_enter(uint32_t cached);

/* Makes a block that was handed out a raw pointer. False: a reset has retired it meanwhile. */
bool cx_pointers_make_raw(uint32_t cached);

/* A block returns to its heap; harmless if it is not in the table. */
void cx_pointers_leave(uint32_t cached);

/* The block's memory is gone after a reset: a raw pointer that is still to be freed becomes a
 * record. */
void cx_pointers_retire(uint32_t cached);

/* Adds a record to the table, and its memory to the ranges, unless an allocator's kind does that
 * itself. CTXRT_ERROR_OUT_OF_MEMORY. */
ctxrt_status cx_pointers_put(cx_pointer_record *record);

/* Takes out a raw pointer of one of `kinds`; of several threads one gets it. An error names `call`
 * and the cause. */
ctxrt_status cx_pointers_take(const char *call, const void *pointer, int kinds,
                              cx_pointer_taken *out_taken);

/* Called after memory was handed out: takes out an older raw pointer with the same address, whose
 * memory must therefore be gone. Leaves memory from before a reset, and memory in which a custom
 * allocator may have placed the new one. False: there is none; always if cx_address_collisions is
 * 0, or a reset has ended the new one: others may have newer memory at its address. */
bool cx_pointers_take_gone(const cx_pointer_new *newest, cx_pointer_taken *out_taken);

/* True once a context is reset: from then on addresses may be owed (owed.h). */
extern _Atomic bool cx_pointers_may_be_owed;

bool cx_pointers_search_owed(const void *pointer);

/* True if a raw pointer from before a reset has this address and is still to be freed. */
static inline bool cx_pointers_is_owed(const void *pointer)
{
    return __builtin_expect(atomic_load_explicit(&cx_pointers_may_be_owed, memory_order_relaxed),
                            0) &&
           cx_pointers_search_owed(pointer);
}

/* The block that starts at an address, used or not; 0: none. It may go at any moment. */
uint32_t cx_pointers_cached_at(const void *pointer);

/* Takes out a raw pointer of a kind from before a reset. False: there is none. */
bool cx_pointers_take_stale(const void *pointer, cx_pointer_kind kind,
                            cx_pointer_taken *out_taken);

/* True if there is a raw pointer with this address, not from before a reset; returns its
 * context. */
bool cx_pointers_has(const void *pointer, const cx_context **out_context);

/* Finds the block at an address, even inside it. Takes no lock for a block's start. */
void cx_pointers_find(const void *pointer, cx_pointer_block *out_block);

/* Takes and releases the lock "pointers". */
void cx_pointers_lock(void);
void cx_pointers_unlock(void);

/* Calls visit(record, argument) for each record, with the lock held. */
void cx_pointers_each_record(void (*visit)(const cx_pointer_record *record, void *argument),
                             void *argument);

/* ---- raw pointers of a cache's blocks ---- */

/* Raw pointers of custom allocators, which may be inside other blocks. */
extern _Atomic uint32_t cx_pointers_custom;

/* Takes out a block's raw pointer and its count without a lock. Returns the block, whose state was
 * *out_state, or 0 if cx_pointers_take must look. */
static inline uint32_t cx_pointers_take_cached(const void *pointer, uint64_t *out_state)
{
    uint32_t index = cx_pointers_quick(pointer);
    if (__builtin_expect(index == 0, 0))
        return 0;
    cx_cache_block *cached = cx_cache_block_at(index);
    uint64_t state = atomic_load_explicit(&cached->state, memory_order_acquire);
    if (__builtin_expect(
            (state & CX_CACHE_BLOCK_RAW) == 0 ||
                atomic_load_explicit(&cached->pointer, memory_order_relaxed) != pointer ||
                atomic_load_explicit(&cx_address_collisions, memory_order_relaxed) != 0,
            0))
        return 0;
    *out_state = state;
    return atomic_compare_exchange_strong_explicit(&cached->state, &state,
                                                   state & CX_CACHE_BLOCK_KEPT,
                                                   memory_order_acq_rel, memory_order_relaxed)
               ? index
               : 0;
}

#endif
