/* Arrays: their descriptors, and copies from, to and between them. */
#include "work_fixture.h"

#include <string.h>

enum { WIDTH = 6, HEIGHT = 5, DEPTH = 4, ROW = WIDTH * 4 };

static unsigned char source[DEPTH][HEIGHT][ROW], found[DEPTH][HEIGHT][ROW];

static void fill_source(void)
{
    unsigned char *byte = &source[0][0][0];

    for (size_t i = 0; i < sizeof source; i++)
        byte[i] = (unsigned char)(i % 251 + 1);
    memset(found, 0, sizeof found);
}

static CUarray make_array(size_t width, size_t height, size_t depth, unsigned int flags)
{
    const cxu_array_3d_descriptor descriptor = {width, height, depth, CXU_AD_FORMAT_UNSIGNED_INT8,
                                                4,     flags};
    CUarray array;

    ck_success(cx_emu_call_array_3d_create(&array, &descriptor));
    return array;
}

static cxu_result try_array(size_t width, size_t height, size_t depth, unsigned int flags)
{
    const cxu_array_3d_descriptor descriptor = {width, height, depth, CXU_AD_FORMAT_FLOAT, 1,
                                                flags};
    CUarray array;
    cxu_result result = cx_emu_call_array_3d_create(&array, &descriptor);

    if (result == CXU_SUCCESS)
        ck_success(cx_emu_call_array_destroy(array));
    return result;
}

static cxu_memcpy_3d to_array(CUarray array)
{
    return (cxu_memcpy_3d){.source_type = CXU_MEMORYTYPE_HOST,
                           .source_host = source,
                           .source_pitch_bytes = ROW,
                           .source_height = HEIGHT,
                           .destination_type = CXU_MEMORYTYPE_ARRAY,
                           .destination_array = array,
                           .width_bytes = ROW,
                           .height = HEIGHT,
                           .depth = DEPTH};
}

static cxu_memcpy_3d from_array(CUarray array)
{
    return (cxu_memcpy_3d){.source_type = CXU_MEMORYTYPE_ARRAY,
                           .source_array = array,
                           .destination_type = CXU_MEMORYTYPE_HOST,
                           .destination_host = found,
                           .destination_pitch_bytes = ROW,
                           .destination_height = HEIGHT,
                           .width_bytes = ROW,
                           .height = HEIGHT,
                           .depth = DEPTH};
}

START_TEST(an_array_tells_its_descriptor)
{
    CUarray array = make_array(WIDTH, HEIGHT, DEPTH, CXU_ARRAY3D_SURFACE_LDST), flat;
    const cxu_array_descriptor given = {WIDTH, 0, CXU_AD_FORMAT_HALF, 2};
    cxu_array_3d_descriptor whole;
    cxu_array_descriptor told;

    ck_success(cx_emu_call_array_3d_get_descriptor(&whole, array));
    ck_assert_uint_eq(whole.width, WIDTH);
    ck_assert_uint_eq(whole.height, HEIGHT);
    ck_assert_uint_eq(whole.depth, DEPTH);
    ck_assert_uint_eq(whole.channels, 4);
    ck_assert_uint_eq(whole.flags, CXU_ARRAY3D_SURFACE_LDST);
    ck_success(cx_emu_call_array_create(&flat, &given));
    ck_success(cx_emu_call_array_get_descriptor(&told, flat));
    ck_assert_uint_eq(told.width, WIDTH);
    ck_assert_uint_eq(told.height, 0);
    ck_assert_int_eq(told.format, CXU_AD_FORMAT_HALF);
    ck_success(cx_emu_call_array_destroy(flat));
    ck_success(cx_emu_call_array_destroy(array));
    ck_result(cx_emu_call_array_get_descriptor(&told, flat), INVALID_HANDLE);
    ck_result(cx_emu_call_array_destroy(array), INVALID_HANDLE);
}
END_TEST

