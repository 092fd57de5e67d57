#include "child.h"
#include "command.h"
#include "count/count.h"
#include "standin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { KEY_REPORT = 300 };

typedef struct request {
    standin_options standin;
    char **program;
    bool report;
    const char *report_file; /* NULL: standard error */
} request;

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    request *self = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &self->standin;
        return 0;
    case KEY_REPORT:
        self->report = true;
        self->report_file = argument;
        return argument == NULL || *argument != '\0'
                   ? 0
                   : command_wrong_use(state, "--report=: name the file");
    case ARGP_KEY_ARG:
        self->program = state->argv + state->next - 1;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS:
        return command_wrong_use(state, "name the program to run");
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- the report ---- */

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static bool is_json(const char *name)
{
    size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".json") == 0;
}

static int write_file(const char *command, const request *self, const counts *all, int status)
{
    const char *name = self->report_file;
    FILE *to = fopen(name, "we");
    if (to == NULL)
        return command_error(command, COMMAND_FAILED, "cannot write %s: %s", name, strerror(errno));
    bool good = is_json(name) ? counts_write_json(all, self->program, status, to)
                              : counts_write_text(all, to);
    if (fclose(to) != 0 || !good)
        return command_error(command, COMMAND_FAILED, "%s could not be written: %s", name,
                             strerror(errno));
    return COMMAND_GOOD;
}

static int write_report(const char *command, const request *self, const char *folder, uint64_t ns,
                        int status)
{
    counts all;
    if (!counts_read(folder, &all))
        return command_error(command, COMMAND_FAILED, "cannot read the report: %s",
                             strerror(errno));
    all.ns = ns;
    if (all.count == 0 && all.lost == 0)
        fprintf(stderr, "%s: no process called the driver\n", command);
    int written = COMMAND_GOOD;
    if (self->report_file != NULL)
        written = write_file(command, self, &all, status);
    else if (all.count > 0 || all.lost > 0)
        (void)counts_write_text(&all, stderr);
    counts_free(&all);
    return written;
}

/* ---- the program ---- */

/* The counter joins the layers that the environment asks for. */
static bool add_layer(void)
{
    char layers[256];
    const char *asked = getenv("CTXRT_LAYERS");
    bool some = asked != NULL && *asked != '\0';
    return snprintf(layers, sizeof layers, "%s%scount", some ? asked : "", some ? "," : "") <
               (int)sizeof layers &&
           setenv("CTXRT_LAYERS", layers, 1) == 0;
}

static int run_counted(const char *command, const request *self, const char *folder)
{
    uint64_t begun = now_ns();
    pid_t pid = child_start(command, self->program);
    if (pid < 0)
        return command_error(command, COMMAND_FAILED, "cannot fork: %s", strerror(errno));
    int status = child_wait(pid, NULL, NULL, 0, NULL);
    uint64_t ns = now_ns() - begun;
    child_tell_of_death(command, status);
    int written = write_report(command, self, folder, ns, child_status(status));
    return written != COMMAND_GOOD ? written : child_status(status);
}

static int run_and_wait(const char *command, const request *self)
{
    pid_t pid = child_start(command, self->program);
    if (pid < 0)
        return command_error(command, COMMAND_FAILED, "cannot fork: %s", strerror(errno));
    int status = child_wait(pid, NULL, NULL, 0, NULL);
    child_tell_of_death(command, status);
    return child_status(status);
}

static int run_and_report(const char *command, const request *self)
{
    static const char *const places[] = {"/dev/shm", "/tmp", NULL};
    char folder[256];
    if (!child_make_folder("ctxrt-report", places, folder, sizeof folder))
        return command_error(command, COMMAND_FAILED, "cannot make a folder for the report: %s",
                             strerror(errno));
    char *whole = realpath(folder, NULL); /* the program may go elsewhere */
    int status = whole != NULL && setenv("CTXRT_REPORT_FOLDER", whole, 1) == 0 && add_layer()
                     ? run_counted(command, self, folder)
                     : command_error(command, COMMAND_FAILED, "no memory for the environment");
    free(whole);
    child_remove_folder(folder);
    return status;
}

static const char doc[] = "Runs PROGRAM on the stand-in libcuda.so.1, which plays GPUs on the CPU."
                          "\vSIZE is a number of bytes such as 512M or 4G, from 2M to 1T. What an "
                          "option does not say is as the "
                          "environment says it (ctxrt(7)). The exit status is PROGRAM's; 127 if "
                          "there is no such program, "
                          "126 if it cannot be executed.\n"
                          "Example: ctxrt run --devices 2 --memory 512M ./program";

int run_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"report", KEY_REPORT, "FILE", OPTION_ARG_OPTIONAL,
         "Tell at the end what was called, how often and how long, what each device had, and what "
         "failed: on the standard error, or in FILE (JSON if it is FILE.json)",
         0},
        {0},
    };
    static const struct argp_child children[] = {{&standin_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {options, parse_option, "PROGRAM [ARGUMENT...]", doc, children,
                                     NULL,    NULL};
    request self = {0};
    int status;

    if (!command_parse(&argp, argc, argv, &self, &status))
        return status;
    status = standin_prepare(argv[0], &self.standin, self.program[0]);
    if (status != COMMAND_GOOD)
        return status;
    if (!self.report && !standin_must_end())
        return standin_execute(argv[0], self.program);
    status = self.report ? run_and_report(argv[0], &self) : run_and_wait(argv[0], &self);
    standin_end();
    return status;
}
