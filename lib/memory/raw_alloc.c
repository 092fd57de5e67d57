/* The public calls of raw pointers. */
#include "base/error.h"
#include "base/log.h"
#include "context/excursion.h"
#include "memory/across.h"
#include "memory/raw.h"
#include "memory/shortcut.h"
#include "memory/starts.h"
#include "work/stream.h"
#include "work/uncaptured.h"
#include <ctxrt/memory.h>
#include <stdlib.h>

/* What ctxrt_free takes. */
#define FREED_AT_ONCE (CX_RAW_DEVICE | CX_RAW_MANAGED | CX_RAW_ASYNC | CX_RAW_PINNED)

static bool stale(const cx_raw *raw)
{
    return !cx_context_holds_what_is_of(raw->block.context, raw->block.epoch);
}

static cxu_result free_pinned(const cx_context *context, void *pointer)
{
    cx_excursion excursion;
    if (cx_excursion_begin(context, &excursion) != CTXRT_SUCCESS)
        return ctxrt_last_error()->driver_result;
    cx_uncaptured uncaptured = cx_uncaptured_begin(context->driver);
    cxu_result result = context->driver->table.mem_free_host(pointer);
    cx_uncaptured_end(&uncaptured);
    cx_excursion_end(&excursion);
    return result;
}

static cxu_result free_natively(const cx_context *context, const void *pointer)
{
    cx_uncaptured uncaptured = cx_uncaptured_begin(context->driver);
    cxu_result result = context->driver->table.mem_free((uintptr_t)pointer);
    cx_uncaptured_end(&uncaptured);
    return result;
}

/* Frees what a record stands for. Stream-ordered memory is of no context and outlives a reset
 * (C3). */
static ctxrt_status free_memory(const cx_raw *raw)
{
    const cx_block *block = &raw->block;
    cx_context *context = block->context;
    if (raw->kind == CX_RAW_DEVICE)
        return cx_block_free(block);
    ctxrt_status status = CTXRT_SUCCESS;
    cx_across_leave(block->pointer, block->size_bytes, NULL);
    bool gone = stale(raw);
    if (!gone || raw->kind == CX_RAW_ASYNC) {
        bool pinned = raw->kind == CX_RAW_PINNED;
        cxu_result result = pinned ? free_pinned(context, block->pointer)
                                   : free_natively(context, block->pointer);
        if (!gone)
            status = cx_block_check_freed(
                context, pinned ? CX_SLOT_mem_free_host : CX_SLOT_mem_free, result);
    }
    cx_context_memory_drop(context, block->size_bytes);
    return status;
}

static void warn_of_other_code(const void *pointer)
{
    cx_log(CTXRT_LOG_WARNING, "other code freed %p, which ctxrt had allocated", pointer);
}

/* A record whose memory is gone, since its address was given out anew. */
static void forget(cx_raw *raw)
{
    if (raw == NULL)
        return;
    if (!stale(raw))
        warn_of_other_code(raw->block.pointer);
    if (raw->kind == CX_RAW_DEVICE)
        cx_block_forget(&raw->block);
    else
        cx_context_memory_drop(raw->block.context, raw->block.size_bytes);
    free(raw);
}

/* A piece whose memory is gone, likewise; 0: none. */
static void forget_piece(uint32_t index)
{
    if (index == 0)
        return;
    const cx_block block = cx_piece_block(index);
    if (cx_context_holds_what_is_of(block.context, block.epoch))
        warn_of_other_code(block.pointer);
    cx_block_forget(&block);
}

/* Puts the record of memory just allocated into the table, or frees both. */
static ctxrt_status keep(cx_raw *raw, void **out_pointer)
{
    cx_raw *before = NULL;
    void *pointer = raw->block.pointer;
    ctxrt_status status = cx_raw_put(raw, &before);
    forget(before);
    forget_piece(cx_starts_take(pointer));
    if (status == CTXRT_SUCCESS) {
        *out_pointer = pointer;
    } else {
        cx_error_saved saved;
        cx_error_save(&saved);
        (void)free_memory(raw);
        cx_error_restore(&saved);
        free(raw);
    }
    return status;
}

