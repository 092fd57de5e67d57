/* Snapshots of a known state in every format; odd names; files that cannot be written; when they
 * may be taken. */
#include "device/device.h"
#include "gate.h"
#include "snapshot.h"

#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a known state ---- */

/* Three threads with frames of every origin, in contexts of every kind; detached frames; memory. */
typedef struct state {
    pthread_t giver, taker;
    sem_t given, taken, done;
    ctxrt_detached_frame *handed, *left;
    ctxrt_context *created, *adopted;
    CUcontext foreign;
    ctxrt_stream *stream;
    ctxrt_allocator *allocator;
    ctxrt_memory *memory, *host;
    ctxrt_event *event;
    ctxrt_scope scope;
    void *pointer;
} state;

static const cx_driver_table *driver(void)
{
    return &cx_drivers[0].table;
}

static void *give(void *argument)
{
    state *self = argument;
    pthread_setname_np(pthread_self(), "giver");
    cx_assert_ok(ctxrt_device_push_at(CTXRT_CUDA(2), "giver.c", 21));
    cx_assert_ok(ctxrt_stack_push_at(self->created, "giver.c", 22));
    cx_assert_ok(ctxrt_frame_set_stream(self->stream));
    cx_assert_ok(ctxrt_frame_set_allocator(self->allocator));
    cx_assert_ok(ctxrt_stack_detach(&self->handed));
    cx_assert_ok(ctxrt_stack_push_at(self->created, "giver.c", 23));
    cx_assert_ok(ctxrt_frame_set_stream(self->stream));
    cx_assert_ok(ctxrt_frame_set_allocator(self->allocator));
    cx_assert_ok(ctxrt_stack_detach(&self->left));
    sem_post(&self->given);
    sem_wait(&self->done);
    cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

static void *take_over(void *argument)
{
    state *self = argument;
    sem_wait(&self->given);
    cx_assert_ok(ctxrt_stack_attach(self->handed));
    pthread_setname_np(pthread_self(), "taker"); /* later than its first call */
    sem_post(&self->taken);
    sem_wait(&self->done);
    cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

static void make_objects(state *self)
{
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(1), 0, &self->created));
    cx_assert_ok(ctxrt_stack_push(self->created));
    self->stream = create_stream(0);
    self->event = create_event(0);
    cx_assert_ok(ctxrt_allocator_create(NULL, &self->allocator));
    cx_assert_ok(ctxrt_memory_alloc(4096, &self->memory));
    cx_assert_ok(ctxrt_alloc(100, &self->pointer));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_memory_alloc_host(77, &self->host));
}

static CUcontext make_foreign(void)
{
    CUcontext made, popped;
    ck_assert_int_eq(driver()->ctx_create_v2(&made, 0, 4), CXU_SUCCESS);
    ck_assert_int_eq(driver()->ctx_pop(&popped), CXU_SUCCESS);
    return made;
}

static void set_up(state *self)
{
    ctxrt_device device;
    *self = (state){0};
    sem_init(&self->given, 0, 0);
    sem_init(&self->taken, 0, 0);
    sem_init(&self->done, 0, 0);
    make_objects(self);
    self->foreign = make_foreign();
    cx_assert_ok(ctxrt_context_from_native(CTXRT_DEVICE_CUDA, self->foreign, &self->adopted));
    ck_assert_int_eq(pthread_create(&self->giver, NULL, give, self), 0);
    ck_assert_int_eq(pthread_create(&self->taker, NULL, take_over, self), 0);
    sem_wait(&self->taken);
    pthread_setname_np(pthread_self(), "main thread");
    cx_assert_ok(ctxrt_device_set_at(CTXRT_CUDA(0), "main.c", 11));
    cx_assert_ok(ctxrt_stack_push_at(self->created, "main.c", 12));
    cx_assert_ok(ctxrt_scope_enter_at(CTXRT_CPU(0), &self->scope, "main.c", 13));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(3)));
    ck_assert_int_eq(driver()->ctx_push(self->foreign), CXU_SUCCESS);
    cx_assert_ok(ctxrt_device_get(&device));
    ck_assert_uint_eq(ctxrt_stack_depth(), 5);
}

