/*
 * What the runtime makes of errors that stick, and of a GPU that is lost: whoever uses the device
 * is told, whatever it was is given back, other devices go on as far as the driver lets them, and
 * the runtime can be shut down.
 */
#include "fixture.h"
#include "test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BYTES ((size_t)4096)

/* Everything that a program can have of a device. */
typedef struct belongings {
    ctxrt_context *created;
    ctxrt_stream *stream;
    ctxrt_event *event;
    ctxrt_memory *memory, *pinned;
    ctxrt_allocator *allocator;
    void *raw, *async_raw, *managed, *registered;
    ctxrt_scope scope;
    ctxrt_detached_frame *detached;
} belongings;

static void set_fault(const char *faults)
{
    ck_assert_int_eq(setenv("CTXRT_EMU_FAULT", faults, 1), 0);
    cx_fixture_start_with(2, CTXRT_FOREIGN_FOLLOW);
}

static void take_everything(belongings *own)
{
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &own->stream));
    cx_assert_ok(ctxrt_event_create(0, &own->event));
    cx_assert_ok(ctxrt_event_record(own->event, own->stream));
    cx_assert_ok(ctxrt_memory_alloc(BYTES, &own->memory));
    cx_assert_ok(ctxrt_memory_record_stream(own->memory, own->stream));
    cx_assert_ok(ctxrt_memory_alloc_pinned(BYTES, &own->pinned));
    cx_assert_ok(ctxrt_allocator_create(NULL, &own->allocator));
    cx_assert_ok(ctxrt_alloc(BYTES, &own->raw));
    cx_assert_ok(ctxrt_alloc_async(BYTES, NULL, &own->async_raw));
    cx_assert_ok(ctxrt_alloc_managed(BYTES, &own->managed));
    own->registered = aligned_alloc(4096, 4096);
    ck_assert_ptr_nonnull(own->registered);
    cx_assert_ok(ctxrt_host_register(own->registered, 4096));
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(0), 0, &own->created));
    cx_assert_ok(ctxrt_stack_push(own->created));
    cx_assert_ok(ctxrt_stack_detach(&own->detached));
    cx_assert_ok(ctxrt_scope_enter(CTXRT_CUDA(0), &own->scope));
}

/* With the word of the driver, or where there is nothing to tell: it is gone either way. */
static void ck_given_back(ctxrt_status status, const char *error)
{
    if (status == CTXRT_SUCCESS)
        return;
    cx_assert_status(status, CTXRT_ERROR_DRIVER);
    ck_assert_str_eq(ctxrt_last_error()->driver_result_name, error);
}

static void give_everything_back(belongings *own, const char *error)
{
    ck_given_back(ctxrt_stack_attach(own->detached), error);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_scope_leave(&own->scope));
    ck_given_back(ctxrt_context_destroy(own->created), error);
    ck_given_back(ctxrt_memory_release(own->memory), error);
    ck_given_back(ctxrt_memory_release(own->pinned), error);
    ck_given_back(ctxrt_free(own->raw), error);
    if (ctxrt_free_async(own->async_raw, NULL) !=
        CTXRT_SUCCESS) /* there is no stream to wait for it */
        ck_given_back(ctxrt_free(own->async_raw), error);
    ck_given_back(ctxrt_free(own->managed), error);
    ck_given_back(ctxrt_host_unregister(own->registered), error);
    ck_given_back(ctxrt_allocator_destroy(own->allocator), error);
    ck_given_back(ctxrt_event_destroy(own->event), error);
    ck_given_back(ctxrt_stream_destroy(own->stream), error);
    free(own->registered);
    cx_assert_ok(ctxrt_stack_pop());
    /* Gone means gone. */
    cx_assert_error(ctxrt_stream_destroy(own->stream), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_memory_release(own->memory), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_context_destroy(own->created), CTXRT_ERROR_INVALID_HANDLE);
}

#define ck_told(call, error)                                               \
    do {                                                                   \
        cx_assert_error(call, CTXRT_ERROR_DRIVER);                         \
        ck_assert_str_eq(ctxrt_last_error()->driver_result_name, error);   \
        ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, error)); \
    } while (0)

