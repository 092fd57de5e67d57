/* Contexts that end while their work never does: under each schedule that ends the work (C3). */
#include "emu/base/state.h"
#include "emu/base/teardown_deadline.h"
#include "emu/context/context.h"
#include "emu/schedule/work.h"
#include "kernels.h"
#include "work_fixture.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const schedules[] = {"threads", "lazy", "random:1"};
enum { SCHEDULES = sizeof schedules / sizeof schedules[0] };

/* started(flags): tells that it runs by the first word, and spins until the second one is not 0;
 * then it writes the third one. */
static const char code[] = PTX_HEAD PTX_SPIN PTX_ADD_ONE
    ".visible .entry started(.param .u64 flags)\n"
    "{\n"
    ".reg .pred %p;\n"
    ".reg .b32 %r;\n"
    ".reg .b64 %rd;\n"
    "ld.param.u64 %rd, [flags];\n"
    "st.volatile.global.u32 [%rd], 1;\n"
    ".file 1 \"/src/endless.cu\"\n"
    ".loc 1 12 3\n"
    "AGAIN:\n"
    "ld.volatile.global.u32 %r, [%rd+4];\n"
    "setp.eq.u32 %p, %r, 0;\n"
    "@%p bra AGAIN;\n"
    "st.volatile.global.u32 [%rd+8], 1;\n"
    "ret;\n"
    "}\n";

static CUfunction find(const char *name)
{
    CUmodule module;
    CUfunction function;

    ck_success(cx_emu_call_module_load_data(&module, code));
    ck_success(cx_emu_call_module_get_function(&function, module, name));
    return function;
}

static void launch(const char *name, CUdeviceptr at, uint32_t count, CUstream stream)
{
    void *parameters[] = {&at, &count};

    ck_success(cx_emu_call_launch_kernel(find(name), 8, 1, 1, 64, 1, 1, 0, stream, parameters,
                                         NULL));
}

/* Memory of the host's own, which outlives every context. */
static volatile uint32_t *make_flags(void)
{
    void *flags = aligned_alloc(4096, 4096);

    ck_assert_ptr_nonnull(flags);
    memset(flags, 0, 4096);
    ck_success(cx_emu_call_mem_host_register(flags, 4096, CXU_MEMHOSTREGISTER_PORTABLE));
    return flags;
}

static CUdeviceptr address_of(volatile uint32_t *flags)
{
    return (CUdeviceptr)(uintptr_t)flags;
}

/* Launches a kernel without an end, and returns when it runs. */
static volatile uint32_t *start_endless(CUstream stream)
{
    volatile uint32_t *flags = make_flags();

    launch("started", address_of(flags), 0, stream);
    while (__atomic_load_n(&flags[0], __ATOMIC_ACQUIRE) == 0) {
        ck_result(cx_emu_call_stream_query(stream), NOT_READY);
        sched_yield();
    }
    return flags;
}

static void begin(const char *schedule)
{
    setenv("CTXRT_EMU_SCHEDULE", schedule, 1);
    work_setup();
}

/* With less patience, so that kernels without an end cost the tests less. */
static void begin_impatient(const char *schedule)
{
    cx_emu_teardown_deadline_ns = 50 * 1000 * 1000;
    begin(schedule);
}

/* A host function that need not run. */
static void note_run(void *ran)
{
    *(bool *)ran = true;
}

static void write_result(CUstream stream, cxu_result result, void *argument)
{
    (void)stream;
    *(cxu_result *)argument = result;
}

/* A context does work, also after the end of another one. */
static void ck_works(void)
{
    CUdeviceptr memory = make_memory(sizeof(uint32_t));
    uint32_t word;

    ck_success(cx_emu_call_memset_d32(memory, 8, 1));
    launch("add_one", memory, 1, NULL);
    ck_success(cx_emu_call_memcpy_dtoh(&word, memory, sizeof word));
    ck_assert_uint_eq(word, 9);
}

