#include "shadow.h"

#include <stdatomic.h>
#include <stdlib.h>

#define PAGE_UNITS ((size_t)1 << 16)
#define PAGES 4096
#define LOOSE ((uint32_t)1 << 31) /* of an owner */

/* Units that follow each other. A page keeps its place for good. */
typedef struct page {
    uintptr_t number;
    _Atomic uint32_t owners[PAGE_UNITS];
} page;

static _Atomic(page *) pages[PAGES];
static unsigned unit_bits;

void shadow_clear(unsigned bits)
{
    unit_bits = bits;
    for (size_t i = 0; i < PAGES; i++)
        free(atomic_exchange(&pages[i], NULL));
}

static page *make(uintptr_t number)
{
    page *made = calloc(1, sizeof *made);
    if (made == NULL)
        abort();
    made->number = number;
    return made;
}

static page *find(uintptr_t number)
{
    for (size_t i = number % PAGES;; i = (i + 1) % PAGES) {
        page *found = atomic_load_explicit(&pages[i], memory_order_acquire);
        if (found == NULL) {
            page *made = make(number);
            if (atomic_compare_exchange_strong(&pages[i], &found, made))
                return made;
            free(made);
        }
        if (found->number == number)
            return found;
    }
}

static _Atomic uint32_t *unit_at(uintptr_t unit)
{
    return &find(unit / PAGE_UNITS)->owners[unit % PAGE_UNITS];
}

/* As many units as the size is, wherever the first begins: what lies apart is apart here, too. */
static uintptr_t end_of(uintptr_t address, size_t size)
{
    return (address >> unit_bits) + ((size + ((size_t)1 << unit_bits) - 1) >> unit_bits);
}

bool shadow_take(uintptr_t address, size_t size, uint32_t owner, uint32_t shared,
                 uint32_t *out_whose)
{
    bool mine = true;
    for (uintptr_t unit = address >> unit_bits; unit < end_of(address, size); unit++) {
        uint32_t before = atomic_exchange_explicit(unit_at(unit), owner, memory_order_relaxed);
        if (before != 0 && before != shared && (before & LOOSE) == 0) {
            mine = false;
            *out_whose = before;
        }
    }
    return mine;
}

bool shadow_pass(uintptr_t address, size_t size, uint32_t owner, uint32_t next)
{
    bool mine = true;
    for (uintptr_t unit = address >> unit_bits; unit < end_of(address, size); unit++)
        mine &= atomic_exchange_explicit(unit_at(unit), next, memory_order_relaxed) == owner;
    return mine;
}

/* True: each unit has the new owner, or had it before. */
static bool change(uintptr_t address, size_t size, uint32_t from, uint32_t to)
{
    bool all = true;
    for (uintptr_t unit = address >> unit_bits; unit < end_of(address, size); unit++) {
        uint32_t seen = from;
        if (!atomic_compare_exchange_strong_explicit(unit_at(unit), &seen, to, memory_order_relaxed,
                                                     memory_order_relaxed))
            all &= seen == to;
    }
    return all;
}

void shadow_loosen(uintptr_t address, size_t size, uint32_t owner)
{
    (void)change(address, size, owner, owner | LOOSE);
}

bool shadow_tighten(uintptr_t address, size_t size, uint32_t owner)
{
    return change(address, size, owner | LOOSE, owner);
}

void shadow_drop(uintptr_t address, size_t size, uint32_t owner)
{
    (void)change(address, size, owner | LOOSE, 0);
    (void)change(address, size, owner, 0);
}
