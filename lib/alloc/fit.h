/*
 * Two-level segregated fit over ranges that it never touches: what is free and what is taken is
 * kept in nodes beside the memory. No lock, no driver and no runtime: whoever uses a fit sees to it
 * that one thread does at a time.
 *
 * A fit serves units of 256 bytes out of any number of segments, ranges without gaps that are added
 * and removed. Free ranges that touch are one range, unless different owners freed them: a range
 * belongs to the owner that freed it, a number, until it is moved, and only requests of that owner
 * are served from it; those of owner 0, nobody, serve everyone. A free range of nobody joins a
 * neighbour of an owner's and is then that owner's. Addresses without memory are ranges of
 * CX_FIT_NOWHERE, which join no others. What a fit keeps grows with the highest number in use.
 *
 * Free ranges are kept in lists: 32 for each power of two, so that a list's ranges differ by at
 * most 1/32.
 */
#ifndef CX_ALLOC_FIT_H
#define CX_ALLOC_FIT_H

#include "alloc/fit_store.h"
#include <stdbool.h>

#define CX_FIT_UNIT_BITS 8
#define CX_FIT_UNIT_BYTES ((size_t)1 << CX_FIT_UNIT_BITS)
#define CX_FIT_NOWHERE UINT32_MAX /* owner 0 is nobody */

#define CX_FIT_OCTAVES 32
#define CX_FIT_LISTS 32

/* The free ranges of one owner. */
typedef struct cx_fit_bins {
    uint32_t octaves; /* a bit for each octave with a list that is not empty */
    uint32_t lists[CX_FIT_OCTAVES];
    uint32_t heads[CX_FIT_OCTAVES][CX_FIT_LISTS];
    uint64_t units;
    uint32_t ranges;
} cx_fit_bins;

typedef struct cx_fit {
    cx_fit_store *store;
    /* that it has: number + 1 of the first, linked through their first nodes */
    uint32_t chunks;
    uint32_t spare;       /* nodes that stand for nothing */
    uint32_t owner_limit; /* bins has so many */
    void *user;
    uint64_t units;       /* of all segments */
    uint64_t free_count;  /* ranges that are free */
    cx_fit_bins **bins;   /* of each owner; NULL: it has none */
    cx_fit_bins *nowhere; /* of CX_FIT_NOWHERE */
} cx_fit;

void cx_fit_open(cx_fit *fit, cx_fit_store *store, void *user);

/* The user of the fit that a taken range is of. For stores whose stride leaves room for a
 * pointer. */
static inline void *cx_fit_user(cx_fit_store *store, uint32_t index)
{
    const cx_fit_node *first = cx_fit_at(store, index & ~(CX_FIT_CHUNK_NODES - 1));
    return *(void *const *)(const void *)(first + 1);
}

/* Gives all nodes back. What they stood for is the caller's. */
void cx_fit_close(cx_fit *fit);

/* Units that hold so many bytes; 0 if they are more than a fit can name. */
static inline uint32_t cx_fit_units(size_t bytes)
{
    size_t units = (bytes >> CX_FIT_UNIT_BITS) + ((bytes & (CX_FIT_UNIT_BYTES - 1)) != 0);
    return units <= UINT32_MAX ? (uint32_t)units : 0;
}

/* Adds a segment of so many units, at least 1, all of it free and the owner's. Its first node, or 0
 * if there is no memory for it. */
uint32_t cx_fit_add(cx_fit *fit, uint16_t segment, uint32_t units, uint32_t owner);

/* Removes the segment that a free node is all of. */
void cx_fit_remove(cx_fit *fit, uint32_t index);

/* Whether a free node is all of its segment. */
bool cx_fit_is_whole(const cx_fit *fit, uint32_t index);

/* Takes a range of so many units, at least 1, that is the owner's or nobody's. 0: there is none, or
 * no memory for a node. */
uint32_t cx_fit_take(cx_fit *fit, uint32_t owner, uint32_t units);

/* The owner of nothing at all is forgotten. */
void cx_fit_forget(cx_fit *fit, uint32_t owner);

/* Makes the lists of an owner that may get ranges by cx_fit_merge. False: no memory for them. */
bool cx_fit_expect(cx_fit *fit, uint32_t owner);

/* Takes a part of a free range, and leaves it its owner. 0: no memory for a node; nothing
 * changed. */
uint32_t cx_fit_carve(cx_fit *fit, uint32_t index, uint32_t offset_units, uint32_t units);

/* Makes taken ranges that touch, from the first to the last, one, which is the owner's: the
 * first. */
void cx_fit_merge(cx_fit *fit, uint32_t first, uint32_t last, uint32_t owner);

/* Frees what a taken range has besides a part. The range of the part, or 0 with nothing changed: no
 * memory for a node. */
uint32_t cx_fit_narrow(cx_fit *fit, uint32_t index, uint32_t offset_units, uint32_t units);

/* Frees a taken range for its owner, who may be changed before by cx_fit_transfer. Returns the free
 * node that the range is part of now; its own may be gone. */
uint32_t cx_fit_give(cx_fit *fit, uint32_t index);

/* Makes another owner that of a taken range. False if there is no memory for the owner's lists. */
bool cx_fit_transfer(cx_fit *fit, uint32_t index, uint32_t owner);

/* Makes what one owner has another's, nobody's if that is 0, and joins it with its neighbours;
 * ranges that are taken now are freed for their owner still. False if there is no memory for the
 * other's lists. */
bool cx_fit_move(cx_fit *fit, uint32_t from, uint32_t to);

/* Units that are free for an owner: its own and nobody's. */
uint64_t cx_fit_free_units(const cx_fit *fit, uint32_t owner);

/* How many free ranges are an owner's. */
uint32_t cx_fit_free_ranges(const cx_fit *fit, uint32_t owner);

/* The free nodes of an owner, one after the other: 0 for the first, 0 after the last. */
uint32_t cx_fit_next_free(const cx_fit *fit, uint32_t owner, uint32_t index);

/* Calls visit for each range that is taken. */
void cx_fit_each_taken(const cx_fit *fit,
                       void (*visit)(uint32_t index, const cx_fit_node *node, void *argument),
                       void *argument);

/* The range that a unit of a segment is in, if it is taken; 0: it is not. Looks at all ranges. */
uint32_t cx_fit_find(const cx_fit *fit, uint16_t segment, uint32_t unit);

/* Whether everything holds that this file says; for tests. *out_wrong: what does not. */
bool cx_fit_check(const cx_fit *fit, const char **out_wrong);

#endif
