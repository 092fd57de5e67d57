#include "observed.h"

#include <unistd.h>

typedef CUmemGenericAllocationHandle handle;

static cxu_mem_properties on(int device)
{
    return (cxu_mem_properties){.type = CXU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {CXU_MEM_LOCATION_TYPE_DEVICE, device}};
}

static void granularity(const char *id, const cxu_mem_properties *properties, int option)
{
    size_t bytes = 0;
    cxu_result result =
        cuMemGetAllocationGranularity(&bytes, properties, (cxu_mem_granularity)option);
    if (result == CXU_SUCCESS && strncmp(id, "HIP", 3) != 0)
        see(id, "SUCCESS %zu", bytes);
    else
        is(id, result);
}

static void granularities(void)
{
    MUST(cuInit(0));
    context_on(0);
    cxu_mem_properties it = on(0);
    granularity("VMM-001", &it, 0);
    granularity("VMM-002", &it, 1);
    granularity("VMM-009", &it, 2);
    granularity("HIP-173", &it, 0xff);
    it.handle_types = CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    granularity("VMM-003", &it, 0);
    it = on(0);
    it.flags.compression = CXU_MEM_ALLOCATION_COMP_GENERIC;
    granularity("VMM-008", &it, 1);
    it = on(7);
    granularity("VMM-007", &it, 0);
    granularity("HIP-170", &it, 0);
    it = on(0);
    it.location.type = CXU_MEM_LOCATION_TYPE_HOST;
    granularity("VMM-005", &it, 0);
    it.location.type = (cxu_mem_location_type)-1;
    granularity("HIP-172", &it, 0);
    it = on(0);
    it.type = (cxu_mem_allocation_type)0x55;
    granularity("HIP-171", &it, 0);
    it = on(0);
    is("VMM-011", cuMemGetAllocationGranularity(NULL, &it, CXU_MEM_ALLOC_GRANULARITY_MINIMUM));
}

static void create(const char *id, size_t bytes)
{
    handle made = 0;
    cxu_mem_properties it = on(0);
    cxu_result result = cuMemCreate(&made, bytes, &it, 0);
    is(id, result);
    if (result == CXU_SUCCESS)
        MUST(cuMemRelease(made));
}

static void created(void)
{
    handle made = 0;
    MUST(cuInit(0));
    context_on(0);
    create("VMM-013", 1);
    create("VMM-014", 4096);
    create("VMM-015", 65536);
    create("VMM-016", G / 2);
    create("VMM-017", G - 1);
    create("VMM-018", G);
    create("VMM-020", 2 * G);
    create("VMM-021", 3 * G / 2);
    create("VMM-022", 3 * G);
    create("VMM-023", 0);
    create("HIP-138", 0);
    create("HIP-139", G - 1);
    cxu_mem_properties it = on(0);
    is("HIP-136", cuMemCreate(NULL, G, &it, 0));
    it = on(2);
    is("HIP-143", cuMemCreate(&made, G, &it, 0));
    it = on(0);
    it.location.type = CXU_MEM_LOCATION_TYPE_INVALID;
    is("HIP-141", cuMemCreate(&made, G, &it, 0));
    is("HIP-166", cuMemRelease(0));
    is("HIP-162", cuMemRetainAllocationHandle(&made, NULL));
    it = on(0);
    MUST(cuMemCreate(&made, G, &it, 0));
    is("HIP-169", cuMemGetAllocationPropertiesFromHandle(NULL, made));
}

static void reserve(const char *id, size_t bytes, size_t alignment, unsigned long long flags)
{
    CUdeviceptr at = 0;
    cxu_result result = cuMemAddressReserve(&at, bytes, alignment, 0, flags);
    if (result != CXU_SUCCESS) {
        is(id, result);
        return;
    }
    see(id, "SUCCESS aligned=%d", at % (alignment < G ? G : alignment) == 0);
    MUST(cuMemAddressFree(at, bytes));
}

