#include "emu/base/handle.h"
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define SLOTS_MAX ((size_t)1 << 20)
#define REST_MIN 4096 /* this many slots are free before the oldest of them is reused */

static bool reserve_slots(cx_emu_handles *handles)
{
    void *base;

    if (handles->base != NULL)
        return true;
    base = mmap(NULL, SLOTS_MAX * handles->slot_bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return false;
    handles->base = base;
    return true;
}

static cx_emu_handle_slot *take_oldest(cx_emu_handles *handles)
{
    cx_emu_handle_slot *slot = handles->first_free;

    handles->first_free = slot->next_free;
    if (handles->first_free == NULL)
        handles->last_free = NULL;
    handles->free_count--;
    return slot;
}

void *cx_emu_handle_take(cx_emu_handles *handles)
{
    cx_emu_handle_slot *slot;

    if (!reserve_slots(handles))
        return NULL;
    if (handles->free_count > REST_MIN ||
        (handles->free_count > 0 && handles->touched == SLOTS_MAX))
        slot = take_oldest(handles);
    else if (handles->touched < SLOTS_MAX)
        slot = (void *)(handles->base + handles->touched++ * handles->slot_bytes);
    else
        return NULL;
    memset(slot, 0, handles->slot_bytes);
    slot->taken = true;
    return slot;
}

void cx_emu_handle_return(cx_emu_handles *handles, void *object)
{
    cx_emu_handle_slot *slot = object;

    slot->taken = false;
    slot->next_free = NULL;
    if (handles->last_free != NULL)
        handles->last_free->next_free = slot;
    else
        handles->first_free = slot;
    handles->last_free = slot;
    handles->free_count++;
}

bool cx_emu_handle_live(const cx_emu_handles *handles, const void *handle)
{
    uintptr_t offset = (uintptr_t)handle - (uintptr_t)handles->base;

    if (handles->base == NULL || offset >= handles->touched * handles->slot_bytes ||
        offset % handles->slot_bytes)
        return false;
    return ((const cx_emu_handle_slot *)handle)->taken;
}
