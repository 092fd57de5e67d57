#include "fixture.h"
#include "gate.h"
#include "test.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BYTES ((size_t)100003)

/* ---- the places that memory can be ---- */

enum { HOST, PINNED, CPU, GPU_0, GPU_1, PLACES };

static const ctxrt_device device_of_place[PLACES] = {
    {CTXRT_DEVICE_CPU, 0}, {CTXRT_DEVICE_CUDA, 0}, {CTXRT_DEVICE_CPU, 0},
    {CTXRT_DEVICE_CUDA, 0}, {CTXRT_DEVICE_CUDA, 1}};

static ctxrt_memory *allocate_at(int place, size_t size_bytes)
{
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_device_push(device_of_place[place]));
    if (place == HOST)
        cx_assert_ok(ctxrt_memory_alloc_host(size_bytes, &memory));
    else if (place == PINNED)
        cx_assert_ok(ctxrt_memory_alloc_pinned(size_bytes, &memory));
    else
        cx_assert_ok(ctxrt_memory_alloc(size_bytes, &memory));
    cx_assert_ok(ctxrt_stack_pop());
    return memory;
}

static unsigned char *bytes_of(ctxrt_memory *memory)
{
    return ctxrt_memory_pointer(memory);
}

static ctxrt_copy_kind kind_of(int to, int from)
{
    if (to >= CPU)
        return from >= CPU ? CTXRT_COPY_DEVICE_TO_DEVICE : CTXRT_COPY_HOST_TO_DEVICE;
    return from >= CPU ? CTXRT_COPY_DEVICE_TO_HOST : CTXRT_COPY_HOST_TO_HOST;
}

static void make_pattern(unsigned char *bytes, size_t count, unsigned int seed)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)(i * 31 + i / 251 + seed);
}

static void assert_current(ctxrt_device device)
{
    ctxrt_device current;
    cx_assert_ok(ctxrt_device_get(&current));
    ck_assert_int_eq(current.type, device.type);
    ck_assert_int_eq(current.index, device.index);
    ck_assert_uint_eq(ctxrt_stack_depth(), 1);
}

static void assert_nothing_current(void)
{
    ctxrt_device device;
    cx_assert_status(ctxrt_device_get(&device), CTXRT_ERROR_NO_DEVICE);
}

typedef ctxrt_status (*copy_function)(void *to, const void *from, ctxrt_copy_kind kind);

static ctxrt_status copy_and_wait(void *to, const void *from, ctxrt_copy_kind kind)
{
    return ctxrt_copy(to, from, BYTES, kind);
}

static ctxrt_status copy_async_and_wait(void *to, const void *from, ctxrt_copy_kind kind)
{
    ctxrt_status status = ctxrt_copy_async(to, from, BYTES, kind, NULL);
    return status == CTXRT_SUCCESS ? ctxrt_stream_synchronize(NULL) : status;
}

static void copy_through(int to, int from, copy_function copy, bool any, unsigned char *pattern)
{
    static unsigned char seen[BYTES];
    ctxrt_memory *destination = allocate_at(to, BYTES), *source = allocate_at(from, BYTES);
    ctxrt_copy_kind kind = any ? CTXRT_COPY_ANY : kind_of(to, from);
    make_pattern(pattern, BYTES, (unsigned int)(to * PLACES + from));
    cx_assert_ok(ctxrt_fill(bytes_of(destination), 0xee, BYTES));
    cx_assert_ok(ctxrt_copy(bytes_of(source), pattern, BYTES, CTXRT_COPY_ANY));
    cx_assert_ok(copy(bytes_of(destination), bytes_of(source), kind));
    memset(seen, 0, BYTES);
    cx_assert_ok(ctxrt_copy(seen, bytes_of(destination), BYTES, CTXRT_COPY_ANY));
    ck_assert_msg(memcmp(seen, pattern, BYTES) == 0, "from place %d to place %d", from, to);
    cx_assert_ok(ctxrt_memory_release(destination));
    cx_assert_ok(ctxrt_memory_release(source));
}

