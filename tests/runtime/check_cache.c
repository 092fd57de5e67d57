/* What the default allocator keeps, whom it gives it to, and when. */
#include "fixture.h"
#include "opener.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

static ctxrt_memory *allocate(size_t size_bytes)
{
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_memory_alloc(size_bytes, &memory));
    return memory;
}

static size_t free_bytes_of(ctxrt_device device)
{
    size_t free_bytes;
    cx_assert_ok(ctxrt_device_memory_info(device, &free_bytes, NULL));
    return free_bytes;
}

static void assert_held(uint64_t bytes)
{
    ctxrt_allocator_info info = CTXRT_ALLOCATOR_INFO_INIT;
    cx_assert_ok(ctxrt_allocator_describe(NULL, &info));
    ck_assert_uint_eq(info.reserved.current_bytes, bytes);
}

static ctxrt_stream *use_new_stream(void)
{
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    return stream;
}

/* ---- who gets it ---- */

START_TEST(what_a_stream_freed_is_its_own_again_at_once)
{
    gate held;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ctxrt_stream *stream = use_new_stream();
    for (size_t size = 256; size <= 16 * MIB; size *= 4) {
        gate_close(&held, stream);
        ctxrt_memory *memory = allocate(size);
        void *pointer = ctxrt_memory_pointer(memory);
        cx_assert_ok(ctxrt_memory_release(memory));
        memory = allocate(size);
        ck_assert_ptr_eq(ctxrt_memory_pointer(memory), pointer);
        cx_assert_ok(ctxrt_memory_release(memory));
        gate_open(&held);
        cx_assert_ok(ctxrt_stream_synchronize(stream));
    }
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stream_destroy(stream));
}
END_TEST

/* SEEDS 2, defect 17. The first stream's fill is pending while the second asks for memory of the
 * same size. */
START_TEST(another_stream_gets_it_only_when_the_work_before_it_is_done)
{
    gate held;
    unsigned char seen[256];
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ctxrt_stream *one = use_new_stream();
    ctxrt_memory *memory = allocate(16 * MIB);
    void *pointer = ctxrt_memory_pointer(memory);
    gate_close(&held, one);
    cx_assert_ok(ctxrt_fill_async(pointer, 1, 16 * MIB, NULL));
    cx_assert_ok(ctxrt_memory_release(memory));
    ctxrt_stream *other = use_new_stream();
    memory = allocate(16 * MIB);
    ck_assert_ptr_ne(ctxrt_memory_pointer(memory), pointer);
    cx_assert_ok(ctxrt_fill(ctxrt_memory_pointer(memory), 2, 16 * MIB));
    gate_open(&held);
    cx_assert_ok(ctxrt_stream_synchronize(one));
    cx_assert_ok(
        ctxrt_copy(seen, ctxrt_memory_pointer(memory), sizeof seen, CTXRT_COPY_DEVICE_TO_HOST));
    ck_assert_int_eq(seen[0], 2);
    size_t before = free_bytes_of(CTXRT_CUDA(0));
    ctxrt_memory *more = allocate(16 * MIB);
    ck_assert_ptr_eq(ctxrt_memory_pointer(more), pointer);
    ck_assert_uint_eq(free_bytes_of(CTXRT_CUDA(0)), before);
    cx_assert_ok(ctxrt_memory_release(more));
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stream_destroy(one));
    cx_assert_ok(ctxrt_stream_destroy(other));
}
END_TEST

