/*
 * pipeline [--devices N] [--threads N] [--chunk SIZE] [--driver emulated|libcuda] [--snapshot FILE]
 *     FILE|-
 *
 * Sends a file through all devices in chunks and sees that what comes back is what went in.
 */
#include "pipeline.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

void pipeline_fail(pipeline *self, const char *format, ...)
{
    va_list arguments;
    pthread_mutex_lock(&self->lock);
    if (!atomic_load(&self->stop)) {
        va_start(arguments, format);
        vsnprintf(self->failure, sizeof self->failure, format, arguments);
        va_end(arguments);
        atomic_store(&self->stop, true);
    }
    pthread_mutex_unlock(&self->lock);
}

/* Room for a chunk's result; lock held. */
static bool grow(pipeline *self, size_t chunk)
{
    if (chunk < self->result_capacity)
        return true;
    size_t capacity = 2 * chunk + 64;
    chunk_result *results = realloc(self->results, capacity * sizeof *results);
    if (results == NULL)
        return false;
    memset(results + self->result_capacity, 0,
           (capacity - self->result_capacity) * sizeof *results);
    self->results = results;
    self->result_capacity = capacity;
    return true;
}

bool pipeline_keep(pipeline *self, size_t chunk, const totals *of_chunk)
{
    pthread_mutex_lock(&self->lock);
    bool kept = grow(self, chunk);
    if (kept) {
        self->results[chunk] = (chunk_result){of_chunk->crc, (size_t)of_chunk->bytes};
        self->result_count++;
        for (int i = 0; i < 256; i++)
            self->back.histogram[i] += of_chunk->histogram[i];
    }
    pthread_mutex_unlock(&self->lock);
    atomic_fetch_add(&self->done_bytes, of_chunk->bytes);
    if (!kept)
        pipeline_fail(self, "no memory for the results");
    return kept;
}

/* Chunks come back in any order; their checksums are put together in that of the file. */
static void combine(pipeline *self)
{
    for (size_t i = 0; i < self->result_count; i++) {
        self->back.crc = (uint32_t)crc32_combine(self->back.crc, self->results[i].crc,
                                                 (z_off_t)self->results[i].bytes);
        self->back.bytes += self->results[i].bytes;
    }
}

static void *show_progress(void *argument)
{
    pipeline *self = argument;
    const struct timespec pause = {.tv_nsec = 100000000};
    while (!atomic_load(&self->over)) {
        fprintf(stderr, "\r%lu MB", atomic_load(&self->done_bytes) >> 20);
        if (self->source->size_bytes != 0)
            fprintf(stderr, " of %zu MB", self->source->size_bytes >> 20);
        nanosleep(&pause, NULL);
    }
    fprintf(stderr, "\r%30s\r", "");
    return NULL;
}

bool pipeline_run(pipeline *self)
{
    pthread_t *workers = calloc((size_t)self->threads, sizeof *workers);
    pthread_t progress;
    bool showing =
        isatty(STDERR_FILENO) && pthread_create(&progress, NULL, show_progress, self) == 0;
    int started = 0;
    while (workers != NULL && started < self->threads &&
           pthread_create(&workers[started], NULL, worker_run, self) == 0)
        started++;
    if (started < self->threads)
        pipeline_fail(self, "only %d of %d threads could be started", started, self->threads);
    for (int i = started; i < self->threads; i++)
        gather_without(self);
    for (int i = 0; i < started; i++)
        pthread_join(workers[i], NULL);
    atomic_store(&self->over, true);
    if (showing)
        pthread_join(progress, NULL);
    free(workers);
    combine(self);
    return !atomic_load(&self->stop);
}

static const char usage_text[] = "usage: pipeline [--devices N] [--threads N] [--chunk SIZE] "
                                 "[--driver emulated|libcuda]\n"
                                 "                [--snapshot FILE] FILE|-\n"
                                 "  --devices N    how many devices to use (4; emulated: 1 to 64)\n"
                                 "  --threads N    worker threads (8; 1 to 1024)\n"
                                 "  --chunk SIZE   bytes per chunk, 1 to 64M (1M)\n"
                                 "  --driver D     emulated (the default) or libcuda\n"
                                 "  --snapshot FILE  every thread's stack in mid-flight, for ctxrt "
                                 "draw\n";

