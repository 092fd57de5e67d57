/* Graphs: nodes whose parameters come out as they went in, and go back in. */
#include "client.h"

#include "../standin/client.h"

static code_add adds;

static cxr_kernel_node_params add_params(void **arguments)
{
    return (cxr_kernel_node_params){.function = &adds.stub,
                                    .grid = {2, 1, 1},
                                    .block = {WORDS / 2, 1, 1},
                                    .parameters = arguments};
}

static void run(CUgraph graph)
{
    CUgraphExec exec;
    assert_ok(cudaGraphInstantiate(&exec, graph, 0));
    assert_ok(cudaGraphLaunch(exec, NULL));
    assert_ok(cudaStreamSynchronize(NULL));
    assert_ok(cudaGraphExecDestroy(exec));
}

static void kernel_params_come_out_and_go_back_in(void)
{
    CUgraph graph;
    CUgraphNode node, copy;
    uint32_t *words = make_words(0), count = WORDS, value = 3;
    void *arguments[] = {&words, &count, &value};
    cxr_kernel_node_params params = add_params(arguments), found;
    memset(&found, 0, sizeof found);
    assert_ok(cudaGraphCreate(&graph, 0));
    assert_ok(cudaGraphAddKernelNode(&node, graph, NULL, 0, &params));
    assert_ok(cudaGraphKernelNodeGetParams(node, &found));
    ck_assert_ptr_eq(found.function, params.function);
    ck_assert_uint_eq(found.grid.x, 2);
    ck_assert_uint_eq(found.block.x, WORDS / 2);
    ck_assert_uint_eq(*(uint32_t *)found.parameters[2], 3);
    value = 5;
    assert_ok(cudaGraphAddKernelNode(&copy, graph, &node, 1, &found));
    found.block.x = WORDS;
    found.parameters = arguments;
    assert_ok(cudaGraphKernelNodeSetParams(node, &found));
    run(graph);
    assert_words(words, 8);
    params.function = &value;
    assert_error(cudaGraphAddKernelNode(&node, graph, NULL, 0, &params),
                 CXR_INVALID_DEVICE_FUNCTION);
    assert_error(cudaGraphAddKernelNode(&node, graph, NULL, 0, NULL), CXR_INVALID_VALUE);
    assert_error(cudaGraphKernelNodeGetParams(node, NULL), CXR_INVALID_VALUE);
    assert_ok(cudaGraphDestroy(graph));
    assert_ok(cudaFree(words));
}

START_TEST(parameters_of_a_kernel_node_come_out_and_go_back_in)
{
    code_add_register(&adds);
    kernel_params_come_out_and_go_back_in();
    __cudaUnregisterFatBinary(adds.binary);
}
END_TEST

START_TEST(so_they_do_in_a_context_of_other_code)
{
    CUcontext other, popped;
    code_add_register(&adds);
    assert_driver(cuInit(0));
    assert_driver(cuCtxCreate_v2(&other, 0, 1));
    kernel_params_come_out_and_go_back_in();
    assert_driver(cuCtxPopCurrent_v2(&popped));
    assert_driver(cuCtxDestroy_v2(other));
    __cudaUnregisterFatBinary(adds.binary);
}
END_TEST

START_TEST(so_they_do_on_another_device_and_after_a_reset)
{
    code_add_register(&adds);
    assert_ok(cudaSetDevice(1));
    kernel_params_come_out_and_go_back_in();
    assert_ok(cudaDeviceReset());
    kernel_params_come_out_and_go_back_in();
    assert_ok(cudaSetDevice(2));
    kernel_params_come_out_and_go_back_in();
    __cudaUnregisterFatBinary(adds.binary);
}
END_TEST

