/* Copies of graphs, and graphs inside graphs. */
#include "graph_fixture.h"

static CUgraphNode add_empty(CUgraph graph, const CUgraphNode *before, size_t count)
{
    CUgraphNode node;

    ck_success(cx_emu_call_graph_add_empty_node(&node, graph, before, count));
    return node;
}

static CUgraphNode add_child(CUgraph graph, CUgraph child, const CUgraphNode *before, size_t count)
{
    CUgraphNode node;

    ck_success(cx_emu_call_graph_add_child_graph_node(&node, graph, before, count, child));
    return node;
}

START_TEST(a_clone_does_not_follow_its_original)
{
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'}, b = {&journal, 'b'}, c = {&journal, 'c'};
    const cxu_host_node_params write_c = {letter_write, &c};
    CUgraph graph = make_graph(), clone;
    CUgraphNode first = add_letter(graph, &a, NULL, 0), second = add_letter(graph, &b, &first, 1);
    CUgraphNode cloned_first, cloned_second;

    ck_success(cx_emu_call_graph_clone(&clone, graph));
    ck_success(cx_emu_call_graph_node_find_in_clone(&cloned_first, first, clone));
    ck_success(cx_emu_call_graph_node_find_in_clone(&cloned_second, second, clone));
    ck_assert_ptr_ne(cloned_first, first);
    ck_assert(has_edge(clone, cloned_first, cloned_second));
    ck_success(cx_emu_call_graph_host_node_set_params(first, &write_c));
    run_graph(clone);
    ck_journal(&journal, "ab");
    drop(graph);
    run_graph(clone);
    ck_journal(&journal, "abab");
    ck_result(cx_emu_call_graph_node_find_in_clone(&cloned_first, first, clone), INVALID_VALUE);
    drop(clone);
}
END_TEST

START_TEST(only_nodes_of_the_original_are_found_in_a_clone)
{
    CUgraph graph = make_graph(), clone, second;
    CUgraphNode node = add_empty(graph, NULL, 0), later, found;

    ck_success(cx_emu_call_graph_clone(&clone, graph));
    ck_success(cx_emu_call_graph_clone(&second, clone));
    later = add_empty(graph, NULL, 0);
    ck_result(cx_emu_call_graph_node_find_in_clone(&found, later, clone), INVALID_VALUE);
    ck_result(cx_emu_call_graph_node_find_in_clone(&found, node, second), INVALID_VALUE);
    ck_result(cx_emu_call_graph_node_find_in_clone(&found, node, graph), INVALID_VALUE);
    ck_result(cx_emu_call_graph_node_find_in_clone(NULL, node, clone), INVALID_VALUE);
    ck_success(cx_emu_call_graph_node_find_in_clone(&found, node, clone));
    ck_success(cx_emu_call_graph_destroy_node(found));
    ck_result(cx_emu_call_graph_node_find_in_clone(&found, node, clone), INVALID_VALUE);
    drop(graph);
    drop(clone);
    drop(second);
}
END_TEST

START_TEST(a_child_graph_runs_as_one_node)
{
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'}, b = {&journal, 'b'}, c = {&journal, 'c'}, d = {&journal, 'd'};
    CUgraph child = make_graph(), graph = make_graph(), inside;
    CUgraphNode before, node, within;

    within = add_letter(child, &b, NULL, 0);
    add_letter(child, &c, &within, 1);
    before = add_letter(graph, &a, NULL, 0);
    node = add_child(graph, child, &before, 1);
    add_letter(graph, &d, &node, 1);
    drop(child);
    run_graph(graph);
    ck_journal(&journal, "abcd");
    ck_success(cx_emu_call_graph_child_graph_node_get_graph(node, &inside));
    ck_assert_uint_eq(count_nodes(inside), 2);
    ck_result(cx_emu_call_graph_child_graph_node_get_graph(before, &inside), INVALID_VALUE);
    ck_result(cx_emu_call_graph_destroy(inside), INVALID_VALUE);
    drop(graph);
    ck_result(cx_emu_call_graph_get_nodes(inside, NULL, &(size_t){0}), INVALID_VALUE);
}
END_TEST

