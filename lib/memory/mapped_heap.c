#include "memory/mapped_heap.h"

/* Blocks are placed densely while there are at most this many free ranges. */
#define LOOKS 256

static cx_fit_node *node_at(const cx_heap *heap, uint32_t index)
{
    return cx_fit_at(heap->large.store, index);
}

static uint32_t chunk_units(const cx_mapped_range *range)
{
    return (uint32_t)(range->chunk_bytes >> CX_FIT_UNIT_BITS);
}

bool cx_mapped_heap_add(cx_heap *heap, const cx_mapped_range *range)
{
    return cx_heap_add(heap, range->address, (uint32_t)(range->bytes >> CX_FIT_UNIT_BITS),
                       CX_FIT_NOWHERE);
}

/* ---- finding ---- */

static bool is_usable(const cx_fit_node *node, uint32_t owner)
{
    return node->state == CX_FIT_FREE &&
           (node->owner == owner || node->owner == 0 || node->owner == CX_FIT_NOWHERE);
}

static bool is_nowhere(const cx_fit_node *node)
{
    return node->owner == CX_FIT_NOWHERE;
}

/* Free ranges without a live one between them. */
typedef struct run {
    uint32_t first, last;
    uint32_t offset_units, end_units;
} run;

static run run_around(const cx_heap *heap, uint32_t index, uint32_t owner)
{
    run found = {.first = index, .last = index};
    for (uint32_t i = index; i != 0 && is_usable(node_at(heap, i), owner);
         i = node_at(heap, i)->before)
        found.first = i;
    for (uint32_t i = index; i != 0 && is_usable(node_at(heap, i), owner);
         i = node_at(heap, i)->after)
        found.last = i;
    found.offset_units = node_at(heap, found.first)->offset_units;
    found.end_units = node_at(heap, found.last)->offset_units + node_at(heap, found.last)->units;
    return found;
}

/* A place with its costs, in order of importance: empty chunks that it touches, those of them
 * without memory, the rest of the run's chunks, and the rest of the place's own chunks. */
typedef struct candidate {
    cx_mapped_place place;
    uint64_t fresh, lacking, left_of_run, left_of_chunk;
} candidate;

/* A place from the beginning of a range of the run upwards, or from its end downwards. */
static void reach_from(const cx_heap *heap, uint32_t index, uint32_t chunk, bool down,
                       candidate *self)
{
    const cx_fit_node *node = node_at(heap, index);
    const uint32_t units = self->place.units;
    self->place.first = self->place.last = index;
    self->place.offset_units = node->offset_units + (down ? node->units - units : 0);
    for (uint32_t left = units;;) {
        uint32_t part = left < node->units ? left : node->units;
        self->lacking += is_nowhere(node) ? (part + chunk - 1) / chunk : 0;
        left -= part;
        if (left == 0)
            return;
        index = down ? node->before : node->after;
        *(down ? &self->place.first : &self->place.last) = index;
        node = node_at(heap, index);
    }
}

static bool speaks_less(const candidate *a, const candidate *b)
{
    if (a->fresh != b->fresh)
        return a->fresh < b->fresh;
    if (a->lacking != b->lacking)
        return a->lacking < b->lacking;
    if (a->left_of_run != b->left_of_run)
        return a->left_of_run < b->left_of_run;
    return a->left_of_chunk < b->left_of_chunk;
}

static void weigh_place(const run *around, uint32_t chunk, bool down, candidate *self)
{
    uint32_t from = self->place.offset_units, end = from + self->place.units;
    uint64_t first = from / chunk, behind = ((uint64_t)end + chunk - 1) / chunk;
    bool shares_first = first * chunk < around->offset_units;
    bool shares_last = behind * chunk > around->end_units && (!shares_first || behind - first > 1);
    self->fresh = behind - first - shares_first - shares_last;
    self->left_of_run = (around->end_units - around->offset_units - self->place.units) % chunk;
    self->left_of_chunk = down ? from % chunk : (chunk - end % chunk) % chunk;
}

