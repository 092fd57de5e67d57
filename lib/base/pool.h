/*
 * Objects behind public handles.
 *
 * A handle is {kind, generation, index} in a pointer's bits, never an address, so it cannot be
 * dereferenced by mistake, and a stale one is never taken for the next object in the slot. Objects
 * live in chunks that are never freed: looking at a handle is safe even while another thread
 * destroys it.
 */
#ifndef CX_BASE_POOL_H
#define CX_BASE_POOL_H

#include "base/lock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CX_POOL_CHUNK_BITS 8
#define CX_POOL_CHUNK_OBJECTS (1u << CX_POOL_CHUNK_BITS)
#define CX_POOL_CHUNKS_MAX (1u << 16) /* so at most 2^24 live objects of a kind */

/* Stands in front of every object. The generation is odd while the object lives; any thread reads
 * it without a lock. A publish makes it odd; a retire makes it even, by a compare-and-swap that one
 * of several callers wins. */
typedef struct cx_pool_slot {
    _Atomic uint32_t generation;
    uint32_t index;
    uint32_t next_free;
} cx_pool_slot;

typedef struct cx_pool {
    const char *noun;      /* "stream": for messages */
    uint8_t kind;          /* unlike that of every other pool; never 0 */
    size_t stride;         /* from slot to slot */
    cx_lock lock;          /* "pool", or a rank of its own */
    uint32_t free_head;    /* index + 1; 0: none */
    uint32_t free_tail;
    uint32_t used;         /* ever in use */
    _Atomic uint32_t live; /* objects alive */
    _Atomic(_Atomic(unsigned char *) *) chunks; /* directory; made with the first object */
} cx_pool;

#define CX_POOL_SLOT_BYTES ((sizeof(cx_pool_slot) + 15) & ~(size_t)15)
#define CX_POOL_STRIDE(type) (CX_POOL_SLOT_BYTES + ((sizeof(type) + 15) & ~(size_t)15))

#define CX_POOL_INIT(noun, kind, type) CX_POOL_INIT_RANKED(POOL, noun, kind, type)
#define CX_POOL_INIT_RANKED(rank_, noun_, kind_, type)                                            \
    {                                                                                             \
        .noun = noun_, .kind = kind_, .stride = CX_POOL_STRIDE(type), .lock = CX_LOCK_INIT(rank_) \
    }

/* Takes a new object, not yet live: no handle finds it before cx_pool_publish. Zeroed on the first
 * use of its slot; later as it was left. NULL: out of memory, or 2^24 objects live. */
void *cx_pool_take(cx_pool *pool);

/* Makes a taken object live and returns its handle. */
void *cx_pool_publish(cx_pool *pool, void *object);

/* Gives back the slot of an object that was taken but not published, or that was retired. */
void cx_pool_put_back(cx_pool *pool, void *object);

/* Finds the live object of a handle, or NULL. Lock-free; the object may be retired at any moment
 * after. */
static inline void *cx_pool_find(cx_pool *pool, const void *handle);

/* Makes the handle stale. Of several callers one wins and gets the object, takes it apart and puts
 * it back; the others get NULL. */
void *cx_pool_retire(cx_pool *pool, const void *handle);

/* Undoes a retire: the handle is live again. */
void cx_pool_revive(cx_pool *pool, void *object);

/* The noun of a kind of objects; NULL: there was none so far. */
const char *cx_pool_noun(uint8_t kind);

/* The handle of a live object. */
void *cx_pool_handle(cx_pool *pool, const void *object);

/* Calls visit(object, argument) for each live object, until one returns false. The caller prevents
 * that any is retired meanwhile. */
void cx_pool_each(cx_pool *pool, bool (*visit)(void *object, void *argument), void *argument);

/* The same with the pool's lock held, for callers that cannot prevent that: the slot of an object
 * retired meanwhile is not used again before the visit. `visit` must not use the pool. */
void cx_pool_each_held(cx_pool *pool, bool (*visit)(void *object, void *argument), void *argument);

/* The same for callers that must not wait. False: another thread has the lock, and none was
 * visited. */
bool cx_pool_each_tried(cx_pool *pool, bool (*visit)(void *object, void *argument), void *argument);

static inline uint32_t cx_pool_live(const cx_pool *pool)
{
    return atomic_load_explicit(&pool->live, memory_order_relaxed);
}

static inline const cx_pool_slot *cx_pool_slot_of(const void *object)
{
    return (const cx_pool_slot *)(const void *)((const unsigned char *)object - CX_POOL_SLOT_BYTES);
}

/* The object at an index that a taken object has or had: cx_pool_slot_of. */
static inline void *cx_pool_at(cx_pool *pool, uint32_t index)
{
    _Atomic(unsigned char *) *chunks = atomic_load_explicit(&pool->chunks, memory_order_acquire);
    unsigned char *chunk =
        atomic_load_explicit(&chunks[index >> CX_POOL_CHUNK_BITS], memory_order_acquire);
    return chunk + (index & (CX_POOL_CHUNK_OBJECTS - 1)) * pool->stride + CX_POOL_SLOT_BYTES;
}

/* True if the object, found by this handle before, is still the same. */
static inline bool cx_pool_is(const void *object, const void *handle)
{
    uint32_t generation = (uint32_t)((uint64_t)(uintptr_t)handle >> 24);
    /* seq_cst: pairs with cx_pool_retire if the caller announced its use first */
    return atomic_load(&cx_pool_slot_of(object)->generation) == generation;
}

/* cx_pool_find for a pool whose kind and stride the compiler knows. */
static inline void *cx_pool_find_known(cx_pool *pool, uint8_t kind, size_t stride,
                                       const void *handle)
{
    uint64_t bits = (uint64_t)(uintptr_t)handle;
    uint32_t index = (uint32_t)bits & 0xffffffu;
    uint32_t generation = (uint32_t)(bits >> 24);
    _Atomic(unsigned char *) *chunks = atomic_load_explicit(&pool->chunks, memory_order_acquire);
    if (__builtin_expect(bits >> 56 != kind || chunks == NULL, 0))
        return NULL;
    unsigned char *chunk =
        atomic_load_explicit(&chunks[index >> CX_POOL_CHUNK_BITS], memory_order_acquire);
    if (__builtin_expect(chunk == NULL, 0))
        return NULL;
    unsigned char *slot = chunk + (index & (CX_POOL_CHUNK_OBJECTS - 1)) * stride;
    if (atomic_load(&((cx_pool_slot *)(void *)slot)->generation) != generation ||
        (generation & 1) == 0)
        return NULL;
    return slot + CX_POOL_SLOT_BYTES;
}

static inline void *cx_pool_find(cx_pool *pool, const void *handle)
{
    return cx_pool_find_known(pool, pool->kind, pool->stride, handle);
}

#endif
