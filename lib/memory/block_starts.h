/*
 * The blocks of caches by the addresses that they start at: a page table over the address space.
 * Readers take no lock, and check the block's own address: an empty page may have become that of
 * other addresses meanwhile. Each change, and each search here, is made with the lock "pointers" of
 * address_index.h held.
 */
#ifndef CX_MEMORY_BLOCK_STARTS_H
#define CX_MEMORY_BLOCK_STARTS_H

#include "memory/cache_block.h"

#define CX_START_PAGE_BITS 7    /* units of one page */
#define CX_START_FOLDER_BITS 17 /* pages of one folder */
#define CX_START_ROOT_BITS 17   /* folders */
#define CX_START_ADDRESS_BITS                                                                     \
    (CX_FIT_UNIT_BITS + CX_START_PAGE_BITS + CX_START_FOLDER_BITS + CX_START_ROOT_BITS)

/* An entry is a block's index, or 0; with this bit some record (address_index.h) has an address in
 * the block's first unit, too. */
#define CX_START_IS_SHARED 0x80000000u

typedef struct cx_start_page {
    uint32_t used;
    struct cx_start_page *next; /* of the empty pages */
    _Atomic uint32_t entries[1u << CX_START_PAGE_BITS];
} cx_start_page;

typedef struct cx_start_folder {
    uint64_t used[(1u << CX_START_FOLDER_BITS) / 64]; /* a bit for each page with an entry */
    _Atomic(cx_start_page *) pages[1u << CX_START_FOLDER_BITS];
} cx_start_folder;

extern _Atomic uint32_t cx_starts_shared; /* entries with that bit */

extern _Atomic(cx_start_folder *) cx_start_folders[1u << CX_START_ROOT_BITS];

static inline uint64_t cx_start_page_number(uintptr_t address)
{
    return (uint64_t)address >> (CX_FIT_UNIT_BITS + CX_START_PAGE_BITS);
}

/* NULL: the addresses around this one have had no blocks so far. */
static inline cx_start_page *cx_start_page_at(uintptr_t address)
{
    uint64_t number = cx_start_page_number(address);
    if (__builtin_expect((uint64_t)address >> CX_START_ADDRESS_BITS != 0, 0))
        return NULL;
    cx_start_folder *folder = atomic_load_explicit(
        &cx_start_folders[number >> CX_START_FOLDER_BITS], memory_order_acquire);
    return __builtin_expect(folder != NULL, 1)
               ? atomic_load_explicit(&folder->pages[number & ((1u << CX_START_FOLDER_BITS) - 1)],
                                      memory_order_acquire)
               : NULL;
}

/* The entry of the unit that an address is in. */
static inline uint32_t cx_start_at(uintptr_t address)
{
    const cx_start_page *page = cx_start_page_at(address);
    uint32_t unit = (uint32_t)(address >> CX_FIT_UNIT_BITS) & ((1u << CX_START_PAGE_BITS) - 1);
    return __builtin_expect(page != NULL, 1)
               ? atomic_load_explicit(&page->entries[unit], memory_order_acquire)
               : 0;
}

/* Sets the entry of a unit; 0: none. False: no memory, or no such address. */
bool cx_start_set(uintptr_t address, uint32_t entry);

/* Finds the last unit with an entry from *address down to `least`. False: there is none. */
bool cx_start_find_last(uintptr_t *address, uintptr_t least);

#endif
