/*
 * The functions and the table of a file of edge rows. The includer defines before:
 *   EDGE_ROWS    the file: ROW(id, sets, text, tolerance, value) for each row, as in edges.h;
 *                ROW(id, sets, text, value) if EDGE_EXACT is defined, for a tolerance of 0
 *   EDGE_LOCALS  declarations that the values use besides the operands a, b and c; may be empty
 *   EDGE_TABLE   the name of the table
 */
#include "edges.h"

#define TO_U0 EDGE_TO_U0

#define EDGE_EXPECT(id, value)                                      \
    static uint64_t expect_##id(uint64_t a, uint64_t b, uint64_t c) \
    {                                                               \
        EDGE_LOCALS                                                 \
        (void)a, (void)b, (void)c;                                  \
        return (uint64_t)(value);                                   \
    }

#ifdef EDGE_EXACT
#define ROW(id, sets, text, value) EDGE_EXPECT(id, value)
#else
#define ROW(id, sets, text, tolerance, value) EDGE_EXPECT(id, value)
#endif
#include EDGE_ROWS
#undef ROW

static const edge_row rows[] = {
#ifdef EDGE_EXACT
#define ROW(id, sets, text, value) {text, sets, expect_##id, 0},
#else
#define ROW(id, sets, text, tolerance, value) {text, sets, expect_##id, tolerance},
#endif
#include EDGE_ROWS
};

const edge_table EDGE_TABLE = {rows, sizeof rows / sizeof rows[0]};
