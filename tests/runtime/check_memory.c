#include "fixture.h"
#include "gate.h"
#include "test.h"

#include <stdint.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
#define QUOTA (256 * MIB)

static ctxrt_memory_info describe(ctxrt_memory *memory)
{
    ctxrt_memory_info info;
    cx_assert_ok(ctxrt_memory_describe(memory, &info));
    return info;
}

static ctxrt_memory *allocate(size_t size_bytes)
{
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_memory_alloc(size_bytes, &memory));
    ck_assert_ptr_nonnull(ctxrt_memory_pointer(memory));
    return memory;
}

static void assert_nothing_current(void)
{
    ctxrt_device device;
    cx_assert_status(ctxrt_device_get(&device), CTXRT_ERROR_NO_DEVICE);
    ck_assert_uint_eq(ctxrt_stack_depth(), 0);
}

static void assert_current(int index)
{
    ctxrt_device device;
    cx_assert_ok(ctxrt_device_get(&device));
    ck_assert_int_eq(device.type, CTXRT_DEVICE_CUDA);
    ck_assert_int_eq(device.index, index);
}

/* On a real GPU other memory comes and goes. What the allocator keeps is given back first. */
static void assert_free_bytes(ctxrt_device device, size_t expected)
{
    size_t free_bytes;
    cx_assert_ok(ctxrt_device_push(device));
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_device_memory_info(device, &free_bytes, NULL));
    if (cx_fixture_is_emulated())
        ck_assert_uint_eq(free_bytes, expected);
}

/* ---- arguments ---- */

START_TEST(a_size_of_0_or_too_much_is_refused_and_nothing_changes)
{
    ctxrt_memory *memory = (ctxrt_memory *)&memory;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    cx_assert_error(ctxrt_memory_alloc(0, &memory), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_memory_alloc_pinned(0, &memory), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_memory_alloc_host(0, &memory), CTXRT_ERROR_INVALID_ARGUMENT);
    const size_t too_much[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 63, SIZE_MAX / 2 + 1};
    for (size_t i = 0; i < sizeof too_much / sizeof too_much[0]; i++) {
        cx_assert_error(ctxrt_memory_alloc(too_much[i], &memory), CTXRT_ERROR_OUT_OF_MEMORY);
        cx_assert_error(ctxrt_memory_alloc_pinned(too_much[i], &memory), CTXRT_ERROR_OUT_OF_MEMORY);
        cx_assert_error(ctxrt_memory_alloc_host(too_much[i], &memory), CTXRT_ERROR_OUT_OF_MEMORY);
    }
    ck_assert_ptr_eq(memory, (ctxrt_memory *)&memory);
    assert_free_bytes(CTXRT_CUDA(1), QUOTA);
    assert_current(1);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(null_is_refused_everywhere_but_where_it_is_released)
{
    ctxrt_memory_info info;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_error(ctxrt_memory_alloc(1, NULL), CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_memory_alloc_pinned(1, NULL), CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_memory_alloc_host(1, NULL), CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_memory_retain(NULL), CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_memory_describe(NULL, &info), CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_memory_record_stream(NULL, NULL), CTXRT_ERROR_NULL_POINTER);
    ctxrt_memory *memory = allocate(1);
    cx_assert_error(ctxrt_memory_describe(memory, NULL), CTXRT_ERROR_NULL_POINTER);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_memory_release(NULL));
    ck_assert_ptr_null(ctxrt_memory_pointer(NULL));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(device_and_pinned_memory_need_a_device)
{
    ctxrt_memory *memory;
    cx_assert_error(ctxrt_memory_alloc(1, &memory), CTXRT_ERROR_NO_DEVICE);
    cx_assert_error(ctxrt_memory_alloc_pinned(1, &memory), CTXRT_ERROR_NO_DEVICE);
}
END_TEST

/* ---- what an object says ---- */

START_TEST(an_object_knows_its_device_context_size_and_kind)
{
    ctxrt_context *context;
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(2), 0, &context));
    cx_assert_ok(ctxrt_stack_push(context));
    ctxrt_memory *memory = allocate(1000);
    cx_assert_ok(ctxrt_stack_pop());
    ctxrt_memory_info info = describe(memory);
    ck_assert_ptr_eq(info.pointer, ctxrt_memory_pointer(memory));
    ck_assert_uint_eq(info.size_bytes, 1000);
    ck_assert_int_eq(info.device.index, 2);
    ck_assert_ptr_eq(info.context, context);
    ck_assert_int_eq(info.kind, CTXRT_MEMORY_DEVICE);
    ck_assert_int_eq(info.pinned, 0);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_context_destroy(context));
}
END_TEST

