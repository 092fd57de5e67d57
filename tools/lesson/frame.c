#include "lesson/frame.h"

#include "lesson/language.h"

#include <stdio.h>
#include <string.h>

static const char hole_begins[] = "your lines begin";
static const char hole_ends[] = "your lines end";

static const char *say_changed(void)
{
    return lesson_tr("this line is not yours: put it back as it is in the exercise (ctxrt lesson N "
                     "in an empty folder has a fresh copy)");
}

/* Takes the next line, without its end and the blanks before that. NULL: there is none. */
static char *next_line(char **rest)
{
    char *line = *rest;
    if (line == NULL || *line == '\0')
        return NULL;
    char *end = strchrnul(line, '\n');
    *rest = *end == '\0' ? end : end + 1;
    while (end > line && strchr(" \t\r\n", end[-1]) != NULL)
        end--;
    *end = '\0';
    return line;
}

static bool is_word(const char *text, const char *word, const char *found)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    const char behind = found[strlen(word)];
    return (found == text || strchr(letters, found[-1]) == NULL) &&
           (behind == '\0' || strchr(letters, behind) == NULL);
}

/* Finds out whether a line has one of the words, which blanks separate. */
static bool has_word(const char *line, const char *words)
{
    char word[64];
    for (int length; words != NULL && sscanf(words, "%63s%n", word, &length) == 1; words += length)
        for (const char *found = strstr(line, word); found != NULL; found = strstr(found + 1, word))
            if (is_word(line, word, found))
                return true;
    return false;
}

/* The student's lines do the work. Output or an end of the program would hide that they do not. */
static const char *find_forbidden(const char *line, const char *without)
{
    if (line[strspn(line, " \t")] == '#')
        return lesson_tr("your lines need no line of the preprocessor");
    if (has_word(line, "printf puts putchar fputs write exit _exit abort execv kill dup2 asm"))
        return lesson_tr("your lines neither print nor end the program: the lines around them do");
    return has_word(line, without) ? lesson_tr("this exercise is to be solved without this call")
                                   : NULL;
}

/* Skips the student's lines up to the end of the hole. */
static bool skip_hole(char **student, const char *without, int *line_number, const char **out_why)
{
    for (char *line = next_line(student); line != NULL; line = next_line(student)) {
        ++*line_number;
        if (strstr(line, hole_ends) != NULL)
            return true;
        *out_why = find_forbidden(line, without);
        if (*out_why != NULL)
            return false;
    }
    *out_why = lesson_tr("the comment 'your lines end' is missing");
    return false;
}

/* Takes the next line that is not empty; counts the lines. */
static char *next_code(char **rest, int *line_number)
{
    char *line;
    do {
        line = next_line(rest);
        ++*line_number;
    } while (line != NULL && *line == '\0');
    return line;
}

bool frame_of_program(char *exercise, char *student, const char *without, int *out_line,
                      const char **out_why)
{
    int unused = 0;
    *out_line = 0;
    for (;;) {
        const char *wanted = next_code(&exercise, &unused), *line = next_code(&student, out_line);
        if (wanted == NULL && line == NULL)
            return true;
        *out_why = say_changed();
        if (wanted == NULL || line == NULL || strcmp(wanted, line) != 0)
            return false;
        if (strstr(wanted, hole_begins) == NULL)
            continue;
        while (wanted != NULL && strstr(wanted, hole_ends) == NULL)
            wanted = next_line(&exercise);
        if (!skip_hole(&student, without, out_line, out_why))
            return false;
    }
}

/* Takes the next line that has more than a comment, without that; counts the lines. */
static char *next_step(char **rest, int *line_number)
{
    for (char *line = next_line(rest); line != NULL; line = next_line(rest)) {
        if (line_number != NULL)
            ++*line_number;
        *strchrnul(line, '#') = '\0';
        if (line[strspn(line, " \t")] != '\0')
            return line;
    }
    return NULL;
}

static bool says_nothing(const char *word)
{
    return strcmp(word, "_") == 0 || strcmp(word, "any") == 0 || strcmp(word, "unverified") == 0 ||
           strpbrk(word, "|@!{}") != NULL;
}

static bool compare_words(char *wanted, char *line, int *out_open, const char **out_why)
{
    static const char blanks[] = " \t";
    char *rest_wanted = NULL, *rest_line = NULL;
    char *one = strtok_r(wanted, blanks, &rest_wanted);
    char *other = strtok_r(line, blanks, &rest_line);
    for (; one != NULL && other != NULL;
         one = strtok_r(NULL, blanks, &rest_wanted), other = strtok_r(NULL, blanks, &rest_line)) {
        if (strcmp(other, "?") == 0)
            ++*out_open;
        else if (strcmp(one, "?") == 0 && says_nothing(other))
            return *out_why = lesson_tr("an answer is one exact word for each '?'"), false;
        else if (strcmp(one, "?") != 0 && strcmp(one, other) != 0)
            return *out_why = say_changed(), false;
    }
    *out_why = one != NULL ? lesson_tr("a word is missing: put one for each '?' of the exercise")
                           : lesson_tr("there are more words than the exercise has '?'");
    return one == NULL && other == NULL;
}

bool frame_of_scenario(char *exercise, char *student, int *out_open, int *out_line,
                       const char **out_why)
{
    *out_open = *out_line = 0;
    for (;;) {
        char *wanted = next_step(&exercise, NULL), *line = next_step(&student, out_line);
        if (wanted == NULL && line == NULL)
            return true;
        if (wanted == NULL || line == NULL)
            return *out_why =
                       lesson_tr("the steps are not those of the exercise: it has others here"),
                   false;
        if (!compare_words(wanted, line, out_open, out_why))
            return false;
    }
}
