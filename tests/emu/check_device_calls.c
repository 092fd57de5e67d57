/* What kernels call of the device runtime besides launches: streams, events, copies, fills, memory.
 */
#include "kernels.h"
#include "work_fixture.h"

#include <stdio.h>
#include <string.h>

#define ERROR_INVALID_VALUE 1
#define ERROR_INVALID_CONFIGURATION 9
#define ERROR_INVALID_FUNCTION 98
#define ERROR_INVALID_DEVICE 101
#define ERROR_UNSUPPORTED_LIMIT 215
#define ERROR_INVALID_HANDLE 400

/* k(out): out[0] is the error; the body calls a function, whose error is in `e`. */
#define CALLS(declarations, body)                                                                 \
    PTX_HEAD declarations                                                                         \
        ".visible .entry k(.param .u64 out)\n{\n    .reg .b32 %x;\n    .reg .b64 %out, %y, %s;\n" \
        "    .param .b32 e, i, j;\n    .param .b64 a, b, c, d, f, g;\n"                           \
        "    ld.param.u64 %out, [out];\n" body                                                    \
        "    ld.param.b32 %x, [e];\n    st.u32 [%out], %x;\n    ret;\n}\n"
#define DECLARE(name, parameters) \
    ".extern .func (.param .b32 e) __cudaCDP2" name "(" parameters ");\n"
#define B64(name) ".param .b64 " name
#define B32(name) ".param .b32 " name
#define AT(name, offset) "    add.u64 %y, %out, " offset ";\n    st.param.b64 [" name "], %y;\n"
#define PUT64(name, value) "    st.param.b64 [" name "], " value ";\n"
#define PUT32(name, value) "    st.param.b32 [" name "], " value ";\n"
#define CALL(name, arguments) "    call.uni (e), __cudaCDP2" name ", (" arguments ");\n"

#define CREATES(kind) DECLARE(kind "CreateWithFlags", B64("a") "," B32("i"))
#define CREATE(kind, flags) AT("a", "8") PUT32("i", flags) CALL(kind "CreateWithFlags", "a, i")
#define COPIES DECLARE("MemcpyAsync", B64("a") "," B64("b") "," B64("c") "," B32("i") "," B64("d"))
#define FILLS DECLARE("MemsetAsync", B64("a") "," B32("i") "," B64("b") "," B64("c"))
#define COPIES_2D                                                                          \
    DECLARE("Memcpy2DAsync_ptsz", B64("a") "," B64("b") "," B64("c") "," B64("d") "," B64( \
                                      "f") "," B64("g") "," B32("i") "," B64("h"))

static uint32_t words[64];

