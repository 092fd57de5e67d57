/*
 * What the layer trace, or with --layer count that one, adds to driver calls. The same calls go
 * through the embedded driver's own table and through the layer, by turns. The layer's file is made
 * in TMPDIR, or /tmp. It takes the options of options.h besides.
 */
#include "calls.h"
#include "check.h"
#include "layer/count/count.h"
#include "layer/trace/trace.h"
#include "options.h"
#include "table.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[256];

static void make_folder(const char *variable)
{
    const char *told = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/bench-trace.XXXXXX", told != NULL ? told : "/tmp");
    if (mkdtemp(folder) == NULL || setenv(variable, folder, 1) != 0) {
        perror(folder);
        exit(1);
    }
}

static void remove_folder(void)
{
    char path[512];
    DIR *all = opendir(folder);
    for (const struct dirent *one = all != NULL ? readdir(all) : NULL; one != NULL;
         one = readdir(all)) {
        snprintf(path, sizeof path, "%s/%s", folder, one->d_name);
        (void)unlink(path);
    }
    if (all != NULL)
        (void)closedir(all);
    (void)rmdir(folder);
}

static bool put_trace(const cx_driver_table *below, cx_driver_table *out_table)
{
    return cx_trace_put(below, true, out_table);
}

static const struct measured {
    const char *name, *variable; /* of the layer's folder */
    bool (*put)(const cx_driver_table *below, cx_driver_table *out_table);
} layers[] = {
    {"trace", "CTXRT_TRACE_FOLDER", put_trace},
    {"count", "CTXRT_REPORT_FOLDER", cx_count_put},
};

static const struct measured *find_layer(const char *name)
{
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        if (strcmp(layers[i].name, name) == 0)
            return &layers[i];
    return NULL;
}

int main(int argc, char **argv)
{
    const struct measured *layer = &layers[0];
    for (int i = 1, taken; i < argc && layer != NULL; i += taken) {
        taken = bench_option(argc, argv, i);
        if (taken == 0) {
            bool named = strcmp(argv[i], "--layer") == 0 && i + 1 < argc;
            layer = named ? find_layer(argv[i + 1]) : NULL;
            taken = 2;
        }
    }
    if (layer == NULL) {
        fprintf(stderr, "usage: bench_trace [--layer trace|count] " BENCH_USAGE "\n");
        return 2;
    }
    make_folder(layer->variable);
    (void)atexit(remove_folder);
    bench_prepare_calls(layer->put);
    bench_tables_begin(layer->name);
    bench_time_calls(false, bench_count(500, 20), bench_rounds(BENCH_ROUNDS_MAX));
    bench_tables_end();
    return 0;
}