/* SEEDS 2, defect 14. */
START_TEST(pinned_memory_reports_the_device_whose_context_pinned_it)
{
    const ctxrt_device devices[] = {CTXRT_CPU(0), CTXRT_CUDA(0), CTXRT_CUDA(3)};
    for (size_t i = 0; i < 3; i++) {
        ctxrt_memory *memory;
        cx_assert_ok(ctxrt_device_set(devices[i]));
        cx_assert_ok(ctxrt_memory_alloc_pinned(4096, &memory));
        ctxrt_memory_info info = describe(memory);
        ck_assert_int_eq(info.device.type, devices[i].type);
        ck_assert_int_eq(info.device.index, devices[i].index);
        ck_assert_int_eq(info.kind, CTXRT_MEMORY_PINNED);
        ck_assert_int_eq(info.pinned, 1);
        memset(info.pointer, 0x5a, 4096);
        cx_assert_ok(ctxrt_memory_release(memory));
        cx_assert_ok(ctxrt_stack_pop());
    }
}
END_TEST

enum { PINNERS = 3 };

static const struct {
    ctxrt_device_type type;
    int index;
} pinners[PINNERS] = {{CTXRT_DEVICE_CPU, 0}, {CTXRT_DEVICE_CUDA, 0}, {CTXRT_DEVICE_CUDA, 3}};

static ctxrt_device pinner(int i)
{
    return (ctxrt_device){.type = pinners[i].type, .index = pinners[i].index};
}

/* On a thread with nothing current: how many of them are said to be of another device. */
static void *count_wrong(void *argument)
{
    ctxrt_memory **memory = argument;
    static int wrong;
    wrong = 0;
    for (int i = 0; i < PINNERS; i++) {
        ctxrt_memory_info info;
        wrong += ctxrt_memory_describe(memory[i], &info) != CTXRT_SUCCESS ||
                 info.device.type != pinners[i].type || info.device.index != pinners[i].index;
    }
    return &wrong;
}

static void pin_everywhere(ctxrt_memory *memory[PINNERS])
{
    for (int i = 0; i < PINNERS; i++) {
        cx_assert_ok(ctxrt_device_push(pinner(i)));
        cx_assert_ok(ctxrt_memory_alloc_pinned(4096, &memory[i]));
        cx_assert_ok(ctxrt_stack_pop());
    }
}

/* Released while another device is current, it is not that one's when it is used again. */
START_TEST(pinned_memory_is_of_its_device_whatever_is_current_and_whoever_asks)
{
    pthread_t thread;
    void *wrong;
    ctxrt_memory *memory[PINNERS];
    for (int round = 0; round < 2 * PINNERS; round++) {
        pin_everywhere(memory);
        cx_assert_ok(ctxrt_device_push(pinner(round % PINNERS)));
        ck_assert_int_eq(*(int *)count_wrong(memory), 0);
        ck_assert_int_eq(pthread_create(&thread, NULL, count_wrong, memory), 0);
        ck_assert_int_eq(pthread_join(thread, &wrong), 0);
        ck_assert_int_eq(*(int *)wrong, 0);
        for (int i = 0; i < PINNERS; i++)
            cx_assert_ok(ctxrt_memory_release(memory[i]));
        cx_assert_ok(ctxrt_stack_pop());
    }
}
END_TEST

