#include "memory/stash.h"

#include <stdlib.h>

/* What these lack is not likely in others of the class. */
#define SPARES_LOOKED_AT 2

/* ---- taking ---- */

/* The first slot with a piece that fits; CX_MAGAZINE_PIECES: there is none. */
static uint32_t find(cx_magazine *magazine, uint64_t filled, uint32_t units, uint32_t slack)
{
    for (uint32_t first = 0; first < CX_MAGAZINE_PIECES && filled >> first != 0;
         first += CX_MAGAZINE_PROBES) {
        uint32_t fits = cx_magazine_match(cx_magazine_size(magazine, first), units, slack) &
                        (uint32_t)(filled >> first);
        if (fits != 0)
            return first + (uint32_t)__builtin_ctz(fits);
    }
    return CX_MAGAZINE_PIECES;
}

static cx_taken pick_spare(cx_magazines *magazines, cx_spare **link, uint32_t slot,
                           uint32_t least)
{
    cx_spare *spare = *link;
    const cx_taken taken = {cx_magazine_units(*cx_magazine_size(&spare->magazine, slot), least),
                            spare->magazine.slots[slot]};
    magazines->units -= taken.units;
    spare->filled &= ~((uint64_t)1 << slot);
    if (spare->filled == 0) {
        *link = spare->next;
        free(spare);
    }
    return taken;
}

/* Where a class has nothing at hand, a spare magazine takes that place. */
static void refill(cx_magazines *magazines, uint32_t class)
{
    cx_spare *spare = magazines->spares[class];
    magazines->classes[class] = spare->magazine;
    magazines->filled[class] = spare->filled;
    magazines->spares[class] = spare->next;
    free(spare);
}

static cx_taken search_class(cx_magazines *magazines, uint32_t class, uint32_t units,
                             uint32_t slack)
{
    if (magazines->filled[class] == 0 && magazines->spares[class] != NULL)
        refill(magazines, class);
    uint32_t slot = find(&magazines->classes[class], magazines->filled[class], units, slack);
    if (slot != CX_MAGAZINE_PIECES)
        return cx_magazine_pick(magazines, class, slot, units);
    cx_spare **link = &magazines->spares[class];
    for (int i = 0; *link != NULL && i < SPARES_LOOKED_AT; i++, link = &(*link)->next) {
        slot = find(&(*link)->magazine, (*link)->filled, units, slack);
        if (slot != CX_MAGAZINE_PIECES)
            return pick_spare(magazines, link, slot, units);
    }
    return (cx_taken){0};
}

cx_taken cx_magazines_search(cx_magazines *magazines, uint32_t units, uint32_t slack)
{
    cx_taken taken = {0};
    uint32_t class = cx_magazine_class(units), last = cx_magazine_class(units + slack);
    for (; taken.units == 0 && class <= last && class < CX_MAGAZINE_CLASSES; class++)
        taken = search_class(magazines, class, units, slack);
    return taken;
}

/* ---- taking out ---- */

static uint32_t take_out(cx_magazines *magazines, uint32_t class, uint32_t number,
                         uint32_t pieces[CX_MAGAZINE_PIECES])
{
    uint32_t least = cx_magazine_least(class);
    for (uint32_t i = 0; i < number; i++) {
        uint32_t last = 63 - (uint32_t)__builtin_clzll(magazines->filled[class]);
        pieces[i] = cx_magazine_pick(magazines, class, last, least).slot.piece;
    }
    return number;
}

static uint32_t count(const cx_magazines *magazines, uint32_t class)
{
    return (uint32_t)__builtin_popcountll(magazines->filled[class]);
}

uint32_t cx_magazines_thin(cx_magazines *magazines, uint32_t class,
                           uint32_t pieces[CX_MAGAZINE_PIECES])
{
    return take_out(magazines, class, (count(magazines, class) + 1) / 2, pieces);
}

uint32_t cx_magazines_empty(cx_magazines *magazines, uint32_t class,
                            uint32_t pieces[CX_MAGAZINE_PIECES])
{
    if (magazines->filled[class] == 0 && magazines->spares[class] != NULL)
        refill(magazines, class);
    return take_out(magazines, class, count(magazines, class), pieces);
}

uint32_t cx_outgoing_empty(cx_outgoing *outgoing, uint32_t pieces[CX_MAGAZINE_PIECES])
{
    uint32_t number = outgoing->count;
    for (uint32_t i = 0; i < number; i++)
        pieces[i] = outgoing->pieces[i];
    outgoing->count = 0;
    outgoing->units = 0;
    return number;
}

/* ---- spare magazines ---- */

/* Twice as much, where one such magazine more or less makes no difference. */
static bool may_set_aside(const cx_magazines *magazines, const cx_keep *keep, uint32_t units)
{
    uint64_t most = atomic_load_explicit(&keep->units, memory_order_relaxed);
    if ((uint64_t)units * CX_MAGAZINE_PIECES <= most >> CX_KEEP_SMALL_SHIFT)
        most *= 2;
    return magazines->units <= most;
}

bool cx_magazines_set_aside(cx_magazines *magazines, const cx_keep *keep, uint32_t class)
{
    if (~magazines->filled[class] != 0 ||
        !may_set_aside(magazines, keep, cx_magazine_least(class)))
        return false;
    cx_spare *spare = aligned_alloc(_Alignof(cx_spare), sizeof *spare);
    if (spare == NULL)
        return false;
    spare->magazine = magazines->classes[class];
    spare->filled = magazines->filled[class];
    spare->next = magazines->spares[class];
    magazines->spares[class] = spare;
    magazines->filled[class] = 0;
    return true;
}

void cx_magazines_free(cx_magazines *magazines)
{
    for (uint32_t class = 0; class < CX_MAGAZINE_CLASSES; class++)
        for (cx_spare *spare = magazines->spares[class], *next; spare != NULL; spare = next) {
            next = spare->next;
            free(spare);
        }
    free(magazines);
}
