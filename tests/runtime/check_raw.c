#include "fixture.h"
#include "gate.h"
#include "test.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
#define QUOTA (256 * MIB)

/* On a real GPU other memory comes and goes. What the allocator keeps is given back first. */
static void assert_free_bytes(ctxrt_device device, size_t expected)
{
    size_t free_bytes;
    cx_assert_ok(ctxrt_device_push(device));
    cx_assert_ok(ctxrt_device_synchronize()); /* what work still uses is kept */
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_device_memory_info(device, &free_bytes, NULL));
    if (cx_fixture_is_emulated())
        ck_assert_uint_eq(free_bytes, expected);
}

static void *allocate(size_t size_bytes)
{
    void *pointer = NULL;
    cx_assert_ok(ctxrt_alloc(size_bytes, &pointer));
    ck_assert_ptr_nonnull(pointer);
    return pointer;
}

/* SEEDS 2, defect 1. */
START_TEST(a_size_of_0_or_too_much_is_refused_and_nothing_changes)
{
    void *pointer = &pointer;
    const size_t too_much[] = {SIZE_MAX, SIZE_MAX - 255, SIZE_MAX - 4095, SIZE_MAX / 2 + 1,
                               QUOTA + 1};
    const size_t count = sizeof too_much / sizeof too_much[0] - !cx_fixture_is_emulated();
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_error(ctxrt_alloc(0, &pointer), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_alloc_managed(0, &pointer), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_alloc_async(0, NULL, &pointer), CTXRT_ERROR_INVALID_ARGUMENT);
    for (size_t i = 0; i < count; i++) {
        cx_assert_error(ctxrt_alloc(too_much[i], &pointer), CTXRT_ERROR_OUT_OF_MEMORY);
        cx_assert_error(ctxrt_alloc_async(too_much[i], NULL, &pointer), CTXRT_ERROR_OUT_OF_MEMORY);
        cx_assert_error(ctxrt_alloc_managed(too_much[i], &pointer), CTXRT_ERROR_OUT_OF_MEMORY);
    }
    ck_assert_ptr_eq(pointer, &pointer);
    cx_assert_ok(ctxrt_device_set(CTXRT_CPU(0)));
    for (size_t i = 0; i < 4; i++)
        cx_assert_error(ctxrt_alloc(too_much[i], &pointer), CTXRT_ERROR_OUT_OF_MEMORY);
    cx_assert_ok(ctxrt_stack_pop());
    assert_free_bytes(CTXRT_CUDA(0), QUOTA);
}
END_TEST

