/* Pinned host memory: what is kept of it, whom it is given to, and when. */
#include "fixture.h"
#include "gate.h"
#include "test.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
#define BYTES (3 * MIB)

static void *allocate(size_t size_bytes, ctxrt_memory **out_memory)
{
    cx_assert_ok(ctxrt_memory_alloc_pinned(size_bytes, out_memory));
    return ctxrt_memory_pointer(*out_memory);
}

static ctxrt_allocator *allocator_here(void)
{
    ctxrt_allocator *allocator;
    cx_assert_ok(ctxrt_allocator_pinned(&allocator));
    return allocator;
}

static ctxrt_allocator_info info_of(ctxrt_allocator *allocator)
{
    ctxrt_allocator_info info = CTXRT_ALLOCATOR_INFO_INIT;
    cx_assert_ok(ctxrt_allocator_describe(allocator, &info));
    return info;
}

static uint64_t reserved_here(void)
{
    return info_of(allocator_here()).reserved.current_bytes;
}

static uint64_t trim_here(void)
{
    uint64_t released;
    cx_assert_ok(ctxrt_allocator_trim(allocator_here(), &released));
    return released;
}

static bool is_filled(const void *pointer, int value, size_t size_bytes)
{
    const unsigned char *bytes = pointer;
    return bytes[0] == value && memcmp(bytes, bytes + 1, size_bytes - 1) == 0;
}

/* ---- keeping ---- */

