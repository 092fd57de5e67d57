#include "check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void bench_check(ctxrt_status status)
{
    if (status == CTXRT_SUCCESS)
        return;
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, ctxrt_last_error()->message);
    exit(1);
}

void bench_check_driver(int result)
{
    if (result == 0)
        return;
    fprintf(stderr, "%s: the driver returned %d\n", program_invocation_short_name, result);
    exit(1);
}
