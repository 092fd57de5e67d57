#include "memory/ranges.h"

#include "alloc/fit.h"
#include "base/error.h"
#include "memory/pointer_table.h"
#include "memory/radix_tree.h"
#include "memory/start_bits.h"

#include <stdlib.h>
#include <string.h>

/* Never freed, so that a reader may look at one that is gone. */
typedef struct cx_range {
    cx_radix_item start;
    _Atomic size_t size_bytes;
    _Atomic(cx_context *) context;
    _Atomic uint32_t epoch;
    _Atomic int kind; /* ctxrt_memory_kind */
    _Atomic bool segment, stays, mapped, callers;
    cx_start_bits starts; /* of a segment; lock "pointers" */
    struct cx_range *next_spare;
} cx_range;

/* By their starts; none overlaps another. Changes need lock "pointers", and the version is odd
 * meanwhile. A reader reads the version, the tree and the version again, and looks again if it was
 * odd or has changed. */
static cx_radix_tree all;
static _Atomic uint64_t version;
static cx_range *spare;

/* ---- finding ---- */

static uintptr_t begin_of(const cx_range *range)
{
    return atomic_load_explicit(&range->start.address, memory_order_acquire);
}

static uintptr_t end_of(const cx_range *range)
{
    return begin_of(range) + atomic_load_explicit(&range->size_bytes, memory_order_acquire);
}

/* The last range that begins at the address or before it; NULL: none. */
static cx_range *last_up_to(uintptr_t address)
{
    return (cx_range *)cx_radix_tree_floor(&all, address);
}

static cx_range *find_range(uintptr_t address)
{
    cx_range *range = last_up_to(address);
    return range != NULL && address < end_of(range) ? range : NULL;
}

static inline void look_at_range(const cx_range *range, cx_range_view *out_view)
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

static inline bool find_view(uintptr_t address, cx_range_view *out_view)
{
    const cx_range *range = find_range(address);
    if (range == NULL)
        return false;
    look_at_range(range, out_view);
    return true;
}

__attribute__((cold, noinline)) static bool find_under_lock(uintptr_t address,
                                                            cx_range_view *out_view)
{
    cx_pointers_lock();
    bool found = find_view(address, out_view);
    cx_pointers_unlock();
    return found;
}

bool cx_ranges_find(const void *pointer, cx_range_view *out_view)
{
    uint64_t before = atomic_load_explicit(&version, memory_order_acquire);
    bool found = find_view((uintptr_t)pointer, out_view);
    return __builtin_expect((before & 1) == 0 &&
                                atomic_load_explicit(&version, memory_order_relaxed) == before,
                            1)
               ? found
               : find_under_lock((uintptr_t)pointer, out_view);
}

uint64_t cx_ranges_changes(void)
{
    return atomic_load_explicit(&version, memory_order_acquire);
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

static void put_spare(cx_range *range)
{
    if (range->starts.levels != 0)
        cx_start_bits_close(&range->starts);
    range->next_spare = spare;
    spare = range;
}

static void drop_range(cx_range *range)
{
    begin_change();
    cx_radix_tree_remove(&all, &range->start);
    end_change();
    put_spare(range);
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

/* False: no memory. */
static bool insert_range(cx_range *range, const cx_range_view *view)
{
    begin_change();
    atomic_store_explicit(&range->start.address, view->begin, memory_order_release);
    atomic_store_explicit(&range->size_bytes, view->size_bytes, memory_order_release);
    atomic_store_explicit(&range->context, view->context, memory_order_release);
    atomic_store_explicit(&range->epoch, view->epoch, memory_order_release);
    atomic_store_explicit(&range->kind, (int)view->kind, memory_order_release);
    atomic_store_explicit(&range->segment, view->segment, memory_order_release);
    atomic_store_explicit(&range->stays, view->stays, memory_order_release);
    atomic_store_explicit(&range->mapped, view->mapped, memory_order_release);
    atomic_store_explicit(&range->callers, view->callers, memory_order_release);
    bool inserted = cx_radix_tree_add(&all, &range->start);
    end_change();
    return inserted;
}

static void end_range(cx_range *range, cx_freed_how how)
{
    cx_range_view view;
    look_at_range(range, &view);
    const cx_freed_range past = {
        .begin = view.begin,
        .end = view.begin + view.size_bytes,
        .device = view.context->device != NULL ? view.context->device->id
                                               : ctxrt_device_of(CTXRT_DEVICE_CUDA, -1),
        .kind = view.kind,
        .size_bytes = view.size_bytes,
        .how = how,
    };
    drop_range(range);
    if (!view.callers)
        cx_freed_ranges_enter(&past);
}

/* The last range with a byte in [begin, end); NULL: none. */
static cx_range *last_overlapping(uintptr_t begin, uintptr_t end)
{
    cx_range *range = last_up_to(end - 1);
    return range != NULL && end_of(range) > begin ? range : NULL;
}

/* The driver has handed out their addresses anew: other code freed their memory, or a reset did,
 * which ctxrt has not noticed yet. */
static void drop_overlapped(uintptr_t begin, uintptr_t end)
{
    cx_range *range;
    while ((range = last_overlapping(begin, end)) != NULL)
        end_range(range, CX_FREED_BY_USER);
}

static bool add_range(const cx_range_view *view)
{
    uintptr_t end = view->begin + view->size_bytes;
    if (view->callers && last_overlapping(view->begin, end) != NULL)
        return true;
    drop_overlapped(view->begin, end);
    cx_freed_ranges_leave(view->begin, end);
    cx_range *range = take_spare(view->segment, view->size_bytes);
    if (range == NULL || insert_range(range, view))
        return range != NULL;
    put_spare(range);
    return false;
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

/* NULL: it is gone. */
static cx_range *find_own(const cx_context *context, uint32_t epoch, uintptr_t begin)
{
    cx_range_view view;
    cx_range *range = last_up_to(begin);
    if (range == NULL)
        return NULL;
    look_at_range(range, &view);
    return view.begin == begin && view.context == context && view.epoch == epoch ? range : NULL;
}

void cx_ranges_remove(const cx_context *context, uint32_t epoch, uintptr_t begin, cx_freed_how how)
{
    cx_pointers_lock();
    cx_range *range = find_own(context, epoch, begin);
    if (range != NULL)
        end_range(range, how);
    cx_pointers_unlock();
}

void cx_ranges_set_size(const cx_context *context, uint32_t epoch, uintptr_t begin,
                        size_t size_bytes)
{
    cx_pointers_lock();
    cx_range *range = find_own(context, epoch, begin);
    if (range != NULL) {
        begin_change();
        atomic_store_explicit(&range->size_bytes, size_bytes, memory_order_release);
        end_change();
    }
    cx_pointers_unlock();
}

void cx_ranges_forget(const cx_context *context)
{
    cx_range_view view;
    uintptr_t address = UINTPTR_MAX;
    cx_range *range;
    cx_pointers_lock();
    while ((range = last_up_to(address)) != NULL) {
        look_at_range(range, &view);
        address = view.begin - 1; /* no memory begins at 0 */
        if (view.context == context && view.epoch != atomic_load(&context->epoch) && !view.stays)
            end_range(range, CX_FREED_BY_RESET);
    }
    cx_pointers_unlock();
}
