#include "gpus.h"

/* S1 */
START_TEST(push_makes_the_context_current)
{
    CUcontext a = create_on(0), b = create_on(1);
    EXPECT(SUCCESS, ctx_push, a);
    ck_assert_ptr_eq(current(), a);
    EXPECT(SUCCESS, ctx_pop, NULL);
    ck_assert_ptr_eq(current(), b);
    EXPECT(SUCCESS, ctx_destroy, b);
    EXPECT(SUCCESS, ctx_destroy, a);
}
END_TEST

/* S1 */
START_TEST(pushing_what_is_current_adds_an_entry)
{
    CUcontext a = create_on(0), popped = NULL;
    EXPECT(SUCCESS, ctx_push, a);
    EXPECT(SUCCESS, ctx_pop, &popped);
    ck_assert_ptr_eq(popped, a);
    ck_assert_ptr_eq(current(), a);
    EXPECT(SUCCESS, ctx_destroy, a);
}
END_TEST

/* S2 */
START_TEST(pop_gives_the_handle_back_to_whoever_asks)
{
    CUcontext a = create_on(0), popped = NULL;
    EXPECT(SUCCESS, ctx_push, a);
    EXPECT(SUCCESS, ctx_pop, NULL);
    EXPECT(SUCCESS, ctx_pop, &popped);
    ck_assert_ptr_eq(popped, a);
    EXPECT(SUCCESS, ctx_destroy, a);
}
END_TEST

/* S2 */
START_TEST(pop_of_an_empty_stack_is_invalid_context)
{
    CUcontext popped = (CUcontext)&popped;
    EXPECT(INVALID_CONTEXT, ctx_pop, &popped);
    ck_assert_ptr_eq(popped, &popped);
}
END_TEST

/* S3 */
START_TEST(set_current_replaces_the_top)
{
    CUcontext a = create_on(0), b = create_on(1);
    EXPECT(SUCCESS, ctx_set_current, a);
    ck_assert_ptr_eq(current(), a);
    EXPECT(SUCCESS, ctx_pop, NULL);
    ck_assert_ptr_eq(current(), a);
    EXPECT(SUCCESS, ctx_pop, NULL);
    EXPECT(INVALID_CONTEXT, ctx_pop, NULL);
    EXPECT(SUCCESS, ctx_destroy, a);
    EXPECT(SUCCESS, ctx_destroy, b);
}
END_TEST

/* S3 */
START_TEST(set_current_on_an_empty_stack_pushes)
{
    CUcontext a = create_on(0);
    EXPECT(SUCCESS, ctx_pop, NULL);
    EXPECT(SUCCESS, ctx_set_current, a);
    ck_assert_ptr_eq(current(), a);
    EXPECT(SUCCESS, ctx_destroy, a);
}
END_TEST

/* S3 */
START_TEST(set_current_of_null_pops_one_entry)
{
    CUcontext a = create_on(0), b = create_on(1);
    EXPECT(SUCCESS, ctx_set_current, NULL);
    ck_assert_ptr_eq(current(), a);
    EXPECT(SUCCESS, ctx_set_current, NULL);
    ck_assert_ptr_null(current());
    EXPECT(SUCCESS, ctx_set_current, NULL);
    EXPECT(SUCCESS, ctx_destroy, a);
    EXPECT(SUCCESS, ctx_destroy, b);
}
END_TEST

/* S4 */
START_TEST(with_none_current_get_current_gives_null)
{
    ck_assert_ptr_null(current());
    EXPECT(INVALID_VALUE, ctx_get_current, NULL);
}
END_TEST

static void *use_there(void *argument)
{
    other_thread *other = argument;
    ck_assert_ptr_null(current());
    EXPECT(SUCCESS, ctx_push, other->context);
    step(other);
    ck_assert_ptr_eq(current(), other->context);
    ck_assert_int_eq(use(), CXU_SUCCESS);
    step(other);
    return NULL;
}

/* S5 */
START_TEST(a_context_may_be_current_on_several_threads_at_once)
{
    CUcontext a = create_on(0);
    other_thread others[3];
    for (int i = 0; i < 3; i++)
        start_other(&others[i], use_there, a);
    for (int i = 0; i < 3; i++)
        step(&others[i]);
    ck_assert_ptr_eq(current(), a);
    ck_assert_int_eq(use(), CXU_SUCCESS);
    for (int i = 0; i < 3; i++)
        step(&others[i]);
    for (int i = 0; i < 3; i++)
        join_other(&others[i]);
    EXPECT(SUCCESS, ctx_destroy, a);
}
END_TEST

