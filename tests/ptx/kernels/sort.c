#include "run.h"

#include <stdlib.h>
#include <string.h>

#define COMPARE(name, number)                          \
    static int name(const void *one, const void *other) \
    {                                                  \
        number a, b;                                   \
        memcpy(&a, one, sizeof a);                     \
        memcpy(&b, other, sizeof b);                   \
        return (a > b) - (a < b);                      \
    }
COMPARE(compare_ints, int32_t)
COMPARE(compare_words, uint32_t)
COMPARE(compare_shorts, int16_t)
COMPARE(compare_doubles, double)

static void check_sort_bitonic(void)
{
    enum { THREADS = 64, BLOCKS = 3, N = 2 * THREADS };
    int32_t *values = make_ints(BLOCKS * N), *sorted = copy_memory(values, BLOCKS * N * 4);

    LAUNCH("sort_bitonic", line_over(BLOCKS * THREADS, THREADS), VALUE(values));
    for (size_t i = 0; i < BLOCKS; i++)
        qsort(sorted + i * N, N, sizeof *sorted, compare_ints);
    for (size_t i = 0; i < BLOCKS * N; i++)
        SAME(i, values[i], sorted[i]);
}

static void check_sort_odd_even(void)
{
    enum { N = 61 };
    uint32_t *values = make_words(N), *sorted = copy_memory(values, N * 4);
    int n = N;

    for (int i = 0; i < n; i++) {
        int first = i % 2;

        LAUNCH("sort_odd_even", line_over(N / 2 + 1, 10), VALUE(values), VALUE(n), VALUE(first));
    }
    qsort(sorted, N, sizeof *sorted, compare_words);
    for (size_t i = 0; i < N; i++)
        SAME(i, values[i], sorted[i]);
}

static void check_sort_radix(void)
{
    enum { N = 93, BITS = 12 };
    uint32_t *keys = make_words(N), *old;
    unsigned char *values = make_memory(N);
    int n = N, bits = BITS;

    for (size_t i = 0; i < N; i++) {
        keys[i] %= 64;
        values[i] = (unsigned char)i;
    }
    old = copy_memory(keys, N * 4);
    LAUNCH("sort_radix", line_over(100, 100), VALUE(keys), VALUE(values), VALUE(n), VALUE(bits));
    for (size_t i = 0; i < N; i++) {
        SAME(i, keys[i], old[values[i]]);
        if (i > 0)
            SAME(i, keys[i - 1] < keys[i] || (keys[i - 1] == keys[i] && values[i - 1] < values[i]),
                 true);
    }
}

static void check_sort_by_rank(void)
{
    enum { N = 101 };
    int32_t *ints = make_ints(N), n = N;
    double *in = make_memory(N * sizeof *in), *out = make_memory(N * sizeof *out);

    for (size_t i = 0; i < N; i++)
        in[i] = ints[i] / 50 * 0.5;
    LAUNCH("sort_by_rank", line_over(N, 30), VALUE(in), VALUE(out), VALUE(n));
    qsort(in, N, sizeof *in, compare_doubles);
    for (size_t i = 0; i < N; i++)
        NEAR(i, out[i], in[i], 0);
}

static void check_sort_locally(void)
{
    enum { THREADS = 40, EACH = 17, ALL = 2 * THREADS * EACH };
    int16_t *in = make_memory(ALL * 2), *out = make_memory(ALL * 2);
    int each = EACH;

    for (size_t i = 0; i < ALL; i++)
        in[i] = (int16_t)below(65536);
    LAUNCH("sort_locally", line_over(2 * THREADS, THREADS), VALUE(in), VALUE(out), VALUE(each));
    for (size_t i = 0; i < ALL; i += EACH)
        qsort(in + i, EACH, sizeof *in, compare_shorts);
    for (size_t i = 0; i < ALL; i++)
        SAME(i, out[i], in[i]);
}

static void check_merge(void)
{
    enum { A = 137, B = 88 };
    int32_t *a = make_ints(A), *b = make_ints(B), *out = make_memory((A + B) * 4);
    int32_t all[A + B];
    int a_count = A, b_count = B;

    memcpy(all, a, A * sizeof *a);
    memcpy(all + A, b, B * sizeof *b);
    qsort(a, A, sizeof *a, compare_ints);
    qsort(b, B, sizeof *b, compare_ints);
    qsort(all, A + B, sizeof *all, compare_ints);
    LAUNCH("merge", line_over(100, 50), VALUE(a), VALUE(a_count), VALUE(b), VALUE(b_count),
           VALUE(out));
    for (size_t i = 0; i < A + B; i++)
        SAME(i, out[i], all[i]);
}

static const kernel_case cases[] = {
    {"sort_bitonic", check_sort_bitonic}, {"sort_odd_even", check_sort_odd_even},
    {"sort_radix", check_sort_radix},     {"sort_by_rank", check_sort_by_rank},
    {"sort_locally", check_sort_locally}, {"merge", check_merge},
};
KERNEL_GROUP(sort, cases);
