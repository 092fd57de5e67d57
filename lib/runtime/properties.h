/*
 * cudaDeviceProp. CUDA 13 has other fields than CUDA 12; CUDA 11 has the first ones of CUDA 12.
 */
#ifndef CX_RUNTIME_PROPERTIES_H
#define CX_RUNTIME_PROPERTIES_H

#include "driver/cuda_abi.h"

#define CX_PROPERTY(versions, type, field, extent, ...) CX_FIELD_##versions(type, field, extent)
#define CX_FIELD_ALL(type, field, extent) type field extent;

typedef struct cxr_properties_12 {
#define CX_FIELD_UNTIL_12(type, field, extent) type field extent;
#define CX_FIELD_SINCE_13(type, field, extent)
#include "runtime/properties.def"
#undef CX_FIELD_UNTIL_12
#undef CX_FIELD_SINCE_13
    int reserved[63];
} cxr_properties_12;

#define CX_PROPERTY(versions, type, field, extent, ...) CX_FIELD_##versions(type, field, extent)

typedef struct cxr_properties_13 {
#define CX_FIELD_UNTIL_12(type, field, extent)
#define CX_FIELD_SINCE_13(type, field, extent) type field extent;
#include "runtime/properties.def"
#undef CX_FIELD_UNTIL_12
#undef CX_FIELD_SINCE_13
    int reserved[56];
} cxr_properties_13;

#undef CX_FIELD_ALL

#endif
