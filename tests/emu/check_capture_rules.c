/* Which calls a capture allows: G1, G2, G3, G5, T3. */
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
    ck_result(cx_emu_call_stream_begin_capture(stream, (cxu_stream_capture_mode)-1), INVALID_VALUE);
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

static cxu_result call_set_limit(void)
{
    return cx_emu_call_ctx_set_limit(CXU_LIMIT_MALLOC_HEAP_SIZE, (size_t)16 << 20);
}

static cxu_result call_pool_attribute(void)
{
    CUmemoryPool pool;
    uint64_t value;

    ck_success(cx_emu_call_device_get_default_mem_pool(&pool, 0));
    return cx_emu_call_mem_pool_get_attribute(pool, CXU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value);
}

static cxu_result (*const unsafe_calls[])(void) = {
    call_alloc, call_alloc_pitch, call_alloc_host,       call_alloc_managed,
    call_free,  call_free_host,   call_register,         call_event_query,
    call_event_synchronize,       call_set_limit,        call_pool_attribute};
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
    begin_in(stream, CXU_STREAM_CAPTURE_MODE_GLOBAL);
    ck_result(elsewhere(cx_emu_call_ctx_synchronize), STREAM_CAPTURE_UNSUPPORTED);
    ck_end(stream, STREAM_CAPTURE_INVALIDATED);
    ck_success(cx_emu_call_ctx_synchronize());
}
END_TEST

START_TEST(a_thread_local_capture_lets_others_synchronise_its_context)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);

    begin_in(stream, CXU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    ck_success(elsewhere(cx_emu_call_ctx_synchronize));
    drop(end(stream));
}
END_TEST

START_TEST(copies_and_fills_that_wait_go_on_beside_a_capture)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);

    ck_success(cx_emu_call_mem_alloc(&spare_memory, BYTES));
    begin_in(stream, CXU_STREAM_CAPTURE_MODE_GLOBAL);
    ck_success(call_copy());
    ck_success(call_fill());
    drop(end(stream));
    ck_success(cx_emu_call_mem_free(spare_memory));
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
    cxu_result result = cx_emu_call_stream_query(NULL);

    return result == CXU_NOT_READY ? CXU_SUCCESS : result;
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
    legacy_fill,          legacy_record, legacy_wait,  legacy_query, legacy_synchronize,
    legacy_host_function, legacy_begin,  legacy_alloc, call_copy,    call_fill};
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
    tcase_add_test(tcase, a_thread_local_capture_lets_others_synchronise_its_context);
    tcase_add_test(tcase, copies_and_fills_that_wait_go_on_beside_a_capture);
    tcase_add_test(tcase, the_legacy_stream_is_not_used_while_a_blocking_stream_captures);
    tcase_add_test(tcase, the_legacy_stream_is_free_while_a_non_blocking_stream_captures);
    tcase_add_test(tcase, the_legacy_stream_of_another_context_is_free);
    tcase_add_test(tcase, asking_the_legacy_stream_whether_it_captures_invalidates_nothing);
    tcase_add_test(tcase, a_thread_swaps_its_mode);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(rules_suite);
