/* Thread-instructions a second of the PTX interpreter, on one core, for five loops; and of the same
 * loops as C, which counts as many instructions as the PTX has. The driver does not matter. With
 * `--loop NAME` only that one runs, in lockstep, or by --apart lane by lane: for a profiler. */
#include "base/clock.h"
#include "options.h"
#include "ptx/ptx.h"
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define THREADS 256
#define ADDRESS 0x100000
#define ROUNDS (bench_rounds(5))
#define TILE 16

/* A loop around `body`: add, setp and bra come on top. */
typedef struct loop {
    const char *name, *begin, *body, *end;
    int instructions; /* of the body */
    int times;
    void (*in_c)(int times);
} loop;

static float memory[1 << 16];

/* --quick goes through the loops less often. */
static int times_of(const loop *of)
{
    return bench_chosen.quick ? of->times / 500 : of->times;
}

/* ---- the loops as C ---- */

static void add_products(int times)
{
    for (int t = 0; t < THREADS; t++) {
        float a = (float)t, b = 1.0f;

        for (int i = 0; i < times; i++) {
            a = a * 0.5f + b;
            b = b * 0.25f + a;
            a = a * 0.5f + b;
            b = b * 0.25f + a;
        }
        memory[t] = a + b;
    }
}

static void mix_integers(int times)
{
    for (uint32_t t = 0; t < THREADS; t++) {
        uint32_t a = t + 1, sum = 0;

        for (int i = 0; i < times; i++) {
            a ^= a << 13;
            a ^= a >> 17;
            a ^= a << 5;
            sum += a;
        }
        memory[t] = (float)sum;
    }
}

static void add_to_memory(int times)
{
    for (int i = 0; i < times; i++)
        for (int t = 0; t < THREADS; t++) {
            volatile float *word = &memory[t];

            *word = *word + 1.0f;
        }
}

static void multiply_tiles(int times)
{
    static float a[TILE][TILE], b[TILE][TILE];
    static float sums[THREADS];

    for (int i = 0; i < times; i++) {
        memcpy(a, memory, sizeof a);
        memcpy(b, memory + THREADS, sizeof b);
        for (int t = 0; t < THREADS; t++)
            for (int k = 0; k < TILE; k++)
                sums[t] += a[t / TILE][k] * b[k][t % TILE];
    }
    memcpy(memory + 4096, sums, sizeof sums);
}

static void shuffle(int times)
{
    for (int warp = 0; warp < THREADS; warp += 32) {
        float values[32], others[32];

        for (int lane = 0; lane < 32; lane++)
            values[lane] = (float)(warp + lane);
        for (int i = 0; i < times; i++)
            for (int distance = 16; distance > 0; distance /= 2) {
                for (int lane = 0; lane < 32; lane++)
                    others[lane] = values[lane ^ distance];
                for (int lane = 0; lane < 32; lane++)
                    values[lane] = others[lane] * 0.5f + values[lane];
            }
        memcpy(memory + warp, values, sizeof values);
    }
}

/* ---- the loops as PTX ---- */

#define STEP(a, b)                                                         \
    "ld.shared.f32 %f1, [%r7+" #a "];\nld.shared.f32 %f2, [%r8+" #b "];\n" \
    "fma.rn.f32 %f3, %f1, %f2, %f3;\n"
#define SHUFFLE(distance)                                                      \
    "mov.b32 %r2, %f1;\nshfl.sync.bfly.b32 %r3, %r2, " #distance ", 31, -1;\n" \
    "mov.b32 %f2, %r3;\nfma.rn.f32 %f1, %f2, 0f3F000000, %f1;\n"

