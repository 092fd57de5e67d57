/*
 * The hook of the room that diagnoses allocators, lib/diagnose: debug mode, traces, origins and
 * reports. This room calls it where an allocator begins and ends, and where a watched one hands out
 * a block or gets it back; it knows nothing else of that room, which defines the hook.
 */
#ifndef CX_MEMORY_DIAGNOSIS_H
#define CX_MEMORY_DIAGNOSIS_H

#include "memory/block.h"

struct cx_pointer_block;

typedef struct cx_diagnosis {
    /* A new allocator, which has no cache yet unless it is of pinned memory. May set its `front`
     * and `watched`. */
    ctxrt_status (*begins)(cx_allocator *allocator);
    /* An allocator without live memory ends, and no other thread looks at it. In debug mode that
     * closes its cache. `native`: the context still exists. */
    void (*ends)(cx_allocator *allocator, bool native);
    /* Of a watched allocator: a block was handed out, or is about to be freed. In the order of
     * these calls each address is free when it is allocated. */
    void (*allocated)(cx_allocator *allocator, const cx_block *block);
    void (*freeing)(cx_allocator *allocator, const cx_block *block);
    /* Narrows a cache's block to the part that its user has, or marks it as freed. */
    void (*narrow)(const void *pointer, struct cx_pointer_block *block);
    /* "file:line" where a cache's live block was allocated; "": unknown. */
    void (*origin_text)(uint32_t cached, char *text, size_t size);
    /* With no lock held: reports the memory that is left. */
    void (*shutdown_is_refused)(void);
} cx_diagnosis;

extern const cx_diagnosis cx_diagnosis_hook;

/* True once any allocator was in debug mode: `narrow` must be asked. */
extern _Atomic bool cx_diagnosis_narrows;

#endif
