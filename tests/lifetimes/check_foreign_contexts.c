/* Contexts that other code makes, lets ctxrt work in, and destroys: nothing of them may pile up. */
#include "context/context.h"
#include "device/device.h"
#include "fixture.h"
#include "memory/allocator.h"
#include "test.h"
#include "work/stream.h"

#include <malloc.h>
#include <stdlib.h>

enum { ROUNDS = 5000, ORDINAL = 1 };

static const cx_driver_table *driver;

static void start(void)
{
    cx_fixture_start();
    driver = &cx_drivers[0].table;
}

static CUcontext create_native(void)
{
    CUcontext native;
    ck_assert_int_eq(driver->ctx_create_v2(&native, 0, ORDINAL), CXU_SUCCESS);
    return native;
}

/* With the context current, as a plug-in of a host program is called. */
static void work_in_it(void)
{
    void *pointer;
    cx_assert_ok(ctxrt_alloc(256, &pointer));
    cx_assert_ok(ctxrt_fill_async(pointer, 1, 256, NULL));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    cx_assert_ok(ctxrt_free(pointer));
}

static size_t bytes_in_use(void)
{
    struct mallinfo2 figures = mallinfo2();
    return figures.uordblks + figures.hblkhd;
}

START_TEST(contexts_that_come_and_go_leave_nothing_behind)
{
    size_t before = 0;
    for (int i = 0; i < ROUNDS; i++) {
        CUcontext native = create_native();
        if (i % 10 == 0)
            work_in_it();
        else
            cx_assert_ok(ctxrt_device_get(&(ctxrt_device){0}));
        ck_assert_int_eq(driver->ctx_destroy(native), CXU_SUCCESS);
        ck_assert_uint_le(cx_pool_live(&cx_contexts), 2);
        ck_assert_uint_le(cx_pool_live(&cx_streams), 2);
        ck_assert_uint_le(cx_pool_live(&cx_allocators), 2);
        if (i == ROUNDS / 10)
            before = bytes_in_use();
    }
    ck_assert_uint_le(bytes_in_use(), before + 4096);
    cx_assert_error(ctxrt_device_get(&(ctxrt_device){0}), CTXRT_ERROR_NO_DEVICE);
}
END_TEST

/* A hold keeps the record, not the context. */
START_TEST(held_records_of_contexts_that_are_gone_go_with_their_holds)
{
    enum { HELD = 1000 };
    static ctxrt_context *held[HELD];
    CUcontext popped;
    for (int i = 0; i < HELD; i++) {
        CUcontext native = create_native();
        ck_assert_int_eq(driver->ctx_pop(&popped), CXU_SUCCESS);
        cx_assert_ok(ctxrt_context_from_native(CTXRT_DEVICE_CUDA, native, &held[i]));
        ck_assert_int_eq(driver->ctx_destroy(native), CXU_SUCCESS);
        for (int j = 0; j < i; j += 100)
            ck_assert_ptr_ne(held[i], held[j]);
    }
    ck_assert_uint_eq(cx_pool_live(&cx_contexts), HELD);
    for (int i = 0; i < HELD; i++) {
        cx_assert_error(ctxrt_stack_push(held[i]), CTXRT_ERROR_CONTEXT_DESTROYED);
        cx_assert_ok(ctxrt_context_release(held[i]));
        cx_assert_error(ctxrt_stack_push(held[i]), CTXRT_ERROR_INVALID_HANDLE);
    }
    ck_assert_uint_eq(cx_pool_live(&cx_contexts), 0);
}
END_TEST

/* What ctxrt had made for itself in a context that lives on goes with the runtime. */
START_TEST(a_shutdown_leaves_nothing_of_its_own_in_a_foreign_context)
{
    size_t free_before, free_after, total;
    CUcontext popped, native = create_native();
    ck_assert_int_eq(driver->mem_get_info(&free_before, &total), CXU_SUCCESS);
    work_in_it();
    ck_assert_uint_eq(cx_pool_live(&cx_streams), 1);
    ck_assert_int_eq(driver->ctx_pop(&popped), CXU_SUCCESS);
    cx_assert_error(ctxrt_device_get(&(ctxrt_device){0}), CTXRT_ERROR_NO_DEVICE);
    cx_assert_ok(ctxrt_shutdown());
    ck_assert_uint_eq(cx_pool_live(&cx_streams), 0);
    ck_assert_uint_eq(cx_pool_live(&cx_allocators), 0);
    ck_assert_int_eq(driver->ctx_push(native), CXU_SUCCESS);
    ck_assert_int_eq(driver->mem_get_info(&free_after, &total), CXU_SUCCESS);
    ck_assert_uint_eq(free_after, free_before);
    ck_assert_int_eq(driver->ctx_destroy(native), CXU_SUCCESS);
}
END_TEST

static Suite *foreign_contexts_suite(void)
{
    Suite *suite = suite_create("foreign contexts");
    TCase *tcase = tcase_create("foreign contexts");
    tcase_add_checked_fixture(tcase, start, cx_fixture_end);
    tcase_add_test(tcase, contexts_that_come_and_go_leave_nothing_behind);
    tcase_add_test(tcase, held_records_of_contexts_that_are_gone_go_with_their_holds);
    tcase_add_test(tcase, a_shutdown_leaves_nothing_of_its_own_in_a_foreign_context);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(foreign_contexts_suite);
