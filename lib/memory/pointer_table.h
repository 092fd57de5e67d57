/*
 * The pointer table: which blocks start at which address.
 *
 * A piece of a cache is in the table from when it leaves its heap until it goes back, whatever it
 * is used for meanwhile: CX_PIECE_RAW in its state says that it was given out as a raw pointer. So
 * allocating and freeing a raw pointer do not change the table. Memory that is no piece has a
 * record, which is in the table while its raw pointer lives.
 *
 * Several entries may have one address: a custom allocator's slab and its first block, or a pointer
 * of before a reset and one of after it. Freeing an address frees the memory of before a reset
 * first, which is gone anyway, and else the youngest: what lies innermost.
 *
 * Readers take no lock; lock "pointers" is for changes, and for a reader that finds nothing or
 * several entries. No other lock is taken under it.
 */
#ifndef CX_MEMORY_POINTER_TABLE_H
#define CX_MEMORY_POINTER_TABLE_H

#include "memory/piece.h"
#include "memory/pointer_record.h"
#include <ctxrt/memory.h>

/* What was taken out: a piece, or a record to be dropped with cx_pointer_record_drop. */
typedef struct cx_pointer_taken {
    uint32_t piece; /* 0: it is a record */
    cx_pointer_record *record;
} cx_pointer_taken;

typedef enum cx_pointer_state {
    CX_POINTER_UNKNOWN, /* ctxrt has no memory there */
    CX_POINTER_LIVE,
    CX_POINTER_CUSTOM, /* live, and of a custom allocator: its drivers know what it is */
    CX_POINTER_FREED,  /* ctxrt has the memory, and nobody uses it */
    CX_POINTER_PAST    /* ctxrt had memory there: past.h */
} cx_pointer_state;

/* What lies at an address. */
typedef struct cx_pointer_block {
    cx_pointer_state state;
    uintptr_t begin;
    size_t size_bytes; /* 0: not known any more */
    cx_context *context;
    uint32_t epoch; /* the context's that the memory is of */
    bool stays;     /* it outlives a reset */
    ctxrt_memory_kind kind;
    bool mapped;    /* only devices that it is mapped for reach it */
    uint32_t piece; /* 0: it is none */
    uint32_t generation;
} cx_pointer_block;

/* A piece leaves its heap. False: no memory for the entry. Lock "cache" held. */
bool cx_pointers_enter(uint32_t piece);

/* A piece that was given out becomes a raw pointer. False: a reset has retired it meanwhile. */
bool cx_pointers_make_raw(uint32_t piece);

/* A piece goes back to its heap; harmless if it is not in the table. */
void cx_pointers_leave(uint32_t piece);

/* The piece's memory is gone, after a reset: a raw pointer that is still to be freed is a record
 * from now on. */
void cx_pointers_retire(uint32_t piece);

/* Puts a record into the table, and what it stands for among the ranges: an allocator's kind does
 * that itself. CTXRT_ERROR_OUT_OF_MEMORY. */
ctxrt_status cx_pointers_put(cx_pointer_record *record);

/* Takes a raw pointer of one of `kinds` out; of several threads one gets it. An error says in the
 * name of `call` what is wrong. */
ctxrt_status cx_pointers_take(const char *call, const void *pointer, int kinds,
                              cx_pointer_taken *out_taken);

/* After memory was given out, a piece or a record: takes an older raw pointer out that has the same
 * address, and whose memory must therefore be gone. Memory of before a reset stays, and that in
 * which a custom allocator may have placed the new one. False: there is none, as ever where
 * cx_pointers_doubles is 0. */
bool cx_pointers_take_gone(const cx_pointer_taken *newest, cx_pointer_taken *out_taken);

/* The piece that starts at an address, used or not; 0: none. It may go at any moment. */
uint32_t cx_pointers_piece_at(const void *pointer);

/* Takes a raw pointer of a kind that is of before a reset out. False: there is none. */
bool cx_pointers_take_stale(const void *pointer, cx_pointer_kind kind,
                            cx_pointer_taken *out_taken);