/* SEEDS 2, defect 12. */
START_TEST(host_memory_is_zeroed_and_aligned_and_touches_no_device)
{
    ctxrt_memory *small, *large;
    cx_assert_ok(ctxrt_memory_alloc_host(1, &small));
    cx_assert_ok(ctxrt_memory_alloc_host(3 * MIB + 1, &large));
    assert_nothing_current();
    const unsigned char *bytes = ctxrt_memory_pointer(large);
    size_t set = 0;
    for (size_t i = 0; i < 3 * MIB + 1; i++)
        set += bytes[i] != 0;
    ck_assert_uint_eq(set, 0);
    ck_assert_uint_eq((uintptr_t)ctxrt_memory_pointer(small) % 64, 0);
    ck_assert_uint_eq((uintptr_t)bytes % 64, 0);
    ctxrt_memory_info info = describe(large);
    ck_assert_int_eq(info.kind, CTXRT_MEMORY_HOST);
    ck_assert_int_eq(info.device.type, CTXRT_DEVICE_CPU);
    ck_assert_ptr_null(info.context);
    cx_assert_ok(ctxrt_memory_release(small));
    cx_assert_ok(ctxrt_memory_release(large));
    assert_nothing_current();
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(2)));
    cx_assert_ok(ctxrt_memory_alloc_host(100, &small));
    assert_current(2);
    cx_assert_ok(ctxrt_memory_release(small));
    assert_current(2);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(host_memory_does_not_start_the_runtime_and_keeps_it_from_ending)
{
    int value;
    ctxrt_memory *host, *wrapped;
    cx_assert_ok(ctxrt_shutdown());
    cx_assert_ok(ctxrt_memory_alloc_host(100, &host));
    ck_assert_uint_eq(describe(host).size_bytes, 100);
    /* Other options than the environment's are refused where the runtime runs already. */
    cx_fixture_start();
    cx_assert_ok(ctxrt_memory_wrap(&value, sizeof value, CTXRT_CPU(0), NULL, NULL, &wrapped));
    cx_assert_error(ctxrt_shutdown(), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_memory_release(wrapped));
    cx_assert_error(ctxrt_shutdown(), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_memory_release(host));
}
END_TEST

static void count_deletion(void *pointer, void *user_data)
{
    ck_assert_ptr_eq(pointer, user_data);
    ++*(int *)user_data;
}

START_TEST(wrapped_memory_is_deleted_once_with_its_last_count)
{
    int deleted = 0;
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_memory_wrap(&deleted, sizeof deleted, CTXRT_CUDA(1), count_deletion,
                                   &deleted, &memory));
    cx_assert_ok(ctxrt_memory_retain(memory));
    ctxrt_memory_info info = describe(memory);
    ck_assert_int_eq(info.kind, CTXRT_MEMORY_WRAPPED);
    ck_assert_int_eq(info.device.index, 1);
    ck_assert_ptr_null(info.context);
    cx_assert_ok(ctxrt_memory_release(memory));
    ck_assert_int_eq(deleted, 0);
    cx_assert_ok(ctxrt_memory_release(memory));
    ck_assert_int_eq(deleted, 1);
    cx_assert_error(ctxrt_memory_release(memory), CTXRT_ERROR_INVALID_HANDLE);
    ck_assert_int_eq(deleted, 1);
    cx_assert_ok(ctxrt_memory_wrap(&deleted, sizeof deleted, CTXRT_CPU(0), NULL, NULL, &memory));
    cx_assert_ok(ctxrt_memory_release(memory));
    assert_nothing_current();
}
END_TEST

START_TEST(wrapping_checks_pointer_size_and_device)
{
    int value;
    ctxrt_memory *memory;
    const ctxrt_device cpu = CTXRT_CPU(0);
    cx_assert_error(ctxrt_memory_wrap(NULL, 1, cpu, NULL, NULL, &memory), CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_memory_wrap(&value, 1, cpu, NULL, NULL, NULL), CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_memory_wrap(&value, 0, cpu, NULL, NULL, &memory),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_memory_wrap(&value, SIZE_MAX, cpu, NULL, NULL, &memory),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_memory_wrap(&value, 1, CTXRT_CUDA(4), NULL, NULL, &memory),
                    CTXRT_ERROR_INVALID_DEVICE);
}
END_TEST

