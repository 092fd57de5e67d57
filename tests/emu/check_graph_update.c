/* Executable graphs: changing what later launches do, node by node or all at once. */
#include "graph_fixture.h"

#include <string.h>

#define BYTES ((size_t)FILL_BYTES)

/* ---- what later launches do ---- */

START_TEST(nodes_of_an_executable_graph_change_for_later_launches)
{
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'}, b = {&journal, 'b'};
    const cxu_host_node_params write_b = {letter_write, &b};
    CUdeviceptr one = make_memory(BYTES), two = make_memory(BYTES);
    cxu_memset_node_params fill = byte_fill(two, 9);
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event(), other = make_event();
    stream_gate gate = GATE_CLOSED;
    CUgraph graph = make_graph();
    CUgraphNode host = add_letter(graph, &a, NULL, 0), set = add_byte_fill(graph, one, 1), record;
    CUgraphExec exec;

    ck_success(cx_emu_call_graph_add_event_record_node(&record, graph, NULL, 0, event));
    exec = make_exec(graph);
    gate_put(&gate, stream);
    ck_success(cx_emu_call_graph_launch(exec, stream));
    ck_success(cx_emu_call_graph_exec_host_node_set_params(exec, host, &write_b));
    ck_success(cx_emu_call_graph_exec_memset_node_set_params(exec, set, &fill, work_context));
    ck_success(cx_emu_call_graph_exec_event_record_node_set_event(exec, record, other));
    ck_success(cx_emu_call_event_query(other));
    gate_open(&gate);
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_journal(&journal, "a");
    ck_assert_uint_eq(first_byte(one), 1);
    launch_and_wait(exec, stream);
    ck_journal(&journal, "ab");
    ck_assert_uint_eq(first_byte(two), 9);
    drop_exec(exec);
    run_graph(graph);
    ck_journal(&journal, "aba");
    drop(graph);
}
END_TEST

START_TEST(a_copy_changes_to_another_flat_copy_of_the_same_kind)
{
    CUdeviceptr one = make_memory(BYTES), two = make_memory(BYTES), three = make_memory(BYTES);
    cxu_memcpy_3d copy = copy_between(two, one, BYTES), other = copy_between(three, one, 16);
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    unsigned char host[BYTES];
    CUgraph graph = make_graph();
    CUgraphExec exec;
    CUgraphNode node;

    ck_success(cx_emu_call_memset_d8(one, 8, BYTES));
    ck_success(cx_emu_call_ctx_synchronize());
    ck_success(cx_emu_call_graph_add_memcpy_node(&node, graph, NULL, 0, &copy, work_context));
    exec = make_exec(graph);
    ck_success(cx_emu_call_graph_exec_memcpy_node_set_params(exec, node, &other, work_context));
    launch_and_wait(exec, stream);
    ck_assert_uint_eq(first_byte(three), 8);
    other.height = 2;
    other.source_pitch_bytes = other.destination_pitch_bytes = 32;
    ck_result(cx_emu_call_graph_exec_memcpy_node_set_params(exec, node, &other, work_context),
              INVALID_VALUE);
    other = copy;
    other.destination_type = CXU_MEMORYTYPE_HOST;
    other.destination_host = host;
    ck_result(cx_emu_call_graph_exec_memcpy_node_set_params(exec, node, &other, work_context),
              INVALID_VALUE);
    other.width_bytes = 0;
    ck_result(cx_emu_call_graph_exec_memcpy_node_set_params(exec, node, &other, work_context),
              INVALID_VALUE);
    ck_result(cx_emu_call_graph_exec_memcpy_node_set_params(exec, node, NULL, work_context),
              INVALID_VALUE);
    drop_exec(exec);
    drop(graph);
}
END_TEST

