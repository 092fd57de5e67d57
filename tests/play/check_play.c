#include "play/parse.h"
#include "play/play.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#define TIMEOUT_MS 2000

typedef struct played {
    cx_verdict verdict;
    char *report;
} played;

static played play_as(const char *text, cx_play_options options)
{
    cx_parse_error error;
    cx_scenario *scenario = cx_scenario_parse("test", text, strlen(text), &error);
    ck_assert_msg(scenario != NULL, "%d:%d: %s", error.line, error.column, error.message);
    options.timeout_ms = TIMEOUT_MS;
    cx_tape *tape = cx_play(scenario, &options);
    ck_assert_ptr_nonnull(tape);
    played self = {.verdict = cx_play_verdict(scenario, tape)};
    size_t length;
    FILE *to = open_memstream(&self.report, &length);
    cx_play_report(scenario, tape, to);
    fclose(to);
    cx_tape_destroy(tape);
    cx_scenario_destroy(scenario);
    return self;
}

static void check_passes(const char *text)
{
    played self = play_as(text, (cx_play_options){0});
    ck_assert_msg(self.verdict == CX_VERDICT_PASSED && self.report[0] == '\0', "%s", self.report);
    free(self.report);
}

static void check_verdict(cx_verdict verdict, const char *text, const char *part)
{
    played self = play_as(text, (cx_play_options){0});
    ck_assert_msg(self.verdict == verdict, "%s%s", text, self.report);
    ck_assert_msg(strstr(self.report, part) != NULL, "%s: %s", part, self.report);
    free(self.report);
}

static void check_fails(const char *text, const char *part)
{
    check_verdict(CX_VERDICT_FAILED, text, part);
}

START_TEST(a_result_that_differs_is_told_with_its_rule)
{
    check_fails("A: ctx.create a\nA: ctx.push a -> INVALID_VALUE # S1 [D]\n",
                "test:2: A: ctx.push a\n    expected  INVALID_VALUE\n    came back SUCCESS\n    "
                "rule      S1 [D]\n");
}
END_TEST

START_TEST(a_value_that_differs_is_told_by_name)
{
    check_fails("A: ctx.create a\nA: ctx.create b\nA: ctx.get -> SUCCESS a\n",
                "expected  SUCCESS a\n    came back SUCCESS b\n");
    check_fails("A: ctx.create a\nA: stream.create s\nA: stream.flags s -> SUCCESS NON_BLOCKING\n",
                "came back SUCCESS DEFAULT\n");
}
END_TEST

START_TEST(a_step_without_an_expectation_must_succeed)
{
    check_fails("A: ctx.sync\n", "expected  SUCCESS\n    came back INVALID_CONTEXT\n");
}
END_TEST

START_TEST(the_steps_behind_a_mismatch_are_not_run)
{
    check_fails("A: ctx.sync\nA: ctx.get\n", "test:2: this step and those behind it were not run");
}
END_TEST

START_TEST(one_of_several_outcomes_is_enough)
{
    check_passes("A: ctx.sync -> NOT_READY | INVALID_CONTEXT\nA: ctx.sync -> any\n");
    check_fails("A: ctx.sync -> NOT_READY | SUCCESS\n", "expected  NOT_READY | SUCCESS\n");
}
END_TEST

START_TEST(a_written_result_is_not_untouched)
{
    check_fails("A: ctx.get -> SUCCESS untouched\n", "expected  SUCCESS untouched");
}
END_TEST

START_TEST(the_same_value_is_told_from_another)
{
    check_passes("A: ctx.create a\nA: ctx.create b\nA: ctx.id a -> SUCCESS @i\nA: ctx.id b -> "
                 "SUCCESS !@i\n");
    check_fails(
        "A: ctx.create a\nA: ctx.create b\nA: ctx.id a -> SUCCESS @i\nA: ctx.id b -> SUCCESS @i\n",
        "test:4: A: ctx.id b");
    check_fails("A: ctx.create a\nA: ctx.id a -> SUCCESS @i\nA: ctx.id a -> SUCCESS !@i\n",
                "test:3:");
}
END_TEST

START_TEST(content_that_differs_is_told_with_its_place)
{
    check_fails("A: ctx.create a\nA: mem.alloc p 64\nA: mem.fill p 7 64\nA: mem.fill p+9 8 1\n"
                "A: mem.expect p 7 64\n",
                "came back DIFFERS 9 8\n");
    check_passes("A: host.malloc h 16\nA: host.fill h+4 200 4\nA: host.expect h 0 4\nA: "
                 "host.expect h+4 200 4\n"
                 "A: host.expect h 0 16 -> DIFFERS 4 200\n");
}
END_TEST

START_TEST(a_thread_that_waits_is_told_from_one_that_does_not)
{
    check_passes("A: ctx.create a\nA: stream.create s\nA: stream.host f s gate=g\n"
                 "A: begin stream.sync s -> WAITS\nB: gate.open g\nA: finish\n");
    check_fails("A: ctx.create a\nA: stream.create s\nA: begin stream.sync s -> WAITS\nA: finish\n",
                "expected  WAITS\n    came back SUCCESS\n");
}
END_TEST

