/* Handles and owners: HANDLE and OWNER, for calls that failed. */
#include "layer/check/check.h"

#include <stdlib.h>

/* Values that stand for default streams. */
static bool names_no_object(const cx_layer_handle *handle)
{
    return handle->kind == CX_HANDLE_STREAM && handle->value <= 2;
}

static bool is_of_handles(cxu_result result)
{
    return result == CXU_INVALID_HANDLE || result == CXU_INVALID_CONTEXT ||
           result == CXU_CONTEXT_IS_DESTROYED || result == CXU_INVALID_VALUE;
}

static const cx_check_failed_output *failed_output(const cx_check_thread *thread, uint32_t kind,
                                                   uintptr_t value)
{
    for (unsigned i = 0; i < CX_CHECK_FAILED; i++) {
        const cx_check_failed_output *one = &thread->failed[i];
        if (one->kind == kind && one->value == value)
            return one;
    }
    return NULL;
}

static void tell_of_output(cx_check_call *call, cx_check_kind kind,
                           const cx_check_failed_output *output)
{
    const char *result = cx_result_name(output->result);
    cx_finding finding = cx_check_finding(kind, call);
    cx_finding_note(&finding, "made", output->where, "%s had failed: %s",
                    cx_origin_call(output->where, output->slot),
                    result != NULL ? result : "an error");
    cx_finding_raise(&finding);
}

static void tell_of_object(cx_check_call *call, cx_check_kind kind, const cx_object *object)
{
    cx_finding finding = cx_check_finding(kind, call);
    cx_finding_note_object(&finding, object);
    cx_finding_raise(&finding);
}

/* A kernel of a library, cast, is right where a call takes a function; but attributes are set with
 * a call of its own, and the launches of before CUDA 4 know functions alone. */
static bool takes_kernels(cx_slot slot)
{
    switch (slot) {
    case CX_SLOT_func_set_attribute:
    case CX_SLOT_func_set_block_shape:
    case CX_SLOT_func_set_shared_size:
    case CX_SLOT_param_set_size:
    case CX_SLOT_param_set_int:
    case CX_SLOT_param_set_float:
    case CX_SLOT_param_set_bytes:
    case CX_SLOT_param_set_texture:
    case CX_SLOT_launch_once:
    case CX_SLOT_launch_grid:
    case CX_SLOT_launch_grid_async:
        return false;
    default:
        return true;
    }
}

/* NULL: no call gave out the value for this type. */
static const cx_object *object_of(cx_slot slot, const cx_layer_handle *handle)
{
    const cx_object *object = cx_object_find(handle->kind, handle->value);
    if (handle->kind != CX_HANDLE_FUNCTION || !takes_kernels(slot) ||
        (object != NULL && object->live))
        return object;
    const cx_object *kernel = cx_object_find(CX_HANDLE_KERNEL, handle->value);
    return kernel != NULL && (object == NULL || kernel->live) ? kernel : object;
}

static void look_at_handle(cx_check_call *call, const cx_layer_handle *handle)
{
    const cx_object *object = object_of(call->slot, handle);
    const cx_check_failed_output *output = failed_output(call->thread, handle->kind, handle->value);
    uint32_t kind;
    if (object != NULL && object->live)
        return;
    if (output == NULL && (handle->value == 0 || (object != NULL && object->primary)))
        return; /* no handle, or CURRENT explains it */
    if (output == NULL && object != NULL && handle->kind != CX_HANDLE_CONTEXT &&
        cx_check_is_consequence(call, object))
        return;
    if (output != NULL)
        tell_of_output(call, CX_KIND_HANDLE_NOT_MADE, output);
    else if (object != NULL)
        tell_of_object(call,
                       cx_check_ends(call->slot, &kind) && kind == (uint32_t)handle->kind
                           ? CX_KIND_HANDLE_ENDED_TWICE
                           : CX_KIND_HANDLE_ENDED,
                       object);
    else if ((object = cx_object_find_other(handle->kind, handle->value)) != NULL)
        tell_of_object(call, CX_KIND_HANDLE_TYPE, object);
    else {
        cx_finding finding = cx_check_finding(CX_KIND_HANDLE_UNKNOWN, call);
        cx_finding_note(&finding, "argument", 0, "the argument %s is %#llx", handle->parameter,
                        (unsigned long long)handle->value);
        cx_finding_raise(&finding);
    }
}

