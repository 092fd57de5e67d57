/*
 * The library of each version: what its structs and calls are, and over which drivers it runs.
 * Links neither a runtime nor a driver; each test is a process that opens its own.
 */
#include "client.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

static void *driver, *runtime;

static void *open_library(const char *folder, const char *name)
{
    char path[600];
    snprintf(path, sizeof path, "%s/lib/%s/.libs/%s", getenv("top_builddir"), folder, name);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library != NULL, "%s", dlerror());
    return library;
}

static const struct {
    int major;
    const char *folder, *name;
} versions[] = {{11, "runtime/cudart-11", "libcudart.so.11.0"},
                {12, "runtime/cudart-12", "libcudart.so.12"},
                {13, "runtime/cudart-13", "libcudart.so.13"}};

enum { VERSIONS = sizeof versions / sizeof versions[0] };

/* The runtime of a version over the stand-in of another. */
static void open_over(int version, const char *stand_in)
{
    start_with_gpus();
    driver = open_library(stand_in, "libcuda.so.1");
    runtime = open_library(versions[version].folder, versions[version].name);
}

static void *find(const char *name)
{
    void *symbol = dlsym(runtime, name);
    ck_assert_msg(symbol != NULL, "%s", name);
    return symbol;
}

/* A function by the name and type of the call of that name, or of another body. */
#define CALL_AS(name, body) ((__typeof__(&cxr_##body))find(#name))
#define CALL(name) CALL_AS(name, name)
#define must(call) ck_assert_int_eq(call, CXR_SUCCESS)

START_TEST(a_version_tells_itself_and_its_driver)
{
    int version = 0;
    open_over(_i, "shim/cuda-13");
    must(CALL(cudaRuntimeGetVersion)(&version));
    ck_assert_int_eq(version / 1000, versions[_i].major);
    must(CALL(cudaDriverGetVersion)(&version));
    ck_assert_int_eq(version / 1000, 13);
    must(CALL(cudaFree)(NULL));
}
END_TEST

START_TEST(a_driver_of_an_older_major_version_is_insufficient)
{
    int version = 0, count = 5, ends[2];
    char said[1000] = "";
    open_over(2, "shim/cuda-12");
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    ck_assert_int_eq(CALL(cudaGetDeviceCount)(&count), CXR_INSUFFICIENT_DRIVER);
    ck_assert_int_eq(CALL(cudaFree)(NULL), CXR_INSUFFICIENT_DRIVER);
    ck_assert_int_eq(CALL(cudaGetLastError)(), CXR_INSUFFICIENT_DRIVER);
    must(CALL(cudaDriverGetVersion)(&version));
    ck_assert_int_eq(version / 1000, 12);
    must(CALL(cudaRuntimeGetVersion)(&version));
    ck_assert_int_eq(version / 1000, 13);
    ck_assert_int_gt(read(ends[0], said, sizeof said - 1), 0);
    ck_assert_msg(strstr(said, "cuda-12/.libs/libcuda.so.1 is of CUDA 12.") != NULL, "%s", said);
    ck_assert_msg(strstr(said, "use a driver of CUDA 13") != NULL, "%s", said);
}
END_TEST

START_TEST(older_versions_run_over_the_same_major_version)
{
    void *pointer = NULL;
    open_over(_i, "shim/cuda-12");
    must(CALL(cudaMalloc)(&pointer, 64));
    must(CALL(cudaFree)(pointer));
}
END_TEST

START_TEST(without_a_driver_there_is_none)
{
    int version = 5, count = 5;
    if (dlopen("libcuda.so.1", RTLD_NOW) != NULL)
        return;
    runtime = open_library(versions[_i].folder, versions[_i].name);
    ck_assert_int_eq(CALL(cudaGetDeviceCount)(&count), CXR_INSUFFICIENT_DRIVER);
    must(CALL(cudaDriverGetVersion)(&version));
    ck_assert_int_eq(version, 0);
    ck_assert_str_eq(CALL(cudaGetErrorName)(CXR_INSUFFICIENT_DRIVER),
                     "cudaErrorInsufficientDriver");
}
END_TEST

