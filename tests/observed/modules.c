#include "observed.h"

#include <unistd.h>

#define HEAD ".version 7.0\n.target sm_75\n.address_size 64\n"
#define KERNEL(name, before, body)                                                   \
    ".visible .entry " name "(.param .u64 at) " before "{\n.reg .b64 %rd<3>;\n" body \
    "ld.param.u64 %rd1, [at];\nret;\n}\n"

static const char three[] = HEAD ".visible .global .align 8 .b8 table[32];\n" KERNEL("k1", "", "")
    KERNEL("k2", "", "") KERNEL("k3", "", "");

static const char managed[] =
    HEAD ".visible .global .attribute(.managed) .align 4 .u32 m = 9;\n" KERNEL("k1", "", "");
static const char kernels[] =
    HEAD KERNEL("plain", "", "") KERNEL("s256", "", ".shared .align 4 .b8 room[256];\n")
        KERNEL("s40000", "", ".shared .align 4 .b8 room[40000];\n")
            KERNEL("mt128", ".maxntid 128, 1, 1\n", "");
static const char constants[] =
    HEAD ".visible .const .align 4 .b8 c[432];\n" KERNEL("plain", "", "") KERNEL("more", "", "");

static void all_set(const char *id, cxu_result result, void *const *list)
{
    see(id, "%s %d %d %d", name(result), list[0] != NULL, list[1] != NULL, list[2] != NULL);
}

static void listed(void)
{
    unsigned int count = 0;
    CUfunction list[3] = {NULL, NULL, NULL};
    MUST(cuInit(0));
    context_on(0);
    CUmodule module = module_of(three), found = NULL;
    CUfunction k1 = function_of(module, "k1");
    cxu_result result = cuModuleGetFunctionCount(&count, module);
    see("MOD-001", "%s %u", name(result), count);
    is("MOD-002", cuModuleGetFunctionCount(NULL, module));
    is("MOD-003", cuModuleGetFunctionCount(&count, NULL));
    all_set("MOD-004", cuModuleEnumerateFunctions(list, 3, module), (void *const *)list);
    is("MOD-006", cuModuleEnumerateFunctions(list, 0, module));
    is("MOD-008", cuModuleEnumerateFunctions(list, 3, NULL));
    result = cuFuncGetModule(&found, k1);
    see("MOD-046", "%s set=%d", name(result), found == module);
    is("MOD-048", cuFuncGetModule(&found, NULL));
    const char *text = NULL;
    result = cuFuncGetName(&text, k1);
    see("MOD-049", "%s %s", name(result), text != NULL ? text : "-");
    is("MOD-050", cuFuncGetName(NULL, k1));
    size_t offset = 77, size = 77, parameters = 0;
    result = cuFuncGetParamInfo(k1, 0, &offset, &size);
    see("MOD-052", "%s offset=%zu size=%zu", name(result), offset, size);
    is("MOD-054", cuFuncGetParamInfo(NULL, 0, &offset, &size));
    is("NEW-002", ASK("cuFuncGetParamCount", 0, P(&parameters)));
    is("NEW-004", ASK("cuKernelGetParamCount", 0, P(&parameters)));
    is("NEW-005", ASK("cuKernelGetParamCount", P(k1), P(&parameters)));
    CUfunction function = NULL;
    is("HIP-211", cuModuleGetFunction(&function, NULL, "k1"));
    is("HIP-213", cuModuleGetFunction(&function, module, ""));
    is("HIP-214", cuModuleGetFunction(&function, module, "absent"));
    CUdeviceptr at;
    is("HIP-215", cuModuleGetGlobal_v2(&at, &size, NULL, "table"));
    is("HIP-216", cuModuleGetGlobal_v2(&at, &size, module, NULL));
    is("HIP-217", cuModuleGetGlobal_v2(&at, &size, module, ""));
    is("HIP-218", cuModuleGetGlobal_v2(&at, &size, module, "absent"));
}

