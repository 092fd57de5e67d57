#include "gate.h"

#define BAD_STREAM ((ctxrt_stream *)(uintptr_t)0x1234567890)

static void start(void)
{
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
}

static void end(void)
{
    while (ctxrt_stack_depth() != 0)
        cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}

/* ---- what is current ---- */

START_TEST(null_means_the_current_stream_of_the_top_frame)
{
    ctxrt_context *context;
    ctxrt_stream *own = create_stream(CTXRT_STREAM_DEFAULT);
    cx_assert_ok(ctxrt_context_current(&context));
    cx_assert_ok(ctxrt_frame_set_stream(own));
    ck_assert_ptr_eq(current_stream(), own);
    ck_assert_ptr_eq(native_of(NULL), native_of(own));

    cx_assert_ok(ctxrt_stack_push(context));
    ck_assert_ptr_ne(current_stream(), own);
    ck_assert_ptr_ne(native_of(NULL), native_of(own));
    cx_assert_ok(ctxrt_stack_pop());

    ck_assert_ptr_eq(native_of(NULL), native_of(own));
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    ck_assert_ptr_ne(native_of(NULL), native_of(own));
    cx_assert_ok(ctxrt_stream_destroy(own));
}
END_TEST

START_TEST(a_frame_starts_with_the_thread_s_default_stream_of_its_context)
{
    ctxrt_stream *first = current_stream();
    ck_assert_ptr_eq(current_stream(), first);
    ck_assert_ptr_eq(native_of(NULL), native_of(first));
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    ctxrt_stream *second = current_stream();
    ck_assert_ptr_ne(second, first);
    ck_assert_ptr_eq(native_of(NULL), native_of(second));
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    ck_assert_ptr_eq(current_stream(), first);
    ck_assert_ptr_eq(native_of(NULL), native_of(first));
}
END_TEST

START_TEST(a_thread_keeps_its_default_streams_in_many_contexts)
{
    enum { CONTEXTS = 40 };
    ctxrt_context *contexts[CONTEXTS];
    ctxrt_stream *streams[CONTEXTS];
    for (int i = 0; i < CONTEXTS; i++) {
        cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(i % 4), 0, &contexts[i]));
        cx_assert_ok(ctxrt_stack_push(contexts[i]));
        streams[i] = current_stream();
        cx_assert_ok(ctxrt_stack_pop());
    }
    for (int i = 0; i < CONTEXTS; i++) {
        cx_assert_ok(ctxrt_stack_push(contexts[i]));
        ck_assert_ptr_eq(current_stream(), streams[i]);
        cx_assert_ok(ctxrt_stack_pop());
    }
    for (int i = 0; i < CONTEXTS; i++)
        cx_assert_ok(ctxrt_context_destroy(contexts[i]));
}
END_TEST

START_TEST(a_frame_refuses_a_stream_of_another_context)
{
    ctxrt_stream *elsewhere = create_stream(CTXRT_STREAM_DEFAULT);
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    ctxrt_stream *before = current_stream();
    cx_assert_error(ctxrt_frame_set_stream(elsewhere), CTXRT_ERROR_WRONG_CONTEXT);
    ck_assert_ptr_eq(current_stream(), before);
    cx_assert_ok(ctxrt_stream_destroy(elsewhere));
}
END_TEST

START_TEST(the_legacy_stream_can_be_a_frame_s_current_stream)
{
    cx_assert_ok(ctxrt_frame_set_stream(CTXRT_STREAM_LEGACY));
    ck_assert_ptr_eq(current_stream(), CTXRT_STREAM_LEGACY);
    ck_assert_ptr_eq(native_of(NULL), native_of(CTXRT_STREAM_LEGACY));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
}
END_TEST

