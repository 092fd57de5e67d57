/*
 * Instructions for all lanes of a warp at once, in loops that the compiler makes vector code of.
 * They are compiled for several processors; the best one is chosen when the first kernel runs.
 */
#ifndef CX_PTX_LANES_H
#define CX_PTX_LANES_H

#include "ptx/address_resolve.h"
#include "ptx/module.h"

/* An operation of ops.def: writes the row `d`; `a`, `b` and `c` may be the same row. */
typedef void cx_ptx_whole_op(void *d, const void *a, const void *b, const void *c);

typedef struct cx_ptx_lanes {
    const char *name;
    cx_ptx_whole_op *whole[CX_PTX_COMPUTED];

    /* Does operations of ops.def for one lane up to another instruction or to the border, and
     * returns the next one. `cells` is moved, so that the lane comes first in each row. With a grid
     * it loads and stores too, in global and shared memory that the instruction found before. */
    const cx_ptx_instruction *(*compute)(const cx_ptx_rows *cells, const cx_ptx_instruction *at,
                                         const cx_ptx_instruction *border, const cx_ptx_grid *grid,
                                         const cx_ptx_block *block);

    /* Shuffles the words `from` of the active lanes; the others have 0. Writes 1 to the row
     * `inside`, or nothing if it is NULL, where the source is in the lane's segment. `b` and `c`
     * are the rows of shfl's operands; `to` may be the same as `from`. */
    void (*shuffle)(cx_ptx_warp_mode mode, const void *b, const void *c, const void *from,
                    uint32_t active, void *to, void *inside);

    /* Loads and stores of the active lanes, at least one; `threads` are those of the warp. False:
     * a lane's memory is outside of what the instruction found last, and nothing has happened. */
    bool (*load)(const cx_ptx_grid *grid, const cx_ptx_block *block, const cx_ptx_thread *threads,
                 const cx_ptx_rows *rows, const cx_ptx_instruction *at, uint32_t active);
    bool (*store)(const cx_ptx_grid *grid, const cx_ptx_block *block, const cx_ptx_thread *threads,
                  const cx_ptx_rows *rows, const cx_ptx_instruction *at, uint32_t active);

    /* Finds where the active lanes access the memory, for an instruction that stores. False: a
     * lane's memory is outside of what the access has found. */
    bool (*reach)(const cx_ptx_access *access, const cx_ptx_rows *rows,
                  const cx_ptx_instruction *at, uint32_t active,
                  uint32_t offsets[CX_PTX_WARP_SIZE]);

    /* CX_PTX_EXTEND, CX_PTX_PACK, CX_PTX_UNPACK, CX_PTX_ADD_ADDRESS, CX_PTX_TO_WINDOW: `d` is a row
     * of longs. */
    void (*move)(uint64_t *d, const cx_ptx_rows *rows, const cx_ptx_instruction *at);

    /* Adds to C the product of A and B, which lie row by row; there are a multiple of 8 columns. */
    void (*multiply)(const double *restrict a, const double *restrict b, double *restrict c,
                     unsigned rows, unsigned columns, unsigned depth);

    /* The lanes whose word is not 0. */
    uint32_t (*truths)(const void *words);
    /* The bits that the words of all active lanes have. */
    uint32_t (*common)(const void *words, uint32_t active);
    /* Copies the lanes of the mask from row to row; from a row of longs to a row of words. */
    void (*copy_words)(void *to, const void *from, uint32_t mask);
    void (*copy_longs)(void *to, const void *from, uint32_t mask);
    void (*copy_halves)(void *to, const void *from, uint32_t mask);
} cx_ptx_lanes;

/* The one of that name; the fastest that this processor can run if there is none, or no name. */
const cx_ptx_lanes *cx_ptx_lanes_find(const char *name);

#endif
