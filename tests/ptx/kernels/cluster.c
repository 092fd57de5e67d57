#include "run.h"

static kernel_shape in_clusters(size_t count, uint32_t threads, uint32_t blocks)
{
    kernel_shape shape = line_over(count, threads);

    shape.cluster[0] = blocks;
    shape.cluster[1] = shape.cluster[2] = 1;
    return shape;
}

static void check_spread_bins(void)
{
    enum { N = 3001, BLOCKS = 12, BINS = 37 };
    static const uint32_t sizes[] = {1, 2, 4, 6, 12};
    uint32_t *in = make_words(N);
    int n = N, bins = BINS;

    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        size_t count = sizes[k] * BINS;
        int32_t *out = make_memory(count * 4), *expected = make_memory(count * 4);
        kernel_shape shape = in_clusters(BLOCKS * 45, 45, sizes[k]);

        shape.shared_bytes = BINS * 4;
        LAUNCH("spread_bins", shape, VALUE(in), VALUE(out), VALUE(n), VALUE(bins));
        for (size_t i = 0; i < N; i++)
            expected[in[i] % count]++;
        for (size_t i = 0; i < count; i++)
            SAME(i, out[i], expected[i]);
    }
}

static void check_go_around(void)
{
    enum { THREADS = 37, BLOCKS = 9, ROUNDS = 5 };
    int32_t *values = make_ints(BLOCKS * THREADS);
    int32_t *first = copy_memory(values, BLOCKS * THREADS * 4), rounds = ROUNDS, done = 0;

    for (int round = 0; round < ROUNDS; round++)
        done = done * 3 + round;
    LAUNCH("go_around", line_over(BLOCKS * THREADS, THREADS), VALUE(values), VALUE(rounds));
    for (size_t i = 0; i < BLOCKS * THREADS; i++) {
        size_t block = i / THREADS, from = block / 3 * 3 + (block % 3 + ROUNDS) % 3;

        SAME(i, values[i],
             first[from * THREADS + (i % THREADS + ROUNDS) % THREADS] + ROUNDS + done);
    }
}

static void check_sum_tiles(void)
{
    enum { WIDTH = 61, HEIGHT = 35, X = 11, Y = 7, COLUMNS = 6, ROWS = 6 };
    float *in = make_floats(WIDTH * HEIGHT), *out = make_memory(COLUMNS / 2 * (ROWS / 3) * 4);
    int width = WIDTH, height = HEIGHT;
    kernel_shape shape = {.grid = {COLUMNS, ROWS, 1}, .block = {X, Y, 1}, .cluster = {2, 3, 1}};

    LAUNCH("sum_tiles", shape, VALUE(in), VALUE(out), VALUE(width), VALUE(height));
    for (int i = 0; i < COLUMNS / 2 * (ROWS / 3); i++) {
        double sum = 0;

        for (int y = 0; y < 3 * Y; y++)
            for (int x = 0; x < 2 * X; x++) {
                int column = i % (COLUMNS / 2) * 2 * X + x, row = i / (COLUMNS / 2) * 3 * Y + y;

                sum += column < WIDTH && row < HEIGHT ? (double)in[row * WIDTH + column] : 0;
            }
        NEAR((size_t)i, out[i], sum, 1e-5);
    }
}

/* The values for one thread. */
static void check_place(const uint32_t *own, const kernel_shape *shape, bool named, uint32_t block,
                        uint32_t thread)
{
    const uint32_t one[] = {1, 1, 1}, *size = named ? shape->cluster : one;
    const uint32_t *grid = shape->grid, threads = shape->block[0];
    uint32_t at[] = {block % grid[0], block / grid[0] % grid[1], block / grid[0] / grid[1]};
    uint32_t x = at[0] % size[0], y = at[1] % size[1], z = at[2] % size[2];
    uint32_t rank = x + size[0] * (y + size[1] * z), count = size[0] * size[1] * size[2];

    SAME(0, own[0], x);
    SAME(1, own[1], y);
    SAME(2, own[2], z);
    SAME(3, own[3], size[0] * 100 + size[1] * 10 + size[2]);
    SAME(4, own[4], rank);
    SAME(5, own[5], count * 1000 + count * threads);
    SAME(6, own[6], rank * threads + thread);
    SAME(7, own[7], x * threads + thread);
    SAME(8, own[8], at[0] / size[0] * 10000 + at[1] / size[1] * 100 + at[2] / size[2]);
    SAME(9, own[9], grid[0] / size[0] * 10 + named);
    SAME(10, own[10], (count - 1) * 10 + rank);
    SAME(11, own[11], 1101 + (rank == count - 1 ? 10 : 0));
}

static void check_tell_places(void)
{
    static const uint32_t sizes[][3] = {{2, 1, 1}, {1, 2, 3}, {2, 3, 1}, {4, 1, 3}, {0, 0, 0}};
    kernel_shape shape = {.grid = {4, 6, 3}, .block = {5, 1, 1}};

    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        uint32_t *out = make_memory(4 * 6 * 3 * 5 * 12 * 4);

        for (int i = 0; i < 3; i++)
            shape.cluster[i] = sizes[k][i];
        LAUNCH("tell_places", shape, VALUE(out));
        for (uint32_t i = 0; i < 4 * 6 * 3 * 5; i++)
            check_place(out + 12 * i, &shape, sizes[k][0] > 0, i / 5, i % 5);
    }
}

static void check_hand_on(void)
{
    enum { THREADS = 41, BLOCKS = 10, CLUSTER = 5, ROUNDS = 7 };
    int32_t *out = make_memory(BLOCKS * THREADS * 4), rounds = ROUNDS;

    LAUNCH("hand_on", in_clusters(BLOCKS * THREADS, THREADS, CLUSTER), VALUE(out), VALUE(rounds));
    for (int i = 0; i < BLOCKS * THREADS; i++) {
        int before = (i / THREADS + CLUSTER - 1) % CLUSTER, sum = 0;

        for (int round = 0; round < ROUNDS; round++)
            sum = sum * 3 + before * 100 + (i + 1 - i / THREADS * THREADS) % THREADS + round;
        SAME((size_t)i, out[i], sum);
    }
}

static void check_leave_early(void)
{
    enum { THREADS = 70, BLOCKS = 8, CLUSTER = 4 };
    int32_t *out = make_memory(BLOCKS * THREADS * 4);

    LAUNCH("leave_early", in_clusters(BLOCKS * THREADS, THREADS, CLUSTER), VALUE(out));
    for (int i = 0; i < BLOCKS * THREADS; i++) {
        int block = i / THREADS, other = block / CLUSTER * CLUSTER + CLUSTER - 1 - block % CLUSTER;

        SAME((size_t)i, out[i], i % THREADS % 3 == 2 ? 0 : other * 7 + 1);
    }
}

static const kernel_case cases[] = {
    {"spread_bins", check_spread_bins}, {"go_around", check_go_around},
    {"sum_tiles", check_sum_tiles},     {"tell_places", check_tell_places},
    {"hand_on", check_hand_on},         {"leave_early", check_leave_early},
};
KERNEL_GROUP(cluster, cases);
