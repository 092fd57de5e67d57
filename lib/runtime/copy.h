/*
 * The runtime's descriptions of copies, as the driver's.
 */
#ifndef CX_RUNTIME_COPY_H
#define CX_RUNTIME_COPY_H

#include "runtime/cudart_abi.h"

/* INVALID_MEMCPY_DIRECTION for a kind that does not exist, INVALID_PITCH_VALUE for rows that do not
 * fit their pitch. */
cxr_error cx_cudart_copy_2d(void *destination, size_t destination_pitch, const void *source,
                            size_t source_pitch, size_t width, size_t height, cxr_copy_kind kind,
                            cxu_memcpy_2d *out_copy);
cxr_error cx_cudart_copy_3d(const cxr_copy_3d *params, cxu_memcpy_3d *out_copy);

/* Back again: the kind is the narrowest that fits. */
void cx_cudart_copy_of_driver(const cxu_memcpy_3d *copy, cxr_copy_3d *out_params);

/* As nodes of graphs have it. */
cxr_error cx_cudart_copy_1d(void *destination, const void *source, size_t bytes, cxr_copy_kind kind,
                            cxu_memcpy_3d *out_copy);

#endif
