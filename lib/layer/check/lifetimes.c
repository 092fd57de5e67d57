/* Objects that calls make and end. */
#include "layer/check/check.h"
#include "layer/check/order_bytes.h"

#include <stdlib.h>

/* ---- helpers of all families ---- */

cx_object *cx_check_stream(CUstream stream)
{
    if ((uintptr_t)stream <= 2)
        return NULL;
    cx_object *object = cx_object_find(CX_HANDLE_STREAM, (uintptr_t)stream);
    return object != NULL && object->live ? object : NULL;
}

cx_object *cx_check_context(cx_check_call *call)
{
    return cx_check_current(call->thread);
}

void cx_check_note_failed(cx_check_call *call, uint32_t kind, uintptr_t value)
{
    cx_check_thread *thread = call->thread;
    thread->failed[thread->failed_next++ % CX_CHECK_FAILED] = (cx_check_failed_output){
        kind, value, call->slot, call->result, cx_check_here(call)};
}

/* ---- making ---- */

/* A call that gives what exists already makes nothing. */
static bool gives_again(uint32_t kind, uintptr_t value)
{
    if (kind != CX_HANDLE_FUNCTION && kind != CX_HANDLE_KERNEL)
        return false;
    const cx_object *object = cx_object_find(kind, value);
    return object != NULL && object->live;
}

static cx_object *note_made(cx_check_call *call, uint32_t kind, const void *out, size_t bytes)
{
    if (out == NULL)
        return NULL;
    uintptr_t value = *(const uintptr_t *)out;
    cx_check_uses_current(call);
    if (cx_check_failed(call)) {
        cx_check_note_failed(call, kind, value);
        return NULL;
    }
    if (value == 0 || gives_again(kind, value))
        return NULL;
    if (bytes != 0) /* whatever used the addresses before is over */
        cx_order_bytes_forget(value, value + bytes);
    return cx_object_make(kind, value, bytes,
                          kind == CX_HANDLE_LIBRARY ? NULL : cx_check_context(call), call->origin);
}

/* Notes an object that a call gave to the program without making it: a device's default pool, for
 * one. The program may use such an object, but need not end it. */
static void note_given(cx_check_call *call, uint32_t kind, const void *out)
{
    uintptr_t value = out != NULL && !cx_check_failed(call) ? *(const uintptr_t *)out : 0;
    const cx_object *object = value != 0 ? cx_object_find(kind, value) : NULL;
    if (value != 0 && (object == NULL || !object->live))
        cx_object_meet(kind, value, cx_check_here(call));
}

