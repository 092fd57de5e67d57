/* What an allocator says of itself, to the byte. */
#include "fixture.h"
#include "test.h"

#include <pthread.h>
#include <string.h>

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)

static ctxrt_allocator *allocator;

static void set_up(void)
{
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_allocator_create(NULL, &allocator));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
}

static void tear_down(void)
{
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}

static ctxrt_memory *alloc(size_t size)
{
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_memory_alloc(size, &memory));
    return memory;
}

static ctxrt_allocator_info look(void)
{
    ctxrt_allocator_info info = CTXRT_ALLOCATOR_INFO_INIT;
    cx_assert_ok(ctxrt_allocator_describe(NULL, &info));
    ck_assert_uint_eq(info.struct_size, sizeof info);
    return info;
}

static void assert_amount(const char *what, const ctxrt_allocator_amount *found,
                          ctxrt_allocator_amount expected)
{
    ck_assert_msg(
        memcmp(found, &expected, sizeof expected) == 0,
        "%s: bytes %llu, %llu, %llu and counts %llu, %llu, %llu are not %llu, %llu, %llu and %llu, "
        "%llu, %llu",
        what, (unsigned long long)found->current_bytes, (unsigned long long)found->peak_bytes,
        (unsigned long long)found->total_bytes, (unsigned long long)found->current_count,
        (unsigned long long)found->peak_count, (unsigned long long)found->total_count,
        (unsigned long long)expected.current_bytes, (unsigned long long)expected.peak_bytes,
        (unsigned long long)expected.total_bytes, (unsigned long long)expected.current_count,
        (unsigned long long)expected.peak_count, (unsigned long long)expected.total_count);
}

#define AMOUNT(...) ((ctxrt_allocator_amount){__VA_ARGS__})

/* A segment is two blocks of 3 MiB, whole steps of 2 MiB, and one block where that would be
 * many. */
START_TEST(every_amount_is_exact)
{
    ctxrt_memory *first = alloc(3 * MIB - 1), *second = alloc(9 * MIB - 300);
    ctxrt_allocator_info info = look();
    assert_amount("requested", &info.requested,
                  AMOUNT(12 * MIB - 301, 12 * MIB - 301, 12 * MIB - 301, 2, 2, 2));
    assert_amount("allocated", &info.allocated,
                  AMOUNT(12 * MIB - 256, 12 * MIB - 256, 12 * MIB - 256, 2, 2, 2));
    assert_amount("reserved", &info.reserved,
                  AMOUNT(15 * MIB - 256, 15 * MIB - 256, 15 * MIB - 256, 2, 2, 2));
    ck_assert_uint_eq(info.inactive.current_bytes, 3 * MIB);
    ck_assert_uint_eq(info.inactive.current_count, 1);
    ck_assert_uint_eq(info.inactive.total_bytes, 0);
    cx_assert_ok(ctxrt_memory_release(second));
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    info = look();
    assert_amount("requested", &info.requested,
                  AMOUNT(3 * MIB - 1, 12 * MIB - 301, 12 * MIB - 301, 1, 2, 2));
    assert_amount("allocated", &info.allocated,
                  AMOUNT(3 * MIB, 12 * MIB - 256, 12 * MIB - 256, 1, 2, 2));
    assert_amount("reserved", &info.reserved,
                  AMOUNT(6 * MIB, 15 * MIB - 256, 15 * MIB - 256, 1, 2, 2));
    ck_assert_uint_eq(info.inactive.current_bytes, 3 * MIB);
    ck_assert_uint_eq(info.inactive.peak_bytes, 12 * MIB - 256);
    ck_assert_uint_eq(info.inactive.total_bytes, 9 * MIB - 256);
    ck_assert_uint_eq(info.inactive.total_count, 1);
    cx_assert_ok(ctxrt_memory_release(first));
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    info = look();
    ck_assert_uint_eq(info.allocated.current_bytes + info.reserved.current_bytes +
                          info.inactive.current_bytes,
                      0);
    ck_assert_uint_eq(info.allocated.current_count + info.reserved.current_count +
                          info.inactive.current_count,
                      0);
}
END_TEST

