#include "observed.h"

static void fills(void)
{
    MUST(cuInit(0));
    context_on(0);
    CUdeviceptr d = memory(4096), end = d + 4096;
    is("SET-001", cuMemsetD2D8_v2(d, 8, 1, 10, 3));
    is("SET-003", cuMemsetD2D8_v2(d, 0, 1, 10, 1));
    is("SET-004", cuMemsetD2D8_v2(d, 0, 1, 10, 2));
    is("SET-005", cuMemsetD2D16_v2(d, 11, 1, 5, 2));
    is("SET-006", cuMemsetD2D16_v2(d, 11, 1, 5, 1));
    is("SET-007", cuMemsetD2D16_v2(d, 12, 1, 5, 2));
    is("SET-008", cuMemsetD2D32_v2(d, 14, 1, 3, 2));
    is("SET-010", cuMemsetD2D16_v2(d + 1, 12, 1, 5, 2));
    is("SET-011", cuMemsetD2D32_v2(d + 2, 16, 1, 3, 2));
    is("SET-012", cuMemsetD16_v2(d + 1, 1, 4));
    is("SET-013", cuMemsetD32_v2(d + 2, 1, 4));
    is("SET-015", cuMemsetD2D8_v2(d, 16, 1, 10, 0));
    is("SET-017", cuMemsetD8_v2(0, 1, 0));
    is("SET-018", cuMemsetD8_v2(0, 1, 4));
    is("SET-019", cuMemsetD2D8_v2(0, 16, 1, 10, 2));
    CUdeviceptr rows;
    size_t pitch;
    MUST(cuMemAllocPitch_v2(&rows, &pitch, 100, 4, 4));
    is("SET-020", cuMemsetD2D8_v2(d, 512, 1, 512, 9));
    is("SET-022", cuMemsetD2D8_v2(end - 16, 32, 1, 16, 2));
}

static void copies(void)
{
    unsigned char host[256] = {0};
    MUST(cuInit(0));
    context_on(0);
    CUdeviceptr d = memory(4096);
    is("LUP-013", cuMemcpyHtoD_v2(d, NULL, 16));
    cxu_memcpy_2d flat = {.source_type = CXU_MEMORYTYPE_HOST,
                          .source_host = host,
                          .destination_type = CXU_MEMORYTYPE_DEVICE,
                          .destination_device = d,
                          .width_bytes = 16};
    is("LUP-070", cuMemcpy2D_v2(&flat));
    is("LUP-071", cuMemcpy2DAsync_v2(&flat, NULL));
    is("LUP-072", cuMemcpy2DUnaligned_v2(&flat));
    cxu_memcpy_3d deep = {.source_type = CXU_MEMORYTYPE_HOST,
                          .source_host = host,
                          .destination_type = CXU_MEMORYTYPE_DEVICE,
                          .destination_device = d,
                          .width_bytes = 16,
                          .height = 4};
    is("LUP-073", cuMemcpy3D_v2(&deep));
    is("LUP-074", cuMemcpy3DAsync_v2(&deep, NULL));
}

static void attached(void)
{
    CUdeviceptr m = 0, other = 0;
    MUST(cuInit(0));
    context_on(0);
    CUdeviceptr d = memory(4096);
    CUstream s = stream_with(0);
    is("MAN-002", cuMemAllocManaged(&m, 4096, 0));
    is("MAN-004", cuMemAllocManaged(&m, 65536, CXU_MEM_ATTACH_GLOBAL));
    is("MAN-005", cuMemAllocManaged(&other, 4096, CXU_MEM_ATTACH_HOST));
    unsigned int number = 77;
    cxu_result result = cuPointerGetAttribute(&number, CXU_POINTER_MEMORY_TYPE, m);
    see("MAN-006", "%s %u", name(result), number);
    number = 0;
    result = cuPointerGetAttribute(&number, CXU_POINTER_IS_MANAGED, m);
    see("MAN-007", "%s %u", name(result), number & 0xff);
    void *host = NULL;
    result = cuPointerGetAttribute(&host, CXU_POINTER_HOST_POINTER, m);
    see("MAN-009", "%s same=%d", name(result), P(host) == m);
    number = 0;
    result = cuPointerGetAttribute(&number, CXU_POINTER_IS_MANAGED, d);
    see("MAN-010", "%s %u", name(result), number & 0xff);
    is("MAN-011", ASK("cuStreamAttachMemAsync", P(s), m, 0, 4));
    is("MAN-012", ASK("cuStreamAttachMemAsync", P(s), m, 65536, 1));
    is("MAN-013", ASK("cuStreamAttachMemAsync", P(s), m, 32768, 4));
    is("MAN-014", ASK("cuStreamAttachMemAsync", P(s), m + 4096, 0, 4));
    is("MAN-016", ASK("cuStreamAttachMemAsync", P(s), m, 0, 7));
    char room[64];
    is("LUP-015", cuPointerGetAttribute(room, (cxu_pointer_attribute)999, d));
    result = CXU_SUCCESS;
    static const int attributes[] = {1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17};
    for (size_t i = 0; i < 16 && result == CXU_SUCCESS; i++)
        result = cuPointerGetAttribute(room, (cxu_pointer_attribute)attributes[i], m);
    is("CPY-014", result);
    unsigned int on = 1;
    result = cuPointerSetAttribute(&on, CXU_POINTER_SYNC_MEMOPS, m);
    on = 0;
    (void)cuPointerGetAttribute(&on, CXU_POINTER_SYNC_MEMOPS, m);
    see("CPY-015", "%s %u", name(result), on & 0xff);
}

