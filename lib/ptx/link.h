/* Several texts of PTX made one. */
#ifndef CX_PTX_LINK_H
#define CX_PTX_LINK_H

#include "ptx/ptx.h"

typedef struct cx_ptx_source {
    const char *text;
    size_t length;
} cx_ptx_source;

/*
 * Gives one text, with a zero behind it, which the caller frees. What one source declares and
 * another defines is the same thing afterwards; what a source keeps to itself stays its own. What
 * is still undefined then cx_ptx_load refuses. The error is written unless it succeeds; its line
 * is that of the source.
 */
cx_ptx_status cx_ptx_link(const cx_ptx_source *sources, size_t count, char **out_text,
                          size_t *out_length, cx_ptx_error *out_error);

#endif