/* ---- the allocator's ---- */

static ctxrt_status free_piece(uint32_t index)
{
    if (__builtin_expect(cx_shortcut_free_own(index, cx_piece_head_at(index)), 1))
        return CTXRT_SUCCESS;
    const cx_block block = cx_piece_block(index);
    return cx_block_free(&block);
}

static ctxrt_status keep_piece(uint32_t index, void **out_pointer)
{
    uint32_t before;
    void *pointer = atomic_load_explicit(&cx_piece_at(index)->pointer, memory_order_relaxed);
    if (__builtin_expect(!cx_starts_put(index, &before), 0)) {
        (void)free_piece(index);
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for the table of pointers");
    }
    if (__builtin_expect(before != 0, 0))
        forget_piece(before);
    forget(cx_raw_take_any(pointer));
    *out_pointer = pointer;
    return CTXRT_SUCCESS;
}

static ctxrt_status keep_block(const cx_block *block, void **out_pointer)
{
    if (block->piece != 0 && block->held == NULL)
        return keep_piece(block->piece, out_pointer);
    cx_raw *raw = cx_raw_new(CX_RAW_DEVICE);
    if (raw == NULL) {
        cx_error_saved saved;
        cx_error_save(&saved);
        (void)cx_block_free(block);
        cx_error_restore(&saved);
        return CTXRT_ERROR_OUT_OF_MEMORY;
    }
    raw->block = *block;
    return keep(raw, out_pointer);
}

ctxrt_status ctxrt_alloc(size_t size_bytes, void **out_pointer)
{
    cx_block block;
    uint32_t generation;
    uint32_t index = out_pointer != NULL ? cx_shortcut_alloc(size_bytes, &generation) : 0;
    if (__builtin_expect(index != 0, 1))
        return keep_piece(index, out_pointer);
    ctxrt_status status = cx_block_check_request("ctxrt_alloc", size_bytes, out_pointer);
    if (status == CTXRT_SUCCESS)
        status = cx_block_alloc(size_bytes, &block);
    return status == CTXRT_SUCCESS ? keep_block(&block, out_pointer) : status;
}

ctxrt_status ctxrt_alloc_direct(size_t size_bytes, void **out_pointer)
{
    cx_block block;
    ctxrt_status status = cx_block_check_request("ctxrt_alloc_direct", size_bytes, out_pointer);
    if (status == CTXRT_SUCCESS)
        status = cx_block_alloc_direct(size_bytes, &block);
    return status == CTXRT_SUCCESS ? keep_block(&block, out_pointer) : status;
}

ctxrt_status ctxrt_free(void *pointer)
{
    cx_raw *raw;
    ctxrt_status status;
    if (!cx_runtime_enter_release(&status) || pointer == NULL)
        return status;
    uint32_t index = cx_starts_take(pointer);
    if (__builtin_expect(index != 0, 1))
        return free_piece(index);
    status =
        cx_raw_take("ctxrt_free", pointer, FREED_AT_ONCE, &raw);
    if (status != CTXRT_SUCCESS)
        return status;
    status = free_memory(raw);
    free(raw);
    return status;
}

/* ---- managed and pinned ---- */

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
    cx_uncaptured uncaptured = cx_uncaptured_begin(driver);
    ctxrt_status status = CX_DRIVER_CALL(driver, mem_host_alloc,
                                         (out_pointer, size_bytes, CXU_MEMHOSTALLOC_PORTABLE));
    cx_uncaptured_end(&uncaptured);
    return status;
}

