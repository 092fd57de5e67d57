/* User objects: references of the program and of graphs, and when the destructor runs (G6). */
#include "graph_fixture.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int destroyed;
static cxu_result in_destructor;

static void note_destroyed(void *pointer)
{
    pthread_mutex_lock(&lock);
    *(int *)pointer += 1;
    in_destructor = cx_emu_call_ctx_synchronize();
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void setup(void)
{
    graph_setup();
    destroyed = 0;
}

static int destroyed_so_far(void)
{
    pthread_mutex_lock(&lock);
    int count = destroyed;
    pthread_mutex_unlock(&lock);
    return count;
}

static void await_destroyed(void)
{
    pthread_mutex_lock(&lock);
    while (destroyed == 0)
        pthread_cond_wait(&changed, &lock);
    ck_assert_int_eq(destroyed, 1);
    pthread_mutex_unlock(&lock);
}

static CUuserObject make_object(unsigned int count)
{
    CUuserObject object;

    ck_success(cx_emu_call_user_object_create(&object, &destroyed, note_destroyed, count,
                                              CXU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    return object;
}

START_TEST(the_last_release_destroys)
{
    CUuserObject object = make_object(2);

    ck_success(cx_emu_call_user_object_retain(object, 3));
    ck_success(cx_emu_call_user_object_release(object, 4));
    ck_assert_int_eq(destroyed_so_far(), 0);
    ck_result(cx_emu_call_user_object_release(object, 2), INVALID_VALUE);
    ck_success(cx_emu_call_user_object_release(object, 1));
    await_destroyed();
    ck_assert_int_eq(in_destructor, CXU_NOT_PERMITTED);
    ck_result(cx_emu_call_user_object_release(object, 1), INVALID_VALUE);
}
END_TEST

START_TEST(a_graph_owns_references)
{
    CUgraph graph = make_graph();
    CUuserObject object = make_object(1);

    ck_success(cx_emu_call_graph_retain_user_object(graph, object, 2, 0));
    ck_success(cx_emu_call_user_object_release(object, 1));
    ck_result(cx_emu_call_user_object_release(object, 1), INVALID_VALUE);
    ck_success(cx_emu_call_graph_release_user_object(graph, object, 1));
    ck_result(cx_emu_call_graph_release_user_object(graph, object, 2), INVALID_VALUE);
    ck_assert_int_eq(destroyed_so_far(), 0);
    drop(graph);
    await_destroyed();
}
END_TEST

START_TEST(references_move_to_a_graph)
{
    CUgraph graph = make_graph();
    CUuserObject object = make_object(1);

    ck_result(
        cx_emu_call_graph_retain_user_object(graph, object, 2, CXU_GRAPH_USER_OBJECT_MOVE),
        INVALID_VALUE);
    ck_success(
        cx_emu_call_graph_retain_user_object(graph, object, 1, CXU_GRAPH_USER_OBJECT_MOVE));
    ck_result(cx_emu_call_user_object_release(object, 1), INVALID_VALUE);
    ck_success(cx_emu_call_graph_release_user_object(graph, object, 1));
    await_destroyed();
    drop(graph);
}
END_TEST

START_TEST(copies_of_a_graph_own_references_too)
{
    CUgraph graph = make_graph(), clone;
    CUuserObject object = make_object(1);
    CUgraphExec exec;

    ck_success(
        cx_emu_call_graph_retain_user_object(graph, object, 1, CXU_GRAPH_USER_OBJECT_MOVE));
    ck_success(cx_emu_call_graph_clone(&clone, graph));
    exec = make_exec(clone);
    drop(graph);
    drop(clone);
    ck_assert_int_eq(destroyed_so_far(), 0);
    drop_exec(exec);
    await_destroyed();
}
END_TEST

START_TEST(a_launch_keeps_the_references_of_a_destroyed_executable_graph)
{
    stream_gate gate = GATE_CLOSED;
    CUgraph graph = make_graph();
    CUuserObject object = make_object(1);
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUgraphExec exec;

    ck_success(
        cx_emu_call_graph_retain_user_object(graph, object, 1, CXU_GRAPH_USER_OBJECT_MOVE));
    exec = make_exec(graph);
    drop(graph);
    gate_put(&gate, stream);
    ck_success(cx_emu_call_graph_launch(exec, stream));
    drop_exec(exec);
    gate_wait_entered(&gate);
    ck_assert_int_eq(destroyed_so_far(), 0);
    gate_open(&gate);
    ck_success(cx_emu_call_stream_synchronize(stream));
    await_destroyed();
}
END_TEST

START_TEST(numbers_and_flags_are_checked)
{
    CUuserObject object = make_object(1);
    CUgraph graph = make_graph();

    ck_result(cx_emu_call_user_object_create(&object, NULL, NULL, 1, 1), INVALID_VALUE);
    ck_result(cx_emu_call_user_object_create(&object, NULL, note_destroyed, 0, 1), INVALID_VALUE);
    ck_result(cx_emu_call_user_object_create(&object, NULL, note_destroyed, 1, 0), INVALID_VALUE);
    ck_result(cx_emu_call_user_object_retain(object, 0), INVALID_VALUE);
    ck_result(cx_emu_call_graph_retain_user_object(graph, object, 1, 2), INVALID_VALUE);
    ck_result(cx_emu_call_graph_release_user_object(graph, object, 1), INVALID_VALUE);
    drop(graph);
    ck_success(cx_emu_call_user_object_release(object, 1));
    await_destroyed();
}
END_TEST

static Suite *object_suite(void)
{
    Suite *suite = suite_create("user_object");
    TCase *tests = tcase_create("user_object");

    tcase_add_checked_fixture(tests, setup, graph_teardown);
    tcase_add_test(tests, the_last_release_destroys);
    tcase_add_test(tests, a_graph_owns_references);
    tcase_add_test(tests, references_move_to_a_graph);
    tcase_add_test(tests, copies_of_a_graph_own_references_too);
    tcase_add_test(tests, a_launch_keeps_the_references_of_a_destroyed_executable_graph);
    tcase_add_test(tests, numbers_and_flags_are_checked);
    suite_add_tcase(suite, tests);
    return suite;
}

CX_TESTS(object_suite);
