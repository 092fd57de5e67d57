/* Many threads that capture, change, launch and destroy graphs: dependencies decide what the bytes
 * are. */
#include "graph_fixture.h"

#include <string.h>

#define THREADS 8
#ifdef __SANITIZE_THREAD__
#define ROUNDS 30
#else
#define ROUNDS 120
#endif
#define BYTES ((size_t)8 << 10)
#define STREAMS 3

/* What a thread works with, and how often something went wrong: Check is asked after the join. */
typedef struct player {
    unsigned int seed;
    CUstream streams[STREAMS];
    CUevent events[STREAMS];
    CUdeviceptr from, to;
    unsigned char *host;
    int failures;
} player;

static unsigned int pick(player *own, unsigned int below)
{
    own->seed = own->seed * 1664525u + 1013904223u;
    return (own->seed >> 8) % below;
}

static bool good(player *own, cxu_result result)
{
    if (result != CXU_SUCCESS)
        own->failures++;
    return result == CXU_SUCCESS;
}

static bool make_tools(player *own)
{
    void *host = NULL;

    if (!good(own, cx_emu_call_ctx_set_current(work_context)) ||
        !good(own, cx_emu_call_mem_alloc(&own->from, BYTES)) ||
        !good(own, cx_emu_call_mem_alloc(&own->to, BYTES)) ||
        !good(own, cx_emu_call_mem_alloc_host(&host, BYTES)))
        return false;
    own->host = host;
    for (int i = 0; i < STREAMS; i++)
        if (!good(own, cx_emu_call_stream_create(&own->streams[i], CXU_STREAM_NON_BLOCKING)) ||
            !good(own, cx_emu_call_event_create(&own->events[i], CXU_EVENT_DISABLE_TIMING)))
            return false;
    return true;
}

static void return_tools(player *own)
{
    for (int i = 0; i < STREAMS; i++) {
        good(own, cx_emu_call_stream_destroy(own->streams[i]));
        good(own, cx_emu_call_event_destroy(own->events[i]));
    }
    good(own, cx_emu_call_mem_free(own->from));
    good(own, cx_emu_call_mem_free(own->to));
    good(own, cx_emu_call_mem_free_host(own->host));
}

/* Half of the bytes through one branch, half through another. */
static void capture_branches(player *own, unsigned char value)
{
    CUstream first = own->streams[0], second = own->streams[1];
    size_t half = BYTES / 2;

    good(own, cx_emu_call_memset_d8_async(own->from, value, BYTES, first));
    good(own, cx_emu_call_event_record(own->events[0], first));
    good(own, cx_emu_call_stream_wait_event(second, own->events[0], 0));
    good(own, cx_emu_call_memcpy_dtod_async(own->to, own->from, half, first));
    good(own, cx_emu_call_memcpy_dtod_async(own->to + half, own->from + half, half, second));
    good(own, cx_emu_call_event_record(own->events[1], second));
    good(own, cx_emu_call_stream_wait_event(first, own->events[1], 0));
    good(own, cx_emu_call_memcpy_dtoh_async(own->host, own->to, BYTES, first));
}

static void launch_and_look(player *own, CUgraphExec exec, unsigned char value)
{
    CUstream stream = own->streams[pick(own, STREAMS)];

    memset(own->host, ~value, BYTES);
    good(own, cx_emu_call_graph_launch(exec, stream));
    if (pick(own, 4) == 0)
        good(own, cx_emu_call_graph_launch(exec, own->streams[2]));
    good(own, cx_emu_call_stream_synchronize(stream));
    good(own, cx_emu_call_stream_synchronize(own->streams[2]));
    for (size_t i = 0; i < BYTES; i++)
        if (own->host[i] != value) {
            own->failures++;
            return;
        }
}

