/*
 * A program that ends in the way its argument names, with an object of each kind live and frames on
 * the stack; see check_ending_process.c. It exits with 0 if every call on the way answered as it
 * should. Compiled twice: with the shared library, and with the rooms (INSIDE), where the driver
 * calls are counted too.
 */
#include "every_call.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef INSIDE
#include "calls.h"
#else
static void calls_install(void)
{
}
static void calls_count_all(void)
{
}
static long calls_seen(int driver)
{
    (void)driver;
    return 0;
}
#endif

static every_object objects;
static bool in_destructor; /* the last look is the destructor's */

static void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    _exit(1);
}

static void need(bool condition, const char *what)
{
    if (!condition)
        fail(what);
}

static void start(void)
{
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    options.cuda_driver = CTXRT_CUDA_DRIVER_EMULATED;
    options.emulated_devices = 2;
    options.emulated_memory_bytes = (size_t)64 << 20;
    need(ctxrt_init(&options) == CTXRT_SUCCESS, "the runtime did not start");
    calls_install();
    need(every_object_make(&objects), "an object could not be made");
    need(ctxrt_device_set(CTXRT_CUDA(1)) == CTXRT_SUCCESS, "a device could not be set");
}

/* Where the process is known to be ending. */
static void look_at_the_end(void)
{
    calls_count_all();
    need(every_call_wrong(&objects, CTXRT_ERROR_SHUTDOWN, CTXRT_SUCCESS) == 0,
         "a wrong answer at the end");
    need(calls_seen(0) == 0, "a driver was called at the end");
}

/* Where it is not known yet. */
static void give_all_back(void)
{
    need(ctxrt_stack_pop() == CTXRT_ERROR_NOT_PERMITTED, "the scope is not there any more");
    need(every_object_end(&objects), "an object could not be given back in an exit handler");
    need(ctxrt_shutdown() == CTXRT_SUCCESS,
         "the runtime could not be shut down in an exit handler");
}

__attribute__((destructor)) static void destructor_of_the_program(void)
{
    if (in_destructor)
        look_at_the_end();
}

/* ---- the ways ---- */

static void return_from_main(void)
{
    start();
}

static void call_from_a_destructor(void)
{
    start();
    in_destructor = true;
}

static void call_from_a_handler_of_before(void)
{
    atexit(look_at_the_end);
    start();
}

static void call_from_a_handler_of_after(void)
{
    start();
    atexit(give_all_back);
}

static void call_first_from_a_handler_body(void)
{
    int count;
    need(ctxrt_device_count(CTXRT_DEVICE_CPU, &count) == CTXRT_SUCCESS && count == 1,
         "the first call of all failed in an exit handler");
    start();
    in_destructor = true;
}

static void call_first_from_a_handler(void)
{
    setenv("CTXRT_DRIVER", "emulated", 1);
    setenv("CTXRT_EMU_DEVICES", "2", 1);
    setenv("CTXRT_EMU_MEMORY", "64M", 1);
    atexit(call_first_from_a_handler_body);
}

static void *exit_here(void *unused)
{
    exit(0);
    return unused;
}

static void exit_from_another_thread(void)
{
    pthread_t thread;
    atexit(look_at_the_end);
    start();
    pthread_create(&thread, NULL, exit_here, NULL);
    pthread_join(thread, NULL);
}

static void exit_host_function(void *unused)
{
    (void)unused;
    exit(0);
}

static void exit_from_a_host_function(void)
{
    atexit(look_at_the_end);
    start();
    need(ctxrt_stream_add_host_function(objects.stream, exit_host_function, NULL) == CTXRT_SUCCESS,
         "no host function");
    for (;;)
        pause();
}

static void *exit_this_thread(void *unused)
{
    (void)unused;
    need(ctxrt_device_push(CTXRT_CUDA(0)) == CTXRT_SUCCESS, "the last thread could not push");
    return NULL;
}

static void leave_main_to_the_last_thread(void)
{
    pthread_t thread;
    atexit(look_at_the_end);
    start();
    pthread_create(&thread, NULL, exit_this_thread, NULL);
    pthread_detach(thread);
    pthread_exit(NULL);
}

static void exit_quickly(void)
{
    at_quick_exit(look_at_the_end);
    start();
    at_quick_exit(give_all_back);
    quick_exit(0);
}

static void exit_at_once(void)
{
    start();
    atexit(look_at_the_end);
    _exit(0);
}

/* ---- while threads are in calls ---- */

enum { WORKERS = 4 };
static pthread_t workers[WORKERS];
static sem_t working, never;
static atomic_int wrong;
static char first_wrong[512];

static void note_wrong(const char *what)
{
    if (atomic_fetch_add(&wrong, 1) == 0)
        snprintf(first_wrong, sizeof first_wrong, "%s: %s", what, ctxrt_last_error()->message);
}

/* Calls that are under way when the end comes may fail in any way; from then on all say
 * SHUTDOWN. */
static void *work_until_the_end(void *argument)
{
    ctxrt_memory *memory;
    ctxrt_scope scope = {0};
    ctxrt_status status = CTXRT_SUCCESS;
    const int number = *(const int *)argument;
    for (long i = 0; status == CTXRT_SUCCESS; i++) {
        if (i == 10)
            sem_post(&working);
        status = ctxrt_scope_enter(number % 2 != 0 ? CTXRT_CUDA(0) : CTXRT_CPU(0), &scope);
        if (status == CTXRT_SUCCESS)
            status = ctxrt_memory_alloc(1 << 16, &memory);
        if (status == CTXRT_SUCCESS)
            status = ctxrt_fill_async(ctxrt_memory_pointer(memory), 1, 1 << 16, NULL);
        if (status == CTXRT_SUCCESS)
            status = ctxrt_device_synchronize();
        if (status == CTXRT_SUCCESS)
            status = ctxrt_memory_release(memory);
        if (status == CTXRT_SUCCESS)
            status = ctxrt_scope_leave(&scope);
    }
    if (ctxrt_device_set(CTXRT_CPU(0)) != CTXRT_ERROR_SHUTDOWN)
        note_wrong("a call failed before the end had come");
    return NULL;
}

