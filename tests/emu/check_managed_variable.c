/* Managed variables of modules and libraries. */
#include "work_fixture.h"

/* look(out): the word `shared`; tell(out): the words of `shared`, `plain`, what `to_shared` and
 * `to_plain` point at, and the constant; add(by): adds to `shared`. */
static const char text[] =
    ".version 6.4\n.target sm_50\n.address_size 64\n"
    ".visible .global .align 4 .u32 plain = 42;\n"
    ".visible .const .align 4 .u32 fixed = 9;\n"
    ".visible .global .attribute(.managed) .align 4 .u32 first = 5;\n"
    ".visible .global .attribute(.managed) .align 4 .u32 shared = 11;\n"
    ".visible .global .align 8 .u64 to_shared = generic(shared);\n"
    ".visible .global .attribute(.managed) .align 8 .u64 to_plain = generic(plain);\n"
    ".visible .entry look(.param .u64 out) {\n"
    ".reg .u64 %p; .reg .u32 %r; ld.param.u64 %p, [out];\n"
    "ld.global.u32 %r, [shared]; st.global.u32 [%p], %r; ret; }\n"
    ".visible .entry tell(.param .u64 out) {\n"
    ".reg .u64 %p<3>; .reg .u32 %r;\n"
    "ld.param.u64 %p0, [out];\n"
    "ld.global.u32 %r, [shared]; st.global.u32 [%p0], %r;\n"
    "ld.global.u32 %r, [plain]; st.global.u32 [%p0+4], %r;\n"
    "ld.global.u64 %p1, [to_shared]; ld.u32 %r, [%p1]; st.global.u32 [%p0+8], %r;\n"
    "mov.u64 %p1, to_plain; ld.u64 %p1, [%p1]; ld.u32 %r, [%p1]; st.global.u32 [%p0+12], %r;\n"
    "ld.const.u32 %r, [fixed]; st.global.u32 [%p0+16], %r; ret; }\n"
    ".visible .entry add(.param .u32 by) {\n"
    ".reg .u64 %p; .reg .u32 %r;\n"
    "ld.param.u32 %r, [by]; mov.u64 %p, shared; red.global.add.u32 [%p], %r; ret; }\n";

static CUlibrary load_library(void)
{
    CUlibrary library;

    ck_success(cx_emu_call_library_load_data(&library, text, NULL, NULL, 0, NULL, NULL, 0));
    return library;
}

static volatile uint32_t *shared_of(CUlibrary library)
{
    CUdeviceptr address;
    size_t bytes;

    ck_success(cx_emu_call_library_get_managed(&address, &bytes, library, "shared"));
    ck_assert_uint_eq(bytes, 4);
    return (volatile uint32_t *)(uintptr_t)address;
}

static void tell(CUfunction function, uint32_t out[5])
{
    CUdeviceptr at;
    void *parameters[] = {&at};

    ck_success(cx_emu_call_mem_alloc(&at, 20));
    ck_success(cx_emu_call_launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    ck_success(cx_emu_call_memcpy_dtoh(out, at, 20));
    ck_success(cx_emu_call_mem_free(at));
}

static CUfunction kernel_of(CUlibrary library, const char *name)
{
    CUkernel kernel;

    ck_success(cx_emu_call_library_get_kernel(&kernel, library, name));
    return (CUfunction)(void *)kernel;
}

static cxu_result add(CUfunction function, uint32_t by, CUstream stream)
{
    void *parameters[] = {&by};

    return cx_emu_call_launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL);
}

START_TEST(managed_variables_of_a_library_are_one_memory_on_all_devices)
{
    CUlibrary library = load_library();
    volatile uint32_t *shared = shared_of(library);
    CUcontext there;
    uint32_t found[5];

    ck_assert_uint_eq(*shared, 11);
    *shared = 12;
    tell(kernel_of(library, "look"), found);
    ck_assert_uint_eq(found[0], 12);
    ck_success(cx_emu_call_ctx_create_v2(&there, 0, 1));
    tell(kernel_of(library, "look"), found);
    ck_assert_uint_eq(found[0], 12);
    ck_assert(shared_of(library) == shared);
    ck_success(add(kernel_of(library, "add"), 3, NULL));
    ck_success(cx_emu_call_ctx_synchronize());
    ck_assert_uint_eq(*shared, 15);
    ck_success(cx_emu_call_ctx_destroy(there));
    tell(kernel_of(library, "look"), found);
    ck_assert_uint_eq(found[0], 15);
    ck_success(cx_emu_call_library_unload(library));
}
END_TEST

