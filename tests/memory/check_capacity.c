/* How many blocks of one size an allocator gets out of a device, with segments of cuMemAlloc. */
#include "fixture.h"
#include "test.h"

#include <stdlib.h>

#define MIB ((size_t)1 << 20)
#define DEVICE_BYTES (4096 * MIB)
#define BLOCKS_MAX 4096

static void start_with_large_device(void)
{
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    options.cuda_driver = CTXRT_CUDA_DRIVER_EMULATED;
    options.emulated_devices = 1;
    options.emulated_memory_bytes = DEVICE_BYTES;
    cx_assert_ok(ctxrt_init(&options));
}

static const size_t sizes[] = {1, 2, 3, 5, 7, 16, 37, 64, 100, 255, 256, 300, 512};

static size_t fill(size_t size_bytes, void **pointers)
{
    size_t count = 0;
    while (count < BLOCKS_MAX && ctxrt_alloc(size_bytes, &pointers[count]) == CTXRT_SUCCESS)
        count++;
    return count;
}

START_TEST(blocks_of_one_size_fill_a_device_but_for_one)
{
    static void *pointers[BLOCKS_MAX];
    size_t size_bytes = sizes[_i] * MIB;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    /* Once more after all of it was freed. */
    for (int round = 0; round < 2; round++) {
        size_t count = fill(size_bytes, pointers);
        ck_assert_msg(count + 1 >= DEVICE_BYTES / size_bytes, "%zu blocks of %zu MiB", count,
                      sizes[_i]);
        while (count-- > 0)
            cx_assert_ok(ctxrt_free(pointers[count]));
    }
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static Suite *capacity_suite(void)
{
    Suite *suite = suite_create("capacity");
    TCase *tcase = tcase_create("capacity");
    tcase_add_checked_fixture(tcase, start_with_large_device, cx_fixture_end);
    tcase_add_loop_test(tcase, blocks_of_one_size_fill_a_device_but_for_one, 0,
                        sizeof sizes / sizeof *sizes);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(capacity_suite);
