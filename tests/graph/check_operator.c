/* Implementations of operators, by device type and operator type; and the handles of operator
 * libraries that they use. */
#include "operators.h"

static atomic_int cpu_calls, cuda_calls;

static ctxrt_status run_on_cpu(void *argument)
{
    (void)argument;
    atomic_fetch_add(&cpu_calls, 1);
    return CTXRT_SUCCESS;
}

static ctxrt_status run_on_cuda(void *argument)
{
    atomic_fetch_add(&cuda_calls, 1);
    return ctxrt_stream_add_host_function(NULL, mark, argument);
}

static const ctxrt_operator_implementation on_cpu_devices = {sizeof on_cpu_devices, run_on_cpu, 0};
static const ctxrt_operator_implementation on_cuda_devices = {sizeof on_cuda_devices, run_on_cuda,
                                                              1};

/* The registry is the process's, and the tests may run in one: each has names of its own. */
static const char *own_name(const char *test)
{
    static char name[64];
    snprintf(name, sizeof name, "%s %s%d", test, ctxrt_device_type_name(here.type), here.index);
    return name;
}

START_TEST(an_operator_is_found_by_both_its_types)
{
    ctxrt_operator_implementation found = {0};
    const char *name = own_name("matmul");
    cx_assert_error(ctxrt_operator_find(CTXRT_DEVICE_CUDA, name, &found),
                    CTXRT_ERROR_NOT_SUPPORTED);
    assert_says(name);
    assert_says("cuda");
    cx_assert_ok(ctxrt_operator_register(CTXRT_DEVICE_CUDA, name, &on_cuda_devices));
    cx_assert_error(ctxrt_operator_find(CTXRT_DEVICE_CPU, name, &found), CTXRT_ERROR_NOT_SUPPORTED);
    cx_assert_ok(ctxrt_operator_register(CTXRT_DEVICE_CPU, name, &on_cpu_devices));
    cx_assert_ok(ctxrt_operator_register(CTXRT_DEVICE_METAX, name, &on_cpu_devices));
    cx_assert_error(ctxrt_operator_register(CTXRT_DEVICE_CUDA, name, &on_cpu_devices),
                    CTXRT_ERROR_ALREADY);
    assert_says(name);
    cx_assert_ok(ctxrt_operator_find(CTXRT_DEVICE_CUDA, name, &found));
    ck_assert_ptr_eq(found.run, run_on_cuda);
    ck_assert_int_eq(found.capturable, 1);
    cx_assert_ok(ctxrt_operator_find(CTXRT_DEVICE_CPU, name, &found));
    ck_assert_ptr_eq(found.run, run_on_cpu);
    cx_assert_error(ctxrt_operator_find(CTXRT_DEVICE_CUDA, "no such operator", &found),
                    CTXRT_ERROR_NOT_SUPPORTED);
}
END_TEST

START_TEST(an_operator_of_a_type_runs_the_implementation_of_the_device_at_hand)
{
    atomic_int marks = 0;
    ctxrt_graph *graph;
    const char *name = own_name("relu");
    const ctxrt_operator operation = {sizeof operation, name, NULL, NULL, &marks, 0};
    cx_assert_error(ctxrt_operator_submit(&operation), CTXRT_ERROR_NOT_SUPPORTED);
    cx_assert_ok(ctxrt_recording_start(NULL));
    cx_assert_error(ctxrt_operator_submit(&operation), CTXRT_ERROR_NOT_SUPPORTED);
    cx_assert_ok(ctxrt_operator_register(CTXRT_DEVICE_CPU, name, &on_cpu_devices));
    cx_assert_ok(ctxrt_operator_register(CTXRT_DEVICE_CUDA, name, &on_cuda_devices));
    atomic_store(&cpu_calls, 0);
    atomic_store(&cuda_calls, 0);
    cx_assert_ok(ctxrt_operator_submit(&operation));
    cx_assert_ok(ctxrt_recording_stop(&graph));
    for (int i = 0; i < 2; i++)
        cx_assert_ok(ctxrt_graph_launch(graph, NULL));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    bool on_cpu = here.type == CTXRT_DEVICE_CPU;
    ck_assert_int_eq(atomic_load(&cpu_calls), on_cpu ? 2 : 0);
    ck_assert_int_eq(atomic_load(&cuda_calls), on_cpu ? 0 : 1);
    ck_assert_int_eq(atomic_load(&marks), on_cpu ? 0 : 2);
    cx_assert_ok(ctxrt_graph_release(graph));
}
END_TEST

enum { THREADS = 8, NAMES = 40 };

static atomic_int registered_ones;

