/* How much shared memory a block may use (K8). */
#include "driver/access_log.h"
#include "work_fixture.h"

#include <stdlib.h>

/* put(at): writes the word at the offset of dynamic shared memory, and reads it back; tell(out):
 * %total_smem_size and %dynamic_smem_size. */
static const char text[] =
    ".version 6.4\n.target sm_50\n.address_size 64\n"
    ".extern .shared .align 4 .b8 room[];\n"
    ".visible .entry put(.param .u32 at) {\n"
    ".reg .u32 %r<3>;\n"
    "ld.param.u32 %r0, [at]; mov.u32 %r1, room; add.u32 %r0, %r0, %r1;\n"
    "st.shared.u32 [%r0], %r1; ld.shared.u32 %r2, [%r0]; ret; }\n"
    ".visible .entry tell(.param .u64 out) {\n"
    ".reg .u32 %r<2>; .reg .u64 %p;\n"
    "ld.param.u64 %p, [out]; mov.u32 %r0, %total_smem_size; mov.u32 %r1, %dynamic_smem_size;\n"
    "st.global.u32 [%p], %r0; st.global.u32 [%p+4], %r1; ret; }\n";

static CUmodule module;

static void setup_on(cx_emu_gpu gpu)
{
    const cx_emu_config config = {.gpus = 1,
                                  .gpu = gpu,
                                  .gpu_memory_bytes = (size_t)64 << 20,
                                  .driver_version = CX_EMU_DRIVER_VERSION};

    ck_assert(cx_emu_configure(&config));
    ck_success(cx_emu_call_init(0));
    ck_success(cx_emu_call_ctx_create_v2(&work_context, 0, 0));
    ck_success(cx_emu_call_module_load_data(&module, text));
}

static cxu_result put(uint32_t at, unsigned int bytes)
{
    CUfunction function;
    void *parameters[] = {&at};

    ck_success(cx_emu_call_module_get_function(&function, module, "put"));
    ck_success(
        cx_emu_call_launch_kernel(function, 1, 1, 1, 1, 1, 1, bytes, NULL, parameters, NULL));
    return cx_emu_call_ctx_synchronize();
}

static void ck_total(unsigned int bytes, uint32_t total)
{
    CUfunction function;
    CUdeviceptr out;
    uint32_t told[2] = {0};
    void *parameters[] = {&out};

    ck_success(cx_emu_call_mem_alloc(&out, sizeof told));
    ck_success(cx_emu_call_module_get_function(&function, module, "tell"));
    ck_success(
        cx_emu_call_launch_kernel(function, 1, 1, 1, 1, 1, 1, bytes, NULL, parameters, NULL));
    ck_success(cx_emu_call_memcpy_dtoh(told, out, sizeof told));
    ck_assert_uint_eq(told[0], total);
    ck_assert_uint_eq(told[1], bytes);
}

START_TEST(the_last_unit_of_shared_memory_is_usable)
{
    setup_on(CX_EMU_GPU_DEFAULT);
    ck_total(8, 256);
    ck_total(256, 256);
    ck_total(257, 512);
    ck_total(0, 0);
    ck_success(put(4, 8));
    ck_success(put(8, 8));
    ck_success(put(252, 8));
    ck_result(put(256, 8), ILLEGAL_ADDRESS);
}
END_TEST

START_TEST(newer_gpus_have_smaller_units)
{
    setup_on(CX_EMU_GPU_L4);
    ck_total(8, 128);
    ck_success(put(124, 8));
    ck_result(put(128, 8), ILLEGAL_ADDRESS);
}
END_TEST

START_TEST(a_block_without_shared_memory_has_none)
{
    setup_on(CX_EMU_GPU_DEFAULT);
    ck_result(put(0, 0), ILLEGAL_ADDRESS);
}
END_TEST

static void ignore_promise(uint64_t ticket, size_t part)
{
    (void)ticket, (void)part;
}

static void ignore_failure(uint64_t ticket, size_t part, const cx_access_log_failure *failure)
{
    (void)ticket, (void)part, (void)failure;
}

static void ignore_touches(uint64_t ticket, size_t part, const cx_access *all, size_t count)
{
    (void)ticket, (void)part, (void)all, (void)count;
}

START_TEST(a_kernel_that_is_watched_has_what_it_asked_for)
{
    static const cx_access_log_watcher watcher = {
        .promised = ignore_promise, .failed = ignore_failure, .told = ignore_touches};

    setup_on(CX_EMU_GPU_DEFAULT);
    cx_access_log_watch(&watcher);
    cx_access_log_ticket = 1;
    ck_success(put(4, 8));
    ck_result(put(8, 8), ILLEGAL_ADDRESS);
}
END_TEST

static Suite *shared_memory_suite(void)
{
    Suite *suite = suite_create("shared memory");
    TCase *tcase = tcase_create("units");

    tcase_add_test(tcase, the_last_unit_of_shared_memory_is_usable);
    tcase_add_test(tcase, newer_gpus_have_smaller_units);
    tcase_add_test(tcase, a_block_without_shared_memory_has_none);
    tcase_add_test(tcase, a_kernel_that_is_watched_has_what_it_asked_for);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(shared_memory_suite);
