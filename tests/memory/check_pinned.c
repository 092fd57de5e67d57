/* Pinned host memory: what is kept of it, and when the driver is asked. */
#include "device/device.h"
#include "pinned_memory.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

/* ---- keeping ---- */

START_TEST(what_was_freed_is_given_out_again_and_the_driver_is_asked_once)
{
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    void *pointer = allocate(1000, &memory);
    for (int i = 0; i < 10; i++) {
        memset(pointer, i, 1000);
        cx_assert_ok(ctxrt_memory_release(memory));
        ck_assert_ptr_eq(allocate(1000, &memory), pointer);
    }
    ctxrt_allocator_info info = info_of(allocator_here());
    ck_assert_uint_eq(info.misses, 1);
    ck_assert_uint_eq(info.hits, 10);
    ck_assert_uint_eq(info.reserved.current_count, 1);
    ck_assert_uint_eq(info.requested.current_bytes, 1000);
    ck_assert_uint_eq(info.requested.peak_bytes, 1000);
    ck_assert_uint_eq(info.requested.total_count, 11);
    ck_assert_uint_eq(info.allocated.current_bytes, 1024);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(each_context_has_an_allocator_of_its_own_that_stays_the_same)
{
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    (void)allocate(BYTES, &memory);
    ctxrt_allocator *first = allocator_here();
    ck_assert_ptr_eq(allocator_here(), first);
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    ck_assert_ptr_ne(allocator_here(), first);
    ck_assert_uint_eq(reserved_here(), 0);
    ck_assert_int_eq(info_of(first).device.index, 0);
    ck_assert_uint_eq(info_of(first).requested.current_bytes, BYTES);
    ck_assert_uint_eq(info_of(NULL).requested.current_bytes, 0);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_trim_gives_back_what_is_free_altogether)
{
    ctxrt_memory *memory[2];
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    for (int i = 0; i < 2; i++)
        (void)allocate(BYTES, &memory[i]);
    uint64_t reserved = reserved_here();
    cx_assert_ok(ctxrt_memory_release(memory[0]));
    ck_assert_uint_eq(reserved_here(), reserved);
    uint64_t released = trim_here();
    ck_assert_uint_ge(released, BYTES);
    ck_assert_uint_eq(reserved_here(), reserved - released);
    memset(ctxrt_memory_pointer(memory[1]), 7, BYTES);
    cx_assert_ok(ctxrt_memory_release(memory[1]));
    (void)trim_here();
    ck_assert_uint_eq(reserved_here(), 0);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_limit_holds_and_what_was_freed_can_be_asked_for_again)
{
    ctxrt_memory *memory, *none = NULL;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    (void)allocate(BYTES, &memory);
    cx_assert_ok(ctxrt_allocator_set_limit(allocator_here(), BYTES + 100));
    cx_assert_error(ctxrt_memory_alloc_pinned(101, &none), CTXRT_ERROR_OUT_OF_MEMORY);
    ck_assert_ptr_null(none);
    ck_assert_uint_eq(info_of(allocator_here()).failures, 1);
    cx_assert_ok(ctxrt_memory_release(memory));
    (void)allocate(BYTES + 100, &memory);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(an_address_within_it_is_found_and_one_in_free_memory_is_not)
{
    ctxrt_memory *memory;
    ctxrt_pointer_info info;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    char *pointer = allocate(5000, &memory);
    cx_assert_ok(ctxrt_pointer_query(pointer + 4999, &info));
    ck_assert_int_eq(info.known, 1);
    ck_assert_int_eq(info.kind, CTXRT_MEMORY_PINNED);
    ck_assert_ptr_eq(info.base, pointer);
    ck_assert_uint_eq(info.size_bytes, 5000);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_pointer_query(pointer + 4999, &info));
    ck_assert_int_eq(info.known, 0);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_report_and_a_snapshot_show_it)
{
    ctxrt_memory *memory;
    char *text = NULL;
    size_t size = 0;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    (void)allocate(5000, &memory);
    FILE *file = open_memstream(&text, &size);
    cx_assert_ok(ctxrt_memory_report_write(file));
    cx_assert_ok(ctxrt_allocator_snapshot_write(allocator_here(), file, CTXRT_SNAPSHOT_JSON));
    fclose(file);
    ck_assert_ptr_nonnull(strstr(text, "1 piece of pinned memory of cuda:1, 5000 bytes"));
    ck_assert_ptr_nonnull(strstr(text, "\"kind\": \"pinned\""));
    ck_assert_ptr_nonnull(strstr(text, "\"asked_bytes\": 5000"));
    free(text);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- ends ---- */

START_TEST(a_reset_takes_it_and_what_is_allocated_after_is_another)
{
    ctxrt_memory *before, *after;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    void *pointer = allocate(BYTES, &before);
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    memset(allocate(BYTES, &after), 3, BYTES);
    cx_assert_ok(ctxrt_memory_release(before));
    ck_assert(is_filled(ctxrt_memory_pointer(after), 3, BYTES));
    cx_assert_ok(ctxrt_copy_async(ctxrt_memory_pointer(after), ctxrt_memory_pointer(after), 1,
                                  CTXRT_COPY_ANY, NULL));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    (void)pointer;
    cx_assert_ok(ctxrt_memory_release(after));
    (void)trim_here();
    ck_assert_uint_eq(reserved_here(), 0);
    ck_assert_uint_eq(info_of(allocator_here()).requested.current_count, 0);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static void reset_often(int times, ctxrt_memory **live)
{
    for (int i = 0; i < times; i++) {
        ctxrt_memory *before = *live;
        (void)allocate(BYTES, live);
        cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
        cx_assert_ok(ctxrt_memory_release(before));
    }
}

/* Under sanitizers mallinfo2 counts nothing. */
START_TEST(what_a_reset_ended_is_forgotten_once_it_is_freed_though_other_memory_is_live)
{
    enum { TIMES = 200, LEAST_BYTES = 1024 };
    ctxrt_memory *live;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    (void)allocate(BYTES, &live);
    reset_often(TIMES / 10, &live);
    size_t before = mallinfo2().uordblks;
    reset_often(TIMES, &live);
    ck_assert_uint_lt(mallinfo2().uordblks, before + TIMES * LEAST_BYTES);
    cx_assert_ok(ctxrt_memory_release(live));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_context_that_has_some_cannot_be_destroyed_and_then_takes_what_is_kept)
{
    ctxrt_context *context;
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(0), 0, &context));
    cx_assert_ok(ctxrt_stack_push(context));
    (void)allocate(BYTES, &memory);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_error(ctxrt_context_destroy(context), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_context_destroy(context));
}
END_TEST

/* ---- refusals ---- */

static void start_with_fault(const char *fault)
{
    ck_assert_int_eq(setenv("CTXRT_EMU_FAULT", fault, 1), 0);
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
}

static void end(void)
{
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}

START_TEST(where_there_is_no_more_what_is_free_goes_back_and_the_driver_is_asked_again)
{
    ctxrt_memory *memory;
    cx_fixture_needs_emulated("faults");
    start_with_fault("cuMemHostAlloc@2:OUT_OF_MEMORY");
    (void)allocate(BYTES, &memory);
    cx_assert_ok(ctxrt_memory_release(memory));
    memset(allocate(4 * BYTES, &memory), 1, 4 * BYTES);
    ctxrt_allocator_info info = info_of(allocator_here());
    ck_assert_uint_eq(info.retries, 1);
    ck_assert_uint_eq(info.reserved.current_count, 1);
    cx_assert_ok(ctxrt_memory_release(memory));
    end();
}
END_TEST

/* An eighth of what is held is wanted, and half of that is there. */
START_TEST(where_there_is_no_large_segment_a_smaller_one_is_asked_for)
{
    ctxrt_memory *large, *small;
    cx_fixture_needs_emulated("faults");
    start_with_fault("cuMemHostAlloc@2:OUT_OF_MEMORY");
    (void)allocate(64 * MIB, &large);
    (void)allocate(1000, &small);
    ctxrt_allocator_info info = info_of(allocator_here());
    ck_assert_uint_eq(info.retries, 0);
    ck_assert_uint_eq(info.reserved.current_bytes, 68 * MIB);
    cx_assert_ok(ctxrt_memory_release(large));
    cx_assert_ok(ctxrt_memory_release(small));
    end();
}
END_TEST

static cxu_result push_nothing(CUcontext context)
{
    (void)context;
    return CXU_UNKNOWN;
}

START_TEST(where_the_context_cannot_be_current_a_trim_unpins_nothing)
{
    ctxrt_memory *memory;
    uint64_t released = 1;
    cx_fixture_needs_emulated("a table that can be replaced");
    cx_driver_table *table = &cx_drivers[0].table, below = *table;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    (void)allocate(BYTES, &memory);
    cx_assert_ok(ctxrt_memory_release(memory));
    ctxrt_allocator *allocator = allocator_here();
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    table->ctx_push = push_nothing;
    cx_assert_ok(ctxrt_allocator_trim(allocator, &released));
    table->ctx_push = below.ctx_push;
    ck_assert_uint_eq(released, 0);
    ck_assert_uint_eq(info_of(allocator).reserved.current_bytes, BYTES);
    cx_assert_ok(ctxrt_allocator_trim(allocator, &released));
    ck_assert_uint_eq(released, BYTES);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_refusal_says_what_is_held_and_changes_nothing)
{
    ctxrt_memory *memory, *none = NULL;
    cx_fixture_needs_emulated("faults");
    start_with_fault("cuMemHostAlloc@2+:OUT_OF_MEMORY");
    (void)allocate(BYTES, &memory);
    cx_assert_error(ctxrt_memory_alloc_pinned(4 * BYTES, &none), CTXRT_ERROR_OUT_OF_MEMORY);
    ck_assert_ptr_null(none);
    const char *message = ctxrt_last_error()->message;
    ck_assert_msg(strstr(message, "12582912 bytes of pinned memory") != NULL, "%s", message);
    ck_assert_msg(strstr(message, "holds 3145728, of which 3145728 are in use in 1 piece,") != NULL,
                  "%s", message);
    ck_assert_str_eq(ctxrt_last_error()->driver_call, "cuMemHostAlloc");
    ck_assert_uint_eq(info_of(allocator_here()).out_of_memory, 1);
    cx_assert_ok(ctxrt_memory_release(memory));
    ck_assert_uint_eq(reserved_here(), BYTES);
    end();
}
END_TEST

START_TEST(a_request_that_would_be_refused_waits_for_the_copies_of_what_was_freed)
{
    ctxrt_memory *memory, *on_device;
    cx_fixture_needs_emulated("faults, and work that runs only when it is waited for");
    ck_assert_int_eq(setenv("CTXRT_EMU_SCHEDULE", "lazy", 1), 0);
    start_with_fault("cuMemHostAlloc@2+:OUT_OF_MEMORY");
    cx_assert_ok(ctxrt_memory_alloc(BYTES, &on_device));
    char *pointer = allocate(BYTES, &memory);
    memset(pointer, 5, BYTES);
    copy_to_device(pointer, ctxrt_memory_pointer(on_device), NULL);
    cx_assert_ok(ctxrt_memory_release(memory));
    ck_assert_ptr_eq(allocate(BYTES, &memory), pointer);
    memset(pointer, 6, BYTES);
    assert_landed(on_device, 5);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_memory_release(on_device));
    end();
}
END_TEST

