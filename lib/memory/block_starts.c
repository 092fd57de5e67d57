#include "memory/block_starts.h"

#include <stdlib.h>

#define PAGE_BYTES ((uintptr_t)1 << (CX_FIT_UNIT_BITS + CX_START_PAGE_BITS))
#define FOLDER_MASK ((1u << CX_START_FOLDER_BITS) - 1)

_Atomic(cx_start_folder *) cx_start_folders[1u << CX_START_ROOT_BITS];
_Atomic uint32_t cx_starts_shared;
static cx_start_page *empty_pages;

static uint32_t unit_of(uintptr_t address)
{
    return (uint32_t)(address >> CX_FIT_UNIT_BITS) & ((1u << CX_START_PAGE_BITS) - 1);
}

static cx_start_folder *folder_at(uintptr_t address)
{
    return atomic_load(&cx_start_folders[cx_start_page_number(address) >> CX_START_FOLDER_BITS]);
}

/* NULL: no memory. */
static cx_start_page *make_page(uintptr_t address)
{
    uint64_t number = cx_start_page_number(address);
    if ((uint64_t)address >> CX_START_ADDRESS_BITS != 0)
        return NULL;
    if (folder_at(address) == NULL)
        atomic_store(&cx_start_folders[number >> CX_START_FOLDER_BITS],
                     calloc(1, sizeof(cx_start_folder)));
    cx_start_folder *folder = folder_at(address);
    if (folder == NULL)
        return NULL;
    cx_start_page *page = empty_pages;
    if (page != NULL)
        empty_pages = page->next;
    else
        page = calloc(1, sizeof *page);
    if (page != NULL)
        atomic_store_explicit(&folder->pages[number & FOLDER_MASK], page, memory_order_release);
    return page;
}

static void end_page(uintptr_t address, cx_start_page *page)
{
    atomic_store(&folder_at(address)->pages[cx_start_page_number(address) & FOLDER_MASK], NULL);
    page->next = empty_pages;
    empty_pages = page;
}

bool cx_start_set(uintptr_t address, uint32_t entry)
{
    cx_start_page *page = cx_start_page_at(address);
    if (page == NULL && (entry == 0 || (page = make_page(address)) == NULL))
        return entry == 0;
    _Atomic uint32_t *place = &page->entries[unit_of(address)];
    uint64_t number = cx_start_page_number(address) & FOLDER_MASK, bit = (uint64_t)1 << number % 64;
    uint64_t *used = &folder_at(address)->used[number / 64];
    uint32_t before = atomic_load(place);
    page->used += (entry != 0) - (before != 0);
    atomic_fetch_add(&cx_starts_shared, (entry >> 31) - (before >> 31));
    *used = page->used != 0 ? *used | bit : *used & ~bit;
    atomic_store_explicit(place, entry, memory_order_release);
    if (page->used == 0)
        end_page(address, page);
    return true;
}

/* ---- searching ---- */

/* The last address of the last page with an entry up to that of `address`, or one before `least`:
 * there is none. */
static uintptr_t last_used(uintptr_t address, uintptr_t least)
{
    while (address >= least) {
        const cx_start_folder *folder = folder_at(address);
        uint64_t number = cx_start_page_number(address), page = number & FOLDER_MASK;
        uint64_t first = (number - page) * PAGE_BYTES; /* of the folder */
        for (uint64_t word = page / 64 + 1; folder != NULL && word-- > 0; page = word * 64 - 1) {
            uint64_t pages = folder->used[word] & ~(uint64_t)0 >> (63 - page % 64);
            if (pages == 0)
                continue;
            page = word * 64 + 63 - (uint64_t)__builtin_clzll(pages);
            return first + (page + 1) * PAGE_BYTES - 1;
        }
        if (first == 0)
            break;
        address = first - 1;
    }
    return 0;
}

bool cx_start_find_last(uintptr_t *address, uintptr_t least)
{
    uintptr_t from = *address;
    if ((uint64_t)from >> CX_START_ADDRESS_BITS != 0)
        return false;
    for (;;) {
        uintptr_t last = last_used(from, least);
        if (last < least)
            return false;
        from = last < from ? last : from;
        const cx_start_page *page = cx_start_page_at(from);
        for (uint32_t unit = unit_of(from) + 1; unit-- > 0;)
            if (atomic_load(&page->entries[unit]) != 0) {
                *address = (from & ~(PAGE_BYTES - 1)) + ((uintptr_t)unit << CX_FIT_UNIT_BITS);
                return *address >= least;
            }
        if (from < PAGE_BYTES)
            return false;
        from = (from & ~(PAGE_BYTES - 1)) - 1;
    }
}
