#include "fixture.h"
#include "test.h"

#include <pthread.h>

static ctxrt_device current(void)
{
    ctxrt_device device;
    cx_assert_ok(ctxrt_device_get(&device));
    return device;
}

static void assert_current(int index)
{
    ck_assert_int_eq(current().type, CTXRT_DEVICE_CUDA);
    ck_assert_int_eq(current().index, index);
}

START_TEST(a_thread_that_set_nothing_has_no_device)
{
    ctxrt_device device = CTXRT_CUDA(3);
    cx_assert_error(ctxrt_device_get(&device), CTXRT_ERROR_NO_DEVICE);
    ck_assert_int_eq(device.index, 3);
    ck_assert_uint_eq(ctxrt_stack_depth(), 0);
}
END_TEST

START_TEST(set_pushes_once_and_then_replaces)
{
    for (int i = 0; i < 1000; i++) {
        cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(i % 4)));
        ck_assert_uint_eq(ctxrt_stack_depth(), 1);
        assert_current(i % 4);
    }
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(set_over_a_push_leaves_the_pushed_context_alone)
{
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(2)));
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(3)));
    ck_assert_uint_eq(ctxrt_stack_depth(), 3);
    assert_current(3);
    cx_assert_ok(ctxrt_stack_pop());
    ck_assert_uint_eq(ctxrt_stack_depth(), 1);
    assert_current(0);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_pop_takes_the_level_with_its_override_even_of_another_type)
{
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_device_set(CTXRT_CPU(0)));
    ck_assert_int_eq(current().type, CTXRT_DEVICE_CPU);
    ck_assert_uint_eq(ctxrt_stack_depth(), 2);
    cx_assert_ok(ctxrt_stack_pop());
    ck_assert_uint_eq(ctxrt_stack_depth(), 0);
}
END_TEST

START_TEST(the_same_context_can_be_pushed_twice)
{
    ctxrt_context *context;
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(2), 0, &context));
    ck_assert_uint_eq(ctxrt_stack_depth(), 0);
    cx_assert_ok(ctxrt_stack_push(context));
    cx_assert_ok(ctxrt_stack_push(context));
    ck_assert_uint_eq(ctxrt_stack_depth(), 2);
    cx_assert_ok(ctxrt_stack_pop());
    assert_current(2);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_context_destroy(context));
}
END_TEST

START_TEST(pop_of_an_empty_stack_is_an_error)
{
    cx_assert_error(ctxrt_stack_pop(), CTXRT_ERROR_STACK_EMPTY);
}
END_TEST

START_TEST(a_full_stack_refuses_and_stays_as_it_is)
{
    for (int i = 0; i < CTXRT_STACK_DEPTH_MAX; i++)
        cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(i % 4)));
    cx_assert_error(ctxrt_device_push(CTXRT_CUDA(0)), CTXRT_ERROR_STACK_FULL);
    cx_assert_error(ctxrt_device_set(CTXRT_CUDA(0)), CTXRT_ERROR_STACK_FULL);
    ck_assert_uint_eq(ctxrt_stack_depth(), CTXRT_STACK_DEPTH_MAX);
    assert_current((CTXRT_STACK_DEPTH_MAX - 1) % 4);
    for (int i = 0; i < CTXRT_STACK_DEPTH_MAX; i++)
        cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(an_override_on_a_full_stack_can_still_be_replaced)
{
    for (int i = 0; i < CTXRT_STACK_DEPTH_MAX - 1; i++)
        cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(2)));
    assert_current(2);
    for (int i = 0; i < CTXRT_STACK_DEPTH_MAX - 1; i++)
        cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_context_in_a_frame_is_not_destroyed_and_the_message_names_the_frame)
{
    ctxrt_context *context;
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(1), 0, &context));
    cx_assert_ok(ctxrt_stack_push(context));
    cx_assert_error(ctxrt_context_destroy(context), CTXRT_ERROR_IN_USE);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "frame 0"));
    assert_current(1);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_context_destroy(context));
    cx_assert_error(ctxrt_stack_push(context), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_context_destroy(context), CTXRT_ERROR_INVALID_HANDLE);
}
END_TEST

START_TEST(a_device_in_a_frame_is_not_released)
{
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    cx_assert_error(ctxrt_device_release(CTXRT_CUDA(1)), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_device_release(CTXRT_CUDA(0)));
    assert_current(1);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_device_release(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_device_release(CTXRT_CUDA(1)));
}
END_TEST

