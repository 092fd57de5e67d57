/* A device that is reset, released or destroyed by one thread while others use it, and a shutdown
 * that is refused meanwhile. */
#include "suites.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
enum { ROUNDS = 1000 };
#else
enum { ROUNDS = 2500 };
#endif
enum {
    PIECES = 64,
    BLOCKS = 2000,
    BLOCK_BYTES = 4096,
    LARGE_BYTES = 64 << 20,
};

static atomic_uint seeds;

/* ---- memory beside a reset ---- */

static void allocate_and_release(crew *self)
{
    ctxrt_memory *memory[PIECES] = {0};
    unsigned int seed = atomic_fetch_add(&seeds, 1) + 1;
    if (!LOOK(self, ctxrt_device_push(CTXRT_CUDA(0))))
        return;
    for (int i = 0; i < 8 * ROUNDS; i++) {
        int which = rand_r(&seed) % PIECES;
        size_t size = rand_r(&seed) % 4 != 0 ? 256 + (size_t)rand_r(&seed) % 8192 : 1 << 20;
        if (memory[which] != NULL) {
            (void)LOOK(self, ctxrt_memory_release(memory[which]));
            memory[which] = NULL;
        } else if (!LOOK(self, ctxrt_memory_alloc(size, &memory[which]))) {
            memory[which] = NULL;
        }
    }
    for (int i = 0; i < PIECES; i++)
        (void)LOOK(self, ctxrt_memory_release(memory[i]));
    (void)LOOK(self, ctxrt_stack_pop());
}

/* Memory that is given out from now on is live, and none of it twice. */
static void assert_memory_is_distinct(void)
{
    static void *blocks[BLOCKS];
    unsigned char bytes[BLOCK_BYTES];
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    for (int i = 0; i < BLOCKS; i++)
        cx_assert_ok(ctxrt_alloc(BLOCK_BYTES, &blocks[i]));
    for (int i = 0; i < BLOCKS; i++)
        cx_assert_ok(ctxrt_fill(blocks[i], i % 251, BLOCK_BYTES));
    for (int i = 0; i < BLOCKS; i++) {
        cx_assert_ok(ctxrt_copy(bytes, blocks[i], BLOCK_BYTES, CTXRT_COPY_DEVICE_TO_HOST));
        int same = 0;
        while (same < BLOCK_BYTES && bytes[same] == i % 251)
            same++;
        ck_assert_msg(same == BLOCK_BYTES, "block %d overlaps another", i);
        cx_assert_ok(ctxrt_free(blocks[i]));
    }
    cx_assert_ok(ctxrt_stack_pop());
}

START_TEST(threads_release_memory_of_a_device_that_is_being_reset)
{
    crew all;
    crew_start(&all, 6, allocate_and_release);
    while (crew_works(&all))
        cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    crew_join(&all);
    assert_memory_is_distinct();
}
END_TEST

/* ---- streams, events and questions beside a reset ---- */

static void use_streams_and_events(crew *self)
{
    const unsigned int gone = MAY(CTXRT_ERROR_CONTEXT_DESTROYED);
    const unsigned int asked = gone | MAY(CTXRT_ERROR_NOT_READY);
    for (int i = 0; i < ROUNDS / 5; i++) {
        ctxrt_stream *stream;
        ctxrt_event *event;
        if (!LOOK(self, ctxrt_device_push(CTXRT_CUDA(0))))
            continue;
        if (LOOK(self, ctxrt_stream_create(CTXRT_STREAM_DEFAULT, 0, &stream))) {
            if (LOOK(self, ctxrt_event_create(CTXRT_EVENT_DEFAULT, &event))) {
                for (int k = 0; k < 20; k++) {
                    (void)LOOK_MAY(self, ctxrt_event_record(event, stream), gone);
                    (void)LOOK_MAY(self, ctxrt_event_query(event), asked);
                    (void)LOOK_MAY(self, ctxrt_event_synchronize(event), gone);
                    (void)LOOK_MAY(self, ctxrt_stream_wait_event(stream, event), gone);
                    (void)LOOK_MAY(self, ctxrt_stream_query(stream), asked);
                    (void)LOOK_MAY(self, ctxrt_stream_synchronize(stream), gone);
                }
                (void)LOOK(self, ctxrt_event_destroy(event));
            }
            (void)LOOK(self, ctxrt_stream_destroy(stream));
        }
        (void)LOOK(self, ctxrt_stack_pop());
    }
}

START_TEST(streams_and_events_of_a_device_that_is_reset_say_so_and_nothing_else)
{
    crew all;
    crew_start(&all, 3, use_streams_and_events);
    while (crew_works(&all))
        cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    crew_join(&all);
}
END_TEST

