/* Green contexts: parts of a primary context with multiprocessors of their own. */
#include "work_fixture.h"

#include <stdlib.h>
#include <string.h>

#define BYTES ((size_t)4096)

static CUcontext primary;

/* The fixture's own context is not needed. */
static void setup(void)
{
    work_setup();
    ck_success(cx_emu_call_primary_retain(&primary, 0));
}

static void teardown(void)
{
    ck_success(cx_emu_call_primary_release(0));
    work_teardown();
}

static cxu_dev_resource resource_of_device(void)
{
    cxu_dev_resource all;

    ck_success(cx_emu_call_device_get_dev_resource(0, &all, CXU_DEV_RESOURCE_TYPE_SM));
    return all;
}

static CUdevResourceDesc describe(cxu_dev_resource *resources, unsigned int count)
{
    CUdevResourceDesc desc;

    ck_success(cx_emu_call_dev_resource_generate_desc(&desc, resources, count));
    return desc;
}

static CUgreenCtx make_green(unsigned int multiprocessors)
{
    cxu_dev_resource all = resource_of_device(), group;
    unsigned int count = 1;
    CUgreenCtx green;

    ck_success(cx_emu_call_dev_sm_resource_split_by_count(&group, &count, &all, NULL, 0,
                                                          multiprocessors));
    ck_success(cx_emu_call_green_ctx_create(&green, describe(&group, 1), 0,
                                            CXU_GREEN_CTX_DEFAULT_STREAM));
    return green;
}

static CUcontext context_of(CUgreenCtx green)
{
    CUcontext context;

    ck_success(cx_emu_call_ctx_from_green_ctx(&context, green));
    return context;
}

static CUstream stream_in(CUgreenCtx green)
{
    CUstream stream;

    ck_success(
        cx_emu_call_green_ctx_stream_create(&stream, green, CXU_STREAM_NON_BLOCKING, 0));
    return stream;
}

START_TEST(a_split_makes_disjoint_groups_and_leaves_the_rest)
{
    cxu_dev_resource all = resource_of_device(), groups[20], rest;
    unsigned int count = 0;

    ck_assert_uint_eq(all.of.sm.count, 40);
    ck_assert_uint_eq(all.of.sm.least, 2);
    ck_assert_uint_eq(all.of.sm.multiple, 2);
    ck_success(cx_emu_call_dev_sm_resource_split_by_count(NULL, &count, &all, NULL, 0, 11));
    ck_assert_uint_eq(count, 3);
    count = 20;
    ck_success(cx_emu_call_dev_sm_resource_split_by_count(groups, &count, &all, &rest, 0, 11));
    ck_assert_uint_eq(count, 3);
    ck_assert_uint_eq(groups[0].of.sm.count, 12);
    ck_assert_uint_eq(groups[2].of.sm.count, 12);
    ck_assert_uint_eq(rest.of.sm.count, 4);
    count = 2;
    ck_success(cx_emu_call_dev_sm_resource_split_by_count(groups, &count, &all, &rest, 0, 20));
    ck_assert_int_eq(rest.type, CXU_DEV_RESOURCE_TYPE_INVALID);
    count = 1;
    ck_result(cx_emu_call_dev_sm_resource_split_by_count(groups, &count, &groups[1], NULL, 0, 2),
              INVALID_RESOURCE_CONFIGURATION);
    ck_result(cx_emu_call_dev_sm_resource_split_by_count(groups, &count, &all, NULL, 0, 41),
              INVALID_VALUE);
    ck_result(cx_emu_call_dev_sm_resource_split_by_count(groups, &count, &all, NULL, 4, 2),
              INVALID_VALUE);
    ck_result(cx_emu_call_dev_sm_resource_split_by_count(groups, &count, &rest, NULL, 0, 2),
              INVALID_RESOURCE_TYPE);
    ck_result(cx_emu_call_dev_sm_resource_split_by_count(groups, NULL, &all, NULL, 0, 2),
              INVALID_VALUE);
}
END_TEST

