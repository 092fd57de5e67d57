/* The device runtime: the archive libcudadevrt.a has machine code alone, so this is its PTX. */
#ifndef CX_EMU_DEVICE_RUNTIME_H
#define CX_EMU_DEVICE_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>

/* True for the archive. */
bool cx_emu_is_device_runtime(const void *image, size_t bytes);

/* PTX of the functions that synchronise cooperative grids; the others are left undefined. */
extern const char cx_emu_device_runtime[];

#endif
