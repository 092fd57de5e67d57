/* What tests of pinned memory share. */
#ifndef CX_TEST_PINNED_MEMORY_H
#define CX_TEST_PINNED_MEMORY_H

#include "fixture.h"
#include "test.h"

#include <string.h>

#define MIB ((size_t)1 << 20)
#define BYTES (3 * MIB)

static inline void *allocate(size_t size_bytes, ctxrt_memory **out_memory)
{
    cx_assert_ok(ctxrt_memory_alloc_pinned(size_bytes, out_memory));
    return ctxrt_memory_pointer(*out_memory);
}

static inline ctxrt_allocator *allocator_here(void)
{
    ctxrt_allocator *allocator;
    cx_assert_ok(ctxrt_allocator_pinned(&allocator));
    return allocator;
}

static inline ctxrt_allocator_info info_of(ctxrt_allocator *allocator)
{
    ctxrt_allocator_info info = CTXRT_ALLOCATOR_INFO_INIT;
    cx_assert_ok(ctxrt_allocator_describe(allocator, &info));
    return info;
}

static inline uint64_t reserved_here(void)
{
    return info_of(allocator_here()).reserved.current_bytes;
}

static inline uint64_t trim_here(void)
{
    uint64_t released;
    cx_assert_ok(ctxrt_allocator_trim(allocator_here(), &released));
    return released;
}

static inline bool is_filled(const void *pointer, int value, size_t size_bytes)
{
    const unsigned char *bytes = pointer;
    return bytes[0] == value && memcmp(bytes, bytes + 1, size_bytes - 1) == 0;
}

static inline void copy_to_device(char *pinned, void *device, ctxrt_stream *stream)
{
    cx_assert_ok(ctxrt_copy_async(device, pinned, BYTES, CTXRT_COPY_HOST_TO_DEVICE, stream));
}

static inline void assert_landed(const ctxrt_memory *on_device, int value)
{
    static unsigned char seen[BYTES];
    cx_assert_ok(
        ctxrt_copy(seen, ctxrt_memory_pointer((ctxrt_memory *)on_device), BYTES, CTXRT_COPY_ANY));
    ck_assert(is_filled(seen, value, BYTES));
}

#endif