static void do_nothing(void *unused)
{
    (void)unused;
}

static void ck_all_work_is_refused(const belongings *own, const char *error)
{
    ctxrt_memory *memory = NULL;
    ctxrt_stream *stream = NULL;
    size_t free_bytes = 77, total = 77;
    void *there = ctxrt_memory_pointer(own->memory), *raw = NULL;
    char host[8] = {0};

    for (int again = 0; again < 2; again++) {
        ck_told(ctxrt_device_synchronize(), error);
        ck_told(ctxrt_stream_synchronize(own->stream), error);
        ck_told(ctxrt_stream_synchronize(CTXRT_STREAM_LEGACY), error);
        ck_told(ctxrt_stream_query(own->stream), error);
        ck_told(ctxrt_event_query(own->event), error);
        ck_told(ctxrt_event_synchronize(own->event), error);
        ck_told(ctxrt_event_record(own->event, own->stream), error);
        ck_told(ctxrt_stream_wait_event(own->stream, own->event), error);
        ck_told(ctxrt_stream_add_host_function(own->stream, do_nothing, NULL), error);
        /* more than allocators keep */
        ck_told(ctxrt_memory_alloc((size_t)64 << 20, &memory), error);
        ck_told(ctxrt_memory_alloc_pinned((size_t)64 << 20, &memory), error);
        ck_told(ctxrt_alloc((size_t)64 << 20, &raw), error);
        ck_told(ctxrt_stream_create(0, 0, &stream), error);
        ck_told(ctxrt_fill(there, 0, 8), error);
        ck_told(ctxrt_copy(host, there, 8, CTXRT_COPY_DEVICE_TO_HOST), error);
        ck_told(ctxrt_copy_async(there, host, 8, CTXRT_COPY_HOST_TO_DEVICE, own->stream), error);
        ck_told(ctxrt_device_memory_info(CTXRT_CUDA(0), &free_bytes, &total), error);
    }
    ck_assert(!memory && !raw && !stream && free_bytes == 77 && total == 77);
}

static void ck_device_works(ctxrt_device device)
{
    ctxrt_memory *memory;
    unsigned char out[64];

    cx_assert_ok(ctxrt_device_push(device));
    cx_assert_ok(ctxrt_memory_alloc(sizeof out, &memory));
    cx_assert_ok(ctxrt_fill(ctxrt_memory_pointer(memory), 5, sizeof out));
    cx_assert_ok(
        ctxrt_copy(out, ctxrt_memory_pointer(memory), sizeof out, CTXRT_COPY_DEVICE_TO_HOST));
    ck_assert_int_eq(out[sizeof out - 1], 5);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_stack_pop());
}

/* The stack is bookkeeping: it goes on as if nothing had happened. */
static void ck_the_stack_works(void)
{
    size_t depth = ctxrt_stack_depth();
    ctxrt_device device;
    ctxrt_frame_info frame;
    ctxrt_context *context;
    FILE *sink = fopen("/dev/null", "w");

    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_device_get(&device));
    ck_assert_int_eq(device.index, 0);
    cx_assert_ok(ctxrt_context_current(&context));
    cx_assert_ok(ctxrt_stack_peek(0, &frame));
    cx_assert_ok(ctxrt_stack_pop());
    ck_assert_uint_eq(ctxrt_stack_depth(), depth);
    ck_assert_ptr_nonnull(sink);
    cx_assert_ok(ctxrt_snapshot_write(sink, CTXRT_SNAPSHOT_JSON));
    fclose(sink);
}

static const struct {
    const char *faults;
    const char *sticky; /* CTXRT_EMU_STICKY */
    const char *error;
    int other_works; /* the other GPU goes on */
    int reset_helps;
} failures[] = {
    {"cuMemsetD8Async@1:ILLEGAL_ADDRESS:async", NULL, "CUDA_ERROR_ILLEGAL_ADDRESS", 0, 0},
    {"cuMemsetD8Async@1:LAUNCH_TIMEOUT:async", "context", "CUDA_ERROR_LAUNCH_TIMEOUT", 1, 1},
    {"cuMemsetD8Async@1:ASSERT:async", NULL, "CUDA_ERROR_ASSERT", 1, 1},
    {"cuMemsetD8Async@1:ECC_UNCORRECTABLE:async", NULL, "CUDA_ERROR_ECC_UNCORRECTABLE", 1, 1},
};
#define FAILURES ((int)(sizeof failures / sizeof failures[0]))

