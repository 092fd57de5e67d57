/* What tests of the debug mode of pinned memory share: each test starts its own runtime. */
#ifndef CX_TEST_GUARDED_PINNED_H
#define CX_TEST_GUARDED_PINNED_H

#include "guarded.h"
#include "log_lines.h"

#include <stdlib.h>

static log_lines lines = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* NULL: without it. */
static inline void start(const char *mode)
{
    ck_assert_int_eq(mode != NULL ? setenv("CTXRT_DEBUG_MEMORY", mode, 1)
                                  : unsetenv("CTXRT_DEBUG_MEMORY"),
                     0);
    cx_fixture_start();
    cx_assert_ok(ctxrt_log_set(log_lines_take, &lines, CTXRT_LOG_WARNING));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
}

static inline ctxrt_allocator *pinned(void)
{
    ctxrt_allocator *allocator;
    cx_assert_ok(ctxrt_allocator_pinned(&allocator));
    return allocator;
}

static inline ctxrt_allocator_info look(void)
{
    ctxrt_allocator_info info = CTXRT_ALLOCATOR_INFO_INIT;
    cx_assert_ok(ctxrt_allocator_describe(pinned(), &info));
    return info;
}

/* Everything is free, and goes back. */
static inline void end(void)
{
    cx_assert_ok(ctxrt_allocator_trim(pinned(), NULL));
    ck_assert_uint_eq(look().requested.current_count, 0);
    ck_assert_uint_eq(look().reserved.current_bytes, 0);
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_WARNING));
}

static inline unsigned char *allocate(size_t size_bytes, ctxrt_memory **out_memory)
{
    cx_assert_ok(ctxrt_memory_alloc_pinned(size_bytes, out_memory));
    return ctxrt_memory_pointer(*out_memory);
}

static inline bool is_filled(const unsigned char *bytes, unsigned char value, size_t size_bytes)
{
    return bytes[0] == value && memcmp(bytes, bytes + 1, size_bytes - 1) == 0;
}

#endif
