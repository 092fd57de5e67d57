/* The driver's log of errors, notifications, and queries that few programs make. */
#include "work_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int told;
static char last_text[400];

static void hear(void *user_data, cxu_log_level level, char *message, size_t length)
{
    cxu_log_iterator place;

    *(int *)user_data += 1;
    ck_assert_int_eq(level, CXU_LOG_LEVEL_WARNING);
    ck_assert_uint_eq(length, strlen(message));
    ck_result(cx_emu_call_logs_current(&place, 0), NOT_PERMITTED);
    snprintf(last_text, sizeof last_text, "%s", message);
}

/* Something that is not supported is named once in a process. */
static void cause_entry(void)
{
    ck_result(cx_emu_call_flush_gpu_direct_rdma_writes(
                  CXU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
                  CXU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER),
              NOT_SUPPORTED);
}

START_TEST(callbacks_hear_entries_until_they_are_unregistered)
{
    CUlogsCallbackHandle handle;
    char luid[8];
    unsigned int mask;

    ck_success(cx_emu_call_logs_register_callback(hear, &told, &handle));
    cause_entry();
    ck_assert_int_eq(told, 1);
    ck_assert_ptr_nonnull(strstr(last_text, "cuFlushGPUDirectRDMAWrites"));
    ck_success(cx_emu_call_logs_unregister_callback(handle));
    ck_result(cx_emu_call_logs_unregister_callback(handle), INVALID_VALUE);
    ck_result(cx_emu_call_device_get_luid(luid, &mask, 0), NOT_SUPPORTED);
    ck_assert_int_eq(told, 1);
}
END_TEST

START_TEST(entries_are_dumped_to_memory_from_a_place_on)
{
    cxu_log_iterator place, all = 0;
    char text[400];
    size_t size = sizeof text;

    ck_success(cx_emu_call_logs_current(&place, 0));
    cause_entry();
    ck_success(cx_emu_call_logs_dump_to_memory(&place, text, &size, 0));
    ck_assert_uint_eq(size, strlen(text));
    ck_assert_ptr_nonnull(strstr(text, "cuFlushGPUDirectRDMAWrites"));
    size = sizeof text;
    ck_success(cx_emu_call_logs_dump_to_memory(&place, text, &size, 0));
    ck_assert_uint_eq(size, 0);
    size = 8; /* too little for an entry */
    ck_success(cx_emu_call_logs_dump_to_memory(&all, text, &size, 0));
    ck_assert_uint_eq(size, 0);
    ck_assert_uint_eq(all, place);
    size = 0;
    ck_result(cx_emu_call_logs_dump_to_memory(&all, text, &size, 0), INVALID_VALUE);
    ck_result(cx_emu_call_logs_current(&place, 1), INVALID_VALUE);
}
END_TEST

START_TEST(entries_are_dumped_to_a_file)
{
    char path[] = "/tmp/ctxrt-logXXXXXX", text[400] = "";
    int file = mkstemp(path);

    cause_entry();
    ck_success(cx_emu_call_logs_dump_to_file(NULL, path, 0));
    ck_assert_int_gt(read(file, text, sizeof text - 1), 0);
    ck_assert_ptr_nonnull(strstr(text, "cuFlushGPUDirectRDMAWrites"));
    close(file);
    unlink(path);
    ck_result(cx_emu_call_logs_dump_to_file(NULL, "/nowhere/at/all", 0), INVALID_VALUE);
}
END_TEST

/* ---- notifications ---- */

static void notify(cxu_async_notification *notification, void *user_data,
                   CUasyncCallbackHandle callback)
{
    (void)notification, (void)user_data, (void)callback;
}

START_TEST(a_notification_is_of_its_device)
{
    CUasyncCallbackHandle handle;

    ck_success(cx_emu_call_device_register_async_notification(1, notify, NULL, &handle));
    ck_result(cx_emu_call_device_unregister_async_notification(0, handle), INVALID_VALUE);
    ck_success(cx_emu_call_device_unregister_async_notification(1, handle));
    ck_result(cx_emu_call_device_unregister_async_notification(1, handle), INVALID_VALUE);
    ck_result(cx_emu_call_device_register_async_notification(0, NULL, NULL, &handle),
              INVALID_VALUE);
}
END_TEST

