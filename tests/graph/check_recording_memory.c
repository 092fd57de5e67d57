/* The memory of recorded graphs: valid and private as long as the graph lives, given back when it
 * is gone. */
#include "operators.h"

enum { BYTES = 16 << 10, EAGER = 16 };

/* out = in + in + ...: a chain of copies through scratch memory, each link an operator. */
typedef struct link {
    void *to;
    const void *from;
    unsigned char value; /* where there is no `from` */
} link;

static ctxrt_status run_link(void *argument)
{
    const link *self = argument;
    return self->from == NULL
               ? ctxrt_fill_async(self->to, self->value, BYTES, NULL)
               : ctxrt_copy_async(self->to, self->from, BYTES, CTXRT_COPY_DEVICE_TO_DEVICE, NULL);
}

static void *alloc(void)
{
    void *pointer;
    cx_assert_ok(ctxrt_alloc(BYTES, &pointer));
    return pointer;
}

static void submit_link(link *self, void *to, const void *from, unsigned char value)
{
    *self = (link){to, from, value};
    submit_plain(run_link, self, 1);
}

static void assert_filled(const void *memory, unsigned char value)
{
    static unsigned char bytes[BYTES];
    cx_assert_ok(ctxrt_copy(bytes, memory, BYTES, CTXRT_COPY_DEVICE_TO_HOST));
    size_t same = 0;
    while (same < BYTES && bytes[same] == value)
        same++;
    ck_assert_msg(same == BYTES, "byte %zu is not %d", same, value);
}

static void launch(ctxrt_graph *graph)
{
    cx_assert_ok(ctxrt_graph_launch(graph, NULL));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
}

/* Defects 5, 6 and 8 of the system that went before: memory from before the recording was used in
 * it unpinned, trim freed it under a live graph, and the graph's scratch was handed to later eager
 * allocations, which replays overwrote. */
START_TEST(eager_memory_and_the_memory_of_a_graph_leave_each_other_alone)
{
    link links[4];
    void *eager[EAGER], *result = alloc(), *before = alloc();
    uint64_t released;
    cx_assert_ok(ctxrt_recording_start(NULL));
    submit_link(&links[0], before, NULL, 7);
    void *scratch = alloc();
    submit_link(&links[1], scratch, before, 0);
    cx_assert_ok(ctxrt_free(before));
    void *again = alloc(); /* may be `before`, whose last reader comes earlier */
    submit_link(&links[2], again, scratch, 0);
    cx_assert_ok(ctxrt_free(scratch));
    submit_link(&links[3], result, again, 0);
    cx_assert_ok(ctxrt_free(again));
    ctxrt_graph *graph = stop_recording();

    cx_assert_ok(ctxrt_allocator_trim(NULL, &released));
    for (int i = 0; i < EAGER; i++) {
        eager[i] = alloc();
        ck_assert_ptr_ne(eager[i], before);
        ck_assert_ptr_ne(eager[i], scratch);
        ck_assert_ptr_ne(eager[i], again);
        cx_assert_ok(ctxrt_fill(eager[i], 100 + i, BYTES));
    }
    for (int i = 0; i < 3; i++) {
        cx_assert_ok(ctxrt_fill(result, 0, BYTES));
        launch(graph);
        assert_filled(result, 7);
    }
    for (int i = 0; i < EAGER; i++) {
        assert_filled(eager[i], (unsigned char)(100 + i));
        cx_assert_ok(ctxrt_free(eager[i]));
    }
    launch(graph);
    assert_filled(result, 7);
    cx_assert_ok(ctxrt_graph_release(graph));
    cx_assert_ok(ctxrt_free(result));
    ck_assert_uint_eq(bytes_in_use(), 0);
}
END_TEST

/* Defect 7: pins were never cleared, so the memory was lost after the graph was gone. */
START_TEST(all_memory_comes_back_when_the_last_graph_is_gone)
{
    link filling;
    for (int round = 0; round < 20; round++) {
        ctxrt_graph *clone;
        cx_assert_ok(ctxrt_recording_start(NULL));
        void *scratch = alloc(), *result = alloc();
        submit_link(&filling, scratch, NULL, 3);
        cx_assert_ok(ctxrt_free(scratch));
        ctxrt_graph *graph = stop_recording();
        cx_assert_ok(ctxrt_graph_clone(graph, &clone));
        cx_assert_ok(ctxrt_graph_release(graph));
        ck_assert_uint_eq(bytes_in_use(), 2 * BYTES);
        launch(clone);
        cx_assert_ok(ctxrt_free(result));
        ck_assert_uint_eq(bytes_in_use(), 2 * BYTES);
        cx_assert_ok(ctxrt_graph_release(clone));
        ck_assert_uint_eq(bytes_in_use(), 0);
    }
}
END_TEST

