/* The debug mode of an allocator: what it notices, what it says, and that it aborts nothing. */
#include "fixture.h"
#include "gate.h"
#include "guarded.h"
#include "log_lines.h"
#include "test.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

static ctxrt_allocator *allocator;
static ctxrt_allocator_debug debug;
static log_lines lines = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void use_allocator(void)
{
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    options.debug = &debug;
    cx_assert_ok(ctxrt_allocator_create(&options, &allocator));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
}

static void set_up(void)
{
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    debug = (ctxrt_allocator_debug)CTXRT_ALLOCATOR_DEBUG_INIT;
    debug.flags = CTXRT_DEBUG_CANARY | CTXRT_DEBUG_POISON;
}

static void tear_down(void)
{
    size_t free_bytes;
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    cx_assert_ok(ctxrt_device_memory_info(CTXRT_CUDA(0), &free_bytes, NULL));
    ck_assert_uint_eq(free_bytes, 256 * MIB);
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}

static void assert_filled(const void *memory, size_t size, unsigned char value)
{
    unsigned char *bytes = malloc(size);
    ck_assert_ptr_nonnull(bytes);
    peek(bytes, memory, size);
    size_t same = 0; /* an assertion writes to a file: not one for each byte */
    while (same < size && bytes[same] == value)
        same++;
    ck_assert_msg(same == size, "byte %zu is %#x, not %#x", same, same < size ? bytes[same] : 0,
                  value);
    free(bytes);
}

/* ---- around a piece ---- */

START_TEST(memory_that_is_used_as_it_should_be_is_freed_without_a_word)
{
    use_allocator();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        ctxrt_memory *memory;
        cx_assert_ok(ctxrt_memory_alloc(sizes[i], &memory));
        ck_assert_uint_eq((uintptr_t)ctxrt_memory_pointer(memory) % 256, 0);
        assert_filled(ctxrt_memory_pointer(memory), sizes[i], 0xA7);
        scribble(ctxrt_memory_pointer(memory), 1, sizes[i]);
        cx_assert_ok(ctxrt_allocator_check(NULL));
        cx_assert_ok(ctxrt_memory_release(memory));
    }
}
END_TEST

START_TEST(a_byte_beyond_a_piece_is_told_by_its_free)
{
    use_allocator();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *memory = alloc(sizes[i]);
        long distance = strays[_i].distance;
        unsigned char *stray = distance < 0 ? memory + distance : memory + sizes[i] + distance;
        scribble_async(stray, 5, 1);
        cx_assert_error(ctxrt_free(memory), CTXRT_ERROR_CORRUPTED);
        assert_says(strays[_i].says);
#ifndef __SANITIZE_ADDRESS__ /* the caller is the C library, more frames away than are looked at */
        assert_says(", allocated in ");
#endif
        cx_assert_error(ctxrt_free(memory), CTXRT_ERROR_INVALID_ARGUMENT);
    }
}
END_TEST

static void *free_elsewhere(void *memory)
{
    return (void *)(intptr_t)ctxrt_memory_release(memory);
}

START_TEST(a_thread_with_nothing_current_is_told_too)
{
    pthread_t thread;
    ctxrt_memory *memory;
    void *status;
    use_allocator();
    cx_assert_ok(ctxrt_memory_alloc(100, &memory));
    scribble((char *)ctxrt_memory_pointer(memory) + 100, 0, 1);
    ck_assert_int_eq(pthread_create(&thread, NULL, free_elsewhere, memory), 0);
    ck_assert_int_eq(pthread_join(thread, &status), 0);
    ck_assert_int_eq((int)(intptr_t)status, CTXRT_ERROR_CORRUPTED);
    cx_assert_ok(ctxrt_memory_alloc(100, &memory));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_memory_release(memory)); /* the fixture sees that nothing is current */
    cx_assert_ok(ctxrt_allocator_check(allocator));
    cx_assert_ok(ctxrt_allocator_trim(allocator, NULL));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
}
END_TEST

START_TEST(work_of_the_stream_that_is_still_to_run_is_waited_for)
{
    use_allocator();
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    unsigned char *memory = alloc(MIB);
    scribble_async(memory, 1, MIB);
    scribble_async(memory + MIB, 7, 1);
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    if (_i == 1)
        cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_error(ctxrt_free(memory), CTXRT_ERROR_CORRUPTED);
    if (_i == 0)
        cx_assert_ok(ctxrt_stream_destroy(stream));
}
END_TEST

