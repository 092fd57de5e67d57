/* A client that links libcuda and nothing else of ours; built once for each export set. */
#include "client.h"
#include "test.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ck_assert_cuda(call) ck_assert_int_eq(call, CXU_SUCCESS)

static void start(void)
{
    ck_assert_cuda(cuInit(0));
}

/* Rule 9 of the house: a test leaves the thread as it found it. */
static void stop(void)
{
    CUcontext context;
    ck_assert_cuda(cuCtxGetCurrent(&context));
    ck_assert_ptr_null(context);
    ck_assert_int_eq(cuCtxPopCurrent_v2(&context), CXU_INVALID_CONTEXT);
}

START_TEST(the_version_is_that_of_the_export_set)
{
    int version = 0;
    ck_assert_cuda(cuDriverGetVersion(&version));
    ck_assert_int_eq(version, CX_TEST_VERSION);
    ck_assert_cuda(cuInit(0));
    ck_assert_cuda(cuDriverGetVersion(&version));
    ck_assert_int_eq(version, CX_TEST_VERSION);
    ck_assert_int_eq(cuDriverGetVersion(NULL), CXU_INVALID_VALUE);
}
END_TEST

/* I1 */
START_TEST(before_init_every_call_but_the_few_is_not_initialized)
{
    CUcontext context = (CUcontext)(void *)&context;
    const char *name = NULL;
    CUmodule module = (CUmodule)(void *)&module;
    ck_assert_int_eq(cuCtxGetCurrent(&context), CXU_NOT_INITIALIZED);
    ck_assert_int_eq(cuCtxPushCurrent_v2(NULL), CXU_NOT_INITIALIZED);
    ck_assert_int_eq(cuCtxPopCurrent(&context), CXU_NOT_INITIALIZED);
    ck_assert_int_eq(cuMemcpyHtoD_v2_ptds(0, &context, 0), CXU_NOT_INITIALIZED);
    ck_assert_int_eq(cuModuleLoadData(&module, ""), CXU_NOT_INITIALIZED);
    ck_assert_ptr_eq(context, &context);
    ck_assert(module == (CUmodule)(void *)&module);
    ck_assert_cuda(cuGetErrorName(CXU_NOT_INITIALIZED, &name));
    ck_assert_str_eq(name, "CUDA_ERROR_NOT_INITIALIZED");
}
END_TEST

/* I2 */
START_TEST(init_takes_no_flags_and_may_come_twice)
{
    ck_assert_int_eq(cuInit(1), CXU_INVALID_VALUE);
    ck_assert_cuda(cuInit(0));
    ck_assert_cuda(cuInit(0));
}
END_TEST

START_TEST(the_environment_says_how_many_devices_there_are)
{
    int count = 0;
    setenv("CTXRT_EMU_DEVICES", "2", 1);
    ck_assert_cuda(cuInit(0));
    ck_assert_cuda(cuDeviceGetCount(&count));
    ck_assert_int_eq(count, 2);
}
END_TEST

START_TEST(a_malformed_environment_is_no_driver)
{
    setenv("CTXRT_LOG", "off", 1);
    setenv("CTXRT_EMU_DEVICES", "many", 1);
    ck_assert_int_eq(cuInit(0), CXU_SYSTEM_NOT_READY);
    ck_assert_int_eq(cuInit(0), CXU_SYSTEM_NOT_READY);
    int count = 7;
    ck_assert_int_eq(cuDeviceGetCount(&count), CXU_NOT_INITIALIZED);
    ck_assert_int_eq(count, 7);
}
END_TEST

/* C1, S1, S2 */
START_TEST(contexts_of_two_devices_nest_on_one_stack)
{
    CUcontext first, second, context;
    CUdevice device;
    ck_assert_cuda(cuCtxCreate_v2(&first, 0, 0));
    ck_assert_cuda(cuCtxCreate_v2(&second, 0, 1));
    ck_assert_cuda(cuCtxGetDevice(&device));
    ck_assert_int_eq(device, 1);
    ck_assert_cuda(cuCtxPushCurrent_v2(first));
    ck_assert_cuda(cuCtxGetDevice(&device));
    ck_assert_int_eq(device, 0);
    ck_assert_cuda(cuCtxPopCurrent_v2(&context));
    ck_assert_ptr_eq(context, first);
    ck_assert_cuda(cuCtxDestroy_v2(second));
    ck_assert_cuda(cuCtxGetCurrent(&context));
    ck_assert_ptr_eq(context, first);
    ck_assert_cuda(cuCtxDestroy_v2(first));
}
END_TEST

