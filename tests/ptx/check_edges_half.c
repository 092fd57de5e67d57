#include "edges.h"

static Suite *half_suite(void)
{
    return edges_suite("edges of halves", &half_rows);
}

CX_TESTS(half_suite);
