/*
 * The calling thread's last error: for every status a situation that makes it, and the sentence
 * that docs/errors.md gives for it; how long it lasts, and how it is cut.
 */
#include "device/device.h"
#include "gate.h"

#include <errno.h>
#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- situations: each leaves things as they were, and its sentence in `said` ---- */

static char said[1024];

static ctxrt_status say(ctxrt_status status)
{
    snprintf(said, sizeof said, "%s", ctxrt_last_error()->message);
    ck_assert_int_eq(ctxrt_last_error()->status, status);
    return status;
}

static ctxrt_status invalid_argument(void)
{
    ctxrt_stream *stream;
    return say(ctxrt_stream_create(7, 0, &stream));
}

static ctxrt_status null_pointer(void)
{
    return say(ctxrt_device_get(NULL));
}

static ctxrt_status invalid_device(void)
{
    return say(ctxrt_device_set(CTXRT_CUDA(9)));
}

static ctxrt_status invalid_handle(void)
{
    ctxrt_context *context;
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(0), 0, &context));
    cx_assert_ok(ctxrt_context_destroy(context));
    return say(ctxrt_stack_push(context));
}

static ctxrt_status no_device(void)
{
    ctxrt_memory *memory;
    return say(ctxrt_memory_alloc(64, &memory));
}

static ctxrt_status out_of_memory(void)
{
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    ctxrt_status status = say(ctxrt_memory_alloc((size_t)1 << 30, &memory));
    cx_assert_ok(ctxrt_stack_pop());
    return status;
}

static ctxrt_status not_supported(void)
{
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    ctxrt_status status = say(ctxrt_device_enable_peer(CTXRT_CPU(0)));
    cx_assert_ok(ctxrt_stack_pop());
    return status;
}

static ctxrt_status not_ready(void)
{
    gate held;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    gate_close(&held, NULL);
    ctxrt_status status = say(ctxrt_stream_query(NULL));
    gate_open(&held);
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    cx_assert_ok(ctxrt_stack_pop());
    return status;
}

static ctxrt_status driver_refused(void)
{
    ctxrt_graph *graph;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    ctxrt_status status = say(ctxrt_stream_capture_end(NULL, &graph));
    cx_assert_ok(ctxrt_stack_pop());
    return status;
}

static ctxrt_status stack_mismatch(void)
{
    CUcontext primary, popped;
    const cx_driver_table *driver = &cx_drivers[0].table;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ck_assert_int_eq(driver->primary_retain(&primary, 2), CXU_SUCCESS);
    ck_assert_int_eq(driver->ctx_push(primary), CXU_SUCCESS);
    ctxrt_status status = say(ctxrt_stack_pop());
    ck_assert_int_eq(driver->ctx_pop(&popped), CXU_SUCCESS);
    ck_assert_int_eq(driver->primary_release(2), CXU_SUCCESS);
    cx_assert_ok(ctxrt_stack_pop());
    return status;
}

static ctxrt_status stack_empty(void)
{
    return say(ctxrt_stack_pop());
}

static ctxrt_status stack_full(void)
{
    for (int i = 0; i < CTXRT_STACK_DEPTH_MAX; i++)
        cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ctxrt_status status = say(ctxrt_device_push(CTXRT_CUDA(0)));
    for (int i = 0; i < CTXRT_STACK_DEPTH_MAX; i++)
        cx_assert_ok(ctxrt_stack_pop());
    return status;
}

static ctxrt_status stack_leftover(void)
{
    ctxrt_scope scope = {0};
    cx_assert_ok(ctxrt_scope_enter(CTXRT_CUDA(0), &scope));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    return say(ctxrt_scope_leave(&scope));
}

static ctxrt_status in_use(void)
{
    ctxrt_context *context;
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(0), 0, &context));
    cx_assert_ok(ctxrt_stack_push(context));
    ctxrt_status status = say(ctxrt_context_destroy(context));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_context_destroy(context));
    return status;
}

static ctxrt_status wrong_context(void)
{
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ctxrt_stream *stream = create_stream(0);
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    ctxrt_status status = say(ctxrt_frame_set_stream(stream));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_stack_pop());
    return status;
}

