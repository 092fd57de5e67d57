/* One object of each kind that a context can have, and what can be done to all of them. */
#ifndef CX_TEST_OBJECT_H
#define CX_TEST_OBJECT_H

#include <ctxrt/ctxrt.h>

enum { OBJECT_BYTES = 8192 };

typedef struct object {
    ctxrt_context *context; /* the one that it is of */
    ctxrt_device device;
    ctxrt_stream *stream;
    ctxrt_event *event;
    ctxrt_memory *memory;
    void *pointer;
    ctxrt_allocator *allocator;
    ctxrt_graph *graph;
    ctxrt_module *module;
    ctxrt_kernel *kernel;
    ctxrt_detached_frame *detached;
    ctxrt_scope scope;
    ctxrt_context *hold;
} object;

typedef struct object_kind {
    const char *noun;
    /* With the context current in the top frame. */
    ctxrt_status (*make)(object *self);
    /* With nothing current, but for frames. NULL: there is nothing to be done with it. */
    ctxrt_status (*use)(object *self);
    ctxrt_status (*end)(object *self);
    int is_frame; /* it is the calling thread's, and stays on its stack */
} object_kind;

/* Ends with a kind that has no noun. */
extern const object_kind object_kinds[];

#endif
