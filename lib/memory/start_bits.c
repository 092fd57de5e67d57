#include "memory/start_bits.h"

#include <stdlib.h>

#define GRANULE_MASK (((uint64_t)1 << CX_START_GRANULE_BITS) - 1)

bool cx_start_bits_open(cx_start_bits *bits, uint64_t units)
{
    uint64_t counts[CX_START_LEVELS], total = 0;
    uint64_t granules = (units + GRANULE_MASK) >> CX_START_GRANULE_BITS, left = granules;
    uint32_t levels = 0;
    do {
        left = (left + 63) / 64;
        counts[levels++] = left;
        total += left;
    } while (left > 1);
    uint64_t *words = calloc(1, total * sizeof *words + granules);
    if (words == NULL)
        return false;
    bits->levels = levels;
    bits->last = (uint8_t *)(words + total);
    for (uint32_t level = 0; level < levels; level++) {
        bits->words[level] = words;
        words += counts[level];
    }
    return true;
}

void cx_start_bits_close(cx_start_bits *bits)
{
    free(bits->words[0]);
    *bits = (cx_start_bits){0};
}

/* ---- granules ---- */

static bool is_marked(const cx_start_bits *bits, uint64_t granule)
{
    return (bits->words[0][granule >> 6] >> (granule & 63) & 1) != 0;
}

static void mark_granule(cx_start_bits *bits, uint64_t granule)
{
    for (uint32_t level = 0; level < bits->levels; level++, granule >>= 6) {
        uint64_t *word = &bits->words[level][granule >> 6];
        bool empty = *word == 0;
        *word |= (uint64_t)1 << (granule & 63);
        if (!empty)
            return;
    }
}

static void unmark_granule(cx_start_bits *bits, uint64_t granule)
{
    for (uint32_t level = 0; level < bits->levels; level++, granule >>= 6) {
        uint64_t *word = &bits->words[level][granule >> 6];
        *word &= ~((uint64_t)1 << (granule & 63));
        if (*word != 0)
            return;
    }
}

static uint64_t last_of(uint64_t word)
{
    return 63 - (uint64_t)__builtin_clzll(word);
}

/* The last marked granule up to this one. */
static bool find_marked(const cx_start_bits *bits, uint64_t *granule)
{
    uint64_t place = *granule;
    for (uint32_t level = 0; level < bits->levels; level++) {
        uint64_t index = place >> 6;
        uint64_t word = bits->words[level][index] & ~(uint64_t)0 >> (63 - (place & 63));
        if (word != 0) {
            place = index << 6 | last_of(word);
            while (level-- > 0)
                place = place << 6 | last_of(bits->words[level][place]);
            *granule = place;
            return true;
        }
        if (index == 0)
            return false;
        place = index - 1; /* the words before this one */
    }
    return false;
}

/* ---- starts ---- */

void cx_start_bits_set(cx_start_bits *bits, uint64_t unit)
{
    uint64_t granule = unit >> CX_START_GRANULE_BITS;
    uint8_t within = (uint8_t)(unit & GRANULE_MASK);
    if (!is_marked(bits, granule)) {
        mark_granule(bits, granule);
        bits->last[granule] = within;
    } else if (bits->last[granule] < within) {
        bits->last[granule] = within;
    }
}

/* Finds the last start in a marked granule up to its unit `most`, and notes it if there is none
 * behind it. */
static bool find_within(cx_start_bits *bits, uint64_t granule, uint64_t most,
                        cx_start_check *check, void *argument, uint64_t *out_unit)
{
    bool all = most >= bits->last[granule];
    uint64_t begin = granule << CX_START_GRANULE_BITS;
    uint64_t unit = begin + (all ? bits->last[granule] : most) + 1;
    while (unit-- > begin) {
        if (!check(argument, unit))
            continue;
        if (all)
            bits->last[granule] = (uint8_t)(unit - begin);
        *out_unit = unit;
        return true;
    }
    if (all)
        unmark_granule(bits, granule);
    return false;
}

bool cx_start_bits_find(cx_start_bits *bits, uint64_t unit, cx_start_check *check, void *argument,
                        uint64_t *out_unit)
{
    const uint64_t own = unit >> CX_START_GRANULE_BITS;
    for (uint64_t granule = own; find_marked(bits, &granule); granule--) {
        uint64_t most = granule == own ? unit & GRANULE_MASK : GRANULE_MASK;
        if (find_within(bits, granule, most, check, argument, out_unit))
            return true;
        if (granule == 0)
            return false;
    }
    return false;
}
