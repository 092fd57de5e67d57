/*
 * The nodes of fits (fit.h), each of which stands for a range: in chunks that fits take and give
 * back. No lock.
 */
#ifndef CX_ALLOC_FIT_STORE_H
#define CX_ALLOC_FIT_STORE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef enum cx_fit_state {
    CX_FIT_UNUSED, /* a node that stands for no range */
    CX_FIT_FREE,
    CX_FIT_TAKEN
} cx_fit_state;

/* A range. Named by an index, which is never 0. */
typedef struct cx_fit_node {
    uint32_t offset_units; /* in its segment */
    uint32_t units;
    uint32_t before, after;  /* the neighbours in the segment; 0: none */
    uint32_t next, previous; /* in the list of a free range */
    uint32_t owner;
    uint16_t segment; /* whatever cx_fit_add was told */
    uint8_t state;    /* cx_fit_state */
    uint8_t tag;      /* the user's, of a taken range; 0 when it is taken */
} cx_fit_node;

_Static_assert(sizeof(cx_fit_node) == 32,
               "two nodes with what stands behind them share no cache line");

#define CX_FIT_CHUNK_BITS 10
#define CX_FIT_CHUNK_NODES (1u << CX_FIT_CHUNK_BITS)
#define CX_FIT_CHUNKS_MAX (1u << 14) /* so at most 2^24 nodes */

/* Where fits take their nodes from, a chunk at a time, several fits on several threads at once.
 * Chunks are zeroed when they are new and stay where they are for good, so that what the user keeps
 * behind a node may be looked at whatever becomes of it. Zeroed but for the stride it is ready. */
typedef struct cx_fit_store {
    /* from node to node, at least sizeof(cx_fit_node); what is behind the node is the user's */
    size_t stride;
    _Atomic uint32_t used;     /* chunks that there are */
    _Atomic uint32_t returned; /* number + 1 of a chunk that no fit has any more; 0: none */
    uint32_t next_returned[CX_FIT_CHUNKS_MAX];
    _Atomic(unsigned char *) chunks[CX_FIT_CHUNKS_MAX];
} cx_fit_store;

/* The number of a chunk that is the caller's from now on; CX_FIT_CHUNKS_MAX: no memory for one. */
uint32_t cx_fit_store_take(cx_fit_store *store);

/* Gives a chunk back, whose nodes stand for nothing any more. */
void cx_fit_store_give(cx_fit_store *store, uint32_t number);

/* Of an index that a fit gave out, now or earlier. */
static inline void *cx_fit_at(cx_fit_store *store, uint32_t index)
{
    unsigned char *chunk =
        atomic_load_explicit(&store->chunks[index >> CX_FIT_CHUNK_BITS], memory_order_acquire);
    return chunk + (index & (CX_FIT_CHUNK_NODES - 1)) * store->stride;
}

#endif
