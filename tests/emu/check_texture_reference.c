/* References to textures and surfaces: what calls bind to them, and what kernels read by them. */
#include "kernels.h"
#include "work_fixture.h"

#include <string.h>

enum { WIDTH = 8, HEIGHT = 4, WORDS = WIDTH * HEIGHT };

#define HEAD                                                      \
    ".version 7.1\n.target sm_75\n.address_size 64\n"             \
    ".global .texref image;\n.global .texref line, other;\n"      \
    ".global .surfref target;\n"
#define KERNEL(name, body)                                                                  \
    ".visible .entry " name "(.param .u64 out)\n{\n"                                        \
    ".reg .pred %p<4>;\n.reg .b32 %r<16>;\n.reg .f32 %f<16>;\n.reg .b64 %d<8>;\n"           \
    "ld.param.u64 %d2, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %d3, %r1, 16;\n"          \
    "add.u64 %d2, %d2, %d3;\nmov.u32 %r5, 0;\nmov.u32 %r6, 0;\nmov.u32 %r7, 0;\n" body      \
    "st.global.v4.b32 [%d2], {%r4, %r5, %r6, %r7};\nret;\n}\n"

static const char text[] = HEAD
    /* element (tid, 1) of floats */
    KERNEL("fetch", "cvt.rn.f32.u32 %f1, %r1;\nadd.f32 %f1, %f1, 0f3F000000;\n"
                    "mov.f32 %f2, 0f3FC00000;\n"
                    "tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [image, {%f1, %f2}];\n"
                    "mov.b32 %r4, %f3;\n")
    /* the same by the reference's address in a register */
    KERNEL("aside", "cvt.rn.f32.u32 %f1, %r1;\nadd.f32 %f1, %f1, 0f3F000000;\n"
                    "mov.f32 %f2, 0f3FC00000;\nmov.u64 %d1, image;\n"
                    "tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%d1, {%f1, %f2}];\n"
                    "mov.b32 %r4, %f3;\n")
    KERNEL("linear", "tex.1d.v4.u32.s32 {%r4, %r5, %r6, %r7}, [line, {%r1}];\n")
    KERNEL("ask", "txq.width.b32 %r4, [image];\ntxq.height.b32 %r5, [image];\n")
    /* the word tid of row 2, before tid is stored there */
    KERNEL("store", "shl.b32 %r3, %r1, 2;\nmov.u32 %r8, 2;\n"
                    "suld.b.2d.b32.trap %r4, [target, {%r3, %r8}];\n"
                    "sust.b.2d.b32.trap [target, {%r3, %r8}], %r1;\n");

static CUmodule module;
static CUdeviceptr out;
static uint32_t found[64][4];

static void setup(void)
{
    work_setup();
    ck_success(cx_emu_call_module_load_data(&module, text));
    out = make_memory(sizeof found);
    ck_success(cx_emu_call_memset_d8(out, 0, sizeof found));
    ck_success(cx_emu_call_ctx_synchronize());
}

static void launch_in(const char *name, unsigned int threads, CUstream stream)
{
    void *parameters[] = {&out};
    CUfunction function;

    ck_success(cx_emu_call_module_get_function(&function, module, name));
    ck_success(cx_emu_call_launch_kernel(function, 1, 1, 1, threads, 1, 1, 0, stream, parameters,
                                         NULL));
}

static cxu_result run(const char *name, unsigned int threads)
{
    cxu_result result;

    launch_in(name, threads, NULL);
    result = cx_emu_call_ctx_synchronize();
    if (result == CXU_SUCCESS)
        read_device(found, out, threads * sizeof found[0]);
    return result;
}

static CUtexref texture(const char *name)
{
    CUtexref reference;

    ck_success(cx_emu_call_module_get_tex_ref(&reference, module, name));
    return reference;
}

static CUarray make_array(const void *content, cxu_array_format format)
{
    const cxu_array_3d_descriptor descriptor = {WIDTH,  HEIGHT, 0,
                                                format, 1,      CXU_ARRAY3D_SURFACE_LDST};
    cxu_memcpy_2d copy = {.source_type = CXU_MEMORYTYPE_HOST,
                          .source_host = content,
                          .source_pitch_bytes = WIDTH * 4,
                          .destination_type = CXU_MEMORYTYPE_ARRAY,
                          .width_bytes = WIDTH * 4,
                          .height = HEIGHT};

    ck_success(cx_emu_call_array_3d_create(&copy.destination_array, &descriptor));
    ck_success(cx_emu_call_memcpy_2d(&copy));
    return copy.destination_array;
}

