/* Many streams, and streams that are destroyed while many threads have frames. */
#include "opener.h"
#include "suites.h"

enum { STREAMS = 1200, FRAMES = 64, ROUNDS = 200 };

START_TEST(an_allocator_serves_more_than_a_thousand_live_streams)
{
    static ctxrt_stream *streams[STREAMS];
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    for (int i = 0; i < STREAMS; i++) {
        ctxrt_memory *memory;
        streams[i] = create_stream(CTXRT_STREAM_DEFAULT);
        cx_assert_ok(ctxrt_frame_set_stream(streams[i]));
        cx_assert_ok(ctxrt_memory_alloc(4096, &memory));
        cx_assert_ok(ctxrt_memory_release(memory));
    }
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    for (int i = 0; i < STREAMS; i++)
        cx_assert_ok(ctxrt_stream_destroy(streams[i]));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

typedef struct seat {
    pthread_t thread;
    ctxrt_stream *stream;
    pthread_barrier_t *begin, *end;
} seat;

static void *sit(void *argument)
{
    const seat *self = argument;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_frame_set_stream(self->stream));
    pthread_barrier_wait(self->begin);
    pthread_barrier_wait(self->end);
    cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

START_TEST(a_stream_is_destroyed_beside_many_threads_unless_one_has_it)
{
    static seat seats[FRAMES];
    pthread_barrier_t begin, end;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    pthread_barrier_init(&begin, NULL, FRAMES + 1);
    pthread_barrier_init(&end, NULL, FRAMES + 1);
    for (int i = 0; i < FRAMES; i++) {
        seats[i] =
            (seat){.stream = create_stream(CTXRT_STREAM_DEFAULT), .begin = &begin, .end = &end};
        ck_assert_int_eq(pthread_create(&seats[i].thread, NULL, sit, &seats[i]), 0);
    }
    pthread_barrier_wait(&begin);
    for (int i = 0; i < ROUNDS; i++)
        cx_assert_ok(ctxrt_stream_destroy(create_stream(CTXRT_STREAM_NON_BLOCKING)));
    for (int i = 0; i < FRAMES; i++)
        cx_assert_status(ctxrt_stream_destroy(seats[i].stream), CTXRT_ERROR_IN_USE);
    pthread_barrier_wait(&end);
    for (int i = 0; i < FRAMES; i++) {
        pthread_join(seats[i].thread, NULL);
        cx_assert_ok(ctxrt_stream_destroy(seats[i].stream));
    }
    cx_assert_ok(ctxrt_stack_pop());
    pthread_barrier_destroy(&begin);
    pthread_barrier_destroy(&end);
}
END_TEST

/* ---- memory in stream order ---- */

/* The driver would free it while the work is to come. */
START_TEST(a_free_of_memory_in_stream_order_waits_for_the_stream_of_its_allocation)
{
    gate held;
    opener other;
    void *pointer;
    ctxrt_stream *stream;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_alloc_async(4096, stream, &pointer));
    gate_close(&held, stream);
    cx_assert_ok(ctxrt_fill_async(pointer, 1, 4096, stream));
    opener_start(&other, &held);
    cx_assert_ok(ctxrt_free(pointer));
    ck_assert(opener_end(&other));
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

Suite *streams_suite(void)
{
    const joint joints[] = {
        JOINT(a_free_of_memory_in_stream_order_waits_for_the_stream_of_its_allocation),
        JOINT(an_allocator_serves_more_than_a_thousand_live_streams),
        JOINT(a_stream_is_destroyed_beside_many_threads_unless_one_has_it),
    };
    return joint_suite("streams", joints, sizeof joints / sizeof *joints);
}
