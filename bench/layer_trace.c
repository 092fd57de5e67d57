/*
 * What the layer trace adds to driver calls. The same calls go through the embedded driver's own
 * table and through the layer, by turns. The file of the trace is made in TMPDIR, or /tmp.
 *
 * usage: bench_trace [--rounds N] [--count N]
 */
#include "calls.h"
#include "check.h"
#include "layer/trace/trace.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[256];

static void make_folder(void)
{
    const char *told = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/bench-trace.XXXXXX", told != NULL ? told : "/tmp");
    if (mkdtemp(folder) == NULL || setenv("CTXRT_TRACE_FOLDER", folder, 1) != 0) {
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

static bool put(const cx_driver_table *below, cx_driver_table *out_table)
{
    return cx_trace_put(below, true, out_table);
}

int main(int argc, char **argv)
{
    size_t count = 20000;
    int rounds = 15;
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--rounds") == 0)
            rounds = (int)bench_number(value, 1, BENCH_ROUNDS_MAX);
        else if (strcmp(argv[i], "--count") == 0)
            count = (size_t)bench_number(value, 1, 100000000);
        else {
            fprintf(stderr, "usage: bench_trace [--rounds N] [--count N]\n");
            return 2;
        }
    }
    make_folder();
    (void)atexit(remove_folder);
    bench_prepare_calls(put);
    bench_time_calls("trace", count, rounds);
    return 0;
}
