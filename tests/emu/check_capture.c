/* Stream capture: what capturing streams write down, and what a launch of it does. */
#include "graph_fixture.h"

#include <string.h>

#define BYTES ((size_t)1 << 10)

static void fill(unsigned char *bytes, size_t count, unsigned char value)
{
    memset(bytes, value, count);
}

static bool all_are(CUdeviceptr memory, unsigned char value)
{
    unsigned char bytes[BYTES];

    read_device(bytes, memory, BYTES);
    for (size_t i = 0; i < BYTES; i++)
        if (bytes[i] != value)
            return false;
    return true;
}

START_TEST(a_capturing_stream_runs_nothing)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUdeviceptr memory = make_memory(BYTES);
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'};
    CUgraph graph;

    ck_success(cx_emu_call_memset_d8(memory, 1, BYTES));
    begin(stream);
    ck_success(cx_emu_call_memset_d8_async(memory, 2, BYTES, stream));
    letter_put(&a, stream);
    graph = end(stream);
    ck_success(cx_emu_call_ctx_synchronize());
    ck_assert(all_are(memory, 1));
    ck_journal(&journal, "");
    run_graph(graph);
    ck_assert(all_are(memory, 2));
    ck_journal(&journal, "a");
    ck_success(cx_emu_call_graph_destroy(graph));
}
END_TEST

START_TEST(what_one_stream_captures_stays_in_its_order)
{
    CUstream stream = make_stream(CXU_STREAM_DEFAULT);
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter letters[8];
    CUgraph graph;

    begin(stream);
    for (int i = 0; i < 8; i++) {
        letters[i] = (graph_letter){&journal, (char)('a' + i)};
        letter_put(&letters[i], stream);
    }
    graph = end(stream);
    ck_assert_uint_eq(count_nodes(graph), 8);
    ck_assert_uint_eq(count_edges(graph), 7);
    run_graph(graph);
    run_graph(graph);
    ck_journal(&journal, "abcdefghabcdefgh");
    ck_success(cx_emu_call_graph_destroy(graph));
}
END_TEST

/* The source is read by each launch: neither staged nor kept. */
START_TEST(copies_of_every_kind_are_captured)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUdeviceptr first = make_memory(BYTES), second = make_memory(BYTES);
    unsigned char in[BYTES], out[BYTES];
    CUgraph graph;

    begin(stream);
    ck_success(cx_emu_call_memcpy_htod_async(first, in, BYTES, stream));
    ck_success(cx_emu_call_memcpy_dtod_async(second, first, BYTES, stream));
    ck_success(cx_emu_call_memcpy_dtoh_async(out, second, BYTES, stream));
    graph = end(stream);
    for (unsigned char value = 5; value < 8; value++) {
        fill(in, BYTES, value);
        fill(out, BYTES, 0);
        run_graph(graph);
        ck_assert_mem_eq(out, in, BYTES);
    }
    ck_success(cx_emu_call_graph_destroy(graph));
}
END_TEST

START_TEST(copies_of_regions_are_captured)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUdeviceptr memory = make_memory(BYTES);
    unsigned char from[4][8], out[BYTES];
    cxu_memcpy_2d copy = {.source_type = CXU_MEMORYTYPE_HOST,
                          .source_host = from,
                          .source_x_bytes = 2,
                          .source_y = 1,
                          .source_pitch_bytes = 8,
                          .destination_type = CXU_MEMORYTYPE_DEVICE,
                          .destination_device = memory,
                          .destination_pitch_bytes = 16,
                          .width_bytes = 3,
                          .height = 2};
    CUgraph graph;

    for (unsigned char i = 0; i < sizeof from; i++)
        from[i / 8][i % 8] = i;
    ck_success(cx_emu_call_memset_d8(memory, 0xee, BYTES));
    ck_success(cx_emu_call_ctx_synchronize());
    begin(stream);
    ck_success(cx_emu_call_memcpy_2d_async(&copy, stream));
    graph = end(stream);
    run_graph(graph);
    read_device(out, memory, BYTES);
    ck_assert_mem_eq(out, &from[1][2], 3);
    ck_assert_mem_eq(out + 16, &from[2][2], 3);
    ck_assert_uint_eq(out[3], 0xee);
    ck_success(cx_emu_call_graph_destroy(graph));
}
END_TEST