START_TEST(a_descriptor_takes_parts_of_one_split)
{
    cxu_dev_resource all = resource_of_device(), one[2], other[2], mixed[2];
    CUdevResourceDesc desc;
    CUgreenCtx green;
    unsigned int count = 2;

    ck_success(cx_emu_call_dev_sm_resource_split_by_count(one, &count, &all, NULL, 0, 8));
    ck_success(cx_emu_call_dev_sm_resource_split_by_count(other, &count, &all, NULL, 0, 8));
    mixed[0] = one[0];
    mixed[1] = other[1];
    ck_result(cx_emu_call_dev_resource_generate_desc(&desc, mixed, 2),
              INVALID_RESOURCE_CONFIGURATION);
    mixed[1] = one[0];
    ck_result(cx_emu_call_dev_resource_generate_desc(&desc, mixed, 2),
              INVALID_RESOURCE_CONFIGURATION);
    ck_result(cx_emu_call_dev_resource_generate_desc(&desc, one, 0), INVALID_VALUE);
    memset(&mixed[0], 0, sizeof mixed[0]);
    ck_result(cx_emu_call_dev_resource_generate_desc(&desc, mixed, 1), INVALID_RESOURCE_TYPE);
    desc = describe(one, 2);
    ck_result(cx_emu_call_green_ctx_create(&green, desc, 0, 0), INVALID_VALUE);
    ck_result(cx_emu_call_green_ctx_create(&green, desc, 9, 1), INVALID_DEVICE);
    ck_result(cx_emu_call_green_ctx_create(&green, desc, 1, 1), INVALID_VALUE);
    ck_result(cx_emu_call_green_ctx_create(&green, NULL, 0, 1), INVALID_VALUE);
    ck_success(cx_emu_call_green_ctx_create(&green, desc, 0, 1));
    ck_success(cx_emu_call_green_ctx_get_dev_resource(green, &all, CXU_DEV_RESOURCE_TYPE_SM));
    ck_assert_uint_eq(all.of.sm.count, 16);
    ck_success(cx_emu_call_green_ctx_destroy(green));
    ck_result(cx_emu_call_green_ctx_destroy(green), INVALID_CONTEXT);
}
END_TEST

START_TEST(two_handles_stand_for_one_primary_on_a_stack)
{
    CUgreenCtx green = make_green(8);
    CUcontext context = context_of(green), popped;
    cxu_dev_resource resource;
    unsigned long long id, green_id, primary_id;
    CUdeviceptr memory;
    CUdevice device;
    CUcontext owner;

    ck_assert_ptr_ne(context, primary);
    ck_success(cx_emu_call_ctx_push(primary));
    ck_success(cx_emu_call_ctx_push(context));
    ck_success(cx_emu_call_ctx_get_current(&popped));
    ck_assert_ptr_eq(popped, context);
    ck_success(cx_emu_call_ctx_get_device(&device));
    ck_assert_int_eq(device, 0);
    ck_success(cx_emu_call_ctx_get_id(NULL, &id));
    ck_success(cx_emu_call_green_ctx_get_id(NULL, &green_id));
    ck_success(cx_emu_call_ctx_get_id(primary, &primary_id));
    ck_assert(id == green_id && id != primary_id);
    ck_success(cx_emu_call_ctx_get_dev_resource(NULL, &resource, CXU_DEV_RESOURCE_TYPE_SM));
    ck_assert_uint_eq(resource.of.sm.count, 8);
    ck_success(cx_emu_call_ctx_get_dev_resource(primary, &resource, CXU_DEV_RESOURCE_TYPE_SM));
    ck_assert_uint_eq(resource.of.sm.count, 40);
    /* Memory belongs to the primary. */
    memory = make_memory(BYTES);
    ck_success(cx_emu_call_pointer_get_attribute(&owner, CXU_POINTER_CONTEXT, memory));
    ck_assert_ptr_eq(owner, primary);
    ck_result(cx_emu_call_ctx_destroy(context), INVALID_CONTEXT);
    ck_success(cx_emu_call_ctx_pop(&popped));
    ck_assert_ptr_eq(popped, context);
    ck_result(cx_emu_call_green_ctx_get_id(NULL, &green_id), INVALID_CONTEXT);
    ck_success(cx_emu_call_mem_free(memory));
    ck_success(cx_emu_call_ctx_pop(&popped));
    ck_assert_ptr_eq(popped, primary);
    ck_success(cx_emu_call_green_ctx_destroy(green));
    ck_result(cx_emu_call_ctx_push(context), INVALID_CONTEXT);
}
END_TEST

