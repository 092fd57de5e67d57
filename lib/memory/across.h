/*
 * Copies between two drivers use memory that one of the drivers does not know to be in use. The
 * room lib/copy keeps these copies; this room waits for them before memory goes. lib/copy says once
 * how.
 */
#ifndef CX_MEMORY_ACROSS_H
#define CX_MEMORY_ACROSS_H

#include "work/stream.h"

typedef struct cx_across_calls {
    /* Waits for the copies that touch these bytes, but for those of the stream `behind` (may be
     * NULL), in whose order the bytes are freed. */
    void (*leave)(const void *start, size_t size_bytes, const cx_stream_target *behind);
    /* Whether a copy, named by its handle, is done: CXU_NOT_READY if not, and not `wait`. */
    cxu_result (*ask)(const void *handle, bool wait);
    bool (*is_over)(const void *handle);
    /* Gives back pinned memory of the context that no copy uses: the bytes. */
    uint64_t (*trim)(const cx_context *context);
} cx_across_calls;

/* Copies under way, some of which may be over. Not 0 only after cx_across_install. */
extern _Atomic size_t cx_across_count;

/* Before the first copy is counted; `calls` stay. */
void cx_across_install(const cx_across_calls *calls);

cxu_result cx_across_ask(const void *handle, bool wait);
bool cx_across_is_over(const void *handle);
uint64_t cx_across_trim(const cx_context *context);
void cx_across_leave_slowly(const void *start, size_t size_bytes, const cx_stream_target *behind);

/* Before memory that no caching allocator keeps is freed. */
static inline void cx_across_leave(const void *start, size_t size_bytes,
                                   const cx_stream_target *behind)
{
    if (__builtin_expect(atomic_load(&cx_across_count) != 0, 0))
        cx_across_leave_slowly(start, size_bytes, behind);
}

#endif