START_TEST(what_a_destroyed_stream_freed_is_given_out_when_its_work_is_done)
{
    gate held;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ctxrt_stream *one = use_new_stream();
    ctxrt_memory *memory = allocate(16 * MIB);
    void *pointer = ctxrt_memory_pointer(memory);
    gate_close(&held, one);
    cx_assert_ok(ctxrt_fill_async(pointer, 1, 16 * MIB, NULL));
    ctxrt_event *after = create_event(CTXRT_EVENT_DEFAULT);
    cx_assert_ok(ctxrt_event_record(after, NULL));
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_stream_destroy(one));
    memory = allocate(16 * MIB);
    ck_assert_ptr_ne(ctxrt_memory_pointer(memory), pointer);
    gate_open(&held);
    cx_assert_ok(ctxrt_event_synchronize(after));
    ctxrt_memory *more = allocate(16 * MIB);
    ck_assert_ptr_eq(ctxrt_memory_pointer(more), pointer);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_memory_release(more));
    cx_assert_ok(ctxrt_event_destroy(after));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(memory_of_a_stream_of_other_code_waits_for_the_work_before_it_too)
{
    gate held;
    ctxrt_stream *wrapped;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ctxrt_stream *native = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_stream_from_native(native_of(native), &wrapped));
    cx_assert_ok(ctxrt_frame_set_stream(wrapped));
    ctxrt_memory *memory = allocate(16 * MIB);
    void *pointer = ctxrt_memory_pointer(memory);
    gate_close(&held, wrapped);
    cx_assert_ok(ctxrt_fill_async(pointer, 1, 16 * MIB, NULL));
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    memory = allocate(16 * MIB);
    ck_assert_ptr_ne(ctxrt_memory_pointer(memory), pointer);
    gate_open(&held);
    cx_assert_ok(ctxrt_stream_synchronize(wrapped));
    ctxrt_memory *more = allocate(16 * MIB);
    ck_assert_ptr_eq(ctxrt_memory_pointer(more), pointer);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_memory_release(more));
    cx_assert_ok(ctxrt_stream_destroy(wrapped));
    cx_assert_ok(ctxrt_stream_destroy(native));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* After its handle the stream may go as well: only what was noted before can be asked. */
