/*
 * The making and ending of context records: for the files of this room only.
 */
#ifndef CX_CONTEXT_RECORD_H
#define CX_CONTEXT_RECORD_H

#include "context/context.h"

/* "contexts": which records there are, and who ends what. Order: "contexts", "device", sections,
 * "threads", "context", "pool". */
extern pthread_mutex_t cx_contexts_lock;

/* Takes and gives back the lock. Drivers are called under it, so the thread is not cancelled
 * meanwhile. */
int cx_contexts_begin(void);
void cx_contexts_end(int cancel);

/* A new record, not yet published. */
ctxrt_status cx_record_take(cx_driver *driver, cx_device *device, CUcontext native,
                            cx_context_kind kind, cx_context **out_context);

/* Asks the driver for the context's id anew. */
void cx_record_identify(cx_context *context);

/* Makes the record of a live context stale, and waits for its pins; or says what still refers to
 * it, and it was live all the time. Lock held, and that of the device of a primary context. */
ctxrt_status cx_record_retire(cx_context *context, int holds_allowed);

/* What is kept in the context goes, with the driver; without it if the context is lost. On failure
 * nothing has changed. */
ctxrt_status cx_record_close(cx_context *context, bool *out_lost);

/* What is kept in a retired context goes, and the record. The last error stays. */
void cx_record_end(cx_context *context);

/* The driver refused to end a retired context: its handle is live again. What was kept in it is
 * made again when it is needed. */
void cx_record_restore(cx_context *context);

/* The same for a context that is lost. */
void cx_record_abandon(cx_context *context);

/* After a reset: what the driver has destroyed in the context goes. */
void cx_record_forget(cx_context *context);

/* The handles of operator libraries go, before anything else of the context; their libraries are
 * told if the context is current. */
void cx_record_close_handles(cx_context *context, bool current);

#endif
