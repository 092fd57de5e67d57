#include "fixture.h"
#include "gate.h"
#include "log_lines.h"
#include "test.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

static ctxrt_allocator_figures figures_of(ctxrt_allocator *allocator)
{
    ctxrt_allocator_figures figures;
    cx_assert_ok(ctxrt_allocator_statistics(allocator, &figures));
    return figures;
}

static ctxrt_allocator *create(uint64_t limit_bytes)
{
    ctxrt_allocator *allocator;
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    options.limit_bytes = limit_bytes;
    cx_assert_ok(ctxrt_allocator_create(&options, &allocator));
    return allocator;
}

static ctxrt_memory *allocate(size_t size_bytes)
{
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_memory_alloc(size_bytes, &memory));
    return memory;
}

START_TEST(bad_arguments_are_refused)
{
    ctxrt_allocator *allocator, *current;
    ctxrt_allocator_figures figures;
    cx_assert_error(ctxrt_allocator_create(NULL, &allocator), CTXRT_ERROR_NO_DEVICE);
    cx_assert_error(ctxrt_allocator_current(&allocator), CTXRT_ERROR_NO_DEVICE);
    cx_assert_error(ctxrt_allocator_statistics(NULL, &figures), CTXRT_ERROR_NO_DEVICE);
    cx_assert_error(ctxrt_allocator_set_limit(NULL, 1), CTXRT_ERROR_NO_DEVICE);
    cx_assert_error(ctxrt_allocator_trim(NULL, NULL), CTXRT_ERROR_NO_DEVICE);
    cx_assert_error(ctxrt_frame_set_allocator(NULL), CTXRT_ERROR_NO_DEVICE);
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_error(ctxrt_allocator_create(NULL, NULL), CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_allocator_current(NULL), CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_allocator_statistics(NULL, NULL), CTXRT_ERROR_NULL_POINTER);
    cx_assert_ok(ctxrt_allocator_destroy(NULL));
    cx_assert_ok(ctxrt_allocator_current(&current));
    cx_assert_error(ctxrt_allocator_destroy(current), CTXRT_ERROR_INVALID_ARGUMENT);
    allocator = create(0);
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    cx_assert_error(ctxrt_allocator_destroy(allocator), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_allocator_statistics(allocator, &figures), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_allocator_set_limit(allocator, 1), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_allocator_trim(allocator, NULL), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_frame_set_allocator(allocator), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static size_t free_bytes(void)
{
    size_t bytes;
    cx_assert_ok(ctxrt_device_memory_info(CTXRT_CUDA(0), &bytes, NULL));
    return bytes;
}

static ctxrt_allocator *use_with_options(const ctxrt_allocator_options *options)
{
    ctxrt_allocator *allocator;
    cx_assert_ok(ctxrt_allocator_create(options, &allocator));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    return allocator;
}

START_TEST(a_segment_is_as_large_as_the_options_say)
{
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    options.segment_bytes = 31 * MIB;
    ctxrt_allocator *allocator = use_with_options(&options);
    size_t before = free_bytes();
    ctxrt_memory *memory = allocate(MIB);
    ck_assert_uint_eq(before - free_bytes(), 32 * MIB);
    ctxrt_memory *more = allocate(30 * MIB);
    ck_assert_uint_eq(before - free_bytes(), 32 * MIB);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_memory_release(more));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
}
END_TEST

START_TEST(beyond_the_threshold_free_segments_go_back_at_once)
{
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    options.release_threshold_bytes = 40 * MIB;
    ctxrt_allocator *allocator = use_with_options(&options);
    size_t before = free_bytes();
    ctxrt_memory *memory[3];
    for (int i = 0; i < 3; i++)
        memory[i] = allocate(20 * MIB);
    ck_assert_uint_eq(before - free_bytes(), 60 * MIB);
    for (int i = 0; i < 3; i++) {
        cx_assert_ok(ctxrt_memory_release(memory[i]));
        ck_assert_uint_eq(before - free_bytes(), 40 * MIB);
    }
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    ck_assert_uint_eq(free_bytes(), before);
}
END_TEST

START_TEST(figures_count_what_is_in_use_at_most_and_ever)
{
    void *raw;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    ctxrt_memory *memory = allocate(1000);
    cx_assert_ok(ctxrt_alloc(500, &raw));
    cx_assert_ok(ctxrt_memory_release(memory));
    memory = allocate(100);
    cx_assert_error(ctxrt_memory_alloc(SIZE_MAX, &memory), CTXRT_ERROR_OUT_OF_MEMORY);
    ctxrt_allocator_figures figures = figures_of(NULL);
    ck_assert_uint_eq(figures.current_bytes, 600);
    ck_assert_uint_eq(figures.peak_bytes, 1500);
    ck_assert_uint_eq(figures.total_bytes, 1600);
    ck_assert_uint_eq(figures.current_count, 2);
    ck_assert_uint_eq(figures.peak_count, 2);
    ck_assert_uint_eq(figures.total_count, 3);
    ck_assert_uint_eq(figures.failures, 1);
    ck_assert_uint_eq(figures.limit_bytes, 0);
    cx_assert_ok(ctxrt_free(raw));
    cx_assert_ok(ctxrt_memory_release(memory));
    uint64_t released = 1;
    cx_assert_ok(ctxrt_allocator_trim(NULL, &released));
    ck_assert_uint_eq(released, 2 * MIB);
    cx_assert_ok(ctxrt_allocator_trim(NULL, &released));
    ck_assert_uint_eq(released, 0);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(memory_comes_from_the_allocator_of_the_top_frame)
{
    ctxrt_allocator *current, *original;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_allocator_current(&original));
    ctxrt_allocator *allocator = create(0);
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    cx_assert_ok(ctxrt_allocator_current(&current));
    ck_assert_ptr_eq(current, allocator);
    ctxrt_memory *own = allocate(100);
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ctxrt_memory *usual = allocate(10);
    cx_assert_ok(ctxrt_stack_pop());
    ck_assert_uint_eq(figures_of(allocator).current_bytes, 100);
    ck_assert_uint_eq(figures_of(original).current_bytes, 10);
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_ok(ctxrt_allocator_current(&current));
    ck_assert_ptr_eq(current, original);
    cx_assert_ok(ctxrt_memory_release(own));
    cx_assert_ok(ctxrt_memory_release(usual));
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(an_allocator_of_another_context_is_refused)
{
    ctxrt_allocator *current, *original;
    ctxrt_context *context;
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(0), 0, &context));
    cx_assert_ok(ctxrt_stack_push(context));
    ctxrt_allocator *allocator = create(0);
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_allocator_current(&original));
    cx_assert_error(ctxrt_frame_set_allocator(allocator), CTXRT_ERROR_WRONG_CONTEXT);
    cx_assert_ok(ctxrt_allocator_current(&current));
    ck_assert_ptr_eq(current, original);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_error(ctxrt_context_destroy(context), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    cx_assert_ok(ctxrt_context_destroy(context));
}
END_TEST