static void wait_for_ever(void *unused)
{
    (void)unused;
    sem_wait(&never);
}

static void *wait_in_a_call(void *unused)
{
    if (ctxrt_device_set(CTXRT_CUDA(1)) != CTXRT_SUCCESS ||
        ctxrt_stream_add_host_function(NULL, wait_for_ever, NULL) != CTXRT_SUCCESS)
        note_wrong("no work to wait for");
    sem_post(&working);
    /* It never comes back, unless the end comes before the call begins. */
    if (ctxrt_stream_synchronize(NULL) != CTXRT_ERROR_SHUTDOWN)
        note_wrong("a wait was not left to wait");
    return unused;
}

static void join_the_workers(void)
{
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    need(atomic_load(&wrong) == 0, first_wrong);
    look_at_the_end();
}

static void exit_while_threads_are_in_calls(void)
{
    static int numbers[WORKERS];
    pthread_t waiter;
    need(ctxrt_log_set(NULL, NULL, CTXRT_LOG_OFF) == CTXRT_SUCCESS, "no log");
    sem_init(&working, 0, 0);
    sem_init(&never, 0, 0);
    atexit(join_the_workers);
    start();
    for (int i = 0; i < WORKERS; i++) {
        numbers[i] = i;
        pthread_create(&workers[i], NULL, work_until_the_end, &numbers[i]);
    }
    pthread_create(&waiter, NULL, wait_in_a_call, NULL);
    pthread_detach(waiter);
    for (int i = 0; i < WORKERS + 1; i++)
        sem_wait(&working);
    exit(0);
}

/* ---- while a thread starts the runtime ---- */

static sem_t starting, ended;
static pthread_t starter;
static ctxrt_status started_with;

/* "No CUDA devices" is said in the middle of the start. */
static void hold_the_start(ctxrt_log_level level, const char *line, void *unused)
{
    (void)level;
    (void)unused;
    if (strstr(line, "/no/such/libcuda") == NULL)
        return;
    sem_post(&starting);
    sem_wait(&ended);
}

static void *start_again(void *unused)
{
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    options.cuda_driver = CTXRT_CUDA_DRIVER_LIBCUDA;
    options.libcuda = "/no/such/libcuda.so.1";
    started_with = ctxrt_init(&options);
    return unused;
}

static void let_the_start_go_on(void)
{
    sem_post(&ended);
    pthread_join(starter, NULL);
    need(started_with == CTXRT_ERROR_SHUTDOWN, "the runtime started after the end had come");
    look_at_the_end();
}

static void exit_while_a_thread_starts_the_runtime(void)
{
    sem_init(&starting, 0, 0);
    sem_init(&ended, 0, 0);
    atexit(let_the_start_go_on);
    start();
    need(ctxrt_stack_pop() == CTXRT_ERROR_NOT_PERMITTED, "the scope is not there any more");
    need(every_object_end(&objects), "an object could not be given back");
    need(ctxrt_shutdown() == CTXRT_SUCCESS, "no shutdown");
    need(ctxrt_log_set(hold_the_start, NULL, CTXRT_LOG_INFO) == CTXRT_SUCCESS, "no log");
    pthread_create(&starter, NULL, start_again, NULL);
    sem_wait(&starting);
    exit(0);
}

/* ---- a library's destructor ---- */

/* The module's destructor calls this: it runs after those of the program. */
void ending_program_look(void);
void ending_program_look(void)
{
    look_at_the_end();
    _exit(0); /* the program expects this, and not what comes if the destructor did not run */
}

static void call_from_a_destructor_of_a_library(void)
{
    const char *path = getenv("ENDING_MODULE");
    need(path != NULL, "ENDING_MODULE is not set");
    start();
    void *module = dlopen(path, RTLD_NOW);
    need(module != NULL, "the module could not be loaded");
    void (*arm)(void (*look)(void));
    *(void **)&arm = dlsym(module, "ending_module_arm");
    need(arm != NULL, "the module has no such function");
    arm(ending_program_look);
    exit(7);
}

static const struct {
    const char *name;
    void (*go)(void);
} ways[] = {
    {"return-from-main", return_from_main},
    {"destructor", call_from_a_destructor},
    {"handler-of-before", call_from_a_handler_of_before},
    {"handler-of-after", call_from_a_handler_of_after},
    {"first-call-in-handler", call_first_from_a_handler},
    {"exit-from-thread", exit_from_another_thread},
    {"exit-from-host-function", exit_from_a_host_function},
    {"last-thread", leave_main_to_the_last_thread},
    {"quick-exit", exit_quickly},
    {"exit-at-once", exit_at_once},
    {"exit-in-calls", exit_while_threads_are_in_calls},
    {"exit-in-start", exit_while_a_thread_starts_the_runtime},
    {"library-destructor", call_from_a_destructor_of_a_library},
};

int main(int argc, char **argv)
{
    const char *wanted = argc > 1 ? argv[1] : ways[0].name;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        if (strcmp(ways[i].name, wanted) == 0) {
            ways[i].go();
            return 0;
        }
    return 2;
}
