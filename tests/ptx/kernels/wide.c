#include "run.h"

typedef unsigned __int128 wide;

enum { COUNT = 133 };

static uint64_t *make_long_words(size_t count)
{
    uint64_t *words = (uint64_t *)(void *)make_words(2 * count);

    for (size_t i = 0; i < count; i++)
        words[i] >>= below(4) == 0 ? below(64) : 0;
    return words;
}

static wide *make_wide(size_t count)
{
    wide *numbers = make_memory(count * sizeof *numbers);
    uint64_t *words = make_long_words(2 * count);

    for (size_t i = 0; i < count; i++)
        numbers[i] = ((wide)words[2 * i] << 64 | words[2 * i + 1]) >> below(100);
    return numbers;
}

static void same_wide(size_t at, wide found, wide expected)
{
    SAME(at, found >> 64, expected >> 64);
    SAME(at, found, expected);
}

static void check_multiply_wide(void)
{
    uint64_t *in = make_long_words(2 * COUNT);
    wide *out = make_memory(COUNT * sizeof *out);
    int n = COUNT;

    LAUNCH("multiply_wide", line_over(COUNT, 33), VALUE(in), VALUE(out), VALUE(n));
    for (size_t i = 0; i < COUNT; i++)
        same_wide(i, out[i],
                  (wide)in[2 * i] * in[2 * i + 1] + ((wide)in[2 * i + 1] << 64) - in[2 * i]);
}

static void check_divide_wide(void)
{
    wide *in = make_wide(2 * COUNT), *quotients = make_memory(COUNT * sizeof *in);
    wide *rests = make_memory(COUNT * sizeof *in);
    int n = COUNT;

    for (size_t i = 0; i < COUNT; i++)
        in[2 * i + 1] = (in[2 * i + 1] >> below(110)) + 1;
    LAUNCH("divide_wide", line_over(COUNT, 45), VALUE(in), VALUE(quotients), VALUE(rests),
           VALUE(n));
    for (size_t i = 0; i < COUNT; i++) {
        same_wide(i, quotients[i], in[2 * i] / in[2 * i + 1]);
        same_wide(i, rests[i], in[2 * i] % in[2 * i + 1]);
    }
}

static void check_shift_wide(void)
{
    wide *in = make_wide(COUNT), *out = make_memory(3 * COUNT * sizeof *in);
    int n = COUNT;

    for (size_t i = 0; i < COUNT; i += 2)
        in[i] = 0 - in[i];
    LAUNCH("shift_wide", line_over(COUNT, 50), VALUE(in), VALUE(out), VALUE(n));
    for (size_t i = 0; i < COUNT; i++) {
        int by = (int)(in[i] & 127);
        __int128 number = (__int128)in[i];

        same_wide(i, out[3 * i], (wide)(number >> by));
        same_wide(i, out[3 * i + 1], in[i] << by);
        same_wide(i, out[3 * i + 2], number < 0 ? 0 - in[i] : in[i] * 3);
    }
}

static void check_add_long(void)
{
    uint32_t *a = make_words(8 * COUNT), *b = make_words(8 * COUNT);
    uint32_t *sum = make_memory(9 * COUNT * 4), *difference = make_memory(9 * COUNT * 4);
    int n = COUNT;

    for (size_t i = 0; i < 8 * COUNT; i++)
        if (below(3) == 0)
            b[i] = below(2) ? ~a[i] : a[i];
    LAUNCH("add_long", line_over(COUNT, 40), VALUE(a), VALUE(b), VALUE(sum), VALUE(difference),
           VALUE(n));
    for (size_t i = 0; i < COUNT; i++) {
        uint64_t carry = 0, borrow = 0;

        for (size_t k = 0; k < 8; k++) {
            uint64_t total = (uint64_t)a[8 * i + k] + b[8 * i + k] + carry;
            uint64_t rest = (uint64_t)a[8 * i + k] - b[8 * i + k] - borrow;

            SAME(9 * i + k, sum[9 * i + k], (uint32_t)total);
            SAME(9 * i + k, difference[9 * i + k], (uint32_t)rest);
            carry = total >> 32;
            borrow = rest >> 63;
        }
        SAME(9 * i + 8, sum[9 * i + 8], carry);
        SAME(9 * i + 8, difference[9 * i + 8], (uint32_t)(0 - borrow));
    }
}

