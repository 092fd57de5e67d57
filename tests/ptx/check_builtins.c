/* What kernels call: vprintf, malloc and free, assertions, functions by their addresses. */
#include "../emu/work_fixture.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD ".version 8.6\n.target sm_80\n.address_size 64\n"

static CUmodule load(const char *text)
{
    char complaint[256] = "";
    cxu_jit_option options[] = {CXU_JIT_ERROR_LOG_BUFFER, CXU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {complaint, (void *)(uintptr_t)sizeof complaint};
    CUmodule module = NULL;

    ck_assert_msg(cx_emu_call_module_load_data_ex(&module, text, 2, options, values) == CXU_SUCCESS,
                  "%s\n%s", complaint, text);
    return module;
}

static void start(CUmodule module, void **parameters, unsigned blocks, unsigned threads)
{
    CUfunction kernel;

    ck_success(cx_emu_call_module_get_function(&kernel, module, "k"));
    ck_success(cx_emu_call_launch_kernel(kernel, blocks, 1, 1, threads, 1, 1, 0, NULL, parameters,
                                         NULL));
}

/* Runs k(out) in one thread. */
static void run_for_words(const char *text, uint32_t *out_words, size_t count)
{
    CUmodule module = load(text);
    CUdeviceptr out = make_memory(count * sizeof *out_words);
    void *parameters[] = {&out};

    ck_success(cx_emu_call_memset_d32(out, 0, count));
    start(module, parameters, 1, 1);
    ck_success(cx_emu_call_ctx_synchronize());
    read_device(out_words, out, count * sizeof *out_words);
    ck_success(cx_emu_call_module_unload(module));
}

/* ---- standard output and error as files ---- */

typedef struct redirect {
    FILE *stream, *file;
    int kept;
} redirect;

static redirect redirect_begin(FILE *stream)
{
    redirect self = {stream, tmpfile(), -1};

    ck_assert_ptr_nonnull(self.file);
    fflush(stream);
    self.kept = dup(fileno(stream));
    ck_assert_int_ge(dup2(fileno(self.file), fileno(stream)), 0);
    return self;
}

static size_t redirect_end(redirect *self, char *text, size_t size)
{
    size_t length;

    fflush(self->stream);
    ck_assert_int_ge(dup2(self->kept, fileno(self->stream)), 0);
    close(self->kept);
    rewind(self->file);
    length = fread(text, 1, size - 1, self->file);
    text[length] = '\0';
    fclose(self->file);
    return length;
}

/* ---- vprintf ---- */

#define PRINT_HEAD HEAD ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n"

/* Prints `format` with 64 bytes of arguments that `fill` stores at [buffer]. */
static CUmodule load_print(const char *format, const char *fill)
{
    char text[4096];
    size_t length;

    snprintf(text, sizeof text, PRINT_HEAD ".global .align 1 .b8 format[256] = {");
    for (const char *at = format; *at; at++) {
        length = strlen(text);
        snprintf(text + length, sizeof text - length, "%d, ", (unsigned char)*at);
    }
    length = strlen(text);
    snprintf(text + length, sizeof text - length,
             "0};\n.global .align 1 .b8 word[8] = {119, 111, 114, 100, 0};\n"
             ".visible .entry k(.param .u64 out)\n{\n.local .align 8 .b8 buffer[64];\n"
             ".reg .b32 %%r<4>;\n.reg .b64 %%d<4>;\n%s\n"
             "{\n.param .b64 p0;\n.param .b64 p1;\n.param .b32 result;\n"
             "cvta.global.u64 %%d1, format;\nst.param.b64 [p0], %%d1;\n"
             "mov.u64 %%d2, buffer;\ncvta.local.u64 %%d2, %%d2;\nst.param.b64 [p1], %%d2;\n"
             "call.uni (result), vprintf, (p0, p1);\nld.param.b32 %%r1, [result];\n}\n"
             "ld.param.u64 %%d3, [out];\nst.global.u32 [%%d3], %%r1;\nret;\n}\n",
             fill);
    return load(text);
}

static void ck_printed(const char *format, const char *fill, const char *expected, int32_t count)
{
    CUmodule module = load_print(format, fill);
    CUdeviceptr out = make_memory(4);
    redirect redirected = redirect_begin(stdout);
    void *parameters[] = {&out};
    char text[512];
    int32_t found;

    start(module, parameters, 1, 1);
    ck_success(cx_emu_call_ctx_synchronize());
    redirect_end(&redirected, text, sizeof text);
    ck_assert_str_eq(text, expected);
    read_device(&found, out, sizeof found);
    ck_assert_int_eq(found, count);
    ck_success(cx_emu_call_module_unload(module));
}

START_TEST(printf_formats_like_that_of_the_host)
{
    ck_printed("no argument, 100%%\n", "", "no argument, 100%\n", 0);
    ck_printed("%d %u %x %c|", "st.local.u32 [buffer], -5; st.local.u32 [buffer+4], -5;\n"
               "st.local.u32 [buffer+8], 255; st.local.u32 [buffer+12], 65;",
               "-5 4294967291 ff A|", 4);
    ck_printed("%d %lld %5.2f|", "st.local.u32 [buffer], 7; st.local.u64 [buffer+8], -9;\n"
               "st.local.f64 [buffer+16], 0d400921FB54442D18;", "7 -9  3.14|", 3);
    ck_printed("%-6s|%6s|%.2s|", "cvta.global.u64 %d1, word; st.local.u64 [buffer], %d1;\n"
               "st.local.u64 [buffer+8], %d1; st.local.u64 [buffer+16], %d1;",
               "word  |  word|wo|", 3);
    ck_printed("%*d|%-*d|%.*f|", "st.local.u32 [buffer], 4; st.local.u32 [buffer+4], 1;\n"
               "st.local.u32 [buffer+8], 3; st.local.u32 [buffer+12], 2;\n"
               "st.local.u32 [buffer+16], 1; st.local.f64 [buffer+24], 0d3FD0000000000000;",
               "   1|2  |0.2|", 3);
    ck_printed("%s %p %e", "st.local.u64 [buffer], 0; st.local.u64 [buffer+8], 4096;\n"
               "st.local.f64 [buffer+16], 0d4059000000000000;", "(null) 0x1000 1.000000e+02", 3);
    ck_printed("%y %", "", "%y %", 0);
}
END_TEST

#define PRINT_BLOCK "mov.u32 %r2, %ctaid.x; st.local.u32 [buffer], %r2;\n" \
                    "mov.u32 %r2, %tid.x; st.local.u32 [buffer+4], %r2;"

START_TEST(text_comes_out_at_synchronisation_in_the_order_of_blocks)
{
    CUmodule module = load_print("%d.%d ", PRINT_BLOCK);
    CUdeviceptr out = make_memory(4);
    redirect redirected = redirect_begin(stdout);
    void *parameters[] = {&out};
    CUstream stream = make_stream(0);
    stream_gate gate = GATE_CLOSED;
    char text[512];
    off_t before;

    gate_put(&gate, NULL);
    gate_wait_entered(&gate);
    start(module, parameters, 3, 2);
    before = lseek(STDOUT_FILENO, 0, SEEK_CUR);
    gate_open(&gate);
    ck_success(cx_emu_call_stream_synchronize(NULL));
    redirect_end(&redirected, text, sizeof text);
    ck_assert_int_eq(before, 0);
    ck_assert_str_eq(text, "0.0 0.1 1.0 1.1 2.0 2.1 ");
    ck_success(cx_emu_call_stream_destroy(stream));
}
END_TEST

START_TEST(beyond_the_limit_the_oldest_text_is_lost)
{
    CUmodule module = load_print("%d %059d\n", PRINT_BLOCK);
    CUdeviceptr out = make_memory(4);
    redirect redirected;
    void *parameters[] = {&out};
    size_t limit, length;
    static char text[1 << 20];

    ck_success(cx_emu_call_ctx_set_limit(CXU_LIMIT_PRINTF_FIFO_SIZE, (size_t)384 << 10));
    ck_success(cx_emu_call_ctx_get_limit(&limit, CXU_LIMIT_PRINTF_FIFO_SIZE));
    redirected = redirect_begin(stdout);
    start(module, parameters, 10000, 1);
    ck_success(cx_emu_call_ctx_synchronize());
    length = redirect_end(&redirected, text, sizeof text);
    ck_assert_uint_le(length, limit);
    ck_assert_uint_gt(length, limit - 128);
    ck_assert_int_eq(strncmp(text, "0 ", 2) == 0, 0);
    ck_assert_ptr_nonnull(strstr(text, "\n9999 "));
}
END_TEST

/* ---- when text comes ---- */

static void *printed[] = {NULL};
static CUdeviceptr printed_count;
static CUmodule printing;
static CUgraphExec printing_graph;

static void launch_again(void)
{
    start(printing, printed, 1, 1);
}

static void launch_graph(void)
{
    ck_success(cx_emu_call_graph_launch(printing_graph, NULL));
}

static void copy_synchronously(void)
{
    uint32_t word;

    ck_success(cx_emu_call_memcpy_dtoh(&word, printed_count, sizeof word));
}

static void load_code(void)
{
    (void)load(HEAD ".visible .entry k()\n{\nret;\n}\n");
}

static void unload_code(void)
{
    ck_success(cx_emu_call_module_unload(printing));
}

static void call_back(CUstream stream, cxu_result error, void *done)
{
    (void)stream, (void)error;
    atomic_store((atomic_bool *)done, true);
}

static void add_callback(void)
{
    static atomic_bool done;

    ck_success(cx_emu_call_stream_add_callback(NULL, call_back, &done, 0));
    while (!atomic_load(&done))
        (void)cx_emu_call_stream_query(NULL);
}

static void ask(void)
{
    ck_success(cx_emu_call_stream_query(NULL));
}

static const struct {
    void (*does)(void);
    const char *text;
} showing[] = {{launch_again, "x"}, {launch_graph, "x"}, {copy_synchronously, "x"},
               {load_code, "x"},    {unload_code, "x"},  {add_callback, "x"},
               {ask, ""}};

/* The kernel is done, and nothing has waited for it. */
START_TEST(text_comes_with_the_calls_that_flush_it)
{
    CUgraph graph;
    char text[64];
    off_t length;

    printed[0] = &printed_count;
    printed_count = make_memory(4);
    printing = load_print("x", "");
    ck_success(cx_emu_call_graph_create(&graph, 0));
    ck_success(cx_emu_call_graph_instantiate_with_flags(&printing_graph, graph, 0));
    redirect redirected = redirect_begin(stdout);
    start(printing, printed, 1, 1);
    while (cx_emu_call_stream_query(NULL) != CXU_SUCCESS)
        sched_yield();
    showing[_i].does();
    fflush(stdout);
    length = lseek(fileno(stdout), 0, SEEK_CUR);
    ck_success(cx_emu_call_ctx_synchronize());
    redirect_end(&redirected, text, sizeof text);
    ck_assert_int_eq(length, (off_t)strlen(showing[_i].text));
    ck_assert_int_eq(text[0], 'x');
    ck_success(cx_emu_call_graph_exec_destroy(printing_graph));
    ck_success(cx_emu_call_graph_destroy(graph));
}
END_TEST

START_TEST(a_format_that_is_no_memory_faults)
{
    CUmodule module = load(
        PRINT_HEAD ".visible .entry k()\n{\n.reg .b32 %r<4>;\n"
                   "{\n.param .b64 p0;\n.param .b64 p1;\n.param .b32 result;\n"
                   "st.param.b64 [p0], 64;\nst.param.b64 [p1], 0;\n"
                   "call.uni (result), vprintf, (p0, p1);\n}\nret;\n}\n");

    start(module, NULL, 1, 1);
    ck_result(cx_emu_call_ctx_synchronize(), ILLEGAL_ADDRESS);
}
END_TEST

/* ---- malloc and free ---- */

#define HEAP_HEAD                                                      \
    HEAD ".extern .func (.param .b64 r) malloc (.param .b64 bytes);\n" \
         ".extern .func free (.param .b64 p);\n"
#define ALLOCATE(bytes, d)                                                                   \
    "{\n.param .b64 p0; .param .b64 r0;\nst.param.b64 [p0], " bytes ";\n"                     \
    "call.uni (r0), malloc, (p0);\nld.param.b64 " d ", [r0];\n}\n"
#define RELEASE(d) "{\n.param .b64 p0;\nst.param.b64 [p0], " d ";\ncall.uni free, (p0);\n}\n"
#define HEAP_KERNEL(body)                                                                      \
    HEAP_HEAD ".visible .entry k(.param .u64 out)\n{\n.reg .pred %p<4>;\n.reg .b32 %r<8>;\n"    \
              ".reg .b64 %d<8>;\nld.param.u64 %d1, [out];\n" body "ret;\n}\n"

START_TEST(kernels_allocate_use_and_free_memory)
{
    uint32_t words[4];

    run_for_words(HEAP_KERNEL(ALLOCATE("100", "%d2") ALLOCATE("100", "%d3")
                                  "st.u32 [%d2+96], 11;\nst.u32 [%d3], 12;\nst.u32 [%d3+96], 13;\n"
                                  "ld.u32 %r1, [%d2+96];\nld.u32 %r2, [%d3];\n"
                                  "sub.u64 %d4, %d3, %d2;\ncvt.u32.u64 %r3, %d4;\n"
                                  "cvt.u32.u64 %r4, %d2;\nand.b32 %r4, %r4, 15;\n"
                                  "st.global.v4.u32 [%d1], {%r1, %r2, %r3, %r4};\n"
                                  RELEASE("%d2") RELEASE("%d3") RELEASE("0")),
                  words, 4);
    ck_assert_uint_eq(words[0], 11);
    ck_assert_uint_eq(words[1], 12);
    ck_assert_uint_ge(words[2], 100);
    ck_assert_uint_eq(words[3], 0);
}
END_TEST

START_TEST(memory_outlives_its_kernel_and_is_given_again_once_freed)
{
    CUmodule take = load(HEAP_KERNEL(ALLOCATE("6000000", "%d2") "st.global.u64 [%d1], %d2;\n"));
    CUmodule give = load(HEAP_KERNEL("ld.global.u64 %d2, [%d1];\nst.u8 [%d2+5999999], 1;\n"
                                     RELEASE("%d2")));
    CUdeviceptr out = make_memory(8);
    void *parameters[] = {&out};
    uint64_t found[4];

    for (int i = 0; i < 4; i++) {
        start(i == 2 ? give : take, parameters, 1, 1);
        ck_success(cx_emu_call_ctx_synchronize());
        read_device(&found[i], out, sizeof found[i]);
        if (i == 1) /* the heap has 8 MB: there is no room for two */
            ck_success(cx_emu_call_memcpy_htod(out, &found[0], sizeof found[0]));
    }
    ck_assert_uint_ne(found[0], 0);
    ck_assert_uint_eq(found[1], 0);
    ck_assert_uint_eq(found[3], found[0]);
}
END_TEST

START_TEST(an_address_that_was_not_allocated_cannot_be_freed)
{
    CUmodule module = load(HEAP_KERNEL(ALLOCATE("64", "%d2") "add.u64 %d2, %d2, 16;\n"
                                       RELEASE("%d2")));
    CUdeviceptr out = make_memory(8);
    void *parameters[] = {&out};

    start(module, parameters, 1, 1);
    ck_result(cx_emu_call_ctx_synchronize(), ILLEGAL_ADDRESS);
}
END_TEST

START_TEST(many_threads_share_the_heap)
{
    CUmodule module = load(HEAP_KERNEL(
        "mov.u32 %r1, %tid.x;\nmov.u32 %r2, 0;\nAGAIN:\n" ALLOCATE("48", "%d2")
        "st.u32 [%d2], %r1;\nst.u32 [%d2+44], %r1;\nld.u32 %r3, [%d2];\n"
        "setp.ne.u32 %p1, %r3, %r1;\n@%p1 red.global.add.u32 [%d1], 1;\n" RELEASE("%d2")
        "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 20;\n@%p1 bra AGAIN;\n"));
    CUdeviceptr out = make_memory(4);
    void *parameters[] = {&out};
    uint32_t wrong;

    ck_success(cx_emu_call_memset_d32(out, 0, 1));
    start(module, parameters, 4, 256);
    ck_success(cx_emu_call_ctx_synchronize());
    read_device(&wrong, out, sizeof wrong);
    ck_assert_uint_eq(wrong, 0);
}
END_TEST

/* ---- assertions ---- */

START_TEST(a_failed_assertion_says_where)
{
    CUmodule module = load(
        HEAD ".extern .func __assertfail (.param .b64 m, .param .b64 f, .param .b32 l,\n"
             ".param .b64 n, .param .b64 c);\n"
             ".global .align 1 .b8 message[6] = {120, 32, 62, 32, 49, 0};\n"
             ".global .align 1 .b8 file[5] = {97, 46, 99, 117, 0};\n"
             ".global .align 1 .b8 name[7] = {107, 40, 105, 110, 116, 41, 0};\n"
             ".visible .entry k()\n{\n.reg .pred %p;\n.reg .b32 %r<3>;\n.reg .b64 %d<4>;\n"
             "mov.u32 %r1, %tid.x;\nsetp.ne.u32 %p, %r1, 3;\n@%p bra END;\n"
             "cvta.global.u64 %d1, message;\ncvta.global.u64 %d2, file;\n"
             "cvta.global.u64 %d3, name;\n"
             "{\n.param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b64 p4;\n"
             "st.param.b64 [p0], %d1;\nst.param.b64 [p1], %d2;\nst.param.b32 [p2], 42;\n"
             "st.param.b64 [p3], %d3;\nst.param.b64 [p4], 1;\n"
             "call.uni __assertfail, (p0, p1, p2, p3, p4);\n}\nEND:\nret;\n}\n");
    redirect redirected = redirect_begin(stderr);
    char text[512];
    cxu_result result;

    start(module, NULL, 1, 4);
    result = cx_emu_call_ctx_synchronize();
    redirect_end(&redirected, text, sizeof text);
    ck_assert_int_eq(result, CXU_ASSERT);
    ck_assert_ptr_nonnull(strstr(
        text, "a.cu:42: k(int): block: [0,0,0], thread: [3,0,0] Assertion `x > 1` failed.\n"));
}
END_TEST

/* ---- functions by their addresses ---- */

#define TWO_FUNCTIONS                                                                     \
    ".func (.param .b32 r) add(.param .b32 a, .param .b32 b)\n{\n.reg .b32 %r<4>;\n"       \
    "ld.param.b32 %r1, [a];\nld.param.b32 %r2, [b];\nadd.u32 %r3, %r1, %r2;\n"             \
    "st.param.b32 [r], %r3;\nret;\n}\n"                                                    \
    ".func (.param .b32 r) sub(.param .b32 a, .param .b32 b)\n{\n.reg .b32 %r<4>;\n"       \
    "ld.param.b32 %r1, [a];\nld.param.b32 %r2, [b];\nsub.u32 %r3, %r1, %r2;\n"             \
    "st.param.b32 [r], %r3;\nret;\n}\n.func other()\n{\nret;\n}\n"
#define CALL(d, how)                                                                      \
    "{\n.param .b32 p0; .param .b32 p1; .param .b32 r0;\n"                                 \
    "st.param.b32 [p0], 50;\nst.param.b32 [p1], 8;\n" how                                  \
    "call (r0), " d ", (p0, p1), callees;\nld.param.b32 %r1, [r0];\n}\n"
#define BY_PROTOTYPE "callees: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);\n"
#define BY_TARGETS "callees: .calltargets add, sub;\n"
#define CALL_HEAD                                                                         \
    HEAD TWO_FUNCTIONS ".global .u64 table[2] = {add, generic(sub)};\n"                    \
                       ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<4>;\n"         \
                       ".reg .b64 %d<4>;\nld.param.u64 %d1, [out];\n"

START_TEST(functions_are_called_by_their_addresses)
{
    uint32_t words[4];

    run_for_words(CALL_HEAD "mov.u64 %d2, add;\n" CALL("%d2", BY_PROTOTYPE)
                      "st.global.u32 [%d1], %r1;\nmov.u64 %d2, sub;\n" CALL("%d2", BY_TARGETS)
                          "st.global.u32 [%d1+4], %r1;\nld.global.u64 %d2, [table];\n" CALL(
                              "%d2", BY_PROTOTYPE) "st.global.u32 [%d1+8], %r1;\n"
                                                   "ld.global.u64 %d2, [table+8];\n"
                      CALL("%d2", BY_PROTOTYPE) "st.global.u32 [%d1+12], %r1;\nret;\n}\n",
                  words, 4);
    ck_assert_uint_eq(words[0], 58);
    ck_assert_uint_eq(words[1], 42);
    ck_assert_uint_eq(words[2], 58);
    ck_assert_uint_eq(words[3], 42);
}
END_TEST

START_TEST(a_call_of_no_function_faults)
{
    static const char *const texts[] = {
        CALL_HEAD "mov.u64 %d2, 0;\n" CALL("%d2", BY_PROTOTYPE) "ret;\n}\n",
        CALL_HEAD "mov.u64 %d2, add;\nadd.u64 %d2, %d2, 1;\n" CALL("%d2", BY_PROTOTYPE) "ret;\n}\n",
        CALL_HEAD "mov.u64 %d2, other;\n" CALL("%d2", BY_PROTOTYPE) "ret;\n}\n",
    };
    CUdeviceptr out = make_memory(4);
    void *parameters[] = {&out};

    start(load(texts[_i]), parameters, 1, 1);
    ck_result(cx_emu_call_ctx_synchronize(), ILLEGAL_INSTRUCTION);
}
END_TEST

static Suite *builtin_suite(void)
{
    Suite *suite = suite_create("builtins");
    TCase *builtins = tcase_create("builtins");

    tcase_add_checked_fixture(builtins, work_setup, work_teardown);
    tcase_add_test(builtins, printf_formats_like_that_of_the_host);
    tcase_add_test(builtins, text_comes_out_at_synchronisation_in_the_order_of_blocks);
    tcase_add_test(builtins, beyond_the_limit_the_oldest_text_is_lost);
    tcase_add_loop_test(builtins, text_comes_with_the_calls_that_flush_it, 0,
                        sizeof showing / sizeof showing[0]);
    tcase_add_test(builtins, a_format_that_is_no_memory_faults);
    tcase_add_test(builtins, kernels_allocate_use_and_free_memory);
    tcase_add_test(builtins, memory_outlives_its_kernel_and_is_given_again_once_freed);
    tcase_add_test(builtins, an_address_that_was_not_allocated_cannot_be_freed);
    tcase_add_test(builtins, many_threads_share_the_heap);
    tcase_add_test(builtins, a_failed_assertion_says_where);
    tcase_add_test(builtins, functions_are_called_by_their_addresses);
    tcase_add_loop_test(builtins, a_call_of_no_function_faults, 0, 3);
    suite_add_tcase(suite, builtins);
    return suite;
}

CX_TESTS(builtin_suite);
