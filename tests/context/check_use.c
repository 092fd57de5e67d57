/* Sections, pins and epochs of a context that another thread resets. */
#include "faults.h"
#include "fixture.h"
#include "test.h"

#include "work/event.h"
#include "work/kernel.h"
#include "work/work.h"
#include <sched.h>

static cx_context *primary(void)
{
    cx_device *device;
    cx_assert_ok(cx_device_find(CTXRT_CUDA(0), &device));
    return atomic_load(&device->primary);
}

static uint32_t epoch(void)
{
    return atomic_load(&primary()->epoch);
}

static void set_up(void)
{
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
}

static void tear_down(void)
{
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}

static void *reset(void *argument)
{
    (void)argument;
    return (void *)(intptr_t)ctxrt_device_reset(CTXRT_CUDA(0));
}

static pthread_t start_reset(void)
{
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, reset, NULL), 0);
    return thread;
}

/* The calling thread pins the context: the reset begins, and waits. */
static pthread_t start_reset_of_pinned(cx_context *context)
{
    uint32_t before = epoch();
    cx_assert_ok(cx_context_enter(context));
    cx_context_pin(context);
    cx_section_leave();
    pthread_t thread = start_reset();
    while (epoch() == before)
        sched_yield();
    return thread;
}

static void join_reset(pthread_t thread)
{
    void *status;
    ck_assert_int_eq(pthread_join(thread, &status), 0);
    ck_assert_int_eq((int)(intptr_t)status, CTXRT_SUCCESS);
}

START_TEST(a_reset_adds_two_to_the_epoch)
{
    uint32_t before = epoch();
    ck_assert_uint_eq(before % 2, 0);
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    ck_assert_uint_eq(epoch(), before + 2);
}
END_TEST

START_TEST(a_thread_without_frames_resets_a_device_beside_memory_of_another_one)
{
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_memory_alloc(64, &memory));
    join_reset(start_reset());
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
}
END_TEST

START_TEST(a_refused_reset_leaves_the_epoch_and_the_objects_as_they_were)
{
    ctxrt_stream *stream;
    uint32_t before = epoch();
    cx_assert_ok(ctxrt_stream_create(0, 0, &stream));
    faults_install(primary()->driver);
    faults_arm(1, CXU_UNKNOWN, FAULT_DEAD);
    cx_assert_error(ctxrt_device_reset(CTXRT_CUDA(0)), CTXRT_ERROR_DRIVER);
    (void)faults_disarm();
    faults_remove();
    ck_assert_uint_eq(epoch(), before);
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    cx_assert_ok(ctxrt_stream_destroy(stream));
}
END_TEST

START_TEST(a_reset_waits_for_a_pinned_thread_and_a_thread_that_enters_waits_for_the_reset)
{
    cx_context *context = primary();
    uint32_t before = epoch();
    pthread_t thread = start_reset_of_pinned(context);
    ck_assert(cx_context_is_resetting(context));
    ck_assert_uint_eq(cx_context_next_epoch(context), before + 2);
    for (int i = 0; i < 1000; i++)
        sched_yield();
    ck_assert_uint_eq(epoch(), before + 1);
    cx_context_unpin(context);

    cx_assert_ok(cx_context_enter(context));
    ck_assert_uint_eq(epoch(), before + 2);
    cx_section_leave();
    join_reset(thread);
}
END_TEST

/* The thread may still write what the reset reads, as a request that was refused does. */
START_TEST(a_reset_waits_for_a_thread_that_has_unpinned_in_a_section_and_is_still_in_it)
{
    cx_context *context = primary();
    uint32_t before = epoch();
    pthread_t thread = start_reset_of_pinned(context);
    cx_section_enter();
    cx_context_unpin(context);
    for (int i = 0; i < 1000 && epoch() == before + 1; i++)
        sched_yield();
    ck_assert_uint_eq(epoch(), before + 1);
    cx_section_leave();
    join_reset(thread);
    ck_assert_uint_eq(epoch(), before + 2);
}
END_TEST