static ctxrt_status wrong_thread(void)
{
    ctxrt_scope scope = {0};
    cx_assert_ok(ctxrt_scope_enter(CTXRT_CUDA(0), &scope));
    ctxrt_scope copy = scope;
    cx_assert_ok(ctxrt_scope_leave(&scope));
    return say(ctxrt_scope_leave(&copy));
}

static ctxrt_status context_destroyed(void)
{
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    ctxrt_stream *stream = create_stream(0);
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    ctxrt_status status = say(ctxrt_stream_synchronize(stream));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_stack_pop());
    return status;
}

static ctxrt_status not_permitted(void)
{
    ctxrt_scope scope = {0};
    cx_assert_ok(ctxrt_scope_enter(CTXRT_CUDA(0), &scope));
    ctxrt_status status = say(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_scope_leave(&scope));
    return status;
}

/* What a child process wrote: a status and a sentence. */
static ctxrt_status hear(const int *ends, pid_t child)
{
    int status, exited;
    close(ends[1]);
    FILE *file = fdopen(ends[0], "r");
    ck_assert_int_eq(fscanf(file, "%d %1023[^\n]", &status, said), 2);
    fclose(file);
    ck_assert_int_eq(waitpid(child, &exited, 0), child);
    return (ctxrt_status)status;
}

static int child_end;

static void tell_and_end(void)
{
    int index;
    ctxrt_status status = ctxrt_device_count(CTXRT_DEVICE_CUDA, &index);
    dprintf(child_end, "%d %s\n", (int)status, ctxrt_last_error()->message);
    _exit(0);
}

static ctxrt_status forked(void)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    child_end = ends[1];
    if (child == 0)
        tell_and_end();
    return hear(ends, child);
}

static ssize_t write_nothing(void *cookie, const char *text, size_t size)
{
    (void)cookie;
    (void)text;
    (void)size;
    errno = ENOSPC;
    return 0;
}

static ctxrt_status system_refused(void)
{
    FILE *full = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_nothing});
    ck_assert_ptr_nonnull(full);
    ctxrt_status status = say(ctxrt_snapshot_write(full, CTXRT_SNAPSHOT_JSON));
    fclose(full);
    return status;
}

static ctxrt_status make_handle(ctxrt_device device, void *user_data, void **out_handle)
{
    (void)device;
    *out_handle = user_data;
    return CTXRT_SUCCESS;
}

static void end_handle(void *handle, void *user_data)
{
    (void)handle;
    (void)user_data;
}

static ctxrt_status already(void)
{
    ctxrt_status status = ctxrt_handle_register("blas", make_handle, end_handle, NULL);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_handle_register("blas", make_handle, end_handle, NULL);
    return say(status);
}

static ctxrt_status corrupted(void)
{
    void *memory;
    cx_device *device;
    ctxrt_allocator *allocator;
    ctxrt_allocator_debug debug = CTXRT_ALLOCATOR_DEBUG_INIT;
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    debug.flags = CTXRT_DEBUG_CANARY;
    options.debug = &debug;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_allocator_create(&options, &allocator));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_OFF));
    cx_assert_ok(ctxrt_alloc(1000, &memory));
    /* As a kernel may: ctxrt_fill refuses it. */
    cx_assert_ok(cx_device_find(CTXRT_CUDA(0), &device));
    ck_assert_int_eq(device->driver->table.memset_d8_async((uintptr_t)memory + 1000, 0, 1,
                                                           CXU_STREAM_LEGACY),
                     0);
    ctxrt_status status = say(ctxrt_free(memory));
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    cx_assert_ok(ctxrt_stack_pop());
    return status;
}

