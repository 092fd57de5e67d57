/* Events between processes, each with a driver of its own (T23). */
#include "partner.h"

#include "emu/schedule/shared_event.h"

#include <sched.h>
#include <signal.h>
#include <string.h>

#define SHARED_FLAGS (CXU_EVENT_INTERPROCESS | CXU_EVENT_DISABLE_TIMING)
#define ROUNDS 40

/* ---- what both processes use ---- */

/* A word of pinned memory, and a stream that stands still until the word is set. */
typedef struct gate {
    uint32_t *word;
    CUstream stream;
} gate;

static CUstream new_stream(void)
{
    CUstream stream = NULL;
    MUST(CU(stream_create, &stream, CXU_STREAM_NON_BLOCKING));
    return stream;
}

static gate close_gate(CUstream stream)
{
    void *word = NULL;
    MUST(CU(mem_host_alloc, &word, sizeof(uint32_t), 0));
    gate closed = {.word = word, .stream = stream};
    *closed.word = 0;
    MUST(CU(stream_wait_value_32, stream, (uintptr_t)word, 1, CXU_STREAM_WAIT_VALUE_EQ));
    return closed;
}

static void open_gate(gate *self)
{
    __atomic_store_n(self->word, 1, __ATOMIC_SEQ_CST);
    MUST(CU(stream_synchronize, self->stream)); /* freeing the word would wait for other gates */
}

static CUcontext begin(CUdevice device)
{
    CUcontext context;
    MUST(CU(init, 0));
    MUST(CU(ctx_create_v2, &context, 0, device));
    return context;
}

static CUevent new_event(void)
{
    CUevent event = NULL;
    MUST(CU(event_create, &event, SHARED_FLAGS));
    return event;
}

static cxu_ipc_event_handle handle_of(CUevent event)
{
    cxu_ipc_event_handle handle;
    MUST(CU(ipc_get_event_handle, &handle, event));
    return handle;
}

static CUevent open_event(cxu_ipc_event_handle handle)
{
    CUevent event = NULL;
    MUST(CU(ipc_open_event_handle, &event, handle));
    return event;
}

/* A word to the other process, and its answer. */
static void tell(int link)
{
    if (write(link, "x", 1) != 1)
        _exit(240);
}

static void listen_for(int link)
{
    char word;
    if (read(link, &word, 1) != 1)
        _exit(241);
}

static void send_event(int link, CUevent event)
{
    cxu_ipc_event_handle handle = handle_of(event);
    if (write(link, &handle, sizeof handle) != (ssize_t)sizeof handle)
        _exit(242);
}

static CUevent receive_event(int link)
{
    cxu_ipc_event_handle handle;
    if (recv(link, &handle, sizeof handle, MSG_WAITALL) != (ssize_t)sizeof handle)
        _exit(243);
    return open_event(handle);
}

static void poll_until_done(CUevent event)
{
    cxu_result result;
    while ((result = CU(event_query, event)) == CXU_NOT_READY)
        sched_yield();
    MUST(result);
}

/* ---- seen in the other process ---- */

static void see_recording(int link)
{
    CUcontext context = begin(1);
    CUevent event = receive_event(link), own;
    CUstream stream = new_stream(), legacy_too = new_stream();
    MUST_BE(NOT_READY, CU(event_query, event));
    MUST(CU(stream_wait_event, stream, event, 0));
    MUST(CU(event_create, &own, CXU_EVENT_DEFAULT));
    MUST(CU(event_record, own, stream));
    MUST_BE(NOT_READY, CU(stream_query, stream));
    MUST_BE(NOT_READY, CU(event_query, own));
    MUST(CU(ctx_wait_event, context, event));
    MUST(CU(event_record, own, legacy_too));
    MUST_BE(NOT_READY, CU(event_query, own));
    tell(link);
    MUST(CU(event_synchronize, event));
    MUST(CU(event_query, event));
    MUST(CU(event_synchronize, own));
    MUST(CU(stream_synchronize, stream));
    MUST(CU(event_destroy, event));
    MUST_BE(INVALID_HANDLE, CU(event_query, event));
    MUST(CU(ctx_destroy, context));
}