START_TEST(the_oldest_symbols_of_the_stack_work_as_the_newer_ones)
{
    CUcontext context, popped;
    CUstream stream;
    CUevent event;
    ck_assert_cuda(cuCtxCreate(&context, 0, 0));
    ck_assert_cuda(cuCtxPushCurrent(context));
    ck_assert_cuda(cuStreamCreate(&stream, 0));
    ck_assert_cuda(cuStreamDestroy(stream));
    ck_assert_cuda(cuEventCreate(&event, 0));
    ck_assert_cuda(cuEventDestroy(event));
    ck_assert_cuda(cuCtxPopCurrent(&popped));
    ck_assert_ptr_eq(popped, context);
    ck_assert_cuda(cuCtxDestroy(context));
}
END_TEST

/* P1, P2 */
START_TEST(a_primary_context_is_one_and_counted)
{
    CUcontext one, two;
    unsigned int flags;
    int active;
    ck_assert_cuda(cuDevicePrimaryCtxRetain(&one, 1));
    ck_assert_cuda(cuDevicePrimaryCtxRetain(&two, 1));
    ck_assert_ptr_eq(one, two);
    ck_assert_cuda(cuDevicePrimaryCtxRelease(1));
    ck_assert_cuda(cuDevicePrimaryCtxGetState(1, &flags, &active));
    ck_assert_int_eq(active, 1);
    ck_assert_cuda(cuDevicePrimaryCtxRelease_v2(1));
    ck_assert_cuda(cuDevicePrimaryCtxGetState(1, &flags, &active));
    ck_assert_int_eq(active, 0);
    ck_assert_int_eq(cuDevicePrimaryCtxRelease_v2(1), CXU_INVALID_CONTEXT);
}
END_TEST

static void *use_second_device(void *unused)
{
    CUcontext context, current;
    CUdevice device = -1;
    (void)unused;
    if (cuCtxGetCurrent(&current) != CXU_SUCCESS || current != NULL)
        return "a new thread has a current context";
    if (cuCtxCreate_v2(&context, 0, 1) != CXU_SUCCESS || cuCtxGetDevice(&device) != CXU_SUCCESS)
        return "the thread could not make its context";
    if (device != 1 || cuCtxDestroy_v2(context) != CXU_SUCCESS)
        return "the thread works on another device";
    return NULL;
}

/* S5 */
START_TEST(each_thread_has_its_own_stack)
{
    CUcontext context, current;
    pthread_t thread;
    void *complaint;
    ck_assert_cuda(cuCtxCreate_v2(&context, 0, 0));
    ck_assert_int_eq(pthread_create(&thread, NULL, use_second_device, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, &complaint), 0);
    ck_assert_msg(complaint == NULL, "%s", (const char *)complaint);
    ck_assert_cuda(cuCtxGetCurrent(&current));
    ck_assert_ptr_eq(current, context);
    ck_assert_cuda(cuCtxDestroy_v2(context));
}
END_TEST

START_TEST(bytes_go_to_a_device_to_its_peer_and_back)
{
    CUcontext first, second;
    CUdeviceptr from, to;
    char sent[4096], received[4096];
    for (size_t i = 0; i < sizeof sent; i++)
        sent[i] = (char)(i * 7);
    ck_assert_cuda(cuCtxCreate_v2(&first, 0, 0));
    ck_assert_cuda(cuMemAlloc_v2(&from, sizeof sent));
    ck_assert_cuda(cuMemcpyHtoD_v2(from, sent, sizeof sent));
    ck_assert_cuda(cuCtxCreate_v2(&second, 0, 1));
    ck_assert_cuda(cuMemAlloc_v2(&to, sizeof sent));
    ck_assert_cuda(cuMemcpyPeer(to, second, from, first, sizeof sent));
    ck_assert_cuda(cuMemsetD8_v2_ptds(to, 0x5a, 16));
    ck_assert_cuda(cuMemcpyDtoH_v2_ptds(received, to, sizeof received));
    memset(sent, 0x5a, 16);
    ck_assert_mem_eq(received, sent, sizeof sent);
    ck_assert_cuda(cuMemFree_v2(to));
    ck_assert_cuda(cuCtxDestroy_v2(second));
    ck_assert_cuda(cuMemFree_v2(from)); /* T5 */
    ck_assert_cuda(cuCtxDestroy_v2(first));
}
END_TEST