START_TEST(a_check_finds_it_while_the_memory_is_live_and_the_log_says_it_once)
{
    use_allocator();
    unsigned char *good = alloc(KIB), *bad = alloc(KIB);
    scribble(bad + KIB, 1, 1);
    cx_assert_ok(ctxrt_log_set(log_lines_take, &lines, CTXRT_LOG_WARNING));
    cx_assert_error(ctxrt_allocator_check(allocator), CTXRT_ERROR_CORRUPTED);
    assert_says("byte 1 behind it is 0x1");
    cx_assert_error(ctxrt_allocator_check(allocator), CTXRT_ERROR_CORRUPTED);
    cx_assert_error(ctxrt_free(bad), CTXRT_ERROR_CORRUPTED);
    ck_assert_int_eq(log_lines_with(&lines, "byte 1 behind it"), 1);
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_WARNING));
    cx_assert_ok(ctxrt_allocator_check(allocator));
    cx_assert_ok(ctxrt_free(good));
}
END_TEST

/* ---- after the free ---- */

START_TEST(memory_in_quarantine_is_not_given_out_again_until_there_is_too_much_of_it)
{
    debug.quarantine_bytes = 4 * (64 * KIB + 512);
    use_allocator();
    unsigned char *seen[5];
    for (int i = 0; i < 5; i++) {
        seen[i] = alloc(64 * KIB);
        for (int j = 0; j < i; j++)
            ck_assert_ptr_ne(seen[i], seen[j]);
        cx_assert_ok(ctxrt_free(seen[i]));
    }
    ck_assert_ptr_eq(alloc(64 * KIB), seen[0]);
    cx_assert_ok(ctxrt_free(seen[0]));
    cx_assert_ok(ctxrt_allocator_check(NULL));
    scribble(seen[3], 1, 1); /* is there still */
    cx_assert_error(ctxrt_allocator_check(NULL), CTXRT_ERROR_CORRUPTED);
}
END_TEST

START_TEST(a_write_after_the_free_is_found_by_a_check_and_when_quarantine_ends)
{
    debug.quarantine_bytes = MIB;
    use_allocator();
    unsigned char *memory = alloc(KIB);
    cx_assert_ok(ctxrt_free(memory));
    cx_assert_ok(ctxrt_allocator_check(NULL));
    scribble(memory + 700, 9, 1);
    cx_assert_ok(ctxrt_log_set(log_lines_take, &lines, CTXRT_LOG_WARNING));
    if (_i == 0)
        cx_assert_error(ctxrt_allocator_check(NULL), CTXRT_ERROR_CORRUPTED);
    else
        cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    ck_assert_int_eq(
        log_lines_with(&lines, "byte 700 of it was written after it was freed: it is 0x9"), 1);
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_WARNING));
}
END_TEST

/* The free is as it should be, and a call that succeeds leaves the last error alone. The second
 * round is after quarantine was emptied. */
START_TEST(what_leaves_quarantine_is_no_error_of_whoever_frees)
{
    void *none;
    unsigned char *memory[3];
    debug.quarantine_bytes = 2 * (KIB + 512);
    use_allocator();
    cx_assert_ok(ctxrt_log_set(log_lines_take, &lines, CTXRT_LOG_ERROR));
    for (int round = 1; round <= 2; round++) {
        for (int i = 0; i < 3; i++)
            memory[i] = alloc(KIB);
        cx_assert_ok(ctxrt_free(memory[0]));
        cx_assert_ok(ctxrt_free(memory[1]));
        scribble(memory[0], round, 1);
        cx_assert_error(ctxrt_alloc(0, &none), CTXRT_ERROR_INVALID_ARGUMENT);
        cx_assert_ok(ctxrt_free(memory[2]));
        ck_assert_int_eq(ctxrt_last_error()->status, CTXRT_ERROR_INVALID_ARGUMENT);
        ck_assert_int_eq(log_lines_with(&lines, "byte 0 of it was written after"), round);
        cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    }
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_WARNING));
}
END_TEST