START_TEST(null_is_refused_but_where_it_is_freed)
{
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_error(ctxrt_alloc(1, NULL), CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_alloc_async(1, NULL, NULL), CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_alloc_managed(1, NULL), CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_host_register(NULL, 1), CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_host_unregister(NULL), CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_pointer_query(&(int){0}, NULL), CTXRT_ERROR_NULL_POINTER);
    cx_assert_ok(ctxrt_free(NULL));
    cx_assert_ok(ctxrt_free_async(NULL, NULL));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(without_a_device_there_is_no_memory)
{
    void *pointer;
    int value;
    cx_assert_error(ctxrt_alloc(1, &pointer), CTXRT_ERROR_NO_DEVICE);
    cx_assert_error(ctxrt_alloc_async(1, NULL, &pointer), CTXRT_ERROR_NO_DEVICE);
    cx_assert_error(ctxrt_alloc_managed(1, &pointer), CTXRT_ERROR_NO_DEVICE);
    cx_assert_error(ctxrt_host_register(&value, sizeof value), CTXRT_ERROR_NO_DEVICE);
}
END_TEST

START_TEST(a_pointer_that_is_none_or_was_freed_is_refused)
{
    int value;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    char *pointer = allocate(1000);
    cx_assert_error(ctxrt_free(&value), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_free(pointer + 1), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_free_async(pointer, NULL), CTXRT_ERROR_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "ctxrt_alloc"));
    cx_assert_error(ctxrt_host_unregister(pointer), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_free(pointer));
    cx_assert_error(ctxrt_free(pointer), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static uint32_t next_random(uint32_t *random)
{
    *random = *random * 1664525u + 1013904223u;
    return *random >> 8;
}

START_TEST(each_of_many_pointers_is_known_until_it_is_freed_and_no_longer)
{
    enum { POINTERS = 3000, STEPS = 20000 };
    static void *pointers[POINTERS];
    ctxrt_allocator_figures figures;
    uint32_t random = 1;
    uint64_t live = 0;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    memset(pointers, 0, sizeof pointers);
    for (int i = 0; i < STEPS; i++) {
        void **pointer = &pointers[next_random(&random) % POINTERS];
        if (*pointer == NULL) {
            *pointer = allocate(256 * (size_t)(1 + next_random(&random) % 4));
            live++;
            continue;
        }
        cx_assert_ok(ctxrt_free(*pointer));
        cx_assert_error(ctxrt_free(*pointer), CTXRT_ERROR_INVALID_ARGUMENT);
        *pointer = NULL;
        live--;
    }
    cx_assert_ok(ctxrt_allocator_statistics(NULL, &figures));
    ck_assert_uint_eq(figures.current_count, live);
    for (int i = 0; i < POINTERS; i++)
        cx_assert_ok(ctxrt_free(pointers[i]));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* The memory at the address is one object's now. */
/* So many that each part of the table in which they are looked up has grown with some in it. */
START_TEST(pointers_are_known_however_many_there_are)
{
    enum { POINTERS = 12000 };
    static void *pointers[POINTERS];
    int wrong = 0;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    for (int i = 0; i < POINTERS; i++)
        wrong += ctxrt_alloc(256, &pointers[i]) != CTXRT_SUCCESS;
    ck_assert_int_eq(wrong, 0);
    for (int i = 0; i < POINTERS; i += 2)
        wrong += ctxrt_free(pointers[i]) != CTXRT_SUCCESS;
    ck_assert_int_eq(wrong, 0);
    for (int i = 0; i < POINTERS; i += 20)
        wrong += ctxrt_free(pointers[i]) != CTXRT_ERROR_INVALID_ARGUMENT;
    ck_assert_int_eq(wrong, 0);
    for (int i = 1; i < POINTERS; i += 2)
        wrong += ctxrt_free(pointers[i]) != CTXRT_SUCCESS;
    ck_assert_int_eq(wrong, 0);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_pointer_that_was_freed_is_none_even_when_an_object_has_its_memory)
{
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    void *pointer = allocate(4096);
    cx_assert_ok(ctxrt_free(pointer));
    cx_assert_ok(ctxrt_memory_alloc(4096, &memory));
    ck_assert_ptr_eq(ctxrt_memory_pointer(memory), pointer);
    cx_assert_error(ctxrt_free(pointer), CTXRT_ERROR_INVALID_ARGUMENT);
    ck_assert_ptr_eq(ctxrt_memory_pointer(memory), pointer);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

typedef struct free_race {
    void *pointer;
    pthread_barrier_t barrier;
    atomic_int wins, losses;
} free_race;

static void *race_to_free(void *argument)
{
    free_race *race = argument;
    pthread_barrier_wait(&race->barrier);
    ctxrt_status status = ctxrt_free(race->pointer);
    atomic_fetch_add(status == CTXRT_SUCCESS ? &race->wins : &race->losses, 1);
    ck_assert(status == CTXRT_SUCCESS || status == CTXRT_ERROR_INVALID_ARGUMENT);
    return NULL;
}

START_TEST(of_two_threads_that_free_a_pointer_one_wins)
{
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    for (int i = 0; i < 100; i++) {
        pthread_t threads[2];
        free_race race = {.pointer = allocate(100)};
        pthread_barrier_init(&race.barrier, NULL, 2);
        for (int t = 0; t < 2; t++)
            ck_assert_int_eq(pthread_create(&threads[t], NULL, race_to_free, &race), 0);
        for (int t = 0; t < 2; t++)
            pthread_join(threads[t], NULL);
        ck_assert_int_eq(race.wins, 1);
        ck_assert_int_eq(race.losses, 1);
        pthread_barrier_destroy(&race.barrier);
    }
    assert_free_bytes(CTXRT_CUDA(0), QUOTA);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static void *free_elsewhere(void *pointer)
{
    ctxrt_device device;
    cx_assert_ok(ctxrt_free(pointer));
    cx_assert_status(ctxrt_device_get(&device), CTXRT_ERROR_NO_DEVICE);
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(2)));
    cx_assert_error(ctxrt_free(pointer), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

/* T5. */
START_TEST(a_pointer_is_freed_from_a_thread_with_nothing_current)
{
    void *managed;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    void *pointer = allocate(MIB);
    cx_assert_ok(ctxrt_alloc_managed(MIB, &managed));
    cx_assert_ok(ctxrt_stack_pop());
    on_a_thread(free_elsewhere, pointer);
    on_a_thread(free_elsewhere, managed);
    assert_free_bytes(CTXRT_CUDA(0), QUOTA);
}
END_TEST

START_TEST(pointers_of_before_a_reset_are_freed_without_error_and_new_ones_are_not_taken_for_them)
{
    enum { COUNT = 16 };
    char *old[COUNT], *young[COUNT];
    ctxrt_allocator_figures figures;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    for (int i = 0; i < COUNT; i++)
        old[i] = allocate(MIB);
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    for (int i = 0; i < COUNT; i++)
        young[i] = allocate(MIB);
    for (int i = 0; i < COUNT; i++)
        cx_assert_ok(ctxrt_free(young[i]));
    for (int i = 0; i < COUNT; i++)
        cx_assert_ok(ctxrt_free(old[i]));
    for (int i = 0; i < COUNT; i++)
        cx_assert_error(ctxrt_free(old[i]), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_allocator_statistics(NULL, &figures));
    ck_assert_uint_eq(figures.current_bytes, 0);
    ck_assert_uint_eq(figures.current_count, 0);
    assert_free_bytes(CTXRT_CUDA(0), QUOTA);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* Both are owed a free: the first one frees what the reset took. */
START_TEST(a_stale_pointer_that_is_freed_leaves_memory_that_has_its_address_live)
{
    enum { BYTES = 64 << 20 };
    ctxrt_allocator_figures figures;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    char *old = allocate(BYTES);
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    char *young = allocate(BYTES);
    cx_assert_ok(ctxrt_fill(young, 7, BYTES));
    cx_assert_ok(ctxrt_free(old));
    cx_assert_ok(ctxrt_allocator_statistics(NULL, &figures));
    ck_assert_uint_eq(figures.current_bytes, BYTES);
    char *other = allocate(BYTES);
    ck_assert_ptr_ne(other, young);
    cx_assert_ok(ctxrt_free(other));
    cx_assert_ok(ctxrt_free(young));
    cx_assert_error(ctxrt_free(young), CTXRT_ERROR_INVALID_ARGUMENT);
    assert_free_bytes(CTXRT_CUDA(0), QUOTA);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* T8, C3. */
START_TEST(memory_in_stream_order_is_freed_in_stream_order_or_at_once)
{
    void *first, *second;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_alloc_async(MIB, stream, &first));
    cx_assert_ok(ctxrt_alloc_async(MIB, stream, &second));
    cx_assert_ok(ctxrt_fill_async(first, 7, MIB, stream));
    cx_assert_error(ctxrt_free_async(first, NULL), CTXRT_ERROR_NO_DEVICE);
    cx_assert_ok(ctxrt_free_async(first, stream));
    cx_assert_error(ctxrt_free_async(first, stream), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_free(second));
    cx_assert_error(ctxrt_free(second), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    assert_free_bytes(CTXRT_CUDA(1), QUOTA);
    cx_assert_ok(ctxrt_alloc_async(MIB, stream, &first));
    cx_assert_error(ctxrt_device_release(CTXRT_CUDA(1)), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_free_async(first, stream));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_error(ctxrt_alloc_async(MIB, stream, &first), CTXRT_ERROR_INVALID_HANDLE);
}
END_TEST

/* C3: what is in the order of a stream is of no context. */
START_TEST(memory_in_stream_order_outlives_a_reset_until_it_is_freed)
{
    void *first, *second;
    size_t free_bytes;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_alloc_async(MIB, NULL, &first));
    cx_assert_ok(ctxrt_alloc_async(MIB, NULL, &second));
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_device_memory_info(CTXRT_CUDA(1), &free_bytes, NULL));
    if (cx_fixture_is_emulated())
        ck_assert_uint_eq(free_bytes, QUOTA - 2 * MIB);
    cx_assert_ok(ctxrt_free(first));
    cx_assert_error(ctxrt_free(first), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_free_async(second, NULL));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    assert_free_bytes(CTXRT_CUDA(1), QUOTA);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(managed_memory_of_before_a_reset_is_refused_in_a_process_without_allocators)
{
    void *memory;
    char byte;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_alloc_managed(64, &memory));
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    cx_assert_error(ctxrt_copy(&byte, memory, 1, CTXRT_COPY_DEVICE_TO_HOST),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_free(memory));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(managed_memory_of_after_a_reset_is_given_back)
{
    void *managed;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_alloc_managed(MIB, &managed));
    cx_assert_ok(ctxrt_free(managed));
    assert_free_bytes(CTXRT_CUDA(1), QUOTA);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static void assert_is_from(ctxrt_status status, const char *call)
{
    ck_assert_int_eq(status, CTXRT_ERROR_INVALID_ARGUMENT);
    const char *from = strstr(ctxrt_last_error()->message, " is from ");
    ck_assert_ptr_nonnull(from);
    ck_assert_str_eq(from + strlen(" is from "), call);
}

START_TEST(memory_that_is_freed_by_another_call_is_refused_and_the_right_one_named)
{
    static const char *const device = "ctxrt_alloc or ctxrt_alloc_managed";
    void *plain, *managed, *ordered, *pages = aligned_alloc(4096, 4096);
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    plain = allocate(64);
    cx_assert_ok(ctxrt_alloc_managed(64, &managed));
    cx_assert_ok(ctxrt_alloc_async(64, NULL, &ordered));
    cx_assert_ok(ctxrt_host_register(pages, 4096));
    assert_is_from(ctxrt_free_async(plain, NULL), device);
    assert_is_from(ctxrt_free_async(managed, NULL), device);
    assert_is_from(ctxrt_free_async(pages, NULL), "ctxrt_host_register");
    assert_is_from(ctxrt_free(pages), "ctxrt_host_register");
    assert_is_from(ctxrt_host_unregister(plain), device);
    assert_is_from(ctxrt_host_unregister(managed), device);
    assert_is_from(ctxrt_host_unregister(ordered), "ctxrt_alloc_async");
    cx_assert_ok(ctxrt_free(plain));
    cx_assert_ok(ctxrt_free(managed));
    cx_assert_ok(ctxrt_free_async(ordered, NULL));
    cx_assert_ok(ctxrt_host_unregister(pages));
    cx_assert_error(ctxrt_free_async(plain, NULL), CTXRT_ERROR_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "was freed already"));
    cx_assert_ok(ctxrt_stack_pop());
    free(pages);
}
END_TEST

START_TEST(stream_ordered_memory_works_on_the_cpu)
{
    unsigned char *pointer;
    cx_assert_ok(ctxrt_device_set(CTXRT_CPU(0)));
    cx_assert_ok(ctxrt_alloc_async(100, NULL, (void **)&pointer));
    cx_assert_ok(ctxrt_fill(pointer, 9, 100));
    ck_assert_uint_eq(pointer[99], 9);
    cx_assert_ok(ctxrt_free_async(pointer, NULL));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(managed_memory_is_reached_from_both_sides)
{
    unsigned char *managed;
    ctxrt_pointer_info info;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_alloc_managed(MIB, (void **)&managed));
    cx_assert_ok(ctxrt_fill(managed, 3, MIB));
    ck_assert_uint_eq(managed[MIB - 1], 3);
    cx_assert_ok(ctxrt_pointer_query(managed, &info));
    ck_assert_int_eq(info.known, 1);
    ck_assert_int_eq(info.kind, CTXRT_MEMORY_MANAGED);
    cx_assert_ok(ctxrt_free(managed));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static void *unregister_elsewhere(void *pointer)
{
    ctxrt_device device;
    cx_assert_ok(ctxrt_host_unregister(pointer));
    cx_assert_status(ctxrt_device_get(&device), CTXRT_ERROR_NO_DEVICE);
    return NULL;
}

START_TEST(pages_of_the_callers_are_pinned_until_they_are_unregistered)
{
    ctxrt_pointer_info info;
    void *pages = aligned_alloc(4096, 8192);
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_error(ctxrt_host_register(pages, 0), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_host_register(pages, SIZE_MAX), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_host_unregister(pages), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_host_register(pages, 8192));
    cx_assert_error(ctxrt_host_register(pages, 8192), CTXRT_ERROR_ALREADY);
    cx_assert_error(ctxrt_free(pages), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_pointer_query((char *)pages + 8191, &info));
    ck_assert_int_eq(info.kind, CTXRT_MEMORY_PINNED);
    on_a_thread(unregister_elsewhere, pages);
    cx_assert_error(ctxrt_host_unregister(pages), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_pointer_query(pages, &info));
    ck_assert_int_eq(info.known, 0);

    cx_assert_ok(ctxrt_host_register(pages, 8192));
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_host_register(pages, 8192));
    cx_assert_ok(ctxrt_host_unregister(pages));
    cx_assert_ok(ctxrt_stack_pop());
    free(pages);
}
END_TEST

static ctxrt_status give_pages(void *pages, size_t size_bytes, ctxrt_stream *stream,
                               void **out_pointer)
{
    (void)size_bytes, (void)stream;
    *out_pointer = pages;
    return CTXRT_SUCCESS;
}

static ctxrt_status leave_pages(void *pages, void *pointer, size_t size_bytes)
{
    (void)pages, (void)pointer, (void)size_bytes;
    return CTXRT_SUCCESS;
}

START_TEST(pages_that_are_an_allocators_are_not_registered_before_they_are_freed)
{
    static const ctxrt_allocator_vtable vtable = {sizeof vtable, give_pages, leave_pages, NULL};
    void *pointer, *pages = aligned_alloc(4096, 4096);
    ctxrt_allocator *allocator;
    ctxrt_pointer_info info;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_allocator_create_custom(&vtable, pages, &allocator));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    cx_assert_ok(ctxrt_alloc(4096, &pointer));
    cx_assert_error(ctxrt_host_register(pages, 4096), CTXRT_ERROR_ALREADY);
    cx_assert_ok(ctxrt_pointer_query(pages, &info));
    ck_assert_int_eq(info.known, 0);
    cx_assert_error(ctxrt_host_unregister(pages), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_free(pointer));

    cx_assert_ok(ctxrt_alloc(4096, &pointer));
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_host_register(pages, 4096));
    cx_assert_ok(ctxrt_free(pointer));
    cx_assert_error(ctxrt_free(pointer), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_pointer_query(pages, &info));
    ck_assert_int_eq(info.kind, CTXRT_MEMORY_PINNED);
    cx_assert_ok(ctxrt_host_unregister(pages));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    free(pages);
}
END_TEST

START_TEST(a_query_tells_kind_device_base_and_size_with_nothing_current)
{
    int value;
    ctxrt_pointer_info info;
    const ctxrt_device devices[] = {CTXRT_CPU(0), CTXRT_CUDA(0), CTXRT_CUDA(3)};
    for (size_t i = 0; i < 3; i++) {
        cx_assert_ok(ctxrt_device_set(devices[i]));
        char *pointer = allocate(5000);
        cx_assert_ok(ctxrt_stack_pop());
        cx_assert_ok(ctxrt_pointer_query(pointer + 4999, &info));
        ck_assert_int_eq(info.known, 1);
        ck_assert_int_eq(info.kind, CTXRT_MEMORY_DEVICE);
        ck_assert_int_eq(info.device.type, devices[i].type);
        ck_assert_int_eq(info.device.index, devices[i].index);
        ck_assert_ptr_eq(info.base, pointer);
        ck_assert_uint_eq(info.size_bytes, 5000);
        cx_assert_ok(ctxrt_free(pointer));
        cx_assert_ok(ctxrt_pointer_query(pointer, &info));
        ck_assert_int_eq(info.known, 0);
    }
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(3)));
    void *managed;
    cx_assert_ok(ctxrt_alloc_managed(5000, &managed));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_pointer_query((char *)managed + 4999, &info));
    ck_assert_int_eq(info.known, 1);
    ck_assert_int_eq(info.kind, CTXRT_MEMORY_MANAGED);
    ck_assert_ptr_eq(info.base, managed);
    ck_assert_uint_eq(info.size_bytes, 5000);
    cx_assert_ok(ctxrt_free(managed));
    cx_assert_ok(ctxrt_pointer_query(&value, &info));
    ck_assert_int_eq(info.known, 0);
    cx_assert_ok(ctxrt_pointer_query(NULL, &info));
    ck_assert_int_eq(info.known, 0);
}
END_TEST

