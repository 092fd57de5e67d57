#include "run.h"

enum { COUNT = 1003 };

static void check_scan_warps(void)
{
    enum { THREADS = 160, ALL = 5 * THREADS };
    int32_t *in = make_ints(ALL), *out = make_memory(ALL * 4), sum = 0;

    LAUNCH("scan_warps", line_over(ALL, THREADS), VALUE(in), VALUE(out));
    for (size_t i = 0; i < ALL; i++) {
        sum = (i % THREADS ? sum : 0) + in[i];
        SAME(i, out[i], sum);
    }
}

static void check_scan_tree(void)
{
    enum { N = 128 };
    uint32_t *in = make_words(N), *out = make_memory(N * 4), sum = 0;
    kernel_shape shape = line_over(N / 2, N / 2);
    int n = N;

    shape.shared_bytes = N * 4;
    LAUNCH("scan_tree", shape, VALUE(in), VALUE(out), VALUE(n));
    for (size_t i = 0; i < N; sum += in[i++])
        SAME(i, out[i], sum);
}

static void check_scan_chained(void)
{
    enum { THREADS = 45 };
    int32_t *in = make_ints(COUNT), *out = make_memory(COUNT * 4), n = COUNT, sum = 0;
    int32_t *sums = make_memory(COUNT * 4), *ready = make_memory(COUNT * 4);

    LAUNCH("scan_chained", line_over(COUNT, THREADS), VALUE(in), VALUE(out), VALUE(sums),
           VALUE(ready), VALUE(n));
    for (int i = 0; i < n; i++) {
        sum += in[i];
        SAME((size_t)i, out[i], sum);
    }
}

/* Warps come in any order; each keeps its own. */
static void check_compact(void)
{
    int32_t *in = make_ints(COUNT), *out = make_memory(COUNT * 4), *count = make_memory(4);
    int32_t n = COUNT, kept = 0;
    int64_t sum = 0;

    if (kernels_independent())
        return;
    LAUNCH("compact", line_over(COUNT, 96), VALUE(in), VALUE(out), VALUE(count), VALUE(n));
    for (int i = 0; i < n; i++)
        if (in[i] > 0) {
            kept++;
            sum += in[i];
        }
    SAME(0, *count, kept);
    for (int i = 0; i < kept; i++)
        sum -= out[i];
    SAME(0, sum, 0);
    for (int i = 0, at = 0; i < 32; i++)
        if (in[i] > 0) {
            bool found = false;

            for (; at < kept && !found; at++)
                found = out[at] == in[i];
            SAME((size_t)i, found, true);
        }
}

static void check_find_runs(void)
{
    unsigned char *in = make_memory(COUNT);
    int32_t *lengths = make_memory(COUNT * 4), n = COUNT;

    for (int i = 0; i < n; i++)
        in[i] = i > 0 && below(4) ? in[i - 1] : (unsigned char)below(3);
    LAUNCH("find_runs", line_over(COUNT, 50), VALUE(in), VALUE(lengths), VALUE(n));
    for (int i = 0, length = 0; i < n; i++) {
        int expected = 0;

        if (i == 0 || in[i] != in[i - 1]) {
            for (length = 1; i + length < n && in[i + length] == in[i];)
                length++;
            expected = length;
        }
        SAME((size_t)i, lengths[i], expected);
    }
}

static const kernel_case cases[] = {
    {"scan_warps", check_scan_warps},
    {"scan_tree", check_scan_tree},
    {"scan_chained", check_scan_chained},
    {"compact", check_compact},
    {"find_runs", check_find_runs},
};
KERNEL_GROUP(scan, cases);
