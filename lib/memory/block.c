#include "memory/block.h"

#include "base/error.h"
#include "base/log.h"
#include "context/context_guard.h"
#include "context/named.h"
#include "memory/cache.h"
#include "memory/cross_driver_copies.h"
#include "memory/diagnosis.h"
#include "memory/pinned.h"
#include "memory/private_pool.h"
#include "work/default_stream.h"
#include "work/relaxed_capture.h"
#include "work/work.h"

bool cx_block_enter(const cx_context *context, uint32_t epoch)
{
    cx_thread *thread;
    if (cx_thread_self(&thread) != CTXRT_SUCCESS || cx_context_enter(context) != CTXRT_SUCCESS)
        return false;
    if (atomic_load(&context->epoch) == epoch)
        return true;
    cx_section_leave();
    return false;
}

ctxrt_status cx_block_overtaken(const cx_context *context)
{
    return cx_error(CTXRT_ERROR_CONTEXT_DESTROYED, "%s was reset by another thread meanwhile",
                    cx_context_text(context));
}

static ctxrt_status beyond_limit(const cx_allocator *allocator, size_t size_bytes)
{
    return cx_error(
        CTXRT_ERROR_OUT_OF_MEMORY,
        "%zu bytes are beyond the limit of the allocator of %s: %llu of %llu bytes are in use",
        size_bytes, cx_context_text(allocator->context),
        (unsigned long long)atomic_load(&allocator->figures.live_bytes),
        (unsigned long long)atomic_load(&allocator->figures.limit_bytes));
}

static ctxrt_status serve_request(cx_allocator *allocator, const cx_allocation *request,
                                  cx_block *block)
{
    if (!cx_counters_reserve(&allocator->figures, request->size_bytes))
        return beyond_limit(allocator, request->size_bytes);
    /* It is counted: its block does not change any more. */
    if (__builtin_expect((atomic_load(&allocator->figures.live_count) & CX_COUNTERS_CLOSED) != 0,
                         0))
        cx_allocator_wait_open(allocator);
    ctxrt_status status = cx_allocator_kind_of(allocator)->alloc(allocator, request, block);
    if (status != CTXRT_SUCCESS) {
        cx_counters_failed(&allocator->figures, request->size_bytes);
        return status;
    }
    cx_counters_served(&allocator->figures, request->size_bytes);
    if (__builtin_expect(atomic_load_explicit(&allocator->watched, memory_order_acquire), 0))
        cx_diagnosis_hook.allocated(allocator, block);
    return CTXRT_SUCCESS;
}

ctxrt_status cx_block_take(cx_block *block, ctxrt_stream *stream)
{
    const cx_allocation request = {block->context, block->epoch, block->size_bytes, stream,
                                   cx_thread_current};
    /* The figures of a cache's allocator count for its context, too. */
    if (__builtin_expect(block->allocator->cache != NULL, 1))
        return serve_request(block->allocator, &request, block);
    cx_context_memory_add(block->context, block->size_bytes);
    ctxrt_status status = serve_request(block->allocator, &request, block);
    if (status != CTXRT_SUCCESS)
        cx_context_memory_drop(block->context, block->size_bytes);
    return status;
}

/* Resolves a request in one epoch of the frame's context. */
static ctxrt_status resolve_request(const cx_block_request *request, cx_block *block,
                                    ctxrt_stream **out_stream)
{
    cx_stream_target target;
    ctxrt_status status = cx_work_begin(NULL, &target);
    if (status != CTXRT_SUCCESS)
        return status;
    block->context = target.context;
    block->epoch = target.epoch;
    *out_stream = target.stream;
    status = request->get_own != NULL ? request->get_own(target.context, &block->allocator)
                                      : cx_allocator_of_frame(cx_thread_top(cx_thread_current),
                                                              &block->allocator);
    cx_work_end();
    return status;
}

static ctxrt_status alloc_in_frame(const cx_block_request *request, cx_block *block)
{
    ctxrt_stream *stream;
    ctxrt_status status = resolve_request(request, block, &stream);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_private_pool_use *use = cx_private_pool_in_frame(cx_thread_top(cx_thread_current));
    return __builtin_expect(use == NULL, 1) ? cx_block_take(block, stream)
                                            : cx_private_pool_alloc(use, block, stream);
}

/* ---- blocks of a context that the caller names ---- */

/* In the section. The context counts an object until the block counts itself, and so does not end
 * meanwhile. */
static ctxrt_status resolve_named(cx_context *context, const cx_block_request *request,
                                  cx_block *block, ctxrt_stream **out_stream)
{
    block->context = context;
    block->epoch = atomic_load(&context->epoch);
    ctxrt_status status = cx_default_stream_get(cx_thread_current, context, out_stream);
    if (status == CTXRT_SUCCESS)
        status = request->get_own(context, &block->allocator);
    if (status == CTXRT_SUCCESS)
        cx_context_object_add(context, CX_OBJECT_MEMORY);
    return status;
}

