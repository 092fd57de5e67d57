/* Recordings belong to one frame of one thread: what becomes of them when frames, threads, devices
 * and the runtime end. */
#include "operators.h"

#include <sys/wait.h>
#include <unistd.h>

static turns order;
static step steps[2];

static void prepare(void)
{
    order = (turns){.lock = PTHREAD_MUTEX_INITIALIZER};
    for (int i = 0; i < 2; i++) {
        steps[i].number = i;
        steps[i].order = &order;
        atomic_store(&steps[i].calls, 0);
        atomic_store(&steps[i].ends, 0);
    }
}

static void start_with_memory(void)
{
    void *memory;
    prepare();
    cx_assert_ok(ctxrt_recording_start(NULL));
    cx_assert_ok(ctxrt_alloc(4096, &memory));
    cx_assert_ok(ctxrt_free(memory));
    submit_captured(&steps[0]);
}

static void assert_over(void)
{
    ck_assert_int_eq(atomic_load(&steps[0].calls), 0);
    ck_assert_int_eq(atomic_load(&steps[0].ends), 1);
}

START_TEST(a_frame_above_is_not_recorded_and_the_recording_goes_on_below_it)
{
    prepare();
    cx_assert_ok(ctxrt_recording_start(NULL));
    submit_captured(&steps[0]);
    cx_assert_ok(ctxrt_device_push(there));
    ck_assert_int_eq(is_recording(), 0);
    submit_called(&steps[1]);
    ck_assert_int_eq(atomic_load(&steps[1].calls), 1);
    ctxrt_graph *graph = NULL;
    cx_assert_error(ctxrt_recording_stop(&graph), CTXRT_ERROR_NOT_PERMITTED);
    cx_assert_ok(ctxrt_recording_cancel());
    cx_assert_ok(ctxrt_stack_pop());
    ck_assert_int_eq(is_recording(), 1);
    graph = stop_recording();
    cx_assert_ok(ctxrt_graph_launch(graph, NULL));
    cx_assert_ok(ctxrt_graph_release(graph));
    ck_assert_int_eq(order.count, 2);
}
END_TEST

START_TEST(two_frames_of_one_thread_are_recorded_apart)
{
    prepare();
    cx_assert_ok(ctxrt_recording_start(NULL));
    cx_assert_ok(ctxrt_device_push(there));
    cx_assert_ok(ctxrt_recording_start(NULL));
    submit_captured(&steps[1]);
    ctxrt_graph *inner = stop_recording();
    cx_assert_ok(ctxrt_stack_pop());
    submit_captured(&steps[0]);
    ctxrt_graph *outer = stop_recording();
    cx_assert_ok(ctxrt_graph_launch(inner, NULL));
    cx_assert_ok(ctxrt_graph_release(inner));
    cx_assert_ok(ctxrt_graph_launch(outer, NULL));
    cx_assert_ok(ctxrt_graph_release(outer));
    ck_assert_int_eq(order.count, 2);
    ck_assert_int_eq(order.numbers[0], 1);
    ck_assert_int_eq(order.numbers[1], 0);
}
END_TEST

/* ---- the frame goes ---- */

static void assert_is_over_for_everybody(void)
{
    ctxrt_graph *graph = NULL;
    const ctxrt_operator operation = operator_of(&steps[1], step_submit, 1);
    cx_assert_error(ctxrt_operator_submit(&operation), CTXRT_ERROR_NOT_PERMITTED);
    assert_says("the recording is over");
    assert_over();
    ck_assert_int_eq(atomic_load(&steps[1].ends), 0);
    cx_assert_error(ctxrt_recording_stop(&graph), CTXRT_ERROR_NOT_PERMITTED);
    cx_assert_ok(ctxrt_recording_start(NULL));
    cx_assert_ok(ctxrt_operator_submit(&operation));
    graph = stop_recording();
    cx_assert_ok(ctxrt_graph_launch(graph, NULL));
    cx_assert_ok(ctxrt_graph_release(graph));
    ck_assert_int_eq(order.count, 1);
}

