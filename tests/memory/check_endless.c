/* A created context can be destroyed while its kernel never ends and its allocators hold free
 * memory: that ends the kernel. */
#include "device/runtime.h"
#include "emu/base/teardown_deadline.h"
#include "fixture.h"
#include "kernels.h"
#include "test.h"

#include <stdlib.h>

static const char *const schedules[] = {"threads", "lazy"};
enum { SCHEDULES = sizeof schedules / sizeof schedules[0], BYTES = 4096 };

static void start_endless(void)
{
    const cx_driver_table *table = &cx_drivers[0].table;
    CUmodule module;
    CUfunction function;
    CUdeviceptr flag;
    void *parameters[] = {&flag};
    ck_assert_int_eq((int)table->module_load_data(&module, PTX_HEAD PTX_SPIN), CXU_SUCCESS);
    ck_assert_int_eq((int)table->module_get_function(&function, module, "spin"), CXU_SUCCESS);
    ck_assert_int_eq((int)table->mem_alloc(&flag, sizeof(uint32_t)), CXU_SUCCESS);
    ck_assert_int_eq((int)table->memset_d32(flag, 0, 1), CXU_SUCCESS);
    ck_assert_int_eq(
        (int)table->launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL),
        CXU_SUCCESS);
}

static void leave_free_memory(void)
{
    void *memory, *direct;
    ctxrt_memory *pinned;
    cx_assert_ok(ctxrt_alloc(BYTES, &memory));
    cx_assert_ok(ctxrt_alloc_direct(BYTES, &direct));
    cx_assert_ok(ctxrt_memory_alloc_pinned(BYTES, &pinned));
    cx_assert_ok(ctxrt_free(memory));
    cx_assert_ok(ctxrt_free(direct));
    cx_assert_ok(ctxrt_memory_release(pinned));
}

START_TEST(a_context_with_free_memory_ends_its_kernel)
{
    ctxrt_context *context;
    setenv("CTXRT_EMU_SCHEDULE", schedules[_i], 1);
    cx_emu_teardown_deadline_ns = 50 * 1000 * 1000;
    cx_fixture_start();
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(0), CTXRT_CONTEXT_SCHED_AUTO, &context));
    cx_assert_ok(ctxrt_stack_push(context));
    leave_free_memory();
    start_endless();
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_context_destroy(context));
    cx_fixture_end();
}
END_TEST

static Suite *endless_suite(void)
{
    Suite *suite = suite_create("endless");
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, a_context_with_free_memory_ends_its_kernel, 0, SCHEDULES);
    suite_add_tcase(suite, all);
    return suite;
}

CX_TESTS(endless_suite);