/* By status; SHUTDOWN has a process of its own, below. */
static ctxrt_status (*const situations[])(void) = {
    [CTXRT_ERROR_INVALID_ARGUMENT] = invalid_argument,
    [CTXRT_ERROR_NULL_POINTER] = null_pointer,
    [CTXRT_ERROR_INVALID_DEVICE] = invalid_device,
    [CTXRT_ERROR_INVALID_HANDLE] = invalid_handle,
    [CTXRT_ERROR_NO_DEVICE] = no_device,
    [CTXRT_ERROR_OUT_OF_MEMORY] = out_of_memory,
    [CTXRT_ERROR_NOT_SUPPORTED] = not_supported,
    [CTXRT_ERROR_NOT_READY] = not_ready,
    [CTXRT_ERROR_DRIVER] = driver_refused,
    [CTXRT_ERROR_STACK_MISMATCH] = stack_mismatch,
    [CTXRT_ERROR_STACK_EMPTY] = stack_empty,
    [CTXRT_ERROR_STACK_FULL] = stack_full,
    [CTXRT_ERROR_STACK_LEFTOVER] = stack_leftover,
    [CTXRT_ERROR_IN_USE] = in_use,
    [CTXRT_ERROR_WRONG_CONTEXT] = wrong_context,
    [CTXRT_ERROR_WRONG_THREAD] = wrong_thread,
    [CTXRT_ERROR_CONTEXT_DESTROYED] = context_destroyed,
    [CTXRT_ERROR_NOT_PERMITTED] = not_permitted,
    [CTXRT_ERROR_FORKED] = forked,
    [CTXRT_ERROR_SYSTEM] = system_refused,
    [CTXRT_ERROR_ALREADY] = already,
    [CTXRT_ERROR_CORRUPTED] = corrupted,
};

/* ---- what the documentation says ---- */

/* Addresses and numbers differ from run to run: each becomes one mark. So do places in programs:
 * they are left out. */
static void mask(const char *text, char *out, size_t capacity)
{
    static const char origin[] = ", allocated in ";
    size_t length = 0;
    while (*text != '\0' && length + 1 < capacity) {
        if (strncmp(text, origin, strlen(origin)) == 0)
            text += strcspn(text, ":");
        bool hexadecimal = strncmp(text, "0x", 2) == 0;
        size_t digits =
            hexadecimal ? 2 + strspn(text + 2, "0123456789abcdef") : strspn(text, "0123456789");
        out[length++] = digits != 0 ? '#' : *text;
        text += digits != 0 ? digits : 1;
    }
    out[length] = '\0';
}

typedef struct row {
    char name[64], example[1024];
} row;

/* | `status` | how | `example` | */
static bool read_row(const char *line, row *out)
{
    char how[1024];
    return sscanf(line, "| `%63[^`]` | %1023[^|] | `%1023[^`]` |", out->name, how,
                  out->example) == 3;
}

static void find_row(ctxrt_status status, row *out)
{
    char path[4096], line[4096];
    bool found = false;
    snprintf(path, sizeof path, "%s/docs/errors.md", getenv("top_srcdir"));
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s", path);
    while (!found && fgets(line, sizeof line, file) != NULL)
        found = read_row(line, out) && strcmp(out->name, ctxrt_status_name(status)) == 0;
    fclose(file);
    ck_assert_msg(found, "%s has no row in docs/errors.md", ctxrt_status_name(status));
}

/* Short enough not to be cut, in one line, a clause without a full stop, and not only a word. */
static void check_style(const char *sentence)
{
    size_t length = strlen(sentence);
    ck_assert_uint_gt(length, 15);
    ck_assert_uint_lt(length, 400);
    ck_assert_ptr_null(strchr(sentence, '\n'));
    ck_assert_ptr_nonnull(strchr(sentence, ' '));
    ck_assert_msg(sentence[length - 1] != '.' && sentence[length - 1] != ' ', "%s", sentence);
    ck_assert_msg(strstr(sentence, "(nil)") == NULL && strstr(sentence, "(null)") == NULL, "%s",
                  sentence);
}

static void check_documented(ctxrt_status status)
{
    row documented;
    char expected[1024], real[1024];
    find_row(status, &documented);
    mask(documented.example, expected, sizeof expected);
    mask(said, real, sizeof real);
    ck_assert_msg(strcmp(real, expected) == 0, "%s says\n%s\nand docs/errors.md\n%s",
                  ctxrt_status_name(status), said, documented.example);
    check_style(said);
}

