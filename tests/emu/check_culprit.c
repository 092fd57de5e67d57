/* Texts for failures of kernels: the memory that lies nearest to an address. */
#include "work_fixture.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* access(at, how): reads, writes or adds 4 bytes, or writes 8, or 4 of other memory. */
static const char code[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .global .align 4 .b32 first[4];\n"
    ".visible .global .align 4 .b32 last[16];\n"
    ".visible .const .align 4 .b32 table[8] = {1};\n"
    ".visible .entry access(.param .u64 at, .param .u32 how)\n"
    "{\n"
    ".reg .pred %p;\n"
    ".reg .b32 %r<4>;\n"
    ".reg .b64 %d<4>;\n"
    ".shared .align 4 .b8 room[100];\n"
    ".local .align 4 .b8 own[64];\n"
    "ld.param.u64 %d1, [at];\n"
    "ld.param.u32 %r1, [how];\n"
    "cvt.u32.u64 %r2, %d1;\n"
    "mov.u32 %r3, room;\n"
    "add.u32 %r3, %r3, %r2;\n"
    ".loc 1 40 1\n"
    "setp.eq.u32 %p, %r1, 0;\n"
    "@%p ld.global.u32 %r2, [%d1];\n"
    "setp.eq.u32 %p, %r1, 1;\n"
    "@%p st.global.u32 [%d1], %r2;\n"
    "setp.eq.u32 %p, %r1, 2;\n"
    "@%p atom.global.add.u32 %r2, [%d1], 1;\n"
    "setp.eq.u32 %p, %r1, 3;\n"
    "@%p st.u64 [%d1], %d1;\n"
    "setp.eq.u32 %p, %r1, 4;\n"
    "@%p st.shared.u32 [%r3], %r2;\n"
    "setp.eq.u32 %p, %r1, 5;\n"
    "@%p ld.local.u32 %r2, [%r2];\n"
    "ret;\n"
    "}\n"
    ".file 1 \"/src/access.cu\"\n";

enum { READ, WRITE, ADD, WRITE_LONG, WRITE_SHARED, READ_LOCAL };

static char said[512];
static CUmodule module;

static void setup(void)
{
    work_setup();
    ck_success(cx_emu_call_module_load_data(&module, code));
}

static void access_memory(CUdeviceptr at, uint32_t how, cxu_result expected)
{
    CUfunction function;
    void *parameters[] = {&at, &how};

    ck_success(cx_emu_call_module_get_function(&function, module, "access"));
    ck_success(cx_emu_call_launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    ck_assert_int_eq(cx_emu_call_ctx_synchronize(), expected);
    ck_assert(cx_emu_explain(expected, said, sizeof said));
}

__attribute__((format(printf, 1, 2))) static void ck_ends(const char *format, ...)
{
    char expected[400];
    va_list arguments;
    size_t length;

    va_start(arguments, format);
    vsnprintf(expected, sizeof expected, format, arguments);
    va_end(arguments);
    length = strlen(expected);
    ck_assert_msg(strlen(said) >= length &&
                      strcmp(said + strlen(said) - length, expected) == 0,
                  "'%s' does not end with '%s'", said, expected);
}

START_TEST(the_text_names_kernel_lines_and_thread)
{
    access_memory(0x40, READ, CXU_ILLEGAL_ADDRESS);
    ck_assert_str_eq(said, "earlier work failed with it: kernel access, line 21 of its PTX, "
                           "/src/access.cu:40, block (0, 0, 0), thread (0, 0, 0), address 0x40: "
                           "a read of 4 bytes through a null pointer");
}
END_TEST

/* Offsets from the beginning of 256 bytes. */
static const struct {
    int64_t offset;
    uint32_t how;
    const char *text;
} around[] = {
    {256, READ, "a read of 4 bytes, right behind the end of an allocation of 256 bytes"},
    {260, WRITE, "a write of 4 bytes, 4 bytes behind the end of an allocation of 256 bytes"},
    {-8, ADD, "an atomic operation on 4 bytes, 8 bytes before an allocation of 256 bytes"},
};

START_TEST(an_address_outside_names_the_nearest_allocation)
{
    CUdeviceptr at = make_memory(256);

    access_memory(at + (uint64_t)around[_i].offset, around[_i].how, CXU_ILLEGAL_ADDRESS);
    ck_ends("%s (cuMemAlloc, at %#llx)", around[_i].text, at);
}
END_TEST

START_TEST(an_access_that_runs_over_the_end_says_by_how_much)
{
    CUdeviceptr at = make_memory(1020);

    access_memory(at + 1016, WRITE_LONG, CXU_ILLEGAL_ADDRESS);
    ck_ends(": a write of 8 bytes, running 4 bytes over the end of an allocation of 1020 bytes "
            "(cuMemAlloc, at %#llx)",
            at);
}
END_TEST

START_TEST(freed_memory_is_named)
{
    CUdeviceptr at = make_memory(4096);

    ck_success(cx_emu_call_mem_free(at));
    access_memory(at + 100, WRITE, CXU_ILLEGAL_ADDRESS);
    ck_ends(": a write of 4 bytes in an allocation of 4096 bytes (cuMemAlloc, at %#llx), which "
            "was freed",
            at);
}
END_TEST

START_TEST(memory_that_the_context_does_not_reach_is_named)
{
    CUcontext other;
    CUdeviceptr at;

    ck_success(cx_emu_call_ctx_create_v4(&other, NULL, 0, 1));
    at = make_memory(512);
    ck_success(cx_emu_call_ctx_set_current(work_context));
    access_memory(at, READ, CXU_ILLEGAL_ADDRESS);
    ck_ends(": a read of 4 bytes in an allocation of 512 bytes (cuMemAlloc, at %#llx) of device 1, "
            "which the context on device 0 has no access to",
            at);
}
END_TEST

START_TEST(a_misaligned_address_says_so)
{
    access_memory(make_memory(256) + 2, WRITE, CXU_MISALIGNED_ADDRESS);
    ck_ends(": a write of 4 bytes, which is not aligned for it");
}
END_TEST

START_TEST(the_call_that_allocated_is_named)
{
    CUdeviceptr managed;

    ck_success(cx_emu_call_mem_alloc_managed(&managed, 1000, CXU_MEM_ATTACH_GLOBAL));
    access_memory(managed + 1000, WRITE, CXU_ILLEGAL_ADDRESS);
    ck_ends(": a write of 4 bytes, right behind the end of an allocation of 1000 bytes "
            "(cuMemAllocManaged, at %#llx)",
            managed);
}
END_TEST

START_TEST(a_constant_is_named)
{
    CUdeviceptr at;
    size_t bytes;

    ck_success(cx_emu_call_module_get_global(&at, &bytes, module, "table"));
    access_memory(at + 4, WRITE, CXU_ILLEGAL_ADDRESS);
    ck_ends(": a write of 4 bytes in the variable 'table' of 32 bytes, which is constant");
}
END_TEST

START_TEST(memory_behind_the_last_variable_is_named)
{
    static const char *const names[] = {"first", "last", "table"};
    CUdeviceptr at, end = 0;
    const char *name = NULL;
    size_t bytes, size = 0;

    for (int i = 0; i < 3; i++) {
        ck_success(cx_emu_call_module_get_global(&at, &bytes, module, names[i]));
        if (at + bytes > end) {
            end = at + bytes;
            size = bytes;
            name = names[i];
        }
    }
    access_memory(end + 512, READ, CXU_ILLEGAL_ADDRESS);
    ck_ends(": a read of 4 bytes, 512 bytes behind the end of the variable '%s' of %zu bytes", name,
            size);
}
END_TEST

START_TEST(shared_and_local_memory_have_their_sizes)
{
    if (_i) {
        access_memory(64, READ_LOCAL, CXU_ILLEGAL_ADDRESS);
        ck_ends(", address 0x40 of local memory: a read of 4 bytes, right behind the end of memory "
                "of 64 bytes");
    } else {
        access_memory(256, WRITE_SHARED, CXU_ILLEGAL_ADDRESS); /* GPUs allocate 256 bytes */
        ck_ends(", address 0x100 of shared memory: a write of 4 bytes, 144 bytes behind the end of "
                "memory of 112 bytes");
    }
}
END_TEST

static Suite *culprit_suite(void)
{
    Suite *suite = suite_create("culprit");
    TCase *all = tcase_create("all");

    tcase_add_checked_fixture(all, setup, NULL);
    tcase_add_test(all, the_text_names_kernel_lines_and_thread);
    tcase_add_loop_test(all, an_address_outside_names_the_nearest_allocation, 0,
                        sizeof around / sizeof around[0]);
    tcase_add_test(all, an_access_that_runs_over_the_end_says_by_how_much);
    tcase_add_test(all, freed_memory_is_named);
    tcase_add_test(all, memory_that_the_context_does_not_reach_is_named);
    tcase_add_test(all, a_misaligned_address_says_so);
    tcase_add_test(all, the_call_that_allocated_is_named);
    tcase_add_test(all, a_constant_is_named);
    tcase_add_test(all, memory_behind_the_last_variable_is_named);
    tcase_add_loop_test(all, shared_and_local_memory_have_their_sizes, 0, 2);
    suite_add_tcase(suite, all);
    return suite;
}

CX_TESTS(culprit_suite);