/* Only the bytes of the version's struct are written. */
static size_t written(const unsigned char *bytes, size_t room)
{
    while (room > 0 && bytes[room - 1] == 0xa5)
        room--;
    return room;
}

START_TEST(structs_are_as_long_as_the_versions)
{
    static const size_t property_bytes[] = {728, 728, 1008};
    static const size_t function_bytes[] = {52, 144, 144}, pointer_bytes[] = {24, 24, 88};
    static unsigned char room[2048];
    static code_image image;
    static char stub;
    void *pointer = NULL;
    open_over(_i, "shim/cuda-13");
    must(CALL(cudaMalloc)(&pointer, 64));
    memset(room, 0xa5, sizeof room);
    must(((cxr_error(*)(void *, int))find("cudaGetDeviceProperties"))(room, 0));
    ck_assert_uint_eq(written(room, sizeof room), property_bytes[_i]);
    if (_i == 1) {
        memset(room, 0xa5, sizeof room);
        must(((cxr_error(*)(void *, int))find("cudaGetDeviceProperties_v2"))(room, 0));
        ck_assert_uint_eq(written(room, sizeof room), 1032);
    }
    memset(room, 0xa5, sizeof room);
    must(CALL(cudaPointerGetAttributes)((cxr_pointer_attributes *)(void *)room, pointer));
    ck_assert_uint_eq(written(room, sizeof room), pointer_bytes[_i]);

    code_build(&image, CODE_HEAD CODE_ADD);
    void **binary = CALL(__cudaRegisterFatBinary)(&image.wrapper);
    CALL(__cudaRegisterFunction)(binary, &stub, NULL, "add", -1, NULL, NULL, NULL, NULL, NULL);
    memset(room, 0xa5, sizeof room);
    must(CALL(cudaFuncGetAttributes)((cxr_function_attributes *)(void *)room, &stub));
    ck_assert_uint_eq(written(room, sizeof room), function_bytes[_i]);
    CALL(__cudaUnregisterFatBinary)(binary);
    must(CALL(cudaFree)(pointer));
}
END_TEST

/* Since CUDA 12 cudaSetDevice initialises the device. */
START_TEST(setting_a_device_initialises_it_since_12)
{
    typedef cxu_result get_state(CUdevice, unsigned int *, int *);
    unsigned int flags;
    int active = 0, device = -1;
    open_over(_i, "shim/cuda-13");
    get_state *state = (get_state *)dlsym(driver, "cuDevicePrimaryCtxGetState");
    must(CALL(cudaSetDevice)(1));
    ck_assert_int_eq(state(1, &flags, &active), CXU_SUCCESS);
    ck_assert_int_eq(active, versions[_i].major >= 12);
    must(CALL(cudaGetDevice)(&device));
    ck_assert_int_eq(device, 1);
    must(CALL(cudaFree)(NULL));
    ck_assert_int_eq(state(1, &flags, &active), CXU_SUCCESS);
    ck_assert_int_eq(active, 1);
}
END_TEST

