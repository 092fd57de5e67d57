/* The debug mode of allocators by CTXRT_DEBUG_MEMORY, and with drivers of other ways: each test
 * starts its own. */
#include "gate.h"
#include "guarded.h"

#include <stdlib.h>

static void set_environment(const char *value)
{
    ck_assert_int_eq(setenv("CTXRT_DEBUG_MEMORY", value, 1), 0);
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
}

START_TEST(the_environment_turns_it_on_for_every_allocator)
{
    ctxrt_allocator *created;
    set_environment("canary,poison,quarantine=64K");
    cx_assert_ok(ctxrt_allocator_create(NULL, &created));
    for (int i = 0; i < 2; i++) {
        cx_assert_ok(ctxrt_frame_set_allocator(i == 0 ? NULL : created));
        unsigned char *memory = alloc(KIB);
        scribble(memory - 1, 0, 1);
        cx_assert_error(ctxrt_free(memory), CTXRT_ERROR_CORRUPTED);
    }
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_ok(ctxrt_allocator_destroy(created));
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}
END_TEST

START_TEST(the_environment_can_have_memory_filled)
{
    unsigned char first = 0, last = 0;
    set_environment("poison");
    unsigned char *memory = alloc(KIB);
    cx_assert_ok(ctxrt_copy(&first, memory, 1, CTXRT_COPY_DEVICE_TO_HOST));
    cx_assert_ok(ctxrt_copy(&last, memory + KIB - 1, 1, CTXRT_COPY_DEVICE_TO_HOST));
    ck_assert_uint_eq(first, 0xA7);
    ck_assert_uint_eq(last, 0xA7);
    scribble(memory + KIB, 1, 1); /* nothing is around it */
    cx_assert_ok(ctxrt_free(memory));
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}
END_TEST

START_TEST(the_environment_can_limit_a_context)
{
    void *memory;
    set_environment("limit=64K");
    unsigned char *most = alloc(64 * KIB);
    cx_assert_error(ctxrt_alloc(1, &memory), CTXRT_ERROR_OUT_OF_MEMORY);
    assert_says("65536 of 65536 bytes are in use");
    cx_assert_ok(ctxrt_free(most));
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}
END_TEST

START_TEST(the_environment_can_have_a_call_for_memory_refused)
{
    ctxrt_allocator_info info = CTXRT_ALLOCATOR_INFO_INIT;
    set_environment(_i == 1 ? "fail=1" : "fail=2");
    for (int call = 1; call <= 3; call++) {
        cx_assert_ok(ctxrt_free(alloc(call * call * 2 * MIB)));
        cx_assert_ok(ctxrt_allocator_describe(NULL, &info));
        ck_assert_uint_eq(info.retries, call >= _i);
    }
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}
END_TEST

/* Without a size it is 16 MiB; what is put around each piece counts. */
static const struct {
    const char *value;
    size_t size;
    int kept;
} quarantines[] = {{"quarantine", 4 * MIB - 512, 4}, {"quarantine=2M", MIB - 512, 2}};

START_TEST(the_environment_says_how_much_is_in_quarantine)
{
    unsigned char *first, *other;
    set_environment(quarantines[_i].value);
    first = alloc(quarantines[_i].size);
    cx_assert_ok(ctxrt_free(first));
    for (int i = 0; i < quarantines[_i].kept; i++) {
        other = alloc(quarantines[_i].size);
        ck_assert_ptr_ne(other, first);
        cx_assert_ok(ctxrt_free(other));
    }
    other = alloc(quarantines[_i].size);
    ck_assert_ptr_eq(other, first);
    cx_assert_ok(ctxrt_free(other));
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}
END_TEST

START_TEST(an_allocator_with_options_of_its_own_does_not_ask_the_environment)
{
    ctxrt_allocator *allocator;
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    const ctxrt_allocator_debug debug = CTXRT_ALLOCATOR_DEBUG_INIT;
    set_environment("canary");
    options.debug = &debug;
    cx_assert_ok(ctxrt_allocator_create(&options, &allocator));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    cx_assert_error(ctxrt_allocator_check(NULL), CTXRT_ERROR_INVALID_ARGUMENT);
    assert_says("is not in debug mode");
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_ok(ctxrt_allocator_check(NULL));
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}
END_TEST

static const char *const malformed[] = {
    "canaries", "canary=1", "poison=1", "quarantine=", "limit", "limit=4X",
    "fail",     "fail=0",   "fail=two", "canary,limit=", "oops,canary"};