/* ---- counts ---- */

START_TEST(one_release_too_many_is_refused_even_when_the_slot_is_used_again)
{
    ctxrt_memory_info info;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    ctxrt_memory *memory = allocate(64);
    cx_assert_ok(ctxrt_memory_retain(memory));
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_memory_release(memory));
    ctxrt_memory *next = allocate(64);
    ck_assert_ptr_ne(memory, next);
    cx_assert_error(ctxrt_memory_release(memory), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_memory_retain(memory), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_memory_describe(memory, &info), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_memory_record_stream(memory, NULL), CTXRT_ERROR_INVALID_HANDLE);
    ck_assert_ptr_null(ctxrt_memory_pointer(memory));
    ck_assert_uint_eq(describe(next).size_bytes, 64);
    cx_assert_ok(ctxrt_memory_release(next));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_handle_of_another_kind_is_no_memory)
{
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_DEFAULT);
    cx_assert_error(ctxrt_memory_release((ctxrt_memory *)stream), CTXRT_ERROR_INVALID_HANDLE);
    ck_assert_ptr_null(ctxrt_memory_pointer((ctxrt_memory *)stream));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

typedef struct release_race {
    ctxrt_memory *memory;
    pthread_barrier_t barrier;
    atomic_int wins;
} release_race;

static void *race_to_release(void *argument)
{
    release_race *race = argument;
    pthread_barrier_wait(&race->barrier);
    if (ctxrt_memory_release(race->memory) == CTXRT_SUCCESS)
        atomic_fetch_add(&race->wins, 1);
    return NULL;
}

#define COUNTS_MAX 131071

static int failures_of(ctxrt_status (*call)(ctxrt_memory *memory), ctxrt_memory *memory, int times)
{
    int failures = 0;
    for (int i = 0; i < times; i++)
        failures += call(memory) != CTXRT_SUCCESS;
    return failures;
}

