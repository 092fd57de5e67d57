#include "run.h"

#include <string.h>

typedef struct pair {
    uint64_t low, high;
} pair;

__extension__ typedef unsigned __int128 whole;

/* Aligned to 16 bytes, as malloc does. */
static pair *make_pairs(size_t count)
{
    uint32_t *words = make_words(4 * count);
    pair *all = make_memory(count * sizeof *all);

    memcpy(all, words, count * sizeof *all);
    return all;
}

static void check_add_pairs(void)
{
    enum { N = 301 };
    pair *in = make_pairs(N), *sum = make_memory(sizeof *sum), expected = {0, 0};
    int n = N;

    LAUNCH("add_pairs", line_over(N, 70), VALUE(sum), VALUE(in), VALUE(n));
    for (size_t i = 0; i < N; i++) {
        expected.low += in[i].low;
        expected.high ^= in[i].high;
    }
    SAME(0, sum->low, expected.low);
    SAME(0, sum->high, expected.high);
}

/* All pairs are there once: those that went in, and those that were there before. */
static void check_pass_pairs(void)
{
    enum { N = 150, THREADS = 40, BLOCKS = 4 };
    pair *in = make_pairs(N), *out = make_memory((N + BLOCKS) * sizeof *out);
    pair *place = make_memory(sizeof *place);
    int n = N;

    place->low = 99;
    place->high = 1;
    LAUNCH("pass_pairs", line_over(N, THREADS), VALUE(place), VALUE(in), VALUE(out), VALUE(n));
    out = memcpy(make_memory((N + BLOCKS + 1) * sizeof *out), out, (N + BLOCKS) * sizeof *out);
    out[N + BLOCKS] = *place;
    for (size_t i = 0; i < N + BLOCKS + 1; i++) {
        pair wanted = i < N ? in[i] : (pair){i - N, 0};
        size_t found = 0;

        if (i == N + BLOCKS)
            wanted = (pair){99, 1};
        for (size_t j = 0; j < N + BLOCKS + 1; j++)
            found += out[j].low == wanted.low && out[j].high == wanted.high;
        SAME(i, found, 1);
    }
}

static void check_watch_pairs(void)
{
    pair *place = make_memory(sizeof *place);
    int32_t *wrong = make_memory(4), rounds = 20;

    LAUNCH("watch_pairs", line_over(200, 50), VALUE(place), VALUE(wrong), VALUE(rounds));
    SAME(0, *wrong, 0);
    SAME(1, place->low, ~place->high);
    SAME(2, place->low % 1000, 19);
}

static void check_compute_pairs(void)
{
    enum { N = 77 };
    pair *a = make_pairs(N), *b = make_pairs(N), *out = make_memory(N * sizeof *out);
    int n = N;

    LAUNCH("compute_pairs", line_over(N, 50), VALUE(a), VALUE(b), VALUE(out), VALUE(n));
    for (size_t i = 0; i < N; i++) {
        whole x = (whole)a[i].low << 64 | a[i].high, y = (whole)b[i].high << 64 | b[i].low;
        whole expected = x * y + (x ^ y) / 3;

        SAME(i, out[i].low, (uint64_t)expected);
        SAME(i, out[i].high, (uint64_t)(expected >> 64));
    }
}

static const kernel_case cases[] = {
    {"add_pairs", check_add_pairs},
    {"pass_pairs", check_pass_pairs},
    {"watch_pairs", check_watch_pairs},
    {"compute_pairs", check_compute_pairs},
};
KERNEL_GROUP(pairs, cases);
