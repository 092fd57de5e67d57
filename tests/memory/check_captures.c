/* Allocators while streams capture: no capture ends by what they ask the driver for, and memory
 * that they cannot ask about is not given out early. */
#include "device/runtime.h"
#include "fixture.h"
#include "gate.h"
#include "test.h"

#include <sched.h>

#define MIB ((size_t)1 << 20)
#define BLOCK (16 * MIB)
#define GPU (256 * MIB)

static cx_driver_table beneath;
static ctxrt_stream *stream;
static int calls, strict; /* of a driver's table: all, and those that a capture might forbid */

static ctxrt_memory *allocate(size_t size_bytes)
{
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_memory_alloc(size_bytes, &memory));
    return memory;
}

static void release(ctxrt_memory *memory)
{
    cx_assert_ok(ctxrt_memory_release(memory));
}

static void begin_capture(ctxrt_capture_mode mode)
{
    cx_assert_ok(ctxrt_stream_capture_begin(stream, mode));
}

static void end_capture(void)
{
    ctxrt_graph *graph;
    cx_assert_ok(ctxrt_stream_capture_end(stream, &graph));
    cx_assert_ok(ctxrt_graph_release(graph));
}

static size_t free_bytes(void)
{
    size_t bytes;
    cx_assert_ok(ctxrt_device_memory_info(CTXRT_CUDA(0), &bytes, NULL));
    return bytes;
}

/* ---- frees ---- */

/* Memory of `stream`, which works on it and then captures, is freed meanwhile; another stream, and
 * on the CPU this one too, must not have it before that work is done. */
static void free_in_a_capture(ctxrt_device device, bool waits_itself)
{
    gate held;
    cx_assert_ok(ctxrt_device_push(device));
    stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    ctxrt_memory *memory = allocate(BLOCK);
    void *pointer = ctxrt_memory_pointer(memory);
    gate_close(&held, stream);
    cx_assert_ok(ctxrt_fill_async(pointer, 1, BLOCK, NULL));
    begin_capture(CTXRT_CAPTURE_GLOBAL);
    release(memory);
    ctxrt_memory *own = waits_itself ? allocate(BLOCK) : NULL;
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    ctxrt_memory *others = allocate(BLOCK);
    end_capture();
    ctxrt_memory *later = allocate(BLOCK);
    ck_assert_ptr_ne(ctxrt_memory_pointer(others), pointer);
    ck_assert_ptr_ne(ctxrt_memory_pointer(later), pointer);
    if (own != NULL)
        ck_assert_ptr_ne(ctxrt_memory_pointer(own), pointer);
    gate_open(&held);
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    memory = allocate(BLOCK);
    ck_assert_ptr_eq(ctxrt_memory_pointer(memory), pointer);
    release(memory);
    release(others);
    release(later);
    if (own != NULL)
        release(own);
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_stack_pop());
}

START_TEST(memory_that_is_freed_while_its_stream_captures_waits_for_the_work_before)
{
    free_in_a_capture(CTXRT_CUDA(0), false);
}
END_TEST

START_TEST(memory_that_the_host_reaches_waits_for_a_stream_that_captures_too)
{
    free_in_a_capture(CTXRT_CPU(0), true);
}
END_TEST

/* A first free has left a mark in the stream, which is reached; the second one can leave none. */
START_TEST(a_free_in_a_capture_of_other_code_is_not_behind_the_mark_of_an_earlier_one)
{
    gate held;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ctxrt_stream *native = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_stream_from_native(native_of(native), &stream));
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    ctxrt_memory *early = allocate(BLOCK), *late = allocate(BLOCK);
    void *pointer = ctxrt_memory_pointer(late);
    release(early);
    gate_close(&held, stream);
    cx_assert_ok(ctxrt_fill_async(pointer, 1, BLOCK, NULL));
    begin_capture(CTXRT_CAPTURE_THREAD_LOCAL);
    release(late);
    end_capture();
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    early = allocate(BLOCK);
    late = allocate(BLOCK);
    ck_assert_ptr_ne(ctxrt_memory_pointer(early), pointer);
    ck_assert_ptr_ne(ctxrt_memory_pointer(late), pointer);
    release(early);
    release(late);
    gate_open(&held);
    release(allocate(GPU));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_stream_destroy(native));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- questions ---- */

static cxu_result refuse_to_answer(CUevent event)
{
    calls++;
    (void)event;
    return CXU_UNKNOWN;
}

