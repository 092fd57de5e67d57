#include "emu/base/slot.h"

#include "emu/emu.h"
#include <sys/mman.h>

_Static_assert(sizeof(cx_emu_context) <= CX_EMU_SLOT_BYTES, "a context must fit in its slot");

unsigned char *cx_emu_slots;

static size_t used = CX_EMU_DEVICES_MAX; /* slots from here on were never taken */
static cx_emu_context *free_slots;

bool cx_emu_slots_map(void)
{
    if (cx_emu_slots != NULL)
        return true;
    void *range = mmap(NULL, (size_t)CX_EMU_SLOTS * CX_EMU_SLOT_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED)
        return false;
    cx_emu_slots = range;
    for (size_t i = 0; i < CX_EMU_DEVICES_MAX; i++)
        cx_emu_slot_at(i)->primary = true;
    return true;
}

cx_emu_context *cx_emu_slot_take(void)
{
    cx_emu_context *context = free_slots;
    if (context != NULL)
        free_slots = context->next_free;
    else if (used < CX_EMU_SLOTS)
        context = cx_emu_slot_at(used++);
    return context;
}

void cx_emu_slot_give(cx_emu_context *context)
{
    context->next_free = free_slots;
    free_slots = context;
}
