/* A thread that is to capture, while another one asks about work of the stream, sleeps. */
#include "context/stack.h"
#include "gate.h"
#include "work/capture_gate.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct capturer {
    ctxrt_stream *stream;
    atomic_int thread;
    atomic_int done;
    ctxrt_graph *graph;
} capturer;

static void *capture(void *argument)
{
    capturer *self = argument;
    atomic_store(&self->thread, (int)syscall(SYS_gettid));
    if (ctxrt_stream_capture_begin(self->stream, CTXRT_CAPTURE_RELAXED) != CTXRT_SUCCESS)
        return self;
    atomic_store(&self->done, 1);
    return ctxrt_stream_capture_end(self->stream, &self->graph) == CTXRT_SUCCESS ? NULL : self;
}

/* The kernel says which system call a thread waits in. */
static bool sleeps_in_futex(int thread)
{
    char path[64];
    long number = -1;
    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", thread);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    bool read = fscanf(file, "%ld", &number) == 1; /* "running" otherwise */
    fclose(file);
    return read && number == SYS_futex;
}

START_TEST(a_thread_that_captures_sleeps_while_another_one_asks)
{
    void *failed;
    pthread_t thread;
    capturer self = {.thread = 0};
    cx_device *device;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &self.stream));
    cx_assert_ok(cx_device_find(CTXRT_CUDA(0), &device));
    for (int round = 0; round < 20; round++) {
        atomic_store(&self.thread, 0);
        atomic_store(&self.done, 0);
        ck_assert(cx_capture_gate_enter(device->driver, native_of(self.stream)));
        ck_assert_int_eq(pthread_create(&thread, NULL, capture, &self), 0);
        while (atomic_load(&self.thread) == 0 || !sleeps_in_futex(atomic_load(&self.thread)))
            ck_assert_int_eq(atomic_load(&self.done), 0);
        ck_assert_int_eq(atomic_load(&self.done), 0);
        cx_capture_gate_leave(native_of(self.stream));
        ck_assert_int_eq(pthread_join(thread, &failed), 0);
        ck_assert_ptr_null(failed);
        cx_assert_ok(ctxrt_graph_release(self.graph));
    }
    cx_assert_ok(ctxrt_stream_destroy(self.stream));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static Suite *gate_suite(void)
{
    Suite *suite = suite_create("capture gate");
    TCase *tcase = tcase_create("capture gate");
    tcase_add_checked_fixture(tcase, cx_fixture_start, cx_fixture_end);
    tcase_add_test(tcase, a_thread_that_captures_sleeps_while_another_one_asks);
    suite_add_tcase(suite, tcase);
    return suite;
}

static const char *what_is_missing(void)
{
    if (access("/proc/self/syscall", R_OK) == 0)
        return NULL;
    return "the kernel does not say what threads wait in";
}

CX_TESTS_UNLESS(what_is_missing, gate_suite);
