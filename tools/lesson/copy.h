/*
 * The copy of a lesson that a student works on.
 */
#ifndef CX_TOOLS_LESSON_COPY_H
#define CX_TOOLS_LESSON_COPY_H

#include "lesson/lesson.h"

/* Writes the name of the student's folder: lesson-07. */
void copy_name(const lesson *self, char name[32]);

/* Makes the folder below the current one and says what to do in it. Returns an exit status;
 * nothing is overwritten. */
int copy_lesson(const char *command, const lessons *all, const lesson *self);

#endif
