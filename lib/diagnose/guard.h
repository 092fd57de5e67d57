/*
 * The debug mode of an allocator: a layer around a caching or direct allocator, or that of pinned
 * memory, that detects writes before or behind a block, or into a freed one.
 *
 * Each block gets 256 bytes before and behind it that are filled when it is allocated and checked
 * when it is freed, both in the order of its stream: a free waits for that stream. Freed blocks can
 * be filled as well, and kept in quarantine before they are used again. While the stream captures
 * nothing is filled or checked. Pinned memory is unowned: the host fills and checks it, and a free
 * waits for the streams recorded with the block.
 *
 * Lock "guard": the set of blocks. No driver is called under it.
 */
#ifndef CX_DIAGNOSE_GUARD_H
#define CX_DIAGNOSE_GUARD_H

#include "base/hash.h"
#include "base/lock.h"
#include "memory/block.h"

#define CX_GUARD_BYTES 256 /* before and behind a block, which so stays aligned */

/* The key of a live block: after a reset the same address may be handed out again. */
typedef struct cx_guard_key {
    const void *pointer; /* the user's */
    uint64_t epoch;      /* the context's */
} cx_guard_key;

/* A block that the user has, or in quarantine. */
typedef struct cx_guarded {
    cx_block inner; /* including the bytes before and behind it */
    cx_guard_key key;
    void *pointer; /* the user's */
    size_t size_bytes;
    uint64_t number;
    const ctxrt_stream *stream; /* its stream; NULL: none, it is pinned */
    const void *place;          /* the place of its allocation; NULL: unknown */
    bool marked;                /* the bytes around it were filled */
    bool filled;                /* in quarantine: its inside was filled */
    bool told;                  /* the log has its error already */
    struct cx_guarded *next;    /* in quarantine: the next one freed */
    UT_hash_handle hh;          /* key */
} cx_guarded;

typedef struct cx_guard {
    ctxrt_allocator_debug options;
    cx_allocator inner; /* the allocator beneath: in no pool; counts the memory it handed out */
    cx_lock lock;       /* "guard" */
    cx_guarded *live;
    cx_guarded *oldest, *newest; /* in quarantine */
    uint64_t quarantined_bytes;
    uint64_t last_number;
} cx_guard;

/* Puts a new allocator into debug mode if its options or the environment say so. */
ctxrt_status cx_guard_begin(cx_allocator *allocator);

/* Ends the debug mode of an allocator without live memory, and closes its cache. `native`: the
 * context still exists. */
void cx_guard_end(cx_allocator *allocator, bool native);

/* The cache beneath; NULL: a direct allocator. */
static inline struct cx_cache *cx_guard_cache(const cx_guard *guard)
{
    return guard->inner.pinned != NULL ? guard->inner.pinned : guard->inner.cache;
}

/* Finds the user's block in a block from beneath, in an epoch of the context. False: it is in
 * quarantine, or freed. */
bool cx_guard_find(cx_guard *guard, const void *inner_pointer, uint32_t epoch,
                   cx_guarded *out_guarded);

struct cx_pointer_block;
/* Narrows a block of a cache to the user's part, if that has a guard: memory/diagnosis.h. */
void cx_guards_narrow(const void *pointer, struct cx_pointer_block *block);

/* ---- guard_mark.c: filling and checking, with the context current ---- */

/* Fills the bytes around a new block, and the block if that is requested. */
ctxrt_status cx_guard_mark(const cx_guard *guard, cx_guarded *guarded);

/* Fills a freed block, if that is requested. */
void cx_guard_fill_freed(const cx_guard *guard, cx_guarded *guarded);

/* An overwritten byte outside of the user's memory. */
typedef struct cx_guard_finding {
    const char *where;
    size_t distance;
    unsigned char value;
} cx_guard_finding;

/* Looks for an overwritten byte inside a block that was filled when it was freed, else around it.
 * Waits for the block's stream; calls no driver if it has none. */
bool cx_guard_sees(const cx_guarded *guarded, cx_guard_finding *out_finding);

/* Reports a finding: CTXRT_ERROR_CORRUPTED, with a message, which goes to the log too the first
 * time. */
ctxrt_status cx_guard_report(cx_guarded *guarded, const cx_guard_finding *finding);

#endif
