/* Allocators with the source DIRECT: each request is one call of the driver's, and nothing is
 * kept. */
#include "fixture.h"
#include "gate.h"
#include "test.h"

#include <ctxrt/graph.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
#define GPU (256 * MIB)

static ctxrt_allocator *allocator;

static const ctxrt_device devices[] = {{CTXRT_DEVICE_CUDA, 0}, {CTXRT_DEVICE_CPU, 0}};
enum { DEVICES = sizeof devices / sizeof devices[0] };

static ctxrt_allocator *create(const ctxrt_allocator_debug *debug, uint64_t limit_bytes)
{
    ctxrt_allocator *made;
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    options.source = CTXRT_ALLOCATOR_SOURCE_DIRECT;
    options.debug = debug;
    options.limit_bytes = limit_bytes;
    cx_assert_ok(ctxrt_allocator_create(&options, &made));
    return made;
}

static void open_on(ctxrt_device device, const ctxrt_allocator_debug *debug, uint64_t limit_bytes)
{
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_push(device));
    allocator = create(debug, limit_bytes);
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
}

static void close_all(void)
{
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    cx_fixture_end();
}

static size_t free_bytes(void)
{
    size_t bytes;
    cx_assert_ok(ctxrt_device_memory_info(CTXRT_CUDA(0), &bytes, NULL));
    return bytes;
}

START_TEST(freed_memory_is_the_drivers_again)
{
    ctxrt_memory *memory;
    void *pointer;
    open_on(CTXRT_CUDA(0), NULL, 0);
    size_t before = free_bytes();
    cx_assert_ok(ctxrt_memory_alloc(100 * MIB, &memory));
    cx_assert_ok(ctxrt_alloc(50 * MIB, &pointer));
    ck_assert_uint_eq(before - free_bytes(), 150 * MIB);
    cx_assert_ok(ctxrt_memory_release(memory));
    ck_assert_uint_eq(before - free_bytes(), 50 * MIB);
    cx_assert_ok(ctxrt_free(pointer));
    ck_assert_uint_eq(before, free_bytes());
    close_all();
}
END_TEST

START_TEST(blocks_of_one_size_fill_the_device)
{
    enum { BLOCKS = 51 };
    void *pointers[BLOCKS + 1];
    open_on(CTXRT_CUDA(0), NULL, 0);
    for (int i = 0; i < BLOCKS; i++)
        cx_assert_ok(ctxrt_alloc(5 * MIB, &pointers[i]));
    cx_assert_error(ctxrt_alloc(5 * MIB, &pointers[BLOCKS]), CTXRT_ERROR_OUT_OF_MEMORY);
    for (int i = 0; i < BLOCKS; i++)
        cx_assert_ok(ctxrt_free(pointers[i]));
    close_all();
}
END_TEST

START_TEST(figures_and_a_limit_are_kept)
{
    void *pointer, *beyond;
    ctxrt_allocator_info info = CTXRT_ALLOCATOR_INFO_INIT;
    open_on(devices[_i], NULL, 1000);
    cx_assert_ok(ctxrt_alloc(700, &pointer));
    cx_assert_error(ctxrt_alloc(301, &beyond), CTXRT_ERROR_OUT_OF_MEMORY);
    cx_assert_ok(ctxrt_allocator_describe(NULL, &info));
    ck_assert_uint_eq(info.requested.current_bytes, 700);
    ck_assert_uint_eq(info.reserved.current_bytes, 700);
    ck_assert_uint_eq(info.reserved.current_count, 1);
    ck_assert_uint_eq(info.misses, 1);
    ck_assert_uint_eq(info.failures, 1);
    cx_assert_ok(ctxrt_free(pointer));
    cx_assert_ok(ctxrt_allocator_describe(NULL, &info));
    ck_assert_uint_eq(info.reserved.current_bytes, 0);
    ck_assert_uint_eq(info.reserved.peak_bytes, 700);
    close_all();
}
END_TEST

