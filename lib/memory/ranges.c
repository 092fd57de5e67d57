#include "memory/ranges.h"

#include "alloc/fit.h"
#include "base/error.h"
#include "memory/pointer_table.h"
#include "memory/start_bits.h"

#include <stdlib.h>
#include <string.h>

/* Never freed, so that a reader may look at one that is gone. */
typedef struct cx_range {
    _Atomic uintptr_t begin;
    _Atomic size_t size_bytes;
    _Atomic(cx_context *) context;
    _Atomic uint32_t epoch;
    _Atomic int kind; /* ctxrt_memory_kind */
    _Atomic bool segment, stays, mapped, callers;
    cx_start_bits starts; /* of a segment; lock "pointers" */
    struct cx_range *next_spare;
} cx_range;

/* Sorted by address, without overlaps. */
typedef struct list {
    size_t capacity;
    struct list *smaller; /* outgrown lists; NULL: none */
    _Atomic(cx_range *) ranges[];
} list;

/* Changes need lock "pointers", and the version is odd meanwhile. A reader reads the version, the
 * list and the version again, and looks again if it was odd or has changed. Outgrown lists are
 * kept. */
static _Atomic uint64_t version;
static _Atomic(list *) list_now;
static _Atomic size_t count;
static cx_range *spare;

/* ---- finding ---- */

static cx_range *range_at(const list *all, size_t index)
{
    return atomic_load_explicit(&all->ranges[index], memory_order_acquire);
}

static uintptr_t begin_of(const cx_range *range)
{
    return atomic_load_explicit(&range->begin, memory_order_acquire);
}

static uintptr_t end_of(const cx_range *range)
{
    return begin_of(range) + atomic_load_explicit(&range->size_bytes, memory_order_acquire);
}

