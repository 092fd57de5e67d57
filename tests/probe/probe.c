/*
 * Says what a CUDA driver does for each rule of docs/semantics.md, one line an observation, and
 * judges nothing. It depends on nothing but the C library: it opens the driver by its path and
 * declares what it calls itself. So it can be carried to a machine that has a GPU and a C compiler:
 *
 *     cc -O2 -pthread -o probe tests/probe/[a-z]*.c -ldl
 *     ./probe > h100-13.0.probe.txt
 *
 * A line is NAME = VALUE, and a name begins with its rule:
 *
 *     C2.destroy-current-here.alloc = SUCCESS(0)
 *
 * Handles are given as names, addresses and ids as relations, times never: `ctxrt compare' compares
 * recordings. Lines with # are about the recording. Every driver prints the same names: what could
 * not be seen says why ("missing", "timeout", "signal 11", "needs 2 devices", "not reached: ...").
 * Each experiment runs in a process of its own, in which it is the first to call the driver and
 * may leave what it likes behind.
 */
#include "probes.h"
#include "spawn.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PROBE_VERSION "1"

enum { ONLY_MAX = 32 };

const struct group groups[] = {
    {"life", life_experiments},       {"context", context_experiments},
    {"stack", stack_experiments},     {"query", query_experiments},
    {"primary", primary_experiments}, {"peer", peer_experiments},
    {"stream", stream_experiments},   {"order", order_experiments},
    {"memory", memory_experiments},   {"pool", pool_experiments},
    {"share", share_experiments},
    {"virtual", virtual_experiments}, {"value", value_experiments},
    {"copy", copy_experiments},
    {"module", module_experiments},   {"kernel", kernel_experiments},
    {"launch", launch_experiments},
    {"capture", capture_experiments},
    {"error", error_experiments},     {"runtime", runtime_experiments},
    {"argument", argument_experiments}, {"choice", choice_experiments},
    {"more", more_experiments},
    {NULL, NULL},
};

static const char usage[] =
    "probe [OPTION...] [LIBCUDA]\n"
    "Prints what the driver LIBCUDA (default: libcuda.so.1) does, one line an observation.\n"
    "  --only WORD      of a group (see --list), a rule or an experiment; may be repeated\n"
    "  --list           print the observations: GROUP RULE NAME\n"
    "  --times          print instead what the common calls cost\n"
    "  --cudart PATH    a libcudart.so, for the rules of the runtime API\n"
    "  --fault-by N=V   for a driver that runs no kernels but can be told to let work fail: set\n"
    "                   this in the environment, where % is the error's name, and let the\n"
    "                   first cuMemsetD8Async be the work that fails\n"
    "  --seconds N      end an experiment that takes longer (60)\n"
    "  --patience MS    say of what has not come by then that it waits (1000)\n";

static const struct experiment *find(const char *name)
{
    static const struct experiment *const more[] = {header_experiments, times_experiments};
    for (const struct group *group = groups; group->name != NULL; group++)
        for (const struct experiment *one = group->experiments; one->name != NULL; one++)
            if (strcmp(one->name, name) == 0)
                return one;
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (strcmp(more[i]->name, name) == 0)
            return more[i];
    return NULL;
}

static _Bool begins_with_word(const char *name, const char *word)
{
    size_t length = strlen(word);
    return strncmp(name, word, length) == 0 && (name[length] == '\0' || name[length] == '.');
}

static _Bool is_wanted(const struct group *group, const struct experiment *experiment,
                       const char *const *only, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(group->name, only[i]) == 0 || begins_with_word(experiment->name, only[i]))
            return 1;
    return count == 0;
}

static _Bool names_something(const char *word)
{
    for (const struct group *group = groups; group->name != NULL; group++)
        for (const struct experiment *one = group->experiments; one->name != NULL; one++)
            if (is_wanted(group, one, &word, 1))
                return 1;
    return 0;
}

static void list(const char *const *only, int count)
{
    for (const struct group *group = groups; group->name != NULL; group++)
        for (const struct experiment *one = group->experiments; one->name != NULL; one++) {
            const char *word = one->shows;
            while (*word != '\0' && is_wanted(group, one, only, count)) {
                int length = (int)strcspn(word, " ");
                printf("%s %.*s %s.%.*s\n", group->name, (int)strcspn(one->name, "."), one->name,
                       one->name, length, word);
                word += length;
                word += strspn(word, " ");
            }
        }
}

static void print_observation(const char *name, const char *word, const char *value)
{
    printf("%s.%s = %s\n", name, word, value);
    fflush(stdout);
}

static _Bool cannot_open;

static void print_header_line(const char *name, const char *word, const char *value)
{
    (void)name;
    if (strncmp(value, "cannot open", 11) == 0) {
        if (!cannot_open)
            fprintf(stderr, "probe: %s\n", value);
        cannot_open = 1;
    } else {
        printf("# %s: %s\n", word, value);
    }
}

