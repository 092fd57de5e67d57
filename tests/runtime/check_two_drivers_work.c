/*
 * Two drivers at once: foreign code at one of them while a frame of the other is on top, and work:
 * copies, events, streams and allocators, hand-off, snapshots, the end.
 */
#include "gate.h"
#include "two_drivers.h"

#include "device/runtime.h"
#include <stdlib.h>
#include <string.h>

static void start_with(ctxrt_foreign_policy foreign)
{
    const char *reason;
    ck_assert_msg(two_drivers_start(foreign, &reason), "%s", reason);
    two_drivers_hold();
}

static void start(void)
{
    start_with(CTXRT_FOREIGN_FOLLOW);
}

static void end(void)
{
    struct CUctx_st *entries[ENTRIES_MAX];
    for (int driver = 0; driver < TWO_DRIVERS; driver++)
        ck_assert_int_eq(two_drivers_read(driver, entries), 0);
    two_drivers_let_go();
    cx_fixture_end();
}

static int current_place(void)
{
    ctxrt_device device;
    cx_assert_ok(ctxrt_device_get(&device));
    return device.type == CTXRT_DEVICE_CPU ? ON_CPU : ON_GPU + device.index;
}

/* ---- foreign code ---- */

typedef enum foreign_act {
    PUSHES_ANOTHER,
    PUSHES_TWO,
    SETS_ANOTHER,
    POPS,
    FOREIGN_ACTS
} foreign_act;

/* Its own context of the GPUs' driver. */
static struct CUctx_st *foreign_context;

static void foreign_do(foreign_act act)
{
    const cx_driver_table *table = &cx_drivers[1].table;
    switch (act) {
    case PUSHES_TWO:
        ck_assert_int_eq(table->ctx_push(foreign_context), CXU_SUCCESS); /* fall through */
    case PUSHES_ANOTHER:
        ck_assert_int_eq(table->ctx_push(foreign_context), CXU_SUCCESS);
        break;
    case SETS_ANOTHER:
        ck_assert_int_eq(table->ctx_set_current(foreign_context), CXU_SUCCESS);
        break;
    default:
        ck_assert_int_eq(table->ctx_pop(NULL), CXU_SUCCESS);
        break;
    }
}

typedef struct entries {
    struct CUctx_st *natives[ENTRIES_MAX];
    int count;
} entries;

static entries read_gpus(void)
{
    entries found = {.count = 0};
    found.count = two_drivers_read(1, found.natives);
    return found;
}

static bool same_entries(const entries *a, const entries *b)
{
    return a->count == b->count &&
           memcmp(a->natives, b->natives, (size_t)a->count * sizeof a->natives[0]) == 0;
}

static void foreign_start(ctxrt_foreign_policy policy)
{
    start_with(policy);
    foreign_context = two_drivers_native(ON_OTHER_GPU);
}

/* Whatever order it is in: the thread's stack is brought to nothing, and the driver's with it. */
static void foreign_end(void)
{
    while (cx_drivers[1].table.ctx_pop(NULL) == CXU_SUCCESS)
        continue;
    end();
}

/* Each loop: an act, a policy. */
#define FOREIGN_LOOPS (2 * FOREIGN_ACTS)
static const ctxrt_foreign_policy policies[] = {CTXRT_FOREIGN_FOLLOW, CTXRT_FOREIGN_ERROR};

static void check_cpu_on_top(foreign_act act)
{
    ctxrt_scope scope = {0}, inner = {0};
    void *pointer;
    cx_assert_ok(ctxrt_scope_enter(CTXRT_CUDA(0), &scope));
    cx_assert_ok(ctxrt_device_push(CTXRT_CPU(0)));
    foreign_do(act);
    const entries left = read_gpus();
    ck_assert_int_eq(current_place(), ON_CPU);
    cx_assert_ok(ctxrt_alloc(64, &pointer));
    cx_assert_ok(ctxrt_fill(pointer, 1, 64));
    cx_assert_ok(ctxrt_free(pointer));
    cx_assert_ok(ctxrt_device_push(CTXRT_CPU(0)));
    cx_assert_ok(ctxrt_device_set(CTXRT_CPU(0)));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_scope_enter(CTXRT_CPU(0), &inner));
    cx_assert_ok(ctxrt_scope_leave(&inner));
    cx_assert_ok(ctxrt_stack_pop());
    const entries now = read_gpus();
    ck_assert(same_entries(&left, &now));
    ck_assert_uint_eq(ctxrt_stack_depth(), 1);
    cx_assert_error(ctxrt_scope_leave(&scope), CTXRT_ERROR_STACK_LEFTOVER);
    ck_assert_int_eq(read_gpus().count, 0);
}