static CUarray make_floats(float first)
{
    float floats[WORDS];

    for (int i = 0; i < WORDS; i++)
        floats[i] = first + (float)i;
    return make_array(floats, CXU_AD_FORMAT_FLOAT);
}

static void check_floats(float first)
{
    for (int i = 0; i < WIDTH; i++) {
        float expected = first + (float)(WIDTH + i);

        ck_assert_mem_eq(&found[i][0], &expected, 4);
    }
}

/* Linear memory of words that begin with that one. */
static CUdeviceptr make_words(uint32_t first)
{
    uint32_t words[256];
    const CUdeviceptr memory = make_memory(sizeof words);

    for (uint32_t i = 0; i < 256; i++)
        words[i] = first + i;
    ck_success(cx_emu_call_memcpy_htod(memory, words, sizeof words));
    return memory;
}

/* ---- names ---- */

START_TEST(a_module_has_its_references_by_name)
{
    CUtexref reference;
    CUsurfref surface;
    CUdeviceptr pointer;

    ck_assert_ptr_ne(texture("image"), texture("line"));
    ck_assert_ptr_eq(texture("other"), texture("other"));
    ck_success(cx_emu_call_module_get_surf_ref(&surface, module, "target"));
    ck_result(cx_emu_call_module_get_tex_ref(&reference, module, "target"), NOT_FOUND);
    ck_result(cx_emu_call_module_get_surf_ref(&surface, module, "image"), NOT_FOUND);
    ck_result(cx_emu_call_module_get_tex_ref(&reference, module, "none"), NOT_FOUND);
    ck_result(cx_emu_call_module_get_tex_ref(&reference, module, ""), INVALID_VALUE);
    ck_result(cx_emu_call_module_get_tex_ref(NULL, module, "image"), INVALID_VALUE);
    ck_result(cx_emu_call_module_get_global(&pointer, NULL, module, "image"), NOT_FOUND);
}
END_TEST

START_TEST(a_reference_ends_with_its_module)
{
    CUtexref reference = texture("image");
    unsigned int flags;

    ck_success(cx_emu_call_tex_ref_get_flags(&flags, reference));
    ck_success(cx_emu_call_module_unload(module));
    ck_result(cx_emu_call_tex_ref_get_flags(&flags, reference), INVALID_VALUE);
    ck_result(cx_emu_call_tex_ref_set_flags(reference, 0), INVALID_VALUE);
}
END_TEST

/* ---- fetches ---- */

START_TEST(kernels_fetch_from_the_array_that_is_bound)
{
    CUarray array = make_floats(10), told;

    ck_success(cx_emu_call_tex_ref_set_array(texture("image"), array, CXU_TRSA_OVERRIDE_FORMAT));
    ck_success(run("fetch", WIDTH));
    check_floats(10);
    ck_success(run("aside", WIDTH));
    check_floats(10);
    ck_success(run("ask", 1));
    ck_assert_uint_eq(found[0][0], WIDTH);
    ck_assert_uint_eq(found[0][1], HEIGHT);
    ck_success(cx_emu_call_tex_ref_get_array(&told, texture("image")));
    ck_assert_ptr_eq(told, array);
    ck_result(cx_emu_call_tex_ref_get_array(&told, texture("other")), INVALID_VALUE);
    ck_result(cx_emu_call_tex_ref_set_array(texture("image"), array, 0), INVALID_VALUE);
}
END_TEST

START_TEST(a_new_binding_takes_the_place_of_the_old_one)
{
    ck_success(cx_emu_call_tex_ref_set_array(texture("image"), make_floats(10),
                                             CXU_TRSA_OVERRIDE_FORMAT));
    ck_success(run("fetch", WIDTH));
    ck_success(cx_emu_call_tex_ref_set_array(texture("image"), make_floats(50),
                                             CXU_TRSA_OVERRIDE_FORMAT));
    ck_success(run("fetch", WIDTH));
    check_floats(50);
}
END_TEST

START_TEST(linear_memory_has_the_format_that_is_set)
{
    const CUdeviceptr memory = make_words(100);
    CUtexref line = texture("line");
    CUdeviceptr told;
    size_t offset = 1;

    ck_success(cx_emu_call_tex_ref_set_address(&offset, line, memory, 40));
    ck_assert_uint_eq(offset, 0);
    ck_success(cx_emu_call_tex_ref_set_format(line, CXU_AD_FORMAT_UNSIGNED_INT32, 1));
    ck_success(cx_emu_call_tex_ref_set_flags(line, CXU_TRSF_READ_AS_INTEGER));
    ck_success(run("linear", 16));
    for (uint32_t i = 0; i < 16; i++)
        ck_assert_uint_eq(found[i][0], i < 10 ? 100 + i : 0);
    ck_success(cx_emu_call_tex_ref_get_address(&told, line));
    ck_assert_uint_eq(told, memory);
}
END_TEST