START_TEST(a_snapshot_and_a_trace_show_each_block)
{
    void *pointer;
    ctxrt_memory *object;
    char *text = NULL;
    size_t size = 0;
    open_on(devices[_i], NULL, 0);
    cx_assert_ok(ctxrt_allocator_trace_start(NULL, 10));
    cx_assert_ok(ctxrt_alloc(1234, &pointer));
    cx_assert_ok(ctxrt_memory_alloc(5678, &object));
    FILE *file = open_memstream(&text, &size);
    cx_assert_ok(ctxrt_allocator_snapshot_write(NULL, file, CTXRT_SNAPSHOT_JSON));
    cx_assert_ok(ctxrt_allocator_trace_write(NULL, file));
    fclose(file);
    ck_assert_msg(strstr(text, "\"direct\"") != NULL, "%s", text);
    ck_assert_msg(strstr(text, "\"asked_bytes\": 1234") != NULL, "%s", text);
    ck_assert_msg(strstr(text, "\"asked_bytes\": 5678") != NULL, "%s", text);
    ck_assert_msg(strstr(text, "a,0,1234") != NULL, "%s", text);
    free(text);
    cx_assert_ok(ctxrt_memory_release(object));
    cx_assert_ok(ctxrt_free(pointer));
    close_all();
}
END_TEST

START_TEST(debug_mode_sees_an_overrun)
{
    ctxrt_allocator_debug debug = CTXRT_ALLOCATOR_DEBUG_INIT;
    ctxrt_allocator_info info = CTXRT_ALLOCATOR_INFO_INIT;
    void *pointer;
    debug.flags = CTXRT_DEBUG_CANARY | CTXRT_DEBUG_POISON;
    debug.quarantine_bytes = 1 << 20;
    open_on(devices[_i], &debug, 0);
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_OFF));
    cx_assert_ok(ctxrt_alloc(64, &pointer));
    cx_assert_ok(ctxrt_fill_async((char *)pointer + 64, 1, 1, NULL));
    cx_assert_error(ctxrt_allocator_check(NULL), CTXRT_ERROR_CORRUPTED);
    cx_assert_ok(ctxrt_allocator_describe(NULL, &info));
    ck_assert_uint_gt(info.reserved.current_bytes, 64);
    cx_assert_error(ctxrt_free(pointer), CTXRT_ERROR_CORRUPTED);
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    cx_assert_ok(ctxrt_allocator_describe(NULL, &info));
    ck_assert_uint_eq(info.reserved.current_bytes, 0);
    close_all();
}
END_TEST

START_TEST(debug_mode_refuses_the_call_that_it_is_asked_to)
{
    ctxrt_allocator_debug debug = CTXRT_ALLOCATOR_DEBUG_INIT;
    void *first, *second;
    debug.fail_call = 2;
    open_on(devices[_i], &debug, 0);
    cx_assert_ok(ctxrt_alloc(64, &first));
    cx_assert_error(ctxrt_alloc(64, &second), CTXRT_ERROR_OUT_OF_MEMORY);
    cx_assert_ok(ctxrt_alloc(64, &second));
    cx_assert_ok(ctxrt_free(first));
    cx_assert_ok(ctxrt_free(second));
    close_all();
}
END_TEST

static atomic_int queued;

static void *free_it(void *pointer)
{
    atomic_store(&queued, 1);
    cx_assert_ok(ctxrt_free(pointer));
    return NULL;
}

START_TEST(a_free_waits_for_work_that_uses_the_memory)
{
    gate held;
    pthread_t thread;
    ctxrt_stream *stream;
    ctxrt_memory *host;
    void *pointer;
    open_on(devices[_i], NULL, 0);
    cx_assert_ok(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &stream));
    cx_assert_ok(ctxrt_memory_alloc_pinned(64, &host));
    cx_assert_ok(ctxrt_alloc(64, &pointer));
    cx_assert_ok(ctxrt_fill(pointer, 9, 64));
    memset(ctxrt_memory_pointer(host), 0, 64);
    gate_close(&held, stream);
    cx_assert_ok(ctxrt_copy_async(ctxrt_memory_pointer(host), pointer, 64, CTXRT_COPY_ANY, stream));
    ck_assert_int_eq(pthread_create(&thread, NULL, free_it, pointer), 0);
    while (atomic_load(&queued) == 0)
        ;
    gate_open(&held);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(((char *)ctxrt_memory_pointer(host))[63], 9);
    cx_assert_ok(ctxrt_memory_release(host));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    close_all();
}
END_TEST

