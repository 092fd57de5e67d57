/* Ends of contexts, and hand-offs, at each driver call of which the driver refuses, or does what it
 * was asked and reports another's failure: nothing has changed, or the call is done. */
#include "faults.h"
#include "fixture.h"
#include "test.h"

#include "context/context.h"
#include <string.h>

enum { CALLS_MAX = 60 };

static const ctxrt_device device = {CTXRT_DEVICE_CUDA, 0};

static void set_up(void)
{
    cx_fixture_start();
    faults_install(&cx_drivers[0]);
}

static void tear_down(void)
{
    faults_remove();
    cx_fixture_end();
}

/* One try: `prepare`, then `call` with a failure at its driver call `number`, then `look` with what
 * it gave, which leaves nothing. */
typedef struct attempt {
    void (*prepare)(void);
    ctxrt_status (*call)(void);
    void (*look)(ctxrt_status status);
} attempt;

static void fail_at_each_call(const attempt *tried, fault_mode mode)
{
    bool met = true;
    long number = 0;
    while (met) {
        ck_assert_int_lt(++number, CALLS_MAX);
        tried->prepare();
        faults_arm(number, CXU_UNKNOWN, mode);
        ctxrt_status status = tried->call();
        met = faults_disarm() >= number;
        ck_assert_msg(status == CTXRT_SUCCESS || status == CTXRT_ERROR_DRIVER,
                      "a failure of %s: %s: %s", faults_failed_call(), ctxrt_status_name(status),
                      ctxrt_last_error()->message);
        ck_assert_msg(met || status == CTXRT_SUCCESS, "%s", ctxrt_last_error()->message);
        tried->look(status);
    }
    ck_assert_int_gt(number, 1);
}

static void fail_both_ways(const attempt *tried)
{
    fail_at_each_call(tried, FAULT_REFUSED);
    fail_at_each_call(tried, FAULT_REPORTED);
}

/* What a context is good for: a stream of it, and memory. */
static void use_top_frame(void)
{
    ctxrt_stream *stream;
    void *memory;
    cx_assert_ok(ctxrt_stream_create(0, 0, &stream));
    cx_assert_ok(ctxrt_alloc(4096, &memory));
    cx_assert_ok(ctxrt_fill_async(memory, 1, 4096, stream));
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    cx_assert_ok(ctxrt_free(memory));
    cx_assert_ok(ctxrt_stream_destroy(stream));
}

/* ---- destroy ---- */

static ctxrt_context *created;

static void create(void)
{
    cx_assert_ok(ctxrt_context_create(device, 0, &created));
    cx_assert_ok(ctxrt_stack_push(created));
    use_top_frame();
    cx_assert_ok(ctxrt_stack_pop());
}

static ctxrt_status destroy(void)
{
    return ctxrt_context_destroy(created);
}

static void look_at_created(ctxrt_status status)
{
    if (status == CTXRT_SUCCESS) {
        cx_assert_error(ctxrt_stack_push(created), CTXRT_ERROR_INVALID_HANDLE);
        return;
    }
    cx_assert_ok(ctxrt_stack_push(created));
    use_top_frame();
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(destroy());
    look_at_created(CTXRT_SUCCESS);
}

/* The fixture's end sees contexts that leaked. */
START_TEST(a_context_that_the_driver_does_not_destroy_can_be_used_and_destroyed_again)
{
    fail_both_ways(&(attempt){create, destroy, look_at_created});
}
END_TEST

/* ---- release ---- */

static bool is_active(void)
{
    int active;
    unsigned int flags;
    cx_device *found;
    cx_assert_ok(cx_device_find(device, &found));
    ck_assert_int_eq(found->driver->table.primary_get_state(found->native, &flags, &active),
                     CXU_SUCCESS);
    return active != 0;
}

static void use_device(void)
{
    cx_assert_ok(ctxrt_device_push(device));
    use_top_frame();
    cx_assert_ok(ctxrt_stack_pop());
}

static ctxrt_status release(void)
{
    return ctxrt_device_release(device);
}

static void look_at_released(ctxrt_status status)
{
    if (status != CTXRT_SUCCESS) {
        use_device();
        cx_assert_ok(release());
    }
    ck_assert(!is_active());
}

START_TEST(a_device_that_the_driver_does_not_release_can_be_used_and_released_again)
{
    fail_both_ways(&(attempt){use_device, release, look_at_released});
}
END_TEST

/* ---- reset ---- */

static ctxrt_stream *made_before;
static void *memory_before;

static void make_objects(void)
{
    cx_assert_ok(ctxrt_device_push(device));
    cx_assert_ok(ctxrt_stream_create(0, 0, &made_before));
    cx_assert_ok(ctxrt_alloc(4096, &memory_before));
}