START_TEST(one_count_more_than_an_object_may_have_is_refused_and_nothing_is_lost)
{
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    ctxrt_memory *memory = allocate(5000);
    ck_assert_int_eq(failures_of(ctxrt_memory_retain, memory, COUNTS_MAX - 1), 0);
    cx_assert_error(ctxrt_memory_retain(memory), CTXRT_ERROR_INVALID_ARGUMENT);
    ck_assert_int_eq(failures_of(ctxrt_memory_release, memory, COUNTS_MAX - 1), 0);
    cx_assert_ok(ctxrt_fill(ctxrt_memory_pointer(memory), 1, 5000));
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_error(ctxrt_memory_release(memory), CTXRT_ERROR_INVALID_HANDLE);
    assert_free_bytes(CTXRT_CUDA(0), QUOTA);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(of_two_threads_that_release_the_last_count_one_wins)
{
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    for (int i = 0; i < 50; i++) {
        pthread_t threads[2];
        release_race race = {.memory = allocate(4096)};
        pthread_barrier_init(&race.barrier, NULL, 2);
        for (int t = 0; t < 2; t++)
            ck_assert_int_eq(pthread_create(&threads[t], NULL, race_to_release, &race), 0);
        for (int t = 0; t < 2; t++)
            pthread_join(threads[t], NULL);
        ck_assert_int_eq(race.wins, 1);
        pthread_barrier_destroy(&race.barrier);
    }
    assert_free_bytes(CTXRT_CUDA(0), QUOTA);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

enum { RIVALS_PIECES = 2000 };

typedef struct rivalry {
    ctxrt_memory *memories[RIVALS_PIECES];
    pthread_barrier_t barrier;
    atomic_int wins[RIVALS_PIECES];
    atomic_int wrong;
} rivalry;

/* Who comes later is refused, which is quicker: they meet. */
static void release_all(rivalry *all)
{
    for (int i = 0; i < RIVALS_PIECES; i++) {
        ctxrt_status status = ctxrt_memory_release(all->memories[i]);
        if (status == CTXRT_SUCCESS)
            atomic_fetch_add(&all->wins[i], 1);
        else if (status != CTXRT_ERROR_INVALID_HANDLE)
            atomic_fetch_add(&all->wrong, 1);
    }
}

static void *allocate_and_release(void *argument)
{
    rivalry *all = argument;
    if (ctxrt_device_push(CTXRT_CUDA(0)) != CTXRT_SUCCESS)
        atomic_fetch_add(&all->wrong, 1);
    for (int i = 0; i < RIVALS_PIECES; i++)
        if (ctxrt_memory_alloc(256, &all->memories[i]) != CTXRT_SUCCESS)
            atomic_fetch_add(&all->wrong, 1);
    pthread_barrier_wait(&all->barrier);
    release_all(all);
    if (ctxrt_stack_pop() != CTXRT_SUCCESS)
        atomic_fetch_add(&all->wrong, 1);
    return NULL;
}

START_TEST(of_the_thread_that_allocated_and_another_one_wins_each_release)
{
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    for (int round = 0; round < 20; round++) {
        pthread_t owner;
        static rivalry all;
        memset(&all, 0, sizeof all);
        pthread_barrier_init(&all.barrier, NULL, 2);
        ck_assert_int_eq(pthread_create(&owner, NULL, allocate_and_release, &all), 0);
        pthread_barrier_wait(&all.barrier);
        release_all(&all);
        pthread_join(owner, NULL);
        ck_assert_int_eq(all.wrong, 0);
        for (int i = 0; i < RIVALS_PIECES; i++)
            ck_assert_int_eq(all.wins[i], 1);
        pthread_barrier_destroy(&all.barrier);
    }
    assert_free_bytes(CTXRT_CUDA(0), QUOTA);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- where it is released from ---- */

static void *release_with_nothing_current(void *memory)
{
    cx_assert_ok(ctxrt_memory_release(memory));
    assert_nothing_current();
    return NULL;
}

static void *release_with_another_device(void *memory)
{
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(3)));
    cx_assert_ok(ctxrt_memory_release(memory));
    assert_current(3);
    cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

/* T5. */
START_TEST(memory_is_released_from_any_thread_whatever_is_current_there)
{
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    ctxrt_memory *first = allocate(MIB), *second = allocate(MIB), *pinned, *more_pinned;
    cx_assert_ok(ctxrt_memory_alloc_pinned(MIB, &pinned));
    cx_assert_ok(ctxrt_memory_alloc_pinned(MIB, &more_pinned));
    on_a_thread(release_with_nothing_current, first);
    on_a_thread(release_with_another_device, second);
    on_a_thread(release_with_nothing_current, pinned);
    on_a_thread(release_with_another_device, more_pinned);
    assert_current(1);
    assert_free_bytes(CTXRT_CUDA(1), QUOTA);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(memory_of_before_a_reset_is_released_without_error)
{
    ctxrt_memory *pinned;
    ctxrt_allocator_figures figures;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    ctxrt_memory *old = allocate(MIB);
    cx_assert_ok(ctxrt_memory_alloc_pinned(100, &pinned));
    cx_assert_ok(ctxrt_memory_record_stream(old, NULL));
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(1)));
    /* May stand where the old one stood. */
    ctxrt_memory *young = allocate(MIB);
    cx_assert_ok(ctxrt_memory_release(old));
    cx_assert_ok(ctxrt_memory_release(pinned));
    assert_free_bytes(CTXRT_CUDA(1), QUOTA - 2 * MIB);
    cx_assert_ok(ctxrt_fill(ctxrt_memory_pointer(young), 1, MIB));
    cx_assert_ok(ctxrt_memory_release(young));
    cx_assert_ok(ctxrt_allocator_statistics(NULL, &figures));
    ck_assert_uint_eq(figures.current_bytes, 0);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(memory_of_before_a_reset_is_not_given_out_again)
{
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    ctxrt_memory *old = allocate(4096);
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_memory_release(allocate(4096)));
    cx_assert_ok(ctxrt_memory_release(old));
    ctxrt_memory *one = allocate(4096), *other = allocate(4096);
    ck_assert_ptr_ne(ctxrt_memory_pointer(one), ctxrt_memory_pointer(other));
    cx_assert_ok(ctxrt_fill(ctxrt_memory_pointer(one), 1, 4096));
    cx_assert_ok(ctxrt_fill(ctxrt_memory_pointer(other), 2, 4096));
    cx_assert_ok(ctxrt_memory_release(one));
    cx_assert_ok(ctxrt_memory_release(other));
    assert_free_bytes(CTXRT_CUDA(0), QUOTA);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_context_with_memory_is_neither_destroyed_nor_released)
{
    ctxrt_context *context;
    ctxrt_memory *pinned;
    void *raw;
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(1), 0, &context));
    cx_assert_ok(ctxrt_stack_push(context));
    ctxrt_memory *memory = allocate(100);
    cx_assert_ok(ctxrt_memory_alloc_pinned(100, &pinned));
    cx_assert_ok(ctxrt_alloc(100, &raw));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_error(ctxrt_context_destroy(context), CTXRT_ERROR_IN_USE);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "3 piece"));
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_memory_release(pinned));
    cx_assert_error(ctxrt_context_destroy(context), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_free(raw));
    cx_assert_ok(ctxrt_context_destroy(context));

    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    memory = allocate(100);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_error(ctxrt_device_release(CTXRT_CUDA(1)), CTXRT_ERROR_IN_USE);
    cx_assert_error(ctxrt_shutdown(), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_device_release(CTXRT_CUDA(1)));
}
END_TEST