START_TEST(a_word_that_means_nothing_is_an_error_of_start_and_request)
{
    void *memory;
    ck_assert_int_eq(setenv("CTXRT_DEBUG_MEMORY", malformed[_i], 1), 0);
    cx_assert_error(ctxrt_init(NULL), CTXRT_ERROR_INVALID_ARGUMENT);
    assert_says("CTXRT_DEBUG_MEMORY=");
    set_environment("canary");
    ck_assert_int_eq(setenv("CTXRT_DEBUG_MEMORY", malformed[_i], 1), 0);
    cx_assert_error(ctxrt_alloc(1, &memory), CTXRT_ERROR_INVALID_ARGUMENT);
    assert_says("CTXRT_DEBUG_MEMORY=");
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}
END_TEST

START_TEST(bad_options_are_refused)
{
    ctxrt_allocator *allocator;
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    ctxrt_allocator_debug debug = CTXRT_ALLOCATOR_DEBUG_INIT;
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    options.debug = &debug;
    debug.flags = 4;
    cx_assert_error(ctxrt_allocator_create(&options, &allocator), CTXRT_ERROR_INVALID_ARGUMENT);
    debug.flags = CTXRT_DEBUG_CANARY;
    debug.struct_size--;
    cx_assert_error(ctxrt_allocator_create(&options, &allocator), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}
END_TEST

/* Work of a stream that nobody waits for does not run. */
START_TEST(what_runs_only_when_it_is_waited_for_is_seen)
{
    ck_assert_int_eq(setenv("CTXRT_EMU_SCHEDULE", "lazy", 1), 0);
    set_environment("canary");
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    unsigned char *memory = alloc(KIB);
    scribble_async(memory + KIB, 7, 1);
    cx_assert_error(ctxrt_free(memory), CTXRT_ERROR_CORRUPTED);
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}
END_TEST

/* ---- a driver that refuses ---- */

START_TEST(memory_that_cannot_be_filled_is_not_given_out)
{
    void *memory;
    size_t free_bytes;
    ctxrt_allocator_figures figures;
    ck_assert_int_eq(setenv("CTXRT_EMU_FAULT", "cuMemsetD8Async@2:INVALID_VALUE", 1), 0);
    set_environment("canary");
    cx_assert_error(ctxrt_alloc(100, &memory), CTXRT_ERROR_DRIVER);
    cx_assert_ok(ctxrt_alloc(100, &memory));
    cx_assert_ok(ctxrt_free(memory));
    cx_assert_ok(ctxrt_allocator_statistics(NULL, &figures));
    ck_assert_uint_eq(figures.total_count, 1);
    ck_assert_uint_eq(figures.current_count, 0);
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    cx_assert_ok(ctxrt_device_memory_info(CTXRT_CUDA(0), &free_bytes, NULL));
    ck_assert_uint_eq(free_bytes, 256 * MIB);
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}
END_TEST

/* What could not be looked at is not called wrong. */
START_TEST(memory_that_cannot_be_looked_at_is_freed_all_the_same)
{
    void *memory;
    ctxrt_allocator_figures figures;
    ck_assert_int_eq(setenv("CTXRT_EMU_FAULT", "cuMemcpyDtoHAsync:INVALID_VALUE", 1), 0);
    set_environment("canary,poison,quarantine=1M");
    cx_assert_ok(ctxrt_alloc(100, &memory));
    cx_assert_ok(ctxrt_free(memory));
    cx_assert_ok(ctxrt_allocator_check(NULL));
    cx_assert_ok(ctxrt_allocator_statistics(NULL, &figures));
    ck_assert_uint_eq(figures.current_count, 0);
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}
END_TEST

static Suite *environment_suite(void)
{
    Suite *suite = suite_create("guard environment");
    TCase *tcase = tcase_create("environment");
    tcase_add_test(tcase, the_environment_turns_it_on_for_every_allocator);
    tcase_add_test(tcase, the_environment_can_have_memory_filled);
    tcase_add_test(tcase, the_environment_can_limit_a_context);
    tcase_add_loop_test(tcase, the_environment_can_have_a_call_for_memory_refused, 1, 3);
    tcase_add_loop_test(tcase, the_environment_says_how_much_is_in_quarantine, 0,
                        sizeof quarantines / sizeof *quarantines);
    tcase_add_test(tcase, an_allocator_with_options_of_its_own_does_not_ask_the_environment);
    tcase_add_loop_test(tcase, a_word_that_means_nothing_is_an_error_of_start_and_request, 0,
                        sizeof malformed / sizeof *malformed);
    tcase_add_test(tcase, bad_options_are_refused);
    tcase_add_test(tcase, what_runs_only_when_it_is_waited_for_is_seen);
    tcase_add_test(tcase, memory_that_cannot_be_filled_is_not_given_out);
    tcase_add_test(tcase, memory_that_cannot_be_looked_at_is_freed_all_the_same);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(environment_suite);
