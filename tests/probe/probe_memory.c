/* T5, T7, T8, T19: freeing, pointers, stream-ordered memory, advice. */
#include "probes.h"
#include "steps.h"

static CUdeviceptr address_of(void *host)
{
    return (CUdeviceptr)(size_t)host;
}

static void free_anywhere(void)
{
    void *host = NULL, *other_host = NULL;
    init();
    create("a");
    CUdeviceptr first = memory(4 * KIB), second = memory(4 * KIB), third = memory(4 * KIB);
    need("cuMemAllocHost", cuMemAllocHost_v2(&host, 4 * KIB));
    need("cuMemAllocHost", cuMemAllocHost_v2(&other_host, 4 * KIB));
    pop_all();
    see_result("none-current", cuMemFree_v2(first));
    see_result("again", cuMemFree_v2(first));
    see_result("host-none-current", cuMemFreeHost(host));
    see_result("zero-none-current", cuMemFree_v2(0));
    create("b");
    see_result("other-current", cuMemFree_v2(second));
    see_result("host-other-current", cuMemFreeHost(other_host));
    see_result("interior", cuMemFree_v2(third + 256));
    see_result("after-interior", cuMemFree_v2(third));
    see_result("zero", cuMemFree_v2(0));
    see_result("garbage", cuMemFree_v2(0x1234567890));
    see_result("host-null", cuMemFreeHost(NULL));
    see_result("host-garbage", cuMemFreeHost(&host));
    see_result("host-twice", cuMemFreeHost(other_host));
}

static void free_of_destroyed(void)
{
    void *host = NULL;
    init();
    create("b");
    CUcontext a = create("a");
    CUdeviceptr plain = memory(4 * KIB);
    need("cuMemAllocHost", cuMemAllocHost_v2(&host, 4 * KIB));
    see_result("destroy", cuCtxDestroy_v2(a));
    see_result("free", cuMemFree_v2(plain));
    see_result("free-host", cuMemFreeHost(host));
    pop_all();
    see_result("free-none-current", cuMemFree_v2(plain));
}

static void free_with_destroyed_current(void)
{
    init();
    create("b");
    CUdeviceptr of_b = memory(4 * KIB);
    CUcontext a = create("a");
    create("c");
    cuCtxDestroy_v2(a);
    cuCtxPopCurrent_v2(NULL);
    see_alloc("alloc");
    see_result("free-of-another", cuMemFree_v2(of_b));
}

/* Asks for one attribute; on success says the value as its own kind. */
static void see_attribute(const char *word, int attribute, CUdeviceptr of)
{
    void *value = NULL;
    CUresult code = cuPointerGetAttribute(&value, attribute, of);
    int small = 0;
    __builtin_memcpy(&small, &value, sizeof small);
    if (code != SUCCESS)
        see_result(word, code);
    else if (attribute == POINTER_CONTEXT)
        see(word, "%s", who(value));
    else if (attribute == POINTER_DEVICE_POINTER || attribute == POINTER_HOST_POINTER)
        see(word, "%s", value == NULL ? "NULL" : address_of(value) == of ? "same" : "other");
    else
        see(word, "%d", small);
}

static void unknown_pointer(void)
{
    int local = 0;
    init();
    create("a");
    see_attribute("context", POINTER_CONTEXT, address_of(&local));
    see_attribute("memory-type", POINTER_MEMORY_TYPE, address_of(&local));
    see_attribute("device-pointer", POINTER_DEVICE_POINTER, address_of(&local));
    see_attribute("host-pointer", POINTER_HOST_POINTER, address_of(&local));
    see_attribute("managed", POINTER_IS_MANAGED, address_of(&local));
    see_attribute("ordinal", POINTER_ORDINAL, address_of(&local));
    see_attribute("zero", POINTER_CONTEXT, 0);
    see_attribute("unknown-attribute", 9999, address_of(&local));
    see_result("null-pointer", cuPointerGetAttribute(NULL, POINTER_CONTEXT, address_of(&local)));
    pop_all();
    see_attribute("none-current", POINTER_CONTEXT, address_of(&local));
}

static void see_plural(CUdeviceptr of)
{
    CUcontext context = (CUcontext)&context;
    unsigned int type = 77, managed = 77;
    CUdeviceptr device_pointer = 77;
    void *host_pointer = &type;
    int ordinal = 77;
    int which[] = {POINTER_CONTEXT,      POINTER_MEMORY_TYPE, POINTER_DEVICE_POINTER,
                   POINTER_HOST_POINTER, POINTER_IS_MANAGED,  POINTER_ORDINAL};
    void *values[] = {&context, &type, &device_pointer, &host_pointer, &managed, &ordinal};
    see_result("result", cuPointerGetAttributes(6, which, values, of));
    see("context", "%s", who(context));
    see("memory-type", "%u", type);
    see("device-pointer", "%s",
        device_pointer == 0    ? "NULL"
        : device_pointer == of ? "same"
                               : "other");
    see("host-pointer", "%s",
        host_pointer == NULL             ? "NULL"
        : address_of(host_pointer) == of ? "same"
                                         : "other");
    see("managed", "%u", managed);
    see("ordinal", "%d", ordinal);
}

