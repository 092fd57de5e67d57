/* The rules of stream capture, G1 to G5 and the half of T3 that is about it: one test for each edge. */
#include "graph_fixture.h"

#include <string.h>

#define BYTES ((size_t)1 << 10)

/* A call that uses the current context, a stream or memory, and answers as the driver does. */
typedef struct attempt {
    cxu_result (*call)(void);
    cxu_result result;
} attempt;

static CUcontext attempt_context;
static cxu_stream_capture_mode attempt_mode;

static void *try_on_thread(void *argument)
{
    attempt *own = argument;
    cxu_stream_capture_mode mode = attempt_mode;

    if (cx_emu_call_ctx_set_current(attempt_context) == CXU_SUCCESS &&
        cx_emu_call_thread_exchange_stream_capture_mode(&mode) == CXU_SUCCESS)
        own->result = own->call();
    return NULL;
}

/* Makes the call on another thread, which is in a capture mode of its own. */
static cxu_result elsewhere_in(cxu_stream_capture_mode mode, cxu_result (*call)(void))
{
    attempt other = {call, CXU_UNKNOWN};
    pthread_t thread;

    attempt_context = work_context;
    attempt_mode = mode;
    ck_assert_int_eq(pthread_create(&thread, NULL, try_on_thread, &other), 0);
    pthread_join(thread, NULL);
    return other.result;
}

static cxu_result elsewhere(cxu_result (*call)(void))
{
    return elsewhere_in(CXU_STREAM_CAPTURE_MODE_GLOBAL, call);
}

static void exchange(cxu_stream_capture_mode mode)
{
    ck_success(cx_emu_call_thread_exchange_stream_capture_mode(&mode));
}

static void ck_status(CUstream stream, cxu_stream_capture_status expected)
{
    ck_assert_int_eq(status_of(stream), expected);
}
#define ck_active(stream) ck_status(stream, CXU_STREAM_CAPTURE_STATUS_ACTIVE)
#define ck_invalidated(stream) ck_status(stream, CXU_STREAM_CAPTURE_STATUS_INVALIDATED)
#define ck_idle(stream) ck_status(stream, CXU_STREAM_CAPTURE_STATUS_NONE)

static void drop(CUgraph graph)
{
    ck_success(cx_emu_call_graph_destroy(graph));
}

/* ---- G1: which streams, which threads ---- */

START_TEST(the_legacy_stream_does_not_capture)
{
    ck_result(cx_emu_call_stream_begin_capture(NULL, CXU_STREAM_CAPTURE_MODE_RELAXED),
              STREAM_CAPTURE_UNSUPPORTED);
    ck_result(cx_emu_call_stream_begin_capture(CXU_STREAM_LEGACY, 0), STREAM_CAPTURE_UNSUPPORTED);
    ck_result(cx_emu_call_stream_begin_capture_v1(NULL), STREAM_CAPTURE_UNSUPPORTED);
    ck_idle(NULL);
}
END_TEST

START_TEST(a_bad_mode_or_stream_begins_nothing)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);

    ck_result(cx_emu_call_stream_begin_capture(stream, (cxu_stream_capture_mode)3), INVALID_VALUE);
    ck_result(cx_emu_call_stream_begin_capture(stream, (cxu_stream_capture_mode)-1),
              INVALID_VALUE);
    ck_result(cx_emu_call_stream_begin_capture((CUstream)(void *)&stream, 0), INVALID_HANDLE);
    ck_idle(stream);
}
END_TEST

START_TEST(a_capturing_stream_does_not_begin_again)
{
    CUstream stream = make_stream(CXU_STREAM_DEFAULT);

    begin(stream);
    ck_result(cx_emu_call_stream_begin_capture(stream, 0), ILLEGAL_STATE);
    ck_active(stream);
    drop(end(stream));
    ck_idle(stream);
}
END_TEST

START_TEST(a_stream_that_does_not_capture_has_nothing_to_end)
{
    CUstream stream = make_stream(CXU_STREAM_DEFAULT);
    CUgraph graph = (CUgraph)(void *)&stream;

    ck_result(cx_emu_call_stream_end_capture(stream, &graph), ILLEGAL_STATE);
    ck_result(cx_emu_call_stream_end_capture(NULL, &graph), ILLEGAL_STATE);
    ck_assert_ptr_eq(graph, (CUgraph)(void *)&stream);
}
END_TEST

static CUstream shared_stream;
static CUgraph shared_graph;

static cxu_result end_shared(void)
{
    return cx_emu_call_stream_end_capture(shared_stream, &shared_graph);
}

