#include "observed.h"

#include <unistd.h>

#define HEAD ".version 7.0\n.target sm_75\n.address_size 64\n"
#define ADD(name, add)                                                                       \
    ".visible .entry " name "(.param .u64 at, .param .u32 by) {\n"                           \
    ".reg .b32 %r<3>;\n.reg .b64 %rd;\nld.param.u64 %rd, [at];\n"                            \
    "cvta.to.global.u64 %rd, %rd;\nld.global.u32 %r1, [%rd];\nld.param.u32 %r2, [by];\n" add \
    "add.u32 %r1, %r1, %r2;\nst.global.u32 [%rd], %r1;\nret;\n}\n"

static const char adders[] = HEAD ADD("add", "") ADD("less", "sub.u32 %r2, %r2, 1;\n");

static CUdeviceptr word, big;
static CUfunction add, less;
static unsigned int by = 3, host_word;
static int hits;
static void *arguments[] = {&word, &by};

static void hit(void *number)
{
    __atomic_fetch_add((int *)number, 1, __ATOMIC_SEQ_CST);
}

static cxu_kernel_node_params kernel_node(CUfunction function)
{
    return (cxu_kernel_node_params){.function = function,
                                    .grid_x = 1,
                                    .grid_y = 1,
                                    .grid_z = 1,
                                    .block_x = 1,
                                    .block_y = 1,
                                    .block_z = 1,
                                    .parameters = arguments};
}

static cxu_memset_node_params fill_of(unsigned int value)
{
    return (cxu_memset_node_params){word, 0, value, 4, 1, 1};
}

static cxu_memcpy_3d to_host(void)
{
    return (cxu_memcpy_3d){.source_type = CXU_MEMORYTYPE_DEVICE,
                           .source_device = word,
                           .destination_type = CXU_MEMORYTYPE_HOST,
                           .destination_host = &host_word,
                           .width_bytes = 4,
                           .height = 1,
                           .depth = 1};
}

static CUcontext set_up(void)
{
    MUST(cuInit(0));
    CUcontext context = context_on(0);
    word = memory(4);
    big = memory(4096);
    CUmodule module = module_of(adders);
    add = function_of(module, "add");
    less = function_of(module, "less");
    return context;
}

static CUgraph new_graph(void)
{
    CUgraph graph = NULL;
    MUST(cuGraphCreate(&graph, 0));
    return graph;
}