static void advised(void)
{
    CUdeviceptr m = 0;
    int value[4] = {77, 77, 77, 77};
    MUST(cuInit(0));
    context_on(0);
    CUdeviceptr d = memory(4096);
    CUstream s = stream_with(0);
    MUST(cuMemAllocManaged(&m, 65536, CXU_MEM_ATTACH_GLOBAL));
    cxu_result result = ASK("cuMemRangeGetAttribute", P(value), 4, 2, m, 65536);
    see("RNG-005", "%s %d", name(result), value[0]);
    result = ASK("cuMemRangeGetAttribute", P(value), 8, 3, m, 65536);
    see("RNG-007", "%s %d %d", name(result), value[0], value[1]);
    is("RNG-008", ASK("cuMemRangeGetAttribute", P(value), 1, 1, m, 65536));
    is("RNG-009", ASK("cuMemRangeGetAttribute", P(value), 4, 1, d, 4096));
    is("RNG-011", ASK("cuMemRangeGetAttribute", 0, 4, 1, m, 65536));
    void *into[1] = {value};
    size_t sizes[1] = {4};
    int which[1] = {1};
    is("RNG-013", ASK("cuMemRangeGetAttributes", P(into), P(sizes), P(which), 0, m, 65536));
    is("RNG-014", ASK("cuMemRangeGetAttributes", 0, 0, 0, 1, m, 65536));
    is("MAN-018", ASK("cuMemPrefetchAsync", m, 4096, 0, P(s)));
    is("MAN-019", ASK("cuMemPrefetchAsync", m, 65536 * 2, 0, P(s)));
    is("MAN-021", ASK("cuMemAdvise", m, 65536, 1, 0));
    is("CPY-016", ASK("cuMemAdvise", m, 65536, 1, 0));
    result = ASK("cuMemRangeGetAttribute", P(value), 4, 1, m, 65536);
    see("CPY-017", "%s %d", name(result), value[0]);
    is("MAN-023", ASK("cuMemPrefetchAsync", m, 4096, 64, P(s)));
    is("MAN-024", ASK("cuMemPrefetchAsync", m, 4096, (uintptr_t)-1, P(s)));
    size_t whole[1] = {65536};
    CUdeviceptr ranges[1] = {m};
    cxu_mem_location place[1] = {{CXU_MEM_LOCATION_TYPE_DEVICE, 0}};
    size_t index[1] = {0};
    cxu_result batch[3];
    batch[0] = ASK("cuMemPrefetchBatchAsync", P(ranges), P(whole), 1, P(place), P(index), 1, 0, 0);
    batch[1] = ASK("cuMemDiscardBatchAsync", P(ranges), P(whole), 1, 0, 0);
    batch[2] = ASK("cuMemDiscardAndPrefetchBatchAsync", P(ranges), P(whole), 1, P(place), P(index),
                   1, 0, 0);
    is("RNG-001", batch[0]);
    is("RNG-002", batch[1]);
    is("RNG-003", batch[2]);
    see("RTS-065", "%s %s %s", name(batch[0]), name(batch[1]), name(batch[2]));
}

/* CUmemcpyAttributes */
typedef struct copy_attributes {
    int order;
    cxu_mem_location source, destination;
    unsigned int flags;
} copy_attributes;

