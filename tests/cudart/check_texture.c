/* Arrays, copies with them, texture and surface objects. */
#include "client.h"

enum { WIDTH = 6, HEIGHT = 4, DEPTH = 3, UNSIGNED_KIND = 1, FLOAT_KIND = 2 };

static const cxr_channel_format floats = {32, 0, 0, 0, FLOAT_KIND};
static const cxr_channel_format bytes = {8, 8, 8, 8, UNSIGNED_KIND};

static float source[DEPTH][HEIGHT][WIDTH], found[DEPTH][HEIGHT][WIDTH];

static void fill_source(void)
{
    for (size_t i = 0; i < DEPTH * HEIGHT * WIDTH; i++)
        (&source[0][0][0])[i] = (float)i + 1;
    memset(found, 0, sizeof found);
}

static CUarray make_array(unsigned int flags)
{
    CUarray array;
    assert_ok(cudaMallocArray(&array, &floats, WIDTH, HEIGHT, flags));
    return array;
}

START_TEST(an_array_tells_its_channels_and_its_extent)
{
    cxr_channel_format channels;
    cxr_extent extent;
    unsigned int flags;
    CUarray array;
    assert_ok(cudaMalloc3DArray(&array, &bytes, (cxr_extent){8, 4, 2}, CXU_ARRAY3D_LAYERED));
    assert_ok(cudaArrayGetInfo(&channels, &extent, &flags, array));
    ck_assert_mem_eq(&channels, &bytes, sizeof bytes);
    ck_assert_uint_eq(extent.depth, 2);
    ck_assert_uint_eq(flags, CXU_ARRAY3D_LAYERED);
    assert_ok(cudaGetChannelDesc(&channels, array));
    ck_assert_mem_eq(&channels, &bytes, sizeof bytes);
    assert_ok(cudaFreeArray(array));
    assert_ok(cudaFreeArray(NULL));
    assert_error(cudaFreeArray(array), CXR_INVALID_RESOURCE_HANDLE);
}
END_TEST

START_TEST(channels_that_are_no_format_are_refused)
{
    static const cxr_channel_format wrong[] = {{8, 8, 8, 0, UNSIGNED_KIND}, {8, 16, 0, 0, 0},
                                               {8, 0, 0, 0, FLOAT_KIND},    {0, 0, 0, 0, 0},
                                               {12, 0, 0, 0, UNSIGNED_KIND}};
    CUarray array;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_error(cudaMallocArray(&array, &wrong[i], 8, 8, 0), CXR_INVALID_CHANNEL_DESCRIPTOR);
    assert_error(cudaMallocArray(&array, NULL, 8, 8, 0), CXR_INVALID_VALUE);
}
END_TEST

START_TEST(rows_go_to_an_array_and_to_another_one_and_back)
{
    const size_t row = sizeof source[0][0];
    CUarray one = make_array(0), other = make_array(0);
    fill_source();
    assert_ok(cudaMemcpy2DToArray(one, 0, 0, source, row, row, HEIGHT, CXR_HOST_TO_DEVICE));
    assert_ok(cudaMemcpy2DArrayToArray(other, 4, 1, one, 0, 0, 8, 2, CXR_DEVICE_TO_DEVICE));
    assert_ok(cudaMemcpy2DFromArray(found, row, other, 4, 1, 8, 2, CXR_DEVICE_TO_HOST));
    ck_assert_mem_eq(found[0][0], source[0][0], 8);
    ck_assert_mem_eq(found[0][1], source[0][1], 8);
    assert_error(cudaMemcpy2DToArray(one, 0, 0, source, row, row, HEIGHT, CXR_DEVICE_TO_HOST),
                 CXR_INVALID_MEMCPY_DIRECTION);
    assert_error(cudaMemcpy2DToArray(one, 0, 0, source, 4, row, HEIGHT, CXR_HOST_TO_DEVICE),
                 CXR_INVALID_PITCH_VALUE);
    assert_error(cudaMemcpy2DToArray(one, 4, 0, source, row, row, HEIGHT, CXR_HOST_TO_DEVICE),
                 CXR_INVALID_VALUE);
    assert_ok(cudaFreeArray(one));
    assert_ok(cudaFreeArray(other));
}
END_TEST

START_TEST(bytes_go_on_in_the_next_row)
{
    CUarray one = make_array(0), other = make_array(0);
    fill_source();
    assert_ok(cudaMemcpyToArray(one, 8, 1, source, 60, CXR_HOST_TO_DEVICE));
    assert_ok(cudaMemcpyArrayToArray(other, 0, 0, one, 8, 1, 60, CXR_DEVICE_TO_DEVICE));
    assert_ok(cudaMemcpyFromArray(found, other, 0, 0, 60, CXR_DEVICE_TO_HOST));
    ck_assert_mem_eq(found, source, 60);
    assert_error(cudaMemcpyToArray(one, 8, 3, source, 60, CXR_HOST_TO_DEVICE), CXR_INVALID_VALUE);
    assert_ok(cudaFreeArray(one));
    assert_ok(cudaFreeArray(other));
}
END_TEST

