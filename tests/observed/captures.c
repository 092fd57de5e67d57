#include "observed.h"

#define HEAD ".version 7.0\n.target sm_75\n.address_size 64\n"

static const char add_4[] =
    HEAD ".visible .entry add(.param .u64 at) {\n.reg .b32 %r;\n.reg .b64 %rd;\n"
         "ld.param.u64 %rd, [at];\n"
         "cvta.to.global.u64 %rd, %rd;\nld.global.u32 %r, [%rd];\nadd.u32 %r, %r, 4;\n"
         "st.global.u32 [%rd], %r;\nret;\n}\n";

/* What a call in a capture is given, and where it leaves the capture. */
static struct {
    CUstream s, other;
    CUdeviceptr d, later;
    CUevent outside, captured;
    CUcontext context;
    CUmemoryPool pool;
    int ran;
} on;

static const struct {
    const char *name;
    cxu_stream_capture_mode mode;
} modes[] = {{"GLOBAL", CXU_STREAM_CAPTURE_MODE_GLOBAL},
             {"THREAD_LOCAL", CXU_STREAM_CAPTURE_MODE_THREAD_LOCAL},
             {"RELAXED", CXU_STREAM_CAPTURE_MODE_RELAXED}};
enum { GLOBAL, LOCAL, RELAXED };

static void nothing(void *number)
{
    ++*(int *)number;
}

static void called_back(CUstream stream, cxu_result status, void *number)
{
    (void)stream;
    (void)status;
    ++*(int *)number;
}

static void set_up(void)
{
    static int done;
    if (done++)
        return;
    MUST(cuInit(0));
    on.context = context_on(0);
    on.d = memory(4096);
    on.other = stream_with(CXU_STREAM_NON_BLOCKING);
    on.outside = event_with(0);
    MUST(cuEventRecord(on.outside, on.other));
    MUST(cuStreamSynchronize(on.other));
    MUST(cuDeviceGetDefaultMemPool(&on.pool, 0));
    MUST(cuMemAllocAsync(&on.later, 64, on.other));
    MUST(cuStreamSynchronize(on.other));
}

static void begin(unsigned int flags, int mode)
{
    set_up();
    on.s = stream_with(flags);
    on.captured = event_with(0);
    MUST(cuStreamBeginCapture_v2(on.s, modes[mode].mode));
    MUST(cuMemsetD8Async(on.d, 1, 64, on.s));
    MUST(cuEventRecord(on.captured, on.s));
}

static int status_of(CUstream stream)
{
    cxu_stream_capture_status status = (cxu_stream_capture_status)7;
    (void)cuStreamIsCapturing(stream, &status);
    return (int)status;
}

static cxu_result end(CUgraph *out_graph)
{
    CUgraph graph = NULL;
    cxu_result result = cuStreamEndCapture(on.s, &graph);
    if (graph != NULL && out_graph == NULL)
        MUST(cuGraphDestroy(graph));
    if (out_graph != NULL)
        *out_graph = graph;
    MUST(cuStreamDestroy_v2(on.s));
    return result;
}

typedef cxu_result (*call)(void);

typedef struct errand {
    call made;
    cxu_result result;
} errand;

static void run_elsewhere(void *argument)
{
    errand *it = argument;
    MUST(cuCtxSetCurrent(on.context));
    it->result = it->made();
}

static cxu_result from_another_thread(call made)
{
    errand it = {made, CXU_SUCCESS};
    elsewhere(run_elsewhere, &it);
    return it.result;
}

