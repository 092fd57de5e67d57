/* X10 to X16: calls that are no part of a rule, but of the table "More calls" of docs/semantics.md.
 */
#include "kernels.h"
#include "probes.h"
#include "steps.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char kernel_two[] = ".visible .entry two(.param .u64 first, .param .u32 second)\n"
                                 "{\n"
                                 "    ret;\n"
                                 "}\n";

static int attribute(int which)
{
    int value = 0;
    need("cuDeviceGetAttribute", cuDeviceGetAttribute(&value, which, 0));
    return value;
}

static const char *yes(_Bool it_is)
{
    return it_is ? "yes" : "no";
}

/* ---- X10, X11: parts of devices ---- */

enum { MULTIPROCESSORS = 1, DEFAULT_STREAM = 1, IGNORE_COSCHEDULING = 1 };

/* What CUDA 13.0 has: an array of them is passed. */
typedef struct part {
    int type;
    unsigned char drivers[92];
    unsigned int count, least, multiple, flags;
    unsigned char rest[32];
} part;

static CUdevResource *resource_of(part *of)
{
    return (CUdevResource *)of;
}

static part all_of_device(void)
{
    static CUdevResource room;
    part all;
    need("cuDeviceGetDevResource", cuDeviceGetDevResource(0, &room, MULTIPROCESSORS));
    memcpy(&all, &room, sizeof all);
    return all;
}

/* The least part that a rule gives a device of this capability. */
static unsigned int least_part(void)
{
    int major = attribute(ATTRIBUTE_CAPABILITY_MAJOR);
    return major < 8 ? 2 : major < 9 ? 4 : 8;
}

/* A split by 1: how many multiprocessors a group has, as the rule says it. */
static void see_split(const char *word, part *from, unsigned int flags, unsigned int expected)
{
    _Alignas(16) part group[8] = {{0}};
    unsigned int count = 1;
    CUresult code =
        cuDevSmResourceSplitByCount(resource_of(group), &count, resource_of(from), NULL, flags, 1);
    if (code != SUCCESS)
        see_result(word, code);
    else if (group[0].count == expected)
        see(word, "as the capability says");
    else
        see(word, "%u", group[0].count);
}

static void resources(void)
{
    enum { ATTRIBUTE_MULTIPROCESSORS = 16 };
    static CUdevResource room;
    _Alignas(16) part one[8] = {{0}}, other[8] = {{0}}, mixed[8] = {{0}}, rest[8] = {{0}};
    CUdevResourceDesc description = NULL;
    unsigned int count = 1;
    init();
    see_result("bad-type", cuDeviceGetDevResource(0, &room, 99));
    see_result("null", cuDeviceGetDevResource(0, NULL, MULTIPROCESSORS));
    see_result("bad-device", cuDeviceGetDevResource(99, &room, MULTIPROCESSORS));
    part all = all_of_device();
    see("all", "%s", yes(all.count == (unsigned int)attribute(ATTRIBUTE_MULTIPROCESSORS)));
    see_split("least", &all, 0, least_part());
    see_split("least-ignoring-coscheduling", &all, IGNORE_COSCHEDULING, 2);
    see_result("split", cuDevSmResourceSplitByCount(resource_of(one), &count, resource_of(&all),
                                                    resource_of(rest), 0, 8));
    see("disjoint", "%s", yes(one[0].count + rest[0].count == all.count));
    see_result("split-other", cuDevSmResourceSplitByCount(resource_of(other), &count,
                                                          resource_of(&all), NULL, 0, 8));
    see_result("split-a-part", cuDevSmResourceSplitByCount(resource_of(mixed), &count,
                                                           resource_of(one), NULL, 0, 1));
    see_result("too-many", cuDevSmResourceSplitByCount(resource_of(mixed), &count,
                                                       resource_of(&all), NULL, 0, all.count + 1));
    see_result("flags-4", cuDevSmResourceSplitByCount(resource_of(mixed), &count, resource_of(&all),
                                                      NULL, 4, 2));
    see_result("describe", cuDevResourceGenerateDesc(&description, resource_of(one), 1));
    mixed[0] = one[0];
    mixed[1] = other[0];
    see_result("describe-two-splits",
               cuDevResourceGenerateDesc(&description, resource_of(mixed), 2));
    mixed[0].type = 99;
    see_result("describe-bad-type", cuDevResourceGenerateDesc(&description, resource_of(mixed), 1));
    create("a");
    see_result("of-context", cuCtxGetDevResource(current(), &room, MULTIPROCESSORS));
    memcpy(&rest[0], &room, sizeof rest[0]);
    see("all-of-context", "%s", yes(rest[0].count == all.count));
}

