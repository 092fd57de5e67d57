/* The types of PTX. */
#ifndef CX_PTX_TYPE_H
#define CX_PTX_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum cx_ptx_type {
    CX_PTX_NO_TYPE,
    CX_PTX_PRED,
    CX_PTX_B8,
    CX_PTX_U8,
    CX_PTX_S8,
    CX_PTX_E4M3, /* only while converting */
    CX_PTX_E5M2,
    CX_PTX_E2M3,
    CX_PTX_E3M2,
    CX_PTX_E2M1,
    CX_PTX_UE8M0,
    CX_PTX_B16,
    CX_PTX_U16,
    CX_PTX_S16,
    CX_PTX_F16,
    CX_PTX_BF16,
    CX_PTX_B32,
    CX_PTX_U32,
    CX_PTX_S32,
    CX_PTX_F32,
    CX_PTX_TF32,
    CX_PTX_B64,
    CX_PTX_U64,
    CX_PTX_S64,
    CX_PTX_F64,
    CX_PTX_B128 /* of registers, ld, st, mov and atom alone */
} cx_ptx_type;

static inline unsigned cx_ptx_type_bytes(cx_ptx_type type)
{
    if (type == CX_PTX_B128)
        return 16;
    if (type >= CX_PTX_B64)
        return 8;
    if (type >= CX_PTX_B32)
        return 4;
    if (type >= CX_PTX_B16)
        return 2;
    return 1;
}

static inline bool cx_ptx_type_signed(cx_ptx_type type)
{
    return type == CX_PTX_S8 || type == CX_PTX_S16 || type == CX_PTX_S32 || type == CX_PTX_S64;
}

static inline bool cx_ptx_type_float(cx_ptx_type type)
{
    return type == CX_PTX_F16 || type == CX_PTX_BF16 || type == CX_PTX_F32 || type == CX_PTX_F64 ||
           (type >= CX_PTX_E4M3 && type <= CX_PTX_UE8M0) || type == CX_PTX_TF32;
}

/* The type of a word like "u32", or CX_PTX_NO_TYPE. */
cx_ptx_type cx_ptx_type_find(const char *text, size_t length);

#endif
