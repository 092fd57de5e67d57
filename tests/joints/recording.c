/* Recordings beside default streams that change, other devices' memory, and launches that fail. */
#include "suites.h"

#include <stdlib.h>

enum { BYTES = 4096 };

static void *target;
static gate held;

static ctxrt_status fill_with_7(void *argument)
{
    (void)argument;
    return ctxrt_fill_async(target, 7, BYTES, NULL);
}

static void submit_fill(void)
{
    ctxrt_operator operation = CTXRT_OPERATOR_INIT;
    operation.type = "fill";
    operation.run = fill_with_7;
    operation.capturable = 1;
    cx_assert_ok(ctxrt_operator_submit(&operation));
}

static int first_byte(const void *memory)
{
    unsigned char byte = 0;
    cx_assert_ok(ctxrt_copy(&byte, memory, 1, CTXRT_COPY_DEVICE_TO_HOST));
    return byte;
}

/* ---- a default stream that goes away ---- */

START_TEST(a_recording_gives_no_memory_out_whose_default_stream_went_with_a_frame)
{
    ctxrt_detached_frame *frame;
    void *before, *after;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_recording_start(NULL));
    (void)current_stream();
    cx_assert_ok(ctxrt_alloc(BYTES, &before));
    gate_close(&held, NULL);
    cx_assert_ok(ctxrt_fill_async(before, 1, BYTES, NULL));
    cx_assert_ok(ctxrt_free(before));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    (void)current_stream();
    cx_assert_ok(ctxrt_stack_detach(&frame));
    cx_assert_ok(ctxrt_alloc(BYTES, &after));
    ck_assert_ptr_ne(before, after);
    cx_assert_ok(ctxrt_fill_async(after, 2, BYTES, NULL));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    gate_open(&held);
    cx_assert_ok(ctxrt_device_synchronize());
    ck_assert_int_eq(first_byte(after), 2);
    cx_assert_ok(ctxrt_free(after));
    cx_assert_ok(ctxrt_recording_cancel());
    cx_assert_ok(ctxrt_stack_discard(frame));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- a first launch that fails ---- */

static void start_with_a_refused_wait(void)
{
    ck_assert_int_eq(setenv("CTXRT_EMU_FAULT", "cuStreamWaitEvent@1", 1), 0);
    cx_fixture_start();
}

START_TEST(the_launch_after_one_that_failed_still_waits_for_work_of_before)
{
    ctxrt_graph *graph;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ctxrt_stream *recorded = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_stream *launched = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_frame_set_stream(recorded));
    cx_assert_ok(ctxrt_recording_start(NULL));
    cx_assert_ok(ctxrt_alloc(BYTES, &target));
    gate_close(&held, recorded);
    cx_assert_ok(ctxrt_fill_async(target, 1, BYTES, recorded));
    submit_fill();
    cx_assert_ok(ctxrt_recording_stop(&graph));
    ctxrt_status first = ctxrt_graph_launch(graph, launched);
    if (first != CTXRT_SUCCESS)
        cx_assert_ok(ctxrt_graph_launch(graph, launched));
    give_others_a_chance(create_stream(CTXRT_STREAM_NON_BLOCKING));
    cx_assert_status(ctxrt_stream_query(launched), CTXRT_ERROR_NOT_READY);
    gate_open(&held);
    cx_assert_ok(ctxrt_stream_synchronize(recorded));
    cx_assert_ok(ctxrt_stream_synchronize(launched));
    ck_assert_int_eq(first_byte(target), 7);
    exit(0); /* the driver of this process has refused calls: nothing is looked at any more */
}
END_TEST

/* ---- memory of elsewhere ---- */

