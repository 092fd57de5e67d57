/* Graphs made by hand: nodes, edges, and what is asked about them. */
#include "graph_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES ((size_t)1 << 10)

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

static cxu_memset_node_params fill_of(CUdeviceptr memory, unsigned int value, size_t bytes)
{
    return (cxu_memset_node_params){
        .destination = memory, .value = value, .element_bytes = 1, .width = bytes, .height = 1};
}

static CUgraphNode add_fill(CUgraph graph, CUdeviceptr memory, unsigned int value,
                            const CUgraphNode *before, size_t count)
{
    cxu_memset_node_params params = fill_of(memory, value, BYTES);
    CUgraphNode node;

    ck_success(
        cx_emu_call_graph_add_memset_node(&node, graph, before, count, &params, work_context));
    return node;
}

/* ---- life ---- */

START_TEST(a_graph_needs_no_current_context)
{
    CUcontext context;
    CUgraphNode node;
    CUgraph graph;

    ck_success(cx_emu_call_ctx_pop(&context));
    graph = make_graph();
    node = add_empty(graph, NULL, 0);
    ck_assert_int_eq(type_of(node), CXU_GRAPH_NODE_TYPE_EMPTY);
    drop(graph);
    ck_success(cx_emu_call_ctx_push(context));
}
END_TEST

START_TEST(a_graph_is_created_without_flags)
{
    CUgraph graph;

    ck_result(cx_emu_call_graph_create(NULL, 0), INVALID_VALUE);
    ck_result(cx_emu_call_graph_create(&graph, 1), INVALID_VALUE);
}
END_TEST

START_TEST(stale_and_foreign_handles_are_refused)
{
    CUgraph graph = make_graph(), clone;
    CUgraphNode node = add_empty(graph, NULL, 0), other;
    cxu_graph_node_type type;
    size_t count;
    void *garbage[] = {NULL, (void *)1, (void *)-1, &count, node, (char *)(void *)graph + 8};

    for (size_t i = 0; i < sizeof garbage / sizeof garbage[0]; i++) {
        CUgraph bad = garbage[i];

        ck_result(cx_emu_call_graph_destroy(bad), INVALID_VALUE);
        ck_result(cx_emu_call_graph_clone(&clone, bad), INVALID_VALUE);
        ck_result(cx_emu_call_graph_get_nodes(bad, NULL, &count), INVALID_VALUE);
        ck_result(cx_emu_call_graph_add_empty_node(&other, bad, NULL, 0), INVALID_VALUE);
    }
    garbage[4] = graph;
    for (size_t i = 0; i < sizeof garbage / sizeof garbage[0]; i++) {
        CUgraphNode bad = garbage[i];

        ck_result(cx_emu_call_graph_destroy_node(bad), INVALID_VALUE);
        ck_result(cx_emu_call_graph_node_get_type(bad, &type), INVALID_VALUE);
        ck_result(cx_emu_call_graph_add_empty_node(&other, graph, &bad, 1), INVALID_VALUE);
    }
    drop(graph);
    ck_result(cx_emu_call_graph_destroy(graph), INVALID_VALUE);
    ck_result(cx_emu_call_graph_node_get_type(node, &type), INVALID_VALUE);
    ck_result(cx_emu_call_graph_destroy_node(node), INVALID_VALUE);
}
END_TEST

START_TEST(a_node_depends_on_nodes_of_its_own_graph_each_once)
{
    CUgraph graph = make_graph(), other = make_graph();
    CUgraphNode a = add_empty(graph, NULL, 0), stranger = add_empty(other, NULL, 0), node;
    CUgraphNode twice[] = {a, a};

    add_empty(graph, NULL, 0);

    ck_result(cx_emu_call_graph_add_empty_node(&node, graph, &stranger, 1), INVALID_VALUE);
    ck_result(cx_emu_call_graph_add_empty_node(&node, graph, twice, 2), INVALID_VALUE);
    ck_result(cx_emu_call_graph_add_empty_node(&node, graph, NULL, 1), INVALID_VALUE);
    ck_result(cx_emu_call_graph_add_empty_node(NULL, graph, NULL, 0), INVALID_VALUE);
    ck_result(cx_emu_call_graph_add_empty_node(&node, graph, &a, SIZE_MAX), INVALID_VALUE);
    ck_assert_uint_eq(count_nodes(graph), 2);
    drop(graph);
    drop(other);
}
END_TEST

