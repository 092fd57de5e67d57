/* What larger.c exports. */
#ifndef CX_TEST_LARGER_H
#define CX_TEST_LARGER_H

enum { LARGER_FLAG = 4712 };

typedef struct larger_parts {
    long first;
    double middle[4];
    long last;
} larger_parts;

typedef long larger_sum(long a, long b, long c, long d, long e, long f, double g, double h,
                        double i, double j, double k, double l, double m, double n, double o,
                        long p, const char *q);
typedef larger_parts larger_swap(larger_parts given);
typedef int larger_call(int (*function)(int), int number);

#endif
