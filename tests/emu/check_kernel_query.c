/*
 * What libraries, kernels and functions say of themselves, and how many blocks of them fit (K10).
 */
#include "kernels.h"
#include "work_fixture.h"

#include <stdlib.h>
#include <string.h>

static CUlibrary library;
static CUkernel add_one;
static CUfunction reverse;

static void setup(void)
{
    CUmodule module;

    work_setup();
    ck_success(cx_emu_call_library_load_data(&library, PTX_ALL, NULL, NULL, 0, NULL, NULL, 0));
    ck_success(cx_emu_call_library_get_kernel(&add_one, library, "add_one"));
    ck_success(cx_emu_call_module_load_data(&module, PTX_ALL));
    ck_success(cx_emu_call_module_get_function(&reverse, module, "reverse"));
}

static void teardown(void)
{
    ck_success(cx_emu_call_library_unload(library));
    work_teardown();
}

START_TEST(a_library_lists_its_kernels)
{
    CUkernel kernels[64] = {NULL};
    unsigned int count = 0;
    const char *name = NULL;

    ck_success(cx_emu_call_library_get_kernel_count(&count, library));
    ck_assert_uint_gt(count, 3);
    ck_assert_uint_le(count, 64);
    ck_success(cx_emu_call_library_enumerate_kernels(kernels, count, library));
    for (unsigned int i = 0; i < count; i++) {
        CUlibrary owner = NULL;
        CUkernel found = NULL;

        ck_success(cx_emu_call_kernel_get_library(&owner, kernels[i]));
        ck_assert_ptr_eq(owner, library);
        ck_success(cx_emu_call_kernel_get_name(&name, kernels[i]));
        ck_success(cx_emu_call_library_get_kernel(&found, library, name));
        ck_assert_ptr_eq(found, kernels[i]);
    }
    memset(kernels, 0, sizeof kernels);
    ck_success(cx_emu_call_library_enumerate_kernels(kernels, 0, library));
    ck_assert_ptr_null(kernels[0]);
    ck_success(cx_emu_call_library_enumerate_kernels(kernels, 1, library));
    ck_assert_ptr_nonnull(kernels[0]);
    ck_assert_ptr_null(kernels[1]);
}
END_TEST

START_TEST(a_library_is_asked_with_a_place_and_a_handle)
{
    CUkernel kernel;
    CUlibrary owner;
    unsigned int count;
    const char *name;
    size_t bytes;
    CUdeviceptr pointer;
    void *function;

    ck_result(cx_emu_call_library_get_kernel_count(NULL, library), INVALID_VALUE);
    ck_result(cx_emu_call_library_get_kernel_count(&count, NULL), INVALID_HANDLE);
    ck_result(cx_emu_call_library_enumerate_kernels(NULL, 1, library), INVALID_VALUE);
    ck_result(cx_emu_call_library_enumerate_kernels(&kernel, 1, NULL), INVALID_HANDLE);
    ck_result(cx_emu_call_kernel_get_library(NULL, add_one), INVALID_VALUE);
    ck_result(cx_emu_call_kernel_get_library(&owner, (CUkernel)(void *)reverse), INVALID_HANDLE);
    ck_result(cx_emu_call_kernel_get_name(NULL, add_one), INVALID_VALUE);
    ck_result(cx_emu_call_kernel_get_name(&name, NULL), INVALID_VALUE);
    ck_result(cx_emu_call_library_get_managed(&pointer, &bytes, library, "none"), NOT_FOUND);
    ck_result(cx_emu_call_library_get_managed(&pointer, &bytes, NULL, "none"), INVALID_HANDLE);
    ck_result(cx_emu_call_library_get_managed(NULL, NULL, library, "none"), INVALID_VALUE);
    ck_result(cx_emu_call_library_get_unified_function(&function, library, "add_one"),
              INVALID_VALUE);
    ck_result(cx_emu_call_library_get_unified_function(&function, NULL, "add_one"),
              INVALID_HANDLE);
}
END_TEST

