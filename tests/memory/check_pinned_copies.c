/* Pinned host memory that work uses: whom it is given to, and when. */
#include "gate.h"
#include "pinned_memory.h"

#include <stdint.h>

/* ---- copies ---- */

/* What uses pinned memory in a stream: all of it, or some of it from the middle on. */
typedef void use_in_stream(char *pinned, void *device, ctxrt_stream *stream);

static void copy_from_within(char *pinned, void *device, ctxrt_stream *stream)
{
    cx_assert_ok(ctxrt_copy_async(device, pinned + MIB + 7, MIB, CTXRT_COPY_ANY, stream));
}

static void copy_to_host(char *pinned, void *device, ctxrt_stream *stream)
{
    cx_assert_ok(ctxrt_copy_async(pinned, device, BYTES, CTXRT_COPY_DEVICE_TO_HOST, stream));
}

static void fill_some(char *pinned, void *device, ctxrt_stream *stream)
{
    (void)device;
    cx_assert_ok(ctxrt_fill_async(pinned + 100, 1, MIB, stream));
}

static ctxrt_copy_region square(void *destination, const void *source)
{
    return (ctxrt_copy_region){.destination = destination,
                               .destination_pitch_bytes = 2048,
                               .destination_slice_height = 512,
                               .source = source,
                               .source_pitch_bytes = 2048,
                               .source_slice_height = 512,
                               .width_bytes = 1000,
                               .height = 512,
                               .depth = 2};
}

static void copy_rows(char *pinned, void *device, ctxrt_stream *stream)
{
    const ctxrt_copy_region region = square(device, pinned);
    cx_assert_ok(ctxrt_copy_2d_async(&region, stream));
}

static void copy_slices(char *pinned, void *device, ctxrt_stream *stream)
{
    const ctxrt_copy_region region = square(pinned, device);
    cx_assert_ok(ctxrt_copy_3d_async(&region, stream));
}

static use_in_stream *const uses[] = {copy_to_device, copy_from_within, copy_to_host,
                                      fill_some,      copy_rows,        copy_slices};
enum { USES = sizeof uses / sizeof uses[0] };

/* Whether memory of this size is the freed one's. What is another's is not kept: it would be taken
 * first. */
static bool comes_again(const void *pointer)
{
    ctxrt_memory *memory;
    bool same = allocate(BYTES, &memory) == pointer;
    cx_assert_ok(ctxrt_memory_release(memory));
    if (!same)
        (void)trim_here();
    return same;
}

START_TEST(what_a_stream_still_copies_is_not_given_out_in_that_stream_either)
{
    gate held;
    ctxrt_memory *memory, *on_device;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    cx_assert_ok(ctxrt_memory_alloc(BYTES, &on_device));
    char *pointer = allocate(BYTES, &memory);
    gate_close(&held, stream);
    uses[_i](pointer, ctxrt_memory_pointer(on_device), _i % 2 == 0 ? stream : NULL);
    cx_assert_ok(ctxrt_memory_release(memory));
    ck_assert(!comes_again(pointer));
    ck_assert_uint_eq(info_of(allocator_here()).requested.current_count, 0);
    ck_assert_uint_ge(reserved_here(), BYTES);
    gate_open(&held);
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    ck_assert(comes_again(pointer));
    cx_assert_ok(ctxrt_memory_release(on_device));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stream_destroy(stream));
}
END_TEST

START_TEST(what_the_host_writes_into_new_memory_does_not_reach_an_earlier_copy)
{
    gate held;
    unsigned char seen[2];
    ctxrt_memory *memory, *on_device;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_memory_alloc(BYTES, &on_device));
    gate_close(&held, current_stream());
    memset(allocate(BYTES, &memory), 1, BYTES);
    copy_to_device(ctxrt_memory_pointer(memory), ctxrt_memory_pointer(on_device), NULL);
    cx_assert_ok(ctxrt_memory_release(memory));
    memset(allocate(BYTES, &memory), 2, BYTES);
    gate_open(&held);
    for (int i = 0; i < 2; i++)
        cx_assert_ok(ctxrt_copy(&seen[i], (char *)ctxrt_memory_pointer(on_device) + i * (BYTES - 1),
                                1, CTXRT_COPY_DEVICE_TO_HOST));
    ck_assert_int_eq(seen[0], 1);
    ck_assert_int_eq(seen[1], 1);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_memory_release(on_device));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* Both ends, and every stream that copied. */
