/*
 * Runs something in a process of its own, with its output in files, for a limited time.
 */
#ifndef CX_TOOLS_LESSON_JOB_H
#define CX_TOOLS_LESSON_JOB_H

#include <limits.h>
#include <stdbool.h>

typedef struct job {
    const char *folder; /* gets the files "out" and "errors" */
    int seconds;
    char **arguments;
    int (*run)(int argc, char **argv); /* NULL: the arguments name a program */
} job;

enum { JOB_NOT_FOUND = 127, JOB_STOPPED = -1, JOB_FAILED = -2 };

/*
 * Returns the exit status, or 128 and the number of a signal; JOB_STOPPED after it and all that it
 * started was ended because the time was over; JOB_FAILED if it could not be started.
 */
int job_run(const job *self);

/* Reads "out" or "errors" of the last job in the folder; the caller frees it. NULL: it cannot. */
char *job_read(const job *self, const char *file);

#endif
