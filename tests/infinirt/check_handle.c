/* What the InfiniRT interface hands out: memory and who may free it, streams of GPUs that are the
 * driver's, graphs, stale handles. */
#include "infini.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const infiniDevice_t types[] = {INFINI_DEVICE_CPU, INFINI_DEVICE_NVIDIA};
enum { TYPES = sizeof types / sizeof types[0] };

/* ---- memory ---- */

typedef struct freeing {
    void *memory, *host;
    infiniStatus_t memory_status, host_status;
} freeing;

static void *free_elsewhere(void *argument)
{
    freeing *self = argument;
    self->memory_status = infinirtFree(self->memory);
    self->host_status = infinirtFreeHost(self->host);
    return NULL;
}

START_TEST(memory_is_freed_on_a_thread_that_never_set_a_device)
{
    pthread_t thread;
    freeing self = {.memory_status = INFINI_STATUS_INTERNAL_ERROR};
    infini_assert_ok(infinirtSetDevice(types[_i], 0));
    self.memory = infini_memory(64);
    infini_assert_ok(infinirtMallocHost(&self.host, 64));
    ck_assert_int_eq(pthread_create(&thread, NULL, free_elsewhere, &self), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    infini_assert_ok(self.memory_status);
    infini_assert_ok(self.host_status);
}
END_TEST

START_TEST(memory_is_freed_under_any_device)
{
    void *host;
    infini_assert_ok(infinirtSetDevice(types[_i], 0));
    void *memory = infini_memory(64);
    infini_assert_ok(infinirtMallocHost(&host, 64));
    infini_assert_ok(infinirtSetDevice(types[1 - _i], 0));
    infini_assert_ok(infinirtFree(memory));
    infini_assert_ok(infinirtFreeHost(host));
    infini_assert_device(types[1 - _i], 0);
}
END_TEST

/* There are programs that free whatever is of a CPU with infinirtFreeHost. */
START_TEST(on_the_cpu_either_call_frees_either)
{
    void *host, *in_order;
    void *memory = infini_memory(64);
    infini_assert_ok(infinirtMallocHost(&host, 64));
    infini_assert_ok(infinirtMallocAsync(&in_order, 64, NULL));
    infini_assert_ok(infinirtSetDevice(INFINI_DEVICE_NVIDIA, 0));
    infini_assert_ok(infinirtFreeHost(memory));
    infini_assert_ok(infinirtFreeHost(in_order));
    infini_assert_ok(infinirtFree(host));
    infini_assert_status(infinirtFreeHost(memory), INFINI_STATUS_BAD_PARAM);
    infini_assert_status(infinirtFree(host), INFINI_STATUS_BAD_PARAM);
}
END_TEST

START_TEST(memory_of_a_gpu_and_pinned_memory_have_a_call_each)
{
    void *host;
    infini_assert_ok(infinirtSetDevice(INFINI_DEVICE_NVIDIA, 0));
    void *memory = infini_memory(64);
    infini_assert_ok(infinirtMallocHost(&host, 64));
    infini_assert_status(infinirtFreeHost(memory), INFINI_STATUS_BAD_PARAM);
    infini_assert_status(infinirtFree(host), INFINI_STATUS_BAD_PARAM);
    infini_assert_ok(infinirtFreeHost(host));
    infini_assert_ok(infinirtFree(memory));
}
END_TEST

START_TEST(nothing_is_what_no_bytes_are)
{
    void *pointers[3] = {&_i, &_i, &_i};
    infini_assert_ok(infinirtSetDevice(types[_i], 0));
    infini_assert_ok(infinirtMalloc(&pointers[0], 0));
    infini_assert_ok(infinirtMallocHost(&pointers[1], 0));
    infini_assert_ok(infinirtMallocAsync(&pointers[2], 0, NULL));
    for (int i = 0; i < 3; i++)
        ck_assert_ptr_null(pointers[i]);
    infini_assert_ok(infinirtFree(pointers[0]));
    infini_assert_ok(infinirtFreeHost(pointers[1]));
    infini_assert_ok(infinirtFreeAsync(pointers[2], NULL));
}
END_TEST

START_TEST(memory_in_stream_order_is_used_and_freed)
{
    void *memory, *other;
    infini_assert_ok(infinirtSetDevice(types[_i], 0));
    infinirtStream_t stream = infini_stream();
    infini_assert_ok(infinirtMallocAsync(&memory, 4096, stream));
    infini_assert_ok(infinirtMemsetAsync(memory, 6, 4096, stream));
    ck_assert_int_eq(infini_byte((char *)memory + 4095), 6);
    infini_assert_ok(infinirtFreeAsync(memory, stream));
    infini_assert_ok(infinirtMallocAsync(&other, 4096, NULL));
    infini_assert_ok(infinirtFree(other));
    infini_assert_ok(infinirtStreamSynchronize(stream));
    infini_assert_ok(infinirtStreamDestroy(stream));
}
END_TEST

START_TEST(pinned_memory_is_the_hosts)
{
    unsigned char *host;
    infini_assert_ok(infinirtSetDevice(types[_i], 0));
    infini_assert_ok(infinirtMallocHost((void **)&host, 4096));
    memset(host, 3, 4096);
    void *memory = infini_memory(4096);
    infini_assert_ok(infinirtMemcpy(memory, host, 4096, INFINIRT_MEMCPY_H2D));
    ck_assert_int_eq(infini_byte((char *)memory + 4095), 3);
    infini_assert_ok(infinirtFree(memory));
    infini_assert_ok(infinirtFreeHost(host));
}
END_TEST

/* ---- streams ---- */

START_TEST(a_stream_of_a_gpu_is_the_drivers_own)
{
    ctxrt_stream *wrapped;
    struct CUstream_st *native;
    infini_assert_ok(infinirtSetDevice(INFINI_DEVICE_NVIDIA, 1));
    infinirtStream_t stream = infini_stream();
    cx_assert_ok(ctxrt_stream_from_native(stream, &wrapped));
    cx_assert_ok(ctxrt_stream_native(wrapped, &native));
    ck_assert_ptr_eq(native, stream);
    cx_assert_ok(ctxrt_stream_destroy(wrapped));
    infini_assert_ok(infinirtStreamSynchronize(stream));
    infini_assert_ok(infinirtSetDevice(INFINI_DEVICE_CPU, 0));
    infini_assert_ok(infinirtStreamDestroy(stream));
}
END_TEST

START_TEST(streams_and_events_of_ctxrt_are_taken)
{
    ctxrt_stream *stream;
    ctxrt_event *event;
    infini_assert_ok(infinirtSetDevice(types[_i], 0));
    cx_assert_ok(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &stream));
    cx_assert_ok(ctxrt_event_create(CTXRT_EVENT_DEFAULT, &event));
    infini_assert_ok(infinirtEventRecord(event, stream));
    infini_assert_ok(infinirtStreamSynchronize(stream));
    cx_assert_ok(ctxrt_event_destroy(event));
    infini_assert_ok(infinirtStreamDestroy(stream));
}
END_TEST

