/*
 * Copies between devices of two drivers, the CPU's and a libcuda (for which the stand-in stands),
 * and between two GPUs of that libcuda with and without peer access: each call that copies, from
 * each place to each, whichever is current.
 */
#include "fixture.h"
#include "gate.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW = 512, ROWS = 96, SLICES = 8, BYTES = ROW * ROWS * SLICES, PLACES = 4, LARGE = 9 << 20 };

static const ctxrt_device devices[PLACES] = {
    {CTXRT_DEVICE_CPU, 0}, {CTXRT_DEVICE_CUDA, 0}, {CTXRT_DEVICE_CUDA, 1}, {CTXRT_DEVICE_CUDA, 2}};

static unsigned char pattern[LARGE], seen[LARGE];

static void start(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/lib/shim/cuda-13/.libs/libcuda.so.1", getenv("top_builddir"));
    setenv("CTXRT_LIBCUDA", path, 1);
    setenv("CTXRT_EMU_DEVICES", "3", 1);
    cx_assert_ok(ctxrt_init(NULL));
}

static ctxrt_memory *alloc_at(int place, size_t size_bytes)
{
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_device_push(devices[place]));
    cx_assert_ok(ctxrt_memory_alloc(size_bytes, &memory));
    cx_assert_ok(ctxrt_stack_pop());
    return memory;
}

static void *at(ctxrt_memory *memory)
{
    return ctxrt_memory_pointer(memory);
}

/* ---- each call that copies ---- */

static ctxrt_status plain(void *to, int to_place, const void *from, int from_place)
{
    (void)to_place, (void)from_place;
    return ctxrt_copy(to, from, BYTES, CTXRT_COPY_DEVICE_TO_DEVICE);
}

static ctxrt_status in_order(void *to, int to_place, const void *from, int from_place)
{
    (void)to_place, (void)from_place;
    ctxrt_status status = ctxrt_copy_async(to, from, BYTES, CTXRT_COPY_ANY, NULL);
    return status == CTXRT_SUCCESS ? ctxrt_stream_synchronize(NULL) : status;
}

static ctxrt_copy_region region_of(void *to, const void *from, size_t slices)
{
    return (ctxrt_copy_region){.destination = to,
                               .destination_pitch_bytes = ROW,
                               .destination_slice_height = ROWS * SLICES / slices,
                               .source = from,
                               .source_pitch_bytes = ROW,
                               .source_slice_height = ROWS * SLICES / slices,
                               .width_bytes = ROW,
                               .height = ROWS * SLICES / slices,
                               .depth = slices,
                               .kind = CTXRT_COPY_ANY};
}

static ctxrt_status rows(void *to, int to_place, const void *from, int from_place)
{
    (void)to_place, (void)from_place;
    const ctxrt_copy_region region = region_of(to, from, 1);
    return ctxrt_copy_2d(&region);
}

static ctxrt_status rows_in_order(void *to, int to_place, const void *from, int from_place)
{
    (void)to_place, (void)from_place;
    const ctxrt_copy_region region = region_of(to, from, 1);
    ctxrt_status status = ctxrt_copy_2d_async(&region, NULL);
    return status == CTXRT_SUCCESS ? ctxrt_stream_synchronize(NULL) : status;
}

static ctxrt_status slices(void *to, int to_place, const void *from, int from_place)
{
    (void)to_place, (void)from_place;
    const ctxrt_copy_region region = region_of(to, from, SLICES);
    return ctxrt_copy_3d(&region);
}

static ctxrt_status slices_in_order(void *to, int to_place, const void *from, int from_place)
{
    (void)to_place, (void)from_place;
    const ctxrt_copy_region region = region_of(to, from, SLICES);
    ctxrt_status status = ctxrt_copy_3d_async(&region, NULL);
    return status == CTXRT_SUCCESS ? ctxrt_stream_synchronize(NULL) : status;
}

/* The stream must be of one of the two devices. */
static ctxrt_status named(void *to, int to_place, const void *from, int from_place)
{
    ctxrt_status status = ctxrt_device_push(devices[from_place]);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_copy_peer(to, devices[to_place], from, devices[from_place], BYTES, NULL);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_stream_synchronize(NULL);
    ctxrt_status popped = ctxrt_stack_pop();
    return status != CTXRT_SUCCESS ? status : popped;
}

typedef ctxrt_status (*copy_call)(void *to, int to_place, const void *from, int from_place);
static const copy_call calls[] = {plain,  in_order,        rows, rows_in_order,
                                  slices, slices_in_order, named};