START_TEST(another_thread_does_not_end_a_capture)
{
    shared_stream = make_stream(CXU_STREAM_NON_BLOCKING);
    for (int mode = 0; mode <= CXU_STREAM_CAPTURE_MODE_THREAD_LOCAL; mode++) {
        begin_in(shared_stream, (cxu_stream_capture_mode)mode);
        ck_result(elsewhere(end_shared), STREAM_CAPTURE_WRONG_THREAD);
        ck_invalidated(shared_stream);
        ck_end(shared_stream, STREAM_CAPTURE_INVALIDATED);
    }
}
END_TEST

START_TEST(any_thread_ends_a_relaxed_capture)
{
    shared_stream = make_stream(CXU_STREAM_NON_BLOCKING);
    begin_in(shared_stream, CXU_STREAM_CAPTURE_MODE_RELAXED);
    ck_success(elsewhere(end_shared));
    ck_idle(shared_stream);
    drop(shared_graph);
}
END_TEST

/* ---- G2: calls that no capture sees ---- */

static CUdeviceptr spare_memory;
static void *spare_pinned;
static CUevent spare_event;
static unsigned char spare_page[8192];

static cxu_result call_alloc(void)
{
    CUdeviceptr memory;

    return cx_emu_call_mem_alloc(&memory, BYTES);
}

static cxu_result call_alloc_pitch(void)
{
    CUdeviceptr memory;
    size_t pitch;

    return cx_emu_call_mem_alloc_pitch(&memory, &pitch, 8, 8, 4);
}

static cxu_result call_alloc_host(void)
{
    void *memory;

    return cx_emu_call_mem_alloc_host(&memory, BYTES);
}

static cxu_result call_alloc_managed(void)
{
    CUdeviceptr memory;

    return cx_emu_call_mem_alloc_managed(&memory, BYTES, CXU_MEM_ATTACH_GLOBAL);
}

static cxu_result call_free(void)
{
    return cx_emu_call_mem_free(spare_memory);
}

static cxu_result call_free_host(void)
{
    return cx_emu_call_mem_free_host(spare_pinned);
}

static cxu_result call_register(void)
{
    return cx_emu_call_mem_host_register(spare_page, sizeof spare_page, 0);
}

static cxu_result call_copy(void)
{
    unsigned char byte = 0;

    return cx_emu_call_memcpy_htod(spare_memory, &byte, 1);
}

static cxu_result call_fill(void)
{
    return cx_emu_call_memset_d8(spare_memory, 1, BYTES);
}

static cxu_result call_event_query(void)
{
    return cx_emu_call_event_query(spare_event);
}

static cxu_result call_event_synchronize(void)
{
    return cx_emu_call_event_synchronize(spare_event);
}

static cxu_result (*const unsafe_calls[])(void) = {
    call_alloc,         call_alloc_pitch, call_alloc_host, call_alloc_managed,
    call_free,          call_free_host,   call_register,   call_copy,
    call_fill,          call_event_query, call_event_synchronize};
#define UNSAFE_CALLS (sizeof unsafe_calls / sizeof unsafe_calls[0])

static cxu_result call_event_create(void)
{
    CUevent event;

    return cx_emu_call_event_create(&event, 0);
}

static cxu_result call_stream_create(void)
{
    CUstream stream;

    return cx_emu_call_stream_create(&stream, CXU_STREAM_NON_BLOCKING);
}

static cxu_result call_attribute(void)
{
    unsigned int type;

    return cx_emu_call_pointer_get_attribute(&type, CXU_POINTER_MEMORY_TYPE, spare_memory);
}

static void prepare_calls(void)
{
    spare_memory = make_memory(BYTES);
    ck_success(cx_emu_call_mem_alloc_host(&spare_pinned, BYTES));
    spare_event = make_event();
}

START_TEST(a_global_capture_forbids_unsafe_calls_on_every_thread)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);

    prepare_calls();
    for (size_t i = 0; i < UNSAFE_CALLS; i++) {
        begin(stream);
        ck_result(unsafe_calls[i](), STREAM_CAPTURE_UNSUPPORTED);
        ck_invalidated(stream);
        ck_end(stream, STREAM_CAPTURE_INVALIDATED);
        begin(stream);
        ck_result(elsewhere(unsafe_calls[i]), STREAM_CAPTURE_UNSUPPORTED);
        ck_end(stream, STREAM_CAPTURE_INVALIDATED);
    }
}
END_TEST

/* What was refused has done nothing: in the end each of them still works. */
START_TEST(without_a_capture_the_same_calls_succeed)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);

    prepare_calls();
    for (size_t i = 0; i < UNSAFE_CALLS; i++) {
        begin(stream);
        ck_result(unsafe_calls[i](), STREAM_CAPTURE_UNSUPPORTED);
        ck_end(stream, STREAM_CAPTURE_INVALIDATED);
    }
    for (size_t i = 0; i < UNSAFE_CALLS; i++)
        if (unsafe_calls[i] != call_free)
            ck_success(unsafe_calls[i]());
    ck_success(call_free());
    ck_success(cx_emu_call_mem_host_unregister(spare_page));
}
END_TEST

