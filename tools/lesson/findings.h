/*
 * The findings of `ctxrt check --json`, for a student.
 */
#ifndef CX_TOOLS_LESSON_FINDINGS_H
#define CX_TOOLS_LESSON_FINDINGS_H

#include "lesson/lesson.h"

enum { FINDINGS_NONE_READ = -1 };

/* Counts them; FINDINGS_NONE_READ: the report cannot be read. */
int findings_count(const char *report);

/* Prints the first findings with their lines in the student's file and the lesson's hints. A
 * program that ended too early leaves much behind: of that one only errors count. */
void findings_print(const char *report, const char *file, const lesson *of, bool early);

#endif
