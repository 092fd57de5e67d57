#include "observed.h"

static cxu_mem_pool_properties on(int device)
{
    return (cxu_mem_pool_properties){.type = CXU_MEM_ALLOCATION_TYPE_PINNED,
                                     .location = {CXU_MEM_LOCATION_TYPE_DEVICE, device}};
}

static void by_place(void)
{
    cxu_mem_location here = {CXU_MEM_LOCATION_TYPE_DEVICE, 0};
    cxu_mem_location nowhere = {CXU_MEM_LOCATION_TYPE_DEVICE, 9};
    CUmemoryPool first = NULL, pool = NULL, mine = NULL;
    MUST(cuInit(0));
    context_on(0);
    cxu_result result = ASK("cuMemGetDefaultMemPool", P(&first), P(&here), 1);
    see("POO-001", "%s set=%d", name(result), first != NULL);
    is("POO-004", ASK("cuMemGetDefaultMemPool", P(&pool), P(&nowhere), 1));
    is("POO-005", ASK("cuMemGetDefaultMemPool", 0, P(&here), 1));
    is("POO-006", ASK("cuMemGetDefaultMemPool", P(&pool), 0, 1));
    result = ASK("cuMemGetMemPool", P(&pool), P(&here), 1);
    see("POO-007", "%s same=%d", name(result), pool != NULL && pool == first);
    is("RTS-035", result);
    cxu_mem_pool_properties properties = on(0);
    MUST(cuMemPoolCreate(&mine, &properties));
    result = ASK("cuMemSetMemPool", P(&here), 1, P(mine));
    pool = NULL;
    (void)ASK("cuMemGetMemPool", P(&pool), P(&here), 1);
    see("POO-008", "%s mine=%d", name(result), pool == mine);
    pool = NULL;
    (void)cuDeviceGetMemPool(&pool, 0);
    see("RTS-038", "%s", pool == mine ? name(result) : "another");
    cxu_result none = ASK("cuMemSetMemPool", P(&here), 1, 0);
    cxu_result placeless = ASK("cuMemSetMemPool", 0, 1, P(mine));
    result = ASK("cuMemSetMemPool", P(&nowhere), 1, P(mine));
    see("RTS-039", "%s %s %s", name(none), name(placeless), name(result));
}

static void managed(void)
{
    cxu_mem_location here = {CXU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemoryPool pool = NULL;
    MUST(cuInit(0));
    context_on(0);
    cxu_result result = ASK("cuMemGetDefaultMemPool", P(&pool), P(&here), 2);
    is("POO-003", result);
    is("RTS-037", result);
}

static void pools(void)
{
    CUmemoryPool pool = NULL, first = NULL;
    uint64_t value = 0;
    CUdeviceptr at = 0;
    MUST(cuInit(0));
    context_on(0);
    cxu_mem_pool_properties properties = on(0);
    is("CPY-010", cuMemPoolCreate(&pool, &properties));
    MUST(cuDeviceGetDefaultMemPool(&first, 0));
    is("HIP-101", cuMemPoolCreate(&pool, NULL));
    properties.location.type = (cxu_mem_location_type)-1;
    is("HIP-103", cuMemPoolCreate(&pool, &properties));
    properties = on(2);
    is("HIP-104", cuMemPoolCreate(&pool, &properties));
    is("HIP-105", cuMemPoolDestroy(first));
    is("HIP-106", cuMemPoolDestroy(NULL));
    int number = 0;
    is("CPY-012",
       cuMemPoolSetAttribute(pool, CXU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, &number));
    is("LUP-017", cuMemPoolSetAttribute(pool, (cxu_mem_pool_attribute)99, &value));
    is("HIP-107", cuMemPoolSetAttribute(NULL, CXU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value));
    is("HIP-108", cuMemPoolSetAttribute(pool, (cxu_mem_pool_attribute)9, &value));
    value = 1;
    is("HIP-110", cuMemPoolSetAttribute(pool, CXU_MEMPOOL_ATTR_USED_MEM_HIGH, &value));
    is("HIP-111", cuMemPoolGetAttribute(NULL, CXU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value));
    is("HIP-112", cuMemPoolGetAttribute(pool, CXU_MEMPOOL_ATTR_RELEASE_THRESHOLD, NULL));
    is("HIP-113", cuMemPoolTrimTo(NULL, 0));
    cxu_mem_access access = {{CXU_MEM_LOCATION_TYPE_DEVICE, 2},
                             CXU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    cxu_mem_access_flags flags;
    is("HIP-115", cuMemPoolSetAccess(pool, &access, 1));
    is("HIP-117", cuMemPoolGetAccess(&flags, pool, &access.location));
    access.location.id = 0;
    is("MOR-034", cuMemPoolSetAccess(pool, &access, 1));
    is("HIP-118", cuMemPoolGetAccess(&flags, NULL, &access.location));
    is("HIP-119", cuMemAllocAsync(NULL, 64, NULL));
    is("HIP-120", cuMemAllocAsync(&at, (size_t)-1, NULL));
    is("HIP-122", cuMemAllocFromPoolAsync(&at, (size_t)-1, pool, NULL));
}

const family pool_families[] = {
    {"by_place", NULL, by_place}, {"managed", "CTXRT_EMU_GPU=rtx3060", managed},
    {"pools", NULL, pools}, {NULL, NULL, NULL}};
