/* Executable graphs: instantiating and launching them. */
#include "emu/memory/allocation.h"
#include "emu/base/state.h"
#include "graph_fixture.h"

#include <stdlib.h>
#include <string.h>

#define BYTES ((size_t)FILL_BYTES)

static CUgraphNode add_gate(CUgraph graph, stream_gate *gate)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUgraph ended;

    ck_success(cx_emu_call_stream_begin_capture_to_graph(stream, graph, NULL, NULL, 0, 0));
    gate_put(gate, stream);
    ck_success(cx_emu_call_stream_end_capture(stream, &ended));
    ck_success(cx_emu_call_stream_destroy(stream));
    return only_node(graph, CXU_GRAPH_NODE_TYPE_HOST);
}

/* ---- instantiation ---- */

START_TEST(an_empty_graph_is_launched_and_does_nothing)
{
    CUgraph graph = make_graph();

    run_graph(graph);
    drop(graph);
}
END_TEST

START_TEST(a_cycle_is_not_instantiated)
{
    CUgraph graph = make_graph(), outer = make_graph();
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'};
    CUgraphNode first = add_letter(graph, &a, NULL, 0), second = add_letter(graph, &a, &first, 1);
    CUgraphNode node, offender = NULL;
    cxu_graph_instantiate_params params = {0};
    CUgraphExec exec;
    char log[32] = "untouched";

    ck_success(cx_emu_call_graph_add_dependencies_v1(graph, &second, &first, 1));
    ck_result(cx_emu_call_graph_instantiate_with_flags(&exec, graph, 0), INVALID_VALUE);
    ck_result(cx_emu_call_graph_instantiate_v2(&exec, graph, &offender, log, sizeof log),
              INVALID_VALUE);
    ck_assert(offender == first || offender == second);
    ck_assert_str_eq(log, "the graph has a cycle");
    ck_result(cx_emu_call_graph_instantiate_with_params(&exec, graph, &params), INVALID_VALUE);
    ck_assert_int_eq(params.out_result, CXU_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
    ck_assert(params.out_error_node == first || params.out_error_node == second);
    ck_success(cx_emu_call_graph_add_child_graph_node(&node, outer, NULL, 0, graph));
    ck_result(cx_emu_call_graph_instantiate_v1(&exec, outer, &offender, NULL, 0), INVALID_VALUE);
    ck_assert_ptr_eq(offender, node);
    drop(graph);
    drop(outer);
}
END_TEST

START_TEST(flags_are_kept_and_checked)
{
    CUgraph graph = make_graph();
    cxu_graph_instantiate_params params = {.flags = CXU_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                                                    CXU_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY};
    CUgraphNode offender = (CUgraphNode)(void *)graph;
    CUgraphExec exec;
    uint64_t flags;

    ck_success(cx_emu_call_graph_instantiate_with_params(&exec, graph, &params));
    ck_assert_int_eq(params.out_result, CXU_GRAPH_INSTANTIATE_SUCCESS);
    ck_success(cx_emu_call_graph_exec_get_flags(exec, &flags));
    ck_assert_uint_eq(flags, CXU_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
    drop_exec(exec);
    ck_result(cx_emu_call_graph_instantiate_with_flags(&exec, graph, 16), INVALID_VALUE);
    ck_result(
        cx_emu_call_graph_instantiate_with_flags(&exec, graph, CXU_GRAPH_INSTANTIATE_FLAG_UPLOAD),
        INVALID_VALUE);
    ck_result(cx_emu_call_graph_instantiate_with_flags(&exec, graph, 1 | 4), INVALID_VALUE);
    ck_result(cx_emu_call_graph_instantiate_with_flags(&exec, graph, 4), NOT_SUPPORTED);
    params.flags = 16;
    ck_result(cx_emu_call_graph_instantiate_with_params(&exec, graph, &params), INVALID_VALUE);
    ck_assert_int_eq(params.out_result, CXU_GRAPH_INSTANTIATE_ERROR);
    ck_result(cx_emu_call_graph_instantiate_with_params(&exec, graph, NULL), INVALID_VALUE);
    ck_result(cx_emu_call_graph_instantiate_with_flags(NULL, graph, 0), INVALID_VALUE);
    ck_success(cx_emu_call_graph_instantiate_v1(&exec, graph, &offender, NULL, 0));
    ck_assert_ptr_null(offender);
    drop_exec(exec);
    drop(graph);
}
END_TEST

START_TEST(stale_and_foreign_executable_graphs_are_refused)
{
    CUgraph graph = make_graph();
    CUgraphExec exec = make_exec(graph), bad[4] = {NULL, (CUgraphExec)(void *)graph, NULL, NULL};
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    uint64_t flags;

    drop_exec(exec);
    bad[2] = exec;
    bad[3] = (CUgraphExec)(void *)&flags;
    for (int i = 0; i < 4; i++) {
        ck_result(cx_emu_call_graph_launch(bad[i], stream), INVALID_VALUE);
        ck_result(cx_emu_call_graph_upload(bad[i], stream), INVALID_VALUE);
        ck_result(cx_emu_call_graph_exec_destroy(bad[i]), INVALID_VALUE);
        ck_result(cx_emu_call_graph_exec_get_flags(bad[i], &flags), INVALID_VALUE);
    }
    exec = make_exec(graph);
    ck_result(cx_emu_call_graph_launch(exec, (CUstream)(void *)&flags), INVALID_HANDLE);
    ck_success(cx_emu_call_graph_upload(exec, stream));
    drop_exec(exec);
    drop(graph);
}
END_TEST

/* ---- launches ---- */

START_TEST(an_executable_graph_outlives_its_graph)
{
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'}, b = {&journal, 'b'};
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUgraph graph = make_graph();
    CUgraphNode node = add_letter(graph, &a, NULL, 0);
    CUgraphExec exec = make_exec(graph);

    add_letter(graph, &b, &node, 1);
    drop(graph);
    launch_and_wait(exec, stream);
    ck_journal(&journal, "a");
    drop_exec(exec);
}
END_TEST

START_TEST(a_launch_stands_in_its_stream_like_one_piece_of_work)
{
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'}, b = {&journal, 'b'}, x = {&journal, 'x'}, y = {&journal, 'y'};
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    stream_gate gate = GATE_CLOSED;
    CUgraph graph = make_graph();
    CUgraphNode node = add_letter(graph, &a, NULL, 0);
    CUgraphExec exec;

    add_letter(graph, &b, &node, 1);
    exec = make_exec(graph);
    gate_put(&gate, stream);
    letter_put(&x, stream);
    ck_success(cx_emu_call_graph_launch(exec, stream));
    letter_put(&y, stream);
    gate_wait_entered(&gate);
    ck_journal(&journal, "");
    ck_result(cx_emu_call_stream_query(stream), NOT_READY);
    gate_open(&gate);
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_journal(&journal, "xaby");
    drop_exec(exec);
    drop(graph);
}
END_TEST

/* T11 */
START_TEST(a_launch_in_the_legacy_stream_waits_for_blocking_streams_and_they_for_it)
{
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'}, x = {&journal, 'x'}, y = {&journal, 'y'};
    CUstream first = make_stream(CXU_STREAM_DEFAULT), second = make_stream(CXU_STREAM_DEFAULT);
    stream_gate gate = GATE_CLOSED;
    CUgraph graph = make_graph();
    CUgraphExec exec;

    add_letter(graph, &a, NULL, 0);
    exec = make_exec(graph);
    gate_put(&gate, first);
    letter_put(&x, first);
    ck_success(cx_emu_call_graph_launch(exec, NULL));
    letter_put(&y, second);
    gate_open(&gate);
    ck_success(cx_emu_call_ctx_synchronize());
    ck_journal(&journal, "xay");
    drop_exec(exec);
    drop(graph);
}
END_TEST

START_TEST(launches_of_one_executable_graph_come_one_after_the_other)
{
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter b = {&journal, 'b'};
    CUstream first = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream second = make_stream(CXU_STREAM_NON_BLOCKING);
    stream_gate gate = GATE_CLOSED;
    CUgraph graph = make_graph();
    CUgraphNode node = add_gate(graph, &gate), letter = add_letter(graph, &b, NULL, 0);
    CUgraphExec exec, other;

    ck_success(cx_emu_call_graph_add_dependencies_v1(graph, &letter, &node, 1));
    exec = make_exec(graph);
    ck_success(cx_emu_call_graph_destroy_node(node));
    other = make_exec(graph);
    ck_success(cx_emu_call_graph_launch(exec, first));
    gate_wait_entered(&gate);
    ck_success(cx_emu_call_graph_launch(exec, second));
    ck_success(cx_emu_call_graph_launch(other, CXU_STREAM_PER_THREAD));
    ck_success(cx_emu_call_stream_synchronize(CXU_STREAM_PER_THREAD));
    ck_journal(&journal, "bb");
    ck_result(cx_emu_call_stream_query(second), NOT_READY);
    gate_open(&gate);
    ck_success(cx_emu_call_stream_synchronize(second));
    ck_success(cx_emu_call_stream_query(first));
    ck_journal(&journal, "bbb");
    drop_exec(exec);
    drop_exec(other);
    drop(graph);
}
END_TEST

START_TEST(a_graph_of_tiny_work_is_done_when_its_launch_returns_if_nothing_is_before_it)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream other = make_stream(CXU_STREAM_NON_BLOCKING);
    stream_gate gate = GATE_CLOSED;
    CUdeviceptr memory = make_memory(BYTES);
    CUgraph graph = make_graph();
    CUgraphExec exec;

    add_byte_fill(graph, memory, 7);
    exec = make_exec(graph);
    ck_success(cx_emu_call_graph_launch(exec, stream));
    ck_success(cx_emu_call_stream_query(stream));
    ck_assert_uint_eq(first_byte(memory), 7);
    ck_success(cx_emu_call_memset_d8(memory, 1, BYTES));
    gate_put(&gate, stream);
    ck_success(cx_emu_call_graph_launch(exec, stream));
    ck_success(cx_emu_call_graph_launch(exec, other));
    ck_result(cx_emu_call_stream_query(other), NOT_READY);
    ck_assert_uint_eq(first_byte(memory), 1);
    gate_open(&gate);
    ck_success(cx_emu_call_stream_synchronize(other));
    ck_assert_uint_eq(first_byte(memory), 7);
    ck_success(cx_emu_call_stream_synchronize(stream));
    drop_exec(exec);
    drop(graph);
    ck_success(cx_emu_call_mem_free(memory));
}
END_TEST

START_TEST(an_executable_graph_may_be_destroyed_in_flight)
{
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter b = {&journal, 'b'};
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    stream_gate gate = GATE_CLOSED;
    CUgraph graph = make_graph();
    CUgraphNode node = add_gate(graph, &gate);
    CUgraphExec exec;

    add_letter(graph, &b, &node, 1);
    exec = make_exec(graph);
    ck_success(cx_emu_call_graph_launch(exec, stream));
    gate_wait_entered(&gate);
    drop_exec(exec);
    drop(graph);
    ck_success(cx_emu_call_stream_destroy(stream));
    gate_open(&gate);
    ck_success(cx_emu_call_ctx_synchronize());
    ck_journal(&journal, "b");
}
END_TEST

START_TEST(a_launch_uses_the_memory_until_it_is_done)
{
    CUdeviceptr memory = make_memory(BYTES);
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    stream_gate gate = GATE_CLOSED;
    CUgraph graph = make_graph();
    CUgraphNode gate_node = add_gate(graph, &gate), fill = add_byte_fill(graph, memory, 3);
    CUgraphExec exec;

    ck_success(cx_emu_call_graph_add_dependencies_v1(graph, &gate_node, &fill, 1));
    exec = make_exec(graph);
    ck_success(cx_emu_call_graph_launch(exec, stream));
    ck_success(cx_emu_call_mem_free_async(memory, stream));
    ck_result(cx_emu_call_graph_launch(exec, stream), INVALID_VALUE);
    gate_open(&gate);
    ck_success(cx_emu_call_stream_synchronize(stream));
    drop_exec(exec);
    drop(graph);
}
END_TEST

START_TEST(a_launch_that_cannot_be_done_does_nothing_of_it)
{
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'};
    CUdeviceptr memory = make_memory(BYTES), kept = make_memory(BYTES);
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();
    CUgraph graph = make_graph();
    CUgraphNode node;
    CUgraphExec exec;

    ck_success(cx_emu_call_memset_d8(kept, 1, BYTES));
    ck_success(cx_emu_call_ctx_synchronize());
    add_letter(graph, &a, NULL, 0);
    add_byte_fill(graph, kept, 2);
    ck_success(cx_emu_call_graph_add_event_record_node(&node, graph, NULL, 0, event));
    add_byte_fill(graph, memory, 3);
    exec = make_exec(graph);
    ck_success(cx_emu_call_mem_free(memory));
    ck_result(cx_emu_call_graph_launch(exec, stream), INVALID_VALUE);
    ck_success(cx_emu_call_stream_query(stream));
    ck_journal(&journal, "");
    ck_assert_uint_eq(first_byte(kept), 1);
    drop_exec(exec);
    drop(graph);
}
END_TEST

START_TEST(a_launch_finds_what_was_freed_since_the_last)
{
    CUdeviceptr memory[] = {make_memory(BYTES), make_memory(BYTES), 0};
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);

    ck_success(cx_emu_call_mem_alloc_async(&memory[2], BYTES, stream));
    for (int i = 0; i < 3; i++) {
        CUgraph graph = make_graph();
        CUgraphExec exec;

        add_byte_fill(graph, memory[i], 3);
        exec = make_exec(graph);
        launch_and_wait(exec, stream);
        launch_and_wait(exec, stream);
        if (i == 1)
            ck_success(cx_emu_call_mem_free_async(memory[i], stream));
        else
            ck_success(cx_emu_call_mem_free(memory[i]));
        ck_result(cx_emu_call_graph_launch(exec, stream), INVALID_VALUE);
        drop_exec(exec);
        drop(graph);
    }
}
END_TEST