START_TEST(memory_of_a_stream_whose_handle_is_gone_waits_for_the_work_before_it_too)
{
    gate held;
    ctxrt_stream *wrapped;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ctxrt_stream *native = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_event *after = create_event(CTXRT_EVENT_DEFAULT);
    cx_assert_ok(ctxrt_stream_from_native(native_of(native), &wrapped));
    cx_assert_ok(ctxrt_frame_set_stream(wrapped));
    cx_assert_ok(ctxrt_memory_release(allocate(16 * MIB)));
    ctxrt_memory *memory = allocate(16 * MIB);
    void *pointer = ctxrt_memory_pointer(memory);
    gate_close(&held, wrapped);
    cx_assert_ok(ctxrt_fill_async(pointer, 1, 16 * MIB, NULL));
    cx_assert_ok(ctxrt_event_record(after, NULL));
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_stream_destroy(wrapped));
    cx_assert_ok(ctxrt_stream_destroy(native));
    cx_assert_ok(ctxrt_memory_release(memory));
    memory = allocate(16 * MIB);
    ck_assert_ptr_ne(ctxrt_memory_pointer(memory), pointer);
    gate_open(&held);
    cx_assert_ok(ctxrt_event_synchronize(after));
    ctxrt_memory *more = allocate(16 * MIB);
    ck_assert_ptr_eq(ctxrt_memory_pointer(more), pointer);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_memory_release(more));
    cx_assert_ok(ctxrt_event_destroy(after));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(more_streams_than_an_allocator_numbers_can_have_had_memory)
{
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    for (int i = 0; i < 1200; i++) {
        ctxrt_stream *stream = use_new_stream();
        ctxrt_memory *memory = allocate(1000);
        cx_assert_ok(ctxrt_memory_release(memory));
        cx_assert_ok(ctxrt_frame_set_stream(NULL));
        cx_assert_ok(ctxrt_stream_destroy(stream));
    }
    ck_assert_uint_ge(free_bytes_of(CTXRT_CUDA(0)), 200 * MIB);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* Memory of a stream that is gone, whose number no other stream may have: its work is not done. */
START_TEST(memory_of_a_stream_that_is_gone_stays_its_own_however_many_come_after_it)
{
    gate held;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ctxrt_event *after = create_event(CTXRT_EVENT_DEFAULT);
    ctxrt_stream *stream = use_new_stream();
    ctxrt_memory *memory = allocate(16 * MIB), *small;
    void *pointer = ctxrt_memory_pointer(memory);
    gate_close(&held, stream);
    cx_assert_ok(ctxrt_event_record(after, NULL));
    for (int i = 0; i < 1200; i++) {
        ctxrt_stream *before = stream;
        stream = use_new_stream();
        cx_assert_ok(ctxrt_stream_destroy(before));
        small = allocate(1000);
        if (i != 1199)
            cx_assert_ok(ctxrt_memory_release(small));
    }
    cx_assert_ok(ctxrt_memory_release(memory));
    memory = allocate(16 * MIB);
    ck_assert_ptr_ne(ctxrt_memory_pointer(memory), pointer);
    gate_open(&held);
    cx_assert_ok(ctxrt_event_synchronize(after));
    ctxrt_memory *more = allocate(16 * MIB);
    ck_assert_ptr_eq(ctxrt_memory_pointer(more), pointer);
    cx_assert_ok(ctxrt_memory_release(more));
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_memory_release(small));
    cx_assert_ok(ctxrt_event_destroy(after));
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(memory_is_had_in_thousands_of_live_streams)
{
    enum { STREAMS = 3000 };
    static ctxrt_stream *streams[STREAMS];
    static ctxrt_memory *memories[STREAMS];
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    for (int i = 0; i < STREAMS; i++) {
        streams[i] = use_new_stream();
        memories[i] = allocate(4096);
    }
    for (int i = 0; i < STREAMS; i++)
        cx_assert_ok(ctxrt_memory_release(memories[i]));
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    for (int i = 0; i < STREAMS; i++)
        cx_assert_ok(ctxrt_stream_destroy(streams[i]));
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    assert_held(0);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(memory_outlives_thousands_of_streams_that_it_was_allocated_in)
{
    enum { STREAMS = 2000 };
    static ctxrt_memory *memories[STREAMS];
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    for (int i = 0; i < STREAMS; i++) {
        ctxrt_stream *stream = use_new_stream();
        memories[i] = allocate(1000);
        cx_assert_ok(ctxrt_frame_set_stream(NULL));
        cx_assert_ok(ctxrt_stream_destroy(stream));
    }
    for (int i = 0; i < STREAMS; i++)
        cx_assert_ok(ctxrt_memory_release(memories[i]));
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    assert_held(0);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* Only what was noted at the free tells. */
START_TEST(other_code_may_destroy_its_stream_once_memory_of_it_is_freed)
{
    gate held;
    ctxrt_stream *wrapped;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ctxrt_stream *native = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_event *after = create_event(CTXRT_EVENT_DEFAULT);
    cx_assert_ok(ctxrt_stream_from_native(native_of(native), &wrapped));
    cx_assert_ok(ctxrt_frame_set_stream(wrapped));
    ctxrt_memory *memory = allocate(16 * MIB);
    void *pointer = ctxrt_memory_pointer(memory);
    gate_close(&held, wrapped);
    cx_assert_ok(ctxrt_event_record(after, wrapped));
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_stream_destroy(native));
    memory = allocate(16 * MIB);
    ck_assert_ptr_ne(ctxrt_memory_pointer(memory), pointer);
    gate_open(&held);
    cx_assert_ok(ctxrt_event_synchronize(after));
    ctxrt_memory *more = allocate(16 * MIB);
    ck_assert_ptr_eq(ctxrt_memory_pointer(more), pointer);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_memory_release(more));
    cx_assert_ok(ctxrt_stream_destroy(wrapped));
    cx_assert_ok(ctxrt_event_destroy(after));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- how much it keeps ---- */

/* SEEDS 2, defect 15. */
START_TEST(small_memory_does_not_hold_many_times_what_was_asked_for)
{
    enum { PIECES = 90099 };
    static ctxrt_memory *pieces[PIECES];
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    size_t before = free_bytes_of(CTXRT_CUDA(0));
    for (int i = 0; i < PIECES; i++)
        if (ctxrt_memory_alloc(256, &pieces[i]) != CTXRT_SUCCESS)
            ck_abort_msg("%s", ctxrt_last_error()->message);
    size_t held = before - free_bytes_of(CTXRT_CUDA(0));
    ck_assert_uint_le(held, (size_t)PIECES * 256 * 5 / 4);
    for (int i = 0; i < PIECES; i++)
        if (ctxrt_memory_release(pieces[i]) != CTXRT_SUCCESS)
            ck_abort_msg("%s", ctxrt_last_error()->message);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* SEEDS 2, defect 15: a large block is cut, and what is left serves others. */
START_TEST(a_request_takes_no_more_of_a_large_block_than_it_needs)
{
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ctxrt_memory *large = allocate(200 * MIB);
    cx_assert_ok(ctxrt_memory_release(large));
    size_t before = free_bytes_of(CTXRT_CUDA(0));
    ctxrt_memory *one = allocate(60 * MIB), *other = allocate(60 * MIB),
                 *third = allocate(60 * MIB);
    ck_assert_uint_eq(free_bytes_of(CTXRT_CUDA(0)), before);
    cx_assert_ok(ctxrt_memory_release(one));
    cx_assert_ok(ctxrt_memory_release(other));
    cx_assert_ok(ctxrt_memory_release(third));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* SEEDS 2, defect 8. */
START_TEST(a_trim_gives_back_what_is_free_and_nothing_else)
{
    uint64_t released;
    unsigned char seen[64];
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ctxrt_memory *kept = allocate(16 * MIB), *gone = allocate(32 * MIB);
    cx_assert_ok(ctxrt_fill(ctxrt_memory_pointer(kept), 7, 64));
    cx_assert_ok(ctxrt_memory_release(gone));
    cx_assert_ok(ctxrt_allocator_trim(NULL, &released));
    ck_assert_uint_eq(released, 32 * MIB);
    cx_assert_ok(ctxrt_copy(seen, ctxrt_memory_pointer(kept), 64, CTXRT_COPY_DEVICE_TO_HOST));
    ck_assert_int_eq(seen[63], 7);
    cx_assert_error(ctxrt_memory_release(gone), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_ok(ctxrt_memory_release(kept));
    cx_assert_ok(ctxrt_allocator_trim(NULL, &released));
    ck_assert_uint_eq(released, 16 * MIB);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- when there is no more ---- */

START_TEST(what_other_sizes_and_streams_keep_is_used_before_a_request_fails)
{
    enum { PIECES = 100 };
    static ctxrt_memory *pieces[PIECES];
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ctxrt_stream *stream = use_new_stream();
    for (int i = 0; i < PIECES; i++)
        pieces[i] = allocate(2 * MIB);
    for (int i = 0; i < PIECES; i++)
        cx_assert_ok(ctxrt_memory_release(pieces[i]));
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    ctxrt_memory *all = allocate(256 * MIB);
    cx_assert_ok(ctxrt_memory_release(all));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stream_destroy(stream));
}
END_TEST

static ctxrt_stream *shared; /* NULL: each thread has its own */

static void *fill_and_free(void *argument)
{
    ctxrt_memory *pieces[64];
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_frame_set_stream(shared));
    for (int i = 0; i < 64; i++)
        pieces[i] = allocate(256 << 10);
    for (int i = 0; i < 64; i++)
        cx_assert_ok(ctxrt_memory_release(pieces[i]));
    pthread_barrier_wait(argument);
    pthread_barrier_wait(argument);
    cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

START_TEST(what_other_threads_keep_is_used_before_a_request_fails)
{
    pthread_t thread;
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, 2);
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ck_assert_int_eq(pthread_create(&thread, NULL, fill_and_free, &barrier), 0);
    pthread_barrier_wait(&barrier);
    ctxrt_memory *all = allocate(250 * MIB);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    cx_assert_ok(ctxrt_memory_release(all));
    cx_assert_ok(ctxrt_stack_pop());
    pthread_barrier_destroy(&barrier);
}
END_TEST

START_TEST(each_piece_that_another_thread_keeps_for_a_stream_is_had_before_a_request_fails)
{
    enum { PIECE = 256 << 10, PIECES = 256 * MIB / PIECE };
    static ctxrt_memory *pieces[PIECES];
    pthread_t thread;
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, 2);
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    shared = use_new_stream();
    ck_assert_int_eq(pthread_create(&thread, NULL, fill_and_free, &barrier), 0);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < PIECES; i++)
        pieces[i] = allocate(PIECE);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    for (int i = 0; i < PIECES; i++)
        cx_assert_ok(ctxrt_memory_release(pieces[i]));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stream_destroy(shared));
    pthread_barrier_destroy(&barrier);
}
END_TEST

START_TEST(a_refusal_says_what_is_held_and_later_it_works_again)
{
    ctxrt_memory *more;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ctxrt_memory *memory = allocate(200 * MIB);
    cx_assert_error(ctxrt_memory_alloc(100 * MIB, &more), CTXRT_ERROR_OUT_OF_MEMORY);
    const char *message = ctxrt_last_error()->message;
    ck_assert_msg(strstr(message, "209715200 are in use in 1 piece,") != NULL, "%s", message);
    ck_assert_msg(strstr(message, "104857600 bytes") != NULL, "%s", message);
    cx_assert_ok(ctxrt_memory_release(memory));
    more = allocate(100 * MIB);
    cx_assert_ok(ctxrt_memory_release(more));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- recorded streams ---- */

static uint64_t trimmed(void)
{
    uint64_t bytes;
    cx_assert_ok(ctxrt_allocator_trim(NULL, &bytes));
    return bytes;
}

START_TEST(a_release_does_not_wait_for_recorded_streams)
{
    gate held;
    unsigned char seen;
    ctxrt_allocator_figures figures;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_memory *memory = allocate(100 * MIB);
    void *pointer = ctxrt_memory_pointer(memory);
    gate_close(&held, stream);
    cx_assert_ok(ctxrt_fill_async(pointer, 1, MIB, stream));
    cx_assert_ok(ctxrt_memory_record_stream(memory, stream));
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_error(ctxrt_memory_release(memory), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_ok(ctxrt_allocator_statistics(NULL, &figures));
    ck_assert_uint_eq(figures.current_count, 0);
    ck_assert_uint_eq(trimmed(), 0);
    memory = allocate(100 * MIB);
    ck_assert_ptr_ne(ctxrt_memory_pointer(memory), pointer);
    cx_assert_ok(ctxrt_fill(ctxrt_memory_pointer(memory), 2, MIB));
    gate_open(&held);
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    cx_assert_ok(ctxrt_copy(&seen, ctxrt_memory_pointer(memory), 1, CTXRT_COPY_DEVICE_TO_HOST));
    ck_assert_int_eq(seen, 2);
    ctxrt_memory *more = allocate(100 * MIB);
    ck_assert_ptr_eq(ctxrt_memory_pointer(more), pointer);
    cx_assert_ok(ctxrt_memory_release(more));
    cx_assert_ok(ctxrt_memory_release(memory));
    ck_assert_uint_eq(trimmed(), 200 * MIB);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stream_destroy(stream));
}
END_TEST

/* The request would be refused: it waits for the stream, whose gate another thread opens. */
START_TEST(a_request_that_would_fail_waits_for_recorded_streams)
{
    gate held;
    opener other;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_memory *memory = allocate(200 * MIB);
    gate_close(&held, stream);
    cx_assert_ok(ctxrt_memory_record_stream(memory, stream));
    cx_assert_ok(ctxrt_memory_release(memory));
    opener_start(&other, &held);
    memory = allocate(200 * MIB);
    ck_assert(opener_end(&other));
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stream_destroy(stream));
}
END_TEST

START_TEST(a_request_that_would_fail_waits_for_what_other_streams_freed)
{
    gate held;
    opener other;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ctxrt_stream *one = use_new_stream();
    ctxrt_memory *memory = allocate(200 * MIB);
    gate_close(&held, one);
    cx_assert_ok(ctxrt_memory_release(memory));
    ctxrt_stream *two = use_new_stream();
    opener_start(&other, &held);
    memory = allocate(100 * MIB);
    ck_assert(opener_end(&other));
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stream_destroy(one));
    cx_assert_ok(ctxrt_stream_destroy(two));
}
END_TEST

