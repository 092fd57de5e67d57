/* Errors that stick (F1 to F5). Each test has a process of its own. */
#include "work_fixture.h"

#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES ((size_t)256)
#define FAULTY "cuMemsetD8Async@1:ILLEGAL_ADDRESS:async"
#define ASSERTS "cuMemsetD8Async@1:ASSERT:async"

static const cx_driver_table *driver;
static CUcontext second; /* on GPU 1 */
static CUdeviceptr memory;

/* Two GPUs with a context each; that of GPU 0 is current, `memory` is its. */
static void start(const char *faults)
{
    const cx_emu_config config = {.host_device = false,
                                  .gpus = 2,
                                  .gpu_memory_bytes = (size_t)256 << 20,
                                  .driver_version = CX_EMU_DRIVER_VERSION};

    ck_assert_int_eq(setenv("CTXRT_EMU_FAULT", faults, 1), 0);
    driver = cx_emu_driver();
    ck_assert(cx_emu_configure(&config));
    ck_success(driver->init(0));
    ck_success(driver->ctx_create_v4(&second, NULL, 0, 1));
    ck_success(driver->ctx_create_v4(&work_context, NULL, 0, 0));
    ck_success(driver->mem_alloc(&memory, BYTES));
}

/* Whatever failed: contexts can be destroyed, and after that nothing is current. */
static void stop(void)
{
    CUcontext current = second;

    ck_success(driver->ctx_destroy(work_context));
    ck_success(driver->ctx_destroy(second));
    ck_success(driver->ctx_get_current(&current));
    ck_assert_ptr_null(current);
}

/* Work of the current context fails, and is waited for. */
static void spoil(cxu_result error)
{
    ck_success(driver->memset_d8_async(memory, 1, BYTES, NULL));
    ck_assert_int_eq(driver->ctx_synchronize(), error);
}

static const cxu_result of_the_process[] = {
    CXU_CONTAINED,
    CXU_ILLEGAL_ADDRESS,
    CXU_LAUNCH_TIMEOUT,
    CXU_HARDWARE_STACK_ERROR,
    CXU_ILLEGAL_INSTRUCTION,
    CXU_MISALIGNED_ADDRESS,
    CXU_INVALID_ADDRESS_SPACE,
    CXU_INVALID_PC,
    CXU_LAUNCH_FAILED,
    CXU_TENSOR_MEMORY_LEAK,
    CXU_MPS_CLIENT_TERMINATED,
    CXU_EXTERNAL_DEVICE,
};

static void start_with(cxu_result error)
{
    char faults[64];

    snprintf(faults, sizeof faults, "cuMemsetD8Async@1:%d:async", (int)error);
    start(faults);
}

/* F1 */
START_TEST(twelve_errors_leave_every_context_useless)
{
    cxu_result error = of_the_process[_i];
    CUcontext none = NULL;
    CUdeviceptr pointer;

    start_with(error);
    spoil(error);
    ck_assert_int_eq(driver->mem_alloc(&pointer, 1), error);
    ck_success(driver->ctx_push(second));
    ck_assert_int_eq(driver->ctx_synchronize(), error);
    ck_assert_int_eq(driver->mem_alloc(&pointer, 1), error);
    ck_success(driver->ctx_pop(NULL));
    ck_assert_int_eq(driver->ctx_create_v4(&none, NULL, 0, 1), error);
    ck_assert_int_eq(driver->primary_retain(&none, 1), error);
    ck_assert_ptr_null(none);
    stop();
}
END_TEST

/* F3 */
START_TEST(nothing_brings_the_process_back)
{
    CUcontext primary, none;

    start(FAULTY);
    ck_success(driver->primary_retain(&primary, 0));
    spoil(CXU_ILLEGAL_ADDRESS);
    ck_success(driver->primary_reset(0));
    ck_success(driver->primary_release(0));
    stop();
    ck_result(driver->ctx_create_v4(&none, NULL, 0, 0), ILLEGAL_ADDRESS);
    ck_result(driver->primary_retain(&none, 0), ILLEGAL_ADDRESS);
    ck_success(driver->init(0));
    ck_result(driver->primary_retain(&none, 0), ILLEGAL_ADDRESS);
}
END_TEST

