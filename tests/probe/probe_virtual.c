/* V1 to V7: reserved addresses, memory without an address, mappings, access, sharing. */
#include "probes.h"
#include "steps.h"

#include <stdio.h>
#include <unistd.h>

enum { CHUNK = 2 << 20 };
enum { ACCESS_NONE = 0, ACCESS_READ = 1, ACCESS_READ_WRITE = 3 };
enum { SHARED_AS_FILE = 1 };

static CUmemAllocationProp properties_of(int device, int handle_types)
{
    /* Pinned memory of a device. */
    return (CUmemAllocationProp){
        .type = 1, .location_type = 1, .location_id = device, .handle_types = handle_types};
}

static CUdeviceptr reserve(size_t bytes)
{
    CUdeviceptr range = 0;
    need("cuMemAddressReserve", cuMemAddressReserve(&range, bytes, 0, 0, 0));
    return range;
}

static unsigned long long make(size_t bytes, int handle_types)
{
    unsigned long long handle = 0;
    CUmemAllocationProp properties = properties_of(0, handle_types);
    need("cuMemCreate", cuMemCreate(&handle, bytes, &properties, 0));
    return handle;
}

static CUresult set_access(CUdeviceptr at, size_t bytes, int device, int flags)
{
    CUmemAccessDesc access = {1, device, flags};
    return cuMemSetAccess(at, bytes, &access, 1);
}

/* A range of four chunks, of which the first `count` are mapped one by one and open to device 0. */
static CUdeviceptr mapped(int count)
{
    CUdeviceptr range = reserve(4 * (size_t)CHUNK);
    for (int i = 0; i < count; i++) {
        unsigned long long handle = make(CHUNK, 0);
        CUdeviceptr at = range + (CUdeviceptr)i * CHUNK;
        need("cuMemMap", cuMemMap(at, CHUNK, 0, handle, 0));
        need("cuMemSetAccess", set_access(at, CHUNK, 0, ACCESS_READ_WRITE));
        need("cuMemRelease", cuMemRelease(handle));
    }
    return range;
}

static void see_byte(const char *word, CUdeviceptr at)
{
    unsigned char byte = 0;
    CUresult code = cuMemcpyDtoH_v2(&byte, at, 1);
    if (code == SUCCESS)
        see(word, "0x%x", byte);
    else
        see_result(word, code);
}

static void see_access(const char *word, CUdeviceptr at, int device)
{
    unsigned long long flags = 7;
    int location[2] = {1, device};
    CUresult code = cuMemGetAccess(&flags, location, at);
    if (code == SUCCESS)
        see(word, "%llu", flags);
    else
        see_result(word, code);
}

static void addresses(void)
{
    CUdeviceptr range = 0, other = 0;
    init();
    see_result("zero", cuMemAddressReserve(&range, 0, 0, 0, 0));
    see_result("no-page", cuMemAddressReserve(&range, CHUNK + 1, 0, 0, 0));
    see_result("one-page", cuMemAddressReserve(&other, 4 * KIB, 0, 0, 0));
    see_result("alignment-3", cuMemAddressReserve(&range, CHUNK, 3, 0, 0));
    see_result("flags-1", cuMemAddressReserve(&range, CHUNK, 0, 0, 1));
    see_result("null", cuMemAddressReserve(NULL, CHUNK, 0, 0, 0));
    see_result("hint-1", cuMemAddressReserve(&other, CHUNK, 0, 1, 0));
    see_result("reserve", cuMemAddressReserve(&range, 4 * (size_t)CHUNK, 0, 0, 0));
    see("granular", "%s", range % CHUNK == 0 ? "yes" : "no");
    see_result("aligned", cuMemAddressReserve(&other, CHUNK, 64 * (size_t)CHUNK, 0, 0));
    see("aligned-out", "%s", other % (64 * (size_t)CHUNK) == 0 ? "yes" : "no");
    see_result("free-part", cuMemAddressFree(range, CHUNK));
    see_result("free-inside", cuMemAddressFree(range + CHUNK, 3 * (size_t)CHUNK));
    see_result("free", cuMemAddressFree(range, 4 * (size_t)CHUNK));
    see_result("free-again", cuMemAddressFree(range, 4 * (size_t)CHUNK));
}

static void addresses_with_mappings(void)
{
    init();
    create("a");
    CUdeviceptr range = mapped(1);
    see_result("free", cuMemAddressFree(range, 4 * (size_t)CHUNK));
    see_result("fill", cuMemsetD8_v2(range, 1, 64));
    see_result("unmap", cuMemUnmap(range, CHUNK));
    see_result("free-after", cuMemAddressFree(range, 4 * (size_t)CHUNK));
}

