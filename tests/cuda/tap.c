#include "tap.h"

#include <stdarg.h>
#include <stdio.h>

enum { CANNOT_RUN = 77 };

static int number, bad;

static void print(const char *before, const char *format, va_list arguments, const char *after)
{
    printf("%s", before);
    vprintf(format, arguments);
    printf("%s\n", after);
    fflush(stdout);
}

void tap_report(bool good, const char *what, ...)
{
    char before[32];
    va_list arguments;
    bad += !good;
    snprintf(before, sizeof before, "%sok %d - ", good ? "" : "not ", ++number);
    va_start(arguments, what);
    print(before, what, arguments, "");
    va_end(arguments);
}

void tap_skip(const char *why, const char *what, ...)
{
    char before[32], after[128];
    va_list arguments;
    snprintf(before, sizeof before, "ok %d - ", ++number);
    snprintf(after, sizeof after, " # SKIP %s", why);
    va_start(arguments, what);
    print(before, what, arguments, after);
    va_end(arguments);
}

void tap_note(const char *what, ...)
{
    va_list arguments;
    va_start(arguments, what);
    print("# ", what, arguments, "");
    va_end(arguments);
}

int tap_end(void)
{
    printf("1..%d\n", number);
    return bad != 0;
}

int tap_skip_all(const char *why, const char *reason)
{
    printf("1..0 # SKIP %s: %s\n", why, reason);
    return CANNOT_RUN;
}
