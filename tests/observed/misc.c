#include "observed.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void before_init(void)
{
    CUcontext context;
    is("LUP-001", cuCtxGetCurrent(&context));
    is("LUP-003", ASK("cuProfilerStop", 0));
}

static void peers(void)
{
    int can = -1, value;
    MUST(cuInit(0));
    CUcontext other = context_on(1), here = context_on(0);
    cxu_result result = cuDeviceCanAccessPeer(&can, 0, 0);
    see("PEE-001", "%s %d", name(result), can);
    is("PEE-002", cuDeviceCanAccessPeer(&can, 0, 2));
    is("PEE-003", cuCtxEnablePeerAccess(here, 0));
    is("PEE-004", cuCtxEnablePeerAccess(here, 1));
    is("PEE-006", cuCtxDisablePeerAccess(here));
    CUdeviceptr a = memory(64), b = memory(64);
    unsigned int seen = 0;
    MUST(cuCtxPushCurrent_v2(other));
    CUdeviceptr far = memory(64);
    MUST(cuMemsetD32_v2(far, 7, 16));
    MUST(cuCtxPopCurrent_v2(NULL));
    result = cuMemcpyPeer(a, here, far, other, 64);
    MUST(cuMemcpyDtoH_v2(&seen, a, 4));
    see("PEE-009", "%s right=%d", name(result), seen == 7);
    is("PEE-010", cuMemcpyPeerAsync(a, here, b, here, 0, NULL));
    is("LUP-050", cuDeviceGetP2PAttribute(NULL, CXU_P2P_ACCESS_SUPPORTED, 0, 1));
    is("LUP-051", cuDeviceGetP2PAttribute(&value, (cxu_p2p_attribute)9999, 0, 1));
    is("LUP-052", cuDeviceGetP2PAttribute(&value, CXU_P2P_PERFORMANCE_RANK, 0, 99));
    is("HIP-240", cuDeviceGetP2PAttribute(&value, (cxu_p2p_attribute)10, 0, 1));
    is("HIP-241", cuDeviceGetP2PAttribute(&value, CXU_P2P_ACCESS_SUPPORTED, 0, 0));
    is("HIP-242", cuDeviceGetP2PAttribute(&value, CXU_P2P_ACCESS_SUPPORTED, 0, -1));
}

static void atomics(void)
{
    unsigned int can[3] = {77, 77, 77};
    int operations[3] = {0, 1, 2}, bad[1] = {77};
    MUST(cuInit(0));
    cxu_result result = ASK("cuDeviceGetHostAtomicCapabilities", P(can), P(operations), 3, 0);
    see("DEV-003", "%s %u %u %u", name(result), can[0], can[1], can[2]);
    cxu_result results[4] = {ASK("cuDeviceGetHostAtomicCapabilities", 0, P(operations), 3, 0),
                             ASK("cuDeviceGetHostAtomicCapabilities", P(can), P(operations), 0, 0),
                             ASK("cuDeviceGetHostAtomicCapabilities", P(can), P(bad), 1, 0),
                             ASK("cuDeviceGetHostAtomicCapabilities", P(can), P(operations), 3, 9)};
    is("DEV-004", results[0]);
    is("DEV-005", results[1]);
    is("DEV-006", results[2]);
    is("DEV-007", results[3]);
    see("RTS-049", "%s %s %s / %s", name(results[2]), name(results[0]), name(results[1]),
        name(results[3]));
    result = ASK("cuDeviceGetP2PAtomicCapabilities", P(can), P(operations), 1, 0, 1);
    see("DEV-008", "%s %u", name(result), can[0]);
    is("DEV-010", ASK("cuDeviceGetP2PAtomicCapabilities", P(can), P(operations), 1, 0, 9));
    result = ASK("cuDeviceGetP2PAtomicCapabilities", P(can), P(operations), 3, 1, 0);
    see("RTS-050", "%s %u %u %u", name(result), can[0], can[1], can[2]);
    see("RTS-051", "%s %s / %s",
        name(ASK("cuDeviceGetP2PAtomicCapabilities", P(can), P(operations), 1, 0, 0)),
        name(ASK("cuDeviceGetP2PAtomicCapabilities", P(can), P(operations), 1, 0, 7)),
        name(ASK("cuDeviceGetP2PAtomicCapabilities", 0, P(operations), 1, 0, 1)));
}

