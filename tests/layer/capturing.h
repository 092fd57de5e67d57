/*
 * Streams of two contexts that are captured, under the layer check.
 */
#ifndef CX_TESTS_CAPTURING_H
#define CX_TESTS_CAPTURING_H

#include "layer/checking.h"

enum { GLOBAL, THREAD_LOCAL, RELAXED };

static CUcontext elsewhere, here;              /* of GPU 1; of GPU 0, which is current */
static CUstream distant, first, second, plain; /* plain: the legacy stream waits for it */
static CUevent event;
static CUdeviceptr memory;

static inline void set_up(void)
{
    begin_checking(2);
    GOOD(table.ctx_create_v2(&elsewhere, 0, 1));
    GOOD(table.stream_create(&distant, CXU_STREAM_NON_BLOCKING));
    GOOD(table.ctx_create_v2(&here, 0, 0));
    GOOD(table.stream_create(&first, CXU_STREAM_NON_BLOCKING));
    GOOD(table.stream_create(&second, CXU_STREAM_NON_BLOCKING));
    GOOD(table.stream_create(&plain, CXU_STREAM_DEFAULT));
    GOOD(table.event_create(&event, CXU_EVENT_DISABLE_TIMING));
    GOOD(table.mem_alloc(&memory, 256));
}

static inline void begin(CUstream stream, int mode)
{
    GOOD(table.stream_begin_capture(stream, (cxu_stream_capture_mode)mode));
}

static inline void end(CUstream stream)
{
    CUgraph graph;
    (void)table.stream_end_capture(stream, &graph);
}

static inline void fill(CUstream stream)
{
    GOOD(table.memset_d8_async(memory, 1, 64, stream));
}

static inline void join(CUstream later, CUstream earlier)
{
    GOOD(table.event_record(event, earlier));
    GOOD(table.stream_wait_event(later, event, 0));
}

#endif
