#include "lesson/lesson.h"

#include "command.h"
#include "lesson/language.h"
#include "place.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *lesson_read(const char *path)
{
    FILE *from = fopen(path, "re");
    char *text = NULL;
    size_t size = 0;
    if (from == NULL)
        return NULL;
    ssize_t length = getdelim(&text, &size, '\0', from);
    int error = ferror(from) != 0 ? errno : 0;
    fclose(from);
    if (length < 0 && error == 0) { /* an empty file */
        free(text);
        return calloc(1, 1);
    }
    if (error == 0)
        return text;
    free(text);
    errno = error;
    return NULL;
}

bool lesson_path(const lessons *all, const lesson *self, const char *file, char path[PATH_MAX])
{
    return snprintf(path, PATH_MAX, "%s/lessons/%s/%s", all->folder, self->name, file) < PATH_MAX;
}

const char *lesson_hint_for(const lesson *self, const char *when)
{
    for (int i = 0; i < self->hint_count; i++)
        if (strcmp(self->hints[i].when, when) == 0)
            return self->hints[i].text;
    return NULL;
}

/* Appends a line to a text that grows. */
static bool append_line(char **text, const char *line)
{
    size_t before = *text != NULL ? strlen(*text) : 0, more = strlen(line);
    char *longer = realloc(*text, before + more + 2);
    if (longer == NULL)
        return false;
    memcpy(longer + before, line, more);
    memcpy(longer + before + more, "\n", 2);
    *text = longer;
    return true;
}

static bool take_hint(lesson *self, const char *when, const char *text)
{
    if (self->hint_count == LESSON_HINTS_MOST)
        return false;
    lesson_hint hint = {strdup(when), strdup(text)};
    self->hints[self->hint_count++] = hint;
    return hint.when != NULL && hint.text != NULL;
}

/* Goes on with the last hint. */
static bool take_more(lesson *self, const char *text)
{
    char *longer = NULL;
    if (self->hint_count == 0)
        return false;
    lesson_hint *last = &self->hints[self->hint_count - 1];
    if (asprintf(&longer, "%s %s", last->text, text) < 0)
        return false;
    free(last->text);
    last->text = longer;
    return true;
}

/* Takes "key: value"; comments begin with '#', and lines that go on with a hint with blanks. */
static bool take_line(lesson *self, char *line)
{
    char *colon = strchr(line, ':');
    if (*line == '#' || *line == '\0')
        return true;
    if (*line == ' ')
        return take_more(self, line + strspn(line, " "));
    if (colon == NULL)
        return false;
    *colon = '\0';
    const char *value = colon + 1 + strspn(colon + 1, " ");
    if (strcmp(line, "title") == 0) {
        free(self->title);
        return (self->title = strdup(value)) != NULL;
    }
    if (strcmp(line, "schedules") == 0)
        return (self->schedules = strdup(value)) != NULL;
    if (strcmp(line, "options") == 0)
        return (self->options = strdup(value)) != NULL;
    if (strcmp(line, "without") == 0)
        return (self->without = strdup(value)) != NULL;
    if (strcmp(line, "module") == 0)
        return (self->module = strdup(value)) != NULL;
    if (strcmp(line, "prints") == 0)
        return append_line(&self->prints, value);
    if (strcmp(line, "mistake schedule") == 0 || strcmp(line, "unsolved") == 0)
        return true; /* for the tests of the lessons */
    return strncmp(line, "hint ", 5) == 0 && take_hint(self, line + 5, value);
}

static bool take_lines(const lessons *all, lesson *self, const char *file)
{
    char path[PATH_MAX], *rest = NULL;
    char *text = lesson_path(all, self, file, path) ? lesson_read(path) : NULL;
    bool good = text != NULL;
    for (char *line = good ? strtok_r(text, "\n", &rest) : NULL; good && line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        good = take_line(self, line);
    free(text);
    return good;
}

static void free_hints(lesson *self)
{
    for (int i = 0; i < self->hint_count; i++) {
        free(self->hints[i].when);
        free(self->hints[i].text);
    }
    self->hint_count = 0;
}

/* Another language has a title and hints of its own, and nothing else. */
static bool take_language(const lessons *all, lesson *self)
{
    char file[32];
    if (*language_infix() == '\0')
        return true;
    free_hints(self);
    snprintf(file, sizeof file, "lesson%s.txt", language_infix());
    return take_lines(all, self, file);
}

static bool read_lesson(const char *command, const lessons *all, lesson *self)
{
    bool good = take_lines(all, self, "lesson.txt") && take_language(all, self);
    good = good && self->title != NULL && self->schedules != NULL && self->prints != NULL;
    return good || (command_error(command, COMMAND_FAILED,
                                  lesson_tr("%s/lessons/%s/lesson%s.txt cannot be read: install "
                                            "ctxrt again, whole"),
                                  all->folder, self->name, language_infix()),
                    false);
}

static int is_lesson(const struct dirent *entry)
{
    return entry->d_name[0] >= '0' && entry->d_name[0] <= '9' && strchr(entry->d_name, '-') != NULL;
}

static bool read_lessons(const char *command, lessons *self, struct dirent **entries, int count)
{
    bool good = count > 0;
    for (int i = 0; i < count && i < LESSONS_MOST; i++) {
        lesson *one = &self->all[self->count++];
        one->number = atoi(entries[i]->d_name);
        one->name = strdup(entries[i]->d_name);
        good = good && one->name != NULL && read_lesson(command, self, one);
    }
    return good;
}

bool lessons_find(const char *command, lessons *out_lessons)
{
    struct dirent **entries = NULL;
    char path[PATH_MAX + 16];
    *out_lessons = (lessons){.count = 0};
    if (!place_find("/tools", CTXRT_PKGDATADIR, "/samples", "/lessons/lesson.h",
                    out_lessons->folder))
        return command_error(command, COMMAND_FAILED,
                             lesson_tr("the lessons are not in %s: install ctxrt again, whole"),
                             CTXRT_PKGDATADIR) == COMMAND_GOOD;
    snprintf(path, sizeof path, "%s/lessons", out_lessons->folder);
    int count = scandir(path, &entries, is_lesson, alphasort);
    bool good = read_lessons(command, out_lessons, entries, count);
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    if (!good)
        lessons_free(out_lessons);
    return good;
}

void lessons_free(lessons *self)
{
    for (int i = 0; i < self->count; i++) {
        lesson *one = &self->all[i];
        free_hints(one);
        free(one->name);
        free(one->title);
        free(one->schedules);
        free(one->options);
        free(one->without);
        free(one->module);
        free(one->prints);
    }
    *self = (lessons){.count = 0};
}
