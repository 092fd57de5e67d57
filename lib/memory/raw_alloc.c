/* The public calls of raw pointers. */
#include "base/error.h"
#include "base/log.h"
#include "context/context_guard.h"
#include "memory/allocator.h"
#include "memory/cross_driver_copies.h"
#include "memory/fast_path.h"
#include "memory/owed.h"
#include "memory/address_index.h"
#include "work/relaxed_capture.h"
#include "work/stream.h"
#include "work/work.h"
#include <ctxrt/memory.h>
#include <stdlib.h>

/* The kinds that ctxrt_free accepts. */
#define FREED_AT_ONCE \
    (CX_POINTER_DEVICE | CX_POINTER_MANAGED | CX_POINTER_ASYNC | CX_POINTER_PINNED)

static cxu_result free_pinned(const cx_context *context, void *pointer)
{
    cx_context_guard guard;
    if (cx_context_guard_enter(context, &guard) != CTXRT_SUCCESS)
        return ctxrt_last_error()->driver_result;
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(context->driver);
    cx_layer_hint before = cx_thread_hint(CX_LAYER_FREE_WAITS); /* T12 */
    cxu_result result = context->driver->table.mem_free_host(pointer);
    (void)cx_thread_hint(before);
    cx_relaxed_capture_end(&relaxed);
    cx_context_guard_leave(&guard);
    return result;
}

/* Waits for the stream that the memory was allocated in: cuMemFree of stream-ordered memory waits
 * for no work (T12). The legacy stream would be another context's by now. */
static void await_own_stream(const cx_pointer_record *record)
{
    cx_error_saved saved;
    cx_stream_target target;
    cx_error_save(&saved);
    if (record->stream != CTXRT_STREAM_LEGACY &&
        cx_work_begin(record->stream, &target) == CTXRT_SUCCESS) {
        int cancel = cx_work_begin_wait(target.context);
        cx_relaxed_capture relaxed = cx_relaxed_capture_begin(target.driver);
        if (cx_relaxed_capture_may_query(target.driver, target.native))
            (void)target.driver->table.stream_synchronize(target.native);
        cx_relaxed_capture_end(&relaxed);
        cx_work_end_wait(target.context, cancel);
    }
    cx_error_restore(&saved);
}

/* Frees a record's memory. Stream-ordered memory belongs to no context and outlives a reset
 * (C3). */
static ctxrt_status free_memory(const cx_pointer_record *record)
{
    const cx_block *block = &record->block;
    cx_context *context = block->context;
    if (record->kind == CX_POINTER_DEVICE)
        return cx_block_free(block);
    ctxrt_status status = CTXRT_SUCCESS;
    cx_cross_copies_leave(block->pointer, block->size_bytes, NULL);
    if (record->kind == CX_POINTER_ASYNC)
        await_own_stream(record);
    cx_pointer_record_leave(record);
    bool waits, there = cx_block_begin_free(context, block->epoch, &waits);
    if (there || record->kind == CX_POINTER_ASYNC) {
        bool pinned = record->kind == CX_POINTER_PINNED;
        cxu_result result = pinned ? free_pinned(context, block->pointer)
                                   : cx_block_free_natively(context, block->pointer);
        if (there)
            status = cx_block_check_freed(
                context, pinned ? CX_SLOT_mem_free_host : CX_SLOT_mem_free, result);
    }
    if (waits)
        cx_context_unpin(context);
    cx_context_memory_drop(context, block->size_bytes);
    return status;
}

static ctxrt_status free_record(cx_pointer_record *record)
{
    ctxrt_status status = free_memory(record);
    free(record);
    return status;
}

static void free_record_quietly(cx_pointer_record *record)
{
    cx_error_saved saved;
    cx_error_save(&saved);
    (void)free_record(record);
    cx_error_restore(&saved);
}

/* Drops a record whose memory is gone. */
static void forget_record(cx_pointer_record *record)
{
    if (record->kind == CX_POINTER_DEVICE)
        cx_block_forget(&record->block);
    else
        cx_context_memory_drop(record->block.context, record->block.size_bytes);
    cx_pointer_record_leave(record);
    free(record);
}

/* Drops older raw pointers of an address that was handed out anew: their memory is gone. */
__attribute__((cold, noinline)) static void forget_gone(const cx_pointer_new *newest)
{
    cx_raw_pointer gone;
    while (cx_pointers_take_gone(newest, &gone)) {
        const cx_block block =
            gone.cached != 0 ? cx_cache_block_as_block(gone.cached) : gone.record->block;
        if (cx_context_holds_what_is_of(block.context, block.epoch))
            cx_log(CTXRT_LOG_WARNING, "other code freed %p, which ctxrt had allocated",
                   block.pointer);
        if (gone.cached != 0)
            cx_block_forget(&block);
        else
            forget_record(gone.record);
    }
}

