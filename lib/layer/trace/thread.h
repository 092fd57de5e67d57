/*
 * Threads: each one's place in its chunk, and its stack of contexts as far as its calls tell. Only
 * the thread itself uses its record; no lock is taken.
 */
#ifndef CX_LAYER_TRACE_THREAD_H
#define CX_LAYER_TRACE_THREAD_H

#include "driver/table.h"
#include "layer/trace/format.h"

#include <stdbool.h>

enum { CX_TRACE_LEFT = 4, CX_TRACE_MODULES = 4 };

typedef struct cx_trace_range {
    uintptr_t begin, bytes;
} cx_trace_range;

typedef struct cx_trace_thread {
    cx_trace_chunk *chunk; /* NULL: none yet */
    unsigned char *next, *end;
    cx_trace_call *innermost; /* of the calls under way */
    cx_trace_chunk *left[CX_TRACE_LEFT]; /* full ones that may have records of calls under way */
    unsigned left_count;
    cx_trace_api *api;        /* the call of the Runtime API that has a record; NULL: none */
    uint64_t api_start;       /* of the one that the thread is in */
    unsigned lost_calls;      /* within that one, that have no record */
    uint32_t number, chunks;
    uint64_t calls;
    cx_trace_range module;                    /* of the last caller */
    cx_trace_range modules[CX_TRACE_MODULES]; /* of which there are records, in turn */
    unsigned module_turn;
    bool knows_stack;
    unsigned depth, capacity; /* of the stack */
    uint64_t *stack;          /* handles */
    struct cx_trace_timed *timed; /* the work of the call under way, where events time it */
} cx_trace_thread;

/* The calling thread's; NULL: no memory. */
cx_trace_thread *cx_trace_thread_self(void);

/* Room for a record; NULL: there is none in the file. `bytes` is a multiple of 8. */
cx_trace_record *cx_trace_take_slowly(cx_trace_thread *self, unsigned bytes);
static inline cx_trace_record *cx_trace_take(cx_trace_thread *self, unsigned bytes)
{
    if (__builtin_expect((size_t)(self->end - self->next) < bytes, 0))
        return cx_trace_take_slowly(self, bytes);
    cx_trace_record *record = (cx_trace_record *)(void *)self->next;
    self->next += bytes;
    return record;
}

/* True if a record of the thread is still to be completed. */
static inline bool cx_trace_is_inside(const cx_trace_thread *self)
{
    return self->innermost != NULL || self->api != NULL;
}

/* The mappings of full chunks end, unless a call is under way. */
void cx_trace_leave_slowly(cx_trace_thread *self);
static inline void cx_trace_leave(cx_trace_thread *self)
{
    if (__builtin_expect(self->left_count > 0, 0) && !cx_trace_is_inside(self))
        cx_trace_leave_slowly(self);
}

/* The records that were taken are readable. */
static inline void cx_trace_publish(cx_trace_thread *self)
{
    unsigned used = (unsigned)(self->next - (unsigned char *)(self->chunk + 1));
    atomic_store_explicit(&self->chunk->used, used, memory_order_release);
}

/* Called when the layer is put. */
void cx_trace_threads_begin(void);

/* ---- modules ---- */

/* Records the module that a caller lies in, unless it was the thread's before. */
void cx_trace_module_note(cx_trace_thread *self, uintptr_t caller);
static inline void cx_trace_module_see(cx_trace_thread *self, const void *caller)
{
    if (__builtin_expect((uintptr_t)caller - self->module.begin >= self->module.bytes, 0))
        cx_trace_module_note(self, (uintptr_t)caller);
}

/* ---- stacks ---- */

static inline uint64_t cx_trace_current(const cx_trace_thread *self)
{
    return self->depth > 0 ? self->stack[self->depth - 1] : 0;
}

/* The calls that came before the layer are unknown: asks the driver once. */
void cx_trace_stack_begin(cx_trace_thread *self, const cx_driver_table *driver);

/* True if a call may change the stack; then follows it, once it has succeeded. */
bool cx_trace_changes_stack(cx_slot slot);
void cx_trace_stack_follow(cx_trace_thread *self, cx_slot slot, const void *arguments,
                           const cx_driver_table *driver);

#endif