START_TEST(every_status_comes_about_and_says_what_is_documented)
{
    ctxrt_status status = (ctxrt_status)_i;
    if (status != CTXRT_ERROR_SHUTDOWN) {
        cx_assert_status(situations[status](), status);
        check_documented(status);
    }
}
END_TEST

START_TEST(the_end_of_the_process_says_what_is_documented)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        child_end = ends[1];
        /* before the start: so it runs after the runtime has seen the end come */
        atexit(tell_and_end);
        cx_fixture_start();
        exit(0);
    }
    cx_assert_status(hear(ends, child), CTXRT_ERROR_SHUTDOWN);
    check_documented(CTXRT_ERROR_SHUTDOWN);
}
END_TEST

START_TEST(every_status_has_a_situation_here)
{
    int count = 0;
#define COUNT(name, value, text) count += CTXRT_##name != CTXRT_SUCCESS;
    CTXRT_STATUS_LIST(COUNT)
#undef COUNT
    ck_assert_int_eq(count, (int)(sizeof situations / sizeof situations[0]) - 1);
    for (int status = 1; status <= count; status++)
        ck_assert_msg(situations[status] != NULL || status == CTXRT_ERROR_SHUTDOWN, "%s",
                      ctxrt_status_name((ctxrt_status)status));
}
END_TEST

/* ---- how long it lasts ---- */

START_TEST(before_the_first_failure_there_is_none_and_nothing_is_null)
{
    const ctxrt_error *error = ctxrt_last_error();
    ck_assert_int_eq(error->status, CTXRT_SUCCESS);
    ck_assert_int_eq(error->driver_result, 0);
    ck_assert_str_eq(error->driver_result_name, "");
    ck_assert_str_eq(error->driver_call, "");
    ck_assert_str_eq(error->message, "");
}
END_TEST

static void assert_says_kind(ctxrt_status status, const void *handle, const char *rest)
{
    char wanted[128];
    snprintf(wanted, sizeof wanted, "%p is %s", handle, rest);
    ck_assert_int_eq(status, CTXRT_ERROR_INVALID_HANDLE);
    ck_assert_str_eq(ctxrt_last_error()->message, wanted);
}

START_TEST(a_handle_of_another_kind_is_called_what_it_is)
{
    ctxrt_event *event;
    ctxrt_stream *stream;
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_event_create(0, &event));
    cx_assert_ok(ctxrt_stream_create(CTXRT_STREAM_DEFAULT, 0, &stream));
    cx_assert_ok(ctxrt_memory_alloc(64, &memory));
    assert_says_kind(ctxrt_stream_synchronize((ctxrt_stream *)(void *)event), event,
                     "an event, not a stream");
    assert_says_kind(ctxrt_memory_retain((ctxrt_memory *)(void *)stream), stream,
                     "a stream, not a memory object");
    assert_says_kind(ctxrt_event_synchronize((ctxrt_event *)(void *)memory), memory,
                     "a memory object, not an event");
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_event_destroy(event));
    cx_assert_error(ctxrt_event_synchronize(NULL), CTXRT_ERROR_NULL_POINTER);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(successful_calls_leave_it_alone_and_the_next_failure_replaces_all_of_it)
{
    const ctxrt_error *error = ctxrt_last_error();
    cx_assert_status(driver_refused(), CTXRT_ERROR_DRIVER);
    const char *message = error->message;
    for (int i = 0; i < 3; i++) {
        ctxrt_memory *memory;
        cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(i)));
        cx_assert_ok(ctxrt_memory_alloc(64, &memory));
        cx_assert_ok(ctxrt_memory_release(memory));
        cx_assert_ok(ctxrt_stack_pop());
    }
    ck_assert_ptr_eq(ctxrt_last_error(), error);
    ck_assert_ptr_eq(error->message, message);
    ck_assert_str_eq(message, said);
    ck_assert_int_eq(error->status, CTXRT_ERROR_DRIVER);
    ck_assert_str_eq(error->driver_call, "cuStreamEndCapture");
    ck_assert_int_eq(error->driver_result, 401);
    ck_assert_str_eq(error->driver_result_name, "CUDA_ERROR_ILLEGAL_STATE");
    cx_assert_status(stack_empty(), CTXRT_ERROR_STACK_EMPTY);
    ck_assert_int_eq(error->driver_result, 0);
    ck_assert_str_eq(error->driver_call, "");
    ck_assert_str_eq(error->driver_result_name, "");
}
END_TEST

