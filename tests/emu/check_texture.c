/* Texture and surface objects, and the kernels that read and write by them. */
#include "kernels.h"
#include "work_fixture.h"

#include <string.h>

enum { WIDTH = 8, HEIGHT = 4, WORDS = WIDTH * HEIGHT };

#define HEAD                                                                                \
    ".version 7.1\n.target sm_75\n.address_size 64\n"
#define KERNEL(name, body)                                                                  \
    ".visible .entry " name "(.param .u64 object, .param .u64 out, .param .u32 step)\n{\n"  \
    ".reg .pred %p<4>;\n.reg .b16 %h<4>;\n.reg .b32 %r<16>;\n.reg .f32 %f<16>;\n"           \
    ".reg .b64 %d<8>;\n"                                                                    \
    "ld.param.u64 %d1, [object];\nld.param.u64 %d2, [out];\nld.param.u32 %r9, [step];\n"    \
    "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmul.wide.u32 %d3, %r1, 16;\n"            \
    "add.u64 %d2, %d2, %d3;\n" body "ret;\n}\n"

/* Each thread writes 4 words. */
#define GIVE "st.global.v4.b32 [%d2], {%r4, %r5, %r6, %r7};\n"

static const char text[] = HEAD
    /* element (tid, 1) of floats, its resident flag in the last word */
    KERNEL("fetch", "cvt.rn.f32.u32 %f1, %r1;\nadd.f32 %f1, %f1, 0f3F000000;\n"
                    "mov.f32 %f2, 0f3FC00000;\n"
                    "tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}|%p1, [%d1, {%f1, %f2}];\n"
                    "mov.b32 %r4, %f3;\nmov.b32 %r5, %f4;\nmov.b32 %r6, %f5;\n"
                    "selp.b32 %r7, 1, 0, %p1;\n" GIVE)
    /* the same of integers, by index, one to the right */
    KERNEL("index", "mov.u32 %r3, 1;\n"
                    "tex.2d.v4.u32.s32 {%r4, %r5, %r6, %r7}, [%d1, {%r1, %r3}], {1, 0};\n" GIVE)
    KERNEL("linear", "sub.u32 %r3, %r1, 2;\n"
                     "tex.1d.v4.u32.s32 {%r4, %r5, %r6, %r7}, [%d1, {%r3}];\n" GIVE)
    KERNEL("halves", "cvt.rn.f32.u32 %f1, %r1;\n"
                     "tex.2d.v2.f16x2.f32 {%r4, %r5}, [%d1, {%f1, %f1}];\nmov.u32 %r6, 0;\n"
                     "mov.u32 %r7, 0;\n" GIVE)
    KERNEL("ask", "txq.width.b32 %r4, [%d1];\ntxq.height.b32 %r5, [%d1];\n"
                  "txq.array_size.b32 %r6, [%d1];\ntxq.channel_order.b32 %r7, [%d1];\n" GIVE)
    KERNEL("kind", "istypep.texref %p1, %d1;\nistypep.surfref %p2, %d1;\n"
                   "selp.b32 %r4, 1, 0, %p1;\nselp.b32 %r5, 1, 0, %p2;\n"
                   "mov.u32 %r6, 0;\nmov.u32 %r7, 0;\n" GIVE)
    /* a word at byte tid * step of row 2, before it is written over */
    KERNEL("clamp", "mul.lo.u32 %r3, %r1, %r9;\nmov.u32 %r8, 2;\n"
                    "suld.b.2d.b32.clamp %r4, [%d1, {%r3, %r8}];\nmov.u32 %r5, 0;\n"
                    "mov.u32 %r6, 0;\nmov.u32 %r7, 0;\n" GIVE)
    KERNEL("zero", "mul.lo.u32 %r3, %r1, %r9;\nmov.u32 %r8, 2;\n"
                   "suld.b.2d.b32.zero %r4, [%d1, {%r3, %r8}];\nmov.u32 %r5, 0;\n"
                   "sust.b.2d.b32.zero [%d1, {%r3, %r8}], %r1;\n"
                   "suld.b.2d.b32.zero %r6, [%d1, {%r3, %r8}];\nmov.u32 %r7, 0;\n" GIVE)
    KERNEL("trap", "mul.lo.u32 %r3, %r1, %r9;\nmov.u32 %r8, 2;\n"
                   "suld.b.2d.b32.trap %r4, [%d1, {%r3, %r8}];\nmov.u32 %r5, 0;\n"
                   "mov.u32 %r6, 0;\nmov.u32 %r7, 0;\n" GIVE)
    KERNEL("reduce", "mov.u32 %r3, 0;\nsured.b.add.2d.u32.trap [%d1, {%r3, %r3}], %r1;\n")
    KERNEL("wide", "mov.u32 %r3, 0;\nsuld.b.2d.v2.b64.trap {%d4, %d5}, [%d1, {%r3, %r1}];\n"
                   "add.u64 %d4, %d4, 1;\nmov.u32 %r8, 16;\n"
                   "sust.b.2d.v2.b64.trap [%d1, {%r8, %r1}], {%d5, %d4};\n")
    KERNEL("bytes", "mov.u32 %r3, 0;\nsuld.b.2d.v2.b8.trap {%h1, %h2}, [%d1, {%r3, %r3}];\n"
                    "sust.b.2d.v2.b8.trap [%d1, {%r3, %r3}], {%h2, %h1};\n");

