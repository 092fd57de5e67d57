/*
 * The slots of contexts, in one range of addresses that is mapped at cuInit and never unmapped, so
 * that any handle, however old, can be checked. The first slots belong to the primary contexts for
 * ever, one for each ordinal. The others are reused, the last freed first (C4).
 */
#ifndef CX_EMU_SLOT_H
#define CX_EMU_SLOT_H

#include "emu/base/context_record.h"

#define CX_EMU_SLOT_BYTES 2048
#define CX_EMU_SLOTS 32768

extern unsigned char *cx_emu_slots;

/* Maps the range, the first time; false if the system refuses. Lock held. */
bool cx_emu_slots_map(void);

static inline cx_emu_context *cx_emu_slot_at(size_t index)
{
    return (cx_emu_context *)(void *)(cx_emu_slots + index * CX_EMU_SLOT_BYTES);
}

/* The slot that a handle names, or NULL if it names none. Needs no lock; the slot may be empty. */
static inline cx_emu_context *cx_emu_slot_of(CUcontext handle)
{
    uintptr_t offset = (uintptr_t)handle - (uintptr_t)cx_emu_slots;
    if (offset >= (uintptr_t)CX_EMU_SLOTS * CX_EMU_SLOT_BYTES || offset % CX_EMU_SLOT_BYTES != 0)
        return NULL;
    return (cx_emu_context *)(void *)handle;
}

/* Takes a slot for an ordinary context, NULL if all are taken; and gives it back. Lock held. */
cx_emu_context *cx_emu_slot_take(void);
void cx_emu_slot_give(cx_emu_context *context);

#endif
