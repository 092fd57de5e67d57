/* Links several texts of PTX into one. */
#ifndef CX_PTX_LINK_H
#define CX_PTX_LINK_H

#include "ptx/ptx.h"

typedef struct cx_ptx_source {
    const char *text;
    size_t length;
} cx_ptx_source;

/*
 * Makes one zero-terminated text, which the caller frees. A declaration in one source refers to the
 * definition in another; a private name of a source stays private. cx_ptx_load refuses names that
 * are undefined in the result. A kernel without .maxnreg gets one if `max_registers` is not 0. On
 * failure the error is written; its line is the source's.
 */
cx_ptx_status cx_ptx_link(const cx_ptx_source *sources, size_t count, unsigned max_registers,
                          char **out_text, size_t *out_length, cx_ptx_error *out_error);

#endif
