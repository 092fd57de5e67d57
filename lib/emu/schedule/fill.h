/*
 * Fills of rows of elements.
 */
#ifndef CX_EMU_FILL_H
#define CX_EMU_FILL_H

#include "emu/schedule/copy.h"

/* The argument of a piece of work that fills. */
typedef struct cx_emu_painting {
    cxu_memset_node_params shape; /* `height` rows of `width` elements of 1, 2 or 4 bytes */
    unsigned char *bytes;
} cx_emu_painting;

/*
 * Makes the request for a piece of work that fills in a context; the fill is not empty. The
 * request's argument is `out_painting`. `latest` is as in cx_emu_reach. CXU_INVALID_VALUE: an
 * invalid shape, or memory that is unknown or not reached. Lock held.
 */
cxu_result cx_emu_fill_request(const cxu_memset_node_params *shape, const cx_emu_context *context,
                               uint64_t latest, cx_emu_painting *out_painting,
                               cx_emu_work_request *out_request);

/* Fills in a stream that does not capture, and waits if the mode and the memory ask for that. The
 * fill is not empty. CXU_INVALID_VALUE as above; errors of cx_emu_work_submit. Lock held. */
cxu_result cx_emu_fill_submit(const cxu_memset_node_params *shape, cx_emu_stream *stream,
                              cx_emu_copy_mode mode);

#endif