static void take_down(state *self)
{
    CUcontext popped;
    ck_assert_int_eq(driver()->ctx_pop(&popped), CXU_SUCCESS);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_scope_leave(&self->scope));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stack_pop());
    sem_post(&self->done);
    sem_post(&self->done);
    pthread_join(self->giver, NULL);
    pthread_join(self->taker, NULL);
    cx_assert_ok(ctxrt_stack_discard(self->left));
    cx_assert_ok(ctxrt_free(self->pointer));
    cx_assert_ok(ctxrt_memory_release(self->memory));
    cx_assert_ok(ctxrt_memory_release(self->host));
    cx_assert_ok(ctxrt_allocator_destroy(self->allocator));
    cx_assert_ok(ctxrt_event_destroy(self->event));
    cx_assert_ok(ctxrt_stream_destroy(self->stream));
    cx_assert_ok(ctxrt_context_release(self->adopted));
    cx_assert_ok(ctxrt_context_destroy(self->created));
    ck_assert_int_eq(driver()->ctx_destroy(self->foreign), CXU_SUCCESS);
}

/* ---- JSON ---- */

typedef struct expected_frame {
    const char *origin, *device, *kind, *file;
    int line;
} expected_frame;

static void check_frame(const json_t *frame, const expected_frame *expected, int level)
{
    ck_assert_int_eq(number_of(frame, "level"), level);
    ck_assert_str_eq(text_of(frame, "origin"), expected->origin);
    ck_assert_str_eq(text_of(frame, "device"), expected->device);
    ck_assert_str_eq(text_of(frame, "context_kind"), expected->kind);
    if (expected->file == NULL) {
        ck_assert_ptr_null(json_object_get(frame, "file"));
        ck_assert_ptr_null(json_object_get(frame, "line"));
        return;
    }
    ck_assert_str_eq(text_of(frame, "file"), expected->file);
    ck_assert_int_eq(number_of(frame, "line"), expected->line);
}

static void check_used(const json_t *frame, const state *self)
{
    char text[32];
    snprintf(text, sizeof text, "%p", (void *)self->stream);
    ck_assert_str_eq(text_of(frame, "stream"), text);
    snprintf(text, sizeof text, "%p", (void *)self->allocator);
    ck_assert_str_eq(text_of(frame, "allocator"), text);
}

static const json_t *context_of(const json_t *root, ctxrt_context *handle)
{
    uint64_t id;
    size_t index;
    json_t *context;
    cx_assert_ok(ctxrt_context_id(handle, &id));
    json_array_foreach(json_object_get(root, "contexts"), index, context)
        if ((uint64_t)number_of(context, "context") == id)
            return context;
    ck_abort_msg("there is no context %llu", (unsigned long long)id);
    return NULL;
}

START_TEST(json_shows_threads_detached_frames_contexts_and_what_they_hold)
{
    static const expected_frame main_frames[] = {
        {"foreign", "cuda:3", "foreign", NULL, 0},    {"push", "cuda:3", "primary", NULL, 0},
        {"scope", "cpu:0", "primary", "main.c", 13},  {"push", "cuda:1", "created", "main.c", 12},
        {"set", "cuda:0", "primary", "main.c", 11},
    };
    static const expected_frame giver_frame = {"push", "cuda:2", "primary", "giver.c", 21};
    static const expected_frame taker_frame = {"attach", "cuda:1", "created", "giver.c", 22};
    state self;
    set_up(&self);
    json_t *root = take_json();
    ck_assert_int_eq(number_of(root, "schema"), 1);
    const json_t *frames = frames_of(root, "main thread");
    ck_assert_uint_eq(json_array_size(frames), 5);
    for (int i = 0; i < 5; i++)
        check_frame(json_array_get(frames, (size_t)i), &main_frames[i], 4 - i);
    ck_assert_uint_eq(json_array_size(frames_of(root, "giver")), 1);
    check_frame(json_array_get(frames_of(root, "giver"), 0), &giver_frame, 0);
    ck_assert_uint_eq(json_array_size(frames_of(root, "taker")), 1);
    check_frame(json_array_get(frames_of(root, "taker"), 0), &taker_frame, 0);
    check_used(json_array_get(frames_of(root, "taker"), 0), &self);

    ck_assert_uint_eq(json_array_size(json_object_get(root, "detached")), 1);
    const json_t *detached = json_array_get(json_object_get(root, "detached"), 0);
    ck_assert_int_eq(number_of(detached, "line"), 23);
    check_used(detached, &self);

    const json_t *context = context_of(root, self.created);
    ck_assert_str_eq(text_of(context, "context_kind"), "created");
    ck_assert_str_eq(text_of(context, "device"), "cuda:1");
    ck_assert_int_eq(number_of(context, "memory_bytes"), 4096 + 100);
    ck_assert_int_eq(number_of(context, "memory_count"), 2);
    ck_assert_int_eq(number_of(context, "streams"), 1);
    ck_assert_int_eq(number_of(context, "events"), 1);
    ck_assert_int_eq(number_of(context, "allocators"), 1);
    ck_assert_int_eq(number_of(context, "detached_frames"), 1);
    ck_assert_int_eq(number_of(context, "holds"), 0);
    ck_assert_int_eq(number_of(context_of(root, self.adopted), "holds"), 1);
    ck_assert_str_eq(text_of(context_of(root, self.adopted), "context_kind"), "foreign");
    ck_assert_int_eq(number_of(json_object_get(root, "host"), "memory_bytes"), 77);
    ck_assert_int_eq(number_of(json_object_get(root, "host"), "memory_count"), 1);
    json_decref(root);
    take_down(&self);
}
END_TEST