START_TEST(peek_tells_context_device_and_origin_from_the_top)
{
    ctxrt_frame_info info;
    ctxrt_context *context, *seen;
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(3), 0, &context));
    cx_assert_ok(CTXRT_DEVICE_SET(CTXRT_CUDA(1)));
    int line = __LINE__ - 1;
    cx_assert_ok(ctxrt_stack_push(context));
    cx_assert_ok(ctxrt_stack_peek(0, &info));
    ck_assert_int_eq(info.device.index, 3);
    ck_assert_ptr_eq(info.context, context);
    ck_assert_int_eq(info.origin, CTXRT_FRAME_PUSH);
    ck_assert_str_eq(info.file, "");
    cx_assert_ok(ctxrt_stack_peek(1, &info));
    ck_assert_int_eq(info.device.index, 1);
    ck_assert_int_eq(info.origin, CTXRT_FRAME_SET);
    ck_assert_str_eq(info.file, __FILE__);
    ck_assert_int_eq(info.line, line);
    cx_assert_error(ctxrt_stack_peek(2, &info), CTXRT_ERROR_STACK_EMPTY);
    cx_assert_ok(ctxrt_context_current(&seen));
    ck_assert_ptr_eq(seen, context);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_context_destroy(context));
}
END_TEST

static void *look_elsewhere(void *argument)
{
    ctxrt_device device;
    (void)argument;
    cx_assert_status(ctxrt_device_get(&device), CTXRT_ERROR_NO_DEVICE);
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(2)));
    ck_assert_uint_eq(ctxrt_stack_depth(), 1);
    cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

START_TEST(each_thread_has_a_stack_of_its_own)
{
    pthread_t thread;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    ck_assert_int_eq(pthread_create(&thread, NULL, look_elsewhere, NULL), 0);
    pthread_join(thread, NULL);
    assert_current(1);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_million_alternating_sets_leave_depth_1_and_every_retain_as_it_was)
{
    ctxrt_context *primaries[4];
    for (int i = 0; i < 4; i++)
        cx_assert_ok(ctxrt_context_retain_primary(CTXRT_CUDA(i), &primaries[i]));
    for (int i = 0; i < 1000000; i++)
        if (ctxrt_device_set(CTXRT_CUDA(i & 3)) != CTXRT_SUCCESS)
            ck_abort_msg("set %d: %s", i, ctxrt_last_error()->message);
    ck_assert_uint_eq(ctxrt_stack_depth(), 1);
    cx_assert_ok(ctxrt_stack_pop());
    for (int i = 0; i < 4; i++) {
        cx_assert_error(ctxrt_device_release(CTXRT_CUDA(i)), CTXRT_ERROR_IN_USE);
        cx_assert_ok(ctxrt_context_release(primaries[i]));
        cx_assert_error(ctxrt_context_release(primaries[i]), CTXRT_ERROR_INVALID_ARGUMENT);
        /* The process held one retain: giving it back makes the primary inactive, no more and no
         * less. */
        cx_assert_ok(ctxrt_device_release(CTXRT_CUDA(i)));
        cx_assert_error(ctxrt_stack_push(primaries[i]), CTXRT_ERROR_INVALID_HANDLE);
    }
}
END_TEST

START_TEST(retaining_a_primary_context_makes_nothing_current)
{
    ctxrt_context *primary;
    ctxrt_device device;
    cx_assert_ok(ctxrt_context_retain_primary(CTXRT_CUDA(0), &primary));
    cx_assert_error(ctxrt_device_get(&device), CTXRT_ERROR_NO_DEVICE);
    cx_assert_ok(ctxrt_stack_push(primary));
    assert_current(0);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_context_release(primary));
}
END_TEST

