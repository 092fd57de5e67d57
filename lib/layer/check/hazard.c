#include "layer/check/hazard.h"

#include "layer/check/check.h"
#include "layer/check/finding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cx_hazard {
    cx_access_log_hazard_kind kind;
    uint64_t memory;
    char *first, *second; /* NULL: none */
    cx_hazard *next;
};

void cx_hazard_add(cx_hazard **list, const cx_access_log_hazard *hazard)
{
    cx_hazard *added = calloc(1, sizeof *added);
    if (added == NULL)
        return;
    added->kind = hazard->kind;
    added->memory = hazard->memory;
    added->first = hazard->first != NULL ? strdup(hazard->first) : NULL;
    added->second = strdup(hazard->second);
    while (*list != NULL)
        list = &(*list)->next;
    *list = added;
}

void cx_hazards_free(cx_hazard *list)
{
    while (list != NULL) {
        cx_hazard *next = list->next;
        free(list->first);
        free(list->second);
        free(list);
        list = next;
    }
}

static cx_check_kind kind_of(const cx_hazard *hazard)
{
    switch (hazard->kind) {
    case CX_ACCESS_RACE_SHARED:
        return CX_KIND_KERNEL_RACE;
    case CX_ACCESS_RACE_WARP:
        return CX_KIND_KERNEL_WARP_RACE;
    case CX_ACCESS_RACE_BLOCKS:
        return CX_KIND_KERNEL_BLOCK_RACE;
    case CX_ACCESS_RACE_GLOBAL:
        return CX_KIND_KERNEL_GLOBAL_RACE;
    case CX_ACCESS_HEAP_NOT_HELD:
        return CX_KIND_KERNEL_HEAP;
    case CX_ACCESS_BEYOND_ARRAY:
        return CX_KIND_KERNEL_BEYOND;
    case CX_ACCESS_COPIED_UNWRITTEN:
        return CX_KIND_MEMORY_UNWRITTEN;
    case CX_ACCESS_TEXT_LOST:
        return CX_KIND_KERNEL_PRINT_LOST;
    case CX_ACCESS_UNWRITTEN_SHARED:
        return CX_KIND_KERNEL_UNWRITTEN_SHARED;
    case CX_ACCESS_BARRIER_DIVERGED:
        return CX_KIND_KERNEL_DIVERGED;
    case CX_ACCESS_BARRIER_ENDED:
        return CX_KIND_KERNEL_ENDED;
    default:
        return CX_KIND_KERNEL_UNWRITTEN;
    }
}

static void raise_one(const cx_hazard *hazard, const cx_order_piece *piece)
{
    cx_check_thread thread = {.number = piece->thread};
    memcpy(thread.name, piece->thread_name, sizeof thread.name);
    cx_finding finding =
        cx_finding_begin(kind_of(hazard), &thread, (int)piece->slot, CXU_SUCCESS, piece->where);
    char stream[48];
    if (hazard->first != NULL)
        cx_finding_note(&finding, "first", 0, "%s", hazard->first);
    if (hazard->second != NULL)
        cx_finding_note(&finding, hazard->first != NULL ? "second" : "cause", 0, "%s",
                        hazard->second);
    cx_stream_clock_stream_text(piece->stream, stream, sizeof stream);
    if (hazard->kind != CX_ACCESS_COPIED_UNWRITTEN)
        cx_finding_note(&finding, "launched", piece->where, "by %s in %s",
                        cx_origin_call(piece->where, piece->slot), stream);
    const cx_object *memory =
        hazard->memory != 0 ? cx_object_find_memory((uintptr_t)hazard->memory) : NULL;
    if (memory == NULL && hazard->memory != 0)
        memory = cx_object_find_ended_memory((uintptr_t)hazard->memory);
    if (memory != NULL)
        cx_finding_note_object(&finding, memory);
    cx_finding_raise(&finding);
}

void cx_hazards_raise(const cx_hazard *list, const cx_order_piece *piece, bool races)
{
    for (; list != NULL; list = list->next)
        if (!races ||
            (list->kind != CX_ACCESS_UNWRITTEN && list->kind != CX_ACCESS_COPIED_UNWRITTEN))
            raise_one(list, piece);
}

void cx_hazard_heap_left(const cx_access_log_heap_left *left)
{
    cx_finding finding = cx_finding_begin(CX_KIND_KERNEL_HEAP_LEFT, NULL, -1, CXU_SUCCESS, 0);
    cx_finding_note(&finding, "made", 0, "%llu block%s of %llu bytes in all by %s",
                    (unsigned long long)left->blocks, left->blocks == 1 ? "" : "s",
                    (unsigned long long)left->bytes, left->by);
    cx_finding_raise(&finding);
}

void cx_check_any_unwritten(cx_check_call *call)
{
    const cx_access_log_unwritten found = cx_access_log_copied;
    if (found.bytes == 0)
        return;
    cx_access_log_copied = (cx_access_log_unwritten){0};
    cx_finding finding = cx_finding_begin(CX_KIND_MEMORY_UNWRITTEN, call->thread, (int)call->slot,
                                          CXU_SUCCESS, cx_check_here(call));
    const cx_object *memory = cx_object_find_memory((uintptr_t)found.address);
    if (memory != NULL) {
        cx_finding_note(&finding, "cause", 0, "%llu bytes, the first one is byte %llu of it",
                        (unsigned long long)found.bytes,
                        (unsigned long long)(found.address - memory->key.value));
        cx_finding_note_object(&finding, memory);
    }
    cx_finding_raise(&finding);
}
