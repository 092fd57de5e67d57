#include "gpus.h"

/* C1 */
START_TEST(create_makes_the_context_current_above_what_was)
{
    CUcontext a = create_on(0);
    ck_assert_ptr_eq(current(), a);
    CUcontext b = create_on(1), popped = NULL;
    ck_assert_ptr_ne(a, b);
    ck_assert_ptr_eq(current(), b);
    EXPECT(SUCCESS, ctx_pop, &popped);
    ck_assert_ptr_eq(popped, b);
    ck_assert_ptr_eq(current(), a);
    EXPECT(SUCCESS, ctx_destroy, b);
    EXPECT(SUCCESS, ctx_destroy, a);
}
END_TEST

/* C1 */
START_TEST(create_refuses_flags_that_are_no_combination)
{
    static const unsigned int bad[] = {0x3, 0x5, 0x6, 0x7, 0x100, 0x80000000u};
    CUcontext context = (CUcontext)&context;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        EXPECT(INVALID_VALUE, ctx_create_v2, &context, bad[i], 0);
        EXPECT(INVALID_VALUE, ctx_create_v3, &context, NULL, 0, bad[i], 0);
        EXPECT(INVALID_VALUE, ctx_create_v4, &context, NULL, bad[i], 0);
    }
    EXPECT(INVALID_VALUE, ctx_create_v2, NULL, 0, 0);
    EXPECT(INVALID_DEVICE, ctx_create_v2, &context, 0, GPUS);
    EXPECT(INVALID_DEVICE, ctx_create_v2, &context, 0, -1);
    ck_assert_ptr_eq(context, &context);
    ck_assert_ptr_null(current());
}
END_TEST

/* C1 */
START_TEST(create_takes_every_schedule_with_every_other_flag)
{
    static const unsigned int schedules[] = {CXU_CTX_SCHED_AUTO, CXU_CTX_SCHED_SPIN,
                                             CXU_CTX_SCHED_YIELD, CXU_CTX_SCHED_BLOCKING_SYNC};
    for (size_t i = 0; i < 4; i++) {
        CUcontext context;
        unsigned int flags = schedules[i] | CXU_CTX_MAP_HOST | CXU_CTX_LMEM_RESIZE_TO_MAX, got;
        EXPECT(SUCCESS, ctx_create_v2, &context, flags, 0);
        EXPECT(SUCCESS, ctx_get_flags, &got);
        ck_assert_uint_eq(got, flags);
        EXPECT(SUCCESS, ctx_destroy, context);
    }
}
END_TEST

/* C1 */
START_TEST(every_variant_of_create_creates)
{
    CUcontext context;
    cxu_ctx_create_params none = {0};
    EXPECT(SUCCESS, ctx_create_v3, &context, NULL, 0, 0, 1);
    ck_assert_ptr_eq(current(), context);
    EXPECT(SUCCESS, ctx_destroy, context);
    EXPECT(SUCCESS, ctx_create_v4, &context, NULL, 0, 1);
    EXPECT(SUCCESS, ctx_destroy, context);
    EXPECT(SUCCESS, ctx_create_v4, &context, &none, 0, 1);
    EXPECT(SUCCESS, ctx_destroy, context);
}
END_TEST

/* C1 */
START_TEST(create_refuses_what_the_device_cannot_do)
{
    CUcontext context;
    cxu_exec_affinity affinity = {0};
    cxu_ctx_create_params params = {.affinities = &affinity, .affinity_count = 1};
    EXPECT(UNSUPPORTED_EXEC_AFFINITY, ctx_create_v3, &context, &affinity, 1, 0, 0);
    EXPECT(UNSUPPORTED_EXEC_AFFINITY, ctx_create_v4, &context, &params, 0, 0);
    EXPECT(INVALID_VALUE, ctx_create_v3, &context, NULL, 1, 0, 0);
    EXPECT(INVALID_VALUE, ctx_create_v3, &context, &affinity, -1, 0, 0);
    params = (cxu_ctx_create_params){.cig = &affinity};
    EXPECT(NOT_SUPPORTED, ctx_create_v4, &context, &params, 0, 0);
}
END_TEST