START_TEST(what_is_written_beyond_a_piece_and_again_after_its_free_is_in_the_log_twice)
{
    debug.quarantine_bytes = MIB;
    use_allocator();
    unsigned char *memory = alloc(KIB);
    scribble(memory + KIB, 1, 1);
    cx_assert_ok(ctxrt_log_set(log_lines_take, &lines, CTXRT_LOG_ERROR));
    cx_assert_error(ctxrt_free(memory), CTXRT_ERROR_CORRUPTED);
    scribble(memory + 3, 2, 1);
    cx_assert_error(ctxrt_allocator_check(NULL), CTXRT_ERROR_CORRUPTED);
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    ck_assert_int_eq(log_lines_with(&lines, "byte 1 behind it is 0x1"), 1);
    ck_assert_int_eq(log_lines_with(&lines, "byte 3 of it was written after it was freed"), 1);
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_WARNING));
}
END_TEST

/* Without poison the same is found again. */
START_TEST(what_is_found_at_the_free_and_in_quarantine_is_in_the_log_once)
{
    debug.flags = CTXRT_DEBUG_CANARY;
    debug.quarantine_bytes = MIB;
    use_allocator();
    unsigned char *memory = alloc(KIB);
    scribble(memory + KIB, 1, 1);
    cx_assert_ok(ctxrt_log_set(log_lines_take, &lines, CTXRT_LOG_ERROR));
    cx_assert_error(ctxrt_free(memory), CTXRT_ERROR_CORRUPTED);
    cx_assert_error(ctxrt_allocator_check(NULL), CTXRT_ERROR_CORRUPTED);
    ck_assert_int_eq(log_lines_with(&lines, "byte 1 behind it is 0x1"), 1);
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_WARNING));
}
END_TEST

/* It is read in parts of 64 KiB. */
START_TEST(all_of_a_large_piece_is_looked_at_after_its_free)
{
    const size_t size = 200 * KIB;
    debug.quarantine_bytes = MIB;
    use_allocator();
    unsigned char *memory = alloc(size);
    cx_assert_ok(ctxrt_free(memory));
    cx_assert_ok(ctxrt_allocator_check(NULL));
    cx_assert_ok(ctxrt_log_set(log_lines_take, &lines, CTXRT_LOG_ERROR));
    scribble(memory + size - 1, 1, 1);
    cx_assert_error(ctxrt_allocator_check(NULL), CTXRT_ERROR_CORRUPTED);
    assert_says("byte 204799 of it");
    scribble(memory + 65536, 1, 1);
    cx_assert_error(ctxrt_allocator_check(NULL), CTXRT_ERROR_CORRUPTED);
    assert_says("byte 65536 of it");
    scribble(memory + 65535, 1, 1);
    cx_assert_error(ctxrt_allocator_check(NULL), CTXRT_ERROR_CORRUPTED);
    assert_says("byte 65535 of it");
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_WARNING));
}
END_TEST

/* Nothing is current then, and nothing is afterwards. */
START_TEST(an_allocator_that_goes_looks_at_what_is_in_quarantine)
{
    debug.quarantine_bytes = MIB;
    use_allocator();
    unsigned char *memory = alloc(KIB);
    cx_assert_ok(ctxrt_free(memory));
    scribble(memory + 7, 9, 1);
    cx_assert_ok(ctxrt_log_set(log_lines_take, &lines, CTXRT_LOG_ERROR));
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    ck_assert_int_eq(log_lines_with(&lines, "byte 7 of it was written after it was freed"), 1);
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_WARNING));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    use_allocator();
}
END_TEST

START_TEST(debug_mode_keeps_the_other_options)
{
    size_t free_bytes;
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    options.debug = &debug;
    options.segment_bytes = 32 * MIB;
    cx_assert_ok(ctxrt_allocator_create(&options, &allocator));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    unsigned char *memory = alloc(KIB);
    cx_assert_ok(ctxrt_device_memory_info(CTXRT_CUDA(0), &free_bytes, NULL));
    ck_assert_uint_eq(free_bytes, 224 * MIB);
    cx_assert_ok(ctxrt_free(memory));
}
END_TEST

START_TEST(quarantine_is_given_up_before_a_request_fails)
{
    debug.quarantine_bytes = 200 * MIB;
    use_allocator();
    cx_assert_ok(ctxrt_free(alloc(150 * MIB)));
    cx_assert_ok(ctxrt_free(alloc(150 * MIB)));
}
END_TEST

/* ---- limits and refusals ---- */