static CUgraphExec exec_of(CUgraph graph)
{
    CUgraphExec exec = NULL;
    MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

static unsigned int run(CUgraphExec exec)
{
    CUstream s = stream_with(0);
    host_word = 0;
    MUST(cuGraphLaunch(exec, s));
    MUST(cuStreamSynchronize(s));
    return host_word;
}

/* memset 1, +3, +3, copy to the host, host function, record an event: in a row */
static CUgraph chain(CUcontext context, CUgraphNode nodes[6], CUevent event)
{
    CUgraph graph = new_graph();
    cxu_memset_node_params fill = fill_of(1);
    cxu_kernel_node_params kernel = kernel_node(add);
    cxu_memcpy_3d copy = to_host();
    cxu_host_node_params call = {hit, &hits};
    MUST(cuGraphAddMemsetNode(&nodes[0], graph, NULL, 0, &fill, context));
    MUST(cuGraphAddKernelNode_v2(&nodes[1], graph, &nodes[0], 1, &kernel));
    MUST(cuGraphAddKernelNode_v2(&nodes[2], graph, &nodes[1], 1, &kernel));
    MUST(cuGraphAddMemcpyNode(&nodes[3], graph, &nodes[2], 1, &copy, context));
    MUST(cuGraphAddHostNode(&nodes[4], graph, &nodes[3], 1, &call));
    MUST(cuGraphAddEventRecordNode(&nodes[5], graph, &nodes[4], 1, event));
    return graph;
}

static void a_row_of_nodes(void)
{
    CUcontext context = set_up();
    CUgraphNode nodes[6], list[10];
    CUevent event = event_with(0), same = NULL;
    CUgraph graph = chain(context, nodes, event), clone = NULL;
    size_t count = 0, edges = 0;
    is("GRA-001", cuGraphCreate(&clone, 1));
    MUST(cuGraphGetNodes(graph, NULL, &count));
    MUST(cuGraphGetEdges(graph, NULL, NULL, &edges));
    see("GRA-003", "%zu %zu", count, edges);
    is("GRA-004", cuGraphNodeGetType(nodes[0], NULL));
    memset(list, 0x55, sizeof(list));
    count = 10;
    cxu_result result = cuGraphGetNodes(graph, list, &count);
    see("GRA-005", "%s n=%zu seventh=%s first=%d", name(result), count,
        list[6] == NULL ? "NULL" : "set", list[0] == nodes[0]);
    cxu_kernel_node_params params = {0};
    result = cuGraphKernelNodeGetParams_v2(nodes[1], &params);
    see("GRA-006", "%s own=%d value=%u", name(result), params.parameters != arguments,
        params.parameters != NULL ? *(unsigned int *)params.parameters[1] : 0);
    is("GRA-007", cuGraphKernelNodeGetParams_v2(nodes[0], &params));
    CUgraphExec exec = exec_of(graph);
    unsigned int value = run(exec);
    see("GRA-008", "%u %d", value, hits);
    params = kernel_node(less);
    result = cuGraphExecKernelNodeSetParams_v2(exec, nodes[2], &params);
    see("GRA-011", "%s %u", name(result), run(exec));
    see("GRA-010", "%u", run(exec_of(graph)));
    unsigned int enabled = 7;
    result = cuGraphNodeSetEnabled(exec, nodes[1], 0);
    MUST(cuGraphNodeGetEnabled(exec, nodes[1], &enabled));
    see("GRA-012", "%s enabled=%u %u", name(result), enabled, run(exec));
    is("GRA-013", cuGraphNodeSetEnabled(exec, nodes[4], 0));
    cxu_graph_exec_update_result_info info = {0};
    by = 5;
    params = kernel_node(add);
    MUST(cuGraphKernelNodeSetParams_v2(nodes[2], &params));
    by = 3;
    result = cuGraphExecUpdate_v2(exec_of(graph), graph, &info);
    see("GRA-015", "%s result=%d", name(result), (int)info.result);
    MUST(cuGraphClone(&clone, graph));
    CUgraphNode found = NULL;
    result = cuGraphNodeFindInClone(&found, nodes[1], clone);
    see("GRA-017", "%s other=%d", name(result), found != nodes[1]);
    is("GRA-018", cuGraphNodeFindInClone(&found, nodes[1], graph));
    is("HIP-062", cuGraphNodeFindInClone(&found, nodes[1], new_graph()));
    is("GRA-019", cuGraphAddDependencies(graph, &nodes[0], &nodes[1], 1));
    is("GRA-020", cuGraphAddDependencies(graph, &nodes[0], &nodes[0], 1));
    is("GRA-024", cuGraphRemoveDependencies(graph, &nodes[0], &nodes[5], 1));
    is("HIP-060", cuGraphRemoveDependencies(graph, NULL, NULL, 0));
    is("HIP-061", cuGraphRemoveDependencies(graph, NULL, NULL, 1));
    result = cuGraphEventRecordNodeGetEvent(nodes[5], &same);
    see("GRA-034", "%s same=%d", name(result), same == event);
    is("GRA-036", cuGraphAddEventRecordNode(&found, graph, NULL, 0, NULL));
    is("GRA-053", cuGraphDebugDotPrint(graph, "/tmp/observed.dot", 0));
    unlink("/tmp/observed.dot");
    is("GRA-055", cuGraphDebugDotPrint(graph, "/nonexistent/observed.dot", 0));
    MUST(cuGraphDestroy(clone));
    is("GRA-038", cuGraphDestroy(clone));
    is("GRA-039", cuGraphDestroy(NULL));
}

static void instantiated(void)
{
    CUcontext context = set_up();
    CUgraphNode nodes[6], child, inner;
    CUgraph graph = chain(context, nodes, event_with(0)), child_graph = NULL;
    CUgraphExec exec = NULL;
    is("GRA-025", cuGraphInstantiateWithFlags(&exec, graph, 2));
    is("GRA-026", cuGraphInstantiateWithFlags(&exec, graph, 0x10));
    is("GRA-027", cuGraphInstantiateWithFlags(NULL, graph, 0));
    cxu_graph_instantiate_params params = {.flags = 2};
    cxu_result result = cuGraphInstantiateWithParams(&exec, graph, &params);
    see("GRA-029", "%s result=%d", name(result), (int)params.out_result);
    is("GRA-030", cuGraphUpload(exec_of(graph), stream_with(0)));
    is("GRA-031", cuGraphUpload(NULL, NULL));
    is("GRA-032", cuGraphLaunch(NULL, NULL));
    MUST(cuGraphAddEmptyNode(&inner, new_graph(), NULL, 0));
    MUST(cuGraphAddChildGraphNode(&child, graph, NULL, 0, new_graph()));
    MUST(cuGraphChildGraphNodeGetGraph(child, &child_graph));
    is("GRA-033", cuGraphDestroy(child_graph));
    MUST(cuGraphAddDependencies(graph, &nodes[5], &nodes[0], 1));
    result = cuGraphInstantiateWithFlags(&exec, graph, 0);
    is("GRA-022", result);
    is("HIP-063", result);
}

static void bad_nodes(void)
{
    CUcontext context = set_up();
    CUgraph graph = new_graph();
    CUgraphNode node = NULL, first = NULL;
    MUST(cuGraphAddEmptyNode(&first, graph, NULL, 0));
    CUgraphNode twice[] = {first, first};
    cxu_kernel_node_params kernel = {.grid_x = 1,
                                     .grid_y = 1,
                                     .grid_z = 1,
                                     .block_x = 1,
                                     .block_y = 1,
                                     .block_z = 1,
                                     .parameters = arguments};
    is("GRA-041", cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &kernel));
    kernel = kernel_node(add);
    kernel.block_x = 100000;
    is("GRA-043", cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &kernel));
    kernel = kernel_node(add);
    kernel.parameters = NULL;
    is("GRA-044", cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &kernel));
    is("GRA-045", cuGraphAddKernelNode_v2(&node, graph, NULL, 0, NULL));
    kernel = kernel_node(add);
    is("GRA-046", cuGraphAddKernelNode_v2(NULL, graph, NULL, 0, &kernel));
    is("GRA-047", cuGraphAddKernelNode_v2(&node, graph, NULL, 3, &kernel));
    cxu_memset_node_params fill = fill_of(1);
    fill.element_bytes = 3;
    is("GRA-048", cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context));
    is("HIP-057", cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context));
    fill = fill_of(1);
    is("HIP-050", cuGraphAddMemsetNode(&node, graph, NULL, 1, &fill, context));
    is("HIP-052", cuGraphAddMemsetNode(&node, graph, twice, 2, &fill, context));
    fill = (cxu_memset_node_params){big, 0, 1, 1, 4097, 1};
    is("HIP-054", cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context));
    fill = (cxu_memset_node_params){big, 0, 1, 1, 16, 0};
    is("HIP-055", cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context));
    fill = (cxu_memset_node_params){big, 8, 1, 1, 16, 2};
    is("HIP-056", cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context));
    fill = (cxu_memset_node_params){0, 0, 1, 1, 16, 1};
    is("HIP-059", cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context));
    cxu_memcpy_3d copy = to_host();
    copy.depth = 0;
    is("GRA-050", cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, context));
    copy = to_host();
    copy.source_device = big + 4096;
    is("RTS-032", cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, context));
    cxu_host_node_params call = {NULL, NULL};
    is("GRA-051", cuGraphAddHostNode(&node, graph, NULL, 0, &call));
    is("GRA-052", cuGraphHostNodeSetParams(node, &call));
    cxu_graph_node_params any = {.type = (cxu_graph_node_type)99};
    see("RTS-040", "%s %s %s", name(cuGraphNodeSetParams(NULL, &any)),
        name(cuGraphNodeSetParams(first, NULL)), name(cuGraphNodeSetParams(first, &any)));
}