START_TEST(destroying_a_node_takes_its_edges_along)
{
    CUgraph graph = make_graph();
    CUgraphNode a = add_empty(graph, NULL, 0), b = add_empty(graph, &a, 1);
    CUgraphNode c = add_empty(graph, &b, 1), roots[3];
    size_t count = 3;

    ck_success(cx_emu_call_graph_destroy_node(b));
    ck_assert_uint_eq(count_nodes(graph), 2);
    ck_assert_uint_eq(count_edges(graph), 0);
    ck_success(cx_emu_call_graph_get_root_nodes(graph, roots, &count));
    ck_assert_uint_eq(count, 2);
    ck_assert_ptr_eq(roots[0], a);
    ck_assert_ptr_eq(roots[1], c);
    ck_assert_ptr_null(roots[2]);
    drop(graph);
}
END_TEST

/* ---- what nodes do ---- */

START_TEST(nodes_run_behind_what_they_depend_on)
{
    CUgraph graph = make_graph();
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'}, b = {&journal, 'b'}, c = {&journal, 'c'}, d = {&journal, 'd'};
    CUgraphNode last = add_letter(graph, &d, NULL, 0), second = add_letter(graph, &b, NULL, 0);
    CUgraphNode first = add_letter(graph, &a, NULL, 0), third = add_letter(graph, &c, NULL, 0);
    CUgraphNode from[] = {first, second, third}, to[] = {second, third, last};

    ck_success(cx_emu_call_graph_add_dependencies_v1(graph, from, to, 3));
    run_graph(graph);
    ck_journal(&journal, "abcd");
    drop(graph);
}
END_TEST

START_TEST(copies_and_fills_are_nodes)
{
    CUdeviceptr one = make_memory(BYTES), two = make_memory(BYTES);
    cxu_memcpy_3d copy = copy_between(two, one, BYTES), found_copy;
    cxu_memset_node_params found_fill;
    unsigned char bytes[BYTES];
    CUgraph graph = make_graph();
    CUgraphNode fill = add_fill(graph, one, 0x42, NULL, 0), node;

    ck_success(cx_emu_call_graph_add_memcpy_node(&node, graph, &fill, 1, &copy, work_context));
    ck_success(cx_emu_call_graph_memcpy_node_get_params(node, &found_copy));
    ck_assert_mem_eq(&found_copy, &copy, sizeof copy);
    ck_success(cx_emu_call_graph_memset_node_get_params(fill, &found_fill));
    ck_assert_uint_eq(found_fill.destination, one);
    ck_assert_uint_eq(found_fill.value, 0x42);
    ck_assert_uint_eq(found_fill.width, BYTES);
    run_graph(graph);
    read_device(bytes, two, BYTES);
    for (size_t i = 0; i < BYTES; i++)
        ck_assert_uint_eq(bytes[i], 0x42);
    drop(graph);
}
END_TEST

START_TEST(a_copy_of_three_dimensions_is_a_node)
{
    CUdeviceptr memory = make_memory(BYTES);
    unsigned char from[2][3][4], out[2][3][4] = {{{0}}};
    cxu_memcpy_3d in_copy = {.source_type = CXU_MEMORYTYPE_HOST,
                             .source_host = from,
                             .destination_type = CXU_MEMORYTYPE_DEVICE,
                             .destination_device = memory,
                             .destination_pitch_bytes = 16,
                             .destination_height = 8,
                             .width_bytes = 4,
                             .height = 3,
                             .depth = 2};
    cxu_memcpy_3d out_copy = {.source_type = CXU_MEMORYTYPE_DEVICE,
                              .source_device = memory,
                              .source_pitch_bytes = 16,
                              .source_height = 8,
                              .destination_type = CXU_MEMORYTYPE_HOST,
                              .destination_host = out,
                              .width_bytes = 4,
                              .height = 3,
                              .depth = 2};
    CUgraph graph = make_graph();
    CUgraphNode in_node, out_node;

    memset(from, 7, sizeof from);
    from[1][2][3] = 9;
    ck_success(cx_emu_call_graph_add_memcpy_node(&in_node, graph, NULL, 0, &in_copy, work_context));
    ck_success(
        cx_emu_call_graph_add_memcpy_node(&out_node, graph, &in_node, 1, &out_copy, work_context));
    run_graph(graph);
    ck_assert_mem_eq(out, from, sizeof from);
    drop(graph);
}
END_TEST