static void unknown_plural(void)
{
    int local = 0, unknown = 9999;
    void *value = &local;
    init();
    create("a");
    see_plural(address_of(&local));
    see_result("count-0", cuPointerGetAttributes(0, &unknown, &value, address_of(&local)));
    see_result("unknown-attribute",
               cuPointerGetAttributes(1, &unknown, &value, address_of(&local)));
}

static void device_plural(void)
{
    init();
    create("a");
    CUdeviceptr plain = memory(4 * KIB);
    create("b");
    see_plural(plain);
}

static void host_plural(void)
{
    void *host = NULL;
    init();
    create("a");
    need("cuMemAllocHost", cuMemAllocHost_v2(&host, 4 * KIB));
    see_plural(address_of(host));
}

static void managed_plural(void)
{
    CUdeviceptr managed = 0;
    init();
    create("a");
    need("cuMemAllocManaged", cuMemAllocManaged(&managed, 4 * KIB, 1));
    see_plural(managed);
}

static void async_plural(void)
{
    CUdeviceptr made = 0;
    init();
    create("a");
    need("cuMemAllocAsync", cuMemAllocAsync(&made, 4 * KIB, NULL));
    cuStreamSynchronize(NULL);
    see_plural(made);
}

static void interior(void)
{
    init();
    create("a");
    CUdeviceptr plain = memory(4 * KIB);
    see_attribute("interior-context", POINTER_CONTEXT, plain + 100);
    see_attribute("interior-ordinal", POINTER_ORDINAL, plain + 4095);
    cuMemFree_v2(plain);
    see_attribute("freed", POINTER_CONTEXT, plain);
}

static void async_none_current(void)
{
    CUdeviceptr first = 0, second = 0;
    init();
    CUcontext a = create("a");
    CUstream on = stream(STREAM_BLOCKING);
    see_result("null-stream", cuMemAllocAsync(&second, 4 * KIB, NULL));
    pop_all();
    see_result("stream-none-current", cuMemAllocAsync(&first, 4 * KIB, on));
    see_result("null-stream-none-current", cuMemAllocAsync(&first, 4 * KIB, NULL));
    see_result("legacy-none-current", cuMemAllocAsync(&first, 4 * KIB, STREAM_LEGACY));
    see_result("per-thread-none-current", cuMemAllocAsync(&first, 4 * KIB, STREAM_PER_THREAD));
    see_result("free-null-stream-none-current", cuMemFreeAsync(second, NULL));
    see_result("free-stream-none-current", cuMemFreeAsync(second, on));
    see_result("stream-synchronize", cuStreamSynchronize(on));
    cuCtxPushCurrent_v2(a);
    see_result("free-again", cuMemFreeAsync(second, on));
    see_result("zero-bytes", cuMemAllocAsync(&first, 0, on));
    see_result("null-pointer", cuMemAllocAsync(NULL, 64, on));
    see_result("free-zero", cuMemFreeAsync(0, on));
}

static void async_pool(void)
{
    CUdeviceptr made = 0;
    CUcontext b = NULL;
    int ordinal = -7;
    init();
    need_devices(2);
    need("cuCtxCreate", cuCtxCreate_v2(&b, 0, 1));
    CUstream on = stream(STREAM_BLOCKING);
    create("a");
    see_result("alloc", cuMemAllocAsync(&made, 4 * KIB, on));
    cuStreamSynchronize(on);
    see_result("ordinal", cuPointerGetAttribute(&ordinal, POINTER_ORDINAL, made));
    see("ordinal-out", "%d", ordinal);
    see_result("free", cuMemFreeAsync(made, on));
}

static void plain_freed_async(void)
{
    CUdeviceptr made = 0;
    init();
    create("a");
    CUstream on = stream(STREAM_BLOCKING);
    CUdeviceptr plain = memory(4 * KIB);
    see_result("plain-free-async", cuMemFreeAsync(plain, on));
    see_result("stream-synchronize", cuStreamSynchronize(on));
    see_result("plain-free", cuMemFree_v2(plain));
    need("cuMemAllocAsync", cuMemAllocAsync(&made, 4 * KIB, on));
    cuStreamSynchronize(on);
    see_result("async-free", cuMemFree_v2(made));
    see_result("async-free-again", cuMemFreeAsync(made, on));
}