START_TEST(a_recording_is_seen_by_queries_and_waits_of_another_process)
{
    partner other = start_partner(see_recording);
    CUcontext context;
    gate held;
    start_gpus();
    context = create_on(0);
    CUevent event = new_event();
    CUstream stream = new_stream();
    EXPECT(SUCCESS, event_record, event, stream); /* before it is shared, and done */
    EXPECT(SUCCESS, stream_synchronize, stream);
    held = close_gate(stream);
    EXPECT(SUCCESS, event_record, event, stream); /* before it is shared, and not done */
    send_event(other.link, event);
    listen_for(other.link);
    EXPECT(NOT_READY, event_query, event);
    open_gate(&held);
    EXPECT(SUCCESS, event_synchronize, event);
    end_partner(&other);
    EXPECT(SUCCESS, event_destroy, event);
    EXPECT(SUCCESS, ctx_destroy, context);
}
END_TEST

static void record_for_the_other(int link)
{
    CUcontext context = begin(0);
    CUevent event = receive_event(link);
    CUstream stream = new_stream();
    gate held = close_gate(stream);
    MUST(CU(event_query, event)); /* never recorded */
    MUST(CU(event_synchronize, event));
    MUST(CU(event_record, event, stream));
    tell(link);
    listen_for(link);
    open_gate(&held);
    MUST(CU(event_synchronize, event));
    listen_for(link); /* polled */
    MUST(CU(ctx_destroy, context));
}

START_TEST(the_exporting_process_sees_what_another_records)
{
    partner other = start_partner(record_for_the_other);
    start_gpus();
    CUcontext context = create_on(0);
    CUevent event = new_event();
    send_event(other.link, event);
    listen_for(other.link);
    EXPECT(NOT_READY, event_query, event);
    tell(other.link);
    poll_until_done(event);
    EXPECT(SUCCESS, event_synchronize, event);
    tell(other.link);
    end_partner(&other);
    EXPECT(SUCCESS, event_query, event);
    EXPECT(SUCCESS, ctx_destroy, context);
}
END_TEST

static void wait_for_the_first(int link)
{
    CUcontext context = begin(0);
    CUevent event = receive_event(link);
    CUstream stream = new_stream();
    MUST(CU(stream_wait_event, stream, event, 0));
    tell(link);
    listen_for(link); /* recorded again */
    tell(link);
    MUST(CU(stream_synchronize, stream));
    MUST_BE(NOT_READY, CU(event_query, event));
    tell(link);
    MUST(CU(event_synchronize, event));
    MUST(CU(ctx_destroy, context));
}

START_TEST(a_wait_is_for_the_recording_that_was_the_last_when_it_was_made)
{
    partner other = start_partner(wait_for_the_first);
    start_gpus();
    CUcontext context = create_on(0);
    CUevent event = new_event();
    CUstream one = new_stream(), two = new_stream();
    gate first = close_gate(one), second = close_gate(two);
    EXPECT(SUCCESS, event_record, event, one);
    send_event(other.link, event);
    listen_for(other.link);
    EXPECT(SUCCESS, event_record, event, two);
    tell(other.link);
    listen_for(other.link);
    open_gate(&first);
    listen_for(other.link);
    open_gate(&second);
    end_partner(&other);
    EXPECT(SUCCESS, ctx_destroy, context);
}
END_TEST

/* ---- data handed to and fro ---- */

typedef struct desk {
    CUevent mine, theirs;
    CUdeviceptr memory;
    CUstream stream;
} desk;

