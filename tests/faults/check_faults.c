/*
 * Every public function that calls the driver, with a failure at each driver call that it makes:
 * the call fails, or has nothing to fail for; the stack, what is current, the frames and the memory
 * in use are as they were; and the same call then succeeds.
 */
#include "device/device.h"
#include "operations.h"
#include "stage.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

enum { CALLS_MAX = 400 };

static void check_error(const operation *tried)
{
    const ctxrt_error *error = ctxrt_last_error();
    ck_assert_msg(error->message[0] != '\0', "%s left no message", tried->name);
    ck_assert_msg(error->driver_result == 0 ||
                      (error->driver_result == CXU_UNKNOWN &&
                       strcmp(error->driver_call, faults_failed_call()) == 0),
                  "%s: %s failed, and the error names %s, %d (%s)", tried->name,
                  faults_failed_call(), error->driver_call, error->driver_result, error->message);
}

static void check_picture(const operation *tried, const stage *self, const picture *wanted,
                          bool loosely, const char *when)
{
    picture after;
    picture_take(&after);
    const char *difference = picture_difference(wanted, &after, loosely);
    ck_assert_msg(difference == NULL,
                  "%s (%s) %s: after a failure of %s, %s is not as it should be", tried->name,
                  stage_top_name(self->top), when, faults_failed_call(), difference);
}

/* The memory that the driver refused to take back cannot be as it was. */
static void ignore_memory(picture *self)
{
    memset(self->free_bytes, 0, sizeof self->free_bytes);
}

/* Whatever became of objects, the stack is as it was. */
static void check_stack(const operation *tried, stage *self, const picture *before)
{
    picture wanted = *before, after;
    picture_take(&after);
    ignore_memory(&wanted);
    ignore_memory(&after);
    const char *difference = picture_difference(&wanted, &after, false);
    ck_assert_msg(difference == NULL, "%s (%s): after a failure of %s, %s is not as it was",
                  tried->name, stage_top_name(self->top), faults_failed_call(), difference);
}

/* The object is gone all the same, or is as it was. */
static void check_gone(const operation *tried, stage *self, const picture *before)
{
    check_stack(tried, self, before);
    ctxrt_status again = tried->run(self);
    ck_assert_msg(again == CTXRT_SUCCESS || again == CTXRT_ERROR_INVALID_HANDLE ||
                      again == CTXRT_ERROR_INVALID_ARGUMENT,
                  "%s (%s): a second try after a failure of %s: %s", tried->name,
                  stage_top_name(self->top), faults_failed_call(), ctxrt_last_error()->message);
}

/* `done`: the driver did what it reported as failed, and only it knows of what came of that. */
static void check_failure(const operation *tried, stage *self, const picture *before, bool done,
                          bool again)
{
    static const char nothing[sizeof self->out];
    check_error(tried);
    if (done && !tried->is_of_the_stack) {
        check_stack(tried, self, before);
        (void)tried->run(self);
        return;
    }
    if (tried->takes_effect) {
        check_gone(tried, self, before);
        return;
    }
    check_picture(tried, self, before, false, "was refused");
    ck_assert_msg(memcmp(&self->out, nothing, sizeof self->out) == 0, "%s wrote though it failed",
                  tried->name);
    if (again)
        cx_assert_ok(tried->run(self));
}

/* One failure. False: the operation was done before it came to that. A call that succeeds in spite
 * of it has done what it does without. Whether it is then tried again or not, nothing is left. */
static bool fail_once(const operation *tried, stage_top top, long number, fault_mode mode,
                      bool again, const picture *success)
{
    static stage self;
    picture before;
    stage_enter(&self, top);
    picture_take(&before);
    faults_arm(number, CXU_UNKNOWN, mode);
    ctxrt_status status = tried->run(&self);
    bool met = faults_disarm() >= number, failed = met && status != CTXRT_SUCCESS;
    if (failed)
        check_failure(tried, &self, &before, mode == FAULT_REPORTED, again);
    else if (met)
        check_picture(tried, &self, success, true, "succeeded");
    else
        ck_assert_msg(status == CTXRT_SUCCESS, "%s (%s): %s", tried->name, stage_top_name(top),
                      ctxrt_last_error()->message);
    bool tried_again =
        again || tried->takes_effect || (mode == FAULT_REPORTED && !tried->is_of_the_stack);
    if (tried->used_up != NULL && (!failed || tried_again))
        tried->used_up(&self);
    stage_leave(&self);
    return met;
}

