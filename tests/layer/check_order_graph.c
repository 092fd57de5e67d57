/*
 * The layer check compares the nodes of a graph's launch with each other, with other launches and
 * with work of streams.
 */
#include "layer/check/order_graph.h"
#include "layer/ordering.h"

#include <stdlib.h>

enum { HALF = BYTES / 2 };

static CUgraph graph;
static CUdeviceptr rest; /* the second half of the memory */
static CUstream third;

/* One piece of work at a time: the programs here race on purpose. */
static void set_up_graph(void)
{
    ck_assert_int_eq(setenv("CTXRT_EMU_SCHEDULE", "lazy", 1), 0);
    set_up();
    rest = memory + HALF;
    GOOD(table.stream_create(&third, CXU_STREAM_NON_BLOCKING));
    GOOD(table.graph_create(&graph, 0));
}

/* ---- nodes ---- */

static CUgraphNode add_fill(CUgraph to, CUdeviceptr at, CUgraphNode before)
{
    const cxu_memset_node_params fill = {
        .destination = at, .element_bytes = 1, .width = HALF, .height = 1};
    CUgraphNode node;
    GOOD(table.graph_add_memset_node(&node, to, &before, before != NULL, &fill, here));
    return node;
}

/* Reads the first half and writes the other one. */
static CUgraphNode add_copy(CUgraph to, CUgraphNode before)
{
    const cxu_memcpy_3d copy = {.source_type = CXU_MEMORYTYPE_DEVICE,
                                .source_device = memory,
                                .destination_type = CXU_MEMORYTYPE_DEVICE,
                                .destination_device = rest,
                                .width_bytes = HALF,
                                .height = 1,
                                .depth = 1};
    CUgraphNode node;
    GOOD(table.graph_add_memcpy_node(&node, to, &before, before != NULL, &copy, here));
    return node;
}

static CUgraphNode add_empty(CUgraph to, CUgraphNode before)
{
    CUgraphNode node;
    GOOD(table.graph_add_empty_node(&node, to, &before, 1));
    return node;
}

static CUgraphNode add_empty_behind(CUgraphNode one, CUgraphNode other)
{
    CUgraphNode node;
    GOOD(table.graph_add_empty_node(&node, graph, (const CUgraphNode[]){one, other}, 2));
    return node;
}

/* The child fills `at`. */
static CUgraphNode add_child(CUgraph to, CUdeviceptr at, CUgraphNode before)
{
    CUgraph child;
    CUgraphNode node;
    GOOD(table.graph_create(&child, 0));
    (void)add_fill(child, at, NULL);
    GOOD(table.graph_add_child_graph_node(&node, to, &before, before != NULL, child));
    GOOD(table.graph_destroy(child));
    return node;
}

/* Runs its body if the value is not 0. */
static CUgraph add_condition(CUgraph to, unsigned int value)
{
    cxu_graph_node_params params = {.type = CXU_GRAPH_NODE_TYPE_CONDITIONAL};
    CUgraphNode node;
    uint64_t handle;
    GOOD(table.graph_conditional_handle_create(&handle, to, here, value,
                                               CXU_GRAPH_COND_ASSIGN_DEFAULT));
    params.of.condition = (cxu_conditional_node_params){
        .handle = handle, .type = CXU_GRAPH_COND_TYPE_IF, .size = 1, .context = here};
    GOOD(table.graph_add_node(&node, to, NULL, NULL, 0, &params));
    return params.of.condition.bodies[0];
}

static void nothing(void *argument)
{
    (void)argument;
}

static CUgraphNode add_host(CUgraph to, CUgraphNode before)
{
    const cxu_host_node_params host = {.function = nothing};
    CUgraphNode node;
    GOOD(table.graph_add_host_node(&node, to, &before, 1, &host));
    return node;
}

static CUgraphNode add_record(CUgraph to, CUgraphNode before)
{
    CUgraphNode node;
    GOOD(table.graph_add_event_record_node(&node, to, &before, 1, event));
    return node;
}

static CUgraphExec make(void)
{
    CUgraphExec exec;
    GOOD(table.graph_instantiate_with_flags(&exec, graph, 0));
    return exec;
}

static void launch(CUgraphExec exec, CUstream stream)
{
    GOOD(table.graph_launch(exec, stream));
}

static void launch_once(void)
{
    CUgraphExec exec = make();
    launch(exec, first);
    GOOD(table.ctx_synchronize());
    GOOD(table.graph_exec_destroy(exec));
}

