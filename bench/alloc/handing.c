/* One thread allocates, and hands what it would free to another thread, which frees it. */
#include "play.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#define PLACES 1024
#define SHARE 32 /* handed over at once, so that the ring itself costs little */

typedef struct ring {
    void *memory[PLACES];
    _Alignas(64) _Atomic size_t put;
    _Alignas(64) _Atomic size_t taken;
    _Atomic bool ended;
} ring;

typedef struct handing {
    const bench_subject *subject;
    ring *ring;
    double processor_ns;
} handing;

static void *free_what_comes(void *argument)
{
    handing *self = argument;
    ring *r = self->ring;
    size_t taken = 0;
    bench_enter(self->subject);
    for (;;) {
        bool ended = atomic_load_explicit(&r->ended, memory_order_acquire);
        size_t put = atomic_load_explicit(&r->put, memory_order_acquire);
        if (put == taken && ended)
            break;
        if (put == taken)
            sched_yield();
        for (; taken != put; taken++)
            self->subject->free(r->memory[taken % PLACES]);
        atomic_store_explicit(&r->taken, taken, memory_order_release);
    }
    bench_leave(self->subject);
    self->processor_ns = bench_processor_ns();
    return NULL;
}

static void hand(ring *r, size_t *put, void *memory)
{
    while (*put - atomic_load_explicit(&r->taken, memory_order_acquire) >= PLACES)
        sched_yield();
    r->memory[(*put)++ % PLACES] = memory;
    if (*put % SHARE == 0)
        atomic_store_explicit(&r->put, *put, memory_order_release);
}

static bool allocate(const bench_subject *subject, const bench_stage *stage, ring *r)
{
    const allocation_trace *trace = stage->trace;
    const uint32_t shift = subject->shift + stage->shift;
    void **slots = stage->slots[0];
    bool served = true;
    size_t put = 0;
    for (int repeat = 0; served && repeat < stage->repeats; repeat++) {
        for (size_t i = 0; served && i < trace->count; i++) {
            const allocation_operation operation = trace->operations[i];
            void **slot = &slots[operation.slot];
            if (operation.bytes == 0) {
                hand(r, &put, *slot);
                *slot = NULL;
                continue;
            }
            uint64_t bytes = operation.bytes >> shift;
            *slot = subject->alloc(bytes != 0 ? bytes : 1);
            served = *slot != NULL;
        }
        bench_free_rest(subject, slots, trace->slots);
    }
    atomic_store_explicit(&r->put, put, memory_order_release);
    atomic_store_explicit(&r->ended, true, memory_order_release);
    return served;
}

bench_time bench_time_handing(const bench_subject *subject, const bench_stage *stage)
{
    ring *r = aligned_alloc(64, sizeof *r);
    pthread_t thread;
    if (r == NULL)
        return (bench_time){-1, -1};
    atomic_init(&r->put, 0);
    atomic_init(&r->taken, 0);
    atomic_init(&r->ended, false);
    handing other = {subject, r, 0};
    bench_enter(subject);
    double begin = bench_now_ns(), processor = bench_processor_ns();
    if (pthread_create(&thread, NULL, free_what_comes, &other) != 0)
        abort();
    bool served = allocate(subject, stage, r);
    processor = bench_processor_ns() - processor;
    pthread_join(thread, NULL);
    double wall = bench_now_ns() - begin, operations = (double)bench_stage_operations(stage);
    bench_leave(subject);
    free(r);
    if (!served)
        return (bench_time){-1, -1};
    return (bench_time){wall / operations, fmax(processor, other.processor_ns) / operations};
}
