/*
 * What the CUDA Runtime library adds to the driver calls that it makes: the same operation through
 * the driver API and through the Runtime API, over the stand-in libcuda, by turns.
 *
 * It takes the options of options.h. It has no table for a real driver: that is the stand-in's
 * place in the loader's order.
 */
#include "../tests/cudart/code.h"
#include "../tests/standin/client.h"
#include "options.h"
#include "rounds.h"
#include "table.h"

#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 64 };

typedef struct setting {
    CUstream stream;
    CUevent event;
    CUfunction function;
    CUkernel kernel;
    void *memory, *host;
} setting;

static code_image image;
static char add_kernel; /* its address stands for the kernel, as a host function's does */

static void must(int result, const char *call)
{
    if (result == 0)
        return;
    fprintf(stderr, "bench_cudart: %s: error %d\n", call, result);
    exit(1);
}
#define MUST(call) must((int)(call), #call)

static void launch_by_driver(const setting *s)
{
    uint32_t count = 0, value = 1;
    void *parameters[] = {(void *)&s->memory, &count, &value};
    MUST(cuLaunchKernel(s->function, 1, 1, 1, 1, 1, 1, 0, s->stream, parameters, NULL));
}

/* As nvcc's code does it for add<<<1, 1, 0, stream>>>(memory, 0, 1) from the second time on. */
static void launch_by_runtime(const setting *s)
{
    uint32_t count = 0, value = 1;
    void *parameters[] = {(void *)&s->memory, &count, &value};
    cxr_dim3 grid, block;
    size_t shared;
    CUstream stream;
    if (__cudaPushCallConfiguration((cxr_dim3){1, 1, 1}, (cxr_dim3){1, 1, 1}, 0, s->stream) != 0)
        exit(1);
    MUST(__cudaPopCallConfiguration(&grid, &block, &shared, (void *)&stream));
    MUST(__cudaLaunchKernel(s->kernel, grid, block, parameters, shared, stream));
}

/* The stream is held meanwhile, so that no kernel runs on the timed processor. */
static void hold(void *gate)
{
    sem_wait(gate);
}

#define ROWS(X)                                                                                \
    X(get_device, "get device", MUST(cuCtxGetDevice(&device)), MUST(cudaGetDevice(&device)))   \
    X(query, "stream query", MUST(cuStreamQuery(s->stream)), MUST(cudaStreamQuery(s->stream))) \
    X(record, "event record", MUST(cuEventRecord(s->event, s->stream)),                        \
      MUST(cudaEventRecord(s->event, s->stream)))                                              \
    X(allocate, "malloc + free",                                                               \
      (MUST(cuMemAlloc_v2(&address, BYTES)), MUST(cuMemFree_v2(address))),                     \
      (MUST(cudaMalloc(&pointer, BYTES)), MUST(cudaFree(pointer))))                            \
    X(copy, "copy of 64 bytes, done",                                                          \
      MUST(cuMemcpyHtoD_v2((CUdeviceptr)s->memory, s->host, BYTES)),                           \
      MUST(cudaMemcpy(s->memory, s->host, BYTES, CXR_HOST_TO_DEVICE)))

#define OPERATION(name, call)                                \
    static void name(size_t count, void *argument)           \
    {                                                        \
        const setting *s = argument;                         \
        int device = 0;                                      \
        CUdeviceptr address = 0;                             \
        void *pointer = NULL;                                \
        for (size_t i = 0; i < count; i++)                   \
            call;                                            \
        (void)s, (void)device, (void)address, (void)pointer; \
    }
#define BOTH(name, text, driver_call, runtime_call) \
    OPERATION(name##_by_driver, driver_call)        \
    OPERATION(name##_by_runtime, runtime_call)
ROWS(BOTH)

/* Launches are timed while their stream waits, and run when it is opened. */
static void launch_held(size_t count, const setting *s, void (*launch)(const setting *s))
{
    sem_t gate;
    bench_pause();
    if (sem_init(&gate, 0, 0) != 0)
        exit(1);
    MUST(cuLaunchHostFunc(s->stream, hold, &gate));
    bench_resume();
    for (size_t i = 0; i < count; i++)
        launch(s);
    bench_pause();
    sem_post(&gate);
    MUST(cuStreamSynchronize(s->stream));
    sem_destroy(&gate);
    bench_resume();
}

static void launches_by_driver(size_t count, void *argument)
{
    launch_held(count, argument, launch_by_driver);
}

static void launches_by_runtime(size_t count, void *argument)
{
    launch_held(count, argument, launch_by_runtime);
}

static const struct {
    const char *name;
    bench_operation driver, runtime;
} rows[] = {
#define ROW(name, text, driver_call, runtime_call) {text, name##_by_driver, name##_by_runtime},
    ROWS(ROW)
#undef ROW
        {"launch", launches_by_driver, launches_by_runtime},
};

static void prepare(setting *s)
{
    code_build(&image, CODE_HEAD CODE_ADD);
    void **binary = __cudaRegisterFatBinary(&image.wrapper);
    __cudaRegisterFunction(binary, &add_kernel, (char *)"add", "add", -1, NULL, NULL, NULL, NULL,
                           NULL);
    __cudaRegisterFatBinaryEnd(binary);
    MUST(cudaSetDevice(0));
    MUST(cudaStreamCreateWithFlags(&s->stream, CXU_STREAM_NON_BLOCKING));
    MUST(cudaEventCreateWithFlags(&s->event, CXU_EVENT_DISABLE_TIMING));
    MUST(cudaMalloc(&s->memory, BYTES));
    MUST(cudaMallocHost(&s->host, BYTES));
    MUST(__cudaGetKernel(&s->kernel, &add_kernel));
    MUST(cudaGetFuncBySymbol(&s->function, &add_kernel));
}

int main(int argc, char **argv)
{
    static const bench_column columns[] = {
        {"driver_best_ns", "driver, best ns", 1},
        {"driver_median_ns", "driver, median ns", 1},
        {"runtime_best_ns", "runtime, best ns", 1},
        {"runtime_median_ns", "runtime, median ns", 1},
        {"added_best_ns", "added, best ns", 1},
        {"added_median_ns", "added, median ns", 1},
        {0},
    };
    setting s;
    bench_options_take(argc, argv, "bench_cudart");
    if (bench_chosen.libcuda) {
        fprintf(stderr, "bench_cudart: it runs over the stand-in alone\n");
        return 77;
    }
    const int rounds = bench_rounds(31);
    const size_t count = bench_count(1000, 20);
    prepare(&s);
    bench_tables_begin("cudart");
    bench_table_begin("calls", "operation", columns);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench_pair pair = bench_run(rows[i].driver, rows[i].runtime, &s, count, rounds);
        const double values[] = {pair.rival.best_ns,  pair.rival.median_ns, pair.ours.best_ns,
                                 pair.ours.median_ns, pair.added_best_ns,   pair.added_median_ns};
        bench_table_row(rows[i].name, values);
    }
    bench_table_end();
    bench_tables_end();
    return 0;
}
