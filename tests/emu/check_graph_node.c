/* Nodes of any type, described by one structure. */
#include "graph_fixture.h"

#include <string.h>

#define BYTES ((size_t)1 << 10)

static cxu_graph_node_params host_of(graph_letter *letter)
{
    cxu_graph_node_params params;

    memset(&params, 0, sizeof params);
    params.type = CXU_GRAPH_NODE_TYPE_HOST;
    params.of.host = (cxu_host_node_params){letter_write, letter};
    return params;
}

static cxu_graph_node_params fill_of(CUdeviceptr memory, unsigned int value)
{
    cxu_graph_node_params params;

    memset(&params, 0, sizeof params);
    params.type = CXU_GRAPH_NODE_TYPE_MEMSET;
    params.of.fill.params = (cxu_memset_node_params){memory, 0, value, 1, BYTES, 1};
    params.of.fill.context = work_context;
    return params;
}

static cxu_graph_node_params copy_of(CUdeviceptr destination, CUdeviceptr source)
{
    cxu_graph_node_params params;

    memset(&params, 0, sizeof params);
    params.type = CXU_GRAPH_NODE_TYPE_MEMCPY;
    params.of.copy.params = copy_between(destination, source, BYTES);
    params.of.copy.context = work_context;
    return params;
}

static cxu_graph_node_params event_of(cxu_graph_node_type type, CUevent event)
{
    cxu_graph_node_params params;

    memset(&params, 0, sizeof params);
    params.type = type;
    params.of.event = event;
    return params;
}

static cxu_graph_node_params child_of(CUgraph graph, int ownership)
{
    cxu_graph_node_params params;

    memset(&params, 0, sizeof params);
    params.type = CXU_GRAPH_NODE_TYPE_GRAPH;
    params.of.child.graph = graph;
    params.of.child.ownership = ownership;
    return params;
}

static CUgraphNode add(CUgraph graph, cxu_graph_node_params params, const CUgraphNode *before,
                       size_t count)
{
    CUgraphNode node;

    ck_success(cx_emu_call_graph_add_node(&node, graph, before, NULL, count, &params));
    ck_assert_int_eq(type_of(node), params.type);
    return node;
}

START_TEST(every_type_is_added_by_its_description)
{
    CUdeviceptr one = make_memory(BYTES), two = make_memory(BYTES);
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'}, b = {&journal, 'b'};
    CUevent event = make_event();
    CUgraph graph = make_graph(), child = make_graph();
    cxu_graph_node_params empty;
    unsigned char byte;
    CUgraphNode node;

    memset(&empty, 0, sizeof empty);
    empty.type = CXU_GRAPH_NODE_TYPE_EMPTY;
    add(child, host_of(&b), NULL, 0);
    node = add(graph, host_of(&a), NULL, 0);
    node = add(graph, fill_of(one, 6), &node, 1);
    node = add(graph, copy_of(two, one), &node, 1);
    node = add(graph, empty, &node, 1);
    node = add(graph, event_of(CXU_GRAPH_NODE_TYPE_WAIT_EVENT, event), &node, 1);
    node = add(graph, event_of(CXU_GRAPH_NODE_TYPE_EVENT_RECORD, event), &node, 1);
    node = add(graph, child_of(child, CXU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE), &node, 1);
    ck_assert_uint_eq(count_edges(graph), 6);
    run_graph(graph);
    ck_journal(&journal, "ab");
    read_device(&byte, two, 1);
    ck_assert_uint_eq(byte, 6);
    ck_success(cx_emu_call_event_query(event));
    drop(graph);
    drop(child);
}
END_TEST