static void ck_other_context_goes_on(void)
{
    unsigned char out[BYTES];
    CUdeviceptr pointer;

    ck_success(driver->ctx_push(second));
    ck_success(driver->mem_alloc(&pointer, BYTES));
    ck_success(driver->memset_d8_async(pointer, 7, BYTES, NULL));
    ck_success(driver->memcpy_dtoh(out, pointer, BYTES));
    ck_assert_int_eq(out[BYTES - 1], 7);
    ck_success(driver->mem_free(pointer));
    ck_success(driver->ctx_pop(NULL));
}

static void ck_device_can_be_used_again(void)
{
    CUcontext context;
    CUdeviceptr pointer;
    size_t free_bytes, total;

    ck_success(driver->ctx_create_v4(&context, NULL, 0, 0));
    ck_success(driver->mem_get_info(&free_bytes, &total));
    ck_assert_uint_eq(free_bytes, total);
    ck_success(driver->mem_alloc(&pointer, BYTES));
    ck_success(driver->ctx_synchronize());
    ck_success(driver->ctx_destroy(context));
}

/* F2 */
START_TEST(an_assert_leaves_one_context_useless_until_it_is_destroyed)
{
    CUdeviceptr other;

    start(ASSERTS);
    spoil(CXU_ASSERT);
    ck_result(driver->mem_alloc(&other, 1), ASSERT);
    ck_other_context_goes_on();
    /* Its memory is of no use to others either. */
    ck_success(driver->ctx_push(second));
    ck_success(driver->mem_alloc(&other, BYTES));
    ck_result(driver->memcpy_dtod(other, memory, BYTES), ASSERT);
    ck_result(driver->mem_free(memory), ASSERT);
    ck_success(driver->ctx_synchronize());
    ck_success(driver->ctx_pop(NULL));
    ck_success(driver->ctx_destroy(work_context));
    ck_device_can_be_used_again();
    ck_success(driver->ctx_destroy(second));
}
END_TEST

/* F2 */
START_TEST(a_primary_context_recovers_from_an_assert_when_it_is_reset)
{
    CUcontext primary, same;

    start(ASSERTS);
    ck_success(driver->primary_retain(&primary, 0));
    ck_success(driver->ctx_push(primary));
    spoil(CXU_ASSERT);
    ck_result(driver->primary_retain(&same, 0), ASSERT);
    ck_success(driver->primary_reset(0));
    ck_success(driver->primary_retain(&same, 0));
    ck_assert_ptr_eq(same, primary);
    ck_success(driver->ctx_synchronize());
    ck_success(driver->primary_release(0));
    ck_success(driver->primary_release(0));
    ck_success(driver->ctx_pop(NULL));
    stop();
}
END_TEST

START_TEST(the_twelve_can_be_limited_to_their_context)
{
    ck_assert_int_eq(setenv("CTXRT_EMU_STICKY", "context", 1), 0);
    start(FAULTY);
    spoil(CXU_ILLEGAL_ADDRESS);
    ck_other_context_goes_on();
    ck_success(driver->ctx_destroy(work_context));
    ck_device_can_be_used_again();
    ck_success(driver->ctx_destroy(second));
}
END_TEST

/* F4 */
START_TEST(uncorrectable_memory_reaches_as_far_as_asked)
{
    static const char *const choices[] = {NULL, "ecc:context", "process,ecc:process", "ecc:once"};
    static const cxu_result errors[] = {CXU_ECC_UNCORRECTABLE, CXU_NVLINK_UNCORRECTABLE};
    cxu_result error = errors[_i % 2];
    int choice = _i / 2;

    if (choices[choice])
        ck_assert_int_eq(setenv("CTXRT_EMU_STICKY", choices[choice], 1), 0);
    start_with(error);
    spoil(error);
    ck_assert_int_eq(driver->ctx_synchronize(), choice == 3 ? CXU_SUCCESS : error);
    ck_success(driver->ctx_push(second));
    ck_assert_int_eq(driver->ctx_synchronize(), choice == 2 ? error : CXU_SUCCESS);
    ck_success(driver->ctx_pop(NULL));
    stop();
}
END_TEST