static void assert_found(cx_check_kind kind, int count)
{
    ck_assert_int_eq(found(kind), count);
    ck_assert_int_eq(found_at_all(), count);
}

/* ---- nodes of one launch ---- */

START_TEST(two_nodes_without_an_edge_are_told)
{
    (void)add_fill(graph, memory, NULL);
    (void)add_copy(graph, NULL);
    launch_once();
    assert_found(CX_KIND_ORDER_NODES, 1);
    ck_assert(latest_says("node 0 of executable graph 1 (a fill)"));
    ck_assert(latest_says("node 1 of executable graph 1 (a copy)"));
    ck_assert(latest_says("by cuGraphLaunch in stream 2"));
    ck_assert(latest_says("bytes 0 to 127 of 256 bytes of device memory"));
}
END_TEST

START_TEST(an_edge_orders_two_nodes)
{
    (void)add_copy(graph, add_fill(graph, memory, NULL));
    launch_once();
    assert_found(CX_KIND_ORDER_NODES, 0);
}
END_TEST

START_TEST(a_path_of_edges_orders_two_nodes)
{
    CUgraphNode fill = add_fill(graph, memory, NULL);
    (void)add_copy(graph, add_empty(graph, add_empty(graph, fill)));
    launch_once();
    assert_found(CX_KIND_ORDER_NODES, 0);
}
END_TEST

START_TEST(an_edge_that_was_removed_orders_nothing)
{
    CUgraphNode fill = add_fill(graph, memory, NULL), copy = add_copy(graph, fill);
    GOOD(table.graph_remove_dependencies(graph, &fill, &copy, NULL, 1));
    launch_once();
    assert_found(CX_KIND_ORDER_NODES, 1);
}
END_TEST

START_TEST(two_nodes_that_read_are_no_race)
{
    CUgraphNode copy = add_copy(graph, NULL);
    (void)add_copy(graph, copy);
    launch_once();
    assert_found(CX_KIND_ORDER_NODES, 0);
}
END_TEST

START_TEST(branches_of_a_capture_are_ordered_where_they_join)
{
    CUevent back;
    GOOD(table.event_create(&back, 0));
    GOOD(table.graph_destroy(graph));
    GOOD(table.stream_begin_capture(first, CXU_STREAM_CAPTURE_MODE_RELAXED));
    GOOD(table.event_record(event, first));
    GOOD(table.stream_wait_event(second, event, 0));
    fill(memory, second);
    if (_i == 0)
        fill(memory, first);
    GOOD(table.event_record(back, second));
    GOOD(table.stream_wait_event(first, back, 0));
    if (_i == 1)
        fill(memory, first);
    GOOD(table.stream_end_capture(first, &graph));
    launch_once();
    assert_found(CX_KIND_ORDER_NODES, _i == 0);
}
END_TEST

START_TEST(nodes_of_a_child_graph_are_compared_with_those_outside)
{
    CUgraphNode child = add_child(graph, memory, NULL);
    (void)add_copy(graph, _i == 0 ? NULL : child);
    launch_once();
    assert_found(CX_KIND_ORDER_NODES, _i == 0);
    if (_i == 0)
        ck_assert(latest_says("node 0 in node 0 of executable graph 1 (a fill)"));
}
END_TEST

START_TEST(nodes_of_a_child_graph_come_behind_what_its_node_comes_behind)
{
    (void)add_child(graph, memory, add_copy(graph, NULL));
    launch_once();
    assert_found(CX_KIND_ORDER_NODES, 0);
}
END_TEST

START_TEST(nodes_of_a_body_are_compared_with_those_outside)
{
    CUgraph body = add_condition(graph, (unsigned int)_i);
    (void)add_fill(body, memory, NULL);
    (void)add_copy(graph, NULL);
    launch_once();
    assert_found(CX_KIND_ORDER_NODES, _i != 0);
}
END_TEST

START_TEST(nodes_of_a_body_run_one_after_the_other)
{
    CUgraph body = add_condition(graph, 1);
    (void)add_fill(body, memory, NULL);
    (void)add_copy(body, NULL);
    launch_once();
    assert_found(CX_KIND_ORDER_NODES, 0);
}
END_TEST

