#include "emu/module/heap.h"

#include "driver/access_log.h"
#include "emu/memory/allocation.h"
#include "ptx/written.h"
#include <stdlib.h>
#include <string.h>

#define ALIGN 16
#define NO_BLOCK UINT32_MAX

/* Blocks lie in the order of their addresses. In front of each block's bytes is its number, which
 * is checked: kernels may have overwritten it. */
typedef struct heap_block {
    uint64_t offset, bytes; /* with the number */
    uint32_t previous, next;
    bool taken;
    uint64_t wanted; /* bytes */
    char *by; /* who has taken it; NULL: nobody wants to know */
} heap_block;

struct cx_emu_heap {
    cx_emu_allocation *memory;
    heap_block *blocks;
    uint32_t count, capacity;
    uint32_t unused; /* numbers without a block, linked by next */
    uint32_t rover;  /* where the next search begins */
};

static bool grow_blocks(cx_emu_heap *heap)
{
    uint32_t wanted = heap->capacity ? 2 * heap->capacity : 64;
    heap_block *grown;

    if (heap->count < heap->capacity)
        return true;
    if (wanted == NO_BLOCK || wanted < heap->capacity)
        return false;
    grown = reallocarray(heap->blocks, wanted, sizeof *grown);
    if (grown == NULL)
        return false;
    heap->blocks = grown;
    heap->capacity = wanted;
    return true;
}

static uint32_t new_block(cx_emu_heap *heap)
{
    uint32_t number = heap->unused;

    if (number != NO_BLOCK) {
        heap->unused = heap->blocks[number].next;
        return number;
    }
    return grow_blocks(heap) ? heap->count++ : NO_BLOCK;
}

cxu_result cx_emu_heap_open(cx_emu_context *context)
{
    cx_emu_heap *heap;
    cxu_result result;

    if (context->heap != NULL)
        return CXU_SUCCESS;
    heap = calloc(1, sizeof *heap);
    if (heap == NULL || !grow_blocks(heap)) {
        free(heap);
        return CXU_OUT_OF_MEMORY;
    }
    result = cx_emu_allocation_create(context->device, context, CX_EMU_MEMORY_DEVICE,
                                      context->limits[CXU_LIMIT_MALLOC_HEAP_SIZE], 0,
                                      &heap->memory);
    if (result != CXU_SUCCESS || context->heap != NULL) {
        if (result == CXU_SUCCESS)
            cx_emu_allocation_free(heap->memory);
        free(heap->blocks);
        free(heap);
        return result;
    }
    heap->memory->of_module = true;
    if (cx_access_log_wants_hazards())
        heap->memory->held = cx_ptx_written_new(heap->memory->bytes);
    heap->unused = NO_BLOCK;
    heap->count = 1;
    heap->blocks[0] = (heap_block){
        .bytes = heap->memory->bytes, .previous = NO_BLOCK, .next = NO_BLOCK};
    context->heap = heap;
    return CXU_SUCCESS;
}

/* The length of the part of the text that is the same for all threads. */
static size_t place_length(const char *by)
{
    const char *thread = strstr(by, ", block (");

    return thread != NULL ? (size_t)(thread - by) : strlen(by);
}

static bool is_same_place(const char *one, const char *other)
{
    return place_length(one) == place_length(other) && strncmp(one, other, place_length(one)) == 0;
}

/* Tells the blocks that the place of this one has left, and forgets who took them. */
static void tell_left(cx_emu_heap *heap, uint32_t first)
{
    cx_access_log_heap_left left = {.by = heap->blocks[first].by};
    const cx_access_log_watcher *watcher = cx_access_log_watched();

    for (uint32_t i = first; i < heap->count; i++) {
        heap_block *block = &heap->blocks[i];

        if (block->by == NULL || !is_same_place(block->by, left.by))
            continue;
        left.blocks++;
        left.bytes += block->wanted;
        if (i != first)
            free(block->by);
        if (i != first)
            block->by = NULL;
    }
    if (watcher != NULL && watcher->heap_left != NULL)
        watcher->heap_left(&left);
    free(heap->blocks[first].by);
    heap->blocks[first].by = NULL;
}

void cx_emu_heap_close(cx_emu_context *context)
{
    if (context->heap == NULL)
        return;
    for (uint32_t i = 0; i < context->heap->count; i++)
        if (context->heap->blocks[i].by != NULL)
            tell_left(context->heap, i);
    free(context->heap->blocks);
    free(context->heap);
    context->heap = NULL;
}