#define MAKES(slot, kind, out)                                                 \
    static void made_##slot(cx_check_call *call)                               \
    {                                                                          \
        (void)note_made(call, CX_HANDLE_##kind, CX_CALL(call, slot)->out, 0); \
    }
#define MAKES_OF(slot, kind, out, parent_kind, parent_field)                                    \
    static void made_##slot(cx_check_call *call)                                                \
    {                                                                                           \
        cx_object *made = note_made(call, CX_HANDLE_##kind, CX_CALL(call, slot)->out, 0);       \
        cx_object *parent = cx_object_find(CX_HANDLE_##parent_kind,                             \
                                           (uintptr_t)CX_CALL(call, slot)->parent_field);       \
        if (made != NULL && parent != NULL) {                                                   \
            made->parent = parent;                                                              \
            cx_object_set_owner(made, parent->context, parent->device);                         \
        }                                                                                       \
    }
#define GIVES(slot, kind, out)                                             \
    static void gave_##slot(cx_check_call *call)                           \
    {                                                                      \
        note_given(call, CX_HANDLE_##kind, CX_CALL(call, slot)->out);      \
    }
#define ENDS(slot, kind, field)
#include "layer/check/lifetimes.def"

static void made_stream(cx_check_call *call, CUstream *out, unsigned int flags)
{
    cx_object *made = note_made(call, CX_HANDLE_STREAM, out, 0);
    if (made != NULL)
        made->flags = flags;
}

static void made_stream_create(cx_check_call *call)
{
    made_stream(call, CX_CALL(call, stream_create)->out_stream,
                CX_CALL(call, stream_create)->flags);
}

static void made_stream_create_with_priority(cx_check_call *call)
{
    made_stream(call, CX_CALL(call, stream_create_with_priority)->out_stream,
                CX_CALL(call, stream_create_with_priority)->flags);
}

/* ---- memory ---- */

static void made_mem_alloc(cx_check_call *call)
{
    (void)note_made(call, CX_OBJECT_MEMORY, CX_CALL(call, mem_alloc)->out_pointer,
                    CX_CALL(call, mem_alloc)->bytes);
}

static void made_mem_alloc_pitch(cx_check_call *call)
{
    const cx_arguments_mem_alloc_pitch *given = CX_CALL(call, mem_alloc_pitch);
    size_t pitch = given->out_pitch != NULL && !cx_check_failed(call) ? *given->out_pitch : 0;
    (void)note_made(call, CX_OBJECT_MEMORY, given->out_pointer, pitch * given->height);
}

static void made_mem_alloc_managed(cx_check_call *call)
{
    (void)note_made(call, CX_OBJECT_MANAGED_MEMORY, CX_CALL(call, mem_alloc_managed)->out_pointer,
                    CX_CALL(call, mem_alloc_managed)->bytes);
}

/* Memory of a pool lies on the pool's device. -1: unknown. */
static int device_of(CUdeviceptr pointer)
{
    int device;
    return cx_check_ask_pointer(CXU_POINTER_DEVICE_ORDINAL, pointer, &device) ? device : -1;
}

static cx_object *made_async(cx_check_call *call, CUdeviceptr *out, size_t bytes, CUstream stream)
{
    cx_object *made = note_made(call, CX_OBJECT_ASYNC_MEMORY, out, bytes);
    const cx_object *in = cx_check_stream(stream);
    if (made != NULL && in != NULL)
        cx_object_set_owner(made, in->context, in->device);
    return made;
}

static void made_mem_alloc_async(cx_check_call *call)
{
    const cx_arguments_mem_alloc_async *given = CX_CALL(call, mem_alloc_async);
    (void)made_async(call, given->out_pointer, given->bytes, given->stream);
}

static void made_mem_alloc_from_pool_async(cx_check_call *call)
{
    const cx_arguments_mem_alloc_from_pool_async *given = CX_CALL(call, mem_alloc_from_pool_async);
    int device = cx_check_failed(call) ? -1 : device_of(*given->out_pointer);
    cx_object *made = made_async(call, given->out_pointer, given->bytes, given->stream);
    if (made == NULL)
        return;
    made->parent = cx_object_find(CX_HANDLE_POOL, (uintptr_t)given->pool);
    cx_object_set_owner(made, made->context, device >= 0 ? device : made->device);
}

static void made_mem_pool_create(cx_check_call *call)
{
    const cx_arguments_mem_pool_create *given = CX_CALL(call, mem_pool_create);
    cx_object *made = note_made(call, CX_HANDLE_POOL, given->out_pool, 0);
    if (made != NULL && given->properties->location.type == CXU_MEM_LOCATION_TYPE_DEVICE)
        cx_object_set_owner(made, NULL, given->properties->location.id);
}

static void made_mem_alloc_host(cx_check_call *call)
{
    (void)note_made(call, CX_OBJECT_PINNED_MEMORY, CX_CALL(call, mem_alloc_host)->out_pointer,
                    CX_CALL(call, mem_alloc_host)->bytes);
}

static void made_mem_host_alloc(cx_check_call *call)
{
    (void)note_made(call, CX_OBJECT_PINNED_MEMORY, CX_CALL(call, mem_host_alloc)->out_pointer,
                    CX_CALL(call, mem_host_alloc)->bytes);
}

static void made_mem_host_register(cx_check_call *call)
{
    const cx_arguments_mem_host_register *given = CX_CALL(call, mem_host_register);
    if (!cx_check_failed(call) && given->host != NULL)
        (void)cx_object_make(CX_OBJECT_REGISTERED_MEMORY, (uintptr_t)given->host, given->bytes,
                             cx_check_context(call), call->origin);
}

/* ---- ending ---- */

/* Before the driver ends it: another thread may get its value at once. */
static void begin_end(cx_check_call *call, cx_object *object)
{
    if (object == NULL || !object->live)
        return;
    call->ending = object;
    cx_object_end(object, (int)call->slot, call->origin);
}

static void end_handle(cx_check_call *call, uint32_t kind, uintptr_t value)
{
    begin_end(call, cx_object_find(kind, value));
}

/* Frees of the wrong kind of memory fail, and end nothing. */
static void end_memory(cx_check_call *call, uintptr_t address)
{
    cx_object *object = cx_object_find_memory(address);
    if (object != NULL && object->key.value == address)
        begin_end(call, object);
}

static bool has_parts(const cx_object *object)
{
    return object->key.kind == CX_HANDLE_MODULE || object->key.kind == CX_HANDLE_LIBRARY;
}

static void ended(cx_check_call *call)
{
    cx_object *object = call->ending;
    if (object == NULL)
        return;
    if (cx_check_failed(call))
        cx_object_revive(object);
    else if (has_parts(object))
        cx_object_empty(object, (int)call->slot, call->origin);
}

#define MAKES(slot, kind, out)
#define MAKES_OF(slot, kind, out, parent_kind, parent_field)
#define GIVES(slot, kind, out)
#define ENDS(slot, kind, field)                                                         \
    static void end_##slot(cx_check_call *call)                                         \
    {                                                                                   \
        end_handle(call, CX_HANDLE_##kind, (uintptr_t)CX_CALL(call, slot)->field);     \
    }
#include "layer/check/lifetimes.def"

#define FREES(slot, field)                                        \
    static void end_##slot(cx_check_call *call)                   \
    {                                                             \
        end_memory(call, (uintptr_t)CX_CALL(call, slot)->field); \
    }
FREES(mem_free, pointer)
FREES(mem_free_async, pointer)
FREES(mem_free_host, pointer)
FREES(mem_host_unregister, host)

bool cx_check_ends(cx_slot slot, uint32_t *out_kind)
{
    switch (slot) {
    case CX_SLOT_ctx_destroy:
        *out_kind = CX_HANDLE_CONTEXT;
        return true;
#define MAKES(slot, kind, out)
#define MAKES_OF(slot, kind, out, parent_kind, parent_field)
#define GIVES(slot, kind, out)
#define ENDS(slot, kind, field)         \
    case CX_SLOT_##slot:                \
        *out_kind = CX_HANDLE_##kind;   \
        return true;
#include "layer/check/lifetimes.def"
    default:
        return false;
    }
}

const cx_check_hooks cx_check_lifetimes[CX_SLOT_COUNT] = {
#define MAKES(slot, kind, out) [CX_SLOT_##slot] = {NULL, made_##slot},
#define MAKES_OF(slot, kind, out, parent_kind, parent_field) [CX_SLOT_##slot] = {NULL, made_##slot},
#define GIVES(slot, kind, out)
#define ENDS(slot, kind, field) [CX_SLOT_##slot] = {end_##slot, ended},
#include "layer/check/lifetimes.def"
    [CX_SLOT_stream_create] = {NULL, made_stream_create},
    [CX_SLOT_stream_create_with_priority] = {NULL, made_stream_create_with_priority},
    [CX_SLOT_mem_alloc] = {NULL, made_mem_alloc},
    [CX_SLOT_mem_alloc_pitch] = {NULL, made_mem_alloc_pitch},
    [CX_SLOT_mem_alloc_managed] = {NULL, made_mem_alloc_managed},
    [CX_SLOT_mem_alloc_async] = {NULL, made_mem_alloc_async},
    [CX_SLOT_mem_alloc_from_pool_async] = {NULL, made_mem_alloc_from_pool_async},
    [CX_SLOT_mem_pool_create] = {NULL, made_mem_pool_create},
    [CX_SLOT_mem_alloc_host] = {NULL, made_mem_alloc_host},
    [CX_SLOT_mem_host_alloc] = {NULL, made_mem_host_alloc},
    [CX_SLOT_mem_host_register] = {NULL, made_mem_host_register},
    [CX_SLOT_mem_free] = {end_mem_free, ended},
    [CX_SLOT_mem_free_async] = {end_mem_free_async, ended},
    [CX_SLOT_mem_free_host] = {end_mem_free_host, ended},
    [CX_SLOT_mem_host_unregister] = {end_mem_host_unregister, ended},
};

/* ---- what calls give that exists ---- */

/* The kernel of a library as a function of the current context. */
static void gave_kernel_get_function(cx_check_call *call)
{
    const CUfunction *out = CX_CALL(call, kernel_get_function)->out_function;
    note_given(call, CX_HANDLE_FUNCTION, out);
    if (out == NULL || cx_check_failed(call))
        return;
    cx_object *function = cx_object_find(CX_HANDLE_FUNCTION, (uintptr_t)*out);
    cx_object *context = cx_check_context(call);
    if (function != NULL && function->context == NULL && context != NULL)
        cx_object_set_owner(function, context, context->device);
}

static void gave_all(cx_check_call *call, uint32_t kind, const void *all, unsigned int count)
{
    for (unsigned int i = 0; all != NULL && i < count; i++)
        note_given(call, kind, (const uintptr_t *)all + i);
}

static void gave_module_enumerate_functions(cx_check_call *call)
{
    gave_all(call, CX_HANDLE_FUNCTION, CX_CALL(call, module_enumerate_functions)->functions,
             CX_CALL(call, module_enumerate_functions)->count);
}

static void gave_library_enumerate_kernels(cx_check_call *call)
{
    gave_all(call, CX_HANDLE_KERNEL, CX_CALL(call, library_enumerate_kernels)->out_kernels,
             CX_CALL(call, library_enumerate_kernels)->count);
}

/* Their places are not kept in advance: they are called often, and mostly give what is known. */
const cx_check_hooks cx_check_given[CX_SLOT_COUNT] = {
#define MAKES(slot, kind, out)
#define MAKES_OF(slot, kind, out, parent_kind, parent_field)
#define GIVES(slot, kind, out) [CX_SLOT_##slot] = {NULL, gave_##slot},
#define ENDS(slot, kind, field)
#include "layer/check/lifetimes.def"
    [CX_SLOT_kernel_get_function] = {NULL, gave_kernel_get_function},
    [CX_SLOT_module_enumerate_functions] = {NULL, gave_module_enumerate_functions},
    [CX_SLOT_library_enumerate_kernels] = {NULL, gave_library_enumerate_kernels},
};
