/* A client that opens libcuda.so.1 and finds its calls there, in both export sets. */
#include "driver/driver.h"
#include "test.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef cxu_result (*proc_address_v1)(const char *name, void **out_function, int version,
                                      uint64_t flags);
typedef cxu_result (*proc_address_v2)(const char *name, void **out_function, int version,
                                      uint64_t flags, int *out_status);

enum { LEGACY = 1, PER_THREAD = 2 };
enum { FOUND = 0, SYMBOL_NOT_FOUND = 1, VERSION_NOT_SUFFICIENT = 2 };

static const struct {
    const char *name;
    int version;
    int newest; /* what it exports is of this version at most */
} sets[] = {{"cuda-12", 12090, 12090}, {"cuda-13", 13000, 13020}};

static void *library;
static int version;
static proc_address_v1 ask_v1;
static proc_address_v2 ask;

static const char *path_of(int set)
{
    static char path[512];
    const char *top = getenv("top_builddir");
    snprintf(path, sizeof path, "%s/lib/shim/%s/.libs/libcuda.so.1", top != NULL ? top : ".",
             sets[set].name);
    return path;
}

/* Each test runs once for each set. */
static void open_set(int set)
{
    library = dlopen(path_of(set), RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library != NULL, "%s", dlerror());
    version = sets[set].version;
    *(void **)&ask_v1 = dlsym(library, "cuGetProcAddress");
    *(void **)&ask = dlsym(library, "cuGetProcAddress_v2");
    ck_assert(ask_v1 != NULL && ask != NULL);
}

static void assert_found(const char *name, int asked, uint64_t flags, const char *symbol)
{
    void *function = NULL;
    int status = -1;
    ck_assert_int_eq(ask(name, &function, asked, flags, &status), CXU_SUCCESS);
    ck_assert_int_eq(status, FOUND);
    ck_assert_msg(function != NULL && function == dlsym(library, symbol), "%s of %d is not %s",
                  name, asked, symbol);
}

START_TEST(every_row_is_given_at_its_own_version)
{
    open_set(_i);
    for (int slot = 0; slot < CX_SLOT_COUNT; slot++)
        if (cx_symbols[slot].since <= version)
            assert_found(cx_symbols[slot].name, cx_symbols[slot].since, LEGACY,
                         cx_symbols[slot].symbol);
}
END_TEST

START_TEST(the_newest_abi_not_newer_than_asked_is_given)
{
    open_set(_i);
    assert_found("cuCtxCreate", 3020, LEGACY, "cuCtxCreate_v2");
    assert_found("cuCtxCreate", 11030, LEGACY, "cuCtxCreate_v2");
    assert_found("cuCtxCreate", 11040, LEGACY, "cuCtxCreate_v3");
    assert_found("cuCtxCreate", version, LEGACY, "cuCtxCreate_v4");
    assert_found("cuMemAlloc", 2000, LEGACY, "cuMemAlloc");
    assert_found("cuMemAlloc", 12000, LEGACY, "cuMemAlloc_v2");
    assert_found("cuGetProcAddress", 11080, LEGACY, "cuGetProcAddress");
    assert_found("cuGetProcAddress", 12000, LEGACY, "cuGetProcAddress_v2");
    assert_found("cuModuleLoadData", 12000, LEGACY, "cuModuleLoadData");
}
END_TEST

START_TEST(the_flag_chooses_the_default_stream)
{
    open_set(_i);
    assert_found("cuMemcpyHtoD", 12000, 0, "cuMemcpyHtoD_v2");
    assert_found("cuMemcpyHtoD", 12000, LEGACY, "cuMemcpyHtoD_v2");
    assert_found("cuMemcpyHtoD", 12000, PER_THREAD, "cuMemcpyHtoD_v2_ptds");
    assert_found("cuMemcpyHtoD", 6000, PER_THREAD, "cuMemcpyHtoD_v2");
    assert_found("cuStreamSynchronize", 12000, PER_THREAD, "cuStreamSynchronize_ptsz");
    assert_found("cuStreamBeginCapture", 10000, PER_THREAD, "cuStreamBeginCapture_ptsz");
    assert_found("cuStreamBeginCapture", 12000, PER_THREAD, "cuStreamBeginCapture_v2_ptsz");
    assert_found("cuCtxPushCurrent", 12000, PER_THREAD, "cuCtxPushCurrent_v2");
}
END_TEST