/* C2 */
START_TEST(destroy_pops_the_context_that_is_current_to_the_caller)
{
    CUcontext a = create_on(0), b = create_on(0);
    EXPECT(SUCCESS, ctx_destroy, b);
    ck_assert_ptr_eq(current(), a);
    ck_assert_int_eq(use(), CXU_SUCCESS);
    EXPECT(SUCCESS, ctx_destroy, a);
    ck_assert_ptr_null(current());
}
END_TEST

static void *outlive(void *argument)
{
    other_thread *other = argument;
    CUdeviceptr memory = 77;
    CUcontext popped = NULL;
    EXPECT(SUCCESS, ctx_push, other->context);
    step(other);
    step(other);
    ck_assert_ptr_eq(current(), other->context);
    ck_assert_int_eq(use(), CXU_CONTEXT_IS_DESTROYED);
    EXPECT(CONTEXT_IS_DESTROYED, mem_alloc, &memory, 64);
    ck_assert_uint_eq(memory, 77);
    EXPECT(CONTEXT_IS_DESTROYED, ctx_get_device, &(CUdevice){0});
    EXPECT(SUCCESS, ctx_pop, &popped);
    ck_assert_ptr_eq(popped, other->context);
    ck_assert_ptr_null(current());
    return NULL;
}

/* C2 */
START_TEST(a_context_destroyed_by_another_thread_stays_current_and_unusable)
{
    CUcontext a = create_on(0);
    other_thread others[2];
    for (int i = 0; i < 2; i++) {
        start_other(&others[i], outlive, a);
        step(&others[i]);
    }
    EXPECT(SUCCESS, ctx_destroy, a);
    for (int i = 0; i < 2; i++) {
        step(&others[i]);
        join_other(&others[i]);
    }
}
END_TEST

/* C2, C4 */
START_TEST(an_old_entry_does_not_come_alive_with_its_slot)
{
    CUcontext a = create_on(0);
    other_thread other;
    start_other(&other, outlive, a);
    step(&other);
    EXPECT(SUCCESS, ctx_destroy, a);
    ck_assert_ptr_eq(create_on(0), a);
    step(&other);
    join_other(&other);
    EXPECT(SUCCESS, ctx_destroy, a);
}
END_TEST

/* C3 */
START_TEST(destroy_frees_what_the_context_owned)
{
    CUcontext a = create_on(0);
    size_t all, left;
    CUdeviceptr memory;
    CUstream stream;
    CUevent event;
    void *pinned;
    EXPECT(SUCCESS, mem_get_info, &all, &(size_t){0});
    EXPECT(SUCCESS, mem_alloc, &memory, (size_t)1 << 20);
    EXPECT(SUCCESS, mem_alloc_host, &pinned, 4096);
    EXPECT(SUCCESS, stream_create, &stream, CXU_STREAM_NON_BLOCKING);
    EXPECT(SUCCESS, event_create, &event, CXU_EVENT_DEFAULT);
    EXPECT(SUCCESS, memset_d8_async, memory, 1, (size_t)1 << 20, stream);
    EXPECT(SUCCESS, ctx_destroy, a);
    EXPECT(INVALID_VALUE, mem_free, memory);
    EXPECT(INVALID_VALUE, mem_free_host, pinned);
    ck_assert_int_ne(CU(stream_query, stream), CXU_SUCCESS);
    ck_assert_int_ne(CU(event_query, event), CXU_SUCCESS);
    a = create_on(0);
    EXPECT(SUCCESS, mem_get_info, &left, &(size_t){0});
    ck_assert_uint_eq(left, all);
    EXPECT(SUCCESS, ctx_destroy, a);
}
END_TEST

/* C3 */
START_TEST(destroy_leaves_stream_ordered_memory_alone)
{
    CUcontext a = create_on(0);
    CUdeviceptr memory;
    EXPECT(SUCCESS, mem_alloc_async, &memory, 4096, NULL);
    EXPECT(SUCCESS, ctx_destroy, a);
    EXPECT(SUCCESS, mem_free, memory);
}
END_TEST

