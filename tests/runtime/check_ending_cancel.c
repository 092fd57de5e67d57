/*
 * Cancelled threads: no call of ctxrt is a cancellation point, a call that waits finishes its wait,
 * and whatever a cancelled thread leaves behind, the others go on.
 */
#include "gate.h"
#include "log_lines.h"
#include "operations.h"

#include "device/device.h"
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

static log_lines lines = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void start(void)
{
    cx_fixture_start();
    cx_assert_ok(ctxrt_log_set(log_lines_take, &lines, CTXRT_LOG_WARNING));
}

static void end(void)
{
    cx_fixture_end();
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_WARNING));
}

static void hold_off_cancellation(bool hold)
{
    int state;
    pthread_setcancelstate(hold ? PTHREAD_CANCEL_DISABLE : PTHREAD_CANCEL_ENABLE, &state);
}

/* ASan does not see a cancellation unwind the stack, and would take what was on it for still
 * there. */
static void end_if_cancelled(void)
{
#ifdef __SANITIZE_ADDRESS__
    __asan_handle_no_return();
#endif
    pthread_testcancel();
}

/* ---- every call, with a request for cancellation waiting ---- */

typedef struct trial {
    const operation *operation;
    stage_top top;
    bool returned;
    ctxrt_status status;
} trial;

/* Check writes files, which are cancellation points: so only the call itself can be cancelled. */
static void *call_with_a_request_waiting(void *argument)
{
    static stage self;
    trial *tried = argument;
    hold_off_cancellation(true);
    stage_enter(&self, tried->top);
    pthread_cancel(pthread_self());
    hold_off_cancellation(false);
    tried->status = tried->operation->run(&self);
    hold_off_cancellation(true);
    tried->returned = true;
    if (tried->operation->used_up != NULL)
        tried->operation->used_up(&self);
    stage_leave(&self);
    hold_off_cancellation(false);
    end_if_cancelled();
    return NULL;
}

START_TEST(no_call_is_a_cancellation_point)
{
    trial tried = {.operation = operation_at(_i)};
    for (tried.top = 0; tried.top < STAGE_TOPS; tried.top++) {
        pthread_t thread;
        void *result;
        if ((tried.operation->tops >> tried.top & 1) == 0)
            continue;
        tried.returned = false;
        ck_assert_int_eq(pthread_create(&thread, NULL, call_with_a_request_waiting, &tried), 0);
        pthread_join(thread, &result);
        ck_assert_msg(tried.returned, "%s (%s) was cancelled", tried.operation->name,
                      stage_top_name(tried.top));
        ck_assert_msg(tried.status == CTXRT_SUCCESS, "%s (%s): %s", tried.operation->name,
                      stage_top_name(tried.top), ctxrt_status_name(tried.status));
        ck_assert_ptr_eq(result, PTHREAD_CANCELED);
    }
}
END_TEST

/* Calls that open, read and write files. */
static bool call_what_does_io(void)
{
    char path[4096];
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    ctxrt_scope scope = {0};
    FILE *file = fopen("/dev/null", "w");
    setvbuf(file, NULL, _IONBF, 0);
    snprintf(path, sizeof path, "%s/lib/shim/cuda-13/.libs/libcuda.so.1", getenv("top_builddir"));
    options.cuda_driver = CTXRT_CUDA_DRIVER_LIBCUDA;
    options.libcuda = path;
    pthread_cancel(pthread_self());
    hold_off_cancellation(false);
    bool well = ctxrt_init(&options) == CTXRT_SUCCESS &&
                ctxrt_scope_enter(CTXRT_CUDA(0), &scope) == CTXRT_SUCCESS &&
                ctxrt_snapshot_write(file, CTXRT_SNAPSHOT_TEXT) == CTXRT_SUCCESS &&
                ctxrt_snapshot_write(file, CTXRT_SNAPSHOT_JSON) == CTXRT_SUCCESS &&
                ctxrt_allocator_snapshot_write(NULL, file, CTXRT_SNAPSHOT_JSON) == CTXRT_SUCCESS &&
                ctxrt_allocator_trace_start(NULL, 16) == CTXRT_SUCCESS &&
                ctxrt_allocator_trace_write(NULL, file) == CTXRT_SUCCESS &&
                ctxrt_scope_leave(&scope) == CTXRT_SUCCESS && ctxrt_shutdown() == CTXRT_SUCCESS;
    hold_off_cancellation(true);
    fclose(file);
    return well;
}