/* Many touches of one part are joined. */
START_TEST(a_body_that_touches_bytes_again_and_again_has_touched_them)
{
    CUgraph body = add_condition(graph, 1);
    for (int i = 0; i < 6000; i++)
        (void)add_fill(body, i % 2 == 0 ? memory : rest, NULL);
    CUgraphExec exec = make();
    launch(exec, first);
    GOOD(table.stream_synchronize(first));
    assert_found(CX_KIND_ORDER_NODES, 0);
    launch(exec, first);
    fill(memory, second);
    GOOD(table.ctx_synchronize());
    assert_found(CX_KIND_ORDER_KERNEL, 1);
    ck_assert(latest_says("node 0 of executable graph 1 (a condition's body)"));
    ck_assert(latest_says("bytes 0 to 255 of 256 bytes of device memory"));
}
END_TEST

START_TEST(a_node_that_is_disabled_touches_nothing)
{
    CUgraphNode node = add_fill(graph, memory, NULL);
    (void)add_copy(graph, NULL);
    CUgraphExec exec = make();
    GOOD(table.graph_node_set_enabled(exec, node, 0));
    launch(exec, first);
    assert_found(CX_KIND_ORDER_NODES, 0);
    GOOD(table.graph_node_set_enabled(exec, node, 1));
    launch(exec, first);
    assert_found(CX_KIND_ORDER_NODES, 1);
}
END_TEST

START_TEST(each_launch_has_the_parameters_of_its_time)
{
    const cxu_memset_node_params other = {
        .destination = memory, .element_bytes = 1, .width = HALF, .height = 1};
    CUgraphNode node = add_fill(graph, rest, NULL);
    CUgraphExec exec = make();
    launch(exec, first);
    GOOD(table.graph_exec_memset_node_set_params(exec, node, &other, here));
    GOOD(table.memset_d8_async(memory, 1, HALF, second));
    assert_found(CX_KIND_ORDER_COPY, 0);
    launch(exec, first);
    assert_found(CX_KIND_ORDER_COPY, 1);
}
END_TEST

START_TEST(an_update_brings_the_nodes_of_another_graph)
{
    cxu_graph_exec_update_result_info result;
    CUgraph same;
    (void)add_fill(graph, rest, NULL);
    GOOD(table.graph_create(&same, 0));
    (void)add_fill(same, memory, NULL);
    CUgraphExec exec = make();
    GOOD(table.graph_exec_update(exec, same, &result));
    GOOD(table.memset_d8_async(memory, 1, HALF, second));
    launch(exec, first);
    assert_found(CX_KIND_ORDER_COPY, 1);
}
END_TEST

/* ---- memory that was freed ---- */

/* The new memory has the address of the old one. */
static CUdeviceptr replace(CUdeviceptr old)
{
    CUdeviceptr now;
    GOOD(table.mem_free(old));
    end_quarantine();
    GOOD(table.mem_alloc(&now, BYTES));
    ck_assert_uint_eq(now, old);
    return now;
}

START_TEST(a_node_keeps_the_address_of_memory_that_was_freed)
{
    CUgraphNode node = add_fill(graph, memory, NULL);
    CUgraphExec exec = make();
    launch(exec, first);
    GOOD(table.ctx_synchronize());
    memory = replace(memory);
    if (_i == 1) {
        const cxu_memset_node_params again = {
            .destination = memory, .element_bytes = 1, .width = HALF, .height = 1};
        GOOD(table.graph_exec_memset_node_set_params(exec, node, &again, here));
    }
    launch(exec, first);
    launch(exec, first);
    assert_found(CX_KIND_MEMORY_STALE, _i == 1 ? 0 : 2);
    if (_i == 0)
        ck_assert(latest_says("the address is of 256 bytes of device memory now"));
}
END_TEST

START_TEST(an_update_gives_nodes_new_memory)
{
    cxu_graph_exec_update_result_info result;
    CUgraph same;
    (void)add_fill(graph, memory, NULL);
    CUgraphExec exec = make();
    memory = replace(memory);
    GOOD(table.graph_create(&same, 0));
    (void)add_fill(same, memory, NULL);
    GOOD(table.graph_exec_update(exec, same, &result));
    launch(exec, first);
    assert_found(CX_KIND_MEMORY_STALE, 0);
    memory = replace(memory);
    launch(exec, first);
    assert_found(CX_KIND_MEMORY_STALE, 1);
}
END_TEST