START_TEST(an_allocator_in_a_frame_or_with_live_memory_is_not_destroyed)
{
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    ctxrt_allocator *allocator = create(0);
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    cx_assert_error(ctxrt_allocator_destroy(allocator), CTXRT_ERROR_IN_USE);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "frame 0"));
    ctxrt_memory *memory = allocate(1);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_error(ctxrt_allocator_destroy(allocator), CTXRT_ERROR_IN_USE);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "1 piece of its memory is live"));
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    ctxrt_memory *other = allocate(1);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_error(ctxrt_allocator_destroy(allocator), CTXRT_ERROR_IN_USE);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "2 pieces of its memory are live"));
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_memory_release(other));
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
}
END_TEST

/* Objects, pointers, and what a thread that has ended allocated keep it, one after the other. */
static void *allocate_as_an_object(void *allocator)
{
    ctxrt_memory *memory = NULL;
    bool made = ctxrt_device_push(CTXRT_CUDA(0)) == CTXRT_SUCCESS &&
                ctxrt_frame_set_allocator(allocator) == CTXRT_SUCCESS &&
                ctxrt_memory_alloc(100000, &memory) == CTXRT_SUCCESS &&
                ctxrt_stack_pop() == CTXRT_SUCCESS;
    return made ? memory : NULL;
}

