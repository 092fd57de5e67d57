/* Limits of a context that its kernels use (Q4). */
#include "work_fixture.h"

#define HEAD ".version 6.4\n.target sm_50\n.address_size 64\n"

/* No kernel prints or allocates if `go` is 0. */
#define MAYBE(call) \
    "(.param .u32 go) {\n.reg .pred %p; .reg .u32 %r;\nld.param.u32 %r, [go];\n" \
    "setp.eq.u32 %p, %r, 0; @%p bra DONE;\n" call "DONE: ret; }\n"

#define DECLARE                                                                \
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n"   \
    ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"                   \
    ".extern .func free(.param .b64 p);\n"                                     \
    ".global .align 1 .b8 letter[2] = {88};\n"

#define PRINT                                                                  \
    "{ .param .b64 f; .param .b64 v; .param .b32 r; .reg .u64 %a;\n"           \
    "mov.u64 %a, letter; cvta.global.u64 %a, %a;\n"                            \
    "st.param.b64 [f], %a; st.param.b64 [v], 0; call.uni (r), vprintf, (f, v); }\n"
#define TAKE                                                                   \
    "{ .param .b64 n; .param .b64 r; st.param.b64 [n], 64; call.uni (r), malloc, (n); }\n"
#define GIVE "{ .param .b64 p; st.param.b64 [p], 0; call.uni free, (p); }\n"
#define DEEP "{ .param .b32 n; st.param.b32 [n], %r; call.uni deeper, (n); }\n"

static const char text[] = HEAD DECLARE
    ".func deepest() {\n" PRINT "ret; }\n"
    ".func deeper(.param .b32 n) {\n{ call.uni deepest; }\nret; }\n"
    ".visible .entry print" MAYBE(PRINT) ".visible .entry deep" MAYBE(DEEP)
    ".visible .entry take" MAYBE(TAKE) ".visible .entry give" MAYBE(GIVE)
    ".visible .entry plain" MAYBE("");

static CUfunction load(const char *name)
{
    CUmodule module;
    CUfunction function;

    ck_success(cx_emu_call_module_load_data(&module, text));
    ck_success(cx_emu_call_module_get_function(&function, module, name));
    return function;
}

static void launch(const char *name, CUstream stream)
{
    uint32_t go = 0;
    void *parameters[] = {&go};

    ck_success(
        cx_emu_call_launch_kernel(load(name), 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
}

static const struct {
    const char *kernel;
    cxu_limit limit;
} uses[] = {{"print", CXU_LIMIT_PRINTF_FIFO_SIZE},
            {"deep", CXU_LIMIT_PRINTF_FIFO_SIZE},
            {"take", CXU_LIMIT_MALLOC_HEAP_SIZE},
            {"give", CXU_LIMIT_MALLOC_HEAP_SIZE}};
#define MORE ((size_t)16 << 20)

START_TEST(a_limit_stays_once_a_kernel_that_uses_it_was_launched)
{
    cxu_limit own = uses[_i].limit;
    cxu_limit other = own == CXU_LIMIT_PRINTF_FIFO_SIZE ? CXU_LIMIT_MALLOC_HEAP_SIZE
                                                         : CXU_LIMIT_PRINTF_FIFO_SIZE;
    size_t value;

    load(uses[_i].kernel);
    launch("plain", NULL);
    ck_success(cx_emu_call_ctx_set_limit(own, MORE));
    launch(uses[_i].kernel, NULL);
    ck_result(cx_emu_call_ctx_set_limit(own, 2 * MORE), INVALID_VALUE);
    ck_result(cx_emu_call_ctx_set_limit(own, MORE), INVALID_VALUE);
    ck_success(cx_emu_call_ctx_get_limit(&value, own));
    ck_assert_uint_eq(value, MORE);
    ck_success(cx_emu_call_ctx_set_limit(other, MORE));
    ck_success(cx_emu_call_ctx_set_limit(CXU_LIMIT_STACK_SIZE, 2048));
    ck_success(cx_emu_call_ctx_synchronize());
}
END_TEST

START_TEST(a_limit_in_use_is_that_of_one_context)
{
    CUcontext other;

    launch("print", NULL);
    ck_success(cx_emu_call_ctx_create_v2(&other, 0, 0));
    ck_success(cx_emu_call_ctx_set_limit(CXU_LIMIT_PRINTF_FIFO_SIZE, MORE));
    ck_success(cx_emu_call_ctx_destroy(other));
    ck_result(cx_emu_call_ctx_set_limit(CXU_LIMIT_PRINTF_FIFO_SIZE, MORE), INVALID_VALUE);
    ck_success(cx_emu_call_ctx_create_v2(&other, 0, 0)); /* perhaps at the same handle */
    ck_success(cx_emu_call_ctx_set_limit(CXU_LIMIT_PRINTF_FIFO_SIZE, MORE));
    ck_success(cx_emu_call_ctx_destroy(other));
    ck_success(cx_emu_call_ctx_synchronize());
}
END_TEST

START_TEST(a_captured_kernel_uses_its_limit_when_the_graph_is_launched)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUgraph graph;
    CUgraphExec exec;
    CUfunction print = load("print");
    uint32_t go = 0;
    void *parameters[] = {&go};

    ck_success(cx_emu_call_stream_begin_capture(stream, CXU_STREAM_CAPTURE_MODE_RELAXED));
    ck_success(cx_emu_call_launch_kernel(print, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
    ck_success(cx_emu_call_stream_end_capture(stream, &graph));
    ck_success(cx_emu_call_graph_instantiate_with_flags(&exec, graph, 0));
    ck_success(cx_emu_call_ctx_set_limit(CXU_LIMIT_PRINTF_FIFO_SIZE, MORE));
    ck_success(cx_emu_call_graph_launch(exec, stream));
    ck_result(cx_emu_call_ctx_set_limit(CXU_LIMIT_PRINTF_FIFO_SIZE, 2 * MORE), INVALID_VALUE);
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_success(cx_emu_call_graph_exec_destroy(exec));
    ck_success(cx_emu_call_graph_destroy(graph));
}
END_TEST

static Suite *limit_suite(void)
{
    Suite *suite = suite_create("limits");
    TCase *tcase = tcase_create("in use");

    tcase_add_checked_fixture(tcase, work_setup, work_teardown);
    tcase_add_loop_test(tcase, a_limit_stays_once_a_kernel_that_uses_it_was_launched, 0,
                        sizeof uses / sizeof uses[0]);
    tcase_add_test(tcase, a_limit_in_use_is_that_of_one_context);
    tcase_add_test(tcase, a_captured_kernel_uses_its_limit_when_the_graph_is_launched);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(limit_suite);
