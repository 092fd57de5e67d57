/* Memory of copies, fills and frees: MEMORY, and memory of other devices. */
#include "driver/access_log.h"
#include "layer/check/access.h"
#include "layer/names.h"

#include <stdlib.h>

/* ---- copies and fills ---- */

static void tell_beyond(cx_check_call *call, const cx_check_access *access, const cx_object *memory)
{
    cx_finding finding = cx_check_finding(CX_KIND_MEMORY_BEYOND, call);
    cx_finding_note(&finding, "made", memory->made, "%zu bytes, from byte %zu of %zu allocated",
                    access->bytes, (size_t)(access->address - memory->key.value), memory->bytes);
    cx_finding_raise(&finding);
}

/* An asynchronous copy with memory that the driver does not know waits, or is staged. */
static void tell_pageable(cx_check_call *call, const cx_check_access *access)
{
    cx_finding finding = cx_check_finding(CX_KIND_MEMORY_PAGEABLE, call);
    call->told = false;
    cx_finding_note(&finding, "argument", 0, "%zu bytes of host memory at %#llx", access->bytes,
                    (unsigned long long)access->address);
    cx_finding_raise(&finding);
}

/* The driver's word decides: modules and mappings have memory that no call allocated. */
static bool is_unknown_to_driver(uintptr_t address)
{
    unsigned type;
    return !cx_check_ask_pointer(CXU_POINTER_MEMORY_TYPE, address, &type);
}

/* Mappings stand in a row, and more host memory may follow what is registered. */
static bool may_go_on(const cx_object *memory)
{
    return memory->key.kind == CX_OBJECT_REGISTERED_MEMORY ||
           memory->key.kind == CX_OBJECT_MAPPED_MEMORY;
}

/* Managed memory is of both sides, and so is that of a device which is no GPU. */
static bool is_of_device(const cx_object *memory)
{
    return (memory->key.kind == CX_OBJECT_MEMORY || memory->key.kind == CX_OBJECT_ASYNC_MEMORY) &&
           cx_layer_gpu(memory->device) >= 0;
}

static void tell_side(cx_check_call *call, const cx_object *memory)
{
    cx_finding finding = cx_check_finding(CX_KIND_MEMORY_SIDE, call);
    call->told = false;
    cx_finding_note_object(&finding, memory);
    cx_finding_raise(&finding);
}

static void look_at_access(cx_check_call *call, const cx_check_access *access, bool async)
{
    const cx_object *memory = cx_object_find_memory(access->address);
    if (memory != NULL) {
        if (access->host && is_of_device(memory))
            tell_side(call, memory);
        if (access->bytes > memory->bytes - (access->address - memory->key.value) &&
            !may_go_on(memory))
            tell_beyond(call, access, memory);
    } else if (async && !cx_check_failed(call) &&
               (access->host ||
                (cx_check_is_unified(call->slot) && is_unknown_to_driver(access->address)))) {
        tell_pageable(call, access);
    }
}

/* Work of one device on memory that lies on another only. */
static void look_at_devices(cx_check_call *call, const cx_check_access *all, int count,
                            CUstream stream, bool async)
{
    const cx_object *in = cx_check_stream(stream), *memory = NULL;
    const cx_object *context = in != NULL ? in->context : cx_check_current(call->thread);
    for (int i = 0; i < count; i++) {
        const cx_object *one = cx_object_find_memory(all[i].address);
        if (one == NULL || one->key.kind != CX_OBJECT_MEMORY)
            continue;
        if (memory != NULL && memory->device != one->device)
            return; /* a copy between devices */
        memory = one;
    }
    if (memory == NULL || context == NULL || memory->device < 0 || context->device < 0 ||
        memory->device == context->device || cx_check_failed(call) ||
        cx_check_has_access(context, memory->context))
        return;
    /* cudaMemcpy finds the device by the pointers, and programs rely on it. */
    if (in == NULL && !async && count == 2 && cx_origin_is_of_library(call->origin))
        return;
    cx_finding finding = cx_check_finding(CX_KIND_CURRENT_OTHER_DEVICE, call);
    cx_finding_note_object(&finding, memory);
    if (in != NULL)
        cx_finding_note_object(&finding, in);
    cx_finding_note_current(&finding, call->thread);
    cx_finding_raise(&finding);
}

