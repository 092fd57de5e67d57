/* Where the memory of a test comes from: the same test is run for each source. */
#ifndef CX_TEST_SOURCES_H
#define CX_TEST_SOURCES_H

#include "fixture.h"
#include "gate.h"
#include "test.h"

#include <stdbool.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

typedef enum source {
    USUAL,  /* the default allocator of a GPU */
    MAPPED, /* memory that is mapped */
    GUARDED, /* debug mode */
    OF_CPU,
    PINNED,
    PINNED_OF_CPU,
    SOURCES
} source;

enum { BYTES = 16 << 10 };

static source from;
static ctxrt_device place;
static ctxrt_allocator *allocator; /* all memory of the test is of it */

static inline bool is_pinned(void)
{
    return from == PINNED || from == PINNED_OF_CPU;
}

static inline void create_allocator(void)
{
    ctxrt_allocator_debug debug = CTXRT_ALLOCATOR_DEBUG_INIT;
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    debug.flags = CTXRT_DEBUG_CANARY;
    options.source = from == MAPPED ? CTXRT_ALLOCATOR_SOURCE_VMM : CTXRT_ALLOCATOR_SOURCE_ALLOC;
    options.debug = from == GUARDED ? &debug : NULL;
    cx_assert_ok(ctxrt_allocator_create(&options, &allocator));
}

static inline bool is_created(void)
{
    return from == MAPPED || from == GUARDED;
}

/* The allocator's context is current, and memory comes from there. */
static inline void enter(void)
{
    cx_assert_ok(ctxrt_device_push(place));
    if (is_created())
        cx_assert_ok(ctxrt_frame_set_allocator(allocator));
}

static inline void begin(int number)
{
    from = (source)number;
    place = from == OF_CPU || from == PINNED_OF_CPU ? CTXRT_CPU(0) : CTXRT_CUDA(1);
    cx_assert_ok(ctxrt_device_push(place));
    if (is_created())
        create_allocator();
    else if (is_pinned())
        cx_assert_ok(ctxrt_allocator_pinned(&allocator));
    else
        cx_assert_ok(ctxrt_allocator_current(&allocator));
    cx_assert_ok(ctxrt_stack_pop());
    enter();
}

static inline ctxrt_allocator_info look(void)
{
    ctxrt_allocator_info info = CTXRT_ALLOCATOR_INFO_INIT;
    cx_assert_ok(ctxrt_allocator_describe(allocator, &info));
    return info;
}

/* Nothing of the allocator's is in use, and all of it goes back. */
static inline void finish(void)
{
    ck_assert_uint_eq(look().requested.current_count, 0);
    cx_assert_ok(ctxrt_allocator_trim(allocator, NULL));
    ck_assert_uint_eq(look().reserved.current_bytes, 0);
    cx_assert_ok(ctxrt_stack_pop());
    if (is_created())
        cx_assert_ok(ctxrt_allocator_destroy(allocator));
}

static inline ctxrt_status try_to_allocate(size_t size_bytes, ctxrt_memory **out_memory)
{
    return is_pinned() ? ctxrt_memory_alloc_pinned(size_bytes, out_memory)
                       : ctxrt_memory_alloc(size_bytes, out_memory);
}

static inline ctxrt_memory *allocate(size_t size_bytes)
{
    ctxrt_memory *memory;
    cx_assert_ok(try_to_allocate(size_bytes, &memory));
    return memory;
}

static inline void release(ctxrt_memory *memory)
{
    cx_assert_ok(ctxrt_memory_release(memory));
}

static inline void *address(ctxrt_memory *memory)
{
    void *pointer = ctxrt_memory_pointer(memory);
    ck_assert_ptr_nonnull(pointer);
    return pointer;
}

static inline void assert_filled(const void *pointer, int value, size_t size_bytes)
{
    static unsigned char seen[256 << 10];
    ck_assert_uint_le(size_bytes, sizeof seen);
    cx_assert_ok(ctxrt_copy(seen, pointer, size_bytes, CTXRT_COPY_ANY));
    size_t same = 0;
    while (same < size_bytes && seen[same] == value)
        same++;
    ck_assert_msg(same == size_bytes, "byte %zu is not %d", same, value);
}

static inline ctxrt_stream *use_new_stream(void)
{
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    return stream;
}

#endif