START_TEST(calls_that_change_no_work_are_safe)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);

    prepare_calls();
    begin(stream);
    ck_success(call_event_create());
    ck_success(call_stream_create());
    ck_success(call_attribute());
    ck_active(stream);
    drop(end(stream));
}
END_TEST

START_TEST(a_thread_local_capture_forbids_them_on_its_own_thread_only)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);

    begin_in(stream, CXU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    ck_success(elsewhere(call_alloc));
    ck_active(stream);
    ck_result(call_alloc(), STREAM_CAPTURE_UNSUPPORTED);
    ck_end(stream, STREAM_CAPTURE_INVALIDATED);
}
END_TEST

START_TEST(a_relaxed_capture_forbids_them_nowhere)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);

    begin_in(stream, CXU_STREAM_CAPTURE_MODE_RELAXED);
    ck_success(call_alloc());
    ck_success(elsewhere(call_alloc));
    drop(end(stream));
}
END_TEST

START_TEST(a_thread_in_mode_thread_local_ignores_captures_of_others)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);

    begin(stream);
    ck_success(elsewhere_in(CXU_STREAM_CAPTURE_MODE_THREAD_LOCAL, call_alloc));
    ck_success(elsewhere_in(CXU_STREAM_CAPTURE_MODE_RELAXED, call_alloc));
    ck_active(stream);
    exchange(CXU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    ck_result(call_alloc(), STREAM_CAPTURE_UNSUPPORTED);
    exchange(CXU_STREAM_CAPTURE_MODE_GLOBAL);
    ck_end(stream, STREAM_CAPTURE_INVALIDATED);
}
END_TEST

START_TEST(a_relaxed_thread_may_make_them_while_it_captures)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);

    begin(stream);
    exchange(CXU_STREAM_CAPTURE_MODE_RELAXED);
    ck_success(call_alloc());
    exchange(CXU_STREAM_CAPTURE_MODE_GLOBAL);
    drop(end(stream));
}
END_TEST

START_TEST(an_unsafe_call_invalidates_all_captures_that_forbid_it)
{
    CUstream first = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream second = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream relaxed = make_stream(CXU_STREAM_NON_BLOCKING);

    begin(first);
    begin_in(second, CXU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    begin_in(relaxed, CXU_STREAM_CAPTURE_MODE_RELAXED);
    ck_result(call_alloc(), STREAM_CAPTURE_UNSUPPORTED);
    ck_end(first, STREAM_CAPTURE_INVALIDATED);
    ck_end(second, STREAM_CAPTURE_INVALIDATED);
    drop(end(relaxed));
}
END_TEST

START_TEST(a_context_whose_stream_captures_is_not_synchronised)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);

    begin_in(stream, CXU_STREAM_CAPTURE_MODE_RELAXED);
    ck_result(cx_emu_call_ctx_synchronize(), STREAM_CAPTURE_UNSUPPORTED);
    ck_end(stream, STREAM_CAPTURE_INVALIDATED);
    begin_in(stream, CXU_STREAM_CAPTURE_MODE_RELAXED);
    ck_result(elsewhere(cx_emu_call_ctx_synchronize), STREAM_CAPTURE_UNSUPPORTED);
    ck_end(stream, STREAM_CAPTURE_INVALIDATED);
    ck_success(cx_emu_call_ctx_synchronize());
}
END_TEST

/* ---- G3: the legacy stream ---- */

static cxu_result legacy_fill(void)
{
    return cx_emu_call_memset_d8_async(spare_memory, 1, BYTES, NULL);
}

static cxu_result legacy_record(void)
{
    return cx_emu_call_event_record(spare_event, CXU_STREAM_LEGACY);
}

static cxu_result legacy_wait(void)
{
    return cx_emu_call_stream_wait_event(NULL, spare_event, 0);
}

static cxu_result legacy_query(void)
{
    return cx_emu_call_stream_query(NULL);
}

static cxu_result legacy_synchronize(void)
{
    return cx_emu_call_stream_synchronize(CXU_STREAM_LEGACY);
}

static void nothing(void *unused)
{
    (void)unused;
}

static cxu_result legacy_host_function(void)
{
    return cx_emu_call_launch_host_func(NULL, nothing, NULL);
}

static cxu_result legacy_begin(void)
{
    return cx_emu_call_stream_begin_capture(NULL, CXU_STREAM_CAPTURE_MODE_RELAXED);
}

static cxu_result legacy_alloc(void)
{
    CUdeviceptr memory;

    return cx_emu_call_mem_alloc_async(&memory, BYTES, NULL);
}

