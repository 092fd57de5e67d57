/*
 * Counted memory objects behind handles.
 */
#ifndef CX_MEMORY_MEMORY_H
#define CX_MEMORY_MEMORY_H

#include "memory/block.h"
#include "memory/stream_uses.h"
#include <ctxrt/memory.h>

typedef struct cx_memory cx_memory;

/* Frees an object's memory with its last count. The memory is gone even if this fails. */
typedef ctxrt_status (*cx_memory_free)(cx_memory *memory);

struct cx_memory {
    /* generation of the handle << 32 | count: a stale handle counts nothing */
    _Atomic uint64_t state;
    _Atomic(void *) pointer; /* atomic: ctxrt_memory_pointer reads it without taking a count */
    ctxrt_device device;
    ctxrt_memory_kind kind;
    bool pinned;
    /* its context is NULL for host and wrapped memory; its allocator is set for device memory
     * only */
    cx_block block;
    cx_stream_uses uses;
    cx_memory_free free;
    void *allocated;                                 /* host memory: the argument of free() */
    void (*deleter)(void *pointer, void *user_data); /* wrapped memory */
    void *user_data;
    size_t mapped_bytes; /* memory of another process that is mapped here: all of the mapping */
};

extern cx_pool cx_memories;

/* Publishes an object with one count. CTXRT_ERROR_OUT_OF_MEMORY: nothing of the model was freed. */
ctxrt_status cx_memory_make(const cx_memory *model, void *pointer, ctxrt_memory **out_memory);

/* Makes an object of the model's kind of a block that was just allocated; on failure the block is
 * freed. */
ctxrt_status cx_memory_make_of_block(cx_memory *model, ctxrt_memory **out_memory);

/* Takes a count of a block that was found by its address; NULL: it is gone. */
ctxrt_memory *cx_memory_take_cached(uint32_t cached, uint32_t generation);

/* cx_stream_uses_record_there, for memory that the caller has a count of. */
ctxrt_status cx_memory_use(const ctxrt_memory *handle, const cx_stream_target *stream);

/* Gives that count back. Its errors were already reported by the work that caused them. */
void cx_memory_give(ctxrt_memory *handle);

/* Records that a cross-driver copy uses a block, in the order of a stream of `context`:
 * cross_driver_copies.h. */
ctxrt_status cx_memory_cross(uint32_t cached, cx_context *context, void *cross_copy);

/* Frees host memory from calloc. */
ctxrt_status cx_memory_free_host(cx_memory *memory);

/* Zeroed host memory at a multiple of 64; *out_allocated is for free(). */
ctxrt_status cx_memory_calloc(size_t size_bytes, void **out_pointer, void **out_allocated);

/* Enters for host memory, which needs no driver: does not start the runtime, but refuses calls of a
 * forked child and of an ending process. */
ctxrt_status cx_memory_enter(void);

#endif
