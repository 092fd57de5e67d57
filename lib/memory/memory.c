#include "memory/memory.h"

#include "base/error.h"
#include "base/handle.h"
#include "memory/fast_path.h"
#include <stdlib.h>

#define OBJECT_COUNT_MAX 0xffffffffu

cx_pool cx_memories = CX_POOL_INIT("memory object", 4, cx_memory);

ctxrt_status cx_memory_enter(void)
{
    if (atomic_load_explicit(&cx_current_phase, memory_order_acquire) == CX_PHASE_STOPPED)
        return CTXRT_SUCCESS;
    return cx_runtime_enter();
}

/* ---- counts ---- */

static uint64_t generation_of(const ctxrt_memory *handle)
{
    return ((uint64_t)(uintptr_t)handle >> 24 & 0xffffffffu) << 32;
}

static ctxrt_status no_such_memory(const ctxrt_memory *handle)
{
    return cx_handle_error("memory object", handle,
                           "its last count was given back, or it never was one");
}

/* The object of a handle: a cache's block, or an object of the pool. Its state tells if it belongs
 * to another handle by now. */
typedef struct target {
    cx_cache_block *cached;
    cx_memory *memory;
    _Atomic uint64_t *state;
    uint64_t count_max; /* also the mask of the count in the state */
} target;

static inline bool find_target(const ctxrt_memory *handle, target *out_target)
{
    out_target->memory = NULL;
    out_target->cached = cx_cache_block_of(handle);
    if (__builtin_expect(out_target->cached != NULL, 1)) {
        out_target->state = &out_target->cached->state;
        out_target->count_max = CX_CACHE_BLOCK_COUNT_MAX;
        return true;
    }
    out_target->memory = cx_pool_find(&cx_memories, handle);
    out_target->count_max = OBJECT_COUNT_MAX;
    if (out_target->memory != NULL)
        out_target->state = &out_target->memory->state;
    return out_target->memory != NULL;
}

static bool is_of(const ctxrt_memory *handle, const target *found, uint64_t state)
{
    return (state & ~(uint64_t)UINT32_MAX) == generation_of(handle) &&
           (state & found->count_max) != 0;
}

/* Adds a count to the object of a handle, and to no other that has replaced it. */
static ctxrt_status take_count(const ctxrt_memory *handle, target *out_target)
{
    if (!find_target(handle, out_target))
        return no_such_memory(handle);
    uint64_t state = atomic_load(out_target->state);
    do {
        if (!is_of(handle, out_target, state))
            return no_such_memory(handle);
        if ((state & out_target->count_max) == out_target->count_max)
            return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "the memory object has too many counts");
    } while (!atomic_compare_exchange_weak(out_target->state, &state, state + 1));
    return CTXRT_SUCCESS;
}

static ctxrt_status free_object(const void *object)
{
    cx_memory *memory = (cx_memory *)(uintptr_t)object;
    bool loose = memory->block.context == NULL;
    ctxrt_status status = memory->free(memory);
    if (loose) {
        atomic_fetch_sub(&cx_loose_bytes, memory->block.size_bytes);
        atomic_fetch_sub(&cx_loose_objects, 1);
    }
    return status;
}

static ctxrt_status end_object(ctxrt_memory *handle, cx_memory *memory)
{
    if (cx_pool_retire(&cx_memories, handle) == NULL)
        return no_such_memory(handle);
    ctxrt_status status = cx_stream_uses_finish_before(&memory->uses, free_object, memory);
    cx_pool_put_back(&cx_memories, memory);
    return status;
}

static inline ctxrt_status end_cached(const ctxrt_memory *handle)
{
    const cx_block block = cx_cache_block_as_block(cx_cache_block_index(handle));
    return cx_block_free(&block);
}

static ctxrt_status give_count(ctxrt_memory *handle)
{
    target found;
    if (!find_target(handle, &found))
        return no_such_memory(handle);
    uint64_t state = atomic_load(found.state);
    do {
        if (!is_of(handle, &found, state))
            return no_such_memory(handle);
    } while (!atomic_compare_exchange_weak(found.state, &state, state - 1));
    if ((state & found.count_max) != 1) {
        cx_eventcount_wake(&cx_cache_block_counts);
        return CTXRT_SUCCESS;
    }
    return found.cached != NULL ? end_cached(handle) : end_object(handle, found.memory);
}

ctxrt_status ctxrt_memory_retain(ctxrt_memory *handle)
{
    target found;
    ctxrt_status status = cx_memory_enter();
    return status == CTXRT_SUCCESS ? take_count(handle, &found) : status;
}

__attribute__((noinline)) static ctxrt_status release_slowly(ctxrt_memory *handle)
{
    ctxrt_status status = CTXRT_SUCCESS;
    bool stopped =
        atomic_load_explicit(&cx_current_phase, memory_order_acquire) == CX_PHASE_STOPPED;
    if ((!stopped && !cx_runtime_enter_release(&status)) || handle == NULL)
        return status;
    return give_count(handle);
}

