#include "memory/stash.h"

#include <string.h>

/* Of a class of random sizes half are too small: looking at four finds one that is not, mostly. */
#define PROBES 4

static uint32_t remove_slot(cx_magazines *magazines, uint32_t class, uint32_t which)
{
    cx_magazine_slot *slots = magazines->slots[class];
    cx_magazine_slot slot = slots[which];
    slots[which] = slots[--magazines->counts[class]];
    magazines->units -= slot.units;
    return slot.piece;
}

uint32_t cx_magazines_take(cx_magazines *magazines, uint32_t units, uint32_t slack)
{
    uint32_t class = cx_magazine_class(units);
    const cx_magazine_slot *slots = magazines->slots[class];
    uint32_t count = magazines->counts[class];
    uint32_t last = count > PROBES ? count - PROBES : 0;
    for (uint32_t i = count; i > last; i--)
        if (slots[i - 1].units >= units && slots[i - 1].units - units <= slack)
            return remove_slot(magazines, class, i - 1);
    return 0;
}

bool cx_magazines_put(cx_magazines *magazines, uint32_t piece, uint32_t units)
{
    uint32_t class = cx_magazine_class(units);
    uint32_t count = magazines->counts[class];
    if (count == cx_magazine_room(class) ||
        (magazines->units + units) << CX_FIT_UNIT_BITS > CX_MAGAZINES_BYTES_MAX)
        return false;
    magazines->slots[class][count] = (cx_magazine_slot){piece, units};
    magazines->counts[class] = (uint8_t)(count + 1);
    magazines->units += units;
    return true;
}

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

uint32_t cx_magazines_halve(cx_magazines *magazines, uint32_t class, uint32_t pieces[CX_MAGAZINE_PIECES])
{
    return take_oldest(magazines, class, (magazines->counts[class] + 1u) / 2, pieces);
}

uint32_t cx_magazines_empty(cx_magazines *magazines, uint32_t class, uint32_t pieces[CX_MAGAZINE_PIECES])
{
    return take_oldest(magazines, class, magazines->counts[class], pieces);
}
