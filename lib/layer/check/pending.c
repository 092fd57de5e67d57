/*
 * Work that may still use memory of the host: parts of MEMORY.
 *
 * The program has waited for work if a call that waits for it succeeded. Where that is not certain,
 * it counts as waited for.
 */
#include "layer/check/access.h"
#include "layer/check/branch.h"

#include <stdlib.h>

/* The last use of some memory in a stream, which the program has not waited for. */
typedef struct pending_use {
    const cx_object *memory;
    uint32_t number; /* of the memory: another may have got its object since */
    CUstream stream;
    uint64_t turn;
    cx_slot slot;
    cx_origin where;
} pending_use;

/* More are forgotten, the oldest first. */
enum { USES = 128, EVENTS = 128 };
static pending_use uses[USES];
static unsigned use_count;
static uint64_t last_turn;

/* Where an event was recorded last; a place is shared by events whose handles fall into it. */
typedef struct recorded_event {
    CUevent event;
    CUstream stream;
    uint64_t turn;
} recorded_event;
static recorded_event recorded[EVENTS];

/* Streams wait for each other from the first cuStreamWaitEvent on: waiting for one of them is then
 * waiting for all. */
static bool streams_wait;

/* ---- uses ---- */

static bool is_kept(const cx_object *memory)
{
    return memory != NULL && (memory->key.kind == CX_OBJECT_PINNED_MEMORY ||
                              memory->key.kind == CX_OBJECT_REGISTERED_MEMORY);
}

static pending_use *place_of(const cx_object *memory, CUstream stream)
{
    pending_use *oldest = &uses[0];
    for (unsigned i = 0; i < use_count; i++) {
        if (uses[i].memory == memory && uses[i].stream == stream)
            return &uses[i];
        oldest = uses[i].turn < oldest->turn ? &uses[i] : oldest;
    }
    return use_count < USES ? &uses[use_count++] : oldest;
}

static bool keeps_any(const cx_check_access *all, int count)
{
    for (int i = 0; i < count; i++)
        if (is_kept(cx_object_find_memory(all[i].address)))
            return true;
    return false;
}

static void used(cx_check_call *call)
{
    CUstream stream;
    bool async;
    cx_check_access all[CX_CHECK_ACCESSES];
    int count = cx_check_accesses(call, all, &stream, &async);
    if (cx_check_failed(call) || !async || cx_captures != NULL || !keeps_any(all, count))
        return;
    cx_origin where = cx_check_here(call); /* the lock was open: look again */
    last_turn++;
    for (int i = 0; i < count; i++) {
        const cx_object *memory = cx_object_find_memory(all[i].address);
        if (is_kept(memory))
            *place_of(memory, stream) = (pending_use){memory, memory->number, stream,
                                                      last_turn, call->slot, where};
    }
}

/* ---- waiting ---- */

/* Work in a stream up to a turn is done; of a default stream, that of all streams. */
static void wait_for(CUstream stream, uint64_t turn)
{
    const bool all = streams_wait || (uintptr_t)stream <= 2;
    unsigned kept = 0;
    for (unsigned i = 0; i < use_count; i++)
        if (uses[i].turn > turn || !(all || uses[i].stream == stream))
            uses[kept++] = uses[i];
    use_count = kept;
}

static void waited_for_all(cx_check_call *call)
{
    if (!cx_check_failed(call))
        use_count = 0;
}

static void waited_for_stream(cx_check_call *call, CUstream stream)
{
    if (call->result == CXU_SUCCESS)
        wait_for(stream, last_turn);
}

static void synchronized(cx_check_call *call)
{
    waited_for_stream(call, CX_CALL(call, stream_synchronize)->stream);
}

static void asked_stream(cx_check_call *call)
{
    waited_for_stream(call, CX_CALL(call, stream_query)->stream);
}

static void streams_joined(cx_check_call *call)
{
    if (!cx_check_failed(call))
        streams_wait = true;
}

/* ---- events ---- */

static recorded_event *record_of(CUevent event)
{
    return &recorded[((uintptr_t)event >> 4) % EVENTS];
}

static void note_record(cx_check_call *call, CUevent event, CUstream stream)
{
    if (!cx_check_failed(call))
        *record_of(event) = (recorded_event){event, stream, last_turn};
}

static void recorded_plain(cx_check_call *call)
{
    note_record(call, CX_CALL(call, event_record)->event, CX_CALL(call, event_record)->stream);
}

static void recorded_with_flags(cx_check_call *call)
{
    const cx_arguments_event_record_with_flags *given = CX_CALL(call, event_record_with_flags);
    note_record(call, given->event, given->stream);
}

/* An event whose place another one took, or whose record was not seen, may be behind everything. */
static void waited_for_event(cx_check_call *call, CUevent event)
{
    const recorded_event *found = record_of(event);
    if (call->result != CXU_SUCCESS)
        return;
    if (found->event == event)
        wait_for(found->stream, found->turn);
    else
        use_count = 0;
}