START_TEST(memory_of_any_kind_keeps_its_allocator)
{
    ctxrt_allocator *allocator;
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    pthread_t thread;
    void *object, *pointer;
    options.source = _i == 0 ? CTXRT_ALLOCATOR_SOURCE_ALLOC : CTXRT_ALLOCATOR_SOURCE_VMM;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_allocator_create(&options, &allocator));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    cx_assert_ok(ctxrt_alloc(100000, &pointer));
    cx_assert_ok(ctxrt_stack_pop());
    ck_assert_int_eq(pthread_create(&thread, NULL, allocate_as_an_object, allocator), 0);
    ck_assert_int_eq(pthread_join(thread, &object), 0);
    ck_assert_ptr_nonnull(object);
    cx_assert_error(ctxrt_allocator_destroy(allocator), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_free(pointer));
    cx_assert_error(ctxrt_allocator_destroy(allocator), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_memory_release(object));
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    cx_assert_error(ctxrt_memory_release(object), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_free(pointer), CTXRT_ERROR_INVALID_ARGUMENT);
}
END_TEST

START_TEST(a_limit_is_kept_and_can_be_changed)
{
    ctxrt_memory *more;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    ctxrt_allocator *allocator = create(1000);
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    ctxrt_memory *memory = allocate(1000);
    cx_assert_error(ctxrt_memory_alloc(1, &more), CTXRT_ERROR_OUT_OF_MEMORY);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "limit"));
    cx_assert_ok(ctxrt_allocator_set_limit(NULL, 10));
    cx_assert_error(ctxrt_memory_alloc(1, &more), CTXRT_ERROR_OUT_OF_MEMORY);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_error(ctxrt_memory_alloc(SIZE_MAX, &more), CTXRT_ERROR_OUT_OF_MEMORY);
    memory = allocate(10);
    cx_assert_ok(ctxrt_allocator_set_limit(allocator, 0));
    more = allocate(2000);
    ck_assert_uint_eq(figures_of(allocator).failures, 3);
    ck_assert_uint_eq(figures_of(allocator).peak_bytes, 2010);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_memory_release(more));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
}
END_TEST

typedef struct limit_race {
    ctxrt_allocator *allocator;
    pthread_barrier_t barrier;
    atomic_int granted;
} limit_race;

static void *race_for_the_limit(void *argument)
{
    limit_race *race = argument;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_frame_set_allocator(race->allocator));
    for (int i = 0; i < 200; i++) {
        ctxrt_memory *memory = NULL;
        pthread_barrier_wait(&race->barrier);
        ctxrt_status status = ctxrt_memory_alloc(600, &memory);
        ck_assert(status == CTXRT_SUCCESS || status == CTXRT_ERROR_OUT_OF_MEMORY);
        if (status == CTXRT_SUCCESS)
            atomic_fetch_add(&race->granted, 1);
        pthread_barrier_wait(&race->barrier);
        cx_assert_ok(ctxrt_memory_release(memory));
    }
    cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