static void copy_between_all(ctxrt_device current)
{
    unsigned char *pattern = malloc(BYTES);
    cx_assert_ok(ctxrt_device_set(current));
    for (int to = 0; to < PLACES; to++)
        for (int from = 0; from < PLACES; from++)
            for (int any = 0; any < 2; any++) {
                copy_through(to, from, copy_and_wait, any, pattern);
                copy_through(to, from, copy_async_and_wait, any, pattern);
                assert_current(current);
            }
    cx_assert_ok(ctxrt_stack_pop());
    free(pattern);
}

START_TEST(copies_between_all_places_arrive_whatever_is_current_and_leave_that_alone)
{
    copy_between_all(CTXRT_CUDA(0));
    copy_between_all(CTXRT_CUDA(3));
    copy_between_all(CTXRT_CPU(0));
}
END_TEST

/* ---- arguments ---- */

START_TEST(bad_arguments_are_refused)
{
    char bytes[16] = {0};
    const ctxrt_copy_kind none[] = {(ctxrt_copy_kind)5, (ctxrt_copy_kind)-1};
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    for (int i = 0; i < 2; i++) {
        cx_assert_error(ctxrt_copy(bytes, bytes, 1, none[i]), CTXRT_ERROR_INVALID_ARGUMENT);
        cx_assert_error(ctxrt_copy_async(bytes, bytes, 0, none[i], NULL),
                        CTXRT_ERROR_INVALID_ARGUMENT);
    }
    cx_assert_error(ctxrt_copy(NULL, bytes, 1, CTXRT_COPY_ANY), CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_copy(bytes, NULL, 1, CTXRT_COPY_HOST_TO_HOST), CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_copy_async(NULL, bytes, 1, CTXRT_COPY_ANY, NULL),
                    CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_fill(NULL, 0, 1), CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_fill_async(NULL, 0, 1, NULL), CTXRT_ERROR_NULL_POINTER);
    for (int kind = CTXRT_COPY_ANY; kind <= CTXRT_COPY_DEVICE_TO_DEVICE; kind++) {
        cx_assert_error(ctxrt_copy(bytes, bytes, SIZE_MAX, (ctxrt_copy_kind)kind),
                        CTXRT_ERROR_INVALID_ARGUMENT);
        cx_assert_ok(ctxrt_copy(NULL, NULL, 0, (ctxrt_copy_kind)kind));
    }
    cx_assert_error(ctxrt_fill(bytes, 0, SIZE_MAX), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_fill(bytes, 256, 1), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_fill(bytes, 255, 1));
    cx_assert_error(ctxrt_fill(bytes, -1, 1), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_fill_async(bytes, 256, 0, NULL), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_fill(NULL, 1, 0));
    cx_assert_error(ctxrt_copy_2d(NULL), CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_copy_3d_async(NULL, NULL), CTXRT_ERROR_NULL_POINTER);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_kind_that_contradicts_the_addresses_is_refused)
{
    unsigned char host[64] = {0};
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    ctxrt_memory *memory = allocate_at(GPU_0, 64);
    unsigned char *gpu = bytes_of(memory);
    const struct {
        void *to, *from;
        ctxrt_copy_kind kind;
    } bad[] = {
        {gpu, host, CTXRT_COPY_HOST_TO_HOST},     {host, gpu, CTXRT_COPY_HOST_TO_HOST},
        {host, gpu, CTXRT_COPY_HOST_TO_DEVICE},   {gpu, gpu, CTXRT_COPY_HOST_TO_DEVICE},
        {host, host, CTXRT_COPY_HOST_TO_DEVICE},  {gpu, host, CTXRT_COPY_DEVICE_TO_HOST},
        {gpu, gpu, CTXRT_COPY_DEVICE_TO_HOST},    {host, host, CTXRT_COPY_DEVICE_TO_HOST},
        {gpu, host, CTXRT_COPY_DEVICE_TO_DEVICE}, {host, gpu, CTXRT_COPY_DEVICE_TO_DEVICE},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cx_assert_error(ctxrt_copy(bad[i].to, bad[i].from, 64, bad[i].kind),
                        CTXRT_ERROR_INVALID_ARGUMENT);
        cx_assert_error(ctxrt_copy_async(bad[i].to, bad[i].from, 64, bad[i].kind, NULL),
                        CTXRT_ERROR_INVALID_ARGUMENT);
    }
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static void assert_says(ctxrt_status status, const char *part)
{
    ck_assert_int_eq(status, CTXRT_ERROR_INVALID_ARGUMENT);
    ck_assert_msg(strstr(ctxrt_last_error()->message, part) != NULL, "%s, and not %s",
                  ctxrt_last_error()->message, part);
}

START_TEST(a_contradiction_is_told_with_what_is_known_of_the_address)
{
    unsigned char host[64];
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    ctxrt_memory *memory = allocate_at(GPU_1, 64), *pinned = allocate_at(PINNED, 64);
    unsigned char *gpu = bytes_of(memory);
    assert_says(ctxrt_copy(host, gpu, 64, CTXRT_COPY_DEVICE_TO_DEVICE),
                "the destination is memory of a device, but");
    assert_says(ctxrt_copy(host, gpu, 64, CTXRT_COPY_DEVICE_TO_DEVICE), "known to no driver");
    assert_says(ctxrt_copy(host, gpu, 64, CTXRT_COPY_HOST_TO_HOST),
                "the source is memory of the host, but");
    assert_says(ctxrt_copy(host, gpu, 64, CTXRT_COPY_HOST_TO_HOST), "memory of cuda:1");
    assert_says(ctxrt_copy_peer(bytes_of(pinned), CTXRT_CUDA(1), gpu, CTXRT_CUDA(1), 64, NULL),
                "is pinned host memory");
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_memory_release(pinned));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* SEEDS 2, defect 12. */
START_TEST(copies_and_fills_of_host_memory_need_no_device)
{
    char from[64] = "from here", to[64] = "";
    cx_assert_ok(ctxrt_copy(to, from, sizeof to, CTXRT_COPY_HOST_TO_HOST));
    ck_assert_str_eq(to, from);
    cx_assert_ok(ctxrt_copy(to, from + 5, 5, CTXRT_COPY_ANY));
    ck_assert_str_eq(to, "here");
    cx_assert_ok(ctxrt_copy_async(to, from, sizeof to, CTXRT_COPY_HOST_TO_HOST, NULL));
    ck_assert_str_eq(to, from);
    cx_assert_ok(ctxrt_copy(from + 2, from, 8, CTXRT_COPY_HOST_TO_HOST));
    ck_assert_str_eq(from, "frfrom her");
    cx_assert_ok(ctxrt_fill(to, 'x', 3));
    cx_assert_ok(ctxrt_fill_async(to, 'y', 2, NULL));
    ck_assert_int_eq(memcmp(to, "yyxm", 4), 0);
    ck_assert_int_eq(ctxrt_last_error()->status, CTXRT_SUCCESS);
    assert_nothing_current();
}
END_TEST

START_TEST(copies_and_fills_of_pinned_memory_need_no_device)
{
    ctxrt_memory *first = allocate_at(PINNED, 8), *second = allocate_at(PINNED, 8);
    cx_assert_ok(ctxrt_fill(bytes_of(first), 'a', 8));
    cx_assert_ok(ctxrt_fill_async(bytes_of(first), 'b', 4, NULL));
    cx_assert_ok(ctxrt_copy_async(bytes_of(second), bytes_of(first), 8, CTXRT_COPY_ANY, NULL));
    ck_assert_mem_eq(bytes_of(second), "bbbbaaaa", 8);
    ck_assert_int_eq(ctxrt_last_error()->status, CTXRT_SUCCESS);
    cx_assert_ok(ctxrt_memory_release(first));
    cx_assert_ok(ctxrt_memory_release(second));
    assert_nothing_current();
}
END_TEST

START_TEST(other_copies_without_a_device_are_refused)
{
    unsigned char host[64];
    ctxrt_memory *memory = allocate_at(GPU_0, 64);
    cx_assert_error(ctxrt_copy(bytes_of(memory), host, 64, CTXRT_COPY_ANY), CTXRT_ERROR_NO_DEVICE);
    cx_assert_error(ctxrt_fill(bytes_of(memory), 1, 64), CTXRT_ERROR_NO_DEVICE);
    cx_assert_ok(ctxrt_memory_release(memory));
    assert_nothing_current();
}
END_TEST

/* ---- order ---- */

/* T13. */
START_TEST(async_copies_and_fills_wait_for_the_work_before_them_and_not_the_caller)
{
    gate held;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_stack_pop());
    ctxrt_memory *pinned = allocate_at(PINNED, 64), *gpu = allocate_at(GPU_1, 64);
    ctxrt_memory *more = allocate_at(PINNED, 64);
    memset(bytes_of(pinned), 1, 64);
    memset(bytes_of(more), 2, 64);
    gate_close(&held, stream);
    cx_assert_ok(ctxrt_copy_async(bytes_of(gpu), bytes_of(pinned), 64, CTXRT_COPY_ANY, stream));
    cx_assert_ok(ctxrt_fill_async(bytes_of(gpu), 7, 32, stream));
    cx_assert_ok(ctxrt_copy_async(bytes_of(pinned), bytes_of(gpu), 64, CTXRT_COPY_ANY, stream));
    cx_assert_ok(ctxrt_copy_async(bytes_of(more), bytes_of(pinned), 64, CTXRT_COPY_ANY, stream));
    ck_assert_int_eq(ctxrt_stream_query(stream), CTXRT_ERROR_NOT_READY);
    ck_assert_uint_eq(bytes_of(more)[0], 2);
    assert_nothing_current();
    gate_open(&held);
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    ck_assert_uint_eq(bytes_of(more)[0], 7);
    ck_assert_uint_eq(bytes_of(more)[63], 1);
    cx_assert_ok(ctxrt_memory_release(pinned));
    cx_assert_ok(ctxrt_memory_release(more));
    cx_assert_ok(ctxrt_memory_release(gpu));
    cx_assert_ok(ctxrt_stream_destroy(stream));
}
END_TEST

