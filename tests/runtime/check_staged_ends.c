/*
 * Asynchronous copies between two drivers: memory that is released meanwhile, ends of devices,
 * errors and captures.
 */
#include "faults.h"
#include "staged.h"

#include <malloc.h>

/* ---- memory ---- */

/* Memory of a side that is freed at once is nobody else's until the copy is done. */
START_TEST(memory_that_is_released_right_after_the_call_lasts_until_the_copy_is_done)
{
    gate barrier;
    const int side = _i % SIDES;
    const bool raw = _i / SIDES % 2 == 1, to_gpu = _i / SIDES / 2 == 1;
    const int from_place = to_gpu ? ON_CPU : ON_GPU, to_place = to_gpu ? ON_GPU : ON_CPU;
    start();
    ctxrt_stream *stream = enter(side);
    ctxrt_memory *to = alloc_on(to_place, SMALL), *from = NULL, *next;
    void *pointer = NULL;
    cx_assert_ok(ctxrt_device_push(two_drivers_device(from_place)));
    cx_assert_ok(raw ? ctxrt_alloc(SMALL, &pointer) : ctxrt_memory_alloc(SMALL, &from));
    pointer = raw ? pointer : at(from);
    cx_assert_ok(ctxrt_copy(pointer, pattern, SMALL, CTXRT_COPY_ANY));
    gate_close(&barrier, stream);
    cx_assert_ok(ctxrt_copy_async(at(to), pointer, SMALL, CTXRT_COPY_ANY, stream));
    if (from_place != side) { /* else the order of its own stream is the user's affair */
        cx_assert_ok(raw ? ctxrt_free(pointer) : ctxrt_memory_release(from));
        for (int i = 0; i < 3; i++) {
            cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
            cx_assert_ok(ctxrt_memory_alloc(SMALL, &next));
            ck_assert_ptr_ne(at(next), pointer);
            cx_assert_ok(ctxrt_fill(at(next), 0x77, SMALL));
            release(next);
        }
    }
    gate_open(&barrier);
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    assert_holds(at(to), pattern, SMALL);
    if (from_place == side)
        cx_assert_ok(raw ? ctxrt_free(pointer) : ctxrt_memory_release(from));
    cx_assert_ok(ctxrt_stack_pop());
    release(to);
    leave(stream);
    cx_fixture_end();
}
END_TEST

/* Of copies in two streams the one that began first is done last. */
START_TEST(memory_that_two_copies_read_lasts_until_both_are_done)
{
    gate barrier;
    start();
    ctxrt_stream *held = enter(_i), *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_memory *own[2] = {alloc_on(_i, SMALL), alloc_on(_i, SMALL)};
    ctxrt_memory *from = alloc_on(1 - _i, SMALL);
    const void *pointer = at(from);
    cx_assert_ok(ctxrt_copy(at(from), pattern, SMALL, CTXRT_COPY_ANY));
    gate_close(&barrier, held);
    cx_assert_ok(ctxrt_copy_async(at(own[0]), at(from), SMALL, CTXRT_COPY_ANY, held));
    cx_assert_ok(ctxrt_copy_async(at(own[1]), at(from), SMALL, CTXRT_COPY_ANY, stream));
    release(from);
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    ctxrt_memory *next = alloc_on(1 - _i, SMALL);
    ck_assert_ptr_ne(at(next), pointer);
    cx_assert_ok(ctxrt_fill(at(next), 0x77, SMALL));
    gate_open(&barrier);
    cx_assert_ok(ctxrt_stream_synchronize(held));
    for (int i = 0; i < 2; i++) {
        assert_holds(at(own[i]), pattern, SMALL);
        release(own[i]);
    }
    release(next);
    cx_assert_ok(ctxrt_stream_destroy(stream));
    leave(held);
    cx_fixture_end();
}
END_TEST

/* An allocator in debug mode writes to memory that is freed. */
typedef struct releaser {
    ctxrt_memory *memory;
    atomic_bool released;
    ctxrt_status status;
} releaser;

