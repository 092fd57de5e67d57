/*
 * Explains what other code did to a driver's stack, by comparing it with the entries it should
 * have. Makes no driver call.
 */
#ifndef CX_CONTEXT_EXPLAIN_H
#define CX_CONTEXT_EXPLAIN_H

#include "context/stack.h"

#define CX_RESYNC_DEPTH 16 /* entries that are compared */

/* The top entries of a driver's stack, top first. */
typedef struct cx_entries {
    int count;
    bool complete; /* the stack has no more */
    CUcontext natives[CX_RESYNC_DEPTH];
} cx_entries;

/* An explanation, with the steps that mend the stack. */
typedef struct cx_stack_finding {
    ctxrt_resync_report report;
    int level;   /* 2: the change is beneath the top entry, which is an override's */
    bool on_top; /* pushed: above all of our entries */
} cx_stack_finding;

/*
 * Decides what other code did, from the driver's entries and the expected ones (`ours`: the entries
 * of our frames from the top, then the one beneath them all). Exactly one explanation must fit,
 * else AMBIGUOUS.
 */
cx_stack_finding cx_explain(const cx_entries *actual, const cx_entries *ours);

#endif
