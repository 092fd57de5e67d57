/* Attributes of launches: hints that change nothing, and events that a launch records (K3). */
#include "kernels.h"
#include "work_fixture.h"

#include <string.h>

static CUmodule module;
static CUfunction add_one;
static CUdeviceptr words;
static CUstream stream;

static void setup(void)
{
    work_setup();
    ck_success(cx_emu_call_module_load_data(&module, PTX_HEAD PTX_ADD_ONE));
    ck_success(cx_emu_call_module_get_function(&add_one, module, "add_one"));
    words = make_memory(4);
    ck_success(cx_emu_call_memset_d32(words, 0, 1));
    stream = make_stream(CXU_STREAM_NON_BLOCKING);
}

static cxu_result launch_in(CUstream where, cxu_launch_attribute *attributes, unsigned count)
{
    unsigned one = 1;
    void *parameters[] = {&words, &one};
    const cxu_launch_config config = {.grid_x = 4,
                                      .grid_y = 1,
                                      .grid_z = 1,
                                      .block_x = 1,
                                      .block_y = 1,
                                      .block_z = 1,
                                      .stream = where,
                                      .attributes = attributes,
                                      .attribute_count = count};

    return cx_emu_call_launch_kernel_ex(&config, add_one, parameters, NULL);
}

static unsigned word(void)
{
    unsigned value = 77;

    read_device(&value, words, sizeof value);
    return value;
}

/* ---- hints ---- */

