#include "command.h"

#include "config.h"

#include <stdio.h>
#include <string.h>

static const struct subcommand {
    const char *name;
    const char *full_name;
    int (*run)(int argc, char **argv);
} subcommands[] = {
    {"bench", "ctxrt bench", bench_command}, {"check", "ctxrt check", check_command},
    {"compare", "ctxrt compare", compare_command},
    {"draw", "ctxrt draw", draw_command},
    {"info", "ctxrt info", info_command},    {"lesson", "ctxrt lesson", lesson_command},
    {"nvcc", "ctxrt nvcc", nvcc_command},
    {"play", "ctxrt play", play_command},    {"replay", "ctxrt replay", replay_command},
    {"run", "ctxrt run", run_command},       {"trace", "ctxrt trace", trace_command},
};

/* The chosen subcommand, and its arguments from its name on. */
typedef struct choice {
    const struct subcommand *subcommand;
    int argc;
    char **argv;
    bool version;
    bool help; /* for the subcommand, or for all if there is none */
} choice;

static const struct subcommand *find_subcommand(const char *name)
{
    for (size_t i = 0; i < sizeof subcommands / sizeof subcommands[0]; i++)
        if (strcmp(name, subcommands[i].name) == 0)
            return &subcommands[i];
    return NULL;
}

static error_t choose_subcommand(choice *self, const char *name, struct argp_state *state)
{
    if (self->subcommand == NULL && strcmp(name, "help") == 0) {
        self->help = true;
        return 0;
    }
    if (self->subcommand != NULL)
        return command_wrong_use(state, "'%s' is one argument too many", name);
    self->subcommand = find_subcommand(name);
    if (self->subcommand == NULL)
        return command_wrong_use(state, "there is no command '%s'", name);
    if (self->help)
        return 0;
    self->argv = state->argv + state->next - 1;
    self->argc = state->argc - state->next + 1;
    state->next = state->argc;
    return 0;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    choice *self = state->input;
    switch (key) {
    case 'V':
        self->version = true;
        return 0;
    case ARGP_KEY_ARG:
        return choose_subcommand(self, argument, state);
    case ARGP_KEY_END:
        if (self->subcommand == NULL && !self->version && !self->help)
            return command_wrong_use(
                state, "name a command: bench, check, compare, draw, help, info, lesson, nvcc, "
                       "play, replay, run or trace");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const char doc[] = "A context-stack runtime over the CUDA Driver API.\n"
                          "\vCommands:\n"
                          "  bench   run the benchmarks, beside their rivals\n"
                          "  check   run a program and tell how it misuses contexts\n"
                          "  compare  show where a recorded driver differs from the embedded one\n"
                          "  draw    draw a snapshot: stacks of frames, or blocks of memory\n"
                          "  help    print this help, or that of a command: ctxrt help run\n"
                          "  info    show drivers, devices and the environment in force\n"
                          "  lesson  list the lessons about contexts, and check their exercises\n"
                          "  nvcc    run nvcc so that what it builds runs under ctxrt\n"
                          "  play    play scenarios of driver calls, and compare what comes back\n"
                          "  replay  replay recorded allocations\n"
                          "  run     run a program on the stand-in libcuda.so.1: no GPU needed\n"
                          "  trace   run a program and record calls, stacks and streams over time\n"
                          "\n"
                          "`ctxrt help COMMAND' or `ctxrt COMMAND --help' tells more, and so do "
                          "the manual pages ctxrt(1) "
                          "and ctxrt(7).\n"
                          "Exit status: 0 good, 1 a step failed, 2 wrong use.\n"
                          "Example: ctxrt run ./program";

static const struct argp_option options[] = {
    {"version", 'V', NULL, 0, "Print the version", 0},
    {0},
};
static const struct argp argp = {options, parse_option, "COMMAND [ARGUMENT...]", doc, NULL,
                                 NULL,    NULL};

/* `ctxrt help' is `ctxrt --help'; `ctxrt help run' is `ctxrt run --help'. */
static int print_help(const struct subcommand *subcommand)
{
    static char name[] = "ctxrt", option[] = "--help";
    char *arguments[] = {name, option, NULL};
    choice self = {0};
    int status = COMMAND_GOOD;
    if (subcommand == NULL) {
        (void)command_parse(&argp, 2, arguments, &self, &status);
        return status;
    }
    arguments[0] = (char *)subcommand->full_name;
    return subcommand->run(2, arguments);
}

int main(int argc, char **argv)
{
    static char name[] = "ctxrt";
    char *no_arguments[] = {name, NULL};
    choice self = {0};
    int status;

    if (argc < 1) {
        argc = 1;
        argv = no_arguments;
    }
    argv[0] = name;
    if (!command_parse(&argp, argc, argv, &self, &status))
        return status;
    if (self.version) {
        printf("ctxrt %s\n", PACKAGE_VERSION);
        return fflush(stdout) == 0 ? COMMAND_GOOD : COMMAND_FAILED;
    }
    if (self.help)
        return print_help(self.subcommand);
    self.argv[0] = (char *)self.subcommand->full_name;
    return self.subcommand->run(self.argc, self.argv);
}