START_TEST(streams_know_their_green_context_and_go_stale_with_it)
{
    CUgreenCtx green = make_green(8), found;
    CUcontext context = context_of(green), owner, popped;
    CUstream own = stream_in(green), made, plain;

    ck_success(cx_emu_call_ctx_push(context));
    ck_success(cx_emu_call_stream_create(&made, CXU_STREAM_NON_BLOCKING));
    ck_success(cx_emu_call_stream_get_green_ctx(NULL, &found));
    ck_assert_ptr_eq(found, green);
    ck_success(cx_emu_call_stream_get_ctx(CXU_STREAM_LEGACY, &owner));
    ck_assert_ptr_eq(owner, context);
    ck_result(cx_emu_call_stream_get_ctx(CXU_STREAM_PER_THREAD, &owner), INVALID_HANDLE);
    ck_success(cx_emu_call_ctx_pop(&popped));
    ck_success(cx_emu_call_ctx_push(primary));
    ck_success(cx_emu_call_stream_create(&plain, CXU_STREAM_NON_BLOCKING));
    CUstream both[2] = {own, made};
    for (int i = 0; i < 2; i++) {
        ck_success(cx_emu_call_stream_get_green_ctx(both[i], &found));
        ck_assert_ptr_eq(found, green);
        ck_success(cx_emu_call_stream_get_ctx(both[i], &owner));
        ck_assert_ptr_eq(owner, context);
        ck_success(cx_emu_call_stream_get_ctx_v2(both[i], &owner, &found));
        ck_assert(owner == primary && found == green);
    }
    ck_success(cx_emu_call_stream_get_ctx_v2(plain, &owner, &found));
    ck_assert(owner == primary && !found);
    ck_result(cx_emu_call_green_ctx_stream_create(&made, green, 0, 0), INVALID_VALUE);
    ck_success(cx_emu_call_stream_destroy(made));
    ck_success(cx_emu_call_green_ctx_destroy(green));
    ck_result(cx_emu_call_stream_query(own), CONTEXT_IS_DESTROYED);
    ck_result(cx_emu_call_stream_destroy(own), CONTEXT_IS_DESTROYED);
    ck_success(cx_emu_call_stream_destroy(plain));
    ck_success(cx_emu_call_ctx_pop(&popped));
}
END_TEST

START_TEST(the_default_stream_of_a_green_context_takes_no_batch_of_copies)
{
    CUgreenCtx green = make_green(8);
    CUcontext popped;
    unsigned char bytes[8] = {0};
    CUdeviceptr from = (CUdeviceptr)(uintptr_t)bytes, to;
    size_t size = sizeof bytes, first = 0, fail = 77;
    cxu_memcpy_attributes how = {.order = CXU_MEMCPY_SRC_ACCESS_ORDER_STREAM};

    ck_success(cx_emu_call_ctx_push(context_of(green)));
    ck_success(cx_emu_call_mem_alloc(&to, sizeof bytes));
    ck_result(cx_emu_call_memcpy_batch_async_v1(&to, &from, &size, 1, &how, &first, 1, &fail, NULL),
              INVALID_VALUE);
    ck_assert_uint_eq(fail, 77);
    ck_success(cx_emu_call_mem_free(to));
    ck_success(cx_emu_call_ctx_pop(&popped));
    ck_success(cx_emu_call_green_ctx_destroy(green));
}
END_TEST

START_TEST(a_reset_of_the_primary_ends_a_green_context)
{
    CUgreenCtx green = make_green(8);
    CUcontext context = context_of(green), popped;
    CUstream stream = stream_in(green);

    ck_success(cx_emu_call_ctx_push(context));
    ck_success(cx_emu_call_primary_reset(0));
    ck_result(cx_emu_call_ctx_synchronize(), CONTEXT_IS_DESTROYED);
    ck_result(cx_emu_call_stream_query(stream), INVALID_HANDLE);
    ck_result(cx_emu_call_ctx_from_green_ctx(&popped, green), CONTEXT_IS_DESTROYED);
    ck_success(cx_emu_call_ctx_pop(&popped));
    ck_success(cx_emu_call_green_ctx_destroy(green));
}
END_TEST