START_TEST(fills_of_every_shape_are_captured)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUdeviceptr memory = make_memory(BYTES);
    unsigned char out[BYTES], expected[BYTES] = {0};
    CUgraph graph;

    begin(stream);
    ck_success(cx_emu_call_memset_d8_async(memory, 0, BYTES, stream));
    ck_success(cx_emu_call_memset_d16_async(memory, 0x0102, 2, stream));
    ck_success(cx_emu_call_memset_d32_async(memory + 8, 0x01020304, 1, stream));
    ck_success(cx_emu_call_memset_2d_d8_async(memory + 64, 32, 9, 2, 3, stream));
    graph = end(stream);
    memcpy(expected, "\2\1\2\1", 4);
    memcpy(expected + 8, "\4\3\2\1", 4);
    for (int y = 0; y < 3; y++)
        fill(expected + 64 + 32 * y, 2, 9);
    run_graph(graph);
    read_device(out, memory, BYTES);
    ck_assert_mem_eq(out, expected, BYTES);
    ck_success(cx_emu_call_graph_destroy(graph));
}
END_TEST

START_TEST(a_copy_of_nothing_is_no_node)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUdeviceptr memory = make_memory(BYTES);
    CUgraph graph;

    begin(stream);
    ck_success(cx_emu_call_memcpy_dtod_async(memory, memory, 0, stream));
    ck_success(cx_emu_call_memset_d8_async(memory, 1, 0, stream));
    graph = end(stream);
    ck_assert_uint_eq(count_nodes(graph), 0);
    run_graph(graph);
    ck_success(cx_emu_call_graph_destroy(graph));
}
END_TEST

START_TEST(bad_arguments_are_refused_and_leave_the_capture_as_it_is)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUdeviceptr memory = make_memory(BYTES);
    CUgraph graph;

    begin(stream);
    ck_result(cx_emu_call_memset_d8_async(memory, 1, BYTES + 1, stream), INVALID_VALUE);
    ck_result(cx_emu_call_launch_host_func(stream, NULL, NULL), INVALID_VALUE);
    ck_assert_int_eq(status_of(stream), CXU_STREAM_CAPTURE_STATUS_ACTIVE);
    graph = end(stream);
    ck_assert_uint_eq(count_nodes(graph), 0);
    ck_success(cx_emu_call_graph_destroy(graph));
}
END_TEST

/* ---- forks and joins ---- */

/* G4 */
START_TEST(an_event_forks_and_joins_a_capture)
{
    CUstream first = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream second = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent fork_event = make_event(), join_event = make_event();
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'}, b = {&journal, 'b'}, c = {&journal, 'c'}, d = {&journal, 'd'};
    CUgraphNode nodes[4];
    size_t count = 4;
    CUgraph graph;

    begin(first);
    letter_put(&a, first);
    ck_success(cx_emu_call_event_record(fork_event, first));
    ck_success(cx_emu_call_stream_wait_event(second, fork_event, 0));
    ck_assert_int_eq(status_of(second), CXU_STREAM_CAPTURE_STATUS_ACTIVE);
    letter_put(&b, second);
    ck_success(cx_emu_call_event_record(join_event, second));
    letter_put(&c, first);
    ck_success(cx_emu_call_stream_wait_event(first, join_event, 0));
    ck_success(cx_emu_call_stream_wait_event(first, join_event, 0));
    letter_put(&d, first);
    graph = end(first);
    ck_assert_int_eq(status_of(second), CXU_STREAM_CAPTURE_STATUS_NONE);
    ck_success(cx_emu_call_graph_get_nodes(graph, nodes, &count));
    ck_assert_uint_eq(count, 4);
    ck_assert_uint_eq(count_edges(graph), 4);
    ck_assert(has_edge(graph, nodes[0], nodes[1]));
    ck_assert(has_edge(graph, nodes[0], nodes[2]));
    ck_assert(has_edge(graph, nodes[1], nodes[3]));
    ck_assert(has_edge(graph, nodes[2], nodes[3]));
    run_graph(graph);
    ck_assert_int_eq(journal.letters[0], 'a');
    ck_assert_int_eq(journal.letters[3], 'd');
    ck_success(cx_emu_call_graph_destroy(graph));
}
END_TEST