static void *do_io_with_a_request_waiting(void *out_well)
{
    hold_off_cancellation(true);
    *(bool *)out_well = call_what_does_io();
    return NULL;
}

START_TEST(a_start_a_snapshot_and_a_shutdown_are_no_cancellation_points_either)
{
    bool well = false;
    on_a_thread(do_io_with_a_request_waiting, &well);
    ck_assert(well);
}
END_TEST

/* ---- calls that wait ---- */

enum { BYTES_COPIED = 4096 };

typedef struct waiter {
    ctxrt_stream *stream;
    ctxrt_event *event;
    ctxrt_memory *memory;
    unsigned char bytes[BYTES_COPIED];
    gate barrier;
    ctxrt_status (*wait)(struct waiter *self);
    _Atomic int number; /* of the thread, once it is about to wait; 0 before */
    atomic_bool returned;
    ctxrt_status status;
} waiter;

static ctxrt_status wait_for_stream(waiter *self)
{
    return ctxrt_stream_synchronize(self->stream);
}

static ctxrt_status wait_for_event(waiter *self)
{
    return ctxrt_event_synchronize(self->event);
}

static ctxrt_status wait_for_device(waiter *self)
{
    (void)self;
    return ctxrt_device_synchronize();
}

static ctxrt_status wait_for_copy(waiter *self)
{
    return ctxrt_copy(self->bytes, ctxrt_memory_pointer(self->memory), BYTES_COPIED,
                      CTXRT_COPY_ANY);
}

static ctxrt_status wait_for_staged_copy(waiter *self)
{
    return ctxrt_copy_async(self->bytes, ctxrt_memory_pointer(self->memory), BYTES_COPIED,
                            CTXRT_COPY_ANY, self->stream);
}

static ctxrt_status wait_for_host_copy(waiter *self)
{
    return ctxrt_copy_async(self->bytes, self->bytes + BYTES_COPIED / 2, BYTES_COPIED / 2,
                            CTXRT_COPY_ANY, self->stream);
}

static ctxrt_status wait_for_fill(waiter *self)
{
    return ctxrt_fill(ctxrt_memory_pointer(self->memory), 1, BYTES_COPIED);
}

static ctxrt_status wait_for_host_fill(waiter *self)
{
    return ctxrt_fill_async(self->bytes, 1, BYTES_COPIED, self->stream);
}

static ctxrt_status wait_for_release(waiter *self)
{
    return ctxrt_memory_release(self->memory);
}

static ctxrt_status wait_for_reset(waiter *self)
{
    (void)self;
    return ctxrt_device_reset(CTXRT_CUDA(0));
}

static const struct {
    const char *name;
    ctxrt_status (*wait)(waiter *self);
} waits[] = {
    {"ctxrt_stream_synchronize", wait_for_stream},
    {"ctxrt_event_synchronize", wait_for_event},
    {"ctxrt_device_synchronize", wait_for_device},
    {"ctxrt_copy", wait_for_copy},
    {"ctxrt_copy_async to ordinary memory", wait_for_staged_copy},
    {"ctxrt_copy_async between ordinary memory", wait_for_host_copy},
    {"ctxrt_fill", wait_for_fill},
    {"ctxrt_fill_async of ordinary memory", wait_for_host_fill},
    {"ctxrt_memory_release of recorded host memory", wait_for_release},
    {"ctxrt_device_reset", wait_for_reset},
};
enum { WAITS = sizeof waits / sizeof waits[0] };

static void *wait_in_a_scope(void *argument)
{
    waiter *self = argument;
    ctxrt_scope scope = {0};
    hold_off_cancellation(true);
    cx_assert_ok(ctxrt_scope_enter(CTXRT_CUDA(0), &scope));
    cx_assert_ok(ctxrt_frame_set_stream(self->stream));
    pthread_cleanup_push((void (*)(void *))ctxrt_scope_cleanup, &scope);
    hold_off_cancellation(false);
    atomic_store(&self->number, (int)gettid());
    self->status = self->wait(self);
    atomic_store(&self->returned, true);
    end_if_cancelled();
    pthread_cleanup_pop(0);
    return NULL;
}

