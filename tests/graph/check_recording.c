/* Recordings: what stop and launches run, how often and in which order; failures; frames, threads
 * and devices. */
#include "operators.h"

enum { STEPS = 7 };

static turns order;
static step steps[STEPS];

static void prepare(void)
{
    order = (turns){.lock = PTHREAD_MUTEX_INITIALIZER};
    for (int i = 0; i < STEPS; i++) {
        steps[i].number = i;
        steps[i].order = &order;
        atomic_store(&steps[i].calls, 0);
        atomic_store(&steps[i].ends, 0);
    }
}

static void assert_calls(int number, int calls, int ends)
{
    ck_assert_msg(atomic_load(&steps[number].calls) == calls &&
                      atomic_load(&steps[number].ends) == ends,
                  "step %d: called %d times and ended %d times, not %d and %d", number,
                  atomic_load(&steps[number].calls), atomic_load(&steps[number].ends), calls, ends);
}

/* 0 captured, 1 captured, 2 called, 3 captured, 4 called, 5 called, 6 captured. */
static bool is_captured(int number)
{
    return number != 2 && number != 4 && number != 5;
}

static ctxrt_graph *record_steps(void)
{
    prepare();
    cx_assert_ok(ctxrt_recording_start(NULL));
    for (int i = 0; i < STEPS; i++)
        (is_captured(i) ? submit_captured : submit_called)(&steps[i]);
    ck_assert_int_eq(is_recording(), 1);
    return stop_recording();
}

/* Defect 9 of the system that went before: stopping a recording ran every operator five times and
 * then captured it. */
START_TEST(stop_calls_what_it_captures_once_and_a_launch_calls_the_rest_once)
{
    ctxrt_graph *graph = record_steps();
    ck_assert_int_eq(is_recording(), 0);
    for (int i = 0; i < STEPS; i++)
        assert_calls(i, is_captured(i), 0);
    cx_assert_ok(ctxrt_device_synchronize());
    ck_assert_int_eq(order.count, 0);
    for (int launch = 1; launch <= 3; launch++) {
        cx_assert_ok(ctxrt_graph_launch(graph, NULL));
        cx_assert_ok(ctxrt_stream_synchronize(NULL));
        for (int i = 0; i < STEPS; i++)
            assert_calls(i, is_captured(i) ? 1 : launch, 0);
        ck_assert_int_eq(order.count, launch * STEPS);
    }
    for (int i = 0; i < order.count; i++)
        ck_assert_int_eq(order.numbers[i], i % STEPS);
    cx_assert_ok(ctxrt_graph_release(graph));
    for (int i = 0; i < STEPS; i++)
        assert_calls(i, is_captured(i) ? 1 : 3, 1);
}
END_TEST

START_TEST(a_launch_into_a_stream_of_another_context_calls_operators_in_their_own)
{
    ctxrt_context *context, *top;
    ctxrt_graph *graph = record_steps(), *captured = NULL;
    cx_assert_ok(ctxrt_context_create(here, 0, &context));
    cx_assert_ok(ctxrt_stack_push(context));
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    for (int launch = 1; launch <= 2; launch++) {
        cx_assert_ok(ctxrt_graph_launch(graph, stream));
        cx_assert_ok(ctxrt_stream_synchronize(stream));
        ck_assert_int_eq(order.count, launch * STEPS);
    }
    for (int i = 0; i < order.count; i++)
        ck_assert_int_eq(order.numbers[i], i % STEPS);
    cx_assert_ok(ctxrt_context_current(&top));
    ck_assert_ptr_eq(top, context);
    cx_assert_ok(ctxrt_stream_capture_begin(stream, CTXRT_CAPTURE_THREAD_LOCAL));
    cx_assert_error(ctxrt_graph_launch(graph, stream), CTXRT_ERROR_WRONG_CONTEXT);
    cx_assert_ok(ctxrt_stream_capture_end(stream, &captured));
    cx_assert_ok(ctxrt_graph_release(captured));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_context_destroy(context));
    cx_assert_ok(ctxrt_graph_release(graph));
    ck_assert_int_eq(order.count, 2 * STEPS);
}
END_TEST

