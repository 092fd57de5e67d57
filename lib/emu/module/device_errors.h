/* The names and texts of errors, as kernels ask for them: PTX of two functions. */
#ifndef CX_EMU_DEVICE_ERRORS_H
#define CX_EMU_DEVICE_ERRORS_H

#include <stdbool.h>
#include <stddef.h>

/* True if the text calls one of the functions. */
bool cx_emu_needs_device_errors(const char *text, size_t length);

/* Writes them, for the errors that the device runtime returns; others are unrecognized. The caller
 * frees the text. NULL: out of memory. */
char *cx_emu_device_errors_write(void);

#endif