static void *release_it(void *argument)
{
    releaser *self = argument;
    self->status = ctxrt_memory_release(self->memory);
    atomic_store(&self->released, true);
    return NULL;
}

START_TEST(the_release_of_memory_in_debug_mode_waits_for_the_copy)
{
    gate barrier;
    pthread_t thread;
    ctxrt_allocator *allocator;
    ctxrt_allocator_debug debug = CTXRT_ALLOCATOR_DEBUG_INIT;
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    releaser self = {.memory = NULL};
    debug.flags = CTXRT_DEBUG_CANARY | CTXRT_DEBUG_POISON;
    options.debug = &debug;
    start();
    ctxrt_stream *stream = enter(ON_GPU), *free_stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_memory *gpu = alloc_on(ON_GPU, SMALL);
    cx_assert_ok(ctxrt_device_push(CTXRT_CPU(0)));
    cx_assert_ok(ctxrt_allocator_create(&options, &allocator));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    cx_assert_ok(ctxrt_memory_alloc(SMALL, &self.memory));
    memcpy(at(self.memory), pattern, SMALL);
    gate_close(&barrier, stream);
    cx_assert_ok(ctxrt_copy_async(at(gpu), at(self.memory), SMALL, CTXRT_COPY_ANY, stream));
    ck_assert_int_eq(pthread_create(&thread, NULL, release_it, &self), 0);
    give_others_a_chance(free_stream);
    ck_assert(!atomic_load(&self.released));
    gate_open(&barrier);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    cx_assert_status(self.status, CTXRT_SUCCESS);
    assert_holds(at(gpu), pattern, SMALL);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    release(gpu);
    cx_assert_ok(ctxrt_stream_destroy(free_stream));
    leave(stream);
    cx_fixture_end();
}
END_TEST

static cxu_result pin_no_more(void **out_pointer, size_t bytes, unsigned int flags)
{
    (void)out_pointer, (void)bytes, (void)flags;
    return CXU_OUT_OF_MEMORY;
}

START_TEST(a_stream_stages_all_its_copies_through_the_same_memory)
{
    gate barrier;
    start();
    ctxrt_stream *stream = enter(ON_GPU), *other = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_memory *cpu = alloc_on(ON_CPU, SMALL), *gpu = alloc_on(ON_GPU, SMALL);
    memcpy(at(cpu), pattern, SMALL);
    gate_close(&barrier, stream);
    cx_assert_ok(ctxrt_copy_async(at(gpu), at(cpu), SMALL, CTXRT_COPY_ANY, stream));
    cx_drivers[1].table.mem_host_alloc = pin_no_more;
    for (int i = 0; i < 50; i++)
        cx_assert_ok(ctxrt_copy_async(at(gpu), at(cpu), SMALL, CTXRT_COPY_ANY, stream));
    cx_assert_error(ctxrt_copy_async(at(gpu), at(cpu), SMALL, CTXRT_COPY_ANY, other),
                    CTXRT_ERROR_OUT_OF_MEMORY);
    gate_open(&barrier);
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    cx_assert_ok(ctxrt_fill(at(gpu), 0, SMALL));
    cx_assert_ok(ctxrt_copy_async(at(gpu), at(cpu), SMALL, CTXRT_COPY_ANY, other));
    cx_assert_ok(ctxrt_stream_synchronize(other));
    assert_holds(at(gpu), pattern, SMALL);
    release(cpu);
    release(gpu);
    cx_assert_ok(ctxrt_stream_destroy(other));
    leave(stream);
    cx_fixture_end();
}
END_TEST

static uint64_t trim_pinned(void)
{
    ctxrt_allocator *pinned;
    uint64_t released;
    cx_assert_ok(ctxrt_allocator_pinned(&pinned));
    cx_assert_ok(ctxrt_allocator_trim(pinned, &released));
    return released;
}

