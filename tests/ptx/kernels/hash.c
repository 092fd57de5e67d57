#include "run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- SHA-256: its constants are roots of primes ---- */

static uint32_t sha_rounds[64];

static void find_rounds(void)
{
    int count = 0;

    for (uint32_t prime = 2; count < 64; prime++) {
        bool divided = false;
        long double root;

        for (uint32_t by = 2; by * by <= prime; by++)
            divided |= prime % by == 0;
        if (divided)
            continue;
        root = cbrtl((long double)prime);
        sha_rounds[count++] = (uint32_t)((root - floorl(root)) * 4294967296.0L);
    }
}

static void check_sha256(void)
{
    static const char *const words[] = {"abc", "", "ctxrt", "the quick brown fox", "abc"};
    /* As FIPS 180-4 and any sha256sum have it: of abc and of nothing. */
    static const uint32_t of_abc[] = {0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223,
                                      0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad};
    static const uint32_t of_nothing[] = {0xe3b0c442, 0x98fc1c14, 0x9afbf4c8, 0x996fb924,
                                          0x27ae41e4, 0x649b934c, 0xa495991b, 0x7852b855};
    enum { N = 43 };
    unsigned char *in = make_memory(N * 64);
    uint32_t *out = make_memory(N * 32);
    int n = N;

    find_rounds();
    memcpy(find_variable("sha256_round"), sha_rounds, sizeof sha_rounds);
    for (size_t i = 0; i < N; i++) {
        size_t length = strlen(words[i % 5]);

        memcpy(in + 64 * i, words[i % 5], length);
        in[64 * i + length] = 0x80;
        in[64 * i + 63] = (unsigned char)(length * 8);
    }
    LAUNCH("sha256", line_over(N, 20), VALUE(in), VALUE(out), VALUE(n));
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < 8; k++) {
            if (i % 5 == 0 || i % 5 == 4)
                SAME(i, out[8 * i + k], of_abc[k]);
            else if (i % 5 == 1)
                SAME(i, out[8 * i + k], of_nothing[k]);
            else
                SAME(i, out[8 * i + k], out[8 * (i % 5) + k]);
        }
}

/* ---- the others ---- */

static void check_xorshift(void)
{
    enum { N = 90 };
    uint64_t *states = make_memory(N * 8), old[N];
    uint32_t *out = make_memory(N * 4);
    int rounds = 20;

    for (size_t i = 0; i < N; i++)
        states[i] = old[i] = UINT64_C(0x123456789abcdef) * (i + 1);
    LAUNCH("xorshift", line_over(N, 45), VALUE(states), VALUE(out), VALUE(rounds));
    for (size_t i = 0; i < N; i++) {
        uint64_t x = old[i];
        uint32_t folded = 0;

        for (size_t k = 0; k < 20 + i % 5; k++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            folded = (folded >> 5 | folded << 27) + (uint32_t)(x >> 32);
        }
        SAME(i, states[i], x);
        SAME(i, out[i], folded);
    }
}

static uint32_t crc_of(const unsigned char *from, int count)
{
    uint32_t value = UINT32_MAX;

    for (int i = 0; i < count * 8; i++) {
        uint32_t bit = (value ^ from[i / 8] >> i % 8) & 1;

        value = value >> 1 ^ (bit ? 0xedb88320 : 0);
    }
    return ~value;
}

static void check_crc32(void)
{
    enum { N = 37 };
    int32_t *starts = make_memory((N + 1) * 4), n = N;
    uint32_t *out = make_memory(N * 4);
    unsigned char *in;

    for (int i = 0; i < n; i++)
        starts[i + 1] = starts[i] + (int32_t)below(70);
    in = make_memory((size_t)starts[n]);
    for (int i = 0; i < starts[n]; i++)
        in[i] = (unsigned char)below(256);
    memcpy(in, "123456789", 9);
    launch("fill_crc_table", line_over(256, 256), NULL, 0);
    LAUNCH("crc32", line_over(N, 16), VALUE(in), VALUE(starts), VALUE(out), VALUE(n));
    SAME(0, crc_of((const unsigned char *)"123456789", 9), 0xcbf43926);
    for (int i = 0; i < n; i++)
        SAME((size_t)i, out[i], crc_of(in + starts[i], starts[i + 1] - starts[i]));
}

static void check_fnv(void)
{
    enum { N = 50 };
    char **strings = make_memory(N * sizeof *strings);
    uint64_t *out = make_memory(N * 8);
    int n = N;

    for (int i = 0; i < n; i++) {
        strings[i] = make_memory(40);
        snprintf(strings[i], 40, "%.*s%d", i % 20, "abcdefghijklmnopqrst", i * 7919);
    }
    LAUNCH("fnv", line_over(N, 32), VALUE(strings), VALUE(out), VALUE(n));
    for (int i = 0; i < n; i++) {
        uint64_t value = UINT64_C(14695981039346656037);

        for (const char *at = strings[i]; *at; at++)
            value = (value ^ (unsigned char)*at) * UINT64_C(1099511628211);
        SAME((size_t)i, out[i], value);
    }
}

static void check_count_keys(void)
{
    enum { N = 700, SLOTS = 256 };
    uint32_t *keys = make_memory(N * 4), *slots = make_memory(SLOTS * 4);
    uint32_t *counts = make_memory(SLOTS * 4), mask = SLOTS - 1, expected[128] = {0}, found = 0;
    int n = N;

    for (int i = 0; i < n; i++) {
        keys[i] = 1 + below(120);
        expected[keys[i]]++;
        keys[i] *= 65537;
    }
    LAUNCH("count_keys", line_over(300, 75), VALUE(keys), VALUE(n), VALUE(slots), VALUE(counts),
           VALUE(mask));
    for (size_t i = 0; i < SLOTS; i++) {
        SAME(i, counts[i], slots[i] ? expected[slots[i] / 65537] : 0);
        found += counts[i];
    }
    SAME(0, found, N);
}

static uint64_t mixed(uint64_t x)
{
    static const unsigned char table[] = {0x78, 0x56, 0x34, 0x12};
    uint64_t reversed = 0, bytes = 0;

    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    for (int i = 0; i < 64; i++)
        reversed |= (x >> i & 1) << (63 - i);
    bytes = table[1] | (x >> 8 & 255) << 8 | (uint64_t)table[3] << 16 | (x >> 24 & 255) << 24;
    return (uint64_t)(((unsigned __int128)x * UINT64_C(0x9e3779b97f4a7c15)) >> 64) ^ reversed ^
           bytes;
}

static void check_mix(void)
{
    enum { N = 77 };
    uint64_t *values = make_memory(N * 8), old[N];
    int n = N;

    for (size_t i = 0; i < N; i++)
        values[i] = old[i] = i * i * i;
    LAUNCH("mix", line_over(N, 25), VALUE(values), VALUE(n));
    for (size_t i = 0; i < N; i++)
        SAME(i, values[i], mixed(old[i]));
}

static const kernel_case cases[] = {
    {"sha256", check_sha256}, {"xorshift", check_xorshift},     {"crc32", check_crc32},
    {"fnv", check_fnv},       {"count_keys", check_count_keys}, {"mix", check_mix},
};
KERNEL_GROUP(hash, cases);