START_TEST(a_malformed_choice_keeps_the_driver_from_starting)
{
    static const char *const malformed[] = {"thread", "context,", "ecc", "ecc:never",
                                            "context;ecc:once"};
    cx_emu_config config;
    const char *reason = "";

    ck_assert_int_eq(setenv("CTXRT_EMU_STICKY", malformed[_i], 1), 0);
    ck_assert(!cx_emu_config_from_environment(&config, &reason));
    ck_assert_ptr_nonnull(strstr(reason, "CTXRT_EMU_STICKY"));
    ck_result(cx_emu_call_init(0), INVALID_VALUE);
}
END_TEST

/* F4 */
START_TEST(errors_of_arguments_and_of_memory_do_not_stick)
{
    CUdeviceptr pointer;
    CUstream stream;

    start("cuMemAlloc@2,cuStreamCreate@1:INVALID_VALUE,cuCtxSynchronize@1:NOT_READY");
    ck_result(driver->mem_alloc(&pointer, 1), OUT_OF_MEMORY);
    ck_result(driver->mem_alloc(&pointer, (size_t)1 << 40), OUT_OF_MEMORY);
    ck_result(driver->stream_create(&stream, 0), INVALID_VALUE);
    ck_result(driver->memset_d8(1, 1, 1), INVALID_VALUE);
    ck_result(driver->ctx_synchronize(), NOT_READY);
    ck_success(driver->ctx_synchronize());
    ck_success(driver->mem_alloc(&pointer, 1));
    stop();
}
END_TEST

/* F5: whatever uses the context says so, again and again, and does nothing. */
START_TEST(every_call_that_uses_the_context_returns_the_error)
{
    CUstream stream, made = NULL;
    CUevent event, made_event = NULL;
    CUdeviceptr pointer = 77;
    unsigned int flags = 77;
    size_t size = 77, total = 77;
    int priority;
    void *pinned, *host = NULL;
    float ms;

    start(FAULTY);
    ck_success(driver->stream_create(&stream, 0));
    ck_success(driver->event_create(&event, 0));
    ck_success(driver->event_record(event, stream));
    ck_success(driver->mem_alloc_host(&pinned, BYTES));
    spoil(CXU_ILLEGAL_ADDRESS);
    for (int again = 0; again < 2; again++) {
        ck_result(driver->ctx_synchronize(), ILLEGAL_ADDRESS);
        ck_result(driver->ctx_synchronize_v2(second), ILLEGAL_ADDRESS);
        ck_result(driver->stream_synchronize(stream), ILLEGAL_ADDRESS);
        ck_result(driver->stream_synchronize(NULL), ILLEGAL_ADDRESS);
        ck_result(driver->stream_query(stream), ILLEGAL_ADDRESS);
        ck_result(driver->event_synchronize(event), ILLEGAL_ADDRESS);
        ck_result(driver->event_query(event), ILLEGAL_ADDRESS);
        ck_result(driver->event_record(event, stream), ILLEGAL_ADDRESS);
        ck_result(driver->event_elapsed_time(&ms, event, event), ILLEGAL_ADDRESS);
        ck_result(driver->stream_wait_event(stream, event, 0), ILLEGAL_ADDRESS);
        ck_result(driver->ctx_record_event(work_context, event), ILLEGAL_ADDRESS);
        ck_result(driver->ctx_wait_event(work_context, event), ILLEGAL_ADDRESS);
        ck_result(driver->memset_d8(memory, 1, 1), ILLEGAL_ADDRESS);
        ck_result(driver->memset_d32_async(memory, 1, 1, stream), ILLEGAL_ADDRESS);
        ck_result(driver->memcpy_htod(memory, pinned, 1), ILLEGAL_ADDRESS);
        ck_result(driver->memcpy_dtoh_async(pinned, memory, 1, stream), ILLEGAL_ADDRESS);
        ck_result(driver->memcpy_peer(memory, work_context, memory, second, 1), ILLEGAL_ADDRESS);
        ck_result(driver->launch_host_func(stream, free, NULL), ILLEGAL_ADDRESS);
        ck_result(driver->mem_alloc(&pointer, 1), ILLEGAL_ADDRESS);
        ck_result(driver->mem_alloc_async(&pointer, 1, stream), ILLEGAL_ADDRESS);
        ck_result(driver->mem_alloc_host(&host, 1), ILLEGAL_ADDRESS);
        ck_result(driver->mem_get_info(&size, &total), ILLEGAL_ADDRESS);
        ck_result(driver->mem_free(memory), ILLEGAL_ADDRESS);
        ck_result(driver->mem_free_async(memory, stream), ILLEGAL_ADDRESS);
        ck_result(driver->mem_free_host(pinned), ILLEGAL_ADDRESS);
        ck_result(driver->stream_create(&made, 0), ILLEGAL_ADDRESS);
        ck_result(driver->event_create(&made_event, 0), ILLEGAL_ADDRESS);
        ck_result(driver->stream_get_priority(stream, &priority), ILLEGAL_ADDRESS);
        ck_result(driver->ctx_get_flags(&flags), ILLEGAL_ADDRESS);
        ck_result(driver->ctx_set_limit(CXU_LIMIT_STACK_SIZE, 1024), ILLEGAL_ADDRESS);
        ck_result(driver->ctx_enable_peer_access(second, 0), ILLEGAL_ADDRESS);
        ck_result(driver->stream_destroy(stream), ILLEGAL_ADDRESS);
        ck_result(driver->event_destroy(event), ILLEGAL_ADDRESS);
    }
    ck_assert(pointer == 77 && flags == 77 && size == 77 && total == 77);
    ck_assert(!host && !made && !made_event);
    stop();
}
END_TEST

