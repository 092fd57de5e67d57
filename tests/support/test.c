#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
enum { SECONDS_TOGETHER = 600 };

void cx_test_add(TCase *tcase, const TTest *test, int signal, int exit_value, int start, int end)
{
    const char *name = getenv("CTXRT_TEST_NAME");

    if (name == NULL || strcmp(name, test->name) == 0)
        (_tcase_add_test)(tcase, test, signal, exit_value, start, end);
}

/* Check's TAP has no line numbers. */
static void say_where(SRunner *runner)
{
    TestResult **failures = srunner_failures(runner);
    for (int i = 0; i < srunner_ntests_failed(runner); i++)
        printf("# failed at %s:%d: %s\n", tr_lfile(failures[i]), tr_lno(failures[i]),
               tr_msg(failures[i]));
    free(failures);
}

static int run_suites(Suite *(*const suites[])(void), enum fork_status fork)
{
    SRunner *runner = srunner_create(suites[0]());
    for (int i = 1; suites[i] != NULL; i++)
        srunner_add_suite(runner, suites[i]());
    srunner_set_tap(runner, "-");
    srunner_set_fork_status(runner, fork);
    srunner_run_all(runner, CK_SILENT);
    say_where(runner);
    srunner_free(runner);
    return 0;
}

int cx_test_run(Suite *(*const suites[])(void))
{
    return run_suites(suites, CK_FORK_GETENV);
}

int cx_test_run_together(Suite *(*const suites[])(void))
{
    if (!SANITIZED || getenv("CK_FORK") != NULL)
        return cx_test_run(suites);
    (void)alarm(SECONDS_TOGETHER); /* Check's own limits need processes */
    return run_suites(suites, CK_NOFORK);
}

int cx_test_skip(const char *reason)
{
    printf("1..0 # SKIP %s\n", reason);
    return 0;
}
