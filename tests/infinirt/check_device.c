/* Devices of the InfiniRT interface: where threads start, what they set, what is known of a device,
 * and ctxrt and other code beside. */
#include "infini.h"

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(a_thread_starts_at_cpu_0_and_touches_nothing)
{
    infini_assert_device(INFINI_DEVICE_CPU, 0);
    ck_assert_uint_eq(ctxrt_stack_depth(), 0);
}
END_TEST

START_TEST(the_first_call_that_works_sets_cpu_0)
{
    ctxrt_device device;
    unsigned char *memory = infini_memory(64);
    cx_assert_ok(ctxrt_device_get(&device));
    ck_assert_int_eq(device.type, CTXRT_DEVICE_CPU);
    memory[63] = 5; /* the host may touch it */
    ck_assert_int_eq(infini_byte(memory + 63), 5);
    infini_assert_ok(infinirtFree(memory));
}
END_TEST

START_TEST(every_type_is_counted)
{
    int counts[INFINI_DEVICE_TYPE_COUNT], count;
    infini_assert_ok(infinirtInit());
    infini_assert_ok(infinirtGetAllDeviceCount(counts));
    for (int type = 0; type < INFINI_DEVICE_TYPE_COUNT; type++) {
        infini_assert_ok(infinirtGetDeviceCount((infiniDevice_t)type, &count));
        ck_assert_int_eq(count, counts[type]);
        ck_assert_int_eq(count, type == INFINI_DEVICE_CPU      ? 1
                                : type == INFINI_DEVICE_NVIDIA ? 4
                                                               : 0);
    }
}
END_TEST

START_TEST(either_half_of_the_device_can_be_asked_for)
{
    infiniDevice_t type = INFINI_DEVICE_ALI;
    int index = 77;
    infini_assert_ok(infinirtSetDevice(INFINI_DEVICE_NVIDIA, 3));
    infini_assert_ok(infinirtGetDevice(&type, NULL));
    ck_assert_int_eq(type, INFINI_DEVICE_NVIDIA);
    infini_assert_ok(infinirtGetDevice(NULL, &index));
    ck_assert_int_eq(index, 3);
}
END_TEST

static void *set_another_device(void *argument)
{
    infiniStatus_t *status = argument;
    infiniDevice_t type;
    int index;
    *status = infinirtGetDevice(&type, &index);
    if (*status == INFINI_STATUS_SUCCESS && type == INFINI_DEVICE_CPU)
        *status = infinirtSetDevice(INFINI_DEVICE_NVIDIA, 1);
    return NULL;
}