START_TEST(only_nodes_of_the_graph_it_was_made_of_are_changed)
{
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'};
    const cxu_host_node_params write_a = {letter_write, &a};
    CUgraph graph = make_graph(), clone;
    CUgraphNode node = add_letter(graph, &a, NULL, 0), other;
    CUgraphExec exec = make_exec(graph);
    cxu_memset_node_params fill = byte_fill(make_memory(BYTES), 1);

    ck_success(cx_emu_call_graph_clone(&clone, graph));
    other = only_node(clone, CXU_GRAPH_NODE_TYPE_HOST);
    ck_result(cx_emu_call_graph_exec_host_node_set_params(exec, other, &write_a), INVALID_VALUE);
    ck_result(cx_emu_call_graph_exec_memset_node_set_params(exec, node, &fill, work_context),
              INVALID_VALUE);
    ck_result(cx_emu_call_graph_exec_host_node_set_params(exec, node, NULL), INVALID_VALUE);
    ck_success(cx_emu_call_graph_destroy_node(node));
    ck_result(cx_emu_call_graph_exec_host_node_set_params(exec, node, &write_a), INVALID_VALUE);
    drop_exec(exec);
    drop(clone);
    drop(graph);
}
END_TEST

START_TEST(copies_and_fills_can_be_switched_off_and_on)
{
    CUdeviceptr memory = make_memory(BYTES);
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'};
    CUgraph graph = make_graph();
    CUgraphNode fill = add_byte_fill(graph, memory, 4), host = add_letter(graph, &a, &fill, 1);
    CUgraphExec exec = make_exec(graph);
    unsigned int enabled = 7;

    ck_success(cx_emu_call_memset_d8(memory, 1, BYTES));
    ck_success(cx_emu_call_ctx_synchronize());
    ck_success(cx_emu_call_graph_node_get_enabled(exec, fill, &enabled));
    ck_assert_uint_eq(enabled, 1);
    ck_success(cx_emu_call_graph_node_set_enabled(exec, fill, 0));
    ck_success(cx_emu_call_graph_node_get_enabled(exec, fill, &enabled));
    ck_assert_uint_eq(enabled, 0);
    launch_and_wait(exec, stream);
    ck_assert_uint_eq(first_byte(memory), 1);
    ck_journal(&journal, "a");
    ck_success(cx_emu_call_graph_node_set_enabled(exec, fill, 2));
    launch_and_wait(exec, stream);
    ck_assert_uint_eq(first_byte(memory), 4);
    ck_result(cx_emu_call_graph_node_set_enabled(exec, host, 0), INVALID_VALUE);
    ck_result(cx_emu_call_graph_node_get_enabled(exec, host, &enabled), INVALID_VALUE);
    ck_result(cx_emu_call_graph_node_get_enabled(exec, fill, NULL), INVALID_VALUE);
    drop_exec(exec);
    drop(graph);
}
END_TEST

START_TEST(a_graph_of_nothing_but_bytes_changes_between_launches)
{
    CUdeviceptr memory = make_memory(BYTES);
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUgraph graph = make_graph();
    CUgraphNode node = add_byte_fill(graph, memory, 4);
    CUgraphExec exec = make_exec(graph);
    cxu_memset_node_params other = byte_fill(memory, 5);

    launch_and_wait(exec, stream);
    ck_success(cx_emu_call_graph_exec_memset_node_set_params(exec, node, &other, work_context));
    launch_and_wait(exec, stream);
    ck_assert_uint_eq(first_byte(memory), 5);
    ck_success(cx_emu_call_memset_d8(memory, 6, BYTES));
    ck_success(cx_emu_call_ctx_synchronize());
    ck_success(cx_emu_call_graph_node_set_enabled(exec, node, 0));
    launch_and_wait(exec, stream);
    ck_assert_uint_eq(first_byte(memory), 6);
    ck_success(cx_emu_call_graph_node_set_enabled(exec, node, 1));
    launch_and_wait(exec, stream);
    ck_assert_uint_eq(first_byte(memory), 5);
    drop_exec(exec);
    drop(graph);
}
END_TEST

/* ---- whole updates ---- */

static CUgraph chain(graph_letter *first, graph_letter *second)
{
    CUgraph graph = make_graph();
    CUgraphNode node = add_letter(graph, first, NULL, 0);

    add_letter(graph, second, &node, 1);
    return graph;
}