START_TEST(what_other_code_does_at_one_driver_stays_out_of_the_other_whose_frame_is_on_top)
{
    foreign_start(policies[_i % 2]);
    check_cpu_on_top((foreign_act)(_i / 2));
    foreign_end();
}
END_TEST

/* The frame of the GPU comes to the top again, and the change to light. */
static void check_uncovered(foreign_act act, ctxrt_foreign_policy policy)
{
    ctxrt_scope scope = {0};
    ctxrt_device device;
    cx_assert_ok(ctxrt_scope_enter(CTXRT_CUDA(1), &scope));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_device_push(CTXRT_CPU(0)));
    foreign_do(act);
    cx_assert_ok(ctxrt_stack_pop());
    if (policy == CTXRT_FOREIGN_ERROR)
        cx_assert_error(ctxrt_device_get(&device), CTXRT_ERROR_STACK_MISMATCH);
    else
        ck_assert_int_eq(current_place(), ON_OTHER_GPU);
    cx_assert_error(ctxrt_scope_leave(&scope), CTXRT_ERROR_STACK_LEFTOVER);
    ck_assert_uint_eq(ctxrt_stack_depth(), 0);
    ck_assert_int_eq(read_gpus().count, 0);
}

START_TEST(a_change_at_the_other_driver_comes_to_light_when_its_frame_comes_to_the_top)
{
    foreign_start(policies[_i % 2]);
    check_uncovered((foreign_act)(_i / 2), policies[_i % 2]);
    foreign_end();
}
END_TEST

/* What was current when the scope was entered is current again, at a driver that the scope is not
 * of. */
START_TEST(a_scope_restores_the_frame_beneath_it_though_that_is_of_the_other_driver)
{
    const foreign_act act = (foreign_act)(_i / 2);
    ctxrt_scope scope = {0};
    foreign_start(policies[_i % 2]);
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(2)));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    const entries before = read_gpus();
    cx_assert_ok(ctxrt_scope_enter(CTXRT_CPU(0), &scope));
    foreign_do(act);
    cx_assert_error(ctxrt_scope_leave(&scope), CTXRT_ERROR_STACK_LEFTOVER);
    ck_assert_int_eq(current_place(), ON_GPU);
    ck_assert_uint_eq(ctxrt_stack_depth(), 2);
    const entries after = read_gpus();
    ck_assert(same_entries(&before, &after));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stack_pop());
    foreign_end();
}
END_TEST

/* The level: a frame of one driver, and an override of the other, beneath whose entry other code
 * puts one. */
START_TEST(a_pop_looks_beneath_the_entries_of_both_drivers_and_changes_nothing_if_one_is_wrong)
{
    const bool gpu_over_cpu = _i == 0;
    foreign_start(CTXRT_FOREIGN_FOLLOW);
    cx_assert_ok(ctxrt_device_push(gpu_over_cpu ? CTXRT_CPU(0) : CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_device_set(gpu_over_cpu ? CTXRT_CUDA(0) : CTXRT_CPU(0)));
    const cx_driver_table *table = &cx_drivers[1].table;
    ck_assert_int_eq(table->ctx_set_current(foreign_context), CXU_SUCCESS);
    ck_assert_int_eq(table->ctx_push(two_drivers_native(ON_GPU)), CXU_SUCCESS);
    const entries before = read_gpus();
    cx_assert_error(ctxrt_stack_pop(), CTXRT_ERROR_STACK_MISMATCH);
    const entries after = read_gpus();
    ck_assert(same_entries(&before, &after));
    ck_assert_int_eq(current_place(), gpu_over_cpu ? ON_GPU : ON_CPU);
    ck_assert_uint_eq(ctxrt_stack_depth(), 2);
    ck_assert_int_eq(table->ctx_pop(NULL), CXU_SUCCESS);
    ck_assert_int_eq(table->ctx_set_current(two_drivers_native(ON_GPU)), CXU_SUCCESS);
    cx_assert_ok(ctxrt_stack_pop());
    ck_assert_int_eq(read_gpus().count, 0);
    foreign_end();
}
END_TEST

START_TEST(a_resync_mends_the_other_driver_under_the_frame_on_top)
{
    static const ctxrt_resync_report wanted[FOREIGN_ACTS] = {
        [PUSHES_ANOTHER] = {CTXRT_RESYNC_PUSHED, 1},
        [PUSHES_TWO] = {CTXRT_RESYNC_PUSHED, 2},
        [SETS_ANOTHER] = {CTXRT_RESYNC_SET, 1},
        [POPS] = {CTXRT_RESYNC_POPPED, 1},
    };
    const foreign_act act = (foreign_act)(_i / 2);
    ctxrt_resync_report report;
    foreign_start(policies[_i % 2]);
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(2)));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    const entries before = read_gpus();
    cx_assert_ok(ctxrt_device_push(CTXRT_CPU(0)));
    foreign_do(act);
    cx_assert_ok(ctxrt_stack_resync(&report));
    ck_assert_int_eq(report.finding, wanted[act].finding);
    ck_assert_int_eq(report.count, wanted[act].count);
    cx_assert_ok(ctxrt_stack_resync(&report));
    ck_assert_int_eq(report.finding, CTXRT_RESYNC_IN_STEP);
    const entries after = read_gpus();
    if (act == POPS) { /* our frame and what stood on it are gone */
        ck_assert_uint_eq(ctxrt_stack_depth(), 1);
        ck_assert_int_eq(after.count, 1);
    } else {
        ck_assert(same_entries(&before, &after));
        ck_assert_int_eq(current_place(), ON_CPU);
        cx_assert_ok(ctxrt_stack_pop());
        ck_assert_int_eq(current_place(), ON_GPU);
        cx_assert_ok(ctxrt_stack_pop());
    }
    cx_assert_ok(ctxrt_stack_pop());
    foreign_end();
}
END_TEST