START_TEST(a_copy_of_a_graph_has_the_memory_of_the_graph)
{
    CUgraph copy;
    (void)add_child(graph, memory, NULL);
    memory = replace(memory);
    GOOD(table.graph_clone(&copy, graph));
    GOOD(table.graph_destroy(graph));
    graph = copy;
    launch_once();
    assert_found(CX_KIND_MEMORY_STALE, 1);
}
END_TEST

/* ---- memory that nodes allocate ---- */

static CUdeviceptr add_allocation(CUgraphNode *out_node)
{
    cxu_mem_alloc_node_params params = {.pool = {.type = CXU_MEM_ALLOCATION_TYPE_PINNED,
                                                 .location = {CXU_MEM_LOCATION_TYPE_DEVICE, 0}},
                                        .bytes = BYTES};
    GOOD(table.graph_add_mem_alloc_node(out_node, graph, NULL, 0, &params));
    return params.address;
}

START_TEST(nodes_use_memory_between_its_allocation_and_its_free)
{
    CUgraphNode node, use, end;
    CUdeviceptr made = add_allocation(&node);
    use = add_fill(graph, made, _i == 0 ? NULL : node);
    GOOD(table.graph_add_mem_free_node(&end, graph, _i == 1 ? &node : (CUgraphNode[]){node, use},
                                       _i == 1 ? 1 : 2, made));
    CUgraphExec exec = make();
    launch(exec, first);
    launch(exec, second);
    GOOD(table.ctx_synchronize());
    assert_found(CX_KIND_ORDER_NODES, _i == 2 ? 0 : 2);
}
END_TEST

/* ---- launches and work of streams ---- */

START_TEST(a_launch_is_compared_with_work_of_other_streams)
{
    (void)add_fill(graph, memory, NULL);
    CUgraphExec exec = make();
    fill(memory, second);
    launch(exec, first);
    assert_found(CX_KIND_ORDER_COPY, 1);
    fill(memory, second);
    assert_found(CX_KIND_ORDER_COPY, 2);
}
END_TEST

START_TEST(a_launch_is_ordered_in_its_stream)
{
    (void)add_fill(graph, memory, NULL);
    (void)add_fill(graph, rest, NULL);
    CUgraphExec exec = make();
    fill(memory, first);
    launch(exec, first);
    fill(memory, first);
    GOOD(table.event_record(event, first));
    GOOD(table.stream_wait_event(second, event, 0));
    fill(memory, second);
    assert_found(CX_KIND_ORDER_COPY, 0);
}
END_TEST

START_TEST(launches_of_one_executable_graph_are_ordered_and_those_of_two_are_not)
{
    (void)add_fill(graph, memory, NULL);
    CUgraphExec execs[] = {make(), make()};
    launch(execs[0], first);
    launch(execs[_i], second);
    assert_found(CX_KIND_ORDER_COPY, _i);
}
END_TEST

START_TEST(an_executable_graph_that_ends_leaves_its_work)
{
    (void)add_fill(graph, memory, NULL);
    CUgraphExec exec = make();
    launch(exec, first);
    GOOD(table.graph_exec_destroy(exec));
    GOOD(table.graph_destroy(graph));
    fill(memory, second);
    assert_found(CX_KIND_ORDER_COPY, 1);
    ck_assert(latest_says("node 0 of executable graph 1 (a fill)"));
}
END_TEST

/* ---- events and host functions of graphs ---- */

/* Between two nodes the graph records an event. */
START_TEST(an_event_of_a_graph_is_behind_the_nodes_before_it)
{
    (void)add_fill(graph, rest, add_record(graph, add_fill(graph, memory, NULL)));
    launch(make(), first);
    GOOD(table.stream_wait_event(second, event, 0));
    GOOD(table.memset_d8_async(_i == 0 ? memory : rest, 1, HALF, second));
    assert_found(CX_KIND_ORDER_COPY, _i);
}
END_TEST

START_TEST(the_host_that_waits_for_an_event_of_a_graph_has_waited_for_the_nodes_before_it)
{
    (void)add_fill(graph, rest, add_record(graph, add_fill(graph, memory, NULL)));
    launch(make(), first);
    GOOD(table.event_synchronize(event));
    GOOD(table.memset_d8_async(_i == 0 ? memory : rest, 1, HALF, second));
    assert_found(CX_KIND_ORDER_COPY, _i);
}
END_TEST

