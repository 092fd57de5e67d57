/*
 * Lives of the runtime, one after another: with other options, from various threads, with the
 * handles of the life before; and starts and shutdowns while other threads use it.
 */
#include "gate.h"

#include "context/context.h"
#include "device/device.h"
#include <stdbool.h>
#include <stdlib.h>

enum { LIVES = 1000, THREADS = 4 };

/* ---- one life after another ---- */

typedef struct stale {
    bool any;
    ctxrt_context *primary, *context;
    ctxrt_stream *default_stream, *stream;
    ctxrt_event *event;
    ctxrt_allocator *default_allocator, *allocator;
    ctxrt_memory *memory, *host_memory;
    ctxrt_detached_frame *detached;
    ctxrt_scope scope;
    void *pointer;
} stale;

static stale before;

static char *standin_path(void)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/lib/shim/cuda-13/.libs/libcuda.so.1", getenv("top_builddir"));
    return path;
}

/* The number of devices of type CUDA that the life is to have. */
static int begin(int life)
{
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    options.foreign = life % 2 == 0 ? CTXRT_FOREIGN_FOLLOW : CTXRT_FOREIGN_ERROR;
    options.emulated_devices = 1 + life % 3;
    options.emulated_memory_bytes = (size_t)(32 << life % 3) << 20;
    options.cuda_driver = CTXRT_CUDA_DRIVER_EMULATED;
    if (life % 5 == 3)
        options.cuda_driver = CTXRT_CUDA_DRIVER_NONE;
    if (life % 5 == 4) {
        options.cuda_driver = CTXRT_CUDA_DRIVER_LIBCUDA;
        options.libcuda = standin_path();
    }
    cx_assert_ok(ctxrt_init(&options));
    if (life % 5 == 3)
        return 0;
    return life % 5 == 4 ? 4 : options.emulated_devices;
}

static void check_devices(int life, int cuda_devices)
{
    size_t free_bytes, total_bytes;
    int count;
    cx_assert_ok(ctxrt_device_count(CTXRT_DEVICE_CUDA, &count));
    ck_assert_int_eq(count, cuda_devices);
    cx_assert_error(ctxrt_device_push(CTXRT_CUDA(cuda_devices)), CTXRT_ERROR_INVALID_DEVICE);
    if (cuda_devices == 0 || life % 5 == 4)
        return;
    cx_assert_ok(ctxrt_device_memory_info(CTXRT_CUDA(0), &free_bytes, &total_bytes));
    ck_assert_uint_eq(total_bytes, (size_t)(32 << life % 3) << 20);
}

/* As if by somebody who kept them. */
static void check_stale_handles(void)
{
    stale *old = &before;
    ctxrt_memory_info info;
    ctxrt_allocator_figures figures;
    if (!old->any)
        return;
    cx_assert_error(ctxrt_stack_push(old->primary), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_stack_push(old->context), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_context_release(old->primary), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_context_destroy(old->context), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_stream_synchronize(old->default_stream), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_stream_synchronize(old->stream), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_stream_destroy(old->stream), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_event_query(old->event), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_allocator_statistics(old->default_allocator, &figures),
                    CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_allocator_statistics(old->allocator, &figures),
                    CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_memory_describe(old->memory, &info), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_memory_release(old->host_memory), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_stack_attach(old->detached), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_scope_leave(&old->scope), CTXRT_ERROR_WRONG_THREAD);
    cx_assert_error(ctxrt_free(old->pointer), CTXRT_ERROR_INVALID_ARGUMENT);
}

