/* Six kernels that nvcc compiled to PTX, on an emulated GPU and on the CPU: what they leave is what
 * plain C computes. */
#include "config.h"
#include "fixture.h"
#include "test.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ctxrt_module *module;

static void load_from(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/cuda/%s", getenv("top_builddir"), name);
    cx_assert_ok(ctxrt_module_load_file(path, &module));
}

static void start_on(ctxrt_device device)
{
    cx_fixture_start_with(1, CTXRT_FOREIGN_FOLLOW);
    cx_assert_ok(ctxrt_device_set(device));
    load_from("kernels.ptx");
}

static void start_on_gpu(void)
{
    start_on(CTXRT_CUDA(0));
}

static void start_on_cpu(void)
{
    start_on(CTXRT_CPU(0));
}

static void end(void)
{
    cx_assert_ok(ctxrt_module_unload(module));
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}

static void *put(const void *values, size_t size_bytes)
{
    void *pointer;
    cx_assert_ok(ctxrt_alloc(size_bytes, &pointer));
    cx_assert_ok(ctxrt_copy(pointer, values, size_bytes, CTXRT_COPY_HOST_TO_DEVICE));
    return pointer;
}

static void take(void *values, void *pointer, size_t size_bytes)
{
    cx_assert_ok(ctxrt_copy(values, pointer, size_bytes, CTXRT_COPY_DEVICE_TO_HOST));
    cx_assert_ok(ctxrt_free(pointer));
}

static void run(const char *name, const ctxrt_launch_config *config, void **arguments,
                size_t argument_count)
{
    ctxrt_kernel *kernel;
    cx_assert_ok(ctxrt_module_get_kernel(module, name, &kernel));
    cx_assert_ok(ctxrt_launch(config, kernel, arguments, argument_count));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
}

static ctxrt_launch_config line_of(unsigned int blocks, unsigned int threads)
{
    ctxrt_launch_config config = CTXRT_LAUNCH_CONFIG_INIT;
    config.grid[0] = blocks;
    config.block[0] = threads;
    return config;
}

static uint32_t state = 1;

static uint32_t below(uint32_t limit)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % limit;
}

enum { COUNT = 3001 };

static void add_vectors(void)
{
    float a[COUNT], b[COUNT], sum[COUNT] = {0};
    int count = COUNT;
    for (int i = 0; i < COUNT; i++) {
        a[i] = (float)below(1000) / 8;
        b[i] = (float)below(1000) / 3;
    }
    void *on_a = put(a, sizeof a), *on_b = put(b, sizeof b), *on_sum = put(sum, sizeof sum);
    void *arguments[] = {&on_a, &on_b, &on_sum, &count};
    const ctxrt_launch_config config = line_of((COUNT + 127) / 128, 128);
    run("vector_add", &config, arguments, 4);
    take(sum, on_sum, sizeof sum);
    for (int i = 0; i < COUNT; i++)
        ck_assert(sum[i] == a[i] + b[i]);
    cx_assert_ok(ctxrt_free(on_a));
    cx_assert_ok(ctxrt_free(on_b));
}

START_TEST(vectors_are_added)
{
    add_vectors();
}
END_TEST

START_TEST(a_fat_binary_has_the_same_kernels)
{
    cx_assert_ok(ctxrt_module_unload(module));
    load_from("kernels.fatbin");
    add_vectors();
}
END_TEST

#if defined HAVE_LZ4 && defined HAVE_ZSTD
START_TEST(a_compressed_fat_binary_for_two_devices_has_the_same_kernels)
{
    cx_assert_ok(ctxrt_module_unload(module));
    load_from(_i == 0 ? "kernels.packed.fatbin" : "kernels.fast.fatbin");
    add_vectors();
}
END_TEST
#endif

/* At once where nvcc optimises, else one after the other. */
static bool is_saxpy(float found, float a, float x, float y)
{
    volatile float product = a * x;
    return found == fmaf(a, x, y) || found == product + y;
}

START_TEST(saxpy_multiplies_and_adds)
{
    float x[COUNT], y[COUNT], found[COUNT], a = 1.7f;
    int count = COUNT;
    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)below(1000) / 7;
        y[i] = (float)below(1000) / 11;
    }
    void *on_x = put(x, sizeof x), *on_y = put(y, sizeof y);
    void *arguments[] = {&a, &on_x, &on_y, &count};
    const ctxrt_launch_config config = line_of(3, 96);
    run("saxpy", &config, arguments, 4);
    take(found, on_y, sizeof found);
    for (int i = 0; i < COUNT; i++)
        ck_assert(is_saxpy(found[i], a, x[i], y[i]));
    cx_assert_ok(ctxrt_free(on_x));
}
END_TEST

START_TEST(blocks_reduce_in_shared_memory)
{
    enum { THREADS = 256, BLOCKS = (COUNT + THREADS - 1) / THREADS };
    int values[COUNT], sums[BLOCKS] = {0}, wanted[BLOCKS] = {0}, count = COUNT;
    ctxrt_launch_config config = line_of(BLOCKS, THREADS);
    for (int i = 0; i < COUNT; i++) {
        values[i] = (int)below(2001) - 1000;
        wanted[i / THREADS] += values[i];
    }
    void *on_values = put(values, sizeof values), *on_sums = put(sums, sizeof sums);
    void *arguments[] = {&on_values, &on_sums, &count};
    config.shared_bytes = THREADS * sizeof(int);
    run("reduce", &config, arguments, 3);
    take(sums, on_sums, sizeof sums);
    for (int i = 0; i < BLOCKS; i++)
        ck_assert_int_eq(sums[i], wanted[i]);
    cx_assert_ok(ctxrt_free(on_values));
}
END_TEST

