/*
 * Registers. A register of a warp is a row: a value for each lane, of 4 bytes (a word) or of 8 (a
 * long). Rows lie in files, words and longs apart: so lanes that are in different functions may use
 * the same row. An instruction names a row by its place.
 */
#ifndef CX_PTX_ROW_H
#define CX_PTX_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CX_PTX_WARP_SIZE 32
#define CX_PTX_WORDS_BYTES (CX_PTX_WARP_SIZE * sizeof(uint32_t)) /* a row of words */
#define CX_PTX_LONGS_BYTES (CX_PTX_WARP_SIZE * sizeof(uint64_t))
#define CX_PTX_ROW_ALIGN 64

/* Odd files have longs. */
typedef enum cx_ptx_row_file {
    CX_PTX_FRAME_WORDS, /* of the present function */
    CX_PTX_FRAME_LONGS,
    CX_PTX_WARP_WORDS, /* special registers */
    CX_PTX_WARP_LONGS,
    CX_PTX_CONSTANT_WORDS, /* of the present function; all lanes have the same value */
    CX_PTX_CONSTANT_LONGS,
    CX_PTX_FILES
} cx_ptx_row_file;

/* A place: the offset of a row in its file, and the file in the lowest bits. */
#define CX_PTX_FILE_MASK UINT32_C(7)

typedef uint32_t cx_ptx_word __attribute__((may_alias));
typedef uint64_t cx_ptx_long __attribute__((may_alias));

/* The files that a lane sees. */
typedef struct cx_ptx_rows {
    unsigned char *files[CX_PTX_FILES];
} cx_ptx_rows;

static inline bool cx_ptx_is_long(uint32_t place)
{
    return place & 1;
}

static inline bool cx_ptx_is_uniform(uint32_t place)
{
    return (place & CX_PTX_FILE_MASK) >= CX_PTX_CONSTANT_WORDS;
}

static inline uint32_t cx_ptx_place(cx_ptx_row_file file, uint32_t index)
{
    return index * (uint32_t)(file & 1 ? CX_PTX_LONGS_BYTES : CX_PTX_WORDS_BYTES) | (uint32_t)file;
}

static inline void *cx_ptx_row(const cx_ptx_rows *rows, uint32_t place)
{
    return rows->files[place & CX_PTX_FILE_MASK] + (place & ~CX_PTX_FILE_MASK);
}

/* The files as they begin for one lane. */
static inline cx_ptx_rows cx_ptx_cells_of(const cx_ptx_rows *rows, uint32_t lane)
{
    const size_t words = lane * sizeof(uint32_t), longs = lane * sizeof(uint64_t);

    return (cx_ptx_rows){{rows->files[0] + words, rows->files[1] + longs, rows->files[2] + words,
                          rows->files[3] + longs, rows->files[4] + words, rows->files[5] + longs}};
}

/* A lane's value. A word is extended with zeros; of a long, a word takes the lower half. */
static inline uint64_t cx_ptx_get(const cx_ptx_rows *rows, uint32_t place, uint32_t lane)
{
    const void *row = cx_ptx_row(rows, place);

    return cx_ptx_is_long(place) ? ((const cx_ptx_long *)row)[lane]
                                 : ((const cx_ptx_word *)row)[lane];
}

static inline void cx_ptx_put(const cx_ptx_rows *rows, uint32_t place, uint32_t lane,
                              uint64_t value)
{
    void *row = cx_ptx_row(rows, place);

    if (cx_ptx_is_long(place))
        ((cx_ptx_long *)row)[lane] = value;
    else
        ((cx_ptx_word *)row)[lane] = (uint32_t)value;
}

#endif