static cxu_result alloc_fails(void)
{
    CUdeviceptr at;
    cxu_result result = cuMemAlloc_v2(&at, 64);
    (void)cuMemFree_v2(0);
    return result;
}
static cxu_result alloc(void)
{
    CUdeviceptr at;
    return cuMemAlloc_v2(&at, 64);
}
static cxu_result alloc_managed(void)
{
    CUdeviceptr at;
    return cuMemAllocManaged(&at, 64, CXU_MEM_ATTACH_GLOBAL);
}
static cxu_result synchronize(void)
{
    return cuStreamSynchronize(on.s);
}
static cxu_result synchronize_other(void)
{
    return cuStreamSynchronize(on.other);
}
static cxu_result synchronize_legacy(void)
{
    return cuStreamSynchronize(NULL);
}
static cxu_result synchronize_context(void)
{
    return cuCtxSynchronize();
}
static cxu_result query(void)
{
    return cuStreamQuery(on.s);
}
static cxu_result attach(void)
{
    return ASK("cuStreamAttachMemAsync", P(on.s), on.d, 0, 4);
}
static cxu_result copy_peer(void)
{
    return cuMemcpyPeerAsync(on.d, on.context, on.d + 64, on.context, 16, on.s);
}
static cxu_result add_callback(void)
{
    return cuStreamAddCallback(on.s, called_back, &on.ran, 0);
}
static cxu_result set_limit(void)
{
    return cuCtxSetLimit(CXU_LIMIT_MALLOC_HEAP_SIZE, 16 * MIB);
}
static cxu_result free_async_plain(void)
{
    return cuMemFreeAsync(on.d, on.s);
}
static cxu_result begin_again(void)
{
    return cuStreamBeginCapture_v2(on.s, CXU_STREAM_CAPTURE_MODE_GLOBAL);
}
static cxu_result wait_outside(void)
{
    return cuStreamWaitEvent(on.s, on.outside, 0);
}
static cxu_result fill(void)
{
    return cuMemsetD8_v2(on.d, 1, 64);
}
static cxu_result fill_legacy(void)
{
    return cuMemsetD8Async(on.d, 1, 64, NULL);
}
static cxu_result copy_pageable(void)
{
    unsigned char bytes[64] = {0};
    return cuMemcpyHtoD_v2(on.d, bytes, sizeof(bytes));
}
static cxu_result pool_get(void)
{
    uint64_t value;
    return cuMemPoolGetAttribute(on.pool, CXU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value);
}
static cxu_result pool_set(void)
{
    uint64_t value = 0;
    return cuMemPoolSetAttribute(on.pool, CXU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value);
}
static cxu_result device_attribute(void)
{
    int value;
    return cuDeviceGetAttribute(&value, CXU_ATTRIBUTE_WARP_SIZE, 0);
}
static cxu_result stream_id(void)
{
    unsigned long long id;
    return cuStreamGetId(on.s, &id);
}
static cxu_result free_async_elsewhere(void)
{
    CUdeviceptr at = 0;
    cxu_result result = cuMemFreeAsync(on.later, on.other);
    if (result == CXU_SUCCESS)
        MUST(cuMemAllocAsync(&at, 64, on.other));
    on.later = at != 0 ? at : on.later;
    return result;
}
static cxu_result query_outside(void)
{
    return cuEventQuery(on.outside);
}
static cxu_result relaxed_calls(void)
{
    cxu_stream_capture_mode mode = CXU_STREAM_CAPTURE_MODE_RELAXED;
    MUST(cuThreadExchangeStreamCaptureMode(&mode));
    cxu_result result = alloc();
    if (result == CXU_SUCCESS)
        result = cuMemsetD8Async(on.d, 1, 64, on.other);
    if (result == CXU_SUCCESS)
        result = cuStreamSynchronize(on.other);
    MUST(cuThreadExchangeStreamCaptureMode(&mode));
    return result;
}
static cxu_result copy_batch(void)
{
    static unsigned char host[16];
    CUdeviceptr to[] = {on.d}, from[] = {P(host)};
    size_t sizes[] = {16}, first[] = {0}, fail;
    int how[8] = {1};
    return ASK("cuMemcpyBatchAsync", P(to), P(from), P(sizes), 1, P(how), P(first), 1, P(&fail),
               P(on.s));
}
static cxu_result query_captured(void)
{
    return cuEventQuery(on.captured);
}
static cxu_result synchronize_captured(void)
{
    return cuEventSynchronize(on.captured);
}
static cxu_result is_capturing_legacy(void)
{
    cxu_stream_capture_status status;
    return cuStreamIsCapturing(NULL, &status);
}
static cxu_result info_of_legacy(void)
{
    cxu_stream_capture_status status;
    return cuStreamGetCaptureInfo_v2(NULL, &status, NULL, NULL, NULL, NULL);
}
static cxu_result host_function_legacy(void)
{
    return cuLaunchHostFunc(NULL, nothing, &on.ran);
}
static cxu_result end_here(void)
{
    CUgraph graph = NULL;
    cxu_result result = cuStreamEndCapture(on.s, &graph);
    return result == CXU_SUCCESS && graph == NULL ? CXU_UNKNOWN : result;
}
static cxu_result on_gpu_b(call made)
{
    CUcontext context = on.context;
    MUST(cuCtxCreate_v2(&context, 0, 1));
    cxu_result result = made();
    MUST(cuCtxDestroy_v2(context));
    return result;
}
static cxu_result synchronize_b(void)
{
    return on_gpu_b(synchronize_context);
}
static cxu_result synchronize_legacy_b(void)
{
    return on_gpu_b(synchronize_legacy);
}
static cxu_result in_global_mode_b(void)
{
    cxu_stream_capture_mode mode = CXU_STREAM_CAPTURE_MODE_GLOBAL;
    MUST(cuThreadExchangeStreamCaptureMode(&mode));
    return on_gpu_b(synchronize_legacy);
}
static CUgraphExec launched;
static cxu_result launch_b(void)
{
    CUstream s = stream_with(CXU_STREAM_NON_BLOCKING);
    return cuGraphLaunch(launched, s);
}
static cxu_result three_calls(void)
{
    unsigned char bytes[64] = {0};
    CUdeviceptr at;
    cxu_result result = cuCtxSynchronize();
    if (result == CXU_SUCCESS)
        result = cuMemcpyHtoD_v2(on.d, bytes, sizeof(bytes));
    return result == CXU_SUCCESS ? cuMemAlloc_v2(&at, 64) : result;
}

