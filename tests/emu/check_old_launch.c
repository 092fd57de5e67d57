/* Launches as before CUDA 4: a function keeps its block and its arguments (K9). */
#include "kernels.h"
#include "work_fixture.h"

#define WORDS 200

static CUmodule module;
static CUfunction function;
static CUdeviceptr words;

static void setup(void)
{
    work_setup();
    ck_success(cx_emu_call_module_load_data(&module, PTX_ALL));
    ck_success(cx_emu_call_module_get_function(&function, module, "add_one"));
    words = make_memory(WORDS * sizeof(uint32_t));
    ck_success(cx_emu_call_memset_d32(words, 0, WORDS));
    ck_success(cx_emu_call_ctx_synchronize());
}

static void set_arguments(uint32_t count)
{
    ck_success(cx_emu_call_param_set_bytes(function, 0, &words, sizeof words));
    ck_success(cx_emu_call_param_set_int(function, 8, count));
    ck_success(cx_emu_call_param_set_size(function, 12));
}

static uint32_t sum_of_words(void)
{
    uint32_t found[WORDS], sum = 0;

    ck_success(cx_emu_call_ctx_synchronize());
    read_device(found, words, sizeof found);
    for (int i = 0; i < WORDS; i++)
        sum += found[i];
    return sum;
}

START_TEST(a_grid_is_launched_with_what_was_set)
{
    ck_success(cx_emu_call_func_set_block_shape(function, 64, 1, 1));
    set_arguments(WORDS);
    ck_success(cx_emu_call_launch_grid(function, 3, 1));
    ck_assert_uint_eq(sum_of_words(), 192);
    ck_success(cx_emu_call_launch_once(function));
    ck_assert_uint_eq(sum_of_words(), 256);
    set_arguments(10);
    ck_success(cx_emu_call_launch_once(function));
    ck_assert_uint_eq(sum_of_words(), 266);
}
END_TEST

START_TEST(a_grid_is_launched_in_a_stream_with_the_arguments_of_then)
{
    stream_gate gate = GATE_CLOSED;
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);

    ck_success(cx_emu_call_func_set_block_shape(function, 32, 1, 1));
    set_arguments(32);
    gate_put(&gate, stream);
    ck_success(cx_emu_call_launch_grid_async(function, 1, 1, stream));
    set_arguments(1);
    gate_wait_entered(&gate);
    gate_open(&gate);
    ck_assert_uint_eq(sum_of_words(), 32);
}
END_TEST

START_TEST(a_new_function_has_blocks_of_one_thread)
{
    set_arguments(WORDS);
    ck_success(cx_emu_call_launch_once(function));
    ck_assert_uint_eq(sum_of_words(), 1);
}
END_TEST

START_TEST(other_launches_have_their_own_shape)
{
    uint32_t count = WORDS;
    void *arguments[] = {&words, &count};

    ck_success(cx_emu_call_func_set_block_shape(function, 64, 1, 1));
    ck_success(cx_emu_call_launch_kernel(function, 1, 1, 1, 2, 1, 1, 0, NULL, arguments, NULL));
    ck_assert_uint_eq(sum_of_words(), 2);
}
END_TEST