/* The first node of two is behind an event of another stream. */
START_TEST(a_node_that_waits_for_an_event_orders_those_behind_it)
{
    CUgraphNode wait;
    GOOD(table.graph_add_event_wait_node(&wait, graph, NULL, 0, event));
    (void)add_fill(graph, memory, wait);
    (void)add_fill(graph, rest, NULL);
    GOOD(table.memset_d8_async(_i == 0 ? memory : rest, 1, HALF, second));
    GOOD(table.event_record(event, second));
    launch(make(), first);
    assert_found(CX_KIND_ORDER_COPY, _i);
    GOOD(table.memset_d8_async(_i == 0 ? memory : rest, 1, HALF, first));
    assert_found(CX_KIND_ORDER_COPY, _i);
}
END_TEST

START_TEST(a_launch_comes_behind_what_the_one_before_waited_for)
{
    CUgraphNode wait;
    GOOD(table.graph_add_event_wait_node(&wait, graph, NULL, 0, event));
    CUgraphExec exec = make();
    fill(memory, second);
    GOOD(table.event_record(event, second));
    launch(exec, first);
    GOOD(table.event_record(event, third)); /* which is behind nothing */
    launch(exec, third);
    fill(memory, third);
    assert_found(CX_KIND_ORDER_COPY, 0);
}
END_TEST

START_TEST(a_host_function_of_a_graph_is_behind_the_nodes_before_it)
{
    (void)add_fill(graph, rest, add_host(graph, add_fill(graph, memory, NULL)));
    launch(make(), first);
    GOOD(table.memset_d8_async(_i == 0 ? memory : rest, 1, HALF, second));
    assert_found(CX_KIND_ORDER_COPY, _i);
}
END_TEST

START_TEST(a_node_that_records_an_event_leaves_other_waits_alone)
{
    CUevent other;
    GOOD(table.event_create(&other, 0));
    (void)add_record(graph, add_fill(graph, rest, NULL));
    launch(make(), first);
    GOOD(table.memset_d8_async(memory, 1, HALF, first));
    GOOD(table.event_record(other, second));
    GOOD(table.stream_wait_event(third, other, 0));
    GOOD(table.memset_d8_async(memory, 1, HALF, third));
    assert_found(CX_KIND_ORDER_COPY, 1);
}
END_TEST

START_TEST(an_external_record_of_a_capture_leaves_the_event_as_it_was)
{
    GOOD(table.graph_destroy(graph));
    fill(memory, second);
    GOOD(table.event_record(event, second));
    GOOD(table.stream_begin_capture(first, CXU_STREAM_CAPTURE_MODE_RELAXED));
    GOOD(table.event_record_with_flags(event, first, CXU_EVENT_RECORD_EXTERNAL));
    GOOD(table.stream_end_capture(first, &graph));
    GOOD(table.stream_wait_event(third, event, 0));
    fill(memory, third);
    assert_found(CX_KIND_ORDER_COPY, 0);
    fill(memory, second);
    assert_found(CX_KIND_ORDER_COPY, 1);
}
END_TEST

/* ---- much of it ---- */

START_TEST(launches_again_and_again_take_no_more_memory)
{
    CUgraphNode last = NULL;
    for (int i = 0; i < 500; i++)
        last = add_fill(graph, i % 2 == 0 ? memory : rest, last);
    CUgraphExec exec = make();
    launch(exec, first);
    GOOD(table.ctx_synchronize());
    const size_t before = mallinfo2().uordblks;
    for (int i = 0; i < 200; i++)
        launch(exec, i % 2 == 0 ? first : second);
    GOOD(table.ctx_synchronize());
    ck_assert_uint_lt(mallinfo2().uordblks, before + ((size_t)1 << 20));
    assert_found(CX_KIND_ORDER_NODES, 0);
}
END_TEST

/* The last node comes behind all readers but the first one. */
START_TEST(the_oldest_of_65_reads_is_forgotten)
{
    const int readers = 64 + _i;
    CUgraphNode last = add_fill(graph, rest, NULL);
    CUdeviceptr out;
    GOOD(table.mem_alloc(&out, (size_t)HALF * 65));
    for (int i = 0; i < readers; i++) {
        const cxu_memcpy_3d copy = {.source_type = CXU_MEMORYTYPE_DEVICE,
                                    .source_device = memory,
                                    .destination_type = CXU_MEMORYTYPE_DEVICE,
                                    .destination_device = out + (CUdeviceptr)i * HALF,
                                    .width_bytes = HALF,
                                    .height = 1,
                                    .depth = 1};
        CUgraphNode reader;
        GOOD(table.graph_add_memcpy_node(&reader, graph, NULL, 0, &copy, here));
        if (i > 0)
            last = add_empty_behind(last, reader);
    }
    (void)add_fill(graph, memory, last);
    launch_once();
    assert_found(CX_KIND_ORDER_NODES, _i == 0);
}
END_TEST

