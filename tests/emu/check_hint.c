/* Advice about managed memory, attributes of streams, affinities: what is remembered (T17, T19). */
#include "work_fixture.h"

#include <string.h>

#define BYTES ((size_t)1 << 20)

static CUdeviceptr managed;
static CUstream stream;

static void setup(void)
{
    work_setup();
    ck_success(cx_emu_call_mem_alloc_managed(&managed, BYTES, CXU_MEM_ATTACH_GLOBAL));
    stream = make_stream(CXU_STREAM_NON_BLOCKING);
}

static int ask(cxu_mem_range_attribute attribute, CUdeviceptr at, size_t bytes)
{
    int value = 77;

    ck_success(cx_emu_call_mem_range_get_attribute(&value, sizeof value, attribute, at, bytes));
    return value;
}

/* ---- managed memory ---- */

START_TEST(new_memory_has_no_advice)
{
    int accessors[2] = {77, 77};

    ck_assert_int_eq(ask(CXU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, managed, BYTES), 0);
    ck_assert_int_eq(ask(CXU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, managed, BYTES), -2);
    ck_assert_int_eq(ask(CXU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, managed, BYTES), -2);
    ck_success(cx_emu_call_mem_range_get_attribute(accessors, sizeof accessors,
                                                   CXU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, managed,
                                                   BYTES));
    ck_assert_int_eq(accessors[0], -2);
    ck_assert_int_eq(accessors[1], -2);
}
END_TEST

START_TEST(advice_is_remembered_for_its_range)
{
    CUdeviceptr middle = managed + BYTES / 4;
    size_t half = BYTES / 2;
    int accessors[3];

    ck_success(cx_emu_call_mem_advise(middle, half, CXU_MEM_ADVISE_SET_READ_MOSTLY, -1));
    ck_assert_int_eq(ask(CXU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, middle, half), 1);
    ck_assert_int_eq(ask(CXU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, middle + 4096, 4096), 1);
    ck_assert_int_eq(ask(CXU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, managed, BYTES), 0);
    ck_assert_int_eq(ask(CXU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, managed, BYTES / 4), 0);
    ck_success(cx_emu_call_mem_advise(managed, BYTES, CXU_MEM_ADVISE_SET_PREFERRED_LOCATION, 1));
    ck_assert_int_eq(ask(CXU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, managed, BYTES), 1);
    ck_assert_int_eq(ask(CXU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, managed, BYTES),
                     CXU_MEM_LOCATION_TYPE_DEVICE);
    ck_success(cx_emu_call_mem_advise_v2(
        managed, half, CXU_MEM_ADVISE_SET_PREFERRED_LOCATION,
        (cxu_mem_location){CXU_MEM_LOCATION_TYPE_HOST, 0}));
    ck_assert_int_eq(ask(CXU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, managed, half), -1);
    ck_assert_int_eq(ask(CXU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, managed, BYTES), -2);
    ck_success(cx_emu_call_mem_advise(managed, BYTES, CXU_MEM_ADVISE_SET_ACCESSED_BY, 1));
    ck_success(cx_emu_call_mem_advise(managed, BYTES, CXU_MEM_ADVISE_SET_ACCESSED_BY, -1));
    ck_success(cx_emu_call_mem_range_get_attribute(accessors, sizeof accessors,
                                                   CXU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, managed,
                                                   BYTES));
    ck_assert_int_eq(accessors[0], -1);
    ck_assert_int_eq(accessors[1], 1);
    ck_assert_int_eq(accessors[2], -2);
    ck_success(cx_emu_call_mem_advise(managed, BYTES, CXU_MEM_ADVISE_UNSET_READ_MOSTLY, 0));
    ck_assert_int_eq(ask(CXU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, middle, half), 0);
}
END_TEST

START_TEST(prefetching_is_remembered_and_has_a_place_in_its_stream)
{
    stream_gate gate = GATE_CLOSED;

    gate_put(&gate, stream);
    ck_success(cx_emu_call_mem_prefetch_async(managed, BYTES / 2, 1, stream));
    ck_result(cx_emu_call_stream_query(stream), NOT_READY);
    gate_open(&gate);
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_assert_int_eq(ask(CXU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, managed, BYTES / 2), 1);
    ck_assert_int_eq(ask(CXU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, managed, BYTES), -2);
    ck_success(cx_emu_call_mem_prefetch_async_v2(
        managed, BYTES, (cxu_mem_location){CXU_MEM_LOCATION_TYPE_HOST, 0}, 0, stream));
    ck_assert_int_eq(ask(CXU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, managed, BYTES), -1);
}
END_TEST