static void kernel_node_attributes(void)
{
    set_up();
    CUgraph graph = new_graph();
    CUgraphNode node = NULL, other = NULL;
    cxu_kernel_node_params kernel = kernel_node(add);
    uint64_t value[8];
    MUST(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &kernel));
    MUST(cuGraphAddKernelNode_v2(&other, graph, NULL, 0, &kernel));
    memset(value, 0x55, sizeof(value));
    cxu_result result = ASK("cuGraphKernelNodeGetAttribute", P(node), 8, P(value));
    see("GRA-060", "%s %d", name(result), (int)(int32_t)value[0]);
    memset(value, 0x55, sizeof(value));
    result = ASK("cuGraphKernelNodeGetAttribute", P(node), 2, P(value));
    see("GRA-062", "%s %d", name(result), (int)(int32_t)value[0]);
    is("GRA-064", ASK("cuGraphKernelNodeGetAttribute", P(node), 999, P(value)));
    is("GRA-065", ASK("cuGraphKernelNodeSetAttribute", P(node), 0, P(value)));
    memset(value, 0, sizeof(value));
    value[0] = (uint32_t)-1;
    (void)ASK("cuGraphKernelNodeSetAttribute", P(node), 8, P(value));
    result = ASK("cuGraphKernelNodeCopyAttributes", P(other), P(node));
    value[0] = 77;
    (void)ASK("cuGraphKernelNodeGetAttribute", P(other), 8, P(value));
    see("GRA-066", "%s %d", name(result), (int)(int32_t)value[0]);
    is("GRA-067", ASK("cuGraphKernelNodeCopyAttributes", 0, P(node)));
    CUlibrary library = NULL;
    CUkernel kern = NULL;
    CUcontext context = NULL;
    CUfunction function = NULL;
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    MUST(cuLibraryLoadData(&library, adders, NULL, NULL, 0, NULL, NULL, 0));
    MUST(cuLibraryGetKernel(&kern, library, "add"));
    MUST(cuKernelGetFunction(&function, kern));
    kernel.function = NULL;
    kernel.kernel = kern;
    result = cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &kernel);
    memset(&kernel, 0, sizeof(kernel));
    if (result == CXU_SUCCESS)
        result = cuGraphKernelNodeGetParams_v2(node, &kernel);
    see("GRA-069", "%s func=%d kern=%d", name(result), kernel.function == function,
        kernel.kernel == kern);
}

