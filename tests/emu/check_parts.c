/* Images of several parts, which are linked as they are loaded: what nvcc -rdc=true makes (K1). */
#include "kernels.h"
#include "work_fixture.h"

#include <string.h>

#define PART_BYTES 8192

enum { PTX = 1, MACHINE = 2 };

typedef struct part {
    struct {
        uint32_t magic;
        uint16_t version, header_bytes;
        uint64_t bytes;
    } head;
    struct {
        uint16_t kind, version;
        uint32_t header_bytes;
        uint64_t bytes;
        uint32_t unused[3], architecture;
        uint64_t more[4];
    } entry;
    char text[PART_BYTES];
} part;

typedef struct wrapper {
    uint32_t magic, version;
    const void *content;
    const void *const *parts;
} wrapper;

static const struct {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;
} nothing = {0xba55ed50, 1, 16, 0};

static void fill_part(part *self, int kind, const char *text)
{
    memset(self, 0, sizeof *self);
    self->head.magic = 0xba55ed50;
    self->head.version = 1;
    self->head.header_bytes = sizeof self->head;
    self->head.bytes = sizeof self->entry + sizeof self->text;
    self->entry.kind = (uint16_t)kind;
    self->entry.header_bytes = sizeof self->entry;
    self->entry.bytes = sizeof self->text;
    self->entry.architecture = 75;
    ck_assert_uint_lt(strlen(text), sizeof self->text);
    strcpy(self->text, text);
}

static wrapper wrap(const void *const *parts)
{
    return (wrapper){0x466243b1, 2, &nothing, parts};
}

/* use(out): what the other part gives for 3, plus its variable; `hidden` is in both parts. */
#define USER                                                                                 \
    PTX_HEAD ".extern .func (.param .b32 r) give(.param .b32 a);\n"                          \
             ".extern .global .align 4 .u32 more;\n.global .align 4 .u32 hidden = 100;\n"    \
             ".visible .entry use(.param .u64 out)\n{\n"                                     \
             ".reg .b32 %r<5>;\n.reg .b64 %d;\n.param .b32 a, r;\nld.param.u64 %d, [out];\n" \
             "st.param.b32 [a], 3;\ncall.uni (r), give, (a);\nld.param.b32 %r1, [r];\n"      \
             "ld.global.u32 %r2, [more];\nadd.u32 %r1, %r1, %r2;\n"                          \
             "ld.global.u32 %r3, [hidden];\nadd.u32 %r1, %r1, %r3;\n"                        \
             "st.global.u32 [%d], %r1;\nret;\n}\n"
#define GIVER                                                                                    \
    PTX_HEAD ".visible .global .align 4 .u32 more = 10;\n.global .align 4 .u32 hidden = 1000;\n" \
             ".visible .func (.param .b32 r) give(.param .b32 a)\n{\n.reg .b32 %r<3>;\n"         \
             "ld.param.b32 %r1, [a];\nld.global.u32 %r2, [hidden];\nadd.u32 %r1, %r1, %r2;\n"    \
             "st.param.b32 [r], %r1;\nret;\n}\n"

static part first, second, third;

