/*
 * Edge values through instructions: each row of a table is PTX with the values that it should give,
 * computed by the test itself. Rows run through the Driver API, all combinations of their operands
 * in one launch.
 */
#ifndef CX_TEST_EDGES_H
#define CX_TEST_EDGES_H

#include "test.h"

#include <stddef.h>
#include <stdint.h>

/*
 * `text` reads %a, %b, %c, with a letter before that for the register: h 16 bits, u 32, d 64, f and
 * g float and double, p a predicate (true: not 0). It writes %h0, %u0, %f0, %d0 or %g0, the
 * result; registers 1 to 5 of each kind are free.
 *
 * `sets` has a letter for each operand: h, w, d integers of 16, 32, 64 bits; b bytes; s counts of
 * shifts; H, B, F, G numbers of f16, bf16, f32, f64, and x, y, f, g fewer of them; X, Y, W pairs of
 * f16, bf16, integers; 1 zero and one.
 */
typedef struct edge_row {
    const char *text, *sets;
    uint64_t (*expected)(uint64_t a, uint64_t b, uint64_t c);
    double tolerance; /* relative; 0: all bits are equal, but for NaNs of f64 */
} edge_row;

typedef struct edge_table {
    const edge_row *rows;
    size_t count;
} edge_table;

extern const edge_table integer_rows, float_rows, half_rows;

/* The end of the text of rows whose value is the predicate %p0. */
#define EDGE_TO_U0 " selp.u32 %u0, 1, 0, %p0;"

/* Makes a suite that compares all rows, and tells the first wrong value of each wrong row. */
Suite *edges_suite(const char *name, const edge_table *table);

#endif
