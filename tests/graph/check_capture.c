/* Graphs of captured streams: what a launch runs, where, and in which order; clones, counts and
 * lifetimes. */
#include "place.h"

static ctxrt_graph *capture_mark(atomic_int *marks)
{
    ctxrt_graph *graph;
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_stream_capture_begin(stream, CTXRT_CAPTURE_THREAD_LOCAL));
    cx_assert_ok(ctxrt_stream_add_host_function(stream, mark, marks));
    cx_assert_ok(ctxrt_stream_capture_end(stream, &graph));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    return graph;
}

static void assert_marks(atomic_int *marks, int wanted)
{
    ck_assert_int_eq(atomic_load(marks), wanted);
}

START_TEST(captured_work_runs_once_in_each_launch_and_not_before)
{
    atomic_int marks = 0;
    ctxrt_graph *graph = capture_mark(&marks);
    cx_assert_ok(ctxrt_device_synchronize());
    assert_marks(&marks, 0);
    for (int i = 1; i <= 3; i++) {
        cx_assert_ok(ctxrt_graph_launch(graph, NULL));
        cx_assert_ok(ctxrt_stream_synchronize(NULL));
        assert_marks(&marks, i);
    }
    cx_assert_ok(ctxrt_graph_release(graph));
    assert_marks(&marks, 3);
}
END_TEST

START_TEST(a_capture_of_the_current_stream_shows_in_its_state)
{
    ctxrt_capture_state state;
    ctxrt_graph *graph;
    cx_assert_ok(ctxrt_stream_capture_status(NULL, &state));
    ck_assert_int_eq(state, CTXRT_CAPTURE_NONE);
    cx_assert_ok(ctxrt_stream_capture_begin(NULL, CTXRT_CAPTURE_THREAD_LOCAL));
    cx_assert_ok(ctxrt_stream_capture_status(NULL, &state));
    ck_assert_int_eq(state, CTXRT_CAPTURE_ACTIVE);
    cx_assert_error(ctxrt_stream_synchronize(NULL), CTXRT_ERROR_DRIVER);
    cx_assert_ok(ctxrt_stream_capture_status(NULL, &state));
    ck_assert_int_eq(state, CTXRT_CAPTURE_INVALIDATED);
    graph = (ctxrt_graph *)&state;
    cx_assert_error(ctxrt_stream_capture_end(NULL, &graph), CTXRT_ERROR_DRIVER);
    ck_assert_ptr_eq(graph, &state);
    cx_assert_ok(ctxrt_stream_capture_status(NULL, &state));
    ck_assert_int_eq(state, CTXRT_CAPTURE_NONE);
}
END_TEST

START_TEST(a_capture_that_cannot_end_well_leaves_no_graph)
{
    ctxrt_graph *graph = NULL;
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING),
                 *joined = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_event *event = create_event(CTXRT_EVENT_DISABLE_TIMING);
    atomic_int marks = 0;
    cx_assert_error(ctxrt_stream_capture_end(stream, &graph), CTXRT_ERROR_DRIVER);
    cx_assert_ok(ctxrt_stream_capture_begin(stream, CTXRT_CAPTURE_THREAD_LOCAL));
    cx_assert_error(ctxrt_stream_capture_begin(stream, CTXRT_CAPTURE_THREAD_LOCAL),
                    CTXRT_ERROR_DRIVER);
    cx_assert_error(ctxrt_stream_capture_end(stream, NULL), CTXRT_ERROR_NULL_POINTER);
    cx_assert_ok(ctxrt_event_record(event, stream));
    cx_assert_ok(ctxrt_stream_wait_event(joined, event));
    cx_assert_ok(ctxrt_stream_add_host_function(joined, mark, &marks));
    cx_assert_error(ctxrt_stream_capture_end(stream, &graph), CTXRT_ERROR_DRIVER);
    ck_assert_str_eq(ctxrt_last_error()->driver_result_name, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED");
    ck_assert_ptr_null(graph);
    cx_assert_ok(ctxrt_stream_add_host_function(stream, mark, &marks));
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    assert_marks(&marks, 1);
    cx_assert_ok(ctxrt_event_destroy(event));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_stream_destroy(joined));
}
END_TEST