static void reserved(void)
{
    CUdeviceptr base = 0;
    MUST(cuInit(0));
    context_on(0);
    reserve("VMM-024", 1, 0, 0);
    reserve("VMM-026", 65536, 0, 0);
    reserve("VMM-028", G + 1, 0, 0);
    reserve("VMM-029", 2 * G, 0, 0);
    reserve("VMM-030", 3 * G / 2, 0, 0);
    reserve("VMM-032", G, 65536, 0);
    reserve("VMM-034", G, 2 * G, 0);
    reserve("VMM-035", G, 3 * G, 0);
    reserve("VMM-036", G, (size_t)1 << 30, 0);
    reserve("VMM-037", G, 5, 0);
    reserve("VMM-039", G, 0, 1);
    is("VMM-040", cuMemAddressReserve(NULL, G, 0, 0, 0));
    is("HIP-133", cuMemAddressReserve(NULL, G, 0, 0, 0));
    is("HIP-134", cuMemAddressFree(0, G));
    MUST(cuMemAddressReserve(&base, 4 * G, 0, 0, 0));
    is("VMM-076", cuMemAddressFree(base, G / 2));
    is("VMM-077", cuMemAddressFree(base, G));
    is("VMM-079", cuMemAddressFree(base + 4096, 4 * G));
    is("VMM-080", cuMemAddressFree(base + G, 3 * G));
    is("VMM-081", cuMemAddressFree(base, 5 * G));
    is("VMM-082", cuMemAddressFree(base, 0));
    is("VMM-083", cuMemAddressFree(base, 4 * G));
}

static void bad_maps(CUdeviceptr base, handle two)
{
    is("VMM-041", cuMemMap(base, G / 2, 0, two, 0));
    is("VMM-042", cuMemMap(base, G + 1, 0, two, 0));
    is("VMM-043", cuMemMap(base, 0, 0, two, 0));
    is("HIP-145", cuMemMap(base, 0, 0, two, 0));
    is("VMM-045", cuMemMap(base + 65536, G, 0, two, 0));
    is("VMM-047", cuMemMap(base, G, 65536, two, 0));
    is("VMM-048", cuMemMap(base, G, 2 * G, two, 0));
    is("VMM-049", cuMemMap(base, 3 * G, 0, two, 0));
    is("VMM-051", cuMemMap(base, G, 0, two, 1));
    is("HIP-144", cuMemMap(0, G, 0, two, 0));
    is("HIP-146", cuMemMap(base, G, (size_t)-1, two, 0));
}

