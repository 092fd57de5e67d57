/* The time of each operation by itself. */
#include "play.h"

#include <stdlib.h>

#if defined __x86_64__
#include <x86intrin.h>
#endif

#define CLOCK_SAMPLES 20000

/* Ticks, and how long one takes. */
static uint64_t ticks(void)
{
#if defined __x86_64__
    unsigned int processor;
    return __rdtscp(&processor);
#else
    return (uint64_t)bench_now_ns();
#endif
}

static double tick_ns(void)
{
    double begin_ns = bench_now_ns(), end_ns;
    uint64_t begin = ticks();
    do
        end_ns = bench_now_ns();
    while (end_ns - begin_ns < 2e7);
    return (end_ns - begin_ns) / (double)(ticks() - begin);
}

static int compare(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static uint32_t clamp(uint64_t elapsed)
{
    return elapsed < UINT32_MAX ? (uint32_t)elapsed : UINT32_MAX;
}

static uint32_t clock_cost(uint32_t *samples)
{
    for (int i = 0; i < CLOCK_SAMPLES; i++) {
        uint64_t begin = ticks();
        samples[i] = clamp(ticks() - begin);
    }
    qsort(samples, CLOCK_SAMPLES, sizeof *samples, compare);
    return samples[CLOCK_SAMPLES / 2];
}

static bench_latency latency_of(uint32_t *samples, size_t count, uint32_t cost, double ns)
{
    static const double shares[] = {0.5, 0.99, 0.999};
    double values[3];
    qsort(samples, count, sizeof *samples, compare);
    for (int i = 0; i < 3; i++) {
        uint32_t sample = samples[(size_t)((double)(count - 1) * shares[i])];
        values[i] = sample > cost ? (sample - cost) * ns : 0;
    }
    return (bench_latency){values[0], values[1], values[2]};
}

typedef struct timings {
    uint32_t *allocs, *frees;
    size_t alloc_count, free_count;
} timings;

static bool play_timed(const bench_subject *subject, const bench_stage *stage, timings *t)
{
    const allocation_trace *trace = stage->trace;
    const uint32_t shift = subject->shift + stage->shift;
    void **slots = stage->slots[0];
    bool served = true;
    for (size_t i = 0; served && i < trace->count; i++) {
        const allocation_operation operation = trace->operations[i];
        void **slot = &slots[operation.slot];
        uint64_t bytes = operation.bytes >> shift, begin = ticks();
        if (operation.bytes == 0)
            subject->free(*slot);
        else
            *slot = subject->alloc(bytes != 0 ? bytes : 1);
        uint32_t elapsed = clamp(ticks() - begin);
        if (operation.bytes == 0) {
            *slot = NULL;
            t->frees[t->free_count++] = elapsed;
        } else {
            served = *slot != NULL;
            t->allocs[t->alloc_count++] = elapsed;
        }
    }
    bench_free_rest(subject, slots, trace->slots);
    return served;
}

bool bench_latencies(const bench_subject *subject, const bench_stage *stage,
                     bench_latency *out_alloc, bench_latency *out_free)
{
    size_t room = stage->trace->count > CLOCK_SAMPLES ? stage->trace->count : CLOCK_SAMPLES;
    timings t = {.allocs = calloc(room, sizeof(uint32_t)), .frees = calloc(room, sizeof(uint32_t))};
    bool served = t.allocs != NULL && t.frees != NULL;
    if (served) {
        double ns = tick_ns();
        uint32_t cost = clock_cost(t.allocs);
        bench_enter(subject);
        served = play_timed(subject, stage, &t);
        bench_leave(subject);
        if (served && t.free_count != 0) {
            *out_alloc = latency_of(t.allocs, t.alloc_count, cost, ns);
            *out_free = latency_of(t.frees, t.free_count, cost, ns);
        }
    }
    free(t.allocs);
    free(t.frees);
    return served && t.free_count != 0;
}
