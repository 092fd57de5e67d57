#include "gpus.h"

#include <sched.h>
#include <semaphore.h>

static void expect_state(CUdevice device, unsigned int flags, int active)
{
    unsigned int got_flags = 77;
    int got_active = 77;
    EXPECT(SUCCESS, primary_get_state, device, &got_flags, &got_active);
    /* An active one maps host memory. */
    ck_assert_uint_eq(got_flags, active ? flags | CXU_CTX_MAP_HOST : flags);
    ck_assert_int_eq(got_active, active);
}

/* P1 */
START_TEST(before_the_first_retain_a_primary_is_inactive_with_flags_0)
{
    expect_state(0, 0, 0);
    EXPECT(INVALID_VALUE, primary_get_state, 0, NULL, NULL);
}
END_TEST

/* P1 */
START_TEST(retain_does_not_push)
{
    retain_on(0);
    ck_assert_ptr_null(current());
    expect_state(0, 0, 1);
    EXPECT(SUCCESS, primary_release, 0);
}
END_TEST

/* P1 */
START_TEST(every_retain_of_a_device_returns_the_same_handle)
{
    CUcontext first = retain_on(0), other = retain_on(1);
    ck_assert_ptr_eq(retain_on(0), first);
    ck_assert_ptr_ne(other, first);
    for (int i = 0; i < 2; i++)
        EXPECT(SUCCESS, primary_release, 0);
    ck_assert_ptr_eq(retain_on(0), first);
    EXPECT(SUCCESS, primary_release, 0);
    EXPECT(SUCCESS, primary_release, 1);
}
END_TEST

/* P2 */
START_TEST(the_last_release_resets)
{
    CUcontext primary = retain_on(0);
    CUdeviceptr memory;
    retain_on(0);
    EXPECT(SUCCESS, ctx_push, primary);
    EXPECT(SUCCESS, mem_alloc, &memory, 4096);
    EXPECT(SUCCESS, primary_release, 0);
    expect_state(0, 0, 1);
    ck_assert_int_eq(use(), CXU_SUCCESS);
    EXPECT(SUCCESS, primary_release, 0);
    expect_state(0, 0, 0);
    EXPECT(INVALID_VALUE, mem_free, memory);
    EXPECT(SUCCESS, ctx_pop, NULL);
}
END_TEST

/* P2 */
START_TEST(release_without_retain_is_invalid_context)
{
    EXPECT(INVALID_CONTEXT, primary_release, 0);
    retain_on(0);
    EXPECT(SUCCESS, primary_release, 0);
    EXPECT(INVALID_CONTEXT, primary_release, 0);
}
END_TEST

/* P2 */
START_TEST(release_never_pops_a_stack)
{
    CUcontext primary = retain_on(0);
    EXPECT(SUCCESS, ctx_push, primary);
    EXPECT(SUCCESS, primary_release, 0);
    ck_assert_ptr_eq(current(), primary);
    ck_assert_int_eq(use(), CXU_CONTEXT_IS_DESTROYED);
    EXPECT(SUCCESS, ctx_pop, NULL);
}
END_TEST

/* P3 */
START_TEST(reset_destroys_the_resources_and_releases_no_retain)
{
    CUcontext primary = retain_on(0);
    CUdeviceptr memory;
    CUstream stream;
    EXPECT(SUCCESS, ctx_push, primary);
    EXPECT(SUCCESS, mem_alloc, &memory, 4096);
    EXPECT(SUCCESS, stream_create, &stream, 0);
    EXPECT(SUCCESS, primary_reset, 0);
    EXPECT(INVALID_VALUE, mem_free, memory);
    ck_assert_int_ne(CU(stream_query, stream), CXU_SUCCESS);
    EXPECT(SUCCESS, primary_release, 0);
    EXPECT(SUCCESS, ctx_pop, NULL);
}
END_TEST

/* P3 */
START_TEST(reset_of_an_inactive_primary_is_success)
{
    EXPECT(SUCCESS, primary_reset, 0);
    retain_on(0);
    EXPECT(SUCCESS, primary_reset, 0);
    EXPECT(SUCCESS, primary_reset, 0);
    EXPECT(SUCCESS, primary_release, 0);
}
END_TEST

static void *see_a_reset(void *argument)
{
    other_thread *other = argument;
    EXPECT(SUCCESS, ctx_push, other->context);
    ck_assert_int_eq(use(), CXU_SUCCESS);
    step(other);
    step(other);
    ck_assert_ptr_eq(current(), other->context);
    ck_assert_int_eq(use(), CXU_CONTEXT_IS_DESTROYED);
    step(other);
    step(other);
    ck_assert_ptr_eq(current(), other->context);
    ck_assert_int_eq(use(), CXU_SUCCESS);
    return NULL;
}