/* Asleep in the kernel's eyes. */
static bool thread_sleeps(int number)
{
    char path[64], state = '?';
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", number);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    (void)!fscanf(file, "%*d (%*[^)]) %c", &state);
    fclose(file);
    return state == 'S';
}

static void wait_until_it_waits(const waiter *self)
{
    while (atomic_load(&self->number) == 0 || !thread_sleeps(atomic_load(&self->number)))
        sched_yield();
}

static void prepare(waiter *self)
{
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    self->stream = create_stream(CTXRT_STREAM_DEFAULT);
    self->event = create_event(CTXRT_EVENT_DEFAULT);
    cx_assert_ok(self->wait == wait_for_release
                     ? ctxrt_memory_alloc_host(BYTES_COPIED, &self->memory)
                     : ctxrt_memory_alloc(BYTES_COPIED, &self->memory));
    gate_close(&self->barrier, self->stream);
    cx_assert_ok(ctxrt_memory_record_stream(self->memory, self->stream));
    cx_assert_ok(ctxrt_event_record(self->event, self->stream));
    cx_assert_ok(ctxrt_stack_pop());
}

static void clear(waiter *self)
{
    if (self->wait != wait_for_release)
        cx_assert_ok(ctxrt_memory_release(self->memory));
    cx_assert_ok(ctxrt_event_destroy(self->event));
    cx_assert_ok(ctxrt_stream_destroy(self->stream));
}

/* Other threads' calls, those that the waiting one may stand in the way of included. */
static void *go_on(void *unused)
{
    ctxrt_scope scope = {0};
    ctxrt_memory *memory;
    ctxrt_context *context;
    ctxrt_stream *stream;
    FILE *file = fopen("/dev/null", "w");
    for (int i = 1; i < 4; i++) {
        cx_assert_ok(ctxrt_scope_enter(CTXRT_CUDA(i), &scope));
        cx_assert_ok(ctxrt_stream_create(0, 0, &stream));
        cx_assert_ok(ctxrt_memory_alloc(64, &memory));
        cx_assert_ok(ctxrt_fill_async(ctxrt_memory_pointer(memory), 1, 64, stream));
        cx_assert_ok(ctxrt_stream_synchronize(stream));
        cx_assert_ok(ctxrt_memory_release(memory));
        cx_assert_ok(ctxrt_stream_destroy(stream));
        cx_assert_ok(ctxrt_scope_leave(&scope));
        cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(i), 0, &context));
        cx_assert_ok(ctxrt_context_destroy(context));
        cx_assert_ok(ctxrt_snapshot_write(file, CTXRT_SNAPSHOT_TEXT));
    }
    fclose(file);
    return unused;
}

START_TEST(a_call_that_waits_finishes_its_wait_and_the_thread_ends_after_it)
{
    static waiter self;
    pthread_t thread;
    void *result;
    self.wait = waits[_i].wait;
    prepare(&self);
    ck_assert_int_eq(pthread_create(&thread, NULL, wait_in_a_scope, &self), 0);
    wait_until_it_waits(&self);
    ck_assert_int_eq(pthread_cancel(thread), 0);
    if (self.wait != wait_for_reset) /* which nobody may work beside */
        on_a_thread(go_on, NULL);
    ck_assert_msg(!atomic_load(&self.returned), "%s did not wait", waits[_i].name);
    gate_open(&self.barrier);
    pthread_join(thread, &result);
    ck_assert_ptr_eq(result, PTHREAD_CANCELED);
    ck_assert_msg(atomic_load(&self.returned), "%s was cancelled", waits[_i].name);
    ck_assert_msg(self.status == CTXRT_SUCCESS, "%s: %s", waits[_i].name,
                  ctxrt_status_name(self.status));
    on_a_thread(go_on, NULL);
    clear(&self);
    ck_assert_str_eq(lines.text, "");
}
END_TEST

/* ---- what a cancelled thread leaves ---- */

static sem_t reached;

static void *be_cancelled_in_a_scope(void *unused)
{
    static ctxrt_scope scope;
    cx_assert_ok(ctxrt_scope_enter(CTXRT_CUDA(1), &scope));
    sem_post(&reached);
    for (;;) {
        sched_yield();
        end_if_cancelled();
    }
    return unused;
}

static void *be_cancelled_anywhere(void *unused)
{
    static ctxrt_scope scope;
    static volatile unsigned long turns;
    int type;
    cx_assert_ok(ctxrt_scope_enter(CTXRT_CUDA(1), &scope));
    sem_post(&reached);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
    for (;;)
        turns++;
    return unused;
}