static void *default_native(void *argument)
{
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    *(struct CUstream_st **)argument = native_of(NULL);
    cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

START_TEST(threads_have_different_default_streams)
{
    struct CUstream_st *other;
    struct CUstream_st *mine = native_of(NULL);
    on_a_thread(default_native, &other);
    ck_assert_ptr_ne(mine, other);
}
END_TEST

START_TEST(the_default_stream_of_an_ended_thread_is_used_again)
{
    struct CUstream_st *first, *second;
    on_a_thread(default_native, &first);
    on_a_thread(default_native, &second);
    ck_assert_ptr_eq(first, second);
    ck_assert_ptr_eq(native_of(NULL), first);
}
END_TEST

START_TEST(without_a_device_only_a_given_stream_can_be_used)
{
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_DEFAULT), *none = NULL;
    ctxrt_event *event = create_event(CTXRT_EVENT_DEFAULT);
    atomic_int marks = 0;
    cx_assert_ok(ctxrt_stack_pop());

    cx_assert_ok(ctxrt_event_record(event, stream));
    cx_assert_ok(ctxrt_stream_wait_event(stream, event));
    cx_assert_ok(ctxrt_stream_add_host_function(stream, mark, &marks));
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    cx_assert_ok(ctxrt_stream_query(stream));
    cx_assert_ok(ctxrt_event_query(event));
    cx_assert_ok(ctxrt_event_synchronize(event));
    ck_assert_int_eq(atomic_load(&marks), 1);
    ck_assert_uint_eq(ctxrt_stack_depth(), 0);

    ctxrt_stream *const implied[] = {NULL, CTXRT_STREAM_LEGACY};
    for (int i = 0; i < 2; i++) {
        cx_assert_error(ctxrt_stream_synchronize(implied[i]), CTXRT_ERROR_NO_DEVICE);
        cx_assert_error(ctxrt_stream_query(implied[i]), CTXRT_ERROR_NO_DEVICE);
        cx_assert_error(ctxrt_stream_wait_event(implied[i], event), CTXRT_ERROR_NO_DEVICE);
        cx_assert_error(ctxrt_event_record(event, implied[i]), CTXRT_ERROR_NO_DEVICE);
        cx_assert_error(ctxrt_stream_add_host_function(implied[i], mark, &marks),
                        CTXRT_ERROR_NO_DEVICE);
    }
    cx_assert_error(ctxrt_stream_create(0, 0, &none), CTXRT_ERROR_NO_DEVICE);
    cx_assert_error(ctxrt_stream_current(&none), CTXRT_ERROR_NO_DEVICE);
    cx_assert_error(ctxrt_frame_set_stream(NULL), CTXRT_ERROR_NO_DEVICE);
    cx_assert_error(ctxrt_device_synchronize(), CTXRT_ERROR_NO_DEVICE);
    ck_assert_ptr_null(none);

    /* T6: nothing need be current */
    cx_assert_ok(ctxrt_event_destroy(event));
    cx_assert_ok(ctxrt_stream_destroy(stream));
}
END_TEST

/* ---- arguments ---- */

static void assert_refused_everywhere(ctxrt_stream *stream, ctxrt_status status)
{
    ctxrt_event *event = create_event(CTXRT_EVENT_DEFAULT);
    ctxrt_context *context = NULL;
    struct CUstream_st *native = NULL;
    atomic_int marks = 0;
    cx_assert_error(ctxrt_stream_synchronize(stream), status);
    cx_assert_error(ctxrt_stream_query(stream), status);
    cx_assert_error(ctxrt_stream_wait_event(stream, event), status);
    cx_assert_error(ctxrt_stream_add_host_function(stream, mark, &marks), status);
    cx_assert_error(ctxrt_stream_context(stream, &context), status);
    cx_assert_error(ctxrt_stream_native(stream, &native), status);
    cx_assert_error(ctxrt_frame_set_stream(stream), status);
    cx_assert_error(ctxrt_event_record(event, stream), status);
    cx_assert_ok(ctxrt_device_synchronize());
    ck_assert_int_eq(atomic_load(&marks), 0);
    ck_assert_ptr_null(context);
    ck_assert_ptr_null(native);
    cx_assert_ok(ctxrt_event_destroy(event));
}