static void *end_in_vain(void *stream)
{
    ctxrt_graph *graph = NULL;
    cx_assert_error(ctxrt_stream_capture_end(stream, &graph), CTXRT_ERROR_DRIVER);
    ck_assert_ptr_null(graph);
    return NULL;
}

/* By the driver, but where the mode is RELAXED. */
START_TEST(a_capture_that_another_thread_tries_to_end_is_invalidated)
{
    ctxrt_capture_state state;
    ctxrt_stream *stream;
    ctxrt_graph *graph = NULL;
    pthread_t thread;
    cx_assert_ok(ctxrt_stream_create(CTXRT_STREAM_DEFAULT, 0, &stream));
    cx_assert_ok(ctxrt_stream_capture_begin(stream, _i == 0 ? CTXRT_CAPTURE_GLOBAL
                                                            : CTXRT_CAPTURE_THREAD_LOCAL));
    ck_assert_int_eq(pthread_create(&thread, NULL, end_in_vain, stream), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    cx_assert_ok(ctxrt_stream_capture_status(stream, &state));
    ck_assert_int_eq(state, CTXRT_CAPTURE_INVALIDATED);
    cx_assert_error(ctxrt_stream_capture_end(stream, &graph), CTXRT_ERROR_DRIVER);
    cx_assert_ok(ctxrt_stream_capture_status(stream, &state));
    ck_assert_int_eq(state, CTXRT_CAPTURE_NONE);
    cx_assert_ok(ctxrt_stream_destroy(stream));
}
END_TEST

START_TEST(the_legacy_stream_and_unknown_modes_capture_nothing)
{
    ctxrt_capture_state state;
    cx_assert_error(ctxrt_stream_capture_begin(CTXRT_STREAM_LEGACY, CTXRT_CAPTURE_RELAXED),
                    CTXRT_ERROR_DRIVER);
    cx_assert_error(ctxrt_stream_capture_begin(NULL, (ctxrt_capture_mode)3),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_stream_capture_begin(NULL, (ctxrt_capture_mode)-1),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_stream_capture_status(NULL, NULL), CTXRT_ERROR_NULL_POINTER);
    cx_assert_ok(ctxrt_stream_capture_status(NULL, &state));
    ck_assert_int_eq(state, CTXRT_CAPTURE_NONE);
}
END_TEST

/* ---- where a launch goes ---- */

static ctxrt_device current_device(void)
{
    ctxrt_device device;
    cx_assert_ok(ctxrt_device_get(&device));
    return device;
}

/* Defect 18 of the system that went before: a graph was launched on whatever device happened to be
 * current. */
START_TEST(a_graph_is_launched_on_its_own_device_whatever_is_current)
{
    atomic_int marks = 0;
    unsigned char bytes[64] = {0};
    void *memory;
    ctxrt_graph *graph;
    cx_assert_ok(ctxrt_alloc(sizeof bytes, &memory));
    cx_assert_ok(ctxrt_stream_capture_begin(NULL, CTXRT_CAPTURE_THREAD_LOCAL));
    cx_assert_ok(ctxrt_fill_async(memory, 0x5a, sizeof bytes, NULL));
    cx_assert_ok(ctxrt_stream_add_host_function(NULL, mark, &marks));
    cx_assert_ok(ctxrt_stream_capture_end(NULL, &graph));
    cx_assert_ok(ctxrt_device_push(there));
    cx_assert_ok(ctxrt_graph_launch(graph, NULL));
    ck_assert_int_eq(current_device().type, there.type);
    ck_assert_int_eq(current_device().index, there.index);
    ck_assert_uint_eq(ctxrt_stack_depth(), 2);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    assert_marks(&marks, 1);
    cx_assert_ok(ctxrt_copy(bytes, memory, sizeof bytes, CTXRT_COPY_DEVICE_TO_HOST));
    for (size_t i = 0; i < sizeof bytes; i++)
        ck_assert_uint_eq(bytes[i], 0x5a);
    cx_assert_ok(ctxrt_free(memory));
    cx_assert_ok(ctxrt_graph_release(graph));
}
END_TEST

typedef struct launching {
    ctxrt_graph *graph;
    ctxrt_stream *stream;
    ctxrt_status first, second;
    size_t depth;
} launching;

static void *launch_with_an_empty_stack(void *argument)
{
    launching *self = argument;
    self->first = ctxrt_graph_launch(self->graph, NULL);
    self->second = ctxrt_graph_launch(self->graph, self->stream);
    self->depth = ctxrt_stack_depth();
    return NULL;
}

START_TEST(a_thread_with_an_empty_stack_launches_and_keeps_it_empty)
{
    atomic_int marks = 0;
    launching self = {capture_mark(&marks), create_stream(CTXRT_STREAM_DEFAULT), 0, 0, 0};
    on_a_thread(launch_with_an_empty_stack, &self);
    ck_assert_int_eq(self.first, CTXRT_SUCCESS);
    ck_assert_int_eq(self.second, CTXRT_SUCCESS);
    ck_assert_uint_eq(self.depth, 0);
    cx_assert_ok(ctxrt_device_synchronize());
    assert_marks(&marks, 2);
    cx_assert_ok(ctxrt_graph_release(self.graph));
    cx_assert_ok(ctxrt_stream_destroy(self.stream));
}
END_TEST

START_TEST(null_is_the_current_stream_of_the_frame)
{
    gate closed;
    atomic_int marks = 0;
    ctxrt_graph *graph = capture_mark(&marks);
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING),
                 *free_one = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    gate_close(&closed, stream);
    cx_assert_ok(ctxrt_graph_launch(graph, NULL));
    give_others_a_chance(free_one);
    assert_marks(&marks, 0);
    gate_open(&closed);
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    assert_marks(&marks, 1);
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_stream_destroy(free_one));
    cx_assert_ok(ctxrt_graph_release(graph));
}
END_TEST