static void start_without_first_event(void)
{
    ck_assert_int_eq(setenv("CTXRT_EMU_FAULT", "cuEventCreate@1:OUT_OF_MEMORY", 1), 0);
    cx_fixture_start();
}

/* Nothing but all of the context's work being done says that its own is. That is waited for at
 * last, unless a stream captures, whose capture that would end. */
START_TEST(memory_of_a_stream_that_is_gone_without_a_mark_is_had_when_everything_is_done)
{
    gate held;
    opener other;
    ctxrt_graph *graph;
    ctxrt_memory *more;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_memory_release(allocate(200 * MIB)));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    ctxrt_memory *kept = allocate(20 * MIB);
    ctxrt_stream *captures = use_new_stream();
    cx_assert_ok(ctxrt_memory_release(allocate(1000)));
    ctxrt_stream *stream = use_new_stream();
    ctxrt_memory *memory = allocate(150 * MIB);
    gate_close(&held, stream);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_stream_capture_begin(captures, CTXRT_CAPTURE_THREAD_LOCAL));
    cx_assert_error(ctxrt_memory_alloc(100 * MIB, &more), CTXRT_ERROR_OUT_OF_MEMORY);
    cx_assert_ok(ctxrt_stream_capture_end(captures, &graph));
    cx_assert_ok(ctxrt_graph_release(graph));
    opener_start(&other, &held);
    memory = allocate(100 * MIB);
    ck_assert(opener_end(&other));
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_memory_release(kept));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stream_destroy(captures));
}
END_TEST