START_TEST(beyond_the_quota_there_is_no_memory_until_some_is_freed)
{
    ctxrt_memory *most, *more = NULL;
    cx_fixture_needs_emulated("a GPU with little memory");
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    most = allocate(200 * MIB);
    cx_assert_error(ctxrt_memory_alloc(100 * MIB, &more), CTXRT_ERROR_OUT_OF_MEMORY);
    ck_assert_ptr_null(more);
    ck_assert_str_eq(ctxrt_last_error()->driver_call, "cuMemAlloc_v2");
    ck_assert_str_eq(ctxrt_last_error()->driver_result_name, "CUDA_ERROR_OUT_OF_MEMORY");
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "cuda:0"));
    cx_assert_ok(ctxrt_memory_release(most));
    more = allocate(100 * MIB);
    cx_assert_ok(ctxrt_memory_release(more));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- streams that use it ---- */

typedef struct waiting_release {
    ctxrt_memory *memory;
    atomic_int done, released, seen;
} waiting_release;

static void *release_and_look(void *argument)
{
    waiting_release *waiting = argument;
    cx_assert_ok(ctxrt_memory_release(waiting->memory));
    atomic_store(&waiting->seen, atomic_load(&waiting->done));
    atomic_store(&waiting->released, 1);
    return NULL;
}

static void mark_deleted(void *pointer, void *user_data)
{
    waiting_release *waiting = user_data;
    (void)pointer;
    ck_assert_int_eq(atomic_load(&waiting->done), 2);
}

/* Wrapped memory, which no driver waits for by itself. */
START_TEST(memory_is_not_given_back_before_the_work_of_its_recorded_streams)
{
    pthread_t thread;
    gate held;
    char byte;
    waiting_release waiting = {0};
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    ctxrt_stream *first = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_stream *second = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(
        ctxrt_memory_wrap(&byte, 1, CTXRT_CUDA(0), mark_deleted, &waiting, &waiting.memory));
    gate_close(&held, first);
    cx_assert_ok(ctxrt_memory_record_stream(waiting.memory, first));
    cx_assert_ok(ctxrt_stream_add_host_function(first, mark, &waiting.done));
    cx_assert_ok(ctxrt_memory_record_stream(waiting.memory, first));
    cx_assert_ok(ctxrt_stream_add_host_function(second, mark, &waiting.done));
    cx_assert_ok(ctxrt_memory_record_stream(waiting.memory, second));
    cx_assert_ok(ctxrt_stack_pop());
    ck_assert_int_eq(pthread_create(&thread, NULL, release_and_look, &waiting), 0);
    cx_assert_ok(ctxrt_stream_synchronize(second));
    ck_assert_int_eq(waiting.released, 0);
    gate_open(&held);
    pthread_join(thread, NULL);
    ck_assert_int_eq(waiting.seen, 2);
    cx_assert_ok(ctxrt_stream_destroy(first));
    cx_assert_ok(ctxrt_stream_destroy(second));
    assert_nothing_current();
}
END_TEST