typedef struct look {
    atomic_int *marks;
    int seen;
} look;

static void look_at_marks(void *argument)
{
    look *self = argument;
    self->seen = atomic_load(self->marks);
}

/* With a frame of the stream's context on top. */
static void launch_behind_and_before(ctxrt_graph *graph, atomic_int *marks, ctxrt_stream *stream)
{
    gate closed;
    look behind = {marks, -1};
    ctxrt_stream *free_one = create_stream(CTXRT_STREAM_NON_BLOCKING);
    atomic_store(marks, 0);
    gate_close(&closed, stream);
    cx_assert_ok(ctxrt_graph_launch(graph, stream));
    cx_assert_ok(ctxrt_stream_add_host_function(stream, look_at_marks, &behind));
    give_others_a_chance(free_one);
    assert_marks(marks, 0);
    gate_open(&closed);
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    ck_assert_int_eq(behind.seen, 1);
    assert_marks(marks, 1);
    cx_assert_ok(ctxrt_stream_destroy(free_one));
}

START_TEST(a_launch_into_a_stream_of_another_context_keeps_its_place_there)
{
    atomic_int marks = 0;
    ctxrt_context *context, *top;
    ctxrt_graph *graph = capture_mark(&marks);
    cx_assert_ok(ctxrt_context_create(here, 0, &context));
    cx_assert_ok(ctxrt_stack_push(context));
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    for (int i = 0; i < 3; i++) {
        launch_behind_and_before(graph, &marks, stream);
        launch_behind_and_before(graph, &marks, CTXRT_STREAM_LEGACY);
    }
    cx_assert_ok(ctxrt_context_current(&top));
    ck_assert_ptr_eq(top, context);
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_error(ctxrt_graph_launch(graph, stream), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_context_destroy(context));
    cx_assert_ok(ctxrt_graph_release(graph));
}
END_TEST

/* Beside a libcuda the CPU is another driver's. */
static bool there_is_another_drivers(void)
{
    return there.type == CTXRT_DEVICE_CPU;
}