START_TEST(an_address_between_alignments_has_an_offset)
{
    const CUdeviceptr memory = make_words(0);
    CUtexref line = texture("line");
    CUdeviceptr told;
    size_t offset;

    ck_success(cx_emu_call_tex_ref_set_format(line, CXU_AD_FORMAT_UNSIGNED_INT32, 1));
    ck_success(cx_emu_call_tex_ref_set_flags(line, CXU_TRSF_READ_AS_INTEGER));
    ck_success(cx_emu_call_tex_ref_set_address(&offset, line, memory + 8, 16));
    ck_assert_uint_eq(offset, 8);
    ck_success(cx_emu_call_tex_ref_get_address(&told, line));
    ck_assert_uint_eq(told, memory);
    ck_success(run("linear", 8));
    ck_assert_uint_eq(found[5][0], 5);
    ck_assert_uint_eq(found[6][0], 0);
    ck_result(cx_emu_call_tex_ref_set_address(NULL, line, memory + 8, 16), INVALID_VALUE);
}
END_TEST

START_TEST(pitched_memory_brings_its_format)
{
    const CUdeviceptr memory = make_words(0);
    const cxu_array_descriptor shape = {WIDTH, HEIGHT, CXU_AD_FORMAT_FLOAT, 1};
    cxu_array_format format;
    int channels;
    float floats[WIDTH];

    for (int i = 0; i < WIDTH; i++)
        floats[i] = (float)i;
    ck_success(cx_emu_call_memcpy_htod(memory + 32, floats, sizeof floats));
    ck_success(cx_emu_call_tex_ref_set_address_2d(texture("image"), &shape, memory, 32));
    ck_success(run("fetch", WIDTH));
    check_floats(-WIDTH);
    ck_success(cx_emu_call_tex_ref_get_format(&format, &channels, texture("image")));
    ck_assert_int_eq(format, CXU_AD_FORMAT_FLOAT);
    ck_assert_int_eq(channels, 1);
    ck_result(cx_emu_call_tex_ref_set_address_2d(texture("image"), &shape, memory, 16),
              INVALID_VALUE);
    ck_result(cx_emu_call_tex_ref_set_address_2d(texture("image"), NULL, memory, 32),
              INVALID_VALUE);
}
END_TEST

START_TEST(a_mipmapped_array_is_bound)
{
    const cxu_array_3d_descriptor descriptor = {WIDTH, HEIGHT, 0, CXU_AD_FORMAT_FLOAT, 1, 0};
    CUtexref image = texture("image");
    CUmipmappedArray array, told;
    float least, most, bias;
    cxu_filter_mode filter;

    ck_success(cx_emu_call_mipmapped_array_create(&array, &descriptor, 2));
    ck_success(cx_emu_call_tex_ref_set_mipmapped_array(image, array, CXU_TRSA_OVERRIDE_FORMAT));
    ck_success(cx_emu_call_tex_ref_get_mipmapped_array(&told, image));
    ck_assert_ptr_eq(told, array);
    ck_success(cx_emu_call_tex_ref_set_mipmap_level_clamp(image, 0.5F, 1.5F));
    ck_success(cx_emu_call_tex_ref_get_mipmap_level_clamp(&least, &most, image));
    ck_assert(least == 0.5F && most == 1.5F);
    ck_success(cx_emu_call_tex_ref_set_mipmap_level_bias(image, 0.25F));
    ck_success(cx_emu_call_tex_ref_get_mipmap_level_bias(&bias, image));
    ck_assert(bias == 0.25F);
    ck_success(cx_emu_call_tex_ref_set_mipmap_filter_mode(image, CXU_TR_FILTER_MODE_LINEAR));
    ck_success(cx_emu_call_tex_ref_get_mipmap_filter_mode(&filter, image));
    ck_assert_int_eq(filter, CXU_TR_FILTER_MODE_LINEAR);
    ck_success(run("fetch", WIDTH));
}
END_TEST

