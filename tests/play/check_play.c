#include "play/parse.h"
#include "play/play.h"
#include "play/record.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

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

START_TEST(an_unverified_step_that_differs_is_told_and_passes_on_a_real_driver)
{
    static const char text[] = "A: ctx.push none -> SUCCESS unverified # S6 [?]\nA: ctx.get\n";
    cx_parse_error error;
    cx_scenario *scenario = cx_scenario_parse("test", text, strlen(text), &error);
    cx_play_options options = {.timeout_ms = TIMEOUT_MS, .record = true};
    cx_tape *tape = cx_play(scenario, &options);
    char *report;
    size_t length;
    FILE *to = open_memstream(&report, &length);
    ck_assert_int_eq(cx_play_verdict(scenario, tape), CX_VERDICT_FAILED);
    tape->emulated = false; /* all else comes back alike there */
    ck_assert_int_eq(cx_play_verdict(scenario, tape), CX_VERDICT_PASSED);
    cx_play_report(scenario, tape, to);
    fclose(to);
    ck_assert_str_eq(report, "test:1: A: ctx.push none unverified\n    expected  SUCCESS\n"
                             "    came back INVALID_VALUE\n    rule      S6 [?]\n");
    free(report);
    cx_tape_destroy(tape);
    cx_scenario_destroy(scenario);
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
    check_fails("A: ctx.create a\nA: host.expect none 0 1\n", "line 2: the process ");
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

/* ---- what was never waited for ---- */

#define LAZY                                                                                  \
    "schedule lazy\nA: ctx.create a\nA: stream.create s\nA: stream.create t\nA: mem.alloc p " \
    "4096\n"                                                                                  \
    "A: host.alloc h 4096\nA: host.fill h 1 4096\n"

START_TEST(a_copy_that_was_never_waited_for_is_named_every_time)
{
    for (int i = 0; i < 20; i++)
        check_fails(LAZY "A: mem.fill_async p 7 4096 s\nA: copy.dtoh_async h p 4096 s\n"
                         "A: host.expect h 7 4096\n",
                    "line 9 (A: copy.dtoh_async h p 4096 s) writes it, and was never waited for");
}
END_TEST

START_TEST(two_streams_that_nothing_orders_are_named_every_time)
{
    for (int i = 0; i < 20; i++)
        check_fails(
            LAZY "A: mem.fill_async p 7 4096 s\nA: copy.dtoh_async h p 4096 t\nA: stream.sync t\n"
                 "A: host.expect h 7 4096\n",
            "line 8 (A: mem.fill_async p 7 4096 s) writes in s what line 9 (A: copy.dtoh_async "
            "h p 4096 t) reads");
}
END_TEST

START_TEST(memory_changed_before_it_was_read_is_named_every_time)
{
    for (int i = 0; i < 20; i++)
        check_fails(
            LAZY "A: copy.htod_async p h 4096 s\nA: host.fill h 2 4096\nA: stream.sync s\n"
                 "A: mem.expect p 1 4096\n",
            "line 9 (A: host.fill h 2 4096) changes memory that line 8 (A: copy.htod_async p h "
            "4096 s) reads");
}
END_TEST

/* Each way of waiting: nothing is wrong then. */
START_TEST(whoever_waits_gets_the_right_answer)
{
    static const char *const waits[] = {
        "A: stream.sync s\n",
        "A: ctx.sync\n",
        "A: event.create e\nA: event.record e s\nA: event.sync e\n",
        "A: event.create e\nA: event.record e s\nA: stream.wait t e\nA: stream.sync t\n",
        "A: stream.sync legacy\n",
        "A: mem.free p\n",
        "A: stream.host f s\nA: stream.sync s\nA: function.wait f\n",
    };
    char text[2048];
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
        snprintf(text, sizeof text,
                 LAZY "A: mem.fill_async p 7 4096 s\nA: copy.dtoh_async h p 4096 s\n%s"
                      "A: host.expect h 7 4096\n",
                 waits[i]);
        check_passes(text);
    }
}
END_TEST

/* The driver was right and the scenario's own number is wrong: there is nothing to explain. */
START_TEST(work_that_was_waited_for_is_not_blamed)
{
    played self =
        play_as(LAZY "A: mem.fill_async p 7 4096 s\nA: event.create e\nA: event.record e s\n"
                     "A: stream.wait t e\nA: copy.dtoh_async h p 4096 t\nA: stream.sync t\n"
                     "A: host.expect h 8 4096\n",
                (cx_play_options){0});
    ck_assert_int_eq(self.verdict, CX_VERDICT_FAILED);
    ck_assert_msg(strstr(self.report, "why") == NULL, "%s", self.report);
    free(self.report);
}
END_TEST

/* What a graph does is not followed, so nothing is said that might be wrong. */
START_TEST(what_was_captured_is_not_blamed)
{
    played self =
        play_as(LAZY "A: capture.begin s\nA: mem.fill_async p 7 4096 s\nA: capture.end g s\n"
                     "A: copy.dtoh_async h p 4096 t\nA: host.expect h 7 4096\n",
                (cx_play_options){0});
    ck_assert_int_eq(self.verdict, CX_VERDICT_FAILED);
    ck_assert_msg(strstr(self.report, "why") == NULL, "%s", self.report);
    free(self.report);
}
END_TEST

/* ---- recordings ---- */