START_TEST(a_step_that_never_comes_back_is_told)
{
    check_fails(
        "A: ctx.create a\nA: stream.create s\nA: stream.host f s gate=g\nA: stream.sync s # T12\n",
        "came back STUCK\n");
}
END_TEST

START_TEST(steps_inside_a_host_function_are_judged)
{
    check_fails("A: ctx.create a\nA: stream.host f none {\nf: host.malloc h 8\nf: host.expect h 1 "
                "8\n}\nA: function.wait f\n",
                "test:4: f: host.expect h 1 8\n    expected  SUCCESS\n    came back DIFFERS 0 0\n");
}
END_TEST

START_TEST(steps_inside_a_fork_are_judged)
{
    check_fails("A: fork {\nA: device.count -> SUCCESS _ # I4 [O]\n}\n",
                "test:2: A: device.count\n    expected  SUCCESS _\n    came back NOT_INITIALIZED");
}
END_TEST

START_TEST(steps_of_another_process_are_judged)
{
    check_passes(
        "A: ctx.create a\nprocess {\nA: ctx.get -> SUCCESS none\n}\nA: ctx.get -> SUCCESS a\n");
    check_fails("process {\nA: ctx.sync\n}\n", "test:2: A: ctx.sync\n");
}
END_TEST

START_TEST(steps_of_an_exit_handler_are_judged)
{
    check_passes("A: exit {\nA: ctx.get -> DEINITIALIZED\n}\n");
    check_fails("A: exit {\nA: ctx.get -> SUCCESS none\n}\n", "came back DEINITIALIZED");
}
END_TEST

START_TEST(a_process_that_dies_is_told_with_the_line)
{
    check_fails("A: ctx.create a\nA: host.expect none 0 1\n", "line 2: the process was killed by");
}
END_TEST

START_TEST(what_the_driver_lacks_skips_the_scenario)
{
    check_verdict(CX_VERDICT_SKIPPED, "needs cuNoSuchCall\nA: ctx.sync\n",
                  "line 1: it needs cuNoSuchCall");
    check_verdict(CX_VERDICT_SKIPPED, "needs 99.0\n", "it needs 99.0");
    check_passes("needs embedded 11.0 cuCtxGetId\ndevices 3\nA: device.count -> SUCCESS 3\n");
}
END_TEST

START_TEST(a_libcuda_that_is_not_there_skips_the_scenario)
{
    played self = play_as("A: ctx.get\n", (cx_play_options){.libcuda = "/nowhere/libcuda.so.1"});
    ck_assert_int_eq(self.verdict, CX_VERDICT_SKIPPED);
    ck_assert_msg(strstr(self.report, "/nowhere/libcuda.so.1 could not be loaded") != NULL, "%s",
                  self.report);
    free(self.report);
}
END_TEST

START_TEST(a_thread_that_ended_begins_anew)
{
    check_passes("A: ctx.create a\nA: thread.end\nA: ctx.get -> SUCCESS none\n");
}
END_TEST

START_TEST(a_record_goes_on_behind_mismatches)
{
    played self =
        play_as("A: ctx.sync\nA: ctx.get -> SUCCESS none\n", (cx_play_options){.record = true});
    ck_assert_int_eq(self.verdict, CX_VERDICT_FAILED);
    ck_assert_ptr_null(strstr(self.report, "test:2"));
    free(self.report);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("scenarios played");
    TCase *tests = tcase_create("play");
    tcase_add_test(tests, a_result_that_differs_is_told_with_its_rule);
    tcase_add_test(tests, a_value_that_differs_is_told_by_name);
    tcase_add_test(tests, a_step_without_an_expectation_must_succeed);
    tcase_add_test(tests, the_steps_behind_a_mismatch_are_not_run);
    tcase_add_test(tests, one_of_several_outcomes_is_enough);
    tcase_add_test(tests, a_written_result_is_not_untouched);
    tcase_add_test(tests, the_same_value_is_told_from_another);
    tcase_add_test(tests, content_that_differs_is_told_with_its_place);
    tcase_add_test(tests, a_thread_that_waits_is_told_from_one_that_does_not);
    tcase_add_test(tests, a_step_that_never_comes_back_is_told);
    tcase_add_test(tests, steps_inside_a_host_function_are_judged);
    tcase_add_test(tests, steps_inside_a_fork_are_judged);
    tcase_add_test(tests, steps_of_another_process_are_judged);
    tcase_add_test(tests, steps_of_an_exit_handler_are_judged);
    tcase_add_test(tests, a_process_that_dies_is_told_with_the_line);
    tcase_add_test(tests, what_the_driver_lacks_skips_the_scenario);
    tcase_add_test(tests, a_libcuda_that_is_not_there_skips_the_scenario);
    tcase_add_test(tests, a_thread_that_ended_begins_anew);
    tcase_add_test(tests, a_record_goes_on_behind_mismatches);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    static Suite *(*const suites[])(void) = {make_suite, NULL};
    return cx_test_run(suites);
}
