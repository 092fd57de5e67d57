#include "emu/base/machine.h"
#include "emu/base/state.h"
#include "emu/context/context.h"
#include "emu/device/device.h"
#include "emu/graph/capture.h"
#include "emu/memory/allocation.h"
#include "emu/memory/pool.h"
#include "emu/memory/shared.h"
#include "emu/report/not_supported.h"
#include "emu/schedule/work.h"

/* Allocates in the current context. Lock held. */
static cxu_result allocate_here(cx_emu_memory_kind kind, size_t bytes, CUdeviceptr *out_pointer)
{
    cx_emu_context *context;
    cx_emu_allocation *allocation;
    cxu_result result = cx_emu_context_current(&context);
    if (result != CXU_SUCCESS)
        return result;
    if (out_pointer == NULL || bytes == 0)
        return cx_emu_refuse(CXU_INVALID_VALUE,
                             bytes == 0 ? "0 bytes are asked for" : "dptr is NULL");
    result = cx_emu_capture_check_unsafe();
    if (result == CXU_SUCCESS)
        result = cx_emu_allocation_create(context->device, context, kind, bytes, 0, &allocation);
    if (result == CXU_SUCCESS && kind == CX_EMU_MEMORY_DEVICE)
        cx_emu_allocation_note_writes(allocation);
    if (result == CXU_SUCCESS)
        *out_pointer = allocation->address;
    return result;
}

/* The caller replaces the free memory of the host device, which has no quota: other programs and
 * other code use its memory too. */
static void read_memory_info(const cx_emu_device *device, size_t *out_free, size_t *out_total)
{
    *out_free = device->memory_bytes - device->used_bytes - device->kept_bytes;
    *out_total = device->memory_bytes;
}

cxu_result cx_emu_call_mem_get_info(size_t *out_free, size_t *out_total)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    cx_emu_context *context;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_context_current(&context);
    if (result == CXU_SUCCESS && (out_free == NULL || out_total == NULL))
        result = CXU_INVALID_VALUE;
    bool host = result == CXU_SUCCESS && context->device->host;
    if (result == CXU_SUCCESS)
        read_memory_info(context->device, out_free, out_total);
    cx_lock_leave(&cx_emu_lock);
    if (host)
        *out_free = cx_emu_machine_free_bytes();
    return result;
}

cxu_result cx_emu_memory_info(CUdevice ordinal, size_t *out_free, size_t *out_total)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    const cx_emu_device *device = cx_emu_device_find(ordinal);
    if (device != NULL)
        read_memory_info(device, out_free, out_total);
    cx_lock_leave(&cx_emu_lock);
    if (device == NULL)
        return CXU_INVALID_DEVICE;
    if (device->host)
        *out_free = cx_emu_machine_free_bytes();
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_mem_alloc(CUdeviceptr *out_pointer, size_t bytes)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = allocate_here(CX_EMU_MEMORY_DEVICE, bytes, out_pointer);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

static cxu_result allocate_pitched(CUdeviceptr *out_pointer, size_t *out_pitch, size_t width_bytes,
                                   size_t height, unsigned int element_bytes)
{
    cx_emu_context *context;
    cxu_result result = cx_emu_context_current(&context);
    if (result != CXU_SUCCESS)
        return result;
    if (out_pointer == NULL || out_pitch == NULL || width_bytes == 0 || height == 0 ||
        width_bytes > CX_EMU_MAX_PITCH - (CX_EMU_TEXTURE_ALIGNMENT - 1) ||
        (element_bytes != 4 && element_bytes != 8 && element_bytes != 16))
        return cx_emu_refuse(CXU_INVALID_VALUE, "a size is 0 or too large, or the size of an "
                                                "element is not 4, 8 or 16");
    size_t rows = (width_bytes + CX_EMU_TEXTURE_ALIGNMENT - 1) / CX_EMU_TEXTURE_ALIGNMENT;
    size_t pitch = rows * CX_EMU_TEXTURE_ALIGNMENT;
    size_t bytes;
    if (__builtin_mul_overflow(pitch, height, &bytes))
        return CXU_OUT_OF_MEMORY;
    result = allocate_here(CX_EMU_MEMORY_DEVICE, bytes, out_pointer);
    if (result == CXU_SUCCESS)
        *out_pitch = pitch;
    return result;
}

cxu_result cx_emu_call_mem_alloc_pitch(CUdeviceptr *out_pointer, size_t *out_pitch,
                                       size_t width_bytes, size_t height,
                                       unsigned int element_bytes)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = allocate_pitched(out_pointer, out_pitch, width_bytes, height, element_bytes);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* Memory of a pool or a graph, which is freed in stream order and by cuMemFree without a wait. */
static bool is_ordered(const cx_emu_allocation *allocation)
{
    return allocation->kind == CX_EMU_MEMORY_ASYNC || allocation->pool != NULL;
}

/* All kernels can reach managed memory. */
static void wait_for_kernels(const cx_emu_allocation *allocation)
{
    bool everywhere = allocation->kind == CX_EMU_MEMORY_MANAGED;

    if (!is_ordered(allocation))
        cx_emu_work_wait_kernels(everywhere ? NULL : allocation->device);
}