/* The driver may give a GPU's stream the handle of an earlier one; ctxrt never does. */
START_TEST(a_stale_handle_is_never_the_next_object)
{
    infini_assert_ok(infinirtSetDevice(INFINI_DEVICE_CPU, 0));
    for (int i = 0; i < 100; i++) {
        infinirtEvent_t stale, event;
        infinirtStream_t stale_stream = infini_stream();
        infini_assert_ok(infinirtStreamDestroy(stale_stream));
        infinirtStream_t stream = infini_stream();
        infini_assert_ok(infinirtEventCreate(&stale));
        infini_assert_ok(infinirtEventDestroy(stale));
        infini_assert_ok(infinirtEventCreate(&event));
        infini_assert_status(infinirtStreamSynchronize(stale_stream), INFINI_STATUS_BAD_PARAM);
        infini_assert_status(infinirtStreamDestroy(stale_stream), INFINI_STATUS_BAD_PARAM);
        infini_assert_status(infinirtEventDestroy(stale), INFINI_STATUS_BAD_PARAM);
        infini_assert_ok(infinirtEventDestroy(event));
        infini_assert_ok(infinirtStreamDestroy(stream));
    }
}
END_TEST

/* ---- graphs ---- */

static char untouched; /* its address stands in out-parameters that are not to be written */

typedef struct work {
    infinirtStream_t stream;
    unsigned char *memory, *host;
} work;