/* What only looks at handles, moves them about, or ends things. */
START_TEST(naming_and_ending_things_works_on)
{
    CUcontext current, popped, primary;
    unsigned long long id;
    unsigned int version, flags;
    CUdevice device;
    CUcontext owner;
    const char *name;
    int active, value, count;
    char text[64];

    start(FAULTY);
    ck_success(driver->primary_retain(&primary, 0));
    spoil(CXU_ILLEGAL_ADDRESS);
    ck_success(driver->ctx_get_current(&current));
    ck_assert_ptr_eq(current, work_context);
    ck_success(driver->ctx_push(second));
    ck_success(driver->ctx_set_current(work_context));
    ck_success(driver->ctx_pop(&popped));
    ck_assert_ptr_eq(popped, work_context);
    ck_success(driver->ctx_get_device(&device));
    ck_assert_int_eq(device, 0);
    ck_success(driver->ctx_get_device_v2(&device, second));
    ck_success(driver->ctx_get_id(NULL, &id));
    ck_success(driver->ctx_get_id(second, &id));
    ck_success(driver->ctx_get_api_version(work_context, &version));
    ck_success(driver->pointer_get_attribute(&owner, CXU_POINTER_CONTEXT, memory));
    ck_assert_ptr_eq(owner, work_context);
    ck_success(driver->device_get_count(&count));
    ck_success(driver->device_get(&device, 1));
    ck_success(driver->device_get_name(text, sizeof text, 1));
    ck_success(driver->device_get_attribute(&value, CXU_ATTRIBUTE_WARP_SIZE, 0));
    ck_success(driver->driver_get_version(&value));
    ck_success(driver->get_error_name(CXU_ILLEGAL_ADDRESS, &name));
    ck_assert_str_eq(name, "CUDA_ERROR_ILLEGAL_ADDRESS");
    ck_success(driver->init(0));
    ck_success(driver->primary_get_state(0, &flags, &active));
    ck_assert_int_eq(active, 1);
    ck_success(driver->primary_set_flags(0, 0));
    ck_success(driver->primary_reset(0));
    ck_success(driver->primary_release(0));
    stop();
}
END_TEST

