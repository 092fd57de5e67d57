/*
 * The nodes of fits (fit.h): each stands for a range. Fits take and give them back in chunks.
 */
#ifndef CX_ALLOC_FIT_STORE_H
#define CX_ALLOC_FIT_STORE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef enum cx_fit_state {
    CX_FIT_UNUSED, /* stands for no range */
    CX_FIT_FREE,
    CX_FIT_TAKEN,
    CX_FIT_GONE /* was taken when its segment was abandoned */
} cx_fit_state;

/* A range, named by an index that is never 0. */
typedef struct cx_fit_node {
    uint32_t offset_units; /* in its segment */
    uint32_t units;
    uint32_t before, after;  /* the neighbours in the segment; 0: none */
    uint32_t next, previous; /* in the list of a free range */
    uint32_t owner;
    uint16_t segment; /* as given to cx_fit_add */
    uint8_t state;    /* cx_fit_state */
    uint8_t tag;      /* the user's, of a taken range; 0 when it is taken */
} cx_fit_node;

_Static_assert(sizeof(cx_fit_node) == 32,
               "two nodes with what stands behind them share no cache line");

#define CX_FIT_CHUNK_BITS 10
#define CX_FIT_CHUNK_NODES (1u << CX_FIT_CHUNK_BITS)
#define CX_FIT_CHUNKS_MAX (1u << 14) /* so at most 2^24 nodes */

/*
 * A store of nodes. Several fits take chunks from it on several threads at once. Chunks are zeroed
 * when new and never move, so the user's part of a node may be read at any time, without a lock. A
 * zeroed store with a stride is ready. The lock "fit store" guards the fields below the stride, so
 * that a store never has more chunks than its fits have held at one time.
 */
typedef struct cx_fit_store {
    /* from node to node, at least sizeof(cx_fit_node); the rest is the user's */
    size_t stride;
    uint32_t used;                             /* number of existing chunks */
    uint32_t returned;                         /* number + 1 of the first unused chunk; 0: none */
    uint32_t next_returned[CX_FIT_CHUNKS_MAX]; /* the same, behind each unused chunk */
    _Atomic(unsigned char *) chunks[CX_FIT_CHUNKS_MAX]; /* a reader takes no lock */
} cx_fit_store;

/* Takes a chunk for the caller and returns its number; CX_FIT_CHUNKS_MAX: out of memory. */
uint32_t cx_fit_store_take(cx_fit_store *store);

/* Gives back a chunk of unused nodes. */
void cx_fit_store_give(cx_fit_store *store, uint32_t number);

/* The node of an index that a fit gave out, now or earlier. */
static inline void *cx_fit_at(cx_fit_store *store, uint32_t index)
{
    unsigned char *chunk =
        atomic_load_explicit(&store->chunks[index >> CX_FIT_CHUNK_BITS], memory_order_acquire);
    return chunk + (index & (CX_FIT_CHUNK_NODES - 1)) * store->stride;
}

#endif
