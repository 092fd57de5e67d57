/* Conditional nodes: which bodies run (G8). */
#include "graph_fixture.h"

#include <string.h>

static CUstream stream;
static CUgraph graph;
static CUdeviceptr memory;

static void setup(void)
{
    graph_setup();
    stream = make_stream(CXU_STREAM_NON_BLOCKING);
    graph = make_graph();
    memory = make_memory(FILL_BYTES);
    ck_success(cx_emu_call_memset_d8(memory, 0, FILL_BYTES));
    ck_success(cx_emu_call_ctx_synchronize());
}

static uint64_t handle_of(CUgraph of, unsigned int value)
{
    uint64_t handle = 0;

    ck_success(cx_emu_call_graph_conditional_handle_create(&handle, of, work_context, value,
                                                           CXU_GRAPH_COND_ASSIGN_DEFAULT));
    return handle;
}

static cxu_result add(CUgraph into, uint64_t handle, cxu_graph_conditional_type type,
                      unsigned int size, CUgraph **out_bodies)
{
    cxu_graph_node_params params = {.type = CXU_GRAPH_NODE_TYPE_CONDITIONAL};
    CUgraphNode node;
    cxu_result result;

    params.of.condition = (cxu_conditional_node_params){
        .handle = handle, .type = type, .size = size, .context = work_context};
    result = cx_emu_call_graph_add_node(&node, into, NULL, NULL, 0, &params);
    if (result == CXU_SUCCESS) {
        ck_assert_int_eq(type_of(node), CXU_GRAPH_NODE_TYPE_CONDITIONAL);
        *out_bodies = params.of.condition.bodies;
    }
    return result;
}

/* What the first byte is after a launch, if body i fills with i + 1. */
static unsigned char filled_by(unsigned int value, cxu_graph_conditional_type type,
                               unsigned int size)
{
    CUgraph decided = make_graph(), *bodies;
    CUgraphExec exec;

    ck_success(cx_emu_call_memset_d8(memory, 0, FILL_BYTES));
    ck_success(cx_emu_call_ctx_synchronize());
    ck_success(add(decided, handle_of(decided, value), type, size, &bodies));
    for (unsigned int i = 0; i < size; i++)
        add_byte_fill(bodies[i], memory, i + 1);
    exec = make_exec(decided);
    launch_and_wait(exec, stream);
    drop_exec(exec);
    drop(decided);
    return first_byte(memory);
}

START_TEST(an_if_runs_its_body_or_the_other)
{
    ck_assert_uint_eq(filled_by(1, CXU_GRAPH_COND_TYPE_IF, 1), 1);
    ck_assert_uint_eq(filled_by(0, CXU_GRAPH_COND_TYPE_IF, 1), 0);
    ck_assert_uint_eq(filled_by(7, CXU_GRAPH_COND_TYPE_IF, 2), 1);
    ck_assert_uint_eq(filled_by(0, CXU_GRAPH_COND_TYPE_IF, 2), 2);
    drop(graph);
}
END_TEST

START_TEST(a_switch_runs_the_body_of_its_value)
{
    ck_assert_uint_eq(filled_by(0, CXU_GRAPH_COND_TYPE_SWITCH, 3), 1);
    ck_assert_uint_eq(filled_by(2, CXU_GRAPH_COND_TYPE_SWITCH, 3), 3);
    ck_assert_uint_eq(filled_by(3, CXU_GRAPH_COND_TYPE_SWITCH, 3), 0);
    drop(graph);
}
END_TEST

START_TEST(a_while_of_zero_does_not_begin)
{
    ck_assert_uint_eq(filled_by(0, CXU_GRAPH_COND_TYPE_WHILE, 1), 0);
    drop(graph);
}
END_TEST

