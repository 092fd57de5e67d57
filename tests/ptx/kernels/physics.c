#include "run.h"

#include <math.h>

static void check_attract(void)
{
    enum { N = 75 };
    float *bodies = make_floats(4 * N), *forces = make_memory(3 * N * 4);
    int n = N;

    LAUNCH("attract", line_over(N, 40), VALUE(bodies), VALUE(forces), VALUE(n));
    for (int i = 0; i < n; i++) {
        double force[3] = {0};

        for (int k = 0; k < n; k++) {
            double d[3], square = 0.01, pull;

            for (int axis = 0; axis < 3; axis++) {
                d[axis] = (double)bodies[4 * k + axis] - (double)bodies[4 * i + axis];
                square += d[axis] * d[axis];
            }
            pull = bodies[4 * k + 3] / (square * sqrt(square));
            for (int axis = 0; axis < 3; axis++)
                force[axis] += d[axis] * pull;
        }
        for (int axis = 0; axis < 3; axis++)
            NEAR((size_t)(3 * i + axis), forces[3 * i + axis], force[axis], 1e-4);
    }
}

static void check_mandelbrot(void)
{
    enum { WIDTH = 41, HEIGHT = 27, MOST = 60 };
    uint16_t *rounds = make_memory(WIDTH * HEIGHT * 2);
    int width = WIDTH, height = HEIGHT, most = MOST;
    kernel_shape shape = {.grid = {5, 4, 1}, .block = {9, 7, 1}};

    LAUNCH("mandelbrot", shape, VALUE(rounds), VALUE(width), VALUE(height), VALUE(most));
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        volatile double x = 0, y = 0, xx = 0, yy = 0, both;
        double cx = fma(i % WIDTH * 3.0 / WIDTH, 1, -2.25), cy = i / WIDTH * 2.5 / HEIGHT - 1.25;
        int round = 0;

        for (; round < MOST; round++) {
            xx = x * x;
            yy = y * y;
            if (xx + yy > 4)
                break;
            both = 2 * x;
            both = both * y;
            y = both + cy;
            both = xx - yy;
            x = both + cx;
        }
        SAME((size_t)i, rounds[i], round);
    }
}

static void check_trace(void)
{
    enum { WIDTH = 33, HEIGHT = 21 };
    static const float all[] = {0, 0, 5, 1.5f, 1, 0.5f, 4, 0.75f, -1, -1, 6, 1, 0, 0, -5, 2};
    float *spheres = copy_memory(all, sizeof all), *depths = make_memory(WIDTH * HEIGHT * 4);
    signed char *met = make_memory(WIDTH * HEIGHT);
    int count = 4, width = WIDTH, height = HEIGHT;
    kernel_shape shape = {.grid = {3, 3, 1}, .block = {13, 8, 1}};

    LAUNCH("trace", shape, VALUE(spheres), VALUE(count), VALUE(depths), VALUE(met), VALUE(width),
           VALUE(height));
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        double dx = (i % WIDTH + 0.5) / WIDTH - 0.5, dy = (i / WIDTH + 0.5) / HEIGHT - 0.5;
        double length = sqrt(dx * dx + dy * dy + 1), nearest = 1e9, edge = 1;
        int which = -1;

        for (int k = 0; k < 4; k++) {
            const float *s = all + 4 * k;
            double along = (dx * s[0] + dy * s[1] + s[2]) / length;
            double inside = s[3] * s[3] - (s[0] * s[0] + s[1] * s[1] + s[2] * s[2] - along * along);

            edge = fmin(edge, fabs(inside));
            if (inside >= 0 && along >= 0 && along - sqrt(inside) < nearest) {
                nearest = along - sqrt(inside);
                which = k;
            }
        }
        if (edge < 1e-4)
            continue;
        SAME((size_t)i, met[i], which);
        NEAR((size_t)i, depths[i], nearest, 1e-4);
    }
}

static void check_throw_darts(void)
{
    enum { THREADS = 96, BLOCKS = 2 };
    uint32_t *inside = make_memory(4), expected = 0;
    uint64_t seed = 17;
    int each = 20;

    LAUNCH("throw_darts", line_over(THREADS * BLOCKS, THREADS), VALUE(seed), VALUE(each),
           VALUE(inside));
    for (uint64_t i = 0; i < THREADS * BLOCKS; i++) {
        uint64_t state = seed + i * UINT64_C(0x9e3779b97f4a7c15);

        for (int k = 0; k < each; k++) {
            uint64_t x, y;

            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            x = state >> 48;
            y = state >> 32 & 0xffff;
            expected += x * x + y * y < UINT64_C(1) << 32;
        }
    }
    SAME(0, *inside, expected);
}

static void check_swing(void)
{
    enum { N = 61, STEPS = 9 };
    int32_t *start = make_ints(N), n = N, steps = STEPS;
    double *place = make_memory(N * 8), *speed = make_memory(N * 8), x[N + 2] = {0}, v[N + 2] = {0};

    for (int i = 0; i < N; i++)
        place[i] = x[i + 1] = start[i];
    LAUNCH("swing", line_over(70, 70), VALUE(place), VALUE(speed), VALUE(n), VALUE(steps));
    for (int step = 0; step < STEPS; step++) {
        for (int i = 1; i <= N; i++)
            v[i] += 0.125 * (x[i - 1] + x[i + 1] - 2 * x[i]);
        for (int i = 1; i <= N; i++)
            x[i] += 0.25 * v[i];
    }
    for (int i = 0; i < N; i++) {
        NEAR((size_t)i, place[i], x[i + 1], 1e-12);
        NEAR((size_t)i, speed[i], v[i + 1], 1e-12);
    }
}

static const kernel_case cases[] = {
    {"attract", check_attract}, {"mandelbrot", check_mandelbrot},   {"trace", check_trace},
    {"swing", check_swing},     {"throw_darts", check_throw_darts},
};
KERNEL_GROUP(physics, cases);