static long long held_by(ctxrt_context *context)
{
    json_t *root = take_json();
    long long bytes = number_of(context_of(root, context), "memory_bytes");
    json_decref(root);
    return bytes;
}

START_TEST(every_kind_of_memory_counts_until_it_is_released)
{
    static char pages[8192] __attribute__((aligned(4096)));
    ctxrt_context *context;
    ctxrt_memory *memory, *pinned;
    void *raw, *managed, *async;
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(0), 0, &context));
    cx_assert_ok(ctxrt_stack_push(context));
    ck_assert_int_eq(held_by(context), 0);
    cx_assert_ok(ctxrt_memory_alloc(1000, &memory));
    ck_assert_int_eq(held_by(context), 1000);
    cx_assert_ok(ctxrt_memory_alloc_pinned(200, &pinned));
    ck_assert_int_eq(held_by(context), 1200);
    cx_assert_ok(ctxrt_alloc(30, &raw));
    ck_assert_int_eq(held_by(context), 1230);
    cx_assert_ok(ctxrt_alloc_managed(4, &managed));
    ck_assert_int_eq(held_by(context), 1234);
    cx_assert_ok(ctxrt_alloc_async(50000, NULL, &async));
    ck_assert_int_eq(held_by(context), 51234);
    cx_assert_ok(ctxrt_host_register(pages, sizeof pages));
    ck_assert_int_eq(held_by(context), 59426);
    cx_assert_status(ctxrt_memory_alloc((size_t)1 << 40, &memory), CTXRT_ERROR_OUT_OF_MEMORY);
    cx_assert_error(ctxrt_host_register(pages, sizeof pages), CTXRT_ERROR_ALREADY);
    ck_assert_int_eq(held_by(context), 59426);
    cx_assert_ok(ctxrt_host_unregister(pages));
    cx_assert_ok(ctxrt_free_async(async, NULL));
    cx_assert_ok(ctxrt_free(managed));
    cx_assert_ok(ctxrt_free(raw));
    ck_assert_int_eq(held_by(context), 1200);
    cx_assert_ok(ctxrt_memory_release(pinned));
    cx_assert_ok(ctxrt_memory_release(memory));
    ck_assert_int_eq(held_by(context), 0);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_context_destroy(context));
}
END_TEST

/* ---- what the documentation says ---- */

typedef struct names {
    char texts[64][64];
    size_t count;
} names;

static void add_name(names *list, const char *text)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->texts[i], text) == 0)
            return;
    ck_assert_uint_lt(list->count, 64);
    snprintf(list->texts[list->count++], sizeof list->texts[0], "%s", text);
}

/* "threads[].frames[].level": every field that is there. */
static void add_fields(names *list, const char *path, json_t *value)
{
    char inner[64];
    const char *key;
    size_t index;
    json_t *element;
    json_object_foreach(value, key, element) {
        snprintf(inner, sizeof inner, "%s%s%s", path, path[0] != '\0' ? "." : "", key);
        add_fields(list, inner, element);
    }
    snprintf(inner, sizeof inner, "%s[]", path);
    json_array_foreach(value, index, element)
        add_fields(list, inner, element);
    if (path[0] != '\0' &&
        !(json_is_object(value) && strchr(path, '[') != NULL && path[strlen(path) - 1] == ']'))
        add_name(list, path);
}

/* The first column of the tables before those of allocators: | `field` | ... */
static void read_documented(names *list)
{
    char path[4096], line[1024], name[64];
    snprintf(path, sizeof path, "%s/docs/snapshots.md", getenv("top_srcdir"));
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s", path);
    while (fgets(line, sizeof line, file) != NULL && strcmp(line, "## Allocators\n") != 0)
        if (sscanf(line, "| `%63[^`]` |", name) == 1)
            add_name(list, name);
    fclose(file);
}