START_TEST(advice_is_for_managed_memory_and_places_that_there_are)
{
    const cxu_mem_location nowhere = {CXU_MEM_LOCATION_TYPE_INVALID, 0};
    CUdeviceptr device = make_memory(64);
    int value;

    ck_result(cx_emu_call_mem_advise(device, 64, CXU_MEM_ADVISE_SET_READ_MOSTLY, 0),
              INVALID_VALUE);
    ck_result(cx_emu_call_mem_advise(managed, 0, CXU_MEM_ADVISE_SET_READ_MOSTLY, 0),
              INVALID_VALUE);
    ck_result(cx_emu_call_mem_advise(managed, BYTES + 1, CXU_MEM_ADVISE_SET_READ_MOSTLY, 0),
              INVALID_VALUE);
    ck_result(cx_emu_call_mem_advise(managed, BYTES, (cxu_mem_advise)9, 0), INVALID_VALUE);
    ck_result(cx_emu_call_mem_advise(managed, BYTES, CXU_MEM_ADVISE_SET_ACCESSED_BY, 64),
              INVALID_DEVICE);
    ck_result(cx_emu_call_mem_prefetch_async(managed, BYTES, 64, stream), INVALID_DEVICE);
    ck_result(cx_emu_call_mem_prefetch_async(managed, BYTES + 1, 0, stream), INVALID_VALUE);
    ck_result(cx_emu_call_mem_prefetch_async_v2(managed, BYTES, nowhere, 0, stream),
              INVALID_VALUE);
    ck_result(cx_emu_call_mem_prefetch_async_v2(
                  managed, BYTES, (cxu_mem_location){CXU_MEM_LOCATION_TYPE_HOST, 0}, 1, stream),
              INVALID_VALUE);
    ck_result(cx_emu_call_mem_range_get_attribute(&value, 1, CXU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                                                  managed, BYTES),
              INVALID_VALUE);
    ck_result(cx_emu_call_mem_range_get_attribute(&value, sizeof value,
                                                  CXU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, device, 64),
              INVALID_VALUE);
    ck_result(cx_emu_call_mem_range_get_attribute(NULL, sizeof value,
                                                  CXU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, managed,
                                                  BYTES),
              INVALID_VALUE);
    ck_result(cx_emu_call_mem_range_get_attributes(NULL, NULL, NULL, 1, managed, BYTES),
              INVALID_VALUE);
}
END_TEST

START_TEST(a_capture_does_not_prefetch)
{
    CUgraph graph;

    ck_success(cx_emu_call_stream_begin_capture(stream, CXU_STREAM_CAPTURE_MODE_RELAXED));
    ck_result(cx_emu_call_mem_prefetch_async(managed, BYTES, 0, stream),
              STREAM_CAPTURE_UNSUPPORTED);
    ck_result(cx_emu_call_stream_end_capture(stream, &graph), STREAM_CAPTURE_INVALIDATED);
}
END_TEST

START_TEST(managed_memory_is_attached_as_a_whole)
{
    ck_success(cx_emu_call_stream_attach_mem_async(stream, managed, 0, CXU_MEM_ATTACH_SINGLE));
    ck_success(cx_emu_call_stream_attach_mem_async(stream, managed, BYTES, CXU_MEM_ATTACH_GLOBAL));
    ck_result(cx_emu_call_stream_attach_mem_async(stream, managed, BYTES / 2, CXU_MEM_ATTACH_HOST),
              INVALID_VALUE);
    ck_result(cx_emu_call_stream_attach_mem_async(stream, managed + 64, 0, CXU_MEM_ATTACH_HOST),
              INVALID_VALUE);
    ck_result(cx_emu_call_stream_attach_mem_async(stream, managed, 0, 7), INVALID_VALUE);
    ck_result(cx_emu_call_stream_attach_mem_async(stream, make_memory(64), 0, CXU_MEM_ATTACH_HOST),
              INVALID_VALUE);
}
END_TEST

/* ---- streams ---- */