enum { HERE = 0, THERE = 1 };
enum { BLOCKING = 0, APART = CXU_STREAM_NON_BLOCKING };
/* What of it is told. */
enum { ALL, STATUS, RESULT, GOES_ON, INVALIDATES };

typedef struct row {
    const char *id;
    unsigned int flags;
    int mode, where;
    call made;
    int told;
} row;

static const row rows[] = {
    {"REF-002", APART, GLOBAL, HERE, alloc_fails, ALL},
    {"REF-004", APART, GLOBAL, HERE, alloc_managed, ALL},
    {"REF-005", APART, GLOBAL, HERE, synchronize, ALL},
    {"REF-006", APART, GLOBAL, HERE, query, ALL},
    {"REF-007", APART, GLOBAL, HERE, synchronize_context, ALL},
    {"REF-009", APART, GLOBAL, HERE, attach, ALL},
    {"REF-010", APART, GLOBAL, HERE, copy_peer, ALL},
    {"REF-011", APART, GLOBAL, HERE, add_callback, ALL},
    {"REF-012", APART, GLOBAL, HERE, set_limit, ALL},
    {"REF-013", APART, GLOBAL, HERE, free_async_plain, ALL},
    {"REF-014", APART, GLOBAL, HERE, begin_again, ALL},
    {"REF-016", APART, GLOBAL, HERE, wait_outside, ALL},
    {"REF-018", APART, GLOBAL, HERE, fill, ALL},
    {"CAP-004", APART, GLOBAL, HERE, begin_again, STATUS},
    {"CAP-013", APART, GLOBAL, HERE, synchronize, RESULT},
    {"MOR-001", APART, GLOBAL, HERE, pool_get, STATUS},
    {"MOR-002", APART, GLOBAL, HERE, pool_set, STATUS},
    {"MOR-003", APART, LOCAL, HERE, pool_get, STATUS},
    {"MOR-005", APART, GLOBAL, HERE, device_attribute, STATUS},
    {"MOR-007", APART, GLOBAL, HERE, stream_id, STATUS},
    {"MOR-040", APART, GLOBAL, THERE, free_async_elsewhere, STATUS},
    {"MOR-041", APART, LOCAL, THERE, free_async_elsewhere, STATUS},
    {"MOR-011", APART, LOCAL, THERE, query_outside, STATUS},
    {"MOR-013", APART, GLOBAL, HERE, alloc, STATUS},
    {"MOR-014", APART, GLOBAL, HERE, relaxed_calls, STATUS},
    {"MOR-015", APART, RELAXED, HERE, query, STATUS},
    {"MOR-030", APART, GLOBAL, HERE, copy_batch, STATUS},
    {"HIP-003", APART, GLOBAL, THERE, end_here, RESULT},
    {"HIP-010", APART, GLOBAL, HERE, synchronize, RESULT},
    {"HIP-012", APART, RELAXED, HERE, synchronize, RESULT},
    {"HIP-014", APART, LOCAL, HERE, query, RESULT},
    {"HIP-015", APART, RELAXED, HERE, query, RESULT},
    {"HIP-016", APART, GLOBAL, HERE, synchronize_context, RESULT},
    {"HIP-017", APART, LOCAL, HERE, synchronize_context, RESULT},
    {"HIP-019", APART, GLOBAL, HERE, synchronize_captured, RESULT},
    {"HIP-020", APART, LOCAL, HERE, synchronize_captured, RESULT},
    {"HIP-021", APART, RELAXED, HERE, synchronize_captured, RESULT},
    {"HIP-022", APART, GLOBAL, HERE, query_captured, RESULT},
    {"HIP-023", APART, LOCAL, HERE, query_captured, RESULT},
    {"HIP-025", BLOCKING, GLOBAL, HERE, copy_pageable, RESULT},
    {"HIP-027", BLOCKING, GLOBAL, HERE, fill, RESULT},
    {"HIP-028", BLOCKING, LOCAL, HERE, fill, RESULT},
    {"HIP-029", APART, GLOBAL, HERE, synchronize_other, RESULT},
    {"HIP-031", APART, GLOBAL, THERE, synchronize_other, ALL},
    {"HIP-033", BLOCKING, GLOBAL, HERE, is_capturing_legacy, ALL},
    {"HIP-034", BLOCKING, GLOBAL, HERE, info_of_legacy, ALL},
    {"HIP-035", BLOCKING, GLOBAL, HERE, host_function_legacy, RESULT},
    {"ROX-001", BLOCKING, LOCAL, HERE, synchronize_legacy, STATUS},
    {"ROX-002", BLOCKING, GLOBAL, HERE, synchronize_legacy, STATUS},
    {"ROX-003", BLOCKING, GLOBAL, THERE, synchronize_legacy, STATUS},
    {"ROX-004", BLOCKING, LOCAL, THERE, synchronize_legacy, STATUS},
    {"ROX-008", BLOCKING, GLOBAL, THERE, synchronize_legacy_b, STATUS},
    {"ROC-003", BLOCKING, GLOBAL, HERE, fill_legacy, INVALIDATES},
    {"ROC-004", BLOCKING, GLOBAL, THERE, fill_legacy, INVALIDATES},
    {"ROC-005", BLOCKING, LOCAL, THERE, fill_legacy, INVALIDATES},
    {"ROC-006", BLOCKING, GLOBAL, THERE, synchronize_context, INVALIDATES},
    {"ROC-007", BLOCKING, LOCAL, THERE, launch_b, GOES_ON},
    {"ROC-008", BLOCKING, GLOBAL, THERE, in_global_mode_b, GOES_ON},
    {"ROC-020", APART, LOCAL, THERE, three_calls, GOES_ON},
};