static const struct row {
    cxu_launch_attribute attribute;
    cxu_result of_launch, of_node;
} rows[] = {
#define ROW(name, field, value_, launch, node) \
    {{.id = CXU_LAUNCH_ATTRIBUTE_##name, .value = {.field = value_}}, CXU_##launch, CXU_##node},
    ROW(PROGRAMMATIC_STREAM_SERIALIZATION, number, 1, SUCCESS,
        INVALID_VALUE) ROW(PROGRAMMATIC_STREAM_SERIALIZATION, number, 0, SUCCESS,
                           INVALID_VALUE) ROW(PRIORITY, number, -1, SUCCESS, SUCCESS)
        ROW(CLUSTER_SCHEDULING_POLICY_PREFERENCE, number, 2, SUCCESS,
            SUCCESS) ROW(CLUSTER_SCHEDULING_POLICY_PREFERENCE, number, 3, INVALID_VALUE,
                         INVALID_VALUE) ROW(MEM_SYNC_DOMAIN, number, 1, SUCCESS, SUCCESS)
            ROW(MEM_SYNC_DOMAIN, number, 2, INVALID_VALUE,
                INVALID_VALUE) ROW(MEM_SYNC_DOMAIN_MAP, bytes[0], 0, SUCCESS, SUCCESS)
                ROW(MEM_SYNC_DOMAIN_MAP, bytes[1], 1, INVALID_VALUE, INVALID_VALUE) ROW(
                    PREFERRED_SHARED_MEMORY_CARVEOUT, number, -1, SUCCESS,
                    SUCCESS) ROW(PREFERRED_SHARED_MEMORY_CARVEOUT, number, 100, SUCCESS, SUCCESS)
                    ROW(PREFERRED_SHARED_MEMORY_CARVEOUT, number, 101, INVALID_VALUE, INVALID_VALUE)
                        ROW(NVLINK_UTIL_CENTRIC_SCHEDULING, number, 1, SUCCESS, SUCCESS) ROW(
                            NVLINK_UTIL_CENTRIC_SCHEDULING, number, 2, INVALID_VALUE, INVALID_VALUE)
                            ROW(ACCESS_POLICY_WINDOW, window.hit_ratio, 0.5f, SUCCESS, SUCCESS)
                                ROW(ACCESS_POLICY_WINDOW, window.hit_ratio, 1.5f, INVALID_VALUE,
                                    INVALID_VALUE) ROW(PREFERRED_CLUSTER_DIMENSION, cluster[0], 2,
                                                       SUCCESS, SUCCESS) /* without a cluster */
    ROW(DEVICE_UPDATABLE_KERNEL_NODE, device_node.updatable, 1, NOT_SUPPORTED, NOT_SUPPORTED)
        ROW(DEVICE_UPDATABLE_KERNEL_NODE, device_node.updatable, 0, INVALID_VALUE, SUCCESS)
            ROW(SYNCHRONIZATION_POLICY, number, 1, INVALID_VALUE, INVALID_VALUE)
#undef ROW
};

START_TEST(a_launch_takes_hints_which_change_nothing)
{
    cxu_launch_attribute attribute = rows[_i].attribute;
    const cxu_result expected = rows[_i].of_launch;

    ck_assert_int_eq(launch_in(stream, &attribute, 1), expected);
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_assert_uint_eq(word() > 0, expected == CXU_SUCCESS);
}
END_TEST

static CUgraphNode add_node(CUgraph graph)
{
    unsigned one = 1;
    void *parameters[] = {&words, &one};
    const cxu_kernel_node_params params = {.function = add_one,
                                           .grid_x = 1,
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

START_TEST(a_node_tells_its_hints_and_copies_them)
{
    const cxu_launch_attribute *attribute = &rows[_i].attribute;
    cxu_launch_attribute_value value;
    CUgraph graph;

    ck_success(cx_emu_call_graph_create(&graph, 0));
    CUgraphNode node = add_node(graph), other = add_node(graph);
    ck_assert_int_eq(
        cx_emu_call_graph_kernel_node_set_attribute(node, attribute->id, &attribute->value),
        rows[_i].of_node);
    if (rows[_i].of_node == CXU_SUCCESS) {
        ck_success(cx_emu_call_graph_kernel_node_copy_attributes(other, node));
        memset(&value, 0, sizeof value);
        ck_success(cx_emu_call_graph_kernel_node_get_attribute(other, attribute->id, &value));
        ck_assert_mem_eq(&value, &attribute->value, sizeof value);
    }
    ck_success(cx_emu_call_graph_destroy(graph));
}
END_TEST

START_TEST(a_preferred_cluster_consists_of_whole_clusters)
{
    cxu_launch_attribute attributes[] = {
        {.id = CXU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.cluster = {2, 1, 1}},
        {.id = CXU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION, .value.cluster = {4, 1, 1}}};

    ck_success(launch_in(stream, attributes, 2));
    attributes[1].value.cluster[0] = 3;
    ck_result(launch_in(stream, attributes, 2), INVALID_CLUSTER_SIZE);
    attributes[1].value.cluster[0] = 8; /* the grid has 4 blocks */
    ck_result(launch_in(stream, attributes, 2), INVALID_CLUSTER_SIZE);
}
END_TEST

/* ---- events ---- */

static const cxu_launch_attribute_id recording[] = {CXU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT,
                                                    CXU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT};

static CUevent make_untimed(unsigned more)
{
    CUevent event;

    ck_success(cx_emu_call_event_create(&event, CXU_EVENT_DISABLE_TIMING | more));
    return event;
}

START_TEST(a_launch_records_the_event_that_it_names)
{
    stream_gate gate = GATE_CLOSED;
    CUevent event = make_untimed(0);
    cxu_launch_attribute attribute = {.id = recording[_i], .value.record.event = event};
    CUstream second = make_stream(CXU_STREAM_NON_BLOCKING);

    gate_put(&gate, stream);
    ck_success(launch_in(stream, &attribute, 1));
    ck_result(cx_emu_call_event_query(event), NOT_READY);
    ck_success(cx_emu_call_stream_wait_event(second, event, 0));
    ck_success(launch_in(second, NULL, 0));
    ck_result(cx_emu_call_stream_query(second), NOT_READY);
    gate_open(&gate);
    ck_success(cx_emu_call_event_synchronize(event));
    ck_assert_uint_ge(word(), 1);
    ck_success(cx_emu_call_stream_synchronize(second));
    ck_success(cx_emu_call_event_record(event, stream));
    ck_success(cx_emu_call_event_synchronize(event));
}
END_TEST

START_TEST(a_launch_records_no_event_that_has_times_or_is_of_elsewhere)
{
    cxu_launch_attribute attribute = {.id = recording[_i]};
    CUcontext other;

    ck_result(launch_in(stream, &attribute, 1), INVALID_HANDLE);
    attribute.value.record.event = make_event();
    ck_result(launch_in(stream, &attribute, 1), INVALID_VALUE);
    attribute.value.record.event = make_untimed(CXU_EVENT_INTERPROCESS);
    ck_result(launch_in(stream, &attribute, 1), INVALID_VALUE);
    attribute.value.record.event = make_untimed(0);
    attribute.value.record.flags = CXU_EVENT_RECORD_EXTERNAL;
    ck_result(launch_in(stream, &attribute, 1), INVALID_VALUE);
    attribute.value.record.flags = 0;
    ck_success(cx_emu_call_ctx_create_v2(&other, 0, 1));
    attribute.value.record.event = make_untimed(0);
    ck_success(cx_emu_call_ctx_pop(NULL));
    ck_result(launch_in(stream, &attribute, 1), INVALID_HANDLE);
    ck_success(cx_emu_call_ctx_destroy(other));
    ck_result(launch_in(stream, &attribute, 1), INVALID_HANDLE);
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_assert_uint_eq(word(), 0);
}
END_TEST

START_TEST(a_captured_launch_leads_other_streams_into_the_capture)
{
    CUevent event = make_untimed(0), joined = make_untimed(0);
    cxu_launch_attribute attributes[] = {{.id = recording[0], .value.record.event = event},
                                         {.id = recording[1], .value.record.event = joined}};
    CUstream second = make_stream(CXU_STREAM_NON_BLOCKING);
    size_t nodes = 0, edges = 0;
    CUgraph graph;

    ck_success(cx_emu_call_stream_begin_capture(stream, CXU_STREAM_CAPTURE_MODE_RELAXED));
    ck_success(launch_in(stream, &attributes[0], 1));
    ck_success(cx_emu_call_stream_wait_event(second, event, 0));
    ck_success(launch_in(second, &attributes[1], 1));
    ck_success(cx_emu_call_stream_wait_event(stream, joined, 0));
    ck_success(launch_in(stream, NULL, 0));
    ck_success(cx_emu_call_stream_end_capture(stream, &graph));
    ck_success(cx_emu_call_graph_get_nodes(graph, NULL, &nodes));
    ck_assert_uint_eq(nodes, 3);
    ck_success(cx_emu_call_graph_get_edges(graph, NULL, NULL, NULL, &edges));
    ck_assert_uint_ge(edges, 2);
    ck_assert_uint_eq(word(), 0);
    ck_success(cx_emu_call_graph_destroy(graph));
}
END_TEST

static Suite *launch_attribute_suite(void)
{
    Suite *suite = suite_create("launch attribute");
    TCase *all = tcase_create("all");
    const int row_count = (int)(sizeof rows / sizeof rows[0]);

    tcase_add_checked_fixture(all, setup, work_teardown);
    tcase_add_loop_test(all, a_launch_takes_hints_which_change_nothing, 0, row_count);
    tcase_add_loop_test(all, a_node_tells_its_hints_and_copies_them, 0, row_count);
    tcase_add_test(all, a_preferred_cluster_consists_of_whole_clusters);
    tcase_add_loop_test(all, a_launch_records_the_event_that_it_names, 0, 2);
    tcase_add_loop_test(all, a_launch_records_no_event_that_has_times_or_is_of_elsewhere, 0, 2);
    tcase_add_test(all, a_captured_launch_leads_other_streams_into_the_capture);
    suite_add_tcase(suite, all);
    return suite;
}

CX_TESTS(launch_attribute_suite);
