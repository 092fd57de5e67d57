/* Launches whose blocks form clusters: which sizes are allowed, and who says so. */
#include "work_fixture.h"

#include <string.h>

#define KERNEL(name, limits)                                                                    \
    ".visible .entry " name "(.param .u64 out) " limits                                         \
    "\n{\n.reg .b32 %r<4>;\n.reg .b64 %d<3>;\nld.param.u64 %d1, [out];\n"                       \
    "mov.u32 %r1, %cluster_nctarank;\nmov.u32 %r2, %ctaid.x;\nmad.wide.u32 %d2, %r2, 4, %d1;\n" \
    "st.global.u32 [%d2], %r1;\nret;\n}\n"

#define MOST 64 /* blocks */

static const char text[] = ".version 8.6\n.target sm_90\n.address_size 64\n" KERNEL("any", "")
    KERNEL("four", ".explicitcluster .reqnctapercluster 4") KERNEL("needy", ".explicitcluster")
        KERNEL("small", ".maxclusterrank 2")
            KERNEL("counted", ".reqntid 1 .reqnctapercluster 2 .blocksareclusters");

static CUmodule module;
static CUdeviceptr out;

static void setup(void)
{
    work_setup();
    ck_success(cx_emu_call_module_load_data(&module, text));
    out = make_memory(MOST * 4);
}

static CUfunction function_of(const char *name)
{
    CUfunction function;

    ck_success(cx_emu_call_module_get_function(&function, module, name));
    return function;
}

/* `size`: of a cluster; 0: the launch names none. */
static cxu_result launch(const char *name, unsigned blocks, unsigned size, bool cooperative)
{
    cxu_launch_attribute attributes[] = {
        {.id = CXU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.number = cooperative},
        {.id = CXU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.cluster = {size, 1, 1}}};
    const cxu_launch_config config = {.grid_x = blocks,
                                      .grid_y = 1,
                                      .grid_z = 1,
                                      .block_x = 1,
                                      .block_y = 1,
                                      .block_z = 1,
                                      .attributes = attributes,
                                      .attribute_count = size ? 2 : 1};
    void *parameters[] = {&out};

    return cx_emu_call_launch_kernel_ex(&config, function_of(name), parameters, NULL);
}

/* All blocks have been in clusters of that size, and there were so many. */
static void expect_clusters(unsigned blocks, unsigned size)
{
    uint32_t found[MOST];

    ck_success(cx_emu_call_ctx_synchronize());
    read_device(found, out, sizeof found);
    for (unsigned i = 0; i < MOST; i++)
        ck_assert_uint_eq(found[i], i < blocks ? size : 0);
    ck_success(cx_emu_call_memset_d32(out, 0, MOST));
}

static const struct {
    const char *name;
    unsigned blocks, size;
    cxu_result result;
    unsigned ran, in; /* so many blocks, in clusters of that size */
} rows[] = {
    {"any", 12, 0, CXU_SUCCESS, 12, 1},
    {"any", 12, 1, CXU_SUCCESS, 12, 1},
    {"any", 12, 4, CXU_SUCCESS, 12, 4},
    {"any", 16, 8, CXU_SUCCESS, 16, 8},
    {"any", 12, 5, CXU_INVALID_CLUSTER_SIZE, 0, 0}, /* no divisor */
    {"any", 18, 9, CXU_INVALID_CLUSTER_SIZE, 0, 0}, /* more than every device has */
    {"any", 32, 16, CXU_INVALID_CLUSTER_SIZE, 0, 0},
    {"four", 12, 0, CXU_SUCCESS, 12, 4},
    {"four", 12, 4, CXU_SUCCESS, 12, 4},
    {"four", 12, 2, CXU_INVALID_CLUSTER_SIZE, 0, 0}, /* another one is required */
    {"four", 6, 0, CXU_INVALID_CLUSTER_SIZE, 0, 0},
    {"needy", 6, 0, CXU_INVALID_CLUSTER_SIZE, 0, 0},
    {"needy", 6, 3, CXU_SUCCESS, 6, 3},
    {"small", 6, 2, CXU_SUCCESS, 6, 2},
    {"small", 6, 3, CXU_INVALID_CLUSTER_SIZE, 0, 0},
    {"small", 6, 0, CXU_SUCCESS, 6, 1},
    {"counted", 6, 0, CXU_SUCCESS, 12, 2},
    {"counted", 6, 2, CXU_SUCCESS, 12, 2},
};

START_TEST(a_cluster_suits_the_grid_and_the_kernel)
{
    ck_success(cx_emu_call_memset_d32(out, 0, MOST));
    ck_assert_int_eq(launch(rows[_i].name, rows[_i].blocks, rows[_i].size, false), rows[_i].result);
    expect_clusters(rows[_i].ran, rows[_i].in);
    if (rows[_i].result == CXU_SUCCESS) {
        ck_success(launch(rows[_i].name, rows[_i].blocks, rows[_i].size, true));
        expect_clusters(rows[_i].ran, rows[_i].in);
    }
}
END_TEST