START_TEST(a_launch_reads_by_the_bindings_of_its_moment)
{
    CUtexref line = texture("line");
    const CUdeviceptr gate = make_memory(4);
    CUstream held = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream opens = make_stream(CXU_STREAM_NON_BLOCKING);

    ck_success(cx_emu_call_tex_ref_set_format(line, CXU_AD_FORMAT_UNSIGNED_INT32, 1));
    ck_success(cx_emu_call_tex_ref_set_flags(line, CXU_TRSF_READ_AS_INTEGER));
    ck_success(cx_emu_call_tex_ref_set_address(NULL, line, make_words(100), 1024));
    ck_success(cx_emu_call_memset_d32(gate, 0, 1));
    ck_success(cx_emu_call_ctx_synchronize());
    ck_success(cx_emu_call_stream_wait_value_32(held, gate, 1, CXU_STREAM_WAIT_VALUE_EQ));
    launch_in("linear", 1, held);
    ck_success(cx_emu_call_tex_ref_set_address(NULL, line, make_words(900), 1024));
    ck_success(cx_emu_call_memset_d32_async(gate, 1, 1, opens));
    ck_success(cx_emu_call_stream_synchronize(opens));
    ck_success(cx_emu_call_stream_synchronize(held));
    read_device(found, out, sizeof found[0]);
    ck_assert_uint_eq(found[0][0], 100);
}
END_TEST

START_TEST(a_fetch_by_a_reference_without_memory_is_a_fault)
{
    ck_result(run("fetch", 1), ILLEGAL_ADDRESS);
}
END_TEST

START_TEST(nothing_at_0_unbinds)
{
    CUdeviceptr told;

    ck_success(cx_emu_call_tex_ref_set_address(NULL, texture("line"), make_words(0), 1024));
    ck_success(cx_emu_call_tex_ref_set_address(NULL, texture("line"), 0, 0));
    ck_result(cx_emu_call_tex_ref_get_address(&told, texture("line")), INVALID_VALUE);
    ck_result(run("linear", 1), ILLEGAL_ADDRESS);
}
END_TEST

/* ---- surfaces ---- */

START_TEST(kernels_load_and_store_by_a_surface_reference)
{
    const uint32_t zeroes[WORDS] = {0};
    CUarray array = make_array(zeroes, CXU_AD_FORMAT_UNSIGNED_INT32), told;
    CUsurfref target;

    ck_success(cx_emu_call_module_get_surf_ref(&target, module, "target"));
    ck_result(cx_emu_call_surf_ref_get_array(&told, target), INVALID_VALUE);
    ck_success(cx_emu_call_surf_ref_set_array(target, array, 0));
    ck_result(cx_emu_call_surf_ref_set_array(target, array, 1), INVALID_VALUE);
    ck_success(run("store", WIDTH));
    ck_success(run("store", WIDTH));
    for (uint32_t i = 0; i < WIDTH; i++)
        ck_assert_uint_eq(found[i][0], i);
    ck_success(cx_emu_call_surf_ref_get_array(&told, target));
    ck_assert_ptr_eq(told, array);
    ck_result(cx_emu_call_tex_ref_set_flags((CUtexref)(void *)target, 0), INVALID_VALUE);
}
END_TEST

/* ---- launches as before CUDA 4 ---- */

START_TEST(a_launch_as_before_cuda_4_reads_by_its_modules_references)
{
    CUfunction function;
    CUmodule other;
    CUtexref foreign;

    ck_success(cx_emu_call_module_load_data(&other, text));
    ck_success(cx_emu_call_module_get_tex_ref(&foreign, other, "image"));
    ck_success(cx_emu_call_tex_ref_set_array(texture("image"), make_floats(10),
                                             CXU_TRSA_OVERRIDE_FORMAT));
    ck_success(cx_emu_call_module_get_function(&function, module, "fetch"));
    ck_success(cx_emu_call_param_set_texture(function, -1, texture("image")));
    ck_result(cx_emu_call_param_set_texture(function, 0, texture("image")), INVALID_VALUE);
    ck_result(cx_emu_call_param_set_texture(function, -1, foreign), INVALID_VALUE);
    ck_success(cx_emu_call_func_set_block_shape(function, WIDTH, 1, 1));
    ck_success(cx_emu_call_param_set_bytes(function, 0, &out, sizeof out));
    ck_success(cx_emu_call_param_set_size(function, sizeof out));
    ck_success(cx_emu_call_launch_once(function));
    ck_success(cx_emu_call_ctx_synchronize());
    read_device(found, out, WIDTH * sizeof found[0]);
    check_floats(10);
}
END_TEST

/* ---- modes ---- */