START_TEST(bodies_hold_children_and_conditions)
{
    CUdeviceptr other = make_memory(FILL_BYTES);
    CUgraph *bodies, *inner, child = make_graph();
    CUgraphNode node;

    ck_success(add(graph, handle_of(graph, 1), CXU_GRAPH_COND_TYPE_IF, 1, &bodies));
    add_byte_fill(child, memory, 3);
    ck_success(cx_emu_call_graph_add_child_graph_node(&node, bodies[0], NULL, 0, child));
    ck_success(add(bodies[0], handle_of(graph, 1), CXU_GRAPH_COND_TYPE_IF, 1, &inner));
    add_byte_fill(inner[0], other, 4);
    ck_result(add(bodies[0], handle_of(child, 1), CXU_GRAPH_COND_TYPE_IF, 1, &inner),
              INVALID_VALUE);
    run_graph(graph);
    ck_assert_uint_eq(first_byte(memory), 3);
    ck_assert_uint_eq(first_byte(other), 4);
    drop(child);
    drop(graph);
}
END_TEST

START_TEST(a_body_may_be_empty_and_a_row)
{
    CUdeviceptr out = make_memory(FILL_BYTES);
    cxu_memcpy_3d copy = copy_between(out, memory, FILL_BYTES);
    CUgraph *bodies;
    CUgraphNode fill, after;

    ck_success(add(graph, handle_of(graph, 1), CXU_GRAPH_COND_TYPE_IF, 1, &bodies));
    run_graph(graph);
    fill = add_byte_fill(bodies[0], memory, 3);
    ck_success(
        cx_emu_call_graph_add_memcpy_node(&after, bodies[0], &fill, 1, &copy, work_context));
    run_graph(graph);
    ck_assert_uint_eq(first_byte(out), 3);
    drop(graph);
}
END_TEST

START_TEST(a_node_behind_waits_for_the_body)
{
    CUdeviceptr out = make_memory(FILL_BYTES);
    cxu_memcpy_3d copy = copy_between(out, memory, FILL_BYTES);
    CUgraph *bodies;
    CUgraphNode condition, after;

    ck_success(add(graph, handle_of(graph, 1), CXU_GRAPH_COND_TYPE_IF, 1, &bodies));
    condition = only_node(graph, CXU_GRAPH_NODE_TYPE_CONDITIONAL);
    add_byte_fill(bodies[0], memory, 5);
    ck_success(
        cx_emu_call_graph_add_memcpy_node(&after, graph, &condition, 1, &copy, work_context));
    run_graph(graph);
    ck_assert_uint_eq(first_byte(out), 5);
    drop(graph);
}
END_TEST

START_TEST(a_launch_goes_on_when_its_graphs_are_gone)
{
    CUgraph *bodies;

    ck_success(add(graph, handle_of(graph, 1), CXU_GRAPH_COND_TYPE_IF, 1, &bodies));
    add_byte_fill(bodies[0], memory, 8);
    drop_during_launch(graph, stream);
    ck_assert_uint_eq(first_byte(memory), 8);
}
END_TEST

START_TEST(memory_of_a_body_is_checked_at_the_launch)
{
    CUdeviceptr gone = make_memory(FILL_BYTES);
    CUgraph *bodies;
    CUgraphExec exec;

    ck_success(add(graph, handle_of(graph, 1), CXU_GRAPH_COND_TYPE_IF, 1, &bodies));
    add_byte_fill(bodies[0], gone, 8);
    exec = make_exec(graph);
    ck_success(cx_emu_call_mem_free(gone));
    ck_result(cx_emu_call_graph_launch(exec, stream), INVALID_VALUE);
    drop_exec(exec);
    drop(graph);
}
END_TEST

START_TEST(each_handle_decides_one_node)
{
    cxu_graph_instantiate_params params = {0};
    CUgraphExec exec;
    CUgraph *bodies, clone;
    uint64_t handle = handle_of(graph, 0);

    ck_result(cx_emu_call_graph_instantiate_with_params(&exec, graph, &params), INVALID_VALUE);
    ck_assert_int_eq(params.out_result, CXU_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED);
    ck_success(add(graph, handle, CXU_GRAPH_COND_TYPE_IF, 1, &bodies));
    ck_result(add(graph, handle, CXU_GRAPH_COND_TYPE_IF, 1, &bodies), INVALID_VALUE);
    ck_result(cx_emu_call_graph_clone(&clone, graph), NOT_SUPPORTED);
    ck_result(cx_emu_call_graph_destroy(bodies[0]), INVALID_VALUE);
    ck_result(cx_emu_call_graph_instantiate_with_flags(&exec, bodies[0], 0), NOT_SUPPORTED);
    drop(graph);
}
END_TEST

