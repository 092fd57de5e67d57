/*
 * Making and ending records of contexts: for the files of this room only.
 */
#ifndef CX_CONTEXT_RECORD_H
#define CX_CONTEXT_RECORD_H

#include "base/lock.h"
#include "context/context.h"

/* "contexts": guards the set of records, and who ends which. Order: "contexts", "device", sections,
 * "threads", "context", "pool". */
extern cx_lock cx_contexts_lock;

/* Takes and releases the lock. Drivers are called under it, so cancellation of the thread is held
 * off meanwhile. */
int cx_contexts_begin(void);
void cx_contexts_end(int cancel);

/* Takes a new record, not yet published. */
ctxrt_status cx_record_take(cx_driver *driver, cx_device *device, CUcontext native,
                            cx_context_kind kind, cx_context **out_context);

/* Finds the record of a native context that other code made, on its device; `native` NULL: of any.
 * NULL: there is none. "contexts" held. */
cx_context *cx_record_find_foreign(const cx_device *device, CUcontext native);

/* Asks the driver for the context's id anew. */
void cx_record_identify(cx_context *context);

/* False: the driver's id is another one than when the record was made. Where the driver gave none,
 * then or now, nobody knows. */
bool cx_record_may_have_id(const cx_context *context, uint64_t id);

/* Makes the record of a live context stale and waits for its pins; or reports what still refers to
 * it, and then it was live all the time. Lock held, and that of the device of a primary context. */
ctxrt_status cx_record_retire(cx_context *context, int holds_allowed);

/* Frees everything kept in the context, with the driver; without it if the context is lost. On
 * failure nothing has changed. */
ctxrt_status cx_record_close(cx_context *context, bool *out_lost);

/* Frees everything kept in a retired context, and the record. Keeps the last error. */
void cx_record_end(cx_context *context);

/* The driver refused to end a retired context: makes its handle live again. Objects that were kept
 * in it are made again when needed. */
void cx_record_restore(cx_context *context);

/* cx_record_restore for a lost context. */
void cx_record_abandon(cx_context *context);

/* After a reset: drops the objects that the driver has destroyed in the context. */
void cx_record_forget(cx_context *context);

#endif
