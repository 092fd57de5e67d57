/*
 * ctxrt beside NVIDIA's runtime library, linked statically, in one process and by turns: setting
 * and asking for the device, allocations, copies of 64 bytes to 256 MiB, launches and graphs. The
 * driver is libcuda: the runtime library talks to no other. Without a GPU it exits with 77.
 *
 * It takes the options of options.h.
 */
#include "check.h"
#include "options.h"
#include "rounds.h"
#include "table.h"

#include <ctxrt/ctxrt.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#if CUDART_VERSION < 12080
int main(void)
{
    fprintf(stderr, "bench_runtime_api: built with a toolkit older than 12.8\n");
    return 77;
}
#else

typedef struct setting {
    ctxrt_stream *stream;
    ctxrt_module *module;
    ctxrt_kernel *kernel;
    ctxrt_graph *graph;
    cudaStream_t native_stream;
    cudaLibrary_t library;
    cudaKernel_t native_kernel;
    cudaGraphExec_t native_graph;
    unsigned char *device[2], *pinned;
    size_t bytes; /* of an allocation or a copy */
} setting;

enum { LAUNCHES_IN_GRAPH = 16, LAUNCHES_AT_ONCE = 512 };
static const size_t most_bytes = 256u << 20;

static const char empty_ptx[] = ".version 6.3\n.target sm_50\n.address_size 64\n"
                                ".visible .entry empty()\n{\n    ret;\n}\n";

static void check_runtime(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "bench_runtime_api: the runtime library: %s\n", cudaGetErrorString(error));
    exit(1);
}

/* ---- the device ---- */

static void runtime_set(size_t count, void *argument)
{
    (void)argument;
    for (size_t i = 0; i < count; i++)
        check_runtime(cudaSetDevice(0));
}

static void ctxrt_set(size_t count, void *argument)
{
    (void)argument;
    for (size_t i = 0; i < count; i++)
        bench_check(ctxrt_device_set(CTXRT_CUDA(0)));
}

static void runtime_get(size_t count, void *argument)
{
    int device;
    (void)argument;
    for (size_t i = 0; i < count; i++)
        check_runtime(cudaGetDevice(&device));
}

static void ctxrt_get(size_t count, void *argument)
{
    ctxrt_device device;
    (void)argument;
    for (size_t i = 0; i < count; i++)
        bench_check(ctxrt_device_get(&device));
}

/* ---- allocations ---- */

static void runtime_alloc(size_t count, void *argument)
{
    const setting *s = argument;
    void *memory;
    for (size_t i = 0; i < count; i++) {
        check_runtime(cudaMalloc(&memory, s->bytes));
        check_runtime(cudaFree(memory));
    }
}

static void runtime_alloc_async(size_t count, void *argument)
{
    const setting *s = argument;
    void *memory;
    for (size_t i = 0; i < count; i++) {
        check_runtime(cudaMallocAsync(&memory, s->bytes, s->native_stream));
        check_runtime(cudaFreeAsync(memory, s->native_stream));
    }
}

static void ctxrt_allocate(size_t count, void *argument)
{
    const setting *s = argument;
    ctxrt_memory *memory;
    for (size_t i = 0; i < count; i++) {
        bench_check(ctxrt_memory_alloc(s->bytes, &memory));
        bench_check(ctxrt_memory_release(memory));
    }
}

/* ---- copies ---- */

static void runtime_to_device(size_t count, void *argument)
{
    const setting *s = argument;
    for (size_t i = 0; i < count; i++)
        check_runtime(cudaMemcpyAsync(s->device[0], s->pinned, s->bytes, cudaMemcpyHostToDevice,
                                      s->native_stream));
    check_runtime(cudaStreamSynchronize(s->native_stream));
}

static void ctxrt_to_device(size_t count, void *argument)
{
    const setting *s = argument;
    for (size_t i = 0; i < count; i++)
        bench_check(ctxrt_copy_async(s->device[0], s->pinned, s->bytes,
                                     CTXRT_COPY_HOST_TO_DEVICE, s->stream));
    bench_check(ctxrt_stream_synchronize(s->stream));
}

static void runtime_within_device(size_t count, void *argument)
{
    const setting *s = argument;
    for (size_t i = 0; i < count; i++)
        check_runtime(cudaMemcpyAsync(s->device[0], s->device[1], s->bytes,
                                      cudaMemcpyDeviceToDevice, s->native_stream));
    check_runtime(cudaStreamSynchronize(s->native_stream));
}