static int users_of(const void *address)
{
    const cx_emu_allocation *found;
    int users;

    cx_lock_enter(&cx_emu_lock);
    found = cx_emu_allocation_find((uintptr_t)address, 1);
    users = found ? found->users : -1;
    cx_lock_leave(&cx_emu_lock);
    return users;
}

START_TEST(a_launch_uses_host_memory_that_was_registered_since_the_last)
{
    static _Alignas(4096) unsigned char page[4096];
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    stream_gate gate = GATE_CLOSED;
    cxu_memcpy_3d copy = copy_between(make_memory(BYTES), 0, BYTES);
    CUgraph graph = make_graph();
    CUgraphExec exec;
    CUgraphNode node;

    copy.source_type = CXU_MEMORYTYPE_HOST;
    copy.source_host = page;
    ck_success(cx_emu_call_graph_add_memcpy_node(&node, graph, NULL, 0, &copy, work_context));
    exec = make_exec(graph);
    launch_and_wait(exec, stream);
    ck_assert_int_eq(users_of(page), -1);
    ck_success(cx_emu_call_mem_host_register(page, sizeof page, 0));
    gate_put(&gate, stream);
    ck_success(cx_emu_call_graph_launch(exec, stream));
    ck_assert_int_eq(users_of(page), 1);
    gate_open(&gate);
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_success(cx_emu_call_mem_host_unregister(page));
    drop_exec(exec);
    drop(graph);
}
END_TEST