START_TEST(a_bad_device_changes_nothing_and_says_how_many_there_are)
{
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    const ctxrt_device bad[] = {
        CTXRT_CUDA(4), CTXRT_CUDA(-1), CTXRT_CPU(1), ctxrt_device_of(CTXRT_DEVICE_ASCEND, 0),
        ctxrt_device_of((ctxrt_device_type)77, 0), ctxrt_device_of((ctxrt_device_type)-1, 0),
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cx_assert_error(ctxrt_device_set(bad[i]), CTXRT_ERROR_INVALID_DEVICE);
        cx_assert_error(ctxrt_device_push(bad[i]), CTXRT_ERROR_INVALID_DEVICE);
        ck_assert_uint_eq(ctxrt_stack_depth(), 1);
        assert_current(1);
    }
    cx_assert_error(ctxrt_device_set(CTXRT_CUDA(4)), CTXRT_ERROR_INVALID_DEVICE);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "cuda:4"));
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "4 devices"));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(frames_of_a_reset_device_stay_usable)
{
    uint64_t before, after;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_context_id(NULL, &before));
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_context_id(NULL, &after));
    ck_assert_uint_ne(before, after);
    assert_current(1);
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_detached_frame_goes_on_on_another_thread)
{
    ctxrt_detached_frame *frame;
    ctxrt_context *context;
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(1), 0, &context));
    cx_assert_error(ctxrt_stack_detach(&frame), CTXRT_ERROR_STACK_EMPTY);
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_error(ctxrt_stack_detach(&frame), CTXRT_ERROR_NOT_PERMITTED);
    cx_assert_ok(ctxrt_stack_push(context));
    cx_assert_ok(ctxrt_stack_detach(&frame));
    ck_assert_uint_eq(ctxrt_stack_depth(), 1);
    cx_assert_error(ctxrt_context_destroy(context), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_stack_attach(frame));
    assert_current(1);
    cx_assert_error(ctxrt_stack_attach(frame), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_context_destroy(context));
}
END_TEST

START_TEST(a_detached_frame_keeps_its_context_and_no_release_takes_that_away)
{
    ctxrt_detached_frame *frame;
    ctxrt_frame_info top;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_stack_peek(0, &top));
    cx_assert_ok(ctxrt_stack_detach(&frame));
    cx_assert_error(ctxrt_context_release(top.context), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_device_release(CTXRT_CUDA(1)), CTXRT_ERROR_IN_USE);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "1 detached frame"));
    cx_assert_error(ctxrt_shutdown(), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_stack_attach(frame));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_device_release(CTXRT_CUDA(1)));
}
END_TEST

START_TEST(an_attach_that_fails_leaves_the_frame_with_the_caller)
{
    ctxrt_detached_frame *frame;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_stack_detach(&frame));
    for (int i = 0; i < CTXRT_STACK_DEPTH_MAX; i++)
        cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_error(ctxrt_stack_attach(frame), CTXRT_ERROR_STACK_FULL);
    ck_assert_uint_eq(ctxrt_stack_depth(), CTXRT_STACK_DEPTH_MAX);
    assert_current(0);
    for (int i = 0; i < CTXRT_STACK_DEPTH_MAX; i++)
        cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stack_attach(frame));
    assert_current(1);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static Suite *stack_suite(void)
{
    Suite *suite = suite_create("stack");
    TCase *tcase = tcase_create("stack");
    tcase_add_checked_fixture(tcase, cx_fixture_start, cx_fixture_end);
    tcase_add_test(tcase, a_thread_that_set_nothing_has_no_device);
    tcase_add_test(tcase, set_pushes_once_and_then_replaces);
    tcase_add_test(tcase, set_over_a_push_leaves_the_pushed_context_alone);
    tcase_add_test(tcase, a_pop_takes_the_level_with_its_override_even_of_another_type);
    tcase_add_test(tcase, the_same_context_can_be_pushed_twice);
    tcase_add_test(tcase, pop_of_an_empty_stack_is_an_error);
    tcase_add_test(tcase, a_full_stack_refuses_and_stays_as_it_is);
    tcase_add_test(tcase, an_override_on_a_full_stack_can_still_be_replaced);
    tcase_add_test(tcase, a_context_in_a_frame_is_not_destroyed_and_the_message_names_the_frame);
    tcase_add_test(tcase, a_device_in_a_frame_is_not_released);
    tcase_add_test(tcase, peek_tells_context_device_and_origin_from_the_top);
    tcase_add_test(tcase, each_thread_has_a_stack_of_its_own);
    tcase_add_test(tcase, a_million_alternating_sets_leave_depth_1_and_every_retain_as_it_was);
    tcase_add_test(tcase, retaining_a_primary_context_makes_nothing_current);
    tcase_add_test(tcase, a_bad_device_changes_nothing_and_says_how_many_there_are);
    tcase_add_test(tcase, frames_of_a_reset_device_stay_usable);
    tcase_add_test(tcase, a_detached_frame_goes_on_on_another_thread);
    tcase_add_test(tcase, an_attach_that_fails_leaves_the_frame_with_the_caller);
    tcase_add_test(tcase, a_detached_frame_keeps_its_context_and_no_release_takes_that_away);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(stack_suite);
