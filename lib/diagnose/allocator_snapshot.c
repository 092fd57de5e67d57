/* An allocator's segments and blocks, written out while threads go on. */
#include "diagnose/allocator_snapshot.h"

#include "base/cancel.h"
#include "base/error.h"
#include "base/text.h"
#include "memory/cache.h"
#include "memory/memory.h"
#include "diagnose/origin.h"
#include "memory/pointer_table.h"
#include "diagnose/watch.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *cx_block_state_name(cx_block_state state)
{
    static const char *const names[] = {[CX_BLOCK_LIVE] = "live",
                                        [CX_BLOCK_CACHED] = "cached",
                                        [CX_BLOCK_QUARANTINED] = "quarantined",
                                        [CX_BLOCK_FREE] = "free"};
    return names[state];
}

/* The address is behind the call. */
void cx_place_text(const void *place, char *text, size_t size)
{
    Dl_info info;
    const char *slash;
    text[0] = '\0';
    if (place == NULL)
        return;
    if (cx_origin_is_one(place)) {
        cx_origin_text(place, text, size);
        return;
    }
    if (dladdr((const char *)place - 1, &info) == 0 || info.dli_fname == NULL) {
        snprintf(text, size, "%p", place);
        return;
    }
    slash = strrchr(info.dli_fname, '/');
    const char *name = slash != NULL ? slash + 1 : info.dli_fname;
    if (info.dli_sname != NULL)
        snprintf(text, size, "%s+%#zx (%s)", info.dli_sname,
                 (size_t)((const char *)place - (const char *)info.dli_saddr), name);
    else
        snprintf(text, size, "%s+%#zx", name,
                 (size_t)((const char *)place - (const char *)info.dli_fbase));
}

/* ---- taking ---- */

/* Makes room for one more item in the array; NULL: out of memory. It grows when its count is a
 * power of two. */
static void *grow_array(void *items, size_t count, size_t item_bytes)
{
    return (count & (count - 1)) == 0 ? realloc(items, (count != 0 ? 2 * count : 1) * item_bytes)
                                      : items;
}

void cx_shot_add_segment(cx_allocator_shot *shot, uintptr_t address, uint64_t bytes)
{
    cx_segment_shot *grown = grow_array(shot->segments, shot->segment_count, sizeof *grown);
    shot->out_of_memory = shot->out_of_memory || grown == NULL;
    if (grown == NULL)
        return;
    shot->segments = grown;
    grown[shot->segment_count++] = (cx_segment_shot){.address = address, .bytes = bytes};
}

void cx_shot_add_block(cx_allocator_shot *shot, const cx_block_shot *block)
{
    cx_block_shot *grown = grow_array(shot->blocks, shot->block_count, sizeof *grown);
    shot->out_of_memory = shot->out_of_memory || grown == NULL;
    if (grown == NULL)
        return;
    shot->blocks = grown;
    grown[shot->block_count++] = *block;
}

typedef struct taking {
    const cx_allocator *allocator;
    cx_allocator_shot *shot;
} taking;

/* Each block is its own segment. */
static void take_block(const taking *take, const cx_block *block)
{
    const cx_block_shot shot = {.address = (uintptr_t)block->pointer,
                                .bytes = block->size_bytes,
                                .asked_bytes = block->size_bytes,
                                .state = CX_BLOCK_LIVE};
    if (block->allocator != take->allocator)
        return;
    cx_shot_add_block(take->shot, &shot);
    cx_shot_add_segment(take->shot, shot.address, shot.bytes);
}

static bool take_memory(void *object, void *argument)
{
    const cx_memory *memory = object;
    if (memory->kind == CTXRT_MEMORY_DEVICE)
        take_block(argument, &memory->block);
    return true;
}

static void take_record(const cx_pointer_record *record, void *argument)
{
    if (record->kind == CX_POINTER_DEVICE)
        take_block(argument, &record->block);
}

static int by_address(const void *left, const void *right)
{
    uintptr_t a = *(const uintptr_t *)left, b = *(const uintptr_t *)right;
    return (a > b) - (a < b);
}

_Static_assert(offsetof(cx_block_shot, address) == 0 && offsetof(cx_segment_shot, address) == 0,
               "both are sorted by what they begin with");

static void add_free(cx_allocator_shot *shot, uintptr_t begin, uintptr_t end)
{
    if (begin < end)
        cx_shot_add_block(
            shot, &(cx_block_shot){.address = begin, .bytes = end - begin, .state = CX_BLOCK_FREE});
}

/* Memory outside of all blocks is free. A block that the snapshot found twice, at two moments,
 * counts once. */
static void fill_gaps(cx_allocator_shot *shot)
{
    const size_t taken = shot->block_count;
    size_t next = 0;
    for (size_t i = 0; i < shot->segment_count; i++) {
        const cx_segment_shot segment = shot->segments[i];
        uintptr_t here = segment.address, end = segment.address + segment.bytes;
        for (; next < taken && shot->blocks[next].address < end; next++) {
            const cx_block_shot block = shot->blocks[next];
            add_free(shot, here, block.address);
            if (block.address + block.bytes > here)
                here = block.address + block.bytes;
        }
        add_free(shot, here, end);
    }
}

static void sort_shot(cx_allocator_shot *shot)
{
    if (shot->segment_count != 0)
        qsort(shot->segments, shot->segment_count, sizeof *shot->segments, by_address);
    if (shot->block_count != 0)
        qsort(shot->blocks, shot->block_count, sizeof *shot->blocks, by_address);
}