/* P4, P5 */
START_TEST(a_retain_after_reset_revives_the_entries_of_every_thread)
{
    CUcontext primary = retain_on(0);
    unsigned long long id = id_of(primary);
    other_thread other;
    EXPECT(SUCCESS, ctx_push, primary);
    start_other(&other, see_a_reset, primary);
    step(&other);
    EXPECT(SUCCESS, primary_reset, 0);
    expect_state(0, 0, 0);
    ck_assert_ptr_eq(current(), primary);
    ck_assert_int_eq(use(), CXU_CONTEXT_IS_DESTROYED);
    EXPECT(CONTEXT_IS_DESTROYED, ctx_get_id, primary, &(unsigned long long){0});
    EXPECT(CONTEXT_IS_DESTROYED, ctx_get_id, NULL, &(unsigned long long){0});
    step(&other);
    step(&other);

    ck_assert_ptr_eq(retain_on(0), primary);
    ck_assert_uint_gt(id_of(primary), id);
    ck_assert_int_eq(use(), CXU_SUCCESS);
    step(&other);
    join_other(&other);
    EXPECT(SUCCESS, primary_release, 0);
    EXPECT(SUCCESS, primary_release, 0);
    EXPECT(SUCCESS, ctx_pop, NULL);
}
END_TEST

/* P4 */
START_TEST(an_inactive_primary_may_be_current_but_not_used)
{
    CUcontext primary = retain_on(0);
    EXPECT(SUCCESS, primary_release, 0);
    EXPECT(SUCCESS, ctx_push, primary);
    ck_assert_ptr_eq(current(), primary);
    ck_assert_int_eq(use(), CXU_CONTEXT_IS_DESTROYED);
    EXPECT(CONTEXT_IS_DESTROYED, mem_alloc, &(CUdeviceptr){0}, 64);
    EXPECT(SUCCESS, ctx_set_current, primary);
    retain_on(0);
    ck_assert_int_eq(use(), CXU_SUCCESS);
    EXPECT(SUCCESS, primary_release, 0);
    EXPECT(SUCCESS, ctx_pop, NULL);
}
END_TEST

/* P6 */
START_TEST(set_flags_overwrites_also_while_active)
{
    CUcontext primary;
    unsigned int flags = 0;
    EXPECT(SUCCESS, primary_set_flags, 0, CXU_CTX_SCHED_SPIN);
    expect_state(0, CXU_CTX_SCHED_SPIN, 0);
    primary = retain_on(0);
    expect_state(0, CXU_CTX_SCHED_SPIN, 1);
    EXPECT(SUCCESS, primary_set_flags, 0, CXU_CTX_SCHED_YIELD);
    expect_state(0, CXU_CTX_SCHED_YIELD, 1);
    EXPECT(SUCCESS, ctx_push, primary);
    EXPECT(SUCCESS, ctx_get_flags, &flags);
    ck_assert_uint_eq(flags, CXU_CTX_SCHED_YIELD | CXU_CTX_MAP_HOST);
    EXPECT(INVALID_VALUE, primary_set_flags, 0, CXU_CTX_SCHED_SPIN | CXU_CTX_MAP_HOST);
    EXPECT(INVALID_VALUE, primary_set_flags, 0, 0x7);
    EXPECT(SUCCESS, ctx_pop, NULL);
    EXPECT(SUCCESS, primary_release, 0);
}
END_TEST

/* P7 */
START_TEST(as_many_releases_are_owed_after_a_reset_as_before)
{
    for (int i = 0; i < 3; i++)
        retain_on(0);
    EXPECT(SUCCESS, primary_reset, 0);
    retain_on(0);
    for (int i = 0; i < 3; i++) {
        EXPECT(SUCCESS, primary_release, 0);
        expect_state(0, 0, 1);
    }
    EXPECT(SUCCESS, primary_release, 0);
    expect_state(0, 0, 0);
    EXPECT(INVALID_CONTEXT, primary_release, 0);
}
END_TEST

/* I5 */
START_TEST(a_bad_ordinal_is_invalid_device)
{
    static const CUdevice bad[] = {-1, GPUS, 999};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        EXPECT(INVALID_DEVICE, primary_retain, &(CUcontext){NULL}, bad[i]);
        EXPECT(INVALID_DEVICE, primary_release, bad[i]);
        EXPECT(INVALID_DEVICE, primary_reset, bad[i]);
        EXPECT(INVALID_DEVICE, primary_set_flags, bad[i], 0);
        EXPECT(INVALID_DEVICE, primary_get_state, bad[i], &(unsigned int){0}, &(int){0});
    }
    EXPECT(INVALID_VALUE, primary_retain, NULL, 0);
}
END_TEST

