/*
 * Cross-driver copies in progress: in the order of a stream of one driver, host functions touch
 * memory of the other one, which knows nothing of that. So memory waits for them before it is
 * freed: memory/cross_driver_copies.h.
 */
#ifndef CX_COPY_CROSS_COPY_H
#define CX_COPY_CROSS_COPY_H

#include "copy/copy.h"
#include "copy/staging.h"

/* Memory that the host functions touch. */
typedef struct cx_cross_copy_end {
    cx_context *context;
    uintptr_t start;
    size_t size_bytes; /* 0: the stream's driver knows of its use */
} cx_cross_copy_end;

typedef struct cx_cross_copy cx_cross_copy;

/* Does the next part. Called in the order of the stream, by a thread of its driver that must not
 * call that driver. */
typedef ctxrt_status cx_cross_copy_part(const cx_cross_copy *cross_copy);

struct cx_cross_copy {
    const char *call;
    cx_copy_plan plan;
    cx_copy_box box;
    cx_stream_target target; /* the stream of the copy */
    uint32_t epoch;
    cx_cross_copy_end ends[2];
    unsigned char *pinned;  /* from cx_staging; NULL: the other driver copies by itself */
    cx_stream_target inner; /* the other driver's stream for that */
    cx_cross_copy_part *part;
    size_t next, count; /* parts */
    /* The rest belongs to cross_copy.c; lock "cross-driver copies". */
    CUevent done;
    bool submitted, running, over;
    int watchers;
    cx_cross_copy *later;
};

/* Called before anything is kept in a context: from then on this room hears of ends of contexts. */
void cx_cross_copy_watch_contexts(void);

/* Begins a copy like `model`. The stream's context is current at its driver, and captures are
 * relaxed. *out_handle names the copy for good, as in base/pool.h. Memory of its ends that a
 * caching allocator gave out is in use from now on. */
ctxrt_status cx_cross_copy_begin(const cx_cross_copy *model, cx_cross_copy **out_copy,
                                 void **out_handle);

/* Submits a host function to the stream that does the next part. */
ctxrt_status cx_cross_copy_submit(const cx_cross_copy *cross_copy, void *handle);

/* Ends the submission, with its result. After an error the copy is over: no further part is
 * done. */
ctxrt_status cx_cross_copy_end_submission(cx_cross_copy *cross_copy, ctxrt_status status);

#endif
