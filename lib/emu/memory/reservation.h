/*
 * Reserved address ranges (cuMemAddressReserve) for mappings. All functions: lock "emu.state" held.
 *
 * The host cannot access the user's addresses, as those of a GPU; the driver reaches the mappings
 * through a second range of the same size, so mappings that are adjacent for the user are adjacent
 * for the driver. With host access both ranges are one.
 */
#ifndef CX_EMU_RESERVATION_H
#define CX_EMU_RESERVATION_H

#include "driver/cuda_abi.h"
#include "emu/base/driver_mapping.h"
#include <bsd/sys/tree.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cx_emu_reservation {
    uintptr_t address;     /* the user's address */
    unsigned char *mapped; /* the driver's address */
    cx_emu_driver_mapping driver_mapping; /* that, if it is another one */
    size_t bytes;
    RB_ENTRY(cx_emu_reservation) by_address;
} cx_emu_reservation;

/*
 * Reserves `bytes`, a multiple of the host's page size, at a multiple of `alignment_bytes`, a power
 * of two; at `hint` if that is such an address and free. CXU_OUT_OF_MEMORY.
 */
cxu_result cx_emu_reservation_create(size_t bytes, size_t alignment_bytes, uintptr_t hint,
                                     bool host_access, cx_emu_reservation **out_reservation);

/* Nothing is mapped in it any more. */
void cx_emu_reservation_destroy(cx_emu_reservation *reservation);

/* The reservation that holds all of [address, address + bytes), or NULL. */
cx_emu_reservation *cx_emu_reservation_find(uintptr_t address, size_t bytes);

/* True if a byte of [address, address + bytes) is reserved. */
bool cx_emu_reservation_overlapping(uintptr_t address, size_t bytes);

/* Unmaps everything in a part of it; never fails. Needs no lock. */
void cx_emu_reservation_clear(const cx_emu_reservation *reservation, uintptr_t address,
                              size_t bytes);

#endif