/* While another stream's copy is under way its memory stays, and that of the copies that are done
 * goes. */
START_TEST(a_trim_of_pinned_memory_gives_back_what_no_copy_is_staged_through)
{
    gate held;
    start();
    ctxrt_stream *stream = enter(ON_GPU), *other = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_memory *cpu = alloc_on(ON_CPU, MORE), *gpu = alloc_on(ON_GPU, MORE);
    memcpy(at(cpu), pattern, MORE);
    ck_assert_uint_eq(trim_pinned(), 0);
    for (int round = 0; round < 3; round++) {
        gate_close(&held, stream);
        cx_assert_ok(ctxrt_copy_async(at(gpu), at(cpu), MORE, CTXRT_COPY_ANY, stream));
        ck_assert_uint_eq(trim_pinned(), 0);
        cx_assert_ok(ctxrt_copy_async(at(gpu), at(cpu), SMALL, CTXRT_COPY_ANY, other));
        cx_assert_ok(ctxrt_stream_synchronize(other));
        ck_assert_uint_eq(trim_pinned(), CHUNK);
        ck_assert_uint_eq(trim_pinned(), 0);
        gate_open(&held);
        cx_assert_ok(ctxrt_stream_synchronize(stream));
        assert_holds(at(gpu), pattern, MORE);
        ck_assert_uint_eq(trim_pinned(), CHUNK);
    }
    release(cpu);
    release(gpu);
    cx_assert_ok(ctxrt_stream_destroy(other));
    leave(stream);
    cx_fixture_end();
}
END_TEST

/* ---- failures ---- */

enum { DRIVER_CALLS_MAX = 200 };

/* Nothing of the copy is left, whatever part of it was submitted: the CPU's memory is the host's.
 */
static void assert_left_alone(ctxrt_memory *cpu, gate *barrier, ctxrt_stream *stream)
{
    memset(at(cpu), 0x3c, MORE);
    gate_open(barrier);
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    memset(seen, 0x3c, MORE);
    ck_assert_int_eq(memcmp(at(cpu), seen, MORE), 0);
}

static void fail_at(long number, fault_mode mode, bool to_gpu, ctxrt_stream *stream,
                    bool *out_struck)
{
    gate barrier;
    ctxrt_memory *cpu = alloc_on(ON_CPU, MORE), *gpu = alloc_on(ON_GPU, MORE);
    ctxrt_memory *to = to_gpu ? gpu : cpu, *from = to_gpu ? cpu : gpu;
    cx_assert_ok(ctxrt_copy(at(from), pattern, MORE, CTXRT_COPY_ANY));
    gate_close(&barrier, stream);
    faults_arm(number, CXU_OUT_OF_MEMORY, mode);
    ctxrt_status status =
        ctxrt_copy_async(at(to), at(from), MORE, CTXRT_COPY_DEVICE_TO_DEVICE, stream);
    (void)faults_disarm();
    *out_struck = faults_failed_call() != NULL;
    if (status == CTXRT_SUCCESS) {
        gate_open(&barrier);
        cx_assert_ok(ctxrt_stream_synchronize(stream));
        assert_holds(at(to), pattern, MORE);
    } else {
        ck_assert(*out_struck);
        ck_assert_str_ne(ctxrt_last_error()->message, "");
        assert_left_alone(cpu, &barrier, stream);
    }
    release(cpu);
    release(gpu);
}

/* At each call to this driver in turn. */
START_TEST(a_copy_that_a_driver_refuses_halfway_fails_and_the_next_one_is_done)
{
    const bool to_gpu = _i % 2 == 1, reported = _i >= 4 * SIDES;
    const int side = reported ? ON_GPU : _i / 2 % SIDES, driver = reported || _i / 2 / SIDES == 1;
    bool struck = true;
    long number = 0;
    start();
    ctxrt_stream *stream = enter(side);
    faults_install(&cx_drivers[driver]);
    while (struck && number < DRIVER_CALLS_MAX) {
        number++;
        fail_at(number, reported ? FAULT_REPORTED : FAULT_REFUSED, to_gpu, stream, &struck);
    }
    ck_assert_int_lt(number, DRIVER_CALLS_MAX);
    ck_assert_int_gt(number, 1);
    faults_remove();
    leave(stream);
    cx_fixture_end();
}
END_TEST

