/* Contexts that end while streams of another one have work in them, or in memory that they own. */
#include "graph_fixture.h"
#include "kernels.h"

#include "emu/memory/allocation.h"
#include "emu/context/context.h"
#include "emu/base/state.h"
#include "emu/schedule/work.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE ((size_t)4096)

static const char *const schedules[] = {"threads", "lazy", "random:1"};
#define SCHEDULES ((int)(sizeof schedules / sizeof schedules[0]))

static CUcontext ending; /* on the GPU of the context of the fixture, which has the stream */
static CUstream stream;
static CUdeviceptr memory;
static CUfunction spin, store; /* of the fixture's context, then of the ending one */

static void load_code(void)
{
    CUmodule code;

    ck_success(cx_emu_call_module_load_data(&code, PTX_HEAD PTX_SPIN PTX_STORE));
    ck_success(cx_emu_call_module_get_function(&spin, code, "spin"));
    ck_success(cx_emu_call_module_get_function(&store, code, "store"));
}

/* Code and graphs of the ending context, or of the fixture's. */
static void setup(const char *schedule, bool ending_has_code)
{
    ck_assert_int_eq(setenv("CTXRT_EMU_SCHEDULE", schedule, 1), 0);
    ck_assert_int_eq(setenv("CTXRT_EMU_STICKY", "context", 1), 0);
    graph_setup();
    stream = make_stream(CXU_STREAM_NON_BLOCKING);
    memory = make_memory(PAGE);
    ck_success(cx_emu_call_memset_d8_async(memory, 0, PAGE, stream));
    ck_success(cx_emu_call_stream_synchronize(stream));
    if (!ending_has_code)
        load_code();
    ck_success(cx_emu_call_ctx_create_v2(&ending, 0, 0));
    if (ending_has_code)
        load_code();
    ck_success(cx_emu_call_ctx_pop(NULL));
}

static CUgraphExec graph_of_kernel(CUfunction function, CUdeviceptr address)
{
    uint64_t offset = 0;
    void *parameters[] = {&address, &offset};
    const cxu_kernel_node_params params = {.function = function,
                                           .grid_x = 1,
                                           .grid_y = 1,
                                           .grid_z = 1,
                                           .block_x = 1,
                                           .block_y = 1,
                                           .block_z = 1,
                                           .parameters = parameters};
    CUgraph graph = make_graph();
    CUgraphNode node;
    CUgraphExec exec;

    ck_success(cx_emu_call_graph_add_kernel_node(&node, graph, NULL, 0, &params));
    exec = make_exec(graph);
    drop(graph);
    return exec;
}

static bool runs_in(CUcontext context)
{
    cx_lock_enter(&cx_emu_lock);
    bool runs = ((cx_emu_context *)(void *)context)->running > 0;
    cx_lock_leave(&cx_emu_lock);
    return runs;
}

/* Under some schedules work runs only when somebody looks. */
static void wait_until_it_runs(CUcontext context)
{
    while (!runs_in(context)) {
        ck_result(cx_emu_call_stream_query(stream), NOT_READY);
        sched_yield();
    }
}

typedef struct end_of_context {
    pthread_t thread;
    _Atomic bool over;
} end_of_context;

static void *destroy(void *argument)
{
    end_of_context *self = argument;

    ck_success(cx_emu_call_ctx_destroy(ending));
    atomic_store(&self->over, true);
    return NULL;
}

static bool somebody_waits(void)
{
    cx_lock_enter(&cx_emu_lock);
    bool waits = cx_emu_work_waits() > 0;
    cx_lock_leave(&cx_emu_lock);
    return waits;
}

/* Destroys the context on another thread, which is seen to wait for its work. */
static void begin_destroy(end_of_context *self)
{
    *self = (end_of_context){.over = false};
    ck_assert_int_eq(pthread_create(&self->thread, NULL, destroy, self), 0);
    while (!somebody_waits()) {
        ck_assert_msg(!atomic_load(&self->over), "the context ended, and work ran in it");
        sched_yield();
    }
}

static void end_destroy(end_of_context *self)
{
    ck_assert_int_eq(pthread_join(self->thread, NULL), 0);
}

