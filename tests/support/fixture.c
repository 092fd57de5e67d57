#include "fixture.h"

#include "test.h"

void cx_fixture_start_with(int gpus, ctxrt_foreign_policy foreign)
{
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    options.cuda_driver = CTXRT_CUDA_DRIVER_EMULATED;
    options.foreign = foreign;
    options.emulated_devices = gpus;
    options.emulated_memory_bytes = (size_t)256 << 20;
    cx_assert_ok(ctxrt_init(&options));
}

void cx_fixture_start(void)
{
    cx_fixture_start_with(4, CTXRT_FOREIGN_FOLLOW);
}

void cx_fixture_end(void)
{
    ctxrt_device device;
    ck_assert_uint_eq(ctxrt_stack_depth(), 0);
    cx_assert_status(ctxrt_device_get(&device), CTXRT_ERROR_NO_DEVICE);
    ck_assert_uint_eq(ctxrt_stack_depth(), 0);
    cx_assert_ok(ctxrt_shutdown());
}
