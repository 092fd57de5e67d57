/* A lane's cell in a row, and its value: by the field of cx_ptx_slot that ops.def names. */
#ifndef CX_PTX_CELL_H
#define CX_PTX_CELL_H

#include "ptx/row.h"

typedef float single_cell __attribute__((may_alias));
typedef double double_cell __attribute__((may_alias));
#define CELL_u16 cx_ptx_word
#define CELL_s16 cx_ptx_word
#define CELL_u32 cx_ptx_word
#define CELL_s32 cx_ptx_word
#define CELL_u64 cx_ptx_long
#define CELL_s64 cx_ptx_long
#define CELL_f32 single_cell
#define CELL_f64 double_cell
#define TYPE_u16 uint16_t
#define TYPE_s16 int16_t
#define TYPE_u32 uint32_t
#define TYPE_s32 int32_t
#define TYPE_u64 uint64_t
#define TYPE_s64 int64_t
#define TYPE_f32 float
#define TYPE_f64 double

/* The upper half of a word with 16 bits is 0. */
#define BITS_u16(value) (uint16_t)(value)
#define BITS_s16(value) (uint16_t)(int16_t)(value)
#define BITS_u32(value) (uint32_t)(value)
#define BITS_s32(value) (uint32_t)(int32_t)(value)
#define BITS_u64(value) (uint64_t)(value)
#define BITS_s64(value) (uint64_t)(int64_t)(value)
#define BITS_f32(value) (float)(value)
#define BITS_f64(value) (double)(value)

#endif
