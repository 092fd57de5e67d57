/*
 * The layer that checks: it watches every call of the driver, keeps what calls made, and raises
 * findings. A family of kinds is a file with a table of hooks.
 *
 * The lock "check" guards objects, stacks, findings and origins; no driver call holds it.
 */
#ifndef CX_LAYER_CHECK_CHECK_H
#define CX_LAYER_CHECK_CHECK_H

#include "layer/check/call.h"

/* Called with the lock "check" held, before and after the driver. */
typedef void (*cx_check_hook)(cx_check_call *call);
typedef struct cx_check_hooks {
    cx_check_hook before, after;
} cx_check_hooks;

/* Rows of a family; a row of no hooks is left out. */
extern const cx_check_hooks cx_check_lifetimes[CX_SLOT_COUNT], cx_check_given[CX_SLOT_COUNT],
    cx_check_mapping[CX_SLOT_COUNT], cx_check_stack[CX_SLOT_COUNT],
    cx_check_primary[CX_SLOT_COUNT], cx_check_peer[CX_SLOT_COUNT], cx_check_memory[CX_SLOT_COUNT],
    cx_check_pending[CX_SLOT_COUNT], cx_check_attach[CX_SLOT_COUNT], cx_check_order[CX_SLOT_COUNT],
    cx_check_order_sync[CX_SLOT_COUNT],    cx_check_capture[CX_SLOT_COUNT],
    cx_check_process[CX_SLOT_COUNT];

/* Families that look at every call that failed, in this order, until one explains it. */
void cx_check_failed_capture(cx_check_call *call);
void cx_check_failed_process(cx_check_call *call);
void cx_check_failed_handle(cx_check_call *call);
void cx_check_failed_owner(cx_check_call *call);
void cx_check_failed_memory(cx_check_call *call);
void cx_check_failed_current(cx_check_call *call);
void cx_check_failed_call(cx_check_call *call); /* what the others leave */

/* Why the driver refused a call; set before the layer sees calls, NULL: it does not tell. Called
 * on the thread of the call, right behind it and without locks. As of cx_driver.explain. */
extern bool (*cx_check_explain)(cxu_result result, char *text, size_t size);

/* Asks the driver why a call failed, and keeps it for the thread. Without the lock "check". */
void cx_check_explain_failure(cx_check_call *call);

/* True in the child of a fork whose parent had initialised the driver: all calls fail. */
bool cx_check_in_forked_child(void);

/* Looks at every call, last: what came of earlier failures. */
void cx_check_any_ignored(cx_check_call *call);

/* A thread ends that has entries left. */
void cx_check_stack_left(cx_check_thread *thread);

/* The process exits: entries of the main thread that a loop left. */
void cx_check_stack_left_main(const cx_check_thread *thread);

/* Looks at every call while something is captured: work and events of the capture. */
void cx_check_any_capture(cx_check_call *call);

/* The same before the call: what it captures has its place. */
void cx_check_place_captured(cx_check_call *call);

/* Looks at every call: what a copy to the host found unwritten. */
void cx_check_any_unwritten(cx_check_call *call);

/* The call ended the context: captures of its streams are left. Before these are ended. */
void cx_check_captures_left(cx_check_call *call, const cx_object *context);

/* The call waited for a whole context: CAPTURE-WAITED. */
void cx_check_context_waited(cx_check_call *call);

/* When the layer is put. */
void cx_check_order_begin(void);

/* The context that the thread's calls go to; asks the driver where the checker does not know. */
cx_object *cx_check_context(cx_check_call *call);

/* The stream that an argument names: NULL is a default stream. */
static inline CUstream cx_check_named(const cx_check_call *call, CUstream stream)
{
    return stream != NULL ? stream : call->default_stream;
}

/* The live object of a stream argument; NULL: a default stream, or unknown. */
cx_object *cx_check_stream(CUstream stream);

/* True if the call ends the object that its first handle names, of this kind. */
bool cx_check_ends(cx_slot slot, uint32_t *out_kind);

/* A context was made on a device: looks at what the device has besides. */
void cx_check_made_context(cx_check_call *call, cx_object *context, int device);

/* True if the place of a question for the current context tells nothing: the last questions told
 * nothing new, and all modules know the context that is current. */
bool cx_check_asks_again(const cx_check_thread *thread);

/* True if the first context was given access to the memory of the other one. */
bool cx_check_has_access(const cx_object *from, const cx_object *to);

/* True for the calls by which programs find out whether a context is current. */
bool cx_check_asks_for_device(cx_slot slot);

/* For a call that goes to whatever context is current. */
void cx_check_uses_current(cx_check_call *call);

/* Notes what a failed call left in its output. */
void cx_check_note_failed(cx_check_call *call, uint32_t kind, uintptr_t value);

/* Looks at every call, first: in a child of fork, behind the end of main. */
void cx_check_any_process(cx_check_call *call);

/* And last: the call's place has told that the thread is in exit(). */
void cx_check_any_exit(cx_check_call *call);

/* Calls come from any module, to this library's exports; or from functions of this library, which
 * then are part of their places. */
typedef enum cx_check_position { CX_CHECK_AT_EXPORTS, CX_CHECK_IN_RUNTIME } cx_check_position;

/* Puts the layer in front of a table, for the rest of the process; again only if the driver is the
 * same one. False: nothing is checked. */
bool cx_check_put(const cx_driver_table *below, cx_check_position position,
                  cx_driver_table *out_table);

#endif