START_TEST(settings_have_limits)
{
    const unsigned char bytes[8] = {0};

    ck_success(cx_emu_call_func_set_block_shape(function, 1024, 1, 1));
    ck_result(cx_emu_call_func_set_block_shape(function, 1024, 2, 1), INVALID_VALUE);
    ck_result(cx_emu_call_func_set_block_shape(function, 1, 1, 65), INVALID_VALUE);
    ck_result(cx_emu_call_func_set_block_shape(function, 1, -1, 1), INVALID_VALUE);
    ck_success(cx_emu_call_func_set_shared_size(function, 49152));
    ck_result(cx_emu_call_func_set_shared_size(function, 49153), INVALID_VALUE);
    ck_success(cx_emu_call_param_set_bytes(function, 32756, (void *)bytes, 8));
    ck_result(cx_emu_call_param_set_bytes(function, 32757, (void *)bytes, 8), INVALID_VALUE);
    ck_result(cx_emu_call_param_set_bytes(function, -1, (void *)bytes, 8), INVALID_VALUE);
    ck_result(cx_emu_call_param_set_bytes(function, 0, NULL, 8), INVALID_VALUE);
    ck_success(cx_emu_call_param_set_float(function, 32760, 1.5F));
    ck_result(cx_emu_call_param_set_float(function, 32761, 1.5F), INVALID_VALUE);
    ck_result(cx_emu_call_param_set_texture(function, -1, NULL), INVALID_VALUE);
    ck_result(cx_emu_call_launch_grid(function, 1, 65536), INVALID_VALUE);
}
END_TEST

START_TEST(a_function_goes_with_its_module)
{
    set_arguments(1);
    ck_success(cx_emu_call_module_unload(module));
    ck_result(cx_emu_call_launch_grid(function, 1, 1), INVALID_HANDLE);
    ck_result(cx_emu_call_param_set_int(function, 0, 1), INVALID_HANDLE);
}
END_TEST

/* ---- on several devices ---- */

START_TEST(a_cooperative_launch_goes_to_each_device)
{
    uint32_t count = WORDS, found = 0;
    cxu_launch_params launches[2] = {
        {.grid_x = 1, .grid_y = 1, .grid_z = 1, .block_x = 8, .block_y = 1, .block_z = 1}};
    CUdeviceptr far;
    void *here[] = {&words, &count}, *there[] = {&far, &count};
    CUcontext other;
    CUmodule loaded;

    launches[1] = launches[0];
    launches[0].function = function;
    launches[0].stream = make_stream(CXU_STREAM_NON_BLOCKING);
    launches[0].parameters = here;
    ck_success(cx_emu_call_ctx_create_v2(&other, 0, 1));
    ck_success(cx_emu_call_module_load_data(&loaded, PTX_ALL));
    ck_success(cx_emu_call_module_get_function(&launches[1].function, loaded, "add_one"));
    far = make_memory(WORDS * sizeof(uint32_t));
    ck_success(cx_emu_call_memset_d32(far, 0, WORDS));
    ck_success(cx_emu_call_ctx_synchronize());
    launches[1].stream = make_stream(CXU_STREAM_NON_BLOCKING);
    launches[1].parameters = there;
    ck_success(cx_emu_call_launch_cooperative_kernel_multi_device(launches, 2, 0));
    ck_success(cx_emu_call_ctx_synchronize());
    read_device(&found, far + 7 * sizeof found, sizeof found);
    ck_assert_uint_eq(found, 1);
    launches[1].block_x = 4;
    ck_result(cx_emu_call_launch_cooperative_kernel_multi_device(launches, 2, 0), INVALID_VALUE);
    ck_success(cx_emu_call_ctx_destroy(other));
    ck_assert_uint_eq(sum_of_words(), 8);
}
END_TEST

static Suite *launch_suite(void)
{
    Suite *suite = suite_create("old_launch");
    TCase *tests = tcase_create("old_launch");

    tcase_add_checked_fixture(tests, setup, work_teardown);
    tcase_add_test(tests, a_grid_is_launched_with_what_was_set);
    tcase_add_test(tests, a_grid_is_launched_in_a_stream_with_the_arguments_of_then);
    tcase_add_test(tests, a_new_function_has_blocks_of_one_thread);
    tcase_add_test(tests, other_launches_have_their_own_shape);
    tcase_add_test(tests, settings_have_limits);
    tcase_add_test(tests, a_function_goes_with_its_module);
    tcase_add_test(tests, a_cooperative_launch_goes_to_each_device);
    suite_add_tcase(suite, tests);
    return suite;
}

CX_TESTS(launch_suite);
