#include "observed.h"

#define HEAD ".version 7.0\n.target sm_75\n.address_size 64\n"
#define KERNEL(name, before, body)                                                   \
    ".visible .entry " name "(.param .u64 at) " before "{\n.reg .b64 %rd<3>;\n" body \
    "ld.param.u64 %rd1, [at];\nret;\n}\n"

static const char kernels[] =
    HEAD KERNEL("plain", "", "") KERNEL("s256", "", ".shared .align 4 .b8 room[256];\n")
        KERNEL("s40000", "", ".shared .align 4 .b8 room[40000];\n")
            KERNEL("mt128", ".maxntid 128, 1, 1\n", "");
/* fill(at, value, count) */
static const char filler[] =
    HEAD ".visible .entry fill(.param .u64 at, .param .f32 value, .param .u32 count) {\n"
         ".reg .pred %p;\n.reg .b32 %r<6>;\n.reg .f32 %f;\n.reg .b64 %rd<4>;\n"
         "ld.param.u64 %rd1, [at];\nld.param.f32 %f, [value];\nld.param.u32 %r5, [count];\n"
         "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"
         "mad.lo.u32 %r4, %r1, %r2, %r3;\nsetp.ge.u32 %p, %r4, %r5;\n@%p bra END;\n"
         "cvta.to.global.u64 %rd1, %rd1;\nmul.wide.u32 %rd2, %r4, 4;\nadd.u64 %rd3, %rd1, %rd2;\n"
         "st.global.f32 [%rd3], %f;\nEND:\nret;\n}\n";

static CUdeviceptr room;

static int launch(void *function, unsigned int x, unsigned int y, unsigned int shared)
{
    void *arguments[] = {&room};
    return (int)cuLaunchKernel(function, 1, 1, 1, x, y, 1, shared, NULL, arguments, NULL);
}

static void set_dynamic(CUfunction function, int bytes)
{
    MUST(cuFuncSetAttribute(function, CXU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes));
}

static void sizes_of_launches(void)
{
    MUST(cuInit(0));
    context_on(0);
    room = memory(4096);
    CUmodule module = module_of(kernels);
    CUfunction plain = function_of(module, "plain"), mt128 = function_of(module, "mt128");
    CUfunction s40000 = function_of(module, "s40000");
    see("LAU-011", "%d %d", launch(s40000, 1, 1, 9152), launch(s40000, 1, 1, 9153));
    see("LAU-016", "%d %d %d %d", launch(mt128, 128, 1, 0), launch(mt128, 129, 1, 0),
        launch(mt128, 64, 2, 0), launch(mt128, 64, 3, 0));
    is("HIP-236", (cxu_result)launch(plain, 1, 1, 49153));
    set_dynamic(plain, 60000);
    see("LAU-013", "%d %d %d", launch(plain, 1, 1, 49153), launch(plain, 1, 1, 60000),
        launch(plain, 1, 1, 60001));
    set_dynamic(plain, 100);
    see("LAU-014", "%d %d %d", launch(plain, 1, 1, 100), launch(plain, 1, 1, 101),
        launch(plain, 1, 1, 49152));
    is("LUP-041", (cxu_result)launch(plain, 4096, 1, 0));
    is("LUP-043", cuCtxSynchronize());
    is("HIP-230", (cxu_result)launch(NULL, 1, 1, 0));
    is("HIP-235", (cxu_result)launch(plain, 1024, 2, 0));
    void *arguments[] = {&room}, *holed[] = {NULL};
    size_t size = sizeof(room);
    void *extra[] = {(void *)CXU_LAUNCH_PARAM_BUFFER_POINTER, &room,
                     (void *)CXU_LAUNCH_PARAM_BUFFER_SIZE, &size, (void *)CXU_LAUNCH_PARAM_END};
    is("LUP-044", cuLaunchKernel(plain, 1, 1, 1, 1, 1, 1, 0, NULL, holed, NULL));
    is("HIP-232", cuLaunchKernel(plain, 1, 1, 1, 1, 1, 0, 0, NULL, arguments, NULL));
    is("HIP-234", cuLaunchKernel(plain, 1, 1, 1, 1, 1, 65, 0, NULL, arguments, NULL));
    is("HIP-237", cuLaunchKernel(plain, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, extra));
}