static void creation(void)
{
    unsigned long long handle = 0;
    size_t minimum = 0, recommended = 0;
    CUmemAllocationProp properties = properties_of(0, 0), given = {0};
    init();
    need("granularity", cuMemGetAllocationGranularity(&minimum, &properties, 0));
    need("granularity", cuMemGetAllocationGranularity(&recommended, &properties, 1));
    see("minimum", "%zu", minimum);
    see("recommended", "%zu", recommended);
    see_result("option-2", cuMemGetAllocationGranularity(&minimum, &properties, 2));
    see_result("zero", cuMemCreate(&handle, 0, &properties, 0));
    see_result("odd", cuMemCreate(&handle, CHUNK + 512, &properties, 0));
    see_result("flags-1", cuMemCreate(&handle, CHUNK, &properties, 1));
    see_result("null", cuMemCreate(NULL, CHUNK, &properties, 0));
    see_result("null-properties", cuMemCreate(&handle, CHUNK, NULL, 0));
    properties.location_id = 99;
    see_result("device-99", cuMemCreate(&handle, CHUNK, &properties, 0));
    properties = properties_of(0, 0);
    properties.type = 0;
    see_result("type-0", cuMemCreate(&handle, CHUNK, &properties, 0));
    properties = properties_of(0, 0);
    see_result("none-current", cuMemCreate(&handle, CHUNK, &properties, 0));
    see_result("properties", cuMemGetAllocationPropertiesFromHandle(&given, handle));
    see("properties-out", "%d %d %d %d", given.type, given.handle_types, given.location_type,
        given.location_id);
    see_result("release", cuMemRelease(handle));
}

static void accounting(void)
{
    size_t before = 0, during = 0, after = 0, total = 0;
    init();
    create("a");
    cuMemGetInfo_v2(&before, &total);
    unsigned long long handle = make(4 * (size_t)CHUNK, 0);
    cuMemGetInfo_v2(&during, &total);
    see_result("release", cuMemRelease(handle));
    cuMemGetInfo_v2(&after, &total);
    see("created", "%zu", before - during);
    see("released", "%zu", before - after);
}

static void mapping(void)
{
    init();
    create("a");
    CUdeviceptr range = reserve(4 * (size_t)CHUNK), base = 0;
    unsigned long long handle = make(2 * (size_t)CHUNK, 0);
    size_t size = 0;
    see_result("offset", cuMemMap(range, CHUNK, CHUNK, handle, 0));
    see_result("flags-1", cuMemMap(range, CHUNK, 0, handle, 1));
    see_result("odd-size", cuMemMap(range, 4 * KIB, 0, handle, 0));
    see_result("odd-address", cuMemMap(range + 4 * KIB, CHUNK, 0, handle, 0));
    see_result("zero", cuMemMap(range, 0, 0, handle, 0));
    see_result("longer", cuMemMap(range, 3 * (size_t)CHUNK, 0, handle, 0));
    see_result("beyond", cuMemMap(range + 3 * (size_t)CHUNK, 2 * (size_t)CHUNK, 0, handle, 0));
    see_result("map", cuMemMap(range, 2 * (size_t)CHUNK, 0, handle, 0));
    see_result("overlap", cuMemMap(range + CHUNK, CHUNK, 0, handle, 0));
    see_result("twice", cuMemMap(range + 2 * (size_t)CHUNK, CHUNK, 0, handle, 0));
    see_result("range", cuMemGetAddressRange_v2(&base, &size, range + CHUNK + 5));
    see("range-out", "%s %zu", base == range ? "start" : "other", size);
    see_result("unmap-part", cuMemUnmap(range, CHUNK));
    see_result("unmap-beyond", cuMemUnmap(range, 4 * (size_t)CHUNK));
    see_result("unmap-row", cuMemUnmap(range, 3 * (size_t)CHUNK));
    see_result("unmap-again", cuMemUnmap(range, 3 * (size_t)CHUNK));
}

static void life(void)
{
    unsigned long long handle, retained = 0;
    init();
    CUcontext a = create("a");
    CUdeviceptr range = reserve(4 * (size_t)CHUNK);
    handle = make(CHUNK, 0);
    need("cuMemMap", cuMemMap(range, CHUNK, 0, handle, 0));
    need("cuMemSetAccess", set_access(range, CHUNK, 0, ACCESS_READ_WRITE));
    see_result("release-mapped", cuMemRelease(handle));
    see_result("fill", cuMemsetD8_v2(range, 0x42, CHUNK));
    see_result("retain", cuMemRetainAllocationHandle(&retained, (void *)(size_t)(range + 5)));
    see("retain-out", "%s", retained == handle ? "same" : "other");
    see_result("free", cuMemFree_v2(range));
    see_result("unmap", cuMemUnmap(range, CHUNK));
    see_result("map-again", cuMemMap(range + CHUNK, CHUNK, 0, retained, 0));
    see_result("access-again", set_access(range + CHUNK, CHUNK, 0, ACCESS_READ_WRITE));
    see_byte("byte", range + CHUNK);
    create("b");
    see_result("destroy", cuCtxDestroy_v2(a));
    see_byte("byte-after-context", range + CHUNK);
    see_result("release", cuMemRelease(retained));
    see_result("unmap-last", cuMemUnmap(range + CHUNK, CHUNK));
    see_result("retain-unmapped",
               cuMemRetainAllocationHandle(&retained, (void *)(size_t)(range + CHUNK)));
}

