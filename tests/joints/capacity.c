/* Blocks of one size fill a device: all but one of those that the device has room for. */
#include "suites.h"

#include <stdlib.h>

enum { DEVICE_MIB = 4096, BLOCKS_MAX = DEVICE_MIB };

static void start(void)
{
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    ck_assert_int_eq(unsetenv("CTXRT_ALLOCATOR"), 0);
    options.cuda_driver = CTXRT_CUDA_DRIVER_EMULATED;
    options.emulated_devices = 1;
    options.emulated_memory_bytes = (size_t)DEVICE_MIB << 20;
    cx_assert_ok(ctxrt_init(&options));
}

static void assert_filled_by(size_t mib)
{
    static void *blocks[BLOCKS_MAX + 1];
    size_t count = 0;
    ctxrt_status status;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    while ((status = ctxrt_alloc(mib << 20, &blocks[count])) == CTXRT_SUCCESS)
        count++;
    ck_assert_int_eq(status, CTXRT_ERROR_OUT_OF_MEMORY);
    ck_assert_uint_ge(count + 1, DEVICE_MIB / mib);
    while (count > 0)
        cx_assert_ok(ctxrt_free(blocks[--count]));
    cx_assert_ok(ctxrt_stack_pop());
}

#define CAPACITY_TEST(mib)                                    \
    START_TEST(all_but_one_block_of_##mib##_mib_fit_a_device) \
    {                                                         \
        assert_filled_by(mib);                                \
    }                                                         \
    END_TEST

CAPACITY_TEST(1)
CAPACITY_TEST(5)
CAPACITY_TEST(37)
CAPACITY_TEST(200)
CAPACITY_TEST(256)
CAPACITY_TEST(512)

#define CAPACITY_JOINT(mib)                                            \
    {                                                                  \
        "all_but_one_block_of_" #mib "_mib_fit_a_device",              \
            all_but_one_block_of_##mib##_mib_fit_a_device, start, NULL \
    }

Suite *capacity_suite(void)
{
    const joint joints[] = {
        CAPACITY_JOINT(1),   CAPACITY_JOINT(5),   CAPACITY_JOINT(37),
        CAPACITY_JOINT(200), CAPACITY_JOINT(256), CAPACITY_JOINT(512),
    };
    return joint_suite("capacity", joints, sizeof joints / sizeof *joints);
}