START_TEST(a_host_node_without_a_function_does_nothing)
{
    const cxu_host_node_params no_function = {NULL, NULL};
    CUgraph graph = make_graph();
    CUgraphNode node;

    ck_success(cx_emu_call_graph_add_host_node(&node, graph, NULL, 0, &no_function));
    ck_result(cx_emu_call_graph_host_node_set_params(node, &no_function), INVALID_VALUE);
    run_graph(graph);
    drop(graph);
}
END_TEST

START_TEST(what_cannot_be_done_is_no_node)
{
    CUdeviceptr memory = make_memory(BYTES);
    cxu_memcpy_3d copy = copy_between(memory, memory, BYTES), bad_copy;
    cxu_memset_node_params fill = fill_of(memory, 1, BYTES), bad_fill;
    CUgraph graph = make_graph();
    CUgraphNode node;

    bad_copy = copy;
    bad_copy.width_bytes = BYTES + 1;
    ck_result(cx_emu_call_graph_add_memcpy_node(&node, graph, NULL, 0, &bad_copy, work_context),
              INVALID_VALUE);
    bad_copy.width_bytes = 0;
    ck_result(cx_emu_call_graph_add_memcpy_node(&node, graph, NULL, 0, &bad_copy, work_context),
              INVALID_VALUE);
    bad_copy = copy;
    bad_copy.source_type = CXU_MEMORYTYPE_ARRAY; /* and there is no array */
    ck_result(cx_emu_call_graph_add_memcpy_node(&node, graph, NULL, 0, &bad_copy, work_context),
              INVALID_VALUE);
    ck_result(cx_emu_call_graph_add_memcpy_node(&node, graph, NULL, 0, NULL, work_context),
              INVALID_VALUE);
    ck_result(cx_emu_call_graph_add_memcpy_node(&node, graph, NULL, 0, &copy, NULL),
              INVALID_CONTEXT);
    bad_fill = fill;
    bad_fill.element_bytes = 3;
    ck_result(cx_emu_call_graph_add_memset_node(&node, graph, NULL, 0, &bad_fill, work_context),
              INVALID_VALUE);
    bad_fill = fill;
    bad_fill.height = 0;
    ck_result(cx_emu_call_graph_add_memset_node(&node, graph, NULL, 0, &bad_fill, work_context),
              INVALID_VALUE);
    bad_fill = fill;
    bad_fill.destination = 0;
    ck_result(cx_emu_call_graph_add_memset_node(&node, graph, NULL, 0, &bad_fill, work_context),
              INVALID_VALUE);
    ck_result(cx_emu_call_graph_add_host_node(&node, graph, NULL, 0, NULL), INVALID_VALUE);
    ck_result(cx_emu_call_graph_add_event_wait_node(&node, graph, NULL, 0, NULL), INVALID_VALUE);
    ck_result(cx_emu_call_graph_add_child_graph_node(&node, graph, NULL, 0, NULL), INVALID_VALUE);
    ck_assert_uint_eq(count_nodes(graph), 0);
    drop(graph);
}
END_TEST

START_TEST(nodes_of_events_name_their_event)
{
    CUevent event = make_event(), other = make_event(), found;
    CUgraph graph = make_graph();
    CUgraphNode record, wait;

    ck_success(cx_emu_call_graph_add_event_record_node(&record, graph, NULL, 0, event));
    ck_success(cx_emu_call_graph_add_event_wait_node(&wait, graph, NULL, 0, event));
    ck_result(cx_emu_call_graph_event_wait_node_get_event(record, &found), INVALID_VALUE);
    ck_success(cx_emu_call_graph_event_wait_node_set_event(wait, other));
    ck_success(cx_emu_call_graph_event_wait_node_get_event(wait, &found));
    ck_assert_ptr_eq(found, other);
    ck_success(cx_emu_call_graph_event_record_node_set_event(record, other));
    ck_success(cx_emu_call_graph_event_record_node_get_event(record, &found));
    ck_assert_ptr_eq(found, other);
    ck_result(cx_emu_call_graph_event_record_node_set_event(record, NULL), INVALID_HANDLE);
    drop(graph);
}
END_TEST