START_TEST(operators_end_with_the_last_clone_of_their_graph)
{
    ctxrt_graph *graph = record_steps(), *clone;
    cx_assert_ok(ctxrt_graph_clone(graph, &clone));
    cx_assert_ok(ctxrt_graph_release(graph));
    assert_calls(0, 1, 0);
    cx_assert_ok(ctxrt_graph_launch(clone, NULL));
    cx_assert_ok(ctxrt_graph_release(clone));
    ck_assert_int_eq(order.count, STEPS);
    assert_calls(0, 1, 1);
    assert_calls(2, 1, 1);
}
END_TEST

START_TEST(an_operator_runs_at_once_where_nothing_is_recorded)
{
    prepare();
    submit_called(&steps[0]);
    assert_calls(0, 1, 1);
    submit_captured(&steps[1]);
    assert_calls(1, 1, 1);
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    ck_assert_int_eq(order.count, 2);
}
END_TEST

START_TEST(an_empty_recording_is_a_graph_that_does_nothing)
{
    cx_assert_ok(ctxrt_recording_start(NULL));
    cx_assert_error(ctxrt_recording_start(NULL), CTXRT_ERROR_ALREADY);
    ctxrt_graph *graph = stop_recording();
    cx_assert_ok(ctxrt_graph_launch(graph, NULL));
    cx_assert_ok(ctxrt_graph_release(graph));
    cx_assert_error(ctxrt_recording_stop(&graph), CTXRT_ERROR_NOT_PERMITTED);
    cx_assert_ok(ctxrt_recording_cancel());
}
END_TEST

START_TEST(a_cancelled_recording_ends_its_operators_and_runs_none)
{
    prepare();
    cx_assert_ok(ctxrt_recording_start(NULL));
    submit_captured(&steps[0]);
    submit_called(&steps[1]);
    cx_assert_ok(ctxrt_recording_cancel());
    ck_assert_int_eq(is_recording(), 0);
    assert_calls(0, 0, 1);
    assert_calls(1, 0, 1);
}
END_TEST

static turns *ends;

static void note_end(void *argument)
{
    turns_take(ends, (int)(intptr_t)argument);
}

static ctxrt_status do_nothing(void *argument)
{
    (void)argument;
    return CTXRT_SUCCESS;
}

START_TEST(operators_end_in_the_reverse_order)
{
    prepare();
    ends = &order;
    cx_assert_ok(ctxrt_recording_start(NULL));
    for (intptr_t i = 0; i < 5; i++) {
        const ctxrt_operator operation = {sizeof operation, NULL,      do_nothing,
                                          note_end,         (void *)i, i % 2};
        cx_assert_ok(ctxrt_operator_submit(&operation));
    }
    cx_assert_ok(ctxrt_graph_release(stop_recording()));
    ck_assert_int_eq(order.count, 5);
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(order.numbers[i], 4 - i);
}
END_TEST

/* ---- failures ---- */

static ctxrt_status fail_plainly(void *argument)
{
    (void)argument;
    return CTXRT_ERROR_OUT_OF_MEMORY;
}

static ctxrt_status fail_in_a_call(void *argument)
{
    (void)argument;
    return ctxrt_fill_async(NULL, 0, 16, NULL);
}

static ctxrt_status wait_and_say_nothing(void *argument)
{
    (void)argument;
    ctxrt_status status = ctxrt_stream_synchronize(NULL);
    (void)status;
    return CTXRT_SUCCESS;
}

static ctxrt_status leave_a_frame(void *argument)
{
    (void)argument;
    return ctxrt_device_push(there);
}

static ctxrt_status fork_and_not_join(void *argument)
{
    ctxrt_stream *side = ((ctxrt_stream **)argument)[0];
    ctxrt_event *event = ((void **)argument)[1];
    ctxrt_status status = ctxrt_event_record(event, NULL);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_stream_wait_event(side, event);
    return status == CTXRT_SUCCESS
               ? ctxrt_stream_add_host_function(side, step_takes_its_turn, &steps[0])
               : status;
}