START_TEST(a_context_has_a_limit_for_all_of_its_allocators)
{
    void *memory;
    debug.context_limit_bytes = MIB;
    use_allocator();
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    unsigned char *others = alloc(MIB / 2);
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    unsigned char *own = alloc(MIB / 2);
    cx_assert_error(ctxrt_alloc(1, &memory), CTXRT_ERROR_OUT_OF_MEMORY);
    assert_says("beyond the limit of primary context");
    cx_assert_ok(ctxrt_free(others));
    others = alloc(1);
    cx_assert_ok(ctxrt_free(others));
    cx_assert_ok(ctxrt_free(own));
}
END_TEST

/* The request goes on: what is held is given back, and the driver asked again. */
START_TEST(a_call_for_memory_that_is_refused_is_made_again)
{
    size_t before, after;
    debug.fail_call = 2;
    use_allocator();
    unsigned char *first = alloc(4 * MIB);
    cx_assert_ok(ctxrt_free(first));
    cx_assert_ok(ctxrt_device_memory_info(CTXRT_CUDA(0), &before, NULL));
    unsigned char *second = alloc(16 * MIB);
    cx_assert_ok(ctxrt_device_memory_info(CTXRT_CUDA(0), &after, NULL));
    ck_assert_uint_lt(before - after, 16 * MIB);
    cx_assert_ok(ctxrt_free(second));
}
END_TEST

/* ---- what else there is ---- */

START_TEST(queries_and_snapshots_show_the_users_memory)
{
    ctxrt_pointer_info info;
    char text[4096] = "";
    debug.quarantine_bytes = MIB;
    use_allocator();
    unsigned char *memory = alloc(1000), *gone = alloc(1000);
    cx_assert_ok(ctxrt_pointer_query(memory + 999, &info));
    ck_assert_int_eq(info.known, 1);
    ck_assert_ptr_eq(info.base, memory);
    ck_assert_uint_eq(info.size_bytes, 1000);
    cx_assert_ok(ctxrt_pointer_query(memory - 1, &info));
    ck_assert_int_eq(info.known, 0);
    cx_assert_ok(ctxrt_free(gone));
    cx_assert_ok(ctxrt_pointer_query(gone, &info));
    ck_assert_int_eq(info.known, 0);
    cx_assert_error(ctxrt_fill(gone, 1, 1), CTXRT_ERROR_INVALID_ARGUMENT);
    ck_assert_msg(strstr(ctxrt_last_error()->message, "memory of cuda:0, which was freed") != NULL,
                  "%s", ctxrt_last_error()->message);
    FILE *file = fmemopen(text, sizeof text, "w");
    ck_assert_ptr_nonnull(file);
    cx_assert_ok(ctxrt_allocator_snapshot_write(NULL, file, CTXRT_SNAPSHOT_JSON));
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_ptr_nonnull(strstr(text, "\"state\": \"live\", \"asked_bytes\": 1000"));
    ck_assert_ptr_nonnull(strstr(text, "\"state\": \"quarantined\""));
    cx_assert_ok(ctxrt_free(memory));
}
END_TEST

START_TEST(figures_and_limits_are_of_what_was_asked_for)
{
    void *memory;
    ctxrt_allocator_figures figures;
    debug.quarantine_bytes = MIB;
    use_allocator();
    cx_assert_ok(ctxrt_allocator_set_limit(NULL, 1000));
    cx_assert_ok(ctxrt_free(alloc(1000)));
    unsigned char *kept = alloc(600);
    cx_assert_error(ctxrt_alloc(401, &memory), CTXRT_ERROR_OUT_OF_MEMORY);
    cx_assert_ok(ctxrt_allocator_statistics(NULL, &figures));
    ck_assert_uint_eq(figures.current_bytes, 600);
    ck_assert_uint_eq(figures.peak_bytes, 1000);
    ck_assert_uint_eq(figures.total_count, 2);
    cx_assert_ok(ctxrt_free(kept));
}
END_TEST

/* It is known by its handle: the memory of after the reset may have the same address. */
START_TEST(memory_of_before_a_reset_is_freed_without_a_look)
{
    ctxrt_memory *before, *after;
    debug.quarantine_bytes = MIB;
    use_allocator();
    cx_assert_ok(ctxrt_memory_alloc(KIB, &before));
    unsigned char *gone = alloc(KIB);
    cx_assert_ok(ctxrt_free(gone));
    scribble((char *)ctxrt_memory_pointer(before) + KIB, 1, 1);
    scribble(gone, 1, 1);
    cx_assert_error(ctxrt_allocator_check(NULL), CTXRT_ERROR_CORRUPTED);
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_memory_alloc(KIB, &after));
    cx_assert_ok(ctxrt_allocator_check(NULL));
    cx_assert_ok(ctxrt_memory_release(before));
    cx_assert_ok(ctxrt_allocator_check(NULL));
    scribble((char *)ctxrt_memory_pointer(after) - 1, 1, 1);
    cx_assert_error(ctxrt_memory_release(after), CTXRT_ERROR_CORRUPTED);
}
END_TEST

