/* ctxrt bench: runs the benches, programs of their own. */
#include "bench/plot.h"
#include "command.h"
#include "place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEY_ALL = 300, KEY_JSON, KEY_MARKDOWN, KEY_QUICK, KEY_PLOT, ARGUMENTS_MAX = 64 };

static const struct bench {
    const char *name, *program, *option, *value; /* the program's own option, or NULL */
    const char *what;
} benches[] = {
    {"alloc", "bench_alloc", NULL, NULL, "allocations, beside driver calls and malloc"},
    {"check", "bench_check", NULL, NULL, "what the layer of ctxrt check adds to driver calls"},
    {"count", "bench_trace", "--layer", "count", "what the layer of ctxrt run --report adds"},
    {"cudart", "bench_cudart", NULL, NULL, "the CUDA Runtime library, beside the driver"},
    {"graph", "bench_graph", NULL, NULL, "launching a graph, beside submitting its work"},
    {"infinirt", "bench_infinirt", NULL, NULL, "the InfiniRT interface, beside ctxrt's own"},
    {"kernels", "bench_kernels", NULL, NULL, "twenty kernels, beside the same in C"},
    {"plan", "bench_plan", NULL, NULL, "planning memory, and the hard cases of MiniMalloc"},
    {"ptx", "bench_ptx", NULL, NULL, "loops of kernels, beside the same in C"},
    {"stack", "bench_stack", NULL, NULL, "the stack of frames, beside bare driver calls"},
    {"trace", "bench_trace", "--layer", "trace", "what the layer of ctxrt trace adds"},
};
#define BENCHES (sizeof benches / sizeof benches[0])

typedef struct request {
    bool all, quick;
    const char *form; /* --json or --markdown; NULL: text */
    const char *plot; /* NULL: none */
    const struct bench *bench;
    char **rest; /* further arguments of the bench, up to NULL */
} request;

/* ---- options ---- */

static error_t take_bench(request *self, const char *name, struct argp_state *state)
{
    for (size_t i = 0; i < BENCHES; i++)
        if (strcmp(benches[i].name, name) == 0)
            self->bench = &benches[i];
    if (self->bench == NULL)
        return command_wrong_use(state, "there is no bench '%s'", name);
    self->rest = state->argv + state->next;
    state->next = state->argc;
    return 0;
}

