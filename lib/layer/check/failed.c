/* Calls that failed and that no other kind explains: CALL. */
#include "layer/check/check.h"

#include <string.h>

bool (*cx_check_explain)(cxu_result result, char *text, size_t size);

/* Programs ask and go on with the answer, whatever it is. */
static bool is_question(cx_slot slot)
{
    const char *symbol = cx_symbols[slot].symbol;
    switch (slot) {
    case CX_SLOT_device_get:
    case CX_SLOT_module_get_function:
    case CX_SLOT_module_get_global:
    case CX_SLOT_library_get_kernel:
    case CX_SLOT_ipc_get_mem_handle:
    case CX_SLOT_ipc_get_event_handle:
    case CX_SLOT_mem_host_get_device_pointer:
        return false;
    case CX_SLOT_init:
    case CX_SLOT_ctx_set_limit: /* drivers differ in what they take */
    case CX_SLOT_graph_exec_update:
    case CX_SLOT_graph_exec_update_v1:
        return true;
    default:
        return strstr(symbol, "Get") != NULL || strstr(symbol, "Query") != NULL ||
               strstr(symbol, "Occupancy") != NULL || strstr(symbol, "IsCapturing") != NULL;
    }
}

/* Results that programs provoke, and those that repeat what an earlier call was told. */
static bool is_answer(cxu_result result)
{
    switch (result) {
    case CXU_DEINITIALIZED:
    case CXU_PEER_ACCESS_ALREADY_ENABLED:
    case CXU_PEER_ACCESS_NOT_ENABLED:
    case CXU_PRIMARY_CONTEXT_ACTIVE:
    case CXU_STREAM_CAPTURE_INVALIDATED:
    case CXU_GRAPH_EXEC_UPDATE_FAILURE:
    case CXU_NOT_SUPPORTED: /* the embedded driver logs it */
    case CXU_CALL_REQUIRES_NEWER_DRIVER:
    case CXU_TIMEOUT:
    case CXU_OUT_OF_MEMORY: /* the machine decides, and a program may have another way */
    case CXU_NO_DEVICE:
    case CXU_INVALID_DEVICE:
    case CXU_UNSUPPORTED_LIMIT:
    case CXU_UNSUPPORTED_PTX_VERSION:
    case CXU_TOO_MANY_PEERS:
    case CXU_OPERATING_SYSTEM:
        return true;
    default:
        return cx_result_sticks(result);
    }
}

static const char *cause_of(cx_slot slot, cxu_result result)
{
    static const struct {
        cx_slot slot;
        cxu_result result;
        const char *cause;
    } causes[] = {
#define CX_CAUSE(slot_, result_, cause_) {CX_SLOT_##slot_, CXU_##result_, cause_},
#define CX_CAUSE_OF_RESULT(result_, cause_) {CX_SLOT_COUNT, CXU_##result_, cause_},
#include "layer/check/causes.def"
    };
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        if (causes[i].result == result &&
            (causes[i].slot == slot || causes[i].slot == CX_SLOT_COUNT))
            return causes[i].cause;
    return NULL;
}

static void note_reason(cx_finding *finding, const cx_check_call *call)
{
    const char *cause = cause_of(call->slot, call->result);
    const char *text = cx_result_text(call->result);
    if (call->thread->why[0] != '\0')
        cx_finding_note(finding, "reason", 0, "%s", call->thread->why);
    else if (cause != NULL)
        cx_finding_note(finding, "likely", 0, "%s", cause);
    else if (text != NULL)
        cx_finding_note(finding, "reason", 0, "%s", text);
}

/* Objects that the call names: the first ones tell which. */
static void note_objects(cx_finding *finding, const cx_check_call *call)
{
    cx_layer_handle handles[CX_LAYER_HANDLES_MAX];
    const cx_layer_call seen = {
        .slot = call->slot, .arguments = call->arguments, .result = call->result};
    int count = cx_layer_handles(&seen, handles), noted = 0;
    for (int i = 0; i < count && noted < 3; i++) {
        const cx_object *object = cx_object_find(handles[i].kind, handles[i].value);
        if (object == NULL || handles[i].kind == CX_HANDLE_CONTEXT)
            continue;
        cx_finding_note_object(finding, object);
        noted++;
    }
}

/* Memory that is registered already, perhaps of a buffer that was freed without a word. */
static void note_registered(cx_finding *finding, const cx_check_call *call)
{
    if (call->slot != CX_SLOT_mem_host_register)
        return;
    const cx_arguments_mem_host_register *given = CX_CALL(call, mem_host_register);
    const cx_object *memory = cx_object_find_range((uintptr_t)given->host, given->bytes);
    if (memory != NULL)
        cx_finding_note_object(finding, memory);
}

void cx_check_explain_failure(cx_check_call *call)
{
    char *why = call->thread->why;
    why[0] = '\0';
    if (cx_check_explain == NULL || cx_result_sticks(call->result) ||
        !cx_check_explain(call->result, why, sizeof call->thread->why))
        why[0] = '\0';
}

void cx_check_failed_call(cx_check_call *call)
{
    if (is_answer(call->result) || is_question(call->slot) || call->torn_down ||
        cx_check_in_forked_child() || call->slot == CX_SLOT_ctx_pop)
        return;
    cx_finding finding = cx_check_finding(CX_KIND_CALL_FAILED, call);
    call->told = false; /* whether the program looks at the result is another question */
    note_reason(&finding, call);
    note_objects(&finding, call);
    note_registered(&finding, call);
    cx_finding_raise(&finding);
}