START_TEST(a_green_context_keeps_the_primary)
{
    CUgreenCtx green = make_green(8);
    unsigned int flags;
    int active;

    ck_success(cx_emu_call_primary_release(0));
    ck_success(cx_emu_call_primary_get_state(0, &flags, &active));
    ck_assert_int_eq(active, 1);
    ck_success(cx_emu_call_green_ctx_destroy(green));
    ck_success(cx_emu_call_primary_get_state(0, &flags, &active));
    ck_assert_int_eq(active, 0);
    ck_success(cx_emu_call_primary_retain(&primary, 0));
}
END_TEST

/* Each letter is a host function of its stream. */
START_TEST(events_and_waits_concern_the_green_context_alone)
{
    stream_journal journal = JOURNAL_EMPTY;
    CUgreenCtx green = make_green(8), other = make_green(8);
    CUstream one = stream_in(green), two = stream_in(green), far = stream_in(other);
    CUcontext popped;
    CUevent event;

    ck_success(cx_emu_call_ctx_push(primary));
    event = make_event();
    ck_success(cx_emu_call_ctx_pop(&popped));
    journal_put(&journal, one, 'a');
    journal_put(&journal, far, 'f');
    ck_success(cx_emu_call_green_ctx_record_event(green, event));
    ck_success(cx_emu_call_event_synchronize(event));
    ck_journal(&journal, "a");
    ck_success(cx_emu_call_green_ctx_record_event(other, event));
    ck_success(cx_emu_call_green_ctx_wait_event(green, event));
    journal_put(&journal, two, 'b');
    ck_success(cx_emu_call_stream_synchronize(two));
    ck_journal(&journal, "afb");
    journal_put(&journal, far, 'g');
    journal_put(&journal, one, 'c');
    ck_success(cx_emu_call_ctx_synchronize_v2(context_of(green)));
    ck_journal(&journal, "afbc");
    ck_success(cx_emu_call_ctx_synchronize_v2(primary));
    ck_journal(&journal, "afbcg");
    ck_result(cx_emu_call_green_ctx_record_event(green, make_event()), INVALID_HANDLE);
    ck_success(cx_emu_call_green_ctx_destroy(green));
    ck_success(cx_emu_call_green_ctx_destroy(other));
}
END_TEST

START_TEST(a_capture_in_a_green_context_refuses_its_events)
{
    CUgreenCtx green = make_green(8);
    CUstream stream = stream_in(green);
    CUcontext popped;
    CUgraph graph;
    CUevent event;

    ck_success(cx_emu_call_ctx_push(context_of(green)));
    event = make_event();
    ck_success(cx_emu_call_stream_begin_capture(stream, CXU_STREAM_CAPTURE_MODE_RELAXED));
    ck_result(cx_emu_call_green_ctx_record_event(green, event), STREAM_CAPTURE_UNSUPPORTED);
    ck_result(cx_emu_call_stream_end_capture(stream, &graph), STREAM_CAPTURE_INVALIDATED);
    ck_success(cx_emu_call_ctx_pop(&popped));
    ck_success(cx_emu_call_stream_destroy(stream));
    ck_success(cx_emu_call_green_ctx_destroy(green));
}
END_TEST

static void setup_lazy(void)
{
    setenv("CTXRT_EMU_SCHEDULE", "lazy", 1);
    setup();
}

static Suite *green_suite(void)
{
    Suite *suite = suite_create("green");
    TCase *tcase = tcase_create("green");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_split_makes_disjoint_groups_and_leaves_the_rest);
    tcase_add_test(tcase, a_descriptor_takes_parts_of_one_split);
    tcase_add_test(tcase, two_handles_stand_for_one_primary_on_a_stack);
    tcase_add_test(tcase, streams_know_their_green_context_and_go_stale_with_it);
    tcase_add_test(tcase, the_default_stream_of_a_green_context_takes_no_batch_of_copies);
    tcase_add_test(tcase, a_reset_of_the_primary_ends_a_green_context);
    tcase_add_test(tcase, a_green_context_keeps_the_primary);
    tcase_add_test(tcase, a_capture_in_a_green_context_refuses_its_events);
    suite_add_tcase(suite, tcase);

    tcase = tcase_create("lazy");
    tcase_add_checked_fixture(tcase, setup_lazy, teardown);
    tcase_add_test(tcase, events_and_waits_concern_the_green_context_alone);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(green_suite);