START_TEST(a_result_outlives_its_graph)
{
    link filling;
    ctxrt_memory *result;
    cx_assert_ok(ctxrt_recording_start(NULL));
    cx_assert_ok(ctxrt_memory_alloc(BYTES, &result));
    submit_link(&filling, ctxrt_memory_pointer(result), NULL, 9);
    ctxrt_graph *graph = stop_recording();
    launch(graph);
    cx_assert_ok(ctxrt_graph_release(graph));
    assert_filled(ctxrt_memory_pointer(result), 9);
    cx_assert_ok(ctxrt_memory_release(result));
    ck_assert_uint_eq(bytes_in_use(), 0);
}
END_TEST

static void *seen_scratch;

/* Uses scratch of its own while it is captured. */
static ctxrt_status fill_through_scratch(void *argument)
{
    const link *self = argument;
    ctxrt_status status = ctxrt_alloc(BYTES, &seen_scratch);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_fill_async(self->to, self->value, BYTES, NULL);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_fill_async(seen_scratch, 0xee, BYTES, NULL);
    return status == CTXRT_SUCCESS ? ctxrt_free(seen_scratch) : status;
}

START_TEST(scratch_of_an_operator_is_not_what_a_later_one_reads)
{
    void *result = alloc();
    link filling, reading;
    cx_assert_ok(ctxrt_recording_start(NULL));
    void *between = alloc();
    filling = (link){between, NULL, 5};
    submit_plain(fill_through_scratch, &filling, 1);
    submit_link(&reading, result, between, 0);
    cx_assert_ok(ctxrt_free(between)); /* free for later ones, not for those before */
    ctxrt_graph *graph = stop_recording();
    ck_assert_ptr_ne(seen_scratch, between);
    launch(graph);
    assert_filled(result, 5);
    cx_assert_ok(ctxrt_graph_release(graph));
    cx_assert_ok(ctxrt_free(result));
}
END_TEST

START_TEST(operators_share_their_scratch_within_a_recording)
{
    void *result = alloc(), *first;
    link filling[2] = {{result, NULL, 1}, {result, NULL, 2}};
    cx_assert_ok(ctxrt_recording_start(NULL));
    submit_plain(fill_through_scratch, &filling[0], 1);
    cx_assert_ok(ctxrt_graph_release(stop_recording()));
    cx_assert_ok(ctxrt_recording_start(NULL));
    submit_plain(fill_through_scratch, &filling[0], 1);
    submit_plain(fill_through_scratch, &filling[1], 1);
    ctxrt_graph *graph = stop_recording();
    first = seen_scratch;
    ck_assert_uint_eq(bytes_in_use(), 2 * BYTES);
    launch(graph);
    assert_filled(result, 2);
    ck_assert_ptr_nonnull(first);
    cx_assert_ok(ctxrt_graph_release(graph));
    cx_assert_ok(ctxrt_free(result));
    ck_assert_uint_eq(bytes_in_use(), 0);
}
END_TEST

/* Operators are captured at the stop, with the allocator that their frame has then. */
START_TEST(a_graph_keeps_the_allocator_of_the_stop_in_use)
{
    void *result = alloc();
    ctxrt_allocator *allocator;
    link filling = {result, NULL, 3};
    cx_assert_ok(ctxrt_allocator_create(NULL, &allocator));
    cx_assert_ok(ctxrt_recording_start(NULL));
    submit_plain(fill_through_scratch, &filling, 1);
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    ctxrt_graph *graph = stop_recording();
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_error(ctxrt_allocator_destroy(allocator), CTXRT_ERROR_IN_USE);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "kept by a graph"));
    cx_assert_ok(ctxrt_graph_release(graph));
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    cx_assert_ok(ctxrt_free(result));
}
END_TEST