static void *begin_capture(void *stream)
{
    cx_assert_ok(ctxrt_stream_capture_begin(stream, CTXRT_CAPTURE_GLOBAL));
    return NULL;
}

START_TEST(captures_of_this_and_of_another_thread_go_on)
{
    ctxrt_stream *streams[2];
    ctxrt_graph *graph;
    ctxrt_capture_state state;
    void *pointer;
    open_on(devices[_i], NULL, 0);
    for (int i = 0; i < 2; i++)
        cx_assert_ok(ctxrt_stream_create(CTXRT_STREAM_DEFAULT, 0, &streams[i]));
    cx_assert_ok(ctxrt_stream_capture_begin(streams[0], CTXRT_CAPTURE_GLOBAL));
    on_a_thread(begin_capture, streams[1]);
    cx_assert_ok(ctxrt_alloc(64, &pointer));
    cx_assert_ok(ctxrt_free(pointer));
    cx_assert_ok(ctxrt_alloc_direct(64, &pointer));
    cx_assert_ok(ctxrt_free(pointer));
    cx_assert_ok(ctxrt_alloc_pinned(64, &pointer));
    cx_assert_ok(ctxrt_free(pointer));
    for (int i = 0; i < 2; i++) {
        cx_assert_ok(ctxrt_stream_capture_status(streams[i], &state));
        ck_assert_int_eq(state, CTXRT_CAPTURE_ACTIVE);
    }
    cx_assert_ok(ctxrt_stream_capture_end(streams[0], &graph));
    cx_assert_ok(ctxrt_graph_release(graph));
    for (int i = 0; i < 2; i++)
        cx_assert_ok(ctxrt_stream_destroy(streams[i]));
    close_all();
}
END_TEST

START_TEST(a_recording_keeps_what_is_freed_in_it)
{
    void *before, *inside;
    ctxrt_graph *graph;
    open_on(devices[_i], NULL, 0);
    cx_assert_ok(ctxrt_alloc(4096, &before));
    cx_assert_ok(ctxrt_recording_start(NULL));
    cx_assert_ok(ctxrt_alloc(4096, &inside));
    cx_assert_ok(ctxrt_free(inside));
    cx_assert_ok(ctxrt_free(before));
    cx_assert_ok(ctxrt_recording_stop(&graph));
    cx_assert_ok(ctxrt_graph_release(graph));
    ctxrt_allocator_info info = CTXRT_ALLOCATOR_INFO_INIT;
    cx_assert_ok(ctxrt_allocator_describe(NULL, &info));
    ck_assert_uint_eq(info.reserved.current_count, 0);
    close_all();
}
END_TEST

/* A block that the recording keeps serves a smaller request: its size is that of the request. */
START_TEST(a_reused_block_has_the_size_of_its_request)
{
    void *first, *second;
    ctxrt_pointer_info info;
    ctxrt_graph *graph;
    open_on(CTXRT_CUDA(0), NULL, 0);
    cx_assert_ok(ctxrt_recording_start(NULL));
    cx_assert_ok(ctxrt_alloc(12959, &first));
    cx_assert_ok(ctxrt_free(first));
    cx_assert_ok(ctxrt_alloc(8200, &second));
    ck_assert_ptr_eq(first, second);
    cx_assert_ok(ctxrt_pointer_query(second, &info));
    ck_assert_uint_eq(info.size_bytes, 8200);
    ck_assert_int_ne(ctxrt_fill_async(second, 0, 8201, NULL), CTXRT_SUCCESS);
    cx_assert_ok(ctxrt_free(second));
    cx_assert_ok(ctxrt_alloc(12959, &second));
    cx_assert_ok(ctxrt_pointer_query(second, &info));
    ck_assert_uint_eq(info.size_bytes, 12959);
    cx_assert_ok(ctxrt_free(second));
    cx_assert_ok(ctxrt_recording_stop(&graph));
    cx_assert_ok(ctxrt_graph_release(graph));
    close_all();
}
END_TEST