START_TEST(all_streams_and_both_ends_are_waited_for)
{
    gate held[2];
    ctxrt_memory *memory[2];
    char *pointer[2];
    ctxrt_stream *stream[2];
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    for (int i = 0; i < 2; i++) {
        stream[i] = create_stream(CTXRT_STREAM_NON_BLOCKING);
        pointer[i] = allocate(BYTES, &memory[i]);
        memset(pointer[i], i, BYTES);
        gate_close(&held[i], stream[i]);
    }
    for (int i = 0; i < 2; i++)
        cx_assert_ok(ctxrt_copy_async(pointer[0], pointer[1], BYTES, CTXRT_COPY_ANY, stream[i]));
    for (int i = 0; i < 2; i++)
        cx_assert_ok(ctxrt_memory_release(memory[i]));
    gate_open(&held[0]);
    cx_assert_ok(ctxrt_stream_synchronize(stream[0]));
    ck_assert(!comes_again(pointer[0]));
    ck_assert(!comes_again(pointer[1]));
    gate_open(&held[1]);
    cx_assert_ok(ctxrt_stream_synchronize(stream[1]));
    for (int i = 0; i < 2; i++)
        cx_assert_ok(ctxrt_memory_alloc_pinned(BYTES, &memory[i]));
    ck_assert_uint_eq(info_of(allocator_here()).reserved.current_count, 2);
    for (int i = 0; i < 2; i++) {
        cx_assert_ok(ctxrt_memory_release(memory[i]));
        cx_assert_ok(ctxrt_stream_destroy(stream[i]));
    }
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_recorded_stream_is_waited_for_like_a_copy)
{
    gate held;
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    void *pointer = allocate(BYTES, &memory);
    gate_close(&held, current_stream());
    cx_assert_ok(ctxrt_memory_record_stream(memory, NULL));
    cx_assert_ok(ctxrt_memory_release(memory));
    ck_assert(!comes_again(pointer));
    gate_open(&held);
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    ck_assert(comes_again(pointer));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_stream_of_another_device_is_waited_for_and_may_be_destroyed)
{
    gate held;
    ctxrt_memory *memory, *on_device;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    char *pointer = allocate(BYTES, &memory);
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_event *after = create_event(CTXRT_EVENT_DISABLE_TIMING);
    cx_assert_ok(ctxrt_memory_alloc(BYTES, &on_device));
    gate_close(&held, stream);
    copy_to_host(pointer, ctxrt_memory_pointer(on_device), stream);
    cx_assert_ok(ctxrt_event_record(after, stream));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_stack_pop());
    ck_assert(!comes_again(pointer));
    gate_open(&held);
    cx_assert_ok(ctxrt_event_synchronize(after));
    ck_assert(comes_again(pointer));
    cx_assert_ok(ctxrt_event_destroy(after));
    cx_assert_ok(ctxrt_memory_release(on_device));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static void *release(void *memory)
{
    return ctxrt_memory_release(memory) == CTXRT_SUCCESS ? NULL : memory;
}

static void *release_elsewhere(void *memory)
{
    bool done = ctxrt_device_push(CTXRT_CUDA(2)) == CTXRT_SUCCESS && release(memory) == NULL &&
                ctxrt_stack_pop() == CTXRT_SUCCESS;
    return done ? NULL : memory;
}

/* By a thread that has nothing current, or another device. */
START_TEST(another_thread_may_free_it_while_a_copy_goes_on)
{
    gate held;
    pthread_t thread;
    void *failed;
    ctxrt_memory *memory, *on_device;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_memory_alloc(BYTES, &on_device));
    char *pointer = allocate(BYTES, &memory);
    gate_close(&held, current_stream());
    copy_to_device(pointer, ctxrt_memory_pointer(on_device), NULL);
    ck_assert_int_eq(pthread_create(&thread, NULL, _i == 0 ? release : release_elsewhere, memory),
                     0);
    pthread_join(thread, &failed);
    ck_assert_ptr_null(failed);
    ck_assert(!comes_again(pointer));
    gate_open(&held);
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    ck_assert(comes_again(pointer));
    cx_assert_ok(ctxrt_memory_release(on_device));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_copy_into_a_capture_leaves_the_capture_and_the_memory_alone)
{
    ctxrt_memory *memory, *on_device;
    ctxrt_graph *graph;
    unsigned char seen = 0;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_memory_alloc(BYTES, &on_device));
    char *pointer = allocate(BYTES, &memory);
    cx_assert_ok(ctxrt_stream_capture_begin(stream, CTXRT_CAPTURE_GLOBAL));
    copy_to_device(pointer, ctxrt_memory_pointer(on_device), stream);
    cx_assert_ok(ctxrt_stream_capture_end(stream, &graph));
    memset(pointer, 9, BYTES);
    cx_assert_ok(ctxrt_graph_launch(graph, stream));
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    cx_assert_ok(ctxrt_copy(&seen, ctxrt_memory_pointer(on_device), 1, CTXRT_COPY_ANY));
    ck_assert_int_eq(seen, 9);
    cx_assert_ok(ctxrt_graph_release(graph));
    cx_assert_ok(ctxrt_memory_release(memory));
    ck_assert(comes_again(pointer));
    cx_assert_ok(ctxrt_memory_release(on_device));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stream_destroy(stream));
}
END_TEST

