/* A snapshot for people. */
#include "context/frame_kind.h"
#include "context/shown_text.h"
#include "context/snapshot.h"
#include "context/view.h"

#include <inttypes.h>

static void write_use(FILE *file, const cx_frame_view *frame)
{
    if (frame->stream != NULL)
        fprintf(file, "  stream %p", (const void *)frame->stream);
    if (frame->allocator != NULL)
        fprintf(file, "  allocator %p", (const void *)frame->allocator);
    if (cx_frame_has_place(frame)) {
        fputs("  ", file);
        cx_write_shown(file, frame->file);
        fprintf(file, ":%d", frame->line);
    }
    fputc('\n', file);
}

static void write_thread(FILE *file, const cx_thread_shot *thread)
{
    fprintf(file, "thread %d \"", thread->number);
    cx_write_shown(file, thread->name);
    fprintf(file, "\": %u frame%s\n", thread->depth, thread->depth == 1 ? "" : "s");
    for (uint32_t i = thread->depth; i-- > 0;) {
        const cx_frame_view *frame = &thread->frames[i];
        fprintf(file, "  %s %2u  %-7s  %-7s  %s context %" PRIu64,
                i + 1 == thread->depth ? "->" : "  ", i, cx_device_text(frame->device),
                cx_frame_kinds[frame->origin].name, cx_context_kind_name(frame->kind),
                frame->context_id);
        write_use(file, frame);
    }
}

static void write_detached(FILE *file, const cx_detached_shot *detached)
{
    const cx_frame_view *frame = &detached->frame;
    fprintf(file, "detached by thread %d: %s  %s context %" PRIu64, detached->number,
            cx_device_text(frame->device), cx_context_kind_name(frame->kind), frame->context_id);
    write_use(file, frame);
}

static void write_memory(FILE *file, int count, uint64_t bytes)
{
    fprintf(file, " %" PRIu64 " bytes in %d piece%s\n", bytes, count, count == 1 ? "" : "s");
}

void cx_snapshot_text(FILE *file, const cx_snapshot *shot)
{
    for (size_t i = 0; i < shot->thread_count; i++)
        write_thread(file, &shot->threads[i]);
    for (size_t i = 0; i < shot->detached_count; i++)
        write_detached(file, &shot->detached[i]);
    for (size_t i = 0; i < shot->context_count; i++) {
        const cx_context_shot *context = &shot->contexts[i];
        if (context->objects[CX_OBJECT_MEMORY] == 0)
            continue;
        fprintf(file,
                "memory of %s context %" PRIu64 " of %s:", cx_context_kind_name(context->kind),
                context->id, cx_device_text(context->device));
        write_memory(file, context->objects[CX_OBJECT_MEMORY], context->memory_bytes);
    }
    if (shot->loose_objects != 0) {
        fputs("memory of the host:", file);
        write_memory(file, shot->loose_objects, shot->loose_bytes);
    }
}