static void event_synchronized(cx_check_call *call)
{
    waited_for_event(call, CX_CALL(call, event_synchronize)->event);
}

static void asked_event(cx_check_call *call)
{
    waited_for_event(call, CX_CALL(call, event_query)->event);
}

static void timed_event(cx_check_call *call)
{
    waited_for_event(call, CX_CALL(call, event_elapsed_time)->end);
}

static void timed_event_v2(cx_check_call *call)
{
    waited_for_event(call, CX_CALL(call, event_elapsed_time_v2)->end);
}

/* ---- frees ---- */

static void tell_pending(cx_check_call *call, cx_check_kind kind, const pending_use *use)
{
    const cx_object *stream = cx_check_stream(use->stream);
    char text[64] = "a default stream";
    if (stream != NULL)
        cx_object_text(stream, text, sizeof text);
    cx_finding finding = cx_check_finding(kind, call);
    call->told = false;
    cx_finding_note_object(&finding, use->memory);
    cx_finding_note(&finding, "first", use->where, "%s in %s is pending",
                    cx_symbols[use->slot].symbol, text);
    cx_finding_raise(&finding);
}

static const pending_use *use_of(const cx_object *memory)
{
    for (unsigned i = 0; i < use_count; i++)
        if (uses[i].memory == memory && uses[i].number == memory->number)
            return &uses[i];
    return NULL;
}

/* Before the driver frees it: the memory is live yet. */
static void frees(cx_check_call *call, uintptr_t address, uint32_t kind, cx_check_kind tells)
{
    (void)cx_check_here(call);
    const cx_object *memory = cx_object_find_memory(address);
    if (memory == NULL || memory->key.value != address || memory->key.kind != kind)
        return;
    const pending_use *use = use_of(memory);
    if (use != NULL)
        tell_pending(call, tells, use);
}

static void frees_host(cx_check_call *call)
{
    frees(call, (uintptr_t)CX_CALL(call, mem_free_host)->pointer, CX_OBJECT_PINNED_MEMORY,
          CX_KIND_MEMORY_PINNED_FREED);
}

static void unregisters(cx_check_call *call)
{
    frees(call, (uintptr_t)CX_CALL(call, mem_host_unregister)->host, CX_OBJECT_REGISTERED_MEMORY,
          CX_KIND_MEMORY_UNREGISTERED);
}

#define USES_OF(slot) [CX_SLOT_##slot] = {NULL, used},
#define ALL(slot) [CX_SLOT_##slot] = {NULL, waited_for_all},
const cx_check_hooks cx_check_pending[CX_SLOT_COUNT] = {
    USES_OF(memcpy_unified_async)
    USES_OF(memcpy_peer_async)
    USES_OF(memcpy_htod_async)
    USES_OF(memcpy_dtoh_async)
    USES_OF(memcpy_dtod_async)
    USES_OF(memcpy_2d_async)
    USES_OF(memcpy_3d_async)
    USES_OF(memset_d8_async)
    USES_OF(memset_d16_async)
    USES_OF(memset_d32_async)
    USES_OF(memset_2d_d8_async)
    USES_OF(memset_2d_d16_async)
    USES_OF(memset_2d_d32_async)
    /* These wait, or tell the program in a way that is not seen. */
    ALL(ctx_synchronize)
    ALL(ctx_synchronize_v2)
    ALL(ctx_destroy)
    ALL(primary_release)
    ALL(primary_reset)
    ALL(memcpy_unified)
    ALL(memcpy_peer)
    ALL(memcpy_htod)
    ALL(memcpy_dtoh)
    ALL(memcpy_dtod)
    ALL(memcpy_2d)
    ALL(memcpy_2d_unaligned)
    ALL(memcpy_3d)
    ALL(memcpy_3d_peer)
    ALL(launch_host_func)
    ALL(launch_host_func_v2)
    ALL(stream_add_callback)
    ALL(stream_write_value_32)
    ALL(stream_write_value_64)
    ALL(stream_batch_mem_op)
    ALL(graph_launch)
    ALL(mem_free)
    ALL(mem_unmap)
    [CX_SLOT_mem_free_host] = {frees_host, waited_for_all},
    [CX_SLOT_mem_host_unregister] = {unregisters, waited_for_all},
    [CX_SLOT_stream_synchronize] = {NULL, synchronized},
    [CX_SLOT_stream_query] = {NULL, asked_stream},
    [CX_SLOT_stream_wait_event] = {NULL, streams_joined},
    [CX_SLOT_event_record] = {NULL, recorded_plain},
    [CX_SLOT_event_record_with_flags] = {NULL, recorded_with_flags},
    [CX_SLOT_event_synchronize] = {NULL, event_synchronized},
    [CX_SLOT_event_query] = {NULL, asked_event},
    [CX_SLOT_event_elapsed_time] = {NULL, timed_event},
    [CX_SLOT_event_elapsed_time_v2] = {NULL, timed_event_v2},
};