/* ---- queries ---- */

START_TEST(properties_are_the_attributes)
{
    cxu_device_properties properties;
    int value;

    ck_success(cx_emu_call_device_get_properties(&properties, 0));
    ck_success(
        cx_emu_call_device_get_attribute(&value, CXU_ATTRIBUTE_MAX_BLOCK_DIM_Z, 0));
    ck_assert_int_eq(properties.max_block[2], value);
    ck_success(cx_emu_call_device_get_attribute(&value, CXU_ATTRIBUTE_TEXTURE_ALIGNMENT, 0));
    ck_assert_int_eq(properties.texture_alignment, value);
}
END_TEST

START_TEST(the_width_of_a_texture_needs_a_format)
{
    size_t elements = 0;

    ck_success(cx_emu_call_device_get_texture_1d_linear_max_width(&elements,
                                                                  CXU_AD_FORMAT_FLOAT, 4, 0));
    ck_assert_uint_gt(elements, 0);
    ck_result(cx_emu_call_device_get_texture_1d_linear_max_width(&elements, CXU_AD_FORMAT_FLOAT,
                                                                 3, 0),
              INVALID_VALUE);
    ck_result(cx_emu_call_device_get_texture_1d_linear_max_width(&elements,
                                                                 (cxu_array_format)0x7f, 1, 0),
              INVALID_VALUE);
}
END_TEST

START_TEST(there_are_no_atomics_between_devices)
{
    const cxu_atomic_operation all[2] = {CXU_ATOMIC_OPERATION_INTEGER_ADD,
                                         CXU_ATOMIC_OPERATION_FLOAT_MAX};
    unsigned int capabilities[2] = {7, 7};

    ck_success(cx_emu_call_device_get_p2p_atomic_capabilities(capabilities, all, 2, 0, 1));
    ck_assert_uint_eq(capabilities[0] | capabilities[1], 0);
    ck_result(cx_emu_call_device_get_p2p_atomic_capabilities(capabilities, all, 2, 1, 1),
              INVALID_DEVICE);
    capabilities[1] = 7;
    ck_success(cx_emu_call_device_get_host_atomic_capabilities(capabilities, all, 2, 1));
    ck_assert_uint_eq(capabilities[1], 0);
}
END_TEST

START_TEST(the_process_runs_and_cannot_be_checkpointed)
{
    cxu_process_state state = CXU_PROCESS_STATE_LOCKED;
    int thread;

    ck_success(cx_emu_call_checkpoint_process_get_state((int)getpid(), &state));
    ck_assert_int_eq(state, CXU_PROCESS_STATE_RUNNING);
    ck_result(cx_emu_call_checkpoint_process_lock((int)getpid(), NULL), NOT_SUPPORTED);
    ck_result(cx_emu_call_checkpoint_process_unlock((int)getpid(), NULL), ILLEGAL_STATE);
    ck_result(cx_emu_call_checkpoint_process_restore((int)getpid(), NULL), ILLEGAL_STATE);
    ck_result(cx_emu_call_checkpoint_process_get_restore_thread_id((int)getpid(), &thread),
              NOT_SUPPORTED);
    ck_result(cx_emu_call_checkpoint_process_get_state(-1, &state), INVALID_VALUE);
}
END_TEST

static Suite *log_suite(void)
{
    Suite *suite = suite_create("error_log");
    TCase *tests = tcase_create("error_log");

    tcase_add_checked_fixture(tests, work_setup, work_teardown);
    tcase_add_test(tests, callbacks_hear_entries_until_they_are_unregistered);
    tcase_add_test(tests, entries_are_dumped_to_memory_from_a_place_on);
    tcase_add_test(tests, entries_are_dumped_to_a_file);
    tcase_add_test(tests, a_notification_is_of_its_device);
    tcase_add_test(tests, properties_are_the_attributes);
    tcase_add_test(tests, the_width_of_a_texture_needs_a_format);
    tcase_add_test(tests, there_are_no_atomics_between_devices);
    tcase_add_test(tests, the_process_runs_and_cannot_be_checkpointed);
    suite_add_tcase(suite, tests);
    return suite;
}

CX_TESTS(log_suite);