START_TEST(a_launch_into_a_stream_of_another_device_keeps_its_place_there_if_one_driver_has_both)
{
    atomic_int marks = 0;
    ctxrt_graph *graph = capture_mark(&marks);
    cx_assert_ok(ctxrt_device_push(there));
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    if (there_is_another_drivers()) {
        cx_assert_error(ctxrt_graph_launch(graph, stream), CTXRT_ERROR_WRONG_CONTEXT);
        cx_assert_error(ctxrt_graph_launch(graph, CTXRT_STREAM_LEGACY), CTXRT_ERROR_WRONG_CONTEXT);
    } else {
        launch_behind_and_before(graph, &marks, stream);
        launch_behind_and_before(graph, &marks, CTXRT_STREAM_LEGACY);
    }
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_graph_launch(graph, CTXRT_STREAM_LEGACY));
    cx_assert_ok(ctxrt_device_synchronize());
    assert_marks(&marks, there_is_another_drivers() ? 1 : 2);
    cx_assert_ok(ctxrt_graph_release(graph));
}
END_TEST

START_TEST(a_launch_in_a_capture_of_another_context_becomes_part_of_it)
{
    atomic_int marks = 0;
    ctxrt_context *context;
    ctxrt_graph *inner = capture_mark(&marks), *outer;
    cx_assert_ok(ctxrt_context_create(here, 0, &context));
    cx_assert_ok(ctxrt_stack_push(context));
    cx_assert_ok(ctxrt_stream_capture_begin(NULL, CTXRT_CAPTURE_THREAD_LOCAL));
    cx_assert_ok(ctxrt_graph_launch(inner, current_stream()));
    cx_assert_ok(ctxrt_stream_capture_end(NULL, &outer));
    cx_assert_ok(ctxrt_graph_release(inner));
    assert_marks(&marks, 0);
    cx_assert_ok(ctxrt_graph_launch(outer, NULL));
    cx_assert_ok(ctxrt_device_synchronize());
    assert_marks(&marks, 1);
    cx_assert_ok(ctxrt_graph_release(outer));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_context_destroy(context));
}
END_TEST

START_TEST(a_launch_in_a_capture_becomes_part_of_it)
{
    atomic_int marks = 0;
    ctxrt_graph *inner = capture_mark(&marks), *outer;
    cx_assert_ok(ctxrt_stream_capture_begin(NULL, CTXRT_CAPTURE_THREAD_LOCAL));
    cx_assert_ok(ctxrt_graph_launch(inner, NULL));
    cx_assert_ok(ctxrt_graph_launch(inner, NULL));
    cx_assert_ok(ctxrt_stream_capture_end(NULL, &outer));
    cx_assert_ok(ctxrt_graph_release(inner));
    cx_assert_ok(ctxrt_device_synchronize());
    assert_marks(&marks, 0);
    cx_assert_ok(ctxrt_graph_launch(outer, NULL));
    cx_assert_ok(ctxrt_device_synchronize());
    assert_marks(&marks, 2);
    cx_assert_ok(ctxrt_graph_release(outer));
}
END_TEST

/* ---- order ---- */

START_TEST(launches_of_one_graph_are_ordered_on_different_streams_and_those_of_a_clone_are_not)
{
    gate closed;
    atomic_int marks = 0;
    ctxrt_graph *graph = capture_mark(&marks), *clone;
    ctxrt_stream *first = create_stream(CTXRT_STREAM_NON_BLOCKING),
                 *second = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_stream *free_one = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_graph_clone(graph, &clone));
    gate_close(&closed, first);
    cx_assert_ok(ctxrt_graph_launch(graph, first));
    cx_assert_ok(ctxrt_graph_launch(graph, second));
    cx_assert_ok(ctxrt_graph_launch(clone, free_one));
    cx_assert_ok(ctxrt_stream_synchronize(free_one));
    assert_marks(&marks, 1);
    give_others_a_chance(free_one);
    assert_marks(&marks, 1);
    gate_open(&closed);
    cx_assert_ok(ctxrt_stream_synchronize(second));
    assert_marks(&marks, 3);
    cx_assert_ok(ctxrt_stream_destroy(first));
    cx_assert_ok(ctxrt_stream_destroy(second));
    cx_assert_ok(ctxrt_stream_destroy(free_one));
    cx_assert_ok(ctxrt_graph_release(graph));
    cx_assert_ok(ctxrt_graph_release(clone));
}
END_TEST

/* ---- clones and counts ---- */