/* ---- ends ---- */

START_TEST(an_orderly_end_waits_for_the_copies_under_way)
{
    const int side = _i % SIDES;
    const bool to_gpu = _i / SIDES % 2 == 1;
    start_under(schedules[_i / SIDES / 2]);
    for (int first = 0; first < 2; first++) {
        ctxrt_stream *stream = enter(side);
        ctxrt_memory *cpu = alloc_on(ON_CPU, MORE), *gpu = alloc_on(ON_GPU, MORE);
        cx_assert_ok(to_gpu ? ctxrt_copy_async(at(gpu), at(cpu), MORE, CTXRT_COPY_ANY, stream)
                            : ctxrt_copy_async(at(cpu), at(gpu), MORE, CTXRT_COPY_ANY, stream));
        release(cpu);
        release(gpu);
        leave(stream);
        cx_assert_ok(ctxrt_device_release(two_drivers_device(first)));
        cx_assert_ok(ctxrt_device_release(two_drivers_device(1 - first)));
    }
    ctxrt_stream *stream = enter(side);
    ctxrt_memory *cpu = alloc_on(ON_CPU, MORE), *gpu = alloc_on(ON_GPU, MORE);
    cx_assert_ok(to_gpu ? ctxrt_copy_async(at(gpu), at(cpu), MORE, CTXRT_COPY_ANY, stream)
                        : ctxrt_copy_async(at(cpu), at(gpu), MORE, CTXRT_COPY_ANY, stream));
    release(cpu);
    release(gpu);
    leave(stream);
    cx_fixture_end();
}
END_TEST

/* The device whose stream it is not is reset: the copy ends without being done, and says so. */
START_TEST(a_reset_of_the_other_device_ends_the_copy_and_its_stream_says_so)
{
    gate barrier;
    start();
    ctxrt_stream *stream = enter(_i);
    ctxrt_memory *cpu = alloc_on(ON_CPU, MORE), *gpu = alloc_on(ON_GPU, MORE);
    gate_close(&barrier, stream);
    cx_assert_ok(ctxrt_copy_async(at(gpu), at(cpu), MORE, CTXRT_COPY_ANY, stream));
    cx_assert_ok(ctxrt_copy_async(at(cpu), at(gpu), MORE, CTXRT_COPY_ANY, stream));
    cx_assert_ok(ctxrt_device_reset(two_drivers_device(1 - _i)));
    gate_open(&barrier);
    cx_assert_error(ctxrt_stream_synchronize(stream), CTXRT_ERROR_CONTEXT_DESTROYED);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "ctxrt_copy_async"));
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    release(cpu);
    release(gpu);
    cpu = alloc_on(ON_CPU, MORE);
    gpu = alloc_on(ON_GPU, MORE);
    memcpy(at(cpu), pattern, MORE);
    cx_assert_ok(ctxrt_copy_async(at(gpu), at(cpu), MORE, CTXRT_COPY_ANY, stream));
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    assert_holds(at(gpu), pattern, MORE);
    release(cpu);
    release(gpu);
    leave(stream);
    cx_fixture_end();
}
END_TEST

static void post(void *semaphore)
{
    sem_post(semaphore);
}

/* Not held by a gate: a part may be on its way while the memory goes, and what is freed is
 * unmapped. */
