#include "emu/memory/mem_advice.h"

#include <stdlib.h>
#include <string.h>

/* Makes a part begin at an offset; there is room. */
static void split(cx_emu_mem_advices *advices, size_t at)
{
    for (size_t i = 0; i < advices->count; i++) {
        cx_emu_mem_advice *each = &advices->items[i];

        if (each->begin >= at || at >= each->end)
            continue;
        memmove(each + 1, each, (advices->count - i) * sizeof *each);
        advices->count++;
        each[0].end = each[1].begin = at;
        return;
    }
}

cxu_result cx_emu_mem_advices_split(cx_emu_mem_advices *advices, size_t bytes, size_t begin,
                                    size_t end)
{
    cx_emu_mem_advice *items = reallocarray(advices->items, advices->count + 3, sizeof *items);

    if (items == NULL)
        return CXU_OUT_OF_MEMORY;
    advices->items = items;
    if (advices->count == 0)
        items[advices->count++] = (cx_emu_mem_advice){.end = bytes};
    split(advices, begin);
    split(advices, end);
    return CXU_SUCCESS;
}

void cx_emu_mem_advices_change(cx_emu_mem_advices *advices, size_t begin, size_t end,
                               void (*change)(cx_emu_mem_advice *advice, const void *argument),
                               const void *argument)
{
    for (size_t i = 0; i < advices->count; i++)
        if (begin <= advices->items[i].begin && advices->items[i].end <= end)
            change(&advices->items[i], argument);
}

void cx_emu_mem_advices_free(cx_emu_mem_advices *advices)
{
    free(advices->items);
    *advices = (cx_emu_mem_advices){NULL, 0};
}
