/*
 * Checks what a student has made of an exercise, and says in plain words what is wrong with it.
 */
#ifndef CX_TOOLS_LESSON_CHECKS_H
#define CX_TOOLS_LESSON_CHECKS_H

#include "lesson/job.h"
#include "lesson/lesson.h"

typedef struct check {
    const char *command;
    const lessons *all;
    const lesson *lesson;
    const char *file;   /* the student's */
    const char *folder; /* for what is compiled and written, of this check alone */
    int seconds;        /* for each run */
} check;

/* Each returns COMMAND_GOOD if the exercise is solved, else another exit status after it has
 * printed why not. */
int check_program(const check *self);
int check_scenario(const check *self);

/* Prints "LESSON FILE: not yet: MESSAGE"; returns COMMAND_FAILED. */
__attribute__((format(printf, 2, 3))) int check_not_yet(const check *self, const char *format, ...);

/* Prints a hint under the last message, if there is one, in short lines. */
void check_hint(const char *hint);

/* Reads the exercise of the lesson and the student's file, which the caller frees. */
bool check_read(const check *self, const char *exercise, char **out_exercise, char **out_student);

#endif
