/* What nvcc's host code does: registration, launches by both paths, symbols, bad code. */
#include "client.h"

#include <sys/mman.h>

static code_add adds;

START_TEST(a_kernel_is_launched_by_its_stub)
{
    code_add_register(&adds);
    uint32_t *words = make_words(5);
    assert_ok(code_launch_add(&adds, words, 2, NULL));
    assert_words(words, 7);
    assert_ok(cudaFree(words));
    __cudaUnregisterFatBinary(adds.binary);
}
END_TEST

START_TEST(a_kernel_is_launched_by_its_handle)
{
    code_add_register(&adds);
    uint32_t *words = make_words(5), count = WORDS, value = 3;
    void *arguments[] = {&words, &count, &value};
    CUkernel kernel = NULL;
    CUstream stream = (CUstream)(void *)&kernel;
    cxr_dim3 grid, block;
    size_t shared_bytes = 9;
    assert_ok(__cudaGetKernel(&kernel, &adds.stub));
    ck_assert_ptr_nonnull(kernel);
    ck_assert_uint_eq(
        __cudaPushCallConfiguration((cxr_dim3){2, 1, 1}, (cxr_dim3){32, 1, 1}, 0, NULL), 0);
    assert_ok(__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream));
    ck_assert_uint_eq(grid.x, 2);
    ck_assert_uint_eq(block.x, 32);
    ck_assert_uint_eq(shared_bytes, 0);
    ck_assert_ptr_null(stream);
    assert_ok(__cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream));
    assert_words(words, 8);
    assert_ok(__cudaLaunchKernel_ptsz(kernel, grid, block, arguments, 0, NULL));
    assert_ok(cudaDeviceSynchronize());
    assert_words(words, 11);
    assert_ok(cudaFree(words));
    __cudaUnregisterFatBinary(adds.binary);
}
END_TEST

START_TEST(kernels_of_all_devices_are_launched_by_one_stub)
{
    code_add_register(&adds);
    for (int device = 3; device >= 0; device--) {
        assert_ok(cudaSetDevice(device));
        uint32_t *words = make_words(1);
        assert_ok(code_launch_add(&adds, words, (uint32_t)device, NULL));
        assert_words(words, 1 + (uint32_t)device);
        assert_ok(cudaFree(words));
    }
    __cudaUnregisterFatBinary(adds.binary);
}
END_TEST

/* Host code of several files registers in any order, and after other calls. */
START_TEST(registration_may_come_between_calls_and_the_same_names_in_two_binaries)
{
    static code_add first, second;
    uint32_t *words = make_words(0);
    code_add_register(&second);
    code_add_register(&first);
    assert_ok(code_launch_add(&first, words, 1, NULL));
    assert_ok(code_launch_add(&second, words, 10, NULL));
    __cudaUnregisterFatBinary(second.binary);
    assert_ok(code_launch_add(&first, words, 100, NULL));
    assert_words(words, 111);
    assert_error(code_launch_add(&second, words, 1, NULL), CXR_INVALID_DEVICE_FUNCTION);
    assert_error(cudaGetLastError(), CXR_INVALID_DEVICE_FUNCTION);
    code_add_register(&second);
    assert_ok(code_launch_add(&second, words, 1, NULL));
    assert_words(words, 112);
    assert_ok(cudaFree(words));
    __cudaUnregisterFatBinary(first.binary);
    __cudaUnregisterFatBinary(second.binary);
}
END_TEST

/* ---- configurations ---- */

START_TEST(launch_configurations_nest)
{
    enum { DEEP = 16 };
    cxr_dim3 grid, block;
    size_t shared_bytes;
    CUstream stream;
    for (unsigned int i = 1; i <= DEEP; i++)
        ck_assert_uint_eq(
            __cudaPushCallConfiguration((cxr_dim3){i, 1, 1}, (cxr_dim3){1, 1, i}, i, NULL), 0);
    for (unsigned int i = DEEP; i >= 1; i--) {
        assert_ok(__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream));
        ck_assert_uint_eq(grid.x, i);
        ck_assert_uint_eq(block.z, i);
        ck_assert_uint_eq(shared_bytes, i);
    }
    assert_error(__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream),
                 CXR_MISSING_CONFIGURATION);
}
END_TEST

