/* CTXRT_EMU_SCHEDULE=random:SEED: the same order for the same seed, every legal one for some seed,
 * and no other. */
#include "work_fixture.h"

#include "emu/base/state.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS 400

/* A fresh schedule in the same process: that is possible while there is no context. */
static void start_with(int seed)
{
    const cx_emu_config config = *cx_emu_configuration();
    char schedule[32];

    snprintf(schedule, sizeof schedule, "random:%d", seed);
    ck_assert_int_eq(setenv("CTXRT_EMU_SCHEDULE", schedule, 1), 0);
    ck_success(cx_emu_call_ctx_destroy(work_context));
    ck_assert(cx_emu_configure(&config));
    ck_success(cx_emu_call_ctx_create_v4(&work_context, NULL, 0, 0));
}

/*
 *   a   d      two streams from top to bottom,
 *   b-->e      and an event from behind b to before e
 *   c   f
 */
static void run_dag(stream_journal *journal)
{
    CUstream left = make_stream(CXU_STREAM_NON_BLOCKING);
    CUstream right = make_stream(CXU_STREAM_NON_BLOCKING);
    CUevent event = make_event();

    journal_put(journal, left, 'a');
    journal_put(journal, left, 'b');
    ck_success(cx_emu_call_event_record(event, left));
    journal_put(journal, left, 'c');
    journal_put(journal, right, 'd');
    ck_success(cx_emu_call_stream_wait_event(right, event, 0));
    journal_put(journal, right, 'e');
    journal_put(journal, right, 'f');
    ck_success(cx_emu_call_ctx_synchronize());
}

static bool comes_before(const char *order, char first, char second)
{
    return strchr(order, first) < strchr(order, second);
}

static bool legal(const char *order)
{
    static const char pairs[][2] = {{'a', 'b'}, {'b', 'c'}, {'d', 'e'}, {'e', 'f'}, {'b', 'e'}};

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (!comes_before(order, pairs[i][0], pairs[i][1]))
            return false;
    return true;
}

typedef struct orders {
    char seen[64][8];
    int count;
} orders;

static void add(orders *set, const char *order)
{
    for (int i = 0; i < set->count; i++)
        if (!strcmp(set->seen[i], order))
            return;
    strcpy(set->seen[set->count++], order);
}

static void permute(char *order, int from, orders *out_legal)
{
    if (!order[from] && legal(order))
        add(out_legal, order);
    for (int i = from; order[i]; i++) {
        char kept = order[from];

        order[from] = order[i];
        order[i] = kept;
        permute(order, from + 1, out_legal);
        order[i] = order[from];
        order[from] = kept;
    }
}

START_TEST(every_legal_order_comes_with_some_seed_and_no_other_order_does)
{
    static orders found, expected;
    char letters[] = "abcdef";

    permute(letters, 0, &expected);
    ck_assert_int_eq(expected.count, 10); /* of 20 interleavings those with b before e: half */
    for (int seed = 0; seed < SEEDS; seed++) {
        stream_journal journal = JOURNAL_EMPTY;

        start_with(seed);
        run_dag(&journal);
        ck_assert_int_eq(journal.length, 6);
        ck_assert_msg(legal(journal.letters), "seed %d: %s", seed, journal.letters);
        add(&found, journal.letters);
    }
    ck_assert_int_eq(found.count, expected.count);
}
END_TEST

START_TEST(the_same_seed_gives_the_same_order)
{
    for (int seed = 0; seed < 40; seed++) {
        stream_journal first = JOURNAL_EMPTY, second = JOURNAL_EMPTY;

        start_with(seed);
        run_dag(&first);
        start_with(seed);
        run_dag(&second);
        ck_assert_str_eq(first.letters, second.letters);
    }
}
END_TEST

/* Copies, fills, memory, polling and partial waits between: the bytes that come out say in which
 * order the racing fills ran. */
static void race(unsigned char *out, size_t count)
{
    CUstream streams[3];
    CUdeviceptr memory = make_memory(count);
    void *pinned;

    ck_success(cx_emu_call_mem_alloc_host(&pinned, count));
    for (int i = 0; i < 3; i++)
        streams[i] = make_stream(CXU_STREAM_NON_BLOCKING);
    for (size_t at = 0; at < count; at++) {
        for (int i = 0; i < 3; i++)
            ck_success(
                cx_emu_call_memset_d8_async(memory + at, (unsigned char)(i + 1), 1, streams[i]));
        if (at % 5 == 0)
            (void)cx_emu_call_stream_query(streams[at % 3]);
        if (at % 7 == 0)
            ck_success(cx_emu_call_stream_synchronize(streams[at % 3]));
    }
    ck_success(cx_emu_call_memcpy_dtoh_async(pinned, memory, count, NULL));
    ck_success(cx_emu_call_ctx_synchronize());
    memcpy(out, pinned, count);
    ck_success(cx_emu_call_mem_free(memory));
    ck_success(cx_emu_call_mem_free_host(pinned));
}

START_TEST(queries_and_partial_waits_leave_the_order_to_the_seed)
{
    unsigned char first[64], second[64], other[64];

    start_with(5);
    race(first, sizeof first);
    start_with(5);
    race(second, sizeof second);
    start_with(6);
    race(other, sizeof other);
    ck_assert_int_eq(memcmp(first, second, sizeof first), 0);
    ck_assert_int_ne(memcmp(first, other, sizeof first), 0);
}
END_TEST

/* T11: a piece in the legacy stream stands between the blocking streams under every seed. */
START_TEST(the_legacy_stream_holds_the_blocking_streams_apart_under_every_seed)
{
    for (int seed = 0; seed < 100; seed++) {
        stream_journal journal = JOURNAL_EMPTY;
        CUstream first, second, apart;

        start_with(seed);
        first = make_stream(CXU_STREAM_DEFAULT);
        second = make_stream(CXU_STREAM_DEFAULT);
        apart = make_stream(CXU_STREAM_NON_BLOCKING);
        journal_put(&journal, first, 'a');
        journal_put(&journal, apart, 'x');
        journal_put(&journal, NULL, 'b');
        journal_put(&journal, second, 'c');
        journal_put(&journal, CXU_STREAM_PER_THREAD, 'd');
        journal_put(&journal, NULL, 'e');
        ck_success(cx_emu_call_ctx_synchronize());
        ck_assert(comes_before(journal.letters, 'a', 'b'));
        ck_assert(comes_before(journal.letters, 'b', 'c'));
        ck_assert(comes_before(journal.letters, 'b', 'd'));
        ck_assert(comes_before(journal.letters, 'c', 'e'));
        ck_assert(comes_before(journal.letters, 'd', 'e'));
    }
}
END_TEST

static void setup(void)
{
    ck_assert_int_eq(setenv("CTXRT_EMU_SCHEDULE", "random:1", 1), 0);
    work_setup();
}

static Suite *random_suite(void)
{
    Suite *suite = suite_create("random schedule");
    TCase *tcase = tcase_create("random");

    tcase_add_checked_fixture(tcase, setup, work_teardown);
    tcase_add_test(tcase, every_legal_order_comes_with_some_seed_and_no_other_order_does);
    tcase_add_test(tcase, the_same_seed_gives_the_same_order);
    tcase_add_test(tcase, queries_and_partial_waits_leave_the_order_to_the_seed);
    tcase_add_test(tcase, the_legacy_stream_holds_the_blocking_streams_apart_under_every_seed);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(random_suite);
