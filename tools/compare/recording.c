#include "recording.h"

#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 4 * 1024 * 1024, VALUE_MAX = 400 };

/* The first line of what gpu-check writes; the number is that of its form. */
static const char signature[] = "ctxrt gpu-check 1";

static bool refuse(const recording *self, size_t line, const char *what)
{
    if (line == 0)
        command_error(self->command, COMMAND_WRONG_USE, "%s %s", self->path, what);
    else
        command_error(self->command, COMMAND_WRONG_USE, "%s:%zu: %s", self->path, line, what);
    return false;
}

static bool read_text(recording *self)
{
    FILE *file = fopen(self->path, "r");
    if (file == NULL)
        return refuse(self, 0, "cannot be opened");
    self->text = malloc(FILE_MAX + 1);
    size_t length = self->text != NULL ? fread(self->text, 1, FILE_MAX + 1, file) : 0;
    bool good = self->text != NULL && ferror(file) == 0;
    fclose(file);
    if (!good)
        return refuse(self, 0, "cannot be read");
    if (length > FILE_MAX)
        return refuse(self, 0, "is too long for a recording");
    self->text[length] = '\0';
    if (strlen(self->text) != length)
        return refuse(self, 0, "has a zero byte");
    if (length > 0 && self->text[length - 1] != '\n')
        return refuse(self, 0, "ends in the middle of a line");
    return true;
}

static bool is_name(const char *name)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";
    return name[0] != '\0' && name[strspn(name, allowed)] == '\0' && strchr(name, '.') != NULL;
}

const char *recording_value(const recording *self, const char *name)
{
    for (size_t i = 0; i < self->observation_count; i++)
        if (strcmp(self->observations[i].name, name) == 0)
            return self->observations[i].value;
    return NULL;
}

const char *recording_behind(const char *line, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(line, prefix, length) == 0 ? line + length : NULL;
}

static void take_remark(recording *self, const char *line)
{
    const char *value;
    if ((value = recording_behind(line, "# driver: ")) != NULL)
        self->driver = value;
    if ((value = recording_behind(line, "# device: ")) != NULL)
        self->device = value;
}

static bool take_observation(recording *self, char *line, size_t number)
{
    if (line[0] == '#')
        take_remark(self, line);
    if (line[0] == '\0' || line[0] == '#')
        return true;
    char *value = strstr(line, " = ");
    if (value == NULL)
        return refuse(self, number, "is not 'NAME = VALUE'");
    *value = '\0';
    value += 3;
    if (!is_name(line))
        return refuse(self, number, "has no observation's name before the '='");
    if (value[0] == '\0' || strlen(value) > VALUE_MAX)
        return refuse(self, number, "has no value, or too long a one");
    for (const char *c = value; *c != '\0'; c++)
        if ((unsigned char)*c < ' ')
            return refuse(self, number, "has a control character");
    if (recording_value(self, line) != NULL)
        return refuse(self, number, "repeats an observation");
    self->observations[self->observation_count++] = (observation){line, value};
    return true;
}

/* A scenario is a file beside others: its name has no folder in it. */
static bool begin_scenario(recording *self, const char *name, const char *text, size_t number)
{
    size_t length = strlen(name);
    if (length < 5 || strcmp(name + length - 4, ".scn") != 0 || name[0] == '.' ||
        strchr(name, '/') != NULL)
        return refuse(self, number, "has no scenario's name");
    for (size_t i = 0; i < self->scenario_count; i++)
        if (strcmp(self->scenarios[i].name, name) == 0)
            return refuse(self, number, "repeats a scenario");
    self->scenarios[self->scenario_count++] = (recorded_scenario){name, text, 0};
    return true;
}

/* gpu-check writes sections: "== TITLE", then lines that begin with a blank. */
typedef struct reader {
    enum { ELSEWHERE, IN_PROBE, IN_SCENARIO } where;
    bool sections;
} reader;

static bool take_title(recording *self, reader *state, const char *title, const char *next,
                       size_t number)
{
    const char *name = recording_behind(title, "scenario ");
    state->where = name != NULL ? IN_SCENARIO : strcmp(title, "probe") == 0 ? IN_PROBE : ELSEWHERE;
    return name == NULL || begin_scenario(self, name, next, number);
}

static bool take_line(recording *self, reader *state, char *line, char *next, size_t number)
{
    if (number == 1 && strcmp(line, signature) == 0) {
        *state = (reader){ELSEWHERE, true};
        return true;
    }
    if (!state->sections)
        return take_observation(self, line, number);
    const char *title = recording_behind(line, "== ");
    if (title != NULL)
        return take_title(self, state, title, next, number);
    if (line[0] != ' ')
        return refuse(self, number, "is neither a title nor behind a blank");
    if (state->where == IN_PROBE)
        return take_observation(self, line + 1, number);
    if (state->where == IN_SCENARIO) {
        recorded_scenario *last = &self->scenarios[self->scenario_count - 1];
        next[-1] = '\n'; /* scenarios stay whole texts */
        last->length = (size_t)(next - last->text);
    }
    return true;
}

static bool take_text(recording *self)
{
    size_t lines = 0, number = 0;
    reader state = {IN_PROBE, false};
    for (const char *c = self->text; *c != '\0'; c++)
        lines += *c == '\n';
    self->observations = calloc(lines + 1, sizeof *self->observations);
    self->scenarios = calloc(lines + 1, sizeof *self->scenarios);
    if (self->observations == NULL || self->scenarios == NULL)
        return refuse(self, 0, "is too long for the memory there is");
    for (char *line = self->text, *next; *line != '\0'; line = next) {
        next = strchr(line, '\n');
        *next++ = '\0';
        if (!take_line(self, &state, line, next, ++number))
            return false;
    }
    return self->observation_count + self->scenario_count > 0 ||
           refuse(self, 0, "has no observations");
}

bool recording_load(const char *command, const char *path, recording *out_recording)
{
    *out_recording = (recording){.command = command, .path = path};
    return read_text(out_recording) && take_text(out_recording);
}

/* The recordings in the tree, which the tests compare with the embedded driver. */
#include "tools/compare/embedded.h"

static bool join(recording *self, const char *const *lines)
{
    size_t length = 0;
    for (size_t i = 0; lines[i] != NULL; i++)
        length += strlen(lines[i]);
    self->text = malloc(length + 1);
    if (self->text == NULL)
        return refuse(self, 0, "is too long for the memory there is");
    char *end = self->text;
    for (size_t i = 0; lines[i] != NULL; i++)
        end = stpcpy(end, lines[i]);
    return true;
}

bool recording_load_embedded(const char *command, const char *version, recording *out_recording)
{
    bool older = version != NULL && atoi(version) < 13;
    *out_recording = (recording){.command = command, .path = "the embedded driver"};
    return join(out_recording, older ? embedded_12_9_probe_txt : embedded_13_0_probe_txt) &&
           take_text(out_recording);
}

void recording_free(recording *self)
{
    free(self->observations);
    free(self->scenarios);
    free(self->text);
}
