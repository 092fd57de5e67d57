/* Work that touches memory: copies, fills, kernels, graphs, memory in stream order: ORDER. */
#include "layer/check/access.h"
#include "layer/check/host_guard.h"
#include "layer/check/order_sync.h"
#include "layer/check/order_work.h"

#include <stdlib.h>

/* ---- what copies touch ---- */

/* True if the copy goes to or from memory that no call made: the host's, and pageable. */
static bool is_pageable(const cx_check_call *call, const cx_check_access *access)
{
    return (access->host || cx_check_is_unified(call->slot)) &&
           cx_object_find_memory(access->address) == NULL;
}

static bool is_host_side(const cx_check_call *call, const cx_check_access *access)
{
    return is_pageable(call, access) ||
           cx_object_is_of_host(cx_object_find_memory(access->address));
}

/* A fill of managed memory ends before the call returns, as one of host memory does. */
static bool is_fill_of_managed(const cx_check_access *all, int count)
{
    const cx_object *memory = count == 1 ? cx_object_find_memory(all[0].address) : NULL;
    return memory != NULL && all[0].writes && memory->key.kind == CX_OBJECT_MANAGED_MEMORY;
}

/* True if the call returns when its work is done (T13). */
static bool waits(const cx_check_call *call, const cx_check_access *all, int count, bool async)
{
    if (!async && is_fill_of_managed(all, count))
        return true;
    for (int i = 0; i < count; i++)
        if (async ? all[i].writes && is_pageable(call, &all[i]) : is_host_side(call, &all[i]))
            return true;
    return false;
}

static bool touches_any(const cx_check_call *call, const cx_check_access *all, int count)
{
    for (int i = 0; i < count; i++)
        if (!is_pageable(call, &all[i]))
            return true;
    return false;
}

static bool is_pinned(const cx_check_call *call, const cx_check_access *access)
{
    return !is_pageable(call, access) && is_host_side(call, access);
}

/* A copy with memory that the driver knows as the host's: once it runs the driver may tell what of
 * its source nothing has written; and until then the host may be watched. */
static void begin_copy(cx_check_call *call)
{
    CUstream stream;
    bool async, asks = false;
    cx_check_access all[CX_CHECK_ACCESSES];
    const int count = cx_check_accesses(call, all, &stream, &async);
    for (int i = 0; i < count && async; i++)
        asks |= (all[i].writes || cx_host_guard_is_on()) && is_pinned(call, &all[i]);
    if (!asks)
        return;
    (void)cx_check_here(call);
    const int line = cx_stream_clock_line(call, stream);
    if (cx_stream_clock_capture(line) != 0)
        return;
    cx_stream_clock_reach(line);
    call->work = cx_order_work_begin(call, line, CX_ORDER_COPY);
    if (call->work != NULL)
        cx_order_work_ask(call->work, 0);
}

static void submit_copy(cx_check_call *call, int line, const cx_check_access *all, int count,
                        bool async)
{
    cx_order_work *work = call->work;
    if (work == NULL) {
        cx_stream_clock_reach(line);
        work = cx_order_work_begin(call, line, CX_ORDER_COPY);
    }
    call->work = NULL;
    for (int i = 0; i < count && work != NULL; i++)
        if (!is_pageable(call, &all[i]))
            cx_order_work_touch_rows(work, &all[i]);
    if (work != NULL && !async)
        cx_order_work_by_host(work);
    for (int i = 0; i < count && work != NULL && cx_host_guard_is_on(); i++)
        if (is_pinned(call, &all[i]))
            cx_order_work_guard(work, &all[i]);
    cx_order_work_submit(work, call->origin, false);
}

/* There is no such work. */
static void drop_copy(cx_check_call *call)
{
    cx_order_work_submit(call->work, call->origin, true);
    call->work = NULL;
}

static void copied(cx_check_call *call)
{
    CUstream stream;
    bool async;
    cx_check_access all[CX_CHECK_ACCESSES];
    int count = cx_check_accesses(call, all, &stream, &async);
    if (cx_check_failed(call)) {
        drop_copy(call);
        return;
    }
    (void)cx_check_here(call); /* it opens the lock: another thread may take the line then */
    const int line = cx_stream_clock_line(call, stream);
    if (cx_stream_clock_capture(line) != 0) {
        drop_copy(call);
        return;
    }
    if (call->work != NULL || touches_any(call, all, count))
        submit_copy(call, line, all, count, async);
    else
        cx_stream_clock_reach(line);
    if (waits(call, all, count, async))
        cx_stream_clock_host_wait_line(line);
}