static CUmodule module;
static CUdeviceptr out;
static uint32_t found[32][4];

static void setup(void)
{
    work_setup();
    ck_success(cx_emu_call_module_load_data(&module, text));
    out = make_memory(sizeof found);
}

static cxu_result run(const char *name, unsigned long long object, unsigned int threads,
                      uint32_t step)
{
    void *parameters[] = {&object, &out, &step};
    CUfunction function;
    cxu_result result;

    ck_success(cx_emu_call_module_get_function(&function, module, name));
    ck_success(cx_emu_call_launch_kernel(function, 1, 1, 1, threads, 1, 1, 0, NULL, parameters,
                                         NULL));
    result = cx_emu_call_ctx_synchronize();
    if (result == CXU_SUCCESS)
        read_device(found, out, threads * sizeof found[0]);
    return result;
}

static CUarray make_array(cxu_array_format format, unsigned int channels, const void *content,
                          size_t element)
{
    const cxu_array_3d_descriptor descriptor = {WIDTH,  HEIGHT,   0,
                                                format, channels, CXU_ARRAY3D_SURFACE_LDST};
    cxu_memcpy_2d copy = {.source_type = CXU_MEMORYTYPE_HOST,
                          .source_host = content,
                          .source_pitch_bytes = WIDTH * element,
                          .destination_type = CXU_MEMORYTYPE_ARRAY,
                          .width_bytes = WIDTH * element,
                          .height = HEIGHT};

    ck_success(cx_emu_call_array_3d_create(&copy.destination_array, &descriptor));
    ck_success(cx_emu_call_memcpy_2d(&copy));
    return copy.destination_array;
}

static CUarray make_words(void)
{
    uint32_t words[WORDS];

    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = 100 + i;
    return make_array(CXU_AD_FORMAT_UNSIGNED_INT32, 1, words, sizeof words[0]);
}

static void read_words(CUarray array, uint32_t words[WORDS])
{
    const cxu_memcpy_2d copy = {.source_type = CXU_MEMORYTYPE_ARRAY,
                                .source_array = array,
                                .destination_type = CXU_MEMORYTYPE_HOST,
                                .destination_host = words,
                                .destination_pitch_bytes = WIDTH * sizeof words[0],
                                .width_bytes = WIDTH * sizeof words[0],
                                .height = HEIGHT};

    ck_success(cx_emu_call_memcpy_2d(&copy));
}

static cxu_resource_descriptor resource_of(CUarray array)
{
    return (cxu_resource_descriptor){.type = CXU_RESOURCE_TYPE_ARRAY, .of.array = array};
}

static cxu_texture_object make_texture(const cxu_resource_descriptor *resource,
                                       cxu_filter_mode filter, unsigned int flags)
{
    const cxu_texture_descriptor texture = {
        .address_mode = {CXU_TR_ADDRESS_MODE_CLAMP, CXU_TR_ADDRESS_MODE_CLAMP,
                         CXU_TR_ADDRESS_MODE_CLAMP},
        .filter_mode = filter,
        .flags = flags};
    cxu_texture_object object;

    ck_success(cx_emu_call_tex_object_create(&object, resource, &texture, NULL));
    return object;
}

