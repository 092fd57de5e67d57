/*
 * Which raw pointers there are that are no pieces of a cache (those are in starts.h): a hash of
 * address to record, in shards, so that freeing an address that is none, or twice, is recognised,
 * and of several threads that free one exactly one wins.
 */
#ifndef CX_MEMORY_RAW_H
#define CX_MEMORY_RAW_H

#include "memory/block.h"
#include <uthash.h>

typedef enum cx_raw_kind {
    CX_RAW_DEVICE = 1,    /* ctxrt_alloc: the block's allocator gave it */
    CX_RAW_MANAGED = 2,   /* ctxrt_alloc_managed */
    CX_RAW_ASYNC = 4,     /* ctxrt_alloc_async */
    CX_RAW_REGISTERED = 8, /* ctxrt_host_register: the caller's own pages */
    CX_RAW_PINNED = 16     /* ctxrt_alloc_pinned */
} cx_raw_kind;

typedef struct cx_raw {
    cx_block block; /* allocator: for CX_RAW_DEVICE only */
    cx_raw_kind kind;
    UT_hash_handle hh; /* key: block.pointer */
} cx_raw;

/* A record that is in no table yet; NULL with the error recorded. free() it. */
cx_raw *cx_raw_new(cx_raw_kind kind);

/* Puts a record into the table. A record that was there under the same address comes back in
 * *out_before: a reset, or other code, has freed its memory. CTXRT_ERROR_OUT_OF_MEMORY. */
ctxrt_status cx_raw_put(cx_raw *raw, cx_raw **out_before);

/* The record of an address comes out, if there is one; else NULL. Costs nothing while there is none
 * at all. */
cx_raw *cx_raw_take_any(const void *pointer);

/* Calls visit(raw, argument) for each record, with the lock of its shard held. */
void cx_raw_each(void (*visit)(const cx_raw *raw, void *argument), void *argument);

/* Takes the record of an address out, if it is of one of `kinds`; else says in the name of `call`
 * what is wrong. */
ctxrt_status cx_raw_take(const char *call, const void *pointer, int kinds, cx_raw **out_raw);

#endif