START_TEST(a_destroyed_stream_is_refused_everywhere)
{
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_DEFAULT);
    cx_assert_ok(ctxrt_stream_destroy(stream));
    assert_refused_everywhere(stream, CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_stream_destroy(stream), CTXRT_ERROR_INVALID_HANDLE);
}
END_TEST

START_TEST(what_never_was_a_stream_is_refused_everywhere)
{
    ctxrt_event *event = create_event(CTXRT_EVENT_DEFAULT);
    assert_refused_everywhere(BAD_STREAM, CTXRT_ERROR_INVALID_HANDLE);
    assert_refused_everywhere((ctxrt_stream *)event, CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_stream_destroy(BAD_STREAM), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_ok(ctxrt_event_destroy(event));
}
END_TEST

START_TEST(null_and_bad_arguments_are_refused)
{
    ctxrt_stream *stream = NULL;
    cx_assert_error(ctxrt_stream_create(0, 0, NULL), CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_stream_create(2, 0, &stream), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_stream_wait_event(NULL, NULL), CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_stream_add_host_function(NULL, NULL, NULL), CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_stream_context(NULL, NULL), CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_stream_native(NULL, NULL), CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_stream_from_native(NULL, &stream), CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_stream_from_native(native_of(NULL), NULL), CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_stream_current(NULL), CTXRT_ERROR_NULL_POINTER);
    cx_assert_ok(ctxrt_stream_destroy(NULL));
    ck_assert_ptr_null(stream);
}
END_TEST

START_TEST(priorities_beyond_the_range_of_the_device_are_clamped)
{
    const int priorities[] = {-1000, -1, 1000};
    for (int i = 0; i < 3; i++) {
        ctxrt_stream *stream;
        cx_assert_ok(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, priorities[i], &stream));
        cx_assert_ok(ctxrt_stream_destroy(stream));
    }
}
END_TEST

START_TEST(default_and_legacy_streams_cannot_be_destroyed)
{
    cx_assert_error(ctxrt_stream_destroy(current_stream()), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_stream_destroy(CTXRT_STREAM_LEGACY), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_stream_query(NULL));
}
END_TEST

static void *destroy_in_use(void *stream)
{
    cx_assert_error(ctxrt_stream_destroy(stream), CTXRT_ERROR_IN_USE);
    return NULL;
}

START_TEST(a_frame_s_current_stream_cannot_be_destroyed_by_any_thread)
{
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_DEFAULT);
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    destroy_in_use(stream);
    on_a_thread(destroy_in_use, stream);
    cx_assert_ok(ctxrt_stack_pop());
    ck_assert_ptr_eq(native_of(NULL), native_of(stream));
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_stream_destroy(stream));
}
END_TEST

START_TEST(a_wait_for_a_stream_ends_with_its_time_and_the_work_goes_on)
{
    ctxrt_stream *const streams[] = {NULL, create_stream(CTXRT_STREAM_NON_BLOCKING),
                                     CTXRT_STREAM_LEGACY};
    for (int i = 0; i < 3; i++) {
        atomic_int marks = 0;
        gate barrier;
        cx_assert_ok(ctxrt_stream_synchronize_for(streams[i], 0));
        gate_close(&barrier, streams[i]);
        cx_assert_ok(ctxrt_stream_add_host_function(streams[i], mark, &marks));
        cx_assert_error(ctxrt_stream_synchronize_for(streams[i], 0), CTXRT_ERROR_NOT_READY);
        cx_assert_error(ctxrt_stream_synchronize_for(streams[i], 3), CTXRT_ERROR_NOT_READY);
        ck_assert_int_eq(atomic_load(&marks), 0);
        gate_open(&barrier);
        cx_assert_ok(ctxrt_stream_synchronize_for(streams[i], 600000));
        ck_assert_int_eq(atomic_load(&marks), 1);
        cx_assert_ok(ctxrt_stream_synchronize_for(streams[i], UINT64_MAX));
    }
    cx_assert_ok(ctxrt_stream_destroy(streams[1]));
}
END_TEST