static CUgreenCtx green(void)
{
    _Alignas(16) part group[8] = {{0}};
    part all = all_of_device();
    CUdevResourceDesc description = NULL;
    CUgreenCtx made = NULL;
    unsigned int count = 1;
    need("cuDevSmResourceSplitByCount",
         cuDevSmResourceSplitByCount(resource_of(group), &count, resource_of(&all), NULL, 0, 8));
    need("cuDevResourceGenerateDesc",
         cuDevResourceGenerateDesc(&description, resource_of(group), 1));
    need("cuGreenCtxCreate", cuGreenCtxCreate(&made, description, 0, DEFAULT_STREAM));
    return made;
}

static void green_contexts(void)
{
    CUdevResourceDesc description = NULL;
    CUcontext context = NULL;
    CUgreenCtx out = NULL;
    CUstream in_green = NULL;
    unsigned long long id = 0, id_of_context = 0;
    unsigned int flags = 0;
    int active = 0;
    static CUdevResource room;
    init();
    part all = all_of_device();
    need("cuDevResourceGenerateDesc",
         cuDevResourceGenerateDesc(&description, resource_of(&all), 1));
    see_result("flags-0", cuGreenCtxCreate(&out, description, 0, 0));
    CUgreenCtx made = green();
    need("cuDevicePrimaryCtxGetState", cuDevicePrimaryCtxGetState(0, &flags, &active));
    see("primary", "%s", active ? "active" : "inactive");
    see_result("get-id", cuGreenCtxGetId(made, &id));
    see_result("get-id-of-none", cuGreenCtxGetId(NULL, &id_of_context));
    see_result("from-none", cuCtxFromGreenCtx(&context, NULL));
    see_result("resource", cuGreenCtxGetDevResource(made, &room, MULTIPROCESSORS));
    need("cuCtxFromGreenCtx", cuCtxFromGreenCtx(&context, made));
    see_result("context-id", cuCtxGetId(context, &id_of_context));
    see("one-id", "%s", yes(id == id_of_context));
    need("cuCtxPushCurrent", cuCtxPushCurrent_v2(context));
    see_result("stream", cuGreenCtxStreamCreate(&in_green, made, STREAM_NON_BLOCKING, 0));
    see_result("stream-blocking",
               cuGreenCtxStreamCreate(&(CUstream){NULL}, made, STREAM_BLOCKING, 0));
    see_result("stream-of-none",
               cuGreenCtxStreamCreate(&(CUstream){NULL}, NULL, STREAM_NON_BLOCKING, 0));
    see_result("green-of-stream", cuStreamGetGreenCtx(in_green, &out));
    see("it-is", "%s", yes(out == made));
    CUcontext of_stream = NULL;
    see_result("context-of-stream", cuStreamGetCtx_v2(in_green, &of_stream, &out));
    see("context-is", "%s", of_stream == NULL ? "none" : of_stream == context ? "green" : "other");
    CUevent mark = event(EVENT_DEFAULT);
    see_result("record", cuGreenCtxRecordEvent(made, mark));
    see_result("wait", cuGreenCtxWaitEvent(made, mark));
    see_result("record-none", cuGreenCtxRecordEvent(NULL, mark));
    see_result("per-thread", cuStreamQuery(STREAM_PER_THREAD));
    see_result("query", cuStreamQuery(in_green));
    need("cuCtxPopCurrent", cuCtxPopCurrent_v2(&(CUcontext){NULL}));
    see_result("destroy", cuGreenCtxDestroy(made));
    see_result("query-after", cuStreamQuery(in_green));
    see_result("destroy-none", cuGreenCtxDestroy(NULL));
}

/* ---- X12: queries of code ---- */

