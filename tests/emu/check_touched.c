/* What a launch tells of the memory that it touches (driver/access_log.h). */
#include "driver/access_log.h"
#include "work_fixture.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define WORDS 1000
#define BYTES (WORDS * sizeof(uint32_t))

/* Each thread: put(at, value) stores a word, count(at) adds 1 to the first word atomically,
 * copy(at, from) copies a word, look(at) looks for what others store in two words and stores the
 * second one, fail() traps. */
static const char text[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".visible .entry put(.param .u64 at, .param .u32 value) {\n"
    ".reg .u64 %p<3>; .reg .u32 %r<5>;\n"
    "ld.param.u64 %p0, [at]; ld.param.u32 %r0, [value];\n"
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
    "mad.lo.u32 %r1, %r1, %r2, %r3; mul.wide.u32 %p1, %r1, 4; add.u64 %p0, %p0, %p1;\n"
    "st.global.u32 [%p0], %r0; ret; }\n"
    ".visible .entry count(.param .u64 at, .param .u32 unused) {\n"
    ".reg .u64 %p<3>;\n"
    "ld.param.u64 %p0, [at]; red.global.add.u32 [%p0], 1; ret; }\n"
    ".visible .entry copy(.param .u64 at, .param .u64 from) {\n"
    ".reg .u64 %p<4>; .reg .u32 %r<5>;\n"
    "ld.param.u64 %p0, [at]; ld.param.u64 %p1, [from]; mov.u32 %r3, %tid.x;\n"
    "mul.wide.u32 %p2, %r3, 4; add.u64 %p0, %p0, %p2; add.u64 %p1, %p1, %p2;\n"
    "ld.u32 %r0, [%p1]; st.u32 [%p0], %r0; ret; }\n"
    ".visible .entry look(.param .u64 at, .param .u64 unused) {\n"
    ".reg .u64 %p<1>; .reg .u32 %r<2>;\n"
    "ld.param.u64 %p0, [at]; ld.volatile.global.u32 %r0, [%p0];\n"
    "ld.acquire.gpu.global.u32 %r1, [%p0+8]; st.global.u32 [%p0+8], %r1; ret; }\n"
    ".visible .entry fail(.param .u64 at, .param .u64 from) { trap; }\n";

/* ---- who watches ---- */

enum { TICKET = 17, TOLD_MOST = 16 };

static cx_access told[TOLD_MOST];
static size_t told_count, told_parts; /* the latter: the sum of their numbers */
static atomic_int promises, answers;

static void note_promise(uint64_t ticket, size_t part)
{
    (void)part;
    ck_assert_uint_eq(ticket, TICKET);
    atomic_fetch_add(&promises, 1);
}

/* Called by one piece of work after the other: the tests launch into one stream. */
static void note_touches(uint64_t ticket, size_t part, const cx_access *all, size_t count)
{
    ck_assert_uint_eq(ticket, TICKET);
    told_parts += part;
    for (size_t i = 0; i < count && told_count < TOLD_MOST; i++)
        told[told_count++] = all[i];
    atomic_fetch_add(&answers, 1);
}

enum { NODES_MOST = 4 };

static cx_access_log_node nodes[NODES_MOST];
static char kernel_names[NODES_MOST][16];
static size_t node_count, befores[NODES_MOST];

static void note_launch(uint64_t ticket, const cx_access_log_graph *graph)
{
    ck_assert_uint_eq(ticket, TICKET);
    ck_assert_int_eq(atomic_load(&promises), 0);
    node_count = graph->count;
    for (size_t i = 0; i < graph->count && i < NODES_MOST; i++) {
        graph->describe(graph, i, &nodes[i]);
        befores[i] = nodes[i].after_count > 0 ? nodes[i].after[0] : SIZE_MAX;
        snprintf(kernel_names[i], sizeof kernel_names[i], "%s",
                 nodes[i].kernel != NULL ? nodes[i].kernel : "");
    }
}

static CUdeviceptr moved_to;
static size_t moved_part;

static void note_move(uint64_t ticket, size_t part, const cx_access_log_node *node)
{
    ck_assert_uint_eq(ticket, TICKET);
    ck_assert_ptr_nonnull(node->fill);
    ck_assert_int_eq(atomic_load(&promises), 1);
    ck_assert_int_eq(atomic_load(&answers), 0);
    moved_to = node->fill->destination;
    moved_part = part;
}

static int failed_with;
static char failure_text[400];

/* Before the piece tells what it touched. */
static void note_failure(uint64_t ticket, size_t part, const cx_access_log_failure *failure)
{
    (void)part;
    ck_assert_uint_eq(ticket, TICKET);
    ck_assert_int_eq(atomic_load(&answers), 0);
    failed_with = failure->result;
    snprintf(failure_text, sizeof failure_text, "%s", failure->what);
}

static const cx_access_log_watcher watcher = {
    .launched = note_launch, .promised = note_promise, .moved = note_move, .failed = note_failure,
    .told = note_touches};

static CUmodule module;
static CUdeviceptr words, others;

static void setup(void)
{
    work_setup();
    cx_access_log_watch(&watcher);
    told_count = 0;
    promises = answers = 0;
    ck_success(cx_emu_call_module_load_data(&module, text));
    words = make_memory(BYTES);
    others = make_memory(BYTES);
    ck_success(cx_emu_call_memset_d32(words, 0, WORDS));
    ck_success(cx_emu_call_memset_d32(others, 0xffffffff, WORDS));
    ck_success(cx_emu_call_ctx_synchronize());
}

static void teardown(void)
{
    cx_access_log_watch(NULL);
    work_teardown();
}

static void launch(const char *name, unsigned int blocks, unsigned int threads, CUdeviceptr at,
                   uint64_t second, CUstream stream)
{
    CUfunction function;
    void *parameters[] = {&at, &second};

    ck_success(cx_emu_call_module_get_function(&function, module, name));
    ck_success(cx_emu_call_launch_kernel(function, blocks, 1, 1, threads, 1, 1, 0, stream,
                                         parameters, NULL));
}

static void launch_watched(const char *name, unsigned int blocks, unsigned int threads,
                           CUdeviceptr at, uint64_t second)
{
    cx_access_log_ticket = TICKET;
    launch(name, blocks, threads, at, second, NULL);
    cx_access_log_ticket = 0;
}

static void ck_touch(size_t index, uint64_t begin, uint64_t bytes, cx_access_how how)
{
    ck_assert_uint_lt(index, told_count);
    ck_assert_uint_eq(told[index].begin, begin);
    ck_assert_uint_eq(told[index].end, begin + bytes);
    ck_assert_int_eq(told[index].how, how);
}

/* ---- tests ---- */

START_TEST(stores_of_all_blocks_are_one_range)
{
    launch_watched("put", 10, 100, words, 0xffffffff);
    ck_success(cx_emu_call_ctx_synchronize());
    ck_assert_int_eq(promises, 1);
    ck_assert_int_eq(answers, 1);
    ck_assert_uint_eq(told_count, 1);
    ck_touch(0, words, BYTES, CX_ACCESS_WRITE);
}
END_TEST

START_TEST(a_store_of_what_was_there_is_a_store)
{
    launch_watched("put", 1, 100, words, 0);
    ck_success(cx_emu_call_ctx_synchronize());
    ck_assert_int_eq(answers, 1);
    ck_assert_uint_eq(told_count, 1);
    ck_touch(0, words, 400, CX_ACCESS_WRITE);
}
END_TEST

START_TEST(a_store_that_changes_one_byte_is_of_its_whole_value)
{
    launch_watched("put", 1, 1, words + 64, 0x00010000);
    ck_success(cx_emu_call_ctx_synchronize());
    ck_assert_uint_eq(told_count, 1);
    ck_touch(0, words + 64, 4, CX_ACCESS_WRITE);
}
END_TEST

START_TEST(loads_come_before_stores)
{
    launch_watched("copy", 1, 33, words + 8, others);
    ck_success(cx_emu_call_ctx_synchronize());
    ck_assert_uint_eq(told_count, 2);
    ck_touch(0, others, 33 * 4, CX_ACCESS_READ);
    ck_touch(1, words + 8, 33 * 4, CX_ACCESS_WRITE);
}
END_TEST

START_TEST(atomic_operations_are_told_as_such)
{
    launch_watched("count", 3, 32, words + 4, 0);
    ck_success(cx_emu_call_ctx_synchronize());
    ck_assert_uint_eq(told_count, 1);
    ck_touch(0, words + 4, 4, CX_ACCESS_ATOMIC);
}
END_TEST

/* It need not wait for what it stores itself. */
START_TEST(a_load_that_sees_what_others_store_polls)
{
    launch_watched("look", 1, 1, words, 0);
    ck_success(cx_emu_call_ctx_synchronize());
    ck_assert_uint_eq(told_count, 3);
    ck_touch(0, words + 8, 4, CX_ACCESS_READ);
    ck_touch(1, words + 8, 4, CX_ACCESS_WRITE);
    ck_touch(2, words, 4, CX_ACCESS_POLL);
}
END_TEST

START_TEST(a_launch_that_nobody_watches_tells_nothing)
{
    launch("put", 1, 100, words, 1, NULL);
    ck_success(cx_emu_call_ctx_synchronize());
    ck_assert_int_eq(promises, 0);
    ck_assert_int_eq(answers, 0);
}
END_TEST

static void launch_graph_watched(CUgraph graph, CUstream stream)
{
    CUgraphExec exec;

    ck_success(cx_emu_call_graph_instantiate_with_flags(&exec, graph, 0));
    ck_success(cx_emu_call_graph_destroy(graph));
    ck_assert_int_eq(promises, 0);
    cx_access_log_ticket = TICKET;
    ck_success(cx_emu_call_graph_launch(exec, stream));
    cx_access_log_ticket = 0;
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_success(cx_emu_call_graph_exec_destroy(exec));
}

/* Each kernel with the place that the thread had when it was captured. */
START_TEST(a_graph_tells_its_nodes_and_what_each_kernel_touches)
{
    CUstream stream;
    CUgraph graph;

    ck_success(cx_emu_call_stream_create(&stream, 0));
    ck_success(cx_emu_call_stream_begin_capture(stream, CXU_STREAM_CAPTURE_MODE_RELAXED));
    cx_access_log_place = 7;
    launch("put", 1, 2, words, 0xffffffff, stream);
    cx_access_log_place = 8;
    launch("count", 1, 2, words + 64, 0, stream);
    cx_access_log_place = 0;
    ck_success(cx_emu_call_stream_end_capture(stream, &graph));
    launch_graph_watched(graph, stream);
    ck_assert_uint_eq(node_count, 2);
    ck_assert_str_eq(kernel_names[0], "put");
    ck_assert_str_eq(kernel_names[1], "count");
    ck_assert_uint_eq(nodes[0].place, 7);
    ck_assert_uint_eq(nodes[1].place, 8);
    ck_assert_uint_eq(befores[0], SIZE_MAX);
    ck_assert_uint_eq(befores[1], 0);
    ck_assert_int_eq(promises, 2);
    ck_assert_int_eq(answers, 2);
    ck_assert_uint_eq(told_count, 2);
    ck_touch(0, words, 8, CX_ACCESS_WRITE);
    ck_touch(1, words + 64, 4, CX_ACCESS_ATOMIC);
    ck_assert_uint_eq(told_parts, 1); /* 0 and 1 */
    ck_success(cx_emu_call_stream_destroy(stream));
}
END_TEST

static void add_fill(CUgraph graph, CUdeviceptr to)
{
    const cxu_memset_node_params fill = {
        .destination = to, .element_bytes = 4, .width = 2, .height = 1};
    CUgraphNode node;

    ck_success(cx_emu_call_graph_add_memset_node(&node, graph, NULL, 0, &fill, work_context));
}

/* Nodes of a child graph come before its node. */
START_TEST(a_graph_tells_the_nodes_of_child_graphs)
{
    CUstream stream;
    CUgraph graph, child;
    CUgraphNode node;

    ck_success(cx_emu_call_stream_create(&stream, 0));
    ck_success(cx_emu_call_graph_create(&graph, 0));
    ck_success(cx_emu_call_graph_create(&child, 0));
    add_fill(child, words);
    ck_success(cx_emu_call_graph_add_child_graph_node(&node, graph, NULL, 0, child));
    ck_success(cx_emu_call_graph_destroy(child));
    launch_graph_watched(graph, stream);
    ck_assert_uint_eq(node_count, 2);
    ck_assert_int_eq(nodes[0].type, CXU_GRAPH_NODE_TYPE_MEMSET);
    ck_assert_uint_eq(nodes[0].parent, 1);
    ck_assert_int_eq(nodes[1].type, CXU_GRAPH_NODE_TYPE_GRAPH);
    ck_assert_uint_eq(nodes[1].parent, SIZE_MAX);
    ck_assert_uint_eq(befores[1], 0);
    ck_success(cx_emu_call_stream_destroy(stream));
}
END_TEST

START_TEST(a_conditional_node_tells_what_its_body_does)
{
    cxu_graph_node_params params = {.type = CXU_GRAPH_NODE_TYPE_CONDITIONAL};
    CUstream stream;
    CUgraph graph;
    CUgraphNode node;
    uint64_t handle;

    ck_success(cx_emu_call_stream_create(&stream, 0));
    ck_success(cx_emu_call_graph_create(&graph, 0));
    add_fill(graph, others);
    ck_success(cx_emu_call_graph_conditional_handle_create(&handle, graph, work_context, 1,
                                                           CXU_GRAPH_COND_ASSIGN_DEFAULT));
    params.of.condition = (cxu_conditional_node_params){
        .handle = handle, .type = CXU_GRAPH_COND_TYPE_IF, .size = 1, .context = work_context};
    ck_success(cx_emu_call_graph_add_node(&node, graph, NULL, NULL, 0, &params));
    add_fill(params.of.condition.bodies[0], words);
    launch_graph_watched(graph, stream);
    ck_assert_uint_eq(node_count, 2);
    ck_assert_uint_eq(moved_to, words);
    ck_assert_uint_eq(moved_part, 1);
    ck_assert_int_eq(promises, 1);
    ck_assert_int_eq(answers, 1);
    ck_success(cx_emu_call_stream_destroy(stream));
}
END_TEST

/* The context is of no use any more: this test is alone in its process. */
START_TEST(a_launch_that_never_runs_tells_nothing_in_the_end)
{
    stream_gate gate = GATE_CLOSED;

    gate_put(&gate, NULL);
    launch("fail", 1, 1, words, 0, NULL);
    launch_watched("put", 1, 2, words, 5);
    ck_assert_int_eq(promises, 1);
    gate_open(&gate);
    ck_result(cx_emu_call_ctx_synchronize(), LAUNCH_FAILED);
    ck_assert_int_eq(answers, 1);
    ck_assert_uint_eq(told_count, 0);
    ck_assert_int_eq(failed_with, 0);
    exit(0);
}
END_TEST

START_TEST(a_launch_that_fails_tells_why)
{
    launch_watched("fail", 1, 1, words, 0);
    ck_result(cx_emu_call_ctx_synchronize(), LAUNCH_FAILED);
    ck_assert_int_eq(answers, 1);
    ck_assert_int_eq(failed_with, CXU_LAUNCH_FAILED);
    ck_assert_ptr_nonnull(strstr(failure_text, "kernel fail, line "));
    exit(0);
}
END_TEST

static Suite *touched_suite(void)
{
    Suite *suite = suite_create("touched");
    TCase *tcase = tcase_create("touched"), *alone = tcase_create("alone");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, stores_of_all_blocks_are_one_range);
    tcase_add_test(tcase, a_store_of_what_was_there_is_a_store);
    tcase_add_test(tcase, a_store_that_changes_one_byte_is_of_its_whole_value);
    tcase_add_test(tcase, loads_come_before_stores);
    tcase_add_test(tcase, atomic_operations_are_told_as_such);
    tcase_add_test(tcase, a_load_that_sees_what_others_store_polls);
    tcase_add_test(tcase, a_launch_that_nobody_watches_tells_nothing);
    tcase_add_test(tcase, a_graph_tells_its_nodes_and_what_each_kernel_touches);
    tcase_add_test(tcase, a_graph_tells_the_nodes_of_child_graphs);
    tcase_add_test(tcase, a_conditional_node_tells_what_its_body_does);
    suite_add_tcase(suite, tcase);
    tcase_add_checked_fixture(alone, setup, NULL);
    tcase_add_test(alone, a_launch_that_never_runs_tells_nothing_in_the_end);
    tcase_add_test(alone, a_launch_that_fails_tells_why);
    suite_add_tcase(suite, alone);
    return suite;
}

CX_TESTS(touched_suite);
