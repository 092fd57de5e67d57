#include "base/error.h"

#include "base/utf8.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Plain thread-local storage: it needs no allocation, so recording an error cannot fail. */
static _Thread_local struct {
    ctxrt_error error;
    char message[sizeof((cx_error_saved *)0)->message];
    unsigned long count;
} last;

static ctxrt_status record_error(ctxrt_status status, const char *call, int result,
                                 const char *result_name, const char *format, va_list arguments)
{
    char message[sizeof last.message]; /* an argument may point into the last message */
    if (vsnprintf(message, sizeof message, format, arguments) >= (int)sizeof message)
        cx_utf8_trim(message);
    memcpy(last.message, message, sizeof message);
    last.error = (ctxrt_error){
        .status = status,
        .driver_result = result,
        .driver_result_name = result_name,
        .driver_call = call,
        .message = last.message,
    };
    last.count++;
    return status;
}

unsigned long cx_error_count(void)
{
    return last.count;
}

ctxrt_status cx_error(ctxrt_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    record_error(status, "", 0, "", format, arguments);
    va_end(arguments);
    return status;
}

ctxrt_status cx_error_driver_call(ctxrt_status status, const char *call, int result,
                                  const char *result_name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    record_error(status, call, result, result_name != NULL ? result_name : "", format, arguments);
    va_end(arguments);
    return status;
}

const ctxrt_error *ctxrt_last_error(void)
{
    if (last.error.message == NULL)
        last.error = (ctxrt_error){.driver_result_name = "", .driver_call = "", .message = ""};
    return &last.error;
}

/* Copies no more than the sentence, which is empty on most paths: those without errors save too. */
static void copy_message(char *to, const char *from)
{
    if (from[0] == '\0')
        to[0] = '\0';
    else
        memcpy(to, from, strlen(from) + 1);
}

void cx_error_save(cx_error_saved *out_saved)
{
    out_saved->error = *ctxrt_last_error();
    copy_message(out_saved->message, last.message);
}

void cx_error_restore(const cx_error_saved *saved)
{
    last.error = saved->error;
    copy_message(last.message, saved->message);
    last.error.message = last.message;
}