START_TEST(old_forms_of_calls_take_what_they_took)
{
    CUgraph graph;
    CUgraphNode node, other, failed;
    CUgraphExec exec;
    CUstream stream;
    cxu_stream_capture_status status;
    unsigned long long id = 0;
    cxu_graph_exec_update_result result;
    size_t count = 1;
    void *function = NULL;
    char log[64];
    open_over(_i, "shim/cuda-13");
    must(CALL(cudaGraphCreate)(&graph, 0));
    must(CALL(cudaGraphAddEmptyNode)(&node, graph, NULL, 0));
    must(CALL(cudaGraphAddEmptyNode)(&other, graph, NULL, 0));
    must(CALL(cudaGraphAddDependencies)(graph, &node, &other, 1));
    must(CALL(cudaGraphGetEdges)(graph, &node, &other, &count));
    ck_assert_uint_eq(count, 1);
    must(CALL(cudaGraphRemoveDependencies)(graph, &node, &other, 1));
    if (versions[_i].major == 11) {
        must(CALL_AS(cudaGraphInstantiate, cudaGraphInstantiate_v11)(&exec, graph, &failed, log,
                                                                     sizeof log));
        must(CALL_AS(cudaGraphExecUpdate, cudaGraphExecUpdate_v11)(exec, graph, &failed, &result));
        ck_assert_int_eq(result, CXU_GRAPH_EXEC_UPDATE_SUCCESS);
        must(CALL_AS(cudaGetDriverEntryPoint, cudaGetDriverEntryPoint_v11)("cuInit", &function, 0));
        ck_assert_ptr_nonnull(function);
        ck_assert_int_eq(
            CALL_AS(cudaGetDriverEntryPoint, cudaGetDriverEntryPoint_v11)("cuNone", &function, 0),
            CXR_SYMBOL_NOT_FOUND);
    } else {
        must(CALL_AS(cudaGraphInstantiate, cudaGraphInstantiateWithFlags)(&exec, graph, 0));
    }
    must(CALL(cudaGraphExecDestroy)(exec));
    must(CALL(cudaGraphDestroy)(graph));
    must(CALL(cudaStreamCreate)(&stream));
    must(CALL(cudaStreamBeginCapture)(stream, CXU_STREAM_CAPTURE_MODE_RELAXED));
    must(CALL(cudaStreamGetCaptureInfo)(stream, &status, &id));
    ck_assert_int_eq(status, CXU_STREAM_CAPTURE_STATUS_ACTIVE);
    must(CALL(cudaStreamEndCapture)(stream, &graph));
    must(CALL(cudaGraphDestroy)(graph));
    must(CALL(cudaStreamDestroy)(stream));
    must(CALL(cudaThreadSynchronize)());
    must(CALL(cudaThreadExit)());
}
END_TEST

/* ---- texture and surface references, which CUDA 12 dropped ---- */

#define REFERENCES                                                                              \
    CODE_HEAD ".global .texref image;\n.global .texref line;\n.global .surfref target;\n"       \
    ".visible .entry read(.param .u64 out)\n{\n"                                                \
    ".reg .b32 %r<8>;\n.reg .f32 %f<8>;\n.reg .b64 %d<4>;\n"                                    \
    "ld.param.u64 %d1, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %d2, %r1, 8;\n"               \
    "add.u64 %d1, %d1, %d2;\ncvt.rn.f32.u32 %f1, %r1;\nadd.f32 %f1, %f1, 0f3F000000;\n"         \
    "tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [image, {%f1, 0f3FC00000}];\n"                     \
    "tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [line, {%r1}];\n"                                  \
    "st.global.f32 [%d1], %f2;\nst.global.u32 [%d1+4], %r2;\nshl.b32 %r6, %r1, 2;\n"            \
    "mov.u32 %r7, 0;\nsust.b.2d.b32.trap [target, {%r6, %r7}], %r1;\nret;\n}\n"

enum { COLUMNS = 4, ROWS = 2, ELEMENT = 4, AS_UNSIGNED = 1, AS_FLOAT = 2 };

static const cxr_channel_format floats = {32, 0, 0, 0, AS_FLOAT};
static const cxr_channel_format words = {32, 0, 0, 0, AS_UNSIGNED};
static const cxr_channel_format bytes = {8, 0, 0, 0, AS_UNSIGNED};
static cxr_texture_reference image = {.address_mode = {1, 1, 1}};
static cxr_texture_reference line = {.address_mode = {1, 1, 1}};
static cxr_surface_reference target;
static void **binary;
static char read_stub;

