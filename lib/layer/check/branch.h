/*
 * Captures under way: their streams, which are branches, and the events recorded in them. Every
 * function needs the lock "check".
 *
 * A branch counts the calls that add work. Its clock has, for each branch, how many of these calls
 * the branch's next work is ordered after. The capture may end when the first branch is ordered
 * after all work of the others (G4). Clocks do not see the edges that a program sets itself: the
 * driver is asked then (frontier.h).
 */
#ifndef CX_LAYER_CHECK_BRANCH_H
#define CX_LAYER_CHECK_BRANCH_H

#include "layer/check/check.h"

/* Entry i counts work of branch i; work of branches without an entry counts as 0. */
typedef struct cx_branch_clock {
    uint64_t *works;
    unsigned count;
} cx_branch_clock;

typedef struct cx_branch {
    CUstream stream;
    uint32_t number; /* the stream's; 0: a thread's default stream, or an unknown one */
    int thread;      /* that has the default stream, in this context; else 0 */
    const cx_object *context;
    cx_origin joined; /* where it joined the capture; of the first one: where that began */
    uint64_t works;
    cx_branch_clock clock;
} cx_branch;

typedef struct cx_capture {
    cx_object *object;
    int thread;  /* that began it */
    bool edited; /* the program may have set dependencies of a stream, or edges */
    unsigned count, capacity;
    cx_branch *all; /* the first one began it */
    bool *left;     /* what the driver said: the branches that are not joined; NULL: not asked */
    unsigned left_count;
    struct cx_capture *next;
} cx_capture;

/* The latest first; NULL: nothing is captured. */
extern cx_capture *cx_captures;

/* `object` is live until cx_capture_end; it is ended if there is no memory. */
void cx_capture_begin(cx_check_call *call, cx_object *object, CUstream stream);

/* Frees the capture, not its object. */
void cx_capture_end(cx_capture *capture);

/* NULL: the stream is in no capture, or the event's last record is in none. */
cx_capture *cx_capture_of_stream(cx_check_call *call, CUstream stream);
cx_capture *cx_capture_of_event(CUevent event);

/* Calls in a stream; nothing happens if it is in no capture. */
void cx_capture_work(cx_check_call *call, CUstream stream);
void cx_capture_record(cx_check_call *call, CUstream stream, CUevent event);
void cx_capture_wait(cx_check_call *call, CUstream stream, CUevent event);

/* The event is about to end. */
void cx_capture_forget(CUevent event);

/* True if the first branch is ordered after all work of this one. */
bool cx_branch_is_joined(const cx_capture *capture, unsigned branch);

/* The live stream of a branch; NULL: it is a default one, or has ended. */
const cx_object *cx_branch_stream(const cx_branch *branch);

/* "stream 3 of GPU 0" */
void cx_branch_text(const cx_branch *branch, char *text, size_t size);

#endif