START_TEST(an_update_takes_over_what_the_nodes_do)
{
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'}, b = {&journal, 'b'}, c = {&journal, 'c'};
    CUgraph graph = chain(&a, &b), other = chain(&c, &a);
    CUgraphExec exec = make_exec(graph);
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    cxu_graph_exec_update_result_info info;
    cxu_graph_exec_update_result result;
    CUgraphNode node;

    ck_success(cx_emu_call_graph_exec_update(exec, other, &info));
    ck_assert_int_eq(info.result, CXU_GRAPH_EXEC_UPDATE_SUCCESS);
    ck_assert_ptr_null(info.error_node);
    drop(other);
    launch_and_wait(exec, stream);
    ck_journal(&journal, "ca");
    ck_success(cx_emu_call_graph_exec_update_v1(exec, graph, &node, &result));
    launch_and_wait(exec, stream);
    ck_journal(&journal, "caab");
    ck_result(cx_emu_call_graph_exec_update(exec, graph, NULL), INVALID_VALUE);
    ck_result(cx_emu_call_graph_exec_update(exec, NULL, &info), INVALID_VALUE);
    ck_assert_int_eq(info.result, CXU_GRAPH_EXEC_UPDATE_ERROR);
    drop_exec(exec);
    drop(graph);
}
END_TEST

static void ck_update_fails(CUgraphExec exec, CUgraph graph, cxu_graph_exec_update_result expected,
                            CUgraphNode node, CUgraphNode from)
{
    cxu_graph_exec_update_result_info info;
    cxu_graph_exec_update_result result;
    CUgraphNode found;

    ck_result(cx_emu_call_graph_exec_update(exec, graph, &info), GRAPH_EXEC_UPDATE_FAILURE);
    ck_assert_int_eq(info.result, expected);
    ck_assert_ptr_eq(info.error_node, node);
    ck_assert_ptr_eq(info.error_from_node, from);
    ck_result(cx_emu_call_graph_exec_update_v1(exec, graph, &found, &result),
              GRAPH_EXEC_UPDATE_FAILURE);
    ck_assert_int_eq(result, expected);
    ck_assert_ptr_eq(found, node);
}

START_TEST(an_update_that_does_not_fit_changes_nothing)
{
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'}, b = {&journal, 'b'}, z = {&journal, 'z'};
    CUgraph graph = chain(&a, &b), other = chain(&z, &z);
    CUgraphExec exec = make_exec(graph);
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUgraphNode first, second, nodes[2];
    size_t count = 2;

    ck_success(cx_emu_call_graph_get_nodes(other, nodes, &count));
    ck_success(cx_emu_call_graph_remove_dependencies_v1(other, &nodes[0], &nodes[1], 1));
    ck_update_fails(exec, other, CXU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, nodes[1], NULL);
    ck_success(cx_emu_call_graph_add_dependencies_v1(other, &nodes[1], &nodes[0], 1));
    ck_update_fails(exec, other, CXU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, nodes[0], NULL);
    add_letter(other, &z, NULL, 0);
    ck_update_fails(exec, other, CXU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, NULL, NULL);
    drop(other);
    other = make_graph();
    first = add_letter(other, &z, NULL, 0);
    ck_success(cx_emu_call_graph_add_empty_node(&second, other, &first, 1));
    ck_update_fails(exec, other, CXU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, second, NULL);
    launch_and_wait(exec, stream);
    ck_journal(&journal, "ab");
    drop_exec(exec);
    drop(other);
    drop(graph);
}
END_TEST

START_TEST(an_update_tells_the_dependency_that_differs)
{
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'};
    CUgraph graphs[2];
    CUgraphNode nodes[2][3];
    CUgraphExec exec;

    for (int i = 0; i < 2; i++) {
        graphs[i] = make_graph();
        nodes[i][0] = add_letter(graphs[i], &a, NULL, 0);
        nodes[i][1] = add_letter(graphs[i], &a, &nodes[i][0], 1);
        nodes[i][2] = add_letter(graphs[i], &a, &nodes[i][1 - i], 1);
    }
    ck_success(cx_emu_call_graph_add_dependencies_v1(graphs[0], &nodes[0][0], &nodes[0][2], 1));
    ck_success(cx_emu_call_graph_add_dependencies_v1(graphs[1], &nodes[1][1], &nodes[1][2], 1));
    exec = make_exec(graphs[0]);
    ck_update_fails(exec, graphs[1], CXU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, nodes[1][2],
                    nodes[1][0]);
    drop_exec(exec);
    drop(graphs[0]);
    drop(graphs[1]);
}
END_TEST

