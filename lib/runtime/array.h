/*
 * The runtime's descriptions of elements, as the driver's formats.
 */
#ifndef CX_RUNTIME_ARRAY_H
#define CX_RUNTIME_ARRAY_H

#include "runtime/cudart_abi.h"

/* INVALID_CHANNEL_DESCRIPTOR for one that is no format. */
cxr_error cx_cudart_format_of(const cxr_channel_format *channels, cxu_array_format *out_format,
                              unsigned int *out_channels);
cxr_channel_format cx_cudart_channels_of(cxu_array_format format, unsigned int channels);

/* The bytes of an array's elements. Errors of the driver. */
cxr_error cx_cudart_array_element(CUarray array, size_t *out_bytes);

#endif
