#include "alloc/fit_store.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_ALIGNMENT 64 /* a cache line */

void cx_fit_store_give(cx_fit_store *store, uint32_t number)
{
    uint32_t head = atomic_load(&store->returned);
    do
        store->next_returned[number] = head;
    while (!atomic_compare_exchange_weak(&store->returned, &head, number + 1));
}

static uint32_t take_returned(cx_fit_store *store)
{
    /* Takes the whole list, so that no other thread can take and return its head in between. */
    uint32_t first = atomic_exchange(&store->returned, 0);
    if (first == 0)
        return CX_FIT_CHUNKS_MAX;
    uint32_t rest = store->next_returned[first - 1];
    while (rest != 0) {
        uint32_t next = store->next_returned[rest - 1];
        cx_fit_store_give(store, rest - 1);
        rest = next;
    }
    return first - 1;
}

static uint32_t make_chunk(cx_fit_store *store)
{
    unsigned char *chunk = aligned_alloc(CHUNK_ALIGNMENT, CX_FIT_CHUNK_NODES * store->stride);
    if (chunk == NULL)
        return CX_FIT_CHUNKS_MAX;
    memset(chunk, 0, CX_FIT_CHUNK_NODES * store->stride);
    uint32_t number = atomic_load(&store->used);
    do {
        if (number == CX_FIT_CHUNKS_MAX) {
            free(chunk);
            return CX_FIT_CHUNKS_MAX;
        }
    } while (!atomic_compare_exchange_weak(&store->used, &number, number + 1));
    atomic_store_explicit(&store->chunks[number], chunk, memory_order_release);
    return number;
}

uint32_t cx_fit_store_take(cx_fit_store *store)
{
    uint32_t number = take_returned(store);
    return number != CX_FIT_CHUNKS_MAX ? number : make_chunk(store);
}