START_TEST(a_reset_of_the_cpu_waits_for_the_part_that_is_being_copied)
{
    mallopt(M_MMAP_THRESHOLD, 1 << 16);
    start();
    ctxrt_stream *stream = enter(ON_GPU);
    ctxrt_memory *gpu = alloc_on(ON_GPU, LARGE);
    for (int i = 0; i < 20; i++) {
        sem_t begun;
        ctxrt_memory *cpu = alloc_on(ON_CPU, LARGE);
        sem_init(&begun, 0, 0);
        cx_assert_ok(ctxrt_copy_async(at(gpu), at(cpu), SMALL, CTXRT_COPY_ANY, stream));
        cx_assert_ok(ctxrt_stream_add_host_function(stream, post, &begun));
        for (int copies = 0; copies < 2; copies++) {
            cx_assert_ok(ctxrt_copy_async(at(gpu), at(cpu), LARGE, CTXRT_COPY_ANY, stream));
            cx_assert_ok(ctxrt_copy_async(at(cpu), at(gpu), LARGE, CTXRT_COPY_ANY, stream));
        }
        sem_wait(&begun);
        cx_assert_ok(ctxrt_device_reset(CTXRT_CPU(0)));
        ctxrt_status status = ctxrt_stream_synchronize(stream);
        ck_assert(status == CTXRT_SUCCESS || status == CTXRT_ERROR_CONTEXT_DESTROYED);
        release(cpu);
    }
    release(gpu);
    leave(stream);
    cx_fixture_end();
}
END_TEST

static void *reset(void *argument)
{
    const ctxrt_device *device = argument;
    cx_assert_ok(ctxrt_device_reset(*device));
    return NULL;
}

START_TEST(a_reset_of_the_stream_s_own_device_ends_the_copy)
{
    gate barrier;
    pthread_t thread;
    ctxrt_device device = two_drivers_device(_i);
    start();
    ctxrt_stream *stream = enter(_i);
    ctxrt_memory *cpu = alloc_on(ON_CPU, MORE), *gpu = alloc_on(ON_GPU, MORE);
    gate_close(&barrier, stream);
    cx_assert_ok(ctxrt_copy_async(at(gpu), at(cpu), MORE, CTXRT_COPY_ANY, stream));
    cx_assert_ok(ctxrt_copy_async(at(cpu), at(gpu), MORE, CTXRT_COPY_ANY, stream));
    ck_assert_int_eq(pthread_create(&thread, NULL, reset, &device), 0);
    gate_open(&barrier);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    release(cpu);
    release(gpu);
    cx_assert_error(ctxrt_stream_synchronize(stream), CTXRT_ERROR_CONTEXT_DESTROYED);
    leave(stream);
    stream = enter(_i);
    cpu = alloc_on(ON_CPU, SMALL);
    gpu = alloc_on(ON_GPU, SMALL);
    memcpy(at(cpu), pattern, SMALL);
    cx_assert_ok(ctxrt_copy_async(at(gpu), at(cpu), SMALL, CTXRT_COPY_ANY, stream));
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    assert_holds(at(gpu), pattern, SMALL);
    release(cpu);
    release(gpu);
    leave(stream);
    cx_fixture_end();
}
END_TEST

