/* Questions: versions, properties beside attributes, limits, functions, occupancy, the driver's
 * calls by name, libraries. */
#include "client.h"

static code_add adds;

START_TEST(versions_are_the_librarys_and_the_drivers)
{
    int version = 0;
    assert_ok(cudaRuntimeGetVersion(&version));
    ck_assert_int_eq(version / 1000, 13);
    assert_ok(cudaDriverGetVersion(&version));
    ck_assert_int_eq(version / 1000, 13);
    assert_error(cudaRuntimeGetVersion(NULL), CXR_INVALID_VALUE);
    assert_error(cudaDriverGetVersion(NULL), CXR_INVALID_VALUE);
}
END_TEST

static int attribute_of(cxu_device_attribute attribute)
{
    int value = -1;
    assert_ok(cudaDeviceGetAttribute(&value, attribute, 1));
    return value;
}

START_TEST(properties_are_those_that_attributes_tell)
{
    cxr_properties_13 of;
    size_t free_bytes, total;
    memset(&of, 0x77, sizeof of);
    assert_ok(cudaGetDeviceProperties(&of, 1));
#define CX_PROPERTY(versions, type, field, extent, ...) CX_SEE_##versions(type, field, __VA_ARGS__)
#define CX_SEE_ALL(type, field, ...) see((const char *)&of.field, sizeof(type), __VA_ARGS__);
#define CX_SEE_SINCE_13 CX_SEE_ALL
#define CX_SEE_UNTIL_12(...)
#define NONE 0
#define see(at, size, ...)                                                                    \
    do {                                                                                      \
        static const cxu_device_attribute asked[] = {__VA_ARGS__};                            \
        for (size_t i = 0; i < sizeof asked / sizeof asked[0] && asked[i] != 0; i++) {        \
            long long found = 0;                                                              \
            memcpy(&found, (at) + i * (size), (size) < sizeof found ? (size) : sizeof found); \
            if ((size) == sizeof(int))                                                        \
                found = (int)found;                                                           \
            ck_assert_msg(found == attribute_of(asked[i]), "attribute %d is not %lld",        \
                          (int)asked[i], found);                                              \
        }                                                                                     \
    } while (0)
#include "runtime/properties.def"
    assert_ok(cudaSetDevice(1));
    assert_ok(cudaMemGetInfo(&free_bytes, &total));
    ck_assert_uint_eq(of.totalGlobalMem, total);
    ck_assert_uint_gt(strlen(of.name), 0);
    assert_error(cudaGetDeviceProperties(&of, 4), CXR_INVALID_DEVICE);
    assert_error(cudaGetDeviceProperties(NULL, 0), CXR_INVALID_VALUE);
    assert_error(cudaDeviceGetAttribute(&(int){0}, (cxu_device_attribute)9999, 0),
                 CXR_INVALID_VALUE);
    assert_error(cudaDeviceGetAttribute(&(int){0}, CXU_ATTRIBUTE_WARP_SIZE, 4), CXR_INVALID_DEVICE);
    assert_error(cudaDeviceGetAttribute(NULL, CXU_ATTRIBUTE_WARP_SIZE, 0), CXR_INVALID_VALUE);
}
END_TEST

START_TEST(a_device_is_chosen_and_found_by_its_bus)
{
    cxr_properties_13 wanted;
    char bus[32];
    int device = -1;
    memset(&wanted, 0, sizeof wanted);
    assert_ok(cudaChooseDevice(&device, &wanted));
    ck_assert_int_ge(device, 0);
    assert_ok(cudaDeviceGetPCIBusId(bus, sizeof bus, 2));
    assert_ok(cudaDeviceGetByPCIBusId(&device, bus));
    ck_assert_int_eq(device, 2);
    assert_error(cudaDeviceGetPCIBusId(NULL, 16, 0), CXR_INVALID_VALUE);
    assert_error(cudaDeviceGetPCIBusId(bus, sizeof bus, 9), CXR_INVALID_DEVICE);
    assert_error(cudaDeviceGetByPCIBusId(&device, NULL), CXR_INVALID_VALUE);
    assert_error(cudaChooseDevice(NULL, &wanted), CXR_INVALID_VALUE);
    assert_error(cudaChooseDevice(&device, NULL), CXR_INVALID_VALUE);
}
END_TEST