static void live(ctxrt_device device)
{
    ctxrt_scope scope = {0};
    before = (stale){.any = true};
    cx_assert_ok(ctxrt_device_push(device));
    cx_assert_ok(ctxrt_context_create(device, 0, &before.context));
    cx_assert_ok(ctxrt_context_current(&before.primary));
    cx_assert_ok(ctxrt_stream_current(&before.default_stream));
    cx_assert_ok(ctxrt_allocator_current(&before.default_allocator));
    cx_assert_ok(ctxrt_stream_create(0, 0, &before.stream));
    cx_assert_ok(ctxrt_event_create(0, &before.event));
    cx_assert_ok(ctxrt_allocator_create(NULL, &before.allocator));
    cx_assert_ok(ctxrt_memory_alloc(4096, &before.memory));
    cx_assert_ok(ctxrt_memory_alloc_host(64, &before.host_memory));
    cx_assert_ok(ctxrt_alloc(64, &before.pointer));
    cx_assert_ok(
        ctxrt_fill_async(ctxrt_memory_pointer(before.memory), 1, 4096, before.default_stream));
    cx_assert_ok(ctxrt_event_record(before.event, before.stream));
    cx_assert_ok(ctxrt_scope_enter(device, &scope));
    before.scope = scope;
    cx_assert_ok(ctxrt_device_push(device));
    cx_assert_ok(ctxrt_stack_detach(&before.detached));
    cx_assert_ok(ctxrt_scope_leave(&scope));
}

static void give_back(void)
{
    cx_assert_error(ctxrt_shutdown(), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_stack_discard(before.detached));
    cx_assert_ok(ctxrt_free(before.pointer));
    cx_assert_ok(ctxrt_memory_release(before.host_memory));
    cx_assert_ok(ctxrt_memory_release(before.memory));
    cx_assert_ok(ctxrt_allocator_destroy(before.allocator));
    cx_assert_ok(ctxrt_event_destroy(before.event));
    cx_assert_ok(ctxrt_stream_destroy(before.stream));
    cx_assert_ok(ctxrt_context_destroy(before.context));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_shutdown());
    cx_assert_ok(ctxrt_shutdown());
}

static sem_t turns[THREADS];

static void *take_turns(void *argument)
{
    const int *number = argument;
    for (int life = *number; life < LIVES; life += THREADS) {
        sem_wait(&turns[*number]);
        int cuda_devices = begin(life);
        check_devices(life, cuda_devices);
        check_stale_handles();
        live(cuda_devices != 0 ? CTXRT_CUDA(life % cuda_devices) : CTXRT_CPU(0));
        give_back();
        sem_post(&turns[(*number + 1) % THREADS]);
    }
    return NULL;
}