START_TEST(a_managed_variable_is_found_and_the_host_uses_it)
{
    static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                               ".visible .global .align 8 .u32 plain[4] = {1, 2, 3, 4};\n"
                               ".visible .global .attribute(.managed) .align 4 .u32 m = 9;\n"
                               ".visible .entry nothing() { ret; }\n";
    CUlibrary with;
    CUdeviceptr at = 0, same = 1;
    CUcontext popped;
    size_t bytes = 0;

    ck_success(cx_emu_call_library_load_data(&with, text, NULL, NULL, 0, NULL, NULL, 0));
    ck_success(cx_emu_call_library_get_managed(&at, &bytes, with, "m"));
    ck_assert_uint_eq(bytes, 4);
    ck_assert_uint_eq(*(uint32_t *)at, 9);
    ck_success(cx_emu_call_library_get_global(&same, NULL, with, "m"));
    ck_assert_uint_eq(same, at);
    bytes = 0;
    ck_success(cx_emu_call_library_get_managed(NULL, &bytes, with, "m"));
    ck_assert_uint_eq(bytes, 4);
    ck_result(cx_emu_call_library_get_managed(&at, &bytes, with, "plain"), NOT_FOUND);
    ck_result(cx_emu_call_library_get_managed(&at, &bytes, with, "none"), NOT_FOUND);
    ck_success(cx_emu_call_ctx_pop(&popped));
    ck_result(cx_emu_call_library_get_managed(&at, &bytes, with, "m"), INVALID_CONTEXT);
    ck_success(cx_emu_call_ctx_push(popped));
    ck_success(cx_emu_call_library_unload(with));
}
END_TEST

START_TEST(a_kernel_tells_its_parameters)
{
    size_t offset = 77, bytes = 77;

    ck_success(cx_emu_call_kernel_get_param_info(add_one, 1, &offset, &bytes));
    ck_assert_uint_eq(offset, 8);
    ck_assert_uint_eq(bytes, 4);
    ck_success(cx_emu_call_kernel_get_param_info(add_one, 0, &offset, NULL));
    ck_assert_uint_eq(offset, 0);
    ck_result(cx_emu_call_kernel_get_param_info(add_one, 2, &offset, &bytes), INVALID_VALUE);
    ck_result(cx_emu_call_kernel_get_param_info(add_one, 0, NULL, &bytes), INVALID_VALUE);
    ck_result(cx_emu_call_kernel_get_param_info(NULL, 0, &offset, &bytes), INVALID_VALUE);
}
END_TEST

START_TEST(an_attribute_set_on_a_kernel_holds_on_its_device)
{
    const cxu_func_attribute most = CXU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    CUcontext contexts[2];
    CUfunction function;
    int value = 0;

    ck_result(cx_emu_call_kernel_set_attribute(most, 60000, NULL, 0), INVALID_HANDLE);
    ck_result(cx_emu_call_kernel_set_attribute(most, 60000, add_one, 9), INVALID_DEVICE);
    for (int device = 0; device < 2; device++)
        ck_success(cx_emu_call_primary_retain(&contexts[device], device));
    ck_success(cx_emu_call_kernel_set_attribute(most, 60000, add_one, 0));
    ck_success(cx_emu_call_kernel_get_attribute(&value, most, add_one, 0));
    ck_assert_int_eq(value, 60000);
    ck_success(cx_emu_call_kernel_get_attribute(&value, most, add_one, 1));
    ck_assert_int_eq(value, 49152);
    ck_success(cx_emu_call_ctx_push(contexts[0]));
    ck_success(cx_emu_call_kernel_get_function(&function, add_one));
    ck_success(cx_emu_call_func_get_attribute(&value, most, function));
    ck_assert_int_eq(value, 60000);
    ck_success(cx_emu_call_ctx_pop(NULL));
    ck_result(cx_emu_call_kernel_set_attribute(most, 65537, add_one, 1), INVALID_VALUE);
    ck_result(cx_emu_call_kernel_set_attribute(CXU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1, add_one, 1),
              INVALID_VALUE);
    for (int device = 0; device < 2; device++)
        ck_success(cx_emu_call_primary_release(device));
}
END_TEST

START_TEST(a_cache_preference_of_a_kernel_is_checked)
{
    ck_success(cx_emu_call_kernel_set_cache_config(add_one, CXU_FUNC_CACHE_PREFER_SHARED, 0));
    ck_result(cx_emu_call_kernel_set_cache_config(add_one, (cxu_func_cache)9, 0), INVALID_VALUE);
    ck_result(cx_emu_call_kernel_set_cache_config(NULL, CXU_FUNC_CACHE_PREFER_SHARED, 0),
              INVALID_HANDLE);
    ck_result(cx_emu_call_kernel_set_cache_config(add_one, CXU_FUNC_CACHE_PREFER_SHARED, -1),
              INVALID_DEVICE);
}
END_TEST