static void ask_and_create(crew *self)
{
    for (int i = 0; i < ROUNDS; i++) {
        size_t free_bytes, total_bytes;
        ctxrt_stream *stream;
        ctxrt_event *event;
        ctxrt_allocator *allocator;
        uint64_t id;
        (void)LOOK(self, ctxrt_device_memory_info(CTXRT_CUDA(0), &free_bytes, &total_bytes));
        if (!LOOK(self, ctxrt_device_push(CTXRT_CUDA(0))))
            continue;
        if (LOOK(self, ctxrt_stream_create(CTXRT_STREAM_DEFAULT, 0, &stream)))
            (void)LOOK(self, ctxrt_stream_destroy(stream));
        (void)LOOK(self, ctxrt_stream_current(&stream));
        (void)LOOK(self, ctxrt_device_synchronize());
        (void)LOOK(self, ctxrt_allocator_current(&allocator));
        if (LOOK(self, ctxrt_event_create(CTXRT_EVENT_DEFAULT, &event)))
            (void)LOOK(self, ctxrt_event_destroy(event));
        (void)LOOK(self, ctxrt_context_id(NULL, &id));
        (void)LOOK(self, ctxrt_stack_pop());
    }
}

START_TEST(frames_of_a_device_that_is_reset_stay_usable)
{
    crew all;
    crew_start(&all, 3, ask_and_create);
    while (crew_works(&all))
        cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    crew_join(&all);
}
END_TEST

/* ---- copies, fills and graphs beside a reset ---- */

/* The address may be another thread's by now: that is a race, which ThreadSanitizer would report.
 * All memory of the device is a cache's here: in memory that another thread gives back to the
 * driver, the write would leave an error that no reset ends. */
static void write_block(crew *self, void *pointer)
{
#ifndef __SANITIZE_THREAD__
    static const char bytes[BLOCK_BYTES];
    const unsigned int ended = MAY(CTXRT_ERROR_CONTEXT_DESTROYED) |
                               MAY(CTXRT_ERROR_INVALID_ARGUMENT) | MAY(CTXRT_ERROR_DRIVER);
    (void)LOOK_MAY(self, ctxrt_fill(pointer, 1, BLOCK_BYTES), ended);
    (void)LOOK_MAY(self, ctxrt_copy(pointer, bytes, BLOCK_BYTES, CTXRT_COPY_ANY), ended);
#else
    (void)self, (void)pointer;
#endif
}

static void copy_and_fill(crew *self)
{
    const unsigned int gone = MAY(CTXRT_ERROR_CONTEXT_DESTROYED);
    if (!LOOK(self, ctxrt_device_push(CTXRT_CUDA(0))))
        return;
    for (int i = 0; i < ROUNDS / 4; i++) {
        void *pointer;
        ctxrt_memory *pinned;
        ctxrt_graph *graph;
        ctxrt_stream *stream;
        if (LOOK(self, ctxrt_alloc(BLOCK_BYTES, &pointer))) {
            write_block(self, pointer);
            (void)LOOK(self, ctxrt_free(pointer));
        }
        if (LOOK(self, ctxrt_memory_alloc_pinned(BLOCK_BYTES, &pinned)))
            (void)LOOK(self, ctxrt_memory_release(pinned));
        if (!LOOK(self, ctxrt_stream_create(CTXRT_STREAM_DEFAULT, 0, &stream)))
            continue;
        if (LOOK_MAY(self, ctxrt_stream_capture_begin(stream, CTXRT_CAPTURE_RELAXED), gone) &&
            LOOK_MAY(self, ctxrt_stream_capture_end(stream, &graph), gone)) {
            (void)LOOK_MAY(self, ctxrt_graph_launch(graph, stream), gone);
            (void)LOOK(self, ctxrt_graph_release(graph));
        }
        (void)LOOK(self, ctxrt_stream_destroy(stream));
    }
    (void)LOOK(self, ctxrt_stack_pop());
}

START_TEST(copies_fills_and_graphs_of_a_device_that_is_reset_say_so_and_nothing_else)
{
    crew all;
    crew_start(&all, 3, copy_and_fill);
    while (crew_works(&all))
        cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    crew_join(&all);
}
END_TEST