static cxu_result (*const legacy_calls[])(void) = {
    legacy_fill,        legacy_record,        legacy_wait,  legacy_query,
    legacy_synchronize, legacy_host_function, legacy_begin, legacy_alloc,
    call_copy,          call_fill};
#define LEGACY_CALLS (sizeof legacy_calls / sizeof legacy_calls[0])

START_TEST(the_legacy_stream_is_not_used_while_a_blocking_stream_captures)
{
    CUstream stream = make_stream(CXU_STREAM_DEFAULT);

    prepare_calls();
    for (size_t i = 0; i < LEGACY_CALLS; i++) {
        begin_in(stream, CXU_STREAM_CAPTURE_MODE_RELAXED);
        ck_result(legacy_calls[i](), STREAM_CAPTURE_IMPLICIT);
        ck_invalidated(stream);
        ck_end(stream, STREAM_CAPTURE_INVALIDATED);
    }
}
END_TEST

START_TEST(the_legacy_stream_is_free_while_a_non_blocking_stream_captures)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);

    prepare_calls();
    begin_in(stream, CXU_STREAM_CAPTURE_MODE_RELAXED);
    for (size_t i = 0; i < LEGACY_CALLS; i++)
        if (legacy_calls[i] != legacy_begin)
            ck_success(legacy_calls[i]());
    ck_active(stream);
    drop(end(stream));
}
END_TEST

START_TEST(the_legacy_stream_of_another_context_is_free)
{
    CUstream stream = make_stream(CXU_STREAM_DEFAULT);
    CUcontext other;

    begin_in(stream, CXU_STREAM_CAPTURE_MODE_RELAXED);
    ck_success(cx_emu_call_ctx_create_v4(&other, NULL, 0, 0));
    ck_success(legacy_query());
    ck_success(cx_emu_call_ctx_destroy(other));
    drop(end(stream));
}
END_TEST

START_TEST(asking_the_legacy_stream_whether_it_captures_invalidates_nothing)
{
    CUstream stream = make_stream(CXU_STREAM_DEFAULT);
    cxu_stream_capture_status status;
    uint64_t id;

    begin(stream);
    ck_result(cx_emu_call_stream_is_capturing(NULL, &status), STREAM_CAPTURE_IMPLICIT);
    ck_result(cx_emu_call_stream_get_capture_info_v1(CXU_STREAM_LEGACY, &status, &id),
              STREAM_CAPTURE_IMPLICIT);
    drop(end(stream));
}
END_TEST

/* ---- G4: joins, ends, and what has no state ---- */

START_TEST(only_the_stream_that_began_ends_a_capture)
{
    CUstream first = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream second = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();
    CUgraph graph;

    begin(first);
    ck_success(cx_emu_call_event_record(event, first));
    ck_success(cx_emu_call_stream_wait_event(second, event, 0));
    ck_result(cx_emu_call_stream_end_capture(second, &graph), STREAM_CAPTURE_UNMATCHED);
    ck_assert_ptr_null(graph);
    ck_invalidated(first);
    ck_invalidated(second);
    ck_end(first, STREAM_CAPTURE_INVALIDATED);
    ck_idle(second);
}
END_TEST

START_TEST(work_that_was_not_joined_leaves_no_graph)
{
    CUstream first = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream second = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'};

    begin(first);
    ck_success(cx_emu_call_event_record(event, first));
    ck_success(cx_emu_call_stream_wait_event(second, event, 0));
    letter_put(&a, second);
    ck_end(first, STREAM_CAPTURE_UNJOINED);
    ck_idle(first);
    ck_idle(second);
    letter_put(&a, second);
    ck_success(cx_emu_call_stream_synchronize(second));
    ck_journal(&journal, "a");
}
END_TEST

START_TEST(work_after_the_join_is_not_joined)
{
    CUstream first = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream second = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'};

    begin(first);
    ck_success(cx_emu_call_event_record(event, first));
    ck_success(cx_emu_call_stream_wait_event(second, event, 0));
    letter_put(&a, second);
    ck_success(cx_emu_call_event_record(event, second));
    ck_success(cx_emu_call_stream_wait_event(first, event, 0));
    letter_put(&a, second);
    ck_end(first, STREAM_CAPTURE_UNJOINED);
}
END_TEST

START_TEST(a_stream_that_joined_and_did_nothing_need_not_come_back)
{
    CUstream first = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream second = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();

    begin(first);
    ck_success(cx_emu_call_event_record(event, first));
    ck_success(cx_emu_call_stream_wait_event(second, event, 0));
    drop(end(first));
    ck_idle(second);
}
END_TEST

