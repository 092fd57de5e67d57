/*
 * A shadow of memory: who has each unit, by address. Any number of threads, with
 * relaxed atomic accesses only, so that the shadow orders nothing that the allocator under test
 * forgot to order.
 */
#ifndef CX_TEST_SHADOW_H
#define CX_TEST_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Forgets everything; units have 1 << unit_bits bytes from now on. One thread. */
void shadow_clear(unsigned unit_bits);

/* Makes the range `owner`'s, not 0. False: some of it is somebody else's than nobody's or
 * `shared`'s; *out_whose is then who has it. */
bool shadow_take(uintptr_t address, size_t size, uint32_t owner, uint32_t shared,
                 uint32_t *out_whose);

/* Makes the owner's range `next`'s, 0 for nobody. False: some of it is not the owner's. */
bool shadow_pass(uintptr_t address, size_t size, uint32_t owner, uint32_t next);

/* While a call is under way that may give the memory back, or not: whoever gets it meanwhile is not
 * wrong. Whoever keeps it finds out what others got. */
void shadow_loosen(uintptr_t address, size_t size, uint32_t owner);
bool shadow_tighten(uintptr_t address, size_t size, uint32_t owner);

/* As shadow_pass to nobody, of those units that are the owner's. */
void shadow_drop(uintptr_t address, size_t size, uint32_t owner);

#endif
