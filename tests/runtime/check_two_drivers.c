/*
 * Two drivers at once: frames of the CPU, which the embedded driver serves, between frames of GPUs,
 * which another driver serves: every order of calls, foreign code at one of the two, failures in
 * the middle of a switch, work.
 */
#include "faults.h"
#include "gate.h"
#include "two_drivers.h"

#include "device/runtime.h"
#include <stdlib.h>

static void start_with(ctxrt_foreign_policy foreign)
{
    const char *reason;
    ck_assert_msg(two_drivers_start(foreign, &reason), "%s", reason);
    two_drivers_hold();
}

static void start(void)
{
    start_with(CTXRT_FOREIGN_FOLLOW);
}

static void end(void)
{
    struct CUctx_st *entries[ENTRIES_MAX];
    for (int driver = 0; driver < TWO_DRIVERS; driver++)
        ck_assert_int_eq(two_drivers_read(driver, entries), 0);
    two_drivers_let_go();
    cx_fixture_end();
}

/* ---- every order of calls ---- */

/* Set, push and scope at each place, pop, leave. */
static step step_of(int number, int places)
{
    if (number == 3 * places)
        return (step){STEP_POP, 0};
    if (number == 3 * places + 1)
        return (step){STEP_LEAVE, 0};
    return (step){(step_kind)(number % 3), number / 3};
}

static void describe(char *text, size_t size, const int *numbers, int count, int places)
{
    static const char *const kinds[] = {"set", "push", "scope", "pop", "leave"};
    static const char *const names[] = {"cpu", "gpu", "gpu2"};
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; i < count && length < size; i++) {
        step next = step_of(numbers[i], places);
        length += (size_t)snprintf(text + length, size - length, "%s%s %s", i != 0 ? ", " : "",
                                   kinds[next.kind], next.kind < STEP_POP ? names[next.place] : "");
    }
}

static void try_order(const int *numbers, int count, int places)
{
    two_stacks stacks = {.depth = 0};
    const char *difference = NULL;
    char text[256];
    int done = 0;
    for (; done < count && difference == NULL; done++) {
        step next = step_of(numbers[done], places);
        ctxrt_status status = two_stacks_call(&stacks, next);
        if (status != two_stacks_model(&stacks, next))
            difference = "the status";
        if (difference == NULL)
            difference = two_stacks_difference(&stacks);
        if (difference == NULL)
            difference = two_stacks_wrong_device(&stacks);
    }
    describe(text, sizeof text, numbers, done, places);
    ck_assert_msg(difference == NULL, "%s: %s is wrong", text, difference);
    difference = two_stacks_unwind(&stacks);
    ck_assert_msg(difference == NULL, "unwinding %s: %s is wrong", text, difference);
}

static void try_all_orders(int length, int places)
{
    int numbers[8] = {0};
    const int choices = 3 * places + 2;
    for (int position = 0; position < length;) {
        try_order(numbers, length, places);
        for (position = 0; position < length && ++numbers[position] == choices; position++)
            numbers[position] = 0;
    }
}

#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
enum { LENGTH = 5, LENGTH_WITH_TWO_GPUS = 4 };
#else
enum { LENGTH = 6, LENGTH_WITH_TWO_GPUS = 5 };
#endif

START_TEST(each_driver_s_stack_is_the_subsequence_of_frames_that_are_its_whatever_the_order_of_calls)
{
    try_all_orders(LENGTH, 2);
}
END_TEST

START_TEST(the_same_with_two_devices_of_one_of_the_drivers)
{
    try_all_orders(LENGTH_WITH_TWO_GPUS, 3);
}
END_TEST

/* ---- a failure in the middle ---- */

enum { CALLS_MAX = 100, PREPARATION = 3, CHOICES = 3 * PLACES + 2 };
static long failures_met, failures_seen;

static bool prepare(two_stacks *stacks, const int *numbers)
{
    for (int i = 0; i < PREPARATION; i++) {
        step next = step_of(numbers[i], PLACES);
        ctxrt_status status = two_stacks_call(stacks, next);
        if (status != two_stacks_model(stacks, next) || (status != CTXRT_SUCCESS))
            return false;
    }
    return true;
}

/* Whether a driver has, or would have, the same context twice in a row: a push or a pop that it
 * made and reports as failed then cannot be told from one that it refused, and counts as that. */
