/* Every thread's stack, written out while the threads go on. */
#include "base/cancel.h"
#include "base/error.h"
#include "context/stack.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

typedef struct frame_copy {
    ctxrt_device device;
    uint64_t context_id;
    cx_context_kind kind;
    ctxrt_frame_origin origin;
    const void *stream;
    const void *allocator;
    const char *file;
    int line;
} frame_copy;

typedef struct stack_copy {
    int number;
    char name[17];
    uint32_t depth;
    frame_copy *frames; /* [0] is the bottom */
} stack_copy;

typedef struct snapshot {
    size_t count, capacity;
    stack_copy *stacks;
    bool out_of_memory;
} snapshot;

static const char *const origin_names[] = {
    [CTXRT_FRAME_SET] = "set",       [CTXRT_FRAME_PUSH] = "push",       [CTXRT_FRAME_SCOPE] = "scope",
    [CTXRT_FRAME_ATTACH] = "attach", [CTXRT_FRAME_FOREIGN] = "foreign",
};
static const char *const kind_names[] = {
    [CX_CONTEXT_PRIMARY] = "primary",
    [CX_CONTEXT_CREATED] = "created",
    [CX_CONTEXT_FOREIGN] = "foreign",
};

/* Loads are acquire, so that the sequence is looked at again after them. */
static void copy_frame(const cx_frame *frame, frame_copy *out)
{
    const cx_device *device = atomic_load_explicit(&frame->device, memory_order_acquire);
    uint64_t tag = atomic_load_explicit(&frame->tag, memory_order_acquire);
    *out = (frame_copy){
        .device = device != NULL ? device->id : ctxrt_device_of(CTXRT_DEVICE_CUDA, -1),
        .context_id = atomic_load_explicit(&frame->context_id, memory_order_acquire),
        .kind = (cx_context_kind)(tag >> 8 & 0xff),
        .origin = (ctxrt_frame_origin)(tag & 0xff),
        .stream = atomic_load_explicit(&frame->stream, memory_order_acquire),
        .allocator = atomic_load_explicit(&frame->allocator, memory_order_acquire),
        .file = atomic_load_explicit(&frame->file, memory_order_acquire),
        .line = (int)(tag >> 16),
    };
}

/* Copies again until the thread did not change its stack meanwhile. */
static void copy_stack(const cx_thread *thread, stack_copy *out)
{
    uint32_t before;
    do {
        before = atomic_load_explicit(&thread->sequence, memory_order_acquire);
        out->depth = atomic_load_explicit(&thread->depth, memory_order_acquire);
        for (uint32_t i = 0; i < out->depth; i++)
            copy_frame(&thread->frames[i], &out->frames[i]);
    } while ((before & 1) != 0 || atomic_load_explicit(&thread->sequence, memory_order_relaxed) != before);
}

static bool take_thread(cx_thread *thread, void *argument)
{
    snapshot *shot = argument;
    if (shot->count == shot->capacity) {
        size_t capacity = shot->capacity != 0 ? 2 * shot->capacity : 16;
        stack_copy *stacks = realloc(shot->stacks, capacity * sizeof *stacks);
        if (stacks == NULL) {
            shot->out_of_memory = true;
            return false;
        }
        shot->stacks = stacks;
        shot->capacity = capacity;
    }
    stack_copy *stack = &shot->stacks[shot->count];
    *stack = (stack_copy){.number = atomic_load(&thread->number)};
    uint64_t name[2] = {atomic_load_explicit(&thread->name[0], memory_order_relaxed),
                        atomic_load_explicit(&thread->name[1], memory_order_relaxed)};
    memcpy(stack->name, name, sizeof name);
    stack->frames = calloc(CTXRT_STACK_DEPTH_MAX, sizeof *stack->frames);
    if (stack->frames == NULL) {
        shot->out_of_memory = true;
        return false;
    }
    copy_stack(thread, stack);
    shot->count++;
    return true;
}

static void release(snapshot *shot)
{
    for (size_t i = 0; i < shot->count; i++)
        free(shot->stacks[i].frames);
    free(shot->stacks);
}

/* ---- text ---- */

static void write_stream_text(FILE *file, const frame_copy *frame)
{
    if (frame->stream != NULL)
        fprintf(file, "  stream %p", frame->stream);
    if (frame->allocator != NULL)
        fprintf(file, "  allocator %p", frame->allocator);
    if (frame->file != NULL && frame->file[0] != '\0')
        fprintf(file, "  %s:%d", frame->file, frame->line);
}

static void write_text(FILE *file, const snapshot *shot)
{
    for (size_t t = 0; t < shot->count; t++) {
        const stack_copy *stack = &shot->stacks[t];
        fprintf(file, "thread %d \"%s\": %u frame%s\n", stack->number, stack->name, stack->depth,
                stack->depth == 1 ? "" : "s");
        for (uint32_t i = stack->depth; i-- > 0;) {
            const frame_copy *frame = &stack->frames[i];
            fprintf(file, "  %s %2u  %-7s  %-7s  %s context %" PRIu64, i + 1 == stack->depth ? "->" : "  ", i,
                    cx_device_text(frame->device), origin_names[frame->origin], kind_names[frame->kind],
                    frame->context_id);
            write_stream_text(file, frame);
            fputc('\n', file);
        }
    }
}

/* ---- JSON ---- */

