/*
 * The debug mode of an allocator: a layer around a caching allocator, or that of pinned memory,
 * that notices what is written before or behind a piece of memory, or into one that was freed.
 *
 * Each piece gets 256 bytes before and behind it that are filled when it is allocated and looked at
 * when it is freed, both in the order of its stream: a free waits for that stream. What was freed
 * can be filled as well, and kept for a while before it is used again. Where the stream captures
 * nothing can be filled or looked at, and nothing is. Pinned memory is of no stream: the host fills
 * it and looks at it by itself, and a free waits for what was recorded with the piece.
 *
 * Lock "guard": which pieces there are. No driver is called under it.
 */
#ifndef CX_MEMORY_GUARD_H
#define CX_MEMORY_GUARD_H

#include "memory/block.h"

#include <pthread.h>
#include <uthash.h>

#define CX_GUARD_BYTES 256 /* before and behind a piece, which so stays aligned */

/* What a live piece is found by: after a reset the same address may be given out again. */
typedef struct cx_guard_key {
    const void *pointer; /* the user's */
    uint64_t epoch;      /* the context's */
} cx_guard_key;

/* A piece: in the user's hands, or in quarantine. */
typedef struct cx_guarded {
    cx_block inner; /* with what is before and behind it */
    cx_guard_key key;
    void *pointer; /* the user's */
    size_t size_bytes;
    uint64_t number;
    const ctxrt_stream *stream; /* that it is of; NULL: none, it is pinned */
    const void *place;          /* where it was allocated; NULL: not known */
    bool marked;                /* what is around it was filled */
    bool filled;                /* in quarantine: so was it */
    bool told;                  /* the log says already what was wrong with it */
    struct cx_guarded *next;    /* in quarantine: freed later */
    UT_hash_handle hh;          /* key */
} cx_guarded;

typedef struct cx_guard {
    ctxrt_allocator_debug options;
    cx_allocator inner; /* what it is around: in no pool; what it gave out is counted there */
    pthread_mutex_t lock; /* "guard" */
    cx_guarded *live;
    cx_guarded *oldest, *newest; /* in quarantine */
    uint64_t quarantined_bytes;
    uint64_t last_number;
} cx_guard;

/* What is asked for: by the options that `call` was given, or else by CTXRT_DEBUG_MEMORY.
 * *out_wanted is false where that is nothing. CTXRT_ERROR_INVALID_ARGUMENT: neither makes sense. */
ctxrt_status cx_guard_choose(const char *call, const ctxrt_allocator_debug *options,
                             ctxrt_allocator_debug *out_options, bool *out_wanted);

/* Makes the allocator's guard, around its pinned memory if it has that; else what is beneath is
 * made as well. */
ctxrt_status cx_guard_open(cx_allocator *allocator, const ctxrt_allocator_debug *options);

/* Around pinned memory, of which nothing is live and for which no request is served: the guard goes
 * out of use, and what is in quarantine back. */
ctxrt_status cx_guard_leave(cx_allocator *allocator);

/* Of what is beneath; NULL: that is direct. */
static inline struct cx_cache *cx_guard_cache(const cx_guard *guard)
{
    return guard->inner.pinned != NULL ? guard->inner.pinned : guard->inner.cache;
}

/* Nothing of it is live. `native`: the context is there still. */
void cx_guard_close(cx_guard *guard, bool native);

/* A piece whose memory went with a reset of the context. */
void cx_guard_forget(cx_guard *guard, const cx_block *block);

/* The user's piece in a piece from beneath, of a life of the context. False: it is in quarantine,
 * or nobody's any more. */
bool cx_guard_find(cx_guard *guard, const void *inner_pointer, uint32_t epoch,
                   cx_guarded *out_piece);

/* Whether there ever was a guard; and what of a block in a segment is its user's part, if it has
 * one. */
extern _Atomic bool cx_guards_used;
struct cx_pointer_block;
void cx_guards_narrow(const void *pointer, struct cx_pointer_block *block);

/* Looks at what is around each piece, and into each one in quarantine; the log has all that were
 * written to. */
ctxrt_status cx_guard_check(cx_guard *guard);

/* ---- guard_mark.c: filling and looking, with the context current ---- */

/* Fills what is around a new piece, and the piece if that is asked for. */
ctxrt_status cx_guard_mark(const cx_guard *guard, cx_guarded *piece);

/* CTXRT_ERROR_CORRUPTED, with a message, which the log has as well the first time. Waits for the
 * piece's stream, if it has one. */
ctxrt_status cx_guard_look_around(cx_guarded *piece);

/* The same for the inside of a piece that was filled when it was freed. */
ctxrt_status cx_guard_look_inside(cx_guarded *piece);

/* What was written where it should not have been. */
typedef struct cx_guard_finding {
    const char *where;
    size_t distance;
    unsigned char value;
} cx_guard_finding;

/* A look at a piece of pinned memory, whatever its state. Calls no driver. */
bool cx_guard_host_sees(const cx_guarded *piece, cx_guard_finding *out_finding);

/* CTXRT_ERROR_CORRUPTED, as above. */
ctxrt_status cx_guard_tell(cx_guarded *piece, const cx_guard_finding *finding);

/* Fills a piece that is freed, if that is asked for. */
void cx_guard_fill_freed(const cx_guard *guard, cx_guarded *piece);

#endif