START_TEST(branches_run_side_by_side)
{
    CUstream first = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream second = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent fork_event = make_event(), join_event = make_event();
    stream_gate gates[2] = {GATE_CLOSED, GATE_CLOSED};
    CUgraphExec exec;
    CUgraph graph;

    begin(first);
    ck_success(cx_emu_call_event_record(fork_event, first));
    ck_success(cx_emu_call_stream_wait_event(second, fork_event, 0));
    gate_put(&gates[0], first);
    gate_put(&gates[1], second);
    ck_success(cx_emu_call_event_record(join_event, second));
    ck_success(cx_emu_call_stream_wait_event(first, join_event, 0));
    graph = end(first);
    exec = make_exec(graph);
    ck_success(cx_emu_call_graph_launch(exec, first));
    gate_wait_entered(&gates[0]);
    gate_wait_entered(&gates[1]);
    ck_result(cx_emu_call_stream_query(first), NOT_READY);
    gate_open(&gates[0]);
    gate_open(&gates[1]);
    ck_success(cx_emu_call_stream_synchronize(first));
    ck_success(cx_emu_call_graph_exec_destroy(exec));
    ck_success(cx_emu_call_graph_destroy(graph));
}
END_TEST

START_TEST(a_stream_of_another_context_may_join)
{
    CUstream first = make_stream(CXU_STREAM_NON_BLOCKING), second;
    CUevent event = make_event(), joining;
    CUdeviceptr memory;
    unsigned char byte;
    CUcontext other;
    CUgraph graph;

    ck_success(cx_emu_call_ctx_create_v4(&other, NULL, 0, 1));
    second = make_stream(CXU_STREAM_NON_BLOCKING);
    joining = make_event();
    memory = make_memory(16);
    begin(first);
    ck_success(cx_emu_call_event_record(event, first));
    ck_success(cx_emu_call_stream_wait_event(second, event, 0));
    ck_success(cx_emu_call_memset_d8_async(memory, 77, 16, second));
    ck_success(cx_emu_call_event_record(joining, second));
    ck_success(cx_emu_call_stream_wait_event(first, joining, 0));
    graph = end(first);
    run_graph(graph);
    read_device(&byte, memory, 1);
    ck_assert_uint_eq(byte, 77);
    ck_success(cx_emu_call_graph_destroy(graph));
    ck_success(cx_emu_call_ctx_destroy(other));
}
END_TEST

START_TEST(work_before_and_after_a_capture_runs_at_once)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter before = {&journal, 'x'}, inside = {&journal, 'c'}, after = {&journal, 'y'};
    CUgraph graph;

    letter_put(&before, stream);
    begin(stream);
    letter_put(&inside, stream);
    graph = end(stream);
    letter_put(&after, stream);
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_journal(&journal, "xy");
    ck_success(cx_emu_call_graph_destroy(graph));
}
END_TEST

START_TEST(the_per_thread_stream_can_capture)
{
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'};
    CUgraph graph;

    begin(CXU_STREAM_PER_THREAD);
    letter_put(&a, CXU_STREAM_PER_THREAD);
    graph = end(CXU_STREAM_PER_THREAD);
    run_graph(graph);
    ck_journal(&journal, "a");
    ck_success(cx_emu_call_graph_destroy(graph));
}
END_TEST

/* ---- nodes that deal with events from outside ---- */

