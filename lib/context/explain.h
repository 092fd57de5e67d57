/*
 * What other code did to a driver's stack, told from what it has and what it should have. No driver call.
 */
#ifndef CX_CONTEXT_EXPLAIN_H
#define CX_CONTEXT_EXPLAIN_H

#include "context/stack.h"

#define CX_RESYNC_DEPTH 16 /* entries that are looked at */

/* The top entries of a driver's stack, top first. */
typedef struct cx_entries {
    int count;
    bool complete; /* the stack has no more */
    CUcontext natives[CX_RESYNC_DEPTH];
} cx_entries;

/* An explanation, with what it takes to mend the stack: `count` entries that are not ours stand among or above
 * the first `level` of ours. */
typedef struct cx_finding {
    ctxrt_resync_report report;
    int level;    /* entries of the top level of frames: one, or two with an override */
    bool on_top;  /* pushed: all of them above ours */
} cx_finding;

/*
 * Decides what other code did, from what the driver has and what it should have (`ours`: the entries of our
 * frames from the top, then what is beneath them all; the first `level` are of the top level). Exactly one
 * explanation must fit, else AMBIGUOUS.
 */
cx_finding cx_explain(const cx_entries *actual, const cx_entries *ours, int level);

#endif