static cxu_result launch_with(CUfunction function, int id, int value)
{
    void *arguments[] = {&room};
    cxu_launch_attribute attribute;
    memset(&attribute, 0, sizeof(attribute));
    attribute.id = (cxu_launch_attribute_id)id;
    attribute.value.number = value;
    cxu_launch_config config = {1, 1, 1, 1, 1, 1, 0, NULL, &attribute, 1};
    return cuLaunchKernelEx(&config, function, arguments, NULL);
}

static void attributes_of_launches(void)
{
    MUST(cuInit(0));
    context_on(0);
    room = memory(4096);
    CUfunction plain = function_of(module_of(kernels), "plain");
    cxu_result result = CXU_INVALID_VALUE;
    for (int policy = 1; policy <= 4 && result == CXU_INVALID_VALUE; policy++)
        result = launch_with(plain, 3, policy);
    is("CPY-001", result);
    is("CPY-002", launch_with(plain, CXU_LAUNCH_ATTRIBUTE_COOPERATIVE, 1));
    result = launch_with(plain, 15, 1);
    see("LUP-076", result != CXU_SUCCESS ? "refused" : "SUCCESS");
    static uint64_t zero[16];
    is("LAU-001", ASK("cuLaunchCooperativeKernelMultiDevice", P(zero), 1, 0));
    is("LAU-002", ASK("cuLaunchCooperativeKernelMultiDevice", P(zero), 0, 0));
    is("LAU-003", ASK("cuLaunchCooperativeKernelMultiDevice", 0, 1, 0));
    CUlibrary library = NULL;
    CUkernel kernel = NULL;
    CUcontext primary;
    MUST(cuDevicePrimaryCtxRetain(&primary, 0));
    MUST(cuCtxSetCurrent(primary));
    room = memory(4096);
    MUST(cuLibraryLoadData(&library, kernels, NULL, NULL, 0, NULL, NULL, 0));
    MUST(cuLibraryGetKernel(&kernel, library, "plain"));
    (void)ASK("cuKernelSetAttribute", 8, 60000, P(kernel), 0);
    see("LAU-015", "%d %d", launch(kernel, 1, 1, 60000), launch(kernel, 1, 1, 60001));
}

static cxu_result old_arguments(CUfunction f, CUdeviceptr at, float value, unsigned int count)
{
    (void)ASK("cuParamSetv", P(f), 0, P(&at), 8);
    (void)ASK("cuParamSetv", P(f), 8, P(&value), 4);
    (void)ASK("cuParamSetv", P(f), 12, P(&count), 4);
    return ASK("cuParamSetSize", P(f), 16);
}

static void old_launches(void)
{
    float back[200];
    MUST(cuInit(0));
    context_on(0);
    CUdeviceptr d = memory(4096);
    CUfunction f = function_of(module_of(filler), "fill");
    MUST(cuMemsetD8_v2(d, 0, 4096));
    is("OLD-001", ASK("cuFuncSetBlockShape", P(f), 64, 1, 1));
    (void)old_arguments(f, d, 1.5F, 200);
    is("OLD-003", ASK("cuLaunchGrid", P(f), 3, 1));
    MUST(cuMemcpyDtoH_v2(back, d, sizeof(back)));
    see("OLD-004", "%g %g %g", (double)back[0], (double)back[191], (double)back[192]);
    is("OLD-005", ASK("cuLaunch", P(f)));
    is("OLD-006", ASK("cuLaunchGrid", P(f), 0, 1));
    is("OLD-007", ASK("cuLaunchGrid", P(f), 1, 0));
    is("OLD-008", ASK("cuLaunchGrid", P(f), 65536, 65536));
    (void)ASK("cuParamSetSize", P(f), 12);
    is("OLD-010", ASK("cuLaunchGrid", P(f), 1, 1));
    is("OLD-011", ASK("cuParamSetSize", P(f), 32764));
    is("OLD-012", ASK("cuParamSetSize", P(f), 32765));
    is("OLD-013", ASK("cuFuncSetBlockShape", P(f), 1024, 1, 1));
    is("OLD-015", ASK("cuFuncSetBlockShape", P(f), 0, 1, 1));
    is("OLD-017", ASK("cuFuncSetSharedSize", P(f), 49153));
    is("OLD-018", ASK("cuFuncSetBlockShape", 0, 1, 1, 1));
    is("OLD-019", ASK("cuParamSetSize", 0, 16));
    is("OLD-020", ASK("cuLaunchGrid", 0, 1, 1));
    MUST(cuMemsetD8_v2(d, 0, 4096));
    float value = 2.5F;
    unsigned int count = 200;
    void *arguments[] = {&d, &value, &count};
    MUST(cuLaunchKernel(f, 1, 1, 1, 2, 1, 1, 0, NULL, arguments, NULL));
    MUST(cuMemcpyDtoH_v2(back, d, sizeof(back)));
    see("OLD-022", back[1] == 2.5F && back[2] == 0 ? "own shape" : "another");
}

