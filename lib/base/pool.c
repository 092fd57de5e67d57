#include "base/pool.h"

#include <stdlib.h>

/* By kind: the noun of its objects, once there was one. */
static _Atomic(const char *) nouns[256];

const char *cx_pool_noun(uint8_t kind)
{
    return atomic_load_explicit(&nouns[kind], memory_order_relaxed);
}

static cx_pool_slot *slot_of(const void *object)
{
    return (cx_pool_slot *)(void *)((unsigned char *)(uintptr_t)object - CX_POOL_SLOT_BYTES);
}

static cx_pool_slot *slot_at(cx_pool *pool, uint32_t index)
{
    _Atomic(unsigned char *) *chunks = atomic_load_explicit(&pool->chunks, memory_order_acquire);
    unsigned char *chunk =
        atomic_load_explicit(&chunks[index >> CX_POOL_CHUNK_BITS], memory_order_acquire);
    return (cx_pool_slot *)(void *)(chunk + (index & (CX_POOL_CHUNK_OBJECTS - 1)) * pool->stride);
}

static void *object_of(cx_pool_slot *slot)
{
    return (unsigned char *)slot + CX_POOL_SLOT_BYTES;
}

static void *handle_of(const cx_pool *pool, uint32_t generation, uint32_t index)
{
    return (void *)(uintptr_t)((uint64_t)pool->kind << 56 | (uint64_t)generation << 24 | index);
}

/* Lock held. Makes the chunk of the next unused slot exist. */
static bool grow_pool(cx_pool *pool)
{
    _Atomic(unsigned char *) *chunks = atomic_load_explicit(&pool->chunks, memory_order_relaxed);
    if (chunks == NULL) {
        chunks = calloc(CX_POOL_CHUNKS_MAX, sizeof *chunks);
        if (chunks == NULL)
            return false;
        atomic_store_explicit(&pool->chunks, chunks, memory_order_release);
        atomic_store_explicit(&nouns[pool->kind], pool->noun, memory_order_relaxed);
    }
    uint32_t chunk_index = pool->used >> CX_POOL_CHUNK_BITS;
    if (chunk_index >= CX_POOL_CHUNKS_MAX)
        return false;
    if (atomic_load_explicit(&chunks[chunk_index], memory_order_relaxed) != NULL)
        return true;
    unsigned char *chunk = calloc(CX_POOL_CHUNK_OBJECTS, pool->stride);
    if (chunk == NULL)
        return false;
    atomic_store_explicit(&chunks[chunk_index], chunk, memory_order_release);
    return true;
}

/* Lock held. Slots are reused first in, first out, so that a generation lasts long. */
static void free_slot(cx_pool *pool, cx_pool_slot *slot)
{
    slot->next_free = 0;
    if (pool->free_tail != 0)
        slot_at(pool, pool->free_tail - 1)->next_free = slot->index + 1;
    else
        pool->free_head = slot->index + 1;
    pool->free_tail = slot->index + 1;
}

void *cx_pool_take(cx_pool *pool)
{
    cx_pool_slot *slot = NULL;
    cx_lock_enter(&pool->lock);
    if (pool->free_head != 0) {
        slot = slot_at(pool, pool->free_head - 1);
        pool->free_head = slot->next_free;
        if (pool->free_head == 0)
            pool->free_tail = 0;
    } else if (grow_pool(pool)) {
        slot = slot_at(pool, pool->used);
        slot->index = pool->used++;
    }
    cx_lock_leave(&pool->lock);
    return slot != NULL ? object_of(slot) : NULL;
}

void *cx_pool_publish(cx_pool *pool, void *object)
{
    cx_pool_slot *slot = slot_of(object);
    uint32_t generation = atomic_load_explicit(&slot->generation, memory_order_relaxed) + 1;
    atomic_store(&slot->generation, generation);
    atomic_fetch_add_explicit(&pool->live, 1, memory_order_relaxed);
    return handle_of(pool, generation, slot->index);
}

void cx_pool_put_back(cx_pool *pool, void *object)
{
    cx_lock_enter(&pool->lock);
    free_slot(pool, slot_of(object));
    cx_lock_leave(&pool->lock);
}

void *cx_pool_retire(cx_pool *pool, const void *handle)
{
    void *object = cx_pool_find(pool, handle);
    if (object == NULL)
        return NULL;
    uint32_t generation = (uint32_t)((uint64_t)(uintptr_t)handle >> 24);
    if (!atomic_compare_exchange_strong(&slot_of(object)->generation, &generation, generation + 1))
        return NULL;
    atomic_fetch_sub_explicit(&pool->live, 1, memory_order_relaxed);
    return object;
}

void cx_pool_revive(cx_pool *pool, void *object)
{
    atomic_fetch_sub(&slot_of(object)->generation, 1);
    atomic_fetch_add_explicit(&pool->live, 1, memory_order_relaxed);
}

void *cx_pool_handle(cx_pool *pool, const void *object)
{
    const cx_pool_slot *slot = slot_of(object);
    return handle_of(pool, atomic_load_explicit(&slot->generation, memory_order_relaxed),
                     slot->index);
}

static void visit_each(cx_pool *pool, uint32_t used, bool (*visit)(void *object, void *argument),
                       void *argument)
{
    for (uint32_t index = 0; index < used; index++) {
        cx_pool_slot *slot = slot_at(pool, index);
        if (atomic_load(&slot->generation) & 1)
            if (!visit(object_of(slot), argument))
                return;
    }
}

void cx_pool_each(cx_pool *pool, bool (*visit)(void *object, void *argument), void *argument)
{
    cx_lock_enter(&pool->lock);
    uint32_t used = pool->used;
    cx_lock_leave(&pool->lock);
    visit_each(pool, used, visit, argument);
}

void cx_pool_each_held(cx_pool *pool, bool (*visit)(void *object, void *argument), void *argument)
{
    cx_lock_enter(&pool->lock);
    visit_each(pool, pool->used, visit, argument);
    cx_lock_leave(&pool->lock);
}

bool cx_pool_each_tried(cx_pool *pool, bool (*visit)(void *object, void *argument), void *argument)
{
    if (!cx_lock_try(&pool->lock))
        return false;
    visit_each(pool, pool->used, visit, argument);
    cx_lock_leave(&pool->lock);
    return true;
}