/* All pieces are looked at: the error is of the first, and of what is freed there is as much. */
START_TEST(a_check_looks_at_every_piece_live_or_freed)
{
    enum { COUNT = 5 };
    unsigned char *live[COUNT], *freed[COUNT];
    debug.quarantine_bytes = MIB;
    use_allocator();
    for (int i = 0; i < COUNT; i++) {
        live[i] = alloc(KIB);
        freed[i] = alloc(KIB);
    }
    for (int i = 0; i < COUNT; i++)
        cx_assert_ok(ctxrt_free(freed[i]));
    cx_assert_ok(ctxrt_allocator_check(NULL));
    for (int i = 0; i < COUNT; i++) {
        scribble(live[i] + KIB, 1, 1);
        scribble(freed[i] + KIB - 1, 2, 1);
    }
    cx_assert_ok(ctxrt_log_set(log_lines_take, &lines, CTXRT_LOG_ERROR));
    cx_assert_error(ctxrt_allocator_check(NULL), CTXRT_ERROR_CORRUPTED);
    assert_says("byte 1023 of it was written after it was freed: it is 0x2");
    ck_assert_int_eq(log_lines_with(&lines, "byte 1 behind it is 0x1"), COUNT);
    ck_assert_int_eq(log_lines_with(&lines, "byte 1023 of it was written after"), COUNT);
    for (int i = 0; i < COUNT; i++)
        cx_assert_error(ctxrt_free(live[i]), CTXRT_ERROR_CORRUPTED);
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    ck_assert_int_eq(log_lines_with(&lines, "byte "), 2 * COUNT);
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_WARNING));
    cx_assert_ok(ctxrt_allocator_check(NULL));
}
END_TEST

START_TEST(a_size_that_has_no_room_for_what_is_around_it_is_refused)
{
    void *memory;
    ctxrt_allocator_figures figures;
    use_allocator();
    cx_assert_error(ctxrt_alloc(SIZE_MAX, &memory), CTXRT_ERROR_OUT_OF_MEMORY);
    cx_assert_error(ctxrt_alloc(SIZE_MAX - 511, &memory), CTXRT_ERROR_OUT_OF_MEMORY);
    cx_assert_ok(ctxrt_allocator_statistics(NULL, &figures));
    ck_assert_uint_eq(figures.current_bytes, 0);
    cx_assert_ok(ctxrt_free(alloc(1)));
}
END_TEST

/* Without poison nothing is filled, and what was freed is not looked at. */
START_TEST(each_flag_is_for_itself)
{
    debug.flags = CTXRT_DEBUG_CANARY;
    use_allocator();
    unsigned char *memory = alloc(KIB);
    scribble(memory, 3, KIB);
    cx_assert_ok(ctxrt_free(memory));
    assert_filled(memory, KIB, 3);
    ck_assert_ptr_eq(alloc(KIB), memory);
    assert_filled(memory, KIB, 3);
    cx_assert_ok(ctxrt_free(memory));
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    debug.flags = CTXRT_DEBUG_POISON;
    use_allocator();
    memory = alloc(KIB);
    assert_filled(memory, KIB, 0xA7);
    scribble(memory + KIB, 3, 1);
    cx_assert_ok(ctxrt_allocator_check(NULL));
    cx_assert_ok(ctxrt_free(memory));
    assert_filled(memory, KIB, 0xDB);
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    debug.flags = 0;
    debug.context_limit_bytes = MIB;
    use_allocator();
    memory = alloc(KIB);
    scribble(memory, 3, KIB);
    cx_assert_ok(ctxrt_free(memory));
    ck_assert_ptr_eq(alloc(KIB), memory);
    assert_filled(memory, KIB, 3);
    cx_assert_ok(ctxrt_free(memory));
}
END_TEST