START_TEST(clones_go_in_any_order_and_each_still_runs)
{
    atomic_int marks = 0;
    ctxrt_graph *graph = capture_mark(&marks), *clones[3];
    for (int i = 0; i < 3; i++)
        cx_assert_ok(ctxrt_graph_clone(i == 0 ? graph : clones[i - 1], &clones[i]));
    cx_assert_ok(ctxrt_graph_release(graph));
    cx_assert_error(ctxrt_graph_launch(graph, NULL), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_ok(ctxrt_graph_release(clones[1]));
    cx_assert_ok(ctxrt_graph_launch(clones[2], NULL));
    cx_assert_ok(ctxrt_graph_launch(clones[0], NULL));
    cx_assert_ok(ctxrt_graph_release(clones[0]));
    cx_assert_ok(ctxrt_graph_launch(clones[2], NULL));
    cx_assert_ok(ctxrt_graph_release(clones[2]));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    assert_marks(&marks, 3);
}
END_TEST

START_TEST(a_graph_goes_with_its_last_count_and_what_was_launched_goes_on)
{
    gate closed;
    atomic_int marks = 0;
    ctxrt_context *context, *wanted;
    ctxrt_graph *graph = capture_mark(&marks);
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_graph_context(graph, &context));
    cx_assert_ok(ctxrt_context_current(&wanted));
    ck_assert_ptr_eq(context, wanted);
    cx_assert_ok(ctxrt_graph_retain(graph));
    cx_assert_ok(ctxrt_graph_release(graph));
    gate_close(&closed, stream);
    cx_assert_ok(ctxrt_graph_launch(graph, stream));
    cx_assert_ok(ctxrt_graph_release(graph));
    cx_assert_error(ctxrt_graph_release(graph), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_graph_retain(graph), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_graph_context(graph, &context), CTXRT_ERROR_INVALID_HANDLE);
    assert_marks(&marks, 0);
    gate_open(&closed);
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    assert_marks(&marks, 1);
    cx_assert_ok(ctxrt_stream_destroy(stream));
}
END_TEST

START_TEST(a_stale_handle_is_never_the_graph_that_took_its_place)
{
    atomic_int marks = 0;
    ctxrt_graph *old = capture_mark(&marks);
    cx_assert_ok(ctxrt_graph_release(old));
    for (int i = 0; i < 300; i++) {
        ctxrt_graph *next = capture_mark(&marks);
        cx_assert_error(ctxrt_graph_retain(old), CTXRT_ERROR_INVALID_HANDLE);
        cx_assert_error(ctxrt_graph_release(old), CTXRT_ERROR_INVALID_HANDLE);
        cx_assert_ok(ctxrt_graph_release(next));
    }
}
END_TEST

enum { THREADS = 8, ROUNDS = 50 };

typedef struct crowd {
    ctxrt_graph *graph;
    atomic_int refused;
} crowd;

static void *retain_launch_and_release(void *argument)
{
    crowd *self = argument;
    for (int i = 0; i < ROUNDS; i++) {
        ctxrt_graph *clone;
        int failed = ctxrt_graph_retain(self->graph) != CTXRT_SUCCESS;
        failed += ctxrt_graph_launch(self->graph, NULL) != CTXRT_SUCCESS;
        failed += ctxrt_graph_clone(self->graph, &clone) != CTXRT_SUCCESS;
        failed += ctxrt_graph_launch(clone, NULL) != CTXRT_SUCCESS;
        failed += ctxrt_graph_release(clone) != CTXRT_SUCCESS;
        failed += ctxrt_graph_release(self->graph) != CTXRT_SUCCESS;
        atomic_fetch_add(&self->refused, failed);
    }
    return NULL;
}

START_TEST(eight_threads_launch_one_graph_and_its_clones)
{
    pthread_t threads[THREADS];
    atomic_int marks = 0;
    crowd self = {.graph = capture_mark(&marks)};
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, retain_launch_and_release, &self), 0);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_int_eq(atomic_load(&self.refused), 0);
    cx_assert_ok(ctxrt_graph_release(self.graph));
    cx_assert_ok(ctxrt_device_synchronize());
    assert_marks(&marks, 2 * THREADS * ROUNDS);
}
END_TEST

