/* What went wrong with the memory of graphs (docs/seeds.md, 2.105 to 2.107), for memory of each
 * source. */
#include "sources.h"

enum { EAGER = 12, LAUNCHES = 3 };

typedef struct fill {
    void *to;
    int value;
} fill;

typedef struct transfer {
    void *to;
    const void *from;
} transfer;

static ctxrt_status run_fill(void *argument)
{
    const fill *self = argument;
    return ctxrt_fill_async(self->to, self->value, BYTES, NULL);
}

static ctxrt_status run_transfer(void *argument)
{
    const transfer *self = argument;
    return ctxrt_copy_async(self->to, self->from, BYTES, CTXRT_COPY_ANY, NULL);
}

static void submit(ctxrt_status (*run)(void *), void *user_data)
{
    const ctxrt_operator operation = {sizeof operation, "work", run, NULL, user_data, 1};
    cx_assert_ok(ctxrt_operator_submit(&operation));
}

typedef struct company {
    ctxrt_memory *memory[EAGER];
    const void *private[3];
    int wrong;
} company;

/* On a thread of its own: what that thread allocates is none of the graph's. */
static void *allocate_eagerly(void *argument)
{
    company *self = argument;
    bool there = ctxrt_device_push(place) == CTXRT_SUCCESS &&
                 (!is_created() || ctxrt_frame_set_allocator(allocator) == CTXRT_SUCCESS);
    for (int i = 0; i < EAGER && there; i++) {
        there = try_to_allocate(BYTES, &self->memory[i]) == CTXRT_SUCCESS;
        void *pointer = there ? ctxrt_memory_pointer(self->memory[i]) : NULL;
        there = there && ctxrt_fill(pointer, 100 + i, BYTES) == CTXRT_SUCCESS;
        for (int k = 0; k < 3; k++)
            self->wrong += pointer == self->private[k];
    }
    self->wrong += !there;
    self->wrong += ctxrt_stack_pop() != CTXRT_SUCCESS;
    return NULL;
}

static void assert_alone(company *others)
{
    ck_assert_int_eq(others->wrong, 0);
    for (int i = 0; i < EAGER; i++) {
        assert_filled(address(others->memory[i]), 100 + i, BYTES);
        release(others->memory[i]);
    }
}

/* All three pieces were free before the recording. In it one is allocated and freed, one is
 * allocated and freed later, and one that was allocated before is freed. */
START_TEST(what_was_free_before_a_recording_is_its_graphs_alone_and_comes_back_with_that)
{
    begin(_i);
    ctxrt_memory *kept[] = {allocate(BYTES), allocate(BYTES)}, *result = allocate(BYTES);
    const void *cached[] = {address(kept[0]), address(kept[1])};
    for (int i = 0; i < 2; i++)
        release(kept[i]);
    ctxrt_memory *before = allocate(4 * BYTES);
    release(before);
    before = allocate(4 * BYTES);
    cx_assert_ok(ctxrt_recording_start(NULL));
    ctxrt_memory *late = allocate(BYTES), *scratch = allocate(BYTES);
    void *first = address(scratch), *second = address(late), *third = address(before);
    if (from != GUARDED)
        ck_assert((first == cached[0] && second == cached[1]) ||
                  (first == cached[1] && second == cached[0]));
    fill filling = {first, 7};
    transfer transfers[] = {{second, first}, {third, second}, {address(result), third}};
    submit(run_fill, &filling);
    submit(run_transfer, &transfers[0]);
    release(scratch);
    submit(run_transfer, &transfers[1]);
    submit(run_transfer, &transfers[2]);
    company others = {.private = {first, second, third}}, more = others;
    release(before);
    ctxrt_graph *graph;
    cx_assert_ok(ctxrt_recording_stop(&graph));
    release(late);

    cx_assert_ok(ctxrt_allocator_trim(allocator, NULL));
    on_a_thread(allocate_eagerly, &others);
    (void)allocate_eagerly(&more);
    cx_assert_ok(ctxrt_allocator_trim(allocator, NULL));
    for (int i = 0; i < LAUNCHES; i++) {
        cx_assert_ok(ctxrt_fill(address(result), 0, BYTES));
        cx_assert_ok(ctxrt_graph_launch(graph, NULL));
        cx_assert_ok(ctxrt_stream_synchronize(NULL));
        assert_filled(address(result), 7, BYTES);
    }
    assert_alone(&others);
    assert_alone(&more);
    ck_assert_uint_eq(look().requested.current_bytes, (1 + 1 + 1 + 4) * BYTES);
    cx_assert_ok(ctxrt_graph_release(graph));
    ck_assert_uint_eq(look().requested.current_bytes, BYTES);
    release(result);
    finish();
}
END_TEST

static ctxrt_status refuse(void *argument)
{
    (void)argument;
    return CTXRT_ERROR_NOT_PERMITTED;
}

typedef enum ending { RELEASED, CANCELLED, FAILED, POPPED, ENDINGS } ending;

static void end_recording(ending how)
{
    ctxrt_graph *graph;
    if (how == RELEASED) {
        cx_assert_ok(ctxrt_recording_stop(&graph));
        cx_assert_ok(ctxrt_graph_release(graph));
    } else if (how == CANCELLED) {
        cx_assert_ok(ctxrt_recording_cancel());
    } else if (how == FAILED) {
        submit(refuse, NULL);
        cx_assert_error(ctxrt_recording_stop(&graph), CTXRT_ERROR_NOT_PERMITTED);
    }
    cx_assert_ok(ctxrt_stack_pop());
    if (how == POPPED)
        cx_assert_ok(ctxrt_recording_cancel());
}

/* Rounds of it: a piece that is lost each time shows. */
START_TEST(however_a_recording_ends_its_memory_comes_back)
{
    uint64_t reserved = 0;
    begin(_i);
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_ERROR));
    for (int round = 0; round < 4 * ENDINGS; round++) {
        enter();
        ctxrt_memory *before = allocate(MIB);
        cx_assert_ok(ctxrt_recording_start(NULL));
        ctxrt_memory *scratch = allocate(MIB), *survivor = allocate(MIB);
        release(before);
        release(scratch);
        end_recording((ending)(round % ENDINGS));
        release(survivor);
        ck_assert_uint_eq(look().requested.current_count, 0);
        if (round == ENDINGS)
            reserved = look().reserved.current_bytes;
    }
    ck_assert_uint_eq(look().reserved.current_bytes, reserved);
    finish();
}
END_TEST

static Suite *graph_defects_suite(void)
{
    Suite *suite = suite_create("graph_memory_defects");
    TCase *tcase = tcase_create("graph_memory_defects");
    tcase_add_checked_fixture(tcase, cx_fixture_start, cx_fixture_end);
    tcase_add_loop_test(
        tcase, what_was_free_before_a_recording_is_its_graphs_alone_and_comes_back_with_that, 0,
        SOURCES);
    tcase_add_loop_test(tcase, however_a_recording_ends_its_memory_comes_back, 0, SOURCES);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(graph_defects_suite);