/* One end of CUDA_MEMCPY3D_BATCH_OP */
typedef struct operand {
    int type; /* 1: pointer */
    union {
        struct {
            CUdeviceptr at;
            size_t row_length, layer_height;
            cxu_mem_location hint;
        } pointer;
        struct {
            void *array;
            size_t x, y, z;
        } array;
    } of;
} operand;

typedef struct batch_copy {
    operand source, destination;
    size_t width, height, depth;
    int order;
    unsigned int flags;
} batch_copy;

static CUdeviceptr from[2], to[2];
static size_t sizes[2], first[1];
static copy_attributes how[1];

static void fresh(CUdeviceptr d, const unsigned char *host)
{
    to[0] = d;
    to[1] = d + 1024;
    from[0] = P(host);
    from[1] = P(host + 15);
    sizes[0] = sizes[1] = 16;
    first[0] = 0;
    memset(how, 0, sizeof(how));
    how[0].order = 1;
}

static void batch_v1(const char *id, size_t count, CUstream s)
{
    size_t fail = 77;
    cxu_result result = ASK("cuMemcpyBatchAsync", P(to), P(from), P(sizes), count, P(how), P(first),
                            1, P(&fail), P(s));
    see(id, "%s fail=%d", name(result), (int)fail);
}

static cxu_result batch_v2(size_t count, CUstream s)
{
    return ASK("cuMemcpyBatchAsync_v2", P(to), P(from), P(sizes), count, P(how), P(first), 1, P(s));
}

static void batches(void)
{
    unsigned char host[64], back[64] = {0};
    MUST(cuInit(0));
    context_on(0);
    CUdeviceptr d = memory(4096);
    CUstream s = stream_with(0);
    for (int i = 0; i < 64; i++)
        host[i] = (unsigned char)(i + 1);
    fresh(d, host);
    is("BAT-006", batch_v2(0, s));
    is("BAT-007", ASK("cuMemcpyBatchAsync_v2", 0, 0, 0, 2, 0, 0, 1, P(s)));
    how[0].order = 0;
    is("BAT-008", batch_v2(2, s));
    batch_v1("BAT-024", 2, s);
    cxu_result order_0 = batch_v2(2, s);
    how[0].order = 9;
    cxu_result order_9 = batch_v2(2, s);
    fresh(d, host);
    how[0].flags = 0x80;
    cxu_result flags = batch_v2(2, s);
    fresh(d, host);
    sizes[1] = 0;
    cxu_result zero = batch_v2(2, s), legacy;
    see("RTS-063", "%s %s %s %s", name(order_0), name(order_9), name(flags), name(zero));
    fresh(d, host);
    legacy = batch_v2(2, NULL);
    see("MOR-032", "%s %s", name(legacy), name(zero));
    is("RTS-061", batch_v2(2, s));
    is("BAT-022",
       ASK("cuMemcpyBatchAsync", P(to), P(from), P(sizes), 2, P(how), P(first), 1, 0, P(s)));
    size_t fail = 77;
    cxu_result result =
        ASK("cuMemcpyBatchAsync", P(to), P(from), P(sizes), 2, P(how), P(first), 1, P(&fail), P(s));
    MUST(cuStreamSynchronize(s));
    MUST(cuMemcpyDtoH_v2(back, d, 64));
    int one = back[0];
    MUST(cuMemcpyDtoH_v2(back, d + 1024, 64));
    see("BAT-029", "%s fail=%d back=%d,%d", name(result), (int)fail, one, back[0]);
    is("RTS-064", result);
    batch_v1("BAT-020", 0, s);
    sizes[0] = 0;
    batch_v1("BAT-025", 2, s);
    fresh(d, host);
    sizes[1] = 0;
    batch_v1("BAT-026", 2, s);
    fresh(d, host);
    how[0].flags = 2;
    batch_v1("BAT-027", 2, s);
}

static batch_copy copy_3d(CUdeviceptr d, const unsigned char *host)
{
    batch_copy it = {.width = 16, .height = 1, .depth = 1, .order = 1};
    it.source.type = it.destination.type = 1;
    it.source.of.pointer.at = P(host);
    it.destination.of.pointer.at = d;
    return it;
}