static void user_objects(void)
{
    void *object = NULL, *kept = NULL;
    int ran = 0;
    set_up();
    is("UOB-002", ASK("cuUserObjectCreate", P(&object), P(&ran), P(hit), 0, 1));
    is("UOB-004", ASK("cuUserObjectCreate", P(&object), P(&ran), P(hit), 2, 1));
    is("UOB-005", ASK("cuUserObjectRetain", P(object), 0));
    CUgraph graph = new_graph();
    ran = 0;
    cxu_result result = ASK("cuUserObjectCreate", P(&kept), P(&ran), P(hit), 1, 1);
    (void)ASK("cuGraphRetainUserObject", P(graph), P(kept), 1, 1);
    if (result == CXU_SUCCESS)
        result = ASK("cuGraphReleaseUserObject", P(graph), P(kept), 1);
    /* A thread of the driver's own calls it. */
    int times = 0;
    for (int i = 0; i < 2000 && times == 0 && result == CXU_SUCCESS; i++) {
        usleep(1000);
        times = __atomic_load_n(&ran, __ATOMIC_SEQ_CST);
    }
    see("UOB-006", "%s ran=%d", name(result), times);
    int held = 0;
    result = ASK("cuUserObjectCreate", P(&kept), P(&held), P(hit), 1, 1);
    (void)ASK("cuGraphRetainUserObject", P(graph), P(kept), 1, 1);
    exec_of(graph);
    MUST(cuGraphDestroy(graph));
    see("UOB-007", result == CXU_SUCCESS ? "%d" : "%d %s", held, name(result));
}

