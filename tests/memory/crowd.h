/*
 * A crowd of threads that use the allocators of some devices at random, and what they share: lanes,
 * which are streams that may be replaced at any time, blocks of memory, recorded graphs.
 *
 * No thread asserts: what is wrong is noted, and the test looks when the threads have ended.
 */
#ifndef CX_TEST_CROWD_H
#define CX_TEST_CROWD_H

#include "shadow.h"

#include <ctxrt/ctxrt.h>
#include <pthread.h>
#include <stdatomic.h>

enum {
    PLACES = 3, /* two GPUs and the CPU */
    LANES = 5,  /* of each place */
    ALLOCATORS = 3, /* of each place, besides the default one */
    BLOCKS = 48,
    RECORDED = 4,
    THREADS_MAX = 8,
    GPU_MIB = 32,
    BLOCK_BYTES_MAX = 4 << 20,
    LARGE_GPU_MIB = 11 << 8, /* more takes more mappings than a process has under ThreadSanitizer */
    LARGE_UNIT_BITS = 18,    /* of sizes there */
    ROWS_APART = 8 << 20
};

/* ---- crowd.c ---- */

typedef struct crowd {
    ctxrt_device places[PLACES];
    struct lane *lanes[PLACES];
    ctxrt_allocator *allocators[PLACES][ALLOCATORS];
    _Atomic(struct block *) blocks[PLACES][BLOCKS]; /* whoever takes one out has it */
    _Atomic(struct recorded *) recorded[RECORDED];
    _Atomic uint32_t names;   /* of owners in the shadow */
    /* what happened, so that a test that did nothing shows */
    atomic_long served, refused, checks, launches;
    atomic_int wrong;
    char first_wrong[512];
    pthread_mutex_t telling;
    uint64_t seed;
    bool faults; /* calls of the driver fail now and then */
    bool large;  /* three large GPUs, and no graphs */
} crowd;

typedef struct member {
    crowd *all;
    int number;
    uint64_t random;
    int place; /* -1: nothing is current */
    int steps;
} member;

/* Notes that something is wrong. */
void crowd_tell(crowd *all, const char *what, ...) __attribute__((format(printf, 2, 3)));

/* Notes it unless the call succeeded, or could not because a driver call was made to fail. True: it
 * succeeded. */
bool crowd_expect(crowd *all, ctxrt_status status, const char *call);
#define EXPECT(all, call) crowd_expect(all, call, #call)

uint32_t crowd_name(crowd *all);

/* What of a block is filled and looked at: all of it, or where blocks are large what is at certain
 * addresses, so that any two blocks that have the same memory have some of these in common. */
typedef struct rows {
    char *first;
    size_t width, count; /* ROWS_APART */
} rows;

rows rows_of(const crowd *all, const void *memory, size_t size);

/* From 0 to `below` - 1. */
uint64_t pick(member *self, uint64_t below);

/* ---- blocks.c ---- */

/* Frees some block of the member's place while it records. */
void member_free_into(member *self, struct recorded *graph);

/* ---- lane.c ---- */

typedef struct lane {
    /* held for writing while the stream is replaced, for reading while it is used */
    pthread_rwlock_t lock;
    pthread_mutex_t order;   /* held for what must stand in the stream without a gap */
    int place;
    unsigned life;           /* how often the stream was replaced */
    ctxrt_stream *stream;
    ctxrt_stream *wrapped;   /* not NULL: `stream` is a handle for this one's native stream */
    ctxrt_event *event;      /* of the place; recorded with `order` held */
    ctxrt_memory *landing;   /* pinned: where checks copy to */
    unsigned char *landed;
} lane;

/* The place is current. */
bool lane_open(crowd *all, lane *self, int place);
void lane_close(crowd *all, lane *self);

/* Replaces the stream, unless some thread's frame has it. The place is current. */
void lane_replace(member *who, lane *self);

/* Submits a look at memory that must be filled with this value when the lane comes to it. The
 * lane's lock is held. */
void lane_check(crowd *all, lane *self, const void *memory, size_t size, unsigned char value);

/* Lets `behind` wait for what is in `before`. Both locks are held; either place is current. */
bool lane_order(crowd *all, lane *before, lane *behind);

/* ---- recorded.c ---- */

/* A graph that was recorded, and the memory that is its own. */
typedef struct recorded {
    uint32_t name;
    int place;
    ctxrt_graph *graph;
    ctxrt_memory *landing;
    unsigned char value;
    crowd *all;
    void *scratch[2];
    size_t size;
    struct {
        uintptr_t address;
        size_t size;
    } ranges[8];
    int range_count;
} recorded;

/* Records a graph that fills, copies and checks memory of its own. The place is current. NULL:
 * memory ran out. */
recorded *record(member *self);

/* Notes that memory is the graph's from now on. */
void recorded_has(recorded *self, const void *address, size_t size);

/* Gives its memory back. On any thread. */
void recorded_release(crowd *all, recorded *self);

/* ---- captured.c ---- */

/* Captures a lane's stream for a while, in which blocks of it are freed and others are
 * allocated. The place is current. */
void capture_for_a_while(member *self);

#endif