static void *wait_for_stream(void *stream)
{
    ck_success(cx_emu_call_ctx_set_current(work_context));
    (void)cx_emu_call_stream_synchronize(stream);
    return NULL;
}

/* Starts a thread, and returns once it waits. */
static pthread_t start_waiting(CUstream stream)
{
    pthread_t thread;
    bool waits = false;

    ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_stream, stream), 0);
    while (!waits) {
        sched_yield();
        cx_lock_enter(&cx_emu_lock);
        waits = cx_emu_work_waits() > 0;
        cx_lock_leave(&cx_emu_lock);
    }
    return thread;
}

/* Opens the gate once the deadline of the context that ends is over. */
typedef struct opening {
    stream_gate *gate;
    cx_emu_context *ends;
} opening;

static void *open_late(void *argument)
{
    opening *self = argument;
    cx_emu_context *ends = self->ends;

    while (!cx_emu_teardown_deadline_is_over(&ends->teardown_deadline))
        sched_yield();
    cx_lock_enter(&cx_emu_lock); /* the thread that waits has looked once more */
    cx_lock_leave(&cx_emu_lock);
    gate_open(self->gate);
    return NULL;
}

static pthread_t start_opening(stream_gate *gate, CUcontext ends)
{
    static opening self;
    pthread_t thread;

    self.gate = gate;
    cx_lock_enter(&cx_emu_lock);
    ck_success(cx_emu_context_find(ends, &self.ends));
    cx_lock_leave(&cx_emu_lock);
    ck_assert_int_eq(pthread_create(&thread, NULL, open_late, &self), 0);
    return thread;
}

START_TEST(destroying_ends_kernels_and_what_is_behind_them)
{
    bool ran = false;
    volatile uint32_t *flags;
    uint32_t word = 7;
    cxu_result told = CXU_SUCCESS;
    CUcontext other;

    begin_impatient(schedules[_i]);
    CUstream first = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream second = make_stream(CXU_STREAM_NON_BLOCKING);
    CUdeviceptr memory = make_memory(sizeof word);
    ck_success(cx_emu_call_memcpy_htod(memory, &word, sizeof word));
    ck_success(cx_emu_call_ctx_synchronize());
    flags = start_endless(first);
    launch("spin", address_of(flags) + 4, 0, first);
    launch("spin", address_of(flags) + 4, 0, second);
    ck_success(cx_emu_call_launch_host_func(first, note_run, &ran));
    ck_success(cx_emu_call_stream_add_callback(first, write_result, &told, 0));
    ck_success(cx_emu_call_memcpy_dtoh_async((void *)&flags[3], memory, sizeof word, first));
    pthread_t waiting = start_waiting(second);
    ck_success(cx_emu_call_ctx_destroy(work_context));
    ck_assert_int_eq(pthread_join(waiting, NULL), 0);
    ck_assert(!ran);
    ck_result(told, CONTEXT_IS_DESTROYED);
    ck_assert_uint_eq(flags[2], 0);
    ck_assert_uint_eq(flags[3], 0);
    free((void *)flags);
    ck_success(cx_emu_call_ctx_create_v4(&other, NULL, 0, 0));
    ck_works();
    ck_success(cx_emu_call_ctx_destroy(other));
}
END_TEST

static void wait_for_an_event(CUcontext other, CUstream stream, CUstream busy)
{
    CUevent event = make_event();

    ck_success(cx_emu_call_event_record(event, busy));
    ck_success(cx_emu_call_ctx_set_current(other));
    ck_success(cx_emu_call_stream_wait_event(stream, event, 0));
}

static void copy_between(CUcontext other, CUstream stream, CUstream busy)
{
    CUdeviceptr from = make_memory(64);

    (void)stream, (void)busy;
    ck_success(cx_emu_call_ctx_set_current(other));
    ck_success(cx_emu_call_memcpy_peer(make_memory(64), other, from, work_context, 64));
}