static error_t check_request(const request *self, struct argp_state *state)
{
    if (self->all && self->bench != NULL)
        return command_wrong_use(state, "name a bench, or say --all");
    if (self->plot != NULL && (self->bench == NULL || self->form != NULL))
        return command_wrong_use(state, "--plot %s: it draws one bench: name that, and no form",
                                 self->plot);
    if (self->bench == NULL && !self->all && (self->quick || self->form != NULL))
        return command_wrong_use(state, "name a bench, or say --all");
    return 0;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    request *self = state->input;
    switch (key) {
    case KEY_ALL:
        self->all = true;
        return 0;
    case KEY_QUICK:
        self->quick = true;
        return 0;
    case KEY_JSON:
        self->form = "--json";
        return 0;
    case KEY_MARKDOWN:
        self->form = "--markdown";
        return 0;
    case KEY_PLOT:
        self->plot = argument;
        return *argument != '\0' && strchr(argument, '\'') == NULL
                   ? 0
                   : command_wrong_use(state, "--plot %s: name a file, without quotes", argument);
    case ARGP_KEY_ARG:
        return take_bench(self, argument, state);
    case ARGP_KEY_END:
        return check_request(self, state);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- running ---- */

static bool find_program(const struct bench *bench, char *path, size_t size)
{
    char folder[PATH_MAX], file[64];
    snprintf(file, sizeof file, "/%s", bench->program);
    return place_find("/bench", CTXRT_PKGLIBEXECDIR, "/bench", file, folder) &&
           snprintf(path, size, "%s%s", folder, file) < (int)size;
}

/* Replaces this process; returns an exit status after an error was printed. */
static int execute(const char *command, const request *self, const struct bench *bench,
                   const char *form)
{
    char path[PATH_MAX];
    const char *arguments[ARGUMENTS_MAX];
    int count = 0;
    if (!find_program(bench, path, sizeof path))
        return command_error(command, COMMAND_FAILED,
                             "%s is not built, and benches are not installed: run `make bench' in "
                             "a build of ctxrt, then its own ./ctxrt bench",
                             bench->program);
    arguments[count++] = bench->program;
    if (bench->option != NULL) {
        arguments[count++] = bench->option;
        arguments[count++] = bench->value;
    }
    if (self->quick)
        arguments[count++] = "--quick";
    if (form != NULL)
        arguments[count++] = form;
    for (char **each = self->rest; each != NULL && *each != NULL; each++) {
        if (count == ARGUMENTS_MAX - 1)
            return command_error(command, COMMAND_WRONG_USE, "there are too many arguments");
        arguments[count++] = *each;
    }
    arguments[count] = NULL;
    execv(path, (char **)(uintptr_t)arguments);
    return command_error(command, COMMAND_FAILED, "cannot run %s: %s", path, strerror(errno));
}

/* Runs it as a child, with its standard output in `output` unless that is -1. False: it failed. */
static bool run_child(const char *command, const request *self, const struct bench *bench,
                      const char *form, int output)
{
    int status = 0;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        if (output >= 0 && dup2(output, STDOUT_FILENO) < 0)
            _exit(COMMAND_FAILED);
        _exit(execute(command, self, bench, form));
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (pid < 0)
        (void)command_error(command, COMMAND_FAILED, "cannot fork: %s", strerror(errno));
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Between the benches: a comma in JSON, a heading in text, a blank line in Markdown. */
static void print_between(const request *self, const struct bench *bench, bool first)
{
    if (self->form == NULL)
        printf("%sbench %s: %s\n", first ? "" : "\n", bench->name, bench->what);
    else if (strcmp(self->form, "--json") == 0)
        printf(first ? "[\n" : ",\n");
    else if (!first)
        printf("\n");
}

/* A package may lack one that needs another package. */
static int run_all(const char *command, const request *self)
{
    int status = COMMAND_GOOD;
    bool first = true;
    for (size_t i = 0; i < BENCHES; i++) {
        char path[PATH_MAX];
        if (!find_program(&benches[i], path, sizeof path)) {
            fprintf(stderr, "%s: %s is left out: it is not installed\n", command,
                    benches[i].program);
            continue;
        }
        print_between(self, &benches[i], first);
        first = false;
        if (!run_child(command, self, &benches[i], self->form, -1))
            status = command_error(command, COMMAND_FAILED, "the bench %s failed",
                                   benches[i].name);
    }
    if (self->form != NULL && strcmp(self->form, "--json") == 0)
        printf(first ? "[]\n" : "]\n");
    return fflush(stdout) == 0 ? status : COMMAND_FAILED;
}

static int run_and_plot(const char *command, const request *self)
{
    char gnuplot[PATH_MAX];
    if (!plot_find_gnuplot(gnuplot))
        return command_error(command, COMMAND_FAILED,
                             "--plot %s: gnuplot is not installed; --json has the figures",
                             self->plot);
    FILE *json = tmpfile();
    if (json == NULL)
        return command_error(command, COMMAND_FAILED, "cannot make a file: %s", strerror(errno));
    int status = COMMAND_FAILED;
    if (run_child(command, self, self->bench, "--json", fileno(json))) {
        rewind(json);
        status = plot_draw(command, json, self->plot);
    }
    (void)fclose(json);
    return status;
}

static int list_benches(void)
{
    char gnuplot[PATH_MAX];
    for (size_t i = 0; i < BENCHES; i++)
        printf("%-10s %s\n", benches[i].name, benches[i].what);
    printf("\nPlots are drawn by %s\n",
           plot_find_gnuplot(gnuplot) ? gnuplot : "gnuplot, which is not installed");
    return fflush(stdout) == 0 ? COMMAND_GOOD : COMMAND_FAILED;
}

static const char doc[] =
    "Runs a bench of ctxrt beside its rivals, in one run, or lists the benches."
    "\vArguments behind NAME are the bench's own: --driver emulated|libcuda, --rounds N, "
    "--count N and others; a wrong one makes it print them. Figures of one run can be compared "
    "with each other, not with those of another machine or time.\n"
    "Example: ctxrt bench";

int bench_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"all", KEY_ALL, NULL, 0, "Run all of them", 0},
        {"json", KEY_JSON, NULL, 0, "Print the figures as JSON", 0},
        {"markdown", KEY_MARKDOWN, NULL, 0, "Print the tables in Markdown", 0},
        {"plot", KEY_PLOT, "FILE.svg", 0, "Draw the first table, by gnuplot", 0},
        {"quick", KEY_QUICK, NULL, 0, "One short round, to see that it runs", 0},
        {0},
    };
    static const struct argp argp = {options, parse_option, "[NAME [ARGUMENT...]]", doc, NULL, NULL,
                                     NULL};
    request self = {0};
    int status;

    if (!command_parse(&argp, argc, argv, &self, &status))
        return status;
    if (self.all)
        return run_all(argv[0], &self);
    if (self.bench == NULL)
        return list_benches();
    return self.plot != NULL ? run_and_plot(argv[0], &self)
                             : execute(argv[0], &self, self.bench, self.form);
}