static void play_round(player *own)
{
    unsigned char value = (unsigned char)pick(own, 256);
    CUgraph graph = NULL, clone;
    CUgraphExec exec;

    if (!good(own, cx_emu_call_stream_begin_capture(own->streams[0],
                                                    CXU_STREAM_CAPTURE_MODE_THREAD_LOCAL)))
        return;
    capture_branches(own, value);
    if (!good(own, cx_emu_call_stream_end_capture(own->streams[0], &graph)))
        return;
    if (pick(own, 2) == 0 && good(own, cx_emu_call_graph_clone(&clone, graph))) {
        good(own, cx_emu_call_graph_destroy(graph));
        graph = clone;
    }
    if (good(own, cx_emu_call_graph_instantiate_with_flags(&exec, graph, 0))) {
        launch_and_look(own, exec, value);
        launch_and_look(own, exec, value);
        good(own, cx_emu_call_graph_launch(exec, own->streams[1]));
        good(own, cx_emu_call_graph_exec_destroy(exec));
        good(own, cx_emu_call_stream_synchronize(own->streams[1]));
    }
    good(own, cx_emu_call_graph_destroy(graph));
}

static void *play(void *argument)
{
    player *own = argument;

    if (make_tools(own)) {
        for (int i = 0; i < ROUNDS; i++)
            play_round(own);
        return_tools(own);
    }
    return NULL;
}

