#include "scenario.h"

#include "child.h"
#include "command.h"
#include "place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The player says of a step that goes otherwise than recorded:
 *     FILE:LINE: STEP
 *         expected  ANSWER
 *         came back ANSWER
 *         rule      S2 [O] */
typedef struct teller {
    differences *out;
    size_t steps;    /* of the scenario that is told of */
    bool told;       /* a row of it was added */
    char where[512]; /* with the name of the file */
    char expected[512], came[512];
    char why[512]; /* what else was said */
} teller;

/* Blanks are what the recording has put before each line. */
static bool write_scenario(const char *folder, const recorded_scenario *self)
{
    char path[PATH_MAX];
    FILE *file = NULL;
    if (snprintf(path, sizeof path, "%s/%s", folder, self->name) < (int)sizeof path)
        file = fopen(path, "w");
    if (file == NULL)
        return false;
    for (const char *line = self->text; line < self->text + self->length;) {
        const char *end = strchr(line, '\n') + 1;
        fwrite(line + 1, 1, (size_t)(end - line - 1), file);
        line = end;
    }
    bool written = ferror(file) == 0;
    return fclose(file) == 0 && written;
}

static size_t count_steps(const recorded_scenario *self)
{
    static const char arrow[] = " -> ";
    size_t count = 0;
    for (const char *c = self->text; c + 4 <= self->text + self->length; c++)
        count += memcmp(c, arrow, 4) == 0;
    return count;
}

/* The embedded driver as it is, whatever the caller's one is told to do. */
static void forget_settings(void)
{
    for (char **one = environ; *one != NULL;) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*one, "="), *one);
        if (strncmp(name, "CTXRT_", 6) == 0 || strcmp(name, "CUDA_VISIBLE_DEVICES") == 0)
            unsetenv(name); /* another one is there now */
        else
            one++;
    }
    setenv("CTXRT_LOG", "off", 1);
}

/* With a shell's 127 where the player cannot be run. */
static _Noreturn void play_in_child(const char *player, const char *folder, const char *name,
                                    int to)
{
    char *arguments[] = {(char *)"ctxrt-play", (char *)"--driver", (char *)"emulated", (char *)name,
                         NULL};
    forget_settings();
    if (dup2(to, STDOUT_FILENO) >= 0 && dup2(to, STDERR_FILENO) >= 0 && chdir(folder) == 0)
        execv(player, arguments);
    _exit(COMMAND_NOT_FOUND);
}

static void keep(char *to, const char *text)
{
    snprintf(to, 512, "%s", text);
    to[strcspn(to, "\n")] = '\0';
}

static void end_step(teller *self, const char *rule)
{
    char id[8] = "-";
    if (self->where[0] == '\0' || self->came[0] == '\0')
        return;
    if (rule != NULL)
        sscanf(rule, "%7[A-Z0-9]", id);
    differences_add(self->out, id, self->where, self->came, self->expected);
    self->told = true;
    self->where[0] = self->came[0] = '\0';
}

static void hear(teller *self, const char *name, const char *line)
{
    const char *rest;
    if ((rest = recording_behind(line, name)) != NULL && rest[0] == ':' && rest[1] >= '0' &&
        rest[1] <= '9') {
        end_step(self, NULL);
        keep(self->where, line);
    } else if ((rest = recording_behind(line, "    expected  ")) != NULL) {
        keep(self->expected, rest);
    } else if ((rest = recording_behind(line, "    came back ")) != NULL) {
        keep(self->came, rest);
    } else if ((rest = recording_behind(line, "    rule      ")) != NULL) {
        end_step(self, rest);
    } else if (self->why[0] == '\0' && strstr(line, ": FAILED") == NULL) {
        keep(self->why, line);
    }
}

/* Returns the player's exit status, or -1. */
static int play_one(const char *player, const char *folder, const recorded_scenario *scenario,
                    teller *out_told)
{
    int ends[2], status = -1;
    char *line = NULL;
    size_t room = 0;
    if (pipe(ends) != 0)
        return -1;
    pid_t child = fork();
    if (child == 0)
        play_in_child(player, folder, scenario->name, ends[1]);
    close(ends[1]);
    FILE *said = fdopen(ends[0], "r");
    if (said == NULL)
        close(ends[0]);
    while (said != NULL && getline(&line, &room, said) > 0)
        hear(out_told, scenario->name, line);
    end_step(out_told, NULL);
    free(line);
    if (said != NULL)
        fclose(said);
    if (child < 0 || waitpid(child, &status, 0) != child)
        return -1;
    return child_status(status);
}

static bool compare_one(const char *player, const char *folder, const recorded_scenario *scenario,
                        differences *out_differences)
{
    teller told = {.out = out_differences, .steps = count_steps(scenario)};
    size_t before = out_differences->count;
    if (!write_scenario(folder, scenario))
        return false;
    int status = play_one(player, folder, scenario, &told);
    if (status < 0 || status == COMMAND_NOT_FOUND)
        return false;
    if (status == 77) {
        out_differences->unseen += told.steps;
        return true;
    }
    if (status != 0 && !told.told)
        differences_add(out_differences, "-", scenario->name,
                        told.why[0] != '\0' ? told.why : "fails", "played to its end");
    size_t rows = out_differences->count - before;
    out_differences->agree += rows < told.steps ? told.steps - rows : 0;
    return true;
}

bool scenarios_compare(const recording *self, differences *out_differences)
{
    static const char *const places[] = {"/tmp", ".", NULL};
    char player[PATH_MAX + 16], folder[PATH_MAX];
    bool good = true;
    if (self->scenario_count == 0)
        return true;
    if (!place_find("", CTXRT_PKGLIBEXECDIR, "", "/ctxrt-play", folder)) {
        command_error(self->command, COMMAND_FAILED,
                      "ctxrt-play is not in %s: install ctxrt again, whole", CTXRT_PKGLIBEXECDIR);
        return false;
    }
    snprintf(player, sizeof player, "%s/ctxrt-play", folder);
    if (!child_make_folder("ctxrt-compare", places, folder, sizeof folder)) {
        command_error(self->command, COMMAND_FAILED, "there is no place for the scenarios: %s",
                      strerror(errno));
        return false;
    }
    for (size_t i = 0; i < self->scenario_count && good; i++)
        good = compare_one(player, folder, &self->scenarios[i], out_differences);
    child_remove_folder(folder);
    if (!good)
        command_error(self->command, COMMAND_FAILED, "the scenarios could not be played: %s",
                      strerror(errno));
    return good;
}
