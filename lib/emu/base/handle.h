/*
 * Slots for the objects behind handles: streams, events. A slot is the address that the user holds.
 * It is never unmapped and is reused as late as possible, so any value can be checked, and a stale
 * handle is recognised for long.
 */
#ifndef CX_EMU_HANDLE_H
#define CX_EMU_HANDLE_H

#include <stdbool.h>
#include <stddef.h>

/* Stands first in every object that lives in a slot. */
typedef struct cx_emu_handle_slot {
    struct cx_emu_handle_slot *next_free;
    bool taken;
} cx_emu_handle_slot;

/* Initialise with the size of the object; the rest is 0. Guarded by "emu.state". */
typedef struct cx_emu_handles {
    size_t slot_bytes;
    unsigned char *base; /* reserved with the first slot, for the life of the process */
    size_t touched;      /* ever taken */
    size_t free_count;
    cx_emu_handle_slot *first_free, *last_free;
} cx_emu_handles;

/* Takes a slot, zero except its head; NULL: no address space, or too many objects. */
void *cx_emu_handle_take(cx_emu_handles *handles);

/* Makes the slot's handle stale. */
void cx_emu_handle_return(cx_emu_handles *handles, void *object);

/* True if `handle`, which may be any value, is the address of a taken slot. */
bool cx_emu_handle_live(const cx_emu_handles *handles, const void *handle);

#endif