START_TEST(memory_of_which_the_driver_says_nothing_is_not_given_out)
{
    gate held;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_memory *memory = allocate(BLOCK);
    void *pointer = ctxrt_memory_pointer(memory);
    gate_close(&held, stream);
    cx_assert_ok(ctxrt_fill_async(pointer, 1, BLOCK, stream));
    cx_assert_ok(ctxrt_memory_record_stream(memory, stream));
    cx_drivers[0].table.event_query = refuse_to_answer;
    cx_assert_error(ctxrt_memory_release(memory), CTXRT_ERROR_DRIVER);
    cx_assert_error(ctxrt_memory_alloc(0, &memory), CTXRT_ERROR_INVALID_ARGUMENT);
    memory = allocate(BLOCK);
    ck_assert_int_eq(ctxrt_last_error()->status, CTXRT_ERROR_INVALID_ARGUMENT);
    ck_assert_ptr_ne(ctxrt_memory_pointer(memory), pointer);
    ck_assert_int_ge(calls, 2);
    cx_drivers[0].table.event_query = beneath.event_query;
    gate_open(&held);
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    ctxrt_memory *more = allocate(BLOCK);
    ck_assert_ptr_eq(ctxrt_memory_pointer(more), pointer);
    release(memory);
    release(more);
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static pthread_t beginner;
static atomic_bool armed, begun;
static ctxrt_status begin_status;

static ctxrt_event *captured; /* that `stream` joins a capture by; NULL: it begins one */

static void *begin_on_a_thread(void *argument)
{
    if (captured != NULL)
        begin_status = ctxrt_stream_wait_event(stream, captured);
    else
        begin_status = ctxrt_stream_capture_begin(stream, CTXRT_CAPTURE_RELAXED);
    atomic_store(&begun, true);
    return argument;
}

/* Another thread begins a capture as soon as it is known that there is none. */
static cxu_result look(CUstream native, cxu_stream_capture_status *out_status)
{
    cxu_result result = beneath.stream_is_capturing(native, out_status);
    if (!atomic_exchange(&armed, false))
        return result;
    calls += pthread_create(&beginner, NULL, begin_on_a_thread, NULL) == 0;
    for (int i = 0; i < 2000 && !atomic_load(&begun); i++)
        sched_yield();
    return result;
}

START_TEST(no_capture_begins_between_the_look_for_one_and_the_question)
{
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    release(allocate(BLOCK));
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_drivers[0].table.stream_is_capturing = look;
    atomic_store(&armed, true);
    release(allocate(BLOCK));
    ck_assert_int_eq(calls, 1);
    ck_assert_int_eq(pthread_join(beginner, NULL), 0);
    ck_assert_int_eq(begin_status, CTXRT_SUCCESS);
    end_capture();
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(no_stream_joins_a_capture_between_the_look_for_one_and_the_question)
{
    ctxrt_graph *graph;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_stream *origin = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_event_create(0, &captured));
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    release(allocate(BLOCK));
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_stream_capture_begin(origin, CTXRT_CAPTURE_RELAXED));
    cx_assert_ok(ctxrt_event_record(captured, origin));
    cx_drivers[0].table.stream_is_capturing = look;
    atomic_store(&armed, true);
    release(allocate(BLOCK));
    ck_assert_int_eq(calls, 1);
    ck_assert_int_eq(pthread_join(beginner, NULL), 0);
    ck_assert_int_eq(begin_status, CTXRT_SUCCESS);
    cx_assert_ok(ctxrt_event_record(captured, stream));
    cx_assert_ok(ctxrt_stream_wait_event(origin, captured));
    cx_assert_ok(ctxrt_stream_capture_end(origin, &graph));
    cx_assert_ok(ctxrt_graph_release(graph));
    cx_assert_ok(ctxrt_event_destroy(captured));
    cx_assert_ok(ctxrt_stream_destroy(origin));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(no_capture_begins_between_a_copy_of_pinned_memory_and_its_mark)
{
    gate held;
    ctxrt_memory *memory, *more;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_memory *on_device = allocate(BLOCK);
    cx_assert_ok(ctxrt_memory_alloc_pinned(BLOCK, &memory));
    void *pointer = ctxrt_memory_pointer(memory);
    gate_close(&held, stream);
    cx_drivers[0].table.stream_is_capturing = look;
    atomic_store(&armed, true);
    cx_assert_ok(ctxrt_copy_async(ctxrt_memory_pointer(on_device), pointer, BLOCK,
                                  CTXRT_COPY_HOST_TO_DEVICE, stream));
    ck_assert_int_eq(calls, 1);
    ck_assert_int_eq(pthread_join(beginner, NULL), 0);
    ck_assert_int_eq(begin_status, CTXRT_SUCCESS);
    release(memory);
    cx_assert_ok(ctxrt_memory_alloc_pinned(BLOCK, &more));
    ck_assert_ptr_ne(ctxrt_memory_pointer(more), pointer);
    end_capture();
    gate_open(&held);
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    cx_assert_ok(ctxrt_memory_alloc_pinned(BLOCK, &memory));
    ck_assert_ptr_eq(ctxrt_memory_pointer(memory), pointer);
    release(memory);
    release(more);
    release(on_device);
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- memory of the driver's ---- */

static void look_at_mode(void)
{
    cxu_stream_capture_mode mode = CXU_STREAM_CAPTURE_MODE_RELAXED;
    calls++;
    (void)beneath.thread_exchange_stream_capture_mode(&mode);
    strict += mode != CXU_STREAM_CAPTURE_MODE_RELAXED;
    (void)beneath.thread_exchange_stream_capture_mode(&mode);
}

static cxu_result create(CUmemGenericAllocationHandle *out_handle, size_t size,
                         const cxu_mem_properties *properties, unsigned long long flags)
{
    look_at_mode();
    return beneath.mem_create(out_handle, size, properties, flags);
}

static cxu_result release_handle(CUmemGenericAllocationHandle handle)
{
    look_at_mode();
    return beneath.mem_release(handle);
}

static cxu_result map(CUdeviceptr address, size_t size, size_t offset,
                      CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    look_at_mode();
    return beneath.mem_map(address, size, offset, handle, flags);
}

static cxu_result unmap(CUdeviceptr address, size_t size)
{
    look_at_mode();
    return beneath.mem_unmap(address, size);
}

static cxu_result set_access(CUdeviceptr address, size_t size, const cxu_mem_access *accesses,
                             size_t count)
{
    look_at_mode();
    return beneath.mem_set_access(address, size, accesses, count);
}

static void watch_mapping(void)
{
    cx_driver_table *table = &cx_drivers[0].table;
    table->mem_create = create;
    table->mem_release = release_handle;
    table->mem_map = map;
    table->mem_unmap = unmap;
    table->mem_set_access = set_access;
}

/* ---- captures of other code ---- */

static CUstream others; /* that other code captures */

static void others_begin(void)
{
    ck_assert_int_eq(beneath.stream_begin_capture(others, CXU_STREAM_CAPTURE_MODE_GLOBAL),
                     CXU_SUCCESS);
}

static void others_end(void)
{
    CUgraph graph;
    ck_assert_int_eq(beneath.stream_end_capture(others, &graph), CXU_SUCCESS);
    ck_assert_int_eq(beneath.graph_destroy(graph), CXU_SUCCESS);
}

/* Between the look whether the stream captures and the mark. */
static cxu_result record_in_a_capture(CUevent event, CUstream native)
{
    if (native == others && calls++ == 0)
        others_begin();
    return beneath.event_record(event, native);
}

/* In the second round there is a mark already, which is recorded anew. */
START_TEST(a_mark_that_a_capture_of_other_code_got_is_asked_nothing)
{
    gate held;
    ctxrt_memory *memory[2];
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ctxrt_stream *native = create_stream(CTXRT_STREAM_NON_BLOCKING);
    others = native_of(native);
    cx_assert_ok(ctxrt_stream_from_native(others, &stream));
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    for (int i = 0; i < 2; i++)
        memory[i] = allocate(BLOCK);
    if (_i == 1)
        release(memory[1]);
    void *pointer = ctxrt_memory_pointer(memory[0]);
    gate_close(&held, stream);
    cx_assert_ok(ctxrt_fill_async(pointer, 1, BLOCK, NULL));
    cx_drivers[0].table.event_record = record_in_a_capture;
    release(memory[0]);
    ck_assert_int_eq(calls, 1);
    cx_drivers[0].table.event_record = beneath.event_record;
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    memory[0] = allocate(BLOCK);
    ck_assert_ptr_ne(ctxrt_memory_pointer(memory[0]), pointer);
    others_end();
    release(memory[0]);
    if (_i == 0)
        release(memory[1]);
    gate_open(&held);
    release(allocate(GPU));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_stream_destroy(native));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static cxu_result make_no_event(CUevent *out_event, unsigned int flags)
{
    (void)out_event, (void)flags;
    return CXU_OUT_OF_MEMORY;
}

/* A driver may find any wait unsafe where the thread has not said that it knows. */
static cxu_result wait_relaxed(CUstream native)
{
    cxu_stream_capture_mode mode = CXU_STREAM_CAPTURE_MODE_RELAXED;
    ck_assert_int_eq(beneath.thread_exchange_stream_capture_mode(&mode), CXU_SUCCESS);
    calls++;
    strict += mode != CXU_STREAM_CAPTURE_MODE_RELAXED;
    ck_assert_int_eq(beneath.thread_exchange_stream_capture_mode(&mode), CXU_SUCCESS);
    return beneath.stream_synchronize(native);
}

/* The copy is waited for, since no mark could be left behind it. */
START_TEST(a_copy_that_cannot_be_marked_is_waited_for_and_ends_no_capture)
{
    ctxrt_memory *memory, *on_device;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    others = native_of(stream);
    on_device = allocate(BLOCK);
    cx_assert_ok(ctxrt_memory_alloc_pinned(BLOCK, &memory));
    others_begin();
    cx_drivers[0].table.event_create = make_no_event;
    cx_drivers[0].table.stream_synchronize = wait_relaxed;
    cx_assert_ok(ctxrt_copy_async(ctxrt_memory_pointer(memory), ctxrt_memory_pointer(on_device),
                                  BLOCK, CTXRT_COPY_DEVICE_TO_HOST, NULL));
    ck_assert_int_eq(calls, 1);
    ck_assert_int_eq(strict, 0);
    cx_drivers[0].table = beneath;
    others_end();
    release(memory);
    release(on_device);
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- mapping and destroying ---- */

static ctxrt_allocator *use_allocator(ctxrt_allocator_source source)
{
    ctxrt_allocator *allocator;
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    options.source = source;
    cx_assert_ok(ctxrt_allocator_create(&options, &allocator));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    return allocator;
}

static void set_peer(ctxrt_status (*set)(ctxrt_device peer))
{
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    cx_assert_ok(set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_stack_pop());
}

START_TEST(mapping_and_sharing_are_nothing_that_a_capture_could_forbid)
{
    uint64_t trimmed;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_allocator *allocator = use_allocator(CTXRT_ALLOCATOR_SOURCE_VMM);
    ctxrt_memory *before = allocate(BLOCK);
    watch_mapping();
    begin_capture(CTXRT_CAPTURE_GLOBAL);
    set_peer(ctxrt_device_enable_peer);
    ctxrt_memory *after = allocate(BLOCK);
    release(before);
    cx_assert_ok(ctxrt_allocator_trim(NULL, &trimmed));
    ck_assert_uint_eq(trimmed, BLOCK);
    set_peer(ctxrt_device_disable_peer);
    release(after);
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    end_capture();
    ck_assert_int_gt(calls, 5);
    ck_assert_int_eq(strict, 0);
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* As it is for a thread whose user never changed it. */
static void assert_captures_are_strict(void)
{
    cxu_stream_capture_mode mode = CXU_STREAM_CAPTURE_MODE_GLOBAL;
    ck_assert_int_eq(beneath.thread_exchange_stream_capture_mode(&mode), CXU_SUCCESS);
    ck_assert_int_eq(mode, CXU_STREAM_CAPTURE_MODE_GLOBAL);
}

START_TEST(an_allocator_that_is_destroyed_in_a_capture_gives_its_memory_back)
{
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    size_t before = free_bytes();
    ctxrt_allocator *allocator = use_allocator(CTXRT_ALLOCATOR_SOURCE_ALLOC);
    release(allocate(BLOCK));
    ck_assert_uint_lt(free_bytes(), before);
    begin_capture(CTXRT_CAPTURE_GLOBAL);
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    assert_captures_are_strict();
    end_capture();
    ck_assert_uint_eq(free_bytes(), before);
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static void start(void)
{
    cx_fixture_start();
    cx_fixture_needs_emulated("a table that can be replaced");
    beneath = cx_drivers[0].table;
    calls = strict = 0;
    captured = NULL;
}

static void end(void)
{
    cx_drivers[0].table = beneath;
    cx_fixture_end();
}

static Suite *captures_suite(void)
{
    Suite *suite = suite_create("captures");
    TCase *tcase = tcase_create("captures");
    tcase_add_checked_fixture(tcase, start, end);
    tcase_add_test(tcase, memory_that_is_freed_while_its_stream_captures_waits_for_the_work_before);
    tcase_add_test(tcase, memory_that_the_host_reaches_waits_for_a_stream_that_captures_too);
    tcase_add_test(tcase,
                   a_free_in_a_capture_of_other_code_is_not_behind_the_mark_of_an_earlier_one);
    tcase_add_test(tcase, memory_of_which_the_driver_says_nothing_is_not_given_out);
    tcase_add_test(tcase, no_capture_begins_between_the_look_for_one_and_the_question);
    tcase_add_test(tcase, no_stream_joins_a_capture_between_the_look_for_one_and_the_question);
    tcase_add_loop_test(tcase, a_mark_that_a_capture_of_other_code_got_is_asked_nothing, 0, 2);
    tcase_add_test(tcase, a_copy_that_cannot_be_marked_is_waited_for_and_ends_no_capture);
    tcase_add_test(tcase, no_capture_begins_between_a_copy_of_pinned_memory_and_its_mark);
    tcase_add_test(tcase, mapping_and_sharing_are_nothing_that_a_capture_could_forbid);
    tcase_add_test(tcase, an_allocator_that_is_destroyed_in_a_capture_gives_its_memory_back);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(captures_suite);