/* The host may write to it at once. */
START_TEST(a_free_of_the_cpus_memory_waits_for_the_work_of_its_stream)
{
    gate held;
    opener other;
    cx_assert_ok(ctxrt_device_push(CTXRT_CPU(0)));
    ctxrt_stream *stream = use_new_stream();
    ctxrt_memory *memory = allocate(1000);
    gate_close(&held, stream);
    opener_start(&other, &held);
    cx_assert_ok(ctxrt_memory_release(memory));
    ck_assert(opener_end(&other));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stream_destroy(stream));
}
END_TEST

/* Its event is asked about no more: the context may go, and the memory is everyone's. */
START_TEST(a_recorded_streams_context_may_end_before_anybody_looks)
{
    gate held;
    opener other;
    ctxrt_context *context;
    ctxrt_allocator_info info = CTXRT_ALLOCATOR_INFO_INIT;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(1), 0, &context));
    cx_assert_ok(ctxrt_stack_push(context));
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    gate_close(&held, stream);
    cx_assert_ok(ctxrt_stack_pop());
    ctxrt_memory *memory = allocate(100 * MIB);
    cx_assert_ok(ctxrt_memory_record_stream(memory, stream));
    cx_assert_ok(ctxrt_memory_release(memory));
    opener_start(&other, &held);
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_context_destroy(context));
    ck_assert(opener_end(&other));
    cx_assert_ok(ctxrt_allocator_describe(NULL, &info));
    ck_assert_uint_eq(info.allocated.current_bytes, 0);
    ck_assert_uint_eq(trimmed(), 100 * MIB);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* It was freed before, and is no memory any more: it comes back to nobody. */
