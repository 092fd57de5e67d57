#include "graph/packing.h"

#include <stdlib.h>

/* ---- the lower bound of every arrangement ---- */

typedef struct change {
    uint32_t moment;
    bool begins;
    size_t size;
} change;

/* At one moment, ends come before beginnings. */
static int by_moment(const void *one, const void *other)
{
    const change *a = one, *b = other;
    if (a->moment != b->moment)
        return a->moment < b->moment ? -1 : 1;
    return (int)a->begins - (int)b->begins;
}

static bool find_least(cx_packing *packing)
{
    change *changes = malloc((packing->count + 1) * 2 * sizeof *changes);
    if (changes == NULL)
        return false;
    size_t count = 0, together = 0;
    for (size_t i = 0; i < packing->count; i++) {
        const cx_packed *tensor = &packing->tensors[i];
        changes[count++] = (change){tensor->begin, true, tensor->size};
        changes[count++] = (change){tensor->end, false, tensor->size};
    }
    qsort(changes, count, sizeof *changes, by_moment);
    for (size_t i = 0; i < count; i++) {
        together = changes[i].begins ? together + changes[i].size : together - changes[i].size;
        if (together > packing->least)
            packing->least = together;
    }
    free(changes);
    return true;
}

/* ---- first fit ---- */

typedef enum order { BY_SIZE, BY_AREA, BY_LIFETIME, ORDER_COUNT } order;

typedef struct entry {
    size_t tensor;
    double first, second; /* sort keys, the largest first */
} entry;

static int by_weight(const void *one, const void *other)
{
    const entry *a = one, *b = other;
    if (a->first != b->first)
        return a->first > b->first ? -1 : 1;
    if (a->second != b->second)
        return a->second > b->second ? -1 : 1;
    return a->tensor < b->tensor ? -1 : 1;
}

static void put_in_order(const cx_packing *packing, order by, entry *entries)
{
    for (size_t i = 0; i < packing->count; i++) {
        const cx_packed *tensor = &packing->tensors[i];
        double size = (double)tensor->size, time = tensor->end - tensor->begin;
        entries[i].tensor = i;
        entries[i].first = by == BY_SIZE ? size : by == BY_AREA ? size * time : time;
        entries[i].second = by == BY_LIFETIME ? size : time;
    }
    qsort(entries, packing->count, sizeof *entries, by_weight);
}

/* The lowest place between the placed tensors, which are sorted by offset. */
static size_t lowest_place(const cx_packed *tensor, const cx_packed *placed, size_t count)
{
    size_t lowest = 0;
    for (size_t i = 0; i < count; i++) {
        if (placed[i].begin >= tensor->end || tensor->begin >= placed[i].end)
            continue;
        if (placed[i].offset >= lowest && placed[i].offset - lowest >= tensor->size)
            break;
        if (placed[i].offset + placed[i].size > lowest)
            lowest = placed[i].offset + placed[i].size;
    }
    return lowest;
}

/* False: no better than the present peak, or the effort is used up. */
static bool place_all(cx_packing *packing, const entry *entries, cx_packed *placed, size_t *offsets)
{
    size_t peak = 0;
    for (size_t i = 0; i < packing->count; i++) {
        cx_packed tensor = packing->tensors[entries[i].tensor];
        if (packing->effort < i + 1)
            return false;
        packing->effort -= i + 1;
        tensor.offset = lowest_place(&tensor, placed, i);
        if (tensor.offset >= packing->peak || packing->peak - tensor.offset <= tensor.size)
            return false;
        if (tensor.offset + tensor.size > peak)
            peak = tensor.offset + tensor.size;
        size_t at = i;
        for (; at > 0 && placed[at - 1].offset > tensor.offset; at--)
            placed[at] = placed[at - 1];
        placed[at] = tensor;
        offsets[entries[i].tensor] = tensor.offset;
    }
    packing->peak = peak;
    return true;
}

bool cx_packing_first_fit(cx_packing *packing)
{
    entry *entries = malloc(packing->count * sizeof *entries);
    cx_packed *placed = malloc(packing->count * sizeof *placed);
    size_t *offsets = malloc(packing->count * sizeof *offsets);
    bool have = entries != NULL && placed != NULL && offsets != NULL;
    for (order by = BY_SIZE; have && by < ORDER_COUNT && packing->peak > packing->goal; by++) {
        put_in_order(packing, by, entries);
        if (!place_all(packing, entries, placed, offsets))
            continue;
        for (size_t i = 0; i < packing->count; i++)
            packing->tensors[i].offset = offsets[i];
    }
    free(entries);
    free(placed);
    free(offsets);
    return have;
}

bool cx_packing_improve(cx_packing *packing)
{
    packing->least = 0;
    if (packing->count == 0)
        return true;
    if (!find_least(packing))
        return false;
    if (packing->goal < packing->least)
        packing->goal = packing->least;
    return cx_packing_first_fit(packing) && cx_packing_search(packing);
}