START_TEST(a_function_counts_as_loaded_once_it_is_loaded_or_launched)
{
    CUmodule module;
    CUfunction store;
    cxu_module_loading_mode mode = 0;
    cxu_function_loading_state state = 7;

    ck_success(cx_emu_call_module_get_loading_mode(&mode));
    ck_assert_int_eq(mode, CXU_MODULE_LAZY_LOADING);
    ck_result(cx_emu_call_module_get_loading_mode(NULL), INVALID_VALUE);
    ck_success(cx_emu_call_func_is_loaded(&state, reverse));
    ck_assert_int_eq(state, CXU_FUNCTION_LOADING_STATE_UNLOADED);
    ck_success(cx_emu_call_func_load(reverse));
    ck_success(cx_emu_call_func_is_loaded(&state, reverse));
    ck_assert_int_eq(state, CXU_FUNCTION_LOADING_STATE_LOADED);
    ck_result(cx_emu_call_func_load(NULL), INVALID_VALUE);
    ck_result(cx_emu_call_func_load((CUfunction)(void *)library), INVALID_HANDLE);
    ck_result(cx_emu_call_func_is_loaded(NULL, reverse), INVALID_VALUE);

    ck_success(cx_emu_call_func_get_module(&module, reverse));
    ck_success(cx_emu_call_module_get_function(&store, module, "store"));
    ck_success(cx_emu_call_func_is_loaded(&state, store));
    ck_assert_int_eq(state, CXU_FUNCTION_LOADING_STATE_UNLOADED);
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    ck_success(cx_emu_call_module_get_loading_mode(&mode));
    ck_assert_int_eq(mode, CXU_MODULE_EAGER_LOADING);
    unsetenv("CUDA_MODULE_LOADING");
}
END_TEST

/* ---- occupancy ---- */

static int asked[64], asked_count;

static size_t four_bytes_a_thread(int threads)
{
    if (asked_count < 64)
        asked[asked_count++] = threads;
    return 4 * (size_t)threads;
}

static size_t far_too_much(int threads)
{
    (void)threads;
    return 50000;
}

START_TEST(the_best_block_fills_a_multiprocessor)
{
    int blocks = 7, threads = 7, fit = 0;

    ck_success(cx_emu_call_occupancy_max_potential_block_size(&blocks, &threads, reverse, NULL, 0,
                                                              0));
    ck_assert_int_eq(threads, 1024);
    ck_assert_int_eq(blocks, 40);
    ck_success(cx_emu_call_occupancy_max_potential_block_size(&blocks, &threads, reverse, NULL, 0,
                                                              5000));
    ck_assert_int_eq(threads, 1024);
    ck_success(cx_emu_call_occupancy_max_potential_block_size(&blocks, &threads, reverse, NULL, 0,
                                                              100));
    ck_assert_int_eq(threads % 32, 0);
    ck_assert_int_le(threads, 100);
    ck_success(cx_emu_call_occupancy_max_active_blocks(&fit, reverse, threads, 0));
    ck_assert_int_eq(blocks, fit * 40);
    ck_success(cx_emu_call_occupancy_max_potential_block_size_with_flags(
        &blocks, &threads, reverse, far_too_much, 0, 0, 1));
    ck_assert_int_eq(blocks, 0);
    ck_assert_int_eq(threads, 0);
}
END_TEST

START_TEST(the_search_asks_for_the_memory_of_each_size_from_the_limit_down)
{
    int blocks, threads;

    ck_success(cx_emu_call_occupancy_max_potential_block_size(&blocks, &threads, reverse,
                                                              four_bytes_a_thread, 0, 200));
    ck_assert_int_gt(asked_count, 1);
    ck_assert_int_eq(asked[0], 200);
    for (int i = 1; i < asked_count; i++)
        ck_assert_int_eq(asked[i], 224 - 32 * i);
    ck_assert_int_eq(asked[asked_count - 1], threads);
}
END_TEST