static cxu_surface_object make_surface(CUarray array)
{
    const cxu_resource_descriptor resource = resource_of(array);
    cxu_surface_object object;

    ck_success(cx_emu_call_surf_object_create(&object, &resource));
    return object;
}

/* ---- textures ---- */

START_TEST(a_kernel_fetches_from_an_array)
{
    float floats[WORDS];
    CUarray array;
    cxu_resource_descriptor resource;

    for (int i = 0; i < WORDS; i++)
        floats[i] = (float)i;
    array = make_array(CXU_AD_FORMAT_FLOAT, 1, floats, sizeof floats[0]);
    resource = resource_of(array);
    ck_success(run("fetch", make_texture(&resource, CXU_TR_FILTER_MODE_LINEAR, 0), WIDTH, 0));
    for (int i = 0; i < WIDTH; i++) {
        ck_assert_mem_eq(&found[i][0], &floats[WIDTH + i], 4);
        ck_assert_uint_eq(found[i][1], 0);
        ck_assert_uint_eq(found[i][3], 1);
    }
}
END_TEST

START_TEST(integers_are_fetched_by_index_with_an_offset)
{
    CUarray array = make_words();
    const cxu_resource_descriptor resource = resource_of(array);

    ck_success(run("index",
                   make_texture(&resource, CXU_TR_FILTER_MODE_POINT, CXU_TRSF_READ_AS_INTEGER),
                   WIDTH, 0));
    for (uint32_t i = 0; i < WIDTH; i++)
        ck_assert_uint_eq(found[i][0], 100 + WIDTH + (i < WIDTH - 1 ? i + 1 : i));
}
END_TEST

START_TEST(linear_memory_is_0_outside)
{
    const CUdeviceptr memory = make_memory(1024);
    const cxu_resource_descriptor resource = {
        .type = CXU_RESOURCE_TYPE_LINEAR,
        .of.linear = {memory, CXU_AD_FORMAT_UNSIGNED_INT8, 1, 10}};

    ck_success(cx_emu_call_memset_d8(memory, 7, 1024));
    ck_success(run("linear",
                   make_texture(&resource, CXU_TR_FILTER_MODE_POINT, CXU_TRSF_READ_AS_INTEGER), 16,
                   0));
    for (int i = 0; i < 16; i++)
        ck_assert_uint_eq(found[i][0], i < 2 || i >= 12 ? 0 : 7);
}
END_TEST

START_TEST(two_halves_come_in_one_word)
{
    float floats[WORDS * 4];
    CUarray array;
    cxu_resource_descriptor resource;

    for (int i = 0; i < WORDS * 4; i++)
        floats[i] = (float)(i % 4);
    array = make_array(CXU_AD_FORMAT_FLOAT, 4, floats, 4 * sizeof floats[0]);
    resource = resource_of(array);
    ck_success(run("halves", make_texture(&resource, CXU_TR_FILTER_MODE_POINT, 0), 2, 0));
    ck_assert_uint_eq(found[1][0], 0x3c000000);
    ck_assert_uint_eq(found[1][1], 0x42004000);
}
END_TEST

START_TEST(an_object_tells_kernels_what_it_is)
{
    CUarray array = make_words();
    const cxu_resource_descriptor resource = resource_of(array);
    const cxu_texture_object texture =
        make_texture(&resource, CXU_TR_FILTER_MODE_POINT, CXU_TRSF_READ_AS_INTEGER);

    ck_success(run("ask", texture, 1, 0));
    ck_assert_uint_eq(found[0][0], WIDTH);
    ck_assert_uint_eq(found[0][1], HEIGHT);
    ck_assert_uint_eq(found[0][2], 0);
    ck_assert_uint_eq(found[0][3], 0x10b0);
    ck_success(run("kind", texture, 1, 0));
    ck_assert_uint_eq(found[0][0], 1);
    ck_assert_uint_eq(found[0][1], 0);
    ck_success(run("kind", make_surface(array), 1, 0));
    ck_assert_uint_eq(found[0][0], 0);
    ck_assert_uint_eq(found[0][1], 1);
}
END_TEST