static void register_references(void)
{
    static code_image code;
    open_over(0, "shim/cuda-13");
    code_build(&code, REFERENCES);
    binary = CALL(__cudaRegisterFatBinary)(&code.wrapper);
    CALL(__cudaRegisterFunction)(binary, &read_stub, NULL, "read", -1, NULL, NULL, NULL, NULL,
                                 NULL);
    CALL(__cudaRegisterTexture)(binary, &image, NULL, "image", 2, 0, 0);
    CALL(__cudaRegisterTexture)(binary, &line, NULL, "line", 1, 0, 0);
    CALL(__cudaRegisterSurface)(binary, &target, NULL, "target", 2, 0);
}

static CUarray make_array_of(const cxr_channel_format *channels, unsigned int flags,
                             const void *content)
{
    CUarray array;
    must(CALL(cudaMallocArray)(&array, channels, COLUMNS, ROWS, flags));
    must(CALL(cudaMemcpy2DToArray)(array, 0, 0, content, COLUMNS * ELEMENT, COLUMNS * ELEMENT, ROWS,
                                   CXR_HOST_TO_DEVICE));
    return array;
}

static void run_read(uint32_t found[COLUMNS][2])
{
    void *out = NULL, *arguments[] = {&out};
    must(CALL(cudaMalloc)(&out, 64));
    must(CALL(cudaLaunchKernel)(&read_stub, (cxr_dim3){1, 1, 1}, (cxr_dim3){COLUMNS, 1, 1},
                                arguments, 0, NULL));
    must(CALL(cudaMemcpy)(found, out, COLUMNS * 2 * ELEMENT, CXR_DEVICE_TO_HOST));
    must(CALL(cudaFree)(out));
}

START_TEST(kernels_of_11_read_and_write_what_is_bound_to_their_references)
{
    static const float content[ROWS][COLUMNS] = {{0, 1, 2, 3}, {4, 5, 6, 7}};
    static const uint32_t numbers[] = {90, 91, 92, 93, 94, 95, 96, 97};
    uint32_t found[COLUMNS][2], stored[COLUMNS];
    void *memory = NULL;
    size_t offset = 9;
    register_references();
    CUarray array = make_array_of(&floats, 0, content);
    CUarray written = make_array_of(&words, CXU_ARRAY3D_SURFACE_LDST, numbers);
    must(CALL(cudaMalloc)(&memory, sizeof numbers));
    must(CALL(cudaMemcpy)(memory, numbers, sizeof numbers, CXR_HOST_TO_DEVICE));
    must(CALL(cudaBindTextureToArray)(&image, array, &floats));
    must(CALL(cudaBindSurfaceToArray)(&target, written, &words));
    must(CALL(cudaBindTexture)(&offset, &line, memory, &words, UINT32_MAX));
    ck_assert_uint_eq(offset, 0);
    run_read(found);
    for (uint32_t i = 0; i < COLUMNS; i++) {
        ck_assert_mem_eq(&found[i][0], &content[1][i], ELEMENT);
        ck_assert_uint_eq(found[i][1], 90 + i);
    }
    must(CALL(cudaMemcpy2DFromArray)(stored, sizeof stored, written, 0, 0, sizeof stored, 1,
                                     CXR_DEVICE_TO_HOST));
    for (uint32_t i = 0; i < COLUMNS; i++)
        ck_assert_uint_eq(stored[i], i);
    must(CALL(cudaBindTexture)(&offset, &line, (char *)memory + 8, &words, 16));
    ck_assert_uint_eq(offset, 8);
    must(CALL(cudaGetTextureAlignmentOffset)(&offset, &line));
    ck_assert_uint_eq(offset, 8);
    must(CALL(cudaUnbindTexture)(&line));
    ck_assert_int_eq(CALL(cudaGetTextureAlignmentOffset)(&offset, &line),
                     CXR_INVALID_TEXTURE_BINDING);
    CALL(__cudaUnregisterFatBinary)(binary);
}
END_TEST