static void code(void)
{
    enum { LAZY = 2, SHARED_BYTES = 8, CLUSTER = 4, ATTRIBUTE_CLUSTER_LAUNCH = 120 };
    typedef struct attribute_of_launch {
        int id, pad;
        unsigned int x, y, z;
        unsigned char rest[52];
    } attribute_of_launch;
    attribute_of_launch cluster = {.id = CLUSTER, .x = 2, .y = 1, .z = 1};
    struct {
        unsigned int grid[3], block[3], shared;
        CUstream stream;
        void *attributes;
        unsigned int count;
    } config = {{8, 1, 1}, {32, 1, 1}, 0, NULL, &cluster, 1};
    CUlibrary library = NULL, out = NULL;
    CUkernel one = NULL, kernels[2] = {NULL, NULL};
    CUmodule module = NULL;
    CUfunction function = NULL;
    CUdeviceptr managed = 0;
    void *unified = NULL;
    const char *name = "";
    unsigned int count = 0;
    size_t offset = 0, bytes = 0, parameters = 0;
    int mode = 0, state = -1, size = -1, clusters = -1;
    unsigned long long first = 0;
    unsigned int second = 0;
    void *arguments[] = {&first, &second};
    init();
    see_result("loading", cuModuleGetLoadingMode(&mode));
    see("loading-is", "%s", mode == LAZY ? "lazy" : "eager");
    create("a");
    need("cuLibraryLoadData", kernels_load_library(&library, kernel_two));
    need("cuLibraryGetKernel", cuLibraryGetKernel(&one, library, "two"));
    see_result("count", cuLibraryGetKernelCount(&count, library));
    see("count-is", "%u", count);
    see_result("count-of-none", cuLibraryGetKernelCount(&count, NULL));
    see_result("enumerate", cuLibraryEnumerateKernels(kernels, 2, library));
    see("first", "%s", yes(kernels[0] == one));
    see_result("library", cuKernelGetLibrary(&out, one));
    see("library-is", "%s", yes(out == library));
    see_result("name", cuKernelGetName(&name, one));
    see("name-is", "%s", name);
    see_result("name-of-none", cuKernelGetName(&name, NULL));
    see_result("parameter", cuKernelGetParamInfo(one, 1, &offset, &bytes));
    see("parameter-is", "%u at %u", (unsigned int)bytes, (unsigned int)offset);
    see_result("parameter-2", cuKernelGetParamInfo(one, 2, &offset, &bytes));
    see_result("parameters", cuKernelGetParamCount(one, &parameters));
    see_result("set-attribute", cuKernelSetAttribute(SHARED_BYTES, 1024, one, 0));
    see_result("set-attribute-99", cuKernelSetAttribute(99, 1, one, 0));
    see_result("set-cache", cuKernelSetCacheConfig(one, 1, 0));
    see_result("managed", cuLibraryGetManaged(&managed, &bytes, library, "none"));
    see_result("unified", cuLibraryGetUnifiedFunction(&unified, library, "two"));
    need("cuModuleLoadData", kernels_load(&module, kernel_two));
    need("cuModuleGetFunction", cuModuleGetFunction(&function, module, "two"));
    see_result("function-parameters", cuFuncGetParamCount(function, &parameters));
    see_result("is-loaded", cuFuncIsLoaded(&state, function));
    see_result("load", cuFuncLoad(function));
    see_result("is-loaded-then", cuFuncIsLoaded(&state, function));
    see("loaded", "%d", state);
    see_result("shared-config", cuFuncSetSharedMemConfig(function, 1));
    see_result("shared-config-9", cuFuncSetSharedMemConfig(function, 9));
    _Bool has_clusters = attribute(ATTRIBUTE_CLUSTER_LAUNCH);
    CUresult result = cuOccupancyMaxPotentialClusterSize(&size, function, &config);
    see("cluster-is", "%s", has_clusters == (size > 0) ? "as the attribute says" : "not");
    result = cuOccupancyMaxActiveClusters(&clusters, function, &config);
    see("active-clusters", "%s",
        has_clusters == (result == SUCCESS && clusters > 0) ? "as the attribute says" : "not");
    result = cuLaunchKernelEx(&config, function, arguments, NULL);
    see("launch-cluster", "%s",
        has_clusters == (result == SUCCESS) ? "as the attribute says" : "not");
    see_result("synchronize", cuCtxSynchronize());
}

/* ---- X13: queries of devices and processes ---- */

static void told(void *notification, void *argument, void *handle)
{
    (void)notification;
    (void)argument;
    (void)handle;
}