START_TEST(an_array_has_a_shape_that_its_flags_allow)
{
    const unsigned int layered = CXU_ARRAY3D_LAYERED, cube = CXU_ARRAY3D_CUBEMAP;

    ck_success(try_array(8, 0, 0, 0));
    ck_success(try_array(8, 8, 0, CXU_ARRAY3D_TEXTURE_GATHER));
    ck_success(try_array(8, 0, 3, layered));
    ck_success(try_array(8, 4, 3, layered));
    ck_success(try_array(8, 8, 6, cube));
    ck_success(try_array(8, 8, 12, cube | layered));
    ck_result(try_array(0, 8, 0, 0), INVALID_VALUE);
    ck_result(try_array(8, 0, 3, 0), INVALID_VALUE);
    ck_result(try_array(8, 4, 0, layered), INVALID_VALUE);
    ck_result(try_array(8, 4, 6, cube), INVALID_VALUE);
    ck_result(try_array(8, 8, 12, cube), INVALID_VALUE);
    ck_result(try_array(8, 8, 8, cube | layered), INVALID_VALUE);
    ck_result(try_array(8, 8, 8, CXU_ARRAY3D_TEXTURE_GATHER), INVALID_VALUE);
    ck_result(try_array(1 << 20, 0, 0, 0), INVALID_VALUE);
    ck_result(try_array(8, 4, 5000, layered), INVALID_VALUE);
    ck_result(try_array(100000, 0, 0, CXU_ARRAY3D_SURFACE_LDST), INVALID_VALUE);
    ck_result(try_array(8, 8, 0, CXU_ARRAY3D_SPARSE), NOT_SUPPORTED);
    ck_result(try_array(8, 8, 0, CXU_ARRAY3D_DEFERRED_MAPPING), NOT_SUPPORTED);
}
END_TEST

START_TEST(an_array_has_one_two_or_four_channels)
{
    cxu_array_descriptor descriptor = {WIDTH, HEIGHT, CXU_AD_FORMAT_FLOAT, 3};
    CUarray array;

    ck_result(cx_emu_call_array_create(&array, &descriptor), INVALID_VALUE);
    descriptor.channels = 2;
    descriptor.format = (cxu_array_format)CXU_AD_FORMAT_UNORM_INT8X2;
    ck_success(cx_emu_call_array_create(&array, &descriptor));
    ck_success(cx_emu_call_array_destroy(array));
    descriptor.format = (cxu_array_format)CXU_AD_FORMAT_UNORM_INT8X4;
    ck_result(cx_emu_call_array_create(&array, &descriptor), INVALID_VALUE);
    descriptor.format = (cxu_array_format)CXU_AD_FORMAT_NV12;
    ck_result(cx_emu_call_array_create(&array, &descriptor), NOT_SUPPORTED);
    ck_result(cx_emu_call_array_create(&array, NULL), INVALID_VALUE);
    ck_result(cx_emu_call_array_create(NULL, &descriptor), INVALID_VALUE);
}
END_TEST

START_TEST(a_box_goes_through_two_arrays_and_comes_back)
{
    CUarray one = make_array(WIDTH, HEIGHT, DEPTH, 0), other = make_array(WIDTH, HEIGHT, DEPTH, 0);
    cxu_memcpy_3d copy = to_array(one), back = from_array(other);

    fill_source();
    ck_success(cx_emu_call_memcpy_3d(&copy));
    copy.source_type = CXU_MEMORYTYPE_ARRAY;
    copy.source_array = one;
    copy.source_x_bytes = 4;
    copy.destination_array = other;
    copy.destination_y = 1;
    copy.destination_z = 2;
    copy.width_bytes = 8;
    copy.height = 3;
    copy.depth = 2;
    ck_success(cx_emu_call_memcpy_3d(&copy));
    ck_success(cx_emu_call_memcpy_3d(&back));
    for (size_t z = 0; z < 2; z++)
        for (size_t y = 0; y < 3; y++)
            ck_assert_mem_eq(&found[z + 2][y + 1][0], &source[z][y][4], 8);
    ck_success(cx_emu_call_array_destroy(one));
    ck_success(cx_emu_call_array_destroy(other));
}
END_TEST

START_TEST(rows_of_arrays_are_copied_by_offset)
{
    CUarray one = make_array(WIDTH, 0, 0, 0), other = make_array(WIDTH, 0, 0, 0);
    CUdeviceptr device = make_memory(ROW);
    CUstream stream = make_stream(0);
    unsigned char *row = &found[0][0][0];

    fill_source();
    ck_success(cx_emu_call_memcpy_htoa(one, 0, source, ROW));
    ck_success(cx_emu_call_memcpy_atoa(other, 4, one, 8, 16));
    ck_success(cx_emu_call_memcpy_atod(device, other, 4, 16));
    ck_success(cx_emu_call_memcpy_dtoa(one, 0, device, 8));
    ck_success(cx_emu_call_memcpy_htoa_async(one, 8, source, 4, stream));
    ck_success(cx_emu_call_memcpy_atoh_async(row, one, 0, ROW, stream));
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_assert_mem_eq(row, &source[0][0][8], 8);
    ck_assert_mem_eq(row + 8, &source[0][0][0], 4);
    ck_assert_mem_eq(row + 12, &source[0][0][12], 12);
    ck_success(cx_emu_call_memcpy_atoh(row, other, 4, 16));
    ck_assert_mem_eq(row, &source[0][0][8], 16);
    ck_result(cx_emu_call_memcpy_htoa(one, 2, source, 4), INVALID_VALUE);
    ck_result(cx_emu_call_memcpy_htoa(one, 0, source, ROW + 4), INVALID_VALUE);
    ck_result(cx_emu_call_memcpy_htoa(NULL, 0, source, 4), INVALID_VALUE);
    ck_success(cx_emu_call_array_destroy(one));
    ck_success(cx_emu_call_array_destroy(other));
}
END_TEST

