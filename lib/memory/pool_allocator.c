/* Allocators over a pool of the driver's, which other code may use as well. */
#include "base/error.h"
#include "context/context_guard.h"
#include "memory/block.h"
#include "memory/address_index.h"
#include "work/relaxed_capture.h"
#include "work/work.h"
#include <stdlib.h>

/* ---- allocating ---- */

static ctxrt_status resolve_stream(cx_context *context, const ctxrt_stream *stream,
                                   cx_stream_target *out_target)
{
    if (stream != CTXRT_STREAM_LEGACY)
        return cx_stream_resolve_handle(stream, out_target);
    *out_target = cx_stream_legacy_of(context);
    return CTXRT_SUCCESS;
}

static ctxrt_status check_capture(const cx_stream_target *target)
{
    bool capturing;
    ctxrt_status status = cx_stream_is_capturing(target, &capturing);
    if (status == CTXRT_SUCCESS && capturing)
        return cx_error(CTXRT_ERROR_NOT_SUPPORTED,
                        "the stream captures: an allocator over a pool of the driver's would "
                        "allocate in each launch of the graph");
    return status;
}

/* The context is pinned, and current. */
static ctxrt_status alloc_there(const cx_allocator *allocator, const cx_allocation *request,
                                cx_block *block)
{
    cx_stream_target target;
    CUdeviceptr address = 0;
    ctxrt_status status = resolve_stream(request->context, request->stream, &target);
    if (status == CTXRT_SUCCESS)
        status = check_capture(&target);
    if (status == CTXRT_SUCCESS)
        status = CX_DRIVER_CALL(target.driver, mem_alloc_from_pool_async,
                                (&address, request->size_bytes, allocator->pool, target.native));
    if (status != CTXRT_SUCCESS)
        return status;
    const cx_range range = {
        .begin = address,
        .size_bytes = request->size_bytes,
        .context = request->context,
        .epoch = request->epoch,
        .kind = CTXRT_MEMORY_DEVICE,
    };
    block->pointer = (void *)(uintptr_t)address;
    block->stream = request->stream;
    status = cx_ranges_add(&range);
    if (status != CTXRT_SUCCESS)
        (void)target.driver->table.mem_free_async(address, target.native);
    return status;
}

/* ---- freeing ---- */

/* A free that waits for a capture of its stream to end: in the capture it would be a node. */
typedef struct deferred_free {
    struct deferred_free *next;
    cx_context *context;
    uint32_t epoch;
    ctxrt_stream *stream;
    void *pointer;
} deferred_free;

typedef enum free_way {
    FREED,
    STREAM_CAPTURES,
    STREAM_IS_GONE
} free_way;

/* In the order of the stream, if that is there. */
static free_way free_in_stream(const deferred_free *freed, ctxrt_status *out_status)
{
    cx_stream_target target;
    cx_error_saved saved;
    cx_error_save(&saved);
    if (resolve_stream(freed->context, freed->stream, &target) != CTXRT_SUCCESS) {
        cx_error_restore(&saved);
        return STREAM_IS_GONE;
    }
    if (freed->stream != CTXRT_STREAM_LEGACY &&
        !cx_relaxed_capture_may_query(target.driver, target.native))
        return STREAM_CAPTURES;
    *out_status =
        CX_DRIVER_CALL(target.driver, mem_free_async, ((uintptr_t)freed->pointer, target.native));
    return FREED;
}

/* The context is pinned. */
static free_way free_there(const deferred_free *freed, ctxrt_status *out_status)
{
    cx_context_guard guard;
    *out_status = cx_context_guard_enter(freed->context, &guard);
    if (*out_status != CTXRT_SUCCESS)
        return FREED;
    free_way way = free_in_stream(freed, out_status);
    cx_context_guard_leave(&guard);
    return way;
}

/* False: the stream captures. Where the stream was destroyed, its work may go on; after a reset no
 * work is left, and the memory is. */
static bool free_once(const deferred_free *freed, ctxrt_status *out_status)
{
    free_way way = STREAM_IS_GONE;
    if (cx_context_pin_what_is_of(freed->context, freed->epoch)) {
        way = free_there(freed, out_status);
        cx_context_unpin(freed->context);
    }
    if (way == STREAM_IS_GONE)
        *out_status = cx_block_free_of_pool(freed->context, freed->epoch, freed->pointer);
    return way != STREAM_CAPTURES;
}

