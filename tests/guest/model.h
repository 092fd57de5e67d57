/*
 * A model of one thread's stack of frames beside the driver's stack of contexts: the rules of
 * docs/frames.md played on two arrays. It sees the whole of the driver's stack, so it needs no
 * popping to look, and it shares no code with the library. For stacks of fewer than 16 entries,
 * where the library sees all of it as well.
 */
#ifndef CX_TEST_MODEL_H
#define CX_TEST_MODEL_H

#include <ctxrt/ctxrt.h>
#include <stdbool.h>

enum { MODEL_DEPTH = 15, MODEL_NONE = -1 };

typedef struct model_frame {
    int context;
    ctxrt_frame_origin origin;
    int beneath; /* what was current when its entry was pushed */
    int scope;   /* number of the scope that made it, or MODEL_NONE */
} model_frame;

typedef struct model {
    ctxrt_foreign_policy policy;
    int entries[MODEL_DEPTH]; /* the driver's, from the bottom */
    int entry_count;
    model_frame frames[2 * MODEL_DEPTH];
    int frame_count;
} model;

/* The driver's current context, or MODEL_NONE. */
int model_current(const model *self);

/* Whether a call may push without leaving the depth that the model covers. */
bool model_has_room(const model *self);

/* What the guest does; false: the driver refuses. */
bool model_guest_push(model *self, int context);
bool model_guest_pop(model *self);
bool model_guest_set(model *self, int context);

/* What ctxrt does: its status. */
ctxrt_status model_work(model *self);
ctxrt_status model_set(model *self, int context);
ctxrt_status model_push(model *self, int context, ctxrt_frame_origin origin, int scope);
ctxrt_status model_pop(model *self);
ctxrt_status model_leave(model *self, int scope);
ctxrt_status model_resync(model *self, ctxrt_resync_report *out_report);

#endif