/* The number of ranges that begin at the address or before it, if nothing changes meanwhile. */
static size_t count_up_to(const list *all, size_t number, uintptr_t address)
{
    size_t low = 0, high = number;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (begin_of(range_at(all, middle)) <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static cx_range *find_range(uintptr_t address)
{
    const list *all = atomic_load_explicit(&list_now, memory_order_acquire);
    size_t number = atomic_load_explicit(&count, memory_order_acquire);
    if (all == NULL || number > all->capacity)
        return NULL;
    size_t place = count_up_to(all, number, address);
    cx_range *range = place != 0 ? range_at(all, place - 1) : NULL;
    return range != NULL && address < end_of(range) ? range : NULL;
}

static void look_at_range(cx_range *range, cx_range_view *out_view)
{
    *out_view = (cx_range_view){
        .begin = begin_of(range),
        .size_bytes = atomic_load_explicit(&range->size_bytes, memory_order_acquire),
        .context = atomic_load_explicit(&range->context, memory_order_acquire),
        .epoch = atomic_load_explicit(&range->epoch, memory_order_acquire),
        .kind = (ctxrt_memory_kind)atomic_load_explicit(&range->kind, memory_order_acquire),
        .segment = atomic_load_explicit(&range->segment, memory_order_acquire),
        .stays = atomic_load_explicit(&range->stays, memory_order_acquire),
        .mapped = atomic_load_explicit(&range->mapped, memory_order_acquire),
        .callers = atomic_load_explicit(&range->callers, memory_order_acquire),
    };
}

static bool find_view(uintptr_t address, cx_range_view *out_view)
{
    cx_range *range = find_range(address);
    if (range != NULL)
        look_at_range(range, out_view);
    return range != NULL;
}

bool cx_ranges_find(const void *pointer, cx_range_view *out_view)
{
    uint64_t before = atomic_load_explicit(&version, memory_order_acquire);
    bool found = find_view((uintptr_t)pointer, out_view);
    if (__builtin_expect((before & 1) == 0 &&
                             atomic_load_explicit(&version, memory_order_relaxed) == before,
                         1))
        return found;
    cx_pointers_lock();
    found = find_view((uintptr_t)pointer, out_view);
    cx_pointers_unlock();
    return found;
}

/* ---- starts of blocks; lock held ---- */

static bool unit_of(uintptr_t address, cx_range **out_range, uint64_t *out_unit)
{
    *out_range = find_range(address);
    if (*out_range == NULL || (*out_range)->starts.levels == 0)
        return false;
    *out_unit = (address - begin_of(*out_range)) >> CX_FIT_UNIT_BITS;
    return true;
}

void cx_ranges_set_start(uintptr_t address)
{
    cx_range *range;
    uint64_t unit;
    if (unit_of(address, &range, &unit))
        cx_start_bits_set(&range->starts, unit);
}

typedef struct asked_range {
    uintptr_t begin;
    bool (*starts)(const void *argument, uintptr_t address);
    const void *argument;
} asked_range;

static bool starts_at(void *argument, uint64_t unit)
{
    const asked_range *asked = argument;
    return asked->starts(asked->argument, asked->begin + (uintptr_t)(unit << CX_FIT_UNIT_BITS));
}

uintptr_t cx_ranges_start(uintptr_t address,
                          bool (*starts)(const void *argument, uintptr_t address),
                          const void *argument)
{
    cx_range *range;
    uint64_t unit;
    if (!unit_of(address, &range, &unit))
        return 0;
    asked_range asked = {begin_of(range), starts, argument};
    return cx_start_bits_find(&range->starts, unit, starts_at, &asked, &unit)
               ? asked.begin + (uintptr_t)(unit << CX_FIT_UNIT_BITS)
               : 0;
}

/* ---- changes; lock held ---- */

static void begin_change(void)
{
    atomic_fetch_add(&version, 1);
}

static void end_change(void)
{
    atomic_fetch_add_explicit(&version, 1, memory_order_release);
}

static void drop_at(list *all, size_t index)
{
    size_t number = atomic_load(&count);
    cx_range *range = range_at(all, index);
    begin_change();
    for (size_t i = index + 1; i < number; i++)
        atomic_store_explicit(&all->ranges[i - 1], range_at(all, i), memory_order_release);
    atomic_store_explicit(&count, number - 1, memory_order_release);
    end_change();
    if (range->starts.levels != 0)
        cx_start_bits_close(&range->starts);
    range->next_spare = spare;
    spare = range;
}

static bool make_room(void)
{
    list *all = atomic_load(&list_now);
    size_t number = atomic_load(&count), capacity = all != NULL ? all->capacity : 0;
    if (number < capacity)
        return true;
    capacity = capacity != 0 ? 2 * capacity : 64;
    list *grown = calloc(1, sizeof *grown + capacity * sizeof grown->ranges[0]);
    if (grown == NULL)
        return false;
    grown->capacity = capacity;
    grown->smaller = all;
    for (size_t i = 0; i < number; i++)
        atomic_store_explicit(&grown->ranges[i], range_at(all, i), memory_order_relaxed);
    atomic_store_explicit(&list_now, grown, memory_order_release);
    return true;
}

static cx_range *take_spare(bool segment, size_t size_bytes)
{
    cx_range *range = spare != NULL ? spare : calloc(1, sizeof *range);
    if (range == NULL)
        return NULL;
    if (spare != NULL)
        spare = spare->next_spare;
    range->next_spare = NULL;
    if (!segment || cx_start_bits_open(&range->starts, size_bytes >> CX_FIT_UNIT_BITS))
        return range;
    range->next_spare = spare;
    spare = range;
    return NULL;
}

static void insert_range(cx_range *range, const cx_range_view *view)
{
    list *all = atomic_load(&list_now);
    size_t number = atomic_load(&count), place = count_up_to(all, number, view->begin);
    begin_change();
    atomic_store_explicit(&range->begin, view->begin, memory_order_release);
    atomic_store_explicit(&range->size_bytes, view->size_bytes, memory_order_release);
    atomic_store_explicit(&range->context, view->context, memory_order_release);
    atomic_store_explicit(&range->epoch, view->epoch, memory_order_release);
    atomic_store_explicit(&range->kind, (int)view->kind, memory_order_release);
    atomic_store_explicit(&range->segment, view->segment, memory_order_release);
    atomic_store_explicit(&range->stays, view->stays, memory_order_release);
    atomic_store_explicit(&range->mapped, view->mapped, memory_order_release);
    atomic_store_explicit(&range->callers, view->callers, memory_order_release);
    for (size_t i = number; i > place; i--)
        atomic_store_explicit(&all->ranges[i], range_at(all, i - 1), memory_order_release);
    atomic_store_explicit(&all->ranges[place], range, memory_order_release);
    atomic_store_explicit(&count, number + 1, memory_order_release);
    end_change();
}

static void end_at(list *all, size_t place, cx_past_end how)
{
    cx_range_view view;
    look_at_range(range_at(all, place), &view);
    const cx_past past = {
        .begin = view.begin,
        .end = view.begin + view.size_bytes,
        .device = view.context->device != NULL ? view.context->device->id
                                               : ctxrt_device_of(CTXRT_DEVICE_CUDA, -1),
        .kind = view.kind,
        .size_bytes = view.size_bytes,
        .how = how,
    };
    drop_at(all, place);
    if (!view.callers)
        cx_past_enter(&past);
}

/* The driver has handed out their addresses anew: other code freed their memory, or a reset did,
 * which ctxrt has not noticed yet. */
static void drop_overlapped(uintptr_t begin, uintptr_t end)
{
    list *all = atomic_load(&list_now);
    size_t place = all != NULL ? count_up_to(all, atomic_load(&count), end - 1) : 0;
    while (place != 0 && end_of(range_at(all, place - 1)) > begin)
        end_at(all, --place, CX_PAST_FREED);
}

static bool range_overlaps(uintptr_t begin, uintptr_t end)
{
    const list *all = atomic_load(&list_now);
    size_t place = all != NULL ? count_up_to(all, atomic_load(&count), end - 1) : 0;
    return place != 0 && end_of(range_at(all, place - 1)) > begin;
}

static bool add_range(const cx_range_view *view)
{
    uintptr_t end = view->begin + view->size_bytes;
    if (view->callers && range_overlaps(view->begin, end))
        return true;
    drop_overlapped(view->begin, end);
    cx_past_leave(view->begin, end);
    cx_range *range = make_room() ? take_spare(view->segment, view->size_bytes) : NULL;
    if (range != NULL)
        insert_range(range, view);
    return range != NULL;
}

ctxrt_status cx_ranges_add(const cx_range_view *view)
{
    cx_pointers_lock();
    bool added = add_range(view);
    cx_pointers_unlock();
    return added ? CTXRT_SUCCESS
                 : cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for the ranges of %s",
                            cx_context_text(view->context));
}

void cx_ranges_remove(const cx_context *context, uint32_t epoch, uintptr_t begin, cx_past_end how)
{
    cx_range_view view;
    cx_pointers_lock();
    list *all = atomic_load(&list_now);
    size_t place = all != NULL ? count_up_to(all, atomic_load(&count), begin) : 0;
    if (place != 0) {
        look_at_range(range_at(all, place - 1), &view);
        if (view.begin == begin && view.context == context && view.epoch == epoch)
            end_at(all, place - 1, how);
    }
    cx_pointers_unlock();
}

void cx_ranges_forget(const cx_context *context)
{
    cx_range_view view;
    cx_pointers_lock();
    list *all = atomic_load(&list_now);
    for (size_t i = atomic_load(&count); i-- > 0;) {
        look_at_range(range_at(all, i), &view);
        if (view.context == context && view.epoch != atomic_load(&context->epoch) && !view.stays)
            end_at(all, i, CX_PAST_RESET);
    }
    cx_pointers_unlock();
}