/* S6 */
START_TEST(null_cannot_be_pushed)
{
    EXPECT(INVALID_VALUE, ctx_push, NULL);
}
END_TEST

/* S6, C4 */
START_TEST(a_destroyed_handle_cannot_become_current)
{
    CUcontext a = create_on(0), b = create_on(0);
    EXPECT(SUCCESS, ctx_destroy, b);
    EXPECT(INVALID_CONTEXT, ctx_push, b);
    EXPECT(INVALID_CONTEXT, ctx_set_current, b);
    ck_assert_ptr_eq(current(), a);
    EXPECT(SUCCESS, ctx_destroy, a);
}
END_TEST

/* C4 */
START_TEST(what_was_never_a_handle_is_invalid_context)
{
    CUcontext a = create_on(0);
    CUcontext strangers[] = {(CUcontext)&a, (CUcontext)((char *)a + 8), (CUcontext)(uintptr_t)1,
                             (CUcontext)UINTPTR_MAX};
    for (size_t i = 0; i < sizeof strangers / sizeof strangers[0]; i++) {
        EXPECT(INVALID_CONTEXT, ctx_push, strangers[i]);
        EXPECT(INVALID_CONTEXT, ctx_set_current, strangers[i]);
        EXPECT(INVALID_CONTEXT, ctx_destroy, strangers[i]);
    }
    ck_assert_ptr_eq(current(), a);
    EXPECT(SUCCESS, ctx_destroy, a);
}
END_TEST

static void *push_deep(void *argument)
{
    CUcontext context = argument;
    for (int i = 0; i < 1000; i++)
        EXPECT(SUCCESS, ctx_push, context);
    return NULL;
}

/* Not a rule: the stack has no depth that programs know of, and goes with its thread. */
START_TEST(a_stack_grows_as_deep_as_it_is_pushed)
{
    CUcontext a = create_on(0), b = create_on(1);
    for (int i = 0; i < 5000; i++)
        EXPECT(SUCCESS, ctx_push, i % 2 == 0 ? a : b);
    for (int i = 4999; i >= 0; i--) {
        CUcontext popped = NULL;
        EXPECT(SUCCESS, ctx_pop, &popped);
        ck_assert_ptr_eq(popped, i % 2 == 0 ? a : b);
    }
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, push_deep, a), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    EXPECT(SUCCESS, ctx_destroy, b);
    EXPECT(SUCCESS, ctx_destroy, a);
}
END_TEST

static pthread_key_t late_key;

static void push_late(void *context)
{
    push_deep(context);
}

static void *set_late(void *context)
{
    push_deep(context);
    ck_assert_int_eq(pthread_setspecific(late_key, context), 0);
    return NULL;
}

START_TEST(a_thread_that_pushes_in_its_last_moments_leaks_nothing)
{
    CUcontext a = create_on(0);
    pthread_t thread;
    ck_assert_int_eq(pthread_key_create(&late_key, push_late), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, set_late, a), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    EXPECT(SUCCESS, ctx_destroy, a);
}
END_TEST

static Suite *stack_suite(void)
{
    Suite *suite = suite_create("stack");
    TCase *tests = tcase_create("stack");
    tcase_add_checked_fixture(tests, start_gpus, expect_nothing_left);
    tcase_add_test(tests, push_makes_the_context_current);
    tcase_add_test(tests, pushing_what_is_current_adds_an_entry);
    tcase_add_test(tests, pop_gives_the_handle_back_to_whoever_asks);
    tcase_add_test(tests, pop_of_an_empty_stack_is_invalid_context);
    tcase_add_test(tests, set_current_replaces_the_top);
    tcase_add_test(tests, set_current_on_an_empty_stack_pushes);
    tcase_add_test(tests, set_current_of_null_pops_one_entry);
    tcase_add_test(tests, with_none_current_get_current_gives_null);
    tcase_add_test(tests, a_context_may_be_current_on_several_threads_at_once);
    tcase_add_test(tests, null_cannot_be_pushed);
    tcase_add_test(tests, a_destroyed_handle_cannot_become_current);
    tcase_add_test(tests, what_was_never_a_handle_is_invalid_context);
    tcase_add_test(tests, a_stack_grows_as_deep_as_it_is_pushed);
    tcase_add_test(tests, a_thread_that_pushes_in_its_last_moments_leaks_nothing);
    suite_add_tcase(suite, tests);
    return suite;
}

CX_TESTS(stack_suite);
