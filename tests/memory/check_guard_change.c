/* The debug mode of pinned memory is changed by a call, while none of it is live. */
#include "gate.h"
#include "guarded_pinned.h"

#include <sched.h>
#include <stdatomic.h>

static const ctxrt_allocator_debug none = CTXRT_ALLOCATOR_DEBUG_INIT;
static const ctxrt_allocator_debug full = {.struct_size = sizeof full,
                                           .flags = CTXRT_DEBUG_CANARY | CTXRT_DEBUG_POISON,
                                           .quarantine_bytes = MIB};

static void assert_mode(bool on)
{
    ctxrt_status status = ctxrt_allocator_check(pinned());
    ck_assert_int_eq(status, on ? CTXRT_SUCCESS : CTXRT_ERROR_INVALID_ARGUMENT);
}

/* What is kept stays, and the figures go on. */
START_TEST(a_call_turns_it_on_and_off)
{
    ctxrt_memory *memory;
    start(NULL);
    memset(allocate(KIB, &memory), 1, KIB);
    cx_assert_ok(ctxrt_memory_release(memory));
    const ctxrt_allocator_info before = look();
    for (unsigned int round = 1; round <= 3; round++) {
        cx_assert_ok(ctxrt_allocator_set_debug(pinned(), &full));
        unsigned char *bytes = allocate(KIB, &memory);
        ck_assert(is_filled(bytes, 0xA7, KIB));
        assert_mode(true);
        bytes[KIB] = 5;
        cx_assert_error(ctxrt_memory_release(memory), CTXRT_ERROR_CORRUPTED);
        cx_assert_ok(ctxrt_allocator_set_debug(pinned(), &none));
        assert_mode(false);
        bytes = allocate(KIB, &memory);
        memset(bytes, 1, KIB);
        cx_assert_ok(ctxrt_memory_release(memory));
        ck_assert(is_filled(bytes, 1, KIB));
        ck_assert_uint_eq(look().requested.total_count,
                          before.requested.total_count + 2 * (uint64_t)round);
        ck_assert_uint_eq(look().reserved.total_bytes, before.reserved.total_bytes);
        ck_assert_uint_eq(look().hits, before.hits + 2 * (uint64_t)round);
    }
    end();
}
END_TEST

START_TEST(what_was_in_quarantine_is_looked_at_when_it_ends_and_when_it_changes)
{
    ctxrt_memory *memory;
    start(NULL);
    for (int round = 1; round <= 2; round++) {
        cx_assert_ok(ctxrt_allocator_set_debug(pinned(), &full));
        unsigned char *bytes = allocate(KIB, &memory);
        cx_assert_ok(ctxrt_memory_release(memory));
        bytes[round] = 6;
        cx_assert_ok(ctxrt_allocator_set_debug(pinned(), round == 1 ? &full : &none));
        ck_assert_int_eq(log_lines_with(&lines, "written after it was freed"), round);
        ck_assert_uint_eq(look().allocated.current_bytes, 0);
    }
    end();
}
END_TEST

START_TEST(without_options_it_is_what_the_environment_says)
{
    ctxrt_memory *memory;
    start("canary");
    assert_mode(true);
    cx_assert_ok(ctxrt_allocator_set_debug(pinned(), &none));
    assert_mode(false);
    cx_assert_ok(ctxrt_allocator_set_debug(pinned(), NULL));
    unsigned char *bytes = allocate(KIB, &memory);
    bytes[-1] = 5;
    cx_assert_error(ctxrt_memory_release(memory), CTXRT_ERROR_CORRUPTED);
    ck_assert_int_eq(setenv("CTXRT_DEBUG_MEMORY", "canaries", 1), 0);
    cx_assert_error(ctxrt_allocator_set_debug(pinned(), NULL), CTXRT_ERROR_INVALID_ARGUMENT);
    assert_mode(true);
    end();
}
END_TEST