START_TEST(configurations_that_no_device_has_are_refused_by_name)
{
    static const struct {
        cxr_dim3 grid, block;
    } rows[] = {{{1, 1, 1}, {1025, 1, 1}}, {{1, 1, 1}, {1, 1, 65}}, {{1, 65536, 1}, {1, 1, 1}},
                {{0, 1, 1}, {1, 1, 1}},    {{1, 1, 1}, {0, 1, 1}},  {{1, 1, 1}, {32, 32, 2}}};
    code_add_register(&adds);
    uint32_t *words = make_words(0), count = WORDS, value = 1;
    void *arguments[] = {&words, &count, &value};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_error(cudaLaunchKernel(&adds.stub, rows[i].grid, rows[i].block, arguments, 0, NULL),
                     CXR_INVALID_CONFIGURATION);
        assert_error(cudaGetLastError(), CXR_INVALID_CONFIGURATION);
    }
    assert_words(words, 0);
    assert_ok(cudaFree(words));
    __cudaUnregisterFatBinary(adds.binary);
}
END_TEST

/* ---- symbols ---- */

static struct {
    code_image image;
    void **binary;
    char words, constants, stub;
    uint32_t *shared;
} variables;

static void register_variables(void)
{
    code_build(&variables.image, CODE_HEAD CODE_VARIABLES);
    variables.binary = __cudaRegisterFatBinary(&variables.image.wrapper);
    __cudaRegisterFunction(variables.binary, &variables.stub, NULL, "count", -1, NULL, NULL, NULL,
                           NULL, NULL);
    __cudaRegisterVar(variables.binary, &variables.words, NULL, "words", 0, 16, 0, 0);
    __cudaRegisterVar(variables.binary, &variables.constants, NULL, "constants", 0, 8, 1, 0);
    __cudaRegisterManagedVar(variables.binary, (void **)&variables.shared, NULL, "shared_words", 0,
                             8, 0, 0);
    __cudaRegisterFatBinaryEnd(variables.binary);
}

static void count(void)
{
    assert_ok(
        cudaLaunchKernel(&variables.stub, (cxr_dim3){1, 1, 1}, (cxr_dim3){1, 1, 1}, NULL, 0, NULL));
    assert_ok(cudaDeviceSynchronize());
}

START_TEST(symbols_have_a_place_and_a_size_on_each_device)
{
    void *first = NULL, *second = NULL;
    size_t bytes = 0;
    uint32_t found = 0, value = 40;
    register_variables();
    assert_ok(cudaGetSymbolSize(&bytes, &variables.words));
    ck_assert_uint_eq(bytes, 16);
    assert_ok(cudaGetSymbolAddress(&first, &variables.words));
    assert_ok(cudaMemcpyToSymbol(&variables.words, &value, 4, 0, CXR_HOST_TO_DEVICE));
    count();
    assert_ok(cudaSetDevice(1));
    assert_ok(cudaGetSymbolAddress(&second, &variables.words));
    ck_assert_ptr_ne(first, second);
    assert_ok(cudaMemcpyFromSymbol(&found, &variables.words, 4, 0, CXR_DEVICE_TO_HOST));
    ck_assert_uint_eq(found, 1);
    assert_ok(cudaMemcpyFromSymbol(&found, &variables.words, 4, 12, CXR_COPY_DEFAULT));
    ck_assert_uint_eq(found, 4);
    assert_ok(cudaSetDevice(0));
    assert_ok(cudaMemcpyFromSymbolAsync(&found, &variables.words, 4, 0, CXR_DEVICE_TO_HOST, NULL));
    assert_ok(cudaStreamSynchronize(NULL));
    ck_assert_uint_eq(found, 41);
    __cudaUnregisterFatBinary(variables.binary);
}
END_TEST