START_TEST(what_a_node_does_can_be_changed)
{
    CUdeviceptr one = make_memory(BYTES), two = make_memory(BYTES);
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'}, b = {&journal, 'b'};
    const cxu_host_node_params write_b = {letter_write, &b};
    cxu_host_node_params found;
    cxu_memset_node_params fill = fill_of(two, 5, 1);
    cxu_memcpy_3d copy = copy_between(one, two, 1);
    unsigned char byte;
    CUgraph graph = make_graph();
    CUgraphNode host = add_letter(graph, &a, NULL, 0), set = add_fill(graph, one, 1, &host, 1);
    CUgraphNode move;

    ck_success(cx_emu_call_graph_add_memcpy_node(&move, graph, &set, 1,
                                                 &(cxu_memcpy_3d){.source_type = 2,
                                                                  .source_device = one,
                                                                  .destination_type = 2,
                                                                  .destination_device = two,
                                                                  .width_bytes = 9,
                                                                  .height = 1,
                                                                  .depth = 1},
                                                 work_context));
    ck_success(cx_emu_call_graph_host_node_set_params(host, &write_b));
    ck_success(cx_emu_call_graph_host_node_get_params(host, &found));
    ck_assert_ptr_eq(found.user_data, &b);
    ck_success(cx_emu_call_graph_memset_node_set_params(set, &fill));
    ck_success(cx_emu_call_graph_memcpy_node_set_params(move, &copy));
    ck_result(cx_emu_call_graph_memset_node_set_params(move, &fill), INVALID_VALUE);
    ck_result(cx_emu_call_graph_memset_node_set_params(set, NULL), INVALID_VALUE);
    ck_result(cx_emu_call_graph_memcpy_node_set_params(move, NULL), INVALID_VALUE);
    ck_result(cx_emu_call_graph_host_node_set_params(host, NULL), INVALID_VALUE);
    ck_result(cx_emu_call_graph_host_node_get_params(host, NULL), INVALID_VALUE);
    run_graph(graph);
    ck_journal(&journal, "b");
    read_device(&byte, one, 1);
    ck_assert_uint_eq(byte, 5);
    drop(graph);
}
END_TEST

/* ---- edges and lists ---- */

START_TEST(an_edge_is_added_once_and_removed_once)
{
    CUgraph graph = make_graph();
    CUgraphNode a = add_empty(graph, NULL, 0), b = add_empty(graph, NULL, 0);
    const cxu_graph_edge_data programmatic = {.type = 1}, plain = {0};

    ck_success(cx_emu_call_graph_add_dependencies(graph, &a, &b, &plain, 1));
    ck_assert(has_edge(graph, a, b));
    ck_result(cx_emu_call_graph_add_dependencies_v1(graph, &a, &b, 1), INVALID_VALUE);
    ck_result(cx_emu_call_graph_add_dependencies_v1(graph, &a, &a, 1), INVALID_VALUE);
    ck_result(cx_emu_call_graph_add_dependencies(graph, &b, &a, &programmatic, 1), INVALID_VALUE);
    ck_result(cx_emu_call_graph_add_dependencies_v1(graph, NULL, &a, 1), INVALID_VALUE);
    ck_success(cx_emu_call_graph_add_dependencies_v1(graph, NULL, NULL, 0));
    ck_success(cx_emu_call_graph_remove_dependencies(graph, &a, &b, NULL, 1));
    ck_result(cx_emu_call_graph_remove_dependencies_v1(graph, &a, &b, 1), INVALID_VALUE);
    ck_assert_uint_eq(count_edges(graph), 0);
    drop(graph);
}
END_TEST