static ctxrt_status alloc_in_context(const cx_block_request *request, cx_block *block)
{
    cx_named_context named;
    ctxrt_stream *stream;
    ctxrt_status status = cx_named_context_enter(request->call, request->context, &named);
    if (status != CTXRT_SUCCESS)
        return status;
    status = resolve_named(named.context, request, block, &stream);
    cx_section_leave();
    if (status == CTXRT_SUCCESS) {
        status = cx_block_take(block, stream);
        cx_context_object_drop(named.context, CX_OBJECT_MEMORY);
    }
    cx_context_guard_leave(&named.guard);
    return status;
}

/* ---- out of memory ---- */

/* Callbacks that were ever set; while there is none, no request keeps the last error. */
static _Atomic bool may_ask_user;

/* The calling thread is in such a callback. */
static _Thread_local bool asks_user;

ctxrt_status ctxrt_allocator_set_out_of_memory(ctxrt_allocator *handle,
                                               ctxrt_out_of_memory callback, void *user_data)
{
    cx_allocator *allocator;
    ctxrt_status status = cx_allocator_resolve(handle, &allocator);
    if (status != CTXRT_SUCCESS)
        return status;
    if (callback != NULL)
        atomic_store(&may_ask_user, true);
    atomic_store(&allocator->out_of_memory_data, user_data);
    atomic_store(&allocator->out_of_memory, callback);
    return CTXRT_SUCCESS;
}

/* A request that may be made more than once. */
typedef struct attempts {
    bool keeps_error;
    cx_error_saved before; /* a success leaves the last error alone */
    unsigned int count;
} attempts;

static void begin_attempts(attempts *self)
{
    self->count = 0;
    self->keeps_error = atomic_load_explicit(&may_ask_user, memory_order_relaxed);
    if (self->keeps_error)
        cx_error_save(&self->before);
}

/* No lock is held, and no section entered: the callback may do anything. */
static bool ask_user(attempts *self, const cx_block *block)
{
    cx_allocator *allocator = block->allocator;
    ctxrt_out_of_memory callback =
        allocator != NULL ? atomic_load(&allocator->out_of_memory) : NULL;
    if (callback == NULL || asks_user)
        return false;
    cx_error_saved refusal;
    cx_error_save(&refusal);
    asks_user = true;
    bool again = callback(cx_pool_handle(&cx_allocators, allocator), block->size_bytes,
                          ++self->count, atomic_load(&allocator->out_of_memory_data)) != 0;
    asks_user = false;
    cx_error_restore(&refusal);
    return again;
}

/* After a reset the frame has another stream. */
static bool is_to_be_repeated(attempts *self, const cx_block *block, ctxrt_status status)
{
    if (status == CTXRT_ERROR_OUT_OF_MEMORY)
        return ask_user(self, block);
    if (status == CTXRT_SUCCESS && self->count != 0 && self->keeps_error)
        cx_error_restore(&self->before);
    return status == CTXRT_ERROR_CONTEXT_DESTROYED && block->context != NULL &&
           block->epoch != atomic_load(&block->context->epoch);
}

ctxrt_status cx_block_alloc(const cx_block_request *request, cx_block *out_block)
{
    cx_block block;
    attempts tries;
    ctxrt_status status;
    begin_attempts(&tries);
    do {
        block = (cx_block){.size_bytes = request->size_bytes};
        status = request->named ? alloc_in_context(request, &block)
                                : alloc_in_frame(request, &block);
    } while (is_to_be_repeated(&tries, &block, status));
    if (status == CTXRT_SUCCESS)
        *out_block = block;
    return status;
}

/* ---- freeing ---- */

/* After the last block is uncounted, the allocator and the context may go: neither may be
 * touched. */
static void uncount_block(const cx_block *block)
{
    cx_counters_freed(&block->allocator->figures, block->size_bytes);
    cx_context_memory_drop(block->context, block->size_bytes);
}

/* `gone`: the memory belongs to another block by now; only uncounts it. */
static ctxrt_status end_block(const cx_block *block, bool gone)
{
    ctxrt_status status = CTXRT_SUCCESS;
    cx_allocator *allocator = block->allocator;
    if (__builtin_expect(atomic_load_explicit(&allocator->watched, memory_order_acquire), 0))
        cx_diagnosis_hook.freeing(allocator, block);
    if (__builtin_expect(allocator->cache != NULL, 1)) {
        status = cx_cache_free(allocator->cache, block->cached);
        cx_counters_freed(&allocator->figures, block->size_bytes);
        return status;
    }
    if (allocator->pinned == NULL)
        cx_cross_copies_leave(block->pointer, block->size_bytes, NULL);
    const cx_allocator_kind *kind = cx_allocator_kind_of(allocator);
    if (!gone && (kind->outlives_reset ||
                  cx_context_holds_what_is_of(block->context, block->epoch)))
        status = kind->free(allocator, block);
    else if (kind->forget != NULL)
        status = kind->forget(allocator, block);
    uncount_block(block);
    return status;
}