static json_t *frame_json(const frame_copy *frame)
{
    json_t *object = json_pack("{s:s, s:I, s:s, s:s}", "device", cx_device_text(frame->device), "context",
                               (json_int_t)frame->context_id, "context_kind", kind_names[frame->kind], "origin",
                               origin_names[frame->origin]);
    char text[32];
    if (object == NULL)
        return NULL;
    if (frame->stream != NULL) {
        snprintf(text, sizeof text, "%p", frame->stream);
        json_object_set_new(object, "stream", json_string(text));
    }
    if (frame->allocator != NULL) {
        snprintf(text, sizeof text, "%p", frame->allocator);
        json_object_set_new(object, "allocator", json_string(text));
    }
    if (frame->file != NULL && frame->file[0] != '\0') {
        json_object_set_new(object, "file", json_string(frame->file));
        json_object_set_new(object, "line", json_integer(frame->line));
    }
    return object;
}

/* Frames from the top, as in the text. */
static ctxrt_status write_json(FILE *file, const snapshot *shot)
{
    json_t *threads = json_array();
    for (size_t t = 0; t < shot->count; t++) {
        const stack_copy *stack = &shot->stacks[t];
        json_t *frames = json_array();
        for (uint32_t i = stack->depth; i-- > 0;)
            json_array_append_new(frames, frame_json(&stack->frames[i]));
        json_t *name = json_string(stack->name);
        json_array_append_new(threads, json_pack("{s:i, s:o, s:o}", "thread", stack->number, "name",
                                                 name != NULL ? name : json_string(""), "frames", frames));
    }
    json_t *root = json_pack("{s:o}", "threads", threads);
    int failed = root == NULL || json_dumpf(root, file, JSON_INDENT(2)) != 0 || fputc('\n', file) == EOF;
    json_decref(root);
    return failed ? cx_error(CTXRT_ERROR_SYSTEM, "the snapshot could not be written") : CTXRT_SUCCESS;
}

/* ---- SVG ---- */

enum { BOX_WIDTH = 210, BOX_HEIGHT = 46, GAP = 12, HEAD = 34 };

/* A colour for each device, so that switches are seen at a glance. */
static const char *colour(const frame_copy *frame)
{
    static const char *const colours[] = {"#cfe8fc", "#d7f0d0", "#fde5c8", "#ecd9f5",
                                          "#fcd5d5", "#d5f2ef", "#f4f0c4", "#e2e2e2"};
    if (frame->device.type == CTXRT_DEVICE_CPU)
        return "#f2f2f2";
    return colours[(unsigned int)frame->device.index % (sizeof colours / sizeof colours[0])];
}

static void write_escaped(FILE *file, const char *text)
{
    for (; *text != '\0'; text++)
        switch (*text) {
        case '<':
            fputs("&lt;", file);
            break;
        case '>':
            fputs("&gt;", file);
            break;
        case '&':
            fputs("&amp;", file);
            break;
        default:
            fputc((unsigned char)*text < ' ' ? '?' : *text, file);
        }
}

static void write_box(FILE *file, const frame_copy *frame, int x, int y, bool top)
{
    fprintf(file,
            "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\" fill=\"%s\" stroke=\"#333\" "
            "stroke-width=\"%d\"%s/>\n",
            x, y, BOX_WIDTH, BOX_HEIGHT, colour(frame), top ? 3 : 1,
            frame->origin == CTXRT_FRAME_FOREIGN ? " stroke-dasharray=\"4 3\"" : "");
    fprintf(file, "<text x=\"%d\" y=\"%d\" font-weight=\"bold\">%s  %s</text>\n", x + 8, y + 18,
            cx_device_text(frame->device), origin_names[frame->origin]);
    fprintf(file, "<text x=\"%d\" y=\"%d\">%s context %" PRIu64 "</text>\n", x + 8, y + 36,
            kind_names[frame->kind], frame->context_id);
}

static void write_svg(FILE *file, const snapshot *shot)
{
    uint32_t deepest = 0;
    for (size_t t = 0; t < shot->count; t++)
        if (shot->stacks[t].depth > deepest)
            deepest = shot->stacks[t].depth;
    int height = HEAD + (int)deepest * (BOX_HEIGHT + 4) + GAP;
    int width = GAP + (int)shot->count * (BOX_WIDTH + GAP);
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
            "font-size=\"13\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            width, height);
    for (size_t t = 0; t < shot->count; t++) {
        const stack_copy *stack = &shot->stacks[t];
        int x = GAP + (int)t * (BOX_WIDTH + GAP);
        fprintf(file, "<text x=\"%d\" y=\"22\" font-weight=\"bold\">thread %d ", x, stack->number);
        write_escaped(file, stack->name);
        fputs("</text>\n", file);
        for (uint32_t i = 0; i < stack->depth; i++)
            write_box(file, &stack->frames[i], x, height - GAP - (int)(i + 1) * (BOX_HEIGHT + 4),
                      i + 1 == stack->depth);
    }
    fputs("</svg>\n", file);
}

ctxrt_status ctxrt_snapshot_write(FILE *file, ctxrt_snapshot_format format)
{
    if (file == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_snapshot_write: file is NULL");
    if ((unsigned int)format > CTXRT_SNAPSHOT_SVG)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "there is no snapshot format %d", (int)format);
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    snapshot shot = {0};
    int cancel = cx_cancel_hold();
    cx_threads_each(take_thread, &shot);
    if (shot.out_of_memory)
        status = cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for the snapshot");
    else if (format == CTXRT_SNAPSHOT_JSON)
        status = write_json(file, &shot);
    else if (format == CTXRT_SNAPSHOT_SVG)
        write_svg(file, &shot);
    else
        write_text(file, &shot);
    if (status == CTXRT_SUCCESS && ferror(file))
        status = cx_error(CTXRT_ERROR_SYSTEM, "the snapshot could not be written");
    release(&shot);
    cx_cancel_restore(cancel);
    return status;
}
