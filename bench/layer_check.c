/*
 * What the layer check adds to driver calls, how much memory it keeps for each live object, and by
 * how much its memory grows over many calls. The same calls go through the embedded driver's own
 * table and through the layer, by turns, in rounds that are shorter than a time slice.
 *
 * usage: bench_check [--rounds N] [--count N] [--objects N] [--calls N]
 */
#include "calls.h"
#include "check.h"
#include "layer/check/check.h"

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
    printf("%-28s %zu live: %.0f bytes each; ended: %.1f MiB of history\n", name, count,
           (double)live / (double)count, (double)left / (1 << 20));
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
    printf("%zu calls: the heap grew by %.1f KiB in the second half\n", made,
           ((double)heap_bytes() - (double)half) / 1024);
}

/* ---- setting ---- */

static bool put_check(const cx_driver_table *below, cx_driver_table *out_table)
{
    return cx_check_put(below, CX_CHECK_IN_RUNTIME, out_table);
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
    bench_prepare_calls(put_check);
    bench_time_calls("check", count, rounds);
    weigh("events", objects, true);
    weigh("allocations", objects, false);
    endure(calls);
    return 0;
}