/* CUDA_MEM_ALLOC_NODE_PARAMS */
typedef struct alloc_params {
    cxu_mem_pool_properties pool;
    const cxu_mem_access *access;
    size_t count, bytes;
    CUdeviceptr at;
} alloc_params;

static alloc_params one_byte(void)
{
    return (alloc_params){.pool = {.type = CXU_MEM_ALLOCATION_TYPE_PINNED,
                                   .location = {CXU_MEM_LOCATION_TYPE_DEVICE, 0}},
                          .bytes = 1};
}

static void memory_of_graphs(void)
{
    uint64_t value = 0, used[4] = {0};
    set_up();
    is("GMA-002", ASK("cuDeviceGraphMemTrim", 77));
    is("GMA-004", ASK("cuDeviceGetGraphMemAttribute", 0, 9, P(&value)));
    is("GMA-005", ASK("cuDeviceSetGraphMemAttribute", 0, 1, P(&value)));
    value = 5;
    is("GMA-006", ASK("cuDeviceSetGraphMemAttribute", 0, 1, P(&value)));
    value = 0;
    is("GMA-007", ASK("cuDeviceSetGraphMemAttribute", 0, 0, P(&value)));
    CUgraph graph = new_graph(), lone = new_graph();
    CUgraphNode node = NULL, end = NULL;
    alloc_params params = one_byte();
    params.pool.handle_types = CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    is("GMA-010", ASK("cuGraphAddMemAllocNode", P(&node), P(graph), 0, 0, P(&params)));
    params = one_byte();
    cxu_result result = ASK("cuGraphAddMemAllocNode", P(&node), P(graph), 0, 0, P(&params));
    is("CPY-019", result);
    alloc_params got;
    memset(&got, 0x55, sizeof(got));
    cxu_result asked = ASK("cuGraphMemAllocNodeGetParams", P(node), P(&got));
    see("LUP-081", "%s bytes=%zu dptr=%d descs=%zu", name(asked), got.bytes,
        got.at == params.at && params.at != 0, got.count);
    if (result == CXU_SUCCESS)
        result = ASK("cuGraphAddMemFreeNode", P(&end), P(graph), P(&node), 1, params.at);
    is("CPY-020", result);
    CUgraphExec exec = NULL;
    if (result == CXU_SUCCESS)
        result = cuGraphInstantiateWithFlags(&exec, graph, 0);
    if (result == CXU_SUCCESS)
        result = cuGraphLaunch(exec, stream_with(0));
    is("CPY-021", result);
    params = one_byte();
    result = ASK("cuGraphAddMemAllocNode", P(&node), P(lone), 0, 0, P(&params));
    if (result == CXU_SUCCESS)
        result = cuGraphInstantiateWithFlags(&exec, lone, 0);
    if (result == CXU_SUCCESS)
        result = cuGraphLaunch(exec, NULL);
    MUST(cuCtxSynchronize());
    is("CPY-031", result);
    for (uintptr_t i = 0; i < 4; i++)
        (void)ASK("cuDeviceGetGraphMemAttribute", 0, i, P(&used[i]));
    see("CPY-022", used[0] >= 1 && used[0] <= used[1] && used[2] >= used[0] && used[2] <= used[3]
                       ? "ok"
                       : "no");
    /* CUDA_BATCH_MEM_OP_NODE_PARAMS, and what it points to */
    uint64_t operation[6] = {2, big, 1, 0, 0, 0}, out[4] = {0};
    CUcontext context;
    MUST(cuCtxGetCurrent(&context));
    uint64_t batch[4] = {P(context), 1, P(operation), 0};
    is("LUP-083", ASK("cuGraphAddBatchMemOpNode", P(&node), P(graph), 0, 0, P(batch)));
    result = ASK("cuGraphBatchMemOpNodeGetParams", P(node), P(out));
    see("LUP-084", "%s own=%d value=%d", name(result), out[2] != 0 && out[2] != P(operation),
        out[2] != 0 ? (int)((uint64_t *)(uintptr_t)out[2])[2] : 0);
}