static void spoil(int which, belongings *own)
{
    ctxrt_status status;

    if (failures[which].sticky)
        ck_assert_int_eq(setenv("CTXRT_EMU_STICKY", failures[which].sticky, 1), 0);
    set_fault(failures[which].faults);
    take_everything(own);
    cx_assert_ok(ctxrt_fill_async(ctxrt_memory_pointer(own->memory), 1, BYTES, NULL));
    status = ctxrt_device_synchronize();
    ck_told(status, failures[which].error);
}

START_TEST(work_in_a_useless_context_is_refused_with_the_drivers_word)
{
    belongings own = {0};

    spoil(_i, &own);
    ck_all_work_is_refused(&own, failures[_i].error);
    ck_the_stack_works();
    ck_device_works(CTXRT_CPU(0));
    if (failures[_i].other_works)
        ck_device_works(CTXRT_CUDA(1));
    give_everything_back(&own, failures[_i].error);
    cx_fixture_end();
}
END_TEST

START_TEST(a_useless_context_is_in_use_until_its_belongings_are_given_back)
{
    belongings own = {0};

    spoil(_i, &own);
    cx_assert_error(ctxrt_device_release(CTXRT_CUDA(0)), CTXRT_ERROR_IN_USE);
    cx_assert_error(ctxrt_context_destroy(own.created), CTXRT_ERROR_IN_USE);
    cx_assert_error(ctxrt_shutdown(), CTXRT_ERROR_IN_USE);
    give_everything_back(&own, failures[_i].error);
    cx_assert_ok(ctxrt_device_release(CTXRT_CUDA(0)));
    cx_fixture_end();
}
END_TEST

START_TEST(a_reset_makes_the_device_usable_again_or_says_why_not)
{
    belongings own = {0};
    ctxrt_status status;

    spoil(_i, &own);
    status = ctxrt_device_reset(CTXRT_CUDA(0));
    if (failures[_i].reset_helps) {
        cx_assert_ok(status);
        ck_device_works(CTXRT_CUDA(0));
    } else {
        ck_told(status, failures[_i].error);
        cx_assert_error(ctxrt_device_synchronize(), CTXRT_ERROR_CONTEXT_DESTROYED);
        ck_told(ctxrt_device_reset(CTXRT_CUDA(0)), failures[_i].error);
    }
    give_everything_back(&own, failures[_i].error);
    cx_fixture_end();
}
END_TEST

START_TEST(the_runtime_starts_again_after_a_failure_and_says_how_it_stands)
{
    belongings own = {0};

    spoil(_i, &own);
    give_everything_back(&own, failures[_i].error);
    cx_fixture_end();
    cx_fixture_start_with(2, CTXRT_FOREIGN_FOLLOW);
    ck_device_works(CTXRT_CPU(0));
    if (failures[_i].reset_helps)
        ck_device_works(CTXRT_CUDA(0));
    else
        ck_told(ctxrt_device_set(CTXRT_CUDA(0)), failures[_i].error);
    cx_fixture_end();
}
END_TEST

/* The thread that failed is not the only one that is told. */
static void *work_beside(void *out)
{
    ctxrt_status status = ctxrt_device_set(CTXRT_CUDA(0));

    if (status == CTXRT_SUCCESS)
        status = ctxrt_device_synchronize();
    *(ctxrt_status *)out = status;
    if (ctxrt_stack_depth() > 0 && ctxrt_stack_pop() != CTXRT_SUCCESS)
        *(ctxrt_status *)out = CTXRT_ERROR_SYSTEM;
    return NULL;
}

START_TEST(other_threads_are_told_too)
{
    belongings own = {0};
    ctxrt_status told[4];
    pthread_t threads[4];

    spoil(_i, &own);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work_beside, &told[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_int_eq(told[i], CTXRT_ERROR_DRIVER);
    }
    give_everything_back(&own, failures[_i].error);
    cx_fixture_end();
}
END_TEST

