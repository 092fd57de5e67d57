#include "test.h"

#include <stdio.h>

int cx_test_run(Suite *(*const suites[])(void))
{
    SRunner *runner = srunner_create(suites[0]());
    for (int i = 1; suites[i] != NULL; i++)
        srunner_add_suite(runner, suites[i]());
    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    srunner_free(runner);
    return 0;
}

int cx_test_skip(const char *reason)
{
    printf("1..0 # SKIP %s\n", reason);
    return 0;
}
