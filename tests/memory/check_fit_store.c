/* The store of nodes, from which fits on several threads take chunks. */
#include "alloc/fit_store.h"
#include "test.h"

#include <pthread.h>

enum { THREADS = 8, CHUNKS = 64, ROUNDS = 1000000 };

static cx_fit_store store = {.stride = sizeof(cx_fit_node)};
static pthread_barrier_t start;
static _Atomic unsigned char held[CHUNKS]; /* by the chunk's number */

/* Takes all chunks of a store before it gives one back. */
static void fill_store(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        ck_assert_uint_eq(cx_fit_store_take(&store), i);
    for (uint32_t i = 0; i < count; i++)
        cx_fit_store_give(&store, i);
}

/* Holds one chunk at a time. */
static void *take_and_give(void *out_wrong)
{
    pthread_barrier_wait(&start);
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t number = cx_fit_store_take(&store);
        if (number >= CHUNKS || atomic_exchange(&held[number], 1) != 0) {
            ++*(int *)out_wrong;
            return NULL;
        }
        cx_fit_node *node = cx_fit_at(&store, number << CX_FIT_CHUNK_BITS);
        node->units++;
        atomic_store(&held[number], 0);
        cx_fit_store_give(&store, number);
    }
    return NULL;
}

static void run_threads(void)
{
    pthread_t threads[THREADS];
    int wrong[THREADS] = {0};
    uint32_t rounds = 0;
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, take_and_give, &wrong[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&start);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(wrong[i], 0);
    for (uint32_t number = 0; number < store.used; number++)
        rounds += ((cx_fit_node *)cx_fit_at(&store, number << CX_FIT_CHUNK_BITS))->units;
    ck_assert_uint_eq(rounds, THREADS * ROUNDS);
}

START_TEST(threads_that_hold_a_chunk_each_make_no_more_chunks_than_they_are)
{
    run_threads();
    ck_assert_uint_le(store.used, THREADS);
}
END_TEST

START_TEST(threads_make_no_chunk_while_enough_were_given_back)
{
    fill_store(CHUNKS);
    run_threads();
    ck_assert_uint_eq(store.used, CHUNKS);
}
END_TEST

START_TEST(a_chunk_that_was_given_back_is_the_next_one)
{
    uint32_t first = cx_fit_store_take(&store), second = cx_fit_store_take(&store);
    uint32_t used = store.used;
    ck_assert_uint_ne(first, second);
    cx_fit_store_give(&store, first);
    ck_assert_uint_eq(cx_fit_store_take(&store), first);
    cx_fit_store_give(&store, second);
    cx_fit_store_give(&store, first);
    ck_assert_uint_eq(cx_fit_store_take(&store), first);
    ck_assert_uint_eq(cx_fit_store_take(&store), second);
    ck_assert_uint_eq(store.used, used);
}
END_TEST

START_TEST(a_full_store_gives_only_what_was_given_back)
{
    static cx_fit_store full = {.stride = sizeof(cx_fit_node), .used = CX_FIT_CHUNKS_MAX - 1};
    ck_assert_uint_eq(cx_fit_store_take(&full), CX_FIT_CHUNKS_MAX - 1);
    ck_assert_uint_eq(cx_fit_store_take(&full), CX_FIT_CHUNKS_MAX);
    cx_fit_store_give(&full, CX_FIT_CHUNKS_MAX - 1);
    ck_assert_uint_eq(cx_fit_store_take(&full), CX_FIT_CHUNKS_MAX - 1);
    ck_assert_uint_eq(cx_fit_store_take(&full), CX_FIT_CHUNKS_MAX);
}
END_TEST

static Suite *fit_store_suite(void)
{
    Suite *suite = suite_create("fit store");
    TCase *tcase = tcase_create("fit store");
    tcase_add_test(tcase, threads_that_hold_a_chunk_each_make_no_more_chunks_than_they_are);
    tcase_add_test(tcase, threads_make_no_chunk_while_enough_were_given_back);
    tcase_add_test(tcase, a_chunk_that_was_given_back_is_the_next_one);
    tcase_add_test(tcase, a_full_store_gives_only_what_was_given_back);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(fit_store_suite);