START_TEST(limits_are_set_and_told)
{
    size_t value = 0, again = 0;
    assert_ok(cudaDeviceGetLimit(&value, CXU_LIMIT_STACK_SIZE));
    assert_ok(cudaDeviceSetLimit(CXU_LIMIT_STACK_SIZE, 4096));
    assert_ok(cudaDeviceGetLimit(&again, CXU_LIMIT_STACK_SIZE));
    ck_assert_uint_eq(again, 4096);
    assert_ok(cudaSetDevice(1));
    assert_ok(cudaDeviceGetLimit(&again, CXU_LIMIT_STACK_SIZE));
    ck_assert_uint_eq(again, value);
    ck_assert_int_ne(cudaDeviceGetLimit(&value, (cxu_limit)77), CXR_SUCCESS);
    ck_assert_int_ne(cudaDeviceSetLimit((cxu_limit)77, 1), CXR_SUCCESS);
    assert_error(cudaDeviceGetLimit(NULL, CXU_LIMIT_STACK_SIZE), CXR_INVALID_VALUE);
}
END_TEST

START_TEST(functions_have_attributes_and_a_name)
{
    cxr_function_attributes of;
    const char *name = NULL;
    size_t offset = 9, bytes = 0;
    CUfunction function = NULL;
    CUkernel kernel = NULL;
    code_add_register(&adds);
    memset(&of, 0x77, sizeof of);
    assert_ok(cudaFuncGetAttributes(&of, &adds.stub));
    ck_assert_int_eq(of.ptx_version, 75);
    ck_assert_int_ge(of.max_threads_per_block, 1);
    ck_assert_uint_eq(of.shared_bytes, 0);
    ck_assert_int_eq(of.reserved[15], 0);
    assert_ok(cudaFuncSetAttribute(&adds.stub, CXR_FUNC_MAX_DYNAMIC_SHARED, 1024));
    assert_ok(cudaFuncGetAttributes(&of, &adds.stub));
    ck_assert_int_eq(of.max_dynamic_shared_bytes, 1024);
    assert_ok(cudaFuncSetCacheConfig(&adds.stub, CXU_FUNC_CACHE_PREFER_L1));
    assert_ok(cudaFuncGetName(&name, &adds.stub));
    ck_assert_str_eq(name, "add");
    assert_ok(cudaFuncGetParamInfo(&adds.stub, 1, &offset, &bytes));
    ck_assert_uint_eq(offset, 8);
    ck_assert_uint_eq(bytes, 4);
    assert_ok(cudaGetFuncBySymbol(&function, &adds.stub));
    ck_assert_ptr_nonnull(function);
    assert_ok(cudaGetKernel(&kernel, &adds.stub));
    assert_error(cudaGetFuncBySymbol(NULL, &adds.stub), CXR_INVALID_VALUE);
    assert_error(cudaGetKernel(NULL, &adds.stub), CXR_INVALID_VALUE);
    assert_error(cudaFuncGetAttributes(NULL, &adds.stub), CXR_INVALID_VALUE);
    assert_error(cudaFuncSetAttribute(&adds.stub, 99, 1), CXR_INVALID_VALUE);
    __cudaUnregisterFatBinary(adds.binary);
}
END_TEST

START_TEST(occupancy_is_that_of_the_function)
{
    int blocks = 0, fewer = 0;
    size_t bytes = 0;
    code_add_register(&adds);
    assert_ok(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &adds.stub, 128, 0));
    assert_ok(
        cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&fewer, &adds.stub, 1024, 0, 0));
    ck_assert_int_ge(blocks, 1);
    ck_assert_int_ge(fewer, 1);
    ck_assert_int_lt(fewer, blocks);
    assert_ok(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, &adds.stub, 1, 128));
    ck_assert_uint_gt(bytes, 0);
    assert_error(cudaOccupancyMaxActiveBlocksPerMultiprocessor(NULL, &adds.stub, 128, 0),
                 CXR_INVALID_VALUE);
    assert_error(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &bytes, 128, 0),
                 CXR_INVALID_DEVICE_FUNCTION);
    assert_error(
        cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, &adds.stub, 128, 0, 64),
        CXR_INVALID_VALUE);
    __cudaUnregisterFatBinary(adds.binary);
}
END_TEST

