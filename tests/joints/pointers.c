/* Addresses: two live records at one address, stale ones, ranges beyond their memory, and memory
 * that is mapped for one device and used from another. */
#include "suites.h"

#include <stdio.h>

enum { BYTES = 4096, SLAB_BYTES = 1 << 20, BLOCK_BYTES = 65536, OTHERS = 64 };

/* ---- a slab and its first block ---- */

typedef struct slab {
    char *memory;
    int allocs, frees;
} slab;

static ctxrt_status slab_alloc(void *argument, size_t size, ctxrt_stream *stream, void **out)
{
    slab *self = argument;
    (void)size, (void)stream;
    *out = self->memory + BLOCK_BYTES * self->allocs++;
    return CTXRT_SUCCESS;
}

static ctxrt_status slab_free(void *argument, void *pointer, size_t size)
{
    (void)pointer, (void)size;
    ((slab *)argument)->frees++;
    return CTXRT_SUCCESS;
}

static void assert_slab_is_not_given_out(const slab *self)
{
    void *others[OTHERS];
    for (int i = 0; i < OTHERS; i++) {
        cx_assert_ok(ctxrt_alloc(SLAB_BYTES, &others[i]));
        ck_assert((char *)others[i] >= self->memory + SLAB_BYTES ||
                  self->memory >= (char *)others[i] + SLAB_BYTES);
        cx_assert_ok(ctxrt_fill(others[i], 9, SLAB_BYTES));
    }
    for (int i = 0; i < OTHERS; i++)
        cx_assert_ok(ctxrt_free(others[i]));
}