START_TEST(what_was_freed_is_given_out_again_and_the_driver_is_asked_once)
{
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    void *pointer = allocate(1000, &memory);
    for (int i = 0; i < 10; i++) {
        memset(pointer, i, 1000);
        cx_assert_ok(ctxrt_memory_release(memory));
        ck_assert_ptr_eq(allocate(1000, &memory), pointer);
    }
    ctxrt_allocator_info info = info_of(allocator_here());
    ck_assert_uint_eq(info.misses, 1);
    ck_assert_uint_eq(info.hits, 10);
    ck_assert_uint_eq(info.reserved.current_count, 1);
    ck_assert_uint_eq(info.requested.current_bytes, 1000);
    ck_assert_uint_eq(info.requested.peak_bytes, 1000);
    ck_assert_uint_eq(info.requested.total_count, 11);
    ck_assert_uint_eq(info.allocated.current_bytes, 1024);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(each_context_has_an_allocator_of_its_own_that_stays_the_same)
{
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    (void)allocate(BYTES, &memory);
    ctxrt_allocator *first = allocator_here();
    ck_assert_ptr_eq(allocator_here(), first);
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    ck_assert_ptr_ne(allocator_here(), first);
    ck_assert_uint_eq(reserved_here(), 0);
    ck_assert_int_eq(info_of(first).device.index, 0);
    ck_assert_uint_eq(info_of(first).requested.current_bytes, BYTES);
    ck_assert_uint_eq(info_of(NULL).requested.current_bytes, 0);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_trim_gives_back_what_is_free_altogether)
{
    ctxrt_memory *memory[2];
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    for (int i = 0; i < 2; i++)
        (void)allocate(BYTES, &memory[i]);
    uint64_t reserved = reserved_here();
    cx_assert_ok(ctxrt_memory_release(memory[0]));
    ck_assert_uint_eq(reserved_here(), reserved);
    uint64_t released = trim_here();
    ck_assert_uint_ge(released, BYTES);
    ck_assert_uint_eq(reserved_here(), reserved - released);
    memset(ctxrt_memory_pointer(memory[1]), 7, BYTES);
    cx_assert_ok(ctxrt_memory_release(memory[1]));
    (void)trim_here();
    ck_assert_uint_eq(reserved_here(), 0);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_limit_holds_and_what_was_freed_can_be_asked_for_again)
{
    ctxrt_memory *memory, *none = NULL;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    (void)allocate(BYTES, &memory);
    cx_assert_ok(ctxrt_allocator_set_limit(allocator_here(), BYTES + 100));
    cx_assert_error(ctxrt_memory_alloc_pinned(101, &none), CTXRT_ERROR_OUT_OF_MEMORY);
    ck_assert_ptr_null(none);
    ck_assert_uint_eq(info_of(allocator_here()).failures, 1);
    cx_assert_ok(ctxrt_memory_release(memory));
    (void)allocate(BYTES + 100, &memory);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(an_address_within_it_is_found_and_one_in_free_memory_is_not)
{
    ctxrt_memory *memory;
    ctxrt_pointer_info info;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    char *pointer = allocate(5000, &memory);
    cx_assert_ok(ctxrt_pointer_query(pointer + 4999, &info));
    ck_assert_int_eq(info.known, 1);
    ck_assert_int_eq(info.kind, CTXRT_MEMORY_PINNED);
    ck_assert_ptr_eq(info.base, pointer);
    ck_assert_uint_eq(info.size_bytes, 5000);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_pointer_query(pointer + 4999, &info));
    ck_assert_int_eq(info.known, 0);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_report_and_a_snapshot_show_it)
{
    ctxrt_memory *memory;
    char *text = NULL;
    size_t size = 0;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    (void)allocate(5000, &memory);
    FILE *file = open_memstream(&text, &size);
    cx_assert_ok(ctxrt_memory_report_write(file));
    cx_assert_ok(ctxrt_allocator_snapshot_write(allocator_here(), file, CTXRT_SNAPSHOT_JSON));
    fclose(file);
    ck_assert_ptr_nonnull(strstr(text, "1 piece of pinned memory of cuda:1, 5000 bytes"));
    ck_assert_ptr_nonnull(strstr(text, "\"kind\": \"pinned\""));
    ck_assert_ptr_nonnull(strstr(text, "\"asked_bytes\": 5000"));
    free(text);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- copies ---- */

/* What uses pinned memory in a stream: all of it, or some of it from the middle on. */
typedef void use_in_stream(char *pinned, void *device, ctxrt_stream *stream);

static void copy_to_device(char *pinned, void *device, ctxrt_stream *stream)
{
    cx_assert_ok(ctxrt_copy_async(device, pinned, BYTES, CTXRT_COPY_HOST_TO_DEVICE, stream));
}

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

static void assert_landed(const ctxrt_memory *on_device, int value)
{
    static unsigned char seen[BYTES];
    cx_assert_ok(
        ctxrt_copy(seen, ctxrt_memory_pointer((ctxrt_memory *)on_device), BYTES, CTXRT_COPY_ANY));
    ck_assert(is_filled(seen, value, BYTES));
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

/* ---- ends ---- */

START_TEST(a_reset_takes_it_and_what_is_allocated_after_is_another)
{
    ctxrt_memory *before, *after;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    void *pointer = allocate(BYTES, &before);
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    memset(allocate(BYTES, &after), 3, BYTES);
    cx_assert_ok(ctxrt_memory_release(before));
    ck_assert(is_filled(ctxrt_memory_pointer(after), 3, BYTES));
    cx_assert_ok(ctxrt_copy_async(ctxrt_memory_pointer(after), ctxrt_memory_pointer(after), 1,
                                  CTXRT_COPY_ANY, NULL));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    (void)pointer;
    cx_assert_ok(ctxrt_memory_release(after));
    (void)trim_here();
    ck_assert_uint_eq(reserved_here(), 0);
    ck_assert_uint_eq(info_of(allocator_here()).requested.current_count, 0);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_context_that_has_some_cannot_be_destroyed_and_then_takes_what_is_kept)
{
    ctxrt_context *context;
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(0), 0, &context));
    cx_assert_ok(ctxrt_stack_push(context));
    (void)allocate(BYTES, &memory);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_error(ctxrt_context_destroy(context), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_context_destroy(context));
}
END_TEST

/* ---- refusals ---- */

static void start_with_fault(const char *fault)
{
    ck_assert_int_eq(setenv("CTXRT_EMU_FAULT", fault, 1), 0);
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
}

static void end(void)
{
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}

START_TEST(where_there_is_no_more_what_is_free_goes_back_and_the_driver_is_asked_again)
{
    ctxrt_memory *memory;
    cx_fixture_needs_emulated("faults");
    start_with_fault("cuMemHostAlloc@2:OUT_OF_MEMORY");
    (void)allocate(BYTES, &memory);
    cx_assert_ok(ctxrt_memory_release(memory));
    memset(allocate(4 * BYTES, &memory), 1, 4 * BYTES);
    ctxrt_allocator_info info = info_of(allocator_here());
    ck_assert_uint_eq(info.retries, 1);
    ck_assert_uint_eq(info.reserved.current_count, 1);
    cx_assert_ok(ctxrt_memory_release(memory));
    end();
}
END_TEST

START_TEST(a_refusal_says_what_is_held_and_changes_nothing)
{
    ctxrt_memory *memory, *none = NULL;
    cx_fixture_needs_emulated("faults");
    start_with_fault("cuMemHostAlloc@2+:OUT_OF_MEMORY");
    (void)allocate(BYTES, &memory);
    cx_assert_error(ctxrt_memory_alloc_pinned(4 * BYTES, &none), CTXRT_ERROR_OUT_OF_MEMORY);
    ck_assert_ptr_null(none);
    const char *message = ctxrt_last_error()->message;
    ck_assert_msg(strstr(message, "12582912 bytes of pinned memory") != NULL, "%s", message);
    ck_assert_msg(strstr(message, "holds 4194304, of which 3145728 are in use in 1 piece,") != NULL,
                  "%s", message);
    ck_assert_str_eq(ctxrt_last_error()->driver_call, "cuMemHostAlloc");
    ck_assert_uint_eq(info_of(allocator_here()).out_of_memory, 1);
    cx_assert_ok(ctxrt_memory_release(memory));
    ck_assert_uint_eq(reserved_here(), 4 * MIB);
    end();
}
END_TEST

START_TEST(a_request_that_would_be_refused_waits_for_the_copies_of_what_was_freed)
{
    ctxrt_memory *memory, *on_device;
    cx_fixture_needs_emulated("faults, and work that runs only when it is waited for");
    ck_assert_int_eq(setenv("CTXRT_EMU_SCHEDULE", "lazy", 1), 0);
    start_with_fault("cuMemHostAlloc@2+:OUT_OF_MEMORY");
    cx_assert_ok(ctxrt_memory_alloc(BYTES, &on_device));
    char *pointer = allocate(BYTES, &memory);
    memset(pointer, 5, BYTES);
    copy_to_device(pointer, ctxrt_memory_pointer(on_device), NULL);
    cx_assert_ok(ctxrt_memory_release(memory));
    ck_assert_ptr_eq(allocate(BYTES, &memory), pointer);
    memset(pointer, 6, BYTES);
    assert_landed(on_device, 5);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_memory_release(on_device));
    end();
}
END_TEST