START_TEST(what_threads_keep_is_allocated_and_not_requested)
{
    ctxrt_memory *memory = alloc(1000);
    cx_assert_ok(ctxrt_memory_release(memory));
    ctxrt_allocator_info info = look();
    ck_assert_uint_eq(info.requested.current_bytes, 0);
    ck_assert_uint_eq(info.allocated.current_bytes, 1024);
    ck_assert_uint_eq(info.allocated.current_count, 1);
}
END_TEST

static uint64_t kept_of(size_t size)
{
    uint64_t before = look().allocated.current_bytes;
    cx_assert_ok(ctxrt_memory_release(alloc(size)));
    return look().allocated.current_bytes - before;
}

/* So that large memory is joined again with its neighbours. */
START_TEST(threads_keep_smaller_pieces_the_more_of_the_device_is_taken)
{
    size_t total;
    cx_assert_ok(ctxrt_device_memory_info(CTXRT_CUDA(1), NULL, &total));
    ck_assert_uint_eq(kept_of(512 * KIB), 512 * KIB);
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    ctxrt_memory *half = alloc(total / 8 * 5);
    ck_assert_uint_eq(kept_of(512 * KIB), 0);
    ck_assert_uint_eq(kept_of(256 * KIB), 256 * KIB);
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    ctxrt_memory *quarter = alloc(total / 4);
    ck_assert_uint_eq(kept_of(256 * KIB), 0);
    ck_assert_uint_eq(kept_of(16 * KIB), 16 * KIB);
    cx_assert_ok(ctxrt_memory_release(quarter));
    cx_assert_ok(ctxrt_memory_release(half));
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    ck_assert_uint_eq(kept_of(512 * KIB), 512 * KIB);
}
END_TEST

/* 20 MiB are beyond what a thread keeps otherwise, and the heap has them before the driver is asked
 * for more. */
START_TEST(a_thread_keeps_the_last_large_piece_that_it_freed)
{
    ctxrt_memory *memories[] = {alloc(20 * MIB), alloc(40 * MIB)};
    void *pointers[] = {ctxrt_memory_pointer(memories[0]), ctxrt_memory_pointer(memories[1])};
    uint64_t reserved_bytes = look().reserved.current_bytes;
    cx_assert_ok(ctxrt_memory_release(memories[0]));
    ck_assert_uint_eq(look().allocated.current_bytes, 60 * MIB);
    cx_assert_ok(ctxrt_memory_release(memories[1]));
    ck_assert_uint_eq(look().allocated.current_bytes, 40 * MIB);
    for (int i = 0; i < 2; i++) {
        memories[i] = alloc(20 * MIB);
        ck_assert_ptr_eq(ctxrt_memory_pointer(memories[i]), pointers[i]);
    }
    ck_assert_uint_eq(look().reserved.current_bytes, reserved_bytes);
    for (int i = 0; i < 2; i++)
        cx_assert_ok(ctxrt_memory_release(memories[i]));
    ck_assert_uint_eq(look().requested.current_bytes, 0);
}
END_TEST

START_TEST(threads_keep_nothing_from_a_refusal_on_until_a_quarter_is_free)
{
    size_t total;
    ctxrt_memory *none;
    cx_assert_ok(ctxrt_device_memory_info(CTXRT_CUDA(1), NULL, &total));
    ctxrt_memory *most = alloc(total / 8 * 7);
    cx_assert_status(ctxrt_memory_alloc(total / 4, &none), CTXRT_ERROR_OUT_OF_MEMORY);
    ck_assert_uint_eq(kept_of(256), 0);
    ctxrt_memory *little = alloc(4 * MIB);
    ck_assert_uint_eq(kept_of(256), 0);
    cx_assert_ok(ctxrt_memory_release(little));
    cx_assert_ok(ctxrt_memory_release(most));
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    ck_assert_uint_eq(kept_of(512 * KIB), 512 * KIB);
}
END_TEST

