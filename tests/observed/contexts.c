#include "observed.h"

static void none_current(void)
{
    CUcontext context;
    CUdeviceptr pointer;
    void *host;
    CUstream stream;
    CUevent event;
    CUmodule module;
    size_t size;
    unsigned int flags;
    unsigned long long id;
    MUST(cuInit(0));
    is("CTX-001", cuCtxGetCurrent(NULL));
    MUST(cuCtxGetCurrent(&context));
    see("CTX-002", context == NULL ? "NULL" : "set");
    is("CTX-003", cuMemAlloc_v2(&pointer, 64));
    is("CTX-005", cuMemHostAlloc(&host, 64, 0));
    is("CTX-007", cuStreamCreate(&stream, 0));
    is("CTX-008", cuEventCreate(&event, 0));
    is("CTX-009", cuModuleLoadData(&module, ""));
    is("CTX-011", cuCtxGetLimit(&size, CXU_LIMIT_STACK_SIZE));
    is("CTX-013", cuCtxGetFlags(&flags));
    is("CTX-014", cuCtxSetFlags(0));
    is("CTX-015", cuCtxGetId(NULL, &id));
    is("CTX-016", cuCtxGetApiVersion(NULL, &flags));
    int least, greatest;
    is("CTX-017", cuCtxGetStreamPriorityRange(&least, &greatest));
    is("CTX-018", cuMemsetD8_v2(0, 0, 1));
    is("CTX-020", cuStreamSynchronize(NULL));
    is("CTX-021", cuMemFree_v2(0));
    is("CTX-022", cuMemFreeHost(NULL));
    is("CTX-023", cuDeviceTotalMem_v2(&size, 0));
    is("CTX-024", cuDeviceTotalMem_v2(NULL, 0));
    CUdevice device;
    is("LUP-010", cuCtxGetDevice(&device));
}

static CUcontext current(void)
{
    CUcontext context = NULL;
    MUST(cuCtxGetCurrent(&context));
    return context;
}

static char letter(CUcontext context, CUcontext a, CUcontext b, CUcontext c)
{
    if (context == NULL)
        return '0';
    return context == a ? 'a' : context == b ? 'b' : context == c ? 'c' : '?';
}

static void stacks(void)
{
    CUcontext popped = NULL;
    MUST(cuInit(0));
    CUcontext a = context_on(0);
    CUcontext b = context_on(0);
    MUST(cuCtxPopCurrent_v2(&popped));
    MUST(cuCtxPopCurrent_v2(&popped));
    see("STK-001", current() == NULL ? "NULL" : "set");
    is("STK-002", cuCtxPopCurrent_v2(&popped));
    CUcontext c = context_on(0);
    MUST(cuCtxPushCurrent_v2(a));
    MUST(cuCtxPushCurrent_v2(b));
    see("STK-003", "%c", letter(current(), a, b, c));
    MUST(cuCtxPopCurrent_v2(&popped));
    cxu_result result = cuCtxPopCurrent_v2(&popped);
    see("STK-005", "%s popped=%c current=%c", name(result), letter(popped, a, b, c),
        letter(current(), a, b, c));
    MUST(cuCtxPopCurrent_v2(&popped));
    is("STK-007", cuCtxPopCurrent_v2(&popped));
    is("STK-008", cuCtxPushCurrent_v2(NULL));
    MUST(cuCtxPushCurrent_v2(a));
    MUST(cuCtxPushCurrent_v2(b));
    result = cuCtxSetCurrent(c);
    see("STK-009", "%s current=%c", name(result), letter(current(), a, b, c));
    MUST(cuCtxSetCurrent(b));
    result = cuCtxDestroy_v2(b);
    see("STK-011", "%s current=%c", name(result), letter(current(), a, b, c));
    is("STK-015", cuCtxDestroy_v2(c));
    unsigned int version;
    is("ZLU-002", cuCtxGetApiVersion(b, &version));
    result = cuCtxDestroy_v2(b);
    see("ZLU-006", "%s",
        result == CXU_INVALID_CONTEXT || result == CXU_CONTEXT_IS_DESTROYED
            ? "INVALID_CONTEXT|CONTEXT_IS_DESTROYED"
            : name(result));
}