START_TEST(a_copy_beyond_an_array_is_refused)
{
    CUarray array = make_array(WIDTH, HEIGHT, DEPTH, 0);
    cxu_memcpy_3d copy = to_array(array);

    fill_source();
    copy.destination_z = 1;
    ck_result(cx_emu_call_memcpy_3d(&copy), INVALID_VALUE);
    copy = to_array(array);
    copy.destination_y = SIZE_MAX;
    ck_result(cx_emu_call_memcpy_3d(&copy), INVALID_VALUE);
    copy = to_array(array);
    copy.width_bytes -= 2;
    ck_result(cx_emu_call_memcpy_3d(&copy), INVALID_VALUE);
    copy = to_array(array);
    ck_success(cx_emu_call_array_destroy(array));
    ck_result(cx_emu_call_memcpy_3d(&copy), INVALID_VALUE);
}
END_TEST

START_TEST(a_capture_records_copies_of_arrays)
{
    CUarray array = make_array(WIDTH, HEIGHT, DEPTH, 0);
    const cxu_memcpy_3d there = to_array(array), back = from_array(array);
    CUstream stream = make_stream(0);
    cxu_memcpy_3d told;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode nodes[2];
    size_t count = 2;

    fill_source();
    ck_success(cx_emu_call_stream_begin_capture(stream, CXU_STREAM_CAPTURE_MODE_GLOBAL));
    ck_success(cx_emu_call_memcpy_3d_async(&there, stream));
    ck_success(cx_emu_call_memcpy_3d_async(&back, stream));
    ck_success(cx_emu_call_stream_end_capture(stream, &graph));
    ck_success(cx_emu_call_graph_get_nodes(graph, nodes, &count));
    ck_success(cx_emu_call_graph_memcpy_node_get_params(nodes[0], &told));
    ck_assert_int_eq(told.destination_type, CXU_MEMORYTYPE_ARRAY);
    ck_assert_ptr_eq(told.destination_array, array);
    ck_success(cx_emu_call_graph_instantiate_with_flags(&exec, graph, 0));
    ck_success(cx_emu_call_graph_launch(exec, stream));
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_assert_mem_eq(found, source, sizeof source);
    ck_success(cx_emu_call_array_destroy(array));
    ck_result(cx_emu_call_graph_launch(exec, stream), INVALID_VALUE);
    ck_success(cx_emu_call_graph_exec_destroy(exec));
    ck_success(cx_emu_call_graph_destroy(graph));
}
END_TEST

