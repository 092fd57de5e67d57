/* The debug mode of pinned memory: the host fills it and looks at it, behind all work that uses
 * it. */
#include "gate.h"
#include "guarded_pinned.h"
#include "memory/memory.h"
#include "memory/pointer.h"

#include <stdatomic.h>
#include <stdint.h>

/* ---- around a piece ---- */

START_TEST(memory_that_is_used_as_it_should_be_is_freed_without_a_word)
{
    ctxrt_memory *memory, *on_device;
    ctxrt_memory_info info;
    ctxrt_pointer_info known;
    start("canary,poison,quarantine=1M");
    cx_assert_ok(ctxrt_memory_alloc(3 * MIB, &on_device));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *bytes = allocate(sizes[i], &memory);
        ck_assert_uint_eq((uintptr_t)bytes % 256, 0);
        ck_assert(is_filled(bytes, 0xA7, sizes[i]));
        memset(bytes, 1, sizes[i]);
        cx_assert_ok(ctxrt_memory_describe(memory, &info));
        ck_assert_int_eq(info.kind, CTXRT_MEMORY_PINNED);
        ck_assert_int_eq(info.pinned, 1);
        ck_assert_int_eq(info.device.type, CTXRT_DEVICE_CUDA);
        ck_assert_uint_eq(info.size_bytes, sizes[i]);
        cx_assert_ok(ctxrt_pointer_query(bytes + sizes[i] - 1, &known));
        ck_assert_ptr_eq(known.base, bytes);
        ck_assert_uint_eq(known.size_bytes, sizes[i]);
        ck_assert_uint_eq(look().requested.current_bytes, sizes[i]);
        cx_assert_error(ctxrt_frame_set_allocator(pinned()), CTXRT_ERROR_INVALID_ARGUMENT);
        cx_assert_ok(ctxrt_copy_async(ctxrt_memory_pointer(on_device), bytes, sizes[i],
                                      CTXRT_COPY_HOST_TO_DEVICE, NULL));
        cx_assert_ok(ctxrt_allocator_check(pinned()));
        cx_assert_ok(ctxrt_memory_release(memory));
        cx_assert_ok(ctxrt_pointer_query(bytes, &known));
        ck_assert_int_eq(known.known, 0);
    }
    cx_assert_ok(ctxrt_memory_release(on_device));
    end();
    ck_assert_uint_eq(lines.length, 0);
}
END_TEST

enum { STRAYS = sizeof strays / sizeof *strays };

START_TEST(a_byte_beyond_a_piece_is_told_by_a_check_and_by_its_free)
{
    ctxrt_memory *memory;
    start("canary");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *bytes = allocate(sizes[i], &memory);
        long distance = strays[_i].distance;
        bytes[distance < 0 ? distance : (long)sizes[i] + distance] = 5;
        cx_assert_error(ctxrt_allocator_check(pinned()), CTXRT_ERROR_CORRUPTED);
        assert_says(strays[_i].says);
        cx_assert_error(ctxrt_memory_release(memory), CTXRT_ERROR_CORRUPTED);
        assert_says(strays[_i].says);
        cx_assert_error(ctxrt_memory_release(memory), CTXRT_ERROR_INVALID_HANDLE);
        ck_assert_int_eq(log_lines_with(&lines, strays[_i].says), (int)i + 1);
    }
    end();
}
END_TEST

static void *release(void *memory)
{
    return (void *)(uintptr_t)ctxrt_memory_release(memory);
}

static void lose_what_is_in_quarantine(void)
{
    ctxrt_memory *memory;
    (void)allocate(KIB, &memory);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
}

/* The copy that writes too much is still to run when the memory is freed, by a thread with nothing
 * current; also where a reset has left memory of before in quarantine. */
START_TEST(a_copy_that_is_still_to_run_is_waited_for)
{
    gate held;
    pthread_t thread;
    void *status;
    ctxrt_memory *memory, *on_device;
    CUstream native, current;
    start("canary,poison,quarantine=64K");
    if (_i == 1)
        lose_what_is_in_quarantine();
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_memory_alloc(2 * KIB, &on_device));
    cx_assert_ok(ctxrt_fill(ctxrt_memory_pointer(on_device), 5, 2 * KIB));
    unsigned char *bytes = allocate(KIB, &memory);
    cx_assert_ok(ctxrt_allocator_trim(pinned(), NULL));
    gate_close(&held, stream);
    cx_assert_ok(ctxrt_stream_native(stream, &native));
    ck_assert_int_eq(kernels(&current)->memcpy_dtoh_async(
                         bytes + KIB, (uintptr_t)ctxrt_memory_pointer(on_device), 1, native),
                     0);
    cx_assert_ok(ctxrt_copy_async(bytes, ctxrt_memory_pointer(on_device), KIB,
                                  CTXRT_COPY_DEVICE_TO_HOST, stream));
    ck_assert_int_eq(pthread_create(&thread, NULL, release, memory), 0);
    give_others_a_chance(current_stream());
    gate_open(&held);
    ck_assert_int_eq(pthread_join(thread, &status), 0);
    ck_assert_int_eq((int)(uintptr_t)status, CTXRT_ERROR_CORRUPTED);
    ck_assert_int_eq(log_lines_with(&lines, "byte 1 behind it is 0x5"), 1);
    cx_assert_ok(ctxrt_memory_release(on_device));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    end();
}
END_TEST

