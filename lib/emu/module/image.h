/* Images of code: finds their PTX. Takes no lock. */
#ifndef CX_EMU_IMAGE_H
#define CX_EMU_IMAGE_H

#include "emu/module/code.h"

/* Finds the PTX of a text or a fat binary: of several, the newest for the emulated GPUs. Balance
 * with cx_emu_text_free. Errors as cx_emu_code_load, except those in the PTX itself. */
cxu_result cx_emu_image_find(const void *image, const cx_emu_jit_options *options,
                             cx_emu_text *out_text);

/* The fat binaries that the compiler left to be linked when the image is loaded, ended by NULL.
 * NULL: the image is none of several parts. */
const void *const *cx_emu_image_parts(const void *image);

/* Reads a file and adds zeroes; the caller frees it. `out_bytes` may be NULL. CXU_FILE_NOT_FOUND,
 * CXU_INVALID_IMAGE: it cannot be read. */
cxu_result cx_emu_image_read(const char *path, char **out_image, size_t *out_bytes);

#endif
