/* Properties of the kinds of frames, ctxrt_frame_origin. */
#ifndef CX_CONTEXT_FRAME_KIND_H
#define CX_CONTEXT_FRAME_KIND_H

#include "context/thread.h"

typedef struct cx_frame_kind {
    const char *name;      /* in snapshots */
    bool is_explicit;      /* a level of its own, ended by the caller who made it */
    bool has_entry;        /* has an entry of ctxrt's on the driver's stack */
    bool is_override;      /* stands on the explicit frame of its level */
    bool can_be_popped;    /* ctxrt_stack_pop may pop its level */
    bool can_be_detached;
} cx_frame_kind;

/* By ctxrt_frame_origin. */
extern const cx_frame_kind cx_frame_kinds[];

static inline const cx_frame_kind *cx_frame_kind_of(const cx_frame *frame)
{
    return &cx_frame_kinds[cx_frame_origin(frame)];
}

#endif
