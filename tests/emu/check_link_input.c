/* Linking objects and archives of the host with PTX in fat binaries, and the device runtime. */
#include "kernels.h"
#include "work_fixture.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_BYTES ((size_t)32 << 10)
#define FAT_HEADER 16
#define FAT_ENTRY 64

enum { PTX = 1, MACHINE = 2 };

/* A file in the making. */
typedef struct file {
    _Alignas(8) unsigned char bytes[FILE_BYTES];
    size_t used;
} file;

static CUlinkState state;
static char errors[300];

static void setup(void)
{
    static cxu_jit_option options[] = {CXU_JIT_ERROR_LOG_BUFFER,
                                       CXU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    static void *values[2];

    work_setup();
    values[0] = errors;
    values[1] = (void *)sizeof errors;
    ck_success(cx_emu_call_link_create(2, options, values, &state));
}

static void teardown(void)
{
    ck_success(cx_emu_call_link_destroy(state));
    work_teardown();
}

/* ---- making files ---- */

static void put(file *self, const void *bytes, size_t size)
{
    ck_assert_uint_le(self->used + size + 8, FILE_BYTES);
    memcpy(self->bytes + self->used, bytes, size);
    self->used += size;
}

static void pad(file *self, size_t align)
{
    while (self->used % align)
        put(self, "", 1);
}

static void set(file *self, size_t at, uint64_t value, size_t size)
{
    memcpy(self->bytes + at, &value, size);
}

/* A fat binary with one entry. */
static void put_fat(file *self, int kind, const char *text)
{
    size_t at = self->used, size = strlen(text) + 1;
    static const unsigned char zeros[FAT_HEADER + FAT_ENTRY];

    put(self, zeros, sizeof zeros);
    put(self, text, size);
    pad(self, 8);
    size = self->used - at - FAT_HEADER - FAT_ENTRY;
    set(self, at, 0xba55ed50, 4);
    set(self, at + 4, 1, 2);
    set(self, at + 6, FAT_HEADER, 2);
    set(self, at + 8, FAT_ENTRY + size, 8);
    set(self, at + FAT_HEADER, (uint64_t)kind, 2);
    set(self, at + FAT_HEADER + 4, FAT_ENTRY, 4);
    set(self, at + FAT_HEADER + 8, size, 8);
    set(self, at + FAT_HEADER + 28, 75, 4);
}

/* An object whose one section has that name and content. */
static void put_object(file *self, const char *name, const file *content)
{
    static const char names[] = "\0.shstrtab\0";
    size_t begin = self->used;
    Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                         .e_type = ET_REL,
                         .e_machine = EM_X86_64,
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = 3,
                         .e_shstrndx = 1};
    Elf64_Shdr sections[3] = {{0}, {.sh_name = 1, .sh_type = SHT_STRTAB}, {.sh_name = 11}};

    put(self, &header, sizeof header);
    sections[1].sh_offset = self->used - begin;
    sections[1].sh_size = sizeof names - 1 + strlen(name) + 1;
    put(self, names, sizeof names - 1);
    put(self, name, strlen(name) + 1);
    pad(self, 8);
    sections[2].sh_type = SHT_PROGBITS;
    sections[2].sh_offset = self->used - begin;
    sections[2].sh_size = content->used;
    put(self, content->bytes, content->used);
    pad(self, 8);
    set(self, begin + offsetof(Elf64_Ehdr, e_shoff), self->used - begin, 8);
    put(self, sections, sizeof sections);
}

static void put_member(file *self, const char *name, const file *content)
{
    char header[61];

    snprintf(header, sizeof header, "%-16s%-12d%-6d%-6d%-8d%-10zu`\n", name, 0, 0, 0, 644,
             content->used);
    put(self, header, 60);
    put(self, content->bytes, content->used);
    pad(self, 2);
}

static cxu_result add(cxu_jit_input_type type, file *what)
{
    return cx_emu_call_link_add_data(state, type, what->bytes, what->used, "file", 0, NULL, NULL);
}

/* ---- running the result ---- */

static CUfunction complete(const char *name)
{
    CUmodule module;
    CUfunction function;
    void *image;
    size_t bytes;
    cxu_result result = cx_emu_call_link_complete(state, &image, &bytes);

    ck_assert_msg(result == CXU_SUCCESS, "%d: %s", result, errors);
    ck_success(cx_emu_call_module_load_data(&module, image));
    ck_success(cx_emu_call_module_get_function(&function, module, name));
    return function;
}