/* Defect 10: a failing operator left the stream capturing. */
static void assert_stop_fails(ctxrt_status (*run)(void *), void *argument, ctxrt_status status,
                              const char *says)
{
    ctxrt_graph *graph = (ctxrt_graph *)&steps;
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING), *after;
    ctxrt_capture_state state;
    void *memory;
    prepare();
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    cx_assert_ok(ctxrt_recording_start(NULL));
    cx_assert_ok(ctxrt_alloc(4096, &memory));
    cx_assert_ok(ctxrt_free(memory));
    submit_captured(&steps[0]);
    submit_called(&steps[1]);
    submit_captured(&steps[2]);
    submit_plain(run, argument, 1);
    submit_captured(&steps[3]);
    cx_assert_error(ctxrt_recording_stop(&graph), status);
    assert_says(says);
    ck_assert_ptr_eq(graph, &steps);
    ck_assert_int_eq(is_recording(), 0);
    cx_assert_ok(ctxrt_stream_current(&after));
    ck_assert_ptr_eq(after, stream);
    ck_assert_uint_eq(ctxrt_stack_depth(), 1);
    cx_assert_ok(ctxrt_stream_capture_status(NULL, &state));
    ck_assert_int_eq(state, CTXRT_CAPTURE_NONE);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(atomic_load(&steps[i].ends), 1);
    ck_assert_uint_eq(bytes_in_use(), 0);
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    graph = record_steps();
    cx_assert_ok(ctxrt_graph_launch(graph, NULL));
    cx_assert_ok(ctxrt_graph_release(graph));
    ck_assert_int_eq(order.count, STEPS);
}

START_TEST(a_failing_operator_is_named_and_everything_is_as_before)
{
    assert_stop_fails(fail_plainly, NULL, CTXRT_ERROR_OUT_OF_MEMORY,
                      "operator 4 (plain) failed: not enough memory");
    assert_stop_fails(fail_in_a_call, NULL, CTXRT_ERROR_NULL_POINTER,
                      "operator 4 (plain) failed: ctxrt_fill");
}
END_TEST

START_TEST(an_operator_that_cannot_be_captured_is_named_though_it_hides_the_error)
{
    assert_stop_fails(wait_and_say_nothing, NULL, CTXRT_ERROR_DRIVER,
                      "operator 4 (plain) cannot be captured");
}
END_TEST

START_TEST(an_operator_that_leaves_frames_is_named_and_they_are_taken_off)
{
    assert_stop_fails(leave_a_frame, NULL, CTXRT_ERROR_STACK_LEFTOVER,
                      "operator 4 (plain) left the stack with 3 frames");
}
END_TEST

START_TEST(work_that_is_not_joined_is_an_error_of_its_operators)
{
    void *argument[] = {create_stream(CTXRT_STREAM_NON_BLOCKING),
                        create_event(CTXRT_EVENT_DISABLE_TIMING)};
    assert_stop_fails(fork_and_not_join, argument, CTXRT_ERROR_DRIVER,
                      "the operators 3 to 5 could not be captured");
    cx_assert_ok(ctxrt_stream_destroy(argument[0]));
    cx_assert_ok(ctxrt_event_destroy(argument[1]));
}
END_TEST

START_TEST(an_operator_that_fails_at_once_stays_the_callers)
{
    prepare();
    const ctxrt_operator operation = {sizeof operation, "step",    fail_plainly,
                                      step_end,         &steps[0], 0};
    cx_assert_error(ctxrt_operator_submit(&operation), CTXRT_ERROR_OUT_OF_MEMORY);
    assert_says("the operator (step) failed");
    assert_calls(0, 0, 0);
}
END_TEST

static ctxrt_status fail_if_told(void *argument)
{
    return atomic_load((atomic_int *)argument) != 0 ? CTXRT_ERROR_NOT_READY : CTXRT_SUCCESS;
}

