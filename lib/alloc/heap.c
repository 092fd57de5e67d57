#include "alloc/heap.h"

#include <stdlib.h>

/* Segments of the small fit have numbers from here on, so that a node tells its fit. */
#define FIRST_SPAN 0x8000u
#define NUMBERS_MAX 0x8000u

void cx_heap_open(cx_heap *heap, cx_fit_store *store, void *user)
{
    *heap = (cx_heap){0};
    cx_fit_open(&heap->large, store, user);
    cx_fit_open(&heap->small, store, user);
}

void cx_heap_close(cx_heap *heap)
{
    cx_fit_close(&heap->small);
    cx_fit_close(&heap->large);
    free(heap->segments);
    free(heap->spans);
    heap->segments = NULL;
    heap->spans = NULL;
}

static cx_fit_node *node_at(const cx_heap *heap, uint32_t index)
{
    return cx_fit_at(heap->large.store, index);
}

static bool is_small(const cx_heap *heap, uint32_t index)
{
    return node_at(heap, index)->segment >= FIRST_SPAN;
}

/* ---- segments ---- */

static bool take_number(cx_heap_segment **list, uint32_t *count, uint32_t *capacity,
                        uint32_t *out_number)
{
    uint32_t number = 0;
    while (number < *count && (*list)[number].first != 0)
        number++;
    *out_number = number;
    if (number < *count)
        return true;
    if (number == NUMBERS_MAX)
        return false;
    if (number == *capacity) {
        uint32_t wanted = *capacity != 0 ? 2 * *capacity : 16;
        cx_heap_segment *grown = realloc(*list, wanted * sizeof *grown);
        if (grown == NULL)
            return false;
        *list = grown;
        *capacity = wanted;
    }
    (*list)[(*count)++] = (cx_heap_segment){0};
    return true;
}

bool cx_heap_add(cx_heap *heap, uintptr_t address, uint32_t units, uint32_t owner)
{
    uint32_t number;
    uint32_t first = take_number(&heap->segments, &heap->segment_count, &heap->segment_capacity,
                                 &number)
                         ? cx_fit_add(&heap->large, (uint16_t)number, units, owner)
                         : 0;
    if (first != 0)
        heap->segments[number] = (cx_heap_segment){address, units, first};
    return first != 0;
}

/* ---- spans ---- */

/* A span of unowned memory serves all owners. */
static bool add_span(cx_heap *heap, uint32_t owner)
{
    uint32_t number;
    if (!take_number(&heap->spans, &heap->span_count, &heap->span_capacity, &number))
        return false;
    uint32_t span = cx_fit_take(&heap->large, 0, CX_HEAP_SPAN_UNITS);
    uint32_t whose = span != 0 ? 0 : owner;
    if (span == 0)
        span = cx_fit_take(&heap->large, owner, CX_HEAP_SPAN_UNITS);
    if (span == 0)
        return false;
    if (cx_fit_add(&heap->small, (uint16_t)(FIRST_SPAN + number), CX_HEAP_SPAN_UNITS, whose) == 0) {
        cx_fit_give(&heap->large, span);
        return false;
    }
    heap->spans[number].first = span;
    return true;
}

/* A wholly free span belongs to one owner, and returns to the large fit as that owner's. */
static bool give_span(cx_heap *heap, uint32_t whole)
{
    const cx_fit_node *node = node_at(heap, whole);
    uint32_t *span = &heap->spans[node->segment - FIRST_SPAN].first;
    if (!cx_fit_transfer(&heap->large, *span, node->owner))
        return false;
    cx_fit_remove(&heap->small, whole);
    (void)cx_fit_give(&heap->large, *span);
    *span = 0;
    return true;
}

/* ---- blocks ---- */

uint32_t cx_heap_take(cx_heap *heap, uint32_t owner, uint32_t units)
{
    if (units > CX_HEAP_SMALL_UNITS)
        return cx_fit_take(&heap->large, owner, units);
    uint32_t index = cx_fit_take(&heap->small, owner, units);
    if (index == 0)
        index = add_span(heap, owner) ? cx_fit_take(&heap->small, owner, units)
                                      : cx_fit_take(&heap->large, owner, units);
    return index;
}

void cx_heap_give(cx_heap *heap, uint32_t index)
{
    if (!is_small(heap, index)) {
        (void)cx_fit_give(&heap->large, index);
        return;
    }
    uint32_t range = cx_fit_give(&heap->small, index);
    if (cx_fit_is_whole(&heap->small, range))
        (void)give_span(heap, range);
}

uint32_t cx_heap_narrow(cx_heap *heap, uint32_t index, uint32_t units)
{
    return cx_fit_narrow(is_small(heap, index) ? &heap->small : &heap->large, index, 0, units);
}

bool cx_heap_transfer(cx_heap *heap, uint32_t index, uint32_t owner)
{
    return cx_fit_transfer(is_small(heap, index) ? &heap->small : &heap->large, index, owner);
}

static uintptr_t large_address(const cx_heap *heap, const cx_fit_node *node)
{
    return heap->segments[node->segment].address +
           ((uintptr_t)node->offset_units << CX_FIT_UNIT_BITS);
}

