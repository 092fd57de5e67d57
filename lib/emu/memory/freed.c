#include "emu/memory/freed.h"

#define KEPT 256

static cx_emu_freed kept[KEPT];
static size_t count;

void cx_emu_freed_note(const cx_emu_allocation *allocation)
{
    kept[count++ % KEPT] =
        (cx_emu_freed){allocation->address, allocation->bytes, allocation->kind};
}

const cx_emu_freed *cx_emu_freed_find(uintptr_t address)
{
    for (size_t i = 1; i <= KEPT && i <= count; i++) {
        const cx_emu_freed *each = &kept[(count - i) % KEPT];

        if (address - each->address < each->bytes)
            return each;
    }
    return NULL;
}