/* Documented: nodes that the user's own changes cut off are not missed. */
START_TEST(what_the_user_cuts_off_need_not_be_joined)
{
    CUstream first = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream second = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'}, b = {&journal, 'b'};
    cxu_stream_capture_status status;
    CUgraphNode nodes[2];
    size_t count = 2;
    CUgraph graph;

    begin(first);
    ck_success(cx_emu_call_event_record(event, first));
    ck_success(cx_emu_call_stream_wait_event(second, event, 0));
    letter_put(&a, second);
    ck_success(cx_emu_call_event_record(event, second));
    ck_success(cx_emu_call_stream_wait_event(first, event, 0));
    letter_put(&b, first);
    ck_success(cx_emu_call_stream_get_capture_info_v2(first, &status, NULL, &graph, NULL, NULL));
    ck_success(cx_emu_call_graph_get_nodes(graph, nodes, &count));
    ck_success(cx_emu_call_graph_remove_dependencies_v1(graph, &nodes[0], &nodes[1], 1));
    graph = end(first);
    ck_assert_uint_eq(count_edges(graph), 0);
    drop(graph);
}
END_TEST

START_TEST(what_a_new_set_of_dependencies_leaves_out_need_not_be_joined)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'};

    begin(stream);
    letter_put(&a, stream);
    ck_success(cx_emu_call_stream_update_capture_dependencies_v1(
        stream, NULL, 0, CXU_STREAM_SET_CAPTURE_DEPENDENCIES));
    drop(end(stream));
}
END_TEST

START_TEST(two_captures_do_not_merge)
{
    CUstream first = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream second = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();

    begin(first);
    begin(second);
    ck_success(cx_emu_call_event_record(event, first));
    ck_result(cx_emu_call_stream_wait_event(second, event, 0), STREAM_CAPTURE_MERGE);
    ck_end(first, STREAM_CAPTURE_INVALIDATED);
    ck_end(second, STREAM_CAPTURE_INVALIDATED);
}
END_TEST

START_TEST(a_capture_does_not_wait_for_work_outside)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();

    ck_success(cx_emu_call_event_record(event, NULL));
    ck_success(cx_emu_call_event_synchronize(event));
    begin(stream);
    ck_result(cx_emu_call_stream_wait_event(stream, event, 0), STREAM_CAPTURE_ISOLATION);
    ck_invalidated(stream);
    ck_end(stream, STREAM_CAPTURE_INVALIDATED);
}
END_TEST

START_TEST(waiting_for_an_event_never_recorded_does_nothing_to_a_capture)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);

    begin(stream);
    ck_success(cx_emu_call_stream_wait_event(stream, make_event(), 0));
    drop(end(stream));
}
END_TEST

START_TEST(an_event_of_a_capture_that_ended_is_waited_for_by_nobody)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream other = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();

    begin(stream);
    ck_success(cx_emu_call_event_record(event, stream));
    drop(end(stream));
    ck_result(cx_emu_call_stream_wait_event(other, event, 0), CAPTURED_EVENT);
    ck_idle(other);
    begin(stream);
    ck_result(cx_emu_call_stream_wait_event(stream, event, 0), STREAM_CAPTURE_ISOLATION);
    ck_end(stream, STREAM_CAPTURE_INVALIDATED);
}
END_TEST

START_TEST(the_legacy_stream_does_not_join)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();

    begin(stream);
    ck_success(cx_emu_call_event_record(event, stream));
    ck_result(cx_emu_call_stream_wait_event(NULL, event, 0), STREAM_CAPTURE_UNSUPPORTED);
    ck_end(stream, STREAM_CAPTURE_INVALIDATED);
}
END_TEST

START_TEST(a_captured_event_has_no_state)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event(), plain = make_event();
    float ms;

    ck_success(cx_emu_call_event_record(plain, stream));
    for (int i = 0; i < 4; i++) {
        begin_in(stream, CXU_STREAM_CAPTURE_MODE_RELAXED);
        ck_success(cx_emu_call_event_record(event, stream));
        if (i == 0)
            ck_result(cx_emu_call_event_query(event), CAPTURED_EVENT);
        else if (i == 1)
            ck_result(cx_emu_call_event_synchronize(event), CAPTURED_EVENT);
        else if (i == 2)
            ck_result(cx_emu_call_event_elapsed_time(&ms, plain, event), CAPTURED_EVENT);
        else
            ck_result(cx_emu_call_event_elapsed_time(&ms, event, plain), CAPTURED_EVENT);
        ck_end(stream, STREAM_CAPTURE_INVALIDATED);
        ck_result(cx_emu_call_event_query(event), CAPTURED_EVENT);
    }
    ck_success(cx_emu_call_event_record(event, stream));
    ck_success(cx_emu_call_event_synchronize(event));
    ck_success(cx_emu_call_event_elapsed_time(&ms, plain, event));
}
END_TEST

