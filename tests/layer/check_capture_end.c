/*
 * The ends of captures under the layer check: those that are left, and streams that are not joined.
 */
#include "layer/capturing.h"

/* ---- captures that are left ---- */

static void left(const char *text, const char *why)
{
    ck_assert_int_eq(found(CX_KIND_CAPTURE_LEFT), 1);
    ck_assert(latest_says(text));
    ck_assert(latest_says(why));
    ck_assert_int_eq(found_at_all(), 1);
}

START_TEST(a_context_that_ends_leaves_the_captures_in_it)
{
    begin(distant, RELAXED);
    begin(first, RELAXED);
    GOOD(table.ctx_destroy(here));
    left("capture 2 of GPU 0", "cuCtxDestroy_v2 ended its stream");
    ck_assert_int_eq(alive(CX_OBJECT_CAPTURE), 1);
}
END_TEST

/* Captures in the primary context of GPU 1. */
static void capture_in_primary(void)
{
    CUcontext primary, popped;
    CUstream stream;
    GOOD(table.primary_retain(&primary, 1));
    GOOD(table.ctx_push(primary));
    GOOD(table.stream_create(&stream, 0));
    begin(stream, RELAXED);
    GOOD(table.ctx_pop(&popped));
}

START_TEST(a_reset_leaves_captures)
{
    capture_in_primary();
    GOOD(table.primary_reset(1));
    left("capture 1 of GPU 1", "cuDevicePrimaryCtxReset_v2 ended its stream");
}
END_TEST

START_TEST(the_last_release_leaves_captures)
{
    CUcontext primary;
    capture_in_primary();
    GOOD(table.primary_retain(&primary, 1));
    GOOD(table.primary_release(1));
    ck_assert_int_eq(found(CX_KIND_CAPTURE_LEFT), 0);
    GOOD(table.primary_release(1));
    ck_assert_int_eq(found(CX_KIND_CAPTURE_LEFT), 1);
    ck_assert_int_eq(found(CX_KIND_LIFE_STREAM), 1);
    ck_assert_int_eq(alive(CX_OBJECT_CAPTURE), 0);
}
END_TEST

START_TEST(a_stream_that_ends_leaves_its_capture)
{
    CUstream again;
    begin(second, RELAXED);
    begin(first, RELAXED);
    GOOD(table.stream_destroy(first));
    left("capture 2 of GPU 0", "cuStreamDestroy_v2 ended its stream");
    ck_assert_int_eq(alive(CX_OBJECT_CAPTURE), 1);
    GOOD(table.stream_create(&again, CXU_STREAM_NON_BLOCKING));
    begin(again, RELAXED);
    end(again);
    end(second);
    ck_assert_int_eq(found_at_all(), 1);
}
END_TEST

START_TEST(a_stream_that_only_joined_leaves_none)
{
    begin(first, RELAXED);
    join(plain, first);
    GOOD(table.stream_destroy(plain));
    ck_assert_int_eq(alive(CX_OBJECT_CAPTURE), 1);
    end(first);
    ck_assert_int_eq(found_at_all(), 0);
}
END_TEST

START_TEST(memory_is_used_outside_of_captures_again_when_none_is_left)
{
    void *pinned;
    GOOD(table.mem_alloc_host(&pinned, 64));
    begin(second, RELAXED);
    GOOD(table.stream_destroy(second));
    GOOD(table.memcpy_htod_async(memory, pinned, 64, first));
    GOOD(table.mem_free_host(pinned));
    ck_assert_int_eq(found(CX_KIND_MEMORY_PINNED_FREED), 1);
}
END_TEST

/* ---- streams that are not joined ---- */

static const char began[] = "the capture began in stream 2 of GPU 0";
static const char second_left[] =
    "stream 3 of GPU 0 joined it, and nothing waits for its last work";
static const char plain_left[] = "stream 4 of GPU 0 joined it, and nothing waits for its last work";

/* The end of the first stream's capture; NULL: such a line is not there. */
static void unjoined(const char *one, const char *other)
{
    CUgraph graph;
    const bool tells = one != NULL || other != NULL;
    ck_assert_int_eq((int)table.stream_end_capture(first, &graph),
                     tells ? CXU_STREAM_CAPTURE_UNJOINED : CXU_SUCCESS);
    ck_assert_int_eq(found(CX_KIND_CAPTURE_UNJOINED), tells);
    if (!tells)
        return;
    unsigned count = atomic_load(&cx_region_here->findings);
    ck_assert(latest_says(began));
    ck_assert(one == NULL || latest_says(one));
    ck_assert(other == NULL || latest_says(other));
    ck_assert_uint_eq(cx_region_here->all_findings[count - 1].note_count,
                      1u + (one != NULL) + (other != NULL));
}

START_TEST(a_stream_that_is_not_joined_is_named)
{
    begin(first, RELAXED);
    join(second, first);
    join(plain, first);
    fill(second);
    fill(plain);
    join(first, second);
    unjoined(plain_left, NULL);
}
END_TEST

START_TEST(and_so_are_two_of_them)
{
    begin(first, RELAXED);
    join(second, first);
    join(plain, first);
    fill(plain);
    fill(second);
    unjoined(second_left, plain_left);
}
END_TEST

START_TEST(a_stream_without_work_need_not_be_joined)
{
    begin(first, RELAXED);
    fill(first);
    join(second, first);
    GOOD(table.stream_get_flags(second, &(unsigned){0}));
    join(plain, first);
    fill(plain);
    unjoined(plain_left, NULL);
}
END_TEST

START_TEST(a_stream_is_joined_by_one_that_is)
{
    begin(first, RELAXED);
    join(second, first);
    join(plain, second);
    fill(plain);
    join(second, plain);
    join(first, second);
    fill(second);
    unjoined(second_left, NULL);
}
END_TEST

