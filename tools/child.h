/*
 * A program that a subcommand starts and waits for, on the stand-in libcuda.so.1.
 */
#ifndef CX_TOOLS_CHILD_H
#define CX_TOOLS_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Starts the program. Signals that ask this process to end go to the program from now on. -1 with
 * errno: there is no process. */
pid_t child_start(const char *command, char **program);

/* Waits for it, and calls `look` meanwhile, about fifty times a second; NULL: nothing. After so
 * many seconds, unless 0, it asks the program to end, and two seconds later makes it end, and with
 * it the children that still run; then *out_timed_out is true. It may be NULL without a timeout.
 * Returns the status as of waitpid. */
int child_wait(pid_t pid, void (*look)(void *argument), void *argument, int timeout_s,
               bool *out_timed_out);

/* When the program ended, or was asked to, as child_wait saw it; ns of the monotonic clock. */
uint64_t child_ended_ns(void);

/* The exit status as in a shell: 128 and the number of the signal that ended it. */
int child_status(int status);

/* Says on stderr which signal ended the program, if one did. */
void child_tell_of_death(const char *command, int status);

/* Makes a folder named `name` and six letters in TMPDIR, or else in the first of these places, up
 * to NULL, where it can be made. One with 1 GiB of room is preferred, then one with 64 MiB. */
bool child_make_folder(const char *name, const char *const *places, char *folder, size_t size);

/* The number of empty files in a folder whose names begin with `prefix`: a process that has no room
 * for its file leaves it empty. */
unsigned child_count_empty_files(const char *path, const char *prefix);

/* Removes a folder and the files in it. */
void child_remove_folder(const char *path);

#endif
