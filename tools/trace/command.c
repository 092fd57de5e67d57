/* ctxrt trace: options, the program, and the files of its trace. */
#include "check/report.h"
#include "check/symbols.h"
#include "child.h"
#include "command.h"
#include "standin.h"
#include "trace/json.h"
#include "trace/marks.h"
#include "trace/objects.h"
#include "trace/origins.h"
#include "trace/page.h"
#include "trace/read.h"
#include "trace/stats.h"
#include "trace/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { KEY_TEXT = 300, KEY_CHECK, KEY_FROM, KEY_EVENTS, KEY_STATS };

/* Writes a file of one kind. False: no memory, or it could not be written. */
typedef bool write_file(const trace *self, const trace_marks *marks, FILE *to);

typedef struct request {
    standin_options standin;
    const char *output, *from;
    write_file *write; /* `output` */
    bool text, stats, check, events;
    char **program;
    char folder[512], check_folder[512];
} request;

/* ---- options ---- */

static const struct {
    const char *ending;
    write_file *write;
} kinds[] = {{".json", trace_write_json}, {".html", trace_write_page}};

static error_t take_output(request *self, const char *name, struct argp_state *state)
{
    size_t length = strlen(name);
    self->output = name;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t ending = strlen(kinds[i].ending);
        if (length > ending && strcmp(name + length - ending, kinds[i].ending) == 0)
            self->write = kinds[i].write;
    }
    return self->write != NULL
               ? 0
               : command_wrong_use(state, "--output %s: its name ends with .html or .json", name);
}