static void see_range(const char *word, CUdeviceptr of)
{
    CUdeviceptr base = 7;
    size_t bytes = 0;
    CUresult code = cuMemGetAddressRange_v2(&base, &bytes, of);
    if (code == SUCCESS)
        see(word, "%s, %zu", base == of ? "same" : "other", bytes);
    else
        see_result(word, code);
}

static void ranges(void)
{
    CUcontext b = NULL;
    void *host = NULL;
    init();
    need_devices(2);
    CUcontext a = create("a");
    CUdeviceptr plain = memory(4 * KIB);
    need("cuMemAllocHost", cuMemAllocHost_v2(&host, 4 * KIB));
    see_range("own", plain);
    see_range("host-memory", address_of(host));
    see_range("pageable", address_of(&host));
    need("cuCtxCreate", cuCtxCreate_v2(&b, 0, 1));
    see_range("other-device", plain);
    see_range("host-memory-other-device", address_of(host));
    see_result("enable", cuCtxEnablePeerAccess(a, 0));
    see_range("peer", plain);
    create("c");
    see_range("other-context", plain);
    pop_all();
    see_range("none-current", plain);
}

/* What GPUs align: the largest power of two up to 4 MiB that divides all of several addresses. */
static void see_alignment(const char *word, size_t bytes)
{
    CUdeviceptr all = 4096 * KIB;
    for (int i = 0; i < 16; i++) {
        (void)memory(8);
        all |= memory(bytes);
    }
    see(word, "%llu", (unsigned long long)(all & -all));
}

static void alignment(void)
{
    init();
    create("a");
    see_alignment("small", 100);
    see_alignment("below-1-mib", 1023 * KIB);
    see_alignment("1-mib", 1024 * KIB);
    see_alignment("3-mib", 3072 * KIB);
}

#define PLURAL_WORDS "result context memory-type device-pointer host-pointer managed ordinal"

enum { SET_READ_MOSTLY = 1, SET_PREFERRED = 3, SET_ACCESSED = 5 };
enum { READ_MOSTLY = 1, PREFERRED = 2, PREFETCHED = 4 };

static void see_hint(const char *word, int attribute, CUdeviceptr at, size_t bytes)
{
    int value = 77;
    CUresult code = cuMemRangeGetAttribute(&value, sizeof value, attribute, at, bytes);
    if (code == SUCCESS)
        see(word, "%d", value);
    else
        see_result(word, code);
}

static void advice(void)
{
    CUdeviceptr at = 0;
    int value = 0;
    init();
    create("a");
    need("cuMemAllocManaged", cuMemAllocManaged(&at, 64 * KIB, 1));
    CUdeviceptr plain = memory(64);
    see_hint("preferred-new", PREFERRED, at, 64 * KIB);
    see_result("read-mostly", cuMemAdvise(at, 4 * KIB, SET_READ_MOSTLY, 0));
    see_hint("part", READ_MOSTLY, at, 4 * KIB);
    see_hint("whole", READ_MOSTLY, at, 64 * KIB);
    see_result("preferred", cuMemAdvise(at, 64 * KIB, SET_PREFERRED, 0));
    see_hint("preferred-set", PREFERRED, at, 64 * KIB);
    see_result("no-advice", cuMemAdvise(at, 64, 7, 0));
    see_result("no-device", cuMemAdvise(at, 64, SET_ACCESSED, 99));
    see_result("plain", cuMemAdvise(plain, 64, SET_READ_MOSTLY, 0));
    see_result("past-the-end", cuMemAdvise(at, 64 * KIB + 1, SET_READ_MOSTLY, 0));
    see_hint("hint-plain", READ_MOSTLY, plain, 64);
    see_hint("hint-none", 99, at, 64);
    see_result("hint-size", cuMemRangeGetAttribute(&value, 1, READ_MOSTLY, at, 64));
    see_result("prefetch", cuMemPrefetchAsync(at, 64 * KIB, 0, NULL));
    see_hint("prefetched", PREFETCHED, at, 64 * KIB);
    see_result("prefetch-plain", cuMemPrefetchAsync(plain, 64, 0, NULL));
    see_result("synchronize", cuCtxSynchronize());
}

/* Two ranges of managed memory; each call gets so many of them. */
static CUdeviceptr parts[2];
static size_t part_bytes[2] = {4 * KIB, 4 * KIB}, first_parts[2] = {0, 1};
static int places[2][2] = {{1, 0}, {2, 0}}; /* device 0, the host */