START_TEST(hits_misses_retries_and_refusals_are_counted)
{
    ctxrt_memory *memory = alloc(1000);
    for (int i = 0; i < 10; i++) {
        cx_assert_ok(ctxrt_memory_release(memory));
        memory = alloc(1000);
    }
    ctxrt_allocator_info info = look();
    ck_assert_uint_eq(info.hits, 10);
    ck_assert_uint_eq(info.misses, 1);
    ck_assert_uint_eq(info.retries, 0);
    ctxrt_memory *never;
    cx_assert_error(ctxrt_memory_alloc(300 * MIB, &never), CTXRT_ERROR_OUT_OF_MEMORY);
    cx_assert_ok(ctxrt_allocator_set_limit(NULL, 2000));
    cx_assert_error(ctxrt_memory_alloc(1001, &never), CTXRT_ERROR_OUT_OF_MEMORY);
    info = look();
    ck_assert_uint_eq(info.hits, 10);
    ck_assert_uint_eq(info.misses, 2);
    ck_assert_uint_gt(info.retries, 0);
    ck_assert_uint_eq(info.failures, 2);
    ck_assert_uint_eq(info.out_of_memory, 1);
    ck_assert_uint_eq(info.limit_bytes, 2000);
    cx_assert_ok(ctxrt_memory_release(memory));
}
END_TEST