START_TEST(a_thousand_lives_from_various_threads_each_with_its_options_know_no_handle_of_the_one_before)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        sem_init(&turns[i], 0, i == 0);
        ck_assert_int_eq(pthread_create(&threads[i], NULL, take_turns, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}
END_TEST

/* ---- starts and shutdowns against each other, and against users ---- */

enum { ROUNDS = 3000 };

static atomic_int running;
static long works_wanted, shutdowns_wanted;
static atomic_long starts, shutdowns, refusals, works, interruptions;

static void *start_and_stop(void *argument)
{
    const int *devices = argument;
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    options.cuda_driver = CTXRT_CUDA_DRIVER_EMULATED;
    options.emulated_devices = *devices;
    for (int i = 0; i < ROUNDS || atomic_load(&works) < works_wanted ||
                    atomic_load(&shutdowns) < shutdowns_wanted;
         i++) {
        ctxrt_status status = ctxrt_init(&options);
        ck_assert_msg(status == CTXRT_SUCCESS || status == CTXRT_ERROR_INVALID_ARGUMENT, "%s",
                      ctxrt_last_error()->message);
        atomic_fetch_add(status == CTXRT_SUCCESS ? &starts : &refusals, 1);
        status = ctxrt_shutdown();
        ck_assert_msg(status == CTXRT_SUCCESS || status == CTXRT_ERROR_IN_USE, "%s",
                      ctxrt_last_error()->message);
        if (status == CTXRT_SUCCESS)
            atomic_fetch_add(&shutdowns, 1);
        sched_yield();
    }
    atomic_fetch_sub(&running, 1);
    return NULL;
}

/* Nothing is ever lost: what was pushed can be popped, what was made can be given back. */
static void *use(void *argument)
{
    const ctxrt_device device = CTXRT_CUDA(*(const int *)argument);
    while (atomic_load(&running) > 0) {
        ctxrt_memory *memory;
        ctxrt_scope scope = {0};
        ctxrt_status status = ctxrt_scope_enter(device, &scope);
        if (status != CTXRT_SUCCESS) {
            ck_assert_msg(status == CTXRT_ERROR_SHUTDOWN, "%s: %s", ctxrt_status_name(status),
                          ctxrt_last_error()->message);
            ck_assert_uint_eq(ctxrt_stack_depth(), 0);
            atomic_fetch_add(&interruptions, 1);
            continue;
        }
        cx_assert_ok(ctxrt_memory_alloc(64, &memory));
        cx_assert_ok(ctxrt_fill(ctxrt_memory_pointer(memory), 1, 64));
        cx_assert_ok(ctxrt_scope_leave(&scope));
        cx_assert_ok(ctxrt_memory_release(memory));
        atomic_fetch_add(&works, 1);
        sched_yield(); /* where nothing is in use */
    }
    return NULL;
}

START_TEST(users_are_served_or_told_of_the_shutdown_whoever_starts_and_stops_meanwhile)
{
    pthread_t threads[4];
    int numbers[] = {2, 2, 0, 1};
    setenv("CTXRT_DRIVER", "emulated", 1);
    setenv("CTXRT_EMU_DEVICES", "2", 1);
    atomic_store(&running, 2);
    works_wanted = 1000;
    shutdowns_wanted = 1;
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(
            pthread_create(&threads[i], NULL, i < 2 ? start_and_stop : use, &numbers[i]), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    printf("# %ld starts, %ld shutdowns, %ld rounds of work, %ld cut short\n", atomic_load(&starts),
           atomic_load(&shutdowns), atomic_load(&works), atomic_load(&interruptions));
    ck_assert_int_eq(atomic_load(&refusals), 0);
    cx_assert_ok(ctxrt_shutdown());
    cx_fixture_start();
    cx_fixture_end();
}
END_TEST

/* As a call that was under way when the runtime was shut down. */
START_TEST(a_call_that_comes_too_late_takes_up_no_device)
{
    cx_device *device;
    cx_context *context;
    cx_fixture_start();
    cx_assert_ok(cx_device_find(CTXRT_CUDA(0), &device));
    cx_assert_ok(ctxrt_shutdown());
    cx_assert_error(cx_context_first_primary(device, &context), CTXRT_ERROR_SHUTDOWN);
    ck_assert_ptr_null(atomic_load(&device->primary));
    cx_fixture_start();
    cx_assert_ok(cx_context_first_primary(device, &context));
    cx_fixture_end();
}
END_TEST

START_TEST(of_two_threads_that_start_with_other_options_each_gets_its_own_or_is_refused)
{
    pthread_t threads[2];
    int devices[] = {1, 3};
    atomic_store(&running, 2);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, start_and_stop, &devices[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(atomic_load(&starts) + atomic_load(&refusals), 2 * ROUNDS);
    ck_assert_int_eq(atomic_load(&shutdowns), 2 * ROUNDS);
    cx_fixture_start();
    cx_fixture_end();
}
END_TEST

static Suite *ending_restart_suite(void)
{
    Suite *suite = suite_create("lives of the runtime");
    TCase *tcase = tcase_create("lives of the runtime");
    tcase_add_test(
        tcase,
        a_thousand_lives_from_various_threads_each_with_its_options_know_no_handle_of_the_one_before);
    tcase_add_test(tcase,
                   users_are_served_or_told_of_the_shutdown_whoever_starts_and_stops_meanwhile);
    tcase_add_test(tcase, a_call_that_comes_too_late_takes_up_no_device);
    tcase_add_test(tcase,
                   of_two_threads_that_start_with_other_options_each_gets_its_own_or_is_refused);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(ending_restart_suite);
