/*
 * The findings of `ctxrt check --json`, for a student.
 */
#ifndef CX_TOOLS_LESSON_FINDINGS_H
#define CX_TOOLS_LESSON_FINDINGS_H

#include "lesson/lesson.h"

enum { FINDINGS_NONE_READ = -1 };

/* Counts them; FINDINGS_NONE_READ: the report cannot be read. */
int findings_count(const char *report);

typedef enum findings_choice {
    FINDINGS_ALL,
    FINDINGS_ERRORS, /* for a program that ended too early: it leaves much behind */
    FINDINGS_HINTED  /* for a wrong output: those of which the lesson has a hint */
} findings_choice;

/* Prints the first findings with their lines in the student's file and the lesson's hints. */
void findings_print(const char *report, const char *file, const lesson *of, findings_choice choice);

#endif