/* Returns how many the thread itself had at most. */
static void *allocate_and_free(void *argument)
{
    enum { LIVE = 16 };
    unsigned int seed = (unsigned int)(uintptr_t)argument;
    void *live[LIVE] = {0};
    uintptr_t count = 0, peak = 0;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA((int)seed % 2)));
    for (int i = 0; i < 2000; i++) {
        void **slot = &live[rand_r(&seed) % LIVE];
        if (*slot != NULL) {
            cx_assert_ok(ctxrt_free(*slot));
            *slot = NULL;
            count--;
        } else {
            *slot = allocate(1 + (size_t)rand_r(&seed) % 100000);
            count++;
        }
        peak = count > peak ? count : peak;
    }
    for (int i = 0; i < LIVE; i++)
        cx_assert_ok(ctxrt_free(live[i]));
    cx_assert_ok(ctxrt_stack_pop());
    return (void *)peak;
}

START_TEST(many_threads_allocate_and_free_and_the_figures_are_exact_afterwards)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    uintptr_t largest[2] = {0}, sum[2] = {0}; /* of the threads' own peaks, by device */
    for (uintptr_t t = 0; t < THREADS; t++)
        ck_assert_int_eq(pthread_create(&threads[t], NULL, allocate_and_free, (void *)(t + 1)), 0);
    for (int t = 0; t < THREADS; t++) {
        void *result;
        pthread_join(threads[t], &result);
        uintptr_t own = (uintptr_t)result;
        int device = (t + 1) % 2;
        largest[device] = own > largest[device] ? own : largest[device];
        sum[device] += own;
    }
    for (int i = 0; i < 2; i++) {
        ctxrt_allocator_figures figures;
        cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(i)));
        cx_assert_ok(ctxrt_allocator_statistics(NULL, &figures));
        ck_assert_uint_eq(figures.current_bytes, 0);
        ck_assert_uint_eq(figures.current_count, 0);
        ck_assert_uint_gt(figures.total_count, 1000);
        ck_assert_uint_ge(figures.peak_count, largest[i]);
        ck_assert_uint_le(figures.peak_count, sum[i]);
        cx_assert_ok(ctxrt_stack_pop());
        assert_free_bytes(CTXRT_CUDA(i), QUOTA);
    }
}
END_TEST

