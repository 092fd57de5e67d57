/*
 * The slots of the pointer table: a hash table of addresses, whose readers take no lock. Each
 * change, and each search here, is made with the lock "pointers" of pointer_table.h held.
 */
#ifndef CX_MEMORY_POINTER_SLOTS_H
#define CX_MEMORY_POINTER_SLOTS_H

#include "memory/cache_block.h"
#include "memory/pointer_record.h"

/* More entries than addresses: some address has several. */
extern _Atomic uint32_t cx_address_collisions;

typedef struct cx_pointer_slots {
    uint64_t mask; /* slots - 1 */
    _Atomic uint64_t slots[];
} cx_pointer_slots;

/* Address without its low 8 bits << 25 | CX_POINTER_IS_RECORD | index; 0: empty. Each entry is at
 * its hash's place, or behind it without an empty slot in between, older ones first. */
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

static inline cx_pointer_slots *cx_pointers_table(void)
{
    return atomic_load_explicit(&cx_pointers_now, memory_order_relaxed);
}

static inline uint64_t cx_pointers_read(const cx_pointer_slots *table, uint64_t place)
{
    return atomic_load_explicit(&table->slots[place], memory_order_relaxed);
}

static inline uint32_t cx_pointer_slot_index(uint64_t slot)
{
    return (uint32_t)slot & CX_POINTER_INDEX_MASK;
}

static inline bool cx_pointer_slot_is_record(uint64_t slot)
{
    return (slot & CX_POINTER_IS_RECORD) != 0;
}

static inline cx_pointer_record *cx_pointer_slot_record(uint64_t slot)
{
    return cx_pointer_record_at(cx_pointer_slot_index(slot));
}

static inline const void *cx_pointer_slot_address(uint64_t slot)
{
    return cx_pointer_slot_is_record(slot)
               ? cx_pointer_slot_record(slot)->block.pointer
               : atomic_load_explicit(&cx_cache_block_at(cx_pointer_slot_index(slot))->pointer,
                                      memory_order_relaxed);
}

/* The block of an entry at an address, without a lock; 0: there is none, or the lock must be taken
 * to know. The entry may go at any moment: a block has the address only if it has it while its
 * state, which has a generation, is that of a live block. */
static inline uint32_t cx_pointers_quick(const void *pointer)
{
    const cx_pointer_slots *table = atomic_load_explicit(&cx_pointers_now, memory_order_acquire);
    if (__builtin_expect(table == NULL || ((uintptr_t)pointer & (CX_FIT_UNIT_BYTES - 1)) != 0 ||
                             (uint64_t)(uintptr_t)pointer >> CX_POINTER_ADDRESS_BITS != 0,
                         0))
        return 0;
    uint64_t key = cx_pointer_key(pointer), i = cx_pointer_place(table, key), slot;
    while ((slot = atomic_load_explicit(&table->slots[i], memory_order_acquire)) >> 25 != key) {
        if (slot == 0)
            return 0;
        i = (i + 1) & table->mask;
    }
    return __builtin_expect(cx_pointer_slot_is_record(slot), 0) ? 0 : cx_pointer_slot_index(slot);
}

/* Finds the oldest entry of an address, or the next younger one behind *place. False: none. */
bool cx_pointers_first(const void *pointer, uint64_t *out_place);
bool cx_pointers_next(const void *pointer, uint64_t *place);

/* Adds an entry, the youngest of its address. False: no memory for a larger table. */
bool cx_pointers_insert(uint64_t slot);

/* Takes out the entry at a place. Entries behind it may move. */
void cx_pointers_erase(uint64_t place);

/* Takes out an entry of an address; harmless if it is not in the table. */
void cx_pointers_erase_slot(const void *pointer, uint64_t slot);

#endif
