/* Kernels that launch kernels: the device runtime's part for <<<>>> in a kernel. */
#include "work_fixture.h"

#include <string.h>

#define SIZES ".param .b64 f, .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s"
#define HEAD                                                                                    \
    ".version 8.6\n.target sm_80\n.address_size 64\n"                                           \
    ".extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(" SIZES ");\n"                \
    ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 p, .param .b64 s);\n"   \
    ".extern .func (.param .b32 r) __cudaCDP2GetLastError();\n"                                 \
    ".extern .func (.param .b32 r) __cudaCDP2PeekAtLastError();\n"

/* prepare(kernel, blocks, threads, shared bytes); launch(kernel, at, number, stream) in one thread:
 * the error, 1000: nothing was prepared. */
#define FUNCTIONS                                                                               \
    ".func (.param .b64 r) prepare(.param .b64 f, .param .b32 n, .param .b32 t, .param .b32 s)\n" \
    "{\n    .reg .b32 %x;\n    .reg .b64 %y;\n    .param .b64 f1;\n    .param .b32 s1;\n"        \
    "    .param .align 4 .b8 g[12];\n    .param .align 4 .b8 b[12];\n    .param .b64 p;\n"       \
    "    ld.param.u64 %y, [f];\n    st.param.b64 [f1], %y;\n"                                   \
    "    ld.param.u32 %x, [n];\n    st.param.b32 [g], %x;\n"                                    \
    "    st.param.b32 [g+4], 1;\n    st.param.b32 [g+8], 1;\n"                                  \
    "    ld.param.u32 %x, [t];\n    st.param.b32 [b], %x;\n"                                    \
    "    st.param.b32 [b+4], 1;\n    st.param.b32 [b+8], 1;\n"                                  \
    "    ld.param.u32 %x, [s];\n    st.param.b32 [s1], %x;\n"                                   \
    "    call.uni (p), __cudaCDP2GetParameterBufferV2, (f1, g, b, s1);\n"                       \
    "    ld.param.u64 %y, [p];\n    st.param.b64 [r], %y;\n    ret;\n}\n"                       \
    ".func (.param .b32 r) start(.param .b64 p, .param .b64 s)\n{\n"                            \
    "    .reg .b32 %x;\n    .reg .b64 %y;\n    .param .b64 p1, s1;\n    .param .b32 e;\n"       \
    "    ld.param.u64 %y, [p];\n    st.param.b64 [p1], %y;\n"                                   \
    "    ld.param.u64 %y, [s];\n    st.param.b64 [s1], %y;\n"                                   \
    "    call.uni (e), __cudaCDP2LaunchDeviceV2, (p1, s1);\n"                                   \
    "    ld.param.u32 %x, [e];\n    st.param.b32 [r], %x;\n    ret;\n}\n"                       \
    ".func (.param .b32 r) launch(.param .b64 f, .param .b64 at, .param .b32 n, .param .b64 s)\n" \
    "{\n    .reg .pred %none;\n    .reg .b32 %x;\n    .reg .b64 %y, %p;\n"                      \
    "    .param .b64 f1, p, p1, s1;\n    .param .b32 one, two, three, e;\n"                     \
    "    ld.param.u64 %y, [f];\n    st.param.b64 [f1], %y;\n    st.param.b32 [one], 1;\n"       \
    "    st.param.b32 [two], 1;\n    st.param.b32 [three], 0;\n"                                \
    "    call.uni (p), prepare, (f1, one, two, three);\n    ld.param.u64 %p, [p];\n"            \
    "    st.param.b32 [r], 1000;\n    setp.eq.u64 %none, %p, 0;\n    @%none ret;\n"             \
    "    ld.param.u64 %y, [at];\n    st.u64 [%p], %y;\n"                                        \
    "    ld.param.u32 %x, [n];\n    st.u32 [%p+8], %x;\n"                                       \
    "    st.param.b64 [p1], %p;\n    ld.param.u64 %y, [s];\n    st.param.b64 [s1], %y;\n"       \
    "    call.uni (e), start, (p1, s1);\n    ld.param.u32 %x, [e];\n"                           \
    "    st.param.b32 [r], %x;\n    ret;\n}\n"

