/*
 * The address index: the memory that any address is in, and the raw pointers that start there.
 *
 * Ranges are the addresses that ctxrt has from the drivers: segments of caches, and single
 * allocations. A cache's block is in the page table of block_starts.h from when it leaves its heap
 * until it returns, whatever it is used for: CX_CACHE_BLOCK_RAW in its state means that it was
 * handed out as a raw pointer. So allocating and freeing a raw pointer do not change the index. A
 * raw pointer to other memory has a record.
 *
 * Several raw pointers may have one address: a custom allocator's slab and its first block, or
 * pointers from before and after a reset. Freeing an address frees memory from before a reset
 * first, which is gone anyway, and else the youngest block, which is the innermost one.
 *
 * A reader takes no lock for the start of a cache's block. It finds the block, reads its state and
 * then its address, and succeeds if the state is still the same, or by a compare-and-swap of it:
 * states have generations, so the block had this address all the time. Lock "pointers" is for all
 * else. No other lock is taken under it.
 */
#ifndef CX_MEMORY_ADDRESS_INDEX_H
#define CX_MEMORY_ADDRESS_INDEX_H

#include "memory/block.h"
#include "memory/block_starts.h"
#include "memory/freed_ranges.h"
#include <ctxrt/memory.h>

typedef enum cx_pointer_kind {
    CX_POINTER_DEVICE = 1,     /* ctxrt_alloc, from the block's allocator */
    CX_POINTER_MANAGED = 2,    /* ctxrt_alloc_managed */
    CX_POINTER_ASYNC = 4,      /* ctxrt_alloc_async */
    CX_POINTER_REGISTERED = 8, /* ctxrt_host_register: the caller's own pages */
    CX_POINTER_PINNED = 16     /* ctxrt_alloc_pinned */
} cx_pointer_kind;

/* A raw pointer whose memory is in no cache. */
typedef struct cx_pointer_record {
    cx_block block; /* allocator: for CX_POINTER_DEVICE only */
    cx_pointer_kind kind;
    const ctxrt_stream *stream; /* of an allocation in stream order: its handle */
} cx_pointer_record;

/* A raw pointer: a cached block, or a record, to be freed once it is taken out of the index. */
typedef struct cx_raw_pointer {
    uint32_t cached; /* 0: a record */
    cx_pointer_record *record;
} cx_raw_pointer;

/* A call notes the memory that it hands out before the index has it as a raw pointer. After a reset
 * another thread that frees its own pointer with the same address may take out this one, so the
 * call may no longer look at the block or the record. */
typedef struct cx_pointer_new {
    void *pointer;
    const cx_context *context;
    uint32_t epoch;
    cx_raw_pointer raw;
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
    bool mapped;     /* reachable only for devices that it is mapped for */
    uint32_t cached; /* 0: none */
    uint32_t generation;
} cx_pointer_block;

typedef struct cx_range {
    uintptr_t begin;
    cx_context *context;
    size_t size_bytes;
    uint32_t epoch; /* of the context when the memory came */
    ctxrt_memory_kind kind;
    bool segment; /* its blocks are in the index */
    bool stays;   /* a reset of the context leaves the memory alone */
    bool mapped;  /* reachable only for devices that it is mapped for */
    bool callers; /* the caller's own pages: not added if they are in another range */
} cx_range;

/* ---- ranges ---- */

/* Adds memory from a driver; older ranges that it overlaps are gone. CTXRT_ERROR_OUT_OF_MEMORY. */
ctxrt_status cx_ranges_add(const cx_range *range);

/* Removes a range of an epoch of a context, before its memory goes back to the driver. Harmless if
 * it is gone already. */
void cx_ranges_remove(const cx_context *context, uint32_t epoch, uintptr_t begin, cx_freed_how how);

/* The same allocation serves a request of another size, which is not above its own. Harmless if the
 * range is gone. */
void cx_ranges_set_size(const cx_context *context, uint32_t epoch, uintptr_t begin,
                        size_t size_bytes);

/* After a reset of the context: removes its ranges, except those that stay. */
void cx_ranges_forget(const cx_context *context);

/* A number that changes with each range that comes or goes. */
uint64_t cx_ranges_changes(void);

/* ---- blocks of caches ---- */

/* A block leaves its heap. False: no memory for the entry. Lock "cache" held. */
bool cx_pointers_enter(uint32_t cached);

/* Makes a block that was handed out a raw pointer. False: a reset has retired it meanwhile. */
bool cx_pointers_make_raw(uint32_t cached);

/* A block returns to its heap; harmless if it is not in the index. */
void cx_pointers_leave(uint32_t cached);

/* The block's memory is gone after a reset: a raw pointer that is still to be freed becomes a
 * record. */
void cx_pointers_retire(uint32_t cached);

/* The block that starts at an address, used or not; 0: none. It may go at any moment. */
uint32_t cx_pointers_cached_at(const void *pointer);

/* ---- records ---- */

/* Makes a record that is not in the index yet, to be freed with free(). NULL with the error
 * recorded. */
cx_pointer_record *cx_pointer_record_make(cx_pointer_kind kind);

/* Adds a record, and its memory to the ranges, unless an allocator's kind does that itself.
 * CTXRT_ERROR_OUT_OF_MEMORY. */
ctxrt_status cx_pointers_put(cx_pointer_record *record);

/* Removes the memory of a record that was taken out of the index, before it is freed. */
void cx_pointer_record_leave(const cx_pointer_record *record);

/* Calls visit(record, argument) for each record, with the lock held. */
void cx_pointers_each_record(void (*visit)(const cx_pointer_record *record, void *argument),
                             void *argument);

/* ---- raw pointers ---- */

/* Takes out a raw pointer of one of `kinds`; of several threads one gets it. An error names `call`
 * and the cause. */
ctxrt_status cx_pointers_take(const char *call, const void *pointer, int kinds,
                              cx_raw_pointer *out_taken);

/* Called after memory was handed out: takes out an older raw pointer with the same address, whose
 * memory must therefore be gone. Leaves memory from before a reset, and memory in which a custom
 * allocator may have placed the new one. False: there is none; always if a reset has ended the new
 * one: others may have newer memory at its address. */
bool cx_pointers_take_gone(const cx_pointer_new *newest, cx_raw_pointer *out_taken);

/* Takes out a raw pointer of a kind from before a reset. False: there is none. */
bool cx_pointers_take_stale(const void *pointer, cx_pointer_kind kind, cx_raw_pointer *out_taken);

/* True if there is a raw pointer with this address, not from before a reset; returns its
 * context. */
bool cx_pointers_has(const void *pointer, const cx_context **out_context);

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

/* ---- queries ---- */

/* Finds the block at an address, even inside it. Takes no lock for a block's start. */
void cx_pointers_find(const void *pointer, cx_pointer_block *out_block);

/* Takes and releases the lock "pointers". */
void cx_pointers_lock(void);
void cx_pointers_unlock(void);

/* The cache's block that has an address for itself, without a lock; 0: there is none, or the lock
 * must be taken to know. It may go at any moment: a block has the address only if it has it while
 * its state, which has a generation, is that of a live block. */
static inline uint32_t cx_pointers_quick(const void *pointer)
{
    uint32_t entry = cx_start_at((uintptr_t)pointer);
    return (entry & CX_START_IS_SHARED) == 0 &&
                   ((uintptr_t)pointer & (CX_FIT_UNIT_BYTES - 1)) == 0
               ? entry
               : 0;
}

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
                (atomic_load_explicit(&cx_starts_shared, memory_order_relaxed) != 0 &&
                 cx_pointers_quick(pointer) != index),
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
