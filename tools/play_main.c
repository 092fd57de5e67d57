#include "command.h"

#include "play/page.h"
#include "play/parse.h"
#include "play/play.h"
#include "play/print.h"
#include "play/record.h"
#include "play/reference.h"
#include "play_host.h"
#include "play_random.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_DRIVER = 256,
    KEY_SCHEDULE,
    KEY_SHOW,
    KEY_HTML,
    KEY_JSON,
    KEY_RECORD,
    KEY_TIMEOUT,
    KEY_PRINT,
    KEY_RANDOM,
    KEY_COUNT,
    KEY_FIRST,
    KEY_VERBS
};
enum { PLAY_SKIPPED = 77 };

#define SECONDS_MOST 3600

typedef struct request {
    cx_play_options options;
    bool print;
    bool verbs;
    bool first;
    const char *record;
    const char *page;
    cx_page_form form; /* of the page */
    play_random_request random;
    char **files;
    int file_count;
} request;

static error_t take_driver(request *self, const char *name, struct argp_state *state)
{
    const char *file = strncmp(name, "libcuda=", 8) == 0 ? name + 8 : NULL;
    self->options.cuda = file != NULL || strcmp(name, "libcuda") == 0;
    self->options.libcuda = file;
    bool is_driver = file != NULL ? *file != '\0'
                                  : self->options.cuda || strcmp(name, "emulated") == 0;
    return is_driver ? 0
                     : command_wrong_use(state,
                                         "--driver %s: it can be emulated, libcuda or libcuda=PATH",
                                         name);
}

static error_t take_schedule(request *self, const char *name, struct argp_state *state)
{
    self->options.schedule = name;
    return command_check_schedule(name, state);
}

static error_t take_timeout(request *self, const char *text, struct argp_state *state)
{
    char *end;
    errno = 0;
    long seconds = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || seconds < 1 || seconds > SECONDS_MOST)
        return command_wrong_use(state, "--timeout %s: it is 1 to %d seconds", text, SECONDS_MOST);
    self->options.timeout_ms = (int)seconds * 1000;
    return 0;
}

static error_t take_random(request *self, const char *text, struct argp_state *state)
{
    return play_random_take(&self->random, text)
               ? 0
               : command_wrong_use(state, "--random %s: it is SEED,STEPS, and 1 to 400 steps",
                                   text);
}

static error_t take_count(request *self, const char *text, struct argp_state *state)
{
    char *end;
    long count = strtol(text, &end, 10);
    if (end == text || *end != '\0' || count < 1 || count > 1000000)
        return command_wrong_use(state, "--count %s: it is 1 to 1000000", text);
    self->random.count = (int)count;
    return 0;
}

