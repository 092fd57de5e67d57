/* The check of the lock order, in this program whatever the build has: a thread that takes a lock
 * out of order stops the program with the names of both. */
#include "base/lock.h"
#include "test.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static cx_lock graph = CX_LOCK_INIT(GRAPH), other_graph = CX_LOCK_INIT(GRAPH);
static cx_lock handles = CX_LOCK_INIT_RECURSIVE(HANDLES);
static cx_lock cache = CX_LOCK_INIT(CACHE), log_lock = CX_LOCK_INIT(LOG);
static char said[512];

/* Runs the steps in a child. True if it stopped by a signal; `said` is what it wrote. */
static bool stops(void (*steps)(void))
{
    int ends[2], status = 0;
    size_t length = 0;
    ssize_t bytes;
    ck_assert_int_eq(pipe(ends), 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        steps();
        _exit(0);
    }
    close(ends[1]);
    while ((bytes = read(ends[0], said + length, sizeof said - 1 - length)) > 0)
        length += (size_t)bytes;
    said[length] = '\0';
    close(ends[0]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void take_in_order(void)
{
    cx_lock_enter(&graph);
    cx_lock_enter(&cache);
    cx_lock_enter(&log_lock);
    cx_lock_leave(&graph);
    cx_lock_leave(&log_lock);
    cx_lock_leave(&cache);
    cx_lock_enter(&graph);
    cx_lock_leave(&graph);
}

START_TEST(locks_in_order_are_taken_and_left_in_any_order)
{
    ck_assert(!stops(take_in_order));
    ck_assert_str_eq(said, "");
}
END_TEST

static void take_earlier(void)
{
    cx_lock_enter(&cache);
    cx_lock_enter(&graph);
}

START_TEST(an_earlier_lock_stops_the_program_with_both_names)
{
    ck_assert(stops(take_earlier));
    ck_assert_str_eq(said, "ctxrt: a thread takes \"graph\" while it holds \"cache\": "
                           "lib/base/locks.def has the order\n");
}
END_TEST

static void take_same_rank(void)
{
    cx_lock_enter(&graph);
    cx_lock_enter(&other_graph);
}

START_TEST(so_do_two_locks_of_one_rank)
{
    ck_assert(stops(take_same_rank));
    ck_assert_ptr_nonnull(strstr(said, "takes \"graph\" while it holds \"graph\""));
}
END_TEST

static void take_twice(void)
{
    cx_lock_enter(&cache);
    cx_lock_enter(&cache);
}

static void take_recursive_twice(void)
{
    cx_lock_enter(&handles);
    cx_lock_enter(&cache);
    cx_lock_enter(&handles);
    cx_lock_leave(&handles);
    cx_lock_leave(&cache);
    cx_lock_leave(&handles);
}

START_TEST(a_lock_that_is_held_is_taken_again_only_if_it_is_recursive)
{
    ck_assert(stops(take_twice));
    ck_assert_ptr_nonnull(strstr(said, "takes \"cache\" while it holds \"cache\""));
    ck_assert(!stops(take_recursive_twice));
}
END_TEST

static void enter_graph_once(void)
{
    cx_lock made;
    if (!cx_lock_init_once(&made, CX_RANK_GRAPH) || !cx_lock_enter_once(&made) ||
        cx_lock_enter_once(&made))
        _exit(1);
    cx_lock_leave(&made);
    if (!cx_lock_enter_once(&made))
        _exit(1);
    cx_lock_leave(&made);
    cx_lock_destroy(&made);
    fputs("done", stderr);
}

START_TEST(a_lock_that_is_entered_once_is_refused_to_the_thread_that_has_it)
{
    ck_assert(!stops(enter_graph_once));
    ck_assert_str_eq(said, "done");
}
END_TEST

static void try_earlier(void)
{
    cx_lock_enter(&cache);
    if (!cx_lock_try(&graph) || cx_lock_try(&graph))
        _exit(1);
    cx_lock_enter(&log_lock);
    cx_lock_leave(&log_lock);
    cx_lock_leave(&cache);
    cx_lock_leave(&graph);
    fputs("done", stderr);
}

static void try_and_take_earlier(void)
{
    if (cx_lock_try(&cache))
        cx_lock_enter(&graph);
}

START_TEST(a_try_may_be_out_of_order_and_what_follows_it_may_not)
{
    ck_assert(!stops(try_earlier));
    ck_assert_str_eq(said, "done");
    ck_assert(stops(try_and_take_earlier));
}
END_TEST

static void leave_unheld(void)
{
    cx_lock_leave(&cache);
}

START_TEST(a_lock_that_the_thread_does_not_hold_is_not_left)
{
    ck_assert(stops(leave_unheld));
    ck_assert_ptr_nonnull(strstr(said, "leaves without having it \"cache\""));
}
END_TEST

static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static const struct timespec long_ago = {.tv_sec = 1};

static void wait_for_cache(void)
{
    cx_lock_enter(&graph);
    cx_lock_enter(&cache);
    if (cx_lock_wait_until(&cache, &condition, &long_ago))
        _exit(1);
    cx_lock_leave(&cache);
    cx_lock_leave(&graph);
    fputs("done", stderr);
}

static void wait_under_later(void)
{
    cx_lock_enter(&cache);
    cx_lock_enter(&log_lock);
    (void)cx_lock_wait_until(&cache, &condition, &long_ago);
}

START_TEST(a_wait_leaves_the_latest_lock_that_is_held)
{
    ck_assert(!stops(wait_for_cache));
    ck_assert_str_eq(said, "done");
    ck_assert(stops(wait_under_later));
    ck_assert_ptr_nonnull(strstr(said, "waits for \"cache\" while it holds \"log\""));
}
END_TEST

START_TEST(each_rank_has_a_name_of_its_own)
{
    for (int one = 0; one < CX_LOCK_RANKS; one++)
        for (int other = 0; other < one; other++)
            ck_assert_str_ne(cx_lock_name((cx_lock_rank)one), cx_lock_name((cx_lock_rank)other));
}
END_TEST

static Suite *lock_suite(void)
{
    Suite *suite = suite_create("lock");
    TCase *tcase = tcase_create("order");
    tcase_add_test(tcase, locks_in_order_are_taken_and_left_in_any_order);
    tcase_add_test(tcase, an_earlier_lock_stops_the_program_with_both_names);
    tcase_add_test(tcase, so_do_two_locks_of_one_rank);
    tcase_add_test(tcase, a_lock_that_is_held_is_taken_again_only_if_it_is_recursive);
    tcase_add_test(tcase, a_lock_that_is_entered_once_is_refused_to_the_thread_that_has_it);
    tcase_add_test(tcase, a_try_may_be_out_of_order_and_what_follows_it_may_not);
    tcase_add_test(tcase, a_lock_that_the_thread_does_not_hold_is_not_left);
    tcase_add_test(tcase, a_wait_leaves_the_latest_lock_that_is_held);
    tcase_add_test(tcase, each_rank_has_a_name_of_its_own);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(lock_suite);