/* ---- work ---- */

enum { BYTES = 1 << 16 };

static ctxrt_memory *alloc_on(ctxrt_device device)
{
    ctxrt_scope scope = {0};
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_scope_enter(device, &scope));
    cx_assert_ok(ctxrt_memory_alloc(BYTES, &memory));
    cx_assert_ok(ctxrt_scope_leave(&scope));
    return memory;
}

static void check_bytes(ctxrt_memory *memory, const unsigned char *wanted)
{
    static unsigned char back[BYTES];
    memset(back, 0, sizeof back);
    cx_assert_ok(ctxrt_copy(back, ctxrt_memory_pointer(memory), BYTES, CTXRT_COPY_ANY));
    ck_assert_mem_eq(back, wanted, BYTES);
}

START_TEST(copies_go_between_the_drivers_whichever_is_current)
{
    static const ctxrt_device_type types[] = {CTXRT_DEVICE_CPU, CTXRT_DEVICE_CUDA};
    static unsigned char bytes[BYTES];
    ctxrt_memory *first = alloc_on(CTXRT_CPU(0)), *second = alloc_on(CTXRT_CUDA(0)),
                 *third = alloc_on(CTXRT_CUDA(1));
    ctxrt_memory *const ways[][2] = {
        {first, second}, {second, first}, {second, third}, {third, first}};
    for (int current = 0; current < 2; current++) {
        cx_assert_ok(ctxrt_device_push(ctxrt_device_of(types[current], 0)));
        for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
            memset(bytes, (int)(16 * i) + current + 1, BYTES);
            bytes[BYTES - 1] = 0xee;
            cx_assert_ok(
                ctxrt_copy(ctxrt_memory_pointer(ways[i][0]), bytes, BYTES, CTXRT_COPY_ANY));
            cx_assert_ok(ctxrt_copy(ctxrt_memory_pointer(ways[i][1]),
                                    ctxrt_memory_pointer(ways[i][0]), BYTES,
                                    CTXRT_COPY_DEVICE_TO_DEVICE));
            check_bytes(ways[i][1], bytes);
            cx_assert_ok(ctxrt_fill(ctxrt_memory_pointer(ways[i][1]), 0, BYTES));
            cx_assert_ok(ctxrt_copy_async(ctxrt_memory_pointer(ways[i][1]),
                                          ctxrt_memory_pointer(ways[i][0]), BYTES, CTXRT_COPY_ANY,
                                          NULL));
            cx_assert_ok(ctxrt_stream_synchronize(NULL));
            check_bytes(ways[i][1], bytes);
            ck_assert_int_eq(current_place(), current);
        }
        cx_assert_ok(ctxrt_stack_pop());
    }
    cx_assert_ok(ctxrt_memory_release(third));
    cx_assert_ok(ctxrt_memory_release(second));
    cx_assert_ok(ctxrt_memory_release(first));
}
END_TEST

