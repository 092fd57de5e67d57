/*
 * Every public function that calls the driver, with a driver that fails from some call on until
 * further notice: one of its functions, or all of them. The call ends and says what failed, however
 * often it is tried; once the driver is well again, the thread comes back to an empty stack, and
 * the runtime ends.
 */
#include "device/device.h"
#include "operations.h"
#include "stage.h"
#include "test.h"

#include <string.h>

enum { CALLS_MAX = 400, POPS_MAX = 32 };

static int logged;

static void check_message(const operation *tried, ctxrt_status status)
{
    const ctxrt_error *error = ctxrt_last_error();
    if (status == CTXRT_SUCCESS)
        return;
    ck_assert_msg(error->status == status && error->message[0] != '\0',
                  "%s: %s, and the message is for %s", tried->name, ctxrt_status_name(status),
                  ctxrt_status_name(error->status));
}

static void count_log(ctxrt_log_level level, const char *message, void *argument)
{
    (void)level, (void)message, (void)argument;
    logged++;
}

static bool nothing_is_current(void)
{
    CUcontext current;
    return faults_beneath()->ctx_get_current(&current) == CXU_SUCCESS && current == NULL;
}

/* What ctxrt could not take off itself it has logged. There is no frame, so no scope to leave
 * either: it goes with the thread. */
static void end_thread(const operation *tried)
{
    ck_assert_msg(logged > 0, "%s: a context is left current, and nothing was logged", tried->name);
    while (!nothing_is_current())
        ck_assert_int_eq(faults_beneath()->ctx_pop(NULL), CXU_SUCCESS);
}

/* The driver is well again. What docs/frames.md names as the ways out, from the inside outwards:
 * pops, where they are refused a resync, and scopes. */
static void come_back(const operation *tried, stage *self)
{
    ctxrt_resync_report report;
    (void)ctxrt_scope_leave(&self->out.scope);
    (void)ctxrt_scope_leave(&self->scope);
    for (int i = 0; i < POPS_MAX && ctxrt_stack_depth() > self->around.depth; i++)
        if (ctxrt_stack_pop() != CTXRT_SUCCESS && ctxrt_stack_resync(&report) != CTXRT_SUCCESS)
            break;
    (void)ctxrt_scope_leave(&self->around);
    ck_assert_msg(ctxrt_stack_depth() == 0,
                  "%s (%s): after failures from %s on, %zu frames are left: %s", tried->name,
                  stage_top_name(self->top), faults_failed_call(), ctxrt_stack_depth(),
                  ctxrt_last_error()->message);
    if (self->top == STAGE_NONE && !nothing_is_current())
        end_thread(tried);
    ck_assert_msg(nothing_is_current(),
                  "%s (%s): after failures from %s on, a context is left current", tried->name,
                  stage_top_name(self->top), faults_failed_call());
    self->scope = (ctxrt_scope){0};
}

/* False: the operation was done before it came to that. */
static bool fail_from(const operation *tried, stage_top top, long number, fault_mode mode,
                      bool twice)
{
    static stage self;
    stage_enter_within(&self, top);
    logged = 0;
    faults_arm(number, CXU_UNKNOWN, mode);
    ctxrt_status status = tried->run(&self);
    bool met = faults_failed_call() != NULL, failed = met && status != CTXRT_SUCCESS;
    check_message(tried, status);
    if (failed && twice)
        check_message(tried, tried->run(&self));
    (void)faults_disarm();
    if (failed)
        check_message(tried, tried->run(&self));
    if (tried->used_up != NULL)
        tried->used_up(&self);
    come_back(tried, &self);
    stage_leave(&self);
    return met;
}

/* From each call on; where sanitizers watch, which takes a minute otherwise, from every third. */
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
enum { STRIDE = 3 };
#else
enum { STRIDE = 1 };
#endif

static void fail_everywhere(const operation *tried, fault_mode mode)
{
    for (stage_top top = 0; top < STAGE_TOPS; top++) {
        long number = 1;
        if ((tried->tops >> top & 1) == 0)
            continue;
        while (number < CALLS_MAX && fail_from(tried, top, number, mode, number % 2 == 0))
            number += STRIDE;
        ck_assert_int_lt(number, CALLS_MAX);
    }
}

static void watch_log(void)
{
    cx_assert_ok(ctxrt_log_set(count_log, NULL, CTXRT_LOG_ERROR));
}

START_TEST(a_thread_comes_back_from_a_driver_function_that_fails_lastingly)
{
    fail_everywhere(operation_at(_i), FAULT_LASTING);
}
END_TEST

START_TEST(a_thread_comes_back_from_a_driver_that_fails_lastingly)
{
    fail_everywhere(operation_at(_i), FAULT_DEAD);
}
END_TEST

START_TEST(a_scope_ends_under_a_dead_driver_and_says_what_is_left)
{
    ctxrt_scope scope = {0};
    cx_fixture_start();
    cx_assert_ok(ctxrt_scope_enter(CTXRT_CUDA(1), &scope));
    faults_install(&cx_drivers[0]);
    logged = 0;
    faults_arm(1, CXU_UNKNOWN, FAULT_DEAD);
    cx_assert_error(ctxrt_scope_leave(&scope), CTXRT_ERROR_STACK_LEFTOVER);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "could not be made so again"));
    ck_assert_int_gt(logged, 0);
    ck_assert_uint_eq(ctxrt_stack_depth(), 0);
    (void)faults_disarm();
    ck_assert_int_eq(faults_beneath()->ctx_pop(NULL), CXU_SUCCESS);
    faults_remove();
    cx_fixture_end();
}
END_TEST

static Suite *lasting_suite(void)
{
    Suite *suite = suite_create("lasting faults");
    TCase *tests = tcase_create("lasting faults");
    tcase_add_checked_fixture(tests, watch_log, NULL);
    /* First: the failures of the others leave contexts behind. */
    tcase_add_test(tests, a_scope_ends_under_a_dead_driver_and_says_what_is_left);
    tcase_add_loop_test(tests, a_thread_comes_back_from_a_driver_function_that_fails_lastingly, 0,
                        operation_count());
    tcase_add_loop_test(tests, a_thread_comes_back_from_a_driver_that_fails_lastingly, 0,
                        operation_count());
    suite_add_tcase(suite, tests);
    return suite;
}

CX_TESTS_TOGETHER(lasting_suite);