START_TEST(a_context_ends_once_nothing_runs_in_memory_that_it_registered)
{
    end_of_context end;
    CUdeviceptr flag;
    uint32_t *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *parameters[] = {&flag};

    setup(schedules[_i], false);
    ck_assert_ptr_ne(page, MAP_FAILED);
    flag = (uintptr_t)page;
    ck_success(cx_emu_call_ctx_push(ending));
    ck_success(cx_emu_call_mem_host_register(page, PAGE, 0));
    ck_success(cx_emu_call_ctx_pop(NULL));
    ck_success(cx_emu_call_launch_kernel(spin, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
    wait_until_it_runs(work_context);
    for (bool reached = false; !reached; sched_yield()) {
        cx_lock_enter(&cx_emu_lock);
        reached = cx_emu_allocation_find(flag, PAGE)->reached > 0;
        cx_lock_leave(&cx_emu_lock);
    }
    begin_destroy(&end);
    __atomic_store_n(page, 1, __ATOMIC_SEQ_CST);
    end_destroy(&end);
    ck_assert_int_eq(munmap(page, PAGE), 0);
    ck_success(cx_emu_call_stream_synchronize(stream));
    graph_teardown();
}
END_TEST

static void *unregister(void *page)
{
    ck_success(cx_emu_call_mem_host_unregister(page));
    return NULL;
}

START_TEST(a_context_ends_while_a_thread_unregisters_its_memory)
{
    stream_gate gate = GATE_CLOSED;
    pthread_t thread;
    void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    setup(schedules[_i], false);
    ck_assert_ptr_ne(page, MAP_FAILED);
    ck_success(cx_emu_call_ctx_push(ending));
    ck_success(cx_emu_call_mem_host_register(page, PAGE, 0));
    ck_success(cx_emu_call_ctx_pop(NULL));
    gate_put(&gate, stream);
    ck_success(cx_emu_call_memcpy_htod_async(memory, page, PAGE, stream));
    ck_assert_int_eq(pthread_create(&thread, NULL, unregister, page), 0);
    while (!somebody_waits())
        sched_yield();
    ck_success(cx_emu_call_ctx_destroy(ending));
    gate_open(&gate);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(munmap(page, PAGE), 0);
    ck_result(cx_emu_call_stream_synchronize(stream), ILLEGAL_ADDRESS);
    graph_teardown();
}
END_TEST

START_TEST(a_context_ends_once_its_kernels_in_streams_of_others_have)
{
    end_of_context end;
    CUgraphExec exec;
    void *flag;

    setup(schedules[_i], true);
    ck_success(cx_emu_call_mem_alloc_host(&flag, PAGE));
    *(uint32_t *)flag = 0;
    exec = graph_of_kernel(spin, (uintptr_t)flag);
    ck_success(cx_emu_call_graph_launch(exec, stream));
    wait_until_it_runs(ending);
    begin_destroy(&end);
    __atomic_store_n((uint32_t *)flag, 1, __ATOMIC_SEQ_CST);
    end_destroy(&end);
    ck_success(cx_emu_call_stream_synchronize(stream));
    drop_exec(exec);
    graph_teardown();
}
END_TEST

START_TEST(a_queued_kernel_of_a_context_that_ended_does_not_run)
{
    stream_gate gate = GATE_CLOSED;
    unsigned char byte;
    CUgraphExec exec;

    setup(schedules[_i], true);
    exec = graph_of_kernel(store, memory);
    gate_put(&gate, stream);
    ck_success(cx_emu_call_graph_launch(exec, stream));
    ck_success(cx_emu_call_ctx_destroy(ending));
    gate_open(&gate);
    ck_result(cx_emu_call_stream_synchronize(stream), ILLEGAL_ADDRESS);
    ck_assert(cx_emu_debug_read(memory, 1, &byte));
    ck_assert_uint_eq(byte, 0);
    drop_exec(exec);
    graph_teardown();
}
END_TEST

START_TEST(the_end_of_its_context_ends_a_wait_in_a_stream_of_another)
{
    cxu_stream_mem_op wait = {.type = CXU_STREAM_MEM_OP_WAIT_VALUE_32,
                              .address = memory,
                              .value.narrow = 1,
                              .flags = CXU_STREAM_WAIT_VALUE_EQ};
    cxu_batch_mem_op_node_params params = {.count = 1, .operations = &wait};
    CUgraphNode node;
    CUgraphExec exec;
    CUgraph graph;

    setup(schedules[_i], true);
    wait.address = memory;
    params.context = ending;
    graph = make_graph();
    ck_success(cx_emu_call_graph_add_batch_mem_op_node(&node, graph, NULL, 0, &params));
    exec = make_exec(graph);
    drop(graph);
    ck_success(cx_emu_call_graph_launch(exec, stream));
    for (int looks = 0; looks < 3; looks++)
        ck_result(cx_emu_call_stream_query(stream), NOT_READY);
    ck_success(cx_emu_call_ctx_destroy(ending));
    (void)cx_emu_call_stream_synchronize(stream);
    drop_exec(exec);
    graph_teardown();
}
END_TEST

START_TEST(values_that_a_context_was_to_write_are_written_before_it_ends)
{
    stream_gate gate = GATE_CLOSED;
    end_of_context end;
    CUstream own;
    void *flag;

    setup(schedules[_i], false);
    ck_success(cx_emu_call_mem_alloc_host(&flag, PAGE));
    *(uint32_t *)flag = 0;
    ck_success(cx_emu_call_ctx_push(ending));
    own = make_stream(CXU_STREAM_NON_BLOCKING);
    gate_put(&gate, own);
    ck_success(cx_emu_call_stream_write_value_32(own, (uintptr_t)flag, 3, 0));
    ck_success(cx_emu_call_ctx_pop(NULL));
    begin_destroy(&end);
    gate_open(&gate);
    end_destroy(&end);
    ck_assert_uint_eq(*(uint32_t *)flag, 3);
    graph_teardown();
}
END_TEST

START_TEST(a_graph_loses_memory_of_a_peer_with_the_access)
{
    CUdeviceptr address;
    CUgraphExec exec;
    CUgraph graph;

    setup(schedules[_i], false);
    ck_success(cx_emu_call_ctx_destroy(ending));
    ck_success(cx_emu_call_ctx_create_v2(&ending, 0, 1));
    address = make_memory(FILL_BYTES);
    ck_success(cx_emu_call_ctx_pop(NULL));
    ck_success(cx_emu_call_ctx_enable_peer_access(ending, 0));
    graph = make_graph();
    add_byte_fill(graph, address, 1);
    exec = make_exec(graph);
    for (int i = 0; i < 2; i++)
        launch_and_wait(exec, stream);
    ck_success(cx_emu_call_ctx_disable_peer_access(ending));
    ck_result(cx_emu_call_graph_launch(exec, stream), INVALID_VALUE);
    drop_exec(exec);
    drop(graph);
    ck_success(cx_emu_call_ctx_destroy(ending));
    graph_teardown();
}
END_TEST

static Suite *ended_context_suite(void)
{
    Suite *suite = suite_create("ended context");
    TCase *tests = tcase_create("ended context");

    tcase_add_loop_test(tests, a_context_ends_once_nothing_runs_in_memory_that_it_registered, 0,
                        SCHEDULES);
    tcase_add_loop_test(tests, a_context_ends_while_a_thread_unregisters_its_memory, 0, SCHEDULES);
    tcase_add_loop_test(tests, a_context_ends_once_its_kernels_in_streams_of_others_have, 0,
                        SCHEDULES);
    tcase_add_loop_test(tests, a_queued_kernel_of_a_context_that_ended_does_not_run, 0, SCHEDULES);
    tcase_add_loop_test(tests, the_end_of_its_context_ends_a_wait_in_a_stream_of_another, 0,
                        SCHEDULES);
    tcase_add_loop_test(tests, values_that_a_context_was_to_write_are_written_before_it_ends, 0,
                        SCHEDULES);
    tcase_add_loop_test(tests, a_graph_loses_memory_of_a_peer_with_the_access, 0, SCHEDULES);
    suite_add_tcase(suite, tests);
    return suite;
}

CX_TESTS(ended_context_suite);
