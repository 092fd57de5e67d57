/* Nodes that allocate and free memory, and stream-ordered memory in captures (G7). */
#include "graph_fixture.h"

static CUstream stream;
static CUgraph graph;

static void setup(void)
{
    graph_setup();
    stream = make_stream(CXU_STREAM_NON_BLOCKING);
    graph = make_graph();
}

static cxu_mem_alloc_node_params of_bytes(size_t bytes)
{
    return (cxu_mem_alloc_node_params){
        .pool = {.type = CXU_MEM_ALLOCATION_TYPE_PINNED,
                 .location = {CXU_MEM_LOCATION_TYPE_DEVICE, 0}},
        .bytes = bytes};
}

static CUgraphNode add_alloc(CUgraph into, CUdeviceptr *out_address)
{
    cxu_mem_alloc_node_params params = of_bytes(FILL_BYTES);
    CUgraphNode node;

    ck_success(cx_emu_call_graph_add_mem_alloc_node(&node, into, NULL, 0, &params));
    ck_assert_uint_ne(params.address, 0);
    *out_address = params.address;
    return node;
}

static uint64_t figure(cxu_graph_mem_attribute attribute)
{
    uint64_t value = 0;

    ck_success(cx_emu_call_device_get_graph_mem_attribute(0, attribute, &value));
    return value;
}

#define USED figure(CXU_GRAPH_MEM_ATTR_USED_MEM_CURRENT)
#define USED_HIGH figure(CXU_GRAPH_MEM_ATTR_USED_MEM_HIGH)
#define RESERVED figure(CXU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT)

/* Allocates, fills, copies to `out`, frees. */
static void add_row(CUdeviceptr out)
{
    CUdeviceptr block;
    CUgraphNode nodes[4] = {add_alloc(graph, &block)};
    cxu_memset_node_params fill = byte_fill(block, 6);
    cxu_memcpy_3d copy = copy_between(out, block, FILL_BYTES);

    ck_success(
        cx_emu_call_graph_add_memset_node(&nodes[1], graph, &nodes[0], 1, &fill, work_context));
    ck_success(
        cx_emu_call_graph_add_memcpy_node(&nodes[2], graph, &nodes[1], 1, &copy, work_context));
    ck_success(cx_emu_call_graph_add_mem_free_node(&nodes[3], graph, &nodes[2], 1, block));
}

START_TEST(memory_lasts_from_one_node_to_another)
{
    CUdeviceptr out = make_memory(FILL_BYTES);
    CUgraphExec exec;

    add_row(out);
    exec = make_exec(graph);
    launch_and_wait(exec, stream);
    ck_assert_uint_eq(first_byte(out), 6);
    launch_and_wait(exec, stream);
    ck_assert_uint_eq(USED, 0);
    ck_assert_uint_ge(USED_HIGH, FILL_BYTES);
    ck_assert_uint_ge(RESERVED, FILL_BYTES);
    ck_success(cx_emu_call_device_graph_mem_trim(0));
    ck_assert_uint_eq(RESERVED, 0);
    drop_exec(exec);
    drop(graph);
}
END_TEST

START_TEST(the_program_may_free_what_a_launch_allocated)
{
    CUdeviceptr block;
    CUgraphExec exec;

    add_alloc(graph, &block);
    ck_result(cx_emu_call_mem_free(block), INVALID_VALUE); /* no launch so far */
    exec = make_exec(graph);
    launch_and_wait(exec, stream);
    ck_assert_uint_ge(USED, FILL_BYTES);
    ck_success(cx_emu_call_memset_d8(block, 5, FILL_BYTES));
    ck_result(cx_emu_call_graph_launch(exec, stream), INVALID_VALUE); /* allocated still */
    ck_success(cx_emu_call_mem_free_async(block, stream));
    ck_result(cx_emu_call_mem_free(block), INVALID_VALUE);
    ck_assert_uint_eq(USED, 0);
    launch_and_wait(exec, stream);
    ck_success(cx_emu_call_mem_free(block));
    drop_exec(exec);
    drop(graph);
}
END_TEST

START_TEST(memory_outlives_its_graphs_until_it_is_freed)
{
    CUdeviceptr block;
    CUgraphExec exec;

    add_alloc(graph, &block);
    exec = make_exec(graph);
    launch_and_wait(exec, stream);
    drop_exec(exec);
    drop(graph);
    ck_success(cx_emu_call_memset_d8_async(block, 5, FILL_BYTES, stream));
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_assert_uint_eq(first_byte(block), 5);
    ck_success(cx_emu_call_mem_free_async(block, stream));
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_result(cx_emu_call_memset_d8(block, 5, FILL_BYTES), INVALID_VALUE);
}
END_TEST