static void wait_with_all(CUcontext other, CUstream stream, CUstream busy)
{
    CUevent event = make_event();

    (void)stream;
    ck_success(cx_emu_call_event_record(event, busy));
    ck_success(cx_emu_call_ctx_wait_event(other, event));
    ck_success(cx_emu_call_ctx_set_current(other));
}

static void (*const ways[])(CUcontext other, CUstream stream, CUstream busy) = {
    wait_for_an_event, copy_between, wait_with_all};
enum { WAYS = sizeof ways / sizeof ways[0] };

/* Under the other schedules nothing runs beside the kernel. */
START_TEST(a_context_ends_whose_work_waits_for_an_endless_kernel_of_another)
{
    CUcontext other;
    CUevent behind;
    bool ran = false;

    begin_impatient("threads");
    CUstream busy = make_stream(CXU_STREAM_NON_BLOCKING);
    volatile uint32_t *flags = start_endless(busy);
    ck_success(cx_emu_call_ctx_create_v4(&other, NULL, 0, 1));
    CUstream stream = make_stream(CXU_STREAM_DEFAULT);
    ck_success(cx_emu_call_ctx_set_current(work_context));
    ways[_i](other, stream, busy);
    behind = make_event();
    ck_success(cx_emu_call_launch_host_func(stream, note_run, &ran));
    ck_success(cx_emu_call_event_record(behind, stream));
    ck_result(cx_emu_call_event_query(behind), NOT_READY);
    ck_success(cx_emu_call_ctx_set_current(work_context));
    ck_success(cx_emu_call_stream_wait_event(NULL, behind, 0));
    ck_success(cx_emu_call_ctx_destroy(other));
    ck_assert(!ran);
    ck_result(cx_emu_call_stream_query(busy), NOT_READY);
    __atomic_store_n(&flags[1], 1, __ATOMIC_RELEASE);
    ck_success(cx_emu_call_ctx_synchronize());
    ck_assert_uint_eq(flags[2], 1);
    ck_works();
}
END_TEST

/* It is not the kernel of another context that this one's work waits for. */
START_TEST(work_that_waits_for_no_kernel_runs_before_its_context_ends)
{
    stream_gate gate = GATE_CLOSED;
    CUcontext other;
    CUevent event;
    bool ran = false;

    begin_impatient("threads");
    CUstream busy = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream held = make_stream(CXU_STREAM_NON_BLOCKING);
    volatile uint32_t *flags = start_endless(busy);
    gate_put(&gate, held);
    gate_wait_entered(&gate);
    event = make_event();
    ck_success(cx_emu_call_event_record(event, held));
    ck_success(cx_emu_call_ctx_create_v4(&other, NULL, 0, 1));
    CUstream stream = make_stream(CXU_STREAM_DEFAULT);
    ck_success(cx_emu_call_stream_wait_event(stream, event, 0));
    ck_success(cx_emu_call_launch_host_func(stream, note_run, &ran));
    pthread_t opens = start_opening(&gate, other);
    ck_success(cx_emu_call_ctx_destroy(other));
    ck_assert_int_eq(pthread_join(opens, NULL), 0);
    ck_assert(ran);
    ck_success(cx_emu_call_ctx_set_current(work_context));
    __atomic_store_n(&flags[1], 1, __ATOMIC_RELEASE);
    ck_success(cx_emu_call_ctx_synchronize());
}
END_TEST

static void end_primary(const char *schedule, cxu_result (*end)(CUdevice device))
{
    CUcontext primary;

    begin_impatient(schedule);
    ck_success(cx_emu_call_primary_retain(&primary, 1));
    ck_success(cx_emu_call_ctx_push(primary));
    start_endless(NULL);
    launch("spin", make_memory(4), 0, NULL);
    ck_success(end(1));
    ck_success(cx_emu_call_primary_retain(&primary, 1));
    ck_works();
}

START_TEST(a_reset_ends_a_kernel)
{
    end_primary(schedules[_i], cx_emu_call_primary_reset);
}
END_TEST