START_TEST(a_capturing_stream_has_no_state)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);

    begin_in(stream, CXU_STREAM_CAPTURE_MODE_RELAXED);
    ck_result(cx_emu_call_stream_query(stream), STREAM_CAPTURE_UNSUPPORTED);
    ck_end(stream, STREAM_CAPTURE_INVALIDATED);
    begin_in(stream, CXU_STREAM_CAPTURE_MODE_RELAXED);
    ck_result(cx_emu_call_stream_synchronize(stream), STREAM_CAPTURE_UNSUPPORTED);
    ck_end(stream, STREAM_CAPTURE_INVALIDATED);
}
END_TEST

static void unused_callback(CUstream stream, cxu_result status, void *unused)
{
    (void)stream;
    (void)status;
    (void)unused;
}

START_TEST(what_graphs_do_not_have_is_not_captured)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);

    begin(stream);
    ck_result(cx_emu_call_stream_add_callback(stream, unused_callback, NULL, 0),
              STREAM_CAPTURE_UNSUPPORTED);
    ck_end(stream, STREAM_CAPTURE_INVALIDATED);
}
END_TEST

START_TEST(an_invalidated_capture_takes_nothing_more)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream other = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();
    cxu_stream_capture_status status;
    uint64_t id = 77;

    prepare_calls();
    begin(stream);
    ck_success(cx_emu_call_event_record(event, stream));
    ck_result(call_alloc(), STREAM_CAPTURE_UNSUPPORTED);
    ck_result(cx_emu_call_memset_d8_async(spare_memory, 1, BYTES, stream),
              STREAM_CAPTURE_INVALIDATED);
    ck_result(cx_emu_call_launch_host_func(stream, nothing, NULL), STREAM_CAPTURE_INVALIDATED);
    ck_result(cx_emu_call_event_record(event, stream), STREAM_CAPTURE_INVALIDATED);
    ck_result(cx_emu_call_stream_wait_event(other, event, 0), STREAM_CAPTURE_INVALIDATED);
    ck_result(cx_emu_call_stream_synchronize(stream), STREAM_CAPTURE_INVALIDATED);
    ck_result(cx_emu_call_stream_update_capture_dependencies_v1(stream, NULL, 0, 0),
              STREAM_CAPTURE_INVALIDATED);
    ck_success(cx_emu_call_stream_get_capture_info_v1(stream, &status, &id));
    ck_assert_int_eq(status, CXU_STREAM_CAPTURE_STATUS_INVALIDATED);
    ck_assert_uint_eq(id, 77);
    ck_idle(other);
    ck_end(stream, STREAM_CAPTURE_INVALIDATED);
    ck_success(cx_emu_call_memset_d8_async(spare_memory, 1, BYTES, stream));
    ck_success(cx_emu_call_stream_synchronize(stream));
}
END_TEST

START_TEST(a_graph_that_was_captured_into_survives_a_failed_capture)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUgraph graph = make_graph();

    ck_success(cx_emu_call_stream_begin_capture_to_graph(stream, graph, NULL, NULL, 0, 0));
    ck_result(call_alloc(), STREAM_CAPTURE_UNSUPPORTED);
    ck_end(stream, STREAM_CAPTURE_INVALIDATED);
    run_graph(graph);
    drop(graph);
}
END_TEST

/* ---- what is destroyed while it captures ---- */

START_TEST(destroying_the_stream_that_began_ends_its_capture)
{
    CUstream first = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream second = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();
    cxu_stream_capture_status status;
    CUgraph graph;

    begin(first);
    ck_success(cx_emu_call_stream_get_capture_info_v2(first, &status, NULL, &graph, NULL, NULL));
    ck_success(cx_emu_call_event_record(event, first));
    ck_success(cx_emu_call_stream_wait_event(second, event, 0));
    ck_success(cx_emu_call_stream_destroy(first));
    ck_idle(second);
    ck_result(cx_emu_call_graph_destroy(graph), INVALID_VALUE);
    ck_success(call_alloc());
}
END_TEST

START_TEST(work_of_a_destroyed_branch_must_be_joined)
{
    CUstream first = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();
    stream_journal journal = JOURNAL_EMPTY;
    graph_letter a = {&journal, 'a'};

    for (int joined = 0; joined < 2; joined++) {
        CUstream second = make_stream(CXU_STREAM_NON_BLOCKING);

        begin(first);
        ck_success(cx_emu_call_event_record(event, first));
        ck_success(cx_emu_call_stream_wait_event(second, event, 0));
        letter_put(&a, second);
        ck_success(cx_emu_call_event_record(event, second));
        ck_success(cx_emu_call_stream_destroy(second));
        if (joined) {
            ck_success(cx_emu_call_stream_wait_event(first, event, 0));
            drop(end(first));
        } else {
            ck_end(first, STREAM_CAPTURE_UNJOINED);
        }
    }
}
END_TEST