static bool has_twins(const two_stacks *stacks)
{
    int below[TWO_DRIVERS] = {-1, -1};
    for (int i = 0; i < stacks->depth; i++) {
        int place = stacks->frames[i].place, driver = two_drivers_of(place);
        if (below[driver] == place)
            return true;
        below[driver] = place;
    }
    return false;
}

static bool nobody_can_tell(const two_stacks *stacks, step next)
{
    two_stacks after = *stacks;
    (void)two_stacks_model(&after, next);
    return has_twins(stacks) || has_twins(&after);
}

/* Whether the call came as far as to fail. A scope ends in any case; what else fails has changed
 * nothing, and then does what it should. */
static bool fail_once(const int *numbers, long number, fault_mode mode)
{
    const step next = step_of(numbers[PREPARATION], PLACES);
    two_stacks stacks = {.depth = 0}, after;
    char text[256];
    describe(text, sizeof text, numbers, PREPARATION + 1, PLACES);
    bool prepared =
        prepare(&stacks, numbers) && (mode != FAULT_REPORTED || !nobody_can_tell(&stacks, next));
    bool met = false;
    if (prepared) {
        after = stacks;
        faults_arm(number, CXU_UNKNOWN, mode);
        ctxrt_status status = two_stacks_call(&stacks, next);
        met = faults_disarm() >= number;
        failures_met += met;
        failures_seen += met && status != CTXRT_SUCCESS;
        ctxrt_status wanted = two_stacks_model(&after, next);
        bool ended =
            status == CTXRT_SUCCESS || status == wanted || status == CTXRT_ERROR_STACK_LEFTOVER;
        const two_stacks *expected = ended ? &after : &stacks;
        const char *difference = two_stacks_difference(expected);
        ck_assert_msg(difference == NULL, "%s, where %s (call %ld) failed: %s, and %s is wrong",
                      text, faults_failed_call(), number, ctxrt_status_name(status), difference);
        if (!ended) {
            cx_assert_status(two_stacks_call(&stacks, next), wanted);
            difference = two_stacks_difference(&after);
            ck_assert_msg(difference == NULL, "%s; the second try: %s is wrong", text, difference);
        }
        memcpy(after.scopes, stacks.scopes, sizeof after.scopes);
        stacks = after;
    }
    const char *difference = two_stacks_unwind(&stacks);
    ck_assert_msg(difference == NULL, "unwinding %s: %s is wrong", text, difference);
    return met;
}

static void fail_everywhere(int *numbers, fault_mode mode)
{
    for (numbers[PREPARATION] = 0; numbers[PREPARATION] < CHOICES; numbers[PREPARATION]++) {
        long number = 1;
        while (number < CALLS_MAX && fail_once(numbers, number, mode))
            number++;
        ck_assert_int_lt(number, CALLS_MAX);
    }
}

START_TEST(a_failure_of_either_driver_in_the_middle_leaves_both_stacks_and_the_frames_as_before)
{
    const fault_mode mode = (_i & 1) == 0 ? FAULT_REFUSED : FAULT_REPORTED;
    int numbers[PREPARATION + 1];
    faults_install(&cx_drivers[_i >> 1]);
    for (int i = 0; i < CHOICES * CHOICES * CHOICES; i++) {
        numbers[0] = i % CHOICES;
        numbers[1] = i / CHOICES % CHOICES;
        numbers[2] = i / CHOICES / CHOICES;
        fail_everywhere(numbers, mode);
    }
    faults_remove();
    printf("# %ld failures, %ld of them told to the caller\n", failures_met, failures_seen);
    ck_assert_int_gt(failures_seen, 100);
}
END_TEST

static Suite *two_drivers_suite(void)
{
    Suite *suite = suite_create("two drivers");
    TCase *order = tcase_create("order");
    tcase_add_checked_fixture(order, start, end);
    tcase_set_timeout(order, 600);
    tcase_add_test(
        order,
        each_driver_s_stack_is_the_subsequence_of_frames_that_are_its_whatever_the_order_of_calls);
    tcase_add_test(order, the_same_with_two_devices_of_one_of_the_drivers);
    tcase_add_loop_test(
        order, a_failure_of_either_driver_in_the_middle_leaves_both_stacks_and_the_frames_as_before,
        0, 4);
    suite_add_tcase(suite, order);
    return suite;
}

CX_TESTS(two_drivers_suite);