static void devices(void)
{
    CUexecAffinity affinity = {0};
    int properties[32], supported = -1, state = -1, thread = 0;
    unsigned int answers[2] = {7, 7};
    const int operations[2] = {0, 1};
    size_t elements = 0;
    void *handle = NULL, *imported = NULL;
    unsigned char description[128] = {0};
    init();
    see_result("affinity", cuDeviceGetExecAffinitySupport(&supported, 0, 0));
    see_result("affinity-9", cuDeviceGetExecAffinitySupport(&supported, 9, 0));
    see_result("properties", cuDeviceGetProperties(properties, 0));
    see("threads", "%d", properties[0]);
    see_result("texture", cuDeviceGetTexture1DLinearMaxWidth(&elements, 0x20, 1, 0));
    see_result("host-atomics", cuDeviceGetHostAtomicCapabilities(answers, operations, 2, 0));
    see_result("peer-atomics-of-itself",
               cuDeviceGetP2PAtomicCapabilities(answers, operations, 2, 0, 0));
    see_result("notify", cuDeviceRegisterAsyncNotification(0, told, NULL, &handle));
    see_result("notify-no-more", cuDeviceUnregisterAsyncNotification(0, handle));
    see_result("profiler", cuProfilerStart());
    create("a");
    see_result("profiler-current", cuProfilerStart());
    see_result("profiler-stop", cuProfilerStop());
    see_result("profiler-initialize", cuProfilerInitialize("none", "none", 0));
    see_result("affinity-of-context", cuCtxGetExecAffinity(&affinity, 0));
    see_result("affinity-of-context-9", cuCtxGetExecAffinity(&affinity, 9));
    see_result("persisting", cuCtxResetPersistingL2Cache());
    see_result("flush-target-9", cuFlushGPUDirectRDMAWrites(9, 100));
    see_result("import-none", cuImportExternalMemory(&imported, NULL));
    see_result("import-type-0", cuImportExternalMemory(&imported, description));
    see_result("map-arrays", cuMemMapArrayAsync(NULL, 1, NULL));
    see_result("process", cuCheckpointProcessGetState((int)getpid(), &state));
    see("process-is", "%d", state);
    see_result("process-null", cuCheckpointProcessGetState((int)getpid(), NULL));
    see_result("restore-thread", cuCheckpointProcessGetRestoreThreadId((int)getpid(), &thread));
    see_result("unlock", cuCheckpointProcessUnlock((int)getpid(), NULL));
}

/* ---- X14: the driver's log ---- */

static void heard(void *argument, int level, char *message, size_t length)
{
    (void)argument;
    (void)level;
    (void)message;
    (void)length;
}

static void logs(void)
{
    void *handle = NULL;
    unsigned int iterator = 0;
    char text[2000] = "";
    size_t size = sizeof text;
    init();
    see_result("register", cuLogsRegisterCallback(heard, NULL, &handle));
    see_result("register-none", cuLogsRegisterCallback(NULL, NULL, &handle));
    see_result("current", cuLogsCurrent(&iterator, 0));
    see_result("current-flags-1", cuLogsCurrent(&iterator, 1));
    see_result("dump", cuLogsDumpToMemory(NULL, text, &size, 0));
    see_result("dump-null", cuLogsDumpToMemory(NULL, NULL, &size, 0));
    see_result("dump-to-no-file", cuLogsDumpToFile(NULL, NULL, 0));
    see_result("unregister", cuLogsUnregisterCallback(handle));
}

/* ---- X15, X16: graphs, memory ---- */

static void graphs(void)
{
    enum { PRIORITY = 8, WINDOW = 1 };
    long long value[8] = {0};
    unsigned int id = 0, local = 99;
    unsigned long long tools = 0, reserved = 7, zero = 0, one = 1;
    CUgraph graph = NULL, in = NULL;
    CUgraphNode node = NULL;
    CUgraphExec executable = NULL;
    size_t count = 1;
    init();
    create("a");
    CUfunction function = kernel(kernel_fill, "fill");
    CUdeviceptr to = memory(64);
    CUstream on = stream(STREAM_NON_BLOCKING);
    need("cuStreamBeginCapture", cuStreamBeginCapture_v2(on, CAPTURE_RELAXED));
    need("cuLaunchKernel", launch(function, on, (void *[]){&to}));
    need("cuStreamEndCapture", cuStreamEndCapture(on, &graph));
    need("cuGraphGetNodes", cuGraphGetNodes(graph, &node, &count));
    need("cuGraphInstantiate", cuGraphInstantiateWithFlags(&executable, graph, 0));
    see_result("priority", cuGraphKernelNodeGetAttribute(node, PRIORITY, value));
    see_result("set-priority", cuGraphKernelNodeSetAttribute(node, PRIORITY, value));
    see_result("window", cuGraphKernelNodeGetAttribute(node, WINDOW, value));
    see_result("unknown", cuGraphKernelNodeGetAttribute(node, 99, value));
    see_result("copy", cuGraphKernelNodeCopyAttributes(node, node));
    see_result("graph-id", cuGraphGetId(graph, &id));
    see_result("executable-id", cuGraphExecGetId(executable, &id));
    see_result("local-id", cuGraphNodeGetLocalId(node, &local));
    see_result("tools-id", cuGraphNodeGetToolsId(node, &tools));
    see_result("containing", cuGraphNodeGetContainingGraph(node, &in));
    see_result("values-of-none", cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, NULL));
    see_result("trim", cuDeviceGraphMemTrim(0));
    see_result("used", cuDeviceGetGraphMemAttribute(0, 0, &reserved));
    see("used-is", "%llu", reserved);
    see_result("attribute-9", cuDeviceGetGraphMemAttribute(0, 9, &reserved));
    see_result("set-peak", cuDeviceSetGraphMemAttribute(0, 1, &zero));
    see_result("set-peak-1", cuDeviceSetGraphMemAttribute(0, 1, &one));
    see_result("set-used", cuDeviceSetGraphMemAttribute(0, 0, &zero));
}