START_TEST(an_operator_that_fails_in_a_launch_is_named_and_the_next_launch_is_good)
{
    atomic_int told = 1;
    prepare();
    cx_assert_ok(ctxrt_recording_start(NULL));
    submit_captured(&steps[0]);
    submit_plain(fail_if_told, &told, 0);
    submit_captured(&steps[1]);
    ctxrt_graph *graph = stop_recording();
    cx_assert_error(ctxrt_graph_launch(graph, NULL), CTXRT_ERROR_NOT_READY);
    assert_says("operator 2 (plain) failed");
    ck_assert_uint_eq(ctxrt_stack_depth(), 1);
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    ck_assert_int_eq(order.count, 1);
    atomic_store(&told, 0);
    cx_assert_ok(ctxrt_graph_launch(graph, NULL));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    ck_assert_int_eq(order.count, 3);
    cx_assert_ok(ctxrt_graph_release(graph));
}
END_TEST

START_TEST(frames_that_an_operator_leaves_in_a_launch_are_taken_off)
{
    cx_assert_ok(ctxrt_recording_start(NULL));
    submit_plain(leave_a_frame, NULL, 0);
    ctxrt_graph *graph = stop_recording();
    cx_assert_error(ctxrt_graph_launch(graph, NULL), CTXRT_ERROR_STACK_LEFTOVER);
    assert_says("operator 1 (plain)");
    ck_assert_uint_eq(ctxrt_stack_depth(), 1);
    cx_assert_ok(ctxrt_graph_release(graph));
}
END_TEST

static ctxrt_status launch_again(void *argument)
{
    return ctxrt_graph_launch(*(ctxrt_graph **)argument, NULL);
}

START_TEST(a_graph_is_not_launched_by_its_own_operator)
{
    ctxrt_graph *graph;
    cx_assert_ok(ctxrt_recording_start(NULL));
    submit_plain(launch_again, &graph, 0);
    graph = stop_recording();
    cx_assert_error(ctxrt_graph_launch(graph, NULL), CTXRT_ERROR_NOT_PERMITTED);
    cx_assert_ok(ctxrt_graph_release(graph));
}
END_TEST

static ctxrt_status use_the_recording(void *argument)
{
    ctxrt_graph *graph;
    int *wrong = argument;
    int active = 0;
    const ctxrt_operator inner = {sizeof inner, NULL, step_submit, NULL, &steps[0], 1};
    *wrong += ctxrt_recording_stop(&graph) != CTXRT_ERROR_NOT_PERMITTED;
    *wrong += ctxrt_recording_cancel() != CTXRT_ERROR_NOT_PERMITTED;
    *wrong += ctxrt_recording_start(NULL) != CTXRT_ERROR_ALREADY;
    *wrong += ctxrt_recording_active(&active) != CTXRT_SUCCESS || active != 1;
    return ctxrt_operator_submit(&inner);
}

START_TEST(an_operator_that_submits_another_runs_it_and_cannot_end_the_recording)
{
    int wrong = 0;
    prepare();
    cx_assert_ok(ctxrt_recording_start(NULL));
    submit_plain(use_the_recording, &wrong, 1);
    ctxrt_graph *graph = stop_recording();
    ck_assert_int_eq(wrong, 0);
    assert_calls(0, 1, 0);
    cx_assert_ok(ctxrt_graph_launch(graph, NULL));
    cx_assert_ok(ctxrt_graph_release(graph));
    ck_assert_int_eq(order.count, 1);
}
END_TEST

/* ---- launches ---- */

typedef struct surroundings {
    ctxrt_device device;
    ctxrt_stream *stream;
} surroundings;

static ctxrt_status look_around(void *argument)
{
    surroundings *self = argument;
    ctxrt_status status = ctxrt_device_get(&self->device);
    return status == CTXRT_SUCCESS ? ctxrt_stream_current(&self->stream) : status;
}

