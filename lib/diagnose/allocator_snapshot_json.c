/* A snapshot of an allocator for programs: docs/snapshots.md describes every field. */
#include "diagnose/allocator_snapshot.h"

#include "base/utf8.h"

#include <inttypes.h>

#define SCHEMA 1

/* Names of symbols and files may have any bytes. */
static void write_string(FILE *file, const char *text)
{
    fputc('"', file);
    while (*text != '\0') {
        size_t length = cx_utf8_length(text);
        unsigned char first = (unsigned char)*text;
        if (length == 0)
            fputs("\\ufffd", file);
        else if (first < ' ' || first == 0x7f)
            fprintf(file, "\\u%04x", first);
        else if (first == '"' || first == '\\')
            fprintf(file, "\\%c", first);
        else
            fwrite(text, 1, length, file);
        text += length != 0 ? length : 1;
    }
    fputc('"', file);
}

static void write_block(FILE *file, const cx_block_shot *block)
{
    char place[256];
    fprintf(file, "{\"address\": \"%#" PRIxPTR "\", \"bytes\": %" PRIu64 ", \"state\": \"%s\"",
            block->address, block->bytes, cx_block_state_name(block->state));
    if (block->state == CX_BLOCK_LIVE)
        fprintf(file, ", \"asked_bytes\": %" PRIu64, block->asked_bytes);
    if (block->place != NULL) {
        cx_place_text(block->place, place, sizeof place);
        fputs(", \"place\": ", file);
        write_string(file, place);
    }
    fputc('}', file);
}

static void write_segment(FILE *file, const cx_allocator_shot *shot, const cx_segment_shot *segment)
{
    fprintf(file, "{\"address\": \"%#" PRIxPTR "\", \"bytes\": %" PRIu64 ", \"blocks\": [",
            segment->address, segment->bytes);
    for (size_t i = 0; i < segment->count; i++) {
        fputs(i == 0 ? "\n   " : ",\n   ", file);
        write_block(file, &shot->blocks[segment->first + i]);
    }
    fputs("]}", file);
}

void cx_allocator_shot_json(FILE *file, const cx_allocator_shot *shot)
{
    const ctxrt_allocator_figures *figures = &shot->figures;
    fprintf(file, "{\"schema\": %d,\n \"kind\": \"%s\",\n \"context\": ", SCHEMA, shot->kind);
    write_string(file, shot->context);
    fprintf(file,
            ",\n \"bytes\": {\"current\": %" PRIu64 ", \"peak\": %" PRIu64 ", \"total\": %" PRIu64
            "},\n \"count\": {\"current\": %" PRIu64 ", \"peak\": %" PRIu64 ", \"total\": %" PRIu64
            "},\n \"failures\": %" PRIu64 ",\n \"limit_bytes\": %" PRIu64 ",\n \"segments\": [",
            figures->current_bytes, figures->peak_bytes, figures->total_bytes,
            figures->current_count, figures->peak_count, figures->total_count, figures->failures,
            figures->limit_bytes);
    for (size_t i = 0; i < shot->segment_count; i++) {
        fputs(i == 0 ? "\n  " : ",\n  ", file);
        write_segment(file, shot, &shot->segments[i]);
    }
    fputs("]}\n", file);
}
