/*
 * The stand-in libcuda.so.1 for a program that ctxrt starts: where it is, and the environment.
 */
#ifndef CX_TOOLS_STANDIN_H
#define CX_TOOLS_STANDIN_H

#include <argp.h>
#include <limits.h>
#include <stdbool.h>

/* The values of the options; NULL: as the environment says. */
typedef struct standin_options {
    const char *devices, *gpu, *memory, *schedule, *cuda, *cudart, *driver;
} standin_options;

/* The options -d, --gpu, -m, --schedule, --cuda, --cudart and --driver, a child of each command's
 * parser, whose input it is. */
extern const struct argp standin_argp;

/* Finds the folder of the stand-in libcuda.so.1 for a CUDA version, "12" or "13". */
bool standin_find(const char *cuda, char folder[PATH_MAX]);

/* True if calls go to a library, not to emulated GPUs. */
bool standin_passes_on(const standin_options *options);

/* Prepares the environment for the program, which execvp is to find, and in front of a library a
 * file, which standin_end removes. Returns the exit status COMMAND_GOOD, or another after an error
 * was printed; then there is nothing to remove. */
int standin_prepare(const char *command, const standin_options *options, const char *program);

/* True if there is something for standin_end to remove: the program is to run as a child. */
bool standin_must_end(void);

/* The program is over. */
void standin_end(void);

/* Replaces this process by the program; returns an exit status after an error was printed. */
int standin_execute(const char *command, char **program);

#endif
