/*
 * What copies between two drivers, and those that another context must do than the stream's, need
 * of a context: pinned memory that they are staged through, and a stream of their own. Made when
 * first needed; goes with the context.
 */
#ifndef CX_COPY_STAGING_H
#define CX_COPY_STAGING_H

#include "work/stream.h"

/* A copy goes through the pinned memory in pieces of at most so much. */
#define CX_STAGING_BYTES ((size_t)1 << 20)

/*
 * Pinned memory of CX_STAGING_BYTES. Whoever has taken it gives it work in one stream, behind which
 * it is given back: the next one has it in the order of that stream, or when that work is done. So
 * no stream ever waits for another one's copy.
 */
typedef struct cx_staging {
    unsigned char *pinned;
    const cx_context *context;
    uint32_t epoch;
    const ctxrt_stream *stream; /* whose work used it last: a handle, as in use.h */
    CUevent used;               /* behind that work */
    bool taken;                 /* lock "staging" */
    struct cx_staging *next;    /* lock "staging"; who has taken it keeps it in the list */
} cx_staging;

/* Takes memory for work of `stream`, which waits for what used it last. The stream's context is
 * current at its driver, whose captures are put off. */
ctxrt_status cx_staging_take(const cx_stream_target *target, const ctxrt_stream *stream,
                             cx_staging **out_staging);

/* Gives it back behind the work that the stream was given. After an error nobody has it any more.
 */
ctxrt_status cx_staging_give(cx_staging *staging, const cx_stream_target *target);

/* A stream for copies only, with no order towards any other. The context is current at its driver.
 */
ctxrt_status cx_staging_stream(const cx_context *context, CUstream *out_stream);

/* Gives back what no copy uses: the bytes of it. Whatever is current. */
uint64_t cx_staging_trim(const cx_context *context);

/* The context ends: it is current at its driver; or it is gone with all that was in it. No copy
 * uses it any more. */
void cx_staging_close(const cx_context *context);
void cx_staging_forget(const cx_context *context);

#endif