static void *allocate_there(void *memories)
{
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    for (int i = 0; i < 4; i++)
        ((ctxrt_memory **)memories)[i] = alloc(100 * KIB);
    cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

START_TEST(threads_that_are_gone_count)
{
    pthread_t thread;
    ctxrt_memory *memories[4];
    ck_assert_int_eq(pthread_create(&thread, NULL, allocate_there, memories), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ctxrt_allocator_info info = look();
    ck_assert_uint_eq(info.requested.current_bytes, 400 * KIB);
    ck_assert_uint_eq(info.allocated.current_bytes, 400 * KIB);
    for (int i = 0; i < 4; i++)
        cx_assert_ok(ctxrt_memory_release(memories[i]));
    info = look();
    ck_assert_uint_eq(info.requested.current_bytes, 0);
    ck_assert_uint_eq(info.requested.total_count, 4);
}
END_TEST

static void *keep_there(void *memories)
{
    (void)memories;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    for (int i = 0; i < 4; i++)
        cx_assert_ok(ctxrt_memory_release(alloc((size_t)(i + 1) << 10)));
    cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

START_TEST(what_a_thread_kept_goes_back_when_it_ends)
{
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, keep_there, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ctxrt_allocator_info info = look();
    ck_assert_uint_eq(info.requested.total_count, 4);
    ck_assert_uint_eq(info.allocated.current_bytes, 0);
}
END_TEST

#define HANDED_MOST 4097

/* What a thread that frees another's pieces sees after each: what threads keep. */
typedef struct freeing {
    ctxrt_memory *memories[HANDED_MOST];
    int count;
    ctxrt_allocator *from;
    uint64_t kept_bytes[HANDED_MOST];
    ctxrt_status status;
} freeing;

static void *free_there(void *argument)
{
    freeing *self = argument;
    self->status = ctxrt_device_push(CTXRT_CUDA(1));
    for (int i = 0; i < self->count && self->status == CTXRT_SUCCESS; i++) {
        ctxrt_allocator_info info = CTXRT_ALLOCATOR_INFO_INIT;
        self->status = ctxrt_memory_release(self->memories[i]);
        if (self->status == CTXRT_SUCCESS)
            self->status = ctxrt_allocator_describe(self->from, &info);
        self->kept_bytes[i] = info.allocated.current_bytes - info.requested.current_bytes;
    }
    if (self->status == CTXRT_SUCCESS)
        self->status = ctxrt_stack_pop();
    return NULL;
}

static void free_elsewhere(int count, size_t size_bytes, freeing *out_freeing)
{
    pthread_t thread;
    *out_freeing = (freeing){.count = count, .from = allocator, .status = CTXRT_SUCCESS};
    for (int i = 0; i < count; i++)
        out_freeing->memories[i] = alloc(size_bytes);
    ck_assert_int_eq(pthread_create(&thread, NULL, free_there, out_freeing), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    cx_assert_ok(out_freeing->status);
}

START_TEST(of_what_a_thread_frees_for_others_few_blocks_are_kept)
{
    static freeing seen;
    free_elsewhere(HANDED_MOST, 256, &seen);
    for (int i = 0; i < HANDED_MOST; i++)
        ck_assert_uint_le(seen.kept_bytes[i], 256 * 64);
    ck_assert_uint_ne(seen.kept_bytes[HANDED_MOST - 1], 0);
}
END_TEST

START_TEST(what_a_thread_frees_for_others_goes_back_before_it_is_much)
{
    static freeing seen;
    free_elsewhere(64, MIB / 2, &seen);
    for (int i = 0; i < 64; i++)
        ck_assert_uint_le(seen.kept_bytes[i], 16 * MIB);
    ck_assert_uint_ge(seen.kept_bytes[31], 8 * MIB);
}
END_TEST

static void *free_both(void *argument)
{
    ctxrt_memory **memories = argument;
    for (int i = 0; i < 2; i++)
        if (ctxrt_memory_release(memories[i]) == CTXRT_SUCCESS)
            memories[i] = NULL;
    return NULL;
}

/* What a thread frees that has no frame, and never had one, is no more to be used by others. */
START_TEST(what_a_thread_without_a_frame_frees_does_not_raise_peaks)
{
    for (int round = 0; round < 3; round++) {
        pthread_t thread;
        ctxrt_memory *memories[] = {alloc(20 * MIB), alloc(20 * MIB)};
        ck_assert_int_eq(pthread_create(&thread, NULL, free_both, memories), 0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
        ck_assert(memories[0] == NULL && memories[1] == NULL);
        ctxrt_allocator_info info = look();
        ck_assert_uint_eq(info.requested.peak_bytes, 40 * MIB);
        ck_assert_uint_eq(info.requested.peak_count, 2);
    }
}
END_TEST

/* Blocks that a reset ended are counted for no thread when they are released. */
START_TEST(memory_released_after_a_reset_does_not_raise_peaks)
{
    for (int round = 0; round < 3; round++) {
        ctxrt_memory *memories[] = {alloc(20 * MIB), alloc(20 * MIB)};
        cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(1)));
        for (int i = 0; i < 2; i++)
            cx_assert_ok(ctxrt_memory_release(memories[i]));
        ctxrt_allocator_info info = look();
        ck_assert_uint_eq(info.requested.peak_bytes, 40 * MIB);
        ck_assert_uint_eq(info.requested.peak_count, 2);
    }
}
END_TEST

/* More of them than a thread counts before it tells the others. */
START_TEST(peaks_of_counts_are_exact_where_one_thread_allocates)
{
    ctxrt_memory *memories[600];
    for (int count = 100; count <= 600; count += 250) {
        for (int i = 0; i < count; i++)
            memories[i] = alloc(300);
        for (int i = 0; i < count; i++)
            cx_assert_ok(ctxrt_memory_release(memories[i]));
        ck_assert_uint_eq(look().requested.peak_count, count);
        ck_assert_uint_eq(look().requested.peak_bytes, 300 * (uint64_t)count);
    }
}
END_TEST

/* ---- nothing is lost ---- */

static uint64_t held(void)
{
    return look().reserved.current_bytes;
}

/* Leaves pieces that the thread keeps for each of two streams of its own. */
static void keep_for_two_streams(ctxrt_stream *streams[2], size_t size_bytes)
{
    ctxrt_memory *memories[2][20];
    for (int s = 0; s < 2; s++) {
        cx_assert_ok(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &streams[s]));
        cx_assert_ok(ctxrt_frame_set_stream(streams[s]));
        for (int i = 0; i < 20; i++)
            memories[s][i] = alloc(size_bytes);
    }
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < 20; i++)
            cx_assert_ok(ctxrt_memory_release(memories[s][i]));
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
}

static void destroy_streams(ctxrt_stream *streams[2])
{
    for (int s = 0; s < 2; s++)
        cx_assert_ok(ctxrt_stream_destroy(streams[s]));
}

START_TEST(a_trim_gives_back_what_threads_keep_of_every_stream)
{
    ctxrt_stream *streams[2];
    keep_for_two_streams(streams, 100 * KIB);
    ck_assert_uint_ge(look().allocated.current_bytes, 4000 * KIB);
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    ck_assert_uint_eq(held(), 0);
    destroy_streams(streams);
}
END_TEST

START_TEST(a_request_has_what_threads_keep_of_every_stream_before_it_is_refused)
{
    size_t total;
    ctxrt_stream *streams[2];
    keep_for_two_streams(streams, MIB);
    cx_assert_ok(ctxrt_device_memory_info(CTXRT_CUDA(1), NULL, &total));
    cx_assert_ok(ctxrt_memory_release(alloc(total)));
    destroy_streams(streams);
}
END_TEST

/* The limit takes the thread the long way. More than it may keep of one size goes to the heap. */
START_TEST(nothing_is_lost_where_a_thread_frees_more_than_it_keeps)
{
    enum { PIECES = 300 };
    static ctxrt_memory *memories[PIECES];
    cx_assert_ok(ctxrt_allocator_set_limit(NULL, 200 * MIB));
    for (int i = 0; i < PIECES; i++)
        memories[i] = alloc(256 * KIB);
    for (int i = 0; i < PIECES; i++)
        cx_assert_ok(ctxrt_memory_release(memories[i]));
    ctxrt_allocator_info info = look();
    ck_assert_uint_eq(info.reserved.current_bytes,
                      info.allocated.current_bytes + info.inactive.current_bytes);
    ck_assert_uint_gt(info.inactive.current_bytes, 16 * MIB);
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    ck_assert_uint_eq(held(), 0);
}
END_TEST

START_TEST(small_memory_of_a_stream_that_is_gone_goes_back_to_the_heap)
{
    ctxrt_stream *stream;
    ctxrt_memory *memories[10];
    cx_assert_ok(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &stream));
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    for (int i = 0; i < 10; i++)
        memories[i] = alloc(1000);
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    for (int i = 0; i < 10; i++)
        cx_assert_ok(ctxrt_memory_release(memories[i]));
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    ck_assert_uint_eq(held(), 0);
}
END_TEST