START_TEST(its_limit_and_its_refusal_are_as_of_then)
{
    ctxrt_memory *memory, *second;
    ctxrt_allocator_debug debug = {
        .struct_size = sizeof debug, .context_limit_bytes = 8 * MIB, .fail_call = 1};
    start(NULL);
    (void)allocate(4 * MIB, &memory);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_allocator_set_debug(pinned(), &debug));
    (void)allocate(MIB, &memory);
    ck_assert_uint_eq(look().retries, 0);
    (void)allocate(7 * MIB, &second);
    ck_assert_uint_eq(look().retries, 1);
    cx_assert_ok(ctxrt_memory_release(second));
    cx_assert_error(ctxrt_memory_alloc_pinned(7 * MIB + 1, &second), CTXRT_ERROR_OUT_OF_MEMORY);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_allocator_set_debug(pinned(), &none));
    (void)allocate(9 * MIB, &memory);
    cx_assert_ok(ctxrt_memory_release(memory));
    end();
}
END_TEST

START_TEST(it_does_not_change_while_memory_is_live)
{
    ctxrt_memory *memory;
    const ctxrt_allocator_debug *modes[] = {&full, &none};
    start(NULL);
    for (int to = 0; to < 2; to++) {
        (void)allocate(KIB, &memory);
        cx_assert_error(ctxrt_allocator_set_debug(pinned(), modes[to]), CTXRT_ERROR_IN_USE);
        assert_says("1 piece of it is live");
        assert_mode(to == 1);
        cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
        cx_assert_error(ctxrt_allocator_set_debug(pinned(), modes[to]), CTXRT_ERROR_IN_USE);
        cx_assert_ok(ctxrt_memory_release(memory));
        cx_assert_ok(ctxrt_allocator_set_debug(pinned(), modes[to]));
        assert_mode(to == 0);
    }
    end();
    ck_assert_uint_eq(lines.length, 0);
}
END_TEST

START_TEST(it_does_not_change_while_a_graph_has_memory)
{
    ctxrt_memory *memory;
    ctxrt_graph *graph;
    start(NULL);
    cx_assert_ok(ctxrt_recording_start(NULL));
    (void)allocate(KIB, &memory);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_error(ctxrt_allocator_set_debug(pinned(), &full), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_recording_stop(&graph));
    cx_assert_error(ctxrt_allocator_set_debug(pinned(), &full), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_graph_release(graph));
    cx_assert_ok(ctxrt_allocator_set_debug(pinned(), &full));
    assert_mode(true);
    end();
}
END_TEST

/* The copy is done long after; nobody waits. */
START_TEST(what_is_freed_while_work_uses_it_is_not_live)
{
    gate held;
    ctxrt_memory *memory, *on_device;
    start(NULL);
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_memory_alloc(KIB, &on_device));
    unsigned char *bytes = allocate(KIB, &memory);
    gate_close(&held, stream);
    cx_assert_ok(ctxrt_copy_async(ctxrt_memory_pointer(on_device), bytes, KIB,
                                  CTXRT_COPY_HOST_TO_DEVICE, stream));
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_allocator_set_debug(pinned(), &full));
    ck_assert_ptr_ne(allocate(KIB, &memory), bytes);
    cx_assert_ok(ctxrt_memory_release(memory));
    gate_open(&held);
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    cx_assert_ok(ctxrt_memory_release(on_device));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    end();
    ck_assert_uint_eq(lines.length, 0);
}
END_TEST

/* Whichever it is in, and with something in quarantine. */
START_TEST(a_context_may_end_in_any_mode)
{
    ctxrt_context *context;
    ctxrt_memory *memory;
    const ctxrt_allocator_debug *modes[] = {&none, &full, &none, &full};
    start(_i == 4 ? "canary,poison,quarantine=1M" : NULL);
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(0), 0, &context));
    cx_assert_ok(ctxrt_stack_push(context));
    for (int i = 0; i < _i; i++) {
        cx_assert_ok(ctxrt_allocator_set_debug(pinned(), modes[i]));
        (void)allocate(KIB, &memory);
        cx_assert_ok(ctxrt_memory_release(memory));
    }
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_context_destroy(context));
    end();
    ck_assert_uint_eq(lines.length, 0);
}
END_TEST