typedef struct stream_waiter {
    ctxrt_stream *stream;
    atomic_int *waits;
} stream_waiter;

static void *wait_until_reset(void *argument)
{
    const stream_waiter *self = argument;
    cx_assert_error(ctxrt_stream_synchronize_for(self->stream, 0), CTXRT_ERROR_NOT_READY);
    atomic_store(self->waits, 1);
    ctxrt_status status = ctxrt_stream_synchronize_for(self->stream, 600000);
    ck_assert(status == CTXRT_SUCCESS || status == CTXRT_ERROR_CONTEXT_DESTROYED);
    return NULL;
}

static void *reset_device_0(void *argument)
{
    *(ctxrt_status *)argument = ctxrt_device_reset(CTXRT_CUDA(0));
    return NULL;
}

/* The thread that waits keeps nothing from the reset between its queries. Once the gate is open,
 * either of the two comes first. */
START_TEST(a_reset_ends_a_wait_with_a_time_limit)
{
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    atomic_int waits = 0;
    stream_waiter self = {stream, &waits};
    pthread_t thread;
    gate barrier;
    gate_close(&barrier, stream);
    ck_assert_int_eq(pthread_create(&thread, NULL, wait_until_reset, &self), 0);
    while (atomic_load(&waits) == 0)
        sched_yield();
    ctxrt_status status;
    pthread_t resetting;
    ck_assert_int_eq(pthread_create(&resetting, NULL, reset_device_0, &status), 0);
    gate_open(&barrier);
    ck_assert_int_eq(pthread_join(resetting, NULL), 0);
    cx_assert_ok(status);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    cx_assert_error(ctxrt_stream_synchronize_for(stream, 1), CTXRT_ERROR_CONTEXT_DESTROYED);
    cx_assert_ok(ctxrt_stream_destroy(stream));
}
END_TEST

START_TEST(a_stream_knows_its_context)
{
    ctxrt_context *here, *there, *found;
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_DEFAULT);
    cx_assert_ok(ctxrt_context_current(&here));
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_context_current(&there));
    cx_assert_ok(ctxrt_stream_context(stream, &found));
    ck_assert_ptr_eq(found, here);
    cx_assert_ok(ctxrt_stream_context(NULL, &found));
    ck_assert_ptr_eq(found, there);
    cx_assert_ok(ctxrt_stream_context(CTXRT_STREAM_LEGACY, &found));
    ck_assert_ptr_eq(found, there);
    cx_assert_ok(ctxrt_stream_destroy(stream));
}
END_TEST

START_TEST(destroying_the_handle_of_a_foreign_stream_leaves_the_stream_alone)
{
    ctxrt_stream *owner = create_stream(CTXRT_STREAM_DEFAULT), *wrapped;
    cx_assert_ok(ctxrt_stream_from_native(native_of(owner), &wrapped));
    ck_assert_ptr_ne(wrapped, owner);
    ck_assert_ptr_eq(native_of(wrapped), native_of(owner));
    cx_assert_ok(ctxrt_stream_synchronize(wrapped));
    cx_assert_ok(ctxrt_stream_destroy(wrapped));
    cx_assert_error(ctxrt_stream_query(wrapped), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_ok(ctxrt_stream_query(owner));
    cx_assert_ok(ctxrt_stream_destroy(owner));
}
END_TEST

/* T2: the driver says whose a stream is. */
START_TEST(a_foreign_stream_of_another_context_is_refused)
{
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_DEFAULT), *wrapped = NULL;
    struct CUstream_st *native = native_of(stream);
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    cx_assert_error(ctxrt_stream_from_native(native, &wrapped), CTXRT_ERROR_WRONG_CONTEXT);
    cx_assert_error(ctxrt_stream_from_native((struct CUstream_st *)1, &wrapped),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_stream_from_native((struct CUstream_st *)2, &wrapped),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_error(ctxrt_stream_from_native(native, &wrapped), CTXRT_ERROR_INVALID_HANDLE);
    ck_assert_ptr_null(wrapped);
}
END_TEST

/* ---- the end of a context ---- */

START_TEST(a_stream_keeps_its_context_from_being_destroyed)
{
    ctxrt_context *context;
    ctxrt_stream *stream, *thread_s;
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(1), 0, &context));
    cx_assert_ok(ctxrt_stack_push(context));
    stream = create_stream(CTXRT_STREAM_DEFAULT);
    thread_s = current_stream();
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_error(ctxrt_context_destroy(context), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_stream_query(thread_s));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_context_destroy(context));
    assert_refused_everywhere(thread_s, CTXRT_ERROR_INVALID_HANDLE);
}
END_TEST

