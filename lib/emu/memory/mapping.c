#include "emu/memory/mapping.h"

#include "emu/base/state.h"
#include <stdlib.h>

cxu_result cx_emu_mapping_create(cx_emu_reservation *reservation, uintptr_t address, size_t bytes,
                                 cx_emu_physical *physical)
{
    unsigned char *place = reservation->mapped + (address - reservation->address);
    cx_emu_allocation *allocation = calloc(1, sizeof(*allocation));
    cx_emu_mapping *mapping = calloc(1, sizeof(*mapping));
    if (allocation == NULL || mapping == NULL || !cx_emu_physical_map(physical, place, bytes)) {
        free(mapping);
        free(allocation);
        return CXU_OUT_OF_MEMORY;
    }
    mapping->physical = physical;
    mapping->reservation = reservation;
    allocation->kind = CX_EMU_MEMORY_MAPPED;
    allocation->mapping = mapping;
    allocation->device = physical->device;
    allocation->address = address;
    allocation->mapped = place;
    allocation->bytes = allocation->reserved_bytes = bytes;
    cx_emu_allocation_publish_mapping(allocation);
    return CXU_SUCCESS;
}

cx_emu_allocation *cx_emu_mapping_whole(uintptr_t address, size_t bytes)
{
    cx_emu_allocation *first = cx_emu_allocation_at_start(address);
    if (first == NULL || first->mapping == NULL)
        return NULL;
    for (cx_emu_allocation *each = first; each != NULL;
         each = cx_emu_allocation_following(each)) {
        if (bytes <= each->bytes)
            return bytes == each->bytes ? first : NULL;
        bytes -= each->bytes;
    }
    return NULL;
}

void cx_emu_mapping_remove(cx_emu_allocation *first, size_t bytes)
{
    uintptr_t end = first->address + bytes;
    cx_emu_allocation *next;

    /* All of them are unpublished before the first wait. */
    for (cx_emu_allocation *each = first; each != NULL; each = next) {
        next = end - each->address > each->bytes ? cx_emu_allocation_following(each) : NULL;
        each->freed = each->awaited = true;
        each->next = next;
    }
    for (cx_emu_allocation *each = first; each != NULL; each = next) {
        next = each->next;
        each->next = NULL;
        cx_emu_allocation_free_and_wait(each);
    }
}

void cx_emu_mapping_set_access(cx_emu_allocation *first, size_t bytes, const cx_emu_device *device,
                               cxu_mem_access_flags flags)
{
    uintptr_t end = first->address + bytes;
    cx_emu_changes++;
    for (cx_emu_allocation *each = first; each != NULL && each->address < end;
         each = cx_emu_allocation_following(each))
        each->mapping->access[device->ordinal] = (unsigned char)flags;
}

void cx_emu_mapping_close(cx_emu_allocation *allocation)
{
    cx_emu_mapping *mapping = allocation->mapping;
    cx_emu_reservation_clear(mapping->reservation, allocation->address, allocation->bytes);
    cx_emu_physical_unmap(mapping->physical);
    free(mapping);
}