static const loop loops[] = {
    {"float FMA", "mov.f32 %f2, 0f3F800000;\n",
     "fma.rn.f32 %f1, %f1, 0f3F000000, %f2;\nfma.rn.f32 %f2, %f2, 0f3E800000, %f1;\n"
     "fma.rn.f32 %f1, %f1, 0f3F000000, %f2;\nfma.rn.f32 %f2, %f2, 0f3E800000, %f1;\n",
     "add.f32 %f1, %f1, %f2;\nst.global.f32 [%d1], %f1;\n", 4, 20000, add_products},
    {"integers", "add.u32 %r2, %r1, 1;\nmov.u32 %r4, 0;\n",
     "shl.b32 %r3, %r2, 13;\nxor.b32 %r2, %r2, %r3;\nshr.u32 %r3, %r2, 17;\n"
     "xor.b32 %r2, %r2, %r3;\nshl.b32 %r3, %r2, 5;\nxor.b32 %r2, %r2, %r3;\n"
     "add.u32 %r4, %r4, %r2;\n",
     "cvt.rn.f32.u32 %f1, %r4;\nst.global.f32 [%d1], %f1;\n", 7, 20000, mix_integers},
    {"load, add, store", "",
     "ld.global.f32 %f1, [%d1];\nadd.f32 %f1, %f1, 0f3F800000;\nst.global.f32 [%d1], %f1;\n", "", 3,
     20000, add_to_memory},
    {"tiled product",
     "shl.b32 %r6, %r1, 2;\nand.b32 %r7, %r6, 960;\nand.b32 %r8, %r6, 60;\n"
     "mov.f32 %f3, 0f00000000;\n",
     "ld.global.f32 %f1, [%d1];\nld.global.f32 %f2, [%d1+1024];\nst.shared.f32 [%r6], %f1;\n"
     "st.shared.f32 [%r6+1024], %f2;\nbar.sync 0;\n" STEP(0, 1024) STEP(4, 1088) STEP(8, 1152)
         STEP(12, 1216) STEP(16, 1280) STEP(20, 1344) STEP(24, 1408) STEP(28, 1472) STEP(32, 1536)
             STEP(36, 1600) STEP(40, 1664) STEP(44, 1728) STEP(48, 1792) STEP(52, 1856)
                 STEP(56, 1920) STEP(60, 1984) "bar.sync 0;\n",
     "st.global.f32 [%d1+16384], %f3;\n", 54, 1000, multiply_tiles},
    {"shuffle reduction", "", SHUFFLE(16) SHUFFLE(8) SHUFFLE(4) SHUFFLE(2) SHUFFLE(1),
     "st.global.f32 [%d1], %f1;\n", 20, 4000, shuffle},
};

static bool find(void *self, uint64_t address, cx_ptx_range *out_range)
{
    (void)self;
    *out_range = (cx_ptx_range){.address = ADDRESS,
                                .bytes = sizeof memory,
                                .memory = (unsigned char *)memory};
    return address >= ADDRESS && address < ADDRESS + sizeof memory;
}

static bool stopped(void *self)
{
    (void)self;
    return false;
}

static cx_ptx_module *load(const loop *of)
{
    char text[8192];
    cx_ptx_module *module = NULL;
    cx_ptx_error error = {0};

    snprintf(text, sizeof text,
             ".version 7.0\n.target sm_75\n.address_size 64\n"
             ".visible .entry k(.param .u64 out, .param .u32 times)\n{\n.reg .pred %%p1;\n"
             ".reg .b32 %%r<10>;\n.reg .f32 %%f<4>;\n.reg .b64 %%d<4>;\n"
             ".shared .align 4 .b8 tiles[2048];\nld.param.u64 %%d1, [out];\n"
             "ld.param.u32 %%r9, [times];\nmov.u32 %%r1, %%tid.x;\ncvt.rn.f32.u32 %%f1, %%r1;\n"
             "mul.wide.u32 %%d2, %%r1, 4;\nadd.u64 %%d1, %%d1, %%d2;\n%s"
             "L:\n%ssub.u32 %%r9, %%r9, 1;\nsetp.ne.u32 %%p1, %%r9, 0;\n@%%p1 bra L;\n%sret;\n}\n",
             of->begin, of->body, of->end);
    if (cx_ptx_load(text, strlen(text), &module, &error) != CX_PTX_SUCCESS) {
        fprintf(stderr, "bench_ptx: %s, line %d: %s\n", of->name, error.line, error.message);
        exit(1);
    }
    return module;
}

/* The blocks compute the same. */
static void run_kernel(const loop *of, const cx_ptx_module *module, bool independent,
                       uint32_t blocks, unsigned cores)
{
    const struct {
        uint64_t out;
        uint32_t times;
    } parameters = {ADDRESS, (uint32_t)times_of(of)};
    const cx_ptx_environment environment = {
        .find = find, .stopped = stopped, .independent = independent, .cores = cores};
    const cx_ptx_launch launch = {
        .grid = {blocks, 1, 1}, .block = {THREADS, 1, 1}, .parameters = &parameters};
    cx_ptx_fault fault;

    if (cx_ptx_run(module, cx_ptx_kernel_find(module, "k"), &launch, &environment, &fault) !=
        CX_PTX_DONE) {
        fprintf(stderr, "bench_ptx: %s failed\n", of->name);
        exit(1);
    }
}