START_TEST(the_last_release_ends_a_kernel)
{
    end_primary("threads", cx_emu_call_primary_release);
}
END_TEST

START_TEST(a_loop_of_a_graph_ends)
{
    cxu_graph_node_params params = {.type = CXU_GRAPH_NODE_TYPE_CONDITIONAL};
    bool ran = false;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node;
    uint64_t handle;

    begin_impatient(schedules[_i]);
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    ck_success(cx_emu_call_graph_create(&graph, 0));
    ck_success(cx_emu_call_graph_conditional_handle_create(&handle, graph, work_context, 1,
                                                           CXU_GRAPH_COND_ASSIGN_DEFAULT));
    params.of.condition = (cxu_conditional_node_params){.handle = handle,
                                                        .type = CXU_GRAPH_COND_TYPE_WHILE,
                                                        .size = 1,
                                                        .context = work_context};
    ck_success(cx_emu_call_graph_add_node(&node, graph, NULL, NULL, 0, &params));
    ck_success(cx_emu_call_graph_instantiate_with_flags(&exec, graph, 0));
    ck_success(cx_emu_call_graph_launch(exec, stream));
    ck_success(cx_emu_call_launch_host_func(stream, note_run, &ran));
    ck_success(cx_emu_call_ctx_destroy(work_context));
    ck_assert(!ran);
    ck_success(cx_emu_call_graph_exec_destroy(exec));
    ck_success(cx_emu_call_graph_destroy(graph));
}
END_TEST

/* Work that ends by itself is waited for. */
START_TEST(work_that_ends_is_finished)
{
    volatile uint32_t *words;
    stream_journal journal = JOURNAL_EMPTY;

    begin(schedules[_i]);
    words = make_flags();
    for (int i = 0; i < 50; i++)
        launch("add_one", address_of(words), 500, NULL);
    journal_put(&journal, NULL, 'a');
    ck_success(cx_emu_call_ctx_destroy(work_context));
    for (int i = 0; i < 500; i++)
        ck_assert_uint_eq(words[i], 50);
    ck_journal(&journal, "a");
    free((void *)words);
}
END_TEST

/* ---- the end of the process ---- */

static pthread_t waiting_at_exit;

/* Registered before the driver starts: the driver's own handlers have run. */
static void join_at_exit(void)
{
    pthread_join(waiting_at_exit, NULL);
}

START_TEST(the_end_of_the_process_ends_a_kernel)
{
    int status;
    pid_t child = fork();

    ck_assert_int_ge(child, 0);
    if (child == 0) {
        ck_assert_int_eq(atexit(join_at_exit), 0);
        begin_impatient(schedules[_i]);
        volatile uint32_t *flags = start_endless(NULL);
        launch("spin", address_of(flags) + 4, 0, NULL);
        waiting_at_exit = start_waiting(NULL);
        exit(17);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 17);
}
END_TEST

static Suite *endless_suite(void)
{
    Suite *suite = suite_create("endless");
    TCase *all = tcase_create("all");

    tcase_set_timeout(all, 120);
    tcase_add_loop_test(all, destroying_ends_kernels_and_what_is_behind_them, 0, SCHEDULES);
    tcase_add_loop_test(all, a_context_ends_whose_work_waits_for_an_endless_kernel_of_another, 0,
                        WAYS);
    tcase_add_test(all, work_that_waits_for_no_kernel_runs_before_its_context_ends);
    tcase_add_loop_test(all, a_reset_ends_a_kernel, 0, SCHEDULES);
    tcase_add_test(all, the_last_release_ends_a_kernel);
    tcase_add_loop_test(all, a_loop_of_a_graph_ends, 0, SCHEDULES);
    tcase_add_loop_test(all, work_that_ends_is_finished, 0, SCHEDULES);
    tcase_add_loop_test(all, the_end_of_the_process_ends_a_kernel, 0, SCHEDULES);
    suite_add_tcase(suite, all);
    return suite;
}

CX_TESTS(endless_suite);