/* F5: launches succeed until somebody has had the chance to see the error. */
START_TEST(an_asynchronous_error_comes_after_the_call_that_caused_it)
{
    stream_gate gate = GATE_CLOSED;
    CUstream stream;

    start(FAULTY);
    ck_success(driver->stream_create(&stream, CXU_STREAM_NON_BLOCKING));
    gate_put(&gate, stream);
    ck_success(driver->memset_d8_async(memory, 1, BYTES, stream));
    ck_success(driver->memset_d8_async(memory, 1, BYTES, stream));
    ck_result(driver->stream_query(stream), NOT_READY);
    gate_open(&gate);
    ck_result(driver->stream_synchronize(stream), ILLEGAL_ADDRESS);
    stop();
}
END_TEST

static void count(void *runs)
{
    ++*(int *)runs;
}

typedef struct callback {
    cxu_result status;
    int runs;
    sem_t ran;
} callback;

static void note(CUstream stream, cxu_result status, void *argument)
{
    callback *noted = argument;

    (void)stream;
    noted->status = status;
    noted->runs++;
    sem_post(&noted->ran);
}

START_TEST(work_behind_the_fault_does_not_run_but_callbacks_do)
{
    stream_gate gate = GATE_CLOSED;
    unsigned char *out;
    void *pinned;
    callback before = {.runs = 0}, behind = {.runs = 0}, beside = {.runs = 0};
    int before_runs = 0, behind_runs = 0;
    CUstream stream, other;

    sem_init(&before.ran, 0, 0);
    sem_init(&behind.ran, 0, 0);
    sem_init(&beside.ran, 0, 0);
    start(FAULTY);
    ck_success(driver->mem_alloc_host(&pinned, BYTES));
    out = pinned;
    memset(out, 0x55, BYTES);
    ck_success(driver->memset_d32(memory, 0x11111111, BYTES / 4));
    ck_success(driver->stream_create(&stream, CXU_STREAM_NON_BLOCKING));
    ck_success(driver->stream_create(&other, CXU_STREAM_NON_BLOCKING));
    ck_success(driver->launch_host_func(stream, count, &before_runs));
    ck_success(driver->stream_add_callback(stream, note, &before, 0));
    gate_put(&gate, stream);
    ck_success(driver->memset_d8_async(memory, 1, BYTES, stream));
    ck_success(driver->memcpy_dtoh_async(out, memory, BYTES, stream));
    ck_success(driver->launch_host_func(stream, count, &behind_runs));
    ck_success(driver->stream_add_callback(stream, note, &behind, 0));
    gate_open(&gate);
    /* It may return at once, the context being useless already, before the last callback runs. */
    ck_result(driver->stream_synchronize(stream), ILLEGAL_ADDRESS);
    sem_wait(&behind.ran);
    ck_assert_int_eq(before_runs, 1);
    ck_assert_int_eq(before.status, CXU_SUCCESS);
    ck_assert_int_eq(out[0], 0x55);
    ck_assert_int_eq(behind_runs, 0);
    ck_assert_int_eq(behind.runs, 1);
    ck_assert_int_eq(behind.status, CXU_ILLEGAL_ADDRESS);
    /* Nor does it take more. */
    ck_result(driver->stream_add_callback(other, note, &beside, 0), ILLEGAL_ADDRESS);
    stop();
    ck_assert_int_eq(beside.runs, 0);
}
END_TEST

START_TEST(a_launch_of_a_graph_fails_in_its_first_piece_and_nothing_behind_runs)
{
    int runs = 0;
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;

    start("cuGraphLaunch@2:ILLEGAL_ADDRESS:async");
    ck_success(driver->stream_create(&stream, CXU_STREAM_NON_BLOCKING));
    ck_success(driver->stream_begin_capture(stream, CXU_STREAM_CAPTURE_MODE_RELAXED));
    ck_success(driver->launch_host_func(stream, count, &runs));
    ck_success(driver->launch_host_func(stream, count, &runs));
    ck_success(driver->stream_end_capture(stream, &graph));
    ck_success(driver->graph_instantiate_with_flags(&exec, graph, 0));
    ck_success(driver->graph_launch(exec, stream));
    ck_success(driver->stream_synchronize(stream));
    ck_assert_int_eq(runs, 2);
    ck_success(driver->graph_launch(exec, stream));
    ck_result(driver->stream_synchronize(stream), ILLEGAL_ADDRESS);
    ck_result(driver->graph_launch(exec, stream), ILLEGAL_ADDRESS);
    ck_success(driver->graph_exec_destroy(exec));
    ck_success(driver->graph_destroy(graph));
    stop(); /* waits for what there may be */
    ck_assert_int_eq(runs, 2);
}
END_TEST