static int asked_sizes[64], asked_count;

static size_t note_size(int threads)
{
    if (asked_count < 64)
        asked_sizes[asked_count++] = threads;
    return 0;
}

static cxu_result potential(int *grid, int *block, CUfunction f, size_t shared, int limit)
{
    *grid = *block = -7;
    return ASK("cuOccupancyMaxPotentialBlockSize", P(grid), P(block), P(f), 0, shared,
               (uintptr_t)limit);
}

static void block_sizes(void)
{
    int grid, block, plain_grid, plain_block, blocks = -7;
    MUST(cuInit(0));
    context_on(0);
    CUmodule module = module_of(kernels);
    CUfunction plain = function_of(module, "plain"), s40000 = function_of(module, "s40000");
    cxu_result result = potential(&grid, &block, s40000, 20000, 0);
    see("OCC-001", "%s %d %d", name(result), grid, block);
    result = potential(&grid, &block, plain, 0, 100);
    see("OCC-002", "%s ok=%d", name(result), block % 32 == 0 && block > 0 && block <= 100);
    is("OCC-003", ASK("cuOccupancyMaxPotentialBlockSize", 0, P(&block), P(plain), 0, 0, 0));
    is("OCC-005", ASK("cuOccupancyMaxPotentialBlockSize", P(&grid), P(&block), 0, 0, 0, 0));
    is("OCC-007",
       ASK("cuOccupancyMaxPotentialBlockSizeWithFlags", P(&grid), P(&block), P(plain), 0, 0, 0, 1));
    is("OCC-008",
       ASK("cuOccupancyMaxPotentialBlockSizeWithFlags", P(&grid), P(&block), P(plain), 0, 0, 0, 2));
    result = cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 2048, 0);
    see("OCC-009", "%s %d", name(result), blocks);
    is("OCC-011", cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 0, 0));
    result = potential(&plain_grid, &plain_block, plain, 0, 0);
    cxu_result again = potential(&grid, &block, plain, 0, 5000);
    yes("OCC-013",
        result == CXU_SUCCESS && again == result && plain_grid == grid && plain_block == block);
    result =
        ASK("cuOccupancyMaxPotentialBlockSize", P(&grid), P(&block), P(plain), P(note_size), 0, 0);
    int falling = asked_count > 0 && asked_sizes[0] == 1024;
    for (int i = 1; i < asked_count; i++)
        falling = falling && asked_sizes[i] == asked_sizes[i - 1] - 32;
    yes("OCC-014", result == CXU_SUCCESS && falling);
}

/* How much a block may have: "RESULT BYTES", or that nothing was written. */
static void available(const char *id, CUfunction f, int blocks, int threads)
{
    size_t bytes = 777777;
    cxu_result result = ASK("cuOccupancyAvailableDynamicSMemPerBlock", P(&bytes), P(f),
                            (uintptr_t)blocks, (uintptr_t)threads);
    if (result == CXU_SUCCESS)
        see(id, "SUCCESS %zu", bytes);
    else if (strncmp(id, "RTS", 3) == 0)
        see(id, bytes == 777777 ? "%s, nothing written" : "%s", name(result));
    else
        is(id, result);
}