START_TEST(what_is_unused_must_be_zero)
{
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'};
    CUgraph graph = make_graph();
    cxu_graph_node_params good = host_of(&a), bad;
    const cxu_graph_edge_data programmatic = {.type = 1};
    CUgraphNode node;

    bad = good;
    bad.reserved[2] = 1;
    ck_result(cx_emu_call_graph_add_node_v1(&node, graph, NULL, 0, &bad), INVALID_VALUE);
    bad = good;
    bad.of.words[2] = 1;
    ck_result(cx_emu_call_graph_add_node_v1(&node, graph, NULL, 0, &bad), INVALID_VALUE);
    bad = good;
    bad.of.words[28] = 1;
    ck_result(cx_emu_call_graph_add_node_v1(&node, graph, NULL, 0, &bad), INVALID_VALUE);
    bad = good;
    bad.reserved_tail = 1;
    ck_result(cx_emu_call_graph_add_node_v1(&node, graph, NULL, 0, &bad), INVALID_VALUE);
    bad = copy_of(make_memory(BYTES), make_memory(BYTES));
    bad.of.copy.flags = 1;
    ck_result(cx_emu_call_graph_add_node_v1(&node, graph, NULL, 0, &bad), INVALID_VALUE);
    ck_result(cx_emu_call_graph_add_node_v1(&node, graph, NULL, 0, NULL), INVALID_VALUE);
    ck_result(cx_emu_call_graph_add_node_v1(NULL, graph, NULL, 0, &good), INVALID_VALUE);
    ck_success(cx_emu_call_graph_add_node_v1(&node, graph, NULL, 0, &good));
    ck_result(cx_emu_call_graph_add_node(&node, graph, &node, &programmatic, 1, &good),
              INVALID_VALUE);
    ck_assert_uint_eq(count_nodes(graph), 1);
    drop(graph);
}
END_TEST

START_TEST(types_that_are_not_there_are_not_supported)
{
    CUgraph graph = make_graph();
    cxu_graph_node_params params;
    CUgraphNode node;

    const int absent[] = {8, 9, CXU_GRAPH_NODE_TYPE_BATCH_MEM_OP}; /* 8, 9: semaphores */

    memset(&params, 0, sizeof params);
    for (int i = 0; i < 3; i++) {
        params.type = (cxu_graph_node_type)absent[i];
        ck_result(cx_emu_call_graph_add_node_v1(&node, graph, NULL, 0, &params), NOT_SUPPORTED);
    }
    params.type = (cxu_graph_node_type)14;
    ck_result(cx_emu_call_graph_add_node_v1(&node, graph, NULL, 0, &params), INVALID_VALUE);
    params.type = (cxu_graph_node_type)-1;
    ck_result(cx_emu_call_graph_add_node_v1(&node, graph, NULL, 0, &params), INVALID_VALUE);
    drop(graph);
}
END_TEST

START_TEST(a_node_is_changed_by_its_description)
{
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'}, b = {&journal, 'b'};
    CUdeviceptr memory = make_memory(BYTES);
    CUgraph graph = make_graph();
    CUgraphNode host = add(graph, host_of(&a), NULL, 0);
    CUgraphNode fill = add(graph, fill_of(memory, 1), &host, 1);
    cxu_graph_node_params write_b = host_of(&b), fill_two = fill_of(memory, 2);
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUgraphExec exec = make_exec(graph);
    unsigned char byte;

    ck_success(cx_emu_call_graph_node_set_params(host, &write_b));
    ck_result(cx_emu_call_graph_node_set_params(fill, &write_b), INVALID_VALUE);
    ck_result(cx_emu_call_graph_node_set_params(fill, NULL), INVALID_VALUE);
    ck_success(cx_emu_call_graph_exec_node_set_params(exec, fill, &fill_two));
    ck_result(cx_emu_call_graph_exec_node_set_params(exec, host, &fill_two), INVALID_VALUE);
    ck_result(cx_emu_call_graph_exec_node_set_params(NULL, host, &write_b), INVALID_VALUE);
    ck_success(cx_emu_call_graph_launch(exec, stream));
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_journal(&journal, "a");
    read_device(&byte, memory, 1);
    ck_assert_uint_eq(byte, 2);
    run_graph(graph);
    ck_journal(&journal, "ab");
    ck_success(cx_emu_call_graph_exec_destroy(exec));
    drop(graph);
}
END_TEST