static void nothing(void *argument)
{
    (void)argument;
}

static void copies(void)
{
    struct {
        size_t from[4];
        int from_type;
        const void *from_host;
        CUdeviceptr from_device;
        void *from_array;
        CUcontext from_context;
        size_t from_pitch, from_height, to[4];
        int to_type;
        void *to_host;
        CUdeviceptr to_device;
        void *to_array;
        CUcontext to_context;
        size_t to_pitch, to_height, width, height, depth;
    } box = {.from_type = 2, .to_type = 2};
    CUmemcpyAttributes attributes = {.order = 1};
    CUdeviceptr managed = 0;
    init();
    CUcontext a = create("a");
    CUdeviceptr one = memory(4 * KIB), two = memory(4 * KIB);
    CUstream on = stream(STREAM_NON_BLOCKING);
    box.from_context = box.to_context = a;
    box.from_device = one;
    box.to_device = two;
    see_result("empty-box", cuMemcpy3DPeer(&box));
    box.width = 64;
    box.height = box.depth = 1;
    see_result("box", cuMemcpy3DPeer(&box));
    see_result("box-async", cuMemcpy3DPeerAsync(&box, on));
    box.from_context = NULL;
    see_result("box-of-none", cuMemcpy3DPeer(&box));
    see_result("with-attributes", cuMemcpyWithAttributesAsync(two, one, 64, &attributes, on));
    see_result("host-function", cuLaunchHostFunc_v2(on, nothing, NULL, 0));
    see_result("attach-plain", cuStreamAttachMemAsync(on, one, 0, 4));
    need("cuMemAllocManaged", cuMemAllocManaged(&managed, 4 * KIB, 1));
    see_result("attach", cuStreamAttachMemAsync(on, managed, 0, 4));
    see_result("attach-part", cuStreamAttachMemAsync(on, managed, 64, 4));
    see_result("attach-flags-8", cuStreamAttachMemAsync(on, managed, 0, 8));
    see_result("cooperate-none", cuLaunchCooperativeKernelMultiDevice(NULL, 0, 0));
    see_result("synchronize", cuStreamSynchronize(on));
}

const struct experiment more_experiments[] = {
    {"X10.resources", resources,
     "bad-type null bad-device all least least-ignoring-coscheduling split disjoint split-other "
     "split-a-part too-many flags-4 describe describe-two-splits describe-bad-type of-context "
     "all-of-context"},
    {"X11.green", green_contexts,
     "flags-0 primary get-id get-id-of-none from-none resource context-id one-id stream "
     "stream-blocking stream-of-none green-of-stream it-is context-of-stream context-is record "
     "wait record-none per-thread query destroy query-after destroy-none"},
    {"X12.code", code,
     "loading loading-is count count-is count-of-none enumerate first library library-is name "
     "name-is name-of-none parameter parameter-is parameter-2 parameters set-attribute "
     "set-attribute-99 set-cache managed unified function-parameters is-loaded load "
     "is-loaded-then loaded shared-config shared-config-9 cluster-is active-clusters "
     "launch-cluster synchronize"},
    {"X13.devices", devices,
     "affinity affinity-9 properties threads texture host-atomics peer-atomics-of-itself notify "
     "notify-no-more profiler profiler-current profiler-stop profiler-initialize "
     "affinity-of-context affinity-of-context-9 persisting flush-target-9 import-none "
     "import-type-0 map-arrays process process-is process-null restore-thread unlock"},
    {"X14.logs", logs,
     "register register-none current current-flags-1 dump dump-null dump-to-no-file unregister"},
    {"X15.graphs", graphs,
     "priority set-priority window unknown copy graph-id executable-id local-id tools-id "
     "containing values-of-none trim used used-is attribute-9 set-peak set-peak-1 set-used"},
    {"X16.copies", copies,
     "empty-box box box-async box-of-none with-attributes host-function attach-plain attach "
     "attach-part attach-flags-8 cooperate-none synchronize"},
    {NULL, NULL, NULL},
};
