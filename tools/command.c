#include "command.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_HELP 'h'

/* An error that was reported, or a request for help. argp itself returns other values. */
#define TOLD ECANCELED

/* The state of the parser around the subcommand's own one. */
typedef struct outer {
    void *input;
    const char *refused; /* the word that argp itself rejected */
    bool helped;
} outer;

static void print_error(const char *command, const char *format, va_list arguments, const char *end)
{
    fprintf(stderr, "%s: ", command);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "%s\n", end);
}

int command_error(const char *command, int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_error(command, format, arguments, "");
    va_end(arguments);
    return status;
}

error_t command_wrong_use(struct argp_state *state, const char *format, ...)
{
    char end[64];
    snprintf(end, sizeof end, "; see %s --help", state->argv[0]);
    va_list arguments;
    va_start(arguments, format);
    print_error(state->argv[0], format, arguments, end);
    va_end(arguments);
    return TOLD;
}

/* The shift of a unit such as M, m, MB or MiB; 0 for none, -1 for any other text. */
static int unit_shift(const char *unit)
{
    static const char letters[] = "KkMmGgTt";
    const char *letter = strchr(letters, *unit);
    if (*unit == '\0')
        return 0;
    if (letter == NULL ||
        (unit[1] != '\0' && strcmp(unit + 1, "B") != 0 && strcmp(unit + 1, "iB") != 0))
        return -1;
    return 10 * ((int)(letter - letters) / 2 + 1);
}

bool command_parse_size(const char *text, uint64_t *out_bytes)
{
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    int shift = unit_shift(end);
    if (*text < '0' || *text > '9' || errno != 0 || shift < 0 || number == 0 ||
        number > UINT64_MAX >> shift)
        return false;
    *out_bytes = number << shift;
    return true;
}

error_t command_check_schedule(const char *text, struct argp_state *state)
{
    const char *seed = strncmp(text, "random:", 7) == 0 ? text + 7 : "";
    char *end;
    errno = 0;
    long number = strtol(seed, &end, 10);
    bool has_seed = end != seed && *end == '\0' && errno == 0 && number >= 0 && number <= INT_MAX;
    if (strcmp(text, "threads") == 0 || strcmp(text, "lazy") == 0 || has_seed)
        return 0;
    return command_wrong_use(state, "--schedule %s: it can be threads, lazy or random:SEED", text);
}

int command_failure(const char *command, ctxrt_status failure)
{
    const ctxrt_error *error = ctxrt_last_error();
    int status = failure == CTXRT_ERROR_INVALID_ARGUMENT ? COMMAND_WRONG_USE : COMMAND_FAILED;
    return command_error(command, status, "%s",
                         error->status == failure ? error->message : ctxrt_status_text(failure));
}

static error_t parse_outer(int key, char *argument, struct argp_state *state)
{
    (void)argument;
    outer *self = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = self->input;
        return 0;
    case KEY_HELP:
        argp_help(state->root_argp, stdout, ARGP_HELP_STD_HELP, state->argv[0]);
        self->helped = true;
        return TOLD;
    case ARGP_KEY_ERROR:
        self->refused = state->argv[state->next - 1];
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

bool command_parse(const struct argp *argp, int argc, char **argv, void *input, int *out_status)
{
    static const struct argp_option options[] = {
        {"help", KEY_HELP, NULL, 0, "Print this help", -1},
        {0},
    };
    const struct argp_child children[] = {{.argp = argp}, {0}};
    const struct argp whole = {.options = options, .parser = parse_outer, .children = children};
    const unsigned int flags = ARGP_IN_ORDER | ARGP_NO_HELP | ARGP_NO_ERRS | ARGP_NO_EXIT;
    outer self = {.input = input};
    error_t error = argp_parse(&whole, argc, argv, flags, NULL, &self);
    if (error == 0)
        return true;
    if (error != TOLD)
        command_error(argv[0], COMMAND_WRONG_USE,
                      "'%s' is no option, or lacks its value; see %s --help", self.refused,
                      argv[0]);
    *out_status = self.helped ? COMMAND_GOOD : COMMAND_WRONG_USE;
    if (self.helped && (fflush(stdout) != 0 || ferror(stdout) != 0))
        *out_status =
            command_error(argv[0], COMMAND_FAILED, "standard output could not be written");
    return false;
}