static void bus_ids(void)
{
    char id[64] = "", part[80];
    CUdevice device;
    MUST(cuInit(0));
    is("PCI-001", cuDeviceGetPCIBusId(id, sizeof(id), 0));
    is("PCI-002", cuDeviceGetByPCIBusId(&device, id));
    is("PCI-003", cuDeviceGetByPCIBusId(&device, strchr(id, ':') + 1));
    snprintf(part, sizeof(part), "%.*s", (int)(strchr(id, '.') - id), id);
    is("PCI-004", cuDeviceGetByPCIBusId(&device, part));
    snprintf(part, sizeof(part), "%.*s.1", (int)(strchr(id, '.') - id), id);
    is("PCI-006", cuDeviceGetByPCIBusId(&device, part));
    snprintf(part, sizeof(part), "%s ", id);
    is("PCI-008", cuDeviceGetByPCIBusId(&device, part));
    is("PCI-009", cuDeviceGetPCIBusId(id, 8, 0));
    MUST(cuDeviceGetPCIBusId(id, sizeof(id), 0));
    is("PCI-010", cuDeviceGetByPCIBusId(&device, "garbage"));
    snprintf(part, sizeof(part), "00ff%s", strchr(id, ':'));
    is("PCI-012", cuDeviceGetByPCIBusId(&device, part));
    is("PCI-014", cuDeviceGetByPCIBusId(NULL, id));
    unsigned int mask;
    is("DEV-001", cuDeviceGetLuid(NULL, &mask, 0));
}

static void properties(void)
{
    int it[14] = {0}; /* CUdevprop */
    size_t width;
    MUST(cuInit(0));
    cxu_result result = ASK("cuDeviceGetProperties", P(it), 0);
    int agree = it[0] == attribute_of(0, CXU_ATTRIBUTE_MAX_THREADS_PER_BLOCK) &&
                it[1] == attribute_of(0, CXU_ATTRIBUTE_MAX_BLOCK_DIM_X) &&
                it[4] == attribute_of(0, CXU_ATTRIBUTE_MAX_GRID_DIM_X) &&
                it[7] == attribute_of(0, CXU_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK) &&
                it[9] == attribute_of(0, CXU_ATTRIBUTE_WARP_SIZE);
    see("MSC-001", "%s agree=%d", name(result), agree);
    is("MSC-002", ASK("cuDeviceGetProperties", 0, 0));
    is("MSC-003", ASK("cuDeviceGetProperties", P(it), 2));
    is("DEV-026", ASK("cuDeviceGetTexture1DLinearMaxWidth", 0, 0x20, 1, 0));
    is("DEV-027", ASK("cuDeviceGetTexture1DLinearMaxWidth", P(&width), 0x20, 1, 9));
    char text[64];
    int value;
    CUdevice device;
    is("LUP-011", cuDeviceGetName(text, sizeof(text), 99));
    is("LUP-012", cuDeviceGetAttribute(&value, CXU_ATTRIBUTE_WARP_SIZE, 99));
    is("CPY-023", cuDeviceGet(&device, -1));
    const char *word = NULL;
    result = cuGetErrorName((cxu_result)46, &word);
    see("LUP-004", "%s %s", name(result), word != NULL ? word : "-");
    result = cuGetErrorString(CXU_INVALID_VALUE, &word);
    see("LUP-005", "%s %s", name(result), word != NULL ? word : "-");
    is("LUP-006", cuGetErrorName((cxu_result)12345, &word));
    result = cuGetErrorString(CXU_SUCCESS, &word);
    see("CPY-025", "%s %s", name(result), word != NULL ? word : "-");
    void *address = NULL;
    is("LUP-048", ASK("cuGetProcAddress", P("cuNoSuchCall"), P(&address), 11030, 0));
    context_on(0);
    is("MSC-008", ASK("cuProfilerStop", 0));
    is("DEV-011", ASK("cuFlushGPUDirectRDMAWrites", 0, 100));
    is("DEV-012", ASK("cuFlushGPUDirectRDMAWrites", 5, 100));
    is("DEV-013", ASK("cuFlushGPUDirectRDMAWrites", 0, 7));
    const void *table = NULL;
    cxu_uuid id = {{1, 2, 3}};
    see("RTS-030", "%s %s %s", name(cuGetExportTable(&table, &id)),
        name(cuGetExportTable(NULL, &id)), name(cuGetExportTable(&table, NULL)));
}