ctxrt_status ctxrt_memory_release(ctxrt_memory *handle)
{
    cx_cache_block *cached = cx_cache_block_of(handle);
    if (__builtin_expect(cached == NULL || !cx_fast_path_is_open() ||
                             !cx_cache_block_end(cached, generation_of(handle) | 1),
                         0))
        return release_slowly(handle);
    if (__builtin_expect(cx_fast_path_free(cx_cache_block_index(handle), cached), 1))
        return CTXRT_SUCCESS;
    return end_cached(handle);
}

/* ---- making ---- */

ctxrt_status cx_memory_make(const cx_memory *model, void *pointer, ctxrt_memory **out_memory)
{
    cx_memory *memory = cx_pool_take(&cx_memories);
    if (memory == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for a memory object");
    cx_memory_watch_contexts();
    atomic_store(&memory->pointer, pointer);
    memory->device = model->device;
    memory->kind = model->kind;
    memory->pinned = model->pinned;
    memory->block = model->block;
    atomic_store(&memory->uses, NULL);
    memory->free = model->free;
    memory->allocated = model->allocated;
    memory->deleter = model->deleter;
    memory->user_data = model->user_data;
    memory->mapped_bytes = model->mapped_bytes;
    if (memory->block.context == NULL) {
        atomic_fetch_add(&cx_loose_bytes, memory->block.size_bytes);
        atomic_fetch_add(&cx_loose_objects, 1);
    }
    ctxrt_memory *handle = cx_pool_publish(&cx_memories, memory);
    atomic_store(&memory->state, generation_of(handle) | 1);
    *out_memory = handle;
    return CTXRT_SUCCESS;
}

static ctxrt_status free_block(cx_memory *memory)
{
    return cx_block_free(&memory->block);
}

ctxrt_status cx_memory_make_of_block(cx_memory *model, ctxrt_memory **out_memory)
{
    uint32_t index = model->block.cached;
    /* A cache's block is a counted object by itself, unless a private pool has it. */
    if (__builtin_expect(index != 0 && model->block.pooled == NULL, 1)) {
        *out_memory =
            cx_cache_block_handle(index, cx_cache_block_generation(cx_cache_block_at(index)));
        return CTXRT_SUCCESS;
    }
    model->device = cx_block_device(model->block.context);
    model->free = free_block;
    ctxrt_status status = cx_memory_make(model, model->block.pointer, out_memory);
    if (status != CTXRT_SUCCESS) {
        cx_error_saved saved;
        cx_error_save(&saved);
        (void)cx_block_free(&model->block);
        cx_error_restore(&saved);
    }
    return status;
}

__attribute__((noinline)) static ctxrt_status alloc_slowly(const cx_block_request *request,
                                                           ctxrt_memory **out_memory)
{
    cx_memory model = {.kind = CTXRT_MEMORY_DEVICE};
    ctxrt_status status = cx_block_check_request(request->call, request->size_bytes, out_memory);
    if (status == CTXRT_SUCCESS)
        status = cx_block_alloc(request, &model.block);
    return status == CTXRT_SUCCESS ? cx_memory_make_of_block(&model, out_memory) : status;
}

ctxrt_status ctxrt_memory_alloc(size_t size_bytes, ctxrt_memory **out_memory)
{
    cx_fast_block block;
    bool taken = out_memory != NULL && cx_fast_path_alloc(size_bytes, 0, &block);
    if (__builtin_expect(!taken, 0)) {
        const cx_block_request request = {.call = "ctxrt_memory_alloc", .size_bytes = size_bytes};
        return alloc_slowly(&request, out_memory);
    }
    *out_memory = cx_cache_block_handle(block.index, block.generation);
    return CTXRT_SUCCESS;
}

ctxrt_status ctxrt_memory_alloc_on(ctxrt_context *context, size_t size_bytes,
                                   ctxrt_memory **out_memory)
{
    const cx_block_request request = {
        "ctxrt_memory_alloc_on", size_bytes, cx_allocator_default, true, context};
    return alloc_slowly(&request, out_memory);
}

static ctxrt_status delete_wrapped(cx_memory *memory)
{
    if (memory->deleter != NULL)
        memory->deleter(memory->block.pointer, memory->user_data);
    return CTXRT_SUCCESS;
}

static ctxrt_status check_wrapped(void *pointer, size_t size_bytes, ctxrt_memory **out_memory)
{
    uintptr_t end_address;
    if (pointer == NULL || out_memory == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_memory_wrap: %s is NULL",
                        pointer == NULL ? "pointer" : "out_memory");
    if (size_bytes == 0 || __builtin_add_overflow((uintptr_t)pointer, size_bytes, &end_address))
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "ctxrt_memory_wrap: there are no %zu bytes at %p", size_bytes, pointer);
    return CTXRT_SUCCESS;
}