/* As a copy of another thread does while it submits its work, for which its driver may wait. */
START_TEST(a_free_sleeps_while_a_call_uses_the_memory)
{
    pthread_t thread;
    void *status;
    ctxrt_memory *memory;
    cx_pointer_view view;
    start("canary");
    cx_assert_ok(cx_pointer_look(allocate(KIB, &memory), KIB, &view));
    ctxrt_memory *used = cx_memory_take_cached(view.block.cached, view.block.generation);
    ck_assert_ptr_nonnull(used);
    ck_assert_int_eq(pthread_create(&thread, NULL, release, memory), 0);
    while (atomic_load(&cx_cache_block_counts.sleepers) == 0)
        sched_yield();
    cx_memory_give(used);
    ck_assert_int_eq(pthread_join(thread, &status), 0);
    ck_assert_int_eq((int)(uintptr_t)status, CTXRT_SUCCESS);
    end();
    ck_assert_uint_eq(lines.length, 0);
}
END_TEST

/* ---- what was freed ---- */

START_TEST(memory_in_quarantine_is_not_given_out_and_a_write_to_it_is_found)
{
    ctxrt_memory *memory;
    start("poison,quarantine=64K");
    unsigned char *bytes = allocate(KIB, &memory);
    cx_assert_ok(ctxrt_memory_release(memory));
    ck_assert(is_filled(bytes, 0xDB, KIB));
    for (int i = 0; i < 8; i++) {
        ck_assert_ptr_ne(allocate(KIB, &memory), bytes);
        cx_assert_ok(ctxrt_memory_release(memory));
    }
    bytes[7] = 6;
    cx_assert_error(ctxrt_allocator_check(pinned()), CTXRT_ERROR_CORRUPTED);
    assert_says("byte 7 of it was written after it was freed: it is 0x6");
    bytes[7] = 0xDB;
    (void)allocate(60 * KIB, &memory);
    cx_assert_ok(ctxrt_memory_release(memory));
    ck_assert_int_eq(log_lines_with(&lines, "written after it was freed"), 1);
    bytes = allocate(KIB, &memory);
    cx_assert_ok(ctxrt_memory_release(memory));
    bytes[0] = 0;
    end();
    ck_assert_int_eq(log_lines_with(&lines, "byte 0 of it was written after it was freed"), 1);
}
END_TEST

/* ---- refusals ---- */

START_TEST(the_limit_of_a_context_is_for_pinned_memory_too)
{
    ctxrt_memory *memory, *none, *on_device;
    start("limit=1M");
    cx_assert_ok(ctxrt_memory_alloc(MIB / 2, &on_device));
    (void)allocate(MIB / 2, &memory);
    cx_assert_error(ctxrt_memory_alloc_pinned(1, &none), CTXRT_ERROR_OUT_OF_MEMORY);
    assert_says("beyond the limit of primary context");
    cx_assert_error(ctxrt_memory_alloc(1, &none), CTXRT_ERROR_OUT_OF_MEMORY);
    cx_assert_ok(ctxrt_memory_release(on_device));
    cx_assert_ok(ctxrt_memory_release(memory));
    (void)allocate(MIB, &memory);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_error(ctxrt_memory_alloc_pinned(SIZE_MAX - 511, &none), CTXRT_ERROR_OUT_OF_MEMORY);
    end();
}
END_TEST

/* The request goes on: what is kept goes back, and the driver is asked again. */
START_TEST(a_call_for_memory_that_is_refused_is_made_again)
{
    ctxrt_memory *memory;
    start("fail=2");
    (void)allocate(4 * MIB, &memory);
    cx_assert_ok(ctxrt_memory_release(memory));
    (void)allocate(16 * MIB, &memory);
    ck_assert_uint_gt(look().retries, 0);
    ck_assert_uint_lt(look().reserved.current_bytes, 20 * MIB);
    cx_assert_ok(ctxrt_memory_release(memory));
    end();
}
END_TEST

