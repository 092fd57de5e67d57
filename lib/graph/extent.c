#include "graph/extent.h"

#include <stdlib.h>

/* ---- the tree of free extents: ordered by size and offset, a heap by priority ---- */

static bool is_less(const cx_extent *one, const cx_extent *other)
{
    return one->size != other->size ? one->size < other->size : one->offset < other->offset;
}

/* Splits the tree at `node` into the extents less and more than that one. */
static void tree_part(cx_extent *extents, uint32_t tree, uint32_t node, uint32_t *out_less,
                      uint32_t *out_more)
{
    while (tree != 0) {
        if (is_less(&extents[tree], &extents[node])) {
            *out_less = tree;
            out_less = &extents[tree].more;
            tree = *out_less;
        } else {
            *out_more = tree;
            out_more = &extents[tree].less;
            tree = *out_more;
        }
    }
    *out_less = 0;
    *out_more = 0;
}

static uint32_t *tree_place(cx_extents *range, uint32_t node)
{
    cx_extent *extents = range->extents;
    uint32_t *place = &range->root;
    while (*place != 0 && extents[*place].priority >= extents[node].priority)
        place = is_less(&extents[node], &extents[*place]) ? &extents[*place].less
                                                          : &extents[*place].more;
    return place;
}

static void tree_add(cx_extents *range, uint32_t node)
{
    cx_extent *extent = &range->extents[node];
    range->seed = range->seed * 1664525u + 1013904223u;
    extent->priority = range->seed >> 4;
    extent->free = true;
    uint32_t *place = tree_place(range, node);
    tree_part(range->extents, *place, node, &extent->less, &extent->more);
    *place = node;
}

static void tree_remove(cx_extents *range, uint32_t node)
{
    cx_extent *extents = range->extents;
    uint32_t *place = &range->root;
    while (*place != node)
        place = is_less(&extents[node], &extents[*place]) ? &extents[*place].less
                                                          : &extents[*place].more;
    uint32_t less = extents[node].less, more = extents[node].more;
    while (less != 0 && more != 0) {
        if (extents[less].priority >= extents[more].priority) {
            *place = less;
            place = &extents[less].more;
            less = *place;
        } else {
            *place = more;
            place = &extents[more].less;
            more = *place;
        }
    }
    *place = less != 0 ? less : more;
    extents[node].free = false;
}

/* The smallest extent that holds `size`; 0: none. */
static uint32_t tree_fit(const cx_extents *range, size_t size)
{
    uint32_t fit = 0, node = range->root;
    while (node != 0) {
        bool holds = range->extents[node].size >= size;
        if (holds)
            fit = node;
        node = holds ? range->extents[node].less : range->extents[node].more;
    }
    return fit;
}

/* ---- extents ---- */

/* Makes room for one more extent, so that the next steps cannot fail. */
static bool reserve_extent(cx_extents *range)
{
    if (range->unused != 0 || range->count < range->capacity)
        return true;
    uint32_t capacity = range->capacity == 0 ? 64 : range->capacity * 2;
    if (capacity < range->capacity)
        return false;
    cx_extent *grown = realloc(range->extents, capacity * sizeof *grown);
    if (grown == NULL)
        return false;
    range->extents = grown;
    range->capacity = capacity;
    if (range->count == 0)
        range->count = 1;
    return true;
}

/* Makes an extent behind `before`; 0: at the front. */
static uint32_t insert_extent(cx_extents *range, uint32_t before, size_t offset, size_t size)
{
    uint32_t number = range->unused;
    if (number != 0)
        range->unused = range->extents[number].less;
    else
        number = range->count++;
    uint32_t after = before != 0 ? range->extents[before].after : 0;
    range->extents[number] =
        (cx_extent){.offset = offset, .size = size, .before = before, .after = after};
    if (before != 0)
        range->extents[before].after = number;
    if (after != 0)
        range->extents[after].before = number;
    else
        range->last = number;
    return number;
}

static void delete (cx_extents *range, uint32_t number)
{
    cx_extent *extent = &range->extents[number];
    if (extent->before != 0)
        range->extents[extent->before].after = extent->after;
    if (extent->after != 0)
        range->extents[extent->after].before = extent->before;
    else
        range->last = extent->before;
    extent->less = range->unused;
    range->unused = number;
}

static uint32_t take_within(cx_extents *range, uint32_t fit, size_t size)
{
    tree_remove(range, fit);
    size_t rest = range->extents[fit].size - size;
    if (rest == 0)
        return fit;
    range->extents[fit].size = size;
    tree_add(range, insert_extent(range, fit, range->extents[fit].offset + size, rest));
    return fit;
}

static cx_extents_result take_at_end(cx_extents *range, size_t size, uint32_t *out_extent)
{
    bool tail_is_free = range->last != 0 && range->extents[range->last].free;
    size_t offset = tail_is_free ? range->extents[range->last].offset : range->end, end;
    if (__builtin_add_overflow(offset, size, &end))
        return CX_EXTENTS_TOO_LONG;
    if (tail_is_free) {
        *out_extent = range->last;
        tree_remove(range, range->last);
        range->extents[range->last].size = size;
    } else {
        *out_extent = insert_extent(range, range->last, offset, size);
    }
    range->end = end;
    return CX_EXTENTS_OK;
}

cx_extents_result cx_extents_take(cx_extents *range, size_t size, uint32_t *out_extent)
{
    if (!reserve_extent(range))
        return CX_EXTENTS_NO_MEMORY;
    uint32_t fit = tree_fit(range, size);
    if (fit == 0)
        return take_at_end(range, size, out_extent);
    *out_extent = take_within(range, fit, size);
    return CX_EXTENTS_OK;
}

/* Joins two neighbours; the first is free and in no tree. */
static void join_extents(cx_extents *range, uint32_t first, uint32_t second)
{
    range->extents[first].size += range->extents[second].size;
    delete(range, second);
}

void cx_extents_give(cx_extents *range, uint32_t number)
{
    uint32_t before = range->extents[number].before, after = range->extents[number].after;
    if (after != 0 && range->extents[after].free) {
        tree_remove(range, after);
        join_extents(range, number, after);
    }
    if (before != 0 && range->extents[before].free) {
        tree_remove(range, before);
        join_extents(range, before, number);
        number = before;
    }
    tree_add(range, number);
}

void cx_extents_end(cx_extents *range)
{
    free(range->extents);
    *range = (cx_extents){0};
}
