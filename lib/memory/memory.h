/*
 * Counted memory objects behind handles.
 */
#ifndef CX_MEMORY_MEMORY_H
#define CX_MEMORY_MEMORY_H

#include "memory/block.h"
#include "memory/use.h"
#include <ctxrt/memory.h>

typedef struct cx_memory cx_memory;

/* How an object's memory goes with its last count. The memory is gone even if this fails. */
typedef ctxrt_status (*cx_memory_free)(cx_memory *memory);

struct cx_memory {
    /* generation of the handle << 32 | count: a stale handle counts nothing */
    _Atomic uint64_t state;
    _Atomic(void *) pointer;  /* atomic: ctxrt_memory_pointer looks without taking a count */
    ctxrt_device device;
    ctxrt_memory_kind kind;
    bool pinned;
    /* its context is NULL for host and wrapped memory; its allocator is for device memory only */
    cx_block block;
    cx_use_list uses;
    cx_memory_free free;
    void *allocated;          /* host memory: what to give to free() */
    void (*deleter)(void *pointer, void *user_data); /* wrapped memory */
    void *user_data;
};

extern cx_pool cx_memories;

/* Publishes an object with one count. On failure (CTXRT_ERROR_OUT_OF_MEMORY) nothing of the model
 * was freed. */
ctxrt_status cx_memory_make(const cx_memory *model, void *pointer, ctxrt_memory **out_memory);

/* Makes an object of a block that was just allocated, of the model's kind; on failure the block is
 * freed. */
ctxrt_status cx_memory_make_of_block(cx_memory *model, ctxrt_memory **out_memory);

/* A piece that was found by its address, with a count; NULL: it is gone. */
ctxrt_memory *cx_memory_take_piece(uint32_t piece, uint32_t generation);

/* Of memory that the caller has a count of: as cx_use_record_there. */
ctxrt_status cx_memory_use(const ctxrt_memory *handle, const cx_stream_target *stream);

/* Gives that count back. What it reports was reported by the work that caused it. */
void cx_memory_give(ctxrt_memory *handle);

/* Says that a copy between two drivers uses a piece, in the order of a stream of `context`:
 * across.h. */
ctxrt_status cx_memory_cross(uint32_t piece, cx_context *context, void *cross_copy);

/* Frees host memory that calloc gave. */
ctxrt_status cx_memory_free_host(cx_memory *memory);

/* Zeroed host memory at a multiple of 64; *out_allocated is for free(). */
ctxrt_status cx_memory_calloc(size_t size_bytes, void **out_pointer, void **out_allocated);

/* Host memory needs no driver: the runtime is not started for it, but calls of a forked child and
 * of an ending process are refused. */
ctxrt_status cx_memory_enter(void);

#endif