START_TEST(an_object_tells_its_descriptors)
{
    CUarray array = make_words();
    const cxu_resource_descriptor resource = resource_of(array);
    const cxu_texture_object object =
        make_texture(&resource, CXU_TR_FILTER_MODE_POINT, CXU_TRSF_READ_AS_INTEGER);
    cxu_resource_descriptor told;
    cxu_texture_descriptor texture;
    cxu_resource_view_descriptor view;

    ck_success(cx_emu_call_tex_object_get_resource_desc(&told, object));
    ck_assert_ptr_eq(told.of.array, array);
    ck_success(cx_emu_call_tex_object_get_texture_desc(&texture, object));
    ck_assert_uint_eq(texture.flags, CXU_TRSF_READ_AS_INTEGER);
    ck_result(cx_emu_call_tex_object_get_resource_view_desc(&view, object), INVALID_VALUE);
    ck_result(cx_emu_call_surf_object_destroy(object), INVALID_VALUE);
    ck_success(cx_emu_call_tex_object_destroy(object));
    ck_result(cx_emu_call_tex_object_destroy(object), INVALID_VALUE);
    ck_result(cx_emu_call_tex_object_get_resource_desc(&told, object), INVALID_VALUE);
}
END_TEST

START_TEST(an_object_tells_its_view_and_a_surface_its_array)
{
    CUarray array = make_words();
    cxu_resource_descriptor resource = resource_of(array), told = {0};
    const cxu_texture_descriptor texture = {.flags = CXU_TRSF_READ_AS_INTEGER};
    const cxu_resource_view_descriptor view = {.format = CXU_RES_VIEW_FORMAT_FLOAT_1X32};
    cxu_resource_view_descriptor told_view = {0};
    cxu_texture_object object;
    const cxu_surface_object surface = make_surface(array);

    ck_success(cx_emu_call_tex_object_create(&object, &resource, &texture, &view));
    ck_success(cx_emu_call_tex_object_get_resource_view_desc(&told_view, object));
    ck_assert_int_eq((int)told_view.format, (int)view.format);
    ck_success(cx_emu_call_tex_object_destroy(object));
    ck_success(cx_emu_call_surf_object_get_resource_desc(&told, surface));
    ck_assert_int_eq((int)told.type, (int)CXU_RESOURCE_TYPE_ARRAY);
    ck_assert_ptr_eq(told.of.array, array);
    ck_success(cx_emu_call_surf_object_destroy(surface));
    ck_result(cx_emu_call_surf_object_get_resource_desc(&told, surface), INVALID_VALUE);
}
END_TEST

static cxu_result try_texture(const cxu_resource_descriptor *resource,
                              const cxu_texture_descriptor *texture,
                              const cxu_resource_view_descriptor *view)
{
    cxu_texture_object object;
    cxu_result result = cx_emu_call_tex_object_create(&object, resource, texture, view);

    if (result == CXU_SUCCESS)
        ck_success(cx_emu_call_tex_object_destroy(object));
    return result;
}

START_TEST(wrong_descriptors_are_refused)
{
    CUarray array = make_words();
    cxu_resource_descriptor resource = resource_of(array);
    cxu_texture_descriptor texture = {.flags = CXU_TRSF_READ_AS_INTEGER};
    cxu_resource_view_descriptor view = {.format = CXU_RES_VIEW_FORMAT_FLOAT_1X32};
    const CUdeviceptr memory = make_memory(4096);

    ck_success(try_texture(&resource, &texture, NULL));
    ck_success(try_texture(&resource, &texture, &view));
    view.format = CXU_RES_VIEW_FORMAT_FLOAT_1X16;
    ck_result(try_texture(&resource, &texture, &view), INVALID_VALUE);
    view.format = CXU_RES_VIEW_FORMAT_UNSIGNED_BC1;
    ck_result(try_texture(&resource, &texture, &view), NOT_SUPPORTED);
    texture.filter_mode = CXU_TR_FILTER_MODE_LINEAR;
    ck_result(try_texture(&resource, &texture, NULL), INVALID_VALUE);
    texture = (cxu_texture_descriptor){.address_mode = {(cxu_address_mode)4}};
    ck_result(try_texture(&resource, &texture, NULL), INVALID_VALUE);
    ck_result(try_texture(&resource, NULL, NULL), INVALID_VALUE);
    resource.flags = 1;
    texture = (cxu_texture_descriptor){0};
    ck_result(try_texture(&resource, &texture, NULL), INVALID_VALUE);
    resource = (cxu_resource_descriptor){
        .type = CXU_RESOURCE_TYPE_PITCH2D,
        .of.pitch_2d = {memory, CXU_AD_FORMAT_FLOAT, 1, 16, 16, 64}};
    ck_success(try_texture(&resource, &texture, NULL));
    resource.of.pitch_2d.pitch_bytes = 80;
    ck_result(try_texture(&resource, &texture, NULL), INVALID_VALUE);
    resource.of.pitch_2d.pitch_bytes = 64;
    resource.of.pitch_2d.height = 1000;
    ck_result(try_texture(&resource, &texture, NULL), INVALID_VALUE);
    resource.of.pitch_2d.height = 16;
    resource.of.pitch_2d.address += 4;
    ck_result(try_texture(&resource, &texture, NULL), INVALID_VALUE);
}
END_TEST