void cx_check_failed_handle(cx_check_call *call)
{
    cx_layer_handle handles[CX_LAYER_HANDLES_MAX];
    const cx_layer_call seen = {
        .slot = call->slot, .arguments = call->arguments, .result = call->result};
    if (!is_of_handles(call->result))
        return;
    int count = cx_layer_handles(&seen, handles);
    for (int i = 0; i < count && !call->told; i++)
        if (!names_no_object(&handles[i]))
            look_at_handle(call, &handles[i]);
}

/* ---- owners ---- */

/* The live object of the first handle of a kind, or of the one behind `other`. */
static const cx_object *find_live(const cx_layer_handle *handles, int count, cx_handle_kind kind,
                                  const cx_object *other)
{
    for (int i = 0; i < count; i++) {
        const cx_object *object =
            handles[i].kind == kind ? cx_object_find(kind, handles[i].value) : NULL;
        if (object != NULL && object != other)
            return object->live ? object : NULL;
    }
    return NULL;
}

static void tell_of_two(cx_check_call *call, cx_check_kind kind, const cx_object *one,
                        const cx_object *other)
{
    cx_finding finding = cx_check_finding(kind, call);
    cx_finding_note_object(&finding, one);
    if (other != NULL)
        cx_finding_note_object(&finding, other);
    cx_finding_note_current(&finding, call->thread);
    cx_finding_raise(&finding);
}

/* The owner of work in this stream: of a default stream, whatever is current. */
static const cx_object *context_of_work(const cx_check_call *call, const cx_object *stream)
{
    return stream != NULL ? stream->context : cx_check_current(call->thread);
}

static bool differ(const cx_object *object, const cx_object *context)
{
    return object != NULL && object->context != NULL && context != NULL &&
           object->context != context;
}

/* A node's fill that its context cannot make. */
static bool look_at_node(cx_check_call *call)
{
    if (call->slot != CX_SLOT_graph_add_memset_node)
        return false;
    const cx_arguments_graph_add_memset_node *given = CX_CALL(call, graph_add_memset_node);
    const cx_object *context = cx_object_find(CX_HANDLE_CONTEXT, (uintptr_t)given->context);
    const cx_object *memory =
        given->params != NULL ? cx_object_find_memory((uintptr_t)given->params->destination) : NULL;
    if (context == NULL || memory == NULL || memory->device < 0 || context->device < 0 ||
        memory->device == context->device)
        return false;
    tell_of_two(call, CX_KIND_OWNER_GRAPH, memory, context);
    return true;
}

/* Objects are checked before sizes and flags, but for streams whose attributes are copied. */
static bool is_of_owners(const cx_check_call *call)
{
    return call->result == CXU_INVALID_HANDLE || call->result == CXU_INVALID_CONTEXT ||
           call->result == CXU_CONTEXT_IS_DESTROYED || call->slot == CX_SLOT_stream_copy_attributes;
}

static void look_at_owners(cx_check_call *call, const cx_layer_handle *handles, int count)
{
    const cx_object *stream = find_live(handles, count, CX_HANDLE_STREAM, NULL);
    const cx_object *second = find_live(handles, count, CX_HANDLE_STREAM, stream);
    const cx_object *event = find_live(handles, count, CX_HANDLE_EVENT, NULL);
    const cx_object *function = find_live(handles, count, CX_HANDLE_FUNCTION, NULL);
    const cx_object *exec = find_live(handles, count, CX_HANDLE_GRAPH_EXEC, NULL);
    const cx_object *context = context_of_work(call, stream);
    if (differ(event, context))
        tell_of_two(call, CX_KIND_OWNER_EVENT, event, stream);
    else if (differ(function, context))
        tell_of_two(call, CX_KIND_OWNER_FUNCTION, function, stream);
    else if (exec != NULL && exec->context != NULL && !exec->context->live)
        tell_of_two(call, CX_KIND_OWNER_GRAPH, exec, exec->context);
    else if (stream != NULL && differ(second, stream->context))
        tell_of_two(call, CX_KIND_OWNER_STREAM, stream, second);
}

void cx_check_failed_owner(cx_check_call *call)
{
    cx_layer_handle handles[CX_LAYER_HANDLES_MAX];
    const cx_layer_call seen = {
        .slot = call->slot, .arguments = call->arguments, .result = call->result};
    int count = cx_layer_handles(&seen, handles);
    if (call->result == CXU_INVALID_VALUE && look_at_node(call))
        return;
    if (is_of_owners(call) && count != 0)
        look_at_owners(call, handles, count);
}
