/*
 * What allocations cost: ctxrt's, the driver's own calls and malloc of several libraries by turns,
 * on the same traces.
 * docs/performance.md explains the measures.
 *
 * usage: bench_alloc [--driver emulated|libcuda] [--rounds N] [--count N] [--traces FOLDER]
 * [--trace NAME]
 *                    [--measure NAME] [--subject NAME] [--fast] [--json] [--verify]
 */
#include "apart.h"
#include "folder.h"
#include "generate.h"
#include "many.h"
#include "options.h"
#include "report.h"
#include "traces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS_MAX 101
#define MEMORY_BYTES ((size_t)1 << 40)
#define WEIGHED 100000
#define SLOW_ROUNDS 3

typedef struct request {
    bool verify;
    bool fast; /* without what calls the driver for each operation */
    long rounds;
    uint64_t operations;
    const char *folder, *trace, *measure, *subject; /* NULL: all of them */
} request;

typedef bench_time (*measurement)(const bench_subject *subject, const bench_stage *stage);

static bool wanted(const char *choice, const char *name)
{
    return choice == NULL || strcmp(choice, name) == 0;
}

static bool takes_part(const request *ask, const bench_subject *subject)
{
    return subject->missing == NULL && wanted(ask->subject, subject->name) &&
           !(ask->fast && subject->slow);
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* How often sizes are halved so that two copies of the trace fit the device. */
static uint32_t shift_for(const allocation_trace *trace)
{
    ctxrt_device_info info;
    uint32_t shift = 0;
    bench_check(ctxrt_device_properties(CTXRT_CUDA(0), &info));
    while ((double)(trace->peak_bytes >> shift) * 2.4 > (double)info.total_bytes)
        shift++;
    return shift;
}

static bool open_stage(bench_stage *stage, const bench_trace *trace, const bench_subject *subject,
                       uint64_t operations)
{
    const allocation_trace *chosen =
        subject->slow && trace->brief.count != 0 ? &trace->brief : &trace->trace;
    uint64_t sought = subject->slow ? operations / BENCH_SLOW : operations;
    uint64_t repeats = chosen->count != 0 ? sought / chosen->count : 0;
    return chosen->count != 0 &&
           bench_stage_open(stage, chosen, subject->of_device ? shift_for(chosen) : 0,
                            repeats != 0 ? (int)repeats : 1);
}

/* ---- measures by turns ---- */

/* Of a subject, by rounds; nanoseconds an operation. */
typedef struct series {
    double wall_ns[ROUNDS_MAX], processor_ns[ROUNDS_MAX];
    int count;
} series;

static void print_times(const char *measure, const char *trace, const bench_field *field,
                        series *all)
{
    double rival = -1;
    for (int i = 0; i < field->count; i++) {
        qsort(all[i].wall_ns, (size_t)all[i].count, sizeof(double), compare);
        qsort(all[i].processor_ns, (size_t)all[i].count, sizeof(double), compare);
        if (all[i].count != 0 && strcmp(field->subject[i].name, "mimalloc") == 0)
            rival = all[i].processor_ns[0];
    }
    for (int i = 0; i < field->count; i++) {
        const double best = all[i].processor_ns[0];
        const int middle = all[i].count / 2;
        if (all[i].count == 0 || best < 0)
            continue;
        const bench_value values[] = {{"cpu_best_ns", best},
                                      {"cpu_median_ns", all[i].processor_ns[middle]},
                                      {"wall_best_ns", all[i].wall_ns[0]},
                                      {"wall_median_ns", all[i].wall_ns[middle]},
                                      {"/ mimalloc", rival > 0 ? best / rival : -1},
                                      {0}};
        bench_report_row(measure, trace, field->subject[i].name, values);
    }
}

/* The first is to warm up. */
static void add_time(series *self, long round, bench_time time)
{
    self->count = round < 0 ? 0 : self->count + 1;
    if (round < 0)
        return;
    self->wall_ns[self->count - 1] = time.wall_ns;
    self->processor_ns[self->count - 1] = time.processor_ns;
}

/* Once to warm up, and then each subject once a round. */
static void time_trace(const request *ask, const bench_field *field, const char *measure,
                       measurement take, const bench_trace *trace)
{
    static series all[BENCH_SUBJECTS_MAX];
    memset(all, 0, sizeof all);
    bench_stage stages[BENCH_SUBJECTS_MAX];
    bool open[BENCH_SUBJECTS_MAX];
    for (int i = 0; i < field->count; i++)
        open[i] = takes_part(ask, &field->subject[i]) &&
                  open_stage(&stages[i], trace, &field->subject[i], ask->operations);
    for (long round = -1; round < ask->rounds; round++)
        for (int i = 0; i < field->count; i++)
            if (open[i] && (round < SLOW_ROUNDS || !field->subject[i].slow))
                add_time(&all[i], round, take(&field->subject[i], &stages[i]));
    print_times(measure, trace->name, field, all);
    for (int i = 0; i < field->count; i++)
        if (open[i])
            bench_stage_close(&stages[i]);
}

static void time_all(const request *ask, const bench_field *field, const bench_trace *traces)
{
    static const struct {
        const char *name;
        measurement take;
    } measures[] = {
        {"one", bench_time_one}, {"two", bench_time_two}, {"handing", bench_time_handing}};
    for (size_t m = 0; m < sizeof measures / sizeof measures[0]; m++)
        for (int i = 0; i < BENCH_TRACES; i++)
            if (traces[i].timed && traces[i].trace.count != 0 &&
                wanted(ask->trace, traces[i].name) && wanted(ask->measure, measures[m].name))
                time_trace(ask, field, measures[m].name, measures[m].take, &traces[i]);
}

static void print_latency(const char *trace, const bench_subject *subject, const char *what,
                          bench_latency l)
{
    char name[32];
    snprintf(name, sizeof name, "%s %s", trace, what);
    const bench_value values[] = {{"p50_ns", l.median_ns},
                                  {"p99_ns", l.p99_ns},
                                  {"p99.9_ns", l.p999_ns},
                                  {"p99 / p50", l.median_ns > 0 ? l.p99_ns / l.median_ns : -1},
                                  {0}};
    bench_report_row("latency", name, subject->name, values);
}

/* The quietest of the rounds, by the p99 of allocations. */
static void take_latencies(const request *ask, const bench_trace *trace,
                           const bench_subject *subject)
{
    bench_stage stage;
    bench_latency alloc = {.p99_ns = HUGE_VAL}, free_ = alloc;
    if (!open_stage(&stage, trace, subject, ask->operations))
        return;
    for (long round = -1; round < (subject->slow ? 0 : ask->rounds); round++) {
        bench_latency a, f;
        if (bench_latencies(subject, &stage, &a, &f) && a.p99_ns < alloc.p99_ns) {
            alloc = a;
            free_ = f;
        }
    }
    bench_stage_close(&stage);
    if (alloc.p99_ns == HUGE_VAL)
        return;
    print_latency(trace->name, subject, "alloc", alloc);
    print_latency(trace->name, subject, "free", free_);
}

static void take_all_latencies(const request *ask, const bench_field *field,
                               const bench_trace *traces)
{
    for (int t = 0; t < BENCH_TRACES && wanted(ask->measure, "latency"); t++)
        for (int i = 0; i < field->count; i++)
            if (traces[t].timed && traces[t].trace.count != 0 &&
                wanted(ask->trace, traces[t].name) && takes_part(ask, &field->subject[i]))
                take_latencies(ask, &traces[t], &field->subject[i]);
}

static void time_growth(const request *ask, const bench_field *field)
{
    static const uint32_t lives[] = {100, 1000, 10000, 100000};
    for (size_t i = 0; i < 4 && wanted(ask->measure, "growth") && wanted(ask->trace, "gpu"); i++) {
        char name[32];
        bench_trace trace = {.name = name};
        uint64_t operations = ask->operations > 4 * lives[i] ? ask->operations : 4 * lives[i];
        if (lives[i] * 10 > ask->operations)
            continue;
        snprintf(name, sizeof name, "gpu, %u live", lives[i]);
        if (bench_generate(&bench_gpu, operations, lives[i], 1, &trace.trace) &&
            bench_generate(&bench_gpu, operations / BENCH_SLOW, lives[i], 1, &trace.brief))
            time_trace(ask, field, "growth", bench_time_one, &trace);
        allocation_trace_clear(&trace.trace);
        allocation_trace_clear(&trace.brief);
    }
}

/* The cost of direct allocations must not grow with the blocks that live. */
static void time_many(const request *ask)
{
    static const struct {
        const char *name;
        ctxrt_device device;
    } subjects[] = {{"ctxrt direct, CPU", {CTXRT_DEVICE_CPU, 0}},
                    {"ctxrt direct, GPU", {CTXRT_DEVICE_CUDA, 0}}};
    char live[32];
    if (!wanted(ask->measure, "many") || ask->trace != NULL || ask->operations < 2 * BENCH_FEW)
        return;
    snprintf(live, sizeof live, "%d, %llu live", BENCH_FEW, (unsigned long long)ask->operations);
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++) {
        if (!wanted(ask->subject, subjects[i].name))
            continue;
        bench_many many = bench_time_many(subjects[i].device, ask->operations, ask->rounds);
        const bench_value values[] = {{"few_ns", many.few_ns},
                                      {"many_ns", many.many_ns},
                                      {"many / few", many.many_ns / many.few_ns},
                                      {0}};
        bench_report_row("many", live, subjects[i].name, values);
    }
}