/* Which call finds the GPU gone is not the program's choice: try every one. What happened before
 * stays, what comes after is an error, all can be given back. */
START_TEST(a_gpu_may_be_lost_at_any_moment)
{
    static const char unavailable[] = "CUDA_ERROR_DEVICE_UNAVAILABLE";
    char faults[32];
    ctxrt_memory *memory = NULL;
    ctxrt_stream *stream = NULL;
    ctxrt_event *event = NULL;
    ctxrt_context *created = NULL;
    unsigned char out[64];

    snprintf(faults, sizeof faults, "device0@%d", _i);
    set_fault(faults);
    if (ctxrt_device_set(CTXRT_CUDA(0)) == CTXRT_SUCCESS) {
        ck_given_back(ctxrt_context_create(CTXRT_CUDA(0), 0, &created), unavailable);
        ck_given_back(ctxrt_memory_alloc(sizeof out, &memory), unavailable);
        ck_given_back(ctxrt_stream_create(0, 0, &stream), unavailable);
        ck_given_back(ctxrt_event_create(0, &event), unavailable);
        if (memory)
            ck_given_back(ctxrt_fill_async(ctxrt_memory_pointer(memory), 5, sizeof out, stream),
                          unavailable);
        if (event)
            ck_given_back(ctxrt_event_record(event, stream), unavailable);
        if (memory)
            ck_given_back(ctxrt_copy(out, ctxrt_memory_pointer(memory), sizeof out,
                                     CTXRT_COPY_DEVICE_TO_HOST),
                          unavailable);
        ck_given_back(ctxrt_device_synchronize(), unavailable);
        ck_given_back(ctxrt_event_destroy(event), unavailable);
        ck_given_back(ctxrt_stream_destroy(stream), unavailable);
        if (memory)
            ck_given_back(ctxrt_memory_release(memory), unavailable);
        ck_given_back(ctxrt_context_destroy(created), unavailable);
        cx_assert_ok(ctxrt_stack_pop());
    }
    ck_device_works(CTXRT_CUDA(1));
    ck_device_works(CTXRT_CPU(0));
    cx_fixture_end();
}
END_TEST

START_TEST(malformed_faults_are_an_error_of_init)
{
    static const char *const malformed[][2] = {{"CTXRT_EMU_FAULT", "cuMemAloc@3"},
                                               {"CTXRT_EMU_STICKY", "for ever"}};
    ctxrt_options options = CTXRT_OPTIONS_INIT;

    options.cuda_driver = CTXRT_CUDA_DRIVER_EMULATED;
    ck_assert_int_eq(setenv(malformed[_i][0], malformed[_i][1], 1), 0);
    cx_assert_error(ctxrt_init(&options), CTXRT_ERROR_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, malformed[_i][0]));
    ck_assert_int_eq(unsetenv(malformed[_i][0]), 0);
    cx_assert_ok(ctxrt_init(&options));
    cx_fixture_end();
}
END_TEST

static Suite *sticky_suite(void)
{
    Suite *suite = suite_create("sticky");
    TCase *tcase = tcase_create("sticky");

    tcase_add_loop_test(tcase, work_in_a_useless_context_is_refused_with_the_drivers_word, 0,
                        FAILURES);
    tcase_add_loop_test(tcase, a_useless_context_is_in_use_until_its_belongings_are_given_back, 0,
                        FAILURES);
    tcase_add_loop_test(tcase, a_reset_makes_the_device_usable_again_or_says_why_not, 0, FAILURES);
    tcase_add_loop_test(tcase, the_runtime_starts_again_after_a_failure_and_says_how_it_stands, 0,
                        FAILURES);
    tcase_add_loop_test(tcase, other_threads_are_told_too, 0, FAILURES);
    tcase_add_loop_test(tcase, a_gpu_may_be_lost_at_any_moment, 1, 60);
    tcase_add_loop_test(tcase, malformed_faults_are_an_error_of_init, 0, 2);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(sticky_suite);