/* Each turn adds one to the number in shared memory by work of the stream alone. */
static void take_turn(desk *self, unsigned char expected)
{
    static unsigned char found[ROUNDS * 2 + 2];
    unsigned char *here = &found[expected];
    MUST(CU(memcpy_dtoh_async, here, self->memory, 1, self->stream));
    MUST(CU(memset_d8_async, self->memory, (unsigned char)(expected + 1), 1, self->stream));
    MUST(CU(event_record, self->mine, self->stream));
    MUST(CU(event_synchronize, self->mine));
    if (*here != expected)
        _exit(244);
}

static void answer_turns(int link)
{
    CUcontext context = begin(0);
    cxu_ipc_mem_handle memory;
    desk own = {.theirs = receive_event(link), .mine = new_event(), .stream = new_stream()};
    if (recv(link, &memory, sizeof memory, MSG_WAITALL) != (ssize_t)sizeof memory)
        _exit(245);
    MUST(CU(ipc_open_mem_handle, &own.memory, memory, 1));
    send_event(link, own.mine);
    for (unsigned char i = 0; i < ROUNDS; i++) {
        listen_for(link);
        MUST(CU(stream_wait_event, own.stream, own.theirs, 0));
        take_turn(&own, (unsigned char)(2 * i + 1));
        tell(link);
    }
    MUST(CU(ctx_destroy, context));
}

START_TEST(two_processes_hand_memory_to_and_fro_by_events)
{
    partner other = start_partner(answer_turns);
    cxu_ipc_mem_handle memory;
    start_gpus();
    CUcontext context = create_on(0);
    desk own = {.mine = new_event(), .stream = new_stream()};
    EXPECT(SUCCESS, mem_alloc, &own.memory, 4096);
    EXPECT(SUCCESS, memset_d8, own.memory, 0, 4096);
    EXPECT(SUCCESS, ctx_synchronize);
    EXPECT(SUCCESS, ipc_get_mem_handle, &memory, own.memory);
    send_event(other.link, own.mine);
    say(other.link, &memory, sizeof memory);
    own.theirs = receive_event(other.link);
    for (unsigned char i = 0; i < ROUNDS; i++) {
        take_turn(&own, (unsigned char)(2 * i));
        tell(other.link);
        listen_for(other.link);
        EXPECT(SUCCESS, stream_wait_event, own.stream, own.theirs, 0);
    }
    end_partner(&other);
    EXPECT(SUCCESS, mem_free, own.memory);
    EXPECT(SUCCESS, ctx_destroy, context);
}
END_TEST

/* ---- ends ---- */

static void go_on_alone(int link)
{
    CUcontext context = begin(0);
    cxu_ipc_event_handle handle;
    CUevent event = NULL, again = NULL;
    CUstream stream = new_stream();
    if (recv(link, &handle, sizeof handle, MSG_WAITALL) != (ssize_t)sizeof handle)
        _exit(246);
    event = open_event(handle);
    again = open_event(handle);
    if (event == again)
        _exit(247);
    tell(link);
    listen_for(link); /* destroyed there */
    MUST_BE(INVALID_HANDLE, CU(ipc_open_event_handle, &again, handle));
    gate held = close_gate(stream);
    MUST(CU(event_record, event, stream));
    MUST_BE(NOT_READY, CU(event_query, event));
    MUST_BE(NOT_READY, CU(event_query, again)); /* the two are one event */
    open_gate(&held);
    MUST(CU(event_synchronize, again));
    MUST(CU(event_destroy, event));
    MUST(CU(event_query, again));
    MUST(CU(ctx_destroy, context));
}

START_TEST(an_event_goes_on_where_it_is_open_when_its_process_destroys_it)
{
    partner other = start_partner(go_on_alone);
    start_gpus();
    CUcontext context = create_on(0);
    CUevent event = new_event();
    send_event(other.link, event);
    listen_for(other.link);
    EXPECT(SUCCESS, event_destroy, event);
    tell(other.link);
    end_partner(&other);
    EXPECT(SUCCESS, ctx_destroy, context);
}
END_TEST