START_TEST(a_surface_needs_an_array_made_for_surfaces)
{
    const cxu_array_descriptor descriptor = {4, 4, CXU_AD_FORMAT_FLOAT, 1};
    cxu_resource_descriptor resource = {.type = CXU_RESOURCE_TYPE_ARRAY};
    cxu_surface_object object;

    ck_success(cx_emu_call_array_create(&resource.of.array, &descriptor));
    ck_result(cx_emu_call_surf_object_create(&object, &resource), INVALID_VALUE);
    ck_result(cx_emu_call_surf_object_create(&object, NULL), INVALID_VALUE);
}
END_TEST

/* ---- surfaces ---- */

START_TEST(a_surface_beyond_its_edge_clamps_or_is_zero)
{
    CUarray array = make_words();
    const cxu_surface_object surface = make_surface(array);
    uint32_t words[WORDS];

    ck_success(run("clamp", surface, 12, 4));
    for (uint32_t i = 0; i < 12; i++)
        ck_assert_uint_eq(found[i][0], 100 + 2 * WIDTH + (i < WIDTH ? i : WIDTH - 1));
    ck_success(run("zero", surface, 12, 4));
    for (uint32_t i = 0; i < 12; i++) {
        ck_assert_uint_eq(found[i][0], i < WIDTH ? 100 + 2 * WIDTH + i : 0);
        ck_assert_uint_eq(found[i][2], i < WIDTH ? i : 0);
    }
    read_words(array, words);
    ck_assert_uint_eq(words[2 * WIDTH + 7], 7);
    ck_assert_uint_eq(words[3 * WIDTH], 100 + 3 * WIDTH);
}
END_TEST

START_TEST(a_surface_beyond_its_edge_traps)
{
    const cxu_surface_object surface = make_surface(make_words());
    char said[512];

    ck_success(run("trap", surface, WIDTH, 4));
    ck_result(run("trap", surface, WIDTH + 1, 4), ILLEGAL_ADDRESS);
    ck_assert(cx_emu_explain(CXU_ILLEGAL_ADDRESS, said, sizeof said));
    ck_assert_ptr_nonnull(strstr(said, "a read of 4 bytes at byte 32 of row 2 of slice 0, of a "
                                       "surface of 32 bytes x 4 x 1"));
}
END_TEST

START_TEST(a_surface_is_accessed_at_multiples_of_the_size)
{
    ck_result(run("trap", make_surface(make_words()), 2, 2), MISALIGNED_ADDRESS);
}
END_TEST

START_TEST(surfaces_add_up_and_move_bytes_and_words)
{
    CUarray array = make_words();
    const cxu_surface_object surface = make_surface(array);
    uint32_t words[WORDS];

    ck_success(run("reduce", surface, 32, 0));
    read_words(array, words);
    ck_assert_uint_eq(words[0], 100 + 31 * 32 / 2);
    ck_success(run("wide", surface, HEIGHT, 0));
    read_words(array, words);
    ck_assert_uint_eq(words[WIDTH + 4], 100 + WIDTH + 2);
    ck_assert_uint_eq(words[WIDTH + 6], 100 + WIDTH + 1);
    ck_assert_uint_eq(words[WIDTH + 7], 100 + WIDTH + 1);
    ck_success(run("bytes", surface, 1, 0));
    read_words(array, words);
    ck_assert_uint_eq(words[0], ((100 + 31 * 32 / 2) & 0xff) << 8 | (100 + 31 * 32 / 2) >> 8);
}
END_TEST

