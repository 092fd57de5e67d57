/* ctxrt check: options, the program, and its end. */
#include "check/baseline.h"
#include "check/report.h"
#include "child.h"
#include "command.h"
#include "standin.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEY_JSON = 300, KEY_IGNORE, KEY_ONLY, KEY_LIMIT, KEY_LIST, KEY_ERROR, KEY_LEAKS, KEY_NOTES,
       KEY_TIMEOUT, KEY_FORMAT, KEY_OUTPUT, KEY_LEARN, KEY_BASELINE, KEY_BREAK, KEY_HOST };

typedef struct request {
    standin_options standin;
    report_options options;
    const char *json, *output, *learned;
    int error_status;
    int timeout_s; /* 0: none */
    bool list, only;
    char **program;
} request;

static error_t choose_kind(request *self, struct argp_state *state, const char *name, bool wanted)
{
    cx_check_kind kind;
    if (!kind_find(name, &kind))
        return command_wrong_use(state, "there is no kind '%s': ctxrt check --list names them",
                                 name);
    if (wanted && !self->only)
        memset(self->options.chosen, 0, sizeof self->options.chosen);
    self->only = self->only || wanted;
    self->options.chosen[kind] = wanted;
    if (wanted)
        self->options.notes = self->options.leaks = true;
    return 0;
}

static error_t take_number(struct argp_state *state, const char *option, const char *text, int most,
                           int *out)
{
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || number < 0 || number > most)
        return command_wrong_use(state, "%s %s: it is a number from 0 to %d", option, text, most);
    *out = (int)number;
    return 0;
}

static error_t choose_format(report_options *options, struct argp_state *state, const char *name)
{
    static const char *const names[] = {"text", "json", "sarif", "github"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0) {
            options->format = (report_format)i;
            return 0;
        }
    return command_wrong_use(state, "--format %s: there are text, json, sarif and github", name);
}

/* The layer reads the variable in the program. */
static error_t add_break(struct argp_state *state, const char *name)
{
    static char all[1024];
    cx_check_kind kind;
    if (!kind_find(name, &kind))
        return command_wrong_use(state, "there is no kind '%s': ctxrt check --list names them",
                                 name);
    if (strlen(all) + strlen(name) + 2 >= sizeof all)
        return command_wrong_use(state, "--break is given too often");
    strcat(strcat(all, name), ",");
    return setenv("CTXRT_CHECK_BREAK", all, 1) == 0 ? 0 : ENOMEM;
}

/* The layer reads the first variable in the program. A copy that runs as soon as it can leaves the
 * host no time to be seen: work runs when something waits for it, if the user names no schedule. */