static void record_and_hang(int link)
{
    CUcontext context = begin(0);
    CUevent event = new_event();
    CUstream stream = new_stream();
    (void)context;
    close_gate(stream);
    MUST(CU(event_record, event, stream));
    send_event(link, event);
    listen_for(link);
    for (;;)
        pause();
}

START_TEST(the_end_of_a_process_ends_its_recordings)
{
    partner other = start_partner(record_and_hang);
    cxu_ipc_event_handle handle;
    CUevent again;
    start_gpus();
    CUcontext context = create_on(0);
    hear(other.link, &handle, sizeof handle);
    CUevent event = open_event(handle);
    CUstream stream = new_stream();
    EXPECT(SUCCESS, stream_wait_event, stream, event, 0);
    EXPECT(NOT_READY, event_query, event);
    EXPECT(NOT_READY, stream_query, stream);
    kill(other.process, SIGKILL); /* a zombie until it is waited for */
    EXPECT(SUCCESS, event_synchronize, event);
    EXPECT(SUCCESS, stream_synchronize, stream);
    poll_until_done(event);
    ck_assert_int_eq(waitpid(other.process, NULL, 0), other.process);
    close(other.link);
    EXPECT(INVALID_HANDLE, ipc_open_event_handle, &again, handle);
    EXPECT(SUCCESS, event_record, event, stream);
    EXPECT(SUCCESS, event_synchronize, event);
    EXPECT(SUCCESS, ctx_destroy, context);
}
END_TEST

START_TEST(a_context_ends_though_a_stream_of_it_waits_for_another_process)
{
    partner other = start_partner(record_and_hang);
    cxu_ipc_event_handle handle;
    start_gpus();
    CUcontext context = create_on(0);
    hear(other.link, &handle, sizeof handle);
    EXPECT(SUCCESS, stream_wait_event, new_stream(), open_event(handle), 0);
    EXPECT(SUCCESS, ctx_destroy, context);
    kill(other.process, SIGKILL);
    ck_assert_int_eq(waitpid(other.process, NULL, 0), other.process);
    close(other.link);
}
END_TEST