typedef struct follower {
    ctxrt_stream *stream;
    ctxrt_event *event;
    atomic_bool returned;
} follower;

static atomic_int marks;

static void *wait_across(void *argument)
{
    follower *self = argument;
    cx_assert_ok(ctxrt_stream_wait_event(self->stream, self->event));
    atomic_store(&self->returned, true);
    cx_assert_ok(ctxrt_stream_add_host_function(self->stream, mark, &marks));
    return NULL;
}

START_TEST(an_event_of_either_driver_is_waited_for_by_a_stream_of_the_other)
{
    const ctxrt_device home = _i == 0 ? CTXRT_CPU(0) : CTXRT_CUDA(0);
    const ctxrt_device away = _i == 0 ? CTXRT_CUDA(0) : CTXRT_CPU(0);
    follower self = {.stream = NULL};
    pthread_t thread;
    gate barrier;
    cx_assert_ok(ctxrt_device_push(away));
    self.stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_device_push(home));
    self.event = create_event(CTXRT_EVENT_DEFAULT);
    gate_close(&barrier, NULL);
    cx_assert_ok(ctxrt_event_record(self.event, NULL));
    ck_assert_int_eq(pthread_create(&thread, NULL, wait_across, &self), 0);
    give_others_a_chance(self.stream);
    ck_assert(!atomic_load(&self.returned));
    cx_assert_status(ctxrt_event_query(self.event), CTXRT_ERROR_NOT_READY);
    gate_open(&barrier);
    pthread_join(thread, NULL);
    cx_assert_ok(ctxrt_event_query(self.event));
    cx_assert_ok(ctxrt_stream_synchronize(self.stream));
    ck_assert_int_eq(atomic_load(&marks), 1);
    cx_assert_ok(ctxrt_event_destroy(self.event));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stream_destroy(self.stream));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static ctxrt_allocator *current_allocator(void)
{
    ctxrt_allocator *allocator;
    cx_assert_ok(ctxrt_allocator_current(&allocator));
    return allocator;
}

START_TEST(each_frame_keeps_its_stream_and_allocator_and_takes_none_of_the_other_driver_s)
{
    enum { FRAMES = 6 };
    ctxrt_stream *streams[FRAMES];
    ctxrt_allocator *allocators[FRAMES];
    for (int i = 0; i < FRAMES; i++) {
        cx_assert_ok(ctxrt_device_push(two_drivers_device(i % 2)));
        streams[i] = create_stream(CTXRT_STREAM_NON_BLOCKING);
        cx_assert_ok(ctxrt_allocator_create(NULL, &allocators[i]));
        cx_assert_ok(ctxrt_frame_set_stream(streams[i]));
        cx_assert_ok(ctxrt_frame_set_allocator(allocators[i]));
        if (i == 0)
            continue;
        cx_assert_error(ctxrt_frame_set_stream(streams[i - 1]), CTXRT_ERROR_WRONG_CONTEXT);
        cx_assert_error(ctxrt_frame_set_allocator(allocators[i - 1]), CTXRT_ERROR_WRONG_CONTEXT);
    }
    for (int i = FRAMES - 1; i >= 0; i--) {
        void *pointer;
        ctxrt_allocator_figures figures;
        ctxrt_pointer_info info;
        ck_assert_ptr_eq(current_stream(), streams[i]);
        ck_assert_ptr_eq(current_allocator(), allocators[i]);
        cx_assert_ok(ctxrt_alloc(64, &pointer));
        cx_assert_ok(ctxrt_pointer_query(pointer, &info));
        ck_assert_int_eq(info.device.type, two_drivers_device(i % 2).type);
        cx_assert_ok(ctxrt_allocator_statistics(allocators[i], &figures));
        ck_assert_uint_eq(figures.current_bytes, 64);
        cx_assert_ok(ctxrt_stack_pop());
        cx_assert_ok(ctxrt_free(pointer));
        cx_assert_ok(ctxrt_stream_destroy(streams[i]));
        cx_assert_ok(ctxrt_allocator_destroy(allocators[i]));
    }
}
END_TEST