static bool watch_host(void)
{
    return setenv("CTXRT_CHECK_HOST", "1", 1) == 0 &&
           setenv("CTXRT_EMU_SCHEDULE", "lazy", 0) == 0;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    request *self = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &self->standin;
        return 0;
    case KEY_JSON:
        self->json = argument;
        return 0;
    case 's':
        return report_read_rules(&self->options, argument) ? 0 : ECANCELED;
    case KEY_IGNORE:
        return choose_kind(self, state, argument, false);
    case KEY_ONLY:
        return choose_kind(self, state, argument, true);
    case KEY_LIMIT:
        return take_number(state, "--limit", argument, 1000000, &self->options.limit);
    case KEY_ERROR:
        return take_number(state, "--error-exitcode", argument, 255, &self->error_status);
    case KEY_FORMAT:
        return choose_format(&self->options, state, argument);
    case KEY_OUTPUT:
        self->output = argument;
        return 0;
    case KEY_LEARN:
        self->learned = argument;
        return 0;
    case KEY_BASELINE:
        return baseline_read(&self->options, argument) ? 0 : ECANCELED;
    case KEY_BREAK:
        return add_break(state, argument);
    case KEY_HOST:
        return watch_host() ? 0 : ENOMEM;
    case KEY_TIMEOUT:
        return take_number(state, "--timeout", argument, 1000000, &self->timeout_s);
    case KEY_LIST:
        self->list = true;
        return 0;
    case KEY_LEAKS:
        self->options.leaks = true;
        return 0;
    case KEY_NOTES:
        self->options.notes = true;
        return 0;
    case ARGP_KEY_ARG:
        self->program = state->argv + state->next - 1;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_END:
        if (self->program == NULL && !self->list)
            return command_wrong_use(state, "name the program to check");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int print_list(void)
{
    for (uint32_t kind = 0; kind < CX_KIND_COUNT; kind++)
        printf("%-26s %-8s %s\n", kind_row(kind)->name, severity_name(kind),
               kind_row(kind)->title);
    return fflush(stdout) == 0 ? COMMAND_GOOD : COMMAND_FAILED;
}

/* ---- the program ---- */

static FILE *out; /* of the report */

static void look(void *argument)
{
    report_look(argument, out);
}

static bool open_output(const char *command, const char *path)
{
    out = path == NULL ? stderr : strcmp(path, "-") == 0 ? stdout : fopen(path, "we");
    if (out == NULL)
        command_error(command, COMMAND_FAILED, "cannot write %s: %s", path, strerror(errno));
    return out != NULL;
}

/* The end of the report. */
static bool write_end(const request *self, const report *all, int status)
{
    switch (self->options.format) {
    case REPORT_JSON:
        return report_write_json_file(all, out, self->program, status);
    case REPORT_SARIF:
        return report_write_sarif(all, out);
    default:
        report_summary(all, out);
        return fflush(out) == 0;
    }
}

/* A call that waits for a second when somebody ends the program may be why. */
#define HANG_NS UINT64_C(1000000000)

enum { TIMED_OUT = 124 }; /* as timeout(1) exits */

/* Signals by which people, and other programs, end one that does not end by itself. */
static bool asks(int number)
{
    return number == SIGINT || number == SIGTERM || number == SIGKILL || number == SIGHUP ||
           number == SIGQUIT;
}

static int run_checked(const char *command, request *self, report *all)
{
    pid_t pid = child_start(command, self->program);
    if (pid < 0)
        return command_error(command, COMMAND_FAILED, "cannot fork: %s", strerror(errno));
    bool timed_out;
    int status = child_wait(pid, look, all, self->timeout_s, &timed_out);
    const report_end end = {.pid = (int)pid,
                            .whole = !WIFSIGNALED(status) && !timed_out,
                            .stopped = timed_out || (WIFSIGNALED(status) && asks(WTERMSIG(status))),
                            .time_ns = child_ended_ns(),
                            .hang_ns = timed_out ? 0 : HANG_NS};
    report_judge(all, &end, out);
    if (timed_out)
        fprintf(stderr, "%s: the program was ended after %d s (--timeout)\n", command,
                self->timeout_s);
    else
        child_tell_of_death(command, status);
    if (!write_end(self, all, child_status(status)))
        return command_error(command, COMMAND_FAILED, "cannot write the report: %s",
                             strerror(errno));
    if (self->learned != NULL && !baseline_write(all, self->learned))
        return command_error(command, COMMAND_FAILED, "cannot write %s: %s", self->learned,
                             strerror(errno));
    if (self->json != NULL &&
        !report_write_json(all, self->json, self->program, child_status(status)))
        return command_error(command, COMMAND_FAILED, "cannot write %s: %s", self->json,
                             strerror(errno));
    bool wrong = all->of_severity[CX_SEVERITY_ERROR] != 0 && self->error_status != 0;
    return wrong ? self->error_status : timed_out ? TIMED_OUT : child_status(status);
}

static const char doc[] =
    "Runs PROGRAM on the stand-in libcuda.so.1 and tells how it misuses contexts, streams and "
    "memory."
    "\vFindings go to the standard error as they are found, with a summary at the end. The exit "
    "status is 1 if there was an error among them, else PROGRAM's.\n"
    "Example: ctxrt check ./program";

int check_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"json", KEY_JSON, "FILE", 0, "Write the report as JSON too (-: to the standard output)",
         0},
        {"format", KEY_FORMAT, "NAME", 0, "How to write the report: text, json, sarif, github", 0},
        {"output", KEY_OUTPUT, "FILE", 0,
         "Write the report to FILE, not to the standard error (-: to the standard output)", 0},
        {"learn", KEY_LEARN, "FILE", 0, "Write the findings to FILE, for --baseline", 0},
        {"baseline", KEY_BASELINE, "FILE", 0, "Leave out findings that --learn wrote to FILE", 0},
        {"break", KEY_BREAK, "KIND", 0, "Stop in a debugger (SIGTRAP) at findings of this kind", 0},
        {"suppress", 's', "FILE", 0,
         "Leave out what lines of FILE name: KIND [module:PATTERN] [function:PATTERN] "
         "[object:PATTERN] [kernel:PATTERN]", 0},
        {"ignore", KEY_IGNORE, "KIND", 0, "Leave out a kind", 0},
        {"only", KEY_ONLY, "KIND", 0, "Look for this kind only (more than once: these)", 0},
        {"limit", KEY_LIMIT, "N", 0, "Print at most N findings of a kind", 0},
        {"leaks", KEY_LEAKS, NULL, 0, "Tell what is alive at the end", 0},
        {"notes", KEY_NOTES, NULL, 0, "Tell what is right, but slow or careless", 0},
        {"error-exitcode", KEY_ERROR, "N", 0,
         "The exit status if there was an error (1; 0: PROGRAM's own)", 0},
        {"host", KEY_HOST, NULL, 0,
         "Watch what the host reads and writes in pinned memory of copies in flight", 0},
        {"timeout", KEY_TIMEOUT, "S", 0,
         "End PROGRAM after S seconds, and tell which calls wait for what (the exit status is 124)",
         0},
        {"list", KEY_LIST, NULL, 0, "Print all kinds", 0},
        {0},
    };
    static const struct argp_child children[] = {{&standin_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {options, parse_option, "PROGRAM [ARGUMENT...]", doc, children,
                                     NULL,    NULL};
    static const char *const places[] = {"/dev/shm", "/tmp", NULL};
    static request self;
    static report all;
    char folder[256];
    int status;

    self = (request){.error_status = 1};
    memset(self.options.chosen, 1, sizeof self.options.chosen);
    if (!command_parse(&argp, argc, argv, &self, &status))
        return status;
    if (self.list)
        return print_list();
    if (!self.options.leaks)
        report_leave_out_leaks(&self.options);
    status = standin_prepare(argv[0], &self.standin, self.program[0]);
    if (status != COMMAND_GOOD)
        return status;
    if (!child_make_folder("ctxrt-check", places, folder, sizeof folder) ||
        setenv("CTXRT_CHECK_FOLDER", folder, 1) != 0 || setenv("CTXRT_LAYERS", "check", 1) != 0) {
        status = command_error(argv[0], COMMAND_FAILED, "cannot make a folder for the report: %s",
                               strerror(errno));
        standin_end();
        return status;
    }
    all.options = self.options;
    all.folder = folder;
    status = open_output(argv[0], self.output) ? run_checked(argv[0], &self, &all)
                                               : COMMAND_FAILED;
    if (out != NULL && out != stderr && out != stdout)
        (void)fclose(out);
    report_close(&all);
    child_remove_folder(folder);
    standin_end();
    symbols_close();
    return status;
}