static void *register_all(void *argument)
{
    intptr_t wrong = 0;
    ctxrt_operator_implementation found;
    for (int i = 0; i < NAMES; i++) {
        char name[80];
        snprintf(name, sizeof name, "%s %d", (const char *)argument, i);
        ctxrt_status status = ctxrt_operator_register(CTXRT_DEVICE_CUDA, name, &on_cuda_devices);
        atomic_fetch_add(&registered_ones, status == CTXRT_SUCCESS);
        wrong += status != CTXRT_SUCCESS && status != CTXRT_ERROR_ALREADY;
        wrong += ctxrt_operator_find(CTXRT_DEVICE_CUDA, name, &found) != CTXRT_SUCCESS ||
                 found.run != run_on_cuda;
    }
    return (void *)wrong;
}

START_TEST(of_eight_threads_that_register_an_operator_one_wins_and_all_find_it)
{
    pthread_t threads[THREADS];
    char name[64];
    snprintf(name, sizeof name, "%s", own_name("race"));
    atomic_store(&registered_ones, 0);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, register_all, name), 0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        ck_assert_int_eq(pthread_join(threads[i], &wrong), 0);
        ck_assert_ptr_null(wrong);
    }
    ck_assert_int_eq(atomic_load(&registered_ones), NAMES);
}
END_TEST

/* ---- handles of operator libraries ---- */

static turns ends;

static ctxrt_status make_handle(ctxrt_device device, void *user_data, void **out_handle)
{
    (void)device;
    *out_handle = user_data;
    return CTXRT_SUCCESS;
}

static void end_handle(void *handle, void *user_data)
{
    (void)user_data;
    turns_take(&ends, (int)(intptr_t)handle);
}

/* Defect 12 of the system that went before: asking for a handle, allocating host memory and copies
 * between host memory switched the thread's device and did not switch back. */
START_TEST(asking_for_a_handle_and_work_of_the_host_leave_the_device_alone)
{
    void *handle;
    char bytes[2][64] = {{1}, {2}};
    ctxrt_memory *memory;
    ctxrt_device device;
    char name[32];
    snprintf(name, sizeof name, "kept %s%d", ctxrt_device_type_name(here.type), here.index);
    cx_assert_ok(ctxrt_handle_register(name, make_handle, end_handle, &ends));
    cx_assert_ok(ctxrt_handle_get(there, name, &handle));
    cx_assert_ok(ctxrt_memory_alloc_host(64, &memory));
    cx_assert_ok(ctxrt_copy(bytes[0], bytes[1], 64, CTXRT_COPY_HOST_TO_HOST));
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_device_get(&device));
    ck_assert_int_eq(device.type, here.type);
    ck_assert_int_eq(device.index, here.index);
    ck_assert_uint_eq(ctxrt_stack_depth(), 1);
}
END_TEST

START_TEST(handles_end_in_the_reverse_order_with_their_device)
{
    void *handle;
    ends = (turns){.lock = PTHREAD_MUTEX_INITIALIZER};
    for (intptr_t i = 1; i <= 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "%d of %s%d", (int)i, ctxrt_device_type_name(here.type),
                 here.index);
        cx_assert_ok(ctxrt_handle_register(name, make_handle, end_handle, (void *)i));
        cx_assert_ok(ctxrt_handle_get(there, name, &handle));
        ck_assert_ptr_eq(handle, (void *)i);
    }
    cx_assert_ok(ctxrt_device_release(there));
    ck_assert_int_eq(ends.count, 3);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(ends.numbers[i], 3 - i);
    ck_assert_uint_eq(ctxrt_stack_depth(), 1);
}
END_TEST

/* Defect 13: an event was destroyed on the wrong device. */
START_TEST(an_event_is_destroyed_whatever_device_is_current)
{
    ctxrt_device device;
    ctxrt_event *event = create_event(CTXRT_EVENT_DEFAULT);
    cx_assert_ok(ctxrt_event_record(event, NULL));
    cx_assert_ok(ctxrt_device_push(there));
    cx_assert_ok(ctxrt_event_destroy(event));
    cx_assert_ok(ctxrt_device_get(&device));
    ck_assert_int_eq(device.type, there.type);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_error(ctxrt_event_query(event), CTXRT_ERROR_INVALID_HANDLE);
}
END_TEST

static void add_tests(TCase *tests)
{
    tcase_add_test(tests, an_operator_is_found_by_both_its_types);
    tcase_add_test(tests, an_operator_of_a_type_runs_the_implementation_of_the_device_at_hand);
    tcase_add_test(tests, of_eight_threads_that_register_an_operator_one_wins_and_all_find_it);
    tcase_add_test(tests, asking_for_a_handle_and_work_of_the_host_leave_the_device_alone);
    tcase_add_test(tests, handles_end_in_the_reverse_order_with_their_device);
    tcase_add_test(tests, an_event_is_destroyed_whatever_device_is_current);
}

static Suite *operator_suite(void)
{
    Suite *suite = suite_create("operator");
    place_add_everywhere(suite, add_tests);
    return suite;
}

CX_TESTS(operator_suite);