START_TEST(a_symbol_has_no_byte_behind_its_last_one)
{
    uint32_t value = 0;
    void *address;
    size_t bytes;
    register_variables();
    assert_error(cudaMemcpyToSymbol(&variables.words, &value, 4, 13, CXR_HOST_TO_DEVICE),
                 CXR_INVALID_VALUE);
    assert_error(cudaMemcpyFromSymbol(&value, &variables.words, (size_t)-1, 2, CXR_DEVICE_TO_HOST),
                 CXR_INVALID_VALUE);
    assert_error(cudaGetSymbolAddress(&address, &value), CXR_INVALID_SYMBOL);
    assert_error(cudaGetSymbolSize(&bytes, NULL), CXR_INVALID_SYMBOL);
    assert_error(cudaGetSymbolAddress(&address, &variables.stub), CXR_INVALID_SYMBOL);
    assert_error(cudaGetSymbolAddress(NULL, &variables.words), CXR_INVALID_VALUE);
    assert_error(cudaMemcpyToSymbol(&value, &value, 4, 0, CXR_HOST_TO_DEVICE), CXR_INVALID_SYMBOL);
    __cudaUnregisterFatBinary(variables.binary);
}
END_TEST

START_TEST(managed_and_constant_variables_are_what_kernels_see)
{
    uint32_t constants[] = {7, 8};
    register_variables();
    ck_assert_ptr_null(variables.shared);
    ck_assert_int_eq(__cudaInitModule(variables.binary), 1);
    ck_assert_ptr_nonnull(variables.shared);
    variables.shared[0] = 100;
    assert_ok(cudaMemcpyToSymbol(&variables.constants, constants, sizeof constants, 0,
                                 CXR_HOST_TO_DEVICE));
    count();
    ck_assert_uint_eq(variables.shared[0], 115);
    __cudaUnregisterFatBinary(variables.binary);
}
END_TEST

/* ---- bad code ---- */

START_TEST(unknown_stubs_are_no_device_functions)
{
    char unknown;
    CUkernel kernel = NULL;
    cxr_function_attributes attributes;
    cxr_dim3 one = {1, 1, 1};
    code_add_register(&adds);
    assert_error(cudaLaunchKernel(&unknown, one, one, NULL, 0, NULL), CXR_INVALID_DEVICE_FUNCTION);
    assert_error(cudaGetLastError(), CXR_INVALID_DEVICE_FUNCTION);
    assert_error(cudaLaunchKernel(NULL, one, one, NULL, 0, NULL), CXR_INVALID_DEVICE_FUNCTION);
    assert_error(__cudaLaunchKernel(NULL, one, one, NULL, 0, NULL), CXR_INVALID_DEVICE_FUNCTION);
    assert_error(__cudaGetKernel(&kernel, &unknown), CXR_INVALID_DEVICE_FUNCTION);
    ck_assert_ptr_null(kernel);
    assert_error(cudaFuncGetAttributes(&attributes, &unknown), CXR_INVALID_DEVICE_FUNCTION);
    assert_error(cudaFuncGetAttributes(&attributes, NULL), CXR_INVALID_DEVICE_FUNCTION);
    __cudaUnregisterFatBinary(adds.binary);
}
END_TEST