static void run_all(void *(*body)(void *))
{
    pthread_t threads[THREADS];
    player players[THREADS];
    int failures = 0;

    for (int i = 0; i < THREADS; i++) {
        players[i] = (player){.seed = (unsigned int)i + 1};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, body, &players[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        failures += players[i].failures;
    }
    ck_assert_int_eq(failures, 0);
}

START_TEST(threads_that_capture_and_launch_find_their_own_bytes)
{
    run_all(play);
}
END_TEST

/* ---- one executable graph, many threads ---- */

static CUgraphExec shared_exec;
static _Atomic int running, overlaps, runs;

static void enter_alone(void *unused)
{
    (void)unused;
    if (running++ != 0)
        overlaps++;
    runs++;
    running--;
}

static void *launch_shared(void *argument)
{
    player *own = argument;

    if (make_tools(own)) {
        for (int i = 0; i < ROUNDS; i++)
            good(own, cx_emu_call_graph_launch(shared_exec, own->streams[pick(own, STREAMS)]));
        return_tools(own);
    }
    return NULL;
}

START_TEST(one_executable_graph_never_runs_twice_at_a_time)
{
    const cxu_host_node_params params = {enter_alone, NULL};
    CUgraph graph = make_graph();
    CUgraphNode node;

    ck_success(cx_emu_call_graph_add_host_node(&node, graph, NULL, 0, &params));
    ck_success(cx_emu_call_graph_add_host_node(&node, graph, &node, 1, &params));
    shared_exec = make_exec(graph);
    run_all(launch_shared);
    ck_success(cx_emu_call_ctx_synchronize());
    ck_success(cx_emu_call_graph_exec_destroy(shared_exec));
    ck_success(cx_emu_call_graph_destroy(graph));
    ck_assert_int_eq(overlaps, 0);
    ck_assert_int_eq(runs, 2 * THREADS * ROUNDS);
}
END_TEST

/* ---- one capture, many threads ---- */

static CUstream shared_origin;
static CUevent shared_fork;

/* Each thread joins streams of its own, adds to them, and leaves marks for the origin. Nothing
 * orders these streams, so each has a part of the memory. */
static void *join_shared(void *argument)
{
    player *own = argument;
    cxu_stream_capture_mode mode = CXU_STREAM_CAPTURE_MODE_RELAXED;

    if (!good(own, cx_emu_call_thread_exchange_stream_capture_mode(&mode)) || !make_tools(own))
        return NULL;
    for (int round = 0; round < ROUNDS; round++) {
        CUevent back = own->events[round % STREAMS];
        CUstream stream = own->streams[round % STREAMS];
        CUdeviceptr part = own->from + (unsigned int)(round % STREAMS) * (BYTES / STREAMS);

        good(own, cx_emu_call_stream_wait_event(stream, shared_fork, 0));
        good(own, cx_emu_call_memset_d8_async(part, (unsigned char)round, BYTES / STREAMS, stream));
        good(own, cx_emu_call_event_record(back, stream));
        good(own, cx_emu_call_stream_wait_event(shared_origin, back, 0));
    }
    for (int i = 0; i < STREAMS; i++)
        good(own, cx_emu_call_event_destroy(own->events[i]));
    for (int i = 0; i < STREAMS; i++)
        good(own, cx_emu_call_stream_destroy(own->streams[i]));
    return NULL;
}

START_TEST(threads_may_add_to_one_capture)
{
    CUgraph graph;

    shared_origin = make_stream(CXU_STREAM_NON_BLOCKING);
    shared_fork = make_event();
    begin_in(shared_origin, CXU_STREAM_CAPTURE_MODE_RELAXED);
    ck_success(cx_emu_call_event_record(shared_fork, shared_origin));
    run_all(join_shared);
    graph = end(shared_origin);
    ck_assert_uint_eq(count_nodes(graph), THREADS * ROUNDS);
    run_graph(graph);
    ck_success(cx_emu_call_graph_destroy(graph));
}
END_TEST

/* ---- captures that are broken from outside ---- */

static _Atomic bool stop;

static void *break_captures(void *unused)
{
    (void)unused;
    if (cx_emu_call_ctx_set_current(work_context) != CXU_SUCCESS)
        return NULL;
    while (!stop) {
        CUdeviceptr memory;

        if (cx_emu_call_mem_alloc(&memory, 64) == CXU_SUCCESS)
            (void)!cx_emu_call_mem_free_async(memory, CXU_STREAM_PER_THREAD);
        (void)!cx_emu_call_ctx_synchronize();
    }
    return work_context;
}

/* A GLOBAL capture that another thread's calls may invalidate at any moment ends well or with 901.
 */
START_TEST(a_broken_capture_ends_cleanly_whenever_it_breaks)
{
    player own = {.seed = 7};
    pthread_t thread;
    int ended = 0;

    ck_assert(make_tools(&own));
    ck_assert_int_eq(pthread_create(&thread, NULL, break_captures, NULL), 0);
    for (int i = 0; i < ROUNDS; i++) {
        cxu_result result;
        CUgraph graph;

        ck_success(cx_emu_call_stream_begin_capture(own.streams[0], 0));
        capture_branches(&own, 1);
        result = cx_emu_call_stream_end_capture(own.streams[0], &graph);
        ck_assert(result == CXU_SUCCESS || result == CXU_STREAM_CAPTURE_INVALIDATED);
        ended += result == CXU_SUCCESS || !graph;
        if (graph)
            ck_success(cx_emu_call_graph_destroy(graph));
        ck_assert_int_eq(status_of(own.streams[1]), CXU_STREAM_CAPTURE_STATUS_NONE);
    }
    stop = true;
    pthread_join(thread, NULL);
    ck_assert_int_eq(ended, ROUNDS);
    own.failures = 0;
    return_tools(&own);
    ck_assert_int_eq(own.failures, 0);
}
END_TEST

static Suite *graph_stress_suite(void)
{
    Suite *suite = suite_create("graph_stress");
    TCase *tcase = tcase_create("graph_stress");

    tcase_add_checked_fixture(tcase, graph_setup, graph_teardown);
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, threads_that_capture_and_launch_find_their_own_bytes);
    tcase_add_test(tcase, one_executable_graph_never_runs_twice_at_a_time);
    tcase_add_test(tcase, threads_may_add_to_one_capture);
    tcase_add_test(tcase, a_broken_capture_ends_cleanly_whenever_it_breaks);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(graph_stress_suite);