/* C4 */
START_TEST(a_destroyed_handle_is_invalid_as_a_parameter)
{
    CUcontext a = create_on(0), b = create_on(0);
    EXPECT(SUCCESS, ctx_destroy, b);
    EXPECT(INVALID_CONTEXT, ctx_destroy, b);
    EXPECT(INVALID_CONTEXT, ctx_get_id, b, &(unsigned long long){0});
    EXPECT(INVALID_CONTEXT, ctx_get_api_version, b, &(unsigned int){0});
    EXPECT(INVALID_CONTEXT, ctx_synchronize_v2, b);
    EXPECT(INVALID_CONTEXT, ctx_get_device_v2, &(CUdevice){0}, b);
    EXPECT(INVALID_CONTEXT, ctx_detach, b);
    EXPECT(SUCCESS, ctx_destroy, a);
    EXPECT(INVALID_CONTEXT, ctx_destroy, NULL);
}
END_TEST

/* C4 */
START_TEST(handles_come_again_ids_never)
{
    CUcontext first = create_on(0);
    unsigned long long last = id_of(first);
    for (int i = 0; i < 100; i++) {
        EXPECT(SUCCESS, ctx_destroy, first);
        ck_assert_ptr_eq(create_on(i % GPUS), first);
        ck_assert_uint_gt(id_of(first), last);
        last = id_of(first);
    }
    EXPECT(SUCCESS, ctx_destroy, first);
}
END_TEST

/* C5 */
START_TEST(destroy_refuses_a_primary_context)
{
    CUcontext primary = retain_on(0);
    int active = 0;
    EXPECT(INVALID_CONTEXT, ctx_destroy, primary);
    EXPECT(SUCCESS, primary_get_state, 0, &(unsigned int){0}, &active);
    ck_assert_int_eq(active, 1);
    EXPECT(SUCCESS, primary_release, 0);
    EXPECT(INVALID_CONTEXT, ctx_destroy, primary);
}
END_TEST

/* C6 */
START_TEST(entries_below_the_top_stay_when_their_context_is_destroyed)
{
    CUcontext a = create_on(0), b = create_on(1), popped = NULL;
    EXPECT(SUCCESS, ctx_push, a);
    EXPECT(SUCCESS, ctx_push, b);
    EXPECT(SUCCESS, ctx_destroy, a);
    ck_assert_ptr_eq(current(), b);
    ck_assert_int_eq(use(), CXU_SUCCESS);

    EXPECT(SUCCESS, ctx_pop, NULL);
    ck_assert_ptr_eq(current(), a);
    ck_assert_int_eq(use(), CXU_CONTEXT_IS_DESTROYED);
    EXPECT(SUCCESS, ctx_pop, &popped);
    ck_assert_ptr_eq(popped, a);
    ck_assert_int_eq(use(), CXU_SUCCESS);
    EXPECT(SUCCESS, ctx_destroy, b);
    ck_assert_int_eq(use(), CXU_CONTEXT_IS_DESTROYED);
    EXPECT(SUCCESS, ctx_pop, NULL);
}
END_TEST

/* C6 */
START_TEST(destroy_of_a_context_twice_in_the_stack_pops_only_the_top)
{
    CUcontext a = create_on(0);
    EXPECT(SUCCESS, ctx_push, a);
    EXPECT(SUCCESS, ctx_destroy, a);
    ck_assert_ptr_eq(current(), a);
    ck_assert_int_eq(use(), CXU_CONTEXT_IS_DESTROYED);
    EXPECT(SUCCESS, ctx_pop, NULL);
}
END_TEST

/* Q6 */
START_TEST(attach_and_detach_count)
{
    CUcontext a = create_on(0), again = NULL;
    EXPECT(INVALID_VALUE, ctx_attach, &again, 1);
    EXPECT(INVALID_VALUE, ctx_attach, NULL, 0);
    EXPECT(SUCCESS, ctx_attach, &again, 0);
    ck_assert_ptr_eq(again, a);
    EXPECT(SUCCESS, ctx_detach, a);
    ck_assert_ptr_eq(current(), a);
    ck_assert_int_eq(use(), CXU_SUCCESS);
    EXPECT(SUCCESS, ctx_detach, a);
    ck_assert_ptr_null(current());
    EXPECT(INVALID_CONTEXT, ctx_destroy, a);
}
END_TEST

