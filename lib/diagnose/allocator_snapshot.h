/*
 * The contents of an allocator's snapshot, and its writers.
 */
#ifndef CX_DIAGNOSE_ALLOCATOR_SNAPSHOT_H
#define CX_DIAGNOSE_ALLOCATOR_SNAPSHOT_H

#include "memory/allocator.h"

typedef enum cx_block_state {
    CX_BLOCK_LIVE,        /* the user has it */
    CX_BLOCK_CACHED,      /* freed, in a magazine */
    CX_BLOCK_QUARANTINED, /* freed, but not used again yet, in debug mode */
    CX_BLOCK_FREE         /* freed, or never allocated */
} cx_block_state;

typedef struct cx_block_shot {
    uintptr_t address;
    uint64_t bytes;       /* occupied bytes */
    uint64_t asked_bytes; /* requested bytes, of a live one */
    cx_block_state state;
    /* the place of its allocation: an address in the caller's code; NULL: unknown */
    const void *place;
} cx_block_shot;

/* A segment: memory that the driver gave in one call. */
typedef struct cx_segment_shot {
    uintptr_t address;
    uint64_t bytes;
} cx_segment_shot;

typedef struct cx_allocator_shot {
    const char *kind; /* "default", "created", "custom" */
    const char *context;
    ctxrt_device device;
    ctxrt_allocator_figures figures;
    cx_segment_shot *segments; /* by address */
    size_t segment_count;
    cx_block_shot *blocks; /* by address; without gaps in a segment */
    size_t block_count;
    bool out_of_memory; /* some contents are missing */
} cx_allocator_shot;

/* Takes a shot of an allocator; give it back with the second call. */
void cx_allocator_shot_take(cx_allocator *allocator, cx_allocator_shot *shot);
void cx_allocator_shot_drop(cx_allocator_shot *shot);

/* Write to memory: a failure is the stream's error. */
void cx_allocator_shot_text(FILE *file, const cx_allocator_shot *shot);
void cx_allocator_shot_json(FILE *file, const cx_allocator_shot *shot);

#endif
