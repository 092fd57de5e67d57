#include "observed.h"

#define HEAD ".version 7.0\n.target sm_75\n.address_size 64\n"

static const char kernels[] = HEAD ".visible .entry stop() {\ntrap;\nret;\n}\n"
                                   ".visible .entry stray() {\n.reg .b64 %rd1;\nmov.u64 %rd1, 64;\n"
                                   "st.global.u32 [%rd1], 1;\nret;\n}\n";

/* An assertion, as compilers write one. */
static const char asserting[] =
    HEAD ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, "
         ".param .b64 e);\n"
         ".global .align 1 .b8 text[2] = {48, 0};\n"
         ".visible .entry fail() {\n.reg .b64 %rd<3>;\n"
         "mov.u64 %rd1, text;\ncvta.global.u64 %rd1, %rd1;\n{\n"
         ".param .b64 a;\n.param .b64 b;\n.param .b32 c;\n.param .b64 d;\n.param .b64 e;\n"
         "st.param.b64 [a], %rd1;\nst.param.b64 [b], %rd1;\nst.param.b32 [c], 1;\n"
         "st.param.b64 [d], %rd1;\nst.param.b64 [e], 1;\n"
         "call.uni __assertfail, (a, b, c, d, e);\n}\nret;\n}\n";

static cxu_result launch(CUfunction function)
{
    return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}

static void trapped(void)
{
    CUdeviceptr at;
    CUdevice device = -1;
    CUcontext context;
    int value;
    MUST(cuInit(0));
    context_on(0);
    is("ERR-001", launch(function_of(module_of(kernels), "stop")));
    is("ERR-002", cuCtxSynchronize());
    is("ERR-003", cuCtxSynchronize());
    is("ERR-004", cuMemAlloc_v2(&at, 64));
    is("ERR-006", cuStreamQuery(NULL));
    cxu_result result = cuCtxGetDevice(&device);
    see("ERR-008", "%s %d", name(result), device);
    is("ERR-009", cuDeviceGetAttribute(&value, CXU_ATTRIBUTE_WARP_SIZE, 0));
    is("ERR-010", cuCtxGetCurrent(&context));
}

static void strayed(void)
{
    CUcontext primary;
    unsigned int flags;
    int active = -1, same = 1;
    CUdeviceptr at;
    unsigned char byte = 0;
    CUstream stream;
    CUevent event;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&primary, 0));
    MUST(cuCtxSetCurrent(primary));
    CUdeviceptr kept = memory(64);
    CUfunction stray = function_of(module_of(kernels), "stray");
    MUST(launch(stray));
    is("ERR-031", cuCtxSynchronize());
    MUST(cuDevicePrimaryCtxGetState(0, &flags, &active));
    see("MOR-024", "%s", active == 1 ? name(cuMemFree_v2(0)) : "not active");
    cxu_result results[] = {
        cuMemAlloc_v2(&at, 64), cuMemcpyDtoH_v2(&byte, kept, 1), cuCtxSynchronize(),
        cuStreamQuery(NULL),    cuStreamCreate(&stream, 0),      cuEventCreate(&event, 0),
        launch(stray)};
    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++)
        same = same && results[i] == CXU_ILLEGAL_ADDRESS;
    see("ERR-020", same ? "the same error each" : "another");
    CUdevice device;
    int number;
    see("ERR-021", "%s",
        cuCtxGetDevice(&device) == CXU_SUCCESS && cuCtxSetCurrent(primary) == CXU_SUCCESS &&
                cuDeviceGetCount(&number) == CXU_SUCCESS &&
                cuDeviceGetAttribute(&number, CXU_ATTRIBUTE_WARP_SIZE, 0) == CXU_SUCCESS
            ? "success after it"
            : "another");
}

static void asserted_in_a_graph(void)
{
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr at;
    MUST(cuInit(0));
    context_on(0);
    CUfunction fail = function_of(module_of(asserting), "fail");
    CUstream s = stream_with(CXU_STREAM_NON_BLOCKING);
    MUST(cuStreamBeginCapture_v2(s, CXU_STREAM_CAPTURE_MODE_RELAXED));
    MUST(cuLaunchKernel(fail, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    MUST(cuStreamEndCapture(s, &graph));
    MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
    cxu_result first = cuGraphLaunch(exec, s);
    is("ERR-040", first);
    cxu_result waited = cuStreamSynchronize(s);
    is("ERR-041", waited);
    cxu_result second = cuGraphLaunch(exec, s);
    is("ERR-042", second);
    see("ERR-022", first == CXU_SUCCESS && waited == second ? "assert %d" : "%d", (int)waited);
    is("ERR-043", cuMemAlloc_v2(&at, 64));
}

static void asserted(void)
{
    MUST(cuInit(0));
    context_on(0);
    CUfunction fail = function_of(module_of(asserting), "fail");
    cxu_launch_config config = {1, 1, 1, 1, 1, 1, 0, stream_with(CXU_STREAM_NON_BLOCKING), NULL, 0};
    cxu_result result = cuLaunchKernelEx(&config, fail, NULL, NULL);
    see("ERR-023", result == CXU_SUCCESS ? "success, then %d" : "refused %d",
        (int)cuStreamSynchronize(config.stream));
}

const family error_families[] = {{"trapped", NULL, trapped},
                                 {"strayed", NULL, strayed},
                                 {"asserted_in_a_graph", NULL, asserted_in_a_graph},
                                 {"asserted", NULL, asserted},
                                 {NULL, NULL, NULL}};
