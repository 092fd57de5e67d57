#include "memory/start_bits.h"

#include <stdlib.h>

bool cx_start_bits_open(cx_start_bits *bits, uint64_t units)
{
    uint64_t counts[CX_START_LEVELS], total = 0;
    uint32_t levels = 0;
    do {
        units = (units + 63) / 64;
        counts[levels++] = units;
        total += units;
    } while (units > 1);
    uint64_t *words = calloc(total, sizeof *words);
    if (words == NULL)
        return false;
    bits->levels = levels;
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

void cx_start_bits_set(cx_start_bits *bits, uint64_t unit)
{
    for (uint32_t level = 0; level < bits->levels; level++, unit >>= 6) {
        uint64_t *word = &bits->words[level][unit >> 6];
        bool empty = *word == 0;
        *word |= (uint64_t)1 << (unit & 63);
        if (!empty)
            return;
    }
}

void cx_start_bits_clear(cx_start_bits *bits, uint64_t unit)
{
    for (uint32_t level = 0; level < bits->levels; level++, unit >>= 6) {
        uint64_t *word = &bits->words[level][unit >> 6];
        *word &= ~((uint64_t)1 << (unit & 63));
        if (*word != 0)
            return;
    }
}

static uint64_t last_of(uint64_t word)
{
    return 63 - (uint64_t)__builtin_clzll(word);
}

bool cx_start_bits_find(const cx_start_bits *bits, uint64_t unit, uint64_t *out_unit)
{
    for (uint32_t level = 0; level < bits->levels; level++) {
        uint64_t index = unit >> 6;
        uint64_t word = bits->words[level][index] & ~(uint64_t)0 >> (63 - (unit & 63));
        if (word != 0) {
            unit = index << 6 | last_of(word);
            while (level-- > 0)
                unit = unit << 6 | last_of(bits->words[level][unit]);
            *out_unit = unit;
            return true;
        }
        if (index == 0)
            return false;
        unit = index - 1; /* the words before this one */
    }
    return false;
}