static void wait_at_gate(void *gate)
{
    while (sem_wait(gate) != 0)
        continue;
}

START_TEST(a_ptsz_symbol_uses_the_threads_own_default_stream)
{
    CUcontext context;
    sem_t gate;
    ck_assert_int_eq(sem_init(&gate, 0, 0), 0);
    ck_assert_cuda(cuCtxCreate_v2(&context, 0, 0));
    ck_assert_cuda(cuLaunchHostFunc_ptsz(NULL, wait_at_gate, &gate));
    ck_assert_int_eq(cuStreamQuery(CXU_STREAM_PER_THREAD), CXU_NOT_READY);
    ck_assert_int_eq(cuStreamQuery_ptsz(NULL), CXU_NOT_READY);
    ck_assert_int_eq(sem_post(&gate), 0);
    ck_assert_cuda(cuStreamSynchronize_ptsz(NULL));
    ck_assert_cuda(cuStreamQuery(CXU_STREAM_PER_THREAD));
    ck_assert_cuda(cuCtxDestroy_v2(context));
    sem_destroy(&gate);
}
END_TEST

START_TEST(a_plain_symbol_after_a_ptsz_one_uses_the_legacy_stream_again)
{
    CUcontext context;
    unsigned long long legacy, per_thread, plain;
    ck_assert_cuda(cuCtxCreate_v2(&context, 0, 0));
    ck_assert_cuda(cuStreamGetId(CXU_STREAM_LEGACY, &legacy));
    ck_assert_cuda(cuStreamGetId_ptsz(NULL, &per_thread));
    ck_assert_cuda(cuStreamGetId(NULL, &plain));
    ck_assert_uint_eq(plain, legacy);
    ck_assert_uint_ne(plain, per_thread);
    ck_assert_cuda(cuCtxDestroy_v2(context));
}
END_TEST

/* How many lines of a file contain a word. */
static int count_lines(FILE *file, const char *word)
{
    char line[1024];
    int count = 0;
    rewind(file);
    while (fgets(line, sizeof line, file) != NULL)
        count += strstr(line, word) != NULL;
    return count;
}

static void count_up(void *count)
{
    ++*(int *)count;
}

/* What newer clients call: the per-thread forms, and each superseded form beside its successor. */
START_TEST(a_captured_graph_is_launched_through_every_form_of_the_calls)
{
    CUcontext context;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode nodes[2], node = NULL;
    cxu_stream_capture_status status;
    uint64_t id = 0;
    size_t count = 2;
    int runs = 0;
    ck_assert_cuda(cuCtxCreate_v2(&context, 0, 0));
    ck_assert_cuda(cuStreamBeginCapture_v2_ptsz(NULL, CXU_STREAM_CAPTURE_MODE_GLOBAL));
    ck_assert_cuda(cuLaunchHostFunc_ptsz(NULL, count_up, &runs));
    ck_assert_cuda(cuLaunchHostFunc_ptsz(NULL, count_up, &runs));
    ck_assert_cuda(cuStreamIsCapturing_ptsz(NULL, &status));
    ck_assert_int_eq(status, CXU_STREAM_CAPTURE_STATUS_ACTIVE);
    ck_assert_cuda(cuStreamGetCaptureInfo_ptsz(CXU_STREAM_PER_THREAD, &status, &id));
    ck_assert_uint_ne(id, 0);
    ck_assert_cuda(cuStreamEndCapture_ptsz(NULL, &graph));
    ck_assert_int_eq(cuStreamBeginCapture(NULL), CXU_STREAM_CAPTURE_UNSUPPORTED);
    ck_assert_cuda(cuGraphGetNodes(graph, nodes, &count));
    ck_assert_uint_eq(count, 2);
    count = 1;
    ck_assert_cuda(cuGraphNodeGetDependencies(nodes[1], &node, &count));
    ck_assert_ptr_eq(node, nodes[0]);
    ck_assert_cuda(cuGraphNodeGetDependencies_v2(nodes[1], NULL, NULL, &count));
    ck_assert_uint_eq(count, 1);
    ck_assert_cuda(cuGraphInstantiate(&exec, graph, NULL, NULL, 0));
    ck_assert_cuda(cuGraphLaunch(exec, NULL));
    ck_assert_cuda(cuGraphExecDestroy(exec));
    ck_assert_cuda(cuGraphInstantiate_v2(&exec, graph, NULL, NULL, 0));
    ck_assert_cuda(cuGraphLaunch(exec, NULL));
    ck_assert_cuda(cuGraphExecDestroy(exec));
    ck_assert_cuda(cuGraphInstantiateWithFlags(&exec, graph, 0));
    ck_assert_cuda(cuGraphDestroy(graph));
    ck_assert_cuda(cuGraphLaunch_ptsz(exec, NULL));
    ck_assert_cuda(cuCtxSynchronize());
    ck_assert_int_eq(runs, 6);
    ck_assert_cuda(cuGraphExecDestroy(exec));
    ck_assert_cuda(cuCtxDestroy_v2(context));
}
END_TEST

