/*
 * Launches of recorded graphs, and releases, with a failure of the driver at each of their calls:
 * the next launch makes up for what this one left undone, and memory is in nobody else's hands
 * while a launch uses it. The schedule is lazy: work runs only when something waits for it, so that
 * a missing order shows every time. Also a reset while a recording is stopped.
 */
#include "device/device.h"
#include "faults.h"
#include "operators.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { BYTES = 4096, CALLS_MAX = 200, BEFORE = 1, RECORDED = 7, OTHERS = 9 };

static ctxrt_stream *first, *second, *aside;

static void start(void)
{
    ck_assert_int_eq(setenv("CTXRT_EMU_SCHEDULE", "lazy", 1), 0);
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    aside = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    first = create_stream(CTXRT_STREAM_NON_BLOCKING);
    second = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_frame_set_stream(first));
}

static void end(void)
{
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_stream_destroy(first));
    cx_assert_ok(ctxrt_stream_destroy(second));
    cx_assert_ok(ctxrt_stream_destroy(aside));
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}

static ctxrt_status fill(void *memory)
{
    return ctxrt_fill_async(memory, RECORDED, BYTES, NULL);
}

static ctxrt_status do_nothing(void *argument)
{
    (void)argument;
    return CTXRT_SUCCESS;
}

/* A graph that fills the memory, which the work of before fills as well, not done yet. `called`: a
 * launch calls an operator too. */
static ctxrt_graph *record_filling(void **out_memory, bool called)
{
    cx_assert_ok(ctxrt_recording_start(NULL));
    cx_assert_ok(ctxrt_alloc(BYTES, out_memory));
    cx_assert_ok(ctxrt_fill_async(*out_memory, BEFORE, BYTES, first));
    submit_plain(fill, *out_memory, 1);
    if (called)
        submit_plain(do_nothing, NULL, 0);
    return stop_recording();
}

static void assert_filled(const void *memory, unsigned char value)
{
    unsigned char bytes[BYTES];
    cx_assert_ok(ctxrt_copy(bytes, memory, BYTES, CTXRT_COPY_DEVICE_TO_HOST));
    for (int i = 0; i < BYTES; i++)
        ck_assert_msg(bytes[i] == value, "after a failure of %s, byte %d is %d, not %d",
                      faults_failed_call(), i, bytes[i], value);
}

typedef struct way {
    ctxrt_stream **stream;
    fault_mode mode;
    bool called;
} way;

static const way ways[] = {
    {&second, FAULT_REFUSED, false}, {&second, FAULT_REFUSED, true},
    {&second, FAULT_REPORTED, true}, {&second, FAULT_LASTING, true},
    {&aside, FAULT_REFUSED, true},   {&aside, FAULT_REPORTED, true},
    {&aside, FAULT_LASTING, true},   {&first, FAULT_REFUSED, true},
};
enum { WAYS = sizeof ways / sizeof *ways };

enum { ENTRIES_MAX = 8 };

static int count_entries(void)
{
    CUcontext entries[ENTRIES_MAX];
    const cx_driver_table *driver = faults_beneath();
    int count = 0;
    while (count < ENTRIES_MAX && driver->ctx_get_current(&entries[count]) == CXU_SUCCESS &&
           entries[count] != NULL && driver->ctx_pop(&entries[count]) == CXU_SUCCESS)
        count++;
    for (int i = count - 1; i >= 0; i--)
        (void)driver->ctx_push(entries[i]);
    return count;
}

/* A driver that pops no more, or does so and denies it, leaves its stack for the caller to mend. */
static void mend_stack(int entries)
{
    CUcontext popped;
    while (count_entries() > entries)
        ck_assert_int_eq(faults_beneath()->ctx_pop(&popped), CXU_SUCCESS);
}

/* False: the launch was done before it came to the failure. */
static bool launch_fails_once(const way *chosen, long number)
{
    void *memory;
    ctxrt_graph *graph = record_filling(&memory, chosen->called);
    int entries = count_entries();
    faults_arm(number, CXU_UNKNOWN, chosen->mode);
    ctxrt_status status = ctxrt_graph_launch(graph, *chosen->stream);
    bool met = faults_disarm() >= number;
    ck_assert(met || status == CTXRT_SUCCESS);
    mend_stack(entries);
    if (status != CTXRT_SUCCESS)
        cx_assert_ok(ctxrt_graph_launch(graph, *chosen->stream));
    cx_assert_ok(ctxrt_stream_synchronize(*chosen->stream));
    cx_assert_ok(ctxrt_stream_synchronize(first));
    assert_filled(memory, RECORDED);
    cx_assert_ok(ctxrt_free(memory));
    cx_assert_ok(ctxrt_graph_release(graph));
    return met;
}

