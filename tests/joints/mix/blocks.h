/* Blocks of memory of every kind, what should be in them, and the shadow: which addresses are
 * live. */
#ifndef CX_JOINTS_BLOCKS_H
#define CX_JOINTS_BLOCKS_H

#include "world.h"

typedef enum source {
    OBJECT,
    RAW,
    IN_ORDER, /* ctxrt_alloc_async */
    MANAGED,
    PINNED,
    HOST,
    WRAPPED,
    REGISTERED,
    SOURCES
} source;

struct block {
    unsigned name;
    source source;
    size_t size;
    void *pointer;
    ctxrt_memory *memory;
    int extra_counts; /* of retain */
    int place;        /* -1: of no context */
    life life;
    thing *allocator;   /* held; NULL: the default one */
    ctxrt_stream *home; /* the stream it was allocated in */
    /* the stream whose work wrote or reads it last; NULL: none is under way */
    ctxrt_stream *order;
    thing *order_thing; /* held; NULL: a default stream */
    life order_life;
    uint64_t seed;
    size_t known; /* bytes from the start that are as the seed says */
    /* Its address may be one of before a reset, and others may still write to what was there: until
     * all operations that are under way began when world.resets was this, nothing is known. */
    unsigned resets;
    bool recorded;
    bool freed;     /* by its user; a graph keeps the memory */
    unsigned keeps; /* a bit for each place whose context it keeps, since a stream was recorded */
    block *next;    /* in the shadow */
};

/* ---- the shadow ---- */

void shadow_add(actor *self, block *one);
void shadow_remove(block *one);
bool shadow_has(const void *pointer, size_t size);
bool shadow_has_raw(int place);
void shadow_clear(void);

/* Whether a custom allocator's slab starts there, which is in no shadow. For a thread alone. */
bool slabs_have(const void *pointer);

/* ---- contents ---- */

void content_make(unsigned char *bytes, uint64_t seed, size_t size);
void content_compare(actor *self, const block *one, const unsigned char *bytes);

/* ---- blocks ---- */

/* A stream to use, held; `stream` is NULL if there is none. */
typedef struct route {
    ctxrt_stream *stream;
    thing *thing;
    life life;
} route;

/* Of a call in a frame whose own stream may be gone. */
unsigned may_of_frame(const frame *top);

route route_pick(actor *self, int place);
route route_current(actor *self);
void route_drop(route *self);

/* The top frame's place is the block's. NULL: there is no memory, or no such kind. */
block *block_make(actor *self, source which);
void block_end(actor *self, block *one);

/* Of a custom allocator: known by its start if it is a raw pointer, and else as its slab. */
static inline bool block_is_in_slab(const block *one)
{
    return one->allocator != NULL && one->allocator->custom;
}

/* Waits until no work on it is under way. */
void block_settle(actor *self, block *one);

/* Has the route's stream wait for the work on it. */
void block_join(actor *self, block *one, const route *by);

/* The route's stream has work on it, which is waited for if the block's life has ended: its address
 * may be another block's by now. */
void block_used(actor *self, block *one, const route *by);

/* ctxrt records the route's stream with pinned memory that a copy in it touches, which keeps the
 * stream's context. */
void block_touched(block *one, const route *by);

/* Work that was given to the current stream by mere addresses of this life is done, if that has
 * ended meanwhile: the addresses may be other blocks' by now. */
void life_settle(actor *self, const life *of);

/* What is in it now; NULL: the work was not in the order of a stream. */
void block_has(actor *self, block *one, uint64_t seed, size_t size, const route *by);

/* Records the route's stream, of any place, with it. */
bool block_record(actor *self, block *one, ctxrt_stream *stream, const life *of);

/* Reads it and compares it with what should be there. */
void block_look(actor *self, block *one);

bool block_is_live(const block *one);
bool block_is_host(const block *one);

/* The failures that a call with its address may give. Another thread may be getting an address of
 * before a reset: then the driver knows it, and not yet ctxrt, and the driver refuses it. */
unsigned block_may_be_stale(const block *one);

/* A block of the pocket; NULL: none. The other way round, ends what was in its place. */
block *pocket_pick(actor *self);
block *pocket_pick_at(actor *self, int place);
void pocket_put(actor *self, block *one);
block *pocket_take(actor *self);

#endif
