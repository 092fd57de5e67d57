/*
 * What the InfiniRT interface adds to the calls of ctxrt that it makes: the same operation through
 * both, on one stream of one GPU (or the CPU, with --cpu). Where there is no second GPU, devices
 * are set by turns with the CPU.
 * With --cpu also what the calls cost beside the least that an interface with several backends can
 * do on a CPU: the C library's function behind a pointer.
 *
 * It takes the options of options.h besides.
 */
#include "check.h"
#include "options.h"
#include "rounds.h"
#include "table.h"

#include <ctxrt/ctxrt.h>
#include <infinirt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 4096 };

typedef struct setting {
    ctxrt_device first, second;
    ctxrt_stream *stream;
    ctxrt_event *event;
    ctxrt_graph *graph;
    infinirtStream_t infini_stream;
    infinirtEvent_t infini_event;
    infinirtGraphExec_t infini_graph;
    void *memory, *other, *host, *plain;
} setting;

static void check_infini(infiniStatus_t status)
{
    if (status != INFINI_STATUS_SUCCESS)
        bench_check(ctxrt_last_error()->status);
}

/* Each row once through ctxrt and once through InfiniRT: the same loop around one call or two. */
#define ROWS(X)                                                                                    \
    X(set_device, "set device, two by turns",                                                      \
      bench_check(ctxrt_device_set(i % 2 == 0 ? s->first : s->second)),                            \
      check_infini(infinirtSetDevice((infiniDevice_t)(i % 2 == 0 ? s->first : s->second).type,     \
                                     (i % 2 == 0 ? s->first : s->second).index)))                  \
    X(get_device, "get device", bench_check(ctxrt_device_get(&device)),                            \
      check_infini(infinirtGetDevice(&type, &device.index)))                                       \
    X(allocate, "allocate, free",                                                                  \
      (bench_check(ctxrt_alloc(BYTES, &pointer)), bench_check(ctxrt_free(pointer))),               \
      (check_infini(infinirtMalloc(&pointer, BYTES)), check_infini(infinirtFree(pointer))))        \
    X(record, "record event", bench_check(ctxrt_event_record(s->event, s->stream)),                \
      check_infini(infinirtEventRecord(s->infini_event, s->infini_stream)))                        \
    X(copy, "copy 4 KiB in a stream, wait",                                                        \
      (bench_check(                                                                                \
           ctxrt_copy_async(s->memory, s->host, BYTES, CTXRT_COPY_HOST_TO_DEVICE, s->stream)),     \
       bench_check(ctxrt_stream_synchronize(s->stream))),                                          \
      (check_infini(                                                                               \
           infinirtMemcpyAsync(s->memory, s->host, BYTES, INFINIRT_MEMCPY_H2D, s->infini_stream)), \
       check_infini(infinirtStreamSynchronize(s->infini_stream))))                                 \
    X(fill, "fill 4 KiB in a stream, wait",                                                        \
      (bench_check(ctxrt_fill_async(s->memory, 7, BYTES, s->stream)),                              \
       bench_check(ctxrt_stream_synchronize(s->stream))),                                          \
      (check_infini(infinirtMemsetAsync(s->memory, 7, BYTES, s->infini_stream)),                   \
       check_infini(infinirtStreamSynchronize(s->infini_stream))))                                 \
    X(copy_now, "copy 4 KiB, done",                                                                \
      bench_check(ctxrt_copy(s->memory, s->host, BYTES, CTXRT_COPY_ANY)),                          \
      check_infini(infinirtMemcpy(s->memory, s->host, BYTES, INFINIRT_MEMCPY_H2D)))                \
    X(copy_plain, "copy 4 KiB of malloc, done",                                                    \
      bench_check(ctxrt_copy(s->memory, s->plain, BYTES, CTXRT_COPY_ANY)),                         \
      check_infini(infinirtMemcpy(s->memory, s->plain, BYTES, INFINIRT_MEMCPY_H2D)))               \
    X(fill_now, "fill 4 KiB, done", bench_check(ctxrt_fill(s->memory, 7, BYTES)),                  \
      check_infini(infinirtMemset(s->memory, 7, BYTES)))                                           \
    X(launch, "launch graph of two, wait",                                                         \
      (bench_check(ctxrt_graph_launch(s->graph, s->stream)),                                       \
       bench_check(ctxrt_stream_synchronize(s->stream))),                                          \
      (check_infini(infinirtGraphLuanch(s->infini_graph, s->infini_stream)),                       \
       check_infini(infinirtStreamSynchronize(s->infini_stream))))