START_TEST(nodes_of_a_context_that_is_gone_do_not_run)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUgraph graph = make_graph();
    cxu_memset_node_params params;
    CUcontext other, popped;
    CUgraphExec exec;
    CUgraphNode node;

    ck_success(cx_emu_call_ctx_create_v4(&other, NULL, 0, 1));
    ck_success(cx_emu_call_ctx_enable_peer_access(work_context, 0));
    ck_success(cx_emu_call_ctx_pop(&popped));
    params = byte_fill(make_memory(BYTES), 1);
    ck_success(cx_emu_call_graph_add_memset_node(&node, graph, NULL, 0, &params, other));
    exec = make_exec(graph);
    launch_and_wait(exec, stream);
    ck_success(cx_emu_call_ctx_destroy(other));
    ck_result(cx_emu_call_graph_launch(exec, stream), CONTEXT_IS_DESTROYED);
    drop_exec(exec);
    drop(graph);
}
END_TEST

START_TEST(nodes_of_an_event_that_is_gone_do_not_run)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();
    CUgraph graph = make_graph();
    CUgraphExec exec;
    CUgraphNode node;

    ck_success(cx_emu_call_graph_add_event_record_node(&node, graph, NULL, 0, event));
    exec = make_exec(graph);
    ck_success(cx_emu_call_event_destroy(event));
    ck_result(cx_emu_call_graph_launch(exec, stream), INVALID_HANDLE);
    drop_exec(exec);
    drop(graph);
}
END_TEST