START_TEST(a_recording_is_over_when_its_frame_is_popped)
{
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_ERROR));
    cx_assert_ok(ctxrt_device_push(here));
    start_with_memory();
    cx_assert_ok(ctxrt_stack_pop());
    ck_assert_int_eq(is_recording(), 0);
    cx_assert_ok(ctxrt_device_push(here)); /* at the same level, of the same context */
    ck_assert_int_eq(is_recording(), 0);
    assert_is_over_for_everybody();
    ck_assert_uint_eq(bytes_in_use(), 0);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_recording_is_over_when_another_device_is_set_and_not_when_the_same_is)
{
    ctxrt_graph *graph = NULL;
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_ERROR));
    start_with_memory();
    cx_assert_ok(ctxrt_device_set(here));
    ck_assert_int_eq(is_recording(), 1);
    cx_assert_ok(ctxrt_device_set(there));
    ck_assert_int_eq(is_recording(), 0);
    cx_assert_ok(ctxrt_device_set(here));
    cx_assert_error(ctxrt_recording_stop(&graph), CTXRT_ERROR_NOT_PERMITTED);
    assert_says("the recording is over");
    assert_over();
    ck_assert_uint_eq(bytes_in_use(), 0);
}
END_TEST

START_TEST(a_recording_is_over_when_its_frame_is_detached)
{
    ctxrt_detached_frame *detached;
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_ERROR));
    cx_assert_ok(ctxrt_device_push(here));
    start_with_memory();
    cx_assert_ok(ctxrt_stack_detach(&detached));
    cx_assert_ok(ctxrt_stack_attach(detached));
    ck_assert_int_eq(is_recording(), 0);
    cx_assert_ok(ctxrt_recording_cancel());
    assert_over();
    ck_assert_uint_eq(bytes_in_use(), 0);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(the_end_of_a_scope_ends_a_recording_in_it)
{
    ctxrt_scope scope = {0};
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_ERROR));
    cx_assert_ok(ctxrt_scope_enter(here, &scope));
    start_with_memory();
    cx_assert_ok(ctxrt_scope_leave(&scope));
    cx_assert_ok(ctxrt_recording_cancel());
    assert_over();
    ck_assert_uint_eq(bytes_in_use(), 0);
}
END_TEST

START_TEST(a_recording_that_nobody_ended_is_in_use_and_named)
{
    ctxrt_context *context;
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_ERROR));
    cx_assert_ok(ctxrt_context_create(here, 0, &context));
    cx_assert_ok(ctxrt_stack_push(context));
    prepare();
    cx_assert_ok(ctxrt_recording_start(NULL));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_error(ctxrt_context_destroy(context), CTXRT_ERROR_IN_USE);
    assert_says("1 recording of it is left");
    cx_assert_ok(ctxrt_recording_cancel());
    cx_assert_ok(ctxrt_context_destroy(context));
}
END_TEST

START_TEST(a_reset_ends_a_recording)
{
    ctxrt_graph *graph = NULL;
    start_with_memory();
    cx_assert_ok(ctxrt_device_reset(here));
    ck_assert_int_eq(is_recording(), 1);
    cx_assert_error(ctxrt_recording_stop(&graph), CTXRT_ERROR_CONTEXT_DESTROYED);
    assert_over();
    ck_assert_int_eq(is_recording(), 0);
    ck_assert_uint_eq(bytes_in_use(), 0);
}
END_TEST

START_TEST(a_shutdown_is_refused_while_a_frame_is_recorded)
{
    start_with_memory();
    cx_assert_error(ctxrt_shutdown(), CTXRT_ERROR_IN_USE);
    ck_assert_int_eq(is_recording(), 1);
    ctxrt_graph *graph = stop_recording();
    cx_assert_error(ctxrt_shutdown(), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_graph_launch(graph, NULL));
    cx_assert_ok(ctxrt_graph_release(graph));
    ck_assert_int_eq(order.count, 1);
}
END_TEST

static bool knows_that_it_forked(void)
{
    int active;
    ctxrt_graph *graph;
    return ctxrt_recording_active(&active) == CTXRT_ERROR_FORKED &&
           ctxrt_recording_stop(&graph) == CTXRT_ERROR_FORKED &&
           ctxrt_recording_cancel() == CTXRT_ERROR_FORKED && atomic_load(&steps[0].ends) == 0;
}

START_TEST(the_child_of_a_fork_records_nothing_and_its_parent_goes_on)
{
    int status = -1;
    start_with_memory();
    pid_t child = fork();
    if (child == 0)
        _exit(knows_that_it_forked() ? 0 : 1);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ctxrt_graph *graph = stop_recording();
    cx_assert_ok(ctxrt_graph_launch(graph, NULL));
    cx_assert_ok(ctxrt_graph_release(graph));
    ck_assert_int_eq(order.count, 1);
    ck_assert_int_eq(atomic_load(&steps[0].ends), 1);
}
END_TEST