/* In a kernel: calls launch, with the error in %e. */
#define LAUNCH(kernel, number, stream)                                                          \
    "    mov.u64 %f, " kernel ";\n    st.param.b64 [pf], %f;\n    st.param.b64 [pa], %at;\n"    \
    "    st.param.b32 [pn], " number ";\n    st.param.b64 [ps], " stream ";\n"                  \
    "    call.uni (pe), launch, (pf, pa, pn, ps);\n    ld.param.u32 %e, [pe];\n"

/* In a kernel: adds its number to the list at `at`, whose first word is the length. */
#define WRITE(number)                                                                           \
    "    atom.add.u32 %i, [%at], 1;\n    mul.wide.u32 %f, %i, 4;\n    add.u64 %f, %at, %f;\n"   \
    "    st.u32 [%f+4], " number ";\n"

#define KERNEL(name)                                                                            \
    ".visible .entry " name "(.param .u64 at, .param .u32 number)\n{\n"                         \
    "    .reg .pred %p;\n    .reg .b32 %e, %i, %n;\n    .reg .b64 %at, %f;\n"                   \
    "    .param .b64 pf, pa, ps;\n    .param .b32 pn, pe;\n"                                    \
    "    ld.param.u64 %at, [at];\n    ld.param.u32 %n, [number];\n"
#define END "    ret;\n}\n"

static void add_device_runtime(CUlinkState state)
{
    static char archive[] = "!<arch>\ncuda_device_runtime.o/\n";

    ck_success(cx_emu_call_link_add_data(state, CXU_JIT_INPUT_LIBRARY, archive, sizeof archive,
                                         "cudadevrt", 0, NULL, NULL));
}

