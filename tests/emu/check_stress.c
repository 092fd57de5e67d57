/* Many threads, many streams: whatever the interleaving, dependencies decide what the bytes are. */
#include "work_fixture.h"

#include <stdlib.h>
#include <string.h>

#define THREADS 8
#define ROUNDS 300
#define STREAMS 3
#define BYTES ((size_t)96 << 10)

struct rng {
    unsigned int state;
};

static unsigned int pick(struct rng *rng, unsigned int below)
{
    rng->state = rng->state * 1664525u + 1013904223u;
    return (rng->state >> 8) % below;
}

struct player {
    struct rng rng;
    CUstream streams[STREAMS];
    CUevent event;
    CUdeviceptr from, to;
    unsigned char *host;
    size_t bytes;
};

static void hop(struct player *player, CUstream *stream)
{
    CUstream next = player->streams[pick(&player->rng, STREAMS)];

    ck_success(cx_emu_call_event_record(player->event, *stream));
    ck_success(cx_emu_call_stream_wait_event(next, player->event, 0));
    *stream = next;
}

/* One assertion for all bytes: each of them costs a system call. */
static size_t count_of(const unsigned char *bytes, size_t size, unsigned char value)
{
    size_t count = 0;

    for (size_t i = 0; i < size; i++)
        count += bytes[i] == value;
    return count;
}

static void play_round(struct player *player)
{
    CUstream stream = player->streams[pick(&player->rng, STREAMS)];
    unsigned char value = (unsigned char)pick(&player->rng, 256);
    size_t bytes = 1 + pick(&player->rng, (unsigned int)BYTES);

    ck_success(cx_emu_call_memset_d8_async(player->from, value, bytes, stream));
    hop(player, &stream);
    ck_success(cx_emu_call_memcpy_dtod_async(player->to, player->from, bytes, stream));
    hop(player, &stream);
    if (pick(&player->rng, 8) == 0) {
        ck_success(cx_emu_call_event_record(player->event, stream));
        ck_success(cx_emu_call_stream_destroy(player->streams[0]));
        player->streams[0] = make_stream(pick(&player->rng, 2));
        stream = player->streams[0];
        ck_success(cx_emu_call_stream_wait_event(stream, player->event, 0));
    }
    memset(player->host, ~value, bytes);
    ck_success(cx_emu_call_memcpy_dtoh_async(player->host, player->to, bytes, stream));
    ck_success(cx_emu_call_event_record(player->event, stream));
    ck_success(cx_emu_call_event_synchronize(player->event));
    ck_assert_uint_eq(count_of(player->host, bytes, value), bytes);
}

static void *play(void *argument)
{
    struct player player = {.rng = {(unsigned int)(uintptr_t)argument}};
    void *pinned;

    ck_success(cx_emu_call_ctx_set_current(work_context));
    for (int i = 0; i < STREAMS; i++)
        player.streams[i] = make_stream(i == STREAMS - 1 ? CXU_STREAM_NON_BLOCKING : 0);
    player.event = make_event();
    player.from = make_memory(BYTES);
    player.to = make_memory(BYTES);
    ck_success(cx_emu_call_mem_alloc_host(&pinned, BYTES));
    player.host = pinned;
    for (int i = 0; i < ROUNDS; i++)
        play_round(&player);
    for (int i = 0; i < STREAMS; i++)
        ck_success(cx_emu_call_stream_destroy(player.streams[i]));
    ck_success(cx_emu_call_event_destroy(player.event));
    ck_success(cx_emu_call_mem_free(player.from));
    ck_success(cx_emu_call_mem_free(player.to));
    ck_success(cx_emu_call_mem_free_host(pinned));
    return NULL;
}

START_TEST(threads_that_hop_between_streams_find_their_own_bytes)
{
    pthread_t threads[THREADS];

    for (uintptr_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, play, (void *)(i + 1)), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}
END_TEST

static void *use_a_dying_context(void *argument)
{
    CUcontext context = argument;
    CUstream stream;

    if (cx_emu_call_ctx_set_current(context) != CXU_SUCCESS)
        return NULL;
    while (cx_emu_call_stream_create(&stream, 0) == CXU_SUCCESS) {
        CUdeviceptr memory;

        if (cx_emu_call_mem_alloc(&memory, BYTES) != CXU_SUCCESS)
            break;
        /* Any of these may find the context gone; none may crash. */
        (void)!cx_emu_call_memset_d8_async(memory, 7, BYTES, stream);
        (void)!cx_emu_call_memset_d8(memory, 7, BYTES);
        (void)!cx_emu_call_stream_synchronize(stream);
        (void)!cx_emu_call_stream_destroy(stream);
        (void)!cx_emu_call_mem_free(memory);
    }
    return NULL;
}

/* C2, C3 */
START_TEST(a_context_may_be_destroyed_while_threads_use_its_streams)
{
    for (int round = 0; round < 20; round++) {
        pthread_t threads[4];
        CUcontext context;

        ck_success(cx_emu_call_ctx_create_v4(&context, NULL, 0, 1));
        for (int i = 0; i < 4; i++)
            ck_assert_int_eq(pthread_create(&threads[i], NULL, use_a_dying_context, context), 0);
        ck_success(cx_emu_call_memset_d8(make_memory(BYTES), 1, BYTES));
        ck_success(cx_emu_call_ctx_destroy(context));
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
    }
}
END_TEST

static Suite *stress_suite(void)
{
    Suite *suite = suite_create("stress");
    TCase *tcase = tcase_create("stress");

    tcase_add_checked_fixture(tcase, work_setup, work_teardown);
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, threads_that_hop_between_streams_find_their_own_bytes);
    tcase_add_test(tcase, a_context_may_be_destroyed_while_threads_use_its_streams);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(stress_suite);