static ctxrt_status hand_out(const cx_pointer_new *newest, void **out_pointer)
{
    forget_gone(newest);
    *out_pointer = newest->pointer;
    return CTXRT_SUCCESS;
}

static cx_pointer_new note_new(const cx_block *block, cx_pointer_record *record)
{
    return (cx_pointer_new){
        block->pointer, block->context, block->epoch, {block->cached, record}, block->allocator};
}

/* Adds the record of new memory to the table, or frees both. */
static ctxrt_status keep_record(cx_pointer_record *record, void **out_pointer)
{
    const cx_pointer_new newest = note_new(&record->block, record);
    ctxrt_status status = cx_pointers_put(record);
    if (status != CTXRT_SUCCESS) {
        free_record_quietly(record);
        return status;
    }
    return hand_out(&newest, out_pointer);
}

/* ---- memory of allocators ---- */

/* Frees a block without a count, whose state was `state`. */
static inline ctxrt_status free_cached(uint32_t index, uint64_t state)
{
    if (__builtin_expect((state & CX_CACHE_BLOCK_USED) == 0 &&
                             cx_fast_path_free(index, cx_cache_block_at(index)),
                         1))
        return CTXRT_SUCCESS;
    const cx_block block = cx_cache_block_as_block(index);
    return cx_block_free(&block);
}

/* The block is of the top frame's context. */
static inline ctxrt_status keep_fast(const cx_fast_block *block, void **out_pointer)
{
    const cx_pointer_new newest = {
        .pointer = block->pointer,
        .context = cx_frame_context(cx_thread_top(cx_thread_current)),
        .epoch = block->epoch,
        .raw = {.cached = block->index},
    };
    if (__builtin_expect(atomic_load(&cx_starts_shared) != 0, 0))
        forget_gone(&newest);
    *out_pointer = block->pointer;
    return CTXRT_SUCCESS;
}

static ctxrt_status keep_block(const cx_block *block, void **out_pointer)
{
    const cx_pointer_new newest = note_new(block, NULL);
    if (block->cached != 0 && block->pooled == NULL && cx_pointers_make_raw(block->cached))
        return hand_out(&newest, out_pointer);
    cx_pointer_record *record = cx_pointer_record_make(CX_POINTER_DEVICE);
    if (record == NULL) {
        cx_error_saved saved;
        cx_error_save(&saved);
        (void)cx_block_free(block);
        cx_error_restore(&saved);
        return CTXRT_ERROR_OUT_OF_MEMORY;
    }
    record->block = *block;
    return keep_record(record, out_pointer);
}

static ctxrt_status take_block(const void *request, cx_block *out_block)
{
    return cx_block_alloc(request, out_block);
}

static void give_block(const void *request, const cx_block *block)
{
    (void)request;
    (void)cx_block_free(block);
}

__attribute__((noinline)) static ctxrt_status alloc_raw(const cx_block_request *request,
                                                        void **out_pointer)
{
    cx_block block;
    const cx_owed_source source = {take_block, give_block, request};
    ctxrt_status status = cx_block_check_request(request->call, request->size_bytes, out_pointer);
    if (status == CTXRT_SUCCESS)
        status = cx_owed_take_other(&source, &block);
    return status == CTXRT_SUCCESS ? keep_block(&block, out_pointer) : status;
}

ctxrt_status ctxrt_alloc(size_t size_bytes, void **out_pointer)
{
    cx_fast_block fast;
    bool taken = out_pointer != NULL && cx_fast_path_alloc(size_bytes, CX_CACHE_BLOCK_RAW, &fast);
    if (__builtin_expect(taken, 1))
        return keep_fast(&fast, out_pointer);
    const cx_block_request request = {.call = "ctxrt_alloc", .size_bytes = size_bytes};
    return alloc_raw(&request, out_pointer);
}

ctxrt_status ctxrt_alloc_on(ctxrt_context *context, size_t size_bytes, void **out_pointer)
{
    const cx_block_request request = {
        "ctxrt_alloc_on", size_bytes, cx_allocator_default, true, context};
    return alloc_raw(&request, out_pointer);
}

ctxrt_status ctxrt_alloc_direct(size_t size_bytes, void **out_pointer)
{
    const cx_block_request request = {
        "ctxrt_alloc_direct", size_bytes, cx_allocator_direct, false, NULL};
    return alloc_raw(&request, out_pointer);
}

