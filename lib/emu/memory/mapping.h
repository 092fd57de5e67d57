/*
 * Mappings: memory at a reserved address, with each device's access to it. A mapping is an
 * allocation of its own (allocation.h). All functions: lock "emu.state" held.
 *
 *   V3  A range whose access is set, or that is unmapped, consists of one whole mapping or of
 *       several adjacent ones.
 *   V5  Without access, copies and fills of the device are refused.
 */
#ifndef CX_EMU_MAPPING_H
#define CX_EMU_MAPPING_H

#include "emu/memory/allocation.h"
#include "emu/device/device.h"
#include "emu/memory/physical.h"
#include "emu/memory/reservation.h"

typedef struct cx_emu_mapping {
    cx_emu_physical *physical;
    cx_emu_reservation *reservation;
    unsigned char access[CX_EMU_DEVICES_MAX]; /* cxu_mem_access_flags, by ordinal */
} cx_emu_mapping;

/* Maps the first `bytes` of the memory. The range is in the reservation, and nothing is mapped
 * there. CXU_OUT_OF_MEMORY. */
cxu_result cx_emu_mapping_create(cx_emu_reservation *reservation, uintptr_t address, size_t bytes,
                                 cx_emu_physical *physical);

/* The first of the mappings that exactly make up the range; NULL: there are none. */
cx_emu_allocation *cx_emu_mapping_whole(uintptr_t address, size_t bytes);

/* Unmaps such a range; waits for the work that uses it, with the lock released meanwhile. */
void cx_emu_mapping_remove(cx_emu_allocation *first, size_t bytes);

/* Sets the access of a device to such a range. */
void cx_emu_mapping_set_access(cx_emu_allocation *first, size_t bytes, const cx_emu_device *device,
                               cxu_mem_access_flags flags);

static inline unsigned int cx_emu_mapping_access(const cx_emu_mapping *mapping,
                                                 const cx_emu_device *device)
{
    return mapping->access[device->ordinal];
}

/* Frees a mapping; for allocation.c. */
void cx_emu_mapping_close(cx_emu_allocation *allocation);

#endif
