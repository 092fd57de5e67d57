#include "edges.h"

static Suite *float_suite(void)
{
    return edges_suite("edges of floats", &float_rows);
}

CX_TESTS(float_suite);