/* Work that was queued in other streams of the context, in no order with the fault. */
START_TEST(a_launch_of_a_tiny_graph_fails_too)
{
    unsigned char byte = 0;
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;

    start("cuGraphLaunch@2:ILLEGAL_ADDRESS:async");
    ck_success(driver->stream_create(&stream, CXU_STREAM_NON_BLOCKING));
    ck_success(driver->stream_begin_capture(stream, CXU_STREAM_CAPTURE_MODE_RELAXED));
    ck_success(driver->memset_d8_async(memory, 7, BYTES, stream));
    ck_success(driver->stream_end_capture(stream, &graph));
    ck_success(driver->graph_instantiate_with_flags(&exec, graph, 0));
    ck_success(driver->graph_launch(exec, stream));
    ck_success(driver->stream_synchronize(stream));
    ck_success(driver->memcpy_dtoh(&byte, memory, 1));
    ck_assert_int_eq(byte, 7);
    ck_success(driver->graph_launch(exec, stream));
    ck_result(driver->stream_synchronize(stream), ILLEGAL_ADDRESS);
    ck_result(driver->graph_launch(exec, stream), ILLEGAL_ADDRESS);
    ck_success(driver->graph_exec_destroy(exec));
    ck_success(driver->graph_destroy(graph));
    stop();
}
END_TEST

START_TEST(queued_work_of_other_streams_does_not_run_either)
{
    stream_gate gate = GATE_CLOSED;
    int runs = 0;
    CUstream faulty, other;

    start(FAULTY);
    ck_success(driver->stream_create(&faulty, CXU_STREAM_NON_BLOCKING));
    ck_success(driver->stream_create(&other, CXU_STREAM_NON_BLOCKING));
    gate_put(&gate, other);
    ck_success(driver->launch_host_func(other, count, &runs));
    ck_success(driver->memset_d8_async(memory, 1, BYTES, faulty));
    ck_result(driver->stream_synchronize(faulty), ILLEGAL_ADDRESS);
    gate_open(&gate);
    stop(); /* waits for the gate */
    ck_assert_int_eq(runs, 0);
}
END_TEST

/* A wait in another context for an event behind the fault ends, and that context goes on. */
START_TEST(an_event_behind_the_fault_lets_other_contexts_go)
{
    stream_gate gate = GATE_CLOSED;
    int runs = 0;
    CUstream faulty, other;
    CUevent event;

    start(ASSERTS);
    ck_success(driver->stream_create(&faulty, 0));
    ck_success(driver->event_create(&event, 0));
    gate_put(&gate, faulty);
    ck_success(driver->memset_d8_async(memory, 1, BYTES, faulty));
    ck_success(driver->event_record(event, faulty));
    ck_success(driver->ctx_push(second));
    ck_success(driver->stream_create(&other, 0));
    ck_success(driver->stream_wait_event(other, event, 0));
    ck_success(driver->launch_host_func(other, count, &runs));
    gate_open(&gate);
    ck_success(driver->stream_synchronize(other));
    ck_assert_int_eq(runs, 1);
    ck_result(driver->stream_wait_event(other, event, 0), ASSERT);
    ck_result(driver->event_query(event), ASSERT);
    ck_success(driver->ctx_pop(NULL));
    stop();
}
END_TEST

static void *wait_for(void *stream)
{
    return (void *)(uintptr_t)driver->stream_synchronize(stream);
}

