/*
 * A context's resources for cross-driver copies and for copies that run in another context than the
 * stream's: pinned memory for staging, and a stream. Made when first needed; they go with the
 * context.
 */
#ifndef CX_COPY_STAGING_H
#define CX_COPY_STAGING_H

#include "base/lock.h"
#include "work/stream.h"

/* A copy goes through the pinned memory in parts of at most this size. */
#define CX_STAGING_BYTES ((size_t)1 << 20)

/* The lock "cross-driver copies": of these resources, and of the copies under way. No driver call
 * is made under it. */
extern cx_lock cx_cross_copies_lock;

/*
 * Pinned memory of CX_STAGING_BYTES, or a context's stream for copies. A copy takes the memory,
 * submits work with it to one stream, and gives it back behind that work. The next copy gets it in
 * the order of the same stream, or when that work is done. So no stream ever waits for another
 * one's copy.
 */
typedef struct cx_staging {
    const cx_context *context;
    uint32_t epoch;
    CUstream native;       /* for copies only; NULL: this is pinned memory */
    unsigned char *pinned;
    CUevent used;               /* behind the work that used it last */
    const ctxrt_stream *stream; /* of that work: a handle, as in stream_uses.h */
    bool taken;                 /* it stays in the list; true of a stream */
    struct cx_staging *next;
} cx_staging;

/* Takes memory for work of `stream`, which waits for the memory's last use. The stream's context is
 * current at its driver, and captures are relaxed. */
ctxrt_status cx_staging_take(const cx_stream_target *target, const ctxrt_stream *stream,
                             cx_staging **out_staging);

/* Gives it back behind the stream's submitted work. After an error the copy no longer has it. */
ctxrt_status cx_staging_give(cx_staging *staging, const cx_stream_target *target);

/* Finds or makes the context's stream for copies only, unordered with all others. The context is
 * current at its driver. Behind cx_cross_copy_watch_contexts, which has the stream closed. */
ctxrt_status cx_staging_stream(const cx_context *context, CUstream *out_stream);

/* Frees memory that no copy uses; returns its bytes. Any context may be current. */
uint64_t cx_staging_trim(const cx_context *context);

/* The context ends, and no copy uses it any more. `native`: it is current at its driver; else it is
 * gone with everything in it. */
void cx_staging_end(const cx_context *context, bool native);

#endif