START_TEST(the_environment_makes_default_allocators_direct)
{
    void *pointer;
    ctxrt_allocator_info info = CTXRT_ALLOCATOR_INFO_INIT;
    ck_assert_int_eq(setenv("CTXRT_ALLOCATOR", "direct", 1), 0);
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_push(devices[_i]));
    cx_assert_ok(ctxrt_alloc(64, &pointer));
    cx_assert_ok(ctxrt_free(pointer));
    cx_assert_ok(ctxrt_allocator_describe(NULL, &info));
    ck_assert_uint_eq(info.reserved.current_bytes, 0);
    ck_assert_uint_eq(info.reserved.peak_bytes, 64);
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}
END_TEST

START_TEST(the_direct_allocator_of_a_context_is_beside_that_of_the_frame)
{
    void *pointer;
    ctxrt_allocator *direct, *again;
    ctxrt_allocator_figures figures;
    open_on(devices[_i], NULL, 0);
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_ok(ctxrt_allocator_direct(&direct));
    cx_assert_ok(ctxrt_alloc_direct(64, &pointer));
    cx_assert_ok(ctxrt_allocator_statistics(direct, &figures));
    ck_assert_uint_eq(figures.current_bytes, 64);
    cx_assert_ok(ctxrt_allocator_statistics(NULL, &figures));
    ck_assert_uint_eq(figures.total_count, 0);
    cx_assert_error(ctxrt_allocator_destroy(direct), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_frame_set_allocator(direct));
    cx_assert_ok(ctxrt_allocator_current(&again));
    ck_assert_ptr_eq(again, direct);
    cx_assert_ok(ctxrt_free(pointer));
    close_all();
}
END_TEST

START_TEST(memory_that_a_reset_took_away_is_freed_without_the_driver)
{
    ctxrt_memory *memory;
    void *pointer, *direct, *pinned;
    open_on(CTXRT_CUDA(0), NULL, 0);
    cx_assert_ok(ctxrt_memory_alloc(64, &memory));
    cx_assert_ok(ctxrt_alloc(64, &pointer));
    cx_assert_ok(ctxrt_alloc_direct(64, &direct));
    cx_assert_ok(ctxrt_alloc_pinned(64, &pinned));
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_free(pointer));
    cx_assert_ok(ctxrt_free(direct));
    cx_assert_ok(ctxrt_free(pinned));
    close_all();
}
END_TEST

static Suite *direct_suite(void)
{
    Suite *suite = suite_create("direct");
    TCase *tcase = tcase_create("direct");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, freed_memory_is_the_drivers_again);
    tcase_add_test(tcase, blocks_of_one_size_fill_the_device);
    tcase_add_loop_test(tcase, figures_and_a_limit_are_kept, 0, DEVICES);
    tcase_add_loop_test(tcase, a_snapshot_and_a_trace_show_each_block, 0, DEVICES);
    tcase_add_loop_test(tcase, debug_mode_sees_an_overrun, 0, DEVICES);
    tcase_add_loop_test(tcase, debug_mode_refuses_the_call_that_it_is_asked_to, 0, DEVICES);
    tcase_add_loop_test(tcase, a_free_waits_for_work_that_uses_the_memory, 0, DEVICES);
    tcase_add_loop_test(tcase, captures_of_this_and_of_another_thread_go_on, 0, DEVICES);
    tcase_add_loop_test(tcase, a_recording_keeps_what_is_freed_in_it, 0, DEVICES);
    tcase_add_test(tcase, a_reused_block_has_the_size_of_its_request);
    tcase_add_loop_test(tcase, the_environment_makes_default_allocators_direct, 0, DEVICES);
    tcase_add_loop_test(tcase, the_direct_allocator_of_a_context_is_beside_that_of_the_frame, 0,
                        DEVICES);
    tcase_add_test(tcase, memory_that_a_reset_took_away_is_freed_without_the_driver);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(direct_suite);