/* Finds the user's allocation that starts at an address. */
static cx_emu_allocation *find_owned(CUdeviceptr pointer)
{
    cx_emu_allocation *allocation = cx_emu_allocation_at_start(pointer);

    return allocation != NULL && !allocation->of_module ? allocation : NULL;
}

static cxu_result find_freeable(CUdeviceptr pointer, cx_emu_allocation **out_allocation)
{
    cxu_result result;

    *out_allocation = find_owned(pointer);
    if (*out_allocation == NULL)
        return cx_emu_refuse(CXU_INVALID_VALUE, "no allocation begins at this address");
    result = cx_emu_allocation_error(*out_allocation);
    return result == CXU_SUCCESS ? cx_emu_capture_check_unsafe() : result;
}

/* During a wait for kernels another thread may free it, or its context may become useless. */
static cxu_result free_memory(CUdeviceptr pointer)
{
    cx_emu_allocation *allocation;
    cxu_result result = find_freeable(pointer, &allocation);

    if (result != CXU_SUCCESS)
        return result;
    wait_for_kernels(allocation);
    result = find_freeable(pointer, &allocation);
    if (result != CXU_SUCCESS)
        return result;
    if (allocation->block != NULL)
        return cx_emu_block_free(allocation->block);
    if (is_ordered(allocation)) {
        if (!cx_emu_shared_still_open(allocation))
            cx_emu_allocation_free(allocation);
        return CXU_SUCCESS;
    }
    if (allocation->kind != CX_EMU_MEMORY_DEVICE && allocation->kind != CX_EMU_MEMORY_MANAGED)
        return cx_emu_refuse(CXU_INVALID_VALUE,
                             allocation->shared != NULL
                                 ? "the memory was opened by an IPC handle: cuIpcCloseMemHandle "
                                   "gives it back"
                                 : "memory of this sort has another call to free it");
    cx_emu_allocation_free_and_wait(allocation);
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_mem_free(CUdeviceptr pointer)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS || pointer == 0)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = free_memory(pointer);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* As programs saw it: memory of a device that the current context does not reach is unknown
 * there. */
static bool is_known(const cx_emu_allocation *allocation, const cx_emu_context *context)
{
    return allocation->mapping != NULL || cx_emu_allocation_reachable(allocation, context);
}

cxu_result cx_emu_call_mem_get_address_range(CUdeviceptr *out_base, size_t *out_size,
                                             CUdeviceptr pointer)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    cx_emu_context *context;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_context_current(&context);
    const cx_emu_allocation *allocation = cx_emu_allocation_find(pointer, 1);
    if (result == CXU_SUCCESS && (allocation == NULL || !is_known(allocation, context)))
        result = CXU_NOT_FOUND;
    if (result == CXU_SUCCESS && out_base != NULL)
        *out_base = allocation->address;
    if (result == CXU_SUCCESS && out_size != NULL)
        *out_size = allocation->bytes;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* Finds the context of a stream-ordered allocation or free. `call`: it cannot be captured. */
static cxu_result find_context(const char *call, CUstream handle, cx_emu_context **out_context)
{
    cx_emu_stream *stream;
    cxu_result result = cx_emu_stream_context(handle, out_context);
    if (result != CXU_SUCCESS || cx_emu_captures == NULL)
        return result;
    result = cx_emu_stream_find(handle, &stream);
    if (result == CXU_SUCCESS)
        result = cx_emu_capture_check(stream);
    if (result == CXU_SUCCESS && stream->branch != NULL && call != NULL) {
        cx_emu_not_supported(call, "a capturing stream");
        result = cx_emu_capture_refuse(stream);
    }
    return result;
}

static bool captures(CUstream handle)
{
    cx_emu_stream *stream;
    return cx_emu_captures != NULL && cx_emu_stream_find(handle, &stream) == CXU_SUCCESS &&
           stream->branch != NULL && !stream->branch->capture->invalidated;
}

/* ---- in captures: nodes ---- */

static cxu_result add_to_capture(CUstream handle, const cx_emu_node_params *node_params)
{
    cx_emu_stream *stream;
    cxu_result result = cx_emu_stream_find(handle, &stream);

    if (result == CXU_SUCCESS)
        result = cx_emu_capture_check(stream);
    if (result == CXU_SUCCESS && stream->branch == NULL)
        result = CXU_STREAM_CAPTURE_INVALIDATED; /* it ended meanwhile */
    return result == CXU_SUCCESS ? cx_emu_capture_add(stream, node_params) : result;
}

static cxu_result capture_allocation(const cx_emu_pool *pool, size_t bytes, CUstream stream,
                                     CUdeviceptr *out_pointer)
{
    const cxu_mem_alloc_node_params params = {
        .pool = {.type = pool->properties.type, .location = pool->properties.location},
        .bytes = bytes};
    cx_emu_node_params node_params = {.type = CXU_GRAPH_NODE_TYPE_MEM_ALLOC};
    cxu_result result = cx_emu_block_create("cuMemAllocAsync", &params, &node_params.of.block);

    if (result != CXU_SUCCESS)
        return result;
    result = add_to_capture(stream, &node_params);
    if (result == CXU_SUCCESS)
        *out_pointer = node_params.of.block->params.address;
    cx_emu_node_params_drop(&node_params);
    return result;
}