static void access_of_one(void)
{
    init();
    create("a");
    CUdeviceptr range = reserve(4 * (size_t)CHUNK);
    unsigned long long handle = make(2 * (size_t)CHUNK, 0);
    see_access("unmapped", range, 0);
    need("cuMemMap", cuMemMap(range, 2 * (size_t)CHUNK, 0, handle, 0));
    see_access("first", range, 0);
    see_result("part", set_access(range, CHUNK, 0, ACCESS_READ_WRITE));
    see_result("beyond", set_access(range, 4 * (size_t)CHUNK, 0, ACCESS_READ_WRITE));
    see_result("flags-2", set_access(range, 2 * (size_t)CHUNK, 0, 2));
    see_result("device-99", set_access(range, 2 * (size_t)CHUNK, 99, ACCESS_READ_WRITE));
    see_result("set", set_access(range, 2 * (size_t)CHUNK, 0, ACCESS_READ_WRITE));
    see_access("set-out", range + CHUNK, 0);
    see_result("fill", cuMemsetD8_v2(range, 0x11, 64));
    see_result("set-read", set_access(range, 2 * (size_t)CHUNK, 0, ACCESS_READ));
    see_byte("read", range);
    see_result("none", set_access(range, 2 * (size_t)CHUNK, 0, ACCESS_NONE));
}

/* What may leave the context useless comes last in an experiment of its own. */
static void without_access(void)
{
    init();
    create("a");
    CUdeviceptr range = reserve(4 * (size_t)CHUNK);
    unsigned long long handle = make(CHUNK, 0);
    need("cuMemMap", cuMemMap(range, CHUNK, 0, handle, 0));
    see_result("fill", cuMemsetD8_v2(range, 1, 64));
    see_result("synchronize", cuCtxSynchronize());
    see_byte("read", range);
}

static void read_only(void)
{
    init();
    create("a");
    CUdeviceptr range = mapped(1);
    need("cuMemSetAccess", set_access(range, CHUNK, 0, ACCESS_READ));
    see_result("fill", cuMemsetD8_v2(range, 1, 64));
    see_result("synchronize", cuCtxSynchronize());
}

static void access_of_a_peer(void)
{
    CUcontext b = NULL;
    init();
    need_devices(2);
    need("cuCtxCreate", cuCtxCreate_v2(&b, 0, 1));
    CUdeviceptr to = memory(4 * KIB);
    CUcontext a = create("a");
    CUdeviceptr range = mapped(1);
    need("cuMemsetD8", cuMemsetD8_v2(range, 0x33, 64));
    cuCtxSynchronize();
    see_access("peer", range, 1);
    need("cuCtxSetCurrent", cuCtxSetCurrent(b));
    see_result("copy-peer", cuMemcpyPeer(to, b, range, a, 64));
    see_byte("copy-peer-byte", to);
    see_result("set", set_access(range, CHUNK, 1, ACCESS_READ_WRITE));
    see_result("fill", cuMemsetD8_v2(range, 0x44, 64));
    see_result("copy", cuMemcpyDtoD_v2(to, range, 64));
    see_byte("copy-byte", to);
}

static void rows(void)
{
    init();
    create("a");
    CUdeviceptr range = mapped(3);
    see_result("fill", cuMemsetD8_v2(range, 0x55, 3 * (size_t)CHUNK));
    see_byte("byte", range + 3 * (size_t)CHUNK - 1);
    see_result("copy", cuMemcpyDtoD_v2(range + CHUNK - 100, range, 200));
    see_result("unmap", cuMemUnmap(range + CHUNK, CHUNK));
    see_result("rest", cuMemsetD8_v2(range + 2 * (size_t)CHUNK, 1, CHUNK));
}

static void over_a_gap(void)
{
    init();
    create("a");
    CUdeviceptr range = mapped(3);
    need("cuMemUnmap", cuMemUnmap(range + CHUNK, CHUNK));
    see_result("fill", cuMemsetD8_v2(range, 0x55, 3 * (size_t)CHUNK));
    see_result("synchronize", cuCtxSynchronize());
}

static CUdeviceptr in_use;

static CUresult unmap_first(void)
{
    return cuMemUnmap(in_use, CHUNK);
}