START_TEST(edges_are_added_and_removed_all_or_none)
{
    CUgraph graph = make_graph();
    CUgraphNode a = add_empty(graph, NULL, 0), b = add_empty(graph, NULL, 0);
    CUgraphNode c = add_empty(graph, &b, 1);
    CUgraphNode from[] = {a, a, b}, to[] = {b, c, c};

    ck_result(cx_emu_call_graph_add_dependencies_v1(graph, from, to, 3), INVALID_VALUE);
    ck_assert_uint_eq(count_edges(graph), 1);
    ck_assert(has_edge(graph, b, c));
    ck_success(cx_emu_call_graph_add_dependencies_v1(graph, from, to, 2));
    ck_success(cx_emu_call_graph_remove_dependencies_v1(graph, &a, &b, 1));
    ck_result(cx_emu_call_graph_remove_dependencies_v1(graph, to, from, 1), INVALID_VALUE);
    from[0] = a, to[0] = c, from[1] = a, to[1] = b;
    ck_result(cx_emu_call_graph_remove_dependencies_v1(graph, from, to, 2), INVALID_VALUE);
    ck_assert_uint_eq(count_edges(graph), 2);
    from[1] = a, to[1] = c;
    ck_result(cx_emu_call_graph_remove_dependencies_v1(graph, from, to, 2), INVALID_VALUE);
    ck_assert_uint_eq(count_edges(graph), 2);
    drop(graph);
}
END_TEST

START_TEST(lists_fill_the_room_there_is)
{
    CUgraph graph = make_graph();
    CUgraphNode a = add_empty(graph, NULL, 0), b = add_empty(graph, &a, 1);
    CUgraphNode both[] = {a, b}, c = add_empty(graph, both, 2);
    CUgraphNode nodes[4] = {NULL}, from[4], to[4];
    cxu_graph_edge_data edges[4];
    size_t count = 1;

    ck_success(cx_emu_call_graph_get_nodes(graph, nodes, &count));
    ck_assert_uint_eq(count, 1);
    ck_assert_ptr_eq(nodes[0], a);
    ck_assert_ptr_null(nodes[1]);
    nodes[3] = a;
    count = 4;
    ck_success(cx_emu_call_graph_get_nodes(graph, nodes, &count));
    ck_assert_uint_eq(count, 3);
    ck_assert_ptr_eq(nodes[2], c);
    ck_assert_ptr_null(nodes[3]);
    count = 4;
    memset(edges, 1, sizeof edges);
    ck_success(cx_emu_call_graph_get_edges(graph, from, to, edges, &count));
    ck_assert_uint_eq(count, 3);
    ck_assert_uint_eq(edges[0].type, 0);
    ck_assert_ptr_null(from[3]);
    ck_success(cx_emu_call_graph_get_edges_v1(graph, NULL, NULL, &count));
    ck_assert_uint_eq(count, 3);
    ck_result(cx_emu_call_graph_get_edges_v1(graph, from, NULL, &count), INVALID_VALUE);
    ck_result(cx_emu_call_graph_get_edges(graph, NULL, NULL, edges, &count), INVALID_VALUE);
    ck_result(cx_emu_call_graph_get_nodes(graph, nodes, NULL), INVALID_VALUE);
    drop(graph);
}
END_TEST

START_TEST(a_node_tells_its_neighbours)
{
    CUgraph graph = make_graph();
    CUgraphNode a = add_empty(graph, NULL, 0), b = add_empty(graph, NULL, 0);
    CUgraphNode both[] = {b, a}, c = add_empty(graph, both, 2), found[3];
    cxu_graph_edge_data edges[3];
    size_t count = 3;

    ck_success(cx_emu_call_graph_node_get_dependencies(c, found, edges, &count));
    ck_assert_uint_eq(count, 2);
    ck_assert_ptr_eq(found[0], b);
    ck_assert_ptr_eq(found[1], a);
    count = 3;
    ck_success(cx_emu_call_graph_node_get_dependent_nodes_v1(a, found, &count));
    ck_assert_uint_eq(count, 1);
    ck_assert_ptr_eq(found[0], c);
    ck_success(cx_emu_call_graph_node_get_dependencies_v1(a, NULL, &count));
    ck_assert_uint_eq(count, 0);
    ck_success(cx_emu_call_graph_node_get_dependent_nodes(c, NULL, NULL, &count));
    ck_assert_uint_eq(count, 0);
    ck_result(cx_emu_call_graph_node_get_dependencies(c, NULL, edges, &count), INVALID_VALUE);
    ck_result(cx_emu_call_graph_node_get_dependencies(NULL, NULL, NULL, &count), INVALID_VALUE);
    drop(graph);
}
END_TEST

/* ---- text ---- */

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 16384);

    ck_assert_ptr_nonnull(file);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_lt(fread(text, 1, 16383, file), 16383);
    fclose(file);
    return text;
}

static size_t count_in(const char *text, const char *word)
{
    size_t count = 0;

    for (const char *at = text; (at = strstr(at, word)); at++)
        count++;
    return count;
}