/* ---- contexts ---- */

START_TEST(a_graph_keeps_its_context_from_being_destroyed)
{
    ctxrt_context *context;
    atomic_int marks = 0;
    cx_assert_ok(ctxrt_context_create(here, 0, &context));
    cx_assert_ok(ctxrt_stack_push(context));
    ctxrt_graph *graph = capture_mark(&marks);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_error(ctxrt_context_destroy(context), CTXRT_ERROR_IN_USE);
    ck_assert_msg(strstr(ctxrt_last_error()->message, "1 graph") != NULL, "%s",
                  ctxrt_last_error()->message);
    cx_assert_ok(ctxrt_graph_release(graph));
    cx_assert_ok(ctxrt_context_destroy(context));
}
END_TEST

START_TEST(after_a_reset_a_graph_says_so_and_can_be_released)
{
    atomic_int marks = 0;
    ctxrt_graph *graph = capture_mark(&marks), *launched = capture_mark(&marks), *clone;
    cx_assert_ok(ctxrt_graph_launch(launched, NULL));
    cx_assert_ok(ctxrt_device_synchronize());
    cx_assert_ok(ctxrt_device_reset(here));
    cx_assert_error(ctxrt_graph_launch(graph, NULL), CTXRT_ERROR_CONTEXT_DESTROYED);
    cx_assert_error(ctxrt_graph_launch(launched, NULL), CTXRT_ERROR_CONTEXT_DESTROYED);
    cx_assert_error(ctxrt_graph_clone(launched, &clone), CTXRT_ERROR_CONTEXT_DESTROYED);
    cx_assert_ok(ctxrt_graph_release(graph));
    cx_assert_ok(ctxrt_graph_release(launched));
    graph = capture_mark(&marks);
    cx_assert_ok(ctxrt_graph_launch(graph, NULL));
    cx_assert_ok(ctxrt_device_synchronize());
    assert_marks(&marks, 2);
    cx_assert_ok(ctxrt_graph_release(graph));
}
END_TEST

static void add_tests(TCase *tests)
{
    tcase_add_test(tests, captured_work_runs_once_in_each_launch_and_not_before);
    tcase_add_test(tests, a_capture_of_the_current_stream_shows_in_its_state);
    tcase_add_test(tests, a_capture_that_cannot_end_well_leaves_no_graph);
    tcase_add_loop_test(tests, a_capture_that_another_thread_tries_to_end_is_invalidated,
                        0, 2);
    tcase_add_test(tests, the_legacy_stream_and_unknown_modes_capture_nothing);
    tcase_add_test(tests, a_graph_is_launched_on_its_own_device_whatever_is_current);
    tcase_add_test(tests, a_thread_with_an_empty_stack_launches_and_keeps_it_empty);
    tcase_add_test(tests, null_is_the_current_stream_of_the_frame);
    tcase_add_test(tests, a_launch_into_a_stream_of_another_context_keeps_its_place_there);
    tcase_add_test(
        tests,
        a_launch_into_a_stream_of_another_device_keeps_its_place_there_if_one_driver_has_both);
    tcase_add_test(tests, a_launch_in_a_capture_of_another_context_becomes_part_of_it);
    tcase_add_test(tests, a_launch_in_a_capture_becomes_part_of_it);
    tcase_add_test(
        tests, launches_of_one_graph_are_ordered_on_different_streams_and_those_of_a_clone_are_not);
    tcase_add_test(tests, clones_go_in_any_order_and_each_still_runs);
    tcase_add_test(tests, a_graph_goes_with_its_last_count_and_what_was_launched_goes_on);
    tcase_add_test(tests, a_stale_handle_is_never_the_graph_that_took_its_place);
    tcase_add_test(tests, eight_threads_launch_one_graph_and_its_clones);
    tcase_add_test(tests, a_graph_keeps_its_context_from_being_destroyed);
    tcase_add_test(tests, after_a_reset_a_graph_says_so_and_can_be_released);
}

static Suite *capture_suite(void)
{
    Suite *suite = suite_create("capture");
    place_add_everywhere(suite, add_tests);
    return suite;
}

CX_TESTS_TOGETHER(capture_suite);