START_TEST(variables_know_each_other_s_addresses)
{
    CUlibrary library = load_library();
    uint32_t found[5];

    tell(kernel_of(library, "tell"), found);
    for (int i = 0; i < 5; i++)
        ck_assert_uint_eq(found[i], ((const uint32_t[]){11, 42, 11, 42, 9})[i]);
    ck_success(cx_emu_call_library_unload(library));
}
END_TEST

START_TEST(a_variable_beside_a_managed_one_is_not_managed)
{
    CUmodule module;
    CUdeviceptr plain, shared, first;
    unsigned int managed = 7;
    void *host;

    ck_success(cx_emu_call_module_load_data(&module, text));
    ck_success(cx_emu_call_module_get_global(&plain, NULL, module, "plain"));
    ck_success(cx_emu_call_module_get_global(&shared, NULL, module, "shared"));
    ck_success(cx_emu_call_module_get_global(&first, NULL, module, "first"));
    ck_success(cx_emu_call_pointer_get_attribute(&managed, CXU_POINTER_IS_MANAGED, plain));
    ck_assert_uint_eq(managed, 0);
    ck_result(cx_emu_call_pointer_get_attribute(&host, CXU_POINTER_HOST_POINTER, plain),
              INVALID_VALUE);
    ck_success(cx_emu_call_pointer_get_attribute(&managed, CXU_POINTER_IS_MANAGED, shared));
    ck_assert_uint_eq(managed, 1);
    ck_assert_uint_eq(shared, first + 4);
    ck_assert_uint_eq(*(volatile uint32_t *)(uintptr_t)first, 5);
    ck_result(cx_emu_call_mem_free(first), INVALID_VALUE);
    ck_success(cx_emu_call_module_unload(module));
    ck_result(cx_emu_call_pointer_get_attribute(&managed, CXU_POINTER_IS_MANAGED, shared),
              INVALID_VALUE);
}
END_TEST

START_TEST(each_module_has_managed_variables_of_its_own)
{
    CUmodule modules[2];
    CUdeviceptr shared[2];

    for (int i = 0; i < 2; i++) {
        ck_success(cx_emu_call_module_load_data(&modules[i], text));
        ck_success(cx_emu_call_module_get_global(&shared[i], NULL, modules[i], "shared"));
        *(volatile uint32_t *)(uintptr_t)shared[i] += (uint32_t)i + 1;
    }
    ck_assert_uint_eq(*(volatile uint32_t *)(uintptr_t)shared[0], 12);
    ck_assert_uint_eq(*(volatile uint32_t *)(uintptr_t)shared[1], 13);
    for (int i = 0; i < 2; i++)
        ck_success(cx_emu_call_module_unload(modules[i]));
}
END_TEST

START_TEST(work_keeps_managed_variables_and_gives_them_back)
{
    size_t before, after, total;
    stream_gate gate = GATE_CLOSED;
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);

    ck_success(cx_emu_call_mem_get_info(&before, &total));
    CUlibrary library = load_library();
    CUfunction adds = kernel_of(library, "add");
    gate_put(&gate, stream);
    ck_success(add(adds, 1, stream));
    gate_wait_entered(&gate);
    ck_success(cx_emu_call_library_unload(library));
    ck_result(add(adds, 1, stream), INVALID_HANDLE);
    gate_open(&gate);
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_success(cx_emu_call_mem_get_info(&after, &total));
    ck_assert_uint_eq(before, after);
}
END_TEST

static Suite *managed_variable_suite(void)
{
    Suite *suite = suite_create("managed variables");
    TCase *tcase = tcase_create("managed variables");

    tcase_add_checked_fixture(tcase, work_setup, work_teardown);
    tcase_add_test(tcase, managed_variables_of_a_library_are_one_memory_on_all_devices);
    tcase_add_test(tcase, variables_know_each_other_s_addresses);
    tcase_add_test(tcase, a_variable_beside_a_managed_one_is_not_managed);
    tcase_add_test(tcase, each_module_has_managed_variables_of_its_own);
    tcase_add_test(tcase, work_keeps_managed_variables_and_gives_them_back);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(managed_variable_suite);
