#include "run.h"

#include <string.h>

enum { COUNT = 157 };

static void check_change_words(void)
{
    uint32_t *in = make_words(COUNT), *words = make_memory(9 * 4);
    uint32_t expected[9] = {0, 0, UINT32_MAX, 0, UINT32_MAX, 0, 0, 5, 7};
    int32_t *numbers = make_memory(3 * 4), least = INT32_MAX, most = INT32_MIN, sum = 0, n = COUNT;

    memcpy(words, expected, sizeof expected);
    numbers[0] = least;
    numbers[1] = most;
    LAUNCH("change_words", line_over(COUNT, 45), VALUE(in), VALUE(words), VALUE(numbers), VALUE(n));
    for (size_t i = 0; i < COUNT; i++) {
        uint32_t value = in[i];

        expected[0] += value;
        expected[1] -= value;
        expected[2] = value < expected[2] ? value : expected[2];
        expected[3] = value > expected[3] ? value : expected[3];
        expected[4] &= value | 0xff00ff;
        expected[5] |= value & 0xf0f0f0;
        expected[6] ^= value;
        expected[7] = expected[7] >= 36 ? 0 : expected[7] + 1;
        expected[8] = expected[8] == 0 || expected[8] > 40 ? 40 : expected[8] - 1;
        least = (int32_t)value < least ? (int32_t)value : least;
        most = (int32_t)value > most ? (int32_t)value : most;
        sum -= (int32_t)(value % 100);
    }
    for (size_t i = 0; i < 9; i++)
        SAME(i, words[i], expected[i]);
    SAME(0, numbers[0], least);
    SAME(1, numbers[1], most);
    SAME(2, numbers[2], sum);
}

static void check_change_long_words(void)
{
    uint64_t *in = (uint64_t *)(void *)make_words(2 * COUNT), *words = make_memory(6 * 8);
    uint64_t expected[6] = {0, UINT64_MAX, 0, UINT64_MAX, 0, 0};
    int64_t *numbers = make_memory(2 * 8), least = INT64_MAX, most = INT64_MIN;
    int n = COUNT;

    memcpy(words, expected, sizeof expected);
    numbers[0] = least;
    numbers[1] = most;
    LAUNCH("change_long_words", line_over(COUNT, 33), VALUE(in), VALUE(words), VALUE(numbers),
           VALUE(n));
    for (size_t i = 0; i < COUNT; i++) {
        uint64_t value = in[i];

        expected[0] += value;
        expected[1] = value < expected[1] ? value : expected[1];
        expected[2] = value > expected[2] ? value : expected[2];
        expected[3] &= value | UINT64_C(0xff00ff00ff00ff);
        expected[4] |= value & UINT64_C(0xf0f0f0f0f0f0);
        expected[5] ^= value;
        least = (int64_t)value < least ? (int64_t)value : least;
        most = (int64_t)value > most ? (int64_t)value : most;
    }
    for (size_t i = 0; i < 6; i++)
        SAME(i, words[i], expected[i]);
    SAME(0, numbers[0], least);
    SAME(1, numbers[1], most);
}

static void check_add_floats(void)
{
    int32_t *in = make_ints(COUNT), n = COUNT, expected = 0;
    float *sum = make_memory(4);
    double *double_sum = make_memory(8);

    LAUNCH("add_floats", line_over(COUNT, 50), VALUE(in), VALUE(sum), VALUE(double_sum), VALUE(n));
    for (int i = 0; i < n; i++)
        expected += in[i];
    NEAR(0, *sum, expected, 0);
    NEAR(0, *double_sum, expected * 0.5, 0);
}

static void check_find_largest_product(void)
{
    int32_t *ints = make_ints(COUNT), n = COUNT;
    double *in = make_memory(COUNT * 8), *best = make_memory(8), expected = 0;

    for (int i = 0; i < n; i++)
        in[i] = ints[i] / 8.0;
    LAUNCH("find_largest_product", line_over(100, 35), VALUE(in), VALUE(best), VALUE(n));
    for (int i = 0; i + 1 < n; i++)
        expected = in[i] * in[i + 1] > expected ? in[i] * in[i + 1] : expected;
    NEAR(0, *best, expected, 0);
}

/* Each thread is in the list once. */
static void check_once(const int32_t *order, int count)
{
    bool seen[256] = {false};

    for (int i = 0; i < count; i++) {
        SAME((size_t)i, order[i] >= 0 && order[i] < count && !seen[order[i]], true);
        seen[order[i]] = true;
    }
}

static void check_take_turns(void)
{
    enum { N = 3 * 37 };
    int32_t *guarded = make_memory(4), *order = make_memory(N * 4);

    LAUNCH("take_turns", line_over(N, 37), VALUE(guarded), VALUE(order));
    SAME(0, *guarded, N);
    check_once(order, N);
}

static void check_wait_in_loop(void)
{
    int32_t *lock = make_memory(4), *sum = make_memory(4);

    LAUNCH("wait_in_loop", line_over(90, 45), VALUE(lock), VALUE(sum));
    SAME(0, *sum, 2 * 45 * 46 / 2);
}

static void check_serve_tickets(void)
{
    enum { N = 70 };
    uint32_t *next = make_memory(4), *serving = make_memory(4);
    int32_t *order = make_memory(N * 4);

    LAUNCH("serve_tickets", line_over(N, N), VALUE(next), VALUE(serving), VALUE(order));
    SAME(0, *serving, N);
    check_once(order, N);
}

static void check_pass_through_queue(void)
{
    enum { N = 45 };
    int32_t *ring = make_memory(N * 4), *taken = make_memory(N * 4);
    uint32_t *ends = make_memory(8);
    int64_t sum = 0;

    LAUNCH("pass_through_queue", line_over(2 * N, 2 * N), VALUE(ring), VALUE(ends), VALUE(taken));
    for (int i = 0; i < N; i++)
        sum += taken[i] - (i * i + 1);
    SAME(0, sum, 0);
    SAME(0, ends[0], N);
    SAME(1, ends[1], N);
}

static void check_change_scoped(void)
{
    enum { N = 77 };
    uint32_t *words = make_memory(12);
    uint16_t *half = make_memory(4);

    half[1] = 0xabcd;
    LAUNCH("change_scoped", line_over(N, N), VALUE(words), VALUE(half));
    SAME(0, words[0], 2 * N);
    SAME(1, words[1], N - 1);
    SAME(2, words[2], UINT32_MAX);
    SAME(3, half[0], 3 * N);
    SAME(4, half[1], 0xabcd);
}

static const kernel_case cases[] = {
    {"change_words", check_change_words},
    {"change_long_words", check_change_long_words},
    {"add_floats", check_add_floats},
    {"find_largest_product", check_find_largest_product},
    {"take_turns", check_take_turns},
    {"wait_in_loop", check_wait_in_loop},
    {"serve_tickets", check_serve_tickets},
    {"pass_through_queue", check_pass_through_queue},
    {"change_scoped", check_change_scoped},
};
KERNEL_GROUP(atomics, cases);