static void loaded(void)
{
    CUmodule module = NULL;
    MUST(cuInit(0));
    context_on(0);
    is("HIP-220", cuModuleLoad(NULL, "/nonexistent"));
    is("HIP-221", cuModuleLoad(&module, NULL));
    is("HIP-222", cuModuleLoad(&module, ""));
    is("HIP-223", cuModuleLoadData(&module, ""));
    is("HIP-224", cuModuleLoadData(&module, NULL));
    is("LUP-045", cuModuleLoadData(&module, "garbage"));
    is("LUP-046", cuModuleLoadData(&module, ".target sm_75\n.version 7.0\n.address_size 64\n"));
    is("LUP-047", cuModuleLoad(&module, "/nonexistent"));
    char log[64] = "full";
    cxu_jit_option options[] = {CXU_JIT_INFO_LOG_BUFFER, CXU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof(log)};
    cxu_result result = cuModuleLoadDataEx(&module, three, 2, options, values);
    see("MSC-009", "%s empty=%d", name(result), log[0] == '\0');
    CUdeviceptr at = 0;
    size_t size = 0;
    int value = 0;
    result = cuModuleLoadData(&module, managed);
    if (result == CXU_SUCCESS)
        result = cuModuleGetGlobal_v2(&at, &size, module, "m");
    if (result == CXU_SUCCESS)
        result = cuMemcpyDtoH_v2(&value, at, sizeof(value));
    see("MSC-010", "%s bytes=%zu value=%d", name(result), size, value);
}

static void from_a_file(void)
{
    char path[] = "/tmp/observedXXXXXX";
    CUlibrary library = NULL;
    int file = mkstemp(path);
    if (file < 0 || write(file, three, sizeof(three) - 1) != (ssize_t)sizeof(three) - 1)
        return;
    close(file);
    cxu_result result = cuLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0);
    see("MOD-009", "%s set=%d", name(result), library != NULL);
    result = cuLibraryLoadFromFile(&library, "/nonexistent", NULL, NULL, 0, NULL, NULL, 0);
    is("MOD-010", result);
    is("MOD-012", cuLibraryLoadFromFile(NULL, path, NULL, NULL, 0, NULL, NULL, 0));
    see("RTS-052", "%s %s %s", name(result),
        name(cuLibraryLoadFromFile(NULL, path, NULL, NULL, 0, NULL, NULL, 0)),
        name(cuLibraryLoadFromFile(&library, NULL, NULL, NULL, 0, NULL, NULL, 0)));
    unlink(path);
}

static void variables_of(CUlibrary library)
{
    CUdeviceptr at = 0;
    size_t bytes = 0;
    cxu_result result = cuLibraryGetGlobal(&at, &bytes, library, "table");
    see("MOD-025", "%s bytes=%zu set=%d", name(result), bytes, at != 0);
    cxu_result nameless = cuLibraryGetGlobal(&at, &bytes, library, NULL);
    cxu_result none = cuLibraryGetGlobal(&at, &bytes, NULL, "table");
    is("MOD-027", nameless);
    is("MOD-028", none);
    see("RTS-058", "%s / %s", name(nameless), name(none));
    is("MOD-029", cuLibraryGetGlobal(NULL, NULL, library, "table"));
    CUlibrary with = NULL;
    at = 0;
    bytes = 0;
    result = cuLibraryLoadData(&with, managed, NULL, NULL, 0, NULL, NULL, 0);
    if (result == CXU_SUCCESS) {
        is("RTS-056", cuLibraryGetGlobal(&at, &bytes, with, "m"));
        at = 0;
        bytes = 0;
        result = ASK("cuLibraryGetManaged", P(&at), P(&bytes), P(with), P("m"));
    } else {
        is("RTS-056", result);
    }
    see("MOD-031", "%s bytes=%zu set=%d", name(result), bytes, at != 0);
    is("MOD-033", ASK("cuLibraryGetManaged", P(&at), P(&bytes), P(library), P("absent")));
    is("RTS-059", ASK("cuLibraryGetManaged", P(&at), P(&bytes), P(library), P("table")));
    void *function = NULL;
    is("MOD-034", ASK("cuLibraryGetUnifiedFunction", P(&function), P(library), P("k1")));
    is("MOD-035", ASK("cuLibraryGetUnifiedFunction", P(&function), 0, P("k1")));
}