START_TEST(a_reset_does_not_begin_while_a_thread_is_in_a_section)
{
    uint32_t before = epoch();
    cx_assert_ok(cx_context_enter(primary()));
    pthread_t thread = start_reset();
    while (!atomic_load(&cx_sections_closed))
        sched_yield();
    ck_assert_uint_eq(epoch(), before);
    cx_section_leave();
    join_reset(thread);
    ck_assert_uint_eq(epoch(), before + 2);
}
END_TEST

START_TEST(in_a_section_a_context_that_is_being_reset_is_refused)
{
    cx_context *context = primary();
    pthread_t thread = start_reset_of_pinned(context);
    cx_section_enter();
    cx_assert_error(cx_context_enter(context), CTXRT_ERROR_CONTEXT_DESTROYED);
    ck_assert(cx_section_is_entered());
    cx_section_leave();
    ck_assert(!cx_section_is_entered());
    cx_context_unpin(context);
    join_reset(thread);
}
END_TEST

/* ---- work ---- */

START_TEST(work_knows_the_current_the_legacy_and_any_other_stream)
{
    ctxrt_stream *stream;
    cx_stream_target target;
    cx_assert_ok(ctxrt_stream_create(0, 0, &stream));
    for (int round = 0; round < 2; round++) {
        cx_assert_ok(cx_work_begin(NULL, &target));
        ck_assert(cx_section_is_entered());
        cx_work_end();
        ck_assert(!cx_section_is_entered());
        ck_assert_ptr_eq(target.context, primary());
        ck_assert_ptr_ne(target.stream, stream);
        cx_assert_ok(cx_work_begin(CTXRT_STREAM_LEGACY, &target));
        cx_work_end();
        ck_assert_ptr_eq(target.native, CXU_STREAM_LEGACY);
        cx_assert_ok(cx_work_begin(stream, &target));
        cx_work_end();
        ck_assert_ptr_eq(target.stream, stream);
        ck_assert_uint_eq(target.epoch, epoch());
    }
    cx_assert_ok(ctxrt_stream_destroy(stream));
}
END_TEST

START_TEST(refused_work_is_in_no_section)
{
    ctxrt_stream *stream;
    cx_stream_target target;
    cx_assert_ok(ctxrt_stream_create(0, 0, &stream));
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    cx_assert_error(cx_work_begin(stream, &target), CTXRT_ERROR_CONTEXT_DESTROYED);
    ck_assert(!cx_section_is_entered());
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_error(cx_work_begin(stream, &target), CTXRT_ERROR_INVALID_HANDLE);
    ck_assert(!cx_section_is_entered());
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_error(cx_work_begin(NULL, &target), CTXRT_ERROR_NO_DEVICE);
    cx_assert_error(cx_work_begin(CTXRT_STREAM_LEGACY, &target), CTXRT_ERROR_NO_DEVICE);
    ck_assert(!cx_section_is_entered());
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
}
END_TEST

/* The current stream of before, NULL and LEGACY are good again once the reset is over. */
static void begin_work_beside_a_reset(ctxrt_stream *stream, ctxrt_status expected)
{
    cx_stream_target target;
    cx_context *context = primary();
    uint32_t before = epoch();
    cx_assert_ok(cx_work_begin(NULL, &target));
    int cancel = cx_work_begin_wait(context);
    pthread_t thread = start_reset();
    while (epoch() == before)
        sched_yield();
    cx_work_end_wait(context, cancel);
    cx_assert_status(cx_work_begin(stream, &target), expected);
    if (expected == CTXRT_SUCCESS) {
        ck_assert_uint_eq(target.epoch, before + 2);
        cx_work_end();
    }
    join_reset(thread);
}

START_TEST(work_waits_while_its_context_is_being_reset)
{
    ctxrt_stream *stream;
    cx_assert_ok(ctxrt_stream_create(0, 0, &stream));
    begin_work_beside_a_reset(NULL, CTXRT_SUCCESS);
    begin_work_beside_a_reset(CTXRT_STREAM_LEGACY, CTXRT_SUCCESS);
    begin_work_beside_a_reset(stream, CTXRT_ERROR_CONTEXT_DESTROYED);
    cx_assert_ok(ctxrt_stream_destroy(stream));
}
END_TEST