START_TEST(a_slab_and_its_first_block_are_freed_each_as_what_it_is)
{
    slab self = {0};
    ctxrt_allocator *allocator;
    void *first, *second;
    unsigned char byte = 0;
    const ctxrt_allocator_vtable table = {sizeof table, slab_alloc, slab_free, NULL};
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_alloc(SLAB_BYTES, (void **)&self.memory));
    cx_assert_ok(ctxrt_allocator_create_custom(&table, &self, &allocator));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    cx_assert_ok(ctxrt_alloc(100, &first));
    cx_assert_ok(ctxrt_alloc(100, &second));
    cx_assert_ok(ctxrt_fill(second, 7, 100));
    cx_assert_ok(ctxrt_free(first));
    ck_assert_int_eq(self.frees, 1);
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    assert_slab_is_not_given_out(&self);
    cx_assert_ok(ctxrt_copy(&byte, second, 1, CTXRT_COPY_ANY));
    ck_assert_int_eq(byte, 7);
    cx_assert_ok(ctxrt_free(second));
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    cx_assert_ok(ctxrt_free(self.memory));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* The slab and its first block are gone, and each is freed once all the same. */
START_TEST(a_slab_and_its_first_block_of_before_a_reset_are_freed_each_as_what_it_is)
{
    slab self = {0};
    ctxrt_allocator *allocator;
    void *first;
    const ctxrt_allocator_vtable table = {sizeof table, slab_alloc, slab_free, NULL};
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_alloc(SLAB_BYTES, (void **)&self.memory));
    cx_assert_ok(ctxrt_allocator_create_custom(&table, &self, &allocator));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    cx_assert_ok(ctxrt_alloc(100, &first));
    ck_assert_ptr_eq(first, self.memory);
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_free(first));
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    cx_assert_ok(ctxrt_free(self.memory));
    cx_assert_error(ctxrt_free(self.memory), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- stale handles ---- */

/* The same memory serves objects and raw pointers in turn. */
START_TEST(a_handle_stays_stale_though_its_memory_was_given_out_as_a_raw_pointer)
{
    enum { TIMES = 64 };
    ctxrt_memory *stale[TIMES];
    void *pointer;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    for (int i = 0; i < TIMES; i++) {
        cx_assert_ok(ctxrt_memory_alloc(BYTES, &stale[i]));
        for (int k = 0; k < i; k++)
            cx_assert_error(ctxrt_memory_retain(stale[k]), CTXRT_ERROR_INVALID_HANDLE);
        cx_assert_ok(ctxrt_memory_release(stale[i]));
        cx_assert_ok(ctxrt_alloc(BYTES, &pointer));
        cx_assert_ok(ctxrt_free(pointer));
    }
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- stale addresses ---- */

typedef enum ending { FREED, TRIMMED, RESET } ending;

static void *stale_pointer(ending how)
{
    void *pointer;
    cx_assert_ok(ctxrt_alloc((size_t)64 << 20, &pointer));
    if (how == RESET) {
        cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
        cx_assert_ok(ctxrt_free(pointer));
        return pointer;
    }
    cx_assert_ok(ctxrt_free(pointer));
    if (how == TRIMMED)
        cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    return pointer;
}

/* Memory that is freed may still be the driver's; a call must not touch it as the host's. */
static void assert_refused_or_harmless(ending how)
{
    char bytes[64] = {0};
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    void *pointer = stale_pointer(how);
    const ctxrt_status wanted = CTXRT_ERROR_INVALID_ARGUMENT;
    cx_assert_status(ctxrt_copy(bytes, pointer, 64, CTXRT_COPY_DEVICE_TO_HOST), wanted);
    cx_assert_status(ctxrt_copy(bytes, pointer, 64, CTXRT_COPY_ANY), wanted);
    cx_assert_status(ctxrt_copy(pointer, bytes, 64, CTXRT_COPY_ANY), wanted);
    cx_assert_status(ctxrt_fill(pointer, 0, 64), wanted);
    cx_assert_status(ctxrt_fill_async(pointer, 0, 64, NULL), wanted);
    cx_assert_ok(ctxrt_stack_pop());
}

START_TEST(copies_and_fills_of_memory_that_was_freed_are_refused)
{
    assert_refused_or_harmless(FREED);
}
END_TEST

START_TEST(copies_and_fills_of_memory_that_was_trimmed_are_refused)
{
    assert_refused_or_harmless(TRIMMED);
}
END_TEST

START_TEST(copies_and_fills_of_memory_that_a_reset_ended_are_refused)
{
    assert_refused_or_harmless(RESET);
}
END_TEST

/* ---- ranges beyond their memory ---- */

START_TEST(a_copy_or_fill_beyond_its_memory_is_refused)
{
    static char bytes[BYTES];
    void *pointer;
    ctxrt_memory *memory;
    const ctxrt_status wanted = CTXRT_ERROR_INVALID_ARGUMENT;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_alloc(64, &pointer));
    cx_assert_ok(ctxrt_memory_alloc(64, &memory));
    char *object = ctxrt_memory_pointer(memory);
    cx_assert_error(ctxrt_copy(bytes, pointer, BYTES, CTXRT_COPY_DEVICE_TO_HOST), wanted);
    cx_assert_error(ctxrt_copy(pointer, bytes, 65, CTXRT_COPY_ANY), wanted);
    cx_assert_error(ctxrt_fill(pointer, 1, 65), wanted);
    cx_assert_error(ctxrt_fill_async(object + 1, 1, 64, NULL), wanted);
    cx_assert_error(ctxrt_copy_async(object, pointer, 65, CTXRT_COPY_DEVICE_TO_DEVICE, NULL),
                    wanted);
    cx_assert_ok(ctxrt_fill_async(object + 1, 1, 63, NULL));
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_free(pointer));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- mapped memory from another device's frame ---- */

static void use_from_another_device(ctxrt_allocator_source source)
{
    static char bytes[BYTES];
    ctxrt_allocator *allocator;
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    void *there, *here;
    options.source = source;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_allocator_create(&options, &allocator));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    cx_assert_ok(ctxrt_alloc(BYTES, &there));
    cx_assert_ok(ctxrt_fill(there, 1, BYTES));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_alloc(BYTES, &here));
    cx_assert_ok(ctxrt_copy(bytes, there, BYTES, CTXRT_COPY_ANY));
    ck_assert_int_eq(bytes[BYTES - 1], 1);
    cx_assert_ok(ctxrt_copy(there, bytes, BYTES, CTXRT_COPY_ANY));
    cx_assert_ok(ctxrt_copy(here, there, BYTES, CTXRT_COPY_ANY));
    cx_assert_ok(ctxrt_copy(there, here, BYTES, CTXRT_COPY_ANY));
    cx_assert_ok(ctxrt_copy_async(here, there, BYTES, CTXRT_COPY_ANY, NULL));
    cx_assert_ok(ctxrt_copy_peer(here, CTXRT_CUDA(1), there, CTXRT_CUDA(0), BYTES, NULL));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    cx_assert_ok(ctxrt_fill(there, 3, BYTES));
    cx_assert_ok(ctxrt_copy(bytes, there, BYTES, CTXRT_COPY_ANY));
    ck_assert_int_eq(bytes[BYTES - 1], 3);
    cx_assert_ok(ctxrt_free(here));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_free(there));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
}

START_TEST(memory_is_copied_and_filled_from_a_frame_of_another_device)
{
    use_from_another_device(CTXRT_ALLOCATOR_SOURCE_ALLOC);
}
END_TEST

START_TEST(mapped_memory_is_copied_and_filled_from_a_frame_of_another_device)
{
    use_from_another_device(CTXRT_ALLOCATOR_SOURCE_VMM);
}
END_TEST

typedef struct foreign_capture {
    ctxrt_stream *stream;
    void *there;
    gate begun, copied;
    ctxrt_graph *graph;
    ctxrt_status status;
} foreign_capture;

static void *capture_fill(void *argument)
{
    foreign_capture *self = argument;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_stream_capture_begin(self->stream, CTXRT_CAPTURE_RELAXED));
    cx_assert_ok(ctxrt_fill_async(self->there, 5, BYTES, self->stream));
    gate_open(&self->begun);
    gate_wait(&self->copied);
    self->status = ctxrt_stream_capture_end(self->stream, &self->graph);
    cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

