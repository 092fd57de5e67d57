/* A snapshot for programs: docs/snapshots.md describes every field. */
#include "context/frame_kind.h"
#include "context/snapshot.h"
#include "context/view.h"

#include "base/text.h"
#include <inttypes.h>

#define SCHEMA 1

/* The common fields of stacked and detached frames. */
static void write_frame(FILE *file, const cx_frame_view *frame)
{
    fprintf(file, "\"device\": \"%s\", \"context\": %" PRIu64 ", \"context_kind\": \"%s\"",
            cx_device_text(frame->device), frame->context_id, cx_context_kind_name(frame->kind));
    if (frame->stream != NULL)
        fprintf(file, ", \"stream\": \"%p\"", (const void *)frame->stream);
    if (frame->allocator != NULL)
        fprintf(file, ", \"allocator\": \"%p\"", (const void *)frame->allocator);
    if (cx_frame_has_place(frame)) {
        fputs(", \"file\": ", file);
        cx_text_json_string(file, frame->file);
        fprintf(file, ", \"line\": %d", frame->line);
    }
    fputc('}', file);
}

static void write_thread(FILE *file, const cx_thread_shot *thread)
{
    fprintf(file, "{\"thread\": %d, \"name\": ", thread->number);
    cx_text_json_string(file, thread->name);
    fputs(", \"frames\": [", file);
    for (uint32_t i = thread->depth; i-- > 0;) {
        const cx_frame_view *frame = &thread->frames[i];
        fprintf(file, "%s\n   {\"level\": %u, \"origin\": \"%s\", ",
                i + 1 == thread->depth ? "" : ",", i, cx_frame_kinds[frame->origin].name);
        write_frame(file, frame);
    }
    fputs("]}", file);
}

static void write_detached(FILE *file, const cx_detached_shot *detached)
{
    fprintf(file, "{\"thread\": %d, ", detached->number);
    write_frame(file, &detached->frame);
}

static void write_context(FILE *file, const cx_context_shot *context)
{
    static const char *const names[CX_OBJECT_KINDS] = {
        [CX_OBJECT_STREAM] = "streams",
        [CX_OBJECT_EVENT] = "events",
        [CX_OBJECT_MEMORY] = "memory_count",
        [CX_OBJECT_ALLOCATOR] = "allocators",
        [CX_OBJECT_DETACHED_FRAME] = "detached_frames",
        [CX_OBJECT_MODULE] = "modules",
        [CX_OBJECT_GRAPH] = "graphs",
        [CX_OBJECT_RECORDING] = "recordings",
    };
    fprintf(file,
            "{\"context\": %" PRIu64
            ", \"device\": \"%s\", \"context_kind\": \"%s\", \"native\": \"%p\"",
            context->id, cx_device_text(context->device), cx_context_kind_name(context->kind),
            context->native);
    fprintf(file, ", \"holds\": %d, \"memory_bytes\": %" PRIu64, context->holds,
            context->memory_bytes);
    for (int kind = 0; kind < CX_OBJECT_KINDS; kind++)
        fprintf(file, ", \"%s\": %d", names[kind], context->objects[kind]);
    fputc('}', file);
}

void cx_snapshot_json(FILE *file, const cx_snapshot *shot)
{
    fprintf(file, "{\"schema\": %d,\n \"threads\": [", SCHEMA);
    for (size_t i = 0; i < shot->thread_count; i++) {
        fputs(i == 0 ? "\n  " : ",\n  ", file);
        write_thread(file, &shot->threads[i]);
    }
    fputs("],\n \"detached\": [", file);
    for (size_t i = 0; i < shot->detached_count; i++) {
        fputs(i == 0 ? "\n  " : ",\n  ", file);
        write_detached(file, &shot->detached[i]);
    }
    fputs("],\n \"contexts\": [", file);
    for (size_t i = 0; i < shot->context_count; i++) {
        fputs(i == 0 ? "\n  " : ",\n  ", file);
        write_context(file, &shot->contexts[i]);
    }
    fprintf(file, "],\n \"host\": {\"memory_bytes\": %" PRIu64 ", \"memory_count\": %d}}\n",
            shot->loose_bytes, shot->loose_objects);
}
