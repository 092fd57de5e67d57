#include "play/parse.h"
#include "play/print.h"
#include "test.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static char *print(const cx_scenario *scenario)
{
    char *text = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&text, &length);
    ck_assert(cx_scenario_print(scenario, to));
    fclose(to);
    return text;
}

static void check_round_trip(const cx_scenario *scenario)
{
    cx_parse_error error;
    char *text = print(scenario);
    cx_scenario *again = cx_scenario_parse(scenario->file, text, strlen(text), &error);
    ck_assert_msg(again != NULL, "%s:%d:%d: %s\n%s", scenario->file, error.line, error.column,
                  error.message, text);
    ck_assert_msg(cx_scenario_same(scenario, again), "not the same: %s\n%s", scenario->file, text);
    cx_scenario_destroy(again);
    free(text);
}

static void check_text(const char *text)
{
    cx_parse_error error;
    cx_scenario *scenario = cx_scenario_parse("test", text, strlen(text), &error);
    ck_assert_msg(scenario != NULL, "%d:%d: %s", error.line, error.column, error.message);
    check_round_trip(scenario);
    cx_scenario_destroy(scenario);
}

START_TEST(what_is_printed_is_parsed_as_the_same)
{
    check_text(
        "# first\n\n devices 2 # two\nneeds  peers   12.5 cuCtxGetId\nschedule lazy\n"
        "set CTXRT_EMU_FAULT=cuMemAlloc@2:OUT_OF_MEMORY\n"
        "A: ctx.create a dev=0x1 flags=SCHED_SPIN+MAP_HOST -> SUCCESS\n"
        "A: ctx.create b flags=0x4000\n"
        "A: mem.alloc p 64 -> SUCCESS|OUT_OF_MEMORY untouched | any\n"
        "A: pointer.context p+16 -> SUCCESS a unverified # T7 [?]\n"
        "A: pointer.all 0x1234 -> SUCCESS none UNKNOWN none -2\n"
        "A: primary.state null=active null=flags -> any\nA: mem.alloc q 64 null=p -> "
        "INVALID_VALUE\n"
        "A: ctx.id a -> SUCCESS @x\nA: ctx.id none -> SUCCESS !@x\nA: limit.get 99 -> any\n"
        "A: begin stream.sync legacy -> WAITS\nB: stream.query per_thread -> SUCCESS\nA: finish -> "
        "SUCCESS\n"
        "A: begin stream.ctx none\nA: finish -> SUCCESS _ | SUCCESS a\n"
        "A: stream.host f none gate=g {\n#inner\n\nf: ctx.get -> NOT_PERMITTED\n}\n"
        "A: stream.callback k none\n"
        "process { # other\nuninitialised\nB: init\nB: exit when=before {\nB: ctx.get\n}\n}\n");
}
END_TEST

/* Of these kinds nothing is there when the verb's turn comes. */
static bool nobody_makes(cx_kind kind)
{
    return kind == CX_KIND_GRAPH || kind == CX_KIND_EXEC || kind == CX_KIND_HANDLE ||
           kind == CX_KIND_FILE || kind == CX_KIND_POOL || kind == CX_KIND_MODULE ||
           kind == CX_KIND_LIBRARY || kind == CX_KIND_KERNEL || kind == CX_KIND_NODE ||
           kind == CX_KIND_GREEN || kind == CX_KIND_OBJECT ||
           kind == CX_KIND_IPC;
}

