#include "memory/pointer_slots.h"

#include <sys/mman.h>
#include <unistd.h>

#define SLOTS_MIN 1024u

/* Outgrown tables stay mapped: readers may still look at them. */
_Atomic(cx_pointer_slots *) cx_pointers_now;
_Atomic uint32_t cx_address_collisions;
static uint64_t used;

static void write_slot(cx_pointer_slots *table, uint64_t place, uint64_t slot)
{
    atomic_store_explicit(&table->slots[place], slot, memory_order_release);
}

/* Finds the entry at or behind `place` for an address; `place` 0: the first one. False: no more. */
static bool find_from(const cx_pointer_slots *table, const void *pointer, uint64_t *place)
{
    uint64_t key = cx_pointer_key(pointer), slot;
    for (; (slot = cx_pointers_read(table, *place)) != 0; *place = (*place + 1) & table->mask)
        if (slot >> 25 == key && cx_pointer_slot_address(slot) == pointer)
            return true;
    return false;
}

bool cx_pointers_first(const void *pointer, uint64_t *out_place)
{
    const cx_pointer_slots *table = cx_pointers_table();
    if (table == NULL)
        return false;
    *out_place = cx_pointer_place(table, cx_pointer_key(pointer));
    return find_from(table, pointer, out_place);
}

bool cx_pointers_next(const void *pointer, uint64_t *place)
{
    const cx_pointer_slots *table = cx_pointers_table();
    *place = (*place + 1) & table->mask;
    return find_from(table, pointer, place);
}

/* Appends behind all entries of the same address. */
static void append_entry(cx_pointer_slots *table, uint64_t slot)
{
    uint64_t place = cx_pointer_place(table, slot >> 25);
    while (cx_pointers_read(table, place) != 0)
        place = (place + 1) & table->mask;
    write_slot(table, place, slot);
}

/* Copies from behind an empty slot on, so that entries of one address stay in their order. */
static void copy_into(cx_pointer_slots *grown, const cx_pointer_slots *from)
{
    uint64_t start = 0;
    while (cx_pointers_read(from, start) != 0)
        start++;
    for (uint64_t i = 1; i <= from->mask; i++) {
        uint64_t slot = cx_pointers_read(from, (start + i) & from->mask);
        if (slot != 0)
            append_entry(grown, slot);
    }
}

static size_t table_bytes(uint64_t count)
{
    return sizeof(cx_pointer_slots) + count * sizeof(uint64_t);
}

static cx_pointer_slots *map_table(uint64_t count)
{
    void *pages = mmap(NULL, table_bytes(count), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages != MAP_FAILED ? pages : NULL;
}

/* Frees the memory of an outgrown table, except its first page. Readers find its slots empty, and
 * look under the lock. */
static void empty_table(cx_pointer_slots *table)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = table_bytes(table->mask + 1);
    if (bytes > page)
        (void)madvise((char *)table + page, bytes - page, MADV_DONTNEED);
}

/* At most five of eight slots are used. */
static bool make_room(void)
{
    cx_pointer_slots *table = cx_pointers_table();
    uint64_t count = table != NULL ? table->mask + 1 : 0;
    if (used + 1 <= count / 8 * 5)
        return true;
    uint64_t wanted = count != 0 ? 2 * count : SLOTS_MIN;
    cx_pointer_slots *grown = map_table(wanted);
    if (grown == NULL)
        return false;
    grown->mask = wanted - 1;
    if (table != NULL)
        copy_into(grown, table);
    atomic_store_explicit(&cx_pointers_now, grown, memory_order_release);
    if (table != NULL)
        empty_table(table);
    return true;
}

bool cx_pointers_insert(uint64_t slot)
{
    uint64_t place;
    if (!make_room())
        return false;
    if (cx_pointers_first(cx_pointer_slot_address(slot), &place))
        atomic_fetch_add(&cx_address_collisions, 1);
    append_entry(cx_pointers_table(), slot);
    used++;
    return true;
}

/* Moves later entries up, so that none is behind an empty slot. */
void cx_pointers_erase(uint64_t place)
{
    cx_pointer_slots *table = cx_pointers_table();
    const void *pointer = cx_pointer_slot_address(cx_pointers_read(table, place));
    for (uint64_t next = place;;) {
        uint64_t slot;
        next = (next + 1) & table->mask;
        if ((slot = cx_pointers_read(table, next)) == 0)
            break;
        uint64_t home = cx_pointer_place(table, slot >> 25);
        if (((next - home) & table->mask) >= ((next - place) & table->mask)) {
            write_slot(table, place, slot);
            place = next;
        }
    }
    write_slot(table, place, 0);
    used--;
    if (cx_pointers_first(pointer, &place))
        atomic_fetch_sub(&cx_address_collisions, 1);
}

void cx_pointers_erase_slot(const void *pointer, uint64_t slot)
{
    uint64_t place;
    bool found = cx_pointers_first(pointer, &place);
    while (found && cx_pointers_read(cx_pointers_table(), place) != slot)
        found = cx_pointers_next(pointer, &place);
    if (found)
        cx_pointers_erase(place);
}