START_TEST(what_threads_keep_is_gone_with_a_reset)
{
    unsigned char seen;
    ctxrt_memory *none;
    cx_assert_ok(ctxrt_memory_release(alloc(1000)));
    cx_assert_ok(ctxrt_memory_release(alloc(3 * MIB)));
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(1)));
    ctxrt_allocator_info info = look();
    ck_assert_uint_eq(info.inactive.current_bytes, 0);
    ck_assert_uint_eq(info.inactive.current_count, 0);
    cx_assert_error(ctxrt_memory_alloc(300 * MIB, &none), CTXRT_ERROR_OUT_OF_MEMORY);
    ck_assert_ptr_null(strstr(ctxrt_last_error()->message, "this allocator holds"));
    ctxrt_memory *memory = alloc(1000);
    cx_assert_ok(ctxrt_fill(ctxrt_memory_pointer(memory), 5, 1000));
    cx_assert_ok(
        ctxrt_copy(&seen, ctxrt_memory_pointer(memory), 1, CTXRT_COPY_DEVICE_TO_HOST));
    ck_assert_int_eq(seen, 5);
    ck_assert_uint_eq(held(), 2 * MIB);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    ck_assert_uint_eq(held(), 0);
}
END_TEST

/* The next one may be where the last was. */
START_TEST(an_allocator_does_not_count_for_one_that_is_gone)
{
    for (int round = 0; round < 4; round++) {
        ctxrt_allocator *another;
        cx_assert_ok(ctxrt_allocator_create(NULL, &another));
        cx_assert_ok(ctxrt_frame_set_allocator(another));
        cx_assert_ok(ctxrt_memory_release(alloc(1000)));
        ck_assert_uint_eq(look().requested.total_count, 1);
        cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
        ck_assert_uint_eq(held(), 0);
        cx_assert_ok(ctxrt_frame_set_allocator(allocator));
        cx_assert_ok(ctxrt_allocator_destroy(another));
        cx_assert_ok(ctxrt_memory_release(alloc(1000)));
    }
    ck_assert_uint_eq(look().requested.total_count, 4);
}
END_TEST

