/*
 * What a node of a graph costs when it is launched again, and what the same work costs when it is
 * submitted call by call: tiny fills and copies, by ctxrt and by bare driver calls, and operators.
 * The wait for it is part of both. Beside it, what planning a tensor costs.
 *
 * It takes the options of options.h, and --nodes N.
 */
#include "check.h"
#include "device/device.h"
#include "base/clock.h"
#include "options.h"
#include "rounds.h"
#include "table.h"

#include <ctxrt/ctxrt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICE CTXRT_CUDA(0)
#define TINY 64

typedef struct setting {
    const cx_driver_table *table;
    size_t nodes;
    ctxrt_memory *memory;
    unsigned char *from, *to;
    ctxrt_stream *stream;
    CUstream native;
    ctxrt_graph *fills, *copies, *captured_operators, *called_operators;
} setting;

/* ---- the work, once ---- */

static void submit_fills(const setting *s)
{
    for (size_t i = 0; i < s->nodes; i++)
        bench_check(ctxrt_fill_async(s->to, (int)i & 0xff, TINY, NULL));
}

static void submit_copies(const setting *s)
{
    for (size_t i = 0; i < s->nodes; i++)
        bench_check(ctxrt_copy_async(s->to, s->from, TINY, CTXRT_COPY_DEVICE_TO_DEVICE, NULL));
}

static void submit_fills_bare(const setting *s)
{
    for (size_t i = 0; i < s->nodes; i++)
        bench_check_driver(s->table->memset_d8_async((CUdeviceptr)(uintptr_t)s->to,
                                                     (unsigned char)i, TINY, s->native));
}

static void submit_copies_bare(const setting *s)
{
    for (size_t i = 0; i < s->nodes; i++)
        bench_check_driver(s->table->memcpy_dtod_async(
            (CUdeviceptr)(uintptr_t)s->to, (CUdeviceptr)(uintptr_t)s->from, TINY, s->native));
}

static ctxrt_status fill_one(void *argument)
{
    const setting *s = argument;
    return ctxrt_fill_async(s->to, 1, TINY, NULL);
}

static void submit_operators(setting *s, int capturable)
{
    const ctxrt_operator operation = {.struct_size = sizeof operation,
                                      .type = "fill",
                                      .run = fill_one,
                                      .user_data = s,
                                      .capturable = capturable};
    for (size_t i = 0; i < s->nodes; i++)
        bench_check(ctxrt_operator_submit(&operation));
}

static void wait_for_all(const setting *s)
{
    bench_check(ctxrt_stream_synchronize(s->stream));
}

static void launch(const setting *s, ctxrt_graph *graph, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bench_check(ctxrt_graph_launch(graph, s->stream));
        wait_for_all(s);
    }
}

/* ---- the same again and again ---- */

static void fills(size_t count, void *argument)
{
    for (size_t i = 0; i < count; i++) {
        submit_fills(argument);
        wait_for_all(argument);
    }
}

static void fills_bare(size_t count, void *argument)
{
    for (size_t i = 0; i < count; i++) {
        submit_fills_bare(argument);
        wait_for_all(argument);
    }
}

static void fills_launched(size_t count, void *argument)
{
    launch(argument, ((setting *)argument)->fills, count);
}

static void copies(size_t count, void *argument)
{
    for (size_t i = 0; i < count; i++) {
        submit_copies(argument);
        wait_for_all(argument);
    }
}

static void copies_bare(size_t count, void *argument)
{
    for (size_t i = 0; i < count; i++) {
        submit_copies_bare(argument);
        wait_for_all(argument);
    }
}

static void copies_launched(size_t count, void *argument)
{
    launch(argument, ((setting *)argument)->copies, count);
}

static void operators_captured(size_t count, void *argument)
{
    for (size_t i = 0; i < count; i++) {
        submit_operators(argument, 1);
        wait_for_all(argument);
    }
}

static void captured_launched(size_t count, void *argument)
{
    launch(argument, ((setting *)argument)->captured_operators, count);
}

static void operators_called(size_t count, void *argument)
{
    for (size_t i = 0; i < count; i++) {
        submit_operators(argument, 0);
        wait_for_all(argument);
    }
}

static void called_launched(size_t count, void *argument)
{
    launch(argument, ((setting *)argument)->called_operators, count);
}

typedef struct row {
    const char *name;
    bench_operation direct, replayed;
} row;

static const row rows[] = {
    {"fills, by ctxrt", fills, fills_launched},
    {"fills, bare driver", fills_bare, fills_launched},
    {"copies, by ctxrt", copies, copies_launched},
    {"copies, bare driver", copies_bare, copies_launched},
    {"operators, captured", operators_captured, captured_launched},
    {"operators, called", operators_called, called_launched},
};

/* ---- planning ---- */

/* A chain: each tensor is freed when the next but one is there. */
static void plan_chain(size_t tensors)
{
    size_t made[3], peak;
    ctxrt_plan *plan;
    bench_check(ctxrt_plan_create(256, &plan));
    for (size_t i = 0; i < tensors; i++) {
        bench_check(ctxrt_plan_alloc(plan, 1000 * (1 + i % 7), &made[i % 3]));
        if (i >= 2)
            bench_check(ctxrt_plan_free(plan, made[(i - 2) % 3]));
    }
    bench_check(ctxrt_plan_peak(plan, &peak));
    bench_check(ctxrt_plan_destroy(plan));
}

