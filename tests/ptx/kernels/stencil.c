#include "run.h"

enum { COUNT = 1003, WIDTH = 43, HEIGHT = 29 };

static kernel_shape plane_over(uint32_t width, uint32_t height, uint32_t x, uint32_t y)
{
    return (kernel_shape){.grid = {(width + x - 1) / x, (height + y - 1) / y, 1},
                          .block = {x, y, 1}};
}

static int clamp(int value, int most)
{
    return value < 0 ? 0 : value > most ? most : value;
}

static void check_sum_neighbours(void)
{
    int32_t *in = make_ints(COUNT), *out = make_memory(COUNT * 4), n = COUNT;

    LAUNCH("sum_neighbours", line_over(COUNT, 75), VALUE(in), VALUE(out), VALUE(n));
    for (int i = 0; i < n; i++) {
        int32_t sum = 0;

        for (int k = i - 3; k <= i + 3; k++)
            sum += k >= 0 && k < n ? in[k] : 0;
        SAME((size_t)i, out[i], sum);
    }
}

static void check_spread_heat(void)
{
    float *in = make_floats(WIDTH * HEIGHT), *out = make_memory(WIDTH * HEIGHT * 4);
    kernel_shape shape = plane_over(WIDTH, HEIGHT, 11, 7);
    int width = WIDTH, height = HEIGHT;

    shape.shared_bytes = 13 * 9 * 4;
    LAUNCH("spread_heat", shape, VALUE(in), VALUE(out), VALUE(width), VALUE(height));
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        int x = i % WIDTH, y = i / WIDTH;
        float sum = in[y * WIDTH + clamp(x - 1, WIDTH - 1)] +
                    in[y * WIDTH + clamp(x + 1, WIDTH - 1)] +
                    in[clamp(y - 1, HEIGHT - 1) * WIDTH + x] +
                    in[clamp(y + 1, HEIGHT - 1) * WIDTH + x];

        NEAR((size_t)i, out[i], in[i] + 0.125f * (sum - 4 * in[i]), 0);
    }
}

static void check_sum_cube(void)
{
    enum { X = 13, Y = 9, Z = 11 };
    struct { int x, y, z; } size = {X, Y, Z};
    int32_t *in = make_ints(X * Y * Z), *out = make_memory(X * Y * Z * 4);
    kernel_shape shape = {.grid = {3, 2, 3}, .block = {5, 6, 4}};

    LAUNCH("sum_cube", shape, VALUE(in), VALUE(out), VALUE(size));
    for (int i = 0; i < X * Y * Z; i++) {
        int x = i % X, y = i / X % Y, z = i / X / Y;
        int32_t sum = -6 * in[i];

        sum += x > 0 ? in[i - 1] : 0;
        sum += x < X - 1 ? in[i + 1] : 0;
        sum += y > 0 ? in[i - X] : 0;
        sum += y < Y - 1 ? in[i + X] : 0;
        sum += z > 0 ? in[i - X * Y] : 0;
        sum += z < Z - 1 ? in[i + X * Y] : 0;
        SAME((size_t)i, out[i], sum);
    }
}

static void check_convolve(void)
{
    unsigned char *in = make_memory(WIDTH * HEIGHT);
    int32_t *out = make_memory(WIDTH * HEIGHT * 4), width = WIDTH, height = HEIGHT;
    int32_t (*mask)[5] = find_variable("mask");

    for (int i = 0; i < WIDTH * HEIGHT; i++)
        in[i] = (unsigned char)below(256);
    for (int i = 0; i < 25; i++)
        mask[i / 5][i % 5] = (int)below(19) - 9;
    LAUNCH("convolve", plane_over(WIDTH, HEIGHT, 10, 5), VALUE(in), VALUE(out), VALUE(width),
           VALUE(height));
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        int32_t sum = 0;

        for (int k = 0; k < 25; k++)
            sum += mask[k / 5][k % 5] * in[(i / WIDTH + k / 5 - 2 + HEIGHT) % HEIGHT * WIDTH +
                                           (i % WIDTH + k % 5 - 2 + WIDTH) % WIDTH];
        SAME((size_t)i, out[i], sum);
    }
}

static int cell_at(const unsigned char *cells, int width, int x, int y)
{
    x = (x + 8 * width) % (8 * width);
    y = (y + HEIGHT) % HEIGHT;
    return cells[y * width + x / 8] >> x % 8 & 1;
}

static void check_live(void)
{
    enum { BYTES = 7 };
    unsigned char *in = make_memory(BYTES * HEIGHT), *out = make_memory(BYTES * HEIGHT);
    int width = BYTES, height = HEIGHT;

    for (int i = 0; i < BYTES * HEIGHT; i++)
        in[i] = (unsigned char)(below(256) & below(256));
    LAUNCH("live", plane_over(BYTES, HEIGHT, 3, 11), VALUE(in), VALUE(out), VALUE(width),
           VALUE(height));
    for (int i = 0; i < 8 * BYTES * HEIGHT; i++) {
        int x = i % (8 * BYTES), y = i / (8 * BYTES), count = -cell_at(in, BYTES, x, y);

        for (int k = 0; k < 9; k++)
            count += cell_at(in, BYTES, x + k % 3 - 1, y + k / 3 - 1);
        SAME((size_t)i, cell_at(out, BYTES, x, y),
             count == 3 || (count == 2 && cell_at(in, BYTES, x, y)));
    }
}

static void check_make_grey(void)
{
    unsigned char *in = make_memory(3 * COUNT), *out = make_memory(COUNT);
    int n = COUNT;

    for (int i = 0; i < 3 * n; i++)
        in[i] = (unsigned char)below(256);
    LAUNCH("make_grey", line_over(COUNT, 61), VALUE(in), VALUE(out), VALUE(n));
    for (int i = 0; i < n; i++)
        SAME((size_t)i, out[i],
             (77 * in[3 * i] + 150 * in[3 * i + 1] + 29 * in[3 * i + 2] + 128) >> 8);
}

static const kernel_case cases[] = {
    {"sum_neighbours", check_sum_neighbours},
    {"spread_heat", check_spread_heat},
    {"sum_cube", check_sum_cube},
    {"convolve", check_convolve},
    {"live", check_live},
    {"make_grey", check_make_grey},
};
KERNEL_GROUP(stencil, cases);
