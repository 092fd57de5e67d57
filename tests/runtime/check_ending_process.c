/* How the process may end: each way in a process of its own, with the shared library and with the
 * rooms. */
#include "test.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int run(const char *program, const char *way)
{
    char path[4096];
    pid_t child;
    int status;
    snprintf(path, sizeof path, "%s/tests/runtime/%s", getenv("top_builddir"), program);
    char *const arguments[] = {path, (char *)(uintptr_t)way, NULL};
    ck_assert_int_eq(posix_spawn(&child, path, NULL, NULL, arguments, environ), 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return status;
}

static void assert_ends(const char *way)
{
    static const char *const programs[] = {"ending_program", "ending_program_inside"};
    for (int i = 0; i < 2; i++) {
        int status = run(programs[i], way);
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s %s: status %#x",
                      programs[i], way, status);
    }
}

START_TEST(a_return_from_main_with_everything_live_ends_the_process)
{
    assert_ends("return-from-main");
}
END_TEST

START_TEST(a_destructor_of_the_program_gets_shutdown_and_releases_quietly)
{
    assert_ends("destructor");
}
END_TEST

START_TEST(a_destructor_of_a_library_gets_shutdown_and_releases_quietly)
{
    assert_ends("library-destructor");
}
END_TEST

START_TEST(an_exit_handler_of_before_the_first_call_gets_shutdown_and_releases_quietly)
{
    assert_ends("handler-of-before");
}
END_TEST

START_TEST(an_exit_handler_of_after_the_first_call_can_still_give_everything_back)
{
    assert_ends("handler-of-after");
}
END_TEST

START_TEST(a_first_call_in_an_exit_handler_starts_the_runtime_until_that_handler_returns)
{
    assert_ends("first-call-in-handler");
}
END_TEST

START_TEST(any_thread_may_call_exit)
{
    assert_ends("exit-from-thread");
}
END_TEST

START_TEST(a_host_function_may_call_exit)
{
    assert_ends("exit-from-host-function");
}
END_TEST

#ifndef __SANITIZE_THREAD__ /* which has a thread of its own that outlives the last one */
START_TEST(the_process_ends_with_its_last_thread_where_main_left_before)
{
    assert_ends("last-thread");
}
END_TEST
#endif

START_TEST(a_quick_exit_is_an_exit)
{
    assert_ends("quick-exit");
}
END_TEST

START_TEST(an_exit_at_once_runs_nothing)
{
    assert_ends("exit-at-once");
}
END_TEST

START_TEST(threads_that_are_in_calls_get_shutdown_and_one_that_waits_is_left_to_wait)
{
    assert_ends("exit-in-calls");
}
END_TEST

START_TEST(a_start_that_is_under_way_when_the_end_comes_fails)
{
    assert_ends("exit-in-start");
}
END_TEST

static Suite *ending_process_suite(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/runtime/.libs/ending_module.so", getenv("top_builddir"));
    setenv("ENDING_MODULE", path, 1);

    Suite *suite = suite_create("ending of the process");
    TCase *tcase = tcase_create("ending of the process");
    tcase_add_test(tcase, a_return_from_main_with_everything_live_ends_the_process);
    tcase_add_test(tcase, a_destructor_of_the_program_gets_shutdown_and_releases_quietly);
    tcase_add_test(tcase, a_destructor_of_a_library_gets_shutdown_and_releases_quietly);
    tcase_add_test(tcase,
                   an_exit_handler_of_before_the_first_call_gets_shutdown_and_releases_quietly);
    tcase_add_test(tcase, an_exit_handler_of_after_the_first_call_can_still_give_everything_back);
    tcase_add_test(tcase,
                   a_first_call_in_an_exit_handler_starts_the_runtime_until_that_handler_returns);
    tcase_add_test(tcase, any_thread_may_call_exit);
    tcase_add_test(tcase, a_host_function_may_call_exit);
#ifndef __SANITIZE_THREAD__
    tcase_add_test(tcase, the_process_ends_with_its_last_thread_where_main_left_before);
#endif
    tcase_add_test(tcase, a_quick_exit_is_an_exit);
    tcase_add_test(tcase, an_exit_at_once_runs_nothing);
    tcase_add_test(tcase,
                   threads_that_are_in_calls_get_shutdown_and_one_that_waits_is_left_to_wait);
    tcase_add_test(tcase, a_start_that_is_under_way_when_the_end_comes_fails);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(ending_process_suite);