static void try_from(const cx_heap *heap, const run *around, uint32_t index, uint32_t chunk,
                     bool down, candidate *best)
{
    candidate other = {.place.units = best->place.units};
    const cx_fit_node *node = node_at(heap, index);
    uint32_t room = down ? node->offset_units + node->units - around->offset_units
                         : around->end_units - node->offset_units;
    if (room < other.place.units)
        return;
    reach_from(heap, index, chunk, down, &other);
    weigh_place(around, chunk, down, &other);
    if (speaks_less(&other, best))
        *best = other;
}

/* Tries the ends of the run, and those of mapped ranges in it. */
static void try_all(const cx_heap *heap, uint32_t owner, uint32_t index, uint32_t chunk,
                    candidate *best)
{
    run around = run_around(heap, index, owner);
    if (around.end_units - around.offset_units < best->place.units)
        return;
    try_from(heap, &around, around.first, chunk, false, best);
    if (around.end_units != heap->segments[0].units)
        try_from(heap, &around, around.last, chunk, true, best);
    if (!is_nowhere(node_at(heap, index))) {
        try_from(heap, &around, index, chunk, false, best);
        try_from(heap, &around, index, chunk, true, best);
    }
}

static void try_free(const cx_heap *heap, uint32_t whose, uint32_t owner, uint32_t chunk,
                     candidate *best)
{
    for (uint32_t index = cx_fit_next_free(&heap->large, whose, 0); index != 0;
         index = cx_fit_next_free(&heap->large, whose, index))
        try_all(heap, owner, index, chunk, best);
}

static bool are_few(const cx_heap *heap, uint32_t owner)
{
    uint64_t ranges = (uint64_t)cx_fit_free_ranges(&heap->large, 0) +
                      cx_fit_free_ranges(&heap->large, CX_FIT_NOWHERE);
    return ranges + (owner != 0 ? cx_fit_free_ranges(&heap->large, owner) : 0) <= LOOKS;
}

/* ---- taking ---- */

/* Takes a range's part of the place: whole chunks of unmapped ranges. */
static uint32_t carve_range(cx_heap *heap, uint32_t index, uint32_t chunk,
                            const cx_mapped_place *place)
{
    const cx_fit_node *node = node_at(heap, index);
    uint32_t from = node->offset_units, end = node->offset_units + node->units;
    uint32_t round = is_nowhere(node) ? chunk : 1;
    uint32_t place_end = place->offset_units + place->units;
    if (place->offset_units > from)
        from = place->offset_units / round * round;
    if (place_end < end)
        end = (place_end + round - 1) / round * round;
    return cx_fit_carve(&heap->large, index, from - node->offset_units, end - from);
}

static bool take_place(cx_heap *heap, uint32_t chunk, cx_mapped_place *place)
{
    cx_mapped_place taken = *place;
    uint32_t index = place->first;
    for (;;) {
        uint32_t next = node_at(heap, index)->after;
        bool is_last = index == place->last;
        uint32_t cached = carve_range(heap, index, chunk, place);
        if (cached != 0)
            taken.last = cached;
        if (index == place->first)
            taken.first = cached;
        if (cached == 0 && index != place->first)
            cx_mapped_heap_give_up(heap, &taken);
        if (cached == 0)
            return false;
        if (is_last)
            break;
        index = next;
    }
    *place = taken;
    return true;
}

bool cx_mapped_heap_find(cx_heap *heap, const cx_mapped_range *range, uint32_t owner,
                         uint32_t units, bool densely, cx_mapped_place *out_place)
{
    candidate best = {.place.units = units, .fresh = UINT64_MAX};
    uint32_t chunk = chunk_units(range);
    if (densely && !are_few(heap, owner))
        return false;
    if (densely)
        try_free(heap, 0, owner, chunk, &best);
    if (densely && owner != 0)
        try_free(heap, owner, owner, chunk, &best);
    try_free(heap, CX_FIT_NOWHERE, owner, chunk, &best);
    if (best.fresh == UINT64_MAX || !cx_fit_expect(&heap->large, owner) ||
        !take_place(heap, chunk, &best.place))
        return false;
    *out_place = best.place;
    return true;
}

/* ---- settling ---- */

