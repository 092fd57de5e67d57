/* Streams: default streams, order, callbacks, events, captures. */
#include "client.h"

static code_add adds;

START_TEST(default_streams_are_nobodys_to_destroy)
{
    assert_error(cudaStreamDestroy(NULL), CXR_INVALID_RESOURCE_HANDLE);
    assert_error(cudaStreamDestroy(CXU_STREAM_LEGACY), CXR_INVALID_RESOURCE_HANDLE);
    assert_error(cudaStreamDestroy(CXU_STREAM_PER_THREAD), CXR_INVALID_RESOURCE_HANDLE);
    assert_ok(cudaStreamSynchronize(NULL));
    assert_ok(cudaStreamSynchronize(CXU_STREAM_PER_THREAD));
    assert_error(cudaStreamCreate(NULL), CXR_INVALID_VALUE);
    assert_error(cudaStreamCreateWithFlags(&(CUstream){NULL}, 64), CXR_INVALID_VALUE);
    assert_error(cudaEventCreate(NULL), CXR_INVALID_VALUE);
    assert_error(cudaEventCreateWithFlags(&(CUevent){NULL}, 64), CXR_INVALID_VALUE);
}
END_TEST

START_TEST(streams_tell_what_they_were_made_with)
{
    CUstream stream, other;
    unsigned int flags = 0;
    int priority = 1, least, greatest, device = -1;
    unsigned long long id = 0, other_id = 0;
    assert_ok(cudaSetDevice(2));
    assert_ok(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    ck_assert_int_le(greatest, least);
    assert_ok(cudaStreamCreateWithPriority(&stream, CXU_STREAM_NON_BLOCKING, greatest));
    assert_ok(cudaStreamCreate(&other));
    assert_ok(cudaStreamGetPriority(stream, &priority));
    ck_assert_int_eq(priority, greatest);
    assert_ok(cudaStreamGetFlags(stream, &flags));
    ck_assert_uint_eq(flags, CXU_STREAM_NON_BLOCKING);
    assert_ok(cudaStreamGetId(stream, &id));
    assert_ok(cudaStreamGetId(other, &other_id));
    ck_assert_uint_ne(id, other_id);
    assert_ok(cudaSetDevice(0));
    assert_ok(cudaStreamGetDevice(stream, &device));
    ck_assert_int_eq(device, 2);
    assert_ok(cudaStreamDestroy(stream));
    assert_ok(cudaStreamDestroy(other));
}
END_TEST

/* The legacy stream waits for blocking streams, the thread's for none. */
START_TEST(variants_with_a_suffix_use_the_threads_stream)
{
    gate held;
    CUstream blocking;
    unsigned long long legacy = 0, mine = 0, named = 0;
    uint32_t *words = make_words(0), found[WORDS];
    assert_ok(cudaStreamGetId(NULL, &legacy));
    assert_ok(cudaStreamGetId_ptsz(NULL, &mine));
    assert_ok(cudaStreamGetId(CXU_STREAM_PER_THREAD, &named));
    ck_assert_uint_ne(legacy, mine);
    ck_assert_uint_eq(mine, named);
    assert_ok(cudaStreamCreate(&blocking));
    gate_close(&held, blocking);
    assert_ok(cudaMemsetAsync_ptsz(words, 1, WORD_BYTES, NULL));
    assert_ok(cudaStreamSynchronize_ptsz(NULL));
    assert_ok(cudaMemcpy_ptds(found, words, WORD_BYTES, CXR_DEVICE_TO_HOST));
    ck_assert_uint_eq(found[5], 0x01010101);
    assert_ok(cudaStreamQuery_ptsz(NULL));
    gate_open(&held);
    assert_ok(cudaStreamSynchronize(blocking));
    assert_ok(cudaStreamDestroy(blocking));
    assert_ok(cudaFree(words));
}
END_TEST

static void *thread_stream_id(void *out_id)
{
    assert_ok(cudaStreamGetId_ptsz(NULL, out_id));
    return NULL;
}

START_TEST(threads_have_default_streams_of_their_own)
{
    unsigned long long mine = 0, other = 0;
    thread_stream_id(&mine);
    on_a_thread(thread_stream_id, &other);
    ck_assert_uint_ne(mine, other);
}
END_TEST

START_TEST(events_order_streams_and_measure_time)
{
    gate held;
    CUstream first, second;
    CUevent start, end, untimed;
    float ms = -1;
    uint32_t *words = make_words(0);
    code_add_register(&adds);
    assert_ok(cudaStreamCreateWithFlags(&first, CXU_STREAM_NON_BLOCKING));
    assert_ok(cudaStreamCreateWithFlags(&second, CXU_STREAM_NON_BLOCKING));
    assert_ok(cudaEventCreate(&start));
    assert_ok(cudaEventCreate(&end));
    assert_ok(cudaEventCreateWithFlags(&untimed, CXU_EVENT_DISABLE_TIMING));
    assert_ok(cudaEventRecord(start, first));
    gate_close(&held, first);
    assert_ok(cudaMemsetAsync(words, 1, WORD_BYTES, first));
    assert_ok(cudaEventRecord(end, first));
    assert_error(cudaEventElapsedTime(&ms, start, end), CXR_NOT_READY);
    assert_ok(cudaStreamWaitEvent(second, end, 0));
    assert_ok(code_launch_add(&adds, words, 1, second));
    assert_error(cudaStreamQuery(second), CXR_NOT_READY);
    gate_open(&held);
    assert_ok(cudaStreamSynchronize(second));
    assert_words(words, 0x01010102);
    assert_ok(cudaEventElapsedTime(&ms, start, end));
    ck_assert(ms >= 0);
    assert_ok(cudaEventRecordWithFlags(untimed, first, 0));
    assert_ok(cudaEventSynchronize(untimed));
    assert_error(cudaEventElapsedTime(&ms, start, untimed), CXR_INVALID_RESOURCE_HANDLE);
    assert_error(cudaEventElapsedTime(NULL, start, end), CXR_INVALID_VALUE);
    assert_ok(cudaEventDestroy(start));
    assert_ok(cudaEventDestroy(end));
    assert_ok(cudaEventDestroy(untimed));
    assert_ok(cudaStreamDestroy(first));
    assert_ok(cudaStreamDestroy(second));
    assert_ok(cudaFree(words));
    __cudaUnregisterFatBinary(adds.binary);
}
END_TEST

START_TEST(work_is_launched_in_streams_of_its_own_device)
{
    CUstream stream;
    uint32_t *words = make_words(0);
    code_add_register(&adds);
    assert_ok(cudaSetDevice(1));
    assert_ok(cudaStreamCreate(&stream));
    assert_ok(cudaSetDevice(0));
    assert_error(code_launch_add(&adds, words, 1, stream), CXR_INVALID_RESOURCE_HANDLE);
    assert_ok(cudaStreamDestroy(stream));
    assert_ok(cudaFree(words));
    __cudaUnregisterFatBinary(adds.binary);
}
END_TEST

/* ---- host functions ---- */

typedef struct heard {
    CUstream stream;
    cxr_error status, inside;
    int calls;
} heard;

static void hears(CUstream stream, cxr_error status, void *self)
{
    heard *all = self;
    void *pointer;
    all->stream = stream;
    all->status = status;
    all->calls++;
    all->inside = cudaMalloc(&pointer, 16);
}

START_TEST(callbacks_hear_the_status_and_may_not_call_the_api)
{
    CUstream stream;
    heard all = {0};
    assert_ok(cudaStreamCreate(&stream));
    assert_ok(cudaStreamAddCallback(stream, hears, &all, 0));
    assert_ok(cudaStreamSynchronize(stream));
    ck_assert_int_eq(all.calls, 1);
    ck_assert_ptr_eq(all.stream, stream);
    assert_error(all.status, CXR_SUCCESS);
    assert_error(all.inside, CXR_NOT_PERMITTED);
    assert_ok(cudaGetLastError());
    assert_error(cudaStreamAddCallback(stream, hears, &all, 1), CXR_INVALID_VALUE);
    assert_error(cudaStreamAddCallback(stream, NULL, &all, 0), CXR_INVALID_VALUE);
    assert_error(cudaLaunchHostFunc(stream, NULL, &all), CXR_INVALID_VALUE);
    assert_ok(cudaStreamDestroy(stream));
}
END_TEST

/* ---- captures ---- */

START_TEST(a_capture_becomes_a_graph_that_runs)
{
    CUstream stream;
    CUgraph graph, seen = NULL;
    CUgraphExec exec;
    cxu_stream_capture_status status;
    unsigned long long id = 0;
    const CUgraphNode *last = NULL;
    const cxu_graph_edge_data *edges = NULL;
    size_t count = 9, nodes = 0;
    uint32_t *words = make_words(1);
    code_add_register(&adds);
    assert_ok(cudaStreamCreate(&stream));
    assert_ok(cudaStreamIsCapturing(stream, &status));
    ck_assert_int_eq(status, CXU_STREAM_CAPTURE_STATUS_NONE);
    assert_ok(cudaStreamBeginCapture(stream, CXU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    assert_ok(code_launch_add(&adds, words, 5, stream));
    assert_ok(cudaMemsetAsync(words + 1, 0, 4, stream));
    assert_ok(cudaStreamGetCaptureInfo(stream, &status, &id, &seen, &last, &edges, &count));
    ck_assert_int_eq(status, CXU_STREAM_CAPTURE_STATUS_ACTIVE);
    ck_assert_uint_eq(count, 1);
    assert_ok(cudaGraphGetNodes(seen, NULL, &nodes));
    ck_assert_uint_eq(nodes, 2);
    assert_ok(cudaStreamEndCapture(stream, &graph));
    ck_assert_ptr_eq(graph, seen);
    assert_words(words, 1);
    assert_ok(cudaGraphInstantiate(&exec, graph, 0));
    assert_ok(cudaGraphLaunch(exec, stream));
    assert_ok(cudaGraphLaunch(exec, stream));
    assert_ok(cudaStreamSynchronize(stream));
    uint32_t found[2];
    assert_ok(cudaMemcpy(found, words, 8, CXR_DEVICE_TO_HOST));
    ck_assert_uint_eq(found[0], 11);
    ck_assert_uint_eq(found[1], 0);
    assert_ok(cudaGraphExecDestroy(exec));
    assert_ok(cudaGraphDestroy(graph));
    assert_ok(cudaStreamDestroy(stream));
    assert_ok(cudaFree(words));
    __cudaUnregisterFatBinary(adds.binary);
}
END_TEST

START_TEST(a_call_that_waits_ends_a_capture_in_an_error)
{
    CUstream stream;
    CUgraph graph = NULL;
    cxu_stream_capture_mode mode = CXU_STREAM_CAPTURE_MODE_RELAXED;
    void *pointer;
    assert_ok(cudaStreamCreate(&stream));
    assert_ok(cudaStreamBeginCapture(stream, CXU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_error(cudaStreamSynchronize(stream), CXR_STREAM_CAPTURE_UNSUPPORTED);
    assert_error(cudaStreamEndCapture(stream, &graph), CXR_STREAM_CAPTURE_INVALIDATED);
    ck_assert_ptr_null(graph);
    assert_ok(cudaStreamBeginCapture(stream, CXU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_ok(cudaThreadExchangeStreamCaptureMode(&mode));
    ck_assert_int_eq(mode, CXU_STREAM_CAPTURE_MODE_GLOBAL);
    assert_ok(cudaMalloc(&pointer, 16));
    assert_ok(cudaThreadExchangeStreamCaptureMode(&mode));
    assert_ok(cudaStreamEndCapture(stream, &graph));
    assert_ok(cudaFree(pointer));
    assert_error(cudaStreamEndCapture(stream, &graph), CXR_ILLEGAL_STATE);
    assert_error(cudaStreamBeginCapture(NULL, CXU_STREAM_CAPTURE_MODE_GLOBAL),
                 CXR_STREAM_CAPTURE_UNSUPPORTED);
    assert_ok(cudaStreamDestroy(stream));
}
END_TEST

/* ---- attributes of launches ---- */

START_TEST(launches_take_attributes)
{
    cxu_launch_attribute attributes[2];
    uint32_t *words = make_words(0), count = WORDS, value = 2;
    void *arguments[] = {&words, &count, &value};
    cxr_launch_config config = {.grid = {2, 1, 1},
                                .block = {WORDS / 2, 1, 1},
                                .attributes = attributes,
                                .attribute_count = 2};
    memset(attributes, 0, sizeof attributes);
    attributes[0].id = CXU_LAUNCH_ATTRIBUTE_IGNORE;
    attributes[1].id = CXU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attributes[1].value.number = 1;
    code_add_register(&adds);
    assert_ok(cudaLaunchKernelExC(&config, &adds.stub, arguments));
    assert_ok(cudaDeviceSynchronize());
    /* A device may begin this one early: nothing is before it. */
    attributes[1].id = CXU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    assert_ok(cudaLaunchKernelExC(&config, &adds.stub, arguments));
    assert_ok(
        cudaLaunchCooperativeKernel(&adds.stub, config.grid, config.block, arguments, 0, NULL));
    config.attribute_count = 0;
    assert_ok(cudaLaunchKernelExC_ptsz(&config, &adds.stub, arguments));
    assert_ok(cudaDeviceSynchronize());
    assert_words(words, 8);
    assert_error(cudaLaunchKernelExC(NULL, &adds.stub, arguments), CXR_INVALID_VALUE);
    config.attribute_count = 1;
    config.attributes = NULL;
    assert_error(cudaLaunchKernelExC(&config, &adds.stub, arguments), CXR_INVALID_VALUE);
    assert_ok(cudaFree(words));
    __cudaUnregisterFatBinary(adds.binary);
}
END_TEST

static Suite *stream_suite(void)
{
    Suite *suite = suite_create("stream");
    TCase *tcase = tcase_create("stream");
    tcase_add_checked_fixture(tcase, start_with_gpus, NULL);
    tcase_add_test(tcase, default_streams_are_nobodys_to_destroy);
    tcase_add_test(tcase, streams_tell_what_they_were_made_with);
    tcase_add_test(tcase, variants_with_a_suffix_use_the_threads_stream);
    tcase_add_test(tcase, threads_have_default_streams_of_their_own);
    tcase_add_test(tcase, events_order_streams_and_measure_time);
    tcase_add_test(tcase, work_is_launched_in_streams_of_its_own_device);
    tcase_add_test(tcase, callbacks_hear_the_status_and_may_not_call_the_api);
    tcase_add_test(tcase, a_capture_becomes_a_graph_that_runs);
    tcase_add_test(tcase, a_call_that_waits_ends_a_capture_in_an_error);
    tcase_add_test(tcase, launches_take_attributes);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(stream_suite);