START_TEST(a_capturing_stream_is_left_alone)
{
    ctxrt_graph *graph;
    use_allocator();
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    unsigned char *before = alloc(KIB);
    cx_assert_ok(ctxrt_stream_capture_begin(stream, CTXRT_CAPTURE_THREAD_LOCAL));
    unsigned char *during = alloc(KIB);
    cx_assert_ok(ctxrt_free(before));
    cx_assert_ok(ctxrt_stream_capture_end(stream, &graph));
    cx_assert_ok(ctxrt_free(during));
    cx_assert_ok(ctxrt_graph_release(graph));
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_stream_destroy(stream));
}
END_TEST

static cxu_result push_nothing(CUcontext context)
{
    (void)context;
    return CXU_UNKNOWN;
}

static void free_where_the_context_cannot_be_current(int times)
{
    for (int i = 0; i < times; i++) {
        void *memory = alloc(KIB);
        cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
        cxu_result (*push)(CUcontext) = cx_drivers[0].table.ctx_push;
        cx_drivers[0].table.ctx_push = push_nothing;
        cx_assert_error(ctxrt_free(memory), CTXRT_ERROR_DRIVER);
        cx_drivers[0].table.ctx_push = push;
        cx_assert_error(ctxrt_free(memory), CTXRT_ERROR_INVALID_ARGUMENT);
        cx_assert_ok(ctxrt_stack_pop());
    }
}

/* Under sanitizers mallinfo2 counts nothing; they look for leaks themselves. */
START_TEST(a_free_that_cannot_look_at_its_memory_loses_nothing)
{
    enum { TIMES = 1000, LEAST_BYTES = 64 };
    cx_fixture_needs_emulated("a table that can be replaced");
    use_allocator();
    free_where_the_context_cannot_be_current(TIMES / 10);
    size_t before = mallinfo2().uordblks;
    free_where_the_context_cannot_be_current(TIMES);
    ck_assert_uint_lt(mallinfo2().uordblks, before + TIMES * LEAST_BYTES);
}
END_TEST

static Suite *guard_suite(void)
{
    Suite *suite = suite_create("guard");
    TCase *tcase = tcase_create("guard");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, memory_that_is_used_as_it_should_be_is_freed_without_a_word);
    tcase_add_loop_test(tcase, a_byte_beyond_a_piece_is_told_by_its_free, 0,
                        sizeof strays / sizeof *strays);
    tcase_add_test(tcase, a_thread_with_nothing_current_is_told_too);
    tcase_add_loop_test(tcase, work_of_the_stream_that_is_still_to_run_is_waited_for, 0, 2);
    tcase_add_test(tcase, a_check_finds_it_while_the_memory_is_live_and_the_log_says_it_once);
    tcase_add_test(tcase,
                   memory_in_quarantine_is_not_given_out_again_until_there_is_too_much_of_it);
    tcase_add_loop_test(tcase, a_write_after_the_free_is_found_by_a_check_and_when_quarantine_ends,
                        0, 2);
    tcase_add_test(tcase, what_leaves_quarantine_is_no_error_of_whoever_frees);
    tcase_add_test(tcase,
                   what_is_written_beyond_a_piece_and_again_after_its_free_is_in_the_log_twice);
    tcase_add_test(tcase, what_is_found_at_the_free_and_in_quarantine_is_in_the_log_once);
    tcase_add_test(tcase, all_of_a_large_piece_is_looked_at_after_its_free);
    tcase_add_test(tcase, an_allocator_that_goes_looks_at_what_is_in_quarantine);
    tcase_add_test(tcase, debug_mode_keeps_the_other_options);
    tcase_add_test(tcase, quarantine_is_given_up_before_a_request_fails);
    tcase_add_test(tcase, a_context_has_a_limit_for_all_of_its_allocators);
    tcase_add_test(tcase, a_call_for_memory_that_is_refused_is_made_again);
    tcase_add_test(tcase, queries_and_snapshots_show_the_users_memory);
    tcase_add_test(tcase, figures_and_limits_are_of_what_was_asked_for);
    tcase_add_test(tcase, memory_of_before_a_reset_is_freed_without_a_look);
    tcase_add_test(tcase, a_check_looks_at_every_piece_live_or_freed);
    tcase_add_test(tcase, a_size_that_has_no_room_for_what_is_around_it_is_refused);
    tcase_add_test(tcase, each_flag_is_for_itself);
    tcase_add_test(tcase, a_capturing_stream_is_left_alone);
    tcase_add_test(tcase, a_free_that_cannot_look_at_its_memory_loses_nothing);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(guard_suite);