static void available_memory(void)
{
    static const struct {
        const char *id;
        int blocks, threads;
    } rows[] = {{"RTS-009", 2, 128},  {"RTS-010", 4, 256}, {"RTS-011", 8, 128},
                {"RTS-012", 12, 128}, {"RTS-013", 6, 256}, {"RTS-014", 1, 1024},
                {"RTS-016", 16, 64},  {"RTS-018", 0, 128}, {"RTS-019", 1, 0},
                {"RTS-021", 32, 32},  {"RTS-023", 1, -5},  {"RTS-024", 2, 1024},
                {"RTS-025", 3, 1024}};
    static const int pairs[][2] = {{1, 128}, {2, 128},  {4, 256}, {8, 128}, {12, 128},
                                   {6, 256}, {1, 1024}, {3, 512}, {16, 64}};
    char line[200] = "";
    size_t bytes, length = 0;
    MUST(cuInit(0));
    context_on(0);
    CUmodule module = module_of(kernels);
    CUfunction plain = function_of(module, "plain"), s256 = function_of(module, "s256");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        available(rows[i].id, s256, rows[i].blocks, rows[i].threads);
    available("OCC-020", plain, 4, 128);
    available("OCC-021", plain, 100, 128);
    available("OCC-022", plain, 0, 128);
    is("OCC-023", ASK("cuOccupancyAvailableDynamicSMemPerBlock", 0, P(plain), 1, 128));
    is("RTS-026", ASK("cuOccupancyAvailableDynamicSMemPerBlock", 0, P(plain), 1, 128));
    is("OCC-024", ASK("cuOccupancyAvailableDynamicSMemPerBlock", P(&bytes), 0, 1, 128));
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        bytes = 0;
        (void)ASK("cuOccupancyAvailableDynamicSMemPerBlock", P(&bytes), P(s256),
                  (uintptr_t)pairs[i][0], (uintptr_t)pairs[i][1]);
        length += (size_t)snprintf(line + length, sizeof(line) - length, i ? " %zu" : "%zu", bytes);
    }
    see("OCC-030", "%s", line);
    static const size_t shared[] = {0, 49152, 49153, 65536, 101376};
    int active[5];
    for (int i = 0; i < 5; i++)
        (void)cuOccupancyMaxActiveBlocksPerMultiprocessor(&active[i], plain, 128, shared[i]);
    see("OCC-032", "%d %d %d %d %d", active[0], active[1], active[2], active[3], active[4]);
    see("OCC-034", "%d %d %d", active[2], active[3], active[4]);
}

static cxu_result clusters(const char *call, int *out, CUfunction f, unsigned int x, unsigned int y)
{
    cxu_launch_attribute attribute;
    memset(&attribute, 0, sizeof(attribute));
    attribute.id = (cxu_launch_attribute_id)4;
    unsigned int dimension[3] = {x, y, 1};
    memcpy(&attribute.value, dimension, sizeof(dimension));
    cxu_launch_config config = {64, 4, 1, 32, 1, 1, 0, NULL, &attribute, x != 0};
    *out = -7;
    return ask(call, (const uintptr_t[12]){P(out), P(f), P(&config)});
}

static void cluster_sizes(void)
{
    static const unsigned int sizes[][2] = {{3, 1}, {4, 1},  {5, 1},  {8, 1},
                                            {9, 1}, {12, 1}, {16, 1}, {2, 4}};
    int number;
    MUST(cuInit(0));
    context_on(0);
    CUfunction plain = function_of(module_of(kernels), "plain");
    cxu_result result = clusters("cuOccupancyMaxPotentialClusterSize", &number, plain, 0, 0);
    see("CLU-002", "%s %d", name(result), number);
    result = clusters("cuOccupancyMaxActiveClusters", &number, plain, 2, 1);
    see("CLU-004", "%s %d", name(result), number);
    result = clusters("cuOccupancyMaxPotentialClusterSize", &number, plain, 2, 1);
    see("CLU-005", "%s %d", name(result), number);
    result = clusters("cuOccupancyMaxActiveClusters", &number, plain, 17, 1);
    see("CLU-006", "%s %d", name(result), number);
    int written = 0;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        result = clusters("cuOccupancyMaxActiveClusters", &number, plain, sizes[i][0], sizes[i][1]);
        written |= number != -7;
        if (result != (cxu_result)912)
            break;
    }
    see("CLU-007", "%s, %s", name(result), written ? "written" : "nothing written");
}

#define AS_RECORDED "CTXRT_EMU_GPU=rtx3060"

const family launch_families[] = {{"sizes_of_launches", NULL, sizes_of_launches},
                                  {"attributes_of_launches", NULL, attributes_of_launches},
                                  {"old_launches", NULL, old_launches},
                                  {"block_sizes", NULL, block_sizes},
                                  {"available_memory", AS_RECORDED, available_memory},
                                  {"cluster_sizes", AS_RECORDED, cluster_sizes},
                                  {NULL, NULL, NULL}};