__attribute__((noinline)) static ctxrt_status free_slowly(void *pointer)
{
    cx_raw_pointer taken;
    ctxrt_status status = cx_pointers_take("ctxrt_free", pointer, FREED_AT_ONCE, &taken);
    if (status != CTXRT_SUCCESS)
        return status;
    if (taken.cached == 0)
        return free_record(taken.record);
    _Atomic uint64_t *state = &cx_cache_block_at(taken.cached)->state;
    return free_cached(taken.cached, atomic_fetch_and(state, CX_CACHE_BLOCK_KEPT));
}

ctxrt_status ctxrt_free(void *pointer)
{
    ctxrt_status status;
    if (!cx_runtime_enter_release(&status) || pointer == NULL)
        return status;
    uint64_t state;
    uint32_t index = cx_pointers_take_cached(pointer, &state);
    return __builtin_expect(index != 0, 1) ? free_cached(index, state) : free_slowly(pointer);
}

/* ---- managed, pinned and in stream order ---- */

static ctxrt_status ask_for_managed(const cx_driver *driver, size_t size_bytes, void **out_pointer)
{
    CUdeviceptr address = 0;
    ctxrt_status status =
        CX_DRIVER_CALL(driver, mem_alloc_managed, (&address, size_bytes, CXU_MEM_ATTACH_GLOBAL));
    *out_pointer = (void *)(uintptr_t)address;
    return status;
}

static ctxrt_status ask_for_pinned(const cx_driver *driver, size_t size_bytes, void **out_pointer)
{
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(driver);
    ctxrt_status status = CX_DRIVER_CALL(driver, mem_host_alloc,
                                         (out_pointer, size_bytes, CXU_MEMHOSTALLOC_PORTABLE));
    cx_relaxed_capture_end(&relaxed);
    return status;
}

static ctxrt_status ask_in_stream(const cx_driver *driver, size_t size_bytes, CUstream native,
                                  void **out_pointer)
{
    CUdeviceptr address = 0;
    ctxrt_status status = CX_DRIVER_CALL(driver, mem_alloc_async, (&address, size_bytes, native));
    *out_pointer = (void *)(uintptr_t)address;
    return status;
}

/* Pins the context of the top frame; balance with cx_work_end_wait. */
static ctxrt_status pin_current(cx_context **out_context, int *out_cancel)
{
    cx_thread *thread;
    cx_frame *frame;
    ctxrt_status status = cx_stack_enter(&thread, &frame);
    if (status == CTXRT_SUCCESS)
        status = cx_context_enter(cx_frame_context(frame));
    if (status != CTXRT_SUCCESS)
        return status;
    *out_context = cx_frame_context(frame);
    *out_cancel = cx_work_begin_wait(*out_context);
    return CTXRT_SUCCESS;
}

/* A request that goes to the driver, in a context that is pinned. */
typedef struct driver_request {
    cx_pointer_kind kind;
    cx_context *context;
    uint32_t epoch;
    size_t size_bytes;
    const cx_stream_target *target; /* of memory in stream order */
} driver_request;

static ctxrt_status take_from_driver(const void *request, cx_block *out_block)
{
    const driver_request *wanted = request;
    const cx_driver *driver = wanted->context->driver;
    *out_block = (cx_block){
        .size_bytes = wanted->size_bytes, .context = wanted->context, .epoch = wanted->epoch};
    return wanted->kind == CX_POINTER_MANAGED
               ? ask_for_managed(driver, wanted->size_bytes, &out_block->pointer)
           : wanted->kind == CX_POINTER_PINNED
               ? ask_for_pinned(driver, wanted->size_bytes, &out_block->pointer)
               : ask_in_stream(driver, wanted->size_bytes, wanted->target->native,
                               &out_block->pointer);
}

static void give_to_driver(const void *request, const cx_block *block)
{
    const driver_request *wanted = request;
    if (wanted->kind == CX_POINTER_PINNED)
        (void)free_pinned(wanted->context, block->pointer);
    else if (wanted->kind == CX_POINTER_MANAGED)
        (void)cx_block_free_natively(wanted->context, block->pointer);
    else
        (void)wanted->context->driver->table.mem_free_async((uintptr_t)block->pointer,
                                                            wanted->target->native);
}