START_TEST(a_refusal_says_what_the_device_has_and_what_other_allocators_hold)
{
    ctxrt_memory *none;
    ctxrt_memory *memory = alloc(3 * MIB);
    ctxrt_allocator *another;
    cx_assert_ok(ctxrt_allocator_create(NULL, &another));
    cx_assert_ok(ctxrt_frame_set_allocator(another));
    ctxrt_memory *more = alloc(6 * MIB);
    cx_assert_error(ctxrt_memory_alloc(300 * MIB, &none), CTXRT_ERROR_OUT_OF_MEMORY);
    const char *message = ctxrt_last_error()->message;
    ck_assert_msg(strstr(message, "255852544 of its device's 268435456 bytes are free; this "
                                  "allocator holds 6291456, of which 6291456 are in use in 1 "
                                  "piece, and others of ctxrt's hold 6291456") != NULL,
                  "%s", message);
    cx_assert_ok(ctxrt_memory_release(more));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    cx_assert_ok(ctxrt_allocator_destroy(another));
    cx_assert_ok(ctxrt_memory_release(memory));
}
END_TEST

START_TEST(mapped_memory_is_counted_as_it_comes_and_goes)
{
    ctxrt_memory *memories[3];
    ctxrt_allocator *mapped;
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    options.source = CTXRT_ALLOCATOR_SOURCE_VMM;
    cx_assert_ok(ctxrt_allocator_create(&options, &mapped));
    cx_assert_ok(ctxrt_frame_set_allocator(mapped));
    for (int i = 0; i < 3; i++)
        memories[i] = alloc(20 * MIB);
    ctxrt_allocator_info info = look();
    assert_amount("reserved", &info.reserved, AMOUNT(60 * MIB, 60 * MIB, 60 * MIB, 1, 1, 3));
    cx_assert_ok(ctxrt_memory_release(memories[1]));
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    info = look();
    assert_amount("reserved", &info.reserved, AMOUNT(40 * MIB, 60 * MIB, 60 * MIB, 1, 1, 3));
    ck_assert_uint_eq(info.inactive.current_bytes, 0);
    memories[1] = alloc(10 * MIB);
    info = look();
    assert_amount("reserved", &info.reserved, AMOUNT(50 * MIB, 60 * MIB, 70 * MIB, 1, 1, 4));
    for (int i = 0; i < 3; i++)
        cx_assert_ok(ctxrt_memory_release(memories[i]));
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    info = look();
    assert_amount("reserved", &info.reserved, AMOUNT(0, 60 * MIB, 70 * MIB, 0, 1, 4));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    cx_assert_ok(ctxrt_allocator_destroy(mapped));
}
END_TEST