static work start_work(infiniDevice_t type)
{
    work self;
    infini_assert_ok(infinirtSetDevice(type, 0));
    self.stream = infini_stream();
    self.memory = infini_memory(4096);
    infini_assert_ok(infinirtMallocHost((void **)&self.host, 4096));
    infini_assert_ok(infinirtMemset(self.memory, 1, 4096));
    memset(self.host, 1, 4096);
    return self;
}

/* A fill, and a copy of what it wrote to the host. */
static infinirtGraph_t capture(const work *self, int value)
{
    infinirtGraph_t graph;
    infini_assert_ok(
        infinirtStreamBeginCapture(self->stream, INFINIRT_STREAM_CAPTURE_MODE_RELAXED));
    infini_assert_ok(infinirtMemsetAsync(self->memory, value, 4096, self->stream));
    infini_assert_ok(
        infinirtMemcpyAsync(self->host, self->memory, 4096, INFINIRT_MEMCPY_D2H, self->stream));
    infini_assert_ok(infinirtStreamEndCapture(self->stream, &graph));
    return graph;
}

static infinirtGraphExec_t instantiate(infinirtGraph_t graph)
{
    infinirtGraphExec_t exec;
    infinirtGraphNode_t node;
    char log[256];
    infini_assert_ok(infinirtGraphInstantiate(&exec, graph, &node, log, sizeof log));
    return exec;
}

/* Launches, and sees that the work was done once more. */
static void expect_launch(const work *self, infinirtGraphExec_t exec, infinirtStream_t stream,
                          int value)
{
    memset(self->host, 0, 4096);
    infini_assert_ok(infinirtGraphLuanch(exec, stream));
    infini_assert_ok(infinirtStreamSynchronize(stream));
    ck_assert_int_eq(self->host[0], value);
    ck_assert_int_eq(self->host[4095], value);
}

static void end_work(const work *self)
{
    infini_assert_ok(infinirtStreamDestroy(self->stream));
    infini_assert_ok(infinirtFree(self->memory));
    infini_assert_ok(infinirtFreeHost(self->host));
}

START_TEST(a_capture_runs_nothing_and_a_launch_runs_it)
{
    work self = start_work(types[_i]);
    infinirtGraph_t graph = capture(&self, 8);
    infini_assert_ok(infinirtDeviceSynchronize());
    ck_assert_int_eq(self.host[0], 1);
    ck_assert_int_eq(infini_byte(self.memory), 1);
    infinirtGraphExec_t exec = instantiate(graph);
    expect_launch(&self, exec, self.stream, 8);
    expect_launch(&self, exec, NULL, 8);
    infini_assert_ok(infinirtGraphExecDestroy(exec));
    infini_assert_ok(infinirtGraphDestroy(graph));
    end_work(&self);
}
END_TEST

START_TEST(an_executable_graph_outlives_its_graph_and_the_other_way_round)
{
    work self = start_work(types[_i]);
    infinirtGraph_t graph = capture(&self, 8);
    infinirtGraphExec_t first = instantiate(graph), second = instantiate(graph);
    infini_assert_ok(infinirtGraphExecDestroy(first));
    infini_assert_status(infinirtGraphLuanch(first, self.stream), INFINI_STATUS_BAD_PARAM);
    infinirtGraphExec_t third = instantiate(graph);
    infini_assert_ok(infinirtGraphDestroy(graph));
    infini_assert_status(infinirtGraphDestroy(graph), INFINI_STATUS_BAD_PARAM);
    expect_launch(&self, second, self.stream, 8);
    expect_launch(&self, third, self.stream, 8);
    infini_assert_ok(infinirtGraphExecDestroy(third));
    infini_assert_ok(infinirtGraphExecDestroy(second));
    end_work(&self);
}
END_TEST

START_TEST(a_graph_launches_on_its_own_device_whatever_is_set)
{
    work self = start_work(types[_i]);
    infinirtGraph_t graph = capture(&self, 8);
    infinirtGraphExec_t exec = instantiate(graph);
    infini_assert_ok(infinirtSetDevice(types[1 - _i], 0));
    expect_launch(&self, exec, self.stream, 8);
    infini_assert_device(types[1 - _i], 0);
    infini_assert_ok(infinirtGraphExecDestroy(exec));
    infini_assert_ok(infinirtGraphDestroy(graph));
    end_work(&self);
}
END_TEST