static void destroyed_in_a_stack(void)
{
    CUcontext popped = NULL;
    MUST(cuInit(0));
    CUcontext a = context_on(0);
    CUcontext b = context_on(0);
    MUST(cuCtxDestroy_v2(a));
    cxu_result result = cuCtxPopCurrent_v2(&popped);
    see("STK-013", "%s popped=%c", name(result), letter(popped, a, b, NULL));
    result = cuCtxPopCurrent_v2(&popped);
    see("STK-014", "%s popped=%c", name(result), letter(popped, a, b, NULL));
    a = context_on(0);
    b = context_on(0);
    CUcontext c = context_on(0);
    MUST(cuCtxDestroy_v2(b));
    MUST(cuCtxPopCurrent_v2(&popped));
    result = cuCtxPopCurrent_v2(&popped);
    see("ZLU-001", "%s popped=%c", name(result), letter(popped, a, b, c));
}

static void flags_of_contexts(void)
{
    static const struct {
        const char *id;
        unsigned int flags;
    } rows[] = {{"CFL-001", 0},    {"CFL-002", 1},     {"CFL-003", 2},      {"CFL-004", 4},
                {"CFL-006", 0x10}, {"CFL-008", 0xc},   {"CFL-009", 9},      {"CFL-010", 0xa},
                {"CFL-012", 0x98}, {"CFL-014", 0x9a},  {"CFL-015", 3},      {"CFL-016", 5},
                {"CFL-017", 6},    {"CFL-019", 0x100}, {"CFL-020", 0x2000}, {"CFL-021", 0xffff},
                {"CFL-022", 0xfe}};
    MUST(cuInit(0));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CUcontext context;
        unsigned int flags = 0;
        cxu_result result = cuCtxCreate_v2(&context, rows[i].flags, 0);
        if (result != CXU_SUCCESS) {
            is(rows[i].id, result);
            continue;
        }
        MUST(cuCtxGetFlags(&flags));
        see(rows[i].id, "SUCCESS flags=%#x", flags);
        MUST(cuCtxDestroy_v2(context));
    }
}

static void set_flags(const char *id, unsigned int flags)
{
    unsigned int now = 0;
    cxu_result result = cuCtxSetFlags(flags);
    MUST(cuCtxGetFlags(&now));
    see(id, "%s flags=%#x", name(result), now);
}

static void properties_of_contexts(void)
{
    unsigned int version = 0;
    unsigned long long one = 0, two = 0;
    int least = 1, greatest = 1, device = -1;
    MUST(cuInit(0));
    CUcontext context = context_on(0);
    set_flags("CFL-023", 1);
    set_flags("CFL-025", 8);
    set_flags("CFL-027", 0x80);
    set_flags("CFL-028", 3);
    set_flags("CFL-029", 0x100);
    MUST(cuCtxGetId(context, &one));
    cxu_result result = cuCtxGetId(NULL, &two);
    see("CFL-031", "%s same=%d positive=%d", name(result), one == two, one > 0);
    is("CFL-033", cuCtxGetId(context, NULL));
    result = cuCtxGetApiVersion(context, &version);
    see("CFL-034", "%s ok=%d", name(result), version >= 3000);
    is("CFL-035", cuCtxGetApiVersion(NULL, &version));
    is("CFL-036", cuCtxGetApiVersion(context, NULL));
    result = cuCtxGetStreamPriorityRange(&least, &greatest);
    see("CFL-037", "%s least=%d greatest<0=%d", name(result), least, greatest < 0);
    is("CFL-038", cuCtxGetStreamPriorityRange(NULL, NULL));
    result = cuCtxGetDevice_v2(&device, NULL);
    see("DEV-015", "%s %d", name(result), device);
    is("DEV-017", cuCtxSynchronize_v2(context));
    is("DEV-018", cuCtxSynchronize_v2(NULL));
    is("DEV-019", ASK("cuCtxResetPersistingL2Cache", 0));
    MUST(cuCtxSetSharedMemConfig(CXU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE));
    cxu_shared_config config;
    result = cuCtxGetSharedMemConfig(&config);
    see("RTS-002", "%s %d", name(result), (int)config);
    MUST(cuCtxPopCurrent_v2(&context));
    CUcontext attached = context_on(0), same = NULL;
    result = cuCtxAttach(&same, 0);
    see("MSC-004", "%s current=%d", name(result), same == attached);
    result = cuCtxDetach(attached);
    device = -1;
    (void)cuCtxGetDevice(&device);
    see("MSC-006", "%s device=%d", name(result), device);
}