/* A later version's structure is larger: what this one does not know is left alone. */
START_TEST(structures_of_other_versions_are_kept_apart)
{
    struct {
        ctxrt_allocator_info info;
        uint64_t later;
    } larger = {CTXRT_ALLOCATOR_INFO_INIT, 7};
    larger.info.struct_size = sizeof larger;
    cx_assert_ok(ctxrt_allocator_describe(NULL, &larger.info));
    ck_assert_uint_eq(larger.info.struct_size, sizeof(ctxrt_allocator_info));
    ck_assert_uint_eq(larger.later, 7);
    ck_assert_int_eq(larger.info.device.index, 1);
    larger.info.struct_size = sizeof(ctxrt_allocator_info) - 1;
    cx_assert_error(ctxrt_allocator_describe(NULL, &larger.info), CTXRT_ERROR_INVALID_ARGUMENT);
}
END_TEST

START_TEST(a_reset_takes_everything_but_what_was_counted_for_good)
{
    ctxrt_memory *memory = alloc(3 * MIB);
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(1)));
    ctxrt_allocator_info info = look();
    assert_amount("allocated", &info.allocated, AMOUNT(0, 3 * MIB, 3 * MIB, 0, 1, 1));
    assert_amount("reserved", &info.reserved, AMOUNT(0, 6 * MIB, 6 * MIB, 0, 1, 1));
    cx_assert_ok(ctxrt_memory_release(memory));
    info = look();
    ck_assert_uint_eq(info.requested.current_bytes, 0);
    ck_assert_uint_eq(info.allocated.current_bytes, 0);
}
END_TEST

static Suite *info_suite(void)
{
    Suite *suite = suite_create("allocator info");
    TCase *tcase = tcase_create("info");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, every_amount_is_exact);
    tcase_add_test(tcase, what_threads_keep_is_allocated_and_not_requested);
    tcase_add_test(tcase, threads_keep_smaller_pieces_the_more_of_the_device_is_taken);
    tcase_add_test(tcase, a_thread_keeps_the_last_large_piece_that_it_freed);
    tcase_add_test(tcase, threads_keep_nothing_from_a_refusal_on_until_a_quarter_is_free);
    tcase_add_test(tcase, hits_misses_retries_and_refusals_are_counted);
    tcase_add_test(tcase, threads_that_are_gone_count);
    tcase_add_test(tcase, what_a_thread_kept_goes_back_when_it_ends);
    tcase_add_test(tcase, of_what_a_thread_frees_for_others_few_blocks_are_kept);
    tcase_add_test(tcase, what_a_thread_frees_for_others_goes_back_before_it_is_much);
    tcase_add_test(tcase, what_a_thread_without_a_frame_frees_does_not_raise_peaks);
    tcase_add_test(tcase, memory_released_after_a_reset_does_not_raise_peaks);
    tcase_add_test(tcase, peaks_of_counts_are_exact_where_one_thread_allocates);
    tcase_add_test(tcase, a_trim_gives_back_what_threads_keep_of_every_stream);
    tcase_add_test(tcase, a_request_has_what_threads_keep_of_every_stream_before_it_is_refused);
    tcase_add_test(tcase, nothing_is_lost_where_a_thread_frees_more_than_it_keeps);
    tcase_add_test(tcase, small_memory_of_a_stream_that_is_gone_goes_back_to_the_heap);
    tcase_add_test(tcase, what_threads_keep_is_gone_with_a_reset);
    tcase_add_test(tcase, an_allocator_does_not_count_for_one_that_is_gone);
    tcase_add_test(tcase, a_refusal_says_what_the_device_has_and_what_other_allocators_hold);
    tcase_add_test(tcase, mapped_memory_is_counted_as_it_comes_and_goes);
    tcase_add_test(tcase, structures_of_other_versions_are_kept_apart);
    tcase_add_test(tcase, a_reset_takes_everything_but_what_was_counted_for_good);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(info_suite);