static void write_one(void *byte)
{
    *(unsigned char *)byte = 1;
}

/* The order shows under CTXRT_EMU_SCHEDULE=lazy, where the host function runs when somebody
 * waits. */
START_TEST(fills_of_plain_host_memory_come_behind_the_work_of_the_stream)
{
    ctxrt_memory *host;
    ctxrt_stream *stream;

    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_memory_alloc_host(64, &host));
    cx_assert_ok(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &stream));
    for (int i = 0; i < 20; i++) {
        cx_assert_ok(ctxrt_stream_add_host_function(stream, write_one, bytes_of(host)));
        cx_assert_ok(ctxrt_fill_async(bytes_of(host), 2, 64, stream));
        cx_assert_ok(ctxrt_stream_synchronize(stream));
        ck_assert_int_eq(bytes_of(host)[0], 2);
    }
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_memory_release(host));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* Each place, with the same pattern before, between and behind the words. */
static void fill_words_at(int place, bool async, ctxrt_stream *stream)
{
    enum { WORDS = 16 };
    uint32_t seen[WORDS];
    ctxrt_memory *memory = allocate_at(place, sizeof seen);
    uint32_t *words = ctxrt_memory_pointer(memory);
    cx_assert_ok(ctxrt_fill32(words, 0x11223344, WORDS));
    cx_assert_ok(async ? ctxrt_fill32_async(words + 3, 0xdeadbeef, 5, stream)
                       : ctxrt_fill32(words + 3, 0xdeadbeef, 5));
    cx_assert_ok(async ? ctxrt_fill32_async(words, 0, 0, stream) : ctxrt_fill32(words, 0, 0));
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    cx_assert_ok(ctxrt_copy(seen, words, sizeof seen, CTXRT_COPY_ANY));
    for (int i = 0; i < WORDS; i++)
        ck_assert_msg(seen[i] == (i >= 3 && i < 8 ? 0xdeadbeef : 0x11223344),
                      "word %d of place %d is %#x", i, place, seen[i]);
    cx_assert_ok(ctxrt_memory_release(memory));
}