START_TEST(an_update_keeps_contexts_devices_and_shapes)
{
    CUdeviceptr one = make_memory(BYTES), foreign;
    cxu_memset_node_params params = byte_fill(one, 1);
    CUgraph graph = make_graph(), other;
    CUcontext second, popped;
    CUgraphExec exec;
    CUgraphNode node;

    add_byte_fill(graph, one, 1);
    exec = make_exec(graph);
    ck_success(cx_emu_call_ctx_create_v4(&second, NULL, 0, 1));
    foreign = make_memory(BYTES);
    ck_success(cx_emu_call_ctx_enable_peer_access(work_context, 0));
    ck_success(cx_emu_call_ctx_pop(&popped));
    ck_success(cx_emu_call_ctx_enable_peer_access(second, 0));
    for (int i = 0; i < 3; i++) {
        other = make_graph();
        params = byte_fill(i == 1 ? foreign : one, 2);
        if (i == 2)
            params = (cxu_memset_node_params){one, 64, 2, 1, 8, 2};
        ck_success(cx_emu_call_graph_add_memset_node(&node, other, NULL, 0, &params,
                                                     i == 0 ? second : work_context));
        ck_update_fails(exec, other, CXU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, node, NULL);
        drop(other);
    }
    drop_exec(exec);
    drop(graph);
    ck_success(cx_emu_call_ctx_destroy(second));
}
END_TEST

START_TEST(a_child_graph_is_updated_with_its_nodes)
{
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'}, b = {&journal, 'b'}, c = {&journal, 'c'};
    const cxu_host_node_params write_c = {letter_write, &c};
    CUgraph child = chain(&a, &b), other = chain(&b, &a), bad = make_graph(), graph = make_graph();
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUgraphNode node, inside[2];
    CUgraph inner;
    CUgraphExec exec;
    size_t count = 2;

    ck_success(cx_emu_call_graph_add_child_graph_node(&node, graph, NULL, 0, child));
    exec = make_exec(graph);
    ck_result(cx_emu_call_graph_exec_child_graph_node_set_params(exec, node, bad),
              GRAPH_EXEC_UPDATE_FAILURE);
    ck_success(cx_emu_call_graph_exec_child_graph_node_set_params(exec, node, other));
    launch_and_wait(exec, stream);
    ck_journal(&journal, "ba");
    ck_success(cx_emu_call_graph_child_graph_node_get_graph(node, &inner));
    ck_success(cx_emu_call_graph_get_nodes(inner, inside, &count));
    ck_success(cx_emu_call_graph_exec_host_node_set_params(exec, inside[1], &write_c));
    launch_and_wait(exec, stream);
    ck_journal(&journal, "babc");
    ck_result(cx_emu_call_graph_exec_child_graph_node_set_params(exec, inside[0], other),
              INVALID_VALUE);
    drop_exec(exec);
    drop(graph);
    drop(child);
    drop(other);
    drop(bad);
}
END_TEST

static Suite *graph_update_suite(void)
{
    Suite *suite = suite_create("graph_update");
    TCase *tcase = tcase_create("graph_update");

    tcase_add_checked_fixture(tcase, graph_setup, graph_teardown);
    tcase_add_test(tcase, nodes_of_an_executable_graph_change_for_later_launches);
    tcase_add_test(tcase, a_copy_changes_to_another_flat_copy_of_the_same_kind);
    tcase_add_test(tcase, only_nodes_of_the_graph_it_was_made_of_are_changed);
    tcase_add_test(tcase, copies_and_fills_can_be_switched_off_and_on);
    tcase_add_test(tcase, a_graph_of_nothing_but_bytes_changes_between_launches);
    tcase_add_test(tcase, an_update_takes_over_what_the_nodes_do);
    tcase_add_test(tcase, an_update_that_does_not_fit_changes_nothing);
    tcase_add_test(tcase, an_update_tells_the_dependency_that_differs);
    tcase_add_test(tcase, an_update_keeps_contexts_devices_and_shapes);
    tcase_add_test(tcase, a_child_graph_is_updated_with_its_nodes);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(graph_update_suite);