START_TEST(what_waits_for_a_recorded_stream_is_gone_with_a_reset)
{
    gate held;
    opener other;
    ctxrt_allocator_info info = CTXRT_ALLOCATOR_INFO_INIT;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    gate_close(&held, stream);
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ctxrt_memory *memory = allocate(3 * MIB);
    cx_assert_ok(ctxrt_memory_record_stream(memory, stream));
    cx_assert_ok(ctxrt_memory_release(memory));
    opener_start(&other, &held);
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    ck_assert(opener_end(&other));
    memory = allocate(3 * MIB);
    ck_assert_uint_eq(trimmed(), 0);
    cx_assert_ok(ctxrt_allocator_describe(NULL, &info));
    ck_assert_uint_eq(info.allocated.current_bytes, 3 * MIB);
    ck_assert_uint_eq(info.inactive.total_bytes, 3 * MIB); /* once, by the reset */
    cx_assert_ok(ctxrt_fill(ctxrt_memory_pointer(memory), 1, 3 * MIB));
    cx_assert_ok(ctxrt_memory_release(memory));
    ck_assert_uint_eq(trimmed(), 6 * MIB);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stream_destroy(stream));
}
END_TEST

/* ---- who frees it ---- */

/* SEEDS 2, defect 16, and a thread that ends with memory in hand. */
static void *allocate_elsewhere(void *argument)
{
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    *(ctxrt_memory **)argument = allocate(1000);
    cx_assert_ok(ctxrt_memory_release(allocate(1000)));
    cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

START_TEST(memory_outlives_its_thread_and_is_freed_without_a_device)
{
    ctxrt_memory *memory = NULL;
    ctxrt_allocator_figures figures;
    on_a_thread(allocate_elsewhere, &memory);
    ck_assert_ptr_nonnull(ctxrt_memory_pointer(memory));
    cx_assert_ok(ctxrt_memory_release(memory));
    ck_assert_ptr_null(ctxrt_memory_pointer(memory));
    cx_assert_error(ctxrt_memory_release(memory), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_memory_retain(memory), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_allocator_statistics(NULL, &figures));
    ck_assert_uint_eq(figures.current_count, 0);
    ck_assert_uint_eq(figures.total_count, 2);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_stale_handle_is_not_taken_for_the_memory_that_is_there_now)
{
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ctxrt_memory *old = allocate(512);
    void *pointer = ctxrt_memory_pointer(old);
    cx_assert_ok(ctxrt_memory_release(old));
    ctxrt_memory *young = allocate(512);
    ck_assert_ptr_eq(ctxrt_memory_pointer(young), pointer);
    ck_assert_ptr_null(ctxrt_memory_pointer(old));
    cx_assert_error(ctxrt_memory_release(old), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_memory_record_stream(old, NULL), CTXRT_ERROR_INVALID_HANDLE);
    ck_assert_ptr_eq(ctxrt_memory_pointer(young), pointer);
    cx_assert_ok(ctxrt_memory_release(young));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_query_finds_the_piece_around_an_address)
{
    ctxrt_pointer_info info;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ctxrt_memory *memories[3] = {allocate(5000), allocate(300 << 10), allocate(3 * MIB)};
    const size_t sizes[3] = {5000, 300 << 10, 3 * MIB};
    for (int i = 0; i < 3; i++) {
        unsigned char *start = ctxrt_memory_pointer(memories[i]);
        cx_assert_ok(ctxrt_pointer_query(start + sizes[i] - 1, &info));
        ck_assert_int_eq(info.known, 1);
        ck_assert_ptr_eq(info.base, start);
        ck_assert_uint_eq(info.size_bytes, sizes[i]);
    }
    unsigned char *gone = ctxrt_memory_pointer(memories[1]);
    cx_assert_ok(ctxrt_memory_release(memories[1]));
    cx_assert_ok(ctxrt_pointer_query(gone, &info));
    ck_assert_int_eq(info.known, 0);
    cx_assert_ok(ctxrt_memory_release(memories[0]));
    cx_assert_ok(ctxrt_memory_release(memories[2]));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- many threads ---- */

#ifdef __SANITIZE_THREAD__ /* each look into the shadow is one that it watches */
enum { STEPS = 1000 };
#else
enum { STEPS = 4000 };
#endif

enum { THREADS = 4, SLOTS = 64, SHADOW = 1 << 26 };

typedef struct crowd {
    pthread_barrier_t start;
    _Atomic(ctxrt_memory *) slots[SLOTS]; /* freed by whoever takes them out */
    atomic_uchar shadow[SHADOW];          /* of each unit of the device: in use */
    atomic_int wrong, refused;
} crowd;

typedef struct one {
    crowd *all;
    uint64_t random;
} one;

static uint64_t next_random(one *self)
{
    self->random = self->random * 6364136223846793005u + 1442695040888963407u;
    return self->random >> 33;
}

/* A memory's shadow is set while some thread has it, and nobody else's may be. */
static void shade(crowd *all, ctxrt_memory *memory, bool use)
{
    ctxrt_memory_info info;
    if (ctxrt_memory_describe(memory, &info) != CTXRT_SUCCESS) {
        atomic_fetch_add(&all->wrong, 1);
        return;
    }
    size_t first = ((uintptr_t)info.pointer >> 8) % SHADOW;
    for (size_t i = 0; i < (info.size_bytes + 255) / 256; i++)
        if (atomic_exchange(&all->shadow[(first + i) % SHADOW], use) == use)
            atomic_fetch_add(&all->wrong, 1);
}

static void swap_slot(one *self, ctxrt_memory *memory)
{
    crowd *all = self->all;
    ctxrt_memory *before = atomic_exchange(&all->slots[next_random(self) % SLOTS], memory);
    if (before == NULL)
        return;
    shade(all, before, false);
    if (ctxrt_memory_release(before) != CTXRT_SUCCESS)
        atomic_fetch_add(&all->wrong, 1);
}

static void step(one *self)
{
    ctxrt_memory *memory;
    uint64_t what = next_random(self) % 256;
    size_t size = (size_t)1 << (8 + next_random(self) % 14);
    size += next_random(self) % size;
    if (what == 0) {
        if (ctxrt_allocator_trim(NULL, NULL) != CTXRT_SUCCESS)
            atomic_fetch_add(&self->all->wrong, 1);
    } else if (what == 1) {
        size = 128 * MIB;
    }
    ctxrt_status status = ctxrt_memory_alloc(size, &memory);
    if (status == CTXRT_SUCCESS) {
        shade(self->all, memory, true);
        swap_slot(self, memory);
    } else if (status == CTXRT_ERROR_OUT_OF_MEMORY) {
        atomic_fetch_add(&self->all->refused, 1);
        swap_slot(self, NULL);
    } else {
        atomic_fetch_add(&self->all->wrong, 1);
    }
}

static void *join_crowd(void *argument)
{
    one *self = argument;
    if (ctxrt_device_push(CTXRT_CUDA(0)) != CTXRT_SUCCESS)
        atomic_fetch_add(&self->all->wrong, 1);
    pthread_barrier_wait(&self->all->start);
    for (int i = 0; i < STEPS; i++)
        step(self);
    if (ctxrt_stack_pop() != CTXRT_SUCCESS)
        atomic_fetch_add(&self->all->wrong, 1);
    return NULL;
}

/* SEEDS 2, defect 4. */
START_TEST(threads_that_free_each_others_memory_never_get_the_same)
{
    static crowd all;
    one members[THREADS];
    pthread_t threads[THREADS];
    ctxrt_allocator_figures figures;
    pthread_barrier_init(&all.start, NULL, THREADS);
    for (int t = 0; t < THREADS; t++) {
        members[t] = (one){&all, (uint64_t)t + 1};
        ck_assert_int_eq(pthread_create(&threads[t], NULL, join_crowd, &members[t]), 0);
    }
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    for (int i = 0; i < SLOTS; i++) {
        ctxrt_memory *memory = atomic_load(&all.slots[i]);
        if (memory != NULL) {
            shade(&all, memory, false);
            cx_assert_ok(ctxrt_memory_release(memory));
        }
    }
    ck_assert_int_eq(atomic_load(&all.wrong), 0);
    cx_assert_ok(ctxrt_allocator_statistics(NULL, &figures));
    ck_assert_uint_eq(figures.current_bytes, 0);
    ck_assert_uint_eq(figures.current_count, 0);
    ck_assert_uint_eq(figures.failures, (uint64_t)atomic_load(&all.refused));
    ck_assert_uint_eq(figures.total_count + figures.failures, THREADS * STEPS);
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    ck_assert_uint_eq(free_bytes_of(CTXRT_CUDA(0)), 256 * MIB);
    cx_assert_ok(ctxrt_stack_pop());
    pthread_barrier_destroy(&all.start);
}
END_TEST

static Suite *cache_suite(void)
{
    Suite *suite = suite_create("cache");
    TCase *tcase = tcase_create("cache");
    tcase_add_checked_fixture(tcase, cx_fixture_start, cx_fixture_end);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, what_a_stream_freed_is_its_own_again_at_once);
    tcase_add_test(tcase, another_stream_gets_it_only_when_the_work_before_it_is_done);
    tcase_add_test(tcase, what_a_destroyed_stream_freed_is_given_out_when_its_work_is_done);
    tcase_add_test(tcase, memory_of_a_stream_of_other_code_waits_for_the_work_before_it_too);
    tcase_add_test(tcase, memory_of_a_stream_whose_handle_is_gone_waits_for_the_work_before_it_too);
    tcase_add_test(tcase, more_streams_than_an_allocator_numbers_can_have_had_memory);
    tcase_add_test(tcase,
                   memory_of_a_stream_that_is_gone_stays_its_own_however_many_come_after_it);
    tcase_add_test(tcase, memory_is_had_in_thousands_of_live_streams);
    tcase_add_test(tcase, memory_outlives_thousands_of_streams_that_it_was_allocated_in);
    tcase_add_test(tcase, other_code_may_destroy_its_stream_once_memory_of_it_is_freed);
    tcase_add_test(tcase, small_memory_does_not_hold_many_times_what_was_asked_for);
    tcase_add_test(tcase, a_request_takes_no_more_of_a_large_block_than_it_needs);
    tcase_add_test(tcase, a_trim_gives_back_what_is_free_and_nothing_else);
    tcase_add_test(tcase, what_other_sizes_and_streams_keep_is_used_before_a_request_fails);
    tcase_add_test(tcase, what_other_threads_keep_is_used_before_a_request_fails);
    tcase_add_test(tcase,
                   each_piece_that_another_thread_keeps_for_a_stream_is_had_before_a_request_fails);
    tcase_add_test(tcase, a_refusal_says_what_is_held_and_later_it_works_again);
    tcase_add_test(tcase, a_release_does_not_wait_for_recorded_streams);
    tcase_add_test(tcase, a_request_that_would_fail_waits_for_recorded_streams);
    tcase_add_test(tcase, a_request_that_would_fail_waits_for_what_other_streams_freed);
    tcase_add_test(tcase, a_free_of_the_cpus_memory_waits_for_the_work_of_its_stream);
    tcase_add_test(tcase, a_recorded_streams_context_may_end_before_anybody_looks);
    tcase_add_test(tcase, what_waits_for_a_recorded_stream_is_gone_with_a_reset);
    tcase_add_test(tcase, memory_outlives_its_thread_and_is_freed_without_a_device);
    tcase_add_test(tcase, a_stale_handle_is_not_taken_for_the_memory_that_is_there_now);
    tcase_add_test(tcase, a_query_finds_the_piece_around_an_address);
    tcase_add_test(tcase, threads_that_free_each_others_memory_never_get_the_same);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("without a mark");
    tcase_add_checked_fixture(tcase, start_without_first_event, cx_fixture_end);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase,
                   memory_of_a_stream_that_is_gone_without_a_mark_is_had_when_everything_is_done);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(cache_suite);
