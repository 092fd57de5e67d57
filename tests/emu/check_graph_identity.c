/* Numbers of graphs and nodes, parameters of any node, and other calls of CUDA 13.1 and 13.2. */
#include "graph_fixture.h"
#include "kernels.h"

#include <string.h>

START_TEST(graphs_and_nodes_are_numbered)
{
    CUgraph graph = make_graph(), other = make_graph(), containing;
    CUgraphNode nodes[2];
    CUgraphExec exec;
    unsigned int first, second, local;
    unsigned long long tools[2];

    ck_success(cx_emu_call_graph_get_id(graph, &first));
    ck_success(cx_emu_call_graph_get_id(other, &second));
    ck_assert_uint_eq(second, first + 1);
    for (unsigned int i = 0; i < 2; i++) {
        ck_success(cx_emu_call_graph_add_empty_node(&nodes[i], other, NULL, 0));
        ck_success(cx_emu_call_graph_node_get_local_id(nodes[i], &local));
        ck_assert_uint_eq(local, i);
        ck_success(cx_emu_call_graph_node_get_tools_id(nodes[i], &tools[i]));
    }
    ck_assert_uint_ne(tools[0], tools[1]);
    ck_success(cx_emu_call_graph_node_get_containing_graph(nodes[1], &containing));
    ck_assert_ptr_eq(containing, other);
    exec = make_exec(other);
    ck_success(cx_emu_call_graph_exec_get_id(exec, &first));
    drop_exec(exec);
    ck_result(cx_emu_call_graph_exec_get_id(exec, &first), INVALID_VALUE);
    ck_result(cx_emu_call_graph_get_id(graph, NULL), INVALID_VALUE);
    drop(graph);
    drop(other);
}
END_TEST

START_TEST(a_node_tells_its_parameters)
{
    CUdeviceptr memory = make_memory(FILL_BYTES);
    CUgraph graph = make_graph(), child = make_graph(), inside;
    CUgraphNode fill = add_byte_fill(graph, memory, 3), node;
    cxu_graph_node_params params;

    ck_success(cx_emu_call_graph_node_get_params(fill, &params));
    ck_assert_int_eq(params.type, CXU_GRAPH_NODE_TYPE_MEMSET);
    ck_assert_uint_eq(params.of.fill.params.destination, memory);
    ck_assert_ptr_eq(params.of.fill.context, work_context);
    params.of.fill.params.value = 4; /* what was told can be set again */
    ck_success(cx_emu_call_graph_node_set_params(fill, &params));
    run_graph(graph);
    ck_assert_uint_eq(first_byte(memory), 4);
    ck_success(cx_emu_call_graph_add_child_graph_node(&node, graph, NULL, 0, child));
    ck_success(cx_emu_call_graph_child_graph_node_get_graph(node, &inside));
    ck_success(cx_emu_call_graph_node_get_params(node, &params));
    ck_assert_int_eq(params.type, CXU_GRAPH_NODE_TYPE_GRAPH);
    ck_assert_ptr_eq(params.of.child.graph, inside);
    ck_result(cx_emu_call_graph_node_get_params(node, NULL), INVALID_VALUE);
    drop(child);
    drop(graph);
}
END_TEST

START_TEST(a_condition_tells_its_bodies)
{
    CUgraph graph = make_graph();
    cxu_graph_node_params params = {.type = CXU_GRAPH_NODE_TYPE_CONDITIONAL}, found;
    CUgraphNode node;

    params.of.condition = (cxu_conditional_node_params){
        .type = CXU_GRAPH_COND_TYPE_SWITCH, .size = 2, .context = work_context};
    ck_success(cx_emu_call_graph_conditional_handle_create(&params.of.condition.handle, graph,
                                                           work_context, 0, 0));
    ck_success(cx_emu_call_graph_add_node_v1(&node, graph, NULL, 0, &params));
    ck_success(cx_emu_call_graph_node_get_params(node, &found));
    ck_assert_mem_eq(&found.of.condition, &params.of.condition, sizeof found.of.condition);
    drop(graph);
}
END_TEST

START_TEST(kernels_count_their_parameters)
{
    CUmodule module;
    CUlibrary library;
    CUfunction function;
    CUkernel kernel;
    size_t count = 0;

    ck_success(cx_emu_call_module_load_data(&module, PTX_ALL));
    ck_success(cx_emu_call_module_get_function(&function, module, "add_one"));
    ck_success(cx_emu_call_func_get_param_count(function, &count));
    ck_assert_uint_eq(count, 2);
    ck_success(cx_emu_call_library_load_data(&library, PTX_ALL, NULL, NULL, 0, NULL, NULL, 0));
    ck_success(cx_emu_call_library_get_kernel(&kernel, library, "spin"));
    ck_success(cx_emu_call_kernel_get_param_count(kernel, &count));
    ck_assert_uint_eq(count, 1);
    ck_result(cx_emu_call_kernel_get_param_count((CUkernel)(void *)function, &count),
              INVALID_HANDLE);
    ck_result(cx_emu_call_func_get_param_count(function, NULL), INVALID_VALUE);
    ck_success(cx_emu_call_library_unload(library));
}
END_TEST

START_TEST(host_functions_and_copies_take_more)
{
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter letter = {&journal, 'a'};
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUdeviceptr memory = make_memory(FILL_BYTES);
    cxu_memcpy_attributes how = {.order = CXU_MEMCPY_SRC_ACCESS_ORDER_ANY};
    unsigned char bytes[FILL_BYTES];

    memset(bytes, 7, sizeof bytes);
    ck_success(cx_emu_call_memcpy_with_attributes_async(memory, (CUdeviceptr)(uintptr_t)bytes,
                                                        FILL_BYTES, &how, stream));
    ck_success(cx_emu_call_launch_host_func_v2(stream, letter_write, &letter, 1));
    ck_success(cx_emu_call_launch_host_func_v2(stream, NULL, NULL, 0));
    ck_result(cx_emu_call_launch_host_func_v2(stream, letter_write, &letter, 2), INVALID_VALUE);
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_journal(&journal, "a");
    ck_assert_uint_eq(first_byte(memory), 7);
    ck_result(cx_emu_call_memcpy_3d_with_attributes_async(NULL, 0, stream), INVALID_VALUE);
}
END_TEST

static Suite *identity_suite(void)
{
    Suite *suite = suite_create("graph_identity");
    TCase *tests = tcase_create("graph_identity");

    tcase_add_checked_fixture(tests, graph_setup, graph_teardown);
    tcase_add_test(tests, graphs_and_nodes_are_numbered);
    tcase_add_test(tests, a_node_tells_its_parameters);
    tcase_add_test(tests, a_condition_tells_its_bodies);
    tcase_add_test(tests, kernels_count_their_parameters);
    tcase_add_test(tests, host_functions_and_copies_take_more);
    suite_add_tcase(suite, tests);
    return suite;
}

CX_TESTS(identity_suite);