START_TEST(what_is_not_supported_says_so_once)
{
    static const char future[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                                 ".visible .entry later()\n{\n    no.such.thing;\n}\n";
    CUcontext context;
    CUmodule module = (CUmodule)(void *)&module;
    FILE *log = tmpfile();
    ck_assert_ptr_nonnull(log);
    ck_assert_cuda(cuCtxCreate_v2(&context, 0, 0));
    int kept = dup(STDERR_FILENO);
    ck_assert_int_ge(dup2(fileno(log), STDERR_FILENO), 0);
    cxu_result load = cuModuleLoadData(&module, future);
    cxu_result launch = cuTexRefCreate(NULL);
    cxu_result again = cuTexRefCreate(NULL);
    ck_assert_int_ge(dup2(kept, STDERR_FILENO), 0);
    close(kept);

    ck_assert_int_eq(load, CXU_NOT_SUPPORTED);
    ck_assert_int_eq(launch, CXU_NOT_SUPPORTED);
    ck_assert_int_eq(again, CXU_NOT_SUPPORTED);
    ck_assert(module == (CUmodule)(void *)&module);
    ck_assert_int_eq(count_lines(log, "cuTexRefCreate "), 1);
    fclose(log);
    ck_assert_cuda(cuCtxDestroy_v2(context));
}
END_TEST

START_TEST(the_32_bit_signatures_of_old_are_not_supported)
{
    unsigned int pointer = 7;
    ck_assert_int_eq(cuMemAlloc(&pointer, 64), CXU_NOT_SUPPORTED);
    ck_assert_uint_eq(pointer, 7);
}
END_TEST

static const char code_of_links[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                                    ".visible .entry k() { ret; }\n";

/* Programs built before CUDA 6.5 and 11.0 look for these names. */
START_TEST(the_first_names_of_links_and_ipc_work_as_the_newer_ones)
{
    CUcontext context;
    CUlinkState state;
    CUmodule module;
    CUdeviceptr pointer = 7;
    void *image;
    size_t bytes;
    char text[sizeof code_of_links];
    memcpy(text, code_of_links, sizeof text);
    ck_assert_cuda(cuCtxCreate_v2(&context, 0, 0));
    ck_assert_cuda(cuLinkCreate(0, NULL, NULL, &state));
    ck_assert_cuda(cuLinkAddData(state, CXU_JIT_INPUT_PTX, text, sizeof text, "k", 0, NULL, NULL));
    ck_assert_int_eq(cuLinkAddFile(state, CXU_JIT_INPUT_PTX, "/nowhere", 0, NULL, NULL),
                     cuLinkAddFile_v2(state, CXU_JIT_INPUT_PTX, "/nowhere", 0, NULL, NULL));
    ck_assert_cuda(cuLinkComplete(state, &image, &bytes));
    ck_assert_cuda(cuModuleLoadData(&module, image));
    ck_assert_cuda(cuLinkDestroy(state));
    cxu_ipc_mem_handle handle = {{0}};
    ck_assert_int_eq(cuIpcOpenMemHandle(&pointer, handle, 0),
                     cuIpcOpenMemHandle_v2(&pointer, handle, 0));
    ck_assert_cuda(cuCtxDestroy_v2(context));
}
END_TEST

START_TEST(the_names_that_no_toolkit_has_are_not_supported)
{
    ck_assert_int_eq(cuGLInit(), CXU_NOT_SUPPORTED);
    ck_assert_int_eq(cuEGLStreamConsumerConnect(NULL, NULL), CXU_NOT_SUPPORTED);
    ck_assert_int_eq(cuVDPAUGetDevice(NULL, 0, NULL), CXU_NOT_SUPPORTED);
    unsigned int count = 7;
    CUdevice device = 7;
    ck_assert_int_eq(cuGLGetDevices_v2(&count, &device, 1, 1), CXU_NOT_SUPPORTED);
    ck_assert_uint_eq(count, 7);
}
END_TEST

START_TEST(no_export_table_is_ever_given_and_the_log_names_libcudart_once)
{
    const void *table = &table;
    cxu_uuid id = {{0}};
    FILE *log = tmpfile();
    ck_assert_ptr_nonnull(log);
    int kept = dup(STDERR_FILENO);
    ck_assert_int_ge(dup2(fileno(log), STDERR_FILENO), 0);
    for (int byte = 0; byte < 256; byte++) {
        memset(id.bytes, byte, sizeof id.bytes);
        ck_assert_int_eq(cuGetExportTable(&table, &id), CXU_NOT_FOUND);
    }
    ck_assert_int_ge(dup2(kept, STDERR_FILENO), 0);
    close(kept);
    ck_assert_ptr_eq(table, &table);
    ck_assert_int_eq(count_lines(log, "libcudart"), 1);
    fclose(log);
}
END_TEST

static CUdeviceptr begin_with(const char *faults)
{
    CUcontext context;
    CUdeviceptr memory;

    ck_assert_int_eq(setenv("CTXRT_EMU_FAULT", faults, 1), 0);
    ck_assert_cuda(cuInit(0));
    ck_assert_cuda(cuCtxCreate_v2(&context, 0, 0));
    ck_assert_cuda(cuMemAlloc_v2(&memory, 64));
    return memory;
}

/* Old names, and those with the thread's own stream, are the same call. */
START_TEST(calls_and_work_fail_on_demand_under_every_name)
{
    CUdeviceptr memory = begin_with("cuCtxCreate@2,cuMemsetD8Async@2:ILLEGAL_ADDRESS:async");
    CUcontext context, none = NULL;

    ck_assert_int_eq(cuCtxCreate(&none, 0, 0), CXU_OUT_OF_MEMORY);
    ck_assert_ptr_null(none);
    ck_assert_cuda(cuMemsetD8Async(memory, 1, 64, NULL));
    ck_assert_cuda(cuCtxSynchronize());
    ck_assert_cuda(cuMemsetD8Async_ptsz(memory, 1, 64, NULL));
    ck_assert_int_eq(cuStreamSynchronize_ptsz(NULL), CXU_ILLEGAL_ADDRESS);
    ck_assert_int_eq(cuMemFree_v2(memory), CXU_ILLEGAL_ADDRESS);
    ck_assert_cuda(cuCtxGetCurrent(&context));
    ck_assert_cuda(cuCtxDestroy(context));
    stop();
}
END_TEST

START_TEST(a_device_is_lost_on_demand)
{
    CUdeviceptr memory = begin_with("device0@4");
    CUcontext context, other;

    ck_assert_int_eq(cuMemsetD8_v2(memory, 1, 64), CXU_DEVICE_UNAVAILABLE);
    ck_assert_cuda(cuCtxCreate_v2(&other, 0, 1));
    ck_assert_cuda(cuCtxSynchronize());
    ck_assert_cuda(cuCtxDestroy(other));
    ck_assert_cuda(cuCtxGetCurrent(&context));
    ck_assert_cuda(cuCtxDestroy(context));
    stop();
}
END_TEST

START_TEST(malformed_faults_are_no_driver)
{
    CUcontext context;

    ck_assert_int_eq(setenv("CTXRT_EMU_FAULT", "cuMemAlloc@", 1), 0);
    ck_assert_int_eq(cuInit(0), CXU_SYSTEM_NOT_READY);
    ck_assert_int_eq(cuCtxGetCurrent(&context), CXU_NOT_INITIALIZED);
}
END_TEST

/* ---- every export ---- */

typedef cxu_result (*any_call)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                               uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

static const char *const exports[] = {
#define CX_EXPORT(name, suffix, ending, since) #name #suffix #ending,
#include "shim/exports.def"
};

/* With NULL and 0: tests/emu/check_sweep.c has the other arguments of what the driver serves. */
static void call_every_export(void)
{
    int count = 0;

    for (size_t i = 0; i < sizeof exports / sizeof exports[0]; i++) {
        const char *text = NULL;
        any_call call;
        *(void **)&call = dlsym(RTLD_DEFAULT, exports[i]);
        if (call == NULL)
            continue; /* newer than this set */
        cxu_result result = call(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
        ck_assert_msg(cuGetErrorName(result, &text) == CXU_SUCCESS, "%s returns %d", exports[i],
                      (int)result);
        count++;
    }
    ck_assert_int_gt(count, 600);
}

START_TEST(every_export_answers_zeroes_before_and_after_init)
{
    CUcontext context;

    call_every_export();
    ck_assert_cuda(cuInit(0));
    ck_assert_cuda(cuCtxCreate_v2(&context, 0, 0));
    call_every_export();
    while (cuCtxPopCurrent_v2(&context) == CXU_SUCCESS)
        continue;
    ck_assert_cuda(cuCtxCreate_v2(&context, 0, 0));
    ck_assert_cuda(cuCtxSynchronize());
    ck_assert_cuda(cuCtxDestroy_v2(context));
    stop();
}
END_TEST

static Suite *calls_suite(void)
{
    Suite *suite = suite_create("calls");
    TCase *life = tcase_create("life");
    tcase_add_test(life, the_version_is_that_of_the_export_set);
    tcase_add_test(life, before_init_every_call_but_the_few_is_not_initialized);
    tcase_add_test(life, init_takes_no_flags_and_may_come_twice);
    tcase_add_test(life, the_environment_says_how_many_devices_there_are);
    tcase_add_test(life, a_malformed_environment_is_no_driver);
    tcase_add_test(life, calls_and_work_fail_on_demand_under_every_name);
    tcase_add_test(life, a_device_is_lost_on_demand);
    tcase_add_test(life, malformed_faults_are_no_driver);
    tcase_add_test(life, every_export_answers_zeroes_before_and_after_init);
    suite_add_tcase(suite, life);

    TCase *tests = tcase_create("calls");
    tcase_add_checked_fixture(tests, start, stop);
    tcase_add_test(tests, contexts_of_two_devices_nest_on_one_stack);
    tcase_add_test(tests, the_oldest_symbols_of_the_stack_work_as_the_newer_ones);
    tcase_add_test(tests, a_primary_context_is_one_and_counted);
    tcase_add_test(tests, each_thread_has_its_own_stack);
    tcase_add_test(tests, bytes_go_to_a_device_to_its_peer_and_back);
    tcase_add_test(tests, a_ptsz_symbol_uses_the_threads_own_default_stream);
    tcase_add_test(tests, a_plain_symbol_after_a_ptsz_one_uses_the_legacy_stream_again);
    tcase_add_test(tests, a_captured_graph_is_launched_through_every_form_of_the_calls);
    tcase_add_test(tests, what_is_not_supported_says_so_once);
    tcase_add_test(tests, the_32_bit_signatures_of_old_are_not_supported);
    tcase_add_test(tests, the_names_that_no_toolkit_has_are_not_supported);
    tcase_add_test(tests, the_first_names_of_links_and_ipc_work_as_the_newer_ones);
    tcase_add_test(tests, no_export_table_is_ever_given_and_the_log_names_libcudart_once);
    suite_add_tcase(suite, tests);
    return suite;
}

CX_TESTS(calls_suite);