START_TEST(a_child_graph_changes_in_executable_graphs_only)
{
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'}, b = {&journal, 'b'};
    CUgraph graph = make_graph(), first = make_graph(), second = make_graph();
    cxu_graph_node_params becomes = child_of(second, 0);
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUgraphExec exec;
    CUgraphNode node;

    add_letter(first, &a, NULL, 0);
    add_letter(second, &b, NULL, 0);
    node = add(graph, child_of(first, 0), NULL, 0);
    exec = make_exec(graph);
    ck_result(cx_emu_call_graph_node_set_params(node, &becomes), INVALID_VALUE);
    ck_success(cx_emu_call_graph_exec_node_set_params(exec, node, &becomes));
    ck_success(cx_emu_call_graph_launch(exec, stream));
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_journal(&journal, "b");
    ck_success(cx_emu_call_graph_exec_destroy(exec));
    drop(graph);
    drop(first);
    drop(second);
}
END_TEST

START_TEST(a_graph_can_be_moved_into_a_node)
{
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'}, b = {&journal, 'b'};
    CUgraph graph = make_graph(), child = make_graph(), found;
    cxu_graph_node_params again = child_of(child, CXU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE);
    cxu_graph_exec_update_result_info info;
    CUgraphNode node, other;
    CUgraphExec exec;

    add_letter(child, &a, NULL, 0);
    node = add(graph, again, NULL, 0);
    ck_success(cx_emu_call_graph_child_graph_node_get_graph(node, &found));
    ck_assert_ptr_eq(found, child);
    add_letter(child, &b, NULL, 0);
    run_graph(graph);
    ck_assert_int_eq(journal.length, 2);
    ck_result(cx_emu_call_graph_destroy(child), INVALID_VALUE);
    ck_result(cx_emu_call_graph_instantiate_with_flags(&exec, child, 0), INVALID_VALUE);
    ck_result(cx_emu_call_graph_add_node_v1(&other, graph, NULL, 0, &again), INVALID_VALUE);
    again.of.child.ownership = CXU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE;
    ck_result(cx_emu_call_graph_add_node_v1(&other, graph, NULL, 0, &again), INVALID_VALUE);
    exec = make_exec(graph);
    ck_result(cx_emu_call_graph_exec_update(exec, child, &info), INVALID_VALUE);
    ck_success(cx_emu_call_graph_exec_destroy(exec));
    drop(graph);
    ck_result(cx_emu_call_graph_destroy(child), INVALID_VALUE);
}
END_TEST

START_TEST(a_graph_is_not_moved_into_itself_or_what_lies_in_it)
{
    CUgraph graph = make_graph(), child = make_graph();
    cxu_graph_node_params self = child_of(graph, CXU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE);
    cxu_graph_node_params neither = child_of(child, 2);
    CUgraphNode node;

    ck_result(cx_emu_call_graph_add_node_v1(&node, graph, NULL, 0, &self), INVALID_VALUE);
    ck_result(cx_emu_call_graph_add_node_v1(&node, graph, NULL, 0, &neither), INVALID_VALUE);
    add(graph, child_of(child, CXU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE), NULL, 0);
    ck_result(cx_emu_call_graph_add_node_v1(&node, child, NULL, 0, &self), INVALID_VALUE);
    ck_assert_uint_eq(count_nodes(child), 0);
    drop(graph);
}
END_TEST

START_TEST(a_graph_inside_a_node_is_not_moved_elsewhere)
{
    CUgraph graph = make_graph(), child = make_graph(), other = make_graph(), inside;
    CUgraphNode node = add(graph, child_of(child, CXU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE), NULL, 0);
    cxu_graph_node_params params;

    ck_success(cx_emu_call_graph_child_graph_node_get_graph(node, &inside));
    params = child_of(inside, CXU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE);
    ck_result(cx_emu_call_graph_add_node_v1(&node, other, NULL, 0, &params), INVALID_VALUE);
    params.of.child.ownership = CXU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE;
    ck_success(cx_emu_call_graph_add_node_v1(&node, other, NULL, 0, &params));
    drop(graph);
    drop(child);
    drop(other);
}
END_TEST

