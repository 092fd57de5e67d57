#include "alloc/fit_store.h"

#include "base/lock.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_ALIGNMENT 64 /* a cache line */

/* "fit store": of all stores, since fits rarely take and give back chunks. */
static cx_lock lock = CX_LOCK_INIT(FIT_STORE);

static uint32_t make_chunk(cx_fit_store *store)
{
    if (store->used == CX_FIT_CHUNKS_MAX)
        return CX_FIT_CHUNKS_MAX;
    unsigned char *chunk = aligned_alloc(CHUNK_ALIGNMENT, CX_FIT_CHUNK_NODES * store->stride);
    if (chunk == NULL)
        return CX_FIT_CHUNKS_MAX;
    memset(chunk, 0, CX_FIT_CHUNK_NODES * store->stride);
    atomic_store_explicit(&store->chunks[store->used], chunk, memory_order_release);
    return store->used++;
}

uint32_t cx_fit_store_take(cx_fit_store *store)
{
    cx_lock_enter(&lock);
    uint32_t number = store->returned - 1;
    if (store->returned != 0)
        store->returned = store->next_returned[number];
    else
        number = make_chunk(store);
    cx_lock_leave(&lock);
    return number;
}

void cx_fit_store_give(cx_fit_store *store, uint32_t number)
{
    cx_lock_enter(&lock);
    store->next_returned[number] = store->returned;
    store->returned = number + 1;
    cx_lock_leave(&lock);
}
