/* Finds the user's part of a guarded block. */
#include "memory/cache.h"
#include "memory/pointer_table.h"
#include "diagnose/watch.h"

typedef struct finding {
    uintptr_t address;
    cx_pointer_block *block;
} finding;

static void narrow_block(cx_guard *guard, uint32_t epoch, cx_pointer_block *block)
{
    cx_guarded guarded;
    if (cx_guard_find(guard, (const void *)block->begin, epoch, &guarded)) {
        block->begin = (uintptr_t)guarded.pointer;
        block->size_bytes = guarded.size_bytes;
    } else {
        block->state = CX_POINTER_FREED;
        block->size_bytes = 0;
    }
}

static void look_in_cache(cx_cache *cache, void *argument)
{
    finding *search = argument;
    cx_lock_enter(&cache->lock);
    cx_guard *guard = cx_guard_of(cache->allocator);
    if (guard != NULL && cx_heap_has(&cache->heap, search->address))
        narrow_block(guard, cache->epoch, search->block);
    cx_lock_leave(&cache->lock);
}

void cx_guards_narrow(const void *pointer, cx_pointer_block *block)
{
    finding search = {.address = (uintptr_t)pointer, .block = block};
    if (block->cached != 0)
        cx_caches_each(look_in_cache, &search);
}