static char *record(const char *text)
{
    cx_parse_error error;
    cx_scenario *scenario = cx_scenario_parse("test", text, strlen(text), &error);
    ck_assert_msg(scenario != NULL, "%d:%d: %s", error.line, error.column, error.message);
    cx_tape *tape = cx_play(scenario, &(cx_play_options){.record = true, .timeout_ms = TIMEOUT_MS});
    ck_assert(cx_record_apply(scenario, tape));
    char *recorded = NULL;
    size_t length;
    FILE *to = open_memstream(&recorded, &length);
    ck_assert(cx_record_print(scenario, tape, to));
    fclose(to);
    cx_tape_destroy(tape);
    cx_scenario_destroy(scenario);
    return recorded;
}

START_TEST(a_recording_says_what_came_back_and_plays_again)
{
    char *recorded =
        record("A: ctx.sync -> SUCCESS # Q1 [D]\nA: ctx.create a\nA: ctx.get -> SUCCESS none\n"
               "A: ctx.id a -> SUCCESS @x\nA: ctx.device -> SUCCESS _\n"
               "process {\nA: ctx.get -> INVALID_VALUE\n}\n"
               "A: begin ctx.sync -> WAITS\nA: finish\n");
    ck_assert_ptr_eq(strstr(recorded, "# recorded on ctxrt emulated GPU, CUDA 13.0, 20"), recorded);
    static const char *const parts[] = {"-> INVALID_CONTEXT", "# Q1 [D]",
                                        "-> SUCCESS a\n",     "-> SUCCESS @x\n",
                                        "-> SUCCESS _\n",     "-> SUCCESS none\n"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        ck_assert_msg(strstr(recorded, parts[i]) != NULL, "%s: %s", parts[i], recorded);
    ck_assert_ptr_null(strstr(recorded, "WAITS"));
    check_passes(recorded);
    free(recorded);
}
END_TEST

START_TEST(a_recording_keeps_the_alternatives_of_a_step_that_matched)
{
    char *recorded = record("A: ctx.sync -> SUCCESS | INVALID_CONTEXT | INVALID_VALUE # Q1 [D]\n"
                            "A: ctx.get -> INVALID_VALUE | SUCCESS none\n");
    static const char *const parts[] = {"-> INVALID_CONTEXT | SUCCESS | INVALID_VALUE # Q1",
                                        "-> SUCCESS none | INVALID_VALUE\n"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        ck_assert_msg(strstr(recorded, parts[i]) != NULL, "%s: %s", parts[i], recorded);
    check_passes(recorded);
    free(recorded);
    recorded = record("A: ctx.sync -> SUCCESS | INVALID_VALUE\n");
    ck_assert_msg(strstr(recorded, "-> INVALID_CONTEXT\n") != NULL, "%s", recorded);
    free(recorded);
}
END_TEST

START_TEST(steps_that_were_not_run_are_recorded_as_anything)
{
    char *recorded = record("A: ctx.create a\nA: stream.create s\nA: stream.host f s gate=g\n"
                            "A: stream.sync s\nB: gate.open g\n");
    ck_assert_msg(strstr(recorded, "-> STUCK\n") != NULL, "%s", recorded);
    ck_assert_msg(strstr(recorded, "B: gate.open g                   -> any\n") != NULL, "%s",
                  recorded);
    free(recorded);
}
END_TEST

#define MANY_THREADS 1000
#define SWITCHES_PER_STEP 50 /* were each step to wake all threads, there would be 1,000 */

static void write_many_threads(FILE *to)
{
    fputs("M: ctx.create a\n", to);
    for (int i = 0; i < MANY_THREADS; i++)
        fprintf(to, "T%d: ctx.push a\n", i);
    for (int i = 0; i < MANY_THREADS; i++)
        fprintf(to, "T%d: ctx.get -> SUCCESS a\n", i);
}

START_TEST(a_step_wakes_only_the_thread_that_runs_it)
{
    char *text;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    write_many_threads(to);
    fclose(to);
    check_passes(text);
    free(text);

    struct rusage used; /* of the process that played it */
    ck_assert_int_eq(getrusage(RUSAGE_CHILDREN, &used), 0);
    ck_assert_int_lt(used.ru_nvcsw, 2 * MANY_THREADS * SWITCHES_PER_STEP);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("scenarios played");
    TCase *tests = tcase_create("play");
    tcase_add_test(tests, a_result_that_differs_is_told_with_its_rule);
    tcase_add_test(tests, a_value_that_differs_is_told_by_name);
    tcase_add_test(tests, an_unverified_step_that_differs_is_told_and_passes_on_a_real_driver);
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

    TCase *many = tcase_create("many threads");
    tcase_add_test(many, a_step_wakes_only_the_thread_that_runs_it);
    suite_add_tcase(suite, many);

    TCase *waits = tcase_create("waiting");
    tcase_add_test(waits, a_copy_that_was_never_waited_for_is_named_every_time);
    tcase_add_test(waits, two_streams_that_nothing_orders_are_named_every_time);
    tcase_add_test(waits, memory_changed_before_it_was_read_is_named_every_time);
    tcase_add_test(waits, whoever_waits_gets_the_right_answer);
    tcase_add_test(waits, work_that_was_waited_for_is_not_blamed);
    tcase_add_test(waits, what_was_captured_is_not_blamed);
    suite_add_tcase(suite, waits);

    TCase *recordings = tcase_create("recordings");
    tcase_add_test(recordings, a_recording_says_what_came_back_and_plays_again);
    tcase_add_test(recordings, a_recording_keeps_the_alternatives_of_a_step_that_matched);
    tcase_add_test(recordings, steps_that_were_not_run_are_recorded_as_anything);
    suite_add_tcase(suite, recordings);
    return suite;
}

CX_TESTS(make_suite);