/* ---- measures apart ---- */

static const char *const own[] = {"ctxrt object", "ctxrt raw"};
static const char *const packing[] = {"ctxrt object", "fit, locked", "ctxrt vmm"};
static const char *const calling[] = {"ctxrt object", "ctxrt vmm"};

static void print_one(const char *measure, const char *trace, const char *subject, const char *name,
                      double value)
{
    bench_report_row(measure, trace, subject, (const bench_value[]){{name, value}, {0}});
}

static void take_capacities(const request *ask, const char *subject, const bench_trace *traces)
{
    double product = 1;
    int factors = 0;
    for (int i = 0; i < BENCH_TRACES; i++) {
        bench_stage stage;
        if (!wanted(ask->trace, traces[i].name) || traces[i].trace.count == 0 ||
            !bench_stage_open(&stage, &traces[i].trace, 0, 1))
            continue;
        double needed = bench_capacity(subject, &stage);
        print_one("capacity", traces[i].name, subject, "/ peak", needed);
        bench_stage_close(&stage);
        if (!traces[i].timed && needed > 0) {
            product *= needed;
            factors++;
        }
    }
    if (factors == BENCH_TRACES - 4)
        print_one("capacity", "minimalloc, mean", subject, "/ peak", pow(product, 1.0 / factors));
}