START_TEST(a_launch_may_free_what_is_left_first)
{
    CUdeviceptr block;
    CUgraphExec exec;

    add_alloc(graph, &block);
    ck_success(cx_emu_call_graph_instantiate_with_flags(
        &exec, graph, CXU_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    launch_and_wait(exec, stream);
    launch_and_wait(exec, stream);
    ck_success(cx_emu_call_mem_free(block));
    drop_exec(exec);
    drop(graph);
}
END_TEST

START_TEST(another_graph_frees)
{
    CUgraph freeing = make_graph();
    CUgraphExec allocates, frees;
    CUgraphNode node;
    CUdeviceptr block;

    add_alloc(graph, &block);
    ck_success(cx_emu_call_graph_add_mem_free_node(&node, freeing, NULL, 0, block));
    ck_result(cx_emu_call_graph_add_mem_free_node(&node, freeing, NULL, 0, block), INVALID_VALUE);
    ck_result(cx_emu_call_graph_add_mem_free_node(&node, freeing, NULL, 0, block + 1),
              INVALID_VALUE);
    allocates = make_exec(graph);
    frees = make_exec(freeing);
    ck_result(cx_emu_call_graph_launch(frees, stream), INVALID_VALUE);
    launch_and_wait(allocates, stream);
    launch_and_wait(frees, stream);
    ck_assert_uint_eq(USED, 0);
    launch_and_wait(allocates, stream);
    launch_and_wait(frees, stream);
    drop_exec(allocates);
    drop_exec(frees);
    drop(graph);
    drop(freeing);
}
END_TEST

START_TEST(a_launch_keeps_memory_whose_graphs_are_gone)
{
    CUdeviceptr out = make_memory(FILL_BYTES);

    add_row(out);
    drop_during_launch(graph, stream);
    ck_assert_uint_eq(first_byte(out), 6);
}
END_TEST

START_TEST(graphs_with_memory_are_not_copied_or_cut)
{
    CUgraph other = make_graph(), clone;
    CUgraphNode node, first, last;
    CUgraphExec exec, second;
    CUdeviceptr block;

    first = add_alloc(graph, &block);
    ck_success(cx_emu_call_graph_add_mem_free_node(&last, graph, &first, 1, block));
    ck_result(cx_emu_call_graph_clone(&clone, graph), NOT_SUPPORTED);
    ck_result(cx_emu_call_graph_add_child_graph_node(&node, other, NULL, 0, graph),
              NOT_SUPPORTED);
    ck_result(cx_emu_call_graph_destroy_node(last), NOT_SUPPORTED);
    ck_result(cx_emu_call_graph_remove_dependencies_v1(graph, &first, &last, 1), NOT_SUPPORTED);
    exec = make_exec(graph);
    ck_result(cx_emu_call_graph_instantiate_with_flags(&second, graph, 0), NOT_SUPPORTED);
    drop_exec(exec);
    exec = make_exec(graph);
    drop_exec(exec);
    drop(graph);
    drop(other);
}
END_TEST

START_TEST(parameters_are_checked_and_kept)
{
    cxu_mem_alloc_node_params params = of_bytes(0), found;
    cxu_mem_access access = {{CXU_MEM_LOCATION_TYPE_DEVICE, 1},
                             CXU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr freed;
    CUgraphNode node;

    ck_result(cx_emu_call_graph_add_mem_alloc_node(&node, graph, NULL, 0, &params),
              INVALID_VALUE);
    params = of_bytes(64);
    params.pool.location.id = 9;
    ck_result(cx_emu_call_graph_add_mem_alloc_node(&node, graph, NULL, 0, &params),
              INVALID_VALUE);
    params = of_bytes((size_t)1 << 40);
    ck_result(cx_emu_call_graph_add_mem_alloc_node(&node, graph, NULL, 0, &params),
              OUT_OF_MEMORY);
    params = of_bytes(64);
    params.access_count = 1;
    ck_result(cx_emu_call_graph_add_mem_alloc_node(&node, graph, NULL, 0, &params),
              INVALID_VALUE);
    params.accesses = &access;
    ck_success(cx_emu_call_graph_add_mem_alloc_node(&node, graph, NULL, 0, &params));
    ck_success(cx_emu_call_graph_mem_alloc_node_get_params(node, &found));
    ck_assert_uint_eq(found.address, params.address);
    ck_assert_uint_eq(found.access_count, 1);
    ck_assert_int_eq(found.accesses[0].location.id, 1);
    ck_result(cx_emu_call_graph_mem_free_node_get_params(node, &freed), INVALID_VALUE);
    ck_success(cx_emu_call_graph_add_mem_free_node(&node, graph, &node, 1, params.address));
    ck_success(cx_emu_call_graph_mem_free_node_get_params(node, &freed));
    ck_assert_uint_eq(freed, params.address);
    drop(graph);
}
END_TEST

START_TEST(one_structure_describes_these_nodes_too)
{
    cxu_graph_node_params params = {.type = CXU_GRAPH_NODE_TYPE_MEM_ALLOC};
    CUgraphNode node;

    params.of.alloc = of_bytes(64);
    ck_success(cx_emu_call_graph_add_node_v1(&node, graph, NULL, 0, &params));
    CUdeviceptr block = params.of.alloc.address;
    params = (cxu_graph_node_params){.type = CXU_GRAPH_NODE_TYPE_MEM_FREE};
    params.of.freed = block;
    ck_success(cx_emu_call_graph_add_node_v1(&node, graph, &node, 1, &params));
    ck_assert_int_eq(type_of(node), CXU_GRAPH_NODE_TYPE_MEM_FREE);
    run_graph(graph);
    drop(graph);
}
END_TEST

/* ---- captures ---- */

START_TEST(captured_memory_is_a_graphs)
{
    CUdeviceptr block = 0, out = make_memory(FILL_BYTES);
    CUgraph captured;
    CUgraphExec exec;

    begin(stream);
    ck_success(cx_emu_call_mem_alloc_async(&block, FILL_BYTES, stream));
    ck_success(cx_emu_call_memset_d8_async(block, 9, FILL_BYTES, stream));
    ck_success(cx_emu_call_memcpy_dtod_async(out, block, FILL_BYTES, stream));
    ck_success(cx_emu_call_mem_free_async(block, stream));
    ck_result(cx_emu_call_mem_free_async(block, stream), INVALID_VALUE);
    ck_active(stream);
    captured = end(stream);
    ck_assert_uint_eq(count_nodes(captured), 4);
    ck_assert_ptr_nonnull(only_node(captured, CXU_GRAPH_NODE_TYPE_MEM_ALLOC));
    exec = make_exec(captured);
    launch_and_wait(exec, stream);
    ck_assert_uint_eq(first_byte(out), 9);
    begin(stream);
    ck_result(cx_emu_call_graph_launch(exec, stream), NOT_SUPPORTED);
    drop(end(stream));
    drop_exec(exec);
    drop(captured);
    drop(graph);
}
END_TEST

START_TEST(memory_of_a_capture_belongs_to_nobody_before_a_launch)
{
    CUdeviceptr block = 0, other = make_memory(64);
    CUgraph captured;

    begin(stream);
    ck_success(cx_emu_call_mem_alloc_async(&block, 64, stream));
    ck_result(cx_emu_call_mem_free_async(other, stream), INVALID_VALUE);
    captured = end(stream);
    ck_result(cx_emu_call_mem_free(block), INVALID_VALUE);
    ck_result(cx_emu_call_mem_free_async(block, stream), INVALID_VALUE);
    drop(captured);
    drop(graph);
}
END_TEST

static Suite *memory_suite(void)
{
    Suite *suite = suite_create("graph_memory");
    TCase *tests = tcase_create("graph_memory");

    tcase_add_checked_fixture(tests, setup, graph_teardown);
    tcase_add_test(tests, memory_lasts_from_one_node_to_another);
    tcase_add_test(tests, the_program_may_free_what_a_launch_allocated);
    tcase_add_test(tests, memory_outlives_its_graphs_until_it_is_freed);
    tcase_add_test(tests, a_launch_may_free_what_is_left_first);
    tcase_add_test(tests, another_graph_frees);
    tcase_add_test(tests, a_launch_keeps_memory_whose_graphs_are_gone);
    tcase_add_test(tests, graphs_with_memory_are_not_copied_or_cut);
    tcase_add_test(tests, parameters_are_checked_and_kept);
    tcase_add_test(tests, one_structure_describes_these_nodes_too);
    tcase_add_test(tests, captured_memory_is_a_graphs);
    tcase_add_test(tests, memory_of_a_capture_belongs_to_nobody_before_a_launch);
    suite_add_tcase(suite, tests);
    return suite;
}

CX_TESTS(memory_suite);