/* ---- time ---- */

/* Of this process, so that what else runs on the machine counts little. */
static double now_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

typedef enum way { TOGETHER, APART, AS_C } way;

/* The best of some rounds, in thousand million thread-instructions a second. */
static double time_loop(const loop *of, const cx_ptx_module *module, way how)
{
    double best = 0, count = (double)(of->instructions + 3) * times_of(of) * THREADS;

    for (int i = 0; i < ROUNDS; i++) {
        double start = now_ns();

        memset(memory, 0, sizeof memory);
        if (how == AS_C)
            of->in_c(times_of(of));
        else
            run_kernel(of, module, how == APART, 1, 1);
        double rate = count / (now_ns() - start);
        if (rate > best)
            best = rate;
    }
    return best;
}

/* How many times as fast a grid of 64 blocks runs on all cores as on one, in the best of some
 * rounds, by the clock on the wall. */
static void time_cores(const loop *of, unsigned cores)
{
    cx_ptx_module *module = load(of);
    double best[2] = {1e18, 1e18};

    for (int i = 0; i < 2 * ROUNDS; i++) {
        uint64_t start = cx_clock_ns();

        run_kernel(of, module, false, 64, i % 2 ? cores : 1);
        double lasted = (double)(cx_clock_ns() - start);
        if (lasted < best[i % 2])
            best[i % 2] = lasted;
    }
    bench_table_row(of->name, (const double[]){cores, best[0] / best[1]});
    cx_ptx_unload(module);
}

static void time_all(void)
{
    static const bench_column columns[] = {
        {"lockstep", "lockstep, 10^9 a second", 2},
        {"independent", "lane by lane, 10^9 a second", 2},
        {"c", "C, 10^9 a second", 2},
        {0},
    };
    static const bench_column cores[] = {
        {"cores", "cores", 0}, {"ratio", "times as fast as on one", 2}, {0}};
    bench_table_begin("loops", "thread-instructions of", columns);
    for (size_t i = 0; i < sizeof loops / sizeof loops[0]; i++) {
        cx_ptx_module *module = load(&loops[i]);
        const double values[] = {time_loop(&loops[i], module, TOGETHER),
                                 time_loop(&loops[i], module, APART),
                                 time_loop(&loops[i], module, AS_C)};
        bench_table_row(loops[i].name, values);
        cx_ptx_unload(module);
    }
    bench_table_end();
    bench_table_begin("cores", "64 blocks of", cores);
    time_cores(&loops[0], (unsigned)sysconf(_SC_NPROCESSORS_ONLN));
    bench_table_end();
}

static void time_only(const char *name, way how)
{
    static const bench_column column[] = {{"rate", "10^9 a second", 2}, {0}};
    bench_table_begin("loop", "thread-instructions of", column);
    for (size_t i = 0; i < sizeof loops / sizeof loops[0]; i++) {
        if (strcmp(name, loops[i].name) != 0)
            continue;
        cx_ptx_module *module = load(&loops[i]);
        bench_table_row(name, (const double[]){time_loop(&loops[i], module, how)});
        cx_ptx_unload(module);
    }
    bench_table_end();
}

int main(int argc, char **argv)
{
    const char *name = NULL;
    way how = TOGETHER;
    for (int i = 1, taken; i < argc; i += taken) {
        taken = bench_option(argc, argv, i);
        if (taken != 0)
            continue;
        taken = strcmp(argv[i], "--apart") == 0 ? 1 : 2;
        if (taken == 1) {
            how = APART;
        } else if (strcmp(argv[i], "--loop") == 0 && i + 1 < argc) {
            name = argv[i + 1];
        } else {
            fprintf(stderr, "usage: bench_ptx [--loop NAME [--apart]] " BENCH_USAGE "\n");
            return 2;
        }
    }
    bench_tables_begin("ptx");
    if (name != NULL)
        time_only(name, how);
    else
        time_all();
    bench_tables_end();
    return 0;
}