static void take_upstream(const request *ask, const char *subject, const bench_trace *traces)
{
    static const double rooms[] = {1.10, 2.0};
    for (int i = 0; i < BENCH_TRACES; i++) {
        bench_stage stage;
        if (!wanted(ask->trace, traces[i].name) || !traces[i].timed || traces[i].trace.count == 0 ||
            !bench_stage_open(&stage, &traces[i].trace, 0, 1))
            continue;
        for (int r = 0; r < 2; r++) {
            char name[32];
            snprintf(name, sizeof name, "%s, %.2f x peak", traces[i].name, rooms[r]);
            print_one("upstream", name, subject, "calls / 1000",
                      bench_upstream(subject, &stage,
                                     (size_t)((double)traces[i].trace.peak_bytes * rooms[r])));
        }
        bench_stage_close(&stage);
    }
}

static void take_metadata(const bench_trace *small)
{
    bench_stage stage;
    if (!bench_stage_open(&stage, &small->trace, 0, 1))
        return;
    for (int i = 0; i < 2; i++)
        print_one("metadata", "100,000 live", own[i], "bytes / live",
                  bench_metadata(own[i], &stage, WEIGHED));
    bench_stage_close(&stage);
}

static void measure_apart(const request *ask, const bench_trace *traces)
{
    if (bench_chosen.libcuda)
        return;
    for (size_t i = 0; i < sizeof packing / sizeof packing[0]; i++)
        if (wanted(ask->measure, "capacity") && wanted(ask->subject, packing[i]))
            take_capacities(ask, packing[i], traces);
    for (size_t i = 0; i < sizeof calling / sizeof calling[0]; i++)
        if (wanted(ask->measure, "upstream") && wanted(ask->subject, calling[i]))
            take_upstream(ask, calling[i], traces);
    if (wanted(ask->measure, "metadata") && traces[1].trace.count >= WEIGHED)
        take_metadata(&traces[1]);
}

/* A short trace of small blocks, by each subject of device memory. */
static int verify_all(const request *ask)
{
    static const char *const subjects[] = {"ctxrt object", "ctxrt raw", "ctxrt vmm", "cuMemAlloc"};
    const bench_recipe recipe = {"tiny", 16 << 10};
    allocation_trace trace;
    bench_stage stage;
    int status = 0;
    if (!bench_generate(&recipe, ask->operations, 64, 1, &trace) ||
        !bench_stage_open(&stage, &trace, 0, 1))
        return 1;
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++) {
        size_t failed = bench_verify(subjects[i], &stage);
        printf("%s: %zu operations, at most %u live: ", subjects[i], trace.count, trace.peak_live);
        if (failed == 0)
            printf("no block lost its contents\n");
        else
            printf("operation %zu was refused, or found other contents\n", failed);
        status = status != 0 || failed != 0;
    }
    bench_stage_close(&stage);
    allocation_trace_clear(&trace);
    return status;
}

/* ---- arguments ---- */

