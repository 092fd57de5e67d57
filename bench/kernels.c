/* Kernels as a compiler makes PTX of them, beside the same as compiled C: processor time of each on
 * one core, and of each core where all work. The driver does not matter. With `--only NAME` that
 * kernel alone is run, and not as C: for a profiler. */
#include "options.h"
#include "ptx/ptx.h"
#include "table.h"

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS (bench_rounds(5))
#define CELLS (1u << 20) /* of each array */
#define MOST_CORES 256u

typedef void block_in_c(const float *a, const float *b, const unsigned *words, float *out,
                        unsigned *counts, int n, unsigned block, unsigned blocks);

typedef struct kernel {
    const char *name;
    block_in_c *in_c;
    uint32_t threads, blocks;
    int n;
} kernel;

#define KERNELS(X)              \
    X(product, 256, 256, 256)   \
    X(half_row, 32, 1024, 4096) \
    X(bias, 128, 32, 1024)      \
    X(doubles, 128, 32, 2000)   \
    X(scan, 256, 128, 16)       \
    X(tree_sum, 256, 512, 8)    \
    X(histogram, 256, 64, 64)   \
    X(network, 256, 128, 0)     \
    X(merge, 256, 256, 0)       \
    X(largest, 128, 64, 64)     \
    X(option, 128, 64, 16)      \
    X(binomial, 128, 128, 0)    \
    X(particles, 128, 128, 64)  \
    X(sections, 128, 64, 16)    \
    X(field, 128, 2048, 64)     \
    X(tridiagonal, 64, 1024, 0) \
    X(tour, 64, 8, 4)           \
    X(cubes, 128, 1024, 0)      \
    X(escape, 128, 1024, 256)   \
    X(hash, 128, 64, 256)

#define DECLARED(name, threads, blocks, n) block_in_c in_c_##name;
KERNELS(DECLARED)

static const kernel kernels[] = {
#define ROW(name, threads, blocks, n) {#name, in_c_##name, threads, blocks, n},
    KERNELS(ROW)};

/* ---- memory ---- */

/* Kernels see the addresses of the host. */
typedef struct arrays {
    float a[CELLS], b[CELLS];
    unsigned words[CELLS];
    float out[CELLS];
    unsigned counts[CELLS];
} arrays;

static arrays *of_ptx, *of_c;

static void fill(arrays *self)
{
    uint32_t state = 1;

    for (size_t i = 0; i < CELLS; i++) {
        state = state * 1664525u + 1013904223u;
        self->a[i] = (float)(int32_t)(state >> 8 & 0xffff) / 1024.0f - 32.0f;
        state = state * 1664525u + 1013904223u;
        self->b[i] = (float)(int32_t)(state >> 8 & 0xffff) / 1024.0f - 32.0f;
        /* Two of them are numbers in half precision between 1/2 and 2. */
        self->words[i] = (state >> 3 & 0x07ff07ff) | 0x38003800;
    }
    memset(self->out, 0, sizeof self->out);
    memset(self->counts, 0, sizeof self->counts);
}

static bool find(void *self, uint64_t address, cx_ptx_range *out_range)
{
    unsigned char *begin = self;
    size_t offset = (size_t)(address - (uint64_t)(uintptr_t)begin), bytes = sizeof of_ptx->a;

    if (offset >= sizeof *of_ptx)
        return false;
    begin += offset / bytes * bytes;
    *out_range = (cx_ptx_range){
        .address = (uint64_t)(uintptr_t)begin, .bytes = bytes, .memory = begin};
    return true;
}

static bool stopped(void *self)
{
    (void)self;
    return false;
}

/* ---- both ways ---- */

static uint32_t blocks_of(const kernel *what)
{
    return bench_chosen.quick && what->blocks > 32 ? what->blocks / 16 : what->blocks;
}

static void run_ptx(const cx_ptx_module *module, const kernel *what, unsigned cores)
{
    const struct {
        uint64_t a, b, words, out, counts;
        int32_t n;
    } parameters = {(uint64_t)(uintptr_t)of_ptx->a,      (uint64_t)(uintptr_t)of_ptx->b,
                    (uint64_t)(uintptr_t)of_ptx->words,  (uint64_t)(uintptr_t)of_ptx->out,
                    (uint64_t)(uintptr_t)of_ptx->counts, what->n};
    const cx_ptx_environment environment = {
        .find = find, .stopped = stopped, .self = of_ptx, .cores = cores};
    const cx_ptx_launch launch = {
        .grid = {blocks_of(what), 1, 1}, .block = {what->threads, 1, 1}, .parameters = &parameters};
    cx_ptx_fault fault;

    if (cx_ptx_run(module, cx_ptx_kernel_find(module, what->name), &launch, &environment, &fault) !=
        CX_PTX_DONE) {
        fprintf(stderr, "bench_kernels: %s failed\n", what->name);
        exit(1);
    }
}

/* A share of the blocks, for one core. */
typedef struct share {
    const kernel *what;
    uint32_t begin, end;
} share;

