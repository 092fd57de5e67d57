#include "run.h"

#include "../exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 203 };

static unsigned char *make_bytes(size_t count)
{
    unsigned char *bytes = make_memory(count);

    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)below(256);
    return bytes;
}

static void check_count_bytes(void)
{
    int8_t *a = (int8_t *)make_bytes(COUNT), *sum = make_memory(COUNT);
    uint8_t *b = make_bytes(COUNT), *product = make_memory(COUNT);
    int16_t *both = make_memory(COUNT * 2);
    int n = COUNT;

    LAUNCH("count_bytes", line_over(COUNT, 90), VALUE(a), VALUE(b), VALUE(sum), VALUE(product),
           VALUE(both), VALUE(n));
    for (size_t i = 0; i < COUNT; i++) {
        SAME(i, sum[i], (int8_t)(a[i] + b[i]));
        SAME(i, product[i], (uint8_t)(a[i] * b[i]));
        SAME(i, both[i], (int16_t)((int16_t)(a[i] * b[i]) >> (b[i] & 7)));
    }
}

static void check_dot_bytes(void)
{
    uint8_t *a = make_bytes(4 * COUNT), *b = make_bytes(4 * COUNT);
    int32_t *out = make_memory(COUNT * 4), n = COUNT;
    uint32_t *unsigned_out = make_memory(COUNT * 4);

    LAUNCH("dot_bytes", line_over(COUNT, 66), VALUE(a), VALUE(b), VALUE(out), VALUE(unsigned_out),
           VALUE(n));
    for (int i = 0; i < n; i++) {
        int32_t sum = i;
        uint32_t unsigned_sum = 7;

        for (int k = 4 * i; k < 4 * i + 4; k++) {
            sum += (int8_t)a[k] * (int8_t)b[k];
            unsigned_sum += (uint32_t)a[k] * b[k];
        }
        SAME((size_t)i, out[i], sum);
        SAME((size_t)i, unsigned_out[i], unsigned_sum);
    }
}

static uint64_t half_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return exact_convert(&F16, &F64, RN, bits);
}

static void check_add_halves(void)
{
    uint16_t *in = make_memory(COUNT * 2), *out = make_memory(COUNT * 2);
    float *wide = make_memory(COUNT * 4);
    int n = COUNT;

    for (int i = 0; i < n; i++)
        in[i] = (uint16_t)half_of((int)below(2001) / 100.0 - 10);
    LAUNCH("add_halves", line_over(COUNT, 33), VALUE(in), VALUE(out), VALUE(wide), VALUE(n));
    for (int i = 0; i < n; i++) {
        uint64_t value = half_of(0.5);

        for (int k = 0; k < 3; k++)
            value = exact_fma(&F16, RN, value, in[i], half_of(k * 0.25));
        SAME((size_t)i, out[i], value);
        NEAR((size_t)i, wide[i], exact_value(&F16, value) - exact_value(&F16, in[i]), 1e-6);
    }
}

static void check_pair_halves(void)
{
    uint16_t *a = make_memory(COUNT * 4), *b = make_memory(COUNT * 4);
    uint32_t *sum = make_memory(COUNT * 4), *compared = make_memory(COUNT * 4);
    int n = COUNT;

    for (int i = 0; i < 2 * n; i++) {
        a[i] = (uint16_t)half_of((int)below(100) - 50);
        b[i] = (uint16_t)half_of(((int)below(100) - 50) / 7.0);
    }
    LAUNCH("pair_halves", line_over(COUNT, 96), VALUE(a), VALUE(b), VALUE(sum), VALUE(compared),
           VALUE(n));
    for (size_t i = 0; i < COUNT; i++) {
        uint64_t low = exact_add(&F16, RN, a[2 * i], b[2 * i]);
        uint64_t high = exact_add(&F16, RN, a[2 * i + 1], b[2 * i + 1]);

        SAME(i, sum[i], low | high << 16);
        SAME(i, compared[i],
             (exact_compare(&F16, a[2 * i], b[2 * i]) == 1) +
                 2 * (exact_compare(&F16, a[2 * i + 1], b[2 * i + 1]) == 1));
    }
}

static void check_add_brains(void)
{
    enum { N = 45, EACH = 8 };
    uint16_t *in = make_memory(N * EACH * 2);
    float *sums = make_memory(N * 4);
    int n = N, each = EACH;

    for (int i = 0; i < N * EACH; i++) {
        float value = (float)((int)below(256) - 128);
        uint32_t bits;

        memcpy(&bits, &value, sizeof bits);
        in[i] = (uint16_t)(bits >> 16);
    }
    LAUNCH("add_brains", line_over(N, 20), VALUE(in), VALUE(sums), VALUE(n), VALUE(each));
    for (int i = 0; i < N; i++) {
        double sum = 0;

        for (int k = 0; k < EACH; k++)
            sum += exact_value(&BF16, in[i * EACH + k]);
        NEAR((size_t)i, sums[i], sum, 0);
    }
}

