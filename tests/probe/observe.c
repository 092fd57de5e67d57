#include "observe.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *cudart_path, *fault_by;
unsigned int patience_ms = 1000;
void (*last_words)(void);
void (*destructor)(void);

static int channel = -1;

/* One write, so that lines of several threads stay whole. */
static void say(const char *word, const char *format, va_list arguments)
{
    char line[512];
    int length = snprintf(line, sizeof line, "%s\t", word);
    vsnprintf(line + length, sizeof line - (size_t)length - 1, format, arguments);
    for (char *c = line + length; *c != '\0'; c++)
        if (*c == '\n' || *c == '\t')
            *c = ' ';
    strcat(line, "\n");
    if (write(channel, line, strlen(line)) < 0)
        _exit(3);
}

void see(const char *word, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(word, format, arguments);
    va_end(arguments);
}

void see_result(const char *word, CUresult code)
{
    see(word, "%s", result_text(code));
}

void give_up(const char *reason, ...)
{
    va_list arguments;
    va_start(arguments, reason);
    say("*", reason, arguments);
    va_end(arguments);
    _exit(0);
}

static void at_exit(void)
{
    if (last_words != NULL)
        last_words();
}

#ifdef __GNUC__
__attribute__((destructor)) static void at_end(void)
{
    if (destructor != NULL)
        destructor();
}
#endif

void child_run(const struct experiment *experiment, const char *driver_path, int to,
               unsigned int seconds)
{
    channel = to;
    alarm(seconds);
    atexit(at_exit);
    if (!driver_open(driver_path))
        give_up("cannot open: %s", dlerror());
    experiment->run();
    exit(0);
}
