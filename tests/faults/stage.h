/*
 * A thread in the middle of its work: frames three deep, objects of the current context and of
 * another one. What it is like can be pictured and compared, whatever the driver does meanwhile.
 */
#ifndef CX_TEST_STAGE_H
#define CX_TEST_STAGE_H

#include "faults.h"
#include "fixture.h"

#include <stdbool.h>

enum { HERE, THERE, PLACES };
enum {
    HERE_DEVICE = 2,
    THERE_DEVICE = 3,
    UNUSED_DEVICE = 4,
    STAGE_DEVICES = 5,
    STAGE_ENTRIES = 16,
    BYTES = 4096
};

typedef enum stage_top {
    STAGE_PUSH,
    STAGE_SET,
    STAGE_SCOPE,
    STAGE_FOREIGN,
    STAGE_NONE,
    STAGE_TOPS
} stage_top;

/* One of everything; on leaving the stage whatever is not NULL is released. */
typedef struct stage_objects {
    ctxrt_stream *stream;
    ctxrt_event *event, *later_event;
    ctxrt_memory *memory;
    ctxrt_allocator *allocator;
    void *raw;
    void *raw_async;
    ctxrt_graph *graph;
    ctxrt_plan *plan, *committed;
    ctxrt_module *module;
    ctxrt_kernel *kernel; /* next(out) */
} stage_objects;

typedef struct stage {
    stage_top top;
    stage_objects objects[PLACES];
    ctxrt_context *created;      /* on THERE_DEVICE */
    ctxrt_context *held;         /* the primary of THERE_DEVICE */
    ctxrt_memory *pinned;
    ctxrt_allocator *guarded; /* pinned memory of THERE_DEVICE; some is in quarantine */
    ctxrt_detached_frame *detached;
    ctxrt_scope around;          /* of stage_enter_within, around all frames */
    ctxrt_scope scope;           /* open where it is the top */
    bool registered;             /* `host` */
    unsigned char host[BYTES];
    unsigned char more[BYTES];   /* not registered */
    struct CUctx_st *native;     /* made by other code, on THERE_DEVICE */

    /* What the operation made. */
    struct {
        ctxrt_stream *stream;
        ctxrt_event *event;
        ctxrt_memory *memory;
        ctxrt_allocator *allocator;
        ctxrt_graph *graph;
        ctxrt_plan *plan;
        ctxrt_module *module;
        ctxrt_context *created;
        ctxrt_context *held;
        ctxrt_detached_frame *detached;
        void *raw;
        ctxrt_scope scope;
        bool registered;
        bool shut_down;
        void *other; /* anything borrowed, or a plain value that was written */
    } out;
} stage;

void stage_enter(stage *self, stage_top top);

/* The same with a scope around all frames, if there are any. */
void stage_enter_within(stage *self, stage_top top);

/* Undoes everything, and ends the runtime: a leak is an error. */
void stage_leave(stage *self);

/* What must not change when a call fails. */
typedef struct picture {
    size_t depth;
    ctxrt_frame_info frames[STAGE_ENTRIES];
    struct CUctx_st *entries[STAGE_ENTRIES];
    int entry_devices[STAGE_ENTRIES];
    int entry_count;
    size_t free_bytes[STAGE_DEVICES];
} picture;

void picture_take(picture *self);

/* NULL, or in what they differ; `loosely`: as pictures of two stages that the same was done to. */
const char *picture_difference(const picture *before, const picture *after, bool loosely);

const char *stage_top_name(stage_top top);

#endif
