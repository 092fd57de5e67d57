/* The functions of same.c with guards. */
#include <ctxrt/ctxrt.hpp>

#include "same.h"

ctxrt_status same_scope(ctxrt_device device, void *pointer, size_t size_bytes)
{
    ctxrt::scope scope;
    if (ctxrt_status status = scope.enter(device, same_file, 7))
        return status;
    return ctxrt_fill(pointer, 0, size_bytes);
}

ctxrt_status same_stream(ctxrt_event *event)
{
    ctxrt::stream stream;
    if (ctxrt_status status = stream.create(CTXRT_STREAM_NON_BLOCKING))
        return status;
    if (ctxrt_status status = ctxrt_stream_wait_event(stream.get(), event))
        return status;
    return ctxrt_stream_synchronize(stream.get());
}

ctxrt_status same_memory(const void *source, size_t size_bytes, ctxrt_stream *stream)
{
    ctxrt::memory memory;
    if (ctxrt_status status = memory.alloc(size_bytes))
        return status;
    if (ctxrt_status status = ctxrt_copy_async(memory.pointer(), source, size_bytes,
                                               CTXRT_COPY_HOST_TO_DEVICE, stream))
        return status;
    return ctxrt_memory_record_stream(memory.get(), stream);
}