START_TEST(host_functions_and_cycles_are_no_bodies)
{
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter letter = {&journal, 'a'};
    cxu_graph_instantiate_params params = {0};
    CUgraphExec exec;
    CUgraph *bodies, other = make_graph();
    CUgraphNode nodes[2];

    ck_success(add(graph, handle_of(graph, 0), CXU_GRAPH_COND_TYPE_IF, 1, &bodies));
    nodes[0] = add_letter(bodies[0], &letter, NULL, 0);
    ck_result(cx_emu_call_graph_instantiate_with_params(&exec, graph, &params), INVALID_VALUE);
    ck_assert_ptr_eq(params.out_error_node, nodes[0]);
    ck_success(add(other, handle_of(other, 0), CXU_GRAPH_COND_TYPE_WHILE, 1, &bodies));
    for (int i = 0; i < 2; i++)
        ck_success(cx_emu_call_graph_add_empty_node(&nodes[i], bodies[0], nodes, (size_t)i));
    ck_success(cx_emu_call_graph_add_dependencies_v1(bodies[0], &nodes[1], &nodes[0], 1));
    ck_result(cx_emu_call_graph_instantiate_with_flags(&exec, other, 0), INVALID_VALUE);
    drop(other);
    drop(graph);
}
END_TEST

/* step(at, handle): the word at `at` is one less, and the value of the handle; that at `at` + 4 is
 * one more. */
static const char step_text[] =
    ".version 8.6\n.target sm_75\n.address_size 64\n"
    ".extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);\n"
    ".visible .entry step(.param .u64 at, .param .u64 handle)\n{\n"
    ".reg .b32 %r<2>;\n.reg .b64 %d<2>;\n.param .b64 named;\n.param .b32 value;\n"
    "ld.param.u64 %d0, [at];\nld.param.u64 %d1, [handle];\nld.global.u32 %r0, [%d0];\n"
    "sub.u32 %r0, %r0, 1;\nst.global.u32 [%d0], %r0;\nld.global.u32 %r1, [%d0+4];\n"
    "add.u32 %r1, %r1, 1;\nst.global.u32 [%d0+4], %r1;\nst.param.b64 [named], %d1;\n"
    "st.param.b32 [value], %r0;\ncall.uni cudaGraphSetConditional, (named, value);\nret;\n}\n";

static CUfunction link_step(void)
{
    static char archive[] = "!<arch>\ncuda_device_runtime.o/\n";
    CUlinkState state;
    CUmodule module;
    CUfunction step;
    void *image;

    ck_success(cx_emu_call_link_create(0, NULL, NULL, &state));
    ck_success(cx_emu_call_link_add_data(state, CXU_JIT_INPUT_PTX, (void *)(uintptr_t)step_text,
                                         sizeof step_text, "text", 0, NULL, NULL));
    ck_success(cx_emu_call_link_add_data(state, CXU_JIT_INPUT_LIBRARY, archive, sizeof archive,
                                         "cudadevrt", 0, NULL, NULL));
    ck_success(cx_emu_call_link_complete(state, &image, NULL));
    ck_success(cx_emu_call_module_load_data(&module, image));
    ck_success(cx_emu_call_link_destroy(state));
    ck_success(cx_emu_call_module_get_function(&step, module, "step"));
    return step;
}

/* nvcc calls the function from programs that are compiled without -rdc=true, too. */
static CUfunction load_step(void)
{
    CUmodule module;
    CUfunction step;

    ck_success(cx_emu_call_module_load_data(&module, step_text));
    ck_success(cx_emu_call_module_get_function(&step, module, "step"));
    return step;
}