START_TEST(destroying_an_event_leaves_the_capture_as_it_is)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();

    begin(stream);
    ck_success(cx_emu_call_event_record(event, stream));
    ck_success(cx_emu_call_event_record(event, stream));
    ck_success(cx_emu_call_event_destroy(event));
    drop(end(stream));
}
END_TEST

START_TEST(destroying_a_context_ends_the_captures_of_its_streams)
{
    CUcontext other;
    CUstream stream;

    ck_success(cx_emu_call_ctx_create_v4(&other, NULL, 0, 1));
    stream = make_stream(CXU_STREAM_DEFAULT);
    begin(stream);
    ck_success(cx_emu_call_ctx_destroy(other));
    ck_success(call_alloc());
}
END_TEST

START_TEST(resetting_a_device_ends_the_captures_of_its_streams)
{
    CUcontext primary, popped;
    CUstream stream;

    ck_success(cx_emu_call_primary_retain(&primary, 1));
    ck_success(cx_emu_call_ctx_push(primary));
    stream = make_stream(CXU_STREAM_DEFAULT);
    begin(stream);
    ck_success(cx_emu_call_primary_reset(1));
    ck_success(cx_emu_call_ctx_pop(&popped));
    ck_success(call_alloc());
    ck_success(cx_emu_call_primary_release(1));
}
END_TEST

static void *capture_in_own_stream(void *unused)
{
    (void)unused;
    if (cx_emu_call_ctx_set_current(work_context) == CXU_SUCCESS &&
        cx_emu_call_stream_begin_capture(CXU_STREAM_PER_THREAD, 0) == CXU_SUCCESS)
        return work_context;
    return NULL;
}

START_TEST(a_thread_that_ends_takes_the_capture_of_its_own_stream_along)
{
    pthread_t thread;
    void *done;

    ck_assert_int_eq(pthread_create(&thread, NULL, capture_in_own_stream, NULL), 0);
    pthread_join(thread, &done);
    ck_assert_ptr_nonnull(done);
    ck_success(call_alloc());
}
END_TEST

/* ---- T3 ---- */

START_TEST(a_context_that_captures_records_no_event)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);

    begin_in(stream, CXU_STREAM_CAPTURE_MODE_RELAXED);
    ck_result(cx_emu_call_ctx_record_event(work_context, make_event()),
              STREAM_CAPTURE_UNSUPPORTED);
    ck_end(stream, STREAM_CAPTURE_INVALIDATED);
}
END_TEST

START_TEST(a_context_that_captures_waits_for_no_event)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);

    begin_in(stream, CXU_STREAM_CAPTURE_MODE_RELAXED);
    ck_result(cx_emu_call_ctx_wait_event(work_context, make_event()), STREAM_CAPTURE_UNSUPPORTED);
    ck_end(stream, STREAM_CAPTURE_INVALIDATED);
}
END_TEST

START_TEST(no_context_waits_for_a_captured_event)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();
    CUcontext other;

    begin_in(stream, CXU_STREAM_CAPTURE_MODE_RELAXED);
    ck_success(cx_emu_call_event_record(event, stream));
    ck_success(cx_emu_call_ctx_create_v4(&other, NULL, 0, 1));
    ck_result(cx_emu_call_ctx_wait_event(other, event), STREAM_CAPTURE_UNSUPPORTED);
    ck_success(cx_emu_call_ctx_destroy(other));
    ck_end(stream, STREAM_CAPTURE_INVALIDATED);
}
END_TEST

/* ---- G5 ---- */

static cxu_result first_mode_is_global(void)
{
    cxu_stream_capture_mode mode = CXU_STREAM_CAPTURE_MODE_RELAXED;
    cxu_result result = cx_emu_call_thread_exchange_stream_capture_mode(&mode);

    /* elsewhere() has set it once. */
    return mode == CXU_STREAM_CAPTURE_MODE_GLOBAL ? result : CXU_UNKNOWN;
}

