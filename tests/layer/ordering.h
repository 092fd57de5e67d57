/*
 * Two contexts with streams, under the layer check, for tests of what orders work.
 */
#ifndef CX_TESTS_ORDERING_H
#define CX_TESTS_ORDERING_H

#include "layer/checking.h"

enum { BYTES = 256 };

static CUcontext here, elsewhere;       /* here is current */
static CUstream first, second, distant; /* non-blocking; the last one is elsewhere */
static CUevent event;
static CUdeviceptr memory;
static void *pinned;

static inline void set_up(void)
{
    begin_checking(2);
    GOOD(table.ctx_create_v2(&elsewhere, 0, 1));
    GOOD(table.stream_create(&distant, CXU_STREAM_NON_BLOCKING));
    GOOD(table.ctx_create_v2(&here, 0, 0));
    GOOD(table.stream_create(&first, CXU_STREAM_NON_BLOCKING));
    GOOD(table.stream_create(&second, CXU_STREAM_NON_BLOCKING));
    GOOD(table.event_create(&event, 0));
    GOOD(table.mem_alloc(&memory, BYTES));
    GOOD(table.mem_alloc_host(&pinned, BYTES));
}

static inline void fill(CUdeviceptr to, CUstream stream)
{
    GOOD(table.memset_d8_async(to, 1, BYTES, stream));
}

/* The layer knows of a stream from its first use on. */
static inline void use(CUstream stream)
{
    GOOD(table.memset_d8_async(memory, 1, 0, stream));
}

#endif