static ctxrt_status alloc_of_kind(const char *call, cx_raw_kind kind,
                                  ctxrt_status (*ask)(const cx_driver *, size_t, void **),
                                  size_t size_bytes, void **out_pointer)
{
    cx_thread *thread;
    cx_frame *frame;
    ctxrt_status status = cx_block_check_request(call, size_bytes, out_pointer);
    if (status == CTXRT_SUCCESS)
        status = cx_stack_enter(&thread, &frame);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_raw *raw = cx_raw_new(kind);
    if (raw == NULL)
        return CTXRT_ERROR_OUT_OF_MEMORY;
    cx_context *context = cx_frame_context(frame);
    raw->block.context = context;
    raw->block.epoch = atomic_load(&context->epoch);
    raw->block.size_bytes = size_bytes;
    status = ask(context->driver, size_bytes, &raw->block.pointer);
    if (status != CTXRT_SUCCESS) {
        free(raw);
        return status;
    }
    cx_context_memory_add(context, size_bytes);
    return keep(raw, out_pointer);
}

ctxrt_status ctxrt_alloc_managed(size_t size_bytes, void **out_pointer)
{
    return alloc_of_kind("ctxrt_alloc_managed", CX_RAW_MANAGED, ask_for_managed, size_bytes,
                         out_pointer);
}

ctxrt_status ctxrt_alloc_pinned(size_t size_bytes, void **out_pointer)
{
    return alloc_of_kind("ctxrt_alloc_pinned", CX_RAW_PINNED, ask_for_pinned, size_bytes,
                         out_pointer);
}

/* ---- in stream order ---- */

ctxrt_status ctxrt_alloc_async(size_t size_bytes, ctxrt_stream *stream, void **out_pointer)
{
    cx_stream_target target;
    CUdeviceptr address;
    ctxrt_status status = cx_block_check_request("ctxrt_alloc_async", size_bytes, out_pointer);
    if (status == CTXRT_SUCCESS)
        status = cx_stream_resolve(stream, &target);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_raw *raw = cx_raw_new(CX_RAW_ASYNC);
    if (raw == NULL)
        return CTXRT_ERROR_OUT_OF_MEMORY;
    raw->block.context = target.context;
    raw->block.epoch = atomic_load(&target.context->epoch);
    raw->block.size_bytes = size_bytes;
    status = CX_DRIVER_CALL(target.driver, mem_alloc_async, (&address, size_bytes, target.native));
    if (status != CTXRT_SUCCESS) {
        free(raw);
        return status;
    }
    raw->block.pointer = (void *)(uintptr_t)address;
    cx_context_memory_add(target.context, size_bytes);
    return keep(raw, out_pointer);
}

static ctxrt_status free_in_stream(const cx_raw *raw, const cx_stream_target *target)
{
    if (raw->block.context->driver != target->driver)
        return cx_error(
            CTXRT_ERROR_WRONG_CONTEXT,
            "ctxrt_free_async: the memory is of %s, and the stream of %s, which has another "
            "driver",
            cx_context_text(raw->block.context), cx_context_text(target->context));
    cx_across_leave(raw->block.pointer, raw->block.size_bytes, target);
    return CX_DRIVER_CALL(target->driver, mem_free_async,
                          ((uintptr_t)raw->block.pointer, target->native));
}

ctxrt_status ctxrt_free_async(void *pointer, ctxrt_stream *stream)
{
    cx_stream_target target;
    cx_raw *raw, *before;
    ctxrt_status status;
    if (!cx_runtime_enter_release(&status) || pointer == NULL)
        return status;
    status = cx_stream_resolve(stream, &target);
    if (status == CTXRT_SUCCESS)
        status = cx_raw_take("ctxrt_free_async", pointer, CX_RAW_ASYNC, &raw);
    if (status != CTXRT_SUCCESS)
        return status;
    status = free_in_stream(raw, &target);
    if (status != CTXRT_SUCCESS) {
        cx_error_saved saved;
        cx_error_save(&saved);
        /* It was in the table a moment ago: there is room. */
        (void)cx_raw_put(raw, &before);
        forget(before);
        cx_error_restore(&saved);
        return status;
    }
    cx_context_memory_drop(raw->block.context, raw->block.size_bytes);
    free(raw);
    return CTXRT_SUCCESS;
}

