#include "memory/thread_cache.h"

#include <stdlib.h>
#include <string.h>

cx_magazines *cx_magazines_new(void)
{
    return calloc(1, sizeof(cx_magazines));
}

void cx_magazines_free(cx_magazines *magazines)
{
    for (uint32_t class = 0; class < CX_MAGAZINE_CLASSES; class++)
        free(magazines->classes[class]);
    free(magazines);
}

/* ---- taking ---- */

static cx_kept_block search_class(cx_magazines *magazines, cx_magazine *magazine, uint32_t units,
                                  uint32_t slack)
{
    for (uint32_t place = magazine->count; place-- > 0;)
        if (magazine->blocks[place].units - units <= slack)
            return cx_magazine_take_at(magazines, magazine, place);
    return (cx_kept_block){0};
}

cx_kept_block cx_magazines_search(cx_magazines *magazines, uint32_t units, uint32_t slack)
{
    cx_kept_block taken = {0};
    uint32_t last = cx_magazine_class(units + slack);
    for (uint32_t class = cx_magazine_class(units);
         taken.units == 0 && class <= last && class < CX_MAGAZINE_CLASSES; class++)
        if (magazines->classes[class] != NULL)
            taken = search_class(magazines, magazines->classes[class], units, slack);
    const uint32_t large = magazines->large.units;
    if (taken.units == 0 && large != 0 && large - units <= slack) {
        taken = magazines->large;
        magazines->large.units = 0;
    }
    return taken;
}

/* ---- taking out ---- */

/* Takes out those that were put first. */
static uint32_t take_out(cx_magazines *magazines, cx_magazine *magazine, uint32_t number,
                         uint32_t blocks[CX_MAGAZINE_BLOCKS])
{
    for (uint32_t i = 0; i < number; i++) {
        blocks[i] = magazine->blocks[i].cached;
        magazines->units -= magazine->blocks[i].units;
    }
    magazine->count -= number;
    memmove(magazine->blocks, magazine->blocks + number,
            magazine->count * sizeof *magazine->blocks);
    return number;
}

uint32_t cx_magazines_thin(cx_magazines *magazines, uint32_t units,
                           uint32_t blocks[CX_MAGAZINE_BLOCKS])
{
    cx_magazine **magazine = &magazines->classes[cx_magazine_class(units)];
    if (*magazine == NULL) {
        *magazine = malloc(sizeof **magazine);
        if (*magazine != NULL)
            (*magazine)->count = 0;
        return 0;
    }
    return take_out(magazines, *magazine, ((*magazine)->count + 1) / 2, blocks);
}

uint32_t cx_magazines_empty(cx_magazines *magazines, uint32_t class,
                            uint32_t blocks[CX_MAGAZINE_BLOCKS])
{
    cx_magazine *magazine = magazines->classes[class];
    return magazine != NULL ? take_out(magazines, magazine, magazine->count, blocks) : 0;
}