START_TEST(the_stream_of_a_frame_that_is_recorded_is_in_use)
{
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_DEFAULT);
    prepare();
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    cx_assert_ok(ctxrt_recording_start(NULL));
    submit_captured(&steps[0]);
    cx_assert_error(ctxrt_stream_destroy(stream), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    ctxrt_graph *graph = stop_recording();
    cx_assert_ok(ctxrt_graph_launch(graph, NULL));
    cx_assert_ok(ctxrt_graph_release(graph));
    ck_assert_int_eq(order.count, 1);
}
END_TEST

/* ---- threads ---- */

static void *record_and_end(void *argument)
{
    void *memory;
    const ctxrt_operator operation = operator_of(argument, step_submit, 1);
    int failed =
        ctxrt_device_set(here) != CTXRT_SUCCESS || ctxrt_recording_start(NULL) != CTXRT_SUCCESS ||
        ctxrt_alloc(4096, &memory) != CTXRT_SUCCESS || ctxrt_free(memory) != CTXRT_SUCCESS ||
        ctxrt_operator_submit(&operation) != CTXRT_SUCCESS;
    return (void *)(intptr_t)failed;
}

START_TEST(a_thread_that_ends_while_it_records_leaves_that_to_the_next_who_cancels)
{
    pthread_t thread;
    void *failed;
    prepare();
    ck_assert_int_eq(pthread_create(&thread, NULL, record_and_end, &steps[0]), 0);
    ck_assert_int_eq(pthread_join(thread, &failed), 0);
    ck_assert_ptr_null(failed);
    ck_assert_int_eq(atomic_load(&steps[0].ends), 0);
    ck_assert_uint_eq(bytes_in_use(), 4096);
    ck_assert_int_eq(is_recording(), 0);
    cx_assert_ok(ctxrt_recording_cancel());
    assert_over();
    ck_assert_uint_eq(bytes_in_use(), 0);
}
END_TEST

enum { THREADS = 8, ROUNDS = 10, BYTES = 4096 };

typedef struct recorder {
    ctxrt_device device;
    pthread_barrier_t *together;
    unsigned char value;
    void *scratch, *result;
    int failed;
} recorder;

/* The value goes through scratch memory that the operator allocates while it is captured. */
static ctxrt_status fill_and_copy(void *argument)
{
    recorder *self = argument;
    void *scratch;
    ctxrt_status status = ctxrt_alloc(BYTES, &scratch);
    if (status != CTXRT_SUCCESS)
        return status;
    status = ctxrt_fill_async(scratch, self->value, BYTES, NULL);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_copy_async(self->scratch, scratch, BYTES, CTXRT_COPY_DEVICE_TO_DEVICE, NULL);
    ctxrt_status freed = ctxrt_free(scratch);
    return status != CTXRT_SUCCESS ? status : freed;
}

static ctxrt_status copy_on(void *argument)
{
    const recorder *self = argument;
    return ctxrt_copy_async(self->result, self->scratch, BYTES, CTXRT_COPY_DEVICE_TO_DEVICE, NULL);
}

static int wrong_bytes(const recorder *self)
{
    unsigned char bytes[BYTES];
    int wrong = ctxrt_copy(bytes, self->result, BYTES, CTXRT_COPY_DEVICE_TO_HOST) != CTXRT_SUCCESS;
    for (size_t i = 0; i < BYTES; i++)
        wrong += bytes[i] != self->value;
    return wrong;
}