static void touched(cx_check_call *call)
{
    CUstream stream;
    bool async;
    cx_check_access all[CX_CHECK_ACCESSES];
    int count = cx_check_accesses(call, all, &stream, &async);
    (void)cx_check_here(call); /* it opens the lock: memory may be freed meanwhile */
    for (int i = 0; i < count && !call->told; i++)
        look_at_access(call, &all[i], async);
    if (!call->told && count != 0)
        look_at_devices(call, all, count, stream, async);
    const cx_object *in = cx_check_stream(stream);
    cx_object *context = in != NULL ? in->context : cx_check_current(call->thread);
    if (context != NULL && !cx_check_failed(call))
        cx_object_works(context);
}

/* ---- memory of other processes ---- */

static void closed(cx_check_call *call)
{
    if (!cx_access_log_withdrawn)
        return;
    cx_access_log_withdrawn = false;
    cx_finding finding = cx_check_finding(CX_KIND_MEMORY_EXPORT_FREED, call);
    call->told = false;
    cx_finding_note(&finding, "argument", 0, "its memory at %#llx",
                    (unsigned long long)CX_CALL(call, ipc_close_mem_handle)->pointer);
    cx_finding_raise(&finding);
}

/* ---- calls that failed ---- */

static const cx_check_failed_output *failed_allocation(const cx_check_call *call, uintptr_t address)
{
    for (unsigned i = 0; i < CX_CHECK_FAILED; i++) {
        const cx_check_failed_output *one = &call->thread->failed[i];
        if (one->kind >= CX_OBJECT_MEMORY && one->value == address)
            return one;
    }
    return NULL;
}

static void tell_of_memory(cx_check_call *call, cx_check_kind kind, const cx_object *memory)
{
    if (cx_check_is_consequence(call, memory))
        return;
    cx_finding finding = cx_check_finding(kind, call);
    cx_finding_note_object(&finding, memory);
    cx_finding_raise(&finding);
}

static bool look_at_failed_output(cx_check_call *call, uintptr_t address)
{
    const cx_check_failed_output *output = failed_allocation(call, address);
    if (output == NULL)
        return false;
    const char *result = cx_result_name(output->result);
    cx_finding finding = cx_check_finding(CX_KIND_IGNORED_OUTPUT, call);
    cx_finding_note(&finding, "made", output->where, "%s had failed: %s",
                    cx_origin_call(output->where, output->slot),
                    result != NULL ? result : "an error");
    cx_finding_raise(&finding);
    return true;
}

static bool frees_host_memory(cx_slot slot)
{
    return slot == CX_SLOT_mem_free_host || slot == CX_SLOT_mem_host_unregister;
}

/* Memory of another process, of a graph, or of a module: the driver knows it, and no call that the
 * checker follows allocated it. */
static void tell_of_unknown(cx_check_call *call, uintptr_t address)
{
    bool foreign = frees_host_memory(call->slot) || !is_unknown_to_driver(address);
    cx_finding finding =
        cx_check_finding(foreign ? CX_KIND_MEMORY_FOREIGN : CX_KIND_MEMORY_HOST, call);
    if (foreign && call->thread->why[0] != '\0')
        cx_finding_note(&finding, "reason", 0, "%s", call->thread->why);
    else
        cx_finding_note(&finding, "argument", 0, "no call allocated %#llx",
                        (unsigned long long)address);
    if (foreign && !frees_host_memory(call->slot))
        cx_finding_advise(&finding, "close memory of another process with cuIpcCloseMemHandle, and "
                                    "free memory of a graph behind its launch");
    cx_finding_raise(&finding);
}

static void look_at_free(cx_check_call *call, uintptr_t address)
{
    const cx_object *memory = cx_object_find_memory(address);
    const cx_object *ended = memory == NULL ? cx_object_find_ended_memory(address) : NULL;
    if (memory != NULL && memory->key.value != address)
        tell_of_memory(call, CX_KIND_MEMORY_INSIDE, memory);
    else if (memory != NULL && !frees_host_memory(call->slot) &&
             memory->key.kind >= CX_OBJECT_PINNED_MEMORY)
        tell_of_memory(call, CX_KIND_MEMORY_HOST, memory);
    else if (memory != NULL)
        tell_of_memory(call, CX_KIND_MEMORY_FOREIGN, memory);
    else if (ended != NULL && ended->key.value == address)
        tell_of_memory(call, CX_KIND_MEMORY_FREED, ended);
    else if (!look_at_failed_output(call, address))
        tell_of_unknown(call, address);
}