static void affinities(void)
{
    int value = -1;
    CUcontext context;
    MUST(cuInit(0));
    cxu_result result = ASK("cuDeviceGetExecAffinitySupport", P(&value), 0, 0);
    see("AFF-001", "%s %d", name(result), value);
    is("AFF-002", ASK("cuDeviceGetExecAffinitySupport", 0, 0, 0));
    is("AFF-003", ASK("cuDeviceGetExecAffinitySupport", P(&value), 0, 9));
    cxu_exec_affinity affinity = {.type = 0, .value.multiprocessors.count = 8};
    is("AFF-004", cuCtxCreate_v3(&context, &affinity, 1, 0, 0));
    affinity.value.multiprocessors.count = 100000;
    is("AFF-006", cuCtxCreate_v3(&context, &affinity, 1, 0, 0));
    context_on(0);
    memset(&affinity, 0xff, sizeof(affinity));
    result = ASK("cuCtxGetExecAffinity", P(&affinity), 0);
    see("AFF-008", "%s type=%d all=%d", name(result), affinity.type,
        (int)affinity.value.multiprocessors.count ==
            attribute_of(0, CXU_ATTRIBUTE_MULTIPROCESSOR_COUNT));
    is("AFF-009", ASK("cuCtxGetExecAffinity", 0, 0));
    is("AFF-010", ASK("cuCtxGetExecAffinity", P(&affinity), 9));
}

static void set_limit(const char *id, int limit, size_t value)
{
    size_t now = 0;
    cxu_result result = cuCtxSetLimit((cxu_limit)limit, value);
    MUST(cuCtxGetLimit(&now, (cxu_limit)limit));
    see(id, "%s %zu", name(result), now);
}

static void limits(void)
{
    size_t value = 77;
    MUST(cuInit(0));
    context_on(0);
    cxu_result result = cuCtxGetLimit(&value, CXU_LIMIT_SHMEM_SIZE);
    see("LIM-001", "%s positive=%d", name(result), value > 0 && value != 77);
    value = 77;
    result = cuCtxGetLimit(&value, CXU_LIMIT_CIG_ENABLED);
    see("LIM-002", "%s %zu", name(result), value);
    is("LIM-003", cuCtxSetLimit(CXU_LIMIT_SHMEM_SIZE, 4096));
    is("LIM-004", cuCtxSetLimit(CXU_LIMIT_CIG_ENABLED, 1));
    is("LIM-006", cuCtxSetLimit(CXU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED, 1));
    is("LIM-008", cuCtxSetLimit((cxu_limit)10, 1));
    is("LIM-009", cuCtxGetLimit(&value, (cxu_limit)15));
    is("LIM-010", cuCtxSetLimit((cxu_limit)256, 1));
    is("LIM-012", cuCtxGetLimit(NULL, CXU_LIMIT_STACK_SIZE));
    set_limit("LIM-014", CXU_LIMIT_STACK_SIZE, 100);
    result = cuCtxSetLimit(CXU_LIMIT_STACK_SIZE, MIB);
    MUST(cuCtxGetLimit(&value, CXU_LIMIT_STACK_SIZE));
    see("LIM-015", "%s %zu", name(result), value);
    set_limit("LIM-016", CXU_LIMIT_PRINTF_FIFO_SIZE, 1);
    set_limit("LIM-017", CXU_LIMIT_MALLOC_HEAP_SIZE, 1);
    set_limit("LIM-019", CXU_LIMIT_MAX_L2_FETCH_GRANULARITY, 100);
    is("LIM-020", cuCtxSetLimit(CXU_LIMIT_MAX_L2_FETCH_GRANULARITY, 1024));
    set_limit("LIM-021", CXU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 3);
    set_limit("LIM-022", CXU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 100);
}

const family context_families[] = {{"none_current", NULL, none_current},
                                   {"stacks", NULL, stacks},
                                   {"destroyed_in_a_stack", NULL, destroyed_in_a_stack},
                                   {"flags_of_contexts", NULL, flags_of_contexts},
                                   {"properties_of_contexts", NULL, properties_of_contexts},
                                   {"affinities", NULL, affinities},
                                   {"limits", NULL, limits},
                                   {NULL, NULL, NULL}};
