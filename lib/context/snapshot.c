/* Every thread's stack, written out while the threads go on. */
#include "context/snapshot.h"

#include "base/cancel.h"
#include "base/error.h"
#include "base/text.h"
#include "context/view.h"
#include <stdlib.h>
#include <string.h>

/* ---- taking ---- */

/* Makes room for one more item in the array; NULL: out of memory. It grows when its count is a
 * power of two. */
static void *grow_array(void *items, size_t count, size_t item_bytes)
{
    return (count & (count - 1)) == 0 ? realloc(items, (count != 0 ? 2 * count : 1) * item_bytes)
                                      : items;
}

typedef struct taking {
    cx_snapshot *shot;
    cx_stack_view *view;
    bool out_of_memory;
} taking;

static bool take_frames(const cx_stack_view *view, cx_thread_shot *out)
{
    out->frames = calloc(view->depth + 1, sizeof *out->frames);
    if (out->frames == NULL)
        return false;
    memcpy(out->frames, view->frames, view->depth * sizeof *out->frames);
    out->depth = view->depth;
    return true;
}

static bool take_thread(cx_thread *thread, void *argument)
{
    taking *take = argument;
    cx_snapshot *shot = take->shot;
    cx_thread_shot *grown = grow_array(shot->threads, shot->thread_count, sizeof *grown);
    if (grown == NULL) {
        take->out_of_memory = true;
        return false;
    }
    shot->threads = grown;
    cx_thread_shot *out = &grown[shot->thread_count++];
    uint64_t name[2] = {atomic_load_explicit(&thread->name[0], memory_order_relaxed),
                        atomic_load_explicit(&thread->name[1], memory_order_relaxed)};
    *out = (cx_thread_shot){.number = atomic_load(&thread->number)};
    memcpy(out->name, name, sizeof name);
    cx_stack_look(thread, take->view);
    take->out_of_memory = !take_frames(take->view, out);
    return !take->out_of_memory;
}

static bool take_detached(const cx_kept *kept, void *argument)
{
    taking *take = argument;
    cx_snapshot *shot = take->shot;
    cx_detached_shot *grown = grow_array(shot->detached, shot->detached_count, sizeof *grown);
    if (grown == NULL) {
        take->out_of_memory = true;
        return false;
    }
    shot->detached = grown;
    grown[shot->detached_count++] = (cx_detached_shot){kept->number, kept->frame};
    return true;
}

/* Calls no driver and takes no lock of contexts: a thread that ends a context waits for its work,
 * which may be the very work that the snapshot is to explain. */
static bool take_context(void *object, void *argument)
{
    taking *take = argument;
    const cx_context *context = object;
    cx_snapshot *shot = take->shot;
    cx_context_shot *grown = grow_array(shot->contexts, shot->context_count, sizeof *grown);
    if (grown == NULL) {
        take->out_of_memory = true;
        return false;
    }
    shot->contexts = grown;
    cx_context_shot *out = &grown[shot->context_count++];
    *out = (cx_context_shot){
        .id = atomic_load(&context->id),
        .device =
            context->device != NULL ? context->device->id : ctxrt_device_of(CTXRT_DEVICE_CUDA, -1),
        .kind = context->kind,
        .native = context->native,
        .holds = atomic_load(&context->holds),
    };
    for (int kind = 0; kind < CX_OBJECT_KINDS; kind++)
        out->objects[kind] = atomic_load(&context->objects[kind]);
    cx_context_memory memory = cx_context_memory_of(context);
    out->objects[CX_OBJECT_MEMORY] = (int)memory.count;
    out->memory_bytes = memory.bytes;
    return true;
}

static int by_id(const void *one, const void *other)
{
    uint64_t a = ((const cx_context_shot *)one)->id, b = ((const cx_context_shot *)other)->id;
    return (a > b) - (a < b);
}

/* Reads the present name: a thread may get a name after its first call. */
static void read_name(cx_thread_shot *thread)
{
    char path[64], name[sizeof thread->name] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", thread->number);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return;
    size_t length = fread(name, 1, sizeof name - 1, file);
    fclose(file);
    if (length == 0)
        return;
    name[length - (name[length - 1] == '\n')] = '\0';
    memcpy(thread->name, name, sizeof name);
}

static bool take_all(cx_snapshot *shot, cx_stack_view *view)
{
    taking take = {.shot = shot, .view = view};
    cx_threads_each_and_kept(take_thread, take_detached, &take);
    if (!take.out_of_memory)
        cx_pool_each_held(&cx_contexts, take_context, &take);
    if (take.out_of_memory)
        return false;
    for (size_t i = 0; i < shot->thread_count; i++)
        read_name(&shot->threads[i]);
    if (shot->context_count != 0)
        qsort(shot->contexts, shot->context_count, sizeof *shot->contexts, by_id);
    shot->loose_objects = atomic_load(&cx_loose_objects);
    shot->loose_bytes = atomic_load(&cx_loose_bytes);
    return true;
}

static void release_shot(cx_snapshot *shot)
{
    for (size_t i = 0; i < shot->thread_count; i++)
        free(shot->threads[i].frames);
    free(shot->threads);
    free(shot->detached);
    free(shot->contexts);
}

/* ---- writing ---- */

/* Writes the whole text to memory, so that the file gets it in one piece or not at all. NULL: out
 * of memory. */
static char *compose_text(ctxrt_snapshot_format format, size_t *out_size)
{
    static void (*const writers[])(FILE * file, const cx_snapshot *shot) = {
        [CTXRT_SNAPSHOT_TEXT] = cx_snapshot_text,
        [CTXRT_SNAPSHOT_JSON] = cx_snapshot_json,
    };
    cx_snapshot shot = {0};
    cx_text_file file;
    char *text = NULL;
    cx_stack_view *view = malloc(sizeof *view);
    bool failed = view == NULL || !take_all(&shot, view);
    free(view);
    FILE *memory = failed ? NULL : cx_text_open(&file);
    if (memory != NULL) {
        writers[format](memory, &shot);
        text = cx_text_close(&file, out_size);
    }
    release_shot(&shot);
    return text;
}

static ctxrt_status write_snapshot(FILE *file, ctxrt_snapshot_format format)
{
    size_t size = 0;
    char *text = compose_text(format, &size);
    return cx_text_write("ctxrt_snapshot_write", "snapshot", text, size, file);
}

/* A snapshot does not start the runtime: there is nothing to show. */
static ctxrt_status enter_runtime(void)
{
    if (atomic_load_explicit(&cx_current_phase, memory_order_acquire) == CX_PHASE_STOPPED)
        return CTXRT_SUCCESS;
    return cx_runtime_enter();
}

ctxrt_status ctxrt_snapshot_write(FILE *file, ctxrt_snapshot_format format)
{
    ctxrt_status status = enter_runtime();
    if (status != CTXRT_SUCCESS)
        return status;
    if (file == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_snapshot_write: file is NULL");
    if ((unsigned int)format > CTXRT_SNAPSHOT_JSON)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "ctxrt_snapshot_write: there is no format %d",
                        (int)format);
    int cancel = cx_cancel_hold();
    status = write_snapshot(file, format);
    cx_cancel_restore(cancel);
    return status;
}