static bool freed_address(const cx_check_call *call, uintptr_t *out_address)
{
    switch (call->slot) {
    case CX_SLOT_mem_free:
        *out_address = (uintptr_t)CX_CALL(call, mem_free)->pointer;
        return true;
    case CX_SLOT_mem_free_async:
        *out_address = (uintptr_t)CX_CALL(call, mem_free_async)->pointer;
        return true;
    case CX_SLOT_mem_free_host:
        *out_address = (uintptr_t)CX_CALL(call, mem_free_host)->pointer;
        return true;
    case CX_SLOT_mem_host_unregister:
        *out_address = (uintptr_t)CX_CALL(call, mem_host_unregister)->host;
        return true;
    default:
        return false;
    }
}

static bool is_of_memory(cxu_result result)
{
    return result == CXU_INVALID_VALUE || result == CXU_ILLEGAL_ADDRESS ||
           result == CXU_HOST_MEMORY_NOT_REGISTERED || result == CXU_INVALID_HANDLE;
}

/* Memory of another device that the context of the work cannot reach. */
static bool look_at_reach(cx_check_call *call, const cx_check_access *access, CUstream stream)
{
    const cx_object *memory = cx_object_find_memory(access->address);
    const cx_object *in = cx_check_stream(stream);
    const cx_object *context = in != NULL ? in->context : cx_check_current(call->thread);
    if (memory == NULL || context == NULL || memory->device < 0 || context->device < 0 ||
        memory->device == context->device)
        return false;
    bool of_pool = memory->key.kind == CX_OBJECT_ASYNC_MEMORY;
    cx_finding finding =
        cx_check_finding(of_pool ? CX_KIND_OWNER_POOL : CX_KIND_OWNER_MEMORY, call);
    cx_finding_note_object(&finding, memory);
    if (of_pool && memory->parent != NULL)
        cx_finding_note_object(&finding, memory->parent);
    if (in != NULL)
        cx_finding_note_object(&finding, in);
    else
        cx_finding_note_current(&finding, call->thread);
    cx_finding_raise(&finding);
    return true;
}

void cx_check_failed_memory(cx_check_call *call)
{
    uintptr_t address;
    CUstream stream;
    bool async;
    cx_check_access all[CX_CHECK_ACCESSES];
    if (!is_of_memory(call->result))
        return;
    if (freed_address(call, &address)) {
        if (address != 0)
            look_at_free(call, address);
        return;
    }
    int count = cx_check_accesses(call, all, &stream, &async);
    for (int i = 0; i < count && !call->told; i++) {
        const cx_object *memory = cx_object_find_memory(all[i].address);
        const cx_object *ended =
            memory == NULL ? cx_object_find_ended_memory(all[i].address) : NULL;
        if (all[i].host)
            continue;
        if (memory == NULL && look_at_failed_output(call, all[i].address))
            return;
        if (ended != NULL)
            tell_of_memory(call, CX_KIND_MEMORY_ENDED, ended);
        else
            (void)look_at_reach(call, &all[i], stream);
    }
}

#define TOUCHES(slot) [CX_SLOT_##slot] = {NULL, touched},
const cx_check_hooks cx_check_memory[CX_SLOT_COUNT] = {
    [CX_SLOT_ipc_close_mem_handle] = {NULL, closed},
    TOUCHES(memcpy_dtoa) TOUCHES(memcpy_atod) TOUCHES(memcpy_htoa) TOUCHES(memcpy_atoh)
    TOUCHES(memcpy_htoa_async) TOUCHES(memcpy_atoh_async)
    TOUCHES(memcpy_unified) TOUCHES(memcpy_peer) TOUCHES(memcpy_htod) TOUCHES(memcpy_dtoh)
        TOUCHES(memcpy_dtod) TOUCHES(memcpy_2d) TOUCHES(memcpy_2d_unaligned) TOUCHES(memcpy_3d)
            TOUCHES(memcpy_unified_async) TOUCHES(memcpy_peer_async) TOUCHES(memcpy_htod_async)
                TOUCHES(memcpy_dtoh_async) TOUCHES(memcpy_dtod_async) TOUCHES(memcpy_2d_async)
                    TOUCHES(memcpy_3d_async) TOUCHES(memset_d8) TOUCHES(memset_d16)
                        TOUCHES(memset_d32) TOUCHES(memset_2d_d8) TOUCHES(memset_2d_d16)
                            TOUCHES(memset_2d_d32) TOUCHES(memset_d8_async)
                                TOUCHES(memset_d16_async) TOUCHES(memset_d32_async)
                                    TOUCHES(memset_2d_d8_async) TOUCHES(memset_2d_d16_async)
                                        TOUCHES(memset_2d_d32_async)};