static void libraries(void)
{
    CUlibrary library = NULL, found = NULL;
    CUkernel kernel = NULL, list[3] = {NULL, NULL, NULL};
    unsigned int count = 0;
    CUcontext primary;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&primary, 0));
    MUST(cuCtxSetCurrent(primary));
    from_a_file();
    MUST(cuLibraryLoadData(&library, three, NULL, NULL, 0, NULL, NULL, 0));
    MUST(cuLibraryGetKernel(&kernel, library, "k1"));
    cxu_result result = ASK("cuLibraryGetKernelCount", P(&count), P(library));
    see("MOD-014", "%s %u", name(result), count);
    cxu_result no_out = ASK("cuLibraryGetKernelCount", 0, P(library));
    cxu_result none = ASK("cuLibraryGetKernelCount", P(&count), 0);
    is("MOD-015", no_out);
    is("MOD-016", none);
    see("RTS-053", "%s %u / %s / %s", name(result), count, name(no_out), name(none));
    result = ASK("cuLibraryEnumerateKernels", P(list), 3, P(library));
    all_set("MOD-017", result, (void *const *)list);
    is("MOD-019", ASK("cuLibraryEnumerateKernels", P(list), 0, P(library)));
    no_out = ASK("cuLibraryEnumerateKernels", 0, 3, P(library));
    none = ASK("cuLibraryEnumerateKernels", P(list), 3, 0);
    is("MOD-020", no_out);
    is("MOD-021", none);
    see("RTS-054", "%s / %s / %s", name(result), name(no_out), name(none));
    result = ASK("cuKernelGetLibrary", P(&found), P(kernel));
    see("MOD-022", "%s set=%d", name(result), found == library);
    is("MOD-023", ASK("cuKernelGetLibrary", 0, P(kernel)));
    variables_of(library);
    is("MOD-036", ASK("cuKernelSetCacheConfig", P(kernel), 1, 0));
    is("MOD-037", ASK("cuKernelSetCacheConfig", P(kernel), 9, 0));
    is("MOD-038", ASK("cuKernelSetCacheConfig", 0, 1, 0));
    is("MOD-040", ASK("cuKernelSetCacheConfig", P(kernel), 1, (uintptr_t)-1));
    size_t offset = 77, size = 77;
    result = ASK("cuKernelGetParamInfo", P(kernel), 0, P(&offset), P(&size));
    see("MOD-041", "%s offset=%zu size=%zu", name(result), offset, size);
    is("MOD-042", ASK("cuKernelGetParamInfo", P(kernel), 1, P(&offset), P(&size)));
    is("MOD-043", ASK("cuKernelGetParamInfo", P(kernel), 0, 0, P(&size)));
    is("MOD-044", ASK("cuKernelGetParamInfo", P(kernel), 0, P(&offset), 0));
    CUfunction one = NULL, same = NULL, another = NULL;
    CUkernel k2 = NULL;
    MUST(cuLibraryGetKernel(&k2, library, "k2"));
    MUST(cuKernelGetFunction(&one, kernel));
    MUST(cuKernelGetFunction(&same, kernel));
    MUST(cuKernelGetFunction(&another, k2));
    see("RTS-027", one == same && one != another ? "SUCCESS" : "no");
}

static int get(CUfunction function, int attribute)
{
    int value = -77;
    cxu_result result = cuFuncGetAttribute(&value, (cxu_func_attribute)attribute, function);
    return result == CXU_SUCCESS ? value : -1000 - (int)result;
}

