/*
 * Remembers in a file what a student has solved.
 */
#ifndef CX_TOOLS_LESSON_SOLVED_H
#define CX_TOOLS_LESSON_SOLVED_H

#include "lesson/lesson.h"

typedef struct solved {
    bool program[LESSONS_MOST + 1], scenario[LESSONS_MOST + 1]; /* by the number of the lesson */
} solved;

/* Reads the file; nothing is solved where there is none. */
solved solved_read(void);

/* Adds an exercise to the file, "program" or "scenario"; false after an error was printed. */
bool solved_add(const char *command, int number, const char *part);

#endif
