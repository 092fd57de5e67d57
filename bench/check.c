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

uint64_t bench_number(const char *text, uint64_t low, uint64_t high)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || value < low || value > high) {
        fprintf(stderr, "%s: %s is not a number from %llu to %llu\n", program_invocation_short_name,
                text, (unsigned long long)low, (unsigned long long)high);
        exit(2);
    }
    return value;
}
