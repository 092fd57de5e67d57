/* An experiment in a child process, and what became of it. */
#ifndef PROBE_SPAWN_H
#define PROBE_SPAWN_H

#include "observe.h"

struct settings {
    const char *driver;
    const char *cudart;   /* or NULL */
    const char *fault_by; /* or NULL */
    unsigned int seconds;
    unsigned int patience_ms;
};

/* Calls `line` for each word of the experiment, in their order, with what the child said of it or
 * why it did not, and once more with the word "end" if the child did not end by itself. False: no
 * child could be started, or it said words that the experiment does not list. */
_Bool spawn_experiment(const struct experiment *experiment, const struct settings *settings,
                       void (*line)(const char *name, const char *word, const char *value));

#endif
