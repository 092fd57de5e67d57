/* ctxrt draw: turns a JSON snapshot into a picture. */
#include "command.h"
#include "draw/draw.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MOST = 100 };

typedef struct request {
    const char *input, *output; /* NULL or "-": the standard streams */
    size_t columns;
} request;

static error_t take_columns(request *self, const char *text, struct argp_state *state)
{
    char *end;
    long number = strtol(text, &end, 10);
    if (end == text || *end != '\0' || number < 1 || number > COLUMNS_MOST)
        return command_wrong_use(state, "--columns %s: it is a number from 1 to %d", text,
                                 COLUMNS_MOST);
    self->columns = (size_t)number;
    return 0;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    request *self = state->input;
    switch (key) {
    case 'o':
        self->output = argument;
        return 0;
    case 'c':
        return take_columns(self, argument, state);
    case ARGP_KEY_ARG:
        if (self->input != NULL)
            return command_wrong_use(state, "'%s' is one argument too many", argument);
        self->input = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int is_standard(const char *name)
{
    return name == NULL || strcmp(name, "-") == 0;
}

static json_t *load_snapshot(const char *command, const request *self)
{
    json_error_t error;
    json_t *snapshot = is_standard(self->input) ? json_loadf(stdin, 0, &error)
                                                : json_load_file(self->input, 0, &error);
    if (snapshot == NULL && json_error_code(&error) == json_error_cannot_open_file)
        command_error(command, COMMAND_FAILED, "%s cannot be read: %s", self->input,
                      strerror(errno));
    else if (snapshot == NULL)
        command_error(command, COMMAND_FAILED, "%s is no snapshot: line %d: %s",
                      is_standard(self->input) ? "the input" : self->input, error.line, error.text);
    return snapshot;
}

static int draw_to_file(const char *command, const request *self, const json_t *snapshot,
                        FILE *file)
{
    if (draw_snapshot(file, snapshot, self->columns))
        return COMMAND_GOOD;
    return command_error(command, COMMAND_FAILED,
                         "%s is no snapshot: it has neither threads nor segments nor the steps of "
                         "one scenario",
                         is_standard(self->input) ? "the input" : self->input);
}

static int draw_into(const char *command, const request *self, const json_t *snapshot)
{
    FILE *file = is_standard(self->output) ? stdout : fopen(self->output, "w");
    if (file == NULL)
        return command_error(command, COMMAND_FAILED, "%s: %s", self->output, strerror(errno));
    int status = draw_to_file(command, self, snapshot, file);
    int failed = file == stdout ? fflush(file) != 0 : fclose(file) != 0;
    if (status == COMMAND_GOOD && failed)
        status = command_error(command, COMMAND_FAILED, "the picture could not be written: %s",
                               strerror(errno));
    return status;
}

static const char doc[] =
    "Draws a snapshot as a picture (SVG): every thread's stack of frames, or the segments and "
    "blocks of an allocator; or a scenario, step by step.\n"
    "\vSNAPSHOT is JSON that ctxrt_snapshot_write, ctxrt_allocator_snapshot_write or ctxrt play "
    "--json wrote; without it, or for -, the standard input is read.\n"
    "Example: ctxrt draw -o stacks.svg stacks.json";

int draw_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"output", 'o', "FILE", 0, "Write the picture to FILE instead of the standard output", 0},
        {"columns", 'c', "N", 0,
         "Draw so many stacks side by side (6); a picture of 3 is 800 pixels wide", 0},
        {0},
    };
    static const struct argp argp = {options, parse_option, "[SNAPSHOT]", doc, NULL, NULL, NULL};
    request self = {.columns = 6};
    int status;
    if (!command_parse(&argp, argc, argv, &self, &status))
        return status;
    json_t *snapshot = load_snapshot(argv[0], &self);
    if (snapshot == NULL)
        return COMMAND_FAILED;
    status = draw_into(argv[0], &self, snapshot);
    json_decref(snapshot);
    return status;
}