START_TEST(an_external_record_becomes_a_node_that_records_at_each_launch)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    stream_gate gate = GATE_CLOSED;
    CUevent event = make_event(), found;
    CUgraphExec exec;
    CUgraph graph;

    begin(stream);
    gate_put(&gate, stream);
    ck_success(cx_emu_call_event_record_with_flags(event, stream, CXU_EVENT_RECORD_EXTERNAL));
    graph = end(stream);
    ck_success(cx_emu_call_graph_event_record_node_get_event(
        only_node(graph, CXU_GRAPH_NODE_TYPE_EVENT_RECORD), &found));
    ck_assert_ptr_eq(found, event);
    ck_success(cx_emu_call_event_query(event));
    exec = make_exec(graph);
    ck_success(cx_emu_call_graph_launch(exec, stream));
    ck_result(cx_emu_call_event_query(event), NOT_READY);
    gate_open(&gate);
    ck_success(cx_emu_call_event_synchronize(event));
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_success(cx_emu_call_graph_exec_destroy(exec));
    ck_success(cx_emu_call_graph_destroy(graph));
}
END_TEST

START_TEST(an_external_wait_becomes_a_node_that_waits_at_each_launch)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream other = make_stream(CXU_STREAM_NON_BLOCKING);
    stream_gate gate = GATE_CLOSED;
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'};
    CUevent event = make_event();
    CUgraphExec exec;
    CUgraph graph;

    begin(stream);
    ck_success(cx_emu_call_stream_wait_event(stream, event, CXU_EVENT_WAIT_EXTERNAL));
    letter_put(&a, stream);
    graph = end(stream);
    exec = make_exec(graph);
    gate_put(&gate, other);
    ck_success(cx_emu_call_event_record(event, other));
    ck_success(cx_emu_call_graph_launch(exec, stream));
    ck_result(cx_emu_call_stream_query(stream), NOT_READY);
    gate_open(&gate);
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_journal(&journal, "a");
    ck_success(cx_emu_call_graph_exec_destroy(exec));
    ck_success(cx_emu_call_graph_destroy(graph));
}
END_TEST

/* What was submitted after the launch, and finds nothing before it, runs meanwhile. */
START_TEST(an_external_wait_lasts_until_the_event_is_done)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream other = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream third = make_stream(CXU_STREAM_NON_BLOCKING);
    stream_gate gate = GATE_CLOSED;
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'}, x = {&journal, 'x'};
    CUevent event = make_event();
    CUgraph graph;
    CUgraphExec exec;

    begin(stream);
    ck_success(cx_emu_call_stream_wait_event(stream, event, CXU_EVENT_WAIT_EXTERNAL));
    letter_put(&a, stream);
    graph = end(stream);
    exec = make_exec(graph);
    gate_put(&gate, other);
    ck_success(cx_emu_call_event_record(event, other));
    ck_success(cx_emu_call_graph_launch(exec, stream));
    letter_put(&x, third);
    ck_success(cx_emu_call_stream_synchronize(third));
    ck_journal(&journal, "x");
    gate_open(&gate);
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_journal(&journal, "xa");
    ck_success(cx_emu_call_graph_exec_destroy(exec));
    ck_success(cx_emu_call_graph_destroy(graph));
}
END_TEST

START_TEST(external_flags_mean_nothing_outside_a_capture)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();

    ck_result(cx_emu_call_event_record_with_flags(event, stream, CXU_EVENT_RECORD_EXTERNAL),
              INVALID_VALUE);
    ck_result(cx_emu_call_stream_wait_event(stream, event, CXU_EVENT_WAIT_EXTERNAL), INVALID_VALUE);
    ck_result(cx_emu_call_event_record_with_flags(event, stream, 2), INVALID_VALUE);
}
END_TEST