START_TEST(the_best_block_is_asked_for_properly)
{
    int blocks = 7, threads = 7;

    ck_result(cx_emu_call_occupancy_max_potential_block_size(NULL, &threads, reverse, NULL, 0, 0),
              INVALID_VALUE);
    ck_result(cx_emu_call_occupancy_max_potential_block_size(&blocks, NULL, reverse, NULL, 0, 0),
              INVALID_VALUE);
    ck_result(cx_emu_call_occupancy_max_potential_block_size(&blocks, &threads, NULL, NULL, 0, 0),
              INVALID_HANDLE);
    ck_result(cx_emu_call_occupancy_max_potential_block_size(&blocks, &threads, reverse, NULL, 0,
                                                             -1),
              INVALID_VALUE);
    ck_result(cx_emu_call_occupancy_max_potential_block_size_with_flags(&blocks, &threads, reverse,
                                                                        NULL, 0, 0, 2),
              INVALID_VALUE);
    ck_assert_int_eq(blocks, 7);
    ck_assert_int_eq(threads, 7);
}
END_TEST

START_TEST(blocks_that_fit_share_the_memory_of_a_multiprocessor)
{
    size_t bytes = 7;

    ck_success(cx_emu_call_occupancy_available_dynamic_smem(&bytes, reverse, 4, 128));
    ck_assert_uint_eq(bytes, 16384);
    ck_success(cx_emu_call_occupancy_available_dynamic_smem(&bytes, reverse, 6, 128));
    ck_assert_uint_eq(bytes, 10880);
    ck_success(cx_emu_call_occupancy_available_dynamic_smem(&bytes, reverse, 1, 128));
    ck_assert_uint_eq(bytes, 49152);
    bytes = 7;
    ck_result(cx_emu_call_occupancy_available_dynamic_smem(&bytes, reverse, 100, 128),
              INVALID_VALUE);
    ck_result(cx_emu_call_occupancy_available_dynamic_smem(&bytes, reverse, 0, 128),
              INVALID_VALUE);
    ck_result(cx_emu_call_occupancy_available_dynamic_smem(NULL, reverse, 1, 128), INVALID_VALUE);
    ck_result(cx_emu_call_occupancy_available_dynamic_smem(&bytes, NULL, 1, 128), INVALID_HANDLE);
    ck_assert_uint_eq(bytes, 7);
}
END_TEST

START_TEST(a_profiler_starts_and_stops_in_a_context)
{
    ck_success(cx_emu_call_profiler_initialize(NULL, NULL, CXU_OUT_CSV));
    ck_result(cx_emu_call_profiler_initialize(NULL, NULL, (cxu_output_mode)7), INVALID_VALUE);
    ck_success(cx_emu_call_profiler_start());
    ck_success(cx_emu_call_profiler_stop());
    ck_success(cx_emu_call_ctx_pop(NULL));
    ck_result(cx_emu_call_profiler_stop(), INVALID_CONTEXT);
    ck_success(cx_emu_call_ctx_push(work_context));
}
END_TEST

START_TEST(a_kernel_node_remembers_its_attributes)
{
    CUdeviceptr at = make_memory(64);
    void *parameters[] = {&at};
    cxu_kernel_node_params params = {.function = reverse, .grid_x = 1, .grid_y = 1, .grid_z = 1,
                                     .block_x = 1, .block_y = 1, .block_z = 1,
                                     .parameters = parameters};
    cxu_launch_attribute_value value = {.number = 77};
    CUgraph graph;
    CUgraphNode node, other, empty;

    ck_success(cx_emu_call_graph_create(&graph, 0));
    ck_success(cx_emu_call_graph_add_kernel_node(&node, graph, NULL, 0, &params));
    ck_success(cx_emu_call_graph_add_kernel_node(&other, graph, NULL, 0, &params));
    ck_success(cx_emu_call_graph_add_empty_node(&empty, graph, NULL, 0));
    ck_success(cx_emu_call_graph_kernel_node_get_attribute(node, CXU_LAUNCH_ATTRIBUTE_PRIORITY,
                                                           &value));
    ck_assert_int_eq(value.number, 0);
    value.number = -1;
    ck_success(cx_emu_call_graph_kernel_node_set_attribute(node, CXU_LAUNCH_ATTRIBUTE_PRIORITY,
                                                           &value));
    ck_success(cx_emu_call_graph_kernel_node_copy_attributes(other, node));
    value.number = 77;
    ck_success(cx_emu_call_graph_kernel_node_get_attribute(other, CXU_LAUNCH_ATTRIBUTE_PRIORITY,
                                                           &value));
    ck_assert_int_eq(value.number, -1);
    ck_success(cx_emu_call_graph_kernel_node_get_attribute(other, CXU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                                                           &value));
    ck_assert_int_eq(value.number, 0);
    ck_result(cx_emu_call_graph_kernel_node_get_attribute(node, (cxu_launch_attribute_id)999,
                                                          &value),
              INVALID_VALUE);
    ck_result(cx_emu_call_graph_kernel_node_set_attribute(node, CXU_LAUNCH_ATTRIBUTE_IGNORE,
                                                          &value),
              INVALID_VALUE);
    ck_result(cx_emu_call_graph_kernel_node_copy_attributes(NULL, node), INVALID_VALUE);
    ck_result(cx_emu_call_graph_kernel_node_get_attribute(empty, CXU_LAUNCH_ATTRIBUTE_PRIORITY,
                                                          &value),
              INVALID_VALUE);
    ck_success(cx_emu_call_graph_destroy(graph));
}
END_TEST

