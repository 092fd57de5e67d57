/*
 * Compiles a program of a lesson against the stand-in libcuda.so.1.
 */
#ifndef CX_TOOLS_LESSON_COMPILE_H
#define CX_TOOLS_LESSON_COMPILE_H

#include "lesson/job.h"
#include "lesson/lesson.h"

/* The stand-in that programs of lessons meet: it has the calls of all versions of cuda.h. */
#define COMPILE_CUDA "13"

/*
 * Compiles with $CC, or cc. The folder of `self` gets the compiler's output. Where `module` is not
 * NULL the source is two modules: with -DMODULE it is the library PROGRAM-MODULE.so, which the
 * program finds beside itself. Returns the exit status COMMAND_GOOD, or another after an error was
 * printed.
 */
int compile_program(const char *command, const job *self, const lessons *all, const char *module,
                    const char *source, const char *program);

#endif