void cx_mapped_heap_give_up(cx_heap *heap, const cx_mapped_place *place)
{
    uint32_t index = place->first;
    for (;;) {
        uint32_t next = node_at(heap, index)->after;
        bool is_last = index == place->last;
        cx_fit_give(&heap->large, index);
        if (is_last)
            break;
        index = next;
    }
}

uint32_t cx_mapped_heap_settle(cx_heap *heap, const cx_mapped_place *place, uint32_t owner)
{
    /* The owner may have been forgotten while the place was mapped: it had nothing else. */
    if (!cx_fit_expect(&heap->large, owner)) {
        cx_mapped_heap_give_up(heap, place);
        return 0;
    }
    cx_fit_merge(&heap->large, place->first, place->last, owner);
    uint32_t offset_units = place->offset_units - node_at(heap, place->first)->offset_units;
    uint32_t index = cx_fit_narrow(&heap->large, place->first, offset_units, place->units);
    if (index == 0)
        cx_fit_give(&heap->large, place->first);
    return index;
}

/* ---- memory ---- */

static size_t offset_of(const cx_mapped_place *place)
{
    return (size_t)place->offset_units << CX_FIT_UNIT_BITS;
}

static size_t bytes_of(const cx_mapped_place *place)
{
    return (size_t)place->units << CX_FIT_UNIT_BITS;
}

size_t cx_mapped_place_lacks(const cx_mapped_range *range, const cx_mapped_place *place)
{
    return cx_mapped_range_lacks(range, offset_of(place), bytes_of(place));
}

cxu_result cx_mapped_place_map(cx_mapped_range *range, const cx_mapped_place *place)
{
    return cx_mapped_range_map(range, offset_of(place), bytes_of(place));
}

void cx_mapped_place_unmap(cx_mapped_range *range, const cx_mapped_place *place)
{
    cx_mapped_range_unmap(range, offset_of(place), bytes_of(place));
}

/* ---- finding spare memory ---- */

bool cx_mapped_heap_find_spare(cx_heap *heap, const cx_mapped_range *range, uint64_t wanted_bytes,
                               cx_mapped_place *out_place)
{
    for (uint32_t index = cx_fit_next_free(&heap->large, 0, 0); index != 0;
         index = cx_fit_next_free(&heap->large, 0, index)) {
        const cx_fit_node *node = node_at(heap, index);
        size_t offset, node_offset = (size_t)node->offset_units << CX_FIT_UNIT_BITS;
        size_t node_bytes = (size_t)node->units << CX_FIT_UNIT_BITS;
        size_t bytes = cx_mapped_range_find(range, node_offset, node_bytes, wanted_bytes, &offset);
        if (bytes == 0)
            continue;
        uint32_t cached = cx_fit_carve(&heap->large, index,
                                       (uint32_t)((offset - node_offset) >> CX_FIT_UNIT_BITS),
                                       (uint32_t)(bytes >> CX_FIT_UNIT_BITS));
        *out_place = (cx_mapped_place){cached, cached, (uint32_t)(offset >> CX_FIT_UNIT_BITS),
                                       (uint32_t)(bytes >> CX_FIT_UNIT_BITS)};
        return cached != 0;
    }
    return false;
}

void cx_mapped_heap_remove(cx_heap *heap, const cx_mapped_place *place)
{
    (void)cx_fit_transfer(&heap->large, place->first, CX_FIT_NOWHERE);
    cx_fit_give(&heap->large, place->first);
}

/* ---- queries ---- */

void cx_mapped_heap_each(const cx_heap *heap,
                         void (*visit)(uintptr_t address, uint64_t bytes, void *argument),
                         void *argument)
{
    const cx_heap_segment *segment = &heap->segments[0];
    uint64_t units = 0;
    for (uint32_t index = segment->first; index != 0; index = node_at(heap, index)->after) {
        const cx_fit_node *node = node_at(heap, index);
        units += is_nowhere(node) ? 0 : node->units;
        if (units != 0 && (is_nowhere(node) || node->after == 0)) {
            uint64_t end = (uint64_t)node->offset_units + (is_nowhere(node) ? 0 : node->units);
            visit(segment->address + ((end - units) << CX_FIT_UNIT_BITS), units << CX_FIT_UNIT_BITS,
                  argument);
            units = 0;
        }
    }
}
