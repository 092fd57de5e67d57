#include "memory/pointer_table.h"

#include "base/error.h"
#include "memory/cache.h"

#include <pthread.h>
#include <stdlib.h>

#define SLOTS_MIN 1024u

_Atomic(cx_pointer_slots *) cx_pointers_now;
_Atomic uint32_t cx_pointers_doubles;

/* Lock "pointers". Tables that were too small are kept: readers may still look at them. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t used;

static cx_pool records = CX_POOL_INIT("pointer record", 11, cx_pointer_record);

/* ---- entries ---- */

static cx_pointer_slots *table_now(void)
{
    return atomic_load_explicit(&cx_pointers_now, memory_order_relaxed);
}

static uint64_t read_slot(const cx_pointer_slots *table, uint64_t place)
{
    return atomic_load_explicit(&table->slots[place], memory_order_relaxed);
}

static void write_slot(cx_pointer_slots *table, uint64_t place, uint64_t slot)
{
    atomic_store_explicit(&table->slots[place], slot, memory_order_release);
}

static uint32_t index_of(uint64_t slot)
{
    return (uint32_t)slot & CX_POINTER_INDEX_MASK;
}

static bool is_record(uint64_t slot)
{
    return (slot & CX_POINTER_IS_RECORD) != 0;
}

static cx_pointer_record *record_of(uint64_t slot)
{
    return cx_pool_at(&records, index_of(slot));
}

static const void *pointer_of(uint64_t slot)
{
    return is_record(slot) ? record_of(slot)->block.pointer
                           : atomic_load_explicit(&cx_piece_at(index_of(slot))->pointer,
                                                  memory_order_relaxed);
}

static uint64_t slot_of_piece(uint32_t piece)
{
    const void *pointer =
        atomic_load_explicit(&cx_piece_at(piece)->pointer, memory_order_relaxed);
    return cx_pointer_key(pointer) << 25 | piece;
}

static uint64_t slot_of_record(const cx_pointer_record *record)
{
    return cx_pointer_key(record->block.pointer) << 25 | CX_POINTER_IS_RECORD |
           cx_pool_slot_of(record)->index;
}

static cx_block block_of(uint64_t slot)
{
    return is_record(slot) ? record_of(slot)->block : cx_piece_block(index_of(slot));
}

/* The kind of raw pointer that an entry stands for; 0: none. */
static int kind_of(uint64_t slot)
{
    if (is_record(slot))
        return (int)record_of(slot)->kind;
    uint64_t state = atomic_load(&cx_piece_head_at(index_of(slot))->state);
    return (state & CX_PIECE_RAW) != 0 ? CX_POINTER_DEVICE : 0;
}

static bool is_stale(uint64_t slot)
{
    const cx_block block = block_of(slot);
    return atomic_load(&block.context->epoch) != block.epoch;
}

/* ---- the table; lock held ---- */

/* The place of the entry at or behind `place` for an address, the first one's for `place` 0 from
 * `start`; false: there is no more. */
static bool find_from(const cx_pointer_slots *table, const void *pointer, uint64_t *place)
{
    uint64_t key = cx_pointer_key(pointer), slot;
    for (; (slot = read_slot(table, *place)) != 0; *place = (*place + 1) & table->mask)
        if (slot >> 25 == key && pointer_of(slot) == pointer)
            return true;
    return false;
}

static bool find_first(const void *pointer, uint64_t *out_place)
{
    const cx_pointer_slots *table = table_now();
    if (table == NULL)
        return false;
    *out_place = cx_pointer_place(table, cx_pointer_key(pointer));
    return find_from(table, pointer, out_place);
}

static bool find_next(const void *pointer, uint64_t *place)
{
    const cx_pointer_slots *table = table_now();
    *place = (*place + 1) & table->mask;
    return find_from(table, pointer, place);
}

/* Behind all entries of the same address. */
static void append(cx_pointer_slots *table, uint64_t slot)
{
    uint64_t place = cx_pointer_place(table, slot >> 25);
    while (read_slot(table, place) != 0)
        place = (place + 1) & table->mask;
    write_slot(table, place, slot);
}

/* From behind an empty slot on, so that entries of one address stay in their order. */
static void copy_into(cx_pointer_slots *grown, const cx_pointer_slots *from)
{
    uint64_t start = 0;
    while (read_slot(from, start) != 0)
        start++;
    for (uint64_t i = 1; i <= from->mask; i++) {
        uint64_t slot = read_slot(from, (start + i) & from->mask);
        if (slot != 0)
            append(grown, slot);
    }
}