START_TEST(a_name_that_is_not_there_is_told_by_the_status)
{
    open_set(_i);
    int status = -1;
    void *function = &status;
    ck_assert_int_eq(ask("cuNoSuchCall", &function, version, LEGACY, &status), CXU_SUCCESS);
    ck_assert_int_eq(status, SYMBOL_NOT_FOUND);
    ck_assert_ptr_null(function);
    function = &status;
    ck_assert_int_eq(ask("cuMemAllocAsync", &function, 11010, LEGACY, &status), CXU_SUCCESS);
    ck_assert_int_eq(status, VERSION_NOT_SUFFICIENT);
    ck_assert_ptr_null(function);
    ck_assert_int_eq(ask("cuMemAllocAsync", &function, 11020, LEGACY, NULL), CXU_SUCCESS);
    ck_assert_ptr_nonnull(function);
}
END_TEST

START_TEST(the_first_form_without_a_status_fails_instead)
{
    open_set(_i);
    void *function = NULL;
    ck_assert_int_eq(ask_v1("cuMemAlloc", &function, 11030, LEGACY), CXU_SUCCESS);
    ck_assert_ptr_eq(function, dlsym(library, "cuMemAlloc_v2"));
    ck_assert_int_eq(ask_v1("cuNoSuchCall", &function, 11030, LEGACY), CXU_NOT_FOUND);
    ck_assert_ptr_null(function);
}
END_TEST

START_TEST(a_wrong_question_is_an_invalid_value)
{
    open_set(_i);
    int status = -1;
    void *function = &status;
    ck_assert_int_eq(ask(NULL, &function, version, LEGACY, &status), CXU_INVALID_VALUE);
    ck_assert_int_eq(ask("cuInit", NULL, version, LEGACY, &status), CXU_INVALID_VALUE);
    ck_assert_int_eq(ask("cuInit", &function, version + 10, LEGACY, &status), CXU_INVALID_VALUE);
    ck_assert_int_eq(ask("cuInit", &function, version, LEGACY | PER_THREAD, &status),
                     CXU_INVALID_VALUE);
    ck_assert_int_eq(ask("cuInit", &function, version, 4, &status), CXU_INVALID_VALUE);
    ck_assert_ptr_eq(function, &status);
    ck_assert_int_eq(status, -1);
}
END_TEST

START_TEST(cuda_12_has_no_name_of_cuda_13)
{
    bool newer = sets[_i].version >= 13000;
    open_set(_i);
    ck_assert_int_eq(dlsym(library, "cuCtxGetDevice_v2") != NULL, newer);
    ck_assert_int_eq(dlsym(library, "cuCtxSynchronize_v2") != NULL, newer);
    assert_found("cuCtxGetDevice", version, LEGACY, newer ? "cuCtxGetDevice_v2" : "cuCtxGetDevice");
    assert_found("cuCtxGetDevice", 12000, LEGACY, "cuCtxGetDevice");
}
END_TEST

START_TEST(nothing_of_ours_is_exported)
{
    open_set(_i);
    ck_assert_ptr_null(dlsym(library, "cx_emu_table"));
    ck_assert_ptr_null(dlsym(library, "cx_shim_driver"));
    ck_assert_ptr_null(dlsym(library, "ctxrt_last_error"));
}
END_TEST

START_TEST(our_own_loader_takes_the_stand_in_for_a_driver)
{
    static cx_driver driver;
    ck_assert_msg(cx_driver_load(path_of(_i), &driver), "%s", driver.reason);
    ck_assert_int_eq(driver.version, sets[_i].version);
    ck_assert_int_eq(driver.device_count, 4);
    for (int slot = 0; slot < CX_SLOT_COUNT; slot++)
        ck_assert_msg(driver.missing[slot] == (cx_symbols[slot].since > sets[_i].newest), "%s",
                      cx_symbols[slot].symbol);

    CUcontext context, popped;
    CUdevice device;
    ck_assert_int_eq(CX_DRIVER_CALL(&driver, primary_retain, (&context, 3)), CTXRT_SUCCESS);
    ck_assert_int_eq(CX_DRIVER_CALL(&driver, ctx_push, (context)), CTXRT_SUCCESS);
    ck_assert_int_eq(CX_DRIVER_CALL(&driver, ctx_get_device, (&device)), CTXRT_SUCCESS);
    ck_assert_int_eq(device, 3);
    ck_assert_int_eq(CX_DRIVER_CALL(&driver, ctx_pop, (&popped)), CTXRT_SUCCESS);
    ck_assert_ptr_eq(popped, context);
    ck_assert_int_eq(CX_DRIVER_CALL(&driver, primary_release, (3)), CTXRT_SUCCESS);
}
END_TEST

/* ---- hooks ---- */

#define CX_EXPORT(name, suffix, ending, since) {#name #suffix #ending, since},
static const struct {
    const char *symbol;
    int since;
} all_exports[] = {
#include "shim/exports.def"
};

