/*
 * Captures whose dependencies the program sets itself: which streams are not joined then.
 */
#include "layer/capturing.h"

#include <pthread.h>

static const char second_left[] =
    "stream 3 of GPU 0 joined it, and nothing waits for its last work";
static const char plain_left[] = "stream 4 of GPU 0 joined it, and nothing waits for its last work";

/* The end of the first stream's capture, which is not joined: the one line tells why. */
static void only_left(const char *line)
{
    CUgraph graph;
    ck_assert_int_eq((int)table.stream_end_capture(first, &graph), CXU_STREAM_CAPTURE_UNJOINED);
    ck_assert_int_eq(found(CX_KIND_CAPTURE_UNJOINED), 1);
    ck_assert(latest_says(line));
    unsigned last = atomic_load(&cx_region_here->findings) - 1;
    ck_assert_uint_eq(cx_region_here->all_findings[last].note_count, 2);
}

/* The first stream's capture, with work in the second and the plain one. */
static void capture_three(void)
{
    begin(first, RELAXED);
    fill(first);
    join(second, first);
    fill(second);
    fill(second);
    join(plain, first);
    fill(plain);
}

/* The node that the stream's next one depends on. */
static CUgraphNode last_node(CUstream stream, CUgraph *out_graph)
{
    cxu_stream_capture_status status;
    const CUgraphNode *nodes;
    size_t count;
    GOOD(table.stream_get_capture_info_v2(stream, &status, NULL, out_graph, &nodes, &count));
    ck_assert_uint_eq(count, 1);
    return nodes[0];
}

static void set_dependency(CUstream stream, CUgraphNode node)
{
    GOOD(table.stream_update_capture_dependencies_v1(stream, &node, 1,
                                                     CXU_STREAM_SET_CAPTURE_DEPENDENCIES));
}

static void add_dependency(CUstream stream, CUgraphNode node)
{
    GOOD(table.stream_update_capture_dependencies(stream, &node, NULL, 1,
                                                  CXU_STREAM_ADD_CAPTURE_DEPENDENCIES));
}

START_TEST(a_stream_is_joined_by_its_node)
{
    capture_three();
    add_dependency(first, last_node(second, NULL));
    only_left(plain_left);
}
END_TEST

START_TEST(the_other_one_too)
{
    capture_three();
    add_dependency(first, last_node(plain, NULL));
    only_left(second_left);
}
END_TEST

START_TEST(a_stream_that_goes_back_to_a_node_of_the_first_one_is_joined)
{
    CUgraphNode common;
    begin(first, RELAXED);
    fill(first);
    common = last_node(first, NULL);
    join(second, first);
    fill(second);
    join(plain, first);
    fill(plain);
    set_dependency(second, common);
    only_left(plain_left);
}
END_TEST

START_TEST(a_first_stream_that_goes_back_loses_what_it_had_joined)
{
    CUgraphNode common;
    begin(first, RELAXED);
    fill(first);
    common = last_node(first, NULL);
    join(second, first);
    fill(second);
    join(first, second);
    set_dependency(first, common);
    only_left(second_left);
}
END_TEST

START_TEST(a_node_that_the_program_adds_joins)
{
    CUgraph graph;
    CUgraphNode node, before;
    capture_three();
    before = last_node(second, &graph);
    GOOD(table.graph_add_empty_node(&node, graph, &before, 1));
    add_dependency(first, node);
    only_left(plain_left);
}
END_TEST

START_TEST(an_edge_that_the_program_adds_joins)
{
    CUgraph graph;
    CUgraphNode of_second, last;
    capture_three();
    of_second = last_node(second, &graph);
    join(plain, plain); /* no edge */
    fill(first);
    last = last_node(first, NULL);
    GOOD(table.graph_add_dependencies(graph, &of_second, &last, NULL, 1));
    only_left(plain_left);
}
END_TEST

START_TEST(all_that_are_joined_are_no_finding)
{
    CUgraph graph;
    capture_three();
    add_dependency(first, last_node(second, NULL));
    add_dependency(first, last_node(plain, NULL));
    GOOD(table.stream_end_capture(first, &graph));
    ck_assert_int_eq(found_at_all(), 0);
    ck_assert_int_eq(alive(CX_OBJECT_CAPTURE), 0);
}
END_TEST

START_TEST(streams_that_ended_meanwhile_are_judged_by_their_events)
{
    capture_three();
    add_dependency(first, last_node(second, NULL));
    join(first, second);
    GOOD(table.stream_destroy(second));
    only_left(plain_left);
}
END_TEST

/* ---- default streams of threads ---- */

START_TEST(the_threads_own_default_stream_is_joined_by_its_node)
{
    begin(first, RELAXED);
    join(CXU_STREAM_PER_THREAD, first);
    fill(CXU_STREAM_PER_THREAD);
    join(plain, first);
    fill(plain);
    add_dependency(first, last_node(CXU_STREAM_PER_THREAD, NULL));
    only_left(plain_left);
}
END_TEST

static void *join_own(void *unused)
{
    GOOD(table.ctx_set_current(here));
    GOOD(table.stream_wait_event(CXU_STREAM_PER_THREAD, event, 0));
    fill(CXU_STREAM_PER_THREAD);
    return unused;
}

