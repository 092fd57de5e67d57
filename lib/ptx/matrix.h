/*
 * Matrix instructions: the lanes of a warp hold parts of matrices, multiply them together, and load
 * and store them.
 *
 * A lane is number `lane % 4` of group `lane / 4`. A register of A has a row of the group's 8 rows,
 * and as many elements of it as fit; of B the same of a column. Two elements of C or D are
 * neighbours in the group's row. Registers go through blocks of 8 rows first, then through columns.
 * This is the order that PTX describes for mma, and for wmma, which leaves it open, it is ours:
 * fragments with more registers than that repeat them.
 */
#ifndef CX_PTX_MATRIX_H
#define CX_PTX_MATRIX_H

#include "ptx/grid.h"

#define CX_PTX_FRAGMENT_REGISTERS 8

typedef enum cx_ptx_element {
    CX_PTX_ELEMENT_NONE,
    CX_PTX_ELEMENT_F16,
    CX_PTX_ELEMENT_BF16,
    CX_PTX_ELEMENT_TF32,
    CX_PTX_ELEMENT_F32,
    CX_PTX_ELEMENT_F64,
    CX_PTX_ELEMENT_E4M3,
    CX_PTX_ELEMENT_E5M2,
    CX_PTX_ELEMENT_S32,
    CX_PTX_ELEMENT_S8,
    CX_PTX_ELEMENT_U8,
    CX_PTX_ELEMENT_S4,
    CX_PTX_ELEMENT_U4,
    CX_PTX_ELEMENT_B1
} cx_ptx_element;

typedef enum cx_ptx_matrix_part {
    CX_PTX_MATRIX_D,
    CX_PTX_MATRIX_A,
    CX_PTX_MATRIX_B,
    CX_PTX_MATRIX_C,
    CX_PTX_MATRIX_PARTS
} cx_ptx_matrix_part;

/* The mode of CX_PTX_MATRIX. */
typedef enum cx_ptx_matrix_mode {
    CX_PTX_MATRIX_MULTIPLY,   /* D = A * B + C */
    CX_PTX_MATRIX_LOAD,       /* wmma.load into one of the parts */
    CX_PTX_MATRIX_STORE,      /* wmma.store of D */
    CX_PTX_MATRIX_LOAD_ROWS,  /* ldmatrix: D */
    CX_PTX_MATRIX_STORE_ROWS, /* stmatrix: D */
    CX_PTX_MATRIX_TRANSPOSE   /* movmatrix: D of A */
} cx_ptx_matrix_mode;

/* The registers of a part: slots while a function is parsed, then places. */
typedef struct cx_ptx_fragment {
    uint8_t element; /* cx_ptx_element */
    uint8_t count;   /* of registers */
    bool by_columns; /* in memory; of mma.m8n8k4 of halves, in registers too */
    uint32_t places[CX_PTX_FRAGMENT_REGISTERS];
} cx_ptx_fragment;

/* The operands of an instruction: number `c` of the module's. */
typedef struct cx_ptx_matrix {
    cx_ptx_fragment parts[CX_PTX_MATRIX_PARTS];
    uint16_t m, n, k;
    uint8_t part;    /* of LOAD and STORE: the one that moves */
    bool in_quads;   /* mma.m8n8k4 of halves: four products, each by eight lanes */
    bool saturated;  /* of integers */
    bool by_and;     /* of bits: instead of xor */
    bool transposed; /* LOAD_ROWS, STORE_ROWS */
    int rounding;    /* of doubles, as fesetround() names it */
} cx_ptx_matrix;

static inline unsigned cx_ptx_element_bits(cx_ptx_element element)
{
    static const uint8_t bits[] = {
        [CX_PTX_ELEMENT_F16] = 16, [CX_PTX_ELEMENT_BF16] = 16, [CX_PTX_ELEMENT_TF32] = 32,
        [CX_PTX_ELEMENT_F32] = 32, [CX_PTX_ELEMENT_F64] = 64,  [CX_PTX_ELEMENT_E4M3] = 8,
        [CX_PTX_ELEMENT_E5M2] = 8, [CX_PTX_ELEMENT_S32] = 32,  [CX_PTX_ELEMENT_S8] = 8,
        [CX_PTX_ELEMENT_U8] = 8,   [CX_PTX_ELEMENT_S4] = 4,    [CX_PTX_ELEMENT_U4] = 4,
        [CX_PTX_ELEMENT_B1] = 1};

    return bits[element];
}

/* Elements in a register; a double has a long register of its own. */
static inline unsigned cx_ptx_element_packed(cx_ptx_element element)
{
    return cx_ptx_element_bits(element) > 32 ? 1 : 32 / cx_ptx_element_bits(element);
}

/* Does the instruction for the lanes of the mask, which are all at it and have these registers;
 * other lanes count as zeros. A lane may fail. */
void cx_ptx_matrix_do(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_thread *lanes,
                      const cx_ptx_rows *rows, uint32_t mask, const cx_ptx_instruction *at);

#endif