START_TEST(dimensions_of_a_cluster_are_all_set_or_none)
{
    cxu_launch_attribute attribute = {.id = CXU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                      .value.cluster = {2, 0, 1}};
    const cxu_launch_config config = {.grid_x = 2,
                                      .grid_y = 2,
                                      .grid_z = 2,
                                      .block_x = 1,
                                      .block_y = 1,
                                      .block_z = 1,
                                      .attributes = &attribute,
                                      .attribute_count = 1};
    void *parameters[] = {&out};
    CUfunction any = function_of("any");

    ck_result(cx_emu_call_launch_kernel_ex(&config, any, parameters, NULL), INVALID_CLUSTER_SIZE);
    memset(attribute.value.cluster, 0, sizeof attribute.value.cluster);
    ck_success(cx_emu_call_launch_kernel_ex(&config, any, parameters, NULL));
    for (int i = 0; i < 3; i++)
        attribute.value.cluster[i] = 2;
    ck_success(cx_emu_call_launch_kernel_ex(&config, any, parameters, NULL));
    attribute.value.cluster[2] = 4; /* of 2 */
    ck_result(cx_emu_call_launch_kernel_ex(&config, any, parameters, NULL), INVALID_CLUSTER_SIZE);
    ck_success(cx_emu_call_ctx_synchronize());
}
END_TEST

