/*
 * The contents of a snapshot, and its writers. Private to the files of this noun.
 */
#ifndef CX_CONTEXT_SNAPSHOT_H
#define CX_CONTEXT_SNAPSHOT_H

#include "context/thread.h"
#include <stdio.h>

typedef struct cx_thread_shot {
    int number;
    char name[17];
    uint32_t depth;
    cx_frame_view *frames; /* [0] is the bottom */
} cx_thread_shot;

typedef struct cx_detached_shot {
    int number; /* of the thread that detached it */
    cx_frame_view frame;
} cx_detached_shot;

typedef struct cx_context_shot {
    uint64_t id;
    ctxrt_device device;
    cx_context_kind kind;
    const void *native;
    int holds;
    int objects[CX_OBJECT_KINDS];
    uint64_t memory_bytes;
} cx_context_shot;

typedef struct cx_snapshot {
    cx_thread_shot *threads;
    size_t thread_count;
    cx_detached_shot *detached;
    size_t detached_count;
    cx_context_shot *contexts; /* by id */
    size_t context_count;
    int loose_objects; /* host and wrapped memory */
    uint64_t loose_bytes;
} cx_snapshot;

/* Write to memory: a failure is the stream's error. */
void cx_snapshot_text(FILE *file, const cx_snapshot *shot);
void cx_snapshot_json(FILE *file, const cx_snapshot *shot);

#endif
