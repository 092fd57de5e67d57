#include "play.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static double clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

double bench_now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

double bench_processor_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void bench_enter(const bench_subject *subject)
{
    if (subject->enter != NULL)
        subject->enter();
}

void bench_leave(const bench_subject *subject)
{
    if (subject->leave != NULL)
        subject->leave();
}

bool bench_stage_open(bench_stage *stage, const allocation_trace *trace, uint32_t shift,
                      int repeats)
{
    *stage = (bench_stage){.trace = trace, .shift = shift, .repeats = repeats};
    for (int i = 0; i < 2; i++)
        stage->slots[i] = calloc(trace->slots, sizeof(void *));
    if (stage->slots[0] != NULL && stage->slots[1] != NULL)
        return true;
    bench_stage_close(stage);
    return false;
}

void bench_stage_close(bench_stage *stage)
{
    for (int i = 0; i < 2; i++)
        free(stage->slots[i]);
    *stage = (bench_stage){0};
}

uint64_t bench_stage_operations(const bench_stage *stage)
{
    return (uint64_t)stage->trace->count * (uint64_t)stage->repeats;
}

static size_t size_of(uint64_t bytes, uint32_t shift)
{
    uint64_t size = bytes >> shift;
    return size != 0 ? size : 1;
}

void bench_free_rest(const bench_subject *subject, void **slots, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (slots[i] != NULL)
            subject->free(slots[i]);
        slots[i] = NULL;
    }
}

static size_t play_into(const bench_subject *subject, const bench_stage *stage, void **slots)
{
    const allocation_trace *trace = stage->trace;
    const uint32_t shift = subject->shift + stage->shift;
    size_t failed = 0;
    for (size_t i = 0; i < trace->count; i++) {
        const allocation_operation operation = trace->operations[i];
        if (operation.bytes == 0) {
            subject->free(slots[operation.slot]);
            slots[operation.slot] = NULL;
            continue;
        }
        slots[operation.slot] = subject->alloc(size_of(operation.bytes, shift));
        if (slots[operation.slot] == NULL) {
            failed = i + 1;
            break;
        }
    }
    if (failed != 0 || trace->live != 0)
        bench_free_rest(subject, slots, trace->slots);
    return failed;
}

static bool play_repeated(const bench_subject *subject, const bench_stage *stage, void **slots)
{
    for (int i = 0; i < stage->repeats; i++)
        if (play_into(subject, stage, slots) != 0)
            return false;
    return true;
}

size_t bench_play(const bench_subject *subject, const bench_stage *stage)
{
    bench_enter(subject);
    size_t failed = play_into(subject, stage, stage->slots[0]);
    bench_leave(subject);
    return failed;
}

static const bench_time refused = {-1, -1};

bench_time bench_time_one(const bench_subject *subject, const bench_stage *stage)
{
    bench_enter(subject);
    double begin = bench_now_ns(), processor = bench_processor_ns();
    bool served = play_repeated(subject, stage, stage->slots[0]);
    processor = bench_processor_ns() - processor;
    double wall = bench_now_ns() - begin;
    bench_leave(subject);
    if (!served)
        return refused;
    double operations = (double)bench_stage_operations(stage);
    return (bench_time){wall / operations, processor / operations};
}

/* ---- two threads ---- */

typedef struct player {
    const bench_subject *subject;
    const bench_stage *stage;
    void **slots;
    pthread_barrier_t *start;
    double begin_ns, end_ns, processor_ns;
    bool served;
} player;

static void *play_thread(void *argument)
{
    player *self = argument;
    bench_enter(self->subject);
    pthread_barrier_wait(self->start);
    double processor = bench_processor_ns();
    self->begin_ns = bench_now_ns();
    self->served = play_repeated(self->subject, self->stage, self->slots);
    self->end_ns = bench_now_ns();
    self->processor_ns = bench_processor_ns() - processor;
    bench_leave(self->subject);
    return NULL;
}

static void run_pair(void *(*run)(void *), void *first, void *second)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, second) != 0)
        abort();
    run(first);
    pthread_join(thread, NULL);
}

static double wall_ns(const player *players)
{
    return fmax(players[0].end_ns, players[1].end_ns) -
           fmin(players[0].begin_ns, players[1].begin_ns);
}

bench_time bench_time_two(const bench_subject *subject, const bench_stage *stage)
{
    pthread_barrier_t start;
    player players[2];
    pthread_barrier_init(&start, NULL, 2);
    for (int i = 0; i < 2; i++)
        players[i] =
            (player){.subject = subject, .stage = stage, .slots = stage->slots[i], .start = &start};
    run_pair(play_thread, &players[0], &players[1]);
    pthread_barrier_destroy(&start);
    if (!players[0].served || !players[1].served)
        return refused;
    double operations = 2 * (double)bench_stage_operations(stage);
    return (bench_time){wall_ns(players) / operations,
                        fmax(players[0].processor_ns, players[1].processor_ns) / operations};
}
