#include "run.h"

#include <string.h>

enum { COUNT = 101 };

static void check_look_up(void)
{
    static const float start[17] = {0, 1.5f, -2, 3.25f};
    float *in = make_memory(COUNT * 4), *out = make_memory(COUNT * 4), *table;
    int n = COUNT;

    table = find_variable("table");
    SAME(0, memcmp(table, start, sizeof start), 0);
    for (int i = 4; i < 17; i++)
        table[i] = (float)i * 0.5f;
    for (int i = 0; i < n; i++)
        in[i] = (float)below(128) / 8;
    LAUNCH("look_up", line_over(COUNT, 40), VALUE(in), VALUE(out), VALUE(n));
    for (int i = 0; i < n; i++) {
        int at = (int)in[i];
        float part = in[i] - (float)at;

        NEAR((size_t)i, out[i], table[at] * (1 - part) + table[at + 1] * part, 0);
    }
}

static void check_use_variables(void)
{
    enum { N = 41 };
    static const int rows[3][4] = {{1}, {2, 3}, {4, 5, 6, 7}};
    int32_t *out = make_memory(N * 4);

    LAUNCH("use_variables", line_over(N, N), VALUE(out));
    for (int i = 0; i < N; i++)
        SAME((size_t)i, out[i], (i % 2 ? 7 : 3) * 100 + rows[i % 3][i % 4]);
    SAME(0, *(int32_t *)find_variable("counter"), 5 + N);
    SAME(0, *(int32_t *)find_variable("shared_with_host"), 41);
}

static void check_share_pieces(void)
{
    enum { N = 75 };
    double *in = make_memory(N * 8);
    int32_t *out = make_memory(N * 4), n = N;
    kernel_shape shape = line_over(45, 45);

    for (int i = 0; i < N; i++)
        in[i] = (int)below(200) - 100;
    shape.shared_bytes = N * 13;
    LAUNCH("share_pieces", shape, VALUE(in), VALUE(out), VALUE(n));
    for (int i = 0; i < N; i++) {
        int k = (i * 7 + 1) % N;

        SAME((size_t)i, out[i],
             (int)(in[k] * 2 - (int)in[N - 1 - i]) + (in[k] < 0 ? 1000 : 0));
    }
}

/* Right only where lanes run together. */
static void check_add_without_sync(void)
{
    int32_t *in = make_ints(64), *out = make_memory(4), sum = 0;

    if (kernels_independent())
        return;
    LAUNCH("add_without_sync", line_over(32, 32), VALUE(in), VALUE(out));
    for (int i = 0; i < 64; i++)
        sum += in[i];
    SAME(0, *out, sum);
}

static void check_use_heap(void)
{
    enum { N = 38 };
    int32_t *out = make_memory(N * 4);

    LAUNCH("use_heap", line_over(N, N), VALUE(out));
    for (int i = 0; i < N; i++) {
        int sum = 0;

        for (int k = i % 4; k >= 0; k--)
            sum = sum * 2 + k * 10 + i;
        SAME((size_t)i, out[i], sum + i % 5);
    }
}

static void check_copy_pieces(void)
{
    enum { N = 50, ROOM = 37 };
    char *in = make_memory(N * ROOM), *out = make_memory(N * ROOM), expected[ROOM];
    int room = ROOM;

    for (int i = 0; i < N * ROOM; i++)
        in[i] = (char)below(256);
    LAUNCH("copy_pieces", line_over(N, N), VALUE(in), VALUE(out), VALUE(room));
    for (int i = 0; i < N; i++) {
        const char *from = in + i * ROOM;

        memset(expected, 0x5a, ROOM);
        memcpy(expected + i % 3, from, (size_t)(i % (ROOM - 3)));
        for (int k = 1; k < 24; k += 2)
            expected[ROOM - 1] = (char)(expected[ROOM - 1] + from[k * 5 % 24]);
        SAME((size_t)i, memcmp(out + i * ROOM, expected, ROOM), 0);
    }
}

static void check_read_anywhere(void)
{
    enum { N = 40 };
    int32_t *in = make_ints(N), *out = make_memory(N * 4);

    LAUNCH("read_anywhere", line_over(N, N), VALUE(in), VALUE(out));
    for (int i = 0; i < N; i++) {
        uint32_t sum = 0;

        for (int k = 0; k < 4; k++) {
            const int values[] = {in[i % 8 + k], in[i % 16 + k] + 1, in[(i * 5 + k) % N] * 2,
                                  9 - k};

            sum = sum * 3 + (uint32_t)values[i % 4];
        }
        SAME((size_t)i, (uint32_t)out[i], sum);
    }
}

static void check_overlay(void)
{
    uint32_t *in = make_words(COUNT), *out = make_memory(COUNT * 4);
    int n = COUNT;

    LAUNCH("overlay", line_over(COUNT, 27), VALUE(in), VALUE(out), VALUE(n));
    for (int i = 0; i < n; i++) {
        uint32_t word = in[i] ^ 0x81u << (8 * (i % 4));
        int shift = 16 * ((i + 1) % 2);
        uint32_t half = (uint16_t)((int16_t)(word >> shift) >> 3);

        SAME((size_t)i, out[i], (word & ~(0xffffu << shift)) | half << shift);
    }
}

typedef struct packed {
    unsigned first : 5;
    int second : 11;
    unsigned third : 16;
    long long fourth : 37;
} packed;

static void check_pack_bits(void)
{
    packed *all = make_memory(COUNT * sizeof *all), *old;
    int n = COUNT;

    for (int i = 0; i < n; i++) {
        all[i].first = below(32) & 31;
        all[i].second = (int)below(2000) - 1000;
        all[i].third = below(65536) & 65535;
        all[i].fourth = (long long)below(UINT32_MAX) - 1000000000;
    }
    old = copy_memory(all, COUNT * sizeof *all);
    LAUNCH("pack_bits", line_over(COUNT, 60), VALUE(all), VALUE(n));
    for (int i = 0; i < n; i++) {
        unsigned first = (old[i].first + 7u) % 32;
        int second = -old[i].second;

        SAME((size_t)i, all[i].first, first);
        SAME((size_t)i, all[i].second, second);
        SAME((size_t)i, all[i].third, (old[i].third ^ first << 9) & 0xffff);
        SAME((size_t)i, all[i].fourth, old[i].fourth + second * 1048576LL);
    }
}

static const kernel_case cases[] = {
    {"look_up", check_look_up},
    {"use_variables", check_use_variables},
    {"share_pieces", check_share_pieces},
    {"add_without_sync", check_add_without_sync},
    {"use_heap", check_use_heap},
    {"copy_pieces", check_copy_pieces},
    {"read_anywhere", check_read_anywhere},
    {"overlay", check_overlay},
    {"pack_bits", check_pack_bits},
};
KERNEL_GROUP(memory, cases);