/* T1, T6. */
START_TEST(a_recorded_stream_may_be_of_another_device_and_go_before_the_memory)
{
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_DEFAULT);
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    ctxrt_memory *memory = allocate(4096);
    cx_assert_ok(ctxrt_memory_record_stream(memory, stream));
    cx_assert_ok(ctxrt_memory_record_stream(memory, NULL));
    cx_assert_ok(ctxrt_memory_record_stream(memory, CTXRT_STREAM_LEGACY));
    assert_current(0);
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_error(ctxrt_memory_record_stream(memory, stream), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_device_release(CTXRT_CUDA(1)), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_device_release(CTXRT_CUDA(1)));
}
END_TEST

START_TEST(recording_a_stream_with_nothing_current_needs_its_handle)
{
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_memory_alloc_host(10, &memory));
    cx_assert_error(ctxrt_memory_record_stream(memory, NULL), CTXRT_ERROR_NO_DEVICE);
    cx_assert_ok(ctxrt_memory_release(memory));
}
END_TEST

static Suite *memory_suite(void)
{
    Suite *suite = suite_create("memory");
    TCase *tcase = tcase_create("memory");
    tcase_add_checked_fixture(tcase, cx_fixture_start, cx_fixture_end);
    tcase_add_test(tcase, a_size_of_0_or_too_much_is_refused_and_nothing_changes);
    tcase_add_test(tcase, null_is_refused_everywhere_but_where_it_is_released);
    tcase_add_test(tcase, device_and_pinned_memory_need_a_device);
    tcase_add_test(tcase, an_object_knows_its_device_context_size_and_kind);
    tcase_add_test(tcase, pinned_memory_reports_the_device_whose_context_pinned_it);
    tcase_add_test(tcase, pinned_memory_is_of_its_device_whatever_is_current_and_whoever_asks);
    tcase_add_test(tcase, host_memory_is_zeroed_and_aligned_and_touches_no_device);
    tcase_add_test(tcase, host_memory_does_not_start_the_runtime_and_keeps_it_from_ending);
    tcase_add_test(tcase, wrapped_memory_is_deleted_once_with_its_last_count);
    tcase_add_test(tcase, wrapping_checks_pointer_size_and_device);
    tcase_add_test(tcase, one_release_too_many_is_refused_even_when_the_slot_is_used_again);
    tcase_add_test(tcase, a_handle_of_another_kind_is_no_memory);
    tcase_add_test(tcase, one_count_more_than_an_object_may_have_is_refused_and_nothing_is_lost);
    tcase_add_test(tcase, of_two_threads_that_release_the_last_count_one_wins);
    tcase_add_test(tcase, of_the_thread_that_allocated_and_another_one_wins_each_release);
    tcase_add_test(tcase, memory_is_released_from_any_thread_whatever_is_current_there);
    tcase_add_test(tcase, memory_of_before_a_reset_is_released_without_error);
    tcase_add_test(tcase, memory_of_before_a_reset_is_not_given_out_again);
    tcase_add_test(tcase, a_context_with_memory_is_neither_destroyed_nor_released);
    tcase_add_test(tcase, beyond_the_quota_there_is_no_memory_until_some_is_freed);
    tcase_add_test(tcase, memory_is_not_given_back_before_the_work_of_its_recorded_streams);
    tcase_add_test(tcase, a_recorded_stream_may_be_of_another_device_and_go_before_the_memory);
    tcase_add_test(tcase, recording_a_stream_with_nothing_current_needs_its_handle);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(memory_suite);