/* Addresses go from the cache to memory in stream order and back with each reset. */
static void allocate_both_ways(crew *self)
{
    if (!LOOK(self, ctxrt_device_push(CTXRT_CUDA(0))))
        return;
    for (int i = 0; i < 8 * ROUNDS; i++) {
        void *pointer, *other;
        bool has = LOOK(self, ctxrt_alloc(BLOCK_BYTES, &pointer));
        if (LOOK_MAY(self, ctxrt_alloc_async(BLOCK_BYTES, NULL, &other),
                     MAY(CTXRT_ERROR_CONTEXT_DESTROYED)))
            (void)LOOK(self, ctxrt_free(other));
        if (has)
            (void)LOOK(self, ctxrt_free(pointer));
    }
    (void)LOOK(self, ctxrt_stack_pop());
}

START_TEST(each_thread_frees_its_own_memory_of_a_device_that_is_reset)
{
    crew all;
    crew_start(&all, 3, allocate_both_ways);
    while (crew_works(&all))
        cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    crew_join(&all);
}
END_TEST

/* ---- pointers of before a reset ---- */

static void allocate_by(int way, void **out_pointer)
{
    if (way == 0)
        cx_assert_ok(ctxrt_alloc(LARGE_BYTES, out_pointer));
    else if (way == 1)
        cx_assert_ok(ctxrt_alloc_async(LARGE_BYTES, NULL, out_pointer));
    else
        cx_assert_ok(ctxrt_alloc_managed(LARGE_BYTES, out_pointer));
}

START_TEST(a_pointer_of_before_a_reset_is_freed_though_its_address_was_given_out_again)
{
    enum { WAYS = 3 };
    for (int i = 0; i < WAYS * WAYS * 2; i++) {
        void *before, *after;
        bool new_one_first = i / (WAYS * WAYS) == 1;
        cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
        allocate_by(i % WAYS, &before);
        cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
        allocate_by(i / WAYS % WAYS, &after);
        cx_assert_ok(ctxrt_free(new_one_first ? after : before));
        cx_assert_ok(ctxrt_free(new_one_first ? before : after));
        cx_assert_ok(ctxrt_stack_pop());
        cx_fixture_end();
        cx_fixture_start();
    }
}
END_TEST

/* ---- a context that is not destroyed, a runtime that is not shut down ---- */

static ctxrt_context *used_context;

static void use_context(crew *self)
{
    if (!LOOK(self, ctxrt_stack_push(used_context)))
        return;
    for (int i = 0; i < 4 * ROUNDS; i++) {
        uint64_t id;
        (void)LOOK(self, ctxrt_context_id(used_context, &id));
        if (LOOK(self, ctxrt_stack_push(used_context)))
            (void)LOOK(self, ctxrt_stack_pop());
    }
    (void)LOOK(self, ctxrt_stack_pop());
}

START_TEST(a_context_whose_destroy_is_refused_is_live_all_the_time)
{
    crew all;
    ctxrt_event *event;
    cx_assert_ok(ctxrt_context_create(CTXRT_CPU(0), 0, &used_context));
    cx_assert_ok(ctxrt_stack_push(used_context));
    cx_assert_ok(ctxrt_event_create(CTXRT_EVENT_DEFAULT, &event));
    cx_assert_ok(ctxrt_stack_pop());
    crew_start(&all, 2, use_context);
    while (crew_works(&all))
        cx_assert_status(ctxrt_context_destroy(used_context), CTXRT_ERROR_IN_USE);
    crew_join(&all);
    cx_assert_ok(ctxrt_event_destroy(event));
    cx_assert_ok(ctxrt_context_destroy(used_context));
}
END_TEST