static const char usage[] =
    "usage: bench_alloc [--traces FOLDER] [--trace NAME] [--measure NAME] [--subject NAME]\n"
    "                   [--fast] [--verify]\n"
    "                   " BENCH_USAGE "\n"
    "--fast leaves out the driver's own calls\n"
    "traces: gpu small train hta 'minimalloc A' .. 'minimalloc E'\n"
    "measures: trace one two handing latency growth many capacity upstream metadata\n";

static bool take_value(request *ask, const char *name, const char *value)
{
    if (strcmp(name, "--traces") == 0)
        ask->folder = value;
    else if (strcmp(name, "--trace") == 0)
        ask->trace = value;
    else if (strcmp(name, "--measure") == 0)
        ask->measure = value;
    else if (strcmp(name, "--subject") == 0)
        ask->subject = value;
    else
        return false;
    return true;
}

static bool take_arguments(request *ask, int argc, char **argv)
{
    for (int i = 1, taken; i < argc; i += taken) {
        taken = bench_option(argc, argv, i);
        if (taken != 0)
            continue;
        taken = 1;
        if (strcmp(argv[i], "--verify") == 0)
            ask->verify = true;
        else if (strcmp(argv[i], "--fast") == 0)
            ask->fast = true;
        else if (i + 1 < argc && take_value(ask, argv[i], argv[i + 1]))
            taken = 2;
        else
            return false;
    }
    ask->rounds = bench_rounds(9);
    ask->operations = bench_count(1000000, 200);
    ask->fast = ask->fast || bench_chosen.quick;
    return true;
}

/* Allocators that were not there when the process began need room for their thread-local
 * variables. */
static void make_room_for_libraries(char **argv)
{
    if (getenv("GLIBC_TUNABLES") != NULL ||
        setenv("GLIBC_TUNABLES", "glibc.rtld.optional_static_tls=65536", 1) != 0)
        return;
    execv("/proc/self/exe", argv);
}

static void start(bool emulated)
{
    int count;
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    options.cuda_driver = emulated ? CTXRT_CUDA_DRIVER_EMULATED : CTXRT_CUDA_DRIVER_LIBCUDA;
    options.emulated_devices = 1;
    options.emulated_memory_bytes = MEMORY_BYTES;
    bench_check(ctxrt_init(&options));
    bench_check(ctxrt_device_count(CTXRT_DEVICE_CUDA, &count));
    if (count != 0)
        return;
    (void)!ctxrt_device_set(CTXRT_CUDA(0)); /* for its message */
    fprintf(stderr, "bench_alloc: %s\n", ctxrt_last_error()->message);
    exit(77);
}

static void describe(const request *ask, const bench_trace *traces)
{
    for (int i = 0; i < BENCH_TRACES; i++) {
        const allocation_trace *trace = &traces[i].trace;
        const bench_value values[] = {{"operations", (double)trace->count},
                                      {"live", trace->peak_live},
                                      {"peak_gib", (double)trace->peak_bytes / ((uint64_t)1 << 30)},
                                      {0}};
        if (trace->count != 0 && wanted(ask->trace, traces[i].name) &&
            wanted(ask->measure, "trace"))
            bench_report_row("trace", traces[i].name, "", values);
    }
}

static void measure_here(const request *ask, const bench_trace *traces)
{
    bench_field field;
    start(!bench_chosen.libcuda);
    bench_field_open(&field);
    bench_check(ctxrt_device_set(CTXRT_CUDA(0))); /* its context stays */
    for (int i = 0; i < field.count; i++)
        if (field.subject[i].missing != NULL)
            bench_report_missing(field.subject[i].name, field.subject[i].missing);
    time_all(ask, &field, traces);
    take_all_latencies(ask, &field, traces);
    time_growth(ask, &field);
    time_many(ask);
    bench_check(ctxrt_stack_pop());
    bench_drop_mapped();
    bench_check(ctxrt_shutdown());
}

int main(int argc, char **argv)
{
    static bench_trace traces[BENCH_TRACES];
    request ask = {.folder = bench_traces_folder()};
    make_room_for_libraries(argv);
    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return fputs(usage, stdout) == EOF;
    if (!take_arguments(&ask, argc, argv)) {
        fputs(usage, stderr);
        return 2;
    }
    setenv("CTXRT_DRIVER", bench_chosen.libcuda ? "libcuda" : "emulated", 1);
    if (ask.verify)
        return verify_all(&ask);
    if (!bench_traces_open(traces, ask.folder, ask.operations))
        return 1;
    bench_report_begin(bench_chosen.libcuda ? "libcuda" : "emulated",
                       (unsigned long)ask.operations, ask.rounds);
    describe(&ask, traces);
    measure_apart(&ask, traces);
    if (ask.measure == NULL || strcmp(ask.measure, "trace") != 0)
        measure_here(&ask, traces);
    bench_report_end();
    bench_traces_close(traces);
    return 0;
}
