#include "emu/base/state.h"
#include "emu/emu.h"
#include "emu/memory/allocation.h"

/* Work of a stream may be writing it: byte by byte, so that no byte is torn. */
static void copy_bytes(volatile const unsigned char *from, size_t bytes, unsigned char *to)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = from[i];
}

bool cx_emu_debug_read(uint64_t address, size_t bytes, unsigned char *out)
{
    cx_lock_enter(&cx_emu_lock);
    const cx_emu_allocation *found = cx_emu_allocation_find((uintptr_t)address, bytes);
    bool whole = found != NULL && address + bytes <= found->address + found->bytes;
    if (whole)
        copy_bytes(cx_emu_allocation_at(found, (uintptr_t)address), bytes, out);
    cx_lock_leave(&cx_emu_lock);
    return whole;
}