/* Each verb with each of its operands given. */
START_TEST(every_verb_can_be_built_printed_and_parsed)
{
    static const char *const names[CX_KIND_COUNT] = {"c", "s", "e", "p", "h", "r", "x", "m",
                                                     "d", "l", "u", "b", "k", "n", "w", "o", "i",
                                                     "g", "f"};
    const cx_verb *verb = &cx_verbs[_i];
    cx_scenario *scenario = cx_scenario_create("built");
    static const cx_verb_id makers[] = {CX_VERB_ctx_create,   CX_VERB_stream_create,
                                        CX_VERB_event_create, CX_VERB_mem_alloc,
                                        CX_VERB_host_alloc,   CX_VERB_stream_host};
    static const char *const made[] = {"c", "s", "e", "p", "h", "f"};
    for (size_t i = 0; i < sizeof makers / sizeof makers[0]; i++) {
        cx_step *step = cx_scenario_step(scenario, "A", makers[i]);
        ck_assert(cx_step_name(scenario, step, 0, made[i]));
        if (makers[i] == CX_VERB_mem_alloc || makers[i] == CX_VERB_host_alloc)
            cx_step_number(step, 1, 64);
        if (makers[i] == CX_VERB_stream_host)
            ck_assert(cx_step_name(scenario, step, 1, "legacy"));
    }
    cx_step *step = cx_scenario_step(scenario, "A", (cx_verb_id)_i);
    if (_i == CX_VERB_process)
        step->thread = NULL;
    step->has_block = verb->takes_block;
    step->nowhere = !verb->action && cx_verb_out_kind(verb, 0) != CX_KIND_COUNT;
    for (int i = 0; verb->operands[i].role != CX_ROLE_NONE; i++) {
        if (verb->operands[i].role == CX_ROLE_NUMBER || verb->operands[i].role == CX_ROLE_KEY)
            cx_step_number(step, i, 1);
        else if (verb->operands[i].role != CX_ROLE_NEW && nobody_makes(verb->operands[i].kind))
            ck_assert(cx_step_name(scenario, step, i, "none"));
        else
            ck_assert(cx_step_name(scenario, step, i, names[verb->operands[i].kind]));
    }
    cx_outcome *outcome = cx_step_expect(scenario, step, CXU_SUCCESS);
    for (; verb->results[outcome->value_count].name != NULL; outcome->value_count++)
        outcome->values[outcome->value_count] =
            cx_kind_is_number(verb->results[outcome->value_count].kind)
                ? (cx_expected){.kind = CX_EXPECTED_NUMBER, .number = 1}
                : (cx_expected){.kind = CX_EXPECTED_NAME, .name = "none"};
    cx_step_expect(scenario, step, CXU_INVALID_VALUE);
    check_round_trip(scenario);
    cx_scenario_destroy(scenario);
}
END_TEST

static int check_folder(const char *path)
{
    int files = 0;
    char name[4096];
    DIR *folder = opendir(path);
    ck_assert_msg(folder != NULL, "%s", path);
    for (struct dirent *each = readdir(folder); each != NULL; each = readdir(folder)) {
        snprintf(name, sizeof name, "%s/%s", path, each->d_name);
        if (each->d_name[0] == '.')
            continue;
        if (strstr(each->d_name, ".scn") == NULL) {
            files += each->d_type == DT_DIR ? check_folder(name) : 0;
            continue;
        }
        cx_scenario *scenario = cx_scenario_read(name, stderr);
        ck_assert_msg(scenario != NULL, "%s", name);
        check_round_trip(scenario);
        cx_scenario_destroy(scenario);
        files++;
    }
    closedir(folder);
    return files;
}

START_TEST(every_scenario_of_the_project_is_printed_and_parsed)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/scenarios", getenv("top_srcdir"));
    ck_assert_int_gt(check_folder(path), 60);
}
END_TEST

START_TEST(scenarios_that_differ_in_one_thing_are_not_the_same)
{
    static const char *const texts[] = {
        "A: ctx.create a\n",
        "B: ctx.create a\n",
        "A: ctx.create b\n",
        "A: ctx.create a dev=0\n",
        "A: ctx.create a dev=1\n",
        "A: ctx.create a -> SUCCESS\n",
        "A: ctx.create a -> any\n",
        "A: ctx.create a unverified\n",
        "A: ctx.create a # n\n",
        "A: ctx.create a\n\n",
        "A: ctx.create_v4 a\n",
        "A: ctx.create a -> any untouched\n",
        "A: ctx.create a -> SUCCESS | any\n",
        "A: begin ctx.create a\nA: finish\n",
        "A: ctx.get\n",
        "A: ctx.get null=current\n",
        "A: fork {\n}\n",
        "A: fork {\nA: ctx.get\n}\n",
        "devices 1\n",
        "devices 2\n",
        "needs peers\n",
        "",
    };
    enum { TEXTS = sizeof texts / sizeof texts[0] };
    cx_scenario *scenarios[TEXTS];
    cx_parse_error error;
    for (int i = 0; i < TEXTS; i++)
        ck_assert_ptr_nonnull(
            (scenarios[i] = cx_scenario_parse("test", texts[i], strlen(texts[i]), &error)));
    for (int i = 0; i < TEXTS; i++)
        for (int j = 0; j < TEXTS; j++)
            ck_assert_msg(cx_scenario_same(scenarios[i], scenarios[j]) == (i == j), "%s%s",
                          texts[i], texts[j]);
    for (int i = 0; i < TEXTS; i++)
        cx_scenario_destroy(scenarios[i]);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("scenarios as text");
    TCase *tests = tcase_create("print");
    tcase_add_test(tests, what_is_printed_is_parsed_as_the_same);
    tcase_add_loop_test(tests, every_verb_can_be_built_printed_and_parsed, 0, CX_VERB_COUNT);
    tcase_add_test(tests, every_scenario_of_the_project_is_printed_and_parsed);
    tcase_add_test(tests, scenarios_that_differ_in_one_thing_are_not_the_same);
    suite_add_tcase(suite, tests);
    return suite;
}

CX_TESTS_TOGETHER(make_suite);