static void assign_blocks(cx_allocator_shot *shot)
{
    size_t next = 0;
    for (size_t i = 0; i < shot->segment_count; i++) {
        cx_segment_shot *segment = &shot->segments[i];
        while (next < shot->block_count && shot->blocks[next].address < segment->address)
            next++;
        segment->first = next;
        while (next < shot->block_count &&
               shot->blocks[next].address < segment->address + segment->bytes)
            next++;
        segment->count = next - segment->first;
    }
}

static cx_block_shot *find_block(const cx_allocator_shot *shot, const void *pointer)
{
    uintptr_t address = (uintptr_t)pointer;
    return shot->block_count != 0 ? bsearch(&address, shot->blocks, shot->block_count,
                                            sizeof *shot->blocks, by_address)
                                  : NULL;
}

/* The latest allocation at an address is the block's. */
static void take_places(const cx_trace *trace, cx_allocator_shot *shot)
{
    cx_trace_operation *operations;
    size_t count;
    if (!cx_trace_take(trace, &operations, &count))
        return;
    for (size_t i = 0; i < count; i++) {
        cx_block_shot *block = find_block(shot, operations[i].pointer);
        if (block != NULL && block->state == CX_BLOCK_LIVE && !cx_origin_is_one(block->place))
            block->place = operations[i].is_free ? NULL : operations[i].place;
    }
    free(operations);
}

static const char *kind_of(const cx_allocator *allocator)
{
    if (allocator->vtable.alloc != NULL)
        return "custom";
    if (allocator->pinned != NULL)
        return "pinned";
    if (allocator->kind == &cx_direct_allocator)
        return "direct";
    return allocator->is_default ? "default" : "created";
}

/* A guard knows the state of a block, and the place of its allocation. */
static void take_guarded(cx_guard *guard, cx_allocator_shot *shot)
{
    cx_cache *cache = cx_guard_cache(guard);
    uint32_t epoch = cache->epoch;
    cx_cache_shot(cache, shot);
    for (size_t i = 0; i < shot->block_count; i++) {
        cx_guarded cached;
        cx_block_shot *block = &shot->blocks[i];
        if (block->state != CX_BLOCK_LIVE)
            continue;
        bool live = cx_guard_find(guard, (const void *)block->address, epoch, &cached);
        block->state = live ? CX_BLOCK_LIVE : CX_BLOCK_QUARANTINED;
        block->asked_bytes = live ? cached.size_bytes : 0;
        block->place = live ? cached.place : NULL;
    }
}

void cx_allocator_shot_take(cx_allocator *allocator, cx_allocator_shot *shot)
{
    taking take = {allocator, shot};
    cx_guard *guard = cx_guard_of(allocator);
    shot->kind = kind_of(allocator);
    shot->context = cx_context_text(allocator->context);
    shot->device = cx_block_device(allocator->context);
    cx_counters_read(&allocator->figures, &shot->figures);
    if (allocator->cache != NULL) {
        cx_cache_shot(allocator->cache, shot);
    } else if (guard != NULL && cx_guard_cache(guard) != NULL) {
        take_guarded(guard, shot);
    } else if (allocator->pinned != NULL) {
        cx_cache_shot(allocator->pinned, shot);
    } else {
        cx_pool_each_held(&cx_memories, take_memory, &take);
        cx_pointers_each_record(take_record, &take);
    }
    sort_shot(shot);
    fill_gaps(shot);
    sort_shot(shot);
    assign_blocks(shot);
    take_places(&allocator->watch->trace, shot);
}

void cx_allocator_shot_drop(cx_allocator_shot *shot)
{
    free(shot->segments);
    free(shot->blocks);
}

/* ---- writing ---- */

/* Writes the whole text to memory, so that the file gets it in one go or not at all. NULL: out
 * of memory. */
static char *compose_text(const cx_allocator_shot *shot, ctxrt_snapshot_format format,
                          size_t *out_size)
{
    static void (*const writers[])(FILE *file, const cx_allocator_shot *shot) = {
        [CTXRT_SNAPSHOT_TEXT] = cx_allocator_shot_text,
        [CTXRT_SNAPSHOT_JSON] = cx_allocator_shot_json,
    };
    cx_text_file text;
    FILE *memory = shot->out_of_memory ? NULL : cx_text_open(&text);
    if (memory == NULL)
        return NULL;
    writers[format](memory, shot);
    return cx_text_close(&text, out_size);
}

static ctxrt_status write_snapshot(cx_allocator *allocator, FILE *file,
                                   ctxrt_snapshot_format format)
{
    cx_allocator_shot shot = {0};
    size_t size = 0;
    cx_allocator_shot_take(allocator, &shot);
    char *text = compose_text(&shot, format, &size);
    cx_allocator_shot_drop(&shot);
    if (text == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY,
                        "ctxrt_allocator_snapshot_write: the host has no memory for the snapshot");
    errno = 0;
    bool written = fwrite(text, 1, size, file) == size && fflush(file) == 0;
    int reason = errno;
    free(text);
    return written ? CTXRT_SUCCESS
                   : cx_error(CTXRT_ERROR_SYSTEM,
                              "ctxrt_allocator_snapshot_write: the file could not be written: %s",
                              reason != 0 ? strerror(reason) : "it took only a part");
}

ctxrt_status ctxrt_allocator_snapshot_write(ctxrt_allocator *handle, FILE *file,
                                            ctxrt_snapshot_format format)
{
    cx_allocator *allocator;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (file == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_allocator_snapshot_write: file is NULL");
    if ((unsigned int)format > CTXRT_SNAPSHOT_JSON)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "ctxrt_allocator_snapshot_write: there is no format %d", (int)format);
    status = cx_allocator_resolve(handle, &allocator);
    if (status != CTXRT_SUCCESS)
        return status;
    int cancel = cx_cancel_hold();
    status = write_snapshot(allocator, file, format);
    cx_cancel_restore(cancel);
    return status;
}