static int record_and_launch(recorder *self)
{
    ctxrt_graph *graph;
    const ctxrt_operator first = {sizeof first, "fill", fill_and_copy, NULL, self, 1};
    const ctxrt_operator second = {sizeof second, "copy", copy_on, NULL, self, 1};
    int active = 1, failed = ctxrt_alloc(BYTES, &self->result) != CTXRT_SUCCESS;
    failed += ctxrt_recording_active(&active) != CTXRT_SUCCESS || active != 0;
    failed += ctxrt_recording_start(NULL) != CTXRT_SUCCESS;
    failed += ctxrt_alloc(BYTES, &self->scratch) != CTXRT_SUCCESS;
    failed += ctxrt_operator_submit(&first) != CTXRT_SUCCESS;
    failed += ctxrt_operator_submit(&second) != CTXRT_SUCCESS;
    failed += ctxrt_free(self->scratch) != CTXRT_SUCCESS;
    pthread_barrier_wait(self->together);
    failed += ctxrt_recording_stop(&graph) != CTXRT_SUCCESS;
    if (failed == 0) {
        failed += ctxrt_graph_launch(graph, NULL) != CTXRT_SUCCESS;
        failed += wrong_bytes(self);
        failed += ctxrt_graph_release(graph) != CTXRT_SUCCESS;
    }
    return failed + (ctxrt_free(self->result) != CTXRT_SUCCESS);
}

static void *record_many(void *argument)
{
    recorder *self = argument;
    self->failed = ctxrt_device_set(self->device) != CTXRT_SUCCESS;
    for (int i = 0; i < ROUNDS; i++) {
        self->value = (unsigned char)(self->value + 16);
        self->failed += record_and_launch(self);
    }
    self->failed += ctxrt_stack_pop() != CTXRT_SUCCESS;
    return NULL;
}

/* Defect 11: all threads of a device had one recording state. */
START_TEST(eight_threads_record_at_once_on_the_same_and_on_different_devices)
{
    pthread_t threads[THREADS];
    pthread_barrier_t together;
    recorder recorders[THREADS];
    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        recorders[i] = (recorder){
            .device = i % 4 == 3 ? there : here, .together = &together, .value = (unsigned char)i};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, record_many, &recorders[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        ck_assert_msg(recorders[i].failed == 0, "thread %d: %d failures", i, recorders[i].failed);
    }
    pthread_barrier_destroy(&together);
    ck_assert_uint_eq(bytes_in_use(), 0);
}
END_TEST

static void *note_recording(void *argument)
{
    int active = -1;
    if (ctxrt_device_set(here) != CTXRT_SUCCESS || ctxrt_recording_active(&active) != CTXRT_SUCCESS)
        active = -1;
    submit_called(argument);
    return (void *)(intptr_t)active;
}

START_TEST(another_thread_of_the_device_is_not_recorded)
{
    pthread_t thread;
    void *active;
    prepare();
    cx_assert_ok(ctxrt_recording_start(NULL));
    ck_assert_int_eq(pthread_create(&thread, NULL, note_recording, &steps[0]), 0);
    ck_assert_int_eq(pthread_join(thread, &active), 0);
    ck_assert_ptr_null(active);
    ck_assert_int_eq(atomic_load(&steps[0].calls), 1);
    cx_assert_ok(ctxrt_graph_release(stop_recording()));
    ck_assert_int_eq(atomic_load(&steps[0].calls), 1);
}
END_TEST

static void add_tests(TCase *tests)
{
    tcase_add_test(tests, a_frame_above_is_not_recorded_and_the_recording_goes_on_below_it);
    tcase_add_test(tests, two_frames_of_one_thread_are_recorded_apart);
    tcase_add_test(tests, a_recording_is_over_when_its_frame_is_popped);
    tcase_add_test(tests, a_recording_is_over_when_another_device_is_set_and_not_when_the_same_is);
    tcase_add_test(tests, a_recording_is_over_when_its_frame_is_detached);
    tcase_add_test(tests, the_end_of_a_scope_ends_a_recording_in_it);
    tcase_add_test(tests, a_recording_that_nobody_ended_is_in_use_and_named);
    tcase_add_test(tests, a_reset_ends_a_recording);
    tcase_add_test(tests, a_shutdown_is_refused_while_a_frame_is_recorded);
    tcase_add_test(tests, the_child_of_a_fork_records_nothing_and_its_parent_goes_on);
    tcase_add_test(tests, the_stream_of_a_frame_that_is_recorded_is_in_use);
    tcase_add_test(tests, a_thread_that_ends_while_it_records_leaves_that_to_the_next_who_cancels);
    tcase_add_test(tests, eight_threads_record_at_once_on_the_same_and_on_different_devices);
    tcase_add_test(tests, another_thread_of_the_device_is_not_recorded);
}

static Suite *frames_suite(void)
{
    Suite *suite = suite_create("recording_frames");
    place_add_everywhere(suite, add_tests);
    return suite;
}

CX_TESTS_TOGETHER(frames_suite);