static ctxrt_status reset(void)
{
    return ctxrt_device_reset(device);
}

static void drop_objects(void)
{
    cx_assert_ok(ctxrt_stream_destroy(made_before));
    cx_assert_ok(ctxrt_free(memory_before));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(release());
}

/* A driver that refuses a release keeps a retain. */
static void give_back_surplus(void)
{
    cx_device *found;
    cx_assert_ok(cx_device_find(device, &found));
    if (is_active())
        ck_assert_int_eq(found->driver->table.primary_release(found->native), CXU_SUCCESS);
    ck_assert(!is_active());
}

/* Either nothing has changed, or all is new. */
static void look_at_reset(ctxrt_status status)
{
    cx_assert_status(ctxrt_stream_synchronize(made_before),
                     status == CTXRT_SUCCESS ? CTXRT_ERROR_CONTEXT_DESTROYED : CTXRT_SUCCESS);
    if (status != CTXRT_SUCCESS)
        cx_assert_ok(ctxrt_fill(memory_before, 1, 4096));
    use_top_frame();
    drop_objects();
    give_back_surplus();
}

START_TEST(a_reset_that_the_driver_refuses_once_is_done_or_has_changed_nothing)
{
    fail_at_each_call(&(attempt){make_objects, reset, look_at_reset}, FAULT_REFUSED);
}
END_TEST

START_TEST(a_reset_that_the_driver_reports_as_failed_is_done_or_has_changed_nothing)
{
    bool met = true;
    for (long number = 1; met; number++) {
        make_objects();
        faults_arm(number, CXU_UNKNOWN, FAULT_REPORTED);
        ctxrt_status status = reset();
        met = faults_disarm() >= number;
        look_at_reset(status);
    }
}
END_TEST

/* The call of that name fails, however often it is made, until the fault is taken back. */
static void arm_lasting(const char *symbol)
{
    for (long number = 1; number < CALLS_MAX; number++) {
        make_objects();
        faults_arm(number, CXU_UNKNOWN, FAULT_LASTING);
        ctxrt_status status = reset();
        if (faults_failed_call() != NULL && strcmp(faults_failed_call(), symbol) == 0) {
            ck_assert_int_eq(status, CTXRT_ERROR_DRIVER);
            return;
        }
        (void)faults_disarm();
        look_at_reset(status);
    }
    ck_abort_msg("%s was not called", symbol);
}

START_TEST(a_device_that_was_reset_and_cannot_be_used_says_so_until_a_reset_succeeds)
{
    ctxrt_stream *stream;
    ctxrt_event *event;
    ctxrt_memory *memory;
    void *pointer;
    size_t bytes;
    arm_lasting("cuDevicePrimaryCtxRetain");
    ck_assert_msg(strstr(ctxrt_last_error()->message, "was reset, but") != NULL, "%s",
                  ctxrt_last_error()->message);
    for (int i = 0; i < 2; i++) {
        cx_assert_error(ctxrt_stream_synchronize(made_before), CTXRT_ERROR_CONTEXT_DESTROYED);
        ck_assert_int_ne(ctxrt_stream_create(0, 0, &stream), CTXRT_SUCCESS);
        ck_assert_int_ne(ctxrt_event_create(0, &event), CTXRT_SUCCESS);
        ck_assert_int_ne(ctxrt_alloc(4096, &pointer), CTXRT_SUCCESS);
        ck_assert_int_ne(ctxrt_memory_alloc(4096, &memory), CTXRT_SUCCESS);
        ck_assert_int_ne(ctxrt_stream_synchronize(NULL), CTXRT_SUCCESS);
        ck_assert_int_ne(ctxrt_device_memory_info(device, &bytes, NULL), CTXRT_SUCCESS);
        if (i == 0)
            cx_assert_error(reset(), CTXRT_ERROR_DRIVER);
    }
    (void)faults_disarm();
    cx_assert_ok(reset());
    use_top_frame();
    drop_objects();
}
END_TEST

START_TEST(a_device_that_was_reset_and_cannot_be_used_can_be_released)
{
    arm_lasting("cuDevicePrimaryCtxRetain");
    (void)faults_disarm();
    drop_objects();
}
END_TEST

/* ---- pop ---- */

static void push_two(void)
{
    cx_assert_ok(ctxrt_device_push(device));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
}

static ctxrt_status pop(void)
{
    return ctxrt_stack_pop();
}

static void look_at_popped(ctxrt_status status)
{
    ck_assert_uint_eq(ctxrt_stack_depth(), status == CTXRT_SUCCESS ? 1 : 2);
    if (status != CTXRT_SUCCESS)
        cx_assert_ok(pop());
    use_top_frame();
    cx_assert_ok(pop());
}