static ctxrt_status alloc_there(const driver_request *request, void **out_pointer)
{
    const cx_owed_source source = {take_from_driver, give_to_driver, request};
    cx_memory_watch_contexts();
    cx_pointer_record *record = cx_pointer_record_make(request->kind);
    if (record == NULL)
        return CTXRT_ERROR_OUT_OF_MEMORY;
    record->stream = request->target != NULL ? request->target->stream : NULL;
    ctxrt_status status = cx_owed_take_other(&source, &record->block);
    if (status != CTXRT_SUCCESS) {
        free(record);
        return status;
    }
    cx_context_memory_add(request->context, request->size_bytes);
    return keep_record(record, out_pointer);
}

static ctxrt_status alloc_of_kind(const char *call, cx_pointer_kind kind, size_t size_bytes,
                                  void **out_pointer)
{
    int cancel;
    cx_context *context;
    ctxrt_status status = cx_block_check_request(call, size_bytes, out_pointer);
    if (status == CTXRT_SUCCESS)
        status = pin_current(&context, &cancel);
    if (status != CTXRT_SUCCESS)
        return status;
    const driver_request request = {kind, context, cx_context_pinned_epoch(context), size_bytes,
                                    NULL};
    status = alloc_there(&request, out_pointer);
    cx_work_end_wait(context, cancel);
    return status;
}

ctxrt_status ctxrt_alloc_managed(size_t size_bytes, void **out_pointer)
{
    return alloc_of_kind("ctxrt_alloc_managed", CX_POINTER_MANAGED, size_bytes, out_pointer);
}

ctxrt_status ctxrt_alloc_pinned(size_t size_bytes, void **out_pointer)
{
    return alloc_of_kind("ctxrt_alloc_pinned", CX_POINTER_PINNED, size_bytes, out_pointer);
}

ctxrt_status ctxrt_alloc_async(size_t size_bytes, ctxrt_stream *stream, void **out_pointer)
{
    cx_stream_target target;
    ctxrt_status status = cx_block_check_request("ctxrt_alloc_async", size_bytes, out_pointer);
    if (status == CTXRT_SUCCESS)
        status = cx_work_begin(stream, &target);
    if (status != CTXRT_SUCCESS)
        return status;
    int cancel = cx_work_begin_wait(target.context);
    const driver_request request = {CX_POINTER_ASYNC, target.context, target.epoch, size_bytes,
                                    &target};
    status = alloc_there(&request, out_pointer);
    cx_work_end_wait(target.context, cancel);
    return status;
}

static ctxrt_status free_in_stream(const cx_pointer_record *record, const cx_stream_target *target)
{
    if (record->block.context->driver != target->driver)
        return cx_error(
            CTXRT_ERROR_WRONG_CONTEXT,
            "ctxrt_free_async: the memory is of %s, and the stream of %s, which has another "
            "driver",
            cx_context_text(record->block.context), cx_context_text(target->context));
    cx_cross_copies_leave(record->block.pointer, record->block.size_bytes, target);
    cx_pointer_record_leave(record);
    return CX_DRIVER_CALL(target->driver, mem_free_async,
                          ((uintptr_t)record->block.pointer, target->native));
}

/* There is room: it was in the table a moment ago. */
static void put_back(cx_pointer_record *record)
{
    cx_error_saved saved;
    cx_error_save(&saved);
    (void)cx_pointers_put(record);
    cx_error_restore(&saved);
}

/* The stream's context is pinned. */
static ctxrt_status take_and_free(void *pointer, const cx_stream_target *target)
{
    cx_raw_pointer taken;
    ctxrt_status status = cx_pointers_take("ctxrt_free_async", pointer, CX_POINTER_ASYNC, &taken);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_pointer_record *record = taken.record;
    status = free_in_stream(record, target);
    if (status != CTXRT_SUCCESS) {
        put_back(record);
        return status;
    }
    cx_context_memory_drop(record->block.context, record->block.size_bytes);
    free(record);
    return CTXRT_SUCCESS;
}

ctxrt_status ctxrt_free_async(void *pointer, ctxrt_stream *stream)
{
    cx_stream_target target;
    ctxrt_status status;
    if (!cx_runtime_enter_release(&status) || pointer == NULL)
        return status;
    status = cx_work_begin(stream, &target);
    if (status != CTXRT_SUCCESS)
        return status;
    int cancel = cx_work_begin_wait(target.context);
    status = take_and_free(pointer, &target);
    cx_work_end_wait(target.context, cancel);
    return status;
}

/* ---- the caller's own pages ---- */