static CUresult prefetch(size_t count, size_t place_count, CUstream on)
{
    return cuMemPrefetchBatchAsync(parts, part_bytes, count, places[0], first_parts, place_count, 0,
                                   on);
}

static CUresult discard(size_t count, CUstream on)
{
    return cuMemDiscardBatchAsync(parts, part_bytes, count, 0, on);
}

static void see_captured(const char *name, const char *end, CUstream on,
                         CUresult (*submit)(size_t count, CUstream on))
{
    CUgraph graph = NULL;
    need("cuStreamBeginCapture", cuStreamBeginCapture_v2(on, 0));
    see_result(name, submit(1, on));
    see_result(end, cuStreamEndCapture(on, &graph));
}

static CUresult prefetch_to_device(size_t count, CUstream on)
{
    return prefetch(count, 1, on);
}

static void batches(void)
{
    init();
    create("a");
    need("cuMemAllocManaged", cuMemAllocManaged(&parts[0], 64 * KIB, 1));
    parts[1] = parts[0] + 8 * KIB;
    CUdeviceptr plain = memory(4 * KIB);
    CUstream on = stream(STREAM_NON_BLOCKING);
    see_result("fill", cuMemsetD8_v2(parts[0], 7, 64 * KIB));
    see_result("prefetch", prefetch(2, 2, on));
    see_hint("prefetched", PREFETCHED, parts[1], 4 * KIB);
    see_result("no-place", prefetch(2, 0, on));
    see_result("no-ranges", discard(0, on));
    see_result("flags-1", cuMemDiscardBatchAsync(parts, part_bytes, 2, 1, on));
    see_result("legacy", discard(2, NULL));
    see_result("discard", discard(2, on));
    see_result("synchronize", cuStreamSynchronize(on));
    see("discarded", "%d", *(unsigned char *)(size_t)parts[1]);
    see("beside", "%d", *(unsigned char *)(size_t)(parts[1] + 4 * KIB));
    see_result("both", cuMemDiscardAndPrefetchBatchAsync(parts, part_bytes, 2, places[0],
                                                         first_parts, 2, 0, on));
    see_captured("captured-prefetch", "end-prefetch", on, prefetch_to_device);
    see_captured("captured-discard", "end-discard", on, discard);
    parts[1] = plain;
    see_result("plain", discard(2, on));
    see_result("synchronize-all", cuCtxSynchronize());
}

const struct experiment memory_experiments[] = {
    {"T5.free-anywhere", free_anywhere,
     "none-current again host-none-current zero-none-current other-current host-other-current "
     "interior "
     "after-interior zero garbage host-null host-garbage host-twice"},
    {"T5.free-of-destroyed", free_of_destroyed, "destroy free free-host free-none-current"},
    {"T5.destroyed-is-current", free_with_destroyed_current, "alloc free-of-another"},
    {"T7.unknown", unknown_pointer,
     "context memory-type device-pointer host-pointer managed ordinal zero unknown-attribute "
     "null-pointer "
     "none-current"},
    {"T7.unknown-plural", unknown_plural, PLURAL_WORDS " count-0 unknown-attribute"},
    {"T7.device-plural", device_plural, PLURAL_WORDS},
    {"T7.host-plural", host_plural, PLURAL_WORDS},
    {"T7.managed-plural", managed_plural, PLURAL_WORDS},
    {"T7.async-plural", async_plural, PLURAL_WORDS},
    {"T7.interior", interior, "interior-context interior-ordinal freed"},
    {"T7.range", ranges,
     "own host-memory pageable other-device host-memory-other-device enable peer other-context "
     "none-current"},
    {"X8.alignment", alignment, "small below-1-mib 1-mib 3-mib"},
    {"T8.none-current", async_none_current,
     "null-stream stream-none-current null-stream-none-current legacy-none-current "
     "per-thread-none-current "
     "free-null-stream-none-current free-stream-none-current stream-synchronize free-again "
     "zero-bytes null-pointer "
     "free-zero"},
    {"T8.pool", async_pool, "alloc ordinal ordinal-out free"},
    {"T8.mixed", plain_freed_async,
     "plain-free-async stream-synchronize plain-free async-free async-free-again"},
    {"T19.advice", advice,
     "preferred-new read-mostly part whole preferred preferred-set no-advice no-device plain "
     "past-the-end hint-plain hint-none hint-size prefetch prefetched prefetch-plain "
     "synchronize"},
    {"T19.batches", batches,
     "fill prefetch prefetched no-place no-ranges flags-1 legacy discard synchronize discarded "
     "beside both captured-prefetch end-prefetch captured-discard end-discard plain "
     "synchronize-all"},
    {NULL, NULL, NULL},
};
