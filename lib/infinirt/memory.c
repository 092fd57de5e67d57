/* Memory of devices, in stream order or not, and pinned memory. */
#include "infinirt/address.h"
#include "infinirt/stream.h"
#include <ctxrt/graph.h>
#include <ctxrt/memory.h>

/* By its pointers. */
static cx_addresses pinned = CX_ADDRESSES_INIT;

/* True if the request is answered: `*out_status` is the answer. Nothing is what a size of 0 asks
 * for. */
static bool answered(void **p_ptr, size_t size, infiniStatus_t *out_status)
{
    *out_status = p_ptr == NULL          ? INFINI_STATUS_NULL_POINTER
                  : size > PTRDIFF_MAX   ? INFINI_STATUS_BAD_PARAM
                                         : INFINI_STATUS_SUCCESS;
    if (*out_status == INFINI_STATUS_SUCCESS && size == 0)
        *p_ptr = NULL;
    return *out_status != INFINI_STATUS_SUCCESS || size == 0;
}

infiniStatus_t infinirtMalloc(void **p_ptr, size_t size)
{
    ctxrt_device device;
    infiniStatus_t answer;
    if (answered(p_ptr, size, &answer))
        return answer;
    ctxrt_status status = cx_device_begin(&device);
    return cx_infini_status(status == CTXRT_SUCCESS ? ctxrt_alloc(size, p_ptr) : status);
}

infiniStatus_t infinirtMallocAsync(void **p_ptr, size_t size, infinirtStream_t stream)
{
    ctxrt_stream *target;
    infiniStatus_t answer;
    if (answered(p_ptr, size, &answer))
        return answer;
    ctxrt_status status = cx_stream_begin(stream, &target);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_alloc_async(size, target, p_ptr);
    return cx_infini_status(status);
}

infiniStatus_t infinirtFreeAsync(void *ptr, infinirtStream_t stream)
{
    ctxrt_stream *target;
    infiniStatus_t answer;
    if (!cx_release_begin(&answer))
        return answer;
    ctxrt_status status = cx_stream_begin(stream, &target);
    if (status == CTXRT_SUCCESS)
        status = ptr == NULL ? cx_stream_check(target) : ctxrt_free_async(ptr, target);
    return cx_infini_status(status);
}

/* ---- pinned ---- */

static ctxrt_status alloc_pinned(size_t size, void **out_pointer)
{
    ctxrt_memory *memory;
    ctxrt_status status = ctxrt_memory_alloc_pinned(size, &memory);
    if (status != CTXRT_SUCCESS)
        return status;
    void *pointer = ctxrt_memory_pointer(memory);
    if (!cx_address_put(&pinned, pointer, memory)) {
        status = ctxrt_memory_release(memory);
        return status == CTXRT_SUCCESS ? CTXRT_ERROR_OUT_OF_MEMORY : status;
    }
    *out_pointer = pointer;
    return CTXRT_SUCCESS;
}

infiniStatus_t infinirtMallocHost(void **p_ptr, size_t size)
{
    ctxrt_device device;
    infiniStatus_t answer;
    if (answered(p_ptr, size, &answer))
        return answer;
    ctxrt_status status = cx_device_begin(&device);
    return cx_infini_status(status == CTXRT_SUCCESS ? alloc_pinned(size, p_ptr) : status);
}

/* ---- either ---- */

/* Programs free all memory of a CPU by one call, whichever of the two gave it: there both are the
 * host's. */
static bool pinned_on_cpu(const void *pointer, ctxrt_memory *memory)
{
    ctxrt_memory_info info;
    return memory != NULL && ctxrt_memory_describe(memory, &info) == CTXRT_SUCCESS &&
           info.pointer == pointer && info.device.type == CTXRT_DEVICE_CPU;
}

static bool allocated_on_cpu(const void *pointer)
{
    ctxrt_pointer_info info;
    return ctxrt_pointer_query(pointer, &info) == CTXRT_SUCCESS && info.known &&
           info.kind == CTXRT_MEMORY_DEVICE && info.device.type == CTXRT_DEVICE_CPU;
}

/* Programs free what their streams still use: the original waits for the device. A capture forbids
 * to wait, and invalid it would be of no use. */
static ctxrt_status enter_legacy_stream(ctxrt_device device, ctxrt_scope *scope)
{
    ctxrt_capture_state state;
    ctxrt_status status = ctxrt_scope_enter(device, scope);
    return status == CTXRT_SUCCESS ? ctxrt_stream_capture_status(CTXRT_STREAM_LEGACY, &state)
                                   : status;
}

/* Copies are known; of kernels in the device's streams the legacy stream knows. */
static void keep_from_others_meanwhile(ctxrt_memory *memory)
{
    ctxrt_scope scope = {0};
    ctxrt_memory_info info;
    if (ctxrt_memory_describe(memory, &info) != CTXRT_SUCCESS)
        return;
    ctxrt_status status = enter_legacy_stream(info.device, &scope);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_memory_record_stream(memory, CTXRT_STREAM_LEGACY);
    (void)ctxrt_scope_leave(&scope);
}

static infiniStatus_t free_pinned(void *ptr)
{
    ctxrt_memory *memory = cx_address_take(&pinned, ptr);
    if (memory == NULL)
        return INFINI_STATUS_BAD_PARAM;
    keep_from_others_meanwhile(memory);
    return cx_infini_status(ctxrt_memory_release(memory));
}

static void wait_for_device_of(const void *pointer)
{
    ctxrt_scope scope = {0};
    ctxrt_pointer_info info;
    ctxrt_status status = ctxrt_pointer_query(pointer, &info);
    if (status != CTXRT_SUCCESS || !info.known)
        return;
    status = enter_legacy_stream(info.device, &scope);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_device_synchronize();
    (void)ctxrt_scope_leave(&scope);
}

static infiniStatus_t free_device_memory(void *ptr)
{
    wait_for_device_of(ptr);
    return cx_infini_status(ctxrt_free(ptr));
}

infiniStatus_t infinirtFree(void *ptr)
{
    infiniStatus_t answer;
    if (!cx_release_begin(&answer) || ptr == NULL)
        return answer;
    if (pinned_on_cpu(ptr, cx_address_find(&pinned, ptr)))
        return free_pinned(ptr);
    return free_device_memory(ptr);
}

infiniStatus_t infinirtFreeHost(void *ptr)
{
    infiniStatus_t answer;
    if (!cx_release_begin(&answer) || ptr == NULL)
        return answer;
    if (cx_address_find(&pinned, ptr) == NULL && allocated_on_cpu(ptr))
        return free_device_memory(ptr);
    return free_pinned(ptr);
}
