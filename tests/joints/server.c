/*
 * A server: generations of threads come, serve some requests each, and go. A request makes objects
 * of every kind and ends them (request.h): by the interface of ctxrt in the program `server`, by
 * calls of the driver alone in `server_driver`. The driver is the stand-in, or any libcuda
 * (CTXRT_LIBCUDA).
 *
 *   server [--seconds N] [--threads T] [--requests R] [--seed S]
 *
 * Prints the resident memory ten times. Fails if a call does not succeed, or if between
 * generations, where nothing is alive, the resident memory is in the last tenth of the time on
 * average more than 1 MiB above that of the second tenth: from a minute on.
 */
#include "request.h"
#include "resident.h"

#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    THREADS_MAX = 64,
    FAILURES_SHOWN = 10,
    LARGE_BYTES = 128 << 10,
    OK_BYTES = 1 << 20,
    FLAT_SECONDS = 60
};

static struct {
    double seconds;
    int threads, requests;
    uint64_t seed;
} options = {.seconds = 3, .threads = 8, .requests = 10, .seed = 1};

static _Atomic int failures;

uint64_t request_pick(uint64_t *random, uint64_t count)
{
    uint64_t z = *random += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % count;
}

void request_failed(const char *call, const char *why)
{
    if (failures++ < FAILURES_SHOWN)
        printf("# %s: %s\n", call, why);
}

/* ---- resident memory ---- */

typedef struct memory_watch {
    double began_s;
    int shown; /* tenths */
    resident_average early, late;
} memory_watch;

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void look(memory_watch *self, uint64_t generation)
{
    double tenth = (now_s() - self->began_s) / (options.seconds / 10);
    size_t bytes = resident_now();

    if (tenth >= 1 && tenth < 2)
        resident_add(&self->early, bytes);
    if (tenth >= 9)
        resident_add(&self->late, bytes);
    if ((int)tenth < self->shown)
        return;
    self->shown = (int)tenth + 1;
    printf("# %5.0f s: %6.2f MiB resident, %6.2f MiB by malloc, %lu generations\n",
           now_s() - self->began_s, mib(bytes), mib(mallinfo2().uordblks),
           (unsigned long)generation);
    fflush(stdout);
}

/* ---- generations ---- */

typedef struct server_thread {
    pthread_t thread;
    const request_kind *kind;
    uint64_t random;
} server_thread;

static void *serve(void *argument)
{
    server_thread *self = argument;

    for (int i = 0; i < options.requests; i++)
        self->kind->serve(&self->random);
    return NULL;
}

static void run_generation(const request_kind *kind, uint64_t generation)
{
    server_thread threads[THREADS_MAX];
    int count = 0;

    for (; count < options.threads; count++) {
        threads[count] = (server_thread){
            .kind = kind, .random = options.seed << 32 ^ generation << 8 ^ (uint64_t)count};
        if (pthread_create(&threads[count].thread, NULL, serve, &threads[count]) != 0)
            break;
    }
    for (int i = 0; i < count; i++)
        pthread_join(threads[i].thread, NULL);
    kind->rest(generation);
}

static void run_server(const request_kind *kind, memory_watch *watch)
{
    uint64_t generation = 0;

    *watch = (memory_watch){.began_s = now_s()};
    if (!kind->open()) {
        failures++;
        return;
    }
    while (now_s() - watch->began_s < options.seconds) {
        run_generation(kind, generation++);
        look(watch, generation);
    }
    kind->close();
}

static void report(const memory_watch *watch)
{
    size_t early = resident_average_of(&watch->early), late = resident_average_of(&watch->late);
    bool flat = early != 0 && late <= early + OK_BYTES;

    printf("# on average %.2f MiB resident in the second tenth, %.2f MiB in the last; %d calls "
           "failed\n",
           mib(early), mib(late), failures);
    printf("%s 1 - requests_by_the_%s_succeed\n", failures > 0 ? "not ok" : "ok",
           request_served.name);
    printf("%s 2 - requests_by_the_%s_leave_no_memory_behind%s\n",
           flat || options.seconds < FLAT_SECONDS ? "ok" : "not ok", request_served.name,
           options.seconds < FLAT_SECONDS ? " # SKIP it takes a minute to be flat" : "");
}

int main(int count, char **arguments)
{
    memory_watch watch;

    for (int i = 1; i + 1 < count; i += 2)
        if (strcmp(arguments[i], "--seconds") == 0)
            options.seconds = strtod(arguments[i + 1], NULL);
        else if (strcmp(arguments[i], "--threads") == 0)
            options.threads = atoi(arguments[i + 1]);
        else if (strcmp(arguments[i], "--requests") == 0)
            options.requests = atoi(arguments[i + 1]);
        else if (strcmp(arguments[i], "--seed") == 0)
            options.seed = strtoull(arguments[i + 1], NULL, 0);
        else
            return 2;
    if (options.threads > THREADS_MAX)
        options.threads = THREADS_MAX;
    /* By itself glibc has an arena for each thread, which keeps what it once had, and puts ever
     * larger blocks there: not memory that anybody holds. */
    (void)mallopt(M_ARENA_MAX, 1);
    (void)mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
    setenv("CTXRT_EMU_DEVICES", "3", 0);
    setenv("CTXRT_EMU_MEMORY", "256M", 0);
    setenv("CTXRT_LIBCUDA", STAND_IN, 0);
    printf("1..2\n");
    run_server(&request_served, &watch);
    report(&watch);
    return 0;
}
