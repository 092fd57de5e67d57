/*
 * A program that does not link libctxrt, and opens and closes it: the library stays (-z nodelete),
 * so that whatever still runs in it or is called by it at a thread's or the process's end finds its
 * code.
 */
#include "test.h"

#include <ctxrt/ctxrt.h>
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the tests call; each is looked up by its name. */
#define CALLS(X)          \
    X(ctxrt_init)         \
    X(ctxrt_shutdown)     \
    X(ctxrt_last_error)   \
    X(ctxrt_log_set)      \
    X(ctxrt_device_push)  \
    X(ctxrt_device_get)   \
    X(ctxrt_stack_pop)    \
    X(ctxrt_stack_depth)  \
    X(ctxrt_stream_current) \
    X(ctxrt_stream_add_host_function) \
    X(ctxrt_stream_synchronize) \
    X(ctxrt_memory_alloc) \
    X(ctxrt_memory_pointer) \
    X(ctxrt_fill)         \
    X(ctxrt_memory_release)

typedef struct library {
    void *handle;
#define FIELD(name) __typeof__(&name) name;
    CALLS(FIELD)
#undef FIELD
} library;

static const char *library_path(void)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/lib/.libs/libctxrt.so.0", getenv("top_builddir"));
    return path;
}

static void library_open(library *self)
{
    self->handle = dlopen(library_path(), RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(self->handle != NULL, "%s", dlerror());
#define LOOK_UP(name)                                     \
    *(void **)&self->name = dlsym(self->handle, #name);   \
    ck_assert_msg(self->name != NULL, "%s", dlerror());
    CALLS(LOOK_UP)
#undef LOOK_UP
}

static void library_close(library *self)
{
    ck_assert_int_eq(dlclose(self->handle), 0);
    self->handle = NULL;
}

static void library_start(const library *self)
{
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    options.cuda_driver = CTXRT_CUDA_DRIVER_EMULATED;
    options.emulated_devices = 2;
    options.emulated_memory_bytes = (size_t)64 << 20;
    ck_assert_int_eq(self->ctxrt_init(&options), CTXRT_SUCCESS);
}

static bool use(const library *self)
{
    ctxrt_memory *memory;
    return self->ctxrt_device_push(CTXRT_CUDA(1)) == CTXRT_SUCCESS &&
           self->ctxrt_memory_alloc(1 << 16, &memory) == CTXRT_SUCCESS &&
           self->ctxrt_fill(self->ctxrt_memory_pointer(memory), 1, 1 << 16) == CTXRT_SUCCESS &&
           self->ctxrt_memory_release(memory) == CTXRT_SUCCESS &&
           self->ctxrt_stack_pop() == CTXRT_SUCCESS;
}

static bool is_mapped(void)
{
    void *handle = dlopen(library_path(), RTLD_NOW | RTLD_NOLOAD);
    if (handle != NULL)
        dlclose(handle);
    return handle != NULL;
}

/* ---- what must not grow ---- */

static int count_tasks(void)
{
    int count = 0;
    DIR *directory = opendir("/proc/self/task");
    ck_assert_ptr_nonnull(directory);
    while (readdir(directory) != NULL)
        count++;
    closedir(directory);
    return count;
}

static int count_maps_of_the_library(void)
{
    char line[4096];
    int count = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file) != NULL)
        count += strstr(line, "libctxrt") != NULL || strstr(line, "memfd") != NULL;
    fclose(file);
    return count;
}

static int count_free_keys(void)
{
    static pthread_key_t keys[4096];
    int count = 0;
    while (count < 4096 && pthread_key_create(&keys[count], NULL) == 0)
        count++;
    for (int i = 0; i < count; i++)
        pthread_key_delete(keys[i]);
    return count;
}

static int count_files(void)
{
    int count = 0;
    DIR *directory = opendir("/proc/self/fd");
    ck_assert_ptr_nonnull(directory);
    while (readdir(directory) != NULL)
        count++;
    closedir(directory);
    return count;
}

typedef struct holdings {
    int tasks, maps, free_keys, files;
} holdings;

static holdings count_holdings(void)
{
    return (holdings){count_tasks(), count_maps_of_the_library(), count_free_keys(), count_files()};
}

static void open_use_and_close(void)
{
    library ctxrt;
    library_open(&ctxrt);
    library_start(&ctxrt);
    ck_assert_msg(use(&ctxrt), "%s", ctxrt.ctxrt_last_error()->message);
    ck_assert_int_eq(ctxrt.ctxrt_shutdown(), CTXRT_SUCCESS);
    library_close(&ctxrt);
}

START_TEST(opened_used_and_closed_a_hundred_times_nothing_grows)
{
    open_use_and_close();
    const holdings first = count_holdings();
    ck_assert_int_gt(first.maps, 0);
    for (int i = 0; i < 100; i++)
        open_use_and_close();
    const holdings last = count_holdings();
    ck_assert_int_eq(last.tasks, first.tasks);
    ck_assert_int_eq(last.maps, first.maps);
    ck_assert_int_eq(last.free_keys, first.free_keys);
    ck_assert_int_eq(last.files, first.files);
}
END_TEST

