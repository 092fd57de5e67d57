#include "memory/ranges.h"

#include "alloc/fit.h"
#include "base/error.h"
#include "memory/pointer_table.h"
#include "memory/radix_tree.h"
#include "memory/start_bits.h"

#include <stdlib.h>
#include <string.h>

typedef struct cx_range {
    cx_radix_item start;
    cx_range_view view;
    cx_start_bits starts; /* of a segment */
} cx_range;

/* By their starts; none overlaps another. Lock "pointers". */
static cx_radix_tree all;
static _Atomic uint64_t changes;

/* ---- finding; lock held ---- */

static uintptr_t end_of(const cx_range *range)
{
    return range->view.begin + range->view.size_bytes;
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

bool cx_ranges_find(const void *pointer, cx_range_view *out_view)
{
    const cx_range *range = find_range((uintptr_t)pointer);
    if (range != NULL)
        *out_view = range->view;
    return range != NULL;
}

uint64_t cx_ranges_changes(void)
{
    return atomic_load_explicit(&changes, memory_order_acquire);
}

/* ---- starts of blocks; lock held ---- */

static bool unit_of(uintptr_t address, cx_range **out_range, uint64_t *out_unit)
{
    *out_range = find_range(address);
    if (*out_range == NULL || (*out_range)->starts.levels == 0)
        return false;
    *out_unit = (address - (*out_range)->view.begin) >> CX_FIT_UNIT_BITS;
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
    asked_range asked = {range->view.begin, starts, argument};
    return cx_start_bits_find(&range->starts, unit, starts_at, &asked, &unit)
               ? asked.begin + (uintptr_t)(unit << CX_FIT_UNIT_BITS)
               : 0;
}

/* ---- changes; lock held ---- */

static void drop_range(cx_range *range)
{
    if (range->starts.levels != 0)
        cx_start_bits_close(&range->starts);
    free(range);
}

static void end_range(cx_range *range, cx_freed_how how)
{
    const cx_range_view *view = &range->view;
    const cx_freed_range past = {
        .begin = view->begin,
        .end = view->begin + view->size_bytes,
        .device = view->context->device != NULL ? view->context->device->id
                                                : ctxrt_device_of(CTXRT_DEVICE_CUDA, -1),
        .kind = view->kind,
        .size_bytes = view->size_bytes,
        .how = how,
    };
    if (!view->callers)
        cx_freed_ranges_enter(&past);
    atomic_fetch_add(&changes, 1);
    cx_radix_tree_remove(&all, &range->start);
    drop_range(range);
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
    atomic_fetch_add(&changes, 1);
    cx_range *range = calloc(1, sizeof *range);
    if (range == NULL)
        return false;
    range->start.address = view->begin;
    range->view = *view;
    bool added = !view->segment ||
                 cx_start_bits_open(&range->starts, view->size_bytes >> CX_FIT_UNIT_BITS);
    added = added && cx_radix_tree_add(&all, &range->start);
    if (!added)
        drop_range(range);
    return added;
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
    cx_range *range = last_up_to(begin);
    return range != NULL && range->view.begin == begin && range->view.context == context &&
                   range->view.epoch == epoch
               ? range
               : NULL;
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
    if (range != NULL)
        range->view.size_bytes = size_bytes;
    cx_pointers_unlock();
}

void cx_ranges_forget(const cx_context *context)
{
    uintptr_t address = UINTPTR_MAX;
    cx_range *range;
    cx_pointers_lock();
    while ((range = last_up_to(address)) != NULL) {
        const cx_range_view *view = &range->view;
        address = view->begin - 1; /* no memory begins at 0 */
        if (view->context == context && view->epoch != atomic_load(&context->epoch) && !view->stays)
            end_range(range, CX_FREED_BY_RESET);
    }
    cx_pointers_unlock();
}
