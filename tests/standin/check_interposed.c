/* The stand-in in front of a libcuda that is not ours: what reaches it, and how. */
#include "driver/table.h"
#include "fake.h"
#include "other.h"
#include "test.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*proc_address_v1)(const char *name, void **out_function, int version, uint64_t flags);
typedef int (*proc_address_v2)(const char *name, void **out_function, int version, uint64_t flags,
                               int *out_status);
typedef int (*on_handle)(void *handle);
typedef int (*on_pointer)(void **out_handle);
typedef int (*on_flags)(unsigned int flags);
typedef int (*on_version)(int *out_version);
typedef int (*of_number)(int number);
typedef int (*of_later)(void *handle, int more);
typedef int (*many)(long a, long b, long c, long d, long e, long f, double g, double h, double i,
                    double j, double k, double l, double m, double n, double o, long p,
                    const char *q);

enum { PER_THREAD = 2 };

static void *front, *behind;
static const char *(*called)(void);

static const char *path_of(const char *file)
{
    static char path[512];
    const char *top = getenv("top_builddir");
    snprintf(path, sizeof path, "%s/%s", top != NULL ? top : ".", file);
    return path;
}

/* Each test has a process of its own, in which the stand-in chooses its driver once. */
static void open_front(const char *file, const char *set)
{
    char stand_in[64];
    ck_assert_int_eq(setenv("CTXRT_STANDIN_LIBCUDA", path_of(file), 1), 0);
    behind = dlopen(path_of(file), RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(behind != NULL, "%s", dlerror());
    snprintf(stand_in, sizeof stand_in, "lib/shim/%s/.libs/libcuda.so.1", set);
    front = dlopen(path_of(stand_in), RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(front != NULL, "%s", dlerror());
}

static const char *const sets[] = {"cuda-12", "cuda-13"};

static void open_other(int set)
{
    open_front("tests/standin/.libs/other.so", sets[set]);
    *(void **)&called = dlsym(behind, "other_called");
    ck_assert_ptr_nonnull(called);
}

/* Functions of a type: of the stand-in by symbol, and as cuGetProcAddress gives them. */
#define FIND(type, name) (*(type *)&(void *){dlsym(front, name)})
#define GIVEN(type, name, version, flags) (*(type *)&(void *){given(name, version, flags)})

static void *given(const char *name, int version, uint64_t flags)
{
    void *function = NULL;
    int status = -1;
    ck_assert_int_eq(
        FIND(proc_address_v2, "cuGetProcAddress_v2")(name, &function, version, flags, &status), 0);
    ck_assert_int_eq(status, function != NULL ? 0 : OTHER_STATUS);
    return function;
}

/* ---- rows ---- */

/* The test double returns a mark of the row and takes no argument. */
START_TEST(every_row_reaches_the_library_behind)
{
    open_front("tests/driver/.libs/fake_whole.so", "cuda-13");
    for (int slot = 0; slot < CX_SLOT_COUNT; slot++) {
        typedef int (*with_zeroes)(long, long, long, long, long, long, long, long, long, long);
        const char *symbol = cx_symbols[slot].symbol;
        if (slot == CX_SLOT_init || slot == CX_SLOT_driver_get_version ||
            slot == CX_SLOT_device_get_count || slot == CX_SLOT_get_error_name ||
            slot == CX_SLOT_get_error_string)
            continue;
        int result = FIND(with_zeroes, symbol)(0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
        ck_assert_msg(result == BY_SYMBOL + slot, "%s gave %d", symbol, result);
    }
}
END_TEST

START_TEST(the_answers_are_those_of_the_library)
{
    open_other(_i);
    int version = 0, device = -1;
    typedef int (*get_device)(int *out_device, int ordinal);
    ck_assert_int_eq(FIND(on_version, "cuDriverGetVersion")(&version), 0);
    ck_assert_int_eq(version, OTHER_VERSION);
    ck_assert_int_eq(FIND(on_flags, "cuInit")(1), CXU_INVALID_VALUE);
    ck_assert_int_eq(FIND(on_flags, "cuInit")(0), 0);
    ck_assert_str_eq(called(), "cuInit");
    ck_assert_int_eq(FIND(get_device, "cuDeviceGet")(&device, 0), 0);
    ck_assert_int_eq(device, 0);
    ck_assert_int_eq(FIND(get_device, "cuDeviceGet")(&device, 1), CXU_INVALID_DEVICE);
}
END_TEST

START_TEST(each_symbol_of_a_call_reaches_its_own_one)
{
    open_other(_i);
    void *context = NULL;
    ck_assert_int_eq(FIND(on_pointer, "cuCtxPopCurrent_v2")(&context), CXU_INVALID_CONTEXT);
    ck_assert_str_eq(called(), "cuCtxPopCurrent_v2");
    ck_assert_int_eq(FIND(on_pointer, "cuCtxPopCurrent")(&context), CXU_INVALID_CONTEXT);
    ck_assert_str_eq(called(), "cuCtxPopCurrent");
    ck_assert_int_eq(FIND(on_handle, "cuStreamQuery_ptsz")(NULL), 0);
    ck_assert_str_eq(called(), "cuStreamQuery_ptsz");
    ck_assert_int_eq(FIND(on_handle, "cuStreamQuery")(&context), CXU_INVALID_HANDLE);
    ck_assert_str_eq(called(), "cuStreamQuery");
}
END_TEST

START_TEST(a_call_that_the_library_lacks_is_not_supported)
{
    open_other(_i);
    ck_assert_int_eq(FIND(on_handle, "cuCtxDestroy_v2")(NULL), CXU_NOT_SUPPORTED);
    ck_assert_int_eq(FIND(on_handle, "cuCtxPushCurrent")(NULL), CXU_NOT_SUPPORTED);
    ck_assert_int_eq(FIND(on_handle, "cuTexRefCreate")(NULL), CXU_NOT_SUPPORTED);
}
END_TEST

/* ---- calls without a row ---- */

START_TEST(a_call_without_a_row_passes_with_all_its_arguments)
{
    open_other(_i);
    many call = FIND(many, "cuGraphicsResourceGetMappedMipmappedArray");
    for (int i = 0; i < 2; i++) /* the first one chooses the driver */
        ck_assert_int_eq(
            call(1, 2, 3, 4, 5, 6, .5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9, "last"),
            OTHER_WHOLE);
    ck_assert_str_eq(called(), "cuGraphicsResourceGetMappedMipmappedArray");
}
END_TEST

START_TEST(the_export_table_is_the_librarys_and_is_not_looked_at)
{
    open_other(_i);
    const void *table = NULL;
    typedef int (*get_table)(const void **out_table, const void *id);
    ck_assert_int_eq(FIND(get_table, "cuGetExportTable")(&table, called), OTHER_WHOLE);
    ck_assert(table == (const void *)called);
}
END_TEST

/* ---- by name ---- */

START_TEST(a_name_with_a_row_gives_the_export)
{
    open_other(_i);
    ck_assert_ptr_eq(given("cuCtxPopCurrent", 4000, 0), dlsym(front, "cuCtxPopCurrent_v2"));
    ck_assert_ptr_eq(given("cuCtxPopCurrent", 3020, 0), dlsym(front, "cuCtxPopCurrent"));
    ck_assert_ptr_eq(given("cuStreamQuery", 12000, 0), dlsym(front, "cuStreamQuery"));
    ck_assert_ptr_eq(given("cuStreamQuery", 12000, PER_THREAD), dlsym(front, "cuStreamQuery_ptsz"));
    ck_assert_ptr_eq(given("cuGetProcAddress", 12000, 0), dlsym(front, "cuGetProcAddress_v2"));
    ck_assert_ptr_eq(given("cuGetProcAddress", 11080, 0), dlsym(front, "cuGetProcAddress"));
    void *function = NULL;
    proc_address_v1 ask = FIND(proc_address_v1, "cuGetProcAddress");
    ck_assert_int_eq(ask("cuCtxPopCurrent", &function, 12000, 0), 0);
    ck_assert_ptr_eq(function, dlsym(front, "cuCtxPopCurrent_v2"));
}
END_TEST

START_TEST(other_names_and_later_versions_give_the_librarys_own)
{
    open_other(_i);
    ck_assert_int_eq(GIVEN(of_later, "cuStreamQuery", 12030, 0)(NULL, 5), 5);
    ck_assert_str_eq(called(), "query_later");
    ck_assert_int_eq(GIVEN(of_number, "cuOfTomorrow", 12040, 0)(21), 42);
    ck_assert_ptr_eq(given("cuGraphicsResourceGetMappedMipmappedArray", 12000, 0),
                     dlsym(behind, "cuGraphicsResourceGetMappedMipmappedArray"));
    ck_assert_ptr_null(given("cuNoSuchCall", 12000, 0));
    void *function = &function;
    ck_assert_int_eq(FIND(proc_address_v1, "cuGetProcAddress")("cuNoSuchCall", &function, 12000, 0),
                     CXU_NOT_FOUND);
    ck_assert_ptr_null(function);
}
END_TEST

/* The test double gives other functions by name than by symbol: those of the symbols are called. */
START_TEST(every_name_gives_the_export_of_its_version)
{
    open_front("tests/driver/.libs/fake_whole.so", "cuda-13");
    for (int slot = 0; slot < CX_SLOT_COUNT; slot++) {
        void *function = NULL;
        int status = -1;
        const cx_symbol *row = &cx_symbols[slot];
        ck_assert_int_eq(FIND(proc_address_v2, "cuGetProcAddress_v2")(row->name, &function,
                                                                      row->since, 1, &status),
                         0);
        ck_assert_msg(function == dlsym(front, row->symbol), "%s of %d is not %s", row->name,
                      row->since, row->symbol);
    }
}
END_TEST

/* ---- no library ---- */

static void assert_no_driver(const char *path)
{
    int version = 0;
    void *context = NULL;
    ck_assert_int_eq(setenv("CTXRT_STANDIN_LIBCUDA", path, 1), 0);
    front = dlopen(path_of("lib/shim/cuda-12/.libs/libcuda.so.1"), RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(front != NULL, "%s", dlerror());
    ck_assert_int_eq(FIND(on_flags, "cuInit")(0), CXU_SYSTEM_NOT_READY);
    ck_assert_int_eq(FIND(on_version, "cuDriverGetVersion")(&version), CXU_SYSTEM_NOT_READY);
    ck_assert_int_eq(FIND(on_pointer, "cuCtxGetCurrent")(&context), CXU_NOT_INITIALIZED);
    ck_assert_int_eq(FIND(on_pointer, "cuTexRefCreate")(&context), CXU_NOT_INITIALIZED);
}

START_TEST(without_a_library_there_is_no_driver)
{
    assert_no_driver("/nowhere/libcuda.so.1");
}
END_TEST

START_TEST(the_stand_in_is_not_behind_itself)
{
    assert_no_driver(path_of("lib/shim/cuda-12/.libs/libcuda.so.1"));
}
END_TEST

START_TEST(a_library_without_a_driver_is_refused)
{
    void *function = (void *)dlsym;
    Dl_info info;
    ck_assert_int_ne(dladdr(function, &info), 0);
    assert_no_driver(info.dli_fname);
}
END_TEST

static Suite *interposed_suite(void)
{
    const int count = (int)(sizeof sets / sizeof sets[0]);
    Suite *suite = suite_create("interposed");
    TCase *rows = tcase_create("rows");
    tcase_add_test(rows, every_row_reaches_the_library_behind);
    tcase_add_loop_test(rows, the_answers_are_those_of_the_library, 0, count);
    tcase_add_loop_test(rows, each_symbol_of_a_call_reaches_its_own_one, 0, count);
    tcase_add_loop_test(rows, a_call_that_the_library_lacks_is_not_supported, 0, count);
    suite_add_tcase(suite, rows);
    TCase *others = tcase_create("calls without a row");
    tcase_add_loop_test(others, a_call_without_a_row_passes_with_all_its_arguments, 0, count);
    tcase_add_loop_test(others, the_export_table_is_the_librarys_and_is_not_looked_at, 0, count);
    suite_add_tcase(suite, others);
    TCase *names = tcase_create("by name");
    tcase_add_loop_test(names, a_name_with_a_row_gives_the_export, 0, count);
    tcase_add_loop_test(names, other_names_and_later_versions_give_the_librarys_own, 0, count);
    tcase_add_test(names, every_name_gives_the_export_of_its_version);
    suite_add_tcase(suite, names);
    TCase *none = tcase_create("no library");
    tcase_add_test(none, without_a_library_there_is_no_driver);
    tcase_add_test(none, the_stand_in_is_not_behind_itself);
    tcase_add_test(none, a_library_without_a_driver_is_refused);
    suite_add_tcase(suite, none);
    return suite;
}

CX_TESTS(interposed_suite);
