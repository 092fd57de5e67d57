/* The functions that same.c and same.cc both have. */
#ifndef CX_TEST_SAME_H
#define CX_TEST_SAME_H

#include <ctxrt/ctxrt.h>

#ifdef __cplusplus
extern "C" {
#endif

extern const char same_file[];

ctxrt_status same_scope(ctxrt_device device, void *pointer, size_t size_bytes);
ctxrt_status same_stream(ctxrt_event *event);
ctxrt_status same_memory(const void *source, size_t size_bytes, ctxrt_stream *stream);

/* A destructor ignores the status of what it calls. */
static inline void ignore(ctxrt_status status)
{
    (void)status;
}

#ifdef __cplusplus
}
#endif

#endif