static ctxrt_status pin_pages(const cx_context *context, void *pointer, size_t size_bytes)
{
    const cx_driver *driver = context->driver;
    cxu_result result =
        driver->table.mem_host_register(pointer, size_bytes, CXU_MEMHOSTREGISTER_PORTABLE);
    if (result == CXU_HOST_MEMORY_ALREADY_REGISTERED)
        return cx_error_driver_call(
            CTXRT_ERROR_ALREADY, cx_symbols[CX_SLOT_mem_host_register].symbol, result,
            cx_driver_result_name(driver, result), "some of the %zu bytes at %p are pinned already",
            size_bytes, pointer);
    return cx_driver_check(driver, CX_SLOT_mem_host_register, result);
}

static ctxrt_status unpin_pages(const cx_pointer_record *record)
{
    cx_context_guard guard;
    cx_context *context = record->block.context;
    cx_cross_copies_leave(record->block.pointer, record->block.size_bytes, NULL);
    cx_pointer_record_leave(record);
    if (!cx_context_pin_what_is_of(context, record->block.epoch))
        return CTXRT_SUCCESS;
    ctxrt_status status = cx_context_guard_enter(context, &guard);
    if (status == CTXRT_SUCCESS) {
        status = CX_DRIVER_CALL(context->driver, mem_host_unregister, (record->block.pointer));
        cx_context_guard_leave(&guard);
    }
    cx_context_unpin(context);
    return status;
}

/* Two drivers may have pinned the same pages, but a record stands for one. Pages registered before
 * a reset are forgotten when they are registered again. */
static ctxrt_status keep_registered(cx_pointer_record *record)
{
    cx_raw_pointer before;
    const cx_context *context;
    ctxrt_status status = CTXRT_SUCCESS;
    while (cx_pointers_take_stale(record->block.pointer, CX_POINTER_REGISTERED, &before))
        forget_record(before.record);
    if (cx_pointers_has(record->block.pointer, &context))
        status = cx_error(CTXRT_ERROR_ALREADY, "the memory at %p is ctxrt's already: it is of %s",
                          record->block.pointer, cx_context_text(context));
    if (status == CTXRT_SUCCESS)
        status = cx_pointers_put(record);
    if (status != CTXRT_SUCCESS) {
        cx_error_saved saved;
        cx_error_save(&saved);
        (void)unpin_pages(record);
        cx_error_restore(&saved);
    }
    return status;
}

static ctxrt_status check_pages(const void *pointer, size_t size_bytes)
{
    uintptr_t end;
    if (pointer == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_host_register: pointer is NULL");
    if (size_bytes == 0 || __builtin_add_overflow((uintptr_t)pointer, size_bytes, &end))
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "ctxrt_host_register: there are no %zu bytes at %p", size_bytes, pointer);
    return CTXRT_SUCCESS;
}

static ctxrt_status register_there(cx_context *context, void *pointer, size_t size_bytes)
{
    cx_pointer_record *record = cx_pointer_record_make(CX_POINTER_REGISTERED);
    if (record == NULL)
        return CTXRT_ERROR_OUT_OF_MEMORY;
    record->block = (cx_block){
        .pointer = pointer,
        .size_bytes = size_bytes,
        .context = context,
        .epoch = cx_context_pinned_epoch(context),
    };
    cx_context_memory_add(context, size_bytes);
    ctxrt_status status = pin_pages(context, pointer, size_bytes);
    if (status == CTXRT_SUCCESS)
        status = keep_registered(record);
    if (status != CTXRT_SUCCESS) {
        cx_context_memory_drop(context, size_bytes);
        free(record);
    }
    return status;
}

ctxrt_status ctxrt_host_register(void *pointer, size_t size_bytes)
{
    int cancel;
    cx_context *context;
    ctxrt_status status = cx_runtime_enter();
    if (status == CTXRT_SUCCESS)
        status = check_pages(pointer, size_bytes);
    if (status == CTXRT_SUCCESS)
        status = pin_current(&context, &cancel);
    if (status != CTXRT_SUCCESS)
        return status;
    status = register_there(context, pointer, size_bytes);
    cx_work_end_wait(context, cancel);
    return status;
}

ctxrt_status ctxrt_host_unregister(void *pointer)
{
    cx_raw_pointer taken;
    ctxrt_status status;
    if (!cx_runtime_enter_release(&status))
        return status;
    if (pointer == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_host_unregister: pointer is NULL");
    status = cx_pointers_take("ctxrt_host_unregister", pointer, CX_POINTER_REGISTERED, &taken);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_pointer_record *record = taken.record;
    status = unpin_pages(record);
    cx_context_memory_drop(record->block.context, record->block.size_bytes);
    free(record);
    return status;
}
