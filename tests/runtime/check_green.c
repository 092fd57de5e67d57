/* Other code works with green contexts: two handles stand for one primary on a thread's stack. */
#include "device/device.h"
#include "fixture.h"
#include "test.h"

#include <string.h>

#define BYTES 4096

static const cx_driver_table *driver;
static CUcontext primary, green_context;
static CUgreenCtx green;

static void ck_native(cxu_result result)
{
    ck_assert_int_eq(result, CXU_SUCCESS);
}

static void make_green(void)
{
    cxu_dev_resource all, group;
    CUdevResourceDesc desc;
    unsigned int count = 1;
    ck_native(driver->device_get_dev_resource(1, &all, CXU_DEV_RESOURCE_TYPE_SM));
    ck_native(driver->dev_sm_resource_split_by_count(&group, &count, &all, NULL, 0, 8));
    ck_native(driver->dev_resource_generate_desc(&desc, &group, 1));
    ck_native(driver->green_ctx_create(&green, desc, 1, CXU_GREEN_CTX_DEFAULT_STREAM));
    ck_native(driver->ctx_from_green_ctx(&green_context, green));
}

static void start_following(void)
{
    cx_fixture_start_with(2, CTXRT_FOREIGN_FOLLOW);
    driver = &cx_drivers[0].table;
    ck_native(driver->primary_retain(&primary, 1));
    make_green();
}

static void finish(void)
{
    if (green != NULL)
        ck_native(driver->green_ctx_destroy(green));
    ck_native(driver->primary_release(1));
    cx_fixture_end();
}

static CUcontext native_current(void)
{
    CUcontext current;
    ck_native(driver->ctx_get_current(&current));
    return current;
}

static void use_memory(void)
{
    unsigned char bytes[BYTES] = {0};
    void *pointer = NULL;
    cx_assert_ok(ctxrt_alloc(BYTES, &pointer));
    cx_assert_ok(ctxrt_fill(pointer, 7, BYTES));
    cx_assert_ok(ctxrt_copy(bytes, pointer, BYTES, CTXRT_COPY_DEVICE_TO_HOST));
    ck_assert_int_eq(bytes[BYTES - 1], 7);
    cx_assert_ok(ctxrt_free(pointer));
}

static void ck_on_top(CUcontext native, size_t depth)
{
    ctxrt_device device;
    cx_assert_ok(ctxrt_device_get(&device));
    ck_assert_int_eq(device.index, 0);
    ck_assert_ptr_eq(native_current(), native);
    ck_assert_uint_eq(ctxrt_stack_depth(), depth);
}

START_TEST(a_pushed_green_context_is_a_frame_of_its_own_above_the_primary)
{
    uint64_t id = 0, frame_id = 0;
    unsigned long long green_id = 0;
    CUcontext popped;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ck_on_top(primary, 1);
    cx_assert_ok(ctxrt_context_id(NULL, &id));
    ck_native(driver->ctx_push(green_context));
    ck_on_top(green_context, 2);
    cx_assert_ok(ctxrt_context_id(NULL, &frame_id));
    ck_native(driver->green_ctx_get_id(green, &green_id));
    ck_assert(frame_id == green_id && frame_id != id);
    use_memory();
    ck_native(driver->ctx_pop(&popped));
    ck_assert_ptr_eq(popped, green_context);
    ck_on_top(primary, 1);
    use_memory();
    cx_assert_ok(ctxrt_stack_pop());
    ck_assert_ptr_null(native_current());
}
END_TEST

START_TEST(a_set_takes_back_the_entry_that_a_green_context_replaced)
{
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    for (int i = 0; i < 10; i++) {
        ck_native(driver->ctx_set_current(green_context));
        ck_on_top(green_context, 2);
        cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
        ck_on_top(primary, 1);
    }
    cx_assert_ok(ctxrt_stack_pop());
    ck_assert_ptr_null(native_current());
}
END_TEST

START_TEST(a_scope_restores_the_primary_beneath_a_leaked_green_context)
{
    ctxrt_scope scope = CTXRT_SCOPE_INIT;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_scope_enter(CTXRT_CUDA(1), &scope));
    ck_native(driver->ctx_push(green_context));
    ck_assert_int_eq(ctxrt_scope_leave(&scope), CTXRT_ERROR_STACK_LEFTOVER);
    ck_on_top(primary, 1);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_stream_of_a_green_context_can_be_a_frames_stream)
{
    unsigned char bytes[BYTES] = {0};
    ctxrt_stream *stream, *current;
    CUgreenCtx owner;
    CUstream native, used;
    void *pointer;
    ck_native(driver->green_ctx_stream_create(&native, green, CXU_STREAM_NON_BLOCKING, 0));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_stream_from_native(native, &stream));
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    cx_assert_ok(ctxrt_stream_current(&current));
    cx_assert_ok(ctxrt_stream_native(current, &used));
    ck_native(driver->stream_get_green_ctx(used, &owner));
    ck_assert_ptr_eq(owner, green);
    cx_assert_ok(ctxrt_alloc(BYTES, &pointer));
    cx_assert_ok(ctxrt_fill_async(pointer, 5, BYTES, NULL));
    cx_assert_ok(
        ctxrt_copy_async(bytes, pointer, BYTES, CTXRT_COPY_DEVICE_TO_HOST, NULL));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    ck_assert_int_eq(bytes[BYTES - 1], 5);
    cx_assert_ok(ctxrt_free(pointer));
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_stack_pop());
    ck_native(driver->stream_destroy(native));
}
END_TEST

START_TEST(a_green_context_that_ended_is_dropped)
{
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    ck_native(driver->ctx_push(green_context));
    ck_on_top(green_context, 2);
    ck_native(driver->ctx_pop(NULL));
    ck_native(driver->green_ctx_destroy(green));
    green = NULL;
    ck_on_top(primary, 1);
    use_memory();
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static Suite *green_suite(void)
{
    Suite *suite = suite_create("green");
    TCase *tcase = tcase_create("green");
    tcase_add_checked_fixture(tcase, start_following, finish);
    tcase_add_test(tcase, a_pushed_green_context_is_a_frame_of_its_own_above_the_primary);
    tcase_add_test(tcase, a_set_takes_back_the_entry_that_a_green_context_replaced);
    tcase_add_test(tcase, a_scope_restores_the_primary_beneath_a_leaked_green_context);
    tcase_add_test(tcase, a_stream_of_a_green_context_can_be_a_frames_stream);
    tcase_add_test(tcase, a_green_context_that_ended_is_dropped);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(green_suite);