static error_t take_page(request *self, const char *file, cx_page_form form,
                         struct argp_state *state)
{
    if (*file == '\0')
        return command_wrong_use(state, "--html and --json need a file");
    size_t length = strlen(file);
    if (length > 4 && strcmp(file + length - 4, ".scn") == 0)
        return command_wrong_use(state, "%s would be written over: name the page first", file);
    if (self->page != NULL && self->form != form)
        return command_wrong_use(state, "say --html or --json, not both");
    self->page = file;
    self->form = form;
    return 0;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    request *self = state->input;
    switch (key) {
    case KEY_DRIVER:
        return take_driver(self, argument, state);
    case KEY_SCHEDULE:
        return take_schedule(self, argument, state);
    case KEY_TIMEOUT:
        return take_timeout(self, argument, state);
    case KEY_SHOW:
        self->options.show = true;
        return 0;
    case KEY_HTML:
    case KEY_JSON:
        return take_page(self, argument, key == KEY_JSON ? CX_PAGE_JSON : CX_PAGE_HTML, state);
    case KEY_RECORD:
        self->record = argument;
        self->options.record = true;
        return *argument != '\0' ? 0 : command_wrong_use(state, "--record needs a folder");
    case KEY_PRINT:
        self->print = true;
        return 0;
    case KEY_VERBS:
        self->verbs = true;
        return 0;
    case KEY_RANDOM:
        return take_random(self, argument, state);
    case KEY_COUNT:
        return take_count(self, argument, state);
    case KEY_FIRST:
        self->first = self->random.first = true;
        return 0;
    case ARGP_KEY_ARG:
        self->files = state->argv + state->next - 1;
        self->file_count = state->argc - state->next + 1;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS:
        return self->random.steps != 0 || self->verbs ? 0
                                                      : command_wrong_use(state, "name a scenario");
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Makes FOLDER/GROUP-NAME.scn from the last two parts of the scenario's path. */
static bool name_recording(const request *self, const char *file, char path[PATH_MAX])
{
    const char *name = strrchr(file, '/');
    const char *group = name;
    while (group != NULL && group > file && group[-1] != '/')
        group--;
    int length =
        group == NULL || group == name
            ? snprintf(path, PATH_MAX, "%s/%s", self->record, name != NULL ? name + 1 : file)
            : snprintf(path, PATH_MAX, "%s/%.*s-%s", self->record, (int)(name - group), group,
                       name + 1);
    return length < PATH_MAX;
}

static int record_scenario(const request *self, cx_scenario *scenario, const cx_tape *tape)
{
    char path[PATH_MAX];
    FILE *to = name_recording(self, scenario->file, path) ? fopen(path, "we") : NULL;
    if (to == NULL)
        return command_error("ctxrt play", COMMAND_FAILED, "%s cannot be written: %s", path,
                             strerror(errno));
    bool written = cx_record_apply(scenario, tape) && cx_record_print(scenario, tape, to);
    if (fclose(to) != 0 || !written)
        return command_error("ctxrt play", COMMAND_FAILED, "%s could not be written", path);
    return COMMAND_GOOD;
}

static int play_scenario(const request *self, cx_scenario *scenario)
{
    static const int statuses[] = {[CX_VERDICT_PASSED] = COMMAND_GOOD,
                                   [CX_VERDICT_FAILED] = COMMAND_FAILED,
                                   [CX_VERDICT_SKIPPED] = PLAY_SKIPPED};
    static const char *const words[] = {[CX_VERDICT_PASSED] = "passed",
                                        [CX_VERDICT_FAILED] = "FAILED",
                                        [CX_VERDICT_SKIPPED] = "skipped"};
    cx_tape *tape = cx_play(scenario, &self->options);
    if (tape == NULL)
        return command_error("ctxrt play", COMMAND_FAILED, "there is not enough memory");
    cx_verdict verdict = cx_play_verdict(scenario, tape);
    printf("%s: %s\n", scenario->file, words[verdict]);
    fflush(stdout);
    cx_play_report(scenario, tape, verdict == CX_VERDICT_SKIPPED ? stdout : stderr);
    int status = statuses[verdict];
    if (self->record != NULL && verdict != CX_VERDICT_SKIPPED &&
        record_scenario(self, scenario, tape) != COMMAND_GOOD)
        status = COMMAND_FAILED;
    cx_tape_destroy(tape);
    return status;
}

static bool open_page(request *self)
{
    self->options.page = fopen(self->page, "we");
    if (self->options.page == NULL)
        return false;
    cx_page_begin(self->options.page, self->form);
    return true;
}

/* False: the page could not be written. */
static bool close_page(const request *self)
{
    FILE *page = self->options.page;
    cx_page_end(page, self->form);
    bool written = ferror(page) == 0;
    return fclose(page) == 0 && written;
}

static int do_file(const request *self, const char *file)
{
    cx_scenario *scenario = cx_scenario_read(file, stderr);
    if (scenario == NULL)
        return COMMAND_WRONG_USE;
    if (!cx_scenario_has_step(scenario)) {
        cx_scenario_destroy(scenario);
        return command_error("ctxrt play", COMMAND_WRONG_USE,
                             "%s: there is no step in it, so there is nothing to play", file);
    }
    int status = self->print ? (cx_scenario_print(scenario, stdout) ? COMMAND_GOOD : COMMAND_FAILED)
                             : play_scenario(self, scenario);
    cx_scenario_destroy(scenario);
    return status;
}

/* Wrong use comes before failures, failures before successes; skipped only if all were. */
static int worse_status(int left, int right)
{
    static const int order[] = {COMMAND_WRONG_USE, COMMAND_FAILED, COMMAND_GOOD, PLAY_SKIPPED};
    for (int i = 0; i < 4; i++)
        if (order[i] == left || order[i] == right)
            return order[i];
    return left;
}

static bool is_wrong(int status)
{
    return status == COMMAND_FAILED || status == COMMAND_WRONG_USE;
}

static const char doc[] =
    "Plays scenarios of driver calls and checks what comes back. FILE - is the standard input."
    "\vExit status: 0 all as the scenarios say, 1 not, 2 wrong use or no scenario, 77 the driver "
    "is not "
    "there or lacks what they need. The language: ctxrt-play(1).\n"
    "Example: ctxrt play --show scenario.scn";

int main(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"driver", KEY_DRIVER, "NAME", 0,
         "emulated plays the GPUs; libcuda[=PATH] is that library (emulated)", 0},
        {"schedule", KEY_SCHEDULE, "NAME", 0,
         "When emulated GPUs work: threads, lazy (once something waits for it) or random:SEED "
         "(CTXRT_EMU_SCHEDULE; threads)", 0},
        {"timeout", KEY_TIMEOUT, "SECONDS", 0, "For each step (10)", 0},
        {"show", KEY_SHOW, NULL, 0, "Draw every thread's stack after each step", 0},
        {"html", KEY_HTML, "FILE", 0, "Write a page to step through, with every thread's stack", 0},
        {"json", KEY_JSON, "FILE", 0, "Write what was played as JSON, for ctxrt draw", 0},
        {"record", KEY_RECORD, "FOLDER", 0,
         "Write what came back into FOLDER, and go on behind mismatches", 0},
        {"random", KEY_RANDOM, "SEED,STEPS", 0,
         "Make a scenario up, and compare with the model of the rules", 0},
        {"count", KEY_COUNT, "N", 0, "So many of them, with the seeds that follow (1)", 0},
        {"first", KEY_FIRST, NULL, 0,
         "Stop at the first that goes wrong; one made up is not made short then", 0},
        {"print", KEY_PRINT, NULL, 0, "Print the scenarios as they were understood; play nothing",
         0},
        {"verbs", KEY_VERBS, NULL, 0, "Print the reference of verbs and words", 0},
        {0},
    };
    static const struct argp argp = {options, parse_option, "FILE...", doc, NULL, NULL, NULL};
    static char name[] = "ctxrt play";
    request self = {.options = {.host = &play_host}, .random = {.count = 1}};
    int status;

    argv[0] = name;
    if (!command_parse(&argp, argc, argv, &self, &status))
        return status;
    if (self.page != NULL && !open_page(&self))
        return command_error(name, COMMAND_WRONG_USE, "%s cannot be written: %s", self.page,
                             strerror(errno));
    status = self.verbs && cx_reference_print(stdout) ? COMMAND_GOOD : PLAY_SKIPPED;
    if (self.random.steps != 0)
        status = worse_status(status, play_random(&self.random, &self.options, self.print));
    for (int i = 0; i < self.file_count && !(self.first && is_wrong(status)); i++)
        status = worse_status(status, do_file(&self, self.files[i]));
    if (self.page != NULL && !close_page(&self))
        return command_error(name, COMMAND_FAILED, "%s could not be written", self.page);
    if (fflush(stdout) != 0 || ferror(stdout))
        return command_error(name, COMMAND_FAILED, "standard output could not be written");
    return status;
}