static void ctxrt_within_device(size_t count, void *argument)
{
    const setting *s = argument;
    for (size_t i = 0; i < count; i++)
        bench_check(ctxrt_copy_async(s->device[0], s->device[1], s->bytes,
                                     CTXRT_COPY_DEVICE_TO_DEVICE, s->stream));
    bench_check(ctxrt_stream_synchronize(s->stream));
}

/* ---- kernels and graphs ---- */

static void runtime_launch(size_t count, void *argument)
{
    const setting *s = argument;
    for (size_t i = 1; i <= count; i++) {
        check_runtime(cudaLaunchKernel((const void *)s->native_kernel, (struct dim3){1, 1, 1},
                                       (struct dim3){32, 1, 1}, NULL, 0, s->native_stream));
        if (i % LAUNCHES_AT_ONCE == 0)
            check_runtime(cudaStreamSynchronize(s->native_stream));
    }
    check_runtime(cudaStreamSynchronize(s->native_stream));
}

static void ctxrt_launches(size_t count, void *argument)
{
    const setting *s = argument;
    ctxrt_launch_config config = CTXRT_LAUNCH_CONFIG_INIT;
    config.block[0] = 32;
    config.stream = s->stream;
    for (size_t i = 1; i <= count; i++) {
        bench_check(ctxrt_launch(&config, s->kernel, NULL, 0));
        if (i % LAUNCHES_AT_ONCE == 0)
            bench_check(ctxrt_stream_synchronize(s->stream));
    }
    bench_check(ctxrt_stream_synchronize(s->stream));
}

static void runtime_graph(size_t count, void *argument)
{
    const setting *s = argument;
    for (size_t i = 0; i < count; i++)
        check_runtime(cudaGraphLaunch(s->native_graph, s->native_stream));
    check_runtime(cudaStreamSynchronize(s->native_stream));
}

static void ctxrt_graphs(size_t count, void *argument)
{
    const setting *s = argument;
    for (size_t i = 0; i < count; i++)
        bench_check(ctxrt_graph_launch(s->graph, s->stream));
    bench_check(ctxrt_stream_synchronize(s->stream));
}

