/* Handles of operator libraries. */
#include "fixture.h"
#include "test.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct library {
    atomic_int created, destroyed;
} library;

static ctxrt_status create(ctxrt_device device, void *user_data, void **out_handle)
{
    library *self = user_data;
    ctxrt_device current;
    cx_assert_ok(ctxrt_device_get(&current));
    ck_assert_int_eq(current.type, device.type);
    ck_assert_int_eq(current.index, device.index);
    atomic_fetch_add(&self->created, 1);
    *out_handle = malloc(8);
    return CTXRT_SUCCESS;
}

static void destroy(void *handle, void *user_data)
{
    atomic_fetch_add(&((library *)user_data)->destroyed, 1);
    free(handle);
}

static library first, second;

static ctxrt_status create_with_first(ctxrt_device device, void *user_data, void **out_handle)
{
    void *other;
    cx_assert_ok(ctxrt_handle_get(device, "first", &other));
    return create(device, user_data, out_handle);
}

static void start(void)
{
    cx_fixture_start();
    cx_assert_ok(ctxrt_handle_register("first", create, destroy, &first));
    cx_assert_ok(ctxrt_handle_register("second", create_with_first, destroy, &second));
}

START_TEST(a_handle_is_made_once_for_each_device_and_goes_with_it)
{
    void *handles[3], *again;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(3)));
    for (int i = 0; i < 3; i++)
        cx_assert_ok(ctxrt_handle_get(CTXRT_CUDA(i), "first", &handles[i]));
    for (int i = 0; i < 3; i++) {
        cx_assert_ok(ctxrt_handle_get(CTXRT_CUDA(i), "first", &again));
        ck_assert_ptr_eq(again, handles[i]);
    }
    ck_assert_int_eq(atomic_load(&first.created), 3);
    ctxrt_device device;
    cx_assert_ok(ctxrt_device_get(&device));
    ck_assert_int_eq(device.index, 3);
    ck_assert_uint_eq(ctxrt_stack_depth(), 1);
    cx_assert_ok(ctxrt_device_release(CTXRT_CUDA(1)));
    ck_assert_int_eq(atomic_load(&first.destroyed), 1);
    cx_assert_ok(ctxrt_handle_get(CTXRT_CUDA(1), "first", &again));
    ck_assert_int_eq(atomic_load(&first.created), 4);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_shutdown());
    ck_assert_int_eq(atomic_load(&first.destroyed), 4);
}
END_TEST

START_TEST(one_library_may_ask_for_anothers_handle)
{
    void *handle;
    cx_assert_ok(ctxrt_handle_get(CTXRT_CPU(0), "second", &handle));
    ck_assert_int_eq(atomic_load(&first.created), 1);
    ck_assert_int_eq(atomic_load(&second.created), 1);
}
END_TEST

START_TEST(after_a_reset_a_handle_is_made_anew)
{
    void *before, *after;
    cx_assert_ok(ctxrt_handle_get(CTXRT_CUDA(0), "first", &before));
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_handle_get(CTXRT_CUDA(0), "first", &after));
    ck_assert_int_eq(atomic_load(&first.created), 2);
    ck_assert_int_eq(atomic_load(&first.destroyed), 0);
    free(before);
}
END_TEST

static size_t allocated_bytes(void)
{
    return mallinfo2().uordblks;
}

static void remake_first(int times)
{
    for (int i = 0; i < times; i++) {
        void *handle;
        cx_assert_ok(ctxrt_handle_get(CTXRT_CUDA(0), "first", &handle));
        cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
        free(handle);
    }
}

START_TEST(handles_of_before_resets_take_no_memory)
{
    remake_first(100);
    size_t before = allocated_bytes();
    remake_first(1000);
    ck_assert_uint_lt(allocated_bytes(), before + 16 * 1024);
}
END_TEST

static void *ask(void *argument)
{
    (void)argument;
    for (int i = 0; i < 1000; i++) {
        void *handle;
        cx_assert_ok(ctxrt_handle_get(CTXRT_CUDA(i % 4), "second", &handle));
    }
    return NULL;
}

START_TEST(many_threads_get_one_handle)
{
    pthread_t threads[8];
    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, ask, NULL);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(atomic_load(&first.created), 4);
    ck_assert_int_eq(atomic_load(&second.created), 4);
}
END_TEST

START_TEST(an_allocators_figures_are_written_as_json)
{
    ctxrt_memory *memory;
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_memory_alloc(4096, &memory));
    cx_assert_ok(ctxrt_allocator_snapshot_write(NULL, file, CTXRT_SNAPSHOT_JSON));
    fclose(file);
    ck_assert_ptr_nonnull(strstr(text, "\"current\": 4096"));
    free(text);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* The driver gives no id for the context, when it is made or later. */
START_TEST(a_handle_is_destroyed_whichever_question_for_an_id_failed)
{
    char fault[64];
    void *handle;
    (void)snprintf(fault, sizeof fault, "cuCtxGetId@%d", _i);
    ck_assert_int_eq(setenv("CTXRT_EMU_FAULT", fault, 1), 0);
    start();
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_handle_get(CTXRT_CUDA(0), "first", &handle));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_device_release(CTXRT_CUDA(0)));
    ck_assert_int_eq(atomic_load(&first.destroyed), 1);
    cx_fixture_end();
}
END_TEST

static Suite *handle_suite(void)
{
    Suite *suite = suite_create("handle");
    TCase *tcase = tcase_create("handle");
    tcase_add_checked_fixture(tcase, start, cx_fixture_end);
    tcase_add_test(tcase, a_handle_is_made_once_for_each_device_and_goes_with_it);
    tcase_add_test(tcase, one_library_may_ask_for_anothers_handle);
    tcase_add_test(tcase, after_a_reset_a_handle_is_made_anew);
    tcase_add_test(tcase, handles_of_before_resets_take_no_memory);
    tcase_add_test(tcase, many_threads_get_one_handle);
    tcase_add_test(tcase, an_allocators_figures_are_written_as_json);
    suite_add_tcase(suite, tcase);
    TCase *faults = tcase_create("faults");
    tcase_add_loop_test(faults, a_handle_is_destroyed_whichever_question_for_an_id_failed, 1, 6);
    suite_add_tcase(suite, faults);
    return suite;
}

CX_TESTS(handle_suite);
