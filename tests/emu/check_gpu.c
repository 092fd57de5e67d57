/* CTXRT_EMU_GPU: the GPUs that are played, by recorded numbers. */
#include "gpus.h"
#include "kernels.h"

#include <stdlib.h>
#include <string.h>

/* Recorded: pantheonsim's cards (docs/semantics.md). */
static const struct recorded {
    const char *word, *name;
    size_t memory_bytes;
    int multiprocessors, major, minor, l2_bytes, blocks, ecc;
} gpus[] = {
    {"rtx3060", "RTX 3060", 12884377600u, 28, 8, 6, 2359296, 16, 0},
    {"l4", "NVIDIA L4", 23661248512u, 58, 8, 9, 50331648, 24, 1},
    {"l40s", "NVIDIA L40S", 47667740672u, 142, 8, 9, 100663296, 24, 1},
    {"rtx-pro-6000", "RTX PRO 6000", 101975851008u, 188, 12, 0, 134217728, 24, 1},
};
#define GPU_COUNT (sizeof gpus / sizeof gpus[0])

static void start_as(const char *word)
{
    unsetenv("CUDA_VISIBLE_DEVICES");
    setenv("CTXRT_EMU_GPU", word, 1);
    EXPECT(SUCCESS, init, 0);
}

static int value_of(cxu_device_attribute attribute)
{
    int value = -7;
    EXPECT(SUCCESS, device_get_attribute, &value, attribute, 1);
    return value;
}

START_TEST(a_named_gpu_reports_what_was_recorded_of_it)
{
    const struct recorded *gpu = &gpus[_i];
    char name[100] = "";
    size_t bytes = 0, free_bytes = 0;
    int major = 0, minor = 0;
    start_as(gpu->word);
    EXPECT(SUCCESS, device_get_name, name, (int)sizeof name, 1);
    ck_assert_ptr_nonnull(strstr(name, gpu->name));
    EXPECT(SUCCESS, device_total_mem, &bytes, 1);
    ck_assert_uint_eq(bytes, gpu->memory_bytes);
    EXPECT(SUCCESS, device_compute_capability, &major, &minor, 1);
    ck_assert(major == gpu->major && minor == gpu->minor);
    ck_assert_int_eq(value_of(CXU_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), gpu->major);
    ck_assert_int_eq(value_of(CXU_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR), gpu->minor);
    ck_assert_int_eq(value_of(CXU_ATTRIBUTE_MULTIPROCESSOR_COUNT), gpu->multiprocessors);
    ck_assert_int_eq(value_of(CXU_ATTRIBUTE_L2_CACHE_SIZE), gpu->l2_bytes);
    ck_assert_int_eq(value_of(CXU_ATTRIBUTE_ECC_ENABLED), gpu->ecc);
    ck_assert_int_eq(value_of(CXU_ATTRIBUTE_CLUSTER_LAUNCH), gpu->major >= 9);
    ck_assert_int_eq(value_of(CXU_ATTRIBUTE_PCI_BUS_ID), 2);
    CUcontext context = create_on(1);
    EXPECT(SUCCESS, mem_get_info, &free_bytes, &bytes);
    ck_assert(bytes == gpu->memory_bytes && free_bytes == bytes);
    EXPECT(SUCCESS, ctx_destroy, context);
}
END_TEST

START_TEST(occupancy_follows_the_gpu)
{
    const struct recorded *gpu = &gpus[_i];
    int target = 10 * gpu->major + gpu->minor, value = 0;
    size_t room = 0;
    CUmodule module;
    CUfunction function;
    start_as(gpu->word);
    CUcontext context = create_on(0);
    EXPECT(SUCCESS, module_load_data, &module, PTX_HEAD PTX_ADD_ONE);
    EXPECT(SUCCESS, module_get_function, &function, module, "add_one");
    EXPECT(SUCCESS, func_get_attribute, &value, CXU_FUNC_ATTRIBUTE_BINARY_VERSION, function);
    ck_assert_int_eq(value, target);
    /* 1536 threads, and 1 KiB of the multiprocessor's 100 taken of each block */
    EXPECT(SUCCESS, occupancy_max_active_blocks, &value, function, 32, 0);
    ck_assert_int_eq(value, gpu->blocks);
    EXPECT(SUCCESS, occupancy_max_active_blocks, &value, function, 1024, 0);
    ck_assert_int_eq(value, 1);
    EXPECT(SUCCESS, occupancy_max_active_blocks, &value, function, 768, 0);
    ck_assert_int_eq(value, 2);
    EXPECT(SUCCESS, occupancy_max_active_blocks, &value, function, 32, 9 * 1024);
    ck_assert_int_eq(value, 10);
    EXPECT(SUCCESS, occupancy_available_dynamic_smem, &room, function, 2, 32);
    ck_assert_uint_eq(room, 48 * 1024);
    EXPECT(SUCCESS, func_set_attribute, function, CXU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
           101376);
    EXPECT(INVALID_VALUE, func_set_attribute, function,
           CXU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 101377);
    EXPECT(SUCCESS, occupancy_max_active_blocks, &value, function, 32, 101376);
    ck_assert_int_eq(value, 1);
    EXPECT(SUCCESS, ctx_destroy, context);
}
END_TEST