START_TEST(a_launch_in_a_capturing_stream_is_a_child_graph)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'}, b = {&journal, 'b'}, c = {&journal, 'c'};
    CUgraph inner = make_graph(), graph;
    CUgraphExec exec;

    add_letter(inner, &b, NULL, 0);
    exec = make_exec(inner);
    begin(stream);
    letter_put(&a, stream);
    ck_success(cx_emu_call_graph_launch(exec, stream));
    letter_put(&c, stream);
    graph = end(stream);
    ck_success(cx_emu_call_graph_exec_destroy(exec));
    ck_success(cx_emu_call_graph_destroy(inner));
    only_node(graph, CXU_GRAPH_NODE_TYPE_GRAPH);
    run_graph(graph);
    ck_journal(&journal, "abc");
    ck_success(cx_emu_call_graph_destroy(graph));
}
END_TEST

START_TEST(a_launch_in_a_capturing_stream_leaves_out_what_is_switched_off)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUdeviceptr memory = make_memory(BYTES);
    CUgraph inner, graph;
    CUgraphExec exec;

    ck_success(cx_emu_call_memset_d8(memory, 1, BYTES));
    ck_success(cx_emu_call_ctx_synchronize());
    begin(stream);
    ck_success(cx_emu_call_memset_d8_async(memory, 2, BYTES, stream));
    inner = end(stream);
    exec = make_exec(inner);
    ck_success(
        cx_emu_call_graph_node_set_enabled(exec, only_node(inner, CXU_GRAPH_NODE_TYPE_MEMSET), 0));
    begin(stream);
    ck_success(cx_emu_call_graph_launch(exec, stream));
    graph = end(stream);
    run_graph(graph);
    ck_assert(all_are(memory, 1));
    ck_success(cx_emu_call_graph_exec_destroy(exec));
    ck_success(cx_emu_call_graph_destroy(inner));
    ck_success(cx_emu_call_graph_destroy(graph));
}
END_TEST

/* ---- looking at a capture ---- */

START_TEST(a_capture_tells_its_id_its_graph_and_what_comes_next_depends_on)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'};
    cxu_stream_capture_status status;
    const cxu_graph_edge_data *edges;
    const CUgraphNode *nodes;
    uint64_t id, second_id;
    CUgraph graph, ended;
    size_t count;

    begin(stream);
    ck_success(
        cx_emu_call_stream_get_capture_info(stream, &status, &id, &graph, &nodes, &edges, &count));
    ck_assert_int_eq(status, CXU_STREAM_CAPTURE_STATUS_ACTIVE);
    ck_assert_uint_eq(count, 0);
    letter_put(&a, stream);
    ck_success(
        cx_emu_call_stream_get_capture_info(stream, &status, NULL, NULL, &nodes, &edges, &count));
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(type_of(nodes[0]), CXU_GRAPH_NODE_TYPE_HOST);
    ck_assert_uint_eq(edges[0].type, 0);
    ended = end(stream);
    ck_assert_ptr_eq(ended, graph);
    ck_success(cx_emu_call_graph_destroy(ended));
    begin(stream);
    ck_success(cx_emu_call_stream_get_capture_info_v1(stream, &status, &second_id));
    ck_assert_uint_ne(second_id, id);
    ck_success(cx_emu_call_graph_destroy(end(stream)));
    ck_success(cx_emu_call_stream_get_capture_info_v1(stream, &status, &second_id));
    ck_assert_int_eq(status, CXU_STREAM_CAPTURE_STATUS_NONE);
}
END_TEST

START_TEST(info_asks_for_a_status_and_for_nodes_with_their_edges)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    cxu_stream_capture_status status;
    const cxu_graph_edge_data *edges;
    uint64_t id;

    ck_result(cx_emu_call_stream_get_capture_info_v1(stream, NULL, &id), INVALID_VALUE);
    ck_result(cx_emu_call_stream_get_capture_info(stream, &status, &id, NULL, NULL, &edges, NULL),
              INVALID_VALUE);
    ck_result(cx_emu_call_stream_is_capturing(stream, NULL), INVALID_VALUE);
    ck_result(cx_emu_call_stream_end_capture(stream, NULL), ILLEGAL_STATE);
}
END_TEST

