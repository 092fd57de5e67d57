/*
 * Two-level segregated fit over ranges that it never touches: nodes beside the memory record free
 * and taken ranges. No lock, no driver and no runtime: callers make sure that one thread at a time
 * uses a fit.
 *
 * A fit serves units of 256 bytes out of any number of segments, ranges without gaps that are added
 * and removed. Adjacent free ranges are one range, unless different owners freed them. A range
 * belongs to the owner that freed it, a number, until it is moved, and serves only requests of that
 * owner. Ranges of owner 0 are unowned and serve all requests. An unowned free range merges with an
 * owned neighbour and takes its owner. Addresses without memory are ranges of CX_FIT_NOWHERE, which
 * merge with no others. The memory that a fit needs grows with the highest owner in use.
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
#define CX_FIT_NOWHERE UINT32_MAX /* owner 0: unowned */

#define CX_FIT_OCTAVES 32
#define CX_FIT_LISTS 32

/* The free ranges of one owner. */
typedef struct cx_fit_bins {
    uint32_t octaves; /* a bit for each octave with a nonempty list */
    uint32_t lists[CX_FIT_OCTAVES];
    uint32_t heads[CX_FIT_OCTAVES][CX_FIT_LISTS];
    uint64_t units;
    uint32_t ranges;
} cx_fit_bins;

typedef struct cx_fit {
    cx_fit_store *store;
    /* the fit's own: number + 1 of the first, linked through their first nodes */
    uint32_t chunks;
    uint32_t spare;       /* unused nodes */
    uint32_t owner_limit; /* the size of `bins` */
    void *user;
    uint64_t units;       /* of all segments */
    uint64_t free_count;  /* free ranges */
    cx_fit_bins **bins;   /* by owner; NULL: none */
    cx_fit_bins *nowhere; /* of owner CX_FIT_NOWHERE */
} cx_fit;

/* Where the stride of a store leaves room for a pointer, the first node of each chunk is followed
 * by `user`. */
void cx_fit_open(cx_fit *fit, cx_fit_store *store, void *user);

/* Gives all nodes back. The caller frees the memory that they stood for. */
void cx_fit_close(cx_fit *fit);

/* The units that hold `bytes`; 0 if a fit cannot number them. */
static inline uint32_t cx_fit_units(size_t bytes)
{
    size_t units = (bytes >> CX_FIT_UNIT_BITS) + ((bytes & (CX_FIT_UNIT_BYTES - 1)) != 0);
    return units <= UINT32_MAX ? (uint32_t)units : 0;
}

/* Adds a segment of at least 1 unit, all of it free and the owner's. Returns its first node, or 0:
 * out of memory. */
uint32_t cx_fit_add(cx_fit *fit, uint16_t segment, uint32_t units, uint32_t owner);

/* Ends all segments without their removal: their free ranges are gone, and taken ones stand for no
 * memory until they are dropped. Calls visit for each of these. */
void cx_fit_abandon(cx_fit *fit, void (*visit)(uint32_t index, void *argument), void *argument);
void cx_fit_drop(cx_fit *fit, uint32_t index);

/* Removes a segment; the free node covers all of it. */
void cx_fit_remove(cx_fit *fit, uint32_t index);

/* True if a free node covers its whole segment. */
bool cx_fit_is_whole(const cx_fit *fit, uint32_t index);

/* Takes a range of at least 1 unit that is the owner's or unowned. 0: there is none, or no memory
 * for a node. */
uint32_t cx_fit_take(cx_fit *fit, uint32_t owner, uint32_t units);

/* Forgets an owner without any ranges. */
void cx_fit_forget(cx_fit *fit, uint32_t owner);

/* Makes the lists of an owner that may get ranges by cx_fit_merge. False: out of memory. */
bool cx_fit_expect(cx_fit *fit, uint32_t owner);

/* Takes a part of a free range, which keeps its owner. 0: no memory for a node; nothing changed. */
uint32_t cx_fit_carve(cx_fit *fit, uint32_t index, uint32_t offset_units, uint32_t units);

/* Merges adjacent taken ranges, from the first to the last, into the first, which becomes the
 * owner's. */
void cx_fit_merge(cx_fit *fit, uint32_t first, uint32_t last, uint32_t owner);

/* Frees a taken range except one part. Returns the range of the part, or 0 with nothing changed: no
 * memory for a node. */
uint32_t cx_fit_narrow(cx_fit *fit, uint32_t index, uint32_t offset_units, uint32_t units);

/* Frees a taken range for its owner, which cx_fit_transfer may have changed. Returns the free node
 * that now contains the range; its own may be gone. */
uint32_t cx_fit_give(cx_fit *fit, uint32_t index);

/* Changes the owner of a taken range. False: no memory for the owner's lists. */
bool cx_fit_transfer(cx_fit *fit, uint32_t index, uint32_t owner);

/* Moves the free ranges of one owner to another (0: unowned), and merges them with their
 * neighbours. Taken ranges are still freed for their own owner. False: no memory for the lists of
 * `to`. */
bool cx_fit_move(cx_fit *fit, uint32_t from, uint32_t to);

/* The free units that an owner may use: its own and unowned ones. */
uint64_t cx_fit_free_units(const cx_fit *fit, uint32_t owner);

/* The number of an owner's free ranges. */
uint32_t cx_fit_free_ranges(const cx_fit *fit, uint32_t owner);

/* Iterates over the free nodes of an owner: 0 for the first, 0 after the last. */
uint32_t cx_fit_next_free(const cx_fit *fit, uint32_t owner, uint32_t index);

/* Calls visit for each range that is taken. */
void cx_fit_each_taken(const cx_fit *fit,
                       void (*visit)(uint32_t index, const cx_fit_node *node, void *argument),
                       void *argument);

#endif