START_TEST(a_thread_swaps_its_mode)
{
    cxu_stream_capture_mode mode = CXU_STREAM_CAPTURE_MODE_RELAXED;

    ck_success(cx_emu_call_thread_exchange_stream_capture_mode(&mode));
    ck_assert_int_eq(mode, CXU_STREAM_CAPTURE_MODE_GLOBAL);
    ck_success(elsewhere(first_mode_is_global));
    mode = CXU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    ck_success(cx_emu_call_thread_exchange_stream_capture_mode(&mode));
    ck_assert_int_eq(mode, CXU_STREAM_CAPTURE_MODE_RELAXED);
    mode = (cxu_stream_capture_mode)3;
    ck_result(cx_emu_call_thread_exchange_stream_capture_mode(&mode), INVALID_VALUE);
    ck_assert_int_eq(mode, 3);
    ck_result(cx_emu_call_thread_exchange_stream_capture_mode(NULL), INVALID_VALUE);
    mode = CXU_STREAM_CAPTURE_MODE_GLOBAL;
    ck_success(cx_emu_call_thread_exchange_stream_capture_mode(&mode));
    ck_assert_int_eq(mode, CXU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
}
END_TEST

static Suite *rules_suite(void)
{
    Suite *suite = suite_create("capture_rules");
    TCase *tcase = tcase_create("rules");

    tcase_add_checked_fixture(tcase, graph_setup, graph_teardown);
    tcase_add_test(tcase, the_legacy_stream_does_not_capture);
    tcase_add_test(tcase, a_bad_mode_or_stream_begins_nothing);
    tcase_add_test(tcase, a_capturing_stream_does_not_begin_again);
    tcase_add_test(tcase, a_stream_that_does_not_capture_has_nothing_to_end);
    tcase_add_test(tcase, another_thread_does_not_end_a_capture);
    tcase_add_test(tcase, any_thread_ends_a_relaxed_capture);
    tcase_add_test(tcase, a_global_capture_forbids_unsafe_calls_on_every_thread);
    tcase_add_test(tcase, without_a_capture_the_same_calls_succeed);
    tcase_add_test(tcase, calls_that_change_no_work_are_safe);
    tcase_add_test(tcase, a_thread_local_capture_forbids_them_on_its_own_thread_only);
    tcase_add_test(tcase, a_relaxed_capture_forbids_them_nowhere);
    tcase_add_test(tcase, a_thread_in_mode_thread_local_ignores_captures_of_others);
    tcase_add_test(tcase, a_relaxed_thread_may_make_them_while_it_captures);
    tcase_add_test(tcase, an_unsafe_call_invalidates_all_captures_that_forbid_it);
    tcase_add_test(tcase, a_context_whose_stream_captures_is_not_synchronised);
    tcase_add_test(tcase, the_legacy_stream_is_not_used_while_a_blocking_stream_captures);
    tcase_add_test(tcase, the_legacy_stream_is_free_while_a_non_blocking_stream_captures);
    tcase_add_test(tcase, the_legacy_stream_of_another_context_is_free);
    tcase_add_test(tcase, asking_the_legacy_stream_whether_it_captures_invalidates_nothing);
    tcase_add_test(tcase, only_the_stream_that_began_ends_a_capture);
    tcase_add_test(tcase, work_that_was_not_joined_leaves_no_graph);
    tcase_add_test(tcase, work_after_the_join_is_not_joined);
    tcase_add_test(tcase, a_stream_that_joined_and_did_nothing_need_not_come_back);
    tcase_add_test(tcase, what_the_user_cuts_off_need_not_be_joined);
    tcase_add_test(tcase, what_a_new_set_of_dependencies_leaves_out_need_not_be_joined);
    tcase_add_test(tcase, two_captures_do_not_merge);
    tcase_add_test(tcase, a_capture_does_not_wait_for_work_outside);
    tcase_add_test(tcase, waiting_for_an_event_never_recorded_does_nothing_to_a_capture);
    tcase_add_test(tcase, an_event_of_a_capture_that_ended_is_waited_for_by_nobody);
    tcase_add_test(tcase, the_legacy_stream_does_not_join);
    tcase_add_test(tcase, a_captured_event_has_no_state);
    tcase_add_test(tcase, a_capturing_stream_has_no_state);
    tcase_add_test(tcase, what_graphs_do_not_have_is_not_captured);
    tcase_add_test(tcase, an_invalidated_capture_takes_nothing_more);
    tcase_add_test(tcase, a_graph_that_was_captured_into_survives_a_failed_capture);
    tcase_add_test(tcase, destroying_the_stream_that_began_ends_its_capture);
    tcase_add_test(tcase, work_of_a_destroyed_branch_must_be_joined);
    tcase_add_test(tcase, destroying_an_event_leaves_the_capture_as_it_is);
    tcase_add_test(tcase, destroying_a_context_ends_the_captures_of_its_streams);
    tcase_add_test(tcase, resetting_a_device_ends_the_captures_of_its_streams);
    tcase_add_test(tcase, a_thread_that_ends_takes_the_capture_of_its_own_stream_along);
    tcase_add_test(tcase, a_context_that_captures_records_no_event);
    tcase_add_test(tcase, a_context_that_captures_waits_for_no_event);
    tcase_add_test(tcase, no_context_waits_for_a_captured_event);
    tcase_add_test(tcase, a_thread_swaps_its_mode);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return cx_test_run((Suite *(*const[])(void)){rules_suite, NULL});
}