START_TEST(a_launch_makes_up_for_what_a_failed_one_left_undone)
{
    long number = 1;
    faults_install(&cx_drivers[0]);
    while (number < CALLS_MAX && launch_fails_once(&ways[_i], number))
        number++;
    faults_remove();
    printf("# up to %ld\n", number - 1);
    ck_assert_int_gt(number, 4);
    ck_assert_int_lt(number, CALLS_MAX);
}
END_TEST

/* The launch fails, and then the memory is given back; who gets it next must not see the graph's
 * work. */
static bool memory_is_safe(const way *chosen, long number)
{
    void *memory, *next[2];
    ctxrt_graph *graph = record_filling(&memory, chosen->called);
    cx_assert_ok(ctxrt_free(memory));
    int entries = count_entries();
    faults_arm(number, CXU_UNKNOWN, chosen->mode);
    ctxrt_status launched = ctxrt_graph_launch(graph, *chosen->stream);
    if (chosen->mode == FAULT_LASTING)
        (void)faults_disarm();
    mend_stack(entries);
    ctxrt_status released = ctxrt_graph_release(graph);
    bool met = faults_disarm() >= number;
    ck_assert(met || (launched == CTXRT_SUCCESS && released == CTXRT_SUCCESS));
    for (int i = 0; i < 2; i++) {
        cx_assert_ok(ctxrt_alloc(BYTES, &next[i]));
        cx_assert_ok(ctxrt_fill_async(next[i], OTHERS, BYTES, NULL));
    }
    cx_assert_ok(ctxrt_stream_synchronize(first));
    cx_assert_ok(ctxrt_stream_synchronize(*chosen->stream));
    for (int i = 0; i < 2; i++) {
        assert_filled(next[i], OTHERS);
        cx_assert_ok(ctxrt_free(next[i]));
    }
    return met;
}

START_TEST(memory_of_a_graph_is_given_back_behind_its_work_whatever_failed)
{
    long number = 1;
    faults_install(&cx_drivers[0]);
    while (number < CALLS_MAX && memory_is_safe(&ways[_i], number))
        number++;
    faults_remove();
    printf("# up to %ld\n", number - 1);
    ck_assert_int_gt(number, 4);
    ck_assert_int_lt(number, CALLS_MAX);
}
END_TEST

/* ---- a reset beside the end of a recording ---- */

enum { PATIENCE_MS = 200 };

static pthread_t resetting;
static atomic_bool was_reset;
static int resets_begun;
static const cx_driver_table *below;

static void *reset_device(void *argument)
{
    (void)argument;
    ctxrt_status status = ctxrt_device_reset(CTXRT_CUDA(0));
    atomic_store(&was_reset, true);
    return (void *)(intptr_t)status;
}

static cxu_result record_beside_a_reset(CUevent event, CUstream stream)
{
    if (resets_begun++ == 0) {
        ck_assert_int_eq(pthread_create(&resetting, NULL, reset_device, NULL), 0);
        for (int ms = 0; ms < PATIENCE_MS && !atomic_load(&was_reset); ms++)
            (void)usleep(1000);
        ck_assert(!atomic_load(&was_reset));
    }
    return below->event_record(event, stream);
}

START_TEST(a_reset_waits_while_a_recording_is_stopped_until_its_events_are_recorded)
{
    void *memory, *status;
    ctxrt_graph *graph = NULL;
    cx_driver_table own = cx_drivers[0].table;
    cx_assert_ok(ctxrt_recording_start(NULL));
    cx_assert_ok(ctxrt_alloc(BYTES, &memory));
    cx_assert_ok(ctxrt_fill_async(memory, BEFORE, BYTES, first));
    submit_plain(fill, memory, 1);
    below = &own;
    cx_drivers[0].table.event_record = record_beside_a_reset;
    ctxrt_status stopped = ctxrt_recording_stop(&graph);
    ck_assert_int_gt(resets_begun, 0);
    ck_assert_int_eq(pthread_join(resetting, &status), 0);
    cx_drivers[0].table.event_record = own.event_record;
    ck_assert_int_eq((int)(intptr_t)status, CTXRT_SUCCESS);
    if (stopped == CTXRT_SUCCESS)
        cx_assert_ok(ctxrt_graph_release(graph));
    else
        cx_assert_status(stopped, CTXRT_ERROR_CONTEXT_DESTROYED);
    cx_assert_ok(ctxrt_free(memory));
}
END_TEST

static Suite *launch_suite(void)
{
    Suite *suite = suite_create("launch_faults");
    TCase *tests = tcase_create("launches");
    tcase_add_checked_fixture(tests, start, end);
    tcase_add_loop_test(tests, a_launch_makes_up_for_what_a_failed_one_left_undone, 0, WAYS);
    tcase_add_loop_test(tests, memory_of_a_graph_is_given_back_behind_its_work_whatever_failed, 0,
                        WAYS);
    tcase_add_test(tests,
                   a_reset_waits_while_a_recording_is_stopped_until_its_events_are_recorded);
    suite_add_tcase(suite, tests);
    return suite;
}

CX_TESTS_TOGETHER(launch_suite);