/* Each is registered without a word, and every use of it is an error. */
START_TEST(bad_fat_binaries_are_errors_of_their_use)
{
    static code_image image;
    char stub;
    cxr_dim3 one = {1, 1, 1};
    for (int fault = 0; fault < 7; fault++) {
        const cxr_fat_binary *fat = &image.wrapper;
        code_build(&image, CODE_HEAD CODE_ADD);
        switch (fault) {
        case 0:
            fat = NULL;
            break;
        case 1:
            image.wrapper.magic = 7;
            break;
        case 2:
            image.wrapper.data = NULL;
            break;
        case 3:
            image.bytes[0] ^= 0xff;
            break;
        case 4:
            code_set(&image, 8, 40, 8);
            break; /* ends within the entry's header */
        case 5:
            code_set(&image, 8, 0, 8);
            break; /* no entry */
        default:
            memset(image.bytes + 80, 'x', 60);
            break; /* no PTX */
        }
        void **binary = __cudaRegisterFatBinary(fat);
        __cudaRegisterFunction(binary, &stub, NULL, "add", -1, NULL, NULL, NULL, NULL, NULL);
        __cudaRegisterFatBinaryEnd(binary);
        cxr_error error = cudaLaunchKernel(&stub, one, one, NULL, 0, NULL);
        ck_assert_msg(error != CXR_SUCCESS, "fault %d", fault);
        assert_error(cudaGetLastError(), error);
        assert_error(cudaLaunchKernel(&stub, one, one, NULL, 0, NULL), error);
        CUkernel kernel = NULL; /* the stub of the program keeps what it is given */
        assert_ok(__cudaGetKernel(&kernel, &stub));
        assert_error(__cudaLaunchKernel(kernel, one, one, NULL, 0, NULL), error);
        assert_error(cudaGetLastError(), error);
        ck_assert_int_eq(__cudaInitModule(binary), 0);
        __cudaUnregisterFatBinary(binary);
    }
    assert_ok(cudaDeviceSynchronize());
}
END_TEST

