/*
 * The copy of a lesson that a student works on.
 */
#ifndef CX_TOOLS_LESSON_COPY_H
#define CX_TOOLS_LESSON_COPY_H

#include "lesson/lesson.h"

/* Writes the name of the student's folder: lesson-07. */
void copy_name(const lesson *self, char name[32]);

/* Writes the path of a file in the student's folder. True: that is the current one, and has it. */
bool copy_path(const lesson *self, const char *file, char path[PATH_MAX]);

/* Makes the folder below the current one, unless it is there, and says what to do in it. Returns an
 * exit status; nothing is overwritten. */
int copy_lesson(const char *command, const lessons *all, const lesson *self);

#endif
