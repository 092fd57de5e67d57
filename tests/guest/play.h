/*
 * One case of other code that changes the driver's stack: levels of ctxrt's frames, an act of the
 * guest, a call of ctxrt, and what both stacks are then. Of ctxrt it uses the public interface
 * only, so that it plays on the embedded driver, on a stand-in's emulated GPUs and on real ones
 * alike.
 *
 * A case is played on a thread of its own, so that it begins and ends with an empty stack; it is
 * played once for each call that may come next, since looking at the driver's stack takes it apart.
 */
#ifndef CX_TEST_PLAY_H
#define CX_TEST_PLAY_H

#include "guest.h"

#include <ctxrt/ctxrt.h>
#include <stdbool.h>

/* With so many devices every context of a play is a primary one, unless the guest is going to
 * destroy it. */
enum {
    PLAY_LEVELS = 4,
    PLAY_DEVICES = PLAY_LEVELS + 3,
    PLAY_SPARES = PLAY_LEVELS + 2,
    PLAY_STACK_BYTES = 40
};

/* What the top level is made of. PLAY_SET: no level, only the bottom's override. */
typedef enum play_kind {
    PLAY_PUSH,
    PLAY_PUSH_SET,
    PLAY_SCOPE,
    PLAY_SCOPE_SET,
    PLAY_SET,
    PLAY_KINDS
} play_kind;

/* The call of ctxrt after the guest's act. */
typedef enum play_call {
    PLAY_NOTHING,
    PLAY_WORK,
    PLAY_SET_TARGET,
    PLAY_PUSH_TARGET,
    PLAY_CLOSE,
    PLAY_RESYNC,
    PLAY_CALLS
} play_call;

/* What the plays of one start of the runtime share. */
typedef struct play_stage {
    const cx_driver_table *driver;
    cxu_result (*act)(const guest *self,
                      guest_act act); /* guest_do, or another way to do the same */
    int device_count;                 /* of the type CUDA */
    CUcontext spares[PLAY_SPARES];    /* contexts that a guest may destroy, made on demand */
} play_stage;

typedef struct play {
    play_stage *stage;
    guest_act act;
    play_kind kind;
    int level; /* the stack's depth when the guest acts */
    play_call next;
    guest other;
    int override, target, other_device, level_devices[PLAY_LEVELS]; /* whose primary it is, or -1 */
    CUcontext natives[PLAY_LEVELS], override_native, target_native;
    ctxrt_context *contexts[PLAY_LEVELS], *target_context;
    ctxrt_scope scopes[PLAY_LEVELS];
    bool possible; /* the guest could act */
    ctxrt_status status;
    char answer[64]; /* what the next call said */
    int depth_before, depth_after;
    int entries;                  /* of the driver's stack */
    char stack[PLAY_STACK_BYTES]; /* the same from the bottom, in the letters of docs/frames.md */
    char fault[320];              /* of play_unwinding: what could not be unwound */
} play;

const char *play_kind_text(play_kind kind);

/* The kind with a scope instead of the push; PLAY_KINDS if there is none. */
play_kind play_scope_of(play_kind kind);

const char *play_call_text(play_call call);

/* The runtime has been started; the process ends if it is not as told. */
void play_open(play_stage *stage, const cx_driver_table *driver,
               cxu_result (*act)(const guest *, guest_act));
void play_close(play_stage *stage);

/* Plays a case. False: there are too few devices for it, and nothing was done. */
bool play_case(play_stage *stage, guest_act act, play_kind kind, int level, play_call next,
               play *out_play);

/* A set, if there is a device for it and whether or not the policy refuses it, then a resync: if
 * that finds the answer, every level can be popped, down to the empty stack. Else there is a fault.
 */
bool play_unwinding(play_stage *stage, guest_act act, play_kind kind, int level, play *out_play);

/* A cell of the table in docs/frames.md; for PLAY_NOTHING, the driver's stack alone. */
void play_write_cell(const play *self, char *cell, size_t size);

bool play_is_scope(const play *self);

#endif