START_TEST(two_threads_never_pass_a_limit_together)
{
    pthread_t threads[2];
    limit_race race = {0};
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    race.allocator = create(1000);
    pthread_barrier_init(&race.barrier, NULL, 2);
    for (int t = 0; t < 2; t++)
        ck_assert_int_eq(pthread_create(&threads[t], NULL, race_for_the_limit, &race), 0);
    for (int t = 0; t < 2; t++)
        pthread_join(threads[t], NULL);
    ck_assert_int_eq(race.granted, 200);
    ctxrt_allocator_figures figures = figures_of(race.allocator);
    ck_assert_uint_eq(figures.peak_bytes, 600);
    ck_assert_uint_eq(figures.peak_count, 1);
    ck_assert_uint_eq(figures.failures, 200);
    ck_assert_uint_eq(figures.current_bytes, 0);
    cx_assert_ok(ctxrt_allocator_destroy(race.allocator));
    cx_assert_ok(ctxrt_stack_pop());
    pthread_barrier_destroy(&race.barrier);
}
END_TEST

/* ---- custom allocators ---- */

typedef struct custom {
    ctxrt_status alloc_status, free_status;
    unsigned char *give;
    int allocs, frees, destroys;
    size_t size_bytes;
    ctxrt_stream *stream;
    int device_index;
    bool looks_at_end;
} custom;

static int current_index(void)
{
    ctxrt_device device;
    return ctxrt_device_get(&device) == CTXRT_SUCCESS ? device.index : -1;
}

static ctxrt_status custom_alloc(void *user_data, size_t size_bytes, ctxrt_stream *stream,
                                 void **out_pointer)
{
    custom *self = user_data;
    self->allocs++;
    self->size_bytes = size_bytes;
    self->stream = stream;
    self->device_index = current_index();
    if (self->alloc_status == CTXRT_SUCCESS)
        *out_pointer = self->give;
    return self->alloc_status;
}

static ctxrt_status custom_free(void *user_data, void *pointer, size_t size_bytes)
{
    custom *self = user_data;
    ck_assert_ptr_eq(pointer, self->give);
    ck_assert_uint_eq(size_bytes, self->size_bytes);
    self->frees++;
    self->device_index = current_index();
    return self->free_status;
}

static void custom_destroy(void *user_data)
{
    custom *self = user_data;
    self->destroys++;
    if (self->looks_at_end)
        self->device_index = current_index();
}

static const ctxrt_allocator_vtable custom_vtable = {
    sizeof(ctxrt_allocator_vtable), custom_alloc, custom_free, custom_destroy};

static ctxrt_allocator *create_custom(custom *self)
{
    ctxrt_allocator *allocator;
    cx_assert_ok(ctxrt_allocator_create_custom(&custom_vtable, self, &allocator));
    return allocator;
}

START_TEST(a_custom_allocator_is_checked)
{
    ctxrt_allocator *allocator;
    ctxrt_allocator_vtable vtable = custom_vtable;
    cx_assert_error(ctxrt_allocator_create_custom(&vtable, NULL, &allocator),
                    CTXRT_ERROR_NO_DEVICE);
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_error(ctxrt_allocator_create_custom(NULL, NULL, &allocator),
                    CTXRT_ERROR_NULL_POINTER);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "vtable is NULL"));
    cx_assert_error(ctxrt_allocator_create_custom(&vtable, NULL, NULL), CTXRT_ERROR_NULL_POINTER);
    vtable.struct_size = 0;
    cx_assert_error(ctxrt_allocator_create_custom(&vtable, NULL, &allocator),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    vtable = custom_vtable;
    vtable.alloc = NULL;
    cx_assert_error(ctxrt_allocator_create_custom(&vtable, NULL, &allocator),
                    CTXRT_ERROR_NULL_POINTER);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "alloc is NULL"));
    vtable = custom_vtable;
    vtable.free = NULL;
    cx_assert_error(ctxrt_allocator_create_custom(&vtable, NULL, &allocator),
                    CTXRT_ERROR_NULL_POINTER);
    vtable = custom_vtable;
    vtable.destroy = NULL;
    cx_assert_ok(ctxrt_allocator_create_custom(&vtable, NULL, &allocator));
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static void *release_elsewhere(void *memory)
{
    cx_assert_ok(ctxrt_memory_release(memory));
    ck_assert_int_eq(current_index(), -1);
    return NULL;
}