/* Both sides capture the same launches, each with its own calls. */
static void make_graphs(setting *s)
{
    cudaGraph_t graph;
    check_runtime(cudaStreamBeginCapture(s->native_stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < LAUNCHES_IN_GRAPH; i++)
        check_runtime(cudaLaunchKernel((const void *)s->native_kernel, (struct dim3){1, 1, 1},
                                       (struct dim3){32, 1, 1}, NULL, 0, s->native_stream));
    check_runtime(cudaStreamEndCapture(s->native_stream, &graph));
    check_runtime(cudaGraphInstantiate(&s->native_graph, graph, 0));
    check_runtime(cudaGraphDestroy(graph));

    ctxrt_launch_config config = CTXRT_LAUNCH_CONFIG_INIT;
    config.block[0] = 32;
    config.stream = s->stream;
    bench_check(ctxrt_stream_capture_begin(s->stream, CTXRT_CAPTURE_THREAD_LOCAL));
    for (int i = 0; i < LAUNCHES_IN_GRAPH; i++)
        bench_check(ctxrt_launch(&config, s->kernel, NULL, 0));
    bench_check(ctxrt_stream_capture_end(s->stream, &s->graph));
}

static void prepare(setting *s)
{
    void *memory;
    int count;
    bench_check(ctxrt_device_count(CTXRT_DEVICE_CUDA, &count));
    if (count == 0) {
        (void)!ctxrt_device_set(CTXRT_CUDA(0)); /* for its message */
        fprintf(stderr, "bench_runtime_api: %s\n", ctxrt_last_error()->message);
        exit(77);
    }
    cudaError_t served = cudaSetDevice(0);
    if (served != cudaSuccess) {
        fprintf(stderr, "bench_runtime_api: the runtime library does not serve this driver: %s\n",
                cudaGetErrorString(served));
        exit(77);
    }
    check_runtime(cudaStreamCreate(&s->native_stream));
    bench_check(ctxrt_device_set(CTXRT_CUDA(0)));
    bench_check(ctxrt_stream_create(0, 0, &s->stream));
    bench_check(ctxrt_module_load(empty_ptx, 0, &s->module));
    bench_check(ctxrt_module_get_kernel(s->module, "empty", &s->kernel));
    check_runtime(cudaLibraryLoadData(&s->library, empty_ptx, NULL, NULL, 0, NULL, NULL, 0));
    check_runtime(cudaLibraryGetKernel(&s->native_kernel, s->library, "empty"));
    for (int i = 0; i < 2; i++) {
        bench_check(ctxrt_alloc(most_bytes, &memory));
        s->device[i] = memory;
    }
    bench_check(ctxrt_alloc_pinned(most_bytes, &memory));
    s->pinned = memory;
    make_graphs(s);
}

static void finish(setting *s)
{
    bench_check(ctxrt_graph_release(s->graph));
    check_runtime(cudaGraphExecDestroy(s->native_graph));
    check_runtime(cudaLibraryUnload(s->library));
    check_runtime(cudaStreamDestroy(s->native_stream));
    bench_check(ctxrt_free(s->pinned));
    for (int i = 0; i < 2; i++)
        bench_check(ctxrt_free(s->device[i]));
    bench_check(ctxrt_module_unload(s->module));
    bench_check(ctxrt_stream_destroy(s->stream));
    bench_check(ctxrt_stack_pop());
    bench_check(ctxrt_shutdown());
}

typedef struct row {
    const char *name;
    bench_operation rival, ours;
    size_t bytes, count;
} row;

static const row calls[] = {
    {"cudaSetDevice: ctxrt_device_set", runtime_set, ctxrt_set, 0, 100000},
    {"cudaGetDevice: ctxrt_device_get", runtime_get, ctxrt_get, 0, 100000},
    {"cudaMalloc + cudaFree, 1 KiB", runtime_alloc, ctxrt_allocate, 1 << 10, 1000},
    {"cudaMalloc + cudaFree, 1 MiB", runtime_alloc, ctxrt_allocate, 1 << 20, 1000},
    {"cudaMallocAsync + cudaFreeAsync, 1 KiB", runtime_alloc_async, ctxrt_allocate, 1 << 10, 10000},
    {"cudaMallocAsync + cudaFreeAsync, 1 MiB", runtime_alloc_async, ctxrt_allocate, 1 << 20, 10000},
    {"cudaLaunchKernel, empty", runtime_launch, ctxrt_launches, 0, 10000},
    {"cudaGraphLaunch, 16 empty kernels", runtime_graph, ctxrt_graphs, 0, 1000},
};
static const row copies[] = {
    {"to the device, 64 B", runtime_to_device, ctxrt_to_device, 64, 5000},
    {"to the device, 64 KiB", runtime_to_device, ctxrt_to_device, 64 << 10, 1000},
    {"to the device, 1 MiB", runtime_to_device, ctxrt_to_device, 1 << 20, 200},
    {"to the device, 256 MiB", runtime_to_device, ctxrt_to_device, 256 << 20, 2},
    {"within the device, 64 B", runtime_within_device, ctxrt_within_device, 64, 5000},
    {"within the device, 64 KiB", runtime_within_device, ctxrt_within_device, 64 << 10, 5000},
    {"within the device, 1 MiB", runtime_within_device, ctxrt_within_device, 1 << 20, 2000},
    {"within the device, 256 MiB", runtime_within_device, ctxrt_within_device, 256 << 20, 20},
};

static void time_rows(setting *s, const char *key, const row *rows, size_t count)
{
    static const bench_column columns[] = {
        {"runtime_best_ns", "runtime API, best ns", 1},
        {"runtime_median_ns", "runtime API, median ns", 1},
        {"ctxrt_best_ns", "ctxrt, best ns", 1},
        {"ctxrt_median_ns", "ctxrt, median ns", 1},
        {"ratio", "ctxrt / runtime API, median", 2},
        {0},
    };
    bench_table_begin(key, "operation", columns);
    for (size_t i = 0; i < count; i++) {
        s->bytes = rows[i].bytes;
        bench_pair pair = bench_run(rows[i].rival, rows[i].ours, s,
                                    bench_chosen.count != 0 ? bench_chosen.count : rows[i].count,
                                    bench_rounds(11));
        const double values[] = {pair.rival.best_ns, pair.rival.median_ns, pair.ours.best_ns,
                                 pair.ours.median_ns, pair.ratio_median};
        bench_table_row(rows[i].name, values);
    }
    bench_table_end();
}

int main(int argc, char **argv)
{
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    setting s = {0};
    bench_options_take(argc, argv, "bench_runtime_api");
    options.cuda_driver = CTXRT_CUDA_DRIVER_LIBCUDA;
    bench_check(ctxrt_init(&options));
    prepare(&s);
    bench_tables_begin("runtime_api");
    time_rows(&s, "calls", calls, sizeof calls / sizeof calls[0]);
    time_rows(&s, "copies", copies, sizeof copies / sizeof copies[0]);
    bench_tables_end();
    finish(&s);
    return 0;
}
#endif