START_TEST(a_stream_remembers_its_attributes)
{
    cxu_launch_attribute_value value;
    CUstream copy = make_stream(CXU_STREAM_NON_BLOCKING);
    int priority;

    ck_success(cx_emu_call_stream_get_attribute(
        stream, CXU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    ck_assert_int_eq(value.number, -1);
    ck_success(cx_emu_call_stream_get_attribute(stream, CXU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
                                                &value));
    ck_assert_uint_eq(value.window.bytes, 0);
    value.number = CXU_SYNC_POLICY_SPIN;
    ck_success(cx_emu_call_stream_set_attribute(
        stream, CXU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    value.number = -2;
    ck_success(
        cx_emu_call_stream_set_attribute(stream, CXU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    ck_success(cx_emu_call_stream_get_priority(stream, &priority));
    ck_assert_int_eq(priority, -2);
    memset(&value, 0, sizeof value);
    value.window = (cxu_access_policy_window){.bytes = 4096, .hit_ratio = 0.5f};
    ck_success(cx_emu_call_stream_set_attribute(stream, CXU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
                                                &value));
    ck_success(cx_emu_call_stream_copy_attributes(copy, stream));
    memset(&value, 0, sizeof value);
    ck_success(cx_emu_call_stream_get_attribute(copy, CXU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
                                                &value));
    ck_assert_uint_eq(value.window.bytes, 4096);
    ck_success(cx_emu_call_stream_get_attribute(
        copy, CXU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    ck_assert_int_eq(value.number, CXU_SYNC_POLICY_SPIN);
    ck_success(cx_emu_call_stream_copy_attributes(copy, NULL));
    ck_success(cx_emu_call_stream_get_attribute(
        copy, CXU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    ck_assert_int_eq(value.number, -1);
}
END_TEST

START_TEST(attributes_that_streams_do_not_have_are_refused)
{
    cxu_launch_attribute_value value = {.number = 77};

    ck_result(cx_emu_call_stream_get_attribute(stream, (cxu_launch_attribute_id)99, &value),
              INVALID_VALUE);
    ck_result(cx_emu_call_stream_get_attribute(stream, CXU_LAUNCH_ATTRIBUTE_PRIORITY, NULL),
              INVALID_VALUE);
    ck_result(cx_emu_call_stream_set_attribute(stream, CXU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value),
              INVALID_VALUE);
    ck_result(cx_emu_call_stream_set_attribute(
                  stream, CXU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value),
              INVALID_VALUE);
    ck_result(cx_emu_call_stream_get_attribute((CUstream)(void *)&value,
                                               CXU_LAUNCH_ATTRIBUTE_PRIORITY, &value),
              INVALID_HANDLE);
    ck_result(cx_emu_call_stream_copy_attributes((CUstream)(void *)&value, stream),
              INVALID_HANDLE);
}
END_TEST

/* ---- affinities ---- */

START_TEST(a_context_has_all_multiprocessors)
{
    cxu_exec_affinity affinity = {.type = 77};
    int supported = 77, count = 0;

    ck_success(cx_emu_call_device_get_exec_affinity_support(
        &supported, CXU_EXEC_AFFINITY_TYPE_SM_COUNT, 0));
    ck_assert_int_eq(supported, 0);
    ck_result(cx_emu_call_device_get_exec_affinity_support(NULL, CXU_EXEC_AFFINITY_TYPE_SM_COUNT,
                                                           0),
              INVALID_VALUE);
    ck_result(cx_emu_call_device_get_exec_affinity_support(&supported,
                                                           CXU_EXEC_AFFINITY_TYPE_SM_COUNT, 99),
              INVALID_DEVICE);
    ck_success(cx_emu_call_ctx_get_exec_affinity(&affinity, CXU_EXEC_AFFINITY_TYPE_SM_COUNT));
    ck_success(
        cx_emu_call_device_get_attribute(&count, CXU_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    ck_assert_int_eq(affinity.type, CXU_EXEC_AFFINITY_TYPE_SM_COUNT);
    ck_assert_int_eq((int)affinity.value.multiprocessors.count, count);
    ck_result(cx_emu_call_ctx_get_exec_affinity(NULL, CXU_EXEC_AFFINITY_TYPE_SM_COUNT),
              INVALID_VALUE);
    ck_result(cx_emu_call_ctx_get_exec_affinity(&affinity, (cxu_exec_affinity_type)9),
              UNSUPPORTED_EXEC_AFFINITY);
}
END_TEST

static Suite *hint_suite(void)
{
    Suite *suite = suite_create("hint");
    TCase *tests = tcase_create("hint");

    tcase_add_checked_fixture(tests, setup, work_teardown);
    tcase_add_test(tests, new_memory_has_no_advice);
    tcase_add_test(tests, advice_is_remembered_for_its_range);
    tcase_add_test(tests, prefetching_is_remembered_and_has_a_place_in_its_stream);
    tcase_add_test(tests, advice_is_for_managed_memory_and_places_that_there_are);
    tcase_add_test(tests, a_capture_does_not_prefetch);
    tcase_add_test(tests, managed_memory_is_attached_as_a_whole);
    tcase_add_test(tests, a_stream_remembers_its_attributes);
    tcase_add_test(tests, attributes_that_streams_do_not_have_are_refused);
    tcase_add_test(tests, a_context_has_all_multiprocessors);
    suite_add_tcase(suite, tests);
    return suite;
}

CX_TESTS(hint_suite);