/* Never has more than one. */
static void *allocate_and_free_at_once(void *unused)
{
    (void)unused;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    for (int i = 0; i < 300000; i++)
        cx_assert_ok(ctxrt_free(allocate(1000)));
    cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

START_TEST(a_peak_was_live_at_one_moment_whatever_other_threads_free_meanwhile)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    ctxrt_allocator_figures figures;
    for (int t = 0; t < THREADS; t++)
        ck_assert_int_eq(pthread_create(&threads[t], NULL, allocate_and_free_at_once, NULL), 0);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_allocator_statistics(NULL, &figures));
    ck_assert_uint_eq(figures.total_count, THREADS * 300000);
    ck_assert_uint_le(figures.peak_count, THREADS);
    ck_assert_uint_le(figures.peak_bytes, THREADS * 1000);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static Suite *raw_suite(void)
{
    Suite *suite = suite_create("raw");
    TCase *tcase = tcase_create("raw");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, cx_fixture_start, cx_fixture_end);
    tcase_add_test(tcase, a_size_of_0_or_too_much_is_refused_and_nothing_changes);
    tcase_add_test(tcase, null_is_refused_but_where_it_is_freed);
    tcase_add_test(tcase, without_a_device_there_is_no_memory);
    tcase_add_test(tcase, a_pointer_that_is_none_or_was_freed_is_refused);
    tcase_add_test(tcase, each_of_many_pointers_is_known_until_it_is_freed_and_no_longer);
    tcase_add_test(tcase, pointers_are_known_however_many_there_are);
    tcase_add_test(tcase, a_pointer_that_was_freed_is_none_even_when_an_object_has_its_memory);
    tcase_add_test(tcase, of_two_threads_that_free_a_pointer_one_wins);
    tcase_add_test(tcase, a_pointer_is_freed_from_a_thread_with_nothing_current);
    tcase_add_test(
        tcase,
        pointers_of_before_a_reset_are_freed_without_error_and_new_ones_are_not_taken_for_them);
    tcase_add_test(tcase, a_stale_pointer_that_is_freed_leaves_memory_that_has_its_address_live);
    tcase_add_test(tcase, memory_in_stream_order_is_freed_in_stream_order_or_at_once);
    tcase_add_test(tcase, memory_in_stream_order_outlives_a_reset_until_it_is_freed);
    tcase_add_test(tcase,
                   managed_memory_of_before_a_reset_is_refused_in_a_process_without_allocators);
    tcase_add_test(tcase, managed_memory_of_after_a_reset_is_given_back);
    tcase_add_test(tcase, memory_that_is_freed_by_another_call_is_refused_and_the_right_one_named);
    tcase_add_test(tcase, stream_ordered_memory_works_on_the_cpu);
    tcase_add_test(tcase, managed_memory_is_reached_from_both_sides);
    tcase_add_test(tcase, pages_of_the_callers_are_pinned_until_they_are_unregistered);
    tcase_add_test(tcase, pages_that_are_an_allocators_are_not_registered_before_they_are_freed);
    tcase_add_test(tcase, a_query_tells_kind_device_base_and_size_with_nothing_current);
    tcase_add_test(tcase, many_threads_allocate_and_free_and_the_figures_are_exact_afterwards);
    tcase_add_test(tcase, a_peak_was_live_at_one_moment_whatever_other_threads_free_meanwhile);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(raw_suite);