/* A copy between contexts is ordered after all their work, and before all that follows. */
static void copied_between_contexts(cx_check_call *call)
{
    if (!cx_check_failed(call))
        cx_stream_clock_host_wait_all();
}

/* A discard takes what its ranges have; a prefetch leaves it, and is no use. */
static void discarded(cx_check_call *call, const CUdeviceptr *pointers, const size_t *sizes,
                      size_t count, CUstream stream)
{
    if (cx_check_failed(call))
        return;
    (void)cx_check_here(call);
    const int line = cx_stream_clock_line(call, stream);
    if (cx_stream_clock_capture(line) != 0)
        return;
    cx_stream_clock_reach(line);
    cx_order_work *work = cx_order_work_begin(call, line, CX_ORDER_COPY);
    for (size_t i = 0; i < count && work != NULL; i++) {
        const cx_access touch = {pointers[i], pointers[i] + sizes[i], CX_ACCESS_WRITE};
        cx_order_work_touch(work, &touch);
    }
    cx_order_work_submit(work, call->origin, false);
}

#define DISCARDS(slot)                                                                       \
    static void discarded_by_##slot(cx_check_call *call)                                     \
    {                                                                                        \
        const cx_arguments_##slot *given = CX_CALL(call, slot);                              \
        discarded(call, given->pointers, given->sizes, given->count, given->stream);         \
    }
DISCARDS(mem_discard_batch_async)
DISCARDS(mem_discard_and_prefetch_batch_async)

/* ---- kernels and graphs: the driver tells what they touch ---- */

/* The line that judged work goes to; -1: it is not judged. */
static int line_of_launch(cx_check_call *call, CUstream stream)
{
    (void)cx_check_here(call);
    const int line = cx_stream_clock_line(call, stream);
    const cx_object *in = cx_check_stream(stream);
    cx_object *context = in != NULL ? in->context : cx_check_context(call);
    if (context != NULL)
        cx_object_works(context);
    if (cx_stream_clock_capture(line) != 0)
        return -1;
    cx_stream_clock_reach(line);
    return line;
}

static void begin_launch(cx_check_call *call, CUstream stream)
{
    const int line = line_of_launch(call, stream);
    if (line < 0)
        return;
    call->work = cx_order_work_begin(call, line, CX_ORDER_KERNEL);
    if (call->work != NULL)
        cx_order_work_ask(call->work, 0);
}

static void end_launch(cx_check_call *call)
{
    cx_order_work_submit(call->work, call->origin, cx_check_failed(call));
    call->work = NULL;
}

#define LAUNCHES(slot, stream)                          \
    static void begin_##slot(cx_check_call *call)       \
    {                                                   \
        begin_launch(call, stream);                     \
    }
LAUNCHES(launch_kernel, CX_CALL(call, launch_kernel)->stream)
LAUNCHES(launch_cooperative_kernel, CX_CALL(call, launch_cooperative_kernel)->stream)
LAUNCHES(launch_once, NULL)
LAUNCHES(launch_grid, NULL)
LAUNCHES(launch_grid_async, CX_CALL(call, launch_grid_async)->stream)

static void begin_launch_kernel_ex(cx_check_call *call)
{
    const cxu_launch_config *config = CX_CALL(call, launch_kernel_ex)->config;
    if (config != NULL)
        begin_launch(call, config->stream);
}

/* Launches of one executable graph wait for each other. */
static void begin_graph_launch(cx_check_call *call)
{
    const cx_arguments_graph_launch *given = CX_CALL(call, graph_launch);
    const uintptr_t exec = (uintptr_t)given->exec;
    const int line = line_of_launch(call, given->stream);
    if (line < 0)
        return;
    const cx_order_mark *mark = cx_order_mark_find(exec);
    cx_stream_clock_wait(line, mark != NULL ? mark->clock : NULL);
    if (cx_order_graphs_are_untold())
        cx_stream_clock_wait_all(line);
    call->work = cx_order_work_begin(call, line, CX_ORDER_KERNEL);
    if (call->work != NULL)
        cx_order_work_ask(call->work, exec);
    cx_order_mark_set(exec, cx_stream_clock_keep(cx_stream_clock_of(line)), 0);
}

/* The clock of the line has what the graph's nodes wait for. */
static void submit_graph(cx_check_call *call, int line)
{
    const cx_order_launch *launch =
        call->work != NULL ? cx_order_work_launch(call->work) : NULL;
    if (launch == NULL) {
        cx_order_graph_untold(line);
        return;
    }
    cx_order_work_launched(call->work);
    if (!launch->unknown)
        return;
    cx_stream_clock_host_wait_line(line);
    cx_stream_clock_set_capture(line, CX_ORDER_UNKNOWN);
}