/* Whether there is a raw pointer with this address that is not of before a reset, and of which
 * context. */
bool cx_pointers_has(const void *pointer, const cx_context **out_context);

/* What lies at an address, within a block too. Takes no lock for the start of a piece. */
void cx_pointers_find(const void *pointer, cx_pointer_block *out_block);

/* Lock "pointers". */
void cx_pointers_lock(void);
void cx_pointers_unlock(void);

/* Calls visit(record, argument) for each record, with the lock held. */
void cx_pointers_each_record(void (*visit)(const cx_pointer_record *record, void *argument),
                             void *argument);

/* ---- raw pointers of pieces ---- */

/* More entries than addresses: somewhere several entries have one. */
extern _Atomic uint32_t cx_pointers_doubles;

/* Raw pointers of custom allocators, which may lie in blocks of other ones. */
extern _Atomic uint32_t cx_pointers_custom;

typedef struct cx_pointer_slots {
    uint64_t mask; /* slots - 1 */
    _Atomic uint64_t slots[];
} cx_pointer_slots;

/* Address without its low 8 bits << 25 | CX_POINTER_IS_RECORD | index; 0: empty. Each entry is at
 * the place that its hash says, or behind it with no empty one between, the older first. */
extern _Atomic(cx_pointer_slots *) cx_pointers_now;
#define CX_POINTER_IS_RECORD (1u << 24)
#define CX_POINTER_INDEX_MASK (CX_POINTER_IS_RECORD - 1)
#define CX_POINTER_ADDRESS_BITS 47

static inline uint64_t cx_pointer_key(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer << (64 - CX_POINTER_ADDRESS_BITS) >> 25;
}

static inline uint64_t cx_pointer_place(const cx_pointer_slots *table, uint64_t key)
{
    return key * 0x9e3779b97f4a7c15u >> 32 & table->mask;
}

/*
 * Takes the raw pointer of a piece and its count out without a lock: the piece, whose state was
 * *out_state, or 0 where cx_pointers_take must look. The entry is read again behind the state: the
 * piece had this address while it had this state, and has both still if the exchange succeeds.
 */
static inline uint32_t cx_pointers_take_piece(const void *pointer, uint64_t *out_state)
{
    cx_pointer_slots *table = atomic_load_explicit(&cx_pointers_now, memory_order_acquire);
    if (__builtin_expect(table == NULL || ((uintptr_t)pointer & (CX_FIT_UNIT_BYTES - 1)) != 0 ||
                             (uint64_t)(uintptr_t)pointer >> CX_POINTER_ADDRESS_BITS != 0,
                         0))
        return 0;
    uint64_t key = cx_pointer_key(pointer), i = cx_pointer_place(table, key), slot;
    for (;; i = (i + 1) & table->mask) {
        slot = atomic_load_explicit(&table->slots[i], memory_order_acquire);
        if (__builtin_expect(slot >> 25 == key, 1))
            break;
        if (slot == 0)
            return 0;
    }
    if (__builtin_expect((slot & CX_POINTER_IS_RECORD) != 0, 0))
        return 0;
    cx_piece *piece = cx_piece_at((uint32_t)slot & CX_POINTER_INDEX_MASK);
    uint64_t state = atomic_load_explicit(&piece->state, memory_order_acquire);
    if (__builtin_expect((state & CX_PIECE_RAW) == 0 ||
                             atomic_load_explicit(&table->slots[i], memory_order_relaxed) != slot ||
                             atomic_load_explicit(&cx_pointers_now, memory_order_relaxed) !=
                                 table ||
                             atomic_load_explicit(&cx_pointers_doubles, memory_order_relaxed) != 0,
                         0))
        return 0;
    *out_state = state;
    return atomic_compare_exchange_strong_explicit(&piece->state, &state,
                                                   state & ~(uint64_t)UINT32_MAX,
                                                   memory_order_acq_rel, memory_order_relaxed)
               ? (uint32_t)slot & CX_POINTER_INDEX_MASK
               : 0;
}

#endif