static void *release(void *argument)
{
    atomic_int *done = argument;
    ctxrt_status status = ctxrt_device_release(CTXRT_CUDA(1));
    atomic_store(done, 1);
    return (void *)(intptr_t)status;
}

START_TEST(a_release_waits_for_a_pinned_thread)
{
    pthread_t thread;
    cx_device *device;
    cx_context *context;
    void *status;
    atomic_int done = 0;
    cx_assert_ok(cx_device_find(CTXRT_CUDA(1), &device));
    cx_assert_ok(cx_context_primary(device, &context));
    cx_assert_ok(cx_context_enter(context));
    cx_context_pin(context);
    cx_section_leave();
    ck_assert_int_eq(pthread_create(&thread, NULL, release, &done), 0);
    while (atomic_load(&device->primary) != NULL)
        sched_yield();
    for (int i = 0; i < 1000; i++)
        sched_yield();
    ck_assert_int_eq(atomic_load(&done), 0);
    cx_context_unpin(context);
    ck_assert_int_eq(pthread_join(thread, &status), 0);
    ck_assert_int_eq((int)(intptr_t)status, CTXRT_SUCCESS);
}
END_TEST

typedef struct unloading {
    ctxrt_module *module;
    atomic_int done;
} unloading;

static void *unload(void *argument)
{
    unloading *self = argument;
    ctxrt_status status = ctxrt_module_unload(self->module);
    atomic_store(&self->done, 1);
    return (void *)(intptr_t)status;
}

START_TEST(an_unload_waits_for_a_thread_that_has_found_a_kernel_of_the_module)
{
    static const char nothing[] = ".version 7.0\n.target sm_50\n.address_size 64\n"
                                  ".visible .entry nothing()\n{\n    ret;\n}\n";
    unloading self = {.done = 0};
    ctxrt_kernel *handle;
    cx_kernel *kernel, *again;
    cx_stream_target target;
    pthread_t thread;
    void *status;
    cx_assert_ok(ctxrt_module_load(nothing, 0, &self.module));
    cx_assert_ok(ctxrt_module_get_kernel(self.module, "nothing", &handle));
    cx_assert_ok(cx_work_begin(NULL, &target));
    cx_assert_ok(cx_kernel_look(handle, &kernel));
    ck_assert_int_eq(pthread_create(&thread, NULL, unload, &self), 0);
    while (cx_kernel_look(handle, &again) == CTXRT_SUCCESS)
        sched_yield();
    for (int i = 0; i < 1000; i++)
        sched_yield();
    ck_assert_int_eq(atomic_load(&self.done), 0);
    ck_assert_str_eq(kernel->name, "nothing");
    cx_work_end();
    ck_assert_int_eq(pthread_join(thread, &status), 0);
    ck_assert_int_eq((int)(intptr_t)status, CTXRT_SUCCESS);
}
END_TEST

static Suite *use_suite(void)
{
    Suite *suite = suite_create("use");
    TCase *tcase = tcase_create("use");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_reset_adds_two_to_the_epoch);
    tcase_add_test(tcase, a_thread_without_frames_resets_a_device_beside_memory_of_another_one);
    tcase_add_test(tcase, a_refused_reset_leaves_the_epoch_and_the_objects_as_they_were);
    tcase_add_test(
        tcase, a_reset_waits_for_a_pinned_thread_and_a_thread_that_enters_waits_for_the_reset);
    tcase_add_test(tcase,
                   a_reset_waits_for_a_thread_that_has_unpinned_in_a_section_and_is_still_in_it);
    tcase_add_test(tcase, a_reset_does_not_begin_while_a_thread_is_in_a_section);
    tcase_add_test(tcase, in_a_section_a_context_that_is_being_reset_is_refused);
    tcase_add_test(tcase, work_knows_the_current_the_legacy_and_any_other_stream);
    tcase_add_test(tcase, refused_work_is_in_no_section);
    tcase_add_test(tcase, work_waits_while_its_context_is_being_reset);
    tcase_add_test(tcase, a_release_waits_for_a_pinned_thread);
    tcase_add_test(tcase, an_unload_waits_for_a_thread_that_has_found_a_kernel_of_the_module);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(use_suite);