START_TEST(a_reference_tells_what_is_set)
{
    float color[] = {1, 2, 3, 4}, told_color[4];
    CUtexref image = texture("image");
    cxu_address_mode mode;
    cxu_filter_mode filter;
    unsigned int flags;
    int most;

    ck_success(cx_emu_call_tex_ref_set_address_mode(image, 1, CXU_TR_ADDRESS_MODE_BORDER));
    ck_success(cx_emu_call_tex_ref_get_address_mode(&mode, image, 1));
    ck_assert_int_eq(mode, CXU_TR_ADDRESS_MODE_BORDER);
    ck_success(cx_emu_call_tex_ref_get_address_mode(&mode, image, 0));
    ck_assert_int_eq(mode, CXU_TR_ADDRESS_MODE_CLAMP);
    ck_success(cx_emu_call_tex_ref_set_filter_mode(image, CXU_TR_FILTER_MODE_LINEAR));
    ck_success(cx_emu_call_tex_ref_get_filter_mode(&filter, image));
    ck_assert_int_eq(filter, CXU_TR_FILTER_MODE_LINEAR);
    ck_success(cx_emu_call_tex_ref_set_flags(image, CXU_TRSF_NORMALIZED_COORDINATES));
    ck_success(cx_emu_call_tex_ref_get_flags(&flags, image));
    ck_assert_uint_eq(flags, CXU_TRSF_NORMALIZED_COORDINATES);
    ck_success(cx_emu_call_tex_ref_set_max_anisotropy(image, 4));
    ck_success(cx_emu_call_tex_ref_get_max_anisotropy(&most, image));
    ck_assert_int_eq(most, 4);
    ck_success(cx_emu_call_tex_ref_set_border_color(image, color));
    ck_success(cx_emu_call_tex_ref_get_border_color(told_color, image));
    ck_assert_mem_eq(told_color, color, sizeof color);
}
END_TEST

START_TEST(modes_that_no_texture_has_are_refused)
{
    CUtexref image = texture("image");
    cxu_address_mode mode;

    ck_result(cx_emu_call_tex_ref_set_address_mode(image, 3, CXU_TR_ADDRESS_MODE_WRAP),
              INVALID_VALUE);
    ck_result(cx_emu_call_tex_ref_set_address_mode(image, -1, CXU_TR_ADDRESS_MODE_WRAP),
              INVALID_VALUE);
    ck_result(cx_emu_call_tex_ref_set_address_mode(image, 0, (cxu_address_mode)4), INVALID_VALUE);
    ck_result(cx_emu_call_tex_ref_get_address_mode(&mode, image, 3), INVALID_VALUE);
    ck_result(cx_emu_call_tex_ref_set_filter_mode(image, (cxu_filter_mode)2), INVALID_VALUE);
    ck_result(cx_emu_call_tex_ref_set_mipmap_filter_mode(image, (cxu_filter_mode)2),
              INVALID_VALUE);
    ck_result(cx_emu_call_tex_ref_set_flags(image, 0x80), INVALID_VALUE);
    ck_result(cx_emu_call_tex_ref_set_format(image, CXU_AD_FORMAT_FLOAT, 3), INVALID_VALUE);
    ck_result(cx_emu_call_tex_ref_set_border_color(image, NULL), INVALID_VALUE);
    ck_result(cx_emu_call_tex_ref_set_flags(NULL, 0), INVALID_VALUE);
}
END_TEST

static Suite *texture_reference_suite(void)
{
    Suite *suite = suite_create("texture_reference");
    TCase *tests = tcase_create("references");

    tcase_add_checked_fixture(tests, setup, work_teardown);
    tcase_add_test(tests, a_module_has_its_references_by_name);
    tcase_add_test(tests, a_reference_ends_with_its_module);
    tcase_add_test(tests, kernels_fetch_from_the_array_that_is_bound);
    tcase_add_test(tests, a_new_binding_takes_the_place_of_the_old_one);
    tcase_add_test(tests, linear_memory_has_the_format_that_is_set);
    tcase_add_test(tests, an_address_between_alignments_has_an_offset);
    tcase_add_test(tests, pitched_memory_brings_its_format);
    tcase_add_test(tests, a_mipmapped_array_is_bound);
    tcase_add_test(tests, a_launch_reads_by_the_bindings_of_its_moment);
    tcase_add_test(tests, a_fetch_by_a_reference_without_memory_is_a_fault);
    tcase_add_test(tests, nothing_at_0_unbinds);
    tcase_add_test(tests, kernels_load_and_store_by_a_surface_reference);
    tcase_add_test(tests, a_launch_as_before_cuda_4_reads_by_its_modules_references);
    tcase_add_test(tests, a_reference_tells_what_is_set);
    tcase_add_test(tests, modes_that_no_texture_has_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}

CX_TESTS(texture_reference_suite);
