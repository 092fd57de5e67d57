#include "context/layer_names.h"

#include "context/frame_kind.h"
#include "context/thread.h"
#include "context/view.h"

#include <inttypes.h>
#include <stdio.h>

static bool name_frame(char *text, size_t size)
{
    const cx_thread *thread = cx_thread_current;
    uint32_t depth = thread != NULL ? cx_thread_depth(thread) : 0;
    if (depth == 0)
        return false;
    cx_frame_view top = cx_frame_look(&thread->frames[depth - 1]);
    int length = snprintf(text, size, "%s, frame %u of %u, %s", cx_device_text(top.device), depth,
                          depth, cx_frame_kinds[top.origin].name);
    if (cx_frame_has_place(&top) && length > 0 && (size_t)length < size)
        snprintf(text + length, size - (size_t)length, " at %s:%d", top.file, top.line);
    return true;
}

typedef struct wanted_context {
    CUcontext native;
    const cx_context *found;
} wanted_context;

static bool look_at_context(void *object, void *argument)
{
    wanted_context *wanted = argument;
    const cx_context *context = object;
    if (context->native == wanted->native)
        wanted->found = context;
    return wanted->found == NULL;
}

static bool name_context(cx_handle_kind kind, uintptr_t handle, char *text, size_t size)
{
    wanted_context wanted = {.native = (CUcontext)handle};
    if (kind != CX_HANDLE_CONTEXT)
        return false;
    if (!cx_pool_each_tried(&cx_contexts, look_at_context, &wanted) || wanted.found == NULL)
        return false;
    snprintf(text, size, "%s context %" PRIu64 " of %s", cx_context_kind_name(wanted.found->kind),
             atomic_load(&wanted.found->id), cx_device_text(wanted.found->device->id));
    return true;
}

void cx_context_add_layer_names(void)
{
    static const cx_layer_names names = {name_frame, name_context};
    cx_layer_names_add(&names);
}
