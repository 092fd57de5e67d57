/* The invariants of a fit. */
#ifndef CX_TEST_FIT_CHECK_H
#define CX_TEST_FIT_CHECK_H

#include "alloc/fit.h"

/* *out_wrong: the broken one. */
bool fit_check(const cx_fit *fit, const char **out_wrong);

#endif