static void see_header(void)
{
    int version = 0, devices = 0, major = 0, minor = 0;
    char name[128] = "";
    cuDriverGetVersion(&version);
    see("driver", "%d.%d", version / 1000, version % 1000 / 10);
    CUresult code = cuInit(0);
    if (code != SUCCESS)
        give_up("cuInit %s", result_text(code));
    cuDeviceGetCount(&devices);
    see("devices", "%d", devices);
    cuDeviceGetName(name, sizeof name, 0);
    see("device", "%s", name);
    cuDeviceGetAttribute(&major, ATTRIBUTE_CAPABILITY_MAJOR, 0);
    cuDeviceGetAttribute(&minor, ATTRIBUTE_CAPABILITY_MINOR, 0);
    see("capability", "%d.%d", major, minor);
}

const struct experiment header_experiments[] = {
    {"header", see_header, "driver devices device capability"},
    {NULL, NULL, NULL},
};

static _Bool print_header(const struct settings *settings)
{
    char date[32] = "";
    time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    _Bool good = spawn_experiment(header_experiments, settings, print_header_line) && !cannot_open;
    if (good)
        printf("# date: %s\n# probe: %s\n", date, PROBE_VERSION);
    return good;
}

static int run(const struct settings *settings, const char *const *only, int count)
{
    int status = 0;
    if (!print_header(settings))
        return 2;
    for (const struct group *group = groups; group->name != NULL; group++)
        for (const struct experiment *one = group->experiments; one->name != NULL; one++)
            if (is_wanted(group, one, only, count) &&
                !spawn_experiment(one, settings, print_observation))
                status = 3;
    return status;
}

static int run_times(const struct settings *settings)
{
    if (!print_header(settings))
        return 2;
    return spawn_experiment(times_experiments, settings, print_observation) ? 0 : 3;
}

/* --child NAME CHANNEL SECONDS PATIENCE DRIVER CUDART FAULT-BY, the last two may be empty */
static int child(int count, char **arguments)
{
    const struct experiment *experiment = count == 9 ? find(arguments[2]) : NULL;
    if (experiment == NULL)
        return 2;
    patience_ms = (unsigned int)strtoul(arguments[5], NULL, 10);
    cudart_path = arguments[7][0] != '\0' ? arguments[7] : NULL;
    fault_by = arguments[8][0] != '\0' ? arguments[8] : NULL;
    child_run(experiment, arguments[6], atoi(arguments[3]),
              (unsigned int)strtoul(arguments[4], NULL, 10));
}

/* False unless the text is a number from 1 to 100000. */
static _Bool read_number(const char *text, unsigned int *out_number)
{
    char *end = NULL;
    unsigned long number = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || number < 1 || number > 100000)
        return 0;
    *out_number = (unsigned int)number;
    return 1;
}

static int wrong_use(const char *what, const char *which)
{
    fprintf(stderr, "probe: %s%s; see probe --help\n", what, which);
    return 2;
}

int main(int count, char **arguments)
{
    enum { ONLY = 1, LIST, TIMES, CUDART, FAULT_BY, SECONDS, PATIENCE, HELP };
    static const struct option options[] = {
        {"only", required_argument, NULL, ONLY},
        {"list", no_argument, NULL, LIST},
        {"times", no_argument, NULL, TIMES},
        {"cudart", required_argument, NULL, CUDART},
        {"fault-by", required_argument, NULL, FAULT_BY},
        {"seconds", required_argument, NULL, SECONDS},
        {"patience", required_argument, NULL, PATIENCE},
        {"help", no_argument, NULL, HELP},
        {NULL, 0, NULL, 0},
    };
    struct settings settings = {.driver = "libcuda.so.1", .seconds = 60, .patience_ms = 1000};
    const char *only[ONLY_MAX];
    int only_count = 0, mode = 0, option;

    if (count > 1 && strcmp(arguments[1], "--child") == 0)
        return child(count, arguments);
    while ((option = getopt_long(count, arguments, "", options, NULL)) != -1) {
        switch (option) {
        case ONLY:
            if (only_count == ONLY_MAX)
                return wrong_use("too many --only", "");
            if (!names_something(optarg))
                return wrong_use("no group, rule or experiment is called ", optarg);
            only[only_count++] = optarg;
            break;
        case CUDART:
            settings.cudart = optarg;
            break;
        case FAULT_BY:
            if (strchr(optarg, '=') == NULL || strlen(optarg) > 200)
                return wrong_use("no NAME=VALUE: ", optarg);
            settings.fault_by = optarg;
            break;
        case SECONDS:
            if (!read_number(optarg, &settings.seconds))
                return wrong_use("no number of seconds: ", optarg);
            break;
        case PATIENCE:
            if (!read_number(optarg, &settings.patience_ms))
                return wrong_use("no number of milliseconds: ", optarg);
            break;
        case LIST:
        case TIMES:
            if (mode != 0 && mode != option)
                return wrong_use("only one of --list and --times", "");
            mode = option;
            break;
        case HELP:
            fputs(usage, stdout);
            return 0;
        default:
            return 2;
        }
    }
    if (count - optind > 1)
        return wrong_use("one driver at a time, not also ", arguments[optind + 1]);
    if (optind < count)
        settings.driver = arguments[optind];
    if (mode == LIST) {
        list(only, only_count);
        return 0;
    }
    return mode == TIMES ? run_times(&settings) : run(&settings, only, only_count);
}