START_TEST(a_new_context_in_the_place_of_an_old_one_gets_new_default_streams)
{
    ctxrt_context *context;
    ctxrt_stream *before = NULL;
    for (int i = 0; i < 20; i++) {
        cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(1), 0, &context));
        cx_assert_ok(ctxrt_stack_push(context));
        cx_assert_ok(ctxrt_stream_synchronize(NULL));
        ck_assert_ptr_ne(current_stream(), before);
        before = current_stream();
        cx_assert_ok(ctxrt_stack_pop());
        cx_assert_ok(ctxrt_context_destroy(context));
    }
}
END_TEST

/* P3: a reset destroys the context's streams. */
START_TEST(after_a_reset_streams_say_so_and_can_be_destroyed)
{
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_DEFAULT), *wrapped;
    ctxrt_stream *thread_s = current_stream();
    cx_assert_ok(ctxrt_stream_from_native(native_of(stream), &wrapped));
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    assert_refused_everywhere(stream, CTXRT_ERROR_CONTEXT_DESTROYED);
    assert_refused_everywhere(wrapped, CTXRT_ERROR_CONTEXT_DESTROYED);
    assert_refused_everywhere(thread_s, CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    ck_assert_ptr_ne(current_stream(), thread_s);
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_stream_destroy(wrapped));
}
END_TEST

START_TEST(idle_default_streams_go_with_a_reset)
{
    struct CUstream_st *native;
    on_a_thread(default_native, &native);
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    cx_assert_ok(ctxrt_stream_synchronize(current_stream()));
}
END_TEST

START_TEST(after_a_reset_a_frame_needs_another_stream_than_the_one_it_lost)
{
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_DEFAULT);
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    cx_assert_error(ctxrt_stream_synchronize(NULL), CTXRT_ERROR_CONTEXT_DESTROYED);
    cx_assert_error(ctxrt_stream_destroy(stream), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    cx_assert_ok(ctxrt_stream_destroy(stream));
}
END_TEST

/* ---- threads ---- */

enum { ROUNDS = 2000 };

typedef struct contest {
    pthread_barrier_t barrier;
    ctxrt_stream *stream;
    ctxrt_status destroyed;
} contest;

static void *destroy_each_round(void *argument)
{
    contest *with = argument;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&with->barrier);
        with->destroyed = ctxrt_stream_destroy(with->stream);
        pthread_barrier_wait(&with->barrier);
    }
    return NULL;
}

START_TEST(a_stream_is_either_destroyed_or_made_current_never_both)
{
    contest with;
    pthread_t thread;
    ck_assert_int_eq(pthread_barrier_init(&with.barrier, NULL, 2), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, destroy_each_round, &with), 0);
    for (int i = 0; i < ROUNDS; i++) {
        with.stream = create_stream(CTXRT_STREAM_DEFAULT);
        pthread_barrier_wait(&with.barrier);
        ctxrt_status set = ctxrt_frame_set_stream(with.stream);
        pthread_barrier_wait(&with.barrier);
        if (set == CTXRT_SUCCESS) {
            cx_assert_status(with.destroyed, CTXRT_ERROR_IN_USE);
            cx_assert_ok(ctxrt_stream_query(NULL));
            cx_assert_ok(ctxrt_frame_set_stream(NULL));
            cx_assert_ok(ctxrt_stream_destroy(with.stream));
        } else if (with.destroyed == CTXRT_ERROR_IN_USE) {
            cx_assert_ok(ctxrt_stream_destroy(with.stream)); /* each saw the other and gave way */
        }
    }
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&with.barrier);
}
END_TEST