/* The GPU's driver refuses when the copy's turn comes: its memory is gone by then. */
START_TEST(an_error_of_the_other_driver_comes_out_at_the_next_wait_and_once)
{
    gate barrier;
    CUdeviceptr native;
    start();
    two_drivers_hold();
    ctxrt_stream *stream = enter(ON_CPU);
    ctxrt_event *event = create_event(CTXRT_EVENT_DEFAULT);
    ctxrt_memory *cpu = alloc_on(ON_CPU, SMALL);
    const cx_driver_table *gpus = &cx_drivers[1].table;
    ck_assert_int_eq(gpus->ctx_push(two_drivers_native(ON_GPU)), CXU_SUCCESS);
    for (int waits = 0; waits < 5; waits++) {
        ck_assert_int_eq(gpus->mem_alloc(&native, SMALL), CXU_SUCCESS);
        gate_close(&barrier, stream);
        cx_assert_ok(
            ctxrt_copy_async(at(cpu), (void *)(uintptr_t)native, SMALL, CTXRT_COPY_ANY, stream));
        ck_assert_int_eq(gpus->mem_free(native), CXU_SUCCESS);
        cx_assert_ok(ctxrt_event_record(event, stream));
        cx_assert_status(ctxrt_stream_query(stream), CTXRT_ERROR_NOT_READY);
        gate_open(&barrier);
        ck_assert_int_eq(cx_drivers[0].table.stream_synchronize(native_of(stream)), CXU_SUCCESS);
        cx_assert_error(waits == 0   ? ctxrt_stream_synchronize(stream)
                        : waits == 1 ? ctxrt_stream_query(stream)
                        : waits == 2 ? ctxrt_event_synchronize(event)
                        : waits == 3 ? ctxrt_event_query(event)
                                     : ctxrt_device_synchronize(),
                        CTXRT_ERROR_DRIVER);
        ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->driver_call, "cuMemcpy"));
        cx_assert_ok(ctxrt_stream_synchronize(stream));
    }
    ck_assert_int_eq(gpus->ctx_pop(NULL), CXU_SUCCESS);
    release(cpu);
    cx_assert_ok(ctxrt_event_destroy(event));
    leave(stream);
    two_drivers_let_go();
    cx_fixture_end();
}
END_TEST

/* ---- captures ---- */

START_TEST(a_copy_in_a_capture_of_the_gpu_s_is_done_by_each_launch)
{
    ctxrt_graph *graph;
    start();
    ctxrt_stream *stream = enter(ON_GPU);
    ctxrt_memory *cpu = alloc_on(ON_CPU, SMALL), *gpu = alloc_on(ON_GPU, SMALL);
    cx_assert_ok(ctxrt_stream_capture_begin(stream, CTXRT_CAPTURE_GLOBAL));
    cx_assert_ok(ctxrt_copy_async(at(gpu), at(cpu), SMALL, CTXRT_COPY_ANY, stream));
    cx_assert_ok(ctxrt_stream_capture_end(stream, &graph));
    for (int i = 0; i < 3; i++) {
        memcpy(at(cpu), pattern + i, SMALL);
        cx_assert_ok(ctxrt_graph_launch(graph, stream));
        cx_assert_ok(ctxrt_stream_synchronize(stream));
        assert_holds(at(gpu), pattern + i, SMALL);
    }
    cx_assert_ok(ctxrt_graph_release(graph));
    release(cpu);
    release(gpu);
    leave(stream);
    cx_fixture_end();
}
END_TEST

START_TEST(a_copy_in_a_capture_of_the_cpu_s_is_refused_and_the_capture_goes_on)
{
    ctxrt_graph *graph;
    ctxrt_capture_state state;
    atomic_int marks = 0;
    static const char *const names[CALLS] = {"ctxrt_copy_async", "ctxrt_copy_2d_async",
                                             "ctxrt_copy_peer"};
    start();
    ctxrt_stream *stream = enter(ON_CPU);
    ctxrt_memory *cpu = alloc_on(ON_CPU, SMALL), *gpu = alloc_on(ON_GPU, SMALL);
    memset(at(cpu), 0, SMALL);
    cx_assert_ok(ctxrt_stream_capture_begin(stream, CTXRT_CAPTURE_GLOBAL));
    for (int i = 0; i < CALLS; i++) {
        cx_assert_error(calls[i](ON_GPU, at(gpu), ON_CPU, at(cpu), SMALL, stream),
                        CTXRT_ERROR_NOT_SUPPORTED);
        ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, names[i]));
        cx_assert_ok(ctxrt_stream_capture_status(stream, &state));
        ck_assert_int_eq(state, CTXRT_CAPTURE_ACTIVE);
    }
    cx_assert_ok(ctxrt_stream_add_host_function(stream, mark, &marks));
    cx_assert_ok(ctxrt_stream_capture_end(stream, &graph));
    cx_assert_ok(ctxrt_graph_launch(graph, stream));
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    ck_assert_int_eq(atomic_load(&marks), 1);
    cx_assert_ok(ctxrt_graph_release(graph));
    release(cpu);
    release(gpu);
    leave(stream);
    cx_fixture_end();
}
END_TEST