/* ---- threads ---- */

enum { USERS = 2, ROUNDS = 600 };

typedef struct user {
    ctxrt_allocator *allocator;
    atomic_int *running;
    int wrong;
} user;

static bool look_about(ctxrt_allocator *allocator, const unsigned char *bytes)
{
    ctxrt_allocator_info info = CTXRT_ALLOCATOR_INFO_INIT;
    ctxrt_pointer_info known;
    return ctxrt_allocator_describe(allocator, &info) == CTXRT_SUCCESS &&
           ctxrt_pointer_query(bytes + 299, &known) == CTXRT_SUCCESS && known.base == bytes &&
           known.size_bytes == 300;
}

/* In both modes nobody else has the memory. */
static bool use_some(ctxrt_allocator *allocator, bool look)
{
    ctxrt_memory *memory = NULL;
    if (ctxrt_memory_alloc_pinned(300, &memory) != CTXRT_SUCCESS)
        return false;
    unsigned char *bytes = ctxrt_memory_pointer(memory);
    memset(bytes, 1, 300);
    bool good = !look || look_about(allocator, bytes);
    good &= is_filled(bytes, 1, 300);
    return ctxrt_memory_release(memory) == CTXRT_SUCCESS && good;
}

static void *use(void *argument)
{
    user *self = argument;
    self->wrong = ctxrt_device_push(CTXRT_CUDA(0)) != CTXRT_SUCCESS;
    for (int i = 0; i < ROUNDS && self->wrong == 0; i++) {
        self->wrong += !use_some(self->allocator, i % 16 == 0);
        if (i % 16 == 1)
            self->wrong += ctxrt_allocator_trim(self->allocator, NULL) != CTXRT_SUCCESS;
        sched_yield();
    }
    self->wrong += ctxrt_stack_pop() != CTXRT_SUCCESS;
    atomic_fetch_sub(self->running, 1);
    return NULL;
}

START_TEST(it_changes_between_the_requests_of_other_threads)
{
    user users[USERS];
    pthread_t threads[USERS];
    atomic_int running = USERS;
    start(NULL);
    for (int i = 0; i < USERS; i++) {
        users[i] = (user){pinned(), &running, 0};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, use, &users[i]), 0);
    }
    for (int i = 0; atomic_load(&running) > 0; i++) {
        const ctxrt_allocator_debug *mode = i % 2 == 0 ? &full : &none;
        ctxrt_status status = ctxrt_allocator_set_debug(pinned(), mode);
        ck_assert(status == CTXRT_SUCCESS || status == CTXRT_ERROR_IN_USE);
        (void)!ctxrt_allocator_check(pinned());
        sched_yield();
    }
    for (int i = 0; i < USERS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        ck_assert_int_eq(users[i].wrong, 0);
    }
    cx_assert_ok(ctxrt_allocator_set_debug(pinned(), &none));
    end();
    ck_assert_uint_eq(lines.length, 0);
}
END_TEST

static Suite *guard_change_suite(void)
{
    Suite *suite = suite_create("guard_change");
    TCase *tcase = tcase_create("guard_change");
    tcase_add_test(tcase, a_call_turns_it_on_and_off);
    tcase_add_test(tcase, what_was_in_quarantine_is_looked_at_when_it_ends_and_when_it_changes);
    tcase_add_test(tcase, without_options_it_is_what_the_environment_says);
    tcase_add_test(tcase, its_limit_and_its_refusal_are_as_of_then);
    tcase_add_test(tcase, it_does_not_change_while_memory_is_live);
    tcase_add_test(tcase, it_does_not_change_while_a_graph_has_memory);
    tcase_add_test(tcase, what_is_freed_while_work_uses_it_is_not_live);
    tcase_add_loop_test(tcase, a_context_may_end_in_any_mode, 0, 5);
    tcase_add_test(tcase, it_changes_between_the_requests_of_other_threads);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(guard_change_suite);