/* Five of eight slots are used at most. */
static bool make_room(void)
{
    const cx_pointer_slots *table = table_now();
    uint64_t count = table != NULL ? table->mask + 1 : 0;
    if (used + 1 <= count / 8 * 5)
        return true;
    uint64_t wanted = count != 0 ? 2 * count : SLOTS_MIN;
    cx_pointer_slots *grown = calloc(1, sizeof *grown + wanted * sizeof grown->slots[0]);
    if (grown == NULL)
        return false;
    grown->mask = wanted - 1;
    if (table != NULL)
        copy_into(grown, table);
    atomic_store_explicit(&cx_pointers_now, grown, memory_order_release);
    return true;
}

static bool insert(uint64_t slot)
{
    uint64_t place;
    if (!make_room())
        return false;
    if (find_first(pointer_of(slot), &place))
        atomic_fetch_add(&cx_pointers_doubles, 1);
    append(table_now(), slot);
    used++;
    return true;
}

/* Entries behind it move up, so that none is behind an empty slot. */
static void erase(uint64_t place)
{
    cx_pointer_slots *table = table_now();
    const void *pointer = pointer_of(read_slot(table, place));
    for (uint64_t next = place;;) {
        uint64_t slot;
        next = (next + 1) & table->mask;
        if ((slot = read_slot(table, next)) == 0)
            break;
        uint64_t home = cx_pointer_place(table, slot >> 25);
        if (((next - home) & table->mask) >= ((next - place) & table->mask)) {
            write_slot(table, place, slot);
            place = next;
        }
    }
    write_slot(table, place, 0);
    used--;
    if (find_first(pointer, &place))
        atomic_fetch_sub(&cx_pointers_doubles, 1);
}

static void erase_slot(const void *pointer, uint64_t slot)
{
    uint64_t place;
    bool found = find_first(pointer, &place);
    while (found && read_slot(table_now(), place) != slot)
        found = find_next(pointer, &place);
    if (found)
        erase(place);
}

/* ---- pieces ---- */

bool cx_pointers_enter(uint32_t piece)
{
    pthread_mutex_lock(&lock);
    bool entered = insert(slot_of_piece(piece));
    pthread_mutex_unlock(&lock);
    return entered;
}

void cx_pointers_leave(uint32_t piece)
{
    uint64_t slot = slot_of_piece(piece);
    pthread_mutex_lock(&lock);
    erase_slot(pointer_of(slot), slot);
    pthread_mutex_unlock(&lock);
}

uint32_t cx_pointers_piece_at(const void *pointer)
{
    uint32_t piece = 0;
    uint64_t place;
    pthread_mutex_lock(&lock);
    for (bool found = find_first(pointer, &place); found; found = find_next(pointer, &place))
        if (!is_record(read_slot(table_now(), place)))
            piece = index_of(read_slot(table_now(), place));
    pthread_mutex_unlock(&lock);
    return piece;
}

/* ---- records ---- */

cx_pointer_record *cx_pointer_record_make(cx_pointer_kind kind)
{
    cx_pointer_record *record = cx_pool_take(&records);
    if (record == NULL) {
        (void)cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for the record of a pointer");
        return NULL;
    }
    record->kind = kind;
    record->block = (cx_block){0};
    return record;
}

void cx_pointer_record_drop(cx_pointer_record *record)
{
    cx_pool_put_back(&records, record);
}

ctxrt_status cx_pointers_put(cx_pointer_record *record)
{
    pthread_mutex_lock(&lock);
    bool added = insert(slot_of_record(record));
    pthread_mutex_unlock(&lock);
    return added ? CTXRT_SUCCESS
                 : cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for the table of pointers");
}