static void see_attributes(const char *id, CUfunction f)
{
    see(id,
        "maxThreads=%d static=%d maxDynamic=%d carveout=%d mustBeSet=%d cluster=%d,%d,%d "
        "nonPortable=%d policy=%d cacheCA=%d",
        get(f, 0), get(f, 1), get(f, 8), get(f, 9), get(f, 10), get(f, 11), get(f, 12), get(f, 13),
        get(f, 14), get(f, 15), get(f, 7));
}

static void function_attributes(void)
{
    MUST(cuInit(0));
    context_on(0);
    CUmodule module = module_of(kernels);
    CUfunction plain = function_of(module, "plain");
    see_attributes("FUN-001", plain);
    see_attributes("FUN-002", function_of(module, "s256"));
    see_attributes("FUN-003", function_of(module, "s40000"));
    see_attributes("FUN-005", function_of(module, "mt128"));
    see("FUN-007", "%d", get(function_of(module_of(constants), "more"), 2));
    int value = -5;
    cxu_result result = cuFuncGetAttribute(&value, (cxu_func_attribute)-1, plain);
    see("FUN-011", "%s %d", name(result), value);
    is("FUN-013", cuFuncGetAttribute(&value, CXU_FUNC_ATTRIBUTE_NUM_REGS, NULL));
    is("FUN-014", cuFuncGetAttribute(NULL, CXU_FUNC_ATTRIBUTE_NUM_REGS, plain));
    is("FUN-015", cuFuncSetAttribute(NULL, CXU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1));
    is("RTS-004", ASK("cuFuncSetSharedMemConfig", P(plain), 7));
    static const struct {
        const char *id;
        int attribute;
    } rows[] = {{"FUN-020", 0},  {"FUN-021", 1},  {"FUN-022", 2},  {"FUN-023", 3},  {"FUN-024", 4},
                {"FUN-026", 6},  {"FUN-028", 8},  {"FUN-029", 9},  {"FUN-030", 10}, {"FUN-032", 12},
                {"FUN-034", 14}, {"FUN-035", 15}, {"FUN-036", 16}, {"FUN-037", 17}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CUfunction f = function_of(module_of(kernels), rows[i].attribute == 0 ? "mt128" : "plain");
        result = cuFuncSetAttribute(f, (cxu_func_attribute)rows[i].attribute, 1);
        see(rows[i].id, "%s dyn=%d carveout=%d cluster=%d,%d,%d np=%d policy=%d", name(result),
            get(f, 8), get(f, 9), get(f, 11), get(f, 12), get(f, 13), get(f, 14), get(f, 15));
    }
}