START_TEST(a_context_may_be_destroyed_while_a_launch_runs_in_it)
{
    stream_gate gate = GATE_CLOSED;
    CUgraph graph = make_graph();
    CUgraphExec exec;
    CUcontext other;
    CUstream stream;

    add_gate(graph, &gate);
    exec = make_exec(graph);
    ck_success(cx_emu_call_ctx_create_v4(&other, NULL, 0, 1));
    stream = make_stream(CXU_STREAM_DEFAULT);
    ck_success(cx_emu_call_graph_launch(exec, stream));
    gate_wait_entered(&gate);
    gate_open(&gate);
    ck_success(cx_emu_call_ctx_destroy(other));
    ck_result(cx_emu_call_graph_launch(exec, stream), INVALID_HANDLE);
    drop_exec(exec);
    drop(graph);
}
END_TEST

/* ---- order ---- */

/* A launch may run its nodes in any order that the edges allow; what depends comes behind. */
static void ck_edges_hold(CUstream stream)
{
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter letters[16];
    CUgraph graph = make_graph();
    CUgraphNode nodes[16];
    CUgraphExec exec;

    for (int i = 0; i < 16; i++) {
        CUgraphNode before[] = {nodes[i / 2], nodes[i / 4]};
        size_t count = i == 0 ? 0 : i / 2 == i / 4 ? 1 : 2;

        letters[i] = (graph_letter){&journal, (char)('a' + i)};
        nodes[i] = add_letter(graph, &letters[i], i == 0 ? NULL : before, count);
    }
    exec = make_exec(graph);
    for (int round = 0; round < 3; round++) {
        int at[16];

        memset(journal.letters, 0, sizeof journal.letters);
        journal.length = 0;
        launch_and_wait(exec, stream);
        ck_assert_int_eq(journal.length, 16);
        for (int i = 0; i < 16; i++)
            at[journal.letters[i] - 'a'] = i;
        for (int i = 1; i < 16; i++)
            ck_assert_int_lt(at[i / 2], at[i]);
    }
    drop_exec(exec);
    drop(graph);
}