static void *fail_elsewhere(void *argument)
{
    char sentence[64];
    long number = *(int *)argument;
    ck_assert_int_eq(ctxrt_last_error()->status, CTXRT_SUCCESS);
    for (int i = 0; i < 1000; i++) {
        cx_assert_status(ctxrt_device_set(CTXRT_CUDA((int)(100 * number + i % 100))),
                         CTXRT_ERROR_INVALID_DEVICE);
        snprintf(sentence, sizeof sentence, "there is no device cuda:%ld:", 100 * number + i % 100);
        ck_assert_msg(strncmp(ctxrt_last_error()->message, sentence, strlen(sentence)) == 0, "%s",
                      ctxrt_last_error()->message);
    }
    return NULL;
}

START_TEST(each_thread_has_its_own)
{
    static int numbers[8];
    pthread_t threads[8];
    cx_assert_status(stack_empty(), CTXRT_ERROR_STACK_EMPTY);
    for (int i = 0; i < 8; i++) {
        numbers[i] = i + 1;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, fail_elsewhere, &numbers[i]), 0);
    }
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(ctxrt_last_error()->status, CTXRT_ERROR_STACK_EMPTY);
    ck_assert_str_eq(ctxrt_last_error()->message, said);
}
END_TEST

START_TEST(a_long_sentence_is_cut_between_characters)
{
    static const char *const characters[] = {"\xc3\xa9", "\xe6\xbc\xa2", "\xf0\x9f\x98\x80"};
    void *handle;
    ck_assert_msg(setlocale(LC_CTYPE, "C.UTF-8") != NULL, "the locale C.UTF-8 is missing");
    for (size_t c = 0; c < sizeof characters / sizeof characters[0]; c++)
        for (size_t shift = 0; shift < 4; shift++) {
            char name[2000] = "xxxx";
            name[shift] = '\0';
            while (strlen(name) < 1500)
                strcat(name, characters[c]);
            cx_assert_error(ctxrt_handle_get(CTXRT_CUDA(0), name, &handle),
                            CTXRT_ERROR_INVALID_ARGUMENT);
            size_t length = strlen(ctxrt_last_error()->message);
            ck_assert_msg(length >= 508 && length <= 511, "%zu bytes", length);
            ck_assert_msg(mbstowcs(NULL, ctxrt_last_error()->message, 0) != (size_t)-1,
                          "cut inside a character: %s", ctxrt_last_error()->message);
        }
}
END_TEST

static Suite *error_suite(void)
{
    const int count = sizeof situations / sizeof situations[0];
    Suite *suite = suite_create("error");
    TCase *running = tcase_create("running"), *stopped = tcase_create("stopped");
    tcase_add_checked_fixture(running, cx_fixture_start, cx_fixture_end);
    tcase_add_loop_test(running, every_status_comes_about_and_says_what_is_documented, 1, count);
    tcase_add_test(running, a_handle_of_another_kind_is_called_what_it_is);
    tcase_add_test(running,
                   successful_calls_leave_it_alone_and_the_next_failure_replaces_all_of_it);
    tcase_add_test(running, each_thread_has_its_own);
    tcase_add_test(running, a_long_sentence_is_cut_between_characters);
    tcase_add_test(stopped, every_status_has_a_situation_here);
    tcase_add_test(stopped, the_end_of_the_process_says_what_is_documented);
    tcase_add_test(stopped, before_the_first_failure_there_is_none_and_nothing_is_null);
    suite_add_tcase(suite, running);
    suite_add_tcase(suite, stopped);
    return suite;
}

CX_TESTS(error_suite);