static uint32_t use(CUfunction function)
{
    CUdeviceptr out = make_memory(4);
    void *parameters[] = {&out};
    uint32_t found;

    ck_success(cx_emu_call_launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    ck_success(cx_emu_call_ctx_synchronize());
    read_device(&found, out, sizeof found);
    return found;
}

START_TEST(the_parts_of_an_image_are_linked)
{
    const void *parts[] = {&first, &second, NULL};
    wrapper image = wrap(parts);
    CUfunction function;
    CUmodule module;
    CUlibrary library;
    CUkernel kernel;

    fill_part(&first, PTX, USER);
    fill_part(&second, PTX, GIVER);
    ck_success(cx_emu_call_module_load_data(&module, &image));
    ck_success(cx_emu_call_module_get_function(&function, module, "use"));
    ck_assert_uint_eq(use(function), 3 + 1000 + 10 + 100);
    ck_success(cx_emu_call_module_unload(module));
    ck_success(cx_emu_call_library_load_data(&library, &image, NULL, NULL, 0, NULL, NULL, 0));
    ck_success(cx_emu_call_library_get_kernel(&kernel, library, "use"));
    ck_assert_uint_eq(use((CUfunction)(void *)kernel), 1113);
    ck_success(cx_emu_call_library_unload(library));
    ck_success(cx_emu_call_module_load_fat_binary(&module, &image));
    ck_success(cx_emu_call_module_unload(module));
}
END_TEST

START_TEST(a_part_that_lacks_another_is_refused)
{
    const void *parts[] = {&first, NULL, &second, NULL};
    wrapper image = wrap(parts);
    CUmodule module;

    fill_part(&first, PTX, USER);
    fill_part(&second, PTX, GIVER);
    ck_result(cx_emu_call_module_load_data(&module, &image), INVALID_PTX);
    parts[1] = &third;
    fill_part(&third, MACHINE, "\177ELF");
    ck_result(cx_emu_call_module_load_data(&module, &image), NO_BINARY_FOR_GPU);
    fill_part(&third, PTX, GIVER); /* which is there twice now */
    ck_result(cx_emu_call_module_load_data(&module, &image), INVALID_PTX);
    parts[0] = NULL; /* without parts, the content counts */
    ck_result(cx_emu_call_module_load_data(&module, &image), INVALID_IMAGE);
    image.content = &third;
    ck_success(cx_emu_call_module_load_data(&module, &image));
    ck_success(cx_emu_call_module_unload(module));
}
END_TEST

/* launch(out): a grid of child(out), without parameters of the launch that matter. */
#define LAUNCHER                                                                              \
    PTX_HEAD                                                                                  \
    ".extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f, "            \
    ".param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);\n"                 \
    ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 p, .param .b64 s);\n" \
    ".visible .entry child(.param .u64 out)\n{\n.reg .b64 %d;\nld.param.u64 %d, [out];\n"     \
    "st.global.u32 [%d], 77;\nret;\n}\n"                                                      \
    ".visible .entry launch(.param .u64 out)\n{\n.reg .b64 %d<3>;\n.param .b64 f, p, s;\n"    \
    ".param .align 4 .b8 g[12];\n.param .b32 n, e;\nld.param.u64 %d1, [out];\n"               \
    "mov.u64 %d2, child;\nst.param.b64 [f], %d2;\nst.param.b32 [g], 1;\n"                     \
    "st.param.b32 [g+4], 1;\nst.param.b32 [g+8], 1;\nst.param.b32 [n], 0;\n"                  \
    "call.uni (p), __cudaCDP2GetParameterBufferV2, (f, g, g, n);\nld.param.u64 %d2, [p];\n"   \
    "st.u64 [%d2], %d1;\nst.param.b64 [p], %d2;\nst.param.b64 [s], 0;\n"                      \
    "call.uni (e), __cudaCDP2LaunchDeviceV2, (p, s);\nret;\n}\n"

/* The compiler adds the device runtime as a part, for newer devices than we have code for. */
START_TEST(the_device_runtime_is_a_part_too)
{
    const void *parts[] = {&first, &second, NULL};
    wrapper image = wrap(parts);
    CUfunction function;
    CUmodule module;

    fill_part(&first, PTX, LAUNCHER);
    fill_part(&second, PTX,
              ".version 9.0\n.target sm_121\n.address_size 64\n"
              ".func cnpGetLastError()\n{\nunknown.instruction;\n}\n");
    ck_success(cx_emu_call_module_load_data(&module, &image));
    ck_success(cx_emu_call_module_get_function(&function, module, "launch"));
    ck_assert_uint_eq(use(function), 77);
    ck_success(cx_emu_call_module_unload(module));
}
END_TEST

static Suite *parts_suite(void)
{
    Suite *suite = suite_create("parts");
    TCase *tcase = tcase_create("parts");

    tcase_add_checked_fixture(tcase, work_setup, work_teardown);
    tcase_add_test(tcase, the_parts_of_an_image_are_linked);
    tcase_add_test(tcase, a_part_that_lacks_another_is_refused);
    tcase_add_test(tcase, the_device_runtime_is_a_part_too);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(parts_suite);
