/*
 * Calls that make an object in a context that their caller names. The context is current at its
 * driver for the length of the call; the calling thread's frames are neither asked nor changed.
 */
#ifndef CX_CONTEXT_NAMED_H
#define CX_CONTEXT_NAMED_H

#include "context/context_guard.h"
#include "context/use.h"

typedef struct cx_named_context {
    cx_context *context;
    cx_context_guard guard;
} cx_named_context;

/*
 * Enters the runtime and a section in which the context is live and not being reset, and makes it
 * current. `call`: the public call, for messages. On failure nothing is left to undo.
 */
ctxrt_status cx_named_context_enter(const char *call, const ctxrt_context *handle,
                                    cx_named_context *out_named);

/* Makes the previous context current again, and leaves the section. */
void cx_named_context_leave(cx_named_context *named);

#endif
