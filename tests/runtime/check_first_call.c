/*
 * Each public function as the first call of ctxrt that its thread makes, beside a thread that has
 * objects of every kind, and memory of two devices whose allocators keep some.
 */
#include "every_call.h"
#include "test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 4096 };

static every_object objects;

static void keep_memory(ctxrt_device device)
{
    void *pointer;
    ck_assert_int_eq(ctxrt_device_push(device), CTXRT_SUCCESS);
    ck_assert_int_eq(ctxrt_alloc(BYTES, &pointer), CTXRT_SUCCESS);
    ck_assert_int_eq(ctxrt_free(pointer), CTXRT_SUCCESS);
    ck_assert_int_eq(ctxrt_stack_pop(), CTXRT_SUCCESS);
}

static void *make_call(void *number)
{
    (void)every_call_make(&objects, *(int *)number);
    return NULL;
}

static void call_in_a_thread_of_its_own(int number)
{
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, make_call, &number), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

/* A process for each call: Check forks. */
START_TEST(any_call_may_be_the_first_one_of_its_thread)
{
    setenv("CTXRT_DRIVER", "emulated", 1);
    ck_assert(every_object_make(&objects));
    keep_memory(CTXRT_CUDA(1));
    keep_memory(CTXRT_CPU(0));
    call_in_a_thread_of_its_own(_i);
}
END_TEST

/* Nothing is in use any more, and the allocators of three devices end. */
START_TEST(a_shutdown_may_be_the_first_call_of_its_thread)
{
    int shutdown = 0;
    setenv("CTXRT_DRIVER", "emulated", 1);
    keep_memory(CTXRT_CUDA(0));
    keep_memory(CTXRT_CUDA(1));
    keep_memory(CTXRT_CPU(0));
    while (strcmp(every_call_name(shutdown), "ctxrt_shutdown") != 0)
        shutdown++;
    call_in_a_thread_of_its_own(shutdown);
    ck_assert_int_eq(ctxrt_device_push(CTXRT_CPU(0)), CTXRT_SUCCESS);
    ck_assert_int_eq(ctxrt_stack_pop(), CTXRT_SUCCESS);
}
END_TEST

static Suite *first_call_suite(void)
{
    Suite *suite = suite_create("first call");
    TCase *tcase = tcase_create("first call");
    tcase_add_loop_test(tcase, any_call_may_be_the_first_one_of_its_thread, 0, every_call_count());
    tcase_add_test(tcase, a_shutdown_may_be_the_first_call_of_its_thread);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(first_call_suite);
