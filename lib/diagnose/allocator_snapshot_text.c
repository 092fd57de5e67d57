/* A snapshot of an allocator for people; docs/snapshots.md. */
#include "diagnose/allocator_snapshot.h"

#include <inttypes.h>

static void write_block(FILE *file, const cx_block_shot *block)
{
    char place[256];
    cx_place_text(block->place, place, sizeof place);
    fprintf(file, "    %#014" PRIxPTR "  %12" PRIu64 "  %-6s%s%s\n", block->address, block->bytes,
            cx_block_state_name(block->state), place[0] != '\0' ? "  " : "", place);
}

void cx_allocator_shot_text(FILE *file, const cx_allocator_shot *shot)
{
    const ctxrt_allocator_figures *figures = &shot->figures;
    uint64_t reserved = 0;
    for (size_t i = 0; i < shot->segment_count; i++)
        reserved += shot->segments[i].bytes;
    fprintf(file, "%s allocator of %s\n", shot->kind, shot->context);
    fprintf(
        file,
        "  in use %" PRIu64 " bytes in %" PRIu64 " blocks, at most %" PRIu64 " in %" PRIu64 "\n",
        figures->current_bytes, figures->current_count, figures->peak_bytes, figures->peak_count);
    fprintf(file, "  from the driver %" PRIu64 " bytes in %zu segments\n", reserved,
            shot->segment_count);
    for (size_t i = 0; i < shot->segment_count; i++) {
        const cx_segment_shot *segment = &shot->segments[i];
        fprintf(file, "  segment %#014" PRIxPTR "  %12" PRIu64 "\n", segment->address,
                segment->bytes);
        for (size_t k = 0; k < segment->count; k++)
            write_block(file, &shot->blocks[segment->first + k]);
    }
}