/* Links the text with the device runtime, runs k, and reads the words. */
static uint32_t run(const char *text)
{
    static char archive[] = "!<arch>\ncuda_device_runtime.o/\n";
    CUdeviceptr out = make_memory(sizeof words);
    void *parameters[] = {&out}, *image;
    CUlinkState state;
    CUmodule module;
    CUfunction function;

    for (uint32_t i = 0; i < 64; i++)
        words[i] = 0x01010101 * (i + 1);
    ck_success(cx_emu_call_memcpy_htod(out, words, sizeof words));
    ck_success(cx_emu_call_link_create(0, NULL, NULL, &state));
    ck_success(cx_emu_call_link_add_data(state, CXU_JIT_INPUT_PTX, (void *)(uintptr_t)text,
                                         strlen(text) + 1, NULL, 0, NULL, NULL));
    ck_success(cx_emu_call_link_add_data(state, CXU_JIT_INPUT_LIBRARY, archive, sizeof archive,
                                         NULL, 0, NULL, NULL));
    ck_success(cx_emu_call_link_complete(state, &image, NULL));
    ck_success(cx_emu_call_module_load_data(&module, image));
    ck_success(cx_emu_call_link_destroy(state));
    ck_success(cx_emu_call_module_get_function(&function, module, "k"));
    ck_success(cx_emu_call_launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    ck_success(cx_emu_call_ctx_synchronize());
    read_device(words, out, sizeof words);
    ck_success(cx_emu_call_module_unload(module));
    return words[0];
}

START_TEST(a_kernel_creates_streams_that_do_not_block_and_launches_there)
{
    ck_assert_uint_eq(run(CALLS(CREATES("Stream"), CREATE("Stream", "0"))), ERROR_INVALID_VALUE);
    ck_assert_uint_eq(
        run(CALLS(CREATES("Stream") FILLS DECLARE("StreamDestroy", B64("a")),
                  CREATE("Stream", "1") "    ld.u64 %s, [%out+8];\n" AT("a", "128") PUT32("i", "7")
                      PUT64("b", "8") PUT64("c", "%s") CALL("MemsetAsync", "a, i, b, c")
                          PUT64("a", "%s") CALL("StreamDestroy", "a"))),
        0);
    ck_assert_uint_eq(words[31], 0x20202020);
    ck_assert_uint_eq(words[32], 0x07070707);
    ck_assert_uint_eq(words[33], 0x07070707);
    ck_assert_uint_eq(words[34], 0x23232323);
}
END_TEST

START_TEST(no_kernel_launches_in_a_stream_that_nobody_created)
{
    ck_assert_uint_eq(
        run(CALLS(FILLS, AT("a", "128") PUT32("i", "7") PUT64("b", "8")
                             PUT64("c", "0x7374720000000010") CALL("MemsetAsync", "a, i, b, c"))),
        ERROR_INVALID_HANDLE);
    ck_assert_uint_eq(words[32], 0x21212121);
}
END_TEST

START_TEST(an_event_without_times_is_recorded_and_waited_for)
{
    ck_assert_uint_eq(run(CALLS(CREATES("Event"), CREATE("Event", "0"))), ERROR_INVALID_VALUE);
    ck_assert_uint_eq(
        run(CALLS(CREATES("Event") DECLARE("EventRecord", B64("a") "," B64("b"))
                      DECLARE("StreamWaitEvent", B64("a") "," B64("b") "," B32("i"))
                          DECLARE("EventDestroy", B64("a")),
                  CREATE("Event", "2") "    ld.u64 %s, [%out+8];\n" PUT64("a", "%s") PUT64("b", "0")
                      CALL("EventRecord", "a, b") PUT32("i", "0") CALL("StreamWaitEvent", "b, a, i")
                          CALL("EventDestroy", "a"))),
        0);
    ck_assert_uint_eq(
        run(CALLS(DECLARE("EventDestroy", B64("a")), PUT64("a", "0") CALL("EventDestroy", "a"))),
        ERROR_INVALID_HANDLE);
}
END_TEST

/* The copy sees what the fill before it wrote. */
START_TEST(copies_and_fills_have_their_place_in_their_stream)
{
    ck_assert_uint_eq(
        run(CALLS(COPIES FILLS,
                  AT("a", "128") PUT32("i", "9") PUT64("b", "7") PUT64("c", "0")
                      CALL("MemsetAsync", "a, i, b, c") AT("b", "128") AT("a", "64") PUT64("c", "5")
                          PUT64("d", "0") CALL("MemcpyAsync", "a, b, c, i, d"))),
        0);
    ck_assert_uint_eq(words[32], 0x09090909);
    ck_assert_uint_eq(words[33], 0x22090909);
    ck_assert_uint_eq(words[16], 0x09090909);
    ck_assert_uint_eq(words[17], 0x12121209);
}
END_TEST

START_TEST(rows_are_copied_with_their_pitches)
{
    ck_assert_uint_eq(
        run(CALLS(COPIES_2D,
                  "    .param .b64 h;\n" AT("a", "64") PUT64("b", "16") AT("c", "128")
                      PUT64("d", "8") PUT64("f", "6") PUT64("g", "2") PUT32("i", "3")
                          PUT64("h", "0") CALL("Memcpy2DAsync_ptsz", "a, b, c, d, f, g, i, h"))),
        0);
    ck_assert_uint_eq(words[16], 0x21212121);
    ck_assert_uint_eq(words[17], 0x12122222);
    ck_assert_uint_eq(words[18], 0x13131313);
    ck_assert_uint_eq(words[20], 0x23232323);
    ck_assert_uint_eq(words[21], 0x16162424);
}
END_TEST

#define FIELD(offset, value) \
    "    mov.u64 %y, " value ";\n    st.u64 [%s+" offset "], %y;\n"
#define PLACE(offset, x, y, z) \
    FIELD(offset, "0") FIELD(offset "+8", x) FIELD(offset "+16", y) FIELD(offset "+24", z)
#define PITCHED(offset, at, pitch, rows)                                            \
    "    add.u64 %y, %out, " at ";\n    st.u64 [%s+" offset "], %y;\n"              \
    FIELD(offset "+8", pitch) FIELD(offset "+16", pitch) FIELD(offset "+24", rows)
#define BOX                                                                         \
    "    .local .align 8 .b8 box[160];\n    mov.u64 %s, box;\n"                     \
    "    cvta.local.u64 %s, %s;\n" PLACE("0", "1", "1", "0") PITCHED("32", "128", "8", "3") \
    PLACE("64", "0", "0", "1") PITCHED("96", "64", "4", "4") FIELD("128", "2")      \
    FIELD("136", "2") FIELD("144", "2") FIELD("152", "3")
#define COPY_BOX PUT64("a", "%s") PUT64("b", "0") CALL("Memcpy3DAsync", "a, b")
#define COPIES_BOXES DECLARE("Memcpy3DAsync", B64("a") "," B64("b"))

/* From byte 1 of row 1 on of slices of 3 rows of 8 bytes, to slice 1 of slices of 4 rows of 4. */
START_TEST(boxes_are_copied_with_their_positions)
{
    ck_assert_uint_eq(run(CALLS(COPIES_BOXES, BOX COPY_BOX)), 0);
    ck_assert_uint_eq(words[20], 0x15152323);
    ck_assert_uint_eq(words[21], 0x16162525);
    ck_assert_uint_eq(words[22], 0x17171717);
    ck_assert_uint_eq(words[24], 0x19192929);
    ck_assert_uint_eq(words[25], 0x1a1a2b2b);
    ck_assert_uint_eq(run(CALLS(COPIES_BOXES, BOX FIELD("64", "8") COPY_BOX)),
                      ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(boxes_are_filled_with_their_pitch)
{
    ck_assert_uint_eq(
        run(CALLS(DECLARE("Memset3DAsync", ".param .align 8 .b8 p[32], " B32("i") ", "
                                           ".param .align 8 .b8 q[24], " B64("b")),
                  "    .param .align 8 .b8 p[32], q[24];\n    add.u64 %y, %out, 64;\n"
                  "    st.param.b64 [p], %y;\n    st.param.b64 [p+8], 8;\n"
                  "    st.param.b64 [p+16], 8;\n    st.param.b64 [p+24], 2;\n"
                  "    st.param.b64 [q], 3;\n    st.param.b64 [q+8], 1;\n"
                  "    st.param.b64 [q+16], 2;\n" PUT32("i", "9") PUT64("b", "0")
                      CALL("Memset3DAsync", "p, i, q, b"))),
        0);
    ck_assert_uint_eq(words[16], 0x11090909);
    ck_assert_uint_eq(words[17], 0x12121212);
    ck_assert_uint_eq(words[18], 0x13131313);
    ck_assert_uint_eq(words[20], 0x15090909);
    ck_assert_uint_eq(words[24], 0x19191919);
}
END_TEST

START_TEST(a_kernel_asks_for_a_limit)
{
#define LIMITS DECLARE("DeviceGetLimit", B64("a") "," B32("i"))
#define LIMIT(which) AT("a", "8") PUT32("i", which) CALL("DeviceGetLimit", "a, i")
    ck_success(cx_emu_call_ctx_set_limit(CXU_LIMIT_PRINTF_FIFO_SIZE, 3 << 20));
    ck_assert_uint_eq(run(CALLS(LIMITS, LIMIT("1"))), 0);
    ck_assert_uint_eq(words[2], 3 << 20);
    ck_assert_uint_eq(words[3], 0);
    ck_assert_uint_eq(run(CALLS(LIMITS, LIMIT("99"))), ERROR_UNSUPPORTED_LIMIT);
    ck_assert_uint_eq(run(CALLS(DECLARE("DeviceGetCacheConfig", B64("a")),
                                AT("a", "8") CALL("DeviceGetCacheConfig", "a"))),
                      0);
    ck_assert_uint_eq(words[2], 0);
}
END_TEST

START_TEST(a_kernel_allocates_and_frees_as_by_malloc)
{
    ck_assert_uint_eq(
        run(CALLS(
            DECLARE("Malloc", B64("a") "," B64("b")) DECLARE("Free", B64("a")),
            AT("a", "8") PUT64("b", "64")
                CALL("Malloc", "a, b") "    ld.u64 %s, [%out+8];\n    st.u32 [%s+60], 5;\n"
                                       "    ld.u32 %x, [%s+60];\n    st.u32 [%out+16], %x;\n" PUT64(
                                           "a", "%s") CALL("Free", "a"))),
        0);
    ck_assert_uint_eq(words[4], 5);
}
END_TEST

START_TEST(a_kernel_asks_for_its_device)
{
#define ASKS DECLARE("DeviceGetAttribute", B64("a") "," B32("i") "," B32("j"))
#define ASK(what, device) \
    AT("a", "8") PUT32("i", what) PUT32("j", device) CALL("DeviceGetAttribute", "a, i, j")
    ck_assert_uint_eq(run(CALLS(ASKS, ASK("10", "0"))), 0); /* the size of a warp */
    ck_assert_uint_eq(words[2], 32);
    ck_assert_uint_eq(words[3], 0x04040404);
    ck_assert_uint_eq(run(CALLS(ASKS, ASK("9999", "0"))), ERROR_INVALID_VALUE);
    ck_assert_uint_eq(run(CALLS(ASKS, ASK("10", "1"))), ERROR_INVALID_DEVICE);
    ck_assert_uint_eq(
        run(CALLS(DECLARE("GetDeviceCount", B64("a")), AT("a", "8") CALL("GetDeviceCount", "a"))),
        0);
    ck_assert_uint_eq(words[2], 2);
}
END_TEST

/* ---- other kernels ---- */

#define CHILD                                                                           \
    ".visible .entry child(.param .u64 at, .param .u32 number)\n.maxntid 128, 1, 1\n{\n" \
    "    .reg .b32 %x;\n    .reg .b64 %at;\n    .shared .b8 fixed[1024];\n"             \
    "    ld.param.u64 %at, [at];\n    ld.param.u32 %x, [number];\n"                      \
    "    st.u32 [%at+128], %x;\n    ret;\n}\n"
#define KERNEL(name, kernel) "    mov.u64 %s, " kernel ";\n" PUT64(name, "%s")

START_TEST(a_kernel_asks_for_what_another_one_needs)
{
#define ATTRIBUTES(kernel)                                             \
    CALLS(CHILD DECLARE("FuncGetAttributes", B64("a") "," B64("b")), \
          AT("a", "8") KERNEL("b", kernel) CALL("FuncGetAttributes", "a, b"))
    ck_assert_uint_eq(run(ATTRIBUTES("child")), 0);
    ck_assert_uint_eq(words[2], 1024); /* sharedSizeBytes */
    ck_assert_uint_eq(words[3], 0);
    ck_assert_uint_eq(words[4], 0); /* constSizeBytes */
    ck_assert_uint_eq(words[8], 128); /* maxThreadsPerBlock */
    ck_assert_uint_gt(words[9], 0);   /* numRegs */
    ck_assert_uint_eq(words[13], (48 << 10) - 1024); /* maxDynamicSharedSizeBytes */
    ck_assert_uint_eq(run(ATTRIBUTES("16")), ERROR_INVALID_FUNCTION);
#undef ATTRIBUTES
}
END_TEST

START_TEST(a_kernel_asks_how_many_blocks_of_another_one_fit)
{
#define BLOCKS(kernel, threads, bytes)                                                      \
    CALLS(CHILD DECLARE("OccupancyMaxActiveBlocksPerMultiprocessor",                       \
                        B64("a") "," B64("b") "," B32("i") "," B64("c")),                  \
          AT("a", "8") KERNEL("b", kernel) PUT32("i", threads) PUT64("c", bytes)           \
              CALL("OccupancyMaxActiveBlocksPerMultiprocessor", "a, b, i, c"))
    ck_assert_uint_eq(run(BLOCKS("child", "128", "0")), 0);
    ck_assert_uint_eq(words[2], 8); /* 1024 threads of a multiprocessor */
    ck_assert_uint_eq(run(BLOCKS("child", "128", "31744")), 0);
    ck_assert_uint_eq(words[2], 2); /* 64 KB of a multiprocessor */
    ck_assert_uint_eq(run(BLOCKS("child", "129", "0")), 0);
    ck_assert_uint_eq(words[2], 0);
    ck_assert_uint_eq(run(BLOCKS("child", "0", "0")), ERROR_INVALID_VALUE);
    ck_assert_uint_eq(run(BLOCKS("16", "32", "0")), ERROR_INVALID_FUNCTION);
#undef BLOCKS
}
END_TEST

/* cudaGetParameterBuffer with a size, which knows no kernel yet: CUB's launches in kernels. */
START_TEST(a_kernel_launches_with_a_buffer_of_its_own_size)
{
#define SIZE(name, value)                                                      \
    "    st.param.b32 [" name "], " value ";\n    st.param.b32 [" name "+4], 1;\n" \
    "    st.param.b32 [" name "+8], 1;\n"
#define LAUNCH(kernel, bytes, threads)                                                           \
    CALLS(CHILD ".extern .func (.param .b64 r) __cudaCDP2GetParameterBuffer(.param .b64 a, "    \
                ".param .b64 b);\n" DECLARE("LaunchDevice",                                     \
                                            B64("a") "," B64("b") ",.param .align 4 .b8 x[12]," \
                                            ".param .align 4 .b8 y[12]," B32("i") "," B64("c")), \
          "    .param .align 4 .b8 x[12], y[12];\n" PUT64("a", "64") PUT64("b", bytes)          \
          "    call.uni (c), __cudaCDP2GetParameterBuffer, (a, b);\n"                           \
          "    ld.param.u64 %y, [c];\n    st.u64 [%y], %out;\n    st.u32 [%y+8], 77;\n"        \
          PUT64("b", "%y") KERNEL("a", kernel) SIZE("x", "1") SIZE("y", threads)                \
          PUT32("i", "0") PUT64("c", "0") CALL("LaunchDevice", "a, b, x, y, i, c"))
    ck_assert_uint_eq(run(LAUNCH("child", "12", "1")), 0);
    ck_assert_uint_eq(words[32], 77);
    ck_assert_uint_eq(run(LAUNCH("child", "4096", "128")), 0); /* more than the kernel takes */
    ck_assert_uint_eq(words[32], 77);
    ck_assert_uint_eq(run(LAUNCH("child", "12", "129")), ERROR_INVALID_CONFIGURATION);
    ck_assert_uint_ne(words[32], 77);
    ck_assert_uint_eq(run(LAUNCH("16", "12", "1")), ERROR_INVALID_FUNCTION);
#undef LAUNCH
#undef SIZE
}
END_TEST

static const struct text_row {
    const char *function, *error, *text;
} texts[] = {{"String", "1", "invalid argument"},
             {"Name", "69", "cudaErrorLaunchPendingCountExceeded"},
             {"Name", "0", "cudaSuccess"},
             {"String", "12345", "unrecognized error code"}};

START_TEST(a_kernel_reads_the_text_of_an_error)
{
    static char text[2000];

    snprintf(text, sizeof text,
             PTX_HEAD ".extern .func (.param .b64 s) __cudaCDP2GetError%s(.param .b32 e);\n"
                      ".visible .entry k(.param .u64 out)\n{\n    .reg .pred %%p;\n"
                      "    .reg .b32 %%x;\n    .reg .b64 %%o, %%s;\n    .param .b32 e;\n"
                      "    .param .b64 s;\n    ld.param.u64 %%o, [out];\n"
                      "    st.param.b32 [e], %s;\n    call.uni (s), __cudaCDP2GetError%s, (e);\n"
                      "    ld.param.b64 %%s, [s];\nNEXT:\n    ld.u8 %%x, [%%s];\n"
                      "    st.u8 [%%o], %%x;\n    add.u64 %%s, %%s, 1;\n    add.u64 %%o, %%o, 1;\n"
                      "    setp.ne.u32 %%p, %%x, 0;\n    @%%p bra NEXT;\n    ret;\n}\n",
             texts[_i].function, texts[_i].error, texts[_i].function);
    run(text);
    ck_assert_str_eq((const char *)words, texts[_i].text);
}
END_TEST

static Suite *device_calls_suite(void)
{
    Suite *suite = suite_create("device_calls");
    TCase *tcase = tcase_create("device_calls");

    tcase_add_checked_fixture(tcase, work_setup, work_teardown);
    tcase_add_test(tcase, a_kernel_creates_streams_that_do_not_block_and_launches_there);
    tcase_add_test(tcase, no_kernel_launches_in_a_stream_that_nobody_created);
    tcase_add_test(tcase, an_event_without_times_is_recorded_and_waited_for);
    tcase_add_test(tcase, copies_and_fills_have_their_place_in_their_stream);
    tcase_add_test(tcase, rows_are_copied_with_their_pitches);
    tcase_add_test(tcase, boxes_are_copied_with_their_positions);
    tcase_add_test(tcase, boxes_are_filled_with_their_pitch);
    tcase_add_test(tcase, a_kernel_asks_for_a_limit);
    tcase_add_test(tcase, a_kernel_allocates_and_frees_as_by_malloc);
    tcase_add_test(tcase, a_kernel_asks_for_its_device);
    tcase_add_test(tcase, a_kernel_asks_for_what_another_one_needs);
    tcase_add_test(tcase, a_kernel_asks_how_many_blocks_of_another_one_fit);
    tcase_add_test(tcase, a_kernel_launches_with_a_buffer_of_its_own_size);
    tcase_add_loop_test(tcase, a_kernel_reads_the_text_of_an_error, 0,
                        (int)(sizeof texts / sizeof texts[0]));
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(device_calls_suite);
