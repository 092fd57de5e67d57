#include "observed.h"

static unsigned char pages[16 * 4096] __attribute__((aligned(4096)));

static void flags_of(const char *id, void *at)
{
    unsigned int flags = 0x7777;
    cxu_result result = cuMemHostGetFlags(&flags, at);
    if (result == CXU_SUCCESS)
        see(id, "SUCCESS %u", flags);
    else
        is(id, result);
}

static void registered(void)
{
    CUdeviceptr at = 0, base = 0;
    unsigned int flags = 0;
    MUST(cuInit(0));
    context_on(0);
    is("HST-002", cuMemHostGetDevicePointer_v2(&at, pages, 0));
    is("HST-004", cuMemHostRegister_v2(pages, 0, 0));
    is("HST-005", cuMemHostRegister_v2(pages, 4096, 0x10));
    cxu_result read_only = cuMemHostRegister_v2(pages, 4096, CXU_MEMHOSTREGISTER_READ_ONLY);
    int supported = attribute_of(0, CXU_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED);
    yes("HST-006", read_only == (supported ? CXU_SUCCESS : CXU_NOT_SUPPORTED));
    if (read_only == CXU_SUCCESS)
        MUST(cuMemHostUnregister(pages));
    is("HST-007", cuMemHostRegister_v2(pages, 8 * 4096, 0));
    is("HST-009", cuMemHostRegister_v2(pages + 4096, 4096, 0));
    is("HST-010", cuMemHostRegister_v2(pages + 7 * 4096, 2 * 4096, 0));
    flags_of("HST-011", pages);
    flags_of("HST-012", pages + 5000);
    is("HST-013", cuMemHostGetFlags(NULL, pages));
    MUST(cuMemHostGetDevicePointer_v2(&base, pages, 0));
    cxu_result result = cuMemHostGetDevicePointer_v2(&at, pages + 100, 0);
    see("HST-014", "%s offset=%d", name(result), (int)(at - base));
    is("HST-016", cuMemHostGetDevicePointer_v2(NULL, pages, 0));
    is("HST-023", cuMemsetD8_v2((CUdeviceptr)(uintptr_t)pages, 0, 0));
    is("HST-024", cuMemHostUnregister(pages + 4096));
    is("HST-025", cuMemHostUnregister(pages));
    is("HST-026", cuMemHostUnregister(pages));
    is("HST-027", cuMemHostUnregister(NULL));
    MUST(cuMemHostRegister_v2(pages, 4096, CXU_MEMHOSTREGISTER_PORTABLE));
    flags_of("HST-028", pages);
    MUST(cuMemHostUnregister(pages));
    MUST(cuMemHostRegister_v2(pages + 100, 200, 0));
    is("HST-030", cuMemHostGetFlags(&flags, pages + 100));
    is("HST-031", cuMemHostGetFlags(&flags, pages + 99));
    is("HST-032", cuMemHostGetFlags(&flags, pages + 300));
    is("HST-033", cuMemHostUnregister(pages + 100));
}

static void pinned(void)
{
    void *host = NULL, *flagged = NULL;
    CUdeviceptr at = 0, managed = 0;
    MUST(cuInit(0));
    context_on(0);
    MUST(cuMemHostAlloc(&host, 4096, 0));
    cxu_result result = cuMemHostGetDevicePointer_v2(&at, (char *)host + 8, 0);
    see("HST-035", "%s same=%d", name(result), at == P((char *)host + 8));
    is("HST-037", cuMemsetD32_v2(P(host), 1, 4));
    is("HST-038", cuMemHostRegister_v2(host, 4096, 0));
    is("HST-039", cuMemHostUnregister(host));
    is("LUP-031", cuMemHostUnregister(host));
    flags_of("LUP-030", host);
    is("HIP-185", cuMemHostGetFlags(NULL, host));
    MUST(cuMemHostAlloc(&flagged, 4096, 7));
    flags_of("HST-040", flagged);
    MUST(cuMemFreeHost(flagged));
    is("HIP-186", cuMemFreeHost(flagged));
    MUST(cuMemHostAlloc(&flagged, 4096, CXU_MEMHOSTALLOC_PORTABLE));
    flags_of("HIP-181", flagged);
    MUST(cuMemFreeHost(flagged));
    MUST(cuMemHostAlloc(&flagged, 4096, 5));
    flags_of("HIP-183", flagged);
    MUST(cuMemAllocManaged(&managed, 4096, CXU_MEM_ATTACH_GLOBAL));
    is("HST-042", cuMemHostRegister_v2((void *)(uintptr_t)managed, 4096, 0));
    flags_of("HIP-184", (void *)(uintptr_t)memory(64));
    is("LUP-032", cuMemHostAlloc(&host, 0, 0));
    is("LUP-033", cuMemFreeHost(host));
}

static void ranges_of_a_page(void)
{
    CUdeviceptr at;
    cxu_result result = CXU_SUCCESS;
    MUST(cuInit(0));
    context_on(0);
    for (int i = 0; i < 4 && result == CXU_SUCCESS; i++)
        result = cuMemHostRegister_v2(pages + (ptrdiff_t)64 * i, 64, 0);
    is("LUP-020", result);
    is("LUP-022", cuMemHostRegister_v2(pages + 250, 64, 0));
    is("LUP-024", cuMemHostUnregister(pages + 128));
    is("LUP-025", cuMemHostRegister_v2(pages + 128, 64, 0));
    unsigned char *odd = pages + 4 * 4096 + 37;
    is("LUP-026", cuMemHostRegister_v2(odd, 4 * 4096 + 5, 3));
    is("LUP-027", cuMemHostRegister_v2(pages + 6 * 4096, 4096, 0));
    is("LUP-029", cuMemHostGetDevicePointer_v2(&at, odd, 0));
}

const family host_families[] = {{"registered", NULL, registered},
                                {"pinned", NULL, pinned},
                                {"ranges_of_a_page", NULL, ranges_of_a_page},
                                {NULL, NULL, NULL}};