static error_t check_request(const request *self, struct argp_state *state)
{
    if (self->output == NULL && !self->text && !self->stats)
        return command_wrong_use(state, "say what to write: --output FILE, --text or --stats");
    if (self->from == NULL && self->program == NULL)
        return command_wrong_use(state, "name the program to trace");
    if (self->from != NULL && (self->program != NULL || self->check || self->events))
        return command_wrong_use(state, "--from reads a trace, and runs no program");
    if (self->events && !standin_passes_on(&self->standin))
        return command_wrong_use(state, "--events is for --driver libcuda: emulated GPUs tell the "
                                        "times of their work");
    return 0;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    request *self = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &self->standin;
        return 0;
    case 'o':
        return take_output(self, argument, state);
    case KEY_TEXT:
        self->text = true;
        return 0;
    case KEY_STATS:
        self->stats = true;
        return 0;
    case KEY_CHECK:
        self->check = true;
        return 0;
    case KEY_FROM:
        self->from = argument;
        return 0;
    case KEY_EVENTS:
        self->events = true;
        return 0;
    case ARGP_KEY_ARG:
        self->program = state->argv + state->next - 1;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_END:
        return check_request(self, state);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- writing ---- */

static bool is_damaged(const trace *self)
{
    for (size_t i = 0; i < self->count; i++)
        if (self->processes[i].damaged)
            return true;
    return false;
}

static int warn(const char *command, const trace *self)
{
    if (self->count == 0 && self->lost == 0)
        fprintf(stderr, "%s: no process called the driver\n", command);
    if (self->lost > 0)
        (void)command_error(command, COMMAND_FAILED,
                            "%u process%s called the driver and could not be recorded: there was "
                            "no room for %s", self->lost, self->lost == 1 ? "" : "es",
                            self->lost == 1 ? "its file" : "their files");
    if (trace_lost_of_all(self) > 0)
        return command_error(command, COMMAND_FAILED, "%llu calls are missing: there was no room",
                             (unsigned long long)trace_lost_of_all(self));
    if (is_damaged(self))
        return command_error(command, COMMAND_FAILED, "a part of the trace is damaged");
    return self->lost == 0 ? COMMAND_GOOD : COMMAND_FAILED;
}

static int write_output(const char *command, const request *self, const trace *all,
                        const trace_marks *marks)
{
    FILE *to = fopen(self->output, "we");
    if (to == NULL)
        return command_error(command, COMMAND_FAILED, "cannot write %s: %s", self->output,
                             strerror(errno));
    bool good = self->write(all, marks, to);
    if (fclose(to) != 0 || !good)
        return command_error(command, COMMAND_FAILED, "%s could not be written: %s", self->output,
                             strerror(errno));
    return COMMAND_GOOD;
}

static int write_all(const char *command, const request *self, trace *all, const trace_marks *marks)
{
    for (size_t i = 0; i < all->count; i++)
        if (!trace_objects_find(&all->processes[i]))
            return command_error(command, COMMAND_FAILED, "no memory for the trace");
    int status = warn(command, all);
    if (self->text && !trace_write_text(all, stdout))
        status = command_error(command, COMMAND_FAILED, "standard output could not be written");
    if (self->stats && !trace_write_stats(all, stdout))
        status = command_error(command, COMMAND_FAILED, "standard output could not be written");
    int written = self->output != NULL ? write_output(command, self, all, marks) : COMMAND_GOOD;
    return written != COMMAND_GOOD ? written : status;
}

static int read_and_write(const char *command, const request *self, const char *path,
                          const trace_marks *marks)
{
    trace all;
    if (!trace_read(path, &all)) {
        if (errno == EINVAL)
            return command_error(command, COMMAND_FAILED, "%s is no trace", path);
        return command_error(command, COMMAND_FAILED, "cannot read %s: %s", path, strerror(errno));
    }
    int status = write_all(command, self, &all, marks);
    trace_free(&all);
    trace_origins_close();
    symbols_close();
    return status;
}

/* ---- the program ---- */

/* A trace can be large: it goes where the output goes, unless TMPDIR names a place. */
static bool make_folders(request *self)
{
    static const char *const small[] = {"/dev/shm", "/tmp", NULL};
    char beside[256] = ".";
    const char *slash = self->output != NULL ? strrchr(self->output, '/') : NULL;
    if (slash != NULL && (size_t)(slash - self->output) < sizeof beside)
        snprintf(beside, sizeof beside, "%.*s",
                 (int)(slash - self->output) + (slash == self->output), self->output);
    const char *const large[] = {self->output != NULL ? beside : "/tmp", "/tmp", NULL};
    if (!child_make_folder(".ctxrt-trace", large, self->folder, sizeof self->folder))
        return false;
    char *whole = realpath(self->folder, NULL); /* the program may go elsewhere */
    bool good = whole != NULL && setenv("CTXRT_TRACE_FOLDER", whole, 1) == 0;
    free(whole);
    if (!self->check)
        return good;
    return good &&
           child_make_folder("ctxrt-check", small, self->check_folder,
                             sizeof self->check_folder) &&
           setenv("CTXRT_CHECK_FOLDER", self->check_folder, 1) == 0;
}

static void look(void *argument)
{
    report_look(argument, stderr);
}

static int run_traced(const char *command, request *self, report *findings)
{
    trace_marks marks = {.count = 0};
    pid_t pid = child_start(command, self->program);
    if (pid < 0)
        return command_error(command, COMMAND_FAILED, "cannot fork: %s", strerror(errno));
    int status = child_wait(pid, self->check ? look : NULL, findings, 0, NULL);
    child_tell_of_death(command, status);
    if (self->check) {
        report_judge(findings, &(report_end){.pid = (int)pid, .whole = !WIFSIGNALED(status)},
                     stderr);
        report_summary(findings, stderr);
        if (!trace_marks_of(findings, &marks))
            return command_error(command, COMMAND_FAILED, "no memory for the findings");
    }
    int written = read_and_write(command, self, self->folder, &marks);
    trace_marks_free(&marks);
    return written != COMMAND_GOOD ? written : child_status(status);
}

static int trace_program(const char *command, request *self)
{
    static report findings;
    int status = standin_prepare(command, &self->standin, self->program[0]);
    if (status != COMMAND_GOOD)
        return status;
    if (!make_folders(self) || (self->events && setenv("CTXRT_TRACE_EVENTS", "1", 1) != 0) ||
        setenv("CTXRT_LAYERS", self->check ? "check,trace" : "trace", 1) != 0)
        status = command_error(command, COMMAND_FAILED, "cannot make a folder for the trace: %s",
                               strerror(errno));
    findings.folder = self->check_folder;
    report_choose_usual(&findings.options);
    if (status == COMMAND_GOOD)
        status = run_traced(command, self, &findings);
    report_close(&findings);
    if (self->check_folder[0] != '\0')
        child_remove_folder(self->check_folder);
    if (self->folder[0] != '\0')
        child_remove_folder(self->folder);
    standin_end();
    return status;
}

static const char doc[] =
    "Runs PROGRAM on the stand-in libcuda.so.1 and records every call of the driver, every "
    "thread's stack of contexts, and the work of every stream."
    "\vA file that ends with .html is a page for a browser, one that ends with .json opens in "
    "chrome://tracing and Perfetto. The exit status is PROGRAM's, or 1 if the trace could not be "
    "written whole.\n"
    "Example: ctxrt trace -o trace.html ./program";

int trace_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"output", 'o', "FILE", 0,
         "Write a timeline: FILE.html, or FILE.json for chrome://tracing and Perfetto", 0},
        {"stats", KEY_STATS, NULL, 0,
         "Print calls, kernels and copies by name: count, total, least, mean and most time", 0},
        {"text", KEY_TEXT, NULL, 0, "Print each call as a line when PROGRAM has ended", 0},
        {"check", KEY_CHECK, NULL, 0, "Look for misuse too, as ctxrt check, and mark it", 0},
        {"events", KEY_EVENTS, NULL, 0,
         "With --driver libcuda: time the work of streams by events around it", 0},
        {"from", KEY_FROM, "PATH", 0,
         "Read what CTXRT_LAYERS=trace left, a file or a folder; run nothing", 0},
        {0},
    };
    static const struct argp_child children[] = {{&standin_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {options, parse_option, "PROGRAM [ARGUMENT...]", doc, children,
                                     NULL,    NULL};
    static request self;
    static const trace_marks none;
    int status;

    if (!command_parse(&argp, argc, argv, &self, &status))
        return status;
    return self.from != NULL ? read_and_write(argv[0], &self, self.from, &none)
                             : trace_program(argv[0], &self);
}