#define OPERATION(name, call)                                                                     \
    static void name(size_t count, void *argument)                                                \
    {                                                                                             \
        const setting *s = argument;                                                              \
        ctxrt_device device = s->first;                                                           \
        infiniDevice_t type = INFINI_DEVICE_CPU;                                                  \
        void *pointer = NULL;                                                                     \
        for (size_t i = 0; i < count; i++)                                                        \
            call;                                                                                 \
        (void)device, (void)type, (void)pointer;                                                  \
    }
#define BOTH(name, text, call, infini_call) \
    OPERATION(name, call) OPERATION(infini_##name, infini_call)
ROWS(BOTH)

static const struct {
    const char *name;
    bench_operation ctxrt, infini;
} rows[] = {
#define ROW(name, text, call, infini_call) {text, name, infini_##name},
    ROWS(ROW)
#undef ROW
};

/* ---- beside a plain backend ---- */

/* Read at each call, as an interface reads the backend of the thread's device. */
typedef struct backend {
    void *(*allocate)(size_t bytes);
    void (*free)(void *pointer);
    void *(*copy)(void *destination, const void *source, size_t bytes);
    void *(*fill)(void *destination, int value, size_t bytes);
} backend;
static const backend plain = {malloc, free, memcpy, memset};
static const backend *volatile chosen = &plain;

#define PLAIN_ROWS(X)                                                                              \
    X(plain_copy, "copy 4 KiB, done", chosen->copy(s->memory, s->other, BYTES),                    \
      check_infini(infinirtMemcpy(s->memory, s->other, BYTES, INFINIRT_MEMCPY_D2D)))               \
    X(plain_copy_malloc, "copy 4 KiB of malloc, done", chosen->copy(s->memory, s->plain, BYTES),   \
      check_infini(infinirtMemcpy(s->memory, s->plain, BYTES, INFINIRT_MEMCPY_H2D)))               \
    X(plain_copy_stream, "copy 4 KiB in a stream", chosen->copy(s->memory, s->other, BYTES),       \
      check_infini(                                                                                \
          infinirtMemcpyAsync(s->memory, s->other, BYTES, INFINIRT_MEMCPY_D2D, s->infini_stream))) \
    X(plain_fill, "fill 4 KiB, done", chosen->fill(s->memory, 7, BYTES),                           \
      check_infini(infinirtMemset(s->memory, 7, BYTES)))                                           \
    X(plain_fill_stream, "fill 4 KiB in a stream", chosen->fill(s->memory, 7, BYTES),              \
      check_infini(infinirtMemsetAsync(s->memory, 7, BYTES, s->infini_stream)))                    \
    X(plain_allocate, "allocate, free 4 KiB",                                                      \
      (pointer = chosen->allocate(BYTES), chosen->free(pointer)),                                  \
      (check_infini(infinirtMalloc(&pointer, BYTES)), check_infini(infinirtFree(pointer))))

PLAIN_ROWS(BOTH)
#undef BOTH

static const struct {
    const char *name;
    bench_operation plain, infini;
} plain_rows[] = {
#define ROW(name, text, call, infini_call) {text, name, infini_##name},
    PLAIN_ROWS(ROW)
#undef ROW
};

static void time_plain_rows(setting *s, size_t count, int rounds)
{
    static const bench_column columns[] = {
        {"plain_best_ns", "plain, best ns", 1},
        {"infinirt_best_ns", "InfiniRT, best ns", 1},
        {"added_best_ns", "added, best ns", 1},
        {"ratio", "ratio of the best", 2},
        {0},
    };
    bench_table_begin("plain", "operation", columns);
    for (size_t i = 0; i < sizeof plain_rows / sizeof plain_rows[0]; i++) {
        bench_pair pair = bench_run(plain_rows[i].plain, plain_rows[i].infini, s, count, rounds);
        const double values[] = {pair.rival.best_ns, pair.ours.best_ns, pair.added_best_ns,
                                 pair.ours.best_ns / pair.rival.best_ns};
        bench_table_row(plain_rows[i].name, values);
    }
    bench_table_end();
}

static void prepare_graphs(setting *s)
{
    infinirtGraph_t graph;
    bench_check(ctxrt_stream_capture_begin(s->stream, CTXRT_CAPTURE_RELAXED));
    bench_check(ctxrt_fill_async(s->memory, 7, BYTES, s->stream));
    bench_check(ctxrt_copy_async(s->host, s->memory, BYTES, CTXRT_COPY_DEVICE_TO_HOST, s->stream));
    bench_check(ctxrt_stream_capture_end(s->stream, &s->graph));
    check_infini(
        infinirtStreamBeginCapture(s->infini_stream, INFINIRT_STREAM_CAPTURE_MODE_RELAXED));
    check_infini(infinirtMemsetAsync(s->memory, 7, BYTES, s->infini_stream));
    check_infini(
        infinirtMemcpyAsync(s->host, s->memory, BYTES, INFINIRT_MEMCPY_D2H, s->infini_stream));
    check_infini(infinirtStreamEndCapture(s->infini_stream, &graph));
    check_infini(infinirtGraphInstantiate(&s->infini_graph, graph, NULL, NULL, 0));
    check_infini(infinirtGraphDestroy(graph));
}

static void prepare(setting *s)
{
    bench_check(ctxrt_device_set(s->second));
    bench_check(ctxrt_device_set(s->first));
    bench_check(ctxrt_stream_create(CTXRT_STREAM_DEFAULT, 0, &s->stream));
    bench_check(ctxrt_event_create(CTXRT_EVENT_DEFAULT, &s->event));
    check_infini(infinirtStreamCreate(&s->infini_stream));
    check_infini(infinirtEventCreate(&s->infini_event));
    check_infini(infinirtMalloc(&s->memory, BYTES));
    check_infini(infinirtMalloc(&s->other, BYTES));
    check_infini(infinirtMallocHost(&s->host, BYTES));
    s->plain = malloc(BYTES);
    if (s->plain == NULL)
        exit(1);
    prepare_graphs(s);
}

static void take_options(int argc, char **argv, setting *s)
{
    for (int i = 1, taken; i < argc; i += taken) {
        taken = bench_option(argc, argv, i);
        if (taken != 0)
            continue;
        if (strcmp(argv[i], "--cpu") != 0) {
            fprintf(stderr, "usage: bench_infinirt [--cpu] " BENCH_USAGE "\n");
            exit(2);
        }
        s->first = CTXRT_CPU(0);
        taken = 1;
    }
}

int main(int argc, char **argv)
{
    static const bench_column columns[] = {
        {"ctxrt_median_ns", "ctxrt, median ns", 1},
        {"infinirt_median_ns", "InfiniRT, median ns", 1},
        {"added_median_ns", "added, median ns", 1},
        {"ratio", "ratio of the medians", 2},
        {0},
    };
    int gpus;
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    setting s = {.first = CTXRT_CUDA(0), .second = CTXRT_CUDA(1)};
    take_options(argc, argv, &s);
    options.cuda_driver =
        bench_chosen.libcuda ? CTXRT_CUDA_DRIVER_LIBCUDA : CTXRT_CUDA_DRIVER_EMULATED;
    const int rounds = bench_rounds(15);
    const size_t count = bench_count(50000, 50);
    bench_check(ctxrt_init(&options));
    bench_check(ctxrt_device_count(CTXRT_DEVICE_CUDA, &gpus));
    if (gpus < 2)
        s.second = CTXRT_CPU(0);
    prepare(&s);
    bench_tables_begin("infinirt");
    bench_table_begin("calls", "operation", columns);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench_check(ctxrt_device_set(s.first));
        bench_pair pair = bench_run(rows[i].ctxrt, rows[i].infini, &s, count, rounds);
        const double values[] = {pair.rival.median_ns, pair.ours.median_ns, pair.added_median_ns,
                                 pair.ratio_median};
        bench_table_row(rows[i].name, values);
    }
    bench_table_end();
    if (s.first.type == CTXRT_DEVICE_CPU)
        time_plain_rows(&s, count / 10 + 1, rounds);
    bench_tables_end();
    return 0;
}