START_TEST(a_custom_allocator_is_called_with_its_context_current_on_any_thread)
{
    unsigned char bytes[64];
    custom self = {.give = bytes};
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(2)));
    ctxrt_allocator *allocator = create_custom(&self);
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    ctxrt_memory *memory = allocate(64);
    ck_assert_ptr_eq(ctxrt_memory_pointer(memory), bytes);
    ck_assert_int_eq(self.device_index, 2);
    ck_assert_ptr_eq(self.stream, current_stream());
    on_a_thread(release_elsewhere, memory);
    ck_assert_int_eq(self.frees, 1);
    ck_assert_int_eq(self.device_index, 2);
    memory = allocate(32);
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_memory_release(memory));
    ck_assert_int_eq(self.device_index, 2);
    ck_assert_int_eq(current_index(), 0);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stack_pop());
    ck_assert_int_eq(self.destroys, 0);
    self.looks_at_end = true;
    self.device_index = -2;
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    ck_assert_int_eq(self.destroys, 1);
    ck_assert_int_eq(self.device_index, 2);
    ck_assert_int_eq(current_index(), -1);
}
END_TEST

/* It gets the record of the one before. */
START_TEST(an_allocator_made_after_another_one_counts_from_nothing)
{
    unsigned char give[64];
    custom self = {.give = give};
    static const ctxrt_allocator_figures nothing;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    for (int i = 0; i < 2; i++) {
        ctxrt_allocator *allocator = create_custom(&self);
        const ctxrt_allocator_figures figures = figures_of(allocator);
        void *raw;
        ck_assert_mem_eq(&figures, &nothing, sizeof nothing);
        cx_assert_ok(ctxrt_frame_set_allocator(allocator));
        self.alloc_status = CTXRT_ERROR_OUT_OF_MEMORY;
        cx_assert_error(ctxrt_alloc(sizeof give, &raw), CTXRT_ERROR_OUT_OF_MEMORY);
        self.alloc_status = CTXRT_SUCCESS;
        cx_assert_ok(ctxrt_alloc(sizeof give, &raw));
        ck_assert_uint_eq(figures_of(allocator).peak_count, 1);
        cx_assert_ok(ctxrt_free(raw));
        cx_assert_ok(ctxrt_frame_set_allocator(NULL));
        cx_assert_ok(ctxrt_allocator_destroy(allocator));
    }
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(failures_of_a_custom_allocator_are_passed_on_with_a_sentence)
{
    unsigned char byte;
    void *raw = NULL;
    custom self = {.alloc_status = CTXRT_ERROR_NOT_PERMITTED};
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    ctxrt_allocator *allocator = create_custom(&self);
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    cx_assert_error(ctxrt_alloc(77, &raw), CTXRT_ERROR_NOT_PERMITTED);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "77 bytes"));
    self.alloc_status = CTXRT_SUCCESS;
    cx_assert_error(ctxrt_alloc(77, &raw), CTXRT_ERROR_OUT_OF_MEMORY);
    ck_assert_ptr_null(raw);
    ck_assert_uint_eq(figures_of(allocator).failures, 2);
    ck_assert_uint_eq(figures_of(allocator).peak_bytes, 0);
    self.give = &byte;
    self.free_status = CTXRT_ERROR_SYSTEM;
    cx_assert_ok(ctxrt_alloc(1, &raw));
    cx_assert_error(ctxrt_free(raw), CTXRT_ERROR_SYSTEM);
    cx_assert_error(ctxrt_free(raw), CTXRT_ERROR_INVALID_ARGUMENT);
    ck_assert_int_eq(self.frees, 1);
    ck_assert_uint_eq(figures_of(allocator).current_bytes, 0);
    uint64_t released = 1;
    cx_assert_ok(ctxrt_allocator_trim(allocator, &released));
    ck_assert_uint_eq(released, 0);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
}
END_TEST