static void *run_share(void *argument)
{
    const share *self = argument;
    const kernel *what = self->what;

    for (uint32_t block = self->begin; block < self->end; block++)
        what->in_c(of_c->a, of_c->b, of_c->words, of_c->out, of_c->counts, what->n, block,
                   blocks_of(what));
    return NULL;
}

static void run_c(const kernel *what, unsigned cores)
{
    pthread_t threads[MOST_CORES];
    share shares[MOST_CORES];
    const uint64_t blocks = blocks_of(what);

    for (unsigned i = 0; i < cores; i++) {
        shares[i] = (share){what, (uint32_t)(blocks * i / cores),
                            (uint32_t)(blocks * (i + 1) / cores)};
        if (i > 0 && pthread_create(&threads[i], NULL, run_share, &shares[i]) != 0)
            exit(1);
    }
    run_share(&shares[0]);
    for (unsigned i = 1; i < cores; i++)
        pthread_join(threads[i], NULL);
}

/* Both round in other places: a few results that depend on a comparison may differ. */
static void compare(const kernel *what)
{
    size_t different = 0;

    for (size_t i = 0; i < CELLS; i++) {
        float one = of_ptx->out[i], other = of_c->out[i];

        different += of_ptx->counts[i] != of_c->counts[i];
        different += memcmp(&one, &other, sizeof one) != 0 &&
                     !(fabsf(one - other) <= 1e-3f * (fabsf(one) + fabsf(other)) + 1e-5f);
    }
    if (different > CELLS / 200) {
        fprintf(stderr, "bench_kernels: %s: %zu results are not those of C\n", what->name,
                different);
        exit(1);
    }
}

/* ---- time ---- */

/* Of this process, so that what else runs on the machine counts little. */
static double now_ms(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void keep_less(double *best, double lasted)
{
    if (*best == 0 || lasted < *best)
        *best = lasted;
}

static void time_kernel(const cx_ptx_module *module, const kernel *what, bool with_c)
{
    const long found = sysconf(_SC_NPROCESSORS_ONLN);
    const unsigned cores = found < 1 ? 1 : found > (long)MOST_CORES ? MOST_CORES : (unsigned)found;
    double best[2] = {0}, on_all[2] = {0}, start;

    for (int i = 0; i < ROUNDS; i++) {
        fill(of_ptx);
        start = now_ms();
        run_ptx(module, what, 1);
        keep_less(&best[0], now_ms() - start);
        if (!with_c)
            continue;
        fill(of_c);
        start = now_ms();
        run_c(what, 1);
        keep_less(&best[1], now_ms() - start);
        compare(what);
        fill(of_ptx);
        start = now_ms();
        run_ptx(module, what, cores);
        keep_less(&on_all[0], (now_ms() - start) / cores);
        fill(of_c);
        start = now_ms();
        run_c(what, cores);
        keep_less(&on_all[1], (now_ms() - start) / cores);
        compare(what);
    }
    if (!with_c)
        best[1] = on_all[0] = on_all[1] = NAN;
    bench_table_row(what->name, (const double[]){best[0], best[1], best[0] / best[1], on_all[0],
                                                 on_all[1], on_all[0] / on_all[1]});
}

static cx_ptx_module *load(void)
{
    FILE *file = fopen(BENCH_KERNELS_FILE, "r");
    char *text = malloc(1 << 20);
    size_t length = file != NULL && text != NULL ? fread(text, 1, 1 << 20, file) : 0;
    cx_ptx_module *module = NULL;
    cx_ptx_error error = {0};

    if (length == 0 || cx_ptx_load(text, length, &module, &error) != CX_PTX_SUCCESS) {
        fprintf(stderr, "bench_kernels: %s, line %d: %s\n", BENCH_KERNELS_FILE, error.line,
                error.message);
        exit(1);
    }
    free(text);
    fclose(file);
    return module;
}

int main(int argc, char **argv)
{
    static const bench_column columns[] = {
        {"ptx", "PTX, ms", 2}, {"c", "C, ms", 2}, {"ratio", "times as long", 1},
        {"ptx_all", "PTX, all cores, ms each", 2}, {"c_all", "C, all cores, ms each", 2},
        {"ratio_all", "times as long", 1}, {0}};
    const char *only = NULL;
    cx_ptx_module *module;

    for (int i = 1, taken; i < argc; i += taken) {
        taken = bench_option(argc, argv, i);
        if (taken != 0)
            continue;
        if (strcmp(argv[i], "--only") != 0 || i + 1 == argc) {
            fprintf(stderr, "usage: bench_kernels [--only NAME] " BENCH_USAGE "\n");
            return 2;
        }
        only = argv[i + 1];
        taken = 2;
    }
    of_ptx = malloc(sizeof *of_ptx);
    of_c = malloc(sizeof *of_c);
    if (of_ptx == NULL || of_c == NULL)
        return 1;
    module = load();
    bench_tables_begin("kernels");
    bench_table_begin("kernels", "kernel", columns);
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        if (only == NULL || strcmp(only, kernels[i].name) == 0)
            time_kernel(module, &kernels[i], only == NULL);
    bench_table_end();
    bench_tables_end();
    cx_ptx_unload(module);
    free(of_ptx);
    free(of_c);
    return 0;
}