ctxrt_status cx_block_give_back(const cx_block *block)
{
    return end_block(block, false);
}

/* The private pool that is open where a block is freed, that is in the top frame; and the frame's
 * current stream, NULL if the thread has made none for it yet. */
static cx_private_pool_use *pool_here(const ctxrt_stream **out_stream)
{
    const cx_frame *top = cx_thread_current != NULL ? cx_thread_top(cx_thread_current) : NULL;
    if (top == NULL)
        return NULL;
    *out_stream = atomic_load_explicit(&top->stream, memory_order_relaxed);
    if (*out_stream == NULL)
        *out_stream = cx_default_stream_find(cx_thread_current, cx_frame_context(top));
    return cx_private_pool_in_frame(top);
}

static ctxrt_status keep_in_pool(const void *block)
{
    const ctxrt_stream *stream;
    return cx_private_pool_keep(pool_here(&stream), block, stream);
}

/* A pool hands the block out again at once, unless it is pinned. */
static ctxrt_status keep_block(cx_private_pool_use *use, const cx_block *block,
                               const ctxrt_stream *stream)
{
    bool again = block->cached != 0 && block->allocator->pinned == NULL;
    cx_stream_uses *uses = again ? &cx_cache_block_at(block->cached)->uses : NULL;
    return uses != NULL && atomic_load(uses) != NULL
               ? cx_stream_uses_finish_before(uses, keep_in_pool, block)
               : cx_private_pool_keep(use, block, stream);
}

ctxrt_status cx_block_free(const cx_block *block)
{
    const ctxrt_stream *stream;
    if (__builtin_expect(block->pooled != NULL, 0))
        return cx_private_pool_free(block);
    cx_private_pool_use *use =
        __builtin_expect(cx_private_pools == NULL, 1) ? NULL : pool_here(&stream);
    return use == NULL ? cx_block_give_back(block) : keep_block(use, block, stream);
}

void cx_block_forget(const cx_block *block)
{
    if (block->pooled != NULL)
        cx_private_pool_forget(block);
    else
        (void)end_block(block, true);
}

/* A thread that has no memory for its record pins nothing, though the block may be there. */
bool cx_block_begin_free(cx_context *context, uint32_t epoch, bool *out_pinned)
{
    *out_pinned = cx_context_pin_what_is_of(context, epoch);
    return *out_pinned || cx_context_holds_what_is_of(context, epoch);
}

cxu_result cx_block_free_natively(const cx_context *context, const void *pointer)
{
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(context->driver);
    cxu_result result = context->driver->table.mem_free((uintptr_t)pointer);
    cx_relaxed_capture_end(&relaxed);
    return result;
}

static void await_context(const cx_context *context)
{
    const cx_driver *driver = context->driver;
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(driver);
    cxu_result result = driver->table.ctx_synchronize();
    cx_relaxed_capture_end(&relaxed);
    if (result != CXU_SUCCESS)
        cx_log(CTXRT_LOG_WARNING, "memory of a pool is freed without a wait: %s",
               cx_driver_result_name(driver, result));
}

ctxrt_status cx_block_free_of_pool(cx_context *context, uint32_t epoch, const void *pointer)
{
    cx_context_guard guard;
    bool pinned, there = cx_block_begin_free(context, epoch, &pinned);
    ctxrt_status status = there ? cx_context_guard_enter(context, &guard) : CTXRT_SUCCESS;
    if (status == CTXRT_SUCCESS) {
        if (there)
            await_context(context);
        status = cx_block_check_freed(context, CX_SLOT_mem_free,
                                      cx_block_free_natively(context, pointer));
        if (there)
            cx_context_guard_leave(&guard);
    }
    if (pinned)
        cx_context_unpin(context);
    return status;
}

ctxrt_status cx_block_check_freed(const cx_context *context, cx_slot slot, cxu_result result)
{
    if (result == CXU_SUCCESS || result == CXU_CONTEXT_IS_DESTROYED ||
        result == CXU_INVALID_CONTEXT)
        return CTXRT_SUCCESS;
    if (result == CXU_INVALID_VALUE && cx_context_lost(context))
        return CTXRT_SUCCESS;
    return cx_driver_error(context->driver, slot, result);
}

ctxrt_status cx_block_check_request(const char *call, size_t size_bytes, const void *out)
{
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (out == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "%s: the out-parameter is NULL", call);
    if (size_bytes == 0)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "%s: the size is 0", call);
    return CTXRT_SUCCESS;
}
