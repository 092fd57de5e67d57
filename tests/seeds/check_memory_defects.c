/* What went wrong with memory in the systems before (docs/seeds.md, 2.101 to 2.117), for memory of
 * each source. */
#include "fixture.h"
#include "gate.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

typedef enum source {
    USUAL,  /* the default allocator of a GPU */
    MAPPED, /* memory that is mapped */
    GUARDED, /* debug mode */
    OF_CPU,
    PINNED,
    PINNED_OF_CPU,
    SOURCES
} source;

static source from;
static ctxrt_device place;
static ctxrt_allocator *allocator; /* all memory of the test is of it */

static bool is_pinned(void)
{
    return from == PINNED || from == PINNED_OF_CPU;
}

static void create_allocator(void)
{
    ctxrt_allocator_debug debug = CTXRT_ALLOCATOR_DEBUG_INIT;
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    debug.flags = CTXRT_DEBUG_CANARY;
    options.source = from == MAPPED ? CTXRT_ALLOCATOR_SOURCE_VMM : CTXRT_ALLOCATOR_SOURCE_ALLOC;
    options.debug = from == GUARDED ? &debug : NULL;
    cx_assert_ok(ctxrt_allocator_create(&options, &allocator));
}

static bool is_created(void)
{
    return from == MAPPED || from == GUARDED;
}

/* The allocator's context is current, and memory comes from there. */
static void enter(void)
{
    cx_assert_ok(ctxrt_device_push(place));
    if (is_created())
        cx_assert_ok(ctxrt_frame_set_allocator(allocator));
}

static void begin(int number)
{
    from = (source)number;
    place = from == OF_CPU || from == PINNED_OF_CPU ? CTXRT_CPU(0) : CTXRT_CUDA(1);
    cx_assert_ok(ctxrt_device_push(place));
    if (is_created())
        create_allocator();
    else if (is_pinned())
        cx_assert_ok(ctxrt_allocator_pinned(&allocator));
    else
        cx_assert_ok(ctxrt_allocator_current(&allocator));
    cx_assert_ok(ctxrt_stack_pop());
    enter();
}

static ctxrt_allocator_info look(void)
{
    ctxrt_allocator_info info = CTXRT_ALLOCATOR_INFO_INIT;
    cx_assert_ok(ctxrt_allocator_describe(allocator, &info));
    return info;
}

/* Nothing of the allocator's is in use, and all of it goes back. */
static void finish(void)
{
    ck_assert_uint_eq(look().requested.current_count, 0);
    cx_assert_ok(ctxrt_allocator_trim(allocator, NULL));
    ck_assert_uint_eq(look().reserved.current_bytes, 0);
    cx_assert_ok(ctxrt_stack_pop());
    if (is_created())
        cx_assert_ok(ctxrt_allocator_destroy(allocator));
}

static ctxrt_status try_to_allocate(size_t size_bytes, ctxrt_memory **out_memory)
{
    return is_pinned() ? ctxrt_memory_alloc_pinned(size_bytes, out_memory)
                       : ctxrt_memory_alloc(size_bytes, out_memory);
}

static ctxrt_memory *allocate(size_t size_bytes)
{
    ctxrt_memory *memory;
    cx_assert_ok(try_to_allocate(size_bytes, &memory));
    return memory;
}

static void release(ctxrt_memory *memory)
{
    cx_assert_ok(ctxrt_memory_release(memory));
}

static void *address(ctxrt_memory *memory)
{
    void *pointer = ctxrt_memory_pointer(memory);
    ck_assert_ptr_nonnull(pointer);
    return pointer;
}

static void assert_filled(const void *pointer, int value, size_t size_bytes)
{
    static unsigned char seen[256 << 10];
    ck_assert_uint_le(size_bytes, sizeof seen);
    cx_assert_ok(ctxrt_copy(seen, pointer, size_bytes, CTXRT_COPY_ANY));
    size_t same = 0;
    while (same < size_bytes && seen[same] == value)
        same++;
    ck_assert_msg(same == size_bytes, "byte %zu is not %d", same, value);
}

static ctxrt_stream *use_new_stream(void)
{
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    return stream;
}

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

/* ---- defects 5, 6 and 7: the memory of a graph ---- */

enum { BYTES = 16 << 10, EAGER = 12, LAUNCHES = 3 };

typedef struct fill {
    void *to;
    int value;
} fill;

typedef struct transfer {
    void *to;
    const void *from;
} transfer;

static ctxrt_status run_fill(void *argument)
{
    const fill *self = argument;
    return ctxrt_fill_async(self->to, self->value, BYTES, NULL);
}

static ctxrt_status run_transfer(void *argument)
{
    const transfer *self = argument;
    return ctxrt_copy_async(self->to, self->from, BYTES, CTXRT_COPY_ANY, NULL);
}

static void submit(ctxrt_status (*run)(void *), void *user_data)
{
    const ctxrt_operator operation = {sizeof operation, "work", run, NULL, user_data, 1};
    cx_assert_ok(ctxrt_operator_submit(&operation));
}

typedef struct company {
    ctxrt_memory *memory[EAGER];
    const void *private[3];
    int wrong;
} company;