static Suite *pinned_suite(void)
{
    Suite *suite = suite_create("pinned");
    TCase *tcase = tcase_create("pinned");
    tcase_add_checked_fixture(tcase, cx_fixture_start, cx_fixture_end);
    tcase_add_test(tcase, what_was_freed_is_given_out_again_and_the_driver_is_asked_once);
    tcase_add_test(tcase, each_context_has_an_allocator_of_its_own_that_stays_the_same);
    tcase_add_test(tcase, a_trim_gives_back_what_is_free_altogether);
    tcase_add_test(tcase, a_limit_holds_and_what_was_freed_can_be_asked_for_again);
    tcase_add_test(tcase, an_address_within_it_is_found_and_one_in_free_memory_is_not);
    tcase_add_test(tcase, a_report_and_a_snapshot_show_it);
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
    tcase_add_test(tcase, a_reset_takes_it_and_what_is_allocated_after_is_another);
    tcase_add_test(tcase, a_context_that_has_some_cannot_be_destroyed_and_then_takes_what_is_kept);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("not started");
    tcase_add_test(tcase,
                   where_there_is_no_more_what_is_free_goes_back_and_the_driver_is_asked_again);
    tcase_add_test(tcase, a_refusal_says_what_is_held_and_changes_nothing);
    tcase_add_test(tcase, a_request_that_would_be_refused_waits_for_the_copies_of_what_was_freed);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return cx_test_run((Suite * (*const[])(void)){pinned_suite, NULL});
}
