#include "apart.h"

#include "device/runtime.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define GRANULARITY ((size_t)2 << 20)
#define PRECISION 2000
#define CAPACITY_MAX 4

/* What a child is asked, and what it answers. */
typedef struct question {
    const char *subject;
    const bench_stage *stage;
    size_t memory_bytes; /* of the emulated GPU; 0: as the environment says */
    uint32_t live;
    double answer;
} question;

/* False: the child did not get to the end. `ask` is in memory that both processes share. */
static bool in_child(void (*measure)(question *, const bench_subject *), question *ask)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        bench_field field;
        ctxrt_options options = CTXRT_OPTIONS_INIT;
        options.emulated_devices = 1;
        options.emulated_memory_bytes = ask->memory_bytes;
        options.cuda_driver =
            ask->memory_bytes != 0 ? CTXRT_CUDA_DRIVER_EMULATED : CTXRT_CUDA_DRIVER_DEFAULT;
        bench_check(ctxrt_init(&options));
        bench_field_open(&field);
        const bench_subject *subject = bench_subject_find(&field, ask->subject);
        if (subject != NULL)
            measure(ask, subject);
        _exit(subject == NULL);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

static double ask_child(void (*measure)(question *, const bench_subject *), const question *wanted)
{
    question *ask =
        mmap(NULL, sizeof *ask, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (ask == MAP_FAILED)
        return -1;
    *ask = *wanted;
    double answer = in_child(measure, ask) ? ask->answer : -1;
    munmap(ask, sizeof *ask);
    return answer;
}

/* ---- capacity ---- */

static void try_capacity(question *ask, const bench_subject *subject)
{
    ask->answer = bench_play(subject, ask->stage) == 0 ? 1 : 0;
}

static bool suffices(const char *subject, const bench_stage *stage, size_t memory_bytes)
{
    const question ask = {.subject = subject, .stage = stage, .memory_bytes = memory_bytes};
    return ask_child(try_capacity, &ask) == 1;
}

double bench_capacity(const char *subject, const bench_stage *stage)
{
    const size_t peak = stage->trace->peak_bytes >> stage->shift;
    size_t low = (peak - 1) / GRANULARITY; /* too little */
    size_t high = low + 1;
    size_t precision = peak / GRANULARITY / PRECISION + 1;
    size_t step = high / 16 + 1;
    while (!suffices(subject, stage, high * GRANULARITY)) {
        if (high * GRANULARITY >= CAPACITY_MAX * peak)
            return -1;
        low = high;
        high += step;
        step *= 2;
    }
    while (high - low > precision) {
        size_t middle = low + (high - low) / 2;
        if (suffices(subject, stage, middle * GRANULARITY))
            high = middle;
        else
            low = middle;
    }
    return (double)(high * GRANULARITY) / (double)peak;
}

/* ---- calls of the driver ---- */

static cx_driver_table bare;
static _Atomic uint64_t calls[CX_SLOT_COUNT];

#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    static cxu_result counted_##slot CX_DECLARE(arity, parameters)            \
    {                                                                         \
        atomic_fetch_add(&calls[CX_SLOT_##slot], 1);                          \
        return bare.slot CX_PASS(arity, parameters);                          \
    }
#include "driver/symbols.def"

static const cx_driver_table counted = {
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    .slot = counted_##slot,
#include "driver/symbols.def"
};

static void count_calls(question *ask, const bench_subject *subject)
{
    uint64_t sum = 0;
    for (int i = 0; i < CX_DRIVERS_MAX; i++) {
        if (&cx_drivers[i] != bench_driver())
            continue;
        bare = cx_drivers[i].table;
        cx_drivers[i].table = counted;
    }
    if (bench_play(subject, ask->stage) != 0)
        return;
    for (int slot = 0; slot < CX_SLOT_COUNT; slot++)
        if (strncmp(cx_symbols[slot].symbol, "cuMem", 5) == 0)
            sum += atomic_load(&calls[slot]);
    ask->answer = (double)sum * 1000 / (double)ask->stage->trace->count;
}

double bench_upstream(const char *subject, const bench_stage *stage, size_t memory_bytes)
{
    const question ask = {
        .subject = subject, .stage = stage, .memory_bytes = memory_bytes, .answer = -1};
    return ask_child(count_calls, &ask);
}

/* ---- metadata ---- */

/* Resident pages of this process's own: device memory is touched by nobody here. */
static double own_bytes(void)
{
    unsigned long size, resident = 0, shared = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL || fscanf(file, "%lu %lu %lu", &size, &resident, &shared) != 3)
        resident = shared = 0;
    if (file != NULL)
        fclose(file);
    return (double)(resident - shared) * (double)sysconf(_SC_PAGESIZE);
}

static void weigh(question *ask, const bench_subject *subject)
{
    const allocation_trace *trace = ask->stage->trace;
    void **blocks = calloc(ask->live, sizeof *blocks);
    if (blocks == NULL || bench_play(subject, &(bench_stage){.trace = &(allocation_trace){0}}) != 0)
        return;
    for (uint32_t i = 0; i < ask->live; i++)
        blocks[i] = blocks; /* the pages are there before the first look */
    bench_enter(subject);
    subject->free(subject->alloc(256));
    double before = own_bytes();
    uint32_t made = 0;
    for (size_t i = 0; made < ask->live; i = (i + 1) % trace->count) {
        if (trace->operations[i].bytes == 0)
            continue;
        blocks[made] = subject->alloc(trace->operations[i].bytes >> ask->stage->shift);
        if (blocks[made++] == NULL)
            return;
    }
    ask->answer = (own_bytes() - before) / ask->live;
}

double bench_metadata(const char *subject, const bench_stage *stage, uint32_t live)
{
    const question ask = {.subject = subject,
                          .stage = stage,
                          .memory_bytes = (size_t)1 << 40,
                          .live = live,
                          .answer = -1};
    return ask_child(weigh, &ask);
}

/* ---- contents ---- */

static void *address_of(const bench_subject *subject, void *memory)
{
    bool of_objects =
        strcmp(subject->name, "ctxrt object") == 0 || strcmp(subject->name, "ctxrt vmm") == 0;
    return of_objects ? ctxrt_memory_pointer(memory) : memory;
}

static int mark_of(size_t operation)
{
    return (int)(operation * 37 % 251 + 1);
}

static bool holds(const void *pointer, size_t bytes, int mark, unsigned char *copy)
{
    bench_check(ctxrt_copy(copy, pointer, bytes, CTXRT_COPY_ANY));
    for (size_t i = 0; i < bytes; i++)
        if (copy[i] != mark)
            return false;
    return true;
}

typedef struct filled {
    void *memory;
    size_t bytes;
    int mark;
} filled;

static bool verify_operation(const bench_subject *subject, const bench_stage *stage, size_t i,
                             filled *blocks, unsigned char *copy)
{
    const allocation_operation operation = stage->trace->operations[i];
    filled *block = &blocks[operation.slot];
    if (operation.bytes == 0) {
        bool whole = holds(address_of(subject, block->memory), block->bytes, block->mark, copy);
        subject->free(block->memory);
        return whole;
    }
    *block = (filled){.bytes = operation.bytes >> stage->shift, .mark = mark_of(i)};
    block->memory = subject->alloc(block->bytes);
    if (block->memory == NULL)
        return false;
    bench_check(ctxrt_fill(address_of(subject, block->memory), block->mark, block->bytes));
    return true;
}

static void verify(question *ask, const bench_subject *subject)
{
    const allocation_trace *trace = ask->stage->trace;
    filled *blocks = calloc(trace->slots, sizeof *blocks);
    unsigned char *copy = malloc(trace->peak_bytes);
    size_t i = 0;
    bench_check(ctxrt_device_set(CTXRT_CUDA(0)));
    bench_enter(subject);
    while (i < trace->count && blocks != NULL && copy != NULL &&
           verify_operation(subject, ask->stage, i, blocks, copy))
        i++;
    ask->answer = i == trace->count ? 0 : (double)i + 1;
}

size_t bench_verify(const char *subject, const bench_stage *stage)
{
    const question ask = {.subject = subject, .stage = stage};
    double answer = ask_child(verify, &ask);
    return answer < 0 ? 1 : (size_t)answer;
}
