/*
 * A libcuda with exports that ctxrt has never heard of, besides all that the stand-in has: together
 * with its objects it plays the driver of a later version. local.mk exports these names.
 */
#include "larger.h"

#include <string.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define EXPORT __attribute__((visibility("default")))

EXPORT int cuOfNobodyFlag = LARGER_FLAG;

/* Its arguments fill the registers and go on on the stack. */
EXPORT long cuOfNobodySum(long a, long b, long c, long d, long e, long f, double g, double h,
                          double i, double j, double k, double l, double m, double n, double o,
                          long p, const char *q)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f +
           (long)(g + h + i + j + k + l + m + n + o) * p + (long)strlen(q);
}

/* By values that need memory, and as one. */
EXPORT larger_parts cuOfNobodySwap(larger_parts given)
{
    long first = given.first;
    given.first = given.last;
    given.last = first;
    return given;
}

EXPORT int cuOfNobodyCall_v3(int (*function)(int), int number)
{
    return function(number) + 1;
}
