/* How many calls of the driver's a call of ctxrt's makes. */
#include "device/device.h"
#include "faults.h"
#include "fixture.h"
#include "test.h"

#define BYTES ((size_t)4096)

static unsigned char *to, *from;
static ctxrt_stream *stream;

static void set_up(void)
{
    cx_device *device;
    void *memory[2];
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    for (int i = 0; i < 2; i++)
        cx_assert_ok(ctxrt_alloc(BYTES, &memory[i]));
    to = memory[0];
    from = memory[1];
    cx_assert_ok(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &stream));
    cx_assert_ok(ctxrt_fill(to, 0, BYTES)); /* the frame knows its stream from now on */
    cx_assert_ok(ctxrt_fill(from, 0, BYTES));
    cx_assert_ok(cx_device_find(CTXRT_CUDA(0), &device));
    faults_install(device->driver);
}

static void tear_down(void)
{
    faults_remove();
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_free(to));
    cx_assert_ok(ctxrt_free(from));
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}

#define ck_assert_calls(call, number)                                                      \
    do {                                                                                   \
        faults_arm(1000, CXU_UNKNOWN, FAULT_REFUSED);                                      \
        ctxrt_status cx_made_ = (call);                                                    \
        long cx_calls_ = faults_disarm();                                                  \
        ck_assert_msg(cx_made_ == CTXRT_SUCCESS, "%s: %s", #call, ctxrt_last_error()->message); \
        ck_assert_msg(cx_calls_ == (number), "%s made %ld calls, not %d", #call, cx_calls_,    \
                      number);                                                             \
    } while (0)

START_TEST(a_copy_between_blocks_is_one_look_at_what_is_current_and_one_copy)
{
    ck_assert_calls(ctxrt_copy_async(to, from, BYTES, CTXRT_COPY_ANY, NULL), 2);
    ck_assert_calls(ctxrt_copy_async(to, from, BYTES, CTXRT_COPY_DEVICE_TO_DEVICE, stream), 2);
    ck_assert_calls(
        ctxrt_copy_async(to, from, BYTES, CTXRT_COPY_DEVICE_TO_DEVICE, CTXRT_STREAM_LEGACY), 2);
}
END_TEST

START_TEST(so_is_one_within_blocks)
{
    ck_assert_calls(ctxrt_copy_async(to + 64, from + 1, 64, CTXRT_COPY_ANY, NULL), 2);
}
END_TEST

START_TEST(a_copy_that_is_waited_for_waits_besides)
{
    ck_assert_calls(ctxrt_copy(to, from, BYTES, CTXRT_COPY_ANY), 3);
}
END_TEST

START_TEST(a_fill_is_one_look_at_what_is_current_and_one_fill)
{
    ck_assert_calls(ctxrt_fill_async(to, 7, BYTES, NULL), 2);
    ck_assert_calls(ctxrt_fill_async(to + 64, 7, 64, NULL), 2);
    ck_assert_calls(ctxrt_fill_async(to, 7, BYTES, stream), 2);
    ck_assert_calls(ctxrt_fill(to, 7, BYTES), 3);
}
END_TEST

START_TEST(one_byte_too_many_is_refused_all_the_same)
{
    cx_assert_error(ctxrt_copy_async(to, from, BYTES + 1, CTXRT_COPY_ANY, NULL),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_fill_async(to, 7, BYTES + 1, NULL), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(
        ctxrt_copy_async(to, from, BYTES, CTXRT_COPY_HOST_TO_DEVICE, NULL),
        CTXRT_ERROR_INVALID_ARGUMENT);
}
END_TEST

static Suite *calls_suite(void)
{
    Suite *suite = suite_create("calls");
    TCase *tcase = tcase_create("calls");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_copy_between_blocks_is_one_look_at_what_is_current_and_one_copy);
    tcase_add_test(tcase, so_is_one_within_blocks);
    tcase_add_test(tcase, a_copy_that_is_waited_for_waits_besides);
    tcase_add_test(tcase, a_fill_is_one_look_at_what_is_current_and_one_fill);
    tcase_add_test(tcase, one_byte_too_many_is_refused_all_the_same);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(calls_suite);