uintptr_t cx_heap_address(const cx_heap *heap, uint32_t index)
{
    const cx_fit_node *node = node_at(heap, index);
    if (node->segment < FIRST_SPAN)
        return large_address(heap, node);
    const cx_fit_node *span = node_at(heap, heap->spans[node->segment - FIRST_SPAN].first);
    return large_address(heap, span) + ((uintptr_t)node->offset_units << CX_FIT_UNIT_BITS);
}

static void give_free_spans(cx_heap *heap, uint32_t owner)
{
    for (;;) {
        uint32_t index = cx_fit_next_free(&heap->small, owner, 0);
        while (index != 0 && !cx_fit_is_whole(&heap->small, index))
            index = cx_fit_next_free(&heap->small, owner, index);
        if (index == 0 || !give_span(heap, index))
            return;
    }
}

bool cx_heap_move(cx_heap *heap, uint32_t from, uint32_t to)
{
    if (!cx_fit_move(&heap->small, from, to) || !cx_fit_move(&heap->large, from, to))
        return false;
    give_free_spans(heap, to);
    return true;
}

uint32_t cx_heap_remove_free(cx_heap *heap, uintptr_t *out_address)
{
    for (uint32_t i = 0; i < heap->segment_count; i++) {
        cx_heap_segment *segment = &heap->segments[i];
        if (segment->address == 0 || node_at(heap, segment->first)->state != CX_FIT_FREE ||
            !cx_fit_is_whole(&heap->large, segment->first))
            continue;
        cx_fit_remove(&heap->large, segment->first);
        *out_address = segment->address;
        segment->address = 0;
        segment->first = 0;
        return segment->units;
    }
    return 0;
}

uint32_t cx_heap_remove_any(cx_heap *heap, uintptr_t *out_address)
{
    while (heap->segment_count != 0) {
        cx_heap_segment segment = heap->segments[--heap->segment_count];
        *out_address = segment.address;
        if (segment.address != 0)
            return segment.units;
    }
    return 0;
}

void cx_heap_abandon(cx_heap *heap, void (*visit)(uint32_t index, void *argument), void *argument)
{
    for (uint32_t i = 0; i < heap->span_count; i++)
        if (heap->spans[i].first != 0)
            cx_fit_drop(&heap->large, heap->spans[i].first);
    cx_fit_abandon(&heap->small, visit, argument);
    cx_fit_abandon(&heap->large, visit, argument);
    heap->segment_count = heap->span_count = 0;
}

void cx_heap_drop(cx_heap *heap, uint32_t index)
{
    cx_fit_drop(is_small(heap, index) ? &heap->small : &heap->large, index);
}

/* ---- queries ---- */

typedef struct visiting {
    const cx_heap *heap;
    void (*visit)(uint32_t index, uintptr_t address, void *argument);
    void *argument;
} visiting;

static void visit_small(uint32_t index, const cx_fit_node *node, void *argument)
{
    const visiting *v = argument;
    const cx_fit_node *span = node_at(v->heap, v->heap->spans[node->segment - FIRST_SPAN].first);
    v->visit(index,
             large_address(v->heap, span) +
                 ((uintptr_t)node->offset_units << CX_FIT_UNIT_BITS),
             v->argument);
}

static bool is_span(const cx_heap *heap, const cx_fit_node *node)
{
    for (uint32_t i = 0; node->units == CX_HEAP_SPAN_UNITS && i < heap->span_count; i++)
        if (heap->spans[i].first != 0 && node_at(heap, heap->spans[i].first) == node)
            return true;
    return false;
}

static void visit_large(uint32_t index, const cx_fit_node *node, void *argument)
{
    const visiting *v = argument;
    if (!is_span(v->heap, node))
        v->visit(index, large_address(v->heap, node), v->argument);
}

void cx_heap_each_block(const cx_heap *heap,
                        void (*visit)(uint32_t index, uintptr_t address, void *argument),
                        void *argument)
{
    visiting v = {heap, visit, argument};
    cx_fit_each_taken(&heap->small, visit_small, &v);
    cx_fit_each_taken(&heap->large, visit_large, &v);
}

bool cx_heap_has(const cx_heap *heap, uintptr_t address)
{
    for (uint32_t i = 0; i < heap->segment_count; i++) {
        const cx_heap_segment *segment = &heap->segments[i];
        if (segment->address != 0 && address >= segment->address &&
            address - segment->address < (uintptr_t)segment->units << CX_FIT_UNIT_BITS)
            return true;
    }
    return false;
}

uint64_t cx_heap_owned_units(const cx_heap *heap, uint32_t owner)
{
    return cx_fit_free_units(&heap->large, owner) - cx_fit_free_units(&heap->large, 0) +
           cx_fit_free_units(&heap->small, owner) - cx_fit_free_units(&heap->small, 0);
}

void cx_heap_forget(cx_heap *heap, uint32_t owner)
{
    cx_fit_forget(&heap->large, owner);
    cx_fit_forget(&heap->small, owner);
}