static void check_contained(const names *some, const names *all, const char *where)
{
    for (size_t i = 0; i < some->count; i++) {
        bool found = false;
        for (size_t j = 0; j < all->count && !found; j++)
            found = strcmp(some->texts[i], all->texts[j]) == 0;
        ck_assert_msg(found, "%s is not in %s", some->texts[i], where);
    }
}

START_TEST(the_documentation_names_every_field_and_no_other)
{
    static names shown, documented;
    state self;
    set_up(&self);
    json_t *root = take_json();
    add_fields(&shown, "", root);
    json_decref(root);
    take_down(&self);
    read_documented(&documented);
    check_contained(&shown, &documented, "docs/snapshots.md");
    check_contained(&documented, &shown, "a snapshot that has everything");
}
END_TEST

/* ---- text ---- */

static void check_line(const char *text, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    ck_assert_msg(strstr(text, line) != NULL, "there is no line\n%s\nin\n%s", line, text);
}

static unsigned long long id_of(ctxrt_context *context)
{
    uint64_t id;
    cx_assert_ok(ctxrt_context_id(context, &id));
    return id;
}

START_TEST(the_text_shows_the_same)
{
    state self;
    set_up(&self);
    char *text = take_snapshot(CTXRT_SNAPSHOT_TEXT);
    check_line(text,
               "thread %d \"main thread\": 5 frames\n  ->  4  cuda:3   foreign  foreign context "
               "%llu\n      3  ",
               (int)gettid(), id_of(self.adopted));
    check_line(text, "      2  cpu:0    scope    primary context ");
    check_line(text,
               "  main.c:13\n      1  cuda:1   push     created context %llu  main.c:12\n      0  "
               "cuda:0   set  ",
               id_of(self.created));
    check_line(text,
               "\"taker\": 1 frame\n  ->  0  cuda:1   attach   created context %llu  stream %p  "
               "allocator %p  "
               "giver.c:22\n",
               id_of(self.created), (void *)self.stream, (void *)self.allocator);
    check_line(text, "cuda:1  created context %llu  stream %p  allocator %p  giver.c:23\n",
               id_of(self.created), (void *)self.stream, (void *)self.allocator);
    check_line(text, "\nmemory of created context %llu of cuda:1: 4196 bytes in 2 pieces\n",
               id_of(self.created));
    check_line(text, "\nmemory of the host: 77 bytes in 1 piece\n");
    free(text);
    take_down(&self);
}
END_TEST

/* ---- files that cannot be written ---- */

static void check_refused(FILE *file, ctxrt_snapshot_format format, const char *reason)
{
    cx_assert_error(ctxrt_snapshot_write(file, format), CTXRT_ERROR_SYSTEM);
    ck_assert_msg(strstr(ctxrt_last_error()->message, reason) != NULL, "%s",
                  ctxrt_last_error()->message);
}

