/* What piece of what cache an address is in. */
#include "memory/cache.h"
#include "memory/guard.h"

typedef struct finding {
    uintptr_t address;
    void *base;
    size_t size_bytes;
    uint32_t piece; /* live, and looked after by nobody else */
    bool found;
} finding;

/* The user's part of a piece that has a guard. */
static void look_behind_guard(cx_guard *guard, uint32_t epoch, finding *search)
{
    cx_guarded piece;
    bool live = cx_guard_find(guard, search->base, epoch, &piece);
    search->size_bytes = live ? piece.size_bytes : 0;
    search->base = live ? piece.pointer : search->base;
}

static void look_in_cache(cx_cache *cache, void *argument)
{
    finding *search = argument;
    if (search->found)
        return;
    pthread_mutex_lock(&cache->lock);
    const cx_heap *heap = &cache->region->heap;
    search->found = cx_heap_has(heap, search->address);
    uint32_t index = search->found ? cx_heap_find(heap, search->address) : 0;
    if (index != 0) {
        const cx_piece_head *head = cx_piece_head_at(index);
        search->base = atomic_load(&cx_piece_at(index)->pointer);
        search->size_bytes = cx_piece_is_live(head) ? cx_piece_size(head) : 0;
        cx_guard *guard = atomic_load(&cache->allocator->guard);
        if (guard != NULL)
            look_behind_guard(guard, cache->region->epoch, search);
        else if (search->size_bytes != 0)
            search->piece = index;
    }
    pthread_mutex_unlock(&cache->lock);
}

bool cx_caches_find(const void *pointer, void **out_base, size_t *out_size_bytes)
{
    finding search = {.address = (uintptr_t)pointer};
    cx_caches_each(look_in_cache, &search);
    bool inside =
        search.size_bytes != 0 && search.address - (uintptr_t)search.base < search.size_bytes;
    *out_base = search.base;
    *out_size_bytes = inside ? search.size_bytes : 0;
    return search.found;
}

uint32_t cx_caches_piece_of(const void *pointer)
{
    finding search = {.address = (uintptr_t)pointer};
    cx_caches_each(look_in_cache, &search);
    return search.piece;
}