/* A long number modulo a prime: the product's is the product of both. */
static uint64_t rest_of(const uint32_t *words, int count)
{
    const uint64_t prime = 4294967291u;
    uint64_t rest = 0;

    for (int i = count - 1; i >= 0; i--)
        rest = ((rest << 32) + words[i]) % prime;
    return rest;
}

static void check_multiply_long(void)
{
    enum { WORDS = 7, N = 39 };
    uint32_t *a = make_words(WORDS * N), *b = make_words(WORDS * N);
    uint32_t *product = make_memory(2 * WORDS * N * 4);
    int words = WORDS, n = N;

    LAUNCH("multiply_long", line_over(N, 13), VALUE(a), VALUE(b), VALUE(product), VALUE(words),
           VALUE(n));
    for (size_t i = 0; i < N; i++) {
        SAME(i, rest_of(product + 2 * WORDS * i, 2 * WORDS),
             rest_of(a + WORDS * i, WORDS) * rest_of(b + WORDS * i, WORDS) % 4294967291u);
        SAME(i, product[2 * WORDS * i], a[WORDS * i] * b[WORDS * i]);
    }
}

static void check_find_primes(void)
{
    enum { SMALL = 60, LARGE = 4 };
    static const uint64_t large[LARGE] = {UINT64_C(18446744073709551557),
                                          UINT64_C(18446744073709551559), UINT64_C(4294967291),
                                          UINT64_C(3215031751)};
    static const unsigned char are_prime[LARGE] = {1, 0, 1, 0};
    uint64_t *in = make_memory((SMALL + LARGE) * 8);
    unsigned char *out = make_memory(SMALL + LARGE);
    int n = SMALL + LARGE;

    for (size_t i = 0; i < (size_t)n; i++)
        in[i] = i < SMALL ? 1001 + 2 * i : large[i - SMALL];
    LAUNCH("find_primes", line_over(SMALL + LARGE, 27), VALUE(in), VALUE(out), VALUE(n));
    for (size_t i = 0; i < SMALL; i++) {
        bool prime = true;

        for (uint64_t by = 2; by * by <= in[i]; by++)
            prime &= in[i] % by != 0;
        SAME(i, out[i], prime);
    }
    for (size_t i = 0; i < LARGE; i++)
        SAME(SMALL + i, out[SMALL + i], are_prime[i]);
}

static void check_find_divisors(void)
{
    int64_t *in = make_memory(2 * COUNT * 8), *out = make_memory(COUNT * 8);
    int n = COUNT;

    for (size_t i = 0; i < COUNT; i++) {
        int64_t factor = (int64_t)below(1000) + 1;

        in[2 * i] = factor * ((int64_t)below(1u << 30) - (1 << 29));
        in[2 * i + 1] = factor * ((int64_t)below(1u << 30) - (1 << 29));
    }
    LAUNCH("find_divisors", line_over(COUNT, 64), VALUE(in), VALUE(out), VALUE(n));
    for (size_t i = 0; i < COUNT; i++) {
        int64_t a = in[2 * i], b = in[2 * i + 1];

        while (b != 0) {
            int64_t rest = a % b;

            a = b;
            b = rest;
        }
        SAME(i, out[i], a < 0 ? -a : a);
    }
}

static const kernel_case cases[] = {
    {"multiply_wide", check_multiply_wide}, {"divide_wide", check_divide_wide},
    {"shift_wide", check_shift_wide},       {"add_long", check_add_long},
    {"multiply_long", check_multiply_long}, {"find_primes", check_find_primes},
    {"find_divisors", check_find_divisors},
};
KERNEL_GROUP(wide, cases);