static void end_graph_launch(cx_check_call *call)
{
    const int line = call->work != NULL
                         ? cx_order_work_line(call->work)
                         : cx_stream_clock_line(call, CX_CALL(call, graph_launch)->stream);
    const uint64_t capture = cx_stream_clock_capture(line);
    if (!cx_check_failed(call) && (capture == 0 || capture == CX_ORDER_UNKNOWN))
        submit_graph(call, line);
    if (call->result == CXU_INVALID_VALUE) /* what a driver says of memory that is none */
        call->told |= cx_order_work_refused(call->work, call->origin);
    end_launch(call);
}

/* ---- memory in stream order ---- */

/* NULL: no memory, or the stream captures. */
static cx_order_work *begin_life(cx_check_call *call, CUstream stream, const cx_access *touch,
                                 cx_order_what what)
{
    const int line = cx_stream_clock_line(call, stream);
    if (cx_stream_clock_capture(line) != 0)
        return NULL;
    cx_stream_clock_reach(line);
    cx_order_work *work = cx_order_work_begin(call, line, what);
    if (work != NULL) {
        cx_order_work_touch(work, touch);
        cx_order_work_forget(work, touch->begin, touch->end);
    }
    return work;
}

static void allocated(cx_check_call *call, const CUdeviceptr *out, size_t bytes, CUstream stream)
{
    if (cx_check_failed(call) || out == NULL || bytes == 0)
        return;
    const cx_access touch = {*out, *out + bytes, CX_ACCESS_WRITE};
    cx_order_work *work = begin_life(call, stream, &touch, CX_ORDER_ALLOCATION);
    cx_order_work_submit(work, call->origin, false);
}

static void allocated_async(cx_check_call *call)
{
    const cx_arguments_mem_alloc_async *given = CX_CALL(call, mem_alloc_async);
    allocated(call, given->out_pointer, given->bytes, given->stream);
}

static void allocated_from_pool(cx_check_call *call)
{
    const cx_arguments_mem_alloc_from_pool_async *given = CX_CALL(call, mem_alloc_from_pool_async);
    allocated(call, given->out_pointer, given->bytes, given->stream);
}

/* Frees begin before the call: after it another thread may have the memory anew. */
static const cx_object *memory_to_free(uintptr_t address)
{
    const cx_object *memory = cx_object_find_memory(address);
    return memory != NULL && memory->key.value == address ? memory : NULL;
}

static void free_async(cx_check_call *call)
{
    const cx_arguments_mem_free_async *given = CX_CALL(call, mem_free_async);
    const cx_object *memory = memory_to_free((uintptr_t)given->pointer);
    if (memory == NULL)
        return;
    const cx_access touch = {given->pointer, given->pointer + memory->bytes, CX_ACCESS_WRITE};
    call->work = begin_life(call, given->stream, &touch, CX_ORDER_FREE);
}

/* A free waits for all that uses the memory; that of stream-ordered memory for nothing (T12). */
static void begin_free(cx_check_call *call, uintptr_t address)
{
    const cx_object *memory = memory_to_free(address);
    if (memory == NULL)
        return;
    const uintptr_t begin = memory->key.value, end = begin + memory->bytes;
    cx_host_guard_forget(begin, end);
    call->work = cx_order_work_begin(call, cx_stream_clock_line(call, NULL), CX_ORDER_FREE);
    call->free_waits = memory->key.kind != CX_OBJECT_ASYNC_MEMORY;
    if (call->work == NULL)
        return;
    cx_order_work_forget(call->work, begin, end);
    if (!call->free_waits) {
        cx_order_work_after_host(call->work);
        cx_order_work_touch(call->work, &(cx_access){begin, end, CX_ACCESS_WRITE});
    }
}

static void freed(cx_check_call *call)
{
    if (call->free_waits && !cx_check_failed(call))
        cx_stream_clock_host_wait_all();
    cx_order_work_submit(call->work, call->origin, cx_check_failed(call));
    call->work = NULL;
}

static void free_device(cx_check_call *call)
{
    begin_free(call, (uintptr_t)CX_CALL(call, mem_free)->pointer);
}

static void free_host(cx_check_call *call)
{
    begin_free(call, (uintptr_t)CX_CALL(call, mem_free_host)->pointer);
}

static void unregister(cx_check_call *call)
{
    begin_free(call, (uintptr_t)CX_CALL(call, mem_host_unregister)->host);
}