enum { CALLS = sizeof calls / sizeof calls[0] };

static void copy_and_compare(int call, int to, int from, ctxrt_memory *const *memory)
{
    ctxrt_memory *destination = to == from ? memory[PLACES + to] : memory[to];
    memset(pattern, 1 + call * 17 + to * 5 + from, BYTES);
    pattern[0] = pattern[BYTES - 1] = 0xee;
    cx_assert_ok(ctxrt_fill(at(destination), 0, BYTES));
    cx_assert_ok(ctxrt_copy(at(memory[from]), pattern, BYTES, CTXRT_COPY_HOST_TO_DEVICE));
    cx_assert_ok(calls[call](at(destination), to, at(memory[from]), from));
    memset(seen, 0, BYTES);
    cx_assert_ok(ctxrt_copy(seen, at(destination), BYTES, CTXRT_COPY_DEVICE_TO_HOST));
    ck_assert_msg(memcmp(seen, pattern, BYTES) == 0, "call %d, place %d to place %d", call, from,
                  to);
}

static void copy_between_all(void)
{
    ctxrt_memory *memory[2 * PLACES];
    ctxrt_device device;
    for (int place = 0; place < 2 * PLACES; place++)
        memory[place] = alloc_at(place % PLACES, BYTES);
    for (int current = 0; current < PLACES; current++) {
        cx_assert_ok(ctxrt_device_push(devices[current]));
        for (int call = 0; call < CALLS; call++)
            for (int way = 0; way < PLACES * PLACES; way++)
                copy_and_compare(call, way / PLACES, way % PLACES, memory);
        cx_assert_ok(ctxrt_device_get(&device));
        ck_assert_int_eq(device.type, devices[current].type);
        ck_assert_int_eq(device.index, devices[current].index);
        cx_assert_ok(ctxrt_stack_pop());
    }
    for (int place = 0; place < 2 * PLACES; place++)
        cx_assert_ok(ctxrt_memory_release(memory[place]));
}

START_TEST(every_copy_arrives_from_each_device_at_each_without_peer_access)
{
    copy_between_all();
}
END_TEST

START_TEST(every_copy_arrives_from_each_device_at_each_with_peer_access)
{
    int can;
    for (int one = 1; one < PLACES; one++) {
        cx_assert_ok(ctxrt_device_push(devices[one]));
        for (int other = 1; other < PLACES; other++) {
            cx_assert_ok(ctxrt_device_can_access_peer(devices[one], devices[other], &can));
            if (can)
                cx_assert_ok(ctxrt_device_enable_peer(devices[other]));
        }
        cx_assert_ok(ctxrt_stack_pop());
    }
    copy_between_all();
}
END_TEST

/* Longer than any chunk that a driver stages through. */
START_TEST(long_copies_arrive_whole)
{
    static const int ways[][2] = {{0, 1}, {1, 0}, {1, 2}};
    for (size_t i = 0; i < LARGE; i++)
        pattern[i] = (unsigned char)(i * 31 + i / 251 + i / 65537);
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        ctxrt_memory *from = alloc_at(ways[i][0], LARGE), *to = alloc_at(ways[i][1], LARGE);
        cx_assert_ok(ctxrt_copy(at(from), pattern, LARGE, CTXRT_COPY_ANY));
        cx_assert_ok(ctxrt_copy_async(at(to), at(from), LARGE, CTXRT_COPY_DEVICE_TO_DEVICE, NULL));
        cx_assert_ok(ctxrt_stream_synchronize(NULL));
        memset(seen, 0, LARGE);
        cx_assert_ok(ctxrt_copy(seen, at(to), LARGE, CTXRT_COPY_ANY));
        ck_assert_int_eq(memcmp(seen, pattern, LARGE), 0);
        cx_assert_ok(ctxrt_memory_release(from));
        cx_assert_ok(ctxrt_memory_release(to));
    }
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* A copy between two GPUs of one driver waits in its stream for what is before it, and the caller
 * does not. */