/* Defect 18: a graph was launched on whatever device was current. */
START_TEST(operators_of_a_launch_find_the_graphs_device_and_the_stream)
{
    surroundings seen;
    ctxrt_device after;
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_recording_start(NULL));
    submit_plain(look_around, &seen, 0);
    ctxrt_graph *graph = stop_recording();
    cx_assert_ok(ctxrt_device_push(there));
    cx_assert_ok(ctxrt_graph_launch(graph, stream));
    ck_assert_int_eq(seen.device.type, here.type);
    ck_assert_int_eq(seen.device.index, here.index);
    ck_assert_ptr_eq(seen.stream, stream);
    cx_assert_ok(ctxrt_device_get(&after));
    ck_assert_int_eq(after.type, there.type);
    ck_assert_uint_eq(ctxrt_stack_depth(), 2);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_graph_launch(graph, CTXRT_STREAM_LEGACY));
    ck_assert_ptr_eq(seen.stream, CTXRT_STREAM_LEGACY);
    cx_assert_ok(ctxrt_graph_release(graph));
    cx_assert_ok(ctxrt_stream_destroy(stream));
}
END_TEST

START_TEST(launches_of_a_graph_of_several_pieces_are_ordered_on_different_streams)
{
    gate closed;
    prepare();
    ctxrt_stream *first = create_stream(CTXRT_STREAM_NON_BLOCKING),
                 *second = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_stream *free_one = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_recording_start(NULL));
    submit_captured(&steps[0]);
    submit_plain(do_nothing, NULL, 0);
    submit_captured(&steps[1]);
    ctxrt_graph *graph = stop_recording();
    gate_close(&closed, first);
    cx_assert_ok(ctxrt_graph_launch(graph, first));
    cx_assert_ok(ctxrt_graph_launch(graph, second));
    give_others_a_chance(free_one);
    ck_assert_int_eq(order.count, 0);
    gate_open(&closed);
    cx_assert_ok(ctxrt_stream_synchronize(second));
    ck_assert_int_eq(order.count, 4);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(order.numbers[i], i % 2);
    cx_assert_ok(ctxrt_graph_release(graph));
    cx_assert_ok(ctxrt_stream_destroy(first));
    cx_assert_ok(ctxrt_stream_destroy(second));
    cx_assert_ok(ctxrt_stream_destroy(free_one));
}
END_TEST

START_TEST(a_recorded_graph_can_be_part_of_a_capture)
{
    ctxrt_graph *outer, *inner;
    prepare();
    cx_assert_ok(ctxrt_recording_start(NULL));
    submit_captured(&steps[0]);
    inner = stop_recording();
    cx_assert_ok(ctxrt_stream_capture_begin(NULL, CTXRT_CAPTURE_THREAD_LOCAL));
    cx_assert_ok(ctxrt_graph_launch(inner, NULL));
    cx_assert_ok(ctxrt_stream_capture_end(NULL, &outer));
    cx_assert_ok(ctxrt_graph_launch(outer, NULL));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    ck_assert_int_eq(order.count, 1);
    cx_assert_ok(ctxrt_graph_release(outer));
    cx_assert_ok(ctxrt_graph_release(inner));
}
END_TEST

/* ---- descriptions ---- */

static const char *described(ctxrt_graph *graph, ctxrt_graph_format format)
{
    static char text[2048];
    memset(text, 0, sizeof text);
    FILE *file = fmemopen(text, sizeof text - 1, "w");
    ck_assert_ptr_nonnull(file);
    cx_assert_ok(ctxrt_graph_describe(graph, file, format));
    ck_assert_int_eq(fclose(file), 0);
    return text;
}

static void assert_has(const char *text, const char *wanted)
{
    ck_assert_msg(strstr(text, wanted) != NULL, "\"%s\" is not in:\n%s", wanted, text);
}

static ctxrt_graph *record_with_memory(void)
{
    void *scratch;
    prepare();
    cx_assert_ok(ctxrt_recording_start(NULL));
    cx_assert_ok(ctxrt_alloc(4096, &scratch));
    cx_assert_ok(ctxrt_free(scratch));
    submit_captured(&steps[0]);
    submit_captured(&steps[1]);
    submit_called(&steps[2]);
    const ctxrt_operator odd = {sizeof odd, "a \"b\\", do_nothing, NULL, NULL, 0};
    cx_assert_ok(ctxrt_operator_submit(&odd));
    return stop_recording();
}

