/*
 * Reserved address ranges (cuMemAddressReserve), to be filled with mappings. All functions: lock
 * "emu.state" held.
 *
 * The user's addresses are inaccessible for the host, as a GPU's are; the driver reaches what is
 * mapped there through a second range of the same size, so that mappings which follow each other
 * for the user do so for the driver. With host access both ranges are one.
 */
#ifndef CX_EMU_RESERVATION_H
#define CX_EMU_RESERVATION_H

#include "driver/cuda_abi.h"
#include <bsd/sys/tree.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cx_emu_reservation {
    uintptr_t address;     /* what the user sees */
    unsigned char *mapped; /* where the driver reaches it */
    size_t bytes;
    RB_ENTRY(cx_emu_reservation) by_address;
} cx_emu_reservation;

/*
 * Reserves `bytes`, a multiple of the host's page size, at a multiple of `alignment_bytes`, a power
 * of two; at `hint` if that is such an address and free. CXU_OUT_OF_MEMORY.
 */
cxu_result cx_emu_reservation_create(size_t bytes, size_t alignment_bytes, uintptr_t hint,
                                     bool host_access, cx_emu_reservation **out_reservation);

/* Nothing is mapped in it. */
void cx_emu_reservation_destroy(cx_emu_reservation *reservation);

/* The reservation that holds all of [address, address + bytes), or NULL. */
cx_emu_reservation *cx_emu_reservation_find(uintptr_t address, size_t bytes);

/* Whether a byte of [address, address + bytes) is reserved. */
bool cx_emu_reservation_overlapping(uintptr_t address, size_t bytes);

/* Takes away whatever is mapped in a part of it; never fails. Needs no lock. */
void cx_emu_reservation_clear(const cx_emu_reservation *reservation, uintptr_t address,
                              size_t bytes);

#endif
