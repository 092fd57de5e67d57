#include "layer/check/order_finding.h"

#include "layer/check/check.h"
#include "layer/check/culprit.h"

#include <string.h>

static bool fault_told;

/* ---- two pieces of work ---- */

static const cx_object *memory_at(uintptr_t address)
{
    const cx_object *memory = cx_object_find_memory(address);
    return memory != NULL ? memory : cx_object_find_ended_memory(address);
}

static cx_check_kind kind_of(const cx_order_piece *one, const cx_order_piece *other,
                             const cx_object *memory)
{
    if (cx_order_piece_same_launch(one, other))
        return CX_KIND_ORDER_NODES;
    if (one->what == CX_ORDER_ALLOCATION)
        return CX_KIND_ORDER_BEFORE_ALLOC;
    if (other->what == CX_ORDER_FREE && other->slot == CX_SLOT_mem_free)
        return CX_KIND_MEMORY_ASYNC_FREED;
    if (other->what == CX_ORDER_FREE)
        return CX_KIND_ORDER_BEFORE_FREE;
    if (cx_object_is_of_host(memory) && other->by_host)
        return CX_KIND_ORDER_HOST;
    return one->what == CX_ORDER_KERNEL || other->what == CX_ORDER_KERNEL ? CX_KIND_ORDER_KERNEL
                                                                          : CX_KIND_ORDER_COPY;
}

static void note_call(cx_finding *finding, const char *role, const char *by,
                      const cx_order_piece *piece)
{
    char stream[48];
    cx_stream_clock_stream_text(piece->stream, stream, sizeof stream);
    cx_finding_note(finding, role, piece->where, "%s%s in %s", by,
                    cx_origin_call(piece->where, piece->slot), stream);
}

static void note_piece(cx_finding *finding, const char *role, const cx_order_piece *piece)
{
    char node[256];
    if (piece->graph == NULL) {
        note_call(finding, role, "", piece);
        return;
    }
    cx_order_graph_text(piece->graph, piece->node, node, sizeof node);
    cx_finding_note(finding, role, piece->graph->nodes[piece->node].place, "%s", node);
}

static void note_launch(cx_finding *finding, const cx_order_piece *piece)
{
    if (piece->graph != NULL)
        note_call(finding, "launched", "by ", piece);
}

static cx_finding begin_finding(cx_check_kind kind, const cx_order_piece *piece)
{
    cx_check_thread thread = {.number = piece->thread};
    memcpy(thread.name, piece->thread_name, sizeof thread.name);
    return cx_finding_begin(kind, &thread, (int)piece->slot, CXU_SUCCESS, piece->where);
}

/* cuMemFree asks that all uses are over (T12), and an allocation is none. */
static bool is_free_without_use(const cx_order_piece *one, const cx_order_piece *other)
{
    return one->what == CX_ORDER_ALLOCATION && other->slot == CX_SLOT_mem_free;
}

static void raise_finding(const cx_order_piece *one, const cx_order_piece *other, uintptr_t begin,
                          uintptr_t end_of)
{
    const cx_object *memory = memory_at(begin);
    if (is_free_without_use(one, other))
        return;
    cx_finding finding = begin_finding(kind_of(one, other, memory), other);
    fault_told |= one->what == CX_ORDER_ALLOCATION || other->what == CX_ORDER_FREE;
    note_piece(&finding, "first", one);
    if (!cx_order_piece_same_launch(one, other))
        note_launch(&finding, one);
    note_piece(&finding, "second", other);
    note_launch(&finding, other);
    if (memory != NULL) {
        char text[64];
        cx_object_text(memory, text, sizeof text);
        cx_finding_note(&finding, "made", memory->made, "bytes %zu to %zu of %s",
                        (size_t)(begin - memory->key.value),
                        (size_t)(end_of - 1 - memory->key.value), text);
    }
    cx_finding_raise(&finding);
}

/* ---- conflicts ---- */

/* The judged work's last conflict with each line: work that is ordered after that one is ordered
 * after all. */
typedef struct conflict {
    cx_order_piece *earlier; /* NULL: none */
    uintptr_t begin, end;
} conflict;
static conflict conflicts[CX_STREAM_CLOCK_LINES];

static void widen(conflict *one, uintptr_t begin, uintptr_t end_of)
{
    one->begin = begin < one->begin ? begin : one->begin;
    one->end = end_of > one->end ? end_of : one->end;
}

void cx_order_finding_note_conflict(cx_order_piece *earlier, uintptr_t begin, uintptr_t end_of)
{
    conflict *one = &conflicts[earlier->line];
    if (one->earlier == earlier)
        widen(one, begin, end_of);
    if (one->earlier != NULL && one->earlier->number >= earlier->number)
        return;
    if (one->earlier != NULL)
        cx_order_piece_drop(one->earlier);
    *one = (conflict){earlier, begin, end_of};
    earlier->references++;
}

bool cx_order_finding_has_conflicts(void)
{
    for (int line = 0; line < CX_STREAM_CLOCK_LINES; line++)
        if (conflicts[line].earlier != NULL)
            return true;
    return false;
}

void cx_order_finding_tell_conflicts(const cx_order_piece *piece)
{
    for (int line = 0; line < CX_STREAM_CLOCK_LINES; line++) {
        conflict *one = &conflicts[line];
        if (one->earlier == NULL)
            continue;
        raise_finding(one->earlier, piece, one->begin, one->end);
        cx_order_piece_drop(one->earlier);
        one->earlier = NULL;
    }
}

/* ---- faults ---- */

void cx_order_finding_fault(const cx_order_piece *piece, uint64_t turn, uintptr_t address)
{
    const cx_object *memory = cx_object_find_ended_memory(address);
    if (cx_object_find_memory(address) != NULL || memory == NULL || memory->ended_turn > turn)
        return;
    cx_finding finding = begin_finding(CX_KIND_MEMORY_ENDED, piece);
    fault_told = true;
    cx_culprit_describe(&finding, CXU_ILLEGAL_ADDRESS);
    if (finding.record.note_count == 0)
        cx_finding_note_object(&finding, memory);
    cx_finding_raise(&finding);
}

bool cx_order_fault_told(void)
{
    return fault_told;
}

/* ---- stale addresses ---- */

void cx_order_finding_stale(const cx_order_piece *piece, uintptr_t address)
{
    const cx_object *memory = piece->graph->nodes[piece->node].stale;
    const cx_object *now = cx_object_find_memory(address);
    cx_finding finding = begin_finding(CX_KIND_MEMORY_STALE, piece);
    char text[64];
    note_piece(&finding, "node", piece);
    cx_finding_note_object(&finding, memory);
    if (now != NULL) {
        cx_object_text(now, text, sizeof text);
        cx_finding_note(&finding, "other", now->made, "the address is of %s now", text);
    }
    cx_finding_raise(&finding);
}
