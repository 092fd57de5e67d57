/*
 * The latest freed allocations, for the texts of errors: a kernel that uses freed memory is told
 * which. All functions: lock "emu.state" held.
 */
#ifndef CX_EMU_FREED_H
#define CX_EMU_FREED_H

#include "emu/memory/allocation.h"

typedef struct cx_emu_freed {
    uintptr_t address;
    size_t bytes;
    cx_emu_memory_kind kind;
} cx_emu_freed;

void cx_emu_freed_note(const cx_emu_allocation *allocation);

/* The latest one that held the address; NULL: none of those kept. */
const cx_emu_freed *cx_emu_freed_find(uintptr_t address);

#endif
