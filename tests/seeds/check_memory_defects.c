/* What went wrong with memory in the systems before (docs/seeds.md, 2.101 to 2.117), for memory of
 * each source. */
#include "sources.h"

/* ---- defect 1: sizes that wrap ---- */

/* Also where 256 bytes are the unit, 32 bits count units, and a guard is added. */
static const size_t too_much[] = {SIZE_MAX,
                                  SIZE_MAX - 1,
                                  SIZE_MAX - 255,
                                  SIZE_MAX - 256,
                                  SIZE_MAX - 511,
                                  SIZE_MAX - 512,
                                  SIZE_MAX - 4095,
                                  SIZE_MAX - 2 * MIB + 1,
                                  SIZE_MAX / 2 + 2,
                                  SIZE_MAX / 2 - 511,
                                  ((size_t)1 << 40) + 256,
                                  ((size_t)1 << 40) + 1,
                                  (size_t)1 << 40,
                                  ((size_t)1 << 40) - 255,
                                  ((size_t)1 << 40) - 512};

static void assert_all_refused(void)
{
    ctxrt_memory *none = NULL;
    void *nowhere = NULL;
    for (size_t i = 0; i < sizeof too_much / sizeof too_much[0]; i++) {
        cx_assert_error(try_to_allocate(too_much[i], &none), CTXRT_ERROR_OUT_OF_MEMORY);
        ck_assert_ptr_null(none);
        if (!is_pinned())
            cx_assert_error(ctxrt_alloc(too_much[i], &nowhere), CTXRT_ERROR_OUT_OF_MEMORY);
        ck_assert_ptr_null(nowhere);
    }
}

START_TEST(an_impossible_size_is_refused_with_a_limit_in_a_recording_and_beside_other_memory)
{
    begin(_i);
    assert_all_refused();
    ck_assert_uint_eq(look().requested.total_count, 0);
    ctxrt_memory *memory = allocate(1000);
    cx_assert_ok(ctxrt_fill(address(memory), 5, 1000));
    assert_all_refused();
    cx_assert_ok(ctxrt_allocator_set_limit(allocator, MIB));
    assert_all_refused();
    cx_assert_ok(ctxrt_allocator_set_limit(allocator, UINT64_MAX));
    assert_all_refused();
    cx_assert_ok(ctxrt_allocator_set_limit(allocator, 0));
    cx_assert_ok(ctxrt_recording_start(NULL));
    assert_all_refused();
    cx_assert_ok(ctxrt_recording_cancel());
    ck_assert_uint_eq(look().requested.current_bytes, 1000);
    ck_assert_uint_eq(look().requested.current_count, 1);
    assert_filled(address(memory), 5, 1000);
    release(memory);
    finish();
}
END_TEST

/* ---- defect 8: trims ---- */

typedef struct trimmer {
    ctxrt_memory *memory; /* to release first; NULL: none */
    int wrong;
} trimmer;

/* On a thread with nothing current. */
static void *trim_there(void *argument)
{
    trimmer *self = argument;
    self->wrong += ctxrt_memory_release(self->memory) != CTXRT_SUCCESS;
    for (int i = 0; i < 2; i++)
        self->wrong += ctxrt_allocator_trim(allocator, NULL) != CTXRT_SUCCESS;
    return NULL;
}

START_TEST(trims_leave_what_is_in_use_and_free_nothing_twice)
{
    enum { PIECES = 48 };
    static const size_t sizes[] = {256, 20 * KIB, 200 * KIB, 256 * KIB};
    uint64_t released;
    ctxrt_memory *pieces[PIECES];
    trimmer other = {NULL, 0};
    begin(_i);
    for (int i = 0; i < PIECES; i++) {
        pieces[i] = allocate(sizes[i % 4]);
        cx_assert_ok(ctxrt_fill(address(pieces[i]), i, sizes[i % 4]));
    }
    for (int i = 0; i < PIECES; i++)
        if (i % 3 != 0)
            release(pieces[i]);
    cx_assert_ok(ctxrt_allocator_trim(allocator, NULL));
    on_a_thread(trim_there, &other);
    ck_assert_int_eq(other.wrong, 0);
    cx_assert_ok(ctxrt_allocator_trim(allocator, &released));
    ck_assert_uint_eq(released, 0);
    for (int i = 0; i < PIECES; i++) {
        if (i % 3 != 0) {
            cx_assert_error(ctxrt_memory_release(pieces[i]), CTXRT_ERROR_INVALID_HANDLE);
            continue;
        }
        assert_filled(address(pieces[i]), i, sizes[i % 4]);
        release(pieces[i]);
        cx_assert_error(ctxrt_memory_release(pieces[i]), CTXRT_ERROR_INVALID_HANDLE);
    }
    ck_assert_uint_eq(look().requested.current_count, 0);
    cx_assert_ok(ctxrt_allocator_trim(allocator, &released));
    ck_assert_uint_gt(released, 0);
    cx_assert_ok(ctxrt_allocator_trim(allocator, &released));
    ck_assert_uint_eq(released, 0);
    finish();
}
END_TEST