START_TEST(clusters_follow_the_gpu)
{
    const struct recorded *gpu = &gpus[_i];
    cxu_launch_attribute cluster = {.id = CXU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                    .value.cluster = {2, 1, 1}};
    cxu_launch_config config = {.grid_x = 2, .grid_y = 1, .grid_z = 1,
                                .block_x = 32, .block_y = 1, .block_z = 1};
    CUdeviceptr out = 0;
    unsigned int count = 0;
    void *parameters[] = {&out, &count};
    int size = -7;
    CUmodule module;
    CUfunction function;
    start_as(gpu->word);
    CUcontext context = create_on(0);
    bool has = value_of(CXU_ATTRIBUTE_CLUSTER_LAUNCH) != 0;
    cxu_result expected = has ? CXU_SUCCESS : CXU_INVALID_CLUSTER_SIZE;
    EXPECT(SUCCESS, module_load_data, &module, PTX_HEAD PTX_ADD_ONE);
    EXPECT(SUCCESS, module_get_function, &function, module, "add_one");
    EXPECT(SUCCESS, occupancy_max_potential_cluster_size, &size, function, &config);
    ck_assert_int_eq(size, has ? 8 : 0);
    config.attributes = &cluster;
    config.attribute_count = 1;
    size = -7;
    ck_assert_int_eq(CU(occupancy_max_potential_cluster_size, &size, function, &config), expected);
    ck_assert_int_eq(size, has ? 8 : -7);
    size = -7;
    ck_assert_int_eq(CU(occupancy_max_active_clusters, &size, function, &config), expected);
    ck_assert_int_eq(size == -7, !has);
    ck_assert_int_eq(CU(launch_kernel_ex, &config, function, parameters, NULL), expected);
    cluster.value.cluster[0] = 1; /* every GPU has those */
    EXPECT(SUCCESS, launch_kernel_ex, &config, function, parameters, NULL);
    EXPECT(SUCCESS, ctx_destroy, context);
}
END_TEST

START_TEST(the_default_gpu_is_the_made_up_one)
{
    char name[100] = "";
    size_t bytes = 0;
    if (_i == 0)
        setenv("CTXRT_EMU_MEMORY", "8M", 1);
    start_as(_i == 0 ? "l40s" : "default");
    EXPECT(SUCCESS, device_total_mem, &bytes, 0);
    ck_assert_uint_eq(bytes, _i == 0 ? (size_t)8 << 20 : (size_t)4 << 30);
    EXPECT(SUCCESS, device_get_name, name, (int)sizeof name, 0);
    ck_assert_int_eq(strcmp(name, "ctxrt emulated GPU") == 0, _i == 1);
    if (_i == 1)
        ck_assert_int_eq(value_of(CXU_ATTRIBUTE_MULTIPROCESSOR_COUNT), 40);
}
END_TEST

/* All words, the made-up GPUs too. */
static const char *const words[] = {
    "default",
#define CX_GPU(slot, word, name, memory) word,
#include "emu/base/gpus.def"
};
#define WORD_COUNT (sizeof words / sizeof words[0])