#define PTX_ANSWER(value)                                                            \
    PTX_HEAD ".visible .func (.param .b32 result) answer\n{\n    st.param.b32 [result], " value \
             ";\n    ret;\n}\n"
#define PTX_OTHER PTX_HEAD ".visible .func other\n{\n    ret;\n}\n"
#define PTX_TELL                                                                     \
    PTX_HEAD ".extern .func (.param .b32 result) answer;\n.extern .func other;\n"     \
             ".visible .entry tell(.param .u64 at)\n{\n    .reg .b32 %r;\n"           \
             "    .reg .b64 %at;\n    .param .b32 result;\n    ld.param.u64 %at, [at];\n" \
             "    call.uni other;\n    call.uni (result), answer;\n"                  \
             "    ld.param.b32 %r, [result];\n    st.global.u32 [%at], %r;\n    ret;\n}\n"

static void expect_told(uint32_t expected)
{
    CUdeviceptr at = make_memory(sizeof(uint32_t));
    CUfunction function = complete("tell");
    void *parameters[] = {&at};
    uint32_t word = 0;

    ck_success(cx_emu_call_launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    ck_success(cx_emu_call_ctx_synchronize());
    read_device(&word, at, sizeof word);
    ck_assert_uint_eq(word, expected);
}

static cxu_result add_text(const char *text)
{
    return cx_emu_call_link_add_data(state, CXU_JIT_INPUT_PTX, (void *)text, strlen(text) + 1, "",
                                     0, NULL, NULL);
}

START_TEST(an_object_may_have_several_fat_binaries)
{
    static const char *const sections[] = {".nv_fatbin", "__nv_relfatbin"};
    static file content, object;

    content.used = object.used = 0;
    put_fat(&content, PTX, PTX_ANSWER("31"));
    put_fat(&content, PTX, PTX_OTHER);
    put_object(&object, sections[_i], &content);
    ck_success(add_text(PTX_TELL));
    ck_success(add(CXU_JIT_INPUT_OBJECT, &object));
    expect_told(31);
}
END_TEST

START_TEST(an_archive_has_objects_and_other_things)
{
    static file content, object, archive, words;

    put(&archive, "!<arch>\n", 8);
    put(&words, "odd", 3);
    put_member(&archive, "/", &words);
    put_fat(&content, PTX, PTX_OTHER);
    put_object(&object, "__nv_relfatbin", &content);
    put_member(&archive, "other.o/", &object);
    object.used = content.used = 0;
    put_object(&object, ".text", &words);
    put_member(&archive, "host.o/", &object);
    object.used = 0;
    put_fat(&content, PTX, PTX_ANSWER("32"));
    put_object(&object, ".nv_fatbin", &content);
    put_member(&archive, "answer.o/", &object);
    ck_success(add(CXU_JIT_INPUT_LIBRARY, &archive));
    ck_success(add_text(PTX_TELL));
    expect_told(32);
}
END_TEST

START_TEST(an_object_comes_from_a_file_too)
{
    static file content, object;
    char path[] = "/tmp/check_link_XXXXXX";
    int descriptor = mkstemp(path);
    cxu_result result;

    put_fat(&content, PTX, PTX_ANSWER("33"));
    put_fat(&content, PTX, PTX_OTHER);
    put_object(&object, "__nv_relfatbin", &content);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(write(descriptor, object.bytes, object.used), (ssize_t)object.used);
    close(descriptor);
    result = cx_emu_call_link_add_file(state, CXU_JIT_INPUT_OBJECT, path, 0, NULL, NULL);
    unlink(path);
    ck_success(result);
    ck_success(add_text(PTX_TELL));
    expect_told(33);
}
END_TEST

START_TEST(code_without_ptx_is_refused)
{
    static file content, object, empty;

    put_fat(&content, MACHINE, "machine code");
    put_object(&object, ".nv_fatbin", &content);
    ck_result(add(CXU_JIT_INPUT_OBJECT, &object), NO_BINARY_FOR_GPU);
    ck_assert_ptr_nonnull(strstr(errors, "no PTX"));
    put_object(&empty, ".text", &content);
    ck_result(add(CXU_JIT_INPUT_OBJECT, &empty), NO_BINARY_FOR_GPU);
}
END_TEST

/* Each cut and each changed byte is found, or gives the same code. */
START_TEST(damaged_files_are_refused)
{
    static file content, object, archive, damaged;
    cxu_result result;

    put_fat(&content, PTX, PTX_OTHER);
    put_object(&object, ".nv_fatbin", &content);
    put(&archive, "!<arch>\n", 8);
    put_member(&archive, "other.o/", &object);
    for (size_t cut = 8; cut < archive.used; cut += 7) {
        unsigned char *copy = malloc(cut);

        memcpy(copy, archive.bytes, cut);
        result = cx_emu_call_link_add_data(state, CXU_JIT_INPUT_LIBRARY, copy, cut, "", 0, NULL,
                                           NULL);
        ck_assert(result == CXU_INVALID_IMAGE || result == CXU_NO_BINARY_FOR_GPU);
        free(copy);
    }
    for (size_t at = 8; at < archive.used; at++) {
        if (at >= 8 + 60 + 64 + 24 && at < archive.used - 3 * sizeof(Elf64_Shdr) &&
            at >= 8 + 60 + 64 + 24 + FAT_HEADER + FAT_ENTRY)
            continue; /* PTX itself */
        damaged = archive;
        damaged.bytes[at] ^= 0xff;
        result = add(CXU_JIT_INPUT_LIBRARY, &damaged);
        ck_assert(result == CXU_SUCCESS || result == CXU_INVALID_IMAGE ||
                  result == CXU_NO_BINARY_FOR_GPU || result == CXU_INVALID_PTX ||
                  result == CXU_NOT_SUPPORTED);
    }
}
END_TEST

/* ---- the device runtime ---- */

/* What is known of the real archive: the name of its object. */
static void add_device_runtime(void)
{
    static file archive, words;

    archive.used = words.used = 0;
    put(&archive, "!<arch>\n", 8);
    put(&words, "cuda_device_runtime.o/\n", 23);
    put_member(&archive, "//", &words);
    ck_success(add(CXU_JIT_INPUT_LIBRARY, &archive));
}

#define GRID_DECLARED                                                                         \
    ".extern .func (.param .b64 func_retval0) cudaCGGetIntrinsicHandle(.param .b32 a);\n"     \
    ".extern .func (.param .b32 func_retval0) cudaCGSynchronize(.param .b64 a, .param .b32 b);\n"

/* rounds(at, count): in each round a block writes its word, waits for all, and adds up those of all
 * blocks; at the end each thread of a block has the sum of all rounds. */
static const char rounds[] = PTX_HEAD GRID_DECLARED
    ".visible .entry rounds(.param .u64 at, .param .u32 count)\n{\n"
    "    .reg .pred %p;\n    .reg .b32 %r<12>;\n    .reg .b64 %at, %grid, %a<4>;\n"
    "    .param .b32 scope;\n    .param .b64 handle;\n    .param .b32 flags;\n"
    "    .param .b64 result;\n    .param .b32 error;\n"
    "    ld.param.u64 %at, [at];\n    ld.param.u32 %r9, [count];\n"
    "    st.param.b32 [scope], 1;\n"
    "    call.uni (result), cudaCGGetIntrinsicHandle, (scope);\n"
    "    ld.param.b64 %grid, [result];\n"
    "    mov.u32 %r1, %ctaid.x;\n    mov.u32 %r2, %nctaid.x;\n    mov.u32 %r7, 0;\n"
    "    mul.wide.u32 %a1, %r1, 4;\n    add.u64 %a1, %at, %a1;\n    mov.u32 %r3, 0;\n"
    "ROUND:\n"
    "    add.u32 %r4, %r1, %r3;\n    st.volatile.global.u32 [%a1], %r4;\n"
    "    st.param.b64 [handle], %grid;\n    st.param.b32 [flags], 0;\n"
    "    call.uni (error), cudaCGSynchronize, (handle, flags);\n"
    "    ld.param.b32 %r6, [error];\n    setp.ne.u32 %p, %r6, 0;\n    @%p trap;\n"
    "    mov.u32 %r5, 0;\n"
    "ADD:\n"
    "    mul.wide.u32 %a2, %r5, 4;\n    add.u64 %a2, %at, %a2;\n"
    "    ld.volatile.global.u32 %r6, [%a2];\n    add.u32 %r7, %r7, %r6;\n"
    "    add.u32 %r5, %r5, 1;\n    setp.lt.u32 %p, %r5, %r2;\n    @%p bra ADD;\n"
    "    call.uni (error), cudaCGSynchronize, (handle, flags);\n"
    "    add.u32 %r3, %r3, 1;\n    setp.lt.u32 %p, %r3, %r9;\n    @%p bra ROUND;\n"
    "    st.global.u32 [%a1], %r7;\n    ret;\n}\n";

START_TEST(blocks_of_a_cooperative_grid_wait_for_each_other)
{
    enum { BLOCKS = 6, ROUNDS = 3 };
    CUdeviceptr at = make_memory(BLOCKS * sizeof(uint32_t));
    uint32_t count = ROUNDS, words[BLOCKS], expected = 0;
    void *parameters[] = {&at, &count};

    add_device_runtime();
    ck_success(add_text(rounds));
    ck_success(cx_emu_call_launch_cooperative_kernel(complete("rounds"), BLOCKS, 1, 1, 40, 1, 1, 0,
                                                     NULL, parameters));
    ck_success(cx_emu_call_ctx_synchronize());
    for (uint32_t round = 0; round < ROUNDS; round++)
        for (uint32_t block = 0; block < BLOCKS; block++)
            expected += block + round;
    read_device(words, at, sizeof words);
    for (int i = 0; i < BLOCKS; i++)
        ck_assert_uint_eq(words[i], expected);
}
END_TEST

/* tell(at): the handle of the scope 1, that of 2, and the error without one. */
static const char handles[] = PTX_HEAD GRID_DECLARED
    ".visible .entry tell(.param .u64 at)\n{\n"
    "    .reg .b32 %r;\n    .reg .b64 %at, %grid;\n"
    "    .param .b32 scope;\n    .param .b64 handle;\n    .param .b32 flags;\n"
    "    .param .b64 result;\n    .param .b32 error;\n    ld.param.u64 %at, [at];\n"
    "    st.param.b32 [scope], 1;\n    call.uni (result), cudaCGGetIntrinsicHandle, (scope);\n"
    "    ld.param.b64 %grid, [result];\n    st.global.u64 [%at], %grid;\n"
    "    st.param.b32 [scope], 2;\n    call.uni (result), cudaCGGetIntrinsicHandle, (scope);\n"
    "    ld.param.b64 %grid, [result];\n    st.global.u64 [%at+8], %grid;\n"
    "    st.param.b64 [handle], 0;\n    st.param.b32 [flags], 0;\n"
    "    call.uni (error), cudaCGSynchronize, (handle, flags);\n"
    "    ld.param.b32 %r, [error];\n    st.global.u32 [%at+16], %r;\n    ret;\n}\n";

START_TEST(only_a_cooperative_grid_has_a_handle)
{
    CUdeviceptr at = make_memory(24);
    void *parameters[] = {&at};
    uint64_t words[3] = {7, 7, 0};
    CUfunction function;

    add_device_runtime();
    ck_success(add_text(handles));
    function = complete("tell");
    ck_success(cx_emu_call_launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    ck_success(cx_emu_call_ctx_synchronize());
    read_device(words, at, 20);
    ck_assert_uint_eq(words[0], 0);
    ck_assert_uint_eq(words[1], 0);
    ck_assert_uint_eq((uint32_t)words[2], 1);
    ck_success(cx_emu_call_launch_cooperative_kernel(function, 1, 1, 1, 1, 1, 1, 0, NULL,
                                                     parameters));
    ck_success(cx_emu_call_ctx_synchronize());
    read_device(words, at, 20);
    ck_assert_uint_ne(words[0], 0);
    ck_assert_uint_eq(words[1], 0);
}
END_TEST

START_TEST(other_functions_of_the_device_runtime_are_named)
{
    void *image;

    add_device_runtime();
    ck_success(add_text(PTX_HEAD ".extern .func (.param .b32 r) cudaDeviceSynchronize;\n"
                                 ".visible .entry k()\n{\n    .param .b32 r;\n"
                                 "    call.uni (r), cudaDeviceSynchronize;\n    ret;\n}\n"));
    ck_result(cx_emu_call_link_complete(state, &image, NULL), INVALID_PTX);
    ck_assert_ptr_nonnull(strstr(errors, "cudaDeviceSynchronize"));
}
END_TEST

static Suite *input_suite(void)
{
    Suite *suite = suite_create("link_input");
    TCase *tcase = tcase_create("link_input");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, an_object_may_have_several_fat_binaries, 0, 2);
    tcase_add_test(tcase, an_archive_has_objects_and_other_things);
    tcase_add_test(tcase, an_object_comes_from_a_file_too);
    tcase_add_test(tcase, code_without_ptx_is_refused);
    tcase_add_test(tcase, damaged_files_are_refused);
    tcase_add_test(tcase, blocks_of_a_cooperative_grid_wait_for_each_other);
    tcase_add_test(tcase, only_a_cooperative_grid_has_a_handle);
    tcase_add_test(tcase, other_functions_of_the_device_runtime_are_named);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(input_suite);