START_TEST(copies_between_gpus_keep_their_place_in_the_stream_and_the_caller_goes_on)
{
    gate held;
    ctxrt_stream *stream;
    ctxrt_memory *from = alloc_at(1, 64), *to = alloc_at(2, 64);
    const ctxrt_copy_region region = {at(to), 8, 8, at(from), 8,
                                      8,      8, 8, 1,        CTXRT_COPY_DEVICE_TO_DEVICE};
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &stream));
    cx_assert_ok(ctxrt_fill(at(from), 1, 64));
    for (int call = 0; call < 3; call++) {
        cx_assert_ok(ctxrt_fill(at(to), 0, 64));
        gate_close(&held, stream);
        cx_assert_ok(ctxrt_fill_async(at(from), call + 2, 64, stream));
        cx_assert_ok(call == 0   ? ctxrt_copy_async(at(to), at(from), 64, CTXRT_COPY_ANY, stream)
                     : call == 1 ? ctxrt_copy_2d_async(&region, stream)
                                 : ctxrt_copy_peer(at(to), CTXRT_CUDA(1), at(from), CTXRT_CUDA(0),
                                                   64, stream));
        ck_assert_int_eq(ctxrt_stream_query(stream), CTXRT_ERROR_NOT_READY);
        gate_open(&held);
        cx_assert_ok(ctxrt_stream_synchronize(stream));
        cx_assert_ok(ctxrt_copy(seen, at(to), 64, CTXRT_COPY_ANY));
        ck_assert_int_eq(seen[0], call + 2);
        ck_assert_int_eq(seen[63], call + 2);
    }
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_memory_release(from));
    cx_assert_ok(ctxrt_memory_release(to));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static void write_seven(void *byte)
{
    *(unsigned char *)byte = 7;
}

/* Across drivers too a copy comes behind the work of the stream it is given, of whichever side that
 * is. */
START_TEST(copies_across_drivers_come_behind_the_work_of_the_stream)
{
    ctxrt_memory *cpu = alloc_at(0, 64), *gpu = alloc_at(1, 64);
    for (int place = 0; place < 2; place++) {
        cx_assert_ok(ctxrt_device_set(devices[place]));
        for (int i = 0; i < 20; i++) {
            cx_assert_ok(ctxrt_fill(at(cpu), 1, 64));
            cx_assert_ok(ctxrt_stream_add_host_function(NULL, write_seven, at(cpu)));
            cx_assert_ok(ctxrt_copy_async(at(gpu), at(cpu), 64, CTXRT_COPY_DEVICE_TO_DEVICE, NULL));
            cx_assert_ok(ctxrt_stream_synchronize(NULL));
            cx_assert_ok(ctxrt_copy(seen, at(gpu), 64, CTXRT_COPY_DEVICE_TO_HOST));
            ck_assert_int_eq(seen[0], 7);
            ck_assert_int_eq(seen[1], 1);
        }
        cx_assert_ok(ctxrt_stack_pop());
    }
    cx_assert_ok(ctxrt_memory_release(cpu));
    cx_assert_ok(ctxrt_memory_release(gpu));
}
END_TEST

START_TEST(kinds_that_contradict_the_addresses_are_refused_across_drivers)
{
    unsigned char host[64];
    ctxrt_memory *cpu = alloc_at(0, 64), *gpu = alloc_at(1, 64);
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    cx_assert_error(ctxrt_copy(at(gpu), at(cpu), 64, CTXRT_COPY_DEVICE_TO_HOST),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_copy(at(cpu), at(gpu), 64, CTXRT_COPY_HOST_TO_DEVICE),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_copy(at(gpu), host, 64, CTXRT_COPY_DEVICE_TO_DEVICE),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_copy_peer(at(gpu), CTXRT_CUDA(0), at(cpu), CTXRT_CUDA(2), 64, NULL),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_copy_peer(at(gpu), CTXRT_CUDA(0), at(cpu), CTXRT_CPU(0), 64, NULL),
                    CTXRT_ERROR_WRONG_CONTEXT);
    cx_assert_ok(ctxrt_memory_release(cpu));
    cx_assert_ok(ctxrt_memory_release(gpu));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static Suite *copy_drivers_suite(void)
{
    Suite *suite = suite_create("copy across drivers");
    TCase *tcase = tcase_create("copy across drivers");
    tcase_add_checked_fixture(tcase, start, cx_fixture_end);
    tcase_add_test(tcase, every_copy_arrives_from_each_device_at_each_without_peer_access);
    tcase_add_test(tcase, every_copy_arrives_from_each_device_at_each_with_peer_access);
    tcase_add_test(tcase, long_copies_arrive_whole);
    tcase_add_test(tcase,
                   copies_between_gpus_keep_their_place_in_the_stream_and_the_caller_goes_on);
    tcase_add_test(tcase, copies_across_drivers_come_behind_the_work_of_the_stream);
    tcase_add_test(tcase, kinds_that_contradict_the_addresses_are_refused_across_drivers);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(copy_drivers_suite);