START_TEST(a_thread_cancelled_between_calls_leaves_its_frame_to_the_log)
{
    static void *(*const functions[])(void *) = {be_cancelled_in_a_scope, be_cancelled_anywhere};
    pthread_t thread;
    void *result;
    sem_init(&reached, 0, 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, functions[_i], NULL), 0);
    sem_wait(&reached);
    cx_assert_error(ctxrt_device_release(CTXRT_CUDA(1)), CTXRT_ERROR_IN_USE);
    ck_assert_int_eq(pthread_cancel(thread), 0);
    pthread_join(thread, &result);
    ck_assert_ptr_eq(result, PTHREAD_CANCELED);
    ck_assert_int_eq(log_lines_with(&lines, "ended with 1 frame(s) still pushed"), 1);
    cx_assert_ok(ctxrt_device_release(CTXRT_CUDA(1)));
}
END_TEST

/* ---- at any moment ---- */

enum { VICTIMS = 300 };

typedef struct victim {
    atomic_long begun, finished;
    ctxrt_memory *memory; /* held between two calls */
    int number;
} victim;

static void give_back(void *argument)
{
    victim *self = argument;
    cx_assert_ok(ctxrt_memory_release(self->memory));
}

/* A call that fails counts as never finished. */
#define TRACED(call)                           \
    do {                                      \
        atomic_fetch_add(&self->begun, 1);    \
        if ((call) != CTXRT_SUCCESS)          \
            atomic_fetch_add(&self->begun, 1); \
        atomic_fetch_add(&self->finished, 1); \
    } while (0)

static void *live_until_cancelled(void *argument)
{
    victim *self = argument;
    ctxrt_scope scope = {0};
    sem_post(&reached);
    pthread_cleanup_push(give_back, self);
    pthread_cleanup_push((void (*)(void *))ctxrt_scope_cleanup, &scope);
    for (;;) {
        TRACED(ctxrt_scope_enter(CTXRT_CUDA(self->number % 4), &scope));
        TRACED(ctxrt_memory_alloc(1 << 12, &self->memory));
        TRACED(ctxrt_fill_async(ctxrt_memory_pointer(self->memory), 1, 1 << 12, NULL));
        TRACED(ctxrt_stream_synchronize(NULL));
        TRACED(ctxrt_memory_release(self->memory));
        self->memory = NULL;
        TRACED(ctxrt_scope_leave(&scope));
        end_if_cancelled();
    }
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    return NULL;
}

START_TEST(threads_cancelled_at_any_moment_leave_nothing_that_others_wait_for)
{
    pthread_t thread, other;
    sem_init(&reached, 0, 0);
    for (int i = 0; i < VICTIMS; i++) {
        victim self = {.number = i};
        ck_assert_int_eq(pthread_create(&thread, NULL, live_until_cancelled, &self), 0);
        ck_assert_int_eq(pthread_create(&other, NULL, go_on, NULL), 0);
        sem_wait(&reached);
        while (atomic_load(&self.finished) < i % 30)
            sched_yield();
        ck_assert_int_eq(pthread_cancel(thread), 0);
        pthread_join(thread, NULL);
        pthread_join(other, NULL);
        ck_assert_int_eq(atomic_load(&self.begun), atomic_load(&self.finished));
    }
    ck_assert_str_eq(lines.text, "");
}
END_TEST

static Suite *ending_cancel_suite(void)
{
    Suite *suite = suite_create("cancellation");
    TCase *each = tcase_create("each call");
    tcase_add_loop_test(each, no_call_is_a_cancellation_point, 0, operation_count());
    tcase_add_test(each, a_start_a_snapshot_and_a_shutdown_are_no_cancellation_points_either);
    suite_add_tcase(suite, each);

    TCase *tcase = tcase_create("cancellation");
    tcase_add_checked_fixture(tcase, start, end);
    tcase_add_loop_test(tcase, a_call_that_waits_finishes_its_wait_and_the_thread_ends_after_it, 0,
                        WAITS);
    tcase_add_loop_test(tcase, a_thread_cancelled_between_calls_leaves_its_frame_to_the_log, 0, 2);
    tcase_add_test(tcase, threads_cancelled_at_any_moment_leave_nothing_that_others_wait_for);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(ending_cancel_suite);