static void tell(const row *it, cxu_result result, int status, cxu_result ended)
{
    switch (it->told) {
    case ALL:
        see(it->id, "%s status=%d end=%s", name(result), status, name(ended));
        break;
    case STATUS:
        see(it->id, "%s status=%d", name(result), status);
        break;
    case GOES_ON:
        see(it->id, result == CXU_SUCCESS && ended == CXU_SUCCESS ? "the capture goes on" : "%s %s",
            name(result), name(ended));
        break;
    case INVALIDATES:
        see(it->id, "%d%s", (int)result, status == 2 ? ", the capture is invalidated" : "");
        break;
    default:
        is(it->id, result);
    }
}

static void calls_in_captures(void)
{
    CUgraph graph = NULL;
    set_up();
    MUST(cuGraphCreate(&graph, 0));
    MUST(cuGraphInstantiateWithFlags(&launched, graph, 0));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const row *it = &rows[i];
        begin(it->flags, it->mode);
        cxu_result result = it->where == HERE ? it->made() : from_another_thread(it->made);
        int status = status_of(on.s);
        tell(it, result, status, end(NULL));
    }
    int all = 1;
    for (int mode = GLOBAL; mode <= RELAXED; mode++) {
        begin(BLOCKING, mode);
        cxu_result result = from_another_thread(synchronize_b);
        all = end(NULL) == CXU_SUCCESS && result == CXU_SUCCESS && all;
    }
    see("ROC-001", all ? "the capture goes on" : "another");
    begin(APART, GLOBAL);
    cxu_result first = alloc(), second = alloc_managed();
    (void)end(NULL);
    see("MOR-036", "%s", name(second == CXU_STREAM_CAPTURE_INVALIDATED ? first : second));
    begin(APART, GLOBAL);
    see("MOR-037", synchronize_context() != CXU_SUCCESS ? "refused" : "SUCCESS");
    CUgraph none = graph;
    cxu_result result = cuStreamEndCapture(on.s, &none);
    see("MOR-016", "%s graph=%d status=%d", name(result), none != NULL, status_of(on.s));
    begin(APART, RELAXED);
    result = from_another_thread(end_here);
    see("HIP-004", "%s graph=%d", name(result), result == CXU_SUCCESS);
}