static ctxrt_graph *record_through_scratch(ctxrt_graph *shared, void *result, unsigned char value,
                                           link links[2])
{
    ctxrt_recording_options options = CTXRT_RECORDING_OPTIONS_INIT;
    options.share_memory_with = shared;
    cx_assert_ok(ctxrt_recording_start(&options));
    void *scratch = alloc();
    submit_link(&links[0], scratch, NULL, value);
    submit_link(&links[1], result, scratch, 0);
    cx_assert_ok(ctxrt_free(scratch));
    return stop_recording();
}

START_TEST(graphs_share_scratch_only_where_their_owner_says_so)
{
    link links[3][2];
    void *results[3] = {alloc(), alloc(), alloc()};
    ctxrt_graph *first = record_through_scratch(NULL, results[0], 1, links[0]);
    ctxrt_graph *apart = record_through_scratch(NULL, results[1], 2, links[1]);
    ck_assert_uint_eq(bytes_in_use(), 5 * BYTES);
    ctxrt_graph *sharing = record_through_scratch(first, results[2], 3, links[2]);
    ck_assert_uint_eq(bytes_in_use(), 5 * BYTES);
    launch(first);
    launch(sharing);
    launch(apart);
    launch(first);
    for (int i = 0; i < 3; i++)
        assert_filled(results[i], (unsigned char)(i + 1));
    cx_assert_ok(ctxrt_graph_release(first));
    ck_assert_uint_eq(bytes_in_use(), 5 * BYTES);
    cx_assert_ok(ctxrt_graph_release(apart));
    ck_assert_uint_eq(bytes_in_use(), 4 * BYTES);
    launch(sharing);
    cx_assert_ok(ctxrt_graph_release(sharing));
    ck_assert_uint_eq(bytes_in_use(), 3 * BYTES);
    for (int i = 0; i < 3; i++)
        cx_assert_ok(ctxrt_free(results[i]));
}
END_TEST

START_TEST(memory_is_shared_with_recorded_graphs_of_the_same_context_only)
{
    ctxrt_graph *captured, *recorded;
    ctxrt_recording_options options = CTXRT_RECORDING_OPTIONS_INIT;
    cx_assert_ok(ctxrt_recording_start(NULL));
    recorded = stop_recording();
    cx_assert_ok(ctxrt_stream_capture_begin(NULL, CTXRT_CAPTURE_RELAXED));
    cx_assert_ok(ctxrt_stream_capture_end(NULL, &captured));
    options.share_memory_with = captured;
    cx_assert_error(ctxrt_recording_start(&options), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_device_push(there));
    options.share_memory_with = recorded;
    cx_assert_error(ctxrt_recording_start(&options), CTXRT_ERROR_WRONG_CONTEXT);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_graph_release(captured));
    cx_assert_ok(ctxrt_graph_release(recorded));
    cx_assert_error(ctxrt_recording_start(&options), CTXRT_ERROR_INVALID_HANDLE);
    ck_assert_int_eq(is_recording(), 0);
}
END_TEST

static ctxrt_status submit_mark(void *argument)
{
    return ctxrt_stream_add_host_function(NULL, mark, argument);
}

START_TEST(the_first_launch_waits_for_what_used_the_memory_before)
{
    gate closed;
    atomic_int marks = 0;
    ctxrt_graph *clone;
    ctxrt_stream *own = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_stream *other = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_stream *free_one = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_frame_set_stream(own));
    void *memory = alloc();
    gate_close(&closed, own);
    cx_assert_ok(ctxrt_recording_start(NULL));
    submit_plain(submit_mark, &marks, 1);
    ctxrt_graph *graph = stop_recording();
    cx_assert_ok(ctxrt_graph_clone(graph, &clone));
    cx_assert_ok(ctxrt_graph_launch(graph, other));
    cx_assert_ok(ctxrt_graph_launch(clone, other));
    give_others_a_chance(free_one);
    ck_assert_int_eq(atomic_load(&marks), 0);
    gate_open(&closed);
    cx_assert_ok(ctxrt_stream_synchronize(other));
    ck_assert_int_eq(atomic_load(&marks), 2);
    cx_assert_ok(ctxrt_graph_release(graph));
    cx_assert_ok(ctxrt_graph_release(clone));
    cx_assert_ok(ctxrt_free(memory));
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_stream_destroy(own));
    cx_assert_ok(ctxrt_stream_destroy(other));
    cx_assert_ok(ctxrt_stream_destroy(free_one));
}
END_TEST