/* ---- many parameters ---- */

#define MANY(version, target, bytes, last)                                                       \
    ".version " version "\n.target " target "\n.address_size 64\n"                              \
    ".visible .entry many(.param .u64 out, .param .align 4 .b8 all[" bytes "])\n"                \
    "{\n.reg .b64 %d<3>;\n.reg .b32 %r<5>;\nld.param.u64 %d1, [out];\nmov.u32 %r1, %ctaid.x;\n" \
    "mul.wide.u32 %d2, %r1, 4;\nadd.u64 %d1, %d1, %d2;\nld.param.u32 %r2, [all];\n"            \
    "ld.param.u32 %r3, [all+" last "];\nadd.u32 %r4, %r2, %r3;\n"                               \
    "st.global.u32 [%d1], %r4;\nret;\n}\n"

START_TEST(a_kernel_takes_32764_bytes_of_parameters)
{
    static uint32_t all[(32764 - 8) / 4];
    CUdeviceptr out = make_memory(16);
    void *parameters[] = {&out, all};
    uint32_t found[4];
    CUmodule module;
    CUfunction many;

    all[0] = 7;
    all[sizeof all / 4 - 1] = 1000;
    ck_success(cx_emu_call_module_load_data(&module, MANY("8.1", "sm_70", "32756", "32752")));
    ck_success(cx_emu_call_module_get_function(&many, module, "many"));
    ck_success(cx_emu_call_launch_kernel(many, 4, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    ck_success(cx_emu_call_ctx_synchronize());
    read_device(found, out, sizeof found);
    for (int i = 0; i < 4; i++)
        ck_assert_uint_eq(found[i], 1007);
    ck_success(cx_emu_call_module_unload(module));
}
END_TEST

static const char *const too_many[] = {
    MANY("8.1", "sm_70", "32757", "0"), MANY("8.0", "sm_70", "4089", "0"),
    MANY("8.1", "sm_61", "4089", "0")};

START_TEST(more_parameters_than_the_version_allows_are_invalid)
{
    CUmodule module;

    ck_result(cx_emu_call_module_load_data(&module, too_many[_i]), INVALID_PTX);
}
END_TEST

static Suite *kernel_query_suite(void)
{
    Suite *suite = suite_create("kernel query");
    TCase *tests = tcase_create("kernel query");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_library_lists_its_kernels);
    tcase_add_test(tests, a_library_is_asked_with_a_place_and_a_handle);
    tcase_add_test(tests, a_managed_variable_is_found_and_the_host_uses_it);
    tcase_add_test(tests, a_kernel_tells_its_parameters);
    tcase_add_test(tests, an_attribute_set_on_a_kernel_holds_on_its_device);
    tcase_add_test(tests, a_cache_preference_of_a_kernel_is_checked);
    tcase_add_test(tests, a_function_counts_as_loaded_once_it_is_loaded_or_launched);
    tcase_add_test(tests, the_best_block_fills_a_multiprocessor);
    tcase_add_test(tests, the_search_asks_for_the_memory_of_each_size_from_the_limit_down);
    tcase_add_test(tests, the_best_block_is_asked_for_properly);
    tcase_add_test(tests, blocks_that_fit_share_the_memory_of_a_multiprocessor);
    tcase_add_test(tests, a_kernel_node_remembers_its_attributes);
    tcase_add_test(tests, a_profiler_starts_and_stops_in_a_context);
    tcase_add_test(tests, a_kernel_takes_32764_bytes_of_parameters);
    tcase_add_loop_test(tests, more_parameters_than_the_version_allows_are_invalid, 0,
                        (int)(sizeof too_many / sizeof too_many[0]));
    suite_add_tcase(suite, tests);
    return suite;
}

CX_TESTS(kernel_query_suite);