START_TEST(that_of_another_thread_is_judged_by_its_events)
{
    pthread_t thread;
    begin(first, RELAXED);
    join(second, first);
    fill(second);
    join(first, second);
    add_dependency(first, last_node(second, NULL));
    GOOD(table.event_record(event, first));
    ck_assert_int_eq(pthread_create(&thread, NULL, join_own, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    only_left("the default stream of thread 2 joined it, and nothing waits for its last work");
}
END_TEST

/* ---- drivers without an answer ---- */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
static cxu_result refuse_info(CUstream stream, cxu_stream_capture_status *status, uint64_t *id,
                              CUgraph *graph, const CUgraphNode **nodes,
                              const cxu_graph_edge_data **edges, size_t *count)
{
    return CXU_NOT_SUPPORTED;
}

static cxu_result refuse_info_v2(CUstream stream, cxu_stream_capture_status *status, uint64_t *id,
                                 CUgraph *graph, const CUgraphNode **nodes, size_t *count)
{
    return CXU_NOT_SUPPORTED;
}

static cxu_result refuse_dependencies(CUgraphNode node, CUgraphNode *nodes,
                                      cxu_graph_edge_data *edges, size_t *count)
{
    return CXU_NOT_SUPPORTED;
}

static cxu_result refuse_dependencies_v1(CUgraphNode node, CUgraphNode *nodes, size_t *count)
{
    return CXU_NOT_SUPPORTED;
}
#pragma GCC diagnostic pop

START_TEST(older_calls_are_asked_where_the_newer_ones_are_missing)
{
    bare.stream_get_capture_info = refuse_info;
    bare.graph_node_get_dependencies = refuse_dependencies;
    capture_three();
    fill(second);
    add_dependency(first, last_node(second, NULL));
    only_left(plain_left);
}
END_TEST

START_TEST(without_an_answer_streams_are_judged_by_their_events)
{
    CUgraph graph;
    CUgraphNode node;
    capture_three();
    node = last_node(second, NULL);
    if (_i == 0) {
        bare.stream_get_capture_info = refuse_info;
        bare.stream_get_capture_info_v2 = refuse_info_v2;
    } else {
        bare.graph_node_get_dependencies = refuse_dependencies;
        bare.graph_node_get_dependencies_v1 = refuse_dependencies_v1;
    }
    GOOD(table.stream_update_capture_dependencies(first, &node, NULL, 1,
                                                  CXU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    ck_assert_int_eq((int)table.stream_end_capture(first, &graph), CXU_STREAM_CAPTURE_UNJOINED);
    ck_assert(latest_says(second_left));
    ck_assert(latest_says(plain_left));
}
END_TEST

/* ---- many streams ---- */

enum { STREAMS = 100 };

static void capture_many(CUstream *streams, int joined)
{
    begin(first, RELAXED);
    for (int i = 0; i < STREAMS; i++) {
        GOOD(table.stream_create(&streams[i], CXU_STREAM_NON_BLOCKING));
        join(streams[i], first);
        fill(streams[i]);
        if (i < joined)
            join(first, streams[i]);
    }
}

START_TEST(a_capture_has_as_many_streams_as_it_likes)
{
    CUgraph graph;
    CUstream streams[STREAMS];
    capture_many(streams, STREAMS - 1);
    ck_assert_int_eq((int)table.stream_end_capture(first, &graph), CXU_STREAM_CAPTURE_UNJOINED);
    unsigned last = atomic_load(&cx_region_here->findings) - 1;
    ck_assert_uint_eq(cx_region_here->all_findings[last].note_count, 2);
    ck_assert(latest_says("stream 104 of GPU 0 joined it, and nothing waits for its last work"));
}
END_TEST

START_TEST(streams_without_a_line_are_counted)
{
    CUgraph graph;
    CUstream streams[STREAMS];
    capture_many(streams, 0);
    ck_assert_int_eq((int)table.stream_end_capture(first, &graph), CXU_STREAM_CAPTURE_UNJOINED);
    ck_assert(latest_says("stream 5 of GPU 0 joined it, and nothing waits for its last work"));
    ck_assert(latest_says("stream 8 of GPU 0 joined it, and nothing waits for its last work"));
    ck_assert(latest_says("96 more streams joined it, and nothing waits for their last work"));
}
END_TEST

START_TEST(streams_are_joined_by_nodes_however_many_they_are)
{
    CUgraph graph;
    CUstream streams[STREAMS];
    capture_many(streams, 0);
    for (int i = 0; i < STREAMS - 1; i++)
        add_dependency(first, last_node(streams[i], NULL));
    ck_assert_int_eq((int)table.stream_end_capture(first, &graph), CXU_STREAM_CAPTURE_UNJOINED);
    ck_assert(latest_says("stream 104 of GPU 0 joined it, and nothing waits for its last work"));
}
END_TEST

static Suite *edges_suite(void)
{
    Suite *suite = suite_create("dependencies that programs set in captures");
    TCase *tcase = tcase_create("edges");
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_test(tcase, a_stream_is_joined_by_its_node);
    tcase_add_test(tcase, the_other_one_too);
    tcase_add_test(tcase, a_stream_that_goes_back_to_a_node_of_the_first_one_is_joined);
    tcase_add_test(tcase, a_first_stream_that_goes_back_loses_what_it_had_joined);
    tcase_add_test(tcase, a_node_that_the_program_adds_joins);
    tcase_add_test(tcase, an_edge_that_the_program_adds_joins);
    tcase_add_test(tcase, all_that_are_joined_are_no_finding);
    tcase_add_test(tcase, streams_that_ended_meanwhile_are_judged_by_their_events);
    tcase_add_test(tcase, the_threads_own_default_stream_is_joined_by_its_node);
    tcase_add_test(tcase, that_of_another_thread_is_judged_by_its_events);
    tcase_add_test(tcase, older_calls_are_asked_where_the_newer_ones_are_missing);
    tcase_add_loop_test(tcase, without_an_answer_streams_are_judged_by_their_events, 0, 2);
    tcase_add_test(tcase, a_capture_has_as_many_streams_as_it_likes);
    tcase_add_test(tcase, streams_without_a_line_are_counted);
    tcase_add_test(tcase, streams_are_joined_by_nodes_however_many_they_are);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(edges_suite);
