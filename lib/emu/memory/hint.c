#include "emu/memory/hint.h"

#include <stdlib.h>
#include <string.h>

/* Makes a part begin at an offset; there is room. */
static void split(cx_emu_hints *hints, size_t at)
{
    for (size_t i = 0; i < hints->count; i++) {
        cx_emu_hint *each = &hints->items[i];

        if (each->begin >= at || at >= each->end)
            continue;
        memmove(each + 1, each, (hints->count - i) * sizeof *each);
        hints->count++;
        each[0].end = each[1].begin = at;
        return;
    }
}

cxu_result cx_emu_hints_change(cx_emu_hints *hints, size_t bytes, size_t begin, size_t end,
                               void (*change)(cx_emu_hint *hint, const void *argument),
                               const void *argument)
{
    cx_emu_hint *items = reallocarray(hints->items, hints->count + 3, sizeof *items);

    if (!items)
        return CXU_OUT_OF_MEMORY;
    hints->items = items;
    if (hints->count == 0)
        items[hints->count++] = (cx_emu_hint){.end = bytes};
    split(hints, begin);
    split(hints, end);
    for (size_t i = 0; i < hints->count; i++)
        if (begin <= items[i].begin && items[i].end <= end)
            change(&items[i], argument);
    return CXU_SUCCESS;
}

void cx_emu_hints_free(cx_emu_hints *hints)
{
    free(hints->items);
    *hints = (cx_emu_hints){NULL, 0};
}
