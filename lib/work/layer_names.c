#include "work/layer_names.h"

#include "layer/names.h"
#include "work/stream.h"

#include <stdio.h>

typedef struct wanted_stream {
    CUstream native;
    const cx_stream *found;
} wanted_stream;

static bool look_at_stream(void *object, void *argument)
{
    wanted_stream *wanted = argument;
    const cx_stream *stream = object;
    if (atomic_load(&stream->native) == wanted->native)
        wanted->found = stream;
    return wanted->found == NULL;
}

static bool name_stream(cx_handle_kind kind, uintptr_t handle, char *text, size_t size)
{
    static const char *const kinds[] = {
        [CX_STREAM_CREATED] = "a created stream",
        [CX_STREAM_WRAPPED] = "a stream of other code",
        [CX_STREAM_DEFAULT] = "the default stream of a thread",
    };
    wanted_stream wanted = {.native = (CUstream)handle};
    if (kind != CX_HANDLE_STREAM)
        return false;
    if (!cx_pool_each_tried(&cx_streams, look_at_stream, &wanted) || wanted.found == NULL)
        return false;
    snprintf(text, size, "%s", kinds[atomic_load(&wanted.found->kind)]);
    return true;
}

void cx_work_add_layer_names(void)
{
    static const cx_layer_names names = {NULL, name_stream};
    cx_layer_names_add(&names);
}