START_TEST(the_user_may_add_nodes_and_make_the_stream_depend_on_them)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'}, b = {&journal, 'b'}, c = {&journal, 'c'};
    cxu_stream_capture_status status;
    const CUgraphNode *nodes;
    CUgraphNode own;
    CUgraph graph;
    size_t count;

    begin(stream);
    letter_put(&a, stream);
    ck_success(
        cx_emu_call_stream_get_capture_info_v2(stream, &status, NULL, &graph, &nodes, &count));
    own = add_letter(graph, &b, nodes, count);
    ck_success(cx_emu_call_stream_update_capture_dependencies(stream, &own, NULL, 1,
                                                              CXU_STREAM_SET_CAPTURE_DEPENDENCIES));
    letter_put(&c, stream);
    graph = end(stream);
    ck_assert_uint_eq(count_edges(graph), 2);
    run_graph(graph);
    ck_journal(&journal, "abc");
    ck_success(cx_emu_call_graph_destroy(graph));
}
END_TEST

START_TEST(dependencies_can_be_added_to_those_there_are)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'}, b = {&journal, 'b'}, c = {&journal, 'c'};
    cxu_stream_capture_status status;
    CUgraphNode own, stranger;
    CUgraph graph, other = make_graph();

    stranger = add_letter(other, &a, NULL, 0);
    ck_result(cx_emu_call_stream_update_capture_dependencies_v1(stream, &stranger, 1, 0),
              ILLEGAL_STATE);
    begin(stream);
    letter_put(&a, stream);
    ck_success(cx_emu_call_stream_get_capture_info_v2(stream, &status, NULL, &graph, NULL, NULL));
    own = add_letter(graph, &b, NULL, 0);
    ck_result(cx_emu_call_stream_update_capture_dependencies_v1(stream, &stranger, 1, 0),
              INVALID_VALUE);
    ck_result(cx_emu_call_stream_update_capture_dependencies_v1(stream, &own, 1, 2), INVALID_VALUE);
    ck_success(cx_emu_call_stream_update_capture_dependencies_v1(stream, &own, 1, 0));
    ck_success(cx_emu_call_stream_update_capture_dependencies_v1(stream, &own, 1, 0));
    letter_put(&c, stream);
    graph = end(stream);
    ck_assert_uint_eq(count_edges(graph), 2);
    ck_success(cx_emu_call_graph_destroy(graph));
    ck_success(cx_emu_call_graph_destroy(other));
}
END_TEST

START_TEST(a_stream_can_capture_into_a_graph_that_is_there)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'}, b = {&journal, 'b'};
    CUgraph graph = make_graph(), ended;
    CUgraphNode node = add_letter(graph, &a, NULL, 0);
    CUgraphExec exec;

    ck_success(cx_emu_call_stream_begin_capture_to_graph(stream, graph, &node, NULL, 1,
                                                         CXU_STREAM_CAPTURE_MODE_GLOBAL));
    ck_result(cx_emu_call_graph_instantiate_with_flags(&exec, graph, 0), INVALID_VALUE);
    ck_result(cx_emu_call_graph_destroy(graph), INVALID_VALUE);
    ck_result(cx_emu_call_graph_destroy_node(node), INVALID_VALUE);
    letter_put(&b, stream);
    ended = end(stream);
    ck_assert_ptr_eq(ended, graph);
    ck_assert_uint_eq(count_edges(graph), 1);
    run_graph(graph);
    ck_journal(&journal, "ab");
    ck_success(cx_emu_call_graph_destroy(graph));
}
END_TEST

START_TEST(a_capture_into_a_graph_may_end_without_a_place_for_the_graph)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'};
    CUgraph graph = make_graph();

    ck_success(cx_emu_call_stream_begin_capture_to_graph(stream, graph, NULL, NULL, 0, 0));
    letter_put(&a, stream);
    ck_success(cx_emu_call_stream_end_capture(stream, NULL));
    run_graph(graph);
    ck_journal(&journal, "a");
    ck_success(cx_emu_call_graph_destroy(graph));
    ck_success(cx_emu_call_stream_begin_capture(stream, CXU_STREAM_CAPTURE_MODE_GLOBAL));
    ck_result(cx_emu_call_stream_end_capture(stream, NULL), INVALID_VALUE);
    ck_success(cx_emu_call_graph_destroy(end(stream)));
}
END_TEST

