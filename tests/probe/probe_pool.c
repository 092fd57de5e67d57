/* T14, T15, T18, T21: pools of stream-ordered memory. */
#include "probes.h"
#include "steps.h"

enum { RELEASE_THRESHOLD = 4, RESERVED = 5, USED = 7, USED_HIGH = 8, SWITCHES = 3 };
enum { POOL_BYTES = 4 << 20 };

static CUmemoryPool make(int device, size_t max_bytes)
{
    CUmemoryPool pool = NULL;
    /* Pinned memory of a device. */
    CUmemPoolProps properties = {
        .type = 1, .location_type = 1, .location_id = device, .max_bytes = max_bytes};
    need("cuMemPoolCreate", cuMemPoolCreate(&pool, &properties));
    return pool;
}

static void see_attribute(const char *word, CUmemoryPool pool, int attribute)
{
    unsigned long long value = 0;
    CUresult code = cuMemPoolGetAttribute(pool, attribute, &value);
    if (code == SUCCESS)
        see(word, "%llu", value);
    else
        see_result(word, code);
}

static void see_current(const char *word, int device)
{
    CUmemoryPool pool = NULL;
    CUresult code = cuDeviceGetMemPool(&pool, device);
    if (code == SUCCESS)
        see(word, "%s", who(pool));
    else
        see_result(word, code);
}

static void pools_of_a_device(void)
{
    CUmemoryPool pool = NULL;
    CUdeviceptr made = 0;
    init();
    create("a");
    CUstream on = stream(STREAM_BLOCKING);
    see_result("default", cuDeviceGetDefaultMemPool(&pool, 0));
    know(pool, "default-pool");
    see_result("bad-device", cuDeviceGetDefaultMemPool(&pool, 99));
    see_result("null", cuDeviceGetDefaultMemPool(NULL, 0));
    see_current("current", 0);
    see_result("destroy-default", cuMemPoolDestroy(pool));
    CUmemoryPool own = make(0, 0);
    know(own, "own-pool");
    see_result("set", cuDeviceSetMemPool(0, own));
    see_current("current-set", 0);
    see_result("alloc", cuMemAllocAsync(&made, POOL_BYTES, on));
    cuStreamSynchronize(on);
    see_attribute("used", own, USED);
    see_result("destroy", cuMemPoolDestroy(own));
    see_current("current-destroyed", 0);
    see_result("fill", cuMemsetD8Async(made, 1, 64, on));
    see_result("free", cuMemFreeAsync(made, on));
    see_result("synchronize", cuStreamSynchronize(on));
    see_result("set-null", cuDeviceSetMemPool(0, NULL));
}

static void pool_of_another_device(void)
{
    init();
    need_devices(2);
    CUmemoryPool other = make(1, 0);
    see_result("set", cuDeviceSetMemPool(0, other));
    see_result("destroy", cuMemPoolDestroy(other));
}

static void pool_with_a_limit(void)
{
    CUdeviceptr made = 0, more = 0;
    init();
    create("a");
    CUstream on = stream(STREAM_BLOCKING);
    CUmemoryPool pool = make(0, POOL_BYTES);
    see_result("too-large", cuMemAllocFromPoolAsync(&made, 64 * (size_t)POOL_BYTES, pool, on));
    see_result("zero", cuMemAllocFromPoolAsync(&made, 0, pool, on));
    see_result("null-pool", cuMemAllocFromPoolAsync(&made, 64, NULL, on));
    see_result("all", cuMemAllocFromPoolAsync(&made, POOL_BYTES, pool, on));
    see_result("more", cuMemAllocFromPoolAsync(&more, 512, pool, on));
}

static void attributes(void)
{
    unsigned long long threshold = 64 * KIB, zero = 0, one = 1;
    int off = 0;
    CUdeviceptr made = 0;
    init();
    create("a");
    CUstream on = stream(STREAM_BLOCKING);
    CUmemoryPool pool = make(0, 0);
    see_attribute("switch-1", pool, 1);
    see_attribute("switch-3", pool, SWITCHES);
    see_result("set-switch", cuMemPoolSetAttribute(pool, 2, &off));
    see_attribute("switch-2", pool, 2);
    see_attribute("threshold", pool, RELEASE_THRESHOLD);
    see_result("set-threshold", cuMemPoolSetAttribute(pool, RELEASE_THRESHOLD, &threshold));
    see_attribute("threshold-set", pool, RELEASE_THRESHOLD);
    see_result("attribute-0", cuMemPoolSetAttribute(pool, 0, &zero));
    see_result("attribute-99", cuMemPoolSetAttribute(pool, 99, &zero));
    see_result("set-used", cuMemPoolSetAttribute(pool, USED, &zero));
    see_result("set-high-1", cuMemPoolSetAttribute(pool, USED_HIGH, &one));
    see_result("get-null", cuMemPoolGetAttribute(pool, USED, NULL));
    need("cuMemAllocFromPoolAsync", cuMemAllocFromPoolAsync(&made, POOL_BYTES, pool, on));
    cuMemFreeAsync(made, on);
    cuStreamSynchronize(on);
    see_attribute("used", pool, USED);
    see_attribute("used-high", pool, USED_HIGH);
    see_result("set-high-0", cuMemPoolSetAttribute(pool, USED_HIGH, &zero));
    see_attribute("used-high-again", pool, USED_HIGH);
    see_result("trim", cuMemPoolTrimTo(pool, 0));
    see_attribute("reserved-trimmed", pool, RESERVED);
}

enum { NOWHERE, DEVICE, HOST, NODE, NODE_HERE }; /* places of pools */
enum { PINNED = 1, MANAGED = 2 };

