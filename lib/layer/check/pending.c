/*
 * Work that may still use memory of the host: parts of MEMORY.
 *
 * The program has waited for work if the host's clock covers it. Where that is not certain,
 * it counts as waited for.
 */
#include "layer/check/access.h"
#include "layer/check/stream_clock.h"
#include "layer/names.h"

#include <stdlib.h>
#include <string.h>

/* The last use of some memory in a line. */
typedef struct pending_use {
    const cx_object *memory;
    uint32_t number; /* of the memory: another may have got its object since */
    int line;
    uint64_t piece; /* of the line: its work so far */
    CUstream stream;
    cx_stream_clock_stream named;
    uint64_t turn;
    cx_slot slot;
    cx_origin where;
} pending_use;

/* More are forgotten, the oldest first. */
enum { USES = 128 };
static pending_use uses[USES];
static unsigned use_count;
static uint64_t last_turn;

/* ---- uses ---- */

static bool is_waited_for(const pending_use *use)
{
    return cx_stream_clock_host()->pieces[use->line] >= use->piece;
}

static void drop_waited_for(void)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < use_count; i++)
        if (!is_waited_for(&uses[i]))
            uses[kept++] = uses[i];
    use_count = kept;
}

static pending_use *place_of(const cx_object *memory, int line)
{
    pending_use *oldest = &uses[0];
    drop_waited_for();
    for (unsigned i = 0; i < use_count; i++) {
        if (uses[i].memory == memory && uses[i].line == line)
            return &uses[i];
        oldest = uses[i].turn < oldest->turn ? &uses[i] : oldest;
    }
    return use_count < USES ? &uses[use_count++] : oldest;
}

static bool keeps_any(const cx_check_access *all, int count)
{
    for (int i = 0; i < count; i++)
        if (cx_object_is_of_host(cx_object_find_memory(all[i].address)))
            return true;
    return false;
}

/* Behind the call's own piece of work, which order.c has counted. */
static void note_use(const cx_check_call *call, int line, const cx_object *memory, CUstream stream)
{
    *place_of(memory, line) = (pending_use){memory,      memory->number,
                                            line,        cx_stream_clock_of(line)->pieces[line],
                                            stream,      cx_stream_clock_stream_of(line),
                                            last_turn,   call->slot,
                                            call->origin};
}

static void used(cx_check_call *call)
{
    CUstream stream;
    bool async;
    cx_check_access all[CX_CHECK_ACCESSES];
    int count = cx_check_accesses(call, all, &stream, &async);
    if (cx_check_failed(call) || !async || !keeps_any(all, count))
        return;
    (void)cx_check_here(call); /* it opens the lock: what is looked up is looked up behind it */
    const int line = cx_stream_clock_line(call, stream);
    last_turn++;
    for (int i = 0; i < count; i++) {
        const cx_object *memory = cx_object_find_memory(all[i].address);
        if (cx_object_is_of_host(memory) && cx_stream_clock_capture(line) == 0)
            note_use(call, line, memory, stream);
    }
}

/* ---- kernels ---- */

enum { PARAMETERS = 32, KERNELS = 64 };

/* Which parameters of a kernel may be pointers: those of eight bytes. */
typedef struct kernel_pointers {
    uintptr_t function;
    uint32_t number; /* of its object: another kernel may have the handle later */
    uint32_t pointers, count;
} kernel_pointers;

/* Asks the driver, with the lock "check" open meanwhile. */
static kernel_pointers ask_pointers(CUfunction function, uint32_t number)
{
    kernel_pointers asked = {.function = (uintptr_t)function, .number = number};
    size_t offset, bytes;
    if (cx_check_driver->func_get_param_info == NULL)
        return asked;
    cx_lock_leave(&cx_check_lock);
    while (asked.count < PARAMETERS &&
           cx_check_driver->func_get_param_info(function, asked.count, &offset, &bytes) ==
               CXU_SUCCESS) {
        asked.pointers |= (bytes == sizeof(CUdeviceptr) ? 1u : 0u) << asked.count;
        asked.count++;
    }
    cx_lock_enter(&cx_check_lock);
    return asked;
}

/* NULL: the kernel is unknown. */
static const kernel_pointers *pointers_of(CUfunction function)
{
    static kernel_pointers known[KERNELS];
    const cx_object *object = cx_object_find(CX_HANDLE_FUNCTION, (uintptr_t)function);
    if (object == NULL || !object->live)
        return NULL;
    const uint32_t number = object->number;
    kernel_pointers *place = &known[number % KERNELS];
    if (place->function != (uintptr_t)function || place->number != number) {
        const kernel_pointers asked = ask_pointers(function, number);
        *place = asked;
    }
    return place;
}

