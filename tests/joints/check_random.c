/*
 * The whole public API at random, checked by what each call may give, by the contents of memory and
 * by a shadow of addresses. Each run is a process of its own that starts, shuts down and starts
 * again.
 *
 *   check_random [--seed N] [--seconds S] [--threads T] [--only MANNER] [--resets beside|apart]
 *
 * As a rule resets come beside the operations of other threads: an operation may use the address of
 * a block that a reset ends meanwhile, and another block may have it by then. With `apart` resets
 * come between operations, and no two operations race.
 *
 * CTXRT_EMU_SCHEDULE in the environment chooses the schedule of all runs, CTXRT_ALLOCATOR the
 * source of allocators. A run that fails prints its seed and the last operations of each thread.
 */
#include "mix/crowd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct manner {
    const char *name, *schedule;
    int threads;
    long steps;
    bool faults;
} manner;

static const manner manners[] = {
    {"one_thread_where_nothing_runs_before_it_must", "lazy", 1, 4000, false},
    {"one_thread_where_work_runs_in_any_legal_order", "random:", 1, 4000, false},
    {"one_thread_where_work_runs_at_once", "threads", 1, 4000, false},
    {"threads_where_work_runs_at_once", "threads", 4, 2000, false},
    {"threads_where_nothing_runs_before_it_must", "lazy", 3, 1500, false},
    {"threads_where_work_runs_in_any_legal_order", "random:", 3, 1500, false},
    {"threads_of_a_driver_that_refuses_calls_now_and_then", "threads", 3, 1500, true},
};
enum { MANNERS = sizeof manners / sizeof *manners };

typedef struct settings {
    uint64_t seed;
    double seconds;
    int threads;
    int only; /* a manner, from 1; 0: all */
    bool apart;
} settings;

/* Calls that are refused: none of the errors ends its context. */
static void set_faults(uint64_t seed)
{
    static const char *const calls[] = {"cuMemAlloc",     "cuStreamWaitEvent", "cuEventRecord",
                                        "cuGraphLaunch",  "cuStreamCreate",    "cuEventCreate",
                                        "cuMemHostAlloc", "cuGraphInstantiate"};
    char text[1024];
    int length = 0;
    for (size_t i = 0; i < 3 * sizeof calls / sizeof *calls; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        length +=
            snprintf(text + length, sizeof text - (size_t)length, "%s%s@%d", length == 0 ? "" : ",",
                     calls[i / 3], (int)(8 + 40 * (i % 3) + (seed >> 33) % 40));
    }
    setenv("CTXRT_EMU_FAULT", text, 1);
}

static void set_environment(const manner *how, uint64_t seed)
{
    char text[64];
    snprintf(text, sizeof text, "%s%llu", how->schedule, (unsigned long long)seed);
    setenv("CTXRT_EMU_SCHEDULE",
           how->schedule[strlen(how->schedule) - 1] == ':' ? text : how->schedule, 0);
    setenv("CTXRT_ALLOCATOR", seed % 3 == 0 ? "vmm" : "alloc", 0);
    if (how->faults)
        set_faults(seed);
}

/* In a process of its own. Twice: the runtime starts again. */
static int play(const manner *how, const settings *chosen, uint64_t seed)
{
    run one = {.seed = seed,
               .threads = how->threads,
               .steps = how->steps,
               .faults = how->faults,
               .apart = chosen->apart};
    if (chosen->threads > 0)
        one.threads = chosen->threads;
    set_environment(how, seed);
    alarm(240);
    for (int i = 0; i < 2; i++, one.seed += 1000000007)
        if (!crowd_run(&one))
            return 1;
    if (getenv("JOINTS_COUNTS") != NULL)
        printf("# seed %llu: %ld operations, %ld looks\n", (unsigned long long)seed,
               atomic_load(&all.operations), atomic_load(&all.looks));
    return 0;
}

static bool play_apart(const manner *how, const settings *chosen, uint64_t seed)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int result = play(how, chosen, seed);
        fflush(stdout);
        if (result != 0)
            _exit(result);
        exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return false;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    printf("# %s: seed %llu: status %#x\n", how->name, (unsigned long long)seed, (unsigned)status);
    return false;
}

static bool play_for(const manner *how, const settings *chosen)
{
    double end_s = now_s() + chosen->seconds / (chosen->only > 0 ? 1 : MANNERS);
    uint64_t seed = chosen->seed;
    do
        if (!play_apart(how, chosen, seed++))
            return false;
    while (now_s() < end_s);
    return true;
}

static settings read_arguments(int count, char **arguments)
{
    const char *sanitizers = getenv("SANITIZERS");
    settings chosen = {.seed = 1, .seconds = sanitizers != NULL && sanitizers[0] != '\0' ? 8 : 16};
    for (int i = 1; i + 1 < count; i += 2) {
        if (strcmp(arguments[i], "--seed") == 0)
            chosen.seed = strtoull(arguments[i + 1], NULL, 0);
        else if (strcmp(arguments[i], "--seconds") == 0)
            chosen.seconds = strtod(arguments[i + 1], NULL);
        else if (strcmp(arguments[i], "--threads") == 0)
            chosen.threads = atoi(arguments[i + 1]);
        else if (strcmp(arguments[i], "--only") == 0)
            chosen.only = atoi(arguments[i + 1]);
        else if (strcmp(arguments[i], "--resets") == 0)
            chosen.apart = strcmp(arguments[i + 1], "apart") == 0;
        else
            exit(2);
    }
    return chosen;
}

int main(int count, char **arguments)
{
    const settings chosen = read_arguments(count, arguments);
    printf("1..%d\n", MANNERS);
    for (int i = 0; i < MANNERS; i++)
        if (chosen.only > 0 && chosen.only != i + 1)
            printf("ok %d - %s # SKIP --only\n", i + 1, manners[i].name);
        else
            printf("%s %d - %s\n", play_for(&manners[i], &chosen) ? "ok" : "not ok", i + 1,
                   manners[i].name);
    return 0;
}