START_TEST(the_graph_inside_a_node_can_be_changed)
{
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'}, b = {&journal, 'b'};
    CUgraph child = make_graph(), graph = make_graph(), inside;
    CUgraphNode node = add_child(graph, child, NULL, 0), after = add_letter(graph, &b, &node, 1);

    ck_assert_int_eq(type_of(after), CXU_GRAPH_NODE_TYPE_HOST);
    run_graph(graph);
    ck_journal(&journal, "b");
    ck_success(cx_emu_call_graph_child_graph_node_get_graph(node, &inside));
    add_letter(inside, &a, NULL, 0);
    run_graph(graph);
    ck_journal(&journal, "bab");
    ck_assert_uint_eq(count_nodes(child), 0);
    drop(graph);
    drop(child);
}
END_TEST

START_TEST(what_comes_behind_a_child_graph_comes_behind_its_last_node)
{
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter letters[8], z = {&journal, 'z'};
    CUgraph child = make_graph(), graph = make_graph();
    CUgraphNode node = NULL;

    for (int i = 0; i < 8; i++) {
        letters[i] = (graph_letter){&journal, (char)('a' + i)};
        node = add_letter(child, &letters[i], i > 0 ? &node : NULL, i > 0);
    }
    node = add_child(graph, child, NULL, 0);
    add_letter(graph, &z, &node, 1);
    run_graph(graph);
    ck_journal(&journal, "abcdefghz");
    drop(graph);
    drop(child);
}
END_TEST

START_TEST(what_comes_behind_an_empty_child_graph_comes_behind_what_is_before_it)
{
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter letters[8], z = {&journal, 'z'};
    CUgraph child = make_graph(), graph = make_graph();
    CUgraphNode node = NULL;

    for (int i = 0; i < 8; i++) {
        letters[i] = (graph_letter){&journal, (char)('a' + i)};
        node = add_letter(graph, &letters[i], i > 0 ? &node : NULL, i > 0);
    }
    node = add_child(graph, child, &node, 1);
    add_letter(graph, &z, &node, 1);
    run_graph(graph);
    ck_journal(&journal, "abcdefghz");
    drop(graph);
    drop(child);
}
END_TEST

START_TEST(child_graphs_nest)
{
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'}, z = {&journal, 'z'};
    CUgraph graph = make_graph(), clone;

    add_letter(graph, &a, NULL, 0);
    for (int i = 0; i < 5; i++) {
        CUgraph outer = make_graph();
        CUgraphNode node = add_child(outer, graph, NULL, 0);

        add_letter(outer, &z, &node, 1);
        drop(graph);
        graph = outer;
    }
    ck_success(cx_emu_call_graph_clone(&clone, graph));
    drop(graph);
    run_graph(clone);
    ck_journal(&journal, "azzzzz");
    drop(clone);
}
END_TEST

static Suite *graph_copy_suite(void)
{
    Suite *suite = suite_create("graph_copy");
    TCase *tcase = tcase_create("graph_copy");

    tcase_add_checked_fixture(tcase, graph_setup, graph_teardown);
    tcase_add_test(tcase, a_clone_does_not_follow_its_original);
    tcase_add_test(tcase, only_nodes_of_the_original_are_found_in_a_clone);
    tcase_add_test(tcase, a_child_graph_runs_as_one_node);
    tcase_add_test(tcase, the_graph_inside_a_node_can_be_changed);
    tcase_add_test(tcase, what_comes_behind_a_child_graph_comes_behind_its_last_node);
    tcase_add_test(tcase, what_comes_behind_an_empty_child_graph_comes_behind_what_is_before_it);
    tcase_add_test(tcase, child_graphs_nest);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(graph_copy_suite);