static const char code[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                           ".visible .entry step()\n{\n    ret;\n}\n";

/* Work that each call of these gives to the stream. */
static void work(int call, CUstream stream)
{
    CUmodule module;
    CUfunction step;
    const cxu_launch_config config = {.grid_x = 1,
                                      .grid_y = 1,
                                      .grid_z = 1,
                                      .block_x = 1,
                                      .block_y = 1,
                                      .block_z = 1,
                                      .stream = stream};
    GOOD(bare.module_load_data(&module, code));
    GOOD(bare.module_get_function(&step, module, "step"));
    switch (call) {
    case 0:
        GOOD(table.launch_kernel(step, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
        break;
    case 1:
        GOOD(table.launch_kernel_ex(&config, step, NULL, NULL));
        break;
    case 2:
        GOOD(table.stream_write_value_32(stream, memory, 1, 0));
        break;
    case 3:
        GOOD(table.stream_write_value_64(stream, memory, 1, 0));
        break;
    case 4:
        GOOD(table.stream_wait_value_32(stream, memory, 1, 0));
        break;
    case 5:
        GOOD(table.stream_wait_value_64(stream, memory, 1, 0));
        break;
    case 6:
        GOOD(table.event_record_with_flags(event, stream, CXU_EVENT_RECORD_EXTERNAL));
        break;
    default:
        GOOD(table.stream_wait_event(stream, event, CXU_EVENT_WAIT_EXTERNAL));
    }
}
enum { WORKS = 8 };

/* A stream joins by an event that a launch records, and is joined by such an event. */
static void launch_with_an_event(CUstream stream)
{
    CUmodule module;
    CUfunction step;
    cxu_launch_attribute attribute = {.id = CXU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT};
    const cxu_launch_config config = {1, 1, 1, 1, 1, 1, 0, stream, &attribute, 1};
    GOOD(table.event_create(&attribute.value.record.event, CXU_EVENT_DISABLE_TIMING));
    GOOD(bare.module_load_data(&module, code));
    GOOD(bare.module_get_function(&step, module, "step"));
    GOOD(table.launch_kernel_ex(&config, step, NULL, NULL));
    GOOD(table.stream_wait_event(stream == first ? second : first, attribute.value.record.event,
                                 0));
}

START_TEST(an_event_of_a_launch_joins_and_is_joined)
{
    CUgraph graph;
    begin(first, RELAXED);
    launch_with_an_event(first);
    fill(second);
    launch_with_an_event(second);
    GOOD(table.stream_end_capture(first, &graph));
    ck_assert_int_eq(found(CX_KIND_CAPTURE_UNJOINED), 0);
}
END_TEST

START_TEST(work_behind_the_joining_event_of_a_launch_is_unjoined)
{
    begin(first, RELAXED);
    launch_with_an_event(first);
    fill(second);
    unjoined(second_left, NULL);
}
END_TEST

START_TEST(every_call_that_gives_work_to_a_stream_counts)
{
    cxu_stream_capture_mode mode = CXU_STREAM_CAPTURE_MODE_RELAXED;
    GOOD(table.thread_exchange_stream_capture_mode(&mode));
    begin(first, RELAXED);
    join(second, first);
    work(_i, second);
    unjoined(second_left, NULL);
}
END_TEST

START_TEST(a_stream_that_ended_meanwhile_is_named_by_its_number)
{
    begin(first, RELAXED);
    join(plain, first);
    fill(plain);
    GOOD(table.stream_destroy(plain));
    unjoined("stream 4 joined it, and nothing waits for its last work", NULL);
}
END_TEST

START_TEST(more_streams_than_are_kept_do_no_harm)
{
    enum { STREAMS = 40 };
    static CUstream streams[STREAMS];
    begin(first, RELAXED);
    for (int i = 0; i < STREAMS; i++) {
        GOOD(table.stream_create(&streams[i], CXU_STREAM_NON_BLOCKING));
        join(streams[i], first);
        fill(streams[i]);
        join(first, streams[i]);
    }
    unjoined(NULL, NULL);
    ck_assert_int_eq(found_at_all(), 0);
}
END_TEST

static Suite *capture_end_suite(void)
{
    Suite *suite = suite_create("ends of captures under the layer check");
    TCase *tcase = tcase_create("ends");
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_test(tcase, a_context_that_ends_leaves_the_captures_in_it);
    tcase_add_test(tcase, a_reset_leaves_captures);
    tcase_add_test(tcase, the_last_release_leaves_captures);
    tcase_add_test(tcase, a_stream_that_ends_leaves_its_capture);
    tcase_add_test(tcase, a_stream_that_only_joined_leaves_none);
    tcase_add_test(tcase, memory_is_used_outside_of_captures_again_when_none_is_left);
    tcase_add_test(tcase, a_stream_that_is_not_joined_is_named);
    tcase_add_test(tcase, and_so_are_two_of_them);
    tcase_add_test(tcase, a_stream_without_work_need_not_be_joined);
    tcase_add_test(tcase, a_stream_is_joined_by_one_that_is);
    tcase_add_loop_test(tcase, every_call_that_gives_work_to_a_stream_counts, 0, WORKS);
    tcase_add_test(tcase, an_event_of_a_launch_joins_and_is_joined);
    tcase_add_test(tcase, work_behind_the_joining_event_of_a_launch_is_unjoined);
    tcase_add_test(tcase, a_stream_that_ended_meanwhile_is_named_by_its_number);
    tcase_add_test(tcase, more_streams_than_are_kept_do_no_harm);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(capture_end_suite);