START_TEST(the_attributes_of_a_gpu_agree)
{
    start_as(words[_i]);
    int warp = value_of(CXU_ATTRIBUTE_WARP_SIZE);
    int threads = value_of(CXU_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    int registers = value_of(CXU_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
    int shared = value_of(CXU_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    int most = value_of(CXU_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    int count = value_of(CXU_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    size_t bytes = 0;
    EXPECT(SUCCESS, device_total_mem, &bytes, 1);
    ck_assert(value_of(CXU_ATTRIBUTE_MAX_THREADS_PER_BLOCK) <= threads && threads % warp == 0);
    ck_assert(value_of(CXU_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR) * warp <= threads);
    ck_assert(value_of(CXU_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK) <= registers);
    ck_assert(value_of(CXU_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK) <= most);
    ck_assert(most + value_of(CXU_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK) <= shared);
    ck_assert(count >= 2 && count % 2 == 0); /* green contexts take two at least */
    ck_assert((size_t)value_of(CXU_ATTRIBUTE_L2_CACHE_SIZE) < bytes);
    ck_assert_uint_eq(bytes % CX_EMU_MEMORY_UNIT, 0);
    if (_i != 0) /* the default GPU has clusters so that programs can be tried */
        ck_assert_int_eq(value_of(CXU_ATTRIBUTE_CLUSTER_LAUNCH),
                         value_of(CXU_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) >= 9);
}
END_TEST

/* One past the last attribute. */
enum {
    ATTRIBUTES = 1
#define CX_ATTRIBUTE(name, value) +1
#include "driver/attributes.def"
};

static bool made_small(int attribute)
{
    static const cxu_device_attribute small[] = {
        CXU_ATTRIBUTE_CLOCK_RATE,         CXU_ATTRIBUTE_MULTIPROCESSOR_COUNT,
        CXU_ATTRIBUTE_MEMORY_CLOCK_RATE,  CXU_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH,
        CXU_ATTRIBUTE_L2_CACHE_SIZE,      CXU_ATTRIBUTE_ASYNC_ENGINE_COUNT,
        CXU_ATTRIBUTE_CLUSTER_LAUNCH,
    };
    for (size_t i = 0; i < sizeof small / sizeof small[0]; i++)
        if ((int)small[i] == attribute)
            return true;
    return false;
}

START_TEST(tiny_is_the_default_gpu_made_small)
{
    cx_emu_config config = {.gpus = 2,
                            .gpu_memory_bytes = (size_t)64 << 20,
                            .driver_version = CX_EMU_DRIVER_VERSION};
    int values[ATTRIBUTES];
    char name[100] = "";
    size_t bytes = 0;
    ck_assert(cx_emu_configure(&config));
    EXPECT(SUCCESS, init, 0);
    for (int i = 1; i < ATTRIBUTES; i++)
        values[i] = value_of((cxu_device_attribute)i);
    ck_assert(cx_emu_gpu_of("tiny", &config.gpu));
    ck_assert(cx_emu_configure(&config));
    for (int i = 1; i < ATTRIBUTES; i++) {
        int value = value_of((cxu_device_attribute)i);
        ck_assert_msg(made_small(i) ? value < values[i] : value == values[i],
                      "attribute %d is %d, and %d by default", i, value, values[i]);
    }
    EXPECT(SUCCESS, device_get_name, name, (int)sizeof name, 0);
    ck_assert_str_eq(name, "ctxrt emulated tiny GPU");
    ck_assert_uint_eq(cx_emu_gpu_memory(config.gpu), (size_t)64 << 20);
    EXPECT(SUCCESS, device_total_mem, &bytes, 0);
    ck_assert_uint_eq(bytes, (size_t)64 << 20);
}
END_TEST

START_TEST(limits_of_a_tiny_gpu_are_near)
{
    unsigned int count = 0;
    CUdeviceptr out = 0;
    void *parameters[] = {&out, &count};
    CUmodule module;
    CUfunction function;
    start_as("tiny");
    CUcontext context = create_on(0);
    EXPECT(SUCCESS, module_load_data, &module, PTX_HEAD PTX_ADD_ONE);
    EXPECT(SUCCESS, module_get_function, &function, module, "add_one");
    EXPECT(OUT_OF_MEMORY, mem_alloc, &out, ((size_t)64 << 20) + 1);
    EXPECT(SUCCESS, mem_alloc, &out, (size_t)64 << 20);
    /* 4 multiprocessors with 16 blocks of a warp each */
    EXPECT(SUCCESS, launch_cooperative_kernel, function, 64, 1, 1, 32, 1, 1, 0, NULL, parameters);
    EXPECT(COOPERATIVE_LAUNCH_TOO_LARGE, launch_cooperative_kernel, function, 65, 1, 1, 32, 1, 1, 0,
           NULL, parameters);
    EXPECT(SUCCESS, mem_free, out);
    EXPECT(SUCCESS, ctx_destroy, context);
}
END_TEST

static Suite *gpu_suite(void)
{
    Suite *suite = suite_create("gpu");
    TCase *tcase = tcase_create("gpu");
    tcase_add_checked_fixture(tcase, NULL, expect_nothing_left);
    tcase_add_loop_test(tcase, a_named_gpu_reports_what_was_recorded_of_it, 0, GPU_COUNT);
    tcase_add_loop_test(tcase, occupancy_follows_the_gpu, 0, GPU_COUNT);
    tcase_add_loop_test(tcase, clusters_follow_the_gpu, 0, GPU_COUNT);
    tcase_add_loop_test(tcase, the_default_gpu_is_the_made_up_one, 0, 2);
    tcase_add_loop_test(tcase, the_attributes_of_a_gpu_agree, 0, WORD_COUNT);
    tcase_add_test(tcase, tiny_is_the_default_gpu_made_small);
    tcase_add_test(tcase, limits_of_a_tiny_gpu_are_near);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(gpu_suite);