static int devices_with(const char *visible)
{
    int count = -1, status = 0;
    pid_t child = fork();
    if (child == 0) {
        setenv("CUDA_VISIBLE_DEVICES", visible, 1);
        cxu_result result = cuInit(0);
        if (result == CXU_SUCCESS)
            (void)cuDeviceGetCount(&count);
        _exit(result == CXU_SUCCESS ? count : (int)result);
    }
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

static void visible(void)
{
    int none = devices_with("-1,0"), one = devices_with("0,-1,1");
    see("HIP-243", "%s; %d device", none == CXU_NO_DEVICE ? "NO_DEVICE" : "another", one);
}

static void logged(void *user, int level, char *text, size_t length)
{
    (void)user;
    (void)level;
    (void)text;
    (void)length;
}

static void logs(void)
{
    unsigned int place = 77;
    size_t size = 64;
    char text[64];
    void *handle = NULL;
    MUST(cuInit(0));
    context_on(0);
    cxu_result result = ASK("cuLogsCurrent", P(&place), 0);
    see("LOG-001", "%s %u", name(result), place);
    see("RTS-042", "%s %u", name(result), place);
    is("LOG-002", ASK("cuLogsCurrent", 0, 0));
    result = ASK("cuLogsDumpToMemory", 0, P(text), P(&size), 0);
    see("LOG-003", "%s size=%zu", name(result), size);
    cxu_result bad[5] = {
        ASK("cuLogsDumpToMemory", 0, 0, P(&size), 0), ASK("cuLogsDumpToMemory", 0, P(text), 0, 0),
        ASK("cuLogsDumpToFile", 0, 0, 0), ASK("cuLogsRegisterCallback", 0, 0, P(&handle)),
        ASK("cuLogsUnregisterCallback", 0)};
    is("LOG-004", bad[0]);
    is("LOG-006", bad[2]);
    is("LOG-008", bad[3]);
    is("LOG-009", bad[4]);
    int all = 1;
    for (int i = 0; i < 5; i++)
        all = all && bad[i] == CXU_INVALID_VALUE;
    see("RTS-045", all ? "INVALID_VALUE each" : "%s", name(bad[0]));
    char path[] = "/tmp/observedXXXXXX";
    close(mkstemp(path));
    is("RTS-044", ASK("cuLogsDumpToFile", 0, P(path), 0));
    unlink(path);
    result = ASK("cuDeviceRegisterAsyncNotification", 0, P(logged), 0, P(&handle));
    see("BAT-001", "%s set=%d", name(result), handle != NULL);
    cxu_result ended = ASK("cuDeviceUnregisterAsyncNotification", 0, P(handle));
    see("RTS-046", "%s %s", name(result), name(ended));
    cxu_result nothing = ASK("cuDeviceRegisterAsyncNotification", 0, 0, 0, P(&handle));
    cxu_result absent = ASK("cuDeviceRegisterAsyncNotification", 9, P(logged), 0, P(&handle));
    ended = ASK("cuDeviceUnregisterAsyncNotification", 0, 0);
    is("BAT-003", absent);
    is("BAT-004", ended);
    see("RTS-047", "%s %s %s", name(nothing), name(absent), name(ended));
    is("CKP-002", ASK("cuCheckpointProcessGetState", (uintptr_t)getpid(), 0));
    is("CKP-004", ASK("cuCheckpointProcessCheckpoint", (uintptr_t)getpid(), 0));
}

static void green(void)
{
    uint64_t room[32] = {0}, id = 0;
    CUstream stream;
    MUST(cuInit(0));
    context_on(0);
    is("GRN-001", ASK("cuDeviceGetDevResource", 0, P(room), 99));
    is("GRN-002", ASK("cuDeviceGetDevResource", 9, P(room), 1));
    is("GRN-003", ASK("cuGreenCtxDestroy", 0));
    is("GRN-005", ASK("cuGreenCtxGetDevResource", 0, P(room), 1));
    is("GRN-007", ASK("cuGreenCtxWaitEvent", 0, P(event_with(0))));
    is("GRN-008", ASK("cuGreenCtxStreamCreate", P(&stream), 0, 1, 0));
    is("GRN-009", ASK("cuGreenCtxGetId", 0, P(&id)));
}

/* A process that opens what its parent exports: two results, and whether the addresses agree. */
static void open_twice(const cxu_ipc_mem_handle *handle, int out)
{
    int said[3] = {0};
    CUdeviceptr first = 0, second = 0;
    MUST(cuInit(0));
    context_on(0);
    said[0] = (int)cuIpcOpenMemHandle_v2(&first, *handle, 1);
    said[1] = (int)cuIpcOpenMemHandle_v2(&second, *handle, 1);
    said[2] = first == second;
    context_on(0);
    int third = (int)cuIpcOpenMemHandle_v2(&second, *handle, 1);
    const int all[] = {said[0], said[1], said[2], third};
    if (write(out, all, sizeof(all)) < 0)
        _exit(1);
    _exit(0);
}

static void between_processes(void)
{
    cxu_ipc_mem_handle handle, none;
    cxu_ipc_event_handle event_handle;
    int to[2], from[2], said[4] = {0};
    CUdeviceptr again = 0;
    if (pipe(to) != 0 || pipe(from) != 0)
        _exit(1);
    pid_t child = fork();
    if (child == 0) {
        if (read(to[0], &handle, sizeof(handle)) != (ssize_t)sizeof(handle))
            _exit(1);
        open_twice(&handle, from[1]);
    }
    close(from[1]);
    MUST(cuInit(0));
    CUcontext context = context_on(0);
    CUdeviceptr d = memory(2 * MIB), later = 0;
    cxu_result exported = cuIpcGetMemHandle(&handle, d);
    if (write(to[1], &handle, sizeof(handle)) < 0)
        _exit(1);
    ssize_t length = exported == CXU_SUCCESS ? read(from[0], said, sizeof(said)) : 0;
    is("IPC-002", exported != CXU_SUCCESS ? exported : cuIpcOpenMemHandle_v2(&again, handle, 1));
    is("HIP-198", exported != CXU_SUCCESS ? exported : cuIpcOpenMemHandle_v2(&again, handle, 1));
    if (length != (ssize_t)sizeof(said))
        said[0] = said[1] = said[3] = CXU_NOT_SUPPORTED;
    see("HIP-199", "%s %s %s", name((cxu_result)said[0]), name((cxu_result)said[1]),
        said[2] ? "same" : "others");
    is("HIP-200", (cxu_result)said[3]);
    is("HIP-201", cuIpcCloseMemHandle(d));
    MUST(cuMemAllocAsync(&later, 64, NULL));
    is("IPC-006", cuIpcGetMemHandle(&none, later));
    MUST(cuMemFree_v2(d));
    is("HIP-202", cuIpcGetMemHandle(&none, d));
    CUevent event = event_with(CXU_EVENT_INTERPROCESS | CXU_EVENT_DISABLE_TIMING), same;
    exported = cuIpcGetEventHandle(&event_handle, event);
    is("HIP-197", exported != CXU_SUCCESS ? exported : cuIpcOpenEventHandle(&same, event_handle));
    MUST(cuCtxPopCurrent_v2(&context));
    is("IPC-004", cuIpcCloseMemHandle(d));
    kill(child, 9);
    waitpid(child, NULL, 0);
}

const family misc_families[] = {{"before_init", NULL, before_init},
                                {"peers", NULL, peers},
                                {"atomics", NULL, atomics},
                                {"bus_ids", NULL, bus_ids},
                                {"properties", NULL, properties},
                                {"visible", NULL, visible},
                                {"logs", NULL, logs},
                                {"green", NULL, green},
                                {"between_processes", NULL, between_processes},
                                {NULL, NULL, NULL}};