/* The fill is held back until the memory is free and a trim is over, or, where frees and trims wait
 * for it, under way. */
START_TEST(a_trim_does_not_take_what_work_still_uses)
{
    pthread_t thread;
    gate held;
    begin(_i);
    bool waits = from != MAPPED && !is_pinned();
    ctxrt_stream *stream = use_new_stream();
    trimmer other = {allocate(4 * MIB), 0};
    gate_close(&held, stream);
    cx_assert_ok(ctxrt_fill_async(address(other.memory), 3, 4 * MIB, NULL));
    if (waits)
        ck_assert_int_eq(pthread_create(&thread, NULL, trim_there, &other), 0);
    else
        (void)trim_there(&other);
    gate_open(&held);
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    if (waits)
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(other.wrong, 0);
    cx_assert_ok(ctxrt_device_synchronize());
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    finish();
}
END_TEST

/* ---- defect 15: more is held than was asked for ---- */

START_TEST(a_large_free_block_serves_what_fits_into_it)
{
    enum { PIECES = 3 };
    ctxrt_memory *pieces[PIECES];
    begin(_i);
    release(allocate(60 * MIB));
    uint64_t reserved = look().reserved.current_bytes;
    ck_assert_uint_le(reserved, 64 * MIB);
    for (int i = 0; i < PIECES; i++)
        pieces[i] = allocate(17 * MIB);
    ctxrt_memory *small = allocate(MIB);
    ck_assert_uint_eq(look().reserved.current_bytes, reserved);
    for (int i = 0; i < PIECES; i++)
        release(pieces[i]);
    release(small);
    finish();
}
END_TEST

/* Of the sizes that a neural network's small tensors have. A guard is 512 bytes by itself. */
START_TEST(many_small_pieces_hold_little_more_than_was_asked_for)
{
    enum { PIECES = 8000, EACH = 1000 };
    static ctxrt_memory *pieces[PIECES];
    begin(_i);
    size_t each = from == GUARDED ? EACH + 512 : EACH, count = from == GUARDED ? 2000 : PIECES;
    for (size_t i = 0; i < count; i++)
        if (try_to_allocate(EACH, &pieces[i]) != CTXRT_SUCCESS)
            ck_abort_msg("%s", ctxrt_last_error()->message);
    ck_assert_uint_le(look().reserved.current_bytes, count * each * 5 / 4 + 2 * MIB);
    for (size_t i = 0; i < count; i++)
        if (ctxrt_memory_release(pieces[i]) != CTXRT_SUCCESS)
            ck_abort_msg("%s", ctxrt_last_error()->message);
    finish();
}
END_TEST

/* ---- defect 16: memory outlives whom it came from ---- */

static void *allocate_there(void *argument)
{
    ctxrt_memory **out_memory = argument;
    bool there = ctxrt_device_push(place) == CTXRT_SUCCESS &&
                 (!is_created() || ctxrt_frame_set_allocator(allocator) == CTXRT_SUCCESS) &&
                 try_to_allocate(BYTES, out_memory) == CTXRT_SUCCESS &&
                 ctxrt_stack_pop() == CTXRT_SUCCESS;
    return there ? argument : NULL;
}

static void assert_kept(void)
{
    if (is_created())
        cx_assert_error(ctxrt_allocator_destroy(allocator), CTXRT_ERROR_IN_USE);
    else
        cx_assert_error(ctxrt_device_release(place), CTXRT_ERROR_IN_USE);
    cx_assert_error(ctxrt_shutdown(), CTXRT_ERROR_IN_USE);
}