ctxrt_status ctxrt_memory_wrap(void *pointer, size_t size_bytes, ctxrt_device id,
                               void (*deleter)(void *pointer, void *user_data), void *user_data,
                               ctxrt_memory **out_memory)
{
    cx_device *device;
    ctxrt_status status = cx_runtime_enter();
    if (status == CTXRT_SUCCESS)
        status = check_wrapped(pointer, size_bytes, out_memory);
    if (status == CTXRT_SUCCESS)
        status = cx_device_find(id, &device);
    if (status != CTXRT_SUCCESS)
        return status;
    const cx_memory model = {.device = id,
                             .kind = CTXRT_MEMORY_WRAPPED,
                             .block = {.pointer = pointer, .size_bytes = size_bytes},
                             .free = delete_wrapped,
                             .deleter = deleter,
                             .user_data = user_data};
    return cx_memory_make(&model, pointer, out_memory);
}

/* ---- queries ---- */

/* Reads the pointer first: if the handle is valid afterwards, the pointer is that object's. */
void *ctxrt_memory_pointer(ctxrt_memory *handle)
{
    target found;
    if (!find_target(handle, &found))
        return NULL;
    void *pointer =
        atomic_load(found.cached != NULL ? &found.cached->pointer : &found.memory->pointer);
    return is_of(handle, &found, atomic_load(found.state)) ? pointer : NULL;
}

static ctxrt_memory_info describe_object(const cx_memory *memory)
{
    const cx_context *context = memory->block.context;
    return (ctxrt_memory_info){
        .pointer = memory->block.pointer,
        .size_bytes = memory->block.size_bytes,
        .device = memory->device,
        .context = context != NULL ? cx_context_handle(context) : NULL,
        .kind = memory->kind,
        .pinned = memory->pinned,
    };
}

static ctxrt_memory_info describe_cached(uint32_t index)
{
    const cx_cache *cache = cx_cache_of(index);
    const cx_context *context = cache->context;
    return (ctxrt_memory_info){
        .pointer = atomic_load(&cx_cache_block_at(index)->pointer),
        .size_bytes = cx_cache_block_size(cx_cache_block_at(index)),
        .device = cx_block_device(context),
        .context = cx_context_handle(context),
        .kind = cache->pinned ? CTXRT_MEMORY_PINNED : CTXRT_MEMORY_DEVICE,
        .pinned = cache->pinned,
    };
}

ctxrt_status ctxrt_memory_describe(ctxrt_memory *handle, ctxrt_memory_info *out_info)
{
    target found;
    ctxrt_status status = cx_memory_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (out_info == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_memory_describe: out_info is NULL");
    status = take_count(handle, &found);
    if (status != CTXRT_SUCCESS)
        return status;
    const ctxrt_memory_info info = found.cached != NULL
                                       ? describe_cached(cx_cache_block_index(handle))
                                       : describe_object(found.memory);
    status = give_count(handle);
    if (status == CTXRT_SUCCESS)
        *out_info = info;
    return status;
}

/* The caller has a count. From then on the block is freed by the slow path. */
static cx_stream_uses *uses_of(const target *found)
{
    if (found->cached == NULL)
        return &found->memory->uses;
    atomic_fetch_or(&found->cached->state, CX_CACHE_BLOCK_USED);
    return &found->cached->uses;
}

static cx_used_memory memory_of(const ctxrt_memory *handle, const target *found)
{
    const cx_block block = found->cached != NULL
                               ? cx_cache_block_as_block(cx_cache_block_index(handle))
                               : found->memory->block;
    return (cx_used_memory){block.context, block.epoch, uses_of(found)};
}

ctxrt_status cx_memory_cross(uint32_t index, cx_context *context, void *cross_copy)
{
    cx_cache_block *cached = cx_cache_block_at(index);
    atomic_fetch_or(&cached->state, CX_CACHE_BLOCK_USED);
    return cx_stream_uses_add_cross_copy(&cached->uses, context, cross_copy);
}

ctxrt_status ctxrt_memory_record_stream(ctxrt_memory *handle, ctxrt_stream *stream)
{
    target found;
    ctxrt_status status = cx_runtime_enter();
    if (status == CTXRT_SUCCESS)
        status = take_count(handle, &found);
    if (status != CTXRT_SUCCESS)
        return status;
    const cx_used_memory memory = memory_of(handle, &found);
    status = cx_stream_uses_record(&memory, stream);
    ctxrt_status given = give_count(handle);
    return status != CTXRT_SUCCESS ? status : given;
}

/* ---- pinned memory by its address ---- */

ctxrt_memory *cx_memory_take_cached(uint32_t cached, uint32_t generation)
{
    target found;
    cx_error_saved saved;
    ctxrt_memory *handle = cx_cache_block_handle(cached, generation);
    cx_error_save(&saved);
    if (take_count(handle, &found) == CTXRT_SUCCESS)
        return handle;
    cx_error_restore(&saved);
    return NULL;
}

ctxrt_status cx_memory_use(const ctxrt_memory *handle, const cx_stream_target *stream)
{
    target found;
    return find_target(handle, &found) ? cx_stream_uses_record_there(uses_of(&found), stream)
                                       : no_such_memory(handle);
}

void cx_memory_give(ctxrt_memory *handle)
{
    cx_error_saved saved;
    cx_error_save(&saved);
    (void)give_count(handle);
    cx_error_restore(&saved);
}
