/*
 * Views of other threads' stacks, taken while these threads go on: each view is a stack that its
 * thread had.
 *
 * Only the owner writes its frames. It makes `sequence` odd, writes the fields by release stores,
 * and makes it even again, a release store too. A reader loads the sequence, the fields and the
 * sequence again. A reader that sees a new field, by an acquire load, also sees the odd sequence,
 * and its last load comes after all the others. So an even and equal sequence means that no frame
 * was written meanwhile.
 *
 * A thread that changes its stack faster than that is asked instead: the reader stores a view in
 * `wanted`, and the owner, at its next write, exchanges it for NULL, fills it in and sets `shown`
 * (release, acquire). The thread that gets the pointer by an exchange of `wanted` owns the view: if
 * the reader gets it back, the owner did not answer, and the reader tries again.
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
 * Takes a view of a thread's stack, with the lock "threads" held, so that the record stays that
 * thread's. The owner never waits for the reader.
 */
void cx_stack_look(cx_thread *thread, cx_stack_view *out);

/* True if the place in the source where the frame was made is known. */
static inline bool cx_frame_has_place(const cx_frame_view *frame)
{
    return frame->file != NULL && frame->file[0] != '\0';
}

#endif