static void *work_on_all_devices(void *argument)
{
    for (int i = 0; i < 50; i++) {
        cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(i % 4)));
        cx_assert_ok(ctxrt_stream_add_host_function(NULL, mark, argument));
        cx_assert_ok(ctxrt_stream_synchronize(NULL));
    }
    cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

START_TEST(threads_that_come_and_go_share_the_idle_default_streams)
{
    enum { THREADS = 8, WAVES = 5 };
    atomic_int marks = 0;
    for (int wave = 0; wave < WAVES; wave++) {
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++)
            ck_assert_int_eq(pthread_create(&threads[i], NULL, work_on_all_devices, &marks), 0);
        for (int i = 0; i < THREADS; i++)
            ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    }
    ck_assert_int_eq(atomic_load(&marks), THREADS * WAVES * 50);
}
END_TEST

static Suite *stream_suite(void)
{
    Suite *suite = suite_create("stream");
    TCase *all = tcase_create("stream");
    tcase_add_checked_fixture(all, start, end);
    tcase_add_test(all, null_means_the_current_stream_of_the_top_frame);
    tcase_add_test(all, a_frame_starts_with_the_thread_s_default_stream_of_its_context);
    tcase_add_test(all, a_thread_keeps_its_default_streams_in_many_contexts);
    tcase_add_test(all, a_frame_refuses_a_stream_of_another_context);
    tcase_add_test(all, the_legacy_stream_can_be_a_frame_s_current_stream);
    tcase_add_test(all, threads_have_different_default_streams);
    tcase_add_test(all, the_default_stream_of_an_ended_thread_is_used_again);
    tcase_add_test(all, without_a_device_only_a_given_stream_can_be_used);
    tcase_add_test(all, a_destroyed_stream_is_refused_everywhere);
    tcase_add_test(all, what_never_was_a_stream_is_refused_everywhere);
    tcase_add_test(all, null_and_bad_arguments_are_refused);
    tcase_add_test(all, priorities_beyond_the_range_of_the_device_are_clamped);
    tcase_add_test(all, default_and_legacy_streams_cannot_be_destroyed);
    tcase_add_test(all, a_frame_s_current_stream_cannot_be_destroyed_by_any_thread);
    tcase_add_test(all, a_stream_knows_its_context);
    tcase_add_test(all, destroying_the_handle_of_a_foreign_stream_leaves_the_stream_alone);
    tcase_add_test(all, a_foreign_stream_of_another_context_is_refused);
    tcase_add_test(all, a_stream_keeps_its_context_from_being_destroyed);
    tcase_add_test(all, a_new_context_in_the_place_of_an_old_one_gets_new_default_streams);
    tcase_add_test(all, after_a_reset_streams_say_so_and_can_be_destroyed);
    tcase_add_test(all, idle_default_streams_go_with_a_reset);
    tcase_add_test(all, after_a_reset_a_frame_needs_another_stream_than_the_one_it_lost);
    tcase_add_test(all, a_stream_is_either_destroyed_or_made_current_never_both);
    tcase_add_test(all, threads_that_come_and_go_share_the_idle_default_streams);
    tcase_add_test(all, a_wait_for_a_stream_ends_with_its_time_and_the_work_goes_on);
    tcase_add_test(all, a_reset_ends_a_wait_with_a_time_limit);
    suite_add_tcase(suite, all);
    return suite;
}

CX_TESTS(stream_suite);