static void access_to_mapped(CUdeviceptr base)
{
    cxu_mem_access open = {{CXU_MEM_LOCATION_TYPE_DEVICE, 0}, CXU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    unsigned long long flags;
    is("HIP-157", cuMemcpyHtoD_v2(base, &open, sizeof(open)));
    is("VMM-056", cuMemSetAccess(base, G / 2, &open, 1));
    is("VMM-057", cuMemSetAccess(base, G + 1, &open, 1));
    is("VMM-058", cuMemSetAccess(base, 0, &open, 1));
    is("VMM-060", cuMemSetAccess(base + 65536, G, &open, 1));
    is("VMM-061", cuMemSetAccess(base, 3 * G, &open, 1));
    is("VMM-062", cuMemSetAccess(base, 2 * G, NULL, 1));
    is("VMM-063", cuMemSetAccess(base, 2 * G, &open, 0));
    is("VMM-064", cuMemSetAccess(base, G, &open, 1));
    is("HIP-147", cuMemSetAccess(base + 2 * G, G, &open, 1));
    is("HIP-148", cuMemSetAccess(0, G, &open, 1));
    is("HIP-150", cuMemSetAccess(base, 2 * G + 1, &open, 1));
    is("HIP-151", cuMemSetAccess(base, 2 * G - 1, &open, 1));
    is("HIP-152", cuMemSetAccess(base, 2 * G, &open, 0));
    is("HIP-153", cuMemSetAccess(base, 2 * G, NULL, 1));
    cxu_mem_access none = open;
    none.location.id = -1;
    is("HIP-155", cuMemSetAccess(base, 2 * G, &none, 1));
    is("HIP-158", cuMemGetAccess(NULL, &open.location, base));
    is("HIP-159", cuMemGetAccess(&flags, NULL, base));
    is("HIP-160", cuMemGetAccess(&flags, &open.location, base + 2 * G));
}

static void mapped(void)
{
    CUdeviceptr base = 0;
    handle two = 0, other = 0;
    MUST(cuInit(0));
    context_on(0);
    cxu_mem_properties it = on(0);
    MUST(cuMemCreate(&two, 2 * G, &it, 0));
    MUST(cuMemAddressReserve(&base, 4 * G, 0, 0, 0));
    bad_maps(base, two);
    is("VMM-053", cuMemMap(base, 2 * G, 0, two, 0));
    is("VMM-054", cuMemMap(base, G, 0, two, 0));
    is("VMM-055", cuMemMap(base + G, G, 0, two, 0));
    access_to_mapped(base);
    is("VMM-066", cuMemUnmap(base, G / 2));
    is("VMM-068", cuMemUnmap(base, 0));
    is("HIP-164", cuMemUnmap(base, 0));
    is("HIP-165", cuMemUnmap(base, 2 * G - 1));
    is("VMM-069", cuMemUnmap(base + 4096, G));
    is("VMM-070", cuMemUnmap(base + 65536, G));
    is("VMM-072", cuMemUnmap(base, G));
    is("VMM-074", cuMemUnmap(base, 2 * G));
    is("VMM-075", cuMemUnmap(base, 2 * G));
    is("VMM-085", cuMemRelease(two));
    MUST(cuMemCreate(&other, G, &it, 0));
    MUST(cuMemMap(base, G, 0, other, 0));
    cxu_result results[3];
    results[0] = cuMemRelease(other);
    results[1] = cuMemUnmap(base, G);
    results[2] = cuMemAddressFree(base, 4 * G);
    is("HIP-167", results[0] != CXU_SUCCESS   ? results[0]
                  : results[1] != CXU_SUCCESS ? results[1]
                                              : results[2]);
}

static void create_as(const char *id, int handle_types)
{
    handle made = 0;
    cxu_mem_properties it = on(0);
    it.handle_types = (cxu_mem_handle_type)handle_types;
    is(id, cuMemCreate(&made, G, &it, 0));
}

static void shared(void)
{
    handle plain = 0, open = 0, imported = 0;
    int fd = -5;
    MUST(cuInit(0));
    context_on(0);
    create_as("SHR-002", 4);
    create_as("SHR-004", 3);
    create_as("SHR-005", 0);
    create_as("SHR-007", 0x10);
    cxu_mem_properties it = on(0);
    MUST(cuMemCreate(&plain, G, &it, 0));
    cxu_result result =
        cuMemExportToShareableHandle(&fd, plain, CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    see("SHR-006", "%s fd=%d", name(result), fd);
    it.handle_types = CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    MUST(cuMemCreate(&open, G, &it, 0));
    is("SHR-009",
       cuMemExportToShareableHandle(NULL, open, CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    is("SHR-010",
       cuMemExportToShareableHandle(&fd, 0, CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    is("SHR-011", cuMemImportFromShareableHandle(&imported, (void *)(intptr_t)-1,
                                                 CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    is("SHR-018", cuMemExportToShareableHandle(&fd, open, CXU_MEM_HANDLE_TYPE_NONE, 0));
    result = cuMemExportToShareableHandle(&fd, open, CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    see("SHR-016", "%s fd>=0=%d", name(result), fd >= 0);
    is("SHR-012", cuMemImportFromShareableHandle(NULL, (void *)(intptr_t)fd,
                                                 CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    char fabric[64] = {0};
    is("SHR-013", cuMemImportFromShareableHandle(&imported, fabric, CXU_MEM_HANDLE_TYPE_FABRIC));
    is("SHR-014",
       cuMemImportFromShareableHandle(&imported, (void *)(intptr_t)fd, (cxu_mem_handle_type)3));
    is("SHR-019", cuMemImportFromShareableHandle(&imported, (void *)(intptr_t)fd,
                                                 CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    is("SHR-021", cuMemRelease(imported));
    close(fd);
    static uint64_t properties[8];
    uint64_t made = 0;
    is("MCA-001", ASK("cuMulticastCreate", P(&made), P(properties)));
    is("MCA-003", ASK("cuMulticastAddDevice", 0, 0));
    is("MCA-004", ASK("cuMulticastBindMem", 0, 0, plain, 0, G, 0));
    is("MCA-005", ASK("cuMulticastUnbind", 0, 0, 0, G));
}

const family virtual_families[] = {{"granularities", NULL, granularities},
                                   {"created", NULL, created},
                                   {"reserved", NULL, reserved},
                                   {"mapped", NULL, mapped},
                                   {"shared", NULL, shared},
                                   {NULL, NULL, NULL}};