static uint32_t find_room(const cx_emu_heap *heap, uint64_t bytes)
{
    uint32_t at = heap->rover;

    do {
        const heap_block *block = &heap->blocks[at];

        if (!block->taken && block->bytes >= bytes)
            return at;
        at = block->next == NO_BLOCK ? 0 : block->next;
    } while (at != heap->rover);
    return NO_BLOCK;
}

/* Leaves the rest of a block as a block of its own, unless there is no number for it. */
static void split_block(cx_emu_heap *heap, uint32_t number, uint64_t bytes)
{
    uint32_t rest = heap->blocks[number].bytes > bytes ? new_block(heap) : NO_BLOCK;
    heap_block *block = &heap->blocks[number];

    if (rest == NO_BLOCK)
        return;
    heap->blocks[rest] = (heap_block){.offset = block->offset + bytes,
                                      .bytes = block->bytes - bytes,
                                      .previous = number,
                                      .next = block->next};
    if (block->next != NO_BLOCK)
        heap->blocks[block->next].previous = rest;
    block->next = rest;
    block->bytes = bytes;
}

void cx_emu_heap_range(const cx_emu_context *context, uint64_t *out_begin, uint64_t *out_end)
{
    const cx_emu_heap *heap = context->heap;

    *out_begin = heap != NULL ? heap->memory->address : 0;
    *out_end = heap != NULL ? heap->memory->address + heap->memory->bytes : 0;
}

uint64_t cx_emu_heap_take(cx_emu_context *context, uint64_t bytes)
{
    cx_emu_heap *heap = context->heap;
    const uint64_t wanted = bytes;
    uint32_t number;

    if (heap == NULL || bytes == 0 || bytes > heap->memory->bytes)
        return 0;
    bytes = (bytes + 2 * ALIGN - 1) / ALIGN * ALIGN;
    number = find_room(heap, bytes);
    if (number == NO_BLOCK)
        return 0;
    split_block(heap, number, bytes);
    heap->blocks[number].taken = true;
    heap->blocks[number].wanted = wanted;
    if (heap->memory->held != NULL)
        cx_ptx_written_mark(heap->memory->held, heap->blocks[number].offset + ALIGN, wanted);
    heap->rover = heap->blocks[number].next == NO_BLOCK ? 0 : heap->blocks[number].next;
    memcpy(heap->memory->mapped + heap->blocks[number].offset, &number, sizeof number);
    return heap->memory->address + heap->blocks[number].offset + ALIGN;
}

/* Merges a free block with the free one behind it. */
static void merge_next(cx_emu_heap *heap, uint32_t number)
{
    heap_block *block = &heap->blocks[number];
    uint32_t next = block->next;

    if (next == NO_BLOCK || heap->blocks[next].taken)
        return;
    block->bytes += heap->blocks[next].bytes;
    block->next = heap->blocks[next].next;
    if (block->next != NO_BLOCK)
        heap->blocks[block->next].previous = number;
    if (heap->rover == next)
        heap->rover = number;
    heap->blocks[next] = (heap_block){.next = heap->unused, .taken = false};
    heap->unused = next;
}

bool cx_emu_heap_give(cx_emu_context *context, uint64_t address)
{
    cx_emu_heap *heap = context->heap;
    uint64_t offset = address - (heap != NULL ? heap->memory->address : 0) - ALIGN;
    uint32_t number, previous;

    if (heap == NULL || address < heap->memory->address + ALIGN || offset % ALIGN != 0 ||
        offset > heap->memory->bytes - ALIGN)
        return false;
    memcpy(&number, heap->memory->mapped + offset, sizeof number);
    if (number >= heap->count || !heap->blocks[number].taken ||
        heap->blocks[number].offset != offset)
        return false;
    heap->blocks[number].taken = false;
    free(heap->blocks[number].by);
    heap->blocks[number].by = NULL;
    if (heap->memory->held != NULL)
        cx_ptx_written_clear(heap->memory->held, offset + ALIGN, heap->blocks[number].wanted);
    merge_next(heap, number);
    previous = heap->blocks[number].previous;
    if (previous != NO_BLOCK && !heap->blocks[previous].taken)
        merge_next(heap, previous);
    return true;
}

void cx_emu_heap_note(cx_emu_context *context, uint64_t address, const char *by)
{
    cx_emu_heap *heap = context->heap;
    uint32_t number;

    if (heap == NULL || heap->memory->held == NULL)
        return;
    memcpy(&number, heap->memory->mapped + (address - ALIGN - heap->memory->address),
           sizeof number);
    if (number < heap->count && heap->blocks[number].taken && heap->blocks[number].by == NULL)
        heap->blocks[number].by = strdup(by);
}