START_TEST(each_thread_has_its_own_device)
{
    pthread_t thread;
    infiniStatus_t status = INFINI_STATUS_INTERNAL_ERROR;
    infini_assert_ok(infinirtSetDevice(INFINI_DEVICE_NVIDIA, 2));
    ck_assert_int_eq(pthread_create(&thread, NULL, set_another_device, &status), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    infini_assert_ok(status);
    infini_assert_device(INFINI_DEVICE_NVIDIA, 2);
}
END_TEST

START_TEST(setting_devices_in_turn_keeps_the_depth)
{
    for (int i = 0; i < 100; i++) {
        infini_assert_ok(infinirtSetDevice(INFINI_DEVICE_NVIDIA, i % 4));
        infini_assert_ok(infinirtSetDevice(INFINI_DEVICE_CPU, 0));
    }
    ck_assert_uint_eq(ctxrt_stack_depth(), 1);
}
END_TEST

START_TEST(a_snapshot_knows_memory_and_nothing_else)
{
    infinirtDeviceResourceSnapshot_t before, after;
    size_t free_bytes, total_bytes;
    infini_assert_ok(infinirtSetDevice(INFINI_DEVICE_NVIDIA, 1));
    infini_assert_ok(infinirtGetDeviceResourceSnapshot(INFINI_DEVICE_NVIDIA, 1, &before));
    void *memory = infini_memory((size_t)8 << 20);
    memset(&after, 0x5a, sizeof after);
    infini_assert_ok(infinirtGetDeviceResourceSnapshot(INFINI_DEVICE_NVIDIA, 1, &after));
    infini_assert_ok(infinirtGetMemInfo(INFINI_DEVICE_NVIDIA, 1, &free_bytes, &total_bytes));
    ck_assert_int_eq(after.device_type, INFINI_DEVICE_NVIDIA);
    ck_assert_int_eq(after.device_id, 1);
    ck_assert_uint_eq(after.valid_fields, INFINIRT_RESOURCE_FIELD_MEMORY_CAPACITY);
    ck_assert_uint_eq(after.estimated_fields, INFINIRT_RESOURCE_FIELD_NONE);
    ck_assert_uint_eq(after.free_bytes, free_bytes);
    ck_assert_uint_eq(after.total_bytes, total_bytes);
    ck_assert_uint_eq(after.used_bytes, total_bytes - free_bytes);
    ck_assert_uint_ge(after.used_bytes, before.used_bytes + ((size_t)8 << 20));
    ck_assert_uint_eq(before.reserved_bytes, 0);
    ck_assert_uint_ge(after.reserved_bytes, (size_t)8 << 20);
    ck_assert_uint_le(after.reserved_bytes, after.used_bytes);
    ck_assert(after.compute_utilization == 0 && after.memory_bandwidth_utilization == 0);
    ck_assert(after.kernel_time_ratio == 0 && after.communication_time_ratio == 0);
    ck_assert_uint_eq(after.communication_bytes, 0);
    infini_assert_ok(infinirtFree(memory));
    infini_assert_ok(infinirtGetDeviceResourceSnapshot(INFINI_DEVICE_NVIDIA, 1, &before));
    ck_assert_uint_eq(before.reserved_bytes, 0);
    ck_assert_uint_eq(before.free_bytes, free_bytes + ((size_t)8 << 20));
    infini_assert_ok(infinirtGetDeviceResourceSnapshot(INFINI_DEVICE_NVIDIA, 2, &before));
    ck_assert_uint_eq(before.reserved_bytes, 0);
}
END_TEST

START_TEST(asking_about_another_device_leaves_the_threads_own)
{
    size_t free_bytes, total_bytes;
    infinirtDeviceResourceSnapshot_t snapshot;
    infini_assert_ok(infinirtSetDevice(INFINI_DEVICE_NVIDIA, 2));
    infini_assert_ok(infinirtGetMemInfo(INFINI_DEVICE_NVIDIA, 0, &free_bytes, &total_bytes));
    ck_assert_uint_eq(total_bytes, (size_t)256 << 20);
    infini_assert_ok(infinirtGetDeviceResourceSnapshot(INFINI_DEVICE_CPU, 0, &snapshot));
    ck_assert_uint_gt(snapshot.total_bytes, 0);
    infini_assert_device(INFINI_DEVICE_NVIDIA, 2);
}
END_TEST

static size_t available_bytes(void)
{
    char line[256];
    size_t kibibytes = 0;
    FILE *file = fopen("/proc/meminfo", "r");
    while (fgets(line, sizeof line, file) != NULL &&
           sscanf(line, "MemAvailable: %zu kB", &kibibytes) != 1)
        ;
    fclose(file);
    return kibibytes * 1024;
}

/* Other programs take and give memory meanwhile. */
START_TEST(free_memory_of_the_cpu_is_what_the_system_can_give)
{
    size_t free_bytes, total_bytes, available[2];
    bool between = false;
    for (int i = 0; i < 1000 && !between; i++) {
        available[0] = available_bytes();
        infini_assert_ok(infinirtGetMemInfo(INFINI_DEVICE_CPU, 0, &free_bytes, &total_bytes));
        available[1] = available_bytes();
        ck_assert_uint_le(free_bytes, total_bytes);
        size_t least = available[0] < available[1] ? available[0] : available[1];
        between = free_bytes >= least && free_bytes <= available[0] + available[1] - least;
    }
    ck_assert_msg(between, "%zu is not between %zu and %zu", free_bytes, available[0],
                  available[1]);
}
END_TEST

/* ---- beside ctxrt ---- */

START_TEST(what_ctxrt_pushes_is_the_device)
{
    infini_assert_ok(infinirtSetDevice(INFINI_DEVICE_NVIDIA, 0));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    infini_assert_device(INFINI_DEVICE_NVIDIA, 1);
    infini_assert_ok(infinirtSetDevice(INFINI_DEVICE_NVIDIA, 3));
    cx_assert_ok(ctxrt_stack_pop());
    infini_assert_device(INFINI_DEVICE_NVIDIA, 0);
}
END_TEST

START_TEST(a_thread_whose_context_is_gone_is_at_cpu_0_again)
{
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    infini_assert_device(INFINI_DEVICE_NVIDIA, 1);
    cx_assert_ok(ctxrt_stack_pop());
    infini_assert_device(INFINI_DEVICE_CPU, 0);
    void *memory = infini_memory(16);
    memset(memory, 1, 16);
    infini_assert_ok(infinirtFree(memory));
}
END_TEST

START_TEST(a_forked_child_is_told_that_nothing_is_initialized)
{
    int status;
    void *memory = infini_memory(16), *host;
    infinirtStream_t stream = infini_stream();
    infini_assert_ok(infinirtMallocHost(&host, 16));
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        const infiniStatus_t told = INFINI_STATUS_DEVICE_NOT_INITIALIZED;
        void *pointer;
        _exit(infinirtInit() != told || infinirtMalloc(&pointer, 16) != told ||
              infinirtFreeHost(host) != told || infinirtStreamDestroy(stream) != told ||
              infinirtFree(memory) != told || infinirtSetDevice(INFINI_DEVICE_CPU, 0) != told);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    infini_assert_ok(infinirtFreeHost(host));
    infini_assert_ok(infinirtStreamDestroy(stream));
    infini_assert_ok(infinirtFree(memory));
}
END_TEST

static Suite *devices(void)
{
    Suite *suite = suite_create("infinirt devices");
    TCase *tests = tcase_create("devices");
    tcase_add_checked_fixture(tests, infini_start, infini_end);
    tcase_add_test(tests, a_thread_starts_at_cpu_0_and_touches_nothing);
    tcase_add_test(tests, the_first_call_that_works_sets_cpu_0);
    tcase_add_test(tests, every_type_is_counted);
    tcase_add_test(tests, either_half_of_the_device_can_be_asked_for);
    tcase_add_test(tests, each_thread_has_its_own_device);
    tcase_add_test(tests, setting_devices_in_turn_keeps_the_depth);
    tcase_add_test(tests, a_snapshot_knows_memory_and_nothing_else);
    tcase_add_test(tests, asking_about_another_device_leaves_the_threads_own);
    tcase_add_test(tests, free_memory_of_the_cpu_is_what_the_system_can_give);
    tcase_add_test(tests, what_ctxrt_pushes_is_the_device);
    tcase_add_test(tests, a_thread_whose_context_is_gone_is_at_cpu_0_again);
    tcase_add_test(tests, a_forked_child_is_told_that_nothing_is_initialized);
    suite_add_tcase(suite, tests);
    return suite;
}

CX_TESTS(devices);
