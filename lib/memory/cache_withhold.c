/*
 * Withheld addresses: a raw pointer from before a reset that is still to be freed has the address
 * of a block that would leave the heap (owed.h). The first unit of the block stays taken, so that
 * no block begins there; it returns to the heap once the pointer was freed and the cache is
 * trimmed, or when memory is short.
 */
#include "memory/cache.h"
#include "memory/address_index.h"

/* Lock held. For its heap the unit is taken, so its link is ours. */
static void withhold(cx_cache *cache, uint32_t index)
{
    cx_heap *heap = &cache->heap;
    uint32_t first = cx_heap_narrow(heap, index, 1);
    if (first == 0) /* no memory for a node: all of it stays taken */
        first = index;
    cx_cache_count_taken(cache, first);
    cx_cache_block_at(first)->node.next = cache->withheld;
    cache->withheld = first;
    atomic_fetch_add(&cache->withholdings, 1);
}

static const void *address_of(const cx_cache *cache, uint32_t index)
{
    return (const void *)cx_heap_address(&cache->heap, index);
}

/* Once the driver has refused memory, no address is withheld. */
uint32_t cx_cache_pass_owed(cx_cache *cache, uint32_t index)
{
    while (index != 0 &&
           atomic_load_explicit(&cache->shortage, memory_order_relaxed) < CX_SHORTAGE_SPENT &&
           cx_pointers_is_owed(address_of(cache, index))) {
        const cx_fit_node node = cx_cache_block_at(index)->node;
        withhold(cache, index);
        index = cx_heap_take(&cache->heap, node.owner, node.units);
    }
    return index;
}

bool cx_cache_give_withheld(cx_cache *cache, bool owed)
{
    bool any = false;
    uint32_t next;
    cx_lock_enter(&cache->lock);
    uint32_t index = cache->withheld;
    cache->withheld = 0;
    for (; index != 0; index = next) {
        cx_fit_node *node = &cx_cache_block_at(index)->node;
        next = node->next;
        if (!owed && cx_pointers_is_owed(address_of(cache, index))) {
            node->next = cache->withheld;
            cache->withheld = index;
            continue;
        }
        cx_cache_give(cache, index);
        any = true;
    }
    cx_lock_leave(&cache->lock);
    return any;
}