START_TEST(a_box_counts_elements_of_its_array)
{
    CUarray array;
    cxr_copy_3d copy = {.source = {source, sizeof source[0][0], WIDTH, HEIGHT},
                        .extent = {WIDTH, HEIGHT, DEPTH},
                        .kind = CXR_HOST_TO_DEVICE};
    cxr_copy_3d back = {.source_position = {2, 1, 1},
                        .destination = {found, sizeof found[0][0], WIDTH, HEIGHT},
                        .extent = {3, 2, 2},
                        .kind = CXR_DEVICE_TO_HOST};
    fill_source();
    assert_ok(cudaMalloc3DArray(&array, &floats, (cxr_extent){WIDTH, HEIGHT, DEPTH}, 0));
    copy.destination_array = back.source_array = array;
    assert_ok(cudaMemcpy3D(&copy));
    assert_ok(cudaMemcpy3D(&back));
    for (int z = 0; z < 2; z++)
        for (int y = 0; y < 2; y++)
            ck_assert_mem_eq(found[z][y], &source[z + 1][y + 1][2], 12);
    copy.destination.pointer = found;
    assert_error(cudaMemcpy3D(&copy), CXR_INVALID_VALUE);
    assert_ok(cudaFreeArray(array));
}
END_TEST

START_TEST(a_texture_tells_what_it_was_made_of)
{
    CUarray array = make_array(CXU_ARRAY3D_SURFACE_LDST);
    cxr_resource_descriptor resource = {.type = CXU_RESOURCE_TYPE_ARRAY, .of.array = array}, told;
    const cxr_texture_descriptor given = {.address_mode = {1, 2, 3}, .filter_mode = 1,
                                          .normalized = 1, .border_color = {1, 2, 3, 4},
                                          .max_mipmap_level_clamp = 5, .seamless_cubemap = 1};
    cxr_texture_descriptor texture;
    cxu_texture_object object;
    cxu_surface_object surface;
    assert_ok(cudaCreateTextureObject(&object, &resource, &given, NULL));
    assert_ok(cudaGetTextureObjectTextureDesc(&texture, object));
    ck_assert_mem_eq(&texture, &given, sizeof given);
    assert_ok(cudaGetTextureObjectResourceDesc(&told, object));
    ck_assert_ptr_eq(told.of.array, array);
    assert_ok(cudaDestroyTextureObject(object));
    assert_error(cudaDestroyTextureObject(object), CXR_INVALID_VALUE);
    assert_ok(cudaDestroyTextureObject(0));
    assert_ok(cudaCreateSurfaceObject(&surface, &resource));
    assert_ok(cudaGetSurfaceObjectResourceDesc(&told, surface));
    ck_assert_ptr_eq(told.of.array, array);
    assert_ok(cudaDestroySurfaceObject(surface));
    assert_ok(cudaFreeArray(array));
}
END_TEST

START_TEST(integers_are_neither_filtered_nor_normalized_if_they_are_large)
{
    static const cxr_channel_format words = {32, 0, 0, 0, UNSIGNED_KIND};
    cxr_resource_descriptor resource = {.type = CXU_RESOURCE_TYPE_ARRAY};
    cxr_texture_descriptor texture = {.read_mode = 1};
    cxu_texture_object object;
    assert_ok(cudaMallocArray(&resource.of.array, &words, 4, 4, 0));
    assert_error(cudaCreateTextureObject(&object, &resource, &texture, NULL),
                 CXR_INVALID_NORM_SETTING);
    texture = (cxr_texture_descriptor){.filter_mode = 1};
    assert_error(cudaCreateTextureObject(&object, &resource, &texture, NULL),
                 CXR_INVALID_FILTER_SETTING);
    assert_ok(cudaFreeArray(resource.of.array));
}
END_TEST

static Suite *texture_suite(void)
{
    Suite *suite = suite_create("texture");
    TCase *tcase = tcase_create("texture");
    tcase_add_checked_fixture(tcase, start_with_gpus, NULL);
    tcase_add_test(tcase, an_array_tells_its_channels_and_its_extent);
    tcase_add_test(tcase, channels_that_are_no_format_are_refused);
    tcase_add_test(tcase, rows_go_to_an_array_and_to_another_one_and_back);
    tcase_add_test(tcase, bytes_go_on_in_the_next_row);
    tcase_add_test(tcase, a_box_counts_elements_of_its_array);
    tcase_add_test(tcase, a_texture_tells_what_it_was_made_of);
    tcase_add_test(tcase, integers_are_neither_filtered_nor_normalized_if_they_are_large);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(texture_suite);
