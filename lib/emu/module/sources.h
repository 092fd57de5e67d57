/* Texts of PTX that are to be linked into one. Takes no lock. */
#ifndef CX_EMU_SOURCES_H
#define CX_EMU_SOURCES_H

#include "emu/module/code.h"
#include "ptx/link.h"

/* Zeroes: none. */
typedef struct cx_emu_sources {
    cx_ptx_source *all;
    size_t count, capacity;
    size_t runtime; /* the index of the device runtime, plus 1; 0: it is not among them */
} cx_emu_sources;

/* Adds a copy of a text. CXU_OUT_OF_MEMORY. */
cxu_result cx_emu_sources_add(cx_emu_sources *self, const cx_emu_text *text);

/* Adds the device runtime, whose functions launch grids and synchronise cooperative ones.
 * CXU_OUT_OF_MEMORY. */
cxu_result cx_emu_sources_add_device_runtime(cx_emu_sources *self);

/* Keeps the first ones. */
void cx_emu_sources_cut(cx_emu_sources *self, size_t kept);
void cx_emu_sources_free(cx_emu_sources *self);

/* Links all into one zero-terminated text, which the caller frees. Errors go to the log and to the
 * options' buffer. CXU_INVALID_PTX, CXU_NOT_SUPPORTED, CXU_OUT_OF_MEMORY. */
cxu_result cx_emu_sources_join(cx_emu_sources *self, const cx_emu_jit_options *options,
                               unsigned int max_registers, char **out_text, size_t *out_length);

#endif
