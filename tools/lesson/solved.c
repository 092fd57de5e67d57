#include "lesson/solved.h"

#include "command.h"
#include "lesson/language.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* $XDG_STATE_HOME/ctxrt/lessons, where that is an absolute path, else below the home folder. */
static bool find_file(char path[PATH_MAX])
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int length = PATH_MAX;
    if (state != NULL && *state == '/')
        length = snprintf(path, PATH_MAX, "%s/ctxrt/lessons", state);
    else if (home != NULL && *home == '/')
        length = snprintf(path, PATH_MAX, "%s/.local/state/ctxrt/lessons", home);
    return length < PATH_MAX;
}

solved solved_read(void)
{
    solved self = {{false}, {false}};
    char path[PATH_MAX], part[16];
    int number;
    FILE *from = find_file(path) ? fopen(path, "re") : NULL;
    while (from != NULL && fscanf(from, "%d %15s", &number, part) == 2) {
        if (number < 1 || number > LESSONS_MOST)
            continue;
        if (strcmp(part, "program") == 0)
            self.program[number] = true;
        else if (strcmp(part, "scenario") == 0)
            self.scenario[number] = true;
    }
    if (from != NULL)
        fclose(from);
    return self;
}

/* Makes the folders of a path that are missing. */
static bool make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made)
            return false;
    }
    return true;
}

bool solved_add(const char *command, int number, const char *part)
{
    char path[PATH_MAX];
    solved before = solved_read();
    if (strcmp(part, "program") == 0 ? before.program[number] : before.scenario[number])
        return true;
    if (!find_file(path))
        return command_error(command, COMMAND_FAILED, "%s",
                             lesson_tr("solved, but not remembered: neither XDG_STATE_HOME nor "
                                       "HOME names a folder")) == COMMAND_GOOD;
    FILE *to = make_folders(path) ? fopen(path, "ae") : NULL;
    bool written = to != NULL && fprintf(to, "%d %s\n", number, part) > 0;
    int error = errno;
    if (to != NULL && fclose(to) != 0)
        written = false, error = errno;
    return written || command_error(command, COMMAND_FAILED,
                                    lesson_tr("solved, but not remembered: %s cannot be written: "
                                              "%s"),
                                    path, strerror(error)) == COMMAND_GOOD;
}