static _Noreturn void wrong_use(const char *what, const char *value)
{
    fprintf(stderr, "pipeline: %s%s; see pipeline --help\n", what, value);
    exit(2);
}

static long parse(const char *what, const char *text, long high)
{
    char *end;
    long value = strtol(text, &end, 10);
    int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : 0;
    if (end == text || end[shift != 0] != '\0' || value < 1 || value > high >> shift)
        wrong_use(what, text);
    return value << shift;
}

typedef struct choices {
    int devices, threads;
    size_t chunk_bytes;
    ctxrt_cuda_driver driver;
    const char *file, *snapshot;
} choices;

static choices read_choices(int argc, char **argv)
{
    static const struct option options[] = {
        {"devices", required_argument, NULL, 'd'}, {"threads", required_argument, NULL, 't'},
        {"chunk", required_argument, NULL, 'c'},   {"driver", required_argument, NULL, 'D'},
        {"snapshot", required_argument, NULL, 's'}, {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    choices chosen = {4, 8, (size_t)1 << 20, CTXRT_CUDA_DRIVER_EMULATED, NULL, NULL};
    int letter;
    opterr = 0;
    while ((letter = getopt_long(argc, argv, "", options, NULL)) != -1)
        switch (letter) {
        case 'd':
            chosen.devices = (int)parse("--devices cannot be ", optarg, DEVICES_MAX);
            break;
        case 't':
            chosen.threads = (int)parse("--threads cannot be ", optarg, THREADS_MAX);
            break;
        case 'c':
            chosen.chunk_bytes = (size_t)parse("--chunk cannot be ", optarg, 64L << 20);
            break;
        case 'D':
            if (strcmp(optarg, "libcuda") == 0)
                chosen.driver = CTXRT_CUDA_DRIVER_LIBCUDA;
            else if (strcmp(optarg, "emulated") != 0)
                wrong_use("--driver cannot be ", optarg);
            break;
        case 's':
            chosen.snapshot = optarg;
            break;
        case 'h':
            fputs(usage_text, stdout);
            exit(0);
        default:
            wrong_use("unknown or incomplete option ", argv[optind - 1]);
        }
    if (optind + 1 != argc)
        wrong_use("one file is needed, or - for standard input", "");
    chosen.file = argv[optind];
    return chosen;
}

static int fail(const char *message)
{
    fprintf(stderr, "pipeline: %s\n", message);
    return 1;
}

/* The devices to use: fewer than asked for is an error, never a silent change. */
static bool choose_devices(pipeline *self, const choices *chosen)
{
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    int count;
    options.cuda_driver = chosen->driver;
    if (chosen->driver == CTXRT_CUDA_DRIVER_EMULATED)
        options.emulated_devices = chosen->devices;
    if (ctxrt_init(&options) != CTXRT_SUCCESS ||
        ctxrt_device_count(CTXRT_DEVICE_CUDA, &count) != CTXRT_SUCCESS)
        return false;
    self->devices = chosen->devices;
    for (int i = 0; i < self->devices; i++) {
        ctxrt_device_info info;
        self->device[i] = CTXRT_CUDA(i);
        if (ctxrt_device_properties(self->device[i], &info) != CTXRT_SUCCESS)
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    static pipeline line = {.lock = PTHREAD_MUTEX_INITIALIZER,
                            .everybody = PTHREAD_COND_INITIALIZER};
    source input;
    struct timespec begin, end;
    choices chosen = read_choices(argc, argv);
    if (!source_open(&input, chosen.file, chosen.chunk_bytes)) {
        fprintf(stderr, "pipeline: cannot read %s: %s\n", chosen.file, strerror(errno));
        return 1;
    }
    line.source = &input;
    line.threads = line.working = chosen.threads;
    line.snapshot_file = chosen.snapshot;
    if (!choose_devices(&line, &chosen))
        return fail(ctxrt_last_error()->message);

    clock_gettime(CLOCK_MONOTONIC, &begin);
    bool passed = pipeline_run(&line);
    clock_gettime(CLOCK_MONOTONIC, &end);
    source_close(&input);
    if (!passed)
        return fail(line.failure);
    report_write(&line,
                 (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
    bool equal = totals_equal(&line.back, &input.plain);
    free(line.results);
    free(line.snapshot);
    if (ctxrt_shutdown() != CTXRT_SUCCESS)
        return fail(ctxrt_last_error()->message);
    return equal ? 0 : 1;
}
