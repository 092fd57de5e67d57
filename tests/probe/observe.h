/* How an experiment says what it saw. It runs in a process of its own, in which no other driver
 * call was made. */
#ifndef PROBE_OBSERVE_H
#define PROBE_OBSERVE_H

#include "driver.h"

#ifdef __GNUC__
#define PROBE_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define PROBE_PRINTF(text, first)
#endif

struct experiment {
    const char *name; /* RULE.situation */
    void (*run)(void);
    const char *shows; /* words; each gives one line, NAME.word */
};

struct group {
    const char *name;
    const struct experiment *experiments; /* ends with a NULL name */
};

extern const struct group groups[]; /* ends with a NULL name */

/* What a child is given besides its experiment. */
extern const char *fault_by;     /* or NULL; see --fault-by in probe.c */
extern const char *cudart_path;  /* or NULL */
extern unsigned int patience_ms; /* what is not over by then is called waiting */
extern void (*last_words)(
    void); /* run by the exit handler that was registered before the driver was opened */
extern void (*destructor)(void); /* run by a destructor of the program */

/* Says what came of one of the words that the experiment shows. Any thread, also in a forked child.
 */
void see(const char *word, const char *format, ...) PROBE_PRINTF(2, 3);
void see_result(const char *word, CUresult code);

/* Ends the process; every word not yet seen is said to be `reason`. */
_Noreturn void give_up(const char *reason, ...) PROBE_PRINTF(1, 2);

/* The child's main: runs the experiment with its words going to `channel`, and exits. */
_Noreturn void child_run(const struct experiment *experiment, const char *driver_path, int channel,
                         unsigned int seconds);

#endif