static void batches_3d(void)
{
    unsigned char host[64], back[64] = {0};
    MUST(cuInit(0));
    context_on(0);
    CUdeviceptr d = memory(4096);
    CUstream s = stream_with(0);
    for (int i = 0; i < 64; i++)
        host[i] = (unsigned char)(i + 1);
    batch_copy good[2] = {copy_3d(d, host), copy_3d(d + 64, host)};
    batch_copy it[2] = {good[0], good[1]};
    size_t fail = 77;
    is("BAT-010", ASK("cuMemcpy3DBatchAsync_v2", 1, 0, 0, P(s)));
    is("BAT-011", ASK("cuMemcpy3DBatchAsync_v2", 1, P(it), 1, P(s)));
    it[0].width = 0;
    is("BAT-012", ASK("cuMemcpy3DBatchAsync_v2", 1, P(it), 0, P(s)));
    cxu_result result = ASK("cuMemcpy3DBatchAsync", 1, P(good), P(&fail), 0, P(s));
    MUST(cuStreamSynchronize(s));
    MUST(cuMemcpyDtoH_v2(back, d, 64));
    see("BAT-039", "%s fail=%d back=%d,%d", name(result), (int)fail, back[0], back[15]);
    static const char *const ids[] = {"BAT-030", "BAT-031", "BAT-032", "BAT-033",
                                      "BAT-034", "BAT-036", "BAT-038"};
    for (int i = 0; i < 7; i++) {
        it[0] = good[0];
        it[1] = good[1];
        it[0].width = i == 3 ? 0 : 16;
        it[1].width = i == 6 ? 0 : 16;
        it[0].source.type = i == 5 ? 9 : 1;
        fail = 77;
        result = ASK("cuMemcpy3DBatchAsync",
                     i == 0   ? 0
                     : i == 6 ? 2
                              : 1,
                     i == 1 ? 0 : P(it), P(&fail), i == 2, i == 4 ? 0 : P(s));
        see(ids[i], "%s fail=%d", name(result), (int)fail);
    }
    copy_attributes attributes = {.order = 1};
    cxu_result bad[6];
    is("NEW-011", ASK("cuMemcpyWithAttributesAsync", d, P(host), 16, P(&attributes), P(s)));
    bad[0] = ASK("cuMemcpyWithAttributesAsync", d, P(host), 16, 0, P(s));
    bad[1] = ASK("cuMemcpyWithAttributesAsync", d, P(host), 0, P(&attributes), P(s));
    bad[2] = ASK("cuMemcpyWithAttributesAsync", d, P(host), 16, P(&attributes), 0);
    see("NEW-012", "%s %s %s", name(bad[0]), name(bad[1]), name(bad[2]));
    bad[0] = ASK("cuMemcpy3DWithAttributesAsync", 0, 0, P(s));
    bad[1] = ASK("cuMemcpy3DWithAttributesAsync", P(good), 1, P(s));
    see("NEW-013", "%s %s", name(bad[0]), name(bad[1]));
}

static void others(void)
{
    static uint64_t zero[64];
    size_t error = 77;
    int fd = -1;
    MUST(cuInit(0));
    context_on(0);
    CUdeviceptr d = memory(2 * MIB);
    CUstream s = stream_with(0);
    is("BAT-005", ASK("cuMemcpy3DPeer", P(zero)));
    is("MEM-001", ASK("cuMemGetHandleForAddressRange", P(&fd), d, 2 * MIB, 1, 0));
    is("MEM-003", ASK("cuMemGetHandleForAddressRange", P(&fd), d, 2 * MIB, 5, 0));
    cxu_result result = ASK("cuMemBatchDecompressAsync", P(zero), 1, 0, P(&error), P(s));
    see("MEM-004", "%s %zu", name(result), error);
    is("MEM-005", ASK("cuMemBatchDecompressAsync", P(zero), 0, 0, P(&error), P(s)));
    is("MEM-006", ASK("cuMemMapArrayAsync", P(zero), 1, P(s)));
    is("MEM-007", ASK("cuMemMapArrayAsync", P(zero), 0, P(s)));
    is("MEM-008", ASK("cuMemMapArrayAsync", 0, 1, P(s)));
    is("EXT-001", ASK("cuImportExternalMemory", P(zero), 0));
    is("EXT-002", ASK("cuImportExternalMemory", 0, P(zero)));
    static uint64_t description[32];
    description[0] = 99;
    description[2] = 4096;
    is("EXT-003", ASK("cuImportExternalMemory", P(zero), P(description)));
}

const family memory_families[] = {{"fills", NULL, fills},       {"copies", NULL, copies},
                                  {"attached", NULL, attached}, {"advised", NULL, advised},
                                  {"batches", NULL, batches},   {"batches_3d", NULL, batches_3d},
                                  {"others", NULL, others},     {NULL, NULL, NULL}};
