/*
 * What the layer check adds to driver calls, how much memory it keeps for each live object, and by
 * how much its memory grows over many calls. The same calls go through the embedded driver's own
 * table and through the layer, by turns, in rounds that are shorter than a time slice.
 *
 * usage: bench_check [--rounds N] [--count N] [--objects N] [--calls N]
 */
#include "check.h"
#include "emu/emu.h"
#include "layer/check/check.h"
#include "rounds.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cx_driver_table bare, layered;
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

typedef struct row {
    const char *name;
    void (*call)(const cx_driver_table *table);
    int calls;      /* of the driver */
    int backtraces; /* that the layer takes for them */
} row;

static const row rows[] = {
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
    const row *self = argument;
    for (size_t i = 0; i < count; i++)
        self->call(&bare);
    MUST(bare.ctx_synchronize());
}

static void call_layered(size_t count, void *argument)
{
    const row *self = argument;
    for (size_t i = 0; i < count; i++)
        self->call(&layered);
    MUST(layered.ctx_synchronize());
}

static void time_calls(size_t count, int rounds)
{
    printf("%-28s %5s %10s %21s %21s %19s\n", "", "back-", "", "bare, ns a call",
           "with check, ns", "added, ns");
    printf("%-28s %5s %10s %10s %10s %10s %10s %9s %9s\n", "calls", "traces", "", "best", "median",
           "best", "median", "best", "median");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const row *one = &rows[i];
        bench_pair pair = bench_run(call_bare, call_layered, (void *)one, count, rounds);
        double calls = one->calls;
        printf("%-28s %5d %10s %10.1f %10.1f %10.1f %10.1f %9.1f %9.1f\n", one->name,
               one->backtraces, "", pair.rival.best_ns / calls, pair.rival.median_ns / calls,
               pair.ours.best_ns / calls, pair.ours.median_ns / calls, pair.added_best_ns / calls,
               pair.added_median_ns / calls);
    }
}

/* ---- memory ---- */

static size_t heap_bytes(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static void make_many(const cx_driver_table *table, void **made, size_t count, bool events)
{
    for (size_t i = 0; i < count; i++)
        MUST(events ? table->event_create((CUevent *)&made[i], 0)
                    : table->mem_alloc((CUdeviceptr *)&made[i], 512));
}

static void end_many(const cx_driver_table *table, void **made, size_t count, bool events)
{
    for (size_t i = 0; i < count; i++)
        MUST(events ? table->event_destroy(made[i]) : table->mem_free((CUdeviceptr)made[i]));
}

/* The driver's own memory is what the bare table takes for the same, made a second time. */
static void weigh(const char *name, size_t count, bool events)
{
    void **made = calloc(count, sizeof *made);
    if (made == NULL)
        exit(1);
    make_many(&bare, made, count, events);
    end_many(&bare, made, count, events);
    size_t begin = heap_bytes();
    make_many(&bare, made, count, events);
    size_t own = heap_bytes() - begin;
    end_many(&bare, made, count, events);
    unsigned records = atomic_load(&cx_region_here->objects);
    begin = heap_bytes();
    make_many(&layered, made, count, events);
    size_t live = heap_bytes() - begin - own;
    live += (atomic_load(&cx_region_here->objects) - records) * sizeof(cx_region_object);
    end_many(&layered, made, count, events);
    size_t left = heap_bytes() - begin;
    printf("%-28s %zu live: %.0f bytes each; ended: %.1f MiB of history\n", name, count,
           (double)live / (double)count, (double)left / (1 << 20));
    free(made);
}

/* Calls of all rows by turns: memory that grows in the second half would grow for ever. */
static void endure(size_t calls)
{
    size_t made = 0, half = 0;
    while (made < calls) {
        for (int turn = 0; turn < 1000; turn++)
            for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                rows[i].call(&layered);
                made += (size_t)rows[i].calls;
            }
        MUST(layered.ctx_synchronize());
        if (half == 0 && made >= calls / 2)
            half = heap_bytes();
    }
    printf("%zu calls: the heap grew by %.1f KiB in the second half\n", made,
           ((double)heap_bytes() - (double)half) / 1024);
}

/* ---- setting ---- */

static void prepare(void)
{
    const cx_emu_config config = {.gpus = 2, .gpu_memory_bytes = (size_t)1 << 30,
                                  .driver_version = 13000};
    if (!cx_emu_configure(&config))
        exit(1);
    bare = *cx_emu_driver();
    if (!cx_check_put(&bare, CX_CHECK_IN_RUNTIME, &layered))
        exit(1);
    MUST(layered.init(0));
    MUST(layered.ctx_create_v2(&other, 0, 0));
    MUST(layered.ctx_create_v2(&context, 0, 0));
    MUST(layered.stream_create(&stream, 0));
    MUST(layered.stream_create(&waiter, 0));
    MUST(layered.event_create(&event, 0));
    MUST(layered.mem_alloc(&memory, 4096));
}

int main(int argc, char **argv)
{
    size_t count = 200, objects = 100000, calls = 1000000;
    int rounds = BENCH_ROUNDS_MAX;
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--rounds") == 0)
            rounds = (int)bench_number(value, 1, BENCH_ROUNDS_MAX);
        else if (strcmp(argv[i], "--count") == 0)
            count = (size_t)bench_number(value, 1, 100000000);
        else if (strcmp(argv[i], "--objects") == 0)
            objects = (size_t)bench_number(value, 1, 1000000);
        else if (strcmp(argv[i], "--calls") == 0)
            calls = (size_t)bench_number(value, 1, 1000000000);
        else {
            fprintf(stderr,
                    "usage: bench_check [--rounds N] [--count N] [--objects N] [--calls N]\n");
            return 2;
        }
    }
    prepare();
    time_calls(count, rounds);
    weigh("events", objects, true);
    weigh("allocations", objects, false);
    endure(calls);
    return 0;
}
