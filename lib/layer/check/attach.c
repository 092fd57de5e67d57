/* Managed memory that one stream, or the host, has for itself: MEMORY-ATTACHED. */
#include "layer/check/attach.h"

#include "layer/check/check.h"

#include <string.h>

static uint64_t counted_so_far = 1;
static bool any; /* memory was ever attached */

uint64_t cx_attach_count(void)
{
    return ++counted_so_far;
}

static cx_object *managed_at(uintptr_t address)
{
    cx_object *memory = cx_object_find_memory(address);
    return memory != NULL && memory->key.kind == CX_OBJECT_MANAGED_MEMORY ? memory : NULL;
}

static void attached(cx_check_call *call)
{
    const cx_arguments_stream_attach_mem_async *given = CX_CALL(call, stream_attach_mem_async);
    if (cx_check_failed(call))
        return;
    const cx_origin where = cx_check_here(call);
    const cx_object *stream = cx_check_stream(given->stream);
    cx_object *memory = managed_at((uintptr_t)given->pointer);
    if (memory == NULL)
        return;
    const bool shared = given->flags == CXU_MEM_ATTACH_GLOBAL ||
                        (given->flags == CXU_MEM_ATTACH_SINGLE && stream == NULL);
    memory->attached_since = shared ? 0 : counted_so_far;
    memory->attached_to = given->flags == CXU_MEM_ATTACH_SINGLE && !shared ? stream->number : 0;
    memory->attached_at = where;
    any |= !shared;
}

const cx_check_hooks cx_check_attach[CX_SLOT_COUNT] = {
    [CX_SLOT_stream_attach_mem_async] = {NULL, attached},
};

static void tell(const cx_order_piece *piece, const cx_object *memory)
{
    cx_check_thread thread = {.number = piece->thread};
    char stream[48], owner[48] = "the host";
    memcpy(thread.name, piece->thread_name, sizeof thread.name);
    cx_finding finding = cx_finding_begin(CX_KIND_MEMORY_ATTACHED, &thread, (int)piece->slot,
                                          CXU_SUCCESS, piece->where);
    cx_stream_clock_stream_text(piece->stream, stream, sizeof stream);
    if (memory->attached_to != 0)
        cx_stream_clock_stream_text(
            (cx_stream_clock_stream){.number = memory->attached_to}, owner, sizeof owner);
    cx_finding_note(&finding, "launched", piece->where, "by %s in %s",
                    cx_origin_call(piece->where, piece->slot), stream);
    cx_finding_note(&finding, "set", memory->attached_at, "attached to %s", owner);
    cx_finding_note_object(&finding, memory);
    cx_finding_raise(&finding);
}

void cx_attach_judge(const cx_order_piece *piece, uint64_t counted, const cx_access *touch)
{
    if (!any || piece->what != CX_ORDER_KERNEL)
        return;
    const cx_object *memory = managed_at((uintptr_t)touch->begin);
    if (memory != NULL && memory->attached_since != 0 && counted > memory->attached_since &&
        (memory->attached_to == 0 || piece->stream.number != memory->attached_to))
        tell(piece, memory);
}