START_TEST(a_description_has_pieces_operators_and_memory)
{
    ctxrt_graph *graph = record_with_memory();
    const char *text = described(graph, CTXRT_GRAPH_TEXT);
    assert_has(text, ": 2 pieces, 4 operators\n");
    assert_has(text, "\n  1  captured, 2 nodes: operator 1 (step), operator 2 (step)\n");
    assert_has(text, "\n  2  called: operator 3 (step), operator 4 (a \"b\\)\n");
    assert_has(text, "\nmemory: 4096 bytes kept in 1 piece, 0 bytes in use in 0 pieces\n");
    text = described(graph, CTXRT_GRAPH_DOT);
    ck_assert_int_eq(strncmp(text, "digraph ", 8), 0);
    assert_has(text,
               "piece1 [label=\"captured, 2 nodes\\noperator 1 (step)\\noperator 2 (step)\"];\n");
    assert_has(text, "piece2 [style=dashed, label=\"called\\noperator 3 (step)\\noperator 4 (a "
                     "\\\"b\\\\)\"];\n");
    assert_has(text, "piece1 -> piece2;\n}\n");
    cx_assert_ok(ctxrt_graph_release(graph));
}
END_TEST

START_TEST(a_description_that_cannot_be_written_says_so)
{
    ctxrt_graph *graph = record_with_memory();
    FILE *full = fopen("/dev/full", "w");
    ck_assert_ptr_nonnull(full);
    cx_assert_error(ctxrt_graph_describe(graph, full, CTXRT_GRAPH_TEXT), CTXRT_ERROR_SYSTEM);
    fclose(full);
    cx_assert_ok(ctxrt_graph_release(graph));
}
END_TEST

static void add_tests(TCase *tests)
{
    tcase_add_test(tests, stop_calls_what_it_captures_once_and_a_launch_calls_the_rest_once);
    tcase_add_test(tests, a_launch_into_a_stream_of_another_context_calls_operators_in_their_own);
    tcase_add_test(tests, operators_end_with_the_last_clone_of_their_graph);
    tcase_add_test(tests, an_operator_runs_at_once_where_nothing_is_recorded);
    tcase_add_test(tests, an_empty_recording_is_a_graph_that_does_nothing);
    tcase_add_test(tests, a_cancelled_recording_ends_its_operators_and_runs_none);
    tcase_add_test(tests, operators_end_in_the_reverse_order);
    tcase_add_test(tests, a_failing_operator_is_named_and_everything_is_as_before);
    tcase_add_test(tests, an_operator_that_cannot_be_captured_is_named_though_it_hides_the_error);
    tcase_add_test(tests, an_operator_that_leaves_frames_is_named_and_they_are_taken_off);
    tcase_add_test(tests, work_that_is_not_joined_is_an_error_of_its_operators);
    tcase_add_test(tests, an_operator_that_fails_at_once_stays_the_callers);
    tcase_add_test(tests, an_operator_that_fails_in_a_launch_is_named_and_the_next_launch_is_good);
    tcase_add_test(tests, frames_that_an_operator_leaves_in_a_launch_are_taken_off);
    tcase_add_test(tests, a_graph_is_not_launched_by_its_own_operator);
    tcase_add_test(tests, an_operator_that_submits_another_runs_it_and_cannot_end_the_recording);
    tcase_add_test(tests, operators_of_a_launch_find_the_graphs_device_and_the_stream);
    tcase_add_test(tests, launches_of_a_graph_of_several_pieces_are_ordered_on_different_streams);
    tcase_add_test(tests, a_recorded_graph_can_be_part_of_a_capture);
    tcase_add_test(tests, a_description_has_pieces_operators_and_memory);
    tcase_add_test(tests, a_description_that_cannot_be_written_says_so);
}

static Suite *recording_suite(void)
{
    Suite *suite = suite_create("recording");
    place_add_everywhere(suite, add_tests);
    return suite;
}

CX_TESTS_TOGETHER(recording_suite);