/* What the operation does where nothing fails. */
static void picture_success(const operation *tried, stage_top top, picture *out)
{
    static stage self;
    stage_enter(&self, top);
    ck_assert_msg(tried->run(&self) == CTXRT_SUCCESS, "%s (%s): %s", tried->name,
                  stage_top_name(top), ctxrt_last_error()->message);
    picture_take(out);
    if (tried->used_up != NULL)
        tried->used_up(&self);
    stage_leave(&self);
}

/* At each call, and in each place both ways; where sanitizers watch, which takes minutes otherwise,
 * at every third, one way or the other. */
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
enum { STRIDE = 3 };
#else
enum { STRIDE = 1 };
#endif

static void fail_everywhere(const operation *tried, fault_mode mode)
{
    for (stage_top top = 0; top < STAGE_TOPS; top++) {
        if ((tried->tops >> top & 1) == 0)
            continue;
        long number = 1;
        picture success;
        picture_success(tried, top, &success);
        bool again = true;
        while (number < CALLS_MAX && fail_once(tried, top, number, mode, again, &success)) {
            if (STRIDE == 1)
                fail_once(tried, top, number, mode, false, &success);
            else
                again = !again;
            number += STRIDE;
        }
        printf("# %s (%s): up to %ld\n", tried->name, stage_top_name(top), number - 1);
        ck_assert_int_lt(number, CALLS_MAX);
    }
}

START_TEST(a_call_that_the_driver_refuses_changes_nothing)
{
    fail_everywhere(operation_at(_i), FAULT_REFUSED);
}
END_TEST

START_TEST(a_call_that_the_driver_reports_as_failed_changes_nothing)
{
    fail_everywhere(operation_at(_i), FAULT_REPORTED);
}
END_TEST

/* Two devices are in use and nothing refers to them. */
START_TEST(a_shutdown_that_the_driver_refuses_can_be_tried_again)
{
    bool met = true;
    for (long number = 1; met && number < CALLS_MAX; number++) {
        cx_fixture_start_with(STAGE_DEVICES, CTXRT_FOREIGN_FOLLOW);
        for (int i = 0; i < 2; i++) {
            cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(i)));
            ctxrt_stream *stream;
            cx_assert_ok(ctxrt_stream_current(&stream));
            cx_assert_ok(ctxrt_stack_pop());
        }
        faults_install(&cx_drivers[0]);
        faults_arm(number, CXU_UNKNOWN, FAULT_REFUSED);
        ctxrt_status status = ctxrt_shutdown();
        met = faults_disarm() >= number;
        faults_remove();
        ck_assert(met || status == CTXRT_SUCCESS);
        CUcontext current;
        if (status != CTXRT_SUCCESS) {
            ck_assert_int_eq(cx_drivers[0].table.ctx_get_current(&current), CXU_SUCCESS);
            ck_assert_ptr_null(current);
            ck_assert_uint_eq(ctxrt_stack_depth(), 0);
            cx_fixture_end();
        }
        ck_assert_int_lt(number, CALLS_MAX - 1);
    }
}
END_TEST

static Suite *faults_suite(void)
{
    Suite *suite = suite_create("faults");
    TCase *tests = tcase_create("faults");
    tcase_add_loop_test(tests, a_call_that_the_driver_refuses_changes_nothing, 0,
                        operation_count());
    tcase_add_loop_test(tests, a_call_that_the_driver_reports_as_failed_changes_nothing, 0,
                        operation_count());
    tcase_add_test(tests, a_shutdown_that_the_driver_refuses_can_be_tried_again);
    suite_add_tcase(suite, tests);
    return suite;
}

CX_TESTS_TOGETHER(faults_suite);
