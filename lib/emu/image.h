/* Images of code: where their PTX is. Takes no lock. */
#ifndef CX_EMU_IMAGE_H
#define CX_EMU_IMAGE_H

#include "emu/code.h"

/* PTX as text, or of a fat binary: where that has several, the newest for the emulated GPUs. The
 * caller ends with cx_emu_text_free. Errors as cx_emu_code_load, but for those of what the PTX
 * says. */
cxu_result cx_emu_image_find(const void *image, const cx_emu_code_options *options,
                             cx_emu_text *out_text);

/* Reads a file, with zeroes behind it; the caller frees it. CXU_FILE_NOT_FOUND, CXU_INVALID_IMAGE:
 * it cannot be read. */
cxu_result cx_emu_image_read(const char *path, char **out_image);

#endif