START_TEST(a_captured_kernel_is_told_by_its_stub)
{
    CUgraph graph;
    CUgraphNode node;
    CUstream stream;
    size_t count = 1;
    cxr_kernel_node_params found;
    cxu_graph_node_type type;
    code_add_register(&adds);
    uint32_t *words = make_words(0);
    assert_ok(cudaStreamCreate(&stream));
    assert_ok(cudaStreamBeginCapture(stream, CXU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_ok(code_launch_add(&adds, words, 5, stream));
    assert_ok(cudaStreamEndCapture(stream, &graph));
    assert_ok(cudaGraphGetNodes(graph, &node, &count));
    assert_ok(cudaGraphNodeGetType(node, &type));
    ck_assert_int_eq(type, CXU_GRAPH_NODE_TYPE_KERNEL);
    assert_ok(cudaGraphKernelNodeGetParams(node, &found));
    ck_assert_ptr_eq(found.function, &adds.stub);
    assert_ok(cudaGraphDestroy(graph));
    assert_ok(cudaStreamDestroy(stream));
    assert_ok(cudaFree(words));
    __cudaUnregisterFatBinary(adds.binary);
}
END_TEST

START_TEST(copies_come_out_and_go_back_in)
{
    CUgraph graph;
    CUgraphNode node, second;
    cxr_copy_3d found;
    uint32_t *words = make_words(0), host[WORDS] = {9, 8, 7};
    assert_ok(cudaGraphCreate(&graph, 0));
    assert_ok(cudaGraphAddMemcpyNode1D(&node, graph, NULL, 0, words, host, 12, CXR_HOST_TO_DEVICE));
    assert_ok(cudaGraphMemcpyNodeGetParams(node, &found));
    ck_assert_ptr_eq(found.source.pointer, host);
    ck_assert_ptr_eq(found.destination.pointer, words);
    ck_assert_int_eq(found.kind, CXR_HOST_TO_DEVICE);
    ck_assert_uint_eq(found.extent.width, 12);
    ck_assert_uint_eq(found.extent.depth, 1);
    found.source.pointer = words;
    found.destination.pointer = words + 8;
    found.kind = CXR_DEVICE_TO_DEVICE;
    assert_ok(cudaGraphAddMemcpyNode(&second, graph, &node, 1, &found));
    run(graph);
    memset(host, 0, sizeof host);
    assert_ok(cudaMemcpy(host, words, WORD_BYTES, CXR_DEVICE_TO_HOST));
    ck_assert_uint_eq(host[10], 7);
    assert_error(cudaGraphAddMemcpyNode(&second, graph, NULL, 0, NULL), CXR_INVALID_VALUE);
    assert_error(
        cudaGraphAddMemcpyNode1D(&second, graph, NULL, 0, words, host, 4, (cxr_copy_kind)8),
        CXR_INVALID_MEMCPY_DIRECTION);
    assert_ok(cudaGraphDestroy(graph));
    assert_ok(cudaFree(words));
}
END_TEST

static void add_one(void *number)
{
    ++*(int *)number;
}

START_TEST(nodes_of_all_kinds_are_added_by_one_call)
{
    CUgraph graph, child;
    CUgraphNode kernel, fill, host, inner, copy;
    CUgraphExec exec;
    uint32_t *words = make_words(1), count = WORDS, value = 3;
    void *arguments[] = {&words, &count, &value};
    int calls = 0;
    cxr_graph_node_params params = {.type = CXU_GRAPH_NODE_TYPE_MEMSET};
    code_add_register(&adds);
    assert_ok(cudaGraphCreate(&graph, 0));
    assert_ok(cudaGraphCreate(&child, 0));
    params.of.fill = (cxu_memset_node_params){.destination = (CUdeviceptr)(uintptr_t)words,
                                              .value = 2,
                                              .element_bytes = 4,
                                              .width = WORDS,
                                              .height = 1};
    assert_ok(cudaGraphAddNode(&fill, graph, NULL, NULL, 0, &params));
    params = (cxr_graph_node_params){.type = CXU_GRAPH_NODE_TYPE_KERNEL};
    params.of.kernel = add_params(arguments);
    assert_ok(cudaGraphAddNode(&kernel, graph, &fill, NULL, 1, &params));
    params = (cxr_graph_node_params){.type = CXU_GRAPH_NODE_TYPE_HOST};
    params.of.host = (cxu_host_node_params){add_one, &calls};
    assert_ok(cudaGraphAddNode(&host, child, NULL, NULL, 0, &params));
    params = (cxr_graph_node_params){.type = CXU_GRAPH_NODE_TYPE_GRAPH};
    params.of.child.graph = child;
    assert_ok(cudaGraphAddNode(&inner, graph, &kernel, NULL, 1, &params));
    params = (cxr_graph_node_params){.type = CXU_GRAPH_NODE_TYPE_MEMCPY};
    params.of.copy.params = (cxr_copy_3d){.source = {words, 8, 8, 1},
                                          .destination = {words + 2, 8, 8, 1},
                                          .extent = {8, 1, 1},
                                          .kind = CXR_DEVICE_TO_DEVICE};
    assert_ok(cudaGraphAddNode(&copy, graph, &kernel, NULL, 1, &params));
    assert_ok(cudaGraphInstantiate(&exec, graph, 0));
    assert_ok(cudaGraphLaunch(exec, NULL));
    assert_ok(cudaStreamSynchronize(NULL));
    assert_words(words, 5);
    ck_assert_int_eq(calls, 1);
    value = 10;
    params = (cxr_graph_node_params){.type = CXU_GRAPH_NODE_TYPE_KERNEL};
    params.of.kernel = add_params(arguments);
    assert_ok(cudaGraphExecNodeSetParams(exec, kernel, &params));
    assert_ok(cudaGraphLaunch(exec, NULL));
    assert_words(words, 12);
    assert_error(cudaGraphAddNode(&copy, graph, NULL, NULL, 0, NULL), CXR_INVALID_VALUE);
    assert_ok(cudaGraphExecDestroy(exec));
    assert_ok(cudaGraphDestroy(child));
    assert_ok(cudaGraphDestroy(graph));
    assert_ok(cudaFree(words));
    __cudaUnregisterFatBinary(adds.binary);
}
END_TEST

START_TEST(an_executable_graph_is_updated_and_its_nodes_disabled)
{
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    cxu_graph_exec_update_result_info info;
    unsigned int enabled = 1;
    uint32_t *words = make_words(0), count = WORDS, value = 1;
    void *arguments[] = {&words, &count, &value};
    cxr_kernel_node_params params = add_params(arguments);
    code_add_register(&adds);
    assert_ok(cudaGraphCreate(&graph, 0));
    assert_ok(cudaGraphAddKernelNode(&node, graph, NULL, 0, &params));
    assert_ok(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    assert_ok(cudaGraphLaunch(exec, NULL));
    value = 10;
    assert_ok(cudaGraphExecKernelNodeSetParams(exec, node, &params));
    assert_ok(cudaGraphLaunch(exec, NULL));
    value = 100;
    assert_ok(cudaGraphKernelNodeSetParams(node, &params));
    assert_ok(cudaGraphExecUpdate(exec, graph, &info));
    ck_assert_int_eq(info.result, CXU_GRAPH_EXEC_UPDATE_SUCCESS);
    assert_ok(cudaGraphLaunch(exec, NULL));
    assert_ok(cudaGraphNodeSetEnabled(exec, node, 0));
    assert_ok(cudaGraphNodeGetEnabled(exec, node, &enabled));
    ck_assert_uint_eq(enabled, 0);
    assert_ok(cudaGraphLaunch(exec, NULL));
    assert_words(words, 111);
    assert_ok(cudaGraphExecDestroy(exec));
    assert_ok(cudaGraphDestroy(graph));
    assert_ok(cudaFree(words));
    __cudaUnregisterFatBinary(adds.binary);
}
END_TEST

static Suite *graph_suite(void)
{
    Suite *suite = suite_create("graph");
    TCase *tcase = tcase_create("graph");
    tcase_add_checked_fixture(tcase, start_with_gpus, NULL);
    tcase_add_test(tcase, parameters_of_a_kernel_node_come_out_and_go_back_in);
    tcase_add_test(tcase, so_they_do_in_a_context_of_other_code);
    tcase_add_test(tcase, so_they_do_on_another_device_and_after_a_reset);
    tcase_add_test(tcase, a_captured_kernel_is_told_by_its_stub);
    tcase_add_test(tcase, copies_come_out_and_go_back_in);
    tcase_add_test(tcase, nodes_of_all_kinds_are_added_by_one_call);
    tcase_add_test(tcase, an_executable_graph_is_updated_and_its_nodes_disabled);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(graph_suite);