START_TEST(a_batch_counts_elements_of_arrays)
{
    CUarray array = make_array(WIDTH, HEIGHT, 0, 0);
    CUdeviceptr device = make_memory(ROW * HEIGHT);
    CUstream stream = make_stream(0);
    cxu_memcpy_3d_batch_op copy = {
        .source = {CXU_MEMCPY_OPERAND_TYPE_POINTER, {.pointer = {device, WIDTH, HEIGHT, {0}}}},
        .destination = {CXU_MEMCPY_OPERAND_TYPE_ARRAY, {.array = {array, 1, 1, 0}}},
        .width = WIDTH - 1,
        .height = HEIGHT - 1,
        .depth = 1,
        .order = CXU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    const cxu_memcpy_2d back = {.source_type = CXU_MEMORYTYPE_ARRAY,
                                .source_array = array,
                                .source_x_bytes = 4,
                                .source_y = 1,
                                .destination_type = CXU_MEMORYTYPE_HOST,
                                .destination_host = found,
                                .destination_pitch_bytes = ROW,
                                .width_bytes = ROW - 4,
                                .height = HEIGHT - 1};

    fill_source();
    ck_success(cx_emu_call_memcpy_htod(device, source, ROW * HEIGHT));
    ck_success(cx_emu_call_memcpy_3d_batch_async(1, &copy, 0, stream));
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_success(cx_emu_call_memcpy_2d(&back));
    for (size_t y = 0; y < HEIGHT - 1; y++)
        ck_assert_mem_eq(&found[0][y][0], &source[0][y][0], ROW - 4);
    copy.width++;
    ck_result(cx_emu_call_memcpy_3d_batch_async(1, &copy, 0, stream), INVALID_VALUE);
    ck_success(cx_emu_call_array_destroy(array));
}
END_TEST

START_TEST(each_level_of_a_mipmapped_array_has_half_the_size)
{
    const cxu_array_3d_descriptor whole = {16, 4, 0, CXU_AD_FORMAT_FLOAT, 1, 0};
    CUmipmappedArray mipmapped;
    cxu_array_descriptor told;
    CUarray level;

    ck_success(cx_emu_call_mipmapped_array_create(&mipmapped, &whole, 100));
    ck_success(cx_emu_call_mipmapped_array_get_level(&level, mipmapped, 3));
    ck_success(cx_emu_call_array_get_descriptor(&told, level));
    ck_assert_uint_eq(told.width, 2);
    ck_assert_uint_eq(told.height, 1);
    ck_result(cx_emu_call_mipmapped_array_get_level(&level, mipmapped, 5), INVALID_VALUE);
    ck_result(cx_emu_call_array_destroy(level), INVALID_VALUE);
    ck_success(cx_emu_call_mipmapped_array_destroy(mipmapped));
    ck_result(cx_emu_call_array_get_descriptor(&told, level), INVALID_HANDLE);
    ck_result(cx_emu_call_mipmapped_array_destroy(mipmapped), INVALID_HANDLE);
    ck_result(cx_emu_call_mipmapped_array_create(&mipmapped, &whole, 0), INVALID_VALUE);
}
END_TEST

START_TEST(an_array_takes_memory_and_goes_with_its_context)
{
    size_t before, now, total;
    CUcontext context;
    CUarray array;

    ck_success(cx_emu_call_mem_get_info(&before, &total));
    ck_success(cx_emu_call_ctx_create_v2(&context, 0, 0));
    array = make_array(1024, 1024, 0, 0);
    ck_success(cx_emu_call_mem_get_info(&now, &total));
    ck_assert_uint_le(now + ((size_t)4 << 20), before);
    ck_success(cx_emu_call_ctx_destroy(context));
    ck_success(cx_emu_call_mem_get_info(&now, &total));
    ck_assert_uint_eq(now, before);
    ck_result(cx_emu_call_array_destroy(array), INVALID_HANDLE);
}
END_TEST

START_TEST(no_array_has_planes_or_tiles)
{
    CUarray array = make_array(WIDTH, HEIGHT, 0, 0), plane;
    cxu_array_sparse_properties sparse;
    cxu_array_memory_requirements needs;

    ck_result(cx_emu_call_array_get_plane(&plane, array, 0), INVALID_VALUE);
    ck_result(cx_emu_call_array_get_sparse_properties(&sparse, array), INVALID_VALUE);
    ck_result(cx_emu_call_array_get_memory_requirements(&needs, array, 0), INVALID_VALUE);
    ck_success(cx_emu_call_array_destroy(array));
    ck_result(cx_emu_call_array_get_plane(&plane, array, 0), INVALID_HANDLE);
}
END_TEST

static Suite *array_suite(void)
{
    Suite *suite = suite_create("array");
    TCase *tcase = tcase_create("array");

    tcase_add_checked_fixture(tcase, work_setup, work_teardown);
    suite_add_tcase(suite, tcase);

    tcase_add_test(tcase, an_array_tells_its_descriptor);
    tcase_add_test(tcase, an_array_has_a_shape_that_its_flags_allow);
    tcase_add_test(tcase, an_array_has_one_two_or_four_channels);
    tcase_add_test(tcase, a_box_goes_through_two_arrays_and_comes_back);
    tcase_add_test(tcase, rows_of_arrays_are_copied_by_offset);
    tcase_add_test(tcase, a_copy_beyond_an_array_is_refused);
    tcase_add_test(tcase, a_capture_records_copies_of_arrays);
    tcase_add_test(tcase, a_batch_counts_elements_of_arrays);
    tcase_add_test(tcase, each_level_of_a_mipmapped_array_has_half_the_size);
    tcase_add_test(tcase, an_array_takes_memory_and_goes_with_its_context);
    tcase_add_test(tcase, no_array_has_planes_or_tiles);
    return suite;
}

CX_TESTS(array_suite);
