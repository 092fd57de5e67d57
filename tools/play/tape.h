/*
 * The results of playing a scenario, one entry for each line. It is in memory that the processes of
 * a scenario share, so that it survives whatever a driver does to them.
 */
#ifndef CX_PLAY_TAPE_H
#define CX_PLAY_TAPE_H

#include "play/scenario.h"
#include <stdatomic.h>

typedef enum cx_came_state { CX_CAME_NOT, CX_CAME_RUNNING, CX_CAME_BACK } cx_came_state;

typedef struct cx_came_value {
    cx_expected_kind kind; /* ANY: nothing was written, or an object without a name; NUMBER or
                            * NAME */
    int64_t number;
    char name[CX_NAME_MAX + 1];
} cx_came_value;

/* A handle for other processes, by its name; those of memory and of events have the same size. */
typedef struct cx_letter {
    char name[CX_NAME_MAX + 1];
    union {
        cxu_ipc_mem_handle memory;
        cxu_ipc_event_handle event;
    } handle;
} cx_letter;

enum { CX_LETTERS_MAX = 16 };

typedef struct cx_came {
    _Atomic int state;
    int result;
    bool untouched;
    bool matched;
    int value_count;
    cx_came_value values[CX_RESULTS_MAX];
} cx_came;

typedef struct cx_tape {
    size_t bytes;
    _Atomic int running; /* index of the line that is being run; -1: none */
    _Atomic unsigned int progress;
    bool skipped; /* the scenario's needs are not met; `why` says which */
    bool failed;  /* something failed besides the steps; `why` says what */
    char why[512];
    char explanation[1024]; /* of the first mismatch, if one is known */
    bool emulated;
    int driver_version;
    char device[256];
    cx_letter letters[CX_LETTERS_MAX];
    cx_came came[]; /* by index */
} cx_tape;

/* NULL: out of memory. */
cx_tape *cx_tape_create(const cx_scenario *scenario);
void cx_tape_destroy(cx_tape *tape);

/* Says why a scenario is skipped or fails; the first reason stays. */
__attribute__((format(printf, 3, 4))) void cx_tape_say(cx_tape *tape, bool skipped,
                                                       const char *format, ...);

/* The letter of a name, or a new one if `makes`; NULL: there is none, or no room. */
cx_letter *cx_tape_letter(cx_tape *tape, const char *name, bool makes);

/* Prints the results in the words of a scenario. */
void cx_came_print(const cx_came *came, const cx_verb *verb, char *text, size_t size);

#endif
