/* Snapshots of allocators, for programs and for people: docs/snapshots.md describes every field. */
#include "diagnose/allocator_snapshot.h"

#include "base/cancel.h"
#include "base/error.h"
#include "base/text.h"
#include "diagnose/origin.h"
#include <inttypes.h>

#define SCHEMA 1

static const char *const state_names[] = {
    [CX_BLOCK_LIVE] = "live",
    [CX_BLOCK_CACHED] = "cached",
    [CX_BLOCK_QUARANTINED] = "quarantined",
    [CX_BLOCK_FREE] = "free",
};

/* The segment's blocks are *first to before the number that it returns. */
static size_t find_blocks(const cx_allocator_shot *shot, const cx_segment_shot *segment,
                          size_t *first)
{
    while (*first < shot->block_count && shot->blocks[*first].address < segment->address)
        (*first)++;
    size_t end = *first;
    while (end < shot->block_count && shot->blocks[end].address - segment->address < segment->bytes)
        end++;
    return end;
}

/* ---- JSON ---- */

static void write_block_json(FILE *file, const cx_block_shot *block)
{
    char place[256];
    fprintf(file, "{\"address\": \"%#" PRIxPTR "\", \"bytes\": %" PRIu64 ", \"state\": \"%s\"",
            block->address, block->bytes, state_names[block->state]);
    if (block->state == CX_BLOCK_LIVE)
        fprintf(file, ", \"asked_bytes\": %" PRIu64, block->asked_bytes);
    if (block->place != NULL) {
        cx_place_text(block->place, place, sizeof place);
        fputs(", \"place\": ", file);
        cx_text_json_string(file, place);
    }
    fputc('}', file);
}

static void write_json(FILE *file, const cx_allocator_shot *shot)
{
    size_t next = 0;
    const ctxrt_allocator_figures *figures = &shot->figures;
    fprintf(file, "{\"schema\": %d,\n \"kind\": \"%s\",\n \"context\": ", SCHEMA, shot->kind);
    cx_text_json_string(file, shot->context);
    fprintf(file,
            ",\n \"bytes\": {\"current\": %" PRIu64 ", \"peak\": %" PRIu64 ", \"total\": %" PRIu64
            "},\n \"count\": {\"current\": %" PRIu64 ", \"peak\": %" PRIu64 ", \"total\": %" PRIu64
            "},\n \"failures\": %" PRIu64 ",\n \"limit_bytes\": %" PRIu64 ",\n \"segments\": [",
            figures->current_bytes, figures->peak_bytes, figures->total_bytes,
            figures->current_count, figures->peak_count, figures->total_count, figures->failures,
            figures->limit_bytes);
    for (size_t i = 0; i < shot->segment_count; i++) {
        const cx_segment_shot *segment = &shot->segments[i];
        fprintf(file,
                "%s\n  {\"address\": \"%#" PRIxPTR "\", \"bytes\": %" PRIu64 ", \"blocks\": [",
                i == 0 ? "" : ",", segment->address, segment->bytes);
        size_t end = find_blocks(shot, segment, &next);
        for (size_t first = next; next < end; next++) {
            fputs(next == first ? "\n   " : ",\n   ", file);
            write_block_json(file, &shot->blocks[next]);
        }
        fputs("]}", file);
    }
    fputs("]}\n", file);
}

/* ---- text ---- */

static void write_block_text(FILE *file, const cx_block_shot *block)
{
    char place[256];
    cx_place_text(block->place, place, sizeof place);
    fprintf(file, "    %#014" PRIxPTR "  %12" PRIu64 "  %-6s%s%s\n", block->address, block->bytes,
            state_names[block->state], place[0] != '\0' ? "  " : "", place);
}

static void write_text(FILE *file, const cx_allocator_shot *shot)
{
    size_t next = 0;
    const ctxrt_allocator_figures *figures = &shot->figures;
    uint64_t reserved = 0;
    for (size_t i = 0; i < shot->segment_count; i++)
        reserved += shot->segments[i].bytes;
    fprintf(file,
            "%s allocator of %s\n"
            "  in use %" PRIu64 " bytes in %" PRIu64 " blocks, at most %" PRIu64 " in %" PRIu64 "\n"
            "  from the driver %" PRIu64 " bytes in %zu segments\n",
            shot->kind, shot->context, figures->current_bytes, figures->current_count,
            figures->peak_bytes, figures->peak_count, reserved, shot->segment_count);
    for (size_t i = 0; i < shot->segment_count; i++) {
        const cx_segment_shot *segment = &shot->segments[i];
        fprintf(file, "  segment %#014" PRIxPTR "  %12" PRIu64 "\n", segment->address,
                segment->bytes);
        for (size_t end = find_blocks(shot, segment, &next); next < end; next++)
            write_block_text(file, &shot->blocks[next]);
    }
}

/* ---- writing ---- */

/* Writes the whole text to memory, so that the file gets it in one go or not at all. */
static ctxrt_status write_snapshot(cx_allocator *allocator, FILE *file,
                                   ctxrt_snapshot_format format)
{
    cx_text_file text;
    size_t size = 0;
    char *written = NULL;
    cx_allocator_shot shot = {0};
    cx_allocator_shot_take(allocator, &shot);
    FILE *memory = shot.out_of_memory ? NULL : cx_text_open(&text);
    if (memory != NULL) {
        (format == CTXRT_SNAPSHOT_JSON ? write_json : write_text)(memory, &shot);
        written = cx_text_close(&text, &size);
    }
    cx_allocator_shot_drop(&shot);
    return cx_text_write("ctxrt_allocator_snapshot_write", "snapshot", written, size, file);
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
