#include "base/error.h"
#include <stdlib.h>

/* In place of uthash's exit(): the record stays out of the table. */
#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element) ((void)(element), added = false)
#include "memory/raw.h"
#include "memory/starts.h"

#define SHARDS 64

/* Lock "raw", one for each shard: innermost, never held across a call of a driver. */
static struct {
    pthread_mutex_t lock;
    cx_raw *table;
} shards[SHARDS] = {[0 ... SHARDS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

/* Of all shards, at least as many as there are. */
static _Atomic uint64_t records;

/* Allocations are aligned, mostly to 256 and often to much more. */
static unsigned int shard_of(const void *pointer)
{
    return (unsigned int)(((uintptr_t)pointer >> 8) * 0x9e3779b97f4a7c15u >> 58);
}

cx_raw *cx_raw_new(cx_raw_kind kind)
{
    cx_raw *raw = calloc(1, sizeof *raw);
    if (raw == NULL)
        (void)cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for the record of a pointer");
    else
        raw->kind = kind;
    return raw;
}

ctxrt_status cx_raw_put(cx_raw *raw, cx_raw **out_before)
{
    bool added = true;
    cx_raw *before;
    unsigned int shard = shard_of(raw->block.pointer);
    atomic_fetch_add(&records, 1);
    pthread_mutex_lock(&shards[shard].lock);
    HASH_REPLACE_PTR(shards[shard].table, block.pointer, raw, before);
    pthread_mutex_unlock(&shards[shard].lock);
    if (before != NULL || !added)
        atomic_fetch_sub(&records, 1);
    *out_before = before;
    return added ? CTXRT_SUCCESS
                 : cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for the table of pointers");
}

static ctxrt_status wrong_kind(const char *call, const void *pointer, cx_raw_kind kind)
{
    const char *from = kind == CX_RAW_ASYNC        ? "ctxrt_alloc_async"
                       : kind == CX_RAW_REGISTERED ? "ctxrt_host_register"
                       : kind == CX_RAW_PINNED     ? "ctxrt_alloc_pinned"
                                                   : "ctxrt_alloc or ctxrt_alloc_managed";
    return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "%s: %p is from %s", call, pointer, from);
}

ctxrt_status cx_raw_take(const char *call, const void *pointer, int kinds, cx_raw **out_raw)
{
    cx_raw *raw;
    cx_raw_kind kind = 0;
    unsigned int shard = shard_of(pointer);
    pthread_mutex_lock(&shards[shard].lock);
    HASH_FIND_PTR(shards[shard].table, &pointer, raw);
    if (raw != NULL) {
        kind = raw->kind;
        if ((kind & kinds) != 0)
            HASH_DELETE(hh, shards[shard].table, raw);
    }
    pthread_mutex_unlock(&shards[shard].lock);
    if ((kind & kinds) != 0)
        atomic_fetch_sub(&records, 1);
    if (kind == 0 && (kinds & CX_RAW_DEVICE) == 0 && cx_starts_find(pointer) != 0)
        return wrong_kind(call, pointer, CX_RAW_DEVICE);
    if (kind == 0)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "%s: %p was freed already, or is not the start of such memory", call,
                        pointer);
    if ((kind & kinds) == 0)
        return wrong_kind(call, pointer, kind);
    *out_raw = raw;
    return CTXRT_SUCCESS;
}

cx_raw *cx_raw_take_any(const void *pointer)
{
    cx_raw *raw;
    unsigned int shard = shard_of(pointer);
    if (__builtin_expect(atomic_load(&records) == 0, 1))
        return NULL;
    pthread_mutex_lock(&shards[shard].lock);
    HASH_FIND_PTR(shards[shard].table, &pointer, raw);
    if (raw != NULL)
        HASH_DELETE(hh, shards[shard].table, raw);
    pthread_mutex_unlock(&shards[shard].lock);
    if (raw != NULL)
        atomic_fetch_sub(&records, 1);
    return raw;
}

void cx_raw_each(void (*visit)(const cx_raw *raw, void *argument), void *argument)
{
    for (unsigned int shard = 0; shard < SHARDS; shard++) {
        pthread_mutex_lock(&shards[shard].lock);
        for (const cx_raw *raw = shards[shard].table; raw != NULL; raw = raw->hh.next)
            visit(raw, argument);
        pthread_mutex_unlock(&shards[shard].lock);
    }
}