void cx_pointers_each_record(void (*visit)(const cx_pointer_record *record, void *argument),
                             void *argument)
{
    pthread_mutex_lock(&lock);
    const cx_pointer_slots *table = table_now();
    for (uint64_t i = 0; table != NULL && i <= table->mask; i++) {
        uint64_t slot = read_slot(table, i);
        if (slot != 0 && is_record(slot))
            visit(record_of(slot), argument);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- taking; lock held ---- */

/* False: another thread has taken the piece meanwhile. */
static bool take_at(uint64_t place, cx_pointer_taken *out_taken)
{
    uint64_t slot = read_slot(table_now(), place);
    if (is_record(slot)) {
        *out_taken = (cx_pointer_taken){.record = record_of(slot)};
        erase(place);
        return true;
    }
    *out_taken = (cx_pointer_taken){.piece = index_of(slot)};
    _Atomic uint64_t *state = &cx_piece_head_at(index_of(slot))->state;
    return (atomic_fetch_and(state, ~(uint64_t)CX_PIECE_RAW) & CX_PIECE_RAW) != 0;
}

/* The memory of before a reset that is oldest, or else the youngest. *out_other: the kind of
 * another raw pointer there. */
static bool choose(const void *pointer, int kinds, uint64_t *out_place, int *out_other)
{
    uint64_t place;
    bool chosen = false;
    *out_other = 0;
    for (bool found = find_first(pointer, &place); found; found = find_next(pointer, &place)) {
        uint64_t slot = read_slot(table_now(), place);
        int kind = kind_of(slot);
        if ((kind & kinds) == 0) {
            *out_other |= kind;
            continue;
        }
        *out_place = place;
        chosen = true;
        if (is_stale(slot))
            break;
    }
    return chosen;
}

static ctxrt_status refuse(const char *call, const void *pointer, int kind)
{
    if (kind == 0)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "%s: %p was freed already, or is not the start of such memory", call,
                        pointer);
    const char *from = (kind & CX_POINTER_ASYNC) != 0        ? "ctxrt_alloc_async"
                       : (kind & CX_POINTER_REGISTERED) != 0 ? "ctxrt_host_register"
                                                             : "ctxrt_alloc or ctxrt_alloc_managed";
    return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "%s: %p is from %s", call, pointer, from);
}

ctxrt_status cx_pointers_take(const char *call, const void *pointer, int kinds,
                              cx_pointer_taken *out_taken)
{
    uint64_t place;
    int other = 0;
    bool taken = false;
    pthread_mutex_lock(&lock);
    while (!taken && choose(pointer, kinds, &place, &other))
        taken = take_at(place, out_taken);
    pthread_mutex_unlock(&lock);
    return taken ? CTXRT_SUCCESS : refuse(call, pointer, other);
}

/* ---- memory that is gone ---- */

static bool is_custom(const cx_allocator *allocator)
{
    return allocator != NULL && allocator->vtable.alloc != NULL;
}

bool cx_pointers_take_gone(const cx_pointer_taken *newest, cx_pointer_taken *out_taken)
{
    bool taken = false;
    uint64_t place, own = newest->piece != 0 ? slot_of_piece(newest->piece)
                                             : slot_of_record(newest->record);
    if (atomic_load(&cx_pointers_doubles) == 0)
        return false;
    pthread_mutex_lock(&lock);
    const void *pointer = pointer_of(own);
    const cx_allocator *allocator = block_of(own).allocator;
    bool found = find_first(pointer, &place);
    while (found && !taken) {
        uint64_t slot = read_slot(table_now(), place);
        bool gone = slot != own && kind_of(slot) != 0 && !is_stale(slot) &&
                    (!is_custom(allocator) || block_of(slot).allocator == allocator);
        if (gone)
            taken = take_at(place, out_taken);
        if (!taken)
            found = find_next(pointer, &place);
    }
    pthread_mutex_unlock(&lock);
    return taken;
}

bool cx_pointers_take_stale(const void *pointer, cx_pointer_kind kind, cx_pointer_taken *out_taken)
{
    uint64_t place;
    bool taken = false;
    pthread_mutex_lock(&lock);
    bool found = find_first(pointer, &place);
    while (found && !taken) {
        uint64_t slot = read_slot(table_now(), place);
        if (kind_of(slot) == (int)kind && is_stale(slot))
            taken = take_at(place, out_taken);
        if (!taken)
            found = find_next(pointer, &place);
    }
    pthread_mutex_unlock(&lock);
    return taken;
}

bool cx_pointers_has(const void *pointer, const cx_context **out_context)
{
    uint64_t place;
    bool has = false;
    pthread_mutex_lock(&lock);
    for (bool found = find_first(pointer, &place); found && !has;
         found = find_next(pointer, &place)) {
        uint64_t slot = read_slot(table_now(), place);
        has = kind_of(slot) != 0 && !is_stale(slot);
        *out_context = block_of(slot).context;
    }
    pthread_mutex_unlock(&lock);
    return has;
}
