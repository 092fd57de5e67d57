#include "observed.h"

static unsigned int state(int *out_active)
{
    unsigned int flags = 0x7777;
    int active = -1;
    MUST(cuDevicePrimaryCtxGetState(0, &flags, &active));
    if (out_active != NULL)
        *out_active = active;
    return flags;
}

static void set_flags(const char *id, unsigned int flags)
{
    cxu_result result = cuDevicePrimaryCtxSetFlags_v2(0, flags);
    see(id, "%s flags=%#x", name(result), state(NULL));
}

static void flags_while_inactive(void)
{
    int active = -1;
    unsigned int flags = 0;
    MUST(cuInit(0));
    flags = state(&active);
    see("PRI-001", "SUCCESS flags=%u active=%d", flags, active);
    is("PRI-002", cuDevicePrimaryCtxGetState(0, NULL, &active));
    is("PRI-003", cuDevicePrimaryCtxGetState(0, &flags, NULL));
    set_flags("PRI-005", 0);
    set_flags("PRI-007", 2);
    set_flags("PRI-008", 4);
    set_flags("PRI-009", 0x10);
    set_flags("PRI-011", 0x80);
    set_flags("PRI-014", 0x30);
    set_flags("PRI-015", 0xf0);
    set_flags("PRI-013", 0x90);
    set_flags("PRI-016", 8);
    set_flags("PRI-017", 5);
    set_flags("PRI-018", 0xc);
    set_flags("PRI-020", 3);
    set_flags("PRI-021", 0xff);
    set_flags("PRI-022", 0x100);
    is("PRI-023", cuDevicePrimaryCtxSetFlags_v2(9, 0));
}

static void flags_now(const char *id, unsigned int flags)
{
    unsigned int now = 0;
    cxu_result result = cuDevicePrimaryCtxSetFlags_v2(0, flags);
    MUST(cuCtxGetFlags(&now));
    see(id, "%s flags=%#x", name(result), now);
}

static void life_of_a_primary(void)
{
    CUcontext primary, again;
    unsigned int flags = 0, version = 0;
    int active = -1;
    CUdeviceptr pointer;
    MUST(cuInit(0));
    is("PRI-024", cuDevicePrimaryCtxRetain(&primary, 0));
    cxu_result result = cuCtxSetCurrent(primary);
    MUST(cuCtxGetFlags(&flags));
    see("PRI-026", "%s flags=%#x", name(result), flags);
    flags_now("PRI-028", 4);
    flags_now("PRI-029", 0x10);
    flags_now("PRI-030", 0x80);
    result = cuCtxGetApiVersion(primary, &version);
    see("LUP-060", "%s %u", name(result), version);
    is("PRI-032", cuDevicePrimaryCtxReset_v2(0));
    is("PRI-034", cuDevicePrimaryCtxReset_v2(9));
    result = cuDevicePrimaryCtxGetState(0, &flags, &active);
    see("LUP-062", "%s active=%d", name(result), active);
    is("MOR-020", cuMemAlloc_v2(&pointer, 64));
    result = cuDevicePrimaryCtxRetain(&again, 0);
    see("LUP-064", "%s same=%d", name(result), again == primary);
    see("MOR-021", again == primary ? "same" : "another");
    is("LUP-065", cuMemAlloc_v2(&pointer, 64));
    MUST(cuDevicePrimaryCtxReset_v2(0));
    is("PRI-035", cuCtxSetCurrent(NULL));
}

static void counts(void)
{
    CUcontext primary;
    unsigned int flags;
    int active;
    MUST(cuInit(0));
    is("MOR-023", cuDevicePrimaryCtxRelease_v2(0));
    MUST(cuDevicePrimaryCtxRetain(&primary, 0));
    MUST(cuDevicePrimaryCtxReset_v2(0));
    is("PRI-036", cuDevicePrimaryCtxRelease_v2(0));
    is("PRI-037", cuDevicePrimaryCtxRelease_v2(0));
    MUST(cuDevicePrimaryCtxRetain(&primary, 0));
    MUST(cuDevicePrimaryCtxReset_v2(0));
    MUST(cuDevicePrimaryCtxRetain(&primary, 0));
    MUST(cuDevicePrimaryCtxRelease_v2(0));
    state(&active);
    see("MOR-022", active ? "stays active" : "inactive");
    MUST(cuDevicePrimaryCtxRelease_v2(0));
    MUST(cuDevicePrimaryCtxRetain(&primary, 0));
    MUST(cuCtxSetCurrent(primary));
    MUST(cuDevicePrimaryCtxSetFlags_v2(0, 4));
    MUST(cuDevicePrimaryCtxRelease_v2(0));
    cxu_result result = cuDevicePrimaryCtxGetState(0, &flags, &active);
    see("ZLU-008", "%s flags=%u active=%d", name(result), flags, active);
    is("ZLU-009", cuDevicePrimaryCtxReset_v2(0));
}

const family primary_families[] = {{"flags_while_inactive", NULL, flags_while_inactive},
                                   {"life_of_a_primary", NULL, life_of_a_primary},
                                   {"counts", NULL, counts},
                                   {NULL, NULL, NULL}};
