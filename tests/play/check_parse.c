#include "play/parse.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static cx_scenario *parse(const char *text, cx_parse_error *error)
{
    return cx_scenario_parse("test", text, strlen(text), error);
}

typedef struct wrong {
    const char *text;
    int line, column;
    const char *message; /* a part of it */
} wrong;

static const wrong wrongs[] = {
    {"A: ctx.craete a\n", 1, 4, "did you mean 'ctx.create'"},
    {"A: zzzzzzzzzz\n", 1, 4, "there is no verb 'zzzzzzzzzz'"},
    {"A ctx.create a\n", 1, 3, "':' should stand here"},
    {"\n\nA: ctx.create\n", 3, 14,
     "the name of context should stand here, not the end of the line"},
    {"A: ctx.push a\n", 1, 13, "nothing before this line has the name 'a'"},
    {"A: ctx.create a\nA: stream.sync a\n", 2, 16,
     "'a' is a name of context, and stream is wanted"},
    {"A: ctx.create a dev=\n", 1, 21, "a number should stand here, dev"},
    {"A: ctx.create a dev=0 dev=1\n", 1, 23, "'dev' is said twice"},
    {"A: ctx.create a color=1\n", 1, 17, "'color' is one word too many for ctx.create"},
    {"A: ctx.create a flags=SPEEDY\n", 1, 23, "'SPEEDY' is none of the words"},
    {"A: ctx.create a dev=4294967296\n", 1, 21, "does not fit"},
    {"A: ctx.create a\nA: mem.alloc p -1\n", 2, 16, "from 0 on"},
    {"A: ctx.create a\nA: mem.alloc p 99999999999999999999\n", 2, 16, "no number of 63 bits"},
    {"A: ctx.create a -> SUCESS\n", 1, 20, "did you mean 'SUCCESS'"},
    {"A: ctx.create a ->\n", 1, 19, "a result should stand here"},
    {"A: ctx.create a -> SUCCESS b\n", 1, 28, "more than ctx.create gives back"},
    {"A: ctx.get -> SUCCESS b\n", 1, 23, "nothing before this line has the name 'b'"},
    {"A: ctx.id none -> SUCCESS !@x\n", 1, 27, "has given '@x' a value"},
    {"A: ctx.sync -> SUCCESS untouched\n", 1, 24, "writes nothing"},
    {"A: ctx.sync -> any | any | any | any | any | any | any | any | any\n", 1, 64, "at most 8"},
    {"A: begin ctx.sync\n", 1, 1, "never finishes it"},
    {"A: finish\n", 1, 4, "A has begun nothing"},
    {"A: begin ctx.sync\nA: ctx.get\n", 2, 4, "must finish it first"},
    {"A: fork {\n", 1, 1, "has no '}'"},
    {"}\n", 1, 1, "no block that '}' could end"},
    {"A: fork\n", 1, 8, "'{' and the steps of fork should follow"},
    {"A: fork {\nB: ctx.get\n}\n", 2, 1, "only A has steps in the block of fork"},
    {"A: fork {\nA: begin ctx.sync\n}\n", 2, 10, "begin and finish cannot stand"},
    {"A: fork {\nA: fork {\n}\n}\n", 2, 4, "fork cannot stand in the block of fork"},
    {"A: process {\n}\n", 1, 4, "process belongs to no thread"},
    {"process {\nprocess {\n}\n}\n", 2, 1, "process cannot stand in a block"},
    {"A: exit {\n}\nA: ctx.get\n", 3, 1, "the process has ended in line 1"},
    {"A: ctx.get\ndevices 2\n", 2, 1, "stands before the first step"},
    {"devices 0\n", 1, 9, "1 to 64 devices"},
    {"devices 2 3\n", 1, 11, "one word too many"},
    {"needs\n", 1, 6, "lacks what it is about"},
    {"set PATH=/\n", 1, 5, "CTXRT_EMU_NAME=VALUE"},
    {"schedule sometimes\n", 1, 10, "threads, lazy or random:SEED"},
    {"A: stream.create none\n", 1, 18, "cannot be a name"},
    {"A: stream.host f legacy gate=g {\n  f: ctx.get\n} # no\n", 3, 3, "stands alone"},
    {"A: ctx.get \x01\n", 1, 12, "the byte 0x01"},
    {"A: ctx.get null=here\n", 1, 17, "'here' is nothing that ctx.get writes"},
    {"A: ctx.get null\n", 1, 16, "'=' should stand here"},
    {"A: mem.expect none 1 1 null=offset\n", 1, 29, "nothing that mem.expect writes"},
    {"A: ctx.get $\n", 1, 12, "'$' is one word too many"},
    {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: ctx.get\n", 1, 1,
     "at most 63 letters"},
};

