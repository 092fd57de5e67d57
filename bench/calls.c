#include "calls.h"

#include "check.h"
#include "emu/emu.h"
#include "table.h"

#include <stdio.h>
#include <stdlib.h>

cx_driver_table bench_bare, bench_layered;
static CUcontext context, other;
static CUstream stream, waiter;
static CUevent event;
static CUdeviceptr memory;

#define MUST(call) bench_check_driver((int)(call))

/* ---- calls ---- */

static void get_current(const cx_driver_table *table)
{
    CUcontext current;
    MUST(table->ctx_get_current(&current));
}

static void set_current(const cx_driver_table *table)
{
    MUST(table->ctx_set_current(context));
}

static void push_pop(const cx_driver_table *table)
{
    CUcontext popped;
    MUST(table->ctx_push(other));
    MUST(table->ctx_pop(&popped));
}

static void query_stream(const cx_driver_table *table)
{
    MUST(table->stream_query(stream));
}

static void record_wait(const cx_driver_table *table)
{
    MUST(table->event_record(event, stream));
    MUST(table->stream_wait_event(waiter, event, 0));
}

static void fill(const cx_driver_table *table)
{
    MUST(table->memset_d8_async(memory, 1, 64, stream));
}

static void copy(const cx_driver_table *table)
{
    MUST(table->memcpy_dtod_async(memory + 128, memory, 64, stream));
}

static void make_event(const cx_driver_table *table)
{
    CUevent made;
    MUST(table->event_create(&made, 0));
    MUST(table->event_destroy(made));
}

static void make_stream(const cx_driver_table *table)
{
    CUstream made;
    MUST(table->stream_create(&made, 1));
    MUST(table->stream_destroy(made));
}

static void allocate(const cx_driver_table *table)
{
    CUdeviceptr made;
    MUST(table->mem_alloc(&made, 512));
    MUST(table->mem_free(made));
}

typedef struct bench_call {
    const char *name;
    void (*call)(const cx_driver_table *table);
    int calls;      /* of the driver */
    int backtraces; /* that the layer check takes for them */
} bench_call;

static const bench_call calls[] = {
    {"ctx get current", get_current, 1, 0},
    {"stream query", query_stream, 1, 0},
    {"event record + stream wait", record_wait, 2, 0},
    {"fill, 64 bytes", fill, 1, 1},
    {"copy, 64 bytes", copy, 1, 1},
    {"ctx set current", set_current, 1, 1},
    {"ctx push + pop", push_pop, 2, 2},
    {"event create + destroy", make_event, 2, 2},
    {"stream create + destroy", make_stream, 2, 2},
    {"mem alloc + free", allocate, 2, 2},
};

static void call_bare(size_t count, void *argument)
{
    const bench_call *self = argument;
    for (size_t i = 0; i < count; i++)
        self->call(&bench_bare);
    MUST(bench_bare.ctx_synchronize());
}

static void call_layered(size_t count, void *argument)
{
    const bench_call *self = argument;
    for (size_t i = 0; i < count; i++)
        self->call(&bench_layered);
    MUST(bench_layered.ctx_synchronize());
}

void bench_time_calls(bool backtraces, size_t count, int rounds)
{
    static const bench_column all[] = {
        {"backtraces", "backtraces", 0},
        {"bare_best_ns", "bare, best ns a call", 1}, {"bare_median_ns", "bare, median ns", 1},
        {"added_best_ns", "added, best ns", 1},      {"added_median_ns", "added, median ns", 1},
        {0},
    };
    const int first = backtraces ? 0 : 1;
    bench_table_begin("calls", "calls", all + first);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const bench_call *one = &calls[i];
        bench_pair pair = bench_run(call_bare, call_layered, (void *)one, count, rounds);
        double each = one->calls;
        const double values[] = {one->backtraces, pair.rival.best_ns / each,
                                 pair.rival.median_ns / each, pair.added_best_ns / each,
                                 pair.added_median_ns / each};
        bench_table_row(one->name, values + first);
    }
    bench_table_end();
}

size_t bench_call_each(const cx_driver_table *table)
{
    size_t made = 0;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        calls[i].call(table);
        made += (size_t)calls[i].calls;
    }
    return made;
}

/* ---- setting ---- */

void bench_prepare_calls(bool (*put)(const cx_driver_table *below, cx_driver_table *out_table))
{
    const cx_emu_config config = {.gpus = 2, .gpu_memory_bytes = (size_t)1 << 30,
                                  .driver_version = 13000};
    if (!cx_emu_configure(&config))
        exit(1);
    bench_bare = *cx_emu_driver();
    if (!put(&bench_bare, &bench_layered))
        exit(1);
    MUST(bench_layered.init(0));
    MUST(bench_layered.ctx_create_v2(&other, 0, 0));
    MUST(bench_layered.ctx_create_v2(&context, 0, 0));
    MUST(bench_layered.stream_create(&stream, 0));
    MUST(bench_layered.stream_create(&waiter, 0));
    MUST(bench_layered.event_create(&event, 0));
    MUST(bench_layered.mem_alloc(&memory, 4096));
}