START_TEST(a_launch_keeps_to_the_edges)
{
    ck_edges_hold(make_stream(CXU_STREAM_NON_BLOCKING));
    ck_edges_hold(NULL);
}
END_TEST

/* ---- under the other schedules: each test has a process of its own ---- */

static CUgraphExec make_independent(graph_letter *letters, int count, stream_journal *journal)
{
    CUgraph graph = make_graph();
    CUgraphExec exec;

    for (int i = 0; i < count; i++) {
        letters[i] = (graph_letter){journal, (char)('a' + i)};
        add_letter(graph, &letters[i], NULL, 0);
    }
    exec = make_exec(graph);
    drop(graph);
    return exec;
}

START_TEST(a_lazy_launch_runs_when_something_waits_for_it)
{
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a, x = {&journal, 'x'};
    CUgraphExec exec = make_independent(&a, 1, &journal);
    CUstream first = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream second = make_stream(CXU_STREAM_NON_BLOCKING);

    ck_success(cx_emu_call_graph_launch(exec, first));
    letter_put(&x, second);
    ck_success(cx_emu_call_stream_synchronize(second));
    ck_journal(&journal, "x");
    ck_success(cx_emu_call_stream_synchronize(first));
    ck_journal(&journal, "xa");
    drop_exec(exec);
}
END_TEST