START_TEST(a_file_that_cannot_be_written_is_an_error_that_says_why_and_loses_nothing)
{
    int ends[2];
    char small[16];
    signal(SIGPIPE, SIG_IGN);
    cx_assert_ok(ctxrt_device_push_at(CTXRT_CUDA(0), "full.c", 1));
    for (int format = CTXRT_SNAPSHOT_TEXT; format <= CTXRT_SNAPSHOT_JSON; format++) {
        if (system("test -c /dev/full") == 0) {
            FILE *full = fopen("/dev/full", "w"); /* with a buffer that the whole text fits in */
            check_refused(full, (ctxrt_snapshot_format)format, "No space left");
            fclose(full);
        }
        ck_assert_int_eq(pipe(ends), 0);
        close(ends[0]);
        FILE *closed = fdopen(ends[1], "w");
        check_refused(closed, (ctxrt_snapshot_format)format, "Broken pipe");
        fclose(closed);
        FILE *reading = fopen("/dev/null", "r");
        check_refused(reading, (ctxrt_snapshot_format)format, "Bad file descriptor");
        fclose(reading);
        FILE *memory = fmemopen(small, sizeof small, "w");
        check_refused(memory, (ctxrt_snapshot_format)format, "only a part");
        fclose(memory);
    }
    cx_assert_error(ctxrt_snapshot_write(NULL, CTXRT_SNAPSHOT_TEXT), CTXRT_ERROR_NULL_POINTER);
    char *text = take_snapshot(CTXRT_SNAPSHOT_TEXT);
    check_line(text, "full.c:1\n");
    free(text);
    ck_assert_uint_eq(ctxrt_stack_depth(), 1);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- when it may be taken ---- */

static int status_of(pid_t child)
{
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void check_nothing_shown(void)
{
    json_t *root = take_json();
    size_t index;
    json_t *thread;
    json_array_foreach(json_object_get(root, "threads"), index, thread)
        ck_assert_uint_eq(json_array_size(json_object_get(thread, "frames")), 0);
    ck_assert_uint_eq(json_array_size(json_object_get(root, "contexts")), 0);
    ck_assert_uint_eq(json_array_size(json_object_get(root, "detached")), 0);
    json_decref(root);
}

START_TEST(before_the_start_and_after_a_shutdown_it_shows_nothing_and_starts_nothing)
{
    setenv("CTXRT_DRIVER", "no such driver", 1); /* a start would be refused */
    check_nothing_shown();
    unsetenv("CTXRT_DRIVER");
    cx_fixture_start_with(2, CTXRT_FOREIGN_ERROR); /* and other options would be, after one */
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
    setenv("CTXRT_DRIVER", "no such driver", 1);
    check_nothing_shown();
}
END_TEST

START_TEST(a_forked_child_is_refused)
{
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    pid_t child = fork();
    if (child == 0)
        _exit(ctxrt_snapshot_write(stderr, CTXRT_SNAPSHOT_TEXT) != CTXRT_ERROR_FORKED);
    ck_assert_int_eq(status_of(child), 0);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static atomic_int taken;

static void take_one(void)
{
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (ctxrt_snapshot_write(file, CTXRT_SNAPSHOT_JSON) == CTXRT_SUCCESS)
        atomic_fetch_add(&taken, 1);
    fclose(file);
    free(text);
}

static void take_in_host_function(void *argument)
{
    (void)argument;
    take_one();
}

START_TEST(a_host_function_may_take_one)
{
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_stream_add_host_function(NULL, take_in_host_function, NULL));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    ck_assert_int_eq(atomic_load(&taken), 1);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static void take_in_log(ctxrt_log_level level, const char *line, void *user_data)
{
    (void)level;
    (void)line;
    (void)user_data;
    take_one();
}

static void *leave_a_frame(void *argument)
{
    (void)argument;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    return NULL;
}

START_TEST(a_log_callback_may_take_one_when_a_thread_ends_and_while_the_runtime_starts)
{
    cx_assert_ok(ctxrt_log_set(take_in_log, NULL, CTXRT_LOG_INFO));
    setenv("CTXRT_LIBCUDA", "/no/such/libcuda.so.1", 1);
    /* says that there is no libcuda, with the lock of the runtime held */
    cx_assert_ok(ctxrt_init(NULL));
    ck_assert_int_eq(atomic_load(&taken), 1);
    cx_assert_ok(ctxrt_shutdown());
    cx_fixture_start();
    on_a_thread(leave_a_frame, NULL);
    ck_assert_int_eq(atomic_load(&taken), 2);
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_WARNING));
    cx_fixture_end();
}
END_TEST

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
    take_one();
}

START_TEST(one_may_be_taken_while_a_context_ends)
{
    void *handle;
    cx_assert_ok(ctxrt_handle_register("snapshot", make_handle, end_handle, NULL));
    cx_assert_ok(ctxrt_handle_get(CTXRT_CUDA(0), "snapshot", &handle));
    cx_assert_ok(ctxrt_device_release(CTXRT_CUDA(0)));
    ck_assert_int_eq(atomic_load(&taken), 1);
}
END_TEST

static Suite *snapshot_suite(void)
{
    Suite *suite = suite_create("snapshot");
    TCase *running = tcase_create("running"), *stopped = tcase_create("stopped");
    tcase_add_checked_fixture(running, cx_fixture_start, cx_fixture_end);
    tcase_add_test(running, json_shows_threads_detached_frames_contexts_and_what_they_hold);
    tcase_add_test(running, every_kind_of_memory_counts_until_it_is_released);
    tcase_add_test(running, the_documentation_names_every_field_and_no_other);
    tcase_add_test(running, the_text_shows_the_same);
    tcase_add_test(running,
                   a_file_that_cannot_be_written_is_an_error_that_says_why_and_loses_nothing);
    tcase_add_test(running, a_forked_child_is_refused);
    tcase_add_test(running, a_host_function_may_take_one);
    tcase_add_test(running, one_may_be_taken_while_a_context_ends);
    tcase_add_test(stopped,
                   before_the_start_and_after_a_shutdown_it_shows_nothing_and_starts_nothing);
    tcase_add_test(stopped,
                   a_log_callback_may_take_one_when_a_thread_ends_and_while_the_runtime_starts);
    suite_add_tcase(suite, running);
    suite_add_tcase(suite, stopped);
    return suite;
}

CX_TESTS(snapshot_suite);
