/* What the tests of asynchronous copies between two drivers share. */
#ifndef CX_TEST_STAGED_H
#define CX_TEST_STAGED_H

#include "gate.h"
#include "two_drivers.h"

#include "device/runtime.h"
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 20, MORE = CHUNK + 33, LARGE = 2 * CHUNK + 77, SMALL = 4096 };

static const char *const schedules[] = {"threads", "lazy", "random:11"};
enum { SCHEDULES = 3 };

/* The stream is of the CPU, or of a GPU. */
enum { SIDES = 2 };

/* Of no length that a chunk is a multiple of. */
enum { PERIOD = 10007 };
static unsigned char pattern[LARGE], seen[LARGE];

static inline void start(void)
{
    const char *reason;
    ck_assert_msg(two_drivers_start(CTXRT_FOREIGN_FOLLOW, &reason), "%s", reason);
    for (size_t i = 0; i < PERIOD; i++)
        pattern[i] = (unsigned char)(i * 31 + i / 251);
    for (size_t i = PERIOD; i < LARGE; i += PERIOD)
        memcpy(pattern + i, pattern, LARGE - i < PERIOD ? LARGE - i : PERIOD);
}

static inline void start_under(const char *schedule)
{
    setenv("CTXRT_EMU_SCHEDULE", schedule, 1);
    start();
}

static inline ctxrt_memory *alloc_on(int place, size_t size_bytes)
{
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_device_push(two_drivers_device(place)));
    cx_assert_ok(ctxrt_memory_alloc(size_bytes, &memory));
    cx_assert_ok(ctxrt_stack_pop());
    return memory;
}

static inline unsigned char *at(ctxrt_memory *memory)
{
    return ctxrt_memory_pointer(memory);
}

static inline void release(ctxrt_memory *memory)
{
    cx_assert_ok(ctxrt_memory_release(memory));
}

/* A stream of this side, current from now on until the frame is popped. */
static inline ctxrt_stream *enter(int side)
{
    cx_assert_ok(ctxrt_device_push(two_drivers_device(side)));
    return create_stream(CTXRT_STREAM_NON_BLOCKING);
}

static inline void leave(ctxrt_stream *stream)
{
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_stack_pop());
}

static inline void assert_holds(const void *memory, const unsigned char *wanted, size_t size_bytes)
{
    memset(seen, 0xcc, size_bytes);
    cx_assert_ok(ctxrt_copy(seen, memory, size_bytes, CTXRT_COPY_ANY));
    ck_assert_int_eq(memcmp(seen, wanted, size_bytes), 0);
}

/* The calls, each with the place of either end. */
typedef ctxrt_status copy_call(int to_place, void *to, int from_place, const void *from,
                               size_t size_bytes, ctxrt_stream *stream);

static inline ctxrt_status plain(int to_place, void *to, int from_place, const void *from,
                                 size_t size_bytes, ctxrt_stream *stream)
{
    (void)to_place, (void)from_place;
    return ctxrt_copy_async(to, from, size_bytes, CTXRT_COPY_DEVICE_TO_DEVICE, stream);
}

static inline ctxrt_status of_rows(int to_place, void *to, int from_place, const void *from,
                                   size_t size_bytes, ctxrt_stream *stream)
{
    const size_t width = size_bytes / 2;
    const ctxrt_copy_region two = {.destination = to,
                                   .destination_pitch_bytes = width,
                                   .source = from,
                                   .source_pitch_bytes = width,
                                   .width_bytes = width,
                                   .height = 2,
                                   .kind = CTXRT_COPY_ANY};
    (void)to_place, (void)from_place;
    return ctxrt_copy_2d_async(&two, stream);
}

static inline ctxrt_status of_peers(int to_place, void *to, int from_place, const void *from,
                                    size_t size_bytes, ctxrt_stream *stream)
{
    return ctxrt_copy_peer(to, two_drivers_device(to_place), from, two_drivers_device(from_place),
                           size_bytes, stream);
}

static copy_call *const calls[] = {plain, of_rows, of_peers};
enum { CALLS = 3 };

#endif