static void values_of_attributes(void)
{
    MUST(cuInit(0));
    context_on(0);
    int most = attribute_of(0, CXU_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    const struct {
        const char *id, *kernel;
        int attribute, value;
    } rows[] = {{"FUN-040", "plain", 8, -1},        {"FUN-041", "plain", 8, 0},
                {"FUN-042", "plain", 8, 1},         {"FUN-043", "plain", 8, 1024},
                {"FUN-045", "plain", 8, 49153},     {"FUN-047", "plain", 8, most + 1},
                {"FUN-049", "s256", 8, most - 255}, {"FUN-051", "s40000", 8, most - 39999},
                {"FUN-053", "plain", 9, -2},        {"FUN-054", "plain", 9, -1},
                {"FUN-055", "plain", 9, 0},         {"FUN-056", "plain", 9, 1},
                {"FUN-057", "plain", 9, 100},       {"FUN-058", "plain", 9, 101}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CUfunction f = function_of(module_of(kernels), rows[i].kernel);
        cxu_result result =
            cuFuncSetAttribute(f, (cxu_func_attribute)rows[i].attribute, rows[i].value);
        see(rows[i].id, "%s now=%d", name(result), get(f, rows[i].attribute));
    }
    CUmodule module = module_of(kernels), twin = module_of(kernels);
    CUfunction f = function_of(module, "s256"), plain = function_of(module, "plain");
    cxu_result result = cuFuncSetAttribute(f, (cxu_func_attribute)8, most - 256);
    see("FUN-048", "%s ok=%d", name(result), get(f, 8) == most - 256);
    result = cuFuncSetAttribute(plain, (cxu_func_attribute)15, 2);
    see("FUN-060", "%s %d", name(result), get(plain, 15));
    is("FUN-061", cuFuncSetAttribute(plain, (cxu_func_attribute)15, 3));
    result = cuFuncSetAttribute(plain, (cxu_func_attribute)14, 7);
    see("FUN-062", "%s %d", name(result), get(plain, 14));
    result = cuFuncSetAttribute(plain, (cxu_func_attribute)14, -1);
    see("FUN-063", "%s %d", name(result), get(plain, 14));
    MUST(cuFuncSetAttribute(plain, (cxu_func_attribute)8, 100));
    see("FUN-064", "%d %d", get(function_of(module, "mt128"), 8),
        get(function_of(twin, "plain"), 8));
}

static int of_kernel(CUkernel kernel, CUdevice device)
{
    int value = -77;
    cxu_result result = cuKernelGetAttribute(
        &value, CXU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel, device);
    return result == CXU_SUCCESS ? value : -1000 - (int)result;
}

static void attributes_of_kernels(void)
{
    CUlibrary library = NULL;
    CUkernel plain = NULL, s256 = NULL;
    CUcontext primary;
    int value;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&primary, 1));
    MUST(cuDevicePrimaryCtxRetain(&primary, 0));
    MUST(cuCtxSetCurrent(primary));
    int most = attribute_of(0, CXU_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    MUST(cuLibraryLoadData(&library, kernels, NULL, NULL, 0, NULL, NULL, 0));
    MUST(cuLibraryGetKernel(&plain, library, "plain"));
    MUST(cuLibraryGetKernel(&s256, library, "s256"));
    cxu_result result = cuFuncSetAttribute((CUfunction)(void *)plain, (cxu_func_attribute)8, 100);
    see("FUN-066", "%s now=%d", name(result), of_kernel(plain, 0));
    see("FUN-068", "%d", of_kernel(s256, 0));
    is("FUN-069", cuKernelGetAttribute(&value, (cxu_func_attribute)16, plain, 0));
    is("FUN-070", cuKernelGetAttribute(NULL, (cxu_func_attribute)8, plain, 0));
    is("FUN-072", cuKernelGetAttribute(&value, (cxu_func_attribute)8, plain, 5));
    is("FUN-074", ASK("cuKernelSetAttribute", 8, 1, 0, 0));
    result = ASK("cuKernelSetAttribute", 8, (uintptr_t)(most - 255), P(s256), 0);
    see("FUN-076", "%s now=%d", name(result), of_kernel(s256, 0));
    is("FUN-077", ASK("cuKernelSetAttribute", 1, 1, P(plain), 0));
    result = ASK("cuKernelSetAttribute", 8, 60000, P(s256), 0);
    see("FUN-079", "%s %d %d", name(result), of_kernel(s256, 0), of_kernel(s256, 1));
    result = ASK("cuKernelSetAttribute", 8, 60000, P(plain), 0);
    CUfunction function;
    MUST(cuKernelGetFunction(&function, plain));
    see("FUN-075", "%s %d %d", name(result), of_kernel(plain, 0), get(function, 8));
}

const family module_families[] = {{"listed", NULL, listed},
                                  {"loaded", NULL, loaded},
                                  {"libraries", NULL, libraries},
                                  {"function_attributes", NULL, function_attributes},
                                  {"values_of_attributes", NULL, values_of_attributes},
                                  {"attributes_of_kernels", NULL, attributes_of_kernels},
                                  {NULL, NULL, NULL}};