/* On a thread of its own: what that thread allocates is none of the graph's. */
static void *allocate_eagerly(void *argument)
{
    company *self = argument;
    bool there = ctxrt_device_push(place) == CTXRT_SUCCESS &&
                 (!is_created() || ctxrt_frame_set_allocator(allocator) == CTXRT_SUCCESS);
    for (int i = 0; i < EAGER && there; i++) {
        there = try_to_allocate(BYTES, &self->memory[i]) == CTXRT_SUCCESS;
        void *pointer = there ? ctxrt_memory_pointer(self->memory[i]) : NULL;
        there = there && ctxrt_fill(pointer, 100 + i, BYTES) == CTXRT_SUCCESS;
        for (int k = 0; k < 3; k++)
            self->wrong += pointer == self->private[k];
    }
    self->wrong += !there;
    self->wrong += ctxrt_stack_pop() != CTXRT_SUCCESS;
    return NULL;
}

static void assert_alone(company *others)
{
    ck_assert_int_eq(others->wrong, 0);
    for (int i = 0; i < EAGER; i++) {
        assert_filled(address(others->memory[i]), 100 + i, BYTES);
        release(others->memory[i]);
    }
}

/* All three pieces were free before the recording. In it one is allocated and freed, one is
 * allocated and freed later, and one that was allocated before is freed. */
START_TEST(what_was_free_before_a_recording_is_its_graphs_alone_and_comes_back_with_that)
{
    begin(_i);
    ctxrt_memory *kept[] = {allocate(BYTES), allocate(BYTES)}, *result = allocate(BYTES);
    const void *cached[] = {address(kept[0]), address(kept[1])};
    for (int i = 0; i < 2; i++)
        release(kept[i]);
    ctxrt_memory *before = allocate(4 * BYTES);
    release(before);
    before = allocate(4 * BYTES);
    cx_assert_ok(ctxrt_recording_start(NULL));
    ctxrt_memory *late = allocate(BYTES), *scratch = allocate(BYTES);
    void *first = address(scratch), *second = address(late), *third = address(before);
    if (from != GUARDED)
        ck_assert((first == cached[0] && second == cached[1]) ||
                  (first == cached[1] && second == cached[0]));
    fill filling = {first, 7};
    transfer transfers[] = {{second, first}, {third, second}, {address(result), third}};
    submit(run_fill, &filling);
    submit(run_transfer, &transfers[0]);
    release(scratch);
    submit(run_transfer, &transfers[1]);
    submit(run_transfer, &transfers[2]);
    company others = {.private = {first, second, third}}, more = others;
    release(before);
    ctxrt_graph *graph;
    cx_assert_ok(ctxrt_recording_stop(&graph));
    release(late);

    cx_assert_ok(ctxrt_allocator_trim(allocator, NULL));
    on_a_thread(allocate_eagerly, &others);
    (void)allocate_eagerly(&more);
    cx_assert_ok(ctxrt_allocator_trim(allocator, NULL));
    for (int i = 0; i < LAUNCHES; i++) {
        cx_assert_ok(ctxrt_fill(address(result), 0, BYTES));
        cx_assert_ok(ctxrt_graph_launch(graph, NULL));
        cx_assert_ok(ctxrt_stream_synchronize(NULL));
        assert_filled(address(result), 7, BYTES);
    }
    assert_alone(&others);
    assert_alone(&more);
    ck_assert_uint_eq(look().requested.current_bytes, (1 + 1 + 1 + 4) * BYTES);
    cx_assert_ok(ctxrt_graph_release(graph));
    ck_assert_uint_eq(look().requested.current_bytes, BYTES);
    release(result);
    finish();
}
END_TEST

static ctxrt_status refuse(void *argument)
{
    (void)argument;
    return CTXRT_ERROR_NOT_PERMITTED;
}

typedef enum ending { RELEASED, CANCELLED, FAILED, POPPED, ENDINGS } ending;

static void end_recording(ending how)
{
    ctxrt_graph *graph;
    if (how == RELEASED) {
        cx_assert_ok(ctxrt_recording_stop(&graph));
        cx_assert_ok(ctxrt_graph_release(graph));
    } else if (how == CANCELLED) {
        cx_assert_ok(ctxrt_recording_cancel());
    } else if (how == FAILED) {
        submit(refuse, NULL);
        cx_assert_error(ctxrt_recording_stop(&graph), CTXRT_ERROR_NOT_PERMITTED);
    }
    cx_assert_ok(ctxrt_stack_pop());
    if (how == POPPED)
        cx_assert_ok(ctxrt_recording_cancel());
}

/* Rounds of it: a piece that is lost each time shows. */
START_TEST(however_a_recording_ends_its_memory_comes_back)
{
    uint64_t reserved = 0;
    begin(_i);
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_ERROR));
    for (int round = 0; round < 4 * ENDINGS; round++) {
        enter();
        ctxrt_memory *before = allocate(MIB);
        cx_assert_ok(ctxrt_recording_start(NULL));
        ctxrt_memory *scratch = allocate(MIB), *survivor = allocate(MIB);
        release(before);
        release(scratch);
        end_recording((ending)(round % ENDINGS));
        release(survivor);
        ck_assert_uint_eq(look().requested.current_count, 0);
        if (round == ENDINGS)
            reserved = look().reserved.current_bytes;
    }
    ck_assert_uint_eq(look().reserved.current_bytes, reserved);
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
    tcase_add_loop_test(
        tcase, what_was_free_before_a_recording_is_its_graphs_alone_and_comes_back_with_that, 0,
        SOURCES);
    tcase_add_loop_test(tcase, however_a_recording_ends_its_memory_comes_back, 0, SOURCES);
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

int main(void)
{
    return cx_test_run((Suite *(*const[])(void)){defects_suite, NULL});
}
