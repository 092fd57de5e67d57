#include "memory/magazine.h"

#include <stdlib.h>
#include <string.h>

cx_magazine *cx_magazine_new(void)
{
    return calloc(1, sizeof(cx_magazine));
}

void cx_magazine_free(cx_magazine *magazine)
{
    for (uint32_t class = 0; class < CX_MAGAZINE_CLASSES; class++)
        free(magazine->shelves[class]);
    free(magazine);
}

/* ---- taking ---- */

static cx_kept_block search_shelf(cx_magazine *magazine, cx_shelf *shelf, uint32_t units,
                                  uint32_t slack)
{
    for (uint32_t place = shelf->count; place-- > 0;)
        if (shelf->blocks[place].units - units <= slack)
            return cx_shelf_take(magazine, shelf, place);
    return (cx_kept_block){0};
}

cx_kept_block cx_magazine_search(cx_magazine *magazine, uint32_t units, uint32_t slack)
{
    cx_kept_block taken = {0};
    uint32_t last = cx_magazine_class(units + slack);
    for (uint32_t class = cx_magazine_class(units);
         taken.units == 0 && class <= last && class < CX_MAGAZINE_CLASSES; class++)
        if (magazine->shelves[class] != NULL)
            taken = search_shelf(magazine, magazine->shelves[class], units, slack);
    const uint32_t large = magazine->large.units;
    if (taken.units == 0 && large != 0 && large - units <= slack) {
        taken = magazine->large;
        magazine->large.units = 0;
    }
    return taken;
}

/* ---- taking out ---- */

/* Takes out those that were put first. */
static uint32_t take_out(cx_magazine *magazine, cx_shelf *shelf, uint32_t number,
                         uint32_t blocks[CX_MAGAZINE_BLOCKS])
{
    for (uint32_t i = 0; i < number; i++) {
        blocks[i] = shelf->blocks[i].cached;
        magazine->units -= shelf->blocks[i].units;
    }
    shelf->count -= number;
    memmove(shelf->blocks, shelf->blocks + number, shelf->count * sizeof *shelf->blocks);
    return number;
}

uint32_t cx_magazine_thin(cx_magazine *magazine, uint32_t units,
                          uint32_t blocks[CX_MAGAZINE_BLOCKS])
{
    cx_shelf **shelf = &magazine->shelves[cx_magazine_class(units)];
    if (*shelf == NULL) {
        *shelf = malloc(sizeof **shelf);
        if (*shelf != NULL)
            (*shelf)->count = 0;
        return 0;
    }
    return take_out(magazine, *shelf, ((*shelf)->count + 1) / 2, blocks);
}

uint32_t cx_magazine_empty(cx_magazine *magazine, uint32_t class,
                           uint32_t blocks[CX_MAGAZINE_BLOCKS])
{
    cx_shelf *shelf = magazine->shelves[class];
    return shelf != NULL ? take_out(magazine, shelf, shelf->count, blocks) : 0;
}