START_TEST(a_pop_that_the_driver_refuses_is_no_other_codes_fault)
{
    fail_both_ways(&(attempt){push_two, pop, look_at_popped});
}
END_TEST

static void push_and_set(void)
{
    push_two();
    cx_assert_ok(ctxrt_device_set(device));
}

static void look_at_level(ctxrt_status status)
{
    ck_assert_uint_eq(ctxrt_stack_depth(), status == CTXRT_SUCCESS ? 1 : 3);
    if (status != CTXRT_SUCCESS)
        cx_assert_ok(pop());
    use_top_frame();
    cx_assert_ok(pop());
}

START_TEST(a_pop_of_two_entries_that_the_driver_refuses_is_no_other_codes_fault)
{
    fail_both_ways(&(attempt){push_and_set, pop, look_at_level});
}
END_TEST

START_TEST(a_pop_that_finds_nothing_to_pop_is_other_codes_fault)
{
    CUcontext native;
    cx_assert_ok(ctxrt_device_push(device));
    ck_assert_int_eq(cx_drivers[0].table.ctx_pop(&native), CXU_SUCCESS);
    cx_assert_error(pop(), CTXRT_ERROR_STACK_MISMATCH);
    ck_assert_int_eq(cx_drivers[0].table.ctx_push(native), CXU_SUCCESS);
    cx_assert_ok(pop());
}
END_TEST

/* ---- detach and attach ---- */

static ctxrt_detached_frame *detached;
static ctxrt_stream *went_along;

static void push_with_stream(void)
{
    cx_assert_ok(ctxrt_device_push(device));
    cx_assert_ok(ctxrt_stream_current(&went_along));
}

static ctxrt_status detach(void)
{
    return ctxrt_stack_detach(&detached);
}

static ctxrt_status attach(void)
{
    return ctxrt_stack_attach(detached);
}

static void check_stream_came_along(void)
{
    ctxrt_stream *stream;
    cx_assert_ok(ctxrt_stream_current(&stream));
    ck_assert_ptr_eq(stream, went_along);
    use_top_frame();
}

static void look_at_detached(ctxrt_status status)
{
    ck_assert_uint_eq(ctxrt_stack_depth(), status == CTXRT_SUCCESS ? 0 : 1);
    if (status == CTXRT_SUCCESS)
        cx_assert_ok(attach());
    check_stream_came_along();
    cx_assert_ok(pop());
}

START_TEST(a_frame_that_the_driver_does_not_pop_is_not_detached)
{
    fail_both_ways(&(attempt){push_with_stream, detach, look_at_detached});
}
END_TEST

static void push_and_detach(void)
{
    push_with_stream();
    cx_assert_ok(detach());
}

static void look_at_attached(ctxrt_status status)
{
    ck_assert_uint_eq(ctxrt_stack_depth(), status == CTXRT_SUCCESS ? 1 : 0);
    if (status != CTXRT_SUCCESS)
        cx_assert_ok(attach());
    cx_assert_error(attach(), CTXRT_ERROR_INVALID_HANDLE);
    check_stream_came_along();
    cx_assert_ok(pop());
}

START_TEST(a_frame_that_the_driver_does_not_push_can_be_attached_again)
{
    fail_both_ways(&(attempt){push_and_detach, attach, look_at_attached});
}
END_TEST

static Suite *refused_suite(void)
{
    Suite *suite = suite_create("refused");
    TCase *tcase = tcase_create("refused");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase,
                   a_context_that_the_driver_does_not_destroy_can_be_used_and_destroyed_again);
    tcase_add_test(tcase,
                   a_device_that_the_driver_does_not_release_can_be_used_and_released_again);
    tcase_add_test(tcase, a_reset_that_the_driver_refuses_once_is_done_or_has_changed_nothing);
    tcase_add_test(tcase, a_reset_that_the_driver_reports_as_failed_is_done_or_has_changed_nothing);
    tcase_add_test(tcase,
                   a_device_that_was_reset_and_cannot_be_used_says_so_until_a_reset_succeeds);
    tcase_add_test(tcase, a_device_that_was_reset_and_cannot_be_used_can_be_released);
    tcase_add_test(tcase, a_pop_that_the_driver_refuses_is_no_other_codes_fault);
    tcase_add_test(tcase, a_pop_of_two_entries_that_the_driver_refuses_is_no_other_codes_fault);
    tcase_add_test(tcase, a_pop_that_finds_nothing_to_pop_is_other_codes_fault);
    tcase_add_test(tcase, a_frame_that_the_driver_does_not_pop_is_not_detached);
    tcase_add_test(tcase, a_frame_that_the_driver_does_not_push_can_be_attached_again);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(refused_suite);