/* ---- the caller's own pages ---- */

static ctxrt_status pin(const cx_context *context, void *pointer, size_t size_bytes)
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

static ctxrt_status unpin(const cx_raw *raw)
{
    cx_excursion excursion;
    const cx_context *context = raw->block.context;
    cx_across_leave(raw->block.pointer, raw->block.size_bytes, NULL);
    if (stale(raw))
        return CTXRT_SUCCESS;
    ctxrt_status status = cx_excursion_begin(context, &excursion);
    if (status == CTXRT_SUCCESS) {
        status = CX_DRIVER_CALL(context->driver, mem_host_unregister, (raw->block.pointer));
        cx_excursion_end(&excursion);
    }
    return status;
}

static ctxrt_status already(const void *pointer, const cx_context *context)
{
    return cx_error(CTXRT_ERROR_ALREADY, "the memory at %p is ctxrt's already: it is of %s",
                    pointer, cx_context_text(context));
}

static ctxrt_status check_no_piece(const void *pointer)
{
    uint32_t index = cx_starts_find(pointer);
    if (index == 0)
        return CTXRT_SUCCESS;
    const cx_block block = cx_piece_block(index);
    if (cx_context_holds_what_is_of(block.context, block.epoch))
        return already(pointer, block.context);
    forget_piece(cx_starts_take(pointer));
    return CTXRT_SUCCESS;
}

/* Two drivers may both have pinned the same pages; one record can stand for one only. */
static ctxrt_status keep_registered(cx_raw *raw)
{
    cx_raw *before = NULL, *ours;
    ctxrt_status status = check_no_piece(raw->block.pointer);
    if (status == CTXRT_SUCCESS)
        status = cx_raw_put(raw, &before);
    if (status == CTXRT_SUCCESS && before != NULL && !stale(before)) {
        status = already(raw->block.pointer, before->block.context);
        (void)cx_raw_put(before, &ours);
    } else {
        forget(before);
    }
    if (status != CTXRT_SUCCESS) {
        cx_error_saved saved;
        cx_error_save(&saved);
        (void)unpin(raw);
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

ctxrt_status ctxrt_host_register(void *pointer, size_t size_bytes)
{
    cx_thread *thread;
    cx_frame *frame;
    ctxrt_status status = cx_runtime_enter();
    if (status == CTXRT_SUCCESS)
        status = check_pages(pointer, size_bytes);
    if (status == CTXRT_SUCCESS)
        status = cx_stack_enter(&thread, &frame);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_raw *raw = cx_raw_new(CX_RAW_REGISTERED);
    if (raw == NULL)
        return CTXRT_ERROR_OUT_OF_MEMORY;
    cx_context *context = cx_frame_context(frame);
    raw->block = (cx_block){
        .pointer = pointer,
        .size_bytes = size_bytes,
        .context = context,
        .epoch = atomic_load(&context->epoch),
    };
    cx_context_memory_add(context, size_bytes);
    status = pin(context, pointer, size_bytes);
    if (status == CTXRT_SUCCESS)
        status = keep_registered(raw);
    if (status != CTXRT_SUCCESS) {
        cx_context_memory_drop(context, size_bytes);
        free(raw);
    }
    return status;
}

ctxrt_status ctxrt_host_unregister(void *pointer)
{
    cx_raw *raw;
    ctxrt_status status;
    if (!cx_runtime_enter_release(&status))
        return status;
    if (pointer == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_host_unregister: pointer is NULL");
    status = cx_raw_take("ctxrt_host_unregister", pointer, CX_RAW_REGISTERED, &raw);
    if (status != CTXRT_SUCCESS)
        return status;
    status = unpin(raw);
    cx_context_memory_drop(raw->block.context, raw->block.size_bytes);
    free(raw);
    return status;
}
