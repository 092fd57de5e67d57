/*
 * Blocks of memory that a crowd allocates, fills, looks at and frees.
 */
#ifndef CX_TEST_BLOCKS_H
#define CX_TEST_BLOCKS_H

#include "crowd.h"

typedef struct block {
    uint32_t name;
    ctxrt_memory *memory; /* NULL: a raw pointer */
    void *pointer;
    size_t size;
    unsigned char value;
    int place;
    struct lane *lane;
    unsigned life; /* of the lane's stream that it is of */
} block;

/* Allocates a block of the lane, whose lock is held, and fills it. The place is current, and the
 * lane's stream that of the frame. NULL: memory ran out. */
block *block_make(member *self, struct lane *at);

/* Takes one out of those of a place, or NULL. Puts one or NULL there: what was in its place. */
block *block_take(member *self, int place);
block *block_put(member *self, int place, block *one);

/* Looks at it and frees it, on any thread, whatever is current. NULL: nothing to free. */
void block_free(member *self, block *one);

/* Frees it without a look. */
void block_drop(member *self, block *one);

#endif
