#include "run.h"

#include <string.h>

typedef struct point {
    int16_t x;
    double y;
    char tag[5];
} point;

static point turn(point from, int by)
{
    point to = from;

    to.x = (int16_t)(from.x * by);
    to.y = from.y - from.x;
    for (int i = 0; i < 5; i++)
        to.tag[i] = from.tag[(i + by) % 5];
    return to;
}

static void check_pass_structures(void)
{
    enum { N = 75 };
    point *all = make_memory(N * sizeof *all), extra = {7, 0.5, "abcd"}, *old;
    int n = N;

    for (int i = 0; i < n; i++) {
        all[i].x = (int16_t)below(65536);
        all[i].y = below(1000) / 8.0;
        memcpy(all[i].tag, "vwxyz", 5);
    }
    old = copy_memory(all, N * sizeof *all);
    LAUNCH("pass_structures", line_over(N, 20), VALUE(all), VALUE(extra), VALUE(n));
    for (int i = 0; i < n; i++) {
        point expected = turn(old[i], i);

        SAME((size_t)i, all[i].x, expected.x);
        NEAR((size_t)i, all[i].y, expected.y + 0.5 - 7, 0);
        SAME((size_t)i, memcmp(all[i].tag, expected.tag, 5), 0);
    }
}

static uint32_t ackermann(uint32_t m, uint32_t n)
{
    if (m == 0)
        return n + 1;
    return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

static void check_recurse(void)
{
    enum { N = 50 };
    static const uint32_t numbers[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55};
    uint32_t *out = make_memory(N * 8);

    LAUNCH("recurse", line_over(N, N), VALUE(out));
    for (uint32_t i = 0; i < N; i++) {
        SAME(i, out[2 * i], numbers[i % 11]);
        SAME(i, out[2 * i + 1], ackermann(i % 3, i % 4));
    }
}

/* Each move is allowed, and at the end all disks are where they should be. */
static void check_hanoi(void)
{
    enum { N = 37, ROOM = 31 };
    int32_t *moves = make_memory(N * ROOM * 4), *counts = make_memory(N * 4), room = ROOM;

    LAUNCH("hanoi", line_over(N, N), VALUE(moves), VALUE(counts), VALUE(room));
    for (int i = 0; i < N; i++) {
        int disks = 1 + i % 5, place[8] = {0};

        SAME((size_t)i, counts[i], (1 << disks) - 1);
        for (int k = 0; k < counts[i]; k++) {
            int move = moves[i * ROOM + k], disk = move / 100;

            SAME((size_t)k, place[disk], move / 10 % 10);
            for (int smaller = 1; smaller < disk; smaller++)
                SAME((size_t)k, place[smaller], 3 - move / 10 % 10 - move % 10);
            place[disk] = move % 10;
        }
        for (int disk = 1; disk <= disks; disk++)
            SAME((size_t)i, place[disk], 2);
    }
}

static void check_call_by_address(void)
{
    enum { N = 90, LENGTH = 9 };
    unsigned char *codes = make_memory(N * LENGTH);
    int32_t *out = make_memory(N * 4), length = LENGTH;

    for (int i = 0; i < N * LENGTH; i++)
        codes[i] = (unsigned char)(i / LENGTH < 32 ? i % LENGTH * 13 : (int)below(256));
    LAUNCH("call_by_address", line_over(N, 45), VALUE(codes), VALUE(out), VALUE(length));
    for (int i = 0; i < N; i++) {
        uint32_t value = (uint32_t)i;

        for (int k = 0; k < LENGTH; k++) {
            uint32_t code = codes[i * LENGTH + k], b = code >> 2;

            value = (code & 3) == 0   ? value + b
                    : (code & 3) == 1 ? value - b
                    : (code & 3) == 2 ? value * b
                                      : value;
        }
        SAME((size_t)i, (uint32_t)out[i], value);
    }
}

static int described(int i, int which)
{
    int flat = i % 7, wide = i % 5;

    if (which == 0)
        return i ? 1 : 0;
    return which == 1 ? flat * flat * 10 + 4 : (2 * wide * wide + 4 * wide * (i % 3)) * 10 + 4;
}

static void check_call_virtually(void)
{
    enum { N = 101 };
    int32_t *out = make_memory(N * 4), n = N;

    LAUNCH("call_virtually", line_over(N, 60), VALUE(out), VALUE(n));
    for (int i = 0; i < n; i++)
        SAME((size_t)i, out[i], described(i, i % 3) - described(i, (i + 1) % 3));
}

static int machine(const unsigned char *code, int length, int thread)
{
    uint32_t stack[8], a = (uint32_t)thread;
    int top = 0;

    for (int at = 0; at < length; at++) {
        int what = code[(at + thread * 3) % length] % 11;

        if (what == 0)
            a += 3;
        else if (what == 1)
            a *= 7;
        else if (what == 4)
            a -= top > 0 ? stack[--top] : 0;
        else if (what == 5)
            a >>= 3;
        else if (what == 6)
            at += a & 1;
        else if (what == 7)
            a = 0 - a;
        else if (what == 8)
            a = top > 1 ? stack[top - 2] : 99;
        else if (what > 8)
            a++;
        if (what == 2)
            a ^= (uint32_t)at;
        if ((what == 2 || what == 3) && top < 8)
            stack[top++] = a;
    }
    return (int)(a * 10 + (uint32_t)top);
}

static void check_run_machine(void)
{
    enum { LENGTH = 120, THREADS = 77 };
    unsigned char *code = make_memory(LENGTH);
    int32_t *out = make_memory(THREADS * 4), length = LENGTH;

    for (int i = 0; i < LENGTH; i++)
        code[i] = (unsigned char)below(256);
    LAUNCH("run_machine", line_over(THREADS, THREADS), VALUE(code), VALUE(length), VALUE(out));
    for (int i = 0; i < THREADS; i++)
        SAME((size_t)i, out[i], machine(code, LENGTH, i));
}

static void check_take_parameters(void)
{
    struct {
        char letter;
        int64_t number;
        float scale[3];
        unsigned char last;
    } g = {'x', -5000000000, {0.5f, 1.5f, 2.5f}, 250};
    int8_t a = -3;
    int16_t b = 12345;
    int32_t c = -7;
    int64_t d = 1000000;
    float e = 0.25f;
    double f = 1e-3, *out = make_memory(6 * 8);
    unsigned char h = 1;

    LAUNCH("take_parameters", line_over(6, 6), VALUE(a), VALUE(b), VALUE(c), VALUE(d), VALUE(e),
           VALUE(f), VALUE(g), VALUE(h), VALUE(out));
    for (size_t i = 0; i < 6; i++)
        NEAR(i, out[i],
             a + b + c + (double)d + e + f + g.letter + (double)g.number + (double)g.scale[i % 3] +
                 g.last + 1000,
             1e-12);
}

static const kernel_case cases[] = {
    {"pass_structures", check_pass_structures}, {"recurse", check_recurse},
    {"hanoi", check_hanoi},                     {"call_by_address", check_call_by_address},
    {"call_virtually", check_call_virtually},   {"run_machine", check_run_machine},
    {"take_parameters", check_take_parameters},
};
KERNEL_GROUP(calls, cases);