/* Memory that the first stream's work still uses is the graph's: freed, and used again, before the
 * frame had another stream, or allocated anew. */
START_TEST(the_first_launch_waits_for_every_stream_that_the_frame_had_memory_in)
{
    gate closed;
    atomic_int marks = 0;
    ctxrt_stream *first = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_stream *last = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_stream *other = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_stream *free_one = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_frame_set_stream(first));
    void *memory = alloc();
    if (_i == 1)
        cx_assert_ok(ctxrt_free(memory));
    gate_close(&closed, first);
    cx_assert_ok(ctxrt_recording_start(NULL));
    if (_i == 0)
        cx_assert_ok(ctxrt_free(memory));
    ck_assert_ptr_eq(alloc(), memory);
    cx_assert_ok(ctxrt_frame_set_stream(last));
    submit_plain(submit_mark, &marks, 1);
    ctxrt_graph *graph = stop_recording();
    cx_assert_ok(ctxrt_graph_launch(graph, other));
    give_others_a_chance(free_one);
    ck_assert_int_eq(atomic_load(&marks), 0);
    gate_open(&closed);
    cx_assert_ok(ctxrt_stream_synchronize(other));
    ck_assert_int_eq(atomic_load(&marks), 1);
    cx_assert_ok(ctxrt_graph_release(graph));
    cx_assert_ok(ctxrt_free(memory));
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_stream_destroy(first));
    cx_assert_ok(ctxrt_stream_destroy(last));
    cx_assert_ok(ctxrt_stream_destroy(other));
    cx_assert_ok(ctxrt_stream_destroy(free_one));
}
END_TEST

/* Only the whole context knows of the work of a stream that is gone, and to wait for that would end
 * every capture in it. */
START_TEST(a_capture_goes_on_where_a_stream_of_a_recording_is_gone)
{
    atomic_int marks = 0;
    ctxrt_graph *captured;
    ctxrt_stream *first = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_stream *last = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_stream *capturing = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_frame_set_stream(first));
    cx_assert_ok(ctxrt_recording_start(NULL));
    void *memory = alloc();
    cx_assert_ok(ctxrt_frame_set_stream(last));
    submit_plain(submit_mark, &marks, 1);
    cx_assert_ok(ctxrt_stream_destroy(first));
    cx_assert_ok(ctxrt_stream_capture_begin(capturing, CTXRT_CAPTURE_RELAXED));
    ctxrt_graph *graph = stop_recording();
    cx_assert_error(ctxrt_graph_launch(graph, last), CTXRT_ERROR_NOT_PERMITTED);
    cx_assert_ok(ctxrt_stream_capture_end(capturing, &captured));
    cx_assert_ok(ctxrt_graph_launch(graph, last));
    cx_assert_ok(ctxrt_stream_synchronize(last));
    ck_assert_int_eq(atomic_load(&marks), 1);
    cx_assert_ok(ctxrt_graph_release(captured));
    cx_assert_ok(ctxrt_graph_release(graph));
    cx_assert_ok(ctxrt_free(memory));
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_stream_destroy(last));
    cx_assert_ok(ctxrt_stream_destroy(capturing));
}
END_TEST

/* Nothing can be recorded in the stream, and its work of before the capture may use the memory. */
START_TEST(the_first_launch_is_refused_while_a_stream_that_had_its_memory_captures)
{
    atomic_int marks = 0;
    ctxrt_graph *captured;
    ctxrt_stream *own = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_stream *other = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_frame_set_stream(own));
    cx_assert_ok(ctxrt_recording_start(NULL));
    void *memory = alloc();
    submit_plain(submit_mark, &marks, 1);
    cx_assert_ok(ctxrt_stream_capture_begin(own, CTXRT_CAPTURE_RELAXED));
    ctxrt_graph *graph = stop_recording();
    cx_assert_error(ctxrt_graph_launch(graph, other), CTXRT_ERROR_NOT_PERMITTED);
    cx_assert_ok(ctxrt_stream_capture_end(own, &captured));
    cx_assert_ok(ctxrt_graph_launch(graph, other));
    cx_assert_ok(ctxrt_stream_synchronize(other));
    ck_assert_int_eq(atomic_load(&marks), 1);
    cx_assert_ok(ctxrt_graph_release(captured));
    cx_assert_ok(ctxrt_graph_release(graph));
    cx_assert_ok(ctxrt_free(memory));
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_stream_destroy(own));
    cx_assert_ok(ctxrt_stream_destroy(other));
}
END_TEST