static void unmap_in_flight(void)
{
    init();
    CUcontext a = create("a");
    in_use = mapped(2);
    CUstream on = stream(STREAM_NON_BLOCKING);
    need("cuMemsetD8Async", cuMemsetD8Async(in_use, 1, 64, on));
    need("cuStreamSynchronize", cuStreamSynchronize(on));
    gate_close(on);
    need("cuMemsetD8Async", cuMemsetD8Async(in_use + CHUNK, 1, 64, on));
    see_returns("unused", a, unmap_first);
}

static void sharing(void)
{
    int file = -1;
    unsigned long long imported = 0;
    CUmemAllocationProp given = {0};
    init();
    create("a");
    CUdeviceptr range = reserve(4 * (size_t)CHUNK);
    unsigned long long closed = make(CHUNK, 0), handle = make(CHUNK, SHARED_AS_FILE);
    see_result("not-shared", cuMemExportToShareableHandle(&file, closed, SHARED_AS_FILE, 0));
    see_result("type-0", cuMemExportToShareableHandle(&file, handle, 0, 0));
    see_result("flags-1", cuMemExportToShareableHandle(&file, handle, SHARED_AS_FILE, 1));
    see_result("export", cuMemExportToShareableHandle(&file, handle, SHARED_AS_FILE, 0));
    see("export-out", "%s", file > 2 ? "file" : "none");
    need("cuMemMap", cuMemMap(range, CHUNK, 0, handle, 0));
    need("cuMemSetAccess", set_access(range, CHUNK, 0, ACCESS_READ_WRITE));
    need("cuMemsetD8", cuMemsetD8_v2(range, 0x66, CHUNK));
    cuCtxSynchronize();
    see_result("import",
               cuMemImportFromShareableHandle(&imported, (void *)(size_t)file, SHARED_AS_FILE));
    see_result("import-properties", cuMemGetAllocationPropertiesFromHandle(&given, imported));
    see("import-types", "%d", given.handle_types);
    need("cuMemMap", cuMemMap(range + CHUNK, CHUNK, 0, imported, 0));
    need("cuMemSetAccess", set_access(range + CHUNK, CHUNK, 0, ACCESS_READ_WRITE));
    see_byte("import-byte", range + CHUNK);
    close(file);
    see_byte("byte-after-close", range + CHUNK);
}

static void imports_of_others(void)
{
    unsigned long long imported = 0;
    init();
    int ends[2] = {-1, -1};
    FILE *other = tmpfile();
    if (pipe(ends) != 0 || other == NULL)
        give_up("no descriptors");
    see_result("pipe",
               cuMemImportFromShareableHandle(&imported, (void *)(size_t)ends[0], SHARED_AS_FILE));
    see_result("ordinary-file",
               cuMemImportFromShareableHandle(&imported, (void *)(size_t)fileno(other),
                                              SHARED_AS_FILE));
    see_result("closed",
               cuMemImportFromShareableHandle(&imported, (void *)(size_t)1000, SHARED_AS_FILE));
    fclose(other);
}

const struct experiment virtual_experiments[] = {
    {"V1.addresses", addresses,
     "zero no-page one-page alignment-3 flags-1 null hint-1 reserve granular aligned aligned-out "
     "free-part free-inside free free-again"},
    {"V1.with-mappings", addresses_with_mappings, "free fill unmap free-after"},
    {"V2.creation", creation,
     "minimum recommended option-2 zero odd flags-1 null null-properties device-99 type-0 "
     "none-current properties properties-out release"},
    {"V2.accounting", accounting, "release created released"},
    {"V3.mapping", mapping,
     "offset flags-1 odd-size odd-address zero longer beyond map overlap twice range range-out "
     "unmap-part unmap-beyond unmap-row unmap-again"},
    {"V4.life", life,
     "release-mapped fill retain retain-out free unmap map-again access-again byte destroy "
     "byte-after-context release unmap-last retain-unmapped"},
    {"V5.access", access_of_one,
     "unmapped first part beyond flags-2 device-99 set set-out fill set-read read none"},
    {"V5.without-access", without_access, "fill synchronize read"},
    {"V5.read-only", read_only, "fill synchronize"},
    {"V5.peer", access_of_a_peer, "peer copy-peer copy-peer-byte set fill copy copy-byte"},
    {"V6.rows", rows, "fill byte copy unmap rest"},
    {"V6.gap", over_a_gap, "fill synchronize"},
    {"V6.in-flight", unmap_in_flight, "unused"},
    {"V7.sharing", sharing,
     "not-shared type-0 flags-1 export export-out import import-properties import-types "
     "import-byte byte-after-close"},
    {"V7.imports-of-others", imports_of_others, "pipe ordinary-file closed"},
    {0},
};