/* ---- recordings ---- */

typedef struct transfer {
    const void *from;
    void *to;
} transfer;

static ctxrt_status run_transfer(void *argument)
{
    const transfer *self = argument;
    return ctxrt_copy_async(self->to, self->from, BYTES, CTXRT_COPY_ANY, NULL);
}

static void submit(transfer *self)
{
    const ctxrt_operator operation = {sizeof operation, "transfer", run_transfer, NULL, self, 1};
    cx_assert_ok(ctxrt_operator_submit(&operation));
}

/* The second piece would be the first one's, and the host write into it before the graph reads. */
START_TEST(what_a_recording_allocates_and_frees_is_its_graphs_until_that_is_gone)
{
    ctxrt_memory *memory, *on_device[2];
    ctxrt_graph *graph;
    char *pointer[2];
    transfer transfers[2];
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    for (int i = 0; i < 2; i++)
        cx_assert_ok(ctxrt_memory_alloc(BYTES, &on_device[i]));
    cx_assert_ok(ctxrt_recording_start(NULL));
    for (int i = 0; i < 2; i++) {
        pointer[i] = allocate(BYTES, &memory);
        memset(pointer[i], i + 1, BYTES);
        transfers[i] = (transfer){pointer[i], ctxrt_memory_pointer(on_device[i])};
        submit(&transfers[i]);
        cx_assert_ok(ctxrt_memory_release(memory));
    }
    cx_assert_ok(ctxrt_recording_stop(&graph));
    ck_assert(!comes_again(pointer[0]) && !comes_again(pointer[1]));
    (void)trim_here();
    for (int launch = 0; launch < 2; launch++) {
        cx_assert_ok(ctxrt_graph_launch(graph, NULL));
        cx_assert_ok(ctxrt_stream_synchronize(NULL));
        assert_landed(on_device[0], 1);
        assert_landed(on_device[1], 2);
    }
    cx_assert_ok(ctxrt_graph_release(graph));
    ck_assert_uint_eq(info_of(allocator_here()).requested.current_count, 0);
    (void)trim_here();
    ck_assert_uint_eq(reserved_here(), 0);
    for (int i = 0; i < 2; i++)
        cx_assert_ok(ctxrt_memory_release(on_device[i]));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(what_is_freed_in_a_recording_while_a_copy_goes_on_does_not_hold_it_up)
{
    gate held;
    ctxrt_memory *memory, *more, *on_device;
    ctxrt_graph *graph;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_memory_alloc(BYTES, &on_device));
    char *pointer = allocate(BYTES, &memory);
    gate_close(&held, stream);
    copy_to_device(pointer, ctxrt_memory_pointer(on_device), stream);
    cx_assert_ok(ctxrt_recording_start(NULL));
    cx_assert_ok(ctxrt_memory_release(memory));
    ck_assert_ptr_ne(allocate(BYTES, &more), pointer);
    cx_assert_ok(ctxrt_memory_release(more));
    cx_assert_ok(ctxrt_recording_stop(&graph));
    cx_assert_ok(ctxrt_graph_release(graph));
    ck_assert(!comes_again(pointer));
    gate_open(&held);
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    (void)trim_here();
    ck_assert_uint_eq(reserved_here(), 0);
    cx_assert_ok(ctxrt_memory_release(on_device));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stream_destroy(stream));
}
END_TEST

static Suite *pinned_copies_suite(void)
{
    Suite *suite = suite_create("pinned_copies");
    TCase *tcase = tcase_create("pinned_copies");
    tcase_add_checked_fixture(tcase, cx_fixture_start, cx_fixture_end);
    tcase_add_loop_test(tcase, what_a_stream_still_copies_is_not_given_out_in_that_stream_either, 0,
                        USES);
    tcase_add_test(tcase, what_the_host_writes_into_new_memory_does_not_reach_an_earlier_copy);
    tcase_add_test(tcase, all_streams_and_both_ends_are_waited_for);
    tcase_add_test(tcase, a_recorded_stream_is_waited_for_like_a_copy);
    tcase_add_test(tcase, a_stream_of_another_device_is_waited_for_and_may_be_destroyed);
    tcase_add_loop_test(tcase, another_thread_may_free_it_while_a_copy_goes_on, 0, 2);
    tcase_add_test(tcase, a_copy_into_a_capture_leaves_the_capture_and_the_memory_alone);
    tcase_add_test(tcase, what_a_recording_allocates_and_frees_is_its_graphs_until_that_is_gone);
    tcase_add_test(tcase, what_is_freed_in_a_recording_while_a_copy_goes_on_does_not_hold_it_up);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(pinned_copies_suite);