static CUresult make_at(CUmemoryPool *pool, int type, int place, int handle_types)
{
    CUmemPoolProps properties = {
        .type = type, .handle_types = handle_types, .location_type = place};
    return cuMemPoolCreate(pool, &properties);
}

static void see_access(const char *word, CUmemoryPool pool, int place)
{
    int flags = -1, location[2] = {place, 0};
    CUresult code = cuMemPoolGetAccess(&flags, pool, location);
    if (code == SUCCESS)
        see(word, "%d", flags);
    else
        see_result(word, code);
}

static void pool_of_the_host(void)
{
    CUmemoryPool pool = NULL, none = NULL;
    CUmemAccessDesc access = {.location_type = DEVICE, .flags = 3};
    CUdeviceptr made = 0;
    unsigned int type = 0;
    init();
    create("a");
    CUstream on = stream(STREAM_BLOCKING);
    see_result("shared", make_at(&none, PINNED, HOST, 1));
    see_result("here", make_at(&none, PINNED, NODE_HERE, 0));
    see_result("nowhere", make_at(&none, PINNED, NOWHERE, 0));
    see_result("node", make_at(&none, PINNED, NODE, 0));
    see_result("host", make_at(&pool, PINNED, HOST, 0));
    see_access("access-device", pool, DEVICE);
    see_access("access-host", pool, HOST);
    see_result("alloc", cuMemAllocFromPoolAsync(&made, 64 * KIB, pool, on));
    see_result("type", cuPointerGetAttribute(&type, 2, made));
    see("type-value", "%u", type);
    see_result("fill", cuMemsetD8Async(made, 1, 64, on));
    see_result("open", cuMemPoolSetAccess(pool, &access, 1));
    see_access("access-open", pool, DEVICE);
    see_result("fill-open", cuMemsetD8Async(made, 1, 64, on));
    see_result("free", cuMemFreeAsync(made, on));
    see_result("synchronize", cuStreamSynchronize(on));
}

static void pool_of_managed_memory(void)
{
    CUmemoryPool pool = NULL, none = NULL;
    CUmemAccessDesc access = {.location_type = DEVICE, .flags = 0};
    CUdeviceptr made = 0;
    init();
    create("a");
    CUstream on = stream(STREAM_BLOCKING);
    see_result("shared", make_at(&none, MANAGED, NOWHERE, 1));
    see_result("preferring", make_at(&none, MANAGED, DEVICE, 0));
    see_result("managed", make_at(&pool, MANAGED, NOWHERE, 0));
    see_access("access-device", pool, DEVICE);
    see_access("access-host", pool, HOST);
    see_result("close", cuMemPoolSetAccess(pool, &access, 1));
    see_result("alloc", cuMemAllocFromPoolAsync(&made, 64 * KIB, pool, on));
    see_result("fill", cuMemsetD8Async(made, 1, 64, on));
    see_result("free", cuMemFreeAsync(made, on));
    see_result("synchronize", cuStreamSynchronize(on));
}

enum { FILES = 1 };

/* Whether a process may import a pool of its own is told by the driver too. */
static void pool_that_is_shared(void)
{
    CUmemoryPool pool = NULL, imported = NULL;
    unsigned char shared[64];
    int file = -1;
    CUdeviceptr made = 0, seen = 0;
    init();
    create("a");
    CUstream on = stream(STREAM_BLOCKING);
    CUmemoryPool plain = make(0, 0);
    see_result("plain", cuMemPoolExportToShareableHandle(&file, plain, FILES, 0));
    see_result("make", make_at(&pool, PINNED, DEVICE, FILES));
    need("cuMemAllocFromPoolAsync", cuMemAllocFromPoolAsync(&made, 64 * KIB, pool, on));
    see_result("pointer-before", cuMemPoolExportPointer(shared, made));
    see_result("export", cuMemPoolExportToShareableHandle(&file, pool, FILES, 0));
    see_result("flags", cuMemPoolExportToShareableHandle(&file, pool, FILES, 1));
    see_result("pointer", cuMemPoolExportPointer(shared, made));
    see_result("import", cuMemPoolImportFromShareableHandle(&imported, (void *)(size_t)file, FILES,
                                                            0));
    see_result("import-pointer", cuMemPoolImportPointer(&seen, imported, shared));
    see_result("import-into-own", cuMemPoolImportPointer(&seen, pool, shared));
    see_result("alloc-imported", cuMemAllocFromPoolAsync(&made, 64, imported, on));
    see_result("use-imported", cuDeviceSetMemPool(0, imported));
}

const struct experiment pool_experiments[] = {
    {"T14.device", pools_of_a_device,
     "default bad-device null current destroy-default set current-set alloc used destroy "
     "current-destroyed fill free synchronize set-null"},
    {"T14.other-device", pool_of_another_device, "set destroy"},
    {"T14.limit", pool_with_a_limit, "too-large zero null-pool all more"},
    {"T15.attributes", attributes,
     "switch-1 switch-3 set-switch switch-2 threshold set-threshold threshold-set attribute-0 "
     "attribute-99 set-used set-high-1 get-null used used-high set-high-0 used-high-again trim "
     "reserved-trimmed"},
    {"T18.host", pool_of_the_host,
     "shared here nowhere node host access-device access-host alloc type type-value fill open "
     "access-open fill-open free synchronize"},
    {"T18.managed", pool_of_managed_memory,
     "shared preferring managed access-device access-host close alloc fill free synchronize"},
    {"T21.share", pool_that_is_shared,
     "plain make pointer-before export flags pointer import import-pointer import-into-own "
     "alloc-imported use-imported"},
    {0},
};