static void check_convert(void)
{
    double *in = make_memory(COUNT * 8), *back = make_memory(COUNT * 8);
    int8_t *c = make_memory(COUNT);
    int16_t *s = make_memory(COUNT * 2);
    int32_t *i32 = make_memory(COUNT * 4), n = COUNT;
    int64_t *l = make_memory(COUNT * 8);
    uint32_t *u = make_memory(COUNT * 4);
    uint64_t *ul = make_memory(COUNT * 8);
    float *f = make_memory(COUNT * 4);

    for (int i = 0; i < n; i++)
        in[i] = ((int)below(200001) - 100000) / 7.0 * (double)(1 + below(500));
    LAUNCH("convert", line_over(COUNT, 50), VALUE(in), VALUE(c), VALUE(s), VALUE(i32), VALUE(l),
           VALUE(u), VALUE(ul), VALUE(f), VALUE(back), VALUE(n));
    for (size_t i = 0; i < COUNT; i++) {
        SAME(i, i32[i], (int32_t)in[i]);
        SAME(i, c[i], (int8_t)(int32_t)in[i]);
        SAME(i, s[i], (int16_t)(int32_t)in[i]);
        SAME(i, l[i], (int64_t)(in[i] * 1e9));
        SAME(i, u[i], (uint32_t)fabs(in[i]));
        SAME(i, ul[i], (uint64_t)(fabs(in[i]) * 1e12));
        NEAR(i, f[i], (float)in[i], 0);
        NEAR(i, back[i],
             (double)l[i] + (double)ul[i] + (double)(float)c[i] + (double)(float)u[i], 1e-7);
    }
}

static void check_round_all(void)
{
    float *in = make_floats(COUNT);
    int32_t *out = make_memory(6 * COUNT * 4), n = COUNT;

    LAUNCH("round_all", line_over(COUNT, 48), VALUE(in), VALUE(out), VALUE(n));
    for (size_t i = 0; i < COUNT; i++) {
        SAME(i, out[6 * i], (int)nearbyintf(in[i]));
        SAME(i, out[6 * i + 1], (int)in[i]);
        SAME(i, out[6 * i + 2], (int)ceilf(in[i]));
        SAME(i, out[6 * i + 3], (int)floorf(in[i]));
        SAME(i, out[6 * i + 4], (int)roundf(in[i]));
        SAME(i, out[6 * i + 5], (int)nearbyintf(in[i] * 0.5f));
    }
}

static uint32_t bits_of(uint32_t x, uint32_t y, int i)
{
    uint64_t both = (uint64_t)y << 32 | x, bytes[8];
    uint32_t reversed = 0, result, differences = 0;

    for (int k = 0; k < 8; k++)
        bytes[k] = both >> 8 * k & 255;
    for (int k = 0; k < 32; k++)
        reversed |= (x >> k & 1) << (31 - k);
    for (int k = 0; k < 4; k++) {
        uint64_t one = bytes[k], other = bytes[k + 4];

        differences |= (uint32_t)(one < other ? other - one : one - other) << 8 * k;
    }
    result = (uint32_t)__builtin_popcount(x) + 100 * (y ? (uint32_t)__builtin_clz(y) : 32) +
             10000 * (uint32_t)__builtin_ffs((int)(x & y));
    result += reversed ^ (uint32_t)(both << i % 32 >> 32);
    result += (uint32_t)(bytes[5] | bytes[0] << 8 | bytes[7] << 16 | bytes[2] << 24);
    result += (uint32_t)llabs((long long)(int32_t)x - (int32_t)y) + 3;
    result += (x & 0xffffff) * (y & 0xffffff);
    result += (uint32_t)(((int64_t)(int32_t)x * (int32_t)y) >> 32);
    return result + (uint32_t)(((uint64_t)x + y) / 2) + differences;
}

static void check_look_at_bits(void)
{
    uint32_t *in = make_words(COUNT), *out = make_memory(COUNT * 4);
    int n = COUNT;

    in[5] = 0;
    LAUNCH("look_at_bits", line_over(COUNT, 100), VALUE(in), VALUE(out), VALUE(n));
    for (int i = 0; i < n; i++)
        SAME((size_t)i, out[i], bits_of(in[i], in[(i + 1) % n], i));
}

static const kernel_case cases[] = {
    {"count_bytes", check_count_bytes}, {"dot_bytes", check_dot_bytes},
    {"add_halves", check_add_halves},   {"pair_halves", check_pair_halves},
    {"add_brains", check_add_brains},   {"convert", check_convert},
    {"round_all", check_round_all},     {"look_at_bits", check_look_at_bits},
};
KERNEL_GROUP(types, cases);