static cxu_result add_conditional(CUgraph graph, uint64_t handle, int type, unsigned int size,
                                  CUgraphNode *out_node, CUgraph **out_bodies)
{
    cxu_graph_node_params params = {.type = (cxu_graph_node_type)13};
    CUcontext context;
    MUST(cuCtxGetCurrent(&context));
    params.of.words[0] = (long long)handle;
    params.of.words[1] = (long long)((uint64_t)size << 32 | (unsigned int)type);
    params.of.words[3] = (long long)P(context);
    cxu_result result = cuGraphAddNode_v2(out_node, graph, NULL, NULL, 0, &params);
    *out_bodies = (CUgraph *)(uintptr_t)params.of.words[2];
    return result;
}

static uint64_t handle_of(CUgraph graph, unsigned int value, unsigned int flags)
{
    uint64_t handle = 0;
    CUcontext context;
    MUST(cuCtxGetCurrent(&context));
    (void)ASK("cuGraphConditionalHandleCreate", P(&handle), P(graph), P(context), value, flags);
    return handle;
}

static void conditions(void)
{
    uint64_t handle = 0;
    CUcontext context = set_up();
    CUgraph graph = new_graph(), clone = NULL, *bodies = NULL, *same;
    CUgraphNode node = NULL, in_body = NULL;
    CUgraphExec exec = NULL;
    is("CND-001", ASK("cuGraphConditionalHandleCreate", P(&handle), P(graph), P(context), 0, 7));
    is("CND-002", ASK("cuGraphConditionalHandleCreate", P(&handle), 0, P(context), 0, 0));
    is("CND-003", ASK("cuGraphConditionalHandleCreate", 0, P(graph), P(context), 0, 0));
    is("CND-004", ASK("cuGraphConditionalHandleCreate", P(&handle), P(graph), 0, 0, 0));
    handle = handle_of(graph, 0, 1);
    cxu_result bad[] = {add_conditional(graph, handle, 1, 2, &node, &same),
                        add_conditional(graph, handle, 0, 3, &node, &same),
                        add_conditional(graph, handle, 2, 0, &node, &same),
                        add_conditional(graph, handle, 3, 1, &node, &same),
                        add_conditional(graph, 0, 0, 1, &node, &same),
                        add_conditional(graph, handle_of(new_graph(), 0, 0), 0, 1, &node, &same)};
    cxu_result made = add_conditional(graph, handle, 1, 1, &node, &bodies);
    cxu_result again = add_conditional(graph, handle, 1, 1, &node, &same);
    int all = made == CXU_SUCCESS && again == CXU_INVALID_VALUE;
    for (int i = 0; i < 6; i++)
        all = all && bad[i] == CXU_INVALID_VALUE;
    see("CND-010", all ? "INVALID_VALUE each" : "%s", name(made));
    is("CND-012", cuGraphClone(&clone, graph));
    is("CND-014", made != CXU_SUCCESS ? made : cuGraphDestroy(bodies[0]));
    is("CND-015", made != CXU_SUCCESS ? made : cuGraphInstantiateWithFlags(&exec, bodies[0], 0));
    cxu_memset_node_params fill = fill_of(5);
    MUST(cuMemsetD32_v2(word, 1, 1));
    unsigned int value = 0;
    if (made == CXU_SUCCESS) {
        MUST(cuGraphAddMemsetNode(&in_body, bodies[0], NULL, 0, &fill, context));
        run(exec_of(graph));
        MUST(cuMemcpyDtoH_v2(&value, word, 4));
    }
    see("CND-019", value == 1 ? "its body does not run" : "another");
    CUgraph decided = new_graph();
    value = 0;
    made = add_conditional(decided, handle_of(decided, 9, 1), 2, 2, &node, &bodies);
    if (made == CXU_SUCCESS) {
        for (int i = 0; i < 2; i++)
            MUST(cuGraphAddMemsetNode(&in_body, bodies[i], NULL, 0, &fill, context));
        run(exec_of(decided));
        MUST(cuMemcpyDtoH_v2(&value, word, 4));
    }
    see("CND-020", value == 1 ? "no body runs" : "another");
    CUgraph hosting = new_graph();
    cxu_host_node_params call = {hit, &hits};
    made = add_conditional(hosting, handle_of(hosting, 0, 1), 0, 1, &node, &bodies);
    if (made == CXU_SUCCESS)
        made = cuGraphAddHostNode(&in_body, bodies[0], NULL, 0, &call);
    is("CND-017", made != CXU_SUCCESS ? made : cuGraphInstantiateWithFlags(&exec, hosting, 0));
    CUgraph idle = new_graph();
    handle = handle_of(idle, 0, 0);
    cxu_graph_instantiate_params params = {.flags = 0};
    cxu_result result = cuGraphInstantiateWithParams(&exec, idle, &params);
    see("CND-016", "%s, result_out %d", name(result), (int)params.out_result);
}

