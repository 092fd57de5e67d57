/*
 * Views of other threads' stacks, taken while these go on: each is one that its thread had.
 */
#ifndef CX_CONTEXT_VIEW_H
#define CX_CONTEXT_VIEW_H

#include "context/thread.h"

typedef struct cx_stack_view {
    _Atomic bool shown; /* the thread has filled it in itself */
    uint32_t depth;
    cx_frame_view frames[CTXRT_STACK_DEPTH_MAX]; /* [0] is the bottom */
} cx_stack_view;

cx_frame_view cx_frame_look(const cx_frame *frame);

/*
 * Takes a view of a thread's stack; with the lock "threads" held, so that the record stays that
 * thread's. First by reading it until nothing changed meanwhile. A thread that changes its stack
 * faster than that is asked for the view: it fills it in where it next writes a frame, and does not
 * wait.
 */
void cx_stack_look(cx_thread *thread, cx_stack_view *out);

#endif