/* The copies run in a context of the memory's device, where another thread captures a blocking
 * stream. */
START_TEST(mapped_memory_is_copied_from_another_device_beside_a_capture)
{
    static foreign_capture self;
    pthread_t thread;
    void *there;
    static char bytes[BYTES];
    ctxrt_allocator *allocator;
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    options.source = CTXRT_ALLOCATOR_SOURCE_VMM;
    ck_assert_int_eq(sem_init(&self.begun.opened, 0, 0), 0);
    ck_assert_int_eq(sem_init(&self.copied.opened, 0, 0), 0);
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_allocator_create(&options, &allocator));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    self.stream = create_stream(CTXRT_STREAM_DEFAULT);
    cx_assert_ok(ctxrt_alloc(BYTES, &self.there));
    cx_assert_ok(ctxrt_alloc(BYTES, &there));
    ck_assert_int_eq(pthread_create(&thread, NULL, capture_fill, &self), 0);
    gate_wait(&self.begun);
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_fill(there, 3, BYTES));
    cx_assert_ok(ctxrt_copy(bytes, there, BYTES, CTXRT_COPY_ANY));
    ck_assert_int_eq(bytes[BYTES - 1], 3);
    cx_assert_ok(ctxrt_stack_pop());
    gate_open(&self.copied);
    pthread_join(thread, NULL);
    cx_assert_ok(self.status);
    cx_assert_ok(ctxrt_graph_release(self.graph));
    cx_assert_ok(ctxrt_free(there));
    cx_assert_ok(ctxrt_free(self.there));
    cx_assert_ok(ctxrt_stream_destroy(self.stream));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
}
END_TEST

/* ---- mapped memory beside changes of peer access ---- */

enum { COPIERS = 2, CHANGES = 300, PLACES = 8, PLACE_BYTES = 4 << 20 };

static void *places[COPIERS][PLACES];
static atomic_int copiers;

/* From device 1, which reaches the memory now and then. Each thread has places of its own. */
static void copy_and_fill_places(crew *self)
{
    unsigned char byte;
    void *const *own = places[atomic_fetch_add(&copiers, 1)];
    if (!LOOK(self, ctxrt_device_push(CTXRT_CUDA(1))))
        return;
    for (int i = 0; i < CHANGES; i++) {
        void *place = own[i % PLACES], *next = own[(i + 1) % PLACES];
        (void)LOOK(self, ctxrt_fill(place, 7, 64));
        (void)LOOK(self, ctxrt_copy(next, place, 64, CTXRT_COPY_ANY));
        if (LOOK(self, ctxrt_copy(&byte, place, 1, CTXRT_COPY_ANY)) && byte != 7)
            crew_note(self, "a byte is wrong");
    }
    (void)LOOK(self, ctxrt_stack_pop());
}

START_TEST(mapped_memory_is_copied_and_filled_beside_changes_of_peer_access)
{
    crew all;
    ctxrt_allocator *allocator;
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    options.source = CTXRT_ALLOCATOR_SOURCE_VMM;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_allocator_create(&options, &allocator));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    for (int i = 0; i < COPIERS * PLACES; i++)
        cx_assert_ok(ctxrt_alloc(PLACE_BYTES, &places[i / PLACES][i % PLACES]));
    atomic_store(&copiers, 0);
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    crew_start(&all, COPIERS, copy_and_fill_places);
    while (crew_works(&all)) {
        cx_assert_ok(ctxrt_device_enable_peer(CTXRT_CUDA(0)));
        cx_assert_ok(ctxrt_device_disable_peer(CTXRT_CUDA(0)));
    }
    crew_join(&all);
    cx_assert_ok(ctxrt_stack_pop());
    for (int i = 0; i < COPIERS * PLACES; i++)
        cx_assert_ok(ctxrt_free(places[i / PLACES][i % PLACES]));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
}
END_TEST

Suite *pointers_suite(void)
{
    const joint joints[] = {
        JOINT(a_slab_and_its_first_block_are_freed_each_as_what_it_is),
        JOINT(a_slab_and_its_first_block_of_before_a_reset_are_freed_each_as_what_it_is),
        JOINT(a_handle_stays_stale_though_its_memory_was_given_out_as_a_raw_pointer),
        JOINT(copies_and_fills_of_memory_that_was_freed_are_refused),
        JOINT(copies_and_fills_of_memory_that_was_trimmed_are_refused),
        JOINT(copies_and_fills_of_memory_that_a_reset_ended_are_refused),
        JOINT(a_copy_or_fill_beyond_its_memory_is_refused),
        JOINT(memory_is_copied_and_filled_from_a_frame_of_another_device),
        JOINT(mapped_memory_is_copied_and_filled_from_a_frame_of_another_device),
        JOINT(mapped_memory_is_copied_from_another_device_beside_a_capture),
        JOINT(mapped_memory_is_copied_and_filled_beside_changes_of_peer_access),
    };
    return joint_suite("pointers", joints, sizeof joints / sizeof *joints);
}