START_TEST(nodes_that_nothing_orders_run_in_random_orders)
{
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter letters[8];
    CUgraphExec exec = make_independent(letters, 8, &journal);
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    char first[64];
    int others = 0;

    for (int round = 0; round < 10; round++) {
        memset(journal.letters, 0, sizeof journal.letters);
        journal.length = 0;
        launch_and_wait(exec, stream);
        ck_assert_uint_eq(strspn(journal.letters, "abcdefgh"), 8);
        if (round == 0)
            memcpy(first, journal.letters, sizeof first);
        others += strcmp(first, journal.letters) != 0;
    }
    ck_assert_int_gt(others, 5);
    drop_exec(exec);
}
END_TEST

static void lazy(void)
{
    ck_assert_int_eq(setenv("CTXRT_EMU_SCHEDULE", "lazy", 1), 0);
    graph_setup();
}

static void random_order(void)
{
    ck_assert_int_eq(setenv("CTXRT_EMU_SCHEDULE", "random:5", 1), 0);
    graph_setup();
}

static Suite *graph_exec_suite(void)
{
    Suite *suite = suite_create("graph_exec");
    TCase *tcase = tcase_create("graph_exec");

    tcase_add_checked_fixture(tcase, graph_setup, graph_teardown);
    tcase_add_test(tcase, an_empty_graph_is_launched_and_does_nothing);
    tcase_add_test(tcase, a_cycle_is_not_instantiated);
    tcase_add_test(tcase, flags_are_kept_and_checked);
    tcase_add_test(tcase, stale_and_foreign_executable_graphs_are_refused);
    tcase_add_test(tcase, an_executable_graph_outlives_its_graph);
    tcase_add_test(tcase, a_launch_stands_in_its_stream_like_one_piece_of_work);
    tcase_add_test(tcase, a_launch_in_the_legacy_stream_waits_for_blocking_streams_and_they_for_it);
    tcase_add_test(tcase, a_launch_uses_the_memory_until_it_is_done);
    tcase_add_test(tcase, a_launch_that_cannot_be_done_does_nothing_of_it);
    tcase_add_test(tcase, a_launch_finds_what_was_freed_since_the_last);
    tcase_add_test(tcase, a_launch_uses_host_memory_that_was_registered_since_the_last);
    tcase_add_test(tcase, nodes_of_a_context_that_is_gone_do_not_run);
    tcase_add_test(tcase, nodes_of_an_event_that_is_gone_do_not_run);
    tcase_add_test(tcase, a_launch_keeps_to_the_edges);
    suite_add_tcase(suite, tcase);

    /* Only with the schedule "threads". */
    tcase = tcase_create("in flight");
    tcase_set_tags(tcase, "pool");
    tcase_add_checked_fixture(tcase, graph_setup, graph_teardown);
    tcase_add_test(tcase, launches_of_one_executable_graph_come_one_after_the_other);
    tcase_add_test(tcase,
                   a_graph_of_tiny_work_is_done_when_its_launch_returns_if_nothing_is_before_it);
    tcase_add_test(tcase, an_executable_graph_may_be_destroyed_in_flight);
    tcase_add_test(tcase, a_context_may_be_destroyed_while_a_launch_runs_in_it);
    suite_add_tcase(suite, tcase);

    tcase = tcase_create("lazy");
    tcase_add_checked_fixture(tcase, lazy, graph_teardown);
    tcase_add_test(tcase, a_lazy_launch_runs_when_something_waits_for_it);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("random");
    tcase_add_checked_fixture(tcase, random_order, graph_teardown);
    tcase_add_test(tcase, nodes_that_nothing_orders_run_in_random_orders);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(graph_exec_suite);
