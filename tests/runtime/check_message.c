/* Messages that say more than the driver's result does: what refused memory, what hides devices,
 * and which work failed first with an error that sticks. */
#include "fixture.h"
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define ALLOCATED ((size_t)64 << 20)

#ifdef __SANITIZE_ADDRESS__
#define ADDRESSES_ARE_COUNTED false
#elif defined __SANITIZE_THREAD__
#define ADDRESSES_ARE_COUNTED false
#else
#define ADDRESSES_ARE_COUNTED true
#endif

#define ck_assert_said(text)                                                             \
    ck_assert_msg(strstr(ctxrt_last_error()->message, text) != NULL, "'%s' is not in: %s", \
                  text, ctxrt_last_error()->message)

static void start_with(const char *name, const char *value)
{
    ck_assert_int_eq(setenv(name, value, 1), 0);
    cx_fixture_start_with(2, CTXRT_FOREIGN_FOLLOW);
}

/* ---- memory ---- */

static void limit(int resource, rlim_t most)
{
    struct rlimit now;
    ck_assert_int_eq(getrlimit(resource, &now), 0);
    now.rlim_cur = most;
    ck_assert_int_eq(setrlimit(resource, &now), 0);
}

static rlim_t addresses_in_use(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%lu", &pages), 1);
    fclose(file);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static const char *const sources[] = {"alloc", "direct", "vmm"};
#define SOURCES ((int)(sizeof sources / sizeof sources[0]))

/* The first of them ask the driver for each block; the last one knows how much memory there is. */
#define SOURCES_ASKING (SOURCES - 1)

static void ck_refused(const char *why)
{
    void *memory;
    cx_assert_error(ctxrt_alloc(ALLOCATED, &memory), CTXRT_ERROR_OUT_OF_MEMORY);
    ck_assert_said("there are not 67108864 bytes for primary context ");
    ck_assert_said(why);
    ck_assert_ptr_null(strstr(ctxrt_last_error()->message, "are free"));
}

START_TEST(memory_refused_by_a_limit_of_addresses_names_the_limit)
{
    if (!ADDRESSES_ARE_COUNTED)
        cx_fixture_skip("sanitizers need addresses");
    start_with("CTXRT_ALLOCATOR", sources[_i]);
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    limit(RLIMIT_AS, addresses_in_use() + ((rlim_t)16 << 20));
    ck_refused("(RLIMIT_AS, ulimit -v)");
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* It takes plain memory of the host. */
START_TEST(a_cpu_that_cannot_pin_counts_no_memory_that_the_host_refused)
{
    ctxrt_memory *memory;
    if (!ADDRESSES_ARE_COUNTED)
        cx_fixture_skip("sanitizers need addresses");
    start_with("CTXRT_EMU_FAULT", "cuMemHostAlloc@1+:NOT_SUPPORTED");
    cx_assert_ok(ctxrt_device_push(CTXRT_CPU(0)));
    limit(RLIMIT_AS, addresses_in_use() + ((rlim_t)16 << 20));
    cx_assert_error(ctxrt_memory_alloc_pinned(ALLOCATED, &memory), CTXRT_ERROR_OUT_OF_MEMORY);
    ck_assert_said("the host has no 67108864 bytes left");
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_device_release(CTXRT_CPU(0)));
}
END_TEST

START_TEST(memory_refused_by_a_limit_of_open_files_names_the_limit)
{
    start_with("CTXRT_ALLOCATOR", sources[_i]);
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
    limit(RLIMIT_NOFILE, (rlim_t)next);
    close(next);
    while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0)
        ;
    ck_refused("(RLIMIT_NOFILE, ulimit -n)");
    limit(RLIMIT_NOFILE, 256); /* AddressSanitizer's end opens files */
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* Splits pages off until the process may have no more mappings; gives false if it may have very
 * many. */
static bool use_up_mappings(void)
{
    unsigned long most = 0;
    FILE *file = fopen("/proc/sys/vm/max_map_count", "re");
    if (file == NULL || fscanf(file, "%lu", &most) != 1)
        most = 0;
    if (file != NULL)
        fclose(file);
    if (most == 0 || most > 300000)
        return false;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, most * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(pages, MAP_FAILED);
    size_t i = 1;
    while (i < most && mprotect(pages + i * page, page, PROT_READ) == 0)
        i += 2;
    return i < most;
}

START_TEST(memory_refused_by_the_number_of_mappings_names_it)
{
    void *kept;
    if (!ADDRESSES_ARE_COUNTED)
        cx_fixture_skip("sanitizers need mappings");
    start_with("CTXRT_ALLOCATOR", sources[_i]);
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_alloc(1, &kept)); /* the allocator itself needs memory */
    if (!use_up_mappings())
        cx_fixture_skip("a process may have very many mappings");
    ck_refused("(vm.max_map_count)");
    cx_assert_ok(ctxrt_free(kept));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(memory_refused_by_a_limit_of_file_sizes_names_the_limit)
{
    start_with("CTXRT_ALLOCATOR", sources[_i]);
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    limit(RLIMIT_FSIZE, 1 << 20);
    ck_refused("(RLIMIT_FSIZE, ulimit -f)");
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(pinned_and_managed_memory_and_the_cpu_name_the_limit)
{
    void *memory;
    ctxrt_memory *pinned;
    if (!ADDRESSES_ARE_COUNTED)
        cx_fixture_skip("sanitizers need addresses");
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_set(CTXRT_CPU(0)));
    limit(RLIMIT_AS, addresses_in_use() + ((rlim_t)16 << 20));
    ck_refused("(RLIMIT_AS, ulimit -v)");
    cx_assert_error(ctxrt_memory_alloc_pinned(ALLOCATED, &pinned), CTXRT_ERROR_OUT_OF_MEMORY);
    ck_assert_said("(RLIMIT_AS, ulimit -v)");
    cx_assert_error(ctxrt_alloc_managed(ALLOCATED, &memory), CTXRT_ERROR_OUT_OF_MEMORY);
    ck_assert_said("(RLIMIT_AS, ulimit -v)");
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_full_device_is_said_to_be_full_after_a_limit_was_named)
{
    void *memory;
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    limit(RLIMIT_FSIZE, 1 << 20);
    ck_refused("(RLIMIT_FSIZE, ulimit -f)");
    limit(RLIMIT_FSIZE, RLIM_INFINITY);
    cx_assert_error(ctxrt_alloc((size_t)1 << 30, &memory), CTXRT_ERROR_OUT_OF_MEMORY);
    ck_assert_said("bytes are free");
    ck_assert_ptr_null(strstr(ctxrt_last_error()->message, "RLIMIT"));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* What a user does who plays a program that needs a larger GPU. */
START_TEST(a_full_emulated_gpu_names_the_variable_that_sets_its_memory)
{
    void *memory;
    start_with("CTXRT_ALLOCATOR", sources[_i]);
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_error(ctxrt_alloc((size_t)1 << 29, &memory), CTXRT_ERROR_OUT_OF_MEMORY);
    ck_assert_said("bytes are free; ");
    ck_assert_said("; CTXRT_EMU_MEMORY sets how much memory emulated GPUs have");
    cx_assert_error(ctxrt_alloc_async((size_t)1 << 29, CTXRT_STREAM_LEGACY, &memory),
                    CTXRT_ERROR_OUT_OF_MEMORY);
    ck_assert_said("; CTXRT_EMU_MEMORY sets how much memory emulated GPUs have");
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* More memory for emulated GPUs is no help where a fault on demand refuses. */
START_TEST(memory_refused_on_demand_names_no_variable)
{
    void *memory;
    start_with("CTXRT_EMU_FAULT", "cuMemAllocAsync@1:OUT_OF_MEMORY");
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_error(ctxrt_alloc((size_t)1 << 29, &memory), CTXRT_ERROR_OUT_OF_MEMORY);
    cx_assert_error(ctxrt_alloc_async(64, CTXRT_STREAM_LEGACY, &memory), CTXRT_ERROR_OUT_OF_MEMORY);
    ck_assert_ptr_null(strstr(ctxrt_last_error()->message, "CTXRT_EMU_MEMORY"));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- devices ---- */

static void ck_device_is_missing(int index, const char *why)
{
    cx_assert_error(ctxrt_device_set(CTXRT_CUDA(index)), CTXRT_ERROR_INVALID_DEVICE);
    ck_assert_said(why);
}

START_TEST(a_variable_that_hides_all_devices_is_named)
{
    start_with("CUDA_VISIBLE_DEVICES", "");
    ck_device_is_missing(0, "CUDA_VISIBLE_DEVICES= hides all 2 emulated devices");
}
END_TEST

START_TEST(so_is_one_that_hides_some)
{
    start_with("CUDA_VISIBLE_DEVICES", "1");
    ck_device_is_missing(1, "CUDA_VISIBLE_DEVICES=1 hides 1 emulated device");
}
END_TEST

START_TEST(one_that_hides_none_is_not)
{
    start_with("CUDA_VISIBLE_DEVICES", "1,0");
    ck_device_is_missing(2, "the type has 2 devices");
    ck_assert_ptr_null(strstr(ctxrt_last_error()->message, "CUDA_VISIBLE_DEVICES"));
}
END_TEST

START_TEST(a_machine_without_a_driver_is_told_how_to_play_gpus)
{
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    options.cuda_driver = CTXRT_CUDA_DRIVER_LIBCUDA;
    options.libcuda = "/nowhere/libcuda.so.1";
    cx_assert_ok(ctxrt_init(&options));
    ck_device_is_missing(0, "/nowhere/libcuda.so.1");
    ck_assert_said("; CTXRT_DRIVER=emulated plays GPUs on the CPU");
    cx_assert_error(ctxrt_device_set(ctxrt_device_of(CTXRT_DEVICE_ASCEND, 0)),
                    CTXRT_ERROR_INVALID_DEVICE);
    ck_assert_ptr_null(strstr(ctxrt_last_error()->message, "CTXRT_DRIVER"));
    cx_assert_ok(ctxrt_shutdown());
}
END_TEST

/* ---- errors that stick ---- */

/* Thread 5 of each block writes to address 64. */
static const char wild_ptx[] = ".version 6.3\n"
                               ".target sm_50\n"
                               ".address_size 64\n"
                               ".visible .entry wild()\n"
                               "{\n"
                               "    .reg .pred %p;\n"
                               "    .reg .b32 %r<2>;\n"
                               "    .reg .b64 %rd<2>;\n"
                               "    mov.u32 %r1, %tid.x;\n"
                               "    setp.ne.u32 %p, %r1, 5;\n"
                               "    @%p bra DONE;\n"
                               "    mov.u64 %rd1, 64;\n"
                               "    st.global.u32 [%rd1], %r1;\n"
                               "DONE:\n"
                               "    ret;\n"
                               "}\n";

#define WILD "kernel wild, line 13 of its PTX, block (0, 0, 0), thread (5, 0, 0), address 0x40"

static ctxrt_module *launch_wild(void)
{
    ctxrt_module *module;
    ctxrt_kernel *kernel;
    ctxrt_launch_config config = CTXRT_LAUNCH_CONFIG_INIT;
    cx_assert_ok(ctxrt_module_load(wild_ptx, 0, &module));
    cx_assert_ok(ctxrt_module_get_kernel(module, "wild", &kernel));
    config.block[0] = 32;
    cx_assert_ok(ctxrt_launch(&config, kernel, NULL, 0));
    return module;
}

START_TEST(calls_after_a_kernel_failed_name_the_kernel_its_thread_and_its_line)
{
    ctxrt_stream *stream;
    start_with("CTXRT_EMU_STICKY", "context");
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    ctxrt_module *module = launch_wild();
    cx_assert_error(ctxrt_device_synchronize(), CTXRT_ERROR_DRIVER);
    ck_assert_said("cuCtxSynchronize failed: CUDA_ERROR_ILLEGAL_ADDRESS, 700");
    ck_assert_said("earlier work failed with it: " WILD);
    cx_assert_error(ctxrt_stream_create(0, 0, &stream), CTXRT_ERROR_DRIVER);
    ck_assert_said("earlier work failed with it: " WILD);
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_module_unload(module));
    cx_assert_ok(ctxrt_device_synchronize());
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(the_first_failure_is_told_not_a_later_one)
{
    start_with("CTXRT_EMU_FAULT", "cuMemsetD8Async@1:ILLEGAL_ADDRESS:async");
    void *memory;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_alloc(64, &memory));
    cx_assert_ok(ctxrt_fill_async(memory, 0, 64, NULL));
    cx_assert_error(ctxrt_device_synchronize(), CTXRT_ERROR_DRIVER);
    ck_assert_said("earlier work failed with it: CTXRT_EMU_FAULT");
    cx_assert_error(ctxrt_device_memory_info(CTXRT_CUDA(0), &(size_t){0}, &(size_t){0}),
                    CTXRT_ERROR_DRIVER);
    ck_assert_said("earlier work failed with it: CTXRT_EMU_FAULT");
}
END_TEST

static Suite *message_suite(void)
{
    Suite *suite = suite_create("message");
    TCase *tcase = tcase_create("message");
    tcase_add_loop_test(tcase, memory_refused_by_a_limit_of_addresses_names_the_limit, 0, SOURCES);
    tcase_add_test(tcase, a_cpu_that_cannot_pin_counts_no_memory_that_the_host_refused);
    tcase_add_loop_test(tcase, memory_refused_by_a_limit_of_open_files_names_the_limit, 0, SOURCES);
    tcase_add_loop_test(tcase, memory_refused_by_the_number_of_mappings_names_it, 0, SOURCES);
    tcase_add_loop_test(tcase, memory_refused_by_a_limit_of_file_sizes_names_the_limit, 0, SOURCES);
    tcase_add_test(tcase, pinned_and_managed_memory_and_the_cpu_name_the_limit);
    tcase_add_test(tcase, a_full_device_is_said_to_be_full_after_a_limit_was_named);
    tcase_add_loop_test(tcase, a_full_emulated_gpu_names_the_variable_that_sets_its_memory, 0,
                        SOURCES_ASKING);
    tcase_add_test(tcase, memory_refused_on_demand_names_no_variable);
    tcase_add_test(tcase, a_variable_that_hides_all_devices_is_named);
    tcase_add_test(tcase, so_is_one_that_hides_some);
    tcase_add_test(tcase, one_that_hides_none_is_not);
    tcase_add_test(tcase, a_machine_without_a_driver_is_told_how_to_play_gpus);
    tcase_add_test(tcase, calls_after_a_kernel_failed_name_the_kernel_its_thread_and_its_line);
    tcase_add_test(tcase, the_first_failure_is_told_not_a_later_one);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(message_suite);