START_TEST(a_histogram_counts_with_atomics)
{
    static unsigned char bytes[4 * COUNT];
    unsigned int bins[256] = {0}, found[256], wanted[256] = {0};
    int count = sizeof bytes;
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (unsigned char)(below(16) * below(17));
        wanted[bytes[i]]++;
    }
    void *on_bytes = put(bytes, sizeof bytes), *on_bins = put(bins, sizeof bins);
    void *arguments[] = {&on_bytes, &on_bins, &count};
    const ctxrt_launch_config config = line_of(5, 64);
    run("histogram", &config, arguments, 3);
    take(found, on_bins, sizeof found);
    for (int i = 0; i < 256; i++)
        ck_assert_uint_eq(found[i], wanted[i]);
    cx_assert_ok(ctxrt_free(on_bytes));
}
END_TEST

/* Small whole numbers: every order of adding gives the same. */
START_TEST(matrices_are_multiplied_tile_by_tile)
{
    enum { N = 37, TILE = 16, TILES = (N + TILE - 1) / TILE };
    static float a[N][N], b[N][N], found[N][N];
    int n = N;
    ctxrt_launch_config config = line_of(TILES, TILE);
    config.grid[1] = TILES;
    config.block[1] = TILE;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            a[i][k] = (float)((int)below(21) - 10);
            b[i][k] = (float)((int)below(21) - 10);
        }
    void *on_a = put(a, sizeof a), *on_b = put(b, sizeof b), *on_c = put(found, sizeof found);
    void *arguments[] = {&on_a, &on_b, &on_c, &n};
    run("matrix_product", &config, arguments, 4);
    take(found, on_c, sizeof found);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float wanted = 0;
            for (int k = 0; k < N; k++)
                wanted += a[i][k] * b[k][j];
            ck_assert(found[i][j] == wanted);
        }
    cx_assert_ok(ctxrt_free(on_a));
    cx_assert_ok(ctxrt_free(on_b));
}
END_TEST

static unsigned int collatz(unsigned int value)
{
    unsigned int steps = 0;
    for (; value > 1; steps++)
        value = value % 2 != 0 ? 3 * value + 1 : value / 2;
    return steps;
}

START_TEST(lanes_that_went_their_own_ways_meet_again)
{
    enum { VALUES = 301, THREADS = 64, BLOCKS = (VALUES + THREADS - 1) / THREADS };
    enum { WARPS = BLOCKS * THREADS / 32 };
    unsigned int sums[WARPS] = {0}, most[WARPS] = {0}, votes[WARPS] = {0}, wanted[3][WARPS] = {{0}};
    int count = VALUES;
    for (unsigned int i = 0; i < VALUES; i++) {
        unsigned int steps = collatz(i + 1), warp = i / 32;
        wanted[0][warp] += steps;
        wanted[1][warp] = steps > wanted[1][warp] ? steps : wanted[1][warp];
        wanted[2][warp] += steps % 2;
    }
    void *on_sums = put(sums, sizeof sums), *on_most = put(most, sizeof most);
    void *on_votes = put(votes, sizeof votes);
    void *arguments[] = {&on_sums, &on_most, &on_votes, &count};
    const ctxrt_launch_config config = line_of(BLOCKS, THREADS);
    run("warps", &config, arguments, 4);
    take(sums, on_sums, sizeof sums);
    take(most, on_most, sizeof most);
    take(votes, on_votes, sizeof votes);
    for (int i = 0; i < WARPS; i++) {
        ck_assert_uint_eq(sums[i], wanted[0][i]);
        ck_assert_uint_eq(most[i], wanted[1][i]);
        ck_assert_uint_eq(votes[i], wanted[2][i]);
    }
}
END_TEST

static void add_tests(Suite *suite, const char *name, void (*start)(void))
{
    TCase *tests = tcase_create(name);
    tcase_add_checked_fixture(tests, start, end);
    tcase_add_test(tests, vectors_are_added);
    tcase_add_test(tests, a_fat_binary_has_the_same_kernels);
#if defined HAVE_LZ4 && defined HAVE_ZSTD
    tcase_add_loop_test(tests, a_compressed_fat_binary_for_two_devices_has_the_same_kernels, 0, 2);
#endif
    tcase_add_test(tests, saxpy_multiplies_and_adds);
    tcase_add_test(tests, blocks_reduce_in_shared_memory);
    tcase_add_test(tests, a_histogram_counts_with_atomics);
    tcase_add_test(tests, matrices_are_multiplied_tile_by_tile);
    tcase_add_test(tests, lanes_that_went_their_own_ways_meet_again);
    suite_add_tcase(suite, tests);
}

static Suite *nvcc_suite(void)
{
    Suite *suite = suite_create("nvcc");
    add_tests(suite, "gpu", start_on_gpu);
    add_tests(suite, "cpu", start_on_cpu);
    return suite;
}

static const char *what_is_missing(void)
{
    const char *missing = getenv("NVCC_MISSING");
    return missing != NULL && missing[0] != '\0' ? missing : NULL;
}

CX_TESTS_UNLESS(what_is_missing, nvcc_suite);
