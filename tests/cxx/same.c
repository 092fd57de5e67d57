/* Three functions in C, as same.cc has them with guards: the compiler makes the same code of both.
 */
#include "same.h"

/* A successful call made something. */
#define not_null(made) ((made) != NULL ? (made) : (__builtin_unreachable(), (made)))

static inline void destroy_stream(ctxrt_stream **stream)
{
    if (*stream != NULL)
        ignore(ctxrt_stream_destroy(*stream));
}

static inline void release_memory(ctxrt_memory **memory)
{
    if (*memory != NULL)
        ignore(ctxrt_memory_release(*memory));
}

ctxrt_status same_scope(ctxrt_device device, void *pointer, size_t size_bytes)
{
    CTXRT_SCOPE ctxrt_scope scope = CTXRT_SCOPE_INIT;
    ctxrt_status status = ctxrt_scope_enter_at(device, &scope, same_file, 7);
    if (status != CTXRT_SUCCESS)
        return status;
    return ctxrt_fill(pointer, 0, size_bytes);
}

ctxrt_status same_stream(ctxrt_event *event)
{
    CTXRT_CLEANUP(destroy_stream) ctxrt_stream *stream = NULL;
    ctxrt_stream *made;
    ctxrt_status status = ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &made);
    if (status == CTXRT_SUCCESS)
        stream = not_null(made);
    if (status != CTXRT_SUCCESS)
        return status;
    status = ctxrt_stream_wait_event(stream, event);
    if (status != CTXRT_SUCCESS)
        return status;
    return ctxrt_stream_synchronize(stream);
}

ctxrt_status same_memory(const void *source, size_t size_bytes, ctxrt_stream *stream)
{
    CTXRT_CLEANUP(release_memory) ctxrt_memory *memory = NULL;
    ctxrt_memory *made;
    ctxrt_status status = ctxrt_memory_alloc(size_bytes, &made);
    if (status == CTXRT_SUCCESS)
        memory = not_null(made);
    if (status != CTXRT_SUCCESS)
        return status;
    status = ctxrt_copy_async(ctxrt_memory_pointer(memory), source, size_bytes,
                              CTXRT_COPY_HOST_TO_DEVICE, stream);
    if (status != CTXRT_SUCCESS)
        return status;
    return ctxrt_memory_record_stream(memory, stream);
}