START_TEST(a_closed_library_stays_with_its_state_and_can_be_opened_again)
{
    library first, second;
    ctxrt_device device;
    library_open(&first);
    library_start(&first);
    ck_assert_int_eq(first.ctxrt_device_push(CTXRT_CUDA(1)), CTXRT_SUCCESS);
    library_close(&first);
    ck_assert(is_mapped());
    ck_assert_int_eq(first.ctxrt_device_get(&device), CTXRT_SUCCESS);
    library_open(&second);
    ck_assert(second.ctxrt_device_get == first.ctxrt_device_get);
    ck_assert_uint_eq(second.ctxrt_stack_depth(), 1);
    ck_assert_int_eq(second.ctxrt_device_get(&device), CTXRT_SUCCESS);
    ck_assert_int_eq(device.index, 1);
    ck_assert_int_eq(second.ctxrt_stack_pop(), CTXRT_SUCCESS);
    ck_assert_int_eq(second.ctxrt_shutdown(), CTXRT_SUCCESS);
    library_close(&second);
}
END_TEST

/* ---- threads ---- */

enum { THREADS = 4 };
static library shared;
static sem_t ready, closed, opened;
static atomic_int failures, marks, warnings;

static void count_warning(ctxrt_log_level level, const char *line, void *unused)
{
    (void)level;
    (void)unused;
    if (strstr(line, "still pushed") != NULL)
        atomic_fetch_add(&warnings, 1);
}

static void mark(void *unused)
{
    (void)unused;
    atomic_fetch_add(&marks, 1);
}

/* Ends with a frame and a default stream, whose destructor is the library's. */
static void *outlive_the_close(void *unused)
{
    ctxrt_stream *stream;
    if (!use(&shared) || shared.ctxrt_device_push(CTXRT_CUDA(0)) != CTXRT_SUCCESS ||
        shared.ctxrt_stream_current(&stream) != CTXRT_SUCCESS)
        atomic_fetch_add(&failures, 1);
    sem_post(&ready);
    sem_wait(&closed);
    return unused;
}

START_TEST(threads_that_used_the_library_may_end_after_it_was_closed)
{
    pthread_t threads[THREADS];
    sem_init(&ready, 0, 0);
    sem_init(&closed, 0, 0);
    library_open(&shared);
    library_start(&shared);
    ck_assert_int_eq(shared.ctxrt_log_set(count_warning, NULL, CTXRT_LOG_WARNING), CTXRT_SUCCESS);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, outlive_the_close, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        sem_wait(&ready);
    library_close(&shared);
    for (int i = 0; i < THREADS; i++)
        sem_post(&closed);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(atomic_load(&failures), 0);
    ck_assert_int_eq(atomic_load(&warnings), THREADS);
    ck_assert_int_eq(shared.ctxrt_shutdown(), CTXRT_SUCCESS);
}
END_TEST

static void wait_to_be_opened(void *unused)
{
    (void)unused;
    sem_wait(&opened);
}

START_TEST(work_in_flight_goes_on_after_the_library_was_closed)
{
    sem_init(&opened, 0, 0);
    library_open(&shared);
    library_start(&shared);
    ck_assert_int_eq(shared.ctxrt_device_push(CTXRT_CUDA(0)), CTXRT_SUCCESS);
    ck_assert_int_eq(shared.ctxrt_stream_add_host_function(NULL, wait_to_be_opened, NULL),
                     CTXRT_SUCCESS);
    ck_assert_int_eq(shared.ctxrt_stream_add_host_function(NULL, mark, NULL), CTXRT_SUCCESS);
    library_close(&shared);
    sem_post(&opened);
    library_open(&shared);
    ck_assert_int_eq(shared.ctxrt_stream_synchronize(NULL), CTXRT_SUCCESS);
    ck_assert_int_eq(atomic_load(&marks), 1);
    ck_assert_int_eq(shared.ctxrt_stack_pop(), CTXRT_SUCCESS);
    ck_assert_int_eq(shared.ctxrt_shutdown(), CTXRT_SUCCESS);
    library_close(&shared);
}
END_TEST

/* ---- the process's end ---- */

static void see_the_end(void)
{
    ctxrt_device device;
    if (shared.ctxrt_device_get(&device) != CTXRT_ERROR_SHUTDOWN)
        _exit(3);
}

START_TEST(the_process_ends_well_after_the_library_was_closed)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        ctxrt_memory *memory;
        atexit(see_the_end);
        library_open(&shared);
        library_start(&shared);
        if (shared.ctxrt_device_push(CTXRT_CUDA(0)) != CTXRT_SUCCESS ||
            shared.ctxrt_memory_alloc(64, &memory) != CTXRT_SUCCESS)
            _exit(2);
        library_close(&shared);
        exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%#x", status);
}
END_TEST

static Suite *ending_unload_suite(void)
{
    Suite *suite = suite_create("dlopen and dlclose");
    TCase *tcase = tcase_create("dlopen and dlclose");
    tcase_add_test(tcase, opened_used_and_closed_a_hundred_times_nothing_grows);
    tcase_add_test(tcase, a_closed_library_stays_with_its_state_and_can_be_opened_again);
    tcase_add_test(tcase, threads_that_used_the_library_may_end_after_it_was_closed);
    tcase_add_test(tcase, work_in_flight_goes_on_after_the_library_was_closed);
    tcase_add_test(tcase, the_process_ends_well_after_the_library_was_closed);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(ending_unload_suite);