static void *retain_and_release(void *argument)
{
    CUcontext primary = argument;
    for (int i = 0; i < 300; i++) {
        ck_assert_ptr_eq(retain_on(0), primary);
        EXPECT(SUCCESS, ctx_push, primary);
        if (i % 7 == 0)
            EXPECT(SUCCESS, primary_reset, 0);
        cxu_result result = use();
        ck_assert(result == CXU_SUCCESS || result == CXU_CONTEXT_IS_DESTROYED);
        EXPECT(SUCCESS, ctx_pop, NULL);
        EXPECT(SUCCESS, primary_release, 0);
    }
    return NULL;
}

/* P1 to P5, from several threads */
START_TEST(threads_retain_reset_and_release_at_the_same_time)
{
    CUcontext primary = retain_on(0);
    EXPECT(SUCCESS, primary_release, 0);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, retain_and_release, primary), 0);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    expect_state(0, 0, 0);
}
END_TEST

static bool active_now(CUdevice device)
{
    int active = 0;
    EXPECT(SUCCESS, primary_get_state, device, &(unsigned int){0}, &active);
    return active != 0;
}

static sem_t entered, gate;

static void wait_at_the_gate(void *unused)
{
    (void)unused;
    sem_post(&entered);
    sem_wait(&gate);
}

static void *reset_there(void *argument)
{
    (void)argument;
    EXPECT(SUCCESS, primary_reset, 0);
    return NULL;
}

static _Atomic bool retained;

static void *retain_there(void *argument)
{
    CUcontext *out_context = argument;
    *out_context = retain_on(0);
    atomic_store(&retained, true);
    ck_assert_uint_ne(id_of(*out_context), 0);
    return NULL;
}

/* P3, P4 */
START_TEST(a_retain_during_a_reset_waits_for_its_end)
{
    CUcontext primary = retain_on(0), again = NULL;
    pthread_t resets, retains;
    ck_assert_int_eq(sem_init(&entered, 0, 0) + sem_init(&gate, 0, 0), 0);
    EXPECT(SUCCESS, ctx_push, primary);
    EXPECT(SUCCESS, launch_host_func, NULL, wait_at_the_gate, NULL);
    sem_wait(&entered);

    ck_assert_int_eq(pthread_create(&resets, NULL, reset_there, NULL), 0);
    while (active_now(0))
        sched_yield();
    ck_assert_int_eq(pthread_create(&retains, NULL, retain_there, &again), 0);
    /* Every chance to come back too early; that it did not by then proves nothing. */
    for (int i = 0; i < 10000; i++)
        sched_yield();
    ck_assert(!atomic_load(&retained));
    sem_post(&gate);
    ck_assert_int_eq(pthread_join(resets, NULL) + pthread_join(retains, NULL), 0);
    ck_assert_ptr_eq(again, primary);
    expect_state(0, 0, 1);
    EXPECT(SUCCESS, ctx_pop, NULL);
    EXPECT(SUCCESS, primary_release, 0);
    EXPECT(SUCCESS, primary_release, 0);
}
END_TEST

static Suite *primary_suite(void)
{
    Suite *suite = suite_create("primary");
    TCase *tests = tcase_create("primary");
    tcase_add_checked_fixture(tests, start_gpus, expect_nothing_left);
    tcase_add_test(tests, before_the_first_retain_a_primary_is_inactive_with_flags_0);
    tcase_add_test(tests, retain_does_not_push);
    tcase_add_test(tests, every_retain_of_a_device_returns_the_same_handle);
    tcase_add_test(tests, the_last_release_resets);
    tcase_add_test(tests, release_without_retain_is_invalid_context);
    tcase_add_test(tests, release_never_pops_a_stack);
    tcase_add_test(tests, reset_destroys_the_resources_and_releases_no_retain);
    tcase_add_test(tests, reset_of_an_inactive_primary_is_success);
    tcase_add_test(tests, a_retain_after_reset_revives_the_entries_of_every_thread);
    tcase_add_test(tests, an_inactive_primary_may_be_current_but_not_used);
    tcase_add_test(tests, set_flags_overwrites_also_while_active);
    tcase_add_test(tests, as_many_releases_are_owed_after_a_reset_as_before);
    tcase_add_test(tests, a_bad_ordinal_is_invalid_device);
    tcase_add_test(tests, threads_retain_reset_and_release_at_the_same_time);
    tcase_add_test(tests, a_retain_during_a_reset_waits_for_its_end);
    suite_add_tcase(suite, tests);
    return suite;
}

CX_TESTS(primary_suite);