/* Of bytes that are read as floats, and with the modes of the host's variable. */
START_TEST(a_reference_of_11_has_the_modes_of_its_variable)
{
    static const unsigned char content[ROWS * 32] = {[32] = 0, [33] = 51, [34] = 102, [35] = 255};
    static const uint32_t nothing[COLUMNS * ROWS];
    const cxr_texture_reference *told = NULL;
    const cxr_surface_reference *surface = NULL;
    uint32_t found[COLUMNS][2];
    float third = 0.4F;
    void *memory = NULL;
    register_references();
    CALL(__cudaRegisterTexture)(binary, &image, NULL, "image", 2, 1, 0);
    CUarray written = make_array_of(&words, CXU_ARRAY3D_SURFACE_LDST, nothing);
    must(CALL(cudaMalloc)(&memory, sizeof content));
    must(CALL(cudaMemcpy)(memory, content, sizeof content, CXR_HOST_TO_DEVICE));
    must(CALL(cudaBindTexture)(NULL, &line, memory, &words, sizeof content));
    must(CALL(cudaBindSurfaceToArray)(&target, written, &words));
    must(CALL(cudaBindTexture2D)(NULL, &image, memory, &bytes, COLUMNS, ROWS, 32));
    run_read(found);
    ck_assert_mem_eq(&found[2][0], &third, ELEMENT);
    image.filter_mode = 5;
    ck_assert_int_eq(CALL(cudaBindTexture2D)(NULL, &image, memory, &bytes, COLUMNS, ROWS, 32),
                     CXR_INVALID_VALUE);
    must(CALL(cudaGetTextureReference)(&told, &image));
    ck_assert_ptr_eq(told, &image);
    must(CALL(cudaGetSurfaceReference)(&surface, &target));
    ck_assert_ptr_eq(surface, &target);
    CALL(__cudaUnregisterFatBinary)(binary);
}
END_TEST

START_TEST(variables_that_are_no_references_are_refused)
{
    cxr_texture_reference other = {0};
    size_t offset;
    register_references();
    CUarray array = make_array_of(&floats, 0, &(float[ROWS][COLUMNS]){{0}});
    ck_assert_int_eq(CALL(cudaBindTextureToArray)(&other, array, &floats), CXR_INVALID_TEXTURE);
    ck_assert_int_eq(CALL(cudaUnbindTexture)(&other), CXR_INVALID_TEXTURE);
    ck_assert_int_eq(CALL(cudaGetTextureAlignmentOffset)(&offset, &other), CXR_INVALID_TEXTURE);
    ck_assert_int_eq(
        CALL(cudaBindSurfaceToArray)((cxr_surface_reference *)(void *)&image, array, &floats),
        CXR_INVALID_SURFACE);
    CALL(__cudaUnregisterFatBinary)(binary);
}
END_TEST

static Suite *version_suite(void)
{
    Suite *suite = suite_create("version");
    TCase *tcase = tcase_create("version");
    tcase_add_loop_test(tcase, a_version_tells_itself_and_its_driver, 0, VERSIONS);
    tcase_add_test(tcase, a_driver_of_an_older_major_version_is_insufficient);
    tcase_add_loop_test(tcase, older_versions_run_over_the_same_major_version, 0, 2);
    tcase_add_loop_test(tcase, without_a_driver_there_is_none, 0, VERSIONS);
    tcase_add_loop_test(tcase, structs_are_as_long_as_the_versions, 0, VERSIONS);
    tcase_add_loop_test(tcase, setting_a_device_initialises_it_since_12, 0, VERSIONS);
    tcase_add_loop_test(tcase, old_forms_of_calls_take_what_they_took, 0, 2);
    tcase_add_test(tcase, kernels_of_11_read_and_write_what_is_bound_to_their_references);
    tcase_add_test(tcase, a_reference_of_11_has_the_modes_of_its_variable);
    tcase_add_test(tcase, variables_that_are_no_references_are_refused);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(version_suite);