static void release_in_a_recording(ctxrt_memory *memory)
{
    ctxrt_graph *graph;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_alloc(BYTES, &target));
    cx_assert_ok(ctxrt_recording_start(NULL));
    submit_fill();
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_recording_stop(&graph));
    cx_assert_ok(ctxrt_graph_launch(graph, NULL));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    ck_assert_int_eq(first_byte(target), 7);
    cx_assert_ok(ctxrt_graph_release(graph));
    cx_assert_ok(ctxrt_free(target));
    cx_assert_ok(ctxrt_stack_pop());
}

START_TEST(a_recording_that_frees_memory_of_another_context_can_be_stopped)
{
    enum { GPU, CPU, CREATED, PLACES };
    for (int i = 0; i < PLACES * 4; i++) {
        ctxrt_context *created = NULL;
        ctxrt_memory *memory;
        if (i % PLACES == CREATED) {
            cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(1), 0, &created));
            cx_assert_ok(ctxrt_stack_push(created));
        } else {
            cx_assert_ok(ctxrt_device_push(i % PLACES == GPU ? CTXRT_CUDA(0) : CTXRT_CPU(0)));
        }
        cx_assert_ok(i / PLACES < 2 ? ctxrt_memory_alloc(BYTES, &memory)
                                    : ctxrt_memory_alloc_pinned(BYTES, &memory));
        if (i / PLACES % 2 == 1)
            cx_assert_ok(ctxrt_fill_async(ctxrt_memory_pointer(memory), 1, BYTES, NULL));
        cx_assert_ok(ctxrt_stack_pop());
        release_in_a_recording(memory);
        cx_assert_ok(ctxrt_context_destroy(created));
    }
}
END_TEST

/* ---- memory that a recording uses again ---- */

static void assert_known(const void *pointer, size_t size)
{
    ctxrt_pointer_info info = {0};
    cx_assert_ok(ctxrt_pointer_query(pointer, &info));
    ck_assert_int_eq(info.known, 1);
    ck_assert_ptr_eq(info.base, pointer);
    ck_assert_uint_eq(info.size_bytes, size);
}

START_TEST(memory_that_a_recording_uses_again_is_known)
{
    ctxrt_memory *before, *first, *second;
    ctxrt_graph *graph;
    void *raw;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_memory_alloc(14408, &before));
    cx_assert_ok(ctxrt_recording_start(NULL));
    cx_assert_ok(ctxrt_memory_alloc(5000, &first));
    assert_known(ctxrt_memory_pointer(first), 5000);
    cx_assert_ok(ctxrt_memory_release(before));
    cx_assert_ok(ctxrt_memory_alloc(9453, &second));
    assert_known(ctxrt_memory_pointer(second), 9453);
    cx_assert_ok(ctxrt_memory_release(first));
    cx_assert_ok(ctxrt_memory_alloc(5000, &first));
    assert_known(ctxrt_memory_pointer(first), 5000);
    cx_assert_ok(ctxrt_memory_release(first));
    cx_assert_ok(ctxrt_alloc(5000, &raw));
    assert_known(raw, 5000);
    cx_assert_ok(ctxrt_recording_stop(&graph));
    assert_known(raw, 5000);
    assert_known(ctxrt_memory_pointer(second), 9453);
    cx_assert_ok(ctxrt_graph_release(graph));
    assert_known(raw, 5000);
    assert_known(ctxrt_memory_pointer(second), 9453);
    cx_assert_ok(ctxrt_free(raw));
    cx_assert_ok(ctxrt_memory_release(second));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

Suite *recording_suite(void)
{
    const joint joints[] = {
        JOINT(a_recording_gives_no_memory_out_whose_default_stream_went_with_a_frame),
        {"the_launch_after_one_that_failed_still_waits_for_work_of_before",
         the_launch_after_one_that_failed_still_waits_for_work_of_before, start_with_a_refused_wait,
         NULL},
        JOINT(a_recording_that_frees_memory_of_another_context_can_be_stopped),
        JOINT(memory_that_a_recording_uses_again_is_known),
    };
    return joint_suite("recording", joints, sizeof joints / sizeof *joints);
}
