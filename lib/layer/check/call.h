/*
 * A call of the driver that the check layer watches: what hooks know of it, and what they may ask.
 */
#ifndef CX_LAYER_CHECK_CALL_H
#define CX_LAYER_CHECK_CALL_H

#include "layer/arguments.h"
#include "layer/check/finding.h"

/* A call under way on a thread. */
typedef struct cx_check_call {
    cx_slot slot;
    const void *arguments;
    cxu_result result; /* once it is over */
    cx_check_thread *thread;
    cx_origin origin;        /* cx_check_here */
    bool told;               /* a finding explains its failure */
    bool nested;             /* made from within a call of the same thread */
    bool torn_down;          /* it was told that the process exits */
    bool free_waits;         /* it frees memory, and waits for all work */
    CUstream default_stream; /* that NULL names: the legacy one, or the thread's (_ptds, _ptsz) */
    cx_object *ending;       /* what the call is to end, since before it */
    struct cx_order_work *work; /* that it submits, since before it; NULL: none that is judged */
} cx_check_call;

/* The arguments: CX_CALL(call, ctx_push)->context. */
#define CX_CALL(call, slot) ((const cx_arguments_##slot *)(call)->arguments)

static inline bool cx_check_failed(const cx_check_call *call)
{
    return call->result != CXU_SUCCESS && call->result != CXU_NOT_READY;
}

/* The next event that a launch records by an attribute; the caller counts from *next = 0. NULL:
 * there is no more. */
const cxu_launch_attribute *cx_check_launch_event(const cxu_launch_config *config,
                                                  unsigned int *next);

/* Takes the backtrace of the call, without the lock "check": the loader's lock is outside "check",
 * since a library that is being loaded may call the driver. */
void cx_check_find_place(cx_check_call *call);

/* The place of the call; the backtrace is taken when first asked for, with the lock "check" open:
 * a hook asks before it looks up what another thread may end. */
cx_origin cx_check_here(cx_check_call *call);

/* A finding about the call; asks for its place. */
cx_finding cx_check_finding(cx_check_kind kind, cx_check_call *call);

/* True if the call failed since a context has ended, and with it the object (or it is the context),
 * and the call's module was told of such a call before: then the call is only counted. */
bool cx_check_is_consequence(cx_check_call *call, const cx_object *object);

/* Raises a finding that names the threads with the context on their stacks, if there are any. */
void cx_check_tell_holders(cx_check_call *call, cx_check_kind kind, const cx_object *context,
                           const cx_check_thread *except);

/* The driver behind the layer. */
extern const cx_driver_table *cx_check_driver;

/* Asks the driver about memory, with the lock "check" open meanwhile. False: it has no answer. */
bool cx_check_ask_pointer(cxu_pointer_attribute attribute, uintptr_t address, void *out_value);

#endif
