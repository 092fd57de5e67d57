/*
 * Compares a student's file with the exercise: only what was left open may differ.
 */
#ifndef CX_TOOLS_LESSON_FRAME_H
#define CX_TOOLS_LESSON_FRAME_H

#include <stdbool.h>

/*
 * A program is open between the lines "your lines begin" and "your lines end"; empty lines may
 * differ anywhere. Neither may these lines
 * have one of the words of `without`, which may be NULL. Both texts are changed. False: *out_line
 * is the first line of the student's file that differs, and *out_why says what is wrong with it.
 */
bool frame_of_program(char *exercise, char *student, const char *without, int *out_line,
                      const char **out_why);

/*
 * A scenario is open where the exercise has a '?'; comments, blanks and empty lines may differ.
 * *out_open counts the '?' that the student has left.
 */
bool frame_of_scenario(char *exercise, char *student, int *out_open, int *out_line,
                       const char **out_why);

#endif