START_TEST(memory_of_a_custom_allocator_that_went_with_a_reset_is_not_freed_again)
{
    unsigned char byte;
    custom self = {.give = &byte};
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    ctxrt_allocator *allocator = create_custom(&self);
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    ctxrt_memory *memory = allocate(1);
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_memory_release(memory));
    ck_assert_int_eq(self.frees, 0);
    memory = allocate(1);
    cx_assert_ok(ctxrt_memory_release(memory));
    ck_assert_int_eq(self.frees, 1);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
}
END_TEST

/* Other code freed it then, or the allocator has taken it back: it is the new owner's. Memory of
 * before a reset is owed a free of its own, which comes first. */
START_TEST(memory_whose_address_is_given_out_anew_is_the_new_owners_and_not_freed_before)
{
    static log_lines lines = {.lock = PTHREAD_MUTEX_INITIALIZER};
    unsigned char bytes[64];
    void *first, *second;
    custom self = {.give = bytes};
    cx_assert_ok(ctxrt_log_set(log_lines_take, &lines, CTXRT_LOG_WARNING));
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    ctxrt_allocator *allocator = create_custom(&self);
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    cx_assert_ok(ctxrt_alloc(64, &first));
    ck_assert_int_eq(log_lines_with(&lines, "other code freed"), 0);
    cx_assert_ok(ctxrt_alloc(32, &second));
    ck_assert_ptr_eq(second, first);
    ck_assert_int_eq(log_lines_with(&lines, "other code freed"), 1);
    ck_assert_int_eq(self.frees, 0);
    ck_assert_uint_eq(figures_of(allocator).current_bytes, 32);
    ck_assert_uint_eq(figures_of(allocator).current_count, 1);
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_alloc(16, &second));
    ck_assert_int_eq(log_lines_with(&lines, "other code freed"), 1);
    cx_assert_ok(ctxrt_free(second));
    ck_assert_int_eq(self.frees, 0);
    cx_assert_ok(ctxrt_free(first));
    ck_assert_int_eq(self.frees, 1);
    cx_assert_error(ctxrt_free(first), CTXRT_ERROR_INVALID_ARGUMENT);
    ck_assert_uint_eq(figures_of(allocator).current_count, 0);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_WARNING));
}
END_TEST

/* A custom allocator may place what it gives in memory that ctxrt gave, at its very start. */
START_TEST(of_two_allocators_that_give_one_address_the_last_ones_memory_is_freed_first)
{
    static log_lines lines = {.lock = PTHREAD_MUTEX_INITIALIZER};
    void *piece, *raw, *other;
    custom self = {0};
    cx_assert_ok(ctxrt_log_set(log_lines_take, &lines, CTXRT_LOG_WARNING));
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    ctxrt_allocator *allocator = create_custom(&self);
    cx_assert_ok(ctxrt_alloc(4096, &piece));
    self.give = piece;
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    cx_assert_ok(ctxrt_alloc(100, &raw));
    ck_assert_ptr_eq(raw, piece);
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    ck_assert_uint_eq(figures_of(NULL).current_count, 1);
    cx_assert_ok(ctxrt_free(raw));
    ck_assert_int_eq(self.frees, 1);
    ck_assert_uint_eq(figures_of(allocator).current_count, 0);
    ck_assert_uint_eq(figures_of(NULL).current_count, 1);
    cx_assert_ok(ctxrt_alloc(4096, &other));
    ck_assert_ptr_ne(other, piece);
    cx_assert_ok(ctxrt_free(other));
    cx_assert_ok(ctxrt_free(piece));
    cx_assert_error(ctxrt_free(piece), CTXRT_ERROR_INVALID_ARGUMENT);
    ck_assert_int_eq(self.frees, 1);
    ck_assert_uint_eq(figures_of(NULL).current_count, 0);
    ck_assert_int_eq(log_lines_with(&lines, "other code freed"), 0);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_WARNING));
}
END_TEST

