/*
 * Kernels in CUDA C (NAME.cu), compiled to PTX (NAME.*.ptx), beside the same in plain C (NAME.c).
 * Kernels see the host's addresses: those of memory that make_memory gave, and of variables.
 */
#ifndef CX_TEST_KERNELS_RUN_H
#define CX_TEST_KERNELS_RUN_H

#include "test.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct kernel_case {
    const char *name;
    void (*check)(void);
} kernel_case;

typedef struct kernel_group {
    const char *name; /* of the .cu */
    const kernel_case *cases;
    size_t count;
} kernel_group;

#define KERNEL_GROUP(name, cases) \
    const kernel_group name##_kernels = {#name, cases, sizeof(cases) / sizeof(cases)[0]}

extern const kernel_group atomics_kernels, calls_kernels, cluster_kernels, graph_kernels,
    hash_kernels, histogram_kernels, linear_kernels, math_kernels, matrix_kernels, memory_kernels,
    modern_kernels, output_kernels, pairs_kernels, physics_kernels, reduce_kernels, scan_kernels,
    sort_kernels, stencil_kernels, text_kernels, types_kernels, wide_kernels;

/* Where the PTX is: in the folder that CTXRT_TEST_KERNELS names, else in the source tree. */
const char *kernels_folder(void);
/* The text of a file of the folder, ended by '\0', for the caller to free. */
char *kernels_read(const char *name, size_t *out_length);

/* A way to run kernels: as in cx_ptx_environment. */
typedef struct kernel_way {
    const char *name, *code;
    bool independent;
    uint64_t seed;
    bool one_file; /* of each group is enough */
} kernel_way;

/* run.c runs kernels with lib/ptx, run_driver.c on a driver. */
extern const kernel_way kernel_ways[];
extern const size_t kernel_way_count;

/* Loads a file of the folder. Returns false, and tells why in a line of TAP, if it does not. */
bool kernels_load(const char *file, const kernel_way *way);
void kernels_unload(void);
/* Runs a check, but for what the runner cannot do. */
void kernels_run(void (*check)(void));
/* The file and the way, for messages. */
const char *kernels_name(void);
/* Whether the lanes of a warp run one by one. */
bool kernels_independent(void);

/* ---- what checks use ---- */

/* Memory of zeros, of exactly so many bytes, until the check is over. */
void *make_memory(size_t bytes);
void release_memory(void);

/* Random numbers, the same in each run. */
uint32_t below(uint32_t limit);
void restart_random(void);
float *make_floats(size_t count);  /* multiples of 1/8 from -64 to 64 */
int32_t *make_ints(size_t count);  /* from -1000 to 1000 */
uint32_t *make_words(size_t count); /* any */
void *copy_memory(const void *from, size_t bytes);

typedef struct kernel_shape {
    uint32_t grid[3], block[3];
    uint32_t shared_bytes;
    bool cooperative;
    uint32_t cluster[3]; /* 0: as the kernel says */
} kernel_shape;

/* Blocks of so many threads that cover `count`. */
kernel_shape line_over(size_t count, uint32_t threads);

typedef struct kernel_argument {
    const void *value;
    size_t bytes;
} kernel_argument;

#define VALUE(x) {&(x), sizeof(x)}

/* Runs a kernel; its arguments are VALUE(variable), each of the size of its parameter. */
#define LAUNCH(name, shape, ...)                                      \
    launch(name, shape, (const kernel_argument[]){__VA_ARGS__},       \
           sizeof((const kernel_argument[]){__VA_ARGS__}) / sizeof(kernel_argument))
void launch(const char *name, kernel_shape shape, const kernel_argument *arguments, size_t count);

/* The same for a kernel that must end with an outcome of lib/ptx/ptx.h. */
#define LAUNCH_FAILS(name, shape, outcome, ...)                                       \
    launch_until(name, shape, (const kernel_argument[]){__VA_ARGS__},                 \
                 sizeof((const kernel_argument[]){__VA_ARGS__}) / sizeof(kernel_argument), outcome)
void launch_until(const char *name, kernel_shape shape, const kernel_argument *arguments,
                  size_t count, int outcome);

/* The memory of a variable of the module. */
void *find_variable(const char *name);

/* What kernels printed since the last call. */
const char *take_output(void);

void expect_same(const char *what, size_t at, uint64_t found, uint64_t expected);
void expect_near(const char *what, size_t at, double found, double expected, double tolerance);
#define SAME(at, found, expected) expect_same(#found, at, (uint64_t)(found), (uint64_t)(expected))
#define NEAR(at, found, expected, tolerance) expect_near(#found, at, found, expected, tolerance)

#endif