/* Copies and fills that use the mapping are waited for (V6): who waits for more is not blamed. */
static void unmap(cx_check_call *call)
{
    const cx_arguments_mem_unmap *given = CX_CALL(call, mem_unmap);
    call->work = cx_order_work_begin(call, cx_stream_clock_line(call, NULL), CX_ORDER_FREE);
    call->free_waits = true;
    if (call->work != NULL)
        cx_order_work_forget(call->work, (uintptr_t)given->pointer,
                             (uintptr_t)given->pointer + given->bytes);
}

/* What the host does may be ordered before work that comes after it in a stream. */
static void order_host(cx_check_call *call)
{
    (void)call;
    if (cx_host_guard_is_on())
        cx_host_guard_end();
}

void cx_check_order_begin(void)
{
    cx_order_work_watch();
}

#define COPIES(slot) [CX_SLOT_##slot] = {NULL, copied},
#define ASKS(slot) [CX_SLOT_##slot] = {begin_copy, copied},
#define ORDERS_HOST(slot) [CX_SLOT_##slot] = {order_host, NULL},
#define LAUNCH(slot) [CX_SLOT_##slot] = {begin_##slot, end_launch},
const cx_check_hooks cx_check_order[CX_SLOT_COUNT] = {
    COPIES(memcpy_unified)
    COPIES(memcpy_htod)
    COPIES(memcpy_dtoh)
    COPIES(memcpy_dtod)
    COPIES(memcpy_2d)
    COPIES(memcpy_2d_unaligned)
    COPIES(memcpy_3d)
    ASKS(memcpy_unified_async)
    COPIES(memcpy_peer_async)
    ASKS(memcpy_htod_async)
    ASKS(memcpy_dtoh_async)
    COPIES(memcpy_dtod_async)
    ASKS(memcpy_2d_async)
    ASKS(memcpy_3d_async)
    COPIES(memcpy_dtoa)
    COPIES(memcpy_atod)
    COPIES(memcpy_htoa)
    COPIES(memcpy_atoh)
    COPIES(memcpy_htoa_async)
    COPIES(memcpy_atoh_async)
    COPIES(memset_d8)
    COPIES(memset_d16)
    COPIES(memset_d32)
    COPIES(memset_2d_d8)
    COPIES(memset_2d_d16)
    COPIES(memset_2d_d32)
    COPIES(memset_d8_async)
    COPIES(memset_d16_async)
    COPIES(memset_d32_async)
    COPIES(memset_2d_d8_async)
    COPIES(memset_2d_d16_async)
    COPIES(memset_2d_d32_async)
    [CX_SLOT_mem_discard_batch_async] = {NULL, discarded_by_mem_discard_batch_async},
    [CX_SLOT_mem_discard_and_prefetch_batch_async] =
        {NULL, discarded_by_mem_discard_and_prefetch_batch_async},
    [CX_SLOT_memcpy_peer] = {NULL, copied_between_contexts},
    [CX_SLOT_memcpy_3d_peer] = {NULL, copied_between_contexts},
    LAUNCH(launch_kernel)
    LAUNCH(launch_kernel_ex)
    LAUNCH(launch_cooperative_kernel)
    LAUNCH(launch_once)
    LAUNCH(launch_grid)
    LAUNCH(launch_grid_async)
    [CX_SLOT_graph_launch] = {begin_graph_launch, end_graph_launch},
    ORDERS_HOST(launch_host_func)
    ORDERS_HOST(launch_host_func_v2)
    ORDERS_HOST(stream_add_callback)
    ORDERS_HOST(stream_wait_value_32)
    ORDERS_HOST(stream_wait_value_64)
    ORDERS_HOST(stream_batch_mem_op)
    ORDERS_HOST(graph_add_host_node)
    ORDERS_HOST(graph_add_batch_mem_op_node)
    ORDERS_HOST(graph_add_node)
    ORDERS_HOST(graph_add_node_v1)
    ORDERS_HOST(ipc_open_event_handle)
    [CX_SLOT_mem_alloc_async] = {NULL, allocated_async},
    [CX_SLOT_mem_alloc_from_pool_async] = {NULL, allocated_from_pool},
    [CX_SLOT_mem_free_async] = {free_async, freed},
    [CX_SLOT_mem_free] = {free_device, freed},
    [CX_SLOT_mem_free_host] = {free_host, freed},
    [CX_SLOT_mem_host_unregister] = {unregister, freed},
    [CX_SLOT_mem_unmap] = {unmap, freed},
};
