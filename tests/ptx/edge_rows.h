/*
 * The functions, the table and the program of a file of edge rows. The includer defines before:
 *   EDGE_ROWS    the file: ROW(id, sets, text, tolerance, value) for each row, as in edges.h;
 *                ROW(id, sets, text, value) if EDGE_EXACT is defined, for a tolerance of 0
 *   EDGE_LOCALS  declarations that the values use besides the operands a, b and c; may be empty
 *   EDGE_SUITE   the name of the suite
 *   EDGE_TEST    the name of its one test
 */
#include "../emu/work_fixture.h"
#include "edges.h"

#define TO_U0 " selp.u32 %u0, 1, 0, %p0;"

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

/* Check pastes the name of a test: it must be expanded before. */
#define EDGE_START(name) START_TEST(name)
#define EDGE_ADD(tests, name) tcase_add_test(tests, name)

EDGE_START(EDGE_TEST)
{
    edges_check(rows, sizeof rows / sizeof rows[0]);
}
END_TEST

static Suite *edge_suite(void)
{
    Suite *suite = suite_create(EDGE_SUITE);
    TCase *edges = tcase_create("edges");

    tcase_add_checked_fixture(edges, work_setup, work_teardown);
    tcase_set_timeout(edges, 600);
    EDGE_ADD(edges, EDGE_TEST);
    suite_add_tcase(suite, edges);
    return suite;
}

int main(void)
{
    return cx_test_run((Suite *(*const[])(void)){edge_suite, NULL});
}
