/* What other threads do while a call looks for its own place: the checker's lock is open then, and
 * what a hook has found before may have gone. */
#include "layer/capturing.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>

/* ---- other threads ---- */

static _Thread_local void *(*meanwhile)(void *unused);

static void run_apart(void *(*run)(void *unused))
{
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, run, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

/* In place of the C library's: another thread acts first, once. */
int backtrace(void **frames, int count)
{
    void *(*run)(void *unused) = meanwhile;
    int (*real)(void **, int);
    void *found = dlsym(RTLD_NEXT, "backtrace");
    memcpy(&real, &found, sizeof real);
    meanwhile = NULL;
    if (run != NULL)
        run_apart(run);
    return real(frames, count);
}

/* ---- captures ---- */

static void *begin_capture(void *unused)
{
    GOOD(table.ctx_set_current(here));
    begin(first, RELAXED);
    fill(first);
    return unused;
}

/* A capture in mode RELAXED ends on any thread. */
static void *end_capture(void *unused)
{
    GOOD(table.ctx_set_current(here));
    end(first);
    return unused;
}

START_TEST(a_wait_during_which_the_capture_ends_looks_at_it_no_more)
{
    run_apart(begin_capture);
    meanwhile = end_capture;
    GOOD(table.ctx_synchronize());
    ck_assert_ptr_null(meanwhile);
    ck_assert_int_eq(found_at_all(), 0);
}
END_TEST

START_TEST(a_wait_beside_a_capture_that_goes_on_is_told)
{
    run_apart(begin_capture);
    GOOD(table.ctx_synchronize());
    ck_assert_int_eq(found(CX_KIND_CAPTURE_WAITED), 1);
    end(first);
}
END_TEST

static Suite *meanwhile_suite(void)
{
    Suite *suite = suite_create("meanwhile");
    TCase *captures = tcase_create("captures");
    tcase_add_checked_fixture(captures, set_up, NULL);
    tcase_add_test(captures, a_wait_during_which_the_capture_ends_looks_at_it_no_more);
    tcase_add_test(captures, a_wait_beside_a_capture_that_goes_on_is_told);
    suite_add_tcase(suite, captures);
    return suite;
}

CX_TESTS(meanwhile_suite);