/* A kernel may use memory whose address, or one inside, is a parameter. */
static void launched(cx_check_call *call, CUfunction function, CUstream stream, void **parameters)
{
    if (cx_check_failed(call) || parameters == NULL || !cx_object_has_host_memory())
        return;
    (void)cx_check_here(call);
    const kernel_pointers *kernel = pointers_of(function);
    const int line = cx_stream_clock_line(call, stream);
    if (kernel == NULL || cx_stream_clock_capture(line) != 0)
        return;
    last_turn++;
    for (uint32_t i = 0; i < kernel->count; i++) {
        CUdeviceptr pointer;
        if ((kernel->pointers >> i & 1) == 0)
            continue;
        memcpy(&pointer, parameters[i], sizeof pointer);
        const cx_object *memory = cx_object_find_memory((uintptr_t)pointer);
        if (cx_object_is_of_host(memory))
            note_use(call, line, memory, stream);
    }
}

static void launched_kernel(cx_check_call *call)
{
    const cx_arguments_launch_kernel *given = CX_CALL(call, launch_kernel);
    launched(call, given->function, given->stream, given->parameters);
}

static void launched_ex(cx_check_call *call)
{
    const cx_arguments_launch_kernel_ex *given = CX_CALL(call, launch_kernel_ex);
    if (!cx_check_failed(call))
        launched(call, given->function, given->config->stream, given->parameters);
}

static void launched_cooperative(cx_check_call *call)
{
    const cx_arguments_launch_cooperative_kernel *given = CX_CALL(call, launch_cooperative_kernel);
    launched(call, given->function, given->stream, given->parameters);
}

/* It may tell the program that any work is over, in a way that is not seen. */
static void tells(cx_check_call *call)
{
    if (!cx_check_failed(call))
        use_count = 0;
}

/* ---- frees ---- */

static void tell_pending(cx_check_call *call, cx_check_kind kind, const pending_use *use)
{
    const cx_object *stream = cx_check_stream(use->stream);
    char text[64];
    if (stream != NULL)
        cx_object_text(stream, text, sizeof text);
    else
        cx_stream_clock_stream_text(use->named, text, sizeof text);
    cx_finding finding = cx_check_finding(kind, call);
    call->told = false;
    cx_finding_note_object(&finding, use->memory);
    cx_finding_note(&finding, "first", use->where, "%s in %s is pending",
                    cx_origin_call(use->where, use->slot), text);
    cx_finding_raise(&finding);
}

static const pending_use *use_of(const cx_object *memory)
{
    for (unsigned i = 0; i < use_count; i++)
        if (uses[i].memory == memory && uses[i].number == memory->number &&
            !is_waited_for(&uses[i]))
            return &uses[i];
    return NULL;
}

/* Before the driver frees it: the memory is live yet. */
static void frees(cx_check_call *call, uintptr_t address, uint32_t kind, cx_check_kind finds)
{
    (void)cx_check_here(call);
    const cx_object *memory = cx_object_find_memory(address);
    if (memory == NULL || memory->key.value != address || memory->key.kind != kind)
        return;
    const pending_use *use = use_of(memory);
    if (use != NULL)
        tell_pending(call, finds, use);
}

static void frees_host(cx_check_call *call)
{
    if (cx_layer_hint_now() == CX_LAYER_FREE_WAITS)
        return;
    frees(call, (uintptr_t)CX_CALL(call, mem_free_host)->pointer, CX_OBJECT_PINNED_MEMORY,
          CX_KIND_MEMORY_PINNED_FREED);
}

static void unregisters(cx_check_call *call)
{
    frees(call, (uintptr_t)CX_CALL(call, mem_host_unregister)->host, CX_OBJECT_REGISTERED_MEMORY,
          CX_KIND_MEMORY_UNREGISTERED);
}

#define USES_OF(slot) [CX_SLOT_##slot] = {NULL, used},
#define TELLS(slot) [CX_SLOT_##slot] = {NULL, tells},
const cx_check_hooks cx_check_pending[CX_SLOT_COUNT] = {
    USES_OF(memcpy_htoa_async) USES_OF(memcpy_atoh_async)
    USES_OF(memcpy_unified_async) USES_OF(memcpy_peer_async) USES_OF(memcpy_htod_async)
        USES_OF(memcpy_dtoh_async) USES_OF(memcpy_dtod_async) USES_OF(memcpy_2d_async)
            USES_OF(memcpy_3d_async) USES_OF(memset_d8_async) USES_OF(memset_d16_async)
                USES_OF(memset_d32_async) USES_OF(memset_2d_d8_async) USES_OF(memset_2d_d16_async)
                    USES_OF(memset_2d_d32_async) TELLS(stream_batch_mem_op)
                        TELLS(graph_launch)[CX_SLOT_mem_free_host] = {frees_host, NULL},
    [CX_SLOT_mem_host_unregister] = {unregisters, NULL},
    [CX_SLOT_launch_kernel] = {NULL, launched_kernel},
    [CX_SLOT_launch_kernel_ex] = {NULL, launched_ex},
    [CX_SLOT_launch_cooperative_kernel] = {NULL, launched_cooperative},
};