static void *open_gate(void *argument)
{
    gate_open(argument);
    return NULL;
}

START_TEST(releasing_a_recorded_graph_waits_for_the_work_that_uses_its_memory)
{
    gate closed;
    atomic_int marks = 0;
    pthread_t thread;
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_recording_start(NULL));
    link filling;
    void *scratch = alloc();
    submit_link(&filling, scratch, NULL, 1);
    cx_assert_ok(ctxrt_free(scratch));
    submit_plain(submit_mark, &marks, 1);
    ctxrt_graph *graph = stop_recording();
    gate_close(&closed, stream);
    cx_assert_ok(ctxrt_graph_launch(graph, stream));
    ck_assert_int_eq(pthread_create(&thread, NULL, open_gate, &closed), 0);
    cx_assert_ok(ctxrt_graph_release(graph));
    ck_assert_int_eq(atomic_load(&marks), 1);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    cx_assert_ok(ctxrt_stream_destroy(stream));
    ck_assert_uint_eq(bytes_in_use(), 0);
}
END_TEST

START_TEST(memory_of_a_recording_is_used_again_only_behind_its_recorded_streams)
{
    gate closed;
    pthread_t thread;
    ctxrt_memory *memory;
    ctxrt_stream *other = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_recording_start(NULL));
    cx_assert_ok(ctxrt_memory_alloc(BYTES, &memory));
    gate_close(&closed, other);
    cx_assert_ok(ctxrt_fill_async(ctxrt_memory_pointer(memory), 1, BYTES, other));
    cx_assert_ok(ctxrt_memory_record_stream(memory, other));
    ck_assert_int_eq(pthread_create(&thread, NULL, open_gate, &closed), 0);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_stream_query(other));
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    cx_assert_ok(ctxrt_recording_cancel());
    cx_assert_ok(ctxrt_stream_destroy(other));
}
END_TEST

static void release_memory(void *argument)
{
    ctxrt_status status = ctxrt_memory_release(argument);
    (void)status;
}

static ctxrt_status fill_memory(void *argument)
{
    return ctxrt_fill_async(ctxrt_memory_pointer(argument), 4, BYTES, NULL);
}

START_TEST(an_operator_gives_back_its_own_memory_when_it_ends)
{
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_recording_start(NULL));
    cx_assert_ok(ctxrt_memory_alloc(BYTES, &memory));
    const ctxrt_operator operation = {sizeof operation, "fill", fill_memory,
                                      release_memory,   memory, 1};
    cx_assert_ok(ctxrt_operator_submit(&operation));
    ctxrt_graph *graph = stop_recording();
    launch(graph);
    assert_filled(ctxrt_memory_pointer(memory), 4);
    cx_assert_ok(ctxrt_graph_release(graph));
    ck_assert_uint_eq(bytes_in_use(), 0);
}
END_TEST

/* The second recording's stream is not behind the work of the first one's, which a gate holds. */
START_TEST(shared_memory_is_not_given_to_another_stream_while_work_uses_it)
{
    gate closed;
    ctxrt_recording_options options = CTXRT_RECORDING_OPTIONS_INIT;
    ctxrt_stream *first = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_stream *other = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_frame_set_stream(first));
    cx_assert_ok(ctxrt_recording_start(NULL));
    void *before = alloc();
    gate_close(&closed, first);
    cx_assert_ok(ctxrt_fill_async(before, 1, BYTES, first));
    cx_assert_ok(ctxrt_free(before));
    ctxrt_graph *graph = stop_recording();
    cx_assert_ok(ctxrt_frame_set_stream(other));
    options.share_memory_with = graph;
    cx_assert_ok(ctxrt_recording_start(&options));
    void *after = alloc();
    cx_assert_ok(ctxrt_fill_async(after, 2, BYTES, other));
    cx_assert_ok(ctxrt_stream_synchronize(other));
    gate_open(&closed);
    cx_assert_ok(ctxrt_stream_synchronize(first));
    assert_filled(after, 2);
    cx_assert_ok(ctxrt_frame_set_stream(first));
    ck_assert_ptr_eq(alloc(), before);
    cx_assert_ok(ctxrt_free(before));
    cx_assert_ok(ctxrt_recording_cancel());
    cx_assert_ok(ctxrt_free(after));
    cx_assert_ok(ctxrt_graph_release(graph));
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_stream_destroy(first));
    cx_assert_ok(ctxrt_stream_destroy(other));
    ck_assert_uint_eq(bytes_in_use(), 0);
}
END_TEST