static void *attach_and_look(void *frames)
{
    ctxrt_detached_frame *const *detached = frames;
    cx_assert_ok(ctxrt_stack_attach(detached[1]));
    ck_assert_int_eq(current_place(), ON_GPU);
    cx_assert_ok(ctxrt_stack_attach(detached[0]));
    ck_assert_int_eq(current_place(), ON_CPU);
    cx_assert_ok(ctxrt_stack_pop());
    ck_assert_int_eq(current_place(), ON_GPU);
    cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

START_TEST(frames_of_both_drivers_are_handed_to_another_thread)
{
    ctxrt_detached_frame *detached[2];
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_device_push(CTXRT_CPU(0)));
    cx_assert_ok(ctxrt_stack_detach(&detached[0]));
    ck_assert_int_eq(current_place(), ON_GPU);
    cx_assert_ok(ctxrt_stack_detach(&detached[1]));
    ck_assert_uint_eq(ctxrt_stack_depth(), 0);
    on_a_thread(attach_and_look, detached);
}
END_TEST

/* ---- seeing, and the end ---- */

START_TEST(a_snapshot_names_the_frames_of_both)
{
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_device_push(CTXRT_CPU(0)));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_snapshot_write(file, CTXRT_SNAPSHOT_TEXT));
    fclose(file);
    const char *top = strstr(text, "cuda:0"), *middle = strstr(text, "cpu:0"),
               *bottom = strstr(text, "cuda:1");
    ck_assert_msg(top != NULL && middle > top && bottom > middle, "%s", text);
    free(text);
    for (int i = 0; i < 3; i++)
        cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_shutdown_gives_back_the_primaries_of_both_drivers)
{
    const char *reason;
    unsigned int flags;
    int active;
    ck_assert_msg(two_drivers_start(CTXRT_FOREIGN_FOLLOW, &reason), "%s", reason);
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_device_push(CTXRT_CPU(0)));
    (void)current_stream();
    cx_assert_error(ctxrt_shutdown(), CTXRT_ERROR_IN_USE);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "2 frames"));
    cx_assert_ok(ctxrt_stack_pop());
    (void)current_stream();
    cx_assert_ok(ctxrt_stack_pop());
    for (int driver = 0; driver < TWO_DRIVERS; driver++) {
        ck_assert_int_eq(cx_drivers[driver].table.primary_get_state(0, &flags, &active),
                         CXU_SUCCESS);
        ck_assert_int_eq(active, 1);
    }
    cx_assert_ok(ctxrt_shutdown());
    for (int driver = 0; driver < TWO_DRIVERS; driver++) {
        ck_assert_int_eq(cx_drivers[driver].table.primary_get_state(0, &flags, &active),
                         CXU_SUCCESS);
        ck_assert_int_eq(active, 0);
    }
}
END_TEST

static Suite *two_drivers_work_suite(void)
{
    Suite *suite = suite_create("work at two drivers");
    TCase *foreign = tcase_create("foreign");
    tcase_add_loop_test(
        foreign, what_other_code_does_at_one_driver_stays_out_of_the_other_whose_frame_is_on_top, 0,
        FOREIGN_LOOPS);
    tcase_add_loop_test(foreign,
                        a_change_at_the_other_driver_comes_to_light_when_its_frame_comes_to_the_top,
                        0, FOREIGN_LOOPS);
    tcase_add_loop_test(foreign,
                        a_scope_restores_the_frame_beneath_it_though_that_is_of_the_other_driver, 0,
                        FOREIGN_LOOPS);
    tcase_add_loop_test(
        foreign,
        a_pop_looks_beneath_the_entries_of_both_drivers_and_changes_nothing_if_one_is_wrong, 0, 2);
    tcase_add_loop_test(foreign, a_resync_mends_the_other_driver_under_the_frame_on_top, 0,
                        FOREIGN_LOOPS);
    tcase_add_test(foreign, a_shutdown_gives_back_the_primaries_of_both_drivers);
    suite_add_tcase(suite, foreign);

    TCase *work = tcase_create("work");
    tcase_add_checked_fixture(work, start, end);
    tcase_add_test(work, copies_go_between_the_drivers_whichever_is_current);
    tcase_add_loop_test(work, an_event_of_either_driver_is_waited_for_by_a_stream_of_the_other, 0,
                        2);
    tcase_add_test(work,
                   each_frame_keeps_its_stream_and_allocator_and_takes_none_of_the_other_driver_s);
    tcase_add_test(work, frames_of_both_drivers_are_handed_to_another_thread);
    tcase_add_test(work, a_snapshot_names_the_frames_of_both);
    suite_add_tcase(suite, work);
    return suite;
}

CX_TESTS(two_drivers_work_suite);