/* The thread that allocated it has ended, its frame with it. */
START_TEST(memory_keeps_its_allocator_and_its_device_until_it_is_freed)
{
    ctxrt_memory *memory = NULL;
    begin(_i);
    cx_assert_ok(ctxrt_stack_pop());
    on_a_thread(allocate_there, &memory);
    assert_kept();
    cx_assert_ok(ctxrt_memory_retain(memory));
    release(memory);
    assert_kept();
    enter();
    cx_assert_ok(ctxrt_fill(address(memory), 4, BYTES));
    assert_filled(address(memory), 4, BYTES);
    cx_assert_ok(ctxrt_stack_pop());
    release(memory);
    cx_assert_error(ctxrt_memory_release(memory), CTXRT_ERROR_INVALID_HANDLE);
    enter();
    finish();
}
END_TEST

/* Memory of no allocator of ctxrt's keeps its device as well. */
START_TEST(stream_ordered_managed_and_registered_memory_keep_their_device)
{
    static char pages[2 * 4096];
    void *ordered, *managed;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_alloc_async(BYTES, NULL, &ordered));
    cx_assert_ok(ctxrt_alloc_managed(BYTES, &managed));
    cx_assert_ok(ctxrt_host_register(pages, sizeof pages));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_error(ctxrt_device_release(CTXRT_CUDA(1)), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_free(ordered));
    cx_assert_error(ctxrt_device_release(CTXRT_CUDA(1)), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_free(managed));
    cx_assert_error(ctxrt_device_release(CTXRT_CUDA(1)), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_host_unregister(pages));
    cx_assert_ok(ctxrt_device_release(CTXRT_CUDA(1)));
    cx_assert_error(ctxrt_free(ordered), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_free(managed), CTXRT_ERROR_INVALID_ARGUMENT);
}
END_TEST

/* ---- defect 17: reuse without regard to streams ---- */

static void *release_there(void *argument)
{
    return (void *)(uintptr_t)ctxrt_memory_release(argument);
}

static void release_elsewhere(ctxrt_memory *memory)
{
    pthread_t thread;
    void *status;
    ck_assert_int_eq(pthread_create(&thread, NULL, release_there, memory), 0);
    ck_assert_int_eq(pthread_join(thread, &status), 0);
    ck_assert_ptr_null(status);
}

/* What threads keep and what the heap has; freed by its own thread and by another. */
START_TEST(no_other_stream_gets_memory_of_any_size_before_the_work_on_it)
{
    static const size_t sizes[] = {256, 3000, 20 * KIB, 200 * KIB};
    gate held;
    begin(_i / 2 == 0 ? USUAL : _i / 2 == 1 ? MAPPED : PINNED);
    for (int i = 0; i < 4; i++) {
        ctxrt_stream *one = use_new_stream();
        ctxrt_memory *memory = allocate(sizes[i]), *next;
        const void *pointer = address(memory);
        gate_close(&held, one);
        cx_assert_ok(ctxrt_fill_async(address(memory), 1, sizes[i], NULL));
        if (_i % 2 == 0)
            release(memory);
        else
            release_elsewhere(memory);
        ctxrt_stream *other = use_new_stream();
        next = allocate(sizes[i]);
        ck_assert_ptr_ne(address(next), pointer);
        cx_assert_ok(ctxrt_fill(address(next), 2, sizes[i]));
        gate_open(&held);
        cx_assert_ok(ctxrt_stream_synchronize(one));
        assert_filled(address(next), 2, sizes[i]);
        release(next);
        cx_assert_ok(ctxrt_frame_set_stream(NULL));
        cx_assert_ok(ctxrt_stream_destroy(one));
        cx_assert_ok(ctxrt_stream_destroy(other));
    }
    finish();
}
END_TEST