enum { PATCH_BYTES = 13 }; /* movabs $hook, %r11; jmp *%r11 */

#if defined(__x86_64__)
/* The length of an instruction that every hooking library can move; 0: it is none. */
static size_t movable_bytes(const unsigned char *code)
{
    static const unsigned char frame[] = {0x48, 0x89, 0xe5}; /* mov %rsp, %rbp */
    static const unsigned char room[] = {0x48, 0x81, 0xec};  /* sub $imm32, %rsp */

    if (code[0] >= 0x50 && code[0] <= 0x57) /* push */
        return 1;
    if (memcmp(code, frame, sizeof frame) == 0)
        return 3;
    return memcmp(code, room, sizeof room) == 0 ? 7 : 0;
}

START_TEST(the_first_bytes_of_each_export_can_be_moved)
{
    open_set(_i);
    for (size_t i = 0; i < sizeof all_exports / sizeof all_exports[0]; i++) {
        if (all_exports[i].since > version)
            continue;
        const unsigned char *code = dlsym(library, all_exports[i].symbol);
        ck_assert_msg(code != NULL, "%s", all_exports[i].symbol);
        for (size_t at = 0, bytes; at < PATCH_BYTES; at += bytes) {
            bytes = movable_bytes(code + at);
            ck_assert_msg(bytes != 0, "%s at %zu", all_exports[i].symbol, at);
        }
    }
}
END_TEST

static cxu_result (*original)(CUdevice *out_device, int ordinal);
static int hooked;

static cxu_result hook(CUdevice *out_device, int ordinal)
{
    hooked++;
    return original(out_device, ordinal);
}

static void write_jump(unsigned char *at, const void *to)
{
    static const unsigned char load[] = {0x49, 0xbb}, jump[] = {0x41, 0xff, 0xe3};
    memcpy(at, load, sizeof load);
    memcpy(at + sizeof load, &to, sizeof to);
    memcpy(at + sizeof load + sizeof to, jump, sizeof jump);
}

/* As hooking libraries do it: the first bytes move, with a jump behind them to the rest. */
static void patch(unsigned char *code)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *moved =
        mmap(NULL, page, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(moved, MAP_FAILED);
    memcpy(moved, code, PATCH_BYTES);
    write_jump(moved + PATCH_BYTES, code + PATCH_BYTES);
    *(void **)&original = moved;
    unsigned char *first = code - (uintptr_t)code % page;
    ck_assert_int_eq(mprotect(first, 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
    write_jump(code, *(void *const *)&(cxu_result(*)(CUdevice *, int)){hook});
}

START_TEST(a_hooked_export_still_does_its_work)
{
    CUdevice device = -1;
    cxu_result (*init)(unsigned int), (*get)(CUdevice *, int);
    open_set(_i);
    *(void **)&init = dlsym(library, "cuInit");
    *(void **)&get = dlsym(library, "cuDeviceGet");
    patch(dlsym(library, "cuDeviceGet"));
    ck_assert_int_eq(init(0), CXU_SUCCESS);
    ck_assert_int_eq(get(&device, 2), CXU_SUCCESS);
    ck_assert_int_eq(device, 2);
    ck_assert_int_eq(get(&device, 99), CXU_INVALID_DEVICE);
    ck_assert_int_eq(hooked, 2);
}
END_TEST
#endif

static Suite *address_suite(void)
{
    Suite *suite = suite_create("address");
    TCase *tests = tcase_create("address");
    tcase_add_loop_test(tests, every_row_is_given_at_its_own_version, 0, 2);
    tcase_add_loop_test(tests, the_newest_abi_not_newer_than_asked_is_given, 0, 2);
    tcase_add_loop_test(tests, the_flag_chooses_the_default_stream, 0, 2);
    tcase_add_loop_test(tests, a_name_that_is_not_there_is_told_by_the_status, 0, 2);
    tcase_add_loop_test(tests, the_first_form_without_a_status_fails_instead, 0, 2);
    tcase_add_loop_test(tests, a_wrong_question_is_an_invalid_value, 0, 2);
    tcase_add_loop_test(tests, cuda_12_has_no_name_of_cuda_13, 0, 2);
    tcase_add_loop_test(tests, nothing_of_ours_is_exported, 0, 2);
    tcase_add_loop_test(tests, our_own_loader_takes_the_stand_in_for_a_driver, 0, 2);
#if defined(__x86_64__)
    tcase_add_loop_test(tests, the_first_bytes_of_each_export_can_be_moved, 0, 2);
    tcase_add_loop_test(tests, a_hooked_export_still_does_its_work, 0, 2);
#endif
    suite_add_tcase(suite, tests);
    return suite;
}

CX_TESTS(address_suite);