/* Some memory is live at each reset, never the same for long. */
START_TEST(what_is_kept_of_an_ended_epoch_goes_with_its_last_block)
{
    enum { RESETS = 12000 };
    ctxrt_memory *before = NULL;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    for (int i = 0; i < RESETS; i++) {
        ctxrt_memory *memory;
        cx_assert_ok(ctxrt_memory_alloc(BLOCK_BYTES, &memory));
        cx_assert_ok(ctxrt_memory_release(before));
        cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
        before = memory;
    }
    cx_assert_ok(ctxrt_memory_release(before));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

typedef struct keeper {
    sem_t keeps, may_end;
    bool kept;
} keeper;

/* The thread's cache keeps freed memory until the thread ends. */
static void *keep_memory(void *argument)
{
    keeper *self = argument;
    void *pointers[PIECES];
    self->kept = ctxrt_device_push(CTXRT_CUDA(0)) == CTXRT_SUCCESS;
    for (size_t i = 0; i < PIECES && self->kept; i++)
        self->kept = ctxrt_alloc(256 + i * 512, &pointers[i]) == CTXRT_SUCCESS;
    for (size_t i = 0; i < PIECES && self->kept; i++)
        self->kept = ctxrt_free(pointers[i]) == CTXRT_SUCCESS;
    self->kept = self->kept && ctxrt_stack_pop() == CTXRT_SUCCESS;
    sem_post(&self->keeps);
    sem_wait(&self->may_end);
    return NULL;
}

/* What describes the memory of an epoch may be at an address where that of an earlier one was. */
START_TEST(a_thread_that_keeps_memory_ends_after_any_number_of_resets)
{
    for (int resets = 0; resets < 24; resets++) {
        keeper self;
        pthread_t thread;
        sem_init(&self.keeps, 0, 0);
        sem_init(&self.may_end, 0, 0);
        ck_assert_int_eq(pthread_create(&thread, NULL, keep_memory, &self), 0);
        sem_wait(&self.keeps);
        ck_assert(self.kept);
        for (int i = 0; i < resets; i++)
            cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
        sem_post(&self.may_end);
        pthread_join(thread, NULL);
        assert_memory_is_distinct();
        sem_destroy(&self.keeps);
        sem_destroy(&self.may_end);
    }
}
END_TEST

static void no_log(ctxrt_log_level level, const char *line, void *argument)
{
    (void)level, (void)line, (void)argument;
}

static void create_and_destroy_allocators(crew *self)
{
    if (!LOOK(self, ctxrt_device_push(CTXRT_CUDA(0))))
        return;
    for (int i = 0; i < ROUNDS / 4; i++) {
        ctxrt_allocator *allocator;
        void *pointer;
        if (!LOOK(self, ctxrt_allocator_create(NULL, &allocator)))
            continue;
        (void)LOOK(self, ctxrt_frame_set_allocator(allocator));
        if (LOOK(self, ctxrt_alloc(BLOCK_BYTES, &pointer)))
            (void)LOOK(self, ctxrt_free(pointer));
        (void)LOOK(self, ctxrt_frame_set_allocator(NULL));
        (void)LOOK(self, ctxrt_allocator_destroy(allocator));
    }
    (void)LOOK(self, ctxrt_stack_pop());
}

START_TEST(a_refused_shutdown_describes_allocators_while_others_end_theirs)
{
    crew all;
    void *pointer;
    cx_assert_ok(ctxrt_log_set(no_log, NULL, CTXRT_LOG_INFO));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_alloc(64, &pointer));
    crew_start(&all, 3, create_and_destroy_allocators);
    while (crew_works(&all))
        cx_assert_status(ctxrt_shutdown(), CTXRT_ERROR_IN_USE);
    crew_join(&all);
    cx_assert_ok(ctxrt_free(pointer));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_WARNING));
}
END_TEST

/* ---- a reset that is half refused ---- */

/* The first retain is the frame's, the second one the reset's. */
static void start_with_a_refused_retain(void)
{
    ck_assert_int_eq(setenv("CTXRT_EMU_FAULT", "cuDevicePrimaryCtxRetain@2", 1), 0);
    cx_fixture_start();
}

START_TEST(a_reset_whose_retain_is_refused_once_is_done_all_the_same)
{
    void *pointer;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_alloc(BLOCK_BYTES, &pointer));
    cx_assert_ok(ctxrt_fill(pointer, 1, BLOCK_BYTES));
    cx_assert_ok(ctxrt_free(pointer));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

Suite *reset_suite(void)
{
    const joint joints[] = {
        {"a_reset_whose_retain_is_refused_once_is_done_all_the_same",
         a_reset_whose_retain_is_refused_once_is_done_all_the_same, start_with_a_refused_retain,
         NULL},
        JOINT(threads_release_memory_of_a_device_that_is_being_reset),
        JOINT(streams_and_events_of_a_device_that_is_reset_say_so_and_nothing_else),
        JOINT(frames_of_a_device_that_is_reset_stay_usable),
        JOINT(copies_fills_and_graphs_of_a_device_that_is_reset_say_so_and_nothing_else),
        JOINT(each_thread_frees_its_own_memory_of_a_device_that_is_reset),
        JOINT(a_pointer_of_before_a_reset_is_freed_though_its_address_was_given_out_again),
        JOINT(a_context_whose_destroy_is_refused_is_live_all_the_time),
        JOINT(what_is_kept_of_an_ended_epoch_goes_with_its_last_block),
        JOINT(a_thread_that_keeps_memory_ends_after_any_number_of_resets),
        JOINT(a_refused_shutdown_describes_allocators_while_others_end_theirs),
    };
    return joint_suite("reset", joints, sizeof joints / sizeof *joints);
}