/* Freed in the order of one stream, and the memory asked for in the order of another. */
START_TEST(stream_ordered_memory_is_used_again_in_order_too)
{
    gate held;
    void *first, *second;
    cx_assert_ok(ctxrt_device_push(_i == 0 ? CTXRT_CUDA(1) : CTXRT_CPU(0)));
    ctxrt_stream *one = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_stream *other = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_alloc_async(BYTES, one, &first));
    gate_close(&held, one);
    cx_assert_ok(ctxrt_fill_async(first, 1, BYTES, one));
    cx_assert_ok(ctxrt_free_async(first, one));
    cx_assert_ok(ctxrt_alloc_async(BYTES, other, &second));
    cx_assert_ok(ctxrt_fill_async(second, 2, BYTES, other));
    give_others_a_chance(current_stream());
    gate_open(&held);
    cx_assert_ok(ctxrt_stream_synchronize(one));
    cx_assert_ok(ctxrt_stream_synchronize(other));
    assert_filled(second, 2, BYTES);
    cx_assert_ok(ctxrt_free_async(second, other));
    cx_assert_ok(ctxrt_stream_synchronize(other));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stream_destroy(one));
    cx_assert_ok(ctxrt_stream_destroy(other));
}
END_TEST

/* ---- defect 14: whose pinned memory is ---- */

static void assert_place(ctxrt_memory *memory, ctxrt_device device)
{
    ctxrt_memory_info info;
    ctxrt_pointer_info known;
    cx_assert_ok(ctxrt_memory_describe(memory, &info));
    ck_assert_int_eq(info.device.type, device.type);
    ck_assert_int_eq(info.device.index, device.index);
    ck_assert_int_eq(info.kind, CTXRT_MEMORY_PINNED);
    cx_assert_ok(ctxrt_pointer_query((char *)address(memory) + BYTES - 1, &known));
    ck_assert_int_eq(known.known, 1);
    ck_assert_int_eq(known.kind, CTXRT_MEMORY_PINNED);
    ck_assert_int_eq(known.device.type, device.type);
    ck_assert_int_eq(known.device.index, device.index);
    ck_assert_ptr_eq(known.base, address(memory));
    ck_assert_uint_eq(known.size_bytes, BYTES);
}

START_TEST(pinned_memory_is_of_its_device_in_a_recording_and_by_its_address_too)
{
    static const ctxrt_device devices[] = {
        {CTXRT_DEVICE_CUDA, 2}, {CTXRT_DEVICE_CPU, 0}, {CTXRT_DEVICE_CUDA, 0}};
    ctxrt_memory *eager[3], *recorded[3];
    for (int i = 0; i < 3; i++) {
        cx_assert_ok(ctxrt_device_push(devices[i]));
        cx_assert_ok(ctxrt_memory_alloc_pinned(BYTES, &eager[i]));
        cx_assert_ok(ctxrt_recording_start(NULL));
        cx_assert_ok(ctxrt_memory_alloc_pinned(BYTES, &recorded[i]));
        cx_assert_ok(ctxrt_recording_cancel());
    }
    for (int i = 0; i < 3; i++) {
        assert_place(eager[i], devices[i]);
        assert_place(recorded[i], devices[i]);
    }
    for (int i = 0; i < 3; i++) {
        release(eager[i]);
        release(recorded[i]);
        cx_assert_ok(ctxrt_stack_pop());
    }
}
END_TEST

static Suite *defects_suite(void)
{
    Suite *suite = suite_create("memory_defects");
    TCase *tcase = tcase_create("memory_defects");
    tcase_add_checked_fixture(tcase, cx_fixture_start, cx_fixture_end);
    tcase_add_loop_test(
        tcase, an_impossible_size_is_refused_with_a_limit_in_a_recording_and_beside_other_memory, 0,
        SOURCES);
    tcase_add_loop_test(tcase, trims_leave_what_is_in_use_and_free_nothing_twice, 0, SOURCES);
    tcase_add_loop_test(tcase, a_trim_does_not_take_what_work_still_uses, 0, SOURCES);
    tcase_add_loop_test(tcase, a_large_free_block_serves_what_fits_into_it, 0, SOURCES);
    tcase_add_loop_test(tcase, many_small_pieces_hold_little_more_than_was_asked_for, 0, SOURCES);
    tcase_add_loop_test(tcase, memory_keeps_its_allocator_and_its_device_until_it_is_freed, 0,
                        SOURCES);
    tcase_add_test(tcase, stream_ordered_managed_and_registered_memory_keep_their_device);
    tcase_add_loop_test(tcase, no_other_stream_gets_memory_of_any_size_before_the_work_on_it, 0, 6);
    tcase_add_loop_test(tcase, stream_ordered_memory_is_used_again_in_order_too, 0, 2);
    tcase_add_test(tcase, pinned_memory_is_of_its_device_in_a_recording_and_by_its_address_too);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS_TOGETHER(defects_suite);