START_TEST(what_is_wrong_is_told_with_its_place)
{
    const wrong *expected = &wrongs[_i];
    cx_parse_error error;
    cx_scenario *scenario = parse(expected->text, &error);
    ck_assert_msg(scenario == NULL, "taken: %s", expected->text);
    ck_assert_msg(strstr(error.message, expected->message) != NULL, "%s: %s", expected->text,
                  error.message);
    ck_assert_msg(error.line == expected->line && error.column == expected->column, "%s: %d:%d %s",
                  expected->text, error.line, error.column, error.message);
}
END_TEST

START_TEST(a_step_has_its_thread_operands_and_outcomes)
{
    cx_parse_error error;
    cx_scenario *scenario = parse(
        "devices 3\nB: ctx.create a flags=SCHED_SPIN+MAP_HOST -> SUCCESS | INVALID_VALUE untouched"
        " unverified # C1 [?]\n",
        &error);
    ck_assert_msg(scenario != NULL, "%s", error.message);
    const cx_line *line = scenario->lines.first;
    ck_assert_int_eq(line->kind, CX_LINE_DIRECTIVE);
    ck_assert_int_eq(line->devices, 3);
    line = line->next;
    ck_assert_int_eq(line->number, 2);
    ck_assert_str_eq(line->note, " C1 [?]");
    const cx_step *step = &line->step;
    ck_assert_str_eq(step->thread, "B");
    ck_assert_ptr_eq(step->verb, &cx_verbs[CX_VERB_ctx_create]);
    ck_assert_str_eq(step->operands[0].name, "a");
    ck_assert(!step->operands[1].given);
    ck_assert_int_eq(step->operands[2].number, CXU_CTX_SCHED_SPIN | CXU_CTX_MAP_HOST);
    ck_assert_int_eq(step->outcomes->result, CXU_SUCCESS);
    ck_assert_int_eq(step->outcomes->next->result, CXU_INVALID_VALUE);
    ck_assert(step->outcomes->next->untouched);
    ck_assert(step->unverified);
    ck_assert_ptr_null(line->next);
    cx_scenario_destroy(scenario);
}
END_TEST

START_TEST(a_file_without_a_last_newline_or_with_other_newlines_is_read)
{
    cx_parse_error error;
    cx_scenario *scenario = parse("A: ctx.create a\r\nA: ctx.get -> SUCCESS a", &error);
    ck_assert_msg(scenario != NULL, "%s", error.message);
    cx_scenario_destroy(scenario);
}
END_TEST

START_TEST(an_empty_text_is_a_scenario_without_steps)
{
    cx_parse_error error;
    cx_scenario *scenario = cx_scenario_parse("test", "", 0, &error);
    ck_assert_ptr_nonnull(scenario);
    ck_assert_ptr_null(scenario->lines.first);
    cx_scenario_destroy(scenario);
}
END_TEST

START_TEST(a_name_may_be_made_again_as_another_kind)
{
    cx_parse_error error;
    cx_scenario *scenario =
        parse("A: ctx.create a\nA: stream.create a\nA: stream.sync a\n", &error);
    ck_assert_msg(scenario != NULL, "%s", error.message);
    cx_scenario_destroy(scenario);
}
END_TEST

