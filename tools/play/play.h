/*
 * Playing a scenario: every named thread is a thread, steps run in the order of the file.
 */
#ifndef CX_PLAY_PLAY_H
#define CX_PLAY_PLAY_H

#include "play/tape.h"
#include <stdio.h>

/* Watches the driver's requests to the host: memory, threads, mappings. */
typedef struct cx_play_host {
    /* The calling thread enters the driver; its request number `refused` fails. 0: none does. */
    void (*enter)(int refused);
    void (*leave)(void);
    size_t (*held)(void); /* memory blocks that calls have asked for and not given back */
} cx_play_host;

typedef struct cx_play_options {
    const cx_play_host *host; /* for the embedded driver; NULL: the host is not watched */
    bool cuda;            /* a libcuda; else the embedded driver */
    const char *libcuda;  /* its path; NULL: libcuda.so.1 */
    const char *schedule; /* of the embedded driver; NULL: as the environment says */
    int timeout_ms;       /* for one step; 0: 10 seconds */
    bool show;            /* draw every thread's stack after each step, on stdout */
    FILE *page;           /* gets what is played (page.h), between the parts of the page; or NULL */
    bool record;          /* go on after mismatches */
} cx_play_options;

typedef enum cx_verdict { CX_VERDICT_PASSED, CX_VERDICT_FAILED, CX_VERDICT_SKIPPED } cx_verdict;

/*
 * Plays a scenario in a process of its own: whatever the driver does, the caller goes on. Call it
 * from a process with one thread that has not started the embedded driver. NULL: no memory or no
 * process.
 */
cx_tape *cx_play(const cx_scenario *scenario, const cx_play_options *options);

/* Passed only if every step has run and matched; an unverified step may differ on a real driver. */
cx_verdict cx_play_verdict(const cx_scenario *scenario, const cx_tape *tape);

/* Prints the mismatches, step by step, with the rules that they cite; or the reason for a skip. */
void cx_play_report(const cx_scenario *scenario, const cx_tape *tape, FILE *to);

#endif