START_TEST(a_function_may_have_larger_clusters)
{
    CUfunction any = function_of("any");

    ck_success(cx_emu_call_memset_d32(out, 0, MOST));
    ck_success(cx_emu_call_func_set_attribute(
        any, CXU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    ck_success(launch("any", 32, 16, false));
    expect_clusters(32, 16);
    ck_result(launch("any", 34, 17, false), INVALID_CLUSTER_SIZE);
}
END_TEST

START_TEST(a_function_may_require_a_size)
{
    CUfunction needy = function_of("needy"), four = function_of("four");
    const cxu_func_attribute width = CXU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
                             height = CXU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
                             depth = CXU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH,
                             needed = CXU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET;
    int value = -1;

    ck_success(cx_emu_call_memset_d32(out, 0, MOST));
    ck_success(cx_emu_call_func_set_attribute(needy, width, 2));
    ck_result(launch("needy", 6, 0, false), INVALID_CLUSTER_SIZE); /* the others are 0 */
    ck_success(cx_emu_call_func_set_attribute(needy, height, 1));
    ck_success(cx_emu_call_func_set_attribute(needy, depth, 1));
    ck_success(launch("needy", 6, 0, false));
    expect_clusters(6, 2);
    ck_success(cx_emu_call_func_get_attribute(&value, width, needy));
    ck_assert_int_eq(value, 2);
    ck_success(cx_emu_call_func_get_attribute(&value, width, four));
    ck_assert_int_eq(value, 4);
    ck_success(cx_emu_call_func_get_attribute(&value, height, four));
    ck_assert_int_eq(value, 1);
    ck_result(cx_emu_call_func_set_attribute(four, width, 2), NOT_PERMITTED);
    ck_success(cx_emu_call_func_get_attribute(&value, needed, four));
    ck_assert_int_eq(value, 1);
    ck_success(cx_emu_call_func_get_attribute(&value, needed, function_of("any")));
    ck_assert_int_eq(value, 0);
}
END_TEST

START_TEST(occupancy_knows_clusters)
{
    cxu_launch_attribute attribute = {.id = CXU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                      .value.cluster = {4, 1, 1}};
    cxu_launch_config config = {.grid_x = 12,
                                .grid_y = 1,
                                .grid_z = 1,
                                .block_x = 1024,
                                .block_y = 1,
                                .block_z = 1,
                                .attributes = &attribute};
    CUfunction any = function_of("any"), small = function_of("small"), needy = function_of("needy");
    int value = -1;

    ck_success(cx_emu_call_occupancy_max_potential_cluster_size(&value, any, &config));
    ck_assert_int_eq(value, 8);
    ck_success(cx_emu_call_occupancy_max_potential_cluster_size(&value, small, &config));
    ck_assert_int_eq(value, 2);
    ck_success(cx_emu_call_occupancy_max_potential_cluster_size(&value, needy, &config));
    ck_assert_int_eq(value, 8);
    ck_result(cx_emu_call_occupancy_max_active_clusters(&value, needy, &config),
              INVALID_CLUSTER_SIZE);
    /* a block for each of 40 multiprocessors */
    ck_success(cx_emu_call_occupancy_max_active_clusters(&value, any, &config));
    ck_assert_int_eq(value, 40);
    config.attribute_count = 1;
    ck_success(cx_emu_call_occupancy_max_active_clusters(&value, any, &config));
    ck_assert_int_eq(value, 10);
    attribute.value.cluster[0] = 3;
    ck_success(cx_emu_call_occupancy_max_active_clusters(&value, any, &config));
    ck_assert_int_eq(value, 13);
    attribute.value.cluster[0] = 5;
    ck_result(cx_emu_call_occupancy_max_active_clusters(&value, any, &config),
              INVALID_CLUSTER_SIZE);
    ck_success(cx_emu_call_func_set_attribute(
        any, CXU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    config.attribute_count = 0;
    ck_success(cx_emu_call_occupancy_max_potential_cluster_size(&value, any, &config));
    ck_assert_int_eq(value, 16);
    ck_result(cx_emu_call_occupancy_max_active_clusters(&value, NULL, &config), INVALID_HANDLE);
    ck_result(cx_emu_call_occupancy_max_active_clusters(&value, any, NULL), INVALID_VALUE);
    config.block_x = 1025;
    ck_result(cx_emu_call_occupancy_max_potential_cluster_size(&value, any, &config),
              INVALID_VALUE);
    ck_assert_int_eq(value, 16);
}
END_TEST

/* ---- graphs ---- */

static void run_graph(CUgraph graph)
{
    CUgraphExec exec;

    ck_success(cx_emu_call_graph_instantiate_with_flags(&exec, graph, 0));
    ck_success(cx_emu_call_graph_launch(exec, NULL));
    ck_success(cx_emu_call_ctx_synchronize());
    ck_success(cx_emu_call_graph_exec_destroy(exec));
}

static CUgraphNode add_node(CUgraph graph, void **parameters)
{
    const cxu_kernel_node_params params = {.function = function_of("any"),
                                           .grid_x = 6,
                                           .grid_y = 1,
                                           .grid_z = 1,
                                           .block_x = 1,
                                           .block_y = 1,
                                           .block_z = 1,
                                           .parameters = parameters};
    CUgraphNode node;

    ck_success(cx_emu_call_graph_add_kernel_node(&node, graph, NULL, 0, &params));
    return node;
}

START_TEST(a_node_has_clusters)
{
    const cxu_launch_attribute_id id = CXU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cxu_launch_attribute_value value = {.cluster = {9, 9, 9}};
    void *parameters[] = {&out};
    CUgraph graph;
    CUgraphNode node, other;

    ck_success(cx_emu_call_memset_d32(out, 0, MOST));
    ck_success(cx_emu_call_graph_create(&graph, 0));
    node = add_node(graph, parameters);
    other = add_node(graph, parameters);
    ck_success(cx_emu_call_graph_kernel_node_get_attribute(node, id, &value));
    ck_assert(value.cluster[0] == 0 && value.cluster[1] == 0 && value.cluster[2] == 0);
    value = (cxu_launch_attribute_value){.cluster = {3, 1, 1}};
    ck_success(cx_emu_call_graph_kernel_node_set_attribute(node, id, &value));
    ck_success(cx_emu_call_graph_kernel_node_copy_attributes(other, node));
    value = (cxu_launch_attribute_value){.cluster = {9, 9, 9}};
    ck_success(cx_emu_call_graph_kernel_node_get_attribute(other, id, &value));
    ck_assert(value.cluster[0] == 3 && value.cluster[1] == 1 && value.cluster[2] == 1);
    run_graph(graph);
    expect_clusters(6, 3);
    ck_success(cx_emu_call_graph_destroy(graph));
}
END_TEST

START_TEST(a_captured_launch_keeps_its_clusters)
{
    cxu_launch_attribute attribute = {.id = CXU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                      .value.cluster = {2, 1, 1}};
    CUstream stream = make_stream(0);
    const cxu_launch_config config = {.grid_x = 8,
                                      .grid_y = 1,
                                      .grid_z = 1,
                                      .block_x = 1,
                                      .block_y = 1,
                                      .block_z = 1,
                                      .stream = stream,
                                      .attributes = &attribute,
                                      .attribute_count = 1};
    void *parameters[] = {&out};
    CUgraph graph;

    ck_success(cx_emu_call_memset_d32(out, 0, MOST));
    ck_success(cx_emu_call_stream_begin_capture(stream, CXU_STREAM_CAPTURE_MODE_RELAXED));
    ck_success(cx_emu_call_launch_kernel_ex(&config, function_of("any"), parameters, NULL));
    attribute.value.cluster[0] = 3;
    ck_result(cx_emu_call_launch_kernel_ex(&config, function_of("any"), parameters, NULL),
              INVALID_CLUSTER_SIZE);
    ck_success(cx_emu_call_stream_end_capture(stream, &graph));
    run_graph(graph);
    expect_clusters(8, 2);
    ck_success(cx_emu_call_graph_destroy(graph));
}
END_TEST

static Suite *cluster_suite(void)
{
    Suite *suite = suite_create("cluster");
    TCase *all = tcase_create("all");

    tcase_add_checked_fixture(all, setup, work_teardown);
    tcase_add_loop_test(all, a_cluster_suits_the_grid_and_the_kernel, 0,
                        (int)(sizeof rows / sizeof rows[0]));
    tcase_add_test(all, dimensions_of_a_cluster_are_all_set_or_none);
    tcase_add_test(all, a_function_may_have_larger_clusters);
    tcase_add_test(all, a_function_may_require_a_size);
    tcase_add_test(all, occupancy_knows_clusters);
    tcase_add_test(all, a_node_has_clusters);
    tcase_add_test(all, a_captured_launch_keeps_its_clusters);
    suite_add_tcase(suite, all);
    return suite;
}

CX_TESTS(cluster_suite);
