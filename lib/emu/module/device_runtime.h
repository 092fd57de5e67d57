/* The device runtime: the archive libcudadevrt.a has machine code alone, so this is its PTX. */
#ifndef CX_EMU_DEVICE_RUNTIME_H
#define CX_EMU_DEVICE_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>

/* True for the archive. */
bool cx_emu_is_device_runtime(const void *image, size_t bytes);

/* True for the PTX of the archive's object, which is for newer devices than the emulated ones. */
bool cx_emu_is_device_runtime_text(const char *text, size_t length);

/* PTX of the functions that synchronise cooperative grids. */
extern const char cx_emu_device_runtime[];

/* Behind this, what the functions ask of the device is a limit of the context. */
enum { CX_EMU_ASK_LIMIT = 0x10000 };

/* PTX of the functions that launch grids from kernels, and of their last error; the others are left
 * undefined. True: the text needs them. */
extern const char cx_emu_device_launches[];
bool cx_emu_needs_device_launches(const char *text, size_t length);

#endif
