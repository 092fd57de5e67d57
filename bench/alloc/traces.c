#include "traces.h"

#include "generate.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define LIVE 10000
#define SEED 1
#define SYNTHETIC 3

static const bench_recipe *const recipes[SYNTHETIC] = {&bench_gpu, &bench_small, &bench_train};

static const struct recording {
    const char *name, *file;
    bool timed;
} recordings[BENCH_TRACES - SYNTHETIC] = {
    {"hta", "hta_df_index.csv", true},       {"minimalloc A", "minimalloc_A.csv", false},
    {"minimalloc B", "minimalloc_B.csv", false}, {"minimalloc C", "minimalloc_C.csv", false},
    {"minimalloc D", "minimalloc_D.csv", false}, {"minimalloc E", "minimalloc_E.csv", false},
};

static void read_recording(const struct recording *recording, const char *folder,
                           allocation_trace *out_trace)
{
    char path[PATH_MAX];
    size_t line = 0;
    snprintf(path, sizeof path, "%s/%s", folder, recording->file);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        fprintf(stderr, "bench_alloc: the trace %s is left out: %s: %s\n", recording->name, path,
                strerror(errno));
        return;
    }
    allocation_verdict verdict = allocation_trace_read(out_trace, file, &line);
    fclose(file);
    if (verdict != ALLOCATION_GOOD)
        fprintf(stderr, "bench_alloc: %s:%zu: %s\n", path, line, allocation_verdict_text(verdict));
}

bool bench_traces_open(bench_trace traces[BENCH_TRACES], const char *folder, uint64_t operations)
{
    bool whole = true;
    memset(traces, 0, BENCH_TRACES * sizeof *traces);
    for (int i = 0; i < SYNTHETIC; i++) {
        uint32_t live = operations >= 10 * LIVE ? LIVE : (uint32_t)(operations / 10) + 1;
        traces[i].name = recipes[i]->name;
        traces[i].timed = true;
        whole = bench_generate(recipes[i], operations, live, SEED, &traces[i].trace) &&
                bench_generate(recipes[i], operations / BENCH_SLOW, live, SEED, &traces[i].brief) &&
                whole;
    }
    for (int i = SYNTHETIC; i < BENCH_TRACES; i++) {
        traces[i].name = recordings[i - SYNTHETIC].name;
        traces[i].timed = recordings[i - SYNTHETIC].timed;
        read_recording(&recordings[i - SYNTHETIC], folder, &traces[i].trace);
    }
    if (!whole)
        bench_traces_close(traces);
    return whole;
}

void bench_traces_close(bench_trace traces[BENCH_TRACES])
{
    for (int i = 0; i < BENCH_TRACES; i++) {
        allocation_trace_clear(&traces[i].trace);
        allocation_trace_clear(&traces[i].brief);
    }
}