START_TEST(words_are_set_at_every_place_and_none_beside_them)
{
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    for (int place = 0; place < PLACES; place++) {
        fill_words_at(place, false, NULL);
        fill_words_at(place, true, NULL);
        fill_words_at(place, true, stream);
        assert_current(CTXRT_CUDA(0));
    }
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_fill_of_words_beyond_a_block_is_refused)
{
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    ctxrt_memory *memory = allocate_at(GPU_0, 64);
    uint32_t *words = ctxrt_memory_pointer(memory);
    cx_assert_error(ctxrt_fill32(words, 1, 17), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_fill32_async(words + 1, 1, 16, NULL), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_fill32(words, 1, SIZE_MAX / 4 + 2), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_captured_fill_of_words_is_done_by_each_launch)
{
    uint32_t seen[4];
    ctxrt_graph *graph;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_memory *memory = allocate_at(GPU_0, sizeof seen);
    uint32_t *words = ctxrt_memory_pointer(memory);
    cx_assert_ok(ctxrt_stream_capture_begin(stream, CTXRT_CAPTURE_THREAD_LOCAL));
    cx_assert_ok(ctxrt_fill32_async(words, 0xcafe0001, 4, stream));
    cx_assert_ok(ctxrt_stream_capture_end(stream, &graph));
    for (int i = 0; i < 2; i++) {
        cx_assert_ok(ctxrt_fill32(words, 5, 4));
        cx_assert_ok(ctxrt_graph_launch(graph, stream));
        cx_assert_ok(ctxrt_stream_synchronize(stream));
        cx_assert_ok(ctxrt_copy(seen, words, sizeof seen, CTXRT_COPY_ANY));
        ck_assert_uint_eq(seen[3], 0xcafe0001);
    }
    cx_assert_ok(ctxrt_graph_release(graph));
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_copy_of_a_destroyed_stream_is_refused)
{
    unsigned char host[8] = {0};
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    ctxrt_memory *memory = allocate_at(GPU_0, 8);
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_DEFAULT);
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_error(ctxrt_copy_async(bytes_of(memory), host, 8, CTXRT_COPY_ANY, stream),
                    CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_copy_async(host, host, 8, CTXRT_COPY_HOST_TO_HOST, stream),
                    CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_fill_async(bytes_of(memory), 1, 8, stream), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- regions ---- */

enum {
    WIDTH = 37,
    HEIGHT = 11,
    DEPTH = 5,
    TO_PITCH = 53,
    FROM_PITCH = 41,
    TO_ROWS = 13,
    FROM_ROWS = 12
};
#define TO_BYTES (TO_PITCH * TO_ROWS * DEPTH)
#define FROM_BYTES (FROM_PITCH * FROM_ROWS * DEPTH)

static void assert_region(const unsigned char *seen, const unsigned char *pattern, int depth)
{
    for (int i = 0; i < TO_BYTES; i++) {
        int x = i % TO_PITCH, y = i / TO_PITCH % TO_ROWS, z = i / TO_PITCH / TO_ROWS;
        bool inside = x < WIDTH && y < HEIGHT && z < depth;
        unsigned char expected =
            inside ? pattern[(z * FROM_ROWS + y) * FROM_PITCH + x] : (unsigned char)0xee;
        if (seen[i] != expected)
            ck_abort_msg("byte %d,%d,%d is %d, not %d", x, y, z, seen[i], expected);
    }
}

static void copy_region(int to, int from, int depth, bool wait)
{
    unsigned char pattern[FROM_BYTES], seen[TO_BYTES];
    ctxrt_memory *destination = allocate_at(to, TO_BYTES), *source = allocate_at(from, FROM_BYTES);
    const ctxrt_copy_region region = {bytes_of(destination), TO_PITCH, TO_ROWS, bytes_of(source),
                                      FROM_PITCH, FROM_ROWS, WIDTH, HEIGHT, (size_t)depth,
                                      kind_of(to, from)};
    make_pattern(pattern, FROM_BYTES, (unsigned int)(to + 7 * from));
    cx_assert_ok(ctxrt_fill(bytes_of(destination), 0xee, TO_BYTES));
    cx_assert_ok(ctxrt_copy(bytes_of(source), pattern, FROM_BYTES, CTXRT_COPY_ANY));
    if (wait) {
        cx_assert_ok(depth == 1 ? ctxrt_copy_2d(&region) : ctxrt_copy_3d(&region));
    } else {
        cx_assert_ok(depth == 1 ? ctxrt_copy_2d_async(&region, NULL)
                                : ctxrt_copy_3d_async(&region, NULL));
        cx_assert_ok(ctxrt_stream_synchronize(NULL));
    }
    cx_assert_ok(ctxrt_copy(seen, bytes_of(destination), TO_BYTES, CTXRT_COPY_ANY));
    assert_region(seen, pattern, depth);
    cx_assert_ok(ctxrt_memory_release(destination));
    cx_assert_ok(ctxrt_memory_release(source));
}

START_TEST(regions_with_odd_pitches_arrive_between_all_places)
{
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(2)));
    for (int to = 0; to < PLACES; to++)
        for (int from = 0; from < PLACES; from++)
            for (int wait = 0; wait < 2; wait++) {
                copy_region(to, from, 1, wait);
                copy_region(to, from, DEPTH, wait);
                assert_current(CTXRT_CUDA(2));
            }
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(regions_of_few_rows_and_slices_arrive_in_host_memory)
{
    enum { ROW = 4, MOST = 3, BYTES_IN_ALL = ROW * MOST * MOST };
    unsigned char to[BYTES_IN_ALL], from[BYTES_IN_ALL];
    make_pattern(from, sizeof from, 1);
    for (size_t height = 1; height <= MOST; height++)
        for (size_t depth = 1; depth <= MOST; depth++) {
            const size_t bytes = ROW * height * depth;
            const ctxrt_copy_region region = {to,     ROW, height, from,  ROW,
                                              height, ROW, height, depth, CTXRT_COPY_ANY};
            memset(to, 0, sizeof to);
            cx_assert_ok(ctxrt_copy_3d(&region));
            ck_assert_mem_eq(to, from, bytes);
            ck_assert(bytes == sizeof to || to[bytes] == 0);
        }
}
END_TEST

START_TEST(bad_regions_are_refused_and_empty_ones_do_nothing)
{
    unsigned char to[100], from[100] = {0};
    const ctxrt_copy_region good = {to, 10, 5, from, 10, 5, 10, 5, 2, CTXRT_COPY_HOST_TO_HOST};
    ctxrt_copy_region bad[16];
    for (int i = 0; i < 16; i++)
        bad[i] = good;
    bad[0].destination_pitch_bytes = 9;
    bad[1].source_pitch_bytes = 9;
    bad[2].destination_slice_height = 4;
    bad[3].source_slice_height = 4;
    bad[4].destination_pitch_bytes = SIZE_MAX / 2;
    bad[5].source_slice_height = SIZE_MAX / 4;
    bad[6].height = SIZE_MAX;
    bad[7].depth = SIZE_MAX / 8;
    bad[8].kind = (ctxrt_copy_kind)9;
    bad[9].kind = CTXRT_COPY_HOST_TO_DEVICE;
    bad[10].width_bytes = SIZE_MAX;
    bad[11].source_pitch_bytes = SIZE_MAX / 9;
    bad[12].kind = CTXRT_COPY_DEVICE_TO_DEVICE + 1;
    bad[13].kind = (ctxrt_copy_kind)-1;
    bad[14].height = bad[15].height = 1; /* rows of slices one behind the other */
    bad[14].destination_pitch_bytes = 9;
    bad[15].source_pitch_bytes = 9;
    for (int i = 0; i < 16; i++) {
        cx_assert_error(ctxrt_copy_3d(&bad[i]), CTXRT_ERROR_INVALID_ARGUMENT);
        cx_assert_error(ctxrt_copy_3d_async(&bad[i], NULL), CTXRT_ERROR_INVALID_ARGUMENT);
    }
    bad[0] = good;
    bad[0].destination = NULL;
    cx_assert_error(ctxrt_copy_2d(&bad[0]), CTXRT_ERROR_NULL_POINTER);
    bad[0].width_bytes = 0;
    cx_assert_ok(ctxrt_copy_2d(&bad[0]));
    bad[0].width_bytes = 10;
    bad[0].height = 0;
    cx_assert_ok(ctxrt_copy_2d_async(&bad[0], NULL));
    bad[0].height = 5;
    bad[0].depth = 0;
    cx_assert_ok(ctxrt_copy_3d(&bad[0]));
    /* A single row has no pitch. */
    bad[0] = (ctxrt_copy_region){.destination = to, .source = from, .width_bytes = 100, .height = 1,
                                 .depth = 1, .kind = CTXRT_COPY_ANY};
    memset(to, 1, sizeof to);
    cx_assert_ok(ctxrt_copy_3d(&bad[0]));
    ck_assert_int_eq(memcmp(to, from, 100), 0);
    assert_nothing_current();
}
END_TEST

/* ---- peers ---- */

START_TEST(peer_copies_name_their_devices)
{
    unsigned char pattern[1000], seen[1000] = {0};
    make_pattern(pattern, sizeof pattern, 3);
    ctxrt_memory *first = allocate_at(GPU_0, 1000), *second = allocate_at(GPU_1, 1000);
    ctxrt_memory *cpu = allocate_at(CPU, 1000);
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_copy(bytes_of(first), pattern, 1000, CTXRT_COPY_ANY));
    cx_assert_ok(ctxrt_copy_peer(bytes_of(second), CTXRT_CUDA(1), bytes_of(first), CTXRT_CUDA(0),
                                 1000, NULL));
    cx_assert_ok(ctxrt_copy_peer(bytes_of(cpu), CTXRT_CPU(0), bytes_of(second), CTXRT_CUDA(1), 1000,
                                 NULL));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    ck_assert_int_eq(memcmp(bytes_of(cpu), pattern, 1000), 0);
    cx_assert_error(ctxrt_copy_peer(bytes_of(second), CTXRT_CUDA(0), bytes_of(first), CTXRT_CUDA(1),
                                    1000, NULL), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(
        ctxrt_copy_peer(bytes_of(second), CTXRT_CUDA(1), seen, CTXRT_CPU(0), 1000, NULL),
        CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_copy_peer(bytes_of(second), CTXRT_CUDA(9), bytes_of(first), CTXRT_CUDA(0),
                                    1000, NULL), CTXRT_ERROR_INVALID_DEVICE);
    cx_assert_error(
        ctxrt_copy_peer(NULL, CTXRT_CUDA(1), bytes_of(first), CTXRT_CUDA(0), 1000, NULL),
        CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_copy_peer(bytes_of(second), CTXRT_CUDA(1), bytes_of(first), CTXRT_CUDA(0),
                                    SIZE_MAX, NULL), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_copy_peer(bytes_of(second), CTXRT_CUDA(1), NULL, CTXRT_CUDA(0), 1000,
                                    NULL), CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_copy_peer(bytes_of(second), CTXRT_CUDA(2), bytes_of(first), CTXRT_CUDA(0),
                                    1000, NULL), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_copy_peer(bytes_of(second), CTXRT_CUDA(1), bytes_of(first), CTXRT_CUDA(2),
                                    1000, NULL), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_copy_peer(bytes_of(second), CTXRT_CUDA(1), bytes_of(first), CTXRT_CUDA(0),
                                 1000, NULL));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(3)));
    cx_assert_error(ctxrt_copy_peer(bytes_of(second), CTXRT_CUDA(1), bytes_of(first), CTXRT_CUDA(0),
                                    1000, NULL), CTXRT_ERROR_WRONG_CONTEXT);
    assert_current(CTXRT_CUDA(3));
    cx_assert_ok(ctxrt_memory_release(first));
    cx_assert_ok(ctxrt_memory_release(second));
    cx_assert_ok(ctxrt_memory_release(cpu));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(pinned_memory_that_a_peer_copy_reads_is_not_given_out_before_it_is_done)
{
    gate barrier;
    unsigned char seen[1000], pattern[1000];
    make_pattern(pattern, sizeof pattern, 5);
    ctxrt_memory *gpu = allocate_at(GPU_1, 1000), *pinned = allocate_at(PINNED, 1000);
    const void *before = bytes_of(pinned);
    memcpy(bytes_of(pinned), pattern, 1000);
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    gate_close(&barrier, stream);
    cx_assert_ok(ctxrt_copy_peer(bytes_of(gpu), CTXRT_CUDA(1), bytes_of(pinned), CTXRT_CUDA(0),
                                 1000, stream));
    cx_assert_ok(ctxrt_memory_release(pinned));
    pinned = allocate_at(PINNED, 1000);
    ck_assert_ptr_ne(bytes_of(pinned), before);
    gate_open(&barrier);
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_device_synchronize());
    cx_assert_ok(ctxrt_copy(seen, bytes_of(gpu), 1000, CTXRT_COPY_ANY));
    ck_assert_int_eq(memcmp(seen, pattern, 1000), 0);
    cx_assert_ok(ctxrt_memory_release(gpu));
    cx_assert_ok(ctxrt_memory_release(pinned));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- waiting ---- */