/* The slab was freed while a block in it is live: the block's memory is somebody else's. A
 * recording's block (_i: 1) is of its pool, which forgets it as well. */
START_TEST(a_block_whose_slab_was_freed_and_given_out_anew_is_forgotten)
{
    static log_lines lines = {.lock = PTHREAD_MUTEX_INITIALIZER};
    ctxrt_memory *slab;
    ctxrt_graph *graph = NULL;
    void *raw, *again;
    custom self = {0};
    cx_assert_ok(ctxrt_log_set(log_lines_take, &lines, CTXRT_LOG_WARNING));
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    ctxrt_allocator *allocator = create_custom(&self);
    cx_assert_ok(ctxrt_memory_alloc(4096, &slab));
    self.give = ctxrt_memory_pointer(slab);
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    if (_i == 1)
        cx_assert_ok(ctxrt_recording_start(NULL));
    cx_assert_ok(ctxrt_alloc(100, &raw));
    if (_i == 1)
        cx_assert_ok(ctxrt_recording_stop(&graph));
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_ok(ctxrt_memory_release(slab));
    cx_assert_ok(ctxrt_alloc(4096, &again));
    ck_assert_ptr_eq(again, raw);
    ck_assert_int_eq(log_lines_with(&lines, "other code freed"), 1);
    ck_assert_uint_eq(figures_of(allocator).current_count, 0);
    cx_assert_ok(ctxrt_free(again));
    cx_assert_error(ctxrt_free(raw), CTXRT_ERROR_INVALID_ARGUMENT);
    ck_assert_int_eq(self.frees, 0);
    cx_assert_ok(ctxrt_graph_release(graph));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_WARNING));
}
END_TEST

static Suite *allocator_suite(void)
{
    Suite *suite = suite_create("allocator");
    TCase *tcase = tcase_create("allocator");
    tcase_add_checked_fixture(tcase, cx_fixture_start, cx_fixture_end);
    tcase_add_test(tcase, bad_arguments_are_refused);
    tcase_add_test(tcase, a_segment_is_as_large_as_the_options_say);
    tcase_add_test(tcase, beyond_the_threshold_free_segments_go_back_at_once);
    tcase_add_test(tcase, figures_count_what_is_in_use_at_most_and_ever);
    tcase_add_test(tcase, memory_comes_from_the_allocator_of_the_top_frame);
    tcase_add_test(tcase, an_allocator_of_another_context_is_refused);
    tcase_add_test(tcase, an_allocator_in_a_frame_or_with_live_memory_is_not_destroyed);
    tcase_add_loop_test(tcase, memory_of_any_kind_keeps_its_allocator, 0, 2);
    tcase_add_test(tcase, a_limit_is_kept_and_can_be_changed);
    tcase_add_test(tcase, two_threads_never_pass_a_limit_together);
    tcase_add_test(tcase, a_custom_allocator_is_checked);
    tcase_add_test(tcase, a_custom_allocator_is_called_with_its_context_current_on_any_thread);
    tcase_add_test(tcase, an_allocator_made_after_another_one_counts_from_nothing);
    tcase_add_test(tcase, failures_of_a_custom_allocator_are_passed_on_with_a_sentence);
    tcase_add_test(tcase, memory_of_a_custom_allocator_that_went_with_a_reset_is_not_freed_again);
    tcase_add_test(tcase,
                   memory_whose_address_is_given_out_anew_is_the_new_owners_and_not_freed_before);
    tcase_add_test(tcase,
                   of_two_allocators_that_give_one_address_the_last_ones_memory_is_freed_first);
    tcase_add_loop_test(tcase, a_block_whose_slab_was_freed_and_given_out_anew_is_forgotten, 0, 2);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(allocator_suite);