START_TEST(the_drivers_calls_are_found_by_name)
{
    void *function = NULL;
    int outcome = -1;
    assert_ok(cudaGetDriverEntryPoint("cuCtxGetCurrent", &function, 0, &outcome));
    ck_assert_int_eq(outcome, 0);
    ck_assert_ptr_nonnull(function);
    assert_ok(cudaGetDriverEntryPoint("cuNoSuchCall", &function, 0, &outcome));
    ck_assert_int_eq(outcome, 1);
    ck_assert_ptr_null(function);
    assert_ok(cudaGetDriverEntryPointByVersion("cuCtxCreate", &function, 12000, 0, &outcome));
    ck_assert_int_eq(outcome, 0);
    assert_ok(cudaGetDriverEntryPointByVersion("cuGreenCtxCreate", &function, 11000, 0, &outcome));
    ck_assert_int_eq(outcome, 2);
    ck_assert_ptr_null(function);
    assert_error(cudaGetDriverEntryPoint(NULL, &function, 0, &outcome), CXR_INVALID_VALUE);
    assert_error(cudaGetDriverEntryPoint("cuInit", NULL, 0, &outcome), CXR_INVALID_VALUE);
    assert_error(cudaGetDriverEntryPoint("cuInit", &function, 64, &outcome), CXR_INVALID_VALUE);
}
END_TEST

/* ---- libraries ---- */

START_TEST(kernels_of_a_library_are_launched_like_stubs)
{
    CUlibrary library = NULL;
    CUkernel kernel = NULL, all[2];
    unsigned int kernels = 0;
    cxr_function_attributes of;
    uint32_t *words = make_words(1), count = WORDS, value = 4;
    void *arguments[] = {&words, &count, &value};
    cxr_dim3 grid = {1, 1, 1}, block = {WORDS, 1, 1};
    assert_ok(cudaLibraryLoadData(&library, CODE_HEAD CODE_ADD, NULL, NULL, 0, NULL, NULL, 0));
    assert_ok(cudaLibraryGetKernelCount(&kernels, library));
    ck_assert_uint_eq(kernels, 1);
    assert_ok(cudaLibraryEnumerateKernels(all, 1, library));
    assert_ok(cudaLibraryGetKernel(&kernel, library, "add"));
    ck_assert_ptr_eq(all[0], kernel);
    assert_ok(cudaLaunchKernel(kernel, grid, block, arguments, 0, NULL));
    assert_words(words, 5);
    assert_ok(cudaFuncGetAttributes(&of, kernel));
    assert_error(cudaLibraryGetKernel(&kernel, library, "none"), CXR_SYMBOL_NOT_FOUND);
    assert_ok(cudaLibraryUnload(library));
    assert_error(cudaLaunchKernel(all[0], grid, block, arguments, 0, NULL),
                 CXR_INVALID_DEVICE_FUNCTION);
    assert_error(cudaLibraryLoadData(&library, NULL, NULL, NULL, 0, NULL, NULL, 0),
                 CXR_INVALID_VALUE);
    assert_ok(cudaFree(words));
}
END_TEST

static Suite *query_suite(void)
{
    Suite *suite = suite_create("query");
    TCase *tcase = tcase_create("query");
    tcase_add_checked_fixture(tcase, start_with_gpus, NULL);
    tcase_add_test(tcase, versions_are_the_librarys_and_the_drivers);
    tcase_add_test(tcase, properties_are_those_that_attributes_tell);
    tcase_add_test(tcase, a_device_is_chosen_and_found_by_its_bus);
    tcase_add_test(tcase, limits_are_set_and_told);
    tcase_add_test(tcase, functions_have_attributes_and_a_name);
    tcase_add_test(tcase, occupancy_is_that_of_the_function);
    tcase_add_test(tcase, the_drivers_calls_are_found_by_name);
    tcase_add_test(tcase, kernels_of_a_library_are_launched_like_stubs);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(query_suite);