/* ---- the end of objects ---- */

START_TEST(an_object_that_is_gone_is_an_illegal_address)
{
    CUarray array = make_words();
    const cxu_resource_descriptor resource = resource_of(array);
    const cxu_texture_object object =
        make_texture(&resource, CXU_TR_FILTER_MODE_POINT, CXU_TRSF_READ_AS_INTEGER);

    if (_i == 0)
        ck_success(cx_emu_call_tex_object_destroy(object));
    else
        ck_success(cx_emu_call_array_destroy(array));
    ck_result(run("index", object, 1, 0), ILLEGAL_ADDRESS);
}
END_TEST

START_TEST(an_object_that_is_destroyed_serves_the_launches_before)
{
    CUarray array = make_words();
    const cxu_resource_descriptor resource = resource_of(array);
    const cxu_texture_object object =
        make_texture(&resource, CXU_TR_FILTER_MODE_POINT, CXU_TRSF_READ_AS_INTEGER);
    const CUdeviceptr gate = make_memory(4);
    CUstream held = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream opens = make_stream(CXU_STREAM_NON_BLOCKING);
    cxu_texture_object later, told = object;
    void *parameters[] = {&told, &out, &(uint32_t){0}};
    cxu_texture_descriptor texture;
    CUfunction function;

    ck_success(cx_emu_call_memset_d32(gate, 0, 1));
    ck_success(cx_emu_call_ctx_synchronize());
    ck_success(cx_emu_call_module_get_function(&function, module, "index"));
    ck_success(cx_emu_call_stream_wait_value_32(held, gate, 1, CXU_STREAM_WAIT_VALUE_GEQ));
    ck_success(cx_emu_call_launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, held, parameters, NULL));
    ck_success(cx_emu_call_tex_object_destroy(object));
    ck_result(cx_emu_call_tex_object_destroy(object), INVALID_VALUE);
    ck_result(cx_emu_call_tex_object_get_texture_desc(&texture, object), INVALID_VALUE);
    later = make_texture(&resource, CXU_TR_FILTER_MODE_POINT, CXU_TRSF_READ_AS_INTEGER);
    ck_assert_uint_ne(later, object);
    ck_success(cx_emu_call_memset_d32_async(gate, 1, 1, opens));
    ck_success(cx_emu_call_stream_synchronize(opens));
    ck_success(cx_emu_call_stream_synchronize(held));
    read_device(found, out, sizeof found[0]);
    ck_assert_uint_eq(found[0][0], 100 + WIDTH + 1);
    ck_result(run("index", object, 1, 0), ILLEGAL_ADDRESS);
}
END_TEST

static Suite *texture_suite(void)
{
    Suite *suite = suite_create("texture");
    TCase *tcase = tcase_create("texture");

    tcase_add_checked_fixture(tcase, setup, work_teardown);
    suite_add_tcase(suite, tcase);
    tcase_add_test(tcase, a_kernel_fetches_from_an_array);
    tcase_add_test(tcase, integers_are_fetched_by_index_with_an_offset);
    tcase_add_test(tcase, linear_memory_is_0_outside);
    tcase_add_test(tcase, two_halves_come_in_one_word);
    tcase_add_test(tcase, an_object_tells_kernels_what_it_is);
    tcase_add_test(tcase, an_object_tells_its_descriptors);
    tcase_add_test(tcase, an_object_tells_its_view_and_a_surface_its_array);
    tcase_add_test(tcase, wrong_descriptors_are_refused);
    tcase_add_test(tcase, a_surface_needs_an_array_made_for_surfaces);
    tcase_add_test(tcase, a_surface_beyond_its_edge_clamps_or_is_zero);
    tcase_add_test(tcase, a_surface_beyond_its_edge_traps);
    tcase_add_test(tcase, a_surface_is_accessed_at_multiples_of_the_size);
    tcase_add_test(tcase, surfaces_add_up_and_move_bytes_and_words);
    tcase_add_test(tcase, an_object_that_is_destroyed_serves_the_launches_before);
    tcase_add_loop_test(tcase, an_object_that_is_gone_is_an_illegal_address, 0, 2);
    return suite;
}

CX_TESTS(texture_suite);