START_TEST(a_graph_is_printed_for_graphviz)
{
    CUdeviceptr memory = make_memory(BYTES);
    cxu_memcpy_3d copy = copy_between(memory, memory + 16, 16);
    CUgraph child = make_graph(), graph = make_graph();
    CUgraphNode fill = add_fill(graph, memory, 1, NULL, 0), node;
    char path[] = "/tmp/ctxrt-dot-XXXXXX";
    int file = mkstemp(path);
    char *text;

    ck_assert_int_ge(file, 0);
    close(file);
    add_empty(child, NULL, 0);
    ck_success(cx_emu_call_graph_add_memcpy_node(&node, graph, &fill, 1, &copy, work_context));
    add_child(graph, child, &node, 1);
    ck_success(cx_emu_call_graph_debug_dot_print(graph, path, 0));
    text = read_file(path);
    ck_assert_int_eq(strncmp(text, "digraph dot {\n", 14), 0);
    ck_assert_uint_eq(count_in(text, "subgraph"), 2);
    ck_assert_uint_eq(count_in(text, "MEMSET"), 1);
    ck_assert_uint_eq(count_in(text, "DtoD"), 1);
    ck_assert_uint_eq(count_in(text, " bytes"), 0);
    ck_assert_uint_eq(count_in(text, "EMPTY"), 1);
    ck_assert_uint_eq(count_in(text, " -> "), 3);
    ck_assert_uint_eq(count_in(text, "{"), count_in(text, "}"));
    free(text);
    ck_success(cx_emu_call_graph_debug_dot_print(graph, path, CXU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE));
    text = read_file(path);
    ck_assert_uint_eq(count_in(text, "16 x 1 x 1 bytes"), 1);
    free(text);
    unlink(path);
    drop(child);
    drop(graph);
}
END_TEST

START_TEST(a_graph_is_not_printed_where_it_cannot_be)
{
    CUgraph graph = make_graph();

    ck_result(cx_emu_call_graph_debug_dot_print(graph, "/nonexistent/folder/file", 0),
              OPERATING_SYSTEM);
    ck_result(cx_emu_call_graph_debug_dot_print(graph, "/dev/full", 0), OPERATING_SYSTEM);
    ck_result(cx_emu_call_graph_debug_dot_print(graph, NULL, 0), INVALID_VALUE);
    ck_result(cx_emu_call_graph_debug_dot_print(graph, "/dev/null", 1 << 16), INVALID_VALUE);
    ck_result(cx_emu_call_graph_debug_dot_print(NULL, "/dev/null", 0), INVALID_VALUE);
    drop(graph);
}
END_TEST

static Suite *graph_suite(void)
{
    Suite *suite = suite_create("graph");
    TCase *tcase = tcase_create("graph");

    tcase_add_checked_fixture(tcase, graph_setup, graph_teardown);
    tcase_add_test(tcase, a_graph_needs_no_current_context);
    tcase_add_test(tcase, a_graph_is_created_without_flags);
    tcase_add_test(tcase, stale_and_foreign_handles_are_refused);
    tcase_add_test(tcase, a_node_depends_on_nodes_of_its_own_graph_each_once);
    tcase_add_test(tcase, destroying_a_node_takes_its_edges_along);
    tcase_add_test(tcase, nodes_run_behind_what_they_depend_on);
    tcase_add_test(tcase, copies_and_fills_are_nodes);
    tcase_add_test(tcase, a_copy_of_three_dimensions_is_a_node);
    tcase_add_test(tcase, a_host_node_without_a_function_does_nothing);
    tcase_add_test(tcase, what_cannot_be_done_is_no_node);
    tcase_add_test(tcase, nodes_of_events_name_their_event);
    tcase_add_test(tcase, what_a_node_does_can_be_changed);
    tcase_add_test(tcase, an_edge_is_added_once_and_removed_once);
    tcase_add_test(tcase, edges_are_added_and_removed_all_or_none);
    tcase_add_test(tcase, lists_fill_the_room_there_is);
    tcase_add_test(tcase, a_node_tells_its_neighbours);
    tcase_add_test(tcase, a_graph_is_printed_for_graphviz);
    tcase_add_test(tcase, a_graph_is_not_printed_where_it_cannot_be);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(graph_suite);