START_TEST(a_forked_child_has_no_events_and_ends_none)
{
    partner other = start_partner(go_on_alone);
    start_gpus();
    CUcontext context = create_on(0);
    CUevent event = new_event();
    cxu_ipc_event_handle handle = handle_of(event);
    pid_t child = fork();
    int status = -1;
    if (child == 0) {
        CUevent opened;
        MUST_BE(NOT_INITIALIZED, CU(ipc_get_event_handle, &handle, event));
        MUST_BE(NOT_INITIALIZED, CU(ipc_open_event_handle, &opened, handle));
        MUST_BE(NOT_INITIALIZED, CU(event_query, event));
        _exit(0); /* the leak checker cannot see what a child lacks */
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    say(other.link, &handle, sizeof handle);
    listen_for(other.link);
    EXPECT(SUCCESS, event_destroy, event);
    tell(other.link);
    end_partner(&other);
    EXPECT(SUCCESS, ctx_destroy, context);
}
END_TEST

/* ---- graphs, captures and green contexts ---- */

static CUgraphExec make_exec(CUgraph graph)
{
    CUgraphExec exec = NULL;
    MUST(CU(graph_instantiate_with_flags, &exec, graph, 0));
    MUST(CU(graph_destroy, graph));
    return exec;
}

static void wait_by_a_graph(int link)
{
    CUcontext context = begin(0);
    CUevent event = receive_event(link);
    CUstream stream = new_stream();
    CUgraph graph;
    CUgraphNode node;
    MUST(CU(graph_create, &graph, 0));
    MUST(CU(graph_add_event_wait_node, &node, graph, NULL, 0, event));
    CUgraphExec exec = make_exec(graph);
    MUST(CU(graph_launch, exec, stream));
    MUST_BE(NOT_READY, CU(stream_query, stream));
    MUST(CU(stream_begin_capture, new_stream(), CXU_STREAM_CAPTURE_MODE_RELAXED));
    CUstream capturing = new_stream();
    MUST(CU(stream_begin_capture, capturing, CXU_STREAM_CAPTURE_MODE_RELAXED));
    MUST_BE(STREAM_CAPTURE_ISOLATION, CU(stream_wait_event, capturing, event, 0));
    MUST_BE(STREAM_CAPTURE_INVALIDATED, CU(stream_end_capture, capturing, &graph));
    tell(link);
    MUST(CU(stream_synchronize, stream));
    MUST(CU(event_query, event));
    MUST(CU(graph_exec_destroy, exec));
    MUST(CU(ctx_destroy, context));
}

START_TEST(nodes_of_graphs_record_and_wait_between_processes)
{
    partner other = start_partner(wait_by_a_graph);
    CUgraph graph;
    CUgraphNode node;
    start_gpus();
    CUcontext context = create_on(0);
    CUevent event = new_event();
    CUstream stream = new_stream();
    cxu_ipc_event_handle handle = handle_of(event);
    EXPECT(SUCCESS, graph_create, &graph, 0);
    EXPECT(SUCCESS, graph_add_event_record_node, &node, graph, NULL, 0, event);
    CUgraphExec exec = make_exec(graph);
    gate held = close_gate(stream);
    EXPECT(SUCCESS, graph_launch, exec, stream);
    say(other.link, &handle, sizeof handle);
    listen_for(other.link);
    open_gate(&held);
    end_partner(&other);
    EXPECT(SUCCESS, graph_exec_destroy, exec);
    EXPECT(SUCCESS, ctx_destroy, context);
}
END_TEST

static CUgreenCtx make_green(void)
{
    cxu_dev_resource all;
    CUdevResourceDesc desc = NULL;
    CUgreenCtx green = NULL;
    MUST(CU(device_get_dev_resource, 0, &all, CXU_DEV_RESOURCE_TYPE_SM));
    MUST(CU(dev_resource_generate_desc, &desc, &all, 1));
    MUST(CU(green_ctx_create, &green, desc, 0, CXU_GREEN_CTX_DEFAULT_STREAM));
    return green;
}

static void wait_by_a_green_context(int link)
{
    CUcontext current;
    MUST(CU(init, 0));
    CUgreenCtx green = make_green();
    MUST(CU(ctx_from_green_ctx, &current, green));
    MUST(CU(ctx_push, current));
    CUevent event = receive_event(link);
    CUstream stream = NULL;
    MUST(CU(green_ctx_wait_event, green, event));
    MUST(CU(green_ctx_stream_create, &stream, green, CXU_STREAM_NON_BLOCKING, 0));
    CUevent own;
    MUST(CU(event_create, &own, CXU_EVENT_DEFAULT));
    MUST(CU(event_record, own, stream));
    MUST_BE(NOT_READY, CU(event_query, own));
    tell(link);
    MUST(CU(event_synchronize, own));
    MUST(CU(event_query, event));
    MUST(CU(ctx_pop, &current));
    MUST(CU(green_ctx_destroy, green));
}

START_TEST(green_contexts_record_and_wait_between_processes)
{
    partner other = start_partner(wait_by_a_green_context);
    CUcontext popped, handle;
    start_gpus();
    CUgreenCtx green = make_green();
    EXPECT(SUCCESS, ctx_from_green_ctx, &handle, green);
    EXPECT(SUCCESS, ctx_push, handle);
    CUevent event = new_event();
    CUstream stream = new_stream();
    gate held = close_gate(stream);
    cxu_ipc_event_handle shared = handle_of(event);
    EXPECT(SUCCESS, green_ctx_record_event, green, event);
    say(other.link, &shared, sizeof shared);
    listen_for(other.link);
    open_gate(&held);
    end_partner(&other);
    EXPECT(SUCCESS, event_destroy, event);
    EXPECT(SUCCESS, stream_destroy, stream);
    EXPECT(SUCCESS, ctx_pop, &popped);
    EXPECT(SUCCESS, green_ctx_destroy, green);
}
END_TEST

/* ---- refusals ---- */

static void be_refused(int link)
{
    cxu_ipc_event_handle handle, changed;
    CUevent event = NULL, plain;
    CUcontext context, second;
    float ms;
    if (recv(link, &handle, sizeof handle, MSG_WAITALL) != (ssize_t)sizeof handle)
        _exit(248);
    MUST_BE(NOT_INITIALIZED, CU(ipc_open_event_handle, &event, handle));
    MUST(CU(init, 0));
    MUST_BE(INVALID_CONTEXT, CU(ipc_open_event_handle, &event, handle));
    MUST(CU(ctx_create_v2, &context, 0, 2));
    MUST_BE(INVALID_VALUE, CU(ipc_open_event_handle, NULL, handle));
    for (size_t i = 0; i < 32; i += 4) {
        changed = handle;
        changed.bytes[i] ^= 0x55;
        if (CU(ipc_open_event_handle, &event, changed) == CXU_SUCCESS || event != NULL)
            _exit(249);
    }
    event = open_event(handle);
    MUST_BE(INVALID_VALUE, CU(ipc_get_event_handle, &changed, event));
    MUST(CU(event_create, &plain, CXU_EVENT_DEFAULT));
    MUST_BE(INVALID_HANDLE, CU(event_elapsed_time, &ms, plain, event));
    MUST(CU(ctx_create_v2, &second, 0, 2));
    MUST_BE(INVALID_HANDLE, CU(event_record, event, NULL)); /* T1 */
    MUST(CU(ctx_destroy, second));
    MUST(CU(ctx_destroy, context));
    MUST_BE(INVALID_HANDLE, CU(event_query, event));
}

START_TEST(what_cannot_be_shared_or_opened_is_refused)
{
    partner other = start_partner(be_refused);
    cxu_ipc_event_handle handle, same;
    CUevent event, opened;
    start_gpus();
    CUcontext context = create_on(0);
    EXPECT(INVALID_VALUE, event_create, &event, CXU_EVENT_INTERPROCESS);
    EXPECT(SUCCESS, event_create, &event, CXU_EVENT_DISABLE_TIMING);
    EXPECT(INVALID_VALUE, ipc_get_event_handle, &handle, event);
    EXPECT(SUCCESS, event_destroy, event);
    EXPECT(INVALID_HANDLE, ipc_get_event_handle, &handle, event);
    EXPECT(INVALID_HANDLE, ipc_get_event_handle, &handle, NULL);
    event = new_event();
    EXPECT(INVALID_VALUE, ipc_get_event_handle, NULL, event);
    EXPECT(SUCCESS, ipc_get_event_handle, &handle, event);
    EXPECT(SUCCESS, ipc_get_event_handle, &same, event);
    ck_assert_int_eq(memcmp(&handle, &same, sizeof handle), 0);
    EXPECT(INVALID_CONTEXT, ipc_open_event_handle, &opened, handle);
    say(other.link, &handle, sizeof handle);
    end_partner(&other);
    /* A program that closes every descriptor takes the file away, and does no other harm. */
    for (int file = 3; file < 64; file++)
        close(file);
    EXPECT(NOT_SUPPORTED, ipc_get_event_handle, &handle, event);
    EXPECT(SUCCESS, event_record, event, NULL);
    EXPECT(SUCCESS, event_synchronize, event);
    EXPECT(SUCCESS, ctx_destroy, context);
}
END_TEST

START_TEST(too_many_unfinished_recordings_are_refused)
{
    start_gpus();
    CUcontext context = create_on(0);
    CUevent event = new_event();
    CUstream stream = new_stream();
    (void)handle_of(event);
    for (int pass = 0; pass < 2; pass++) {
        gate held = close_gate(stream);
        for (int i = 0; i < CX_EMU_SHARED_RECORDS; i++)
            EXPECT(SUCCESS, event_record, event, stream);
        EXPECT(OUT_OF_MEMORY, event_record, event, stream);
        EXPECT(NOT_READY, event_query, event);
        open_gate(&held);
        EXPECT(SUCCESS, event_query, event);
        EXPECT(SUCCESS, event_record, event, stream);
        EXPECT(SUCCESS, stream_synchronize, stream);
    }
    EXPECT(SUCCESS, ctx_destroy, context);
}
END_TEST

/* ---- threads ---- */

enum { THREADS = 4, RECORDINGS = 200 };

static void *record_often(void *argument)
{
    CUevent event = argument;
    CUcontext context;
    MUST(CU(ctx_get_current, &context));
    CUstream stream = new_stream();
    for (int i = 0; i < RECORDINGS; i++) {
        MUST(CU(event_record, event, stream));
        MUST(CU(stream_wait_event, stream, event, 0));
        MUST(CU(event_synchronize, event));
    }
    MUST(CU(stream_synchronize, stream));
    return NULL;
}

typedef struct recorder {
    CUcontext context;
    CUevent event;
} recorder;

static void *record_in_context(void *argument)
{
    recorder *self = argument;
    MUST(CU(ctx_push, self->context));
    return record_often(self->event);
}

static void record_in_threads(CUcontext context, CUevent event)
{
    pthread_t threads[THREADS];
    recorder shared = {context, event};
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, record_in_context, &shared) != 0)
            _exit(239);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    MUST(CU(event_synchronize, event));
}