START_TEST(a_capture_that_went_wrong_is_an_error_and_is_over)
{
    infinirtGraph_t graph = &untouched;
    work self = start_work(types[_i]);
    infini_assert_ok(
        infinirtStreamBeginCapture(self.stream, INFINIRT_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    infini_assert_ok(infinirtMemsetAsync(self.memory, 8, 4096, self.stream));
    infini_assert_status(infinirtStreamSynchronize(self.stream), INFINI_STATUS_INTERNAL_ERROR);
    infini_assert_status(infinirtStreamEndCapture(self.stream, &graph),
                         INFINI_STATUS_INTERNAL_ERROR);
    ck_assert_ptr_eq(graph, &untouched);
    infini_assert_ok(infinirtStreamSynchronize(self.stream));
    ck_assert_int_eq(infini_byte(self.memory), 1);
    end_work(&self);
}
END_TEST

typedef struct asking {
    infiniDevice_t type;
    infinirtEvent_t event;
    infiniStatus_t status;
} asking;

/* Asks for what a capture does not see. */
static void *ask_about_event(void *argument)
{
    asking *self = argument;
    infinirtEventStatus_t state;
    self->status = infinirtSetDevice(self->type, 0);
    if (self->status == INFINI_STATUS_SUCCESS)
        self->status = infinirtEventQuery(self->event, &state);
    return NULL;
}

/* Whether a thread, this one or another, may ask about an event while a capture of this mode goes
 * on. */
static bool may_ask(infiniDevice_t type, infinirtStreamCaptureMode_t mode, bool elsewhere)
{
    pthread_t thread;
    infinirtGraph_t graph;
    asking self = {.type = type};
    infini_assert_ok(infinirtSetDevice(type, 0));
    infinirtStream_t stream = infini_stream();
    infini_assert_ok(infinirtEventCreate(&self.event));
    infini_assert_ok(infinirtEventRecord(self.event, stream));
    infini_assert_ok(infinirtStreamBeginCapture(stream, mode));
    if (elsewhere) {
        ck_assert_int_eq(pthread_create(&thread, NULL, ask_about_event, &self), 0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
    } else {
        (void)ask_about_event(&self);
    }
    bool may = self.status == INFINI_STATUS_SUCCESS;
    infini_assert_status(infinirtStreamEndCapture(stream, &graph),
                         may ? INFINI_STATUS_SUCCESS : INFINI_STATUS_INTERNAL_ERROR);
    if (may)
        infini_assert_ok(infinirtGraphDestroy(graph));
    infini_assert_ok(infinirtEventDestroy(self.event));
    infini_assert_ok(infinirtStreamDestroy(stream));
    return may;
}

START_TEST(a_capture_forbids_what_its_mode_says)
{
    const infiniDevice_t type = types[_i];
    ck_assert(!may_ask(type, INFINIRT_STREAM_CAPTURE_MODE_GLOBAL, false));
    ck_assert(!may_ask(type, INFINIRT_STREAM_CAPTURE_MODE_GLOBAL, true));
    ck_assert(!may_ask(type, INFINIRT_STREAM_CAPTURE_MODE_THREAD_LOCAL, false));
    ck_assert(may_ask(type, INFINIRT_STREAM_CAPTURE_MODE_THREAD_LOCAL, true));
    ck_assert(may_ask(type, INFINIRT_STREAM_CAPTURE_MODE_RELAXED, false));
    ck_assert(may_ask(type, INFINIRT_STREAM_CAPTURE_MODE_RELAXED, true));
}
END_TEST

START_TEST(memory_may_be_allocated_and_freed_during_a_capture)
{
    void *host, *device;
    infinirtGraph_t graph;
    infini_assert_ok(infinirtSetDevice(types[_i], 0));
    infinirtStream_t stream = infini_stream();
    infini_assert_ok(infinirtStreamBeginCapture(stream, INFINIRT_STREAM_CAPTURE_MODE_GLOBAL));
    infini_assert_ok(infinirtMallocHost(&host, 64));
    infini_assert_ok(infinirtMalloc(&device, 64));
    infini_assert_ok(infinirtFreeHost(host));
    infini_assert_ok(infinirtFree(device));
    infini_assert_ok(infinirtStreamEndCapture(stream, &graph));
    infini_assert_ok(infinirtGraphDestroy(graph));
    infini_assert_ok(infinirtStreamDestroy(stream));
}
END_TEST

static void start_faulty(void)
{
    ck_assert_int_eq(setenv("CTXRT_EMU_FAULT", "cuGraphInstantiateWithFlags:OUT_OF_MEMORY", 1), 0);
    infini_start();
}

START_TEST(an_instantiation_that_fails_says_why)
{
    char log[256], shorter[8];
    infinirtGraphExec_t exec = &untouched;
    infinirtGraphNode_t node = &untouched;
    work self = start_work(types[_i]);
    infinirtGraph_t graph = capture(&self, 8);
    memset(log, 'x', sizeof log);
    memset(shorter, 'x', sizeof shorter);
    infini_assert_status(infinirtGraphInstantiate(&exec, graph, &node, log, sizeof log),
                         INFINI_STATUS_INTERNAL_ERROR);
    ck_assert_ptr_null(node);
    ck_assert_ptr_eq(exec, &untouched);
    ck_assert_ptr_nonnull(memchr(log, '\0', sizeof log));
    ck_assert_str_eq(log, ctxrt_last_error()->message);
    ck_assert_ptr_nonnull(strstr(log, "cuGraphInstantiateWithFlags"));
    infini_assert_status(infinirtGraphInstantiate(&exec, graph, NULL, shorter, 4),
                         INFINI_STATUS_INTERNAL_ERROR);
    ck_assert_int_eq(strncmp(shorter, log, 3), 0);
    ck_assert_int_eq(shorter[3], '\0');
    ck_assert_int_eq(shorter[4], 'x');
    infini_assert_status(infinirtGraphInstantiate(&exec, graph, NULL, NULL, 9),
                         INFINI_STATUS_INTERNAL_ERROR);
    infini_assert_ok(infinirtGraphDestroy(graph));
    end_work(&self);
}
END_TEST

static Suite *handles(void)
{
    Suite *suite = suite_create("infinirt handles");
    TCase *tests = tcase_create("handles"), *faulty = tcase_create("faults");
    tcase_add_checked_fixture(tests, infini_start, infini_end);
    tcase_add_loop_test(tests, memory_is_freed_on_a_thread_that_never_set_a_device, 0, TYPES);
    tcase_add_loop_test(tests, memory_is_freed_under_any_device, 0, TYPES);
    tcase_add_test(tests, on_the_cpu_either_call_frees_either);
    tcase_add_test(tests, memory_of_a_gpu_and_pinned_memory_have_a_call_each);
    tcase_add_loop_test(tests, nothing_is_what_no_bytes_are, 0, TYPES);
    tcase_add_loop_test(tests, memory_in_stream_order_is_used_and_freed, 0, TYPES);
    tcase_add_loop_test(tests, pinned_memory_is_the_hosts, 0, TYPES);
    tcase_add_test(tests, a_stream_of_a_gpu_is_the_drivers_own);
    tcase_add_loop_test(tests, streams_and_events_of_ctxrt_are_taken, 0, TYPES);
    tcase_add_test(tests, a_stale_handle_is_never_the_next_object);
    tcase_add_loop_test(tests, a_capture_runs_nothing_and_a_launch_runs_it, 0, TYPES);
    tcase_add_loop_test(tests, an_executable_graph_outlives_its_graph_and_the_other_way_round, 0,
                        TYPES);
    tcase_add_loop_test(tests, a_graph_launches_on_its_own_device_whatever_is_set, 0, TYPES);
    tcase_add_loop_test(tests, a_capture_that_went_wrong_is_an_error_and_is_over, 0, TYPES);
    tcase_add_loop_test(tests, a_capture_forbids_what_its_mode_says, 0, TYPES);
    tcase_add_loop_test(tests, memory_may_be_allocated_and_freed_during_a_capture, 0, TYPES);
    suite_add_tcase(suite, tests);
    tcase_add_checked_fixture(faulty, start_faulty, infini_end);
    tcase_add_loop_test(faulty, an_instantiation_that_fails_says_why, 0, TYPES);
    suite_add_tcase(suite, faulty);
    return suite;
}

CX_TESTS(handles);