/* Where the driver does its work only when somebody waits for it. */
static void start_lazily(void)
{
    setenv("CTXRT_EMU_SCHEDULE", "lazy", 1);
    cx_fixture_start();
    cx_fixture_needs_emulated("a schedule");
}

/* Pinned memory: a copy to or from plain memory is done when the driver returns. */
START_TEST(a_copy_that_is_not_asynchronous_is_done_when_it_returns)
{
    enum { SIDE = 64 };
    unsigned char pattern[SIDE * SIDE];
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    ctxrt_memory *pinned = allocate_at(PINNED, SIDE * SIDE), *gpu = allocate_at(GPU_0, SIDE * SIDE);
    ctxrt_copy_region region = {.destination = bytes_of(pinned),
                                .destination_pitch_bytes = SIDE,
                                .destination_slice_height = SIDE,
                                .source = bytes_of(gpu),
                                .source_pitch_bytes = SIDE,
                                .source_slice_height = SIDE,
                                .width_bytes = SIDE,
                                .height = SIDE,
                                .depth = 1};
    for (int i = 0; i < 3; i++) {
        make_pattern(pattern, sizeof pattern, (unsigned int)i);
        memcpy(bytes_of(pinned), pattern, sizeof pattern);
        cx_assert_ok(ctxrt_copy_async(bytes_of(gpu), bytes_of(pinned), sizeof pattern,
                                      CTXRT_COPY_HOST_TO_DEVICE, NULL));
        cx_assert_ok(ctxrt_stream_synchronize(NULL));
        memset(bytes_of(pinned), 0, sizeof pattern);
        cx_assert_ok(i == 0   ? ctxrt_copy(bytes_of(pinned), bytes_of(gpu), sizeof pattern,
                                           CTXRT_COPY_DEVICE_TO_HOST)
                     : i == 1 ? ctxrt_copy_2d(&region)
                              : ctxrt_copy_3d(&region));
        ck_assert_int_eq(memcmp(bytes_of(pinned), pattern, sizeof pattern), 0);
    }
    cx_assert_ok(ctxrt_memory_release(pinned));
    cx_assert_ok(ctxrt_memory_release(gpu));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static Suite *copy_suite(void)
{
    Suite *suite = suite_create("copy");
    TCase *tcase = tcase_create("copy");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, cx_fixture_start, cx_fixture_end);
    tcase_add_test(tcase,
                   copies_between_all_places_arrive_whatever_is_current_and_leave_that_alone);
    tcase_add_test(tcase, bad_arguments_are_refused);
    tcase_add_test(tcase, a_kind_that_contradicts_the_addresses_is_refused);
    tcase_add_test(tcase, copies_and_fills_of_host_memory_need_no_device);
    tcase_add_test(tcase, copies_and_fills_of_pinned_memory_need_no_device);
    tcase_add_test(tcase, other_copies_without_a_device_are_refused);
    tcase_add_test(tcase, words_are_set_at_every_place_and_none_beside_them);
    tcase_add_test(tcase, a_fill_of_words_beyond_a_block_is_refused);
    tcase_add_test(tcase, a_captured_fill_of_words_is_done_by_each_launch);
    tcase_add_test(tcase, async_copies_and_fills_wait_for_the_work_before_them_and_not_the_caller);
    tcase_add_test(tcase, fills_of_plain_host_memory_come_behind_the_work_of_the_stream);
    tcase_add_test(tcase, a_copy_of_a_destroyed_stream_is_refused);
    tcase_add_test(tcase, regions_with_odd_pitches_arrive_between_all_places);
    tcase_add_test(tcase, regions_of_few_rows_and_slices_arrive_in_host_memory);
    tcase_add_test(tcase, bad_regions_are_refused_and_empty_ones_do_nothing);
    tcase_add_test(tcase, peer_copies_name_their_devices);
    tcase_add_test(tcase, pinned_memory_that_a_peer_copy_reads_is_not_given_out_before_it_is_done);
    tcase_add_test(tcase, a_contradiction_is_told_with_what_is_known_of_the_address);
    suite_add_tcase(suite, tcase);

    TCase *waiting = tcase_create("waiting");
    tcase_add_checked_fixture(waiting, start_lazily, cx_fixture_end);
    tcase_add_test(waiting, a_copy_that_is_not_asynchronous_is_done_when_it_returns);
    suite_add_tcase(suite, waiting);
    return suite;
}

CX_TESTS(copy_suite);