START_TEST(nodes_of_a_launch_are_compared_up_to_a_number)
{
    const int between = CX_ORDER_GRAPH_COMPARED - 2 + _i;
    CUgraphNode last = add_fill(graph, memory, NULL);
    for (int i = 0; i < between; i++)
        last = add_empty(graph, last);
    (void)add_fill(graph, memory, NULL);
    launch_once();
    assert_found(CX_KIND_ORDER_NODES, _i == 0);
}
END_TEST

static Suite *order_graph_suite(void)
{
    Suite *suite = suite_create("order_graph");
    TCase *tcase = tcase_create("order_graph");
    tcase_add_checked_fixture(tcase, set_up_graph, NULL);
    tcase_add_test(tcase, two_nodes_without_an_edge_are_told);
    tcase_add_test(tcase, an_edge_orders_two_nodes);
    tcase_add_test(tcase, a_path_of_edges_orders_two_nodes);
    tcase_add_test(tcase, an_edge_that_was_removed_orders_nothing);
    tcase_add_test(tcase, two_nodes_that_read_are_no_race);
    tcase_add_loop_test(tcase, branches_of_a_capture_are_ordered_where_they_join, 0, 2);
    tcase_add_loop_test(tcase, nodes_of_a_child_graph_are_compared_with_those_outside, 0, 2);
    tcase_add_test(tcase, nodes_of_a_child_graph_come_behind_what_its_node_comes_behind);
    tcase_add_loop_test(tcase, nodes_of_a_body_are_compared_with_those_outside, 0, 2);
    tcase_add_test(tcase, nodes_of_a_body_run_one_after_the_other);
    tcase_add_test(tcase, a_body_that_touches_bytes_again_and_again_has_touched_them);
    tcase_add_test(tcase, a_node_that_is_disabled_touches_nothing);
    tcase_add_test(tcase, each_launch_has_the_parameters_of_its_time);
    tcase_add_test(tcase, an_update_brings_the_nodes_of_another_graph);
    tcase_add_loop_test(tcase, a_node_keeps_the_address_of_memory_that_was_freed, 0, 2);
    tcase_add_test(tcase, an_update_gives_nodes_new_memory);
    tcase_add_test(tcase, a_copy_of_a_graph_has_the_memory_of_the_graph);
    tcase_add_loop_test(tcase, nodes_use_memory_between_its_allocation_and_its_free, 0, 3);
    tcase_add_test(tcase, a_launch_is_compared_with_work_of_other_streams);
    tcase_add_test(tcase, a_launch_is_ordered_in_its_stream);
    tcase_add_loop_test(
        tcase, launches_of_one_executable_graph_are_ordered_and_those_of_two_are_not, 0, 2);
    tcase_add_test(tcase, an_executable_graph_that_ends_leaves_its_work);
    tcase_add_loop_test(tcase, an_event_of_a_graph_is_behind_the_nodes_before_it, 0, 2);
    tcase_add_loop_test(
        tcase, the_host_that_waits_for_an_event_of_a_graph_has_waited_for_the_nodes_before_it, 0,
        2);
    tcase_add_loop_test(tcase, a_node_that_waits_for_an_event_orders_those_behind_it, 0, 2);
    tcase_add_test(tcase, a_launch_comes_behind_what_the_one_before_waited_for);
    tcase_add_loop_test(tcase, a_host_function_of_a_graph_is_behind_the_nodes_before_it, 0, 2);
    tcase_add_test(tcase, a_node_that_records_an_event_leaves_other_waits_alone);
    tcase_add_test(tcase, an_external_record_of_a_capture_leaves_the_event_as_it_was);
    tcase_add_test(tcase, launches_again_and_again_take_no_more_memory);
    tcase_add_loop_test(tcase, the_oldest_of_65_reads_is_forgotten, 0, 2);
    tcase_add_loop_test(tcase, nodes_of_a_launch_are_compared_up_to_a_number, 0, 2);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(order_graph_suite);
