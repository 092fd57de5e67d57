/* Events between processes. Each test forks before the runtime starts. */
#include "gate.h"

#include <sys/wait.h>
#include <unistd.h>

/* Two pipes between a process and its child. */
typedef struct channel {
    int in, out;
} channel;

static void send_bytes(const channel *to, const void *bytes, size_t size)
{
    ck_assert_int_eq(write(to->out, bytes, size), (ssize_t)size);
}

static void get_bytes(const channel *from, void *bytes, size_t size)
{
    ck_assert_int_eq(read(from->in, bytes, size), (ssize_t)size);
}

static pid_t fork_with(channel *parent, channel *child)
{
    int down[2], up[2];
    ck_assert_int_eq(pipe(down), 0);
    ck_assert_int_eq(pipe(up), 0);
    *parent = (channel){up[0], down[1]};
    *child = (channel){down[0], up[1]};
    pid_t id = fork();
    ck_assert_int_ge(id, 0);
    return id;
}

static void start(void)
{
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
}

static void end(void)
{
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}

/* Waits for what its parent records, then records itself. */
static void be_child(const channel *line)
{
    ctxrt_exported_event token;
    ctxrt_event *event;
    char word;
    start();
    get_bytes(line, &token, sizeof token);
    cx_assert_ok(ctxrt_event_import(&token, &event));
    cx_assert_error(ctxrt_event_query(event), CTXRT_ERROR_NOT_READY);
    cx_assert_error(ctxrt_event_synchronize_for(event, 1), CTXRT_ERROR_NOT_READY);
    send_bytes(line, "w", 1);
    cx_assert_ok(ctxrt_event_synchronize(event));
    cx_assert_ok(ctxrt_event_record(event, NULL));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    send_bytes(line, "r", 1);
    get_bytes(line, &word, 1);
    cx_assert_ok(ctxrt_event_destroy(event));
    end();
}

START_TEST(what_one_process_records_the_other_waits_for)
{
    channel parent, child;
    ctxrt_exported_event token;
    ctxrt_event *event;
    gate barrier;
    char word;
    int status;
    pid_t id = fork_with(&parent, &child);
    if (id == 0) {
        be_child(&child);
        _exit(0);
    }
    start();
    event = create_event(CTXRT_EVENT_DISABLE_TIMING | CTXRT_EVENT_INTERPROCESS);
    gate_close(&barrier, NULL);
    cx_assert_ok(ctxrt_event_record(event, NULL));
    cx_assert_ok(ctxrt_event_export(event, &token));
    send_bytes(&parent, &token, sizeof token);
    get_bytes(&parent, &word, 1);
    ck_assert_int_eq(word, 'w');
    gate_open(&barrier);
    get_bytes(&parent, &word, 1);
    ck_assert_int_eq(word, 'r');
    cx_assert_ok(ctxrt_event_synchronize(event));
    send_bytes(&parent, "e", 1);
    ck_assert_int_eq(waitpid(id, &status, 0), id);
    ck_assert_int_eq(status, 0);
    cx_assert_ok(ctxrt_event_destroy(event));
    end();
}
END_TEST

START_TEST(events_that_were_not_made_for_it_are_not_exported)
{
    ctxrt_exported_event token = {{0}};
    ctxrt_event *plain, *shared, *none = NULL;
    start();
    plain = create_event(CTXRT_EVENT_DISABLE_TIMING);
    cx_assert_error(ctxrt_event_export(plain, &token), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_event_create(CTXRT_EVENT_INTERPROCESS, &none),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_event_import(&token, &none), CTXRT_ERROR_INVALID_HANDLE);
    shared = create_event(CTXRT_EVENT_DISABLE_TIMING | CTXRT_EVENT_INTERPROCESS);
    cx_assert_ok(ctxrt_event_export(shared, &token));
    ck_assert_int_ne(ctxrt_event_import(&token, &none), CTXRT_SUCCESS); /* its own process */
    ck_assert_ptr_null(none);
    cx_assert_ok(ctxrt_event_destroy(plain));
    cx_assert_ok(ctxrt_event_destroy(shared));
    end();
}
END_TEST

static Suite *event_share_suite(void)
{
    Suite *suite = suite_create("event_share");
    TCase *tcase = tcase_create("event_share");
    tcase_add_test(tcase, what_one_process_records_the_other_waits_for);
    tcase_add_test(tcase, events_that_were_not_made_for_it_are_not_exported);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(event_share_suite);