START_TEST(names_of_another_process_are_not_known)
{
    cx_parse_error error;
    ck_assert_ptr_null(parse("A: ctx.create a\nprocess {\nA: ctx.push a\n}\n", &error));
    ck_assert_int_eq(error.line, 3);
}
END_TEST

START_TEST(handles_for_processes_are_known_to_all_of_them)
{
    cx_parse_error error;
    cx_scenario *scenario =
        parse("A: event.create e\nA: ipc.event i e\nprocess {\nA: ipc.open_event f i\n"
              "A: ipc.event j f\n}\nA: ipc.open_event g j\n",
              &error);
    ck_assert_msg(scenario != NULL, "%s", error.message);
    cx_scenario_destroy(scenario);
}
END_TEST

START_TEST(an_error_is_shown_below_its_line)
{
    static const char text[] = "A: ctx.get\n\tA: ctx.gett # \xff\n";
    cx_parse_error error;
    ck_assert_ptr_null(cx_scenario_parse("file", text, sizeof text - 1, &error));
    char *shown = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&shown, &length);
    cx_parse_error_print(&error, "file", text, sizeof text - 1, to);
    fclose(to);
    ck_assert_str_eq(shown, "file:2:5: there is no verb 'ctx.gett'; did you mean 'ctx.get'?\n"
                            " A: ctx.gett # ?\n    ^\n");
    free(shown);
}
END_TEST

/* Every beginning of a text, and the text with each byte replaced, is taken or refused; nothing
 * else. */
START_TEST(any_bytes_are_taken_or_refused)
{
    static const char text[] =
        "devices 2\nneeds peers 12.5\nA: ctx.create a dev=1 -> SUCCESS | any # x\n"
        "A: begin stream.sync legacy -> WAITS\nA: finish -> SUCCESS unverified\n"
        "A: stream.host f none gate=g {\n f: ctx.id a -> SUCCESS @x\n}\n"
        "process {\nuninitialised\nB: init\n}\n";
    static const char bytes[] = {'\0', '\n', '#', '}', '{', ':',
                                 '=',  '-',  '9', 'A', '@', (char)0xff};
    char changed[sizeof text];
    cx_parse_error error;
    for (size_t length = 0; length < sizeof text; length++)
        cx_scenario_destroy(cx_scenario_parse("test", text, length, &error));
    for (size_t at = 0; at < sizeof text - 1; at++)
        for (size_t i = 0; i < sizeof bytes; i++) {
            memcpy(changed, text, sizeof text);
            changed[at] = bytes[i];
            cx_scenario *scenario = cx_scenario_parse("test", changed, sizeof text - 1, &error);
            ck_assert(scenario != NULL ||
                      (error.line >= 1 && error.column >= 1 && error.message[0] != '\0'));
            cx_scenario_destroy(scenario);
        }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("scenarios from text");
    TCase *tests = tcase_create("parse");
    tcase_add_loop_test(tests, what_is_wrong_is_told_with_its_place, 0,
                        sizeof wrongs / sizeof wrongs[0]);
    tcase_add_test(tests, a_step_has_its_thread_operands_and_outcomes);
    tcase_add_test(tests, a_file_without_a_last_newline_or_with_other_newlines_is_read);
    tcase_add_test(tests, an_empty_text_is_a_scenario_without_steps);
    tcase_add_test(tests, a_name_may_be_made_again_as_another_kind);
    tcase_add_test(tests, names_of_another_process_are_not_known);
    tcase_add_test(tests, handles_for_processes_are_known_to_all_of_them);
    tcase_add_test(tests, an_error_is_shown_below_its_line);
    tcase_add_test(tests, any_bytes_are_taken_or_refused);
    suite_add_tcase(suite, tests);
    return suite;
}

CX_TESTS(make_suite);