/* A capture of the thread's, in another stream, forbids allocating and asking: not for this. */
START_TEST(a_copy_beside_a_capture_of_the_same_thread_does_not_end_that)
{
    ctxrt_graph *graph;
    start();
    ctxrt_stream *stream = enter(_i), *captured = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_memory *cpu = alloc_on(ON_CPU, SMALL), *gpu = alloc_on(ON_GPU, SMALL);
    memcpy(at(cpu), pattern, SMALL);
    cx_assert_ok(ctxrt_stream_capture_begin(captured, CTXRT_CAPTURE_GLOBAL));
    cx_assert_ok(ctxrt_copy_async(at(gpu), at(cpu), SMALL, CTXRT_COPY_ANY, stream));
    cx_assert_ok(ctxrt_copy_async(at(gpu), at(cpu), SMALL, CTXRT_COPY_ANY, stream));
    cx_assert_ok(ctxrt_stream_capture_end(captured, &graph));
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    assert_holds(at(gpu), pattern, SMALL);
    cx_assert_ok(ctxrt_graph_release(graph));
    release(cpu);
    release(gpu);
    cx_assert_ok(ctxrt_stream_destroy(captured));
    leave(stream);
    cx_fixture_end();
}
END_TEST

static Suite *staged_ends_suite(void)
{
    Suite *suite = suite_create("copies between two drivers, and what ends meanwhile");
    TCase *memory = tcase_create("memory");
    tcase_add_loop_test(memory,
                        memory_that_is_released_right_after_the_call_lasts_until_the_copy_is_done,
                        0, 4 * SIDES + 2);
    tcase_add_loop_test(memory, memory_that_two_copies_read_lasts_until_both_are_done, 0, SIDES);
    tcase_add_test(memory, the_release_of_memory_in_debug_mode_waits_for_the_copy);
    tcase_add_test(memory, a_stream_stages_all_its_copies_through_the_same_memory);
    tcase_add_test(memory, a_trim_of_pinned_memory_gives_back_what_no_copy_is_staged_through);
    suite_add_tcase(suite, memory);

    TCase *failures = tcase_create("failures");
    tcase_add_loop_test(failures,
                        a_copy_that_a_driver_refuses_halfway_fails_and_the_next_one_is_done, 0,
                        4 * SIDES);
    suite_add_tcase(suite, failures);

    TCase *ends = tcase_create("ends");
    tcase_add_loop_test(ends, an_orderly_end_waits_for_the_copies_under_way, 0,
                        2 * SIDES * SCHEDULES);
    tcase_add_loop_test(ends, a_reset_of_the_other_device_ends_the_copy_and_its_stream_says_so, 0,
                        SIDES);
    tcase_add_test(ends, a_reset_of_the_cpu_waits_for_the_part_that_is_being_copied);
    tcase_add_loop_test(ends, a_reset_of_the_stream_s_own_device_ends_the_copy, 0, SIDES);
    tcase_add_test(ends, an_error_of_the_other_driver_comes_out_at_the_next_wait_and_once);
    suite_add_tcase(suite, ends);

    TCase *captures = tcase_create("captures");
    tcase_add_test(captures, a_copy_in_a_capture_of_the_gpu_s_is_done_by_each_launch);
    tcase_add_test(captures, a_copy_in_a_capture_of_the_cpu_s_is_refused_and_the_capture_goes_on);
    tcase_add_loop_test(captures, a_copy_beside_a_capture_of_the_same_thread_does_not_end_that, 0,
                        SIDES);
    suite_add_tcase(suite, captures);
    return suite;
}

CX_TESTS(staged_ends_suite);