static void record_beside(int link)
{
    CUcontext context = begin(0);
    record_in_threads(context, receive_event(link));
    MUST(CU(ctx_destroy, context));
}

START_TEST(threads_of_two_processes_record_one_event)
{
    partner other = start_partner(record_beside);
    start_gpus();
    CUcontext context = create_on(0);
    CUevent event = new_event();
    send_event(other.link, event);
    record_in_threads(context, event);
    end_partner(&other);
    EXPECT(SUCCESS, event_synchronize, event);
    EXPECT(SUCCESS, event_query, event);
    EXPECT(SUCCESS, ctx_destroy, context);
}
END_TEST

static Suite *ipc_event_suite(void)
{
    Suite *suite = suite_create("ipc event");
    TCase *tcase = tcase_create("ipc event");
    tcase_add_checked_fixture(tcase, NULL, expect_nothing_left);
    tcase_add_test(tcase, a_recording_is_seen_by_queries_and_waits_of_another_process);
    tcase_add_test(tcase, the_exporting_process_sees_what_another_records);
    tcase_add_test(tcase, a_wait_is_for_the_recording_that_was_the_last_when_it_was_made);
    tcase_add_test(tcase, two_processes_hand_memory_to_and_fro_by_events);
    tcase_add_test(tcase, an_event_goes_on_where_it_is_open_when_its_process_destroys_it);
    tcase_add_test(tcase, the_end_of_a_process_ends_its_recordings);
    tcase_add_test(tcase, a_context_ends_though_a_stream_of_it_waits_for_another_process);
    tcase_add_test(tcase, a_forked_child_has_no_events_and_ends_none);
    tcase_add_test(tcase, nodes_of_graphs_record_and_wait_between_processes);
    tcase_add_test(tcase, green_contexts_record_and_wait_between_processes);
    tcase_add_test(tcase, what_cannot_be_shared_or_opened_is_refused);
    tcase_add_test(tcase, too_many_unfinished_recordings_are_refused);
    tcase_add_test(tcase, threads_of_two_processes_record_one_event);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(ipc_event_suite);