START_TEST(all_who_wait_get_the_error)
{
    stream_gate gate = GATE_CLOSED;
    pthread_t threads[4];
    CUstream stream;

    start(FAULTY);
    ck_success(driver->stream_create(&stream, CXU_STREAM_NON_BLOCKING));
    gate_put(&gate, stream);
    ck_success(driver->memset_d8_async(memory, 1, BYTES, stream));
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, wait_for, stream), 0);
    gate_wait_entered(&gate);
    gate_open(&gate);
    for (int i = 0; i < 4; i++) {
        void *result;

        pthread_join(threads[i], &result);
        ck_assert_uint_eq((uintptr_t)result, CXU_ILLEGAL_ADDRESS);
    }
    stop();
}
END_TEST

START_TEST(a_synchronous_copy_returns_its_own_fault)
{
    unsigned char out[BYTES];

    start("cuMemcpyDtoH@2:MISALIGNED_ADDRESS:async");
    ck_success(driver->memcpy_dtoh(out, memory, BYTES));
    memset(out, 0x55, BYTES);
    ck_result(driver->memcpy_dtoh(out, memory, BYTES), MISALIGNED_ADDRESS);
    ck_assert_int_eq(out[0], 0x55);
    ck_result(driver->memcpy_dtoh(out, memory, BYTES), MISALIGNED_ADDRESS);
    stop();
}
END_TEST

/* T13: a fill of pinned memory waits. */
START_TEST(a_synchronous_fill_returns_its_own_fault)
{
    void *pinned;

    start("cuMemsetD8@1:INVALID_PC:async");
    ck_success(driver->mem_alloc_host(&pinned, BYTES));
    memset(pinned, 0x55, BYTES);
    ck_result(driver->memset_d8((uintptr_t)pinned, 1, BYTES), INVALID_PC);
    ck_assert_int_eq(*(unsigned char *)pinned, 0x55);
    stop();
}
END_TEST

START_TEST(a_wait_for_an_event_behind_the_fault_returns_it)
{
    stream_gate gate = GATE_CLOSED;
    CUstream stream;
    CUevent event;

    start(FAULTY);
    ck_success(driver->stream_create(&stream, CXU_STREAM_NON_BLOCKING));
    ck_success(driver->event_create(&event, 0));
    gate_put(&gate, stream);
    ck_success(driver->memset_d8_async(memory, 1, BYTES, stream));
    ck_success(driver->event_record(event, stream));
    gate_open(&gate);
    ck_result(driver->event_synchronize(event), ILLEGAL_ADDRESS);
    stop();
}
END_TEST

START_TEST(the_first_error_stays)
{
    stream_gate gate = GATE_CLOSED;
    CUstream stream;

    start("cuMemsetD8Async@1:LAUNCH_TIMEOUT:async,cuMemsetD8Async@2:ILLEGAL_ADDRESS:async,"
          "cuStreamQuery@1:ILLEGAL_ADDRESS");
    ck_success(driver->stream_create(&stream, CXU_STREAM_NON_BLOCKING));
    gate_put(&gate, stream);
    ck_success(driver->memset_d8_async(memory, 1, BYTES, stream));
    ck_success(driver->memset_d8_async(memory, 1, BYTES, stream));
    gate_open(&gate);
    ck_result(driver->ctx_synchronize(), LAUNCH_TIMEOUT);
    ck_result(driver->stream_query(stream), ILLEGAL_ADDRESS);
    ck_result(driver->ctx_synchronize(), LAUNCH_TIMEOUT);
    stop();
}
END_TEST

START_TEST(a_call_that_reports_such_an_error_leaves_the_context_useless_too)
{
    start("cuStreamQuery@1");
    ck_result(driver->stream_query(NULL), LAUNCH_FAILED);
    ck_result(driver->ctx_synchronize(), LAUNCH_FAILED);
    stop();
}
END_TEST