static double plan_ns(size_t tensors, size_t count)
{
    plan_chain(tensors);
    uint64_t begin = cx_clock_ns();
    for (size_t i = 0; i < count; i++)
        plan_chain(tensors);
    return (double)(cx_clock_ns() - begin) / (double)(count * tensors);
}

/* ---- the whole ---- */

static ctxrt_graph *capture(const setting *s, void (*submit)(const setting *))
{
    ctxrt_graph *graph;
    bench_check(ctxrt_stream_capture_begin(s->stream, CTXRT_CAPTURE_THREAD_LOCAL));
    submit(s);
    bench_check(ctxrt_stream_capture_end(s->stream, &graph));
    return graph;
}

static ctxrt_graph *record(setting *s, int capturable)
{
    ctxrt_graph *graph;
    bench_check(ctxrt_recording_start(NULL));
    submit_operators(s, capturable);
    bench_check(ctxrt_recording_stop(&graph));
    return graph;
}

static void prepare(setting *s)
{
    int count;
    cx_device *device;
    bench_check(ctxrt_device_count(CTXRT_DEVICE_CUDA, &count));
    if (count == 0) {
        (void)!ctxrt_device_set(DEVICE); /* for its message */
        fprintf(stderr, "bench_graph: %s\n", ctxrt_last_error()->message);
        exit(77);
    }
    bench_check(ctxrt_device_set(DEVICE));
    bench_check(cx_device_find(DEVICE, &device));
    s->table = &device->driver->table;
    bench_check(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &s->stream));
    bench_check(ctxrt_stream_native(s->stream, &s->native));
    bench_check(ctxrt_frame_set_stream(s->stream));
    bench_check(ctxrt_memory_alloc(2 * TINY, &s->memory));
    s->from = ctxrt_memory_pointer(s->memory);
    s->to = s->from + TINY;
    s->fills = capture(s, submit_fills);
    s->copies = capture(s, submit_copies);
    s->captured_operators = record(s, 1);
    s->called_operators = record(s, 0);
}

static void finish(const setting *s)
{
    ctxrt_graph *const graphs[] = {s->fills, s->copies, s->captured_operators, s->called_operators};
    bench_check(ctxrt_device_synchronize());
    for (size_t i = 0; i < sizeof graphs / sizeof graphs[0]; i++)
        bench_check(ctxrt_graph_release(graphs[i]));
    bench_check(ctxrt_memory_release(s->memory));
    bench_check(ctxrt_frame_set_stream(NULL));
    bench_check(ctxrt_stream_destroy(s->stream));
    bench_check(ctxrt_stack_pop());
    bench_check(ctxrt_shutdown());
}

static void print_row(const setting *s, const row *shown, size_t count, int rounds)
{
    const double nodes = (double)s->nodes;
    bench_pair pair =
        bench_run(shown->direct, shown->replayed, (void *)(uintptr_t)s, count, rounds);
    const double values[] = {pair.rival.best_ns / nodes, pair.rival.median_ns / nodes,
                             pair.ours.best_ns / nodes, pair.ours.median_ns / nodes,
                             pair.ratio_median};
    bench_table_row(shown->name, values);
}

static void take_options(int argc, char **argv, setting *s)
{
    for (int i = 1, taken; i < argc; i += taken) {
        taken = bench_option(argc, argv, i);
        if (taken != 0)
            continue;
        if (strcmp(argv[i], "--nodes") != 0 || i + 1 == argc) {
            fprintf(stderr, "usage: bench_graph [--nodes N] " BENCH_USAGE "\n");
            exit(2);
        }
        s->nodes = (size_t)bench_number(argv[i + 1], 1, 100000);
        taken = 2;
    }
}

int main(int argc, char **argv)
{
    static const bench_column columns[] = {
        {"submitted_best_ns", "submitted, best ns a node", 1},
        {"submitted_median_ns", "submitted, median ns a node", 1},
        {"launched_best_ns", "launched, best ns a node", 1},
        {"launched_median_ns", "launched, median ns a node", 1},
        {"ratio", "ratio of the medians", 2},
        {0},
    };
    static const bench_column planning[] = {{"tensor_ns", "ns a tensor", 1}, {0}};
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    setting s = {.nodes = 100};
    take_options(argc, argv, &s);
    options.cuda_driver =
        bench_chosen.libcuda ? CTXRT_CUDA_DRIVER_LIBCUDA : CTXRT_CUDA_DRIVER_EMULATED;

    bench_check(ctxrt_init(&options));
    prepare(&s);
    size_t launches = bench_count(20000, 200) / s.nodes + 1;
    bench_tables_begin("graph");
    bench_table_begin("launches", "work", columns);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        print_row(&s, &rows[i], launches, bench_rounds(31));
    bench_table_end();
    bench_table_begin("planning", "", planning);
    bench_table_row("planning", (const double[]){plan_ns(s.nodes, launches)});
    bench_table_end();
    bench_tables_end();
    finish(&s);
    return 0;
}