START_TEST(a_description_may_name_another_context)
{
    CUdeviceptr memory = make_memory(BYTES);
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUgraph graph = make_graph();
    CUgraphNode node = add(graph, fill_of(memory, 1), NULL, 0);
    cxu_graph_node_params params = fill_of(memory, 2);
    CUgraphExec exec;

    ck_success(cx_emu_call_ctx_create_v4(&params.of.fill.context, NULL, 0, 0));
    ck_success(cx_emu_call_graph_node_set_params(node, &params));
    exec = make_exec(graph);
    ck_success(cx_emu_call_ctx_destroy(params.of.fill.context));
    ck_result(cx_emu_call_graph_node_set_params(node, &params), INVALID_CONTEXT);
    ck_result(cx_emu_call_graph_launch(exec, stream), CONTEXT_IS_DESTROYED);
    ck_success(cx_emu_call_graph_exec_destroy(exec));
    drop(graph);
}
END_TEST

START_TEST(graphs_nest_only_so_deep)
{
    CUgraph graph = make_graph();
    cxu_result result = CXU_SUCCESS;
    int levels = 1;

    while (result == CXU_SUCCESS && levels < 100000) {
        CUgraph outer = make_graph();
        cxu_graph_node_params params = child_of(graph, CXU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE);
        CUgraphNode node;

        result = cx_emu_call_graph_add_node_v1(&node, outer, NULL, 0, &params);
        if (result == CXU_SUCCESS) {
            graph = outer;
            levels++;
        } else {
            drop(outer);
        }
    }
    ck_assert_int_eq(result, CXU_NOT_SUPPORTED);
    ck_assert_int_eq(levels, 100);
    run_graph(graph);
    drop(graph);
}
END_TEST

START_TEST(a_launch_in_a_capture_nests_only_so_deep)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUgraph graph = make_graph();
    cxu_result result = CXU_SUCCESS;
    int levels = 1;

    while (result == CXU_SUCCESS && levels < 1000) {
        CUgraphExec exec = make_exec(graph);

        drop(graph);
        begin(stream);
        result = cx_emu_call_graph_launch(exec, stream);
        graph = end(stream);
        ck_success(cx_emu_call_graph_exec_destroy(exec));
        levels += result == CXU_SUCCESS;
    }
    ck_assert_int_eq(result, CXU_NOT_SUPPORTED);
    ck_assert_int_eq(levels, 100);
    drop(graph);
}
END_TEST

START_TEST(a_graph_that_could_not_be_moved_stays_the_users)
{
    CUgraph graph = make_graph(), child = make_graph();
    cxu_graph_node_params params = child_of(child, CXU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE);
    CUgraphNode node = NULL;

    ck_result(cx_emu_call_graph_add_node_v1(&node, graph, &node, 1, &params), INVALID_VALUE);
    run_graph(child);
    drop(child);
    drop(graph);
}
END_TEST

static Suite *graph_node_suite(void)
{
    Suite *suite = suite_create("graph_node");
    TCase *tcase = tcase_create("graph_node");

    tcase_add_checked_fixture(tcase, graph_setup, graph_teardown);
    tcase_add_test(tcase, every_type_is_added_by_its_description);
    tcase_add_test(tcase, what_is_unused_must_be_zero);
    tcase_add_test(tcase, types_that_are_not_there_are_not_supported);
    tcase_add_test(tcase, a_node_is_changed_by_its_description);
    tcase_add_test(tcase, a_child_graph_changes_in_executable_graphs_only);
    tcase_add_test(tcase, a_graph_can_be_moved_into_a_node);
    tcase_add_test(tcase, a_graph_is_not_moved_into_itself_or_what_lies_in_it);
    tcase_add_test(tcase, a_graph_inside_a_node_is_not_moved_elsewhere);
    tcase_add_test(tcase, a_description_may_name_another_context);
    tcase_add_test(tcase, graphs_nest_only_so_deep);
    tcase_add_test(tcase, a_launch_in_a_capture_nests_only_so_deep);
    tcase_add_test(tcase, a_graph_that_could_not_be_moved_stays_the_users);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(graph_node_suite);
