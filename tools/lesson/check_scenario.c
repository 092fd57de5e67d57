#include "lesson/checks.h"
#include "lesson/frame.h"
#include "lesson/language.h"

#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_frame(const check *self)
{
    char *exercise, *student;
    const char *why = NULL;
    int line = 0, open = 0;
    if (!check_read(self, "exercise.scn", &exercise, &student))
        return COMMAND_FAILED;
    bool same = frame_of_scenario(exercise, student, &open, &line, &why);
    free(exercise);
    free(student);
    if (!same)
        return check_not_yet(self, lesson_tr("line %d: %s"), line, why);
    return open == 0
               ? COMMAND_GOOD
               : check_not_yet(self, lesson_tr("%d of its ? are open: write there what you think"),
                               open);
}

/* The line of the file with this number, from 1; "" behind the last. It ends with '\n' or '\0'. */
static const char *find_line(const char *text, int number)
{
    while (number > 1 && *text != '\0') {
        text = strchrnul(text, '\n');
        text += *text == '\n';
        number--;
    }
    return text;
}

static bool has_before(const char *line, const char *word, const char *end)
{
    const char *found = strstr(line, word);
    return found != NULL && found < end;
}

/* What scenarios say instead of a word that C knows; comments may have it. NULL: there is none. */
static const char *find_foreign_word(const char *text)
{
    for (const char *line = text, *next; *line != '\0'; line = next) {
        const char *end = line + strcspn(line, "#\n");
        next = strchrnul(line, '\n');
        next += *next == '\n';
        if (has_before(line, "CUDA_ERROR_", end) || has_before(line, "CUDA_SUCCESS", end))
            return lesson_tr("Results stand without CUDA_ERROR_ and CUDA_.");
        if (has_before(line, "NULL", end))
            return lesson_tr("NULL is `none' in a scenario.");
    }
    return NULL;
}

/* Says which line is wrong, and repeats its comment, but not the right answer. */
static int tell_line(const check *self, const char *said)
{
    char *student = lesson_read(self->file);
    const char *place = strstr(said, ".scn:");
    int number = place != NULL ? atoi(place + 5) : 0;
    const char *foreign = student != NULL ? find_foreign_word(student) : NULL;
    if (student == NULL || number == 0 || strstr(said, "\n    expected ") == NULL) {
        free(student);
        check_not_yet(self, lesson_tr("it is no scenario that ctxrt play can play; that says:"));
        fprintf(stderr, "%s", said);
        check_hint(foreign);
        return COMMAND_FAILED;
    }
    char *line = (char *)find_line(student, number);
    *strchrnul(line, '\n') = '\0';
    char *comment = strchr(line, '#'), *answer = strstr(line, "->");
    if (comment != NULL)
        *comment++ = '\0';
    int length = answer != NULL ? (int)strlen(answer + 2) : 0;
    while (length > 0 && answer[1 + length] == ' ')
        length--;
    check_not_yet(self, lesson_tr("line %d:%.*s is not what comes back"), number, length,
                  answer != NULL ? answer + 2 : "");
    check_hint(comment != NULL ? comment + strspn(comment, " ") : NULL);
    free(student);
    return COMMAND_FAILED;
}

int check_scenario(const check *self)
{
    static char name[] = "ctxrt play";
    char *arguments[] = {name, (char *)self->file, NULL};
    job player = {self->folder, self->seconds, arguments, play_command};
    int status = compare_frame(self);
    if (status != COMMAND_GOOD)
        return status;
    status = job_run(&player);
    if (status == 0)
        return COMMAND_GOOD;
    if (status < 0)
        return check_not_yet(self, lesson_tr("it could not be played to its end"));
    char *said = job_read(&player, "errors");
    status = tell_line(self, said != NULL ? said : "");
    free(said);
    return status;
}