static CUgraphNode add_step(CUgraph into, CUfunction step, CUdeviceptr at, uint64_t handle)
{
    void *parameters[] = {&at, &handle};
    cxu_graph_node_params params = {.type = CXU_GRAPH_NODE_TYPE_KERNEL};
    CUgraphNode node;

    params.of.kernel = (cxu_kernel_node_params){.function = step,
                                                .grid_x = 1,
                                                .grid_y = 1,
                                                .grid_z = 1,
                                                .block_x = 1,
                                                .block_y = 1,
                                                .block_z = 1,
                                                .parameters = parameters};
    ck_success(cx_emu_call_graph_add_node(&node, into, NULL, NULL, 0, &params));
    return node;
}

/* How often a body runs whose kernel, and one in front of it, count down from `count`. */
static uint32_t count_down(CUfunction step, uint32_t count, cxu_graph_conditional_type type)
{
    CUdeviceptr at = make_memory(8);
    uint32_t words[2] = {count, 0};
    uint64_t handle = handle_of(graph, 0);
    CUgraphNode first = add_step(graph, step, at, handle);
    CUgraphNode condition;
    CUgraph *bodies;

    ck_success(cx_emu_call_memcpy_htod(at, words, sizeof words));
    ck_success(cx_emu_call_ctx_synchronize()); /* the copy may return before it has arrived */
    ck_success(add(graph, handle, type, 1, &bodies));
    condition = only_node(graph, CXU_GRAPH_NODE_TYPE_CONDITIONAL);
    ck_success(cx_emu_call_graph_add_dependencies_v1(graph, &first, &condition, 1));
    add_step(bodies[0], step, at, handle);
    run_graph(graph);
    read_device(words, at, sizeof words);
    drop(graph);
    graph = make_graph();
    return words[1] - 1;
}

START_TEST(a_kernel_decides_what_a_condition_runs)
{
    CUfunction step = link_step();

    ck_assert_uint_eq(count_down(step, 1, CXU_GRAPH_COND_TYPE_IF), 0);
    ck_assert_uint_eq(count_down(step, 9, CXU_GRAPH_COND_TYPE_IF), 1);
    ck_assert_uint_eq(count_down(step, 9, CXU_GRAPH_COND_TYPE_WHILE), 8);
    drop(graph);
}
END_TEST

START_TEST(a_kernel_decides_without_the_device_runtime)
{
    ck_assert_uint_eq(count_down(load_step(), 5, CXU_GRAPH_COND_TYPE_WHILE), 4);
    drop(graph);
}
END_TEST

START_TEST(a_kernel_sets_no_handle_that_is_gone)
{
    CUfunction step = link_step();
    CUgraph other = make_graph();
    CUdeviceptr at = make_memory(8);
    uint64_t gone = handle_of(other, 0);
    void *parameters[] = {&at, &gone};

    drop(other);
    drop(graph);
    ck_success(cx_emu_call_launch_kernel(step, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    ck_success(cx_emu_call_ctx_synchronize());
}
END_TEST

static Suite *condition_suite(void)
{
    Suite *suite = suite_create("condition");
    TCase *tests = tcase_create("condition");

    tcase_add_checked_fixture(tests, setup, graph_teardown);
    tcase_add_test(tests, an_if_runs_its_body_or_the_other);
    tcase_add_test(tests, a_switch_runs_the_body_of_its_value);
    tcase_add_test(tests, a_while_of_zero_does_not_begin);
    tcase_add_test(tests, bodies_hold_children_and_conditions);
    tcase_add_test(tests, a_body_may_be_empty_and_a_row);
    tcase_add_test(tests, a_node_behind_waits_for_the_body);
    tcase_add_test(tests, a_launch_goes_on_when_its_graphs_are_gone);
    tcase_add_test(tests, memory_of_a_body_is_checked_at_the_launch);
    tcase_add_test(tests, each_handle_decides_one_node);
    tcase_add_test(tests, host_functions_and_cycles_are_no_bodies);
    tcase_add_test(tests, a_kernel_decides_what_a_condition_runs);
    tcase_add_test(tests, a_kernel_decides_without_the_device_runtime);
    tcase_add_test(tests, a_kernel_sets_no_handle_that_is_gone);
    suite_add_tcase(suite, tests);
    return suite;
}

CX_TESTS(condition_suite);
