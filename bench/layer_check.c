/*
 * What the layer check adds to driver calls, how much memory it keeps for each live object, and by
 * how much its memory grows over many calls. The same calls go through the embedded driver's own
 * table and through the layer, by turns, in rounds that are shorter than a time slice.
 *
 * It takes the options of options.h, and --objects N and --calls N.
 */
#include "calls.h"
#include "check.h"
#include "layer/check/check.h"
#include "options.h"
#include "table.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(call) bench_check_driver((int)(call))

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
    make_many(&bench_bare, made, count, events);
    end_many(&bench_bare, made, count, events);
    size_t begin = heap_bytes();
    make_many(&bench_bare, made, count, events);
    size_t own = heap_bytes() - begin;
    end_many(&bench_bare, made, count, events);
    unsigned records = atomic_load(&cx_region_here->objects);
    begin = heap_bytes();
    make_many(&bench_layered, made, count, events);
    size_t live = heap_bytes() - begin - own;
    live += (atomic_load(&cx_region_here->objects) - records) * sizeof(cx_region_object);
    end_many(&bench_layered, made, count, events);
    size_t left = heap_bytes() - begin;
    const double values[] = {(double)count, (double)live / (double)count,
                             (double)left / (1 << 20)};
    bench_table_row(name, values);
    free(made);
}

/* Calls of all kinds by turns: memory that grows in the second half would grow for ever. */
static void endure(size_t calls)
{
    size_t made = 0, half = 0;
    while (made < calls) {
        for (int turn = 0; turn < 1000; turn++)
            made += bench_call_each(&bench_layered);
        MUST(bench_layered.ctx_synchronize());
        if (half == 0 && made >= calls / 2)
            half = heap_bytes();
    }
    const double values[] = {(double)made, ((double)heap_bytes() - (double)half) / 1024};
    bench_table_row("calls of all kinds", values);
}

/* ---- setting ---- */

static bool put_check(const cx_driver_table *below, cx_driver_table *out_table)
{
    return cx_check_put(below, CX_CHECK_IN_RUNTIME, out_table);
}

static void take_options(int argc, char **argv, size_t *objects, size_t *calls)
{
    for (int i = 1, taken; i < argc; i += taken) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        taken = bench_option(argc, argv, i);
        if (taken != 0)
            continue;
        taken = 2;
        if (strcmp(argv[i], "--objects") == 0) {
            *objects = (size_t)bench_number(value, 1, 1000000);
        } else if (strcmp(argv[i], "--calls") == 0) {
            *calls = (size_t)bench_number(value, 1, 1000000000);
        } else {
            fprintf(stderr, "usage: bench_check [--objects N] [--calls N] " BENCH_USAGE "\n");
            exit(2);
        }
    }
}

int main(int argc, char **argv)
{
    static const bench_column memory[] = {{"live", "live", 0},
                                          {"bytes_each", "bytes each", 0},
                                          {"history_mib", "history when ended, MiB", 1},
                                          {0}};
    static const bench_column growth[] = {
        {"calls", "calls", 0}, {"grown_kib", "heap grown in the second half, KiB", 1}, {0}};
    size_t objects = 0, calls = 0;
    take_options(argc, argv, &objects, &calls);
    const bool quick = bench_chosen.quick;
    objects = objects != 0 ? objects : quick ? 100 : 100000;
    calls = calls != 0 ? calls : quick ? 20000 : 1000000;
    bench_prepare_calls(put_check);
    bench_tables_begin("check");
    bench_time_calls(true, bench_count(200, 20), bench_rounds(BENCH_ROUNDS_MAX));
    bench_table_begin("memory", "objects", memory);
    weigh("events", objects, true);
    weigh("allocations", objects, false);
    bench_table_end();
    bench_table_begin("growth", "", growth);
    endure(calls);
    bench_table_end();
    bench_tables_end();
    return 0;
}