/* ---- beside a reset ---- */

static cxu_result make_allocator_and_refuse(CUdevice device)
{
    (void)device, (void)allocator_here();
    return CXU_UNKNOWN;
}

START_TEST(an_allocator_that_was_made_during_a_refused_reset_serves_memory_that_is_live)
{
    ctxrt_memory *memory;
    cx_driver_table *table = &cx_drivers[0].table, below = *table;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    table->primary_reset = make_allocator_and_refuse;
    cx_assert_error(ctxrt_device_reset(CTXRT_CUDA(0)), CTXRT_ERROR_DRIVER);
    table->primary_reset = below.primary_reset;
    void *pointer = allocate(BYTES, &memory);
    cx_assert_ok(ctxrt_fill(pointer, 3, BYTES));
    ck_assert(is_filled(pointer, 3, BYTES));
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static Suite *pinned_suite(void)
{
    Suite *suite = suite_create("pinned");
    TCase *tcase = tcase_create("pinned");
    tcase_add_checked_fixture(tcase, cx_fixture_start, cx_fixture_end);
    tcase_add_test(tcase, what_was_freed_is_given_out_again_and_the_driver_is_asked_once);
    tcase_add_test(tcase, each_context_has_an_allocator_of_its_own_that_stays_the_same);
    tcase_add_test(tcase, a_trim_gives_back_what_is_free_altogether);
    tcase_add_test(tcase, a_limit_holds_and_what_was_freed_can_be_asked_for_again);
    tcase_add_test(tcase, an_address_within_it_is_found_and_one_in_free_memory_is_not);
    tcase_add_test(tcase, a_report_and_a_snapshot_show_it);
    tcase_add_test(tcase, a_reset_takes_it_and_what_is_allocated_after_is_another);
    tcase_add_test(tcase,
                   what_a_reset_ended_is_forgotten_once_it_is_freed_though_other_memory_is_live);
    tcase_add_test(tcase, a_context_that_has_some_cannot_be_destroyed_and_then_takes_what_is_kept);
    tcase_add_test(tcase,
                   an_allocator_that_was_made_during_a_refused_reset_serves_memory_that_is_live);
    tcase_add_test(tcase, where_the_context_cannot_be_current_a_trim_unpins_nothing);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("not started");
    tcase_add_test(tcase,
                   where_there_is_no_more_what_is_free_goes_back_and_the_driver_is_asked_again);
    tcase_add_test(tcase, where_there_is_no_large_segment_a_smaller_one_is_asked_for);
    tcase_add_test(tcase, a_refusal_says_what_is_held_and_changes_nothing);
    tcase_add_test(tcase, a_request_that_would_be_refused_waits_for_the_copies_of_what_was_freed);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(pinned_suite);