START_TEST(quarantine_is_given_up_before_a_request_is_refused_which_says_what_is_in_use)
{
    ctxrt_memory *memory, *none;
    ck_assert_int_eq(setenv("CTXRT_EMU_FAULT", "cuMemHostAlloc@2+:OUT_OF_MEMORY", 1), 0);
    start("canary,quarantine=64M");
    const unsigned char *bytes = allocate(MIB, &memory);
    cx_assert_ok(ctxrt_memory_release(memory));
    ck_assert_ptr_ne(allocate(MIB / 2, &memory), bytes);
    cx_assert_ok(ctxrt_memory_release(memory));
    (void)allocate(MIB, &memory);
    cx_assert_error(ctxrt_memory_alloc_pinned(64 * MIB, &none), CTXRT_ERROR_OUT_OF_MEMORY);
    assert_says("in use in 1 piece");
    cx_assert_ok(ctxrt_memory_release(memory));
    end();
}
END_TEST

/* ---- lives ---- */

static ctxrt_status copy_first(void *argument)
{
    void *const *pointers = argument;
    return ctxrt_copy_async(pointers[1], pointers[0], KIB, CTXRT_COPY_HOST_TO_DEVICE, NULL);
}

/* It is looked at, and filled, when the graph is gone. */
START_TEST(what_is_freed_in_a_recording_is_left_alone_until_its_graph_is_gone)
{
    ctxrt_memory *memory[2], *other;
    ctxrt_graph *graph;
    unsigned char seen = 0;
    start("canary,poison,quarantine=1M");
    cx_assert_ok(ctxrt_memory_alloc(KIB, &memory[1]));
    cx_assert_ok(ctxrt_recording_start(NULL));
    unsigned char *bytes = allocate(KIB, &memory[0]);
    void *pointers[] = {bytes, ctxrt_memory_pointer(memory[1])};
    const ctxrt_operator operation = {sizeof operation, "copy", copy_first, NULL, pointers, 1};
    cx_assert_ok(ctxrt_operator_submit(&operation));
    memset(bytes, 9, KIB);
    cx_assert_ok(ctxrt_memory_release(memory[0]));
    ck_assert_ptr_ne(allocate(KIB, &other), bytes);
    cx_assert_ok(ctxrt_recording_stop(&graph));
    cx_assert_ok(ctxrt_memory_release(other));
    ck_assert(is_filled(bytes, 9, KIB));
    cx_assert_ok(ctxrt_graph_launch(graph, NULL));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    cx_assert_ok(ctxrt_copy(&seen, ctxrt_memory_pointer(memory[1]), 1, CTXRT_COPY_ANY));
    ck_assert_int_eq(seen, 9);
    cx_assert_ok(ctxrt_graph_release(graph));
    ck_assert(is_filled(bytes, 0xDB, KIB));
    cx_assert_ok(ctxrt_memory_release(memory[1]));
    end();
}
END_TEST

/* One piece is in quarantine, one in the user's hands. */
START_TEST(a_reset_takes_it_and_it_is_freed_without_a_look)
{
    ctxrt_memory *freed, *kept, *after;
    start("canary,poison,quarantine=1M");
    (void)allocate(KIB, &freed);
    (void)allocate(KIB, &kept);
    cx_assert_ok(ctxrt_memory_release(freed));
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    unsigned char *bytes = allocate(KIB, &after);
    uint64_t allocated = look().allocated.current_bytes;
    bytes[0] = 1;
    cx_assert_ok(ctxrt_memory_release(kept));
    ck_assert_uint_eq(look().allocated.current_bytes, allocated);
    cx_assert_ok(ctxrt_allocator_trim(pinned(), NULL));
    ck_assert_uint_eq(look().allocated.current_bytes, allocated);
    cx_assert_ok(ctxrt_allocator_check(pinned()));
    bytes[-1] = 1;
    cx_assert_error(ctxrt_memory_release(after), CTXRT_ERROR_CORRUPTED);
    end();
}
END_TEST

START_TEST(a_context_takes_what_is_in_quarantine_along)
{
    ctxrt_context *context;
    ctxrt_memory *memory;
    start("canary,poison,quarantine=1M");
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(0), 0, &context));
    cx_assert_ok(ctxrt_stack_push(context));
    unsigned char *bytes = allocate(KIB, &memory);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_error(ctxrt_context_destroy(context), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_memory_release(memory));
    bytes[1] = 3;
    cx_assert_ok(ctxrt_context_destroy(context));
    ck_assert_int_eq(log_lines_with(&lines, "byte 1 of it was written after it was freed"), 1);
    end();
}
END_TEST

/* ---- threads ---- */

enum { THREADS = 4, STEPS = 150 };

typedef struct worker {
    _Atomic(ctxrt_memory *) *slot; /* that all of them share */
    void *on_device;
    int number, wrong;
} worker;

