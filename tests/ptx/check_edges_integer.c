#include "edges.h"

static Suite *integer_suite(void)
{
    return edges_suite("edges of integers", &integer_rows);
}

CX_TESTS(integer_suite);