/* F1 is about GPUs; the host device is no part of that. */
START_TEST(the_host_device_goes_on_when_gpus_fail_and_fails_alone)
{
    const cx_emu_config config = {.host_device = true,
                                  .gpus = 1,
                                  .gpu_memory_bytes = (size_t)256 << 20,
                                  .driver_version = CX_EMU_DRIVER_VERSION};
    CUcontext host, gpu;
    CUdeviceptr pointer;

    ck_assert_int_eq(setenv("CTXRT_EMU_FAULT",
                            _i ? "cuMemsetD8Async@1:ILLEGAL_ADDRESS:async"
                               : "cuMemsetD8Async@2:ILLEGAL_ADDRESS:async",
                            1),
                     0);
    driver = cx_emu_driver();
    ck_assert(cx_emu_configure(&config));
    ck_success(driver->init(0));
    ck_success(driver->ctx_create_v4(&host, NULL, 0, 0));
    ck_success(driver->mem_alloc(&pointer, BYTES));
    ck_success(driver->memset_d8_async(pointer, 1, BYTES, NULL));
    ck_assert_int_eq(driver->ctx_synchronize(), _i ? CXU_ILLEGAL_ADDRESS : CXU_SUCCESS);
    ck_success(driver->ctx_create_v4(&gpu, NULL, 0, 1));
    ck_success(driver->mem_alloc(&pointer, BYTES));
    ck_success(driver->memset_d8_async(pointer, 1, BYTES, NULL));
    ck_assert_int_eq(driver->ctx_synchronize(), _i ? CXU_SUCCESS : CXU_ILLEGAL_ADDRESS);
    ck_assert_int_eq(driver->ctx_synchronize_v2(host), _i ? CXU_ILLEGAL_ADDRESS : CXU_SUCCESS);
    ck_success(driver->ctx_destroy(gpu));
    ck_success(driver->ctx_destroy(host));
}
END_TEST

static Suite *sticky_suite(void)
{
    Suite *suite = suite_create("sticky");
    TCase *tcase = tcase_create("sticky");

    tcase_add_loop_test(tcase, twelve_errors_leave_every_context_useless, 0,
                        (int)(sizeof of_the_process / sizeof of_the_process[0]));
    tcase_add_test(tcase, nothing_brings_the_process_back);
    tcase_add_test(tcase, an_assert_leaves_one_context_useless_until_it_is_destroyed);
    tcase_add_test(tcase, a_primary_context_recovers_from_an_assert_when_it_is_reset);
    tcase_add_test(tcase, the_twelve_can_be_limited_to_their_context);
    tcase_add_loop_test(tcase, uncorrectable_memory_reaches_as_far_as_asked, 0, 8);
    tcase_add_loop_test(tcase, a_malformed_choice_keeps_the_driver_from_starting, 0, 5);
    tcase_add_test(tcase, errors_of_arguments_and_of_memory_do_not_stick);
    tcase_add_test(tcase, every_call_that_uses_the_context_returns_the_error);
    tcase_add_test(tcase, naming_and_ending_things_works_on);
    tcase_add_test(tcase, an_asynchronous_error_comes_after_the_call_that_caused_it);
    tcase_add_test(tcase, work_behind_the_fault_does_not_run_but_callbacks_do);
    tcase_add_test(tcase, a_launch_of_a_graph_fails_in_its_first_piece_and_nothing_behind_runs);
    tcase_add_test(tcase, a_launch_of_a_tiny_graph_fails_too);
    tcase_add_test(tcase, an_event_behind_the_fault_lets_other_contexts_go);
    tcase_add_test(tcase, all_who_wait_get_the_error);
    tcase_add_test(tcase, a_synchronous_copy_returns_its_own_fault);
    tcase_add_test(tcase, a_synchronous_fill_returns_its_own_fault);
    tcase_add_test(tcase, a_wait_for_an_event_behind_the_fault_returns_it);
    tcase_add_test(tcase, the_first_error_stays);
    tcase_add_test(tcase, a_call_that_reports_such_an_error_leaves_the_context_useless_too);
    tcase_add_loop_test(tcase, the_host_device_goes_on_when_gpus_fail_and_fails_alone, 0, 2);
    suite_add_tcase(suite, tcase);

    /* A host function that blocks while another stream goes on: see tests/emu/check_order.c. */
    tcase = tcase_create("independent");
    tcase_set_tags(tcase, "independent");
    tcase_add_test(tcase, queued_work_of_other_streams_does_not_run_either);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(sticky_suite);