static bool fill_and_copy(const worker *self, ctxrt_memory *memory, ctxrt_stream *stream)
{
    unsigned char *bytes = ctxrt_memory_pointer(memory);
    if (!is_filled(bytes, 0xA7, 3000))
        return false;
    memset(bytes, self->number, 3000);
    return ctxrt_copy_async(self->on_device, bytes, 3000, CTXRT_COPY_HOST_TO_DEVICE, stream) ==
           CTXRT_SUCCESS;
}

static void *work(void *argument)
{
    worker *self = argument;
    ctxrt_stream *stream = NULL;
    bool good = ctxrt_device_push(CTXRT_CUDA(0)) == CTXRT_SUCCESS &&
                ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &stream) == CTXRT_SUCCESS;
    for (int i = 0; i < STEPS && good; i++) {
        ctxrt_memory *memory = NULL;
        good = ctxrt_memory_alloc_pinned(3000, &memory) == CTXRT_SUCCESS &&
               fill_and_copy(self, memory, stream) &&
               ctxrt_memory_release(atomic_exchange(self->slot, memory)) == CTXRT_SUCCESS;
    }
    self->wrong = !good || ctxrt_stream_destroy(stream) != CTXRT_SUCCESS ||
                  ctxrt_stack_pop() != CTXRT_SUCCESS;
    return NULL;
}

/* Who frees a piece has not allocated it, and its copy may be under way. */
START_TEST(threads_that_free_each_others_memory_are_told_of_nothing)
{
    static _Atomic(ctxrt_memory *) slot;
    worker workers[THREADS];
    pthread_t threads[THREADS];
    ctxrt_memory *on_device;
    start("canary,poison,quarantine=64K");
    cx_assert_ok(ctxrt_memory_alloc(THREADS * 4096, &on_device));
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){&slot, (char *)ctxrt_memory_pointer(on_device) + i * 4096, i, 0};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        ck_assert_int_eq(workers[i].wrong, 0);
    }
    cx_assert_ok(ctxrt_memory_release(atomic_load(&slot)));
    cx_assert_ok(ctxrt_memory_release(on_device));
    end();
    ck_assert_uint_eq(lines.length, 0);
}
END_TEST

typedef struct looker {
    ctxrt_allocator *allocator;
    atomic_bool stop;
    int wrong;
} looker;

static void *look_always(void *argument)
{
    looker *self = argument;
    while (!atomic_load(&self->stop))
        self->wrong += ctxrt_allocator_check(self->allocator) != CTXRT_SUCCESS;
    return NULL;
}

START_TEST(a_check_looks_at_nothing_that_was_unpinned)
{
    pthread_t thread;
    ctxrt_memory *memory;
    start("canary,poison,quarantine=64M");
    looker other = {.allocator = pinned()};
    ck_assert_int_eq(pthread_create(&thread, NULL, look_always, &other), 0);
    for (int i = 0; i < 12; i++) {
        (void)allocate(2 * MIB, &memory);
        cx_assert_ok(ctxrt_memory_release(memory));
        cx_assert_ok(ctxrt_allocator_trim(pinned(), NULL));
    }
    atomic_store(&other.stop, true);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(other.wrong, 0);
    end();
    ck_assert_uint_eq(lines.length, 0);
}
END_TEST

static Suite *guard_pinned_suite(void)
{
    Suite *suite = suite_create("guard_pinned");
    TCase *tcase = tcase_create("guard_pinned");
    tcase_add_test(tcase, memory_that_is_used_as_it_should_be_is_freed_without_a_word);
    tcase_add_loop_test(tcase, a_byte_beyond_a_piece_is_told_by_a_check_and_by_its_free, 0, STRAYS);
    tcase_add_loop_test(tcase, a_copy_that_is_still_to_run_is_waited_for, 0, 2);
    tcase_add_test(tcase, a_free_sleeps_while_a_call_uses_the_memory);
    tcase_add_test(tcase, memory_in_quarantine_is_not_given_out_and_a_write_to_it_is_found);
    tcase_add_test(tcase, the_limit_of_a_context_is_for_pinned_memory_too);
    tcase_add_test(tcase, a_call_for_memory_that_is_refused_is_made_again);
    tcase_add_test(tcase,
                   quarantine_is_given_up_before_a_request_is_refused_which_says_what_is_in_use);
    tcase_add_test(tcase, what_is_freed_in_a_recording_is_left_alone_until_its_graph_is_gone);
    tcase_add_test(tcase, a_reset_takes_it_and_it_is_freed_without_a_look);
    tcase_add_test(tcase, a_context_takes_what_is_in_quarantine_along);
    tcase_add_test(tcase, threads_that_free_each_others_memory_are_told_of_nothing);
    tcase_add_test(tcase, a_check_looks_at_nothing_that_was_unpinned);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(guard_pinned_suite);
