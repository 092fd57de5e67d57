#include "memory/stash.h"

#include <string.h>

static uint32_t take_oldest(cx_magazines *magazines, uint32_t class, uint32_t number,
                            uint32_t pieces[CX_MAGAZINE_PIECES])
{
    cx_magazine_slot *slots = magazines->slots[class];
    for (uint32_t i = 0; i < number; i++) {
        pieces[i] = slots[i].piece;
        magazines->units -= slots[i].units;
    }
    magazines->counts[class] = (uint8_t)(magazines->counts[class] - number);
    memmove(slots, slots + number, magazines->counts[class] * sizeof *slots);
    return number;
}

uint32_t cx_magazines_halve(cx_magazines *magazines, uint32_t class,
                            uint32_t pieces[CX_MAGAZINE_PIECES])
{
    return take_oldest(magazines, class, (magazines->counts[class] + 1u) / 2, pieces);
}

uint32_t cx_magazines_empty(cx_magazines *magazines, uint32_t class,
                            uint32_t pieces[CX_MAGAZINE_PIECES])
{
    return take_oldest(magazines, class, magazines->counts[class], pieces);
}