static void assert_known(const void *pointer, size_t size_bytes)
{
    ctxrt_pointer_info info;
    cx_assert_ok(ctxrt_pointer_query(pointer, &info));
    ck_assert_int_eq(info.known, size_bytes != 0);
    ck_assert_uint_eq(info.size_bytes, size_bytes);
    ck_assert_ptr_eq(info.base, size_bytes != 0 ? pointer : NULL);
}

/* A block of before the recording serves a smaller request of it, and again after that. */
START_TEST(memory_that_a_recording_uses_again_is_known_by_its_address)
{
    ctxrt_memory *before, *object;
    void *raw;
    cx_assert_ok(ctxrt_memory_alloc(BYTES, &before));
    const void *address = ctxrt_memory_pointer(before);
    cx_assert_ok(ctxrt_recording_start(NULL));
    cx_assert_ok(ctxrt_memory_release(before));
    cx_assert_ok(ctxrt_memory_alloc(BYTES - 1000, &object));
    ck_assert_ptr_eq(ctxrt_memory_pointer(object), address);
    assert_known(address, BYTES - 1000);
    cx_assert_ok(ctxrt_memory_release(object));
    cx_assert_ok(ctxrt_alloc(BYTES - 2000, &raw));
    ck_assert_ptr_eq(raw, address);
    ctxrt_graph *graph = stop_recording();
    assert_known(raw, BYTES - 2000);
    cx_assert_ok(ctxrt_graph_release(graph));
    assert_known(raw, BYTES - 2000);
    cx_assert_ok(ctxrt_free(raw));
    assert_known(address, 0);
    ck_assert_uint_eq(bytes_in_use(), 0);
}
END_TEST

static void add_tests(TCase *tests)
{
    tcase_add_test(tests, eager_memory_and_the_memory_of_a_graph_leave_each_other_alone);
    tcase_add_test(tests, all_memory_comes_back_when_the_last_graph_is_gone);
    tcase_add_test(tests, a_result_outlives_its_graph);
    tcase_add_test(tests, scratch_of_an_operator_is_not_what_a_later_one_reads);
    tcase_add_test(tests, operators_share_their_scratch_within_a_recording);
    tcase_add_test(tests, a_graph_keeps_the_allocator_of_the_stop_in_use);
    tcase_add_test(tests, graphs_share_scratch_only_where_their_owner_says_so);
    tcase_add_test(tests, shared_memory_is_not_given_to_another_stream_while_work_uses_it);
    tcase_add_test(tests, memory_is_shared_with_recorded_graphs_of_the_same_context_only);
    tcase_add_test(tests, the_first_launch_waits_for_what_used_the_memory_before);
    tcase_add_loop_test(tests, the_first_launch_waits_for_every_stream_that_the_frame_had_memory_in,
                        0, 2);
    tcase_add_test(tests, a_capture_goes_on_where_a_stream_of_a_recording_is_gone);
    tcase_add_test(tests, the_first_launch_is_refused_while_a_stream_that_had_its_memory_captures);
    tcase_add_test(tests, releasing_a_recorded_graph_waits_for_the_work_that_uses_its_memory);
    tcase_add_test(tests, memory_of_a_recording_is_used_again_only_behind_its_recorded_streams);
    tcase_add_test(tests, memory_that_a_recording_uses_again_is_known_by_its_address);
    tcase_add_test(tests, an_operator_gives_back_its_own_memory_when_it_ends);
}

static Suite *memory_suite(void)
{
    Suite *suite = suite_create("recording_memory");
    place_add_everywhere(suite, add_tests);
    return suite;
}

CX_TESTS_TOGETHER(memory_suite);
