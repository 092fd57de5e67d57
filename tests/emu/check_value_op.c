/* Streams that write values to memory, and wait for them (T16). */
#include "work_fixture.h"

#include <string.h>

#define WORDS 8

static CUdeviceptr words;
static CUstream one, other;

static void setup(void)
{
    work_setup();
    words = make_memory(WORDS * sizeof(uint64_t));
    ck_success(cx_emu_call_memset_d8(words, 0, WORDS * sizeof(uint64_t)));
    ck_success(cx_emu_call_ctx_synchronize());
    one = make_stream(CXU_STREAM_NON_BLOCKING);
    other = make_stream(CXU_STREAM_NON_BLOCKING);
}

static uint32_t word_at(CUdeviceptr at)
{
    uint32_t found;

    read_device(&found, at, sizeof found);
    return found;
}

START_TEST(a_stream_writes_values_of_both_widths)
{
    uint64_t found;

    ck_success(cx_emu_call_stream_write_value_32(one, words, 7, CXU_STREAM_WRITE_VALUE_DEFAULT));
    ck_success(cx_emu_call_stream_write_value_64(one, words + 8, 0x123456789abcdefu,
                                                 CXU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
    ck_success(cx_emu_call_stream_synchronize(one));
    ck_assert_uint_eq(word_at(words), 7);
    read_device(&found, words + 8, sizeof found);
    ck_assert_uint_eq(found, 0x123456789abcdefu);
}
END_TEST

START_TEST(a_stream_waits_until_another_writes_the_value)
{
    ck_success(cx_emu_call_stream_wait_value_32(one, words, 3, CXU_STREAM_WAIT_VALUE_GEQ));
    ck_success(cx_emu_call_stream_write_value_32(one, words + 4, 1, 0));
    ck_result(cx_emu_call_stream_query(one), NOT_READY);
    ck_success(cx_emu_call_stream_write_value_32(other, words, 2, 0));
    ck_success(cx_emu_call_stream_synchronize(other));
    ck_result(cx_emu_call_stream_query(one), NOT_READY);
    ck_assert_uint_eq(word_at(words + 4), 0);
    ck_success(cx_emu_call_stream_write_value_32(other, words, 4, 0));
    ck_success(cx_emu_call_stream_synchronize(one));
    ck_assert_uint_eq(word_at(words + 4), 1);
}
END_TEST

/* Under every schedule, though neither stream was waited for. */
START_TEST(two_streams_hand_a_value_to_and_fro)
{
    for (uint32_t turn = 1; turn < 9; turn += 2) {
        ck_success(cx_emu_call_stream_wait_value_32(one, words, turn, CXU_STREAM_WAIT_VALUE_EQ));
        ck_success(cx_emu_call_stream_write_value_32(one, words, turn + 1, 0));
        ck_success(cx_emu_call_stream_write_value_32(other, words, turn, 0));
        ck_success(
            cx_emu_call_stream_wait_value_32(other, words, turn + 1, CXU_STREAM_WAIT_VALUE_EQ));
    }
    ck_success(cx_emu_call_stream_synchronize(one));
    ck_success(cx_emu_call_stream_synchronize(other));
    ck_assert_uint_eq(word_at(words), 8);
}
END_TEST

START_TEST(the_host_ends_a_wait_through_pinned_memory)
{
    uint64_t *shared;

    ck_success(cx_emu_call_mem_host_alloc((void **)&shared, 64, 0));
    memset(shared, 0, 64);
    ck_success(cx_emu_call_stream_wait_value_64(one, (uintptr_t)shared, 4,
                                                CXU_STREAM_WAIT_VALUE_AND));
    ck_success(cx_emu_call_stream_write_value_64(one, (uintptr_t)(shared + 1), 9, 0));
    ck_result(cx_emu_call_stream_query(one), NOT_READY);
    __atomic_store_n(shared, 12, __ATOMIC_SEQ_CST);
    ck_success(cx_emu_call_stream_synchronize(one));
    ck_assert_uint_eq(shared[1], 9);
    ck_success(cx_emu_call_mem_free_host(shared));
}
END_TEST

START_TEST(each_condition_is_what_it_says)
{
    static const struct {
        uint32_t found, wanted;
        unsigned int condition;
        bool holds;
    } rows[] = {
        {5, 5, CXU_STREAM_WAIT_VALUE_GEQ, true},
        {0x80000000u, 0x7fffffffu, CXU_STREAM_WAIT_VALUE_GEQ, true}, /* wrapped around */
        {4, 5, CXU_STREAM_WAIT_VALUE_GEQ, false},
        {5, 4, CXU_STREAM_WAIT_VALUE_EQ, false},
        {6, 3, CXU_STREAM_WAIT_VALUE_AND, true},
        {6, 1, CXU_STREAM_WAIT_VALUE_AND, false},
        {0xffff0000u, 0xffffu, CXU_STREAM_WAIT_VALUE_NOR, false},
        {0xffff0000u, 0xfffu, CXU_STREAM_WAIT_VALUE_NOR, true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_success(cx_emu_call_stream_write_value_32(one, words, rows[i].found, 0));
        /* or this write may come behind that of the other stream */
        ck_success(cx_emu_call_stream_synchronize(one));
        ck_success(cx_emu_call_stream_wait_value_32(one, words, rows[i].wanted,
                                                    rows[i].condition));
        if (!rows[i].holds) {
            ck_result(cx_emu_call_stream_query(one), NOT_READY);
            ck_success(cx_emu_call_stream_write_value_32(other, words, rows[i].wanted, 0));
            ck_success(cx_emu_call_stream_synchronize(other));
            if (rows[i].condition == CXU_STREAM_WAIT_VALUE_NOR) {
                ck_success(cx_emu_call_stream_write_value_32(other, words, 0, 0));
                ck_success(cx_emu_call_stream_synchronize(other));
            }
        }
        ck_success(cx_emu_call_stream_synchronize(one));
    }
}
END_TEST

START_TEST(a_batch_is_done_in_order)
{
    cxu_stream_mem_op batch[] = {
        {.type = CXU_STREAM_MEM_OP_WRITE_VALUE_32, .address = words, .value.narrow = 1},
        {.type = CXU_STREAM_MEM_OP_BARRIER},
        {.type = CXU_STREAM_MEM_OP_WAIT_VALUE_32,
         .address = words,
         .value.narrow = 1,
         .flags = CXU_STREAM_WAIT_VALUE_EQ},
        {.type = CXU_STREAM_MEM_OP_WRITE_VALUE_64, .address = words + 8, .value.wide = 2}};

    ck_success(cx_emu_call_stream_batch_mem_op(one, 4, batch, 0));
    memset(batch, 0, sizeof batch);
    ck_success(cx_emu_call_stream_synchronize(one));
    ck_assert_uint_eq(word_at(words), 1);
    ck_assert_uint_eq(word_at(words + 8), 2);
}
END_TEST

START_TEST(what_cannot_be_is_refused)
{
    cxu_stream_mem_op write = {.type = CXU_STREAM_MEM_OP_WRITE_VALUE_32, .address = words};
    cxu_stream_mem_op flush = {.type = CXU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES};
    cxu_stream_mem_op none = {.type = (cxu_stream_mem_op_type)77};
    CUdeviceptr managed;

    ck_result(cx_emu_call_stream_write_value_32(one, words + 1, 1, 0), INVALID_VALUE);
    ck_result(cx_emu_call_stream_write_value_64(one, words + 4, 1, 0), INVALID_VALUE);
    ck_result(cx_emu_call_stream_write_value_32(one, 0, 1, 0), INVALID_VALUE);
    ck_result(cx_emu_call_stream_write_value_32(one, words, 1, 2), INVALID_VALUE);
    ck_result(cx_emu_call_stream_wait_value_32(one, words, 1, 4), INVALID_VALUE);
    ck_result(cx_emu_call_stream_wait_value_32(one, words, 1, CXU_STREAM_WAIT_VALUE_FLUSH),
              NOT_SUPPORTED);
    ck_result(cx_emu_call_stream_write_value_64(one, words + WORDS * sizeof(uint64_t), 1, 0),
              INVALID_VALUE);
    ck_success(cx_emu_call_mem_alloc_managed(&managed, 64, CXU_MEM_ATTACH_GLOBAL));
    ck_result(cx_emu_call_stream_write_value_32(one, managed, 1, 0), INVALID_VALUE);
    ck_result(cx_emu_call_stream_batch_mem_op(one, 1, &write, 1), INVALID_VALUE);
    ck_result(cx_emu_call_stream_batch_mem_op(one, 0, &write, 0), INVALID_VALUE);
    ck_result(cx_emu_call_stream_batch_mem_op(one, 1, NULL, 0), INVALID_VALUE);
    ck_result(cx_emu_call_stream_batch_mem_op(one, 257, &write, 0), INVALID_VALUE);
    ck_result(cx_emu_call_stream_batch_mem_op(one, 1, &none, 0), INVALID_VALUE);
    ck_result(cx_emu_call_stream_batch_mem_op(one, 1, &flush, 0), NOT_SUPPORTED);
    ck_result(cx_emu_call_stream_write_value_32((CUstream)(void *)&write, words, 1, 0),
              INVALID_HANDLE);
    ck_success(cx_emu_call_ctx_synchronize());
    ck_assert_uint_eq(word_at(words), 0);
}
END_TEST

START_TEST(a_context_ends_though_a_stream_of_it_waits)
{
    CUcontext context;
    CUdeviceptr mine;
    CUstream stream;

    ck_success(cx_emu_call_ctx_create_v2(&context, 0, 0));
    ck_success(cx_emu_call_mem_alloc(&mine, 64));
    ck_success(cx_emu_call_memset_d8(mine, 0, 64));
    ck_success(cx_emu_call_ctx_synchronize());
    ck_success(cx_emu_call_stream_create(&stream, CXU_STREAM_NON_BLOCKING));
    ck_success(cx_emu_call_stream_wait_value_32(stream, mine, 1, CXU_STREAM_WAIT_VALUE_EQ));
    ck_success(cx_emu_call_ctx_destroy(context));
}
END_TEST

/* ---- graphs ---- */

START_TEST(captured_values_are_a_node_that_does_them_at_each_launch)
{
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node;
    size_t count = 1;
    cxu_graph_node_type type = CXU_GRAPH_NODE_TYPE_EMPTY;

    ck_success(cx_emu_call_stream_begin_capture(one, CXU_STREAM_CAPTURE_MODE_RELAXED));
    ck_success(cx_emu_call_stream_write_value_32(one, words, 5, 0));
    ck_success(cx_emu_call_stream_end_capture(one, &graph));
    ck_assert_uint_eq(word_at(words), 0);
    ck_success(cx_emu_call_graph_get_nodes(graph, &node, &count));
    ck_assert_uint_eq(count, 1);
    ck_success(cx_emu_call_graph_node_get_type(node, &type));
    ck_assert_int_eq(type, CXU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
    ck_success(cx_emu_call_graph_instantiate_with_flags(&exec, graph, 0));
    ck_success(cx_emu_call_graph_launch(exec, one));
    ck_success(cx_emu_call_stream_synchronize(one));
    ck_assert_uint_eq(word_at(words), 5);
    ck_success(cx_emu_call_graph_exec_destroy(exec));
    ck_success(cx_emu_call_graph_destroy(graph));
}
END_TEST

START_TEST(a_node_of_values_owns_a_copy_and_takes_others)
{
    cxu_stream_mem_op write = {
        .type = CXU_STREAM_MEM_OP_WRITE_VALUE_32, .address = words, .value.narrow = 1};
    cxu_batch_mem_op_node_params params = {
        .context = work_context, .count = 1, .operations = &write};
    cxu_batch_mem_op_node_params found = {0};
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;

    ck_success(cx_emu_call_graph_create(&graph, 0));
    ck_success(cx_emu_call_graph_add_batch_mem_op_node(&node, graph, NULL, 0, &params));
    write.value.narrow = 2;
    ck_success(cx_emu_call_graph_batch_mem_op_node_get_params(node, &found));
    ck_assert_uint_eq(found.count, 1);
    ck_assert_ptr_eq(found.context, work_context);
    ck_assert_ptr_ne(found.operations, &write);
    ck_assert_uint_eq(found.operations[0].value.narrow, 1);
    ck_success(cx_emu_call_graph_batch_mem_op_node_set_params(node, &params));
    ck_success(cx_emu_call_graph_instantiate_with_flags(&exec, graph, 0));
    ck_success(cx_emu_call_graph_launch(exec, one));
    ck_success(cx_emu_call_stream_synchronize(one));
    ck_assert_uint_eq(word_at(words), 2);
    write.value.narrow = 3;
    ck_success(cx_emu_call_graph_exec_batch_mem_op_node_set_params(exec, node, &params));
    ck_success(cx_emu_call_graph_launch(exec, one));
    ck_success(cx_emu_call_stream_synchronize(one));
    ck_assert_uint_eq(word_at(words), 3);
    params.context = NULL;
    ck_result(cx_emu_call_graph_add_batch_mem_op_node(&node, graph, NULL, 0, &params),
              INVALID_CONTEXT);
    ck_result(cx_emu_call_graph_add_batch_mem_op_node(&node, graph, NULL, 0, NULL),
              INVALID_VALUE);
    ck_result(cx_emu_call_graph_batch_mem_op_node_get_params(NULL, &found), INVALID_VALUE);
    ck_success(cx_emu_call_graph_exec_destroy(exec));
    ck_success(cx_emu_call_graph_destroy(graph));
}
END_TEST

static Suite *value_op_suite(void)
{
    Suite *suite = suite_create("value op");
    TCase *tests = tcase_create("value op");

    tcase_add_checked_fixture(tests, setup, work_teardown);
    tcase_add_test(tests, a_stream_writes_values_of_both_widths);
    tcase_add_test(tests, a_stream_waits_until_another_writes_the_value);
    tcase_add_test(tests, two_streams_hand_a_value_to_and_fro);
    tcase_add_test(tests, the_host_ends_a_wait_through_pinned_memory);
    tcase_add_test(tests, each_condition_is_what_it_says);
    tcase_add_test(tests, a_batch_is_done_in_order);
    tcase_add_test(tests, what_cannot_be_is_refused);
    tcase_add_test(tests, a_context_ends_though_a_stream_of_it_waits);
    tcase_add_test(tests, captured_values_are_a_node_that_does_them_at_each_launch);
    tcase_add_test(tests, a_node_of_values_owns_a_copy_and_takes_others);
    suite_add_tcase(suite, tests);
    return suite;
}

CX_TESTS(value_op_suite);