START_TEST(a_graph_is_captured_into_by_one_stream_at_a_time)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream other = make_stream(CXU_STREAM_NON_BLOCKING);
    CUgraph graph = make_graph();

    ck_result(cx_emu_call_stream_begin_capture_to_graph(stream, NULL, NULL, NULL, 0, 0),
              INVALID_VALUE);
    ck_result(cx_emu_call_stream_begin_capture_to_graph(stream, graph, NULL, NULL, 1, 0),
              INVALID_VALUE);
    ck_success(cx_emu_call_stream_begin_capture_to_graph(stream, graph, NULL, NULL, 0, 0));
    ck_result(cx_emu_call_stream_begin_capture_to_graph(other, graph, NULL, NULL, 0, 0),
              ILLEGAL_STATE);
    ck_assert_int_eq(status_of(other), CXU_STREAM_CAPTURE_STATUS_NONE);
    ck_assert_ptr_eq(end(stream), graph);
    ck_success(cx_emu_call_graph_destroy(graph));
}
END_TEST

static Suite *capture_suite(void)
{
    Suite *suite = suite_create("capture");
    TCase *tcase = tcase_create("capture");

    tcase_add_checked_fixture(tcase, graph_setup, graph_teardown);
    tcase_add_test(tcase, a_capturing_stream_runs_nothing);
    tcase_add_test(tcase, what_one_stream_captures_stays_in_its_order);
    tcase_add_test(tcase, copies_of_every_kind_are_captured);
    tcase_add_test(tcase, copies_of_regions_are_captured);
    tcase_add_test(tcase, fills_of_every_shape_are_captured);
    tcase_add_test(tcase, a_copy_of_nothing_is_no_node);
    tcase_add_test(tcase, bad_arguments_are_refused_and_leave_the_capture_as_it_is);
    tcase_add_test(tcase, an_event_forks_and_joins_a_capture);
    tcase_add_test(tcase, a_stream_of_another_context_may_join);
    tcase_add_test(tcase, work_before_and_after_a_capture_runs_at_once);
    tcase_add_test(tcase, the_per_thread_stream_can_capture);
    tcase_add_test(tcase, an_external_record_becomes_a_node_that_records_at_each_launch);
    tcase_add_test(tcase, an_external_wait_becomes_a_node_that_waits_at_each_launch);
    tcase_add_test(tcase, external_flags_mean_nothing_outside_a_capture);
    tcase_add_test(tcase, a_launch_in_a_capturing_stream_is_a_child_graph);
    tcase_add_test(tcase, a_launch_in_a_capturing_stream_leaves_out_what_is_switched_off);
    tcase_add_test(tcase, a_capture_tells_its_id_its_graph_and_what_comes_next_depends_on);
    tcase_add_test(tcase, info_asks_for_a_status_and_for_nodes_with_their_edges);
    tcase_add_test(tcase, the_user_may_add_nodes_and_make_the_stream_depend_on_them);
    tcase_add_test(tcase, dependencies_can_be_added_to_those_there_are);
    tcase_add_test(tcase, a_stream_can_capture_into_a_graph_that_is_there);
    tcase_add_test(tcase, a_capture_into_a_graph_may_end_without_a_place_for_the_graph);
    tcase_add_test(tcase, a_graph_is_captured_into_by_one_stream_at_a_time);
    suite_add_tcase(suite, tcase);

    /* Only with the schedule "threads". */
    tcase = tcase_create("side by side");
    tcase_set_tags(tcase, "pool");
    tcase_add_checked_fixture(tcase, graph_setup, graph_teardown);
    tcase_add_test(tcase, branches_run_side_by_side);
    tcase_add_test(tcase, an_external_wait_lasts_until_the_event_is_done);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(capture_suite);