/* Pointers and sizes as a faulty program has them: none of them is followed. */
START_TEST(code_beyond_its_memory_is_an_error_of_its_use)
{
    enum { NO_WRAPPER, NO_DATA, TOO_LONG, MUCH_TOO_LONG, WRAPS_AROUND, NO_LIST, NO_MEMBER, FAULTS };
    static code_image image;
    static const void *list[2];
    void *const nowhere = mmap(NULL, 1 << 16, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char stub;
    cxr_dim3 one = {1, 1, 1};
    for (int fault = 0; fault < FAULTS; fault++) {
        const cxr_fat_binary *fat = &image.wrapper;
        code_build(&image, CODE_HEAD CODE_ADD);
        image.wrapper.version = fault == NO_LIST || fault == NO_MEMBER ? 2 : 1;
        switch (fault) {
        case NO_WRAPPER:
            fat = nowhere;
            break;
        case NO_DATA:
            image.wrapper.data = nowhere;
            break;
        case TOO_LONG:
            code_set(&image, 8, (uint64_t)1 << 30, 8);
            code_set(&image, FAT_HEADER_BYTES + 8, ((uint64_t)1 << 30) - FAT_ENTRY_BYTES, 8);
            memset(image.bytes + image.used - 8, ' ', 8);
            break;
        case MUCH_TOO_LONG:
            code_set(&image, 8, UINT64_MAX / 2, 8);
            break;
        case WRAPS_AROUND:
            code_set(&image, 8, UINT64_MAX - 8, 8);
            break;
        case NO_LIST:
            image.wrapper.linked = nowhere;
            break;
        default:
            list[0] = nowhere;
            image.wrapper.linked = list;
        }
        void **binary = __cudaRegisterFatBinary(fat);
        __cudaRegisterFunction(binary, &stub, NULL, "add", -1, NULL, NULL, NULL, NULL, NULL);
        __cudaRegisterFatBinaryEnd(binary);
        cxr_error error = cudaLaunchKernel(&stub, one, one, NULL, 0, NULL);
        ck_assert_msg(error == CXR_INVALID_KERNEL_IMAGE, "fault %d: %d", fault, (int)error);
        ck_assert_int_eq(__cudaInitModule(binary), 0);
        __cudaUnregisterFatBinary(binary);
    }
    munmap(nowhere, 1 << 16);
}
END_TEST

/* Host code may build its tables in memory of its own. */
START_TEST(code_on_the_heap_is_loaded)
{
    code_add *heap = malloc(sizeof *heap);
    char *name = strdup("add");
    ck_assert(heap != NULL && name != NULL);
    code_add_register(heap);
    __cudaRegisterFunction(heap->binary, &heap->stub, NULL, name, -1, NULL, NULL, NULL, NULL, NULL);
    uint32_t *words = make_words(5);
    assert_ok(code_launch_add(heap, words, 2, NULL));
    assert_words(words, 7);
    assert_ok(cudaFree(words));
    __cudaUnregisterFatBinary(heap->binary);
    free(name);
    free(heap);
}
END_TEST

START_TEST(names_and_pointers_beyond_memory_are_errors_of_their_use)
{
    const char *const nowhere = (const char *)(uintptr_t)0x7000;
    static const void *const read_only = &read_only;
    char stub, shadow;
    void *address;
    cxr_dim3 one = {1, 1, 1};
    register_variables();
    __cudaRegisterFunction(variables.binary, &stub, NULL, nowhere, -1, NULL, NULL, NULL, NULL,
                           NULL);
    __cudaRegisterVar(variables.binary, &shadow, NULL, nowhere, 0, 4, 0, 0);
    __cudaRegisterManagedVar(variables.binary, (void **)(uintptr_t)nowhere, NULL, "shared_words", 0,
                             8, 0, 0);
    __cudaRegisterManagedVar(variables.binary, (void **)(uintptr_t)&read_only, NULL, "shared_words",
                             0, 8, 0, 0);
    assert_error(cudaLaunchKernel(&stub, one, one, NULL, 0, NULL), CXR_INVALID_DEVICE_FUNCTION);
    assert_error(cudaGetSymbolAddress(&address, &shadow), CXR_INVALID_SYMBOL);
    ck_assert_int_eq(__cudaInitModule(variables.binary), 1);
    ck_assert_ptr_eq(read_only, &read_only);
    count();
    __cudaUnregisterFatBinary(variables.binary);
}
END_TEST

/* Small changes of a pointer lead to other objects, which AddressSanitizer tells. */
#ifdef __SANITIZE_ADDRESS__
enum { FIRST_POINTER_BIT = 40 };
#else
enum { FIRST_POINTER_BIT = 0 };
#endif

/* Bits of the wrapper, of the headers and of the registered pointers change: each mutant is loaded
 * or is an error, and the library serves the next one. */
START_TEST(mutants_of_registered_code_are_loaded_or_refused)
{
    enum { MUTANTS = 400, ROOM = 1 << 20 };
    /* Larger sizes lead to pages behind it, and no object. */
    code_add *const mutant =
        mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint32_t state = 38;
    size_t refused = 0;
    ck_assert_ptr_ne(mutant, MAP_FAILED);
    uint32_t *words = make_words(0);
    for (int i = 0; i < MUTANTS; i++) {
        uint64_t name = (uintptr_t) "add";
        const cxr_fat_binary *fat = &mutant->image.wrapper;
        code_build(&mutant->image, CODE_HEAD CODE_ADD);
        for (int change = 0; change < 2; change++) {
            state ^= state << 13, state ^= state >> 17, state ^= state << 5;
            uint32_t bit = state / 256 % 64, which = state % 16;
            unsigned char *const targets[] = {(unsigned char *)&name,
                                              (unsigned char *)&mutant->image.wrapper.magic,
                                              (unsigned char *)&mutant->image.wrapper.data,
                                              (unsigned char *)&mutant->image.wrapper.linked};
            unsigned char *target = which < 4 ? targets[which]
                                              : mutant->image.bytes + (which - 4) % 8 * 8;
            if (which < 4 && (int)bit < FIRST_POINTER_BIT)
                bit = FIRST_POINTER_BIT;
            target[bit / 8] ^= (unsigned char)(1 << bit % 8);
        }
        mutant->binary = __cudaRegisterFatBinary(fat);
        __cudaRegisterFunction(mutant->binary, &mutant->stub, NULL, (const char *)(uintptr_t)name,
                               -1, NULL, NULL, NULL, NULL, NULL);
        refused += code_launch_add(mutant, words, 1, NULL) != CXR_SUCCESS;
        __cudaUnregisterFatBinary(mutant->binary);
    }
    ck_assert_uint_gt(refused, MUTANTS / 4);
    ck_assert_uint_lt(refused, MUTANTS);
    assert_ok(cudaFree(words));
    munmap(mutant, ROOM);
}
END_TEST

START_TEST(names_that_the_code_lacks_are_errors_of_their_use)
{
    char stub, shadow;
    void *address;
    cxr_dim3 one = {1, 1, 1};
    code_add_register(&adds);
    __cudaRegisterFunction(adds.binary, &stub, NULL, "subtract", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterVar(adds.binary, &shadow, NULL, "nothing", 0, 4, 0, 0);
    assert_error(cudaLaunchKernel(&stub, one, one, NULL, 0, NULL), CXR_INVALID_DEVICE_FUNCTION);
    assert_error(cudaGetSymbolAddress(&address, &shadow), CXR_INVALID_SYMBOL);
    __cudaUnregisterFatBinary(adds.binary);
}
END_TEST

START_TEST(a_binary_that_is_not_registered_is_ignored)
{
    code_image *other = calloc(1, sizeof *other);
    cxr_dim3 one = {1, 1, 1};
    char stub;
    code_add_register(&adds);
    void **gone = adds.binary;
    __cudaUnregisterFatBinary(gone);
    __cudaUnregisterFatBinary(gone);
    __cudaRegisterFunction(gone, &stub, NULL, "add", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(NULL, &stub, NULL, "add", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterVar(gone, &stub, NULL, "add", 0, 4, 0, 0);
    __cudaUnregisterFatBinary(NULL);
    __cudaUnregisterFatBinary((void **)(void *)other);
    ck_assert_int_eq(__cudaInitModule(gone), 0);
    assert_error(cudaLaunchKernel(&stub, one, one, NULL, 0, NULL), CXR_INVALID_DEVICE_FUNCTION);
    code_add_register(&adds);
    uint32_t *words = make_words(1);
    assert_ok(code_launch_add(&adds, words, 1, NULL));
    assert_words(words, 2);
    assert_ok(cudaFree(words));
    __cudaUnregisterFatBinary(adds.binary);
    free(other);
}
END_TEST

static Suite *register_suite(void)
{
    Suite *suite = suite_create("register");
    TCase *tcase = tcase_create("code");
    tcase_add_checked_fixture(tcase, start_with_gpus, NULL);
    tcase_add_test(tcase, a_kernel_is_launched_by_its_stub);
    tcase_add_test(tcase, a_kernel_is_launched_by_its_handle);
    tcase_add_test(tcase, kernels_of_all_devices_are_launched_by_one_stub);
    tcase_add_test(tcase, registration_may_come_between_calls_and_the_same_names_in_two_binaries);
    tcase_add_test(tcase, launch_configurations_nest);
    tcase_add_test(tcase, configurations_that_no_device_has_are_refused_by_name);
    tcase_add_test(tcase, symbols_have_a_place_and_a_size_on_each_device);
    tcase_add_test(tcase, a_symbol_has_no_byte_behind_its_last_one);
    tcase_add_test(tcase, managed_and_constant_variables_are_what_kernels_see);
    tcase_add_test(tcase, unknown_stubs_are_no_device_functions);
    tcase_add_test(tcase, bad_fat_binaries_are_errors_of_their_use);
    tcase_add_test(tcase, code_beyond_its_memory_is_an_error_of_its_use);
    tcase_add_test(tcase, code_on_the_heap_is_loaded);
    tcase_add_test(tcase, names_and_pointers_beyond_memory_are_errors_of_their_use);
    tcase_add_test(tcase, mutants_of_registered_code_are_loaded_or_refused);
    tcase_add_test(tcase, names_that_the_code_lacks_are_errors_of_their_use);
    tcase_add_test(tcase, a_binary_that_is_not_registered_is_ignored);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(register_suite);