static void defer_free(cx_allocator *allocator, deferred_free *node)
{
    void *next = atomic_load(&allocator->deferred_frees);
    do
        node->next = next;
    while (!atomic_compare_exchange_weak(&allocator->deferred_frees, &next, node));
}

/* Takes all, and puts back those whose stream captures still. */
static void free_deferred(cx_allocator *allocator)
{
    ctxrt_status status;
    deferred_free *next;
    if (atomic_load_explicit(&allocator->deferred_frees, memory_order_relaxed) == NULL)
        return;
    deferred_free *node = atomic_exchange(&allocator->deferred_frees, NULL);
    for (; node != NULL; node = next) {
        next = node->next;
        if (free_once(node, &status))
            free(node);
        else
            defer_free(allocator, node);
    }
}

static ctxrt_status free_memory(cx_allocator *allocator, const cx_block *block)
{
    ctxrt_status status = CTXRT_SUCCESS;
    const deferred_free freed = {.context = block->context,
                                 .epoch = block->epoch,
                                 .stream = block->stream,
                                 .pointer = block->pointer};
    cx_ranges_remove(block->context, block->epoch, (uintptr_t)block->pointer, CX_FREED_BY_USER);
    free_deferred(allocator);
    if (free_once(&freed, &status))
        return status;
    deferred_free *node = malloc(sizeof *node);
    if (node == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY,
                        "no memory to free %p behind a capture of its stream", block->pointer);
    *node = freed;
    defer_free(allocator, node);
    return CTXRT_SUCCESS;
}

/* ---- the allocator ---- */

static ctxrt_status alloc_from_pool(cx_allocator *allocator, const cx_allocation *request,
                                    cx_block *block)
{
    free_deferred(allocator);
    if (!cx_context_pin_epoch(request->context, request->epoch))
        return cx_block_overtaken(request->context);
    ctxrt_status status = alloc_there(allocator, request, block);
    cx_context_unpin(request->context);
    return status;
}

static uint64_t reserved_by(const cx_allocator *allocator)
{
    uint64_t bytes = 0;
    return allocator->context->driver->table.mem_pool_get_attribute(
               allocator->pool, CXU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &bytes) == CXU_SUCCESS
               ? bytes
               : 0;
}

static uint64_t trim_pool(cx_allocator *allocator)
{
    free_deferred(allocator);
    uint64_t before = reserved_by(allocator);
    (void)allocator->context->driver->table.mem_pool_trim_to(allocator->pool, 0);
    uint64_t after = reserved_by(allocator);
    return before > after ? before - after : 0;
}

/* A capture that has not ended by now will not use the memory: its owner released it. */
static void end_pool(cx_allocator *allocator)
{
    deferred_free *next;
    free_deferred(allocator);
    deferred_free *node = atomic_exchange(&allocator->deferred_frees, NULL);
    for (; node != NULL; node = next) {
        next = node->next;
        (void)cx_block_free_natively(node->context, node->pointer);
        free(node);
    }
}

static const cx_allocator_kind pool_allocator = {
    .alloc = alloc_from_pool,
    .free = free_memory,
    .trim = trim_pool,
    .destroy = end_pool,
    .outlives_reset = true,
};

/* The pool in which cuMemAllocAsync allocates now. */
static ctxrt_status find_device_pool(CUmemoryPool *out_pool)
{
    cx_thread *thread;
    cx_frame *frame;
    ctxrt_status status = cx_stack_enter(&thread, &frame);
    if (status != CTXRT_SUCCESS)
        return status;
    const cx_context *context = cx_frame_context(frame);
    CUdevice device;
    status = CX_DRIVER_CALL(context->driver, ctx_get_device, (&device));
    return status == CTXRT_SUCCESS
               ? CX_DRIVER_CALL(context->driver, device_get_mem_pool, (out_pool, device))
               : status;
}

ctxrt_status ctxrt_allocator_create_from_pool(CUmemoryPool pool, ctxrt_allocator **out_allocator)
{
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (out_allocator == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER,
                        "ctxrt_allocator_create_from_pool: out_allocator is NULL");
    cx_allocator model = {
        .kind = &pool_allocator, .pool = pool, .options = CTXRT_ALLOCATOR_OPTIONS_INIT};
    if (pool == NULL)
        status = find_device_pool(&model.pool);
    return status == CTXRT_SUCCESS ? cx_allocator_make(&model, out_allocator) : status;
}
