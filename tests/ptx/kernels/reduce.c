#include "run.h"

#include <string.h>

enum { COUNT = 1003 };

static void check_reduce_shared(void)
{
    enum { THREADS = 77, BLOCKS = (COUNT + THREADS - 1) / THREADS };
    int32_t *in = make_ints(COUNT), *out = make_memory(BLOCKS * 4), n = COUNT, sums[BLOCKS] = {0};
    kernel_shape shape = line_over(COUNT, THREADS);

    shape.shared_bytes = THREADS * 4;
    LAUNCH("reduce_shared", shape, VALUE(in), VALUE(out), VALUE(n));
    for (int i = 0; i < n; i++)
        sums[i / THREADS] += in[i];
    for (size_t i = 0; i < BLOCKS; i++)
        SAME(i, out[i], sums[i]);
}

static void check_reduce_shuffle(void)
{
    int32_t *in = make_ints(COUNT), *out = make_memory(8), n = COUNT, sum = 0;
    uint32_t *done = make_memory(4);

    LAUNCH("reduce_shuffle", line_over(600, 160), VALUE(in), VALUE(out), VALUE(done), VALUE(n));
    for (int i = 0; i < n; i++)
        sum += in[i];
    SAME(0, out[0], sum);
    SAME(0, out[1], sum * 2);
    SAME(0, *done, 0);
}

static void check_reduce_tiles(void)
{
    enum { THREADS = 72, USED = 500 };
    int32_t *in = make_ints(USED), *out = make_memory((USED + 7) / 8 * 4), n = USED;

    LAUNCH("reduce_tiles", line_over(USED, THREADS), VALUE(in), VALUE(out), VALUE(n));
    for (int i = 0; i < n; i += 8) {
        int32_t least = INT32_MAX;

        for (int k = i; k < n && k < i + 8; k++)
            least = in[k] < least ? in[k] : least;
        SAME((size_t)i, out[i / 8], least);
    }
}

static void check_find_largest(void)
{
    int32_t *in = make_ints(COUNT), *where = make_memory(8), n = COUNT, at = 0;

    LAUNCH("find_largest", line_over(1, 71), VALUE(in), VALUE(where), VALUE(n));
    for (int i = 0; i < n; i++)
        at = in[i] > in[at] ? i : at;
    SAME(0, where[0], in[at]);
    SAME(0, where[1], at);
}

static void check_vote_blocks(void)
{
    enum { THREADS = 45, BLOCKS = (COUNT + THREADS - 1) / THREADS };
    int32_t *in = make_ints(COUNT), *out = make_memory(3 * BLOCKS * 4), n = COUNT;

    LAUNCH("vote_blocks", line_over(COUNT, THREADS), VALUE(in), VALUE(out), VALUE(n));
    for (int block = 0; block < BLOCKS; block++) {
        int count = 0, all = 1, any = 0;

        for (int i = block * THREADS; i < n && i < (block + 1) * THREADS; i++) {
            count += in[i] > 0;
            all &= in[i] > -900;
            any |= in[i] > 990;
        }
        SAME((size_t)block, out[3 * block], count);
        SAME((size_t)block, out[3 * block + 1], all);
        SAME((size_t)block, out[3 * block + 2], any);
    }
}

static void check_vote_warps(void)
{
    enum { USED = 237 };
    int32_t *in = make_ints(USED), n = USED;
    uint32_t *out = make_memory(USED * 4);

    LAUNCH("vote_warps", line_over(USED, 64), VALUE(in), VALUE(out), VALUE(n));
    for (int i = 0; i < n; i++) {
        uint32_t odd = 0, same = 0, lead = 0;

        for (int k = i / 32 * 32; k < n && k < i / 32 * 32 + 32; k++) {
            odd |= (uint32_t)(in[k] & 1) << k % 32;
            same |= (uint32_t)(in[k] / 100 == in[i] / 100) << k % 32;
            lead |= in[k] == in[0];
        }
        SAME((size_t)i, out[i], (odd ^ same * 3) + 1 + (lead ? 5 : 0));
    }
}

static void check_float_range(void)
{
    float *in = make_floats(COUNT), least = in[0], most = in[0], found[2];
    int32_t *range = make_memory(8), n = COUNT;

    range[0] = INT32_MAX;
    range[1] = INT32_MIN;
    LAUNCH("float_range", line_over(COUNT, 33), VALUE(in), VALUE(range), VALUE(n));
    for (int i = 0; i < 2; i++) {
        int32_t bits = range[i] < 0 ? range[i] ^ 0x7fffffff : range[i];

        memcpy(&found[i], &bits, sizeof bits);
    }
    for (int i = 0; i < n; i++) {
        least = in[i] < least ? in[i] : least;
        most = in[i] > most ? in[i] : most;
    }
    NEAR(0, found[0], least, 0);
    NEAR(0, found[1], most, 0);
}

static void check_reduce_warps(void)
{
    enum { WARPS = 9 };
    int32_t *in = make_ints(WARPS * 32), *out = make_memory(WARPS * 4);

    LAUNCH("reduce_warps", line_over(WARPS * 32, 96), VALUE(in), VALUE(out));
    for (size_t i = 0; i < WARPS; i++) {
        int32_t sum = 0;

        for (size_t k = 0; k < 32; k++)
            sum += in[32 * i + k];
        SAME(i, out[i], sum);
    }
}

static const kernel_case cases[] = {
    {"reduce_shared", check_reduce_shared}, {"reduce_shuffle", check_reduce_shuffle},
    {"reduce_tiles", check_reduce_tiles},   {"find_largest", check_find_largest},
    {"vote_blocks", check_vote_blocks},     {"vote_warps", check_vote_warps},
    {"float_range", check_float_range},     {"reduce_warps", check_reduce_warps},
};
KERNEL_GROUP(reduce, cases);