/* Q6 */
START_TEST(attach_and_detach_need_the_context_current)
{
    CUcontext again = NULL;
    EXPECT(INVALID_CONTEXT, ctx_attach, &again, 0);
    CUcontext a = create_on(0), b = create_on(0);
    EXPECT(INVALID_CONTEXT, ctx_detach, a);
    EXPECT(SUCCESS, ctx_destroy, b);
    EXPECT(SUCCESS, ctx_detach, a);
    EXPECT(INVALID_CONTEXT, ctx_detach, NULL);
}
END_TEST

/* Q6 */
START_TEST(a_primary_context_is_not_attached_or_detached)
{
    CUcontext primary = retain_on(0);
    EXPECT(SUCCESS, ctx_push, primary);
    EXPECT(INVALID_CONTEXT, ctx_attach, &(CUcontext){NULL}, 0);
    EXPECT(INVALID_CONTEXT, ctx_detach, primary);
    EXPECT(SUCCESS, ctx_pop, NULL);
    EXPECT(SUCCESS, primary_release, 0);
}
END_TEST

static void *create_and_destroy(void *argument)
{
    CUdevice device = *(CUdevice *)argument;
    for (int i = 0; i < 300; i++) {
        CUcontext a = create_on(device), b = create_on(device);
        unsigned long long id = id_of(a);
        CUdevice where = -1;
        EXPECT(SUCCESS, ctx_get_device, &where);
        ck_assert_int_eq(where, device);
        EXPECT(SUCCESS, ctx_destroy, a);
        EXPECT(SUCCESS, ctx_destroy, b);
        EXPECT(SUCCESS, ctx_pop, NULL);
        ck_assert_uint_ne(id, 0);
    }
    return NULL;
}

START_TEST(threads_create_and_destroy_at_the_same_time)
{
    static CUdevice devices[GPUS] = {0, 1, 2, 3};
    pthread_t threads[GPUS];
    for (int i = 0; i < GPUS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, create_and_destroy, &devices[i]), 0);
    for (int i = 0; i < GPUS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}
END_TEST

static Suite *context_suite(void)
{
    Suite *suite = suite_create("context");
    TCase *tests = tcase_create("context");
    tcase_add_checked_fixture(tests, start_gpus, expect_nothing_left);
    tcase_add_test(tests, create_makes_the_context_current_above_what_was);
    tcase_add_test(tests, create_refuses_flags_that_are_no_combination);
    tcase_add_test(tests, create_takes_every_schedule_with_every_other_flag);
    tcase_add_test(tests, every_variant_of_create_creates);
    tcase_add_test(tests, create_refuses_what_the_device_cannot_do);
    tcase_add_test(tests, destroy_pops_the_context_that_is_current_to_the_caller);
    tcase_add_test(tests, a_context_destroyed_by_another_thread_stays_current_and_unusable);
    tcase_add_test(tests, an_old_entry_does_not_come_alive_with_its_slot);
    tcase_add_test(tests, destroy_frees_what_the_context_owned);
    tcase_add_test(tests, destroy_leaves_stream_ordered_memory_alone);
    tcase_add_test(tests, a_destroyed_handle_is_invalid_as_a_parameter);
    tcase_add_test(tests, handles_come_again_ids_never);
    tcase_add_test(tests, destroy_refuses_a_primary_context);
    tcase_add_test(tests, entries_below_the_top_stay_when_their_context_is_destroyed);
    tcase_add_test(tests, destroy_of_a_context_twice_in_the_stack_pops_only_the_top);
    tcase_add_test(tests, attach_and_detach_count);
    tcase_add_test(tests, attach_and_detach_need_the_context_current);
    tcase_add_test(tests, a_primary_context_is_not_attached_or_detached);
    tcase_add_test(tests, threads_create_and_destroy_at_the_same_time);
    suite_add_tcase(suite, tests);
    return suite;
}

CX_TESTS(context_suite);