static CUmodule link_with_runtime(const char *text)
{
    char complaint[300] = "";
    cxu_jit_option options[] = {CXU_JIT_ERROR_LOG_BUFFER, CXU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {complaint, (void *)(uintptr_t)sizeof complaint}, *image;
    CUlinkState state;
    CUmodule module;
    cxu_result result;

    ck_success(cx_emu_call_link_create(2, options, values, &state));
    ck_success(cx_emu_call_link_add_data(state, CXU_JIT_INPUT_PTX, (void *)(uintptr_t)text,
                                         strlen(text) + 1, "text", 0, NULL, NULL));
    add_device_runtime(state);
    result = cx_emu_call_link_complete(state, &image, NULL);
    ck_assert_msg(result == CXU_SUCCESS, "%s", complaint);
    ck_success(cx_emu_call_module_load_data(&module, image));
    ck_success(cx_emu_call_link_destroy(state));
    return module;
}

/* Runs k(at, 1) in one thread of each block, and reads the list that it and its children write. */
static uint32_t run_list(CUmodule module, unsigned blocks, uint32_t *out_list, size_t most)
{
    CUdeviceptr at = make_memory((most + 1) * sizeof *out_list);
    uint32_t number = 1, count;
    void *parameters[] = {&at, &number};
    CUfunction kernel;

    ck_success(cx_emu_call_module_get_function(&kernel, module, "k"));
    ck_success(cx_emu_call_memset_d32(at, 0, most + 1));
    ck_success(
        cx_emu_call_launch_kernel(kernel, blocks, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    ck_success(cx_emu_call_ctx_synchronize());
    read_device(&count, at, sizeof count);
    read_device(out_list, at + sizeof count, most * sizeof *out_list);
    ck_success(cx_emu_call_mem_free(at));
    return count;
}

static void expect_list(const char *text, unsigned blocks, const uint32_t *expected, size_t count)
{
    uint32_t list[64];

    ck_assert_uint_eq(run_list(link_with_runtime(text), blocks, list, 64), count);
    for (size_t i = 0; i < count; i++)
        ck_assert_uint_eq(list[i], expected[i]);
}

START_TEST(children_run_when_their_parent_is_done_and_its_tail_at_the_end)
{
    static const char text[] = HEAD FUNCTIONS
        KERNEL("step") WRITE("%n") END
        KERNEL("nest") WRITE("%n") LAUNCH("step", "12", "3") LAUNCH("step", "11", "0") END
        KERNEL("k") LAUNCH("step", "30", "3") LAUNCH("step", "31", "3") LAUNCH("nest", "10", "0")
        LAUNCH("step", "20", "4") WRITE("%n") END;
    const uint32_t expected[] = {1, 10, 11, 12, 20, 30, 31};

    expect_list(text, 1, expected, sizeof expected / sizeof expected[0]);
}
END_TEST

START_TEST(each_block_launches_its_own)
{
    static const char text[] = HEAD FUNCTIONS KERNEL("step") WRITE("%n") END
        KERNEL("k") WRITE("%n") "    mov.u32 %n, %ctaid.x;\n    add.u32 %n, %n, 100;\n"
        LAUNCH("step", "%n", "0") END;
    const uint32_t expected[] = {1, 1, 1, 100, 101, 102};

    expect_list(text, 3, expected, sizeof expected / sizeof expected[0]);
}
END_TEST

START_TEST(a_tail_may_launch_itself_any_number_of_times)
{
    static const char text[] = HEAD FUNCTIONS
        KERNEL("k") "    atom.add.u32 %i, [%at], 1;\n    setp.gt.u32 %p, %i, 18;\n    @%p ret;\n"
        LAUNCH("k", "1", "3") END;
    uint32_t list[1];

    ck_assert_uint_eq(run_list(link_with_runtime(text), 1, list, 1), 20);
}
END_TEST

/* What fails is told by the thread's last error, and launches nothing. */
#define FAILING(kernel, blocks, threads, shared)                                                \
    "    mov.u64 %f, " kernel ";\n    st.param.b64 [pf], %f;\n    st.param.b32 [pn], " blocks   \
    ";\n    st.param.b32 [pt], " threads ";\n    st.param.b32 [pb], " shared ";\n"              \
    "    call.uni (pa), prepare, (pf, pn, pt, pb);\n    ld.param.u64 %f, [pa];\n"               \
    "    setp.ne.u64 %p, %f, 0;\n    @%p trap;\n"                                               \
    "    call.uni (pe), __cudaCDP2PeekAtLastError, ();\n"                                       \
    "    call.uni (pe), __cudaCDP2GetLastError, ();\n    ld.param.u32 %e, [pe];\n" WRITE("%e")

START_TEST(a_launch_that_cannot_be_is_an_error_of_its_thread)
{
    static const char text[] = HEAD FUNCTIONS
        KERNEL("step") WRITE("%n") END
        KERNEL("k") "    .param .b32 pt, pb;\n"
        FAILING("0", "1", "1", "0") FAILING("prepare", "1", "1", "0")
        FAILING("step", "0", "1", "0") FAILING("step", "1", "1025", "0")
        FAILING("step", "1", "1", "49153")
        LAUNCH("step", "2", "5") WRITE("%e")
        "    call.uni (pe), __cudaCDP2GetLastError, ();\n    ld.param.u32 %e, [pe];\n" WRITE("%e")
        "    call.uni (pe), __cudaCDP2GetLastError, ();\n    ld.param.u32 %e, [pe];\n" WRITE("%e")
        "    st.param.b64 [pa], 4096;\n    st.param.b64 [ps], 0;\n"
        "    call.uni (pe), start, (pa, ps);\n    ld.param.u32 %e, [pe];\n" WRITE("%e") END;
    const uint32_t expected[] = {98, 98, 9, 9, 1, 400, 400, 0, 1};

    expect_list(text, 1, expected, sizeof expected / sizeof expected[0]);
}
END_TEST

START_TEST(so_many_launches_wait_as_the_limit_says)
{
    static const char text[] = HEAD FUNCTIONS KERNEL("step") WRITE("%n") END
        KERNEL("k") LAUNCH("step", "5", "0") WRITE("%e") LAUNCH("step", "6", "3") WRITE("%e")
        LAUNCH("step", "7", "0") WRITE("%e") END;
    const uint32_t expected[] = {0, 0, 69, 5, 6};

    ck_success(cx_emu_call_ctx_set_limit(CXU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 2));
    expect_list(text, 1, expected, sizeof expected / sizeof expected[0]);
}
END_TEST

START_TEST(launches_nest_24_deep)
{
    static const char text[] = HEAD FUNCTIONS KERNEL("k") LAUNCH("k", "1", "0") WRITE("%e") END;
    uint32_t list[32];

    ck_assert_uint_eq(run_list(link_with_runtime(text), 1, list, 32), 25);
    for (int i = 0; i < 24; i++)
        ck_assert_uint_eq(list[i], 0);
    ck_assert_uint_eq(list[24], 1000);
}
END_TEST

/* Each run prepares 6 MB of the 8 MiB that kernels have. */
START_TEST(what_is_prepared_and_never_launched_costs_nothing)
{
    static const char text[] = HEAD FUNCTIONS
        ".visible .entry big(.param .align 4 .b8 all[4000])\n{\n    ret;\n}\n"
        KERNEL("k") "    .param .b32 pt, pb;\n    .reg .b32 %left;\n    mov.u32 %left, 1500;\n"
        "AGAIN:\n    mov.u64 %f, big;\n    st.param.b64 [pf], %f;\n    st.param.b32 [pn], 1;\n"
        "    st.param.b32 [pt], 1;\n    st.param.b32 [pb], 0;\n"
        "    call.uni (pa), prepare, (pf, pn, pt, pb);\n    ld.param.u64 %f, [pa];\n"
        "    setp.eq.u64 %p, %f, 0;\n    @%p trap;\n"
        "    sub.u32 %left, %left, 1;\n    setp.ne.u32 %p, %left, 0;\n    @%p bra AGAIN;\n"
        WRITE("%n") END;
    CUmodule module = link_with_runtime(text);
    uint32_t list[1];

    for (int i = 0; i < 2; i++)
        ck_assert_uint_eq(run_list(module, 1, list, 1), 1);
}
END_TEST

START_TEST(an_error_of_a_child_names_it_and_ends_the_others)
{
    static const char text[] = HEAD FUNCTIONS KERNEL("step") WRITE("%n") END
        KERNEL("wrong") "    st.u32 [%at+1000000000], 1;\n" END
        KERNEL("k") LAUNCH("wrong", "1", "0") LAUNCH("step", "1", "0") END;
    CUdeviceptr at = make_memory(64);
    uint32_t number = 1;
    void *parameters[] = {&at, &number};
    CUmodule module = link_with_runtime(text);
    CUfunction kernel;
    char told[320] = "";

    ck_success(cx_emu_call_module_get_function(&kernel, module, "k"));
    ck_success(cx_emu_call_launch_kernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    ck_result(cx_emu_call_ctx_synchronize(), ILLEGAL_ADDRESS);
    ck_assert(cx_emu_explain(CXU_ILLEGAL_ADDRESS, told, sizeof told));
    ck_assert_msg(strstr(told, "kernel wrong,") != NULL, "%s", told);
}
END_TEST

/* As without -lcudadevrt. */
START_TEST(without_the_runtime_no_kernel_launches)
{
    static char text[] = HEAD FUNCTIONS KERNEL("k") LAUNCH("k", "1", "0") END;
    CUmodule module;

    ck_result(cx_emu_call_module_load_data(&module, text), INVALID_PTX);
}
END_TEST

static Suite *child_grid_suite(void)
{
    Suite *suite = suite_create("child_grid");
    TCase *tcase = tcase_create("child_grid");

    tcase_add_checked_fixture(tcase, work_setup, work_teardown);
    tcase_add_test(tcase, children_run_when_their_parent_is_done_and_its_tail_at_the_end);
    tcase_add_test(tcase, each_block_launches_its_own);
    tcase_add_test(tcase, a_tail_may_launch_itself_any_number_of_times);
    tcase_add_test(tcase, a_launch_that_cannot_be_is_an_error_of_its_thread);
    tcase_add_test(tcase, so_many_launches_wait_as_the_limit_says);
    tcase_add_test(tcase, launches_nest_24_deep);
    tcase_add_test(tcase, what_is_prepared_and_never_launched_costs_nothing);
    tcase_add_test(tcase, an_error_of_a_child_names_it_and_ends_the_others);
    tcase_add_test(tcase, without_the_runtime_no_kernel_launches);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(child_grid_suite);
