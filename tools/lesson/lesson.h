/*
 * The lessons of samples/lessons: where they are, and what lesson.txt of each says.
 */
#ifndef CX_TOOLS_LESSON_LESSON_H
#define CX_TOOLS_LESSON_LESSON_H

#include <limits.h>
#include <stdbool.h>

enum { LESSONS_MOST = 32, LESSON_HINTS_MOST = 16, LESSON_WORDS = 128 };

/* A text for a student who meets a kind of finding, or another output: `when` is "output". */
typedef struct lesson_hint {
    char *when, *text;
} lesson_hint;

typedef struct lesson {
    int number; /* from 1 */
    char *name; /* of its folder */
    char *title;
    char *schedules; /* of the embedded driver, one word for each run of the exercise */
    char *options;   /* of ctxrt check; words */
    char *without;   /* calls that the student's lines may not make; words */
    char *module;    /* programs are two modules, the second a library with this name; or NULL */
    char *prints;    /* what a solved exercise prints; '@' stands for its argument */
    int hint_count;
    lesson_hint hints[LESSON_HINTS_MOST];
} lesson;

typedef struct lessons {
    char folder[PATH_MAX];
    int count;
    lesson all[LESSONS_MOST];
} lessons;

/* Finds and reads all lessons, in their order; false after an error was printed for `command`. */
bool lessons_find(const char *command, lessons *out_lessons);
void lessons_free(lessons *self);

/* The text for a kind of finding, or for "output"; NULL: there is none. */
const char *lesson_hint_for(const lesson *self, const char *when);

/* Writes the path of a file of the lesson; false: it is too long. */
bool lesson_path(const lessons *all, const lesson *self, const char *file, char path[PATH_MAX]);

/* Reads a file as text that the caller frees. NULL, and errno: it cannot be read. */
char *lesson_read(const char *path);

#endif