static void ends_and_joins(void)
{
    CUgraph graph = NULL;
    set_up();
    CUstream s = stream_with(0), fork = stream_with(0);
    CUevent event = event_with(0);
    is("HIP-001", cuStreamEndCapture(NULL, &graph));
    is("HIP-002", cuStreamEndCapture(s, NULL));
    is("CAP-001", cuStreamEndCapture(s, &graph));
    is("CAP-003", cuStreamBeginCapture_v2(s, (cxu_stream_capture_mode)9));
    is("HIP-038", cuStreamIsCapturing(s, NULL));
    is("CND-021", ASK("cuStreamBeginCaptureToGraph", P(s), 0, 0, 0, 0, 0));
    MUST(cuStreamBeginCapture_v2(s, CXU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(cuMemsetD8Async(on.d, 1, 64, s));
    MUST(cuEventRecord(event, s));
    MUST(cuStreamWaitEvent(fork, event, 0));
    see("CAP-008", "%d", status_of(fork));
    cxu_result result = cuEventQuery(event);
    see("CAP-010", "%s status=%d", name(result), status_of(s));
    is("CAP-011", cuStreamEndCapture(s, &graph));
    MUST(cuStreamBeginCapture_v2(s, CXU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(cuMemsetD8Async(on.d, 1, 64, s));
    MUST(cuEventRecord(event, s));
    MUST(cuStreamWaitEvent(fork, event, 0));
    MUST(cuMemsetD8Async(on.d, 1, 64, fork));
    graph = (CUgraph)(void *)&graph;
    result = cuStreamEndCapture(s, &graph);
    see("CAP-012", "%s graph=%s status=%d", name(result), graph == NULL ? "NULL" : "set",
        status_of(fork));
    MUST(cuStreamBeginCapture_v2(s, CXU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(cuEventRecord(event, s));
    MUST(cuStreamWaitEvent(fork, event, 0));
    is("HIP-036", cuStreamEndCapture(fork, &graph));
    (void)cuStreamEndCapture(s, &graph);
    MUST(cuStreamBeginCapture_v2(s, CXU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(cuMemsetD8Async(on.d, 1, 64, s));
    MUST(cuEventRecord(event, s));
    MUST(cuStreamWaitEvent(fork, event, 0));
    MUST(cuMemsetD8Async(on.d, 1, 64, fork));
    MUST(cuEventRecord(event, fork));
    MUST(cuStreamWaitEvent(s, event, 0));
    MUST(cuMemsetD8Async(on.d, 1, 64, fork));
    is("HIP-037", cuStreamEndCapture(s, &graph));
    cxu_stream_capture_mode mode = CXU_STREAM_CAPTURE_MODE_RELAXED;
    result = cuThreadExchangeStreamCaptureMode(&mode);
    see("CAP-020", "%s %d", name(result), (int)mode);
}

static void whole_captures(void)
{
    CUgraph shown = NULL, graph = NULL;
    cxu_stream_capture_status status;
    uint64_t id = 0;
    const CUgraphNode *list = NULL;
    size_t count = 0, nodes = 0, edges = 0;
    static int host = -1, hits;
    set_up();
    CUstream s = stream_with(0);
    CUfunction add = function_of(module_of(add_4), "add");
    CUdeviceptr word = memory(4);
    void *arguments[] = {&word};
    MUST(cuMemsetD32_v2(word, 1, 1));
    MUST(cuStreamBeginCapture_v2(s, CXU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, s, arguments, NULL));
    MUST(cuLaunchHostFunc(s, nothing, &hits));
    MUST(cuMemcpyDtoHAsync_v2(&host, word, 4, s));
    MUST(cuMemsetD32Async(word, 9, 1, s));
    cxu_result result = cuStreamGetCaptureInfo_v2(s, &status, &id, &shown, &list, &count);
    MUST(cuGraphGetNodes(shown, NULL, &nodes));
    see("CAP-005", "%s status=%d id=%d graph=%d deps=%zu nodes=%zu", name(result), (int)status,
        id > 0, shown != NULL, count, nodes);
    result = cuStreamEndCapture(s, &graph);
    see("CAP-006", "%s same=%d host=%d hits=%d", name(result), graph == shown, host, hits);
    CUgraphExec exec;
    unsigned int now = 0;
    MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
    MUST(cuGraphLaunch(exec, s));
    MUST(cuStreamSynchronize(s));
    MUST(cuMemcpyDtoH_v2(&now, word, 4));
    see("CAP-007", "%d %u", host, now);
    CUgraphNode by_hand = NULL;
    MUST(cuGraphCreate(&shown, 0));
    MUST(cuGraphAddEmptyNode(&by_hand, shown, NULL, 0));
    is("CAP-015",
       cuStreamBeginCaptureToGraph(s, shown, &by_hand, NULL, 1, CXU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(cuMemsetD32Async(word, 9, 1, s));
    result = cuStreamEndCapture(s, &graph);
    MUST(cuGraphGetNodes(graph, NULL, &nodes));
    MUST(cuGraphGetEdges(graph, NULL, NULL, &edges));
    see("CAP-017", "%s same=%d nodes=%zu edges=%zu", name(result), graph == shown, nodes, edges);
    MUST(cuStreamBeginCapture_v2(s, CXU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(cuMemsetD32Async(word, 9, 1, s));
    MUST(cuStreamGetCaptureInfo_v2(s, &status, NULL, &shown, NULL, NULL));
    MUST(cuGraphAddEmptyNode(&by_hand, shown, NULL, 0));
    result = cuStreamUpdateCaptureDependencies(s, &by_hand, 1, 1);
    MUST(cuStreamGetCaptureInfo_v2(s, &status, NULL, NULL, &list, &count));
    see("CAP-018", "%s deps=%zu", name(result), count);
    is("CAP-019", cuStreamUpdateCaptureDependencies(s, &by_hand, 1, 7));
    MUST(cuStreamEndCapture(s, &graph));
}

static size_t nodes_at_end(CUstream s, cxu_result *result)
{
    CUgraph graph = NULL;
    size_t nodes = 0;
    cxu_result ended = cuStreamEndCapture(s, &graph);
    if (*result == CXU_SUCCESS)
        *result = ended;
    if (graph != NULL)
        MUST(cuGraphGetNodes(graph, NULL, &nodes));
    return nodes;
}

static CUstream anew(void)
{
    CUstream s = stream_with(CXU_STREAM_NON_BLOCKING);
    MUST(cuStreamBeginCapture_v2(s, CXU_STREAM_CAPTURE_MODE_RELAXED));
    return s;
}

static void captured_work(void)
{
    static unsigned char host[64];
    uint64_t operations[2][6] = {{2}, {2}}; /* CUstreamBatchMemOpParams: WRITE_VALUE_32 */
    CUdeviceptr at = 0;
    set_up();
    CUstream s = anew();
    cxu_result result = ASK("cuStreamWriteValue32_v2", P(s), on.d, 1, 0);
    if (result == CXU_SUCCESS)
        result = ASK("cuStreamWaitValue32_v2", P(s), on.d, 1, 0);
    (void)nodes_at_end(s, &result);
    is("CPD-001", result);
    s = anew();
    operations[0][1] = on.d;
    operations[1][1] = on.d + 8;
    result = ASK("cuStreamBatchMemOp_v2", P(s), 2, P(operations), 0);
    (void)nodes_at_end(s, &result);
    is("CPD-003", result);
    s = anew();
    result = cuMemAllocAsync(&at, 64, s);
    if (result == CXU_SUCCESS)
        result = cuMemcpyDtoDAsync_v2(at, on.d, 64, s);
    if (result == CXU_SUCCESS)
        result = cuMemFreeAsync(at, s);
    size_t nodes = nodes_at_end(s, &result);
    see("CPD-004", "%s nodes=%zu", name(result), nodes);
    s = anew();
    result = cuMemAllocAsync(&at, 64, s);
    (void)nodes_at_end(s, &result);
    is("MOR-035", result == CXU_SUCCESS ? cuMemFree_v2(at) : result);
    s = anew();
    result = cuLaunchHostFunc(s, nothing, &on.ran);
    nodes = nodes_at_end(s, &result);
    see("CPD-005", "%s nodes=%zu", name(result), nodes);
    s = anew();
    cxu_memcpy_2d flat = {.source_type = CXU_MEMORYTYPE_HOST,
                          .source_host = host,
                          .destination_type = CXU_MEMORYTYPE_DEVICE,
                          .destination_device = on.d,
                          .source_pitch_bytes = 16,
                          .destination_pitch_bytes = 16,
                          .width_bytes = 16,
                          .height = 2};
    result = cuMemcpy2DAsync_v2(&flat, s);
    (void)nodes_at_end(s, &result);
    is("CPD-006", result);
    s = anew();
    cxu_memcpy_3d deep = {.source_type = CXU_MEMORYTYPE_HOST,
                          .source_host = host,
                          .destination_type = CXU_MEMORYTYPE_DEVICE,
                          .destination_device = on.d,
                          .width_bytes = 16,
                          .height = 2,
                          .depth = 1};
    result = cuMemcpy3DAsync_v2(&deep, s);
    (void)nodes_at_end(s, &result);
    is("CPD-007", result);
    s = anew();
    MUST(cuMemsetD8Async(on.d, 1, 16, s));
    MUST(cuMemsetD16Async(on.d, 1, 16, s));
    MUST(cuMemsetD32Async(on.d, 1, 16, s));
    MUST(cuMemsetD2D8Async(on.d, 16, 1, 8, 2, s));
    MUST(cuMemsetD2D32Async(on.d, 16, 1, 2, 2, s));
    result = CXU_SUCCESS;
    nodes = nodes_at_end(s, &result);
    see("CPD-008", "%s nodes=%zu", name(result), nodes);
}

const family capture_families[] = {{"calls_in_captures", NULL, calls_in_captures},
                                   {"ends_and_joins", NULL, ends_and_joins},
                                   {"whole_captures", NULL, whole_captures},
                                   {"captured_work", NULL, captured_work},
                                   {NULL, NULL, NULL}};
