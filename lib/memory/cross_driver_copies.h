/*
 * Cross-driver copies use memory without one of the drivers knowing. The room lib/copy keeps these
 * copies; this room waits for them before it frees memory, by functions that lib/copy installs
 * once.
 */
#ifndef CX_MEMORY_CROSS_DRIVER_COPIES_H
#define CX_MEMORY_CROSS_DRIVER_COPIES_H

#include "work/stream.h"

typedef struct cx_cross_copies_calls {
    /* Waits for the copies that touch these bytes, except those of the stream `behind` (may be
     * NULL), in whose order the bytes are freed. */
    void (*leave)(const void *start, size_t size_bytes, const cx_stream_target *behind);
    /* Queries a copy, named by its handle: CXU_NOT_READY if it is not done and `wait` is false. */
    cxu_result (*ask)(const void *handle, bool wait);
    bool (*is_over)(const void *handle);
    /* Frees pinned memory of the context that no copy uses; returns the bytes. */
    uint64_t (*trim)(const cx_context *context);
} cx_cross_copies_calls;

/* Copies in progress, some of which may be over. Not 0 only after cx_cross_copies_install. */
extern _Atomic size_t cx_cross_copies_count;

/* Called before the first copy is counted; `calls` is static. */
void cx_cross_copies_install(const cx_cross_copies_calls *calls);

cxu_result cx_cross_copies_ask(const void *handle, bool wait);
bool cx_cross_copies_is_over(const void *handle);
uint64_t cx_cross_copies_trim(const cx_context *context);
void cx_cross_copies_leave_slowly(const void *start, size_t size_bytes,
                                  const cx_stream_target *behind);

/* Called before memory is freed that no caching allocator keeps. */
static inline void cx_cross_copies_leave(const void *start, size_t size_bytes,
                                         const cx_stream_target *behind)
{
    if (__builtin_expect(atomic_load(&cx_cross_copies_count) != 0, 0))
        cx_cross_copies_leave_slowly(start, size_bytes, behind);
}

#endif
