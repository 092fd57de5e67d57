/*
 * The driver's own mappings: addresses at which it reaches memory that has other addresses for the
 * user. No other code gets these while they last. All functions: lock "emu.state" held.
 */
#ifndef CX_EMU_DRIVER_MAPPING_H
#define CX_EMU_DRIVER_MAPPING_H

#include <bsd/sys/tree.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cx_emu_driver_mapping {
    uintptr_t begin;
    size_t bytes; /* 0: it is not open */
    RB_ENTRY(cx_emu_driver_mapping) by_address;
} cx_emu_driver_mapping;

/* `begin` was mapped, and the driver has nothing else there; at least one byte. */
void cx_emu_driver_mapping_open(cx_emu_driver_mapping *mapping, const void *begin, size_t bytes);

/* Before the addresses are unmapped. Does nothing for one that is not open. */
void cx_emu_driver_mapping_close(cx_emu_driver_mapping *mapping);

/* True if a byte of [address, address + bytes) is in a mapping; at least one byte. */
bool cx_emu_driver_mappings_overlap(uintptr_t address, size_t bytes);

#endif