static cxu_result capture_free(cx_emu_block *block, CUstream handle)
{
    const cx_emu_node_params node_params = {.type = CXU_GRAPH_NODE_TYPE_MEM_FREE,
                                            .of.block = block};
    cx_emu_stream *stream;
    cxu_result result = cx_emu_stream_find(handle, &stream);

    if (result == CXU_SUCCESS && cx_emu_graph_frees(stream->branch->capture->graph, block))
        result = CXU_INVALID_VALUE;
    return result == CXU_SUCCESS ? add_to_capture(handle, &node_params) : result;
}

/* ---- stream-ordered memory ---- */

static cxu_result allocate_from(cx_emu_pool *pool, cx_emu_device *device, size_t bytes,
                                CUstream stream, CUdeviceptr *out_pointer)
{
    if (pool->imported)
        return cx_emu_refuse(CXU_INVALID_VALUE, "the pool is imported, and only its own process "
                                                "allocates from it");
    if (bytes == 0) {
        *out_pointer = 0;
        return CXU_SUCCESS;
    }
    return captures(stream) ? capture_allocation(pool, bytes, stream, out_pointer)
                            : cx_emu_pool_allocate(pool, device, bytes, out_pointer);
}

cxu_result cx_emu_call_mem_alloc_async(CUdeviceptr *out_pointer, size_t bytes, CUstream stream)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    cx_emu_context *context;
    cx_emu_pool *pool;
    cx_lock_enter(&cx_emu_lock);
    result = find_context(NULL, stream, &context);
    if (result == CXU_SUCCESS && out_pointer == NULL)
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS)
        result = cx_emu_pool_current(cx_emu_pool_place_of_device(context->device), &pool);
    if (result == CXU_SUCCESS)
        result = allocate_from(pool, context->device, bytes, stream, out_pointer);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_mem_alloc_from_pool_async(CUdeviceptr *out_pointer, size_t bytes,
                                                 CUmemoryPool handle, CUstream stream)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    cx_emu_context *context;
    cx_emu_pool *pool;
    cx_lock_enter(&cx_emu_lock);
    result = find_context(NULL, stream, &context);
    if (result == CXU_SUCCESS && out_pointer == NULL)
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS)
        result = cx_emu_pool_find(handle, &pool);
    if (result == CXU_SUCCESS)
        result = allocate_from(pool, context->device, bytes, stream, out_pointer);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* Memory of cuMemAlloc may be freed in stream order too; that of cuMemHostAlloc and
 * cuMemAllocManaged may not. */
static void end_in_stream(void *argument)
{
    cx_emu_allocation *allocation = argument;
    allocation->hidden = allocation->gone = true;
}

/* In stream order, without waiting (T8, T12): calls no longer find it from now on, and work fails
 * that begins behind the free. */
static cxu_result free_behind_work(cx_emu_allocation *allocation, CUstream stream)
{
    /* The free is one more use, which ends in stream order. */
    cx_emu_changes++;
    allocation->freed = true;
    cxu_result result =
        cx_emu_work_submit_locked_call(stream, allocation, end_in_stream, allocation);
    if (result != CXU_SUCCESS)
        allocation->freed = false;
    return result;
}

static cxu_result free_in_stream(CUdeviceptr pointer, CUstream stream)
{
    cx_emu_context *context;
    cx_emu_allocation *allocation = find_owned(pointer);
    if (allocation != NULL && allocation->kind == CX_EMU_MEMORY_DEVICE && captures(stream))
        return cx_emu_refuse(CXU_INVALID_VALUE, "a capture cannot free memory of cuMemAlloc");
    if (allocation != NULL && allocation->block != NULL && captures(stream))
        return capture_free(allocation->block, stream);
    cxu_result result = find_context("cuMemFreeAsync", stream, &context);
    if (result == CXU_SUCCESS)
        result = cx_emu_capture_check_free();
    if (result != CXU_SUCCESS)
        return result;
    if (allocation == NULL ||
        (!is_ordered(allocation) && allocation->kind != CX_EMU_MEMORY_DEVICE))
        return cx_emu_refuse(CXU_INVALID_VALUE,
                             allocation == NULL ? "no allocation begins at this address"
                                                : "memory of this sort has another call to free "
                                                  "it");
    if (allocation->block != NULL)
        return cx_emu_block_free_in_stream(allocation->block, stream);
    if (cx_emu_shared_still_open(allocation))
        return CXU_SUCCESS;
    return free_behind_work(allocation, stream);
}

cxu_result cx_emu_call_mem_free_async(CUdeviceptr pointer, CUstream stream)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = free_in_stream(pointer, stream);
    cx_lock_leave(&cx_emu_lock);
    return result;
}