static void numbers(void)
{
    uint64_t a = 0, b = 0, none = 0;
    unsigned int local[3] = {77, 77, 77};
    CUcontext context = set_up();
    CUgraphNode nodes[6], child = NULL, first = NULL;
    CUgraph one = chain(context, nodes, event_with(0)), two = new_graph(), within = NULL;
    (void)ASK("cuGraphGetId", P(one), P(&a));
    (void)ASK("cuGraphGetId", P(two), P(&b));
    cxu_result result = ASK("cuGraphGetId", 0, P(&none));
    see("NEW-014", b == a + 1 ? "%s" : "%s another", name(result));
    result = CXU_SUCCESS;
    for (int i = 0; i < 3 && result == CXU_SUCCESS; i++)
        result = ASK("cuGraphNodeGetLocalId", P(nodes[i]), P(&local[i]));
    see("NEW-016", "%s", result == CXU_SUCCESS && local[2] != 2 ? "another" : name(result));
    MUST(cuGraphAddEmptyNode(&first, two, NULL, 0));
    MUST(cuGraphAddChildGraphNode(&child, one, NULL, 0, two));
    result = ASK("cuGraphNodeGetContainingGraph", P(first), P(&within));
    see("NEW-018", "%s", result == CXU_SUCCESS && within != two ? "another" : name(result));
    cxu_graph_node_params params;
    memset(&params, 0, sizeof(params));
    result = ASK("cuGraphNodeGetParams", P(nodes[0]), P(&params));
    see("NEW-019", result == CXU_SUCCESS ? "type %d" : "%d %s", (int)params.type, name(result));
    CUgraphNode copy = NULL;
    cxu_memcpy_3d of_word = to_host();
    CUgraph variable = new_graph();
    MUST(cuGraphAddMemcpyNode(&copy, variable, NULL, 0, &of_word, context));
    CUgraphExec exec = exec_of(variable);
    MUST(cuMemsetD32_v2(word, 11, 1));
    unsigned int before = run(exec);
    of_word.source_device = big;
    MUST(cuMemsetD32_v2(big, 12, 1));
    MUST(cuGraphExecMemcpyNodeSetParams(exec, copy, &of_word, context));
    see("RTS-031", before == 11 && run(exec) == 12 ? "SUCCESS" : "another");
}

const family graph_families[] = {{"a_row_of_nodes", NULL, a_row_of_nodes},
                                 {"instantiated", NULL, instantiated},
                                 {"bad_nodes", NULL, bad_nodes},
                                 {"kernel_node_attributes", NULL, kernel_node_attributes},
                                 {"user_objects", NULL, user_objects},
                                 {"memory_of_graphs", NULL, memory_of_graphs},
                                 {"conditions", NULL, conditions},
                                 {"numbers", NULL, numbers},
                                 {NULL, NULL, NULL}};
